"""Notebook files as plain JSON: read them, bring them into canonical form, write them whole."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalkit import DataError

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


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
