"""How consistent annotators are: on items that they scored twice, from HIT to HIT, and with each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.annotators.ticks import SQM_TICKS, ticks
from evalkit.human.annotators.usage import usage

_WHO = ["pair", "annotator"]
#: Items shared with others below which no correlation with them is made.
FEWEST_SHARED = 10
#: What is compared: range, shape, steps of the scale.
USES = ("min", "max", "mean", "sd", "skewness", "at_ends", "unique_scores", "on_marks")


def repeats(ratings: pd.DataFrame) -> pd.DataFrame:
    """Measure each annotator's consistency on items scored more than once.

    Returns pair, annotator, n (repeated items), median_abs_diff, max_abs_diff (points of the scale); the difference of
    an item is that between its highest and lowest score. Annotators without repeated items have no row; degraded items
    do not count, and references count apart from the systems' outputs.
    Source: Knowles & Lo 2024, section 4.1.  Caveat: with 5 to 7 items, as there, it is an impression only.
    """
    difference = repeat_differences(ratings).groupby(["pair", "annotator"])["difference"]
    return difference.agg(n="size", median_abs_diff="median", max_abs_diff="max").reset_index()


def repeat_differences(ratings: pd.DataFrame) -> pd.DataFrame:
    """List the items that an annotator scored more than once: pair, annotator, difference (highest - lowest score)."""
    counted = with_pair(ratings[ratings["item_type"].ne("degraded")])
    item = ["pair", "annotator", *ITEM, counted["item_type"].eq("reference")]
    scores = counted.groupby(item)["score"].agg(["size", "min", "max"])
    again = scores[scores["size"] > 1]
    return (again["max"] - again["min"]).rename("difference").reset_index()[["pair", "annotator", "difference"]]


def two_hits(ratings: pd.DataFrame, *, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw two HITs of each annotator who did at least two in a language pair: two tables of ratings.

    Raises DataError without HITs, or where nobody did two.
    """
    if "hit" not in ratings:
        raise DataError("Comparing HITs needs the column hit. Add it, or compare two tables of your own.")
    done = with_pair(ratings)[[*_WHO, "hit"]].drop_duplicates().sort_values([*_WHO, "hit"], ignore_index=True)
    done = done.assign(draw=np.random.default_rng(seed).random(len(done))).sort_values([*_WHO, "draw"])
    done["turn"] = done.groupby(_WHO).cumcount()
    done = done[done.groupby(_WHO)["turn"].transform("max") > 0]
    if done.empty:
        raise DataError("Nobody did two HITs in one language pair: there is nothing to compare.")
    turn = with_pair(ratings)[[*_WHO, "hit"]].merge(done, on=[*_WHO, "hit"], how="left")["turn"].to_numpy()
    first, second = (ratings[turn == k].reset_index(drop=True) for k in (0, 1))
    return first, second


def intra_annotator_consistency(
    first: pd.DataFrame, second: pd.DataFrame, *, tick_marks: tuple[float, ...] = SQM_TICKS
) -> pd.DataFrame:
    """Compare how the same annotators use the scale in two sets of scores, such as calibration and additional HITs.

    Returns per language pair and use (see ``USES``; on_marks is the share of scores on the slider's marks) the
    annotators with both, and Spearman's rho over them with its two-sided p: 1 where whoever is highest in one set is
    highest in the other. Missing below five annotators. Source: Knowles & Lo 2024, section 4.1, who compare by eye.
    Caveat: sets of very different size differ in range and distinct scores for that reason alone, though less in rank.
    """
    both = [_uses(table, tick_marks) for table in (first, second)]
    joined = both[0].add_suffix("_first").join(both[1].add_suffix("_second"), how="inner")
    rows = []
    for pair, table in joined.groupby("pair"):
        for use in USES:
            x, y = (table[f"{use}_{when}"].to_numpy(float) for when in ("first", "second"))
            there = np.isfinite(x) & np.isfinite(y)
            varied = there.sum() >= 5 and np.ptp(x[there]) > 0 and np.ptp(y[there]) > 0
            rho, p = stats.spearmanr(x[there], y[there]) if varied else (np.nan, np.nan)
            rows.append((pair, use, int(there.sum()), float(rho), float(p)))
    if not rows:
        raise DataError("No annotator has scores in both tables. Check that they name annotators alike.")
    return pd.DataFrame(rows, columns=["pair", "use", "annotators", "rho", "p"])


def _uses(ratings: pd.DataFrame, tick_marks: tuple[float, ...]) -> pd.DataFrame:
    table = usage(ratings).set_index(_WHO)
    table["on_marks"] = ticks(ratings, tick_marks=tick_marks).groupby(_WHO)["share"].sum()
    return table[list(USES)]


def beside_others(ratings: pd.DataFrame) -> pd.DataFrame:
    """Set each annotator's score of an item beside the mean of all others who scored it.

    Returns pair, system, doc, segment, annotator, score (mean of the annotator's own scores of the item, repeats
    included) and others (mean of the other annotators' such means; missing where nobody else scored the item).
    Degraded items are left out, for each HIT degrades them anew; a reference is another item than the system's output.
    """
    counted = with_pair(ratings[ratings["item_type"].ne("degraded")])
    counted = counted.assign(reference=counted["item_type"].eq("reference"))
    item = ["pair", *ITEM, "reference"]
    own = counted.groupby([*item, "annotator"], sort=False)["score"].mean().reset_index()
    same = own.groupby(item, sort=False)["score"]
    rest = same.transform("size") - 1
    own["others"] = ((same.transform("sum") - own["score"]) / rest).where(rest > 0)
    return own.drop(columns="reference")


def agreement_with_others(ratings: pd.DataFrame) -> pd.DataFrame:
    """Correlate each annotator with the mean of the others, over the items that somebody else scored too.

    Returns pair, annotator, shared (items) and with_others, Spearman's rho, missing below ten shared items and
    where one side does not vary.  Caveat: where few others share an item, their mean is noisy and rho is low even for a
    perfect annotator; compare annotators of one campaign only.
    """
    both = beside_others(ratings).dropna(subset="others")
    ranks = both[_WHO].assign(x=both.groupby(_WHO)["score"].rank(), y=both.groupby(_WHO)["others"].rank())
    centred = ranks[["x", "y"]] - ranks.groupby(_WHO)[["x", "y"]].transform("mean")
    products = pd.DataFrame({"xy": centred["x"] * centred["y"], "xx": centred["x"] ** 2, "yy": centred["y"] ** 2})
    sums = pd.concat([ranks[_WHO], products], axis=1).groupby(_WHO).sum()
    shared = ranks.groupby(_WHO).size()
    spread = np.sqrt(sums["xx"] * sums["yy"])
    rho = (sums["xy"] / spread.where(spread > 0)).where(shared >= FEWEST_SHARED)
    everyone = with_pair(ratings).groupby(_WHO).size().index
    table = pd.DataFrame({"shared": shared, "with_others": rho}).reindex(everyone)
    return table.assign(shared=table["shared"].fillna(0).astype(int)).reset_index()
