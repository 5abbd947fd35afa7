"""Arrange people's scores, and those of metrics and models, side by side: segments × systems of one language pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.campaign.names import readable, renamed
from evalkit.campaign.opening import Campaign
from evalkit.data.schemas import with_pair
from evalkit.metrics.scores import Scores

#: What judgements are that say nothing of it.
_JUDGE = {"kind": "judge", "better": "higher", "level": "segment"}


@dataclass(frozen=True, eq=False)
class Sides:
    """People's scores and automatic ones of the same systems, higher is better.

    people: items × annotators. grid: their means, segments × systems; raw: the same of scores as they were given.
    scores: metric or model -> its scores, laid out like ``grid``; everywhere: the same of all segments that it scored,
    judged by people or not. whole: metric × systems, scores of whole systems.
    kinds: name -> metric or judge. models: name -> a model's score of each item. judgements: name -> how many scores of
    items it has. lower: metrics that were turned.
    """

    people: pd.DataFrame
    grid: pd.DataFrame
    raw: pd.DataFrame
    scores: dict[str, pd.DataFrame]
    everywhere: dict[str, pd.DataFrame]
    whole: pd.DataFrame
    kinds: dict[str, str]
    models: dict[str, pd.Series]
    judgements: dict[str, int]
    lower: tuple[str, ...]

    @property
    def stacked(self) -> Scores:
        """Everything for statistics of metrics."""
        return stack(self.scores, self.grid)


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
    people = by_person(campaign, column)
    grid = gridded(people.mean(axis=1), campaign.systems)
    facts = pd.concat([cells, frame[by_system]]).groupby("annotator", sort=False)[["better", "kind"]].first()
    items = {str(name): _oriented(cells[cells["annotator"] == name], campaign) for name in facts.index}
    whole = frame[by_system].pivot_table(index="annotator", columns="system", values="score")
    everywhere = {name: gridded(own, campaign.systems) for name, own in items.items() if len(own)}
    signs = facts["better"].map({"higher": 1.0, "lower": -1.0}).astype(float)
    return Sides(
        people=people,
        grid=grid,
        raw=gridded(by_person(campaign, "score").mean(axis=1), campaign.systems).reindex_like(grid),
        scores={name: gridded(own, campaign.systems).reindex_like(grid) for name, own in items.items()},
        everywhere=everywhere,
        whole=whole.reindex(index=facts.index, columns=grid.columns).astype(float).mul(signs, axis=0),
        kinds={str(name): str(kind) for name, kind in facts["kind"].items()},
        models={name: own for name, own in items.items() if facts.loc[name, "kind"] == "judge"},
        judgements={str(name): int(size) for name, size in cells.groupby("annotator").size().items()},
        lower=tuple(str(name) for name in facts.index[facts["better"] == "lower"]),
    )


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
