"""Take the sheets of workbooks (XLSX, XLS, ODS), and tell what merged cells in them mean."""

import json
from bisect import bisect_left, bisect_right
from pathlib import Path

from evalkit import DataError
from evalkit.data import languages
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files import wall
from evalkit.data.importing.files.rows import HEAD, Rows, Source, framed

#: Columns in which a merged cell means each of its rows; a merged score may be one score or several.
_FILLED = {"src_lang", "tgt_lang", "pair", "system", "doc", "segment", "annotator", "item_type", "source", "reference"}

_Merged = list[tuple[tuple[int, int], tuple[int, int]]]  # of each the first and the last cell, from row and column 0
_Line = tuple[int, list[str]]  # a row's line, and its cells


def sources(path: Path, digest: str, *, name: str | None = None) -> list[Source]:
    """Take the sheets of a workbook that hold any rows; only the named one where there is a name.

    Raises DataError where the file is no workbook, would unpack to more than is sane, or has no such sheet.
    """
    with wall.parsed(path, "workbook", "Save it again, or the sheet as CSV.") as folder:
        sheets = json.loads((folder / "sheets").read_text(encoding="utf-8"))
    titles, hidden = [one["title"] for one in sheets], sorted(one["title"] for one in sheets if one["hidden"])
    wanted = _wanted(path.name, titles, hidden, name)
    found = [_taken(path, digest, one["title"], one["rows"], one["merged"]) for one in sheets if one["title"] in wanted]
    return _filled(path.name, found, wanted, hidden, name)


def _wanted(origin: str, titles: list[str], hidden: list[str], name: str | None) -> list[str]:
    """List the sheets to read: the named one, or those that are not hidden."""
    if name is not None and name not in titles:
        raise DataError(f"{origin} has no sheet {name!r}; it has {', '.join(titles)}. Correct --sheet.")
    return [name] if name is not None else [title for title in titles if title not in hidden]


def _filled(origin: str, found: list[Source], wanted: list[str], hidden: list[str], name: str | None) -> list[Source]:
    """Return the sheets that hold any rows."""
    filled = [source for source in found if len(source.head) > 1]
    if not filled:
        raise DataError(f"{origin} has no rows in {', '.join(wanted) or 'a visible sheet'}. Check the file.")
    for source in filled:
        if hidden and name is None:
            source.notes.append(f"hidden sheets were not read: {', '.join(hidden)}")
    return filled


def _taken(path: Path, digest: str, title: str, rows: list[_Line], merged: _Merged) -> Source:
    """Take the rows of one sheet."""
    named = title if languages.in_name(title) else ""

    def taken(header: list[str], after: int) -> Rows:
        return _read(path.name, rows, header, after, merged)

    return Source(path, digest, rows[:HEAD], taken, [f"sheet {title!r}"], title=title, typed=True, named=named)


def _read(origin: str, rows: list[_Line], header: list[str], after: int, merged: _Merged) -> Rows:
    """Read the rows below line ``after``; what a merged cell says of a segment and the like is said of all its rows."""
    width = len(header)
    table = {line: [*cells, *[""] * (width - len(cells))] for line, cells in rows if line > after}
    lines, notes, filled, left = sorted(table), [], set(), ""
    steps = len(table) * width  # cells that do not lie over one another cover each place once
    said = {place for place, name in enumerate(header) if columns.meaning(name) in _FILLED}
    for (first, column), (last, beyond) in sorted(merged):
        inside = after <= last and column < width
        if inside and column == beyond and column in said:
            filled.add(header[column])
            value = table[first + 1][column] if first + 1 in table else ""
            below = lines[bisect_left(lines, first + 1) : bisect_right(lines, last + 1)] if value else []
            steps -= len(below)
            if steps < 0:
                raise DataError(f"{origin} has merged cells over one another. Unmerge them and fill them down.")
            for line in below:
                table[line][column] = table[line][column] or value
        elif inside and first >= after:
            left = left or f"{_letters(column)}{first + 1}:{_letters(beyond)}{last + 1}"
    if filled:
        names = ", ".join(name for name in header if name in filled)
        notes.append(f"merged cells were read as the value of each of their rows, in {names}")
    if left:
        notes.append(
            f"the sheet has merged cells, such as {left}, of which only the first holds the value; "
            "rows that lack it were rejected: unmerge them, and fill them in one by one"
        )
    if any(cell.strip() for cells in table.values() for cell in cells[width:]):
        notes.append("there are cells beyond the headings, which were not read")
    cut = [cells[:width] for cells in table.values()]
    return Rows(framed(zip(table, cut), header), cut.__getitem__, notes=notes)


def _letters(column: int) -> str:
    """Name a column as spreadsheets do.

    >>> _letters(0), _letters(25), _letters(26)
    ('A', 'Z', 'AA')
    """
    return (_letters(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)
