"""What automatic scores are kept as: one metric's scores of the items that people judged, apart from theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evalkit.data import schemas

#: What names an item of a campaign, whoever scores it.
KEY = ["src_lang", "tgt_lang", *schemas.ITEM, "item_type"]
NAMED = KEY[:-1]
#: Columns of the table of judges and metrics beside those of ratings. kind: judge or metric. better: higher or lower.
#: level: segment, or system for a score of a whole system.
EXTRA = ("kind", "better", "level")
#: What stands for document and segment where a whole system is scored.
WHOLE = "*"
#: Kinds of items whose text is the system's own, first what one item's score is filed under.
_OWN = ("system", "reference", "calibration", "repeat")


@dataclass(frozen=True, eq=False)
class Metric:
    """One metric's scores. scores: the columns ``KEY`` and score, an item a row. told: where they come from, in words.

    systems: scores of whole systems, with src_lang, tgt_lang, system and score; None where there are none.
    """

    name: str
    lower: bool
    scores: pd.DataFrame
    told: str
    systems: pd.DataFrame | None = field(default=None)


def items_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """List what people judged, an item a row, under the first of its kinds; degraded items are other texts."""
    own = ratings.loc[ratings["item_type"].isin(_OWN), KEY].drop_duplicates()
    own.attrs = {}  # pandas copies them deeply at every step, which takes a tenth of the time
    if own["item_type"].nunique() < 2:
        return own
    order = own["item_type"].map({kind: place for place, kind in enumerate(_OWN)})
    return own.assign(_order=order).sort_values("_order", kind="stable").drop_duplicates(NAMED).drop(columns="_order")


def one_score(scored: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Give each item the mean of its scores; items without any are left out. scored: ``NAMED`` and score."""
    own = scored if "item_type" not in scored else scored[scored["item_type"].isin(_OWN)]
    means = own.groupby(NAMED, sort=False)["score"].mean().reset_index()
    return items.merge(means, on=NAMED, how="inner")


def places(scored: pd.DataFrame, items: pd.DataFrame, by: list[str]) -> np.ndarray:
    """Return which item each row of scores is of, (rows,), by columns that tell all items apart; -1 where of none."""
    numbered = items[by].assign(_place=np.arange(len(items)))
    return scored[by].merge(numbered, on=by, how="left")["_place"].fillna(-1).to_numpy(int)


def further(scored: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Keep scores of systems that people judged, of segments on which people judged nothing of them.

    scored: ``NAMED`` and score, named as people name them, of nothing that people judged. They stand in for judgements
    (prediction-powered inference), and enter no comparison with people. Returns ``KEY`` and score.
    """
    who = ["src_lang", "tgt_lang", "system"]
    systems = items.loc[items["item_type"].eq("system"), who].drop_duplicates()
    return scored[places(scored, systems, who) >= 0].assign(item_type="system")[[*KEY, "score"]]
