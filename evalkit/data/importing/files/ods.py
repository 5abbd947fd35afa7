"""Read OpenDocument spreadsheets (.ods) within bounds: cells as text, percentages told, repeated cells unfolded.

Source: OpenDocument 1.3, part 3, chapter 9. What is repeated (``number-columns-repeated``, ``number-rows-repeated``) is
counted before it is unfolded; empty cells at the end of a row and empty rows are not.
"""

import zipfile
from dataclasses import dataclass, field
from xml.parsers import expat

from evalkit import DataError
from evalkit.data.importing.cells.numbers import FORMULA

_PIECE = 1 << 20
_MOST_TEXT = 512 << 20  # letters of all cells
_LONGEST = 8 << 20  # letters of one cell
_SPARSE, _SHARE = 500_000, 20  # a rectangle beyond the first may span so many times the cells that are written
_MOST_SHEETS, _DEEPEST = 1_000, 256
_LAST_ROW, _LAST_COLUMN = 1 << 20, 1 << 14  # of any spreadsheet: no repetition reaches beyond
_TABLE, _ROW, _CELL, _COVERED = "table:table", "table:table-row", "table:table-cell", "table:covered-table-cell"
_SKIPPED = ("office:annotation", "table:tracked-changes", "draw:frame", "draw:custom-shape", "table:shapes")


@dataclass
class Sheet:
    """A sheet: its title, its rows that hold anything with their lines, and its merged cells, from row and column 0."""

    title: str
    hidden: bool = False
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    merged: list[tuple[tuple[int, int], tuple[int, int]]] = field(default_factory=list)


@dataclass
class Bounds:
    """What a sheet may hold: rows and columns; and cells of the rectangles that all sheets span."""

    rows: int
    columns: int
    cells: int


def sheets(origin: str, archive: zipfile.ZipFile, bounds: Bounds) -> list[Sheet]:
    """Read all sheets.

    Raises DataError where the file has a password, or its cells are more than can be held in memory.
    """
    if "META-INF/manifest.xml" in archive.namelist() and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise DataError(f"{origin} has a password. Save it without one.")
    reader = _Reader(origin, bounds)
    with archive.open("content.xml") as stream:
        while piece := stream.read(_PIECE):
            reader.parser.Parse(piece, False)
    reader.parser.Parse(b"", True)
    return reader.sheets


class _Reader:
    """Follow the XML from start to end, a row at a time."""

    def __init__(self, origin: str, bounds: Bounds):
        self.sheets: list[Sheet] = []
        self._origin, self._bounds = origin, bounds
        self._hidden: set[str] = set()
        self._style = ""
        self._path: list[str] = []
        self._skipped = 0
        self._row: list[str] = []
        self._line = self._again = self._letters = self._empty = self._wide = self._size = self._before = (
            self._cells
        ) = 0
        self._cell: dict[str, str] = {}
        self._text: list[str] | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._said
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise ValueError("XML with definitions of its own")

    def _start(self, name: str, told: dict[str, str]) -> None:
        if self._skipped or name in _SKIPPED:
            self._skipped += 1
            return
        if name == "style:style":
            self._style = told.get("style:name", "")
        elif name == "style:table-properties" and told.get("table:display") == "false":
            self._hidden.add(self._style)
        elif name == _TABLE and _TABLE not in self._path:
            title = told.get("table:name", f"sheet {len(self.sheets) + 1}")
            self.sheets.append(Sheet(title, told.get("table:style-name", "") in self._hidden))
            self._before += len(self.sheets[-2].rows) * self._wide if self.sheets[1:] else 0
            self._line = self._wide = 0
            if len(self.sheets) > _MOST_SHEETS:
                raise ValueError("more sheets than a workbook has")
        elif name == _ROW:
            self._row, self._empty, self._again = [], 0, _count(told, "table:number-rows-repeated")
        elif name in (_CELL, _COVERED):
            self._cell, self._text, self._size = told, [], 0
        elif self._text is not None:
            self._mark(name, told)
        self._path.append(name)
        if len(self._path) > _DEEPEST:
            raise ValueError("elements that nest too deep")

    def _mark(self, name: str, told: dict[str, str]) -> None:
        """Take what stands for letters within a cell."""
        assert self._text is not None
        if name == "text:p" and self._text:
            self._add("\n")
        elif name == "text:s":
            self._add(" " * min(_count(told, "text:c"), 1000))
        elif name in ("text:tab", "text:line-break"):
            self._add("\t" if name == "text:tab" else "\n")

    def _add(self, text: str) -> None:
        """Add letters to a cell, within bounds."""
        self._size += len(text)
        if self._text is None or self._size > _LONGEST:
            raise ValueError("a cell without end")
        self._text.append(text)

    def _said(self, text: str) -> None:
        if self._text is not None and not self._skipped and "text:p" in self._path:
            self._add(text)

    def _end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        self._path.pop()
        if name in (_CELL, _COVERED):
            self._close_cell(name)
        elif name == _ROW and self.sheets:
            self._close_row()

    def _close_cell(self, name: str) -> None:
        """Put a cell into its row, as often as it is repeated."""
        told, text = self._cell, "".join(self._text or ())
        self._cells += 1
        self._text = None
        again = min(_count(told, "table:number-columns-repeated"), _LAST_COLUMN)
        value = "" if name == _COVERED else _value(told, text)
        if not value:
            self._empty += again
            return
        width = len(self._row) + self._empty + again
        if width > self._bounds.columns:
            self._too_many(f"cells in up to {width:,} columns")
        self._row += [""] * self._empty
        self._empty = 0
        across, down = _count(told, "table:number-columns-spanned"), _count(told, "table:number-rows-spanned")
        if across > 1 or down > 1:
            place = len(self._row)
            end = min(self._line + down - 1, _LAST_ROW), min(place + across - 1, _LAST_COLUMN)
            self.sheets[-1].merged.append(((self._line, place), end))
        self._letters += len(value) * again
        self._row += [value] * again

    def _close_row(self) -> None:
        """Put a row into its sheet, as often as it is repeated; empty ones are only counted."""
        sheet, bounds = self.sheets[-1], self._bounds
        again = min(self._again, _LAST_ROW)
        if self._row:
            rows = len(sheet.rows) + again
            self._wide = width = max(self._wide, len(self._row))
            self._letters += sum(map(len, self._row)) * (again - 1)
            most = min(bounds.cells, max(_SPARSE, _SHARE * self._cells))
            if rows > bounds.rows or self._before + rows * width > most or self._letters > _MOST_TEXT:
                self._too_many(f"cells in up to {rows:,} rows and {width:,} columns")
            sheet.rows += [(self._line + number + 1, list(self._row)) for number in range(again)]
        self._line += again

    def _too_many(self, what: str) -> None:
        raise DataError(f"{self._origin} has {what}. Remove what is not the table.")


def _count(told: dict[str, str], name: str) -> int:
    """Read how often something is repeated: once where nothing says it."""
    text = told.get(name, "1")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ValueError(f"{name} is no number of times")
    return max(int(text), 1)


def _value(told: dict[str, str], text: str) -> str:
    """Write a cell as text: numbers with all their digits, percentages as such, dates as dates."""
    kind = told.get("office:value-type", "")
    if kind == "percentage":
        return f"{float(told['office:value']) * 100:.12g}%"
    if kind in ("float", "currency"):
        number = told["office:value"]
        return number if abs(float(number)) != float("inf") else "#NUM!"
    if kind == "date":
        return told["office:date-value"].replace("T", " ")
    if kind == "boolean":
        return told["office:boolean-value"].capitalize()
    if kind == "time":
        return text or told.get("office:time-value", "")
    if not kind and not text and "table:formula" in told:
        return FORMULA
    return told.get("office:string-value", text)
