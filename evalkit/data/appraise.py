"""Load what the Appraise tool exports: one judgement a row, the header in a file of its own."""

from pathlib import Path

import pandas as pd

from evalkit import DataError, schemas
from evalkit.data import delimited

#: Our name for each of Appraise's columns.
COLUMNS = {
    "src_lang": "srcLang", "tgt_lang": "trgLang", "system": "system", "doc": "docId", "segment": "itemId",
    "annotator": "username", "score": "score", "item_type": "itemType", "started": "timeStart", "ended": "timeEnd",
}  # fmt: skip
_SHOWN = ["annotator", "src_lang", "tgt_lang", *schemas.ITEM]


def ratings(paths: list[Path], *, columns: dict[str, str] | None = None) -> pd.DataFrame:
    """Load calibration HITs: every segment score, the second showing of a segment as ``repeat``.

    paths: the rows, then the header. columns: our name -> the file's, where they differ from Appraise's.
    ``hit`` is the account, ``doc`` the snippet, ``segment`` the 0-based item. Scores given to whole documents are left
    out and counted in ``attrs["left_out"]``. Which showing came second is told by ``started``.
    """
    names = COLUMNS | (columns or {})
    raw, origin = _read(paths, [*names.values(), "isDocScore"])
    unclear = ~raw["isDocScore"].isin(["True", "False"])
    if unclear.any():
        line = raw.index[unclear][0]
        raise DataError(f"{origin}, line {line}, column isDocScore: neither True nor False. Correct it.")
    documents = raw["isDocScore"].eq("True")
    frame = raw.loc[~documents, list(names.values())].set_axis(list(names), axis=1)
    frame["item_type"] = frame["item_type"].replace({"TGT": "calibration"})
    frame = frame.assign(hit=frame["annotator"])[[*list(COLUMNS)[:8], "hit", "started", "ended"]]
    frame = schemas.check(frame, schemas.RATINGS, origin=origin, scale=(0, 100))
    showing = frame.sort_values("started", kind="stable").groupby(_SHOWN, sort=False).cumcount()
    frame.loc[showing.reindex(frame.index) > 0, "item_type"] = "repeat"
    frame.attrs["left_out"] = {"document scores": int(documents.sum())}
    return frame


def mapping(paths: list[Path], *, columns: dict[str, str] | None = None) -> pd.DataFrame:
    """Load who did which additional HIT: ``hit`` is its account, ``annotator`` theirs in the calibration HITs."""
    names = {"hit": "username", "annotator": "calibrationHIT"} | (columns or {})
    raw, origin = _read(paths, list(names.values()))
    return schemas.check(raw[list(names.values())].set_axis(list(names), axis=1), schemas.HITS, origin=origin)


def _read(paths: list[Path], needed: list[str]) -> tuple[pd.DataFrame, str]:
    """Read the rows under the names that the header file gives their columns."""
    rows, header = paths
    names = delimited.table(delimited.content(header), origin=header.name).columns.tolist()
    if missing := [name for name in needed if name not in names]:
        raise DataError(
            f"{header.name} does not name {', '.join(missing)}; it names {', '.join(names)}. Pass columns=."
        )
    return delimited.table(delimited.content(rows), origin=rows.name, header=names, delimiter=","), rows.name
