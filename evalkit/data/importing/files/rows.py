"""What every reader hands on: a file in memory, and its rows as text, each with its line."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evalkit import DataError
from evalkit.data import registry
from evalkit.data.designs import Design
from evalkit.data.files import stamp
from evalkit.data.names import plain

MOST_COLUMNS = 2_000  # more of them are no table
HEAD = 50  # rows that are looked at to recognise a format
LONGEST = 64 << 20  # bytes of one line
_LONGEST_NAME = 1_000  # letters of a heading; more are a text, and take patterns long
MOST_BROKEN = 200_000  # more rows that cannot be cut into columns are another kind of file
_TEXT = pd.StringDtype(na_value=np.nan)
_SLICE = 50_000  # rows that are turned into columns at a time, so that single cells take little memory


@dataclass
class Broken:
    """A row that cannot be cut into the columns of its file."""

    line: int
    reason: str
    cells: list[str]


class Breaking(list[Broken]):
    """The broken rows of a file, as they are found; of more than a few hundred thousand none is kept."""

    def __init__(self, origin: str, remedy: str):
        super().__init__()
        self._origin, self._remedy = origin, remedy

    def append(self, row: Broken) -> None:
        """Add a row. Raises DataError where there are too many."""
        super().append(row)
        if len(self) > MOST_BROKEN:
            raise DataError(
                f"{self._origin}, line {row.line}: more than {MOST_BROKEN:,} lines up to here are no rows of it "
                f"({row.reason[:100]}). {self._remedy}"
            )


@dataclass
class Rows:
    """All rows of a file: cells are text without white space around them, empty ones missing.

    ``frame`` has the file's headings as columns and the index ``line``; ``raw`` gives a row's cells as they stand
    in the file, by its place in the frame. ``notes``: what reading them showed.
    """

    frame: pd.DataFrame
    raw: Callable[[int], Sequence[str]]
    broken: list[Broken] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Source:
    """A file, or one sheet of it, in memory.

    head: its first rows with their lines, before anything is known of it. read: its rows below a line, under names.
    title: the sheet's. typed: the cells are a workbook's. named: the file whose name may state the languages.
    beside: files that were read together with this one. design: of the
    campaign, where its columns are among the rows.
    """

    path: Path
    digest: str
    head: list[tuple[int, list[str]]]
    read: Callable[[list[str], int], Rows]
    notes: list[str] = field(default_factory=list)
    title: str = ""
    typed: bool = False
    named: str = ""
    beside: Sequence["Seen"] = ()
    design: Design | None = None


@dataclass(frozen=True)
class Seen:
    """What was known of a file before it was read: a stamp of the file system, then the digest of its content."""

    path: Path
    stamp: tuple[int, ...]
    digest: str

    @classmethod
    def at(cls, path: Path) -> "Seen":
        """Look at a file."""
        before = stamp(path)
        return cls(path, before, registry.digest(path))

    def hold(self) -> None:
        """Raise DataError where the file is another one by now, or was one meanwhile.

        The digest notices every change that stays; one that was taken back is noticed by the stamp, unless it came
        within some milliseconds of the look before it.
        """
        try:
            same = (stamp(self.path), registry.digest(self.path)) == (self.stamp, self.digest)
        except OSError:
            same = False
        if not same:
            raise DataError(
                f"{self.path.name} changed while it was read, and nothing was imported. Import it again when nothing "
                "writes to it any more."
            )


def headings(cells: list[str]) -> list[str]:
    """Name columns by the cells of their heading: text without space around it; empty and second ones get a number.

    >>> headings(["", " system ", "score", "score"])
    ['column 1', 'system', 'score', 'score (column 4)']
    """
    names: list[str] = []
    for place, cell in enumerate(cells, 1):
        name = " ".join(plain(cell[:_LONGEST_NAME]).split())
        names.append(f"{name} (column {place})" if name in names else name or f"column {place}")
    return names


def framed(rows: Iterable[tuple[int, Sequence[str]]], header: list[str]) -> pd.DataFrame:
    """Put rows of equal length, each with its line, into a table of text."""
    rows = iter(rows)
    parts: list[pd.DataFrame] = []
    while (taken := list(islice(rows, _SLICE))) or not parts:
        cells = zip(*(cells for _, cells in taken)) if taken else [()] * len(header)
        part = pd.DataFrame({place: pd.Series(list(column), dtype="str") for place, column in enumerate(cells)})
        index = pd.Index(np.array([line for line, _ in taken], dtype=np.int64), name="line")
        parts.append(part.set_axis(header, axis=1).set_index(index))
    return stripped(pd.concat(parts) if len(parts) > 1 else parts[0])


def stripped(frame: pd.DataFrame) -> pd.DataFrame:
    """Take away white space around cells; what is then empty is missing."""
    trimmed = {}
    for name in frame:  # by Arrow's functions, which take a quarter of the time of pandas' own
        cells = pc.utf8_trim_whitespace(pa.Array.from_pandas(frame[name], type=pa.large_string()))
        filled = pc.if_else(pc.equal(cells, ""), pa.scalar(None, pa.large_string()), cells)
        trimmed[name] = _TEXT.__from_arrow__(filled)
    return pd.DataFrame(trimmed, index=frame.index)
