"""Uncertainty and comparison: bootstrap, jackknife, permutation tests, tests of two samples, many tests at once.

Arrays in, arrays out; whole batches of resamples are computed at once. What draws takes a ``seed``: of an integer,
blocks of replications draw from streams of their own; a ``numpy.random.Generator`` is drawn from in turn.

A permutation test lets two scores of each unit change places, or differences their signs (``count_hits``). Every
arrangement is tried where they are few, a sample of them elsewhere. Tests of two samples compute a test a row, with
p-values of 1 where nothing was observed; each equals the test of the same name in scipy, on the row alone and without
its gaps. All but ``higher_by_t`` take ``two_sided``; else the alternative is that the first sample is higher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special, stats

from evalkit import DataError
from evalkit.stats.correlation import ratio

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

#: Numbers held in memory by one block of replications (8 bytes each).
BATCH = 4_000_000
#: Blocks that a task is cut into, where each is then still worth its while.
PARTS = 16

#: Where random numbers come from: an integer, or a generator that is drawn from in turn.
Seed = int | Sequence[int] | np.random.Generator
Task = TypeVar("Task")
Result = TypeVar("Result")


def in_blocks(
    work: Callable[[int, np.random.Generator], Result],
    total: int,
    *,
    seed: Seed,
    numbers: int = 1,
    block: int | None = None,
) -> Iterator[Result]:
    """Yield ``work(count, rng)`` for each block of ``total`` replications, in order.

    seed: of an integer, block i draws from its own stream, spawned by its number, so the results depend on the seed and
    on how the replications are cut; a generator is drawn from by one block after another.
    numbers: how many numbers one replication holds in memory; a block holds at most ``BATCH`` of them. block:
    replications in a block, where that should not follow from the size.
    Raises DataError where no replication is asked for. Source: NumPy, "Parallel random number generation".

    >>> parts = list(in_blocks(lambda count, rng: rng.random(count), 10, seed=7, block=4))
    >>> [len(part) for part in parts]
    [4, 4, 2]
    """
    whole = isinstance(seed, np.random.Generator)
    spans = cut(total, numbers=numbers, block=block or (max(1, BATCH // max(numbers, 1)) if whole else None))
    streams = (seed if isinstance(seed, np.random.Generator) else _stream(seed, place) for place in range(len(spans)))
    sizes = (stop - start for start, stop in spans)
    yield from in_one_thread(lambda task: work(*task), zip(sizes, streams))


def _stream(seed: int | Sequence[int], place: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(place,)))


def cut(total: int, *, numbers: int = 1, block: int | None = None) -> list[tuple[int, int]]:
    """Cut ``total`` replications into blocks (start, stop), by their size alone.

    >>> cut(10, block=4)
    [(0, 4), (4, 8), (8, 10)]
    """
    if total < 1:
        raise DataError(f"{total} resamples were asked for. Ask for at least 1.")
    step = block or max(1, min(BATCH // max(numbers, 1), -(-total // PARTS)))
    return [(start, min(start + step, total)) for start in range(0, total, step)]


def in_one_thread(work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield ``work(task)`` for each task, in the order of the tasks.

    Linear algebra runs in one thread, because the order of a sum changes its last bits: the results are the same to the
    last bit however many cores there are.
    """
    for task in tasks:
        with _libraries().limit(limits=1):
            result = work(task)
        yield result


@cache
def _libraries() -> ThreadpoolController:
    """Find the libraries of linear algebra, once: looking for them takes longer than many a task."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


Statistic = Callable[[np.ndarray], np.ndarray]


def bootstrap(data: ArrayLike, statistic: Statistic, *, resamples: int, seed: Seed) -> np.ndarray:
    """Draw the bootstrap distribution of a statistic, with replacement along the first axis of the data.

    data: any array, for instance items x annotators. statistic: maps a stack of resampled arrays (batch, *data.shape)
    to (batch, ...). seed: see ``in_blocks``.
    Returns the draws, (resamples, ...). Source: Efron & Tibshirani 1993, ch. 6.

    >>> draws = bootstrap([1.0, 2.0, 6.0], lambda d: d.mean(axis=1), resamples=4000, seed=7)
    >>> draws.shape, round(float(draws.mean()), 1)
    ((4000,), 3.0)
    """
    data = np.asarray(data, float)
    _demand(data)
    size = len(data)

    def drawn(batch: int, rng: np.random.Generator) -> np.ndarray:
        return statistic(data[rng.integers(0, size, (batch, size))])

    return np.concatenate(list(in_blocks(drawn, resamples, seed=seed, numbers=data.size)))


def resample(statistic: Statistic, units: ArrayLike, *, resamples: int, seed: Seed) -> np.ndarray:
    """Draw the bootstrap distribution of a statistic of table rows, given how often each row was drawn.

    units: a label for each row of a table; what shares a label is drawn together. Items: a label of its own for each
    row; annotators or systems: their names; clusters: the documents. (rows, 2) labels are drawn independently of each
    other, and a row counts as often as its two labels together: annotators and documents, say (Owen's pigeonhole
    bootstrap). statistic: maps counts (batch, rows), floats, to (batch, ...); see ``column_means``. seed: see
    ``in_blocks``. Returns the draws, (resamples, ...). Source: Davison & Hinkley 1997, section 3.8; Owen 2007.
    Caveat: few units know little about others of their kind. Two labels count noise that belongs to neither three
    times, so such intervals are rather too wide than too narrow; ``widths.redraw`` takes that back.

    >>> score, document = np.array([70, 80, 40, 50, 90.0]), ["a", "a", "b", "b", "c"]
    >>> draws = resample(lambda k: k @ score / k.sum(1), document, resamples=999, seed=7)
    >>> round(float(draws.min()), 9), round(float(draws.max()), 9)  # document b three times, document c three times
    (45.0, 90.0)
    """
    labels = np.asarray(units)
    _demand(labels)
    coded = [np.unique(one, return_inverse=True) for one in (labels.T if labels.ndim == 2 else [labels])]

    def drawn(batch: int, rng: np.random.Generator) -> np.ndarray:
        counts = [unit_counts(len(distinct), batch, rng)[:, codes] for distinct, codes in coded]
        return statistic(np.multiply.reduce(counts))

    return np.concatenate(list(in_blocks(drawn, resamples, seed=seed, numbers=2 * labels.size)))


def column_means(columns: ArrayLike) -> Statistic:
    """Make a statistic of ``resample``: the mean of each column over the drawn rows, (batch, columns).

    columns: (rows, columns).

    >>> column_means([[1, 10], [2, 20], [6, 60]])(np.array([[1.0, 1, 1], [0, 3, 0]])).tolist()
    [[3.0, 30.0], [2.0, 20.0]]
    """
    values = np.asarray(columns, float)
    return lambda counts: counts @ values / counts.sum(axis=1, keepdims=True)


def column_ratios(above: ArrayLike, below: ArrayLike) -> Statistic:
    """Make a statistic of ``resample``: the sum of each column over that of another, (batch, columns); NaN over none.

    above, below: (rows, columns).

    >>> column_ratios([[1], [2], [6]], [[0], [1], [2]])(np.array([[1.0, 1, 1], [1, 0, 0]])).tolist()
    [[3.0], [nan]]
    """
    values, sizes = np.asarray(above, float), np.asarray(below, float)
    return lambda counts: ratio(counts @ values, counts @ sizes)


def unit_counts(size: int, batch: int, rng: np.random.Generator) -> np.ndarray:
    """Count how often each of ``size`` units comes up in as many draws with replacement, floats (batch, size)."""
    picks = rng.integers(0, size, (batch, size)) + size * np.arange(batch)[:, None]
    return np.bincount(picks.ravel(), minlength=batch * size).reshape(batch, size).astype(float)


def _demand(observations: np.ndarray) -> None:
    if not observations.size:
        raise DataError("A bootstrap needs at least one observation. Check that the table has rows for this group.")


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

    def means(batch: int, rng: np.random.Generator) -> list[np.ndarray]:
        who = rng.integers(0, people, (batch, people)) if annotators else np.arange(people)[None]
        drawn = []
        for matrix in matrices.values():
            medians = median(matrix.T[who].swapaxes(1, 2))  # batch (or 1) x items
            picks = rng.integers(0, len(matrix), (batch, len(matrix)))
            drawn.append(np.nanmean(np.take_along_axis(medians, picks, axis=1), axis=1))
        return drawn

    largest = max(matrix.size for matrix in matrices.values())
    parts = in_blocks(means, resamples, seed=rng, numbers=largest)
    return dict(zip(matrices, np.concatenate(list(parts), axis=1)))


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


def defined_interval(draws: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % percentile interval (low, high) of each column of draws; those that are not finite are left out.

    draws: (resamples, values). NaN where no draw of a value is there.

    >>> [end.round(3).tolist() for end in defined_interval(np.array([[np.nan, *range(41)], [np.nan] * 42]).T)]
    [[1.0, nan], [39.0, nan]]
    """
    columns = np.asarray(draws, float)
    low, high = pd.DataFrame(np.where(np.isfinite(columns), columns, np.nan)).quantile([0.025, 0.975]).to_numpy()
    return low, high


def standard_error(draws: ArrayLike) -> np.ndarray:
    """Return the standard error: the standard deviation (ddof=1) of bootstrap draws along the first axis."""
    return np.std(np.asarray(draws, float), axis=0, ddof=1)


def jackknife_error(without: ArrayLike, times: ArrayLike | None = None) -> np.ndarray:
    """Return the standard error from the estimates without one unit each, units along the first axis.

    without: (units, ...); an estimate that is not defined (NaN) adds nothing. times: (units,) how many units give the
    same value, by default 1. Source: Efron & Tibshirani 1993, ch. 11, :math:`\\sqrt{\\frac{n-1}{n} \\sum (x_i - m)^2}`.

    >>> round(float(jackknife_error([2.5, 2.0, 1.5])), 6)  # means of two of 1, 2, 3
    0.57735
    """
    without = np.asarray(without, float)
    times = np.ones(len(without)) if times is None else np.asarray(times)
    defined = np.isfinite(without)
    values = np.where(defined, without, 0)
    centre = np.tensordot(times, values, 1) / np.maximum(np.tensordot(times, defined, 1), 1)
    spread = np.tensordot(times, np.where(defined, without - centre, 0) ** 2, 1)
    return np.sqrt((times.sum() - 1) / times.sum() * spread)


def jackknife_interval(estimate: float, without: ArrayLike, *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval (low, high) of an estimate by the jackknife, with Student's t of units - 1.

    without: (units,), the estimates without one unit each.

    >>> [round(end, 3) for end in jackknife_interval(2.0, [2.5, 2.0, 1.5])]
    [-0.484, 4.484]
    """
    without = np.asarray(without, float)
    reach = float(stats.t.ppf((1 + level) / 2, len(without) - 1) * jackknife_error(without))
    return estimate - reach, estimate + reach


def share_interval(hits: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the exact interval of a share (Clopper & Pearson 1934); 0 and 1 where nothing was tried.

    hits, trials: counts, broadcast. Caveat: it holds at least as often as it says, for small counts more often.

    >>> [end.round(3).tolist() for end in share_interval([0, 5], 10)]
    [[0.0, 0.187], [0.308, 0.813]]
    """
    hits, trials, tail = np.asarray(hits), np.asarray(trials), (1 - level) / 2
    low = np.nan_to_num(stats.beta.ppf(tail, hits, trials - hits + 1), nan=0.0)
    return low, np.nan_to_num(stats.beta.ppf(1 - tail, hits + 1, trials - hits), nan=1.0)


#: Up to so many arrangements all of them are tried: the swaps of 15 systems.
EXACT_UP_TO = 2**15
#: Values this close count as equal, relative to values above 1: sums in another order differ in their last digits.
TOLERANCE = 1e-12


def numbered_masks(n: int, start: int, stop: int) -> np.ndarray:
    """Return masks (stop - start, n), the binary digits of the numbers from start to stop; that of 0 swaps nothing."""
    return (np.arange(start, stop)[:, None] >> np.arange(n) & 1).astype(bool)


def random_masks(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw masks (count, n), in which each place is true as often as not."""
    bits = rng.integers(0, 256, (count, -(-n // 8)), dtype=np.uint8)
    return np.unpackbits(bits, axis=1, count=n).view(bool)


@dataclass(frozen=True)
class Permuted:
    """What a permutation test found; ``observed``, ``hits`` and ``p`` have the statistic's shape.

    hits: arrangements at least as large as the observed one, which is counted among them where all were tried
    (``exact``); arrangements: how many were tried, of each where tests end early.
    """

    observed: np.ndarray
    hits: np.ndarray
    arrangements: int | np.ndarray
    exact: bool

    @property
    def p(self) -> np.ndarray:
        """The p-values: hits / arrangements where all were tried, else (hits + 1) / (arrangements + 1)."""
        drawn = int(not self.exact)
        shares = (self.hits + drawn) / (self.arrangements + drawn)
        return np.where(np.isfinite(self.observed), shares, np.nan)


def count_hits(
    hits: Statistic,
    observed: np.ndarray,
    units: int,
    *,
    resamples: int,
    seed: Seed,
    numbers: int = 1,
    block: int | None = None,
    mirrored: bool = False,
) -> Permuted:
    """Add up hits over all arrangements of units where they are few (``EXACT_UP_TO``, or resamples), else random ones.

    hits: maps masks (batch, units), true for units whose two scores change places, or whose sign turns, to how many of
    them reach ``observed``, in its shape. numbers, block: see ``in_blocks``. mirrored: hits counts every mask together
    with its complement, so that half of them do.
    Source: Phipson & Smyth 2010 for (hits + 1) / (n + 1).
    """
    half, exact = 1 + mirrored, 2**units <= max(EXACT_UP_TO, resamples)
    count = (2**units if exact else resamples + resamples % half) // half
    if exact:  # the second half are the complements of the first
        spans = cut(count, numbers=numbers, block=block)
        parts = in_one_thread(lambda span: hits(numbered_masks(units, *span)), spans)
    else:
        several = partial(in_blocks, total=count, seed=seed, numbers=numbers, block=block)
        parts = several(lambda size, rng: hits(random_masks(units, size, rng)))
    return Permuted(observed, np.asarray(sum(parts)), half * count, exact)


#: Ways to adjust for many tests. The first three control the chance of one false finding, the others the share of
#: findings that are false; "hommel" and "fdr_bh" where tests are independent or positively dependent.
ADJUSTMENTS = ("bonferroni", "holm", "hommel", "fdr_bh", "fdr_by")


def adjust(p: ArrayLike, *, method: str = "holm") -> np.ndarray:
    """Adjust p-values of any shape for their number; missing ones stay missing and do not count as tests.

    method: a name in ``ADJUSTMENTS``. A finding stands where the adjusted value is at most the chosen level.
    Source: Holm 1979; Hommel 1988; Benjamini & Hochberg 1995; Benjamini & Yekutieli 2001; all but Holm's through
    statsmodels.
    Raises DataError for an unknown method or values outside 0 to 1.

    >>> adjust([0.01, 0.04, np.nan, 0.03]).round(3).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    if method not in ADJUSTMENTS:
        raise DataError(f"There is no adjustment {method!r}. Choose one of {', '.join(ADJUSTMENTS)}.")
    p = np.asarray(p, float)
    there = np.isfinite(p)
    if ((p[there] < 0) | (p[there] > 1)).any():
        raise DataError("A p-value lies outside 0 to 1. Check what was handed over as p-values.")
    adjusted = np.full(p.shape, np.nan)
    if method == "holm":
        adjusted[there] = _holm(p[there])
    elif there.any():
        from statsmodels.stats.multitest import multipletests

        adjusted[there] = multipletests(p[there], method=method)[1]
    return adjusted


def _holm(p: np.ndarray) -> np.ndarray:
    """Adjust by Holm's step-down rule; that of statsmodels 0.15 collects garbage at each call, up to half a second."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return adjusted


def signed_rank(
    difference: np.ndarray, *, two_sided: bool = False, continuity: float = 0.0, exact_up_to: int = 50
) -> np.ndarray:
    """Test by the ranks of the sizes of differences whether they are above 0 (Wilcoxon): p-values, (rows,).

    difference: (rows, differences); those that are 0 are left out. Normal, corrected for ties; continuity: 0 as in
    scipy, 0.5 as in R. Exact where none is 0 or tied and there are no more than ``exact_up_to`` (50 in scipy, 49 in R).
    Source: Wilcoxon 1945.  Caveat: differences count as independent and, where there is none on average, as symmetric.

    >>> signed_rank(np.array([[3.0, 2, 5, -1, 4]])).tolist()
    [0.0625]
    """
    there = np.isfinite(difference)
    n = (there & (difference != 0)).sum(axis=1)
    above, whole, squares = _signed_ranks(difference)
    p = normal(above - whole / 2, squares / 4, continuity=continuity, two_sided=two_sided)
    untied = 6 * squares == n * (n + 1) * (2 * n + 1)
    for k in np.flatnonzero(untied & (there.sum(axis=1) == n) & (n > 0) & (n <= exact_up_to)):
        side = "two-sided" if two_sided else "greater"
        p[k] = stats.wilcoxon(difference[k][there[k]], alternative=side, method="exact").pvalue
    return p


def _signed_ranks(difference: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rank the sizes of differences along each row, ties in the middle; sums of ranks above 0, of all, of all squared.

    A size has no sign, so that its first bit is free: shifted by one, with the sign of the difference in the last bit,
    sizes are sorted in place, which takes a third of the time of finding their order. Zeros and gaps come first.
    """
    used = np.nan_to_num(difference)
    keys = (np.abs(used).view(np.uint64) << np.uint64(1)) | (used > 0)
    keys.sort(axis=1)
    size, above = keys >> np.uint64(1), (keys & np.uint64(1)).astype(float)
    places = np.arange(1, used.shape[1] + 1)
    first, last = np.ones((2, *used.shape), bool)
    first[:, 1:] = size[:, 1:] != size[:, :-1]
    last[:, :-1] = first[:, 1:]
    start = np.maximum.accumulate(np.where(first, places, 0), axis=1)
    end = np.minimum.accumulate(np.where(last, places, len(places))[:, ::-1], axis=1)[:, ::-1]
    zeros = (size == 0).sum(axis=1, keepdims=True)
    ranks = np.where(size > 0, (start + end) / 2 - zeros, 0)
    return (ranks * above).sum(axis=1), ranks.sum(axis=1), (ranks**2).sum(axis=1)


def paired_t(difference: np.ndarray, *, two_sided: bool = False) -> np.ndarray:
    """Test whether differences are above 0 on average by Student's t: p-values, (rows,).

    >>> paired_t(np.array([[3.0, 2, 5, -1, 4]])).round(4).tolist()
    [0.0325]
    """
    n = np.isfinite(difference).sum(axis=1)
    mean, squares = _moments(difference, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(squares / (n - 1) / n)
    return _student(mean, error, n - 1, two_sided)


def independent_t(a: np.ndarray, b: np.ndarray, *, two_sided: bool = False) -> np.ndarray:
    """Test two samples that do not belong together by Student's t with one variance for both: p-values, (rows,).

    >>> independent_t(np.array([[5.0, 6, 7]]), np.array([[1.0, 2, 6]])).round(4).tolist()
    [0.07]
    """
    n, m = np.isfinite(a).sum(axis=1), np.isfinite(b).sum(axis=1)
    (mean_a, squares_a), (mean_b, squares_b) = _moments(a, n), _moments(b, m)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt((squares_a + squares_b) / (n + m - 2) * (1 / n + 1 / m))
    return _student(mean_a - mean_b, error, n + m - 2, two_sided)


def higher_by_t(difference: np.ndarray, error: np.ndarray, units: np.ndarray, *, even: np.ndarray) -> np.ndarray:
    """Return one-sided p-values of differences with standard errors that rest on so many units, of any shape.

    even: where the difference is none but for rounding. Where units have no spread at all, a difference proves no more
    than random signs of all units would.

    >>> even = np.array([False, False])
    >>> higher_by_t(np.array([2.0, 1.0]), np.array([1.0, 0.0]), np.array([10, 4]), even=even).round(3).tolist()
    [0.038, 0.062]
    """
    t = np.divide(difference, error, out=np.zeros(np.shape(error)), where=error > 0)
    return np.where(error > 0, stats.t.sf(t, units - 1), np.where(even, 1.0, 0.5**units))


def sign_flips(difference: np.ndarray, *, resamples: int, seed: Seed) -> np.ndarray:
    """Test the sums of differences against sums with random signs, the same for all rows: one-sided p-values, (rows,).

    p is (hits + 1) / (resamples + 1); all arrangements are counted where they are few.
    Source: Fisher 1935, section 21; Phipson & Smyth 2010.
    """
    filled = np.nan_to_num(difference)
    observed = filled.sum(axis=1)
    least = observed - 1e-9 * np.abs(filled).sum(axis=1)  # sums that are equal but for rounding count as equal

    def hits(kept: np.ndarray) -> np.ndarray:
        return ((2.0 * kept - 1) @ filled.T >= least).sum(axis=0)

    units, numbers = filled.shape[1], sum(filled.shape)
    return count_hits(hits, observed, units, resamples=resamples, seed=seed, numbers=numbers).p


def redrawn(difference: np.ndarray, *, resamples: int, seed: Seed) -> np.ndarray:
    """Return the share of resamples of the differences, the same for all rows, with a mean of 0 or less, (rows,).

    The share is (hits + 1) / (resamples + 1), the p-value of a one-sided test by the paired bootstrap.
    Source: Koehn 2004.  Caveat: slightly too small with few differences, as percentile intervals are too short.
    """
    filled = np.nan_to_num(difference)
    summed = resample(
        lambda times: times @ filled.T, np.arange(filled.shape[1])[:, None], resamples=resamples, seed=seed
    )
    return ((summed <= 1e-9 * np.abs(filled).sum(axis=1)).sum(axis=0) + 1) / (len(summed) + 1)


def above_by_bca(*samples: np.ndarray, resamples: int, seed: Seed) -> np.ndarray:
    """Test by the bias-corrected and accelerated bootstrap whether a mean, or a difference of two, is above 0, (rows,).

    samples: one, or two whose means are compared, (rows, values), NaN where nothing was observed. Rows with as many
    values are drawn anew alike. p is the level at which the lower end of the interval is 0 (see ``bca_level``), and 1
    for fewer than two values. Source: Efron 1987.  Caveat: with few resamples, the next ones may decide otherwise.

    >>> above_by_bca(np.array([[3.0, 2, 5, -1, 4], [-3, -2, -5, 1, -4]]), resamples=2000, seed=7).round(1).tolist()
    [0.0, 1.0]
    """
    rng = np.random.default_rng(seed)
    drawn = [_drawn_means(one, resamples, rng) for one in samples]
    return bca_level(samples, drawn[0] - drawn[1] if len(drawn) > 1 else drawn[0])


def _drawn_means(values: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the means of rows, (resamples, rows), NaN where there are fewer than two values."""
    there, means = np.isfinite(values), np.full((resamples, len(values)), np.nan)
    sizes = there.sum(axis=1)
    for size in np.unique(sizes[sizes > 1]):
        rows = sizes == size
        columns = values[rows][there[rows]].reshape(-1, size).T
        means[:, rows] = resample(column_means(columns), np.arange(size), resamples=resamples, seed=rng)
    return means


def bca_level(samples: Sequence[np.ndarray], drawn: np.ndarray) -> np.ndarray:
    """Return the level at which the lower end of the interval of ``scipy.stats.bootstrap`` (its default) is 0, (rows,).

    samples: one, or two, (rows, values), whose mean, or difference of means, is asked about; NaN where nothing was
    observed. drawn: the same of each resample, (resamples, rows). The interval of confidence 1 - level lies above 0 for
    every level above this one, which is 0 where all draws are above 0, and 1 where none is or nothing varies.
    """
    draws, ordered = len(drawn), np.sort(drawn, axis=0)
    up_to_zero = (ordered <= 0).sum(axis=0)
    last = np.clip(up_to_zero, 1, draws - 1)  # of the draws up to 0, from 1
    low, high = np.take_along_axis(ordered, np.stack([last - 1, last]), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        sizes = [np.isfinite(one).sum(axis=1) for one in samples]
        means = [np.nansum(one, axis=1) / size for one, size in zip(samples, sizes)]
        gaps = [side * (one - mean[:, None]) for side, one, mean in zip((1, -1), samples, means)]
        squares = sum(np.nansum(gap * gap, axis=1) / n**2 for gap, n in zip(gaps, sizes))
        cubes = sum(np.nansum(gap * gap * gap, axis=1) / n**3 for gap, n in zip(gaps, sizes))  # powers take long
        estimate = means[0] - means[1] if len(means) > 1 else means[0]
        bias = special.ndtri(((drawn < estimate).sum(axis=0) + (drawn <= estimate).sum(axis=0)) / (2 * draws))
        quantile = (up_to_zero - 1 - low / (high - low)) / (draws - 1)  # of 0 among the draws
        distance = special.ndtri(quantile) - bias
        level = special.ndtr(distance / (1 + cubes / squares**1.5 / 6 * distance) - bias)
    level = np.select([up_to_zero == 0, up_to_zero == draws, quantile <= 0], [0.0, 1.0, 0.0], level)
    return np.where((squares > 0) & np.isfinite(bias), level, 1.0)


def stouffer(p: np.ndarray) -> np.ndarray:
    r"""Combine p-values along the last axis by :math:`\sum z / \sqrt{k}`; NaN are left out, and 1 is returned for none.

    Source: Stouffer et al. 1949.  Caveat: two-sided p-values lose the direction, so that two domains that contradict
    each other add up to significance.

    >>> stouffer(np.array([[0.05, 0.05], [0.5, 0.5]])).round(3).tolist()
    [0.01, 0.5]
    """
    z = stats.norm.isf(np.clip(p, 1e-300, 1 - 1e-16))
    known = np.isfinite(p).sum(axis=-1)
    return np.where(known > 0, stats.norm.sf(np.nansum(z, axis=-1) / np.sqrt(np.maximum(known, 1))), 1.0)


def normal(distance: np.ndarray, variance: np.ndarray, *, continuity: float, two_sided: bool = False) -> np.ndarray:
    """Return the normal p-value of a statistic so far from its mean; 1 without variance."""
    distance = np.abs(distance) if two_sided else distance
    z = np.divide(distance - continuity, np.sqrt(variance), out=np.full(len(distance), -np.inf), where=variance > 0)
    return np.minimum(2 * stats.norm.sf(z), 1) if two_sided else stats.norm.sf(z)


def _moments(values: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's mean and sum of squared distances from it."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(values, axis=1) / n
        return mean, np.nansum((values - mean[:, None]) ** 2, axis=1)


def _student(difference: np.ndarray, error: np.ndarray, freedom: np.ndarray, two_sided: bool) -> np.ndarray:
    """Return p-values of differences over their errors; 1 where there is no spread or nothing was observed."""
    known = np.isfinite(error) & (error > 0)
    t = np.divide(difference, error, out=np.zeros(len(error)), where=known)
    tail: Callable[..., np.ndarray] = stats.t.sf
    p = 2 * tail(np.abs(t), np.maximum(freedom, 1)) if two_sided else tail(t, np.maximum(freedom, 1))
    return np.where(known, p, 1.0)
