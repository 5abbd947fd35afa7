"""How often each rule parts systems that do not differ, and finds those that do: by rearranging real judgements.

Where every system was judged on the same segments, two of them are made alike by exchanging their names on segments, or
on whole documents, at random: what remains is chance, and the dependence between segments of a document. Where people
judged what they liked, one system's annotators are split into two halves under two names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from evalkit.data.schemas import SEGMENT, segment_names
from evalkit.human.ranking import drawn, rules
from evalkit.human.ranking.by_rule import by_domain, p_values
from evalkit.human.ranking.rules import LineRule
from evalkit.human.ranking.scores import COUNTED
from evalkit.stats.inference import share_interval

#: Numbers that a test may hold at once.
MOST = 6_000_000


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
    """Rearranged campaigns of the same systems: (campaigns, systems, segments), by "raw" scores and by "z".

    sums, weights: the same scores split by the units that are taken as drawn, (campaigns, systems, units); their
    ratio of totals is a system's score. domains: codes of the segments. counted: (systems - 1,), whether a line below
    a place is one that is asked about.
    """

    means: Mapping[str, np.ndarray]
    sums: Mapping[str, np.ndarray]
    weights: np.ndarray
    domains: np.ndarray
    counted: np.ndarray


def grid(name: str, ratings: pd.DataFrame, *, segment: Sequence[str] = SEGMENT) -> Grid:
    """Lay out the ratings of one language pair: score, z and annotator, doc, and domain where there is one."""
    cell = [*segment, "system"]
    known = ratings[ratings["item_type"].isin(COUNTED) & ratings["z"].notna()]
    spread = known.groupby("annotator")["score"].transform("std")
    cells = known.assign(per_point=1 / spread).groupby(cell)[["score", "z", "per_point"]].mean()
    wide = {column: cells[column].unstack("system") for column in cells}
    first = known.drop_duplicates(list(segment)).set_index(list(segment))
    first = first.reindex(wide["score"].index).reset_index()
    codes = [
        pd.factorize(first[column])[0] if column in first else np.zeros(len(first), int) for column in ("doc", "domain")
    ]
    return Grid(name, *(wide[column].to_numpy().T for column in ("score", "z", "per_point")), *codes)


def swapped(
    grid: Grid,
    *,
    by: str,
    campaigns: int,
    rng: np.random.Generator,
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
    size = max(1, MOST // (systems * (systems - 1) // 2 * grid.raw.shape[1]))
    for start in range(0, campaigns, size):
        count = min(size, campaigns - start)
        chosen = rng.permuted(np.tile(np.arange(len(grid.raw)), (count, 1)), axis=1)[:, :systems]
        order = rng.random((count, systems, blocks.max() + 1)).argsort(axis=1)[:, :, blocks]
        rows = np.take_along_axis(chosen[:, :, None], order, axis=1)
        raw, z, worth = (table[rows, np.arange(table.shape[1])] for table in (grid.raw, grid.z, grid.per_point))
        yield _batch({"raw": raw + more, "z": z + more * worth}, grid, points, true)


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
    system by one annotator are what the rule "units" takes as drawn.
    """
    known = ratings[ratings["item_type"].isin(COUNTED) & ratings["z"].notna()]
    parts = [part for _, part in known.groupby("system") if part["annotator"].nunique() >= 10]
    for number, part in enumerate(parts):
        count = len(range(number, campaigns, len(parts)))
        if count:
            yield _halved(part, count, rng)


def lined(
    batch: Batch, chosen: Sequence[LineRule], *, resamples: int = 200, seed: int = 7
) -> tuple[np.ndarray, np.ndarray]:
    """Tell whether each rule draws any line, and whether its test parts any two systems: both (rules, campaigns).

    resamples, seed: random signs or draws of the rules that need them. Rules that differ only in their lines share one
    round of tests.
    """
    known: dict[tuple[object, ...], np.ndarray] = {}
    drawn_lines, parted = [], []
    for rule in chosen:
        key = (rule.by, rule.mean, rule.test, rule.two_sided, rule.correction, rule.alpha, rule.upsets)
        if key not in known:
            known[key] = _beats(batch, rule, resamples, seed)
        beats = known[key]
        drawn_lines.append(np.any(rules.ends(beats, rule.line)[:, :-1] & batch.counted, axis=-1))
        between = beats if batch.counted.all() else np.diagonal(beats, 1, 1, 2) & batch.counted
        parted.append(between.reshape(len(beats), -1).any(axis=1))
    return np.array(drawn_lines), np.array(parted)


def rates(
    batches: Iterable[Batch],
    situation: str,
    *,
    names: Iterable[str] = tuple(rules.RULES),
    nominal: bool = True,
    tests: str = "",
    resamples: int = 200,
    seed: int = 7,
) -> pd.DataFrame:
    """Count how often each rule draws a line: rule, situation, rate, low, high, nominal, campaigns.

    batches: the rearranged campaigns. nominal: whether the systems do not differ, so that the rule's level is what it
    promises; missing elsewhere. tests: a situation's name for rows that count campaigns in which the test parts two
    systems, whether or not a line is drawn; none if empty. low, high: 95 % interval of the share (Clopper & Pearson
    1934), which is about the number of campaigns, not about other judgements.
    """
    chosen = [rules.named(name) for name in names]
    hits, campaigns = np.zeros((2, len(chosen)), int), 0
    for batch in batches:
        campaigns += len(batch.weights)
        hits += [found.sum(axis=1) for found in lined(batch, chosen, resamples=resamples, seed=seed)]
    if not campaigns:  # none of the data allow this situation
        chosen, hits = [], hits[:, :0]
    levels = [rule.nominal if nominal else np.nan for rule in chosen]
    parts = []
    for name, count in zip((situation, tests), hits, strict=True):
        low, high = share_interval(count, campaigns)
        part = {
            "rule": [rule.name for rule in chosen],
            "situation": name,
            "rate": count / max(campaigns, 1),
            "low": low,
            "high": high,
            "nominal": levels,
            "campaigns": campaigns,
        }
        parts += [pd.DataFrame(part)] if name else []
    return pd.concat(parts, ignore_index=True)


def advised(found: pd.DataFrame, *, power: str) -> str:
    """Name the rule that keeps its level wherever systems do not differ, and of several the most powerful one.

    found: tables of ``rates``. power: the situation in which a rule should draw a line. A rule fails where even the
    low end of its rate is above its level. If all fail, the one with the least excess is named.

    >>> table = pd.DataFrame({"rule": list("abab"), "situation": ["alike"] * 2 + ["differ"] * 2,
    ...     "rate": [0.4, 0.1, 0.9, 0.5], "low": [0.3, 0.1, 0.8, 0.4], "nominal": [0.1, 0.1, None, None]})
    >>> advised(table, power="differ")
    'b'
    """
    alike = found[found["nominal"].notna()]
    excess = (alike["low"] - alike["nominal"]).groupby(alike["rule"], sort=False).max()
    strong = found[found["situation"] == power].set_index("rule")["rate"]
    kept = excess.index[excess <= 0]
    return str(strong.reindex(kept).idxmax() if len(kept) else excess.idxmin())


def _batch(means: dict[str, np.ndarray], grid: Grid, points: Sequence[float], true: bool) -> Batch:
    """Add up segments by document, and find the places between equals, or between others."""
    there = np.isfinite(means["raw"])
    member = np.eye(grid.docs.max() + 1)[grid.docs]
    sums = {by: np.nan_to_num(values) @ member for by, values in means.items()}
    return Batch(means, sums, there @ member, grid.domains, (np.diff(np.sort(points)) == 0)[::-1] != true)


def _halved(part: pd.DataFrame, count: int, rng: np.random.Generator) -> Batch:
    """Split one system's annotators so many times."""
    who, people = pd.factorize(part["annotator"])
    where, segments = pd.factorize(segment_names(part))
    second = rng.random((count, len(people))).argsort(axis=1) < len(people) // 2
    mine = np.stack([second, ~second], axis=1)[:, :, who].reshape(2 * count, -1).astype(float)
    rows = np.arange(len(part))
    by_segment = sparse.csr_array((np.ones(len(part)), (rows, where)), shape=(len(part), len(segments)))
    by_person = sparse.csr_array((np.ones(len(part)), (rows, who)), shape=(len(part), len(people)))
    judged = mine @ by_segment
    share = mine / np.maximum(judged[:, where], 1)
    means, sums = {}, {}
    for by, column in (("raw", "score"), ("z", "z")):
        weighed = share * part[column].to_numpy(float)
        means[by] = np.where(judged > 0, weighed @ by_segment, np.nan).reshape(count, 2, -1)
        sums[by] = (weighed @ by_person).reshape(count, 2, -1)
    weights = (share @ by_person).reshape(count, 2, -1)
    return Batch(means, sums, weights, np.zeros(len(segments), int), np.ones(1, bool))


def _beats(batch: Batch, rule: LineRule, resamples: int, seed: int) -> np.ndarray:
    """Tell who beats whom, each campaign in the order of its ranking: (campaigns, systems, systems)."""
    means = batch.means[rule.by]
    scores = by_domain(means, batch.domains if rule.mean == "domains" else np.zeros(means.shape[-1], int))
    order = np.argsort(-scores, axis=-1, kind="stable")
    scores = np.take_along_axis(scores, order, axis=-1)
    better, worse = np.triu_indices(scores.shape[-1], 1)
    beats, upsets = np.zeros((2, *scores.shape, scores.shape[-1]), bool)
    p = _tested(batch, rule, order, resamples, seed)
    beats[:, better, worse] = (p < rule.alpha) & (scores[:, better] > scores[:, worse])
    if rule.upsets:
        upsets[:, better, worse] = _tested(batch, rule, order[:, ::-1], resamples, seed) < rule.alpha
    return beats | upsets[:, ::-1, ::-1]


def _tested(batch: Batch, rule: LineRule, order: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Test every two systems of each campaign in the order of its ranking: (campaigns, pairs)."""
    count, size = order.shape
    better, worse = np.triu_indices(size, 1)
    if rule.test == "units":
        p = _over_units(_ordered(batch.sums[rule.by], order), _ordered(batch.weights, order))
    else:
        means = _ordered(batch.means[rule.by], order)
        a, b = (means[:, side].reshape(-1, means.shape[-1]) for side in (better, worse))
        p = p_values(rule, a, b, domains=batch.domains, resamples=resamples, seed=seed).reshape(count, -1)
    return rules.corrected(p, rule)


def _over_units(sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Test as ``pairwise_tests(test="t")`` does, campaign by campaign; one kind of units."""
    totals = weights.sum(axis=-1)
    scores = sums.sum(axis=-1) / totals
    influence = (sums - scores[..., None] * weights) / totals[..., None]
    units = totals**2 / (weights**2).sum(axis=-1)
    fewest = np.maximum(np.minimum(units[..., :, None], units[..., None, :]), 2)
    spread = influence @ influence.swapaxes(-1, -2) * fewest / (fewest - 1)
    return drawn.higher(scores, spread, fewest)


def _ordered(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    return np.take_along_axis(values, order[:, :, None], axis=1)
