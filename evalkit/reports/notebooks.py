"""Notebook files: their canonical form, the parameters that they declare, their copies for students.

Everything here reads the ``.ipynb`` file as JSON and its code with ``ast``: no kernel starts, nothing is executed.
"""

from __future__ import annotations

import ast
import difflib
import io
import json
import math
import os
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalkit import DataError

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class Misuse(DataError):
    """A word of the user's that cannot be used: wrong usage, and no fault of files or data."""


@contextmanager
def misuse() -> Iterator[None]:
    """Take a DataError for wrong usage: what is looked at in here are the user's words."""
    try:
        yield
    except DataError as problem:
        raise Misuse(str(problem)) from None


def read(path: Path) -> dict[str, Any]:
    """Read a notebook file as plain JSON; DataError where it is absent, broken or older than format 4."""
    from evalkit.data import delimited  # pandas comes with it, which who only asks for a check does not wait for

    if not os.path.exists(path):  # Path's own raises where the name is too long
        raise DataError(f"There is no notebook {path}. Correct the name.")
    content = delimited.content(Path(path))
    try:
        notebook = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path} is no notebook: {problem}. Restore it from version control.") from None
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or "cells" not in notebook:
        raise DataError(f"{path} is not in notebook format 4. Open it in JupyterLab and save it again.")
    cells = notebook["cells"]
    if not isinstance(cells, list) or not all(map(_is_cell, cells)):
        raise DataError(f"{path} has a cell that is none of a notebook's. Restore it from version control.")
    return notebook


def _is_cell(cell: Any) -> bool:
    """Tell whether JSON has the form of a notebook's cell: its kind, its source, and tags that are texts."""
    if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str) or not _is_text(cell.get("source")):
        return False
    metadata = cell.get("metadata", {})
    return isinstance(metadata, dict) and (metadata.get("tags") is None or _is_text(metadata["tags"], lists=True))


def _is_text(value: Any, *, lists: bool = False) -> bool:
    many = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return many or (isinstance(value, str) and not lists)


def source(cell: dict[str, Any]) -> str:
    """Return a cell's text, which the format stores as a string or as a list of lines."""
    return "".join(cell["source"])


_HEADING = re.compile(r"^##?\s+(.+?)\s*$", re.MULTILINE)


def headings(cells: Iterable[Any]) -> dict[int, str]:
    """Return the sections of a notebook: the place of each cell that opens one, and its first heading of level 1 or 2.

    >>> cells = [{"cell_type": "markdown", "source": "# Title"}, {"cell_type": "code", "source": "## no heading"}]
    >>> headings([*cells, {"cell_type": "markdown", "source": "## The data\\n\\nOne row is ..."}])
    {0: 'Title', 2: 'The data'}
    """
    opened = (
        (place, _HEADING.search(source(cell))) for place, cell in enumerate(cells) if cell["cell_type"] == "markdown"
    )
    return {place: found[1] for place, found in opened if found}


@contextmanager
def unwarned() -> Iterator[None]:
    """Keep what Python has to say on the style of code that is only parsed here from standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tags(cell: dict[str, Any]) -> list[str]:
    """Return a cell's tags."""
    return cell.get("metadata", {}).get("tags") or []


def tidy(path: Path, *, check: bool = False) -> bool:
    """Bring a notebook file into its canonical form: no outputs, sorted JSON, cells numbered, solutions folded.

    Returns True where the file was (with ``check``: is) not in that form. Cell ids are positions (``cell-01``), so
    two notebooks with the same cells are the same bytes, whoever saved them.
    """
    text = canonical(read(path)["cells"])
    changed = text != Path(path).read_text(encoding="utf-8")
    if changed and not check:
        write_text(path, text)
    return changed


def canonical(cells: list[dict[str, Any]]) -> str:
    """Return a notebook of these cells in its canonical form. Of metadata, tags stay; solutions are folded away."""
    width = max(2, len(str(len(cells))))
    stripped = [_stripped(cell, f"cell-{number:0{width}d}") for number, cell in enumerate(cells, start=1)]
    notebook = {"cells": stripped, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _stripped(cell: dict[str, Any], name: str) -> dict[str, Any]:
    kept = {
        "cell_type": cell["cell_type"],
        "id": name,
        "source": source(cell).rstrip().splitlines(keepends=True),
        "metadata": {"tags": tags(cell)} if tags(cell) else {},
    }
    if "solution" in tags(cell):
        kept["metadata"]["jupyter"] = {"source_hidden": True}
    if cell.get("attachments"):
        kept["attachments"] = cell["attachments"]
    return kept | {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else kept


def write_text(path: Path, text: str) -> None:
    """Write under a temporary name, then move into place, so that no reader meets half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
#: What Python raises for a text that is no literal, or one that is nested beyond all measure.
_NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
TYPES = {"int": int, "float": float, "str": str, "bool": bool, "list": list}


@dataclass(frozen=True)
class Parameter:
    """One declared parameter: ``type`` is int, float, str, bool or list (``item`` then names the items' type)."""

    name: str
    type: str
    default: Any
    help: str = ""
    item: str = "str"

    @property
    def kind(self) -> str:
        """The type as a reader writes it, such as ``int`` or ``list[str]``."""
        return f"list[{self.item}]" if self.type == "list" else self.type

    @property
    def names(self) -> str:
        """What of the user's own the value names, which its help says by how it begins: a path, or paths in a list.

        "file", "folder", "file or name" (a name that is no path), "files" (or folders, which stand beside the study's
        data), or "".
        """
        if self.type == "list":
            return "files" if self.help.startswith("paths") else ""
        begins = {"path of a folder": "folder", "path or name": "file or name", "path": "file"}
        return next((what for begin, what in begins.items() if self.type == "str" and self.help.startswith(begin)), "")


def parameters(path: Path) -> list[Parameter]:
    """Read the parameters that a notebook declares in its cell tagged ``parameters``, in their order.

    Lines look like ``seed: int = 7  # any integer; same seed, same report``: a literal, its type, its help.
    Raises DataError for a second such cell and for anything in it that is not a typed literal.
    """
    cells = [c for c in read(path)["cells"] if "parameters" in tags(c)]
    if len(cells) > 1:
        raise DataError(f"{path} has {len(cells)} cells tagged 'parameters'. Keep one.")
    return declarations(source(cells[0]), origin=str(path)) if cells else []


def declarations(code: str, *, origin: str) -> list[Parameter]:
    """Read parameters from the source of one cell; ``origin`` names the notebook in errors.

    >>> declarations("seed: int = 7  # any integer", origin="a notebook")
    [Parameter(name='seed', type='int', default=7, help='any integer', item='str')]
    """
    try:
        with unwarned():
            statements = ast.parse(code).body
        comments = {
            token.start[0]: token.string.lstrip("# ").strip()
            for token in tokenize.generate_tokens(io.StringIO(code).readline)
            if token.type == tokenize.COMMENT
        }
    except (*_NO_LITERAL, tokenize.TokenError) as problem:
        raise DataError(f"{origin}: the parameters cell is no valid Python ({problem}). Correct it.") from None
    return [_declaration(node, comments.get(node.end_lineno or node.lineno, ""), origin) for node in statements]


def _declaration(node: ast.stmt, comment: str, origin: str) -> Parameter:
    form = "Write every line as 'name: type = literal  # help', with type int, float, str, bool or list."
    where = f"{origin}, parameters cell, line {node.lineno}"
    if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value):
        raise DataError(f"{where}: '{ast.unparse(node):.60}' is no typed literal. {form}")
    name, annotation = node.target.id, ast.unparse(node.annotation)
    kind, _, item = annotation.removesuffix("]").partition("[")
    try:
        default = ast.literal_eval(node.value)
    except _NO_LITERAL:
        raise DataError(f"{where}: the default of {name} is computed. {form}") from None
    if kind not in TYPES or (item or "str") not in TYPES or (item and kind != "list"):
        raise DataError(f"{where}: {name} has the unknown type '{annotation:.60}'. {form}")
    if not item:
        item = type(default[0]).__name__ if isinstance(default, list) and default else "str"
    declared = Parameter(name, kind, default, comment, item)
    return replace(declared, default=_typed(declared, default, where))


def bind(declared: Iterable[Parameter], values: dict[str, Any], *, origin: str = "the notebook") -> dict[str, Any]:
    """Give each value the type of the declared default, so that a system called 007 stays a name.

    values: texts (from a command line) or typed values (from a settings file), by parameter name.
    Raises DataError for an unknown name (naming the nearest one) and for a value of another type.

    >>> bind([Parameter("seed", "int", 7), Parameter("system", "str", "")], {"seed": "11", "system": "007"})
    {'seed': 11, 'system': '007'}
    """
    by_name = {parameter.name: parameter for parameter in declared}
    for name in values:
        if name not in by_name:
            raise DataError(f"{origin} has no parameter '{name:.60}'. {suggestion(name, by_name)}")
    return {name: _typed(by_name[name], value, origin) for name, value in values.items()}


def checks(path: Path) -> str:
    """Return the source of the cell tagged ``check-parameters``, which checks a notebook's parameters; or else ""."""
    return "\n".join(source(cell) for cell in read(path)["cells"] if "check-parameters" in tags(cell))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Say which known name is nearest to a mistyped one, or else which names there are.

    >>> suggestion("sed", ["seed", "scale"])
    "Did you mean 'seed'?"
    """
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(known) or 'none'}."


def _typed(parameter: Parameter, value: Any, origin: str) -> Any:
    try:
        return _convert(parameter.type, value, parameter.item)
    except (ValueError, SyntaxError, KeyError, OverflowError, RecursionError, MemoryError):  # too large, or too deep
        want = {"bool": "true or false", "list": f"a list of {parameter.item}, such as [a, b] or a,b"}
        need = want.get(parameter.type, f"of type {parameter.type}")
        need += " and finite" if isinstance(value, float) else ""
        raise DataError(
            f"{origin}: parameter {parameter.name} must be {need}, not {_shown(value)}. "
            f"Its default is {_shown(parameter.default)}."
        ) from None


def _shown(value: Any) -> str:
    """Write a value as messages show it; of what is long, or cannot be written at all, its beginning or its type.

    >>> _shown("x"), _shown(1 << 99_999)
    ("'x'", 'a long int')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # more digits than Python writes
        return f"a long {type(value).__name__}"
    return text if len(text) < 200 else f"{text[:200]}…"


def _demand_writable(value: Any) -> Any:
    """Refuse what no report could hold: numbers that are none, or without end, and bytes that are no text."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(value)
    if isinstance(value, str):
        value.encode()  # a UnicodeEncodeError is a ValueError
    return value


def _convert(kind: str, value: Any, item: str) -> Any:
    if kind == "list":
        return [_convert(item, each, "str") for each in _items(value)]
    if kind == "float" and type(value) is int:
        return float(value)
    if type(value) is TYPES[kind]:
        return _demand_writable(value)
    if not isinstance(value, str):
        raise ValueError(value)
    if kind == "bool":
        return TRUTH[value.strip().lower()]
    return _demand_writable(TYPES[kind](value))


def _items(value: Any) -> list[Any]:
    if isinstance(value, str):
        text = value.strip()
        if not text.startswith("["):
            return [part.strip() for part in text.split(",")] if text else []
        try:
            with unwarned():
                value = ast.literal_eval(text)
        except _NO_LITERAL:  # [eng-jpn, eng-zho]: names without quotes
            if not text.endswith("]"):
                raise ValueError(text) from None
            value = [part.strip() for part in text.removeprefix("[").removesuffix("]").split(",")]
    if not isinstance(value, list):
        raise ValueError(value)
    return value


BEGIN, END = "# solution>", "# <solution"
_SOLUTION = re.compile(rf"^[ \t]*{BEGIN}[ \t]*\n.*?^[ \t]*{END}[ \t]*(\n|\Z)", re.MULTILINE | re.DOTALL)


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
    kept = _SOLUTION.sub("", code)
    if BEGIN in kept or END in kept:
        raise DataError(
            f"{origin}: a mark of a solution is without its other one, or shares its line. Write {BEGIN!r} above the "
            f"lines of a solution and {END!r} below them, each on a line of its own."
        )
    return kept.rstrip("\n")


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
