"""Copies of lessons for students: the committed lesson holds the solutions, and its copy what is to be filled in.

A cell tagged ``solution`` is left out of the copy. Where lines of it stand between ``# solution>`` and ``# <solution``,
only these are left out, and the rest, tagged ``exercise``, is what a student starts from. A cell tagged ``teacher`` is
left out, too.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.reports.notebooks.files import canonical, read, source, tags, write_text

BEGIN, END = "# solution>", "# <solution"


def student(lesson: Path, target: Path) -> Path:
    """Write a copy of a lesson without its solutions; return its path.

    A copy that somebody has worked in is never overwritten. Raises DataError for it; and, naming the cell, where a
    solution is not marked so that all of it is left out, or where what is left is no Python.
    """
    text = _written(lesson)
    if target.exists() and canonical(read(target)["cells"]) != text:
        raise DataError(f"{target} holds somebody's answers, or an older lesson. Move it away, or name another folder.")
    write_text(target, text)
    return target


def copied(lesson: Path) -> list[dict[str, Any]]:
    """Return the cells of a student's copy, as they are handed out."""
    return json.loads(_written(lesson))["cells"]


def _written(lesson: Path) -> str:
    """Return the text of a student's copy."""
    cells = read(lesson)["cells"]
    copies = [_copy(cell, f"{lesson}, cell {number}") for number, cell in enumerate(cells, start=1)]
    return canonical([cell for cell in copies if cell is not None])


def without_solution(code: str, *, origin: str) -> str:
    """Leave out the lines between the marks of a solution, and the marks; ``origin`` names the cell in errors.

    >>> print(without_solution("x = ...  # TODO\\n# solution>\\nx = 42\\n# <solution", origin="a cell"))
    x = ...  # TODO
    """
    kept, inside = [], False
    for line in code.splitlines():
        if line.strip() in (BEGIN, END):
            if inside is (line.strip() == BEGIN):
                raise DataError(
                    f"{origin}: {line.strip()!r} stands alone. Write {BEGIN!r} above the lines of a "
                    f"solution and {END!r} below them."
                )
            inside = not inside
        elif BEGIN in line or END in line:
            raise DataError(f"{origin}: a mark of a solution shares its line with {line.strip()!r}. Give it its own.")
        elif not inside:
            kept.append(line)
    if inside:
        raise DataError(f"{origin}: a solution begins and does not end. Write {END!r} below its lines.")
    return "\n".join(kept)


def _copy(cell: dict[str, Any], origin: str) -> dict[str, Any] | None:
    marked = any(mark in source(cell) for mark in (BEGIN, END))
    if marked and (cell["cell_type"] != "code" or "solution" not in tags(cell)):
        raise DataError(f"{origin} holds a marked solution, but is no code cell tagged 'solution'. Tag it.")
    if not marked:
        return None if {"solution", "teacher"} & set(tags(cell)) else cell
    stub = without_solution(source(cell), origin=origin)
    try:
        ast.parse(stub)
    except SyntaxError as problem:
        raise DataError(f"{origin}: without its solution it is no Python ({problem.msg}). Leave a docstring.") from None
    return cell | {"source": stub, "metadata": {"tags": ["exercise"]}}
