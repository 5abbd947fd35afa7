"""The exercises of the lesson "Judge for yourselves": what a class's own judgements say of the class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.lessons import classroom
from evalkit.lessons.checker import Exercise, Value, letter


def items(ratings: pd.DataFrame) -> pd.DataFrame:
    """Lay out first showings under names like ``smooth/bakery/1``: one row an item, one column an annotator."""
    table = classroom.matrix(ratings)
    return table.set_axis(table.index.map("/".join), axis=0).rename_axis("item")


def minutes(ratings: pd.DataFrame, you: str, seconds: float) -> float:
    """Return how many minutes your judgements take at so many seconds each."""
    return float((ratings["annotator"] == you).sum() * seconds / 60)


def noticed(pairs: pd.DataFrame) -> float:
    """Return the share of degraded copies that scored lower than their originals. pairs: of ``classroom.copies``."""
    return float((_losses(pairs, "degraded") > 0).mean())


def unsteadiness(pairs: pd.DataFrame) -> float:
    """Return the mean absolute difference between the two scores of a repeat, in points."""
    return float(_losses(pairs, "repeat").abs().mean())


def _losses(pairs: pd.DataFrame, *kinds: str) -> pd.Series:
    return pairs.loc[pairs["item_type"].isin(kinds), "loss"]


EXERCISES: dict[str, Exercise] = {
    "minutes": Value(
        right=minutes,
        mistakes={
            "work_of_the_whole_class": lambda ratings, you, seconds: len(ratings) * seconds / 60,
            "left_out_the_second_showings": lambda ratings, you, seconds: minutes(
                ratings.query("item_type == 'system'"), you, seconds
            ),
            "seconds": lambda ratings, you, seconds: 60 * minutes(ratings, you, seconds),
        },
    ),
    "most_disputed": Value(
        right=lambda table: table.std(axis=1).idxmax(),
        names=lambda table: table.index,
        mistakes={
            "one_you_agree_most": lambda table: table.std(axis=1).idxmin(),
            "one_has_the_lowest_mean": lambda table: table.mean(axis=1).idxmin(),
            "one_has_the_widest_range": lambda table: (table.max(axis=1) - table.min(axis=1)).idxmax(),
            "person": lambda table: table.std(axis=0).idxmax(),
        },
    ),
    "noticed": Value(
        right=noticed,
        mistakes={
            "counted_repeats_as_well": lambda pairs: float((_losses(pairs, "degraded", "repeat") > 0).mean()),
            "how_often_the_degraded": lambda pairs: float((_losses(pairs, "degraded") < 0).mean()),
            "mean_loss_in_points": lambda pairs: float(_losses(pairs, "degraded").mean()),
        },
    ),
    "unsteadiness": Value(
        right=unsteadiness,
        mistakes={
            "differences_up_and_down": lambda pairs: float(_losses(pairs, "repeat").mean()),
            "included_degraded_copies": lambda pairs: float(_losses(pairs, "repeat", "degraded").abs().mean()),
            "root_of_the_mean_square": lambda pairs: float(np.sqrt((_losses(pairs, "repeat") ** 2).mean())),
        },
    ),
    "order": letter("B"),
}
