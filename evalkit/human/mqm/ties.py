"""Kendall's tau-b of scores that take few values, for many weightings of the same judgements at once."""

from __future__ import annotations

import numpy as np

_AT_ONCE = 1 << 22  # cells of tables held at a time


def tau_b(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute tau-b where judgement i counts ``counts[:, i]`` times: (batch,) from (batch, judgements); NaN if none.

    Pairs are counted off the table of how often each two values meet, so the work grows with the number of values that
    x and y take, not with the judgements. Source: Kendall 1945; Brown and Benedetti 1977 for the table.

    >>> tau_b(np.array([1, 2, 3, 3]), np.array([1, 3, 2, 2]), np.array([[1, 1, 1, 0], [1, 1, 0, 0]])).round(3).tolist()
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
    both = np.sqrt(untied_x * untied_y)
    return np.divide(2 * balance, both, out=np.full(len(both), np.nan), where=both > 0)
