"""Bound a test accuracy where the labels behind print cannot all be had: what two annotators and the worst tell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, named


def middle_of_three(labels: pd.DataFrame, worst: pd.DataFrame, *, dimension: str) -> pd.DataFrame:
    """Bound the middle label of three annotators, of whom two are known, by the worst of the three, which is known.

    labels: KEY, annotator, dimension, label (codes) of two annotators. worst: KEY, dimension, label (category names),
    the worst of all three. If the two agree, theirs is the middle one; if the worst is worse than both, the third gave
    it, and the middle one is the worse of the two; else it lies between the two. Order: severity.
    Returns KEY, low, high (category names; the same where the middle label is certain), for the translations that
    exactly two annotators labelled. Where ``worst`` is better than one of the two, it cannot be the worst of three:
    such rows are left out, and ``attrs["excluded"]`` counts them. Raises DataError where that leaves none of them.

    >>> key = dict.fromkeys(KEY, "x")
    >>> two = pd.DataFrame([key | {"annotator": a, "dimension": "fluency", "label": x} for a, x in zip("AB", "SB")])
    >>> one = pd.DataFrame([key | {"dimension": "fluency", "label": "Poor"}])
    >>> middle_of_three(two, one, dimension="fluency")[["low", "high"]].values.tolist()
    [['Fair', 'Fair']]
    """
    names = categories(dimension, order="severity")
    place = {name: number for number, name in enumerate(names)}
    own = named(labels[labels["dimension"] == dimension])
    own = own.assign(place=own["label"].map(place)).groupby(KEY, sort=False)["place"].agg(["size", "min", "max"])
    known = worst.loc[worst["dimension"] == dimension, [*KEY, "label"]]
    table = own[own["size"] == 2].reset_index().merge(known, on=KEY)
    bottom, low, high = (
        table["label"].map(place).to_numpy(float),
        table["min"].to_numpy(int),
        table["max"].to_numpy(int),
    )
    wrong = bottom > low
    if len(wrong) and (wrong | np.isnan(bottom)).all():
        raise DataError("None of the labels is the worst of three, or none has a name. Reduce by the worst, and name.")
    high = np.where(bottom < low, low, high)
    told = np.array(names, dtype=object)
    kept = table[KEY].assign(low=told[low], high=told[high])[bottom <= low].reset_index(drop=True)
    kept.attrs["excluded"] = {"translations whose label is not the worst of three": len(table) - len(kept)}
    return kept
