"""Comparisons of two translations: made of judgements and made into them, and those of two papers.

A table of comparisons (``schemas.COMPARISONS``) has a row per pair; a table of ratings has one per judged translation,
and says in ``hit`` and ``against`` what was judged together, or in ``screen`` what stood on one screen. Which stood
first they know from ``screen_place``, 1 for the left or upper one.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, languages, provenance, schemas

#: What two judgements share that were made of the same text by the same person for the same question.
TOGETHER = ("src_lang", "tgt_lang", "doc", "segment", "annotator", "criterion")
#: Sums of penalties such as .1 and .2 are no further from .3 than that; people do not score so finely.
_ROUNDING = 1e-9
_COMMON = ("started", "ended", "source", "reference")
#: Our columns of literary comparisons -> the fields of their records.
_LITERARY = {
    "src_lang": "source_lang",
    "tgt_lang": "target_lang",
    "system_a": "text1_tag",
    "system_b": "text2_tag",
    "doc": "book",
    "preference": "choice",
    "screen": "eval",
    "source": "source",
    "reference": "target",
    "hypothesis_a": "text1",
    "hypothesis_b": "text2",
    "close": "difficult_choice",
    "changed": "added_omitted",
    "comment": "comment",
    "marks_a": "annotations.text1",
    "marks_b": "annotations.text2",
}
_CHANGED = {"NEITHER": "neither", "BOTH": "both", "TRANSLATION 1": "a", "TRANSLATION 2": "b"}


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
    group = kept.groupby(key, sort=False, observed=True, dropna=False).ngroup()
    rows = pd.DataFrame({"group": group, "row": kept.index, "system": kept["system"].astype("str")})
    rows["against"] = kept["against"].astype("str") if "against" in kept else None
    pairs = rows.merge(rows, on="group", suffixes=("", "_b")).query("row < row_b and system != system_b")
    if "against" in kept:
        pairs = pairs.query("against == system_b and system == against_b")
    if pairs.empty:
        raise DataError(
            f"No two translations of one segment were judged by one person ({', '.join(key)} alike), so the scores "
            "say nothing as comparisons. Let annotators judge several systems' translations of each segment."
        )
    found = _compared(*(kept.loc[pairs[side]].reset_index(drop=True) for side in ("row", "row_b")), tie=tie)
    found["screen"] = "screen " + (pairs["group"] + 1).astype("str").to_numpy()
    alone = len(kept) - len(np.union1d(pairs["row"], pairs["row_b"]))
    return provenance.like(schemas.check(found, schemas.COMPARISONS, origin="the scores"), ratings, alone=alone)


def of_screens(ratings: pd.DataFrame, *, tie: float = 0.0) -> pd.DataFrame:
    """Compare what stood on one screen, by the scores there; ``first`` is the one with the lower position.

    ratings: with ``hit`` and ``position`` (numbers, or left and right). tie: see ``of_scores``.
    """
    order = ratings["position"].replace({"left": 1, "right": 2}).astype(int)
    found = of_scores(ratings.iloc[np.argsort(order, kind="stable")], tie=tie)
    return found.assign(first="a")


def _compared(a: pd.DataFrame, b: pd.DataFrame, *, tie: float) -> pd.DataFrame:
    """Write two judgements of each row as a comparison, without its screen."""
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
    for name, outer in (("started", np.fmin), ("ended", np.fmax)):
        if name in a:
            found[name] = outer(a[name], b[name])
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
    raw = pd.read_csv(paths[0], header=0, names=["annotator", "criterion", "unit", "item", "choice"], dtype="str")
    overlapping = raw["item"].str.startswith("U-")
    frame = of_choices(raw[~overlapping], origin=paths[0].name)
    frame.attrs["excluded"] = {"comparisons of sentences from judged documents": int(overlapping.sum())}
    return frame


def of_choices(choices: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Write choices (annotator, criterion, unit, item, choice) between ``human`` and ``mt`` as comparisons."""
    frame = choices.assign(src_lang="zho", tgt_lang="eng", system_a="human", system_b="mt", first="unknown")
    preference = choices["choice"].map({"human": "a", "mt": "b", "tie": "tie"})
    frame = frame.assign(doc=choices["item"], segment=choices["item"], preference=preference)
    names = [name for name in schemas.COMPARISONS.columns if name in frame]
    return schemas.check(frame[[*names, "unit"]].reset_index(drop=True), schemas.COMPARISONS, origin=origin)


def literary(paths: list[Path]) -> pd.DataFrame:
    """Load preferences between two translations of a literary paragraph (2023): text 1, which stood first, is ``a``.

    The systems translate sentence by sentence (sent), with the paragraph before it (para_sent), as a paragraph (para),
    or are Google Translate (gtr); nobody could answer that they tie. ``close``: whether the choice was said to be
    difficult. ``changed``: which text adds or omits what changes the meaning (a, b, both, neither). ``marks_a``,
    ``marks_b``: how many stretches were marked. ``comment``: why, in words. ``doc`` is the book, ``segment`` the
    paragraph in it. The file does not name annotators: ``annotator`` is "unnamed", and who judged what cannot be told
    apart.
    """
    records = pd.json_normalize(json.loads(delimited.content(paths[0])))
    frame = records[[*_LITERARY.values()]].set_axis([*_LITERARY], axis=1)
    number = frame.groupby("doc")["source"].transform(lambda texts: pd.factorize(texts)[0])
    frame = frame.assign(
        src_lang=frame["src_lang"].map(languages.code),
        tgt_lang=frame["tgt_lang"].map(languages.code),
        segment=number + 1,
        annotator="unnamed",
        preference=frame["preference"].map({"text1": "a", "text2": "b"}),
        first="a",
        screen=frame["screen"].astype("str") + "/" + (frame.index + 1).astype("str"),
        close=frame["close"].str.startswith("YES"),
        changed=frame["changed"].str.extract(f"^({'|'.join(_CHANGED)})", expand=False).map(_CHANGED),
        marks_a=frame["marks_a"].map(len),
        marks_b=frame["marks_b"].map(len),
    )
    return schemas.check(frame, schemas.COMPARISONS, origin=paths[0].name, first_line=1)
