"""Another campaign beside one's own: what both judged, and how alike they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.agreement import measure_agreement
from evalkit.campaign.method import DOCUMENTS, Method, choose_method
from evalkit.campaign.missing import Missing, or_missing
from evalkit.campaign.opening import Campaign, from_ratings
from evalkit.data.provenance import like, reading_of, source_of
from evalkit.human.ranking.movement import rank_interval, ranks_of
from evalkit.stats import correlation, inference
from evalkit.stats.agreement import cross_replication
from evalkit.stats.correlation import kendall_b, pearson, ratio
from evalkit.stats.terms import join_names, pluralize

#: Fewest segments that both judged for a comparison.
FEWEST = 10
COLLECT = (
    "To compare two campaigns, name systems, documents and segments alike in both files: `wmt23.A` and `A` are two "
    "systems to this report. Of exports of Appraise, import both with --batches, which tells exactly which segment an "
    "item is."
)


@or_missing("Name a campaign of the same language pair, and of the same criterion, with -p against=FILE.")
def counterpart(mine: Campaign, ratings: pd.DataFrame) -> Campaign:
    """Look at another file in the language pair that is in detail in one's own.

    ratings: as ``data.open_campaign`` reads them. Of several criteria, that of ``mine`` is taken. Where low scores are
    good in ``mine``, those of the other are turned round as well, unless its own import says which way is better.
    """
    criterion = ""
    if mine.criterion and "criterion" in ratings:
        there = list(dict.fromkeys(ratings["criterion"]))
        if mine.criterion not in there:
            raise DataError(f"here {mine.criterion} was judged, there {join_names(there)}.")
        criterion = mine.criterion
    told = str(reading_of(ratings).get("orientation", ""))
    turned = mine.turned and told in ("", mine.orientation)
    name = source_of(ratings)["name"]
    if name == source_of(mine.ratings)["name"]:  # two files called campaign.parquet stay two
        ratings = like(ratings, ratings, source=source_of(ratings) | {"name": f"{name}-against"})
    try:
        return from_ratings(ratings, pair=mine.pair, criterion=criterion, higher_is_better=not turned)
    except DataError as problem:
        has = ", ".join(sorted((ratings["src_lang"] + "-" + ratings["tgt_lang"]).unique()))
        if mine.pair in has.split(", "):
            raise
        raise DataError(f"{mine.pair}, the language pair in detail, is not in {name}, which has {has}.") from problem


@dataclass(frozen=True, eq=False)
class Shared:
    """What two campaigns both judged.

    key: the columns that name a segment in both. systems: with ``FEWEST`` items in both, by name; sparse: the others
    that are in both. items: (system, *key) that both judged.
    rows: the judgements of these systems, here and there, with ``shared`` (of such an item) and ``share`` (1 / the
    item's judgements). counts: what, here, there, both.
    """

    key: tuple[str, ...]
    systems: list[str]
    sparse: tuple[str, ...]
    items: pd.MultiIndex
    rows: tuple[pd.DataFrame, pd.DataFrame]
    counts: pd.DataFrame

    @property
    def whole(self) -> bool:
        """Whether nobody judged other items of these systems."""
        return all(bool(rows["shared"].all()) for rows in self.rows)

    def of(self, campaign: Campaign) -> Campaign:
        """Leave of a campaign only the judgements of shared items."""
        rows = campaign.judged
        there = pd.MultiIndex.from_frame(rows[["system", *self.key]]).isin(self.items)
        part = like(rows[there].reset_index(drop=True), campaign.part)
        return replace(campaign, part=part, ratings=part, spans=None).adjusted()


def find_shared(mine: Campaign, other: Campaign) -> Shared:
    """Find what two campaigns both judged. Raises DataError where that is nothing, or too little, with counts."""
    key = _key(mine, other)
    both = mine.judged, other.judged
    systems = sorted(set(both[0]["system"]) & set(both[1]["system"]))
    if not systems:
        here, there = (pluralize(len(one.systems), "system") for one in (mine, other))
        raise DataError(
            f"none of the {here} here ({join_names(mine.systems)}) is among the {there} there "
            f"({join_names(other.systems)})."
        )
    common = pd.Series(_common(both, systems, key).get_level_values("system")).value_counts()
    kept = [system for system in systems if common.get(system, 0) >= FEWEST]
    if not kept:
        most = str(common.max()) if len(common) else "no"
        one, two = (len(rows[list(key)].drop_duplicates()) for rows in both)
        raise DataError(
            f"{pluralize(len(systems), 'system')} of both campaigns ({join_names(systems)}) "
            f"{'has' if len(systems) == 1 else 'have'} {most} segments in common{' at most' * (len(systems) > 1)}, of "
            f"{one:,} segments here and {two:,} there (documents here: {_some(both[0])}; there: {_some(both[1])}); "
            f"{FEWEST} are the fewest for a comparison."
        )
    items = _common(both, kept, key)
    rows = tuple(_marked(table[table["system"].isin(kept)].reset_index(drop=True), key, items) for table in both)
    sparse = tuple(sorted({*systems} - {*kept}))
    return Shared(key, kept, sparse, items, (rows[0], rows[1]), _counts(both, (rows[0], rows[1]), key))


def _common(both: tuple[pd.DataFrame, pd.DataFrame], systems: list[str], key: tuple[str, ...]) -> pd.MultiIndex:
    """Find the items of these systems that both judged."""
    item = ["system", *key]
    here, there = (pd.MultiIndex.from_frame(rows.loc[rows["system"].isin(systems), item]).unique() for rows in both)
    return here.intersection(there).sort_values()


def _key(mine: Campaign, other: Campaign) -> tuple[str, ...]:
    """Say which columns name a segment in both; a number alone only where no two documents of either share it."""
    if mine.segment == other.segment:
        return mine.segment
    anew = next(one for one in (mine, other) if "doc" in one.segment)
    if anew.judged[["doc", "segment"]].drop_duplicates().duplicated("segment").any():
        here, there = ("anew in every document" if one is anew else "throughout" for one in (mine, other))
        raise DataError(f"segments are numbered {here} here, and {there} there.")
    return ("segment",)


def _counts(
    both: tuple[pd.DataFrame, pd.DataFrame], rows: tuple[pd.DataFrame, pd.DataFrame], key: tuple[str, ...]
) -> pd.DataFrame:
    """Count what either campaign has, and what of it is in both; items are those of the systems compared."""
    counts = []
    for what, columns in (("systems", ["system"]), ("documents", ["doc"]), ("segments", list(key))):
        here, there = (len(table[columns].drop_duplicates()) for table in both)
        counts.append((what, here, there, len(rows[0].loc[rows[0]["shared"], columns].drop_duplicates())))
    here, there = (len(table[["system", *key]].drop_duplicates()) for table in rows)
    counts.append(("items", here, there, len(rows[0].loc[rows[0]["shared"], ["system", *key]].drop_duplicates())))
    one, other = (set(table["annotator"]) for table in both)
    counts.append(("annotators", len(one), len(other), len(one & other)))
    return pd.DataFrame(counts, columns=["what", "here", "there", "both"])


def _some(rows: pd.DataFrame) -> str:
    return join_names(sorted(rows["doc"].astype("str").unique()))


def _marked(rows: pd.DataFrame, key: tuple[str, ...], items: pd.MultiIndex) -> pd.DataFrame:
    """Say of each judgement whether both campaigns judged its item, and what part of the item's judgements it is."""
    item = ["system", *key]
    size = rows.groupby(item)["score"].transform("size")
    return rows.assign(shared=pd.MultiIndex.from_frame(rows[item]).isin(items), share=1 / size)


#: Fewest annotators of a campaign for them to be drawn anew.
PEOPLE = 3
#: Share of draws that have to leave every system a judgement.
COMPLETE = 0.9


class Together:
    """Labels of the rows of two tables, drawn anew: those in both once for both, the others within their own table."""

    def __init__(self, here: np.ndarray, there: np.ndarray) -> None:
        names, codes = np.unique(np.concatenate([here, there]), return_inverse=True)
        self.here, self.there = codes[: len(here)], codes[len(here) :]
        kind = np.isin(names, here) + 2 * np.isin(names, there)
        strata = [np.flatnonzero(kind == one) for one in (1, 2, 3)]
        #: In the order of their names, so that the draws are the same whichever table is called the first.
        self.strata = sorted((stratum for stratum in strata if len(stratum)), key=lambda stratum: stratum[0])
        self.size = len(names)

    def __call__(self, batch: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw how often each row counts, (batch, rows) of either table."""
        counts = np.empty((batch, self.size))
        for stratum in self.strata:
            counts[:, stratum] = inference.unit_counts(len(stratum), batch, rng)
        return counts[:, self.here], counts[:, self.there]


def texts(rows: pd.DataFrame, key: tuple[str, ...], *, documents: bool) -> np.ndarray:
    """Label each row by the text that it is about: its document, or its segment."""
    if documents:
        return rows["doc"].to_numpy(str)
    label = rows[key[0]].astype("str")
    for column in key[1:]:
        label = label + "\0" + rows[column].astype("str")
    return label.to_numpy(str)


def weights(
    shared: Shared, *, documents: bool, people: bool, resamples: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw both campaigns anew, the same texts and the same people in both, block by block.

    documents: draw documents, not segments. people: draw annotators as well, of a campaign with ``PEOPLE`` or more.
    Yields how often each judgement of ``shared.rows`` counts, (batch, rows) here and there: how often its text was
    drawn, times how often its annotator was. Source: Owen 2007, the pigeonhole bootstrap.
    Caveat: crossed draws err on the side of wide intervals.
    """
    drawn = [Together(*(texts(rows, shared.key, documents=documents) for rows in shared.rows))]
    if people:
        labels = []
        for number, rows in enumerate(shared.rows):
            names = rows["annotator"].to_numpy(str)
            few = rows["annotator"].nunique() < PEOPLE
            labels.append(np.full(len(names), f"\0{number}") if few else names)  # one label is always drawn once
        drawn.append(Together(*labels))

    def block(batch: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        (here, there), *others = [one(batch, rng) for one in drawn]
        for more_here, more_there in others:
            here, there = here * more_here, there * more_there
        return here, there

    yield from inference.in_blocks(block, resamples, seed=seed, numbers=4 * sum(map(len, shared.rows)))


#: What ``scorer`` computes: the order on shared items, the order on all of one's own, and raw means on shared items.
ORDER, OWN, MEAN = 0, 1, 2


def scorer(rows: pd.DataFrame, systems: list[str], column: str) -> Callable[[np.ndarray], np.ndarray]:
    """Make what scores systems under any weights of judgements: (batch, rows) to (batch, 3, systems + 1).

    rows: as in ``Shared.rows``. column: what systems are ordered by. The last score is that of all systems together.
    A segment's judgements are averaged, then segments, as ``ranking.system_scores`` does; NaN where nothing is left.
    """
    belongs = np.zeros((len(rows), len(systems) + 1))
    belongs[np.arange(len(rows)), pd.Index(systems).get_indexer(rows["system"])] = 1
    belongs[:, -1] = 1
    share = rows["share"].to_numpy()
    both = share * rows["shared"].to_numpy()
    kinds = [(rows[name].to_numpy(float), part) for name, part in ((column, both), (column, share), ("score", both))]
    parts = [part[:, None] * belongs for _, part in kinds]
    sums = [values[:, None] * part for (values, _), part in zip(kinds, parts, strict=True)]

    def score(weights: np.ndarray) -> np.ndarray:
        scored = [ratio(weights @ total, weights @ part) for total, part in zip(sums, parts, strict=True)]
        return np.stack(scored, axis=1).round(9)  # equal means are a tie, whatever their last bits

    return score


def draw_scores(
    shared: Shared, scores: list[Callable[[np.ndarray], np.ndarray]], *, resamples: int, seed: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Score all systems anew, (draws, side, kind, system), by the first design that leaves each a judgement.

    Returns with it what was drawn. No draws where no design does.
    """
    people = any(rows["annotator"].nunique() >= PEOPLE for rows in shared.rows)
    whole = "doc" in shared.key and shared.items.get_level_values("doc").nunique() >= DOCUMENTS
    designs = dict.fromkeys([(whole, people), (False, people), (False, False)])
    for documents, persons in designs:
        parts = weights(shared, documents=documents, people=persons, resamples=resamples, seed=seed)
        drawn = np.concatenate(
            [np.stack([score(one) for score, one in zip(scores, both, strict=True)], axis=1) for both in parts]
        )
        complete = np.isfinite(drawn).all(axis=(1, 2, 3))
        if complete.mean() >= COMPLETE:
            return drawn[complete], ("documents" if documents else "segments", *(["annotators"] * persons))
    return drawn[:0], ()


def item_means(shared: Shared, rows: list[pd.DataFrame]) -> pd.DataFrame:
    """Average the judgements of each shared item, and their squares: here, there, here_square, there_square."""
    columns: dict[str, pd.Series] = {}
    for table, where in zip(rows, ("here", "there"), strict=True):
        kept = table[table["shared"]].assign(square=lambda t: t["score"] ** 2)
        means = kept.groupby(["system", *shared.key])[["score", "square"]].mean().reindex(shared.items)
        columns |= {where: means["score"], f"{where}_square": means["square"]}
    return pd.DataFrame(columns).round(9)


def draw_items(cells: pd.DataFrame, shared: Shared, drawn: tuple[str, ...], *, resamples: int, seed: int) -> np.ndarray:
    """Draw Pearson's r, Kendall's tau-b and agreement between two campaigns anew over texts: (draws, 3).

    cells: see ``item_means``. drawn: what was drawn for scores of systems, "documents" perhaps among it.
    """
    unit = texts(shared.items.to_frame(index=False), shared.key, documents="documents" in drawn)
    here, there = (cells[name].to_numpy() for name in ("here", "there"))
    squares = cells["here_square"] + cells["there_square"]
    moments = correlation.moments(here - here.mean(), there - there.mean()).T

    def statistic(counts: np.ndarray) -> np.ndarray:
        tau = _kendall_b(here, there, counts.astype(int))
        between = cross_replication(here, there, squares, counts)
        return np.stack([correlation.pearson_of_sums(counts @ moments), tau, between], axis=1)

    return inference.resample(statistic, unit, resamples=resamples, seed=seed)


def _kendall_b(here: np.ndarray, there: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute Kendall's tau-b of items under each row of counts: off tables where scores take few values."""
    if len(np.unique(here)) * len(np.unique(there)) <= 8 * len(here):
        return correlation.kendall_b_of_values(here, there, counts)
    return np.array([kendall_b(np.repeat(here, times), np.repeat(there, times)) for times in counts])


def ends(draws: np.ndarray, *, around: float | None = None) -> tuple[float, float]:
    """Return the 95 % interval of draws; missing where hardly any draw is defined.

    around: a correlation that the draws are moved to, so that it is their median; the ends are cut off at -1 and 1.
    Every draw has the noise of its sample on top of that of the campaigns, which brings correlations of few systems
    nearer to 0 than the campaigns' own.

    >>> ends(np.array([0.1, 0.2, 0.3])), ends(np.array([0.1, 0.2, 0.3]), around=0.95)  # doctest: +NUMBER
    ((0.105, 0.295), (0.855, 1.0))
    """
    defined = draws[np.isfinite(draws)]
    if len(defined) < max(COMPLETE * len(draws), 1):
        return np.nan, np.nan
    low, high = inference.interval(defined)
    if around is None:
        return float(low), float(high)
    shift = around - float(np.median(defined))
    return max(float(low) + shift, -1.0), min(float(high) + shift, 1.0)


#: How two campaigns can stand to each other on a pair of systems.
SAME, OPPOSITE, HERE, THERE, NEITHER = "the same", "opposite", "only here", "only there", "in neither"
_ALIKE = ["of", "coefficient", "estimate", "low", "high", "n"]


@dataclass(frozen=True)
class Footing:
    """Whether a point means the same in both campaigns.

    unit: what a difference of their scores is in; empty where the levels cannot be compared, and why says so.
    stretched: whether both scales were stretched to 0 to 100 first.
    """

    unit: str
    stretched: bool = False
    why: str = ""


@dataclass(frozen=True, eq=False)
class Against:
    """What two campaigns say of the same outputs: "here" is one's own, "there" the other; differences: here - there.

    names: of the two files. shared: what, here, there, both; sparse: systems with too few items in both. drawn: what
    was drawn anew for intervals; empty where there are none. criteria: what was judged, where a file says so.
    unturned: why scores there were not turned round although those here were; empty where both were, or neither.
    ranked_by: what orders the systems. systems: system, mean_here, mean_there, difference with low and high (only on
    one footing), and places on shared items with intervals (rank_here_low, …). decisions: every two systems:
    better_here, better_there (empty where the test does not decide), verdict. alike: of (systems, items), coefficient,
    estimate, low, high, n. level: difference of the mean over shared items, low, high, sd_difference (of single items),
    sd_here, sd_there; empty without a footing. agreement: where, coefficient, estimate, low, high, items; lacks:
    where -> why there is none. persons: annotators called the same in both, on the items that they judged in both.
    """

    pair: str
    names: tuple[str, str]
    shared: pd.DataFrame
    sparse: tuple[str, ...]
    drawn: tuple[str, ...]
    criteria: tuple[str, str]
    unturned: str
    ranked_by: tuple[str, str]
    footing: Footing
    systems: pd.DataFrame
    decisions: pd.DataFrame
    alike: pd.DataFrame
    level: dict[str, float]
    agreement: pd.DataFrame
    lacks: dict[str, str]
    persons: pd.DataFrame

    @property
    def sizes(self) -> dict[str, tuple[int, int, int]]:
        """How many systems, documents, segments, annotators and items there are: here, there, in both."""
        return {row.what: (int(row.here), int(row.there), int(row.both)) for row in self.shared.itertuples()}

    @property
    def columns(self) -> list[str]:
        """Columns of ``systems`` that a page has room for; the intervals of places stand in the figure."""
        return [name for name in self.systems if not (name.startswith("rank") and name.endswith(("low", "high")))]

    def measure(self, of: str, coefficient: str) -> dict[str, float]:
        """Return a row of ``alike``: estimate, low, high, n; empty where there is none."""
        rows = self.alike[self.alike["of"].eq(of) & self.alike["coefficient"].eq(coefficient)]
        return rows[["estimate", "low", "high", "n"]].iloc[0].to_dict() if len(rows) else {}


def compare_campaigns(
    mine: Campaign, other: Campaign | Missing | None, *, score: str = "auto", resamples: int = 500, seed: int = 7
) -> Against | Missing:
    """Compare two campaigns on the outputs that both judged.

    other: see ``counterpart``; None where no second campaign is named. score: what either ranks by (see
    ``choose_method``). resamples, seed: random draws behind the 95 % intervals, which take the same texts (documents
    where there are many, else segments), and people, in both campaigns at once. Every segment counts once in a
    system's mean, as in the ranking.
    Caveat: noise in either campaign makes two orders look less alike than they are, in every draw once more.
    """
    if other is None:
        return Missing("no second campaign is named.", "Name one with -p against=FILE to compare two.")
    if isinstance(other, Missing):
        return other
    return _compare(mine, other, score=score, resamples=resamples, seed=seed)


@or_missing(COLLECT)
def _compare(mine: Campaign, other: Campaign, *, score: str, resamples: int, seed: int) -> Against:
    shared = find_shared(mine, other)
    held = [shared.of(one) for one in (mine, other)]
    methods = [choose_method(one, score=score) for one in (mine, other)]
    footing = find_footing(mine, other)
    rows = [
        table.assign(score=_stretched(table["score"], one) if footing.stretched else table["score"])
        for table, one in zip(shared.rows, (mine, other), strict=True)
    ]
    scores = [scorer(table, shared.systems, method.column) for table, method in zip(rows, methods, strict=True)]
    found = np.stack([score(np.ones((1, len(table)))) for score, table in zip(scores, rows, strict=True)], axis=1)[0]
    draws, drawn = draw_scores(shared, scores, resamples=resamples, seed=seed)
    cells = item_means(shared, rows)
    items = draw_items(cells, shared, drawn, resamples=resamples, seed=seed)
    agreement, lacks = _agreement(held, cells, items, footing, resamples=resamples, seed=seed)
    return Against(
        pair=mine.pair,
        names=(source_of(mine.ratings)["name"], source_of(other.ratings)["name"]),
        shared=shared.counts,
        sparse=shared.sparse,
        drawn=drawn,
        criteria=(mine.criterion, other.criterion),
        unturned=other.orientation if mine.turned and not other.turned else "",
        ranked_by=(methods[0].title, methods[1].title),
        footing=footing,
        systems=_systems(shared.systems, found, draws, footing),
        decisions=_decisions(held, methods),
        alike=pd.concat([_orders(shared, found, draws), _items(cells, items)], ignore_index=True),
        level=_level(found, draws, cells) if footing.unit else {},
        agreement=agreement,
        lacks=lacks,
        persons=_persons(shared, rows, footing),
    )


def find_footing(mine: Campaign, other: Campaign) -> Footing:
    """Say whether a point means the same in two campaigns: on one declared scale, on two, or by the same weights."""
    if mine.known_scale and other.known_scale:
        if mine.scale == other.scale:
            return Footing("points of the scale from {:g} to {:g}".format(*mine.scale))
        return Footing("points of 100", stretched=True)
    ours, theirs = (reading_of(one.ratings).get("receipt", {}).get("weights") for one in (mine, other))
    if ours and ours == theirs:
        return Footing("points of errors, weighed alike in both,")
    where = [side for side, one in (("here", mine), ("there", other)) if not one.known_scale]
    return Footing("", why=f"the ends of the scale are not declared {' or '.join(where)}")


def _stretched(scores: pd.Series, campaign: Campaign) -> pd.Series:
    low, high = campaign.scale
    return (scores - low) * (100 / (high - low))


def _systems(names: list[str], found: np.ndarray, draws: np.ndarray, footing: Footing) -> pd.DataFrame:
    """Tabulate means, their difference and places, the best here first."""
    table = pd.DataFrame({"system": names, "mean_here": found[0, MEAN, :-1], "mean_there": found[1, MEAN, :-1]})
    if footing.unit:
        table["difference"] = table["mean_here"] - table["mean_there"]
        apart = draws[:, 0, MEAN, :-1] - draws[:, 1, MEAN, :-1]
        table["low"], table["high"] = zip(*map(ends, apart.T), strict=True)
    for side, where in enumerate(("here", "there")):
        table[f"rank_{where}"] = ranks_of(found[side, ORDER, :-1])
        if len(draws):
            table[f"rank_{where}_low"], table[f"rank_{where}_high"] = rank_interval(
                ranks_of(draws[:, side, ORDER, :-1])
            )
    return table.sort_values(["rank_here", "rank_there", "system"], ignore_index=True)


def _orders(shared: Shared, found: np.ndarray, draws: np.ndarray) -> pd.DataFrame:
    """Compare the orders of the systems: on shared items, and on all of either campaign's where there are others."""
    rows = []
    kinds = {"systems, on shared items": ORDER, "systems, on all items of either": OWN}
    for what, kind in list(kinds.items())[: 1 if shared.whole else 2] if len(shared.systems) > 1 else ():
        for name, coefficient in (("kendall_b", kendall_b), ("pearson", pearson)):
            estimate = float(coefficient(found[0, kind, :-1], found[1, kind, :-1]))
            low, high = ends(coefficient(draws[:, 0, kind, :-1], draws[:, 1, kind, :-1]), around=estimate)
            rows.append((what, name, estimate, low, high, len(shared.systems)))
    return pd.DataFrame(rows, columns=_ALIKE)


def _items(cells: pd.DataFrame, draws: np.ndarray) -> pd.DataFrame:
    """Correlate the two campaigns item by item."""
    here, there = (cells[name].to_numpy() for name in ("here", "there"))
    rows = []
    for place, (name, coefficient) in enumerate((("pearson", pearson), ("kendall_b", kendall_b))):
        rows.append(("items", name, float(coefficient(here, there)), *ends(draws[:, place]), len(cells)))
    return pd.DataFrame(rows, columns=_ALIKE)


def _level(found: np.ndarray, draws: np.ndarray, cells: pd.DataFrame) -> dict[str, float]:
    """Compare how high scores are on shared items, and how far they spread."""
    low, high = ends(draws[:, 0, MEAN, -1] - draws[:, 1, MEAN, -1])
    return {
        "difference": float(found[0, MEAN, -1] - found[1, MEAN, -1]),
        "low": low,
        "high": high,
        "sd_difference": float((cells["here"] - cells["there"]).std()),
        "sd_here": float(cells["here"].std()),
        "sd_there": float(cells["there"].std()),
    }


def _agreement(
    held: list[Campaign], cells: pd.DataFrame, draws: np.ndarray, footing: Footing, *, resamples: int, seed: int
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Estimate agreement on shared items inside either campaign, and between them where a point means the same."""
    rows, lacks = [], {}
    for where, one in zip(("here", "there"), held, strict=True):
        inside = measure_agreement(one, resamples=resamples, seed=seed)
        if inside and inside.estimate is not None:
            kind = f"Krippendorff's alpha ({inside.level})"
            rows.append((where, kind, inside.estimate, inside.low, inside.high, inside.items))
        else:
            lacks[where] = inside.reason
    squares = cells["here_square"] + cells["there_square"]
    estimate = float(cross_replication(cells["here"], cells["there"], squares, np.ones((1, len(cells))))[0])
    if not footing.unit:
        lacks["between the two"] = footing.why
    elif np.isfinite(estimate):
        kind = "cross-replication reliability (interval)"
        rows.append(("between the two", kind, estimate, *ends(draws[:, 2]), len(cells)))
    else:
        lacks["between the two"] = "all judgements are the same score"
    return pd.DataFrame(rows, columns=["where", "coefficient", "estimate", "low", "high", "items"]), lacks


def _decisions(held: list[Campaign], methods: list[Method]) -> pd.DataFrame:
    """Set the tests of every two systems beside each other, each campaign's own on shared items."""
    tables = [_tested(one, method) for one, method in zip(held, methods, strict=True)]
    rows = []
    for pair in tables[0]:
        (here, p_here), (there, p_there) = tables[0][pair], tables[1].get(pair, ("", np.nan))
        verdict = SAME if here and here == there else OPPOSITE if here and there else HERE if here else ""
        rows.append((*sorted(pair), here, there, verdict or (THERE if there else NEITHER), p_here, p_there))
    columns = ["system_a", "system_b", "better_here", "better_there", "verdict", "p_here", "p_there"]
    order = [OPPOSITE, HERE, THERE, SAME, NEITHER]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("verdict", key=lambda column: column.map(order.index), kind="stable", ignore_index=True)


def _tested(held: Campaign, method: Method) -> dict[frozenset[str], tuple[str, float]]:
    """Test every two systems: the two -> the better one, or nothing where that is not decided, and the adjusted p."""
    if len(held.systems) < 2:
        return {}
    own = choose_method(held, score=method.score)
    if own.barred:
        return {}
    found = own.pairwise(held, own.table(held))
    return {
        frozenset((row.better, row.worse)): (row.better if row.significant else "", float(row.adjusted))
        for row in found.itertuples()
    }


def _persons(shared: Shared, rows: list[pd.DataFrame], footing: Footing) -> pd.DataFrame:
    """Compare annotators called the same in both with themselves, on items that they judged in both."""
    item = ["annotator", "system", *shared.key]
    here, there = (table[table["shared"]].groupby(item)["score"].mean() for table in rows)
    both = pd.DataFrame({"here": here, "there": there}).dropna()
    found = []
    for name, own in both.groupby(level="annotator"):
        one, two = own["here"].to_numpy(), own["there"].to_numpy()
        row = {"annotator": name, "items": len(own), "pearson": np.nan, "kendall_b": np.nan}
        if len(own) >= FEWEST:
            row |= {"pearson": float(pearson(one, two)), "kendall_b": float(kendall_b(one, two))}
        if footing.unit:
            row |= {"difference": float((one - two).mean()), "median_abs_diff": float(np.median(abs(one - two)))}
        found.append(row)
    return pd.DataFrame(found)
