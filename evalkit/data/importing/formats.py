"""What a format must say of itself: how it is recognised, and how its rows become judgements."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from evalkit.data import languages, schemas
from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.files.rows import Rows, Source, headings
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.options import Options
from evalkit.data.importing.report import Report
from evalkit.data.names import plain

_TOP = 20  # rows in which a heading may stand
_LONG = 100  # letters of a heading that is left out


@dataclass
class Head:
    """The first rows of a file with their lines, and the row that reads most like headings.

    typed: the cells are a workbook's. named: the file whose name may state the languages. title: a sheet's, which may
    state the language of its translations.
    """

    path: Path
    rows: list[tuple[int, list[str]]]
    typed: bool = False
    named: str = ""
    line: int = 0
    header: list[str] = field(default_factory=list)
    title: str = ""
    read: Callable[[list[str], int], Rows] | None = field(default=None, repr=False, compare=False)
    #: Whether a column may hold scores, for those that were looked at: several formats ask.
    scores: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, source: Source) -> "Head":
        """Find the headings of a file."""
        head = cls(
            source.path,
            source.head,
            source.typed,
            source.named or source.path.name,
            title=source.title,
            read=source.read,
        )
        counts = [columns.count_known(cells) for _, cells in head.rows[:_TOP]]
        if counts:
            place = counts.index(max(counts))
            head.line, cells = head.rows[place]
            if place + 1 < len(head.rows) and (second := _second(cells, head.rows[place + 1][1])):
                head.line, cells = head.rows[place + 1][0], second
            cells = _fitting(cells, [row for line, row in head.rows if line > head.line], source.notes)
            cells = cells[: max((place for place, cell in enumerate(cells, 1) if cell.strip()), default=0)]
            head.header = headings(_without_more(cells, head.below, source))
        return head

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def below(self) -> list[list[str]]:
        """The rows below the headings."""
        return [cells for line, cells in self.rows if line > self.line]

    @cached_property
    def whole(self) -> Rows:
        """All rows below the headings: what a column is, is judged by all of them."""
        assert self.read
        return self.read(self.header, self.line)

    def judged(self, name: str) -> pd.Series:
        """What stands in a column in all rows where it says something: no empty cells, no words for no judgement."""
        frame = self.whole.frame  # a file that its loader reads by itself has no columns here
        return numbers.said(frame[name] if name in frame else pd.Series(dtype="str")).dropna()

    def samples(self, name: str) -> list[str]:
        """What stands in a column on the first rows, without empty cells."""
        place = self.header.index(name)
        cells = [plain(cells[place]) for cells in self.below if place < len(cells)]
        return [cell for cell in cells if cell]


def _without_more(cells: list[str], below: list[list[str]], source: Source) -> list[str]:
    """Leave out headings at the end that no row has a cell for, or that are a comment, unless they are known ones."""
    widths = {len(row) for row in below}
    width = min(widths, default=len(cells))
    width = next((place for place in range(width, len(cells)) if cells[place].strip().startswith("#")), width)
    more = [cell.strip() for cell in cells[width:]]
    comment = bool(more) and more[0].startswith("#")
    if not more or not width or not (comment or widths == {width}) or any(map(columns.meaning, more)):
        return cells
    left = "; ".join(cell[:_LONG] for cell in more if cell)
    note = f"the line of headings has more cells than the rows; left out: {left}"
    source.notes.extend([] if note in source.notes else [note])
    return cells[:width]


def _fitting(cells: list[str], below: list[list[str]], notes: list[str]) -> list[str]:
    """Name a first column that has no heading, as of row names that are numbers."""
    if len(below) > 1 and {len(row) for row in below} == {len(cells) + 1}:
        first = [row[0].strip() for row in below]
        counted = [[str(start + place) for place in range(len(first))] for start in (0, 1)]
        if first in counted:
            notes.append("the rows have a number before the first heading; it was not used")
            return ["", *cells]
    return cells


def _second(cells: list[str], below: list[str]) -> list[str] | None:
    """Join headings in two rows, where some columns share a merged one and are named apart below; None where not."""
    width = max(len(cells), len(below))
    upper, lower = ([cell.strip() for cell in row] + [""] * (width - len(row)) for row in (cells, below))
    places = [place for place in range(width) if lower[place]]
    words = len(places) > 1 and not any(_numbered(lower[place]) for place in places)
    shared = [place for place in places if not upper[place]]
    spread = words and shared and all(upper[place] or place - 1 in places for place in places)
    own = [place for place in range(width) if upper[place] and not lower[place]]
    return [lower[place] or upper[place] for place in range(width)] if spread and own else None


def _numbered(cell: str) -> bool:
    """Tell whether a cell is a number, however its decimals are written."""
    return cell.replace(",", "").replace(".", "").lstrip("+-").isdecimal()


@dataclass
class Match:
    """How well a file fits a format (1 fits), what it lacks, and where the format would begin to read.

    loaded: a loader of the suite reads the file by itself, whatever its rows are.
    """

    fit: float
    lacks: str = ""
    header: list[str] = field(default_factory=list)
    after: int = 0
    why: str = ""
    loaded: bool = False


@dataclass(frozen=True)
class Format:
    """A kind of table: how well a file's first rows fit it, and how its rows become judgements.

    scale: the ends of its scores, None where they have none.
    """

    name: str
    title: str
    scale: tuple[float, float] | None
    match: Callable[[Head, Options], Match]
    convert: Callable[[Rows, Head, Match, Options, Report], Converted]


def ordered(names: set[str]) -> list[str]:
    """Bring our columns into their order."""
    return [name for name in (*schemas.RATINGS.columns, *columns.EXTRAS) if name in names]


def with_languages(names: dict[str, str], values: dict[str, str], head: Head, report: Report) -> None:
    """Take the languages from the file's name where neither a column nor the user says them; else say: unknown."""
    told = {*names, *values}
    if "pair" in names and {"src_lang", "tgt_lang"} <= told:
        del names["pair"]
    lacks = [] if "pair" in told else [ours for ours in ("src_lang", "tgt_lang") if ours not in told]
    if len(lacks) == 2 and (pair := languages.in_name(head.named)):
        values |= dict(zip(lacks, pair))
        report.note(f"the languages were read from the name of {head.named}: {pair[0]}-{pair[1]}")
        return
    if "tgt_lang" in lacks and (language := languages.code(head.title)):
        values["tgt_lang"] = language
        lacks.remove("tgt_lang")
        report.note(f"the language of translations was read from the title {head.title!r}: {language}")
    if lacks:
        values |= dict.fromkeys(lacks, languages.UNKNOWN)
        way = "--value pair=en-de" if len(lacks) == 2 else f"--value {lacks[0]}=eng"
        report.note(
            f"nothing says the languages ({', '.join(lacks)}): they are {languages.UNKNOWN}, unknown; pass "
            f"{way} or the like"
        )


def describe(report: Report, known: columns.Columns, header: list[str]) -> None:
    """Put into the report which column became what."""
    report.mapping |= {ours: {"theirs": name, "how": known.found[ours]} for ours, name in known.names.items()}
    for name in header:
        if name not in known.names.values() and name not in report.unused:
            report.unused.append(name)
    for note in known.notes:
        report.note(note)
