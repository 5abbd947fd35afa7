"""The fit of straight lines to halves that they have not seen; whole stacks of samples at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from evalkit import DataError


def split_r2(x: ArrayLike, y: ArrayLike, *, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Mean out-of-sample r² of straight-line fits over random half/half splits.

    Licht et al. 2022, footnote 1, read as: shuffle, cut into two folds, fit least squares on one fold, score the other
    by r² = 1 - SSE/SST (the SST around the test fold's own mean, as scikit-learn's ``r2_score``), swap the folds,
    repeat ``splits`` times, average all ``2 * splits`` values. This r² can be negative: worse than the mean.

    x: (n,) predictor; y: (n,) or (n, k) responses, all scored on the same splits. Returns () or (k,).
    An odd n makes the first test fold larger by one, as ``KFold(2)`` does. Raises DataError for n < 4.

    >>> x = np.arange(10.0)
    >>> float(split_r2(x, 2 * x + 1, splits=20, rng=np.random.default_rng(7)))
    1.0
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    n = len(x)
    if n < 4:
        raise DataError(f"Half/half splits need at least 4 points, got {n}. Add languages, or leave this column out.")
    responses = y.reshape(n, -1).T  # (k, n)
    order = rng.permuted(np.tile(np.arange(n), (splits, 1)), axis=1)
    scores = [_held_out_r2(x, responses, train, test) for train, test in _folds(order)]
    return np.mean(scores, axis=(0, 2)).reshape(y.shape[1:])


def _folds(order: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    cut = (order.shape[1] + 1) // 2
    yield order[:, cut:], order[:, :cut]
    yield order[:, :cut], order[:, cut:]


def _held_out_r2(x: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Score lines fitted on ``train`` at ``test``: x (n,), y (k, n), folds (splits, m); returns (k, splits)."""
    x_mean, y_mean = x[train].mean(-1), y[:, train].mean(-1)
    dx = x[train] - x_mean[:, None]
    sxx = (dx**2).sum(-1)
    sxy = (dx * (y[:, train] - y_mean[..., None])).sum(-1)
    slope = np.divide(sxy, sxx, out=np.zeros_like(sxy), where=sxx > 0)  # no spread in x: predict the mean
    predicted = y_mean[..., None] + slope[..., None] * (x[test] - x_mean[:, None])
    sse = ((y[:, test] - predicted) ** 2).sum(-1)
    sst = ((y[:, test] - y[:, test].mean(-1, keepdims=True)) ** 2).sum(-1)
    constant = np.where(sse == 0, 1.0, 0.0)  # scikit-learn's convention where the test fold does not vary
    return np.where(sst > 0, 1 - np.divide(sse, sst, out=np.zeros_like(sse), where=sst > 0), constant)
