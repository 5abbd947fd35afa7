"""Read workbooks (XLSX, XLS, ODS) within bounds: stored values, and what a spreadsheet may have done to them told.

Of XLSX and XLS calamine gives values alone. What else decides whether a cell is the number that its author saw, the
percentages, errors and formulas without a stored value, is looked up in the workbook's XML, which is also measured
before it is unfolded, or in the records of XLS (``xls``). ODS is read by its XML alone (``ods``).
"""

import html
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path

from evalkit import DataError
from evalkit.data import languages
from evalkit.data.importing.cells import columns
from evalkit.data.importing.cells.numbers import FORMULA
from evalkit.data.importing.files import ods, xls
from evalkit.data.importing.files.rows import HEAD, Rows, Source, framed

_MOST_BYTES = 1 << 30  # of everything in a workbook, unpacked
_MOST_TEXTS = 256 << 20  # of the texts that cells share, which are held in memory
_MOST_FILES = 10_000
_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 2_000  # of a sheet
_MOST_CELLS = 30_000_000  # of a sheet's rectangle, which is held in memory
_MOST_MERGED = 200_000
_LONGEST = 64 << 20  # bytes of one row
_PIECE = 4 << 20  # bytes of XML that are looked at together

#: Columns in which a merged cell means each of its rows; a merged score may be one score or several.
_FILLED = {"src_lang", "tgt_lang", "pair", "system", "doc", "segment", "annotator", "item_type", "source", "reference"}

_OPEN = re.compile(rb"<(?:\w+:)?(?:c|row)[\s/>]")  # every cell and row; then those whose attributes cannot deceive
_PLAIN = re.compile(rb"<(?:\w+:)?(?:c|row)(?:\s+[\w:.-]+=(?:\"[^\"'<>]*\"|'[^\"'<>]*'))*\s*/?>")
_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*?\br=[\"'](\d+)")
_CELL = re.compile(rb"<(?:\w+:)?c\s[^>]*?\br=[\"']([A-Za-z]+)(\d+)[\"'][^>]*(?<!/)>")
_BARE = re.compile(rb"<(?:\w+:)?c(?:\s(?![^>]*\br=)[^>]*)?(?<!/)>")
_ERROR = re.compile(rb"<(?:\w+:)?c\s([^>]*\bt=[\"']e[\"'][^>]*)(?<!/)>(.*?)</(?:\w+:)?c>", re.DOTALL)
_UNCOMPUTED = re.compile(
    rb"<(?:\w+:)?c\b([^>]*)(?<!/)>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)

_Place = tuple[int, int]  # row and column, from 0
_Line = tuple[int, list[str]]  # a row's line, and its cells


def sources(path: Path, content: bytes, digest: str, *, name: str | None = None) -> list[Source]:
    """Take the sheets of a workbook that hold any rows; only the named one where there is a name.

    Raises DataError where the file is no workbook, would unpack to more than is sane, or has no such sheet.
    """
    try:
        if not content.startswith(b"PK"):
            return _of_xls(path, content, digest, name)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _demand_sane(path.name, archive)
            if _is_ods(archive):
                return _of_ods(path, digest, archive, name)
            return _sources(path, content, digest, archive, name)
    except DataError:
        raise
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except (
        BaseException
    ) as problem:  # whatever the parsers meet, a panic of calamine's, which is no Exception, included
        text = f"{type(problem).__name__}: {problem}".splitlines()[0]
        text = text if len(text) <= 120 else f"{text[:117]}..."
        raise DataError(f"{path.name} is no sound workbook: {text}. Save it again, or as CSV.") from problem


def _sources(path: Path, content: bytes, digest: str, archive: zipfile.ZipFile, name: str | None) -> list[Source]:
    import python_calamine

    parts = _sheet_parts(archive)
    for title, part in parts.items():
        if name in (None, title):
            _demand_bounded(path.name, archive, part)
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    shown = python_calamine.SheetVisibleEnum.Visible
    hidden = sorted(sheet.name for sheet in book.sheets_metadata if sheet.visible != shown)
    wanted = _wanted(path.name, list(parts), hidden, name)
    percent = _percent_styles(archive)
    found = [
        _source(path, digest, book.get_sheet_by_name(title), dict(_told(archive, parts[title], percent)))
        for title in wanted
    ]
    return _filled(path.name, found, wanted, hidden, name)


def _of_xls(path: Path, content: bytes, digest: str, name: str | None) -> list[Source]:
    """Take the sheets of an old workbook, once its records say that they can be held in memory."""
    import python_calamine

    looks = {look.title: look for look in xls.looks(path.name, content)}
    if (cells := sum(look.rows * look.columns for look in looks.values())) > _MOST_CELLS:
        raise DataError(f"{path.name} has sheets that span {cells:,} cells. Remove what is not the table.")
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    hidden = sorted(title for title, look in looks.items() if look.hidden)
    wanted = _wanted(path.name, list(looks), hidden, name)
    found = [_source(path, digest, book.get_sheet_by_name(title), looks[title].told) for title in wanted]
    return _filled(path.name, found, wanted, hidden, name)


def _is_ods(archive: zipfile.ZipFile) -> bool:
    names = archive.namelist()
    return "xl/workbook.xml" not in names and "content.xml" in names


def _of_ods(path: Path, digest: str, archive: zipfile.ZipFile, name: str | None) -> list[Source]:
    """Take the sheets of an OpenDocument spreadsheet."""
    sheets = {
        one.title: one for one in ods.sheets(path.name, archive, ods.Bounds(_MOST_ROWS, _MOST_COLUMNS, _MOST_CELLS))
    }
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


def _source(path: Path, digest: str, sheet, told: dict[_Place, str]) -> Source:
    """Take one sheet: its values as text, and what is told of single cells in their place."""
    rows = []
    for place, values in enumerate(sheet.to_python(skip_empty_area=False)):
        cells = [_text(value) for value in values]
        if any(cells):
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


def _taken(path: Path, digest: str, title: str, rows: list[_Line], merged: Sequence[tuple[_Place, _Place]]) -> Source:
    """Take the rows of one sheet."""
    if len(merged) > _MOST_MERGED:
        raise DataError(f"{path.name} has too many merged cells. Unmerge them and fill them down.")
    named = title if languages.in_name(title) else ""
    return Source(
        path, digest, rows[:HEAD], lambda header, after: _read(rows, header, after, merged), [f"sheet {title!r}"],
        title=title, typed=True, named=named,
    )  # fmt: skip


def _read(rows: list[_Line], header: list[str], after: int, merged: Iterable[tuple[_Place, _Place]]) -> Rows:
    """Read the rows below line ``after``; what a merged cell says of a segment and the like is said of all its rows."""
    width = len(header)
    table = {line: [*cells, *[""] * (width - len(cells))] for line, cells in rows if line > after}
    notes, filled, left = [], set(), []
    for (first, column), (last, beyond) in sorted(merged):
        inside = after <= last and column < width
        if inside and column == beyond and columns.meaning(header[column]) in _FILLED:
            filled.add(header[column])
            value = table[first + 1][column] if first + 1 in table else ""
            for line in range(max(first, after) + 1, last + 2):
                if value and line in table:
                    table[line][column] = table[line][column] or value
        elif inside and first >= after:
            left.append(f"{_letters(column)}{first + 1}:{_letters(beyond)}{last + 1}")
    if filled:
        names = ", ".join(name for name in header if name in filled)
        notes.append(f"merged cells were read as the value of each of their rows, in {names}")
    if left:
        notes.append(f"the sheet has merged cells, such as {left[0]}, of which only the first holds the value; "
                     "rows that lack it were rejected: unmerge them, and fill them in one by one")  # fmt: skip
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


def _demand_sane(origin: str, archive: zipfile.ZipFile) -> None:
    """Refuse archives that are no workbooks, made to burst, or damaged, before anything of them is unfolded."""
    parts = archive.infolist()
    names = {part.filename for part in parts}
    if "xl/workbook.xml" not in names and not _is_ods(archive):
        what = ("a binary workbook (.xlsb): save it as .xlsx" if any(name.endswith("workbook.bin") for name in names)
                else "a zip archive, not a workbook: unpack it, then import the files in it")  # fmt: skip
        raise DataError(f"{origin} is {what}.")
    total = sum(part.file_size for part in parts)
    shared = sum(part.file_size for part in parts if part.filename.casefold().endswith("sharedstrings.xml"))
    if len(parts) > _MOST_FILES or total > _MOST_BYTES or shared > _MOST_TEXTS:
        raise DataError(
            f"{origin} would unpack to {total:,} bytes in {len(parts):,} parts, more than a campaign needs. Do not "
            "trust this file; if it is yours, save the sheet as CSV."
        )
    if damaged := archive.testzip():  # a part that is not what its entry says
        raise DataError(f"{origin} is a damaged archive: {damaged} is not whole. Save it again.")


def _sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Map each sheet's title to the part of the workbook that holds its cells."""
    targets = {}
    for found in re.finditer(rb"<(?:\w+:)?Relationship\s([^>]*)>", archive.read("xl/_rels/workbook.xml.rels")):
        target = _attribute(found[1], "Target")
        targets[_attribute(found[1], "Id")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    sheets = re.finditer(rb"<(?:\w+:)?sheet\s([^>]*)>", archive.read("xl/workbook.xml"))
    parts = {_attribute(found[1], "name"): targets[_attribute(found[1], r"\w+:id")] for found in sheets}
    return {title: part for title, part in parts.items() if "/worksheets/" in f"/{part}"}


def _attribute(tag: bytes, name: str) -> str:
    """Read an attribute out of a tag; empty where it has none."""
    found = re.search(rf"(?:^|\s){name}\s*=\s*(\"[^\"]*\"|'[^']*')", tag.decode("utf-8", "replace"))
    return html.unescape(found[1][1:-1]) if found else ""


def _percent_styles(archive: zipfile.ZipFile) -> set[int]:
    """List the styles under which a number is shown as a percentage."""
    if "xl/styles.xml" not in archive.namelist():
        return set()
    text = archive.read("xl/styles.xml")
    formats = {"9", "10"}
    for found in re.finditer(rb"<(?:\w+:)?numFmt\s([^>]*)>", text):
        formats |= {_attribute(found[1], "numFmtId")} if "%" in _attribute(found[1], "formatCode") else set()
    cells = re.search(rb"<(?:\w+:)?cellXfs.*?</(?:\w+:)?cellXfs>", text, re.DOTALL)
    styles = re.findall(rb"<(?:\w+:)?xf\b([^>]*)>", cells[0]) if cells else []
    return {place for place, style in enumerate(styles) if _attribute(style, "numFmtId") in formats}


def _pieces(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Yield the XML of a sheet in pieces of whole rows."""
    rest = b""
    with archive.open(part) as stream:
        while piece := stream.read(_PIECE):
            text = rest + piece
            if b"\0" in piece:
                raise ValueError("a sheet in UTF-16")
            cut = max(text.rfind(b"</row>"), text.rfind(b":row>")) + 1
            rest = text[cut:]
            if len(rest) > _LONGEST:
                raise ValueError("a row without end")
            yield text[:cut]
    yield rest  # what stands behind the last row


def _demand_bounded(origin: str, archive: zipfile.ZipFile, part: str) -> None:
    """Refuse a sheet whose cells, few as they may be, span more than can be held in memory."""
    rows, wide, bare = 0, 0, 0
    for text in _pieces(archive, part):
        if len(_PLAIN.findall(text)) != len(_OPEN.findall(text)):
            raise ValueError("cells that are written in no usual way")
        places = _CELL.findall(text)
        rows = max([rows, *map(int, {row for _, row in places}), *map(int, set(_ROW.findall(text)))])
        wide = max([wide, *(_number(letters) for letters in {letters for letters, _ in places})])
        if _BARE.search(text):  # cells that do not say where they stand follow the one before
            bare = max([bare, *(len(_BARE.findall(row)) for row in re.split(rb"</(?:\w+:)?row>", text))])
    if rows > _MOST_ROWS:
        raise DataError(f"{origin} has more than {_MOST_ROWS:,} rows, which no spreadsheet has.")
    if wide + bare > _MOST_COLUMNS or rows * (wide + bare) > _MOST_CELLS:
        raise DataError(
            f"{origin} has cells in up to {rows:,} rows and {wide:,} columns. Remove what is not the table."
        )


def _number(letters: bytes) -> int:
    """Count a column's place from 1."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


def _told(archive: zipfile.ZipFile, part: str, percent: set[int]) -> Iterator[tuple[_Place, str]]:
    """Yield the places of cells that are no plain values: "%" for percentages, else what they read."""
    styles = "|".join(map(str, sorted(percent)))
    shares = re.compile(rf"<(?:\w+:)?c\s([^>]*\bs=[\"'](?:{styles})[\"'][^>]*)(?<!/)>".encode()) if percent else None
    for text in _pieces(archive, part):
        if shares:
            for found in shares.finditer(text):
                if _attribute(found[1], "t") in ("", "n"):
                    yield _place(found[1]), "%"
        for found in _ERROR.finditer(text):
            value = re.search(rb"<(?:\w+:)?v>([^<]*)<", found[2])
            yield _place(found[1]), value[1].decode("utf-8", "replace") if value else FORMULA
        for found in _UNCOMPUTED.finditer(text):
            yield _place(found[1]), FORMULA


def _place(tag: bytes) -> _Place:
    """Read where a cell stands. Raises ValueError where it does not say so, and more than its value counts."""
    found = re.fullmatch(r"([A-Za-z]{1,3})(\d{1,7})", _attribute(tag, "r"))
    if not found:
        raise ValueError("a cell with a percentage, an error or a formula does not say where it stands")
    return int(found[2]) - 1, _number(found[1].encode()) - 1
