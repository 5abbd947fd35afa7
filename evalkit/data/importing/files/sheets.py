"""Read workbooks (XLSX, XLS, ODS) within bounds: stored values, and what a spreadsheet may have done to them told.

Of XLSX and XLS calamine gives values alone. What else decides whether a cell is the number that its author saw, the
percentages, errors and formulas without a stored value, is looked up in the workbook's XML (``xlsx``), which is also
measured before it is unfolded (``parts``), or in the records of XLS (``xls``). ODS is read by its XML alone (``ods``).
"""

import io
import os
import threading
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import date, datetime, time
from pathlib import Path

from evalkit import DataError
from evalkit.data import languages
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files import ods, parts, xls, xlsx
from evalkit.data.importing.files.rows import HEAD, Rows, Source, framed

#: Columns in which a merged cell means each of its rows; a merged score may be one score or several.
_FILLED = {"src_lang", "tgt_lang", "pair", "system", "doc", "segment", "annotator", "item_type", "source", "reference"}

_Merged = Sequence[tuple[xlsx.Place, xlsx.Place]]  # of each the first and the last cell
_Line = tuple[int, list[str]]  # a row's line, and its cells


def sources(path: Path, content: bytes, digest: str, *, name: str | None = None) -> list[Source]:
    """Take the sheets of a workbook that hold any rows; only the named one where there is a name.

    Raises DataError where the file is no workbook, would unpack to more than is sane, or has no such sheet.
    """
    try:
        if not content.startswith(b"PK"):
            with _panics_unheard():
                return _of_xls(path, content, digest, name)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts.demand_sane(path.name, content, archive)
            if parts.is_ods(archive):
                return _of_ods(path, digest, archive, name)
            with _panics_unheard():
                return _sources(path, content, digest, archive, name)
    except DataError:
        raise
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as problem:  # whatever the parsers meet; a panic of calamine's is no Exception
        text = f"{type(problem).__name__}: {problem}".splitlines()[0]
        text = text if len(text) <= 120 else f"{text[:117]}..."
        raise DataError(f"{path.name} is no sound workbook: {text}. Save it again, or as CSV.") from problem


_unheard = threading.Lock()  # two threads at once would give back each other's standard error


@contextmanager
def _panics_unheard() -> Iterator[None]:
    """Keep from standard error the trace that Rust writes there itself where calamine meets what it did not expect."""
    with _unheard, open(os.devnull, "wb") as nowhere, ExitStack() as afterwards:
        with suppress(OSError):  # a process without a standard error has nothing to keep it from
            kept = os.dup(2)
            afterwards.callback(os.close, kept)
            afterwards.callback(os.dup2, kept, 2)
            os.dup2(nowhere.fileno(), 2)
        yield


def _sources(path: Path, content: bytes, digest: str, archive: zipfile.ZipFile, name: str | None) -> list[Source]:
    import python_calamine

    places, left = xlsx.sheet_parts(archive), xlsx.bounds(archive)
    for title, part in places.items():
        if name in (None, title):
            xlsx.demand_bounded(path.name, archive, part, left)
    percent = xlsx.percent_styles(archive)
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    shown = python_calamine.SheetVisibleEnum.Visible
    hidden = sorted(sheet.name for sheet in book.sheets_metadata if sheet.visible != shown)
    wanted = _wanted(path.name, list(places), hidden, name)
    found = [
        _source(path, digest, book.get_sheet_by_name(title), dict(xlsx.told(archive, places[title], percent)))
        for title in wanted
    ]
    return _filled(path.name, found, wanted, hidden, name)


def _of_xls(path: Path, content: bytes, digest: str, name: str | None) -> list[Source]:
    """Take the sheets of an old workbook, once its records say that they can be held in memory."""
    import python_calamine

    looks = {look.title: look for look in xls.looks(path.name, content)}
    if (cells := sum(look.rows * look.columns for look in looks.values())) > xlsx.MOST_CELLS:
        raise DataError(f"{path.name} has sheets that span {cells:,} cells. Remove what is not the table.")
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    hidden = sorted(title for title, look in looks.items() if look.hidden)
    wanted = _wanted(path.name, list(looks), hidden, name)
    found = [_source(path, digest, book.get_sheet_by_name(title), looks[title].told) for title in wanted]
    return _filled(path.name, found, wanted, hidden, name)


def _of_ods(path: Path, digest: str, archive: zipfile.ZipFile, name: str | None) -> list[Source]:
    """Take the sheets of an OpenDocument spreadsheet."""
    bounds = ods.Bounds(xlsx.MOST_ROWS, xlsx.MOST_COLUMNS, xlsx.MOST_CELLS)
    sheets = {one.title: one for one in ods.sheets(path.name, archive, bounds)}
    hidden = sorted(title for title, one in sheets.items() if one.hidden)
    wanted = _wanted(path.name, list(sheets), hidden, name)
    found = [_taken(path, digest, title, sheets[title].rows, sheets[title].merged) for title in wanted]
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


def _source(path: Path, digest: str, sheet, told: dict[xlsx.Place, str]) -> Source:
    """Take one sheet: its values as text, and what is told of single cells in their place."""
    rows, same = [], {"": ""}  # each distinct text once
    lead = [""] * (sheet.start[1] if sheet.start else 0)
    for place, values in enumerate(sheet.iter_rows()):
        if values.count("") < len(values):
            cells = [*lead, *(same.setdefault(text, text) for text in map(_text, values))]
            rows.append((place + 1, cells))
    by_line = dict(rows)
    width = len(rows[0][1]) if rows else 0
    for (row, column), what in told.items():
        cells = by_line.setdefault(row + 1, [""] * width)  # calamine leaves out rows without any value
        cells += [""] * (column + 1 - len(cells))
        if what != "%":
            cells[column] = cells[column] or what
        elif cells[column]:
            cells[column] = f"{float(cells[column]) * 100:.12g}%"
    rows = [(line, cells) for line, cells in sorted(by_line.items()) if any(cells)]
    return _taken(path, digest, sheet.name, rows, sheet.merged_cell_ranges or [])


def _taken(path: Path, digest: str, title: str, rows: list[_Line], merged: _Merged) -> Source:
    """Take the rows of one sheet."""
    if len(merged) > xlsx.MOST_MERGED:
        raise DataError(f"{path.name} has too many merged cells. Unmerge them and fill them down.")
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


def _text(value: object) -> str:
    """Write a cell as text: numbers with all their digits, dates as dates."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _letters(column: int) -> str:
    """Name a column as spreadsheets do.

    >>> _letters(0), _letters(25), _letters(26)
    ('A', 'Z', 'AA')
    """
    return (_letters(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)
