"""Another campaign beside one's own: what both judged, and how alike they are: two rounds, crowds or protocols."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.agreement import measure_agreement
from evalkit.campaign.findings import Finding, Missing, Result, finding, or_missing, which, words
from evalkit.campaign.method import DOCUMENTS, Method, choose_method
from evalkit.campaign.opening import Campaign, from_ratings
from evalkit.data.provenance import like, reading_of, source_of
from evalkit.human.ranking.lines import rank_interval, ranks_of
from evalkit.stats import correlation, inference, widths
from evalkit.stats.agreement import cross_replication
from evalkit.stats.correlation import kendall_b, pearson, ratio
from evalkit.stats.terms import join_names

#: Fewest segments that both judged for a comparison; fewest annotators of a campaign for them to be drawn anew.
FEWEST, PEOPLE = 10, 3
#: Share of draws that have to leave every system a judgement.
COMPLETE = 0.9
#: How two campaigns can stand to each other on a pair of systems.
SAME, OPPOSITE, HERE, THERE, NEITHER = "the same", "opposite", "only here", "only there", "in neither"
#: Scores of systems on shared items: what orders them, and raw means.
ORDER, MEAN = 0, 1
SIDES = ("here", "there")
#: Most pairs of systems that are named.
_PAIRS = 3


@or_missing("counterpart", asked=True)
def counterpart(mine: Campaign, ratings: pd.DataFrame) -> Campaign:
    """Look at another file in the language pair that is in detail in one's own.

    ratings: as ``data.open_campaign`` reads them. Of several criteria, that of ``mine`` is taken. Where low scores are
    good in ``mine``, those of the other are turned round as well, unless its own import says which way is better.
    """
    criterion = mine.criterion if "criterion" in ratings else ""
    if criterion and criterion not in set(ratings["criterion"]):
        raise DataError(f"here {criterion} was judged, there {join_names(list(dict.fromkeys(ratings['criterion'])))}.")
    name = source_of(ratings)["name"]
    has = sorted((ratings["src_lang"] + "-" + ratings["tgt_lang"]).unique())
    if mine.pair not in has:
        raise DataError(f"{mine.pair}, the language pair in detail, is not in {name}, which has {', '.join(has)}.")
    told = str(reading_of(ratings).get("orientation", ""))
    turned = mine.turned and told in ("", mine.orientation)
    if name == source_of(mine.ratings)["name"]:  # two files called campaign.parquet stay two
        ratings = like(ratings, ratings, source=source_of(ratings) | {"name": f"{name}-against"})
    return from_ratings(ratings, pair=mine.pair, criterion=criterion, higher_is_better=not turned)


class Shared(Result):
    """What two campaigns both judged.

    key: the columns that name a segment in both. systems: with ``FEWEST`` items in both, by name; sparse: the others
    that are in both. items: (system, *key) that both judged.
    rows: their judgements, here and there, with ``share`` (1 / the item's judgements). counts: what, here, there, both.
    """

    def of(self, campaign: Campaign) -> Campaign:
        """Leave of a campaign only the judgements of shared items."""
        there = pd.MultiIndex.from_frame(campaign.judged[["system", *self.key]]).isin(self.items)
        part = like(campaign.judged[there].reset_index(drop=True), campaign.part)
        return replace(campaign, part=part, ratings=part, spans=None).adjusted()


def find_shared(mine: Campaign, other: Campaign) -> Shared:
    """Find what two campaigns both judged. Raises DataError where that is nothing, or too little, with counts."""
    key = _key(mine, other)
    item, both = ["system", *key], (mine.judged, other.judged)
    systems = sorted({*mine.systems} & {*other.systems})
    if not systems:
        raise DataError(words("refused.systems", here=mine.systems, there=other.systems))
    one, two = (pd.MultiIndex.from_frame(rows[item]).unique() for rows in both)
    items = one.intersection(two).sort_values()
    common = items.get_level_values("system").value_counts().reindex(systems, fill_value=0)
    kept = common.index[common >= FEWEST].tolist()
    if not kept:
        docs = [sorted(rows["doc"].astype("str").unique()) for rows in both]
        raise DataError(words("refused.items", most=common.max(), fewest=FEWEST, systems=systems, docs=docs))
    items = items[items.isin(kept, level="system")]
    of_kept = [table[table["system"].isin(kept)] for table in both]
    rows = [own[pd.MultiIndex.from_frame(own[item]).isin(items)].reset_index(drop=True) for own in of_kept]
    rows = [own.assign(share=1 / own.groupby(item)["score"].transform("size")) for own in rows]
    counts = []
    for what, columns in {"systems": ["system"], "documents": ["doc"], "segments": [*key], "items": item}.items():
        tables = (*(of_kept if what == "items" else both), rows[0])
        counts.append((what, *(len(table[columns].drop_duplicates()) for table in tables)))
    ours, theirs = (set(table["annotator"]) for table in both)
    counts.append(("annotators", len(ours), len(theirs), len(ours & theirs)))
    told = pd.DataFrame(counts, columns=["what", *SIDES, "both"])
    return Shared(
        key=key, systems=kept, sparse=tuple(sorted({*systems} - {*kept})), items=items, rows=tuple(rows), counts=told
    )


def _key(mine: Campaign, other: Campaign) -> tuple[str, ...]:
    """Say which columns name a segment in both; a number alone only where no two documents of either share it."""
    if mine.segment == other.segment:
        return mine.segment
    anew = next(one for one in (mine, other) if "doc" in one.segment)
    if anew.judged[["doc", "segment"]].drop_duplicates().duplicated("segment").any():
        here, there = ("anew in every document" if one is anew else "throughout" for one in (mine, other))
        raise DataError(f"segments are numbered {here} here, and {there} there.")
    return ("segment",)


class Footing(Result):
    """Whether a point means the same in both campaigns.

    unit: what a difference of their scores is in; empty where the levels cannot be compared, and why says so.
    stretched: whether both scales were stretched to 0 to 100 first.
    """

    stretched, why = False, ""


class Against(Result):
    """What two campaigns say of the same outputs: "here" is one's own, "there" the other; differences: here - there.

    names: of the two files. shared: what, here, there, both; sparse: systems with too few items in both. drawn: what
    was drawn anew for intervals; empty where there are none. criteria: what was judged, "not named" where none is.
    unturned: why scores there were not turned round although those here were; empty where both were, or neither.
    ranked_by: what orders the systems. systems: system, mean_here, mean_there, difference with low and high (only on
    one footing), and places on shared items with intervals (rank_here_low, …). decisions: every two systems:
    better_here, better_there (empty where the test does not decide), verdict. alike: of (systems, items), coefficient,
    estimate, low, high, n. level: difference of the mean over shared items, low, high; empty without a footing.
    agreement: where, coefficient, estimate, low, high, items; lacks: where -> why there is none.
    """

    def tell(self) -> Iterator[Finding]:
        """Say whether the two contradict each other, what both judged, and how alike orders, items and levels are."""
        table = self.decisions
        opposite = table[table["verdict"] == OPPOSITE]
        if len(table):
            key = "opposed" if len(opposite) else "agreed" if table["verdict"].eq(SAME).any() else "open"
            yield finding(f"against.{key}", opposite=opposite)
        yield self._shared()
        yield from which("against", self, criteria=self.criteria[0] != self.criteria[1], unturned=self.unturned)
        yield self._orders()
        named = [finding("against.opposite", row=row) for row in opposite.head(_PAIRS).itertuples()]
        yield from which("against", self, named=named)
        r, tau = (self.measure("items", name) for name in ("pearson", "kendall_b"))
        known = "items" if r["estimate"] == r["estimate"] else "no_items"
        yield finding(f"against.{known}", **_with_ends(r=r, tau=tau), n=int(r["n"]), turned=r["high"] < 0)
        yield self._levels()
        yield from (finding("against.untold", where=where, why=why) for where, why in self.lacks.items() if why)
        yield finding(
            "against.drawn" if self.drawn else "against.undrawn", found=self, people="annotators" in self.drawn
        )

    def _shared(self) -> Finding:
        """Say what both campaigns judged, and how much of either that is."""
        *own, both = self.sizes["items"]
        parts = [finding("against.part", share=both / items, items=items, side=side) for items, side in zip(own, SIDES)]
        values = {"both": both, "segments": self.sizes["segments"][2], "parts": parts, "fewest": FEWEST}
        return finding("against.shared", found=self, sparse=self.sparse, **values)

    def _orders(self) -> Finding:
        """Say which system comes first, and how alike the orders are."""
        table = self.systems
        if len(table) == 1:
            return finding("against.one_system", system=table["system"].iloc[0])
        tau, r = (self.measure("systems", name) for name in ("kendall_b", "pearson"))
        if pd.isna(tau["estimate"]):
            return finding("against.flat", flat=[side for side in SIDES if table[f"rank_{side}"].nunique() == 1])
        here, there = (join_names(table.loc[table[f"rank_{side}"].eq(1), "system"]) for side in SIDES)
        same = {"alike": here == there, "one": len({*self.ranked_by}) == 1}
        return finding("against.orders", found=self, here=here, there=there, **same, **_with_ends(tau=tau, r=r))

    def _levels(self) -> Finding:
        """Say who scores higher, or why that cannot be said."""
        if not self.footing.unit:
            return finding("against.no_level", found=self)
        low, high = self.level["low"], self.level["high"]
        key = "higher" if low > 0 else "lower" if high < 0 else "chance" if low < high else "difference"
        values = {"difference": self.level["difference"], "size": abs(self.level["difference"])}
        return finding(f"against.{key}", found=self, ends=(low, high), sure=low == low, **values)

    @property
    def sizes(self) -> dict[str, tuple[int, int, int]]:
        """How many systems, documents, segments, annotators and items there are: here, there, in both."""
        return {row.what: (int(row.here), int(row.there), int(row.both)) for row in self.shared.itertuples()}

    @property
    def places(self) -> pd.DataFrame:
        """Places of up to 30 systems, for a picture: system, place, low, high, campaign."""
        parts = []
        for side, name in zip(SIDES, self.names):
            columns = ["system", *(f"rank_{side}{end}" for end in ("", "_low", "_high"))]
            part = self.systems.head(30).reindex(columns=columns).set_axis(["system", "place", "low", "high"], axis=1)
            parts.append(part.assign(campaign=f"{side}: {name}"))
        return pd.concat(parts, ignore_index=True)

    def measure(self, of: str, coefficient: str) -> dict[str, float]:
        """Return a row of ``alike``: estimate, low, high, n; empty where there is none."""
        rows = self.alike[self.alike["of"].eq(of) & self.alike["coefficient"].eq(coefficient)]
        return rows[["estimate", "low", "high", "n"]].iloc[0].to_dict() if len(rows) else {}


def _with_ends(**measures: dict[str, float]) -> dict[str, Finding]:
    """Say estimates with their intervals."""
    return {name: finding("against.estimate", row=row, sure=pd.notna(row["low"])) for name, row in measures.items()}


#: What stands in the place of a comparison that nobody asked for.
ALONE = Missing(words("lacks.another"), words("collect.another"))


@or_missing("shared", asked=True)
def compare_campaigns(
    mine: Campaign, other: Campaign | Missing | None = None, *, score: str = "auto", resamples: int = 500, seed: int = 7
) -> Against | Missing:
    """Compare two campaigns on the outputs that both judged.

    other: see ``counterpart``; None where no second campaign is named. score: what either ranks by (see
    ``choose_method``). resamples, seed: random draws behind the 95 % intervals, which take the same texts (documents
    where there are many, else segments), and people of the same name, in both campaigns at once (see
    ``stats.widths.redraw``). Every segment counts once in a system's mean, as in the ranking.
    Caveat: noise in either campaign makes two orders look less alike than they are, in every draw once more.
    """
    if not isinstance(other, Campaign):
        return ALONE if other is None else other
    shared, campaigns = find_shared(mine, other), (mine, other)
    held = [shared.of(one) for one in campaigns]
    methods = [choose_method(one, score=score) for one in campaigns]
    footing = find_footing(mine, other)
    rows = [one.on_hundred(table) if footing.stretched else table for table, one in zip(shared.rows, campaigns)]
    found, drawn = _redrawn(shared, rows, [method.column for method in methods], resamples=resamples, seed=seed)
    cells = _item_means(shared, rows)
    items = draw_items(cells, shared, documents="documents" in drawn, resamples=resamples, seed=seed)
    gap = found.estimate[0, MEAN, -1] - found.estimate[1, MEAN, -1]
    level = {"difference": gap, "low": float(found.low[-1]), "high": float(found.high[-1])}
    said = Against(pair=mine.pair, shared=shared.counts, sparse=shared.sparse, drawn=drawn, footing=footing)
    said.names = tuple(source_of(one.ratings)["name"] for one in campaigns)
    said.criteria = tuple(one.criterion or "not named" for one in campaigns)
    said.unturned = other.orientation if mine.turned and not other.turned else ""
    said.ranked_by = tuple(method.title for method in methods)
    said.systems = _systems(shared.systems, found, footing)
    said.decisions = _decisions(held, methods)
    said.alike = _alike(shared, found, cells, items)
    said.agreement, said.lacks = _agreement(held, cells, items, footing, resamples=resamples, seed=seed)
    said.level = level if footing.unit else {}
    return said


def find_footing(mine: Campaign, other: Campaign) -> Footing:
    """Say whether a point means the same in two campaigns: on one declared scale, on two, or by the same weights."""
    if mine.known_scale and other.known_scale:
        if mine.scale == other.scale:
            return Footing(unit="points of the scale from {:g} to {:g}".format(*mine.scale))
        return Footing(unit="points of 100", stretched=True)
    ours, theirs = (reading_of(one.ratings).get("receipt", {}).get("weights") for one in (mine, other))
    if ours and ours == theirs:
        return Footing(unit="points of errors, weighed alike in both,")
    where = [side for side, one in zip(SIDES, (mine, other)) if not one.known_scale]
    return Footing(unit="", why=f"the ends of the scale are not declared {' or '.join(where)}")


# Draws


def _texts(rows: pd.DataFrame, key: tuple[str, ...], *, documents: bool) -> np.ndarray:
    """Label each row by the text that it is about: its document, or its segment."""
    columns = ["doc"] if documents else list(key)
    return rows[columns].astype("str").agg("\0".join, axis=1).to_numpy(str)


def _part(rows: pd.DataFrame, systems: list[str], column: str, units: dict[str, np.ndarray]) -> widths.Part:
    """Score systems, and all of them together, in the ways ``ORDER`` and ``MEAN``: (draws, 2 · systems + 2).

    A segment's judgements are averaged, then segments, as ``scores.system_scores`` does; NaN where nothing is left.
    """
    belongs = np.equal.outer(rows["system"].to_numpy(), np.array(systems, object)).astype(float)
    belongs = np.column_stack([belongs, np.ones(len(rows))])
    parts = np.hstack([rows["share"].to_numpy()[:, None] * belongs] * 2)
    values = np.repeat(rows[[column, "score"]].to_numpy(float), len(systems) + 1, axis=1)
    sums = values * parts

    def score(times: np.ndarray) -> np.ndarray:
        return ratio(times @ sums, times @ parts)

    return widths.Part(score, units, len(rows), complete=parts)


class _Scores:
    """Scores of systems here and there, drawn anew together; ``ways`` as of ``_part``, the last score that of all."""

    def __init__(self, found: list[widths.Redrawn], systems: int) -> None:
        shape = (2, systems + 1)
        self.estimate = np.stack([one.estimate.reshape(shape) for one in found]).round(9)  # equal means are a tie
        draws = np.stack([one.narrowed(few=True).reshape(-1, *shape) for one in found], axis=1)
        self.draws = draws[np.isfinite(draws).all(axis=(1, 2, 3))].round(9)
        ends = widths.combine(found, [1, -1]).interval() if len(self.draws) else np.full((2, *shape), np.nan)
        self.low, self.high = (end.reshape(shape)[MEAN] for end in ends)


def _redrawn(
    shared: Shared, rows: list[pd.DataFrame], columns: list[str], *, resamples: int, seed: int
) -> tuple[_Scores, tuple[str, ...]]:
    """Score all systems, and draw them anew by the first design that leaves each a judgement; with what it draws.

    No draws where no design does. Annotators of a campaign with fewer than ``PEOPLE`` are not drawn; those of campaigns
    that share nobody are drawn apart.
    """
    people = [table["annotator"].nunique() >= PEOPLE for table in rows]
    whole = "doc" in shared.key and shared.items.get_level_values("doc").nunique() >= DOCUMENTS
    common = set(rows[0]["annotator"]) & set(rows[1]["annotator"])
    for documents, persons in dict.fromkeys([(whole, any(people)), (False, any(people)), (False, False)]):
        parts = []
        for side, table, column, many in zip(SIDES, rows, columns, people):
            units = {"texts": _texts(table, shared.key, documents=documents)}
            if persons and many:
                units["annotators" if common and all(people) else side] = table["annotator"].to_numpy(str)
            parts.append(_part(table, shared.systems, column, units))
        found = widths.redraw(parts, resamples=resamples, seed=seed)
        if np.mean([np.isfinite(one.draws).all(axis=1) for one in found]) >= COMPLETE:
            texts = "documents" if documents else "segments"
            return _Scores(found, len(shared.systems)), (texts, *["annotators"] * persons)
    return _Scores([replace(one, draws=one.draws[:0]) for one in found], len(shared.systems)), ()


def _item_means(shared: Shared, rows: list[pd.DataFrame]) -> pd.DataFrame:
    """Average the judgements of each shared item, and their squares: score and square, each here and there."""
    both = pd.concat(dict(zip(SIDES, rows)), names=["side"]).assign(square=lambda table: table["score"] ** 2)
    means = both.groupby(["side", "system", *shared.key])[["score", "square"]].mean()
    return means.unstack("side").reindex(shared.items).round(9)


def draw_items(cells: pd.DataFrame, shared: Shared, *, documents: bool, resamples: int, seed: int) -> np.ndarray:
    """Draw Pearson's r, Kendall's tau-b and agreement between two campaigns anew over texts: (draws, 3)."""
    here, there = (cells["score", side].to_numpy() for side in SIDES)
    squares = cells["square"].sum(axis=1)
    moments = correlation.moments(here - here.mean(), there - there.mean()).T

    def statistic(counts: np.ndarray) -> np.ndarray:
        whole = counts.astype(int)
        tau = np.array([kendall_b(np.repeat(here, times), np.repeat(there, times)) for times in whole])
        between = cross_replication(here, there, squares, counts)
        return np.stack([correlation.pearson_of_sums(counts @ moments), tau, between], axis=1)

    unit = _texts(shared.items.to_frame(index=False), shared.key, documents=documents)
    return inference.resample(statistic, unit, resamples=resamples, seed=seed)


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
    shift = 0.0 if around is None else around - float(np.median(defined))
    low, high = inference.interval(defined + shift)
    return max(float(low), -1.0), min(float(high), 1.0)


# Tables


def _systems(names: list[str], found: _Scores, footing: Footing) -> pd.DataFrame:
    """Tabulate means, their difference and places, the best here first."""
    here, there = found.estimate[:, MEAN, :-1]
    table = pd.DataFrame({"system": names, "mean_here": here, "mean_there": there})
    if footing.unit:
        table = table.assign(difference=here - there, low=found.low[:-1], high=found.high[:-1])
    for side, where in enumerate(SIDES):
        table[f"rank_{where}"] = ranks_of(found.estimate[side, ORDER, :-1])
        if len(found.draws):
            places = rank_interval(ranks_of(found.draws[:, side, ORDER, :-1]))
            table[f"rank_{where}_low"], table[f"rank_{where}_high"] = places
    return table.sort_values(["rank_here", "rank_there", "system"], ignore_index=True)


def _alike(shared: Shared, found: _Scores, cells: pd.DataFrame, items: np.ndarray) -> pd.DataFrame:
    """Compare the orders of systems, and single items, by Pearson's r and Kendall's tau-b."""
    rows = []
    for place, (name, coefficient) in enumerate((("pearson", pearson), ("kendall_b", kendall_b))):
        if len(shared.systems) > 1:
            estimate = float(coefficient(*found.estimate[:, ORDER, :-1]))
            interval = ends(coefficient(*found.draws[:, :, ORDER, :-1].swapaxes(0, 1)), around=estimate)
            rows.append(("systems", name, estimate, *interval, len(shared.systems)))
        estimate = float(coefficient(*cells["score"].to_numpy().T))
        rows.append(("items", name, estimate, *ends(items[:, place]), len(cells)))
    rows.sort(key=lambda row: row[0] == "items")
    return pd.DataFrame(rows, columns=["of", "coefficient", "estimate", "low", "high", "n"])


def _agreement(
    held: list[Campaign], cells: pd.DataFrame, draws: np.ndarray, footing: Footing, *, resamples: int, seed: int
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Estimate agreement on shared items inside either campaign, and between them where a point means the same."""
    rows, lacks = [], {}
    for where, one in zip(SIDES, held, strict=True):
        inside = measure_agreement(one, resamples=resamples, seed=seed)
        if inside and inside.estimate is not None:
            kind = f"Krippendorff's alpha ({inside.level})"
            rows.append((where, kind, inside.estimate, inside.low, inside.high, inside.items))
        else:
            lacks[where] = inside.reason
    own, squares = cells["score"], cells["square"].sum(axis=1)
    estimate = float(cross_replication(own["here"], own["there"], squares, np.ones((1, len(cells))))[0])
    if not footing.unit or not np.isfinite(estimate):
        lacks["between the two"] = footing.why or "all judgements are the same score"
    else:
        kind = "cross-replication reliability (interval)"
        rows.append(("between the two", kind, estimate, *ends(draws[:, 2]), len(cells)))
    return pd.DataFrame(rows, columns=["where", "coefficient", "estimate", "low", "high", "items"]), lacks


def _decisions(held: list[Campaign], methods: list[Method]) -> pd.DataFrame:
    """Set the tests of every two systems beside each other, each campaign's own on shared items."""
    ours, theirs = (_tested(one, method) for one, method in zip(held, methods, strict=True))
    pair = ["system_a", "system_b"]
    table = ours.merge(theirs, on=pair, how="left", suffixes=("_here", "_there")).fillna({"better_there": ""})
    here, there = (table[f"better_{side}"] for side in SIDES)
    known = {NEITHER: here.eq("") & there.eq(""), SAME: here.eq(there), THERE: here.eq(""), HERE: there.eq("")}
    order = [OPPOSITE, HERE, THERE, SAME, NEITHER]
    verdict = pd.Categorical(np.select([*known.values()], [*known], OPPOSITE), order)
    table = table.assign(verdict=verdict).sort_values("verdict", kind="stable", ignore_index=True)
    columns = [*pair, "better_here", "better_there", "verdict", "p_here", "p_there"]
    return table[columns].astype({"verdict": "str"})


def _tested(held: Campaign, method: Method) -> pd.DataFrame:
    """Test every two systems: system_a, system_b, better ("" where that is not decided), p (adjusted)."""
    own = choose_method(held, score=method.score)
    if len(held.systems) < 2 or own.barred:
        return pd.DataFrame(columns=["system_a", "system_b", "better", "p"], dtype="str")
    found = own.pairwise(held, own.table(held))
    one, other = np.sort(found[["better", "worse"]].to_numpy(str), axis=1).T
    better = found["better"].where(found["significant"], "")
    return pd.DataFrame({"system_a": one, "system_b": other, "better": better, "p": found["adjusted_p"]})
