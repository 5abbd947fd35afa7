"""Read a file of rejected rows, once it is repaired, as the rows that it was made from."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evalkit.data.importing.chunks import Broken, Chunk, Source
from evalkit.data.importing.report import EXCLUDED, FIELDS, UNCUT

_BEFORE = len(FIELDS)
_UNCUT = "is still uncut: write its cells, as they stand in the file and line named, under the headings; empty the last"


def again(source: Source) -> Source:
    """Return a source as it is or, where it is a file of rejected rows, one of those rows alone."""
    return Again(source) if source.head and _is_rejected(source.head[0][1]) else source


def _is_rejected(cells: list[str]) -> bool:
    return [cell.strip() for cell in cells[:_BEFORE]] == FIELDS and UNCUT in cells[_BEFORE:]


@dataclass
class Again:
    """Rejected rows under the headings of the file that they come from. Rows that were excluded stay so."""

    source: Source

    def __post_init__(self):
        self.path, self.notes, self.digest = self.source.path, self.source.notes, self.source.digest
        self.title, self.typed = getattr(self.source, "title", ""), getattr(self.source, "typed", False)
        (line, cells), *rows = self.source.head
        self._end = cells.index(UNCUT, _BEFORE)
        self.head = [(line, cells[_BEFORE : self._end])]
        self.head += [(line, cells[_BEFORE : self._end]) for line, cells in rows if cells[0] != EXCLUDED]
        files = {cells[1] for _, cells in rows if len(cells) > 1}
        self.named = files.pop() if len(files) == 1 else ""  # what this name says of languages holds for its rows
        self.notes.append("these are rows that an earlier import rejected")

    def chunks(self, header: list[str], *, after: int) -> Iterator[Chunk]:
        """Yield the rows below line ``after`` under the names in ``header``."""
        width = self._end - _BEFORE
        inside = [*header, *(f"\0{place}" for place in range(len(header), width))]
        kind, uncut, left = "\0kind", "\0uncut", 0
        names = [kind, *(f"\0{name}" for name in FIELDS[1:]), *inside, uncut]
        for chunk in self.source.chunks(names, after=after):
            out = chunk.frame[kind].eq(EXCLUDED).to_numpy()
            torn = chunk.frame[uncut].notna().to_numpy() & ~out
            left += int(out.sum())
            places = np.flatnonzero(~out & ~torn)
            broken = [Broken(int(chunk.frame.index[place]), _UNCUT, _pieces(chunk.frame[uncut].iloc[place]))
                      for place in np.flatnonzero(torn)]  # fmt: skip
            yield Chunk(chunk.frame.iloc[places][header], _Raw(chunk, places, self._end), [*chunk.broken, *broken])
        note = f"{left:,} rows that had been excluded were passed over"
        if left and note not in self.notes:
            self.notes.append(note)


@dataclass
class _Raw:
    """Give a row's own cells by its place among the rows that are read again."""

    chunk: Chunk
    places: np.ndarray
    end: int

    def __call__(self, place: int) -> list[str]:
        return self.chunk.raw(int(self.places[place]))[_BEFORE : self.end]


def _pieces(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return [str(cell) for cell in found] if isinstance(found, list) else [text]
