"""Where metrics and people disagree: the systems whose place differs most, and the items."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.campaign.judges.comparison import Judges
from evalkit.campaign.judges.sides import system_scores
from evalkit.campaign.opening import Campaign
from evalkit.metrics.calibration import favour
from evalkit.stats.inference import interval, resample

#: Most rows of a table of items, and of systems for each metric.
MOST_ITEMS, MOST_SYSTEMS = 10, 3
_TEXTS = ("source", "hypothesis")


def disagreeing_systems(found: Judges, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """List the systems that metrics place otherwise than people do, the largest differences of each metric first.

    Returns judge, system, place (people's), place_by_judge, bias, low, high. bias: the metric's mean of the system less
    people's, each standardized over the systems (mean 0, sd 1), so that a positive one says that the metric favours
    it; low, high: 95 % percentile interval, segments drawn anew. No rows for metrics with fewer than three systems, or
    that place all systems as people do.
    Caveat: a metric's biases add up to 0, so one far favoured system makes others look disfavoured.
    """
    tables = []
    for name in found.names:
        own = found.scores[name]
        metric, human = system_scores(own, found.grid)
        if len(metric) < 3 or metric.nunique() < 2 or human.nunique() < 2:
            continue
        table = pd.DataFrame({"judge": name, "system": metric.index})
        table["place"] = human.rank(ascending=False, method="min").astype(int).to_numpy()
        table["place_by_judge"] = metric.rank(ascending=False, method="min").astype(int).to_numpy()
        x, y = own[metric.index].to_numpy(float), found.grid[metric.index].to_numpy(float)
        both = np.isfinite(x) & np.isfinite(y)
        sides = [np.where(both, side, 0) for side in (x, y)]

        def bias(weights: np.ndarray, sides: list[np.ndarray] = sides, both: np.ndarray = both) -> np.ndarray:
            count = np.maximum(weights @ both, 1e-300)
            return favour(*(weights @ side / count for side in sides))

        table["bias"] = bias(np.ones((1, len(x))))[0]
        table["low"], table["high"] = interval(resample(bias, np.arange(len(x)), resamples=resamples, seed=seed))
        moved = table.assign(by=(table["place"] - table["place_by_judge"]).abs(), size=table["bias"].abs())
        moved = moved[moved["by"] > 0].sort_values(["by", "size"], ascending=False, kind="stable")
        tables.append(moved.head(MOST_SYSTEMS).drop(columns=["by", "size"]))
    columns = ["judge", "system", "place", "place_by_judge", "bias", "low", "high"]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def disagreeing_items(found: Judges, campaign: Campaign) -> pd.DataFrame:
    """List the items on which metrics and people disagree most, at most ``MOST_ITEMS``, fairly shared by the metrics.

    Returns judge, doc and segment (as the campaign names segments), system, people (mean raw score), people_percentile,
    score (the metric's), percentile, and source and hypothesis where the file has them. Percentiles are of an item's
    rank among all items of both, ties at their middle, 0 to 100.
    """
    names = found.names[:MOST_ITEMS]
    share = max(MOST_ITEMS // max(len(names), 1), 1)
    tables = []
    for name in names:
        cells = pd.DataFrame({"people": found.grid.stack(), "score": found.scores[name].stack()}).dropna()
        ranks = cells.rank(pct=True) * 100
        cells = cells.assign(people_percentile=ranks["people"], percentile=ranks["score"])
        far = (ranks["score"] - ranks["people"]).abs().sort_values(ascending=False, kind="stable")
        cells["people"] = found.raw.stack().reindex(cells.index)
        rows = cells.loc[far[far > 0].index[:share]].reset_index()
        rows["score"] *= -1 if name in found.lower else 1
        tables.append(rows.assign(judge=name))
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    order = ["judge", *campaign.segment, "system", "people", "people_percentile", "score", "percentile"]
    return _with_texts(table.reindex(columns=order), campaign)


def _with_texts(table: pd.DataFrame, campaign: Campaign) -> pd.DataFrame:
    """Add source and translation of each item, where the file has them."""
    judged = campaign.judged
    texts = [name for name in _TEXTS if name in judged and judged[name].notna().any()]
    if not texts or table.empty:
        return table
    own = judged.drop_duplicates([*campaign.segment, "system"])[[*campaign.segment, "system", *texts]]
    return table.merge(own, on=[*campaign.segment, "system"], how="left")
