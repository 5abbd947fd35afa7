"""How each annotator uses the scale: which part of it, in which shape, how many of its steps."""

from __future__ import annotations

import pandas as pd

from evalkit.data.provenance import scale_of
from evalkit.data.schemas import with_pair

_WHO = ["pair", "annotator"]


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


def bimodality(ratings: pd.DataFrame) -> pd.DataFrame:
    r"""Compute Sarle's coefficient of bimodality for each annotator: pair, annotator, bimodality (0 to 1).

    .. math:: b = (g_1^2 + 1) \Big/ \left(g_2 + \frac{3 (n-1)^2}{(n-2)(n-3)}\right)

    with the sample's adjusted skewness and excess kurtosis. 5/9 is that of even use of the whole scale; higher values
    hint at two heaps of scores. Missing below four judgements and where all scores are equal.
    Source: SAS Institute 1990; Pfister et al. 2013.  Caveat: skewness alone also raises it, so a long tail below a
    crowd of high scores may pass for two heaps. Look at the picture.
    """
    scores = with_pair(ratings).groupby(_WHO)["score"]
    n, skew, kurtosis = scores.size(), scores.skew(), scores.apply(pd.Series.kurt)
    value = (skew**2 + 1) / (kurtosis + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)).where(n > 3))
    return value.where(scores.nunique() > 1).rename("bimodality").reset_index()
