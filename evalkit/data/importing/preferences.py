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
from evalkit.data.importing import columns
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import Converted, constant, converted, human, mapped_cells
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import Rejection
from evalkit.data.importing.report import Report
from evalkit.data.importing.rows import Rows
from evalkit.data.names import plain
from evalkit.data.schemas import UNSTATED

_SIDES = ("a", "b")
_STEMS = "system|sys|model|engine|mt|candidate|output|translation|hypothesis|hyp|option|candidatesystem|modelname|text"
_NAMED = "name|id|tag|system|model|label"
#: What heads the systems of a comparison: system_a, model 1, left_system, text1_tag.
_WORDS = {"a": "a|1|left|first|one", "b": "b|2|right|second|two"}
_OF_SYSTEM = {
    side: re.compile(rf"({_STEMS})({words})({_NAMED})?|({words})(system|sys|model|engine)({_NAMED})?")
    for side, words in _WORDS.items()
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
)  # fmt: skip
_TIE = re.compile(
    r"tie[ds]?|draw|equal(ly)?( good| bad)?|same|(both|neither|none|no preference|nopreference|no difference|"
    r"indifferent|undecided|similar|about the same|equivalent|either|unentschieden|gleich( gut)?|=)( are)?( good| bad)?"
)
_WON = r"( ?(is|was))?( (much |slightly |clearly )?better| wins| won)?"
_SIDE = {
    side: re.compile(rf"(({_STEMS}|t) ?)?({words}){_WON}|a ?{sign}+ ?b")
    for (side, words), sign in zip(_WORDS.items(), "><")
}
_RANK = re.compile(r"rank(?:ing)?[\W_]+(?P<after>.{1,60})|(?P<before>.{1,60}?)[\W_]+rank(?:ing)?", re.IGNORECASE)
_OTHERS = {
    "doc": ("book", "chapter"), "annotator": ("participantid", "participant"),
    "segment": ("expitemnumber", "itemnumber", "line", "item"), "reference": ("humanreference",),
    "criterion": ("condition", "aspect", "dimension", "question"),
}  # fmt: skip
_PLAIN = re.compile(r"[+-]?\d{1,3}(\.\d{1,3})?", re.ASCII)
_SYSTEM, _AGAINST, _SCORE, _HIT = "(system)", "(against)", "(score)", "(comparison)"
_TEXT, _SEGMENT = "(hypothesis)", "(segment)"
_MAP = "Say what each answer is worth for the first system with --map-values, such as --map-values A=1,tie=0.5,B=0."


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
    if lacks == ["system_a", "system_b"] and _named_by_choice(head.samples(names["preference"])):
        lacks = []
    if "segment" not in have and "source" not in have:
        lacks.append("segment")
    fit = 0.965 * (1 - len(lacks) / 4) if "preference" in have else -1.0
    return Match(fit, ", ".join(lacks), head.header, head.line, "by its headings")


def _names(head: Head, options: Options, passed: Iterable[str] = ()) -> dict[str, str]:
    """Map headings to our columns, and to the two systems, their texts and the choice."""
    told = {ours: theirs for ours, theirs in options.single.items() if theirs}
    free = [name for name in head.header if name not in {*told.values(), *passed}]
    found: dict[str, str] = {}

    def take(ours: str, fitting: list[str]) -> None:
        fitting = [name for name in fitting if name in free]
        if fitting and ours not in {*told, *options.values, *options.columns}:
            found[ours] = fitting[0]
            free.remove(fitting[0])

    for side in _SIDES:
        named = [name for name in free if _OF_SYSTEM[side].fullmatch(columns.plain(name))]
        take(f"system_{side}", sorted(named, key=lambda name: columns.plain(name) in _OF_TEXT[side].split()))
    if {"system_a", "system_b"} <= {*found, *told}:
        for side in _SIDES:
            take(f"hypothesis_{side}", [name for name in free if columns.plain(name) in _OF_TEXT[side].split()])
    left = ("hypothesis",) if "hypothesis_a" in found else ()
    choices = [name for name in free if columns.plain(name) in _CHOICE]
    choices += [name for name in free if columns.meaning(name) == "score" and _named_by_choice(head.samples(name))]
    take("preference", sorted(choices, key=lambda name: _order(columns.plain(name))))
    for ours in (name for name in columns.OURS if name not in left):
        take(ours, [name for name in free if columns.plain(name) == columns.plain(ours)])
        take(ours, [name for name in free if columns.plain(name) in _OTHERS.get(ours, ())])
        take(ours, [name for name in free if columns.meaning(name) == ours])
    if "item_type" in found and "item_type" not in told:
        found["domain"] = found.pop("item_type")  # "type" of a comparison: of sentences, of documents
    return found | told


def _order(name: str) -> int:
    """Put the surest heading of a choice first."""
    return _CHOICE.index(name) if name in _CHOICE else len(_CHOICE)


def _named_by_choice(cells: list[str]) -> bool:
    """Tell whether answers are two names and a word for a tie, as mt, human, tie."""
    answers = {cell.casefold() for cell in cells}
    ties = {answer for answer in answers if _TIE.fullmatch(answer)}
    return bool(ties) and len(answers - ties) == 2 and not any(map(_PLAIN.fullmatch, answers))


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
    return _compared(frame, names, values, options, report)


def _segments(sources: pd.Series) -> pd.Series:
    """Name segments by their source texts; those without one have no name."""

    def digits(text: str) -> str:
        return hashlib.sha256(" ".join(plain(text).split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]

    return mapped_cells(sources, digits)


def _compared(frame: pd.DataFrame, names: dict[str, str], values: dict[str, str], options: Options,
              report: Report) -> Converted:  # fmt: skip
    """Turn each comparison into two judgements."""
    systems = _systems(frame, names, values)
    share, wrong = _shares(frame[names["preference"]] if "preference" in names
                           else constant(values["preference"], frame.index), systems, options, report)  # fmt: skip
    rejected = [
        Rejection(
            int(frame.index[place]), names.get(column, column), _cell(frame, names.get(column, ""), place), reason
        )
        for place, (column, reason) in wrong.items()
    ]
    sound = np.setdiff1d(np.arange(len(frame)), [*wrong])
    halves = []
    for side, other in (_SIDES, _SIDES[::-1]):
        half = frame.iloc[sound].assign(**{
            _SYSTEM: systems[side].iloc[sound], _AGAINST: systems[other].iloc[sound],
            _SCORE: [f"{one if side == 'a' else 1 - one:g}" for one in share[sound]],
        })  # fmt: skip
        if f"hypothesis_{side}" in names:
            half[_TEXT] = half[names[f"hypothesis_{side}"]]
        halves.append(half)
    both = pd.concat(halves)
    ours = {name: theirs for name, theirs in names.items() if name in (*columns.OURS, *columns.EXTRAS)}
    ours |= {"system": _SYSTEM, "against": _AGAINST, "score": _SCORE}
    if _TEXT in both:
        ours["hypothesis"] = _TEXT
    if "hit" not in ours:
        both[_HIT], ours["hit"] = _comparisons(both, ours, len(sound), systems, sound), _HIT
    given = {name: value for name, value in values.items() if name in columns.OURS}
    found = converted(both, ours, given, options, scale=(0, 1), note=report.note, typed=True)
    lost = {row.line for row in found.rejected}
    found.rejected = sorted([*rejected, *{row.line: row for row in found.rejected}.values()], key=lambda row: row.line)
    ratings = found.ratings[~found.ratings.index.isin(list(lost))].sort_index(kind="stable")
    found.ratings = ratings.assign(item_type=np.where(human(ratings["system"], report.note), "reference", "system"))
    found.read, found.names = len(ratings) + len(found.rejected), {"annotator": names.get("annotator", "")}
    found.spans = _spans(frame, found.ratings)
    report.orientation = "higher is better: the score is the share of comparisons won, a tie half"
    report.note(
        "each comparison is two judgements, one of each system: 1 for the one that won, 0.5 for a tie; hit is the "
        "comparison, against the other system"
    )
    kept = np.array([place for place in sound if int(frame.index[place]) not in lost], dtype=int)
    _count(systems["a"].iloc[kept], systems["b"].iloc[kept], share[kept], report)
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
    found = sorted({answer for answer in answers.unique() if not _TIE.fullmatch(answer.casefold())})
    if len({answer.casefold() for answer in found}) != 2:
        raise DataError(
            f"The column {names['preference']} names {len(found)} systems ({', '.join(found[:5])}), so nothing says "
            "which two were compared. Name the columns of both with --map system_a=… --map system_b=…."
        )
    first, second = found[0], next(name for name in found if name.casefold() != found[0].casefold())
    return {"a": constant(first, frame.index), "b": constant(second, frame.index)}


def _shares(answers: pd.Series, systems: dict[str, pd.Series], options: Options,
            report: Report) -> tuple[np.ndarray, dict[int, tuple[str, str]]]:  # fmt: skip
    """Return what each answer is worth for the first system (1, .5 or 0), and, by place, what is wrong with others."""
    numbers = {str(answer) for answer in answers.dropna().unique() if _PLAIN.fullmatch(str(answer).replace("−", "-"))}
    worth = _numbers(numbers, options, report) if not options.words else {}
    share, wrong = np.full(len(answers), np.nan), {}
    for place, (answer, *pair) in enumerate(zip(answers, systems["a"], systems["b"])):
        lacking = [side for side, name in zip(_SIDES, pair) if pd.isna(name)]
        if lacking:
            wrong[place] = (f"system_{lacking[0]}", "is empty: fill it in, or drop the row")
        elif _folded(pair[0]) == _folded(pair[1]):
            wrong[place] = ("system_b", "is the system that it is compared with: correct one of them")
        elif pd.isna(answer):
            wrong[place] = ("preference", "there is no preference")
        else:
            told = options.words.get(str(answer).casefold(), worth.get(str(answer)))
            found = _meant(_folded(answer), [_folded(name) for name in pair]) if told is None else told
            if isinstance(found, str):
                wrong[place] = ("preference", found)
            elif 0 <= found <= 1:
                share[place] = found
            else:
                wrong[place] = ("preference", f"is worth {found:g}, outside 0-1: correct --map-values")
    return share, wrong


def _folded(text: str) -> str:
    """Write an answer or a name plainly: small, its words cut by single spaces."""
    return " ".join(re.sub(r"[_\s.:!-]+", " ", plain(str(text)).casefold()).split())


def _meant(answer: str, pair: list[str]) -> float | str:
    """Say what an answer is worth for the first system, or why that cannot be told.

    >>> _meant("tie", ["x", "y"]), _meant("y", ["x", "y"]), _meant("left", ["x", "y"]), _meant("system b", ["x", "y"])
    (0.5, 0.0, 1.0, 0.0)
    >>> _meant("b", ["b", "a"])
    'is the name of one system and the place of the other: name the systems otherwise, or pass --map-values'
    """
    named = next((1.0 - place for place, name in enumerate(pair) if answer == name), None)
    sided = next((1.0 - place for place, side in enumerate(_SIDES) if _SIDE[side].fullmatch(answer)), None)
    if named is not None and sided is not None and named != sided:
        return "is the name of one system and the place of the other: name the systems otherwise, or pass --map-values"
    if (found := named if sided is None else sided) is not None:
        return found
    return 0.5 if _TIE.fullmatch(answer) else f"is neither A, B nor a tie, nor a system's name: correct it. {_MAP}"


def _numbers(found: set[str], options: Options, report: Report) -> dict[str, float]:
    """Say what numbers mean as answers: 1 and 2 the places, 0 a tie; numbers on both sides of 0 lean to one of them.

    Raises DataError where that is ambiguous.
    """
    value = {text: float(text.replace("−", "-")) for text in found}
    numbers = {*value.values()}
    if numbers and min(numbers) < 0:
        ends = f"from {min(numbers):g} to {max(numbers):g}"
        if options.lower_is_better is None:
            raise DataError(
                f"Preferences go {ends}, and nothing says towards which system. Pass --higher-is-better if higher "
                "numbers prefer the first system, --lower-is-better if lower ones do."
            )
        sign = -1 if options.lower_is_better else 1
        report.note(f"preferences {ends} count as won, lost or, where they are 0, a tie; their strength is not used")
        return {text: float(np.sign(sign * number)) / 2 + 0.5 for text, number in value.items()}
    if not numbers:
        return {}
    if numbers <= {0.0, 1.0, 2.0} and 2.0 in numbers:
        report.note(
            "preference 1 was read as the first system, 2 as the second" + (", 0 as a tie" if 0 in numbers else "")
        )
        return {text: {0.0: 0.5, 1.0: 1.0, 2.0: 0.0}[number] for text, number in value.items()}
    shown = ", ".join(f"{number:g}" for number in sorted(numbers)[:8])
    raise DataError(f"Preferences are the numbers {shown}, and nothing says what they mean. {_MAP}")


def _comparisons(both: pd.DataFrame, ours: dict[str, str], size: int, systems: dict[str, pd.Series],
                 sound: np.ndarray) -> list[str]:  # fmt: skip
    """Name each comparison: the segment, what was asked, and both systems in the order they were shown."""
    place = [both[ours[name]].fillna("") for name in ("doc", "segment", "criterion") if name in ours]
    before = [" ".join(filter(None, cells)) for cells in zip(*(cells.iloc[:size] for cells in place))] or [""] * size
    names = [f"{where}: {a} | {b}" for where, a, b in zip(before, systems["a"].iloc[sound], systems["b"].iloc[sound])]
    return [*names, *names]


def _count(first: pd.Series, second: pd.Series, share: np.ndarray, report: Report) -> None:
    """Tell wins and ties of each pair of systems."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for a, b, worth in zip(first, second, share):
        pair = (a, b) if a <= b else (b, a)
        worth = worth if (a, b) == pair else 1 - worth
        counts.setdefault(pair, Counter())["tie" if worth == 0.5 else "won" if worth > 0.5 else "lost"] += 1
    for (a, b), count in sorted(counts.items()):
        report.note(f"{a} against {b}: {count['won']:,} won, {count['tie']:,} ties, {count['lost']:,} lost")


def _spans(frame: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame | None:
    """Take the stretches marked in both texts, where the file has them under ``annotations``; they have no severity."""
    names = {side: f"annotations.text{number}" for side, number in zip(_SIDES, (1, 2))}
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
        part = part.assign(**{_SYSTEM: constant(system, part.index)})
        found = converted(part, ours | {"system": _SYSTEM, "score": heading}, given, options,
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
