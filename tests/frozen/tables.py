"""Make recorded values tables, find what names a row, and measure how much chance moves each number."""

import math
import statistics
from typing import Any

Row = dict[str, Any]
Rows = list[Row]
#: Numbers nearer to each other than this, relative to the greater of 1 and themselves, are equal.
EQUAL = 1e-9
#: What stands for the standard deviation of a cell that holds something else under another seed, and no number.
ANYTHING = "anything"


def rows_of(value: Any) -> Rows:
    """Make rows of what a study recorded: a list of rows, one row, or one value; nested cells get dotted names.

    >>> rows_of([{"a": 1, "b": {"low": 2}}]), rows_of({"low": 1}), rows_of([3, 4])
    ([{'a': 1, 'b.low': 2}], [{'low': 1}], [{'value': 3}, {'value': 4}])
    """
    rows = value if isinstance(value, list) else [value]
    return [_flat(row if isinstance(row, dict) else {"value": row}) for row in rows]


def _flat(row: Row, before: str = "") -> Row:
    """Give nested values names with dots."""
    flat: Row = {}
    for name, value in row.items():
        if isinstance(value, list):
            value = {str(place): one for place, one in enumerate(value)} or None
        flat |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": value}
    return flat


def is_number(value: Any) -> bool:
    """Tell whether a cell is a number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(a: Any, b: Any) -> bool:
    """Tell whether two cells are equal, numbers to 1e-9.

    >>> same(1, 1.0), same(1, True), same(1e6, 1e6 + 1e-4), same(0, 1e-8), same(float("nan"), float("nan"))
    (True, False, True, False, True)
    """
    if is_number(a) and is_number(b):
        return a == b or (a != a and b != b) or abs(a - b) <= EQUAL * max(1, abs(a))
    return type(a) is type(b) and a == b


def key_of(rows: Rows) -> list[str]:
    """Name the columns that tell rows apart, as few as do: of texts, or with short numbers to the left of texts.

    Other numbers are results: a row that is named by one would not be found again once it changed. Without such columns
    a row is its place.

    >>> key_of([{"pair": "a", "n": 1}, {"pair": "b", "n": 1}]), key_of([{"n": 1, "p": 0.1}, {"n": 2, "p": 0.1}])
    (['pair'], [])
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    texts = [name for name in columns if any(isinstance(row.get(name), str) for row in rows)]
    if not texts:
        return []
    left = [name for name in columns[: columns.index(texts[-1]) + 1] if all(_short(row.get(name)) for row in rows)]
    for names in (texts, left):
        for many in range(1, len(names) + 1):
            if len(named(rows, names[:many])) == len(rows):
                return names[:many]
    return []


def _short(value: Any) -> bool:
    """Tell whether a cell may name a row: all may but numbers with many digits."""
    return not isinstance(value, float) or len(repr(value)) <= 6


def named(rows: Rows, key: list[str]) -> dict[tuple[Any, ...], Row]:
    """Return rows by what names them; of rows of one name the last is left."""
    if not key:
        return {(place,): row for place, row in enumerate(rows)}
    return {tuple(row.get(name) for name in key): row for row in rows}


def frozen(versions: list[Rows]) -> dict[str, Any]:
    """Write a table down: its rows, what names them, and the standard deviation of each cell over seeds.

    versions: the table under the default seed, then under others. ``seldom`` has the places of rows that are not there
    under every seed, ``more`` whether others come under another.
    """
    rows = versions[0]
    key = key_of(rows)
    if key and any(len(named(other, key)) < len(other) for other in versions):
        key = []
    own = named(rows, key)
    others = [named(other, key) for other in versions[1:]]
    spread: dict[str, dict[str, Any]] = {}
    seldom = []
    for place, (name, row) in enumerate(own.items()):
        found = [other[name] for other in others if name in other]
        seldom += [place] if len(found) < len(others) else []
        for column, value in row.items():
            moved = _spread([value, *(other.get(column) for other in found)])
            if moved is not None:
                spread.setdefault(column, {})[str(place)] = moved
    more = any(name not in own for other in others for name in other)
    table = {"rows": rows, "key": key, "spread": spread, "seldom": seldom, "more": more}
    return {part: value for part, value in table.items() if value or part == "rows"}


def _spread(values: list[Any]) -> float | str | None:
    """Return the standard deviation of a cell over seeds, None where it is the same under all."""
    if all(same(values[0], other) for other in values):
        return None
    if not all(is_number(value) and math.isfinite(value) for value in values):
        return ANYTHING
    return float(f"{statistics.stdev(values):.3g}")
