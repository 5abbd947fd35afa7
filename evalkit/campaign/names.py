"""Names of systems and annotators as a report can show them: of bounded length, on one line, one direction."""

from __future__ import annotations

import re

import pandas as pd

from evalkit.data.provenance import like

#: Longest name that is shown whole, characters.
LONGEST = 60
#: What would turn the rest of a sentence round, or break its line.
_UNSEEN = re.compile(r"[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


def readable(names: list[str], *, longest: int = LONGEST) -> dict[str, str]:
    """Map names to what is shown for them, where that differs: long ones are cut, and two of them never meet.

    >>> readable(["online-A", "x" * 70, "x" * 80, "a" + chr(0x202E) + "b"])["a" + chr(0x202E) + "b"]
    'a b'
    >>> sorted(len(short) for short in readable(["x" * 70, "x" * 80]).values())
    [60, 60]
    """
    taken = {name for name in names if _short(name, longest) == name}
    shown: dict[str, str] = {}
    for name in names:
        if name in taken and name not in shown.values():
            continue
        short, number = _short(name, longest), 2
        while short in taken:
            mark = f" ({number})"
            short, number = _short(name, longest - len(mark)) + mark, number + 1
        shown[name] = short
        taken.add(short)
    return shown


def renamed(table: pd.DataFrame, shown: dict[str, dict[str, str]]) -> pd.DataFrame:
    """Put the names to be shown into columns; the type of a column, such as category, becomes text where it changes."""
    new = {column: table[column].astype("str").replace(names) for column, names in shown.items() if names}
    return like(table.assign(**new), table)


def _short(name: str, length: int) -> str:
    whole = re.sub(r"\s+", " ", _UNSEEN.sub(" ", name)).strip() or "(no name)"
    return whole if len(whole) <= length else f"{whole[: length - 1].rstrip()}…"
