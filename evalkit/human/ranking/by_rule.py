"""Rank systems and draw lines by a named rule, or by several side by side on the same judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import segment_key
from evalkit.human.normalization import normalize
from evalkit.human.ranking import drawn, rules
from evalkit.human.ranking.rules import LineRule
from evalkit.human.ranking.scores import COUNTED, SegmentMeans, ranked, segment_means
from evalkit.stats import inference


@dataclass(frozen=True, eq=False)
class Ruled:
    """One language pair under one rule.

    table: in the order of the ranking, pair, system, score, segments, judgements, rank, cluster, wins, losses,
    rank_top and rank_bottom. beats: whether the i-th system beats the j-th. p: one-sided or two-sided, as the rule has
    it, corrected; of the systems [i, j] with i above j, 1 elsewhere.
    """

    rule: LineRule
    table: pd.DataFrame
    beats: np.ndarray
    p: np.ndarray

    @property
    def unproved(self) -> int:
        """How many pairs of systems a line parts although the rule's own test does not."""
        cluster = self.table["cluster"].to_numpy()
        return int((np.less.outer(cluster, cluster) & ~self.beats).sum())

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return int(self.table["cluster"].max()) - 1


def rule_clusters(
    ratings: pd.DataFrame,
    *,
    rule: str = "wmt26",
    unit: str | Sequence[str] | None = "doc",
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] | None = None,
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Rank the systems of each language pair and part them by a rule of ``rules.RULES``.

    Rules on z-scores take the column ``z`` where there is one, and standardise per annotator where not. Rules that
    weigh domains alike take the column ``domain``; without it, everything is one domain. unit: what the rule "units"
    takes as drawn; see ``pairwise_tests``. resamples, seed: random signs, or draws, of the rules that need them.
    Returns rule and the columns of ``Ruled.table``.
    Raises DataError where the ratings lack what the rule needs, such as segments that systems share.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": ["A"] * 9 + ["B"] * 9,
    ...     "segment": list("123456789") * 2, "score": [*range(60, 69), *range(50, 68, 2)], "item_type": "system"})
    >>> rule_clusters(ratings, rule="wmt26")[["system", "score", "cluster"]].values.tolist()
    [['A', 64.0, 1], ['B', 58.0, 2]]
    """
    found = judge(
        ratings, rules.named(rule), unit=unit, item_types=item_types, segment=segment, resamples=resamples, seed=seed
    )
    return pd.concat([one.table.assign(rule=rule) for one in found], ignore_index=True)


def judge(
    ratings: pd.DataFrame,
    rule: LineRule,
    *,
    unit: str | Sequence[str] | None = "doc",
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] | None = None,
    resamples: int = 1000,
    seed: int = 7,
    known: dict[tuple[object, ...], Any] | None = None,
) -> list[Ruled]:
    """Apply a rule to every language pair; options: see ``rule_clusters``.

    known: what rules have in common, filled and used here, for one after another on the same ratings and options.
    """
    known = {} if known is None else known
    segment = segment or segment_key(ratings)
    segments = (*segment, "turn") if rule.apart else segment
    key = (rule.by, rule.apart, rule.digits, rule.test == "units")
    if key not in known:
        known[key] = segment_means(
            _prepared(ratings, rule, item_types, segment),
            score="score" if rule.by == "raw" else "z",
            item_types=item_types,
            segment=segments,
            digits=rule.digits,
            unit=unit if rule.test == "units" else None,
        )
    domains = _domains(ratings, segments) if rule.mean == "domains" else None
    return [_ruled(pair, table, rule, domains, resamples, seed, known) for pair, table in known[key].items()]


def _prepared(
    ratings: pd.DataFrame, rule: LineRule, item_types: tuple[str, ...], segment: tuple[str, ...]
) -> pd.DataFrame:
    """Add what a rule needs: z-scores, or the number of a judgement among those of its segment."""
    if rule.by == "z" and "z" not in ratings:
        ratings = standardised(ratings, item_types)
    if rule.apart:
        turn = ratings.groupby(["src_lang", "tgt_lang", "system", *segment], sort=False).cumcount()
        ratings = ratings.assign(turn=turn)
    return ratings


def standardised(ratings: pd.DataFrame, item_types: tuple[str, ...] = COUNTED) -> pd.DataFrame:
    """Add ``z``: scores standardised per annotator, those without spread left out; DataError without annotators."""
    if "annotator" not in ratings:
        raise DataError(
            "Rules on z-scores need the column annotator, which these ratings lack. Choose one on raw scores."
        )
    return ratings.assign(z=normalize(ratings, item_types=item_types)["normalized"])


def p_values(
    rule: LineRule, a: np.ndarray, b: np.ndarray, *, domains: np.ndarray, resamples: int = 1000, seed: int = 7
) -> np.ndarray:
    """Test each row of one system's segments against another's; all rules but those over units. NaN: not judged.

    a, b: (rows, segments). domains: (segments,), codes.
    """
    difference, side = a - b, {"two_sided": rule.two_sided}
    if rule.test == "rank sum":
        return inference.rank_sum(a, b, **side)
    if rule.test == "matched rank sum":
        both = np.isfinite(difference)
        return inference.rank_sum(np.where(both, a, np.nan), np.where(both, b, np.nan), **side)
    if rule.test == "signed rank":
        return inference.signed_rank(difference, **side)
    if rule.test == "signed rank by domain":
        return _by_domain(difference, domains, rule.two_sided)
    if rule.test == "either t":
        paired = inference.paired_t(difference, **side)
        return np.minimum(paired, inference.independent_t(a, b, **side))
    drawn_anew = {"sign flips": inference.sign_flips, "bootstrap": inference.redrawn}[rule.test]
    return drawn_anew(difference, resamples=resamples, seed=seed)


def side_by_side(
    judged: Mapping[str, tuple[pd.DataFrame, Mapping[str, Any]]],
    names: Iterable[str] = tuple(rules.RULES),
    *,
    resamples: int = 1000,
    seed: int = 7,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Apply rules to the same judgements.

    judged: name of the data -> ratings, and options of ``judge`` that they need.
    Returns two tables. Rankings: data, pair, rule, system, score, rank, cluster. Counts: data, pair, rule, systems,
    lines, parted (pairs of systems in different clusters), beaten (pairs that the test parts), unproved (see
    ``Ruled``), and why (the reason where a rule cannot be applied, which then has missing counts).
    """
    rankings: list[pd.DataFrame] = []
    counts: list[dict[str, Any]] = []
    for data, (ratings, options) in judged.items():
        known: dict[tuple[object, ...], Any] = {}
        for name in names:
            try:
                found = judge(ratings, rules.named(name), **options, resamples=resamples, seed=seed, known=known)
            except DataError as refused:
                counts.append({"data": data, "pair": "", "rule": name, "why": str(refused)})
                continue
            for one in found:
                rankings.append(one.table.assign(data=data, rule=name))
                counts.append({"data": data, "rule": name, "why": ""} | _counted(one))
    columns = ["data", "pair", "rule", "system", "score", "rank", "cluster"]
    table = pd.DataFrame(
        counts, columns=["data", "pair", "rule", "systems", "lines", "parted", "beaten", "unproved", "why"]
    )
    whole = dict.fromkeys(["systems", "lines", "parted", "beaten", "unproved"], "Int64")
    return pd.concat(rankings, ignore_index=True)[columns], table.astype(whole)


def parted(rankings: pd.DataFrame) -> pd.DataFrame:
    """Count, for every two systems of each data set and pair, the rules that put the first into a better cluster.

    rankings: the first table of ``side_by_side``. Returns data, pair, better, worse, rules (that part them this way),
    of (rules applied), against (rules that part them the other way) and names (of the rules, while they are few: up to
    three). Each two systems once, in the order that more rules draw; those that none parts are not listed.
    """
    rows = []
    for (data, pair), part in rankings.groupby(["data", "pair"], sort=False):
        clusters = part.pivot(index="rule", columns="system", values="cluster").reindex(part["rule"].unique())
        values, systems = clusters.to_numpy(float), clusters.columns.to_numpy()
        above = values[:, :, None] < values[:, None, :]
        count = above.sum(axis=0)
        for i, j in zip(*np.nonzero((count > count.T) | ((count == count.T) & (count > 0))), strict=True):
            if count[i, j] == count[j, i] and i > j:
                continue
            who = clusters.index[above[:, i, j]].tolist()
            rows.append(
                {
                    "data": data,
                    "pair": pair,
                    "better": systems[i],
                    "worse": systems[j],
                    "rules": len(who),
                    "of": len(clusters),
                    "against": int(count[j, i]),
                    "names": ", ".join(who) if len(who) < 4 else "",
                }
            )
    return pd.DataFrame(rows)


def _counted(one: Ruled) -> dict[str, Any]:
    cluster = one.table["cluster"].to_numpy()
    return {
        "pair": one.table["pair"].iloc[0],
        "systems": len(cluster),
        "lines": one.lines,
        "parted": int(np.less.outer(cluster, cluster).sum()),
        "beaten": int(one.beats.sum()),
        "unproved": one.unproved,
    }


def _ruled(
    pair: str,
    table: SegmentMeans,
    rule: LineRule,
    domains: pd.Series | None,
    resamples: int,
    seed: int,
    known: dict[tuple[object, ...], Any],
) -> Ruled:
    """Rank and part the systems of one language pair; rules that only differ later on share the tests in ``known``."""
    codes = np.zeros(table.means.shape[1], int) if domains is None else pd.factorize(domains.reindex(table.units))[0]
    scores = by_domain(table.means, codes) if rule.mean == "domains" else table.totals()
    order = np.argsort(-scores, kind="stable")
    table, scores = table.taken(order), scores[order]
    size = len(scores)
    upper = np.triu_indices(size, 1)
    p = np.ones((size, size))
    key = (pair, rule.by, rule.apart, rule.digits, rule.mean, rule.test, rule.two_sided)
    if key not in known:
        known[key] = _tested(pair, table, rule, codes, resamples, seed)
    p[upper] = rules.corrected(known[key], rule)
    beats = (p < rule.alpha) & (scores[:, None] > scores)
    if rule.upsets:
        turned = np.ones((size, size))
        turned[upper] = _tested(pair, table.taken(np.arange(size)[::-1]), rule, codes, resamples, seed)
        beats |= turned[::-1, ::-1] < rule.alpha
    cluster = 1 + np.cumsum(np.r_[0, rules.ends(beats, rule.line)[:-1]])
    won, lost = beats.sum(axis=1), beats.sum(axis=0)
    top, bottom = rules.nearest(beats) if rule.line == "ranges" else (1 + lost, size - won)
    placed = ranked(pair, table).assign(score=scores, rank=lambda f: f["score"].rank(ascending=False, method="min"))
    placed = placed.assign(cluster=cluster, wins=won, losses=lost, rank_top=top, rank_bottom=bottom)
    return Ruled(rule, placed.astype({"rank": int}), beats, p)


def _tested(
    pair: str, table: SegmentMeans, rule: LineRule, domains: np.ndarray, resamples: int, seed: int
) -> np.ndarray:
    """Test every two systems, the upper triangle in rows; not corrected."""
    better, worse = np.triu_indices(len(table.systems), 1)
    if rule.test == "units":
        return drawn.higher(table.totals(), drawn.covariance(table), drawn.fewest_units(table))
    a, b = table.means[better], table.means[worse]
    shared = np.isfinite(a - b).sum(axis=1)
    if rule.test != "rank sum" and (shared < 2).any():
        one, other = (table.systems[side[np.argmin(shared)]] for side in (better, worse))
        raise DataError(f"{pair}: {one} and {other} share no two segments, which a matched test needs.")
    return p_values(rule, a, b, domains=domains, resamples=resamples, seed=seed)


def by_domain(means: np.ndarray, domains: np.ndarray) -> np.ndarray:
    """Average segments within each domain, and the domains in which there are any: (..., segments) becomes (...).

    >>> by_domain(np.array([[1.0, 1, 1, 5], [2, np.nan, 2, 2]]), np.array([0, 0, 0, 1])).tolist()
    [3.0, 2.0]
    """
    parts = [means[..., domains == one] for one in np.unique(domains)]
    judged = np.stack([np.isfinite(part).sum(axis=-1) for part in parts], axis=-1)
    sums = np.stack([np.nansum(part, axis=-1) for part in parts], axis=-1)
    return np.divide(sums, judged, out=np.zeros(sums.shape), where=judged > 0).sum(axis=-1) / (judged > 0).sum(axis=-1)


def _by_domain(difference: np.ndarray, domains: np.ndarray, two_sided: bool) -> np.ndarray:
    """Test by signed ranks within each domain, and combine; domains in which nothing differs are left out."""
    parts = [difference[:, domains == one] for one in np.unique(domains)]
    p = np.stack([inference.signed_rank(part, two_sided=two_sided) for part in parts], axis=-1)
    differs = np.stack([(np.nan_to_num(part) != 0).any(axis=1) for part in parts], axis=-1)
    return inference.stouffer(np.where(differs, p, np.nan)) if len(parts) > 1 else p[:, 0]


def _domains(ratings: pd.DataFrame, segment: tuple[str, ...]) -> pd.Series | None:
    """Map each segment to its domain; None where none is known."""
    if "domain" not in ratings:
        return None
    first = ratings.drop_duplicates(list(segment))
    index = pd.Index(first[segment[0]]) if len(segment) == 1 else pd.MultiIndex.from_frame(first[list(segment)])
    return pd.Series(first["domain"].to_numpy(), index=index)
