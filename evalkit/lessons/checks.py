"""Check cells: tell a student whether an answer is right, and if not, the hint that fits the mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pandas as pd
from IPython.display import display

from evalkit import DataError
from evalkit.lessons.exercises import Exercise
from evalkit.reports.notebooks import suggestion
from evalkit.show import MIME


def of(lesson: str) -> Callable[..., None]:
    """Return the check of a lesson, for its check cells: ``check("exercise", answer, *context)``.

    The check shows "Right", or "Not yet" with a hint. It never stops a run, so the cells after it run as well.
    context: whatever of the run the right answer depends on, such as the ratings that were loaded.
    """
    known = exercises(lesson)

    def check(name: str, answer: Any, *context: Any) -> None:
        """Say whether the answer to an exercise is right, and give a hint where it is not."""
        exercise = _chosen(known, lesson, name)
        found = exercise.verdict(answer, *context)
        passed = found.kind == "right"
        verdict, rest = ("✓ Right.", exercise.well) if passed else ("✗ Not yet.", found.hint)
        said = f"{verdict} {rest}".strip()
        markup = f'<p class="check"><strong>{verdict}</strong> {escape(rest)}</p>'
        payload = {
            "kind": "check",
            "lesson": lesson,
            "exercise": name,
            "passed": passed,
            "found": found.kind,
            "hint": found.hint,
            "text": said,
        }
        display({"text/plain": said, "text/html": markup, MIME: payload}, raw=True)

    return check


def exercises(lesson: str) -> Mapping[str, Exercise]:
    """Return a lesson's exercises by name, as its module in this package lists them.

    >>> "kappa" in exercises("kappa_by_hand")
    True
    """
    place = f"evalkit.lessons.{lesson}"
    if not lesson.isidentifier() or find_spec(place) is None or not hasattr(import_module(place), "EXERCISES"):
        raise DataError(f"There is no lesson '{lesson}' with exercises. Correct the name, or add the module {place}.")
    return import_module(place).EXERCISES


def mistakes(lesson: str, name: str, *context: Any) -> pd.DataFrame:
    """Give the check each typical wrong answer: columns wanted (the hint it should get), hint (the one it gets).

    context: as in the check cell. Wrong answers that happen to be right on these data have no row.
    """
    exercise = _chosen(exercises(lesson), lesson, name)
    rows = [(hint, exercise.diagnose(answer, *context)) for answer, hint in exercise.wrong(*context)]
    return pd.DataFrame(rows, columns=["wanted", "hint"])


def _chosen(known: Mapping[str, Exercise], lesson: str, name: str) -> Exercise:
    if name not in known:
        raise DataError(f"The lesson '{lesson}' has no exercise '{name}'. {suggestion(name, known)}")
    return known[name]
