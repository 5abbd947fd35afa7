"""Slides of a lesson: one page without scripts that opens offline, a slide a heading.

On slides go prose, exercises to fill in, tables, figures and computed sentences. Other code, and what checks say of
empty exercises, stay in the notebook. A figure stands on a slide of its own; one that is longer than its screen
scrolls, and goes on in print.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from evalkit import ROOT, DataError
from evalkit.reports import export, findings, markup, notebooks
from evalkit.reports.studies import Study

_SECONDS = 900  # that a cell may take
_HEADING = re.compile(r"(<h[1-6]\b.*?</h[1-6]>)", re.DOTALL)


@dataclass
class Slide:
    """A slide: its heading as HTML, the heading's level (7 where another slide has it, too), and what stands below."""

    title: str
    level: int
    parts: list[str] = field(default_factory=list)


def lessons() -> dict[str, Path]:
    """Return the lessons that ship, by name and by number.

    >>> lessons()["2"] == lessons()["2_strict_and_lenient"]
    True
    """
    paths = sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb"))
    return {path.stem: path for path in paths} | {path.stem.split("_")[0]: path for path in paths}


def make(name: str, out: Path, *, say: Callable[[str], None] = lambda line: None) -> Path:
    """Run a lesson's student copy and write its slides into a folder; return the page's path.

    name: of the lesson, or its number. Raises DataError for an unknown lesson, naming the nearest, and for one whose
    cells fail.
    """
    known = lessons()
    if name not in known:
        raise DataError(f"There is no lesson '{name}'. {notebooks.suggestion(name, known)}")
    lesson = known[name]
    say(f"runs {lesson.stem} (as students get it) …")
    path = out / f"{lesson.stem}.html"
    notebooks.write_text(path, page(executed(lesson).cells))
    return path


def executed(lesson: Path) -> Any:
    """Execute a lesson as students get it, without solutions; cells keep their outputs."""
    from evalkit.reports import kernels

    with kernels.Kernels() as running:
        copy = notebooks.student(lesson, running.folder / lesson.name)
        study = Study(lesson.stem, copy, lesson.stem)
        return kernels.execute_notebook(study, running.folder / "executed.ipynb", _SECONDS, running)


def page(cells: list[Any]) -> str:
    """Return the page of an executed lesson; the same cells give the same bytes."""
    slides = cut(cells)
    css = (export.TEMPLATE / "slides.css").read_text(encoding="utf-8")
    told = [one for one in findings.payloads({"cells": cells}) if one["kind"] == "source"]
    simulated = dict.fromkeys(one["name"] for one in told if one["source"] == "simulated")
    template = export.pages().get_template("slides.html.j2")
    return template.render(slides=slides, simulated=simulated, css=css)


def cut(cells: list[Any]) -> list[Slide]:
    """Return the slides of executed cells, without what comes before the first heading, and without empty ones."""
    slides: list[Slide] = []
    for html in (part for cell in cells for part in shown(cell)):
        if heading := _HEADING.fullmatch(html):
            slides.append(Slide(re.sub(r"</?h\d[^>]*>", "", html).strip(), int(heading[1][2])))
        elif slides:
            if html.startswith("<figure") and slides[-1].parts:
                slides.append(Slide(slides[-1].title, 7))
            slides[-1].parts.append(html)
    return [slide for slide in slides if slide.parts]


def shown(cell: Any) -> Iterator[str]:
    """Yield what slides show of a cell as HTML, each heading by itself."""
    tags = notebooks.tags(cell)
    if cell["cell_type"] == "markdown":
        names = markup.Names(title="of the first slide")
        html = markup.prose(cell["source"], names, attachments=cell.get("attachments"))
        yield from filter(None, map(str.strip, _HEADING.split(re.sub(r'(<h[1-6]) id="[^"]*"', r"\1", html))))
    elif "exercise" in tags:
        yield f"<pre><code>{escape(cell['source'], quote=False)}</code></pre>"
    elif not {"check", "parameters"} & set(tags):
        for output in cell.get("outputs", ()):
            yield from export.shown_output(output, None)
