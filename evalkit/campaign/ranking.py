"""Which system is better: scores, significance clusters, and how sure each place is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.method import Method, choose_method
from evalkit.campaign.missing import or_missing
from evalkit.campaign.opening import Campaign, from_ratings
from evalkit.stats.terms import join_names

COLLECT = "To rank, judge outputs of two systems or more (item_type 'system'), best on the same segments."
_INTERVALS = ["low", "high", "rank_low", "rank_high", "best"]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The pair's systems, best first, and how sure their order is.

    scale: ends of the scale of mean scores. method: how systems are compared. table: all that is known of each system,
    as ``ranking.significance_clusters`` and ``ranking.rank_ranges`` return it, and ``mean`` of raw scores. pairwise:
    tests of every two systems (see ``ranking.pairwise_tests``); no rows for a single system. resamples: draws behind
    the intervals. unsure: why there are no intervals.
    """

    pair: str
    scale: tuple[float, float]
    method: Method
    table: pd.DataFrame
    pairwise: pd.DataFrame
    resamples: int
    unsure: str = ""

    @property
    def systems(self) -> pd.DataFrame:
        """One row per system: rank, cluster, mean, z (where compared), intervals, wins, losses, segments.

        low, high: interval of what is compared. rank_low, rank_high: of the place. best: share of draws as the first.
        """
        columns = ["system", "rank", "cluster", "mean", *(["score"] if self.method.by_z else []),
                   *([] if self.unsure else _INTERVALS), "wins", "losses", "segments"]  # fmt: skip
        return self.table[columns].rename(columns={"score": "z"})

    @property
    def names(self) -> list[str]:
        """The systems, best first."""
        return self.table["system"].tolist()

    @property
    def means(self) -> dict[str, float]:
        """Each system's mean score."""
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


@or_missing(COLLECT)
def rank_systems(campaign: Campaign, *, score: str = "auto", resamples: int = 1000, seed: int = 7) -> Ranking:
    """Rank the pair's systems, part them into clusters by pairwise tests, and say how sure each place is.

    score: what to rank by (see ``choose_method``). resamples, seed: random draws behind the intervals.
    """
    judged = campaign.judged
    if judged.empty:
        raise DataError(f"No outputs of systems were judged in {campaign.pair}.")
    method = choose_method(campaign, score=score)
    table = method.clusters(judged)
    raw = replace(method, column="score").scores(judged)
    table = table.merge(raw[["system", "score"]].rename(columns={"score": "mean"}), on="system")
    problem = ""
    for unit in dict.fromkeys([method.unit, None]):  # segments, where drawing documents leaves a system with nothing
        method = replace(method, unit=unit)
        try:
            places = method.places(judged, resamples=resamples, seed=seed)
        except DataError as refused:
            problem = str(refused)
        else:
            table = table.merge(places[["system", *_INTERVALS]], on="system")
            break
    unsure = "" if "best" in table else f"{problem} Judge every system on the same 20 segments or more."
    pairwise = method.pairwise(judged).drop(columns="pair") if len(table) > 1 else pd.DataFrame()
    pairwise = pairwise.rename(columns={"adjusted": "adjusted_p"})
    return Ranking(campaign.pair, campaign.scale, method, table, pairwise, resamples, unsure)


def rank_pairs(campaign: Campaign, *, score: str = "auto") -> pd.DataFrame:
    """Name the best system of every language pair, and those that cannot be distinguished from it.

    Returns pair, systems, judgements; and, where a pair has several systems, ranked_by, first, clusters and
    not_told_apart (names, or "none").
    """
    rows = []
    for pair in campaign.pairs:
        here = from_ratings(campaign.ratings[campaign.ratings["pair"] == pair])
        row = {"pair": pair, "systems": len(here.systems), "judgements": len(here.judged)}
        if len(here.systems) > 1:
            method = choose_method(here, score=score)
            table, pairwise = method.clusters(here.judged), method.pairwise(here.judged)
            first, *others = table["system"]
            beaten = _beaten(first, pairwise)
            level = [name for name in others if name not in beaten]
            row |= {"ranked_by": method.title, "first": first, "clusters": int(table["cluster"].max()),
                    "not_told_apart": join_names(level) or "none"}  # fmt: skip
        rows.append(row)
    return pd.DataFrame(rows)


def _beaten(top: str, pairwise: pd.DataFrame) -> list[str]:
    """Name the systems that a system is significantly better than."""
    if pairwise.empty:
        return []
    return pairwise.loc[pairwise["better"].eq(top) & pairwise["significant"], "worse"].tolist()
