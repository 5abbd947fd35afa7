"""How an annotator's scores stand to those of the others who judged the same items."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.data.schemas import ITEM, with_pair


def beside_others(ratings: pd.DataFrame) -> pd.DataFrame:
    """Set each annotator's score of an item beside the mean of all others who scored it.

    Returns pair, system, doc, segment, annotator, score (mean of the annotator's own scores of the item, repeats
    included) and others (mean of the other annotators' such means; missing where nobody else scored the item).
    Degraded items are left out, for each HIT spoils them anew; a reference is another item than the system's output.
    """
    counted = with_pair(ratings[ratings["item_type"].ne("degraded")])
    counted = counted.assign(reference=counted["item_type"].eq("reference"))
    item = ["pair", *ITEM, "reference"]
    own = counted.groupby([*item, "annotator"], sort=False)["score"].mean().reset_index()
    same = own.groupby(item, sort=False)["score"]
    rest = same.transform("size") - 1
    own["others"] = ((same.transform("sum") - own["score"]) / rest).where(rest > 0)
    return own.drop(columns="reference")


def agreement_with_others(ratings: pd.DataFrame, *, fewest: int = 10) -> pd.DataFrame:
    """Correlate each annotator with the mean of the others, over the items that somebody else scored too.

    Returns pair, annotator, shared (items) and with_others, Spearman's rho, missing below ``fewest`` shared items and
    where one side does not vary.  Caveat: where few others share an item, their mean is noisy and rho is low even for a
    perfect annotator; compare annotators of one campaign only.
    """
    both = beside_others(ratings).dropna(subset="others")
    who = ["pair", "annotator"]
    ranks = both[who].assign(x=both.groupby(who)["score"].rank(), y=both.groupby(who)["others"].rank())
    centred = ranks[["x", "y"]] - ranks.groupby(who)[["x", "y"]].transform("mean")
    products = pd.DataFrame({"xy": centred["x"] * centred["y"], "xx": centred["x"] ** 2, "yy": centred["y"] ** 2})
    sums = pd.concat([ranks[who], products], axis=1).groupby(who).sum()
    shared = ranks.groupby(who).size()
    spread = np.sqrt(sums["xx"] * sums["yy"])
    rho = (sums["xy"] / spread.where(spread > 0)).where(shared >= fewest)
    everyone = with_pair(ratings).groupby(who).size().index
    table = pd.DataFrame({"shared": shared, "with_others": rho}).reindex(everyone)
    return table.assign(shared=table["shared"].fillna(0).astype(int)).reset_index()
