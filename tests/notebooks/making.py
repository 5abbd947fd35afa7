"""Makers of notebooks, and of projects of one or more studies, as tests need them."""

import json

from evalkit.reports.studies import Layout


def cell(kind, source, *outputs, tags=()):
    """Make a cell of a notebook; its outputs are those of a run."""
    made = {"cell_type": kind, "source": source, "metadata": {"tags": list(tags)}}
    return made | ({"outputs": list(outputs), "execution_count": None} if kind == "code" else {})


def code(source):
    """Make a cell of code; one that begins with a typed literal holds the parameters."""
    return cell("code", source, tags=["parameters"] if ": " in source[:12] else [])


def notebook(path, *cells, **metadata):
    """Write a notebook of cells, or of texts of code."""
    cells = [code(each) if isinstance(each, str) else each for each in cells]
    cells = [each | {"id": f"cell-{number:02}"} for number, each in enumerate(cells, start=1)]
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return path


def study(folder, *cells, name="one", **entry):
    """Add a study of these cells to the project in a folder; further keywords are keys of its entry, in TOML."""
    notebook(folder / f"{name}.ipynb", *cells)
    entry = {"notebook": f'"{name}.ipynb"', "title": '"One"'} | entry
    with (folder / "studies.toml").open("a") as file:
        file.write("\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in entry.items()), ""]))
    return layout(folder)


def layout(folder):
    """Name the places of a project in a folder."""
    return Layout(studies=folder / "studies.toml", reports=folder / "reports", reference=folder / "reference")
