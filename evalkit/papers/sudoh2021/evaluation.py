"""Compare predicted labels with true ones: confusion matrices, scores, distance, and whether probabilities hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.papers.claims import pivot
from evalkit.papers.sudoh2021.taxonomy import categories
from evalkit.stats.inference import column_means, interval, resample

#: What the last row of a table of scores is called, as in print.
AVERAGE = "Ave."
#: What the paper's own network is called beside our models.
PRINTED = "RoBERTa (printed)"
_TINY = 1e-12


def confusion(predictions: pd.DataFrame) -> pd.DataFrame:
    """Count how often each true label was predicted as each label.

    predictions: a row per translation and model, columns dimension, model, true, predicted (category names).
    Returns dimension, model, true, predicted, count: every pair of the dimension's labels, zeros included, in
    the order of print. Raises DataError for a label that the dimension does not have.

    >>> rows = pd.DataFrame({"dimension": "fluency", "model": "m", "true": ["Poor", "Fair"], "predicted": "Fair"})
    >>> confusion(rows).query("count > 0")[["true", "predicted"]].values.tolist()
    [['Poor', 'Fair'], ['Fair', 'Fair']]
    """
    parts = []
    for (dimension, model), rows in predictions.groupby(["dimension", "model"], sort=False):
        names = categories(dimension)
        places = {name: place for place, name in enumerate(names)}
        codes = [_coded(rows[side], places, dimension) for side in ("true", "predicted")]
        counts = np.bincount(codes[0] * len(names) + codes[1], minlength=len(names) ** 2)
        parts.append(_long(counts.reshape(len(names), -1), names, dimension, model))
    if not parts:
        raise DataError("There are no predictions to count. Predict some translations first.")
    return pd.concat(parts, ignore_index=True)


def printed_confusion(table: pd.DataFrame, *, dimension: str) -> pd.DataFrame:
    """Bring a printed confusion matrix into the form of ``confusion``.

    table: columns true, predicted, count (texts as printed). Raises DataError where a pair of labels is missing.

    >>> cells = [(a, b, "1,001" if a == b else "0") for a in categories("fluency") for b in categories("fluency")]
    >>> read = printed_confusion(pd.DataFrame(cells, columns=["true", "predicted", "count"]), dimension="fluency")
    >>> int(read["count"].sum())
    5005
    """
    names = categories(dimension)
    wide = pivot(table, "true", "predicted", "count").reindex(index=names, columns=names)
    if wide.isna().to_numpy().any():
        raise DataError(f"The printed matrix of {dimension} lacks a pair of labels. Add its cell.")
    return _long(wide.to_numpy(int), names, dimension, PRINTED)


def scores(confused: pd.DataFrame) -> pd.DataFrame:
    """Compute precision, recall and F1 of each label, and their plain averages.

    confused: as ``confusion`` gives it. Returns dimension, model, label, precision, recall, f1; the label "Ave." is
    the mean over the labels that truly occur (macro average). A label never predicted has precision 0; a label that
    never occurs has no row of numbers (NaN).

    >>> rows = pd.DataFrame({"dimension": "fluency", "model": "m", "true": ["Poor", "Fair"], "predicted": "Fair"})
    >>> scores(confusion(rows)).query("label in ['Fair', 'Ave.']")[["precision", "recall"]].values.tolist()
    [[0.5, 1.0], [0.25, 0.5]]
    """
    parts = []
    for (dimension, model), rows in confused.groupby(["dimension", "model"], sort=False):
        names, matrix = _matrix(rows)
        hits, given, occurring = np.diag(matrix), matrix.sum(axis=0), matrix.sum(axis=1)
        precision, recall = hits / np.maximum(given, 1), hits / np.maximum(occurring, 1)
        f1 = 2 * hits / np.maximum(given + occurring, 1)
        table = pd.DataFrame({"label": names, "precision": precision, "recall": recall, "f1": f1})
        table.loc[occurring == 0, ["precision", "recall", "f1"]] = np.nan
        means = {"label": AVERAGE} | table[["precision", "recall", "f1"]].mean().to_dict()
        table = pd.concat([table, pd.DataFrame([means])], ignore_index=True)
        parts.append(table.assign(dimension=dimension, model=model))
    return pd.concat(parts, ignore_index=True)[["dimension", "model", "label", "precision", "recall", "f1"]]


def summary(confused: pd.DataFrame, *, order: str = "severity") -> pd.DataFrame:
    """Summarise each matrix in a row: share right, and how far away the errors lie.

    order: the order of labels in which distance is counted, in places. Returns dimension, model, n, accuracy,
    adjacent (share of the *errors* that lie one place away), within_one (share of all that are right or one place
    away), distant (errors of three places or more), distant_share (of all), mean_places (mean absolute error) and
    weighted_kappa (Cohen's, quadratic weights: 1 all right, 0 as by chance; NaN where no chance disagreement exists).
    Source: Cohen 1968. Caveat: places are not equal steps, and adequacy's four worst labels are kinds, not degrees.

    >>> rows = pd.DataFrame({"dimension": "fluency", "model": "m", "true": ["Poor", "Good"], "predicted": "Fair"})
    >>> summary(confusion(rows))[["accuracy", "adjacent", "mean_places"]].values.tolist()
    [[0.0, 1.0, 1.0]]
    """
    found = []
    for (dimension, model), rows in confused.groupby(["dimension", "model"], sort=False):
        names, matrix = _matrix(rows, categories(dimension, order=order))
        gap = np.abs(np.subtract.outer(np.arange(len(names)), np.arange(len(names))))
        total = matrix.sum()
        if not total:
            raise DataError(f"The matrix of {model} ({dimension}) is empty. Count some predictions first.")
        errors = total - np.trace(matrix)
        expected = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / total
        by_chance = (gap**2 * expected).sum()
        found.append(
            {
                "dimension": dimension,
                "model": model,
                "n": int(total),
                "accuracy": np.trace(matrix) / total,
                "adjacent": matrix[gap == 1].sum() / errors if errors else np.nan,
                "within_one": matrix[gap <= 1].sum() / total,
                "distant": int(matrix[gap >= 3].sum()),
                "distant_share": matrix[gap >= 3].sum() / total,
                "mean_places": (gap * matrix).sum() / total,
                "weighted_kappa": 1 - (gap**2 * matrix).sum() / by_chance if by_chance else np.nan,
            }
        )
    return pd.DataFrame(found)


def confused_as(confused: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> int:
    """Count the errors of a single matrix that are of these kinds: (true, predicted).

    >>> rows = pd.DataFrame({"dimension": "fluency", "model": "m", "true": ["Poor", "Fair"], "predicted": "Fair"})
    >>> confused_as(confusion(rows), [("Poor", "Fair"), ("Fair", "Poor")])
    1
    """
    cells = confused.set_index(["true", "predicted"])["count"]
    return int(sum(cells.get(pair, 0) for pair in pairs))


def accuracy(
    predictions: pd.DataFrame,
    *,
    by: Sequence[str] = (),
    against: str | None = None,
    resamples: int = 500,
    seed: int = 7,
) -> pd.DataFrame:
    """Return each model's share of right labels with a 95 % interval by a bootstrap over sentences.

    predictions: dimension, model, true, predicted and ``sentence``: rows of one sentence (the same reference) are
    drawn together, because one sentence's translations are alike. All models of a dimension must have the same rows in
    the same order. by: further columns that split the table, as src_lang. against: a model; adds ``gain`` over it,
    gain_low and gain_high, from the same draws. Returns dimension, *by, model, n, sentences, accuracy, low, high.
    """
    found = []
    for key, part in predictions.groupby(["dimension", *by], sort=False, observed=True):
        models = list(dict.fromkeys(part["model"]))
        right = np.array([_right(part[part["model"] == model]) for model in models]).T
        sentence = part.loc[part["model"] == models[0], "sentence"].to_numpy()
        if against is not None and against not in models:
            raise DataError(f"There is no model {against!r} to compare with. Choose among {', '.join(models)}.")
        base = models.index(against) if against is not None else 0
        draws = resample(column_means(right), sentence, resamples=resamples, seed=seed)
        low, high = interval(draws)
        gain_low, gain_high = interval(draws - draws[:, [base]])
        table = pd.DataFrame({"model": models, "n": len(right), "sentences": len(np.unique(sentence))})
        table = table.assign(accuracy=right.mean(axis=0), low=low, high=high)
        if against is not None:
            table["gain"] = table["accuracy"] - table["accuracy"].iloc[base]
            table["gain_low"], table["gain_high"] = gain_low, gain_high
        found.append(table.assign(**dict(zip(["dimension", *by], key, strict=True))))
    table = pd.concat(found, ignore_index=True)
    front = ["dimension", *by, "model"]
    return table[[*front, *(name for name in table if name not in front)]]


def reliability(probability: ArrayLike, happened: ArrayLike, *, bins: int = 10) -> pd.DataFrame:
    """Compare stated probabilities with how often the thing happened, in bins of as many rows each as can be.

    probability: 0-1, happened: True or False, the same rows. Rows of equal probability stay together in a bin.
    Returns bin, n, stated (mean probability), observed (share), low and high (95 %, Wilson's interval).
    Caveat: Wilson's interval takes rows as independent. Raises DataError without rows or for numbers outside 0-1.

    >>> reliability([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 0], bins=2)[["n", "stated", "observed"]].values.tolist()
    [[2.0, 0.2, 0.0], [2.0, 0.8, 0.5]]
    """
    from statsmodels.stats.proportion import proportion_confint

    stated, real = _checked(probability, happened)
    edges = np.unique(np.sort(stated)[np.maximum(np.arange(1, bins) * len(stated) // bins - 1, 0)])
    place = np.unique(np.searchsorted(edges, stated, side="left"), return_inverse=True)[1]
    n = np.bincount(place)
    hits = np.bincount(place, real)
    low, high = proportion_confint(hits, n, method="wilson")
    return pd.DataFrame(
        {
            "bin": np.arange(1, len(n) + 1),
            "n": n,
            "stated": np.bincount(place, stated) / n,
            "observed": hits / n,
            "low": low,
            "high": high,
        }
    )


def quality(predictions: pd.DataFrame) -> pd.DataFrame:
    """Judge each model's probabilities: log loss, Brier score, calibration error of the likeliest label.

    predictions: dimension, model, true, and a column of probabilities per label. Returns dimension, model, n, log_loss
    (natural), brier (sum over labels of squared gaps, 0 to 2), confidence (mean probability of the likeliest label),
    accuracy, ece (expected calibration error: the mean gap between stated and observed over the bins of
    ``reliability``, weighted by rows). A true label given no chance counts as 1e-12.
    Source: Brier 1950; Naeini et al. 2015 (bins of equal size here). Caveat: ece depends on the bins and is never 0 by
    chance alone even for perfect probabilities.

    >>> row = dict.fromkeys(categories("fluency"), 0.0) | {"dimension": "fluency", "model": "m", "true": "Poor"}
    >>> quality(pd.DataFrame([row | {"Poor": 0.5, "Fair": 0.5}]))[["log_loss", "brier"]].round(3).values.tolist()
    [[0.693, 0.5]]
    """
    found = []
    for (dimension, model), rows in predictions.groupby(["dimension", "model"], sort=False):
        chance, code = coded(rows, dimension)
        real = np.eye(chance.shape[1])[code]
        best = chance.argmax(axis=1)
        bins = reliability(chance.max(axis=1), best == code)
        found.append(
            {
                "dimension": dimension,
                "model": model,
                "n": len(rows),
                "log_loss": _log_loss(chance, code),
                "brier": float(((chance - real) ** 2).sum(axis=1).mean()),
                "confidence": float(chance.max(axis=1).mean()),
                "accuracy": float((best == code).mean()),
                "ece": float(np.average((bins["stated"] - bins["observed"]).abs(), weights=bins["n"])),
            }
        )
    return pd.DataFrame(found)


def temperature(probabilities: ArrayLike, codes: ArrayLike) -> float:
    """Find the temperature that makes probabilities fit best: above 1 they were too sure, below 1 too timid.

    probabilities: (rows, labels); codes: each row's true label. Each probability is raised to 1/temperature and they
    are made to sum to 1 again, so the likeliest label stays. The least log loss decides, between 0.1 and 10.
    Source: Guo et al. 2017.

    >>> round(temperature([[0.9, 0.1]] * 4, [0, 0, 0, 1]), 2)  # said 90 %, was 75 %
    2.0
    """
    from scipy.optimize import minimize_scalar

    chance, code = np.asarray(probabilities, float), np.asarray(codes, int)
    if not len(chance):
        raise DataError("A temperature needs rows to be fitted on. Give predictions of development rows.")
    solved = minimize_scalar(
        lambda t: _log_loss(_raised(chance, np.exp(t)), code),
        bounds=(np.log(0.1), np.log(10)),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(solved.x))


def calibrated(predictions: pd.DataFrame) -> pd.DataFrame:
    """Correct each model's probabilities by a temperature fitted on development rows; adds the column ``temperature``.

    predictions: split, dimension, model, true and the probabilities. Returns all rows, the model's name with
    ", calibrated" at its end.
    """
    parts = []
    for (dimension, model), rows in predictions.groupby(["dimension", "model"], sort=False):
        learned = rows[rows["split"] == "dev"].dropna(subset=["true"])
        found = temperature(*coded(learned, dimension))
        names = categories(dimension)
        corrected = pd.DataFrame(_raised(rows[names].to_numpy(float), found), columns=names, index=rows.index)
        parts.append(rows.assign(**corrected, model=f"{model}, calibrated", temperature=found))
    return pd.concat(parts, ignore_index=True)


def _right(rows: pd.DataFrame) -> np.ndarray:
    return (rows["true"].to_numpy() == rows["predicted"].to_numpy()).astype(float)


def _coded(names: pd.Series, places: dict[str, int], dimension: str) -> np.ndarray:
    """Replace names by places, or say which name the dimension does not have."""
    codes = names.map(places)
    if codes.isna().any():
        raise DataError(f"{names[codes.isna()].iloc[0]!r} is no label of {dimension}. Use {', '.join(places)}.")
    return codes.to_numpy(int)


def _long(counts: np.ndarray, names: list[str], dimension: str, model: str) -> pd.DataFrame:
    size = len(names)
    return pd.DataFrame(
        {
            "dimension": dimension,
            "model": model,
            "true": np.repeat(names, size),
            "predicted": names * size,
            "count": counts.ravel(),
        }
    )


def _matrix(rows: pd.DataFrame, names: list[str] | None = None) -> tuple[list[str], np.ndarray]:
    """Lay one model's counts out, true labels down."""
    names = list(dict.fromkeys(rows["true"])) if names is None else names
    wide = rows.pivot(index="true", columns="predicted", values="count")
    return names, wide.reindex(index=names, columns=names, fill_value=0).to_numpy(float)


def coded(predictions: pd.DataFrame, dimension: str) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (rows, labels), in print order, and each row's true label as a place in that order."""
    names = categories(dimension)
    code = predictions["true"].map({name: place for place, name in enumerate(names)})
    if code.isna().any():
        raise DataError(f"{int(code.isna().sum())} predictions of {dimension} lack a true label. Leave them out.")
    return predictions[names].to_numpy(float), code.to_numpy(int)


def _raised(chance: np.ndarray, degrees: float) -> np.ndarray:
    raised = np.where(chance > 0, np.maximum(chance, _TINY) ** (1 / degrees), 0.0)
    return raised / raised.sum(axis=1, keepdims=True)


def _log_loss(chance: np.ndarray, code: np.ndarray) -> float:
    return float(-np.log(np.maximum(chance[np.arange(len(code)), code], _TINY)).mean())


def _checked(probability: ArrayLike, happened: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    stated, real = np.asarray(probability, float), np.asarray(happened, float)
    if not len(stated) or len(stated) != len(real):
        raise DataError("Reliability needs as many probabilities as outcomes, at least one. Check the table's rows.")
    if not ((stated >= 0) & (stated <= 1 + 1e-9)).all():
        raise DataError("A probability lies outside 0-1. Give probabilities, not scores.")
    return stated, real
