"""Count, for all pairs of metrics at once, how often swapping their scores makes as large a difference as observed.

PERM-BOTH swaps the two metrics' scores, each standardised, in random cells. A swapped score is linear in the mask of
swapped cells, so the products of masks with a few columns per metric serve every pair of metrics: they give the sums,
sums of squares and covariances with the human scores of all swapped metrics. Swapping all other cells instead turns a
difference round, so each mask is used together with its complement. Differences are compared with a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evalkit.stats.inference import BATCH, TOLERANCE, Permuted, Swaps, count_hits

_ROWS = 512  # masks of a block at most, so that what a pair of metrics needs stays in cache


@dataclass(frozen=True)
class Plan:
    """Say how many swaps to draw where there are too many for all of them, and from which seed.

    look: after every so many swaps, a comparison whose p is below or above ``settled`` ends; None: none ends early.
    clusters: then also leave alone what can no longer decide where clusters end. part: which of several parts of the
    swaps to draw.
    """

    draws: int = 1000
    seed: int = 7
    look: int | None = None
    settled: tuple[float, float] = (0.02, 0.5)
    clusters: bool = False
    part: int | None = None

    @property
    def stream(self) -> int | tuple[int, int]:
        """Seed what is drawn: that of a part differs from those of the others."""
        return self.seed if self.part is None else (self.seed, self.part)


def swapped(
    hits: Callable[[np.ndarray], np.ndarray], observed: np.ndarray, cells: int, plan: Plan, *, block: int | None = None
) -> Permuted:
    """Add up hits over all swaps of so many cells where they are few (``EXACT_UP_TO``), else over random ones.

    hits: maps masks (batch, cells) of zeros and ones to how many of them and their complements reach the difference,
    one number per pair of metrics, as ``observed`` has them.
    """
    return count_hits(
        lambda masks: hits(masks.astype(float)),
        observed,
        Swaps(cells),
        resamples=plan.draws,
        seed=plan.stream,
        block=block or max(1, min(_ROWS, BATCH // cells)),
        mirrored=True,
    )


def in_rounds(
    test: Callable[[np.ndarray, Plan], Permuted],
    observed: np.ndarray,
    plan: Plan,
    *,
    matter: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Permuted:
    """Draw ``plan.look`` swaps at a time, and after each round only for those comparisons that are not settled.

    test: maps positions of comparisons and a plan of one round to what it found. Each comparison has its own number of
    arrangements. matter: maps which comparisons are settled as significant to which still matter; None: all do.
    Source: mt-metrics-eval, with which WMT ranks metrics; p counts (hits + 1) / (swaps + 1) all the same.
    """
    everything = np.arange(len(observed))
    if plan.look is None or plan.look >= plan.draws:
        return test(everything, replace(plan, look=None))
    hits, drawn = np.zeros((2, len(observed)), np.int64)
    left = everything
    for part, start in enumerate(range(0, plan.draws, plan.look)):
        if len(left):
            found = test(left, replace(plan, draws=min(plan.look, plan.draws - start), look=None, part=part))
            if found.exact:
                return found
            hits[left] += found.hits
            drawn[left] += found.arrangements
            share = hits / drawn
            going_on = (share >= plan.settled[0]) & (share <= plan.settled[1])
            if matter is not None:
                going_on &= matter(share < plan.settled[0])
            left = left[going_on[left]]
    return Permuted(observed, hits, drawn, exact=False)


def deciding(values: np.ndarray, pairs: np.ndarray, significant: np.ndarray) -> np.ndarray:
    """Mark the pairs of metrics that can still decide where clusters of metrics end.

    values: of the metrics, in the order of their names; pairs × 2 positions; significant: which pairs differ for sure.
    A cluster is a stretch of the ranking without a significant difference. Two metrics that such a difference lies
    between, or belongs to, are never in one, so nobody asks how they compare.

    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> deciding(np.array([0.9, 0.8, 0.7]), pairs, np.array([True, False, False])).tolist()
    [False, False, True]
    """
    rank = np.argsort(np.argsort(-values, kind="stable"))
    upper, lower = np.sort(rank[pairs], axis=1).T
    apart = np.zeros((len(values), len(values)), bool)
    apart[upper[significant], lower[significant]] = True
    within = np.logical_or.accumulate(np.logical_or.accumulate(apart[::-1], axis=0)[::-1], axis=1)
    return ~within[upper, lower]


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
    for a, some, others in by_first(pairs):
        moved = shared[a] - shared[others]
        spread = squares[a] - squares[others]
        off = (total[a] - total[others]) ** 2
        np.subtract(1, off, out=off)  # both swapped metrics are off the mean 0 by as much
        difference = _r(r[a] - moved, off - spread) - _r(r[others, None] + moved, off + spread)
        hits[some] = reached(difference, observed[some])
    return hits


def accuracy_test(
    values: np.ndarray, human: np.ndarray, pairs: np.ndarray, plan: Plan, *, sets: np.ndarray | None = None
) -> Permuted:
    """Compare three-way accuracies of metrics, two by two, as ``pearson_test`` does.

    sets: the number of the test set that each system is of; only systems of one set are compared. None: all are of one.
    Let t(u, v) tell whether systems i and j stand in the humans' relation when i has metric u's score and j has v's.
    After swapping by the mask m, this pair of systems adds (t(a, a) - t(b, b)) (1 - m_i - m_j) + (t(b, a) - t(a, b))
    (m_i - m_j) to the difference, which is linear in m: over all pairs, a constant and one weight for each system.
    """
    first, second = np.triu_indices(len(human), 1)
    if sets is not None:
        first, second = (side[sets[first] == sets[second]] for side in (first, second))
    relation = np.sign(human[first] - human[second])
    values = np.round(_unit(values), 12)  # scores of two metrics that are equal but for rounding are tied
    own = np.sign(values[:, first] - values[:, second]) == relation
    constant, weights = np.empty(len(pairs)), np.zeros((len(pairs), len(human)))
    for a, some, others in by_first(pairs):
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


def by_first(pairs: np.ndarray) -> Iterator[tuple[int, slice, slice | np.ndarray]]:
    """Group pairs by their first metric: it, where its pairs stand, and the others, as a slice if they are in a row."""
    starts = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(pairs)]):
        yield int(pairs[start, 0]), slice(int(start), int(end)), in_a_row(pairs[start:end, 1])


def in_a_row(places: np.ndarray) -> slice | np.ndarray:
    """Return places as a slice, which takes no copy, if they are in a row."""
    return slice(places[0], places[-1] + 1) if (np.diff(places) == 1).all() else places
