"""Load WMT24's error span annotation (ESA): scores with marked errors, degraded documents and clean repeats."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, schemas
from evalkit.data.provenance import like

#: The files have no header; these are their columns.
COLUMNS = [
    "annotator",
    "system",
    "segment",
    "type",
    "src_lang",
    "tgt_lang",
    "score",
    "doc",
    "isDoc",
    "spans",
    "started",
    "ended",
]
#: What the files call a severity, and what it is called here.
_SEVERITIES = {
    "minor": "minor",
    "major": "major",
    "critical": "critical",
    "neutral": "neutral",
    "undecided": schemas.UNSTATED,
}
_MISSING = "missing"  # stands for start and end where the translation lacks something
_SPAN_OF = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "item_type", "hit", "started", "mark"]
#: Errors as ``schemas.SPANS`` has them, and which showing of a translation they belong to: annotators see some again.
SPANS = schemas.SPANS.also(
    {name: schemas.RATINGS.columns[name] for name in ("item_type", "hit", "started")},
    key=["item_type", "hit", "started", "mark"],
)
_SHOWING = ["annotator", "src_lang", "tgt_lang", "system", "doc", "segment", "type"]


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load segment scores; where an annotator submitted a judgement again, the latest counts.

    item_type is ``degraded`` for items of type BAD, ``repeat`` for others in marked documents, else ``system`` or, for
    systems called ref..., ``reference``. Besides the schema's columns: ``mark`` (``bad``, ``dup`` or nothing; ``doc``
    is the document's name without it), ``copy`` (there is a mark), ``errors`` (how many spans were marked),
    ``position`` (the row's place in its HIT by time). ``hit`` is the account. Tutorial items and replaced submissions
    are left out and counted in ``attrs["excluded"]``. Raises DataError naming file, line and column.
    """
    frame = _read(paths)
    return frame.drop(columns=["spans", "place"]).assign(position=frame.groupby("hit").cumcount())


def spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per marked error of the judgements that ``ratings`` keeps, in the same order.

    ``item_type``, ``hit``, ``started`` and ``mark`` are the judgement's: with the schema's columns they tell the first
    showing of a translation from its copies. ``start`` and ``end`` count UTF-16 code units of the trimmed translation,
    as browsers do (a character beyond U+FFFF is two of them). The files give the last marked character; ``end`` is one
    more. What an annotator found missing has no place: its ``start`` and ``end`` are empty, its error_type is
    ``omission``; the rest is ``other``, unless the file names a type, as exports of MQM do ("accuracy/addition").
    ``suggested`` is there where a file has marks that were suggested, and left standing by the annotator.
    ``severity`` is ``minor``, ``major``, ``critical``, ``neutral``, or unstated where the file says "undecided": the
    stretch was marked and its severity never chosen.
    Rules: a span that ends before it starts, lies before the text, has one end only or a place that is no whole number,
    an unknown severity and broken JSON are refused with file and line. Overlapping spans, which the annotation tool
    does not allow to be drawn, are kept: ``mqm.overlapping`` finds them.
    Caveat: the files hold no texts, so nothing says what was marked, or that it does not lie beyond a text's end;
    ``mqm.check_spans`` tells that once texts are at hand.
    """
    return spans_of(_read(paths))


def spans_of(judged: pd.DataFrame) -> pd.DataFrame:
    """Turn judgements with lists of ``spans`` into a row per marked error."""
    counts = judged["errors"].to_numpy()
    place = judged[_SPAN_OF].loc[judged.index.repeat(counts)]
    number = place.groupby(level=0).cumcount().add(1).astype("str")
    marked = [_span(one, where) for cell, where in zip(judged["spans"], judged["place"], strict=True) for one in cell]
    table = pd.DataFrame(marked, columns=["error_type", "severity", "start", "end"])
    suggested = [_suggested(one) for cell in judged["spans"] for one in cell]
    if any(suggested):
        table["suggested"] = suggested
    table = pd.concat([place.assign(span=number).reset_index(drop=True), table.assign(side="target")], axis=1)
    table = schemas.check(table, SPANS, origin="the marked errors")
    return like(table, judged)


def of_rows(raw: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Turn rows under ``COLUMNS`` into ratings with lists of spans, replaced submissions left out.

    raw: text as ``delimited.table`` gives it; the index, the line of each row, is kept.
    """
    latest = _latest(raw)
    return _checked(latest, origin).set_axis(latest.index)


def errors_of(cell: str, place: str) -> list[tuple[str, str, float, float]]:
    """Read the errors of one judgement: type, severity, start and end of each. Raises DataError naming ``place``."""
    return [_span(one, place) for one in _marked(cell, place)]


def typed_errors(cells: Iterable[str]) -> tuple[int, int]:
    """Count the errors in lists of spans that name a type, as MQM's do, and all of them; broken lists have none.

    >>> typed_errors(['[{"error_type": ["Style", "Awkward"]}, {"error_type": null}]', "[", "[]"])
    (1, 2)
    """
    kinds = []
    for cell in cells:
        try:
            kinds += [_type(one) for one in _marked(cell, "") if isinstance(one, dict)]
        except DataError:
            continue
    return sum(map(bool, kinds)), len(kinds)


def _read(paths: list[Path]) -> pd.DataFrame:
    """Read the judgements that count in the order of their HITs, with the list of their spans and its ``place``."""
    parts, tutorial, replaced = [], 0, 0
    for path in paths:
        raw = delimited.table(delimited.content(path), origin=path.name, header=COLUMNS, delimiter=",")
        judged = raw[~raw["system"].str.contains("tutorial", na=False)]
        latest = _latest(judged)
        tutorial, replaced = tutorial + len(raw) - len(judged), replaced + len(judged) - len(latest)
        parts.append(_checked(latest, path.name))
    frame = pd.concat(parts).sort_values(["hit", "started"], kind="stable").reset_index(drop=True)
    frame.attrs["excluded"] = {"tutorial items": tutorial, "submissions that a later one replaced": replaced}
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
    place = [f"{origin}, line {line}" for line in latest.index]
    marked = pd.Series(map(_marked, latest["spans"], place), index=latest.index, dtype=object)
    named = latest["doc"].str.split("#")
    mark = named.map(lambda parts: "#".join(part for part in parts[1:] if part in ("bad", "dup")))
    human, bad = latest["system"].str.startswith("ref"), latest["type"].eq("BAD")
    kind = (
        pd.Series("system", index=latest.index)
        .mask(human, "reference")
        .mask(mark.ne(""), "repeat")
        .mask(bad, "degraded")
    )
    frame = latest.assign(item_type=kind, hit=latest["annotator"], copy=mark.ne(""), mark=mark)
    frame = frame.assign(errors=marked.map(len), spans=marked, place=place)
    frame = schemas.check(frame, schemas.RATINGS, origin=origin, scale=(0, 100))
    order = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "score", "item_type", "hit", "started", "ended"]
    return frame[[*order, "copy", "mark", "errors", "spans", "place"]].assign(doc=frame["doc"].str.split("#").str[0])


def _marked(cell: str, place: str) -> list:
    """Read the list of spans of one judgement."""
    try:
        if isinstance(found := json.loads(cell), list):
            return found
    except (TypeError, ValueError, RecursionError):
        pass
    raise DataError(f"{place}, column spans: {_short(cell)} is no list in JSON. Mend the row.")


def _span(one: dict, place: str) -> tuple[str, str, float, float]:
    """Read one span: error_type, severity, start, end."""
    if not isinstance(one, dict) or not {"start_i", "end_i", "severity"} <= set(one):
        raise DataError(f"{place}, column spans: {_short(one)} lacks start_i, end_i or severity. Mend the row.")
    start, end, severity = one["start_i"], one["end_i"], one["severity"]
    level = severity.strip().casefold() if isinstance(severity, str) else ""
    if level not in _SEVERITIES:
        known = ", ".join(_SEVERITIES)
        raise DataError(f"{place}, column spans: the severity {_short(severity)} is none of {known}. Correct it.")
    if start == end == _MISSING:
        return _type(one) or "omission", _SEVERITIES[level], np.nan, np.nan
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        raise DataError(
            f"{place}, column spans: {_short(start)} to {_short(end)} is no stretch of a text, which starts at 0 or "
            "later and does not end before it starts. Correct it, or drop the span."
        )
    return _type(one) or "other", _SEVERITIES[level], float(start), float(end + 1)


def _suggested(one: dict) -> bool:
    """Tell a mark that the task brought along from one that a person drew: Appraise notes a type, or none, on these.

    Source: what AppraiseDev/Appraise writes when a stretch is marked (direct-assessment-document-mqm-esa.js).
    """
    return "error_type" not in one


def _type(one: dict) -> str:
    """Read the type that an annotator gave an error, its parts cut by a slash; nothing where there is none."""
    kind = one.get("error_type")
    parts = kind if isinstance(kind, list) else [kind]
    return "/".join(" ".join(part.casefold().split()) for part in parts if isinstance(part, str) and part.strip())


def _short(value: object) -> str:
    """Print a value of a file for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
