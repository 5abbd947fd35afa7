"""The notebooks of a folder: whose each is, which lesson it holds, and what its check cells recorded."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit import ROOT, DataError
from evalkit.reports import notebooks
from evalkit.reports.notebooks.students import copied
from evalkit.show import MIME

KINDS = ("right", "empty", "misconception", "form", "error", "other")
_MOST_BYTES, _MOST_LETTERS = 50 << 20, 400
_LONGEST_CALL = 10_000  # letters of a cell that checks; parsing long ones takes a hundred times their memory
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
    call = _call(cell, "check")
    first = call.args[0] if call and call.args else None
    return str(first.value) if isinstance(first, ast.Constant) else ""


def opened(cell: Mapping[str, Any]) -> str:
    """Name the lesson whose checks a cell opens: ``check = lessons.of("…")``; "" where it opens none."""
    found = re.search(r"\blessons\.of\(\s*[\"'](\w+)[\"']", notebooks.source(dict(cell)))
    return found[1] if found and cell.get("cell_type") == "code" else ""


def _call(cell: Mapping[str, Any], name: str) -> ast.Call | None:
    """Return a cell's one call of a function; None where it holds anything else."""
    text = notebooks.source(dict(cell)) if cell.get("cell_type") == "code" else ""
    try:
        with notebooks.unwarned():
            [statement] = ast.parse(text).body if len(text) <= _LONGEST_CALL else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # nothing, several statements, or none of Python's
        return None
    call = statement.value if isinstance(statement, ast.Expr) else None
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name
    return call if named and isinstance(call, ast.Call) else None


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


def read(path: Path) -> list[dict[str, Any]]:
    """Read a notebook's cells, as students hand them in. Raises DataError where it is none."""
    if path.stat().st_size > _MOST_BYTES:
        raise DataError(f"{path.name} is larger than {_MOST_BYTES >> 20} MiB. Ask for a copy without large outputs.")
    return notebooks.read(path)["cells"]


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
            return of_payload(payload)
        text = data.get("text/plain", "")
        if found := _VERDICT.match("".join(map(str, text)) if isinstance(text, list) else str(text)):
            return ("right", "") if found[1] == "✓ Right" else ("other", plain(found[2]))
    return None


def of_payload(payload: Mapping[str, Any]) -> tuple[str, str]:
    """Return kind and hint of what a check emitted."""
    kind = payload.get("found") if payload.get("found") in KINDS else "right" if payload.get("passed") else "other"
    return str(kind), "" if kind == "right" else plain(payload.get("hint") or payload.get("text") or "")
