"""Correlations against scipy and brute force, plain and on resamples, with gaps and ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalkit.stats import correlation

SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall_b": lambda x, y: stats.kendalltau(x, y).statistic,
    "kendall_c": lambda x, y: stats.kendalltau(x, y, variant="c").statistic,
}


def ours(name, x, y):
    if name == "kendall_c":
        return correlation.count_pairs(x, y).kendall_c()
    return getattr(correlation, name)(x, y)


def sample(seed, size, gaps):
    """Two stacks of five samples with ties; the first side of the first sample does not vary."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, (2, 5, size)).astype(float)
    x[0] = 3.0
    x[rng.random(x.shape) < gaps], y[rng.random(y.shape) < gaps] = np.nan, np.nan
    return x, y


@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("size", [12, 300])  # compared all with all, and sorted
def test_stacks_of_samples_equal_scipy_one_by_one(name, size, gaps):
    x, y = sample(size, size, gaps)
    found = ours(name, x, y)
    assert np.isnan(found[0])
    for value, one, other in zip(found[1:], x[1:], y[1:]):
        there = np.isfinite(one) & np.isfinite(other)
        assert value == pytest.approx(SCIPY[name](one[there], other[there]), abs=1e-12)


@pytest.mark.parametrize("size", [15, 60])
def test_pairs_are_counted_as_by_hand(size):
    x, y = sample(1, size, 0.1)
    found = correlation.count_pairs(x, y)
    for k in range(5):
        there = np.isfinite(x[k]) & np.isfinite(y[k])
        i, j = np.triu_indices(there.sum(), 1)
        a, b = (np.sign(side[k][there][i] - side[k][there][j]) for side in (x, y))
        tied_a, tied_b = a == 0, b == 0
        by_hand = [a * b > 0, a * b < 0, tied_a & ~tied_b, ~tied_a & tied_b, tied_a & tied_b]
        assert [int(each[k]) for each in found[:5]] == [pairs.sum() for pairs in by_hand]
        assert found.accuracy_3way()[k] == pytest.approx((a == b).mean())
        assert found.accuracy_2way()[k] == pytest.approx((a == b)[b != 0].mean())


@given(st.lists(st.tuples(*[st.integers(-9, 9)] * 2), min_size=2, max_size=20), st.floats(0.1, 9), st.floats(-9, 9))
def test_shift_and_scale_change_nothing_and_minus_turns_round(points, scale, offset):
    x, y = np.array(points, float).T
    for name in SCIPY:
        plain = ours(name, x, y)
        assert ours(name, scale * x + offset, y) == pytest.approx(plain, abs=1e-9, nan_ok=True)
        assert ours(name, -x, y) == pytest.approx(-plain, abs=1e-9, nan_ok=True)
        assert ours(name, y, x) == pytest.approx(plain, abs=1e-12, nan_ok=True)


# Weighted


def clusters(seed):
    rng = np.random.default_rng(seed)
    cluster = np.sort(rng.integers(0, 8, 60))
    cluster = np.unique(cluster, return_inverse=True)[1]
    x, y = rng.integers(0, 7, (2, 60)).astype(float)
    times = rng.multinomial(cluster.max() + 1, np.full(cluster.max() + 1, 1 / (cluster.max() + 1)), size=20)
    return x, y, cluster, times


def test_resampled_clusters_have_the_correlations_of_repeated_rows():
    x, y, cluster, times = clusters(4)
    found = correlation.Clustered(x, y, cluster)(times.astype(float))
    by_values = correlation.kendall_b_of_values(x, y, times[:, cluster])
    for k, counts in enumerate(times[:, cluster]):
        a, b = x.repeat(counts), y.repeat(counts)
        assert found[k, 0] == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)
        assert found[k, 1] == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)
        assert by_values[k] == pytest.approx(found[k, 1], abs=1e-12)


def test_within_clusters_only_their_own_pairs_count():
    x, y, cluster, times = clusters(5)
    for counts, value in zip(times, correlation.Clustered(x, y, cluster)(times.astype(float))[:, 2]):
        i, j = np.nonzero(np.equal.outer(cluster, cluster))
        a, b, w = np.sign(x[i] - x[j]), np.sign(y[i] - y[j]), counts[cluster[i]]
        assert value == pytest.approx((w * a * b).sum() / np.sqrt((w * a**2).sum() * (w * b**2).sum()))


def test_rows_may_come_in_any_order_and_those_with_gaps_are_left_out():
    x, y, cluster, times = clusters(7)
    order = np.random.default_rng(1).permutation(62)
    gapped = [np.append(side, [np.nan, 3.0])[order] for side in (x, y)]
    gapped[1][np.flatnonzero(order == 61)] = np.nan
    found = correlation.Clustered(*gapped, np.append(cluster, [0, 1])[order])(times.astype(float))
    np.testing.assert_allclose(found, correlation.Clustered(x, y, cluster)(times.astype(float)), atol=1e-12)


def test_a_side_that_does_not_vary_has_no_correlation():
    x, y, cluster, times = clusters(6)
    for side in (np.full(60, 2.1), np.full(60, np.nan)):
        assert np.isnan(correlation.Clustered(side, y, cluster)(times.astype(float))).all()
    assert np.isnan(correlation.kendall_b_of_values(x, np.zeros(60), times[:, cluster])).all()
