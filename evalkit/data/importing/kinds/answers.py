"""Read what somebody answered who was asked which of two translations is better, in whatever words or numbers."""

import re

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.options import Options
from evalkit.data.importing.report import Report
from evalkit.data.names import plain

#: What the systems of a comparison are called, and the words for the first and the second.
SIDES = ("a", "b")
STEMS = "system|sys|model|engine|mt|candidate|output|translation|hypothesis|hyp|option|candidatesystem|modelname|text"
WORDS = {"a": "a|1|left|first|one", "b": "b|2|right|second|two"}
_TIE = re.compile(
    r"tie[ds]?|draw|equal(ly)?( good| bad)?|same|(both|neither|none|no preference|nopreference|no difference|"
    r"indifferent|undecided|similar|about the same|equivalent|either|unentschieden|gleich( gut)?|=)( are)?( good| bad)?"
)
_WON = r"( ?(is|was))?( (much |slightly |clearly )?better| wins| won)?"
_SIDE = {
    side: re.compile(rf"(({STEMS}|t) ?)?({words}){_WON}|a ?{sign}+ ?b")
    for (side, words), sign in zip(WORDS.items(), "><")
}
_PLAIN = re.compile(r"[+-]?\d{1,3}(\.\d{1,3})?", re.ASCII)
_MAP = "Say what each answer is worth for the first system with --map-values, such as --map-values A=1,tie=0.5,B=0."


def is_tie(answer: str) -> bool:
    """Tell whether an answer says that neither translation is better.

    >>> is_tie("No preference"), is_tie("A")
    (True, False)
    """
    return bool(_TIE.fullmatch(answer.casefold()))


def is_side(answer: str) -> str:
    """Say which of two an answer names by its place: "a", "b", or "unknown".

    >>> is_side("left"), is_side("System B"), is_side("both")
    ('a', 'b', 'unknown')
    """
    return next((side for side in SIDES if _SIDE[side].fullmatch(_folded(answer))), "unknown")


def name_two(cells: list[str]) -> bool:
    """Tell whether answers are two names and a word for a tie, as mt, human, tie."""
    answers = {cell.casefold() for cell in cells}
    ties = {answer for answer in answers if _TIE.fullmatch(answer)}
    return bool(ties) and len(answers - ties) == 2 and not any(map(_PLAIN.fullmatch, answers))


def shares(answers: pd.Series, systems: dict[str, pd.Series], options: Options,
            report: Report) -> tuple[np.ndarray, dict[int, tuple[str, str]]]:  # fmt: skip
    """Return what each answer is worth for the first system (1, .5 or 0), and, by place, what is wrong with others."""
    numbers = {str(answer) for answer in answers.dropna().unique() if _PLAIN.fullmatch(str(answer).replace("−", "-"))}
    worth = _numbers(numbers, options, report) if not options.words else {}
    share, wrong = np.full(len(answers), np.nan), {}
    for place, (answer, *pair) in enumerate(zip(answers, systems["a"], systems["b"])):
        lacking = [side for side, name in zip(SIDES, pair) if pd.isna(name)]
        if lacking:
            wrong[place] = (f"system_{lacking[0]}", "is empty: fill it in, or drop the row")
        elif _named(pair[0]) == _named(pair[1]):
            wrong[place] = ("system_b", "is the system that it is compared with: correct one of them")
        elif pd.isna(answer):
            wrong[place] = ("preference", "there is no preference")
        else:
            told = options.words.get(str(answer).casefold(), worth.get(str(answer)))
            found = _meant(str(answer), pair) if told is None else told
            if isinstance(found, str):
                wrong[place] = ("preference", found)
            elif 0 <= found <= 1:
                share[place] = found
            else:
                wrong[place] = ("preference", f"is worth {found:g}, outside 0-1: correct --map-values")
    return share, wrong


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
    named = next((1.0 - place for place, name in enumerate(pair) if _named(answer) == _named(name)), None)
    answer = _folded(answer)
    sided = next((1.0 - place for place, side in enumerate(SIDES) if _SIDE[side].fullmatch(answer)), None)
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
