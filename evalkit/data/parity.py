"""Load the preferences of Läubli et al. (2018): a machine's translation, a person's, or a tie."""

from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, schemas
from evalkit.data.compared import check
from evalkit.data.provenance import like

#: What the file calls the two systems, and what it calls neither.
SYSTEMS, TIE = ("human", "mt"), "tie"


def comparisons(paths: list[Path]) -> pd.DataFrame:
    """Load each comparison as two judgements, one of each system: 1 where it won, 0 where it lost, 0.5 in a tie.

    ``against`` is the other system of the comparison, ``choice`` what was answered (mt, human or tie), ``criterion``
    adequacy or fluency, and ``unit`` what was shown: a sentence or a document. Sentences U-1 to U-120 are left out, as
    the paper leaves them out, and counted in ``attrs["excluded"]``: they come from documents that were judged, too.
    Raises DataError for an answer that is none of the three, with file and line.
    """
    header = ["annotator", "criterion", "unit", "item", "choice"]
    raw = delimited.table(delimited.content(paths[0]), origin=paths[0].name).set_axis(header, axis=1)
    if len(wrong := raw.index[~raw["choice"].isin([*SYSTEMS, TIE])]):
        place = f"{paths[0].name}, line {wrong[0]}"
        raise DataError(f"{place}: the choice {raw['choice'][wrong[0]]!r} is none of mt, human, tie. Correct it.")
    overlapping = raw["item"].str.startswith("U-")
    frame = as_judgements(raw[~overlapping], origin=paths[0].name)
    frame.attrs["excluded"] = {"comparisons of sentences from judged documents": int(overlapping.sum())}
    return frame


def preferences(paths: list[Path]) -> pd.DataFrame:
    """Load each comparison as one row, ``a`` the person's translation and ``b`` the machine's, with its ``unit``.

    The file does not tell which stood first.
    """
    judged = comparisons(paths)
    return like(as_comparisons(judged, origin=paths[0].name), judged)


def as_comparisons(judged: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Write what ``as_judgements`` makes of a comparison as one row again."""
    own = judged[judged["system"].eq(SYSTEMS[0])]
    answer = own["choice"].map({SYSTEMS[0]: "a", SYSTEMS[1]: "b", TIE: "tie"})
    frame = own.assign(system_a=own["system"], system_b=own["against"], preference=answer, first="unknown")
    names = [name for name in schemas.COMPARISONS.columns if name in frame]
    return check(frame[[*names, "unit"]].reset_index(drop=True), origin=origin)


def as_judgements(compared: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Write each comparison (annotator, criterion, unit, item, choice) as a judgement of either system.

    >>> one = pd.DataFrame([("A", "fluency", "document", "E-1", "mt")],
    ...                    columns=["annotator", "criterion", "unit", "item", "choice"])
    >>> as_judgements(one, origin="a test")[["system", "against", "score"]].to_numpy().tolist()
    [['human', 'mt', 0.0], ['mt', 'human', 1.0]]
    """
    parts = []
    for own, other in (SYSTEMS, SYSTEMS[::-1]):
        score = compared["choice"].map({own: 1.0, other: 0.0, TIE: 0.5})
        kind = "reference" if own == "human" else "system"
        parts.append(compared.assign(system=own, against=other, score=score, item_type=kind))
    frame = pd.concat(parts).sort_index(kind="stable")
    frame = frame.assign(src_lang="zho", tgt_lang="eng", doc=frame["item"], segment=frame["item"])
    names = [name for name in schemas.RATINGS.columns if name in frame]
    return schemas.check(frame[[*names, "unit", "choice"]], schemas.RATINGS, origin=origin, scale=(0, 1))
