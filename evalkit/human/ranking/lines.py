"""Rank systems, test every two and draw lines: one engine for a campaign, for named rules and for thousands of trials.

``judge`` ranks systems, of one campaign or of each of many, and applies a rule (see ``rules``); ``pairwise_tests``,
``significance_clusters`` and ``rule_clusters`` do so for ratings tables, pair by pair. ``rank_ranges`` says how sure
places are; ``resampled``, ``rankings`` and ``rank_shifts`` say how they move when scores are made otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse, stats

from evalkit import DataError
from evalkit.data.schemas import segment_key
from evalkit.human.normalization import normalize
from evalkit.human.ranking import rules
from evalkit.human.ranking.rules import LineRule
from evalkit.human.ranking.scores import COUNTED, SegmentMeans, apart, half_widths, influences, ranked, segment_means
from evalkit.stats import inference
from evalkit.stats.correlation import kendall_b

#: Options of ``segment_means`` that a ranking may take.
_OF_MEANS = ("score", "item_types", "segment", "unit")
#: Tests that match no segments, so that systems may have segments of their own.
UNMATCHED = ("mann-whitney", "rank sum", "t")
#: Without ties, rank sums are exact below so many segments of both systems (R), or up to so many of either (scipy).
EXACT_BELOW, EXACT_UP_TO = 50, 8


def _sides(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the better and of the worse of every two systems: (campaigns * pairs, ...) twice."""
    better, worse = (values[..., side, :] for side in np.triu_indices(values.shape[-2], 1))
    return better.reshape(-1, values.shape[-1]), worse.reshape(-1, values.shape[-1])


def _pairs(table: SegmentMeans) -> tuple[np.ndarray, np.ndarray]:
    return table.once("pairs", lambda: _sides(table.means))


def _differences(table: SegmentMeans) -> np.ndarray:
    """Return the differences of every two systems, matched by segment, (campaigns * pairs, segments)."""
    return table.once("differences", lambda: np.subtract(*_pairs(table)))


def _balance(table: SegmentMeans) -> tuple[np.ndarray, ...]:
    return table.once("balance", lambda: _count_balance(table.means))


def _count_balance(means: np.ndarray) -> tuple[np.ndarray, ...]:
    """Count, for every two systems, pairs of segments won and tied, segments of either, and cubes of tied ones.

    means: (..., systems, segments). Returns (campaigns * pairs,) five times, from products of counts per distinct
    score.
    """
    means = means.reshape(-1, *means.shape[-2:])
    size = means.shape
    values = means.reshape(size[0], -1)
    order = values.argsort(axis=1)
    steps = np.diff(np.take_along_axis(values, order, axis=1), axis=1, prepend=np.nan) != 0
    codes = np.empty(values.shape, int)
    np.put_along_axis(codes, order, steps.cumsum(axis=1) - 1, axis=1)
    there = np.isfinite(means)
    distinct = 1 + codes[there.reshape(size[0], -1)].max(initial=0)
    cells = np.arange(size[0] * size[1]).reshape(*size[:2], 1) * distinct + codes.reshape(size)
    counts = np.bincount(cells[there], minlength=size[0] * size[1] * distinct).astype(float)
    counts = counts.reshape(*size[:2], distinct)
    turned, squares = counts.swapaxes(1, 2), counts**2
    won, tied, mixed = (counts.cumsum(axis=2) - counts) @ turned, counts @ turned, squares @ turned
    (one, other), (cubes, others) = (
        _sides(each[..., None]) for each in (counts.sum(axis=2), (squares * counts).sum(axis=2))
    )
    upper = (slice(None), *np.triu_indices(size[1], 1))
    won, tied, mixed = (each[upper].ravel() for each in (won.swapaxes(1, 2), tied, mixed + mixed.swapaxes(1, 2)))
    return won, tied, one[:, 0], other[:, 0], (cubes + others)[:, 0] + 3 * mixed


def p_values(table: SegmentMeans, rule: LineRule, *, resamples: int, seed: int) -> np.ndarray:
    """Test every two systems in the order that they have: (..., pairs), not corrected."""
    draws = {"resamples": rule.resamples or resamples, "seed": seed}
    p = table.once((rule.test, rule.two_sided, *draws.values()), lambda: _TESTS[rule.test](table, rule, draws))
    return np.reshape(p, (*table.means.shape[:-2], -1))


def sum_by(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sum along the last axis what has the same code."""
    member = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
    return (values.reshape(-1, len(codes)) @ member).reshape(*values.shape[:-1], -1)


def _rank_sum(table: SegmentMeans, rule: LineRule, draws: Mapping[str, int]) -> np.ndarray:
    """Test by the balance of wins and losses, corrected for ties and continuity; exact in small samples without ties.

    Source: Mann & Whitney 1947.  Caveat: it asks whose values are more often higher, not whose mean is.
    """
    won, tied, one, other, cubes = _balance(table)
    both, compared = one + other, one * other
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = compared / 12 * (both + 1 - (cubes - both) / (both * (both - 1)))
    distance = won + tied / 2 - compared / 2
    p = inference.normal(distance, variance, continuity=0.5, two_sided=rule.two_sided)
    fewer, more = np.minimum(one, other), np.maximum(one, other)
    small = more < EXACT_BELOW if rule.test == "mann-whitney" else fewer <= EXACT_UP_TO
    side = "two-sided" if rule.two_sided else "greater"
    for k in np.flatnonzero(small & (fewer > 0) & (cubes == both)):
        a, b = (part[k][np.isfinite(part[k])] for part in _pairs(table))
        p[k] = stats.mannwhitneyu(a, b, alternative=side, method="exact").pvalue
    return p


def _matched_rank_sum(table: SegmentMeans, rule: LineRule, draws: Mapping[str, int]) -> np.ndarray:
    """Test by rank sums over the segments that both systems have."""
    if np.isfinite(table.means).all():
        return _rank_sum(table, rule, draws)
    shared = np.where(np.isfinite(_differences(table))[:, None], np.stack(_pairs(table), axis=1), np.nan)
    return _rank_sum(replace(table, means=shared), rule, draws)


def _signed_rank(table: SegmentMeans, rule: LineRule, draws: Mapping[str, int]) -> np.ndarray:
    """Test by ranks of differences; as in R for "wilcoxon", else as in scipy."""
    in_r: dict[str, Any] = {"continuity": 0.5, "exact_up_to": EXACT_BELOW - 1} if rule.test == "wilcoxon" else {}
    return inference.signed_rank(_differences(table), two_sided=rule.two_sided, **in_r)


def _by_domain(table: SegmentMeans, rule: LineRule, draws: Mapping[str, int]) -> np.ndarray:
    """Test by signed ranks within each domain, and combine; domains in which nothing differs are left out."""
    parts = table.by_domain(_differences(table))
    p = np.stack([inference.signed_rank(part, two_sided=rule.two_sided) for part in parts], axis=-1)
    differs = np.stack([(np.nan_to_num(part) != 0).any(axis=1) for part in parts], axis=-1)
    return inference.stouffer(np.where(differs, p, np.nan)) if len(parts) > 1 else p[:, 0]


def _either_t(table: SegmentMeans, rule: LineRule, draws: Mapping[str, int]) -> np.ndarray:
    """Test by Student's t, paired or independent, whichever finds more."""
    paired = inference.paired_t(_differences(table), two_sided=rule.two_sided)
    return np.minimum(paired, inference.independent_t(*_pairs(table), two_sided=rule.two_sided))


def _either_bootstrap(table: SegmentMeans, rule: LineRule, draws: Mapping[str, int]) -> np.ndarray:
    """Test by the bootstrap of the mean difference, and by that of independent means, whichever finds more."""
    paired = inference.above_by_bca(_differences(table), **draws)
    return np.minimum(paired, inference.above_by_bca(*_pairs(table), **draws))


def _over_units(table: SegmentMeans, rule: LineRule, draws: Mapping[str, int]) -> np.ndarray:
    """Hold differences of scores against what another choice of units would do to them, by Student's t."""
    return apart(table.totals(rule.mean), *influences([table]).spread())


#: How two systems are tested; what it means stands in ``rules.TESTS``. (table in order, rule, resamples and seed) -> p.
_TESTS: dict[str, Callable[[SegmentMeans, LineRule, Mapping[str, int]], np.ndarray]] = {
    "mann-whitney": _rank_sum,
    "rank sum": _rank_sum,
    "matched rank sum": _matched_rank_sum,
    "wilcoxon": _signed_rank,
    "signed rank": _signed_rank,
    "signed rank by domain": _by_domain,
    "either t": _either_t,
    "either bootstrap": _either_bootstrap,
    "permutation": lambda table, _, draws: inference.sign_flips(_differences(table), **draws),
    "bootstrap": lambda table, _, draws: inference.redrawn(_differences(table), **draws),
    "t": _over_units,
}


def judge(
    table: SegmentMeans, rule: LineRule, *, resamples: int = 1000, seed: int = 7
) -> tuple[SegmentMeans, np.ndarray, np.ndarray]:
    """Rank the systems of every campaign, and test every two by a rule; rules with the same test share it.

    Returns the table in the order of each ranking; p, (..., systems, systems), corrected, of the systems [i, j] with i
    above j, 1 elsewhere; and beats, whether the i-th beats the j-th.
    """
    table = table.ordered(rule.mean)
    scores, size = table.totals(rule.mean), table.means.shape[-2]
    upper = (..., *np.triu_indices(size, 1))
    p, turned = np.ones((2, *scores.shape, size))
    p[upper] = rules.corrected(p_values(table, rule, resamples=resamples, seed=seed), rule)
    beats = (p < rule.alpha) & (scores[..., :, None] > scores[..., None, :])
    if rule.upsets:
        back = table.taken(np.broadcast_to(np.arange(size)[::-1], scores.shape))
        turned[upper] = rules.corrected(p_values(back, rule, resamples=resamples, seed=seed), rule)
        beats |= turned[..., ::-1, ::-1] < rule.alpha
    return table, p, beats


class Ruled(NamedTuple):
    """One language pair under one rule.

    table: in the order of the ranking, pair, system, score, segments, judgements, rank, cluster (1 is best), wins,
    losses, rank_top and rank_bottom. p, beats: see ``judge``.
    """

    table: pd.DataFrame
    p: np.ndarray
    beats: np.ndarray

    def counts(self) -> dict[str, Any]:
        """Count systems, lines, pairs of systems in different clusters (parted), pairs that the test parts (beaten),
        and those that a line parts although the rule's own test does not (unproved).
        """
        cluster = self.table["cluster"].to_numpy()
        apart = np.less.outer(cluster, cluster)
        return {
            "pair": self.table["pair"].iloc[0],
            "systems": len(cluster),
            "lines": int(cluster.max()) - 1,
            "parted": int(apart.sum()),
            "beaten": int(self.beats.sum()),
            "unproved": int((apart & ~self.beats).sum()),
        }


def cluster(pair: str, table: SegmentMeans, rule: LineRule, *, resamples: int = 5000, seed: int = 7) -> Ruled:
    """Rank and part the systems of one language pair."""
    _demand_shared(pair, table.ordered(rule.mean), rule)
    table, p, beats = judge(table, rule, resamples=resamples, seed=seed)
    won, lost = beats.sum(axis=1), beats.sum(axis=0)
    top, bottom = rules.nearest(beats) if rule.ranges else (1 + lost, len(won) - won)
    placed = ranked(pair, table, table.totals(rule.mean)).assign(
        cluster=rules.clusters(beats, rule.line), wins=won, losses=lost, rank_top=top, rank_bottom=bottom
    )
    return Ruled(placed, p, beats)


def compare(pair: str, table: SegmentMeans, rule: LineRule, *, resamples: int = 5000, seed: int = 7) -> pd.DataFrame:
    """Test every two systems of one language pair: the table of ``pairwise_tests``."""
    table = table.ordered()
    _demand_shared(pair, table, rule)
    totals, (better, worse) = table.totals(), np.triu_indices(len(table.systems), 1)
    if rule.test in ("mann-whitney", "rank sum"):
        won, tied, n_better, n_worse = (part.astype(int) for part in _balance(table)[:4])
        lost = n_better * n_worse - won - tied
    else:
        gap = _differences(table).round(9)  # of adjusted scores the last bits decide nothing
        won, tied, lost = ((gap > 0).sum(axis=1), (gap == 0).sum(axis=1), (gap < 0).sum(axis=1))
        n = np.isfinite(table.means).sum(axis=1)
        n_better, n_worse = (n[better], n[worse]) if rule.test in UNMATCHED else [won + tied + lost] * 2
    compared_on = won + tied + lost
    p = p_values(table, rule, resamples=resamples, seed=seed)
    adjusted = rules.corrected(p, rule)
    return pd.DataFrame(
        {
            "pair": pair,
            "better": pd.Series(table.systems[better], dtype="str"),
            "worse": pd.Series(table.systems[worse], dtype="str"),
            "difference": totals[better] - totals[worse],
            "n_better": n_better,
            "n_worse": n_worse,
            "wins": won,
            "ties": tied,
            "losses": lost,
            "superiority": np.divide(won + tied / 2, compared_on, out=np.full(len(won), np.nan), where=compared_on > 0),
            "p": p,
            "adjusted": adjusted,
            "significant": (adjusted < rule.alpha) & (totals[better] > totals[worse]),
        }
    )


def pairwise_tests(ratings: pd.DataFrame, *, resamples: int = 5000, seed: int = 7, **how: Any) -> pd.DataFrame:
    """Test whether the better of two systems is better, for every two systems of a language pair.

    how: options of ``segment_means`` (score, item_types, segment, unit), and fields of ``LineRule`` that shape a test.
    test: "mann-whitney" (the default), on all segments of either system, as WMT does; "wilcoxon", signed ranks on the
    segments that both have; "permutation", random signs of these differences; "t", the difference of the scores over
    its standard error under another choice of ``unit`` (see ``stats.widths``); others stand in ``rules.TESTS``. The
    first two are R's wilcox.test: ties corrected, continuity corrected, exact in small samples without ties. All are
    one-sided: the better beats the worse. alpha: their level. correction: None (WMT's), "holm", for all tests of a
    language pair, or "lines". digits: see ``segment_means``; 15 gives WMT22's published p-values to their last digit.
    unit: what the t-test takes as drawn by chance, a column such as "annotator" or two that are crossed; None for
    segments. resamples, seed: of the permutation test, whose p is (hits + 1) / (resamples + 1). Returns, in the order
    of the ranking: pair, better, worse, difference (of scores), n_better, n_worse (segments), wins, ties, losses (over
    all pairs of segments, or matched ones), superiority (of the better: share of wins plus half the ties), p, adjusted
    (p after correction), significant (adjusted < alpha). Source: Mann & Whitney 1947; Wilcoxon 1945; Holm 1979; WMT22
    findings.  Caveat: segments count as independent, although an annotator judged many of them, so p-values are too
    small where annotators differ, but for "t" with that unit.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": ["A"] * 4 + ["B"] * 4,
    ...     "segment": list("1234") * 2, "score": [60.0, 70, 80, 90, 10, 20, 30, 65], "item_type": "system"})
    >>> pairwise_tests(ratings)[["better", "worse", "wins", "losses", "p"]].round(3).values.tolist()
    [['A', 'B', 15, 1, 0.029]]
    """
    tables, rule = averaged(ratings, how)
    parts = [compare(pair, table, rule, resamples=resamples, seed=seed) for pair, table in tables.items()]
    return pd.concat(parts, ignore_index=True)


def averaged(ratings: pd.DataFrame, how: Mapping[str, Any]) -> tuple[dict[str, SegmentMeans], LineRule]:
    """Average ratings as options of ``segment_means`` say; the others shape the rule."""
    rule = LineRule(**{name: value for name, value in how.items() if name not in _OF_MEANS})
    options = {name: value for name, value in how.items() if name in _OF_MEANS}
    return segment_means(ratings, digits=rule.digits, **options), rule


def significance_clusters(ratings: pd.DataFrame, *, resamples: int = 5000, seed: int = 7, **how: Any) -> pd.DataFrame:
    """Rank the systems of each language pair, and part them into clusters by pairwise tests.

    how: options of ``segment_means``, and fields of ``LineRule``: those of ``pairwise_tests``, and line: "all" draws
    one below a system if it and all above are significantly better than all below, which is how WMT's findings describe
    clusters; "own" if it has as many wins as there are systems below, whatever those above have, which is the rule of
    WMT's published files; others stand in ``rules.LINES``, and ``rules.RULES`` has them by year. upsets: a system may
    also win over one with a higher score, as in these files (a mean and a rank test can disagree). The defaults with
    score="z" are WMT22's. Returns, in the order of the ranking: pair, system, score, segments, judgements, rank,
    cluster (1 is best), wins and losses (significant ones), rank_top = 1 + losses and rank_bottom = systems - wins, the
    range of ranks that WMT prints.  Source: WMT22 findings (Kocmi et al. 2022).  Caveat: a range is no confidence
    interval; many tests at ``alpha`` each draw some lines by chance (see correction), and a line not drawn says nothing
    about equality.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": list("AAAABBBB"),
    ...     "segment": list("1234") * 2, "score": [60.0, 70, 80, 90, 10, 20, 30, 65], "item_type": "system"})
    >>> significance_clusters(ratings)[["system", "cluster", "rank_top", "rank_bottom"]].values.tolist()
    [['A', 1, 1, 1], ['B', 2, 2, 2]]
    """
    tables, rule = averaged(ratings, how)
    parts = [cluster(pair, table, rule, resamples=resamples, seed=seed).table for pair, table in tables.items()]
    return pd.concat(parts, ignore_index=True)


def rule_clusters(ratings: pd.DataFrame, *, rule: str = "wmt26", **options: Any) -> pd.DataFrame:
    """Rank the systems of each language pair and part them by a rule of ``rules.RULES``: rule, and ``Ruled.table``.

    options: see ``apply_rule``, which says what a rule needs.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": ["A"] * 9 + ["B"] * 9,
    ...     "segment": list("123456789") * 2, "score": [*range(60, 69), *range(50, 68, 2)], "item_type": "system"})
    >>> rule_clusters(ratings, rule="wmt26")[["system", "score", "cluster"]].values.tolist()
    [['A', 64.0, 1], ['B', 58.0, 2]]
    """
    found = apply_rule(ratings, rules.named(rule), **options)
    return pd.concat([one.table.assign(rule=rule) for one in found], ignore_index=True)


def apply_rule(
    ratings: pd.DataFrame,
    rule: LineRule,
    *,
    resamples: int = 1000,
    seed: int = 7,
    known: dict[Any, Any] | None = None,
    **options: Any,
) -> list[Ruled]:
    """Apply a rule to every language pair.

    Rules on z-scores take the column ``z`` where there is one, and standardise per annotator where not. Rules that
    weigh domains alike take the column ``domain``; without it, everything is one domain. options: item_types and
    segment of ``segment_means``, and unit, what t-tests take as drawn, by default "doc"; see ``pairwise_tests``.
    resamples, seed: random signs, or draws, of the rules that need them. known: what rules have in common, filled and
    used here, for one after another on the same ratings and options. Raises DataError where the ratings lack what the
    rule needs, such as segments that systems share.
    """
    known = {} if known is None else known
    key = (rule.by, rule.apart, rule.digits, rule.test == "t")
    if key not in known:
        known[key] = _laid_out(ratings, rule, **options)
    draws = {"resamples": resamples, "seed": seed}
    return [cluster(pair, table, rule, **draws) for pair, table in known[key].items()]


def _laid_out(
    ratings: pd.DataFrame,
    rule: LineRule,
    *,
    unit: str | Sequence[str] | None = "doc",
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] | None = None,
) -> dict[str, SegmentMeans]:
    """Average what a rule ranks: z-scores, or each judgement by its number among those of its segment."""
    segment = segment or segment_key(ratings)
    if rule.by == "z" and "z" not in ratings:
        ratings = standardised(ratings, item_types)
    if rule.apart:
        turn = ratings.groupby(["src_lang", "tgt_lang", "system", *segment], sort=False).cumcount()
        ratings, segment = ratings.assign(turn=turn), (*segment, "turn")
    score, unit = "score" if rule.by == "raw" else "z", unit if rule.test == "t" else None
    tables = segment_means(ratings, score=score, item_types=item_types, segment=segment, digits=rule.digits, unit=unit)
    if "domain" in ratings and rule.test != "t":
        domain = ratings.drop_duplicates(list(segment)).set_index(list(segment))["domain"]
        for pair, table in tables.items():
            tables[pair] = replace(table, domains=pd.factorize(domain.reindex(table.units))[0])
    return tables


def _demand_shared(pair: str, table: SegmentMeans, rule: LineRule) -> None:
    """Refuse two systems without two segments in common, where the test is matched."""
    if rule.test in UNMATCHED:
        return
    there = np.isfinite(table.means).astype(float)
    few = np.argwhere(np.triu(there @ there.T < 2, 1))
    if len(few):
        one, other = table.systems[few[0]]
        raise DataError(f"{pair}: {one} and {other} share no two segments, which a matched test needs.")


def standardised(ratings: pd.DataFrame, item_types: tuple[str, ...] = COUNTED) -> pd.DataFrame:
    """Add ``z``: scores standardised per annotator, those without spread left out; DataError without annotators."""
    if "annotator" not in ratings:
        raise DataError(
            "Rules on z-scores need the column annotator, which these ratings lack. Choose one on raw scores."
        )
    return ratings.assign(z=normalize(ratings, item_types=item_types)["normalized"])


def side_by_side(
    judged: Mapping[str, tuple[pd.DataFrame, Mapping[str, Any]]],
    names: Iterable[str] = tuple(rules.RULES),
    *,
    resamples: int = 1000,
    seed: int = 7,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Apply rules to the same judgements.

    judged: name of the data -> ratings, and options of ``apply_rule`` that they need.
    Returns two tables. Rankings: data, pair, rule, system, score, rank, cluster. Counts: data, pair, rule, those of
    ``Ruled.counts``, and why (the reason where a rule cannot be applied, which then has missing counts).
    """
    rankings: list[pd.DataFrame] = []
    counts: list[dict[str, Any]] = []
    for data, (ratings, options) in judged.items():
        known: dict[Any, Any] = {}
        for name in names:
            try:
                found = apply_rule(ratings, rules.named(name), **options, resamples=resamples, seed=seed, known=known)
            except DataError as refused:
                counts.append({"data": data, "pair": "", "rule": name, "why": str(refused)})
                continue
            rankings += [one.table.assign(data=data, rule=name) for one in found]
            counts += [{"data": data, "rule": name, "why": ""} | one.counts() for one in found]
    whole = dict.fromkeys(["systems", "lines", "parted", "beaten", "unproved"], "Int64")
    table = pd.DataFrame(counts, columns=["data", "pair", "rule", *whole, "why"]).astype(whole)
    columns = ["data", "pair", "rule", "system", "score", "rank", "cluster"]
    return pd.concat(rankings, ignore_index=True)[columns], table


def parted(rankings: pd.DataFrame) -> pd.DataFrame:
    """Count, for every two systems of each data set and pair, the rules that put the first into a better cluster.

    rankings: the first table of ``side_by_side``. Returns data, pair, better, worse, rules (that part them this way),
    of (rules applied), against (rules that part them the other way) and names (of the rules, while they are few: up to
    three). Each two systems once, in the order that more rules draw; those that none parts are not listed.
    """
    on, two = ["data", "pair"], ["better", "worse"]
    both = rankings.merge(rankings, on=[*on, "rule"], suffixes=("_better", "_worse"))
    above = both[both["cluster_better"] < both["cluster_worse"]]
    above = above.rename(columns={"system_better": "better", "system_worse": "worse"})
    table = above.groupby([*on, *two])["rule"].agg(rules="size", names=", ".join).reset_index()
    turned = table[[*on, *two, "rules"]].rename(columns={"better": "worse", "worse": "better", "rules": "against"})
    table = table.merge(turned, how="left").fillna({"against": 0}).astype({"against": int})
    more, even = table["rules"] > table["against"], table["rules"] == table["against"]
    table = table[more | (even & (table["better"] < table["worse"]))]
    of = rankings.groupby(on)["rule"].nunique().rename("of").reset_index()
    table = table.merge(of).assign(names=lambda found: found["names"].where(found["rules"] < 4, ""))
    return table[[*on, *two, "rules", "of", "against", "names"]]


# How sure a ranking is, and how it moves when the scores are made otherwise: by resampling a campaign's units


class Resampled(NamedTuple):
    """What one language pair gives under every variant, systems by name: clustered rankings, scores on resamples."""

    pair: str
    clustered: dict[str, pd.DataFrame]
    drawn: np.ndarray


def rank_ranges(ratings: pd.DataFrame, *, resamples: int = 1000, seed: int = 7, **options: Any) -> pd.DataFrame:
    """Give each system's score and rank an interval.

    options: those of ``segment_means``. unit: what another campaign would have drawn otherwise, a column such as
    "annotator", "hit" or "doc", all judgements of one together; None for segments: how the ranking would look with
    other annotators is another question than how it would look with other segments. Two columns are drawn
    independently, crosswise. Returns, in the order of the ranking: pair, system, score, low, high (95 %, see
    ``stats.widths``), rank, rank_low, rank_high (percentiles of draws whose differences spread as widely as their
    intervals; whole ranks) and best (share of draws in which nobody is better).  Raises DataError where a system rests
    on one unit. Caveat: what is not drawn is taken as given; ranks of systems that are nearly equal have intervals that
    cover less than their level.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": ["A"] * 3 + ["B"] * 3,
    ...     "segment": list("123") * 2, "score": [60.0, 70, 80, 10, 20, 30], "item_type": "system"})
    >>> rank_ranges(ratings)[["system", "rank", "rank_low", "rank_high", "best"]].values.tolist()
    [['A', 1, 1, 1, 1.0], ['B', 2, 2, 2, 0.0]]
    """
    unit, parts = options.get("unit") or "segment", []
    named = unit if isinstance(unit, str) else " and ".join(unit)
    for pair, table in segment_means(ratings, **options).items():
        table = table.ordered()
        sure = places(table, unit=f"units ({named})", resamples=resamples, seed=seed)
        parts.append(ranked(pair, table).merge(sure, on="system"))
    columns = ["pair", "system", "score", "low", "high", "rank", "rank_low", "rank_high", "best"]
    return pd.concat(parts, ignore_index=True)[columns]


def places(table: SegmentMeans, *, unit: str, resamples: int, seed: int) -> pd.DataFrame:
    """Give each system of a table the interval of its score, and its places: as ``rank_ranges``, in the table's order.

    unit: what is drawn, in words.
    """
    totals, [reach] = table.totals(), half_widths([table], unit=unit)
    ranks = ranks_of(influences([table]).draws(totals, resamples=resamples, seed=seed).round(9))
    low, high = rank_interval(ranks)
    columns = {"low": totals - reach, "high": totals + reach, "rank_low": low, "rank_high": high}
    return pd.DataFrame({"system": pd.Series(table.systems, dtype="str"), **columns, "best": (ranks == 1).mean(axis=0)})


def resampled(
    variants: Mapping[str, pd.DataFrame], *, resamples: int = 1000, seed: int = 7, **how: Any
) -> list[Resampled]:
    """Rank the systems under every variant of the ratings, and draw their scores anew, pair by pair.

    variants: name -> ratings, such as the same judgements normalised or screened in different ways; all have the same
    systems. how: options of ``pairwise_tests``: score and others of ``segment_means``, and what shapes the clusters,
    such as test, alpha and correction. Segments, or the values of the column ``unit`` (see ``rank_ranges``),
    are drawn jointly: each draw scores all variants on the same ones, so that moves are not blurred by which segments a
    campaign happened to have. The result is for ``rankings`` and ``rank_shifts``.
    """
    how = {"segment": segment_key(next(iter(variants.values())))} | how
    averages = {name: averaged(frame, how) for name, frame in variants.items()}
    (first, (starts, rule)), found = next(iter(averages.items())), []
    for pair, start in starts.items():
        tables = {name: one[pair] for name, (one, _) in averages.items() if pair in one}
        for name in variants:
            if lost := {*start.systems} ^ {*(tables[name].systems if name in tables else ())}:
                raise DataError(
                    f"{pair}: only one of the variants {first} and {name} has scores of {min(lost)}. "
                    "Rankings can be compared on the same systems only: leave it out of both."
                )
        units = start.units
        for table in tables.values():
            units = units.union(table.units, sort=False)
        aligned = [_aligned(table, units) for table in tables.values()]
        reach = half_widths(aligned, unit="units drawn")
        totals = np.stack([table.totals() for table in aligned])
        scale = np.repeat(reach.max(axis=1).clip(1e-12), reach.shape[1])
        drawn = influences(aligned).draws(totals.ravel(), resamples=resamples, seed=seed, scale=scale)
        drawn = drawn.reshape(resamples, *totals.shape).swapaxes(0, 1).round(9)
        clusters = {
            name: cluster(pair, table, rule).table.sort_values("system", ignore_index=True)
            for name, table in zip(tables, aligned, strict=True)
        }
        found.append(Resampled(pair, clusters, drawn))
    return found


def rankings(found: Iterable[Resampled]) -> pd.DataFrame:
    """Tabulate each variant's ranking beside the places of its systems under the first variant.

    found: the result of ``resampled``. Returns pair, variant, system, score, rank, rank_low, rank_high (bootstrap),
    cluster, moved (places gained against the first variant; positive is up), moved_low, moved_high, and beyond_noise
    (the interval of ``moved`` leaves 0 out), in the order of each ranking.
    """
    columns = "pair variant system score rank rank_low rank_high cluster moved moved_low moved_high beyond_noise"
    parts = []
    for one in found:
        ranks = ranks_of(one.drawn)
        first = next(iter(one.clustered.values()))["rank"]
        for k, (variant, table) in enumerate(one.clustered.items()):
            low, high = rank_interval(ranks[k])
            moved_low, moved_high = rank_interval(ranks[0] - ranks[k])
            part = table.assign(variant=variant, rank_low=low, rank_high=high, moved=first - table["rank"])
            part = part.assign(moved_low=moved_low, moved_high=moved_high).sort_values("rank", kind="stable")
            parts.append(part.assign(beyond_noise=(part["moved_low"] > 0) | (part["moved_high"] < 0)))
    return pd.concat(parts, ignore_index=True)[columns.split()]


def rank_shifts(found: Iterable[Resampled]) -> pd.DataFrame:
    """Measure how far each variant's ranking is from that of the first variant, beside how far chance would move it.

    found: the result of ``resampled``. Returns, per language pair and each variant after the first:
    pair, variant, systems; tau_b (Kendall's, between the two lists of scores), tau_b_low and tau_b_high (bootstrap,
    both on the same draws); moved (systems whose rank differs), beyond_noise (those of them whose bootstrap interval of
    ``moved`` leaves out 0); clusters; cluster_changes (pairs of systems that one of the rankings parts by a line and
    the other does not, or parts the other way round); and by chance, where the first ranking is compared with itself on
    resampled units: tau_b_noise (median), and noise_share (of draws in which tau-b is no higher than the variant's; a
    large share: the variant moves the ranking no more than another sample would).  Source: Kendall 1945.
    Caveat: resampled segments take the annotators as given; where few people each judged many segments, and the
    variants treat people differently, unit="annotator" is the honest noise. A resample differs from the campaign about
    as much as the campaign from the truth; a second campaign would differ from it by √2 times as much.
    """
    rows = []
    for one in found:
        first, *others = one.clustered
        start, moves = one.clustered[first], rankings([one]).query("moved != 0").groupby("variant")["beyond_noise"]
        counts = moves.agg(["size", "sum"]).reindex(others, fill_value=0)
        noise = kendall_b(one.drawn[0], start["score"].to_numpy())
        for drawn, name in zip(one.drawn[1:], others, strict=True):
            table = one.clustered[name]
            value = float(kendall_b(table["score"], start["score"]))
            ends = inference.interval(kendall_b(drawn, one.drawn[0]))
            own, before = (each["cluster"].to_numpy() for each in (table, start))
            rest = (own.max(), cluster_changes(before, own), np.median(noise), (noise <= value + 1e-12).mean())
            rows.append((one.pair, name, len(table), value, *ends, *counts.loc[name], *rest))
    columns = "pair variant systems tau_b tau_b_low tau_b_high moved beyond_noise clusters cluster_changes"
    return pd.DataFrame(rows, columns=[*columns.split(), "tau_b_noise", "noise_share"])


def summarize_shifts(shifts: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``rank_shifts`` over language pairs: variant, mean tau_b and tau_b_noise, sums of the counts.

    The counts are systems, moved, beyond_noise and cluster_changes.
    """
    by_variant = shifts.groupby("variant", sort=False)
    counts = by_variant[["systems", "moved", "beyond_noise", "cluster_changes"]].sum()
    return by_variant[["tau_b", "tau_b_noise"]].mean().join(counts).reset_index()


def cluster_changes(one: np.ndarray, other: np.ndarray) -> int:
    """Count the pairs of systems that stand otherwise to each other: which is in the better cluster, or neither.

    >>> cluster_changes(np.array([1, 1, 2]), np.array([1, 2, 2]))
    2
    """
    i, j = np.triu_indices(len(one), 1)
    return int((np.sign(one[i] - one[j]) != np.sign(other[i] - other[j])).sum())


def _aligned(table: SegmentMeans, units: pd.Index) -> SegmentMeans:
    """Spread what is resampled over more units."""
    places = units.get_indexer(table.units)
    sums, weights = np.zeros((2, len(units), len(table.systems)))
    sums[places], weights[places] = table.sums, table.weights
    return replace(table, units=units, sums=sums, weights=weights)


def ranks_of(scores: np.ndarray) -> np.ndarray:
    """Rank along the last axis: 1 is the highest, equal scores share the better rank."""
    return stats.rankdata(-scores, method="min", axis=-1).astype(int)


def rank_interval(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % percentile interval of whole numbers, draws along the first axis, rounded outwards."""
    low = np.quantile(ranks, 0.025, axis=0, method="lower").astype(int)
    return low, np.quantile(ranks, 0.975, axis=0, method="higher").astype(int)
