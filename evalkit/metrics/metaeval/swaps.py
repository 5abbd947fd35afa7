"""Count, for all pairs of metrics at once, how often swapping their scores makes as large a difference as observed.

PERM-BOTH swaps the two metrics' scores, each standardised, in random cells. A swapped score is linear in the mask of
swapped cells, so the products of masks with a few columns per metric serve every pair of metrics: they give the sums,
sums of squares and covariances with the human scores of all swapped metrics. Swapping all other cells instead turns a
difference round, so each mask is used together with its complement. Differences are compared with a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from evalkit.stats.inference import BATCH, TOLERANCE, Permuted, Swaps, count_hits

_ROWS = 512  # masks of a block at most, so that what a pair of metrics needs stays in cache


@dataclass(frozen=True)
class Plan:
    """Say how many swaps to draw where there are too many for all of them, and from which seed."""

    draws: int = 1000
    seed: int = 7


def swapped(
    hits: Callable[[np.ndarray], np.ndarray], observed: np.ndarray, cells: int, plan: Plan, *, block: int | None = None
) -> Permuted:
    """Add up hits over all swaps of so many cells where they are few (``EXACT_UP_TO``), else over random ones.

    hits: maps masks (batch, cells) of zeros and ones to how many of them and their complements reach the difference,
    one number per pair of metrics, as ``observed`` has them.
    """
    return count_hits(
        lambda masks: hits(masks.astype(float)), observed, Swaps(cells), resamples=plan.draws, seed=plan.seed,
        block=block or max(1, min(_ROWS, BATCH // cells)), mirrored=True,
    )  # fmt: skip


def reached(difference: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Count along the last axis the masks that reach the observed difference, and the complements that do."""
    least = np.abs(observed)[:, None] - TOLERANCE
    return np.count_nonzero(difference >= least, axis=1) + np.count_nonzero(difference <= -least, axis=1)


def pearson_test(values: np.ndarray, human: np.ndarray, pairs: np.ndarray, plan: Plan) -> Permuted:
    """Compare Pearson's r of metrics, two by two: differences (first less second), and hits of the better one.

    values: metrics × cells, human: cells, without gaps; pairs: pairs × 2 positions of metrics, sorted by the first.
    A swapped metric that does not vary has r = 0. The difference is NaN where a metric or human does not vary.
    """
    constant = np.ptp(values, axis=1) == 0
    values, human = (_unit(each) for each in (values, human))
    columns = np.concatenate([values * human, values / np.sqrt(len(human)), values**2])
    r = np.where(constant | (not human.any()), np.nan, values @ human)
    observed = r[pairs[:, 0]] - r[pairs[:, 1]]
    return swapped(partial(_pearson_hits, columns, r, pairs, observed), observed, len(human), plan)


def _pearson_hits(
    columns: np.ndarray, r: np.ndarray, pairs: np.ndarray, observed: np.ndarray, masks: np.ndarray
) -> np.ndarray:
    shared, total, squares = (columns @ masks.T).reshape(3, len(r), -1)
    hits = np.zeros(len(pairs), np.int64)
    for a, some, others in _by_first(pairs):
        moved = shared[a] - shared[others]
        spread = squares[a] - squares[others]
        off = (total[a] - total[others]) ** 2
        np.subtract(1, off, out=off)  # both swapped metrics are off the mean 0 by as much
        difference = _r(r[a] - moved, off - spread) - _r(r[others, None] + moved, off + spread)
        hits[some] = reached(difference, observed[some])
    return hits


def accuracy_test(values: np.ndarray, human: np.ndarray, pairs: np.ndarray, plan: Plan) -> Permuted:
    """Compare three-way accuracies of metrics, two by two, as ``pearson_test`` does.

    Let t(u, v) tell whether systems i and j stand in the humans' relation when i has metric u's score and j has v's.
    After swapping by the mask m, this pair of systems adds (t(a, a) - t(b, b)) (1 - m_i - m_j) + (t(b, a) - t(a, b))
    (m_i - m_j) to the difference, which is linear in m: over all pairs, a constant and one weight for each system.
    """
    first, second = np.triu_indices(len(human), 1)
    relation = np.sign(human[first] - human[second])
    values = _unit(values)
    own = np.sign(values[:, first] - values[:, second]) == relation
    constant, weights = np.empty(len(pairs)), np.zeros((len(pairs), len(human)))
    for a, some, others in _by_first(pairs):
        same = own[a].astype(int) - own[others]
        crossed = [
            np.sign(one - other) == relation
            for one, other in (
                (values[others][:, first], values[a, second]),
                (values[a, first], values[others][:, second]),
            )
        ]
        mixed = crossed[0].astype(int) - crossed[1]
        constant[some] = same.sum(axis=1)
        for column, weight in ((first, mixed - same), (second, -mixed - same)):
            for system in range(len(human)):
                weights[some, system] += weight[:, column == system].sum(axis=1)
    test = swapped(partial(_linear_hits, constant, weights), constant, len(human), plan)
    return Permuted(constant / len(first), test.hits, test.arrangements, test.exact)


def _linear_hits(constant: np.ndarray, weights: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return reached(constant[:, None] + weights @ masks.T, constant)


def _r(covariance: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Divide by the standard deviation, 0 where a swapped metric does not vary."""
    covariance *= variance > TOLERANCE
    return covariance / np.sqrt(np.maximum(variance, TOLERANCE))


def _unit(values: np.ndarray) -> np.ndarray:
    """Centre along the last axis and scale to length 1; what does not vary becomes 0."""
    centred = values - values.mean(axis=-1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=-1, keepdims=True))
    varies = np.ptp(values, axis=-1, keepdims=True) > 0
    return np.where(varies, centred / np.where(varies, length, 1), 0)


def _by_first(pairs: np.ndarray) -> Iterator[tuple[int, slice, slice | np.ndarray]]:
    """Group pairs by their first metric: it, where its pairs stand, and the others, as a slice if they are in a row."""
    starts = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(pairs)]):
        others = pairs[start:end, 1]
        row = slice(others[0], others[-1] + 1)
        yield int(pairs[start, 0]), slice(start, end), row if (np.diff(others) == 1).all() else others
