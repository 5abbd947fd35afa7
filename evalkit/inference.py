"""Uncertainty: bootstrap draws and what is read off them, correlations, fit on held-out halves.

Arrays in, arrays out. Every function that draws takes a ``numpy.random.Generator``; whole batches of resamples are
computed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from evalkit import DataError

#: Numbers held in memory by one batch of resamples (8 bytes each).
BATCH = 4_000_000


def bootstrap(
    data: ArrayLike,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    resamples: int,
    rng: np.random.Generator,
    axes: tuple[int, ...] = (0,),
) -> np.ndarray:
    """Draw the bootstrap distribution of a statistic, with replacement along each of ``axes``.

    data: any array, for instance items x annotators. ``axes=(0,)`` resamples items, ``(1,)`` annotators, ``(0, 1)``
    both, independently of each other (the pigeonhole bootstrap, which errs on the wide side).
    statistic: maps a stack of resampled arrays (batch, *data.shape) to (batch, ...).
    Returns the draws, (resamples, ...). Source: Efron & Tibshirani 1993, ch. 6; Owen 2007 for crossed factors.

    >>> draws = bootstrap([1.0, 2.0, 6.0], lambda d: d.mean(axis=1), resamples=4000, rng=np.random.default_rng(7))
    >>> draws.shape, round(float(draws.mean()), 1)
    ((4000,), 3.0)
    """
    data = np.asarray(data, float)
    if data.size == 0:
        raise DataError("A bootstrap needs at least one observation. Check that the table has rows for this group.")
    step = max(1, BATCH // data.size)
    batches = (min(step, resamples - start) for start in range(0, resamples, step))
    return np.concatenate([statistic(_resampled(data, batch, rng, axes)) for batch in batches])


def _resampled(data: np.ndarray, batch: int, rng: np.random.Generator, axes: tuple[int, ...]) -> np.ndarray:
    stack = np.broadcast_to(data, (batch, *data.shape))
    for axis in axes:
        size = data.shape[axis]
        shape = [batch] + [1] * data.ndim
        shape[axis + 1] = size
        picks = rng.integers(0, size, (batch, size)).reshape(shape)
        stack = np.take_along_axis(stack, picks, axis=axis + 1)
    return stack


def bootstrap_means(
    strata: Mapping[str, ArrayLike], *, resamples: int, rng: np.random.Generator, annotators: bool = True
) -> dict[str, np.ndarray]:
    """Draw each stratum's mean of item medians over resampled items, annotators drawn once for all strata.

    strata: name -> items x annotators, the same annotators in all; NaN where someone did not judge an item.
    An annotator who is strict on one set of items is strict on the other too, so all strata share each draw of
    annotators, while items are drawn within each stratum. ``annotators=False`` draws items only.
    Returns name -> (resamples,). Caveat: with two or three annotators a bootstrap over them knows little about others.
    """
    matrices = {name: np.asarray(matrix, float) for name, matrix in strata.items()}
    people = next(iter(matrices.values())).shape[1]
    step = max(1, BATCH // max(matrix.size for matrix in matrices.values()))
    draws: dict[str, list[np.ndarray]] = {name: [] for name in matrices}
    for start in range(0, resamples, step):
        batch = min(step, resamples - start)
        who = rng.integers(0, people, (batch, people)) if annotators else np.arange(people)[None]
        for name, matrix in matrices.items():
            medians = median(matrix.T[who].swapaxes(1, 2))  # batch (or 1) x items
            picks = rng.integers(0, len(matrix), (batch, len(matrix)))
            draws[name].append(np.nanmean(np.take_along_axis(medians, picks, axis=1), axis=1))
    return {name: np.concatenate(parts) for name, parts in draws.items()}


def median(scores: ArrayLike) -> np.ndarray:
    """Return the median along the last axis over the values that are there; NaN where none is.

    >>> median([[1, np.nan, 4], [5, 2, 3]]).tolist()
    [2.5, 3.0]
    """
    ordered = np.sort(np.asarray(scores, float), axis=-1)  # missing values go to the end
    there = np.isfinite(ordered).sum(axis=-1, keepdims=True)
    middle = [np.take_along_axis(ordered, np.maximum(there - 1 + up, 0) // 2, axis=-1) for up in (0, 1)]
    return ((middle[0] + middle[1]) / 2)[..., 0]


def interval(draws: ArrayLike, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the percentile interval (low, high) of bootstrap draws; the first axis is the draws.

    >>> low, high = interval(np.arange(101.0), level=0.9)
    >>> round(float(low), 9), round(float(high), 9)
    (5.0, 95.0)
    """
    tail = (1 - level) / 2
    low, high = np.quantile(np.asarray(draws, float), [tail, 1 - tail], axis=0)
    return low, high


def standard_error(draws: ArrayLike) -> np.ndarray:
    """Return the standard error: the standard deviation (ddof=1) of bootstrap draws along the first axis."""
    return np.std(np.asarray(draws, float), axis=0, ddof=1)


def pearson(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return Pearson's r along the last axis, for whole stacks of samples; NaN where one side does not vary.

    >>> pearson([1, 2, 3], [[2, 4, 6], [3, 2, 1]]).round(6).tolist()
    [1.0, -1.0]
    """
    x, y = (np.asarray(v, float) - np.mean(v, axis=-1, keepdims=True) for v in (x, y))
    spread = np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    return np.divide((x * y).sum(-1), spread, out=np.full(np.shape(spread), np.nan), where=spread > 0)


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
