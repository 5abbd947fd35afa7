"""Turn one number into labels by cut points: what a human score or a single metric can do alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evalkit import DataError


@dataclass(frozen=True)
class Thresholds:
    """Labels by stretches of a number: ``labels[i]`` lies between ``cuts[i - 1]`` and ``cuts[i]``.

    shares: (stretches, all labels), how often each label was seen in a stretch, plus one in all of them together.
    """

    labels: np.ndarray
    cuts: np.ndarray
    shares: np.ndarray

    def stretch(self, values: ArrayLike) -> np.ndarray:
        """Say in which stretch each value lies."""
        return np.searchsorted(self.cuts, np.asarray(values, float), side="right")

    def predict(self, values: ArrayLike) -> np.ndarray:
        """Return the label of each value's stretch."""
        return self.labels[self.stretch(values)]

    def probabilities(self, values: ArrayLike) -> np.ndarray:
        """Return the shares of all labels in each value's stretch, (values, labels)."""
        return self.shares[self.stretch(values)]


def fit(values: ArrayLike, labels: Sequence[str], *, names: Sequence[str]) -> Thresholds:
    """Find the cut points that get most of these labels right; labels come in the order of their mean value.

    values: finite numbers, labels: as many, each of ``names``. A label that never helps gets no stretch of its own.
    Cut points lie half-way between two values. Ties between sets of cut points: the lowest cuts.
    Returns Thresholds whose probabilities follow ``names``. Raises DataError without rows or with values missing.

    >>> cut = fit([0, 1, 2, 3], ["Poor", "Poor", "Good", "Good"], names=["Poor", "Fair", "Good"])
    >>> cut.cuts.tolist(), cut.predict([0.5, 1.6]).tolist()
    ([1.5], ['Poor', 'Good'])
    """
    values, truth = np.asarray(values, float), np.asarray(labels, dtype=object)
    if not len(values) or len(values) != len(truth) or not np.isfinite(values).all():
        raise DataError("Thresholds need as many finite values as labels, at least one. Leave the others out.")
    occurring = sorted((name for name in names if (truth == name).any()), key=lambda name: values[truth == name].mean())
    if not occurring:
        raise DataError(f"None of the labels is one of {', '.join(names)}. Name them by their category.")
    distinct, place = np.unique(values, return_inverse=True)
    hits = np.zeros((len(occurring), len(distinct) + 1), int)  # right ones among the lowest values, if called so
    for row, name in enumerate(occurring):
        hits[row, 1:] = np.cumsum(np.bincount(place[truth == name], minlength=len(distinct)))
    starts = _best_starts(hits)
    kept = [row for row in range(len(occurring)) if starts[row] < starts[row + 1]]
    cuts = np.array([(distinct[starts[row] - 1] + distinct[starts[row]]) / 2 for row in kept[1:]])
    stretch = np.searchsorted(cuts, values, side="right")
    counts = np.array([[np.sum((stretch == at) & (truth == name)) for name in names] for at in range(len(kept))], float)
    counts += 1 / len(names)
    chosen = np.array([occurring[row] for row in kept], dtype=object)
    return Thresholds(chosen, cuts, counts / counts.sum(axis=1, keepdims=True))


def _best_starts(hits: np.ndarray) -> list[int]:
    """Return where each label's stretch starts among the sorted values, and their number at the end.

    Dynamic programming: with the first labels used up to some value, the next label's stretch starts where the labels
    before it did best, less its own hits up to there.
    """
    labels, size = hits.shape
    best, choices = hits[0].copy(), []
    for row in range(1, labels):
        gain = best - hits[row]
        record = np.maximum.accumulate(gain)
        first = np.maximum.accumulate(np.where(np.diff(record, prepend=record[0] - 1) > 0, np.arange(size), 0))
        choices.append(first)
        best = record + hits[row]
    starts = [size - 1]
    for first in reversed(choices):
        starts.append(int(first[starts[-1]]))
    return [0, *reversed(starts)]
