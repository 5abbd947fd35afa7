"""HTML from prose, from tables of values, and from other people's HTML, each made safe for a page without scripts."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import Any
from xml.etree import ElementTree

from bleach.sanitizer import Cleaner
from latex2mathml.converter import convert
from nbconvert.filters import strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from evalkit import DataError
from evalkit.reports import links
from evalkit.reports.boxes import Tables, prose_tables
from evalkit.reports.links import slug
from evalkit.show.style import typeset
from evalkit.stats import terms

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
        return super().link(text, links.on_page(url), title)

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
