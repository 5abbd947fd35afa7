"""Read workbooks (XLSX, ODS, XLS) behind the wall: sheets with title, whether they are hidden, rows, merged cells.

Rows are those that hold anything, with their lines; merged cells count from row and column 0. Cells are text as their
author saw them: 85 % is "85%", an error its name, a formula without a stored value FORMULA.
"""

import datetime
import io
import json
import os
import re
import zipfile
from xml.etree import ElementTree


class Refused(Exception):
    """What a file cannot be read for, as the end of a sentence that its name begins."""


FORMULA = "=(not computed)"
MOST_LETTERS = 256 << 20  # of all cells: a text that is stored once may be meant a million times
MOST_REPEATS = 1 << 20  # of a row or a cell
ODD = re.compile(rb"""[<:]f[\s/>]|\bt=["']e""")  # formulas and errors


def text(value):
    """Write a cell: numbers with all their digits, dates as dates."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def percent(value):
    """Write a share as it is shown."""
    return f"{float(value) * 100:.12g}%"


def sheet(title, hidden, rows, merged):
    """Keep the rows of a sheet that hold anything."""
    kept = [[line, cells] for line, cells in rows if any(cells)]
    return {"title": title, "hidden": bool(hidden), "rows": kept, "merged": merged}


# XLSX: calamine reads the values; percentages, errors and formulas without a value are looked up in the XML.


def local(element):
    """Name an element without its namespace."""
    return element.tag.rpartition("}")[2]


def xlsx(path, archive):
    """Read the sheets of a workbook."""
    import python_calamine

    names = archive.namelist()
    book = python_calamine.CalamineWorkbook.from_path(path)
    places, styles = parts(archive), percentages(archive) if "xl/styles.xml" in names else set()
    shown = python_calamine.SheetVisibleEnum.Visible
    for one in book.sheets_metadata:
        if one.name not in places:
            continue
        found = book.get_sheet_by_name(one.name)
        lead = [""] * (found.start[1] if found.start else 0)
        rows = {
            line: lead + [text(cell) for cell in cells]
            for line, cells in enumerate(found.iter_rows(), 1)
            if cells.count("") < len(cells)
        }
        width = max(map(len, rows.values()), default=0)
        for line, column, what in special(archive, places[one.name], styles):
            cells = rows.setdefault(line, [""] * width)
            cells += [""] * (column + 1 - len(cells))
            if what != "%":
                cells[column] = cells[column] or what
            elif cells[column]:
                cells[column] = percent(cells[column])
        yield sheet(one.name, one.visible != shown, sorted(rows.items()), found.merged_cell_ranges or [])


def parts(archive):
    """Map each sheet's title to the part that holds its cells."""
    tree = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {one.get("Id"): one.get("Target", "") for one in tree}
    places = {}
    for one in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter():
        if local(one) == "sheet":
            [to] = [value for name, value in one.items() if name.endswith("}id")]
            target = targets[to]
            places[one.get("name")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return {title: place for title, place in places.items() if "/worksheets/" in f"/{place}"}


def percentages(archive):
    """Number the styles under which a number is shown as a percentage."""
    tree = ElementTree.fromstring(archive.read("xl/styles.xml"))
    formats = {"9", "10"} | {
        one.get("numFmtId") for one in tree.iter() if local(one) == "numFmt" and "%" in one.get("formatCode", "")
    }
    styles = [one for group in tree if local(group) == "cellXfs" for one in group]
    return {str(number) for number, one in enumerate(styles) if one.get("numFmtId") in formats}


def special(archive, part, styles):
    """Yield line, column and what is said of each cell that is no plain value: "%" where it is a percentage."""
    content, line, column = archive.read(part), 0, -1
    if not styles and not ODD.search(content):
        return  # most sheets hold plain values alone
    with io.BytesIO(content) as stream:
        for event, one in ElementTree.iterparse(stream, ("start", "end")):
            name = local(one)
            if event == "start" and name == "row":
                line, column = int(one.get("r", line + 1)), -1
            elif event == "start" and name == "c":
                column = letters(one.get("r")) if one.get("r") else column + 1
            elif event == "end" and name == "c":
                value = "".join(inner.text or "" for inner in one if local(inner) == "v").strip()
                kind = one.get("t", "n")
                if kind == "e" or (not value and any(local(inner) == "f" for inner in one)):
                    yield line, column, value or FORMULA
                elif kind == "n" and value and one.get("s") in styles:
                    yield line, column, "%"
            elif event == "end" and name == "row":
                one.clear()


def letters(place):
    """Count a column from 0 by its letters."""
    number = 0
    for letter in place.upper():
        if letter.isalpha():
            number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


# OpenDocument, version 1.3, part 3, chapter 9


def ods(archive):
    """Read the sheets of an OpenDocument spreadsheet, with what is repeated unfolded."""
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Refused("has a password")
    tree = ElementTree.fromstring(archive.read("content.xml"))
    hidden = {
        told(style, "name")
        for style in tree.iter()
        if local(style) == "style" and any(told(inner, "display") == "false" for inner in style)
    }
    for number, table in enumerate((one for one in tree.iter() if local(one) == "table"), 1):
        rows, merged, line = [], [], 0
        for row in (one for one in table.iter() if local(one) == "table-row"):
            cells = cells_of(row, line, merged)
            again = min(int(told(row, "number-rows-repeated") or 1), MOST_REPEATS)
            if any(cells):
                rows += [(line + place, list(cells)) for place in range(1, again + 1)]
            line += again
        yield sheet(told(table, "name") or f"sheet {number}", told(table, "style-name") in hidden, rows, merged)


def told(element, name):
    """Return an attribute by its name alone; a program's own (calcext) do not count."""
    return next((value for key, value in element.items() if key.endswith(f"}}{name}") and "calcext" not in key), "")


def cells_of(row, line, merged):
    """Write the cells of a row, up to the last that holds anything; add those that are merged."""
    cells, empty = [], 0
    for cell in row:
        if local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        again = min(int(told(cell, "number-columns-repeated") or 1), MOST_REPEATS)
        value = "" if local(cell) == "covered-table-cell" else value_of(cell)
        if not value:
            empty += again
            continue
        place = len(cells) + empty
        across, down = (int(told(cell, f"number-{name}-spanned") or 1) for name in ("columns", "rows"))
        if across > 1 or down > 1:
            merged.append([[line, place], [line + down - 1, place + across - 1]])
        cells += [""] * empty + [value] * again
        empty = 0
    return cells


def value_of(cell):
    """Write a cell of an OpenDocument spreadsheet as its author saw it, numbers and dates as they are stored."""
    kind, shown = told(cell, "value-type"), "\n".join(said(one) for one in cell if local(one) == "p")
    value = told(cell, "value")
    if kind == "percentage":
        return percent(value)
    if kind in ("float", "currency"):
        return value if abs(float(value)) != float("inf") else "#NUM!"
    if kind == "date":
        return told(cell, "date-value").replace("T", " ")
    if kind == "boolean":
        return told(cell, "boolean-value").capitalize()
    if kind == "time":
        return shown or told(cell, "time-value")
    if not kind and not shown and told(cell, "formula"):
        return FORMULA
    return told(cell, "string-value") or shown


def said(element):
    """Put the letters of a paragraph together, with what stands for blanks among them."""
    found = [element.text or ""]
    for one in element:
        name = local(one)
        if name == "s":
            found.append(" " * min(int(told(one, "c") or 1), 1000))
        elif name in ("tab", "line-break"):
            found.append("\t" if name == "tab" else "\n")
        elif name != "annotation":
            found.append(said(one))
        found.append(one.tail or "")
    return "".join(found)


# Old workbooks


def xls(path):
    """Read the sheets of an old workbook."""
    import xlrd

    with open(path, "rb") as stream:
        content = stream.read()
    if "EncryptedPackage".encode("utf-16-le") in content:  # an XLSX within
        raise Refused("has a password")
    try:
        book = xlrd.open_workbook(file_contents=content, formatting_info=True, ragged_rows=True, logfile=io.StringIO())
    except xlrd.XLRDError as problem:
        if "encrypted" in str(problem):
            raise Refused("has a password") from problem
        raise
    for one in book.sheets():
        rows = [
            (line + 1, [old(book, one.cell(line, column)) for column in range(one.row_len(line))])
            for line in range(one.nrows)
        ]
        merged = [[[top, left], [bottom - 1, right - 1]] for top, bottom, left, right in one.merged_cells]
        yield sheet(one.name, one.visibility, rows, merged)


def old(book, cell):
    """Write a cell of an old workbook."""
    import xlrd

    if cell.ctype == xlrd.XL_CELL_ERROR:
        return xlrd.error_text_from_code.get(cell.value, "#VALUE!")
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return str(bool(cell.value))
    if cell.ctype == xlrd.XL_CELL_DATE:
        return text(xlrd.xldate_as_datetime(cell.value, book.datemode))
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        form = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
        return percent(cell.value) if "%" in form else text(cell.value)
    return text(cell.value)


def workbook(path, folder, said):
    """Read a workbook of any kind."""
    with open(path, "rb") as stream:
        start = stream.read(8)
    if start.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len({name.casefold() for name in names}) < len(names):
                raise Refused("has two parts of one name")
            if any(one.flag_bits & 1 for one in archive.infolist()):
                raise Refused("has a password")
            if "xl/workbook.xml" in names:
                found = list(xlsx(path, archive))
            elif "content.xml" in names:
                found = list(ods(archive))
            elif any(name.endswith("workbook.bin") for name in names):
                raise Refused("is a binary workbook (.xlsb): save it as .xlsx")
            else:
                raise Refused("is a zip archive, not a workbook: unpack it, then import the files in it")
    else:
        found = list(xls(path))
    if sum(len(cell) for one in found for _, cells in one["rows"] for cell in cells) > MOST_LETTERS:
        raise Refused("repeats texts to more letters than a campaign has")
    with open(os.path.join(folder, "sheets"), "w", encoding="utf-8") as stream:
        json.dump(found, stream)
