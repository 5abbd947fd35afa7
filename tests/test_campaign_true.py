"""What a campaign's report claims is true of the pair, the people and the scale that it names.

Files go in as a stranger's do; the headline and the checks come out.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit import campaign, data
from evalkit.campaign import sentences
from evalkit.reports import cli, sources
from tests.makers import comparisons, ratings
from tests.pages import errors_in, numbers, page


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
    assert both.trust.startswith(alone.trust.rstrip("."))
    assert "eng-fra" in both.trust
    assert both.verdicts["elsewhere"] == "problem"
    assert "eng-fra" in both.checks["elsewhere"].found
    assert both.checks["agreement"] == alone.checks["agreement"]


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
    held = shown.checks["others"]
    assert (shown.verdicts["others"] == "fine") == (share >= 0.95) == (gaps[0] == 20)
    if share < 0.95:
        assert int(re.search(r"first in (\d+)%", held.found)[1]) / 100 == pytest.approx(share, abs=0.12)
        assert {"S0", "S1"} <= {*re.findall(r"S\d", held.found)}, "who else comes first is named, too"
    else:
        assert "up to 10%" in shown.headline, "how often such a sentence is wrong"


@pytest.mark.parametrize("score", ["raw", "z"])
def test_the_highest_score_is_that_of_the_column_which_is_named(score):
    frame = drawn((0.4, 0.2, 0.0, -8), people=8, noise=12)
    strict = frame["annotator"].isin(["p0", "p1"])
    frame["score"] = (frame["score"] - 15 * strict).clip(0, 100)
    seldom = strict & frame["system"].ne("S0") & (np.random.default_rng(5).random(len(frame)) < 0.7)
    frame = frame[~seldom]  # the strict ones judged S0 more often
    shown = report(frame, score=score)
    z = frame.groupby("annotator")["score"].transform(lambda x: (x - x.mean()) / x.std())
    best, raw = (
        values.groupby([frame["system"], frame["segment"]]).mean().groupby("system").mean().idxmax()
        for values in ({"raw": frame["score"], "z": z}[score], frame["score"])
    )
    assert f"{best} has the highest {'z-score' if score == 'z' else 'mean score'}" in shown.headline
    assert (f"By plain means {raw}" in " ".join(sentences.figures(shown.found.ranking))) == (raw != best)


@pytest.mark.parametrize("people", [1, 2, 3])
def test_few_annotators_do_not_speak_for_others(people):
    headline = report(drawn((20, 0), people=people)).headline
    assert ("this one annotator" if people == 1 else f"these {people} annotators") in headline


@pytest.mark.parametrize(("again", "verdict"), [(1, "not known"), (4, "not known"), (5, "fine"), (9, "fine")])
def test_steadiness_is_fine_only_where_half_of_the_annotators_show_it(again, verdict):
    frame = drawn(people=9).assign(item_type="system", hit="h1")
    shown = frame[frame["annotator"].isin([f"p{k}" for k in range(again)]) & (frame["segment"] < 12)]
    found = report(pd.concat([frame, shown.assign(item_type="repeat", hit="h2")]))
    assert found.verdicts["steady"] == verdict
    assert numbers(found.checks["steady"].found)[-3:] == [again * 24, again, 9]


@pytest.mark.parametrize(("several", "verdict"), [(2, "not known"), (4, "not known"), (5, "fine"), (9, "fine")])
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
    ("heading", "options", "columns"),
    [
        ("mean_score", ["--map", "score=mean_score", "--value", "annotator=average"], {}),
        ("score", ["--value", "annotator=Nobody in particular"], {}),
        ("score", [], {"annotator": "Consensus"}),
    ],
    ids=["average", "one row", "consensus"],
)
def test_of_annotators_whom_a_file_does_not_name_nothing_is_said(heading, options, columns):
    means = drawn((20, 8, 0), people=4).groupby(["system", "doc", "segment", "src_lang", "tgt_lang"], as_index=False)
    shown = report(means["score"].mean().rename(columns={"score": heading}).assign(**columns), *options)
    of_people = {"agreement", "steady", "others", "odd", "attention", "twice", "constant", "evenly"}
    assert not of_people & set(shown.checks)
    assert shown.verdicts["named"] == "not known"
    assert "does not name who judged" in shown.headline
    assert "S0 is better than each of the 2 other systems" in shown.headline
    assert not sentences.known(shown.found.profiles)
    known = [*sentences.known(shown.found.collection), *sentences.known(shown.found.ranking)]
    for text in (shown.headline, shown.trust, *known, *(check.found for check in shown.checks.values())):
        assert not re.search(r"\b(1|one|this) annotator", text), text


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


def answers(pairs):
    table = comparisons(strengths=dict.fromkeys([name for pair in pairs for name in pair], 0.0), pairs=pairs, people=4)
    return table.assign(preference=table["preference"].str.replace("a", "A").str.replace("b", "B"))


def test_comparisons_have_no_harder_texts_and_who_never_met_is_never_compared():
    shown = report(answers([("mtA", "mtB"), ("mtB", "mtC")]))
    assert "segments" not in shown.checks
    assert not [check for check in shown.checks.values() if re.search("harder|easier", check.found + check.advice)]
    mine = shown.found.campaign
    found = campaign.find_comparisons(mine, campaign.rank_systems(mine, resamples=50), resamples=50)
    assert "1 pair was never compared" in " ".join(sentences.known(found))


@pytest.mark.parametrize("pairs", [[("mtA", "mtB"), ("mtC", "mtD")], [("mtA", "mtB"), ("mtC", "mtD"), ("mtE", "mtF")]])
def test_a_ranking_that_fails_says_why(pairs):
    shown = report(answers(pairs))
    assert "never compared" in shown.headline
    assert "no outputs" not in shown.headline
    assert shown.trust.split("?")[1].strip().startswith("Not yet")
    assert (shown.verdicts["connected"], "systems" in shown.checks) == ("problem", False)


def test_what_was_judged_is_never_called_nothing_for_want_of_draws():
    """Where few people judged a system, some draws of people leave it with nothing: then texts are drawn."""
    frame = drawn((20, 8, 0, 30), people=24).replace({"S3": "refA"})
    number = frame["annotator"].str[1:].astype(int)
    own = {"S0": number < 10, "S1": number < 10, "S2": number.between(10, 13), "refA": number >= 14}
    frame = frame[np.select([frame["system"].eq(name) for name in own], [*own.values()]).astype(bool)]
    mine = campaign.from_ratings(imported(frame)[0])
    assert mine.humans == ("refA",)
    for seed in range(12):
        assert campaign.rank_systems(mine, resamples=40, seed=seed).names == ["S0", "S1", "S2"], seed


@pytest.mark.parametrize(("flagged", "says"), [(7, True), (5, True), (4, False), (1, False)])
def test_a_rule_that_names_most_people_speaks_of_the_scale(flagged, says):
    frame = drawn((6, 0), people=8)
    low = frame["annotator"].str[1:].astype(int) < flagged
    frame["score"] = frame["score"].where(~low, frame["segment"] % 4)  # within a point or two of the bottom
    odd = report(frame).checks["odd"]
    assert ("about the scale" in odd.found) == says
    if says:
        assert f"{flagged} of 8 annotators" in odd.found
        assert "p0" not in odd.advice, "nobody is named for what most do"
        crowded = (frame["score"] <= 10).mean()
        assert (f"{crowded:.0%} of scores lie in the lowest tenth" in odd.found) == (crowded >= 0.6)


@pytest.mark.parametrize("marked", [True, False])
def test_who_marks_errors_already_is_not_advised_to(marked):
    frame = drawn((2, 0)).assign(item_type="system")
    judged, _ = imported(frame.assign(score=90 + frame["score"] / 10))
    room = page(judged, errors_in(judged.head(40)) if marked else None).checks["room"]
    assert "look" in room.verdict
    assert ("marked errors" in room.advice) == (not marked)


@pytest.mark.parametrize(
    ("names", "count"),
    [
        ("spring spring-errors spring-metrics", "1 data set"),
        ("wmt22-mturk wmt22-mturk-ranking wmt22-mturk-annotators", "1 data set"),
        ("spring spring-2 autumn", "3 data sets"),
        ("wmt23-metrics", "1 data set"),
    ],
)
def test_a_campaign_of_several_files_is_one_data_set_on_its_badge(names, count):
    used = [{"name": name, "source": "real"} for name in names.split()]
    assert sources.badges(used) == [("real", count)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heading", "path", "code"),
    [("COMET", "scores.tsv", 0), ("score", "scores.tsv-", 0), ("score", "scores.tsv", 1)],
)
def test_scores_of_metrics_are_named_on_the_command_line(heading, path, code, capsys):
    frame = drawn((10, 0))
    imported(frame)
    items = frame.drop_duplicates(["system", "doc", "segment"])[["system", "doc", "segment", "score"]]
    items.rename(columns={"score": heading}).to_csv("scores.tsv", sep="\t", index=False)
    values = ["-p", "file=my.parquet", "-p", f"metrics={path}", "-p", "resamples=20"]
    assert cli.main(["run", "campaign", *values, "--out", "r"]) == code
    told = capsys.readouterr().err
    assert ("metrics=scores.tsv+" in told) == bool(code)
    assert "--metric" not in told
    assert code or json.loads(Path("r/campaign.json").read_text(encoding="utf-8"))["recorded"]["judges"]
