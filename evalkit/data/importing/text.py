"""Read delimited text of any size and encoding, block by block; what is no row is told with its line."""

import csv
import re
from codecs import BOM_UTF8, getincrementaldecoder
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from evalkit import DataError
from evalkit.data.delimited import UNFINISHED
from evalkit.data.importing import encodings
from evalkit.data.importing.chunks import Broken, Chunk, framed, stripped

BLOCK = 8 << 20  # bytes that are read at a time
LONGEST = 64 << 20  # of one line
_MOST_LINES, _MOST_FAILURES = 200, 200  # lines of a cell in quotes; quotes that turned out not to close
HEAD = 50  # rows that are looked at to recognise a format
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


class Text:
    """A delimited text file: encoding and delimiter are found out, unless they are given.

    Raises DataError for files that are no text, or whose encoding cannot be told.
    """

    def __init__(self, path: Path, *, encoding: str | None = None, delimiter: str | None = None):
        self.path, self.notes, self._open = path, [], False
        self.encoding, self.digest = encodings.find(path, encoding)
        if self.encoding not in ("utf-8", "utf-8-sig"):
            how = "as told" if encoding else "found by its bytes; name another with --encoding if names look wrong"
            self.notes.append(f"read as {self.encoding} ({how})")
        lines = _first_lines(self._blocks())
        self.delimiter = delimiter or _delimiter(lines)
        self.notes.append(f"cells are cut by {_NAMES.get(self.delimiter, repr(self.delimiter))}")
        feeder = _Feeder(iter([lines]))  # a row's line is its last one here, because cells may span lines
        self.head = [(feeder.line - 1, cells) for _, cells, reason in self._records(feeder, None) if not reason]
        self.head = self.head[:HEAD]

    def chunks(self, header: list[str], *, after: int) -> Iterator[Chunk]:
        """Yield the rows below line ``after`` under the names in ``header``."""
        feeder = _Feeder(self._blocks())
        feeder.skip(after)
        while block := feeder.block():
            if self._plain(block) and (chunk := self._fast(block, header, feeder.line)):
                feeder.skip_block()
                yield chunk
            else:
                yield self._careful(feeder, header)
        if self._open:
            self._note(UNFINISHED.format(where=f"line {feeder.line - 1}"))

    def _note(self, note: str) -> None:
        self.notes += [note] * (note not in self.notes)

    def _blocks(self) -> Iterator[bytes]:
        """Yield the text in UTF-8, in blocks of whole lines."""
        decoder = None if self.encoding in ("utf-8", "utf-8-sig") else getincrementaldecoder(self.encoding)("strict")
        rest, first = b"", True
        with self.path.open("rb") as stream:
            while piece := stream.read(BLOCK):
                if first and self.encoding == "utf-8-sig":
                    piece = piece.removeprefix(BOM_UTF8)
                first = False
                piece = piece if decoder is None else decoder.decode(piece).encode("utf-8", "surrogatepass")
                whole, cut, tail = (rest + piece).rpartition(b"\n")
                if len(tail) > LONGEST:
                    raise DataError(f"{self.path.name} has a line of more than {LONGEST >> 20} MiB. Is it a table?")
                rest = tail
                if cut:
                    yield whole + cut
        if decoder is not None:
            rest += decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")
        self._open = bool(rest.strip()) and not rest.endswith(b"\r")
        if rest:
            yield rest

    def _plain(self, block: bytes) -> bool:
        """Tell whether every line of a block is a row and every delimiter the end of a cell."""
        if b'"' in block or b"\n\n" in block or block[:1] in b"\r\n":
            return False
        returns = block.count(b"\r")
        return not returns or (b"\n\r\n" not in block and returns == block.count(b"\r\n"))

    def _fast(self, block: bytes, header: list[str], line: int) -> Chunk | None:
        """Read a plain block; None where its rows are uneven."""
        places = [str(place) for place in range(len(header))]
        try:
            table = pa.csv.read_csv(
                pa.BufferReader(block),
                read_options=pa.csv.ReadOptions(column_names=places, block_size=max(len(block) + 1, 1 << 16)),
                parse_options=pa.csv.ParseOptions(
                    delimiter=self.delimiter, quote_char=False, ignore_empty_lines=False, newlines_in_values=False
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid:
            return None
        frame = table.to_pandas(types_mapper={pa.string(): pd.StringDtype(na_value=np.nan)}.get)
        index = pd.RangeIndex(line, line + len(frame), name="line")
        frame = stripped(frame.set_axis(header, axis=1).set_axis(index, axis=0))
        rows: list[bytes] = []

        def raw(place: int) -> list[str]:
            rows.extend([] if rows else block.split(b"\n"))
            return rows[place].decode("utf-8", "replace").removesuffix("\r").split(self.delimiter)

        return Chunk(frame, raw)

    def _careful(self, feeder: "_Feeder", header: list[str]) -> Chunk:
        """Read the lines of a block with quotes, blank lines or uneven rows."""
        rows, lines, broken = [], [], []
        for line, cells, reason in self._records(feeder, len(header)):
            width = len(header)
            if not reason and len(cells) > width and not any(cell.strip() for cell in cells[width:]):
                cells = cells[:width]
            if not reason and len(cells) != width:
                reason = (
                    f"{len(cells)} cells where {width} columns are named: quote cells that contain the delimiter"
                    if not _decimal_comma(cells, width, self.delimiter)
                    else f"{len(cells)} cells where {width} columns are named: a decimal comma may cut a number"
                )
            if reason:
                broken.append(Broken(line, reason, cells))
            else:
                rows.append(cells)
                lines.append(line)
        return Chunk(framed(rows, lines, header), rows.__getitem__, broken)

    def _records(self, feeder: "_Feeder", width: int | None) -> Iterator[tuple[int, list[str], str]]:
        """Yield line, cells and, of what is no row, the reason, up to the end of the feeder's block."""
        before: list[str] = []
        while not feeder.empty():
            start = feeder.line
            physical = feeder.peek().rstrip("\r\n")
            if not physical.strip():
                next(feeder)
                continue
            cells, reason = None, ""
            if '"' not in physical:
                next(feeder)
                cells = physical.split(self.delimiter)
            elif self.delimiter == "\t" and (width is None or physical.count("\t") == width - 1):
                next(feeder)
                cells = [_unquoted(cell) for cell in physical.split("\t")]
            else:
                mark = feeder.mark()
                try:
                    cells = next(csv.reader(islice(feeder, feeder.patience), delimiter=self.delimiter, strict=True))
                    if feeder.line > start + 1 and self._swallows(cells, before):
                        reason = f"a quote opens here and does not close before line {feeder.line - 1}"
                except (csv.Error, StopIteration) as problem:
                    reason = f"a quote is not closed or not doubled ({problem})"
                if reason:
                    feeder.rewind(mark)
                    feeder.disappointed += 1
                    next(feeder)
                    cells = physical.split(self.delimiter)
            if not reason:
                before = cells
            feeder.forget()
            yield start, cells, reason

    def _swallows(self, cells: list[str], before: list[str]) -> bool:
        """Tell whether a cell holds a line that reads like a row: as many cells, numbers where the last row had."""
        numbers = [bool(_NUMBER.fullmatch(cell.strip())) for cell in before]
        inner = [line for cell in cells if "\n" in cell for line in cell.split("\n")[1:]]
        rows = [line.rstrip("\r").split(self.delimiter) for line in inner]
        return any(numbers) and any(
            len(row) == len(numbers) and [bool(_NUMBER.fullmatch(cell.strip())) for cell in row] == numbers
            for row in rows
        )


class _Feeder:
    """Give lines one by one, and count them; go back to a line that turned out not to begin a row."""

    def __init__(self, blocks: Iterator[bytes]):
        self.blocks, self.line, self.disappointed = blocks, 1, 0
        self._block: bytes | None = None
        self._lines: list[str] = []
        self._place = 0

    @property
    def patience(self) -> int:
        """How many lines a cell may go on for; where quotes have failed often, they are not followed any further."""
        return _MOST_LINES if self.disappointed < _MOST_FAILURES else 1

    def block(self) -> bytes | None:
        """Return what is left of the block at hand, or the next one."""
        if self._lines[self._place :]:
            self._block = "".join(self._lines[self._place :]).encode("utf-8", "surrogatepass")
            self._lines, self._place = [], 0
        if not self._block:
            self._block = next(self.blocks, None)
        return self._block

    def skip_block(self) -> None:
        """Go on behind the block at hand."""
        self.line += self._block.count(b"\n") + (not self._block.endswith(b"\n"))
        self._block = None

    def skip(self, lines: int) -> None:
        """Go on behind a line."""
        while self.line <= lines and not self.empty():
            next(self)

    def empty(self) -> bool:
        """Tell whether the block at hand is read to its end; a new one is begun only where none is at hand."""
        if self._place < len(self._lines):
            return False
        if self._block is None and self._lines:
            self._lines, self._place = [], 0
            return True
        self._split(self.block())
        return self._place >= len(self._lines)

    def _split(self, block: bytes | None) -> None:
        if block:
            text = block.decode("utf-8", "surrogatepass")
            self._lines += [line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
            if text.endswith(("\n", "\r")):
                self._lines.pop()
            self._block = None

    def peek(self) -> str:
        return self._lines[self._place]

    def mark(self) -> tuple[int, int]:
        return self._place, self.line

    def rewind(self, mark: tuple[int, int]) -> None:
        self._place, self.line = mark

    def forget(self) -> None:
        """Let go of the lines before this one, now and then."""
        if self._place > 100_000:
            self._lines, self._place = self._lines[self._place :], 0

    def __iter__(self) -> "_Feeder":
        return self

    def __next__(self) -> str:
        if self._place >= len(self._lines):
            self._split(next(self.blocks, None))
            if self._place >= len(self._lines):
                raise StopIteration
        self._place, self.line = self._place + 1, self.line + 1
        return self._lines[self._place - 1]


_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}


def _unquoted(cell: str) -> str:
    """Take away quotes around a cell where they can only be that."""
    inner = cell[1:-1]
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell


def _decimal_comma(cells: list[str], width: int, delimiter: str) -> bool:
    """Tell whether a row may be too long because numbers like 85,5 were cut."""
    digits = [bool(re.fullmatch(r"\d+", cell.strip())) for cell in cells]
    return delimiter == "," and len(cells) > width and any(map(all, pairwise(digits)))


def _first_lines(blocks: Iterator[bytes]) -> bytes:
    """Return whole lines from the start of the file, enough to tell its format."""
    block = next(blocks, b"")
    ends = [found.end() for found in re.finditer(rb"\r\n|\n|\r", block[: 1 << 20])]
    return block[: ends[4 * HEAD]] if len(ends) > 4 * HEAD else block[: 1 << 20]


def _width(line: str, delimiter: str) -> int:
    """Count the cells of a line."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:  # a cell beyond the limit of the csv module
        return line.count(delimiter) + 1


def _delimiter(lines: bytes) -> str:
    """Choose the delimiter that cuts most lines into equally many cells."""
    texts = [line for line in lines.decode("utf-8", "replace").splitlines() if line.strip()][: 2 * HEAD]
    best, choice = (0.0, 0), ","
    for delimiter in "\t,;|":
        counts = Counter(_width(line, delimiter) for line in texts)
        counts.pop(1, None)
        width, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        if (rows / max(len(texts), 1), width) > best:
            best, choice = (rows / len(texts), width), delimiter
    return choice
