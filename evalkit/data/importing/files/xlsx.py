"""Look into the XML of a workbook's sheets: how far their cells reach, and what single ones are.

calamine reads the values, and makes room for the whole rectangle and for each cell's text anew; so both are counted
here before. Patterns never look beyond a tag, and look at no letter twice, so that no sheet makes them slow.
"""

import html
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from evalkit import DataError
from evalkit.data.importing.cells.numbers import FORMULA

MOST_ROWS, MOST_COLUMNS = 1 << 20, 2_000  # of a sheet
MOST_CELLS = 30_000_000  # of the rectangles that sheets span, which are held in memory
MOST_MERGED = 200_000
_SPARSE, _SHARE = 10_000_000, 20  # a rectangle beyond the first may span so many times the cells that hold anything
_MOST_SHEETS = 1_000
_MOST_STYLES = 200_000
_MOST_TEXT = 512 << 20  # letters of all cells
_LONGEST = 8 << 20  # bytes of one row
_PIECE = 4 << 20  # bytes of XML that are looked at together

# Groups are never possessive here, only single signs: before Python 3.11.5 such groups match wrongly (CPython 106052).
_OPEN = re.compile(rb"<(?:\w+:)?(?:c|row)[\s/>]")  # every cell and row; then those whose attributes cannot deceive
_PLAIN = re.compile(
    rb"<(?:\w+:)?(?:c|row)(?:\s++[\w:.-]{1,64}+=(?:\"[^\"'<>]{0,256}+\"|'[^\"'<>]{0,256}+')){0,24}\s*+/?>"
)
_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*?\br=[\"'](\d+)")
_CELL = re.compile(rb"<(?:\w+:)?c\s[^>]*?\br=[\"']([A-Za-z]+)(\d+)[\"'][^>]*(?<!/)>")
_BARE = re.compile(rb"<(?:\w+:)?c(?:\s(?![^>]*\br=)[^>]*)?(?<!/)>")
_ERROR = re.compile(rb"<(?:\w+:)?c\s([^>]*\bt=[\"']e[\"'][^>]*)(?<!/)>")
_FORMULA = rb"<(?:\w+:)?f\b(?:[^<>]*/>|[^<>]*>[^<]*</(?:\w+:)?f>)"
_VALUE = re.compile(rb"\s*+(?:" + _FORMULA + rb")?\s*+<(?:\w+:)?v>([^<]*)<")
_UNCOMPUTED = re.compile(
    rb"<(?:\w+:)?c\b([^<>]*)(?<!/)>\s*+" + _FORMULA + rb"\s*+"
    rb"(?:<(?:\w+:)?v\s*+/>|<(?:\w+:)?v>\s*+</(?:\w+:)?v>)?\s*+</(?:\w+:)?c>"
)
_SHARED = re.compile(
    rb"<(?:\w+:)?c\s[^>]*\bt=[\"']s[\"'][^>]*(?<!/)>\s*+(?:" + _FORMULA + rb")?\s*+<(?:\w+:)?v>"
    rb"\s*+(\d{1,9})\s*+<"
)
_BY_NUMBER = re.compile(rb"<(?:\w+:)?c\s[^>]*\bt=[\"']s[\"'][^>]*(?<!/)>")
_TEXT = re.compile(rb"<(?:\w+:)?si[\s/>]")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s")
_END = re.compile(rb"</(?:\w+:)?sheetData\s*+>")

Place = tuple[int, int]  # row and column, from 0


@dataclass
class Bounds:
    """What the sheets of one workbook may still span, and how long the texts are that their cells share."""

    cells: int = MOST_CELLS
    letters: int = field(default_factory=lambda: _MOST_TEXT)
    lengths: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Map each sheet's title to the part of the workbook that holds its cells."""
    targets = {}
    for found in re.finditer(rb"<(?:\w+:)?Relationship\s([^<>]*)>", archive.read("xl/_rels/workbook.xml.rels")):
        target = _attribute(found[1], "Target")
        targets[_attribute(found[1], "Id")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        if len(targets) > 10 * _MOST_SHEETS:
            raise ValueError("more parts than a workbook has")
    sheets = [found[1] for found in re.finditer(rb"<(?:\w+:)?sheet\s([^<>]*)>", archive.read("xl/workbook.xml"))]
    if len(sheets) > _MOST_SHEETS:
        raise ValueError("more sheets than a workbook has")
    parts = {_attribute(tag, "name"): targets[_attribute(tag, r"\w+:id")] for tag in sheets}
    parts = {title: part for title, part in parts.items() if "/worksheets/" in f"/{part}"}
    if len(set(parts.values())) < len(parts):
        raise ValueError("two sheets of one part")
    return parts


def _attribute(tag: bytes, name: str) -> str:
    """Read an attribute out of a tag; empty where it has none."""
    found = re.search(rf"(?:^|\s){name}\s*=\s*(\"[^\"]*\"|'[^']*')", tag.decode("utf-8", "replace"))
    return html.unescape(found[1][1:-1]) if found else ""


def percent_styles(archive: zipfile.ZipFile) -> set[int]:
    """List the styles under which a number is shown as a percentage."""
    if "xl/styles.xml" not in archive.namelist():
        return set()
    text = archive.read("xl/styles.xml")
    formats = {"9", "10"}
    for found in re.finditer(rb"<(?:\w+:)?numFmt\s([^<>]*)>", text):
        formats |= {_attribute(found[1], "numFmtId")} if b"%" in found[1] or b"&#" in found[1] else set()
    start = re.search(rb"<(?:\w+:)?cellXfs\b", text)
    end = re.compile(rb"</(?:\w+:)?cellXfs\b").search(text, start.end()) if start else None
    styles = re.compile(rb"<(?:\w+:)?xf\b([^<>]*)>").findall(text, start.end(), end.start()) if start and end else []
    if len(styles) > _MOST_STYLES:
        raise ValueError("more styles than a workbook has")
    return {place for place, style in enumerate(styles) if _attribute(style, "numFmtId") in formats}


def bounds(archive: zipfile.ZipFile) -> Bounds:
    """Measure the texts that cells share, wherever they lie."""
    lengths = [_lengths(archive, name) for name in archive.namelist() if "sharedstrings" in name.casefold()]
    return Bounds(lengths=max(lengths, key=lambda one: one.sum(), default=np.zeros(0, dtype=np.int64)))


def _lengths(archive: zipfile.ZipFile, part: str) -> np.ndarray:
    """Return how many bytes of XML each shared text has."""
    starts, before, rest = [], 0, b""
    with archive.open(part) as stream:
        while piece := stream.read(_PIECE):
            text = rest + piece
            cut = max(text.rfind(b"<"), 0)
            starts.append(np.array([found.start() for found in _TEXT.finditer(text, 0, cut)], dtype=np.int64) + before)
            before, rest = before + cut, text[cut:]
            if len(rest) > _MOST_TEXT:
                raise ValueError("a text without end")
    return np.diff(np.concatenate([*starts, [before + len(rest)]])) if starts else np.zeros(0, dtype=np.int64)


def _pieces(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Yield the XML of a sheet in pieces of whole rows, up to the end of its cells."""
    rest = b""
    with archive.open(part) as stream:
        while piece := stream.read(_PIECE):
            text = rest + piece
            if b"\0" in piece:
                raise ValueError("a sheet in UTF-16")
            if end := _END.search(text):
                yield text[: end.start()]
                return
            cut = max(text.rfind(b"</row>"), text.rfind(b":row>")) + 1
            rest = text[cut:]
            if len(rest) > _LONGEST:
                raise ValueError("a row without end")
            yield text[:cut]
    yield rest  # what stands behind the last row


def _demand_few_merged(archive: zipfile.ZipFile, part: str) -> None:
    count, rest = 0, b""
    with archive.open(part) as stream:
        while piece := stream.read(_PIECE):
            text = rest + piece
            count += sum(1 for _ in _MERGED.finditer(text))
            rest = text[-16:] if b"<" not in text[-16:] else text[text.rfind(b"<", -16) :]
            if count > MOST_MERGED:
                raise ValueError("too many merged cells: unmerge them and fill them down")


def demand_bounded(origin: str, archive: zipfile.ZipFile, part: str, left: Bounds) -> None:
    """Refuse a sheet whose cells, few as they may be, span or say more than can be held in memory.

    left: what the workbook's sheets may still span; what this one does is taken off.
    """
    _demand_few_merged(archive, part)
    rows, wide, bare, filled = 0, 0, 0, 0
    for text in _pieces(archive, part):
        if sum(1 for _ in _PLAIN.finditer(text)) != sum(1 for _ in _OPEN.finditer(text)):
            raise ValueError("cells that are written in no usual way")
        places = _CELL.findall(text)
        rows = max([rows, *map(int, {row for _, row in places}), *map(int, set(_ROW.findall(text)))])
        wide = max([wide, *(_number(letters) for letters in {letters for letters, _ in places})])
        filled += len(places)
        if _BARE.search(text):  # cells that do not say where they stand follow the one before
            without = [sum(1 for _ in _BARE.finditer(row)) for row in re.split(rb"</(?:\w+:)?row>", text)]
            bare, filled = max([bare, *without]), filled + sum(without)
        left.letters -= _letters_of(text, left.lengths)
        if left.letters < 0:
            raise DataError(f"{origin} repeats texts to more than {_MOST_TEXT >> 20} MiB. Do not trust this file.")
    if rows > MOST_ROWS:
        raise DataError(f"{origin} has more than {MOST_ROWS:,} rows, which no spreadsheet has.")
    span = rows * (wide + bare)
    left.cells -= span
    if wide + bare > MOST_COLUMNS or left.cells < 0 or span > max(_SPARSE, _SHARE * filled):
        raise DataError(
            f"{origin} has cells in up to {rows:,} rows and {wide:,} columns. Remove what is not the table."
        )


def _letters_of(text: bytes, lengths: np.ndarray) -> int:
    """Count the bytes of the shared texts that cells stand for; what is not told counts as the longest."""
    if not len(lengths):
        return 0
    numbers = np.array([int(number) for number in _SHARED.findall(text)], dtype=np.int64)
    others = sum(1 for _ in _BY_NUMBER.finditer(text)) - len(numbers)
    known = numbers[numbers < len(lengths)]  # calamine refuses others
    return int(lengths[known].sum()) + others * int(lengths.max())


def _number(letters: bytes) -> int:
    """Count a column's place from 1."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


def told(archive: zipfile.ZipFile, part: str, percent: set[int]) -> Iterator[tuple[Place, str]]:
    """Yield the places of cells that are no plain values: "%" for percentages, else what they read."""
    styles = "|".join(map(str, sorted(percent)))
    shares = re.compile(rf"<(?:\w+:)?c\s([^>]*\bs=[\"'](?:{styles})[\"'][^>]*)(?<!/)>".encode()) if percent else None
    for text in _pieces(archive, part):
        if shares:
            for found in shares.finditer(text):
                if _attribute(found[1], "t") in ("", "n"):
                    yield _place(found[1]), "%"
        for found in _ERROR.finditer(text):
            value = _VALUE.match(text, found.end())
            yield _place(found[1]), value[1].decode("utf-8", "replace") if value else FORMULA
        for found in _UNCOMPUTED.finditer(text):
            yield _place(found[1]), FORMULA


def _place(tag: bytes) -> Place:
    """Read where a cell stands. Raises ValueError where it does not say so, and more than its value counts."""
    found = re.fullmatch(r"([A-Za-z]{1,3})(\d{1,7})", _attribute(tag, "r"))
    if not found:
        raise ValueError("a cell with a percentage, an error or a formula does not say where it stands")
    return int(found[2]) - 1, _number(found[1].encode()) - 1
