"""The questions of Stanchev et al. 2020, asked of real scores: DARR's counts, ties, thresholds and coefficients."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.metaeval import human
from evalkit.metrics.metaeval.matrices import VARIANTS, Matrix
from evalkit.metrics.metaeval.scores import Scores, align

#: How the names of human translations, and of the synthetic reference of WMT23, begin in WMT's files.
PEOPLE = ("Human", "ref", "synthetic_ref")
#: The difference of direct assessments (points of 100) from which WMT takes one translation to be the better one.
OFFICIAL = 25.0


def of_pair(table: pd.DataFrame, pair: str) -> pd.DataFrame:
    """Choose the rows of a language pair by its name, such as eng-deu."""
    source, _, target = pair.partition("-")
    return table[(table["src_lang"] == source) & (table["tgt_lang"] == target)]


def each_pair(
    metric_scores: pd.DataFrame,
    human_scores: pd.DataFrame,
    *,
    gold: str = "",
    without: Collection[str] | None = None,
) -> dict[str, Scores]:
    """Align metrics with human scores in every language pair that both tables have, by the name of the pair.

    gold: which human scores, where there are several kinds. without: systems to leave out; None leaves out human
    translations (``PEOPLE``). Raises DataError where the tables share no language pair.
    """
    human_scores = human_scores[human_scores["metric"] == gold] if gold else human_scores
    found, shared = {}, sorted(_pairs(metric_scores) & _pairs(human_scores))
    if not shared:
        raise DataError("Metrics and humans scored no language pair in common. Check which scores were chosen.")
    for pair in shared:
        people = of_pair(human_scores, pair)
        excluded = without
        if excluded is None:
            excluded = [name for name in map(str, people["system"].unique()) if name.startswith(PEOPLE)]
        found[pair] = align(of_pair(metric_scores, pair), people, without=excluded)
    return found


def pick(scored: Mapping[str, Scores], pair: str) -> Scores:
    """Return the scores of a language pair, or raise DataError naming those there are."""
    if pair not in scored:
        raise DataError(f"There are no scores of {pair!r}. Choose among {', '.join(scored)}.")
    return scored[pair]


def tables(
    scores: Scores,
    pairs: human.Pairs,
    *,
    thresholds: Sequence[float] = (OFFICIAL,),
    boundary: str = "at least",
    tie_identical: bool = False,
) -> np.ndarray:
    """Count pairs by the order that humans and each metric give them: metrics × thresholds × 3 × 3.

    One pass serves all thresholds: a pair is ordered up to its difference and tied by humans beyond. Pairs for which a
    metric lacks a score do not count for this metric.
    """
    reached = human.ordered_up_to(pairs, list(thresholds), boundary=boundary, tie_identical=tie_identical)
    said = np.sign(pairs.difference).astype(int)
    counted = np.zeros((len(scores.metrics), len(thresholds), 3, 3), dtype=int)
    for row, values in zip(counted, scores.values, strict=True):
        difference = values[pairs.first, pairs.segment] - values[pairs.second, pairs.segment]
        known = np.isfinite(difference)
        cell = (reached[known] * 3 + said[known] + 1) * 3 + np.sign(difference[known]).astype(int) + 1
        by_reach = np.bincount(cell, minlength=9 * (len(thresholds) + 1)).reshape(-1, 3, 3)
        tied = np.cumsum(by_reach, axis=0)[:-1]  # at the n-th threshold: pairs that reach no more than n of them
        row[:] = by_reach.sum(axis=0) - tied
        row[:, 1] = tied.sum(axis=1)
    return counted


def results(
    scored: Mapping[str, Scores],
    *,
    thresholds: Sequence[float] = (OFFICIAL,),
    variants: Mapping[str, Matrix] = VARIANTS,
    boundary: str = "at least",
    outputs: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compute each metric's tau in each language pair at each threshold under each variant.

    Returns pair, metric, threshold, variant, pairs, tau, rank (of the metric among those of the language pair, 1 the
    highest tau). outputs: texts by which identical translations are taken as ties; without, they count as scored.
    """
    frames = []
    for name, scores in scored.items():
        pairs = human.from_scores(scores, outputs=None if outputs is None else of_pair(outputs, name))
        identical = outputs is not None
        counts = tables(scores, pairs, thresholds=thresholds, boundary=boundary, tie_identical=identical)
        index = pd.MultiIndex.from_product([[name], scores.metrics, thresholds], names=["pair", "metric", "threshold"])
        for variant, matrix in variants.items():
            values = {"variant": variant, "pairs": matrix.pairs(counts).ravel(), "tau": matrix.tau(counts).ravel()}
            frames.append(pd.DataFrame(values, index=index).reset_index())
    table = pd.concat(frames, ignore_index=True)
    groups = table.groupby(["pair", "threshold", "variant"], sort=False)["tau"]
    return table.assign(rank=groups.rank(ascending=False, method="min").astype("Int64"))


def firsts(table: pd.DataFrame) -> pd.DataFrame:
    """Name the best metric of each language pair under each variant: pair, a column per variant, and ``same``.

    table: the result of ``results`` at one threshold. same: all symmetric or official variants (Table 4) agree on it.
    """
    best = table.sort_values("tau", ascending=False, kind="stable").drop_duplicates(["pair", "variant"])
    wide = best.pivot(index="pair", columns="variant", values="metric")
    wide = wide[[name for name in dict.fromkeys(table["variant"]) if name in wide]]
    penalties = [name for name in ("no penalty", "soft", "hard") if name in wide]
    return wide.assign(same=wide[penalties].nunique(axis=1) == 1).reset_index().rename_axis(columns=None)


def rank_instability(table: pd.DataFrame) -> pd.DataFrame:
    """Count how often the threshold changes the ranking of the metrics: pair, variant, thresholds, rankings, firsts.

    table: the result of ``results`` at many thresholds. rankings: distinct rankings met on the way; firsts: distinct
    best metrics.
    """
    places = table.pivot(index=["pair", "variant", "threshold"], columns="metric", values="rank").astype(float)
    by = ["pair", "variant"]
    met = pd.Series(list(map(tuple, places.fillna(0).to_numpy())), index=places.index).groupby(level=by)
    counts = {"thresholds": met.size(), "rankings": met.nunique()}
    return pd.DataFrame(counts | {"firsts": places.eq(1).groupby(level=by).any().sum(axis=1)}).reset_index()


def kept(scored: Mapping[str, Scores], *, thresholds: Sequence[float], boundary: str = "at least") -> pd.DataFrame:
    """Count the pairs that are left at each threshold (Figure 1): pair, direction, threshold, pairs, share of all."""
    frames = []
    for name, scores in scored.items():
        pairs = human.from_scores(scores)
        reached = human.ordered_up_to(pairs, list(thresholds), boundary=boundary)
        left = [int((reached > place).sum()) for place in range(len(thresholds))]
        direction = "into English" if name.endswith("-eng") else "out of English"
        columns = {"pair": name, "direction": direction, "threshold": thresholds, "pairs": left}
        frames.append(pd.DataFrame(columns).assign(share=np.array(left) / max(len(pairs), 1)))
    return pd.concat(frames, ignore_index=True)


def mean_kept(left: pd.DataFrame) -> pd.DataFrame:
    """Average what ``kept`` counts over language pairs: direction, threshold, pairs, share."""
    return left.groupby(["direction", "threshold"])[["pairs", "share"]].mean().reset_index()


def ties(
    scored: Mapping[str, Scores], *, outputs: pd.DataFrame | None = None, threshold: float = OFFICIAL
) -> pd.DataFrame:
    """Count what is tied among the pairs that DARR orders (Table 3).

    Returns pair, metric, pairs, identical, ties, ties_identical. identical: pairs of the same text, missing without
    outputs. ties: pairs that the metric ties; ties_identical: those of them that are identical.
    """
    rows = []
    for name, scores in scored.items():
        pairs = human.from_scores(scores, outputs=None if outputs is None else of_pair(outputs, name))
        ordered = human.order(pairs, threshold=threshold) != 0
        for metric, values in zip(scores.metrics, scores.values, strict=True):
            tied = ordered & (values[pairs.first, pairs.segment] == values[pairs.second, pairs.segment])
            counts = [int(chosen.sum()) for chosen in (ordered, ordered & pairs.same, tied, tied & pairs.same)]
            rows.append((name, metric, *counts))
    table = pd.DataFrame(rows, columns=["pair", "metric", "pairs", "identical", "ties", "ties_identical"])
    unknown = ["identical", "ties_identical"] if outputs is None else []
    return table.astype({"identical": "Int64", "ties_identical": "Int64"}).assign(**dict.fromkeys(unknown, pd.NA))


def summarize_ties(counted: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``ties`` over metrics: pair, pairs, identical, fewest_ties, median_ties, most_ties."""
    found = counted.groupby("pair").agg(
        pairs=("pairs", "first"),
        identical=("identical", "first"),
        fewest_ties=("ties", "min"),
        median_ties=("ties", "median"),
        most_ties=("ties", "max"),
    )
    return found.reset_index()


def identical_but_ordered(
    scored: Mapping[str, Scores], outputs: pd.DataFrame, *, threshold: float = OFFICIAL, boundary: str = "at least"
) -> pd.DataFrame:
    """List identical translations of which DARR calls one better (Tables 1 and 2), by pair, the widest apart first.

    Returns pair, doc_segment, better, worse, score_better, score_worse, hypothesis.
    """
    return pd.concat([_identical(each, outputs, threshold, boundary) for each in scored.values()])


def _identical(scores: Scores, outputs: pd.DataFrame, threshold: float, boundary: str) -> pd.DataFrame:
    texts = of_pair(outputs, scores.pair)
    pairs = human.from_scores(scores, outputs=texts)
    found = np.flatnonzero(pairs.same & (human.order(pairs, threshold=threshold, boundary=boundary) != 0))
    found = found[np.argsort(-np.abs(pairs.difference[found]), kind="stable")]
    up = pairs.difference[found] > 0
    better, worse = (np.where(up == yes, pairs.first[found], pairs.second[found]) for yes in (True, False))
    segment = pairs.segment[found]
    labels = np.array(scores.segments, dtype=object)[segment]
    names = np.array(scores.systems, dtype=object)
    place = texts["doc"].astype("str") + ":" + texts["segment"].astype("str")
    said = pd.Series(
        texts["hypothesis"].to_numpy(), index=pd.MultiIndex.from_arrays([texts["system"].astype("str"), place])
    )
    return pd.DataFrame(
        {
            "pair": scores.pair,
            "doc_segment": labels,
            "better": names[better],
            "worse": names[worse],
            "score_better": scores.human[better, segment],
            "score_worse": scores.human[worse, segment],
            "hypothesis": said.reindex(pd.MultiIndex.from_arrays([names[better], labels])).to_numpy(),
        }
    )


def effect_of_identical(scores: Scores, outputs: pd.DataFrame, *, threshold: float = OFFICIAL) -> pd.DataFrame:
    """Compare tau with identical translations as scored and as ties: a row per variant, for the most changed metric.

    Returns variant, metric, pairs (that take part), pairs_tied (that do with identical ones as ties), largest_change
    (of tau, with its sign), moved (metrics whose rank changes), metrics (how many there are).
    """
    one = {scores.pair: scores}
    key = ["pair", "metric", "threshold", "variant"]
    scored, tied = (results(one, thresholds=[threshold], outputs=texts) for texts in (None, outputs))
    both = scored.merge(tied, on=key, suffixes=("", "_tied"))
    both["change"] = both["tau_tied"] - both["tau"]
    both["moves"] = both["rank"] != both["rank_tied"]
    largest = both.loc[both.assign(size=both["change"].abs()).groupby("variant", sort=False)["size"].idxmax()]
    table = largest[["variant", "metric", "pairs", "pairs_tied", "change"]].rename(columns={"change": "largest_change"})
    by_variant = both.groupby("variant")["moves"]
    return table.assign(
        moved=table["variant"].map(by_variant.sum()), metrics=table["variant"].map(by_variant.size())
    ).reset_index(drop=True)


def negated(scores: Scores, *, metrics: Collection[str], variants: Mapping[str, Matrix] = VARIANTS) -> pd.DataFrame:
    """Compute tau of metrics and of their negation: metric, variant, tau, tau_negated, and their sum.

    The sum is 0 where the variant is symmetric.
    """
    pairs = human.from_scores(scores)
    counts = tables(scores.only(list(metrics)), pairs)[:, 0]
    rows = []
    for metric, table in zip(metrics, counts, strict=True):
        for name, matrix in variants.items():
            one, other = float(matrix.tau(table)), float(matrix.tau(table[:, ::-1]))
            rows.append({"metric": metric, "variant": name, "tau": one, "tau_negated": other, "sum": one + other})
    return pd.DataFrame(rows)


def _pairs(table: pd.DataFrame) -> set[str]:
    """Name the language pairs of a table."""
    return {"-".join(ends) for ends in table[["src_lang", "tgt_lang"]].drop_duplicates().astype("str").to_numpy()}
