"""Correlations: Pearson's r, Spearman's rho, Kendall's tau in its variants, pairwise accuracy, and Cramér's V.

All but the last take stacks of samples along the last axis, with NaN for what is missing, and leave it out.
``weighted`` has the same for resamples, ``agreement.all_pairs`` for every two columns of a table, with p-values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

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
    n = np.maximum(both.sum(-1, keepdims=True), 1)
    varies = np.ones(both.shape[:-1], bool)
    centred = []
    for values in (x, y):
        varies &= np.where(both, values, -np.inf).max(-1) > np.where(both, values, np.inf).min(-1)
        rest = np.where(both, values, 0)
        centred.append(np.where(both, rest - rest.sum(-1, keepdims=True) / n, 0))
    x, y = centred
    spread = np.sqrt((x**2).sum(-1)) * np.sqrt((y**2).sum(-1))
    varies &= spread > 0
    return np.where(varies, np.clip((x * y).sum(-1) / np.where(varies, spread, 1), -1, 1), np.nan)


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


def cramers_v(counts: ArrayLike) -> float:
    """Return Cramér's V of a table of counts, corrected for chance, 0 to 1; 0 for a single row or column.

    counts: rows × columns, none of them all 0.
    Source: Bergsma 2013, A bias-correction for Cramér's V and Tschuprow's T.

    >>> cramers_v([[1, 1], [1, 1]]), round(cramers_v([[18, 0], [0, 18]]), 2)
    (0.0, 1.0)
    """
    counts = np.asarray(counts, float)
    n, (r, c) = counts.sum(), counts.shape
    if min(r, c) < 2 or n < 2:
        return 0.0
    by_chance = expected(counts)
    phi = ((counts - by_chance) ** 2 / by_chance).sum() / n - (r - 1) * (c - 1) / (n - 1)
    rows_left, columns_left = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    return float(np.sqrt(max(phi, 0) / max(min(rows_left, columns_left) - 1, 1e-12)))


def expected(counts: ArrayLike) -> np.ndarray:
    """Return the counts that a table's rows and columns alone lead to expect.

    >>> expected([[3, 1], [1, 3]]).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    counts = np.asarray(counts, float)
    return np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()


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
    both_tied = (tied_x & tied_y).sum(-1)
    distinct = [np.where(both.any(-1), (np.diff(np.sort(values, -1), axis=-1) > 0).sum(-1) + 1, 0) for values in (x, y)]
    return PairCounts(
        (alike > 0).sum(-1),
        (alike < 0).sum(-1),
        tied_x.sum(-1) - both_tied,
        tied_y.sum(-1) - both_tied,
        both_tied,
        both.sum(-1),
        *distinct,
    )


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
    return (
        concordant,
        ordered - concordant,
        ties_x - ties_both,
        ties_y - ties_both,
        ties_both,
        n,
        len(sizes[0]),
        len(sizes[1]),
    )
