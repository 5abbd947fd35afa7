"""What runs behind the wall: parse one foreign file after the other. It imports nothing of ours; it is run as a script.

It reads delimited text of any encoding, and tells what is no row with its line; workbooks (XLSX, ODS, XLS); Parquet.
Each line of standard input is a request: kind, path, a folder, and what else must be known. Into the folder go
``table``, where one was found, and last ``done``: what is wrong with the file, or nothing, and what was found.
"""

import codecs
import contextlib
import csv
import datetime
import faulthandler
import io
import json
import os
import queue
import re
import sys
import tarfile
import threading
import zipfile
from collections import Counter
from itertools import islice

HEAD, START = 50, 1 << 20  # rows, and bytes, by which a format is told
LONGEST = 8 << 20  # letters of a cell
LONGEST_PARSE = 300  # seconds by the clock, of which a parent waits fewer
MOST_BROKEN = 200_000  # more rows that cannot be cut into columns are another kind of file
SLICE = 5_000  # rows that are turned into columns at a time: single cells take much memory, and the time to get it
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
INSIDE = re.compile(r"(?!\.|readme|licen[cs]e).+", re.IGNORECASE)  # what an archive holds besides such files
WORD = re.compile(rb'"[^"\n]*"|[^\s"]+')  # what stands in quotes is one
#: How a text may be cut: by which delimiter, and whether quotes hold cells together or are letters.
WAYS = [*((delimiter, csv.QUOTE_MINIMAL) for delimiter in "\t,;|"), ("\t", csv.QUOTE_NONE)]
csv.field_size_limit(LONGEST)


class Refused(Exception):
    """What a file cannot be read for, as the end of a sentence that its name begins."""


# Encodings

MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
SAMPLE = 1 << 18  # bytes by which an encoding is told
#: Encodings that exports come in besides Unicode; others are read where the user names them.
LEGACY = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "euc_jp", "gb18030", "big5", "cp949"]
#: Letters that are common in the languages of encodings which are easily taken for each other.
LETTERS = {
    "cp1252": "àâäçèéêëîïñôöøåæùûüßÄÖÜÉÀÅØ«»áíóúãõìòœ",
    "cp1250": "áčďéěíňóřšťúůýžąćęłńśźżőűăäöüßČŘŠŽŁ",
    "cp1254": "çğıİöşüŞâî",
}


def decoded(content, told):
    """Return the encoding of a text and the text in UTF-8, without a byte order mark; told: the user's, or None."""
    marked = next((name for mark, name in MARKS.items() if content.startswith(mark)), "utf-8")
    if told:
        name = known(told)
    elif not marked.startswith("utf-8"):
        name = marked
    elif b"\0" in content:
        raise Refused("holds zero bytes, so it is no text")
    else:
        try:
            content.decode()
            return marked, content.removeprefix(codecs.BOM_UTF8)
        except UnicodeDecodeError as problem:
            name = legacy(content, problem.start)
    try:
        text = content.decode(name)
        found = text.encode()  # utf-7 may spell half of a surrogate pair, which is no letter
    except UnicodeError as problem:
        raise Refused(f"is not sound {name}: {getattr(problem, 'reason', None) or problem}") from problem
    if "\0" in text:
        raise Refused("holds zero characters, so it is no text")
    return name, found


def known(told):
    """Return an encoding that the user names, if files are written in it."""
    with contextlib.suppress(LookupError, ValueError):  # whatever else stands in the name, such as a zero
        if codecs.lookup(told)._is_text_encoding:
            return told
    raise Refused(f"is said to be in {told[:40]!r}, which is no encoding of files (--encoding)")


def legacy(content, odd):
    """Tell the encodings from before Unicode apart by what they spell. odd: where the first byte is no UTF-8."""
    from charset_normalizer import from_bytes

    start = 0 if odd < SAMPLE else odd - 200  # a sample that tells something has the odd bytes in it
    sample = content[start : start + SAMPLE]
    lines = sample[: sample.rfind(b"\n") + 1 or None].split(b"\n")
    telling = b"\n".join(line for line in lines if not line.isascii()) or sample
    for name in ("cp932", "euc_jp"):
        with contextlib.suppress(UnicodeDecodeError):
            if kana(telling.decode(name)) > 0.15:  # no other script gives Japanese syllables by chance
                return name
    best = from_bytes(telling, cp_isolation=LEGACY, threshold=0.6).best()
    if best is None:
        raise Refused("is in an encoding that cannot be told")
    if best.encoding not in LETTERS:
        return best.encoding
    texts = {name: telling.decode(name, "replace") for name in LETTERS}  # they share most bytes: what each spells tells
    return max(texts, key=lambda name: sum(map(texts[name].count, LETTERS[name])) - 5 * texts[name].count("\ufffd"))


def kana(text):
    """Compute the share of Japanese syllables among a text's characters beyond ASCII."""
    letters = [letter for letter in text if letter > "\x7f"]
    return sum("\u3041" <= letter <= "\u30ff" for letter in letters) / max(len(letters), 1)


# The first rows, by which the parent tells headings and format


def head(path, *, encoding, tabs):
    """Return the first rows with their last lines, and how the text is encoded and cut. tabs: they must cut it."""
    name, encoding, text = opened(path, encoding)
    ways = [way for way in WAYS if way[0] == "\t" or not (tabs or name.endswith(".tsv"))]
    first = first_lines(text)
    delimiter, quoting, share = cut_by(first, ways)
    words = {len(WORD.findall(line.encode())) for line in first if line.strip()}
    blanks = share < 1 and len(words) == 1 and max(words) > 2
    if blanks:
        first, (delimiter, quoting) = first_lines(with_tabs(text)), WAYS[0]
    rows = sampled(first, delimiter, quoting) or list(rows_of(first, 0, delimiter, quoting))
    usual = Counter(len(cells) for *_, cells in rows).most_common(1)
    rows = [(end, cells) for _, end, cells in rows if not is_comment(cells, usual[0][0])]
    ended = text.rstrip(b" \t")[-1:] in (b"\n", b"\r", b"")
    unended = 0 if ended else len(re.findall(rb"\r\n|\n|\r", text)) + 1
    how = {"encoding": encoding, "delimiter": delimiter, "quoting": quoting, "blanks": blanks}
    return {"inside": name, "how": how, "rows": rows[:HEAD], "unended": unended}, None


def opened(path, encoding):
    """Return the name of the one table in a tar archive, empty for other files; the encoding and the text."""
    with open(path, "rb") as stream:
        content, name = stream.read(), ""
    if content.startswith(PACKED):
        name, content = only(path)
    return name, *decoded(content, encoding)


def only(path):
    """Return name and content of the one table in a tar archive."""
    with contextlib.suppress(Exception), tarfile.open(path) as archive:  # whatever unpacking meets
        files = [(os.path.basename(one.name), one) for one in archive if one.isfile()]
        found = [(name, one) for name, one in files if INSIDE.fullmatch(name)]
        if len(found) == 1 and found[0][0].lower().endswith((".tsv", ".csv", ".txt")):
            return found[0][0], archive.extractfile(found[0][1]).read()
    raise Refused("is compressed: unpack it, then import the files in it")


def first_lines(text):
    """Return whole lines from the start of the file, enough to tell its format."""
    start = text[:START].decode("utf-8", "ignore")
    found = io.StringIO(start, newline="").readlines()
    return found[: min(4 * HEAD, max(len(found) - 1, 1))] if len(text) > START else found[: 4 * HEAD]


def with_tabs(text):
    """Put a tab between the words of each line."""
    return b"\n".join(b"\t".join(WORD.findall(line)) for line in text.split(b"\n"))


def cut_by(first, ways):
    """Choose the way by which most of the first lines lie in rows of one width, and tell that share of them."""
    best, choice = (0.0, 0), (",", csv.QUOTE_MINIMAL)
    for delimiter, quoting in ways:
        rows, covered = sampled(first, delimiter, quoting), Counter()
        for line, end, cells in rows:
            covered[len(cells)] += end - line + 1
        del covered[1]
        width, most = max(covered.items(), key=lambda item: item[::-1], default=(0, 0))
        share = most / sum(bool(line.strip()) for line in first) if most else 0.0
        share *= 1.0 if rows and len(rows[0][2]) > 1 else 0.5  # the headings are cut, too
        if (share, width) > best:
            best, choice = (share, width), (delimiter, quoting)
    return *choice, best[0]


def sampled(first, delimiter, quoting):
    """Return the rows of the first lines; the last one may go on behind them."""
    rows = []
    with contextlib.suppress(Refused):
        rows.extend(rows_of(first, 0, delimiter, quoting))
    return rows


def rows_of(lines, before, delimiter, quoting):
    """Yield first and last line and the cells of each row; before: lines above the first. Blank lines are passed over.

    Raises Refused where a quote does not close, or closes behind a line that reads like a row.
    """
    reader, line, last = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True), before + 1, []
    try:
        for cells in reader:
            end = before + reader.line_num
            if end > line and swallows(cells, last, delimiter):
                raise Refused(f"has a quote on line {line} that does not close before line {end}: double it")
            if delimiter.join(cells).strip():
                yield line, end, cells
                last = cells
            line = end + 1
    except csv.Error as problem:
        raise Refused(f"has a quote on line {line} that is not closed or not doubled ({problem})") from problem


def numbers(cells):
    """Tell of each cell whether it is a number."""
    return [bool(NUMBER.fullmatch(cell.strip())) for cell in cells]


def swallows(cells, before, delimiter):
    """Tell whether a cell holds a line that reads like the row before: as many cells, numbers where that had some."""
    inner = [line.split(delimiter) for cell in cells for line in cell.split("\n")[1:]]
    same = [row for row in inner if len(row) == len(before) > 1]
    return any(delimiter == "\t" or (any(numbers(before)) and numbers(row) == numbers(before)) for row in same)


def is_comment(cells, width):
    """Tell whether a line is a comment: it begins with a hash, and is no row."""
    return len(cells) != width and cells[0].lstrip().startswith("#")


# All rows, under headings that the parent has found


def cut(path, *, encoding, delimiter, quoting, blanks, after, width, needed):
    """Return all rows below the headings as columns of text, and those that are no rows, with the reason.

    width: how many cells each has; needed: how many every one must have at least.
    """
    text = opened(path, encoding)[2]
    text = with_tabs(text) if blanks else text
    if width and (table := plain(text, after, delimiter, width)) is not None:
        return {"broken": [], "notes": []}, table
    try:
        return columns(text, after, delimiter, quoting, width, needed)
    except Refused:  # between tabs a quote may be a letter
        if delimiter != "\t":
            raise
        return columns(text, after, delimiter, csv.QUOTE_NONE, width, needed)


def plain(text, after, delimiter, width):
    """Read a text without quotes and blank lines, in a third of the time; None for any other, or uneven rows."""
    import pyarrow as pa
    import pyarrow.csv

    if b'"' in text or re.search(rb"\n[ \t\r]*\n", text) or text.count(b"\r") != text.count(b"\r\n"):
        return None
    names = [str(place) for place in range(width)]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(text),
            pa.csv.ReadOptions(skip_rows=after, column_names=names, block_size=LONGEST),
            pa.csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )
    except pa.ArrowInvalid:
        return None
    return table.append_column("line", pa.array(range(after + 1, after + 1 + len(table)), pa.int64()))


def columns(text, after, delimiter, quoting, width, needed):
    """Cut one row after the other, and tell what is none."""
    import pyarrow as pa

    stream = io.StringIO(text.decode(), newline="")
    every = rows_of(islice(stream, after, None), after, delimiter, quoting)
    broken, comments, parts = [], Counter(), []
    rows = sound(every, delimiter, width, needed, broken, comments)
    kinds = pa.schema([*((str(place), pa.string()) for place in range(width)), ("line", pa.int64())])
    lines = [after]
    while lines:
        lines, cells = [], []
        for line, row in islice(rows, SLICE):
            lines.append(line)
            cells += row
        parts.append(pa.table([*(cells[place::width] for place in range(width)), lines], schema=kinds))
    told = {"broken": broken, "notes": [f"{count:,} {what}" for what, count in comments.items()]}
    return told, pa.concat_tables(parts).combine_chunks()


def sound(rows, delimiter, width, needed, broken, comments):
    """Yield line and cells of each row; add those that are none to ``broken``, with the reason, and count comments."""
    last = []
    for line, _, cells in rows:
        if len(cells) == width:
            last = cells
            yield line, cells
            continue
        if is_comment(cells, width):
            comments["lines are comments and were passed over"] += 1
            continue
        more = next(filter(None, map(str.strip, cells[width:])), "")
        if more.startswith("#"):
            comments["rows end with a comment, which was left out"] += 1
            more = ""
        shifted = any(was and cell.strip() and not now for was, now, cell in zip(numbers(last), numbers(cells), cells))
        if len(cells) >= width and not more:
            yield line, cells[:width]
        elif needed <= len(cells) < width and not shifted:
            comments["rows end before the last column; what they lack was taken as empty"] += 1
            yield line, cells + [""] * (width - len(cells))
        else:
            remedy = "write an empty cell for each that it lacks"
            if len(cells) > width:
                remedy = "quote cells that contain the delimiter" + ", such as a decimal comma" * (delimiter == ",")
            reason = f"{len(cells)} cells where {width} columns are named: {remedy}"
            broken.append((line, reason, cells[: 2 * width]))
            if len(broken) > MOST_BROKEN:
                raise Refused(f"has more than {MOST_BROKEN:,} lines up to line {line} that are no rows ({reason})")


# Workbooks: sheets with title, whether they are hidden, rows that hold anything with their lines, and merged cells,
# which count from row and column 0. Cells are text as their author saw them: 85 % is "85%", an error its name.

MOST_LETTERS = 256 << 20  # of all cells: a text that is stored once may be meant a million times
#: A formula without a value; one whose value is an empty text has it.
UNKNOWN = re.compile(
    rb"""<c\b(?![^>]*\bt="str")[^>]*>\s*+<f\b[^>]*(/>|>[^<]*</f>)\s*+(<v\s*+/>|<v>\s*+</v>)?\s*+</c>"""
)
ERROR = re.compile(rb"""\bt\s*=\s*["']e""")
PERCENT = re.compile(rb"""%|numFmtId\s*=\s*["'](9|10)["']""")


def workbook(path):
    """Read a workbook of any kind."""
    with open(path, "rb") as stream:
        packed = stream.read(2) == b"PK"
    found = [
        {"title": title, "hidden": hidden, "rows": [row for row in rows if any(row[1])], "merged": merged}
        for title, hidden, rows, merged in (unpacked if packed else old)(path)
    ]
    if sum(len(cell) for one in found for _, cells in one["rows"] for cell in cells) > MOST_LETTERS:
        raise Refused("repeats texts to more letters than a campaign has")
    return found, None


def unpacked(path):
    """Read the sheets of an XLSX or OpenDocument file."""
    import python_calamine

    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if not {"xl/workbook.xml", "content.xml"} & {*names}:
            raise Refused("is a zip archive, not a workbook: unpack it, or save a workbook as .xlsx")
        shown = of_xlsx(path, archive) if "xl/workbook.xml" in names else of_ods(archive)
    book = python_calamine.CalamineWorkbook.from_path(path)
    for one in book.sheets_metadata:
        if one.typ != python_calamine.SheetTypeEnum.WorkSheet:
            continue
        found = book.get_sheet_by_name(one.name)
        lead = [""] * (found.start[1] if found.start else 0)
        rows = {
            line: lead + [as_text(cell) for cell in cells]
            for line, cells in enumerate(found.iter_rows(), 1)
            if cells.count("") < len(cells)
        }
        width = max(map(len, rows.values()), default=0)
        for line, column, text in shown.get(one.name, []):
            cells = rows.setdefault(line, [""] * width)
            cells += [""] * (column - len(cells))
            cells[column - 1] = text
        hidden = one.visible != python_calamine.SheetVisibleEnum.Visible
        yield one.name, hidden, sorted(rows.items()), found.merged_cell_ranges or []


def of_ods(archive):
    """Refuse what calamine does not tell of OpenDocument: percentages, and cells that are merged over rows."""
    content = archive.read("content.xml")
    for sign, what in ((rb'value-type="percentage"', "percentages"), (rb'rows-spanned="(?!1")', "merged cells")):
        if re.search(sign, content):
            raise Refused(f"has {what}, which are not read from OpenDocument: save it as .xlsx")
    return {}


def of_xlsx(path, archive):
    """Look up what calamine reads as less than is shown: percentages and errors, by sheet: line, column and text."""
    names = [name for name in archive.namelist() if name.endswith(".xml")]
    odd = "xl/styles.xml" in names and PERCENT.search(archive.read("xl/styles.xml"))
    for name in names:
        content = re.sub(rb"(</?)\w+:", rb"\1", archive.read(name))  # without prefixes
        if UNKNOWN.search(content):
            raise Refused("has formulas without a stored value: open it in a spreadsheet program, and save it there")
        odd = odd or ERROR.search(content)
    if not odd:
        return {}
    import openpyxl

    shown = {}
    for sheet in openpyxl.load_workbook(path, read_only=True, data_only=True).worksheets:
        sheet.reset_dimensions()
        for cell in (cell for row in sheet.iter_rows() for cell in row if cell.value is not None):
            if cell.data_type == "e" or (cell.data_type == "n" and "%" in cell.number_format):
                text = cell.value if cell.data_type == "e" else percent(cell.value)
                shown.setdefault(sheet.title, []).append((cell.row, cell.column, text))
    return shown


def as_text(value):
    """Write a cell: numbers with all their digits, dates as dates."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def percent(value):
    """Write a share as it is shown."""
    return f"{float(value) * 100:.12g}%"


def old(path):
    """Read the sheets of an old workbook."""
    import xlrd

    with open(path, "rb") as stream:
        content = stream.read()
    if "EncryptedPackage".encode("utf-16-le") in content:  # an XLSX within
        raise Refused("has a password")
    book = xlrd.open_workbook(file_contents=content, formatting_info=True, ragged_rows=True, logfile=io.StringIO())
    for one in book.sheets():
        rows = [(line, [old_cell(book, cell) for cell in cells]) for line, cells in enumerate(one.get_rows(), 1)]
        merged = [[[top, left], [bottom - 1, right - 1]] for top, bottom, left, right in one.merged_cells]
        yield one.name, bool(one.visibility), rows, merged


def old_cell(book, cell):
    """Write a cell of an old workbook."""
    import xlrd

    if cell.ctype == xlrd.XL_CELL_ERROR:
        return xlrd.error_text_from_code.get(cell.value, "#VALUE!")
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return str(bool(cell.value))
    if cell.ctype == xlrd.XL_CELL_DATE:
        return as_text(xlrd.xldate_as_datetime(cell.value, book.datemode))
    if cell.ctype == xlrd.XL_CELL_NUMBER and "%" in book.format_map[book.xf_list[cell.xf_index].format_key].format_str:
        return percent(cell.value)
    return as_text(cell.value)


# Parquet


def parquet(path):
    """Read a whole table, its pages held against their checksums."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read()
    table.validate(full=True)
    return None, table


def label(path):
    """Read what a Parquet file says of itself: its metadata, its columns with their types, how many rows it has."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    own = (metadata.metadata or {}).get(b"evalkit", b"{}").decode()
    columns = [f"{one.name}: {one.type}" for one in metadata.schema.to_arrow_schema()]
    return {"label": own, "columns": columns, "rows": metadata.num_rows}, None


KINDS = {"workbook": workbook, "parquet": parquet, "label": label, "head": head, "cut": cut}
SOUND = {"workbook": "workbook", "parquet": "Parquet file", "label": "Parquet file"}


def heard(requests):
    """Pass on what the parent asks; when it is gone, end, whatever is being parsed."""
    for request in sys.stdin.buffer:
        requests.put(json.loads(request))
    os._exit(0)


def main():
    """Do one request after the other, until there are no more."""
    requests = queue.SimpleQueue()
    threading.Thread(target=heard, args=[requests], daemon=True).start()
    while True:
        kind, path, folder, said = requests.get()
        faulthandler.dump_traceback_later(LONGEST_PARSE, exit=True)  # where a parser lets no other thread run
        problem, found = "", None
        try:
            found, table = KINDS[kind](path, **said)
            if table is not None:
                import pyarrow as pa

                with pa.OSFile(os.path.join(folder, "table"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as to:
                    to.write_table(table)
        except Refused as one:
            problem = str(one)
        except BaseException as one:  # whatever parsers meet; a panic in Rust is no Exception
            why = " ".join(f"{type(one).__name__}: {one}".split())
            problem = f"is no sound {SOUND.get(kind, 'text')}: {why[:120]}"
        faulthandler.cancel_dump_traceback_later()
        begun = os.path.join(folder, "begun")
        with open(begun, "w", encoding="utf-8") as stream:
            json.dump([problem, found], stream)
        os.replace(begun, os.path.join(folder, "done"))


if __name__ == "__main__":
    main()
