"""Text that a spreadsheet would run as a formula, written so that it does not, and read back as it was.

A cell of a CSV file that begins with = + - @ (or their wide forms, behind blanks, quotes and signs that cannot be seen)
is a formula to Excel, LibreOffice and Google Sheets, quoted or not. An apostrophe before it makes it text. Where
people's commas are decimal marks, a file's cells are cut at semicolons, whatever quotes say, and some programs cut at
tabs and ends of lines, so each piece of a text between these gets its own. So that reading takes away what writing put
there and nothing else, a piece that begins with an apostrophe gets one more.

Source: OWASP, CSV Injection.
"""

from __future__ import annotations

import re

import pandas as pd

#: Where programs may cut a cell in two, though it is quoted.
_CUTS = re.compile(r"([;\t\r\n])")
_FORMULA = re.compile(r"[\s\0-\x1f\"\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|'")
#: Letters without one of which nothing is guarded: most cells have none.
_ANY = re.compile(r"[=+\-@＝＋－＠']")
#: What is a number to a spreadsheet runs nothing.
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")


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
    made = table.copy()
    for place, kind in enumerate(table.dtypes):
        if pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind):
            column = table.iloc[:, place]
            made.isetitem(place, column.map(lambda cell: guarded(cell) if isinstance(cell, str) else cell))
    made.columns = [guarded(str(name)) for name in table.columns]
    return made
