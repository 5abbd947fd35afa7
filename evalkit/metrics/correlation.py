"""Correlate metrics with human scores by language: segments with intervals, and averages of systems.

Pearson's r and Kendall's tau-b. Intervals resample English sentences, because translations of one sentence are not
independent; a resample's correlation is read off sums over pairs of sentences, so that a thousand cost little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.indicmt import SHORT
from evalkit.data.schemas import segment_names
from evalkit.metrics.lexical import CAPTION, LOWER_IS_BETTER, METRICS
from evalkit.stats import correlation
from evalkit.stats.correlation import kendall_b, pearson
from evalkit.stats.inference import interval, resample


def segments(
    scored: pd.DataFrame,
    *,
    gold: str = "score",
    metrics: Sequence[str] | None = None,
    resamples: int = 0,
    seed: int = 7,
) -> pd.DataFrame:
    """Correlate each metric's scores of segments with human ones: a row per language and metric.

    scored: translations with tgt_lang, doc (where there is one) and segment, ``gold`` and a column per metric; a row
    without gold or metric is left out of that correlation. metrics: by default the lexical ones here.
    Where lower is better (TER), the metric's sign is turned, so that higher always means closer to the humans.
    Returns language, metric, pearson, kendall_b, n, sentences; with resamples also pearson_low, pearson_high,
    kendall_b_low and kendall_b_high, percentile intervals of a bootstrap over sentences. NaN where a side is constant.
    Caveat: annotators and systems are taken as they are, so the intervals speak of other sentences only.

    >>> table = pd.DataFrame({"tgt_lang": "tam", "segment": list("abcd"), "score": [1.0, 2, 3, 4], "m": [1.0, 2, 4, 3]})
    >>> segments(table, metrics=["m"]).round(3).values.tolist()
    [['ta', 'm', 0.8, 0.667, 4, 4]]
    """
    metrics = named(scored, metrics, gold)
    rows = []
    for language, part in by_language(scored):
        x, y = _oriented(part, metrics), part[gold].to_numpy(float)
        sentence = segment_names(part)
        ends = _ends(x, y, sentence, resamples, seed) if resamples else [{}] * len(metrics)
        for metric, values, bounds in zip(metrics, x.T, ends):
            both = np.isfinite(values) & np.isfinite(y)
            row = {"language": language, "metric": metric, "pearson": float(pearson(values, y))}
            row |= {"kendall_b": float(kendall_b(values, y))} | bounds
            rows.append(row | {"n": int(both.sum()), "sentences": int(sentence[both].nunique())})
    return pd.DataFrame(rows)


def _ends(x: np.ndarray, y: np.ndarray, sentence: pd.Series, resamples: int, seed: int) -> list[dict[str, float]]:
    """Draw sentences with replacement, the same for all metrics (columns of x); their intervals, by column."""
    codes, names = pd.factorize(sentence)
    pairs = [correlation.Clustered(values, y, codes) for values in x.T]
    draws = resample(
        lambda counts: np.stack([pair(counts) for pair in pairs], axis=1),
        np.arange(len(names)),
        resamples=resamples,
        seed=seed,
    )
    low, high = interval(draws)
    return [
        {
            f"{name}_{end}": bound[k, i]
            for i, name in enumerate(("pearson", "kendall_b"))
            for end, bound in (("low", low), ("high", high))
        }
        for k in range(len(pairs))
    ]


def systems(scored: pd.DataFrame, *, gold: str = "score", metrics: Sequence[str] | None = None) -> pd.DataFrame:
    """Correlate the systems' mean metric scores with their mean human scores: a row per language and metric.

    Returns language, metric, pearson, pearson_p, kendall_b, kendall_b_p, systems; signs as the metric has them, so a
    good TER correlates negatively, as in print. p: two-sided, of no correlation (Kendall's exact where nothing ties).
    Caveat: with six systems tau-b takes few values, and means hide that systems translated different sentences.
    """
    metrics = named(scored, metrics, gold)
    rows = []
    for language, part in by_language(scored):
        means = part.groupby("system", observed=True)[[gold, *metrics]].mean()
        if len(means) < 3:
            raise DataError(f"{language} has {len(means)} systems. Correlating systems takes at least 3.")
        for metric in metrics:
            r, tau = stats.pearsonr(means[metric], means[gold]), stats.kendalltau(means[metric], means[gold])
            found = (r.statistic, r.pvalue, tau.statistic, tau.pvalue)
            rows.append((language, metric, *map(float, found), len(means)))
    columns = ["language", "metric", "pearson", "pearson_p", "kendall_b", "kendall_b_p", "systems"]
    return pd.DataFrame(rows, columns=columns)


def named(scored: pd.DataFrame, metrics: Sequence[str] | None, gold: str) -> list[str]:
    """Return the metrics to be looked at; DataError where one, or the human score, is not in the table."""
    metrics = [name for name in METRICS + CAPTION if name in scored] if metrics is None else list(metrics)
    if missing := [name for name in (gold, *metrics) if name not in scored]:
        raise DataError(f"The table has no column {missing[0]!r}. Compute it first, or name another.")
    if not metrics:
        raise DataError("The table has no metric's scores. Compute them with lexical.scores.")
    return metrics


def languages(scored: pd.DataFrame) -> pd.Series:
    """Return each row's target language as the study prints it: gu, hi, mr, ml, ta; others keep their code."""
    return scored["tgt_lang"].map(SHORT).fillna(scored["tgt_lang"])


def by_language(scored: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Split a table by target language, in the paper's order: gu, hi, mr, ml, ta, then others as they come."""
    parts = [(str(name), part) for name, part in scored.groupby(languages(scored), sort=False)]
    order = {name: place for place, name in enumerate(SHORT.values())}
    return sorted(parts, key=lambda part: order.get(part[0], len(order)))


def _oriented(part: pd.DataFrame, metrics: Sequence[str]) -> np.ndarray:
    """Return scores, rows × metrics, turned so that higher is better."""
    return part[list(metrics)].to_numpy(float) * [-1 if name in LOWER_IS_BETTER else 1 for name in metrics]
