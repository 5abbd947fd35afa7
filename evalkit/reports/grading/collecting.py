"""What each student answered to each exercise, and what speaks against believing the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.reports import notebooks
from evalkit.reports.grading import rerun
from evalkit.reports.grading.handed_in import (
    Lesson,
    checked,
    found_in,
    lessons,
    opened,
    plain,
    read,
    recorded,
    student_of,
)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Graded:
    """One student's answer to one exercise.

    kind: right, empty, misconception, form, error, other, or "no record". hint: what the check said of a wrong answer.
    doubt: what does not fit, "" where nothing is known.
    """

    student: str
    lesson: str
    exercise: str
    kind: str
    hint: str = ""
    doubt: str = ""


def grade(folder: Path, *, run: bool = False, seconds: float = 300, say: Say = lambda line: None) -> list[Graded]:
    """Read the notebooks of a folder; return an entry per student, lesson and exercise.

    run: execute them again instead of believing what they recorded (see ``rerun``), each for so many seconds at most.
    say: takes what is to be told on the way, such as a file that is no lesson.
    Raises DataError where the folder holds no notebook of a lesson.
    """
    known, found, seen = lessons(), list[Graded](), set[tuple[str, str]]()
    for path in found_in(folder):
        try:
            cells = read(path)
            lesson = _lesson_of(cells, known, path)
        except DataError as problem:
            say(f"left out: {plain(problem)}")
            continue
        student = student_of(path, folder, lesson.name)
        if (student, lesson.name) in seen:
            say(f"{student} handed in {lesson.name} more than once; {plain(path.name)} is a row of its own.")
            student = plain(f"{student} ({path.relative_to(folder).with_suffix('')})", 80)
        seen.add((student, lesson.name))
        if run:
            say(f"runs: {plain(path.relative_to(folder))}")
        found += _run(cells, lesson, student, seconds) if run else _believed(cells, lesson, student)
    if not found:
        raise DataError(f"{folder} holds no notebook of a lesson. Make students' copies with: evalkit student")
    return found


def _lesson_of(cells: Sequence[Mapping[str, Any]], known: Mapping[str, Lesson], path: Path) -> Lesson:
    """Find the lesson that a notebook is a copy of."""
    module = next(filter(None, map(opened, cells)), "")
    if module not in known:
        raise DataError(f"{plain(path.name)} is a copy of no lesson that is known here.")
    return known[module]


def _believed(cells: Sequence[Mapping[str, Any]], lesson: Lesson, student: str) -> list[Graded]:
    """Take what the checks recorded."""
    by_name = {checked(cell): cell for cell in cells if checked(cell)}
    by_id = {str(cell.get("id")): cell for cell in cells}
    rows = []
    for name, (check, answer) in lesson.exercises.items():
        cell = by_name.get(name)
        shown = recorded(cell) if cell else None
        if cell is None or shown is None:
            rows.append(Graded(student, lesson.name, name, "no record", doubt="" if cell else "the check is gone"))
            continue
        doubt = _doubt(cell, by_id.get(answer), shown[0], lesson.given[check], lesson.given.get(answer))
        rows.append(Graded(student, lesson.name, name, *shown, doubt=doubt))
    return rows


def _doubt(
    cell: Mapping[str, Any],
    answer: Mapping[str, Any] | None,
    kind: str,
    check: Mapping[str, Any],
    stub: Mapping[str, Any] | None,
) -> str:
    """Say what speaks against a record. cell, answer: the student's; check, stub: as they were handed out."""
    if _code(cell) != _code(check):
        return "the check was changed"
    if answer is None or stub is None:
        return ""  # retyped into a cell of their own, perhaps
    if kind == "right" and _code(answer) == _code(stub):
        return "right, and nothing was filled in"
    ran, before = cell.get("execution_count"), answer.get("execution_count")
    if not isinstance(ran, int):
        return "the check has a record and never ran"
    if not isinstance(before, int) or before > ran:
        return "the answer was run after its check, or never"
    return ""


def _code(cell: Mapping[str, Any]) -> str:
    return notebooks.source(dict(cell)).strip()


def _run(cells: Sequence[Mapping[str, Any]], lesson: Lesson, student: str, seconds: float) -> list[Graded]:
    """Take what the lesson's own checks say of the answers now."""
    results, problem = rerun.rerun(rerun.merged(cells, lesson), seconds=seconds)
    rows = []
    for name in lesson.exercises:
        kind, hint = results.get(name, ("no record", ""))
        rows.append(Graded(student, lesson.name, name, kind, hint, problem if kind == "no record" else ""))
    return rows
