"""Rows that are no judgements: collected with their reasons, written without names, read again once repaired."""

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

import numpy as np
import pandas as pd

from evalkit.data import designs
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files.rows import Broken, Rows, Source, stripped
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.report import Report
from evalkit.data.spreadsheets import guarded, unguarded

#: What the file of rejected rows says of each, before the row's own cells, and behind them where these cannot be cut.
FIELDS, UNCUT = ["kind", "file", "line", "column", "value", "reason"], "cells"
EXCLUDED = "excluded"
#: Why a judgement is set apart whose errors a scheme of weights turns into no score.
DISCARDED = "is of a translation that the scheme of weights gives no score"
#: The share of rows that may be rejected before an import is refused.
REFUSE_ABOVE = 0.01
#: More rejected rows are another kind of file, and take long to write down one by one.
MOST = 500_000
_BEFORE = len(FIELDS)
_LINE = re.compile(r"""\bline \d+( of ('[^']*'|"[^"]*"|\S+))?""")
_SHOWN = 10  # rejected rows that are told one by one; the file has them all
_STILL = "is still uncut: write its cells, as they stand in the file and line named, under the headings; empty the last"


@dataclass(slots=True)
class Rejection:
    """A row that is not in the result: ``rejected``, or ``excluded`` because it is no judgement."""

    line: int
    column: str
    value: str
    reason: str
    kind: str = "rejected"
    annotator: str | None = None  # as it stands in the row, to be hidden
    place: int | None = None  # of the row in its file, where a line holds several


class TooMany(Exception):
    """More rows are rejected than anyone mends. line: of the last one that was looked at."""

    def __init__(self, line: int, reason: str):
        super().__init__(
            f"line {line}: more than {MOST:,} rows up to here are no judgements ({reason[:100]}). Check that this is "
            "the table, and which of its columns hold what."
        )


class Rejecting:
    """Collect the rejected rows of one table, each once. annotator: the heading of their names, where there is one."""

    def __init__(self, frame: pd.DataFrame, annotator: str | None):
        self._frame, self._annotator = frame, annotator
        self._found: dict[int, Rejection] = {}
        self._columns = {name: cells.array for name, cells in frame.items()}  # a frame takes long to find a cell

    def __call__(self, places: Iterable[int], column: str, reason: str, kind: str = "rejected") -> None:
        """Reject the rows at some places of the table for what stands in a column."""
        for place in map(int, places):
            if place not in self._found:
                value = "" if column == self._annotator else self._cell(column, place) or ""
                name = self._cell(self._annotator, place) if self._annotator else None
                self._found[place] = Rejection(int(self._frame.index[place]), column, value, reason, kind, name)
                if len(self._found) > MOST:
                    raise TooMany(self._found[place].line, reason)

    def _cell(self, column: str, place: int) -> str | None:
        cell = self._columns[column][place] if column in self._columns else None
        return None if cell is None or pd.isna(cell) else str(cell)

    @property
    def kept(self) -> np.ndarray:
        """Mark the rows that were not rejected."""
        keep = np.ones(len(self._frame), dtype=bool)
        keep[list(self._found)] = False
        return keep

    @property
    def rows(self) -> list[Rejection]:
        """List what was rejected, in the order of the table."""
        return [self._found[place] for place in sorted(self._found)]


class Hidden:
    """Write a row's cells without the names of people.

    names: our name -> the file's heading. people: headings that are annotators themselves. parts: headings of all
    columns that hold judgements each.
    """

    def __init__(
        self,
        header: list[str],
        names: dict[str, str],
        people: Sequence[str],
        aliases: Pseudonyms,
        parts: Iterable[str] = (),
    ):
        self._header, self._aliases = header, aliases
        used = {name for ours, name in names.items() if ours != "annotator"}
        self._places = {
            place
            for place, name in enumerate(header)
            if name == names.get("annotator") or (name not in used and name not in people and columns.personal(name))
        }
        self.titles = [aliases.one(name) if name in people else name for name in header]
        self._parts = {aliases.one(name) if name in people else name for name in (*people, *parts)}

    def of(self, row: Rejection) -> Rejection:
        """Hide the row's annotator in what is said of it."""
        hide = self._aliases.within
        return replace(row, value=hide(row.value, row.annotator), reason=hide(row.reason, row.annotator))

    def cells(self, cells: Sequence[str], row: Rejection) -> dict[str, str]:
        """Write a whole row under its headings; of columns that hold judgements each, only the rejected one's cell."""
        found = {}
        for place, (title, cell) in enumerate(zip(self.titles, cells)):
            if place in self._places:
                found[title] = self._aliases.mask(cell) if cell.strip() else cell
            else:
                found[title] = self._aliases.within(cell, row.annotator)
        others = self._parts - {row.column} if row.column in self._parts else set()
        return found | dict.fromkeys(others, "")

    def pieces(self, cells: list[str]) -> list[str]:
        """Write the cells of a row that cannot be cut: every cell that may be a name is hidden."""
        if self._aliases.keep:
            return cells
        shift = abs(len(cells) - len(self._header))
        unsafe = {place + step for place in self._places for step in range(-shift, shift + 1)}
        if not shift and self._places:  # a quote that never closes: cells may run into each other
            unsafe |= {place for place, cell in enumerate(cells) if '"' in cell}
        return [
            self._aliases.mask(cell) if place in unsafe and cell.strip() else self._aliases.hidden(cell)
            for place, cell in enumerate(cells)
        ]


class Writer:
    """Write rejected rows to a file, and count them in the report; repaired there, they can be imported again.

    People repair them in spreadsheets, so a cell that would run there is written with an apostrophe before it, which
    ``again`` takes away. headings: of all files of the campaign, without names of people.
    """

    def __init__(self, stream: TextIO, report: Report, headings: Iterable[str]):
        self.report, self._headings = report, list(dict.fromkeys(headings))
        self._rows = csv.writer(stream)
        self._rows.writerow([*FIELDS, *map(guarded, self._headings), UNCUT])

    def add(self, file: str, row: Rejection, cells: list[str] | dict[str, str]) -> None:
        """Write one row; its cells, under their headings or as they were cut, are given without names."""
        counted, report = _LINE.sub("another line", row.reason.partition(":")[0]), self.report
        if row.kind == EXCLUDED:
            report.rows_excluded += 1
            report.excluded[counted] += 1
        else:
            report.rows_rejected += 1
            report.reasons[counted] += 1
            if len(report.first) < _SHOWN:
                value = json.dumps(row.value, ensure_ascii=False)[:60] if row.value else ""
                report.first.append(
                    {"file": file, "line": row.line, "column": row.column, "value": value, "reason": row.reason}
                )
        named = isinstance(cells, dict)
        own = (
            [cells.get(name, "") for name in self._headings] if isinstance(cells, dict) else [""] * len(self._headings)
        )
        uncut = "" if named else json.dumps(cells, ensure_ascii=False)
        told = [row.kind, guarded(file), row.line, guarded(row.column), guarded(row.value), guarded(row.reason)]
        self._rows.writerow([*told, *map(guarded, own), guarded(uncut)])


def again(source: Source) -> Source:
    """Return a source as it is or, where it is a file of rejected rows, those rows under the headings they came from.

    Rows that were excluded stay so. Tables of a campaign that was designed here are read as they were drawn: without
    the apostrophes that keep their texts from being formulas.
    """
    first = [cell.strip() for cell in source.head[0][1]] if source.head else []
    if {*designs.HEADINGS} <= {*first}:
        head = [(line, [*map(unguarded, cells)]) for line, cells in source.head]
        return replace(source, head=head, read=lambda header, after: _plain(source.read(header, after)))
    if first[:_BEFORE] != FIELDS or UNCUT not in first[_BEFORE:]:
        return source
    (line, titles), *rows = source.head
    end = first.index(UNCUT, _BEFORE)
    files = {unguarded(cells[1]) for _, cells in rows if len(cells) > 1}
    head = [(line, [*map(unguarded, titles[_BEFORE:end])])]
    head += [(line, [*map(unguarded, cells[_BEFORE:end])]) for line, cells in rows if cells[0] != EXCLUDED]
    return replace(
        source,
        head=head,
        read=lambda header, after: _reread(source, end, header, after),
        again=True,
        named=files.pop() if len(files) == 1 else "",  # what this name says of languages holds for its rows
        notes=[*source.notes, "these are rows that an earlier import rejected"],
    )


def _plain(rows: Rows) -> Rows:
    """Take away what keeps the cells of a table from being formulas in a spreadsheet."""
    broken = [replace(one, cells=[*map(unguarded, one.cells)]) for one in rows.broken]
    return Rows(_unguarded(rows.frame), lambda place: [*map(unguarded, rows.raw(place))], broken, rows.notes)


def _unguarded(cells: pd.DataFrame) -> pd.DataFrame:
    return stripped(cells.apply(lambda column: column.map(unguarded, na_action="ignore").astype("str")))


def _reread(source: Source, end: int, header: list[str], after: int) -> Rows:
    """Read rejected rows as rows of the file that they come from."""
    inside = [*header, *(f"\0{place}" for place in range(len(header), end - _BEFORE))]
    names = [*(f"\0{name}" for name in FIELDS), *inside, f"\0{UNCUT}"]
    rows = source.read(names, after)
    excluded = rows.frame[f"\0{FIELDS[0]}"].eq(EXCLUDED).to_numpy()
    uncut = rows.frame[f"\0{UNCUT}"].map(unguarded, na_action="ignore")
    torn = uncut.notna().to_numpy() & ~excluded
    places = np.flatnonzero(~excluded & ~torn)
    broken = [Broken(int(uncut.index[place]), _STILL, _pieces(uncut.iloc[place])) for place in np.flatnonzero(torn)]
    notes = [f"{excluded.sum():,} rows that had been excluded were passed over"] if excluded.any() else []
    cells = rows.frame.iloc[places][header]
    return Rows(
        _unguarded(cells),
        lambda place: [*map(unguarded, rows.raw(int(places[place]))[_BEFORE:end])],
        [*rows.broken, *broken],
        [*rows.notes, *notes],
    )


def _pieces(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return [str(cell) for cell in found] if isinstance(found, list) else [text]
