"""Add normalised scores to a ratings table, language pair by language pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import like, scale_of
from evalkit.data.schemas import with_pair
from evalkit.human.normalization import forms
from evalkit.human.normalization.forms import METHODS
from evalkit.human.normalization.mixed import mixed_effects

#: What may happen to scores of groups without spread: no value, or the value of an average score.
NO_SPREAD = ("missing", "zero")
_ITEM_TYPES = {"z_calibration": ("calibration",)}


def normalize(
    ratings: pd.DataFrame,
    *,
    method: str = "z",
    by: Sequence[str] = ("annotator",),
    ddof: int = 1,
    item_types: Sequence[str] | None = None,
    digits: int | None = None,
    no_spread: str = "missing",
    ticks: int = 7,
    scale: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Add the column ``normalized``: scores made comparable across groups, within each language pair.

    method: a name in ``METHODS``, which tells unit, assumptions and losses. by: the columns that make a group, such as
    ("annotator",) or ("hit",). item_types: what statistics are computed from (None: everything; ``z_calibration``:
    calibration items); all rows are transformed. ddof (of z) and digits (significant digits of centre and spread, of z
    and robust): how published pipelines differ. no_spread: what becomes of groups whose statistics are undefined:
    "missing" (NaN), or "zero" (the value in the middle: 0, of ranks 1/2, of points the pair's mean).
    ticks: how many the scale has, its ends included. scale: these ends; None takes the table's own.
    ``quantile`` takes the distribution of all scores of the pair that ``item_types`` admits.
    Source: z since WMT13 (Graham et al. 2013); Knowles & Lo 2024, section 4.3, on whose statistics to use.

    >>> frame = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "annotator": list("aaabb"), "item_type": "system",
    ...     "score": [10.0, 20, 30, 50, 50]})
    >>> normalize(frame)["normalized"].tolist()
    [-1.0, 0.0, 1.0, nan, nan]
    """
    _check(ratings, method, by, no_spread)
    item_types = _ITEM_TYPES.get(method, item_types)
    pairs = with_pair(ratings)["pair"]
    use = ratings["item_type"].isin(item_types) if item_types else pd.Series(True, index=ratings.index)
    if not use.any():
        wanted = " and ".join(item_types or ())
        raise DataError(f"Statistics of {wanted} items are asked for, and these ratings have none.")
    marks = np.linspace(*scale_of(ratings, given=scale), ticks) if method == "ticks" else np.empty(0)
    values = np.full(len(ratings), np.nan)
    for rows in pairs.groupby(pairs).indices.values():
        part = ratings.iloc[rows]
        if method == "mixed":
            effects = mixed_effects(part, by=by, item_types=item_types)
            values[rows] = effects.moved(part["score"].to_numpy(float), part)
            continue
        group = part.groupby(list(by), sort=True).ngroup().to_numpy()
        table, place = _padded(part["score"].to_numpy(float), group)
        fit = np.where(_padded(use.to_numpy()[rows], group)[0] == 1, table, np.nan)
        moved = forms.move(method, table, fit, marks=marks, reference=fit.ravel(), ddof=ddof, digits=digits)
        values[rows] = moved[place]
    done = {"method": method, "by": tuple(by), "item_types": item_types and tuple(item_types)}
    frame = like(ratings.assign(normalized=values), ratings, normalization=done)
    if no_spread == "zero":
        middle = frame["normalized"].groupby(pairs).transform("mean") if METHODS[method].unit == "points" else 0.0
        frame["normalized"] = frame["normalized"].fillna(0.5 if method == "rank" else middle)
    return frame


def variants(ratings: pd.DataFrame, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, pd.DataFrame]:
    """Normalise the same ratings in several ways: name -> options of ``normalize`` becomes name -> table."""
    return {name: normalize(ratings, **options) for name, options in settings.items()}


def _check(ratings: pd.DataFrame, method: str, by: Sequence[str], no_spread: str) -> None:
    if method not in METHODS:
        raise DataError(f"method={method!r} is not known. Choose one of: {', '.join(METHODS)}.")
    if no_spread not in NO_SPREAD:
        raise DataError(f"no_spread={no_spread!r} is not known. Choose one of: {', '.join(NO_SPREAD)}.")
    if isinstance(by, str) or not by:
        raise DataError(f"by={by!r} is no tuple of columns. Write by=('annotator',) or by=('hit',).")
    if lacking := [name for name in (*by, "score") if name not in ratings]:
        raise DataError(f"These ratings have no column {', '.join(lacking)}; they have {', '.join(ratings.columns)}.")


def _padded(values: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Arrange values as groups × judgements, NaN behind the last one; returns it and where each value stands."""
    place = (group, pd.Series(group).groupby(group).cumcount().to_numpy())
    table = np.full((group.max() + 1, place[1].max() + 1), np.nan)
    table[place] = values
    return table, place
