"""Import what the Appraise tool exports, with or without a header: direct assessment, documents, error spans (ESA)."""

import re
from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import appraise, esa, schemas
from evalkit.data.importing import columns
from evalkit.data.importing.formats import Format, Head, Match, ordered
from evalkit.data.importing.judgements import ITEM_TYPES, Converted, converted, human
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import EXCLUDED, Rejecting, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.importing.rows import Rows

_START = ["username", "system", "itemId", "itemType", "srcLang", "trgLang", "score"]
_END = ["timeStart", "timeEnd"]
#: The columns of exports without a header, by their number: segments alone, segments of documents, error spans.
LAYOUTS = {
    9: [*_START, *_END],
    11: [*_START, "docId", "isDocScore", *_END],
    12: [*_START, "docId", "isDocScore", "spans", *_END],
}
_NAMES = appraise.COLUMNS
_KINDS = {"tgt", "bad", "ref", "chk"}
_NUMBER = re.compile(r"-?\d+([.,]\d+)?([eE][+-]?\d+)?")
_ORDER = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "score", "item_type", "hit", "started", "ended"]
_SCALE = (0.0, 100.0)


def _match(head: Head, options: Options, *, spans: bool) -> Match:
    """Fits where the headings are Appraise's, or rows without headings read like its rows. spans: as in ESA."""
    if bare := _headless(head, (12,) if spans else (9, 11)):
        why = "12 cells without a header, the tenth a list of spans"
        why = why if spans else f"{len(bare)} cells without a header, as Appraise writes them"
        return Match(0.98, "", bare, 0, f"by its rows: {why}")
    names = {columns.plain(name) for name in head.header}
    wanted = [*_START, "spans"] if spans else _START
    lacks = [name for name in wanted if columns.plain(name) not in names]
    if not spans and "spans" in names:
        lacks.append("spans left out (those belong to esa)")
    best = 0.97 if spans else 0.95
    return Match(best * (1 - len(lacks) / len(wanted)), ", ".join(lacks), head.header, head.line, "by its headings")


def _headless(head: Head, widths: tuple[int, ...]) -> list[str] | None:
    """Return the names of the columns where nearly all rows read like Appraise's, and none is a heading."""
    if not head.rows or not _is_row(head.rows[0][1]):
        return None
    rows = [cells for _, cells in head.rows]
    good = [cells for cells in rows if _is_row(cells) and len(cells) in widths]
    return LAYOUTS[len(good[0])] if len(good) >= 0.8 * len(rows) and len({*map(len, good)}) == 1 else None


def _is_row(cells: list[str]) -> bool:
    """Tell whether cells read like a row of Appraise's."""
    cells = [cell.strip() for cell in cells]
    return (
        len(cells) in LAYOUTS
        and cells[3].casefold() in _KINDS
        and all(re.fullmatch(r"[A-Za-z]{2,3}([-_]\w+)?", cell) for cell in cells[4:6])
        and all(_NUMBER.fullmatch(cell) for cell in (cells[6], *cells[-2:]))
        and (len(cells) == 9 or cells[8] in ("True", "False"))
        and (len(cells) < 12 or cells[9].startswith("["))
    )


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read an export; its judgements hang on each other, because items are shown again."""
    names, values = _columns(head, match, options)
    present = {columns.plain(name): name for name in match.header}
    spans = present.get("spans")
    report.mapping |= {ours: {"theirs": name, "how": "layout"} for ours, name in names.items()}
    frame = options.looks.alike(rows.frame, names)
    reject = Rejecting(frame, names.get("annotator"))
    _reject_others(frame, names, present.get("isdocscore"), reject)
    scale = options.scale or _SCALE
    found = converted(frame[reject.kept], names, values, options, scale=scale, note=report.note)
    raw = frame.loc[found.ratings.index]
    late = Rejecting(raw, names.get("annotator"))
    if spans:
        _reject_broken_spans(raw, spans, late)
    same = raw[late.kept].duplicated()
    again = [Rejection(int(line), "", "", "is the same as an earlier row to the letter") for line in same.index[same]]
    ratings, raw = found.ratings[late.kept][~same], raw[late.kept][~same]
    rejected = [*reject.rows, *found.rejected, *late.rows, *again]
    marked, kept = None, {*_ORDER, "copy", "position"} - ({"ended"} - set(names))
    if len(ratings) and spans:
        ratings, marked, gone = _with_spans(ratings, raw, spans, names, options, head.name)
        kept |= {"mark", "errors"}
    elif len(ratings):
        ratings, gone = _with_repeats(ratings, report)
    else:
        gone = []
    ratings = ratings.reindex(columns=ordered(kept))
    return Converted(ratings, [*rejected, *gone], names, scale, marked)


def _columns(head: Head, match: Match, options: Options) -> tuple[dict[str, str], dict[str, str]]:
    """Map Appraise's columns, or those that the user names, and give what the export lacks."""
    present, told = {columns.plain(name): name for name in match.header}, options.single
    names = {ours: present[columns.plain(theirs)] for ours, theirs in _NAMES.items()
             if columns.plain(theirs) in present and ours not in options.values} | told  # fmt: skip
    columns.unlike(match.header, set(names.values()) - set(told.values()), origin=head.name)
    if absent := [theirs for theirs in names.values() if theirs not in match.header]:
        raise DataError(f"{head.name} has no column {absent[0]!r}; it has {', '.join(match.header)}. Correct --map.")
    values = {"doc": "all"} | options.values if "doc" not in names else dict(options.values)
    if lacks := [ours for ours in _NAMES if ours not in {*names, *values, "ended"}]:
        raise DataError(
            f"{head.name} is no export of Appraise: it lacks {', '.join(_NAMES[name] for name in lacks)}. Map its "
            "columns with --map OURS=THEIRS, or import it with --format csv."
        )
    return names, values


def _reject_others(frame: pd.DataFrame, names: dict[str, str], document: str | None, reject: Rejecting) -> None:
    """Set apart rows that are no judgements of segments: tutorials, scores of documents, and what cannot be told."""
    if "system" in names:
        tutorial = frame[names["system"]].str.contains("tutorial", na=False)
        reject(np.flatnonzero(tutorial), names["system"], "is an item of the tutorial", EXCLUDED)
    if "doc" in names:
        nameless = frame[names["doc"]].str.fullmatch(r"\s*#.*", na=False)
        reject(np.flatnonzero(nameless), names["doc"], "has a mark and no document before it: name the document")
    if document:
        whole, part = frame[document].eq("True"), frame[document].eq("False")
        reject(np.flatnonzero(whole), document, "is the score of a whole document", EXCLUDED)
        reject(np.flatnonzero(~whole & ~part), document, "is neither True nor False: correct it")


def _reject_broken_spans(frame: pd.DataFrame, spans: str, reject: Rejecting) -> None:
    """Reject rows whose spans cannot be read."""
    for place, cell in enumerate(frame[spans]):
        try:
            esa.errors_of(cell, "")
        except (DataError, RecursionError) as problem:
            reason = str(problem).removeprefix(", column spans: ").rstrip(".").split(". ")[0]
            reject([place], spans, reason)


def _excluded(lines: pd.Index | np.ndarray, reason: str) -> list[Rejection]:
    return [Rejection(int(line), "", "", reason, EXCLUDED) for line in lines]


def _with_repeats(ratings: pd.DataFrame, report: Report) -> tuple[pd.DataFrame, list[Rejection]]:
    """Tell repeats by time, and the copies of documents where there are degraded items."""
    table = ratings.assign(hit=ratings["annotator"], line=ratings.index)
    table = table[[name for name in (*_ORDER, "line") if name in table]].reset_index(drop=True)
    people = human(table["system"], report.note) & table["item_type"].eq("system")
    table["item_type"] = table["item_type"].mask(people, "reference")
    if not (table["item_type"].eq("degraded").any() or table["doc"].str.endswith("#bad").any()):
        return appraise.with_repeats(table).set_index("line"), []
    found, _ = appraise.with_copies(table)
    reason = "belongs to a showing of a document whose segments were not scored in order"
    return found.set_index("line"), _excluded(np.setdiff1d(table["line"], found["line"]), reason)


def _with_spans(ratings: pd.DataFrame, raw: pd.DataFrame, spans: str, names: dict[str, str], options: Options,
                origin: str) -> tuple[pd.DataFrame, pd.DataFrame | None, list[Rejection]]:  # fmt: skip
    """Read error spans; of a judgement that was submitted again, the latest counts."""
    table = ratings.assign(
        type=raw[names["item_type"]].str.upper() if "item_type" in names else "TGT", isDoc="False", spans=raw[spans],
        ended=ratings.get("ended", ratings["started"]),
    )[esa.COLUMNS]  # fmt: skip
    kinds = table["type"].str.casefold().map(ITEM_TYPES | options.item_types)
    found = esa.of_rows(table.assign(type=np.where(kinds.eq("degraded"), "BAD", "TGT")), origin=origin)
    gone = _excluded(table.index.difference(found.index), "was replaced by a later submission")
    found = found.sort_values(["hit", "started"], kind="stable")
    found = found.assign(position=found.groupby("hit").cumcount())
    return found, esa.spans_of(found) if found["errors"].sum() else None, gone


APPRAISE = Format("appraise", "an export of Appraise", _SCALE, partial(_match, spans=False), _convert)
ESA = Format("esa", "an export of Appraise with error spans", _SCALE, partial(_match, spans=True), _convert)
