"""What annotations made with MAROT tell besides the errors: systems side by side, times of clicks, attention checks."""

import json
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data.importing.judgements import mapped_cells
from evalkit.data.schemas import UNSTATED
from evalkit.data.typology import spelled

_WITH = "_with_"
_SECOND = r'"side": ?2\b'
_LONGEST = 1 << 20  # letters of one row's metadata
_YEARS = (946_684_800.0, 4_102_444_800.0)  # 2000 to 2100, in seconds since 1970


def checks(category: pd.Series, severity: pd.Series) -> pd.Series:
    """Tell which rows say whether a rater found an error that was put there on purpose ("hands on the wheel").

    They stand beside the rows of what the rater marked, which say "No-error" where that is nothing.

    >>> checks(pd.Series(["Found", "Other"]), pd.Series(["HOTW-test", "Major"])).tolist()
    [True, False]
    """
    return spelled(severity).eq("hotw-test") | spelled(category).eq("hotw-test")


def side_by_side(systems: pd.Series, metadata: pd.Series | None = None) -> tuple[pd.Series, pd.Series] | None:
    """Split names like A_with_B, A beside B on one screen; None where none is so.

    That is what a name means where B is a system of the file, or where clicks went to a second translation (side 2).
    Returns the systems and what they stood against, "unstated" where a name does not say it.

    >>> system, against = side_by_side(pd.Series(["A_with_B", "B", "gpt_with_context"], dtype="str"))
    >>> system.tolist(), against.tolist()
    (['A', 'B', 'gpt_with_context'], ['B', 'unstated', 'unstated'])
    """
    names = [str(name) for name in systems.dropna().unique()]
    known = {*names, *(name.partition(_WITH)[0] for name in names)}
    pairs = {name: name.partition(_WITH)[::2] for name in names}
    two = metadata is not None and bool(metadata.str.contains(_SECOND, na=False).any())
    pairs = {name: pair for name, pair in pairs.items() if all(pair) and (two or pair[1] in known)}
    if not pairs:
        return None
    return (
        mapped_cells(systems, lambda name: pairs.get(name, (name, ""))[0]),
        mapped_cells(systems, lambda name: pairs.get(name, (name, UNSTATED))[1]),
    )


def times(metadata: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last moment that each row's metadata names, seconds since 1970; NaN where none is.

    metadata: JSON with ``timestamp`` and, in ``timing``, logs of clicks with ``ts``, in milliseconds.

    >>> times(pd.Series(['{"timestamp": 1725456558197, "timing": {"x": {"log": [{"ts": 1725456544016}]}}}', "-"]))
    (array([1.72545654e+09,            nan]), array([1.72545656e+09,            nan]))
    """
    found = [_moments(cell) if isinstance(cell, str) else [] for cell in metadata]
    first = np.array([min(moments, default=np.nan) for moments in found], float)
    return first, np.array([max(moments, default=np.nan) for moments in found], float)


def _moments(cell: str) -> list[float]:
    """Read every moment that one row's metadata names."""
    if not cell.startswith("{") or len(cell) > _LONGEST:
        return []
    try:
        content = json.loads(cell)
    except (ValueError, RecursionError):
        return []
    timing = content.get("timing")
    clicks = timing.values() if isinstance(timing, dict) else []
    logs = [click["log"] for click in clicks if isinstance(click, dict) and isinstance(click.get("log"), list)]
    stamps = [content.get("timestamp"), *(entry.get("ts") for log in logs for entry in log if isinstance(entry, dict))]
    return [moment for moment in map(_seconds, stamps) if moment is not None]


def _seconds(stamp: Any) -> float | None:
    """Read milliseconds since 1970; None for what is no moment of this century."""
    if type(stamp) not in (int, float):
        return None
    return stamp / 1000 if _YEARS[0] <= stamp / 1000 <= _YEARS[1] else None
