"""Correlate metrics with human scores by language, and show how they use their scales.

Pearson's r and Kendall's tau-b of segments, and of averages of systems. Intervals (``correlate``) resample English
sentences, because translations of one sentence are not independent; all rows of a sentence, over systems and languages,
are drawn together. A resample's correlation is read off sums over pairs of sentences, so that a thousand cost little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.indicmt import SHORT
from evalkit.metrics.lexical import CAPTION, LOWER_IS_BETTER, METRICS
from evalkit.stats.correlation import Clustered, kendall_b, pearson, ratio
from evalkit.stats.inference import interval, resample

#: The scales of metrics that have ends; others are measured by what the data reach, as the paper does.
SCALES = dict.fromkeys((name for name in METRICS + CAPTION if name not in LOWER_IS_BETTER), (0.0, 100.0))
#: The best human score.
TOP = 25
_VALUES = ("pearson", "pearson_low", "pearson_high", "kendall_b", "low", "high", "within", "within_low", "within_high")
_Values = Callable[[np.ndarray], np.ndarray]  # weights, (resamples, clusters), to values, (resamples, models, 3)


def segments(scored: pd.DataFrame, *, gold: str, metrics: Sequence[str]) -> pd.DataFrame:
    """Correlate each metric's scores of segments with human ones: a row per language and metric.

    scored: translations with tgt_lang, ``gold`` and a column per metric; a row without gold or metric is left out of
    that correlation.
    Where lower is better (TER), the metric's sign is turned, so that higher always means closer to the humans.
    Returns language, metric, pearson, kendall_b, n. NaN where a side is constant. Intervals: see ``correlate``.

    >>> table = pd.DataFrame({"tgt_lang": "tam", "score": [1.0, 2, 3, 4], "m": [1.0, 2, 4, 3]})
    >>> segments(table, gold="score", metrics=["m"]).round(3).values.tolist()
    [['ta', 'm', 0.8, 0.667, 4]]
    """
    metrics = _named(scored, metrics, gold)
    signs = np.array([-1 if name in LOWER_IS_BETTER else 1 for name in metrics])
    tables = []
    for language, part in by_language(scored):
        x, y = (part[metrics].to_numpy(float) * signs).T, part[gold].to_numpy(float)
        found = {"pearson": pearson(x, y), "kendall_b": kendall_b(x, y), "n": np.isfinite(x + y).sum(axis=1)}
        tables.append(pd.DataFrame({"language": language, "metric": metrics} | found))
    return pd.concat(tables, ignore_index=True)


def systems(scored: pd.DataFrame, *, gold: str, metrics: Sequence[str]) -> pd.DataFrame:
    """Correlate the systems' mean metric scores with their mean human scores: a row per language and metric.

    Returns language, metric, pearson, pearson_p, kendall_b, kendall_b_p, systems; signs as the metric has them, so a
    good TER correlates negatively, as in print. p: two-sided, of no correlation (Kendall's exact where nothing ties).
    Caveat: with six systems tau-b takes few values, and means hide that systems translated different sentences.
    """
    metrics = _named(scored, metrics, gold)
    rows = []
    for language, part in by_language(scored):
        means = part.groupby("system", observed=True)[[gold, *metrics]].mean()
        if len(means) < 3:
            raise DataError(f"{language} has {len(means)} systems. Correlating systems takes at least 3.")
        for metric in metrics:
            r, tau = (test(means[metric], means[gold]) for test in (stats.pearsonr, stats.kendalltau))
            rows.append((language, metric, r.statistic, r.pvalue, tau.statistic, tau.pvalue, len(means)))
    columns = ["language", "metric", "pearson", "pearson_p", "kendall_b", "kendall_b_p", "systems"]
    return pd.DataFrame(rows, columns=columns)


def _named(scored: pd.DataFrame, metrics: Sequence[str], gold: str) -> list[str]:
    """Return the metrics as a list; DataError where one, or the human score, is not in the table."""
    if missing := [name for name in (gold, *metrics) if name not in scored]:
        raise DataError(f"The table has no column {missing[0]!r}. Compute it first, or name another.")
    return list(metrics)


def _languages(scored: pd.DataFrame) -> pd.Series:
    """Return each row's target language as the study prints it: gu, hi, mr, ml, ta; others keep their code."""
    return scored["tgt_lang"].map(SHORT).fillna(scored["tgt_lang"])


def by_language(scored: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Split a table by target language, in the paper's order: gu, hi, mr, ml, ta, then others as they come."""
    parts = [(str(name), part) for name, part in scored.groupby(_languages(scored), sort=False)]
    order = {name: place for place, name in enumerate(SHORT.values())}
    return sorted(parts, key=lambda part: order.get(part[0], len(order)))


def correlate(
    table: pd.DataFrame, models: Sequence[str], *, resamples: int = 1000, seed: int = 7, against: str = ""
) -> pd.DataFrame:
    """Correlate each model with the human scores of each setting and language, averaged over folds.

    table: columns setting, language, sentence (the cluster), fold, score, and one column per model, without gaps, as
    ``learned.out_of_fold`` makes it. Each fold is correlated by itself, because models of different folds have scales
    of their own, and the values are averaged (Sai et al. 2023, appendix B.2).
    against: a model; values are then differences from it, on the same draws.
    Returns setting, language ("avg": the average over several), model, pearson, pearson_low, pearson_high, kendall_b,
    low, high (of τ-b), within, within_low, within_high (τ-b over pairs of translations of one sentence: knowing which
    sentences are hard does not help there), n (rows), sentences.
    A fold in which a model or the scores do not vary has no correlation and is left out of the average.
    Caveat: resamples vary the sentences that are tested, not those that were trained on.
    """
    wanted = [*models, *([against] if against and against not in models else [])]
    if gaps := [name for name in ("score", *wanted) if not np.isfinite(table[name].to_numpy(float)).all()]:
        raise DataError(f"The column {gaps[0]} has no number in some rows. Leave these rows out for all models.")
    table = table.reset_index(drop=True)
    codes, clusters = pd.factorize(table["sentence"])
    places = pd.Series(codes, table.index)
    groups = list(table.groupby(["setting", "language"], sort=False))
    estimates = [_estimator(part, wanted, places) for _, part in groups]

    def evaluate(weights: np.ndarray) -> np.ndarray:
        return np.stack([estimate(weights) for estimate in estimates], 1)

    drawn = resample(evaluate, np.arange(len(clusters)), resamples=resamples, seed=seed)
    values = np.concatenate([evaluate(np.ones((1, len(clusters)))), drawn])  # draws × groups × models × statistics
    rows, found = [], []
    for setting, part in table.groupby("setting", sort=False):
        here = [number for number, ((name, _), _) in enumerate(groups) if name == setting]
        rows += [(setting, groups[number][0][1], groups[number][1], values[:, number]) for number in here]
        if len(here) > 1:
            rows.append((setting, "avg", part, _mean(values[:, here].swapaxes(0, 1))))
    for setting, language, part, each in rows:
        if against:
            each = each - each[:, [wanted.index(against)]]
        low, high = interval(each[1:])
        for number, model in enumerate(models):
            ends = np.stack([each[0, number], low[number], high[number]], axis=1).ravel()
            found.append((setting, language, model, *ends, len(part), part["sentence"].nunique()))
    return pd.DataFrame(found, columns=["setting", "language", "model", *_VALUES, "n", "sentences"])


def _estimator(table: pd.DataFrame, models: Sequence[str], places: pd.Series) -> _Values:
    """Prepare one language's correlations: a function of weights, to (resamples, models, Pearson, Kendall and within).

    places: the number of each row's cluster, by the table's index.
    """
    folds = []
    for _, fold in table.groupby("fold"):
        score, cluster = fold["score"].to_numpy(float), places[fold.index].to_numpy()
        folds.append([Clustered(fold[model].to_numpy(float), score, cluster) for model in models])
    return lambda weights: _mean(np.stack([np.stack([one(weights) for one in fold], axis=1) for fold in folds]))


def _mean(values: np.ndarray) -> np.ndarray:
    """Average the defined values along the first axis; NaN where none is."""
    defined = np.isfinite(values)
    return ratio(np.where(defined, values, 0).sum(0), defined.sum(0))


def ranges(scored: pd.DataFrame, *, gold: str, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the lowest and highest value of each metric, and of the human score, over all languages: Table 8.

    Returns metric, min, max, n; the human score is called "human".
    """
    table = scored[[gold, *metrics]].rename(columns={gold: "human"}).agg(["min", "max", "count"]).T
    return table.rename_axis("metric").rename(columns={"count": "n"}).astype({"n": int}).reset_index()


def normalised(scored: pd.DataFrame, *, gold: str, metrics: Sequence[str]) -> pd.DataFrame:
    """Bring scores to 0-1 by the ends of their scale, or what the data reach where it has none: Figure 4.

    Human scores are out of 25, those below 0 count as 0. Returns language, metric ("human" first), value,
    a row per judgement and metric.
    """
    parts = [pd.DataFrame({"metric": "human", "value": scored[gold].clip(lower=0) / TOP})]
    for name in metrics:
        low, high = SCALES.get(name, (scored[name].min(), scored[name].max()))
        if high <= low:
            raise DataError(f"{name} is {low:g} everywhere: its spread cannot be shown. Leave it out.")
        parts.append(pd.DataFrame({"metric": name, "value": (scored[name] - low) / (high - low)}))
    whole = pd.concat([part.assign(language=_languages(scored)) for part in parts])
    return whole[["language", "metric", "value"]].dropna(subset="value").reset_index(drop=True)


def summary(normal: pd.DataFrame) -> pd.DataFrame:
    """Summarise normalised scores: language, metric, p5, median, p95, skewness, lower_half (share below the middle)."""
    found = normal.groupby(["language", "metric"], sort=False, observed=True)["value"]
    table = found.quantile([0.05, 0.5, 0.95]).unstack().set_axis(["p5", "median", "p95"], axis=1)
    return table.assign(skewness=found.skew(), lower_half=found.agg(lambda values: (values < 0.5).mean())).reset_index()
