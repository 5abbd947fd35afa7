"""Read workbooks (XLSX) within bounds: stored values row by row, and what a spreadsheet may have done to them told."""

import re
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import zip_longest
from pathlib import Path

from evalkit import DataError
from evalkit.data.importing import columns
from evalkit.data.importing.chunks import Chunk, framed
from evalkit.data.importing.numbers import FORMULA
from evalkit.data.importing.text import HEAD
from evalkit.data.registry import digest

_MOST_BYTES = 1 << 30  # of everything in a workbook, unpacked
_MOST_TEXTS = 256 << 20  # of the texts that cells share, which are held in memory
_MOST_FILES = 10_000
_BATCH = 10_000  # rows
_MOST_ROWS, _MOST_CELLS = 1 << 20, 2_000  # of a sheet; in a row
_MOST_MERGED = 200_000


def sheets(path: Path, *, name: str | None = None) -> list["Sheet"]:
    """Open the sheets of a workbook that hold any rows; only the named one where there is a name.

    Raises DataError where the file is no workbook, would unpack to more than is sane, or has no such sheet.
    """
    known = digest(path)
    _sane(path)
    book = _book(path, data_only=True)
    try:
        names = [sheet.title for sheet in book.worksheets]
        hidden = {sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"}
    finally:
        book.close()
    if name is not None and name not in names:
        raise DataError(f"{path.name} has no sheet {name!r}; it has {', '.join(names)}. Correct --sheet.")
    wanted = [name] if name is not None else [title for title in names if title not in hidden]
    found = [Sheet(path, title, known) for title in wanted]
    filled = [sheet for sheet in found if len(sheet.head) > 1]
    if not filled:
        raise DataError(f"{path.name} has no rows in {', '.join(wanted) or 'a visible sheet'}. Check the file.")
    for sheet in filled:
        if hidden and name is None:
            sheet.notes.append(f"hidden sheets were not read: {', '.join(sorted(hidden))}")
    return filled


#: Columns in which a merged cell means each of its rows; a merged score may be one score or several.
_FILLED = {"src_lang", "tgt_lang", "pair", "system", "doc", "segment", "annotator", "item_type", "source", "reference"}


class Sheet:
    """One sheet of a workbook. What a merged cell says of a segment, a system and the like is said of all its rows."""

    typed = True

    def __init__(self, path: Path, title: str, known: str):
        self.path, self.title, self.digest = path, title, known
        self.notes = [f"sheet {title!r}"]
        self._formulas, self._merged = self._look()
        self.head = []
        for line, cells in self._rows():
            if any(cells):
                self.head.append((line, cells))
            if len(self.head) == HEAD:
                break

    def chunks(self, header: list[str], *, after: int) -> Iterator[Chunk]:
        """Yield the rows below line ``after`` under the names in ``header``; rows without content are no rows."""
        width, rows, lines = len(header), [], []
        merged = _Merged(self._merged, header, after)
        self._note(merged.told)
        for line, cells in self._rows():
            if line <= after or not any(cells):
                continue
            cells = merged.filled(line, [*cells, *[""] * (width - len(cells))])
            if any(cell.strip() for cell in cells[width:]):
                self._note(["there are cells beyond the headings, which were not read"])
            rows.append(cells[:width])
            lines.append(line)
            if len(rows) == _BATCH:
                yield Chunk(framed(rows, lines, header), rows.__getitem__)
                rows, lines = [], []
        if rows:
            yield Chunk(framed(rows, lines, header), rows.__getitem__)

    def _note(self, notes: list[str]) -> None:
        self.notes += [note for note in notes if note not in self.notes]

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row's line and its cells as text."""
        books = [_book(self.path, data_only=True)]
        try:
            tables = [self._cells(books[0])]
            if self._formulas:
                books.append(_book(self.path, data_only=False))
                tables.append(self._cells(books[1]))
            for line, (row, *formulas) in enumerate(zip_longest(*tables, fillvalue=()), 1):
                if line > _MOST_ROWS:
                    raise DataError(f"{self.path.name} has more than {_MOST_ROWS:,} rows, which no spreadsheet has.")
                if len(row) > _MOST_CELLS:
                    raise DataError(f"{self.path.name}, row {line}: {len(row)} cells. Remove what is not the table.")
                cells = [_text(cell) for cell in row]
                for place, cell in enumerate(formulas[0] if formulas else ()):
                    if place < len(cells) and not cells[place] and getattr(cell, "data_type", "") == "f":
                        cells[place] = FORMULA
                yield line, cells
        except DataError:
            raise
        except Exception as problem:  # openpyxl lets through whatever its parsers meet
            raise DataError(f"{self.path.name} is damaged: {_short(problem)}. Save it again, or as CSV.") from problem
        finally:
            for book in books:
                book.close()

    def _cells(self, book) -> Iterator[tuple]:
        sheet = book[self.title]
        sheet.reset_dimensions()  # what a file says of its own size need not be true
        return sheet.iter_rows()

    def _look(self) -> tuple[bool, set[str]]:
        """Tell whether a sheet has formulas, and name its merged cells."""
        book = _book(self.path, data_only=True)
        try:
            place = book[self.title]._worksheet_path.lstrip("/")
        finally:
            book.close()
        formulas, merged, rest = False, set(), b""
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(place) as stream:
                while piece := stream.read(1 << 20):
                    text = rest + piece
                    formulas |= bool(re.search(rb"<(\w+:)?f[ />]", text))
                    for found in re.finditer(
                        rb'<(?:\w+:)?mergeCell [^>]*ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"', text
                    ):
                        merged.add(found[1].decode())
                    if len(merged) > _MOST_MERGED:
                        raise DataError(f"{self.path.name} has too many merged cells. Unmerge them and fill them down.")
                    rest = text[-200:]
        except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, ValueError, EOFError) as problem:
            raise DataError(f"{self.path.name} is damaged: {_short(problem)}. Save it again, or as CSV.") from problem
        return formulas, merged


class _Merged:
    """Give the value of a merged cell to each of its rows, row after row. ``told``: what was done, for the report."""

    def __init__(self, names: set[str], header: list[str], after: int):
        from openpyxl.utils import range_boundaries

        self.told, self._open = [], {}
        self._coming: list[tuple[int, int, int]] = []  # first line, last line, column
        left = []
        for name, (column, first, beyond, last) in sorted((name, range_boundaries(name)) for name in names):
            inside = after < last and column <= len(header)
            if inside and column == beyond and columns.meaning(header[column - 1]) in _FILLED:
                self._coming.append((max(first, after + 1), last, column - 1))
            elif inside and first > after:
                left.append(name)
        self._coming.sort(reverse=True)
        if self._coming:
            filled = dict.fromkeys(header[column] for *_, column in reversed(self._coming))
            self.told.append(f"merged cells were read as the value of each of their rows, in {', '.join(filled)}")
        if left:
            self.told.append(f"the sheet has merged cells, such as {left[0]}, of which only the first holds the value; "
                             "rows that lack it were rejected: unmerge them, and fill them in one by one")  # fmt: skip

    def filled(self, line: int, cells: list[str]) -> list[str]:
        """Return a row's cells with those of merged cells that go on in it."""
        while self._coming and self._coming[-1][0] <= line:
            first, last, place = self._coming.pop()
            self._open[place] = (last, cells[place] if first == line else "")
        for place, (last, value) in self._open.items():
            if line <= last:
                cells[place] = cells[place] or value
        return cells


def _text(cell) -> str:
    """Write a cell as text: numbers with all their digits, dates as dates, percentages as such."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        if "%" in (cell.number_format or ""):
            return f"{value * 100:.12g}%"
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return str(value)


def _sane(path: Path) -> None:
    """Refuse archives that are no workbooks, or made to burst, before anything of them is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, UnicodeDecodeError) as problem:
        raise DataError(f"{path.name} is a damaged archive: {problem}. Save it again.") from problem
    names = {part.filename for part in parts}
    if "xl/workbook.xml" not in names and not any(name.endswith("workbook.xml") for name in names):
        what = "a spreadsheet in another format (.ods): save it as .xlsx" if "content.xml" in names else (
            "a binary workbook (.xlsb): save it as .xlsx" if any(name.endswith("workbook.bin") for name in names)
            else "a zip archive, not a workbook: unpack it, then import the files in it")  # fmt: skip
        raise DataError(f"{path.name} is {what}.")
    total = sum(part.file_size for part in parts)
    shared = sum(part.file_size for part in parts if part.filename.casefold().endswith("sharedstrings.xml"))
    if len(parts) > _MOST_FILES or total > _MOST_BYTES or shared > _MOST_TEXTS:
        raise DataError(
            f"{path.name} would unpack to {total:,} bytes in {len(parts):,} parts, more than a campaign needs. Do not "
            "trust this file; if it is yours, save the sheet as CSV."
        )


def _book(path: Path, *, data_only: bool):
    """Open a workbook for reading row by row."""
    import openpyxl

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions that a reader of values has no use for
            return openpyxl.load_workbook(path, read_only=True, data_only=data_only, keep_links=False)
    except Exception as problem:  # openpyxl lets through whatever its parsers meet
        raise DataError(f"{path.name} is no sound workbook: {_short(problem)}. Save it again, or as CSV.") from problem


def _short(problem: Exception) -> str:
    text = f"{type(problem).__name__}: {problem}".splitlines()[0]
    return text if len(text) <= 120 else f"{text[:117]}..."
