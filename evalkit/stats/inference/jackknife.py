"""Jackknife: how sure an estimate is, from leaving out one unit at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def jackknife_error(without: ArrayLike, times: ArrayLike | None = None) -> np.ndarray:
    """Return the standard error from the estimates without one unit each, units along the first axis.

    without: (units, ...); an estimate that is not defined (NaN) adds nothing. times: (units,) how many units give the
    same value, by default 1. Source: Efron & Tibshirani 1993, ch. 11, :math:`\\sqrt{\\frac{n-1}{n} \\sum (x_i - m)^2}`.

    >>> round(float(jackknife_error([2.5, 2.0, 1.5])), 6)  # means of two of 1, 2, 3
    0.57735
    """
    without = np.asarray(without, float)
    times = np.ones(len(without)) if times is None else np.asarray(times)
    defined = np.isfinite(without)
    values = np.where(defined, without, 0)
    centre = np.tensordot(times, values, 1) / np.maximum(np.tensordot(times, defined, 1), 1)
    spread = np.tensordot(times, np.where(defined, without - centre, 0) ** 2, 1)
    return np.sqrt((times.sum() - 1) / times.sum() * spread)


def jackknife_interval(estimate: float, without: ArrayLike, *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval (low, high) of an estimate by the jackknife, with Student's t of units - 1.

    without: (units,), the estimates without one unit each.

    >>> [round(end, 3) for end in jackknife_interval(2.0, [2.5, 2.0, 1.5])]
    [-0.484, 4.484]
    """
    without = np.asarray(without, float)
    reach = float(stats.t.ppf((1 + level) / 2, len(without) - 1) * jackknife_error(without))
    return estimate - reach, estimate + reach
