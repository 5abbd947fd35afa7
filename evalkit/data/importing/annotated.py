"""Turn what annotation tools export into judgements: scores that people gave, and those made of marked errors.

A tool's module lays its export out as a table with a row per judgement, and the columns named here besides its own.
"""

import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.importing import mqm, numbers, scales, vocabulary
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


def convert(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read judgements: scores that people gave, and scores that are made of the errors which they marked."""
    demand_one(table, options)
    lines = table.cells.index.to_numpy()
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
    scale = options.scale or _common_scale(judged, table.kind)
    parts = list(_parts(judged, names, values, scale, options, receipt))
    ratings = pd.concat([part.ratings for part in parts]).sort_index(kind="stable")
    receipt.segments = " ".join(_SEGMENTS[way] for way in judged[NAMED].dropna().unique() if way in _SEGMENTS)
    ratings = _typed(ratings, options, receipt)
    marked = _spans(ratings)
    ratings = ratings.assign(_place=ratings.index).set_index(pd.Index(lines[ratings.index], name="line"))
    rejected = [*reject.rows, *(row for part in parts for row in part.rejected)]
    ends = {part.scale for part in parts}
    only = ends.pop() if len(ends) == 1 else None
    if not only:
        receipt.scale_from = _why_unbounded(judged)
    return Judgements(ratings, _on_lines(rejected, lines), names, only, marked)


def _why_unbounded(judged: pd.DataFrame) -> str:
    """Say why there are no ends of a scale."""
    if judged[SCORED].eq(BY_ERRORS).any():
        return "the weights of errors have no end"
    own = judged[ENDS].notna().any()
    return "each criterion has its own" if own else "nothing says its ends; --scale LOW:HIGH would"


def _on_lines(rejected: list[Rejection], lines: np.ndarray) -> list[Rejection]:
    """Say on which line of the file each row stands, in their order."""
    for row in rejected:
        row.place, row.line = row.line, int(lines[row.line])
    return sorted(rejected, key=lambda row: row.place or 0)


def _parts(
    judged: pd.DataFrame,
    names: dict[str, str],
    values: dict[str, str],
    scale: tuple[float, float] | None,
    options: Options,
    receipt: Receipt,
) -> Iterator[Judgements]:
    """Convert the rows that people scored, and those that errors score, each with its own scale."""
    by_errors = judged[SCORED].eq(BY_ERRORS)
    score = names.get("score", "score")
    for rows, made in ((judged[~by_errors], False), (judged[by_errors], True)):
        if rows.empty:
            continue
        reject = Rejecting(rows, names.get("annotator"))
        errors = pd.Series([_errors(cell) for cell in rows[ERRORS]], index=rows.index, dtype=object)
        reject(
            np.flatnonzero(errors.isna()), ERRORS, "is no list of errors with whole places, start before end: mend it"
        )
        errors = errors.map(lambda own: own or [], na_action=None)
        if made:
            rows = rows.assign(**{score: _scored(errors, options, reject)})
        else:
            rows = rows.assign(**{score: _in_numbers(rows, score, options, receipt)})
        if not made and not scale:
            _reject_off_scales(rows, score, reject)
        ends = None if made else scale
        part = converted(rows[reject.kept], names | {"score": score}, values, options, scale=ends, note=receipt.note)
        kept = part.ratings.index
        part.ratings = part.ratings.assign(
            _errors=errors[kept], _kind=rows.loc[kept, KIND], _made=made, _designed=rows.loc[kept, DESIGNED].notna()
        )
        part.rejected = [*reject.rows, *part.rejected]
        yield part


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


def _scored(errors: pd.Series, options: Options, reject: Rejecting) -> list[str]:
    """Make scores of errors; a row with one that has no weight, or that the scheme gives no score, is rejected."""
    scheme = mqm.resolve(options.weights)
    flat = [(place, one.get("category"), one.get("severity")) for place, own in enumerate(errors) for one in own]
    place, kind, severity = (pd.Series([one[column] for one in flat], dtype=object) for column in range(3))
    kind, severity = kind.astype("str"), severity.astype("str")
    told = bool(options.weights) and schemas.UNSTATED in scheme.severities
    weight = scheme.weigh(kind, severity).mask(severity.isna() & (not told), np.nan)
    for row, level in zip(place[weight.isna()], severity[weight.isna()]):
        what = "has an error without a severity" if pd.isna(level) else f"has an error of severity {level!r}, no weight"
        known = f"known are {', '.join(scheme.severities)}"
        one = schemas.UNSTATED if pd.isna(level) else level.casefold()
        remedy = f"tell all weights, such as --weights {shlex.quote(f'minor=1,major=5,critical=10,{one}=1')}"
        reject([row], ERRORS, f"{what} ({known}): correct it, or {remedy}")
    _, scores = scheme.scores(place.to_numpy(dtype=int), kind, weight.fillna(0.0).to_numpy(), len(errors))
    reject(np.flatnonzero(np.isnan(scores)), ERRORS, DISCARDED, EXCLUDED)
    return [f"{score + 0.0:.12g}" for score in np.nan_to_num(scores)]


def _common_scale(judged: pd.DataFrame, tool: str) -> tuple[float, float] | None:
    """Return the ends of the one scale that people used; None where criteria have their own, or nothing says it."""
    stated = judged.loc[~judged[SCORED].eq(BY_ERRORS), ENDS]
    ends = stated.dropna().unique()
    if not len(ends):
        return SCALES.get(tool)
    return _ends(ends[0]) if len(ends) == 1 and stated.notna().all() else None


def _ends(cell: str) -> tuple[float, float] | None:
    low, _, high = cell.partition(":")
    try:
        return (float(low), float(high)) if float(low) < float(high) else None
    except ValueError:
        return None


def _reject_off_scales(rows: pd.DataFrame, score: str, reject: Rejecting) -> None:
    """Reject scores off the scale of their own criterion."""
    for ends in rows[ENDS].dropna().unique():
        places = np.flatnonzero(rows[ENDS].eq(ends))
        values, _ = numbers.read(rows[score].iloc[places])
        for place, reason in numbers.off_scale(values, _ends(ends)).items():
            reject([places[place]], score, reason.partition(":")[0] + ", the ends of its slider: correct it")


def _in_numbers(rows: pd.DataFrame, score: str, options: Options, receipt: Receipt) -> pd.Series:
    """Write words of a scale as numbers, those of each criterion by themselves."""
    by = rows["criterion"] if "criterion" in rows else pd.Series(score, index=rows.index)
    parts = [
        scales.in_numbers(cells.astype("str"), options.words, receipt.note, heading=str(name))[0]
        for name, cells in rows[score].groupby(by, dropna=False, sort=False)
    ]
    return pd.concat(parts).reindex(rows.index)


def _typed(ratings: pd.DataFrame, options: Options, receipt: Receipt) -> pd.DataFrame:
    """Tell references and second showings, count errors, and say which way is better."""
    human = pd.Series(False, index=ratings.index)
    if not ratings["_designed"].any():  # else the design says which translations are a person's
        human = people(ratings["system"], receipt.note)
    kinds = ratings["item_type"].mask(human & ratings["item_type"].eq("system"), "reference")
    timed = "started" in ratings and ratings["started"].notna().all()
    again = ratings["_kind"].eq(REPEAT) & (human | (not timed))  # times tell which of two came first
    ratings = ratings.assign(item_type=kinds.mask(again, "repeat"))
    counts, made = ratings["_errors"].map(len), ratings["_made"]
    if counts.any() or made.any():
        ratings = ratings.assign(errors=counts.astype(float))
    if made.any():
        receipt.weights = mqm.resolve(options.weights).describe()
    given = [] if made.all() else ["scores that annotators gave"]
    given += ["minus the weights of errors"] if made.any() else []
    receipt.orientation = f"higher is better: {' and '.join(given)}"
    return ratings


def _spans(ratings: pd.DataFrame) -> pd.DataFrame | None:
    """List the errors of all judgements; of one with several criteria once."""
    shown = [name for name in ("item_type", "hit", "started") if name in ratings]
    place = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", *shown]
    rows = ratings[ratings["_errors"].map(len).gt(0)].drop_duplicates(place)
    if rows.empty:
        return None
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
