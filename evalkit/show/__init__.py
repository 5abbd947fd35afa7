"""What a notebook displays: tables, figures, computed sentences, recorded values, the comparison with print.

Every output is made for three readers at once. A person in JupyterLab sees HTML or a picture; the report exporter
takes alternative text and captions from the output's metadata; tests and the index read the payload of type ``MIME``.
Whatever comes from data is escaped here, so it can never become markup.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import display

from evalkit import DataError, __version__
from evalkit.data.provenance import merged
from evalkit.data.provenance import source_of as provenance
from evalkit.stats import terms, verdicts
from evalkit.stats.verdicts import missing, verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MIME", "compare", "figure", "headline", "live", "picture", "plain", "provenance", "record", "signature",
           "source", "table", "text", "verdict", "words"]  # fmt: skip

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
        left_out = "".join(f" Left out: {what} ({n:,})." for what, n in frame.attrs.get("left_out", {}).items() if n)
        kind, place = BADGES[origin["source"]], origin["origin"]
        sentence = f"{origin['name']}: {terms.pluralize(len(frame), 'row')}, {kind}, from {place}.{left_out}"
        _emit({"kind": "source", **origin}, html=f'<p class="source {origin["source"]}">{escape(sentence)}</p>')


def table(frame: pd.DataFrame, *, caption: str, digits: int | dict[str, int] = 2, name: str | None = None) -> None:
    """Show a table with header cells and a caption; ``name`` also records its values, unrounded.

    digits: decimals for all float columns, or a mapping from column to decimals (others get 2). Columns called ``p``,
    ``p_…`` or ``…_p`` are p-values: three decimals, and ``<0.001`` below that. Columns and cells that hold names of the
    code are said in words (``evalkit.stats.terms``). Tables of more than 30 rows are folded.
    """
    markup = _table_html(frame, caption, digits)
    if name is None:
        _emit(None, html=markup, text=f"{caption}\n{frame.to_string(index=False)}")
    else:
        _emit({"kind": "record", "name": name, "value": plain(frame)}, html=markup)


def figure(drawn: Axes | Figure, *, alt: str, caption: str, hover: dict[str, Any] | None = None) -> None:
    """Show a figure with its caption; ``alt`` says what a reader who cannot see it needs to know.

    hover: a chart from ``evalkit.show.plots.hover`` that JupyterLab shows in the picture's place; reports have the
    picture.
    """
    data, described = picture(drawn, alt=alt, caption=caption, hover=hover)
    display(data, metadata=described, raw=True)
    if live():  # a report sets caption and alternative text itself; JupyterLab would show neither
        display(words(alt, caption), raw=True)


def words(alt: str, caption: str) -> dict[str, str]:
    """Return an output's data with a figure's caption, and below it, folded, what the figure shows, in words."""
    told = f"<details><summary>In words</summary><p>{escape(alt)}</p></details>"
    return {"text/html": f"<p><em>{escape(caption)}</em></p>{told}", "text/plain": f"{caption}\n{alt}"}


def picture(
    drawn: Axes | Figure, *, alt: str, caption: str, hover: dict[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a figure as an output's data and metadata, and close it; see ``figure``."""
    import matplotlib.pyplot as plt

    if not alt.strip():
        raise DataError("A figure needs alt text: say in a sentence what it shows.")
    whole = drawn.get_figure() if hasattr(drawn, "get_figure") else drawn
    png = io.BytesIO()
    whole.savefig(png, format="png", dpi=192, bbox_inches="tight", metadata={"Software": None})
    plt.close(whole)  # or Jupyter would show it a second time
    width = int.from_bytes(png.getvalue()[16:20], "big") // 2  # the header's width, at two pixels per CSS pixel
    encoded = base64.b64encode(png.getvalue()).decode()
    data: dict[str, Any] = {"image/png": encoded, "text/plain": f"{caption}\n{alt}"}
    described: dict[str, Any] = {"image/png": {"alt": alt, "caption": caption, "width": width}}
    if hover is not None and live():
        from evalkit.show.plots import hover as charts

        data[charts.MIME], described[charts.MIME] = hover, charts.EMBEDDED
    elif live():  # JupyterLab shows a PNG without its alternative text, so it is told as HTML, which it prefers
        data["text/html"] = f'<img alt="{escape(alt)}" width="{width}" src="data:image/png;base64,{encoded}">'
    return data, described


def live() -> bool:
    """Tell whether a person is at work here: Jupyter's server names a notebook's session, a run of reports does not."""
    return bool(os.environ.get("JPY_SESSION_NAME"))


def text(sentence: str) -> None:
    """Show a sentence computed in this run as plain text: markup and TeX in it stay visible characters."""
    _emit(None, html=f'<p class="computed">{escape(sentence)}</p>', text=sentence)


def headline(sentence: str) -> None:
    """Show the study's main finding in one or two plain sentences; the index quotes it."""
    _emit({"kind": "headline", "text": sentence}, html=f'<p class="headline">{escape(sentence)}</p>', text=sentence)


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
    _emit({"kind": "published", "rows": plain(judged)}, html=_comparison_html(judged, caption))


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
        bundle["text/html"] = html
    if payload is not None:
        bundle[MIME] = payload
        bundle["text/plain"] = text or f"[{payload['kind']}: {payload.get('name', payload['kind'])}]"
    display(bundle, raw=True)


def _comparison_html(judged: list[dict[str, Any]], caption: str) -> str:
    """Lay out judged rows in a table per verdict, what needs attention first."""
    shown = pd.DataFrame(judged).assign(
        computed=[verdicts.as_printed(row["computed"], row["printed"]) for row in judged],
        verdict=[verdicts.in_words(row) for row in judged],
    )
    if shown["item"].nunique() == 1 and shown["item"].iloc[0] in caption:
        shown = shown.drop(columns="item")
    parts = [(told, shown[shown["verdict"] == told]) for told in verdicts.WORDS]
    return "".join(
        _verdict_html(part, f"{caption}: {told}, {len(part)} of {len(judged)}") for told, part in parts if len(part)
    )


def _verdict_html(part: pd.DataFrame, title: str) -> str:
    """Lay out the rows of one verdict; what all of them share stands once, in the caption."""
    about = "lacking" if part["computed"].isna().all() else "basis"
    columns = [name for name in ("paper", "item", "cell", "printed", "computed", about, "note") if name in part]
    shared = [name for name in ("paper", about, "note") if len(part) > 1 and part[name].nunique() == 1]
    said = "; ".join(part[name].iloc[0] for name in shared if name != "paper" and part[name].iloc[0])
    empty = [name for name in ("computed", "note") if name in part and not part[name].fillna("").ne("").any()]
    rows = part[[name for name in columns if name not in (*shared, *empty)]]
    kind = ("noted itemised" if "item" in rows else "noted") if "note" in rows else ""
    return _table_html(rows, f"{title} ({said})" if said else title, 2, kind)


def _table_html(frame: pd.DataFrame, caption: str, digits: int | dict[str, int], kind: str = "") -> str:
    numeric = {c for c in frame.columns if pd.api.types.is_numeric_dtype(frame[c]) and frame[c].dtype != bool}
    whole = {c for c in numeric if (frame[c].dropna() % 1 == 0).all()}  # counts, which gaps and sums make floats
    if len(frame) < 4:  # a few measurements may be whole by chance
        whole -= {c for c in whole if frame[c].dtype.kind == "f" and frame[c].notna().all()}
    large = {c for c in whole if frame[c].abs().max() >= 10_000}

    def cell(column: str, value: Any) -> str:
        if missing(value):
            return f"<td{aligned[column]}>–</td>"
        if isinstance(value, float) and (column == "p" or column.startswith("p_") or column.endswith("_p")):
            value = f"{value:.3f}" if value >= 0.001 else "<0.001"
        elif column in whole:
            value = f"{value + 0:{',' if column in large else ''}.0f}"  # + 0: no negative zero
        elif isinstance(value, float):
            value = f"{value:.{digits if isinstance(digits, int) else digits.get(column, 2)}f}"
            value = value.lstrip("-") if float(value) == 0 else value  # no negative zero
        shown = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(terms.cell(column, value))
        return f"<td{aligned[column]}>{escape(shown)}</td>"

    aligned = {column: " class=num" if column in numeric else "" for column in frame.columns}
    titles = {column: escape(terms.spoken(str(column))) for column in frame.columns}
    head = "".join(f'<th scope="col"{aligned[column]}>{titles[column]}</th>' for column in frame.columns)
    rows = frame.to_dict("records")
    body = "".join("<tr>" + "".join(cell(c, v) for c, v in row.items()) + "</tr>" for row in rows)
    body = body or f'<tr><td colspan="{len(frame.columns)}">none</td></tr>'
    content = f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    markup = f'<table class="{kind}">{content}</table>' if kind else f"<table>{content}</table>"
    if len(frame) <= 30:
        return markup
    return f"<details><summary>{escape(caption)} ({len(frame)} rows)</summary>{markup}</details>"
