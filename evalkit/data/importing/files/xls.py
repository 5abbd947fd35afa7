"""Look into old workbooks (.xls) before they are unfolded: how far their cells reach, and what single ones are.

Source: [MS-CFB] for the file around the workbook, [MS-XLS] for its records. calamine reads the values; percentages,
errors and the bounds of each sheet are told here, by the records that hold them.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from evalkit import DataError

MOST_BYTES = 64 << 20  # of a file
_SIGN = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_FREE = 0xFFFFFFFA  # sector numbers from here on are none
_MOST_SHEETS, _MOST_COLUMNS = 1_000, 256
_MOST_TOLD = 2_000_000  # cells that are no plain values
_MOST_TEXT = 512 << 20  # letters of all cells, each of which calamine gives a text of its own
_LONGEST = 32_767  # letters of a cell
_BOF, _EOF, _SHEET, _FORMAT, _XF, _PASS = 0x0809, 0x000A, 0x0085, 0x041E, 0x00E0, 0x002F
_NUMBER, _RK, _FORMULA, _ERROR, _LABELS, _RKS = 0x0203, 0x027E, 0x0006, 0x0205, (0x0204, 0x00FD, 0x00D6), 0x00BD
_BY_NUMBER, _MORE = 0x00FD, 0x003C  # a cell that names one of the shared texts; what goes on from the record before
_EXTENT, _TEXTS = 0x0200, 0x00FC  # what a sheet or the texts claim to span, for which calamine makes room at once
_CODES = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
_NO_TEXT = 3  # what a formula gave: here an empty text

_Place = tuple[int, int]  # row and column, from 0


@dataclass
class Look:
    """What a sheet's records say: title, whether it is hidden, how far cells reach, and cells that are no values.

    told: by their places, "%" for percentages, else what they read. texts: numbers of the shared texts in its cells.
    """

    title: str
    hidden: bool
    rows: int = 0
    columns: int = 0
    told: dict[_Place, str] = field(default_factory=dict)
    texts: list[int] = field(default_factory=list)


def looks(origin: str, content: bytes) -> list[Look]:
    """Look through all sheets of cells.

    Raises DataError where the file has a password or is larger than 64 MiB, ValueError where it is damaged.
    """
    if len(content) > MOST_BYTES:
        raise DataError(f"{origin} is larger than {MOST_BYTES >> 20} MiB. Save it as .xlsx or CSV.")
    streams = _streams(content)
    book = streams.get("workbook") or streams.get("book")
    if "encryptedpackage" in streams:
        raise DataError(f"{origin} has a password. Save it without one.")
    if book is None:
        raise DataError(f"{origin} is an old office document, no workbook. Export the table as CSV or XLSX.")
    return _looks(origin, book)


def _looks(origin: str, book: bytes) -> list[Look]:
    """Read what the workbook says of styles and sheets, then each sheet."""
    percent, styles, found = {9, 10}, [], []
    for kind, body in _records(book, 0, len(book)):
        if kind == _PASS:
            raise DataError(f"{origin} has a password. Save it without one.")
        if kind == _FORMAT and b"%" in body[2:]:
            percent.add(_short(body, 0))
        elif kind == _XF:
            styles.append(_short(body, 2))
        elif kind == _SHEET:  # charts and macros are none of cells, but they are read, too
            found.append((struct.unpack_from("<I", body)[0], bool(body[4] & 3 or body[5]), _title(body[6:])))
        elif kind == _TEXTS and 3 * struct.unpack_from("<I", body, 4)[0] > len(book):
            raise ValueError("more texts than the file can hold")
    if len(found) > _MOST_SHEETS:
        raise ValueError("more sheets than a workbook has")
    shares, starts = {place for place, style in enumerate(styles) if style in percent}, [start for start, *_ in found]
    if len(set(starts)) < len(starts):
        raise ValueError("two sheets in one place")
    if any(start >= len(book) for start in starts):
        raise ValueError("a sheet beyond its end")
    ends = dict(pairwise([*sorted(starts), len(book)]))
    looks = [_looked(book, start, ends[start], Look(title, hidden), shares) for start, hidden, title in found]
    if (wide := max((look.columns for look in looks), default=0)) > _MOST_COLUMNS:  # calamine makes room for them all
        raise ValueError(f"{wide:,} columns, where an old workbook ends at {_MOST_COLUMNS}")
    _demand_few_letters(origin, book, looks)
    return looks


def _demand_few_letters(origin: str, book: bytes, looks: list[Look]) -> None:
    """Refuse cells that repeat shared texts to more than can be held in memory."""
    lengths = _lengths(_shared(book))
    letters = sum(lengths[number] for look in looks for number in look.texts if number < len(lengths))
    if letters > _MOST_TEXT:
        raise DataError(f"{origin} repeats texts to more than {_MOST_TEXT >> 20} MiB. Do not trust this file.")


def _shared(book: bytes) -> list[bytes]:
    """Return the record of the shared texts and those in which it goes on."""
    parts: list[bytes] = []
    for kind, body in _records(book, 0, len(book)):
        if kind == _TEXTS or (kind == _MORE and parts):
            parts.append(body)
        elif parts:
            break
    return parts


def _lengths(parts: list[bytes]) -> list[int]:
    """Count the letters of each shared text; from where the texts cannot be followed on, they count as the longest.

    A text is its length, flags, counts of what follows its letters, and its letters of one byte or two; where it goes
    on in another record, flags stand there again.
    """
    if not parts or len(parts[0]) < 8:
        return []
    count, part, place, lengths = struct.unpack_from("<I", parts[0], 4)[0], 0, 8, list[int]()
    try:
        while len(lengths) < count:
            if place >= len(parts[part]):
                part, place = part + 1, 0
            letters, flags = struct.unpack_from("<HB", parts[part], place)
            place += 3
            left, rest = letters, 0
            if flags & 8:
                rest, place = rest + 4 * _short(parts[part], place), place + 2
            if flags & 4:
                rest, place = rest + struct.unpack_from("<I", parts[part], place)[0], place + 4
            while left:
                width = 1 + (flags & 1)
                here = min(left, (len(parts[part]) - place) // width)
                left, place = left - here, place + here * width
                if left:
                    part, place, flags = part + 1, 1, parts[part + 1][0]
            while rest > len(parts[part]) - place:
                rest, part, place = rest - (len(parts[part]) - place), part + 1, 0
            place += rest
            lengths.append(letters)
    except (IndexError, struct.error):
        lengths += [_LONGEST] * (count - len(lengths))
    return lengths


def _title(body: bytes) -> str:
    """Read a sheet's name: letters of one byte or two, as a flag says; before 1997 there is none."""
    count = body[0]
    if len(body) == count + 1:
        return body[1:].decode("cp1252", "replace")
    return body[2 : 2 + 2 * count].decode("utf-16-le") if body[1] & 1 else body[2 : 2 + count].decode("latin-1")


def _looked(book: bytes, start: int, end: int, look: Look, shares: set[int]) -> Look:
    """Walk through the records of one sheet; charts in it have records of their own."""
    depth = 0
    for kind, body in _records(book, start, end):
        depth += (kind == _BOF) - (kind == _EOF)
        if not depth:
            return look
        if len(look.told) > _MOST_TOLD:
            raise ValueError("more percentages and errors than a table has")
        if kind == _EXTENT and len(body) >= 10:
            last_row, *_, last_column = struct.unpack_from("<4xI2xH" if len(body) > 12 else "<2xH2xH", body)
            look.rows, look.columns = max(look.rows, last_row), max(look.columns, last_column)
        if len(body) < 6:
            continue
        row, column, style = struct.unpack_from("<HHH", body)
        if kind == _RKS:
            last = _short(body, len(body) - 2)
            cells = [
                (at, _short(body, 4 + 6 * number))
                for number, at in enumerate(range(column, last + 1))
                if 4 + 6 * number + 6 <= len(body) - 2
            ]
            look.told |= {(row, at): "%" for at, style in cells if style in shares}
        elif kind in (_NUMBER, _RK, _FORMULA, _ERROR, *_LABELS):
            last = column
            if said := _said(kind, body):
                look.told[row, column] = said
            elif kind == _BY_NUMBER and len(body) >= 10:
                look.texts.append(struct.unpack_from("<I", body, 6)[0])
            elif kind not in _LABELS and style in shares and body[6:14][6:] != b"\xff\xff":
                look.told[row, column] = "%"
        else:
            continue
        look.rows, look.columns = max(look.rows, row + 1), max(look.columns, last + 1)
    if end < len(book):
        raise ValueError("sheets that lie over one another")
    return look


def _said(kind: int, body: bytes) -> str:
    """Return the error that a cell shows; nothing where it shows none."""
    if kind == _ERROR and len(body) > 7 and body[7]:
        return _CODES.get(body[6], "#VALUE!")
    if kind == _FORMULA and body[12:14] == b"\xff\xff" and body[6] == 2:
        return _CODES.get(body[8], "#VALUE!")
    return ""


def _records(book: bytes, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield kind and content of each record that begins before an end."""
    while start + 4 <= end:
        kind, size = struct.unpack_from("<HH", book, start)
        yield kind, book[start + 4 : start + 4 + size]
        start += 4 + size


def _short(body: bytes, place: int) -> int:
    return struct.unpack_from("<H", body, place)[0]


def _streams(content: bytes) -> dict[str, bytes]:
    """Take the streams of a compound file by their names, written small; the workbook's alone with what is in it."""
    if content[:8] != _SIGN or len(content) < 512:
        raise ValueError("no compound file")
    sector, small = 1 << _short(content, 30), 1 << _short(content, 32)
    if sector not in (512, 4096) or small != 64:
        raise ValueError("sectors of no usual size")
    heads = [*struct.unpack_from("<109I", content, 76)]
    table: list[int] = []
    more = struct.unpack_from("<I", content, 68)[0]
    seen: set[int] = set()
    while more < _FREE and more not in seen:  # files beyond 7 MB name further sectors of the table elsewhere
        seen.add(more)
        numbers = struct.unpack(f"<{sector // 4}I", _sector(content, more, sector))
        heads, more = [*heads, *numbers[:-1]], numbers[-1]
    for head in (head for head in heads if head < _FREE):
        table += struct.unpack(f"<{sector // 4}I", _sector(content, head, sector))
    entries = list(_entries(_chain(content, struct.unpack_from("<I", content, 48)[0], table, sector)))
    cutoff, first = struct.unpack_from("<II", content, 56)
    rest = _chain(content, first, table, sector)
    small_table = list(struct.unpack(f"<{len(rest) // 4}I", rest))
    root = next((entry for entry in entries if entry[1] == 5), ("", 5, _FREE, 0))
    minis = _chain(content, root[2], table, sector)
    found = {}
    for name, kind, start, size in entries:
        if kind == 2 and name.casefold() in ("workbook", "book"):
            whole = (
                _chain(minis, start, small_table, small, 0) if size < cutoff else _chain(content, start, table, sector)
            )
            found[name.casefold()] = whole[:size]
        elif kind == 2:
            found[name.casefold()] = b""
    return found


def _entries(directory: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, kind, first sector and size of what a compound file holds."""
    for place in range(0, len(directory) - 127, 128):
        size, kind = struct.unpack_from("<HB", directory, place + 64)
        name = directory[place : place + max(min(size, 64) - 2, 0)].decode("utf-16-le", "replace")
        yield name, kind, *struct.unpack_from("<II", directory, place + 116)


def _sector(content: bytes, number: int, size: int) -> bytes:
    """Return one sector, behind the header."""
    found = content[(number + 1) * size : (number + 2) * size]
    if len(found) < size:
        raise ValueError("a sector beyond the end of the file")
    return found


def _chain(content: bytes, start: int, table: list[int], size: int, header: int = 1) -> bytes:
    """Put the sectors of a stream together, each of which names the next."""
    parts: list[bytes] = []
    while start < _FREE:
        if start >= len(table) or len(parts) > len(table):
            raise ValueError("sectors that go in a circle, or beyond the end")
        parts.append(content[(start + header) * size : (start + header + 1) * size])
        start = table[start]
    return b"".join(parts)
