"""Import tables with a row per judgement, or a row per item and a column of scores per evaluator: CSV and XSTS."""

import hashlib
import re
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import columns
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import ITEM_TYPES, Converted, constant, converted, demand_columns
from evalkit.data.importing.options import Options
from evalkit.data.importing.pseudonyms import ALIAS
from evalkit.data.importing.rejected import Rejection
from evalkit.data.importing.report import Report
from evalkit.data.importing.rows import Rows
from evalkit.data.names import plain

_PERSON = r"(evaluator|rater|annotator|linguist|reviewer|judge|translator|evaluador|bewerter|évaluateur)"
_SCORE = r"(score|xsts|rating|note|bewertung)"
_OF_PERSON = re.compile(rf"({_SCORE}\W*_?)?{_PERSON}\W*_?.{{1,40}}|{ALIAS.pattern}", re.I)
_NUMBERED = re.compile(rf"{_SCORE}[\W_]+\w{{1,12}}|{_SCORE}\W*\d+", re.I)
_COUNTED = re.compile(rf"{_SCORE}[\W_]*(\d{{1,3}}|[a-z])", re.I)
_ON_SCALE = re.compile(r"[1-4]([.,]0+|[.,]50*)?|5([.,]0+)?")
_SPARE = ("src_lang", "tgt_lang", "pair", "doc", "hit")  # columns that may be there and empty, as in a template
_EVALUATOR, _SEGMENT = "(evaluator)", "(segment)"  # headings of columns that are made


def _match_csv(head: Head, options: Options) -> Match:
    """Fits where the headings name what a judgement needs."""
    found = {columns.meaning(name) for name in head.header} | {*options.columns, *options.values}
    wanted = ["system", "segment", "annotator", "score"]
    lacks = [name for name in wanted if name not in found and not (name == "segment" and "source" in found)]
    return Match(0.8 * (1 - len(lacks) / 4), ", ".join(lacks), head.header, head.line, "by its headings")


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
        return Match(0.92, "", head.header, head.line, "by a column called XSTS")
    if len(cells) >= 5 and all(map(_ON_SCALE.fullmatch, cells)):
        return Match(0.85, "", head.header, head.line, "by its headings, and by scores that are 1 to 5 only")
    return Match(0.6, "scores from 1 to 5 on its first rows", head.header, head.line)


def _convert_csv(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read a row per judgement, under our names, synonyms of them, or names that the user maps."""
    if several := [ours for ours, theirs in options.columns.items() if not isinstance(theirs, str)]:
        raise DataError(f"{several[0]} names several columns: that is --format xsts, a score column per evaluator.")
    known = columns.mapped(match.header, options.single, origin=head.name, given=options.values)
    return _convert(rows, head, match, options, report, known, CSV, defaults={"doc": "all"})


def _convert_xsts(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read XSTS scores, however they are laid out; segments that nothing names are the lines."""
    people = score_columns(head, options)
    header = [name for name in match.header if name not in people]
    given = {*options.values, *(("score", "annotator") if people else ())}
    known = columns.mapped(header, options.single, origin=head.name, given=given)
    if people and "annotator" in known.names:
        raise DataError(f"{head.name}: evaluators have a column of scores each, so annotator cannot be mapped, too.")
    defaults = {"system": "mt", "doc": "all"}
    return _convert(rows, head, match, options, report, known, XSTS, defaults=defaults, people=people)


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report, known: columns.Columns,
             kind: Format, *, defaults: dict[str, str], people: list[str] | None = None) -> Converted:  # fmt: skip
    """Read rows under columns that are known; what they lack is given a plain value, and that is told."""
    frame, values, people = rows.frame, dict(options.values), people or []
    for name in _without_empty(known, head, report):
        if (filled := frame.index[frame[name].notna()]).size:
            raise DataError(
                f"{head.name}, line {filled[0]}: {name} is filled here and empty on the first rows. Fill it in for all "
                "rows, or empty it."
            )
    with_languages(known.names, values, head, report)
    _without_foreign_kinds(known, head, options, report)
    for ours, value in defaults.items():
        if ours not in known.names and ours not in values:
            values[ours] = value
            ways = f"all rows were given {value!r} (--value {ours}=… gives another)"
            report.note(f"no column names {'documents' if ours == 'doc' else f'the {ours}'}; {ways}")
    if "segment" not in known.names and "segment" not in values and (kind is XSTS or "source" in known.names):
        frame = _with_segments(frame, known, report)
    have = {*known.names, *values, *(("score", "annotator") if people else ())}
    demand_columns(have, origin=head.name, header=match.header)
    stated = columns.scale_in(known.names.get("score", ""))
    if stated and not options.scale:
        report.scale_from = f"of the heading {known.names['score']}"
    scale = options.scale or stated or kind.scale
    if kind is CSV and "item_type" not in known.names and "item_type" not in values:
        report.note("no column tells kinds of items; all were taken as outputs of systems (item_type system)")
    describe(report, known, [name for name in match.header if name not in people])
    rule: dict[str, Any] = {"options": options, "scale": scale, "note": report.note, "typed": head.typed}
    if not people:
        return converted(frame, known.names, values, **rule)
    report.mapping["score"] = {"theirs": f"{len(people)} columns, one per evaluator", "how": "their headings"}
    return _of_people(frame, people, known.names, values, report, rule)


def _of_people(frame: pd.DataFrame, people: list[str], names: dict[str, str], values: dict[str, str], report: Report,
               rule: dict[str, Any]) -> Converted:  # fmt: skip
    """Read a column of scores per evaluator, whose empty cell is no judgement."""
    judged = frame[people].notna().to_numpy()
    nobody = ~judged.any(axis=1)
    rejected = [Rejection(int(line), "score", "", "has no score of any evaluator") for line in frame.index[nobody]]
    parts = []
    for place, name in enumerate(people):
        part = frame[judged[:, place]]
        part = part.assign(**{_EVALUATOR: constant(name, part.index)})
        found = converted(part, names | {"score": name, "annotator": _EVALUATOR}, values, **rule)
        parts.append(found.ratings)
        rejected += found.rejected
    report.blank_cells += int((~judged[~nobody]).sum())
    ratings = pd.concat(parts)
    order = np.lexsort((np.repeat(range(len(parts)), [len(part) for part in parts]), ratings.index.to_numpy()))
    alias = rule["options"].pseudonyms
    for row in rejected:
        row.column = alias.one(row.column) if row.column in people else row.column
    rejected.sort(key=lambda row: row.line)
    return Converted(
        ratings.iloc[order], rejected, names, rule["scale"], read=int(judged.sum() + nobody.sum()), people=people
    )


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


def _without_foreign_kinds(known: columns.Columns, head: Head, options: Options, report: Report) -> None:
    """Leave out a column called type, or the like, whose values are no kinds of items."""
    name = known.names.get("item_type", "")
    kinds = {*ITEM_TYPES, *(kind.casefold() for kind in options.item_types)}
    if known.found.get("item_type") == "synonym" and not {cell.casefold() for cell in head.samples(name)} <= kinds:
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
        if absent := [name for name in told if name not in head.header]:
            raise DataError(f"{head.name} has no column {absent[0]!r}; it has {', '.join(head.header)}. Correct --map.")
        return told
    if told:
        return []
    unknown = [name for name in head.header if columns.meaning(name) is None]
    of_person = [name for name in unknown if _OF_PERSON.fullmatch(name.strip())]
    shares = {name: _share_on_scale(head.samples(name)) for name in unknown}
    if any(shares[name] > 0.5 for name in of_person):  # then a column that starts badly is one of scores, too
        found = [name for name in of_person if shares[name] > 0 or not head.samples(name)]
    else:
        found = [name for name in unknown if _NUMBERED.fullmatch(name.strip()) and shares[name] > 0.8]
        others = [name for name in unknown if _COUNTED.fullmatch(name.strip()) and found]  # by number or letter
        more = {name for name in others if shares[name] > 0 or not head.samples(name)}
        found = [name for name in unknown if name in {*found, *more}]
    return found if len(found) > 1 else []


def unnamed(head: Head) -> list[str]:
    """List columns of scores from 1 to 5 whose headings say nothing that is known, such as people's names."""
    unknown = [name for name in head.header if columns.meaning(name) is None]
    return [name for name in unknown if _share_on_scale(head.samples(name)) > 0.8]


def _share_on_scale(cells: list[str]) -> float:
    """Compute which part of a column's first cells are scores from 1 to 5."""
    return sum(bool(_ON_SCALE.fullmatch(cell)) for cell in cells) / max(len(cells), 1)


CSV = Format("csv", "a row per judgement, under headings of its own", (0, 100), _match_csv, _convert_csv)
XSTS = Format("xsts", "XSTS scores from 1 to 5", (1, 5), _match_xsts, _convert_xsts)
