"""Correlate every two columns of a table at once: Pearson, Spearman, Kendall's tau-b and tau-c, with p-values.

The same numbers as scipy's, pair by pair over the rows that both columns have. Kendall's balance of concordant over
discordant pairs of rows comes from the signs of the differences between every two rows, times their own transpose.
p-values are scipy's: Student's t for Spearman and Pearson, and for Kendall the normal distribution with its variance
under ties, or the exact one without ties in small or nearly perfect samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evalkit.stats.correlation import pearson, ranks, spearman, tau_b, tau_c

_BLOCK = 100_000  # numbers of a block of pairs of columns


@dataclass(frozen=True)
class Ties:
    """Count, for column a over the rows that a and b both have (a, b): distinct values, and sums over ties.

    pairs, triples and weighted are sums of t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5) over groups of t tied rows.
    """

    distinct: np.ndarray
    pairs: np.ndarray
    triples: np.ndarray
    weighted: np.ndarray


def all_pairs(scores: np.ndarray) -> tuple[np.ndarray, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Correlate every two columns of rows × columns (NaN: missing) over the rows that both have.

    Returns for every two columns, in the order of ``itertools.combinations``, the number of rows in common, and
    statistic -> (values, p-values) for spearman, pearson, kendall_c and kendall_b. Both are NaN with fewer than three
    rows in common, and where one of the two columns does not vary.

    >>> n, found = all_pairs(np.array([[1.0, 2, 9], [2, 1, np.nan], [3, 4, 7], [4, 3, 5]]))
    >>> n.tolist(), found["kendall_b"][0].round(2).tolist()
    ([4, 3, 3], [0.33, -1.0, -0.33])
    """
    scores = np.asarray(scores, float)
    scores = scores[np.isfinite(scores).sum(axis=1) > 1]  # most items of a campaign have one annotator
    there = np.isfinite(scores)
    codes = _dense_ranks(scores)
    full = bool(there.all())
    upper = np.triu_indices(scores.shape[1], 1)
    n = (there.astype(float).T @ there)[upper].astype(np.int64)
    ties = _ties(codes, there, full)
    own, other = Ties(*ties[:, *upper]), Ties(*ties[:, *upper[::-1]])
    balance = _by_signs(codes, there)[upper]
    undefined = (own.distinct < 2) | (other.distinct < 2) | (n < 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = _p_kendall(balance, n, own, other)
        every = n * (n - 1) / 2
        ranked = ranks(scores.T).T if full else scores
        moments = {"spearman": (pearson if full else spearman, ranked), "pearson": (pearson, scores)}
        values = {name: _each(*how, np.flatnonzero(~undefined)) for name, how in moments.items()}
        results = {name: (value, _p_student(value, n)) for name, value in values.items()}
        results["kendall_c"] = tau_c(balance, n, own.distinct, other.distinct), p
        results["kendall_b"] = tau_b(balance, every - own.pairs, every - other.pairs), p
    return n, {
        name: (np.where(undefined, np.nan, value), np.where(undefined, np.nan, p))
        for name, (value, p) in results.items()
    }


def _dense_ranks(scores: np.ndarray) -> np.ndarray:
    """Number each column's distinct values from 0 on; -1 where a value is missing."""
    codes = np.full(scores.shape, -1)
    for column, code in zip(scores.T, codes.T):
        there = np.isfinite(column)
        code[there] = np.unique(column[there], return_inverse=True)[1]
    return codes


def _ties(codes: np.ndarray, there: np.ndarray, full: bool) -> np.ndarray:
    """Sum over the ties of each column among the rows that each other column has, in the order of ``Ties``."""
    people = codes.shape[1]
    sums = np.zeros((4, people, people))
    for a, code in enumerate(codes.T):
        group = np.bincount(code, minlength=code.max(initial=0) + 1)[:, None] if full else _tied(code, there)
        pairs = group * (group - 1.0)
        found = [group > 0, pairs / 2, pairs * (group - 2), pairs * (2 * group + 5)]
        sums[:, a] = [each.sum(axis=0) for each in found]
    return sums


def _tied(code: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Count the rows of each value of one column that each column has, (values, columns)."""
    order = np.argsort(code, kind="stable")
    order = order[np.searchsorted(code[order], 0) :]
    if not len(order):
        return np.zeros((1, there.shape[1]))
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    return np.add.reduceat(there[order], starts, axis=0, dtype=np.int64)


def _each(
    statistic: Callable[[np.ndarray, np.ndarray], np.ndarray], scores: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """Evaluate a statistic of two samples for every two columns, some at a time; NaN for pairs that are not wanted."""
    columns = np.ascontiguousarray(scores.T)
    first, second = np.triu_indices(len(columns), 1)
    found = np.full(len(first), np.nan)
    step = max(1, _BLOCK // max(len(scores), 1))
    for start in range(0, len(wanted), step):
        some = wanted[start : start + step]
        found[some] = statistic(columns[first[some]], columns[second[some]])
    return found


def _by_signs(codes: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the balance of concordant over discordant pairs of rows from the signs of all differences.

    Rows are compared with those 1, 2, ... places further on, round and round, which meets every two rows once.
    """
    rows, people = codes.shape
    balance = np.zeros((people, people))
    twice = np.concatenate([codes, codes]).astype(np.float32)
    present = np.concatenate([there, there]).astype(np.float32)
    full = there.all()
    for lag in range(1, rows // 2 + 1):
        last = rows // 2 if 2 * lag == rows else rows
        signs = np.clip(twice[lag : lag + last] - twice[:last], -1, 1)  # codes are whole numbers
        if not full:
            signs *= present[lag : lag + last] * present[:last]
        balance += signs.T @ signs
    return balance


def _p_student(value: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the p-value of no correlation; for Pearson's r the same as scipy's by the beta distribution."""
    t = value * np.sqrt(np.maximum((n - 2) / ((value + 1) * (1 - value)), 0))
    return 2 * stats.t.sf(np.abs(t), n - 2)


def _p_kendall(balance: np.ndarray, n: np.ndarray, own: Ties, other: Ties) -> np.ndarray:
    """Return the p-value of no association, which all variants of tau share."""
    m = n * (n - 1.0)
    variance = (m * (2 * n + 5) - own.weighted - other.weighted) / 18 + 2 * own.pairs * other.pairs / m
    variance += own.triples * other.triples / (9 * m * (n - 2))
    p = 2 * stats.norm.sf(np.abs(balance / np.sqrt(variance)))
    fewest = (m / 2 - np.abs(balance)) / 2  # concordant or discordant pairs, whichever are fewer
    small = (own.pairs == 0) & (other.pairs == 0) & (n > 2) & ((n <= 33) | (fewest <= 1))
    samples, which = np.unique(np.column_stack([n, fewest])[small].astype(int), axis=0, return_inverse=True)
    p[small] = np.array([_exact_p(*sample) for sample in samples])[which.reshape(-1)] if len(samples) else 0.0
    return p


def _exact_p(n: int, discordant: int) -> float:
    """Return scipy's exact p-value of n rows without ties, from two rankings with so many discordant pairs."""
    order, left = [], discordant
    remaining = list(range(n))
    while remaining:
        place = min(left, len(remaining) - 1)  # taking the place-th smallest makes so many discordant pairs
        left -= place
        order.append(remaining.pop(place))
    return float(stats.kendalltau(np.arange(n), order).pvalue)
