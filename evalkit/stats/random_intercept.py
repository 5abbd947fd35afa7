"""Fit a linear model with one random intercept per group by restricted maximum likelihood (REML).

Why not a library: with one intercept all follows from sums by group, so that a fit takes milliseconds; statsmodels'
MixedLM solves a system of equations per group and step, and takes seconds. Tests hold the two against each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar


class Fit(NamedTuple):
    """Hold a fit: coefficients (columns,), their covariance (columns, columns), and the two variances."""

    coefficients: np.ndarray
    covariance: np.ndarray
    noise: float
    between: float  # variance of the groups' intercepts


class _Sums(NamedTuple):
    """Hold sums over all rows (x'x, x'y, y'y), and by group: rows, x and y."""

    xx: np.ndarray
    xy: np.ndarray
    yy: float
    n: np.ndarray
    x: np.ndarray
    y: np.ndarray


class _Profile(NamedTuple):
    """Hold what follows from a ratio of variances: the information x'Wx, coefficients, y'Wy left over, -2 log-REML."""

    information: np.ndarray
    coefficients: np.ndarray
    residual: float
    deviance: float


def random_intercept(y: np.ndarray, x: np.ndarray, groups: np.ndarray) -> Fit | None:
    r"""Fit :math:`y = X\beta + u_g + e`, with u ~ N(0, :math:`\lambda\sigma^2`) and e ~ N(0, :math:`\sigma^2`).

    y: (rows,). x: (rows, columns), of full column rank, its constant included. groups: (rows,), codes from 0.
    Both :math:`\beta` and :math:`\sigma^2` have closed forms given :math:`\lambda`, which is searched for alone, from
    0 (no differences between groups) upwards. The covariance comes from the observed information of
    :math:`(\beta, \lambda)`, as in statsmodels.
    Returns None where variances cannot be told apart: no group has two rows, or x explains y completely.
    Source: Laird & Ware 1982. Caveat: normal intervals are narrow with few groups.

    >>> fit = random_intercept(np.array([1.0, 3, 5, 7]), np.ones((4, 1)), np.array([0, 0, 1, 1]))
    >>> fit.coefficients.round(6).tolist(), round(fit.noise, 4), round(fit.between, 4)
    ([4.0], 2.0, 7.0)
    """
    own = np.linalg.lstsq(x, y, rcond=None)[0]
    y = y - x @ own  # little is lost by cancellation then
    count = np.bincount(groups)
    by_group = np.stack([np.bincount(groups, column) for column in x.T], axis=1)
    sums = _Sums(x.T @ x, x.T @ y, float(y @ y), count, by_group, np.bincount(groups, y))
    if count.max() < 2 or np.abs(y).max() <= 1e-9 * np.abs(x @ own).max():
        return None
    ratio = _best_ratio(sums)
    best = _profile(sums, ratio)
    noise = best.residual / (len(y) - x.shape[1])
    covariance = np.linalg.inv(_information(sums, best, ratio, noise))[:-1, :-1]
    return Fit(own + best.coefficients, covariance, noise, ratio * noise)


def _best_ratio(sums: _Sums) -> float:
    """Find the ratio of the variances with the highest likelihood: the best of a grid first, then all around it."""
    grid = np.linspace(0, 1, 65)[:-1]  # of shares of the variance that lie between groups

    def deviance(share: float) -> float:
        return _profile(sums, share / (1 - share)).deviance

    place = int(np.argmin([deviance(share) for share in grid]))
    around = (grid[max(place - 1, 0)], grid[place + 1] if place + 1 < len(grid) else 1 - 1e-9)
    share = float(minimize_scalar(deviance, bounds=around, method="bounded", options={"xatol": 1e-10}).x)
    share = min((0.0, share), key=deviance)  # the search never comes to an end of its bounds
    return share / (1 - share)


def _profile(sums: _Sums, ratio: float) -> _Profile:
    """Take out fixed effects and noise at a given ratio; a group's weights are W = I - ratio / (1 + ratio n) 11'."""
    taken = ratio / (1 + ratio * sums.n)
    weighted = sums.x * taken[:, None]
    information = sums.xx - weighted.T @ sums.x
    right = sums.xy - weighted.T @ sums.y
    coefficients = np.linalg.solve(information, right)
    residual = sums.yy - float(taken @ sums.y**2) - float(right @ coefficients)
    free = sums.n.sum() - sums.x.shape[1]
    spread = np.log1p(ratio * sums.n).sum() + np.linalg.slogdet(information)[1]
    return _Profile(information, coefficients, residual, free * np.log(residual) + spread)


def _information(sums: _Sums, best: _Profile, ratio: float, noise: float) -> np.ndarray:
    """Return the observed information of the coefficients and, last, of the ratio, the noise being profiled out."""
    shrunk = 1 / (1 + ratio * sums.n)
    ones = sums.n * shrunk  # 1'W1
    x = sums.x * shrunk[:, None]  # x'W1
    left = (sums.y - sums.x @ best.coefficients) * shrunk  # r'W1
    squares, curved = left @ left, 2 * float(left**2 @ ones)
    free = sums.n.sum() - sums.x.shape[1]
    between = np.linalg.solve(best.information, x.T @ x)
    twisted = np.trace(np.linalg.solve(best.information, 2 * (x * ones[:, None]).T @ x))
    of_ratio = free * (curved / best.residual - (squares / best.residual) ** 2) / 2 - (ones @ ones) / 2
    of_ratio -= (np.sum(between.T * between) - twisted) / 2
    cross = (x.T @ left / noise)[:, None]
    return np.block([[best.information / noise, cross], [cross.T, of_ratio]])
