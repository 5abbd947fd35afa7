"""The table of formats: what can be imported, by which headings, from which tool; and which of them a table has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pandas as pd

from evalkit import DataError
from evalkit.data import mturk
from evalkit.data.importing import annotated, appraise, comparisons, layouts, mqm, plain, vocabulary, whole
from evalkit.data.importing.judgements import Rows, ways
from evalkit.data.importing.options import WIDE, Options
from evalkit.data.importing.tables import Judgements, Table
from evalkit.data.importing.vocabulary import bare
from evalkit.data.names import plain as plain_text

#: What a table lacks to have a format, None where it is far from it; and why it has it.
Lacks = Callable[[Table, Options], tuple[list[str] | None, str]]


@dataclass(frozen=True)
class Format:
    """A format: its name, and how its rows become judgements.

    needs: headings that it must have, compared without case and marks; lacks: what says the same where headings alone
    do not; where neither is, what read the file says it. told: what vocabulary.toml has the words under, where that is
    not the name.
    """

    name: str
    convert: Callable[[Rows], Judgements]
    needs: Sequence[str] = ()
    lacks: Lacks | None = None
    told: str = ""

    @property
    def said(self) -> dict[str, str]:
        """What people are told of it: title, row (what one holds), headings, scale."""
        return {"row": "one output judged by one person"} | _SAID[self.told or self.name]

    def missing(self, table: Table, options: Options) -> tuple[list[str] | None, str]:
        """Say what a table lacks, None where it is far from this format; and why it has it."""
        if table.kind or not (self.needs or self.lacks):
            by_name = self.name in (whole.IMPORTED, whole.MTME)
            return ([] if self.name == table.kind else None), f"by its {'name' if by_name else 'fields'}"
        if self.lacks:
            return self.lacks(table, options)
        have = {bare(name) for name in table.header}
        missing = [name for name in self.needs if bare(name) not in have]
        near = len(missing) < len(self.needs) / 2
        return (missing if near else None), "by its headings" if table.line else "by its rows, which have no headings"


_SAID = vocabulary.table("formats")
#: Every format, the most particular first; the first that a table has is taken.
FORMATS = (
    Format(whole.IMPORTED, whole.convert_imported),
    *(Format(tool, annotated.convert) for tool in annotated.TOOLS),
    Format(whole.MTME, whole.convert_mtme),
    Format("mturk-da", whole.convert_mturk, mturk.COLUMNS),
    Format("esa", appraise.convert, (*appraise.NEEDED, "spans")),
    Format("appraise", appraise.convert, appraise.NEEDED),
    Format("mqm", whole.convert_indicmt, whole.INDIC, told="mqm-indicmt"),
    Format("mqm", mqm.convert_chat, mqm.CHAT, told="mqm-chat"),
    Format("preferences", comparisons.convert, lacks=comparisons.lacks),
    Format("mqm", mqm.convert, lacks=mqm.lacks),
    Format("xsts", partial(plain.convert_csv, xsts=True), lacks=plain.lacks_xsts),
    Format("csv", plain.convert_csv, lacks=plain.lacks_csv),
)
#: What ``--format`` takes.
NAMES = ("auto", *dict.fromkeys(one.name for one in FORMATS if one.name != whole.IMPORTED))
_MOST_NAMES, _SHOWN = 20, 5  # headings and cells that a refusal shows


def listed() -> str:
    """Write the table of formats for people: name, what it is, what one row holds, and what tells it."""
    lines = []
    for one in FORMATS:
        told = one.said.get("headings") or ", ".join(one.needs)
        lines += [f"{one.name}: {one.said['title']}", f"    a row is {one.said['row']}"]
        lines += [f"    headings: {told}" if told else "    told by its name or by its fields"]
        lines += [f"    scores from {one.said['scale']}"] if "scale" in one.said else []
    note = "Headings may be others that mean the same, in many languages; --map names the rest, --format a format."
    return "\n".join([*lines, note])


@dataclass
class Recognised:
    """A file, or a sheet of one: its table, its format and why it has it; once it is read, its name and judgements."""

    table: Table
    format: Format
    why: str
    name: str = ""
    judgements: Judgements = field(default_factory=lambda: Judgements(pd.DataFrame()))


def recognised(tables: list[Table], options: Options, name: str = "auto") -> list[Recognised]:
    """Return the table of a file, or the sheets of a workbook that hold a campaign, all of one format.

    name: "auto", or the format that the user names, which must then fit well enough to be read at all.
    Raises DataError where no sheet has one, or several have different ones.
    """
    found: list[Recognised] = []
    problems = []
    hidden = " ".join(dict.fromkeys(note for table in tables for note in table.notes if note.startswith("hidden")))
    hidden = f" ({hidden}; --sheet names one.)" if hidden else ""
    for table in tables:
        try:
            if name in ("auto", "csv") and not table.kind and table.header:
                table = layouts.of_places(layouts.of_form(table, options), options)
            found.append(_recognised(table, options, name))
        except DataError as problem:
            sheet = f"sheet {table.title!r}: " if len(tables) > 1 else ""
            problems.append((vocabulary.count_known(table.header), f"{sheet}{problem}"))
    if not found:  # the sheet that reads most like a table
        raise DataError(max(problems, key=lambda problem: problem[0])[1] + hidden)
    titles = [one.table.title for one in found]
    if len({one.format.name for one in found}) > 1:
        kinds = ", ".join(f"{one.table.title} ({one.format.name})" for one in found)
        raise DataError(f"{tables[0].name} has sheets of different formats: {kinds}. Import each with --sheet.{hidden}")
    notes = found[0].table.notes
    if others := [table.title for table in tables if table.title not in titles]:
        notes.append(f"other sheets were not read: {', '.join(others)}")
    if len(found) > 1:
        notes.append(f"the judgements of {len(found)} sheets were put together: {', '.join(titles)}; --sheet names one")
    return found


def _recognised(table: Table, options: Options, name: str) -> Recognised:
    """Return the format of a table.

    Raises DataError where no format fits, with all that were tried and the nearest one's lack.
    """
    tried = [(one, *one.missing(table, options)) for one in FORMATS if name in ("auto", one.name)]
    for one, missing, why in tried:
        if missing == []:
            return Recognised(table, one, why)
    if name != "auto":
        one, missing, _ = tried[-1]
        if not table.kind and one.convert in (appraise.convert, plain.convert_csv):
            return Recognised(table, one, "")  # says itself what it lacks
        title, headings = one.said["title"], one.said.get("headings")
        lack = ", ".join(missing or one.needs) or headings or f"the fields of {title}"
        remedy = ways(missing) if missing and one.lacks else "Try --format auto."
        comparisons.demand_one(table, options)  # says more than what is lacking
        raise DataError(f"{table.name} holds no {title}: it lacks {lack}. {remedy}")
    known = {*vocabulary.OURS, *vocabulary.OTHERS}  # what --map can name: what else is lacking cannot be had
    near = [(one, missing) for one, missing, _ in tried if missing and {*missing} <= known and one.name != "xsts"]
    raise DataError(_unrecognised(table, options, min(near, key=lambda one: len(one[1]), default=None)))


def _unrecognised(table: Table, options: Options, nearest: tuple[Format, list[str]] | None) -> str:
    """Say what was tried, what came nearest, and what it lacks."""
    names = [name if len(name) <= 40 else f"{name[:39]}…" for name in table.header[:_MOST_NAMES]]
    more = f" and {len(table.header) - _MOST_NAMES} others" if len(table.header) > _MOST_NAMES else ""
    where = f"the headings on line {table.line} are" if table.line else "its objects have the names"
    headed = f"; {where} {', '.join(names)}{more}" if names else ""
    kind, lacks = nearest or (None, [])
    near = f"Nearest is {kind.name}, but it lacks {', '.join(lacks)}" if kind else "No heading is known"
    tried = ", ".join(dict.fromkeys(one.name for one in FORMATS))
    nested = not table.line and any("." in name for name in table.header)  # a part of an object is no way
    question = plain.layout(table, options).question
    if nested and "score" in lacks:
        remedy = "Write an object for each judgement, with these four under names of their own."
    elif question and "score" in lacks:
        remedy = f"{question}. {_ways_of(table, options)}"
    elif lacks:
        remedy = ways(lacks)
    else:
        remedy = (
            "Map columns with --map OURS=THEIRS, give a value for all rows with --value OURS=TEXT, or name the format "
            "with --format."
        )
    return (
        f"{table.name} has none of the formats that were tried ({tried}). {near}{headed}. One row must hold one "
        f"judgement of one output: its segment, its system, who judged, and the score.{_first_row(table)} {remedy}"
    )


def _first_row(table: Table) -> str:
    """Show the first row of a file."""
    cells = [cell for row in table.cells.head(1).to_dict("records") for cell in row.items() if isinstance(cell[1], str)]
    shown = [f"{name[:30]} = {plain_text(cell)[:30]!r}" for name, cell in cells]
    rest = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
    return f" The first row here: {', '.join(shown[:_SHOWN])}{rest}." if shown else ""


def _ways_of(table: Table, options: Options) -> str:
    """Say how columns of scores can be read, and what each way needs besides."""
    fine = []
    for told in WIDE:
        lacks = plain.lacks_csv(table, replace(options, wide=told))[0]
        if lacks is not None and "segment" not in lacks and WIDE[told] not in plain.known(table, options):
            fine.append(f"--wide {told}" + "".join(f" --value {ours}=TEXT" for ours in lacks))
    if not fine:
        return "Name the columns of scores: --map 'score=HEADING+HEADING', with --wide systems, annotators or criteria."
    return f"Say what they are: {', or '.join(fine)}. Or name the only one of scores: --map score=HEADING."
