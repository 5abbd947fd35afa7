"""How far could a statistic have come out otherwise? Bootstrap intervals from weighted sums.

A resample is a vector of weights, how often each segment, or each system, was drawn. Every statistic here but SPA is a
function of sums that are linear or quadratic in the weights, so one product per metric evaluates all resamples.

``bootstrap`` draws segments (or documents) for statistics of segments, and systems where systems are compared.
``agreement`` draws texts for every statistic: a campaign's systems are given, and its texts are a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.metrics.scores import Scores, described, patterns
from evalkit.metrics.statistics import (
    STATISTICS,
    Comparisons,
    confidences,
    evaluate,
    flipped,
    metric_and_human_p,
    soft_accuracy,
)
from evalkit.stats import correlation
from evalkit.stats.correlation import ratio
from evalkit.stats.inference import defined_interval, resample

#: What ``agreement`` computes: name -> level, statistic and grouping as in ``statistics``. kendall_b: over all items
#: together; kendall_b_within: of the systems of each segment, averaged over segments.
AGREEMENT = {
    "pearson": ("segment", "pearson", "none"),
    "kendall_b": ("segment", "kendall_b", "none"),
    "kendall_b_within": ("segment", "kendall_b", "item"),
    "acc_eq": ("segment", "acc_eq", "item"),
    "system_pearson": ("system", "pearson", "none"),
    "system_kendall_b": ("system", "kendall_b", "none"),
    "spa": ("system", "spa", "none"),
}
_UNITS = ("segment", "document")  # what is drawn where scores are of segments
_TABLES = 4000  # cells up to which pairs of cells are kept for all draws; above, each draw counts them anew
_FEWER = 100  # draws there
_FLIPS = 200  # of the tests in a draw
_Values = Callable[[np.ndarray], np.ndarray]  # weights, resamples × units, to values, metrics × resamples


def bootstrap(
    *scores: Scores, resamples: int = 1000, flips: int = 1000, unit: str = "segment", seed: int = 7
) -> pd.DataFrame:
    """Return every metric's statistics with 95 % percentile intervals.

    Scores of segments are resampled by segment, all systems of a segment together, scores of systems by system, and SPA
    by system too. unit: "document" draws whole documents in place of single segments. A resample's copies of one system
    are not compared with one another. The threshold of acc_eq is held fixed.
    Returns data, pair, level, statistic, grouping, metric, value, low, high for the statistics of ``statistics``.
    Caveat: intervals of two metrics overlap more than the difference of the two is uncertain, because both are drawn on
    the same data: compare metrics by ``significance``. With a dozen systems, intervals over systems are rough.
    Source: Efron & Tibshirani 1993, ch. 13; Deutsch, Dror & Roth 2021 (BOOT-INPUTS, BOOT-SYSTEMS).
    """
    tables = []
    for each in scores:
        table, drawn = draws(each, resamples=resamples, flips=flips, unit=unit, seed=seed)
        low, high = defined_interval(drawn)
        tables.append(described(each, table.assign(low=low, high=high)))
    return pd.concat(tables, ignore_index=True)


def draws(
    scores: Scores, *, resamples: int = 1000, flips: int = 1000, unit: str = "segment", seed: int = 7
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return level, statistic, grouping, metric and value, and what each row came to in every resample.

    The second is resamples × rows. All metrics are evaluated on the same resamples, so that differences between rows of
    one statistic are those of pairs. Options and caveats: see ``intervals``. Raises DataError for an unknown unit.
    """
    if unit not in _UNITS:
        raise DataError(f"There is no unit {unit!r} to draw. Choose {' or '.join(_UNITS)}.")
    estimates = _of_systems(scores) if scores.level == "system" else _of_segments(scores, flips, seed)
    segments = scores.segments if unit == "segment" else scores.documents
    tables, drawn = [], []
    for level, units in (("segment", segments), ("system", scores.systems)):
        chosen = {key: estimate for key, estimate in estimates.items() if key[0] == level}
        if not chosen:
            continue

        def every(weights: np.ndarray, chosen: dict[tuple[str, str, str], _Values] = chosen) -> np.ndarray:
            return np.concatenate([estimate(weights) for estimate in chosen.values()]).T

        rows = pd.MultiIndex.from_tuples([(*key, name) for key in chosen for name in scores.metrics])
        table = rows.to_frame(index=False, name=["level", "statistic", "grouping", "metric"])
        tables.append(table.assign(value=every(np.ones((1, len(units))))[0]))
        places = pd.factorize(pd.Series(units, dtype=object))[0]  # in the order in which they come
        drawn.append(resample(every, places, resamples=resamples, seed=seed))
    return pd.concat(tables, ignore_index=True), np.concatenate(drawn, axis=1)


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
    parts: dict[str, _Values] = {
        "pearson": _pooled(scores),
        "kendall_b": _stacked([_kendall(*each) for each in _cells(scores)]),
        "kendall_b_within": _within(scores, ["kendall_b"])["kendall_b"],
        "acc_eq": _accuracy(scores if ties is None else replace(scores, human=ties)),
        "system_pearson": partial(_systems, scores, systems, correlation.pearson),
        "system_kendall_b": partial(_systems, scores, systems, correlation.kendall_b),
        "spa": partial(_spa, scores, flips=flips, seed=seed),
    }
    rows: list[tuple[object, ...]] = []
    for name, evaluated in parts.items():
        value = evaluated(np.ones((1, len(scores.segments))))[:, 0]
        low = high = np.full(len(value), np.nan)
        if resamples:
            drawing = partial(_spa, scores, flips=_FLIPS, seed=seed) if name == "spa" else evaluated
            costly = name == "kendall_b" and scores.judged.sum() > _TABLES
            draws = min(resamples, _FEWER) if costly else resamples
            low, high = defined_interval(resample(partial(_turned, drawing), own, resamples=draws, seed=seed))
        rows += zip(scores.metrics, [name] * len(value), value, low, high)
    return pd.DataFrame(rows, columns=["metric", "statistic", "value", "low", "high"])


def system_means(scores: Scores, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average metrics' and human scores of each system over the cells that both scored.

    weights: draws × segments. Returns metrics and humans, both metrics × draws × systems; NaN without a cell.
    """
    both = np.isfinite(scores.values) & scores.judged
    count = weights @ both.transpose(0, 2, 1).astype(float)
    sides = (np.where(both, scores.values, 0), np.where(both, scores.human, 0))
    sums = (weights @ side.transpose(0, 2, 1) for side in sides)
    metric, human = (ratio(total, count) for total in sums)
    return metric, human


def _cells(scores: Scores) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each metric's scores and the human ones, 0 where one is missing, and where both are there."""
    both = np.isfinite(scores.values) & scores.judged
    return zip(np.where(both, scores.values, 0), np.where(both, scores.human, 0), both)


def _of_systems(scores: Scores) -> dict[tuple[str, str, str], _Values]:
    """Return what is estimated and the functions from weights of systems to values."""
    made: dict[str, list[_Values]] = {}
    for cells in _cells(scores):
        x, y, both = (side[:, 0] for side in cells)
        one, other = (np.sign(side[:, None] - side) for side in (x, y))
        apart = (both[:, None] & both & ~np.eye(len(x), dtype=bool)).astype(float)
        same, untied = apart * (one == other), apart * (other != 0)
        made.setdefault("pearson", []).append(_pearson(x[None, None], y[None, None], both[None, None]))
        made.setdefault("spearman", []).append(_spearman(x, y, both))
        tau = {"balance": apart * one * other, "untied_x": apart * (one != 0), "untied_y": untied}
        made.setdefault("kendall_b", []).append(partial(correlation.kendall_b_of_pairs, **tau))
        made.setdefault("accuracy_2way", []).append(_share(same * (other != 0), untied))
        made.setdefault("accuracy_3way", []).append(_share(same, apart))
    return {("system", name, "none"): _stacked(each) for name, each in made.items()}


def _of_segments(scores: Scores, flips: int, seed: int) -> dict[tuple[str, str, str], _Values]:
    """Return what is estimated and the functions from weights of segments (SPA: of systems) to values."""
    cells = list(_cells(scores))
    made = {
        ("segment", "pearson", "none"): _pooled(scores),
        ("segment", "pearson", "system"): _stacked([_pearson(*(side[:, None] for side in each)) for each in cells]),
    }
    made |= {("segment", name, "item"): each for name, each in _within(scores, STATISTICS).items()}
    made["segment", "acc_eq", "item"] = _accuracy(scores)
    near = []
    upper = np.triu_indices(len(scores.systems), 1)
    for metric, human in metric_and_human_p(scores, flips=flips, seed=seed):
        pairs = np.zeros((2, len(scores.systems), len(scores.systems)))
        pairs[:, *upper] = 1 - np.abs(metric - human), np.ones(len(human))
        near.append(_share(*(pairs + pairs.swapaxes(1, 2))))
    return made | {("system", "spa", "none"): _stacked(near)}


def _stacked(estimates: Sequence[_Values]) -> _Values:
    """Evaluate one function per metric."""
    return lambda weights: np.stack([estimate(weights) for estimate in estimates])


def _pooled(scores: Scores) -> _Values:
    """Correlate all cells together."""
    return _stacked([_pearson(*(side[None] for side in each)) for each in _cells(scores)])


def _accuracy(scores: Scores) -> _Values:
    """Average over segments the share of right pairs at the threshold calibrated on all; NaN without a pair."""
    shares = np.full(scores.values[:, 0].shape, np.nan)
    for own, (x, _, there) in zip(shares, _cells(scores), strict=True):
        compared = Comparisons(scores.human, there)
        if compared.segments:
            difference = compared.differences(x)
            right = compared.right(difference, compared.calibrated(difference))
            pairs = np.bincount(compared.segment, minlength=len(own))
            own[:] = ratio(np.bincount(compared.segment, right, len(own)), pairs)
    return _mean_of_units(shares)


def _mean_of_units(each: np.ndarray) -> _Values:
    """Average the defined values of units, metrics × units."""
    defined = np.isfinite(each)
    return lambda weights: ratio(np.where(defined, each, 0) @ weights.T, defined.astype(float) @ weights.T)


def _share(part: np.ndarray, whole: np.ndarray) -> _Values:
    """Divide two sums over pairs of units."""
    return lambda weights: ratio(correlation.pair_sums(weights, part), correlation.pair_sums(weights, whole))


def _pearson(x: np.ndarray, y: np.ndarray, both: np.ndarray) -> _Values:
    """Correlate x and y, groups × cells × units, within each group, and average."""
    n = np.maximum(both.sum(axis=(1, 2), keepdims=True), 1)
    x, y = (np.where(both, side - side.sum(axis=(1, 2), keepdims=True) / n, 0) for side in (x, y))
    sums = np.stack([both, x, y, x * x, y * y, x * y]).sum(axis=2, dtype=float).swapaxes(0, 1)  # groups × 6 × units

    def estimate(weights: np.ndarray) -> np.ndarray:
        each = correlation.pearson_of_sums((weights @ sums.reshape(-1, sums.shape[2]).T).reshape(-1, *sums.shape[:2]))
        return ratio(np.where(np.isfinite(each), each, 0).sum(axis=1), np.isfinite(each).sum(axis=1))

    return estimate


def _spearman(x: np.ndarray, y: np.ndarray, both: np.ndarray) -> _Values:
    """Correlate ranks, taken anew in each resample; the copies of a system share theirs."""
    below = [((side[:, None] > side) + (side[:, None] == side) / 2) * both for side in (x, y)]

    def estimate(weights: np.ndarray) -> np.ndarray:
        weights = weights * both
        ranks = [weights @ each.T - weights.sum(axis=1, keepdims=True) / 2 for each in below]
        products = (both * 1.0, *ranks, ranks[0] ** 2, ranks[1] ** 2, ranks[0] * ranks[1])
        return correlation.pearson_of_sums(np.stack([(weights * each).sum(axis=1) for each in products], axis=-1))

    return estimate


def _turned(evaluated: _Values, weights: np.ndarray) -> np.ndarray:
    return evaluated(weights).T


def _kendall(x: np.ndarray, y: np.ndarray, both: np.ndarray) -> _Values:
    """Prepare Kendall's tau-b of one metric over all cells together."""
    segment = np.broadcast_to(np.arange(both.shape[1]), both.shape)[both]
    if len(segment) > _TABLES:
        return partial(_counted, x[both], y[both], segment)
    if not len(segment):
        return lambda weights: np.full(len(weights), np.nan)
    clustered = correlation.Clustered(x[both], y[both], segment)
    return lambda weights: clustered(weights)[:, 1]


def _counted(x: np.ndarray, y: np.ndarray, segment: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute tau-b of each draw by counting its pairs; copies of a cell tie with each other on both sides."""
    rows = [np.repeat(np.arange(len(x)), times) for times in weights[:, segment].astype(int)]
    return np.array([stats.kendalltau(x[row], y[row]).statistic for row in rows])


def _within(scores: Scores, statistics: Sequence[str]) -> dict[str, _Values]:
    """Average statistics of the systems of a segment over segments."""
    sides = [(np.where(there, x, np.nan).T, np.where(there, y, np.nan).T) for x, y, there in _cells(scores)]
    each = [evaluate(x, y, statistics) for x, y in sides]
    return {name: _mean_of_units(np.stack([metric[name] for metric in each])) for name in statistics}


def _systems(
    scores: Scores, own: np.ndarray | None, compute: Callable[..., np.ndarray], weights: np.ndarray
) -> np.ndarray:
    """Correlate systems: means of the drawn segments, or a metric's own scores where it has some."""
    metric, human = system_means(scores, weights)
    if own is not None:
        has = np.isfinite(own).any(axis=1)[:, None, None]
        every = ratio(np.where(scores.judged, scores.human, 0) @ weights.T, scores.judged @ weights.T).T
        metric, human = np.where(has, own[:, None, :], metric), np.where(has, every, human)
    few = (np.isfinite(metric) & np.isfinite(human)).sum(axis=-1) < (3 if compute is correlation.pearson else 2)
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
