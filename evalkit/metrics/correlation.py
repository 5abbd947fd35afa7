"""Correlate metrics with human scores by language: segments with intervals, and averages of systems.

Pearson's r and Kendall's tau-b. Intervals resample English sentences, because translations of one sentence are not
independent; a resample's correlation is read off sums over pairs of sentences, so that a thousand cost little.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.indicmt import SHORT
from evalkit.metrics.lexical import CAPTION, LOWER_IS_BETTER, METRICS
from evalkit.stats import weighted
from evalkit.stats.correlation import kendall_b, pearson
from evalkit.stats.inference import interval, resample

#: The statistics of ``segments``, in the order of a draw's last axis.
STATISTICS = ("pearson", "kendall_b")


def segments(
    scored: pd.DataFrame,
    *,
    gold: str = "score",
    metrics: Sequence[str] | None = None,
    resamples: int = 0,
    seed: int = 7,
    level: float = 0.95,
) -> pd.DataFrame:
    """Correlate each metric's scores of segments with human ones: a row per language and metric.

    scored: translations with tgt_lang, segment (the same for translations of one sentence), ``gold`` and a column per
    metric; a row without gold or metric is left out of that correlation. metrics: by default the lexical ones here.
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
        if not resamples:  # nothing then needs sums over pairs of sentences
            once = [_once(values, y, part["segment"]) for values in x.T]
            rows += [{"language": language, "metric": metric} | row for metric, row in zip(metrics, once)]
            continue
        pairs = _paired(x, y, part["segment"])
        drawn = _draws(pairs, resamples, seed)
        for number, (metric, pair) in enumerate(zip(metrics, pairs)):
            row = {"language": language, "metric": metric}
            row |= dict(zip(STATISTICS, pair.correlations(np.ones((1, pair.sentences)))[0]))
            low, high = interval(drawn[:, number], level=level)
            row |= {f"{name}_{end}": bound[i] for i, name in enumerate(STATISTICS)
                    for end, bound in (("low", low), ("high", high))}  # fmt: skip
            rows.append(row | {"n": pair.n, "sentences": len(pair.there)})
    return pd.DataFrame(rows)


def _once(x: np.ndarray, y: np.ndarray, sentence: pd.Series) -> dict[str, float]:
    """Correlate two columns without resampling."""
    both = np.isfinite(x) & np.isfinite(y)
    found = {"pearson": float(pearson(x, y)), "kendall_b": float(kendall_b(x, y))}
    return found | {"n": int(both.sum()), "sentences": int(sentence[both].nunique())}


def differences(
    scored: pd.DataFrame,
    *,
    against: str = "chrF++",
    gold: str = "score",
    metrics: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 7,
    level: float = 0.95,
) -> pd.DataFrame:
    """Tell how much better or worse than one metric each other metric correlates (tau-b), in the same resamples.

    Returns language, metric, against, difference, low, high: a difference whose interval leaves out 0 is one that other
    sentences would be expected to show too, as far as a single comparison goes.
    """
    metrics = named(scored, metrics, gold)
    if against not in metrics:
        raise DataError(f"There is no metric {against!r} to compare with. Choose among {', '.join(metrics)}.")
    rows = []
    for language, part in by_language(scored):
        x, y = _oriented(part, metrics), part[gold].to_numpy(float)
        pairs = _paired(x, y, part["segment"])
        tau = np.concatenate([_draws(pairs, resamples, seed), _all(pairs)])[..., 1]
        apart = tau - tau[:, [metrics.index(against)]]
        low, high = interval(apart[:-1], level=level)
        for number, metric in enumerate(metrics):
            if metric != against:
                place = (language, metric, against)
                rows.append((*place, apart[-1, number], low[number], high[number]))
    return pd.DataFrame(rows, columns=["language", "metric", "against", "difference", "low", "high"])


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


class _Pair:
    """Hold what the correlations of one metric with the human scores need in any resample of sentences."""

    def __init__(
        self, x: np.ndarray, gold: weighted.Side | None, rows: np.ndarray, there: np.ndarray, sentences: int
    ) -> None:
        self.n, self.there, self.sentences = len(rows), there, sentences
        varies = self.n > 1 and np.ptp(x[rows]) > 0 and np.ptp(gold.values) > 0
        self.sums = weighted.clustered(weighted.Side(x[rows], gold.cluster), gold) if varies else None

    def correlations(self, counts: np.ndarray) -> np.ndarray:
        """Return Pearson's r and tau-b where each sentence counts so often; (batch, 2) from (batch, sentences)."""
        if self.sums is None:
            return np.full((len(counts), 2), np.nan)
        counts, (linear, pairs) = counts[:, self.there], self.sums
        return np.column_stack([weighted.pearson(counts @ linear.T), weighted.kendall_b(counts, *pairs)])


def _paired(x: np.ndarray, y: np.ndarray, sentence: pd.Series) -> list[_Pair]:
    """Prepare each metric, a column of x; metrics that have scores of the same rows share the human side."""
    codes, names = pd.factorize(sentence)
    pairs, golds = [], {}
    for values in x.T:
        there = np.isfinite(values) & np.isfinite(y)
        if there.tobytes() not in golds:
            rows = np.flatnonzero(there)[np.argsort(codes[there], kind="stable")]
            used, cluster = np.unique(codes[rows], return_inverse=True)
            golds[there.tobytes()] = weighted.Side(y[rows], cluster) if len(rows) else None, rows, used
        pairs.append(_Pair(values, *golds[there.tobytes()], len(names)))
    return pairs


def _all(pairs: Sequence[_Pair]) -> np.ndarray:
    """Return the correlations of all rows, (1, metrics, 2)."""
    return _correlated(pairs, np.ones((1, pairs[0].sentences)))


def _correlated(pairs: Sequence[_Pair], counts: np.ndarray) -> np.ndarray:
    return np.stack([pair.correlations(counts) for pair in pairs], axis=1)


def _draws(pairs: Sequence[_Pair], resamples: int, seed: int) -> np.ndarray:
    """Draw sentences with replacement, the same for all metrics; (resamples, metrics, 2)."""
    return resample(partial(_correlated, pairs), np.arange(pairs[0].sentences), resamples=resamples, seed=seed)
