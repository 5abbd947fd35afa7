"""The four ways to move a score when the calibration set shows how strict its annotators are.

All forms map raw scores to adjusted ones for one group of annotators (usually the annotators of a language pair).
What a group is measured by are its means on fixed points: the calibration set, which all groups rate, and the human
references. What the fixed points ought to score is a ``Standard``. Source: Licht et al. 2022, sections 5.2 and 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError

#: Columns of the transcribed Table 5, and what the paper calls them.
METHODS = {"raw": "RAW", "cs": "CS", "ht": "HT", "cs_ht": "CS+HT"}

#: The forms in the order in which tables and figures show them, with the names that they print.
FORMS = MappingProxyType(
    {"shift": "simple shift", "line": "two-point line", "capped": "capped shift", "moderated": "moderated shift"}
)


@dataclass(frozen=True, kw_only=True)
class Standard:
    """What calibrated scores should agree on: the score of each fixed point, the scale's ends, the cap on a shift.

    consensus: agreed score of the calibration set; human_reference: agreed score of human references (or None).
    scale: lowest and highest possible score; cap: largest shift of the capped form. All in points of the scale.
    """

    consensus: float = 3.0
    human_reference: float | None = 4.687
    scale: tuple[float, float] = (1.0, 5.0)
    cap: float = 0.5

    def __post_init__(self) -> None:
        low, high = self.scale
        if not low < high:
            raise DataError(f"The scale runs from {low:g} to {high:g}: give its lowest score first.")
        if not low < self.consensus < high:
            raise DataError(f"The consensus {self.consensus:g} is not inside the scale {low:g}-{high:g}.")
        if self.cap <= 0:
            raise DataError(f"The cap must be a positive number of points, got {self.cap:g}.")

    @property
    def unit(self) -> float:
        """Points that the moderated form treats as 1: a quarter of the scale (1 on 1-5, as in print; 25 on 0-100)."""
        low, high = self.scale
        return (high - low) / 4

    def line(self, calibration_mean: ArrayLike, reference_mean: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return (β, α) of the line through this standard's two fixed points for a group with these means."""
        if self.human_reference is None:
            raise DataError("The two-point line needs an agreed score of human references. Set human_reference.")
        return two_points(
            calibration_mean, reference_mean, consensus=self.consensus, human_reference=self.human_reference
        )


#: The standard of Licht et al. 2022: 200 calibration pairs of each score from 1 to 5, references fixed at 4.687.
PAPER = Standard()


def shift(score: ArrayLike, *, alpha: ArrayLike) -> np.ndarray:
    """Add the shift: f(x) = x + α (equation 2). It can leave the scale.

    >>> float(shift(3.5, alpha=-0.2))
    3.3
    """
    return np.asarray(score, float) + np.asarray(alpha, float)


def line(score: ArrayLike, *, beta: ArrayLike, alpha: ArrayLike) -> np.ndarray:
    """Map along the line through two fixed points: f(x) = βx + α. It can leave the scale."""
    return np.asarray(score, float) * np.asarray(beta, float) + np.asarray(alpha, float)


def capped(score: ArrayLike, *, alpha: ArrayLike, cap: float = 0.5) -> np.ndarray:
    """Add a shift of at most ``cap`` points either way. It can leave the scale.

    >>> float(capped(2.0, alpha=0.9, cap=0.5))
    2.5
    """
    return np.asarray(score, float) + np.clip(alpha, -cap, cap)


def moderated(
    score: ArrayLike, *, alpha: ArrayLike, scale: tuple[float, float] = (1.0, 5.0), unit: float = 1.0
) -> np.ndarray:
    """Add a shift that fades when it is large, or near the end of the scale it points to: f(x) = x + E·A.

    A = tanh(α); E = tanh(top - x) for α > 0, tanh(x - bottom) for α < 0, 0 for α = 0 (section 5.3).
    It rises strictly and stays on the scale for scores on the scale. Caveats: E fades every shift near that end,
    however small (at x = 4.5 only tanh(0.5) = 46 % of an upward shift is left), and downward shifts there are not
    faded, so errors up and down are not treated alike.

    unit: tanh bends at about 1, so the form depends on the scale's unit. ``unit=25`` on 0-100 moves scores exactly as
    ``unit=1`` does on 1-5: f(x) = x + unit · tanh((top - x) / unit) · tanh(α / unit).

    >>> float(moderated(4.8, alpha=0.3).round(4)), float(moderated(95.0, alpha=7.5, scale=(0, 100), unit=25).round(2))
    (4.8575, 96.44)
    """
    x, alpha = np.asarray(score, float), np.asarray(alpha, float)
    room = np.where(alpha > 0, scale[1] - x, x - scale[0])
    return x + unit * np.tanh(room / unit) * np.tanh(alpha / unit)


def two_points(
    calibration_mean: ArrayLike, reference_mean: ArrayLike, *, consensus: ArrayLike, human_reference: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return (β, α) of the line that sends both fixed points to their agreed scores; NaN where the means coincide.

    >>> [float(v.round(3)) for v in two_points(3.2, 4.9, consensus=3.0, human_reference=4.687)]
    [0.992, -0.176]
    """
    m, r = np.asarray(calibration_mean, float), np.asarray(reference_mean, float)
    rise, run = np.subtract(human_reference, consensus), r - m
    beta = np.divide(rise, run, out=np.full(np.broadcast(rise, run).shape, np.nan), where=run != 0)
    return beta, np.asarray(consensus, float) - beta * m


def adjust(
    raw: ArrayLike,
    *,
    calibration_mean: ArrayLike,
    reference_mean: ArrayLike | None = None,
    standard: Standard = PAPER,
) -> dict[str, np.ndarray]:
    """Move raw scores in all forms: a mapping from form to adjusted scores (numbers or arrays that broadcast).

    Without a reference mean there is no two-point line.

    >>> {form: float(score.round(2)) for form, score in adjust(4.8, calibration_mean=2.7, reference_mean=4.6).items()}
    {'shift': 5.1, 'line': 4.86, 'capped': 5.1, 'moderated': 4.86}
    """
    alpha = standard.consensus - np.asarray(calibration_mean, float)
    moved = {"shift": shift(raw, alpha=alpha)}
    if reference_mean is not None:
        beta, intercept = standard.line(calibration_mean, reference_mean)
        moved["line"] = line(raw, beta=beta, alpha=intercept)
    moved["capped"] = capped(raw, alpha=alpha, cap=standard.cap)
    moved["moderated"] = moderated(raw, alpha=alpha, scale=standard.scale, unit=standard.unit)
    return moved


def what_if(
    raw: float, calibration_mean: float, reference_mean: float | None = None, *, standard: Standard = PAPER
) -> pd.DataFrame:
    """Say what one score becomes: form, formula with its numbers, adjusted, moved by, on the scale.

    Raises DataError for a score or mean off the scale, and for coinciding means, through which no line runs.
    """
    low, high = standard.scale
    named = {"raw score": raw, "calibration mean": calibration_mean, "reference mean": reference_mean}
    for name, value in named.items():
        if value is not None and not low <= value <= high:
            raise DataError(f"The {name} {value:g} is outside {low:g}-{high:g}. Correct it, or set the scale's ends.")
    if reference_mean == calibration_mean:
        raise DataError(f"Both means are {calibration_mean:g}, so no line is fixed. Leave the reference mean out.")
    alpha = standard.consensus - calibration_mean
    formulas = {
        "shift": f"x {alpha:+.3f}",
        "capped": f"x {np.clip(alpha, -standard.cap, standard.cap):+.3f}",
        "moderated": f"x {'+' if alpha >= 0 else '−'} E·tanh({abs(alpha) / standard.unit:.3f})",
    }
    if reference_mean is not None:
        beta, intercept = standard.line(calibration_mean, reference_mean)
        formulas["line"] = f"{beta:.3f}·x {intercept:+.3f}"
    moved = adjust(raw, calibration_mean=calibration_mean, reference_mean=reference_mean, standard=standard)
    rows = [(FORMS[form], formulas[form], float(x), float(x) - raw, low <= x <= high) for form, x in moved.items()]
    return pd.DataFrame(rows, columns=["form", "formula", "adjusted", "moved by", "on the scale"]).astype(
        {"on the scale": bool}
    )


def curves(calibration_mean: float, reference_mean: float | None = None, *, standard: Standard = PAPER) -> pd.DataFrame:
    """Tabulate every form over the whole scale: form, raw, adjusted."""
    raw = np.linspace(*standard.scale, 201)
    moved = adjust(raw, calibration_mean=calibration_mean, reference_mean=reference_mean, standard=standard)
    return pd.concat([pd.DataFrame({"form": form, "raw": raw, "adjusted": y}) for form, y in moved.items()])


def share_kept(raw: ArrayLike, alphas: ArrayLike) -> pd.DataFrame:
    """Tabulate which share of a shift α the moderated form carries out, (f(x) - x) / α: a row per score x.

    The paper motivates the form by tanh(α) ≈ α for small α. This table is where "f(x) ≈ x + α" can be read off: 1 means
    the whole shift.

    >>> share_kept([3.0, 4.5], [0.01, 0.5]).round(2).to_dict("list")
    {'raw score': [3.0, 4.5], 'α = +0.01': [0.96, 0.46], 'α = +0.5': [0.89, 0.43]}
    """
    x = np.asarray(raw, float)
    kept = {f"α = {alpha:+g}": (moderated(x, alpha=alpha) - x) / alpha for alpha in np.asarray(alphas, float)}
    return pd.DataFrame({"raw score": x, **kept})
