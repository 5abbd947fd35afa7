"""Read what the Appraise tool exports, with or without a header: direct assessment, documents, error spans, MQM."""

import re
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing import records, segments, vocabulary
from evalkit.data.importing.annotated import complete, headed, judged, listed, spans_of
from evalkit.data.importing.judgements import Rows, ordered, people
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import EXCLUDED, Judgements, Seen
from evalkit.data.importing.vocabulary import ITEM_TYPES
from evalkit.data.names import is_human

#: What every export has; one of error spans has them, too.
NEEDED = ("username", "system", "itemId", "itemType", "srcLang", "trgLang", "score")
SCALE = (0.0, 100.0)
_HEADINGS = vocabulary.lists("appraise")
_SHOWN = ["annotator", "src_lang", "tgt_lang", *schemas.ITEM]
_READ = ("src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "item_type", "source")
_SEVERITIES = ("minor", "major", "critical", "neutral", "undecided")
_MARK = re.compile(r"(?:(bad)|(dup)(?:licate)?|incomplete)\d*", re.IGNORECASE)
_CUTS = "./:|"  # what may part a test set's name from a system's
_TEST_SET = re.compile(r"[a-z]+[-_]?\d{2,4}([-_.][\w-]+)?[./:|]", re.IGNORECASE)
_TUTORIAL = re.compile(r"(.*[-_ .])?tutorial[-_]?\d*", re.IGNORECASE)


def convert(rows: Rows) -> Judgements:
    """Read an export; its judgements hang on each other, because items are shown again.

    Errors that name their types, as in MQM, make the score, whatever stands in its column. An item that was judged
    again is a repeat; where errors are marked, it was submitted again, and the last judgement counts.
    """
    table, options, receipt = rows.table, rows.options, rows.receipt
    complete(rows, headed(table, _HEADINGS, options))
    if lacking := [ours for ours in ("item_type", "started") if ours not in rows.known]:
        raise DataError(f"{table.name} is no export of Appraise: it lacks {', '.join(lacking)}. Import it as csv.")
    spans = rows.names.get("spans")
    _reject_others(rows)
    kept = rows.kept
    told = pd.DataFrame({ours: rows.column(ours)[kept] for ours in _READ if ours != "source" or ours in rows.names})
    table.beside += map(Seen.at, options.batches)
    shown = _identified(told, table.name, options, receipt)
    marks, broken = listed(map(_errors, rows.cells[spans]) if spans else [], [None] * len(kept))
    wanted = f"start_i and end_i, a stretch of the text, and a severity ({', '.join(_SEVERITIES)})"
    rows.reject(broken, spans or "", f"is no list in JSON of errors with {wanted}: correct it")
    typed = _is_typed(marks[rows.kept[marks["row"]]], receipt)
    same = np.flatnonzero(rows.kept)[rows.cells[rows.kept].duplicated()]
    rows.reject(same, "", "is the same as an earlier row to the letter")
    receipt.orientation = "higher is better: scores of Appraise go from worst to best"
    scale = options.scale or (None if typed else SCALE)
    found, marks = judged(rows, marks, made=np.full(len(kept), typed), scale=scale, column=spans or "")
    if typed and not scale:
        receipt.scale_from = "minus weights of errors has no lowest value"
    ratings, shown = found.ratings, shown.loc[found.ratings.index]
    accounts = options.pseudonyms.column(told["annotator"].loc[ratings.index], accounts=True)
    ratings = ratings.assign(hit=accounts, **{name: shown[name] for name in schemas.ITEM})
    if len(ratings) and spans:
        showing = told["segment"].loc[ratings.index] + "\0" + told["doc"].loc[ratings.index]
        ratings = _latest(ratings, shown, showing, receipt)
        rows.reject(found.ratings.index.difference(ratings.index), "", "was replaced by a later submission", EXCLUDED)
        order = ratings.index.get_indexer(marks["judgement"]).argsort(kind="stable")
        marks = marks.iloc[order].drop(columns="text")  # which the file does not have
        found.spans = spans_of(ratings, marks, shown=("item_type", "hit", "started", "mark"))
    elif len(ratings):
        ratings = _with_repeats(ratings.drop(columns="errors"), shown, receipt)
        unordered = "belongs to a showing of a document whose segments were not scored in order"
        rows.reject(found.ratings.index.difference(ratings.index), "", unordered, EXCLUDED)
    found.ratings = ratings[ordered(ratings)]
    return found


def _errors(cell: object) -> list[dict[str, Any]] | object:
    """Read the list of errors of one judgement; their types may be lists, of one type and one below it."""
    said = records.in_cell(cell)
    return [_named(one) for one in said] if isinstance(said, list) else {}


def _named(one: object) -> object:
    if not isinstance(one, dict) or not {"start_i", "end_i"} <= {*one}:
        return None
    if str(one.get("severity")).strip().casefold() not in _SEVERITIES:
        return None
    said = one.get("error_type")
    parts = [" ".join(part.split()) for part in (said if isinstance(said, list) else [said]) if isinstance(part, str)]
    # Appraise notes a type, or none, on what a person draws, and nothing on what the task brought along
    # (AppraiseDev/Appraise, direct-assessment-document-mqm-esa.js).
    return one | {"category": "/".join(filter(None, parts)), "suggested": "error_type" not in one}


def _is_typed(marks: pd.DataFrame, receipt: Receipt) -> bool:
    """Tell whether errors name their types, so that they are MQM's and make the score; most of them must."""
    typed = marks["category"].notna() & marks["category"].ne("omission")
    if most := bool(typed.mean() >= 0.5):
        receipt.note("marked errors name their types, as in MQM: they make the score, not the column of scores")
    return most


def _kinds(cells: pd.Series, options: Options) -> pd.Series:
    """Return the kind of each item in our words, missing where it is unknown."""
    return cells.str.casefold().map(ITEM_TYPES | options.item_types)


def _reject_others(rows: Rows) -> None:
    """Set apart rows that are no judgements of segments: tutorials, scores of documents, and what cannot be told."""
    names, docs = rows.names, rows.column("doc")

    def reject(ours: str, found: pd.Series, reason: str, kind: str = EXCLUDED) -> None:
        rows.reject(np.flatnonzero(found), names.get(ours, ours), reason, kind)

    if "system" in names:
        tutorial = rows.column("system").str.contains("tutorial", na=False)
        tutorial |= docs.str.split("#").str[0].str.fullmatch(_TUTORIAL, na=False)
        reject("system", tutorial, "is an item of the tutorial")
    nameless = docs.str.fullmatch(r"\s*#.*", na=False)
    reject("doc", nameless, "has a mark and no document before it: name the document", "rejected")
    filler = docs.str.contains(r"#duplicate\d*(?:#|$)", case=False, na=False)
    filler &= ~_kinds(rows.column("item_type"), rows.options).eq("degraded")  # spoilt ones keep their use
    reject("doc", filler, "is an item of a document shown again to fill a task")
    if "whole" in names:
        whole, part = rows.column("whole").eq("True"), rows.column("whole").eq("False")
        reject("whole", whole, "is the score of a whole document")
        reject("whole", ~whole & ~part, "is neither True nor False: correct it", "rejected")


# What names of documents and systems hold besides the names: marks of showings, systems, test sets


def _identified(told: pd.DataFrame, origin: str, options: Options, receipt: Receipt) -> pd.DataFrame:
    """Say what each row shows: system, doc and segment as names, and the marks of its showing: bad, dup.

    told: the columns ``_READ``, and source where the file has texts.
    """
    new = {"system": "target", "doc": "showing", "annotator": "account", "segment": "item"}
    there = told[[*new]].notna().all(axis=1)
    shown = told[there].rename(columns=new)
    shown["degraded"] = _kinds(shown.pop("item_type"), options).eq("degraded")
    if not len(shown):
        return pd.DataFrame(columns=[*schemas.ITEM, "mark", "own"])
    before = _prefix(shown["target"], shown["showing"])
    if before:
        receipt.note(f"{before!r}, which stands before the names of all systems, was set apart")
    shown["system"] = shown["target"].str.removeprefix(before)
    read = _parted(shown["showing"], shown["system"])
    shown = shown.assign(doc=read["doc"], degraded=shown["degraded"] | read["mark"].str.contains("bad"))
    found = segments.found(shown, options.batches, origin=origin)
    receipt.unsure_segments = max(receipt.unsure_segments, found.unsure)
    receipt.segments = " ".join(filter(None, [receipt.segments, f"{found.said}." if found.said else ""]))
    return shown[["system", "doc"]].assign(segment=found.segments, mark=read["mark"], own=found.own)


def _prefix(systems: pd.Series, docs: pd.Series) -> str:
    """Return what stands before all systems' names, such as ``wmt23.``; nothing where it may belong to the names.

    It is taken off where documents name the systems without it (``doc#refA``), or where it reads like the name of a
    test set, or where a reference comes to light.

    >>> told = pd.Series(["wmt23.refA", "wmt23.X"])
    >>> _prefix(told, pd.Series(["d", "d"])), _prefix(told.str[6:], told)
    ('wmt23.', '')
    """
    pairs = pd.DataFrame({"system": systems, "doc": docs}).drop_duplicates()
    names = pairs["system"].unique().tolist()
    told = {_before(system, str(doc).split("#")[1:]) for system, doc in zip(pairs["system"], pairs["doc"])}
    if len(told) == 1 and (only := told.pop()):
        return only
    if len(names) < 2:
        return ""
    starts = [names[0][: place + 1] for place, letter in enumerate(names[0]) if letter in _CUTS]
    start = max((one for one in starts if all(name.startswith(one) for name in names)), key=len, default="")
    rest = pd.Series([name[len(start) :] for name in names], dtype="str")
    if not start or not rest.str.match(r"[^\W\d_]").all():
        return ""
    return start if _TEST_SET.fullmatch(start) or is_human(rest).any() else ""


def _before(system: str, parts: list[str]) -> str:
    """Return what a system's name has before the name that its document gives it."""
    rest = (system.removesuffix(part) for part in parts)
    return next((before for before in rest if before and before != system and before[-1] in _CUTS), "")


def _parted(docs: pd.Series, systems: pd.Series) -> pd.DataFrame:
    """Part documents' names: ``doc`` without system and marks of showings, and the marks bad and dup, unnumbered.

    systems: without what stands before their names.

    >>> _parted(pd.Series(["d#A#bad7", "d#51-62#dup", "e"]), pd.Series(["A", "A", "A"])).values.tolist()
    [['d', 'bad'], ['d#51-62', 'dup'], ['e', '']]
    """
    pairs = pd.DataFrame({"system": systems.to_numpy(), "doc": docs.to_numpy()})
    codes, distinct = pd.factorize(pd.MultiIndex.from_frame(pairs))
    rows = []
    for system, doc in distinct:
        name, *parts = str(doc).split("#")
        marks = [_MARK.fullmatch(part) for part in parts]
        kept = [part for part, mark in zip(parts, marks) if part != system and not mark]
        shown = [mark[1] or mark[2] for mark in marks if mark and mark.lastindex]
        rows.append(("#".join([name, *kept]), "#".join(shown).casefold()))
    table = pd.DataFrame(rows, columns=["doc", "mark"]).astype("str")
    return table.iloc[np.asarray(codes)].set_axis(docs.index)


# Repeats, copies, and judgements that were submitted again


def _latest(ratings: pd.DataFrame, shown: pd.DataFrame, showing: pd.Series, receipt: Receipt) -> pd.DataFrame:
    """Keep the latest of the judgements that were submitted again; in documents with a mark, items are repeats.

    showing: what was shown as the file names it, for spoilt copies of a segment may be several.
    """
    kind, mark = ratings["item_type"], shown["mark"]
    kind = kind.mask(kind.eq("system") & mark.ne(""), "repeat")
    table = ratings.assign(mark=mark, copy=mark.ne(""), item_type=kind)
    table["item_type"] = _with_references(table, receipt)
    order = table.assign(showing=showing, bad=kind.eq("degraded")).sort_values(
        "ended" if "ended" in table else "started", kind="stable"
    )
    key = ["hit", "src_lang", "tgt_lang", "system", "doc", "mark", "showing", "bad"]
    table = table.loc[order.index[~order.duplicated(key, keep="last")]].sort_index()
    if shown["own"].all():  # else what parts a document is in its name, for segments are counted in it
        table["doc"] = table["doc"].str.split("#").str[0]
    table = table.sort_values(["hit", "started"], kind="stable")
    return table.assign(position=table.groupby("hit").cumcount())


def _with_repeats(ratings: pd.DataFrame, shown: pd.DataFrame, receipt: Receipt) -> pd.DataFrame:
    """Tell repeats by time, and the copies of documents where there are degraded items; without disordered showings."""
    bad = shown["mark"].str.contains("bad")
    table = ratings.assign(doc=ratings["doc"].where(~bad, ratings["doc"] + "#bad"), line=ratings.index)
    table["item_type"] = _with_references(table, receipt)
    if not (table["item_type"].eq("degraded").any() or bad.any()):
        showing = table.sort_values("started", kind="stable").groupby(_SHOWN, sort=False).cumcount()
        return table.assign(item_type=table["item_type"].mask(showing.reindex(table.index) > 0, "repeat"))
    return _with_copies(table).set_index("line")


def _with_copies(frame: pd.DataFrame) -> pd.DataFrame:
    """Tell copies of documents from originals: ``copy``, and the place in the HIT by time, ``position``.

    A copy is a showing with degraded segments in it, told by the mark ``#bad`` in the document's name or, without one,
    by where the segments, in the order of time, start anew. Showings whose segments were not scored in order are left
    out, as in Knowles & Lo 2024, section 5.2.
    """
    frame = frame.sort_values(["hit", "started"], kind="stable", ignore_index=True)
    snippet = ["hit", "src_lang", "tgt_lang", "system", "doc"]
    number = pd.to_numeric(frame["segment"], errors="coerce")
    back = number.groupby([frame[name] for name in snippet]).diff() <= 0
    run = back.groupby([frame[name] for name in snippet]).cumsum()
    copy = frame["item_type"].eq("degraded").groupby([*(frame[name] for name in snippet), run]).transform("any")
    bare = frame["doc"].str.removesuffix("#bad")
    frame = frame.assign(copy=copy | bare.ne(frame["doc"]), doc=bare)
    runs = run.groupby([frame[name] for name in (*snippet, "copy")]).transform("nunique")
    frame = frame[runs == 1].reset_index(drop=True)  # more than one: somebody went back
    frame.loc[frame["copy"] & frame["item_type"].eq("system"), "item_type"] = "repeat"
    return frame.assign(position=frame.groupby("hit").cumcount())


def _with_references(table: pd.DataFrame, receipt: Receipt) -> pd.Series:
    """Return the kinds of items, where outputs of systems that are people are references."""
    human = people(table["system"], receipt.note) & table["item_type"].eq("system")
    return table["item_type"].mask(human, "reference")
