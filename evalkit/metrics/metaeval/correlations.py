"""Correlate metrics with human scores: Pearson, Spearman, Kendall, and how often both order a pair the same way.

Scores of segments are samples in three groupings: all cells together (``none``), the systems of a segment (``item``),
or the segments of a system (``system``); values of the groups are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.metaeval.scores import Scores, averaged, described
from evalkit.stats.correlation import PairCounts, count_pairs, pearson, spearman

#: How scores of segments are grouped before they are correlated.
GROUPINGS = ("none", "item", "system")


_OF_SAMPLES = {"pearson": pearson, "spearman": spearman}
_OF_PAIRS = {
    "kendall_b": PairCounts.kendall_b,
    "kendall_c": PairCounts.kendall_c,
    "accuracy_2way": PairCounts.accuracy_2way,
    "accuracy_3way": PairCounts.accuracy_3way,
}
#: Statistics of two stacks of samples, of metric and human scores.
STATISTICS = (*_OF_SAMPLES, *_OF_PAIRS)
_COLUMNS = ["level", "statistic", "grouping", "metric", "value", "n", "groups"]


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
    found = pd.DataFrame(rows, columns=_COLUMNS)
    return described(scores, found.sort_values(["statistic", "grouping"], key=_order, kind="stable", ignore_index=True))


def pair_differences(scores: Scores) -> pd.DataFrame:
    """Correlate differences: of every two translations of a segment, the metric's with the humans', all in one sample.

    Which segments are hard cancels out, and unlike accuracy the size of differences counts. Each pair is taken both
    ways round, so that it does not matter which translation comes first; means are then 0.
    Returns the columns of ``correlations``, with the statistic "pearson_differences" and the grouping "item"; n counts
    pairs, groups the segments with at least one. Source: mt-metrics-eval, "pairwise difference Pearson".

    >>> human, metric = np.array([[0.0], [1], [3]]), np.array([[[0.0], [1], [1]]])
    >>> pair_differences(Scores(("m",), ("A", "B", "C"), ("s",), metric, human))["value"].round(3).tolist()
    [0.756]
    """
    i, j = np.triu_indices(len(scores.systems), 1)
    human = scores.human[i] - scores.human[j]
    rows = []
    for name, values in zip(scores.metrics, scores.values):
        metric = values[i] - values[j]
        both = np.isfinite(metric) & np.isfinite(human)
        x, y = metric[both], human[both]
        spread = np.sqrt((x @ x) * (y @ y))
        value = float(x @ y / spread) if spread > 0 else np.nan
        rows.append(("segment", "pearson_differences", "item", name, value, len(x), int(both.any(axis=0).sum())))
    return described(scores, pd.DataFrame(rows, columns=_COLUMNS))


def by_unit(
    scores: Scores, units: Sequence[str], *, level: str, statistics: Sequence[str] = ("pearson",)
) -> pd.DataFrame:
    """Correlate means over units of segments, such as documents, in the groupings that scores of segments have.

    units: the name of each segment's unit, see ``scores.averaged``; level: what to call them. By item, the systems'
    means in one document are a sample. Returns the columns of ``correlations``.
    """
    return correlations(averaged(scores, units), statistics=statistics).assign(level=level)


def grouped(cells: np.ndarray, grouping: str) -> np.ndarray:
    """Arrange cells, systems × segments, as groups × members."""
    return {"none": cells.reshape(1, -1), "item": cells.T, "system": cells}[grouping]


def _order(column: pd.Series) -> pd.Series:
    """Sort by the place in the lists above."""
    return column.map({name: place for place, name in enumerate((*STATISTICS, *GROUPINGS))})
