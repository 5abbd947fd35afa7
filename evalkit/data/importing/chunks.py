"""What every reader hands on: some rows of a file as text, each with its line, and those that are no rows at all."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

from evalkit.data.names import plain

MOST_COLUMNS = 2_000  # more of them are no table


@dataclass
class Broken:
    """A row that cannot be cut into the columns of its file."""

    line: int
    reason: str
    cells: list[str]


@dataclass
class Chunk:
    """Rows that were read together: cells are text without white space around them, empty ones missing.

    ``frame`` has the file's headings as columns and the index ``line``; ``raw`` gives a row's cells as they stand
    in the file, by its place in the frame.
    """

    frame: pd.DataFrame
    raw: Callable[[int], list[str]]
    broken: list[Broken] = field(default_factory=list)


class Source(Protocol):
    """A file that is read in chunks. ``head`` are its first rows, with their lines, before anything is known of it."""

    path: Path
    head: list[tuple[int, list[str]]]
    notes: list[str]
    digest: str

    def chunks(self, header: list[str], *, after: int) -> Iterator[Chunk]:
        """Yield the rows below line ``after`` under the names in ``header``."""


def ahead(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield chunks, and have the next one read meanwhile."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, chunks, None)
        while (chunk := coming.result()) is not None:
            coming = thread.submit(next, chunks, None)
            yield chunk


def headings(cells: list[str]) -> list[str]:
    """Name columns by the cells of their heading: text without space around it; empty and second ones get a number.

    >>> headings(["", " system ", "score", "score"])
    ['column 1', 'system', 'score', 'score (column 4)']
    """
    names: list[str] = []
    for place, cell in enumerate(cells, 1):
        name = " ".join(plain(cell).split())
        names.append(f"{name} (column {place})" if name in names else name or f"column {place}")
    return names


def framed(rows: list[list[str]], lines: list[int], header: list[str]) -> pd.DataFrame:
    """Put rows of equal length into a table of text."""
    columns = list(zip(*rows)) if rows else [()] * len(header)
    index = pd.Index(np.asarray(lines, dtype=np.int64), name="line")
    frame = pd.DataFrame({place: pd.Series(list(cells), dtype="str") for place, cells in enumerate(columns)})
    return stripped(frame.set_axis(header, axis=1).set_index(index))


def stripped(frame: pd.DataFrame) -> pd.DataFrame:
    """Take away white space around cells; what is then empty is missing."""
    trimmed = {}
    for name in frame:
        cells = frame[name].str.strip()
        trimmed[name] = cells.mask(cells.eq(""))
    return pd.DataFrame(trimmed, index=frame.index)
