"""Read what the Appraise tool exports, with or without a header: direct assessment, documents, error spans, MQM."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import appraise, schemas
from evalkit.data.importing import mqm, numbers, segments, vocabulary
from evalkit.data.importing.annotated import scored
from evalkit.data.importing.judgements import converted, ordered, people
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import EXCLUDED, Judgements, Rejecting, Rejection, Seen, Table, constant, excluded
from evalkit.data.importing.vocabulary import ITEM_TYPES, bare
from evalkit.data.names import is_human

#: What every export has; one of error spans has them, too.
NEEDED = ("username", "system", "itemId", "itemType", "srcLang", "trgLang", "score")
SCALE = (0.0, 100.0)
_NAMES = appraise.COLUMNS
_ORDER = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "score", "item_type", "hit", "started", "ended"]
_READ = ("src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "item_type", "source")
_MARK = re.compile(r"(bad|duplicate|dup|incomplete)\d*", re.IGNORECASE)
_CUTS = "./:|"  # what may part a test set's name from a system's
_TEST_SET = re.compile(r"[a-z]+[-_]?\d{2,4}([-_.][\w-]+)?[./:|]", re.IGNORECASE)
_TUTORIAL = re.compile(r"(.*[-_ .])?tutorial[-_]?\d*", re.IGNORECASE)


def convert(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read an export; its judgements hang on each other, because items are shown again."""
    if options.lower_is_better:
        raise DataError(f"{table.name}: scores of Appraise are better when higher. Leave --lower-is-better out.")
    names, values = _columns(table, options)
    present = {bare(name): name for name in table.header}
    receipt.describe(names, "layout")
    cells, spans = options.looks.alike(table.cells, names), present.get("spans")
    reject = Rejecting(cells, names.get("annotator"))
    _reject_others(cells, names, present.get("isdocscore"), options, reject)
    cells = cells[reject.kept]
    typed = bool(spans) and _is_typed(cells[spans], cells.get(names.get("score")), receipt)
    read = [ours for ours in _READ if ours != "source" or ours in names]
    told = {ours: cells[names[ours]] if ours in names else constant(values.get(ours, ""), cells.index) for ours in read}
    shown, beside = _identified(pd.DataFrame(told), table.name, options, receipt)
    scale = options.scale or (None if typed else SCALE)
    given = cells
    if typed and "score" in names:  # whatever stands there, the errors make the score
        given = given.assign(**{names["score"]: "0"})
    found = converted(given, names, values, options, scale=None if typed else scale, note=receipt.note)
    raw = cells.loc[found.ratings.index]
    late = Rejecting(raw, names.get("annotator"))
    if spans:
        errors = _errors(raw[spans], spans, late)
        if typed:
            found.ratings["score"] = _weighed(errors, spans, options, scale, late, receipt)
    same = raw[late.kept].duplicated()
    again = [Rejection(int(line), "", "", "is the same as an earlier row to the letter") for line in same.index[same]]
    ratings, raw = found.ratings[late.kept][~same], raw[late.kept][~same]
    shown = shown.loc[ratings.index]
    accounts = options.pseudonyms.column(told["annotator"].loc[ratings.index], accounts=True)
    showing = told["segment"].loc[ratings.index] + "\0" + told["doc"].loc[ratings.index]
    ratings = ratings.assign(hit=accounts, **{name: shown[name] for name in schemas.ITEM})
    gone: list[Rejection] = []
    marked = None
    kept = {*_ORDER, "copy", "position", *({"source"} & set(names))} - ({"ended"} - set(names))
    if len(ratings) and spans:
        ratings, marked, gone = _with_spans(ratings, raw[spans], shown.assign(showing=showing), table.name, receipt)
        if marked is not None and typed:
            kinds, levels = (marked[name].astype("str") for name in ("error_type", "severity"))
            marked = marked.assign(weight=mqm.resolve(options.weights).weigh(kinds, levels))
        kept |= {"mark", "errors"}
    elif len(ratings):
        ratings, gone = _with_repeats(ratings, shown, receipt)
    if typed and not options.scale:
        receipt.scale_from = "minus weights of errors has no lowest value"
    receipt.orientation = "higher is better: scores of Appraise go from worst to best"
    if typed:
        receipt.orientation = "higher is better: the score is minus the weights of the marked errors"
    rejected = [*reject.rows, *found.rejected, *late.rows, *again, *gone]
    return Judgements(ratings.reindex(columns=ordered(kept)), rejected, names, scale, marked, beside=beside)


def _columns(table: Table, options: Options) -> tuple[dict[str, str], dict[str, str]]:
    """Map Appraise's columns, or those that the user names, and give what the export lacks."""
    present, told = {bare(name): name for name in table.header}, options.single
    names = {
        ours: present[bare(theirs)]
        for ours, theirs in _NAMES.items()
        if bare(theirs) in present and ours not in options.values
    } | told
    texts = [name for name in table.header if vocabulary.meaning(name) == "source"]
    if len(texts) == 1 and "source" not in names:
        names["source"] = texts[0]
    vocabulary.unlike(table.header, set(names.values()) - set(told.values()), origin=table.name)
    vocabulary.demand_present(table.header, names, origin=table.name)
    values = {"doc": "all"} | options.values if "doc" not in names else dict(options.values)
    if wanted := [ours for ours in _NAMES if ours not in {*names, *values, "ended"}]:
        raise DataError(
            f"{table.name} is no export of Appraise: it lacks {', '.join(_NAMES[name] for name in wanted)}. Map its "
            "columns with --map OURS=THEIRS, or import it with --format csv."
        )
    return names, values


def _kinds(cells: pd.Series, options: Options) -> pd.Series:
    """Return the kind of each item in our words, missing where it is unknown."""
    return cells.str.casefold().map(ITEM_TYPES | options.item_types)


def _reject_others(
    cells: pd.DataFrame, names: dict[str, str], document: str | None, options: Options, reject: Rejecting
) -> None:
    """Set apart rows that are no judgements of segments: tutorials, scores of documents, and what cannot be told."""
    docs = cells[names["doc"]] if "doc" in names else None
    if "system" in names:
        tutorial = cells[names["system"]].str.contains("tutorial", na=False)
        if docs is not None:
            tutorial |= docs.str.split("#").str[0].str.fullmatch(_TUTORIAL, na=False)
        reject(np.flatnonzero(tutorial), names["system"], "is an item of the tutorial", EXCLUDED)
    if docs is not None:
        nameless = docs.str.fullmatch(r"\s*#.*", na=False)
        reject(np.flatnonzero(nameless), names["doc"], "has a mark and no document before it: name the document")
        filler = docs.str.contains(r"#duplicate\d*(?:#|$)", case=False, na=False)
        if "item_type" in names:
            filler &= ~_kinds(cells[names["item_type"]], options).eq("degraded")  # spoilt ones keep their use
        reject(np.flatnonzero(filler), names["doc"], "is an item of a document shown again to fill a task", EXCLUDED)
    if document:
        whole, part = cells[document].eq("True"), cells[document].eq("False")
        reject(np.flatnonzero(whole), document, "is the score of a whole document", EXCLUDED)
        reject(np.flatnonzero(~whole & ~part), document, "is neither True nor False: correct it")


def _is_typed(spans: pd.Series, scores: pd.Series | None, receipt: Receipt) -> bool:
    """Tell whether errors name their types, so that they are MQM's and make the score; most of them must."""
    typed, errors = appraise.typed_errors(spans.dropna())
    if not typed:
        return False
    if typed < errors / 2:
        receipt.note(f"{typed:,} of {errors:,} marked errors name a type; the scores are the file's")
        return False
    given = 0 if scores is None else scores.nunique()
    said = "which is the same throughout" if given < 2 else f"which holds {given:,} different values"
    receipt.note(
        f"marked errors name their types, as in MQM: they make the score, and the column of scores, {said}, was not "
        "used"
    )
    return True


# What names of documents and systems hold besides the names: marks of showings, systems, test sets


def _identified(told: pd.DataFrame, origin: str, options: Options, receipt: Receipt) -> tuple[pd.DataFrame, list[Seen]]:
    """Say what each row shows: system, doc and segment as names, and the marks of its showing: bad, dup.

    told: the columns ``_READ``, and source where the file has texts.
    """
    given = segments.batches(options.batches) if options.batches else None
    new = {"system": "target", "doc": "showing", "annotator": "account", "segment": "item"}
    there = told[[*new]].notna().all(axis=1)
    shown = told[there].rename(columns=new)
    shown["degraded"] = _kinds(shown.pop("item_type"), options).eq("degraded")
    beside = given.seen if given else []
    if not len(shown):
        return pd.DataFrame(columns=[*schemas.ITEM, "mark", "own"]), beside
    before = _prefix(shown["target"], shown["showing"], is_human)
    if before:
        receipt.note(f"{before!r}, which stands before the names of all systems, was set apart")
    shown["system"] = shown["target"].str.removeprefix(before)
    read = _parted(shown["showing"], shown["system"])
    shown = shown.assign(doc=read["doc"], degraded=shown["degraded"] | _is_bad(read["mark"]))
    found = segments.found(shown, given, origin=origin)
    receipt.unsure_segments = max(receipt.unsure_segments, found.unsure)
    receipt.segments = " ".join(filter(None, [receipt.segments, f"{found.said}." if found.said else ""]))
    return shown[["system", "doc"]].assign(segment=found.segments, mark=read["mark"], own=found.own), beside


def _prefix(systems: pd.Series, docs: pd.Series, human: Callable[[pd.Series], pd.Series]) -> str:
    """Return what stands before all systems' names, such as ``wmt23.``; nothing where it may belong to the names.

    It is taken off where documents name the systems without it (``doc#refA``), or where it reads like the name of a
    test set, or where a reference comes to light. human: tells references by their names.

    >>> told = pd.Series(["wmt23.refA", "wmt23.X"])
    >>> _prefix(told, pd.Series(["d", "d"]), lambda names: names.eq("refA")), _prefix(told.str[6:], told, pd.isna)
    ('wmt23.', '')
    """
    pairs = pd.DataFrame({"system": systems, "doc": docs}).drop_duplicates()
    names = pairs["system"].unique().tolist()
    told = {_before(system, str(doc).split("#")[1:]) for system, doc in zip(pairs["system"], pairs["doc"])}
    if len(told) == 1 and (only := told.pop()):
        return only
    if len(names) < 2:
        return ""
    low, high = min(names), max(names)
    same = next((place for place, (a, b) in enumerate(zip(low, high)) if a != b), min(len(low), len(high)))
    start = low[: max(low.rfind(cut, 0, same) for cut in _CUTS) + 1]
    rest = pd.Series([name[len(start) :] for name in names], dtype="str")
    if not start or not rest.str.match(r"[^\W\d_]").all():
        return ""
    return start if _TEST_SET.fullmatch(start) or human(rest).any() else ""


def _before(system: str, parts: list[str]) -> str:
    """Return what a system's name has before the name that its document gives it."""
    for part in parts:
        before = system.removesuffix(part)
        if part and before and before != system and before[-1] in _CUTS:
            return before
    return ""


def _parted(docs: pd.Series, systems: pd.Series) -> pd.DataFrame:
    """Part documents' names: ``doc`` without system and marks of showings, and these marks, without their numbers.

    systems: without what stands before their names.

    >>> _parted(pd.Series(["d#A#bad7", "d#51-62#dup", "e"]), pd.Series(["A", "A", "A"])).values.tolist()
    [['d', 'bad'], ['d#51-62', 'dup'], ['e', '']]
    """
    pairs = pd.DataFrame({"system": systems.to_numpy(), "doc": docs.to_numpy()})
    codes, distinct = pd.factorize(pd.MultiIndex.from_frame(pairs))
    rows = []
    for system, doc in distinct:
        name, *parts = str(doc).split("#")
        is_mark = [bool(_MARK.fullmatch(part)) for part in parts]
        kept = [part for part, mark in zip(parts, is_mark) if part != system and not mark]
        marks = [part.casefold().rstrip("0123456789") for part, mark in zip(parts, is_mark) if mark]
        rows.append(("#".join([name, *kept]), "#".join(marks).replace("duplicate", "dup")))
    table = pd.DataFrame(rows, columns=["doc", "mark"]).astype("str")
    return table.iloc[np.asarray(codes)].set_axis(docs.index)


def _is_bad(mark: pd.Series) -> pd.Series:
    """Tell the marks of showings with spoilt items."""
    return mark.str.contains("bad")


# Repeats, copies and errors


def _with_repeats(ratings: pd.DataFrame, shown: pd.DataFrame, receipt: Receipt) -> tuple[pd.DataFrame, list[Rejection]]:
    """Tell repeats by time, and the copies of documents where there are degraded items."""
    bad = _is_bad(shown["mark"])
    table = ratings.assign(doc=ratings["doc"] + bad.map({True: "#bad", False: ""}), line=ratings.index)
    table = table[[name for name in (*_ORDER, "source", "line") if name in table]].reset_index(drop=True)
    table["item_type"] = _with_references(table, receipt)
    if not (table["item_type"].eq("degraded").any() or bad.any()):
        return appraise.with_repeats(table).set_index("line"), []
    kept, _ = appraise.with_copies(table)
    reason = "belongs to a showing of a document whose segments were not scored in order"
    return kept.set_index("line"), excluded(np.setdiff1d(table["line"], kept["line"]), reason)


def _with_references(table: pd.DataFrame, receipt: Receipt) -> pd.Series:
    """Return the kinds of items, where outputs of systems that are people are references."""
    human = people(table["system"], receipt.note) & table["item_type"].eq("system")
    return table["item_type"].mask(human, "reference")


def _errors(cells: pd.Series, spans: str, reject: Rejecting) -> pd.Series:
    """List the errors of each row, of type and severity; rows whose spans cannot be read are rejected."""
    errors: list[list[dict[str, str | None]]] = [[] for _ in cells]
    for place, cell in enumerate(cells):
        try:
            for kind, level, *_ in appraise.errors_of(cell):
                errors[place].append({"category": kind, "severity": None if level == schemas.UNSTATED else level})
        except DataError as problem:
            reject([place], spans, str(problem).rpartition(". ")[0])
    return pd.Series(errors, index=cells.index, dtype=object)


def _weighed(
    errors: pd.Series,
    spans: str,
    options: Options,
    scale: tuple[float, float] | None,
    reject: Rejecting,
    receipt: Receipt,
) -> np.ndarray:
    """Return minus the weights of each row's errors; rows with an error that has no weight are rejected."""
    receipt.weights = mqm.resolve(options.weights).describe()
    scores = scored(errors, np.ones(len(errors), bool), options, reject, spans)
    for place, reason in numbers.off_scale(scores, scale).items():
        reject([place], spans, f"gives the score {scores[place]:g}, which {reason}")
    return scores


def _with_spans(
    ratings: pd.DataFrame, spans: pd.Series, shown: pd.DataFrame, origin: str, receipt: Receipt
) -> tuple[pd.DataFrame, pd.DataFrame | None, list[Rejection]]:
    """Read error spans; of a judgement that was submitted again, the latest counts."""
    table = ratings.assign(
        annotator=ratings["hit"],
        doc=shown["doc"] + "#" + shown["mark"],
        segment=shown["showing"],  # until the latest submission is known, for spoilt copies of a segment may be several
        type=np.where(ratings["item_type"].eq("degraded"), "BAD", "TGT"),
        isDoc="False",
        spans=spans,
        score="0",
        ended=ratings.get("ended", ratings["started"]),
    )[appraise.ESA_COLUMNS]
    found = appraise.of_rows(table, origin=origin)
    gone = excluded(table.index.difference(found.index), "was replaced by a later submission")
    left = ratings.loc[found.index]
    found = found.assign(score=left["score"], annotator=left["annotator"], segment=left["segment"])
    told = left["item_type"].isin(["reference", "repeat", "calibration"])
    found["item_type"] = found["item_type"].mask(told, left["item_type"])
    found["item_type"] = _with_references(found, receipt)
    if not shown["own"].all():  # what parts a document may be named by stays, for segments are counted in it
        found["doc"] = shown["doc"].loc[found.index]
    if "source" in ratings:
        found["source"] = left["source"]
    found = found.sort_values(["hit", "started"], kind="stable")
    found = found.assign(position=found.groupby("hit").cumcount())
    return found, appraise.spans_of(found) if found["errors"].sum() else None, gone
