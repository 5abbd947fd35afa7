"""Arrange ratings as items × annotators, one language pair at a time."""

from __future__ import annotations

import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair

#: Ways to reduce an annotator's repeated scores of one item to a single score.
REPEATS = ("mean", "first", "last", "min", "max")


def score_matrix(ratings: pd.DataFrame, *, repeats: str = "mean") -> pd.DataFrame:
    """Arrange one language pair's scores as items × annotators, one score a cell, NaN where an annotator skipped.

    repeats: how scores of the same item by the same annotator become one: mean, first, last (in row order), min, max.
    Raises DataError on several language pairs, on no rows, and on an unknown ``repeats``.
    """
    if repeats not in REPEATS:
        raise DataError(f"repeats={repeats!r} is not known. Choose one of: {', '.join(REPEATS)}.")
    pairs = with_pair(ratings)["pair"].unique()
    if len(pairs) != 1:
        raise DataError(f"Scores of one language pair are needed, and these are {len(pairs)}. Select one first.")
    return ratings.groupby([*ITEM, "annotator"], sort=True)["score"].agg(repeats).unstack("annotator")
