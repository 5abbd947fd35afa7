"""Turn judgements into comparisons of two translations, and comparisons into judgements.

A table of comparisons (``schemas.COMPARISONS``) has a row per pair; a table of ratings has one per judged translation,
and says in ``hit`` and ``against`` what was judged together, or in ``screen`` what stood on one screen. Which stood
first they know from ``screen_place``, 1 for the left or upper one.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import provenance, schemas

#: What two judgements share that were made of the same text by the same person for the same question.
TOGETHER = ("src_lang", "tgt_lang", "doc", "segment", "annotator", "criterion")
#: Sums of penalties such as .1 and .2 are no further from .3 than that; people do not score so finely.
_ROUNDING = 1e-9
_COMMON = ("started", "ended", "source", "reference")


def check(frame: pd.DataFrame, *, origin: str, first_line: int = 2) -> pd.DataFrame:
    """Return comparisons with the types of ``schemas.COMPARISONS``, or say which line breaks which rule.

    Besides the schema's rules: no system is compared with itself, a pair is there once a screen, however turned, and
    where both scores are told, ``preference`` is not for the lower one. (Equal scores may have a preference.)
    Raises DataError with line and remedy.

    >>> row = dict.fromkeys(["src_lang", "tgt_lang", "system_a", "system_b", "doc", "segment", "annotator"], "x")
    >>> check(pd.DataFrame([row | {"preference": "tie"}]), origin="my.csv")
    Traceback (most recent call last):
    evalkit.DataError: my.csv, line 2: the system 'x' is compared with itself. Drop the row, or correct a name.
    """
    frame = schemas.check(frame, schemas.COMPARISONS, origin=origin, first_line=first_line)
    lines = frame.index.to_numpy() if frame.index.name == "line" else first_line + np.arange(len(frame))
    same = np.flatnonzero(frame["system_a"].eq(frame["system_b"]))
    if len(same):
        name = frame["system_a"].iloc[same[0]]
        raise DataError(
            f"{origin}, line {lines[same[0]]}: the system {name!r} is compared with itself. "
            "Drop the row, or correct a name."
        )
    _refuse_turned(frame, origin, lines)
    _refuse_contradicted(frame, origin, lines)
    return frame


def _refuse_turned(frame: pd.DataFrame, origin: str, lines: np.ndarray) -> None:
    """Refuse a pair that one person answers twice on one screen, once as A and B and once as B and A."""
    ordered = np.sort(frame[["system_a", "system_b"]].to_numpy(dtype=object), axis=1)
    key = [name for name in schemas.COMPARISONS.key if name in frame and not name.startswith("system_")]
    again = np.flatnonzero(frame[key].assign(_one=ordered[:, 0], _two=ordered[:, 1]).duplicated())
    if len(again):
        raise DataError(
            f"{origin}, line {lines[again[0]]}: this pair is there already, the other way round. "
            f"{schemas.COMPARISONS.remedy}"
        )


def _refuse_contradicted(frame: pd.DataFrame, origin: str, lines: np.ndarray) -> None:
    """Refuse a preference for the translation with the lower score."""
    if not {"score_a", "score_b"} <= {*frame}:
        return
    lead = (frame["score_a"] - frame["score_b"]).to_numpy(float)
    wrong = np.flatnonzero(((lead < 0) & frame["preference"].eq("a")) | ((lead > 0) & frame["preference"].eq("b")))
    if len(wrong):
        raise DataError(
            f"{origin}, line {lines[wrong[0]]}: the preference {frame['preference'].iloc[wrong[0]]!r} is for the lower "
            "score. Correct one of them; higher must be better."
        )


def of_scores(
    ratings: pd.DataFrame, *, together: Sequence[str] = ("hit",), tie: float = 0.0, repeats: bool = False
) -> pd.DataFrame:
    """Compare every two judgements of one text by one person: the higher score is preferred, equal ones tie.

    ratings: one row per judgement; higher is better. together: further columns that both must share, where the table
    has them: by default the screen, or the task, ``hit``; ``()`` compares whatever a person judged of a segment.
    tie: scores that are no further apart than that (in units of the score) tie. repeats: compare second showings, too.
    Where ``against`` says what stood beside a judgement, only these two are compared. ``a`` is the one whose row comes
    first; ``first`` is the one with the lower ``screen_place``, or unknown. ``attrs["alone"]`` counts judgements with
    none to compare them with.
    Caveat: a person's k judgements of a text make k(k - 1)/2 comparisons that know no more than the k scores: draw
    texts and people, never single comparisons.

    >>> row = {"src_lang": "x", "tgt_lang": "y", "doc": "d", "segment": "1", "annotator": "p", "item_type": "system"}
    >>> ratings = pd.DataFrame([row | {"system": s, "score": v} for s, v in [("A", 80.0), ("B", 75.0), ("C", 90.0)]])
    >>> of_scores(ratings, tie=5)[["system_a", "system_b", "preference"]].to_numpy().tolist()
    [['A', 'B', 'tie'], ['A', 'C', 'b'], ['B', 'C', 'b']]
    """
    kept = ratings if repeats else ratings[~ratings["item_type"].isin(["repeat", "degraded"])]
    kept = kept.reset_index(drop=True)
    key = [name for name in (*TOGETHER, *together) if name in kept]
    group = kept.groupby(key, sort=False, observed=True, dropna=False).ngroup().to_numpy()
    first, second = _pairs(group)
    apart = kept["system"].to_numpy()[first] != kept["system"].to_numpy()[second]
    if "against" in kept:
        names, beside = kept["system"].astype(object).to_numpy(), kept["against"].astype(object).to_numpy()
        apart &= (beside[first] == names[second]) & (beside[second] == names[first])
    first, second = first[apart], second[apart]
    if not len(first):
        raise DataError(
            f"No two translations of one segment were judged by one person ({', '.join(key)} alike), so the scores "
            "say nothing as comparisons. Let annotators judge several systems' translations of each segment."
        )
    found = _compared(kept, first, second, tie=tie)
    found["screen"] = [f"screen {number + 1}" for number in group[first]]
    alone = len(kept) - len(np.union1d(first, second))
    return provenance.like(check(found, origin="the comparisons made of scores"), ratings, alone=alone)


def _pairs(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List the positions (first, second) of every two rows of one group, first < second."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    firsts, seconds = [], []
    for size in np.unique(sizes[sizes > 1]):
        one, two = np.triu_indices(int(size), 1)
        begin = starts[sizes == size][:, None]
        firsts.append(order[begin + one].ravel())
        seconds.append(order[begin + two].ravel())
    if not firsts:
        return np.zeros(0, int), np.zeros(0, int)
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    tidy = np.lexsort((second, first))
    return first[tidy], second[tidy]


def _compared(kept: pd.DataFrame, first: np.ndarray, second: np.ndarray, *, tie: float) -> pd.DataFrame:
    """Write judgements at two positions as comparisons, without their screens."""
    a, b = kept.iloc[first].reset_index(drop=True), kept.iloc[second].reset_index(drop=True)
    lead = (a["score"] - b["score"]).to_numpy(float)
    answer = np.where(np.abs(lead) <= tie + _ROUNDING, "tie", np.where(lead > 0, "a", "b"))
    found = a[[name for name in (*TOGETHER, *_COMMON) if name in a]].assign(
        system_a=a["system"].astype("str"),
        system_b=b["system"].astype("str"),
        preference=answer,
        first=_first(a, b),
        score_a=a["score"],
        score_b=b["score"],
    )
    if {"started", "ended"} <= {*a}:
        found = found.assign(started=np.fmin(a["started"], b["started"]), ended=np.fmax(a["ended"], b["ended"]))
    if "hypothesis" in a:
        found = found.assign(hypothesis_a=a["hypothesis"], hypothesis_b=b["hypothesis"])
    return found


def _first(a: pd.DataFrame, b: pd.DataFrame) -> np.ndarray:
    """Say which of two judgements' translations stood first on their screen."""
    if "screen_place" not in a:
        return np.full(len(a), "unknown", dtype=object)
    gap = (a["screen_place"] - b["screen_place"]).to_numpy(float)
    return np.select([gap < 0, gap > 0], ["a", "b"], "unknown")


def as_judgements(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Write each comparison as a judgement of either system: 1 where it is preferred, 0 where not, 0.5 in a tie.

    Adds ``against`` and, as ``hit``, what tells comparisons apart; and ``screen_place`` where it is known which stood
    first. ``of_scores(…, together=("hit",))`` goes back.

    >>> row = dict.fromkeys(["src_lang", "tgt_lang", "doc", "segment", "annotator"], "x")
    >>> one = pd.DataFrame([row | {"system_a": "A", "system_b": "B", "preference": "b"}])
    >>> as_judgements(one)[["system", "against", "score"]].to_numpy().tolist()
    [['A', 'B', 0.0], ['B', 'A', 1.0]]
    """
    number = np.arange(len(comparisons))
    halves = []
    for own, other in (("a", "b"), ("b", "a")):
        worth = comparisons["preference"].map({own: 1.0, other: 0.0, "tie": 0.5})
        half = comparisons.assign(
            system=comparisons[f"system_{own}"],
            against=comparisons[f"system_{other}"],
            score=worth,
            item_type="system",
            hit=[f"comparison {place + 1}" for place in number],
        )
        if "first" in half:
            half["screen_place"] = half["first"].map({own: 1.0, other: 2.0})
        if f"hypothesis_{own}" in half:
            half["hypothesis"] = half[f"hypothesis_{own}"]
        halves.append(half.set_axis(number))
    both = pd.concat(halves).sort_index(kind="stable").reset_index(drop=True)
    names = [name for name in (*schemas.RATINGS.columns, "screen_place") if name in both]
    return schemas.check(both[names], schemas.RATINGS, origin="the judgements made of comparisons", scale=(0, 1))
