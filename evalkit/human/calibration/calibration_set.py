"""Choose a calibration set: items that earlier annotators agreed on, the same number for each score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair


def agreed_items(
    ratings: pd.DataFrame,
    *,
    levels: Sequence[float] | np.ndarray = (1, 2, 3, 4, 5),
    tolerance: float = 0.0,
    share: float = 1.0,
    min_annotators: int = 2,
) -> pd.DataFrame:
    """Find the items whose annotators agreed on a level: level, src_lang, tgt_lang, system, doc, segment, annotators.

    An item belongs to the level nearest to its median. Annotators agreed when there are at least ``min_annotators``
    and at least ``share`` of them are within ``tolerance`` of that level (0: they gave that very score).
    """
    steps = np.array(sorted(levels), float)
    key = ["src_lang", "tgt_lang", *ITEM]
    median = ratings.groupby(key)["score"].transform("median").to_numpy()
    level = steps[np.abs(median[:, None] - steps).argmin(axis=1)]
    near = ratings.assign(level=level, near=np.abs(ratings["score"] - level) <= tolerance)
    items = near.groupby(["level", *key], as_index=False).agg(
        near=("near", "mean"), annotators=("annotator", "nunique")
    )
    return items[(items["near"] >= share) & (items["annotators"] >= min_annotators)].drop(columns="near")


def supply(ratings: pd.DataFrame, *, scale: tuple[float, float]) -> pd.DataFrame:
    """Count the items agreed upon per pair and level: pair, and a column per level, five of them evenly over the scale.

    Agreement: at least half of an item's annotators are within half a step of its level.
    """
    levels = np.linspace(*scale, 5)
    agreed = agreed_items(ratings, levels=levels, tolerance=(levels[1] - levels[0]) / 2, share=0.5)
    counts = pd.crosstab(with_pair(agreed)["pair"], agreed["level"]).reindex(columns=levels, fill_value=0)
    return counts.rename(columns="level {:g}".format).rename_axis(columns=None).reset_index()


def choose(
    ratings: pd.DataFrame,
    *,
    per_level: int,
    levels: Sequence[float] = (1, 2, 3, 4, 5),
    tolerance: float = 0.0,
    share: float = 1.0,
    min_annotators: int = 2,
    seed: int = 7,
    remedy: str = "Lower per_level, raise the tolerance, or bring more prior ratings.",
) -> pd.DataFrame:
    """Choose a calibration set from prior ratings: ``per_level`` items for each score, of those agreed upon.

    The other arguments say what agreement is, see ``agreed_items``. Returns its columns, sorted; the same seed chooses
    the same items in whatever order the ratings come. Source: Licht et al. 2022, section 5.2 (200 pairs of each score).
    Raises DataError naming every level that has too few, and how many it has, with ``remedy``.
    """
    agreed = agreed_items(ratings, levels=levels, tolerance=tolerance, share=share, min_annotators=min_annotators)
    found = agreed["level"].value_counts().reindex(sorted(levels), fill_value=0)
    short = found[found < per_level]
    if len(short):
        lacking = ", ".join(f"{n} at level {level:g}" for level, n in short.items())
        raise DataError(
            f"Too few items that {min_annotators} annotators agreed on: {lacking}, where {per_level} are wanted. "
            f"{remedy}"
        )
    rng = np.random.default_rng(seed)
    chosen = [agreed[agreed["level"] == level].sample(per_level, random_state=rng) for level in sorted(levels)]
    return pd.concat(chosen).sort_values(list(agreed.columns), ignore_index=True)
