r"""Few human scores and many metric scores: estimates whose intervals hold however wrong the metric is.

All estimates of a mean are

.. math:: \hat\theta_\lambda = \bar y + \lambda \, (\bar f_{rest} - \bar f_{judged})

with human scores y of n judged segments and a metric's scores f of these and of N others. They differ in the weight
:math:`\lambda` alone: 0 is the mean of the human scores, 1 takes the metric at its word.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.metrics.metaeval.scores import Scores
from evalkit.stats.correlation import ratio

#: Ways to estimate a mean.
METHODS = ("classical", "control variate", "PPI", "PPI++")
#: What is estimated of systems.
WHAT = ("mean of a system", "difference of two systems")


class Moments(NamedTuple):
    """Hold what every method needs; arrays of one shape, an entry per sample. Variances divide by the number.

    n, others: how many segments were judged, and how many others the metric scored.
    """

    human: np.ndarray
    judged: np.ndarray
    rest: np.ndarray
    var_human: np.ndarray
    var_judged: np.ndarray
    var_rest: np.ndarray
    covariance: np.ndarray
    n: int | np.ndarray
    others: int | np.ndarray


class Estimate(NamedTuple):
    """Hold estimates with the ends of their intervals and the weight that the metric got."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


def mean(
    human: ArrayLike, judged: ArrayLike, rest: ArrayLike, *, method: str = "PPI++", level: float = 0.95
) -> Estimate:
    """Estimate a mean of human scores from those of a few segments and a metric's scores of these and others.

    human, judged: (..., n), the human and the metric's scores of the same segments, or differences of two systems on
    them; rest: (..., N), the metric's scores of other segments. Leading axes are samples. method, one of ``METHODS``:
    "classical" uses human scores alone (t interval); "PPI" adds the metric as it is, and is of use only where the
    metric speaks in the unit of human scores; "PPI++" chooses the weight between 0 and 1 that makes the variance least;
    "control variate" does so without these bounds, and takes t with n - 2 degrees of freedom.
    Source: Angelopoulos et al. 2023 (PPI); Angelopoulos, Duchi & Zrnic 2023 (PPI++); Chaganty et al. 2018.
    Caveat: segments must be drawn at random, judged ones and others alike, and independent: those of one document are
    not. Intervals of PPI and PPI++ are of large samples: under some 50 segments they hold a little less than they say.
    Raises DataError for an unknown method and for fewer than 3 judged segments or 2 others.

    >>> found = mean([70.0, 80, 60, 90], [0.7, 0.8, 0.6, 0.9], [0.5, 0.6, 0.4], method="control variate")
    >>> round(float(found.value), 3), round(float(found.weight), 3)
    (64.286, 42.857)
    """
    y, f, others = (np.asarray(side, float) for side in (human, judged, rest))
    if y.shape[-1] < 3 or others.shape[-1] < 2 or y.shape[-1] != f.shape[-1]:
        raise DataError("Give 3 judged segments or more, each with a metric's score, and 2 others or more.")
    covariance = ((y - y.mean(-1, keepdims=True)) * f).mean(-1)
    sizes = (y.shape[-1], others.shape[-1])
    spreads = (y.var(-1), f.var(-1), others.var(-1), covariance)
    return estimate(Moments(y.mean(-1), f.mean(-1), others.mean(-1), *spreads, *sizes), method=method, level=level)


def estimate(found: Moments, *, method: str = "PPI++", level: float = 0.95) -> Estimate:
    """Estimate means from moments; see ``mean``."""
    if method not in METHODS:
        raise DataError(f"There is no method {method!r}. Choose among {', '.join(METHODS)}.")
    n, others = found.n, found.others
    lost = {"classical": 1, "control variate": 2}.get(method, 0)
    weight = tuned(found, method)
    residual = found.var_human - 2 * weight * found.covariance + weight**2 * found.var_judged
    variance = np.maximum(residual, 0) / (n - lost) + weight**2 * found.var_rest / others
    tail = (1 + level) / 2
    reach = (stats.t.ppf(tail, n - lost) if lost else stats.norm.ppf(tail)) * np.sqrt(variance)
    value = found.human + weight * (found.rest - found.judged)
    return Estimate(value, value - reach, value + reach, weight)


def tuned(found: Moments, method: str) -> np.ndarray:
    """Say how much the metric counts by one of ``METHODS``: an entry per sample."""
    n, others = found.n, found.others
    if method in ("classical", "PPI"):
        return np.full(np.shape(found.human), float(method == "PPI"))
    if method == "control variate":  # the slope of a line through the judged ones; the mean is over all segments
        return np.nan_to_num(ratio(found.covariance, found.var_judged)) * others / (n + others)
    gap = n * others / (n + others) * (found.judged - found.rest) ** 2
    pooled = (n * found.var_judged + others * found.var_rest + gap) / (n + others - 1)
    return np.clip(np.nan_to_num(ratio(found.covariance, (1 + n / others) * pooled)), 0, 1)


@dataclass(frozen=True, eq=False)
class Pool:
    """Keep what can be estimated: rows of human and metric scores, estimands × segments, and what each row is.

    what: one of ``WHAT`` for each row. names: the system, or the two. segments: their names. A row has no gaps.
    """

    human: np.ndarray
    metric: np.ndarray
    what: np.ndarray
    names: tuple[str, ...]
    segments: tuple[str, ...]


def pool(scores: Scores, metric: str) -> Pool:
    """Lay out all means of systems, and all differences of two of them, on the segments that all systems have.

    Systems stand best first. Raises DataError where fewer than three segments are whole.
    """
    own = scores.only([metric])
    whole = (np.isfinite(own.values[0]) & own.judged).all(axis=0)
    if whole.sum() < 3:
        raise DataError(f"{metric} and humans scored fewer than three segments of all systems.")
    human, values = own.human[:, whole], own.values[0][:, whole]
    order = np.argsort(-human.mean(axis=1), kind="stable")
    human, values, systems = human[order], values[order], [own.systems[place] for place in order]
    one, two = np.array(list(itertools.combinations(range(len(systems)), 2))).T
    names = (*systems, *(f"{systems[a]} − {systems[b]}" for a, b in zip(one, two, strict=True)))
    sides = [np.concatenate([side, side[one] - side[two]]) for side in (human, values)]
    segments = tuple(np.array(own.segments, dtype=object)[whole])
    return Pool(sides[0], sides[1], np.repeat(WHAT, [len(systems), len(one)]), names, segments)


def line(scores: Scores, metric: str) -> tuple[float, float]:
    """Fit human scores by a straight line of a metric's: slope and intercept, over all cells that have both."""
    own = scores.only([metric])
    both = np.isfinite(own.values[0]) & own.judged
    slope, intercept = np.polyfit(own.values[0][both], own.human[both], 1)
    return float(slope), float(intercept)


def moved(pooled: Pool, slope: float, intercept: float) -> Pool:
    """Put a pool's metric into the unit of human scores by a line that was learnt elsewhere."""
    means = (pooled.what == WHAT[0])[:, None]
    return replace(pooled, metric=slope * pooled.metric + intercept * means)


def saved(scores: Scores) -> pd.DataFrame:
    """Say for each metric which share of human judgements it can save at most, for means and for differences.

    Returns metric, what, r (mean over systems, or over pairs of systems, of Pearson's correlation between metric and
    human scores, or differences), saved (mean of r squared), lowest and highest (of a single system, or pair): with
    the metric on endless segments, the variance of the estimate falls by r squared, and so does the number of
    judgements for the same interval.

    >>> human = np.array([[1.0, 2, 3, 4], [2, 2, 5, 1]])
    >>> saved(Scores(("m",), ("A", "B"), tuple("1234"), human[None] * 2, human))[["what", "saved"]].values.tolist()
    [['mean of a system', 1.0], ['difference of two systems', 1.0]]
    """
    tables = []
    for name in scores.metrics:
        pooled = pool(scores, name)
        y, f = (side - side.mean(axis=1, keepdims=True) for side in (pooled.human, pooled.metric))
        r = ratio((y * f).sum(axis=1), np.sqrt((y**2).sum(axis=1) * (f**2).sum(axis=1)))
        by_what = pd.DataFrame({"r": r, "saved": r**2}).groupby(pooled.what, sort=False)
        table = by_what.mean().assign(lowest=by_what["saved"].min(), highest=by_what["saved"].max())
        tables.append(table.rename_axis("what").reset_index().assign(metric=name))
    return pd.concat(tables, ignore_index=True)[["metric", "what", "r", "saved", "lowest", "highest"]].round(12)


def most_saving(table: pd.DataFrame, *, number: int = 2) -> list[str]:
    """Name the metrics that save most judgements for differences of systems: the result of ``saved``, best first."""
    own = table[table["what"] == WHAT[1]]
    return own.sort_values("saved", ascending=False, kind="stable")["metric"].head(number).tolist()
