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
from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.files.rows import Rows
from evalkit.data.importing.formats import Format, Head, Match, describe, with_languages
from evalkit.data.importing.judgements import Converted, constant, converted, human, mapped_cells
from evalkit.data.importing.kinds import places
from evalkit.data.importing.kinds.answers import (
    NO_ANSWER,
    SIDES,
    STEMS,
    WORDS,
    are_answers,
    is_tie,
    leads,
    name_two,
    shares,
)
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import EXCLUDED, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.names import plain
from evalkit.data.schemas import UNSTATED

_CONDITION = "condition|setting|prompt|variant|method|version|setup|config|configuration|strategy|mode|arm"
_NAMED = f"name|id|tag|system|model|label|{_CONDITION}"
#: What heads the systems of a comparison: system_a, model 1, left_system, text1_tag, or what they worked under:
#: system_a_condition, prompt_b.
_OF_SYSTEM = {
    side: re.compile(
        rf"({STEMS}|{_CONDITION})(?:{words})({_NAMED})?|(?:{words})(system|sys|model|engine|{_CONDITION})({_NAMED})?"
    )
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
#: Words of further headings of the choice, and what heads one number for two systems.
_CHOOSING = columns.vocabulary(
    "preference preferred prefer pref choice winner better best vote verdict chosen answer label response result "
    "selection selected judgement judgment rating score comparison decision overall"
)
_LEAD = columns.vocabulary(
    "slider strength difference diff margin lead comparison cmos cmp preference pref value answer response rating vote choice"
)
_SLOT = re.compile(rf"(?:{STEMS})(\d{{1,2}})({_NAMED})?")
_SLOT_RANK = re.compile(rf"(?:(?:{STEMS})(\d{{1,2}}))?rank(?:ing)?(\d{{1,2}})?")
_RANK = re.compile(r"rank(?:ing)?[\W_]+(?P<after>.{1,60})|(?P<before>.{1,60}?)[\W_]+rank(?:ing)?", re.IGNORECASE)
_OTHERS = {
    "doc": ("book", "chapter"), "annotator": ("participantid", "participant", "sessionid"),
    "segment": ("expitemnumber", "itemnumber", "line", "item"), "reference": ("humanreference",),
    "source": ("text",),
    "criterion": ("condition", "aspect", "dimension", "question"),
    "first": ("shownfirst", "firstshown", "stoodfirst", "displayedfirst", "onleft"),
}  # fmt: skip
_SYSTEM, _AGAINST, _SCORE, _HIT = "(system)", "(against)", "(score)", "(comparison)"
_PLACE, _SCREEN, _RANKED = "(place)", "(screen)", "(rank)"
_FEW = 20  # names of conditions; prompts themselves are more
_ANSWERS = 3  # the first, the second, or a tie
_MOSTLY = 0.8  # share of cells that are numbers where a column holds them
_SHOWN = 20  # pairs of systems whose wins and ties are told
_TEXT, _SEGMENT = "(hypothesis)", "(segment)"


def _match(head: Head, options: Options) -> Match:
    """Fits where two systems and a choice or a number between them are named, or a choice of two, or ranks of systems."""
    if ranks := _ranks(head.header):
        names = _names(head, options, {*ranks})
        lacks = [name for name in ("segment", "annotator") if name not in {*names, *options.values}]
        if "system" not in names and "score" not in names:
            why = f"by its {len(ranks)} columns of ranks, one per system"
            return Match(0.96 * (1 - len(lacks) / 5), ", ".join(lacks), head.header, head.line, why)
    names = _names(head, options)
    have = {*names, *options.values}
    if slots := _slots(head.header):
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


def names_two(head: Head, options: Options) -> tuple[str, str] | None:
    """Name the columns of two systems that each row compares by one answer or number; None where rows do not."""
    names = _names(head, options)
    answered = "preference" in names or "score" in names
    return (names["system_a"], names["system_b"]) if answered and {"system_a", "system_b"} <= {*names} else None


def demand_one(head: Head, options: Options) -> None:
    """Refuse to read rows that compare two systems as judgements of one."""
    if (two := names_two(head, options)) and not _slots(head.header):
        raise DataError(
            f"{head.name}: each row compares two systems ({two[0]} and {two[1]}), so none is the system of the row. "
            "Import it with --format preferences, without naming a system."
        )


def _names(head: Head, options: Options, passed: Iterable[str] = ()) -> dict[str, str]:
    """Map headings to our columns, and to the two systems, their texts and the choice."""
    told = {ours: theirs for ours, theirs in options.single.items() if theirs}
    if are_answers(head.samples(told["score"]) if told.get("score") in head.header else []):
        told.setdefault("preference", told.pop("score"))  # a choice is no score, whatever it is called
    free = [name for name in head.header if name not in {*told.values(), *passed}]
    found: dict[str, str] = {}

    def take(ours: str, fitting: list[str]) -> None:
        fitting = [name for name in fitting if name in free]
        if fitting and ours not in {*found, *told, *options.values, *options.columns}:
            found[ours] = fitting[0]
            free.remove(fitting[0])

    for side, name in zip(SIDES, _sides(head, free) or ()):
        take(f"system_{side}", [name])
    for side in SIDES:
        take(f"hypothesis_{side}", [name for name in free if columns.plain(name) in _OF_TEXT[side].split()])
    two = {"system_a", "system_b"} <= {*found, *told}
    left = ("hypothesis",) if "hypothesis_a" in found else ()
    choices = [name for name in free if columns.plain(name) in _CHOICE]
    choices += [name for name in free if columns.meaning(name) == "score" and name_two(head.samples(name))]
    if two:
        systems = {cell for side in SIDES for cell in head.samples((told | found)[f"system_{side}"])}
        choices += [
            name for name in free if _CHOOSING & {*columns.words(name)} and are_answers(head.samples(name), systems)
        ]
    take("preference", sorted(choices, key=lambda name: _order(columns.plain(name))))
    for ours in (name for name in (*columns.OURS, "first") if name not in left):
        take(ours, [name for name in free if columns.plain(name) == columns.plain(ours)])
        take(ours, [name for name in free if columns.plain(name) in _OTHERS.get(ours, ())])
        take(ours, [name for name in free if columns.meaning(name) == ours])
    for ours, theirs in (("screen", ("rankingid", "screenid")), ("segment", ("srcindex",))):
        take(ours, [name for name in free if columns.plain(name) in theirs])
    if two and "preference" not in {*found, *told, *options.values}:
        take("score", [name for name in free if _LEAD & {*columns.words(name)} and _numeric(head.samples(name))])
    if "item_type" in found and "item_type" not in told:
        found["domain"] = found.pop("item_type")  # "type" of a comparison: of sentences, of documents
    return found | told


def _sides(head: Head, free: list[str]) -> tuple[str, str] | None:
    """Choose the headings of both systems: those that differ where others are alike, names before conditions and texts."""
    named = {side: _of_side(side, [name for name in free if not _numeric(head.samples(name))]) for side in SIDES}
    pairs = [
        (*pair, parts) for parts, pair in zip(named["a"], zip(named["a"].values(), map(named["b"].get, named["a"])))
    ]
    pairs = [(a, b, parts) for a, b, parts in pairs if b]
    if not pairs and all(named.values()):
        pairs = [(*(next(iter(named[side].values())) for side in SIDES), ())]

    def order(pair: tuple[str, str, tuple[str, ...]]) -> tuple[bool, bool, bool]:
        places = [head.header.index(name) for name in pair[:2]]
        rows = [[row[place].strip() for place in places] for row in head.below if len(row) > max(places)]
        alike = [one == other for one, other in rows if one and other]
        texts = columns.plain(pair[0]) in _OF_TEXT["a"].split()
        other = texts or bool({*pair[2]} & {*_CONDITION.split("|")})
        few = max(len(rows) / 2, 0 if texts else _FEW)
        return other and len({name for row in rows for name in row}) > few, bool(alike) and all(alike), other

    best = min(pairs, key=order, default=None)
    return best[:2] if best and not order(best)[0] else None  # texts hardly recur


def _few(cells: pd.Series) -> bool:
    """Tell whether numbers are so few, and none below 0, that each is an answer rather than a place on a scale."""
    values = numbers.read(cells)[0]
    return bool(np.nanmin(values) >= 0 and len({*values[np.isfinite(values)]}) <= _ANSWERS)


def _of_side(side: str, names: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Map what headings say beside the side to those that may name its system."""
    found = {name: _OF_SYSTEM[side].fullmatch(columns.plain(name)) for name in names}
    return {tuple(one.groups("")): name for name, one in reversed(found.items()) if one}


def head_two(names: Iterable[str]) -> bool:
    """Tell whether names of fields speak of two systems, or of their translations.

    >>> head_two(["source", "model_left", "model_right"]), head_two(["source", "system"])
    (True, False)
    """
    return bool({*_of_side("a", names)} & {*_of_side("b", names)})


def _numeric(cells: list[str]) -> bool:
    """Tell whether a column holds numbers."""
    return bool(cells) and bool(np.isfinite(numbers.read(pd.Series(cells, dtype="str"))[0]).mean() > _MOSTLY)


def _order(name: str) -> int:
    """Put the surest heading of a choice first."""
    return _CHOICE.index(name) if name in _CHOICE else len(_CHOICE)


def _slots(header: list[str]) -> list[tuple[str, str]]:
    """List the columns of systems, each with that of its rank, where every place has both; fewer than two are none.

    >>> _slots(["system1Number", "system1Id", "system2Id", "system1rank", "system2rank"])
    [('system1Id', 'system1rank'), ('system2Id', 'system2rank')]
    """
    plainly = {name: columns.plain(name) for name in header}
    named = {found[1]: name for name, bare in plainly.items() if (found := _SLOT.fullmatch(bare))}
    ranked = {found[1] or found[2]: name for name, bare in plainly.items() if (found := _SLOT_RANK.fullmatch(bare))}
    found = [(named[place], ranked[place]) for place in named if place in ranked]
    return found if len(found) > 1 and len(found) == len(ranked) else []


def _ranks(header: list[str]) -> dict[str, str]:
    """Map the headings that say rank and a system's name to that name; fewer than two are none.

    >>> _ranks(["segment", "rank_DeepL", "GPT-4 rank", "rank"])
    {'rank_DeepL': 'DeepL', 'GPT-4 rank': 'GPT-4'}
    """
    if _slots(header):  # places on a screen, not systems
        return {}
    found = {name: match["after"] or match["before"] for name in header if (match := _RANK.fullmatch(name.strip()))}
    return found if len(found) > 1 else {}


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read comparisons, each as two judgements, or rows of ranks, each as a judgement per system."""
    if match.lacks:
        raise DataError(
            f"{head.name} holds no {PREFERENCES.title}: it lacks {match.lacks}. Say which columns they are: "
            f"{' '.join(f'--map {name}=HEADING' for name in match.lacks.split(', '))}."
        )
    if "system" in options.values or options.columns.get("system"):
        demand_one(head, options)
    ranks, slots = _ranks(match.header), _slots(match.header)
    parts = {name for slot in slots for name in slot} or {*ranks}
    names, values = _names(head, options, parts), dict(options.values)
    maker = "" if parts else names.pop("system", "")
    describe(report, columns.Columns(names, dict.fromkeys(names, "layout")), [
        name for name in match.header if name not in {*parts, maker}])  # fmt: skip
    names, frame = dict(names), rows.frame
    if "segment" not in {*names, *values} and not ranks:
        frame, names["segment"] = frame.assign(**{_SEGMENT: _segments(frame[names["source"]])}), _SEGMENT
        report.segments = "segments are named by their source texts (eight digits of a hash)"
    if maker:
        report.note(f"{names['system_a']} and {names['system_b']} are what was compared; {maker}, which made both, is "
                    "part of the segment's name")  # fmt: skip
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
        return _ranked(_slotted(frame, slots, report), len(slots), names, values, options, report)
    if ranks:
        return _ranked(_unstacked(frame, ranks, report), len(ranks), names, values, options, report)
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
    shown = places.stood_first(frame, names, systems, report)
    answers = names.get("preference") or names.get("score", "")
    cells = frame[answers] if answers else constant(values["preference"], frame.index)
    most, numeric = 0.0, not options.words and _numeric([str(cell) for cell in cells.dropna()])
    if numeric and (options.positive or ("preference" not in {*names, *values} and not _few(cells))):
        headings = {side: [names[name] for name in (f"system_{side}", f"hypothesis_{side}") if name in names]
                    or [side.upper()] for side in SIDES}  # fmt: skip
        worth, most, wrong = leads(cells, systems, headings, options, report)
        share = np.sign(worth) / 2 + 0.5
    else:
        share, wrong = shares(cells, systems, options, report)
        worth = share
    rejected = [
        Rejection(
            int(frame.index[place]), names.get(column, answers), _cell(frame, names.get(column, answers), place), reason,
            EXCLUDED if reason == NO_ANSWER else "rejected",
        )
        for place, (column, reason) in wrong.items()
    ]  # fmt: skip
    sound = np.setdiff1d(np.arange(len(frame)), [*wrong])
    halves, first = [], shown[sound]
    for side, other in (SIDES, SIDES[::-1]):
        half = frame.iloc[sound].assign(**{
            _SYSTEM: systems[side].iloc[sound], _AGAINST: systems[other].iloc[sound],
            _SCORE: pd.array([str(float(one if side == "a" else (0.0 if most else 1.0) - one)) for one in worth[sound]],
                             dtype="str"),
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
    scale = (-most, most) if most else (0, 1)
    found = converted(both, ours, given, options, scale=scale, note=report.note, typed=True)
    lost = {row.line for row in found.rejected}
    found.rejected = sorted([*rejected, *{row.line: row for row in found.rejected}.values()], key=lambda row: row.line)
    ratings = found.ratings[~found.ratings.index.isin(list(lost))].sort_index(kind="stable")
    found.ratings = ratings.assign(item_type="system")  # a person's translation too, for it competes like any other
    found.read, found.names = len(ratings) + len(found.rejected), {"annotator": names.get("annotator", "")}
    found.spans = _spans(frame, found.ratings)
    report.orientation = "higher is better: " + (
        f"the score is how far {answers} favours the system over the other, as --positive tells" if most else
        "the score is the share of comparisons won, a tie half"
    )  # fmt: skip
    report.note(
        "each comparison is two judgements, one of each system: " + ("the number in its favour, below 0 where it is "
        "against it" if most else "1 for the one that won, 0.5 for a tie") + "; hit is the comparison, against the "
        "other system"
    )  # fmt: skip
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


def _unstacked(frame: pd.DataFrame, ranks: dict[str, str], report: Report) -> pd.DataFrame:
    """Write a column of ranks per system as a row per rank, with its system."""
    parts = [
        frame.assign(**{_SYSTEM: constant(system, frame.index), _RANKED: frame[name]}) for name, system in ranks.items()
    ]
    report.orientation = f"lower is better by the headings ({', '.join(ranks)}): the score is minus the rank"
    return pd.concat(parts)


def _slotted(frame: pd.DataFrame, slots: list[tuple[str, str]], report: Report) -> pd.DataFrame:
    """Write columns of systems with their ranks as a row per rank; -1 is no rank, as WMT wrote it."""
    parts = [frame.assign(**{_SYSTEM: frame[name], _RANKED: frame[rank].mask(frame[rank].isin(["-1", "-1.0"]))})
             for name, rank in slots]  # fmt: skip
    headings = ", ".join(rank for _, rank in slots)
    report.orientation = f"lower is better by the headings ({headings}): the score is minus the rank"
    both = pd.concat(parts)
    return both[both[_SYSTEM].notna() | both[_RANKED].notna()]


def _ranked(long: pd.DataFrame, most: int, names: dict[str, str], values: dict[str, str], options: Options,
            report: Report) -> Converted:  # fmt: skip
    """Read a judgement per system of each row: minus its rank. most: how many systems a row has."""
    if options.lower_is_better is False:
        raise DataError(
            "Ranks are better the lower they are, 1 the best. Drop --higher-is-better, or rename the columns."
        )
    ours = {name: theirs for name, theirs in names.items() if name in (*columns.OURS, *columns.EXTRAS)}
    given = {name: value for name, value in values.items() if name in columns.OURS}
    part = long[long[_RANKED].notna()]
    report.blank_cells += len(long) - len(part)
    part = part.assign(**{_SCREEN: pd.array([f"row {line}" for line in part.index], dtype="str")})
    made = {"system": _SYSTEM, "score": _RANKED, "screen": names.get("screen", _SCREEN)}
    made["hit"] = names.get("hit", made["screen"])  # one person may rank other systems on the same segment again
    found = converted(part, ours | made, given, options, scale=(1, most), note=report.note)
    ratings = found.ratings.sort_index(kind="stable")
    kinds = np.where(human(ratings["system"], report.note), "reference", "system")
    rejected = sorted(found.rejected, key=lambda row: row.line)
    ratings = ratings.assign(score=0.0 - ratings["score"], item_type=kinds)
    _tell_ranks(ratings, report)
    return Converted(ratings, rejected, {"annotator": names.get("annotator", "")}, (-float(most), -1.0),
                     read=len(ratings) + len(rejected))  # fmt: skip


def _tell_ranks(ratings: pd.DataFrame, report: Report) -> None:
    """Tell how many screens there are, and which share of its untied comparisons on them each system won."""
    met = ratings[["screen", "annotator", "system", "score"]].merge(
        ratings[["screen", "annotator", "system", "score"]], on=["screen", "annotator"]
    )
    met = met[met["system_x"].ne(met["system_y"]) & met["score_x"].ne(met["score_y"])]
    won = met["score_x"].gt(met["score_y"]).groupby(met["system_x"]).mean().sort_values(ascending=False)
    told = ", ".join(f"{name} {share:.3f}" for name, share in won.head(_SHOWN).items())
    report.note(
        f"{ratings['screen'].nunique():,} screens; share of untied comparisons on a screen that each system won: {told}"
    )


PREFERENCES = Format("preferences", "comparisons of two systems, or ranks", (0, 1), _match, _convert)
