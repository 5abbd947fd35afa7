"""Find out which way scores are better, from their heading and from what they are; ask where the two disagree."""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import columns
from evalkit.data.importing.cells.columns import vocabulary

_PENALTY = tuple(
    vocabulary(
        "penalt penalità pénalit penaliz penalid strafpunkt abzug abzüge malus fehler error erreur errore chyb ошиб "
        "помилк штраф błęd fouten mistake deduct demerit distan vzdálenost odległo расстояни abstand kosten aufwand"
    )
)
_EXACT = vocabulary(
    "edit edits ter hter wer cer cost costs coût costo coste custo effort fout erro erros bearbeitungen"
)
_RANK = vocabulary(
    "rank ranks ranking rang rangfolge rangplatz rangordnung platz platzierung pořadí classement puesto rango "
    "posto ранг место miejsce ranga"
)
_SIGNS = {
    "penalty": (
        "错误",
        "錯誤",
        "罚分",
        "罰分",
        "扣分",
        "エラー",
        "誤り",
        "誤訳",
        "減点",
        "오류",
        "감점",
        "距离",
        "距離",
        "거리",
    ),
    "rank": ("排名", "名次", "順位", "순위", "排序"),
}
_NEGATING = vocabulary(
    "free frei without no non inverse inverted reverse reversed neg negative negated minus ohne sans"
)
_MARKS = vocabulary("schulnote schulnoten známka známky")
_SCORE = {"score", "scores", "points", "punkte", "rating"}
_MQM = {"mqm", "score", "value", "total", "sum", "weighted", "segment", "seg"}
_FEW = 5  # groups in which scores must be places before they are taken for ranks
_PLAINLY = "higher is better: nothing in the heading"
_ASK = "Say which holds: --lower-is-better or --higher-is-better."


def is_low(word: str) -> bool:
    """Tell whether a word of a heading says that low is good.

    >>> is_low("penalties"), is_low("rank"), is_low("quality")
    (True, True, False)
    """
    return word in _EXACT or word in _RANK or word.startswith(_PENALTY) or word.endswith("fehler")


def kind(heading: str) -> str:
    """Say what a heading makes of its numbers: a penalty, a rank, mqm (which is either), unclear, or nothing.

    >>> [kind(name) for name in ("mqm_penalty", "Fehleranzahl", "rank", "mqm_score", "error-free", "adequacy")]
    ['penalty', 'penalty', 'rank', 'mqm', 'unclear', '']
    """
    words = columns.words(heading)
    low = [word for word in words if is_low(word) and word not in _RANK]
    found = "rank" if _RANK & set(words) else "penalty" if low else ""
    bare = "".join(words)
    found = found or next((name for name, signs in _SIGNS.items() if any(sign in bare for sign in signs)), "")
    if found and (_NEGATING & set(words) or any(re.search("frei|free|less", word) for word in low)):
        return "unclear"
    if found == "rank" and _SCORE & set(words):
        return "unclear"
    return found or ("mqm" if "mqm" in words and set(words) <= _MQM else "")


def found(
    heading: str,
    values: np.ndarray,
    told: bool | None,
    *,
    origin: str,
    groups: pd.Series | None = None,
    systems: int = 0,
    german: bool = False,
) -> tuple[bool, str]:
    """Tell whether lower is better, and how that is known.

    values: the scores, NaN where there is none. told: what the user says, which decides. groups: which scores one
    annotator gave one segment, so that ranks can be told. systems: how many there are. german: the headings are
    German, where a Note may be a mark at school.
    Raises DataError that asks, where heading and content disagree, or either can mean both.
    """
    if told is not None:
        return (
            told,
            f"{'lower is better, as told: the score is minus ' + heading if told else 'higher is better, as told'}",
        )
    scores, means = values[np.isfinite(values)], kind(heading)
    if not scores.size:
        return False, "higher is better"
    low, high = scores.min(), scores.max()
    range_of = f"its numbers go from {low:g} to {high:g}"
    ranks = groups is not None and are_ranks(values, groups)
    if means == "unclear" or _is_mark(heading, scores, german=german):
        if not (means == "unclear" and ranks):
            raise DataError(f"{origin}: {heading!r} can mean that high is good, or that low is. {_ASK}")
        means = "rank"
    if means in ("penalty", "rank") and low < 0:
        raise DataError(f"{origin}: by the heading {heading!r} low is good, but {range_of}. {_ASK}")
    if means == "rank" and systems and high > systems:
        raise DataError(f"{origin}: {heading!r} ranks {systems} systems, but {range_of}. {_ASK}")
    if means == "mqm" and high > 0:
        raise DataError(f"{origin}: {heading!r} may hold scores or penalties; {range_of}. {_ASK}")
    if means in ("penalty", "rank"):
        return True, f"lower is better by the heading {heading}: the score is minus it"
    if ranks:
        raise DataError(
            f"{origin}: {heading!r} holds 1, 2, 3 … in the order of the systems of each segment, as ranks "
            f"do, where 1 is best; its heading does not say so. {_ASK}"
        )
    if high <= 0 > low:
        return False, f"higher is better: no number of {heading} is above 0, as in sums of penalties that are taken off"
    return False, f"{_PLAINLY} {heading} or its numbers says otherwise"


def are_ranks(values: np.ndarray, groups: pd.Series) -> bool:
    """Tell whether the scores of every group are places: 1, 2, 3 …, with or without ties.

    >>> are_ranks(np.array([1.0, 2, 2, 1] * 3), pd.Series([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]))
    True
    >>> are_ranks(np.array([4.0, 2, 2, 1] * 3), pd.Series([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]))
    False
    """
    scores = pd.Series(values, index=groups.index)
    if scores.isna().any() or not (scores % 1).eq(0).all() or scores.min() != 1 or scores.max() > len(scores):
        return False
    by = scores.groupby(groups.to_numpy())
    sizes = by.size()
    if sizes.min() < 2 or len(sizes) < _FEW or by.nunique().max() < 2:
        return False
    return bool(by.rank("min").eq(scores).all() or by.rank("dense").eq(scores).all())


def _is_mark(heading: str, scores: np.ndarray, *, german: bool) -> bool:
    """Tell whether scores may be marks of a German or Czech school, 1 to 6, of which 1 is best."""
    words = columns.words(heading)
    mark = any(word in _MARKS or (german and word.endswith(("note", "noten"))) for word in words)
    return mark and bool((scores >= 1).all() and (scores <= 6).all())


def of(criterion: str, why: str) -> str:
    """Say which way one of several criteria is better.

    >>> of("style", found("style", np.array([3.0]), None, origin="x")[1]), of("errors", "lower is better")
    ('higher is better: nothing in the heading style or its numbers says otherwise', 'errors: lower is better')
    """
    return why if why.startswith(_PLAINLY) else f"{criterion}: {why}"


def joined(sentences: Iterable[str]) -> str:
    """Say what holds of several columns, each sentence once; those of which nothing is known are named together.

    >>> joined(of(name, found(name, np.array([3.0]), None, origin="x")[1]) for name in ("style", "tone"))
    'higher is better: nothing in the headings style, tone or their numbers says otherwise'
    """
    said = [*dict.fromkeys(sentences)]
    plainly = [one.removeprefix(f"{_PLAINLY} ").partition(" or its")[0] for one in said if one.startswith(_PLAINLY)]
    if len(plainly) > 1:
        together = f"{_PLAINLY}s {', '.join(plainly)} or their numbers says otherwise"
        said = [*(one for one in said if not one.startswith(_PLAINLY)), together]
    return "; ".join(said)
