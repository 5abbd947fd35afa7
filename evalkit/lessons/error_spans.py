"""The exercises of the lesson "Error spans: what a mark costs, and why counts and scores disagree".

An error is a pair (type, severity), a span a pair (start, end) of characters, the end excluded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit.human import mqm
from evalkit.human.mqm import judgements
from evalkit.lessons.exercises import Exercise, Function, Mistake, Value
from evalkit.stats import agreement, correlation

#: The weights of WMT's MQM: minor 1, major 5, minor punctuation 0.1, non-translation 25, source errors 0.
WMT = "Freitag et al. 2021 (WMT)"
_TYPES = (
    "accuracy/mistranslation",
    "fluency/punctuation",
    "fluency/grammar",
    "non-translation",
    "accuracy/omission",
)
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


def longest(units: pd.DataFrame, texts: pd.DataFrame, *, most: int = 160) -> pd.Series:
    """Choose a translation to draw: of those of at most so many characters, one in which most people marked something.

    units: system, doc, segment, annotator. texts: system, doc, segment, hypothesis. Returns its row of ``texts``.
    """
    key = ["system", "doc", "segment"]
    people = units.groupby(key, observed=True)["annotator"].nunique().rename("people").reset_index()
    known = texts.astype(dict.fromkeys(key, "str")).merge(people.astype(dict.fromkeys(key, "str")), on=key)
    short = known[known["hypothesis"].str.len() <= most]
    return (short if len(short) else known).sort_values(["people", *key], ascending=[False, True, True, True]).iloc[0]


def _of_those_with_errors(marks: pd.DataFrame) -> pd.Series:
    return marks.groupby(["system", "doc", "segment"])["weight"].sum().groupby("system").mean()


def _clean(esa: pd.DataFrame) -> float:
    return float(esa.loc[esa["errors"].eq(0), "score"].mean())


def _coefficient(one: np.ndarray, other: np.ndarray, name: str, level: str = "none") -> float:
    scores = pd.DataFrame({"a": np.asarray(one, int), "b": np.asarray(other, int)})
    return float(agreement.coefficients(scores, measures=[(name, level)], resamples=0)["estimate"].iloc[0])


def _weighed(weight: Mapping[str, float], *, comma: str = "minor", sign: float = -1.0):
    """Make a score with other weights; comma: which punctuation errors weigh 0.1 ("", "minor" or "every")."""

    def score(errors: Errors) -> float:
        total = 0.0
        for kind, severity in errors:
            light = kind == "fluency/punctuation" and comma in (severity, "every")
            total += weight["light"] if light else weight.get(kind, weight[severity])
        return sign * total

    return score


_RIGHT = {"minor": 1.0, "major": 5.0, "light": 0.1, "non-translation": 25.0}


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
    return [([(2, 5), (9, 12)], 20), ([(0, 4), (3, 8)], 10), ([], 6), ([(5, 9), (5, 9), (1, 2)], 12)]


def _ends_in(spans: Spans, length: int) -> np.ndarray:
    return marked([(start, min(end + 1, length)) for start, end in spans], length)


def _times(spans: Spans, length: int) -> np.ndarray:
    return np.sum([marked([span], length) for span in spans], axis=0) if spans else np.zeros(length)


def _characters() -> list[tuple]:
    rng, made = np.random.default_rng(5), []
    for length, share in ((30, 0.4), (60, 0.1), (40, 0.25)):
        one = rng.random(length) < share
        made.append((one, np.where(rng.random(length) < 0.15, ~one, one)))
    return made


def _free_of_counts(one: np.ndarray, other: np.ndarray) -> float:
    share = (one.mean() + other.mean()) / 2
    return float(1 - np.mean(one != other) / (2 * share * (1 - share)))


EXERCISES: dict[str, Exercise] = {
    "mqm_score": Function(
        right=mqm_score,
        trials=_errors,
        mistakes=(
            Mistake(
                answer=lambda errors: -float(len(errors)),
                hint="You count errors. Here an error weighs by how bad it is.",
            ),
            Mistake(
                answer=_weighed(_RIGHT, comma=""),
                hint="A wrong comma weighs as much as any minor error here. Minor punctuation has its own weight.",
            ),
            Mistake(
                answer=_weighed(_RIGHT, comma="every"),
                hint="All punctuation is light here. A major error is major, whatever its type.",
            ),
            Mistake(
                answer=_weighed({name: value for name, value in _RIGHT.items() if name != "non-translation"}),
                hint="A non-translation weighs by its severity here. Look again at its line among the weights.",
            ),
            Mistake(
                answer=_weighed(_RIGHT, sign=1.0),
                hint="This is what the errors weigh together. A score is higher where a translation is better.",
            ),
        ),
        otherwise="Try one error at a time: a minor one, a major one, a minor comma, a non-translation.",
        well="Nothing to subtract gives 0, the best score. The weights are a decision, not a measurement.",
    ),
    "system_means": Value(
        right=system_means,
        mistakes=(
            Mistake(
                answer=lambda judged, marks: -marks.groupby("system")["weight"].mean(),
                hint="This is the mean weight of an error. How many translations were judged, not how many errors?",
            ),
            Mistake(
                answer=lambda judged, marks: -marks.groupby("system")["weight"].sum(),
                hint="This is a sum. Divide by the number of translations of the system that were judged.",
            ),
            Mistake(
                answer=lambda judged, marks: -_of_those_with_errors(marks),
                hint="Translations without errors are missing: they have no row among the marks, but a score of 0.",
            ),
            Mistake(
                answer=lambda judged, marks: -system_means(judged, marks),
                hint="The sizes are right. A score is minus what the errors weigh.",
            ),
        ),
        otherwise="Two numbers for each system: the weights of all its errors, and how many translations were judged.",
        well="A table of errors does not know the translations without any. Always divide by what was judged.",
    ),
    "contradictions": Function(
        right=contradictions,
        trials=_pairs_of_systems,
        mistakes=(
            Mistake(
                answer=lambda errors, score: 2 * contradictions(errors, score),
                hint="Every pair is there twice: A beside B, and B beside A.",
            ),
            Mistake(
                answer=lambda errors, score: contradictions(errors, -score),
                hint="These are the pairs in which both agree. More errors and a *lower* score is no wonder.",
            ),
            Mistake(
                answer=lambda errors, score: len(errors) * (len(errors) - 1) // 2 - contradictions(errors, -score),
                hint="Ties are among your pairs. Equal systems have neither fewer errors nor the lower score.",
            ),
        ),
        otherwise="For each pair: who has fewer errors, and who the lower score? Count where it is the same one.",
        well="Each such pair is a decision between two systems that hangs on counting or weighing.",
    ),
    "cost": Value(
        right=cost_of_a_major,
        mistakes=(
            Mistake(
                answer=lambda esa: _clean(esa) - esa.loc[esa["major"].ge(1), "score"].mean(),
                hint="Translations with further errors are among these. Take those whose only error is a major one.",
            ),
            Mistake(
                answer=lambda esa: _clean(esa) - esa.loc[esa["major"].eq(1), "score"].mean(),
                hint="One major error, but minor ones besides: these cost something, too. Leave such translations out.",
            ),
            Mistake(
                answer=lambda esa: _clean(esa) - esa.loc[esa["minor"].eq(1) & esa["errors"].eq(1), "score"].mean(),
                hint="This is what a minor error costs.",
            ),
            Mistake(
                answer=lambda esa: esa["score"].mean() - (_clean(esa) - cost_of_a_major(esa)),
                hint="You compare with the mean of all translations. Compare with those that have no error at all.",
            ),
            Mistake(
                answer=lambda esa: _clean(esa) - cost_of_a_major(esa),
                hint="This is their mean score. How much lower is it than that of translations without errors?",
            ),
        ),
        otherwise="Two means: of translations with errors == 0, and of those with one error that is major.",
        well="The annotators were free to give any score, so this is what one major error is worth to them.",
    ),
    "marked": Function(
        right=marked,
        trials=_spans,
        mistakes=(
            Mistake(
                answer=_ends_in,
                hint="One character too many: the end of a span is the first character that is not marked.",
            ),
            Mistake(
                answer=_times,
                hint="You count how often a character is marked. Where two spans overlap, it is marked once.",
            ),
            Mistake(
                answer=lambda spans, length: marked([(start + 1, end + 1) for start, end in spans], length),
                hint="Everything is one place too far to the right. The first character of a text is number 0.",
            ),
            Mistake(
                answer=lambda spans, length: marked(list(spans)[:1], length),
                hint="Only the first span is marked. Does your loop end too early?",
            ),
        ),
        otherwise="Begin with an array of False, as long as the text, and set the characters of each span.",
        well="Now two people's marks can be compared character by character.",
    ),
    "character_alpha": Function(
        right=character_alpha,
        trials=_characters,
        mistakes=(
            Mistake(
                answer=lambda one, other: float(np.mean(one == other)),
                hint="This is the share of equal characters. Two people asleep have many of these: all unmarked.",
            ),
            Mistake(
                answer=lambda one, other: float((one & other).sum() / (one | other).sum()),
                hint="This is the overlap: marked by both, of those marked by either. What would chance give?",
            ),
            Mistake(
                answer=lambda one, other: float(2 * (one & other).sum() / (one.sum() + other.sum())),
                hint="This is F1, the overlap of two people's marks. It is not corrected for chance.",
            ),
            Mistake(
                answer=lambda one, other: _coefficient(one, other, "cohen_kappa"),
                hint="This is Cohen's kappa: each marks at an own rate. Alpha puts all marks into one urn.",
            ),
            Mistake(
                answer=_free_of_counts,
                hint="Almost: the second draw from the urn is one of N - 1, for the first one is not put back.",
            ),
        ),
        otherwise="Print three numbers: the share of characters that differ, m and N. Then the expected difference.",
        well="Without the correction, long unmarked stretches would pass for agreement.",
    ),
}
