"""Whether preferences follow what was marked in the two translations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit.human.preferences.drawn import part
from evalkit.stats.widths import redraw


def follow(
    comparisons: pd.DataFrame, *, resamples: int = 1000, seed: int = 7, units: Sequence[str] = ("documents",)
) -> pd.DataFrame:
    """Return how often the translation with fewer marks was preferred: choices, share, low, high, n, equal.

    comparisons: with ``marks_a`` and ``marks_b`` and ``close`` (a difficult choice). Rows: all, clear and difficult
    choices. Comparisons with as many marks on either side say nothing and are counted as ``equal``; ties are left out.
    """
    rows = []
    for name, own in (
        ("all", comparisons),
        ("clear", comparisons[~comparisons["close"]]),
        ("difficult", comparisons[comparisons["close"]]),
    ):
        lead = own["marks_b"] - own["marks_a"]
        told = own[lead.ne(0) & own["preference"].ne("tie")]
        fits = (told["preference"].eq("a") == (lead[told.index] > 0)).to_numpy(float)
        share, low, high = _mean(told, fits, resamples, seed, units)
        rows.append((name, share, low, high, len(told), int(lead.eq(0).sum())))
    return pd.DataFrame(rows, columns=["choices", "share", "low", "high", "n", "equal"])


def labels(
    comparisons: pd.DataFrame,
    marks: pd.DataFrame,
    *,
    resamples: int = 1000,
    seed: int = 7,
    units: Sequence[str] = ("documents",),
) -> pd.DataFrame:
    """Return of each label of marks how often the translation with fewer of them was preferred, the most told first.

    marks: ``system``, ``screen`` and ``error_type``. Columns label, marks, share, low, high, n
    (choices where it tells); labels that tell in fewer than 20 are left out.
    """
    counts = marks.groupby(["screen", "system", "error_type"], observed=True).size()
    rows = []
    for name in sorted(set(marks["error_type"].astype(str))):
        own = counts.xs(name, level="error_type")
        a, b = (
            np.array([own.get(key, 0) for key in zip(comparisons["screen"], comparisons[f"system_{side}"])])
            for side in "ab"
        )
        told = comparisons[(a != b) & comparisons["preference"].ne("tie").to_numpy()]
        fits = (told["preference"].eq("a").to_numpy() == (a < b)[(a != b)]).astype(float)
        if len(told) >= 20:
            rows.append((name, int(own.sum()), *_mean(told, fits, resamples, seed, units), len(told)))
    found = pd.DataFrame(rows, columns=["label", "marks", "share", "low", "high", "n"])
    return found.sort_values("n", ascending=False, ignore_index=True)


def _mean(
    told: pd.DataFrame, fits: np.ndarray, resamples: int, seed: int, units: Sequence[str]
) -> tuple[float, float, float]:
    """Return a mean with its interval."""

    def statistic(times: np.ndarray) -> np.ndarray:
        return (times @ fits[:, None]) / times.sum(axis=1, keepdims=True)

    [found] = redraw([part(told, statistic, units)], resamples=resamples, seed=seed)
    low, high = found.interval()
    return float(found.estimate[0]), max(0.0, float(low[0])), min(1.0, float(high[0]))
