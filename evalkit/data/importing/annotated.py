"""Judgements with marked errors: what errors weigh, the scores that they make, and where they lie.

Whatever reads marked errors makes two frames: the rows of the file, numbered from 0, and marks, a row an error. A mark
has ``row`` (the number of the row that says it), category and severity (missing where unstated), start and end (the end
excluded; missing where unknown), side and text. Rows that are laid out by a tool's module have the columns named here.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing import records, scales, vocabulary
from evalkit.data.importing.comparisons import demand_one
from evalkit.data.importing.judgements import Rows, Scales
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import DISCARDED, EXCLUDED, Judgements, Table
from evalkit.data.importing.vocabulary import bare
from evalkit.data.typology import SCHEMES, WMT, Scheme, spelled

#: Annotation tools whose exports are laid out as rows with the columns below.
TOOLS = ("pearmut", "label-studio", "doccano", "prodigy", "wmt25")
#: What a row is (nothing: a judgement); whether its errors make its score; its errors, a list of objects; how its
#: segment is named; the ends of its scale, like 0:5 (? where unknown); whether a campaign's design knows its item.
KIND, MADE, ERRORS = "row_kind", "made_of_errors", "error_spans"
NAMED, ENDS, DESIGNED = "segment_by", "slider_ends", "designed"
OWN = (KIND, MADE, ERRORS, NAMED, ENDS, DESIGNED)
#: A second showing of the same translation, which is a judgement of the campaign.
REPEAT = "repeat"
#: Rows that are no judgements of the campaign, and why.
NO_JUDGEMENTS: dict[str, str] = vocabulary.table("no_judgements")
_SEGMENTS: dict[str, str] = vocabulary.table("unnamed_segments")
_MARK = ["row", "category", "severity", "start", "end", "side", "text", "suggested"]
_SCORE = "(score)"  # the heading of scores that errors make
_OMITTED = "missing"  # stands for the place of an error where a translation lacks something
_FAR = 1 << 40  # no text is as long

# What errors weigh: a scheme by its name, or weights as a user tells them

_LIKE = "rite like --weights minor=1,major=5,critical=10"


def resolve(text: str | None) -> Scheme:
    """Return the scheme that ``--weights`` names or spells out; without it, that of WMT's MQM (Freitag et al. 2021).

    text: a name, or a part that only one name has; or ``SEVERITY=WEIGHT`` and ``TYPE:SEVERITY=WEIGHT`` (``*``: any),
    cut by commas. Weights that are spelled out have no exceptions but those told; neutral ones weigh 0 unless told.
    Raises DataError for anything else, naming the schemes.

    >>> told = resolve("minor=1, Major=5, fluency/punctuation:minor=0.1")
    >>> told.weigh(pd.Series(["Fluency/Punctuation", "Other"]), pd.Series(["Minor", "Major"])).tolist()
    [0.1, 5.0]
    >>> resolve("burchardt") is SCHEMES["Burchardt & Lommel 2014"], resolve(None) is SCHEMES[WMT]
    (True, True)
    """
    if text is None:
        return SCHEMES[WMT]
    if "=" in text:
        return _spelled_out(text)
    wanted = text.strip().casefold()
    near = [name for name in SCHEMES if wanted and wanted in name.casefold()]
    near = [name for name in near if name.casefold() == wanted] or near
    if len(near) != 1:
        raise DataError(f"--weights {text!r}: name one scheme of {'; '.join(near or SCHEMES)}. Or w{_LIKE}.")
    return SCHEMES[near[0]]


def _spelled_out(text: str) -> Scheme:
    """Read weights that a user spells out."""
    severities, fixed = dict[str, float](), list[tuple[str, str, float]]()
    for part in text.split(","):
        name, _, value = part.partition("=")
        kind, _, severity = (" ".join(one.casefold().split()) for one in name.rpartition(":"))
        if not re.fullmatch(r"\d{1,6}(\.\d{1,9})?|\.\d{1,9}", value.strip(), re.ASCII):
            raise DataError(f"--weights: {part.strip()!r} gives no weight of 0 or more. W{_LIKE}.")
        if not severity or (severity == "*" and not kind):
            raise DataError(f"--weights: {part.strip()!r} names no severity. W{_LIKE}.")
        if kind:
            fixed.append((spelled(pd.Series([kind], dtype="str"))[0], severity, float(value)))
        else:
            severities[severity] = float(value)
    told = [f"{severity} {weight:g}" for severity, weight in severities.items()]
    told += [f"{kind} {severity} {weight:g}".replace(" *", "") for kind, severity, weight in fixed]
    ending = "" if fixed else ", whatever the type"
    return Scheme(f"as told: {', '.join(told)}{ending}", severities, top=0.0, fixed=fixed)


def tell(scheme: Scheme, receipt: Receipt, *, before: str = "", given: bool = False) -> None:
    """Put into the receipt what errors weigh, and which way is better.

    before: whose weights these are. given: some scores are what annotators gave.
    """
    receipt.weights = before + scheme.describe()
    made = f"{f'{scheme.top:g} less' if scheme.top else 'minus'} the weights of the errors"
    receipt.orientation = f"higher is better: the score is {made}{', or what annotators gave' * given}"


# Which columns a layout has


def headed(table: Table, known: Mapping[str, Sequence[str]], options: Options) -> dict[str, str]:
    """Map the headings of a layout, synonyms of them that only one column has, and those that the user names.

    known: our name -> what heads it in the layout, the usual heading first; compared without case and marks.
    """
    told, found = options.single, dict[str, str]()
    for ours in (ours for ours in known if ours not in {*options.columns, *options.values}):
        taken = {*found.values(), *told.values()}
        fits = vocabulary.fitting(ours, (name for name in table.header if name not in taken), known[ours])
        if len({*map(bare, fits)}) == 1:  # of twins the first, which are refused when they are read
            found[ours] = fits[0]
    return {ours: name for ours, name in (found | told).items() if name}


def complete(rows: Rows, names: dict[str, str]) -> None:
    """Take these columns of a layout. Raises DataError where one is not there, or stands twice, or more are needed."""
    table, told = rows.table, rows.options.single
    vocabulary.demand_present(table.header, names, origin=table.name)
    vocabulary.unlike(table.header, {*names.values()} - {*told.values()}, origin=table.name)
    rows.names = names
    rows.complete(made=["score"])


# Marks


def listed(cells: Iterable[Any], texts: Iterable[Any]) -> tuple[pd.DataFrame, list[int]]:
    """Take lists of errors apart: their marks, and the numbers of the rows whose list cannot be read.

    cells: lists as Pearmut and Appraise have them, of objects with start_i and end_i (the last letter; counted in
    UTF-16 code units, as browsers do), severity and category; perhaps side, text, and suggested (by the task, not by a
    person). texts: the translations, where they are known.

    >>> marks, broken = listed([[{"start_i": 0, "end_i": 1, "severity": "minor"}], [3]], ["Hallo", None])
    >>> marks.to_dict("records")[0]["text"], broken
    ('Ha', [1])
    """
    marks, broken = [], []
    for row, (said, text) in enumerate(zip(cells, texts)):
        if isinstance(said, list):
            own = [_mark(one, text if isinstance(text, str) else None) for one in said]
            marks += [(row, *one) for one in own if one]
            broken += [row] * (None in own)
        elif said is not None and said == said and said != "":
            broken.append(row)
    texts = dict.fromkeys(("category", "severity", "side", "text"), "str")
    frame = pd.DataFrame(marks, columns=_MARK).astype(texts | {"start": float, "end": float, "row": int})
    return frame if frame["suggested"].any() else frame.drop(columns="suggested"), broken


def _mark(one: Any, text: str | None) -> tuple[Any, ...] | None:
    """Read one error: category, severity, start, end, side and text; None where it has no sound place."""
    if not isinstance(one, dict):
        return None
    start, end, side = place(one.get("start_i")), place(one.get("end_i")), records.cell(one.get("side")) or "target"
    kind, level = (records.cell(one.get(name)) or None for name in ("category", "severity"))
    level = None if level and level.casefold() == "undecided" else level
    marked, suggested = one.get("text"), one.get("suggested") is True
    if start is None and end is None:
        return kind, level, np.nan, np.nan, side, marked, suggested
    text = text if side == "target" else None
    if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end < _FAR:
        units = text.encode("utf-16-le") if text is not None else b""
        if text is None or "<" in text or 2 * start < len(units):
            inside = units[2 * start : 2 * end + 2].decode("utf-16-le", "ignore") or None
            return kind, level, float(start), float(end + 1), side, marked if text is None else inside, suggested
    elif not start == end == _OMITTED:
        return None
    return kind or "omission", level, np.nan, np.nan, side, None, suggested


def place(value: Any) -> Any:
    """Read a place in a text; what is no whole number stays."""
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 15 else value


def judged(
    rows: Rows,
    marks: pd.DataFrame,
    *,
    made: np.ndarray,
    scale: Scales = None,
    column: str = ERRORS,
    first: np.ndarray | None = None,
) -> tuple[Judgements, pd.DataFrame]:
    """Turn rows and their marks into judgements; a row with an error that has no weight is rejected.

    made: rows whose score their errors make. column: in which errors stand. first: of each row the number of the first
    one of its judgement, where several rows say its errors; then all of them are rejected together.
    Returns the judgements, with ``errors`` (how many); and the marks of those, with ``judgement`` (the number of its
    row), error_type, severity and, where they make scores, weight.
    Raises DataError where the user says that lower is better.
    """
    if rows.options.lower_is_better:
        raise DataError(f"{rows.table.name}: its scores are better when higher. Leave --lower-is-better out.")
    own, receipt, weights = np.arange(len(rows.cells)), rows.receipt, rows.options.weights
    first = own if first is None else first
    marks = marks[rows.kept[marks["row"]]].reset_index(drop=True)
    text = np.full(len(own), "", dtype=object)
    if made.any():
        scheme = resolve(weights)
        tell(scheme, receipt, given=not made.all())
        marks["weight"] = _weighed(marks, scheme, bool(weights))
        bad = marks[marks["weight"].isna() & made[marks["row"]]]
        for level, numbers in bad.groupby(bad["severity"].fillna(""))["row"]:
            rows.reject(numbers, column, _without_weight(str(level), scheme))
        lost = [row for row, gone in rows.gone.items() if gone.kind != EXCLUDED]
        reason = "belongs to a judgement with an error of unknown category or severity"
        rows.reject(np.flatnonzero(np.isin(first, first[lost])), "", reason)
        of = first[marks["row"]]
        _, score = scheme.scores(of, marks["category"], marks["weight"].fillna(0.0).to_numpy(), len(own))
        rows.reject(np.flatnonzero(np.isnan(score) & made & (first == own)), column, DISCARDED, EXCLUDED)
        text[made] = [f"{one:.12g}" for one in score[made] + 0.0]
    rows.further = first != own
    given = pd.Series("", own) if made.all() else _in_numbers(rows, made)
    rows.cells = rows.cells.assign(
        **{rows.names.setdefault("score", _SCORE): given.mask(made, pd.Series(text, dtype="str"))}
    )
    found = rows.judgements(scale=scale)
    marks = marks.assign(judgement=first[marks["row"]], **_kinds(marks))
    marks = marks[marks["judgement"].isin(found.ratings.index)]
    counts = marks["judgement"].value_counts().reindex(found.ratings.index, fill_value=0)
    found.ratings = found.ratings.assign(errors=counts.astype(float))
    found.folded = int(rows.further.sum() - rows.further[[*rows.gone]].sum())
    return found, marks


def _weighed(marks: pd.DataFrame, scheme: Scheme, told: bool) -> pd.Series:
    """Weigh errors; one without a severity has no weight unless its type or the user gives it one."""
    weight = scheme.weigh(marks["category"], marks["severity"])
    unknown = marks["severity"].isna() & ~weight.gt(0) & (not (told and schemas.UNSTATED in scheme.severities))
    return weight.mask(unknown, np.nan)  # else it would count as no error


def _without_weight(level: str, scheme: Scheme) -> str:
    what = f"an error whose severity, {level}," if level else "an error without a severity, which"
    weights = f"minor=1,major=5,critical=10,{level.casefold() or schemas.UNSTATED}=1"
    known = f"known are {', '.join(scheme.severities)}"
    remedy = f"tell all weights, such as --weights {shlex.quote(weights)}"
    return f"has {what} has no weight ({known}): correct it, or {remedy}"


def _in_numbers(rows: Rows, made: np.ndarray) -> pd.Series:
    """Write words of a scale as numbers, those of each criterion by themselves."""
    score, by = rows.column("score").astype("str"), rows.column("criterion")
    parts = [
        scales.in_numbers(own, rows.options.words, rows.note, heading=name)[0]
        for name, own in score[~made].groupby(by.fillna(rows.names["score"]), sort=False)
    ]
    return pd.concat(parts).reindex(score.index).astype("str")


def _kinds(marks: pd.DataFrame) -> dict[str, pd.Series]:
    """Name types and severities as ours; errors of campaigns that ask for no types, such as ESA's, are ``other``."""
    kinds, levels = spelled(marks["category"]), spelled(marks["severity"])
    typed = marks["category"].notna() & kinds.ne("omission")
    return {"error_type": kinds if typed.any() else kinds.replace(schemas.UNSTATED, "other"), "severity": levels}


def spans_of(
    ratings: pd.DataFrame, marks: pd.DataFrame, shown: Sequence[str] = ("item_type", "hit", "started")
) -> pd.DataFrame | None:
    """List the errors of judgements, those of one with several criteria once; None where there are none.

    shown: which columns of judgements errors have, too, where these are there.
    """
    place = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", *(name for name in shown if name in ratings)]
    rows = ratings.drop_duplicates(place)
    marks = marks[marks["judgement"].isin(rows.index)]
    if marks.empty:
        return None
    said = ["error_type", "severity", "start", "end", "side", "text", "weight", "suggested"]
    table = rows.loc[marks["judgement"], place].reset_index(drop=True)
    judgement = [name for name in place if name != "against"]  # of one beside several others, errors are counted on
    number = table.groupby(judgement, dropna=False, sort=False).cumcount().add(1).astype("str")
    return table.assign(span=number).join(marks[[name for name in said if name in marks]].reset_index(drop=True))


# What annotation tools export, laid out as rows by their modules


def convert(rows: Rows) -> Judgements:
    """Read judgements: scores that people gave, and scores that are made of the errors which they marked."""
    table, receipt, options = rows.table, rows.receipt, rows.options
    demand_one(table, options)
    rows.cells = cells = rows.cells.assign(**{name: None for name in (*OWN, "score") if name not in rows.cells})
    filled = [name for name in table.header if name not in OWN and cells[name].notna().any()]
    rows.names, notes = vocabulary.mapped(filled, options.single, origin=table.name, given=options.values)
    if cells[DESIGNED].isna().all():
        rows.names.pop("item_type", None)  # of an export, it says something else
    rows.complete(filled, made=["score"])
    names = rows.names
    for note in notes:
        receipt.note(note)
    for kind, reason in NO_JUDGEMENTS.items():
        rows.reject(np.flatnonzero(cells[KIND].eq(kind)), KIND, reason, EXCLUDED)
    rest = cells[rows.kept]
    if rest.empty:
        return Judgements(pd.DataFrame(index=rest.index), names=names)
    receipt.segments = " ".join(_SEGMENTS[way] for way in rest[NAMED].dropna().unique() if way in _SEGMENTS)
    marks, broken = listed(cells[ERRORS], rows.column("hypothesis"))
    wrong = "is no list of errors with whole places, start before end, and a type and severity each: correct it"
    rows.reject(broken, ERRORS, wrong)
    made = cells[MADE].notna().to_numpy() & cells[KIND].isin(["", None, REPEAT]).to_numpy()
    receipt.orientation = "higher is better: scores that annotators gave"
    scale = _scale(rest, names, options)
    names.setdefault("score", "score")
    found, marks = judged(rows, marks, made=made, scale=scale)
    if found.scale is None:
        each = "each criterion has its own" if rest[ENDS].notna().any() else "nothing says it; pass --scale LOW:HIGH"
        receipt.scale_from = "the weights of errors have no end" if made.any() else each
    kinds = found.ratings["item_type"]
    timed = "started" in found.ratings and found.ratings["started"].notna().all()  # which of two came first
    again = cells[KIND].eq(REPEAT)[kinds.index] & (kinds.eq("reference") | (not timed))
    found.ratings["item_type"] = kinds.mask(again, REPEAT)
    found.spans = spans_of(found.ratings, marks)
    if not made.any() and not len(marks):
        found.ratings = found.ratings.drop(columns="errors")
    return found


def _scale(rows: pd.DataFrame, names: Mapping[str, str], options: Options) -> Scales:
    """Return the ends of the scale of scores that people gave; of each criterion, where there are several."""
    ends = [None if made else options.scale or _ends(told) for made, told in zip(rows[MADE].notna(), rows[ENDS])]
    if "criterion" not in names:
        return ends[0] if len({*ends}) == 1 else None
    return {name: own for name, own in zip(rows[names["criterion"]], ends) if isinstance(name, str)}


def _ends(cell: object) -> tuple[float, float] | None:
    low, _, high = str(cell).partition(":")
    try:
        return (float(low), float(high)) if float(low) < float(high) else None
    except ValueError:
        return None
