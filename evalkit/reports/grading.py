"""A table of students by exercise, made of the notebooks that they handed in.

Students' notebooks are programs of strangers, so nothing of them is executed: the table rests on what the check cells
recorded when the students ran them. A notebook is a text file, so such a record can be forged; what does not fit is
said beside it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import ROOT, DataError
from evalkit.data.delimited import guarded
from evalkit.reports import notebooks
from evalkit.reports.notebooks import copied
from evalkit.show import MIME

# What was handed in

KINDS = ("right", "empty", "misconception", "form", "error", "other")
_MOST_BYTES, _MOST_LETTERS = 50 << 20, 400
_VERDICT = re.compile(r"^(✓ Right|✗ Not yet)\.\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Lesson:
    """A lesson as students get it.

    module: of its exercises. given: the copy's cells by id. exercises: name -> the ids of its check cell and of the
    answer above it, in order.
    """

    name: str
    module: str
    given: Mapping[str, dict[str, Any]]
    exercises: Mapping[str, tuple[str, str]]


def lessons() -> dict[str, Lesson]:
    """Read the lessons that ship, by the name of their module."""
    found = [lesson(path) for path in sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb"))]
    return {one.module: one for one in found}


def lesson(path: Path) -> Lesson:
    """Read one lesson."""
    cells = copied(path)
    exercises, answer = {}, ""
    for cell in cells:
        if "exercise" in notebooks.tags(cell):
            answer = cell["id"]
        elif name := checked(cell):
            exercises[name] = (cell["id"], answer)
    module = next(filter(None, map(opened, cells)), path.stem)
    return Lesson(path.stem, module, {cell["id"]: cell for cell in cells}, exercises)


def checked(cell: Mapping[str, Any]) -> str:
    """Name the exercise that a cell checks; "" where it checks none."""
    found = re.match(r"\s*check\(\s*[\"'](\w+)[\"']", notebooks.source(dict(cell)))
    return found[1] if found and cell.get("cell_type") == "code" else ""


def opened(cell: Mapping[str, Any]) -> str:
    """Name the lesson whose checks a cell opens: ``check = lessons.of("…")``; "" where it opens none."""
    found = re.search(r"\blessons\.of\(\s*[\"'](\w+)[\"']", notebooks.source(dict(cell)))
    return found[1] if found and cell.get("cell_type") == "code" else ""


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


def plain(text: object, most: int = _MOST_LETTERS) -> str:
    """Return a stranger's text on one line, without what a terminal would obey, and not too long."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def recorded(cell: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what a check cell shows, kind and hint; None where it shows no check.

    A program that saves notebooks may keep the text alone; then a wrong answer's kind is "other".
    """
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        data = output.get("data") if isinstance(output, dict) else None
        if not isinstance(data, dict):
            continue
        payload = data.get(MIME)
        if isinstance(payload, dict) and payload.get("kind") == "check":
            kind = payload["found"] if payload.get("found") in KINDS else "right" if payload.get("passed") else "other"
            return kind, "" if kind == "right" else plain(payload.get("hint") or payload.get("text") or "")
        text = data.get("text/plain", "")
        if found := _VERDICT.match("".join(map(str, text)) if isinstance(text, list) else str(text)):
            return ("right", "") if found[1] == "✓ Right" else ("other", plain(found[2]))
    return None


# What each student answered

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


def grade(folder: Path, *, say: Say = lambda line: None) -> list[Graded]:
    """Read the notebooks of a folder; return an entry per student, lesson and exercise.

    say: takes what is to be told on the way, such as a file that is no lesson.
    Raises DataError where the folder holds no notebook of a lesson.
    """
    known, found, seen = lessons(), list[Graded](), set[tuple[str, str]]()
    for path in found_in(folder):
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise DataError(
                    f"{path.name} is larger than {_MOST_BYTES >> 20} MiB. Ask for it without large outputs."
                )
            cells = notebooks.read(path)["cells"]
            lesson = known.get(next(filter(None, map(opened, cells)), ""))
            if lesson is None:
                raise DataError(f"{plain(path.name)} is a copy of no lesson that is known here.")
        except DataError as problem:
            say(f"left out: {plain(problem)}")
            continue
        student = student_of(path, folder, lesson.name)
        if (student, lesson.name) in seen:
            say(f"{student} handed in {lesson.name} more than once; {plain(path.name)} is a row of its own.")
            student = plain(f"{student} ({path.relative_to(folder).with_suffix('')})", 80)
        seen.add((student, lesson.name))
        found += _answers(cells, lesson, student)
    if not found:
        raise DataError(f"{folder} holds no notebook of a lesson. Make students' copies with: evalkit student")
    return found


def _answers(cells: Sequence[Mapping[str, Any]], lesson: Lesson, student: str) -> list[Graded]:
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


# The table

WIDTH, _MOST_DOUBTS = 80, 20
MARKS = {"right": "✓", "misconception": "✗", "form": "~", "error": "!", "other": "?", "empty": "·", "no record": "-"}
LEGEND = """\
✓ right  ✗ a known misconception  ~ wrong form (unit, length, name)  ! stops
? wrong  · not begun  - no record: run the notebooks first  * doubtful"""
_WORDS = {"empty": "not begun", "no record": "no record: run the notebooks first", "right": "right"}


def _tabulated(graded: Sequence[Graded]) -> pd.DataFrame:
    """Lay answers out as a row each, students by name, with what a cell says of them and where a doubt is."""
    table = pd.DataFrame([vars(one) for one in graded]).sort_values(
        ["student", "lesson"], key=lambda names: names.str.casefold(), kind="stable"
    )
    told = table["kind"].map(_WORDS).fillna(table["kind"] + ": " + table["hint"])
    where = table["lesson"] + " " + table["exercise"]
    return table.assign(told=told, where=where, doubtful=(where + ": " + table["doubt"]).where(table["doubt"].ne("")))


def as_csv(graded: Sequence[Graded]) -> str:
    """Return a row per student: how many are right, a column per exercise, and what is doubtful.

    A cell says "right", "not begun", "no record: run the notebooks first", or the kind of mistake and the hint that
    names it. Text that a spreadsheet would run as a formula has an apostrophe before it. With a byte order mark.
    """
    table = _tabulated(graded)
    own = table.groupby("student", sort=False)
    wide = table.set_index(["student", "where"])["told"].unstack(sort=False, fill_value="")
    wide.insert(0, "right", own["kind"].agg(lambda kinds: kinds.eq("right").sum()))
    wide.insert(1, "of", own.size())
    wide["doubtful"] = own["doubtful"].agg(lambda doubts: "; ".join(doubts.dropna()))
    cells = wide.reset_index().map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
    return "\ufeff" + cells.to_csv(index=False, lineterminator="\r\n")


def as_text(graded: Sequence[Graded]) -> str:
    """Return a table for each lesson, then the misconceptions, the most frequent first."""
    table = _tabulated(graded)
    parts = [_lesson(str(lesson), own) for lesson, own in table.groupby("lesson")]
    parts.append(LEGEND)
    wrong = table.loc[table["kind"].eq("misconception"), ["where", "hint"]].value_counts().head(10)
    if len(wrong):
        believed = [f"{times} x  {where}: {hint}" for (where, hint), times in wrong.items()]
        parts.append("\n".join(["What students believe, the most frequent first:", *map(_wrapped, believed)]))
    doubts = [f"* {one.student}, {one.doubtful}" for one in table.dropna(subset="doubtful").itertuples()]
    if doubts:
        more = [f"  and {len(doubts) - _MOST_DOUBTS} more, see the CSV"] * (len(doubts) > _MOST_DOUBTS)
        parts.append("\n".join(["Doubtful:", *map(_wrapped, doubts[:_MOST_DOUBTS]), *more]))
    return "\n\n".join(parts)


def _lesson(lesson: str, table: pd.DataFrame) -> str:
    """Return one lesson's table: a line per student, a column per exercise."""
    marks = table["kind"].map(MARKS) + np.where(table["doubt"].ne(""), "*", "")
    wide = marks.set_axis([table["student"], table["exercise"]]).unstack(sort=False, fill_value="")
    numbered = ", ".join(f"{number} {name}" for number, name in enumerate(wide, 1))
    shown = wide.set_axis([str(number) for number in range(1, wide.shape[1] + 1)], axis=1)
    shown["right"] = [f"{own.str.startswith('✓').sum()} of {own.ne('').sum()}" for _, own in wide.iterrows()]
    return "\n".join([lesson, shown.rename_axis(None).to_string(), _wrapped(numbered)])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=True)
