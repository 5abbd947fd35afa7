"""Read delimited text of any encoding; what is no row is told with its line."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from evalkit import DataError
from evalkit.data.delimited import UNFINISHED
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files import encodings
from evalkit.data.importing.files.rows import (
    HEAD,
    MOST_COLUMNS,
    Breaking,
    Broken,
    Rows,
    Source,
    framed,
    stripped,
)

_BLOCK = 8 << 20  # bytes that pyarrow cuts at a time
_START = 1 << 20  # bytes that are looked at to recognise a format
_LONGEST = 8 << 20  # bytes of one row
_MOST_CUT = 5_000_000  # lines of a file that is not plain
_MOST_LINES, _MOST_FAILURES = 200, 200  # lines of a cell in quotes; quotes that turned out not to close
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_WORD = re.compile(rb'"[^"\n]*"|[^\s"]+')  # what stands in quotes is one
_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
_END = re.compile(rb"\r\n|\n|\r")
#: How tables begin that are written here (``rejected.FIELDS``, ``designs.HEADINGS``): commas cut them.
_OWN = ("kind,file,line,column,", "item,annotator,")


def source(path: Path, content: bytes, digest: str, *, encoding: str | None = None) -> Source:
    """Take a delimited text file: delimiter and encoding are found out, unless ``encoding`` names it.

    Raises DataError for files that are no text, or whose encoding cannot be told.
    """
    found, text = encodings.decoded(path.name, content, encoding)
    if len(text) > _LONGEST and max(map(len, text.split(b"\n"))) > _LONGEST:
        raise DataError(f"{path.name} has a line of more than {_LONGEST >> 20} MiB. Is it a table?")
    notes = []
    if found not in ("utf-8", "utf-8-sig"):
        how = "as told" if encoding else "found by its bytes; name another with --encoding if names look wrong"
        notes.append(f"read as {found} ({how})")
    first = _lines(_first(text), path.name)
    if _by_blanks(first):
        text = b"\n".join(b"\t".join(_WORD.findall(line)) for line in text.split(b"\n"))
        first = _lines(_first(text), path.name)
        notes.append("cells are cut by blanks and tabs, which were all taken for tabs")
    delimiter = "\t" if path.suffix.casefold() == ".tsv" else _delimiter(first)
    notes.append(f"cells are cut by {_NAMES[delimiter]}")
    last = text.rpartition(b"\n")[2]
    if last.strip() and not last.endswith(b"\r"):
        notes.append(UNFINISHED.format(where=f"line {_count_lines(text) + 1}"))
    # a row's line is its last one here, because cells may span lines
    head: list[tuple[int, list[str]]] = []
    whole = True
    for _, end, cells, reason in _records(first, 0, delimiter, None):
        whole &= not reason  # where a quote is cut off with the text, its further lines are no rows
        if not reason and (whole or not head or len(cells) in {len(row) for _, row in head}):
            head.append((end, cells))
    usual = Counter(len(cells) for _, cells in head).most_common(1)
    head = [(end, cells) for end, cells in head if not (usual and _is_comment(cells, usual[0][0]))]
    return Source(
        path, digest, head[:HEAD], lambda header, after: _read(text, header, after, delimiter, path.name), notes
    )


def _read(text: bytes, header: list[str], after: int, delimiter: str, origin: str = "the file") -> Rows:
    """Read the rows below line ``after``: quickly where every line is a row, every delimiter the end of a cell."""
    return _quick(text, header, after, delimiter) or _careful(_lines(text, origin), header, after, delimiter, origin)


def _quick(text: bytes, header: list[str], after: int, delimiter: str) -> Rows | None:
    """Read plain rows; None where quotes are not plain, or there are blank lines or uneven rows."""
    start = 0
    for _ in range(after):
        start = text.find(b"\n", start) + 1
    body = text[start:]
    returns = text.count(b"\r")
    quoted = b'"' in body
    if not body or b"\n\n" in body or body[:1] in b"\r\n" or (quoted and not _quotes_close(body, delimiter)):
        return None
    if returns and (b"\n\r\n" in body or returns != text.count(b"\r\n")):
        return None
    places = [str(place) for place in range(len(header))]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(body),
            read_options=pa.csv.ReadOptions(column_names=places, block_size=_BLOCK),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter, quote_char='"' if quoted else False, ignore_empty_lines=False
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    frame = table.to_pandas(types_mapper={pa.string(): pd.StringDtype(na_value=np.nan)}.get)
    index = pd.RangeIndex(after + 1, after + 1 + len(frame), name="line")
    rows: list[bytes] = []

    def raw(place: int) -> list[str]:
        rows.extend([] if rows else body.split(b"\n"))
        line = rows[place].decode("utf-8", "replace").removesuffix("\r")
        return _quoted([line], 0, delimiter, 1, [])[0] if quoted else line.split(delimiter)

    return Rows(stripped(frame.set_axis(header, axis=1).set_axis(index, axis=0)), raw)


def _quotes_close(body: bytes, delimiter: str) -> bool:
    """Tell whether all quotes open at the start of a cell, close at its end on the same line, or are doubled."""
    letters = np.frombuffer(b"\n" + body + b"\n", dtype=np.uint8)
    quotes, ends = np.flatnonzero(letters == ord('"')), np.flatnonzero(letters == ord("\n"))
    borders = [ord(letter) for letter in f'{delimiter}\n"']
    return bool(
        (np.searchsorted(quotes, ends) % 2 == 0).all()
        and np.isin(letters[quotes[0::2] - 1], borders).all()
        and np.isin(letters[quotes[1::2] + 1], [*borders, ord("\r")]).all()
    )


def _careful(text: list[str], header: list[str], after: int, delimiter: str, origin: str = "the file") -> Rows:
    """Read lines with quotes, blank lines or uneven rows."""
    broken = Breaking(origin, "Check that this is the table, and cut by what its headings are cut by.")
    places: list[tuple[int, int]] = []  # of each sound row the first and the last line
    width = len(header)
    comments: Counter[str] = Counter()
    numbers: list[bool | None] = [None] * width  # which columns hold nothing else so far, where they hold anything
    needed = [
        place
        for place, name in enumerate(header, 1)
        if columns.meaning(name) in columns.NEEDED or columns.plain(name) in columns.OTHERS
    ]

    def sound() -> Iterator[tuple[int, list[str]]]:
        for first, last, cells, reason in _records(text, after, delimiter, width):
            if _is_comment(cells, width):
                comments["lines are comments and were passed over"] += 1
                continue
            if len(cells) > width and next(filter(None, map(str.strip, cells[width:])), "").startswith("#"):
                comments["rows end with a comment, which was left out"] += 1
                cells = cells[:width]
            plain = [bool(_NUMBER.fullmatch(cell.strip())) if cell.strip() else None for cell in cells[:width]]
            shifted = any(held and one is False for one, held in zip(plain, numbers))
            if not reason and max(needed, default=1) <= len(cells) < width and not shifted:
                cells = cells + [""] * (width - len(cells))
                comments["rows end before the last column; what they lack was taken as empty"] += 1
            if not reason and len(cells) != width and (len(cells) < width or any(map(str.strip, cells[width:]))):
                remedy = (
                    "write an empty cell for each that it lacks"
                    if len(cells) < width
                    else (
                        "a decimal comma may cut a number"
                        if _decimal_comma(cells, width, delimiter)
                        else "quote cells that contain the delimiter"
                    )
                )
                reason = f"{len(cells)} cells where {width} columns are named: {remedy}"
            if reason:
                broken.append(Broken(first, reason, cells[: width + MOST_COLUMNS]))
            else:
                places.append((first, last))
                for place, one in enumerate(plain):
                    numbers[place] = numbers[place] if one is None else one and numbers[place] is not False
                yield first, cells[:width]

    def raw(place: int) -> list[str]:
        first, last = places[place]
        cells = next(_records(text[first - 1 : last], 0, delimiter, width))[2][:width]
        return cells + [""] * (width - len(cells))

    frame = framed(sound(), header)
    return Rows(frame, raw, broken, [f"{count:,} {what}" for what, count in comments.items()])


def _is_comment(cells: list[str], width: int) -> bool:
    """Tell whether a line is a comment: it begins with a hash, and is no row."""
    return len(cells) != width and cells[0].lstrip().startswith("#")


def _by_blanks(lines: list[str]) -> bool:
    """Tell whether rows are cut by blanks and tabs: as many words on each line, and no delimiter cuts all lines alike.

    Words may agree by chance where a delimiter is there: a heading of two words over names of two words.
    """
    rows = [line for line in lines if line.strip()]
    counts = {len(_WORD.findall(line.encode("utf-8", "surrogatepass"))) for line in rows}
    if len(rows) < 2 or len(counts) != 1 or (width := counts.pop()) < 3:
        return False
    for delimiter in _NAMES:
        headed, *below = (_width(line, delimiter) for line in rows)
        if set(below) == {width} or (headed > 1 and set(below) == {headed}):
            return False
    return True


def _records(
    text: Sequence[str], start: int, delimiter: str, width: int | None
) -> Iterator[tuple[int, int, list[str], str]]:
    """Yield first and last line, cells and, of what is no row, the reason. Blank lines are passed over."""
    place, failures = start, 0
    before: list[str] = []
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
            cells = [_unquoted(cell) for cell in line.split("\t")]
            if failures < _MOST_FAILURES and cells[-1].startswith('"') and cells[-1].count('"') % 2:
                whole = _continued(text, first, usual)
                failures += whole is None
                cells, place = whole or (cells, place)
        else:  # where quotes have failed often, they are not followed any further
            most = _MOST_LINES if failures < _MOST_FAILURES else 1
            cells, used, reason = _quoted(text, first, delimiter, most, before)
            failures += bool(reason)
            place = first + used
        if not reason:
            before = cells
        yield first + 1, place, cells, reason


def _continued(text: Sequence[str], place: int, width: int) -> tuple[list[str], int] | None:
    """Follow a tab-separated row whose last cell on this line opens a quote; return its cells and where it ends.

    None where no quote closes, or a line on the way has as many cells as a row: then the quote is a letter of a text.
    """
    cells, used, reason = _quoted(text, place, "\t", _MOST_LINES, [])
    inner = text[place + 1 : place + used]
    whole = not reason and inner and len(cells) == width and all(line.count("\t") < width - 1 for line in inner)
    return (cells, place + used) if whole else None


def _quoted(
    text: Sequence[str], place: int, delimiter: str, most: int, before: list[str]
) -> tuple[list[str], int, str]:
    """Cut a row whose cells may go on over several lines; return its cells, their lines, and why it is no row."""
    reader = csv.reader(
        (text[at] + "\n" for at in range(place, min(place + most, len(text)))), delimiter=delimiter, strict=True
    )
    try:
        cells = next(reader)
        if reader.line_num == 1 or not _swallows(cells, before, delimiter):
            return cells, reader.line_num, ""
        reason = f"a quote opens here and does not close before line {place + reader.line_num}"
    except (csv.Error, StopIteration) as problem:
        reason = f"a quote is not closed or not doubled ({problem})"
    return text[place].split(delimiter), 1, reason


def _swallows(cells: list[str], before: list[str], delimiter: str) -> bool:
    """Tell whether a cell holds a line that reads like a row: as many cells, numbers where the last row had."""
    numbers = [bool(_NUMBER.fullmatch(cell.strip())) for cell in before]
    inner = [line for cell in cells if "\n" in cell for line in cell.split("\n")[1:]]
    rows = [line.split(delimiter) for line in inner]
    return any(numbers) and any(
        len(row) == len(numbers) and [bool(_NUMBER.fullmatch(cell.strip())) for cell in row] == numbers for row in rows
    )


def _lines(text: bytes, origin: str = "the file") -> list[str]:
    """Cut a text into lines, whatever ends them. Raises DataError where they are too many to be held one by one."""
    if (count := _count_lines(text)) > _MOST_CUT:
        raise DataError(
            f"{origin} has {count:,} lines, some of them blank, uneven or in quotes, more than can be read one by one. "
            "Mend those, or split the file."
        )
    lines = text.decode("utf-8", "surrogatepass").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def _first(text: bytes) -> bytes:
    """Return whole lines from the start of the file, enough to tell its format."""
    start = text[:_START]
    ends = [found.end() for found in _END.finditer(start)][: 4 * HEAD]
    return (
        start[: ends[-1]]
        if ends and (len(ends) == 4 * HEAD or len(start) < len(text))
        else (start.decode("utf-8", "ignore").encode())
    )


def _unquoted(cell: str) -> str:
    """Take away quotes around a cell where they can only be that."""
    inner = cell[1:-1]
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell


def _decimal_comma(cells: list[str], width: int, delimiter: str) -> bool:
    """Tell whether a row may be too long because numbers like 85,5 were cut."""
    if delimiter != "," or not width < len(cells) <= MOST_COLUMNS:
        return False
    return any(map(all, pairwise(bool(re.fullmatch(r"\d+", cell.strip())) for cell in cells)))


def _width(line: str, delimiter: str) -> int:
    """Count the cells of a line."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:  # a cell beyond the limit of the csv module
        return line.count(delimiter) + 1


def _delimiter(lines: list[str]) -> str:
    """Choose the delimiter that cuts most lines into equally many cells."""
    if lines and lines[0].replace('"', "").startswith(_OWN):
        return ","
    texts = [line for line in lines if line.strip()][: 2 * HEAD]
    best, choice = (0.0, 0), ","
    for delimiter in "\t,;|":  # cells in quotes may hold lines, with delimiters of their own
        widths: list[int] = []
        for *_, cells, reason in _records(texts, 0, delimiter, None):
            if reason and len(widths) - widths.count(0) > 1:
                break  # a cell that goes on behind these lines
            widths.append(0 if reason else len(cells))
        counts = Counter(width for width in widths if width > 1)
        width, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        share = rows / max(len(widths), 1) * (1.0 if widths and widths[0] > 1 else 0.5)  # the headings are cut, too
        if (share, width) > best:
            best, choice = (share, width), delimiter
    return choice
