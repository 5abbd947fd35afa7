"""Which system is better: scores, significance clusters, and how sure each place is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.method import OWN_LINES, Method, choose_method
from evalkit.campaign.missing import or_missing
from evalkit.campaign.opening import Campaign, from_ratings
from evalkit.campaign.systems import strengths
from evalkit.human.preferences import Standing
from evalkit.human.ranking.scores import SegmentMeans
from evalkit.stats import inference
from evalkit.stats.terms import join_names

COLLECT = "To rank, judge outputs of two systems or more (item_type 'system'), best on the same segments."
_INTERVALS = ["low", "high", "rank_low", "rank_high", "best"]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The pair's systems, best first, and how sure their order is.

    scale: ends of the scale of mean scores. method: how systems are compared. table: all that is known of each system,
    as ``ranking.significance_clusters`` and ``ranking.rank_ranges`` return it, and ``mean`` of raw scores. pairwise:
    tests of every two systems (see ``ranking.pairwise_tests``); no rows for a single system. humans: the same of
    people's translations, without places; duels: tests of each of them with each system. points: how many points of
    the scale are one unit of what is compared: 1, or the annotators' pooled standard deviation for z-scores.
    resamples: draws behind the intervals. unsure: why there are no intervals. refused: why the rule for lines that was
    asked for cannot be applied, so that ours is. standing: the strengths, where comparisons were judged; ``score`` is
    then the share of comparisons that a system would win against all others.
    """

    pair: str
    scale: tuple[float, float]
    method: Method
    table: pd.DataFrame
    pairwise: pd.DataFrame
    humans: pd.DataFrame
    duels: pd.DataFrame
    points: float
    resamples: int
    unsure: str = ""
    refused: str = ""
    standing: Standing | None = None

    @property
    def systems(self) -> pd.DataFrame:
        """One row per system, and per human translation: rank, cluster, mean, z or adjusted (if compared), intervals.

        Of comparisons, mean is the share that was won, expected the one that strengths let expect against all others.
        low, high: interval of what is compared. rank_low, rank_high: of the place. best: share of draws as the first.
        wins, losses: against other systems. kind: only where there are people's translations, which have no place.
        """
        named = {"score": "expected" if self.method.compares else "z" if self.method.by_z else "adjusted"}
        compared = ["score"] if self.method.column != "score" or self.method.compares else []
        columns = ["system", "rank", "cluster", "mean", *compared, *([] if self.unsure else _INTERVALS)]
        columns += ["wins", "losses", "segments"]
        if self.humans.empty:
            return self.table[columns].rename(columns=named)
        both = pd.concat([self.table.assign(kind="system"), self.humans.assign(kind="human translation")])
        whole = ["rank", "cluster", "wins", "losses", *([] if self.unsure else ["rank_low", "rank_high"])]
        both = both.sort_values("score", ascending=False, kind="stable").astype(dict.fromkeys(whole, "Int64"))
        return both[["system", "kind", *columns[1:]]].rename(columns=named).reset_index(drop=True)

    @property
    def shown(self) -> list[str]:
        """The columns of ``systems`` that a page has room for."""
        return [name for name in self.systems.columns if name not in ("wins", "losses", "segments")]

    @property
    def names(self) -> list[str]:
        """The systems, best first; people's translations are none."""
        return self.table["system"].tolist()

    @property
    def means(self) -> dict[str, float]:
        """Each system's mean of raw scores."""
        return dict(zip(self.names, self.table["mean"].astype(float), strict=True))

    @property
    def top(self) -> str:
        """The first system."""
        return self.names[0]

    @property
    def first(self) -> list[str]:
        """The systems with the highest score: several where they are equal."""
        scores = self.table["score"].to_numpy(float)
        return self.table.loc[np.isclose(scores, scores[0], rtol=0, atol=1e-9), "system"].tolist()

    @property
    def beaten(self) -> list[str]:
        """The systems that the first one is significantly better than."""
        return _beaten(self.top, self.pairwise)

    @property
    def level(self) -> list[str]:
        """The other systems, which cannot be distinguished from the first."""
        return [name for name in self.names[1:] if name not in self.beaten]

    @property
    def p(self) -> float:
        """The adjusted p-value of the first system against the second."""
        return float(self.pairwise["adjusted_p"].iloc[0])

    @property
    def best(self) -> float | None:
        """The share of draws in which the first system comes first; None without draws."""
        return None if self.unsure else float(self.table["best"].iloc[0])

    def gap(self, one: str, other: str) -> float:
        """Return how far one system is ahead of another by what is compared, in points of the scale."""
        scores = self.table.set_index("system")["score"]
        return float(scores[one] - scores[other]) * self.points


@or_missing(COLLECT)
def rank_systems(
    campaign: Campaign,
    *,
    score: str = "auto",
    unit: str = "auto",
    lines: str = OWN_LINES,
    resamples: int = 1000,
    seed: int = 7,
) -> Ranking:
    """Rank the pair's systems, part them into clusters by pairwise tests, and say how sure each place is.

    score, unit, lines: what to rank by, what to draw anew, and which rule draws lines (see ``choose_method``); where it
    cannot be applied, ours does. resamples, seed: random draws behind the places. Missing where annotators and systems
    cannot be told apart.
    """
    if campaign.judged.empty:
        raise DataError(f"No outputs of systems were judged in {campaign.pair}.")
    problem = ""
    chosen = choose_method(campaign, score=score, unit=unit, lines=lines)
    if campaign.compares:
        return _by_strength(campaign, chosen, as_told=unit != "auto", resamples=resamples, seed=seed)
    if chosen.barred and len(campaign.systems) > 1:
        raise DataError(chosen.barred)
    whole = chosen.table(campaign)
    method, inapplicable = _applicable(campaign, chosen, whole)
    table, pairwise, humans, duels = _compared(campaign, method, whole)
    try:
        places = method.places(whole, resamples=resamples, seed=seed)
        own = method.places(_systems_of(campaign, whole), resamples=resamples, seed=seed) if len(humans) else places
    except DataError as refused:
        problem = f"{refused} Judge every system on the same 20 segments or more."
    else:
        table = table.merge(own[["system", *_INTERVALS]], on="system")
        humans = humans.merge(places[["system", "low", "high"]], on="system")
    return Ranking(
        campaign.pair,
        campaign.scale,
        method,
        table,
        pairwise,
        humans,
        duels,
        _pooled(campaign) if method.by_z else 1.0,
        resamples,
        problem,
        inapplicable,
    )


def _by_strength(campaign: Campaign, chosen: Method, *, as_told: bool, resamples: int, seed: int) -> Ranking:
    """Rank systems that were compared with each other."""
    methods = [chosen] if as_told else [one for one in _smaller(chosen) if strengths.enough(campaign, one)]
    method, refused = replace((methods or [chosen])[0], lines=OWN_LINES), ""
    if chosen.lines != OWN_LINES:
        refused = f"{chosen.lines} draws lines between scores, and these are comparisons."
    standing = strengths.fit_standing(campaign, method, resamples=resamples, seed=seed)
    found = strengths.rank(campaign, method, standing)
    few = f"there are fewer than {strengths.FEWEST} units to be drawn behind a system. Compare more segments."
    return Ranking(
        campaign.pair,
        campaign.scale,
        method,
        found.table,
        found.pairwise,
        found.humans,
        found.duels,
        1.0,
        resamples,
        "" if methods and found.drawn else few,
        refused,
        standing,
    )


def _smaller(method: Method) -> list[Method]:
    """List a method and those that draw less: texts alone, then segments."""
    texts = ("doc",) if "doc" in method.unit or method.segment == ("doc", "segment") else ("segment",)
    units = dict.fromkeys([method.unit, texts, ("segment",)])
    why = f"some draws of {method.drawn} leave a system without a judgement"
    return [method if unit == method.unit else replace(method, unit=unit, why_unit=why) for unit in units]


def _systems_of(campaign: Campaign, table: SegmentMeans) -> SegmentMeans:
    """Leave people's translations out of a table."""
    return table.taken(np.flatnonzero(~np.isin(table.systems, campaign.humans)))


def _applicable(campaign: Campaign, method: Method, whole: SegmentMeans) -> tuple[Method, str]:
    """Return a method whose rule for lines can be applied to this campaign, and why another one cannot."""
    try:
        method.clusters(campaign, _systems_of(campaign, whole))
    except DataError as refused:
        if method.lines == OWN_LINES:
            raise
        return replace(method, lines=OWN_LINES), str(refused)
    return method, ""


def _compared(campaign: Campaign, method: Method, whole: SegmentMeans) -> tuple[pd.DataFrame, ...]:
    """Score and test systems, then people's translations against them: table, pairwise, humans, duels."""
    systems = _systems_of(campaign, whole)
    table = method.clusters(campaign, systems)
    scores = method.scores(campaign.compared)[["system", "score", "segments", "judgements"]]
    raw = replace(method, column="score").scores(campaign.compared)
    scores = scores.merge(raw[["system", "score"]].rename(columns={"score": "mean"}), on="system")
    table = table.merge(scores[["system", "mean"]], on="system")
    pairwise = method.pairwise(campaign, systems) if len(table) > 1 else pd.DataFrame()
    humans = scores[scores["system"].isin(campaign.humans)].sort_values("score", ascending=False, ignore_index=True)
    duels = pd.DataFrame()
    if len(humans):
        every = method.pairwise(campaign, whole)
        mixed = every[every["better"].isin(campaign.humans) != every["worse"].isin(campaign.humans)]
        adjusted = inference.adjust(mixed["p"], method="holm")
        duels = mixed.assign(adjusted=adjusted, significant=(adjusted < method.alpha) & (mixed["difference"] > 0))
    named = {"adjusted": "adjusted_p"}
    return table, pairwise.rename(columns=named), humans, duels.rename(columns=named).reset_index(drop=True)


def _pooled(campaign: Campaign) -> float:
    """Pool the annotators' standard deviations: how many points a z-score of 1 is on average."""
    people = campaign.part.groupby("annotator")["score"].agg(["var", "size"]).dropna()
    return float(np.sqrt((people["var"] * (people["size"] - 1)).sum() / max((people["size"] - 1).sum(), 1)))


def rank_pairs(campaign: Campaign, *, score: str = "auto", unit: str = "auto", lines: str = OWN_LINES) -> pd.DataFrame:
    """Name the best system of every language pair, and those that cannot be distinguished from it.

    Returns pair, systems, judgements; and, where a pair has several systems, ranked_by, drawn, first, clusters and
    not_told_apart (names, or "none"); and human, where people's translations were judged, too: how the first system
    stands to them.
    """
    rows = []
    for pair in campaign.pairs:
        here = from_ratings(campaign.ratings[campaign.ratings["pair"] == pair])
        row = {"pair": pair, "systems": len(here.systems), "judgements": len(here.judged)}
        if len(here.systems) > 1:
            chosen = choose_method(here, score=score, unit=unit, lines=lines)
            try:
                method, table, pairwise, humans, duels = _quickly(here, chosen)
            except DataError as refused:
                reason = str(refused).partition(". ")[0]
                if here.compares:
                    reason = "some systems were never compared, even through others"
                rows.append(row | {"ranked_by": f"nothing: {reason}"})
                continue
            first, *others = table["system"]
            beaten = _beaten(first, pairwise)
            level = [name for name in others if name not in beaten]
            row |= {
                "ranked_by": method.title,
                "drawn": method.drawn,
                "first": first,
                "clusters": int(table["cluster"].max()),
                "not_told_apart": join_names(level) or "none",
            }
            if len(humans):
                row["human"] = "; ".join(beside_human(first, name, duels) for name in humans["system"])
        rows.append(row)
    return pd.DataFrame(rows)


def _quickly(campaign: Campaign, chosen: Method) -> tuple[Any, ...]:
    """Rank a pair without draws of places: method, table, pairwise, humans, duels."""
    if campaign.compares:
        found = _by_strength(campaign, chosen, as_told=False, resamples=100, seed=7)
        return found.method, found.table, found.pairwise, found.humans, found.duels
    if chosen.barred:
        raise DataError(chosen.barred)
    whole = chosen.table(campaign)
    method, _ = _applicable(campaign, chosen, whole)
    return method, *_compared(campaign, method, whole)


def beside_human(system: str, human: str, duels: pd.DataFrame) -> str:
    """Say how a system stands to a human translation: worse than, better than, or not distinguished from it."""
    for how, better, worse in (("worse than", human, system), ("better than", system, human)):
        if duels.loc[duels["better"].eq(better) & duels["worse"].eq(worse), "significant"].any():
            return f"{how} {human}"
    return f"not distinguished from {human}"


def _beaten(top: str, pairwise: pd.DataFrame) -> list[str]:
    """Name the systems that a system is significantly better than."""
    if pairwise.empty:
        return []
    return pairwise.loc[pairwise["better"].eq(top) & pairwise["significant"], "worse"].tolist()
