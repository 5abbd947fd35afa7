"""What runs behind the wall: parse one foreign file after the other. It imports nothing of ours; it is run as a script.

It reads delimited text of any encoding, and tells what is no row with its line; workbooks (XLSX, ODS, XLS); Parquet.
Each line of standard input is a request: kind, path, a folder, and what else must be known. Into the folder go
``table``, where one was found, and last ``done``: what is wrong with the file, or nothing, and what was found.
"""

import codecs
import csv
import datetime
import io
import json
import os
import re
import sys
import zipfile
from collections import Counter
from itertools import islice, pairwise
from xml.etree import ElementTree

csv.field_size_limit(1 << 26)
HEAD, START = 50, 1 << 20  # rows, and bytes, by which a format is told
MOST_COLUMNS = 2_000  # more of them are no table
LONGEST = 8 << 20  # bytes of one line
MOST_BROKEN = 200_000  # more rows that cannot be cut into columns are another kind of file
MOST_LINES, MOST_FAILURES = 200, 200  # lines of a cell in quotes; quotes that turned out not to close
SLICE = 50_000  # rows that are turned into columns at a time, so that single cells take little memory
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
WORD = re.compile(rb'"[^"\n]*"|[^\s"]+')  # what stands in quotes is one
END = re.compile(rb"\r\n|\n|\r")
DELIMITERS = "\t,;|"
#: How tables begin that this suite writes: commas cut them.
OWN = ("kind,file,line,column,", "item,annotator,")


class Refused(Exception):
    """What a file cannot be read for, as the end of a sentence that its name begins."""


# Encodings

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Codecs of names and of source code, which turn text into other text, or nothing into anything.
NO_FILES = {"undefined", "punycode", "idna", "unicode-escape", "raw-unicode-escape", "mbcs", "oem", "charmap"}
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
        name = without_mark(content[:SAMPLE])
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
    try:
        codec = codecs.lookup(told)
        if codec._is_text_encoding and codec.name.replace("_", "-") not in NO_FILES:
            return told
    except (LookupError, ValueError):  # whatever else stands in the name, such as a zero
        pass
    raise Refused(f"is said to be in {told[:40]!r}, which is no encoding of files (--encoding)")


def without_mark(sample):
    """Tell UTF-16 without a byte order mark by the zeros in its first line; other zeros belong to no text."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) > 0.3 * len(sample) / 2 and min(even, odd) < 0.05 * len(sample):
        return "utf-16-le" if odd > even else "utf-16-be"
    raise Refused("holds zero bytes, so it is no text")


def legacy(content, odd):
    """Tell the encodings from before Unicode apart by what they spell. odd: where the first byte is no UTF-8."""
    from charset_normalizer import from_bytes

    start = 0 if odd < SAMPLE else odd - 200  # a sample that tells something has the odd bytes in it
    sample = content[start : start + SAMPLE]
    lines = sample[: sample.rfind(b"\n") + 1 or None].split(b"\n")
    telling = b"\n".join(line for line in lines if not line.isascii()) or sample
    syllables = {name: kana(telling.decode(name, "ignore")) for name in ("cp932", "euc_jp")}
    if max(syllables.values()) > 0.15:  # no other script gives Japanese syllables by chance
        return max(syllables, key=syllables.get)
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

KEPT: dict[str, bytes] = {}  # the text of the file whose head was read last


def head(path, *, encoding, tabs):
    """Return the first rows with their lines, and how the text is encoded and cut."""
    encoding, text = opened(path, encoding)
    if len(text) > LONGEST and max(map(len, text.split(b"\n"))) > LONGEST:
        raise Refused(f"has a line of more than {LONGEST >> 20} MiB, so it is no table")
    first = lines_of(start_of(text))
    delimiter, blanks = cut_by(first)
    if blanks:
        text, delimiter = with_tabs(text), "\t"
        first = lines_of(start_of(text))
    delimiter = "\t" if tabs else delimiter
    # a row's line is its last one here, because cells may span lines
    rows, whole = [], True
    for _, end, cells, reason in records(first, 0, delimiter, None):
        whole &= not reason  # where a quote is cut off with the text, its further lines are no rows
        if not reason and (whole or not rows or len(cells) in {len(row) for _, row in rows}):
            rows.append((end, cells))
    usual = Counter(len(cells) for _, cells in rows).most_common(1)
    rows = [(end, cells) for end, cells in rows if not is_comment(cells, usual[0][0])]
    last = text.rpartition(b"\n")[2]
    breaks = text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
    open_end = breaks + 1 if last.strip() and not last.endswith(b"\r") else 0
    KEPT.clear()
    KEPT[path] = text
    how = {"encoding": encoding, "delimiter": delimiter, "blanks": blanks}
    return {"how": how, "rows": rows[:HEAD], "open": open_end}, None


def opened(path, encoding):
    with open(path, "rb") as stream:
        return decoded(stream.read(), encoding)


def start_of(text):
    """Return whole lines from the start of the file, enough to tell its format."""
    start = text[:START]
    ends = [found.end() for found in END.finditer(start)][: 4 * HEAD]
    if ends and (len(ends) == 4 * HEAD or len(start) < len(text)):
        return start[: ends[-1]]
    return start.decode("utf-8", "ignore").encode()


def lines_of(text):
    """Cut a text into lines, whatever ends them."""
    lines = text.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def with_tabs(text):
    """Put a tab between the words of each line."""
    return b"\n".join(b"\t".join(WORD.findall(line)) for line in text.split(b"\n"))


def cut_by(lines):
    """Choose the delimiter that cuts most lines into equally many cells; tell whether blanks cut them rather.

    That is where lines have equally many words, and no delimiter cuts them alike: words may agree by chance, such as a
    heading of two words over names of two words.
    """
    if lines and lines[0].replace('"', "").startswith(OWN):
        return ",", False
    texts = [line for line in lines if line.strip()][: 2 * HEAD]
    words = {len(WORD.findall(line.encode())) for line in texts}
    blanks = len(texts) > 1 and len(words) == 1 and max(words) > 2
    best, choice = (0.0, 0), ","
    for delimiter in DELIMITERS:  # cells in quotes may hold lines, with delimiters of their own
        widths = []
        for *_, cells, reason in records(texts, 0, delimiter, None):
            if reason and len(widths) - widths.count(0) > 1:
                break  # a cell that goes on behind these lines
            widths.append(0 if reason else len(cells))
        counts = Counter(width for width in widths if width > 1)
        width, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        first, below = (widths[0], {*widths[1:]}) if widths else (0, set())
        share = rows / max(len(widths), 1) * (1.0 if first > 1 else 0.5)  # the headings are cut, too
        if (share, width) > best:
            best, choice = (share, width), delimiter
        blanks &= below != words and (first < 2 or below != {first})
    return choice, blanks


# All rows, under headings that the parent has found


def cut(path, *, encoding, delimiter, blanks, after, width, needed):
    """Return all rows below the headings as columns of text, and those that are no rows, with the reason.

    width: how many cells each has; needed: how many every one must have at least.
    """
    text = KEPT.pop(path, None)
    if text is None:  # another child has read the head
        text = opened(path, encoding)[1]
        text = with_tabs(text) if blanks else text
    table, broken, comments = quick(text, after, delimiter, width), [], Counter()
    if table is None:
        table = careful(sound(lines_of(text), after, delimiter, width, needed, broken, comments), width)
    return {"broken": broken, "notes": [f"{count:,} {what}" for what, count in comments.items()]}, table


def quick(text, after, delimiter, width):
    """Read plain rows; None where quotes are not plain, or there are blank lines or uneven rows."""
    import pyarrow as pa
    import pyarrow.csv

    start = 0
    for _ in range(after):
        start = text.find(b"\n", start) + 1
    body = text[start:]
    quoted = b'"' in body
    if not body or text.count(b"\r") != text.count(b"\r\n") or (quoted and not quotes_close(body, delimiter)):
        return None
    names = [str(place) for place in range(width)]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(body),
            read_options=pa.csv.ReadOptions(column_names=names, block_size=LONGEST),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter, quote_char='"' if quoted else False, ignore_empty_lines=False
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    return stripped(table, pa.array(range(after + 1, after + 1 + table.num_rows), pa.int64()))


def careful(rows, width):
    """Make a table of rows, each its line and its cells."""
    import pyarrow as pa

    kinds = pa.schema([*((str(place), pa.string()) for place in range(width)), ("line", pa.int64())])
    parts = []
    while taken := list(islice(rows, SLICE)):
        columns = [list(column) for column in zip(*(cells for _, cells in taken))]
        parts.append(pa.table([*columns, [line for line, _ in taken]], schema=kinds))
    table = pa.concat_tables(parts) if parts else kinds.empty_table()
    return stripped(table.select(range(width)), table["line"])


def stripped(table, lines):
    """Take away white space around cells; what is then empty is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = [pc.utf8_trim_whitespace(column) for column in table.columns]
    cells = [pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column) for column in cells]
    return pa.table([*cells, lines], names=[*table.column_names, "line"])


def quotes_close(body, delimiter):
    """Tell whether all quotes enclose a cell on one line, or are doubled within one."""
    border = re.escape(delimiter).encode()
    cells = re.findall(rb'(?<![^%b\n])"[^"\n]*(?:""[^"\n]*)*"(?![^%b\r\n])' % (border, border), body)
    return sum(cell.count(b'"') for cell in cells) == body.count(b'"')


def sound(text, after, delimiter, width, needed, broken, comments):
    """Yield line and cells of each row; add those that are none to ``broken``, with the reason, and count comments."""
    number_columns = [None] * width  # which hold nothing else so far, of those that do
    for line, _, cells, reason in records(text, after, delimiter, width):
        if is_comment(cells, width):
            comments["lines are comments and were passed over"] += 1
            continue
        if len(cells) > width and next(filter(None, map(str.strip, cells[width:])), "").startswith("#"):
            comments["rows end with a comment, which was left out"] += 1
            cells = cells[:width]
        plain = [bool(NUMBER.fullmatch(cell.strip())) if cell.strip() else None for cell in cells[:width]]
        shifted = any(held and one is False for one, held in zip(plain, number_columns))
        if not reason and needed <= len(cells) < width and not shifted:
            cells = cells + [""] * (width - len(cells))
            comments["rows end before the last column; what they lack was taken as empty"] += 1
        if reason := reason or uneven(cells, width, delimiter):
            broken.append((line, reason, cells[: width + MOST_COLUMNS]))
            if len(broken) > MOST_BROKEN:
                raise Refused(f"has more than {MOST_BROKEN:,} lines up to line {line} that are no rows ({reason})")
            continue
        for place, one in enumerate(plain):
            if one is not None:
                number_columns[place] = one and number_columns[place] is not False
        yield line, cells[:width]


def uneven(cells, width, delimiter):
    """Say why a row has too few or too many cells, and what to do; nothing where it has not."""
    if len(cells) == width or (len(cells) > width and not any(map(str.strip, cells[width:]))):
        return ""
    remedy = "quote cells that contain the delimiter"
    if len(cells) < width:
        remedy = "write an empty cell for each that it lacks"
    elif delimiter == "," and len(cells) <= MOST_COLUMNS:
        digits = [bool(re.fullmatch(r"\d+", cell.strip())) for cell in cells]
        remedy = "a decimal comma may cut a number" if any(map(all, pairwise(digits))) else remedy
    return f"{len(cells)} cells where {width} columns are named: {remedy}"


def is_comment(cells, width):
    """Tell whether a line is a comment: it begins with a hash, and is no row."""
    return len(cells) != width and cells[0].lstrip().startswith("#")


def records(text, start, delimiter, width):
    """Yield first and last line, cells and, of what is no row, the reason. Blank lines are passed over."""
    place, failures, before = start, 0, []
    usual = width or Counter(line.count("\t") + 1 for line in text).most_common(1)[0][0] if text else 0
    quoted = bool(text) and width is None and all(cell[:1] == cell[-1:] == '"' for cell in text[0].split("\t"))
    while place < len(text):
        line, first, reason = text[place], place, ""
        place += 1
        if not line.strip():
            continue
        if '"' not in line:
            cells = line.split(delimiter)
        elif delimiter == "\t" and not quoted and (width is None or line.count("\t") == width - 1):
            cells = [unquoted(cell) for cell in line.split("\t")]
            if failures < MOST_FAILURES and cells[-1].startswith('"') and cells[-1].count('"') % 2:
                whole = continued(text, first, usual)
                failures += whole is None
                cells, place = whole or (cells, place)
        else:  # where quotes have failed often, they are not followed any further
            most = MOST_LINES if failures < MOST_FAILURES else 1
            cells, used, reason = quoted_row(text, first, delimiter, most, before)
            failures += bool(reason)
            place = first + used
        if not reason:
            before = cells
        yield first + 1, place, cells, reason


def continued(text, place, width):
    """Follow a tab-separated row whose last cell on this line opens a quote; return its cells and where it ends.

    None where no quote closes, or a line on the way has as many cells as a row: then the quote is a letter of a text.
    """
    cells, used, reason = quoted_row(text, place, "\t", MOST_LINES, [])
    inner = text[place + 1 : place + used]
    whole = not reason and inner and len(cells) == width and all(line.count("\t") < width - 1 for line in inner)
    return (cells, place + used) if whole else None


def quoted_row(text, place, delimiter, most, before):
    """Cut a row whose cells may go on over several lines; return its cells, their lines, and why it is no row."""
    lines = (text[at] + "\n" for at in range(place, min(place + most, len(text))))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        cells = next(reader)
        if reader.line_num == 1 or not swallows(cells, before, delimiter):
            return cells, reader.line_num, ""
        reason = f"a quote opens here and does not close before line {place + reader.line_num}"
    except (csv.Error, StopIteration) as problem:
        reason = f"a quote is not closed or not doubled ({problem})"
    return text[place].split(delimiter), 1, reason


def swallows(cells, before, delimiter):
    """Tell whether a cell holds a line that reads like a row: as many cells, numbers where the last row had."""

    def numbers(row):
        return [bool(NUMBER.fullmatch(cell.strip())) for cell in row]

    inner = [line.split(delimiter) for cell in cells for line in cell.split("\n")[1:]]
    return any(numbers(before)) and any(numbers(row) == numbers(before) for row in inner)


def unquoted(cell):
    """Take away quotes around a cell where they can only be that."""
    inner = cell[1:-1]
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell


# Workbooks: sheets with title, whether they are hidden, rows that hold anything with their lines, and merged cells,
# which count from row and column 0. Cells are text as their author saw them: 85 % is "85%", an error its name.

FORMULA = "=(not computed)"  # what a formula reads that has no stored value
MOST_LETTERS = 256 << 20  # of all cells: a text that is stored once may be meant a million times
MOST_REPEATS = 1 << 20  # of a row or a cell
ODD = re.compile(rb"""[<:]f[\s/>]|\bt=["']e""")  # formulas and errors


def workbook(path):
    """Read a workbook of any kind."""
    with open(path, "rb") as stream:
        start = stream.read(8)
    if start.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            found = list(packed(path, archive))
    else:
        found = list(xls(path))
    if sum(len(cell) for one in found for _, cells in one["rows"] for cell in cells) > MOST_LETTERS:
        raise Refused("repeats texts to more letters than a campaign has")
    return found, None


def packed(path, archive):
    """Read the sheets of an archive that is a workbook."""
    names = archive.namelist()
    if len({name.casefold() for name in names}) < len(names):
        raise Refused("has two parts of one name")
    if any(one.flag_bits & 1 for one in archive.infolist()):
        raise Refused("has a password")
    if "xl/workbook.xml" in names:
        return xlsx(path, archive)
    if "content.xml" in names:
        return ods(archive)
    if any(name.endswith("workbook.bin") for name in names):
        raise Refused("is a binary workbook (.xlsb): save it as .xlsx")
    raise Refused("is a zip archive, not a workbook: unpack it, then import the files in it")


def as_text(value):
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

    book = python_calamine.CalamineWorkbook.from_path(path)
    places, styles = parts(archive), percentages(archive)
    for one in book.sheets_metadata:
        if one.name not in places:
            continue
        found = book.get_sheet_by_name(one.name)
        lead = [""] * (found.start[1] if found.start else 0)
        rows = {
            line: lead + [as_text(cell) for cell in cells]
            for line, cells in enumerate(found.iter_rows(), 1)
            if cells.count("") < len(cells)
        }
        width = max(map(len, rows.values()), default=0)
        for line, column, what in special(archive.read(places[one.name]), styles):
            cells = rows.setdefault(line, [""] * width)
            cells += [""] * (column + 1 - len(cells))
            if what != "%":
                cells[column] = cells[column] or what
            elif cells[column]:
                cells[column] = percent(cells[column])
        hidden = one.visible != python_calamine.SheetVisibleEnum.Visible
        yield sheet(one.name, hidden, sorted(rows.items()), found.merged_cell_ranges or [])


def parts(archive):
    """Map each sheet's title to the part that holds its cells."""
    tree = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {one.get("Id"): one.get("Target", "") for one in tree}
    places = {}
    for one in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter():
        if local(one) == "sheet":
            target = targets[attribute(one, "id")]
            places[one.get("name")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return {title: place for title, place in places.items() if "/worksheets/" in f"/{place}"}


def percentages(archive):
    """Number the styles under which a number is shown as a percentage."""
    if "xl/styles.xml" not in archive.namelist():
        return set()
    tree = [*ElementTree.fromstring(archive.read("xl/styles.xml")).iter()]
    shown = [one for one in tree if local(one) == "numFmt" and "%" in one.get("formatCode", "")]
    formats = {"9", "10", *(one.get("numFmtId") for one in shown)}
    styles = [one for group in tree if local(group) == "cellXfs" for one in group]
    return {str(number) for number, one in enumerate(styles) if one.get("numFmtId") in formats}


def special(content, styles):
    """Yield line, column and what is said of each cell that is no plain value: "%" where it is a percentage."""
    line, column = 0, -1
    if not styles and not ODD.search(content):
        return  # most sheets hold plain values alone
    for event, one in ElementTree.iterparse(io.BytesIO(content), ("start", "end")):
        name = local(one)
        if name == "row" and event == "start":
            line, column = int(one.get("r", line + 1)), -1
        elif name == "row":
            one.clear()
        elif name == "c" and event == "start":
            column = letters(one.get("r")) if one.get("r") else column + 1
        elif name == "c":
            value = "".join(inner.text or "" for inner in one if local(inner) == "v").strip()
            kind = one.get("t", "n")
            if kind == "e" or (not value and any(local(inner) == "f" for inner in one)):
                yield line, column, value or FORMULA
            elif kind == "n" and value and one.get("s") in styles:
                yield line, column, "%"


def letters(place):
    """Count a column from 0 by its letters."""
    number = 0
    for letter in filter(str.isalpha, place.upper()):
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


# OpenDocument, version 1.3, part 3, chapter 9


def attribute(element, name):
    """Return an attribute by its name alone; a program's own (calcext) do not count."""
    return next((value for key, value in element.items() if key.endswith(f"}}{name}") and "calcext" not in key), "")


def times(element, name):
    """Tell how often a row or a cell is repeated."""
    return min(int(attribute(element, name) or 1), MOST_REPEATS)


def ods(archive):
    """Read the sheets of an OpenDocument spreadsheet, with what is repeated unfolded."""
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Refused("has a password")
    tree = [*ElementTree.fromstring(archive.read("content.xml")).iter()]
    styles = [one for one in tree if local(one) == "style"]
    hidden = {attribute(one, "name") for one in styles if any(attribute(inner, "display") == "false" for inner in one)}
    for number, table in enumerate((one for one in tree if local(one) == "table"), 1):
        rows, merged, line = [], [], 0
        for row in (one for one in table.iter() if local(one) == "table-row"):
            cells, again = cells_of(row, line, merged), times(row, "number-rows-repeated")
            if any(cells):
                rows += [(line + place, list(cells)) for place in range(1, again + 1)]
            line += again
        title = attribute(table, "name") or f"sheet {number}"
        yield sheet(title, attribute(table, "style-name") in hidden, rows, merged)


def cells_of(row, line, merged):
    """Write the cells of a row, up to the last that holds anything; add those that are merged."""
    cells, empty = [], 0
    for cell in (one for one in row if local(one) in ("table-cell", "covered-table-cell")):
        again = times(cell, "number-columns-repeated")
        value = "" if local(cell) == "covered-table-cell" else value_of(cell)
        if not value:
            empty += again
            continue
        place = len(cells) + empty
        across, down = (int(attribute(cell, f"number-{name}-spanned") or 1) for name in ("columns", "rows"))
        if across > 1 or down > 1:
            merged.append([[line, place], [line + down - 1, place + across - 1]])
        cells += [""] * empty + [value] * again
        empty = 0
    return cells


def value_of(cell):
    """Write a cell of an OpenDocument spreadsheet as its author saw it, numbers and dates as they are stored."""
    kind, shown = attribute(cell, "value-type"), "\n".join(letters_of(one) for one in cell if local(one) == "p")
    value = attribute(cell, "value")
    if kind == "percentage":
        return percent(value)
    if kind in ("float", "currency"):
        return value if abs(float(value)) != float("inf") else "#NUM!"
    if kind == "date":
        return attribute(cell, "date-value").replace("T", " ")
    if kind == "boolean":
        return attribute(cell, "boolean-value").capitalize()
    if kind == "time":
        return shown or attribute(cell, "time-value")
    if not kind and not shown and attribute(cell, "formula"):
        return FORMULA
    return attribute(cell, "string-value") or shown


def letters_of(element):
    """Put the letters of a paragraph together, with what stands for blanks among them."""
    found = [element.text or ""]
    for one in element:
        name = local(one)
        if name == "s":
            found.append(" " * min(int(attribute(one, "c") or 1), 1000))
        elif name != "annotation":
            found.append({"tab": "\t", "line-break": "\n"}.get(name) or letters_of(one))
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
        rows = [(line, [old(book, cell) for cell in cells]) for line, cells in enumerate(one.get_rows(), 1)]
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
        return as_text(xlrd.xldate_as_datetime(cell.value, book.datemode))
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        form = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
        return percent(cell.value) if "%" in form else as_text(cell.value)
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


def main():
    """Do one request after the other, until there are no more."""
    for request in sys.stdin.buffer:
        kind, path, folder, said = json.loads(request)
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
        begun = os.path.join(folder, "begun")
        with open(begun, "w", encoding="utf-8") as stream:
            json.dump([problem, found], stream)
        os.replace(begun, os.path.join(folder, "done"))


if __name__ == "__main__":
    main()
