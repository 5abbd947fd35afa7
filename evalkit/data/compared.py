"""Comparisons of two translations: made of judgements, and those of two papers.

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
    named = kept.astype({name: "str" for name in ("system", "against") if name in kept})
    rows = named.assign(screen=group, row=kept.index)
    found = rows.merge(rows, on="screen", suffixes=("_a", "_b")).query("row_a < row_b and system_a != system_b")
    if "against" in kept:
        found = found.query("against_a == system_b and system_a == against_b")
    if found.empty:
        alike = f"No two translations of one segment were judged by one person ({', '.join(key)} alike)"
        raise DataError(f"{alike}. Let annotators judge several systems' translations of each segment.")
    lead, gap = found["score_a"] - found["score_b"], pd.Series(0.0, found.index)
    if "screen_place" in kept:
        gap = found["screen_place_a"] - found["screen_place_b"]
    found = found.assign(
        preference=np.select([lead.abs() <= tie + _ROUNDING, lead > 0], ["tie", "a"], "b"),
        first=np.select([gap < 0, gap > 0], ["a", "b"], "unknown"),
        screen="screen " + (found["screen"] + 1).astype("str"),
    )
    alone = len(kept) - len(np.union1d(found["row_a"], found["row_b"]))
    found = found.rename(columns={f"{name}_a": name for name in TOGETHER})
    columns = [name for name in schemas.COMPARISONS.columns if name in found]
    found = schemas.check(found[columns], schemas.COMPARISONS, origin="the scores")
    return provenance.like(found, ratings, alone=alone)


def of_screens(ratings: pd.DataFrame) -> pd.DataFrame:
    """Compare what stood on one screen, by the scores there; ``first`` is the one with the lower position.

    ratings: with ``hit`` and ``position`` (numbers, or left and right).
    """
    order = ratings["position"].replace({"left": 1, "right": 2}).astype(int)
    return of_scores(ratings.assign(screen_place=order).sort_values("screen_place", kind="stable"))


def parity_preferences(paths: list[Path]) -> pd.DataFrame:
    """Load the preferences of Läubli et al. (2018), ``a`` being the person's translation and ``b`` the machine's.

    ``criterion``: adequacy or fluency. ``unit``: what was shown, a sentence or a document. The file does not tell which
    stood first. Sentences U-1 to U-120 are left out, as the paper leaves them out, and counted in
    ``attrs["excluded"]``: they come from documents that were judged, too.
    """
    names = ["annotator", "criterion", "unit", "segment", "preference"]
    raw = pd.read_csv(paths[0], header=0, names=names, dtype="str")
    overlapping = raw["segment"].str.startswith("U-")
    kept = raw[~overlapping].replace({"preference": {"human": "a", "mt": "b"}})
    systems = {"src_lang": "zho", "tgt_lang": "eng", "system_a": "human", "system_b": "mt"}
    frame = kept.assign(**systems, doc=kept["segment"], first="unknown")
    frame = schemas.check(frame.reset_index(drop=True), schemas.COMPARISONS, origin=paths[0].name)
    frame.attrs["excluded"] = {"comparisons of sentences from judged documents": int(overlapping.sum())}
    return frame


def literary(paths: list[Path]) -> pd.DataFrame:
    """Load preferences between two translations of a literary paragraph (2023): text 1, which stood first, is ``a``.

    The systems translate sentence by sentence (sent), with the paragraph before it (para_sent), as a paragraph (para),
    or are Google Translate (gtr); nobody could answer that they tie. ``close``: whether the choice was said to be
    difficult. ``marks_a``, ``marks_b``: how many stretches were marked. ``doc`` is the book, ``segment`` the paragraph
    in it. The file does not name annotators: ``annotator`` is "unnamed", and who judged what cannot be told apart.
    """
    told = pd.json_normalize(json.loads(delimited.content(paths[0])))
    number = told.groupby("book")["source"].transform(lambda texts: pd.factorize(texts)[0])
    frame = pd.DataFrame(
        {
            "src_lang": told["source_lang"].map(languages.code),
            "tgt_lang": told["target_lang"].map(languages.code),
            "system_a": told["text1_tag"],
            "system_b": told["text2_tag"],
            "doc": told["book"],
            "segment": number + 1,
            "annotator": "unnamed",
            "preference": told["choice"].map({"text1": "a", "text2": "b"}),
            "first": "a",
            "screen": told["eval"].astype("str") + "/" + (told.index + 1).astype("str"),
            "close": told["difficult_choice"].str.startswith("YES"),
            "marks_a": told["annotations.text1"].map(len),
            "marks_b": told["annotations.text2"].map(len),
        }
    )
    return schemas.check(frame, schemas.COMPARISONS, origin=paths[0].name, first_line=1)
