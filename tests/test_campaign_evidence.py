"""What the campaign's report may conclude: official numbers explained, absence of evidence told as such."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import campaign
from evalkit.campaign import quality
from evalkit.human import annotators
from evalkit.papers import wmt
from tests.makers import ratings


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
