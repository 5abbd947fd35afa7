"""Tell whether rejected rows are merely broken, or a kind of judgement whose loss would bend the result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from evalkit.data.importing.cells.numbers import ABSENT, MISSING
from evalkit.data.importing.rejected import EXCLUDED, REFUSE_ABOVE, Rejection
from evalkit.data.importing.report import Report

if TYPE_CHECKING:
    from evalkit.data.importing.campaign import File

_FEW = 5  # rows that may be alike, or of one system, by chance
_CHANCE = 0.001  # how improbable it must be that systems lose shares so different, if rows broke by chance
#: Rows whose loss takes no judgement away: those without one, and those that are there twice.
_HARMLESS = (MISSING, "repeats ", "is the same as ", "has no score ")
#: Reasons that depend on what was judged: the value, how it was written, or errors that weigh nothing.
_BY_VALUE = re.compile(
    r"(is outside|is a percentage|has a thousands|reads like a date|could be decimals|a comma in|a decimal point in"
    r"|is too large|gives )|.*(weight|severity)"
)


def kinds(files: list[File], report: Report) -> str:
    """Say which judgements would be lost with the rejected rows, where they are no chance ones; "" where they are.

    Rows are a kind where their values are why they were rejected, where they hold the same value, or where systems lose
    shares that differ by more than chance.
    """
    rows = [(file, row) for file in files for row in file.found.rejected]
    rows = [(file, row) for file, row in rows if row.kind != EXCLUDED and not row.reason.startswith(_HARMLESS)]
    many = max(_FEW, REFUSE_ABOVE * report.rows_read)
    if len(rows) < many:
        return ""
    by_value = sum(bool(_BY_VALUE.match(row.reason)) for _, row in rows)
    if by_value >= many:
        return _told(f"{by_value:,} of them were rejected for their value")
    alike = Counter((row.column, row.value) for _, row in rows if row.value.strip().casefold() not in {"", *ABSENT})
    (column, value), count = alike.most_common(1)[0] if alike else (("", ""), 0)
    if count >= many:
        return _told(f"{count:,} of them hold {value[:40]!r} in column {column}")
    return _by_system(rows, files)


def _by_system(rows: list[tuple[File, Rejection]], files: list[File]) -> str:
    """Say which systems lose the largest and the smallest share, where that is no chance."""
    system = {id(file): _systems(file) for file in files}
    gone = Counter(filter(None, (system[id(file)](row) for file, row in rows)))
    kept = Counter(str(name) for file in files for name in file.found.ratings["system"])
    names = sorted({*gone, *kept})
    table = np.array([[gone[name], kept[name]] for name in names])
    if len(names) < 2 or sum(gone.values()) < _FEW or not table.sum(axis=0).all():
        return ""
    if stats.chi2_contingency(table).pvalue >= _CHANCE:
        return ""
    share = dict(zip(names, table[:, 0] / table.sum(axis=1), strict=True))
    most, least = max(names, key=share.__getitem__), min(names, key=share.__getitem__)
    return _told(f"{most} would lose {share[most]:.0%} of its rows, {least} {share[least]:.0%}")


def _systems(file: File) -> Callable[[Rejection], str]:
    """Return what tells which system a rejected row judges; it returns "" where that cannot be told."""
    frame, parts = file.rows.frame, file.found.parts if file.found.role == "system" else {}
    name = file.found.names.get("system")
    cells = frame[name].fillna("").tolist() if name in frame else []
    lines = {line: place for place, line in enumerate(frame.index)} if cells else {}

    def system(row: Rejection) -> str:
        place = lines.get(row.line, -1) if row.place is None else row.place
        return parts.get(row.column, "") or (str(cells[place]) if 0 <= place < len(cells) else "")

    return system


def _told(what: str) -> str:
    return (
        f"{what}: to leave them out would bend the result, so --allow-rejected does not. Mend the file or the options."
    )
