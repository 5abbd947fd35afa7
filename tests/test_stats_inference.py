"""Bootstrap, correlations and half/half regressions against scipy, scikit-learn and textbook values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from evalkit import DataError
from evalkit.papers.licht2022 import held_out_r2
from evalkit.papers.licht2022.held_out_r2 import split_r2
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


def test_batches_do_not_change_the_draws(monkeypatch):
    data = np.random.default_rng(1).normal(size=(12, 3))
    settings_ = {"statistic": lambda d: d.mean(axis=(1, 2)), "resamples": 50}
    whole = inference.bootstrap(data, seed=np.random.default_rng(3), **settings_)
    monkeypatch.setattr(inference.blocks, "BATCH", 40)  # one resample a batch
    np.testing.assert_array_equal(inference.bootstrap(data, seed=np.random.default_rng(3), **settings_), whole)


def test_standard_error_of_a_mean_is_the_textbook_one():
    data = np.random.default_rng(2).normal(size=200)
    draws = inference.bootstrap(data, mean_of, resamples=20_000, seed=np.random.default_rng(7))
    assert inference.standard_error(draws) == pytest.approx(data.std() / np.sqrt(200), rel=0.02)


def test_resampling_whole_rows_keeps_pairs_together():
    data = np.column_stack([np.arange(9.0), 2 * np.arange(9.0)])
    draws = inference.bootstrap(data, lambda d: d, resamples=5, seed=0)
    np.testing.assert_array_equal(draws[..., 1], 2 * draws[..., 0])


def test_bootstrap_of_nothing_is_refused():
    with pytest.raises(DataError, match="at least one observation"):
        inference.bootstrap([], mean_of, resamples=10, seed=0)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(*[st.floats(-100, 100, width=32)] * 2), min_size=3, max_size=20))
def test_pearson_equals_scipy(points):
    x, y = np.array(points).T
    if np.ptp(x) < 1e-3 or np.ptp(y) < 1e-3:
        return
    assert correlation.pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


def test_pearson_of_a_constant_is_missing():
    assert np.isnan(correlation.pearson([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))


def sklearn_fold_score(x, y, train, test):
    fitted = LinearRegression().fit(x[train, None], y[train])
    return r2_score(y[test], fitted.predict(x[test, None]))


@pytest.mark.parametrize("n", [4, 7, 14, 28])
def test_split_r2_equals_scikit_learn_on_the_same_splits(n, monkeypatch):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=n), rng.normal(size=(n, 3))
    folds = [f for seed in range(20) for f in KFold(2, shuffle=True, random_state=seed).split(x)]
    expected = [np.mean([sklearn_fold_score(x, y[:, k], *f) for f in folds]) for k in range(3)]
    orders = np.array([np.r_[test, train] for train, test in folds[::2]])  # KFold's first test fold comes first

    class Replay:
        def permuted(self, *_, **__):
            return orders

    np.testing.assert_allclose(split_r2(x, y, splits=20, rng=Replay()), expected)


def test_split_r2_follows_scikit_learn_where_a_fold_does_not_vary():
    train, test = np.array([[0, 1, 2]]), np.array([[3, 4, 5]])
    x = np.array([1.0, 2, 3, 4, 5, 6])
    for y in [np.array([1.0, 2, 4, 7, 7, 7]), np.array([2.0, 2, 2, 2, 2, 2])]:
        ours = held_out_r2._held_out_r2(x, y[None], train, test)
        assert ours == pytest.approx(sklearn_fold_score(x, y, train[0], test[0]))
    flat = np.array([3.0, 3, 3, 4, 5, 6])  # nothing to fit on: both predict the mean
    assert held_out_r2._held_out_r2(flat, x[None], train, test) == pytest.approx(
        sklearn_fold_score(flat, x, train[0], test[0])
    )


def test_split_r2_is_seeded_and_below_r2_on_noise():
    rng = np.random.default_rng(11)
    x = rng.normal(size=14)
    y = x + rng.normal(size=14)
    first, again = (split_r2(x, y, splits=500, rng=np.random.default_rng(7)) for _ in range(2))
    assert first == again
    assert first < correlation.pearson(x, y) ** 2


@settings(deadline=None, max_examples=30)
@given(st.floats(0.1, 10), st.floats(-50, 50))
def test_split_r2_does_not_depend_on_units(scale, offset):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 12))
    plain = split_r2(x, y, splits=50, rng=np.random.default_rng(7))
    assert split_r2(x * scale + offset, y, splits=50, rng=np.random.default_rng(7)) == pytest.approx(plain)
    assert split_r2(x, y * scale + offset, splits=50, rng=np.random.default_rng(7)) == pytest.approx(plain)


def test_too_few_points_are_refused():
    with pytest.raises(DataError, match="at least 4 points, got 3"):
        split_r2([1, 2, 3], [1, 2, 3], splits=5, rng=np.random.default_rng(0))
