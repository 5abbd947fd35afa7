"""Three kinds of exercise, and how each finds the hint that fits an answer.

``Function``: write a function; it is tried on several inputs. ``Value``: find a value, which may depend on the data of
the run. ``Made``: make something that must have several properties. All know typical wrong answers with their hints,
so that a test can prove that each of them is told what it needs to hear.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from evalkit.lessons.answers import form, given, same

EMPTY = "There is no answer yet: fill in what is marked TODO in the cell above, run that cell, then this one."


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One typical wrong answer and the hint that fits it.

    answer: for a ``Function`` the wrong function; else a function of the check's context that returns the wrong value.
    """

    answer: Callable[..., Any]
    hint: str


class Exercise(Protocol):
    """What a check needs to know of an exercise."""

    well: str

    def diagnose(self, answer: Any, *context: Any) -> str | None:
        """Return the hint that fits the answer, or None where it is right."""

    def wrong(self, *context: Any) -> list[tuple[Any, str]]:
        """Return the typical wrong answers in this context, each with the hint that it should get."""


@dataclass(frozen=True, kw_only=True)
class Function:
    """Write a function: it is right when it returns what ``right`` does on every trial.

    trials: from the check's context (often nothing) to a list of argument tuples. start: a first step for a
    student who has not begun. otherwise: the hint where no mistake fits. well: what a right answer means.
    """

    right: Callable[..., Any]
    trials: Callable[..., Iterable[tuple]]
    mistakes: tuple[Mistake, ...]
    otherwise: str
    start: str = ""
    well: str = ""

    def diagnose(self, answer: Any, *context: Any) -> str | None:
        """Try the function on copies of all inputs; what it returns decides."""
        if not given(answer):
            return _empty(self.start)
        if not callable(answer):
            return (
                "This is a value, and a function is asked for. Keep the line that begins with 'def', and run it again."
            )
        trials = [tuple(trial) for trial in self.trials(*context)]
        found = []
        for trial in trials:
            try:
                found.append(answer(*copy.deepcopy(trial)))
            except Exception as problem:
                return f"Your function stops with {type(problem).__name__}: {problem}. Try it on one small input."
        if not any(map(given, found)):
            return _empty(self.start)
        if not all(map(given, found)):
            return "For some inputs your function returns nothing. Does every way through it end in a 'return'?"
        wanted = [self.right(*copy.deepcopy(trial)) for trial in trials]
        if all(map(same, found, wanted)):
            return None
        for mistake in self.mistakes:
            if _returns(mistake.answer, trials, found):
                return mistake.hint
        at = next(i for i in range(len(trials)) if not same(found[i], wanted[i]))
        return form(found[at], wanted[at]) or self.otherwise

    def wrong(self, *context: Any) -> list[tuple[Any, str]]:
        """Return the wrong functions with their hints."""
        return [(mistake.answer, mistake.hint) for mistake in self.mistakes]


@dataclass(frozen=True, kw_only=True)
class Value:
    """Find a value: it is right when it equals what ``right`` computes from the check's context."""

    right: Callable[..., Any]
    mistakes: tuple[Mistake, ...]
    otherwise: str
    start: str = ""
    well: str = ""

    def diagnose(self, answer: Any, *context: Any) -> str | None:
        """Compare with the right value, then with the typical wrong ones."""
        if not given(answer):
            return _empty(self.start)
        wanted = self.right(*context)
        if same(answer, wanted):
            return None
        hints = (mistake.hint for mistake in self.mistakes if same(answer, mistake.answer(*context)))
        return next(hints, None) or form(answer, wanted) or self.otherwise

    def wrong(self, *context: Any) -> list[tuple[Any, str]]:
        """Return the wrong values with their hints, without those that happen to be right on these data."""
        wanted = self.right(*context)
        values = [(mistake.answer(*context), mistake.hint) for mistake in self.mistakes]
        return [(value, hint) for value, hint in values if not same(value, wanted)]


@dataclass(frozen=True, kw_only=True)
class Need:
    """One property that a made thing must have: ``holds(answer, *context)``, and the hint where it does not."""

    holds: Callable[..., bool]
    hint: str


@dataclass(frozen=True, kw_only=True)
class Made:
    """Make something with all the properties in ``needs``; the first that is missing gives the hint.

    mistakes: typical wrong things, made from the context, each with the hint (of one of the needs) that it should get.
    """

    needs: tuple[Need, ...]
    mistakes: tuple[Mistake, ...]
    start: str = ""
    well: str = ""

    def diagnose(self, answer: Any, *context: Any) -> str | None:
        """Ask for one property after the other; one that cannot be asked for is missing."""
        if not given(answer):
            return _empty(self.start)
        return next((each.hint for each in self.needs if not _holds(each, answer, context)), None)

    def wrong(self, *context: Any) -> list[tuple[Any, str]]:
        """Return the wrong things with their hints."""
        return [(mistake.answer(*context), mistake.hint) for mistake in self.mistakes]


def _empty(start: str) -> str:
    return f"{EMPTY} {start}".strip()


def _holds(each: Need, answer: Any, context: tuple) -> bool:
    try:
        return bool(each.holds(copy.deepcopy(answer), *context))
    except Exception:  # an answer of any form whatever
        return False


def _returns(wrong: Callable[..., Any], trials: list[tuple], found: list[Any]) -> bool:
    """Tell whether a wrong function returns on all trials what was found."""
    try:
        return all(same(each, wrong(*copy.deepcopy(trial))) for trial, each in zip(trials, found, strict=True))
    except Exception:  # a wrong function may stop where the student's does not
        return False
