"""A report's tables as CSV and Parquet, and back."""

from __future__ import annotations

import json
import re
from csv import QUOTE_MINIMAL, QUOTE_NONNUMERIC
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow import ArrowException

from evalkit import DataError
from evalkit.data.spreadsheets import guard_table, unguard_table

#: The file that lists an export: its files with their digests, and what the columns of its CSV files are.
LIST = "export.json"
#: Names that other files of an export have.
_TAKEN = ("values", "methods", "datasheet", "export")


def split(recorded: dict[str, Any]) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Part recorded values into tables (lists of rows) and the rest.

    >>> tables, values = split({"a": [{"x": 1}, {"x": None}], "b": 3, "c": []})
    >>> tables["a"]["x"].tolist(), values
    ([1.0, nan], {'b': 3, 'c': []})
    """
    tables, values = {}, {}
    for name, value in recorded.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            tables[name] = _tidy(pd.DataFrame(value))
        else:
            values[name] = value
    return tables, values


def _tidy(table: pd.DataFrame) -> pd.DataFrame:
    """Give every column one type: numbers, truth, or text; nested values become JSON text."""
    for name in table:
        column = table[name]
        if column.dtype != object and not pd.api.types.is_string_dtype(column):
            continue
        known = [value for value in column if value is not None and value == value]
        if any(isinstance(value, (dict, list)) for value in known):
            table[name] = [None if v is None else json.dumps(v, ensure_ascii=False) for v in column]
        elif known and all(isinstance(value, bool) for value in known):
            table[name] = column.astype("boolean")
        elif known and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
            table[name] = pd.to_numeric(column)
        elif any(not isinstance(value, str) for value in known):
            table[name] = [None if v is None else str(v) for v in column]
    return table


def stems(tables: dict[str, pd.DataFrame]) -> dict[str, tuple[str, pd.DataFrame]]:
    """Give every table the name of a file, without its ending: no two are the same, whatever the letters' case.

    >>> list(stems({"a b": pd.DataFrame(), "A/B": pd.DataFrame(), "methods": pd.DataFrame()}))
    ['a_b', 'A_B_2', 'methods_2']
    """
    taken, found = set(_TAKEN), {}
    for name, table in tables.items():
        stem = re.sub(r"[^\w-]+", "_", name).strip("_")[:80] or "table"
        number, chosen = 2, stem
        while chosen.casefold() in taken:
            chosen, number = f"{stem}_{number}", number + 1
        taken.add(chosen.casefold())
        found[chosen] = (name, table)
    return found


def write(table: pd.DataFrame, place: Path, *, what: str) -> None:
    """Write a table as CSV and as Parquet. place: both files, without ending. what: names the table in an error."""
    csv, parquet = (place.with_name(f"{place.name}.{ending}") for ending in ("csv", "parquet"))
    made = guard_table(table)
    # a line's end of old Macs is none to the writer, which leaves it bare, and is one to readers
    bare = any("\r" in str(cell) for cell in [*made, *made.select_dtypes(exclude="number").to_numpy().flat])
    quoting = QUOTE_NONNUMERIC if bare else QUOTE_MINIMAL
    made.to_csv(csv, index=False, encoding="utf-8", lineterminator="\n", quoting=quoting)
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
    listed = path.with_name(LIST)
    known = json.loads(listed.read_text(encoding="utf-8"))["columns"].get(path.name, {}) if listed.is_file() else {}
    table = unguard_table(pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""], encoding="utf-8"))
    for name in table:
        kind = known.get(name) or _guessed(table[name])
        if kind == "truth":
            table[name] = table[name].map({"True": True, "False": False}).astype("boolean")
        elif kind == "number":
            table[name] = pd.to_numeric(table[name])
    return table


def _guessed(column: pd.Series) -> str:
    there = column.dropna()
    if len(there) and there.isin(["True", "False"]).all():
        return "truth"
    return "number" if len(there) and pd.to_numeric(there, errors="coerce").notna().all() else "text"
