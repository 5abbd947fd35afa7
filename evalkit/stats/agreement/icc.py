"""Share out the variance of scores between items, annotators and noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import f

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

    Returns pair, items, annotators, then agreement and consistency (unitless, 1 is perfect) with 95 % intervals, whose
    ends are rounded to two digits. Agreement, ICC(A,1) of McGraw & Wong 1996, counts a strict annotator's lower level
    as disagreement; consistency, ICC(C,1), forgives it. What lies between the two is the most that shifting annotators'
    scores can mend. Items that some annotator skipped are left out.  Caveat: both assume equal variances across
    annotators.
    """
    rows = []
    for pair, group in with_pair(ratings).groupby("pair"):
        scores = score_matrix(group).dropna()
        if len(scores) < 2 or scores.shape[1] < 2:
            raise DataError(f"{pair}: an intraclass correlation needs two annotators who share two items or more.")
        row = {"pair": pair, "items": len(scores), "annotators": scores.shape[1]}
        for name, (value, low, high) in _estimates(scores.to_numpy(float)).items():
            row |= {name: value, f"{name}_low": round(low, 2), f"{name}_high": round(high, 2)}
        rows.append(row)
    return pd.DataFrame(rows)


def _estimates(scores: np.ndarray) -> dict[str, tuple[float, float, float]]:
    """Return estimate and ends of the interval of both correlations. Source: McGraw & Wong 1996, Tables 4 and 7."""
    n, k = scores.shape
    by_item, by_annotator, centre = scores.mean(axis=1), scores.mean(axis=0), scores.mean()
    df = (n - 1) * (k - 1)
    items = k * ((by_item - centre) ** 2).sum() / (n - 1)
    annotators = n * ((by_annotator - centre) ** 2).sum() / (k - 1)
    noise = ((scores - by_item[:, None] - by_annotator + centre) ** 2).sum() / df

    agreement, consistency = map(float, of_mean_squares(items, annotators, noise, n=n, k=k))
    least = items / noise / f.ppf(0.975, n - 1, df)
    most = items / noise * f.ppf(0.975, df, n - 1)
    ends = (least - 1) / (least + k - 1), (most - 1) / (most + k - 1)

    a = k * agreement / n / (1 - agreement)
    b = 1 + k * agreement * (n - 1) / n / (1 - agreement)
    v = (a * annotators + b * noise) ** 2 / ((a * annotators) ** 2 / (k - 1) + (b * noise) ** 2 / df)
    others = k * annotators + (k * n - k - n) * noise
    below, above = f.ppf(0.975, n - 1, v), f.ppf(0.975, v, n - 1)
    low = n * (items - below * noise) / (below * others + n * items)
    high = n * (above * items - noise) / (others + n * above * items)
    return {"agreement": (agreement, low, high), "consistency": (consistency, *ends)}
