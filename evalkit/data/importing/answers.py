"""Read what somebody answered who was asked which of two translations is better, in whatever words or numbers."""

import re
import shlex
from collections.abc import Iterable

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import numbers, scales
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.names import plain

#: What the systems of a comparison are called, and the words for the first and the second.
SIDES = ("a", "b")
STEMS = "system|sys|model|engine|mt|candidate|output|translation|hypothesis|hyp|option|candidatesystem|modelname|text"
WORDS = {"a": "a|1|left|first|one|links|gauche|izquierda", "b": "b|2|right|second|two|rechts|droite|derecha"}
NO_ANSWER = "there is no answer"
_TIE = re.compile(
    r"tie[ds]?|draw|(about |roughly )?(equal(ly)?|the same|same)( good| bad| quality)?|(both|neither|none|no preference"
    r"|nopreference|no difference|indifferent|undecided|similar|equivalent|either|unentschieden|gleich( gut)?|égal"
    r"|empate)( are| is)?( equal(ly)?)?( good| bad| better)?|(a|1|left|t1)? ?=+ ?(b|2|right|t2)?"
)
_HOW = "(much|far|slightly|clearly|strongly|definitely|significantly|somewhat|marginally|a bit|a little)"
_WON = rf"( is| was)?( {_HOW})?( better| best| preferred| wins| won)?"
#: What says how one of two fares, its name left out; the name is a side's, or a system's.
_BETTER = re.compile(rf"((i )?({_HOW} )?prefer(red|s)? |{_HOW} better |better )?(the )?(?P<who>.+?){_WON}")
_WORSE = re.compile(rf"(the )?(?P<who>.+?)( is| was)?( {_HOW})?( worse| worst| loses| lost)")
_SIDE = {side: re.compile(rf"(({STEMS}|t) ?)?({words})( (one|{STEMS}))?") for side, words in WORDS.items()}
_RELATION = re.compile(rf"(?P<one>\w+)? ?(?P<sign>>+|<+|({_HOW} )?(better|worse)( than)?) ?(?P<other>\w+)?")
_BARE = re.compile(rf">+|<+|({_HOW} )?(better|worse)")
_PLAIN = re.compile(r"[+-]?\d{1,3}(\.\d{1,3})?", re.ASCII)
_NONE = re.compile(
    r"((i )?(can'?t|cannot|can not|unable to) (judge|tell|decide|say|compare|answer)|(i )?(don'?t|do not) know"
    r"|skip(ped)?|unsure|not sure|not applicable|not judged|no answer|keine angabe|weiß nicht)( .*)?"
)
_MAP = (
    "Say what each answer is worth for the first system: --map-values ANSWER=1, --map-values ANSWER=0, 0.5 for a tie."
)
_STEPS = 10  # a scale of so many steps to either side may end where its numbers do
_ANSWERED = 0.9  # share of a column's cells that are answers where it holds them
Systems = dict[str, pd.Series]
Wrong = dict[int, tuple[str, str]]  # by place: our column, and what is wrong with it


def is_tie(answer: str) -> bool:
    """Tell whether an answer says that neither translation is better.

    >>> is_tie("No preference"), is_tie("A")
    (True, False)
    """
    return bool(_TIE.fullmatch(_folded(answer)))


def side_of(answer: str) -> str:
    """Say which of two an answer names by its place as the better one: "a", "b", or "unknown".

    >>> side_of("left"), side_of("System B is slightly better"), side_of("A is worse"), side_of("both")
    ('a', 'b', 'b', 'unknown')
    >>> side_of("A > B"), side_of("2>1"), side_of("<"), side_of("worse")
    ('a', 'b', 'b', 'b')
    """
    answer = _folded(answer)
    if one := _placed(answer):
        return one
    if related := _RELATION.fullmatch(answer):
        one, other = (_placed(related[name] or side) for name, side in (("one", "a"), ("other", "b")))
        if one and other and one != other:
            return other if "<" in related["sign"] or "worse" in related["sign"] else one
    for pattern, other_wins in ((_WORSE, True), (_BETTER, False)):
        if (said := pattern.fullmatch(answer)) and (one := _placed(said["who"])):
            return SIDES[(one == "a") == other_wins]
    return "unknown"


def _placed(name: str) -> str:
    """Say which side a name is that stands for a place; empty where it is none."""
    return next((side for side in SIDES if _SIDE[side].fullmatch(name)), "")


def are_answers(cells: list[str], systems: Iterable[str] = ()) -> bool:
    """Tell whether cells say in words which of two is better: nearly all that say anything, and one names a side.

    systems: names that an answer may give instead.

    >>> are_answers(["a", "tie", "b", "n/a"]), are_answers(["tie", "same"]), are_answers(["a", "cat", "b", "dog"])
    (True, False, False)
    """
    said = [cell for cell in cells if cell.casefold() not in numbers.ABSENT and not _NONE.fullmatch(_folded(cell))]
    said = [cell for cell in said if not _PLAIN.fullmatch(cell)]
    ties = [is_tie(cell) for cell in said]
    sided = [
        side_of(cell) != "unknown" or isinstance(_meant(cell, [*systems]), float)
        for cell, tie in zip(said, ties)
        if not tie
    ]
    return any(sided) and sum(sided) + sum(ties) >= _ANSWERED * len(said) and len(said) > len(cells) / 2


def name_two(cells: list[str]) -> bool:
    """Tell whether answers are two names and a word for a tie, as mt, human, tie."""
    answers = {cell.casefold() for cell in cells}
    ties = {answer for answer in answers if _TIE.fullmatch(answer)}
    return bool(ties) and len(answers - ties) == 2 and not any(map(_PLAIN.fullmatch, answers))


def shares(answers: pd.Series, systems: Systems, options: Options, receipt: Receipt) -> tuple[np.ndarray, Wrong]:
    """Return what each answer is worth for the first system (1, .5 or 0), and, by place, what is wrong with others."""
    distinct = [str(answer) for answer in answers.dropna().unique()]
    figures = {answer for answer in distinct if _PLAIN.fullmatch(answer.replace("−", "-"))}
    worth = _numbers(figures, options, receipt) if not options.words else {}
    ties = {_folded(answer) for answer in distinct if is_tie(answer)} - {"none", "both", "neither"}
    none = numbers.ABSENT - (set() if ties else {"none"})  # where "tie" is a tie, "none" is no answer
    if bare := [answer for answer in distinct if _BARE.fullmatch(_folded(answer))]:
        receipt.note(
            f"{', '.join(map(repr, bare[:5]))} was taken to speak of the first system, against the second; "
            "--map-values tells otherwise"
        )
    share, wrong = np.full(len(answers), np.nan), unlike(systems)
    for place, (answer, *pair) in enumerate(zip(answers, systems["a"], systems["b"])):
        if place in wrong:
            continue
        told = None if pd.isna(answer) else options.words.get(str(answer).casefold(), worth.get(str(answer)))
        if told is None and (pd.isna(answer) or str(answer).casefold() in none or _NONE.fullmatch(_folded(answer))):
            wrong[place] = ("preference", NO_ANSWER)
            continue
        said = _meant(str(answer), pair) if told is None else told
        if isinstance(said, str):
            wrong[place] = ("preference", said)
        elif 0 <= said <= 1:
            share[place] = said
        else:
            wrong[place] = ("preference", f"is worth {said:g}, outside 0-1: correct --map-values")
    return share, wrong


def unlike(systems: Systems) -> Wrong:
    """Say of which rows both systems are not known, or are the same."""
    wrong = {}
    for place, pair in enumerate(zip(systems["a"], systems["b"])):
        if lacking := [side for side, name in zip(SIDES, pair) if pd.isna(name)]:
            wrong[place] = (f"system_{lacking[0]}", "is empty: fill it in, or drop the row")
        elif _named(pair[0]) == _named(pair[1]):
            wrong[place] = ("system_b", "is the system that it is compared with: correct one of them")
    return wrong


def leads(
    cells: pd.Series, systems: Systems, headings: dict[str, list[str]], options: Options, receipt: Receipt
) -> tuple[np.ndarray, float, Wrong]:
    """Read numbers on a scale from one system to the other: the first one's lead, the most it can be, what is wrong.

    headings: what names either side, which ``--positive`` may say. The middle of the scale that is told, else 0, is no
    preference. Raises DataError where nothing says whose side high numbers are on, or which number is the middle.
    """
    values, unread = numbers.read(cells, options.decimal)
    said = values[np.isfinite(values)]
    ends, middle = f"from {said.min():g} to {said.max():g}" if len(said) else "of none", 0.0
    sides = [*headings["a"], *headings["b"]]
    ways = " or ".join(f"--positive {shlex.quote(headings[side][0])}" for side in SIDES)
    favoured = [side for side in SIDES if options.positive in headings[side] or side_of(options.positive) == side]
    if options.positive and len(favoured) != 1:
        raise DataError(f"--positive {options.positive!r:.60} is none of {', '.join(sides)}. Pass {ways}.")
    scale = options.scale
    if not favoured or (not scale and len(said) and said.min() >= 0):
        scaled = "" if len(said) and said.min() < 0 else " with --scale LOW:HIGH, whose middle is no preference"
        raise DataError(
            f"{cells.name} is one number for two systems ({ends}), and nothing says which of them higher numbers favour"
            f"{', or which number is no preference' * bool(scaled)}. Pass {ways}{scaled}."
        )
    if scale:
        middle, most = (scale[0] + scale[1]) / 2, (scale[1] - scale[0]) / 2
    else:
        most = float(np.ceil(np.abs(said).max())) if len(said) else 1.0
        most = most if most <= _STEPS else max(most, 100.0)
        receipt.scale_from = f"{scales.GUESSED} ({ends}); --scale LOW:HIGH states another"
    reasons = {place: NO_ANSWER if why.startswith(numbers.MISSING) else why for place, why in unread.items()}
    reasons |= numbers.off_scale(values, (middle - most, middle + most))
    sign = 1.0 if favoured[0] == "a" else -1.0
    return (values - middle) * sign, most, unlike(systems) | {place: ("preference", r) for place, r in reasons.items()}


def _named(text: str) -> str:
    """Write a name so that spellings which differ in case or outer spaces only are one."""
    return plain(str(text)).casefold().strip()


def _folded(text: str) -> str:
    """Write an answer plainly: small, its words cut by single spaces."""
    return " ".join(re.sub(r"[_\s.:!-]+", " ", plain(str(text)).casefold()).split())


def _meant(answer: str, pair: list[str]) -> float | str:
    """Say what an answer is worth for the first system, or why that cannot be told.

    >>> _meant("tie", ["x", "y"]), _meant("y", ["x", "y"]), _meant("left", ["x", "y"]), _meant("system b", ["x", "y"])
    (0.5, 0.0, 1.0, 0.0)
    >>> _meant("b", ["b", "a"])
    'is the name of one system and the place of the other: name the systems otherwise, or pass --map-values'
    """
    folded = _folded(answer)
    said = [(_named(answer), 1.0), (folded, 1.0)]
    for pattern, worth in ((_WORSE, 0.0), (_BETTER, 1.0)):
        said += [(one["who"], worth)] if (one := pattern.fullmatch(folded)) else []
    named = [
        abs(worth - (place > 0))
        for who, worth in said
        for place, name in enumerate(pair)
        if who in (_named(name), _folded(name))
    ]
    sided = {"a": 1.0, "b": 0.0}.get(side_of(answer))
    if named and sided is not None and named[0] != sided:
        return "is the name of one system and the place of the other: name the systems otherwise, or pass --map-values"
    if named or sided is not None:
        return named[0] if sided is None else sided
    return 0.5 if is_tie(answer) else f"is neither A, B nor a tie, nor a system's name: correct it. {_MAP}"


def _numbers(figures: set[str], options: Options, receipt: Receipt) -> dict[str, float]:
    """Say what numbers mean as answers: 1 and 2 the places, 0 a tie; numbers on both sides of 0 lean to one of them.

    Raises DataError where that is ambiguous.
    """
    value = {text: float(text.replace("−", "-")) for text in figures}
    there = {*value.values()}
    if not there:
        return {}
    if min(there) < 0:
        ends = f"from {min(there):g} to {max(there):g}"
        if options.lower_is_better is None:
            raise DataError(
                f"Preferences go {ends}, and nothing says towards which system. Pass --positive A or --positive B, the "
                "system that higher numbers prefer, to keep their strength. To count who won, pass --higher-is-better "
                "if higher numbers prefer the first system, --lower-is-better if lower ones do."
            )
        sign = -1 if options.lower_is_better else 1
        receipt.note(f"preferences {ends} count as won, lost or, where they are 0, a tie; their strength is not used")
        return {text: float(np.sign(sign * number)) / 2 + 0.5 for text, number in value.items()}
    if there <= {0.0, 1.0, 2.0} and 2.0 in there:
        tie = ", 0 as a tie" if 0 in there else ""
        receipt.note(f"preference 1 was read as the first system, 2 as the second{tie}")
        return {text: {0.0: 0.5, 1.0: 1.0, 2.0: 0.0}[number] for text, number in value.items()}
    shown = ", ".join(f"{number:g}" for number in sorted(there)[:8])
    raise DataError(
        f"Preferences are the numbers {shown}, and nothing says what they mean. {_MAP} Where they are a scale from one "
        "system to the other, pass --positive A or --positive B, the system that higher numbers prefer, and --scale."
    )
