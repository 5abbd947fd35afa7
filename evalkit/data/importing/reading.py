"""From a file to tables of text: delimited text, JSON, what annotation tools export, the sheets of a workbook."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, designs, languages
from evalkit.data.delimited import UNFINISHED, unguarded
from evalkit.data.importing import layouts, pearmut, records, tools, vocabulary, wall, whole
from evalkit.data.importing.options import Options, Pseudonyms
from evalkit.data.importing.tables import HEAD, MOST_COLUMNS, Rejection, Row, Table, headings, stripped, text_table
from evalkit.data.names import plain

#: Who judged the example row of the template `scores.csv`; who forgets to delete it loses nothing.
EXAMPLE = "EXAMPLE-delete-this-row"
PASSED_OVER = f"the example row of the template was passed over ({EXAMPLE})"
_REMEDY = "Write one account and its person a line, such as deu01,Ann, or {person: [accounts]} as JSON."
_SAVE = "Save it as CSV in UTF-8, or name its --encoding."
_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
_TOP = 20  # rows in which a heading may stand
_LONG = 100  # letters of a heading that is left out
#: Columns in which a merged cell means each of its rows; a merged score may be one score or several.
_FILLED = {"src_lang", "tgt_lang", "pair", "system", "doc", "segment", "annotator", "item_type", "source", "reference"}
_Merged = list[tuple[tuple[int, int], tuple[int, int]]]  # of each the first and the last cell, from row and column 0


def opened(path: Path, options: Options) -> list[Table]:
    """Read one file: one table, or one for each sheet of a workbook and each array of a JSON object.

    A folder is one of screens that Pearmut baked.

    Raises DataError where it is not there, may not be read, is empty or too large, or is no table of any kind.
    """
    if path.is_dir():
        return [pearmut.screens(path)]
    if not path.is_file():
        raise DataError(f"{path} is not there, or is no file. Check the path.")
    start = delimited.content(path)[:8]  # the rest is the child's to read
    if not start:
        raise DataError(f"{path.name} is empty. Check that the export is complete.")
    if kind := whole.by_name(path, start):
        return [kind]
    if start.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        found = _sheets(path, options.sheet)
    elif path.suffix.casefold() in (".jsonl", ".ndjson", ".json"):
        found = _of_json(path, options.sheet)
    else:
        found = [_of_text(path, options)]
    return [_without_example(_of_design(table)) for table in found]


def _of_json(path: Path, name: str | None) -> list[Table]:
    """Take the arrays of a JSON file, each as what it is. name: of the one array that is wanted."""
    arrays = records.records(path)
    if name is not None and name not in (titles := [read.title for read in arrays]):
        raise DataError(f"{path.name} has no array {name!r}; it has {', '.join(titles)}. Correct --sheet.")
    return [_laid_out(path, read) for read in arrays if name in (None, read.title)]


def _laid_out(path: Path, read: records.Records) -> Table:
    """Lay objects out as a table: those of an annotation tool as its module does, others under dotted names."""
    first = [said for _, said in read.objects]
    if any(map(pearmut.is_screen, first)):
        raise DataError(f"{path.name} is one screen of a site that Pearmut baked. Import its folder.")
    if first and all(map(pearmut.is_log, first)):
        return pearmut.log(path, read)
    return tools.laid_out(path, read) or records.as_table(path, read)


def table(path: Path, remedy: str) -> Table:
    """Read a user's one table that is no campaign. Raises DataError where it is several, or a row is none."""
    found, *others = opened(path, Options(Pseudonyms(keep=True)))
    if others:
        raise DataError(f"{path.name} has several sheets or tables. {remedy}")
    if found.broken:
        raise DataError(f"{path.name}, line {found.broken[0].line}: {found.broken[0].reason}. {remedy}")
    return found


def owners(path: Path) -> dict[str, str]:
    """Return whose each account is.

    path: a table with a column of accounts and one of people, or JSON as WMT24 released it: person -> [accounts].
    Raises DataError where the file cannot be read, or gives an account to two people.
    """
    rows = _in_lists(path) if path.suffix.casefold() == ".json" else _in_columns(path)
    if rows.empty or not rows.map(lambda name: isinstance(name, str) and bool(name.strip())).all(axis=None):
        raise DataError(f"{path.name} lacks the name of an account or of a person. {_REMEDY}")
    pairs = rows.map(plain).set_axis(["account", "person"], axis=1).drop_duplicates()
    if (twice := pairs["account"][pairs["account"].duplicated()]).size:
        raise DataError(f"{path.name} gives one account to two people ({twice.iloc[0]!r}). Correct it.")
    return dict(zip(pairs["account"], pairs["person"]))


def _in_lists(path: Path) -> pd.DataFrame:
    said = records.whole(path, _REMEDY)
    lists = said if isinstance(said, dict) and all(isinstance(own, list) for own in said.values()) else {}
    return pd.DataFrame([(account, person) for person, own in lists.items() for account in own])


def _in_columns(path: Path) -> pd.DataFrame:
    """Take accounts and people by their headings; without headings a table has these two columns, in this order."""
    [table, *_] = opened(path, Options(Pseudonyms(keep=True)))
    heads = {name: re.sub(r"\d+$", "", vocabulary.bare(name)) for name in table.header}
    accounts = [name for name, head in heads.items() if head in vocabulary.listed("accounts")]
    people = [name for name, head in heads.items() if head in vocabulary.listed("people") and name not in accounts]
    people = people or [name for name, head in heads.items() if vocabulary.meaning(head) == "annotator"]
    if len(accounts) == len(people) == 1:
        return table.cells[[*accounts, *people]]
    if len(heads) != 2 or accounts or people:
        raise DataError(f"{path.name} has {len(heads)} columns, and no two headings account and person. {_REMEDY}")
    above = [cells for line, cells in table.first if line <= table.line]
    return pd.DataFrame([*above, *table.cells.to_numpy()])


# Delimited text


def _of_text(path: Path, options: Options) -> Table:
    """Cut a text, or the one in a tar archive, into the cells of its rows."""
    head, _ = wall.parsed(path, "head", _SAVE, encoding=options.encoding, tabs=path.suffix.casefold() == ".tsv")
    how, notes = head["how"], [f"{head['inside']} was read out of this archive"] if head["inside"] else []
    if how["encoding"] not in ("utf-8", "utf-8-sig"):
        why = "as told" if options.encoding else "found by its bytes; name another with --encoding if names look wrong"
        notes.append(f"read as {how['encoding']} ({why})")
    if how["blanks"]:
        notes.append("cells are cut by blanks and tabs, which were all taken for tabs")
    notes.append(f"cells are cut by {_NAMES[how['delimiter']]}")
    if head["unended"]:
        notes.append(UNFINISHED.format(where=f"line {head['unended']}"))
    rows = [(line, cells) for line, cells in head["rows"]]
    named = head["inside"] or path.name
    header, line = _headed(named, rows, notes)
    needed = [place for place, name in enumerate(header, 1) if _is_needed(name)]
    told, read = wall.parsed(path, "cut", _SAVE, **how, width=len(header), after=line, needed=max(needed, default=1))
    cells = stripped(wall.frame(read).set_index("line").set_axis(header, axis=1))
    torn = [Rejection(line, reason, cells=own) for line, reason, own in told["broken"]]
    table = Table(path, cells, line, rows, named=named, notes=notes + told["notes"], broken=torn)
    return tools.of_table(table)


def _is_needed(name: str) -> bool:
    return vocabulary.meaning(name) in vocabulary.NEEDED or vocabulary.bare(name) in vocabulary.OTHERS


# Headings


def _headed(origin: str, rows: list[Row], notes: list[str]) -> tuple[list[str], int]:
    """Find the headings among the first rows, and the line they end on; 0 where a format has none.

    Raises DataError where there are no rows, or far too many columns.
    """
    if not rows:
        raise DataError(f"{origin} has no rows. Check that the export is complete.")
    if (width := max(len(cells) for _, cells in rows)) > MOST_COLUMNS:
        raise DataError(f"{origin} has {width:,} columns on one of its first rows. Is it a table?")
    if known := layouts.without_headings(rows):
        return known
    counts = [vocabulary.count_known(cells) for _, cells in rows[:_TOP]]
    place = counts.index(max(counts))
    line, cells = rows[place]
    if (imported := layouts.line_of_survey(rows)) is not None:
        (_, cells), (line, _) = rows[max(imported - 2, 0)], rows[imported]
    elif place + 1 < len(rows) and (second := _second(cells, rows[place + 1][1])):
        line, cells = rows[place + 1][0], second
    below = [own for at, own in rows if at > line]
    cells = _numbered_rows(origin, cells, below, notes)
    named = max((place for place, cell in enumerate(cells, 1) if cell.strip()), default=0)
    if not any(cell.strip() for row in below for cell in row[named : len(cells)]):
        cells = cells[:named]
    return headings(_without_more(cells, below, notes)), line


def _numbered_rows(origin: str, cells: list[str], below: list[list[str]], notes: list[str]) -> list[str]:
    """Name a first column that has no heading, as of row names that are numbers.

    Raises DataError where the numbers may be a column of their own, and the last cells, all empty, have no heading.
    """
    if len(below) < 2 or {len(row) for row in below} != {len(cells) + 1}:
        return cells
    first, last = ([row[place].strip() for row in below] for place in (0, -1))
    if any(last) and first in [[str(start + place) for place in range(len(first))] for start in (0, 1)]:
        notes.append("the rows have a number before the first heading; it was not used")
        return ["", *cells]
    numbers = [(len(text), text) for text in first]
    rising = all(map(str.isdecimal, first)) and numbers == sorted({*numbers})
    if rising and not any(last) and vocabulary.meaning(cells[-1]) not in vocabulary.NEEDED:
        raise DataError(f"{origin}: no heading is for the first cell of each row, or for the last. Write one for each.")
    return cells


def _without_more(cells: list[str], below: list[list[str]], notes: list[str]) -> list[str]:
    """Leave out headings at the end that no row has a cell for, or that are a comment, unless they are known ones."""
    widths = {len(row) for row in below}
    width = min(widths, default=len(cells))
    width = next((place for place in range(width, len(cells)) if cells[place].strip().startswith("#")), width)
    more = [cell.strip() for cell in cells[width:]]
    comment = bool(more) and more[0].startswith("#")
    if not more or not width or not (comment or widths == {width}) or any(map(vocabulary.meaning, more)):
        return cells
    left = "; ".join(cell[:_LONG] for cell in more if cell)
    notes.append(f"the line of headings has more cells than the rows; left out: {left}")
    return cells[:width]


def _second(cells: list[str], below: list[str]) -> list[str] | None:
    """Join headings in two rows, where some columns share a merged one and are named apart below; None where not."""
    width = max(len(cells), len(below))
    upper, lower = ([cell.strip() for cell in row] + [""] * (width - len(row)) for row in (cells, below))
    places = [place for place in range(width) if lower[place]]
    words = len(places) > 1 and not any(re.fullmatch(r"[+-]*[\d.,]*\d[.,]*", lower[place]) for place in places)
    shared = [place for place in places if not upper[place]]
    spread = words and shared and all(upper[place] or place - 1 in places for place in places)
    own = [place for place in range(width) if upper[place] and not lower[place]]
    return [lower[place] or upper[place] for place in range(width)] if spread and own else None


# Tables of ours


def _of_design(table: Table) -> Table:
    """Take away the apostrophes that keep cells from being formulas, where a table is a designed campaign's."""
    if not {*designs.HEADINGS} <= {*table.cells}:
        return table
    return replace(table, cells=stripped(table.cells.map(unguarded, na_action="ignore").astype("str")))


def _without_example(table: Table) -> Table:
    """Take the example row out before anything is found out from the rows, such as the scale."""
    example = table.cells.eq(EXAMPLE).any(axis=1)
    return replace(table, cells=table.cells[~example], notes=[*table.notes, PASSED_OVER]) if example.any() else table


# Workbooks


def _sheets(path: Path, name: str | None) -> list[Table]:
    """Take the sheets of a workbook that hold any rows; only the named one where there is a name.

    Raises DataError where the file is no workbook, would unpack to more than is sane, or has no such sheet.
    """
    sheets, _ = wall.parsed(path, "workbook", "Save it again, or the sheet as CSV.")
    titles, hidden = [one["title"] for one in sheets], sorted(one["title"] for one in sheets if one["hidden"])
    if name is not None and name not in titles:
        raise DataError(f"{path.name} has no sheet {name!r}; it has {', '.join(titles)}. Correct --sheet.")
    wanted = [name] if name is not None else [title for title in titles if title not in hidden]
    taken = [one for one in sheets if one["title"] in wanted and len(one["rows"]) > 1]
    if not taken:
        raise DataError(f"{path.name} has no rows in {', '.join(wanted) or 'a visible sheet'}. Check the file.")
    more = [f"hidden sheets were not read: {', '.join(hidden)}"] if hidden and name is None else []
    return [_sheet(path, one["title"], one["rows"], one["merged"], more) for one in taken]


def _sheet(path: Path, title: str, rows: list[Row], merged: _Merged, more: list[str]) -> Table:
    """Take the rows of one sheet; what a merged cell says of a segment and the like is said of all its rows."""
    notes, first = [f"sheet {title!r}", *more], [(line, cells) for line, cells in rows[:HEAD]]
    header, after = _headed(path.name, first, notes)
    width = len(header)
    grid = {line: [*cells, *[""] * (width - len(cells))] for line, cells in rows if line > after}
    _fill(path.name, grid, header, after, sorted(merged), notes)
    if any(cell.strip() for cells in grid.values() for cell in cells[width:]):
        notes.append("there are cells beyond the headings, which were not read")
    columns = {name: [cells[place] for cells in grid.values()] for place, name in enumerate(header)}
    named = title if languages.in_name(title) else path.name
    cells = text_table(columns, [*grid])
    return Table(path, cells, after, first, typed=True, title=title, named=named, notes=notes)


def _fill(
    origin: str, grid: dict[int, list[str]], header: list[str], after: int, merged: _Merged, notes: list[str]
) -> None:
    """Write what merged cells hold into each of their rows; say what cannot be told. after: line of the headings."""
    filled, left, taken = set(), "", set[tuple[int, int]]()
    shared = {place for place, name in enumerate(header) if vocabulary.meaning(name) in _FILLED}
    for (first, column), (last, beyond) in merged:
        if last < after or column >= len(header):
            continue
        if column == beyond and column in shared:
            filled.add(header[column])
            for line in filter(grid.__contains__, range(first + 2, min(last + 1, max(grid, default=0)) + 1)):
                if (line, column) in taken:
                    raise DataError(f"{origin} has merged cells over one another. Unmerge them and fill them down.")
                taken.add((line, column))
                grid[line][column] = grid[line][column] or grid.get(first + 1, grid[line])[column]
        elif first >= after:
            left = left or f"column {header[column]}, rows {first + 1} to {last + 1}"
    if filled:
        names = ", ".join(name for name in header if name in filled)
        notes.append(f"merged cells were read as the value of each of their rows, in {names}")
    if left:
        notes.append(
            f"merged cells, such as {left}, hold a value on their first row only: unmerge them and fill them in"
        )
