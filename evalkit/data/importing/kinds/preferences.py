"""Import preferences: of two translations the better one or a tie, or ranks of several in one row.

A comparison becomes two judgements, one of each system: 1 for the one that won, 0 for the other, .5 for both in a tie.
"""

import hashlib
import json
from collections import Counter

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.files.rows import Rows
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import Converted, constant, converted, mapped_cells, ways
from evalkit.data.importing.kinds import places, ranks
from evalkit.data.importing.kinds.answers import NO_ANSWER, SIDES, is_tie, leads, name_two, shares
from evalkit.data.importing.kinds.paired import demand_one, is_numeric, names_of, names_two, ranks_of, slots_of
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import EXCLUDED, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.names import plain
from evalkit.data.schemas import UNSTATED

_SYSTEM, _AGAINST, _SCORE, _HIT = "(system)", "(against)", "(score)", "(comparison)"
_PLACE = "(place)"
_ANSWERS = 3  # the first, the second, or a tie
_SHOWN = 20  # pairs of systems whose wins and ties are told
_TEXT, _SEGMENT = "(hypothesis)", "(segment)"


def _match(head: Head, options: Options) -> Match:
    """Fits where two systems and what was said between them are named, or a choice of two, or ranks of systems."""
    if ranked := ranks_of(head.header):
        names = names_of(head, options, {*ranked})
        lacks = [name for name in ("segment", "annotator") if name not in {*names, *options.values}]
        if "system" not in names and "score" not in names:
            why = f"by its {len(ranked)} columns of ranks, one per system"
            return Match(0.96 * (1 - len(lacks) / 5), ", ".join(lacks), head.header, head.line, why)
    names = names_of(head, options)
    have = {*names, *options.values}
    if slots := slots_of(head.header):
        lacks = [name for name in ("segment", "annotator") if name not in have and "source" not in have]
        why = f"by its {len(slots)} columns of systems with their ranks"
        return Match(0.965 * (1 - len(lacks) / 5), ", ".join(lacks), head.header, head.line, why)
    if "system" in names and not names_two(head, options):
        return Match(-1.0, "two systems in each row, and which of them is preferred")
    lacks = [name for name in ("system_a", "system_b", "preference") if name not in have]
    if lacks == ["system_a", "system_b"] and name_two(head.samples(names["preference"])):
        lacks = []
    if lacks == ["preference"] and "score" in names:
        lacks = []
    if "segment" not in have and "source" not in have:
        lacks.append("segment")
    fit = 0.965 * (1 - len(lacks) / 4) if "preference" in have or {"system_a", "system_b"} <= have else -1.0
    return Match(fit, ", ".join(lacks), head.header, head.line, "by its headings")


def _few(cells: pd.Series) -> bool:
    """Tell whether numbers are so few, and none below 0, that each is an answer rather than a place on a scale."""
    values = numbers.read(cells)[0]
    return bool(np.nanmin(values) >= 0 and len({*values[np.isfinite(values)]}) <= _ANSWERS)


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read comparisons, each as two judgements, or rows of ranks, each as a judgement per system."""
    if match.lacks:
        raise DataError(
            f"{head.name} holds no {PREFERENCES.title}: it lacks {match.lacks}. {ways(match.lacks.split(', '))}"
        )
    if "system" in options.values or options.columns.get("system"):
        demand_one(head, options)
    ranked, slots = ranks_of(match.header), slots_of(match.header)
    parts = {name for slot in slots for name in slot} or {*ranked}
    names, values = names_of(head, options, parts), dict(options.values)
    maker = "" if parts else names.pop("system", "")
    describe(
        report,
        columns.Columns(names, dict.fromkeys(names, "layout")),
        [name for name in match.header if name not in {*parts, maker}],
    )
    names, frame = dict(names), rows.frame
    if "segment" not in {*names, *values} and not ranked:
        frame, names["segment"] = frame.assign(**{_SEGMENT: _segments(frame[names["source"]])}), _SEGMENT
        report.segments = "segments are named by their source texts (eight digits of a hash)"
    if maker:
        report.note(
            f"{names['system_a']} and {names['system_b']} are what was compared; {maker}, which made both, is "
            "part of the segment's name"
        )
        frame = frame.assign(**{_SEGMENT: frame[names["segment"]] + " " + frame[maker].fillna("")})
        names["segment"] = _SEGMENT
    with_languages(names, values, head, report)
    if "doc" not in names:
        values.setdefault("doc", "all")
    if "annotator" not in {*names, *values}:
        values["annotator"] = "unnamed"
        report.note(
            "no column names annotators (annotator is 'unnamed'); --value annotator=… names one, --map a column"
        )
    if slots:
        return ranks.ranked(ranks.by_place(frame, slots, report), len(slots), names, values, options, report)
    if ranked:
        return ranks.ranked(ranks.by_system(frame, ranked, report), len(ranked), names, values, options, report)
    return _compared(frame, head, names, values, options, report)


def _segments(sources: pd.Series) -> pd.Series:
    """Name segments by their source texts; those without one have no name."""

    def digits(text: str) -> str:
        return hashlib.sha256(" ".join(plain(text).split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]

    return mapped_cells(sources, digits)


def _compared(
    frame: pd.DataFrame, head: Head, names: dict[str, str], values: dict[str, str], options: Options, report: Report
) -> Converted:
    """Turn each comparison into two judgements."""
    systems = _systems(frame, names, values)
    shown = places.stood_first(frame, names, systems, report)
    answers = names.get("preference") or names.get("score", "")
    cells = frame[answers] if answers else constant(values["preference"], frame.index)
    most, numeric = 0.0, not options.words and is_numeric([str(cell) for cell in cells.dropna()])
    if numeric and (options.positive or ("preference" not in {*names, *values} and not _few(cells))):
        headings = {
            side: [names[name] for name in (f"system_{side}", f"hypothesis_{side}") if name in names] or [side.upper()]
            for side in SIDES
        }
        worth, most, wrong = leads(cells, systems, headings, options, report)
        share = np.sign(worth) / 2 + 0.5
    else:
        share, wrong = shares(cells, systems, options, report)
        worth = share
    rejected = []
    for place, (column, reason) in wrong.items():
        name, kind = names.get(column, answers), EXCLUDED if reason == NO_ANSWER else "rejected"
        rejected.append(Rejection(int(frame.index[place]), name, _cell(frame, name, place), reason, kind))
    sound = np.setdiff1d(np.arange(len(frame)), [*wrong])
    halves, first = [], shown[sound]
    for side, other in (SIDES, SIDES[::-1]):
        half = frame.iloc[sound].assign(
            **{
                _SYSTEM: systems[side].iloc[sound],
                _AGAINST: systems[other].iloc[sound],
                _SCORE: pd.array(
                    [str(float(one if side == "a" else (0.0 if most else 1.0) - one)) for one in worth[sound]],
                    dtype="str",
                ),
            }
        )
        if (first != "unknown").any():
            half[_PLACE] = places.on_screen(first, side)
        if f"hypothesis_{side}" in names:
            half[_TEXT] = half[names[f"hypothesis_{side}"]]
        halves.append(half)
    both = pd.concat(halves)
    ours = {name: theirs for name, theirs in names.items() if name in (*columns.OURS, *columns.EXTRAS)}
    ours |= {"system": _SYSTEM, "against": _AGAINST, "score": _SCORE}
    ours |= {name: made for name, made in (("hypothesis", _TEXT), ("screen_place", _PLACE)) if made in both}
    if "hit" not in ours:
        both[_HIT] = pd.array(_comparisons(both, ours, len(sound), systems, sound), dtype="str")
        ours["hit"] = _HIT
    given = {name: value for name, value in values.items() if name in columns.OURS}
    scale = (-most, most) if most else (0, 1)
    found = converted(both, ours, given, options, scale=scale, note=report.note, typed=True)
    lost = {row.line for row in found.rejected}
    found.rejected = sorted([*rejected, *{row.line: row for row in found.rejected}.values()], key=lambda row: row.line)
    ratings = found.ratings[~found.ratings.index.isin(list(lost))].sort_index(kind="stable")
    found.ratings = ratings.assign(item_type="system")  # a person's translation too, for it competes like any other
    found.read, found.names = len(ratings) + len(found.rejected), {"annotator": names.get("annotator", "")}
    found.spans = _spans(frame, found.ratings)
    report.orientation = "higher is better: " + (
        f"the score is how far {answers} favours the system over the other, as --positive tells"
        if most
        else "the score is the share of comparisons won, a tie half"
    )
    report.note(
        "each comparison is two judgements, one of each system: "
        + (
            "the number in its favour, below 0 where it is against it"
            if most
            else "1 for the one that won, 0.5 for a tie"
        )
        + "; hit is the comparison, against the "
        "other system"
    )
    kept = np.array([place for place in sound if int(frame.index[place]) not in lost], dtype=int)
    _count(systems["a"].iloc[kept], systems["b"].iloc[kept], share[kept], head.name, report)
    return found


def _cell(frame: pd.DataFrame, name: str, place: int) -> str:
    cell = frame[name].iloc[place] if name in frame else ""
    return "" if pd.isna(cell) else str(cell)


def _systems(frame: pd.DataFrame, names: dict[str, str], values: dict[str, str]) -> dict[str, pd.Series]:
    """Name both systems of each comparison: by their columns or, where there are none, by the answers themselves."""
    ours = ("system_a", "system_b")
    if all(name in names or name in values for name in ours):
        return {name[-1]: frame[names[name]] if name in names else constant(values[name], frame.index) for name in ours}
    answers = frame[names["preference"]].dropna()
    found = sorted({answer for answer in answers.unique() if not is_tie(answer)})
    if len({answer.casefold() for answer in found}) != 2:
        raise DataError(
            f"The column {names['preference']} names {len(found)} systems ({', '.join(found[:5])}), so nothing says "
            "which two were compared. Name the columns of both with --map system_a=… --map system_b=…."
        )
    first, second = found[0], next(name for name in found if name.casefold() != found[0].casefold())
    return {"a": constant(first, frame.index), "b": constant(second, frame.index)}


def _comparisons(
    both: pd.DataFrame, ours: dict[str, str], size: int, systems: dict[str, pd.Series], sound: np.ndarray
) -> list[str]:
    """Name each comparison: the segment, what was asked, and both systems in the order they were shown."""
    place = [both[ours[name]].fillna("") for name in ("doc", "segment", "criterion") if name in ours]
    before = [" ".join(filter(None, cells)) for cells in zip(*(cells.iloc[:size] for cells in place))] or [""] * size
    names = [f"{where}: {a} | {b}" for where, a, b in zip(before, systems["a"].iloc[sound], systems["b"].iloc[sound])]
    return [*names, *names]


def _count(first: pd.Series, second: pd.Series, share: np.ndarray, origin: str, report: Report) -> None:
    """Tell wins and ties of each pair of systems."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for a, b, worth in zip(first, second, share):
        pair = (a, b) if a <= b else (b, a)
        worth = worth if (a, b) == pair else 1 - worth
        counts.setdefault(pair, Counter())["tie" if worth == 0.5 else "won" if worth > 0.5 else "lost"] += 1
    if len(counts) > _SHOWN:
        report.note(f"{origin}: {len(counts):,} pairs of systems were compared; the first {_SHOWN} are told")
    for (a, b), count in sorted(counts.items())[:_SHOWN]:
        report.note(f"{origin}: {a} against {b}: {count['won']:,} won, {count['tie']:,} ties, {count['lost']:,} lost")


def _spans(frame: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame | None:
    """Take the stretches marked in both texts, where the file has them under ``annotations``; they have no severity."""
    names = {side: f"annotations.text{number}" for side, number in zip(SIDES, (1, 2))}
    if "annotations" not in frame and not {*names.values()} <= {*frame}:
        return None
    turn = ratings.groupby(level=0).cumcount().to_numpy()  # the first row of a line is that of the first system
    rows = []
    for line, place, rating in zip(ratings.index, turn, ratings.itertuples(index=False)):
        name = f"text{place + 1}"
        marks = (
            _listed(frame[f"annotations.{name}"].loc[line])
            if f"annotations.{name}" in frame
            else (_listed(frame["annotations"].loc[line], name))
        )
        key = (rating.src_lang, rating.tgt_lang, rating.system, rating.doc, rating.segment, rating.annotator)
        for mark in marks:
            rows += [(*key, label, *_stretch(mark), rating.against) for label in mark.get("labels") or [UNSTATED]]
    keys = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    spans = pd.DataFrame(rows, columns=[*keys, "error_type", "start", "end", "text", "against"])
    if spans.empty:
        return None
    number = spans.groupby(keys, sort=False).cumcount().add(1).astype("str")
    spans = spans.assign(span=number, severity=UNSTATED, side="target", error_type=spans["error_type"].str.casefold())
    return spans[[*keys, "span", "error_type", "severity", "start", "end", "side", "text", "against"]]


def _listed(cell: object, name: str = "") -> list[dict]:
    """Read a list of marks in JSON; what is none marks nothing."""
    try:
        found = json.loads(cell) if isinstance(cell, str) else []
    except (ValueError, RecursionError):
        return []
    found = found.get(name, []) if name and isinstance(found, dict) else found
    return [mark for mark in found if isinstance(mark, dict)] if isinstance(found, list) else []


def _stretch(mark: dict) -> tuple[float, float, str | None]:
    """Read where a mark lies and its text."""
    ends = [mark.get(name) for name in ("start", "end")]
    start, end = (float(one) if type(one) is int and 0 <= one < 1e9 else np.nan for one in ends)
    text = mark.get("annotated_text")
    return start, end, text if isinstance(text, str) else None


PREFERENCES = Format("preferences", "comparisons of two systems, or ranks", (0, 1), _match, _convert)
