"""What the campaign's report may conclude: official numbers explained, absence of evidence told as such."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import campaign
from evalkit.campaign.people import quality
from evalkit.campaign.sentences import say
from evalkit.human import annotators
from evalkit.papers import shared_tasks


@pytest.fixture(scope="module")
def japanese(here):
    """The example's Japanese to English."""
    here("wmt22-mturk")
    return campaign.from_ratings(*campaign.example("wmt22-mturk"), pair="jpn-eng", example=True)


def test_each_official_number_that_differs_says_which_judgements_it_counts_and_what_they_make_of_it(real, japanese):
    """Counts and zeros from the files themselves, with pandas alone, against what each row's note says."""
    ratings, official = real("wmt22-mturk"), real("wmt22-mturk-ranking")
    workers = real("wmt22-mturk-annotators")
    found = campaign.compare_official(japanese)
    assert [table.attrs["source"]["name"] for table in found.sources] == [
        "wmt22-mturk-ranking",
        "wmt22-mturk-annotators",
    ]
    rows = found.table
    differ = rows[rows["comes_out"] != "yes"]
    assert (len(rows), len(differ)) == (28, 9)
    assert differ["comes_out"].eq("with these as 0").all()
    printed = official[official["src_lang"].eq("jpn")].set_index("system").astype({"judgements": int, "segments": int})
    here = ratings[ratings["src_lang"].eq("jpn") & ratings["item_type"].isin(["system", "repeat"])]
    people = workers[workers["src_lang"].eq("jpn") & ~workers["sd"].gt(0)]
    assert set(people["mean"]) == {0}
    [told] = say(found)
    assert told.startswith("19 of 28 official numbers of jpn-eng come out to the last digit.")
    assert f"{len(people)} annotators of jpn-eng gave nothing but 0." in told
    assert told.endswith("9 of the 9 others come out, too.")
    notes = pd.concat(
        [
            shared_tasks.compare_scores(ratings, official, scale=scale, paper="WMT22", workers=workers).assign(
                scale=scale
            )
            for scale in ("raw", "z")
        ]
    )
    notes = notes[notes["item"].str.startswith("jpn-eng")].set_index(["scale", "cell"])["note"]
    for row in differ.itertuples():
        assert row.official == printed.at[row.system, row.scale]
        own = here[here["system"] == row.system]
        column, digits, half = {"raw": ("score", 3, 0.05), "z": ("z", 5, 0.0005)}[row.scale]
        segments = own.groupby("segment")[column].mean()
        total = printed.at[row.system, "segments"]
        assert row.more_judgements == printed.at[row.system, "judgements"] - len(own)
        assert row.more_segments == total - len(segments)
        mean, pulled = segments.sum() / total, row.more_judgements - row.more_segments
        worst = np.sort(segments.to_numpy() / (own.groupby("segment").size().to_numpy() + 1))  # what a 0 takes away
        ends = [mean - worst[len(worst) - pulled :].sum() / total, mean - worst[:pulled].sum() / total]
        assert [row.lowest, row.highest] == pytest.approx(ends, abs=1e-12)
        assert ends[0] - half <= float(row.official) <= ends[1] + half
        note = notes[row.scale, row.system]
        assert f"counts {row.more_judgements} judgements and {row.more_segments} segments more" in note
        assert f"({len(people)} of jpn-eng gave nothing but 0, by the organisers' list)" in note
        assert f"becomes {ends[0]:.{digits}f}" in note
        assert ("which rounds to the printed number" in note) == (pulled == 0)


def test_a_score_that_zeros_do_not_explain_is_not_explained():
    names = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d", "annotator": "a", "item_type": "system", "score": 60.0}
    ratings = pd.DataFrame([names | {"system": f"s{s}", "segment": str(g)} for s in range(4) for g in range(30)])
    counts = [("12.0", "33", "33"), ("59.0", "30", "30"), ("59.0", "28", "28"), ("60.0", "30", "30")]
    official = pd.DataFrame(
        [
            {
                "src_lang": "eng",
                "tgt_lang": "deu",
                "system": f"s{n}",
                "raw": raw,
                "judgements": judged,
                "segments": parts,
            }
            for n, (raw, judged, parts) in enumerate(counts)
        ]
    ).astype({"judgements": int, "segments": int})
    told = shared_tasks.compare_scores(ratings, official, scale="raw", paper="A task")["note"]
    assert "becomes 54.545, which is not the printed number: something else differs, too." in told[0]
    assert told[1] == "The counts of judgements agree; the cause is not known."
    assert "hold 30 judgements of it; the official ranking counts 28. Which of them it leaves out" in told[2]
    assert told[3] == ""


def test_simulated_judgements_are_not_set_beside_a_ranking(monkeypatch, tmp_path):
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    mine = campaign.from_ratings(*campaign.example("wmt22-mturk", fallback=True), example=True)
    found = campaign.compare_official(mine, fallback=True)
    assert say(found) == ["Simulated judgements have no official ranking."]
    assert found.table.empty


def test_who_notices_in_data_from_which_those_who_failed_were_removed_is_not_known(japanese):
    control = japanese.control["qc_p"].dropna()
    assert (control < 0.05).all(), "WMT published those who pass"
    narrow = ((control >= 0.025) & (control < 0.05)).sum()
    found = campaign.control_quality(japanese)
    assert found.caliper == annotators.Caliper(narrow, 0, pytest.approx(0.75**narrow))
    assert "seem to have been taken out before" in " ".join(say(found))


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
