"""Import tables with a row per judgement, or a row per item and a column of scores per evaluator: CSV and XSTS."""

import hashlib
import re
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.automatic.columns import taken
from evalkit.data.importing.cells import checks, columns, ladders, orientation
from evalkit.data.importing.files.rows import Rows
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import ITEM_TYPES, USUAL, Converted, constant, converted, demand_columns
from evalkit.data.importing.kinds import layouts, scoring
from evalkit.data.importing.kinds.paired import demand_one
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import Rejection
from evalkit.data.importing.report import Report
from evalkit.data.names import plain

_NUMBERED = re.compile(rf"{layouts.SCORE}[\W_]+\w{{1,12}}|{layouts.SCORE}\W*\d+", re.I)
_COUNTED = re.compile(rf"{layouts.SCORE}[\W_]*(\d{{1,3}}|[a-z])", re.I)
_ON_SCALE = re.compile(r"[1-4]([.,]0+|[.,]50*)?|5([.,]0+)?")
_SPARE = ("src_lang", "tgt_lang", "pair", "doc", "hit")  # columns that may be there and empty, as in a template
_PART, _SEGMENT, _PLACE = "(column)", "(segment)", "(place in the list)"  # headings of columns that are made
_CALLED = "by a column called XSTS"
_SHOWN = 20  # columns that are named
_OF_ROLE = {"annotator": "evaluator", "system": "system", "criterion": "criterion"}


def _match_csv(head: Head, options: Options) -> Match:
    """Fits where the headings name what a judgement needs, or columns of scores can be told."""
    found = layouts.known(head, options)
    wide, why = layouts.found(head, options), "by its headings"
    if wide and wide.role:
        found |= {"score", wide.role}
        why = f"by its headings, with {len(wide.columns)} columns of scores, one per {_OF_ROLE[wide.role]}"
    elif layouts.single(head, options):
        found.add("score")
    if not wide and _lists(head, options):
        found.add("annotator")
    wanted = ["system", "segment", "annotator", "score"]
    lacks = [name for name in wanted if name not in found and not (name == "segment" and "source" in found)]
    return Match(0.8 * (1 - len(lacks) / 4), ", ".join(lacks), head.header, head.line, why)


def _match_xsts(head: Head, options: Options) -> Match:
    """Fits where evaluators have a column of scores each, or all scores are whole numbers from 1 to 5."""
    wide = score_columns(head, options)
    found = {columns.meaning(name) for name in head.header} | {*options.columns, *options.values}
    anchored = bool(found & {"segment", "source", "hypothesis"})
    if wide:
        lacks = "" if anchored else "a column of segments or source texts"
        why = f"by its {len(wide)} columns of scores from 1 to 5, one per evaluator"
        return Match(0.93 if anchored else 0.7, lacks, head.header, head.line, why)
    told = options.single.get("score")
    named = [told] if told in head.header else [name for name in head.header if columns.meaning(name) == "score"]
    missing = [name for name in ("annotator", "score") if name not in found] + ["segment or source"] * (not anchored)
    if len(named) != 1 or missing:
        lacks = ", ".join(missing) or "one column of scores"
        return Match(0.6 * (1 - len(missing) / 3), lacks, head.header, head.line)
    cells, stated = head.samples(named[0]), columns.scale_in(named[0])
    if stated and stated != XSTS.scale:
        return Match(0.6, "a scale from 1 to 5", head.header, head.line)
    if stated:
        return Match(0.91, "", head.header, head.line, f"by its heading {named[0]}")
    if "xsts" in columns.plain(named[0]):
        return Match(0.92, "", head.header, head.line, _CALLED)
    if len(cells) >= 5 and all(map(_ON_SCALE.fullmatch, cells)):
        return Match(0.85, "", head.header, head.line, "by its headings, and by scores that are 1 to 5 only")
    return Match(0.6, "scores from 1 to 5 on its first rows", head.header, head.line)


def _convert_csv(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read a row per judgement, or columns of scores, under our names, synonyms of them, or names that are told."""
    wide, told = layouts.found(head, options), options.single
    if wide and wide.role:
        return _convert(rows, head, match, options, report, _known(head, match, options, wide), CSV, wide=wide)
    single = layouts.single(head, options)
    told = ({"score": single} if single else {}) | told
    header = [name for name in match.header if name not in taken(options.metric_columns, match.header)]
    known = columns.mapped(header, told, origin=head.name, given=options.values)
    if single:
        known.found["score"] = "heading"
    more = [name for name in layouts.candidates(head, options) if layouts.is_quality(name) and name != single]
    if more:
        report.note(f"{', '.join(more)} may hold judgements, too: --wide criteria reads all of them")
    return _convert(rows, head, match, options, report, known, CSV)


def _convert_xsts(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read XSTS scores, however they are laid out; segments that nothing names are the lines."""
    people = score_columns(head, options)
    wide = layouts.Layout("annotator", {name: name for name in people}) if people else None
    known = _known(head, match, options, wide)
    return _convert(rows, head, match, options, report, known, XSTS, wide=wide)


def _known(head: Head, match: Match, options: Options, wide: layouts.Layout | None) -> columns.Columns:
    """Map what is no column of scores, where these are columns of their own."""
    parts = {*(wide.columns if wide else ()), *taken(options.metric_columns, match.header)}
    header = [name for name in match.header if name not in parts]
    given = {*options.values, *(("score", wide.role) if wide else ())}
    known = columns.mapped(header, options.single, origin=head.name, given=given)
    if wide and wide.role in layouts.known(head, options):
        those = next(name for name, role in layouts.ROLES.items() if role == wide.role)
        raise DataError(f"{head.name}: {those} have a column of scores each, so {wide.role} cannot be mapped, too.")
    return known


def _convert(
    rows: Rows,
    head: Head,
    match: Match,
    options: Options,
    report: Report,
    known: columns.Columns,
    kind: Format,
    *,
    wide: layouts.Layout | None = None,
) -> Converted:
    """Read rows under columns that are known; what they lack is given a plain value, and that is told."""
    demand_one(head, options)
    frame, values, parts = rows.frame, dict(options.values), wide.columns if wide else {}
    for name in _without_empty(known, head, report):
        if (filled := frame.index[frame[name].notna()]).size:
            raise DataError(
                f"{head.name}, line {filled[0]}: {name} is filled here and empty on the first rows. Fill it in for all "
                "rows, or empty it."
            )
    with_languages(known.names, values, head, report)
    _without_foreign_kinds(known, frame, options, report)
    have = {*known.names, *values, *((wide.role,) if wide else ())}
    for ours, value in {"doc": "all", **({"system": "mt"} if kind is XSTS else {})}.items():
        if ours not in have:
            values[ours] = value
            ways = f"all rows were given {value!r} (--value {ours}=… gives another)"
            report.note(f"no column names {'documents' if ours == 'doc' else f'the {ours}'}; {ways}")
    if "segment" not in have and (kind is XSTS or "source" in known.names):
        frame = _with_segments(frame, known, report)
    if not wide:
        frame = _with_listed(frame, known, values, head, report)
    have = {*known.names, *values, *(("score", wide.role) if wide else ())}
    demand_columns(have, origin=head.name, header=match.header)
    if kind is CSV and "item_type" not in known.names and "item_type" not in values:
        report.note("no column tells kinds of items; all were taken as outputs of systems (item_type system)")
    apart = {*parts, *taken(options.metric_columns, match.header)}
    describe(report, known, [name for name in match.header if name not in apart])
    rule: dict[str, Any] = {"options": options, "note": report.note, "typed": head.typed}
    told = kind.scale if kind is XSTS else None
    sure = report.how == "as told" or match.why == _CALLED
    judged = scoring.Scoring(frame, known.names, values, options, report, head, told, sure)
    if not wide:
        found = judged.of_column(known.names["score"])
        report.orientation = orientation.joined([*filter(None, [report.orientation]), found.why])
        result = converted(found.frame, known.names, values, scale=found.scale, lower=found.lower, **rule)
        result.weak, result.read = found.weak, len(found.frame)
        return result
    shown = ", ".join([*parts][:_SHOWN]) + (" …" if len(parts) > _SHOWN else "")
    each = f"{len(parts)} columns, one per {_OF_ROLE[wide.role]}" + ("" if wide.role == "annotator" else f" ({shown})")
    report.mapping["score"] = {"theirs": each, "how": "their headings"}
    return _of_columns(judged.of_columns(wide), wide, known.names, values, report, rule)


def _of_columns(
    scored: dict[str, scoring.Scored],
    wide: layouts.Layout,
    names: dict[str, str],
    values: dict[str, str],
    report: Report,
    rule: dict[str, Any],
) -> Converted:
    """Read columns of scores, whose empty cells are no judgements."""
    first = next(iter(scored.values()))
    judged = first.frame[[*scored]].notna().to_numpy()
    nobody = ~judged.any(axis=1)
    reason = f"has no score of any {_OF_ROLE[wide.role]}"
    rejected = [Rejection(int(line), "score", "", reason) for line in first.frame.index[nobody]]
    found: list[Converted] = []
    others = first.frame.drop(columns=[*scored])
    for place, (name, column) in enumerate(scored.items()):
        part = others[judged[:, place]].assign(**{name: column.frame[name][judged[:, place]]})
        part = part.assign(**{_PART: constant(wide.columns[name], part.index)})
        own = names | {"score": name, wide.role: _PART}
        found.append(converted(part, own, values, scale=column.scale, lower=column.lower, **rule))
        rejected += found[-1].rejected
    report.blank_cells += int((~judged[~nobody]).sum())
    report.orientation = orientation.joined(column.why for column in scored.values())
    ratings = pd.concat([one.ratings for one in found])
    order = np.lexsort((np.repeat(range(len(found)), [len(one.ratings) for one in found]), ratings.index.to_numpy()))
    people = [*wide.columns] if wide.role == "annotator" else []
    alias = rule["options"].pseudonyms
    for row in rejected:
        row.column = alias.one(row.column) if row.column in people else row.column
    rejected.sort(key=lambda row: row.line)
    ends = {one.scale for one in found}
    return Converted(
        ratings.iloc[order],
        rejected,
        names,
        ends.pop() if len(ends) == 1 else None,
        people=people,
        role=wide.role,
        parts=wide.columns,
        read=int(judged.sum() + nobody.sum()),
        weak=all(one.weak for one in scored.values()),
    )


def _lists(head: Head, options: Options) -> bool:
    """Tell whether the cells of scores hold lists, of people whom nothing names."""
    told = options.single.get("score")
    named = [told] if told else [name for name in head.header if columns.meaning(name) == "score"]
    named = named or [*filter(None, [layouts.single(head, options)])]
    cells = head.samples(named[0]) if named and named[0] in head.header else []
    return bool(cells) and all(map(ladders.listed, cells))


def _with_listed(
    frame: pd.DataFrame, known: columns.Columns, values: dict[str, str], head: Head, report: Report
) -> pd.DataFrame:
    """Read cells that hold several scores as judgements of as many people, who are named by their place.

    Raises DataError where the annotator is named, but once for several scores.
    """
    name = known.names.get("score", "")
    lists = frame[name].dropna().map(ladders.listed).dropna() if name in frame else pd.Series(dtype=object)
    if lists.empty:
        return frame
    if "annotator" in known.names or "annotator" in values:
        raise DataError(
            f"{head.name}, line {lists.index[0]}: {name} holds several scores, {lists.iloc[0]}, and one annotator "
            "is named for all of them. Write a row for each, or leave the annotator's column out (--map annotator=) to "
            "have them named by their places."
        )
    most = int(lists.map(len).max())
    report.note(
        f"{name} holds lists of scores: the first of each is annotator 1's, and so on up to {most}. Where "
        "places are not people, nothing that compares annotators holds"
    )
    known.names["annotator"], known.found["annotator"] = _PLACE, "made"
    cells = frame[name].map(lambda cell: ladders.listed(cell) or [cell], na_action="ignore")
    places = cells.map(lambda parts: [*map(str, range(1, len(parts) + 1))], na_action="ignore")
    long = frame.assign(**{name: cells, _PLACE: places}).explode([name, _PLACE])
    return long.astype({name: "str", _PLACE: "str"})


def _without_empty(known: columns.Columns, head: Head, report: Report) -> list[str]:
    """Leave out columns that a judgement can do without where they are empty, as in a template; name them."""
    empty = []
    for ours in _SPARE:
        name = known.names.get(ours)
        if name and head.below and known.found[ours] != "as told" and not head.samples(name):
            del known.names[ours], known.found[ours]
            report.note(f"the column {name} is empty")
            empty.append(name)
    return empty


def _without_foreign_kinds(known: columns.Columns, frame: pd.DataFrame, options: Options, report: Report) -> None:
    """Leave out a column called type, or the like, whose values are no kinds of items."""
    name = known.names.get("item_type", "")
    if known.found.get("item_type") != "synonym":
        return
    kinds = {*ITEM_TYPES, *USUAL, *(kind.casefold() for kind in options.item_types)}
    held = {plain(cell).casefold() for cell in frame[name].dropna().unique()}
    if not held <= kinds and not any(columns.plain(kind) in checks.KINDS | checks.PRACTICE_KINDS for kind in held):
        del known.names["item_type"], known.found["item_type"]
        report.note(
            f"{name} was not taken for kinds of items, because it holds other words; --map item_type={name!r} would"
        )


def _with_segments(frame: pd.DataFrame, known: columns.Columns, report: Report) -> pd.DataFrame:
    """Name segments by their source texts or, where there are none, by their lines."""
    text = known.names.get("source")
    how = "by their source texts (eight digits of a hash)" if text else "by their lines in the file"
    report.note(f"no column names segments; they were named {how}")
    known.names["segment"], known.found["segment"] = _SEGMENT, "made"
    names = pd.Series(frame.index.astype("str"), index=frame.index, dtype="str")
    if text:
        codes, distinct = pd.factorize(frame[text])
        plainly = (" ".join(plain(str(one)).split()).encode("utf-8", "surrogatepass") for one in distinct)
        digits = pd.array([*(hashlib.sha256(one).hexdigest()[:8] for one in plainly), None], dtype="str")
        names = pd.Series(digits.take(codes), index=frame.index).fillna(names)
    return frame.assign(**{_SEGMENT: names})


def score_columns(head: Head, options: Options) -> list[str]:
    """List the columns that hold the scores of one evaluator each; fewer than two are none."""
    told = options.columns.get("score")
    if isinstance(told, list):
        wide = layouts.found(head, options)
        fits = wide and wide.role == "annotator" and all(_share_on_scale(head.judged(name)) > 0.5 for name in told)
        return told if fits else []
    named = {columns.meaning(name) for name in head.header} | {*options.columns, *options.values}
    if told or "annotator" in named or options.wide not in (None, "annotators"):
        return []
    unknown = [name for name in head.header if columns.meaning(name) is None]
    of_person = [name for name in unknown if layouts.OF_PERSON.fullmatch(name.strip())]
    shares = {name: _share_on_scale(head.judged(name)) for name in unknown}
    if any(shares[name] > 0.5 for name in of_person):  # then a column that starts badly is one of scores, too
        found = [name for name in of_person if shares[name] > 0 or head.judged(name).empty]
    else:
        found = [name for name in unknown if _NUMBERED.fullmatch(name.strip()) and shares[name] > 0.8]
        others = [name for name in unknown if _COUNTED.fullmatch(name.strip()) and found]  # by number or letter
        more = {name for name in others if shares[name] > 0 or head.judged(name).empty}
        found = [name for name in unknown if name in {*found, *more}]
    return found if len(found) > 1 else []


def _share_on_scale(cells: pd.Series) -> float:
    """Compute which part of a column's cells are scores from 1 to 5."""
    return float(cells.str.fullmatch(_ON_SCALE).mean()) if len(cells) else 0.0


CSV = Format("csv", "a row per judgement, under headings of its own", (0, 100), _match_csv, _convert_csv)
XSTS = Format("xsts", "XSTS scores from 1 to 5", (1, 5), _match_xsts, _convert_xsts)
