"""How a table becomes HTML: names of the code in words, numbers with few decimals, texts from data escaped."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from evalkit.show import pictures
from evalkit.show.style import MINUS, typeset
from evalkit.stats import terms, verdicts
from evalkit.stats.verdicts import missing

#: Rows of a long table that a page shows at once; with a few more than these, a table is not yet long.
SHOWN, SLACK = 12, 3
#: Rows that a page has at most; the JSON report has all.
MOST = 200
#: Letters; longer texts are no names of rows, but sentences, which may wrap.
LONGEST_NAME = 36
#: Counts from here on are written with commas.
LARGE = 10_000

Digits = int | Mapping[str, int]


def markup(
    frame: pd.DataFrame,
    *,
    caption: str,
    digits: Digits = 2,
    columns: Sequence[str] | None = None,
    headings: Mapping[str, str] | None = None,
    cells: Mapping[str, Mapping[Any, str]] | None = None,
    name: str | None = None,
    notes: Sequence[str] | None = None,
) -> str:
    """Return a table as HTML, its first ``MOST`` rows; options as in ``show.table``.

    name: under which the JSON report has the table. notes: one a row, "" for none; rows with one note stand together,
    below it.
    """
    shown = frame if columns is None else frame[list(columns)]
    numeric = {name for name in shown if _numeric(shown[name])}
    kinds = {name: " class=num" if name in numeric else "" for name in shown}
    written = {
        name: _column(shown[name], name, digits=digits, words=(cells or {}).get(name, {}), numeric=name in numeric)
        for name in shown
    }
    words = {key: (headings or {}).get(key) or terms.display_name(str(key)) for key in shown}
    for key in _repeated(written):
        caption += f" ({words[key]}: {written.pop(key)[0]})"
    head = "".join(f'<th scope="col"{kinds[key]}>{escape(words[key])}</th>' for key in written)
    naming = _naming(written, numeric)
    rows = zip(
        *([_cell_markup(text, kinds[name], name == naming) for text in texts] for name, texts in written.items())
    )
    body = _bodies(["".join(row) for row in rows], notes, width=len(written))
    body = body or f'<tbody><tr><td colspan="{len(written)}">none</td></tr></tbody>'
    content = f"<caption>{escape(typeset(caption))}</caption><thead><tr>{head}</tr></thead>{body}"
    table, cut = f"<table>{content}</table>", _cut(len(shown), name)
    if pictures.live():  # where the style of JupyterLab lets a long table scroll
        return table + cut
    return boxed(table, caption, rows=min(len(shown), MOST)) + cut


def boxed(table: str, caption: str, *, rows: int) -> str:
    """Return a page's table in a box that scrolls by itself, so that a keyboard must reach it; a long one is folded."""
    box = f'<div class="scroll" role="group" tabindex="0" aria-label="{escape(caption)}">{table}</div>'
    if rows <= SHOWN + SLACK:
        return box
    switch = f'<label class="all"><input type="checkbox" autocomplete="off"> Show all {rows:,} rows</label>'
    return f'<div class="long">{box}{switch}<p class="printed">The first {SHOWN} of {rows:,} rows.</p></div>'


def _repeated(written: Mapping[Hashable, list[str]]) -> list[Hashable]:
    """Return the columns that say one and the same sentence in every row of several, which a caption says once."""
    return [
        name
        for name, texts in written.items()
        if len(texts) > 2 and len(set(texts)) == 1 and len(texts[0]) > LONGEST_NAME and len(written) > 1
    ]


def _naming(written: Mapping[Hashable, list[str]], numeric: set[Hashable]) -> Hashable | None:
    """Return the first column where its cells name their rows: words, not numbers, and no sentences."""
    first = next(iter(written), None)
    if len(written) < 2 or first in numeric or any(len(text) > LONGEST_NAME for text in written[first]):
        return None
    return first


def _cell_markup(text: str, kind: str, names_row: bool) -> str:
    """Return a cell; long texts may wrap, pairs of languages never, verdicts carry a sign."""
    if re.fullmatch("[a-z]{3}-[a-z]{3}", text):
        kind = " class=pair"
    elif text in verdicts.WORDS:
        kind = f" class={text.replace(' ', '-')}"
    elif len(text) > LONGEST_NAME:
        kind = " class=text"
    return f'<th scope="row"{kind}>{escape(text)}</th>' if names_row else f"<td{kind}>{escape(text)}</td>"


def _bodies(rows: list[str], notes: Sequence[str] | None, *, width: int) -> str:
    """Return a table's rows, those with one note below that note; a page has no more than ``MOST``, and folds many."""
    groups: dict[str, list[str]] = {}
    for row, note in zip(rows[:MOST], notes or [""] * len(rows)):
        groups.setdefault(note, []).append(row)
    shown = SHOWN if len(rows) > SHOWN + SLACK else MOST
    bodies, count = "", 0
    for note, group in groups.items():
        later = [" class=later" if place >= shown else "" for place in range(count, count + len(group))]
        told = f'<th scope="rowgroup" colspan="{width}" class=text>{escape(typeset(note))}</th>'
        head = f'<tr class="note{" later" if later[0] else ""}">{told}</tr>' if note else ""
        bodies += f"<tbody>{head}{''.join(f'<tr{fold}>{row}</tr>' for fold, row in zip(later, group))}</tbody>"
        count += len(group)
    return bodies


def _cut(rows: int, name: str | None) -> str:
    """Say that a table's further rows are not on the page, and where they are."""
    if rows <= MOST:
        return ""
    where = f" The JSON report has all, under “{escape(name)}”." if name else ""
    return f'<p class="cut">The first {MOST} of {rows:,} rows.{where}</p>'


def comparison(judged: list[dict[str, Any]], *, caption: str) -> str:
    """Return judged rows as a table per verdict, what needs attention first; see ``show.compare``."""
    shown = pd.DataFrame(judged).assign(
        computed=[verdicts.as_printed(row["computed"], row["printed"]) for row in judged],
        verdict=[verdicts.in_words(row) for row in judged],
    )
    parts = [(verdict, shown[shown["verdict"] == verdict]) for verdict in verdicts.WORDS]
    return "".join(
        _one_verdict(part, f"{caption}: {verdict}, {len(part)} of {len(judged)}", folded=verdict == "match")
        for verdict, part in parts
        if len(part)
    )


def _one_verdict(part: pd.DataFrame, title: str, *, folded: bool) -> str:
    """Return the rows of one verdict; what all of them share stands once, in the caption, and a note once a group."""
    about = "lacking" if part["computed"].isna().all() else "basis"
    columns = ["paper", "item", "cell", "printed", "computed", about]
    shared = [name for name in ("paper", "item", about, "note") if len(part) > 1 and part[name].nunique() == 1]
    once = [part[name].iloc[0] for name in shared if name != "paper"]
    said = "; ".join(text for text in once if text and text not in title)
    empty = [name for name in ("computed",) if not part[name].fillna("").ne("").any()]
    numbers = {name: part[name].map(_number_set) for name in ("printed", "computed") if name not in empty}
    rows = part.assign(**numbers)[[name for name in columns if name not in (*shared, *empty)]]
    notes = None if "note" in shared else part["note"].fillna("").tolist()
    caption = f"{title} ({said})" if said else title
    table = markup(rows, caption=caption, name="published", notes=notes)
    return f"<details><summary>{escape(typeset(caption))}</summary>{table}</details>" if folded else table


def _number_set(value: Any) -> Any:
    """Set a number as pages do; print's words and gaps stay."""
    return typeset(value) if isinstance(value, str) else value


def _numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and column.dtype != bool


def _column(column: pd.Series, name: Hashable, *, digits: Digits, words: Mapping[Any, str], numeric: bool) -> list[str]:
    """Write the cells of one column, all in one form."""
    places = digits if isinstance(digits, int) else digits.get(str(name), 2)
    if _holds_p_values(str(name)):
        form = "p"
    elif numeric and _whole(column):
        form = ",.0f" if column.abs().ge(LARGE).any() else ".0f"
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
        return text.lstrip("-") if float(text.replace(",", "")) == 0 else text.replace("-", MINUS)
    return words.get(value) or str(terms.display_cell(name, value))


def _holds_p_values(name: str) -> bool:
    return name == "p" or name.startswith("p_") or name.endswith("_p")


def _whole(column: pd.Series) -> bool:
    """Tell whether a column holds counts, which gaps make floats; a few measurements may be whole by chance."""
    measured = len(column) < 4 and column.dtype.kind == "f" and bool(column.notna().all())
    return not measured and bool((column.dropna() % 1 == 0).all())
