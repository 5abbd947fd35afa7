"""What the campaign's report may conclude: official numbers explained, absence of evidence told as such."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import annotators, campaign, verdicts
from evalkit.campaign import people
from evalkit.campaign.printed import reasons


def test_each_official_number_that_differs_says_which_judgements_it_counts_and_what_they_make_of_it(real):
    """Counts and zeros from the files themselves, with pandas alone, against what each row's note says."""
    ratings, official = real("wmt22-mturk"), real("wmt22-mturk-ranking")
    workers = real("wmt22-mturk-annotators")
    rows, tables = campaign.printed(campaign.opened(dataset="wmt22-mturk", pair="jpn-eng")).printed
    assert [t.attrs["source"]["name"] for t in tables] == [
        "wmt22-mturk", "wmt22-mturk-ranking", "wmt22-mturk-annotators"]  # fmt: skip
    judged = [verdicts.verdict(row.printed, row.computed) for row in rows.itertuples()]
    differ = rows[[verdict == "differs" for verdict in judged]]
    assert len(differ) == 9
    assert rows.loc[rows.index.difference(differ.index), "note"].eq("").all()
    assert rows["basis"].eq("official result").all()
    japanese = official[official["src_lang"].eq("jpn")].set_index("system").astype({"judgements": int, "segments": int})
    here = ratings[ratings["src_lang"].eq("jpn") & ratings["item_type"].isin(["system", "repeat"])]
    people = workers[workers["src_lang"].eq("jpn") & ~workers["sd"].gt(0)]
    assert set(people["mean"]) == {0}
    for row in differ.itertuples():
        own = here[here["system"] == row.cell]
        column, digits = {"raw": ("score", 3), "z": ("z", 5)}[row.item.split(", ")[1]]
        segments = own.groupby("segment")[column].mean()
        more = japanese.at[row.cell, "judgements"] - len(own)
        new = japanese.at[row.cell, "segments"] - len(segments)
        assert f"counts {more} judgements and {new} segments more" in row.note.replace("more and", "and")
        assert f"{len(people)} annotators of jpn-eng gave nothing but 0" in row.note
        if more == new:
            assert f"becomes {segments.sum() / japanese.at[row.cell, 'segments']:.{digits}f}, which rounds" in row.note
        else:
            low, high = map(float, re.search(r"becomes (-?[\d.]+) to (-?[\d.]+),", row.note).groups())
            half = {"raw": 0.05, "z": 0.0005}[row.item.split(", ")[1]]
            assert low - half <= float(row.printed) <= high + half
            assert low < segments.sum() / japanese.at[row.cell, "segments"] + 0.01


def test_a_score_that_zeros_do_not_explain_is_not_explained():
    held = pd.DataFrame([
        {"pair": "eng-deu", "system": "sys0", "official": 12.0, "recomputed": 70.0, "equal": False, "judgements": 90,
         "official_judgements": 93, "segments": 30, "official_segments": 33},
        {"pair": "eng-deu", "system": "sys1", "official": 59.0, "recomputed": 60.0, "equal": False, "judgements": 90,
         "official_judgements": 90, "segments": 30, "official_segments": 30},
        {"pair": "eng-deu", "system": "sys2", "official": 59.0, "recomputed": 60.0, "equal": False, "judgements": 90,
         "official_judgements": 80, "segments": 30, "official_segments": 30},
    ])  # fmt: skip
    names = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d", "annotator": "a", "item_type": "system", "score": 70.0}
    ratings = pd.DataFrame([names | {"system": f"sys{s}", "segment": str(g)} for s in range(3) for g in range(30)])
    told = reasons(ratings, held, scale="raw", flat="")
    assert "something else differs, too" in told[0]
    assert told[1] == "The counts of judgements agree; the cause is not known."
    assert "Which of them it leaves out is not known" in told[2]


def test_who_notices_in_data_from_which_those_who_failed_were_removed_is_not_known(real):
    rows = campaign.opened(dataset="wmt22-mturk", pair="jpn-eng")
    control = rows.control["qc_p"].dropna()
    assert (control < 0.05).all(), "WMT published those who pass"
    narrow = ((control >= 0.025) & (control < 0.05)).sum()
    section = people.controlled(rows)
    assert section.facts["caliper"] == annotators.Caliper(narrow, 0, pytest.approx(0.75**narrow))
    assert "seem to have been taken out before" in " ".join(section.told)


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
    assert found.p > people.SURE
    assert cut.failed == 0
    assert (cut.p < people.SURE) == (0.75**cut.passed < people.SURE)
