"""What a notebook displays: tables, figures, computed sentences, recorded values, the comparison with print.

Every output is made for three readers at once. A person in JupyterLab sees HTML or a picture; the report exporter
takes alternative text and captions from the output's metadata; tests and the index read the payload of type ``MIME``.
Whatever comes from data is escaped here, so it can never become markup.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import display

from evalkit import __version__
from evalkit.data.provenance import dates_of, merged
from evalkit.data.provenance import source_of as provenance
from evalkit.show import lab, pictures, tables
from evalkit.show.style import typeset
from evalkit.show.tables import Digits
from evalkit.stats import verdicts
from evalkit.stats.terms import pluralize
from evalkit.stats.verdicts import missing, verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "MIME",
    "compare",
    "figure",
    "headline",
    "numbered",
    "plain",
    "provenance",
    "record",
    "results",
    "signature",
    "source",
    "table",
    "text",
    "title",
    "verdict",
]

MIME = "application/vnd.evalkit+json"

BADGES = {
    "real": "real data",
    "published": "numbers printed in a paper",
    "simulated": "SIMULATED: the real data were not to be had, and these numbers say nothing about people",
}
UNCHECKED = "Ran on simulated data; the printed number was not checked in this run."


def __dir__() -> list[str]:
    """Offer what notebooks call, and no imports, where somebody presses Tab."""
    return __all__


def source(*tables: pd.DataFrame) -> None:
    """Say where each table comes from; the report's badges and its banner follow from this.

    tables: frames made by ``evalkit.data``, which carry their provenance in ``attrs["source"]``.
    Raises DataError for a frame without provenance.
    """
    for frame in tables:
        origin = provenance(frame)
        left_out = "".join(f" Left out: {what} ({n:,})." for what, n in frame.attrs.get("excluded", {}).items() if n)
        kind, place = BADGES[origin["source"]], origin["origin"]
        sentence = f"{origin['name']}: {pluralize(len(frame), 'row')}, {kind}, from {place}.{left_out}"
        payload = {"kind": "source", **origin, "rows": len(frame), "excluded": plain(frame.attrs.get("excluded", {}))}
        payload |= {"dates": dates} if (dates := dates_of(frame)) else {}
        _emit(payload, html=f'<p class="source {origin["source"]}">{escape(sentence)}</p>')


def table(
    frame: pd.DataFrame,
    *,
    caption: str,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    headings: Mapping[str, str] | None = None,
    cells: Mapping[str, Mapping[Any, str]] | None = None,
    digits: Digits = 2,
    folded: bool = False,
) -> None:
    """Show a table with header cells and a caption; ``name`` also records the whole frame, unrounded and unrenamed.

    columns: those to show, in this order; None shows all.
    headings: what single columns are called. cells: for a column, what its values are called. Other columns and cells
    that hold names of the code are said in words (``evalkit.stats.terms``).
    folded: whether a page shows the caption only, until a reader opens it.
    digits: decimals for all float columns, or a mapping from column to decimals (others get 2). Columns called ``p``,
    ``p_…`` or ``…_p`` are p-values: three decimals, and ``<0.001`` below that. A page shows the
    first 12 rows of a long table and folds the others, so put those that matter first; it has no more than 200 rows,
    and the record has all.
    """
    options: dict[str, Any] = {"columns": columns, "headings": headings, "cells": cells, "digits": digits}
    markup = tables.markup(frame, caption=caption, name=name, **options)
    if folded:
        markup = f"<details><summary>{escape(typeset(caption))}</summary>{markup}</details>"
    if name is None:
        _emit(None, html=markup, text=f"{caption}\n{frame.head(tables.MOST).to_string(index=False)}")
    else:
        _emit({"kind": "record", "name": name, "value": plain(frame)}, html=markup)


def results(*found: Any) -> None:
    """Show what analyses found: for each its ``sentences``, then its ``tables`` (options of ``table``).

    found: such as the results of ``evalkit.campaign``; one that is missing has neither.
    """
    for one in found:
        text(*one.sentences)
        for options in one.tables:
            table(**options)


def figure(
    drawn: Axes | Figure | Callable[[Any], Axes | Figure | None],
    *,
    caption: str,
    of: Any = None,
    alt: str | None = None,
    name: str | None = None,
    data: Any = None,
) -> None:
    """Show a figure with its caption and its alternative text; ``name`` also records the data behind it.

    drawn: a figure, or a function that draws ``of``; nothing is shown where ``of`` is false, as what is missing is, or
    where the function returns None.
    alt: what a reader who cannot see the figure needs to know; None takes what the drawing function said by
    ``figures.describe``. name, data: as in ``record``, so that one call shows a figure and records its table.
    Raises DataError for a figure without alternative text.
    """
    picture = (drawn(of) if of else None) if callable(drawn) else drawn
    if picture is None:
        return
    shown, described = pictures.picture(picture, alt=alt, caption=caption)
    if name is not None:
        shown[MIME] = {"kind": "record", "name": name, "value": plain(data)}
    display(shown, metadata=described, raw=True)
    if pictures.live():  # a report sets caption and alternative text itself; JupyterLab would show neither
        display(pictures.words(described), raw=True)


def text(*sentences: str) -> None:
    """Show sentences computed in this run, a paragraph each, as plain text: markup and TeX stay visible characters."""
    for sentence in sentences:
        _emit(None, html=f'<p class="computed">{escape(typeset(sentence))}</p>', text=sentence)


def numbered(*sentences: str) -> None:
    """Show sentences computed in this run as a numbered list, such as what to do first, second and third."""
    items = "".join(f"<li>{escape(typeset(sentence))}</li>" for sentence in sentences)
    text = "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(sentences, start=1))
    _emit(None, html=f'<ol class="computed">{items}</ol>', text=text)


def headline(sentence: str) -> None:
    """Show the study's main finding in one or two plain sentences; the index quotes it.

    A call, not a cell's tag: the sentence is computed either way, and a call can stand among others.
    """
    html = f'<p class="headline">{escape(typeset(sentence))}</p>'
    _emit({"kind": "headline", "text": sentence}, html=html, text=sentence)


def title(sentence: str) -> None:
    """Give the page a title computed in this run, in place of the notebook's: one about the user's own data."""
    _emit({"kind": "title", "text": sentence}, html=f"<h1>{escape(typeset(sentence))}</h1>", text=sentence)


def record(name: str, value: Any) -> None:
    """Record a value for tests, the index and the reference results without showing it."""
    _emit({"kind": "record", "name": name, "value": plain(value)})


def compare(rows: pd.DataFrame, *, data: pd.DataFrame | Iterable[pd.DataFrame], caption: str) -> None:
    """Hold computed numbers against printed ones, cell by cell, with a verdict on each.

    rows: as ``verdicts.judge`` wants them; ``evalkit.papers.claims`` makes them.
    data: the tables behind the numbers, one or several. Where one is simulated, nothing can be compared with print,
    and each row says so.
    What does not match is shown first, with its reason.
    """
    if merged(data)["source"] == "simulated":
        rows = verdicts.unchecked(rows, lacking="real data", note=UNCHECKED)
    judged = verdicts.judge(rows)
    _emit({"kind": "published", "rows": plain(judged)}, html=tables.comparison(judged, caption=caption))


def signature(*tables: pd.DataFrame, **settings: Any) -> None:
    """Show the line that tells two people whether they ran the same thing: version, data digests, settings."""
    digests = {s["name"]: hashlib.sha256(s["digest"].encode()).hexdigest()[:8] for s in map(provenance, tables)}
    data = ",".join(f"{name}@{digest}" for name, digest in sorted(digests.items()))
    line = "|".join([f"evalkit:{__version__}", f"data:{data}", *(f"{key}:{value}" for key, value in settings.items())])
    _emit({"kind": "signature", "text": line}, html=f'<p class="signature"><code>{escape(line)}</code></p>', text=line)


def plain(value: Any) -> Any:
    """Turn frames, arrays and numpy scalars into JSON values; floats keep 12 significant digits, gaps become null.

    >>> plain(pd.DataFrame({"pair": ["eng-jpn"], "rho": [1 / 3]}))
    [{'pair': 'eng-jpn', 'rho': 0.333333333333}]
    """
    if isinstance(value, pd.DataFrame):
        return [{str(k): plain(v) for k, v in row.items()} for row in value.to_dict("records")]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, pd.Series)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return plain(value.tolist())
    if missing(value):
        return None
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _emit(payload: dict[str, Any] | None, *, html: str | None = None, text: str | None = None) -> None:
    bundle: dict[str, Any] = {"text/plain": text or ""}
    if html is not None:
        bundle["text/html"] = lab.dressed(html)
    if payload is not None:
        bundle[MIME] = payload
        bundle["text/plain"] = text or f"[{payload['kind']}: {payload.get('name', payload['kind'])}]"
    display(bundle, raw=True)
