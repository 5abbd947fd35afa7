"""Read Pearson's r and Kendall's tau-b of any resample of clusters off sums that are taken once.

A resample is a vector of weights, how often each cluster was drawn; both correlations are functions of sums that are
linear (Pearson) or quadratic (Kendall) in these weights.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse


class Side:
    """Hold one side of a correlation: centred values, in order of their clusters, and pairs of rows that do not tie.

    values, cluster: (rows,), clusters numbered from 0 without gaps, in ascending order. ``untied``: (clusters,
    clusters), how many pairs of their rows differ.
    """

    def __init__(self, values: np.ndarray, cluster: np.ndarray) -> None:
        self.values, self.cluster = values - values.mean(), cluster
        distinct, level = np.unique(values, return_inverse=True)
        level = level.astype(np.int32)
        self.signs = (level[:, None] > level).view(np.int8) - (level[:, None] < level).view(np.int8)
        size = np.bincount(cluster).astype(float)
        met = sparse.csr_array((np.ones(len(values)), (cluster, level)), shape=(len(size), len(distinct)))
        self.untied = np.outer(size, size) - (met @ met.T).toarray()


def both(one: Side, other: Side) -> tuple[np.ndarray, np.ndarray]:
    """Sum, over rows of clusters, what ``r`` needs, (6, clusters), and over pairs of them what ``tau`` needs."""
    x, y = one.values, other.values
    linear = np.stack([np.bincount(one.cluster, each) for each in (np.ones_like(x), x, y, x * x, y * y, x * y)])
    member = sparse.csr_array((np.ones(len(x), np.int32), (one.cluster, np.arange(len(x)))))
    balance = member @ (member @ (one.signs * other.signs).astype(np.int32)).T  # symmetric, so not turned back
    return linear, np.stack([balance.astype(float), one.untied, other.untied])


def r(sums: np.ndarray) -> np.ndarray:
    """Compute Pearson's r from weighted sums, (..., 6); NaN where a side does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    n = np.maximum(n, 1)
    spread = [np.where(square - total**2 / n > 1e-12 * square, square - total**2 / n, 0)
              for square, total in ((xx, x), (yy, y))]  # fmt: skip
    return divided(xy - x * y / n, np.sqrt(spread[0] * spread[1]))


def tau(weights: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Compute tau-b under each weighting, (batch,) from (batch, clusters)."""
    balance, untied_x, untied_y = (((weights @ matrix) * weights).sum(1) for matrix in pairs)
    return divided(balance, np.sqrt(untied_x * untied_y))


def within(weights: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Compute tau-b over pairs of rows of the same cluster only."""
    balance, untied_x, untied_y = (weights @ np.diagonal(matrix) for matrix in pairs)
    return divided(balance, np.sqrt(untied_x * untied_y))


def divided(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)
