"""Evaluate a coefficient for many vectors of how often each pattern of ratings occurs.

An estimate maps ``times`` (batch, patterns) to values (batch,), NaN where the coefficient is 0/0. Most are formulas of
sums over items, and then leaving one item out subtracts that item from the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

_ZERO = 1e-12  # a denominator this small is 0 but for rounding
_BATCH = 2_000_000  # numbers held at once


class Estimate(Protocol):
    """Say what a coefficient can be asked for."""

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Evaluate for each row of (batch, patterns)."""

    def leave_one_out(self, times: np.ndarray) -> np.ndarray:
        """Evaluate (patterns,) times (patterns,) with one item of each pattern left out in turn."""


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide, with NaN where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    there = np.abs(denominator) > _ZERO
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=there)


@dataclass(frozen=True)
class OfSums:
    """Evaluate a formula of sums over items: features (patterns, k), formula (batch, k) -> (batch,)."""

    features: np.ndarray
    formula: Callable[[np.ndarray], np.ndarray]

    def __call__(self, times: np.ndarray) -> np.ndarray:
        return self.formula(times @ self.features)

    def leave_one_out(self, times: np.ndarray) -> np.ndarray:
        return self.formula(times @ self.features - self.features)


@dataclass(frozen=True)
class Mean:
    """Average estimates with weights, leaving out those that are undefined."""

    estimates: Sequence[Estimate]
    weight: np.ndarray

    def __call__(self, times: np.ndarray) -> np.ndarray:
        return self._mean([each(times) for each in self.estimates])

    def leave_one_out(self, times: np.ndarray) -> np.ndarray:
        return self._mean([each.leave_one_out(times) for each in self.estimates])

    def _mean(self, values: list[np.ndarray]) -> np.ndarray:
        found = np.array(values)
        defined = np.isfinite(found)
        return ratio(self.weight @ np.where(defined, found, 0), self.weight @ defined)


@dataclass(frozen=True)
class OrdinalAlpha:
    r"""Evaluate ordinal alpha, whose differences between categories change with every sample.

    They are squared differences of middle ranks F, and their sum over the pairs in an item is
    :math:`2 r \sum F^2 - 2 (\sum F)^2`, so no matrix of categories is needed. counts: (patterns, categories); scale:
    (patterns,) weight of an item's pairs.
    """

    counts: np.ndarray
    scale: np.ndarray

    def __call__(self, times: np.ndarray) -> np.ndarray:
        used = times @ self.counts
        n = used.sum(axis=1)
        middle = ratio(np.cumsum(used, axis=1) - used / 2, n[:, None]) - 0.5  # a constant factor and shift cancel
        size = self.counts.sum(axis=1)
        within = 2 * (size * (middle**2 @ self.counts.T) - (middle @ self.counts.T) ** 2)
        apart = (times * within) @ self.scale
        by_chance = 2 * (n * (used * middle**2).sum(axis=1) - (used * middle).sum(axis=1) ** 2)
        return 1 - ratio(apart * (n - 1), by_chance)

    def leave_one_out(self, times: np.ndarray) -> np.ndarray:
        patterns = len(times)
        step = max(1, _BATCH // patterns)
        blocks = (np.arange(start, min(start + step, patterns)) for start in range(0, patterns, step))
        return np.concatenate([self(times - (block[:, None] == np.arange(patterns))) for block in blocks])
