"""Name segments by their source texts where no column names them."""

import hashlib
from collections.abc import Callable

import pandas as pd

from evalkit.data.importing.columns import Columns
from evalkit.data.names import plain

SEGMENT = "(segment)"


def named(known: Columns, values: dict[str, str], note: Callable[[str], None]) -> str | None:
    """Put a made column in the place of the missing one; return the heading of the source texts, "" for lines.

    None where a column names segments, or the user does.
    """
    if "segment" in known.names or "segment" in values:
        return None
    text = known.names.get("source", "")
    how = "by their source texts (eight digits of a hash)" if text else "by their lines in the file"
    note(f"no column names segments; they were named {how}")
    known.names["segment"], known.found["segment"] = SEGMENT, "made"
    return text


def given(frame: pd.DataFrame, text: str | None) -> pd.DataFrame:
    """Add the made column to rows: named by the source text or, where there is none, by the line."""
    if text is None:
        return frame
    lines = pd.Series(frame.index.astype("str"), index=frame.index, dtype="str")
    if not text:
        return frame.assign(**{SEGMENT: lines})
    codes, distinct = pd.factorize(frame[text])
    digits = [
        hashlib.sha256(" ".join(plain(str(one)).split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]
        for one in distinct
    ]
    names = pd.Series(pd.array([*digits, None], dtype="str").take(codes), index=frame.index)
    return frame.assign(**{SEGMENT: names.fillna(lines)})
