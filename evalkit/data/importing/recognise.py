"""Tell which format a file has; where none fits, say what was tried and what the nearest lacks."""

import re
from pathlib import Path

from evalkit import DataError
from evalkit.data.importing import columns
from evalkit.data.importing.appraise import Appraise, Esa
from evalkit.data.importing.chunks import MOST_COLUMNS, Source
from evalkit.data.importing.formats import Csv, Format, Head, Match
from evalkit.data.importing.judgements import Options, ways
from evalkit.data.importing.loaded import MtMetricsEval
from evalkit.data.importing.mqm import Mqm
from evalkit.data.importing.mturk import Mturk
from evalkit.data.importing.xsts import Xsts, unnamed


def table_formats() -> dict[str, Format]:
    """List the formats of tables; of two that fit alike, the first is taken."""
    return {kind.name: kind for kind in (MtMetricsEval(), Mturk(), Esa(), Appraise(), Mqm(), Xsts(), Csv())}


def chosen(sources: list[Source], options: Options, name: str = "auto") -> tuple[Source, Format, Head, Match]:
    """Return the one sheet of a workbook, or the file, that holds a campaign, with its format.

    Raises DataError where none does, or several sheets do.
    """
    hidden = " ".join(dict.fromkeys(note for source in sources for note in source.notes if note.startswith("hidden")))
    try:
        return _chosen(sources, options, name)
    except DataError as problem:
        raise DataError(f"{problem} ({hidden}; --sheet names one.)" if hidden else str(problem)) from problem


def _chosen(sources: list[Source], options: Options, name: str) -> tuple[Source, Format, Head, Match]:
    if len(sources) == 1:
        return (sources[0], *recognised(sources[0], options, name))
    found, problems = [], []
    for source in sources:
        try:
            found.append((source, *recognised(source, options, name)))
        except DataError as problem:
            likely = columns.count_known(Head(source.path, source.head).header)
            problems.append((likely, f"sheet {source.title!r}: {problem}"))
    titles = [source.title for source, *_ in found]
    if len(found) > 1:
        raise DataError(
            f"{sources[0].path.name} has several sheets of judgements: {', '.join(titles)}. Name one with --sheet, and "
            "import the others by themselves, or bring them into one sheet."
        )
    if not found:
        raise DataError(max(problems, key=lambda problem: problem[0])[1])  # the sheet that reads most like a table
    others = [source.title for source in sources if source.title not in titles]
    found[0][0].notes.append(f"other sheets were not read: {', '.join(others)}")
    return found[0]


def recognised(source: Source, options: Options, name: str = "auto") -> tuple[Format, Head, Match]:
    """Return the format of a file, its head, and where to begin.

    name: "auto", or the format that the user names, which must then fit well enough to be read at all.
    Raises DataError where no format fits, with all that were tried and the nearest one's lack.
    """
    if not source.head:
        raise DataError(f"{source.path.name} has no rows. Check that the export is complete.")
    if (width := max(len(cells) for _, cells in source.head)) > MOST_COLUMNS:
        raise DataError(f"{source.path.name} has {width:,} columns on one of its first rows. Is it a table?")
    head = Head(source.path, source.head, getattr(source, "typed", False), getattr(source, "named", ""))
    kinds = table_formats()
    if name != "auto":
        match = kinds[name].match(head, options)
        if not match.header:
            raise DataError(
                f"{source.path.name} is not {kinds[name].title}: it lacks {match.lacks}. Try --format auto."
            )
        return kinds[name], head, match
    if all(len(cells) == 1 and re.fullmatch(r"[A-Z]", cells[0].strip()) for _, cells in source.head):
        raise DataError(
            f"{source.path.name} holds one letter a line: labels without scores, systems or annotators. The labels of "
            "Sudoh et al. are the data set sudoh-labels; others need a table with a column of scores."
        )
    found = {kind: kinds[kind].match(head, options) for kind in kinds}
    best = max(found, key=lambda kind: found[kind].fit)
    whole = [kind for kind in kinds if found[kind].header and not found[kind].lacks]
    if whole:
        best = max(whole, key=lambda kind: found[kind].fit)
        return kinds[best], head, found[best]
    raise DataError(rejection(source.path, found, head))


def rejection(path: Path, found: dict[str, Match], head: Head) -> str:
    """Say what was tried, what came nearest, and what it lacks."""
    best = max(found, key=lambda kind: found[kind].fit)
    headed = f"; the headings on line {head.line} are {', '.join(head.header[:20])}" if head.header else ""
    lacks = found[best].lacks.split(", ")
    nearest = f"Nearest is {best}, but it lacks {found[best].lacks}" if found[best].fit > 0 else "No heading is known"
    tried = f"{path.name} has none of the formats that were tried ({', '.join(found)})"
    remedy = (
        ways(lacks)
        if set(lacks) <= set(columns.OURS)
        else "Map columns with --map OURS=THEIRS, give a value for all rows with --value OURS=TEXT, or name the format "
        "with --format."
    )
    people = unnamed(head) if "score" in lacks else []
    if len(people) > 1:
        remedy += f" If {' and '.join(people)} hold one person's scores each: --map 'score={'+'.join(people)}'."
    return f"{tried}. {nearest}{headed}. {remedy}"
