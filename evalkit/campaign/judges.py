"""Automatic metrics, and judges that are models, beside the people of the same campaign."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.agreement import kind_of
from evalkit.campaign.findings import Finding, Missing, Result, finding, which, words
from evalkit.campaign.method import DOCUMENTS
from evalkit.campaign.opening import Campaign, readable, renamed
from evalkit.campaign.ranking import Ranking
from evalkit.data.schemas import with_pair
from evalkit.human.judges import alternative_annotator
from evalkit.metrics.bounds import MEASURES, measures
from evalkit.metrics.scores import Scores
from evalkit.metrics.statistics import AGREEMENT, agreement
from evalkit.stats.correlation import kendall_b

#: What judgements are that say nothing of it.
_JUDGE = {"kind": "judge", "better": "higher", "level": "segment"}


class Sides(Result):
    """People's scores and automatic ones of the same systems, higher is better.

    people: items × annotators. grid: their means, segments × systems; raw: the same of scores as they were given.
    scores: metric or model -> its scores, laid out like ``grid``; everywhere: the same of all segments that it scored,
    judged by people or not; items: the same, item by item. whole: metric × systems, scores of whole systems.
    models: names of judges that are; lower: of metrics whose scores were turned. facts: by name, kind (metric or
    judge), better (which way) and judgements (how many scores of items it has).
    """


def arrange(campaign: Campaign, judged: pd.DataFrame, *, column: str) -> Sides:
    """Arrange what people and what judges and metrics said of outputs of systems in the pair in detail.

    judged: as ``data.open_judges`` reads it. column: of people's scores, score or normalized.
    """
    shown = {name: readable(sorted(judged[name].astype("str").unique())) for name in ("system", "annotator")}
    plain = {name: value for name, value in _JUDGE.items() if name not in judged}
    frame = renamed(with_pair(judged.assign(**plain)), shown)
    if campaign.criterion and "criterion" in frame:
        frame = frame[frame["criterion"].isin([campaign.criterion]) | frame["criterion"].isna()]
    frame = frame[(frame["pair"] == campaign.pair) & frame["system"].isin(campaign.systems)]
    by_system = frame["level"] == "system"
    cells = frame[~by_system & frame["item_type"].isin(campaign.ranked_types)]
    facts = pd.concat([cells, frame[by_system]]).groupby("annotator", sort=False)[["better", "kind"]].first()
    facts = facts.assign(judgements=cells.groupby("annotator").size()).fillna({"judgements": 0}).rename(index=str)
    items = {name: _oriented(cells[cells["annotator"] == name], campaign) for name in facts.index}
    whole = frame[by_system].pivot_table(index="annotator", columns="system", values="score")
    signs = facts["better"].map({"higher": 1.0, "lower": -1.0}).astype(float)
    people, systems = by_person(campaign, column), campaign.systems
    grid = gridded(people.mean(axis=1), systems)
    raw = gridded(by_person(campaign, "score").mean(axis=1), systems).reindex_like(grid)
    every = {name: gridded(own, systems) for name, own in items.items()}
    found = Sides(people=people, grid=grid, raw=raw, items=items, facts=facts)
    found.scores = {name: own.reindex_like(grid) for name, own in every.items()}
    found.everywhere = {name: own for name, own in every.items() if len(own)}
    found.whole = whole.reindex(index=facts.index, columns=grid.columns).astype(float).mul(signs, axis=0)
    found.models = facts.index[facts["kind"].eq("judge")].tolist()
    found.lower = facts.index[facts["better"].eq("lower")].tolist()
    return found


def by_person(campaign: Campaign, column: str) -> pd.DataFrame:
    """Arrange people's scores as items × annotators; an item is a system's output for a segment."""
    keys = ["system", *campaign.segment, "annotator"]
    return campaign.judged.groupby(keys, observed=True)[column].mean().unstack("annotator")


def gridded(scores: pd.Series, systems: Sequence[str]) -> pd.DataFrame:
    """Arrange scores of items as segments × systems."""
    wide = scores.unstack("system") if len(scores) else pd.DataFrame()
    return wide.reindex(columns=[name for name in systems if name in wide])


def stack(scores: dict[str, pd.DataFrame], grid: pd.DataFrame) -> Scores:
    """Arrange grids of metrics, and people's, for statistics of metrics."""
    segments = tuple(" ".join(map(str, key if isinstance(key, tuple) else (key,))) for key in grid.index)
    values = np.stack([each.to_numpy(float).T for each in scores.values()])
    return Scores(tuple(scores), tuple(grid.columns), segments, values, grid.to_numpy(float).T)


def system_scores(own: pd.DataFrame, grid: pd.DataFrame, whole: pd.Series | None = None) -> tuple[pd.Series, pd.Series]:
    """Score systems by a metric and by people, over the items of both, or by the metric's own scores of systems."""
    if whole is not None and whole.notna().any():
        found = pd.DataFrame({"metric": whole, "human": grid.mean()}).dropna()
    else:
        both = own.notna() & grid.notna()
        found = pd.DataFrame({"metric": own.where(both).mean(), "human": grid.where(both).mean()}).dropna()
    return found["metric"], found["human"]


def _oriented(own: pd.DataFrame, campaign: Campaign) -> pd.Series:
    """Give each item its score, higher is better: a metric's scale may be turned, and for models people's."""
    means = own.groupby(["system", *campaign.segment], observed=True)["score"].mean()
    if own.empty or own["better"].iloc[0] == "lower":
        return -means
    return sum(campaign.scale) - means if campaign.turned and own["kind"].iloc[0] == "judge" else means


COLLECT = words("collect.judges")
#: Fewest items that a person shares with others to be held against them.
FEWEST = 10
#: Most persons who are held against the others, those with most shared items.
MOST = 60
#: How much less near to the others than a person a model may be, to stand in for skilled people (Calderon et al. 2025).
EPSILON = 0.15
#: Most metrics and models in a picture; and of which each gets a sentence.
MOST_DRAWN, _SAID = 30, 3
#: Rows of the table that are of persons: the median, the lowest and the highest of their values.
PEOPLE = "one person against the others, median"
_PERSONS = (PEOPLE, "one person, lowest", "one person, highest")


class Judges(Result):
    """How each metric and model agrees with people, people with each other, and where the two disagree.

    sides: the scores of both. table: a row for each metric and model, and for people three (median, lowest and highest
    of the persons, each against the mean of the others): judge, kind (metric, judge, people), items (shared with
    people), systems, and the statistics of ``AGREEMENT``. intervals: judge, statistic, value, low, high; of people low
    and high are the range over persons. persons: how many could be held against others; beaten: judge -> how many of
    them agree less with the others, on the same items, than it does (by Kendall's tau-b over items). systems, items:
    see ``disagreeing_systems`` and ``disagreeing_items``. models: of judges that are models: judge, judgements, items,
    mean, sd, difference (from people's mean), and the alternative annotator test: tested (people), advantage and
    winning_rate. calibrated: of the same, on items shared with people: judge, measure (a name of ``bounds.MEASURES``,
    in points of people's scale), value, low, high, cells. unit: what the intervals draw. treated: what people's scores
    are, where they are not raw. read: how files of metrics were read.
    """

    def tell(self) -> Iterator[Finding]:
        """Say how the best metrics and models agree with people, and people with each other."""
        rows = [row for row in self.table.itertuples() if row.kind != "people"]
        yield from map(self._one, rows[:_SAID])
        yield from which("judges", self, more=len(rows[_SAID:]))
        if self.persons:
            median, least, most = self.table["kendall_b"].iloc[-3:]
            values = {"ends": (least, most), "median": median, "known": median == median, "fewest": FEWEST}
            yield finding("judges.people_most" if self.persons == MOST else "judges.people", found=self, **values)
        else:
            yield finding("judges.nobody", fewest=FEWEST)
        for row in self.models.itertuples():
            wins = round(row.winning_rate * row.tested) if row.tested else 0
            yield finding("judges.annotator", row=row, passes=row.winning_rate >= 0.5, epsilon=EPSILON, wins=wins)
        for name, own in self.calibrated.groupby("judge", sort=False) if len(self.calibrated) else ():
            yield _meaning(str(name), own.set_index("measure"))
        yield from which("judges", self, lower=self.sides.lower, treated=self.treated)

    def _one(self, row: Any) -> Finding:
        """Say of one metric how it orders systems, and what its score of an item tells."""
        tau = row.system_kendall_b
        order = (
            "one_system" if row.systems < 2 else "level_systems" if pd.isna(tau) else "same" if tau == 1 else "alike"
        )
        values: dict[str, Any] = {"found": self, "row": row, "order": finding(f"judges.{order}", row=row)}
        if not row.items or pd.isna(row.kendall_b):
            return finding("judges.flat" if row.items else "judges.systems_only", **values)
        own = self.intervals[self.intervals["judge"].eq(row.judge) & self.intervals["statistic"].eq("kendall_b")]
        values["ends"] = tuple(own[["low", "high"]].iloc[0])
        if persons := self.persons:
            values["beaten"] = beaten = self.beaten[row.judge]
            key = "all" if beaten == persons else "most" if 2 * beaten >= persons else "some" if beaten else "none"
            values["worth"] = finding(f"judges.worth_{key}", **values)
        return finding("judges.one", **{"worth": None} | values, sure=pd.notna(values["ends"][0]))

    @property
    def in_short(self) -> str:
        """Which of them agrees best with people over items, for a picture's title."""
        best = self.table[self.table["kind"] != "people"].iloc[0]
        return f"{best['judge']} agrees best over items, {best['kendall_b']:.2f}"

    @property
    def drawn(self) -> pd.DataFrame:
        """For a picture: ``intervals`` over items, and over systems by SPA or, where it is undefined, by tau-b."""
        defined = self.intervals.dropna(subset="value")
        over = "spa" if defined["statistic"].eq("spa").any() else "system_kendall_b"
        order = ["people", *self.names[:MOST_DRAWN]]
        held = defined[defined["statistic"].isin(["kendall_b", over]) & defined["judge"].isin(order)]
        return held.sort_values("judge", key=lambda names: names.map(order.index), kind="stable")

    @property
    def names(self) -> list[str]:
        """The metrics and models, those that agree best over items first."""
        return self.table.loc[self.table["kind"] != "people", "judge"].tolist()


def _meaning(name: str, row: pd.DataFrame) -> Finding:
    """Say whether a model's scores mean what people's do. row: of ``Judges.calibrated``, by measure."""
    (_, bias), (_, spread) = row.reindex(["bias", "spread"]).iterrows()
    apart = bias["low"] > 0 or bias["high"] < 0 or spread["low"] > 1 or spread["high"] < 1
    values = {"bias": bias["value"], "spread": spread["value"], "known": pd.notna(spread["value"])}
    return finding("meaning.apart" if apart else "meaning.alike", name=name, **values)


def compare_judges(
    campaign: Campaign, judged: pd.DataFrame | None, ranking: Ranking | Missing, *, resamples: int = 200, seed: int = 7
) -> Judges | Missing:
    """Hold metrics and models against people's mean scores, item by item and system by system.

    judged: as ``data.open_judges`` reads it. ranking: people's, whose scores (raw or z) are used; raw ones where
    there is none. Items are outputs of systems in the pair in detail; people's translations are none.
    Caveat: agreement with the mean of several people is easier than with one, so each person is left out in turn, and
    metrics are compared with that person on the same items and against the same others.
    """
    if judged is None or judged.empty:
        return Missing("no automatic judge or metric is named in the file.", COLLECT)
    column = ranking.method.column if ranking else "score"
    sides = arrange(campaign, judged, column=column)
    if not sides.scores:
        return Missing(f"no automatic judge or metric scored an output of a system in {campaign.pair}.", COLLECT)
    units = _documents(campaign, sides.grid)
    drawn: dict[str, Any] = {"resamples": resamples, "seed": seed}
    both: dict[str, Any] = {"systems": sides.whole.to_numpy(float), "ties": sides.raw.to_numpy(float).T}
    found = agreement(stack(sides.scores, sides.grid), units=units, **both, **drawn)
    persons, beaten = _one_by_one(sides, seed)
    table, intervals = _tabulated(found, sides, persons)
    names = table.loc[table["kind"] != "people", "judge"].tolist()
    said = Judges(pair=campaign.pair, sides=sides, table=table, intervals=intervals, beaten=beaten)
    said.models = _as_annotators(campaign, sides)
    said.systems = disagreeing_systems(sides, names)
    said.items = disagreeing_items(sides, names, campaign)
    said.calibrated = _calibrated(sides, units, **drawn)
    said.cells = {"measure": MEASURES}
    said.persons = len(persons)
    said.unit = "documents" if units is not None else "segments"
    said.treated = ranking.method.scores_name if ranking and column != "score" else ""
    said.read = pd.DataFrame({"file": judged.attrs.get("notes", ())})
    return said


def _tabulated(found: pd.DataFrame, sides: Sides, persons: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Lay out agreement, of metrics and then of people: a row each, and a row for each of their statistics."""
    names = list(sides.scores)
    table = _wide(found, names).assign(kind=sides.facts["kind"].loc[names].to_numpy())
    both = {name: own.notna() & sides.grid.notna() for name, own in sides.scores.items()}
    table["items"] = [int(there.to_numpy().sum()) for there in both.values()]
    whole = sides.whole.notna().sum(axis=1)
    table["systems"] = [int(there.any().sum()) or int(whole[name]) for name, there in both.items()]
    table = table.sort_values("kendall_b", ascending=False, kind="stable")
    order = {name: place for place, name in enumerate([*table["judge"], *AGREEMENT])}
    intervals = found.rename(columns={"metric": "judge"})
    intervals = intervals.sort_values(["statistic", "judge"], key=lambda column: column.map(order), kind="stable")
    if len(persons):
        spread = persons[["items", "systems", *AGREEMENT]].agg(["median", "min", "max"])
        rows = spread.set_axis(_PERSONS).rename_axis("judge").reset_index().assign(kind="people")
        table = pd.concat([table, rows], ignore_index=True)
        middle = spread[[*AGREEMENT]].T.set_axis(["value", "low", "high"], axis=1)
        middle = middle.rename_axis("statistic").reset_index().assign(judge=PEOPLE)
        intervals = pd.concat([intervals, middle], ignore_index=True)
    shown = table[["judge", "kind", "items", "systems", *AGREEMENT]].reset_index(drop=True)
    return shown, intervals[["judge", "statistic", "value", "low", "high"]].reset_index(drop=True)


def _wide(found: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    wide = found.pivot(index="metric", columns="statistic", values="value").reindex(names)[[*AGREEMENT]]
    return wide.rename_axis("judge").rename_axis(columns=None).reset_index()


def _documents(campaign: Campaign, grid: pd.DataFrame) -> list[str] | None:
    """Name each segment's document, where enough of them can be drawn anew; None where segments are."""
    if campaign.segment != ("doc", "segment"):
        return None
    docs = grid.index.get_level_values("doc").astype("str").tolist()
    return docs if len(set(docs)) >= DOCUMENTS else None


def _one_by_one(sides: Sides, seed: int) -> tuple[pd.DataFrame, dict[str, int]]:
    """Hold each person against the mean of the others, and metrics against the same others on the same items.

    Returns a row of statistics for each person, and how many persons each metric agrees better than.
    """
    shared = sides.people[sides.people.notna().sum(axis=1) > 1]
    counts = shared.notna().sum()
    chosen = counts[counts >= FEWEST].sort_values(ascending=False, kind="stable").index[:MOST]
    rows, beaten = [], dict.fromkeys(sides.scores, 0)
    for person in sorted(chosen):
        own = shared[person].dropna()
        others = shared.drop(columns=person).loc[own.index].mean(axis=1)
        wide = gridded(others, sides.grid.columns)
        stacked = stack({person: gridded(own, wide.columns).reindex_like(wide)}, wide)
        row = _wide(agreement(stacked, flips=200, seed=seed), [person]).iloc[0].to_dict()
        rows.append(row | {"items": len(own), "systems": wide.shape[1]})
        for name, each in sides.items.items():
            both = pd.DataFrame({"metric": each.reindex(own.index), "own": own, "others": others}).dropna()
            if len(both) >= FEWEST:
                theirs, hers = (
                    np.nan_to_num(kendall_b(both[one], both["others"]), nan=-2) for one in ("metric", "own")
                )
                beaten[name] += bool(theirs > hers)
    return pd.DataFrame(rows), beaten


def _as_annotators(campaign: Campaign, sides: Sides) -> pd.DataFrame:
    """Describe each model as one more annotator, in points of people's scale."""
    people = by_person(campaign, "score")
    alignment = "accuracy" if kind_of(campaign.judged["score"]) == "nominal" else "rmse"
    rows = []
    for name, own in ((name, sides.items[name]) for name in sides.models):
        others = people.reindex(own.index).mean(axis=1)
        row = {"judge": name, "judgements": int(sides.facts.loc[name, "judgements"]), "items": int(others.count())}
        row |= {"mean": own.mean(), "sd": own.std(), "difference": (own - others).mean()}
        rows.append(row | _stand_in(people, own, alignment))
    return pd.DataFrame(rows)


def _calibrated(sides: Sides, units: list[str] | None, *, resamples: int, seed: int) -> pd.DataFrame:
    """Compare models' scores with people's mean raw ones; where a segment stood on a screen is not known here."""
    shared = {name: sides.scores[name].notna() & sides.raw.notna() for name in sides.models}
    own = {name: sides.scores[name] for name, there in shared.items() if there.to_numpy().any()}
    if not own:
        return pd.DataFrame()
    drawn = units if units is not None else [str(place) for place in range(len(sides.raw))]
    stacked = stack(own, sides.raw)
    found = measures(stacked, same_unit=set(own), documents=drawn, resamples=resamples, seed=seed)
    found = found[~found["measure"].isin(["drift", "more drift"])]
    return found.rename(columns={"metric": "judge"}).reset_index(drop=True)


def _stand_in(people: pd.DataFrame, own: pd.Series, alignment: str) -> dict[str, float]:
    """Test whether a model may stand in for one of the people; missing where nobody shares 30 items with others."""
    try:
        found = alternative_annotator(people, own, alignment=alignment, epsilons=[EPSILON])
    except DataError:
        return {"tested": 0, "advantage": np.nan, "winning_rate": np.nan}
    return {"tested": len(found), "advantage": found["ahead"].mean(), "winning_rate": found["wins"].mean()}


#: Most rows of a table of items, and of systems for each metric.
MOST_ITEMS, MOST_SYSTEMS = 10, 3
_TEXTS = ("source", "hypothesis")


def disagreeing_systems(sides: Sides, names: Sequence[str]) -> pd.DataFrame:
    """List the systems that metrics place otherwise than people do, the farthest of each metric first.

    Returns judge, system, place (people's) and place_by_judge. No rows for metrics with fewer than three systems, or
    that place all systems as people do.
    """
    tables = [pd.DataFrame(columns=["judge", "system", "place", "place_by_judge"])]
    for name in names:
        metric, human = system_scores(sides.scores[name], sides.grid)
        if len(metric) < 3 or metric.nunique() < 2 or human.nunique() < 2:
            continue
        places = (
            pd.DataFrame({"place": human, "place_by_judge": metric}).rank(ascending=False, method="min").astype(int)
        )
        by = (places["place"] - places["place_by_judge"]).abs()
        moved = places.loc[by[by > 0].nlargest(MOST_SYSTEMS).index]
        tables.append(moved.rename_axis("system").reset_index().assign(judge=name)[tables[0].columns])
    return pd.concat(tables[1:] or tables, ignore_index=True)


def disagreeing_items(sides: Sides, names: Sequence[str], campaign: Campaign) -> pd.DataFrame:
    """List the items on which metrics and people disagree most, at most ``MOST_ITEMS``, fairly shared by the metrics.

    Returns judge, doc and segment (as the campaign names segments), system, people (mean raw score), people_percentile,
    score (the metric's), percentile, and source and hypothesis where the file has them. Percentiles are of an item's
    rank among all items of both, ties at their middle, 0 to 100.
    """
    order = ["judge", *campaign.segment, "system", "people", "people_percentile", "score", "percentile"]
    tables = [pd.DataFrame(columns=order)]
    for name in names[:MOST_ITEMS]:
        cells = pd.DataFrame({"people": sides.grid.stack(), "score": sides.scores[name].stack()}).dropna()
        ranks = cells.rank(pct=True) * 100
        far = (ranks["score"] - ranks["people"]).abs()
        far = far[far > 0].sort_values(ascending=False, kind="stable").head(MOST_ITEMS // min(len(names), MOST_ITEMS))
        shown = {"judge": name, "people": sides.raw.stack(), "people_percentile": ranks["people"]}
        shown |= {"score": cells["score"] * (-1 if name in sides.lower else 1), "percentile": ranks["score"]}
        tables.append(pd.DataFrame(shown).loc[far.index].reset_index()[order])
    table, judged = pd.concat(tables[1:] or tables, ignore_index=True), campaign.judged
    texts = [name for name in _TEXTS if name in judged and judged[name].notna().any()]
    key = [*campaign.segment, "system"]
    return table.merge(judged.drop_duplicates(key)[[*key, *texts]], on=key, how="left") if texts else table
