"""Turn an executed notebook into one self-contained HTML page.

The page needs no script and makes no request. The template beside this module lays the cells out; everything that may
carry data's own text is escaped or sanitised here before it reaches the page. Its order is: the
answer first, the argument, and at the end what only some readers open. A section is a Markdown cell with a heading of
level 2 or 3 and all cells up to the next heading of the same or a higher level. Tags on the cell that opens it say what
becomes of it: ``fold`` folds it in its place, ``back`` folds and moves it to the end of the page, ``if-shown`` leaves
it out where its code shows nothing.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, FileSystemLoader
from nbconvert.filters import Highlight2HTML, strip_ansi

from evalkit import DataError
from evalkit.campaign.annotators import Feedback
from evalkit.reports import findings, markup, notebooks, sources, tally
from evalkit.reports.studies import Study
from evalkit.show import figures, pictures, tables
from evalkit.show.style import typeset

TEMPLATE = Path(__file__).parent / "template"
#: The style sheet that every page carries.
STYLESHEET = (TEMPLATE / "report.css").read_text(encoding="utf-8")
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'"
)
#: Headings of what annotators are told.
FOR_THEM = {"yours": "your score", "others": "others' mean", "apart": "apart", "hypothesis": "translation"}
#: A cell with the number that its author counts it by.
Numbered = tuple[int, Any]


def export(notebook: Any, study: Study, report: dict[str, Any], *, reference: dict[str, Any] | None = None) -> str:
    """Return a study's HTML page; the same notebook and report give the same bytes.

    notebook: executed, as papermill returns it. report: its JSON report. reference: what the study computed on the
    real data, shown beside simulated results. Raises DataError, naming the cell, for a figure without alternative
    text and for TeX that cannot be typeset.
    """
    simulated = findings.simulated(report)
    earlier, counts = reference if simulated else None, tally.count(report["published"])
    used = sources.listed(notebook, report["data"])
    names, declared = markup.Names(), notebooks.parameters(study.notebook)
    opening, reasoning, sections = arranged(with_results(notebooks.authored(notebook["cells"])))
    first, argument = (shown_cells(part, names, earlier) for part in (opening, reasoning))
    alone = sum(html.startswith("<figure") for cell in first for html in cell.outputs) == 1
    back = [cell for part in sections for cell in shown_cells(part, names, earlier, lift=level(part[0][1]) - 2)]
    own = report["title"] != study.title
    ids = {name: names.name(2, name) for name in ("Data", "Parameters", "Agreement")}
    listed = [(ids["Data"], "Data", True)] if used else []
    listed += [(ids["Parameters"], "Parameters of this run", True)] if declared else []
    template = pages().get_template("report.html.j2")
    return template.render(
        study=study,
        report=report,
        title=escape(typeset(report["title"])) if own else names.title or escape(study.title),
        own=own,
        sources=used,
        badges=sources.badges(used),
        agreement=tally.brief(counts),
        tallied=tally.shown(counts),
        simulated=simulated,
        earlier=findings.earlier(earlier),
        parameters=[(one, study.parameters.get(one.name, one.default)) for one in declared],
        ids=ids,
        first=first,
        beside="first beside" if alone else "first",  # the one figure of a first page stands beside what to do
        contents=[entry for cell in argument + back for entry in cell.sections] + listed,
        argument=argument,
        back=back,
    )


def shown_cells(
    part: list[Numbered], names: markup.Names, reference: dict[str, Any] | None, *, lift: int = 0
) -> list[SimpleNamespace]:
    """Return the cells of a part of a page as the template shows them, its sections folded that are tagged so.

    lift: by how many levels headings rise, for at the end of a page a section begins at level 2.
    """
    names.lift, cells = lift, list[SimpleNamespace]()
    for number, cell in part:
        before = len(names.sections)
        try:
            cells.append(prepared(cell, names, reference))
        except DataError as problem:
            raise DataError(f"{notebooks.cell_name(number, cell)}: {problem}") from None
        cells[-1].sections = [(name, html, False) for name, html in names.sections[before:]]
    for place, (_, cell) in enumerate(part):
        if level(cell) > 1 and {"fold", "back"} & set(notebooks.tags(cell)):
            fold(cells[place], cells[end(part, place) - 1])
    return cells


def fold(start: SimpleNamespace, last: SimpleNamespace) -> None:
    """Fold a section: the heading that opens it becomes what is seen of it."""
    before, heading, html = re.split(r"(<h[2-6].*?</h[2-6]>)", start.html, maxsplit=1, flags=re.DOTALL)
    start.before, start.folded, start.html = before.strip(), heading, html.strip()
    start.sections = [(name, words, words in heading) for name, words, _ in start.sections]
    last.unfolds += 1


def prepared(cell: Any, names: markup.Names, reference: dict[str, Any] | None) -> SimpleNamespace:
    """Return a cell as the template shows it: prose as HTML, outputs reduced to one safe form each."""
    tags, source, kind = notebooks.tags(cell), cell["source"], cell["cell_type"]
    shown = SimpleNamespace(kind=kind, source=source, tags=tags, html="", outputs=[], folded="", unfolds=0)
    if kind == "markdown":
        shown.html = markup.prose(source, names, attachments=cell.get("attachments"))
    if kind == "code":
        shown.outputs = [html for output in cell["outputs"] for html in shown_output(output, reference)]
    return shown


def shown_output(output: Any, reference: dict[str, Any] | None) -> Iterator[str]:
    """Yield what a page shows of one output, followed by the reference results that belong beside it."""
    if output["output_type"] == "stream":
        yield printed(output["text"], kind=output["name"])
    elif output["output_type"] == "error":
        yield printed("\n".join(output["traceback"]), kind="stderr")
    else:
        payload = findings.payload_of(output)
        if payload and payload["kind"] in ("headline", "source", "title"):  # at the head of the page, and at its end
            return
        yield from displayed(output, payload)
        if payload and reference:
            yield from beside(payload, reference)


def displayed(output: Any, payload: dict[str, Any] | None) -> Iterator[str]:
    """Yield the richest form of a display output that a page can show; a payload alone is not shown."""
    data = output["data"]
    if "application/vnd.jupyter.widget-view+json" in data:  # controls; the figure under them is an output of its own
        return
    if "text/html" in data:
        yield markup.sanitised(data["text/html"])
    elif kind := next((kind for kind in ("image/svg+xml", "image/png", "image/jpeg") if kind in data), None):
        described = output.get("metadata", {}).get(kind, {})
        yield figure(kind, data[kind], described)
    elif payload is None and (text := data.get("text/markdown") or data.get("text/latex") or data.get("text/plain")):
        yield printed(text)  # as plain text, so no data can become a link or an image


def figure(kind: str, content: Any, described: dict[str, Any]) -> str:
    """Return a figure with its caption; DataError without alternative text."""
    alt = str(described.get("alt") or "").strip()
    if not alt:
        raise DataError("a figure has no alternative text. Show it with show.figure(..., alt=...).")
    if kind == "image/svg+xml":  # as an image: a picture cannot bring scripts or styles into the page
        content = base64.b64encode(content.encode()).decode()
    content = "".join(content.split())
    size = "".join(f' {side}="{int(described[side])}"' for side in ("width", "height") if side in described)
    caption = str(described.get("caption") or "")
    below = f"<figcaption>{escape(typeset(caption), quote=False)}</figcaption>" if caption else ""
    image = f'<img alt="{escape(alt)}"{size} src="data:{kind};base64,{content}">'
    return f"<figure>{image}{below}</figure>"


def beside(payload: dict[str, Any], reference: dict[str, Any]) -> Iterator[str]:
    """Yield the reference results, folded, beside one simulated output; of print, those of the same numbers."""
    name, recorded, table = payload.get("name", "comparison with print"), reference["recorded"], ""
    if payload["kind"] == "record" and name in recorded:
        table = markup.table(recorded[name], caption=name.replace("_", " "))
    elif payload["kind"] == "published":
        shown = {(row["item"], row["cell"]) for row in payload["rows"]}
        judged = [row for row in reference["published"] if (row["item"], row["cell"]) in shown]
        table = markup.sanitised(tables.comparison(judged, caption=name)) if judged else ""
    if table:
        title = f"Computed earlier, on the real data: {escape(name.replace('_', ' '))}"
        signature = f'<p class="signature"><code>{escape(reference["signature"], quote=False)}</code></p>'
        yield f'<div class="reference"><details><summary>{title}</summary>{table}{signature}</details></div>'


def printed(text: Any, *, kind: str = "stdout") -> str:
    """Show plain text of a stream, without a terminal's colours."""
    return f'<pre class="{escape(kind)}">{escape(strip_ansi(text).rstrip(), quote=False)}</pre>'


def pages() -> Environment:
    """Return the environment for pages; it escapes everything, and knows their style and policy."""
    made = Environment(loader=FileSystemLoader(TEMPLATE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"typeset": typeset, "highlighted": Highlight2HTML()}
    made.globals |= {"css": STYLESHEET, "policy": POLICY}
    return made


def feedback(name: str, told: list[Feedback]) -> str:
    """Return the page for one annotator: own habits beside the others', and items to look at again."""
    parts = []
    for one in told:
        drawn = figures.histogram(one.scores, x="score", series="whose", title="How scores are spread", xlabel="score")
        data, described = pictures.picture(drawn, caption="All scores, on 0 to 100")
        shown = figure("image/png", data["image/png"], described["image/png"])
        parts.append((one, one.habits.map(_in_digits), shown))
    template = pages().get_template("feedback.html.j2")
    return template.render(name=name, parts=parts, table=tables.markup, headings=FOR_THEM)


def _in_digits(value: Any) -> str:
    """Write a number of a row of its own kind: counts whole, shares with two decimals, a dash for a gap."""
    if isinstance(value, str):
        return value
    return "–" if value != value else typeset(f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}")


_HEADING = re.compile(r"^(#{1,6})\s", flags=re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)


def level(cell: Any) -> int:
    """Return the level of a cell's first heading, 0 where it has none.

    >>> level({"cell_type": "markdown", "source": "### Why?"}), level({"cell_type": "code", "source": "# why"})
    (3, 0)
    """
    if cell["cell_type"] != "markdown":
        return 0
    found = _HEADING.search(_FENCED.sub("", cell["source"]))
    return len(found[1]) if found else 0


def end(cells: list[Numbered], start: int) -> int:
    """Return the place after the last cell of the section that begins at ``start``."""
    own = level(cells[start][1])
    after = range(start + 1, len(cells))
    return next((place for place in after if 0 < level(cells[place][1]) <= own), len(cells))


def with_results(cells: Iterable[Numbered]) -> list[Numbered]:
    """Leave out sections tagged ``if-shown`` whose code shows nothing: a page has no section for what data lack."""
    sections: list[list[Numbered]] = []
    for one in cells:
        if one[1]["cell_type"] == "markdown" or not sections:
            sections.append([])
        sections[-1].append(one)
    empty = ["if-shown" in notebooks.tags(own[0][1]) and not any(c.get("outputs") for _, c in own) for own in sections]
    return [one for own, gone in zip(sections, empty, strict=True) if not gone for one in own]


def arranged(cells: list[Numbered]) -> tuple[list[Numbered], list[Numbered], list[list[Numbered]]]:
    """Return the cells of the first page, those of the argument, and the sections tagged ``back``, in their order."""
    first = shown_first(cells)
    rest = [one for one in cells if "first-page" not in notebooks.tags(one[1])]
    argument: list[Numbered] = []
    back: list[list[Numbered]] = []
    while rest:
        moves = level(rest[0][1]) > 1 and "back" in notebooks.tags(rest[0][1])
        section, rest = (rest[: end(rest, 0)], rest[end(rest, 0) :]) if moves else (rest[:1], rest[1:])
        if moves:
            back.append(section)
        else:
            argument += section
    return first, argument, back


def shown_first(cells: list[Numbered]) -> list[Numbered]:
    """Return the cells tagged ``first-page``, in the order in which they are read.

    One tagged ``early`` as well runs before what takes long, so that a person at work soon sees the figure; on the
    page it stands after the first of the other code cells, which says what to do.
    """
    first = [one for one in cells if "first-page" in notebooks.tags(one[1])]
    early = [one for one in first if "early" in notebooks.tags(one[1])]
    others = [one for one in first if "early" not in notebooks.tags(one[1])]
    place = next((place for place, (_, cell) in enumerate(others, start=1) if cell["cell_type"] == "code"), len(others))
    return [*others[:place], *early, *others[place:]]
