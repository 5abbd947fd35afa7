"""A table of a page as LaTeX, for a paper that loads booktabs."""

from __future__ import annotations

import math
import re
from typing import Any

import pandas as pd

from evalkit.campaign.paperwork.markup import needs, tex

#: Tables of up to so many rows and columns are written as LaTeX, too: longer ones belong in an appendix of files.
ROWS, COLUMNS = 40, 14
#: Longer cells, in characters, are sentences: their column breaks lines.
SENTENCE = 40


def fits(table: pd.DataFrame) -> bool:
    """Tell whether a table is one of a page."""
    return len(table) <= ROWS and len(table.columns) <= COLUMNS


def latex(table: pd.DataFrame, *, name: str, signature: str = "") -> str:
    r"""Write a table as a LaTeX ``table`` with booktabs rules, everything escaped; the signature stands in a comment.

    >>> print(latex(pd.DataFrame({"system": ["a_b"], "score": [1.25]}), name="my_table"))
    \begin{table}
    \caption{my table}
    \label{tab:my-table}
    \begin{tabular}{lr}
    \toprule
    system & score \\
    \midrule
    a\_b & 1.25 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    numbers = {
        column for column in table if pd.api.types.is_numeric_dtype(table[column]) and table[column].dtype != bool
    }
    cells = [_cells(table[column], column in numbers) for column in table]
    lines = [[tex(str(column).replace("_", " ")) for column in table], *map(list, zip(*cells))]
    for line in lines:  # after a line's end, or a rule, a bracket or a star would belong to that command
        line[0] = f"{{}}{line[0]}" if line[0].startswith(("[", "*")) else line[0]
    rows = [" & ".join(line) + r" \\" for line in lines]
    body = "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{tex(name.replace('_', ' '))}}}",
            rf"\label{{tab:{re.sub(r'[^A-Za-z0-9]+', '-', name)}}}",
            rf"\begin{{tabular}}{{{_layout(table, numbers)}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
    return "\n".join([*[f"% {' '.join(signature.split())}"] * bool(signature), *needs(body), body])


def _layout(table: pd.DataFrame, numbers: set[str]) -> str:
    """Choose columns: numbers to the right, words to the left, sentences as paragraphs that share the line's width."""
    longest = {column: max(len(_cell(value)) for value in table[column]) for column in table}
    sentences = sum(length > SENTENCE for length in longest.values())
    paragraph = rf"p{{{0.75 / max(sentences, 1):.2f}\linewidth}}"
    return "".join("r" if column in numbers else paragraph if n > SENTENCE else "l" for column, n in longest.items())


def _cells(column: pd.Series, numeric: bool) -> list[str]:
    """Print a column's values for LaTeX, with a minus sign before negative numbers."""
    cells = [tex(_cell(value)) for value in column]
    return [f"$-${cell[1:]}" if numeric and cell[0] == "-" and cell != "--" else cell for cell in cells]


def _cell(value: Any) -> str:
    """Print a value for a paper: up to four significant digits, a dash for a gap."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)
