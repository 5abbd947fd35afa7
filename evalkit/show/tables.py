"""How a table becomes HTML: names of the code in words, numbers with few decimals, texts from data escaped."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.stats import terms, verdicts
from evalkit.stats.verdicts import missing

#: Rows; longer tables are folded.
FOLDED = 30
#: Counts from here on are written with commas.
LARGE = 10_000

Digits = int | Mapping[str, int]
#: Columns to show, in this order, or a mapping from them to their headings.
Columns = Sequence[str] | Mapping[str, str]


def markup(
    frame: pd.DataFrame,
    *,
    caption: str,
    digits: Digits = 2,
    columns: Columns | None = None,
    headings: Mapping[str, str] | None = None,
    cells: Mapping[str, Mapping[Any, str]] | None = None,
    style: str = "",
) -> str:
    """Return a table as HTML, folded where it is long; options as in ``show.table``; style: its CSS class."""
    shown = frame if columns is None else _chosen(frame, columns)
    titles = {**(columns if isinstance(columns, Mapping) else {}), **(headings or {})}
    numeric = {name for name in shown if _numeric(shown[name])}
    kinds = {name: " class=num" if name in numeric else "" for name in shown}
    head = "".join(
        f'<th scope="col"{kind}>{escape(titles.get(name) or terms.display_name(str(name)))}</th>'
        for name, kind in kinds.items()
    )
    written = {
        name: _column(shown[name], name, digits=digits, words=(cells or {}).get(name, {}), numeric=name in numeric)
        for name in shown
    }
    rows = zip(*([f"<td{kinds[name]}>{escape(text)}</td>" for text in texts] for name, texts in written.items()))
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    body = body or f'<tr><td colspan="{len(kinds)}">none</td></tr>'
    content = f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    table = f'<table class="{style}">{content}</table>' if style else f"<table>{content}</table>"
    if len(shown) <= FOLDED:
        return table
    return f"<details><summary>{escape(caption)} ({len(shown)} rows)</summary>{table}</details>"


def comparison(judged: list[dict[str, Any]], *, caption: str) -> str:
    """Return judged rows as a table per verdict, what needs attention first; see ``show.compare``."""
    shown = pd.DataFrame(judged).assign(
        computed=[verdicts.as_printed(row["computed"], row["printed"]) for row in judged],
        verdict=[verdicts.in_words(row) for row in judged],
    )
    if shown["item"].nunique() == 1 and shown["item"].iloc[0] in caption:
        shown = shown.drop(columns="item")
    parts = [(verdict, shown[shown["verdict"] == verdict]) for verdict in verdicts.WORDS]
    return "".join(
        _one_verdict(part, f"{caption}: {verdict}, {len(part)} of {len(judged)}")
        for verdict, part in parts
        if len(part)
    )


def _one_verdict(part: pd.DataFrame, title: str) -> str:
    """Return the rows of one verdict; what all of them share stands once, in the caption."""
    about = "lacking" if part["computed"].isna().all() else "basis"
    columns = [name for name in ("paper", "item", "cell", "printed", "computed", about, "note") if name in part]
    shared = [name for name in ("paper", about, "note") if len(part) > 1 and part[name].nunique() == 1]
    said = "; ".join(part[name].iloc[0] for name in shared if name != "paper" and part[name].iloc[0])
    empty = [name for name in ("computed", "note") if name in part and not part[name].fillna("").ne("").any()]
    rows = part[[name for name in columns if name not in (*shared, *empty)]]
    style = ("noted itemised" if "item" in rows else "noted") if "note" in rows else ""
    return markup(rows, caption=f"{title} ({said})" if said else title, style=style)


def _chosen(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    if absent := [name for name in columns if name not in frame]:
        raise DataError(f"There is no column {absent[0]!r} to show; the table has {', '.join(map(str, frame))}.")
    return frame[list(columns)]


def _numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and column.dtype != bool


def _column(column: pd.Series, name: Hashable, *, digits: Digits, words: Mapping[Any, str], numeric: bool) -> list[str]:
    """Write the cells of one column, all in one form."""
    places = digits if isinstance(digits, int) else digits.get(str(name), 2)
    if _holds_p_values(str(name)):
        form = "p"
    elif numeric and _whole(column):
        form = ",.0f" if column.abs().max() >= LARGE else ".0f"
    else:
        form = f".{places}f"
    values = column.to_frame().to_dict("list")[name]  # as Python's own numbers
    return [_cell(value, str(name), form=form, words=words) for value in values]


def _cell(value: Any, name: str, *, form: str, words: Mapping[Any, str]) -> str:
    """Write one value; p-values are never 0, and no zero is negative."""
    if missing(value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and form == "p":
        return f"{value:.3f}" if value >= 0.001 else "<0.001"
    if isinstance(value, (int, float)) and (form.endswith(".0f") or isinstance(value, float)):
        text = f"{value:{form}}"
        return text.lstrip("-") if float(text.replace(",", "")) == 0 else text
    return words.get(value) or str(terms.display_cell(name, value))


def _holds_p_values(name: str) -> bool:
    return name == "p" or name.startswith("p_") or name.endswith("_p")


def _whole(column: pd.Series) -> bool:
    """Tell whether a column holds counts, which gaps make floats; a few measurements may be whole by chance."""
    measured = len(column) < 4 and column.dtype.kind == "f" and bool(column.notna().all())
    return not measured and bool((column.dropna() % 1 == 0).all())
