"""One check: a question, a worded verdict, the answer with what was found, and what to do."""

from __future__ import annotations

from dataclasses import dataclass

#: Verdicts, each a sign and a word, so that neither colour nor sign alone carries it.
FINE, LOOK, PROBLEM, UNKNOWN = "✓ fine", "! look", "✗ problem", "? not known"
#: Questions are asked so that yes is good.
_ANSWERS = {FINE: "yes", LOOK: "not quite", PROBLEM: "no", UNKNOWN: "not known"}
#: Verdicts from worst to best, and what a sentence calls them.
CALLED = {PROBLEM: "a problem", LOOK: "to look at", UNKNOWN: "not known", FINE: "fine"}


@dataclass(frozen=True)
class Check:
    """One check: the question, the verdict, the answer with what was found, and what to do ("" for nothing).

    elsewhere: whether it is about other language pairs of the file, so that it decides nothing about that in detail.
    """

    question: str
    verdict: str
    found: str
    advice: str = ""
    elsewhere: bool = False


def graded(value: float, fine: float, look: float, *, low_is_good: bool = True) -> str:
    """Grade a number by two limits, which belong to the better side.

    >>> graded(0.1, 0.1, 0.2), graded(0.15, 0.1, 0.2), graded(0.3, 0.1, 0.2), graded(0.9, 0.8, 0.5, low_is_good=False)
    ('✓ fine', '! look', '✗ problem', '✓ fine')
    """
    value, fine, look = (side if low_is_good else -side for side in (value, fine, look))
    return FINE if value <= fine else LOOK if value <= look else PROBLEM


def answered(question: str, verdict: str, found: str, advice: str) -> Check:
    """Make a check that answers yes where all is fine, and then advises nothing."""
    return Check(question, verdict, f"{_ANSWERS[verdict]}: {found}", "" if verdict == FINE else advice)
