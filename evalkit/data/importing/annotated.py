"""Read rows with lists of errors: what annotation tools export, scored by people or by errors; the WMT chat task.

A tool's module lays its export out as a table with a row per judgement, and the columns named here besides its own.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing import mqm, scales, vocabulary
from evalkit.data.importing.comparisons import demand_one
from evalkit.data.importing.judgements import converted, demand_columns, people, with_languages
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import DISCARDED, EXCLUDED, Judgements, Rejecting, Rejection, Table
from evalkit.data.typology import spelled

TITLES = {"pearmut": "Pearmut", "label-studio": "Label Studio", "doccano": "Doccano", "prodigy": "Prodigy"}
#: What a row is; what scores it; its errors, a list of objects; how its segment is named; the ends of its criterion's
#: scale, like 0:5 (? where unknown); whether the campaign's own design has told its kind of item.
KIND, SCORED, ERRORS, NAMED, ENDS = "row_kind", "scored_by", "error_spans", "segment_by", "slider_ends"
DESIGNED = "designed"
_OWN = (KIND, SCORED, ERRORS, NAMED, ENDS, DESIGNED)
BY_ERRORS, BY_PERSON = "errors", "annotator"  # what scores a row
#: A second showing of the same translation, which is a judgement of the campaign.
REPEAT = "repeat"
#: Rows that are no judgements of the campaign, and why.
NO_JUDGEMENTS = {
    "tutorial": "is an item of the tutorial",
    "check": "is an attention check",
    "form": "is a question of a form",
    "void": "is an annotation that was reset",
    "reset": "is the mark of a reset",
    "replaced": "was replaced by a later submission",
    "cancelled": "is a task that was skipped",
    "truth": "is an answer that others are held against (ground truth)",
}
_OMITTED = "missing"  # stands for the place of an error where a translation lacks something
_MOST_ERRORS = 10_000  # of one judgement
SCALES = {"pearmut": (0.0, 100.0)}
_SEGMENTS = {
    "text": "No names of segments are in the file: one source text is one segment, whatever its document.",
    "position": "The file names no segments and holds no texts: a segment is a position (item_i) in one annotator's "
    "own task, so nothing says which segments annotators share. Put the campaign's JSON beside the log, or pass "
    "--map segment=item_i if all were shown the same items in the same order.",
    "task": "No field names segments or source texts: a segment is one task of the tool, so nothing says which tasks "
    "show the same segment. Name the field with --map segment=FIELD.",
    "shared": "Segments are positions (item_i) in the campaign's shared list of items, which its JSON says is one for "
    "all.",
}
Error = dict[str, Any]
Scales = tuple[float, float] | Mapping[str, tuple[float, float] | None] | None


def convert(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read judgements: scores that people gave, and scores that are made of the errors which they marked."""
    demand_one(table, options)
    lines = table.cells.index
    cells = table.cells.reset_index(drop=True)  # one line may hold several judgements: rows go by their places
    cells = cells.assign(**{name: None for name in (*_OWN, "score") if name not in cells})
    filled = [name for name in table.header if name not in _OWN and cells[name].notna().any()]
    known = vocabulary.mapped(filled, options.single, origin=table.name, given=options.values)
    if cells[DESIGNED].isna().all():
        known.names.pop("item_type", None)  # of an export, it says something else
    names, values = known.names, dict(options.values)
    with_languages(names, values, table, receipt)
    if "doc" not in names:
        values.setdefault("doc", "all")
    receipt.describe(names, known.how, filled)
    for note in known.notes:
        receipt.note(note)
    reject = Rejecting(cells, names.get("annotator"))
    for kind, reason in NO_JUDGEMENTS.items():
        reject(np.flatnonzero(cells[KIND].eq(kind)), KIND, reason, EXCLUDED)
    judged = cells[reject.kept]
    if judged.empty:
        return Judgements(pd.DataFrame(), _on_lines(reject.rows, lines), names)
    demand_columns({*names, *values, "score"}, origin=table.name, header=filled)
    receipt.segments = " ".join(_SEGMENTS[way] for way in judged[NAMED].dropna().unique() if way in _SEGMENTS)
    names = {"score": "score"} | names
    found = of_lists(judged, names, values, options, receipt, scale=_scales(judged, names, table.kind, options))
    if found.scale is None:
        receipt.scale_from = _why_unbounded(judged)
    rest = judged.loc[found.ratings.index]
    found.ratings = _typed(found.ratings, rest, receipt)
    made = rest[SCORED].eq(BY_ERRORS)
    if found.ratings["errors"].any() or made.any():
        found.spans = spans_of(found.ratings, options) if found.ratings["errors"].any() else None
    else:
        found.ratings = found.ratings.drop(columns="errors")
    if made.any():
        receipt.weights = mqm.resolve(options.weights).describe()
    given = [] if made.all() else ["scores that annotators gave"]
    given += ["minus the weights of errors"] if made.any() else []
    receipt.orientation = f"higher is better: {' and '.join(given)}"
    ratings = found.ratings.assign(_place=found.ratings.index)
    found.ratings = ratings.set_axis(pd.Index(lines[ratings.index], name="line"))
    found.rejected = _on_lines([*reject.rows, *found.rejected], lines)
    return found


def _scales(judged: pd.DataFrame, names: dict[str, str], tool: str, options: Options) -> Scales:
    """Return the ends of the scale of all scores that people gave; of each criterion, where these have their own."""
    made = judged[SCORED].eq(BY_ERRORS)
    stated = judged.loc[~made, ENDS]
    each = stated.dropna().unique()
    one = options.scale or (SCALES.get(tool) if not len(each) else None)
    if not one and len(each) == 1 and stated.notna().all():
        one = _ends(each[0])
    if made.all():
        return None
    if "criterion" not in names or (one and not made.any()):
        return one
    own = judged.assign(_made=made).drop_duplicates(names["criterion"])
    pairs = zip(own[names["criterion"]], own["_made"], own[ENDS])
    return {name: None if by_errors else one or _ends(ends) for name, by_errors, ends in pairs if isinstance(name, str)}


def _ends(cell: object) -> tuple[float, float] | None:
    low, _, high = str(cell).partition(":")
    try:
        return (float(low), float(high)) if float(low) < float(high) else None
    except ValueError:
        return None


def _why_unbounded(judged: pd.DataFrame) -> str:
    """Say why there are no ends of a scale."""
    if judged[SCORED].eq(BY_ERRORS).any():
        return "the weights of errors have no end"
    own = judged[ENDS].notna().any()
    return "each criterion has its own" if own else "nothing says its ends; --scale LOW:HIGH would"


def _on_lines(rejected: list[Rejection], lines: pd.Index) -> list[Rejection]:
    """Say on which line of the file each row stands, in their order."""
    for row in rejected:
        row.place, row.line = row.line, int(lines[row.line])
    return sorted(rejected, key=lambda row: row.place or 0)


def _typed(ratings: pd.DataFrame, judged: pd.DataFrame, receipt: Receipt) -> pd.DataFrame:
    """Tell references and second showings."""
    human = pd.Series(False, index=ratings.index)
    if judged[DESIGNED].isna().all():  # else the design says which translations are a person's
        human = people(ratings["system"], receipt.note)
    kinds = ratings["item_type"].mask(human & ratings["item_type"].eq("system"), "reference")
    timed = "started" in ratings and ratings["started"].notna().all()
    again = judged[KIND].eq(REPEAT) & (human | (not timed))  # times tell which of two came first
    return ratings.assign(item_type=kinds.mask(again, "repeat"))


# Rows with lists of errors, whoever wrote them


def of_lists(
    rows: pd.DataFrame,
    names: dict[str, str],
    values: dict[str, str],
    options: Options,
    receipt: Receipt,
    *,
    scale: Scales,
    typed: bool = False,
) -> Judgements:
    """Convert rows with the columns ``SCORED`` and ``ERRORS``; ratings have their errors as ``_errors``."""
    reject, made = Rejecting(rows, names.get("annotator")), rows[SCORED].eq(BY_ERRORS)
    errors = pd.Series([_errors(cell) for cell in rows[ERRORS]], index=rows.index, dtype=object)
    broken = "is no list of errors with whole places, start before end, and a type and severity each: mend it"
    reject(np.flatnonzero(errors.isna()), ERRORS, broken)
    errors = errors.map(lambda own: own or [], na_action=None)
    score = _in_numbers(rows, names, options, receipt).mask(made)
    if made.any():
        scores = scored(errors, made.to_numpy(), options, reject, ERRORS)
        score[made] = [f"{one:.12g}" for one in scores[made]]
    rows = rows.assign(**{names["score"]: score})[reject.kept]
    found = converted(rows, names, values, options, scale=scale, note=receipt.note, typed=typed)
    own = errors[found.ratings.index]
    found.ratings = found.ratings.assign(_errors=own, errors=own.map(len).astype(float))
    found.rejected = [*reject.rows, *found.rejected]
    return found


def _errors(said: object) -> list[Error] | None:
    """Take the errors of one judgement, none where nothing is said; None where they cannot be read."""
    if not isinstance(said, list):
        return [] if said is None or said == "" or (isinstance(said, float) and np.isnan(said)) else None
    errors = []
    for one in said:
        if not isinstance(one, dict):
            return None
        ends = {name: _whole(one.get(name)) for name in ("start_i", "end_i")}
        start, end = ends.values()
        placed = type(start) is int and type(end) is int and 0 <= start <= end < 1 << 40
        if not placed and not (start == end == _OMITTED) and not (start is None and end is None):
            return None
        errors.append(one | ends)
    return errors if len(errors) <= _MOST_ERRORS else None


def _whole(place: Any) -> Any:
    """Read a place in a text; what is no whole number stays."""
    return int(place) if isinstance(place, str) and place.isdecimal() and len(place) < 15 else place


def scored(errors: pd.Series, made: np.ndarray, options: Options, reject: Rejecting, column: str) -> np.ndarray:
    """Make scores of errors; a row with one that has no weight, or that the scheme gives no score, is rejected.

    errors: lists, each error with category and severity, None where it is not stated. made: rows that are scored so.
    """
    scheme = mqm.resolve(options.weights)
    flat = [
        (place, one.get("category"), one.get("severity"))
        for place in np.flatnonzero(made)
        for one in errors.iloc[place]
    ]
    place, kind, severity = (pd.Series([one[column] for one in flat], dtype=object) for column in range(3))
    kind, severity = kind.astype("str"), severity.astype("str")
    told = bool(options.weights) and schemas.UNSTATED in scheme.severities
    weight = scheme.weigh(kind, severity)
    weight = weight.mask(severity.isna() & ~weight.gt(0) & (not told), np.nan)  # else it would count as no error
    for row, level in zip(place[weight.isna()], severity[weight.isna()]):
        what = "an error without a severity, which" if pd.isna(level) else f"an error whose severity, {level},"
        one = schemas.UNSTATED if pd.isna(level) else level.casefold()
        remedy = f"tell all weights, such as --weights {shlex.quote(f'minor=1,major=5,critical=10,{one}=1')}"
        known = f"known are {', '.join(scheme.severities)}"
        reject([row], column, f"has {what} has no weight ({known}): correct it, or {remedy}")
    _, scores = scheme.scores(place.to_numpy(dtype=int), kind, weight.fillna(0.0).to_numpy(), len(errors))
    reject(np.flatnonzero(np.isnan(scores) & made), column, DISCARDED, EXCLUDED)
    return np.nan_to_num(scores) + 0.0


def _in_numbers(rows: pd.DataFrame, names: dict[str, str], options: Options, receipt: Receipt) -> pd.Series:
    """Write words of a scale as numbers, those of each criterion by themselves."""
    score = rows[names["score"]].astype("str")
    by = rows["criterion"] if "criterion" in rows else pd.Series(names["score"], index=rows.index)
    parts = [
        scales.in_numbers(cells, options.words, receipt.note, heading=str(name))[0]
        for name, cells in score[rows[SCORED].ne(BY_ERRORS)].groupby(by, dropna=False, sort=False)
    ]
    return pd.concat(parts).reindex(rows.index).astype("str") if parts else score


def spans_of(ratings: pd.DataFrame, options: Options, *, weighed: bool = False) -> pd.DataFrame:
    """List the errors of all judgements; of one with several criteria once. weighed: with what each weighs."""
    shown = [name for name in ("item_type", "hit", "started") if name in ratings]
    place = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", *shown]
    rows = ratings[ratings["_errors"].map(len).gt(0)].drop_duplicates(place)
    table = rows[place].loc[rows.index.repeat(rows["_errors"].map(len))]
    number = table.groupby(level=0).cumcount().add(1).astype("str")
    texts = rows["hypothesis"] if "hypothesis" in rows else pd.Series(None, index=rows.index, dtype=object)
    typed = any(one.get("category") for errors in rows["_errors"] for one in errors)
    untyped = schemas.UNSTATED if typed else "other"  # as in ESA, which asks for no types
    every = [(one, text) for errors, text in zip(rows["_errors"], texts) for one in errors]
    kinds, levels = (
        spelled(pd.Series([one.get(name) for one, _ in every], dtype="str")) for name in ("category", "severity")
    )
    places = pd.DataFrame([_place(*one) for one in every], columns=["start", "end", "side", "text", "omitted"])
    omitted = places.pop("omitted")
    kinds = kinds.mask(kinds.eq(schemas.UNSTATED), pd.Series(np.where(omitted, "omission", untyped), dtype="str"))
    levels = levels.replace("undecided", schemas.UNSTATED)
    marked = pd.DataFrame({"error_type": kinds, "severity": levels}).join(places.astype({"text": "str"}))
    if weighed:
        marked["weight"] = mqm.resolve(options.weights).weigh(kinds, levels)
    return pd.concat([table.assign(span=number).reset_index(drop=True), marked.reset_index(drop=True)], axis=1)


def _place(one: Error, text: object) -> tuple[float, float, str, str | None, bool]:
    """Say where an error lies: start and end (excluded), side, what was marked, and whether it is an omission's."""
    side, start, end = str(one.get("side") or "target"), one.get("start_i"), one.get("end_i")
    known = isinstance(text, str) and side == "target"
    beyond = known and "<" not in str(text) and isinstance(start, int) and start >= _units(str(text))
    if start == _OMITTED or beyond:
        return np.nan, np.nan, side, None, True
    if start is None or end is None:
        return np.nan, np.nan, side, one.get("text"), False
    inside = _cut(str(text), start, end + 1) if known else one.get("text")
    return float(start), float(end + 1), side, inside, False


def _units(text: str) -> int:
    """Count a text as browsers do, in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def _cut(text: str, start: int, end: int) -> str | None:
    """Cut a stretch out of a text, counted in UTF-16 code units."""
    if text.isascii():
        return text[start:end] or None
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "ignore") or None


# The WMT chat task: a row per judgement, its errors in lists cut by slashes

_CHAT = {
    "src_lang": "source_language",
    "tgt_lang": "target_language",
    "doc": "doc_id",
    "segment": "segment_id",
    "source": "source",
    "hypothesis": "mt",
    "reference": "reference",
    "score": "mqm",
}
_LISTS = ("severity", "typology_error", "start_index", "end_index")
_COUNTS = {"minor": 1.0, "major": 5.0, "critical": 10.0}
#: What the chat task's annotations have.
CHAT = tuple(name for name in (*_CHAT.values(), *_LISTS, *_COUNTS, "error", "nr_words") if name != "reference")
_FILE = re.compile(r"annotations\.[\w-]{1,10}\.(?P<system>[^.]{1,80})(\.primary)?\.csv")
_SLASHED = "Date/Time Format"  # the one type whose name has a slash
_SHOWN = 1e-6  # how far a score may be from what the counts give, by the digits that are written
_OWN_SCORE = (
    "the file's own column mqm: 100 less 100 times the weights (minor 1, major 5, critical 10, neutral 0) per word of "
    "the translation"
)


def convert_chat(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read a judgement a row, with the file's own score or, where weights are told, one that is made of the errors."""
    values, told = dict(options.values), {*options.values, *options.columns}
    if "system" not in told:
        if not (named := _FILE.fullmatch(table.named)):
            raise DataError(f"{table.name} does not say whose translations these are. Pass --value system=NAME.")
        values["system"] = named["system"]
        receipt.note(f"systems were read from the names of the files, as {values['system']} of {table.named}")
    if "annotator" not in told:
        values["annotator"] = "unnamed"
        receipt.note("the file does not name annotators (annotator is 'unnamed'): nothing can be said about agreement")
    names = {ours: theirs for ours, theirs in _CHAT.items() if theirs in table.header} | options.single
    names = {ours: theirs for ours, theirs in names.items() if ours not in options.values}
    vocabulary.unlike(table.header, {*names.values(), *_LISTS}, origin=table.name)
    receipt.describe(names, "layout", table.header)
    texts = [names.get("hypothesis"), names.get("source")]
    lists = [_listed(row, *(row.get(name) for name in texts)) for row in table.cells.fillna("").to_dict("records")]
    made = BY_ERRORS if options.weights else BY_PERSON
    cells = table.cells.assign(**{SCORED: made, ERRORS: pd.Series(lists, index=table.cells.index, dtype=object)})
    found = of_lists(cells, names, values, options, receipt, scale=None, typed=table.typed)
    if options.weights:
        mqm.tell(mqm.resolve(options.weights), receipt)
    else:
        receipt.weights = _OWN_SCORE
        receipt.orientation = "higher is better: the score is 100 less the weights of the errors per word, in percent"
        _hold(table.cells.loc[found.ratings.index], found.ratings["score"], receipt)
    if found.ratings["errors"].any():
        found.spans = spans_of(found.ratings, options, weighed=bool(options.weights))
    return found


def _listed(row: dict[str, str], target: str | None, source: str | None) -> list[Error] | str:
    """List the errors of a row; its severities where its lists do not agree.

    A marked text stands in the translation or, else, in the source.
    """
    severities, kinds, *places = (_parted(row[name]) for name in _LISTS)
    if len({*map(len, (severities, kinds, *places))}) > 1:
        return row["severity"] or row["start_index"]
    said = row["error"].split("/") if len(severities) != 1 else [row["error"]]
    said = said if len(said) == len(severities) else [""] * len(severities)
    errors = []
    for severity, kind, start, end, text in zip(severities, kinds, *places, said):
        first, last = _whole(start), _whole(end)
        placed = isinstance(first, int) and isinstance(last, int)
        in_source = text and placed and (target or "")[first:last] != text == (source or "")[first:last]
        ends = {"start_i": first, "end_i": last - 1} if placed else {}
        side = "source" if in_source else "target"
        errors.append({"severity": severity, "category": kind, "text": text or None, "side": side} | ends)
    return errors


def _parted(cell: str) -> list[str]:
    """Cut a list at its slashes, except that of a name.

    >>> _parted("Grammar/Date/Time Format"), _parted("0/41"), _parted("")
    (['Grammar', 'Date/Time Format'], ['0', '41'], [])
    """
    inner = cell.replace(_SLASHED, _SLASHED.replace("/", "\0"))
    return [part.strip().replace("\0", "/") for part in inner.split("/")] if cell else []


def _hold(cells: pd.DataFrame, score: pd.Series, receipt: Receipt) -> None:
    """Hold the file's scores against its counts of errors."""
    number = cells[[*_COUNTS, "nr_words"]].apply(pd.to_numeric, errors="coerce").astype(float)
    words = number["nr_words"]
    made = 100 - 100 * sum(number[name] * weight for name, weight in _COUNTS.items()) / words.where(words > 0)
    equal, empty = int((made.sub(score).abs() <= _SHOWN).sum()), int((words == 0).sum())
    receipt.note(
        f"{equal:,} of {len(score):,} scores are what the counts of minor, major and critical errors give; "
        f"{empty:,} are of translations of 0 words, which the file gives 0"
    )
