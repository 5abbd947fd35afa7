"""Ways to move scores onto a common footing, and what each assumes; arrays of groups × judgements in and out.

A group is whoever has statistics of their own: an annotator, or a HIT.
Every form takes ``scores``, what is to be moved, and ``fit``, what each group's statistics are computed from; leading
axes (splits, groups) are the same in both, the last one runs over judgements, NaN is a judgement that is not there.
Where a group's statistics do not exist or their spread is 0, the whole row comes out NaN.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from evalkit import DataError

#: Interquartile range of a normal distribution with standard deviation 1.
NORMAL_IQR = 2 * float(special.ndtri(0.75))


class Method(NamedTuple):
    """Describe a method: title, unit of its result, what it assumes, what it destroys."""

    title: str
    unit: str
    assumes: str
    destroys: str


#: Name of a method -> its description. ``by`` says whose statistics: an annotator's, or a HIT's.
METHODS = {
    "none": Method("raw scores", "points", "everybody means the same by a score", "nothing"),
    "z": Method(
        "z-score",
        "standard deviations",
        "everybody saw items of the same quality and spread, so that their means and sds differ by themselves only",
        "real differences between the items of two groups; by HIT also the order of an annotator's scores across HITs",
    ),
    "z_calibration": Method(
        "z-score from the calibration set",
        "standard deviations",
        "an annotator uses the scale elsewhere as on the calibration set",
        "nothing about the items; a small calibration set adds its own noise to every score of an annotator",
    ),
    "robust": Method(
        "median and interquartile range",
        "standard deviations of a normal distribution",
        "as for z, of the middle half of the scores only",
        "as z does; annotators who gave half of all items one score lose all their scores",
    ),
    "rank": Method(
        "fraction of one's own scores below",
        "0 to 1",
        "everybody saw items of the same quality; only the order of scores means something",
        "all distances between scores, and real differences between the items of two groups",
    ),
    "normal_scores": Method(
        "normal scores of ranks",
        "standard deviations",
        "as for ranks; quality is distributed normally",
        "as ranks do, and the shape of every distribution",
    ),
    "quantile": Method(
        "quantiles of the common distribution",
        "points",
        "as for ranks; everybody ought to have the distribution of scores of all together",
        "the shape of each annotator's own distribution",
    ),
    "ticks": Method(
        "nearest tick of the scale",
        "points",
        "what lies between two ticks is no information",
        "differences smaller than the distance of two ticks; it does not bring means or spreads together",
    ),
    "mixed": Method(
        "mixed-effects model",
        "points",
        "a score is bias + gain × (system + segment + noise); segments and biases normal, one noise for all",
        "nothing by design; few judgements are pulled towards the average annotator",
    ),
}


def methods() -> pd.DataFrame:
    """Tabulate the methods for a report: method, title, unit, assumes, destroys.

    >>> methods()["method"].tolist()[:3]
    ['none', 'z', 'z_calibration']
    """
    return pd.DataFrame([{"method": name, **method._asdict()} for name, method in METHODS.items()])


def significant(values: ArrayLike, digits: int | None) -> np.ndarray:
    """Round to so many significant digits, as a program that prints and reads its numbers does; None: not at all.

    >>> significant([69.123456789, 0.00123456], 3).tolist()
    [69.1, 0.00123]
    """
    values = np.asarray(values, float)
    if digits is None:
        return values
    return np.array([float(f"{value:.{digits - 1}e}") for value in values.ravel()]).reshape(values.shape)


def move(
    method: str,
    scores: np.ndarray,
    fit: np.ndarray,
    *,
    marks: ArrayLike,
    reference: np.ndarray,
    ddof: int = 1,
    digits: int | None = None,
) -> np.ndarray:
    """Apply the form of this name; ``marks``, ``reference``, ``ddof`` and ``digits`` go to those that want them."""
    match method:
        case "none":
            return np.array(scores, float)
        case "z" | "z_calibration":
            return z(scores, fit, ddof=ddof, digits=digits)
        case "robust":
            return robust(scores, fit, digits=digits)
        case "rank":
            return fraction(scores, fit)
        case "normal_scores":
            return normal_scores(scores, fit)
        case "quantile":
            return quantile(scores, fit, reference=reference)
        case "ticks":
            return ticks(scores, marks=marks)
    raise DataError(f"method={method!r} moves no score by itself.")


def z(scores: np.ndarray, fit: np.ndarray, *, ddof: int = 1, digits: int | None = None) -> np.ndarray:
    """Subtract each group's mean and divide by its standard deviation; unit: standard deviations.

    digits: significant digits to which both statistics are rounded first.

    >>> z(np.array([[1.0, 3.0]]), np.array([[1.0, 2.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """
    with _quiet():
        mean, sd = (significant(v, digits) for v in (np.nanmean(fit, -1), np.nanstd(fit, -1, ddof=ddof)))
    return _standardised(scores, mean, sd)


def robust(scores: np.ndarray, fit: np.ndarray, *, digits: int | None = None) -> np.ndarray:
    """Subtract each group's median and divide by its interquartile range / 1.349 (1 for a standard normal).

    Quartiles interpolate linearly (R's type 7). Half of all scores being equal, the range may be 0 although others
    differ: then nothing is defined.
    """
    with _quiet():
        low, middle, high = (significant(v, digits) for v in np.nanquantile(fit, [0.25, 0.5, 0.75], axis=-1))
    return _standardised(scores, middle, (high - low) / NORMAL_IQR)


def _standardised(scores: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    spread = np.where(spread > 0, spread, np.nan)
    return (scores - centre[..., None]) / spread[..., None]


def fraction(scores: np.ndarray, fit: np.ndarray) -> np.ndarray:
    """Return which fraction of a group's own scores lies below each score, ties counted half; from 0 to 1.

    Within ``fit`` this is (midrank - 1/2) / n. Scores beyond all of ``fit`` get 1/(2n) or 1 - 1/(2n), as its ends do.

    >>> fraction(np.array([[10.0, 20.0, 99.0]]), np.array([[10.0, 20.0, 20.0, 40.0]])).tolist()
    [[0.125, 0.5, 0.875]]
    """
    out = np.full(scores.shape, np.nan)
    for row, own, reference in zip(_rows(out), _rows(scores), _rows(fit), strict=True):
        ordered, there = np.sort(reference[np.isfinite(reference)]), np.isfinite(own)
        if n := len(ordered):
            below, upto = (np.searchsorted(ordered, own[there], side) for side in ("left", "right"))
            row[there] = np.clip((below + upto) / (2 * n), 0.5 / n, 1 - 0.5 / n)
    return out


def normal_scores(scores: np.ndarray, fit: np.ndarray) -> np.ndarray:
    """Replace each score by the standard normal quantile of its fraction among the group's own; unit: none."""
    return special.ndtri(fraction(scores, fit))


def quantile(scores: np.ndarray, fit: np.ndarray, *, reference: np.ndarray) -> np.ndarray:
    """Give each score the value that stands at the same fraction of a reference distribution; unit: the reference's.

    reference: (..., values), NaN ignored, with the leading axes of ``scores`` but for the groups'. Quantiles are
    Hazen's, so that a group whose scores are the reference keeps them, up to ties.
    """
    fractions = fraction(scores, fit)
    out = np.full(scores.shape, np.nan)
    shape = (-1, *scores.shape[-2:])
    for block, at, values in zip(out.reshape(shape), fractions.reshape(shape), _rows(reference), strict=True):
        there, known = np.isfinite(at), values[np.isfinite(values)]
        block[there] = np.quantile(known, at[there], method="hazen")
    return out


def ticks(scores: np.ndarray, *, marks: ArrayLike) -> np.ndarray:
    """Move each score to the nearest mark of the scale, to the upper one from the middle between two.

    >>> ticks(np.array([[4.0, 25.0, 26.0]]), marks=[0, 50, 100]).tolist()
    [[0.0, 50.0, 50.0]]
    """
    places = np.sort(np.asarray(marks, float))
    nearest = np.searchsorted((places[1:] + places[:-1]) / 2, scores, side="right")
    return np.where(np.isfinite(scores), places[nearest], np.nan)


def _rows(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, float).reshape(-1, np.shape(values)[-1])


def _quiet() -> warnings.catch_warnings:
    """Return a context in which groups without scores are no surprise: their statistics are missing."""
    return warnings.catch_warnings(action="ignore", category=RuntimeWarning)
