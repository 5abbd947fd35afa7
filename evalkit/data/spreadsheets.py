"""Text that a spreadsheet would run as a formula, written so that it does not, and read back as it was.

A cell of a CSV file that begins with = + - @ (or a tab, a line's end, their wide forms) is a formula to Excel,
LibreOffice and Google Sheets, quoted or not. An apostrophe before it makes it text. So that reading takes away what
writing put there and nothing else, a text that begins with an apostrophe gets one more.

Source: OWASP, CSV Injection.
"""

from __future__ import annotations

import re

import pandas as pd

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]|'")
#: What is a number to a spreadsheet runs nothing.
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")


def guarded(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would run; numbers stay numbers.

    >>> guarded("=1+1"), guarded("-0.5"), guarded("- none"), guarded("'quoted'"), guarded("plain")
    ("'=1+1", '-0.5', "'- none", "''quoted'", 'plain')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """Take away what ``guarded`` put there.

    >>> unguarded("'=1+1"), unguarded("''quoted'"), unguarded("plain")
    ('=1+1', "'quoted'", 'plain')
    """
    return text[1:] if text.startswith("'") and guarded(text[1:]) == text else text


def guard_table(table: pd.DataFrame) -> pd.DataFrame:
    """Guard the headings and all cells of text of a table."""
    made = table.copy()
    for place, kind in enumerate(table.dtypes):
        if pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind):
            column = table.iloc[:, place]
            made.isetitem(place, column.map(lambda cell: guarded(cell) if isinstance(cell, str) else cell))
    made.columns = [guarded(str(name)) for name in table.columns]
    return made
