r"""Few human scores: what a metric of many segments adds to them, and which segments people should judge.

``mean`` and its like are prediction-powered inference, whose intervals hold however wrong the metric is. All
estimates of a mean are

.. math:: \hat\theta_\lambda = \bar y + \lambda \, (\bar f_{rest} - \bar f_{judged})

with human scores y of n judged segments and a metric's scores f of these and of N others. They differ in the weight
:math:`\lambda` alone: 0 is the mean of the human scores, 1 takes the metric at its word. Segments may also fall into
strata k that are known of judged ones and of others: parts of a metric's scores, domains. With the share :math:`W_k` of
all segments, the mean is

.. math:: \hat\theta = \sum_k W_k \big(\bar y_k + \lambda_k (\bar f_{k,rest} - \bar f_{k,judged})\big)

with :math:`\lambda_k = 0` for plain strata (post-stratification), and the weight of PPI++ in each stratum otherwise.
``simulate`` and ``campaigns`` draw from segments whose human scores are all known, to see what each way comes to.

``compare_choices`` asks what a choice of segments by a metric does to the order of systems, and to what is measured,
where a test set whose human scores are all known stands in for one of which only a few segments can be judged. Ways to
choose are those of subset2evaluate (Zouhar, Cui and Sachan 2025), chance, and chance with known odds.

``corrected_share`` is for a judge that labels (critical or not, pass or fail): what people's labels of a sample say of
its errors corrects the share that it labelled. ``check_labels`` holds this against PPI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, compress
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special, stats

from evalkit import DataError
from evalkit.metrics.scores import ByPair, Scores, averaged, of_pair
from evalkit.stats.correlation import count_pairs, pearson, ratio
from evalkit.stats.inference import TOLERANCE, share_interval, unit_counts

#: The stratum of each segment: way to cut -> estimands × segments.
Strata = Mapping[str, np.ndarray]
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
# Fewest judged segments of a stratum (a variance, and beside it a slope), and fewest others.
_FEWEST = dict.fromkeys(STRATA[:3], (2, 0)) | {STRATA[3]: (4, 2)}
# Degrees of freedom that are used up in a stratum, where not one; none: large samples.
_LOST = {"control variate": 2, "PPI": 0, "PPI++": 0, STRATA[3]: 2}
#: Ways to choose segments.
RANDOM, VARIANCE, AVERAGE = "at random", "metric variance", "metric average"
CONSISTENCY, DIVERSITY = "metric consistency", "diversity of outputs"
DRAWN = "drawn by variance, weighted"  # with known odds
#: How often chance chooses for the value of one test set, and in each that is drawn anew.
TRIES, TRIES_ANEW = 200, 5
_VALUES = ("agreement", "accuracy", "bias_means", "bias_differences", "stretch", "error")


class Estimate(NamedTuple):
    """Hold estimates with the ends of their intervals and the weight that the metric got."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


def mean(human: ArrayLike, judged: ArrayLike, rest: ArrayLike, *, method: str = "PPI++") -> Estimate:
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
    y, f, g = (np.asarray(side, float) for side in (human, judged, rest))
    if method not in METHODS:
        raise DataError(f"There is no method {method!r}. Choose among {', '.join(METHODS)}.")
    if y.shape[-1] < 3 or g.shape[-1] < 2 or y.shape[-1] != f.shape[-1]:
        raise DataError("Give 3 judged segments or more, each with a metric's score, and 2 others or more.")
    centre, middle = y.mean(-1, keepdims=True), f.mean(-1, keepdims=True)
    y, f, g = y - centre, f - middle, g - middle
    columns = [[np.ones_like(y), np.ones_like(g)], [y, y * y, f, f * f, y * f], [g, g * g]]
    sums = np.stack([each.sum(-1) for part in columns for each in part])
    return _shifted(estimate(sums[:, None], method=method), centre[..., 0])


def estimate(sums: np.ndarray, *, method: str) -> Estimate:
    """Estimate means stratum by stratum from sums, 9 × strata × ..., as ``_sums`` makes them; see ``mean``.

    method: one of ``METHODS``, for which all segments are one stratum; or of ``STRATA``, of which the last lets the
    metric correct within each stratum by PPI++'s weight (Fisch et al. 2024), and the others take strata alone.
    The variance has the scatter within strata and, because their shares are known from a sample only, between them.
    A stratum with too few judged segments (2; 4 for PPI++'s weight), or others, joins the next lower one (the lowest:
    the next higher). Intervals are t with as many degrees of freedom as judged segments less those used up in each
    stratum, for PPI and PPI++ normal. weight: the average weight.
    Caveat: segments must be judged at random, or at random within each stratum with the same chance everywhere;
    intervals of 95 % hold a little less with few segments a stratum.
    """
    sums = _joined(sums, *_FEWEST[method]) if method in STRATA else sums
    (n, others), lost = sums[:2], _LOST.get(method, 1)
    y, yy, f, ff, yf = np.nan_to_num(ratio(sums[2:7], n))
    g, gg = np.nan_to_num(ratio(sums[7:], others))
    covariance, var_judged, var_rest = yf - y * f, ff - f**2, gg - g**2
    if method == "control variate":  # the slope of a line through the judged ones; the mean is over all segments
        weight = np.nan_to_num(ratio(covariance, var_judged)) * others / (n + others)
    elif method.endswith("PPI++"):
        gap = np.nan_to_num(ratio(n * others, n + others)) * (f - g) ** 2
        pooled = (n * var_judged + others * var_rest + gap) / np.maximum(n + others - 1, 1)
        weight = np.clip(np.nan_to_num(ratio(covariance, (1 + ratio(n, others)) * pooled)), 0, 1)
    else:
        weight = np.full(n.shape, float(method == "PPI"))
    residual = yy - y**2 - 2 * weight * covariance + weight**2 * var_judged
    within = np.nan_to_num(ratio(np.maximum(residual, 0), n - lost))
    within = within + np.nan_to_num(ratio(weight**2 * var_rest, others))
    means, share = y + weight * (g - f), (n + others) / (n + others).sum(axis=0)
    value = (share * means).sum(axis=0)
    between = (share * (means - value) ** 2).sum(axis=0) / (n + others).sum(axis=0)
    tail = stats.norm.ppf(0.975)
    if lost:
        freedom = (n - lost * (n > 0)).sum(axis=0).astype(int)
        tail = stats.t.ppf(0.975, np.arange(freedom.max() + 1))[freedom]  # quantiles cost, samples share them
    reach = tail * np.sqrt((share**2 * within).sum(axis=0) + between)
    return Estimate(value, value - reach, value + reach, (share * weight).sum(axis=0))


def _shifted(found: Estimate, centre: np.ndarray) -> Estimate:
    return found._replace(value=found.value + centre, low=found.low + centre, high=found.high + centre)


def _joined(sums: np.ndarray, judged: int, others: int) -> np.ndarray:
    """Join strata with too few judged segments, or others, with the next lower one; the lowest with the next higher."""
    sums, last = sums.copy(), sums.shape[1] - 1
    steps = [(place, place - 1) for place in range(last, 0, -1)] + [(place, place + 1) for place in range(last)]
    for place, neighbour in steps:
        n, rest = sums[:2, place]
        few = ((n < judged) | (rest < others)) & (n + rest > 0)
        sums[:, neighbour] += np.where(few, sums[:, place], 0)
        sums[:, place] = np.where(few, 0, sums[:, place])
    return sums


# What a metric is worth on real scores


def pool(scores: Scores, metric: str) -> tuple[Scores, np.ndarray]:
    """Lay out what can be estimated, as scores whose "systems" are systems and then differences of two, and say which.

    Scores are of one metric and have no gaps: segments are those of which metric and people scored all systems. Systems
    stand best first. The second has one of ``WHAT`` for each row. Raises DataError below three such segments.
    """
    own = _whole(scores, metric)
    if len(own.segments) < 3:
        raise DataError(f"{metric} and humans scored fewer than three segments of all systems.")
    order = np.argsort(-own.human.mean(axis=1), kind="stable")
    systems = [own.systems[place] for place in order]
    one, two = np.triu_indices(len(systems), 1)
    names = (*systems, *(f"{a} − {b}" for a, b in combinations(systems, 2)))
    y, f = (np.concatenate([side, side[one] - side[two]]) for side in (own.human[order], own.values[0][order]))
    return replace(own, systems=names, human=y, values=f[None]), np.repeat(WHAT, [len(systems), len(one)])


def _whole(scores: Scores, metric: str) -> Scores:
    """Keep one metric, and the segments of which it and humans scored all systems."""
    own = scores.only([metric])
    whole = (np.isfinite(own.values[0]) & own.judged).all(axis=0)
    segments = tuple(compress(own.segments, whole))
    return replace(own, segments=segments, human=own.human[:, whole], values=own.values[:, :, whole])


def in_human_units(pooled: Scores, what: np.ndarray, learnt: Scores) -> Scores:
    """Move a pool's metric along the line that fits human scores by it, over all cells of ``learnt`` that have both."""
    own = learnt.only(pooled.metrics)
    both = np.isfinite(own.values[0]) & own.judged
    slope, intercept = np.polyfit(own.values[0][both], own.human[both], 1)
    return replace(pooled, values=slope * pooled.values + intercept * (what == WHAT[0])[:, None])


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
        pooled, what = pool(scores, name)
        r = pearson(pooled.values[0], pooled.human)
        tables.append(pd.DataFrame({"metric": name, "what": what, "r": r, "saved": r**2}))
    found = pd.concat(tables).groupby(["metric", "what"], sort=False)
    ends = {"lowest": ("saved", "min"), "highest": ("saved", "max")}
    return found.agg(r=("r", "mean"), saved=("saved", "mean"), **ends).reset_index().round(12)


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
    documents = averaged(own, own.documents)
    by_document = saved(documents)["saved"].iloc[1] if len(documents.segments) > 2 else np.nan
    table = pd.DataFrame({"metric": metric, "what": [WITHIN, HARD, DIFFERENCES, BY_DOCUMENT], "r": np.nan})
    table = table.assign(saved=[within, hard**2, differences, by_document], share=[1, common, 1 - common, np.nan])
    return table.assign(r=np.sqrt(table["saved"]))


# Campaigns drawn from segments whose human scores are all known


def strata_of(pooled: Scores, *, domains: Mapping[str, str] | None = None) -> Strata:
    """Cut a pool's segments into strata, for each estimand by its own metric scores: way -> estimands × segments.

    Of the metric: parts of about equal size of its scores, or of its differences; of documents: of their mean scores.
    domains: document -> domain, where they are known; then all estimands have these strata, too.
    """
    own = _parts(pooled.values[0])
    by_document = pd.DataFrame(pooled.values[0].T).groupby(pooled.documents).transform("mean").to_numpy().T
    strata = {STRATA[0]: own, STRATA[1]: _parts(by_document)}
    if domains:
        codes = np.unique([str(domains.get(name, "")) for name in pooled.documents], return_inverse=True)[1]
        strata[STRATA[2]] = np.broadcast_to(codes, own.shape)
    return strata


def _parts(scores: np.ndarray) -> np.ndarray:
    """Cut each row of scores into parts of about equal size: labels from 0, the lowest first; equal scores together."""
    ends = np.quantile(scores, np.arange(1, _PARTS) / _PARTS, axis=-1)
    return (scores[None] > ends[..., None]).sum(axis=0)


def simulate(
    pooled: Scores, *, humans: int, others: int = 0, resamples: int = 1000, seed: int = 7, strata: Strata | None = None
) -> pd.DataFrame:
    """Draw campaigns in which a few segments are judged, and see how far off each method is, and how often covered.

    The pool's segments are the population, whose means are known: humans segments are drawn at random with their
    scores, and others (0: as many as the pool has) with the metric's alone, both with replacement. strata: as
    ``strata_of`` makes them, estimated on the same draws.
    Returns a row per method and estimand: method, name, truth, estimate, low, high (of the first draw), variance_ratio
    (of the estimate's variance over draws to the classical one's), coverage (share of the 95 % intervals that hold the
    truth), weight (mean).
    """
    size = pooled.human.shape[1]
    rng = np.random.default_rng(seed)
    judged, rest = (rng.multinomial(n, np.full(size, 1 / size), resamples) for n in (humans, others or size))
    found = _estimates(pooled, judged, rest, strata or {})
    value, low, high, weight = (np.stack(side) for side in zip(*found.values()))  # methods × draws × estimands
    truth, variance = pooled.human.mean(axis=1), value.var(axis=1)
    columns = {"truth": np.broadcast_to(truth, variance.shape), "estimate": value[:, 0], "low": low[:, 0]}
    columns |= {"high": high[:, 0], "variance_ratio": variance / variance[0], "weight": weight.mean(axis=1)}
    columns |= {"coverage": ((low <= truth) & (truth <= high)).mean(axis=1)}
    names = {"method": np.repeat(list(found), len(truth)), "name": pooled.systems * len(found)}
    return pd.DataFrame(names | {name: each.ravel() for name, each in columns.items()})


def _estimates(pooled: Scores, judged: np.ndarray, rest: np.ndarray, strata: Strata) -> dict[str, Estimate]:
    """Estimate from samples in every way, given how often each segment was drawn: draws × estimands."""
    counts = judged.astype(float), rest.astype(float)  # integers would be multiplied one by one
    sums = dict.fromkeys(METHODS, _sums(pooled, np.zeros(pooled.human.shape, int), *counts))
    sums |= {way: _sums(pooled, labels, *counts) for way, labels in strata.items()}
    if STRATA[0] in sums:
        sums[STRATA[3]] = sums[STRATA[0]]
    centre = pooled.human.mean(axis=1)
    return {way: _shifted(estimate(each, method=way), centre) for way, each in sums.items()}


def _sums(pooled: Scores, labels: np.ndarray, judged: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Sum up samples in each stratum: 9 × strata × draws × estimands.

    The first axis has numbers of judged segments and of others; sums of human scores, of their squares, of the
    metric's scores of judged segments, of their squares, and of human times metric; and of the metric's scores of
    others and their squares. Scores are centred, so that squares lose no digits.
    """
    y, f = (side - side.mean(axis=1, keepdims=True) for side in (pooled.human, pooled.values[0]))
    columns = np.stack([np.ones_like(y), y, y * y, f, f * f, y * f])
    sums = np.empty((9, int(labels.max()) + 1, len(judged), len(y)))
    for label in range(sums.shape[1]):
        some = (labels == label).any(axis=0)
        here = (columns[..., some] * (labels[:, some] == label)).swapaxes(1, 2)
        sums[[0, 2, 3, 4, 5, 6], label] = judged[:, some] @ here
        sums[[1, 7, 8], label] = rest[:, some] @ here[[0, 3, 4]]
    return sums


def campaigns(
    scored: ByPair,
    metrics: Mapping[str, Sequence[str]],
    outputs: pd.DataFrame,
    *,
    humans: Sequence[int],
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Simulate campaigns in every language pair: few judged segments, and a metric on as many others as there are.

    scored: the pair's name -> its scores. metrics: the same -> metrics to try. humans: numbers of judged segments.
    outputs: what systems wrote, of any pairs: src_lang, tgt_lang, doc, and domain for strata of domains.
    PPI reads the metric in human units, by a line learnt on the next language pair (its own if there is one only).
    Returns data, metric, what, humans, method (of ``METHODS`` and ``STRATA``), name (the example: the best system, or
    the best two), truth, estimate, low, high (of its first draw), variance_ratio, coverage, weight (means over all
    systems, or pairs of them).
    """
    pairs, parts = list(scored), []
    for pair, after in zip(pairs, [*pairs[1:], pairs[0]], strict=True):
        texts = of_pair(outputs, pair)
        domains = texts.set_index("doc")["domain"].astype("str").to_dict() if "domain" in texts else None
        for metric in metrics[pair]:
            own, what = pool(scored[pair], metric)
            own = in_human_units(own, what, scored[after])
            strata = strata_of(own, domains=domains)
            for number in humans:
                drawn = simulate(own, humans=number, resamples=resamples, seed=seed, strata=strata)
                parts.append(drawn.assign(data=pair, metric=metric, what=np.resize(what, len(drawn)), humans=number))
    example = dict.fromkeys(["name", "truth", "estimate", "low", "high"], "first")
    by = pd.concat(parts).groupby(["data", "metric", "what", "humans", "method"], sort=False)
    return by.agg(example | dict.fromkeys(["variance_ratio", "coverage", "weight"], "mean")).reset_index()


def by_method(simulated: pd.DataFrame, *, data: str, metric: str) -> pd.DataFrame:
    """Lay out what a metric did in simulated campaigns: what, humans, the variance ratios of methods, and coverages."""
    own = simulated[(simulated["data"] == data) & (simulated["metric"] == metric)]
    wide = own.pivot(index=["what", "humans"], columns="method", values=["variance_ratio", "coverage"])
    shown = [("variance_ratio", name) for name in (*METHODS[1:], STRATA[0], STRATA[3])]
    table = wide[[*shown, *(("coverage", name) for name in (METHODS[0], METHODS[3], STRATA[3]))]]
    return table.set_axis(table.columns.map(", ".join).str.replace("_ratio", ""), axis=1).reset_index()


# Which segments to judge


def consistency(metric: ArrayLike) -> np.ndarray:
    """Prefer segments that order systems as the metric's means do: Stuart's tau-c; 0 where all scores are level.

    >>> consistency([[1.0, 3, 2], [3, 2, 2], [9, 1, 2]]).tolist()
    [1.0, -1.0, 0.0]
    """
    metric = np.asarray(metric, float)
    return np.nan_to_num(count_pairs(metric.T, np.broadcast_to(metric.mean(axis=1), metric.T.shape)).kendall_c())


def diversity(texts: Sequence[Sequence[str]]) -> np.ndarray:
    """Prefer segments whose translations share few words: less their mean overlap, two by two.

    texts: of each segment, the systems' translations; words are what blanks separate, and count as often as they stand.

    >>> diversity([["a b", "a b"], ["a b", "a c"], ["a b", "c d"]]).tolist()
    [-1.0, -0.5, 0.0]
    """
    words = [[Counter(text.split()) for text in each] for each in texts]
    return np.array([0 - np.mean([_overlap(*pair) for pair in combinations(each, 2)]) for each in words])


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of words that two texts have in common; 1 where one of them is empty."""
    return 2 * (one & other).total() / (one.total() + other.total()) if one and other else 1.0


def odds(metric: ArrayLike, number: int) -> np.ndarray:
    """Return the chance of each segment to be drawn: half even, half by the spread of a metric's scores over systems.

    Chances add up to number (less where one would be above 1), so that a weight is at most twice the even one's.
    """
    spread = np.asarray(metric, float).std(axis=0)
    share = spread / spread.sum() if spread.any() else np.full(len(spread), 1 / len(spread))
    return np.minimum(number * (0.5 / len(spread) + 0.5 * share), 1)


def drawn(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw segments with given chances, systematically in an order by chance, so that their number hardly varies."""
    order = rng.permutation(len(chances))
    steps = np.cumsum(chances[order]) + rng.random()
    return order[np.diff(np.floor(steps), prepend=np.floor(steps[0] - chances[order[0]])) > 0]


def outcome(human: np.ndarray, chosen: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Compare what chosen segments say of systems with what all say: the values of ``compare_choices``, in their order.

    human: systems × segments. chosen: places of segments; weight: of each, adding up to 1.
    """
    own, truth = human[:, chosen], human.mean(axis=1)
    means = own @ weight
    one, two = np.triu_indices(len(human), 1)
    turned = np.where(truth[one] >= truth[two], 1, -1)
    true, found = turned * (truth[one] - truth[two]), turned * (means[one] - means[two])
    every = np.full(human.shape[1], 1 / human.shape[1])
    sure = _confidence(found, own - means[:, None], weight, one, two)
    gap = np.abs(sure - _confidence(true, human - truth[:, None], every, one, two)).mean()
    off, same = found - true, TOLERANCE * np.maximum(1, np.abs(truth).max())  # of one sum in two orders
    accuracy = ((found > same) == (true > same)).mean()
    stretch = found.sum() / true.sum() if true.sum() else np.nan
    return np.array([1 - gap, accuracy, (means - truth).mean(), off.mean(), stretch, np.sqrt((off**2).mean())])


def _confidence(gap: np.ndarray, rest: np.ndarray, weight: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return the one-sided p-value that the first of two systems is better, by a paired test of large samples."""
    n = len(weight)
    scatter = (rest * weight**2) @ rest.T * n / (n - 1)
    error = np.sqrt(np.maximum(np.diag(scatter)[one] + np.diag(scatter)[two] - 2 * scatter[one, two], 0))
    return special.ndtr(np.where(error > 0, -gap / np.where(error > 0, error, 1), -np.inf * np.sign(gap + (gap == 0))))


def lay_out(scores: Scores, metric: str, outputs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """Arrange human scores, a metric's, and utilities, of the segments that all systems have.

    outputs: system, doc, segment and hypothesis of the language pair. The utilities, of which the highest are chosen,
    have a row per segment, named by its document, and a column for each way to choose.
    """
    own = _whole(scores, metric)
    if len(own.segments) < 10:
        raise DataError(f"{metric} and humans scored fewer than ten segments of all systems.")
    values = own.values[0]
    utility = {VARIANCE: values.var(axis=0), AVERAGE: -values.mean(axis=0), CONSISTENCY: consistency(values)}
    utility[DIVERSITY] = diversity(pd.DataFrame(own.texts(outputs).T).fillna("").astype(str).to_numpy())
    return own.human, values, pd.DataFrame(utility, own.documents)


def compare_choices(
    scored: ByPair,
    metrics: Mapping[str, str],
    outputs: pd.DataFrame,
    *,
    budgets: Sequence[int],
    redrawn: int = 200,
    seed: int = 7,
) -> pd.DataFrame:
    """Compare ways to choose which segments people judge, on test sets of which people judged all.

    scored: language pair -> scores. metrics: the same -> the metric that chooses. budgets: numbers of chosen segments.
    Returns data, metric, way, budget, agreement (soft pairwise accuracy, with p-values of a paired test of large
    samples, of what the chosen segments say of two systems with what all say), its low and high (95 %, whole documents
    of the test set drawn anew, ``redrawn`` times), accuracy (of pairs' order), bias_means (mean over systems of the
    chosen segments' mean less all segments'), bias_differences (the same of two systems, the better one first),
    stretch (differences found over true ones), error (root mean square, of differences), and lead (in agreement, on
    segments at random).
    At random and drawn ways are means over many draws.
    """
    if min(budgets, default=0) < 5:
        raise DataError("Choose 5 segments or more: fewer tell nothing of how sure a difference is.")
    parts = []
    for pair, scores in scored.items():
        human, values, utility = lay_out(scores, metrics[pair], of_pair(outputs, pair))
        for budget in sorted({min(int(number), len(utility)) for number in budgets}):
            rng = np.random.default_rng(seed)
            here = _ways(human, values, utility, budget, rng, TRIES)
            anew = [
                _ways(human[:, take], values[:, take], utility.iloc[take], budget, rng, TRIES_ANEW)["agreement"]
                for take in _redrawn(utility.index, redrawn, budget, rng)
            ]
            low, high = np.nanpercentile(anew, [2.5, 97.5], axis=0)
            parts.append(here.assign(data=pair, metric=metrics[pair], budget=budget, low=low, high=high))
    columns = ["data", "metric", "way", "budget", "agreement", "low", "high", *_VALUES[1:], "lead"]
    return pd.concat(parts).rename_axis("way").reset_index()[columns]


def _redrawn(documents: pd.Index, redrawn: int, budget: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw whole documents with replacement: places of their segments; at least a budget of them."""
    codes, names = pd.factorize(documents, sort=True)
    times = unit_counts(len(names), redrawn, rng)[:, codes].astype(int)
    sets = [np.repeat(np.arange(len(codes)), each) for each in times]
    return [each if len(each) >= budget else np.resize(each, budget) for each in sets]


def _ways(
    human: np.ndarray, metric: np.ndarray, utility: pd.DataFrame, budget: int, rng: np.random.Generator, tries: int
) -> pd.DataFrame:
    """Choose segments in each way, and say what comes of it: a row per way, with its lead in agreement on chance."""
    even, chances = np.full(budget, 1 / budget), odds(metric, budget)
    at_random = [outcome(human, rng.permutation(human.shape[1])[:budget], even) for _ in range(tries)]
    found = {RANDOM: np.mean(at_random, axis=0)}
    for way, own in utility.items():
        found[str(way)] = outcome(human, np.argsort(-own.to_numpy(), kind="stable")[:budget], even)
    by_odds = (drawn(chances, rng) for _ in range(tries))
    weighted = [outcome(human, each, 1 / chances[each] / (1 / chances[each]).sum()) for each in by_odds]
    found[DRAWN] = np.mean(weighted, axis=0)
    table = pd.DataFrame.from_dict(found, orient="index", columns=_VALUES)
    return table.assign(lead=table["agreement"] - table.at[RANDOM, "agreement"])


# A judge's labels, corrected


class Corrected(NamedTuple):
    """Hold corrected shares, the ends of their intervals, and the judge's sensitivity and specificity."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray


def corrected_share(
    flagged: ArrayLike, of: ArrayLike, *, hits: ArrayLike, positives: ArrayLike, passes: ArrayLike, negatives: ArrayLike
) -> Corrected:
    r"""Correct the share of items that a judge flags by how often people agree with its labels on a sample.

    flagged, of: of how many items the judge flagged how many, items that people did not check. hits, positives: of the
    checked items that people flag, how many the judge flags, too; passes, negatives: of the others, how many it does
    not. Counts, broadcast. The value is :math:`(p + Sp - 1) / (Se + Sp - 1)`, kept within 0 and 1, with the flagged
    share p, sensitivity Se and specificity Sp; missing where the judge flags no more of what people flag than of the
    rest. low, high: the 95 % interval of Lang and Reiczigel, which adds two observations to each of Se and Sp and
    :math:`z^2` to p; from 0 to 1 where there is no value.
    Source: Rogan & Gladen 1978; Lang & Reiczigel 2014.  Caveat: people count as right, and items as independent; Se and
    Sp must be the same where people did not check. Made for Se and Sp of a half or more.

    >>> found = corrected_share(259, 509, hits=84, positives=127, passes=96, negatives=109)  # their fourth example
    >>> [round(float(number), 2) for number in found]
    [0.72, 0.58, 0.87, 0.66, 0.88]
    """
    counts = (flagged, of, hits, positives, passes, negatives)
    x, n, a, positive, b, negative = (np.asarray(count, float) for count in counts)
    z = stats.norm.isf(0.025)
    share, sensitivity, specificity = ratio(x, n), ratio(a, positive), ratio(b, negative)
    useful = sensitivity + specificity > 1
    value = np.clip(ratio(share + specificity - 1, np.where(useful, sensitivity + specificity - 1, np.nan)), 0, 1)
    wide, se, sp = (x + z**2 / 2) / (n + z**2), (a + 1) / (positive + 2), (b + 1) / (negative + 2)
    apart = np.where(useful & (se + sp > 1), se + sp - 1, np.nan)
    middle = (wide + sp - 1) / apart
    se_noise, sp_noise = se * (1 - se) / (positive + 2), sp * (1 - sp) / (negative + 2)
    shift = 2 * z**2 * (middle * se_noise - (1 - middle) * sp_noise)
    noise = wide * (1 - wide) / (n + z**2) + middle**2 * se_noise + (1 - middle) ** 2 * sp_noise
    low, high = (np.clip(middle + shift + side * z * np.sqrt(noise) / apart, 0, 1) for side in (-1, 1))
    return Corrected(value, np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0), sensitivity, specificity)


def checked_share(people: ArrayLike, judge: ArrayLike, rest: ArrayLike) -> Corrected:
    """Do so from labels: people's and the judge's of checked items, (..., n), and the judge's of others, (..., N)."""
    y, f, others = (np.asarray(side, bool) for side in (people, judge, rest))
    told = {"hits": (y & f).sum(-1), "positives": y.sum(-1), "passes": (~y & ~f).sum(-1), "negatives": (~y).sum(-1)}
    return corrected_share(others.sum(-1), others.shape[-1], **told)


def check_labels(
    judges: Mapping[str, pd.DataFrame], *, checked: Sequence[int], draws: int = 1000, seed: int = 7
) -> pd.DataFrame:
    """Say what correcting a judge's labels comes to where people's labels of all items are known.

    judges: name -> people and judge, whether each flags an item. checked: how many items people check, drawn at random.
    Returns judge, items, people and flagged (shares of all items), sensitivity and specificity (of all), checked,
    method ("people alone", with Clopper and Pearson's interval; "corrected", see ``corrected_share``; "PPI++"),
    estimate, error (root mean square, of draws with an estimate), width and coverage (of 95 % intervals, draws' mean)
    and undefined (the share of draws without an estimate).
    """
    rows, rng = [], np.random.default_rng(seed)
    for (name, labels), n in ((one, number) for one in judges.items() for number in checked):
        y, f = labels["people"].to_numpy(bool), labels["judge"].to_numpy(bool)
        order = rng.permuted(np.tile(np.arange(len(y)), (draws, 1)), axis=1)
        known, of_known, rest = y[order[:, :n]], f[order[:, :n]], f[order[:, n:]]
        whole = checked_share(y, f, f)
        said = {"judge": name, "items": len(y), "people": y.mean(), "flagged": f.mean(), "checked": n}
        said |= {"sensitivity": float(whole.sensitivity), "specificity": float(whole.specificity)}
        ways = {
            "people alone": (known.mean(axis=1), *share_interval(known.sum(axis=1), n)),
            "corrected": checked_share(known, of_known, rest)[:3],
            "PPI++": mean(known, of_known, rest)[:3],
        }
        for way, (value, low, high) in ways.items():
            there, holds = np.isfinite(value), (low <= y.mean()) & (y.mean() <= high)
            far = np.sqrt(np.mean((value[there] - y.mean()) ** 2)) if there.any() else np.nan
            middle = value[there].mean() if there.any() else np.nan
            found = {"estimate": middle, "error": far, "width": (high - low).mean(), "coverage": holds.mean()}
            rows.append(said | {"method": way} | found | {"undefined": 1 - there.mean()})
    return pd.DataFrame(rows)
