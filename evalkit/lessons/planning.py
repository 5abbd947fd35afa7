"""The exercises of the lesson "Planning a campaign: power by simulation".

Variances are those of ``components.of_pair``, in squared points: document, item, annotator, block, residual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.lessons.exercises import Exercise, Function, Made, Mistake, Need, Value

#: Variances that lie far apart, so that a check can tell which of them was used in the wrong way.
EXAMPLE = {"document": 4.0, "item": 90.0, "annotator": 400.0, "block": 9.0, "residual": 160.0}
_DELTA, _DOCUMENTS, _BLOCK, _TOLERANCE = 5.0, 6000, 10, 0.12
Variances = Mapping[str, float]


def one_campaign(
    variances: Variances, delta: float, documents: int, block: int, rng: np.random.Generator, mistake: str = ""
) -> np.ndarray:
    """Draw a campaign in which one annotator scores a document by both systems; return the documents' differences.

    mistake: as deviations, other annotator, no items, backwards, or scores: a typical one, made on purpose.
    """

    def effect(name: str, *size: int) -> np.ndarray:
        spread = variances[name] if mistake == "as deviations" else np.sqrt(variances[name])
        return rng.normal(0, spread, size)

    scores = effect("document", documents, 2, 1) + effect("block", documents, 2, 1)
    scores = scores + effect("annotator", documents, 2 if mistake == "other annotator" else 1, 1)
    inside = 1 if mistake == "no items" else block
    scores = scores + effect("item", documents, 2, inside) + effect("residual", documents, 2, inside)
    scores[:, 1 if mistake == "backwards" else 0] += delta
    means = scores.mean(axis=2)
    return means if mistake == "scores" else means[:, 0] - means[:, 1]


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


def _made(mistake: str) -> Callable[[], Callable[..., np.ndarray]]:
    """Return a function of the context (there is none) that returns a wrong simulation."""
    return lambda: partial(one_campaign, mistake=mistake)


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


def _error(variances: Variances, segments: int, block: int, variance: float) -> float:
    return float(np.sqrt(variance * block / segments))


_NOTHING = "Your function returns nothing, or it stops. Does it end in a 'return'? To print is not to return."
_OTHER_ANNOTATOR = "The annotator's level is still in the difference. Does one person score both systems of a document?"
_DEVIATIONS = "The scatter is far too large. rng.normal wants a standard deviation, and what you have are variances."

EXERCISES: dict[str, Exercise] = {
    "one_campaign": Made(
        needs=(
            Need(
                holds=lambda student: _drawn(student).dtype == float and not np.isnan(_drawn(student)).all(),
                hint=_NOTHING,
                kind="empty",
            ),
            Need(
                holds=lambda student: _drawn(student).shape == (_DOCUMENTS,),
                hint="One difference for each document is asked for: mean of A less mean of B, over its segments.",
            ),
            Need(
                holds=lambda student: _drawn(student).mean() > 0,
                hint="The mean difference has the wrong sign. System A is better by delta, and it is A less B.",
            ),
            Need(holds=lambda student: not _spread_like(student, _as_deviations()), hint=_DEVIATIONS),
            Need(
                holds=lambda student: not _spread_like(student, document_variance(EXAMPLE) + 2 * EXAMPLE["annotator"]),
                hint=_OTHER_ANNOTATOR,
            ),
            Need(
                holds=lambda student: not _spread_like(student, document_variance(EXAMPLE, block=1)),
                hint="A document has several segments, each with its own item effect and noise. Average over them.",
            ),
            Need(
                holds=lambda student: abs(_drawn(student).mean() - _DELTA) < 0.5,
                hint="The mean difference is not delta. Is delta added once, and to system A only?",
            ),
            Need(
                holds=lambda student: _spread_like(student, document_variance(EXAMPLE)),
                hint="The scatter of the differences is not right. Which effects does each system have of its own?",
            ),
        ),
        mistakes=(
            Mistake(
                answer=_made("scores"),
                hint="One difference for each document is asked for: mean of A less mean of B, over its segments.",
            ),
            Mistake(
                answer=_made("backwards"),
                hint="The mean difference has the wrong sign. System A is better by delta, and it is A less B.",
            ),
            Mistake(answer=_made("as deviations"), hint=_DEVIATIONS),
            Mistake(answer=_made("other annotator"), hint=_OTHER_ANNOTATOR),
            Mistake(
                answer=_made("no items"),
                hint="A document has several segments, each with its own item effect and noise. Average over them.",
            ),
        ),
        start="Your function returns nothing yet: fill in what is marked TODO, run that cell, then this one.",
        well="The annotator's level cancels, because the same person scores both systems of a document.",
    ),
    "power_with_interval": Function(
        right=power_with_interval,
        trials=_tests,
        mistakes=(
            Mistake(
                answer=_wald,
                hint="This is the simple interval. Where no campaign finds anything it has no width: ask for Wilson's.",
            ),
            Mistake(
                answer=lambda p: tuple(1 - value for value in power_with_interval(p)),
                hint="You count campaigns that miss the difference. Power is the share of those that find it.",
            ),
            Mistake(
                answer=lambda p: (
                    power_with_interval(p)[0],
                    *stats.binomtest(int((p < 0.05).sum()), len(p)).proportion_ci(method="exact"),
                ),
                hint="These are the ends of the exact interval, which is wider. The lesson uses method='wilson'.",
            ),
        ),
        otherwise="Count the p-values below 0.05 first; binomtest(count, number) knows the rest.",
        well="An estimate of power is itself a sample; quote it with its interval.",
    ),
    "segments_needed": Value(
        right=segments_needed,
        mistakes=(
            Mistake(
                answer=lambda curve: int(curve.loc[curve["power"] < 0.8, "segments"].max()),
                hint="With so many segments the power is still below 0.8. Take the first that reaches it.",
            ),
            Mistake(
                answer=lambda curve: segments_needed(curve) // int(curve["segments"].diff().median()),
                hint="This is a number of documents. How many segments are in them?",
            ),
            Mistake(
                answer=lambda curve: int(curve["segments"].max()),
                hint="That is enough, and far more than enough. The question is for the fewest.",
            ),
        ),
        otherwise="Choose the rows of the curve whose power is at least 0.8, and look at their segments.",
        well="For half the difference you would need about four times as many.",
    ),
    "standard_error": Function(
        right=standard_error,
        trials=_layouts,
        mistakes=(
            Mistake(
                answer=lambda v, n, r, b: _error(v, n, b, document_variance(v, block=b) / r),
                hint="You divide everything by the judgements. Does a second opinion change how hard a segment is?",
            ),
            Mistake(
                answer=lambda v, n, r, b: standard_error(v, n, r, b) / np.sqrt(2),
                hint="This is the error of one system's mean. A difference has two of them.",
            ),
            Mistake(
                answer=lambda v, n, r, b: standard_error(v, n, r, b) ** 2,
                hint="This is a variance. What is its square root called?",
            ),
            Mistake(
                answer=lambda v, n, r, b: standard_error(v, n, r, b) / np.sqrt(b),
                hint="You divide by the segments where the documents are meant. How many documents do they make?",
            ),
            Mistake(
                answer=lambda v, n, r, b: _error(
                    v, n, b, document_variance(v, block=b, judgements=r) + 2 * v["annotator"] / r
                ),
                hint="You count the annotators' levels. Whoever scores both systems is equally strict with both.",
            ),
        ),
        otherwise="Compute the variance of one document's difference by the formula, then divide by the documents.",
        well="More judgements shrink only the last bracket; more segments shrink everything.",
    ),
    "disappointed": Value(
        right=disappointed,
        mistakes=(
            Mistake(
                answer=lambda plans: float((plans["true_power"] < 0.8).mean()),
                hint="You count all pilots. A campaign follows only where the pilot was promising.",
            ),
            Mistake(
                answer=lambda plans: float((plans.loc[plans["promising"], "true_power"] >= 0.8).mean()),
                hint="These are the campaigns that have the power they were planned for. Count the others.",
            ),
            Mistake(
                answer=lambda plans: float(plans.loc[plans["promising"], "true_power"].mean()),
                hint="This is their mean power. The question is for the share of campaigns below 0.8.",
            ),
            Mistake(
                answer=lambda plans: int((plans.loc[plans["promising"], "true_power"] < 0.8).sum()),
                hint="This is a number of campaigns. What share of the promising ones is it?",
            ),
        ),
        otherwise="Choose the promising rows first, then compare their true_power with 0.8.",
        well="Pilots that look promising are those that overestimate; planning by them asks for too few segments.",
    ),
}
