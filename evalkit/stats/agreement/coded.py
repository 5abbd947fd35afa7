"""Code ratings as categories, and count items by their pattern of ratings.

Items that were rated alike carry the same information, so whatever is estimated from a table is estimated from its
distinct patterns and the number of items behind each. A bootstrap then only draws these numbers anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError

_KEYS = 1 << 62  # distinct rows that fit one integer


@dataclass(frozen=True)
class Coded:
    """Hold a ratings matrix as rows of category numbers, and how many items have each row.

    values: (categories,) what the category numbers stand for, ascending. rows: (patterns, annotators), -1 where an
    annotator skipped. times: (patterns,) items with that row. pattern: (items,) the row of each item.
    """

    values: np.ndarray
    rows: np.ndarray
    times: np.ndarray
    pattern: np.ndarray
    annotators: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        """Say whether the categories are numbers, so that distances between them mean something."""
        return np.issubdtype(self.values.dtype, np.number)

    def present(self) -> np.ndarray:
        """Mark who rated, patterns × annotators, as 0 and 1."""
        return (self.rows >= 0).astype(float)

    def counts(self, copies: np.ndarray) -> np.ndarray:
        """Count each pattern's ratings in each category, (patterns, categories); copies: weight of each annotator."""
        patterns, size = len(self.rows), len(self.values)
        there = self.rows >= 0
        keys = (self.rows + size * np.arange(patterns)[:, None])[there]
        weights = np.broadcast_to(copies, self.rows.shape)[there]
        return np.bincount(keys, weights, minlength=patterns * size).reshape(patterns, size)


def coded(scores: pd.DataFrame, *, categories: Iterable[object] | None = None, ordered: bool = True) -> Coded:
    """Code items × annotators (NaN: skipped) as categories, each distinct row once.

    categories: all that the scale offers, used or not; None takes those that were used. ``ordered=False`` forgets who
    gave which rating, which leaves fewer patterns. Items and annotators without any rating are left out.
    Raises DataError on fewer than two annotators, on no item that two of them rated, on infinite scores and on
    scores that are not among ``categories``.
    """
    scores = scores.dropna(how="all", axis=0).dropna(how="all", axis=1)
    annotators = tuple(str(name) for name in scores.columns)
    if len(annotators) < 2:
        raise DataError(f"Agreement needs at least two annotators with ratings, and here are {len(annotators)}.")
    numbers, values = _numbered(scores, categories)
    if ((numbers >= 0).sum(axis=1) > 1).sum() == 0:
        raise DataError("No item was rated by two annotators. Agreement needs items in common: check the item columns.")
    rows, pattern = _distinct(numbers if ordered else np.sort(numbers, axis=1), len(values))
    return Coded(values, rows, np.bincount(pattern, minlength=len(rows)), pattern, annotators)


def _numbered(scores: pd.DataFrame, categories: Iterable[object] | None) -> tuple[np.ndarray, np.ndarray]:
    """Replace scores by the number of their category, -1 where there is none."""
    try:
        cells = scores.to_numpy(float)
    except (TypeError, ValueError):  # names of categories
        cells = scores.to_numpy(object)
    missing = pd.isna(cells)
    values = np.unique(cells[~missing] if categories is None else np.asarray(list(categories)))
    if np.issubdtype(cells.dtype, np.number) and not np.isfinite(cells[~missing]).all():
        raise DataError("Some scores are infinite. Drop them, or set them to missing.")
    if np.issubdtype(values.dtype, np.number) != np.issubdtype(cells.dtype, np.number):
        raise DataError("Scores and categories must both be numbers or both be names. Check `categories`.")
    values = values.astype(float if np.issubdtype(values.dtype, np.number) else object)
    if np.issubdtype(values.dtype, np.number):
        numbers = np.searchsorted(values, np.where(missing, values[0], cells)).clip(0, len(values) - 1)
    else:
        place = {value: number for number, value in enumerate(values)}
        numbers = np.array([[place.get(cell, 0) for cell in row] for row in cells], dtype=int).reshape(cells.shape)
    unknown = ~missing & (values[numbers] != cells)
    if unknown.any():
        raise DataError(f"A score of {cells[unknown][0]!r} is not among the categories. Add it to `categories`.")
    return np.where(missing, -1, numbers), values


def _distinct(numbers: np.ndarray, categories: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows, and for each row its number among them; all rows as they are where few are alike."""
    items, annotators = numbers.shape
    if (categories + 1) ** annotators >= _KEYS:
        _, first, pattern = np.unique(numbers, axis=0, return_index=True, return_inverse=True)
    else:
        keys = (numbers + 1) @ (categories + 1) ** np.arange(annotators)
        _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
    if 2 * len(first) > items:  # nothing to gain: then drawing an item is drawing its row
        return numbers, np.arange(items)
    return numbers[first], pattern.reshape(-1)
