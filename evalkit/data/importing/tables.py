"""What travels from bytes to ratings: a table of text cells, the judgements in it, and the rows that are none."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import registry
from evalkit.data.designs import Design
from evalkit.data.importing import numbers
from evalkit.data.names import plain

if TYPE_CHECKING:
    from evalkit.data.importing.metrics import Metric

HEAD = 50  # rows that are looked at to recognise a format
MOST_COLUMNS = 2_000  # more of them are no table
#: What a row is that is no judgement of the campaign, and nobody's fault.
EXCLUDED = "excluded"
#: Why a judgement is set apart whose errors a scheme of weights turns into no score.
DISCARDED = "is of a translation that the scheme of weights gives no score"
#: The share of rows that may be rejected before an import is refused.
REFUSE_ABOVE = 0.01
_MOST_REJECTED = 500_000  # more rejected rows are another kind of file, and take long to write down one by one
_LONGEST_NAME = 1_000  # letters of a heading; more are a text, and take patterns long

Row = tuple[int, list[str]]  # a line, and its cells


@dataclass(frozen=True)
class Seen:
    """A file that was read, and the digest of its content before that."""

    path: Path
    digest: str

    @classmethod
    def at(cls, path: Path) -> Seen:
        """Look at a file. Raises DataError where it is not there."""
        if not path.is_file():
            raise DataError(f"{path} is not there, or is no file. Check the path.")
        return cls(path, registry.digest(path))

    def hold(self) -> None:
        """Raise DataError where the file is another one by now."""
        with contextlib.suppress(OSError):
            if registry.digest(self.path) == self.digest:
                return
        raise DataError(
            f"{self.path.name} changed while it was read. Import it again when nothing writes to it any more."
        )


@dataclass(slots=True)
class Rejection:
    """A row that is not in the result: ``rejected``, or ``excluded`` because it is no judgement.

    line: its number, counted from 0, until all of a table is read. annotator: as it stands in the row, to be hidden.
    cells: of a row that cannot be cut into the columns of its file.
    """

    line: int
    reason: str
    column: str = ""
    value: str = ""
    kind: str = "rejected"
    annotator: str | None = None
    cells: Sequence[str] = ()


@dataclass
class Table:
    """A file, a sheet or an array of one, as text cells under headings.

    cells: its index is ``line``, empty cells are missing. line: of the headings, 0 where there are none. first: its
    first rows as they stand, headings among them. typed: the cells are a workbook's. title: the sheet's or the
    array's. named: the file, or the sheet, whose name may state the languages. kind: what reads it, where that is no
    table (an annotation tool, a loader). beside: files that were read with it. design: of the campaign, where its
    columns are among the cells.
    """

    path: Path
    cells: pd.DataFrame
    line: int = 0
    first: list[Row] = field(default_factory=list)
    typed: bool = False
    title: str = ""
    named: str = ""
    kind: str = ""
    notes: list[str] = field(default_factory=list)
    broken: list[Rejection] = field(default_factory=list)
    beside: list[Seen] = field(default_factory=list)
    design: Design | None = None
    #: Whether a column may hold scores, for those that were looked at: several formats ask.
    scores: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def header(self) -> list[str]:
        """The headings."""
        return [*self.cells]

    def judged(self, name: str) -> pd.Series:
        """What stands in a column in all rows where it says something: no empty cells, no words for no judgement."""
        return numbers.said(self.cells[name]).dropna() if name in self.cells else pd.Series(dtype="str")

    def samples(self, name: str) -> list[str]:
        """What stands in a column on the first rows, without empty cells."""
        return [plain(str(cell)) for cell in self.cells[name].head(HEAD - 1).dropna()]


def text_table(columns: Mapping[str, Sequence[str]], lines: Sequence[int]) -> pd.DataFrame:
    """Make cells of columns of text: stripped, what is then empty is missing."""
    index = pd.Index(np.asarray(lines, dtype=np.int64), name="line")
    frame = pd.DataFrame({name: pd.array(cells, dtype="str") for name, cells in columns.items()}, index)
    return stripped(frame) if columns else frame


def stripped(cells: pd.DataFrame) -> pd.DataFrame:
    """Take away white space around cells of text; what is then empty is missing."""
    bare = cells.apply(lambda column: column.str.strip())
    return bare.mask(bare.eq(""))


def headings(cells: Iterable[str]) -> list[str]:
    """Name columns by the cells of their heading: text without space around it; empty and second ones get a number.

    >>> headings(["", " system ", "score", "score"])
    ['column 1', 'system', 'score', 'score (column 4)']
    """
    names: list[str] = []
    for place, cell in enumerate(cells, 1):
        name = " ".join(plain(cell[:_LONGEST_NAME]).split())
        names.append(f"{name} (column {place})" if name in names else name or f"column {place}")
    return names


def constant(value: str | None, index: pd.Index) -> pd.Series:
    """Repeat one text, or nothing, for all rows."""
    return pd.Series(pd.array([value], dtype="str").take(np.zeros(len(index), int)), index=index)


def mapped_cells(cells: pd.Series, function: Callable[[str], str | None]) -> pd.Series:
    """Apply a function to each distinct text of a column; None becomes missing, and what is missing stays so.

    >>> mapped_cells(pd.Series(["a", "b", "a"], dtype="str"), {"a": "x"}.get).tolist()
    ['x', nan, 'x']
    """
    codes, distinct = pd.factorize(cells)
    values = pd.array([*(function(str(text)) for text in distinct), None], dtype="str")
    return pd.Series(values.take(codes), index=cells.index)


def text_digest(text: str) -> str:
    """Name a source text by eight digits of a hash, however its words are spaced.

    >>> text_digest("Two  words") == text_digest("Two words\\u200b")
    True
    """
    return hashlib.sha256(" ".join(plain(text).split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def demand_few(rejected: Collection[Rejection]) -> None:
    """Raise DataError where more rows are rejected than anyone mends."""
    if len(rejected) > _MOST_REJECTED:
        *_, last = rejected
        why = last.reason[:100]
        raise DataError(f"More than {_MOST_REJECTED:,} rows are no judgements ({why}). Check which columns hold what.")


@dataclass
class Judgements:
    """What a table gave: ratings, errors marked in them, and rows that are no judgements.

    ratings: their index is the number of the row, counted from 0 until all of a table is read, then its line.
    names: our name -> the table's heading. parts: headings of columns of scores -> what they name, which is our column
    ``role``. read: judgements looked at, where they are not one a row. folded: further rows that went into judgements
    which have a row already. weak: the scale is a guess from few scores. metrics: automatic scores that an earlier
    import has set apart.
    """

    ratings: pd.DataFrame
    rejected: list[Rejection] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    spans: pd.DataFrame | None = None
    read: int | None = None
    folded: int = 0
    role: str = ""
    parts: dict[str, str] = field(default_factory=dict)
    weak: bool = False
    metrics: Sequence[Metric] = ()
