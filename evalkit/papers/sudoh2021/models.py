"""Two small models of ordered labels: cut points of one number, and stretches of one hidden quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit

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


def fit_thresholds(values: ArrayLike, labels: Sequence[str], *, names: Sequence[str]) -> Thresholds:
    """Find the cut points that get most of these labels right; labels come in the order of their mean value.

    values: finite numbers, labels: as many, each of ``names``. A label that never helps gets no stretch of its own.
    Cut points lie half-way between two values. Ties between sets of cut points: the lowest cuts.
    Returns Thresholds whose probabilities follow ``names``. Raises DataError without rows or with values missing.

    >>> cut = fit_thresholds([0, 1, 2, 3], ["Poor", "Poor", "Good", "Good"], names=["Poor", "Fair", "Good"])
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


@dataclass(frozen=True)
class CumulativeLink:
    """A fitted model: ``P(label <= k) = logistic(cuts[k] - x @ slopes)``."""

    slopes: np.ndarray
    cuts: np.ndarray

    def probabilities(self, features: ArrayLike) -> np.ndarray:
        """Return each label's probability, (rows, labels)."""
        below = expit(self.cuts - (np.asarray(features, float) @ self.slopes)[:, None])
        edges = np.column_stack([np.zeros(len(below)), below, np.ones(len(below))])
        return np.diff(edges, axis=1)


def fit_cumulative_link(features: ArrayLike, codes: ArrayLike, *, labels: int, penalty: float = 0.0) -> CumulativeLink:
    """Fit a cumulative-link model by maximum likelihood.

    features: (rows, columns), best standardised. codes: each row's label, 0 (worst) to labels - 1, each at least once.
    penalty: half of it times the squared slopes is added to the negative log-likelihood (ridge).
    Raises DataError where a label never occurs: merge it with a neighbour first. Source: McCullagh 1980.
    Why not a library: statsmodels' OrderedModel takes the gradient numerically, which is slow with dozens of columns
    (it is the oracle in the tests), and mord has not followed scikit-learn's interface for years.

    >>> model = fit_cumulative_link([[0.0], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1], labels=2)
    >>> bool(model.slopes[0] > 0), model.probabilities([[2.5]]).round(2).tolist()
    (True, [[0.5, 0.5]])
    """
    x, y = np.asarray(features, float), np.asarray(codes, int)
    counts = np.bincount(y, minlength=labels)
    if labels < 2 or (counts[:labels] == 0).any() or len(counts) > labels:
        raise DataError("Every label needs at least one training row, and there must be two. Merge those that lack it.")
    share = np.cumsum(counts)[:-1] / len(y)
    start = np.log(share / (1 - share))
    first = np.concatenate([np.zeros(x.shape[1]), start[:1], np.log(np.maximum(np.diff(start), 1e-3))])
    solved = minimize(
        _loss,
        first,
        args=(x, y, labels, penalty),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 500, "ftol": 1e-12, "gtol": 1e-6},
    )
    return CumulativeLink(solved.x[: x.shape[1]], _cuts(solved.x[x.shape[1] :]))


def _cuts(free: np.ndarray) -> np.ndarray:
    """Turn free numbers into rising cut points: the first, then logarithms of the steps."""
    return np.cumsum(np.concatenate([free[:1], np.exp(free[1:])]))


def _loss(free: np.ndarray, x: np.ndarray, y: np.ndarray, labels: int, penalty: float) -> tuple[float, np.ndarray]:
    """Return the penalised negative log-likelihood and its gradient."""
    slopes, steps = free[: x.shape[1]], free[x.shape[1] :]
    cuts = _cuts(steps)
    hidden = x @ slopes
    upper = np.where(y < labels - 1, expit(cuts[np.minimum(y, labels - 2)] - hidden), 1.0)
    lower = np.where(y > 0, expit(cuts[np.maximum(y - 1, 0)] - hidden), 0.0)
    chance = np.maximum(upper - lower, 1e-300)
    rise, fall = upper * (1 - upper) / chance, lower * (1 - lower) / chance
    value = -np.log(chance).sum() + penalty / 2 * slopes @ slopes
    by_slope = x.T @ (rise - fall) + penalty * slopes
    by_cut = -np.bincount(y, rise, minlength=labels)[: labels - 1] + np.bincount(y, fall, minlength=labels)[1:]
    scale = np.concatenate([[1.0], np.exp(steps[1:])])
    return value, np.concatenate([by_slope, np.cumsum(by_cut[::-1])[::-1] * scale])
