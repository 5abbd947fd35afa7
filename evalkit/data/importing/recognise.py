"""Tell which format a file has; where none fits, say what was tried and what the nearest lacks."""

import re
import shlex
from dataclasses import replace

from evalkit import DataError
from evalkit.data.importing import surveys
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files.rows import MOST_COLUMNS, Rows, Source
from evalkit.data.importing.formats import Format, Head, Match
from evalkit.data.importing.judgements import ways
from evalkit.data.importing.kinds import layouts
from evalkit.data.importing.kinds.annotated import ANNOTATED
from evalkit.data.importing.kinds.appraise import APPRAISE, ESA
from evalkit.data.importing.kinds.imported import IMPORTED
from evalkit.data.importing.kinds.loaded import MT_METRICS_EVAL
from evalkit.data.importing.kinds.mqm import MQM
from evalkit.data.importing.kinds.mturk import MTURK
from evalkit.data.importing.kinds.preferences import PREFERENCES
from evalkit.data.importing.kinds.tables import CSV, XSTS
from evalkit.data.importing.options import WIDE, Options
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.rejected import EXCLUDED, REFUSE_ABOVE
from evalkit.data.importing.report import Report
from evalkit.data.importing.slots import unfolded
from evalkit.data.names import Looks, plain

#: The formats of tables; of two that fit alike, the first is taken.
KINDS = {
    kind.name: kind
    for kind in (IMPORTED, *ANNOTATED, MT_METRICS_EVAL, MTURK, ESA, APPRAISE, MQM, PREFERENCES, XSTS, CSV)
}


_MOST_NAMES, _SHOWN = 20, 5  # headings and cells that a refusal shows


def chosen(sources: list[Source], options: Options, name: str = "auto") -> list[tuple[Source, Format, Head, Match]]:
    """Return the file, or the sheets of a workbook that hold a campaign, all of one format; each with it.

    name: "auto", or the format that the user names, which must then fit well enough to be read at all.
    Raises DataError where no sheet has one, or several have different ones.
    """
    found: list[tuple[Source, Format, Head, Match]] = []
    problems = []
    if name in ("auto", "csv"):
        laid_out = [
            source if _width(source) > MOST_COLUMNS else surveys.unfolded(source, options) for source in sources
        ]
        sources = [source if _width(source) > MOST_COLUMNS else unfolded(source, options) for source in laid_out]
    notes = dict.fromkeys(note for source in sources for note in source.notes if note.startswith("hidden"))
    hidden = f" ({' '.join(notes)}; --sheet names one.)" if notes else ""
    for source in sources:
        try:
            found.append((source, *_recognised(source, options, name)))
        except DataError as problem:
            if len(sources) == 1:
                raise DataError(f"{problem}{hidden}") from problem
            problems.append((columns.count_known(Head.of(source).header), f"sheet {source.title!r}: {problem}"))
    if not found:  # the sheet that reads most like a table
        raise DataError(max(problems, key=lambda problem: problem[0])[1] + hidden)
    titles = [source.title for source, *_ in found]
    if len({kind.name for _, kind, *_ in found}) > 1:
        kinds = ", ".join(f"{source.title} ({kind.name})" for source, kind, *_ in found)
        raise DataError(
            f"{sources[0].path.name} has several sheets of judgements, of different formats: {kinds}. Name one with "
            f"--sheet, and import the others by themselves.{hidden}"
        )
    if others := [source.title for source in sources if source.title not in titles]:
        found[0][0].notes.append(f"other sheets were not read: {', '.join(others)}")
    if len(found) > 1:
        found[0][0].notes.append(
            f"the judgements of {len(found)} sheets were put together: {', '.join(titles)}; --sheet names one"
        )
    return found


def _width(source: Source) -> int:
    return max((len(cells) for _, cells in source.head), default=0)


def _recognised(source: Source, options: Options, name: str) -> tuple[Format, Head, Match]:
    """Return the format of a file, its head, and where to begin.

    Raises DataError where no format fits, with all that were tried and the nearest one's lack.
    """
    if not source.head:
        raise DataError(f"{source.path.name} has no rows. Check that the export is complete.")
    if (width := _width(source)) > MOST_COLUMNS:
        raise DataError(f"{source.path.name} has {width:,} columns on one of its first rows. Is it a table?")
    head = Head.of(source)
    if name != "auto":
        match = KINDS[name].match(head, options)
        if not match.header:
            raise DataError(
                f"{source.path.name} is not {KINDS[name].title}: it lacks {match.lacks}. Try --format auto."
            )
        return KINDS[name], head, match
    if all(len(cells) == 1 and re.fullmatch(r"[A-Z]", cells[0].strip()) for _, cells in source.head):
        raise DataError(
            f"{source.path.name} holds one letter a line: labels without scores, systems or annotators. The labels of "
            "Sudoh et al. are the data set sudoh-labels; others need a table with a column of scores."
        )
    found = {kind.name: kind.match(head, options) for kind in KINDS.values()}
    whole = [kind for kind, match in found.items() if match.header and not match.lacks]
    if not whole:
        raise DataError(_unrecognised(source, found, head, options))
    best = max(whole, key=lambda kind: found[kind].fit)
    return KINDS[best], head, found[best]


def _unrecognised(source: Source, found: dict[str, Match], head: Head, options: Options) -> str:
    """Say what was tried, what came nearest, and what it lacks."""
    told = {*columns.OURS, *columns.OTHERS}  # what --map can name: a format that lacks anything else cannot be had
    near = [kind for kind, match in found.items() if match.fit > 0 and {*match.lacks.split(", ")} <= told]
    best = max(near or found, key=lambda kind: found[kind].fit)
    first = head.line - sum(cell.count("\n") for line, cells in head.rows if line == head.line for cell in cells)
    where = f"the headings on line {first} are" if head.line else "its objects have the names"
    names = [name if len(name) <= 40 else f"{name[:39]}…" for name in head.header[:_MOST_NAMES]]
    row = _first_row(head)
    more = f" and {len(head.header) - _MOST_NAMES} others" if len(head.header) > _MOST_NAMES else ""
    headed = f"; {where} {', '.join(names)}{more}" if names else ""
    lacks = found[best].lacks.split(", ")
    nearest = f"Nearest is {best}, but it lacks {found[best].lacks}" if near else "No heading is known"
    tried = f"{head.name} has none of the formats that were tried ({', '.join(found)})"
    wide = layouts.found(head, options)
    if wide and not wide.role and "score" in lacks:
        return f"{tried}. {nearest}{headed}.{row} {wide.question}. {_ways_of(wide, source, head, options)}"
    if lacks == ["score"] and (one := _columns_of_scores(source, head, options)):
        return f"{tried}. {nearest}{headed}. Say which column holds the scores: {', or '.join(one)}."
    remedy = (
        ways(lacks)
        if near
        else "Map columns with --map OURS=THEIRS, give a value for all rows with --value OURS=TEXT, or name the format "
        "with --format."
    )
    return f"{tried}. {nearest}{headed}.{row} {remedy}"


def _first_row(head: Head) -> str:
    """Say what one row must hold, and show the first of the file beside it."""
    must = " One row must hold one judgement of one output: its segment, its system, who judged, and the score."
    cells = next(iter(head.below), [])
    shown = [f"{name[:30]} = {cell[:30]!r}" for name, cell in zip(head.header, map(plain, cells), strict=False) if cell]
    rest = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
    return must + (f" The first row here: {', '.join(shown[:_SHOWN])}{rest}." if shown else "")


def _columns_of_scores(source: Source, head: Head, options: Options) -> list[str]:
    """Say which single column could hold the scores, of those that were tried and work."""
    fine, rows = [], head.whole
    for name in layouts.candidates(head, options):
        way = replace(
            options, columns=options.columns | {"score": name}, pseudonyms=Pseudonyms(keep=True), looks=Looks()
        )
        if _reads(rows, head, way):
            fine.append(f"--map score={shlex.quote(name)}")
    return fine


def _ways_of(wide: layouts.Layout, source: Source, head: Head, options: Options) -> str:
    """Say how columns of scores can be read, of the ways that were tried and work."""
    fine = []
    rows = head.whole
    for told in WIDE:
        way = replace(options, wide=told, pseudonyms=Pseudonyms(keep=True), looks=Looks())
        typed = f"--wide {told}"
        if (lack := CSV.match(head, way).lacks.split(", ")) != [""]:
            if "segment" in lack:
                continue
            way.values = way.values | dict.fromkeys(lack, "one")
            typed += "".join(f" --value {ours}=TEXT" for ours in lack)
        if _reads(rows, head, way):
            fine.append(typed)
    if not fine:
        return "Name the columns of scores: --map 'score=HEADING+HEADING', with --wide systems, annotators or criteria."
    return f"Say what they are: {', or '.join(fine)}."


def _reads(rows: Rows, head: Head, options: Options) -> bool:
    """Try to read a table in some way; nothing of it is kept."""
    try:
        match = CSV.match(head, options)
        found = CSV.convert(rows, head, match, options, Report())
    except DataError:
        return False
    wrong = sum(row.kind != EXCLUDED for row in found.rejected)
    return not match.lacks and not found.ratings.empty and wrong <= REFUSE_ABOVE * (found.read or len(rows.frame))
