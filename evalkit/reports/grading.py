"""A table of students by exercise, made of the notebooks that they handed in.

Students' notebooks are programs of strangers, so nothing of them is executed: the table rests on what the check cells
recorded when the students ran them. A notebook is a text file, so such a record can be forged; where a check is no
longer the one that was handed out, its record is said to be doubtful.
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
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    named = re.search(r"\blessons\.of\(\s*[\"'](\w+)[\"']", code)
    return named[1] if named else ""


def exercises(cells: Iterable[Cell]) -> dict[str, Cell]:
    """Return the cell that checks each exercise, in order."""
    found = {}
    for cell in cells:
        named = re.match(r"\s*check\(\s*[\"'](\w+)[\"']", cell["source"])
        if named and cell["cell_type"] == "code":
            found[named[1]] = cell
    return found


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


def grade(folder: Path, *, say: Callable[[str], None] = lambda line: None) -> pd.DataFrame:
    """Read the notebooks of a folder; return student, lesson, exercise, kind, hint: a row an answer, students by name.

    kind: one of ``KINDS``, "no record", or "doubtful" where the check was changed. hint: what the check said of a wrong
    answer.
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
        for name, check in exercises(given).items():
            same = name in own and own[name]["source"].strip() == check["source"].strip()
            found = recorded(own[name]) if same else ("doubtful", "the check was changed")
            rows.append((student, lesson, name, *found))
    if not rows:
        raise DataError(f"{folder} holds no notebook of a lesson. Make students' copies with: evalkit student")
    table = pd.DataFrame(rows, columns=["student", "lesson", "exercise", "kind", "hint"])
    return table.sort_values(["student", "lesson"], key=lambda names: names.str.casefold(), kind="stable")


WIDTH, MOST = 80, 10
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
    """Say how many answers of each student are right, then the misconceptions and the doubts, most frequent first."""
    right = graded["kind"].eq("right").groupby([graded["lesson"], graded["student"]]).agg(["sum", "size"])
    parts = ["Right answers:\n" + (right["sum"].astype(str) + " of " + right["size"].astype(str)).to_string()]
    where = graded["lesson"] + " " + graded["exercise"] + ": " + graded["hint"]
    for kind, title in (("misconception", "What students believe"), ("doubtful", "Doubtful")):
        counted = where[graded["kind"].eq(kind)].value_counts().head(MOST)
        indented: dict[str, Any] = {"initial_indent": "  ", "subsequent_indent": "      "}
        lines = [textwrap.fill(f"{times} x  {told}", WIDTH, **indented) for told, times in counted.items()]
        parts += ["\n".join([f"{title}, the most frequent first:", *lines])] if lines else []
    return "\n\n".join(parts)
