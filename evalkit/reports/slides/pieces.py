"""What of a lesson goes on slides, piece by piece: prose, exercises to fill in, tables, figures, computed sentences.

Other code, and what checks say of empty exercises, stay in the notebook.
"""

from __future__ import annotations

import base64
import itertools
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from typing import Any

from evalkit.reports import markup, notebooks
from evalkit.show import MIME

#: Lines that a slide has room for, of about so many letters each.
ROOM, LETTERS, _CODE = 17.0, 84, 68
_HIGH = {"h1": 2.6, "h2": 1.9, "h3": 1.5, "figure": ROOM - 3.5}
_VOID = {"br", "hr", "img", "col", "wbr", "input"}
_WIDTH = 32.0  # of a slide, in lines
_FLAT = 2.0  # a figure so many times as wide as high has its words above and below, not beside
_BROAD = 9  # columns of a table from which on its letters are smaller
_ROWS = 9  # of a table; the notebook has the others


@dataclass(frozen=True)
class Piece:
    """A block of HTML.

    level: of a heading, else 0. lines: about how high it is. source: name and kind, of the data that the pieces after
    it rest on; such a piece shows nothing.
    """

    html: str
    level: int = 0
    lines: float = 1.0
    source: tuple[str, str] | None = None


def pieces(cell: Any) -> Iterator[Piece]:
    """Yield the pieces of one executed cell."""
    tags = notebooks.tags(cell)
    if cell["cell_type"] == "markdown":
        html = markup.prose(notebooks.source(cell), markup.Names(), attachments=cell.get("attachments"))
        for block in blocks(html):
            yield from prose(block)
    elif "exercise" in tags:
        code = notebooks.source(cell)
        yield Piece(f"<pre><code>{escape(code, quote=False)}</code></pre>", lines=code_height(code))
    elif not {"check", "parameters"} & set(tags):
        for output in cell.get("outputs", []):
            yield from shown(output)


def prose(block: str) -> Iterator[Piece]:
    """Yield a block of prose; long lists item by item, long tables row by row up to a few, ids left out."""
    block = re.sub(r'(<h[1-6]) id="[^"]*"', r"\1", block)
    tag = _tag(block)
    if tag in ("ul", "ol"):
        start = 1
        for item in blocks(block[block.index(">") + 1 : block.rindex("</")]):
            number = f' start="{start}"' if tag == "ol" else ""
            yield Piece(f"<{tag}{number}>{item}</{tag}>", lines=height(item))
            start += 1
        return
    level = int(tag[1]) if re.fullmatch(r"h[1-6]", tag) else 0
    yield Piece(block, level, height(block))


def shown(output: Any) -> Iterator[Piece]:
    """Yield what a slide shows of an output."""
    data = output.get("data") or {}
    if (payload := data.get(MIME, {})).get("kind") == "source":
        yield Piece("", lines=0.0, source=(payload["name"], payload["source"]))
        return
    kind = next((kind for kind in ("image/svg+xml", "image/png") if kind in data), None)
    if kind:
        html, ratio = figure(kind, data[kind], output["metadata"].get(kind, {}))
        yield Piece(html, lines=min(_HIGH["figure"], _WIDTH / ratio + 1.6))
    elif "text/html" in data:
        html = "".join(data["text/html"])
        if 'class="alternative"' in html:
            return
        for block in blocks(markup.sanitised(html)):
            short = shortened(block)
            if short.partition("</tr>")[0].count("<th") >= _BROAD:
                short = f'<div class="broad">{short}</div>'
            yield Piece(short, lines=height(short))


def figure(kind: str, content: Any, described: dict[str, Any]) -> tuple[str, float]:
    """Return a figure with its caption and alternative text, and its width over its height (1.5 if not known)."""
    text = content if isinstance(content, str) else "".join(content)
    encoded = base64.b64encode(text.encode()).decode() if kind == "image/svg+xml" else re.sub(r"\s", "", text)
    size, wide, high = "", 3, 2
    if kind == "image/png":
        wide, high = struct.unpack(">II", base64.b64decode(encoded[:32])[16:24])
        size = f' width="{wide}" height="{high}"'
    caption = f"<figcaption>{escape(str(described.get('caption', '')), quote=False)}</figcaption>"
    alt = escape(str(described.get("alt", "")))
    shape = ' class="wide"' if wide / high >= _FLAT else ""
    return f'<figure{shape}><img alt="{alt}"{size} src="data:{kind};base64,{encoded}">{caption}</figure>', wide / high


def blocks(html: str) -> list[str]:
    """Cut HTML into its outermost elements, and text between them.

    >>> blocks("<p>a <b>b</b></p>\\n<ul><li>c</li></ul>")
    ['<p>a <b>b</b></p>', '<ul><li>c</li></ul>']
    """
    cutter = _Cutter(html)
    cutter.feed(html)
    cutter.close()
    ends = [0, *cutter.ends, len(html)]
    return [part for start, end in itertools.pairwise(ends) if (part := html[start:end].strip())]


class _Cutter(HTMLParser):
    """Notes where outermost elements end."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self.html, self.depth, self.ends = html, 0, list[int]()
        lines = html.split("\n")
        self.starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Go down one level; what closes itself ends here."""
        self.depth += tag not in _VOID
        if tag in _VOID and self.depth == 0:
            self.ends.append(self._place() + len(self.get_starttag_text() or ""))

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        """An element without content."""

    def handle_endtag(self, tag: str) -> None:
        """Go up one level, and note the end of an outermost element."""
        self.depth -= tag not in _VOID
        if self.depth == 0:
            self.ends.append(self.html.index(">", self._place()) + 1)

    def _place(self) -> int:
        line, column = self.getpos()
        return self.starts[line - 1] + column


def shortened(table: str) -> str:
    """Leave out rows of a long table, and say how many."""
    head, body, tail = table.partition("<tbody>")
    rows = re.findall(r"<tr\b.*?</tr>", tail, re.DOTALL)
    if not body or len(rows) <= _ROWS + 1:
        return table
    width = max(len(re.findall(r"<t[hd]\b", row)) for row in rows)
    more = f'<tr><td colspan="{width}">… and {len(rows) - _ROWS} more rows in the notebook</td></tr>'
    after = tail[tail.index("</tbody>") :]
    return head + body + "".join(rows[:_ROWS]) + more + after


def height(block: str) -> float:
    """Say about how many lines of a slide a block takes."""
    tag = _tag(block)
    if tag in _HIGH:
        return _HIGH[tag]
    if "<table" in block:
        return 2.6 + 1.05 * sum(_row(row) for row in re.findall(r"<tr\b.*?</tr>", block, re.DOTALL))
    if tag == "pre":
        return code_height(_words(block))
    lines = -(-len(_words(block)) // LETTERS)
    return max(1, lines) + (2.0 if 'display="block"' in block else 0.0) + 0.55


def code_height(code: str) -> float:
    """Say about how many lines of a slide some lines of code take, long ones broken."""
    return 1.3 + 0.9 * sum(max(1, -(-len(line) // _CODE)) for line in code.split("\n"))


def _row(row: str) -> float:
    """Say how many lines a row takes: as many as its longest cell."""
    cells = re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL)
    room = max(8, 104 // max(1, len(cells)))
    return max((max(1, -(-len(_words(cell)) // room)) for cell in cells), default=1)


def _words(html: str) -> str:
    text = re.sub(r"<annotation\b.*?</annotation>", "", html, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", "", text)


def _tag(block: str) -> str:
    found = re.match(r"<(\w+)", block)
    return found[1].lower() if found else ""
