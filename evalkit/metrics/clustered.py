"""Correlate metrics with human scores within folds, with intervals over clusters of rows such as English sentences.

All rows of a sentence, over systems and languages, are drawn together: they share what makes it hard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.stats import correlation
from evalkit.stats.correlation import ratio
from evalkit.stats.inference import interval, resample

_VALUES = ("pearson", "pearson_low", "pearson_high", "kendall_b", "low", "high", "within", "within_low", "within_high")
_Values = Callable[[np.ndarray], np.ndarray]  # weights, (resamples, clusters), to values, (resamples, models, 3)


def correlate(
    table: pd.DataFrame,
    models: Sequence[str],
    *,
    resamples: int = 1000,
    seed: int = 7,
    against: str | None = None,
    average: str | None = "avg",
) -> pd.DataFrame:
    """Correlate each model with the human scores of each setting and language, averaged over folds.

    table: columns setting, language, sentence (the cluster), fold, score, and one column per model, without gaps, as
    ``learned.out_of_fold`` makes it. Each fold is correlated by itself, because models of different folds have scales
    of their own, and the values are averaged (Sai et al. 2023, appendix B.2).
    average: what to call the average over languages, None to leave it out.
    against: a model; values are then differences from it, on the same draws.
    Returns setting, language, model, pearson, pearson_low, pearson_high, kendall_b, low, high (of τ-b), within,
    within_low, within_high (τ-b over pairs of translations of one sentence: knowing which sentences are hard does not
    help there), n (rows), sentences.
    A fold in which a model or the scores do not vary has no correlation and is left out of the average.
    Caveat: resamples vary the sentences that are tested, not those that were trained on.
    """
    wanted = [*models, *([against] if against and against not in models else [])]
    _checked(table, wanted)
    codes, clusters = pd.factorize(table["sentence"])
    places = pd.Series(codes, table.index)
    groups = list(table.groupby(["setting", "language"], sort=False))
    estimates = [estimator(part, wanted, places) for _, part in groups]

    def evaluate(weights: np.ndarray) -> np.ndarray:
        return np.stack([estimate(weights) for estimate in estimates], 1)

    drawn = resample(evaluate, np.arange(len(clusters)), resamples=resamples, seed=seed)
    values = np.concatenate([evaluate(np.ones((1, len(clusters)))), drawn])  # draws × groups × models × statistics
    rows = []
    for setting, part in table.groupby("setting", sort=False):
        here = [number for number, ((name, _), _) in enumerate(groups) if name == setting]
        rows += [(setting, groups[number][0][1], groups[number][1], values[:, number]) for number in here]
        if average and len(here) > 1:
            rows.append((setting, average, part, _mean(values[:, here].swapaxes(0, 1))))
    found = []
    for setting, language, part, each in rows:
        if against:
            each = each - each[:, [wanted.index(against)]]
        low, high = interval(each[1:])
        for number, model in enumerate(models):
            ends = np.stack([each[0, number], low[number], high[number]], axis=1).ravel()
            found.append((setting, language, model, *ends, len(part), part["sentence"].nunique()))
    return pd.DataFrame(found, columns=["setting", "language", "model", *_VALUES, "n", "sentences"])


def estimator(table: pd.DataFrame, models: Sequence[str], places: pd.Series) -> _Values:
    """Prepare one language's correlations: a function of weights, to (resamples, models, Pearson, Kendall and within).

    places: the number of each row's cluster, by the table's index.
    """
    folds = [
        [
            correlation.Clustered(
                fold[model].to_numpy(float), fold["score"].to_numpy(float), places[fold.index].to_numpy()
            )
            for model in models
        ]
        for _, fold in table.groupby("fold")
    ]
    return lambda weights: _mean(np.stack([np.stack([pair(weights) for pair in fold], axis=1) for fold in folds]))


def _mean(values: np.ndarray) -> np.ndarray:
    """Average the defined values along the first axis; NaN where none is."""
    defined = np.isfinite(values)
    return ratio(np.where(defined, values, 0).sum(0), defined.sum(0))


def _checked(table: pd.DataFrame, models: Sequence[str]) -> None:
    needed = ["setting", "language", "sentence", "fold", "score", *models]
    missing = [name for name in needed if name not in table]
    if missing:
        raise DataError(f"The table of predictions has no column {', '.join(missing)}. It needs {', '.join(needed)}.")
    if table.empty or not table.index.is_unique:
        raise DataError("The table of predictions is empty or numbers rows twice. Reset its index, and fill it.")
    values = table[["score", *models]].to_numpy(float)
    if not np.isfinite(values).all():
        column = ["score", *models][int(np.argmin(np.isfinite(values).all(axis=0)))]
        raise DataError(f"The column {column} has no number in some rows. Leave these rows out for all models.")
