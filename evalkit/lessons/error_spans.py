"""The exercises of the lesson "Error spans: what a mark costs, and why counts and scores disagree".

An error is a pair (type, severity), a span a pair (start, end) of characters, the end excluded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit.human import mqm
from evalkit.human.mqm import judgements
from evalkit.lessons.checker import Exercise, Function, Value
from evalkit.stats import agreement, correlation

#: The weights of WMT's MQM: minor 1, major 5, minor punctuation 0.1, non-translation 25, source errors 0.
WMT = "Freitag et al. 2021 (WMT)"
_TYPES = ("accuracy/mistranslation", "fluency/punctuation", "fluency/grammar", "non-translation", "accuracy/omission")
Errors = Sequence[tuple[str, str]]
Spans = Sequence[tuple[int, int]]


def mqm_score(errors: Errors) -> float:
    """Return the MQM score of a translation: minus the weights of its errors, as WMT weighs them.

    >>> mqm_score([("accuracy/omission", "major"), ("fluency/punctuation", "minor")])
    -5.1
    """
    table = pd.DataFrame(list(errors), columns=["error_type", "severity"], dtype="str")
    return float(0.0 - mqm.weights(table, WMT).sum()) if len(table) else 0.0


def system_means(judged: pd.DataFrame, marks: pd.DataFrame) -> pd.Series:
    """Return the mean score of each system over all its judged translations.

    judged: system, a row per judged translation. marks: system and weight, a row per error of these.
    """
    penalty = marks.groupby("system")["weight"].sum()
    number = judged.groupby("system").size()
    return -(penalty.reindex(number.index).fillna(0.0) / number).rename_axis(None)


def contradictions(errors: pd.Series, score: pd.Series) -> int:
    """Return in how many pairs of systems the one with fewer errors has the lower score.

    >>> contradictions(pd.Series([1.0, 2.0, 3.0]), pd.Series([-4.0, -2.0, -6.0]))
    1
    """
    return int(correlation.count_pairs(errors.to_numpy(float), score.to_numpy(float)).concordant)


def with_counts(ratings: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Add to judgements how many minor and major errors each has.

    >>> key = {"src_lang": "eng", "tgt_lang": "ces", "system": "A", "doc": "d", "annotator": "a"}
    >>> ratings = pd.DataFrame([key | {"segment": "1", "score": 80.0}, key | {"segment": "2", "score": 100.0}])
    >>> spans = pd.DataFrame([key | {"segment": "1", "severity": "major"}] * 2)
    >>> with_counts(ratings, spans)[["minor", "major"]].to_numpy().tolist()
    [[0, 2], [0, 0]]
    """
    place, kind = judgements(ratings, spans), spans["severity"].astype("str").to_numpy()
    counts = {name: np.bincount(place[kind == name], minlength=len(ratings)) for name in ("minor", "major")}
    return ratings.reset_index(drop=True).assign(**counts, errors=np.bincount(place, minlength=len(ratings)))


def cost_of_a_major(esa: pd.DataFrame) -> float:
    """Return how many points lower translations with one major error and no other lie than those without errors.

    esa: score, minor, major and errors of each judgement.
    """
    return float(_clean(esa) - esa.loc[esa["major"].eq(1) & esa["errors"].eq(1), "score"].mean())


def marked(spans: Spans, length: int) -> np.ndarray:
    """Return for each character of a text whether it lies in a span.

    >>> marked([(1, 3), (2, 4)], 5).tolist()
    [False, True, True, True, False]
    """
    found = np.zeros(length, bool)
    for start, end in spans:
        found[start:end] = True
    return found


def character_alpha(one: np.ndarray, other: np.ndarray) -> float:
    """Return Krippendorff's alpha of two annotators over characters, marked or not.

    >>> round(character_alpha(np.array([1, 1, 0, 0], bool), np.array([1, 0, 0, 0], bool)), 4)
    0.5333
    """
    return _coefficient(one, other, "krippendorff_alpha", "nominal")


def _of_those_with_errors(marks: pd.DataFrame) -> pd.Series:
    return marks.groupby(["system", "doc", "segment"])["weight"].sum().groupby("system").mean()


def _clean(esa: pd.DataFrame) -> float:
    return float(esa.loc[esa["errors"].eq(0), "score"].mean())


def _coefficient(one: np.ndarray, other: np.ndarray, name: str, level: str = "none") -> float:
    scores = pd.DataFrame({"a": np.asarray(one, int), "b": np.asarray(other, int)})
    return float(agreement.coefficients(scores, measures=[(name, level)], resamples=0)["estimate"].iloc[0])


def _renamed(errors: Errors, kind: str) -> list[tuple[str, str]]:
    """Call errors of a type that has a weight of its own by one that has none."""
    return [("fluency/grammar" if name == kind else name, severity) for name, severity in errors]


def _errors() -> list[tuple]:
    rng = np.random.default_rng(3)
    made = [[(str(rng.choice(_TYPES)), str(rng.choice(["minor", "major"]))) for _ in range(n)] for n in (0, 3, 6, 9)]
    every = [(kind, severity) for kind in _TYPES for severity in ("minor", "major")]
    return [(errors,) for errors in [*made, every]]


def _pairs_of_systems() -> list[tuple]:
    rng, made = np.random.default_rng(4), []
    for n in (4, 7, 9):
        errors = pd.Series(rng.integers(1, 6, n).astype(float), list("ABCDEFGHI"[:n]))
        made.append((errors, -errors - rng.integers(0, 4, n)))
    return made


def _spans() -> list[tuple]:
    return [([(2, 5), (9, 12)], 20), ([(0, 4), (3, 8)], 10), ([(4, 6)], 6), ([(5, 9), (5, 9), (1, 2)], 12)]


def _characters() -> list[tuple]:
    rng, made = np.random.default_rng(5), []
    for length, share in ((30, 0.4), (60, 0.1), (40, 0.25)):
        one = rng.random(length) < share
        made.append((one, np.where(rng.random(length) < 0.15, ~one, one)))
    return made


EXERCISES: dict[str, Exercise] = {
    "mqm_score": Function(
        right=mqm_score,
        trials=_errors,
        mistakes={
            "count_errors": lambda errors: -float(len(errors)),
            "wrong_comma_weighs": lambda errors: mqm_score(_renamed(errors, "fluency/punctuation")),
            "non_translation_weighs": lambda errors: mqm_score(_renamed(errors, "non-translation")),
        },
    ),
    "system_means": Value(
        right=system_means,
        mistakes={
            "mean_weight_of_an_error": lambda judged, marks: -marks.groupby("system")["weight"].mean(),
            "sum": lambda judged, marks: -marks.groupby("system")["weight"].sum(),
            "translations_without": lambda judged, marks: -_of_those_with_errors(marks),
        },
    ),
    "contradictions": Function(
        right=contradictions,
        trials=_pairs_of_systems,
        mistakes={
            "every_pair_is_there_twice": lambda errors, score: 2 * contradictions(errors, score),
            "pairs_in_which_both_agree": lambda errors, score: contradictions(errors, -score),
        },
    ),
    "cost": Value(
        right=cost_of_a_major,
        mistakes={
            "translations_with_further": lambda esa: _clean(esa) - esa.loc[esa["major"].ge(1), "score"].mean(),
            "compare_with_the_mean": lambda esa: esa["score"].mean() - (_clean(esa) - cost_of_a_major(esa)),
        },
    ),
    "marked": Function(
        right=marked,
        trials=_spans,
        mistakes={
            "one_character_too_many": lambda spans, length: marked([(start, end + 1) for start, end in spans], length),
            "count_how_often_a_character": lambda spans, length: sum(marked([span], length) for span in spans),
            "only_the_first_span": lambda spans, length: marked(list(spans)[:1], length),
        },
    ),
    "character_alpha": Function(
        right=character_alpha,
        trials=_characters,
        mistakes={
            "share_of_equal_characters": lambda one, other: float(np.mean(one == other)),
            "overlap": lambda one, other: float((one & other).sum() / (one | other).sum()),
            "cohen_kappa": lambda one, other: _coefficient(one, other, "cohen_kappa"),
            "first_not_put_back": lambda one, other: _coefficient(one, other, "scott_pi"),
        },
    ),
}
