"""HTML from prose, from tables of values, and from other people's HTML, each made safe for a page without scripts.

Tables stand in boxes: what is wide scrolls by itself and can be reached by keyboard, what is long is folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

from bleach.html5lib_shim import Filter
from bleach.sanitizer import Cleaner
from latex2mathml.converter import convert
from nbconvert.filters import strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from evalkit import DataError
from evalkit.show.style import typeset
from evalkit.show.tables import SHOWN, SLACK
from evalkit.stats import terms

VERDICTS = ("match", "differs", "not reproducible")
LONGEST_WORD = 36  # characters; a table cell with more is a sentence and may wrap
#: Columns from which on a table's cells wrap; in print its sheet turns; and its letters shrink.
WIDE = {"broad": 9, "turn": 10, "shrink": 16}


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
    rows = body_rows(tokens)
    number = sum(not is_note for _, is_note in rows)
    inner = element("div", tokens, **box_of(scoped(tokens), caption))
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


def scoped(tokens: list[Any]) -> int:
    """Give header cells their scope and cells their class; return the number of columns."""
    columns = 0
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
                columns = max(columns, place + 1)
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


def box_of(columns: int, caption: str) -> dict[str, str]:
    """Return the attributes of a table's box, which scrolls by itself, so that a keyboard must reach it.

    >>> box_of(10, "Scores")["class"]
    'scroll broad turn'
    """
    classes = ["scroll", *(name for name, least in WIDE.items() if columns >= least)]
    return {"class": " ".join(classes), "role": "group", "tabindex": "0", "aria-label": caption}


def cell_class(text: str) -> str:
    """Return the class of a table cell that needs one: long texts may wrap, pairs never, verdicts carry a sign.

    >>> cell_class("not reproducible"), cell_class("eng-jpn")
    ('not-reproducible', 'pair')
    """
    if re.fullmatch("[a-z]{3}-[a-z]{3}", text):
        return "pair"
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
    columns = max(len(re.findall(r"<t[hd][ >]", row)) for row in html.split("</tr>"))
    box = "".join(f' {key}="{value}"' for key, value in box_of(columns, "Table").items())
    return f"<div{box}>{head}<tbody>{body}</div>" if body else html


WORDS = """
    table caption colgroup col thead tbody tfoot tr th td figure figcaption section article aside details summary div p
    span br hr code pre samp kbd strong b em i small sub sup mark abbr ul ol li dl dt dd blockquote h2 h3 h4 h5
"""
TAGS = frozenset(WORDS.split())
ATTRIBUTES = ["class", "scope", "colspan", "rowspan", "id", "role", "tabindex", "aria-label", "aria-hidden", "title"]
CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3, "mroot": 2}
MATHML = "{http://www.w3.org/1998/Math/MathML}"


#: An element with its attributes, and those by which TeX such as \\href would lead elsewhere, or dress like the page.
_ELEMENT = re.compile(r'(<\w+)((?:\s+[\w:-]+="[^"]*")+)')
_LEADS = re.compile(r'\s+(?:href|style|class|id)="[^"]*"')


_NOTEBOOK = re.compile(r"([A-Za-z_]\w*)\.ipynb(?:#(.*))?")


def slug(words: str) -> str:
    """Make an id of a heading's words.

    >>> slug("Does a shift carry over?")
    'does-a-shift-carry-over'
    """
    return re.sub(r"[^\w]+", "-", words.lower()).strip("-")


def on_page(url: str) -> str:
    """Return where a link of a notebook leads to on a page; JupyterLab takes it as it is, to a heading's own words.

    >>> on_page("#Does-a-shift-carry-over?"), on_page("https://example.org/a.ipynb#B")
    ('#does-a-shift-carry-over', 'https://example.org/a.ipynb#B')
    >>> on_page("study_planner.ipynb"), on_page("study_planner.ipynb#What-it-costs")
    ('index.html#study_planner', 'index.html#study_planner.what-it-costs')
    """
    if url.startswith("#"):
        return f"#{slug(unquote(url))}"
    if found := _NOTEBOOK.fullmatch(url):
        section = slug(unquote(found[2] or ""))
        return f"index.html#{found[1]}" + (f".{section}" if section else "")
    return url


class Names:
    """The ids of a page's headings, each once, and its sections (headings of level 2) for the table of contents."""

    def __init__(self) -> None:
        self.taken: set[str] = set()
        self.sections: list[tuple[str, str]] = []
        self.lift = 0  # by how many levels the headings of the cell at hand rise

    def name(self, level: int, html: str) -> str:
        """Return an id for a heading, made from its words."""
        words = re.sub(r"<(math|annotation)\b.*?</\1>|<[^>]+>", "", html, flags=re.DOTALL)
        stem = slug(unescape(words)) or "section"
        number, name = 1, stem
        while name in self.taken:
            number += 1
            name = f"{stem}-{number}"
        self.taken.add(name)
        if level == 2:
            self.sections.append((name, html))
        return name


class Renderer(IPythonRenderer):
    """Markdown to HTML with MathML for TeX, ids for headings, and raw HTML shown as text."""

    def __init__(self, names: Names, attachments: Any) -> None:
        super().__init__(escape=True, allow_harmful_protocols=False, exclude_anchor_links=True, attachments=attachments)
        self.names = names

    def heading(self, text: str, level: int, **_: Any) -> str:
        """Return a heading that can be linked to."""
        level = max(level - self.names.lift, min(level, 2))
        return f'<h{level} id="{escape(self.names.name(level, text))}">{text}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Return a link; one to a heading or to another study's notebook leads to where a page has it."""
        return super().link(text, on_page(url), title)

    def text(self, text: str) -> str:
        """Return words with their numbers set as on all of the page; code and formulas are no words."""
        return super().text(typeset(text))

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return an attached image; DataError for one from elsewhere or without alternative text."""
        if not url.startswith("attachment:"):
            raise DataError(f"the image {url} lies outside the notebook. Attach it, or draw it in a code cell.")
        if not text.strip():
            raise DataError("an image has no alternative text. Write it between the square brackets.")
        return super().image(text, url, title)

    def inline_math(self, body: str) -> str:
        """Return TeX inside a sentence as MathML."""
        return mathml(body, display="inline")

    def block_math(self, body: str) -> str:
        """Return displayed TeX as MathML in a box that scrolls by itself."""
        box = '<span class="equation" role="group" tabindex="0" aria-label="Equation">'
        return f"{box}{mathml(body, display='block')}</span>"

    def latex_environment(self, name: str, body: str) -> str:
        """Return a LaTeX environment as displayed MathML."""
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")


def prose(source: str, names: Names, *, attachments: Any = None) -> str:
    """Return a Markdown cell as HTML; DataError for TeX that cannot be typeset and for images from elsewhere."""
    return prose_tables(MarkdownWithMath(renderer=Renderer(names, attachments)).render(source))


@lru_cache(maxsize=1000)
def mathml(tex: str, *, display: str) -> str:
    """Return TeX as MathML without links; DataError where an unknown command or a missing part would leave it wrong."""
    try:
        html = convert(tex.strip(), display=display)
        root = ElementTree.fromstring(html.replace(">&<", ">&amp;<"))
    except Exception as problem:  # the converter has a dozen exception classes, and plain ones beside them
        raise DataError(f"the TeX {tex.strip()!r} cannot be typeset ({type(problem).__name__}). Correct it.") from None
    for element in root.iter():
        wanted = CHILDREN.get(element.tag.removeprefix(MATHML))
        word = (element.text or "").strip()
        stray = word in ("{", "}", "&") and not element.get("fence")  # the brace of a case distinction is a fence
        if wanted not in (None, len(element)) or word.startswith("\\") or stray:
            raise DataError(f"the TeX {tex.strip()!r} has an unknown command or a missing part. Correct it.")
    html = _ELEMENT.sub(lambda found: found[1] + _LEADS.sub("", found[2]), html)
    return html.replace("&#x0007E;", "&#x0223C;")  # the relation "distributed as", not the key on a keyboard


def sanitised(html: str) -> str:
    """Return HTML with only harmless elements and attributes; anything else appears as text.

    >>> sanitised('<p onclick="x()">a<script>b</script></p>')
    '<p>a&lt;script&gt;b&lt;/script&gt;</p>'
    """
    html = re.sub(r"<style\b[^>]*>.*?</style>", "", html, flags=re.DOTALL | re.IGNORECASE)  # pandas sends one along
    return Cleaner(tags=TAGS, attributes=ATTRIBUTES, filters=[Tables]).clean(html)


def plain(text: str) -> str:
    """Return terminal text without its colour codes."""
    return strip_ansi(text if isinstance(text, str) else "".join(text)).rstrip("\n")


def table(value: Any, *, caption: str) -> str:
    """Return recorded values as an HTML table: a list of rows, a mapping, or a single value."""
    match value:
        case [{}, *_]:
            columns = list(dict.fromkeys(name for row in value for name in row))
            head = "".join(
                f'<th scope="col"{numeric(value, name)}>{text(terms.display_name(str(name)))}</th>' for name in columns
            )
            kinds = {name: numeric(value, name) for name in columns}
            rows = ["".join(f"<td{kinds[name]}>{text(row.get(name))}</td>" for name in columns) for row in value]
        case {}:
            head = ""
            pairs = [(text(terms.display_name(str(name))), text(each)) for name, each in value.items()]
            rows = [f'<th scope="row">{name}</th><td class="num">{each}</td>' for name, each in pairs]
        case _:
            return f"<p><strong>{text(caption)}</strong>: {text(value)}</p>"
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return sanitised(f"<table><caption>{text(typeset(caption))}</caption>{top}<tbody>{body}</tbody></table>")


def numeric(rows: list[dict[str, Any]], name: str) -> str:
    """Return the class of a column that holds numbers."""
    numbers = [isinstance(row[name], (int, float)) for row in rows if row.get(name) is not None]
    return ' class="num"' if numbers and all(numbers) else ""


def text(value: Any) -> str:
    """Return one value as escaped text: floats to four significant digits, a gap as a dash.

    >>> text(0.123456), text(None), text("<b>"), text(True)
    ('0.1235', '–', '&lt;b&gt;', 'yes')
    """
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case float() | int():
            return typeset(f"{value:.4g}" if isinstance(value, float) else str(value))
        case list():
            return ", ".join(text(each) for each in value)
    return escape(str(value), quote=False)
