"""Bootstrap, permutation, multiplicity and two samples against scipy, statsmodels and textbooks."""

import itertools
import os
import signal
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import multitest

from evalkit import DataError
from evalkit.papers.licht2022.languages import split_r2
from evalkit.stats import correlation, inference


def mean_of(stack):
    return stack.mean(axis=1)


def test_bootstrap_equals_scipy_draw_for_draw():
    data = np.random.default_rng(1).normal(size=25)
    theirs = stats.bootstrap(
        (data,), np.mean, n_resamples=700, method="percentile", rng=np.random.default_rng(7), confidence_level=0.9
    )
    ours = inference.bootstrap(data, mean_of, resamples=700, seed=np.random.default_rng(7))
    np.testing.assert_allclose(ours, theirs.bootstrap_distribution)
    np.testing.assert_allclose(inference.interval(ours, level=0.9), tuple(theirs.confidence_interval))
    np.testing.assert_allclose(inference.standard_error(ours), theirs.standard_error)


# Blocks


def test_each_block_has_the_stream_that_numpy_spawns_from_the_seed():
    ours = np.concatenate(list(inference.in_blocks(lambda count, rng: rng.random(count), 7, seed=11, block=3)))
    spawned = [np.random.default_rng(child) for child in np.random.SeedSequence(11).spawn(3)]
    theirs = np.concatenate([r.random(n) for r, n in zip(spawned, (3, 3, 1))])
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_processes_compute_the_same_to_the_last_bit():
    tasks = np.random.default_rng(2).normal(size=(6, 200, 200))
    here, there = (zip(*inference.spread(inverse, list(tasks), workers=n), strict=True) for n in (1, 2))
    (_, expected), (processes, found) = here, there
    np.testing.assert_array_equal(found, expected)
    assert os.getpid() not in processes


def inverse(matrix):
    return os.getpid(), np.linalg.inv(matrix)


def dies(task):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_process_is_told():
    with pytest.raises(DataError, match=r"background process was killed .* fewer workers"):
        list(inference.spread(dies, range(4), workers=2))


# Bootstrap of units


def test_a_cluster_is_drawn_whole_and_gives_the_variance_of_cluster_means():
    labels, y = np.repeat(np.arange(30), 4), np.random.default_rng(4).normal(size=30).repeat(4)
    counts = inference.resample(lambda counts: counts, labels.astype(str), resamples=20_000, seed=7)
    assert (counts.reshape(-1, 30, 4) == counts.reshape(-1, 30, 4)[:, :, :1]).all()
    assert inference.standard_error(counts @ y / 120) == pytest.approx(y.std() / np.sqrt(30), rel=0.02)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda f: inference.resample(f, [], resamples=5, seed=7), "one observation"),
        (lambda f: inference.bootstrap([], f, resamples=5, seed=7), "one observation"),
        (lambda f: inference.adjust([0.1], method="bonferoni"), "bonferoni"),
        (lambda f: inference.adjust([0.1, 1.5]), "0 to 1"),
        (lambda f: inference.cut(0), "0 resamples"),
        (lambda f: split_r2([1, 2, 3], [1, 2, 3], splits=5, rng=np.random.default_rng(0)), "4 points"),
    ],
)
def test_what_cannot_be_drawn_or_tested_is_told(call, word):
    with pytest.raises(DataError, match=word):
        call(lambda counts: counts)


# Permutation tests


def flips(y):
    return lambda swapped: np.where(swapped, -1, 1) @ y / len(y)


def two_sided(statistic):
    return lambda swapped: np.abs(statistic(swapped))


DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])  # eighths of an inch


def test_darwins_maize_has_the_p_value_that_fisher_printed():
    """Fisher 1935, section 21: 863 of 32,768 sign arrangements sum to 314 or more; both sides 1,726, p = 0.05267."""
    test = inference.permutation_test(two_sided(flips(15 * DARWIN)), inference.Swaps(15), seed=7)
    assert (test.observed, test.hits, test.arrangements, test.exact) == (314, 1726, 32768, True)
    assert round(100 * float(test.p), 3) == 5.267
    assert inference.permutation_test(flips(DARWIN), inference.Swaps(15), seed=7).hits == 863


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9))
def test_exact_sign_flips_equal_scipy(values):
    y = np.array(values) / 10  # tenths: sums in another order differ in their last digits, and ties abound
    sums = np.array(list(itertools.product((-1, 1), repeat=len(values)))) @ values
    upper = inference.permutation_test(flips(y), inference.Swaps(len(y)), seed=7)
    both = inference.permutation_test(two_sided(flips(y)), inference.Swaps(len(y)), seed=7)
    assert (upper.hits, both.hits) == ((sums >= sum(values)).sum(), (np.abs(sums) >= abs(sum(values))).sum())
    options = {"permutation_type": "samples", "alternative": "greater", "n_resamples": np.inf}
    theirs = stats.permutation_test((np.array(values),), np.sum, **options)  # whole numbers: it knows no tolerance
    assert float(upper.p) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_shuffles_stay_within_strata_and_are_equally_likely():
    scores, strata = np.array([1.0, 2, 3, 10, 20]), np.array([0, 0, 0, 1, 1])
    drawn = inference.Shuffles(scores, strata).drawn(12_000, np.random.default_rng(7))
    expected = {(*a, *b) for a in itertools.permutations(scores[:3]) for b in itertools.permutations(scores[3:])}
    times = pd.Series(list(map(tuple, drawn.tolist()))).value_counts()
    assert set(times.index) == expected
    assert stats.chisquare(times).pvalue > 0.01
    masks = inference.Swaps(3).drawn(8000, np.random.default_rng(7))
    assert stats.chisquare(np.bincount(masks @ [1, 2, 4], minlength=8)).pvalue > 0.01


def test_shuffled_scores_have_scipys_p_value_within_monte_carlo_error():
    x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.2, 0.8, 3.1, 2.9, 6.0, 4.0])
    options = {"permutation_type": "pairings", "alternative": "greater", "n_resamples": np.inf}
    theirs = stats.permutation_test((x,), lambda one: stats.pearsonr(one, y)[0], vectorized=False, **options)
    exchange = inference.Shuffles(x, np.zeros(6))
    test = inference.permutation_test(partial(correlation.pearson, y), exchange, resamples=20_000, seed=7)
    assert (test.exact, test.arrangements) == (False, 20_000)
    assert float(test.p) == (int(test.hits) + 1) / 20_001
    assert float(test.p) == pytest.approx(theirs.pvalue, abs=4 * np.sqrt(theirs.pvalue / 20_000))


def test_masks_with_their_complements_are_all_masks():
    def both(masks):
        sums = np.where(masks, -1, 1) @ DARWIN
        return (sums >= 314).sum() + (-sums >= 314).sum()

    options = {"resamples": 99, "seed": 7, "mirrored": True}
    test = inference.count_hits(both, np.array(314), inference.Swaps(15), **options)
    assert (test.hits, test.arrangements, test.exact) == (863, 2**15, True)
    many = inference.count_hits(len, np.array(0), inference.Swaps(40), **options)
    assert (many.hits, many.arrangements, many.exact) == (50, 100, False)


def test_many_statistics_share_the_arrangements_and_a_missing_one_stays_missing():
    columns = np.column_stack([DARWIN, -DARWIN, np.zeros(15), np.full(15, np.nan)])
    test = inference.permutation_test(two_sided(flips(columns)), inference.Swaps(15), seed=7)
    assert test.p.tolist() == pytest.approx([1726 / 2**15, 1726 / 2**15, 1, np.nan], nan_ok=True)

    def only_as_observed(swapped):
        return np.where(swapped.any(axis=1), np.nan, 1.0)

    assert float(inference.permutation_test(only_as_observed, inference.Swaps(4), seed=7).p) == 1


def test_rounding_noise_does_not_break_ties():
    y = np.array([0.1, 0.2, 0.3]) * 1e6 + 0.0

    def sums(swapped):
        return np.abs([(np.where(s, -1, 1) * y)[np.argsort(s)].sum() for s in swapped])

    assert int(inference.permutation_test(sums, inference.Swaps(3), seed=7).hits) == 2


# Jackknife


def test_the_jackknife_of_a_mean_is_the_textbook_standard_error():
    x = np.random.default_rng(3).normal(size=(25, 2))
    without = np.stack([np.delete(x, k, axis=0).mean(axis=0) for k in range(25)])
    np.testing.assert_allclose(inference.jackknife_error(without), stats.sem(x))
    theirs = stats.ttest_1samp(x[:, 0], 0).confidence_interval(0.9)
    ours = inference.jackknife_interval(x[:, 0].mean(), without[:, 0], level=0.9)
    assert ours == pytest.approx((theirs.low, theirs.high))


def test_units_of_one_value_may_be_counted_and_undefined_ones_add_nothing():
    values, times = np.array([1.0, 2.0, 4.0]), np.array([3, 1, 2])
    assert inference.jackknife_error(values, times) == pytest.approx(inference.jackknife_error(values.repeat(times)))
    gap = inference.jackknife_error([1.0, np.nan, 3.0])
    assert float(gap) == pytest.approx(np.sqrt(2 / 3 * 2))


# Multiplicity


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(sorted(inference.ADJUSTMENTS)))
def test_adjusted_p_values_are_those_of_statsmodels_gaps_aside(p, method):
    adjusted = inference.adjust([*p, np.nan], method=method)
    np.testing.assert_array_equal(adjusted[:-1], multitest.multipletests(p, method=method)[1])
    assert np.isnan(adjusted[-1])
    assert (adjusted[:-1] >= np.array(p) - 1e-12).all()


def test_benjamini_and_hochbergs_example():
    """Benjamini & Hochberg 1995, section 4.1: Bonferroni finds three of fifteen, their procedure four."""
    p = "1 4 19 95 201 278 298 344 459 3240 4262 5719 6528 7590 10000"  # ten-thousandths
    p = np.array(p.split(), float) / 10_000
    assert (inference.adjust(p, method="bonferroni") <= 0.05).sum() == 3
    assert (inference.adjust(p, method="fdr_bh") <= 0.05).sum() == 4


# Tests of two samples, a test a row


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
            "signed_rank": stats.wilcoxon(difference, alternative=side),
            "paired_t": stats.ttest_1samp(difference, 0, alternative=side),
            "independent_t": stats.ttest_ind(*both, alternative=side),
        }
        if values == "whole" and size == 6:
            del theirs["signed_rank"]  # scipy enumerates all signs of few tied differences; beyond 13 it does not
        for name, expected in theirs.items():
            test, samples = getattr(inference, name), (a - b,) if name in ("signed_rank", "paired_t") else (a, b)
            found = test(*samples, two_sided=two_sided)[k]
            assert found == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-14), name


def test_stouffer_equals_scipy():
    p = np.random.default_rng(1).random((5, 4))
    expected = [stats.combine_pvalues(row, method="stouffer").pvalue for row in p]
    assert inference.stouffer(p) == pytest.approx(np.array(expected), rel=1e-9)


def test_sign_flips_count_all_signs_of_few_differences():
    difference = np.array([[3.0, 1, 2, np.nan], [1, -1, 4, 0]])
    p = inference.sign_flips(difference, resamples=1000, seed=7)
    assert p.tolist() == [2 / 16, 6 / 16]  # a gap has a sign, too, which changes no sum


def test_sign_flips_and_redrawing_agree_with_student_on_many_normal_differences():
    difference = np.random.default_rng(5).normal(0.1, 1, (6, 400))
    expected = inference.paired_t(difference)
    for p in (
        inference.sign_flips(difference, resamples=20_000, seed=7),
        inference.redrawn(difference, resamples=20_000, seed=7),
    ):
        assert p == pytest.approx(expected, abs=0.012)


def test_nothing_observed_and_no_spread_prove_nothing():
    nothing, flat = np.full((1, 5), np.nan), np.full((1, 5), 50.0)
    assert inference.signed_rank(flat - flat).tolist() == [1.0]
    assert inference.paired_t(nothing).tolist() == [1.0]
    assert inference.independent_t(flat, flat).tolist() == [1.0]
