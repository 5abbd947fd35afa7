"""Campaigns drawn from segments whose human scores are all known: what a few human scores and a metric come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit.metrics import powered, stratified
from evalkit.metrics.metaeval.scores import Scores
from evalkit.metrics.powered import METHODS, Moments, Pool

#: Ways to estimate a mean stratum by stratum, beside ``METHODS``: what the strata are.
STRATA = ("strata of the metric", "strata of documents", "strata of domains", "strata and PPI++")


def strata_of(pooled: Pool, *, domains: Mapping[str, str] | None = None) -> dict[str, np.ndarray]:
    """Cut a pool's segments into strata, for each estimand by its own metric scores: way -> estimands × segments.

    Of the metric: parts of about equal size of its scores, or of its differences; of documents: of their mean scores.
    domains: document -> domain, where they are known; then all estimands have these strata, too.
    """
    documents = [name.rsplit(":", 1)[0] for name in pooled.segments]
    own = stratified.parts_of(pooled.metric)
    found = {STRATA[0]: own, STRATA[1]: stratified.parts_of(stratified.by_document(pooled.metric, documents))}
    if domains:
        codes = np.unique([str(domains.get(name, "")) for name in documents], return_inverse=True)[1]
        found[STRATA[2]] = np.broadcast_to(codes, own.shape)
    return found | {STRATA[3]: own}


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
    others = others or size
    rng = np.random.default_rng(seed)
    even = np.full(size, 1 / size)
    judged, rest = rng.multinomial(humans, even, resamples), rng.multinomial(others, even, resamples)
    drawn = _moments(pooled, judged, rest)
    found = {method: powered.estimate(drawn, method=method) for method in METHODS}
    found |= _by_strata(pooled, strata or {}, judged, rest)
    parts = [_row(pooled, method, one).assign(humans=humans) for method, one in found.items()]
    table = pd.concat(parts, ignore_index=True)
    table["variance_ratio"] = table["variance"] / np.tile(parts[0]["variance"], len(parts))
    return table[
        [
            "what",
            "name",
            "method",
            "humans",
            "truth",
            "estimate",
            "low",
            "high",
            "variance",
            "variance_ratio",
            "coverage",
            "weight",
        ]
    ]


def _row(pooled: Pool, method: str, found: powered.Estimate) -> pd.DataFrame:
    """Sum up the draws of one method, a row per estimand."""
    truth = pooled.human.mean(axis=1)
    inside = (found.low <= truth) & (truth <= found.high)
    return pd.DataFrame(
        {
            "what": pooled.what,
            "name": pooled.names,
            "method": method,
            "truth": truth,
            "estimate": found.value[0],
            "low": found.low[0],
            "high": found.high[0],
            "variance": found.value.var(axis=0),
            "coverage": inside.mean(axis=0),
            "weight": found.weight.mean(axis=0),
        }
    )


def _centred(pooled: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Take means off both sides, so that sums of squares lose no digits."""
    y, f = (side - side.mean(axis=1, keepdims=True) for side in (pooled.human, pooled.metric))
    return y, f


def _moments(pooled: Pool, judged: np.ndarray, rest: np.ndarray) -> Moments:
    """Sum up samples, given how often each segment was drawn: draws × estimands."""
    y, f = _centred(pooled)
    n, others = int(judged[0].sum()), int(rest[0].sum())
    mean_y, mean_f, square_y, square_f, product = (judged @ each.T / n for each in (y, f, y * y, f * f, y * f))
    mean_rest, square_rest = (rest @ each.T / others for each in (f, f * f))
    centre_y, centre_f = pooled.human.mean(axis=1), pooled.metric.mean(axis=1)
    spreads = (square_y - mean_y**2, square_f - mean_f**2, square_rest - mean_rest**2, product - mean_y * mean_f)
    return Moments(centre_y + mean_y, centre_f + mean_f, centre_f + mean_rest, *spreads, n, others)


def _by_strata(
    pooled: Pool, strata: Mapping[str, np.ndarray], judged: np.ndarray, rest: np.ndarray
) -> dict[str, powered.Estimate]:
    """Estimate from samples stratum by stratum, given how often each segment was drawn: draws × estimands."""
    found, centre = {}, pooled.human.mean(axis=1)
    counts = judged.astype(float), rest.astype(float)  # integers would be multiplied one by one
    sums = {way: _sums(pooled, strata[way], *counts, tuned=True) for way in strata if way == STRATA[3]}
    for way, labels in strata.items():
        same = [own for name, own in sums.items() if strata[name] is labels]
        own = same[0] if same else _sums(pooled, labels, *counts, tuned=False)
        one = stratified.estimate(own, tuned=way == STRATA[3])
        found[way] = powered.Estimate(one.value + centre, one.low + centre, one.high + centre, one.weight)
    return found


def _sums(pooled: Pool, labels: np.ndarray, judged: np.ndarray, rest: np.ndarray, *, tuned: bool) -> stratified.Sums:
    """Sum up samples in each stratum; the metric's sums are 0 where it is not to correct within strata."""
    y, f = _centred(pooled)
    ones, none = np.ones_like(y), np.zeros((len(judged), len(y)))
    parts = []
    for label in range(int(labels.max()) + 1):
        here = (labels == label).astype(float)
        number, human, squares = (judged @ (here * each).T for each in (ones, y, y * y))
        metric = [judged @ (here * each).T for each in (f, f * f, y * f)] if tuned else [none] * 3
        others = [rest @ (here * each).T for each in (f, f * f)] if tuned else [none] * 2
        parts.append((number, rest @ here.T, human, squares, *metric, *others))
    return stratified.Sums(*(np.stack(each) for each in zip(*parts, strict=True)))


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
            own = powered.moved(powered.pool(scored[pair], metric), *powered.line(scored[after], metric))
            strata = strata_of(own, domains=(domains or {}).get(pair))
            for number in humans:
                found = simulate(own, humans=number, resamples=resamples, seed=seed, strata=strata)
                parts.append(_summary(found).assign(data=pair, metric=metric))
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


def _summary(found: pd.DataFrame) -> pd.DataFrame:
    """Average what was found over systems, or over pairs of them, and keep the first one's estimate."""
    by = found.groupby(["what", "humans", "method"], sort=False)
    means = by[["variance_ratio", "coverage", "weight"]].mean()
    return by[["name", "truth", "estimate", "low", "high"]].first().join(means).reset_index()


def by_method(simulated: pd.DataFrame, *, data: str, metric: str) -> pd.DataFrame:
    """Lay out what a metric did in simulated campaigns: what, humans, the variance ratios of methods, and coverages."""
    own = simulated[(simulated["data"] == data) & (simulated["metric"] == metric)]
    wide = own.pivot(index=["what", "humans"], columns="method", values=["variance_ratio", "coverage"])
    shown = [*METHODS[1:], STRATA[0], STRATA[3]]
    columns = {("variance_ratio", name): f"variance, {name}" for name in shown}
    columns |= {("coverage", name): f"coverage, {name}" for name in (METHODS[0], METHODS[3], STRATA[3])}
    table = wide[list(columns)]
    table.columns = list(columns.values())
    return table.reset_index().sort_values(["what", "humans"], kind="stable", ignore_index=True)


def strata_in_words(simulated: pd.DataFrame, *, data: str, metric: str) -> str:
    """Say what strata save beside PPI++, for differences of two systems, at the most judged segments of a simulation.

    simulated: the result of ``campaigns``.
    """
    own = simulated[(simulated["data"] == data) & (simulated["metric"] == metric)]
    own = own[(own["what"] == powered.WHAT[1]) & (own["humans"] == own["humans"].max())]
    saves = {row.method: f"{1 - row.variance_ratio:.0%}" for row in own.itertuples()}
    told = ", ".join(f"{saves[way]} by {way}" for way in STRATA if way in saves)
    return (
        f"For differences of two systems with {own['humans'].iloc[0]} judged segments, the variance falls by "
        f"{saves['PPI++']} by PPI++ and {saves['control variate']} by a control variate; {told}."
    )
