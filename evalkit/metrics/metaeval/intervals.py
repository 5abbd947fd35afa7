"""How far could a statistic have come out otherwise? Bootstrap intervals from weighted sums.

A resample is a vector of weights, how often each segment, or each system, was drawn. Every statistic here is a function
of sums that are linear or quadratic in the weights, so one product per metric evaluates all resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.metaeval.correlations import STATISTICS, evaluate
from evalkit.metrics.metaeval.scores import Scores, described
from evalkit.metrics.metaeval.spa import metric_and_human_p
from evalkit.metrics.metaeval.ties import Comparisons
from evalkit.stats import correlation
from evalkit.stats.correlation import ratio
from evalkit.stats.inference import interval, resample

#: Statistics with intervals, as (level, statistic, grouping).
ESTIMATED = (
    *(("system", name, "none") for name in ("pearson", "spearman", "kendall_b", "accuracy_2way", "accuracy_3way")),
    *(("segment", "pearson", grouping) for grouping in ("none", "item", "system")),
    *(("segment", name, "item") for name in ("spearman", "kendall_b", "kendall_c", "accuracy_2way", "accuracy_3way")),
    ("segment", "acc_eq", "item"),
    ("system", "spa", "none"),
)

#: What is drawn again where scores are of segments.
_UNITS = ("segment", "document")

_Values = Callable[[np.ndarray], np.ndarray]  # weights, (resamples, units), to values, (resamples,) or more of them
_Estimate = tuple[tuple[str, str, str], _Values]


def intervals(
    *scores: Scores, resamples: int = 1000, flips: int = 1000, unit: str = "segment", seed: int = 7
) -> pd.DataFrame:
    """Return every metric's statistics with 95 % percentile intervals.

    Scores of segments are resampled by segment, all systems of a segment together, scores of systems by system, and SPA
    by system too. unit: "document" draws whole documents in place of single segments. A resample's copies of one system
    are not compared with one another. The threshold of acc_eq is held fixed.
    Returns data, pair, level, statistic, grouping, metric, value, low, high for the statistics in ``ESTIMATED``.
    Caveat: intervals of two metrics overlap more than the difference of the two is uncertain, because both are drawn on
    the same data: compare metrics by ``significance``. With a dozen systems, intervals over systems are rough.
    Source: Efron & Tibshirani 1993, ch. 13; Deutsch, Dror & Roth 2021 (BOOT-INPUTS, BOOT-SYSTEMS).
    """
    parts = [(each, *draws(each, resamples=resamples, flips=flips, unit=unit, seed=seed)) for each in scores]
    return pd.concat([described(each, _with_ends(table, drawn)) for each, table, drawn in parts], ignore_index=True)


def draws(
    scores: Scores, *, resamples: int = 1000, flips: int = 1000, unit: str = "segment", seed: int = 7
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return level, statistic, grouping, metric and value, and what each row came to in every resample.

    The second is resamples × rows. All metrics are evaluated on the same resamples, so that differences between rows of
    one statistic are those of pairs. Options and caveats: see ``intervals``. Raises DataError for an unknown unit.
    """
    if unit not in _UNITS:
        raise DataError(f"There is no unit {unit!r} to draw. Choose {' or '.join(_UNITS)}.")
    estimates = dict(_of_systems(scores) if scores.level == "system" else _of_segments(scores, flips, seed))
    documents = [name.rsplit(":", 1)[0] for name in scores.segments]
    tables, drawn = [], []
    for of, units in (("segment", scores.segments if unit == "segment" else documents), ("system", scores.systems)):
        chosen = {key: estimate for key, estimate in estimates.items() if key[0] == of}
        if not chosen:
            continue
        every = partial(_every, tuple(chosen.values()))
        rows = pd.MultiIndex.from_tuples([(*key, name) for key in chosen for name in scores.metrics])
        table = rows.to_frame(index=False, name=["level", "statistic", "grouping", "metric"])
        tables.append(table.assign(value=every(np.ones((1, len(units))))[0]))
        drawn.append(resample(every, _codes(units), resamples=resamples, seed=seed))
    return pd.concat(tables, ignore_index=True), np.concatenate(drawn, axis=1)


def _codes(units: Sequence[str]) -> np.ndarray:
    """Number units in the order in which they come."""
    return pd.factorize(pd.Series(units, dtype=object))[0]


def _with_ends(table: pd.DataFrame, drawn: np.ndarray) -> pd.DataFrame:
    ends = np.array([_ends(each) for each in drawn.T])
    return table.assign(low=ends[:, 0], high=ends[:, 1])


def _every(estimates: Sequence[_Values], weights: np.ndarray) -> np.ndarray:
    """Evaluate all statistics of all metrics, (resamples, statistics × metrics)."""
    return np.concatenate([estimate(weights) for estimate in estimates]).T


def _ends(drawn: np.ndarray) -> tuple[float, float]:
    """Return the interval of the resamples in which a statistic is defined."""
    defined = drawn[np.isfinite(drawn)]
    low, high = interval(defined) if len(defined) else (np.nan, np.nan)
    return float(low), float(high)


def _of_systems(scores: Scores) -> Iterator[_Estimate]:
    """Yield what is estimated and the function from weights of systems to values, metrics × resamples."""
    found: dict[str, list[_Values]] = {}
    human = scores.human[:, 0]
    for values in scores.values[:, :, 0]:
        both = np.isfinite(values) & np.isfinite(human)
        x, y = np.where(both, values, 0), np.where(both, human, 0)
        one, other = (np.sign(side[:, None] - side) for side in (x, y))
        apart = (both[:, None] & both & ~np.eye(len(x), dtype=bool)).astype(float)
        same = apart * (one == other)
        found.setdefault("pearson", []).append(pearson_of_units(x[None, None], y[None, None], both[None, None]))
        found.setdefault("spearman", []).append(_spearman(x, y, both))
        found.setdefault("kendall_b", []).append(_tau(apart * one * other, apart * (one != 0), apart * (other != 0)))
        found.setdefault("accuracy_2way", []).append(_share(same * (other != 0), apart * (other != 0)))
        found.setdefault("accuracy_3way", []).append(_share(same, apart))
    for name, estimates in found.items():
        yield ("system", name, "none"), stacked(estimates)


def _of_segments(scores: Scores, flips: int, seed: int) -> Iterator[_Estimate]:
    """Yield what is estimated and the function from weights of segments (SPA: of systems) to metrics × resamples."""
    both = np.isfinite(scores.values) & scores.judged
    cells = list(zip(np.where(both, scores.values, 0), np.where(both, scores.human, 0), both))
    yield ("segment", "pearson", "none"), stacked([pearson_of_units(*(side[None] for side in each)) for each in cells])
    yield (
        ("segment", "pearson", "system"),
        stacked([pearson_of_units(*(side[:, None] for side in each)) for each in cells]),
    )
    of_items = [evaluate(np.where(there, x, np.nan).T, np.where(there, y, np.nan).T) for x, y, there in cells]
    for name in STATISTICS:
        yield ("segment", name, "item"), mean_of_units(np.stack([each[name] for each in of_items]))
    right = [right_by_segment(scores.human, there, x) for x, _, there in cells]
    yield ("segment", "acc_eq", "item"), mean_of_units(np.stack(right))
    near = []
    upper = np.triu_indices(len(scores.systems), 1)
    for metric, human in metric_and_human_p(scores, flips=flips, seed=seed):
        pairs = np.zeros((2, len(scores.systems), len(scores.systems)))
        pairs[:, *upper] = 1 - np.abs(metric - human), np.ones(len(human))
        near.append(_share(*(pairs + pairs.swapaxes(1, 2))))
    yield ("system", "spa", "none"), stacked(near)


def stacked(estimates: Sequence[_Values]) -> _Values:
    """Evaluate one function per metric."""
    return lambda weights: np.stack([estimate(weights) for estimate in estimates])


def right_by_segment(human: np.ndarray, both: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the share of right pairs of each segment at the calibrated threshold; NaN without a pair."""
    compared = Comparisons(human, both)
    shares = np.full(human.shape[1], np.nan)
    if compared.segments:
        difference = compared.differences(x)
        right = compared.right(difference, compared.calibrated(difference)[1])
        pairs = np.bincount(compared.segment, minlength=len(shares))
        shares[pairs > 0] = (np.bincount(compared.segment, right, len(shares)) / np.maximum(pairs, 1))[pairs > 0]
    return shares


def mean_of_units(each: np.ndarray) -> _Values:
    """Average the defined values of units, metrics × units."""
    defined = np.isfinite(each)
    return lambda weights: ratio(np.where(defined, each, 0) @ weights.T, defined.astype(float) @ weights.T)


def _share(part: np.ndarray, whole: np.ndarray) -> _Values:
    """Divide two sums over pairs of units."""
    return lambda weights: ratio(correlation.pair_sums(weights, part), correlation.pair_sums(weights, whole))


def _tau(balance: np.ndarray, untied_x: np.ndarray, untied_y: np.ndarray) -> _Values:
    """Divide the balance of pairs by the geometric mean of pairs untied in x and in y."""
    return lambda weights: correlation.kendall_b_of_pairs(weights, balance, untied_x, untied_y)


def pearson_of_units(x: np.ndarray, y: np.ndarray, both: np.ndarray) -> _Values:
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
