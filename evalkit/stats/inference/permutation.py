"""Permutation tests: every arrangement where they are few, a sample of them elsewhere.

What may be exchanged is an object: ``Swaps`` (two scores of each unit change places) or ``Shuffles`` (labels change
places, within strata where there are any). A statistic sees whole batches of arrangements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.stats.inference import blocks

#: Up to so many arrangements all of them are tried: the swaps of 15 systems.
EXACT_UP_TO = 2**15
#: Values this close count as equal, relative to values above 1: sums in another order differ in their last digits.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Swaps:
    """Ways to let the two scores of each of ``n`` units change places: masks (batch, n), true where they do."""

    n: int

    @property
    def size(self) -> int:
        """How many there are; the first changes nothing."""
        return 2**self.n

    @property
    def given(self) -> np.ndarray:
        """The mask that changes nothing, as a batch of one."""
        return np.zeros((1, self.n), bool)

    @property
    def numbers(self) -> int:
        """Numbers that one arrangement holds."""
        return self.n

    def numbered(self, start: int, stop: int) -> np.ndarray:
        """Return the masks with numbers from start to stop, the binary digits of these numbers."""
        return (np.arange(start, stop)[:, None] >> np.arange(self.n) & 1).astype(bool)

    def drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw masks at random."""
        bits = rng.integers(0, 256, (count, -(-self.n // 8)), dtype=np.uint8)
        return np.unpackbits(bits, axis=1, count=self.n).view(bool)


@dataclass(frozen=True)
class Shuffles:
    """Ways to hand labels out anew, within each stratum where ``strata`` says which rows belong together.

    labels: one for each row, any numbers; equal ones are not told apart. Arrangements are labels (batch, rows).
    """

    labels: ArrayLike
    strata: ArrayLike | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", np.asarray(self.labels))
        rows = np.zeros(len(self.labels)) if self.strata is None else np.asarray(self.strata)
        object.__setattr__(self, "strata", np.unique(rows, return_inverse=True)[1])

    @cached_property
    def rows(self) -> list[np.ndarray]:
        """The rows of each stratum."""
        order = np.argsort(self.strata, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.strata))[:-1])

    @property
    def size(self) -> float:
        """How many there are; infinite where they are past counting. The first is the one given."""
        counts = [np.unique(self.labels[rows], return_counts=True)[1].tolist() for rows in self.rows]
        logarithm = sum(math.lgamma(sum(count) + 1) - sum(math.lgamma(c + 1) for c in count) for count in counts)
        if logarithm > 40:
            return math.inf
        return math.prod(math.factorial(sum(count)) // math.prod(math.factorial(c) for c in count) for count in counts)

    @property
    def given(self) -> np.ndarray:
        """The labels as they are, as a batch of one."""
        return self.labels[None]

    @property
    def numbers(self) -> int:
        """Numbers that one arrangement holds, with the random keys that order it."""
        return 3 * len(self.labels)

    @cached_property
    def _ways(self) -> list[np.ndarray]:
        """All arrangements of each stratum, the given one first."""
        return [_arrangements(self.labels[rows]) for rows in self.rows]

    def numbered(self, start: int, stop: int) -> np.ndarray:
        """Return the arrangements with numbers from start to stop; a digit of the number for each stratum."""
        number, labels = np.arange(start, stop), np.empty((stop - start, len(self.labels)), self.labels.dtype)
        for rows, ways in zip(self.rows, self._ways):
            number, digit = np.divmod(number, len(ways))
            labels[:, rows] = ways[digit]
        return labels

    def drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw arrangements at random."""
        labels = np.empty((count, len(self.labels)), self.labels.dtype)
        order = np.argsort(rng.random(labels.shape) + self.strata, axis=1)  # random within strata, strata in order
        labels[:, np.concatenate(self.rows)] = self.labels[order]
        return labels


def _arrangements(labels: np.ndarray) -> np.ndarray:
    """List every distinct arrangement of labels, the given one first; (arrangements, rows)."""
    ways, free = np.empty((1, len(labels)), labels.dtype), np.arange(len(labels))[None]
    for value, count in zip(*np.unique(labels, return_counts=True)):
        left = free.shape[1]
        taken = np.array(list(combinations(range(left), count)))
        kept = np.array([np.setdiff1d(np.arange(left), some) for some in taken], int).reshape(len(taken), left - count)
        ways = np.repeat(ways, len(taken), axis=0)
        np.put_along_axis(ways, free[:, taken].reshape(-1, count), value, axis=1)
        free = free[:, kept].reshape(len(ways), left - count)
    given = np.flatnonzero((ways == labels).all(1))[0]
    return np.concatenate([ways[[given]], ways[:given], ways[given + 1 :]])


@dataclass(frozen=True)
class Permuted:
    """What a permutation test found; ``observed``, ``hits`` and ``p`` have the statistic's shape.

    hits: arrangements at least as extreme as the observed one, which is counted among them where all were tried
    (``exact``); arrangements: how many were tried.
    """

    observed: np.ndarray
    hits: np.ndarray
    arrangements: int
    exact: bool

    @property
    def p(self) -> np.ndarray:
        """The p-values: hits / arrangements where all were tried, else (hits + 1) / (arrangements + 1)."""
        drawn = int(not self.exact)
        shares = (self.hits + drawn) / (self.arrangements + drawn)
        return np.where(np.isfinite(self.observed), shares, np.nan)


def permutation_test(
    statistic: Callable[[np.ndarray], np.ndarray],
    exchange: Swaps | Shuffles,
    *,
    seed: int,
    resamples: int = 10_000,
    alternative: str = "two-sided",
    exact_up_to: int = EXACT_UP_TO,
    tolerance: float = TOLERANCE,
    block: int | None = None,
    workers: int = 1,
    scheduler: str | None = None,
) -> Permuted:
    """Test whether a statistic is more extreme than exchanging what should be exchangeable makes it.

    statistic: maps arrangements (batch, ...) to (batch, ...): any number of statistics at once, 0 where there is no
    effect if ``two-sided`` (absolute values are compared); ``greater`` and ``less`` look at one side. exchange: what
    changes places. All arrangements are tried where they are no more than ``exact_up_to`` or ``resamples``, elsewhere
    ``resamples`` of them at random. One without a value (NaN) counts as extreme, which errs towards large p.
    block: arrangements held at once. workers, scheduler: where to compute (``blocks.spread``); they change no result.
    Source: Phipson & Smyth 2010 for (hits + 1) / (n + 1). Raises DataError for an unknown alternative.

    >>> difference = np.array([0.9, 1.1, 0.4, 1.5, -0.2])  # Fisher's sign flips, all 32 of them
    >>> test = permutation_test(lambda swapped: np.where(swapped, -1, 1) @ difference / 5, Swaps(5), seed=7)
    >>> float(test.observed), int(test.hits), float(test.p), test.exact
    (0.74, 4, 0.125, True)
    """
    if alternative not in ("two-sided", "greater", "less"):
        raise DataError(f"There is no alternative {alternative!r}. Choose two-sided, greater or less.")
    [first] = blocks.spread(statistic, [exchange.given])  # one task: computed here, in one thread as the others
    observed = np.asarray(first, float)[0]
    bound = _sided(observed, alternative)
    hits = partial(_hits, statistic, alternative, bound - tolerance * np.maximum(1, np.abs(bound)))
    exact = exchange.size <= max(resamples, exact_up_to)
    numbers = exchange.numbers + 2 * observed.size
    if exact:
        tasks = blocks.cut(exchange.size, numbers=numbers, block=block)
        work = partial(_numbered_hits, hits, exchange)
        parts = blocks.spread(work, tasks, workers=workers, scheduler=scheduler)
    else:
        work = partial(_drawn_hits, hits, exchange)
        cut = {"numbers": numbers, "block": block}
        parts = blocks.in_blocks(work, resamples, seed=seed, workers=workers, scheduler=scheduler, **cut)
    return Permuted(observed, sum(parts), exchange.size if exact else resamples, exact)


def _sided(values: np.ndarray, alternative: str) -> np.ndarray:
    """Turn values so that larger is more extreme."""
    return {"two-sided": np.abs, "greater": np.asarray, "less": np.negative}[alternative](values)


def _hits(statistic: Callable, alternative: str, bound: np.ndarray, arrangements: np.ndarray) -> np.ndarray:
    """Count the arrangements that are not below the bound, for each statistic."""
    return (~(_sided(statistic(arrangements), alternative) < bound)).sum(axis=0)


def _numbered_hits(hits: Callable, exchange: Swaps | Shuffles, span: tuple[int, int]) -> np.ndarray:
    return hits(exchange.numbered(*span))


def _drawn_hits(hits: Callable, exchange: Swaps | Shuffles, count: int, rng: np.random.Generator) -> np.ndarray:
    return hits(exchange.drawn(count, rng))
