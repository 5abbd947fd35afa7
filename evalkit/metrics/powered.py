r"""Few human scores and many metric scores: estimates whose intervals hold however wrong the metric is.

All estimates of a mean are

.. math:: \hat\theta_\lambda = \bar y + \lambda \, (\bar f_{rest} - \bar f_{judged})

with human scores y of n judged segments and a metric's scores f of these and of N others. They differ in the weight
:math:`\lambda` alone: 0 is the mean of the human scores, 1 takes the metric at its word.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """Hold what every method needs; arrays of one shape, an entry per sample. Variances divide by the number."""

    human: np.ndarray
    judged: np.ndarray
    rest: np.ndarray
    var_human: np.ndarray
    var_judged: np.ndarray
    var_rest: np.ndarray
    covariance: np.ndarray
    n: int
    others: int


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
    weight = _weight(found, method)
    residual = found.var_human - 2 * weight * found.covariance + weight**2 * found.var_judged
    variance = np.maximum(residual, 0) / (n - lost) + weight**2 * found.var_rest / others
    tail = (1 + level) / 2
    reach = (stats.t.ppf(tail, n - lost) if lost else stats.norm.ppf(tail)) * np.sqrt(variance)
    value = found.human + weight * (found.rest - found.judged)
    return Estimate(value, value - reach, value + reach, weight)


def _weight(found: Moments, method: str) -> np.ndarray:
    """Say how much the metric counts."""
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

    what: one of ``WHAT`` for each row. names: the system, or the two. A row has no gaps.
    """

    human: np.ndarray
    metric: np.ndarray
    what: np.ndarray
    names: tuple[str, ...]


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
    return Pool(sides[0], sides[1], np.repeat(WHAT, [len(systems), len(one)]), names)


def line(scores: Scores, metric: str) -> tuple[float, float]:
    """Fit human scores by a straight line of a metric's: slope and intercept, over all cells that have both."""
    own = scores.only([metric])
    both = np.isfinite(own.values[0]) & own.judged
    slope, intercept = np.polyfit(own.values[0][both], own.human[both], 1)
    return float(slope), float(intercept)


def moved(pooled: Pool, slope: float, intercept: float) -> Pool:
    """Put a pool's metric into the unit of human scores by a line that was learnt elsewhere."""
    means = (pooled.what == WHAT[0])[:, None]
    return Pool(pooled.human, slope * pooled.metric + intercept * means, pooled.what, pooled.names)


def simulate(pooled: Pool, *, humans: int, others: int = 0, resamples: int = 1000, seed: int = 7) -> pd.DataFrame:
    """Draw campaigns in which a few segments are judged, and see how far off each method is, and how often covered.

    The pool's segments are the population, whose means are known: humans segments are drawn at random with their
    scores, and others (0: as many as the pool has) with the metric's alone, both with replacement.
    Returns a row per estimand and method: what, name, method, humans, truth, estimate, low, high (of the first draw),
    variance (of the estimate over draws), variance_ratio (to the classical one's), coverage (share of the 95 %
    intervals that hold the truth), weight (mean).
    """
    size = pooled.human.shape[1]
    others = others or size
    rng = np.random.default_rng(seed)
    even = np.full(size, 1 / size)
    drawn = _moments(pooled, rng.multinomial(humans, even, resamples), rng.multinomial(others, even, resamples))
    truth = pooled.human.mean(axis=1)
    parts = []
    for method in METHODS:
        found = estimate(drawn, method=method)
        inside = (found.low <= truth) & (truth <= found.high)
        parts.append(pd.DataFrame({
            "what": pooled.what, "name": pooled.names, "method": method, "humans": humans, "truth": truth,
            "estimate": found.value[0], "low": found.low[0], "high": found.high[0],
            "variance": found.value.var(axis=0), "coverage": inside.mean(axis=0), "weight": found.weight.mean(axis=0),
        }))  # fmt: skip
    table = pd.concat(parts, ignore_index=True)
    table.insert(9, "variance_ratio", table["variance"] / np.tile(parts[0]["variance"], len(METHODS)))
    return table


def _moments(pooled: Pool, judged: np.ndarray, rest: np.ndarray) -> Moments:
    """Sum up samples, given how often each segment was drawn: draws × estimands."""
    y, f = (side - side.mean(axis=1, keepdims=True) for side in (pooled.human, pooled.metric))
    n, others = int(judged[0].sum()), int(rest[0].sum())
    mean_y, mean_f, square_y, square_f, product = (
        judged @ each.T / n for each in (y, f, y * y, f * f, y * f)
    )  # fmt: skip
    mean_rest, square_rest = (rest @ each.T / others for each in (f, f * f))
    centre_y, centre_f = pooled.human.mean(axis=1), pooled.metric.mean(axis=1)
    spreads = (square_y - mean_y**2, square_f - mean_f**2, square_rest - mean_rest**2, product - mean_y * mean_f)
    return Moments(centre_y + mean_y, centre_f + mean_f, centre_f + mean_rest, *spreads, n, others)


def saved(scores: Scores) -> pd.DataFrame:
    """Say for each metric which share of human judgements it can save at most, for means and for differences.

    Returns metric, what, r (mean over systems, or over pairs of systems, of Pearson's correlation between metric and
    human scores, or differences) and saved (mean of r squared): with the metric on endless segments, the variance
    of the estimate falls by r squared, and so does the number of judgements for the same interval.

    >>> human = np.array([[1.0, 2, 3, 4], [2, 2, 5, 1]])
    >>> saved(Scores(("m",), ("A", "B"), tuple("1234"), human[None] * 2, human))[["what", "saved"]].values.tolist()
    [['mean of a system', 1.0], ['difference of two systems', 1.0]]
    """
    tables = []
    for name in scores.metrics:
        pooled = pool(scores, name)
        y, f = (side - side.mean(axis=1, keepdims=True) for side in (pooled.human, pooled.metric))
        r = ratio((y * f).sum(axis=1), np.sqrt((y**2).sum(axis=1) * (f**2).sum(axis=1)))
        table = pd.DataFrame({"what": pooled.what, "r": r, "saved": r**2}).groupby("what", sort=False).mean()
        tables.append(table.reset_index().assign(metric=name))
    return pd.concat(tables, ignore_index=True)[["metric", "what", "r", "saved"]].round({"r": 12, "saved": 12})


def campaigns(
    scored: Mapping[str, Scores],
    metrics: Mapping[str, Sequence[str]],
    *,
    humans: Sequence[int],
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Simulate campaigns in every language pair: few judged segments, and a metric on as many others as there are.

    scored: the pair's name -> its scores. metrics: the same -> metrics to try. humans: numbers of judged segments.
    PPI reads the metric in human units, by a line learnt on the next language pair (its own if there is one only).
    Returns data, metric, what, humans, method, name (the example: the best system, or the best two), truth, estimate,
    low, high (of its first draw), variance_ratio, coverage, weight (means over all systems, or pairs of them).
    """
    pairs, parts = list(scored), []
    for pair, after in zip(pairs, [*pairs[1:], pairs[0]], strict=True):
        for metric in metrics[pair]:
            own = moved(pool(scored[pair], metric), *line(scored[after], metric))
            for number in humans:
                found = simulate(own, humans=number, resamples=resamples, seed=seed)
                parts.append(_summary(found).assign(data=pair, metric=metric))
    columns = ["data", "metric", "what", "humans", "method", "name", "truth", "estimate", "low", "high"]
    return pd.concat(parts, ignore_index=True)[[*columns, "variance_ratio", "coverage", "weight"]]


def _summary(found: pd.DataFrame) -> pd.DataFrame:
    """Average what was found over systems, or over pairs of them, and keep the first one's estimate."""
    by = found.groupby(["what", "humans", "method"], sort=False)
    means = by[["variance_ratio", "coverage", "weight"]].mean()
    return by[["name", "truth", "estimate", "low", "high"]].first().join(means).reset_index()


def most_saving(table: pd.DataFrame, *, number: int = 2) -> list[str]:
    """Name the metrics that save most judgements for differences of systems: the result of ``saved``, best first."""
    own = table[table["what"] == WHAT[1]]
    return own.sort_values("saved", ascending=False, kind="stable")["metric"].head(number).tolist()


def by_method(simulated: pd.DataFrame, *, data: str, metric: str) -> pd.DataFrame:
    """Lay out what a metric did in simulated campaigns: what, humans, the variance ratios of methods, and coverages."""
    own = simulated[(simulated["data"] == data) & (simulated["metric"] == metric)]
    wide = own.pivot(index=["what", "humans"], columns="method", values=["variance_ratio", "coverage"])
    columns = {("variance_ratio", name): f"variance, {name}" for name in METHODS[1:]}
    columns |= {("coverage", name): f"coverage, {name}" for name in (METHODS[0], METHODS[3])}
    table = wide[list(columns)]
    table.columns = list(columns.values())
    return table.reset_index().sort_values(["what", "humans"], kind="stable", ignore_index=True)
