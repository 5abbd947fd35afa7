"""Import preferences: of two translations the better one or a tie, or ranks of several in one row.

A comparison becomes two judgements, one of each system: 1 for the one that won, 0 for the other, .5 for both in a tie.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files.rows import Rows
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import Converted, constant, converted, human, mapped_cells
from evalkit.data.importing.kinds import places
from evalkit.data.importing.kinds.answers import SIDES, STEMS, WORDS, is_tie, name_two, shares
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import Rejection
from evalkit.data.importing.report import Report
from evalkit.data.names import plain
from evalkit.data.schemas import UNSTATED

_NAMED = "name|id|tag|system|model|label"
#: What heads the systems of a comparison: system_a, model 1, left_system, text1_tag.
_OF_SYSTEM = {
    side: re.compile(rf"({STEMS})({words})({_NAMED})?|({words})(system|sys|model|engine)({_NAMED})?")
    for side, words in WORDS.items()
}
#: What heads their texts, where these are not what names the systems.
_OF_TEXT = {
    "a": "translationa translation1 texta text1 outputa output1 hypothesisa hypothesis1 hypa hyp1 targeta target1",
    "b": "translationb translation2 textb text2 outputb output2 hypothesisb hypothesis2 hypb hyp2 targetb target2",
}
#: What heads the choice, the surest first.
_CHOICE = (
    "preference", "preferred", "pref", "choice", "winner", "better", "best", "vote", "verdict", "pairwise",
    "comparison", "decision", "chosen", "preferredsystem", "preferredtranslation", "bettersystem",
    "bettertranslation", "winningsystem", "judgement", "judgment", "outcome",
    "whichisbetter", "whichoneisbetter", "whichtranslationisbetter", "whichdoyouprefer",
)  # fmt: skip
_RANK = re.compile(r"rank(?:ing)?[\W_]+(?P<after>.{1,60})|(?P<before>.{1,60}?)[\W_]+rank(?:ing)?", re.IGNORECASE)
_OTHERS = {
    "doc": ("book", "chapter"), "annotator": ("participantid", "participant"),
    "segment": ("expitemnumber", "itemnumber", "line", "item"), "reference": ("humanreference",),
    "criterion": ("condition", "aspect", "dimension", "question"),
    "first": ("shownfirst", "firstshown", "stoodfirst", "displayedfirst", "onleft"),
}  # fmt: skip
_SYSTEM, _AGAINST, _SCORE, _HIT = "(system)", "(against)", "(score)", "(comparison)"
_PLACE, _SCREEN = "(place)", "(screen)"
_SHOWN = 20  # pairs of systems whose wins and ties are told
_TEXT, _SEGMENT = "(hypothesis)", "(segment)"


def _match(head: Head, options: Options) -> Match:
    """Fits where two systems and a choice between them are named, a choice of two or a tie, or ranks of systems."""
    if ranks := _ranks(head.header):
        names = _names(head, options, {*ranks})
        lacks = [name for name in ("segment", "annotator") if name not in {*names, *options.values}]
        if "system" not in names and "score" not in names:
            why = f"by its {len(ranks)} columns of ranks, one per system"
            return Match(0.96 * (1 - len(lacks) / 5), ", ".join(lacks), head.header, head.line, why)
    names = _names(head, options)
    have = {*names, *options.values}
    if "system" in names:
        return Match(-1.0, "two systems in each row, and which of them is preferred")
    lacks = [name for name in ("system_a", "system_b", "preference") if name not in have]
    if lacks == ["system_a", "system_b"] and name_two(head.samples(names["preference"])):
        lacks = []
    if "segment" not in have and "source" not in have:
        lacks.append("segment")
    fit = 0.965 * (1 - len(lacks) / 4) if "preference" in have or {"system_a", "system_b"} <= have else -1.0
    return Match(fit, ", ".join(lacks), head.header, head.line, "by its headings")


def _names(head: Head, options: Options, passed: Iterable[str] = ()) -> dict[str, str]:
    """Map headings to our columns, and to the two systems, their texts and the choice."""
    told = {ours: theirs for ours, theirs in options.single.items() if theirs}
    free = [name for name in head.header if name not in {*told.values(), *passed}]
    found: dict[str, str] = {}

    def take(ours: str, fitting: list[str]) -> None:
        fitting = [name for name in fitting if name in free]
        if fitting and ours not in {*found, *told, *options.values, *options.columns}:
            found[ours] = fitting[0]
            free.remove(fitting[0])

    def texts(name: str, side: str) -> bool:
        """Tell whether a column like translation_a holds texts, which hardly recur, and not names of systems."""
        cells = head.samples(name)
        return columns.plain(name) in _OF_TEXT[side].split() and len({*cells}) > len(cells) / 2

    for side in SIDES:
        named = [name for name in free if _OF_SYSTEM[side].fullmatch(columns.plain(name)) and not texts(name, side)]
        take(f"system_{side}", sorted(named, key=lambda name: columns.plain(name) in _OF_TEXT[side].split()))
    for side in SIDES:
        take(f"hypothesis_{side}", [name for name in free if columns.plain(name) in _OF_TEXT[side].split()])
    left = ("hypothesis",) if "hypothesis_a" in found else ()
    choices = [name for name in free if columns.plain(name) in _CHOICE]
    choices += [name for name in free if columns.meaning(name) == "score" and name_two(head.samples(name))]
    take("preference", sorted(choices, key=lambda name: _order(columns.plain(name))))
    for ours in (name for name in (*columns.OURS, "first") if name not in left):
        take(ours, [name for name in free if columns.plain(name) == columns.plain(ours)])
        take(ours, [name for name in free if columns.plain(name) in _OTHERS.get(ours, ())])
        take(ours, [name for name in free if columns.meaning(name) == ours])
    if "item_type" in found and "item_type" not in told:
        found["domain"] = found.pop("item_type")  # "type" of a comparison: of sentences, of documents
    return found | told


def _order(name: str) -> int:
    """Put the surest heading of a choice first."""
    return _CHOICE.index(name) if name in _CHOICE else len(_CHOICE)


def _ranks(header: list[str]) -> dict[str, str]:
    """Map the headings that say rank and a system's name to that name; fewer than two are none.

    >>> _ranks(["segment", "rank_DeepL", "GPT-4 rank", "rank"])
    {'rank_DeepL': 'DeepL', 'GPT-4 rank': 'GPT-4'}
    """
    found = {name: match["after"] or match["before"] for name in header if (match := _RANK.fullmatch(name.strip()))}
    return found if len(found) > 1 else {}


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read comparisons, each as two judgements, or rows of ranks, each as a judgement per system."""
    if match.lacks:
        raise DataError(
            f"{head.name} holds no {PREFERENCES.title}: it lacks {match.lacks}. Name its columns like these."
        )
    ranks = _ranks(match.header)
    names, values = _names(head, options, {*ranks}), dict(options.values)
    frame = rows.frame
    if "segment" not in {*names, *values} and not ranks:
        frame, names["segment"] = frame.assign(**{_SEGMENT: _segments(frame[names["source"]])}), _SEGMENT
        report.segments = "segments are named by their source texts (eight digits of a hash)"
    told = {ours: name for ours, name in names.items() if name != _SEGMENT}
    describe(report, columns.Columns(told, dict.fromkeys(told, "layout")), match.header)
    with_languages(names, values, head, report)
    if "doc" not in names:
        values.setdefault("doc", "all")
    if "annotator" not in {*names, *values}:
        values["annotator"] = "unnamed"
        report.note(
            "no column names annotators (annotator is 'unnamed'); --value annotator=… names one, --map a column"
        )
    if ranks:
        return _ranked(frame, ranks, names, values, options, report)
    return _compared(frame, head, names, values, options, report)


def _segments(sources: pd.Series) -> pd.Series:
    """Name segments by their source texts; those without one have no name."""

    def digits(text: str) -> str:
        return hashlib.sha256(" ".join(plain(text).split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]

    return mapped_cells(sources, digits)


def _compared(frame: pd.DataFrame, head: Head, names: dict[str, str], values: dict[str, str], options: Options,
              report: Report) -> Converted:  # fmt: skip
    """Turn each comparison into two judgements."""
    systems = _systems(frame, names, values)
    share, wrong = shares(frame[names["preference"]] if "preference" in names
                           else constant(values["preference"], frame.index), systems, options, report)  # fmt: skip
    rejected = [
        Rejection(
            int(frame.index[place]), names.get(column, column), _cell(frame, names.get(column, ""), place), reason
        )
        for place, (column, reason) in wrong.items()
    ]
    sound = np.setdiff1d(np.arange(len(frame)), [*wrong])
    halves, first = [], places.stood_first(frame, names, systems, report)[sound]
    for side, other in (SIDES, SIDES[::-1]):
        half = frame.iloc[sound].assign(**{
            _SYSTEM: systems[side].iloc[sound], _AGAINST: systems[other].iloc[sound],
            _SCORE: pd.array([str(float(one if side == "a" else 1 - one)) for one in share[sound]], dtype="str"),
        })  # fmt: skip
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
    found = converted(both, ours, given, options, scale=(0, 1), note=report.note, typed=True)
    lost = {row.line for row in found.rejected}
    found.rejected = sorted([*rejected, *{row.line: row for row in found.rejected}.values()], key=lambda row: row.line)
    ratings = found.ratings[~found.ratings.index.isin(list(lost))].sort_index(kind="stable")
    found.ratings = ratings.assign(item_type="system")  # a person's translation too, for it competes like any other
    found.read, found.names = len(ratings) + len(found.rejected), {"annotator": names.get("annotator", "")}
    found.spans = _spans(frame, found.ratings)
    report.orientation = "higher is better: the score is the share of comparisons won, a tie half"
    report.note(
        "each comparison is two judgements, one of each system: 1 for the one that won, 0.5 for a tie; hit is the "
        "comparison, against the other system"
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


def _comparisons(both: pd.DataFrame, ours: dict[str, str], size: int, systems: dict[str, pd.Series],
                 sound: np.ndarray) -> list[str]:  # fmt: skip
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
        marks = _listed(frame[f"annotations.{name}"].loc[line]) if f"annotations.{name}" in frame else (
            _listed(frame["annotations"].loc[line], name))  # fmt: skip
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


def _ranked(frame: pd.DataFrame, ranks: dict[str, str], names: dict[str, str], values: dict[str, str],
            options: Options, report: Report) -> Converted:  # fmt: skip
    """Read a judgement per system of each row: minus its rank."""
    if options.lower_is_better is False:
        raise DataError(
            "Ranks are better the lower they are, 1 the best. Drop --higher-is-better, or rename the columns."
        )
    ours = {name: theirs for name, theirs in names.items() if name in (*columns.OURS, *columns.EXTRAS)}
    given = {name: value for name, value in values.items() if name in columns.OURS}
    parts, rejected, blank = [], [], 0
    for heading, system in ranks.items():
        part = frame[frame[heading].notna()]
        blank += len(frame) - len(part)
        screen = pd.array([f"row {line}" for line in part.index], dtype="str")
        part = part.assign(**{_SYSTEM: constant(system, part.index), _SCREEN: screen})
        made = {"system": _SYSTEM, "score": heading, "screen": _SCREEN}
        found = converted(part, ours | made, given, options,
                          scale=(1, len(ranks)), note=report.note)  # fmt: skip
        parts.append(found.ratings)
        rejected += found.rejected
    ratings = pd.concat(parts).sort_index(kind="stable")
    kinds = np.where(human(ratings["system"], report.note), "reference", "system")
    report.blank_cells += blank
    report.orientation = f"lower is better by the headings ({', '.join(ranks)}): the score is minus the rank"
    rejected.sort(key=lambda row: row.line)
    return Converted(
        ratings.assign(score=0.0 - ratings["score"], item_type=kinds), rejected,
        {"annotator": names.get("annotator", "")}, (-float(len(ranks)), -1.0), read=len(ratings) + len(rejected),
    )  # fmt: skip


PREFERENCES = Format("preferences", "comparisons of two systems, or ranks", (0, 1), _match, _convert)
