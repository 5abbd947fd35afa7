"""Run a lesson as students get it, and write its slides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode, from_dict

from evalkit import ROOT, DataError, one_line
from evalkit.reports import export, notebooks
from evalkit.reports.notebooks import copied
from evalkit.reports.slides.cutting import Slide, cut
from evalkit.reports.slides.pieces import pieces

TEMPLATE = Path(__file__).parent / "template"
_SECONDS = 900  # that a cell may take


def lessons() -> dict[str, Path]:
    """Return the lessons that ship, by name."""
    return {path.stem: path for path in sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb"))}


def make(name: str, out: Path, *, say: Callable[[str], None] = lambda line: None) -> Path:
    """Run a lesson's student copy and write its slides into a folder; return the page's path.

    Raises DataError for an unknown lesson, naming the nearest, and for one whose cells fail.
    """
    known = lessons()
    if name not in known:
        raise DataError(f"There is no lesson '{name}'. {notebooks.suggestion(name, known)}")
    say(f"runs {name} (as students get it) …")
    path = out / f"{name}.html"
    notebooks.write_text(path, page(executed(known[name]).cells, name))
    return path


def executed(lesson: Path) -> NotebookNode:
    """Execute a lesson as students get it, without solutions; cells keep their outputs."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    from evalkit.reports.kernels import Kernels

    cells = [cell | {"source": notebooks.source(cell)} for cell in copied(lesson)]
    notebook = from_dict({"cells": cells, "metadata": notebooks.METADATA, "nbformat": 4, "nbformat_minor": 5})
    with Kernels() as kernels:
        options: dict[str, Any] = {"kernel_manager_class": kernels.manager, "shutdown_kernel": "immediate"}
        client = NotebookClient(
            notebook, timeout=_SECONDS, resources={"metadata": {"path": str(lesson.parent)}}, **options
        )
        try:
            return client.execute()
        except CellExecutionError as problem:
            told = f"{problem.ename}: {one_line(problem.evalue)}"
            raise DataError(f"The lesson {lesson.stem} stops with {told}. Open it in JupyterLab and run it.") from None


def page(cells: list[Any], name: str) -> str:
    """Return the page of an executed lesson; the same cells give the same bytes."""
    slides = cut([piece for cell in cells for piece in pieces(cell)])
    if not slides:
        raise DataError(f"The lesson {name} has no headings, so there is nothing to make slides of. Give it some.")
    nodes = [from_dict(node(slide, number)) for number, slide in enumerate(slides, 1)]
    notebook = from_dict({"cells": nodes, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    style = (TEMPLATE / "slides.css").read_text(encoding="utf-8")
    resources = {
        "title": slides[0].title,
        "css": style,
        "policy": export.POLICY,
        "count": len(slides),
        "name": name,
        "contents": [(number, slide.title) for number, slide in enumerate(slides, 1) if slide.opens and number > 1],
    }
    maker = export.Exporter(template_name=TEMPLATE.name, extra_template_basedirs=[str(TEMPLATE.parent)])
    return maker.from_notebook_node(notebook, resources=resources)[0]


def node(slide: Slide, number: int) -> dict[str, Any]:
    """Return a slide as the cell that the template walks over."""
    return {
        "cell_type": "markdown",
        "id": f"slide-{number}",
        "metadata": {},
        "source": "",
        "html": slide.html,
        "title": slide.title,
        "kind": slide.kind,
        "simulated": slide.simulated,
    }
