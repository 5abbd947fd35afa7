"""Correlations: Pearson's r, Spearman's rho, Kendall's tau in its variants, and pairwise accuracy.

Most take stacks of samples along the last axis, with NaN for what is missing, and leave it out.

Correlations of resamples are read off sums that are taken once. A resample is a vector of weights, how often each unit
(a row, a cluster of rows, a system) was drawn. Pearson's r is a function of sums that are linear in these weights
(``pearson_of_sums``), Kendall's tau-b of sums over pairs that are quadratic (``kendall_b_of_pairs``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, stats

_AT_ONCE = 1 << 22  # cells of tables held at a time
_SMALL = 40  # samples up to this size are compared all with all at once


def ratio(part: ArrayLike, whole: ArrayLike) -> np.ndarray:
    """Divide; NaN where there is nothing to divide by.

    >>> ratio([1, 0], [2, 0]).tolist()
    [0.5, nan]
    """
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.divide(part, whole, out=np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan), where=whole > 0)


def pearson(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return Pearson's r along the last axis over the places where both have a value; NaN where one does not vary.

    >>> pearson([1, 2, 3, np.nan], [[2, 4, 6, 7], [3, 2, 1, 0]]).round(12).tolist()
    [1.0, -1.0]
    """
    x, y, both = _paired(x, y)
    varies = [np.fmax.reduce(side, axis=-1) > np.fmin.reduce(side, axis=-1) for side in (x, y)]  # gaps left out
    n = np.maximum(both.sum(-1, keepdims=True), 1)
    one, other = (np.nan_to_num(side - np.nansum(side, axis=-1, keepdims=True) / n) for side in (x, y))
    spread = np.sqrt((one**2).sum(-1)) * np.sqrt((other**2).sum(-1))
    return np.clip(ratio((one * other).sum(-1), np.where(varies[0] & varies[1], spread, 0)), -1, 1)


def spearman(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return Spearman's rho along the last axis: Pearson's r of the ranks, ties at their middle.

    >>> spearman([1, 2, 30, 4], [1, 2, 3, 4]).round(6).item()
    0.8
    """
    x, y, _ = _paired(x, y)
    return pearson(ranks(x), ranks(y))


def kendall_b(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return Kendall's tau-b along the last axis, see ``PairCounts.kendall_b``; NaN where one does not vary.

    >>> kendall_b([1, 2, 3, 4], [[1, 2, 4, 3], [4, 3, 2, 1]]).round(6).tolist()
    [0.666667, -1.0]
    """
    return count_pairs(x, y).kendall_b()


def tau_b(balance: ArrayLike, untied_x: ArrayLike, untied_y: ArrayLike) -> np.ndarray:
    """Return Kendall's tau-b: concordant less discordant pairs, over the geometric mean of pairs untied in x and in y.

    Source: Kendall 1945.

    >>> tau_b(4, 6, 6).round(3).item()
    0.667
    """
    return ratio(balance, np.sqrt(np.asarray(untied_x) * untied_y))


def tau_c(balance: ArrayLike, size: ArrayLike, distinct_x: ArrayLike, distinct_y: ArrayLike) -> np.ndarray:
    """Return Stuart's tau-c, which reaches 1 where x and y have different numbers of distinct values.

    balance: concordant less discordant pairs of ``size`` rows.

    >>> tau_c(4, 4, 4, 4).round(3).item()
    0.667
    """
    fewer = np.minimum(distinct_x, distinct_y)
    return ratio(2 * np.asarray(balance), np.asarray(size) ** 2 * np.maximum(fewer - 1, 0) / np.maximum(fewer, 1))


class PairCounts(NamedTuple):
    """Count the pairs of a sample by how x and y order them, and the distinct values of each."""

    concordant: np.ndarray
    discordant: np.ndarray
    tied_x: np.ndarray  # tied in x alone
    tied_y: np.ndarray
    tied_both: np.ndarray
    size: np.ndarray
    distinct_x: np.ndarray
    distinct_y: np.ndarray

    @property
    def pairs(self) -> np.ndarray:
        """Number all pairs."""
        return self.concordant + self.discordant + self.tied_x + self.tied_y + self.tied_both

    def kendall_b(self) -> np.ndarray:
        """Return tau-b, see there."""
        untied = self.pairs - self.tied_both
        return tau_b(self.concordant - self.discordant, untied - self.tied_x, untied - self.tied_y)

    def kendall_c(self) -> np.ndarray:
        """Return tau-c, see there."""
        return tau_c(self.concordant - self.discordant, self.size, self.distinct_x, self.distinct_y)

    def accuracy_2way(self) -> np.ndarray:
        """Return the share of pairs ordered like the humans' (y), of those that humans do not tie; a tie in x is wrong.

        Source: Kocmi et al. 2021, "To ship or not to ship", section 2.
        """
        return ratio(self.concordant, self.concordant + self.discordant + self.tied_x)

    def accuracy_3way(self) -> np.ndarray:
        """Return the share of all pairs whose relation (<, = or >) is the humans'; a tie is right where both tie.

        Source: Deutsch et al. 2023, "Ties matter", equation 4, without calibration.
        """
        return ratio(self.concordant + self.tied_both, self.pairs)


def count_pairs(x: ArrayLike, y: ArrayLike) -> PairCounts:
    """Count concordant, discordant and tied pairs along the last axis over the places where both have a value.

    >>> [int(number) for number in count_pairs([1, 2, 3, 3], [1, 3, 2, 2])[:5]]
    [3, 2, 0, 0, 1]
    """
    x, y, both = _paired(x, y)
    if x.shape[-1] <= _SMALL:
        return _counts_by_signs(x, y, both)
    rows = [_counts_by_sorting(a[there], b[there]) for a, b, there in zip(_flat(x), _flat(y), _flat(both))]
    return PairCounts(*np.array(rows).T.reshape(-1, *x.shape[:-1]))


def ranks(x: ArrayLike) -> np.ndarray:
    """Rank along the last axis from 1 (the lowest) on, ties at their middle; NaN stays.

    >>> ranks([10, np.nan, 30, 10]).tolist()
    [1.5, nan, 3.0, 1.5]
    """
    x = np.asarray(x, float)
    there = np.isfinite(x)
    return np.where(there, stats.rankdata(np.where(there, x, np.inf), axis=-1), np.nan)


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x and y, alike in shape, NaN wherever one of them is missing, and where both are there."""
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    both = np.isfinite(x) & np.isfinite(y)
    return np.where(both, x, np.nan), np.where(both, y, np.nan), both


def _flat(stack: np.ndarray) -> np.ndarray:
    return stack.reshape(-1, stack.shape[-1])


def _counts_by_signs(x: np.ndarray, y: np.ndarray, both: np.ndarray) -> PairCounts:
    """Compare all members of small samples with one another."""
    first, second = np.triu_indices(x.shape[-1], 1)
    dx, dy = x[..., first] - x[..., second], y[..., first] - y[..., second]  # NaN compares as neither
    alike = np.sign(dx) * np.sign(dy)
    tied_x, tied_y = dx == 0, dy == 0
    tied = tied_x & tied_y
    distinct = [np.where(both.any(-1), (np.diff(np.sort(values, -1), axis=-1) > 0).sum(-1) + 1, 0) for values in (x, y)]
    kinds = (alike > 0, alike < 0, tied_x & ~tied, tied_y & ~tied, tied, both)
    return PairCounts(*(kind.sum(-1) for kind in kinds), *distinct)


def _counts_by_sorting(x: np.ndarray, y: np.ndarray) -> tuple[int, ...]:
    """Count the pairs of one large sample; scipy's tau-b, made whole again, is concordant less discordant pairs."""
    n = len(x)
    codes = [np.unique(values, return_inverse=True)[1] for values in (x, y)]
    joint = np.sort(codes[0] * (codes[1].max(initial=0) + 1) + codes[1])
    sizes = [*map(np.bincount, codes), np.diff(np.flatnonzero(np.diff(joint, prepend=-1, append=-1)))]
    ties_x, ties_y, ties_both = (int((size * (size - 1) // 2).sum()) for size in sizes)
    total = n * (n - 1) // 2
    untied = float(total - ties_x) * float(total - ties_y)
    tau = stats.kendalltau(*codes, method="asymptotic").statistic if untied else 0.0
    balance = round(tau * np.sqrt(untied))
    ordered = total - ties_x - ties_y + ties_both
    concordant = (ordered + balance) // 2
    ties = ties_x - ties_both, ties_y - ties_both, ties_both
    return concordant, ordered - concordant, *ties, n, len(sizes[0]), len(sizes[1])


def moments(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return what ``pearson_of_sums`` needs of each row, (6, rows): 1, x, y, their squares and their product.

    Centre x and y first, so that little is lost by cancellation.
    """
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y])


def pearson_of_sums(sums: np.ndarray) -> np.ndarray:
    """Compute Pearson's r from weighted sums of ``moments``, (..., 6); NaN where a side does not vary.

    >>> x, y = np.array([-1.0, 0, 1]), np.array([-1.0, 0, 1])
    >>> pearson_of_sums(np.array([[1, 1, 1], [0, 3, 0]]) @ moments(x, y).T).tolist()
    [1.0, nan]
    """
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    n = np.maximum(n, 1)
    spread = [
        np.where(square - total**2 / n > 1e-12 * np.maximum(square, 1e-300), square - total**2 / n, 0)
        for square, total in ((xx, x), (yy, y))
    ]
    return ratio(xy - x * y / n, np.sqrt(spread[0] * spread[1]))


def covariances(columns: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the covariance matrices of columns under each weighting of rows, (batch, columns, columns).

    columns: (rows, columns). times: (batch, rows). NaN where no row is drawn.

    >>> covariances(np.array([[1.0, 2], [3, 6]]), np.array([[1.0, 1]]))[0].tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    centred = columns - columns.mean(axis=0)  # little is lost by cancellation then
    shares = ratio(times, times.sum(axis=1, keepdims=True))
    means = shares @ centred
    products = shares @ (centred[:, :, None] * centred[:, None, :]).reshape(len(centred), -1)
    return products.reshape(-1, *2 * centred.shape[1:]) - means[:, :, None] * means[:, None, :]


def least_squares(design: np.ndarray, outcome: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the coefficients of least squares under each weighting of rows, (batch, columns); NaN where undetermined.

    design: (rows, columns). outcome: (rows,). times: (batch, rows).

    >>> least_squares(np.array([[1.0, 0], [1, 0], [1, 1]]), np.array([2.0, 4, 8]), np.array([[1.0, 1, 1], [3, 1, 2]]))
    array([[3. , 5. ],
           [2.5, 5.5]])
    """
    size = design.shape[1]
    products = (times @ (design[:, :, None] * design[:, None]).reshape(len(design), -1)).reshape(-1, size, size)
    inverse = np.linalg.pinv(products, rcond=1e-10, hermitian=True)
    known = np.diagonal(inverse @ products, axis1=1, axis2=2) > 1 - 1e-6
    found = (inverse @ (times @ (design * outcome[:, None]))[..., None])[..., 0]
    return np.where(known, found, np.nan)


def pair_sums(weights: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Sum over all pairs of units, the quadratic form of each row of weights: (batch,) from (batch, units)."""
    return np.einsum("ri,ri->r", weights @ matrix, weights)


def kendall_b_of_pairs(
    weights: np.ndarray, balance: np.ndarray, untied_x: np.ndarray, untied_y: np.ndarray
) -> np.ndarray:
    """Compute tau-b under each weighting of units, (batch,) from (batch, units); NaN where one side is all ties.

    balance, untied_x, untied_y: units × units, concordant less discordant pairs of their rows, and pairs that x, and
    y, do not tie.

    >>> signs = np.sign(np.arange(3)[:, None] - np.arange(3))
    >>> kendall_b_of_pairs(np.array([[1, 1, 1], [2, 1, 0]]), signs * signs, abs(signs), abs(signs)).tolist()
    [1.0, 1.0]
    """
    return tau_b(*(pair_sums(weights, matrix) for matrix in (balance, untied_x, untied_y)))


class Clustered:
    """Correlate x and y under any weighting of clusters of rows.

    x, y: (rows,); rows in which one of them is missing are left out. cluster: (rows,) numbers from 0 on.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, cluster: np.ndarray) -> None:
        there = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        rows = there[np.argsort(cluster[there], kind="stable")]
        self.clusters, own = np.unique(cluster[rows], return_inverse=True)
        (x, signs_x, untied_x), (y, signs_y, untied_y) = (_side(side[rows], own) for side in (x, y))
        self.sums = np.stack([np.bincount(own, each, len(self.clusters)) for each in moments(x, y)])
        ones = np.ones(len(rows), np.int32)
        member = sparse.csr_array((ones, (own, np.arange(len(rows)))), shape=(len(self.clusters), len(rows)))
        balance = member @ (member @ (signs_x * signs_y).astype(np.int32)).T  # symmetric, so not turned back
        self.pairs = balance.astype(float), untied_x, untied_y

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return Pearson's r, tau-b, and tau-b over pairs of one cluster only, (batch, 3) from (batch, clusters).

        NaN where a side does not vary.
        """
        weights = weights[:, self.clusters]
        within = (weights @ np.diagonal(matrix) for matrix in self.pairs)
        values = (pearson_of_sums(weights @ self.sums.T), kendall_b_of_pairs(weights, *self.pairs), tau_b(*within))
        return np.stack(values, axis=-1)


def _side(values: np.ndarray, cluster: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre one side of a correlation; signs of rows' differences; how many rows of two clusters differ."""
    distinct, level = np.unique(values, return_inverse=True)
    level = level.astype(np.int32)
    signs = (level[:, None] > level).view(np.int8) - (level[:, None] < level).view(np.int8)
    size = np.bincount(cluster).astype(float)
    met = sparse.csr_array((np.ones(len(values)), (cluster, level)), shape=(len(size), len(distinct)))
    return values - values.sum() / max(len(values), 1), signs, np.outer(size, size) - (met @ met.T).toarray()


def kendall_b_of_values(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute tau-b of x and y that take few values, where row i counts ``counts[:, i]`` times; NaN if none.

    counts: (batch, rows). Pairs are counted off the table of how often each two values meet, so the work grows with
    the number of values, not with the rows. Returns (batch,).
    Source: Kendall 1945; Brown and Benedetti 1977 for the table.

    >>> counts = np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
    >>> kendall_b_of_values(np.array([1, 2, 3, 3]), np.array([1, 3, 2, 2]), counts).round(3).tolist()
    [0.333, 1.0]
    """
    values_x, row = np.unique(x, return_inverse=True)
    values_y, column = np.unique(y, return_inverse=True)
    shape = (len(values_x), len(values_y))
    step = max(1, _AT_ONCE // (shape[0] * shape[1]))
    cell = row * shape[1] + column
    parts = []
    for start in range(0, len(counts), step):
        some = counts[start : start + step]
        tables = np.stack([np.bincount(cell, each, minlength=shape[0] * shape[1]) for each in some])
        parts.append(_of_tables(tables.reshape(-1, *shape)))
    return np.concatenate(parts)


def _of_tables(tables: np.ndarray) -> np.ndarray:
    """Compute tau-b of each table of counts, (batch, values of x, values of y), both in ascending order."""
    above = np.zeros_like(tables)
    above[:, 1:] = tables.cumsum(1)[:, :-1]  # of lower x, by y
    left = above.cumsum(2)  # of lower x, and y up to this one
    concordant = left - above
    discordant = left[:, :, -1:] - left
    balance = (tables * (concordant - discordant)).sum((1, 2))
    n = tables.sum((1, 2))
    untied_x, untied_y = (n**2 - (tables.sum(axis) ** 2).sum(1) for axis in (2, 1))  # twice as many pairs
    return tau_b(2 * balance, untied_x, untied_y)
