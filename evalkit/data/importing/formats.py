"""What a format must say of itself: how it is recognised, and how its rows become judgements."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pandas as pd

from evalkit import DataError
from evalkit.data import languages, schemas
from evalkit.data.importing import columns, segments
from evalkit.data.importing.chunks import headings
from evalkit.data.importing.judgements import ITEM_TYPES, Converted, Judgements, Options, lacking
from evalkit.data.importing.report import Report
from evalkit.data.names import plain

_SPARE = ("src_lang", "tgt_lang", "pair", "doc", "hit")
_TOP = 20  # rows in which a heading may stand


@dataclass
class Head:
    """The first rows of a file with their lines, and the row that reads most like headings.

    typed: the cells are a workbook's. named: the file whose name may state the languages.
    """

    path: Path
    rows: list[tuple[int, list[str]]]
    typed: bool = False
    named: str = ""
    line: int = 0
    header: list[str] = field(default_factory=list)

    def __post_init__(self):
        counts = [columns.count_known(cells) for _, cells in self.rows[:_TOP]]
        if counts:
            place = counts.index(max(counts))
            self.line, cells = self.rows[place]
            if place + 1 < len(self.rows) and (second := _second(cells, self.rows[place + 1][1])):
                self.line, cells = self.rows[place + 1][0], second
            while cells and not cells[-1].strip():
                cells = cells[:-1]
            self.header = headings(cells)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def below(self) -> list[list[str]]:
        """The rows below the headings."""
        return [cells for line, cells in self.rows if line > self.line]

    def samples(self, name: str) -> list[str]:
        """What stands in a column, without empty cells."""
        place = self.header.index(name)
        cells = [plain(cells[place]) for cells in self.below if place < len(cells)]
        return [cell for cell in cells if cell]


def _second(cells: list[str], below: list[str]) -> list[str] | None:
    """Join headings in two rows, where some columns share a merged one and are named apart below; None where not."""
    width = max(len(cells), len(below))
    upper, lower = ([cell.strip() for cell in row] + [""] * (width - len(row)) for row in (cells, below))
    places = [place for place in range(width) if lower[place]]
    words = len(places) > 1 and not any(numbered(lower[place]) for place in places)
    shared = [place for place in places if not upper[place]]
    spread = words and shared and all(upper[place] or place - 1 in places for place in places)
    own = [place for place in range(width) if upper[place] and not lower[place]]
    return [lower[place] or upper[place] for place in range(width)] if spread and own else None


def numbered(cell: str) -> bool:
    """Tell whether a cell is a number, however its decimals are written."""
    return cell.replace(",", "").replace(".", "").lstrip("+-").isdecimal()


@dataclass
class Match:
    """How well a file fits a format (1 fits), what it lacks, and where the format would begin to read."""

    fit: float
    lacks: str = ""
    header: list[str] = field(default_factory=list)
    after: int = 0
    why: str = ""


class Reader(Protocol):
    """Reads one file of a format. ``columns``: what its ratings will have, in order."""

    columns: list[str]
    whole: bool  # judgements hang on each other, so that the file is held in memory
    names: dict[str, str]  # our name -> the file's heading

    def convert(self, frame: pd.DataFrame) -> Converted:
        """Turn rows into judgements."""

    def finish(self, found: list[Converted]) -> Converted:
        """Look at all rows of the file together, where ``whole``; the index of the result is the line."""


class Format(Protocol):
    """A kind of table."""

    name: str
    title: str
    scale: tuple[float, float] | None

    def match(self, head: Head, options: Options) -> Match:
        """Say how well the first rows fit."""

    def reader(self, head: Head, match: Match, options: Options, report: Report) -> Reader:
        """Make ready to read the file."""


def ordered(names: set[str] | dict) -> list[str]:
    """Bring our columns into their order."""
    return [name for name in (*schemas.RATINGS.columns, *columns.EXTRAS) if name in names]


def with_languages(names: dict[str, str], values: dict[str, str], head: Head, note: Callable[[str], None]) -> None:
    """Take the languages from the file's name where neither a column nor the user says them; else say: unknown."""
    told = {*names, *values}
    if "pair" in names and {"src_lang", "tgt_lang"} <= told:
        del names["pair"]
    lacks = [] if "pair" in told else [ours for ours in ("src_lang", "tgt_lang") if ours not in told]
    name = head.named or head.name
    if len(lacks) == 2 and (pair := languages.in_name(name)):
        values |= dict(zip(lacks, pair))
        note(f"the languages were read from the name of {name}: {pair[0]}-{pair[1]}")
    elif lacks:
        values |= dict.fromkeys(lacks, languages.UNKNOWN)
        note(f"nothing says the languages ({', '.join(lacks)}): they are {languages.UNKNOWN}, unknown; pass "
             + ("--value pair=en-de" if len(lacks) == 2 else f"--value {lacks[0]}=eng") + " or the like")  # fmt: skip


class Csv:
    """A table with a row per judgement, under our names, synonyms of them, or names that the user maps."""

    name, title, scale = "csv", "a row per judgement, under headings of its own", (0, 100)

    def match(self, head: Head, options: Options) -> Match:
        """Fits where the headings name what a judgement needs."""
        found = {columns.meaning(name) for name in head.header} | {*options.columns, *options.values}
        wanted = ["system", "segment", "annotator", "score"]
        lacks = [name for name in wanted if name not in found and not (name == "segment" and "source" in found)]
        return Match(0.8 * (1 - len(lacks) / 4), ", ".join(lacks), head.header, head.line, "by its headings")

    def reader(self, head: Head, match: Match, options: Options, report: Report) -> "Rows":
        """Map the headings."""
        return Rows(head, match, options, report, self.scale)


class Rows:
    """Read a table with a row per judgement."""

    whole = False

    def __init__(self, head: Head, match: Match, options: Options, report: Report, scale: tuple[float, float] | None):
        values = dict(options.values)
        if several := [ours for ours, theirs in options.columns.items() if not isinstance(theirs, str)]:
            raise DataError(f"{several[0]} names several columns: that is --format xsts, a score column per evaluator.")
        known = columns.mapped(match.header, options.columns, origin=head.name, given=values)
        self._empty, self._origin = without_empty(known, head, report), head.name
        with_languages(known.names, values, head, report.note)
        _without_foreign_kinds(known, head, options, report)
        if "doc" not in known.names and "doc" not in values:
            values["doc"] = "all"
            report.note("no column names documents; all segments were given the document 'all'")
        self._text = segments.named(known, values, report.note) if "source" in known.names else None
        lacking(known.names, values, origin=head.name, header=match.header)
        scale = options.scale or stated(known.names, report) or scale
        if "item_type" not in known.names and "item_type" not in values:
            report.note("no column tells kinds of items; all were taken as outputs of systems (item_type system)")
        self.scale = scale
        self.rows = Judgements(known.names, values, options, scale, report.note, typed=head.typed)
        self.names = known.names
        described(report, known, match.header)
        has = {*known.names, "item_type", *values, "src_lang", "tgt_lang"} - {"pair"}
        self.columns = ordered(has)

    def convert(self, frame: pd.DataFrame) -> Converted:
        """Turn rows into judgements."""
        still_empty(frame, self._empty, origin=self._origin)
        return self.rows.convert(segments.given(frame, self._text))


def stated(names: dict[str, str], report: Report) -> tuple[float, float] | None:
    """Return the scale that the heading of the scores states."""
    scale = columns.scale_in(names.get("score", ""))
    if scale:
        report.scale_from = f"of the heading {names['score']}"
    return scale


def without_empty(known: columns.Columns, head: Head, report: Report) -> list[str]:
    """Leave out columns that a judgement can do without where they are empty, as in a template; name them."""
    empty = []
    for ours in _SPARE:
        name = known.names.get(ours)
        if name and head.below and known.found[ours] != "as told" and not head.samples(name):
            del known.names[ours], known.found[ours]
            report.note(f"the column {name} is empty")
            empty.append(name)
    return empty


def still_empty(frame: pd.DataFrame, names: list[str], *, origin: str) -> None:
    """Refuse a file whose columns are empty on the first rows, and not on others."""
    for name in names:
        if (filled := frame.index[frame[name].notna()]).size:
            raise DataError(
                f"{origin}, line {filled[0]}: {name} is filled here and empty on the first rows. Fill it in for all "
                "rows, or empty it."
            )


def _without_foreign_kinds(known: columns.Columns, head: Head, options: Options, report: Report) -> None:
    """Leave out a column called type, or the like, whose values are no kinds of items."""
    name = known.names.get("item_type")
    kinds = {*ITEM_TYPES, *(kind.casefold() for kind in options.item_types)}
    if known.found.get("item_type") == "synonym" and not {cell.casefold() for cell in head.samples(name)} <= kinds:
        del known.names["item_type"], known.found["item_type"]
        report.note(
            f"{name} was not taken for kinds of items, because it holds other words; --map item_type={name!r} would"
        )


def described(report: Report, known: columns.Columns, header: list[str]) -> None:
    """Put into the report which column became what."""
    report.mapping |= {ours: {"theirs": name, "how": known.found[ours]} for ours, name in known.names.items()}
    for name in header:
        if name not in known.names.values() and name not in report.unused:
            report.unused.append(name)
    for note in known.notes:
        report.note(note)
