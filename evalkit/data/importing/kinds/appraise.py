"""Import what the Appraise tool exports, with or without a header: direct assessment, documents, error spans."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import appraise, schemas
from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.files.rows import Rows, Seen
from evalkit.data.importing.formats import Format, Head, Match, ordered
from evalkit.data.importing.judgements import ITEM_TYPES, Converted, constant, converted, human
from evalkit.data.importing.kinds import appraise_rows, batches, marks, segments, weights
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import EXCLUDED, Rejecting, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.names import is_human

_NAMES = appraise.COLUMNS
_ORDER = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "score", "item_type", "hit", "started", "ended"]
_SCALE = (0.0, 100.0)
_BEST = "higher is better: scores of Appraise go from worst to best"
_MINUS = "higher is better: the score is minus the weights of the marked errors"


@dataclass
class Export:
    """One export: its rows under Appraise's columns, and which column or value is which of ours.

    spans: the column of marked errors. typed: these name types, so they are MQM's.
    """

    frame: pd.DataFrame
    names: dict[str, str]
    values: dict[str, str]
    origin: str
    spans: str | None = None
    typed: bool = False

    def column(self, ours: str) -> pd.Series:
        """Return a column of ours."""
        if ours in self.names:
            return self.frame[self.names[ours]]
        return constant(self.values.get(ours, ""), self.frame.index)


def _match(head: Head, options: Options, *, spans: bool) -> Match:
    """Fits where the headings are Appraise's, or rows without headings read like its rows. spans: as in ESA."""
    bare = appraise_rows.headless(head)
    if bare and ("spans" in bare) == spans:
        why = f"{len(bare)} cells without a header, the tenth a list of spans"
        why = why if spans else f"{len(bare)} cells without a header, as Appraise writes them"
        return Match(0.98, "", bare, 0, f"by its rows: {why}")
    if not bare and not spans:
        appraise_rows.refuse_unknown(head)
    names = {columns.plain(name) for name in head.header}
    wanted = [*appraise_rows.START, "spans"] if spans else appraise_rows.START
    lacks = [name for name in wanted if columns.plain(name) not in names]
    if not spans and "spans" in names:
        lacks.append("spans left out (those belong to esa)")
    best = 0.97 if spans else 0.95
    return Match(best * (1 - len(lacks) / len(wanted)), ", ".join(lacks), head.header, head.line, "by its headings")


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read an export; its judgements hang on each other, because items are shown again."""
    if options.lower_is_better:
        raise DataError(
            f"{head.name}: scores of Appraise are better when they are higher. Leave --lower-is-better out."
        )
    names, values = _columns(head, match, options)
    present = {columns.plain(name): name for name in match.header}
    report.mapping |= {ours: {"theirs": name, "how": "layout"} for ours, name in names.items()}
    frame = options.looks.alike(rows.frame, names)
    export = Export(frame, names, values, head.name, present.get("spans"))
    reject = Rejecting(frame, names.get("annotator"))
    _reject_others(export, present.get("isdocscore"), options, reject)
    export.frame = frame[reject.kept]
    export.typed = _is_typed(export, report)
    known, beside = _identified(export, options, report)
    scale = options.scale or (None if export.typed else _SCALE)
    given = export.frame
    if export.typed and "score" in names:  # whatever stands there, the errors make the score
        given = given.assign(**{names["score"]: "0"})
    found = converted(given, names, values, options, scale=None if export.typed else scale, note=report.note)
    raw = frame.loc[found.ratings.index]
    late = Rejecting(raw, names.get("annotator"))
    if export.spans:
        _reject_broken_spans(raw, export.spans, late)
    if export.typed:
        found.ratings["score"] = _weighed(raw, export, options, scale, late, report)
    same = raw[late.kept].duplicated()
    again = [Rejection(int(line), "", "", "is the same as an earlier row to the letter") for line in same.index[same]]
    ratings, raw = found.ratings[late.kept][~same], raw[late.kept][~same]
    accounts = options.pseudonyms.column(export.column("annotator").loc[ratings.index], accounts=True)
    known = known.loc[ratings.index]
    ratings = ratings.assign(hit=accounts, **{name: known[name] for name in schemas.ITEM})
    rejected = [*reject.rows, *found.rejected, *late.rows, *again]
    gone: list[Rejection] = []
    marked = None
    kept = {*_ORDER, "copy", "position", *({"source"} & set(names))} - ({"ended"} - set(names))
    if len(ratings) and export.spans:
        ratings, marked, gone = _with_spans(ratings, raw, known, export, options, report)
        kept |= {"mark", "errors"}
    elif len(ratings):
        ratings, gone = _with_repeats(ratings, known, report)
    if export.typed and not options.scale:
        report.scale_from = "minus weights of errors has no lowest value"
    report.orientation = _MINUS if export.typed else _BEST
    ratings = ratings.reindex(columns=ordered(kept))
    return Converted(ratings, [*rejected, *gone], names, scale, marked, beside=beside)


def _columns(head: Head, match: Match, options: Options) -> tuple[dict[str, str], dict[str, str]]:
    """Map Appraise's columns, or those that the user names, and give what the export lacks."""
    present, told = {columns.plain(name): name for name in match.header}, options.single
    names = {
        ours: present[columns.plain(theirs)]
        for ours, theirs in _NAMES.items()
        if columns.plain(theirs) in present and ours not in options.values
    } | told
    texts = [name for name in match.header if columns.meaning(name) == "source"]
    if len(texts) == 1 and "source" not in names:
        names["source"] = texts[0]
    columns.unlike(match.header, set(names.values()) - set(told.values()), origin=head.name)
    if absent := [theirs for theirs in names.values() if theirs not in match.header]:
        wrong = ", ".join(map(repr, absent))
        raise DataError(f"{head.name} has no column {wrong}; it has {', '.join(match.header)}. Correct --map.")
    values = {"doc": "all"} | options.values if "doc" not in names else dict(options.values)
    if lacks := [ours for ours in _NAMES if ours not in {*names, *values, "ended"}]:
        raise DataError(
            f"{head.name} is no export of Appraise: it lacks {', '.join(_NAMES[name] for name in lacks)}. Map its "
            "columns with --map OURS=THEIRS, or import it with --format csv."
        )
    return names, values


def _reject_others(export: Export, document: str | None, options: Options, reject: Rejecting) -> None:
    """Set apart rows that are no judgements of segments: tutorials, scores of documents, and what cannot be told."""
    frame, names = export.frame, export.names
    docs = frame[names["doc"]] if "doc" in names else None
    if "system" in names:
        tutorial = marks.tutorial(frame[names["system"]], docs)
        reject(np.flatnonzero(tutorial), names["system"], "is an item of the tutorial", EXCLUDED)
    if docs is not None:
        nameless = docs.str.fullmatch(r"\s*#.*", na=False)
        reject(np.flatnonzero(nameless), names["doc"], "has a mark and no document before it: name the document")
        filler = marks.filler(docs, _kinds(export, options).eq("degraded"))
        reject(np.flatnonzero(filler), names["doc"], "is an item of a document shown again to fill a task", EXCLUDED)
    if document:
        whole, part = frame[document].eq("True"), frame[document].eq("False")
        reject(np.flatnonzero(whole), document, "is the score of a whole document", EXCLUDED)
        reject(np.flatnonzero(~whole & ~part), document, "is neither True nor False: correct it")


def _kinds(export: Export, options: Options) -> pd.Series:
    """Return the kind of each item in our words, missing where it is unknown."""
    return export.column("item_type").str.casefold().map(ITEM_TYPES | options.item_types)


def _is_typed(export: Export, report: Report) -> bool:
    """Tell whether errors name their types, so that they are MQM's and make the score; most of them must."""
    typed, errors = appraise.typed_errors(export.frame[export.spans].dropna()) if export.spans else (0, 0)
    if not typed:
        return False
    if typed < errors / 2:
        report.note(f"{typed:,} of {errors:,} marked errors name a type; the scores are the file's")
        return False
    given = export.column("score").dropna().unique()
    scores = "which is the same throughout" if len(given) < 2 else f"which holds {len(given):,} different values"
    report.note(
        f"marked errors name their types, as in MQM: they make the score, and the column of scores, {scores}, "
        "was not used"
    )
    return True


def _identified(export: Export, options: Options, report: Report) -> tuple[pd.DataFrame, list[Seen]]:
    """Say what each row shows: system, doc and segment as names, and the marks of its showing: bad, dup."""
    system, doc = export.column("system"), export.column("doc")
    there = system.notna() & doc.notna() & export.column("segment").notna() & export.column("annotator").notna()
    given = batches.read(options.batches) if options.batches else None
    shown = pd.DataFrame(
        {
            "src_lang": export.column("src_lang"),
            "tgt_lang": export.column("tgt_lang"),
            "target": system,
            "showing": doc,
            "account": export.column("annotator"),
            "item": export.column("segment"),
            "degraded": _kinds(export, options).eq("degraded"),
        }
    )[there]
    if not len(shown):
        return pd.DataFrame(columns=[*schemas.ITEM, "mark", "own"]), given.seen if given else []
    before = marks.prefix(shown["target"], shown["showing"], is_human)
    if before:
        report.note(f"{before!r}, which stands before the names of all systems, was set apart")
    shown["system"] = shown["target"].str.removeprefix(before)
    read = marks.read(shown["showing"], shown["system"])
    shown = shown.assign(doc=read["doc"], degraded=shown["degraded"] | _is_bad(read["mark"]))
    if "source" in export.names:
        shown["source"] = export.column("source")[there]
    found = segments.found(shown, given, origin=export.origin)
    report.unsure_segments = max(report.unsure_segments, found.unsure)
    report.segments = " ".join(filter(None, [report.segments, f"{found.said}." if found.said else ""]))
    known = shown[["system", "doc"]].assign(segment=found.segments, mark=read["mark"], own=found.own)
    return known, given.seen if given else []


def _reject_broken_spans(frame: pd.DataFrame, spans: str, reject: Rejecting) -> None:
    """Reject rows whose spans cannot be read."""
    for place, cell in enumerate(frame[spans]):
        try:
            appraise.errors_of(cell)
        except DataError as problem:
            reject([place], spans, str(problem).rpartition(". ")[0])


def _weighed(
    frame: pd.DataFrame,
    export: Export,
    options: Options,
    scale: tuple[float, float] | None,
    reject: Rejecting,
    report: Report,
) -> np.ndarray:
    """Return minus the weights of each row's errors; rows with an error that has no weight are rejected."""
    scheme = weights.resolve(options.weights)
    report.weights = scheme.describe()
    sound = reject.kept
    marked = [
        (place, *error[:2])
        for place, cell in enumerate(frame[export.spans])
        if sound[place]
        for error in appraise.errors_of(cell)
    ]
    table = pd.DataFrame(marked, columns=["place", "error_type", "severity"])
    table["weight"] = scheme.weigh(table["error_type"].astype("str"), table["severity"].astype("str"))
    chosen = table["severity"].ne(schemas.UNSTATED) | table["weight"].gt(0)  # else it would count as no error at all
    table["weight"] = table["weight"].where(chosen)
    for severity, part in table[table["weight"].isna()].groupby("severity"):
        level = "undecided" if severity == schemas.UNSTATED else severity
        reason = f"has an error whose severity, {level}, has no weight: correct it, or pass --weights"
        reject(part["place"].unique(), str(export.spans), reason)
    places = table["place"].to_numpy(int)
    _, scores = scheme.scores(
        places, table["error_type"].astype("str"), table["weight"].fillna(0.0).to_numpy(), len(frame)
    )
    for place, reason in numbers.off_scale(scores, scale).items():
        reject([place], str(export.spans), f"gives the score {scores[place]:g}, which {reason}")
    reject(np.flatnonzero(np.isnan(scores)), str(export.spans), "gets no score in this scheme", EXCLUDED)
    return scores + 0.0


def _excluded(lines: pd.Index | np.ndarray, reason: str) -> list[Rejection]:
    return [Rejection(int(line), "", "", reason, EXCLUDED) for line in lines]


def _is_bad(mark: pd.Series) -> pd.Series:
    """Tell the marks of showings with spoilt items."""
    return mark.str.contains("bad")


def _with_repeats(ratings: pd.DataFrame, known: pd.DataFrame, report: Report) -> tuple[pd.DataFrame, list[Rejection]]:
    """Tell repeats by time, and the copies of documents where there are degraded items."""
    bad = _is_bad(known["mark"])
    table = ratings.assign(doc=ratings["doc"] + bad.map({True: "#bad", False: ""}), line=ratings.index)
    table = table[[name for name in (*_ORDER, "source", "line") if name in table]].reset_index(drop=True)
    table["item_type"] = _with_references(table, report)
    if not (table["item_type"].eq("degraded").any() or bad.any()):
        return appraise.with_repeats(table).set_index("line"), []
    found, _ = appraise.with_copies(table)
    reason = "belongs to a showing of a document whose segments were not scored in order"
    return found.set_index("line"), _excluded(np.setdiff1d(table["line"], found["line"]), reason)


def _with_references(table: pd.DataFrame, report: Report) -> pd.Series:
    """Return the kinds of items, where outputs of systems that are people are references."""
    people = human(table["system"], report.note) & table["item_type"].eq("system")
    return table["item_type"].mask(people, "reference")


def _with_spans(
    ratings: pd.DataFrame, raw: pd.DataFrame, known: pd.DataFrame, export: Export, options: Options, report: Report
) -> tuple[pd.DataFrame, pd.DataFrame | None, list[Rejection]]:
    """Read error spans; of a judgement that was submitted again, the latest counts."""
    kinds = ratings["item_type"]
    showing = export.column("segment").loc[ratings.index] + "\0" + export.column("doc").loc[ratings.index]
    table = ratings.assign(
        annotator=ratings["hit"],
        doc=known["doc"] + "#" + known["mark"],
        segment=showing,  # until the latest submission is known, for spoilt copies of a segment may be several
        type=np.where(kinds.eq("degraded"), "BAD", "TGT"),
        isDoc="False",
        spans=raw[export.spans],
        score="0",
        ended=ratings.get("ended", ratings["started"]),
    )[appraise.ESA_COLUMNS]
    found = appraise.of_rows(table, origin=export.origin)
    gone = _excluded(table.index.difference(found.index), "was replaced by a later submission")
    left = ratings.loc[found.index]
    found = found.assign(score=left["score"], annotator=left["annotator"], segment=left["segment"])
    told = left["item_type"].isin(["reference", "repeat", "calibration"])
    found["item_type"] = found["item_type"].mask(told, left["item_type"])
    found["item_type"] = _with_references(found, report)
    if not known["own"].all():  # what parts a document may be named by stays, for segments are counted in it
        found["doc"] = known["doc"].loc[found.index]
    if "source" in ratings:
        found["source"] = left["source"]
    found = found.sort_values(["hit", "started"], kind="stable")
    found = found.assign(position=found.groupby("hit").cumcount())
    marked = appraise.spans_of(found) if found["errors"].sum() else None
    if marked is not None and export.typed:
        kinds, levels = (marked[name].astype("str") for name in ("error_type", "severity"))
        marked = marked.assign(weight=weights.resolve(options.weights).weigh(kinds, levels))
    return found, marked, gone


APPRAISE = Format("appraise", "an export of Appraise", _SCALE, partial(_match, spans=False), _convert)
ESA = Format("esa", "an export of Appraise with error spans", _SCALE, partial(_match, spans=True), _convert)
