"""Load what the Appraise tool exports: calibration HITs, documents, sign language. ``protocols`` loads error spans."""

from pathlib import Path

import pandas as pd

from evalkit.data import schemas

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
_HEAD = ["annotator", "system", "segment", "type", "src_lang", "tgt_lang", "score", "doc", "isDoc", "started", "ended"]
_SHOWN = ["annotator", "src_lang", "tgt_lang", *schemas.ITEM]


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load calibration HITs: every segment score, the second showing of a segment as ``repeat``.

    paths: the rows, then the header.
    ``hit`` is the account, ``doc`` the snippet, ``segment`` the 0-based item. Scores given to whole documents are left
    out and counted in ``attrs["excluded"]``. Which showing came second is told by ``started``.
    """
    return with_repeats(_of_segments(_headed(paths), {"TGT": "calibration"}, origin=paths[0].name))


def sign_language(paths: list[Path]) -> pd.DataFrame:
    """Load WMT-SLT's segment scores; a second showing to the same account is a ``repeat``, people's a ``reference``.

    ``annotator`` and ``hit`` are the account; one person has several. Scores of whole documents are left out
    and counted in ``attrs["excluded"]``.
    """
    raw = _rows(paths[0], _HEAD)
    frame = _of_segments(raw, {"TGT": "system"}, origin=paths[0].name)
    human = frame["system"].str.startswith("translator") & frame["item_type"].eq("system")
    return with_repeats(frame.assign(item_type=frame["item_type"].mask(human, "reference")))


def documents(paths: list[Path]) -> pd.DataFrame:
    """Load document-level ratings with quality control: segment scores, told apart into originals and copies.

    paths: the rows, then the header. Besides the schema's columns: ``copy`` (the row belongs to a quality-control copy,
    a showing of the snippet with degraded segments in it) and ``position``, its place in the HIT by time. ``item_type``
    is ``degraded`` for BAD segments, ``repeat`` for unchanged segments of a copy, else ``system``. ``doc`` is the
    snippet; where an account saw a snippet twice, showings are told apart by the mark ``#bad`` in its name or, without
    one, by where the segments, in the order of time, start anew. Scores given to whole documents, and showings whose
    segments were not scored in order (as in Knowles & Lo 2024, section 5.2), are left out and counted in
    ``attrs["excluded"]``.
    """
    frame = _of_segments(_headed(paths), {"TGT": "system", "BAD": "degraded"}, origin=paths[0].name)
    excluded = frame.attrs["excluded"]
    frame, unordered = with_copies(frame)
    frame.attrs["excluded"] = excluded | {"segment scores of snippets scored out of order": unordered}
    return frame


def mapping(paths: list[Path]) -> pd.DataFrame:
    """Load who did which additional HIT: ``hit`` is its account, ``annotator`` theirs in the calibration HITs."""
    raw = _headed(paths)[["annotator", "calibrationHIT"]].set_axis(["hit", "annotator"], axis=1)
    return schemas.check(raw, schemas.HITS, origin=paths[0].name)


def with_repeats(frame: pd.DataFrame) -> pd.DataFrame:
    """Call a segment's later showings to the same annotator, told by ``started``, repeats."""
    showing = frame.sort_values("started", kind="stable").groupby(_SHOWN, sort=False).cumcount()
    return frame.assign(item_type=frame["item_type"].mask(showing.reindex(frame.index) > 0, "repeat"))


def with_copies(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Add ``copy`` and ``position`` as ``documents`` tells them; return the rows kept and the number left out."""
    frame = frame.sort_values(["hit", "started"], kind="stable", ignore_index=True)
    snippet = ["hit", "src_lang", "tgt_lang", "system", "doc"]
    number = pd.to_numeric(frame["segment"], errors="coerce")
    back = number.groupby([frame[name] for name in snippet]).diff() <= 0
    run = back.groupby([frame[name] for name in snippet]).cumsum()
    copy = frame["item_type"].eq("degraded").groupby([*(frame[name] for name in snippet), run]).transform("any")
    bare = frame["doc"].str.removesuffix("#bad")
    frame = frame.assign(copy=copy | bare.ne(frame["doc"]), doc=bare)
    runs = run.groupby([frame[name] for name in (*snippet, "copy")]).transform("nunique")
    in_order = runs == 1  # more than one: somebody went back
    frame = frame[in_order].reset_index(drop=True)
    frame.loc[frame["copy"] & frame["item_type"].eq("system"), "item_type"] = "repeat"
    return frame.assign(position=frame.groupby("hit").cumcount()), int((~in_order).sum())


def _headed(paths: list[Path]) -> pd.DataFrame:
    """Read rows under the names that the header file gives their columns, in our words."""
    header = paths[1].read_text(encoding="utf-8-sig").strip().split(",")
    ours = {theirs: name for name, theirs in COLUMNS.items()} | {"itemType": "type", "isDocScore": "isDoc"}
    return _rows(paths[0], [ours.get(name, name) for name in header])


def _rows(path: Path, header: list[str]) -> pd.DataFrame:
    """Read a file without a header as text; empty cells are missing."""
    return pd.read_csv(path, names=header, dtype="str", keep_default_na=False, na_values=[""], index_col=False)


def _of_segments(raw: pd.DataFrame, kinds: dict[str, str], *, origin: str) -> pd.DataFrame:
    """Turn Appraise's rows into ratings of segments; scores of whole documents are left out, and counted.

    kinds: our item_type for the files' types.
    """
    whole = raw["isDoc"].eq("True")
    frame = raw[~whole].assign(hit=raw["annotator"], item_type=raw["type"].replace(kinds))
    frame = frame[[name for name in schemas.RATINGS.columns if name in frame]]
    frame = schemas.check(frame, schemas.RATINGS, origin=origin, scale=(0, 100))
    frame.attrs["excluded"] = {"document scores": int(whole.sum())}
    return frame
