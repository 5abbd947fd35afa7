"""How metrics use their scales: ranges, scores brought to one scale, scores by bucket of the human score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.correlation import languages, named
from evalkit.metrics.lexical import CAPTION, LOWER_IS_BETTER, METRICS

#: The scales of metrics that have ends; others are measured by what the data reach, as the paper does.
SCALES = dict.fromkeys((name for name in METRICS + CAPTION if name not in LOWER_IS_BETTER), (0.0, 100.0))
#: The paper's buckets of human scores out of 25, by their upper ends: 0-5, 6-10, 11-20, 21-25.
BUCKETS = (5, 10, 20, 25)


def ranges(scored: pd.DataFrame, *, gold: str = "score", metrics: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the lowest and highest value of each metric, and of the human score, over all languages: Table 8.

    Returns metric, min, max, n; the human score is called "human".
    """
    metrics = named(scored, metrics, gold)
    columns = {"human": scored[gold]} | {name: scored[name] for name in metrics}
    rows = [(name, values.min(), values.max(), int(values.count())) for name, values in columns.items()]
    return pd.DataFrame(rows, columns=["metric", "min", "max", "n"])


def normalised(scored: pd.DataFrame, *, gold: str = "score", metrics: Sequence[str] | None = None) -> pd.DataFrame:
    """Bring scores to 0-1 by the ends of their scale, or what the data reach where it has none: Figure 4.

    Human scores are out of 25, those below 0 count as 0. Returns language, metric ("human" first), value,
    a row per judgement and metric.
    """
    metrics = named(scored, metrics, gold)
    parts = [pd.DataFrame({"metric": "human", "value": scored[gold].clip(lower=0) / BUCKETS[-1]})]
    for name in metrics:
        low, high = SCALES.get(name, (scored[name].min(), scored[name].max()))
        if high <= low:
            raise DataError(f"{name} is {low:g} everywhere: its spread cannot be shown. Leave it out.")
        parts.append(pd.DataFrame({"metric": name, "value": (scored[name] - low) / (high - low)}))
    whole = pd.concat([part.assign(language=languages(scored)) for part in parts])
    return whole[["language", "metric", "value"]].dropna(subset="value").reset_index(drop=True)


def summary(normal: pd.DataFrame) -> pd.DataFrame:
    """Summarise normalised scores: language, metric, p5, median, p95, skewness, lower_half (share below the middle)."""
    found = normal.groupby(["language", "metric"], sort=False, observed=True)["value"]
    table = found.quantile([0.05, 0.5, 0.95]).unstack().set_axis(["p5", "median", "p95"], axis=1)
    return table.assign(skewness=found.skew(), lower_half=found.agg(lambda values: (values < 0.5).mean())).reset_index()


def buckets(scored: pd.DataFrame, *, gold: str = "score", metrics: Sequence[str] | None = None) -> pd.DataFrame:
    """Summarise each metric's scores by bucket of the human score: Figure 6.

    ``BUCKETS`` are upper ends, each included; the first reaches down to 0 and takes what lies below.
    Returns language, metric, bucket ("0-5", then above 5 to 10 as "5-10" …), n, p5, q1, median, q3, p95; a bucket
    without judgements has n 0. The printed intervals leave gaps (5 to 6) where scores with halves would fall.
    """
    metrics = named(scored, metrics, gold)
    labels = [f"{low:g}-{high:g}" for low, high in zip([0, *BUCKETS], BUCKETS)]
    bucket = pd.cut(scored[gold], [-np.inf, *BUCKETS], labels=labels)
    if (beyond := scored[gold].notna() & bucket.isna()).any():
        raise DataError(f"A human score is {scored.loc[beyond, gold].max():g}, beyond the last bucket. Widen it.")
    long = scored[metrics].assign(language=languages(scored), bucket=bucket)
    long = long.melt(["language", "bucket"], metrics, var_name="metric").dropna(subset="bucket")
    found = long.groupby(["language", "metric", "bucket"], sort=False, observed=False)["value"]
    table = found.quantile([0.05, 0.25, 0.5, 0.75, 0.95]).unstack()
    table = table.set_axis(["p5", "q1", "median", "q3", "p95"], axis=1)
    table.insert(0, "n", found.count())
    return table.reset_index()
