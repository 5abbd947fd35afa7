"""Read a file whole, within bounds; guard what is written against what runs in spreadsheets.

A cell of a CSV file that begins with = + - @ (or their wide forms, behind blanks, quotes and signs that cannot be seen)
is a formula to Excel, LibreOffice and Google Sheets, quoted or not. An apostrophe before it makes it text. Where
people's commas are decimal marks, a file's cells are cut at semicolons, whatever quotes say, and some programs cut at
tabs and ends of lines, so each piece of a text between these gets its own. So that reading takes away what writing put
there and nothing else, a piece that begins with an apostrophe gets one more. Source: OWASP, CSV Injection.
"""

import re
from pathlib import Path

import pandas as pd

from evalkit import DataError

_MOST_BYTES = 1 << 30
#: What is told of a text file that may have been cut off within its last number.
UNFINISHED = (
    "warning: the file does not end in a line break; if it was cut off, its last number may be, too (85 reads 8 then): "
    "hold {where} against the export"
)
#: Where programs may cut a cell in two, though it is quoted.
_CUTS = re.compile(r"([;\t\r\n])")
_FORMULA = re.compile(r"[\s\0-\x1f\"\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|'")
#: Letters without one of which nothing is guarded: most cells have none.
_ANY = re.compile(r"[=+\-@＝＋－＠']")
#: What is a number to a spreadsheet runs nothing.
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")


def content(path: Path, *, most: int = _MOST_BYTES, remedy: str = "Split it, one file per campaign.") -> bytes:
    """Read a whole file, within bounds.

    most: bytes that it may have, by default as many as any file; remedy: what to do where it has more.
    Raises DataError where there is no such file, it may not be read, it is larger, or a pipe or a device.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # to read it might never end
            raise DataError(f"{path} is a pipe or a device. Save what it gives as a file, and name that.")
        if path.is_file() and path.stat().st_size > most:
            size = f"{most >> 30} GiB" if most >> 30 else f"{most >> 20} MiB"
            raise DataError(f"{path} is larger than {size}. {remedy}")
        return path.read_bytes()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise DataError(f"{path} cannot be read: {reason}. Check the path and its permissions.") from problem


def is_unfinished(path: Path) -> bool:
    """Tell whether a text in UTF-8 does not end in a line break, as one does that was cut off within its last line."""
    with path.open("rb") as stream:
        stream.seek(max(path.stat().st_size - 1, 0))
        return stream.read(1) not in (b"\n", b"\r", b"")


def guarded(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would run; numbers stay numbers.

    >>> guarded("=1+1"), guarded("-0.5"), guarded("- none"), guarded("'quoted'"), guarded("plain"), guarded("a;@b")
    ("'=1+1", '-0.5', "'- none", "''quoted'", 'plain', "a;'@b")
    """
    if not _ANY.search(text):
        return text
    return "".join(f"'{part}" if _runs(part) else part for part in _CUTS.split(text))


def unguarded(text: str) -> str:
    """Take away what ``guarded`` put there.

    >>> unguarded("'=1+1"), unguarded("''quoted'"), unguarded("plain"), unguarded("a;'@b")
    ('=1+1', "'quoted'", 'plain', 'a;@b')
    """
    # Also before a number, which is never given one: "-3.5 " is, and a reader takes the blank away.
    return "".join(part[1:] if part[:1] == "'" and _FORMULA.match(part[1:]) else part for part in _CUTS.split(text))


def _runs(part: str) -> bool:
    return bool(_FORMULA.match(part)) and not _NUMBER.fullmatch(part)


def guard_table(table: pd.DataFrame) -> pd.DataFrame:
    """Guard the headings and all cells of text of a table."""
    made = table.map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
    return made.set_axis([guarded(str(name)) for name in table.columns], axis=1)
