"""How often each rule parts systems that do not differ, and finds those that do: by rearranging real judgements.

Where every system was judged on the same segments, two of them are made alike by exchanging their names on segments, or
on whole documents, at random: what remains is chance, and the dependence between segments of a document. Where people
judged what they liked, one system's annotators are split into two halves under two names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data.schemas import SEGMENT, segment_names, with_pair
from evalkit.human.ranking import rules
from evalkit.human.ranking.lines import judge, standardised, sum_by
from evalkit.human.ranking.rules import LineRule
from evalkit.human.ranking.scores import COUNTED, SegmentMeans
from evalkit.stats.inference import share_interval

#: Numbers that a test may hold at once.
MOST = 6_000_000
#: Fewest systems of a language pair, from which six are chosen; fewest annotators of a system, who are split.
LEAST, PEOPLE = 6, 10
#: Situations, in words that fit a table's heading.
BY_SEGMENT = "two alike, by segment"
BY_DOCUMENT = "two alike, by document"
ALIKE = (BY_DOCUMENT, BY_SEGMENT)
HALVES = "one system's annotators in halves"
DOMAINS = "alike on average, not within domains"
COUPLES = "three couples of alikes"
SIX = "six alike"
ANY_TEST = "six alike, any test"
POWER = "one of two better by {:g}"
GROUPS = "three of six better by {:g}"


@dataclass(frozen=True)
class Grid:
    """Judgements of one language pair, systems × segments, NaN where nobody judged.

    raw, z: mean scores of cells. per_point: what one point more is worth in z, cell by cell. docs, domains: codes of
    the segments.
    """

    name: str
    raw: np.ndarray
    z: np.ndarray
    per_point: np.ndarray
    docs: np.ndarray
    domains: np.ndarray


@dataclass(frozen=True)
class Batch:
    """Rearranged campaigns of the same systems, by "raw" scores and by "z".

    counted: (systems - 1,), whether a line below a place is one that is asked about.
    """

    tables: Mapping[str, SegmentMeans]
    counted: np.ndarray


def grids(ratings: Mapping[str, pd.DataFrame]) -> list[Grid]:
    """Lay out campaigns in which all systems were judged on the same segments, a grid for each language pair.

    ratings: name -> judgements (doc, segment, annotator), z-scores added where they lack. Pairs of fewer than ``LEAST``
    systems are left out.
    """
    found = []
    for name, table in ratings.items():
        scored = table if "z" in table else standardised(table)
        found += [grid(f"{name} {pair}", part) for pair, part in with_pair(scored).groupby("pair")]
    return [one for one in found if len(one.raw) >= LEAST]


def grid(name: str, ratings: pd.DataFrame, *, segment: Sequence[str] = SEGMENT) -> Grid:
    """Lay out the ratings of one language pair: score, z and annotator, doc, and domain where there is one."""
    known = ratings[ratings["item_type"].isin(COUNTED) & ratings["z"].notna()]
    spread = known.groupby("annotator")["score"].transform("std")
    cells = known.assign(per_point=1 / spread).groupby([*segment, "system"])[["score", "z", "per_point"]].mean()
    wide = [cells[column].unstack("system") for column in cells]
    first = known.drop_duplicates(list(segment)).set_index(list(segment)).reindex(wide[0].index).reset_index()
    codes = [pd.factorize(first.get(column, pd.Series(0, first.index)))[0] for column in ("doc", "domain")]
    return Grid(name, *(one.to_numpy().T for one in wide), *codes)


def swapped(
    grid: Grid,
    *,
    campaigns: int,
    rng: np.random.Generator,
    by: str = "document",
    points: Sequence[float] = (0.0, 0.0),
    cancelling: bool = False,
    true: bool = False,
) -> Iterator[Batch]:
    """Rearrange a grid so that some of its systems, chosen anew each time, do not differ but by ``points``.

    by: "segment" or "document", within which the systems' names are exchanged at random. points: what is added to each
    system's scores afterwards, as many systems as there are numbers; only lines between equals count, or, if true, only
    those between systems that differ. cancelling: add them in some domains and take them away in others, see
    ``balanced``.
    """
    blocks = grid.docs if by == "document" else np.arange(grid.raw.shape[1])
    sign = balanced(grid.domains) if cancelling else np.ones(len(blocks))
    systems, more = len(points), np.asarray(points)[:, None] * sign
    counted = (np.diff(np.sort(points)) == 0)[::-1] != true
    size = max(1, MOST // (systems * (systems - 1) // 2 * grid.raw.shape[1]))
    for start in range(0, campaigns, size):
        count = min(size, campaigns - start)
        chosen = rng.permuted(np.tile(np.arange(len(grid.raw)), (count, 1)), axis=1)[:, :systems]
        order = rng.random((count, systems, blocks.max() + 1)).argsort(axis=1)
        rows = np.take_along_axis(chosen[:, :, None], order, axis=1)[:, :, blocks]
        raw, z, worth = (table[rows, np.arange(table.shape[1])] for table in (grid.raw, grid.z, grid.per_point))
        scores = {"raw": raw + more, "z": z + more * worth}
        yield Batch({name: _averaged(grid, means, chosen) for name, means in scores.items()}, counted)


def _averaged(grid: Grid, means: np.ndarray, systems: np.ndarray) -> SegmentMeans:
    """Say what units, the documents, do to some systems' scores of the grid's segments."""
    there = np.isfinite(means).astype(float)
    units = pd.RangeIndex(grid.docs.max() + 1)
    return SegmentMeans(systems, means, there, units, *_split(means, there, grid.docs), domains=grid.domains)


def balanced(domains: np.ndarray) -> np.ndarray:
    """Give each segment a share of a difference, up to 1 or -1, that is 0 on average over segments and over domains.

    domains: (segments,), codes of three domains or more.

    >>> balanced(np.array([0, 0, 0, 1, 2, 2])).round(2).tolist()
    [-0.5, -0.5, -0.5, -0.5, 1.0, 1.0]
    """
    sizes = np.bincount(domains).astype(float)
    both = np.stack([np.ones(len(sizes)), sizes])
    share = np.where(np.arange(len(sizes)) % 2 == 0, 1.0, -1.0)
    share -= both.T @ np.linalg.pinv(both @ both.T) @ both @ share
    return (share / np.abs(share).max())[domains]


def halves(ratings: pd.DataFrame, *, campaigns: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Split the annotators of each system of one language pair at random into two, as if they had judged two systems.

    ratings: score, z, annotator, system and segment. campaigns: splits in all, the systems in turn. Judgements of one
    system by one annotator are what t-tests take as drawn.
    """
    known = ratings[ratings["item_type"].isin(COUNTED) & ratings["z"].notna()]
    named = known.assign(segment=segment_names(known))
    parts = [part for _, part in named.groupby("system") if part["annotator"].nunique() >= PEOPLE]
    for number, part in enumerate(parts):
        count = len(range(number, campaigns, len(parts)))
        if count:
            yield _halved(part, count, rng)


def _halved(part: pd.DataFrame, count: int, rng: np.random.Generator) -> Batch:
    """Split one system's annotators so many times."""
    who, people = pd.factorize(part["annotator"])
    where = pd.factorize(part["segment"])[0]
    second = rng.random((count, len(people))).argsort(axis=1) < len(people) // 2
    mine = np.stack([second, ~second], axis=1)[:, :, who].astype(float)
    judged = sum_by(mine, where)
    share, tables = mine / np.maximum(judged, 1)[..., where], {}
    for by, column in (("raw", "score"), ("z", "z")):
        values = part[column].to_numpy(float)
        means, split = np.where(judged > 0, sum_by(share * values, where), np.nan), _split(values, share, who)
        tables[by] = SegmentMeans(np.tile([0, 1], (count, 1)), means, judged, pd.RangeIndex(len(people)), *split)
    return Batch(tables, np.ones(1, bool))


def _split(values: np.ndarray, weights: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum weighed values, and weights, (..., systems, rows), by unit: (..., units, systems) twice."""
    both = sum_by(weights * np.nan_to_num(values), codes), sum_by(weights, codes)
    return both[0].swapaxes(-1, -2), both[1].swapaxes(-1, -2)


def lined(batch: Batch, chosen: Sequence[LineRule]) -> np.ndarray:
    """Tell whether each rule draws any line, and whether its test parts any two systems: (2, rules, campaigns)."""
    found = []
    for rule in chosen:
        beats = judge(batch.tables[rule.by], rule, resamples=200)[2]
        below = rules.ends(beats, rule.line)[:, :-1] & batch.counted
        between = beats if batch.counted.all() else np.diagonal(beats, 1, 1, 2) & batch.counted
        found.append([below.any(axis=1), between.reshape(len(beats), -1).any(axis=1)])
    return np.array(found).swapaxes(0, 1)


def rates(batches: Iterable[Batch], situation: str, *, nominal: bool = True, tests: str = "") -> pd.DataFrame:
    """Count how often each rule draws a line: rule, situation, rate, low, high, nominal, campaigns.

    batches: the rearranged campaigns. nominal: whether the systems do not differ, so that the rule's level is what it
    promises; missing elsewhere. tests: a situation's name for rows that count campaigns in which the test parts two
    systems, whether or not a line is drawn; none if empty. low, high: 95 % interval of the share (Clopper & Pearson
    1934), which is about the number of campaigns, not about other judgements.
    """
    chosen, parts = list(rules.RULES.values()), []
    found = [lined(batch, chosen) for batch in batches]
    if not found:  # none of the data allow this situation
        chosen, found = [], [np.zeros((2, 0, 0))]
    for name, table in zip([situation, *[tests] * bool(tests)], np.concatenate(found, axis=2)):
        hits, campaigns = table.sum(axis=1), table.shape[1]
        low, high = share_interval(hits, campaigns)
        levels = [rule.nominal if nominal else np.nan for rule in chosen]
        part = {"rule": [rule.name for rule in chosen], "situation": name, "rate": hits / max(campaigns, 1)}
        parts.append(pd.DataFrame(part | {"low": low, "high": high, "nominal": levels, "campaigns": campaigns}))
    return pd.concat(parts, ignore_index=True)


def first(laid: Sequence[Grid], *, campaigns: int = 100, seed: int = 7) -> pd.DataFrame:
    """Try every rule where two systems are alike and whole documents depend: the table of ``rates``.

    campaigns: rearranged ones a grid.
    """
    return rates(_each(laid, campaigns, seed), BY_DOCUMENT)


def every(
    laid: Sequence[Grid],
    crowds: Mapping[str, pd.DataFrame],
    *,
    points: Sequence[float] = (2.0, 5.0),
    campaigns: int = 100,
    seed: int = 7,
) -> pd.DataFrame:
    """Try every rule in all other situations: one table of ``rates``.

    crowds: name -> ratings with z-scores and annotators, split by ``halves``. points: differences to be found, on a
    scale from 0 to 100; grids on another scale, such as MQM, are left out of these. campaigns: rearranged ones a grid
    for two systems; for six, or halves of annotators, fewer.
    """
    some, scored = max(1, 2 * campaigns // 5), [one for one in laid if np.nanmax(one.raw) > 50]
    domains = [one for one in scored if one.domains.max() >= 2]
    six, couples = (0.0,) * 6, (60.0, 60.0, 30.0, 30.0, 0.0, 0.0)
    people = [part for table in crowds.values() for _, part in with_pair(table).groupby("pair")]
    split = (
        batch
        for number, part in enumerate(people)
        for batch in halves(part, campaigns=max(1, campaigns // 5), rng=np.random.default_rng([seed, number]))
    )
    found = [
        rates(_each(laid, campaigns, seed, by="segment"), BY_SEGMENT),
        rates(split, HALVES),
        rates(_each(domains, campaigns, seed, points=(5.0, 0.0), cancelling=True, true=True), DOMAINS),
        rates(_each(laid, some, seed, points=six), SIX, tests=ANY_TEST),
        rates(_each(scored, some, seed, points=couples), COUPLES),
    ]
    for size in points:
        two, groups = (size, 0.0), (size,) * 3 + (0.0,) * 3
        found.append(rates(_each(scored, campaigns, seed, points=two, true=True), POWER.format(size), nominal=False))
        found.append(rates(_each(scored, some, seed, points=groups, true=True), GROUPS.format(size), nominal=False))
    return pd.concat(found, ignore_index=True)


def _each(laid: Sequence[Grid], campaigns: int, seed: int, **how: Any) -> Iterator[Batch]:
    for number, one in enumerate(laid):
        yield from swapped(one, campaigns=campaigns, rng=np.random.default_rng([seed, number]), **how)


def by_resamples(
    laid: Sequence[Grid], rule: LineRule, counts: Sequence[int], *, runs: int = 5, seed: int = 7
) -> pd.DataFrame:
    """Say how far a rule that draws resamples decides otherwise when it draws others, of real judgements.

    counts: numbers of resamples; each is drawn in so many runs. Returns resamples, lines_least and lines_most (in all
    of ``laid`` together, over runs), pairs (of systems) and turned (pairs that the test parts in some runs only).
    """
    rows = []
    for count in counts:
        lines, turned, pairs = np.zeros(runs, int), 0, 0
        for one in laid:
            drawing, table = replace(rule, resamples=count), _averaged(one, one.raw, np.arange(len(one.raw)))
            beats = np.stack([judge(table, drawing, seed=seed + run)[2] for run in range(runs)])
            lines += rules.ends(beats, rule.line)[:, :-1].sum(axis=1)
            turned += int((beats.any(axis=0) & ~beats.all(axis=0)).sum())
            pairs += len(one.raw) * (len(one.raw) - 1) // 2
        rows.append((count, lines.min(), lines.max(), pairs, turned))
    return pd.DataFrame(rows, columns=["resamples", "lines_least", "lines_most", "pairs", "turned"])


def advised(found: pd.DataFrame, *, power: str) -> str:
    """Name the rule that keeps its level wherever systems do not differ, and of several the most powerful one.

    found: tables of ``rates``, of which ``ANY_TEST`` is left out. power: the situation in which a rule should draw a
    line. A rule fails where even the low end of its rate is above its level. If all fail, the one with the least excess
    is named.

    >>> table = pd.DataFrame({"rule": list("abab"), "situation": ["alike"] * 2 + ["differ"] * 2,
    ...     "rate": [0.4, 0.1, 0.9, 0.5], "low": [0.3, 0.1, 0.8, 0.4], "nominal": [0.1, 0.1, None, None]})
    >>> advised(table, power="differ")
    'b'
    """
    alike = found[found["nominal"].notna() & (found["situation"] != ANY_TEST)]
    excess = (alike["low"] - alike["nominal"]).groupby(alike["rule"], sort=False).max()
    strong = found[found["situation"] == power].set_index("rule")["rate"]
    kept = excess.index[excess <= 0]
    return str(strong.reindex(kept).idxmax() if len(kept) else excess.idxmin())


def wide(found: pd.DataFrame) -> pd.DataFrame:
    """Lay rates out as rule × situation, in percent, and each rule's level: rules in the order of ``RULES``."""
    table = found.pivot(index="rule", columns="situation", values="rate")[found["situation"].unique()] * 100
    table = table.reindex([name for name in rules.RULES if name in table.index])
    levels = [100 * rules.RULES[name].nominal for name in table.index]
    return table.assign(level=levels).rename_axis(columns=None).reset_index()


def totals(counts: pd.DataFrame) -> pd.DataFrame:
    """Sum up what rules draw where all can be applied: rule, rankings, lines, parted, beaten, unproved.

    counts: the second table of ``lines.side_by_side``.
    """
    applied = counts[counts["why"].eq("")]
    everywhere = applied.groupby(["data", "pair"])["rule"].transform("size") == counts["rule"].nunique()
    each = applied[everywhere].groupby("rule")
    sums = each[["lines", "parted", "beaten", "unproved"]].sum().astype(int)
    sums.insert(0, "rankings", each.size())
    return sums.reindex(list(rules.RULES), fill_value=0).reset_index()
