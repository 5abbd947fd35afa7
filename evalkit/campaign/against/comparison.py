"""Two campaigns compared on what both judged: two rounds, two crowds or two protocols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.campaign.against.counterpart import COLLECT, FEWEST, Shared, find_shared
from evalkit.campaign.against.redrawn import MEAN, ORDER, OWN, draw_items, draw_scores, ends, item_means, scorer
from evalkit.campaign.method import Method, choose_method
from evalkit.campaign.missing import Missing, or_missing
from evalkit.campaign.opening import Campaign
from evalkit.campaign.people.agreement import measure_agreement
from evalkit.data.provenance import reading_of, source_of
from evalkit.human.ranking.movement import rank_interval, ranks_of
from evalkit.stats.agreement import cross_replication
from evalkit.stats.correlation import kendall_b, pearson

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
