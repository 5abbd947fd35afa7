"""Many tests at once: p-values adjusted for their number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evalkit import DataError

#: Short names and what they control: the chance of one false finding, or the share of findings that are false.
ADJUSTMENTS = {
    "bonferroni": "family-wise error",
    "holm": "family-wise error",
    "hommel": "family-wise error, where tests are independent or positively dependent",
    "fdr_bh": "false discovery rate, where tests are independent or positively dependent",
    "fdr_by": "false discovery rate",
}


def adjust(p: ArrayLike, *, method: str = "holm") -> np.ndarray:
    """Adjust p-values of any shape for their number; missing ones stay missing and do not count as tests.

    method: a name in ``ADJUSTMENTS``. A finding stands where the adjusted value is at most the chosen level.
    Source: Holm 1979; Hommel 1988; Benjamini & Hochberg 1995; Benjamini & Yekutieli 2001; all but Holm's through
    statsmodels.
    Raises DataError for an unknown method or values outside 0 to 1.

    >>> adjust([0.01, 0.04, np.nan, 0.03]).round(3).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    if method not in ADJUSTMENTS:
        raise DataError(f"There is no adjustment {method!r}. Choose one of {', '.join(ADJUSTMENTS)}.")
    p = np.asarray(p, float)
    there = np.isfinite(p)
    if ((p[there] < 0) | (p[there] > 1)).any():
        raise DataError("A p-value lies outside 0 to 1. Check what was handed over as p-values.")
    adjusted = np.full(p.shape, np.nan)
    if method == "holm":
        adjusted[there] = _holm(p[there])
    elif there.any():
        from statsmodels.stats.multitest import multipletests

        adjusted[there] = multipletests(p[there], method=method)[1]
    return adjusted


def _holm(p: np.ndarray) -> np.ndarray:
    """Adjust by Holm's step-down rule; that of statsmodels 0.15 collects garbage at each call, up to half a second."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return adjusted
