"""Notebook files: the parameters that they declare, their canonical form, their copies for students.

Everything here reads the ``.ipynb`` file as JSON and its code with ``ast``: no kernel starts, nothing is executed.
"""

from __future__ import annotations

import ast
import difflib
import io
import json
import os
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalkit import DataError

TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
TYPES = {"int": int, "float": float, "str": str, "bool": bool, "list": list}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


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
        statements = ast.parse(code).body
        comments = {
            token.start[0]: token.string.lstrip("# ").strip()
            for token in tokenize.generate_tokens(io.StringIO(code).readline)
            if token.type == tokenize.COMMENT
        }
    except (SyntaxError, tokenize.TokenError) as problem:
        raise DataError(f"{origin}: the parameters cell is no valid Python ({problem}). Correct it.") from None
    return [_declaration(node, comments.get(node.end_lineno or node.lineno, ""), origin) for node in statements]


def _declaration(node: ast.stmt, comment: str, origin: str) -> Parameter:
    form = "Write every line as 'name: type = literal  # help', with type int, float, str, bool or list."
    where = f"{origin}, parameters cell, line {node.lineno}"
    if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value):
        raise DataError(f"{where}: '{ast.unparse(node)}' is no typed literal. {form}")
    name, annotation = node.target.id, ast.unparse(node.annotation)
    kind, _, item = annotation.removesuffix("]").partition("[")
    try:
        default = ast.literal_eval(node.value)
    except ValueError:
        raise DataError(f"{where}: the default of {name} is computed. {form}") from None
    if kind not in TYPES or (item or "str") not in TYPES or (item and kind != "list"):
        raise DataError(f"{where}: {name} has the unknown type '{annotation}'. {form}")
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
            raise DataError(f"{origin} has no parameter '{name}'. {suggestion(name, by_name)}")
    return {name: _typed(by_name[name], value, origin) for name, value in values.items()}


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
    except (ValueError, SyntaxError, KeyError):
        want = {"bool": "true or false", "list": f"a list of {parameter.item}, such as [a, b] or a,b"}
        need = want.get(parameter.type, f"of type {parameter.type}")
        raise DataError(
            f"{origin}: parameter {parameter.name} must be {need}, not {value!r}. Its default is {parameter.default!r}."
        ) from None


def _convert(kind: str, value: Any, item: str) -> Any:
    if kind == "list":
        return [_convert(item, each, "str") for each in _items(value)]
    if kind == "float" and type(value) is int:
        return float(value)
    if type(value) is TYPES[kind]:
        return value
    if not isinstance(value, str):
        raise ValueError(value)
    if kind == "bool":
        return TRUTH[value.strip().lower()]
    pattern = r"[+-]?\d+" if kind == "int" else r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
    if not re.fullmatch(pattern, value.strip()):
        raise ValueError(value)
    return TYPES[kind](value)


def _items(value: Any) -> list[Any]:
    if isinstance(value, str):
        text = value.strip()
        if not text.startswith("["):
            return [part.strip() for part in text.split(",")] if text else []
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):  # [eng-jpn, eng-zho]: names without quotes
            if not text.endswith("]"):
                raise
            value = [part.strip() for part in text.removeprefix("[").removesuffix("]").split(",")]
    if not isinstance(value, list):
        raise ValueError(value)
    return value


def read(path: Path) -> dict[str, Any]:
    """Read a notebook file as plain JSON; DataError where it is absent, broken or older than format 4."""
    try:
        notebook = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no notebook {path}. Correct the name.") from None
    except ValueError as problem:
        raise DataError(f"{path} is no notebook: {problem}. Restore it from version control.") from None
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or "cells" not in notebook:
        raise DataError(f"{path} is not in notebook format 4. Open it in JupyterLab and save it again.")
    return notebook


def source(cell: dict[str, Any]) -> str:
    """Return a cell's text, which the format stores as a string or as a list of lines."""
    return "".join(cell["source"])


def tags(cell: dict[str, Any]) -> list[str]:
    """Return a cell's tags."""
    return cell.get("metadata", {}).get("tags", [])


def tidy(path: Path, *, check: bool = False) -> bool:
    """Bring a notebook file into its canonical form: no outputs, sorted JSON, cells numbered in order.

    Returns True where the file was (with ``check``: is) not in that form. Cell ids are positions (``cell-01``), so
    two notebooks with the same cells are the same bytes, whoever saved them.
    """
    canonical = _dump(_stripped(read(path)["cells"]))
    changed = canonical != Path(path).read_text(encoding="utf-8")
    if changed and not check:
        write_text(path, canonical)
    return changed


def student(source: Path, target: Path) -> Path:
    """Write a copy of a lesson without the cells tagged ``solution``; return its path."""
    write_text(target, _dump(_stripped([c for c in read(source)["cells"] if "solution" not in tags(c)])))
    return target


def _stripped(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    width = max(2, len(str(len(cells))))
    return [_stripped_cell(cell, f"cell-{number:0{width}d}") for number, cell in enumerate(cells, start=1)]


def _stripped_cell(cell: dict[str, Any], name: str) -> dict[str, Any]:
    kept = {
        "cell_type": cell["cell_type"],
        "id": name,
        "source": source(cell).rstrip().splitlines(keepends=True),
        "metadata": {"tags": tags(cell)} if tags(cell) else {},
    }
    if cell.get("attachments"):
        kept["attachments"] = cell["attachments"]
    return kept | {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else kept


def _dump(cells: list[dict[str, Any]]) -> str:
    notebook = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write under a temporary name, then move into place, so that no reader meets half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
