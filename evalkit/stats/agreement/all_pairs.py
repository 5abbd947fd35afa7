r"""Correlate every two columns of a table at once: Pearson, Spearman, Kendall's tau-b and tau-c, with p-values.

Three ways to the same numbers as scipy's, pair by pair over the rows that both columns have:

- few categories: products of indicator matrices give all contingency tables N, and with G the matrix of signs of
  k - l, the balance of concordant over discordant pairs of rows is half the sum of the elements of (GN) ∘ (NG);
- many categories: the signs of the differences between every two rows, times their own transpose;
- ranks within the rows in common, centred, for Spearman: once a column without gaps, tile by tile with gaps.

p-values are scipy's: Student's t for Spearman and Pearson, and for Kendall the normal distribution with its variance
under ties, or the exact one without ties in small or nearly perfect samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

_BLOCK = 50_000  # numbers of a block of contingency tables: in cache, and too few for BLAS to share out to threads
_TILE = 32  # columns of a tile of ranks


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
    there = np.isfinite(scores)
    codes = _dense_ranks(scores)
    full = bool(there.all())
    upper = np.triu_indices(scores.shape[1], 1)
    n = (there.astype(float).T @ there)[upper].astype(np.int64)
    ties = _ties(codes, there, full)
    own, other = Ties(*ties[:, *upper]), Ties(*ties[:, *upper[::-1]])
    categories = int(codes.max()) + 1 if codes.size else 0
    if 2 * categories**2 <= max(len(scores), 50):
        balance, spearman = _by_tables(codes, categories)
    else:
        balance = _by_signs(codes, there)
        spearman = _of_ranks(codes) if full else _of_ranks_in_common(codes, there)
    balance, spearman = balance[upper], spearman[upper]
    pearson = _pearson(scores, there)[upper]
    undefined = (own.distinct < 2) | (other.distinct < 2) | (n < 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = _p_kendall(balance, n, own, other)
        results = {
            "spearman": (spearman, _p_student(spearman, n)),
            "pearson": (pearson, _p_student(pearson, n)),
            "kendall_c": (_tau_c(balance, n, own, other), p),
            "kendall_b": (_tau_b(balance, n, own, other), p),
        }
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
        group = np.bincount(code, minlength=code.max() + 1)[:, None] if full else _tied(code, there)
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


def _by_tables(codes: np.ndarray, categories: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the balance of concordant over discordant pairs of rows, and Spearman's rho, from contingency tables."""
    rows, people = codes.shape
    chosen = (codes[:, :, None] == np.arange(categories)).astype(np.float32)  # counts stay exact below 2**24
    margin = np.einsum("iak,ib->akb", chosen, (codes >= 0).astype(np.float32), optimize=True).astype(float)
    middle = np.cumsum(margin, axis=1) - margin / 2 - margin.sum(axis=1, keepdims=True) / 2  # centred middle ranks
    spread = (margin * middle**2).sum(axis=1)
    ranks = np.ascontiguousarray(middle.transpose(2, 0, 1))  # (b, a, k): a's rank of k among the rows that b has
    signs = np.sign(np.arange(categories) - np.arange(categories)[:, None]).astype(float)
    balance, shared = np.zeros((people, people)), np.zeros((people, people))
    flat = chosen.reshape(rows, -1)
    step = max(1, _BLOCK // (people * categories**2))
    for start in range(0, people, step):
        some = slice(start, start + step)  # their tables with themselves and all columns after them
        tables = (chosen[:, some].reshape(rows, -1).T @ flat[:, start * categories :]).astype(float)
        tables = tables.reshape(-1, categories, people - start, categories)  # (a, k, b, l)
        turned = (tables.reshape(-1, categories) @ signs).reshape(tables.shape)
        tilted = (signs @ tables.reshape(len(tables), categories, -1)).reshape(tables.shape)
        balance[some, start:] = np.einsum("akbl,akbl->ab", tilted, turned) / 2
        weighed = (tables * ranks[some, None, start:]).sum(axis=3)  # b's ranks among the rows that a has
        shared[some, start:] = np.einsum("akb,akb->ab", weighed, middle[some, :, start:])
    return balance, _divided(shared, spread)


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


def _of_ranks(codes: np.ndarray) -> np.ndarray:
    """Return Spearman's rho of columns without gaps."""
    return _of_centred(stats.rankdata(codes, axis=0) - (len(codes) + 1) / 2)


def _of_centred(columns: np.ndarray) -> np.ndarray:
    """Correlate complete columns with mean 0."""
    shared = columns.T @ columns
    return _divided(shared, np.broadcast_to(np.diag(shared)[:, None], shared.shape))


def _of_ranks_in_common(codes: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return Spearman's rho of columns with gaps; ranks are taken anew within the rows that two columns share."""
    people = codes.shape[1]
    shared, spread = np.zeros((people, people)), np.zeros((people, people))
    tiles = [np.arange(start, min(start + _TILE, people)) for start in range(0, people, _TILE)]
    for number, rows in enumerate(tiles):
        for columns in tiles[number:]:
            one = np.stack([_ranks_among(codes[:, a], there[:, columns]) for a in rows])  # (a, row, b)
            other = np.stack([_ranks_among(codes[:, b], there[:, rows]) for b in columns])  # (b, row, a)
            shared[np.ix_(rows, columns)] = np.einsum("aib,bia->ab", one, other, optimize=False)
            shared[np.ix_(columns, rows)] = shared[np.ix_(rows, columns)].T
            spread[np.ix_(rows, columns)] = (one**2).sum(axis=1)
            spread[np.ix_(columns, rows)] = (other**2).sum(axis=1)
    return _divided(shared, spread)


def _ranks_among(code: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Rank one column among the rows that each other column has, centred; 0 where a row is not shared."""
    group = _tied(code, there)
    middle = np.cumsum(group, axis=0) - group / 2 - group.sum(axis=0) / 2
    return np.where(there & (code >= 0)[:, None], middle[code], 0.0)


def _divided(shared: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Turn sums of products into correlations; spread (a, b) is the sum of squares of a over the rows shared with b."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(shared / np.sqrt(spread * spread.T), -1, 1)


def _pearson(scores: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return Pearson's r; columns are centred first, so that little is lost by cancellation."""
    present = there.astype(float)
    mean = np.where(there, scores, 0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    centred = np.where(there, scores - mean, 0.0)
    if there.all():
        return _of_centred(centred)
    total, n = centred.T @ present, np.maximum(present.T @ present, 1)  # a's sum over the rows shared with b
    shared = centred.T @ centred - total * total.T / n
    return _divided(shared, (centred**2).T @ present - total**2 / n)


def _tau_b(balance: np.ndarray, n: np.ndarray, own: Ties, other: Ties) -> np.ndarray:
    every = n * (n - 1) / 2
    return np.clip(balance / np.sqrt(every - own.pairs) / np.sqrt(every - other.pairs), -1, 1)


def _tau_c(balance: np.ndarray, n: np.ndarray, own: Ties, other: Ties) -> np.ndarray:
    fewer = np.minimum(own.distinct, other.distinct)
    return np.clip(2 * balance / (n**2 * (fewer - 1) / fewer), -1, 1)


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
