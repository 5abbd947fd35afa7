"""The table of students by exercise: as CSV for a spreadsheet, and within 80 columns for a terminal."""

from __future__ import annotations

import csv
import io
import textwrap
from collections import Counter
from collections.abc import Sequence

from evalkit.data.delimited import guarded
from evalkit.reports.grading.collecting import Graded

WIDTH = 80
MARKS = {"right": "✓", "misconception": "✗", "form": "~", "error": "!", "other": "?", "empty": "·", "no record": "-"}
LEGEND = """\
✓ right  ✗ a known misconception  ~ wrong form (unit, length, name)  ! stops
? wrong  · not begun  - no record  * doubtful"""
_WORDS = {"empty": "not begun", "no record": "no record", "right": "right"}


def as_csv(graded: Sequence[Graded]) -> str:
    """Return a row per student: how many are right, a column per exercise, and what is doubtful.

    A cell says "right", "not begun", "no record", or the kind of mistake and the hint that names it. Text that a
    spreadsheet would run as a formula has an apostrophe before it. With a byte order mark, for spreadsheets.
    """
    columns = list(dict.fromkeys((one.lesson, one.exercise) for one in sorted(graded, key=lambda one: one.lesson)))
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(["student", "right", "of", *(f"{lesson} {exercise}" for lesson, exercise in columns), "doubtful"])
    for student in _students(graded):
        own = {(one.lesson, one.exercise): one for one in graded if one.student == student}
        right = sum(one.kind == "right" for one in own.values())
        doubts = "; ".join(f"{one.lesson} {one.exercise}: {one.doubt}" for one in own.values() if one.doubt)
        cells = [_cell(own[column]) if column in own else "" for column in columns]
        writer.writerow([guarded(student), right, len(own), *map(guarded, cells), guarded(doubts)])
    return "\ufeff" + file.getvalue()


def _students(graded: Sequence[Graded]) -> list[str]:
    return sorted({one.student for one in graded}, key=str.casefold)


def _cell(one: Graded) -> str:
    return _WORDS.get(one.kind) or f"{one.kind}: {one.hint}"


def as_text(graded: Sequence[Graded]) -> str:
    """Return a table for each lesson, then the misconceptions, the most frequent first; no line is over 80 columns."""
    parts = [
        _lesson(lesson, [one for one in graded if one.lesson == lesson])
        for lesson in sorted({one.lesson for one in graded})
    ]
    parts.append(LEGEND)
    wrong = Counter((one.lesson, one.exercise, one.hint) for one in graded if one.kind == "misconception")
    if wrong:
        parts.append(
            "\n".join(
                [
                    "What students believe, the most frequent first:",
                    *(_believed(*key, times) for key, times in wrong.most_common(10)),
                ]
            )
        )
    doubts = [f"{one.student}, {one.lesson} {one.exercise}: {one.doubt}" for one in graded if one.doubt]
    if doubts:
        parts.append("\n".join(["Doubtful:", *(_wrapped(f"* {doubt}") for doubt in doubts[:20])]))
        parts[-1] += f"\n  and {len(doubts) - 20} more, see the CSV" if len(doubts) > 20 else ""
    return "\n\n".join(parts)


def _lesson(lesson: str, graded: Sequence[Graded]) -> str:
    """Return one lesson's table: a line per student, a column per exercise."""
    exercises = list(dict.fromkeys(one.exercise for one in graded))
    names = min(max(len(lesson), *(len(one.student) for one in graded)), WIDTH - 4 * len(exercises) - 12)
    lines = [_line(lesson, [str(number) for number in range(1, len(exercises) + 1)], "right", names)]
    for student in _students(graded):
        own = {one.exercise: one for one in graded if one.student == student}
        marks = [MARKS[own[name].kind] + ("*" if own[name].doubt else "") if name in own else " " for name in exercises]
        right = sum(one.kind == "right" for one in own.values())
        lines.append(_line(student, marks, f"{right} of {len(own)}", names))
    numbered = ", ".join(f"{number} {name}" for number, name in enumerate(exercises, 1))
    return "\n".join([*lines, textwrap.fill(numbered, WIDTH, initial_indent="  ", subsequent_indent="  ")])


def _line(name: str, cells: Sequence[str], last: str, width: int) -> str:
    short = name if len(name) <= width else name[: width - 1] + "…"
    return f"{short:<{width}}  " + "".join(f"{cell:<3}" for cell in cells) + f" {last}"


def _believed(lesson: str, exercise: str, hint: str, times: int) -> str:
    return _wrapped(f"{times} x  {lesson} {exercise}: {hint}")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=True)
