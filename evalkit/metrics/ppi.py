r"""Few human scores and many metric scores (prediction-powered inference): intervals hold however wrong the metric is.

All estimates of a mean are

.. math:: \hat\theta_\lambda = \bar y + \lambda \, (\bar f_{rest} - \bar f_{judged})

with human scores y of n judged segments and a metric's scores f of these and of N others. They differ in the weight
:math:`\lambda` alone: 0 is the mean of the human scores, 1 takes the metric at its word. Segments may also fall into
strata k that are known of judged ones and of others: parts of a metric's scores, domains. With the share :math:`W_k` of
all segments, the mean is

.. math:: \hat\theta = \sum_k W_k \big(\bar y_k + \lambda_k (\bar f_{k,rest} - \bar f_{k,judged})\big)

with :math:`\lambda_k = 0` for plain strata (post-stratification), and the weight of PPI++ in each stratum otherwise.
``simulate`` and ``campaigns`` draw from segments whose human scores are all known, to see what each way comes to.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.metrics.scores import Scores
from evalkit.stats.correlation import pearson, ratio

#: Ways to estimate a mean.
METHODS = ("classical", "control variate", "PPI", "PPI++")
#: Ways to estimate a mean stratum by stratum: what the strata are. The last corrects by PPI++ within each, too.
STRATA = ("strata of the metric", "strata of documents", "strata of domains", "strata and PPI++")
#: What is estimated of systems.
WHAT = ("mean of a system", "difference of two systems")
#: What correlates: within a system everything; of that, what all systems share cancels in a difference.
WITHIN, HARD, DIFFERENCES = "segments of a system", "how hard segments are", "differences of two systems"
BY_DOCUMENT = "differences of two systems, means of documents"
_PARTS = 4  # strata of about equal size that scores are cut into
_FEWEST = {False: 2, True: 4}  # judged segments of a stratum: a variance, and beside it a slope


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


def estimate(known: Moments, *, method: str = "PPI++", level: float = 0.95) -> Estimate:
    """Estimate means from moments; see ``mean``."""
    if method not in METHODS:
        raise DataError(f"There is no method {method!r}. Choose among {', '.join(METHODS)}.")
    lost = {"classical": 1, "control variate": 2}.get(method, 0)
    weight = _weight(known, method)
    variance = np.maximum(_residual(known, weight), 0) / (known.n - lost) + weight**2 * known.var_rest / known.others
    tail = (1 + level) / 2
    reach = (stats.t.ppf(tail, known.n - lost) if lost else stats.norm.ppf(tail)) * np.sqrt(variance)
    value = known.human + weight * (known.rest - known.judged)
    return Estimate(value, value - reach, value + reach, weight)


def _residual(known: Moments, weight: np.ndarray) -> np.ndarray:
    """Return the variance of human scores less a weight times the metric's."""
    return known.var_human - 2 * weight * known.covariance + weight**2 * known.var_judged


def _weight(known: Moments, method: str) -> np.ndarray:
    """Say how much the metric counts by one of ``METHODS``: an entry per sample."""
    n, others = known.n, known.others
    if method in ("classical", "PPI"):
        return np.full(np.shape(known.human), float(method == "PPI"))
    if method == "control variate":  # the slope of a line through the judged ones; the mean is over all segments
        return np.nan_to_num(ratio(known.covariance, known.var_judged)) * others / (n + others)
    gap = n * others / (n + others) * (known.judged - known.rest) ** 2
    pooled = (n * known.var_judged + others * known.var_rest + gap) / (n + others - 1)
    return np.clip(np.nan_to_num(ratio(known.covariance, (1 + n / others) * pooled)), 0, 1)


# Strata


class Sums(NamedTuple):
    """Hold counts and sums of each stratum; the first axis has strata, others samples.

    n, others: segments judged, and others. human, squares: sums of human scores and of their squares; the same of the
    metric's scores of judged segments, product the sum of human times metric, and rest those of others.
    """

    n: np.ndarray
    others: np.ndarray
    human: np.ndarray
    squares: np.ndarray
    judged: np.ndarray
    judged_squares: np.ndarray
    product: np.ndarray
    rest: np.ndarray
    rest_squares: np.ndarray

    @property
    def moments(self) -> Moments:
        """Means and variances; 0 where a stratum is empty."""
        means = [
            np.nan_to_num(ratio(part, self.n))
            for part in (self.human, self.squares, self.judged, self.judged_squares, self.product)
        ]
        y, yy, f, ff, yf = means
        g, gg = (np.nan_to_num(ratio(part, self.others)) for part in (self.rest, self.rest_squares))
        spreads = yy - y**2, ff - f**2, gg - g**2, yf - y * f
        return Moments(y, f, g, *spreads, np.maximum(self.n, 1), np.maximum(self.others, 1))


def estimate_by_strata(sums: Sums, *, tuned: bool, level: float = 0.95) -> Estimate:
    """Estimate means stratum by stratum.

    tuned: the metric also corrects within each stratum, by PPI++'s weight (Fisch et al. 2024); False: strata alone. A
    stratum with too few judged segments (2, tuned 4), or others, joins the next lower one (the lowest: the next
    higher).
    The variance has the scatter within strata and, because their shares are known from a sample only, between them;
    the interval is t with as many degrees of freedom as judged segments less those used up in each stratum.
    weight: the average weight. Caveat: segments must be judged at random, or at random within each stratum with the
    same chance everywhere; intervals of 95 % hold a little less with few segments a stratum.
    """
    sums = _joined(sums, _FEWEST[tuned], 2 * tuned)
    there = sums.n > 0
    size = sums.n + sums.others
    share = size / size.sum(axis=0)
    own = sums.moments
    weight = _weight(own, "PPI++") * there if tuned else np.zeros_like(share)
    lost = 1 + tuned
    within = np.nan_to_num(ratio(np.maximum(_residual(own, weight), 0), sums.n - lost))
    within = within + np.nan_to_num(ratio(weight**2 * own.var_rest, sums.others))
    means = own.human + weight * (own.rest - own.judged)
    value = (share * means).sum(axis=0)
    between = (share * (means - value) ** 2).sum(axis=0) / size.sum(axis=0)
    few, where = np.unique(
        (sums.n - lost * there).sum(axis=0), return_inverse=True
    )  # quantiles cost, samples share them
    tail = stats.t.ppf((1 + level) / 2, few)[where].reshape(value.shape)
    reach = tail * np.sqrt((share**2 * within).sum(axis=0) + between)
    return Estimate(value, value - reach, value + reach, (share * weight).sum(axis=0))


def _joined(sums: Sums, judged: int, others: int) -> Sums:
    """Join strata with too few judged segments, or others, with the next lower one; the lowest with the next higher."""
    parts = [np.array(part, float) for part in np.broadcast_arrays(*sums)]
    last = len(parts[0]) - 1
    steps = [(place, place - 1) for place in range(last, 0, -1)] + [(place, place + 1) for place in range(last)]
    for place, neighbour in steps:
        size = parts[0][place] + parts[1][place]
        few = ((parts[0][place] < judged) | (parts[1][place] < others)) & (size > 0)
        for part in parts:
            part[neighbour] += np.where(few, part[place], 0)
            part[place] = np.where(few, 0, part[place])
    return Sums(*parts)


# What a metric is worth on real scores


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

    @property
    def documents(self) -> list[str]:
        """The document of each segment."""
        return [name.rsplit(":", 1)[0] for name in self.segments]


def pool(scores: Scores, metric: str) -> Pool:
    """Lay out all means of systems, and all differences of two of them, on the segments that all systems have.

    Systems stand best first. Raises DataError where fewer than three segments are whole.
    """
    own = _whole(scores, metric)
    if len(own.segments) < 3:
        raise DataError(f"{metric} and humans scored fewer than three segments of all systems.")
    order = np.argsort(-own.human.mean(axis=1), kind="stable")
    systems = [own.systems[place] for place in order]
    one, two = np.array(list(itertools.combinations(range(len(systems)), 2))).T
    names = (*systems, *(f"{systems[a]} − {systems[b]}" for a, b in zip(one, two, strict=True)))
    ordered = [side[order] for side in (own.human, own.values[0])]
    y, f = (np.concatenate([side, side[one] - side[two]]) for side in ordered)
    return Pool(y, f, np.repeat(WHAT, [len(systems), len(one)]), names, own.segments)


def _whole(scores: Scores, metric: str) -> Scores:
    """Keep one metric, and the segments of which it and humans scored all systems."""
    own = scores.only([metric])
    whole = (np.isfinite(own.values[0]) & own.judged).all(axis=0)
    segments = tuple(itertools.compress(own.segments, whole))
    return replace(own, segments=segments, human=own.human[:, whole], values=own.values[:, :, whole])


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
        r = pearson(pooled.metric, pooled.human)
        by_what = pd.DataFrame({"r": r, "saved": r**2}).groupby(pooled.what, sort=False)
        table = by_what.mean().assign(lowest=by_what["saved"].min(), highest=by_what["saved"].max())
        tables.append(table.rename_axis("what").reset_index().assign(metric=name))
    return pd.concat(tables, ignore_index=True)[["metric", "what", "r", "saved", "lowest", "highest"]].round(12)


def most_saving(table: pd.DataFrame, *, number: int = 2) -> list[str]:
    """Name the metrics that save most judgements for differences of systems: the result of ``saved``, best first."""
    own = table[table["what"] == WHAT[1]]
    return own.sort_values("saved", ascending=False, kind="stable")["metric"].head(number).tolist()


def correlations(scores: Scores, metric: str) -> pd.DataFrame:
    """Take a metric's correlation with human scores apart: within systems, shared by all of them, and on differences.

    A correlation within systems overstates what a metric saves when two systems are compared.
    Returns metric, what, r (of ``DIFFERENCES`` and ``WITHIN``: the root of the mean squared correlation, over pairs or
    systems; of ``HARD``: of the segments' means over systems), saved (its square: the share of judgements that a metric
    saves at most) and share (of the variance of a system's human scores: what all systems have in common, and what
    differs; missing for means of documents, of which there must be three).

    >>> hard, own = np.array([9.0, 1, 5, 3]), np.array([[1.0, 0, 0, 1], [0, 1, 1, 0]])
    >>> names = tuple("AB"), ("x:1", "x:2", "y:1", "y:2")
    >>> found = correlations(Scores(("m",), *names, (hard - own)[None], hard + own), "m").set_index("what")
    >>> found.loc[[HARD, DIFFERENCES], "saved"].round(2).tolist()
    [1.0, 1.0]
    """
    own = _whole(scores, metric)
    within, differences = saved(own)["saved"]
    spread = np.cov(own.human)
    common = float((spread.sum() - np.trace(spread)) / (len(spread) - 1) / np.trace(spread))
    hard = float(pearson(own.values[0].mean(axis=0), own.human.mean(axis=0)))
    documents = _of_documents(own)
    by_document = saved(documents)["saved"].iloc[1] if len(documents.segments) > 2 else np.nan
    rows = [
        (metric, WITHIN, np.sqrt(within), within, 1.0),
        (metric, HARD, abs(hard), hard**2, common),
        (metric, DIFFERENCES, np.sqrt(differences), differences, 1 - common),
        (metric, BY_DOCUMENT, np.sqrt(by_document), by_document, np.nan),
    ]
    return pd.DataFrame(rows, columns=["metric", "what", "r", "saved", "share"])


def _of_documents(scores: Scores) -> Scores:
    """Average scores without gaps over each document's segments."""
    names, codes = np.unique([name.rsplit(":", 1)[0] for name in scores.segments], return_inverse=True)
    member = ((codes == np.arange(len(names))[:, None]) / np.bincount(codes)[:, None]).T
    return replace(scores, segments=tuple(map(str, names)), human=scores.human @ member, values=scores.values @ member)


# Campaigns drawn from segments whose human scores are all known


def strata_of(pooled: Pool, *, domains: Mapping[str, str] | None = None) -> dict[str, np.ndarray]:
    """Cut a pool's segments into strata, for each estimand by its own metric scores: way -> estimands × segments.

    Of the metric: parts of about equal size of its scores, or of its differences; of documents: of their mean scores.
    domains: document -> domain, where they are known; then all estimands have these strata, too.
    """
    own = _parts(pooled.metric)
    by_document = pd.DataFrame(pooled.metric.T).groupby(pooled.documents).transform("mean").to_numpy().T
    strata = {STRATA[0]: own, STRATA[1]: _parts(by_document)}
    if domains:
        codes = np.unique([str(domains.get(name, "")) for name in pooled.documents], return_inverse=True)[1]
        strata[STRATA[2]] = np.broadcast_to(codes, own.shape)
    return strata | {STRATA[3]: own}


def _parts(scores: np.ndarray) -> np.ndarray:
    """Cut each row of scores into parts of about equal size: labels from 0, the lowest first; equal scores together."""
    ends = np.quantile(scores, np.arange(1, _PARTS) / _PARTS, axis=-1)
    return (scores[None] > ends[..., None]).sum(axis=0)


def simulate(
    pooled: Pool,
    *,
    humans: int,
    others: int = 0,
    resamples: int = 1000,
    seed: int = 7,
    strata: Mapping[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """Draw campaigns in which a few segments are judged, and see how far off each method is, and how often covered.

    The pool's segments are the population, whose means are known: humans segments are drawn at random with their
    scores, and others (0: as many as the pool has) with the metric's alone, both with replacement. strata: as
    ``strata_of`` makes them, estimated on the same draws.
    Returns a row per estimand and method: what, name, method, humans, truth, estimate, low, high (of the first draw),
    variance (of the estimate over draws), variance_ratio (to the classical one's), coverage (share of the 95 %
    intervals that hold the truth), weight (mean).
    """
    size = pooled.human.shape[1]
    rng = np.random.default_rng(seed)
    judged, rest = (rng.multinomial(n, np.full(size, 1 / size), resamples) for n in (humans, others or size))
    truth = pooled.human.mean(axis=1)
    parts: list[pd.DataFrame] = []
    for method, found in _estimates(pooled, judged, rest, strata or {}).items():
        inside = (found.low <= truth) & (truth <= found.high)
        first = {"truth": truth, "estimate": found.value[0], "low": found.low[0], "high": found.high[0]}
        row = {"what": pooled.what, "name": pooled.names, "method": method, "humans": humans, **first}
        variance = found.value.var(axis=0)
        row |= {"variance": variance, "variance_ratio": variance / (parts[0]["variance"] if parts else variance)}
        parts.append(pd.DataFrame(row | {"coverage": inside.mean(axis=0), "weight": found.weight.mean(axis=0)}))
    return pd.concat(parts, ignore_index=True)


def _estimates(
    pooled: Pool, judged: np.ndarray, rest: np.ndarray, strata: Mapping[str, np.ndarray]
) -> dict[str, Estimate]:
    """Estimate from samples in every way, given how often each segment was drawn: draws × estimands."""
    counts = judged.astype(float), rest.astype(float)  # integers would be multiplied one by one
    one = _sums(pooled, np.zeros(pooled.human.shape, int), *counts, tuned=True).moments
    only = (np.asarray(each)[0] for each in one[:-2])
    known = Moments._make([*only, int(judged[0].sum()), int(rest[0].sum())])
    found = {method: estimate(known, method=method) for method in METHODS}
    tuned = _sums(pooled, strata[STRATA[3]], *counts, tuned=True) if STRATA[3] in strata else None
    for way, labels in strata.items():
        shared = tuned if labels is strata.get(STRATA[3]) else None
        sums = shared or _sums(pooled, labels, *counts, tuned=False)
        found[way] = estimate_by_strata(sums, tuned=way == STRATA[3])
    centre = pooled.human.mean(axis=1)
    return {
        way: Estimate(each.value + centre, each.low + centre, each.high + centre, each.weight)
        for way, each in found.items()
    }


def _sums(pooled: Pool, labels: np.ndarray, judged: np.ndarray, rest: np.ndarray, *, tuned: bool) -> Sums:
    """Sum up samples in each stratum, centred, so that squares lose no digits; the metric's are 0 where not tuned."""
    y, f = (side - side.mean(axis=1, keepdims=True) for side in (pooled.human, pooled.metric))
    none = np.zeros((len(judged), len(y)))
    parts = []
    for label in range(int(labels.max()) + 1):
        here = (labels == label).astype(float)
        human = [judged @ (here * each).T for each in (np.ones_like(y), y, y * y)]
        metric = [judged @ (here * each).T for each in (f, f * f, y * f)] if tuned else [none] * 3
        others = [rest @ (here * each).T for each in (f, f * f)] if tuned else [none] * 2
        parts.append((human[0], rest @ here.T, *human[1:], *metric, *others))
    return Sums(*(np.stack(each) for each in zip(*parts, strict=True)))


def campaigns(
    scored: Mapping[str, Scores],
    metrics: Mapping[str, Sequence[str]],
    *,
    humans: Sequence[int],
    domains: Mapping[str, Mapping[str, str]] | None = None,
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Simulate campaigns in every language pair: few judged segments, and a metric on as many others as there are.

    scored: the pair's name -> its scores. metrics: the same -> metrics to try. humans: numbers of judged segments.
    domains: the pair's name -> document -> domain, for strata of domains.
    PPI reads the metric in human units, by a line learnt on the next language pair (its own if there is one only).
    Returns data, metric, what, humans, method (of ``METHODS`` and ``STRATA``), name (the example: the best system, or
    the best two), truth, estimate, low, high (of its first draw), variance_ratio, coverage, weight (means over all
    systems, or pairs of them).
    """
    pairs, parts = list(scored), []
    for pair, after in zip(pairs, [*pairs[1:], pairs[0]], strict=True):
        for metric in metrics[pair]:
            own = moved(pool(scored[pair], metric), *line(scored[after], metric))
            strata = strata_of(own, domains=(domains or {}).get(pair))
            for number in humans:
                drawn = simulate(own, humans=number, resamples=resamples, seed=seed, strata=strata)
                by = drawn.groupby(["what", "humans", "method"], sort=False)
                examples = by[["name", "truth", "estimate", "low", "high"]].first()
                table = examples.join(by[["variance_ratio", "coverage", "weight"]].mean()).reset_index()
                parts.append(table.assign(data=pair, metric=metric))
    columns = ["data", "metric", "what", "humans", "method", "name", "truth", "estimate", "low", "high"]
    return pd.concat(parts, ignore_index=True)[[*columns, "variance_ratio", "coverage", "weight"]]


def domains_of(outputs: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Say which domain each document of a language pair has: pair -> document -> domain.

    outputs: src_lang, tgt_lang, doc, domain. A table without domains gives none.
    """
    if "domain" not in outputs:
        return {}
    rows = outputs[["src_lang", "tgt_lang", "doc", "domain"]].astype("str").drop_duplicates()
    pairs = rows["src_lang"] + "-" + rows["tgt_lang"]
    return {str(name): dict(zip(own["doc"], own["domain"], strict=True)) for name, own in rows.groupby(pairs)}


def by_method(simulated: pd.DataFrame, *, data: str, metric: str) -> pd.DataFrame:
    """Lay out what a metric did in simulated campaigns: what, humans, the variance ratios of methods, and coverages."""
    own = simulated[(simulated["data"] == data) & (simulated["metric"] == metric)]
    wide = own.pivot(index=["what", "humans"], columns="method", values=["variance_ratio", "coverage"])
    shown = [*METHODS[1:], STRATA[0], STRATA[3]]
    columns = {("variance_ratio", name): f"variance, {name}" for name in shown}
    columns |= {("coverage", name): f"coverage, {name}" for name in (METHODS[0], METHODS[3], STRATA[3])}
    table = wide[list(columns)].set_axis(list(columns.values()), axis=1)
    return table.reset_index().sort_values(["what", "humans"], kind="stable", ignore_index=True)
