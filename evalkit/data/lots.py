"""Chances in drawing by lot, some things with more weight than others."""

from __future__ import annotations

import numpy as np


def by_place(places: np.ndarray) -> np.ndarray:
    """Return the weights by which Pearmut 1.1.6 draws systems, by their places counted from 1: the first two alike.

    >>> by_place(np.arange(1.0, 5.0)).round(3).tolist()
    [0.5, 0.5, 0.333, 0.25]
    """
    return 1 / np.maximum(places, 2)


def inclusion(weights: np.ndarray, shown: int) -> np.ndarray:
    """Return the probability that each is among ``shown`` drawn one after another by weight, none twice.

    weights: (systems,), more than 0 for at least ``shown`` of them. Takes systems ** (shown - 1) steps.

    >>> inclusion(np.array([1, 1 / 2, 1 / 3]), 1).round(3).tolist()
    [0.545, 0.273, 0.182]
    >>> inclusion(np.array([1, 1 / 2, 1 / 3]), 2).round(3).tolist()
    [0.871, 0.661, 0.468]
    """
    chance = weights / weights.sum()
    total = chance.copy()
    for first in np.flatnonzero(chance) if shown > 1 else ():
        rest = weights.astype(float)
        rest[first] = 0
        total += chance[first] * inclusion(rest, shown - 1)
    return total
