"""Know the rows that Appraise exports without headings, by how many cells they have and what the cells read like."""

import re
from collections.abc import Callable

from evalkit import DataError
from evalkit.data.importing.formats import Head

START = ["username", "system", "itemId", "itemType", "srcLang", "trgLang", "score"]
DOC, END, BATCH = ["docId", "isDocScore"], ["timeStart", "timeEnd"], ["batchNo", "itemRow"]
#: The columns of exports without a header: segments alone, segments of documents, error spans, two systems at a time
#: (two rows a screen); with ``--batch-info`` Appraise adds the last ones.
LAYOUTS = [
    [*START, *END],
    [*START, *DOC, *END],
    [*START, *DOC, "spans", *END],
    [*START, *END, *BATCH],
    [*START, "errors", "sourceErrors", *END],
    [*START, *DOC, *END, *BATCH],
    [*START, *DOC, "spans", *END, *BATCH],
    [*START, *DOC, *END, *BATCH, "target"],
    [*START, "errors", "sourceErrors", *END, *BATCH, "target"],
]
_KINDS = {"tgt", "bad", "ref", "chk"}
_NUMBER = re.compile(r"-?\d+([.,]\d+)?([eE][+-]?\d+)?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_]\w+)?")
#: What a cell of a column reads like; of the others, anything.
_CELLS: dict[str, Callable[[str], object]] = {
    "itemType": lambda cell: cell.casefold() in _KINDS,
    **dict.fromkeys(("srcLang", "trgLang"), _LANGUAGE.fullmatch),
    **dict.fromkeys(("score", *END), _NUMBER.fullmatch),
    **dict.fromkeys((*BATCH, "target"), str.isdecimal),
    "isDocScore": ("True", "False").__contains__,
    "spans": lambda cell: cell.startswith("["),
}


def headless(head: Head) -> list[str] | None:
    """Return the names of the columns where nearly all rows read like Appraise's, and none is a heading."""
    if not head.rows or not (first := _layout(head.rows[0][1])):
        return None
    layouts = [_layout(cells) for _, cells in head.rows]
    return first if layouts.count(first) >= 0.8 * len(layouts) else None


def _layout(cells: list[str]) -> list[str] | None:
    """Return the layout that a row has, or None."""
    cells = [cell.strip() for cell in cells]
    fitting = (names for names in LAYOUTS if len(names) == len(cells))
    return next(
        (
            names
            for names in fitting
            if all(_CELLS.get(name, str)(cell) or name not in _CELLS for name, cell in zip(names, cells))
        ),
        None,
    )


def refuse_unknown(head: Head) -> None:
    """Refuse rows without headings that are Appraise's, in an order of cells that is not known."""
    rows = [[cell.strip() for cell in cells] for _, cells in head.rows]
    if not rows or len(rows[0]) < 9 or any(map(_layout, rows)):
        return
    places = [place for place, cell in enumerate(rows[0][:-3]) if cell in ("TGT", "BAD", "REF", "CHK")]
    if not any(all(map(_LANGUAGE.fullmatch, rows[0][place + 1 : place + 3])) for place in places):
        return
    if all(map(_NUMBER.fullmatch, rows[0][-2:])):
        known = ", ".join(map(str, sorted({*map(len, LAYOUTS)})))
        raise DataError(
            f"{head.name} has no headings, and rows of {len(rows[0])} cells that read like Appraise's in an order that "
            f"is not known (known are some of {known} cells). Write headings above them, such as {','.join(START)},"
            f"{','.join((*DOC, *END))}, and import it again."
        )
