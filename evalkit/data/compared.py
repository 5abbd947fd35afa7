"""Comparisons of two translations: made of judgements and made into them, and those of two papers.

A table of comparisons (``schemas.COMPARISONS``) has a row per pair; a table of ratings has one per judged translation,
and says in ``hit`` and ``against`` what was judged together, or in ``screen`` what stood on one screen. Which stood
first they know from ``screen_place``, 1 for the left or upper one.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, languages, provenance, schemas

#: What two judgements share that were made of the same text by the same person for the same question.
TOGETHER = ("src_lang", "tgt_lang", "doc", "segment", "annotator", "criterion")
#: Sums of penalties such as .1 and .2 are no further from .3 than that; people do not score so finely.
_ROUNDING = 1e-9
_COMMON = ("started", "ended", "source", "reference")
#: What Läubli et al. call the two systems.
_PARITY = ("human", "mt")
_TEXTS = {"a": "text1", "b": "text2"}
_CHANGED = {"NEITHER": "neither", "BOTH": "both", "TRANSLATION 1": "a", "TRANSLATION 2": "b"}


def check(frame: pd.DataFrame, *, origin: str, first_line: int = 2) -> pd.DataFrame:
    """Return comparisons with the types of ``schemas.COMPARISONS``, or say which line breaks which rule.

    Besides the schema's rules: no system is compared with itself, a pair is there once a screen, however turned, and
    where both scores are told, ``preference`` is not for the lower one. (Equal scores may have a preference.)
    Raises DataError with line and remedy.

    >>> row = dict.fromkeys(["src_lang", "tgt_lang", "system_a", "system_b", "doc", "segment", "annotator"], "x")
    >>> check(pd.DataFrame([row | {"preference": "tie"}]), origin="my.csv")
    Traceback (most recent call last):
    evalkit.DataError: my.csv, line 2: a system is compared with itself. Drop the row, or correct a name.
    """
    frame = schemas.check(frame, schemas.COMPARISONS, origin=origin, first_line=first_line)
    lines = frame.index.to_numpy() if frame.index.name == "line" else first_line + np.arange(len(frame))
    ordered = np.sort(frame[["system_a", "system_b"]].to_numpy(dtype=object), axis=1)
    key = [name for name in schemas.COMPARISONS.key if name in frame and not name.startswith("system_")]
    turned = frame[key].assign(_one=ordered[:, 0], _two=ordered[:, 1]).duplicated()
    problems = [
        (frame["system_a"].eq(frame["system_b"]), "a system is compared with itself. Drop the row, or correct a name."),
        (turned, f"this pair is there already, the other way round. {schemas.COMPARISONS.remedy}"),
    ]
    if {"score_a", "score_b"} <= {*frame}:
        lead = np.sign(frame["score_a"] - frame["score_b"])
        wrong = lead.mul(frame["preference"].map({"a": 1, "b": -1, "tie": 0})).lt(0)
        problems.append((wrong, "the preference is for the lower score. Correct one of them; higher must be better."))
    for broken, told in problems:
        if broken.any():
            raise DataError(f"{origin}, line {lines[np.argmax(broken)]}: {told}")
    return frame


def of_scores(ratings: pd.DataFrame, *, together: Sequence[str] = ("hit",), tie: float = 0.0) -> pd.DataFrame:
    """Compare every two judgements of one text by one person: the higher score is preferred, equal ones tie.

    ratings: one row per judgement; higher is better. together: further columns that both must share, where the table
    has them: by default the screen, or the task, ``hit``; ``()`` compares whatever a person judged of a segment.
    tie: scores that are no further apart than that (in units of the score) tie. Second showings and
    degraded items are not compared.
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
    kept = ratings[~ratings["item_type"].isin(["repeat", "degraded"])].reset_index(drop=True)
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


def of_screens(ratings: pd.DataFrame, *, tie: float = 0.0) -> pd.DataFrame:
    """Compare what stood on one screen, by the scores there; ``first`` is the one with the lower position.

    ratings: with ``hit`` and ``position`` (numbers, or left and right). tie: see ``of_scores``.
    """
    order = ratings["position"].replace({"left": 1, "right": 2}).astype(int)
    found = of_scores(ratings.iloc[np.argsort(order, kind="stable")], tie=tie)
    return found.assign(first="a")


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
    gap = (a["screen_place"] - b["screen_place"]).to_numpy(float) if "screen_place" in a else np.zeros(len(a))
    found = a[[name for name in (*TOGETHER, *_COMMON) if name in a]].assign(
        system_a=a["system"].astype("str"),
        system_b=b["system"].astype("str"),
        preference=answer,
        first=np.select([gap < 0, gap > 0], ["a", "b"], "unknown"),
        score_a=a["score"],
        score_b=b["score"],
    )
    if {"started", "ended"} <= {*a}:
        found = found.assign(started=np.fmin(a["started"], b["started"]), ended=np.fmax(a["ended"], b["ended"]))
    if "hypothesis" in a:
        found = found.assign(hypothesis_a=a["hypothesis"], hypothesis_b=b["hypothesis"])
    return found


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


def parity_preferences(paths: list[Path]) -> pd.DataFrame:
    """Load the preferences of Läubli et al. (2018), ``a`` being the person's translation and ``b`` the machine's.

    ``criterion``: adequacy or fluency. ``unit``: what was shown, a sentence or a document. The file does not tell which
    stood first. Sentences U-1 to U-120 are left out, as the paper leaves them out, and counted in
    ``attrs["excluded"]``: they come from documents that were judged, too.
    """
    header = ["annotator", "criterion", "unit", "item", "choice"]
    raw = delimited.table(delimited.content(paths[0]), origin=paths[0].name).set_axis(header, axis=1)
    overlapping = raw["item"].str.startswith("U-")
    frame = of_choices(raw[~overlapping], origin=paths[0].name)
    frame.attrs["excluded"] = {"comparisons of sentences from judged documents": int(overlapping.sum())}
    return frame


def of_choices(choices: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Write choices (annotator, criterion, unit, item, choice) between ``human`` and ``mt`` as comparisons."""
    person, machine = _PARITY
    frame = choices.assign(src_lang="zho", tgt_lang="eng", system_a=person, system_b=machine, first="unknown")
    preference = choices["choice"].map({person: "a", machine: "b", "tie": "tie"})
    frame = frame.assign(doc=choices["item"], segment=choices["item"], preference=preference)
    names = [name for name in schemas.COMPARISONS.columns if name in frame]
    return check(frame[[*names, "unit"]].reset_index(drop=True), origin=origin)


def parity(paths: list[Path]) -> pd.DataFrame:
    """Load the same, each comparison as two judgements, see ``of_parity``."""
    return of_parity(parity_preferences(paths))


def of_parity(compared: pd.DataFrame) -> pd.DataFrame:
    """Write comparisons with a person as judgements: 1 for what won, 0 for what lost, 0.5 for either in a tie.

    ``against`` is the other system of the comparison, ``choice`` what was answered (mt, human or tie).
    """
    judged = as_judgements(compared).drop(columns=["hit", "screen_place"])
    both = compared.loc[compared.index.repeat(2)].reset_index(drop=True)
    kind = np.where(judged["system"].eq(_PARITY[0]), "reference", "system")
    choice = both["preference"].replace(dict(zip("ab", _PARITY)))
    return provenance.like(judged.assign(item_type=kind, unit=both["unit"], choice=choice), compared)


def literary(paths: list[Path]) -> pd.DataFrame:
    """Load preferences between two translations of a literary paragraph (2023): text 1, which stood first, is ``a``.

    The systems translate sentence by sentence (sent), with the paragraph before it (para_sent), as a paragraph (para),
    or are Google Translate (gtr); nobody could answer that they tie. ``close``: whether the choice was said to be
    difficult. ``changed``: which text adds or omits what changes the meaning (a, b, both, neither). ``marks_a``,
    ``marks_b``: how many stretches were marked. ``comment``: why, in words. ``doc`` is the book, ``segment`` the
    paragraph in it. The file does not name annotators: ``annotator`` is "unnamed", and who judged what cannot be told
    apart.
    """
    records = json.loads(delimited.content(paths[0]))
    frame = pd.DataFrame(_comparison(record, place) for place, record in enumerate(records, start=1))
    number = frame.groupby("doc")["source"].transform(lambda texts: pd.factorize(texts)[0])
    frame.insert(5, "segment", (number + 1).astype("str"))
    return check(frame, origin=paths[0].name, first_line=1)


def _comparison(record: dict[str, Any], place: int) -> dict[str, Any]:
    """Write one record as a comparison."""
    return {
        "src_lang": languages.code(record["source_lang"]),
        "tgt_lang": languages.code(record["target_lang"]),
        "system_a": record["text1_tag"],
        "system_b": record["text2_tag"],
        "doc": record["book"],
        "annotator": "unnamed",
        "preference": {"text1": "a", "text2": "b"}[record["choice"]],
        "first": "a",
        "screen": f"{record['eval']}/{place}",
        "source": record["source"],
        "reference": record["target"],
        "hypothesis_a": record["text1"],
        "hypothesis_b": record["text2"],
        "close": record["difficult_choice"].startswith("YES"),
        "changed": next(ours for theirs, ours in _CHANGED.items() if record["added_omitted"].startswith(theirs)),
        "comment": record["comment"],
        **{f"marks_{side}": len(record["annotations"][name]) for side, name in _TEXTS.items()},
    }
