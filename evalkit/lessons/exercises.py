"""Three kinds of exercise, and how each finds the hint that fits an answer.

``Function``: write a function; it is tried on several inputs. ``Value``: find a value, which may depend on the data of
the run. ``Made``: make something that must have several properties. All know typical wrong answers with their hints,
so that a test can prove that each of them is told what it needs to hear.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evalkit.lessons.answers import form, given, same

EMPTY = "There is no answer yet: fill in what is marked TODO in the cell above, run that cell, then this one."


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One typical wrong answer and the hint that fits it.

    answer: for a ``Function`` the wrong function; else a function of the check's context that returns the wrong value.
    """

    answer: Callable[..., Any]
    hint: str


@dataclass(frozen=True, kw_only=True)
class Exercise(ABC):
    """What all exercises have.

    mistakes: typical wrong answers. otherwise: the hint where none of them fits. start: a first step for a student who
    has not begun. well: what a right answer means.
    """

    mistakes: tuple[Mistake, ...]
    otherwise: str = ""
    start: str = ""
    well: str = ""

    def diagnose(self, answer: Any, *context: Any) -> str | None:
        """Return the hint that fits the answer, or None where it is right."""
        return self.hint(answer, *context) if given(answer) else f"{EMPTY} {self.start}".strip()

    @abstractmethod
    def hint(self, answer: Any, *context: Any) -> str | None:
        """Return the hint that fits an answer which was given, or None where it is right."""

    def wrong(self, *context: Any) -> list[tuple[Any, str]]:
        """Return the typical wrong answers in this context, each with the hint that it should get."""
        return [(mistake.answer(*context), mistake.hint) for mistake in self.mistakes]


@dataclass(frozen=True, kw_only=True)
class Function(Exercise):
    """Write a function: it is right when it returns what ``right`` does on every trial.

    trials: from the check's context (often nothing) to a list of argument tuples.
    """

    right: Callable[..., Any]
    trials: Callable[..., Iterable[tuple]]

    def hint(self, answer: Any, *context: Any) -> str | None:
        """Try the function on copies of all inputs; what it returns decides."""
        if not callable(answer):
            return (
                "This is a value, and a function is asked for. Keep the line that begins with 'def', and run it again."
            )
        trials = list(self.trials(*context))
        found = []
        for trial in trials:
            try:
                found.append(answer(*copy.deepcopy(trial)))
            except Exception as problem:
                return f"Your function stops with {type(problem).__name__}: {problem}. Try it on one small input."
        if not any(map(given, found)):
            return f"{EMPTY} {self.start}".strip()
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
class Value(Exercise):
    """Find a value: it is right when it equals what ``right`` computes from the check's context."""

    right: Callable[..., Any]

    def hint(self, answer: Any, *context: Any) -> str | None:
        """Compare with the right value, then with the typical wrong ones."""
        wanted = self.right(*context)
        if same(answer, wanted):
            return None
        hints = (mistake.hint for mistake in self.mistakes if same(answer, mistake.answer(*context)))
        return next(hints, None) or form(answer, wanted) or self.otherwise

    def wrong(self, *context: Any) -> list[tuple[Any, str]]:
        """Return the wrong values with their hints, without those that happen to be right on these data."""
        wanted = self.right(*context)
        return [(value, hint) for value, hint in super().wrong(*context) if not same(value, wanted)]


@dataclass(frozen=True, kw_only=True)
class Need:
    """One property that a made thing must have: ``holds(answer, *context)``, and the hint where it does not."""

    holds: Callable[..., Any]
    hint: str


@dataclass(frozen=True, kw_only=True)
class Made(Exercise):
    """Make something with all the properties in ``needs``; the first that is missing gives the hint."""

    needs: tuple[Need, ...]

    def hint(self, answer: Any, *context: Any) -> str | None:
        """Ask for one property after the other; one that cannot be asked for is missing."""
        return next((each.hint for each in self.needs if not _holds(each, answer, context)), None)


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
