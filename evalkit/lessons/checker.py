"""Exercises: whether a student's answer is right, and if not, the hint that fits the mistake.

``Function``: write a function; it is tried on several inputs. ``Value``: find a value, which may depend on the data of
the run. ``Made``: make something that must have several properties. All know typical wrong answers, by the key of the
hint that each should get, so that a test can prove that each of them is told what it needs to hear. A lesson has a
module here that lists its exercises by name, and beside it a TOML file with what is said to students.
"""

from __future__ import annotations

import contextlib
import copy
import io
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import display

from evalkit import DataError
from evalkit.reports.notebooks import suggestion
from evalkit.show import MIME

EMPTY = "There is no answer yet: fill in what is marked TODO in the cell above, run that cell, then this one."
NO_FUNCTION = "This is a value, and a function is asked for. Keep the line that begins with 'def', and run it again."
NO_RETURN = "For some inputs your function returns nothing. Does every way through it end in a 'return'?"
PRINTS = (
    "Your function prints its result and returns nothing. What is printed, you can read, and no other line of code can "
    "use it. Write 'return' in the place of 'print'."
)


@dataclass(frozen=True)
class Verdict:
    """What a check found. hint: for whoever answered, "" where the answer is right.

    kind: right, empty, misconception (a known wrong answer), form (unit, length, a name that is none), error (a
    function that stops), or other (fits no known mistake).
    """

    kind: str
    hint: str = ""


RIGHT = Verdict("right")


@dataclass(frozen=True, kw_only=True)
class Exercise(ABC):
    """What all exercises have.

    mistakes: typical wrong answers by the key of their hint; for a ``Function`` wrong functions, else functions of the
    check's context. hints: by key. otherwise: the hint where none fits. start: a first step for a student who has not
    begun. well: what a right answer means.
    """

    mistakes: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = ""
    start: str = ""
    well: str = ""

    def verdict(self, answer: Any, *context: Any) -> Verdict:
        """Return what the answer is, and the hint that fits it."""
        return self.judged(answer, *context) if given(answer) else Verdict("empty", f"{EMPTY} {self.start}".strip())

    @abstractmethod
    def judged(self, answer: Any, *context: Any) -> Verdict:
        """Return what an answer that was given is, and the hint that fits it."""

    def compared(
        self, found: list[Any], wanted: list[Any], tried: Callable[[Callable[..., Any]], list[Any]]
    ) -> Verdict:
        """Hold answers against right ones, then against those that a typical mistake gives, as ``tried`` finds them."""
        if all(map(same, found, wanted)):
            return RIGHT
        for key, mistake in self.mistakes.items():
            with contextlib.suppress(Exception):  # a wrong function may stop where a right one does not
                if all(map(same, found, tried(mistake))):
                    return Verdict("misconception", self.hints[key])
        told = next(form(mine, right) for mine, right in zip(found, wanted) if not same(mine, right))
        return Verdict("form", told) if told else Verdict("other", self.otherwise)


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
        trials, printed = list(self.trials(*context)), io.StringIO()

        def tried(function: Callable[..., Any]) -> list[Any]:
            return [function(*copy.deepcopy(trial)) for trial in trials]

        try:
            with contextlib.redirect_stdout(printed):
                found = tried(answer)
        except Exception as problem:
            told = f"Your function stops with {type(problem).__name__}: {problem}. Try it on one small input."
            return Verdict("error", told)
        if not all(map(given, found)):
            if printed.getvalue().strip():
                return Verdict("misconception", PRINTS)
            return Verdict("error", NO_RETURN) if any(map(given, found)) else self.verdict(None)
        return self.compared(found, tried(self.right), tried)


@dataclass(frozen=True, kw_only=True)
class Value(Exercise):
    """Find a value: it is right when it equals what ``right`` computes from the check's context.

    names: of the check's context, where the answer is a name: all that it could be, so that an unknown one is told.
    """

    right: Callable[..., Any]
    names: Callable[..., Iterable[Any]] | None = None

    def judged(self, answer: Any, *context: Any) -> Verdict:
        """Compare with the right value, then with the typical wrong ones."""
        verdict = self.compared([answer], [self.right(*context)], lambda mistake: [mistake(*context)])
        if verdict.kind != "other" or self.names is None:
            return verdict
        known = [str(name) for name in self.names(*context)]
        several = isinstance(answer, (list, tuple, set, frozenset))
        given = answer.values() if isinstance(answer, dict) else answer if several else [answer]
        unknown = next((str(name) for name in given if str(name).strip() not in known), None)
        return Verdict("form", f"There is no {unknown!r} here. {suggestion(unknown, known)}") if unknown else verdict


def letter(right: str, of: str = "ABCD") -> Value:
    """Make an exercise in which one letter is to be chosen; the hint of a wrong one has the letter as its key."""
    wrong = [other for other in of if other != right]
    return Value(right=lambda: right, names=lambda: of, mistakes={other: partial(str, other) for other in wrong})


@dataclass(frozen=True, kw_only=True)
class Made(Exercise):
    """Make something with several properties; the first that is missing gives the hint.

    needs: by the key of their hint, ``holds(answer, *context)``. What lacks ``begun`` was not begun.
    """

    needs: Mapping[str, Callable[..., Any]]

    def judged(self, answer: Any, *context: Any) -> Verdict:
        """Ask for one property after the other; one that cannot be asked for is missing."""
        lacking = next((key for key, holds in self.needs.items() if not _holds(holds, answer, context)), None)
        if lacking is None:
            return RIGHT
        return Verdict("empty" if lacking == "begun" else "misconception", self.hints[lacking])


def _holds(holds: Callable[..., Any], answer: Any, context: tuple) -> bool:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return bool(holds(copy.deepcopy(answer), *context))
    except Exception:  # an answer of any form whatever
        return False


class Check:
    """The check of a lesson, for its check cells: ``check("exercise", answer, *context)``.

    context: whatever of the run the right answer depends on, such as the ratings that were loaded.
    """

    def __init__(self, lesson: str) -> None:
        self.lesson, self.known = lesson, exercises(lesson)

    def __call__(self, name: str, answer: Any, *context: Any) -> None:
        """Show "Right", or "Not yet" with a hint. It never stops a run, so the cells after it run as well."""
        exercise = self.exercise(name)
        found = exercise.verdict(answer, *context)
        passed = found.kind == "right"
        verdict, rest = ("✓ Right.", exercise.well) if passed else ("✗ Not yet.", found.hint)
        said = f"{verdict} {rest}".strip()
        markup = f'<p class="check"><strong>{verdict}</strong> {escape(rest)}</p>'
        payload = {"kind": "check", "lesson": self.lesson, "exercise": name, "passed": passed, "found": found.kind}
        payload |= {"hint": found.hint, "text": said}
        display({"text/plain": said, "text/html": markup, MIME: payload}, raw=True)

    def passed(self, name: str, answer: Any) -> Callable[..., Any]:
        """Return a student's own function once it passes, and the package's until then, for the cells that go on."""
        exercise = self.exercise(name)
        assert isinstance(exercise, Function)
        return answer if exercise.verdict(answer).kind == "right" else exercise.right

    def exercise(self, name: str) -> Exercise:
        """Return an exercise of the lesson; DataError for one that it has not, naming the nearest."""
        if name not in self.known:
            raise DataError(f"The lesson '{self.lesson}' has no exercise '{name}'. {suggestion(name, self.known)}")
        return self.known[name]


def exercises(lesson: str) -> Mapping[str, Exercise]:
    """Return a lesson's exercises by name, as its module in this package lists them, with what its TOML file says.

    >>> "kappa" in exercises("kappa_by_hand")
    True
    """
    place = f"evalkit.lessons.{lesson}"
    if not lesson.isidentifier() or find_spec(place) is None or not hasattr(import_module(place), "EXERCISES"):
        raise DataError(f"There is no lesson '{lesson}' with exercises. Correct the name, or add the module {place}.")
    said = tomllib.loads((Path(__file__).parent / f"{lesson}.toml").read_text(encoding="utf-8"))
    return {name: replace(one, **said[name]) for name, one in import_module(place).EXERCISES.items()}


# Answers: whether there is one, whether two are the same, and what is wrong with the form of one


def given(answer: Any) -> bool:
    """Tell whether an answer was given: ``...`` and None are what an unfilled cell holds.

    >>> given(...), given(None), given(0)
    (False, False, True)
    """
    return answer is not None and answer is not ...


def same(found: Any, wanted: Any) -> bool:
    """Tell whether two answers are the same: texts letter by letter, numbers to nine digits, gaps equal to gaps.

    A Series is compared by its labels, a set or a list of texts without its order, and a mapping key by key.

    >>> same(0.1 + 0.2, 0.3), same([1, 2], np.array([1.0, 2.0])), same(" CAL-1", "CAL-1"), same(["b", "a"], {"a", "b"})
    (True, True, True, True)
    """
    if isinstance(wanted, dict):
        keys = isinstance(found, dict) and found.keys() == wanted.keys()
        return keys and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, str) or isinstance(found, str):
        return isinstance(wanted, str) and isinstance(found, str) and found.strip() == wanted.strip()
    if _texts(wanted):
        return _texts(found) and sorted(found) == sorted(wanted)
    if isinstance(found, pd.Series) and isinstance(wanted, pd.Series) and found.index.is_unique:
        found = found.reindex(wanted.index) if set(found.index) == set(wanted.index) else found
    found, wanted = _numbers(found), _numbers(wanted)
    if found is None or wanted is None or found.shape != wanted.shape:
        return False
    return bool(np.allclose(found, wanted, rtol=1e-9, atol=1e-12, equal_nan=True))


def form(found: Any, wanted: Any) -> str | None:
    """Say what is wrong with the form of an answer, where something is: kind, length, keys, unit, rounding, sign.

    >>> form(0.5, [1.0] * 8), form(50, 0.5)
    ('You gave a number. Asked for: 8 values.', 'This is a percentage. Give it as a share, between 0 and 1.')
    """
    if isinstance(wanted, dict):
        if isinstance(found, dict) and found.keys() == wanted.keys():
            return None
        return f"Asked for is a mapping with the keys {', '.join(map(repr, wanted))}: {{key: value, ...}}."
    mine, right = _numbers(found), _numbers(wanted)
    if isinstance(wanted, str) and isinstance(found, str):
        return None
    if _kind(wanted) != _kind(found) or (right is not None and (mine is None or mine.shape != right.shape)):
        return f"You gave {_kind(found)}. Asked for: {_kind(wanted)}."
    return None if mine is None or right is None else _unit(mine, right)


def _unit(mine: np.ndarray, right: np.ndarray) -> str | None:
    """Say whether numbers are right but for rounding, a percentage or the sign."""
    for digits in (1, 2, 3, 4):
        if np.array_equal(mine, right.round(digits), equal_nan=True):
            return "This is right but for rounding. Give the number unrounded, and round only where you print it."
    percent = 100 * right
    if same(mine, percent) or any(np.array_equal(mine, percent.round(digits), equal_nan=True) for digits in (0, 1, 2)):
        return "This is a percentage. Give it as a share, between 0 and 1."
    if same(mine, -right):
        return "This has the right size and the wrong sign. What is subtracted from what?"
    return None


def _numbers(answer: Any) -> np.ndarray | None:
    try:
        return np.asarray(list(answer) if isinstance(answer, (set, frozenset)) else answer, dtype=float)
    except Exception:  # students hand in anything, and numpy calls its methods
        return None


def _texts(answer: Any) -> bool:
    several = isinstance(answer, (list, tuple, set, frozenset, pd.Series, pd.Index, np.ndarray))
    return several and len(answer) > 0 and all(isinstance(each, str) for each in answer)


def _kind(answer: Any) -> str:
    """Name what an answer is, in words.

    >>> _kind(0.5), _kind([1, 2, 3]), _kind("a"), _kind(len)
    ('a number', '3 values', 'a text in quotation marks', 'a function')
    """
    if isinstance(answer, str):
        return "a text in quotation marks"
    if isinstance(answer, (bool, np.bool_)):
        return "True or False"
    if callable(answer):
        return "a function"
    dimensions = getattr(answer, "ndim", 1)
    if dimensions == 2:
        return "a table of {} by {}".format(*answer.shape)
    if isinstance(answer, Sized) and dimensions:
        return f"{len(answer)} value{'' if len(answer) == 1 else 's'}"
    return "a number" if _numbers(answer) is not None else f"something of type {type(answer).__name__}"
