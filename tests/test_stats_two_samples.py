"""Tests of two samples, a test a row: equal to scipy's on each row alone, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit.stats import two_samples


def rows(seed, *, values, size=40, count=12, gaps=0.2):
    """Draw two samples a row, of whole numbers (ties) or not, with gaps."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(60, 20, (2, count, size))
    a += 5
    if values == "whole":
        a, b = np.round(a / 10), np.round(b / 10)
    for one in (a, b):
        one[rng.random(one.shape) < gaps] = np.nan
    return a, b


def seen(row):
    """Leave out the gaps of a row."""
    return row[np.isfinite(row)]


SIDES = [("greater", False), ("two-sided", True)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", ["whole", "real"])
@pytest.mark.parametrize(("side", "two_sided"), SIDES)
@pytest.mark.parametrize("size", [6, 40, 120])
def test_each_row_equals_scipy(values, side, two_sided, size):
    a, b = rows(3, values=values, size=size)
    for k, (one, other) in enumerate(zip(a, b, strict=True)):
        both, difference = (seen(one), seen(other)), seen(one - other)
        theirs = {
            "rank_sum": stats.mannwhitneyu(*both, alternative=side),
            "signed_rank": stats.wilcoxon(difference, alternative=side),
            "paired_t": stats.ttest_1samp(difference, 0, alternative=side),
            "independent_t": stats.ttest_ind(*both, alternative=side),
        }
        if values == "whole" and size == 6:
            del theirs["signed_rank"]  # scipy enumerates all signs of few tied differences; beyond 13 it does not
        for name, expected in theirs.items():
            test, samples = getattr(two_samples, name), (a - b,) if name in ("signed_rank", "paired_t") else (a, b)
            found = test(*samples, two_sided=two_sided)[k]
            assert found == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-14), name


def test_stouffer_equals_scipy():
    p = np.random.default_rng(1).random((5, 4))
    expected = [stats.combine_pvalues(row, method="stouffer").pvalue for row in p]
    assert two_samples.stouffer(p) == pytest.approx(np.array(expected), rel=1e-9)


def test_stouffer_on_two_sided_p_values_does_not_see_a_contradiction():
    up, down = np.full(30, 2.0) + np.arange(30) / 10, -(np.full(30, 2.0) + np.arange(30) / 10)
    p = two_samples.signed_rank(np.stack([up, down]), two_sided=True)
    assert two_samples.stouffer(p[None])[0] < 1e-6  # although the two domains cancel out exactly
    assert two_samples.signed_rank(np.concatenate([up, down])[None], two_sided=True)[0] > 0.99


def test_sign_flips_count_all_signs_of_few_differences():
    difference = np.array([[3.0, 1, 2, np.nan], [1, -1, 4, 0]])
    p = two_samples.sign_flips(difference, resamples=1000, seed=7)
    assert p.tolist() == [2 / 16, 6 / 16]  # a gap has a sign, too, which changes no sum


def test_sign_flips_and_redrawing_agree_with_student_on_many_normal_differences():
    difference = np.random.default_rng(5).normal(0.1, 1, (6, 400))
    expected = two_samples.paired_t(difference)
    for p in (
        two_samples.sign_flips(difference, resamples=20_000, seed=7),
        two_samples.redrawn(difference, resamples=20_000, seed=7),
    ):
        assert p == pytest.approx(expected, abs=0.012)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-50, 50), st.floats(0.1, 20))
def test_shift_and_scale_of_both_samples_change_no_p(seed, shift, scale):
    a, b = rows(seed, values="real", size=15, count=3)
    one, other = a * scale + shift, b * scale + shift
    for test in (two_samples.rank_sum, two_samples.independent_t):
        assert test(one, other) == pytest.approx(test(a, b), rel=1e-6, abs=1e-9)
    for test in (two_samples.signed_rank, two_samples.paired_t):
        assert test(one - other) == pytest.approx(test(a - b), rel=1e-6, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_exchanging_the_samples_turns_one_sided_p_values_round_and_leaves_two_sided_ones(seed):
    a, b = rows(seed, values="whole", size=30, count=4)
    assert two_samples.paired_t(a - b) == pytest.approx(1 - two_samples.paired_t(b - a), abs=1e-9)
    assert two_samples.independent_t(a, b) == pytest.approx(1 - two_samples.independent_t(b, a), abs=1e-9)
    one, other = (two_samples.rank_sum(*sides, two_sided=True) for sides in ((a, b), (b, a)))
    assert one == pytest.approx(other, abs=1e-12)


def test_nothing_observed_and_no_spread_prove_nothing():
    nothing, flat = np.full((1, 5), np.nan), np.full((1, 5), 50.0)
    assert two_samples.rank_sum(flat, flat).tolist() == [1.0]
    assert two_samples.signed_rank(flat - flat).tolist() == [1.0]
    assert two_samples.paired_t(nothing).tolist() == [1.0]
    assert two_samples.independent_t(flat, flat).tolist() == [1.0]
