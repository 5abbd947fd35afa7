"""Load what the Appraise tool exports: calibration HITs, documents, sign language, and error span annotation (ESA)."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.provenance import like

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
_HEAD = ["annotator", "system", "segment", "type", "src_lang", "tgt_lang", "score", "doc", "isDoc"]
_TAIL = ["started", "ended"]
#: The columns of exports of ESA, which have no header.
ESA_COLUMNS = [*_HEAD, "spans", *_TAIL]
#: What the files call a severity, and what it is called here.
_SEVERITIES = {name: name for name in ("minor", "major", "critical", "neutral")} | {"undecided": schemas.UNSTATED}
_MISSING = "missing"  # stands for start and end where the translation lacks something
_SHOWN = ["annotator", "src_lang", "tgt_lang", *schemas.ITEM]
_SPAN_OF = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "item_type", "hit", "started", "mark"]
#: Errors as ``schemas.SPANS`` has them, and which showing of a translation they belong to: annotators see some again.
ESA_SPANS = schemas.SPANS.also(
    {name: schemas.RATINGS.columns[name] for name in ("item_type", "hit", "started")},
    key=["item_type", "hit", "started", "mark"],
)


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
    raw = _rows(paths[0], [*_HEAD, *_TAIL])
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


def esa(paths: list[Path]) -> pd.DataFrame:
    """Load WMT24's segment scores of ESA; where an annotator submitted a judgement again, the latest counts.

    item_type is ``degraded`` for items of type BAD, ``repeat`` for others in marked documents, else ``system`` or, for
    systems called ref..., ``reference``. Besides the schema's columns: ``mark`` (``bad``, ``dup`` or nothing; ``doc``
    is the document's name without it), ``copy`` (there is a mark), ``errors`` (how many spans were marked),
    ``position`` (the row's place in its HIT by time). ``hit`` is the account. Tutorial items and replaced submissions
    are left out and counted in ``attrs["excluded"]``.
    """
    frame = _waves(paths)
    return frame.drop(columns="spans").assign(position=frame.groupby("hit").cumcount())


def esa_spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per marked error of the judgements that ``esa`` keeps, in the same order.

    ``item_type``, ``hit``, ``started`` and ``mark`` are the judgement's: with the schema's columns they tell the first
    showing of a translation from its copies. ``start`` and ``end`` count UTF-16 code units of the trimmed translation,
    as browsers do (a character beyond U+FFFF is two of them). The files give the last marked character; ``end`` is one
    more. What an annotator found missing has no place: its ``start`` and ``end`` are empty, its error_type is
    ``omission``; the rest is ``other``, unless the file names a type, as exports of MQM do ("accuracy/addition").
    ``suggested`` is there where a file has marks that were suggested, and left standing by the annotator.
    ``severity`` is ``minor``, ``major``, ``critical``, ``neutral``, or unstated where the file says "undecided": the
    stretch was marked and its severity never chosen. Overlapping spans, which the annotation tool does not allow to be
    drawn, are kept.
    Caveat: the files hold no texts, so nothing says what was marked, or that it does not lie beyond a text's end.
    """
    return spans_of(_waves(paths))


def spans_of(judged: pd.DataFrame) -> pd.DataFrame:
    """Turn judgements with lists of ``spans`` into a row per marked error."""
    place = judged[_SPAN_OF].loc[judged.index.repeat(judged["errors"].to_numpy())]
    number = place.groupby(level=0).cumcount().add(1).astype("str")
    marked = [one for spans in judged["spans"] for one in spans]
    table = pd.DataFrame(map(_span, marked), columns=["error_type", "severity", "start", "end"])
    # Appraise notes a type, or none, on what a person draws, and nothing on what the task brought along
    # (AppraiseDev/Appraise, direct-assessment-document-mqm-esa.js).
    suggested = ["error_type" not in one for one in marked]
    if any(suggested):
        table["suggested"] = suggested
    table = pd.concat([place.assign(span=number).reset_index(drop=True), table.assign(side="target")], axis=1)
    return like(schemas.check(table, ESA_SPANS, origin="the marked errors"), judged)


def of_rows(raw: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Turn rows under ``ESA_COLUMNS`` into ratings with lists of spans, replaced submissions left out.

    raw: text as ``delimited.table`` gives it, ``type`` TGT or BAD; the index, the line of each row, is kept.
    """
    order = pd.to_numeric(raw["ended"], errors="coerce").sort_values(kind="stable").index
    latest = raw.loc[order].drop_duplicates([*_SHOWN, "type"], keep="last").sort_index()
    marks = latest["doc"].str.split("#").str[1:]
    mark = marks.map(lambda parts: "#".join(part for part in parts if part in ("bad", "dup")))
    kind = pd.Series("system", index=latest.index).mask(latest["system"].str.startswith("ref"), "reference")
    kind = kind.mask(mark.ne(""), "repeat").mask(latest["type"].eq("BAD"), "degraded")
    spans = pd.Series(map(_marked, latest["spans"]), index=latest.index, dtype=object)
    frame = latest.assign(item_type=kind, hit=latest["annotator"], copy=mark.ne(""), mark=mark)
    frame = schemas.check(
        frame.assign(errors=spans.map(len), spans=spans), schemas.RATINGS, origin=origin, scale=(0, 100)
    )
    order = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "score", "item_type", "hit", "started", "ended"]
    frame = frame[[*order, "copy", "mark", "errors", "spans"]].assign(doc=frame["doc"].str.split("#").str[0])
    return frame.set_axis(latest.index)


def errors_of(cell: str) -> list[tuple[str, str, float, float]]:
    """Read the errors of one judgement: type, severity, start and end of each. Raises DataError for what is none."""
    return [_span(one) for one in _marked(cell)]


def typed_errors(cells: Iterable[str]) -> tuple[int, int]:
    """Count the errors in lists of spans that name a type, as MQM's do, and all of them; broken lists have none.

    >>> typed_errors(['[{"error_type": ["Style", "Awkward"]}, {"error_type": null}]', "[", "[]"])
    (1, 2)
    """
    kinds = []
    for cell in cells:
        try:
            kinds += [_type(one) for one in _marked(cell) if isinstance(one, dict)]
        except DataError:
            continue
    return sum(map(bool, kinds)), len(kinds)


def _waves(paths: list[Path]) -> pd.DataFrame:
    """Read the judgements of ESA that count in the order of their HITs, with the list of their spans."""
    parts, tutorial, replaced = [], 0, 0
    for path in paths:
        raw = _rows(path, ESA_COLUMNS)
        judged = raw[~raw["system"].str.contains("tutorial", na=False)]
        parts.append(of_rows(judged, origin=path.name))
        tutorial, replaced = tutorial + len(raw) - len(judged), replaced + len(judged) - len(parts[-1])
    frame = pd.concat(parts).sort_values(["hit", "started"], kind="stable").reset_index(drop=True)
    frame.attrs["excluded"] = {"tutorial items": tutorial, "submissions that a later one replaced": replaced}
    return frame


def _marked(cell: str) -> list:
    """Read the list of spans of one judgement."""
    try:
        if isinstance(found := json.loads(cell), list):
            return found
    except (TypeError, ValueError, RecursionError):
        pass
    raise DataError(f"{cell!r:.60} is no list in JSON. Mend the row.")


def _span(one: dict) -> tuple[str, str, float, float]:
    """Read one span: error_type, severity, start, end."""
    if not isinstance(one, dict) or not {"start_i", "end_i", "severity"} <= set(one):
        raise DataError(f"{one!r:.60} lacks start_i, end_i or severity. Mend the row.")
    start, end, severity = one["start_i"], one["end_i"], one["severity"]
    level = severity.strip().casefold() if isinstance(severity, str) else ""
    if level not in _SEVERITIES:
        known = ", ".join(_SEVERITIES)
        raise DataError(f"the severity {severity!r:.60} is none of {known}. Correct it.")
    if start == end == _MISSING:
        return _type(one) or "omission", _SEVERITIES[level], np.nan, np.nan
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        raise DataError(
            f"{start!r:.60} to {end!r:.60} is no stretch of a text, which starts at 0 or later and does not end before "
            "it starts. Correct it, or drop the span."
        )
    return _type(one) or "other", _SEVERITIES[level], float(start), float(end + 1)


def _type(one: dict) -> str:
    """Read the type that an annotator gave an error, its parts cut by a slash; nothing where there is none."""
    kind = one.get("error_type")
    parts = kind if isinstance(kind, list) else [kind]
    return "/".join(" ".join(part.casefold().split()) for part in parts if isinstance(part, str) and part.strip())
