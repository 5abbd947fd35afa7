"""Error typologies, severities and the weights that schemes give them, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalkit.data.schemas import UNSTATED

#: The severities of IndicMT-Eval, the least severe first.
SEVERITIES = ("very low", "low", "medium", "high", "very high")

#: What kinds of errors annotators could mark: "category/subcategory", or a category by itself.
TYPOLOGIES = {
    "Sai et al. 2023, Table 5": (
        "accuracy/addition", "accuracy/omission", "accuracy/mistranslation", "accuracy/untranslated text",
        "fluency/spelling", "fluency/grammar", "fluency/register", "fluency/character encoding",
        "terminology/inappropriate", "style/awkward", "transliteration", "other", "source error", "non-translation",
    ),
    "Freitag et al. 2021": (
        "accuracy/addition", "accuracy/omission", "accuracy/mistranslation", "accuracy/source language fragment",
        "accuracy/creative reinterpretation", "fluency/punctuation", "fluency/spelling", "fluency/grammar",
        "fluency/register", "fluency/inconsistency", "fluency/character encoding",
        "terminology/inappropriate for context", "terminology/inconsistent", "style/unnatural or awkward",
        "style/bad sentence structure", "locale convention/address format", "locale convention/currency format",
        "locale convention/date format", "locale convention/name format", "locale convention/telephone format",
        "locale convention/time format", "other", "source issue", "non-translation",
    ),
    "Lommel et al. 2014": (
        "accuracy/addition", "accuracy/mistranslation", "accuracy/omission", "accuracy/untranslated",
        "fluency/grammar", "fluency/inconsistency", "fluency/register", "fluency/spelling", "fluency/typography",
        "fluency/unintelligible", "terminology", "style", "design", "locale convention", "verity",
    ),
    "Kocmi et al. 2024 (ESA)": ("other", "omission"),
}  # fmt: skip


@dataclass(frozen=True)
class Scheme:
    """One way to turn errors into a score: ``top`` less the errors' weights.

    severities: the weight of each severity. factors: what multiplies it for some types (1 for all others). fixed:
    weights of a (type, severity), which go before both; severity "*" is any. most: how many errors count, the heaviest
    first (None: all). floor: the lowest score. non_translation: the score of a translation so marked, whatever else
    is (None: its weight counts like any other). discard: types whose translations get no score. ``source`` says where
    the scheme is described.
    """

    source: str
    severities: Mapping[str, float]
    top: float = 25.0
    factors: Mapping[str, float] = field(default_factory=dict)
    fixed: Mapping[tuple[str, str], float] = field(default_factory=dict)
    most: int | None = None
    floor: float | None = None
    non_translation: float | None = None
    discard: tuple[str, ...] = ()


def _levels(*weights: float, unstated: float = 0.0) -> dict[str, float]:
    """Weigh the five severities, and errors without one."""
    return dict(zip(SEVERITIES, weights, strict=True)) | {UNSTATED: unstated}


_RELEASED = _levels(0.5, 1, 2, 4, 5, unstated=1)
_FACTORS = {"non-translation": 25.0, "source error": 0.0, UNSTATED: 0.0}
_PAPER = _levels(1, 2, 3, 4, 5)
_NO_SOURCE = {"source error": 0.0, "source issue": 0.0, "accuracy/creative reinterpretation": 0.0}

#: Schemes by name. Where a scheme knows fewer severities than five, how the five fall on them is our reading: minor is
#: very low and low, major is medium and high, critical is very high, and major where there is no critical.
SCHEMES = {
    "paper": Scheme(
        "Sai et al. 2023, appendix A: weights 1 to 5, non-translations score 0, source errors are discarded",
        _PAPER, non_translation=0.0, discard=("source error",),
    ),
    "paper, weights only": Scheme("Sai et al. 2023, appendix A: weights 1 to 5 and nothing else", _PAPER),
    "release": Scheme(
        "found in the shipped scores: 0.5, 1, 2, 4, 5; an unstated severity weighs 1, an unstated type and a source "
        "error 0, and the severity of a non-translation is multiplied by 25",
        _RELEASED, factors=_FACTORS,
    ),
    "release, clipped": Scheme("the same, nothing below 0", _RELEASED, factors=_FACTORS, floor=0.0),
    "release, unstated weighs 0": Scheme(
        "the same, but an error without a severity weighs nothing",
        _levels(0.5, 1, 2, 4, 5), factors=_FACTORS,
    ),
    "release, non-translation 0": Scheme(
        "the same, but non-translations score 0, as the paper says", _RELEASED, factors=_FACTORS, non_translation=0.0
    ),
    "linear, 0.5 to 2.5": Scheme("the paper's weights, halved", _levels(0.5, 1, 1.5, 2, 2.5), factors=_FACTORS),
    "doubling": Scheme("each level weighs twice the one below it", _levels(0.5, 1, 2, 4, 8), factors=_FACTORS),
    "Burchardt & Lommel 2014": Scheme(
        "Practical guidelines for the use of MQM: minor 1, major 5, critical 10",
        _levels(1, 1, 5, 5, 10) | {"minor": 1.0, "major": 5.0, "critical": 10.0}, factors=_NO_SOURCE,
    ),
    "Freitag et al. 2021 (WMT)": Scheme(
        "minor 1, major 5, minor punctuation 0.1, non-translation 25; source errors and creative reinterpretation 0",
        _levels(1, 1, 5, 5, 5) | {"minor": 1.0, "major": 5.0, "neutral": 0.0}, top=0.0, factors=_NO_SOURCE,
        fixed={("fluency/punctuation", "minor"): 0.1, ("non-translation", "*"): 25.0},
    ),
    "Kocmi et al. 2024 (ESA)": Scheme(
        "minor 1, major 5, whatever the type", _levels(1, 1, 5, 5, 5) | {"minor": 1.0, "major": 5.0}, top=0.0
    ),
}  # fmt: skip
