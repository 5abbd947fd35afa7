"""The exercises of the lesson "Planning a campaign: power by simulation".

Variances are those of ``components.of_pair``, in squared points: document, item, annotator, block, residual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.lessons.checker import Exercise, Function, Made, Value

#: Variances that lie far apart, so that a check can tell which of them was used in the wrong way.
EXAMPLE = {"document": 4.0, "item": 90.0, "annotator": 400.0, "block": 9.0, "residual": 160.0}
_DELTA, _DOCUMENTS, _BLOCK, _TOLERANCE = 5.0, 6000, 10, 0.12
Variances = Mapping[str, float]


def document_variance(variances: Variances, *, block: int = _BLOCK, judgements: int = 1) -> float:
    """Return the variance of a document's difference when the same annotators score both systems."""
    noise = variances["block"] + variances["residual"] / block
    return 2 * (variances["document"] + variances["item"] / block + noise / judgements)


def standard_error(variances: Variances, segments: int, judgements: int, block: int) -> float:
    """Return the standard error of the difference between two systems' mean scores."""
    return float(np.sqrt(document_variance(variances, block=block, judgements=judgements) / (segments / block)))


def power_with_interval(p_values: np.ndarray) -> tuple[float, float, float]:
    """Return the share of campaigns with p below 0.05, and the ends of its 95 % Wilson interval."""
    found = stats.binomtest(int((p_values < 0.05).sum()), len(p_values))
    interval = found.proportion_ci(method="wilson")
    return found.statistic, interval.low, interval.high


def segments_needed(curve: pd.DataFrame) -> int:
    """Return the fewest segments of a power curve with a power of 0.8 or more."""
    return int(curve.loc[curve["power"] >= 0.8, "segments"].min())


def disappointed(plans: pd.DataFrame) -> float:
    """Return the share of campaigns planned after a promising pilot whose true power is below 0.8."""
    return float((plans.loc[plans["promising"], "true_power"] < 0.8).mean())


def _drawn(student: Callable[..., np.ndarray]) -> np.ndarray:
    """Ask a student's function for one large campaign."""
    return np.asarray(student(dict(EXAMPLE), _DELTA, _DOCUMENTS, _BLOCK, np.random.default_rng(11)), dtype=float)


def _spread_like(student: Callable[..., np.ndarray], expected: float) -> bool:
    return bool(abs(_drawn(student).var() / expected - 1) < _TOLERANCE)


def _as_deviations() -> float:
    return document_variance({name: value**2 for name, value in EXAMPLE.items()})


def _tests() -> list[tuple]:
    rng = np.random.default_rng(12)
    return [(rng.beta(0.4, 2, 200),), (rng.uniform(0.051, 1, 30),), (np.array([0.01, 0.04, 0.05, 0.2, 0.6]),)]


def _wald(p_values: np.ndarray) -> tuple[float, float, float]:
    share = float((p_values < 0.05).mean())
    half = 1.959963984540054 * np.sqrt(share * (1 - share) / len(p_values))
    return share, share - half, share + half


def _layouts() -> list[tuple]:
    other = {"document": 2.5, "item": 60.0, "annotator": 50.0, "block": 20.0, "residual": 110.0}
    return [(dict(EXAMPLE), 200, 1, 10), (other, 300, 3, 5), (dict(EXAMPLE), 80, 2, 8)]


EXERCISES: dict[str, Exercise] = {
    "one_campaign": Made(
        needs={
            "begun": lambda student: _drawn(student).dtype == float and not np.isnan(_drawn(student)).all(),
            "one_for_each_document": lambda student: _drawn(student).shape == (_DOCUMENTS,),
            "wrong_sign": lambda student: _drawn(student).mean() > 0,
            "variances": lambda student: not _spread_like(student, _as_deviations()),
            "annotator_still_in": lambda student: (
                not _spread_like(student, document_variance(EXAMPLE) + 2 * EXAMPLE["annotator"])
            ),
            "no_average_over_segments": lambda student: not _spread_like(student, document_variance(EXAMPLE, block=1)),
            "not_delta": lambda student: abs(_drawn(student).mean() - _DELTA) < 0.5,
            "scatter": lambda student: _spread_like(student, document_variance(EXAMPLE)),
        },
    ),
    "power_with_interval": Function(
        right=power_with_interval,
        trials=_tests,
        mistakes={
            "simple_interval": _wald,
            "count_campaigns": lambda p: tuple(1 - value for value in power_with_interval(p)),
        },
    ),
    "segments_needed": Value(
        right=segments_needed,
        mistakes={
            "with_so_many_segments": lambda curve: int(curve.loc[curve["power"] < 0.8, "segments"].max()),
            "number_of_documents": lambda curve: segments_needed(curve) // int(curve["segments"].diff().median()),
            "more_than_enough": lambda curve: int(curve["segments"].max()),
        },
    ),
    "standard_error": Function(
        right=standard_error,
        trials=_layouts,
        mistakes={
            "divide_everything_by": lambda v, n, r, b: standard_error(v, n, 1, b) / np.sqrt(r),
            "error_of_one_system_mean": lambda v, n, r, b: standard_error(v, n, r, b) / np.sqrt(2),
            "divide_by_the_segments": lambda v, n, r, b: standard_error(v, n, r, b) / np.sqrt(b),
        },
    ),
    "disappointed": Value(
        right=disappointed,
        mistakes={
            "count_all_pilots": lambda plans: float((plans["true_power"] < 0.8).mean()),
            "campaigns_that_have": lambda plans: float((plans.loc[plans["promising"], "true_power"] >= 0.8).mean()),
            "their_mean_power": lambda plans: float(plans.loc[plans["promising"], "true_power"].mean()),
        },
    ),
}
