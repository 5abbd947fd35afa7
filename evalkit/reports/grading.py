"""A table of students by exercise, made of the notebooks that they handed in.

Students' notebooks are programs of strangers, so nothing of them is executed: the table rests on what the check cells
recorded when the students ran them. A notebook is a text file, so such a record can be forged; one that does not fit
the cells around it is no record, and is said to be doubtful.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import ROOT, DataError
from evalkit.data.delimited import guarded
from evalkit.reports import notebooks
from evalkit.reports.notebooks import copied
from evalkit.show import MIME

Cell = dict[str, Any]
KINDS = ("right", "empty", "misconception", "form", "error", "other")
_VERDICT = re.compile(r"^(✓ Right|✗ Not yet)\.\s*(.*)", re.DOTALL)


def lessons() -> dict[str, tuple[str, list[Cell]]]:
    """Return the lessons that ship, by the module of their exercises: name, and cells as they are handed out."""
    found = {path.stem: copied(path) for path in sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb"))}
    return {opened(cells): (name, cells) for name, cells in found.items()}


def opened(cells: Iterable[Cell]) -> str:
    """Name the lesson whose checks a notebook opens: ``check = lessons.of("…")``; "" where it opens none."""
    named = (re.search(r"\blessons\.of\(\s*[\"'](\w+)[\"']", cell["source"]) for cell in cells if _is_code(cell))
    return next((found[1] for found in named if found), "")


def exercises(cells: Iterable[Cell]) -> dict[str, tuple[Cell, Cell]]:
    """Return the cell that checks each exercise, and the one above it that has, or had, the answer; in order."""
    found: dict[str, tuple[Cell, Cell]] = {}
    answer: Cell = {}
    for cell in filter(_is_code, cells):
        if "exercise" in notebooks.tags(cell):
            answer = cell
        elif name := re.match(r"\s*check\(\s*[\"'](\w+)[\"']", cell["source"]):
            found[name[1]] = cell, answer
    return found


def _is_code(cell: Cell) -> bool:
    return cell["cell_type"] == "code"


def found_in(folder: Path) -> list[Path]:
    """List the notebooks of a folder and its folders, links left out. Raises DataError where there is none."""
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder. Name the one that holds the students' notebooks.")
    paths = sorted(path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    paths = [path for path in paths if path.is_file() and path.resolve().is_relative_to(folder.resolve())]
    if not paths:
        raise DataError(f"{folder} holds no notebook. Put the students' .ipynb files there, or a folder for each.")
    return paths


def student_of(path: Path, folder: Path, lesson: str) -> str:
    """Say whose a notebook is: as its folder is called or, without one, as its file, less the lesson's name.

    >>> student_of(Path("in/anna/1_kappa.ipynb"), Path("in"), "1_kappa")
    'anna'
    >>> student_of(Path("in/1_kappa_bert.ipynb"), Path("in"), "1_kappa")
    'bert'
    """
    parts = path.relative_to(folder).parts
    name = parts[0] if len(parts) > 1 else path.stem.replace(lesson, "").strip(" _-.") or path.stem
    return plain(name, 60)


def plain(text: object, most: int = 400) -> str:
    """Return a stranger's text on one line, without what a terminal would obey, and not too long."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def recorded(check: Cell) -> tuple[str, str]:
    """Return what a check cell shows: the kind of answer, and the hint.

    A program that saves notebooks may keep the text alone; then a wrong answer's kind is "other".
    """
    for output in check.get("outputs", ()):
        data = output.get("data", {})
        match data.get(MIME):
            case {"kind": "check", "found": kind, "hint": hint} if kind in KINDS:
                return kind, "" if kind == "right" else plain(hint)
        if found := _VERDICT.match("".join(data.get("text/plain", ""))):
            return ("right", "") if found[1] == "✓ Right" else ("other", plain(found[2]))
    return "no record", ""


def doubt(own: tuple[Cell, Cell], given: tuple[Cell, Cell]) -> str:
    """Say what speaks against a record of a right answer; "" where nothing does.

    own, given: check and answer, as they were handed in and handed out.
    """
    check, answer = own
    if check["source"].strip() != given[0]["source"].strip():
        return "the check was changed"
    if answer and answer["source"].strip() == given[1]["source"].strip():
        return "nothing was filled in"
    before, ran = (cell.get("execution_count") for cell in (answer or check, check))
    return "" if before and ran and before <= ran else "the answer was run after its check, or never"


def grade(folder: Path, *, say: Callable[[str], None] = lambda line: None) -> pd.DataFrame:
    """Read the notebooks of a folder; return student, lesson, exercise, kind, hint: a row an answer, students by name.

    kind: one of ``MARKS``. hint: what the check said of a wrong answer, or why one that is called right is doubtful.
    say: is told which files are left out, and who handed in twice.
    Raises DataError where the folder holds no notebook of a lesson.
    """
    known, rows, seen = lessons(), list[tuple[str, ...]](), set[tuple[str, str]]()
    for path in found_in(folder):
        try:
            cells = notebooks.read(path)["cells"]
            if opened(cells) not in known:
                raise DataError(f"{plain(path.name)} is a copy of no lesson that is known here.")
        except DataError as problem:
            say(f"left out: {plain(problem)}")
            continue
        lesson, given = known[opened(cells)]
        student = student_of(path, folder, lesson)
        if (student, lesson) in seen:
            say(f"{student} handed in {lesson} more than once; {plain(path.name)} is a row of its own.")
            student = plain(f"{student} ({path.relative_to(folder).with_suffix('')})", 80)
        seen.add((student, lesson))
        own = exercises(cells)
        for name, cell in exercises(given).items():
            kind, hint = recorded(own[name][0]) if name in own else ("doubtful", "the check is gone")
            if kind == "right" and (reason := doubt(own[name], cell)):
                kind, hint = "doubtful", reason
            rows.append((student, lesson, name, kind, hint))
    if not rows:
        raise DataError(f"{folder} holds no notebook of a lesson. Make students' copies with: evalkit student")
    table = pd.DataFrame(rows, columns=["student", "lesson", "exercise", "kind", "hint"])
    return table.sort_values(["student", "lesson"], key=lambda names: names.str.casefold(), kind="stable")


WIDTH, MOST = 80, 10
MARKS = {"right": "✓", "misconception": "✗", "form": "~", "error": "!", "other": "?", "empty": "·"}
MARKS |= {"no record": "-", "doubtful": "*"}
LEGEND = """\
✓ right  ✗ a known misconception  ~ wrong form (unit, length, name)  ! stops
? wrong  · not begun  - no record: run the notebooks first  * doubtful"""
_WORDS = {"empty": "not begun", "no record": "no record: run the notebooks first", "right": "right"}


def as_csv(graded: pd.DataFrame) -> str:
    """Return a row per student: how many are right, of how many, and a column per exercise.

    A cell says "right", "not begun", "no record: run the notebooks first", or the kind of mistake and the hint that
    names it. Text that a spreadsheet would run as a formula has an apostrophe before it. With a byte order mark.
    """
    told = graded["kind"].map(_WORDS).fillna(graded["kind"] + ": " + graded["hint"])
    wide = told.set_axis([graded["student"], graded["lesson"] + " " + graded["exercise"]]).unstack(sort=False)
    right = graded["kind"].eq("right").groupby(graded["student"])
    wide.insert(0, "right", right.sum())
    wide.insert(1, "of", right.size())
    cells = wide.fillna("").reset_index().map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
    return "\ufeff" + cells.to_csv(index=False, lineterminator="\r\n")


def as_text(graded: pd.DataFrame) -> str:
    """Return a table for each lesson, then the misconceptions and the doubts, the most frequent first."""
    parts = [_lesson(str(lesson), own) for lesson, own in graded.groupby("lesson")]
    parts.append(LEGEND)
    where = graded["lesson"] + " " + graded["exercise"] + ": " + graded["hint"]
    for kind, title in (("misconception", "What students believe"), ("doubtful", "Doubtful")):
        counted = where[graded["kind"].eq(kind)].value_counts().head(MOST)
        lines = [_wrapped(f"{times} x  {told}") for told, times in counted.items()]
        parts += ["\n".join([f"{title}, the most frequent first:", *lines])] if lines else []
    return "\n\n".join(parts)


def _lesson(lesson: str, graded: pd.DataFrame) -> str:
    """Return one lesson's table: a line per student, a column per exercise."""
    marks = graded["kind"].map(MARKS)
    wide = marks.set_axis([graded["student"], graded["exercise"]]).unstack(sort=False)
    numbered = ", ".join(f"{number} {name}" for number, name in enumerate(wide, 1))
    shown = wide.set_axis([str(number) for number in range(1, wide.shape[1] + 1)], axis=1)
    shown["right"] = wide.eq("✓").sum(axis=1).astype(str) + f" of {wide.shape[1]}"
    return "\n".join([lesson, shown.rename_axis(None).to_string(), _wrapped(numbered)])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=True)
