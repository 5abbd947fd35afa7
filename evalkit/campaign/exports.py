"""Files for papers and spreadsheets out of a report's JSON, all of them or none."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
import unicodedata
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow import ArrowException

from evalkit import DataError, __version__
from evalkit.campaign import paperwork
from evalkit.campaign.paperwork.markup import needs, tex
from evalkit.data import delimited
from evalkit.data.delimited import guard_table, unguarded
from evalkit.data.files import alone, is_abandoned
from evalkit.data.registry import digest

#: The file that lists an export: its files with their digests, and what the columns of its CSV files are.
LIST = "export.json"
#: Names that other files of an export have, and names that are devices to Windows.
_TAKEN = (
    "values",
    "methods",
    "datasheet",
    "export",
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)),
)
#: Bytes that a file's name has of its table's: file systems allow 255 with what comes behind it.
_LONGEST = 80
#: The largest whole number that floats hold with all smaller ones, and how many digits are sure to be below it.
_EXACT, _DIGITS = 1 << 53, 15


def split(recorded: dict[str, Any]) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Part recorded values into tables (lists of rows) and the rest.

    >>> tables, values = split({"a": [{"x": 1}, {"x": None}], "b": 3, "c": []})
    >>> tables["a"]["x"].tolist(), values
    ([1.0, nan], {'b': 3, 'c': []})
    """
    tables, values = {}, {}
    for name, value in recorded.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value) and any(value):
            columns = dict.fromkeys(key for row in value for key in row)
            tables[name] = pd.DataFrame({key: _column([row.get(key) for row in value]) for key in columns})
        else:
            values[name] = value
    return tables, values


def _column(cells: list[Any]) -> pd.Series:
    """Give a column one type: numbers, truth, or text; nested values become JSON text."""
    known = [cell for cell in cells if cell is not None]
    if any(isinstance(cell, (dict, list)) for cell in known):
        return pd.Series([None if cell is None else json.dumps(cell, ensure_ascii=False) for cell in cells])
    if known and all(isinstance(cell, bool) for cell in known):
        return pd.Series(cells, dtype="bool" if len(known) == len(cells) else "boolean")
    if known and all(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in known):
        return _numbers(cells, known)
    return pd.Series([cell if cell is None or isinstance(cell, str) else str(cell) for cell in cells])


def _numbers(cells: list[Any], known: list[Any]) -> pd.Series:
    """Make a column of numbers; where floats would round a whole number, whole numbers with gaps, or text."""
    whole = [cell for cell in known if isinstance(cell, int)]
    most, gaps = max(map(abs, whole), default=0), len(known) < len(cells)
    if most <= _EXACT:
        return pd.Series(cells, dtype="float64" if gaps else None)
    if len(whole) < len(known):
        return pd.Series([cell if cell is None else str(cell) for cell in cells])
    return pd.Series(cells, dtype=None if not gaps else "Int64" if most < 1 << 63 else object)


def stems(tables: dict[str, pd.DataFrame]) -> dict[str, tuple[str, pd.DataFrame]]:
    """Give every table the name of a file, without its ending: no two are the same, whatever the letters' case.

    >>> list(stems({"a b": pd.DataFrame(), "A/B": pd.DataFrame(), "methods": pd.DataFrame()}))
    ['a_b', 'A_B_2', 'methods_2']
    """
    taken, found = set(_TAKEN), {}
    for name, table in tables.items():
        stem = re.sub(r"[^\w-]+", "_", name).strip("_").encode()[:_LONGEST].decode(errors="ignore") or "table"
        number, chosen = 2, stem
        while _folded(chosen) in taken:
            chosen, number = f"{stem}_{number}", number + 1
        taken.add(_folded(chosen))
        found[chosen] = (name, table)
    return found


def _folded(name: str) -> str:
    """Fold what file systems take for one name: capitals, and letters with their marks apart."""
    return unicodedata.normalize("NFKC", name).casefold()


def write(table: pd.DataFrame, place: Path, *, what: str) -> None:
    """Write a table as CSV and as Parquet. place: both files, without ending. what: names the table in an error."""
    delimited, parquet = (place.with_name(f"{place.name}.{ending}") for ending in ("csv", "parquet"))
    made = guard_table(table)
    # in quotes, because a line's end of old Macs is none to the writer, and is one to readers
    made.to_csv(delimited, index=False, encoding="utf-8", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    try:
        table.to_parquet(parquet, index=False)
    except (ValueError, TypeError, OverflowError, ArrowException):
        raise DataError(f"{what} is none that a study writes. Run the study again.") from None


def kinds(table: pd.DataFrame) -> dict[str, str]:
    """Say what each column holds: text, truth or number.

    >>> kinds(pd.DataFrame({"system": ["007"], "score": [1.5], "sure": [True]}))
    {'system': 'text', 'score': 'number', 'sure': 'truth'}
    """
    return {str(name): _kind(table[name]) for name in table}


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "truth"
    return "number" if pd.api.types.is_numeric_dtype(column) else "text"


def read_csv(path: Path) -> pd.DataFrame:
    """Read an exported CSV file back: texts as they were recorded, numbers as numbers.

    The list of the export that the file belongs to says which columns are text; without it, pandas guesses.
    """
    known = _listed(path)
    options: dict[str, Any] = {"header": None, "skip_blank_lines": False, "keep_default_na": False, "na_values": [""]}
    cells = pd.read_csv(path, dtype="str", encoding="utf-8", **options).map(unguarded, na_action="ignore")
    table = cells.iloc[1:].reset_index(drop=True).set_axis(cells.iloc[0].fillna(""), axis="columns").astype("str")
    for name in table:
        kind = known.get(name) or _guessed(table[name])
        if kind == "truth":
            table[name] = table[name].map({"True": True, "False": False}).astype("boolean")
        elif kind == "number":
            table[name] = _numeric(table[name])
    return table


def _numeric(column: pd.Series) -> pd.Series:
    """Read numbers; whole ones that floats would round stay whole beside gaps."""
    there = column.dropna()
    whole = there.str.fullmatch(r"-?\d+").all() and there.str.len().gt(_DIGITS).any()
    return column.astype("Int64") if whole and len(there) < len(column) else pd.to_numeric(column)


def _listed(path: Path) -> dict[str, str]:
    """Read what the list of an export says of a CSV file's columns; nothing without a list."""
    listed = path.with_name(LIST)
    if not listed.is_file():
        return {}
    try:
        found = json.loads(listed.read_text(encoding="utf-8"))["columns"].get(path.name, {})
        return {str(name): str(kind) for name, kind in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(f"{listed} is no list of a whole export. Export the report again.") from None


def _guessed(column: pd.Series) -> str:
    there = column.dropna()
    if len(there) and there.isin(["True", "False"]).all():
        return "truth"
    return "number" if len(there) and pd.to_numeric(there, errors="coerce").notna().all() else "text"


#: Tables of up to so many rows and columns are written as LaTeX, too: longer ones belong in an appendix of files.
ROWS, COLUMNS = 40, 14
#: Longer cells, in characters, are sentences: their column breaks lines.
SENTENCE = 40


def fits(table: pd.DataFrame) -> bool:
    """Tell whether a table is one of a page."""
    return len(table) <= ROWS and len(table.columns) <= COLUMNS


def latex(table: pd.DataFrame, *, name: str, signature: str = "") -> str:
    r"""Write a table as a LaTeX ``table`` with booktabs rules, everything escaped; the signature stands in a comment.

    >>> print(latex(pd.DataFrame({"system": ["a_b"], "score": [1.25]}), name="my_table"))
    \begin{table}
    \caption{my table}
    \label{tab:my-table}
    \begin{tabular}{lr}
    \toprule
    system & score \\
    \midrule
    a\_b & 1.25 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    numbers = {
        column for column in table if pd.api.types.is_numeric_dtype(table[column]) and table[column].dtype != bool
    }
    cells = [_cells(table[column], column in numbers) for column in table]
    lines = [[tex(str(column).replace("_", " ")) for column in table], *map(list, zip(*cells))]
    for line in lines:  # after a line's end, or a rule, a bracket or a star would belong to that command
        line[0] = f"{{}}{line[0]}" if line[0].startswith(("[", "*")) else line[0]
    rows = [" & ".join(line) + r" \\" for line in lines]
    body = "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{tex(name.replace('_', ' '))}}}",
            rf"\label{{tab:{re.sub(r'[^A-Za-z0-9]+', '-', name)}}}",
            rf"\begin{{tabular}}{{{_layout(table, numbers)}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
    return "\n".join([*[f"% {' '.join(signature.split())}"] * bool(signature), *needs(body), body])


def _layout(table: pd.DataFrame, numbers: set[str]) -> str:
    """Choose columns: numbers to the right, words to the left, sentences as paragraphs that share the line's width."""
    longest = {column: max(len(_cell(value)) for value in table[column]) for column in table}
    sentences = sum(length > SENTENCE for length in longest.values())
    paragraph = rf"p{{{0.75 / max(sentences, 1):.2f}\linewidth}}"
    return "".join("r" if column in numbers else paragraph if n > SENTENCE else "l" for column, n in longest.items())


def _cells(column: pd.Series, numeric: bool) -> list[str]:
    """Print a column's values for LaTeX, with a minus sign before negative numbers."""
    cells = [tex(_cell(value)) for value in column]
    return [f"$-${cell[1:]}" if numeric and cell[0] == "-" and cell != "--" else cell for cell in cells]


def _cell(value: Any) -> str:
    """Print a value for a paper: up to four significant digits, a dash for a gap."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


_PART = ".evalkit-part"
_UNFINISHED = "This export was interrupted, and its files are of two reports. Export again."


@contextmanager
def placed(out: Path) -> Iterator[Path]:
    """Hand out an empty folder; when the block ends well, what is in it becomes the export in ``out``.

    A first export is there in one step. Over an earlier one, files are moved one by one. Meanwhile ``export.json`` says
    that the export is unfinished, and lists the files of both, so that after a kill nothing takes them for one export,
    and the next export clears them away.
    Raises DataError where ``out`` is a file, a file of the earlier export was changed since, or one that no export
    wrote has a name that this one needs.
    """
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file. Name a folder with --out.")
    real = out.resolve()
    real.parent.mkdir(parents=True, exist_ok=True)
    with alone(real.parent):
        earlier = _earlier(out)
        for name, expected in earlier.items():
            if (out / name).is_file() and digest(out / name) not in expected:
                raise DataError(
                    f"{out / name} was changed since it was exported, and would be lost. Move it elsewhere, or name "
                    "another folder with --out."
                )
        inside = real.exists() and (os.path.ismount(real) or not os.access(real.parent, os.W_OK))
        draft = _draft(real if inside else real.parent, real.name)
        try:
            yield draft
            _demand_no_others(draft, real, earlier)
            if not real.exists() or not any(real.iterdir()):
                os.replace(draft, real)  # over an empty folder, too
            else:
                _move_each(draft, real, earlier)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _earlier(out: Path) -> dict[str, list[str]]:
    """Read which files an earlier export wrote, each with its digests; none where its list is not there.

    A file has two digests where an export was interrupted while files were moved: it may be the old one or the new one.
    """
    try:
        found = json.loads((out / LIST).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    plain = isinstance(found, dict) and all(_plain(name) for name in found)
    return {name: one if isinstance(one, list) else [one] for name, one in found.items()} if plain else {}


def _plain(name: str) -> bool:
    """Tell whether a name is one of a file in the folder itself."""
    return Path(name).name == name and name not in (".", "..") and "\0" not in name


def _draft(parent: Path, name: str) -> Path:
    """Make a folder for unfinished files, and remove what exports that were killed left long ago."""
    for left in parent.iterdir():
        ours = left.name.startswith(f".{name}.") and left.name.endswith(_PART)
        if ours and is_abandoned(left):
            shutil.rmtree(left, ignore_errors=True)
    draft = parent / f".{name}.{uuid.uuid4().hex}{_PART}"
    try:
        draft.mkdir(parents=True)
    except OSError as problem:
        raise DataError(f"{parent} cannot be written ({problem.strerror}). Name another folder with --out.") from None
    return draft


def _demand_no_others(draft: Path, real: Path, earlier: Mapping[str, list[str]]) -> None:
    """Refuse to write over files that no export wrote."""
    ours = {*earlier, *([LIST] if earlier else [])}
    if others := [
        path.name for path in sorted(draft.iterdir()) if path.name not in ours and (real / path.name).exists()
    ]:
        raise DataError(
            f"{real / others[0]} was not written by an export, and would be lost. Move it elsewhere, or name another "
            "folder with --out."
        )


def _move_each(draft: Path, real: Path, earlier: Mapping[str, list[str]]) -> None:
    """Move files one by one; until the last is moved, the list of the export says that it is unfinished."""
    real.mkdir(parents=True, exist_ok=True)
    new = _earlier(draft)
    mixed = {name: [*earlier.get(name, []), *new.get(name, [])] for name in {**earlier, **new}}
    said = json.dumps({"unfinished": _UNFINISHED, "files": mixed}, ensure_ascii=False, indent=1)
    (draft / f"{LIST}.unfinished").write_text(f"{said}\n", encoding="utf-8")
    os.replace(draft / f"{LIST}.unfinished", real / LIST)
    for name in sorted(new):
        os.replace(draft / name, real / name)
    for name in earlier.keys() - new.keys():
        (real / name).unlink(missing_ok=True)
    os.replace(draft / LIST, real / LIST)


__all__ = ["export", "latex", "read", "read_csv", "split"]

#: Largest report that is read, bytes, with so many lists and objects, so deep: no study's has a hundredth of it.
LARGEST = 64 << 20
_MOST_LISTS, _DEEPEST = 1_000_000, 50
_REMEDY = "Name the JSON file beside a report's HTML."
_NOTE = (
    "UTF-8; a gap is an empty cell. Text that a spreadsheet would run as a formula has an apostrophe before it, and "
    "so has text that begins with one: evalkit.campaign.exports.read_csv takes it away. Parquet holds all texts as "
    "they are."
)


def export(report: Path, out: Path) -> list[Path]:
    """Write a report's tables, the methods with their references, the datasheet, and single values.

    report: a study's JSON report. out: a folder, made where it is not there; what an earlier export wrote there is
    replaced, all at once (see ``placing.placed``).
    Returns the files: NAME.csv and NAME.parquet for every table, NAME.tex for tables of a page, values.json,
    methods.txt, .md, .tex and .bib, datasheet.md and .json where the report has one, and export.json, which lists them.
    Raises DataError where the report cannot be read, or is of a study that failed or was skipped; where a file of the
    earlier export was changed since, such as a datasheet that somebody filled in.
    """
    found = read(report)
    recorded, values = split(found["recorded"])
    with placed(out) as folder:
        names, columns = [], {}
        for stem, (name, table) in stems(recorded).items():
            write(table, folder / stem, what=f"{report.name}: the table {name}")
            columns[f"{stem}.csv"] = kinds(table)
            names += [f"{stem}.csv", f"{stem}.parquet"]
            if fits(table):
                (folder / f"{stem}.tex").write_text(
                    latex(table, name=name, signature=found["signature"]), encoding="utf-8"
                )
                names.append(f"{stem}.tex")
        texts = {"values.json": _json(values), **paperwork.files(found)}
        for name, content in texts.items():
            (folder / name).write_text(content, encoding="utf-8")
        names += texts
        listed = {
            "study": found["study"],
            "signature": found["signature"],
            "evalkit": __version__,
            "csv": _NOTE,
            "columns": columns,
            "files": {name: digest(folder / name) for name in names},
        }
        (folder / LIST).write_text(_json(listed), encoding="utf-8")
    return [out / name for name in [*names, LIST]]


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def read(path: Path) -> dict[str, Any]:
    """Read a study's JSON report; DataError where it is none, or not a good one."""
    if not path.exists():
        raise DataError(f"There is no {path}. Run the study first: evalkit run STUDY.")
    content = delimited.content(path, most=LARGEST, remedy=_REMEDY)
    try:
        found = _parsed(content)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path.name} is no JSON report ({problem}). {_REMEDY}") from None
    if not _is_report(found):
        raise DataError(f"{path.name} is no report of a study. {_REMEDY}")
    if found["status"] != "ok":
        raise DataError(f"{path.name}: the study {found['study']} {found['status']}. Run it again, then export.")
    return found


def _parsed(content: bytes) -> Any:
    """Parse JSON as studies write it. Raises ValueError for what could not be written again as it is."""
    if content.count(b"[") + content.count(b"{") > _MOST_LISTS:
        raise ValueError(f"more than {_MOST_LISTS:,} lists and objects")
    found = json.loads(content.decode("utf-8"), object_pairs_hook=_once)
    if _is_deep(found, _DEEPEST):
        raise ValueError(f"more than {_DEEPEST} lists within lists")
    json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # halves of letters can stand in JSON, in no file
    return found


def _once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its entries; of two with one name, one would be lost."""
    found = dict(entries)
    if len(found) < len(entries):
        raise ValueError("an entry is there twice")
    return found


def _is_deep(value: Any, left: int) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(one, (dict, list)) and (not left or _is_deep(one, left - 1)) for one in inside)


def _is_report(found: Any) -> bool:
    """Tell whether JSON has the form of a study's report."""
    kinds = {"study": str, "status": str, "recorded": dict, "signature": str, "data": list, "parameters": dict}
    if not isinstance(found, dict) or not all(isinstance(found.get(key), kind) for key, kind in kinds.items()):
        return False
    sources = all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("source"), str)
        for one in found["data"]
    )
    return sources and found["study"].isidentifier() and found["status"] in ("ok", "failed", "skipped")
