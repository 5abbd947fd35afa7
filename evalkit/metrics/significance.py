"""Test whether one metric agrees better with humans than another, for all pairs of metrics at once: PERM-BOTH.

The two metrics' scores, each standardised, are swapped in random cells. A swapped score is linear in the mask of
swapped cells, so the products of masks with a few columns per metric serve every pair of metrics: they give the sums,
sums of squares and covariances with the human scores of all swapped metrics. Swapping all other cells instead turns a
difference round, so each mask is used together with its complement. Differences are compared with a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.metrics.scores import Scores, described, pairings
from evalkit.metrics.statistics import Comparisons, acc_eq, confidences, correlations, flipped, soft_accuracy
from evalkit.stats.inference import BATCH, TOLERANCE, Permuted, count_hits

#: The level of significance.
ALPHA = 0.05
#: The statistics that can be tested, by level, and the grouping of each.
TESTED = {
    "system": {"pearson": "none", "accuracy_3way": "none"},
    "segment": {"pearson": "none", "acc_eq": "item", "spa": "none"},
}
_COLUMNS = ["level", "statistic", "grouping", "metric_a", "metric_b", "difference", "p", "exact"]
_ROWS = 512  # masks of a block at most, so that what a pair of metrics needs stays in cache
_PAIRS = 8  # pairs of metrics compared at once by SPA: what they need stays in cache
_NEAR = 1e-6  # standard deviations per segment: twice what sums in single precision are off by on the data of WMT23


class How(NamedTuple):
    """How metrics are tested: the options of ``perm_both``.

    draws: random swaps, where there are too many for all of them. flips: inside each test of SPA, the slowest one.
    look: let a test of SPA end after so many swaps, or twice as many, …, if its p is outside ``settled``, or cannot be
    as low as alpha any more; None: none. unit: for ``acc_eq`` what is swapped is whether a pair of systems is right,
    each metric at its own threshold: "pair" swaps every pair by itself, as WMT does; "item" swaps whole segments, whose
    pairs depend on each other, so that fewer differences count as significant. within: a number for each system;
    accuracy compares systems of one number. thresholds: of acc_eq, found by ``perm_both``.
    """

    draws: int = 1000
    seed: Any = 7  # a whole number, or two
    flips: int = 1000
    look: int | None = None
    settled: tuple[float, float] = (0.02, 0.5)
    alpha: float = 1.0
    unit: str = "pair"
    within: np.ndarray | int = 0
    thresholds: np.ndarray = np.zeros(0)


def perm_both(scores: Scores, *, statistic: str, **options: Any) -> pd.DataFrame:
    """Test every two metrics by PERM-BOTH: swap their scores in random cells, and see how large the difference gets.

    statistic: for scores of systems ``pearson`` or ``accuracy_3way``; for scores of segments ``pearson`` (all cells in
    one sample), ``acc_eq`` or ``spa`` (whose level is "system"). Metrics are standardised before their scores are
    swapped, and compared on the cells that both scored. options: see ``How``.
    Returns one row per pair of metrics: data, pair, level, statistic, grouping, metric_a (the better one), metric_b,
    difference (a less b), p (one-sided), exact (True where no swap was left out; acc_eq by pairs is binomial, and so).
    p is the share of swaps that reach the difference, or (hits + 1) / (draws + 1) where swaps are random.
    Raises DataError for a statistic that does not exist at this level.
    Source: Deutsch, Dror & Roth 2021, "A statistical analysis of summarization evaluation metrics", section 4;
    Deutsch et al. 2023 for acc_eq.  Caveat: p speaks for the metric that happens to be ahead, as WMT prints it, so of
    two equal metrics one is significantly better at 5 % in 10 % of cases: some 90 of 900 pairs by chance alone.

    >>> human = np.arange(5.0)[:, None]
    >>> two = np.stack([human, human[[0, 3, 2, 1, 4]]])
    >>> scores = Scores(("good", "fair"), tuple("ABCDE"), ("",), two, human)
    >>> perm_both(scores, statistic="pearson")[["metric_a", "difference", "p", "exact"]].round(9).values.tolist()
    [['good', 0.4, 0.25, True]]
    """
    if statistic not in TESTED[scores.level]:
        known = ", ".join(TESTED[scores.level])
        raise DataError(f"{statistic!r} cannot be tested on scores of {scores.level}s. Choose among {known}.")
    how = How(**options)
    if how.unit not in ("pair", "item"):
        raise DataError(f"unit is {how.unit!r}, and can be 'pair' or 'item'. Correct it.")
    if statistic == "acc_eq":
        how = how._replace(thresholds=acc_eq(scores)["threshold"].to_numpy())
    tests = {"pearson": _pearson_test, "accuracy_3way": _accuracy_test, "acc_eq": _acc_eq_test, "spa": _spa_test}
    rows, level = {}, "system" if statistic == "spa" else scores.level
    for cells, members, pairs in pairings(scores):
        enough = cells.all(axis=0).any() if statistic == "spa" else cells.sum() > 2 * (statistic != "acc_eq")
        found = tests[statistic](scores, cells, members, pairs, how) if enough else _undefined(pairs)
        for (a, b), difference, p in zip(members[pairs], found.observed, found.p):
            names = [scores.metrics[place] for place in ((b, a) if difference < -TOLERANCE else (a, b))]
            row = (level, statistic, TESTED[scores.level][statistic], *names)
            rows[min(a, b), max(a, b)] = (*row, abs(float(difference)), float(p), found.exact)
    return described(scores, pd.DataFrame([rows[key] for key in sorted(rows)], columns=_COLUMNS))


def pooled_accuracy(sets: Sequence[Scores], *, draws: int = 1000, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count over several test sets how many of their pairs of systems a metric orders as people do, and test it.

    sets: scores of systems, one test set (or language pair) each; metrics count that scored all systems of all of them.
    Systems are compared within their set; metrics are standardised over all sets together, as WMT does.
    Returns metric, value (share of all pairs), n (pairs); and the tests, as ``perm_both`` does.
    Source: Kocmi et al. 2021 for accuracy over language pairs; Freitag et al. 2022, 2023.
    """
    found = pd.concat([correlations(each, statistics=["accuracy_3way"]) for each in sets])
    found = found.assign(n=found["n"] * (found["n"] - 1) // 2)
    found["value"] = (found["value"] * found["n"]).round()
    right = found.groupby("metric", sort=False)[["value", "n"]].sum()
    right = right[right["n"] == right["n"].max()]
    parts = [each.only([*right.index]) for each in sets]
    values, human = (np.concatenate(side, axis=-2) for side in zip(*((each.values, each.human) for each in parts)))
    together = replace(parts[0], systems=tuple(chain(*(each.systems for each in parts))), values=values, human=human)
    number = np.repeat(np.arange(len(parts)), [len(each.systems) for each in parts])
    table = right.assign(value=right["value"] / right["n"]).reset_index()
    return table, perm_both(together, statistic="accuracy_3way", within=number, draws=draws, seed=seed)


def _undefined(pairs: np.ndarray) -> Permuted:
    return Permuted(pairs[:, 0] * np.nan, pairs[:, 1] * np.nan, 1, exact=False)


def _acc_eq_test(scores: Scores, cells: np.ndarray, members: np.ndarray, pairs: np.ndarray, how: How) -> Permuted:
    """Compare acc_eq of metrics, two by two, on the cells that both scored, each metric at its own threshold.

    By pairs of systems: only pairs on which two metrics differ matter, and each is a toss of a coin. With equally many
    pairs in every segment the p-value is the binomial's (McNemar's exact test); else the tosses of each class of
    segments are drawn. By item: what is right is swapped segment by segment.
    """
    compared, (a, b) = Comparisons(scores.human, cells), pairs.T
    if not compared.segments:
        return _undefined(pairs)
    right = np.stack([compared.right(compared.differences(scores.values[m]), how.thresholds[m]) for m in members])
    if how.unit == "item":
        each = pd.DataFrame((right * compared.weight).T).groupby(compared.segment).sum().to_numpy().T
        return _linear_test(each.sum(axis=1)[a] - each.sum(axis=1)[b], -2 * (each[a] - each[b]), how)
    accuracy, weights = compared.accuracy(right), np.unique(compared.weight)[::-1]
    observed = accuracy[a] - accuracy[b]
    rng, drawn = np.random.default_rng(how.seed), np.zeros((how.draws, len(pairs)))
    for weight in weights:
        marks = right[:, compared.weight == weight].astype(float)
        both, alone = marks @ marks.T, marks.sum(axis=1)
        won, lost = ((alone[side] - both[a, b]).astype(int) for side in (a, b))
        if len(weights) == 1:
            return Permuted(observed, stats.binom.sf(np.maximum(won, lost) - 1, won + lost, 0.5), 1, exact=True)
        drawn += weight * (2 * rng.binomial(won + lost, 0.5, drawn.shape) - (won + lost))
    return Permuted(observed, (drawn >= np.abs(observed) - TOLERANCE).sum(axis=0), how.draws, exact=False)


def _swapped(
    hits: Callable[[np.ndarray], np.ndarray], observed: np.ndarray, cells: int, how: How, block: int | None = None
) -> Permuted:
    """Add up hits over all swaps of so many cells where they are few (``EXACT_UP_TO``), else over random ones.

    hits: maps masks (batch, cells) of zeros and ones to how many of them and their complements reach the difference,
    one number per pair of metrics, as ``observed`` has them.
    """
    block = block or max(1, min(_ROWS, BATCH // cells))
    every = partial(count_hits, lambda masks: hits(masks.astype(float)), observed, cells)
    return every(resamples=how.draws, seed=how.seed, block=block, mirrored=True)


def _reached(difference: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Count along the last axis the masks that reach the observed difference, and the complements that do."""
    least = np.abs(observed)[:, None] - TOLERANCE
    return np.count_nonzero(difference >= least, axis=1) + np.count_nonzero(difference <= -least, axis=1)


def _pearson_test(scores: Scores, cells: np.ndarray, members: np.ndarray, pairs: np.ndarray, how: How) -> Permuted:
    """Compare Pearson's r of metrics, two by two: differences (first less second), and hits of the better one.

    cells: those that all have; members: positions of metrics; pairs: two of these each, sorted by the first.
    A swapped metric that does not vary has r = 0. The difference is NaN where a metric or human does not vary.
    """
    values, human = scores.values[members][:, cells], scores.human[cells]
    constant = np.ptp(values, axis=1) == 0
    values, human = (_unit(each) for each in (values, human))
    columns = np.concatenate([values * human, values / np.sqrt(len(human)), values**2])
    r = np.where(constant | (not human.any()), np.nan, values @ human)
    observed = r[pairs[:, 0]] - r[pairs[:, 1]]

    def hits(masks: np.ndarray) -> np.ndarray:
        shared, total, squares = (columns @ masks.T).reshape(3, len(r), -1)
        found = np.zeros(len(pairs), np.int64)
        for a, some, others in _by_first(pairs, len(pairs)):
            moved = shared[a] - shared[others]
            spread = squares[a] - squares[others]
            off = 1 - (total[a] - total[others]) ** 2  # both swapped metrics are off the mean 0 by as much
            difference = _r(r[a] - moved, off - spread) - _r(r[others, None] + moved, off + spread)
            found[some] = _reached(difference, observed[some])
        return found

    return _swapped(hits, observed, len(human), how)


def _accuracy_test(scores: Scores, cells: np.ndarray, members: np.ndarray, pairs: np.ndarray, how: How) -> Permuted:
    """Compare three-way accuracies of metrics, two by two, as ``_pearson_test`` does, of systems of one set.

    Let t(u, v) tell whether systems i and j stand in the humans' relation when i has metric u's score and j has v's.
    After swapping by the mask m, this pair of systems adds (t(a, a) - t(b, b)) (1 - m_i - m_j) + (t(b, a) - t(a, b))
    (m_i - m_j) to the difference, which is linear in m: over all pairs, a constant and one weight for each system.
    """
    human, sets = scores.human[cells], np.broadcast_to(how.within, len(cells))[cells[:, 0]]
    first, second = np.nonzero(np.triu(sets[:, None] == sets, 1))
    relation = np.sign(human[first] - human[second])
    # scores of two metrics that are equal but for rounding are tied
    values = np.round(_unit(scores.values[members][:, cells]), 12)
    own = np.sign(values[:, first] - values[:, second]) == relation
    ends = [np.eye(len(human))[side] for side in (first, second)]  # pairs of systems × systems
    constant, weights = np.empty(len(pairs)), np.empty((len(pairs), len(human)))
    for a, some, others in _by_first(pairs, len(pairs)):
        same = own[a].astype(float) - own[others]
        ahead = np.sign(values[others][:, first] - values[a, second]) == relation
        behind = np.sign(values[a, first] - values[others][:, second]) == relation
        mixed = ahead.astype(float) - behind
        constant[some] = same.sum(axis=1)
        weights[some] = (mixed - same) @ ends[0] - (mixed + same) @ ends[1]
    return replace(_linear_test(constant, weights, how), observed=constant / len(first))


def _linear_test(observed: np.ndarray, weights: np.ndarray, how: How) -> Permuted:
    """Test differences that move by a weight for each swapped cell. weights: pairs of metrics × cells."""

    def hits(masks: np.ndarray) -> np.ndarray:
        return _reached(observed[:, None] + weights @ masks.T, observed)

    return _swapped(hits, observed, weights.shape[1], how)


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


def _by_first(pairs: np.ndarray, most: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Group pairs by their first metric, ``most`` at once: it, where its pairs stand, and the others."""
    for first in np.unique(pairs[:, 0]):
        places = np.flatnonzero(pairs[:, 0] == first)
        for some in np.split(places, range(most, len(places), most)):
            yield int(first), some, pairs[some, 1]


def _spa_test(scores: Scores, cells: np.ndarray, members: np.ndarray, pairs: np.ndarray, how: How) -> Permuted:
    """Compare SPA of metrics, two by two, with PERM-BOTH on the cells of segments that all systems have.

    Every swap needs new permutation tests of both swapped metrics; the flipped sums of the swapped cells are computed
    once per metric and swap, in single precision, and put together for each pair of metrics. Swaps are drawn ``look``
    at a time, and after each round only for those pairs that are not settled.
    Source: mt-metrics-eval, with which WMT ranks metrics; p counts (hits + 1) / (swaps + 1) all the same.
    """
    columns = cells.all(axis=0)
    values, human = scores.values[members][:, :, columns], scores.human[:, columns]
    spread = values.std(axis=(1, 2), keepdims=True)
    values = (values - values.mean(axis=(1, 2), keepdims=True)) / np.where(spread > 0, spread, 1)
    mask = flipped(human.shape[1], flips=how.flips, seed=how.seed)
    gold = confidences((human @ mask)[:, None])
    own = soft_accuracy(confidences((values @ mask).swapaxes(0, 1)), gold)
    observed = own[pairs[:, 0]] - own[pairs[:, 1]]
    single, flips32 = values.swapaxes(0, 1).astype(np.float32), mask.astype(np.float32)
    sums = single @ flips32
    hits, drawn = np.zeros((2, len(observed)), np.int64)
    left, look = np.arange(len(observed)), how.look or how.draws
    for part, start in enumerate(range(0, how.draws, look)):
        needed, places = np.unique(pairs[left], return_inverse=True)
        sides = single[:, needed], sums[:, needed], flips32, gold[0], places.reshape(-1, 2), observed[left]
        whole = look >= how.draws
        some = How(min(look, how.draws - start), how.seed if whole else (how.seed, part))
        found = _swapped(partial(_spa_hits, sides), observed[left], human.size, some, block=8)
        if found.exact or whole:
            return found
        hits[left] += found.hits
        drawn[left] += found.arrangements
        share = hits / drawn
        going_on = (share >= how.settled[0]) & (share <= how.settled[1]) & (hits <= how.alpha * (how.draws + 1))
        left = left[going_on[left]]
        if not len(left):
            break
    return Permuted(observed, hits, drawn, exact=False)


def _spa_hits(sides: tuple[np.ndarray, ...], masks: np.ndarray) -> np.ndarray:
    """Count hits of masks and their complements.

    sides: values, systems × metrics × segments in single precision; whole, their flipped sums; mask of the flips; gold,
    the humans' p-values; pairs of metrics; and the observed difference of each.
    """
    values, whole, mask, gold, pairs, observed = sides
    systems, _, segments = values.shape
    hits = np.zeros(len(pairs), np.int64)
    for swap in masks.reshape(-1, systems, 1, segments).astype(np.float32):
        moved = ((values * swap).reshape(-1, segments) @ mask).reshape(whole.shape)
        stays = whole - moved
        for first, some, others in _by_first(pairs, _PAIRS):
            both = np.concatenate(  # the first of each pair, then the others, swapped
                [stays[:, first, None] + moved[:, others], stays[:, others] + moved[:, first, None]], axis=1
            )
            one, other = soft_accuracy(confidences(both, near=_NEAR), gold).reshape(2, -1)
            hits[some] += _reached((one - other)[:, None], observed[some])
    return hits
