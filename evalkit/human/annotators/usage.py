"""How each annotator uses the scale, and how consistent they are with themselves."""

from __future__ import annotations

import pandas as pd

from evalkit.data.provenance import scale_of
from evalkit.data.schemas import ITEM, with_pair


def usage(ratings: pd.DataFrame, *, scale: tuple[float, float] | None = None) -> pd.DataFrame:
    """Describe how each annotator uses the scale: its range, its shape, how many of its steps.

    Returns pair, annotator, n, unique_scores, min, max, mean, sd (ddof=1), skewness (Fisher-Pearson, adjusted; negative
    where a tail of low scores follows a crowd of high ones) and at_ends (share of scores in the lowest and the highest
    tenth of the scale). scale: its ends; None takes the table's own. Every judgement counts, repeats too. sd is NaN for
    a single judgement, skewness below three judgements and where all scores are equal.
    """
    scores = with_pair(ratings).groupby(["pair", "annotator"])["score"]
    table = scores.agg(n="size", unique_scores="nunique", min="min", max="max", mean="mean", sd="std", skewness="skew")
    ends = ratings.assign(score=in_outer_tenths(ratings, scale=scale))
    at_ends = with_pair(ends).groupby(["pair", "annotator"])["score"].mean()
    return table.assign(skewness=table["skewness"].where(table["sd"] > 0), at_ends=at_ends).reset_index()


def in_outer_tenths(ratings: pd.DataFrame, *, scale: tuple[float, float] | None = None) -> pd.Series:
    """Tell which scores lie in the lowest or the highest tenth of the scale (None: the table's own).

    >>> in_outer_tenths(pd.DataFrame({"score": [1.0, 3.0, 4.8]}), scale=(1, 5)).tolist()
    [True, False, True]
    """
    low, high = scale_of(ratings, given=scale)
    tenth = (high - low) / 10
    return (ratings["score"] <= low + tenth) | (ratings["score"] >= high - tenth)


def score_counts(ratings: pd.DataFrame) -> pd.DataFrame:
    """Count how often each annotator gave each score: pair, annotator, score, judgements."""
    return with_pair(ratings).groupby(["pair", "annotator", "score"]).size().rename("judgements").reset_index()


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
