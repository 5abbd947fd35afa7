"""Load what the Appraise tool exports: one judgement a row, the header in a file of its own."""

from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, schemas

#: Our name for each of Appraise's columns.
COLUMNS = {
    "src_lang": "srcLang",
    "tgt_lang": "trgLang",
    "system": "system",
    "doc": "docId",
    "segment": "itemId",
    "annotator": "username",
    "score": "score",
    "item_type": "itemType",
    "started": "timeStart",
    "ended": "timeEnd",
}
_SHOWN = ["annotator", "src_lang", "tgt_lang", *schemas.ITEM]


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load calibration HITs: every segment score, the second showing of a segment as ``repeat``.

    paths: the rows, then the header.
    ``hit`` is the account, ``doc`` the snippet, ``segment`` the 0-based item. Scores given to whole documents are left
    out and counted in ``attrs["excluded"]``. Which showing came second is told by ``started``.
    """
    raw, origin = _read(paths, [*COLUMNS.values(), "isDocScore"])
    whole = _document_scores(raw, origin)
    frame = raw.loc[~whole, list(COLUMNS.values())].set_axis(list(COLUMNS), axis=1)
    frame["item_type"] = frame["item_type"].replace({"TGT": "calibration"})
    frame = frame.assign(hit=frame["annotator"])[[*list(COLUMNS)[:8], "hit", "started", "ended"]]
    frame = schemas.check(frame, schemas.RATINGS, origin=origin, scale=(0, 100))
    frame = with_repeats(frame)
    frame.attrs["excluded"] = {"document scores": int(whole.sum())}
    return frame


def with_repeats(frame: pd.DataFrame) -> pd.DataFrame:
    """Call a segment's later showings to the same annotator, told by ``started``, repeats."""
    showing = frame.sort_values("started", kind="stable").groupby(_SHOWN, sort=False).cumcount()
    return frame.assign(item_type=frame["item_type"].mask(showing.reindex(frame.index) > 0, "repeat"))


def documents(paths: list[Path]) -> pd.DataFrame:
    """Load document-level ratings with quality control: segment scores, told apart into originals and copies.

    paths: the rows, then the header. Besides the schema's columns: ``copy`` (the row belongs to a quality-control copy,
    a showing of the snippet with degraded segments in it) and ``position``, its place in the HIT by time. ``item_type``
    is ``degraded`` for BAD segments, ``repeat`` for unchanged segments of a copy, else ``system``. ``doc`` is the
    snippet; where an account saw a snippet twice, showings are told apart by the mark ``#bad`` in its name or, without
    one, by where the segments, in the order of time, start anew. Scores given to whole documents, and showings whose
    segments were not scored in order (as in Knowles & Lo 2024, section 5.2), are left out and counted in
    ``attrs["excluded"]``. Raises DataError for unknown item types.
    """
    raw, origin = _read(paths, [*COLUMNS.values(), "isDocScore"])
    whole = _document_scores(raw, origin)
    frame = raw.loc[~whole, list(COLUMNS.values())].set_axis(list(COLUMNS), axis=1)
    unknown = frame.index[~frame["item_type"].isin(["TGT", "BAD"])]
    if len(unknown):
        value = frame["item_type"][unknown[0]]
        raise DataError(f"{origin}, line {unknown[0]}, column itemType: {value!r} is neither TGT nor BAD. Correct it.")
    frame["item_type"] = frame["item_type"].replace({"TGT": "system", "BAD": "degraded"})
    frame = frame.assign(hit=frame["annotator"])[[*list(COLUMNS)[:8], "hit", "started", "ended"]]
    frame = schemas.check(frame, schemas.RATINGS, origin=origin, scale=(0, 100))
    frame, unordered = with_copies(frame)
    frame.attrs["excluded"] = {
        "document scores": int(whole.sum()),
        "segment scores of snippets scored out of order": unordered,
    }
    return frame


def with_copies(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Add ``copy`` and ``position`` as ``documents`` tells them; return the rows kept and the number left out."""
    frame, unordered = _showings(frame.sort_values(["hit", "started"], kind="stable", ignore_index=True))
    frame.loc[frame["copy"] & frame["item_type"].eq("system"), "item_type"] = "repeat"
    frame["position"] = frame.groupby("hit").cumcount()
    return frame, unordered


def _showings(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Find the quality-control copies among the showings of each snippet, without those scored out of order.

    frame: ordered by HIT and time. Returns the rows kept, with ``copy``, and the number of rows left out.
    """
    snippet = ["hit", "src_lang", "tgt_lang", "system", "doc"]
    number = pd.to_numeric(frame["segment"], errors="coerce")
    back = number.groupby([frame[name] for name in snippet]).diff() <= 0
    run = back.groupby([frame[name] for name in snippet]).cumsum()
    showing = [*(frame[name] for name in snippet), run]
    copy = frame["item_type"].eq("degraded").groupby(showing).transform("any")
    bare = frame["doc"].str.removesuffix("#bad")
    copy |= bare.ne(frame["doc"])
    frame = frame.assign(copy=copy, doc=bare)
    shown = [*snippet, "copy"]
    runs = run.groupby([frame[name] for name in shown]).transform("nunique")  # more than one: somebody went back
    return frame[runs == 1].reset_index(drop=True), int((runs > 1).sum())


def _document_scores(raw: pd.DataFrame, origin: str) -> pd.Series:
    """Tell which rows are scores of whole documents."""
    unclear = ~raw["isDocScore"].isin(["True", "False"])
    if unclear.any():
        line = raw.index[unclear][0]
        raise DataError(f"{origin}, line {line}, column isDocScore: neither True nor False. Correct it.")
    return raw["isDocScore"].eq("True")


def mapping(paths: list[Path]) -> pd.DataFrame:
    """Load who did which additional HIT: ``hit`` is its account, ``annotator`` theirs in the calibration HITs."""
    names = {"hit": "username", "annotator": "calibrationHIT"}
    raw, origin = _read(paths, list(names.values()))
    return schemas.check(raw[list(names.values())].set_axis(list(names), axis=1), schemas.HITS, origin=origin)


def _read(paths: list[Path], needed: list[str]) -> tuple[pd.DataFrame, str]:
    """Read the rows under the names that the header file gives their columns."""
    rows, header = paths
    names = delimited.table(delimited.content(header), origin=header.name).columns.tolist()
    if missing := [name for name in needed if name not in names]:
        raise DataError(
            f"{header.name} does not name {', '.join(missing)}; it names {', '.join(names)}. Get both again."
        )
    return delimited.table(delimited.content(rows), origin=rows.name, header=names, delimiter=","), rows.name
