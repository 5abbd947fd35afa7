"""Bootstrap: draws of items, annotators, systems, clusters, or clusters and what is in them; and what is read off them.

Arrays in, arrays out; whole batches of resamples are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.stats.inference import blocks

Statistic = Callable[[np.ndarray], np.ndarray]


def bootstrap(
    data: ArrayLike,
    statistic: Statistic,
    *,
    resamples: int,
    rng: np.random.Generator | None = None,
    seed: int | None = None,
    axes: tuple[int, ...] = (0,),
    workers: int = 1,
    scheduler: str | None = None,
) -> np.ndarray:
    """Draw the bootstrap distribution of a statistic, with replacement along each of ``axes``.

    data: any array, for instance items x annotators. ``axes=(0,)`` resamples items, ``(1,)`` annotators, ``(0, 1)``
    both, independently of each other (the pigeonhole bootstrap, which errs on the wide side).
    statistic: maps a stack of resampled arrays (batch, *data.shape) to (batch, ...).
    rng: one stream of draws in this process, or else seed: blocks with seeds of their own, which several ``workers`` or
    a cluster share out (``blocks.spread``).
    Returns the draws, (resamples, ...). Source: Efron & Tibshirani 1993, ch. 6; Owen 2007 for crossed factors.

    >>> draws = bootstrap([1.0, 2.0, 6.0], lambda d: d.mean(axis=1), resamples=4000, rng=np.random.default_rng(7))
    >>> draws.shape, round(float(draws.mean()), 1)
    ((4000,), 3.0)
    """
    data = np.asarray(data, float)
    if data.size == 0:
        raise DataError("A bootstrap needs at least one observation. Check that the table has rows for this group.")
    if (rng is None) == (seed is None):
        raise DataError("A bootstrap draws from a generator or from a seed. Give rng or seed, one of them.")
    work = partial(_drawn, data, statistic, axes)
    if rng is None:
        parts = blocks.in_blocks(work, resamples, seed=seed, numbers=data.size, workers=workers, scheduler=scheduler)
    else:
        step = max(1, blocks.BATCH // data.size)
        parts = (work(min(step, resamples - start), rng) for start in range(0, resamples, step))
    return np.concatenate(list(parts))


def _drawn(
    data: np.ndarray, statistic: Statistic, axes: tuple[int, ...], batch: int, rng: np.random.Generator
) -> np.ndarray:
    return statistic(_resampled(data, batch, rng, axes))


def _resampled(data: np.ndarray, batch: int, rng: np.random.Generator, axes: tuple[int, ...]) -> np.ndarray:
    stack = np.broadcast_to(data, (batch, *data.shape))
    for axis in axes:
        size = data.shape[axis]
        shape = [batch] + [1] * data.ndim
        shape[axis + 1] = size
        picks = rng.integers(0, size, (batch, size)).reshape(shape)
        stack = np.take_along_axis(stack, picks, axis=axis + 1)
    return stack


def resample(
    statistic: Statistic,
    *units: ArrayLike,
    within: ArrayLike | None = None,
    resamples: int,
    seed: int,
    workers: int = 1,
    scheduler: str | None = None,
) -> np.ndarray:
    """Draw the bootstrap distribution of a statistic of table rows, given how often each row was drawn.

    units: a label for each row of a table; what shares a label is drawn together. Items: a label of its own for each
    row; annotators or systems: their names; clusters: the documents. Several columns of labels are crossed: each is
    drawn independently, and a row counts as often as the product of its labels' counts (Owen 2007).
    within: two levels, from a single column of units: for each unit drawn, as many of its own inner labels are drawn
    with replacement as it has (documents, and segments within them). Source: Davison & Hinkley 1997, section 3.8.
    statistic: maps counts (batch, rows), floats, to (batch, ...); a mean is ``counts @ y / counts.sum(1)``.
    Returns the draws, (resamples, ...). Caveat: few units know little about others of their kind.

    >>> score, document = np.array([70, 80, 40, 50, 90.0]), ["a", "a", "b", "b", "c"]
    >>> draws = resample(lambda k: k @ score / k.sum(1), document, resamples=999, seed=7)
    >>> round(float(draws.min()), 9), round(float(draws.max()), 9)  # document b three times, document c three times
    (45.0, 90.0)
    """
    codes = [np.unique(np.asarray(labels), return_inverse=True)[1] for labels in units]
    if not codes or not len(codes[0]):
        raise DataError("A bootstrap needs at least one observation. Check that the table has rows for this group.")
    if within is not None and len(codes) > 1:
        raise DataError("Two levels are drawn from one column of units. Leave the others, or within, out.")
    if any(len(code) != len(codes[0]) for code in codes) or (within is not None and len(within) != len(codes[0])):
        raise DataError("Every column of units needs one label for each row. Take them from the same table.")
    draw = partial(_crossed, codes) if within is None else partial(_nested, codes[0], _inner(codes[0], within))
    numbers = 2 * len(codes[0])
    parts = blocks.in_blocks(
        partial(_counted, statistic, draw), resamples, seed=seed, numbers=numbers, workers=workers, scheduler=scheduler
    )
    return np.concatenate(list(parts))


def _counted(statistic: Statistic, draw: Callable, batch: int, rng: np.random.Generator) -> np.ndarray:
    return statistic(draw(batch, rng))


def _crossed(codes: list[np.ndarray], batch: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the units of each column and multiply their counts; (batch, rows)."""
    counts = _counts(codes[0].max() + 1, batch, rng)[:, codes[0]]
    for code in codes[1:]:
        counts *= _counts(code.max() + 1, batch, rng)[:, code]
    return counts


def _counts(size: int, batch: int, rng: np.random.Generator) -> np.ndarray:
    """Count how often each of ``size`` units comes up in as many draws; (batch, size)."""
    picks = rng.integers(0, size, (batch, size)) + size * np.arange(batch)[:, None]
    return np.bincount(picks.ravel(), minlength=batch * size).reshape(batch, size).astype(float)


def _inner(outer: np.ndarray, within: ArrayLike) -> np.ndarray:
    """Number the inner units so that those of one outer unit follow each other; the same label elsewhere is another."""
    labels = np.unique(np.asarray(within), return_inverse=True)[1]
    return np.unique(outer * (labels.max() + 1) + labels, return_inverse=True)[1]


def _nested(outer: np.ndarray, inner: np.ndarray, batch: int, rng: np.random.Generator) -> np.ndarray:
    """Draw outer units, then inner units within each; (batch, rows).

    A unit drawn k times asks k times for as many inner units as it has: one multinomial draw of k times their number.
    """
    sizes = np.bincount(outer[np.unique(inner, return_index=True)[1]])  # inner units of each outer one
    first = np.cumsum(sizes) - sizes
    drawn = _counts(len(sizes), batch, rng).astype(np.int64)
    counts = np.empty((batch, sizes.sum()))
    for size in np.unique(sizes):
        units = np.flatnonzero(sizes == size)
        places = first[units][:, None] + np.arange(size)
        counts[:, places] = rng.multinomial(drawn[:, units] * size, np.full(size, 1 / size))
    return counts[:, inner]


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
    step = max(1, blocks.BATCH // max(matrix.size for matrix in matrices.values()))
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
