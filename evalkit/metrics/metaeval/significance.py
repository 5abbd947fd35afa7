"""Test whether one metric agrees better with humans than another, for all pairs of metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.metrics.metaeval import swaps
from evalkit.metrics.metaeval.scores import Scores, described, pairings, patterns
from evalkit.metrics.metaeval.spa import spa_test
from evalkit.metrics.metaeval.ties import Comparisons
from evalkit.stats.correlation import pearson
from evalkit.stats.inference import TOLERANCE, Permuted

#: The statistics that can be tested, by level.
TESTED = {"system": ("pearson", "accuracy_3way"), "segment": ("pearson", "acc_eq", "spa")}
_Tested = tuple[np.ndarray, np.ndarray, bool]  # differences, p-values, and whether these are exact, of pairs of metrics
_Compare = Callable[[np.ndarray, np.ndarray, np.ndarray], _Tested]  # of cells, positions of metrics, pairs among them
_COLUMNS = ["level", "statistic", "metric_a", "metric_b", "difference", "p", "exact"]


def significance(
    scores: Scores,
    *,
    statistic: str,
    draws: int = 1000,
    flips: int = 1000,
    unit: str = "pair",
    look: int | None = None,
    settled: tuple[float, float] = (0.02, 0.5),
    clusters: bool = False,
    seed: int = 7,
) -> pd.DataFrame:
    """Test every two metrics by PERM-BOTH: swap their scores in random cells, and see how large the difference gets.

    statistic: for scores of systems ``pearson`` or ``accuracy_3way``; for scores of segments ``pearson`` (all cells in
    one sample), ``acc_eq`` or ``spa`` (whose level is "system"). Metrics are standardised before their scores are
    swapped, and compared on the cells that both scored. For ``acc_eq`` what is swapped is whether a pair of systems is
    right, each metric at its own threshold: ``unit="pair"`` swaps every pair by itself, as WMT does; ``unit="item"``
    swaps whole segments, whose pairs depend on each other, so that fewer differences count as significant.
    draws: random swaps, where there are too many for all of them; flips: inside each test of SPA, the slowest one.
    look: let a test of SPA end after so many swaps, or twice as many, …, if its p is outside ``settled``; None: none.
    clusters: nor need it go on where it cannot decide clusters any more (metrics are then in the order of their names).
    Returns one row per pair of metrics: data, pair, level, statistic, metric_a (the better one), metric_b, difference
    (a less b), p (one-sided), exact (True where no swap was left out; acc_eq by pairs is binomial, hence exact).
    p is the share of swaps that reach the difference, or (hits + 1) / (draws + 1) where swaps are random.
    Raises DataError for a statistic that does not exist at this level.
    Source: Deutsch, Dror & Roth 2021, "A statistical analysis of summarization evaluation metrics", section 4;
    Deutsch et al. 2023 for acc_eq.  Caveat: p speaks for the metric that happens to be ahead, as WMT prints it, so of
    two equal metrics one is significantly better at 5 % in 10 % of cases: some 90 of 900 pairs by chance alone.

    >>> human = np.arange(5.0)[:, None]
    >>> two = np.stack([human, human[[0, 3, 2, 1, 4]]])
    >>> scores = Scores(("good", "fair"), tuple("ABCDE"), ("",), two, human)
    >>> significance(scores, statistic="pearson")[["metric_a", "difference", "p", "exact"]].round(9).values.tolist()
    [['good', 0.4, 0.25, True]]
    """
    if statistic not in TESTED[scores.level]:
        known = ", ".join(TESTED[scores.level])
        raise DataError(f"{statistic!r} cannot be tested on scores of {scores.level}s. Choose among {known}.")
    if unit not in ("pair", "item"):
        raise DataError(f"unit is {unit!r}, and can be 'pair' or 'item'. Correct it.")
    plan = swaps.Plan(draws, seed, look, settled, clusters)
    if statistic == "acc_eq":
        return _table(scores, scores.level, statistic, _of_ties(scores, unit, plan))
    if statistic == "spa":
        return _table(scores, "system", statistic, _of_spa(scores, flips, plan))
    test = swaps.pearson_test if statistic == "pearson" else swaps.accuracy_test

    def compare(cells: np.ndarray, members: np.ndarray, pairs: np.ndarray) -> _Tested:
        return _tested(test(scores.values[members][:, cells], scores.human[cells], pairs, plan))

    return _table(scores, scores.level, statistic, compare)


def pooled_accuracy(sets: Sequence[Scores], *, draws: int = 1000, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count over several test sets how many of their pairs of systems a metric orders as people do, and test it.

    sets: scores of systems, one test set (or language pair) each; metrics count that scored all systems of all of them.
    Systems are compared within their set; metrics are standardised over all sets together, as WMT does.
    Returns metric, value (share of all pairs), n (pairs); and metric_a (the better one), metric_b, difference, p, exact
    as ``significance``. Source: Kocmi et al. 2021 for accuracy over language pairs; Freitag et al. 2022, 2023.
    """
    names = [name for name in sets[0].metrics if all(name in each.metrics for each in sets)]
    parts = [each.only(names) for each in sets]
    values = np.concatenate([part.values[:, :, 0] for part in parts], axis=1)
    human = np.concatenate([part.human[:, 0] for part in parts])
    number = np.repeat(np.arange(len(parts)), [len(part.systems) for part in parts])
    judged, whole = np.isfinite(human), np.isfinite(values[:, np.isfinite(human)]).all(axis=1)
    values, human, number = values[whole][:, judged], human[judged], number[judged]
    names = [name for name, all_there in zip(names, whole) if all_there]
    i, j = np.triu_indices(len(human), 1)
    i, j = i[number[i] == number[j]], j[number[i] == number[j]]
    right = np.sign(values[:, i] - values[:, j]) == np.sign(human[i] - human[j])
    table = pd.DataFrame({"metric": names, "value": right.mean(axis=1), "n": len(i)})
    pairs = np.column_stack(np.triu_indices(len(names), 1))
    test = swaps.accuracy_test(values, human, pairs, swaps.Plan(draws, seed), sets=number)
    ahead = test.observed >= -TOLERANCE
    a, b = (np.array(names)[np.where(ahead, *(pairs[:, side] for side in order))] for order in ((0, 1), (1, 0)))
    compared = {"metric_a": a, "metric_b": b, "difference": np.abs(test.observed), "p": test.p, "exact": test.exact}
    return table, pd.DataFrame(compared)


def williams(scores: Scores) -> pd.DataFrame:
    """Test every two metrics' Pearson correlations by Williams' test; the columns of ``significance``.

    For scores of systems, or of segments in one sample. p is one-sided, ``exact`` False: the test takes scores for
    normal and cells for independent. Source: Williams 1959; Graham & Baldwin 2014.
    """

    def compare(cells: np.ndarray, members: np.ndarray, pairs: np.ndarray) -> _Tested:
        values, (a, b) = scores.values[members][:, cells], pairs.T
        r = pearson(values, scores.human[cells])
        return r[a] - r[b], williams_p(r[a], r[b], pearson(values[a], values[b]), n=int(cells.sum())), False

    return _table(scores, scores.level, "pearson", compare)


def williams_p(r_a: ArrayLike, r_b: ArrayLike, r_ab: ArrayLike, *, n: int) -> np.ndarray:
    """Return the one-sided p of Williams' test that the larger of two dependent correlations is larger.

    r_a, r_b: correlations of two metrics with the humans, r_ab: with each other; n: cells. Student's t with n - 3
    degrees of freedom. Source: Williams 1959, in the form of Steiger 1980, equation 7.

    >>> (2 * williams_p(0.5, 0.4, 0.1, n=103)).round(2).item()  # Steiger's case A, two-sided
    0.37
    """
    r_a, r_b, r_ab = (np.asarray(r, float) for r in (r_a, r_b, r_ab))
    if n < 4:
        return np.full(np.broadcast(r_a, r_b, r_ab).shape, np.nan)
    determinant = 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab
    mean = (r_a + r_b) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(r_a - r_b) * np.sqrt(
            (n - 1) * (1 + r_ab) / (2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_ab) ** 3)
        )
    return stats.t.sf(t, n - 3)


def _table(scores: Scores, level: str, statistic: str, compare: _Compare) -> pd.DataFrame:
    """Collect the comparisons of all pairs of metrics, the better metric first, in the order of the metrics."""
    rows = []
    for cells, members, pairs in pairings(scores):
        if statistic == "spa":
            cells = np.broadcast_to(cells.all(axis=0), cells.shape)
        enough = cells.any() and (statistic in ("acc_eq", "spa") or cells.sum() > 2)
        difference, p, exact = compare(cells, members, pairs) if enough else _undefined(pairs)
        for (a, b), d, each in zip(members[pairs], difference, p):
            first, second = (b, a) if d < -TOLERANCE else (a, b)  # as listed where last bits alone differ
            row = (level, statistic, scores.metrics[first], scores.metrics[second], abs(float(d)), float(each), exact)
            rows.append(((min(a, b), max(a, b)), row))
    return described(scores, pd.DataFrame([row for _, row in sorted(rows, key=lambda r: r[0])], columns=_COLUMNS))


def _tested(test: Permuted) -> _Tested:
    return test.observed, test.p, test.exact


def _undefined(pairs: np.ndarray) -> _Tested:
    return np.full(len(pairs), np.nan), np.full(len(pairs), np.nan), False


def _of_ties(scores: Scores, unit: str, plan: swaps.Plan) -> _Compare:
    """Prepare the test of acc_eq: calibrate each metric on all its cells, compare two on the cells they share."""
    thresholds = np.zeros(len(scores.metrics))
    for cells, members in patterns(scores):
        compared = Comparisons(scores.human, cells)
        for number in members if compared.segments else ():
            thresholds[number] = compared.calibrated(compared.differences(scores.values[number]))[1]

    def compare(cells: np.ndarray, members: np.ndarray, pairs: np.ndarray) -> _Tested:
        compared = Comparisons(scores.human, cells)
        if not compared.segments:
            return _undefined(pairs)
        right = np.stack(
            [compared.right(compared.differences(scores.values[number]), thresholds[number]) for number in members]
        )
        return (_by_items if unit == "item" else _by_pairs)(compared, right, pairs, plan)

    return compare


def _by_pairs(compared: Comparisons, right: np.ndarray, pairs: np.ndarray, plan: swaps.Plan) -> _Tested:
    """Swap what is right pair by pair: only pairs on which two metrics differ matter, and each is a toss of a coin.

    With equally many pairs in every segment the p-value is the binomial's (McNemar's exact test); else the tosses of
    each class of segments are drawn.
    """
    a, b = pairs.T
    accuracy = compared.mean(right)
    observed = accuracy[a] - accuracy[b]
    wins, losses = [], []
    for part in compared.classes:
        marks = right[:, part].astype(float)
        both, alone = marks @ marks.T, marks.sum(axis=1)
        wins.append((alone[a] - both[a, b]).astype(int))
        losses.append((alone[b] - both[a, b]).astype(int))
    if len(compared.classes) == 1:
        more = np.maximum(wins[0], losses[0])
        return observed, stats.binom.sf(more - 1, wins[0] + losses[0], 0.5), True
    rng, drawn = np.random.default_rng(plan.seed), np.zeros((plan.draws, len(pairs)))
    for weight, won, lost in zip(compared.weights, wins, losses):
        drawn += weight * (2 * rng.binomial(won + lost, 0.5, drawn.shape) - (won + lost))
    hits = (drawn >= np.abs(observed) - TOLERANCE).sum(axis=0)
    return _tested(Permuted(observed, hits, plan.draws, exact=False))


def _by_items(compared: Comparisons, right: np.ndarray, pairs: np.ndarray, plan: swaps.Plan) -> _Tested:
    """Swap what is right segment by segment."""
    segments, place = np.unique(compared.segment, return_inverse=True)
    each = np.stack([np.bincount(place, compared.weight * row, len(segments)) for row in right])  # metrics × segments
    accuracy = each.sum(axis=1)
    observed = accuracy[pairs[:, 0]] - accuracy[pairs[:, 1]]
    return _tested(swaps.swapped(partial(_item_hits, each, pairs, observed), observed, len(segments), plan))


def _item_hits(each: np.ndarray, pairs: np.ndarray, observed: np.ndarray, masks: np.ndarray) -> np.ndarray:
    flipped = each @ (1 - 2 * masks.T)
    return swaps.reached(flipped[pairs[:, 0]] - flipped[pairs[:, 1]], observed)


def _of_spa(scores: Scores, flips: int, plan: swaps.Plan) -> _Compare:
    """Prepare the test of SPA, on the segments for which all systems are scored."""

    def compare(cells: np.ndarray, members: np.ndarray, pairs: np.ndarray) -> _Tested:
        columns = cells.all(axis=0)
        values, human = scores.values[members][:, :, columns], scores.human[:, columns]
        return _tested(spa_test(values, human, pairs, plan, flips=flips))

    return compare
