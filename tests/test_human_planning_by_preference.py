"""What a preference is worth in a plan: moments and power against simulated answers, and the sign test's efficiency."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.human import planning

V = {"document": 3.0, "item": 40.0, "annotator": 60.0, "block": 12.0, "residual": 60.0}


def documents(delta, ties, *, block=8, size=4000, seed=2, variances=V):
    """Differences of two scores, of documents × segments, and the answers of people who prefer the higher score."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, np.sqrt(2 * (variances["document"] + variances["block"])), (size, 1))
    gap = delta + common + rng.normal(0, np.sqrt(2 * (variances["item"] + variances["residual"])), (size, block))
    every = 2 * sum(variances[name] for name in ("document", "block", "item", "residual"))
    edge = stats.norm.ppf((1 + ties) / 2) * np.sqrt(every)
    return gap, (gap > edge).astype(float) - (gap < -edge)


@pytest.mark.parametrize("delta", [0.0, 4.0, 25.0])
@pytest.mark.parametrize("ties", [0.0, 0.3])
def test_a_documents_answers_have_the_moments_of_drawn_ones(delta, ties):
    _, answer = documents(delta, ties)
    means = answer.mean(axis=1)
    mean, variance = planning.answers(V, delta=delta, ties=ties, block=8)
    assert mean == pytest.approx(means.mean(), abs=4 * means.std() / np.sqrt(len(means)))
    assert variance == pytest.approx(means.var(), rel=0.1)


def test_the_planned_segments_find_the_difference_as_often_as_said():
    table = planning.by_preference(V, delta=4.0, target=0.8, block=8, ties=[0.2])
    for row, values in zip(table.itertuples(), documents(4.0, 0.2, size=80_000, seed=5)):
        each = values.mean(axis=1)
        sample = each[: len(each) // (row.segments // 8) * (row.segments // 8)].reshape(-1, row.segments // 8)
        found = stats.ttest_1samp(sample, 0, axis=1).pvalue < 0.05
        error = np.sqrt(0.8 * 0.2 / len(found))
        assert 0.8 - 4 * error < found.mean() < 0.8 + 4 * error + 0.02  # whole documents: a little more than asked for


def test_without_ties_many_independent_segments_have_the_sign_tests_efficiency():
    plain = V | {"document": 0.0, "block": 0.0}
    worth = planning.by_preference(plain, delta=0.2, block=1)["worth"]
    assert worth[1] == pytest.approx(2 / np.pi, abs=0.002)
    edge = stats.norm.ppf(0.6)
    assert worth[2] == pytest.approx((2 * stats.norm.pdf(edge)) ** 2 / 0.8, abs=0.002)


@given(st.floats(0.5, 20), st.floats(0, 0.6), st.integers(1, 20))
def test_a_preference_is_never_worth_more_than_two_scores_that_it_was_made_of(delta, ties, block):
    table = planning.by_preference(V, delta=delta, ties=[ties], block=block, most_segments=10**7)
    few = table["segments"].iloc[0] // block
    assert table["worth"].iloc[1] <= 1 + 2 / few
    turned = planning.answers(V, delta=-delta, ties=ties, block=block)
    mean, variance = planning.answers(V, delta=delta, ties=ties, block=block)
    assert turned == pytest.approx((-mean, variance), abs=1e-9)


def test_what_no_plan_reaches_is_missing_and_what_makes_no_sense_refused():
    table = planning.by_preference(V, delta=0.01, most_segments=1000)
    assert table["segments"].isna().all()
    assert pd.isna(table["worth"]).all()
    with pytest.raises(DataError, match="share of ties"):
        planning.answers(V, delta=1, ties=1.0, block=5)
    with pytest.raises(DataError, match="variances"):
        planning.answers(dict.fromkeys(V, 0.0), delta=1, ties=0.1, block=5)
