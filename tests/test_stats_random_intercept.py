"""One random intercept per group, by restricted maximum likelihood."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM, MixedLMParams

from evalkit.stats.random_intercept import random_intercept


def drawn(seed: int, *, between: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw groups of uneven sizes, and two columns that hang together with them."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(80, 200))
    groups = np.unique(rng.integers(0, 15, rows), return_inverse=True)[1]
    x = np.column_stack([np.ones(rows), rng.random(rows) < 0.2 + 0.04 * groups, rng.normal(size=rows)]).astype(float)
    y = 3 + 0.5 * x[:, 1] + rng.normal(size=rows) + between * rng.normal(size=groups.max() + 1)[groups]
    return y, x, groups


def of_statsmodels(y, x, groups):
    """Fit the same model with another program, whose search starts near what least squares give."""
    start = np.linalg.lstsq(x, y, rcond=None)[0]
    first = MixedLMParams.from_components(fe_params=start, cov_re=np.array([[0.1]]))
    return MixedLM(y, x, groups).fit(method="bfgs", start_params=first, gtol=1e-6)


def covariance(y, x, groups, coefficients, ratio):
    """Let the other program say how sure coefficients are, given where the likelihood is highest."""
    place = MixedLMParams.from_components(fe_params=coefficients, cov_re=np.array([[ratio]]))
    return np.linalg.inv(-MixedLM(y, x, groups).hessian(place)[0])[: x.shape[1], : x.shape[1]]


@pytest.mark.parametrize("between", [0.6, 1, 6])
def test_it_is_the_fit_of_statsmodels(between):
    """Estimates, their covariance and both variances, of groups that hardly differ to such that differ greatly."""
    for seed in range(5):
        y, x, groups = drawn(seed, between=between)
        fit, expected = random_intercept(y, x, groups), of_statsmodels(y, x, groups)
        assert expected.converged
        assert fit.between > 0
        assert fit.coefficients == pytest.approx(expected.fe_params, rel=1e-4, abs=1e-6)
        assert fit.noise == pytest.approx(expected.scale, rel=1e-4)
        assert fit.between == pytest.approx(float(expected.cov_re[0, 0]), rel=2e-4)  # as near as that search comes
        assert fit.covariance == pytest.approx(covariance(y, x, groups, fit.coefficients, fit.between / fit.noise))


def test_no_ratio_of_variances_is_likelier():
    """Oracle: the restricted likelihood of the contrasts that are free of fixed effects, with dense matrices."""
    y, x, groups = drawn(11, between=0.7)
    fit = random_intercept(y, x, groups)
    contrasts = np.linalg.svd(x.T)[2][x.shape[1] :]
    same = (groups[:, None] == groups).astype(float)

    def likelihood(noise: float, between: float) -> float:
        covariance = contrasts @ (noise * np.eye(len(y)) + between * same) @ contrasts.T
        return stats.multivariate_normal(cov=covariance).logpdf(contrasts @ y)

    best = likelihood(fit.noise, fit.between)
    for noise in (0.99, 1, 1.01):
        for between in (0.01, 0.95, 1, 1.05, 100):
            if (noise, between) != (1, 1):
                assert likelihood(fit.noise * noise, fit.between * between) < best


def test_groups_that_differ_less_than_chance_leave_least_squares():
    """On the boundary, the variance between groups being 0, coefficients and noise are those of least squares."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(12), 6)
    noise = rng.normal(size=(12, 6))
    y = (noise - noise.mean(axis=1, keepdims=True)).ravel()  # every group has the same mean
    x = np.column_stack([np.ones(72), rng.normal(size=72)])
    fit = random_intercept(y, x, groups)
    expected, squares = np.linalg.lstsq(x, y, rcond=None)[:2]
    assert fit.between == 0
    assert fit.coefficients == pytest.approx(expected, abs=1e-12)
    assert fit.noise == pytest.approx(squares[0] / 70)
    assert fit.covariance == pytest.approx(covariance(y, x, groups, expected, 1e-10))


def test_units_and_a_common_shift_do_not_matter():
    y, x, groups = drawn(2, between=1)
    fit, moved = random_intercept(y, x, groups), random_intercept(1e4 + 1e-3 * y, x, groups)
    assert moved.coefficients == pytest.approx(1e-3 * fit.coefficients + [1e4, 0, 0], rel=1e-6)
    assert moved.covariance == pytest.approx(1e-6 * fit.covariance, rel=1e-4)


def test_where_variances_cannot_be_told_apart_there_is_no_fit():
    y, x, groups = drawn(1, between=1)
    assert random_intercept(y, x, np.arange(len(y))) is None
    assert random_intercept(x @ [1.0, 2, 3], x, groups) is None
    assert random_intercept(np.zeros(len(y)), x, groups) is None
