"""Correlations of all pairs at once: the same numbers as scipy gives pair by pair."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalkit.stats.agreement import all_pairs

SCIPY = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "kendall_c": lambda x, y: stats.kendalltau(x, y, variant="c"),
    "kendall_b": stats.kendalltau,
}


def held_against_scipy(scores, *, every=1):
    """Compare values to 1e-12 and p-values to 1e-9 of themselves, for every two columns, or for some of the pairs."""
    n, found = all_pairs.all_pairs(scores)
    assert list(found) == list(SCIPY)
    for number, (a, b) in list(enumerate(itertools.combinations(range(scores.shape[1]), 2)))[::every]:
        x, y = scores[np.isfinite(scores[:, [a, b]]).all(axis=1)][:, [a, b]].T
        assert n[number] == len(x)
        defined = len(x) > 2 and np.ptp(x) > 0 and np.ptp(y) > 0
        for name, oracle in SCIPY.items():
            value, p = (each[number] for each in found[name])
            if not defined:
                assert np.isnan(value)
                assert np.isnan(p)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = oracle(x, y)
            assert value == pytest.approx(theirs[0], abs=1e-12), name
            # next to a perfect correlation p rests on the last digit of 1 - |value|
            close = 1e-7 if 1 - abs(value) < 1e-12 else 1e-14
            assert p == pytest.approx(theirs[1], rel=1e-9, abs=close), name


def drawn(rows, columns, values, gaps, seed):
    """Draw correlated columns with so many distinct values (0: all distinct), some cells missing."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(rows, 1)) + rng.normal(size=(rows, columns))
    if values:
        edges = np.quantile(scores, np.linspace(0, 1, values + 1)[1:-1])
        scores = np.digitize(scores, edges).astype(float)
    scores[rng.random(scores.shape) < gaps] = np.nan
    return scores


@given(
    st.integers(3, 70), st.integers(2, 5), st.sampled_from([0, 2, 3, 5, 12]), st.sampled_from([0, 0.3]),
    st.integers(0, 10**6),
)  # fmt: skip
def test_every_pair_equals_scipy(rows, columns, values, gaps, seed):
    held_against_scipy(drawn(rows, columns, values, gaps, seed))


@pytest.mark.parametrize("gaps", [0, 0.25])
@pytest.mark.parametrize("values", [7, 0, 40])
def test_many_columns_equal_scipy_across_blocks(values, gaps, monkeypatch):
    monkeypatch.setattr(all_pairs, "_BLOCK", 30_000)
    held_against_scipy(drawn(301, 40, values, gaps, seed=3), every=5)


def test_perfect_and_reversed_orders_have_scipys_exact_p():
    x = np.arange(50.0)
    turned = np.column_stack([x, x, -x, np.r_[1.0, 0, np.arange(2, 50)]])
    held_against_scipy(turned)
    held_against_scipy(turned[:10])


def test_two_rows_or_a_constant_column_define_nothing():
    n, found = all_pairs.all_pairs(np.array([[1.0, 2, 5], [2, np.nan, 5], [3, 1, 5]]))
    assert n.tolist() == [2, 3, 2]
    assert all(np.isnan(value).all() and np.isnan(p).all() for value, p in found.values())
