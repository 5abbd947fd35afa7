"""Links from one report to another: they lead over the index, so that none is dead where a report was not made.

A report says the same bytes whatever else is in its folder, so it cannot know which others are there. The index, made
anew by every run, knows: it has an anchor for each study and section that a report in the folder refers to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from urllib.parse import unquote

_NOTEBOOK = re.compile(r"([A-Za-z_]\w*)\.ipynb(?:#(.*))?")
_REFERENCE = re.compile(r'href="index\.html#([A-Za-z_]\w*)(?:\.([\w-]+))?"')


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


def referred(pages: Iterable[Path]) -> dict[str, set[str]]:
    """Return the studies that pages refer to, and the sections of each."""
    found: dict[str, set[str]] = {}
    for page in pages:
        for study, section in _REFERENCE.findall(page.read_text(encoding="utf-8", errors="replace")):
            found.setdefault(study, set()).update({section} - {""})
    return found


def sections(page: Path, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return id and words of the named sections of a page, in its order; last, and with no words, what it lacks."""
    wanted = set(names)
    headings = re.findall(
        r'<h[2-6] id="([^"]+)">(.*?)</h[2-6]>', page.read_text(encoding="utf-8", errors="replace"), flags=re.DOTALL
    )
    found = {name: unescape(re.sub(r"<[^>]+>", "", html)) for name, html in headings if name in wanted}
    return [*found.items(), *((name, "") for name in sorted(wanted - found.keys()))]
