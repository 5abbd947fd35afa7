"""Draws of units, permutation tests, multiplicity, power: against scipy, statsmodels, brute force, closed forms."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import multitest
from statsmodels.stats.power import TTestPower

from evalkit import DataError
from evalkit.stats import inference
from evalkit.stats.inference import blocks
from evalkit.stats.inference.permutation import _arrangements

# Blocks


def test_blocks_cover_every_replication_once_whatever_their_size():
    for total, options in itertools.product((1, 7, 16, 1000), ({}, {"block": 3}, {"numbers": 10**6})):
        spans = blocks.cut(total, **options)
        assert [n for start, stop in spans for n in range(start, stop)] == list(range(total))
    assert max(stop - start for start, stop in blocks.cut(1000, numbers=10**6)) == blocks.BATCH // 10**6
    with pytest.raises(DataError, match="0 resamples were asked for"):
        blocks.cut(0)


def test_each_block_has_the_stream_that_numpy_spawns_from_the_seed():
    ours = list(inference.in_blocks(lambda count, rng: rng.random(count), 7, seed=11, block=3))
    spawned = [np.random.default_rng(child) for child in np.random.SeedSequence(11).spawn(3)]
    np.testing.assert_array_equal(
        np.concatenate(ours), np.concatenate([r.random(n) for r, n in zip(spawned, (3, 3, 1))])
    )
    assert not np.array_equal(np.concatenate(ours), next(inference.in_blocks(lambda n, rng: rng.random(n), 7, seed=12)))


def test_memory_stays_bounded_by_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BATCH", 4000)
    largest = []
    inference.bootstrap(np.zeros(400), lambda stack: largest.append(stack.size) or stack[:, 0], resamples=170, seed=7)
    assert largest == [4000] * 17


# Bootstrap of units


def mean_of(y):
    return lambda counts: counts @ y / counts.sum(axis=1)


def brute_force(labels, inner, resamples, seed):
    """Draw rows as one would by hand: units, then in each drawn unit its inner labels, then all their rows."""
    rng, drawn = np.random.default_rng(seed), []
    rows = {unit: [np.flatnonzero((labels == unit) & (inner == i)) for i in np.unique(inner[labels == unit])]
            for unit in np.unique(labels)}  # fmt: skip
    for _ in range(resamples):
        units = rng.choice(list(rows), len(rows))
        drawn.append(np.concatenate([rows[u][i] for u in units for i in rng.integers(0, len(rows[u]), len(rows[u]))]))
    return drawn


def test_two_levels_are_drawn_as_by_hand():
    rng = np.random.default_rng(3)
    labels = np.repeat(list("abcdefgh"), [2, 2, 2, 4, 4, 6, 1, 3])
    inner = np.array([*"xyxyxxxxyzxyyzzzpqrr"] + ["q"] * 4)[: len(labels)]
    y = rng.normal(size=len(labels)) + rng.normal(size=8).repeat([2, 2, 2, 4, 4, 6, 1, 3])
    counts = inference.resample(lambda counts: counts, labels, within=inner, resamples=3000, seed=7)
    by_hand = brute_force(labels, inner, 3000, seed=8)
    theirs = np.array([np.bincount(rows, minlength=len(y)) for rows in by_hand])
    np.testing.assert_allclose(np.cov(counts.T), np.cov(theirs.T), atol=0.2)
    np.testing.assert_allclose(counts.mean(0), 1, atol=0.1)
    ours, other = counts @ y / counts.sum(1), theirs @ y / theirs.sum(1)
    assert stats.ks_2samp(ours, other).pvalue > 0.01
    pieces = pd.DataFrame(counts.T).groupby([labels, inner]).nunique()
    assert (pieces == 1).all(axis=None), "rows of one inner unit stay together"


def test_items_are_drawn_as_in_the_plain_bootstrap():
    y = np.random.default_rng(2).normal(size=40)
    draws = inference.resample(mean_of(y), np.arange(40), resamples=20_000, seed=7)
    assert inference.standard_error(draws) == pytest.approx(y.std() / np.sqrt(40), rel=0.02)
    plain = inference.bootstrap(y, lambda d: d.mean(axis=1), resamples=20_000, seed=8)
    assert stats.ks_2samp(draws, plain).pvalue > 0.01
    counts = inference.resample(lambda counts: counts, np.arange(40), resamples=50, seed=7)
    assert (counts.sum(axis=1) == 40).all()


def test_a_cluster_is_drawn_whole_and_gives_the_variance_of_cluster_means():
    labels, y = np.repeat(np.arange(30), 4), np.random.default_rng(4).normal(size=30).repeat(4)
    counts = inference.resample(lambda counts: counts, labels.astype(str), resamples=20_000, seed=7)
    assert (counts.reshape(-1, 30, 4) == counts.reshape(-1, 30, 4)[:, :, :1]).all()
    assert inference.standard_error(counts @ y / 120) == pytest.approx(y.std() / np.sqrt(30), rel=0.02)


def test_crossed_units_are_the_pigeonhole_bootstrap():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(30, 1)) + rng.normal(size=(1, 6)) + rng.normal(size=(30, 6))
    items, annotators = (index.ravel() for index in np.indices(scores.shape))
    ours = inference.resample(mean_of(scores.ravel()), items, annotators, resamples=8000, seed=7)
    plain = inference.bootstrap(scores, lambda d: d.mean(axis=(1, 2)), resamples=8000, axes=(0, 1), seed=8)
    assert stats.ks_2samp(ours, plain).pvalue > 0.01
    one = inference.resample(lambda counts: counts, items, annotators, resamples=1, seed=7).reshape(30, 6)
    np.testing.assert_allclose(one, np.outer(one.sum(1) / 6, one.sum(0) / 30))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda f: inference.resample(f, resamples=5, seed=7), "at least one observation"),
        (lambda f: inference.resample(f, [], resamples=5, seed=7), "at least one observation"),
        (lambda f: inference.resample(f, [1, 2], [1], resamples=5, seed=7), "one label for each row"),
        (lambda f: inference.resample(f, [1, 2], within=[1], resamples=5, seed=7), "one label for each row"),
        (lambda f: inference.resample(f, [1], [1], within=[1], resamples=5, seed=7), "one column of units"),
        (lambda f: inference.bootstrap([1], f, resamples=5), "Give rng or seed"),
        (lambda f: inference.permutation_test(f, inference.Swaps(3), alternative="both", seed=7), "Choose two-sided"),
        (lambda f: inference.adjust([0.1], method="bonferoni"), "no adjustment 'bonferoni'"),
        (lambda f: inference.adjust([0.1, 1.5]), "outside 0 to 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_or_tested_is_told(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call(lambda counts: counts)


# Permutation tests


def flips(y):
    return lambda swapped: np.where(swapped, -1, 1) @ y / len(y)


def mean_difference(y):
    y = np.asarray(y)
    return lambda labels: (labels @ y) / labels.sum(1) - ((1 - labels) @ y) / (1 - labels).sum(1)


DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])  # eighths of an inch


def test_darwins_maize_has_the_p_value_that_fisher_printed():
    """Fisher 1935, section 21: 863 of 32,768 sign arrangements sum to 314 or more; both sides 1,726, p = 0.05267."""
    test = inference.permutation_test(lambda swapped: np.where(swapped, -1, 1) @ DARWIN, inference.Swaps(15), seed=7)
    assert (test.observed, test.hits, test.arrangements, test.exact) == (314, 1726, 32768, True)
    assert round(100 * float(test.p), 3) == 5.267
    upper = inference.permutation_test(flips(DARWIN), inference.Swaps(15), alternative="greater", seed=7)
    assert upper.hits == 863


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9), st.sampled_from(["two-sided", "greater", "less"]))
def test_exact_sign_flips_equal_scipy(values, alternative):
    y = np.array(values) / 10  # tenths: sums in another order differ in their last digits, and ties abound
    ours = inference.permutation_test(flips(y), inference.Swaps(len(y)), alternative=alternative, seed=7)
    count = sum(
        {"two-sided": abs(s) >= abs(sum(values)), "greater": s >= sum(values), "less": s <= sum(values)}[alternative]
        for s in (np.dot(signs, values) for signs in itertools.product((-1, 1), repeat=len(values)))
    )
    assert (int(ours.hits), ours.arrangements) == (count, 2 ** len(values))
    if alternative != "two-sided":  # there scipy doubles the smaller side
        options = {"permutation_type": "samples", "alternative": alternative, "n_resamples": np.inf}
        theirs = stats.permutation_test((np.array(values),), np.sum, **options)  # whole numbers: it knows no tolerance
        assert float(ours.p) == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_exact_shuffles_of_two_samples_equal_scipy(alternative):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=5).round(1), rng.normal(0.5, size=7).round(1)
    theirs = stats.permutation_test(
        (x, y), lambda a, b: a.mean() - b.mean(), n_resamples=np.inf, alternative=alternative
    )  # fmt: skip
    test = inference.permutation_test(
        mean_difference([*x, *y]), inference.Shuffles([1] * 5 + [0] * 7), alternative=alternative, seed=7
    )
    assert test.arrangements == 792
    assert float(test.observed) == pytest.approx(x.mean() - y.mean())
    assert float(test.p) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_exact_shuffles_of_scores_equal_scipys_pairings():
    x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.2, 0.8, 3.1, 2.9, 6.0, 4.0])
    options = {"permutation_type": "pairings", "alternative": "greater", "n_resamples": np.inf}
    theirs = stats.permutation_test((x,), lambda one: stats.pearsonr(one, y)[0], vectorized=False, **options)
    test = inference.permutation_test(
        partial(inference.pearson, y), inference.Shuffles(x), alternative="greater", seed=7
    )
    assert (test.arrangements, float(test.p)) == (720, pytest.approx(theirs.pvalue, abs=1e-12))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=7))
def test_every_arrangement_within_strata_comes_exactly_once(rows):
    labels, strata = np.array(rows).T
    exchange = inference.Shuffles(labels, strata)
    expected = {
        tuple(labels[list(order)]) for order in itertools.permutations(range(len(labels)))
        if all(strata[list(order)] == strata)
    }  # fmt: skip
    listed = exchange.numbered(0, exchange.size).tolist()
    assert listed[0] == labels.tolist()
    assert len(listed) == exchange.size == len(expected)
    assert set(map(tuple, listed)) == expected
    np.testing.assert_array_equal(exchange.numbered(0, exchange.size)[1:3], exchange.numbered(1, min(3, exchange.size)))
    drawn = exchange.drawn(20, np.random.default_rng(7))
    assert {tuple(row) for row in drawn.tolist()} <= expected


def test_random_arrangements_are_equally_likely():
    exchange = inference.Shuffles(np.array([0, 0, 1, 1, 0, 1]), ["a", "b", "a", "b", "b", "a"])
    drawn = exchange.drawn(9000, np.random.default_rng(7))
    times = pd.Series(list(map(tuple, drawn))).value_counts()
    assert len(times) == exchange.size == 9
    assert stats.chisquare(times).pvalue > 0.01
    masks = inference.Swaps(3).drawn(8000, np.random.default_rng(7))
    assert stats.chisquare(np.bincount(masks @ [1, 2, 4], minlength=8)).pvalue > 0.01


def test_past_counting_is_infinite_and_sampled():
    exchange = inference.Shuffles(np.arange(5000) % 2)
    assert exchange.size == np.inf
    test = inference.permutation_test(
        mean_difference(np.random.default_rng(1).normal(size=5000)), exchange, resamples=99, seed=7
    )
    assert (test.exact, test.arrangements) == (False, 99)
    assert float(test.p) == (int(test.hits) + 1) / 100


def test_a_sampled_p_value_is_within_monte_carlo_error_of_the_exact_one():
    exact, sampled = (
        inference.permutation_test(flips(DARWIN), inference.Swaps(15), resamples=20_000, exact_up_to=limit, seed=7)
        for limit in (2**15, 0)
    )
    assert exact.exact
    assert not sampled.exact
    p = float(exact.p)
    assert float(sampled.p) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 20_000))
    assert float(sampled.p) != p


def test_many_statistics_share_the_arrangements_and_a_missing_one_stays_missing():
    columns = np.column_stack([DARWIN, -DARWIN, np.zeros(15), np.full(15, np.nan)])
    test = inference.permutation_test(flips(columns), inference.Swaps(15), seed=7)
    assert test.p[:3].tolist() == [1726 / 2**15, 1726 / 2**15, 1]
    assert np.isnan(test.p[3])
    undefined = inference.permutation_test(  # defined as observed, undefined wherever something is swapped
        lambda swapped: np.where(swapped.any(1), np.nan, 1.0), inference.Swaps(4), seed=7
    )
    assert float(undefined.p) == 1


def test_rounding_noise_does_not_break_ties():
    y = np.array([0.1, 0.2, 0.3]) * 1e6 + 0.0
    shuffled = inference.permutation_test(
        lambda swapped: np.stack([(np.where(s, -1, 1) * y)[np.argsort(s)].sum() for s in swapped]),
        inference.Swaps(3), seed=7,
    )  # fmt: skip
    assert int(shuffled.hits) == 2


def test_p_values_are_uniform_without_an_effect():
    rng = np.random.default_rng(7)
    p = inference.permutation_test(flips(rng.normal(size=(12, 400))), inference.Swaps(12), seed=7).p
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert (p > 0).all()


# Multiplicity and power


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(sorted(inference.ADJUSTMENTS)))
def test_adjusted_p_values_are_those_of_statsmodels_gaps_aside(p, method):
    adjusted = inference.adjust([*p, np.nan], method=method)
    np.testing.assert_array_equal(adjusted[:-1], multitest.multipletests(p, method=method)[1])
    assert np.isnan(adjusted[-1])
    assert (adjusted[:-1] >= np.array(p) - 1e-12).all()
    shaped = inference.adjust(np.reshape([*p, np.nan], (-1, 1)), method=method)
    np.testing.assert_array_equal(shaped[:, 0], adjusted)


def test_benjamini_and_hochbergs_example():
    """Benjamini & Hochberg 1995, section 4.1: Bonferroni finds three of fifteen, their procedure four."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
         0.7590, 1.0]  # fmt: skip
    assert (inference.adjust(p, method="bonferroni") <= 0.05).sum() == 3
    assert (inference.adjust(p, method="fdr_bh") <= 0.05).sum() == 4


def test_nothing_to_adjust_stays_nothing():
    assert np.isnan(inference.adjust([[np.nan, np.nan]])).all()
    assert inference.adjust([]).shape == (0,)


def one_sample(effect, n, count, rng):
    return stats.ttest_1samp(rng.normal(effect, 1, (count, n)), 0, axis=1).pvalue


@pytest.mark.parametrize(("effect", "n"), [(0.5, 20), (0.0, 20), (0.2, 100)])
def test_power_of_a_t_test_is_the_one_in_the_tables(effect, n):
    share, low, high = inference.power(partial(one_sample, effect, n), simulations=4000, level=0.99, seed=7)
    expected = TTestPower().power(effect, n, 0.05) if effect else 0.05
    assert low < expected < high
    assert low < share < high
    assert high - low < 0.05


def test_power_has_the_interval_of_clopper_and_pearson():
    share, low, high = inference.power(
        lambda count, rng: np.tile([0.0, 0.05, 1.0, np.nan], (count, 1)), simulations=40, seed=7
    )
    assert share.tolist() == [1, 1, 0, 0]
    assert low == pytest.approx([0.025 ** (1 / 40)] * 2 + [0, 0])
    assert high == pytest.approx([1, 1] + [1 - 0.025 ** (1 / 40)] * 2)


def test_arrangements_of_one_kind_are_one():
    assert _arrangements(np.array([2, 2, 2])).tolist() == [[2, 2, 2]]
