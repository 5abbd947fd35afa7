"""A report's tables as CSV and Parquet, and back."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow import ArrowException

from evalkit import DataError
from evalkit.data.delimited import guard_table, unguarded

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
