"""Notebook files: their canonical form, the parameters that they declare, their copies for students.

Everything here reads the ``.ipynb`` file by nbformat and its code with ``ast``: no kernel starts, nothing is executed.
"""

from __future__ import annotations

import ast
import difflib
import io
import json
import math
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # its types are a package of their own

from evalkit import DataError, one_line

MANY = 24  # names; a longer list of what there is would hide the sentence that it belongs to
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


def read(path: Path) -> Any:
    """Read a notebook file, as nbformat has it: texts are single strings. DataError for what is no such file."""
    import nbformat  # who only asks for a check does not wait for it

    from evalkit.data import delimited

    content = delimited.content(Path(path))
    try:
        with warnings.catch_warnings(action="ignore"):
            notebook = nbformat.reads(content.decode("utf-8"), as_version=4)
            nbformat.validate(notebook)
    except Exception as problem:  # whatever nbformat stumbles over
        told = f"{type(problem).__name__}: {one_line(problem)}"
        remedy = "Open it in JupyterLab and save it again, or restore it from version control."
        raise DataError(f"{path} is no notebook ({told}). {remedy}") from None
    return notebook


MADE_BY_RUNNER = {"injected-parameters", "papermill-error-cell-tag"}


def authored(cells: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the cells that the notebook's author wrote, numbered from 1 as in the source."""
    return enumerate((cell for cell in cells if not MADE_BY_RUNNER & set(tags(cell))), start=1)


def cell_name(number: int, cell: Any) -> str:
    """Name a cell by its place and its first line.

    >>> cell_name(3, {"source": "x = 1"})
    'cell 3 (x = 1)'
    """
    lines = cell["source"].strip().splitlines()
    return f"cell {number} ({lines[0][:60]})" if lines else f"cell {number}"


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
        "source": cell["source"].rstrip().splitlines(keepends=True),
        "metadata": {"tags": tags(cell)} if tags(cell) else {},
    }
    if "solution" in tags(cell):
        kept["metadata"]["jupyter"] = {"source_hidden": True}
    if cell.get("attachments"):
        kept["attachments"] = cell["attachments"]
    return kept | {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else kept


def write_text(path: Path, text: str) -> None:
    """Write under a temporary name, then move into place, so that no reader meets half a file."""
    from evalkit.data.files import replacing

    with replacing(Path(path)) as part:
        part.write_text(text, encoding="utf-8")


TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
TYPES: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool}
KINDS = [*TYPES, *(f"list[{kind}]" for kind in TYPES)]
#: What Python raises for a text that is no literal, or one that is nested beyond all measure.
_NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)


@dataclass(frozen=True)
class Parameter:
    """One declared parameter: ``kind`` is int, float, str, bool, or a list of one of these, such as ``list[str]``."""

    name: str
    kind: str
    default: Any
    help: str = ""

    @property
    def names(self) -> str:
        """What of the user's own the value names, which its help says by how it begins: a path, or paths in a list.

        "file", "folder", "file or name" (a name that is no path), "files" (or folders, which stand beside the study's
        data), or "".
        """
        single = {"path of a folder": "folder", "path or name": "file or name", "path": "file"}
        begins = {"str": single, "list[str]": {"paths": "files"}}.get(self.kind, {})
        return next((what for begin, what in begins.items() if self.help.startswith(begin)), "")


def parameters(path: Path) -> list[Parameter]:
    """Read the parameters that a notebook declares in its cell tagged ``parameters``, in their order.

    Lines look like ``seed: int = 7  # any integer; same seed, same report``: a literal, its type, its help.
    Raises DataError for a second such cell and for anything in it that is not a typed literal.
    """
    cells = [c for c in read(path)["cells"] if "parameters" in tags(c)]
    if len(cells) > 1:
        raise DataError(f"{path} has {len(cells)} cells tagged 'parameters'. Keep one.")
    return declarations(cells[0]["source"], origin=str(path)) if cells else []


def declarations(code: str, *, origin: str) -> list[Parameter]:
    """Read parameters from the source of one cell; ``origin`` names the notebook in errors.

    >>> declarations("seed: int = 7  # any integer", origin="a notebook")
    [Parameter(name='seed', kind='int', default=7, help='any integer')]
    """
    try:
        with warnings.catch_warnings(action="ignore"):
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
    where = f"{origin}, parameters cell, line {node.lineno}"
    try:
        if not isinstance(node, ast.AnnAssign) or not node.value:
            raise ValueError(node)
        default, kind = ast.literal_eval(node.value), ast.unparse(node.annotation)
        kind = f"list[{type([*default, ''][0]).__name__}]" if kind == "list" else kind
        if kind not in KINDS:
            raise ValueError(kind)
    except _NO_LITERAL:
        form = f"Write every line as 'name: type = literal  # help', with the type {', '.join(TYPES)} or list."
        raise DataError(f"{where}: '{ast.unparse(node):.60}' is no typed literal. {form}") from None
    declared = Parameter(ast.unparse(node.target), kind, default, comment)
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
    return "\n".join(cell["source"] for cell in read(path)["cells"] if "check-parameters" in tags(cell))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Say which known name is nearest to a mistyped one, or else which names there are.

    >>> suggestion("sed", ["seed", "scale"])
    "Did you mean 'seed'?"
    """
    known = sorted(known)
    if near := difflib.get_close_matches(name, known, n=1):
        return f"Did you mean '{near[0]}'?"
    more = f", and {len(known) - MANY} more" if len(known) > MANY else ""
    return f"Known: {', '.join(known[:MANY]) or 'none'}{more}."


def _typed(parameter: Parameter, value: Any, origin: str) -> Any:
    try:
        return _converted(parameter.kind, value)
    except (ValueError, KeyError, OverflowError, RecursionError):
        item = parameter.kind.removeprefix("list[").removesuffix("]")
        need = "true or false" if item == "bool" else f"of type {item}"
        need = need if item == parameter.kind else f"a list of {item}, such as [a, b] or a,b"
        need += " and finite" if isinstance(value, float) else ""
        raise DataError(
            f"{origin}: parameter {parameter.name} must be {need}, not {value!r:.200}. "
            f"Its default is {parameter.default!r:.200}."
        ) from None


def _converted(kind: str, value: Any) -> Any:
    """Return a text, or a value that has its type already, as a kind; ValueError and the like for any other."""
    if kind.startswith("list"):
        return [_converted(kind[len("list[") : -1], one) for one in _items(value)]
    if isinstance(value, str) and kind != "str":
        value = TRUTH[value.strip().lower()] if kind == "bool" else TYPES[kind](value)
    if kind == "float" and type(value) is int:
        value = float(value)
    if type(value) is not TYPES[kind] or (kind == "float" and not math.isfinite(value)):
        raise ValueError(value)
    if kind == "str":
        value.encode()  # bytes that are no text, which no report could hold, are a UnicodeEncodeError
    return value


def _items(value: Any) -> list[Any]:
    """Return a list, or the items of a text such as ``[a, b]`` or ``a,b``, quoted or not, as texts."""
    if isinstance(value, str):
        try:
            text = value.strip()
            value = yaml.load(text if text.startswith("[") else f"[{text}]", Loader=yaml.BaseLoader)
        except yaml.YAMLError:
            raise ValueError(value) from None
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
    text = canonical(copied(lesson))
    if target.exists() and canonical(read(target)["cells"]) != text:
        raise DataError(f"{target} holds somebody's answers, or an older lesson. Move it away, or name another folder.")
    write_text(target, text)
    return target


def copied(lesson: Path) -> list[Any]:
    """Return the cells of a student's copy, as they are handed out."""
    cells = read(lesson)["cells"]
    copies = [_copy(cell, f"{lesson}, cell {number}") for number, cell in enumerate(cells, start=1)]
    return [cell for cell in copies if cell is not None]


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
    marked = any(mark in cell["source"] for mark in (BEGIN, END))
    if marked and (cell["cell_type"] != "code" or "solution" not in tags(cell)):
        raise DataError(f"{origin} holds a marked solution, but is no code cell tagged 'solution'. Tag it.")
    if not marked:
        return None if {"solution", "teacher"} & set(tags(cell)) else cell
    stub = without_solution(cell["source"], origin=origin)
    try:
        ast.parse(stub)
    except SyntaxError as problem:
        raise DataError(f"{origin}: without its solution it is no Python ({problem.msg}). Leave a docstring.") from None
    return cell | {"source": stub, "metadata": {"tags": ["exercise"]}}
