"""Rows that are no judgements: collected with their reasons, and written without names."""

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import designs
from evalkit.data.delimited import guarded, unguarded
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files.rows import Rows, Source, stripped
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.report import Report

#: What the file of rejected rows says of each, before the row's own cells, and behind them where these cannot be cut.
FIELDS, UNCUT = ["kind", "file", "line", "column", "value", "reason"], "cells"
EXCLUDED = "excluded"
#: Why a judgement is set apart whose errors a scheme of weights turns into no score.
DISCARDED = "is of a translation that the scheme of weights gives no score"
#: The share of rows that may be rejected before an import is refused.
REFUSE_ABOVE = 0.01
#: More rejected rows are another kind of file, and take long to write down one by one.
MOST = 500_000
_LINE = re.compile(r"""\bline \d+( of ('[^']*'|"[^"]*"|\S+))?""")
_SHOWN = 10  # rejected rows that are told one by one; the file has them all


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
    """Write rejected rows to a file, and count them in the report.

    People open it in spreadsheets, so a cell that would run there is written with an apostrophe before it.
    headings: of all files of the campaign, without names of people.
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


def demand_none(source: Source) -> None:
    """Raise DataError where a file is one of rejected rows: they are mended in the file that they come from."""
    first = [cell.strip() for cell in source.head[0][1]] if source.head else []
    if first[: len(FIELDS)] == FIELDS and UNCUT in first[len(FIELDS) :]:
        raise DataError(
            f"{source.path.name} holds the rows that an earlier import rejected. Mend them in the file that they come "
            "from, on the lines named, and import that again."
        )


def of_design(source: Source) -> Source:
    """Return a source as it is or, where it is a table of a campaign that was designed here, as that was drawn.

    Its texts stand there with apostrophes that keep them from being formulas.
    """
    if not {*designs.HEADINGS} <= {cell.strip() for _, cells in source.head[:1] for cell in cells}:
        return source
    head = [(line, [*map(unguarded, cells)]) for line, cells in source.head]
    return replace(source, head=head, read=lambda header, after: _plain(source.read(header, after)))


def _plain(rows: Rows) -> Rows:
    """Take away what keeps the cells of a table from being formulas in a spreadsheet."""
    broken = [replace(one, cells=[*map(unguarded, one.cells)]) for one in rows.broken]
    return Rows(_unguarded(rows.frame), lambda place: [*map(unguarded, rows.raw(place))], broken, rows.notes)


def _unguarded(cells: pd.DataFrame) -> pd.DataFrame:
    return stripped(cells.apply(lambda column: column.map(unguarded, na_action="ignore").astype("str")))
