"""Statistics by which metrics are held against people, with intervals: correlations, accuracy with ties, and SPA.

Scores of segments are samples in three groupings: all cells together (``none``), the systems of a segment (``item``),
or the segments of a system (``system``); values of the groups are averaged.

Acc_eq compares every two systems within each segment. A metric ties two outputs whose scores differ by no more than a
threshold; a pair is right where metric and humans give the same relation (<, = or >). The threshold that gives the
highest accuracy is found exactly: raising it makes pairs right that humans tie, and wrong that were concordant, so the
sorted differences of these two kinds, swept once, give the accuracy at every threshold.

Soft pairwise accuracy (SPA) asks how closely a metric's confidence that one system beats another matches the humans'.
For every two systems, a paired permutation test of their segment scores gives the p-value that the first is better:
the share of random sign flips of the differences between their scores whose sum is at least as large as the observed.
SPA is 1 less the mean distance of the metric's p-values from the humans'. With B a mask of the flipped segments, the
flipped sum reaches the observed exactly where the first system's sum over B is no larger than the second's, so one
product of masks with the scores of all systems serves every two of them.

For intervals, a resample is a vector of weights, how often each segment, or each system, was drawn. Every statistic but
SPA is a function of sums that are linear or quadratic in the weights, so one product per metric evaluates all
resamples. ``bootstrap`` draws segments (or documents) for statistics of segments, and systems where systems are
compared. ``agreement`` draws texts for every statistic: a campaign's systems are given, and its texts are a sample.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.metrics.scores import Scores, averaged, described, patterns
from evalkit.stats import correlation
from evalkit.stats.correlation import count_pairs, pearson, ratio, spearman
from evalkit.stats.inference import TOLERANCE, defined_interval, random_masks, resample

#: How scores of segments are grouped before they are correlated.
GROUPINGS = ("none", "item", "system")
_OF_SAMPLES = {"pearson": pearson, "spearman": spearman}
_OF_PAIRS = ("kendall_b", "kendall_c", "accuracy_2way", "accuracy_3way")  # methods of what count_pairs returns
#: Statistics of two stacks of samples, of metric and human scores.
STATISTICS = (*_OF_SAMPLES, *_OF_PAIRS)
_TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: How statistics are written, by level, statistic and grouping.
WORDS = {(level, statistic, grouping): words for level, statistic, grouping, words in _TABLE["words"]}
#: What ``agreement`` computes. kendall_b: over all items together; kendall_b_within: of the systems of each segment,
#: averaged over segments.
AGREEMENT = ("pearson", "kendall_b", "kendall_b_within", "acc_eq", "system_pearson", "system_kendall_b", "spa")
_COLUMNS = ["level", "statistic", "grouping", "metric", "value", "n", "groups"]
_TABLES = 4000  # cells up to which pairs of cells are kept for all draws; above, each draw counts them anew
_FEWER = 100  # draws there
_FLIPS = 200  # of the tests in a draw
_Values = Callable[[np.ndarray], np.ndarray]  # weights, resamples × units, to values, metrics × resamples


def every_statistic(*scores: Scores, seed: int = 7) -> pd.DataFrame:
    """Evaluate every metric by all statistics that its level allows: correlations, and for segments acc_eq and SPA.

    Returns data, pair, level, statistic, grouping, metric, value, n, groups.
    """
    tables = []
    for each in scores:
        tables.append(correlations(each))
        if each.level == "segment":
            tables += [acc_eq(each).drop(columns=["threshold", "ties"]), spa(each, seed=seed)]
    return pd.concat(tables, ignore_index=True)


def in_words(level: str, statistic: str, grouping: str, *, words: Mapping[tuple[str, str, str], str] = WORDS) -> str:
    """Write a statistic in words, or as level, statistic and grouping where there are none for it.

    >>> in_words("segment", "acc_eq", "item"), in_words("domain", "pearson", "system")
    ('accuracy with ties (acc_eq)', 'domain pearson by system')
    """
    plain = f"{level} {statistic}" + ("" if grouping == "none" else f" by {grouping}")
    return words.get((level, statistic, grouping), plain)


def correlations(
    scores: Scores, *, statistics: Sequence[str] = STATISTICS, groupings: Sequence[str] = GROUPINGS
) -> pd.DataFrame:
    """Correlate every metric with the human scores, by every statistic and grouping.

    Returns data, pair, level, statistic, grouping, metric, value, n (cells used), groups (those with a defined value,
    which ``value`` averages). Scores of systems know no grouping but ``none``. A group counts where it has at least two
    cells and, for correlations, where neither side is constant; value is NaN where no group does.
    Raises DataError for an unknown statistic or grouping. Source: as mt-metrics-eval, which averages in the same way.

    >>> scores = Scores(("m",), ("A", "B", "C"), ("",), np.array([[[1.0], [2], [4]]]), np.array([[1.0], [2], [3]]))
    >>> correlations(scores, statistics=["kendall_b", "pearson"])[["statistic", "value"]].round(3).values.tolist()
    [['pearson', 0.982], ['kendall_b', 1.0]]
    """
    for name, known in [(s, STATISTICS) for s in statistics] + [(g, GROUPINGS) for g in groupings]:
        if name not in known:
            raise DataError(f"{name!r} is not known here. Choose among {', '.join(known)}.")
    rows = []
    for grouping in ["none"] if scores.level == "system" else groupings:
        human = grouped(scores.human, grouping)
        for metric, values in zip(scores.metrics, scores.values):
            sample = grouped(values, grouping)
            n = int((np.isfinite(sample) & np.isfinite(human)).sum())
            pairs = count_pairs(sample, human) if set(statistics) & set(_OF_PAIRS) else None
            for name in statistics:
                each = _OF_SAMPLES[name](sample, human) if name in _OF_SAMPLES else getattr(pairs, name)()
                groups = int(np.isfinite(each).sum())
                rows.append((scores.level, name, grouping, metric, ratio(np.nansum(each), groups).item(), n, groups))
    table = pd.DataFrame(rows, columns=_COLUMNS)
    order = {name: place for place, name in enumerate((*STATISTICS, *GROUPINGS))}
    table = table.sort_values(["statistic", "grouping"], key=lambda names: names.map(order), kind="stable")
    return described(scores, table.reset_index(drop=True))


def pair_differences(scores: Scores) -> pd.DataFrame:
    """Correlate differences: of every two translations of a segment, the metric's with the humans', all in one sample.

    Which segments are hard cancels out, and unlike accuracy the size of differences counts. Each pair is taken both
    ways round, so that it does not matter which translation comes first; means are then 0.
    Returns the columns of ``correlations``, with the statistic "pearson_differences" and the grouping "item"; n counts
    pairs, groups the segments with at least one. Source: mt-metrics-eval, "pairwise difference Pearson".

    >>> human, metric = np.array([[0.0], [1], [3]]), np.array([[[0.0], [1], [1]]])
    >>> pair_differences(Scores(("m",), ("A", "B", "C"), ("s",), metric, human))["value"].round(3).tolist()
    [0.756]
    """
    i, j = np.triu_indices(len(scores.systems), 1)
    human = scores.human[i] - scores.human[j]
    rows = []
    for name, values in zip(scores.metrics, scores.values):
        metric = values[i] - values[j]
        both = np.isfinite(metric) & np.isfinite(human)
        x, y = metric[both], human[both]
        spread = np.sqrt((x @ x) * (y @ y))
        value = float(x @ y / spread) if spread > 0 else np.nan
        rows.append(("segment", "pearson_differences", "item", name, value, len(x), int(both.any(axis=0).sum())))
    return described(scores, pd.DataFrame(rows, columns=_COLUMNS))


def by_unit(scores: Scores, units: Sequence[str], *, level: str) -> pd.DataFrame:
    """Correlate means over units of segments, such as documents, by Pearson's r in the groupings of ``correlations``.

    units: the name of each segment's unit, see ``scores.averaged``; level: what to call them. By item, the systems'
    means in one document are a sample. Returns the columns of ``correlations``.
    """
    return correlations(averaged(scores, units), statistics=["pearson"]).assign(level=level)


def grouped(cells: np.ndarray, grouping: str) -> np.ndarray:
    """Arrange cells, systems × segments, as groups × members."""
    return {"none": cells.reshape(1, -1), "item": cells.T, "system": cells}[grouping]


class Comparisons:
    """Hold the human relations of every two systems within each segment, over given cells (systems × segments).

    ``weight``: of each pair, so that accuracies are averaged over the pairs of a segment, and then over segments;
    ``tied``: the same where humans tie the pair, else 0; ``segment``: the place of each pair's segment.
    """

    def __init__(self, human: np.ndarray, cells: np.ndarray):
        self.first, self.second = np.triu_indices(len(human), 1)
        self.there = cells[self.first] & cells[self.second]
        self.segment = np.nonzero(self.there)[1]
        of_segment = self.there.sum(axis=0)
        self.segments = int((of_segment > 0).sum())
        self.weight = 1 / (of_segment[self.segment] * max(self.segments, 1))
        self.relation = np.sign(self.differences(human))
        self.tied = np.where(self.relation == 0, self.weight, 0)

    def differences(self, scores: np.ndarray) -> np.ndarray:
        """Subtract the scores of every two systems, in the order of the pairs."""
        return (scores[self.first] - scores[self.second])[self.there]

    def calibrated(self, difference: np.ndarray) -> float:
        """Return the smallest threshold that reaches the highest accuracy."""
        size, gain = np.abs(difference), self.tied - self.weight * (difference * self.relation > 0)
        order = np.argsort(size)
        last = np.flatnonzero(np.diff(size[order], append=np.inf))  # of equal differences
        thresholds = np.append(0.0, size[order][last])
        reached = np.append(0.0, np.cumsum(gain[order])[last])  # where some differences are 0, theirs comes next
        return float(thresholds[np.argmax(reached > reached.max() - TOLERANCE)])

    def right(self, difference: np.ndarray, threshold: float) -> np.ndarray:
        """Mark the pairs to which metric and humans give the same relation."""
        return np.where(self.tied > 0, np.abs(difference) <= threshold, difference * self.relation > threshold)

    def accuracy(self, right: np.ndarray) -> np.ndarray:
        """Average over pairs (the last axis) within segments, then over segments; equal ones however sums round."""
        return (right @ self.weight).round(12)


def acc_eq(scores: Scores, *, thresholds: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Return every metric's pairwise accuracy within segments, averaged over segments, at its best threshold of ties.

    thresholds: metric -> threshold, to apply those found on other data; None calibrates each metric on these scores,
    which flatters it a little. Segments count with at least two systems that metric and humans scored.
    Returns data, pair, level, statistic ("acc_eq"), grouping ("item"), metric, value, n (pairs), groups (segments),
    threshold, ties (share of pairs that the metric then ties). Of several thresholds that give the highest accuracy,
    the smallest. Source: Deutsch et al. 2023, "Ties matter", sections 4 and 6; WMT23 without sampling of pairs.

    >>> human, metric = np.array([[0.0], [0], [-5]]), np.array([[[0.81], [0.80], [0.2]]])
    >>> acc_eq(Scores(("m",), ("A", "B", "C"), ("s",), metric, human))[["value", "threshold"]].round(3).values.tolist()
    [[1.0, 0.01]]
    """
    if scores.level == "system":
        raise DataError("acc_eq compares systems within segments. Pass scores of segments, not of whole systems.")
    if thresholds is not None and (lacking := [name for name in scores.metrics if name not in thresholds]):
        raise DataError(f"There is no threshold for the metric {lacking[0]}. Add it, or leave the thresholds out.")
    rows = []
    for name, values in zip(scores.metrics, scores.values):
        compared = Comparisons(scores.human, np.isfinite(values) & scores.judged)
        difference = compared.differences(values)
        value = threshold = tied = np.nan
        if compared.segments:
            threshold = compared.calibrated(difference) if thresholds is None else thresholds[name]
            value = float(compared.accuracy(compared.right(difference, threshold)))
            tied = (np.abs(difference) <= threshold).mean()
        counts = len(difference), compared.segments
        rows.append(("segment", "acc_eq", "item", name, value, *counts, threshold, tied))
    return described(scores, pd.DataFrame(rows, columns=[*_COLUMNS, "threshold", "ties"]))


def confidences(sums: np.ndarray, *, near: float = TOLERANCE) -> np.ndarray:
    """Return the p-value that system i is better than j, for i < j in the order of ``np.triu_indices``.

    sums: systems × tests × flips, each system's mean score over the flipped segments, of which two are equal if no
    further apart than ``near``. Returns tests × pairs.
    """
    lower = sums - np.asarray(near, sums.dtype)
    reached = (lower[place] <= sums[place + 1 :] for place in range(len(sums) - 1))
    counts = [np.bitwise_count(np.packbits(each, axis=-1)).sum(axis=-1) for each in reached]
    return np.concatenate([np.zeros((0, sums.shape[1])), *counts]).T / sums.shape[2]


def spa(scores: Scores, *, flips: int = 1000, seed: int = 7) -> pd.DataFrame:
    """Return every metric's soft pairwise accuracy.

    flips: sign flips of each permutation test, the same for humans and metrics. A metric is used on the segments for
    which it and humans scored all systems. Returns data, pair, level ("system"), statistic ("spa"), grouping ("none"),
    metric, value, n (segments), groups (pairs of systems). Source: Thompson et al. 2024, "Improving statistical
    significance in human evaluation of automatic metrics via soft pairwise accuracy", section 4.
    Caveat: p-values count ties on both sides, so where scores tie often (a constant metric has p = 1 throughout) SPA
    depends on the order of the systems, here by name.

    >>> human = np.array([[0.9, 0.8, 0.7, 0.9], [0.1, 0.2, 0.1, 0.3]])
    >>> spa(Scores(("m",), ("A", "B"), tuple("1234"), human[None] * 7, human))["value"].item()
    1.0
    """
    value = [soft_accuracy(metric, human) for metric, human in metric_and_human_p(scores, flips=flips, seed=seed)]
    table = pd.DataFrame({"level": "system", "statistic": "spa", "grouping": "none", "metric": scores.metrics})
    table["value"] = np.array(value, float)
    table["n"] = (np.isfinite(scores.values) & scores.judged).all(axis=1).sum(axis=1)
    return described(scores, table.assign(groups=len(scores.systems) * (len(scores.systems) - 1) // 2))


def metric_and_human_p(scores: Scores, *, flips: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for every metric its p-values of all pairs of systems, and the humans' on the same segments."""
    if scores.level == "system":
        raise DataError("SPA tests systems on their segments. Pass scores of segments, not of whole systems.")
    pairs = len(scores.systems) * (len(scores.systems) - 1) // 2
    found = [(np.full(pairs, np.nan),) * 2] * len(scores.metrics)
    for cells, members in patterns(scores):
        columns = cells.all(axis=0)
        if columns.any():
            mask = flipped(int(columns.sum()), flips=flips, seed=seed)
            human = confidences((scores.human[:, columns] @ mask)[:, None])[0]
            metrics = confidences((scores.values[members][:, :, columns] @ mask).swapaxes(0, 1))
            for number, metric in zip(members, metrics):
                found[number] = metric, human
    return found


def soft_accuracy(metric: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Return 1 less the mean distance of p-values over pairs of systems, the last axis; NaN without a pair."""
    pairs = metric.shape[-1]
    return 1 - np.abs(metric - human).sum(axis=-1) / pairs if pairs else np.full(metric.shape[:-1], np.nan)


def flipped(segments: int, *, flips: int, seed: int) -> np.ndarray:
    """Draw which segments are flipped, (segments, flips); a product with it averages over them."""
    return random_masks(segments, flips, np.random.default_rng(seed)).T / segments


# Intervals


def bootstrap(*scores: Scores, resamples: int = 1000, seed: int = 7) -> pd.DataFrame:
    """Return every metric's main statistics with 95 % percentile intervals.

    Of scores of segments, those are Pearson's r over all, Kendall's tau-b by item, acc_eq and SPA; of scores of
    systems, Pearson's r and the accuracy of pairs. Statistics of segments are resampled by segment, all systems of a
    segment together, those of systems, and SPA, by system. A resample's copies of one system are not compared with one
    another. The threshold of acc_eq is held fixed.
    Returns data, pair, level, statistic, grouping, metric, value, low, high.
    Caveat: intervals of two metrics overlap more than the difference of the two is uncertain, because both are drawn on
    the same data: compare metrics by ``significance``. With a dozen systems, intervals over systems are rough.
    Source: Efron & Tibshirani 1993, ch. 13; Deutsch, Dror & Roth 2021 (BOOT-INPUTS, BOOT-SYSTEMS).
    """
    table, drawn = draws(*scores, resamples=resamples, seed=seed)
    low, high = defined_interval(drawn)
    return table.assign(low=low, high=high)


def draws(
    *scores: Scores, resamples: int = 1000, documents: bool = False, seed: int = 7
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return data, pair, level, statistic, grouping, metric and value, and what each row came to in every resample.

    The second is resamples × rows. All metrics are evaluated on the same resamples, so that differences between rows of
    one statistic are those of pairs. documents: draw whole documents in place of single segments. Other options, and
    caveats: see ``bootstrap``.
    """
    tables, drawn = [], []
    for each in scores:
        labels = {"system": each.systems, "segment": each.documents if documents else each.segments}
        estimates = _of_systems(each) if each.level == "system" else _of_segments(each, seed)
        for (level, statistic, grouping), estimate in estimates.items():
            units = pd.factorize(np.array(labels[level], object))[0]  # in the order in which they come
            table = pd.DataFrame({"level": level, "statistic": statistic, "grouping": grouping, "metric": each.metrics})
            tables.append(described(each, table.assign(value=estimate(np.ones((1, len(units))))[:, 0])))
            drawn.append(_resampled(estimate, units, resamples, seed))
    return pd.concat(tables, ignore_index=True), np.concatenate(drawn, axis=1)


def _resampled(estimate: _Values, units: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Evaluate all metrics on resamples of units: (resamples, metrics)."""
    return resample(lambda weights: estimate(weights).T, units, resamples=resamples, seed=seed)


def agreement(
    scores: Scores,
    *,
    systems: np.ndarray | None = None,
    units: Sequence[object] | None = None,
    ties: np.ndarray | None = None,
    resamples: int = 0,
    flips: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Return every metric's agreement with the human scores: metric, statistic (see ``AGREEMENT``), value, low, high.

    systems: metrics × systems, a metric's own scores of whole systems, which stand for the means of its segments; NaN
    where it has none. units: a label for each segment; what shares a label, such as a document, is drawn together;
    None draws segments. ties: human scores, systems × segments, for acc_eq, where those of ``scores`` were treated so
    that people's ties are lost. resamples: draws behind the 95 % percentile intervals; 0 leaves low and high missing.
    flips: of SPA's tests. Means of systems are taken over the cells that metric and humans scored. Undefined values are
    NaN: correlations where a side does not vary, Pearson's of fewer than three systems, SPA where no segment has them
    all.
    Source: Deutsch et al. 2023 (acc_eq), Thompson et al. 2024 (SPA), Efron & Tibshirani 1993, ch. 13 (intervals).
    Caveat: the threshold of acc_eq is calibrated on these very scores, and held fixed in the draws.

    >>> human = np.array([[3.0, 5, 4], [2, 4, 3], [1, 3, 2]])
    >>> found = agreement(Scores(("m",), tuple("ABC"), tuple("123"), human[None] ** 3, human)).set_index("statistic")
    >>> found.loc[["kendall_b", "kendall_b_within", "system_kendall_b", "acc_eq", "spa"], "value"].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    own = np.arange(len(scores.segments)) if units is None else np.asarray([str(unit) for unit in units])
    estimates: dict[str, _Values] = {
        "pearson": _pearson(scores),
        "kendall_b": _stacked([_kendall(*each) for each in _cells(scores)]),
        "kendall_b_within": _kendall_within(scores),
        "acc_eq": _accuracy(scores if ties is None else replace(scores, human=ties)),
        "system_pearson": partial(_systems, scores, systems, correlation.pearson),
        "system_kendall_b": partial(_systems, scores, systems, correlation.kendall_b),
        "spa": partial(_spa, scores, flips=flips, seed=seed),
    }
    rows: list[tuple[object, ...]] = []
    for name, estimate in estimates.items():
        value = estimate(np.ones((1, len(own))))[:, 0]
        low = high = np.full(len(value), np.nan)
        if resamples:
            drawing = partial(_spa, scores, flips=_FLIPS, seed=seed) if name == "spa" else estimate
            costly = name == "kendall_b" and scores.judged.sum() > _TABLES
            number = min(resamples, _FEWER) if costly else resamples
            low, high = defined_interval(_resampled(drawing, own, number, seed))
        rows += zip(scores.metrics, [name] * len(value), value, low, high)
    return pd.DataFrame(rows, columns=["metric", "statistic", "value", "low", "high"])


def system_means(scores: Scores, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average metrics' and human scores of each system over the cells that both scored.

    weights: draws × segments. Returns metrics and humans, both metrics × draws × systems; NaN without a cell.
    """
    x, y, both = (np.stack(side).transpose(0, 2, 1) for side in zip(*_cells(scores)))
    metric, human = (ratio(weights @ side, weights @ both.astype(float)) for side in (x, y))
    return metric, human


def _cells(scores: Scores) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each metric's scores and the human ones, 0 where one is missing, and where both are there."""
    both = np.isfinite(scores.values) & scores.judged
    return zip(np.where(both, scores.values, 0), np.where(both, scores.human, 0), both)


def _of_systems(scores: Scores) -> dict[tuple[str, str, str], _Values]:
    """Return what is estimated and the functions from weights of systems to values."""
    by_system = replace(scores, values=scores.values.swapaxes(1, 2), human=scores.human.T)
    accuracy = []
    for x, y, both in _cells(scores):
        x, y, both = x[:, 0], y[:, 0], both[:, 0]
        apart = both[:, None] & both & ~np.eye(len(x), dtype=bool)
        same = np.sign(x[:, None] - x) == np.sign(y[:, None] - y)
        accuracy.append(_share((apart & same).astype(float), apart.astype(float)))
    return {("system", "pearson", "none"): _pearson(by_system), ("system", "accuracy_3way", "none"): _stacked(accuracy)}


def _of_segments(scores: Scores, seed: int) -> dict[tuple[str, str, str], _Values]:
    """Return what is estimated and the functions from weights of segments (SPA: of systems) to values."""
    upper, near = np.triu_indices(len(scores.systems), 1), []
    for metric, human in metric_and_human_p(scores, flips=1000, seed=seed):
        pairs = np.zeros((2, len(scores.systems), len(scores.systems)))
        pairs[:, *upper] = 1 - np.abs(metric - human), np.ones(len(human))
        near.append(_share(*(pairs + pairs.swapaxes(1, 2))))
    return {
        ("segment", "pearson", "none"): _pearson(scores),
        ("segment", "kendall_b", "item"): _kendall_within(scores),
        ("segment", "acc_eq", "item"): _accuracy(scores),
        ("system", "spa", "none"): _stacked(near),
    }


def _stacked(estimates: Sequence[_Values]) -> _Values:
    """Evaluate one function per metric."""
    return lambda weights: np.stack([estimate(weights) for estimate in estimates])


def _accuracy(scores: Scores) -> _Values:
    """Average over segments the share of right pairs at the threshold calibrated on all; NaN without a pair."""
    shares = np.full(scores.values[:, 0].shape, np.nan)
    for own, (x, _, there) in zip(shares, _cells(scores), strict=True):
        compared = Comparisons(scores.human, there)
        difference = compared.differences(x)
        right = compared.right(difference, compared.calibrated(difference))
        pairs = np.bincount(compared.segment, minlength=len(own))
        own[:] = ratio(np.bincount(compared.segment, right, len(own)), pairs)
    return _mean_of_units(shares)


def _kendall_within(scores: Scores) -> _Values:
    """Average tau-b of the systems of a segment over segments."""
    return _mean_of_units(np.stack([correlation.kendall_b(values.T, scores.human.T) for values in scores.values]))


def _mean_of_units(each: np.ndarray) -> _Values:
    """Average the defined values of units, metrics × units."""
    defined = np.isfinite(each)
    return lambda weights: ratio(np.where(defined, each, 0) @ weights.T, defined.astype(float) @ weights.T)


def _share(part: np.ndarray, whole: np.ndarray) -> _Values:
    """Divide two sums over pairs of units."""
    return lambda weights: ratio(correlation.pair_sums(weights, part), correlation.pair_sums(weights, whole))


def _pearson(scores: Scores) -> _Values:
    """Correlate all cells together; what is weighted are the columns."""
    sums = []
    for x, y, both in _cells(scores):
        n = max(both.sum(), 1)
        x, y = (np.where(both, side - side.sum() / n, 0) for side in (x, y))
        sums.append(np.stack([both, x, y, x * x, y * y, x * y]).sum(axis=1, dtype=float))
    return lambda weights: np.stack([correlation.pearson_of_sums(weights @ each.T) for each in sums])


def _kendall(x: np.ndarray, y: np.ndarray, both: np.ndarray) -> _Values:
    """Prepare Kendall's tau-b of one metric over all cells together."""
    segment = np.broadcast_to(np.arange(both.shape[1]), both.shape)[both]
    if len(segment) > _TABLES:
        return partial(_counted, x[both], y[both], segment)
    clustered = correlation.Clustered(x[both], y[both], segment)
    return lambda weights: clustered(weights)[:, 1]


def _counted(x: np.ndarray, y: np.ndarray, segment: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute tau-b of each draw by counting its pairs; copies of a cell tie with each other on both sides."""
    rows = [np.repeat(np.arange(len(x)), times) for times in weights[:, segment].astype(int)]
    return np.array([stats.kendalltau(x[row], y[row]).statistic for row in rows])


def _systems(
    scores: Scores, own: np.ndarray | None, compute: Callable[..., np.ndarray], weights: np.ndarray
) -> np.ndarray:
    """Correlate systems: means of the drawn segments, or a metric's own scores where it has some."""
    metric, human = system_means(scores, weights)
    if own is not None:
        has = np.isfinite(own).any(axis=1)[:, None, None]
        every = ratio(np.where(scores.judged, scores.human, 0) @ weights.T, scores.judged @ weights.T).T
        metric, human = np.where(has, own[:, None, :], metric), np.where(has, every, human)
    few = (np.isfinite(metric) & np.isfinite(human)).sum(axis=-1) < (3 if compute is pearson else 2)
    return np.where(few, np.nan, compute(metric, human))


def _spa(scores: Scores, weights: np.ndarray, *, flips: int, seed: int) -> np.ndarray:
    """Compute soft pairwise accuracy of each draw, whose copies of a segment are flipped one by one."""
    found = np.full((len(scores.metrics), len(weights)), np.nan)
    mask = flipped(2 * len(scores.segments) + 1, flips=flips, seed=seed)
    flat = scores.values.reshape(len(scores.metrics), -1)
    varies = np.array([len(np.unique(each[np.isfinite(each)])) > 1 for each in flat])
    for cells, members in patterns(scores):
        columns, members = np.flatnonzero(cells.all(axis=0)), members[varies[members]]
        if not (len(columns) and len(members)):
            continue
        for place, times in enumerate(weights[:, columns].astype(int)):
            drawn = np.repeat(columns, times)
            if len(drawn):
                rows = mask[np.arange(len(drawn)) % len(mask)]
                human = confidences((scores.human[:, drawn] @ rows)[:, None])[0]
                metric = confidences((scores.values[members][:, :, drawn] @ rows).swapaxes(0, 1))
                found[members, place] = soft_accuracy(metric, human)
    return found
