"""Import what annotation tools export: a row per judgement, which a tool's module laid out, its errors as JSON."""

import json
import shlex
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.importing.cells import columns, ladders, numbers
from evalkit.data.importing.files.rows import Rows
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import Converted, converted, demand_columns, human
from evalkit.data.importing.kinds import weights
from evalkit.data.importing.kinds.paired import demand_one
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import EXCLUDED, Rejecting, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.typology import spelled

#: The column that names the tool; then those that say what a row is, and what none of our columns says.
TOOL, KIND, SCORED, ERRORS, NAMED = "tool", "row_kind", "scored_by", "error_spans", "segment_by"
ENDS = "slider_ends"  # of the scale of a criterion, like 0:5; a question mark where they are unknown
DESIGNED = "designed"  # marks rows whose kinds of items the campaign's own design has told
OWN = (TOOL, KIND, SCORED, ERRORS, NAMED, ENDS, DESIGNED)
#: Rows that are no judgements of the campaign, by ``KIND``, and why.
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
DISCARDED = "is of a translation that the scheme of weights gives no score"
#: A second showing of the same translation, which is a judgement of the campaign.
REPEAT = "repeat"
BY_ERRORS, BY_PERSON = "errors", "annotator"  # what scores a row, in ``SCORED``
_OMITTED = "missing"  # stands for the place of an error where a translation lacks something
_MOST_ERRORS = 10_000  # of one judgement
_SCALES = {"pearmut": (0.0, 100.0)}
_SEGMENTS = {
    "id": "",
    "text": "No names of segments are in the file: one source text is one segment, whatever its document.",
    "position": "The file names no segments and holds no texts: a segment is a position (item_i) in one annotator's "
    "own task, so nothing says which segments annotators share. Put the campaign's JSON beside the log, or pass "
    "--map segment=item_i if all were shown the same items in the same order.",
    "task": "No field names segments or source texts: a segment is one task of the tool, so nothing says which tasks "
    "show the same segment. Name the field with --map segment=FIELD.",
    "shared": "Segments are positions (item_i) in the campaign's shared list of items, which its JSON says is one for "
    "all.",
}


def _match(head: Head, options: Options, *, tool: str, title: str) -> Match:
    """Fits where the tool's module laid the file out."""
    cells = head.samples(TOOL) if TOOL in head.header else []
    if cells and {*cells} == {tool}:
        return Match(1.0, "", head.header, head.line, f"by its fields, which are those of {title}")
    return Match(-1.0, f"the fields of {title}")


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report, *, tool: str) -> Converted:
    """Read judgements: scores that people gave, and scores that are made of the errors which they marked."""
    demand_one(head, options)
    lines = rows.frame.index.to_numpy()
    frame = rows.frame.reset_index(drop=True)  # one line may hold several judgements: rows go by their places
    frame = frame.assign(**{name: None for name in (*OWN, "score") if name not in frame})
    filled = [name for name in match.header if name not in OWN and frame[name].notna().any()]
    known = columns.mapped(filled, options.single, origin=head.name, given=options.values)
    if frame[DESIGNED].isna().all():
        known.names.pop("item_type", None)  # of an export, it says something else
    names, values = known.names, dict(options.values)
    with_languages(names, values, head, report)
    if "doc" not in names:
        values.setdefault("doc", "all")
    describe(report, known, filled)
    reject = Rejecting(frame, names.get("annotator"))
    for kind, reason in NO_JUDGEMENTS.items():
        reject(np.flatnonzero(frame[KIND].eq(kind)), KIND, reason, EXCLUDED)
    judged = frame[reject.kept]
    if judged.empty:
        return Converted(pd.DataFrame(), _on_lines(reject.rows, lines), names)
    demand_columns({*names, *values, "score"}, origin=head.name, header=filled)
    scale = options.scale or _common_scale(judged, tool)
    parts = list(_parts(judged, names, values, scale, options, report))
    ratings = pd.concat([part.ratings for part in parts]).sort_index(kind="stable")
    _tell(judged, report)
    ratings = _typed(ratings, options, report)
    marked = _spans(ratings)
    ratings = ratings.assign(_place=ratings.index).set_index(pd.Index(lines[ratings.index], name="line"))
    rejected = [*reject.rows, *(row for part in parts for row in part.rejected)]
    scales = {part.scale for part in parts}
    ends = scales.pop() if len(scales) == 1 else None
    if not ends:
        report.scale_from = _why_unbounded(judged)
    return Converted(ratings, _on_lines(rejected, lines), names, ends, marked)


def _why_unbounded(judged: pd.DataFrame) -> str:
    """Say why there are no ends of a scale."""
    if judged[SCORED].eq(BY_ERRORS).any():
        return "the weights of errors have no end"
    return (
        "each criterion has its own" if judged[ENDS].notna().any() else "nothing says its ends; --scale LOW:HIGH would"
    )


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
    report: Report,
) -> Iterator[Converted]:
    """Convert the rows that people scored, and those that errors score, each with its own scale."""
    by_errors = judged[SCORED].eq(BY_ERRORS)
    score = names.get("score", "score")
    for rows, made in ((judged[~by_errors], False), (judged[by_errors], True)):
        if rows.empty:
            continue
        reject = Rejecting(rows, names.get("annotator"))
        errors = _read_errors(rows, reject)
        if made:
            rows = rows.assign(**{score: _scored(errors, options, reject)})
        else:
            rows = rows.assign(**{score: _in_numbers(rows, score, options, report)})
        if not made and not scale:
            _reject_off_scales(rows, score, reject)
        ends = None if made else scale
        part = converted(rows[reject.kept], names | {"score": score}, values, options, scale=ends, note=report.note)
        kept = part.ratings.index
        part.ratings = part.ratings.assign(
            _errors=errors[kept], _kind=rows.loc[kept, KIND], _made=made, _designed=rows.loc[kept, DESIGNED].notna()
        )
        part.rejected = [*reject.rows, *part.rejected]
        yield part


def _read_errors(rows: pd.DataFrame, reject: Rejecting) -> pd.Series:
    """Read the errors of each row, and reject rows of which one cannot be read."""
    found = pd.Series([[] for _ in range(len(rows))], index=rows.index, dtype=object)
    for place, cell in enumerate(rows[ERRORS]):
        found.iloc[place], reason = _errors(cell)
        if reason:
            reject([place], ERRORS, reason)
    return found


def _scored(errors: pd.Series, options: Options, reject: Rejecting) -> list[str]:
    """Make scores of errors; a row with one that has no weight, or that the scheme gives no score, is rejected."""
    scheme = weights.resolve(options.weights)
    flat = [(place, one.get("category"), one.get("severity")) for place, found in enumerate(errors) for one in found]
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
    places = place.to_numpy(dtype=int)
    _, scores = scheme.scores(places, kind, weight.fillna(0.0).to_numpy(), len(errors))
    reject(np.flatnonzero(np.isnan(scores)), ERRORS, DISCARDED, EXCLUDED)
    return [f"{score + 0.0:.12g}" for score in np.nan_to_num(scores)]


def _common_scale(judged: pd.DataFrame, tool: str) -> tuple[float, float] | None:
    """Return the ends of the one scale that people used; None where criteria have their own, or nothing says it."""
    stated = judged.loc[~judged[SCORED].eq(BY_ERRORS), ENDS]
    ends = stated.dropna().unique()
    if not len(ends):
        return _SCALES.get(tool)
    return _ends(ends[0]) if len(ends) == 1 and stated.notna().all() else None


def _reject_off_scales(rows: pd.DataFrame, score: str, reject: Rejecting) -> None:
    """Reject scores off the scale of their own criterion."""
    for ends in rows[ENDS].dropna().unique():
        places = np.flatnonzero(rows[ENDS].eq(ends))
        values, _ = numbers.read(rows[score].iloc[places])
        for place, reason in numbers.off_scale(values, _ends(ends)).items():
            reject([places[place]], score, reason.partition(":")[0] + ", the ends of its slider: correct it")


def _ends(cell: str) -> tuple[float, float] | None:
    low, _, high = cell.partition(":")
    try:
        return (float(low), float(high)) if float(low) < float(high) else None
    except ValueError:
        return None


def _errors(cell: object) -> tuple[list[dict[str, Any]], str]:
    """Read the errors of one judgement, and say what is wrong with them; an empty cell has none."""
    if not isinstance(cell, str):
        return [], ""
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return [], "is no list of errors in JSON: mend it"
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found) or len(found) > _MOST_ERRORS:
        return [], "is no list of errors in JSON: mend it"
    for one in found:
        start, end = one.get("start_i"), one.get("end_i")
        placed = type(start) is int and type(end) is int and 0 <= start <= end < 1 << 40
        if not placed and not (start == end == _OMITTED) and not (start is None and end is None):
            return [], "has an error that ends before it starts, or whose place is no whole number: correct it"
    return found, ""


def _in_numbers(rows: pd.DataFrame, score: str, options: Options, report: Report) -> pd.Series:
    """Write words of a scale as numbers, those of each criterion by themselves."""
    if "criterion" not in rows:
        return ladders.scored(rows[score], options.words, report.note, heading=score)[0]
    parts = [
        ladders.scored(cells, options.words, report.note, heading=str(name))[0]
        for name, cells in rows[score].groupby(rows["criterion"], dropna=False, sort=False)
    ]
    return pd.concat(parts).reindex(rows.index)


def _typed(ratings: pd.DataFrame, options: Options, report: Report) -> pd.DataFrame:
    """Tell references and second showings, count errors, and say which way is better."""
    if ratings["_designed"].any():
        people = pd.Series(False, index=ratings.index)  # the design says which translations are a person's
    else:
        people = human(ratings["system"], report.note)
    kinds = ratings["item_type"].mask(people & ratings["item_type"].eq("system"), "reference")
    timed = "started" in ratings and ratings["started"].notna().all()
    again = ratings["_kind"].eq(REPEAT) & (people | (not timed))  # times tell which of two came first
    ratings = ratings.assign(item_type=kinds.mask(again, "repeat"))
    counts = ratings["_errors"].map(len)
    if counts.any() or ratings["_made"].any():
        ratings = ratings.assign(errors=counts.astype(float))
    made = ratings["_made"]
    if made.any():
        report.weights = weights.resolve(options.weights).describe()
    higher = "higher is better: " + ("scores that annotators gave" if not made.all() else "")
    report.orientation = (
        higher
        + (" and " if made.any() and not made.all() else "")
        + ("minus the weights of errors" if made.any() else "")
    )
    return ratings


def _tell(judged: pd.DataFrame, report: Report) -> None:
    """Say how segments were found."""
    ways = [_SEGMENTS[way] for way in judged[NAMED].dropna().unique() if _SEGMENTS.get(way)]
    report.segments = " ".join(ways)


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
    named = (spelled(pd.Series([one.get(name) for one, _ in every], dtype="str")) for name in ("category", "severity"))
    marked = [(kind, severity, *_place(one, text)) for kind, severity, (one, text) in zip(*named, every)]
    found = pd.DataFrame(marked, columns=["error_type", "severity", "start", "end", "side", "text", "omitted"])
    kind, omitted = found["error_type"], found.pop("omitted")
    found["error_type"] = kind.mask(kind.eq(schemas.UNSTATED), np.where(omitted, "omission", untyped))
    found["severity"] = found["severity"].replace("undecided", schemas.UNSTATED)
    found["text"] = found["text"].astype("str")
    return pd.concat([table.assign(span=number).reset_index(drop=True), found], axis=1)


def _place(one: dict[str, Any], text: object) -> tuple[float, float, str, str | None, bool]:
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


_TITLES = {"pearmut": "Pearmut", "label-studio": "Label Studio", "doccano": "Doccano", "prodigy": "Prodigy"}
#: A format for each tool.
ANNOTATED = [
    Format(
        tool,
        f"an export of {title}",
        _SCALES.get(tool),
        partial(_match, tool=tool, title=title),
        partial(_convert, tool=tool),
    )
    for tool, title in _TITLES.items()
]
