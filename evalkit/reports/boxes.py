"""Boxes around tables: what is wide scrolls by itself and can be reached by keyboard, what is long is folded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from bleach.html5lib_shim import Filter

from evalkit.show.tables import SHOWN, SLACK

VERDICTS = ("match", "differs", "not reproducible")
LONGEST_WORD = 36  # characters; a table cell with more is a sentence and may wrap
#: CSS pixels: of a letter in a table, of the gap between two columns, and of what a phone and a desktop have room for.
LETTER, GAP, PHONE, DESKTOP = 8.3, 12, 350, 940
#: The same for a printed sheet, upright and turned, whose letters of 8 points are smaller than those of a screen.
UPRIGHT, TURNED = 920, 1360
#: How far a guess may fall short on a phone: rather a stop too many than a table that no keyboard scrolls.
SPARE = 25
#: CSS pixels that a column of sentences takes at least.
SENTENCES = {PHONE: 150, DESKTOP: 224, UPRIGHT: 110, TURNED: 110}


class Tables(Filter):
    """Give tables what their readers need: header cells with a scope, and a box that folds and scrolls by itself."""

    def __iter__(self) -> Any:
        held: list[Any] | None = None
        for token in super().__iter__():
            start, end = token["type"] == "StartTag", token["type"] == "EndTag"
            if start and token["name"] == "table" and held is None:
                held = []
            if held is None:
                yield token
                continue
            held.append(token)
            if end and token["name"] == "table":
                yield from boxed(held)
                held = None
        yield from held or ()


def boxed(tokens: list[Any]) -> list[Any]:
    """Return a table's tokens inside its box, with a scope on each header cell and a fold where it is long."""
    caption = "".join(words(part) for part in elements(tokens, "caption")).strip() or "Table"
    columns = scoped(tokens)
    rows = body_rows(tokens)
    number = sum(not is_note for _, is_note in rows)
    box, stop = focus(columns, caption)
    inner = element("div", [*(element("span", [], **stop) if stop else ()), *tokens], **box)
    if number <= SHOWN + SLACK:
        return inner
    hide(rows)
    tick = {**tag("input", type="checkbox", autocomplete="off"), "type": "EmptyTag"}
    label = {"type": "Characters", "data": f" Show all {number:,} rows"}
    printed = [{"type": "Characters", "data": f"The first {SHOWN} of {number:,} rows."}]
    switch = element("label", [tick, label], **{"class": "all"})
    return element("div", [*inner, *switch, *element("p", printed, **{"class": "printed"})], **{"class": "long"})


def tag(name: str, **attributes: str) -> dict[str, Any]:
    """Return the token that opens an element."""
    data = {(None, key): value for key, value in attributes.items()}
    return {"type": "StartTag", "name": name, "namespace": None, "data": data}


def element(name: str, tokens: list[Any], **attributes: str) -> list[Any]:
    """Return the tokens of an element around others."""
    return [tag(name, **attributes), *tokens, {"type": "EndTag", "name": name, "namespace": None, "data": {}}]


def elements(tokens: list[Any], *names: str) -> Iterator[list[Any]]:
    """Yield the tokens of each element with one of these names, from its opening to its closing tag."""
    held: list[Any] = []
    for token in tokens:
        if held or (token["type"] == "StartTag" and token["name"] in names):
            held.append(token)
        if held and token["type"] == "EndTag" and token["name"] == held[0]["name"]:
            yield held
            held = []


def words(tokens: list[Any]) -> str:
    """Return the text of some tokens."""
    texts = ("Characters", "SpaceCharacters", "Entity")
    return "".join(token.get("data") or "&" for token in tokens if token["type"] in texts)


def scoped(tokens: list[Any]) -> list[list[str]]:
    """Give header cells their scope and cells their class; return the texts of each column."""
    columns: list[list[str]] = []
    for part in elements(tokens, "thead", "tbody", "tfoot"):
        for row in elements(part, "tr"):
            for place, cell in enumerate(elements(row, "td", "th")):
                text, data = words(cell).strip(), cell[0]["data"]
                if not text and part[0]["name"] == "thead":  # the corner of a table is no header
                    cell[0]["name"] = cell[-1]["name"] = "td"
                if cell[0]["name"] == "th":
                    data.setdefault((None, "scope"), "col" if part[0]["name"] == "thead" else "row")
                classes = " ".join(filter(None, [data.get((None, "class"), ""), cell_class(text)]))
                if classes and part[0]["name"] != "thead":
                    data[(None, "class")] = classes
                if (None, "colspan") not in data:
                    columns += [[] for _ in range(place + 1 - len(columns))]
                    columns[place].append(text)
    return columns


def body_rows(tokens: list[Any]) -> list[tuple[Any, bool]]:
    """Return the tag that opens each row of a table's body, and whether the row is a note on those below it."""
    rows = [row[0] for body in elements(tokens, "tbody") for row in elements(body, "tr")]
    return [(row, row["data"].get((None, "class")) == "note") for row in rows]


def hide(rows: list[tuple[Any, bool]]) -> None:
    """Mark the rows after those shown at once, and the notes above them."""
    count = 0
    for row, is_note in rows:
        if count >= SHOWN:
            row["data"][(None, "class")] = "note later" if is_note else "later"
        count += not is_note


def focus(columns: list[list[str]], caption: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the attributes of a table's box, and of what a keyboard stops at inside it, empty where nothing is needed.

    A table that is too wide for a desktop wraps its cells, and its box is a stop where even that does not help. One
    that is too wide for a phone only has a stop that styles take away where there is room: no script looks.
    """
    named = {"role": "group", "tabindex": "0", "aria-label": caption}
    style = {"class": " ".join(["scroll", *wide(columns)])}
    if width(columns, DESKTOP) > DESKTOP:
        return style | named, {}
    return style, {"class": "stop"} | named if width(columns, PHONE) > PHONE - SPARE else {}


def wide(columns: list[list[str]]) -> list[str]:
    """Return the classes of a wide table's box: its cells wrap, in print its sheet turns, at last its letters shrink.

    >>> wide([["short"] * 3] * 5), wide([["name of a system"] * 3] * 8), wide([["measured"] * 3] * 30)
    ([], ['broad'], ['broad', 'turn', 'shrink'])
    """
    needs = {
        "broad": width(columns, DESKTOP, whole=True) > DESKTOP,
        "turn": width(columns, UPRIGHT) > UPRIGHT,
        "shrink": width(columns, TURNED) > TURNED,
    }
    return [name for name, needed in needs.items() if needed]


def width(columns: list[list[str]], screen: int, *, whole: bool = False) -> float:
    """Guess the least width of a table in CSS pixels: words cannot be broken, sentences take a width of their own.

    whole: cells that are no sentences stay on one line.

    >>> width([["system", "A"], ["n", "12"]], PHONE) < PHONE < width([["a word"] * 3] * 40, PHONE)
    True
    """
    total = 0.0
    for texts in columns:
        short = [text for text in texts if len(text) <= LONGEST_WORD]
        parts = short if whole else [word for text in texts for word in re.split(r"[\s-]", text)]
        longest = max(map(len, parts), default=0)
        total += max(longest * LETTER, SENTENCES[screen] if len(short) < len(texts) else 0) + GAP
    return total


def cell_class(text: str) -> str:
    """Return the class of a table cell that needs one: long texts may wrap, verdicts carry a sign.

    >>> cell_class("not reproducible"), cell_class("eng-jpn")
    ('not-reproducible', '')
    """
    if text in VERDICTS:
        return text.replace(" ", "-")
    return "text" if len(text) > LONGEST_WORD else ""


def prose_tables(html: str) -> str:
    """Put the tables of prose into boxes; their first column names the rows."""
    return re.sub(r"<table>.*?</table>", lambda found: _prose_table(found[0]), html, flags=re.DOTALL)


def _prose_table(html: str) -> str:
    head, _, body = html.partition("<tbody>")
    several = len(re.findall(r"<th[ >]", head)) > 1
    head = re.sub(r"<th[^>]*>\s*</th>", "<td></td>", head)  # the corner of a table is no header
    head = re.sub(r"<th(?=[ >])", '<th scope="col"', head)
    if several:
        body = re.sub(r"<tr>\s*<td([^>]*)>(.*?)</td>", r'<tr><th scope="row"\1>\2</th>', body, flags=re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL)
    cells = [[_text(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)] for row in rows]
    columns = [[row[place] for row in cells if place < len(row)] for place in range(max(map(len, cells), default=0))]
    box, stop = ("".join(f' {key}="{value}"' for key, value in made.items()) for made in focus(columns, "Table"))
    return f"<div{box}>{f'<span{stop}></span>' if stop else ''}{head}<tbody>{body}</div>" if body else html


def _text(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html)).strip()
