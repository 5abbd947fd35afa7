"""What a campaign's report claims is true of the pair, the people and the scale that it names.

Files go in as a stranger's do; the headline and the checks come out.
"""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import campaign, data
from evalkit.campaign import quality
from evalkit.human import annotators
from evalkit.papers import wmt
from evalkit.reports import cli
from tests.makers import ratings
from tests.pages import numbers, page


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def drawn(gaps=(10, 0), people=6, segments=60, favourites=0.0, noise=5.0):
    """Every annotator judges every segment of every system; gaps: points above the last one. favourites: their sd."""
    spread = {"annotator": 0.0, "taste": favourites, "residual": noise}
    sizes = {"systems": len(gaps), "documents": 1, "length": segments, "people": people}
    frame = ratings(**sizes, gap=gaps, spread=spread, step=1).drop(columns="item_type")
    return frame.assign(segment=frame["segment"].astype(int))


def imported(frame, *options):
    """Import a table as the command line does, and open what it wrote."""
    frame.to_csv("my.csv", index=False)
    arguments = ["import", "my.csv", "--out", "my.parquet", "--keep-names", *options]
    assert cli.main(arguments + ["--scale", "0:100"] * ("preference" not in frame)) == 0
    return data.open_campaign("my.parquet")


def report(frame, *options, **chosen):
    """What the report of an imported table says."""
    return page(*imported(frame, *options), resamples=100, **chosen)


def test_a_verdict_about_a_pair_comes_from_its_own_judgements_and_others_are_named():
    own, other = drawn(people=6), drawn(people=6, segments=40).assign(tgt_lang="fra")
    other["score"] = np.random.default_rng(3).integers(0, 101, len(other))  # nobody agrees there
    alone, both = report(own), report(pd.concat([own, other]), pair="eng-deu")
    assert both.headline == alone.headline, "another pair's judgements change nothing that is said of this one"
    assert both.trust == alone.trust
    assert both.verdicts["elsewhere"] == "problem"
    assert "eng-fra" in both.checks["elsewhere"].found
    assert both.checks["agreement"].found == alone.checks["agreement"].found


@pytest.mark.parametrize(("gaps", "favourites"), [((0.3, 0.0), 6.0), ((20, 0), 1.0)])
def test_a_result_holds_for_other_annotators_only_if_they_would_find_the_same_leader(gaps, favourites):
    frame = drawn(gaps, people=12, favourites=favourites)
    shown = report(frame)
    by_person = frame.pivot_table(index="annotator", columns="system", values="score")
    rng, wins = np.random.default_rng(2), []
    for _ in range(400):
        means = by_person.iloc[rng.integers(0, 12, 12)].mean()
        wins.append(means["S0"] > means["S1"])
    share = max(np.mean(wins), 1 - np.mean(wins))
    assert (shown.verdicts["others"] == "fine") == (share >= 0.95) == (gaps[0] == 20)
    if share < 0.95:
        told = re.search(r"first in (\d+) %", shown.checks["others"].found)
        assert int(told[1]) / 100 == pytest.approx(share, abs=0.12)


@pytest.mark.parametrize("score", ["raw", "z"])
def test_the_highest_score_is_that_of_the_column_which_is_named(score):
    frame = drawn((0.4, 0.2, 0.0, -8), people=8, noise=12)
    strict = frame["annotator"].isin(["p0", "p1"])
    frame["score"] = (frame["score"] - 15 * strict).clip(0, 100)
    seldom = strict & frame["system"].ne("S0") & (np.random.default_rng(5).random(len(frame)) < 0.7)
    frame = frame[~seldom]  # the strict ones judged S0 more often
    shown = report(frame, score=score)
    z = frame.groupby("annotator")["score"].transform(lambda x: (x - x.mean()) / x.std())
    values = {"raw": frame["score"], "z": z}[score]
    best = values.groupby([frame["system"], frame["segment"]]).mean().groupby("system").mean().idxmax()
    assert shown.found.ranking.top == best
    assert f"{best} {'is ahead by z-scores' if score == 'z' else 'has the highest average'}" in shown.headline


@pytest.mark.parametrize(("again", "verdict"), [(4, "not known"), (5, "fine")])
def test_steadiness_is_fine_only_where_half_of_the_annotators_show_it(again, verdict):
    frame = drawn(people=9).assign(item_type="system", hit="h1")
    shown = frame[frame["annotator"].isin([f"p{k}" for k in range(again)]) & (frame["segment"] < 12)]
    found = report(pd.concat([frame, shown.assign(item_type="repeat", hit="h2")]))
    assert found.verdicts["steady"] == verdict
    assert numbers(found.checks["steady"].found)[-3:] == [again * 24, again, 9]


@pytest.mark.parametrize(("several", "verdict"), [(4, "not known"), (5, "fine")])
def test_agreement_says_how_many_people_it_rests_on(several, verdict):
    """The first ``several`` of nine annotators share segments; each other one judges segments of their own."""
    frame = drawn(people=9)
    number = frame["annotator"].str[1:].astype(int)
    shared = frame[number.lt(several) & (frame["segment"] % 9 >= several % 9)]
    alone = frame[number.ge(several) & (frame["segment"] % 9 == number)]
    frame = pd.concat([shared, alone.assign(segment=1000 + np.arange(len(alone)))])
    found = report(frame)
    items = frame.groupby(["system", "segment"])["annotator"].nunique()
    assert found.verdicts["agreement"] == verdict
    rests = numbers(found.checks["agreement"].found.partition("rests on")[2])
    assert rests[:3] == [(items > 1).sum(), several, 9]


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (["--value", "annotator=average"], {}),
        (["--value", "annotator=Nobody in particular"], {}),
        ([], {"annotator": "Consensus"}),
    ],
    ids=["average", "one row", "consensus"],
)
def test_of_annotators_whom_a_file_does_not_name_nothing_is_said(options, columns):
    means = drawn((20, 8, 0), people=4).groupby(["system", "doc", "segment", "src_lang", "tgt_lang"])["score"].mean()
    shown = report(means.reset_index().assign(**columns), *options)
    of_people = {"agreement", "steady", "others", "odd", "attention", "twice", "constant", "evenly"}
    assert not of_people & set(shown.checks)
    assert shown.verdicts["named"] == "not known"
    assert "S0 is better than each of the 2 other systems" in shown.headline


HUMANS = [
    *("WebNLG-2020-reference", "ref-A", "human_ref", "reference2"),
    *("refB", "Human-A.0", "human translation", "gold_reference"),
]
MACHINES = ["Refiner", "gpt-4-with-ref", "reference-free", "no-ref", "HumanMT", "prefs"]


@pytest.mark.parametrize("name", [*HUMANS, *MACHINES])
def test_peoples_translations_are_recognised_by_name_and_take_no_place(name):
    frame = drawn((20, 8, 0)).replace({"S0": name})
    judged, _ = imported(frame)
    assert judged.loc[judged["system"] == name, "item_type"].unique() == ["reference" if name in HUMANS else "system"]
    mine = campaign.from_ratings(judged)
    assert (name in mine.humans) == (name in HUMANS)
    assert (name in campaign.rank_systems(mine, resamples=50).names) == (name in MACHINES)


def test_what_the_file_says_of_kinds_stands_above_names():
    judged, _ = imported(drawn((20, 8, 0)).replace({"S0": "refA"}), "--value", "item_type=system")
    assert judged["item_type"].eq("system").all()


def test_what_was_judged_is_never_called_nothing_for_want_of_draws():
    """Where few people judged a system, some draws of people leave it with nothing: then texts are drawn."""
    frame = drawn((20, 8, 0, 30), people=24).replace({"S3": "refA"})
    number = frame["annotator"].str[1:].astype(int)
    own = {"S0": number < 10, "S1": number < 10, "S2": number.between(10, 13), "refA": number >= 14}
    frame = frame[np.select([frame["system"].eq(name) for name in own], [*own.values()]).astype(bool)]
    mine = campaign.from_ratings(imported(frame)[0])
    assert mine.humans == ("refA",)
    for seed in range(6):
        assert campaign.rank_systems(mine, resamples=40, seed=seed).names == ["S0", "S1", "S2"], seed


@pytest.fixture(scope="module")
def japanese(here):
    """The example's Japanese to English."""
    here("wmt22-mturk")
    return campaign.from_ratings(*campaign.example("wmt22-mturk"), pair="jpn-eng", example=True)


def test_who_notices_in_data_from_which_those_who_failed_were_removed_is_not_known(japanese):
    control = japanese.control["qc_p"].dropna()
    assert (control < 0.05).all(), "WMT published those who pass"
    narrow = ((control >= 0.025) & (control < 0.05)).sum()
    assert campaign.control_quality(japanese).caliper == annotators.Caliper(narrow, 0, pytest.approx(0.75**narrow))


def test_a_score_that_zeros_do_not_explain_is_not_explained():
    systems, raw, counts = ["S0", "S1", "S2", "S3"], ["12.0", "59.0", "59.0", "60.0"], [33, 30, 28, 30]
    judged = ratings(systems=systems, people=1).assign(score=60.0)
    official = pd.DataFrame({"system": systems, "raw": raw, "judgements": counts, "segments": counts})
    official = official.assign(src_lang="eng", tgt_lang="deu")
    notes = wmt.compare_scores(judged, official, scale="raw", paper="A task")["note"]
    words = ["54.545, which is not", "the cause is not known", "counts 28"]
    assert [word for word, note in zip(words, notes) if word not in note] == []
    assert notes[3] == ""


@given(st.integers(0, 10**6), st.floats(0, 4))
@settings(max_examples=25)
def test_removal_is_seen_where_it_happened_and_hardly_ever_elsewhere(seed, strength):
    """Annotators whose tests are equally sharp, up to four standard errors; oracle: scipy's binomial test."""
    rng = np.random.default_rng(seed)
    p = stats.norm.sf(rng.normal(strength, 1, 2000))
    found, cut = annotators.removed(p), annotators.removed(p[p < 0.05])
    near = found.passed + found.failed
    expected = stats.binomtest(found.failed, near, 0.25, alternative="less").pvalue if near else 1.0
    assert found.p == pytest.approx(expected)
    assert found.p > quality.SURE
    assert cut.failed == 0
    assert (cut.p < quality.SURE) == (0.75**cut.passed < quality.SURE)
