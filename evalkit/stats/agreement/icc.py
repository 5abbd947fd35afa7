"""Share out the variance of scores between items, annotators and noise."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data.schemas import with_pair
from evalkit.stats.agreement.estimates import ratio
from evalkit.stats.agreement.matrix import score_matrix


def of_mean_squares(
    items: ArrayLike, annotators: ArrayLike, noise: ArrayLike, *, n: ArrayLike, k: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return agreement, ICC(A,1), and consistency, ICC(C,1), of n items that k annotators rated; NaN where 0/0.

    items, annotators, noise: mean squares of a two-way analysis of variance. Source: McGraw & Wong 1996, Table 4.

    >>> [value.round(2).item() for value in of_mean_squares(11.24, 32.49, 1.02, n=6, k=4)]  # Shrout & Fleiss 1979
    [0.29, 0.71]
    """
    items, annotators, noise, n, k = (np.asarray(each, float) for each in (items, annotators, noise, n, k))
    own = items + (k - 1) * noise
    return ratio(items - noise, own + ratio(k * (annotators - noise), n)), ratio(items - noise, own)


def intraclass(ratings: pd.DataFrame) -> pd.DataFrame:
    """Estimate which share of the scores' variance is the items', with and without the annotators' levels.

    Returns pair, items, annotators, then agreement and consistency (unitless, 1 is perfect) with 95 % intervals.
    Agreement, ICC(A,1) of McGraw & Wong 1996, counts a strict annotator's lower level as disagreement; consistency,
    ICC(C,1), forgives it. What lies between the two is the most that shifting annotators' scores can mend.
    Items that some annotator skipped are left out.  Caveat: both assume equal variances across annotators.
    """
    import pingouin

    rows = []
    for pair, group in with_pair(ratings).groupby("pair"):
        scores = score_matrix(group).dropna()
        if len(scores) < 2 or scores.shape[1] < 2:
            raise DataError(f"{pair}: an intraclass correlation needs two annotators who share two items or more.")
        long = scores.reset_index(drop=True).melt(var_name="annotator", value_name="score", ignore_index=False)
        long = long.reset_index(names="item")
        with warnings.catch_warnings():  # pingouin 0.7 uses pandas calls that pandas 3 deprecates
            warnings.simplefilter("ignore")
            table = pingouin.intraclass_corr(long, targets="item", raters="annotator", ratings="score")
        found = table.set_index("Type")
        low_high = next(c for c in found.columns if c.startswith("CI95"))
        rows.append({"pair": pair, "items": len(scores), "annotators": scores.shape[1]})
        for name, kind in (("agreement", "ICC(A,1)"), ("consistency", "ICC(C,1)")):
            low, high = found.loc[kind, low_high]
            rows[-1] |= {name: float(found.loc[kind, "ICC"]), f"{name}_low": float(low), f"{name}_high": float(high)}
    return pd.DataFrame(rows)
