"""The order of a page's cells: the answer first, the argument, and at the end what only some readers open.

A section is a Markdown cell with a heading of level 2 or 3 and all cells up to the next heading of the same or a higher
level. Tags on the cell that opens it say what becomes of it: ``fold`` folds it in its place, ``back`` folds and moves
it to the end of the page, ``if-shown`` leaves it out where its code shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from evalkit.reports import notebooks

#: A cell with the number that its author counts it by.
Numbered = tuple[int, Any]
_HEADING = re.compile(r"^(#{1,6})\s", flags=re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)


def level(cell: Any) -> int:
    """Return the level of a cell's first heading, 0 where it has none.

    >>> level({"cell_type": "markdown", "source": "### Why?"}), level({"cell_type": "code", "source": "# why"})
    (3, 0)
    """
    if cell["cell_type"] != "markdown":
        return 0
    found = _HEADING.search(_FENCED.sub("", notebooks.source(cell)))
    return len(found[1]) if found else 0


def end(cells: list[Numbered], start: int) -> int:
    """Return the place after the last cell of the section that begins at ``start``."""
    own = level(cells[start][1])
    after = range(start + 1, len(cells))
    return next((place for place in after if 0 < level(cells[place][1]) <= own), len(cells))


def with_results(cells: Iterable[Numbered]) -> list[Numbered]:
    """Leave out sections tagged ``if-shown`` whose code shows nothing: a page has no section for what data lack."""
    kept: list[Numbered] = []
    section: list[Numbered] = []
    for number, cell in [*cells, (0, {"cell_type": "markdown", "source": ""})]:
        if cell["cell_type"] == "markdown":
            optional = bool(section) and "if-shown" in notebooks.tags(section[0][1])
            if not optional or any(one.get("outputs") for _, one in section):
                kept += section
            section = []
        section.append((number, cell))
    return kept


def arranged(cells: list[Numbered]) -> tuple[list[Numbered], list[Numbered], list[list[Numbered]]]:
    """Return the cells of the first page, those of the argument, and the sections tagged ``back``, in their order."""
    first = shown_first(cells)
    rest = [one for one in cells if "first-page" not in notebooks.tags(one[1])]
    argument: list[Numbered] = []
    back: list[list[Numbered]] = []
    place = 0
    while place < len(rest):
        after = place + 1
        if level(rest[place][1]) > 1 and "back" in notebooks.tags(rest[place][1]):
            after = end(rest, place)
            back.append(rest[place:after])
        else:
            argument.append(rest[place])
        place = after
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


def folds(parts: list[list[Numbered]]) -> dict[int, int]:
    """Return where folded sections begin and which cell is the last of each, counted through all parts.

    >>> made = [{"cell_type": "markdown", "source": text, "metadata": {}} for text in ("## A", "text", "## B")]
    >>> made[0]["metadata"]["tags"] = ["fold"]
    >>> folds([list(enumerate(made))])
    {0: 1}
    """
    found, before = {}, 0
    for part in parts:
        for place, (_, cell) in enumerate(part):
            if level(cell) > 1 and {"fold", "back"} & set(notebooks.tags(cell)):
                found[before + place] = before + end(part, place) - 1
        before += len(part)
    return found


def lift(section: list[Numbered]) -> int:
    """Return by how many levels a section's headings rise at the end of a page, where it begins at level 2."""
    return level(section[0][1]) - 2
