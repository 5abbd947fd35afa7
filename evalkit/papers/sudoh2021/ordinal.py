"""Fit labels as stretches of one hidden quality: the cumulative-link model, beside plain classification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.papers.sudoh2021.classify import examples, labelled
from evalkit.papers.sudoh2021.taxonomy import KEY, categories

#: What the models of this module are called, and what they do.
MODELS = {
    "ordinal": "cumulative-link (proportional-odds) model on the features; the likeliest label",
    "ordinal, middle label": "the same model; the label at the middle of its probabilities",
}


@dataclass(frozen=True)
class CumulativeLink:
    """A fitted model: ``P(label <= k) = logistic(cuts[k] - x @ slopes)``."""

    slopes: np.ndarray
    cuts: np.ndarray

    def probabilities(self, features: ArrayLike) -> np.ndarray:
        """Return each label's probability, (rows, labels)."""
        below = _logistic(self.cuts - (np.asarray(features, float) @ self.slopes)[:, None])
        edges = np.column_stack([np.zeros(len(below)), below, np.ones(len(below))])
        return np.diff(edges, axis=1)


def fit(features: ArrayLike, codes: ArrayLike, *, labels: int, penalty: float = 0.0) -> CumulativeLink:
    """Fit a cumulative-link model by maximum likelihood.

    features: (rows, columns), best standardised. codes: each row's label, 0 (worst) to labels - 1, each at least once.
    penalty: half of it times the squared slopes is added to the negative log-likelihood (ridge).
    Raises DataError where a label never occurs: merge it with a neighbour first. Source: McCullagh 1980.
    Why not a library: statsmodels' OrderedModel takes the gradient numerically, which is slow with dozens of columns
    (it is the oracle in the tests), and mord has not followed scikit-learn's interface for years.

    >>> model = fit([[0.0], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1], labels=2)
    >>> bool(model.slopes[0] > 0), model.probabilities([[2.5]]).round(2).tolist()
    (True, [[0.5, 0.5]])
    """
    from scipy.optimize import minimize

    x, y = np.asarray(features, float), np.asarray(codes, int)
    counts = np.bincount(y, minlength=labels)
    if labels < 2 or (counts[:labels] == 0).any() or len(counts) > labels:
        raise DataError("Every label needs at least one training row, and there must be two. Merge those that lack it.")
    share = np.cumsum(counts)[:-1] / len(y)
    start = np.log(share / (1 - share))
    first = np.concatenate([np.zeros(x.shape[1]), start[:1], np.log(np.maximum(np.diff(start), 1e-3))])
    solved = minimize(
        _loss, first, args=(x, y, labels, penalty), jac=True, method="L-BFGS-B",
        options={"maxiter": 500, "ftol": 1e-12, "gtol": 1e-6},
    )  # fmt: skip
    return CumulativeLink(solved.x[: x.shape[1]], _cuts(solved.x[x.shape[1] :]))


def predict(
    translations: pd.DataFrame,
    labels: pd.DataFrame,
    described: pd.DataFrame,
    *,
    dimension: str,
    order: str = "severity",
    penalty: float = 30.0,
) -> pd.DataFrame:
    """Train the ordinal model on training rows and label the others, as ``classify.predict`` does.

    order: how labels are put from worst to best. A label without a training row gets probability 0. "middle label" is
    the median of the probabilities, which costs fewest places on average if the probabilities are right.
    """
    rows = examples(translations, labels, dimension=dimension)
    names = categories(dimension, order=order)
    trained = rows["split"].eq("train").to_numpy()
    truth = rows.loc[trained, "true"]
    occurring = [name for name in names if truth.eq(name).any()]
    if len(occurring) < 2:
        raise DataError(f"All training rows have one label of {dimension}. An order needs two labels or more.")
    dense = described.to_numpy(float)
    mean, spread = dense[trained].mean(axis=0), dense[trained].std(axis=0)
    scaled = np.clip((dense - mean) / np.where(spread > 0, spread, 1), -5, 5)
    model = fit(scaled[trained], truth.map(occurring.index).to_numpy(), labels=len(occurring), penalty=penalty)
    found = np.zeros((int((~trained).sum()), len(names)))
    found[:, [names.index(name) for name in occurring]] = model.probabilities(scaled[~trained])
    base = rows.loc[~trained, [*KEY, "split", "z", "sentence", "true"]].reset_index(drop=True)
    shown = found[:, [names.index(name) for name in categories(dimension)]]
    likeliest = labelled(base, shown, dimension=dimension, model="ordinal")
    return pd.concat([likeliest, middle(likeliest, order=order)], ignore_index=True)


def middle(predictions: pd.DataFrame, *, order: str = "severity") -> pd.DataFrame:
    """Predict the label at the middle of each row's probabilities instead of the likeliest; the model's name says so.

    predictions: of one dimension, with a column of probabilities per label.

    >>> row = {"dimension": "fluency", "model": "m", "predicted": "Excellent"}
    >>> row |= {"Incomprehensible": 0.3, "Poor": 0.1, "Fair": 0.2, "Good": 0.0, "Excellent": 0.4}
    >>> middle(pd.DataFrame([row]))[["model", "predicted"]].values.tolist()
    [['m, middle label', 'Fair']]
    """
    names = categories(predictions["dimension"].iloc[0], order=order)
    reached = np.cumsum(predictions[names].to_numpy(float), axis=1) >= 0.5 - 1e-9
    chosen = np.array(names, dtype=object)[reached.argmax(axis=1)]
    return predictions.assign(model=predictions["model"] + ", middle label", predicted=chosen)


def _cuts(free: np.ndarray) -> np.ndarray:
    """Turn free numbers into rising cut points: the first, then logarithms of the steps."""
    return np.cumsum(np.concatenate([free[:1], np.exp(free[1:])]))


def _loss(free: np.ndarray, x: np.ndarray, y: np.ndarray, labels: int, penalty: float) -> tuple[float, np.ndarray]:
    """Return the penalised negative log-likelihood and its gradient."""
    slopes, steps = free[: x.shape[1]], free[x.shape[1] :]
    cuts = _cuts(steps)
    hidden = x @ slopes
    upper = np.where(y < labels - 1, _logistic(cuts[np.minimum(y, labels - 2)] - hidden), 1.0)
    lower = np.where(y > 0, _logistic(cuts[np.maximum(y - 1, 0)] - hidden), 0.0)
    chance = np.maximum(upper - lower, 1e-300)
    rise, fall = upper * (1 - upper) / chance, lower * (1 - lower) / chance
    value = -np.log(chance).sum() + penalty / 2 * slopes @ slopes
    by_slope = x.T @ (rise - fall) + penalty * slopes
    by_cut = -np.bincount(y, rise, minlength=labels)[: labels - 1] + np.bincount(y, fall, minlength=labels)[1:]
    scale = np.concatenate([[1.0], np.exp(steps[1:])])
    return value, np.concatenate([by_slope, np.cumsum(by_cut[::-1])[::-1] * scale])


def _logistic(values: np.ndarray) -> np.ndarray:
    from scipy.special import expit

    return expit(values)
