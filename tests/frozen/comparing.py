"""Compare a table with what was frozen of it."""

import statistics
from typing import Any, NamedTuple

from tests.frozen.tables import ANYTHING, Row, Rows, is_number, named, same

#: How many standard deviations over seeds a number may move.
WIDTH = 4


class Difference(NamedTuple):
    """One thing that is not as it was: in which row and column, before and after."""

    row: str
    column: str
    before: Any
    after: Any

    def __str__(self) -> str:
        """Write it in a line."""
        where = f"[{self.row}] {self.column}".strip()
        return f"{where}: {_shown(self.before)} -> {_shown(self.after)}"


def _shown(value: Any) -> str:
    """Write a value short enough for a line."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else f"{text[:200]} …"


class Result(NamedTuple):
    """What a comparison found: differences, how many values were compared, how many only chance excuses."""

    differences: list[Difference]
    values: int
    chance: int


def compare(table: dict[str, Any], rows: Rows) -> Result:
    """Compare rows with a frozen table: exactly first, then within what chance moves."""
    key = table.get("key", [])
    if key and len(named(rows, key)) < len(rows):
        key = []  # what named a row does not any more: they are compared by their places
    before, after = named(table["rows"], key), named(rows, key)
    differences: list[Difference] = []
    values = chance = 0
    for place, (name, row) in enumerate(before.items()):
        if name not in after:
            if place in table.get("seldom", []):
                chance += 1
            else:
                differences.append(Difference(_named(name), "", _brief(row), "the row is missing"))
            continue
        for column in dict.fromkeys([*row, *after[name]]):
            values += 1
            a, b = row.get(column, "no such cell"), after[name].get(column, "no such cell")
            if same(a, b):
                continue
            if column in row and column in after[name] and _excused(table, column, place, a, b):
                chance += 1
            else:
                differences.append(Difference(_named(name), column, a, b))
    new = [name for name in after if name not in before]
    if table.get("more"):
        chance += len(new)
    else:
        differences += [Difference(_named(name), "", "the row is new", _brief(after[name])) for name in new]
    return Result(differences, values, chance)


def _named(name: tuple[Any, ...]) -> str:
    """Name a row in a line."""
    return f"row {name[0] + 1}" if len(name) == 1 and isinstance(name[0], int) else ", ".join(map(str, name))


def _brief(row: Row) -> str:
    """Write a row in a line."""
    return ", ".join(f"{column} {value}" for column, value in row.items())


def _excused(table: dict[str, Any], column: str, place: int, a: Any, b: Any) -> bool:
    """Tell whether chance may have moved a cell so far.

    Five seeds give a poor standard deviation, by chance often far too small; so a cell's own counts only where it is
    greater than the median of its column's.
    """
    column_spread = table.get("spread", {}).get(column, {})
    own = column_spread.get(str(place))
    if own is None or own == ANYTHING:
        return own == ANYTHING
    usual = statistics.median([sd for sd in column_spread.values() if sd != ANYTHING])
    return is_number(b) and abs(a - b) <= WIDTH * max(own, usual)
