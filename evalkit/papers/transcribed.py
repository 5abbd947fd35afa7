"""Read the cells of transcribed tables: as numbers in the order of print, with what their rounding allows."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

#: What a list of misprints has: the table and the cell, what is printed there, and the evidence in a sentence.
MISPRINT = ["table", "cell", "printed", "evidence"]


def pivot(table: pd.DataFrame, index: str, columns: str, value: str) -> pd.DataFrame:
    """Pivot one column of a transcribed table to numbers, rows and columns in the order of print.

    >>> table = pd.DataFrame({"label": ["b", "a"], "split": "dev", "count": ["1,001", "2"]})
    >>> pivot(table, "label", "split", "count")["dev"].to_dict()
    {'b': 1001, 'a': 2}
    """
    numbers = table.assign(number=pd.to_numeric(table[value].str.replace(",", "")))
    matrix = numbers.pivot(index=index, columns=columns, values="number")
    return matrix.loc[table[index].unique(), table[columns].unique()]


def misprints(found: Iterable[tuple[str, str, str, str]]) -> pd.DataFrame:
    """Return a list of what print contradicts by itself as a table, columns ``MISPRINT``."""
    return pd.DataFrame(list(found), columns=MISPRINT)
