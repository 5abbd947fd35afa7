"""Three kinds of exercise, and how each finds the hint that fits an answer.

``Function``: write a function; it is tried on several inputs. ``Value``: find a value, which may depend on the data of
the run. ``Made``: make something that must have several properties. All know typical wrong answers with their hints,
so that a test can prove that each of them is told what it needs to hear.
"""

from __future__ import annotations

import contextlib
import copy
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evalkit.lessons.answers import form, given, same
from evalkit.reports.notebooks import suggestion

#: What a check can find of an answer: a known wrong answer, a wrong form (unit, length, a name that is none), a
#: function that stops, or something that fits no known mistake.
KINDS = ("right", "empty", "misconception", "form", "error", "other")
EMPTY = "There is no answer yet: fill in what is marked TODO in the cell above, run that cell, then this one."
NO_FUNCTION = "This is a value, and a function is asked for. Keep the line that begins with 'def', and run it again."
PRINTS = (
    "Your function prints its result and returns nothing. What is printed, you can read, and no other line of code can "
    "use it. Write 'return' in the place of 'print'."
)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One typical wrong answer and the hint that fits it.

    answer: for a ``Function`` the wrong function; else a function of the check's context that returns the wrong value.
    """

    answer: Callable[..., Any]
    hint: str


@dataclass(frozen=True)
class Verdict:
    """What a check found. kind: one of ``KINDS``. hint: for whoever answered, "" where the answer is right."""

    kind: str
    hint: str = ""


RIGHT = Verdict("right")


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
        found = self.verdict(answer, *context)
        return None if found.kind == "right" else found.hint

    def verdict(self, answer: Any, *context: Any) -> Verdict:
        """Return what the answer is, and the hint that fits it."""
        return self.judged(answer, *context) if given(answer) else Verdict("empty", f"{EMPTY} {self.start}".strip())

    @abstractmethod
    def judged(self, answer: Any, *context: Any) -> Verdict:
        """Return what an answer that was given is, and the hint that fits it."""

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

    def judged(self, answer: Any, *context: Any) -> Verdict:
        """Try the function on copies of all inputs; what it returns decides."""
        if not callable(answer):
            return Verdict("form", NO_FUNCTION)
        trials, found, printed = list(self.trials(*context)), [], io.StringIO()
        for trial in trials:
            try:
                with contextlib.redirect_stdout(printed):
                    found.append(answer(*copy.deepcopy(trial)))
            except Exception as problem:
                return Verdict("error", stopped(problem, answer))
        if not all(map(given, found)):
            return self._lacking(found, printed.getvalue())
        wanted = [self.right(*copy.deepcopy(trial)) for trial in trials]
        return RIGHT if all(map(same, found, wanted)) else self._wrong(trials, found, wanted)

    def _lacking(self, found: list[Any], printed: str) -> Verdict:
        """Say what a function lacks that returns nothing on some input."""
        if printed.strip():
            return Verdict("misconception", PRINTS)
        if any(map(given, found)):
            return Verdict(
                "error", "For some inputs your function returns nothing. Does every way through it end in a 'return'?"
            )
        return Verdict("empty", f"{EMPTY} {self.start}".strip())

    def _wrong(self, trials: list[tuple], found: list[Any], wanted: list[Any]) -> Verdict:
        """Find the mistake that returns the same, or else what is wrong with the form of the first wrong result."""
        for mistake in self.mistakes:
            if _returns(mistake.answer, trials, found):
                return Verdict("misconception", mistake.hint)
        at = next(i for i in range(len(trials)) if not same(found[i], wanted[i]))
        told = form(found[at], wanted[at])
        return Verdict("form", told) if told else Verdict("other", self.otherwise)

    def wrong(self, *context: Any) -> list[tuple[Any, str]]:
        """Return the wrong functions with their hints."""
        return [(mistake.answer, mistake.hint) for mistake in self.mistakes]


@dataclass(frozen=True, kw_only=True)
class Value(Exercise):
    """Find a value: it is right when it equals what ``right`` computes from the check's context.

    names: of the check's context, where the answer is a name: all that it could be, so that an unknown one is told.
    """

    right: Callable[..., Any]
    names: Callable[..., Iterable[Any]] | None = None

    def judged(self, answer: Any, *context: Any) -> Verdict:
        """Compare with the right value, then with the typical wrong ones."""
        wanted = self.right(*context)
        if same(answer, wanted):
            return RIGHT
        hints = (mistake.hint for mistake in self.mistakes if same(answer, mistake.answer(*context)))
        if hint := next(hints, None):
            return Verdict("misconception", hint)
        told = form(answer, wanted) or self._unknown(answer, context)
        return Verdict("form", told) if told else Verdict("other", self.otherwise)

    def _unknown(self, answer: Any, context: tuple) -> str | None:
        """Say that an answer, or a value of a mapping, is none of the names that it could be."""
        if self.names is None:
            return None
        known = [str(name) for name in self.names(*context)]
        several = isinstance(answer, (list, tuple, set, frozenset))
        given = answer.values() if isinstance(answer, dict) else answer if several else [answer]
        unknown = next((str(name) for name in given if not isinstance(name, str) or name.strip() not in known), None)
        return None if unknown is None else f"There is no {unknown!r} here. {suggestion(unknown, known)}"

    def wrong(self, *context: Any) -> list[tuple[Any, str]]:
        """Return the wrong values with their hints, without those that happen to be right on these data."""
        wanted = self.right(*context)
        return [(value, hint) for value, hint in super().wrong(*context) if not same(value, wanted)]


@dataclass(frozen=True, kw_only=True)
class Need:
    """One property that a made thing must have: ``holds(answer, *context)``, and the hint where it does not.

    kind: what an answer without it is, one of ``KINDS``.
    """

    holds: Callable[..., Any]
    hint: str
    kind: str = "misconception"


@dataclass(frozen=True, kw_only=True)
class Made(Exercise):
    """Make something with all the properties in ``needs``; the first that is missing gives the hint."""

    needs: tuple[Need, ...]

    def judged(self, answer: Any, *context: Any) -> Verdict:
        """Ask for one property after the other; one that cannot be asked for is missing."""
        lacking = next((each for each in self.needs if not _holds(each, answer, context)), None)
        return RIGHT if lacking is None else Verdict(lacking.kind, lacking.hint)


def stopped(problem: Exception, function: Callable[..., Any]) -> str:
    """Say at what a function stopped; of a name that it does not know, which one may be meant."""
    if isinstance(problem, NameError) and problem.name:
        code = getattr(function, "__code__", None)
        own = code.co_varnames if code else ()
        near = suggestion(problem.name, own) if own else ""
        return f"Your function uses the name '{problem.name}', which nothing has been given. {near}".strip()
    return f"Your function stops with {type(problem).__name__}: {problem}. Try it on one small input."


def _holds(each: Need, answer: Any, context: tuple) -> bool:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return bool(each.holds(copy.deepcopy(answer), *context))
    except Exception:  # an answer of any form whatever
        return False


def _returns(wrong: Callable[..., Any], trials: list[tuple], found: list[Any]) -> bool:
    """Tell whether a wrong function returns on all trials what was found."""
    try:
        return all(same(each, wrong(*copy.deepcopy(trial))) for trial, each in zip(trials, found, strict=True))
    except Exception:  # a wrong function may stop where the student's does not
        return False
