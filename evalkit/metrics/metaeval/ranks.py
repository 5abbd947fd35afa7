"""Rank metrics in clusters that no significant difference runs through, as WMT prints them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError


def p_matrix(values: pd.DataFrame, significance: pd.DataFrame) -> pd.DataFrame:
    """Arrange the p-values of one statistic as a square, best metric first: the row's metric against the column's.

    values: metric and value, such as the rows of ``correlations`` for one statistic and grouping; significance: the
    rows of ``significance`` for the same. NaN on and below the diagonal; metrics of equal value are sorted by name.
    Raises DataError where a metric is there twice, or a pair of metrics was not compared.
    """
    order = _ordered(values)["metric"].tolist()
    place = {name: number for number, name in enumerate(order)}
    chosen = significance[significance["metric_a"].isin(place) & significance["metric_b"].isin(place)]
    a, b = (chosen[name].map(place).to_numpy(int) for name in ("metric_a", "metric_b"))
    matrix = np.full((len(order), len(order)), np.nan)
    matrix[np.minimum(a, b), np.maximum(a, b)] = chosen["p"]
    if len(set(zip(np.minimum(a, b), np.maximum(a, b)))) != len(order) * (len(order) - 1) // 2:
        raise DataError("Not every two of the metrics were compared. Pass the tests of all metrics that are ranked.")
    return pd.DataFrame(matrix, index=order, columns=order)


def rank_table(values: pd.DataFrame, significance: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """Rank metrics by clusters: a metric opens a new one if any metric of the current cluster is significantly better.

    Takes what ``p_matrix`` takes. Returns metric, value, rank (1 is best; all metrics of a cluster share it), worse
    (how many metrics it is significantly better than), best first. A metric without a value is left out.
    Source: WMT23 metrics task (Freitag et al. 2023), section 6.  Caveat: inside a cluster, metrics can still differ
    significantly from others than the one before; the number of clusters grows with the data, not with their quality.

    >>> values = pd.DataFrame({"metric": ["fair", "good"], "value": [0.5, 0.9]})
    >>> tests = pd.DataFrame({"metric_a": ["good"], "metric_b": ["fair"], "p": [0.01]})
    >>> rank_table(values, tests).values.tolist()
    [['good', 0.9, 1, 1], ['fair', 0.5, 2, 0]]
    """
    table = _ordered(values)
    better = p_matrix(values, significance).to_numpy() <= alpha  # NaN is not
    rank, start, ranks = 1, 0, []
    for number in range(len(table)):
        if better[start:number, number].any():
            rank, start = rank + 1, number
        ranks.append(rank)
    return table.assign(rank=ranks, worse=better.sum(axis=1))


def _ordered(values: pd.DataFrame) -> pd.DataFrame:
    """Sort metrics from best to worst, equals by name."""
    if values["metric"].duplicated().any():
        name = values.loc[values["metric"].duplicated(), "metric"].iloc[0]
        raise DataError(f"The metric {name} has several values. Choose one pair, level, statistic and grouping.")
    table = values[["metric", "value"]].dropna().sort_values("metric", kind="stable")
    return table.sort_values("value", ascending=False, kind="stable", ignore_index=True)
