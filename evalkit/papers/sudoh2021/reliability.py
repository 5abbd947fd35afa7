"""Ask whether probabilities mean what they say: reliability, Brier score, log loss, and a temperature to mend them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import categories

_TINY = 1e-12


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
            "bin": np.arange(1, len(n) + 1), "n": n, "stated": np.bincount(place, stated) / n, "observed": hits / n,
            "low": low, "high": high,
        }
    )  # fmt: skip


def expected_error(probability: ArrayLike, happened: ArrayLike, *, bins: int = 10) -> float:
    """Return the expected calibration error: the mean gap between stated and observed over bins, weighted by rows.

    Source: Naeini et al. 2015 (bins of equal size here). Caveat: it depends on the bins, is never 0 by chance alone
    even for perfect probabilities, and says nothing about how useful they are.

    >>> round(expected_error([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 0], bins=2), 9)
    0.25
    """
    table = reliability(probability, happened, bins=bins)
    return float(np.average((table["stated"] - table["observed"]).abs(), weights=table["n"]))


def quality(predictions: pd.DataFrame, *, bins: int = 10) -> pd.DataFrame:
    """Judge each model's probabilities: log loss, Brier score, calibration error of the likeliest label.

    predictions: dimension, model, true, and a column of probabilities per label. Returns dimension, model, n, log_loss
    (natural), brier (sum over labels of squared gaps, 0 to 2), confidence (mean probability of the likeliest label),
    accuracy, ece (see ``expected_error``). Source: Brier 1950. A true label given no chance counts as 1e-12.

    >>> row = dict.fromkeys(categories("fluency"), 0.0) | {"dimension": "fluency", "model": "m", "true": "Poor"}
    >>> quality(pd.DataFrame([row | {"Poor": 0.5, "Fair": 0.5}]))[["log_loss", "brier"]].round(3).values.tolist()
    [[0.693, 0.5]]
    """
    found = []
    for (dimension, model), rows in predictions.groupby(["dimension", "model"], sort=False):
        chance, code = coded(rows, dimension)
        real = np.eye(chance.shape[1])[code]
        best = chance.argmax(axis=1)
        found.append(
            {
                "dimension": dimension, "model": model, "n": len(rows), "log_loss": _log_loss(chance, code),
                "brier": float(((chance - real) ** 2).sum(axis=1).mean()),
                "confidence": float(chance.max(axis=1).mean()),
                "accuracy": float((best == code).mean()),
                "ece": expected_error(chance.max(axis=1), best == code, bins=bins),
            }
        )  # fmt: skip
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
        lambda t: _log_loss(_at(chance, np.exp(t)), code), bounds=(np.log(0.1), np.log(10)), method="bounded",
        options={"xatol": 1e-6},
    )  # fmt: skip
    return float(np.exp(solved.x))


def tempered(predictions: pd.DataFrame, *, on: str = "dev") -> pd.DataFrame:
    """Mend each model's probabilities by a temperature fitted on one split; adds the column ``temperature``.

    predictions: split, dimension, model, true and the probabilities. Returns all rows, the model's name with
    ", calibrated" at its end.
    """
    parts = []
    for (dimension, model), rows in predictions.groupby(["dimension", "model"], sort=False):
        learned = rows[rows["split"] == on].dropna(subset=["true"])
        found = temperature(*coded(learned, dimension))
        names = categories(dimension)
        mended = pd.DataFrame(_at(rows[names].to_numpy(float), found), columns=names, index=rows.index)
        parts.append(rows.assign(**mended, model=f"{model}, calibrated", temperature=found))
    return pd.concat(parts, ignore_index=True)


def coded(predictions: pd.DataFrame, dimension: str) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (rows, labels), in print order, and each row's true label as a place in that order."""
    names = categories(dimension)
    code = predictions["true"].map({name: place for place, name in enumerate(names)})
    if code.isna().any():
        raise DataError(f"{int(code.isna().sum())} predictions of {dimension} lack a true label. Leave them out.")
    return predictions[names].to_numpy(float), code.to_numpy(int)


def _at(chance: np.ndarray, degrees: float) -> np.ndarray:
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
