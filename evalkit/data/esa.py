"""Load WMT24's error span annotation (ESA): scores with marked errors, degraded documents and clean repeats."""

import json
from pathlib import Path

import pandas as pd

from evalkit import DataError, schemas
from evalkit.data import delimited

#: The files have no header; these are their columns.
COLUMNS = [
    "annotator", "system", "segment", "type", "src_lang", "tgt_lang", "score", "doc", "isDoc", "spans", "started",
    "ended",
]  # fmt: skip
_SHOWING = ["annotator", "src_lang", "tgt_lang", "system", "doc", "segment", "type"]


def ratings(paths: list[Path], *, columns: dict[str, str] | None = None) -> pd.DataFrame:
    """Load segment scores; where an annotator submitted a judgement again, the latest counts.

    item_type is ``degraded`` for items of type BAD, ``repeat`` for others in marked documents, else ``system`` or, for
    systems called ref..., ``reference``. Besides the schema's columns: ``mark`` (``bad``, ``dup`` or nothing; ``doc``
    is the document's name without it), ``copy`` (there is a mark), ``errors`` (how many spans were marked),
    ``position`` (the row's place in its HIT by time). ``hit`` is the account. Tutorial items and replaced submissions
    are left out and counted in ``attrs["left_out"]``. Raises DataError naming file, line and column.
    """
    del columns  # the format has no names to map
    parts, tutorial, replaced = [], 0, 0
    for path in paths:
        raw = delimited.table(delimited.content(path), origin=path.name, header=COLUMNS, delimiter=",")
        judged = raw[~raw["system"].str.contains("tutorial", na=False)]
        latest = _latest(judged)
        tutorial, replaced = tutorial + len(raw) - len(judged), replaced + len(judged) - len(latest)
        parts.append(_checked(latest, path.name))
    frame = pd.concat(parts).sort_values(["hit", "started"], kind="stable").reset_index(drop=True)
    frame = frame.assign(position=frame.groupby("hit").cumcount())
    frame.attrs["left_out"] = {"tutorial items": tutorial, "submissions that a later one replaced": replaced}
    return frame


def _latest(judged: pd.DataFrame) -> pd.DataFrame:
    """Keep the last submission of each showing, in the order of the file."""
    times = pd.to_numeric(judged["ended"], errors="coerce")
    order = times.sort_values(kind="stable").index
    return judged.loc[order].drop_duplicates(_SHOWING, keep="last").sort_index()


def _checked(latest: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Validate one wave line by line, then tell originals, degraded documents and repeats apart."""
    unknown = latest.index[~latest["type"].isin(["TGT", "BAD"])]
    if len(unknown):
        value = latest["type"][unknown[0]]
        raise DataError(f"{origin}, line {unknown[0]}, column type: {value!r} is neither TGT nor BAD. Correct it.")
    errors = [_spans(cell, f"{origin}, line {line}") for line, cell in latest["spans"].items()]
    named = latest["doc"].str.split("#")
    mark = named.map(lambda parts: "#".join(part for part in parts[1:] if part in ("bad", "dup")))
    human, bad = latest["system"].str.startswith("ref"), latest["type"].eq("BAD")
    kind = (
        pd.Series("system", index=latest.index)
        .mask(human, "reference")
        .mask(mark.ne(""), "repeat")
        .mask(bad, "degraded")
    )
    frame = latest.assign(item_type=kind, hit=latest["annotator"], copy=mark.ne(""), mark=mark, errors=errors)
    frame = schemas.check(frame, schemas.RATINGS, origin=origin, scale=(0, 100))
    order = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "score", "item_type", "hit", "started", "ended"]
    return frame[[*order, "copy", "mark", "errors"]].assign(doc=frame["doc"].str.split("#").str[0])


def _spans(cell: str, place: str) -> int:
    """Count the marked spans of one judgement."""
    try:
        return len(json.loads(cell))
    except (TypeError, ValueError) as problem:
        raise DataError(f"{place}, column spans: {cell!r} is no list in JSON. Mend the row.") from problem
