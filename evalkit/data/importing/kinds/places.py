"""Say which of two translations stood first on the screen, where a file of comparisons tells it."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit.data.importing.cells import columns
from evalkit.data.importing.kinds.answers import is_side
from evalkit.data.importing.report import Report

_PLACE = re.compile("left|right|first|second")
_UNKNOWN = "which translation stood first is not known"


def stood_first(
    frame: pd.DataFrame, names: Mapping[str, str], systems: Mapping[str, pd.Series], report: Report
) -> np.ndarray:
    """Return of each comparison which stood first: "a", "b" or "unknown"; and tell the report how that is known.

    A column ``first`` tells; so do headings such as left_system, and answers such as "left". Where the file says only A
    and B, A is taken to have stood first if some pair comes in both orders; with one order throughout, place and
    system could not be told apart anyway.
    """
    if "first" in names:
        return _told(frame[names["first"]], systems, report)
    if not {"system_a", "system_b"} <= {*names}:
        return _all("unknown", frame)
    headings = [columns.plain(names[f"system_{side}"]) for side in "ab"]
    answers = frame[names["preference"]].dropna().unique() if "preference" in names else []
    if all(map(_PLACE.search, headings)) or any(_PLACE.search(str(one).casefold()) for one in answers):
        report.note("which translation stood first (left) is taken from the words left, right, first and second")
        return _all("a", frame)
    pairs = set(zip(systems["a"].dropna(), systems["b"].dropna()))
    if any((b, a) in pairs for a, b in pairs):
        report.note(f"{names['system_a']} is taken to have stood first (left): pairs of systems come in both orders")
        return _all("a", frame)
    return _all("unknown", frame)


def _all(first: str, frame: pd.DataFrame) -> np.ndarray:
    return np.full(len(frame), first, dtype=object)


def _told(cells: pd.Series, systems: Mapping[str, pd.Series], report: Report) -> np.ndarray:
    """Read a column that says which stood first: A or B, in whatever words, or a system's name."""
    pairs = zip(cells, systems["a"], systems["b"])
    found = np.array([_meant(cell, a, b) for cell, a, b in pairs], dtype=object)
    unread = cells[(found == "unknown") & cells.notna() & cells.str.casefold().ne("unknown")]
    if len(unread):
        report.note(f"{_UNKNOWN} in {len(unread):,} rows, where {cells.name} is neither A, B nor a system's name")
    return found


def _meant(cell: object, a: object, b: object) -> str:
    if not isinstance(cell, str) or a == b:
        return "unknown"
    named = [side for side, name in (("a", a), ("b", b)) if cell == name]
    return named[0] if named else is_side(cell)


def on_screen(first: np.ndarray, side: str) -> pd.arrays.ArrowStringArray:
    """Write the place on the screen of the first or the second system, "1" or "2", or nothing where it is unknown."""
    places = {"a": "1" if side == "a" else "2", "b": "2" if side == "a" else "1"}
    return pd.array([places.get(one) for one in first], dtype="str")
