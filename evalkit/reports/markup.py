"""HTML from prose, from tables of values, and from other people's HTML, each made safe for a page without scripts.

Tables stand in boxes: what is wide scrolls by itself and can be reached by keyboard, what is long is folded.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from itertools import chain, count
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pandas as pd
from bleach.sanitizer import Cleaner
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from evalkit import DataError
from evalkit.show import tables
from evalkit.show.style import typeset
from evalkit.stats import terms


def prose_tables(html: str, mark: str = "") -> str:
    """Put the tables of prose into boxes; their first column names the rows. mark: what stands in the tables' tags."""
    return re.sub(rf"<table{mark}>.*?</table>", lambda found: _prose_table(found[0]), html, flags=re.DOTALL)


def _prose_table(html: str) -> str:
    head, _, body = html.partition("<tbody>")
    several = len(re.findall(r"<th[ >]", head)) > 1
    head = re.sub(r"<th[^>]*>\s*</th>", "<td></td>", head)  # the corner of a table is no header
    head = re.sub(r"<th(?=[ >])", '<th scope="col"', head)
    if several:
        body = re.sub(r"<tr>\s*<td([^>]*)>(.*?)</td>", r'<tr><th scope="row"\1>\2</th>', body, flags=re.DOTALL)
    return tables.boxed(f"{head}<tbody>{body}", "Table", rows=0) if body else html


WORDS = """
    table caption colgroup col thead tbody tfoot tr th td figure figcaption section article aside details summary div p
    span br hr code pre samp kbd strong b em i small sub sup mark abbr ul ol li dl dt dd blockquote h2 h3 h4 h5 label
    input
"""
TAGS = frozenset(WORDS.split())
ATTRIBUTES = ["class", "scope", "colspan", "rowspan", "id", "role", "tabindex", "aria-label", "aria-hidden", "title"]
ATTRIBUTES += ["type", "autocomplete"]  # of the switch that shows all rows of a table
CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3, "mroot": 2}
MATHML = "{http://www.w3.org/1998/Math/MathML}"


#: An element with its attributes, and those by which TeX such as \\href would lead elsewhere, or dress like the page.
_ELEMENT = re.compile(r'(<\w+)((?:\s+[\w:-]+="[^"]*")+)')
_LEADS = re.compile(r'\s+(?:href|style|class|id)="[^"]*"')


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
    >>> on_page("study_planner.ipynb#What-it-costs")
    'index.html#study_planner'
    """
    if url.startswith("#"):
        return f"#{slug(unquote(url))}"
    return re.sub(r"^([A-Za-z_]\w*)\.ipynb(#.*)?$", r"index.html#\1", url)


class Names:
    """The ids of a page's headings, each once, and its sections (headings of level 2) for the table of contents.

    title: as HTML; where there is none, the first heading of level 1 becomes it, and stands nowhere else.
    """

    def __init__(self, title: str = "") -> None:
        self.title = title
        self.taken: set[str] = set()
        self.sections: list[tuple[str, str]] = []
        self.lift = 0  # by how many levels the headings of the cell at hand rise

    def name(self, level: int, html: str) -> str:
        """Return an id for a heading, made from its words."""
        words = re.sub(r"<(math|annotation)\b.*?</\1>|<[^>]+>", "", html, flags=re.DOTALL)
        stem = slug(unescape(words)) or "section"
        numbered = chain([stem], (f"{stem}-{number}" for number in count(2)))
        self.taken.add(name := next(name for name in numbered if name not in self.taken))
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
        if level == 1 and not self.names.title:
            self.names.title = text
            return ""
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
    cleaned = Cleaner(tags=TAGS, attributes=ATTRIBUTES).clean(html)
    return prose_tables(cleaned, ' class="dataframe"')  # as pandas shows a frame


def table(value: Any, *, caption: str) -> str:
    """Return recorded values as an HTML table: a list of rows, a mapping, or a single value."""
    if isinstance(value, dict):
        value = [{"what": terms.display_name(str(name)), "value": each} for name, each in value.items()]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        flat = pd.DataFrame(value).map(lambda cell: ", ".join(map(str, cell)) if isinstance(cell, list) else cell)
        return sanitised(tables.markup(flat, caption=caption, digits=3))
    return f"<p><strong>{escape(caption)}</strong>: {escape(str(value))}</p>"
