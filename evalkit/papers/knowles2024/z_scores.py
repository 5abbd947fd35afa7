"""Recompute z-scores that somebody published, in the ways in which pipelines differ, and tell which way was theirs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import with_pair
from evalkit.human.normalization import normalize

#: What WMT's pipeline does, and one departure from it at a time: name -> options of ``normalize``.
PIPELINES: Mapping[str, Mapping] = {
    "as WMT": {"digits": 7},
    "statistics not rounded": {},
    "sd with ddof 0": {"digits": 7, "ddof": 0},
    "statistics without references": {"digits": 7, "item_types": ("system", "repeat", "degraded")},
    "statistics without degraded items": {"digits": 7, "item_types": ("system", "repeat", "reference")},
    "statistics of first showings of outputs": {"digits": 7, "item_types": ("system",)},
    "statistics per HIT": {"digits": 7, "by": ("hit",)},
}


def compare_with_published(ratings: pd.DataFrame) -> pd.DataFrame:
    """Compare recomputed z-scores with the published ones, the column z, per language pair and way of computing them.

    WMT's own: mean and standard deviation (ddof 1) per language pair and worker, over items of all types, rounded to
    the seven significant digits that R prints, because the pipeline wrote them to a file and read them back.
    Returns pair, variant, judgements, undefined (published but not defined here), median and largest (of the absolute
    differences, in standard deviations), equal (none larger than 1e-9, none undefined).
    """
    if "z" not in ratings:
        raise DataError("These ratings have no column z of published z-scores. Load those of WMT's crowd campaigns.")
    rows = []
    for name, options in PIPELINES.items():
        frame = with_pair(normalize(ratings, method="z", **options))
        frame = frame[frame["z"].notna()]
        for pair, part in frame.groupby("pair", sort=True):
            off = (part["normalized"] - part["z"]).abs()
            undefined, largest = int(off.isna().sum()), float(off.max())
            equal = bool(undefined == 0 and largest <= 1e-9)
            rows.append((pair, name, len(part), undefined, float(np.nanmedian(off)), largest, equal))
    columns = ["pair", "variant", "judgements", "undefined", "median", "largest", "equal"]
    return pd.DataFrame(rows, columns=columns)
