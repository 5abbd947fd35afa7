"""Hold metrics against human scores by segments and by systems, with intervals that draw the texts anew.

``intervals`` draws systems where systems are compared; a campaign's systems are given and its texts are a sample, so
here segments, or their documents, are drawn for every statistic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.metrics.metaeval.intervals import mean_of_units, pearson_of_units, right_by_segment, stacked
from evalkit.metrics.metaeval.scores import Scores, patterns
from evalkit.metrics.metaeval.spa import confidences, flipped, soft_accuracy
from evalkit.stats import correlation
from evalkit.stats.inference import defined_interval, resample

#: What is computed: name -> level, statistic and grouping as in ``correlations``. kendall_b: over all items together;
#: kendall_b_within: of the systems of each segment, averaged over segments.
STATISTICS = {
    "pearson": ("segment", "pearson", "none"),
    "kendall_b": ("segment", "kendall_b", "none"),
    "kendall_b_within": ("segment", "kendall_b", "item"),
    "acc_eq": ("segment", "acc_eq", "item"),
    "system_pearson": ("system", "pearson", "none"),
    "system_kendall_b": ("system", "kendall_b", "none"),
    "spa": ("system", "spa", "none"),
}
_TABLES = 4000  # cells up to which pairs of cells are kept for all draws; above, each draw counts them anew
_FEWER = 100  # draws there
_FLIPS = 200  # of the tests in a draw
_Values = Callable[[np.ndarray], np.ndarray]  # weights, draws × segments, to values, metrics × draws


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
    """Return every metric's agreement with the human scores: metric, statistic (see ``STATISTICS``), value, low, high.

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
    accuracy = _accuracy(scores if ties is None else replace(scores, human=ties))
    tests: _Values = partial(_spa, scores, flips=flips, seed=seed)
    parts: dict[str, _Values] = {
        "pearson": _pearson(scores),
        "kendall_b": _kendall(scores),
        "kendall_b_within": _within(scores),
        "acc_eq": accuracy,
        "system_pearson": _systems(scores, systems, correlation.pearson),
        "system_kendall_b": _systems(scores, systems, correlation.kendall_b),
        "spa": tests,
    }
    once = np.ones((1, len(scores.segments)))
    rows: list[tuple[object, ...]] = []
    for name, evaluate in parts.items():
        value = evaluate(once)[:, 0]
        low = high = np.full(len(value), np.nan)
        if resamples:
            many = name == "kendall_b" and scores.judged.sum() > _TABLES
            drawing: _Values = partial(_spa, scores, flips=_FLIPS, seed=seed) if name == "spa" else evaluate
            draws = min(resamples, _FEWER) if many else resamples
            drawn = resample(partial(_turned, drawing), own, resamples=draws, seed=seed)
            low, high = defined_interval(drawn)
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
    metric, human = (correlation.ratio(total, count) for total in sums)
    return metric, human


def _turned(evaluate: _Values, weights: np.ndarray) -> np.ndarray:
    return evaluate(weights).T


def _cells(scores: Scores) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each metric's scores and the human ones, 0 where one is missing, and where both are there."""
    both = np.isfinite(scores.values) & scores.judged
    return zip(np.where(both, scores.values, 0), np.where(both, scores.human, 0), both)


def _pearson(scores: Scores) -> _Values:
    return stacked([pearson_of_units(*(side[None] for side in each)) for each in _cells(scores)])


def _kendall(scores: Scores) -> _Values:
    """Prepare Kendall's tau-b over all cells together."""
    segment = np.broadcast_to(np.arange(len(scores.segments)), scores.human.shape).ravel()
    made: list[_Values] = []
    for values in scores.values:
        there = np.isfinite(values.ravel()) & np.isfinite(scores.human.ravel())
        x, y, own = values.ravel()[there], scores.human.ravel()[there], segment[there]
        if len(x) > _TABLES:
            made.append(partial(_counted, x, y, own))
        else:
            made.append(partial(_clustered, correlation.Clustered(x, y, own)) if len(x) else _undefined)
    return stacked(made)


def _undefined(weights: np.ndarray) -> np.ndarray:
    return np.full(len(weights), np.nan)


def _clustered(pairs: correlation.Clustered, weights: np.ndarray) -> np.ndarray:
    return pairs(weights)[:, 1]


def _counted(x: np.ndarray, y: np.ndarray, segment: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute tau-b of each draw by counting its pairs; copies of a cell tie with each other on both sides."""
    times = weights[:, segment].astype(int)
    rows = [np.repeat(np.arange(len(x)), each) for each in times]
    return np.array([stats.kendalltau(x[row], y[row]).statistic for row in rows])


def _within(scores: Scores) -> _Values:
    one_by_one = [
        correlation.kendall_b(np.where(there, x, np.nan).T, np.where(there, y, np.nan).T)
        for x, y, there in _cells(scores)
    ]
    return mean_of_units(np.stack(one_by_one))


def _accuracy(scores: Scores) -> _Values:
    return mean_of_units(np.stack([right_by_segment(scores.human, there, x) for x, _, there in _cells(scores)]))


def _systems(scores: Scores, own: np.ndarray | None, compute: Callable[..., np.ndarray]) -> _Values:
    """Prepare a correlation of systems."""

    def evaluate(weights: np.ndarray) -> np.ndarray:
        metric, human = system_means(scores, weights)
        if own is not None:
            told = np.isfinite(own).any(axis=1)
            metric = np.where(told[:, None, None], own[:, None, :], metric)
            every = np.where(scores.judged, scores.human, 0) @ weights.T / np.maximum(scores.judged @ weights.T, 1e-300)
            whole = np.where(np.asarray(scores.judged.any(axis=1))[:, None], every, np.nan).T
            human = np.where(told[:, None, None], whole, human)
        found = compute(metric, human)
        few = (np.isfinite(metric) & np.isfinite(human)).sum(axis=-1) < (3 if compute is correlation.pearson else 2)
        return np.where(few, np.nan, found)

    return evaluate


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
