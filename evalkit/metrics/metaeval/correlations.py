"""Correlate metrics with human scores: Pearson, Spearman, Kendall, and how often both order a pair the same way.

Scores of segments are samples in three groupings: all cells together (``none``), the systems of a segment (``item``),
or the segments of a system (``system``); values of the groups are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.metaeval.scores import Scores, described
from evalkit.stats.correlation import PairCounts, count_pairs, pearson, spearman

#: How scores of segments are grouped before they are correlated.
GROUPINGS = ("none", "item", "system")


_OF_SAMPLES = {"pearson": pearson, "spearman": spearman}
_OF_PAIRS = {
    "kendall_b": PairCounts.kendall_b, "kendall_c": PairCounts.kendall_c,
    "accuracy_2way": PairCounts.accuracy_2way, "accuracy_3way": PairCounts.accuracy_3way,
}  # fmt: skip
#: Statistics of two stacks of samples, of metric and human scores.
STATISTICS = (*_OF_SAMPLES, *_OF_PAIRS)


def evaluate(metric: np.ndarray, human: np.ndarray, statistics: Sequence[str] = STATISTICS) -> dict[str, np.ndarray]:
    """Compute statistics of samples along the last axis, pairs counted once: name -> a value for each sample."""
    found = {name: _OF_SAMPLES[name](metric, human) for name in statistics if name in _OF_SAMPLES}
    if len(found) < len(statistics):
        pairs = count_pairs(metric, human)
        found |= {name: _OF_PAIRS[name](pairs) for name in statistics if name in _OF_PAIRS}
    return found


def correlations(
    scores: Scores, *, statistics: Sequence[str] = STATISTICS, groupings: Sequence[str] = GROUPINGS
) -> pd.DataFrame:
    """Correlate every metric with the human scores, by every statistic and grouping.

    Returns data, pair, level, statistic, grouping, metric, value, n (cells used), groups (those with a defined value,
    which ``value`` averages). Scores of systems know no grouping but ``none``. A group counts where it has at least two
    cells and, for correlations, where neither side is constant; value is NaN where no group does.
    Raises DataError for an unknown statistic or grouping. Source: as mt-metrics-eval, which averages in the same way.

    >>> scores = Scores(("m",), ("A", "B", "C"), ("",), np.array([[[1.0], [2], [4]]]), np.array([[1.0], [2], [3]]))
    >>> correlations(scores, statistics=["kendall_b", "pearson"])[["statistic", "value"]].round(3).values.tolist()
    [['pearson', 0.982], ['kendall_b', 1.0]]
    """
    for name, known in [(s, STATISTICS) for s in statistics] + [(g, GROUPINGS) for g in groupings]:
        if name not in known:
            raise DataError(f"{name!r} is not known here. Choose among {', '.join(known)}.")
    rows = []
    for grouping in ["none"] if scores.level == "system" else groupings:
        human = grouped(scores.human, grouping)
        for metric, values in zip(scores.metrics, scores.values):
            sample = grouped(values, grouping)
            n = int((np.isfinite(sample) & np.isfinite(human)).sum())
            for name, each in evaluate(sample, human, statistics).items():
                defined = np.isfinite(each)
                value = float(each[defined].mean()) if defined.any() else np.nan
                rows.append((scores.level, name, grouping, metric, value, n, int(defined.sum())))
    columns = ["level", "statistic", "grouping", "metric", "value", "n", "groups"]
    found = pd.DataFrame(rows, columns=columns)
    return described(scores, found.sort_values(["statistic", "grouping"], key=_order, kind="stable", ignore_index=True))


def grouped(cells: np.ndarray, grouping: str) -> np.ndarray:
    """Arrange cells, systems × segments, as groups × members."""
    return {"none": cells.reshape(1, -1), "item": cells.T, "system": cells}[grouping]


def _order(column: pd.Series) -> pd.Series:
    """Sort by the place in the lists above."""
    return column.map({name: place for place, name in enumerate((*STATISTICS, *GROUPINGS))})
