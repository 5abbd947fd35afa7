"""Charts that tell a point's values under the mouse: Vega-Lite specifications, built as plain data.

JupyterLab draws these by itself and offline, so nothing is installed. Altair would build the same, but its present
version writes Vega-Lite 6, which JupyterLab 4 does not draw; Plotly adds 44 MB, and megabytes of script to a notebook.

Texts from data stand only where Vega-Lite takes them as values or as JSON strings: fields have names of our own, and no
expression is written anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.show.plots import GREY, INK, LIGHT, PALETTE

MIME = "application/vnd.vegalite.v5+json"
#: What JupyterLab hands to its renderer: vector graphics, which screen readers can read, and no link to other sites.
EMBEDDED = {
    "embed_options": {
        "renderer": "svg",
        "actions": {"export": True, "source": False, "compiled": False, "editor": False},
    }
}
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])
MOST = 5000  # rows; more would make a notebook heavy and a chart slow


def intervals(
    table: pd.DataFrame,
    *,
    alt: str,
    label: str,
    value: str,
    low: str,
    high: str,
    names: Mapping[str, str],
    group: str | None = None,
) -> dict[str, Any]:
    """Specify a forest plot: a row per label with a point and its interval, in the order of the table.

    table: tidy. label, value, low, high: its columns; group: a column that parts points by shape, side by side.
    names: column -> words for axes and tooltips; columns named here and not drawn are told in tooltips too.
    alt: what the chart shows, for readers who cannot see it.

    >>> ranks = pd.DataFrame({"system": ["A", "B"], "rank": [1, 2], "top": [1, 1], "bottom": [1, 2]})
    >>> chart = intervals(ranks, alt="A leads.", label="system", value="rank", low="top", high="bottom",
    ...                   names={"system": "system", "rank": "rank (1 is best)", "top": "from", "bottom": "to"})
    >>> chart["layer"][1]["mark"]["type"], chart["data"]["values"][1]
    ('point', {'f0': 'B', 'f1': 2.0, 'f2': 1.0, 'f3': 2.0})
    """
    fields, rows = _data(table, names, texts=(label, group), numbers=(value, low, high))
    spread = {"scale": {"zero": False}, "title": names[value]}
    row = {"field": fields[label], "type": "nominal", "sort": None, "title": names[label], "axis": {"labelLimit": 260}}
    shared = {"y": row, "tooltip": _tooltip(table, names, fields)}
    if group is not None:
        shared["yOffset"] = {"field": fields[group], "type": "nominal", "sort": None}
    line = {"x": {"field": fields[low], "type": "quantitative", **spread}, "x2": {"field": fields[high]}}
    point = {"x": {"field": fields[value], "type": "quantitative", **spread}}
    looks = _looks(table, group, names, fields)
    return _chart(
        alt,
        rows,
        [
            {"mark": {"type": "rule", "strokeWidth": 3}, "encoding": shared | line | looks("color", "strokeDash")},
            {
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": shared | point | looks("color", "shape"),
            },
        ],
        height={"step": 26},
    )


def points(
    table: pd.DataFrame, *, alt: str, x: str, y: str, label: str, names: Mapping[str, str], group: str | None = None
) -> dict[str, Any]:
    """Specify a scatter plot with a label beside each point, and a fitted line for each group.

    table: tidy. x, y: numbers; label: a text that names the point; group: a column that parts points by shape.
    names: column -> words for axes and tooltips; columns named here and not drawn are told in tooltips too.

    >>> chart = points(pd.DataFrame({"a": [1, 2], "b": [3.5, 4], "who": ["x", "y"]}), alt="Two points.", x="a", y="b",
    ...                label="who", names={"a": "first (points)", "b": "second (points)", "who": "annotator"})
    >>> [told["title"] for told in chart["layer"][1]["encoding"]["tooltip"]]
    ['first (points)', 'second (points)', 'annotator']
    """
    fields, rows = _data(table, names, texts=(label, group), numbers=(x, y))
    place = {
        axis: {"field": fields[column], "type": "quantitative", "title": names[column], "scale": {"zero": False}}
        for axis, column in (("x", x), ("y", y))
    }
    fitted = {"regression": fields[y], "on": fields[x]} | ({"groupby": [fields[group]]} if group is not None else {})
    looks = _looks(table, group, names, fields)
    told = {"tooltip": _tooltip(table, names, fields)}
    named = {"text": {"field": fields[label], "type": "nominal"}}
    return _chart(
        alt,
        rows,
        [
            {
                "transform": [fitted],
                "mark": {"type": "line", "strokeWidth": 1.8},
                "encoding": place | looks("color", "strokeDash"),
            },
            {
                "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
                "encoding": place | told | looks("color", "shape"),
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 7, "fontSize": 9, "color": INK},
                "encoding": place | named,
            },
        ],
        height=340,
    )


def _data(
    table: pd.DataFrame, names: Mapping[str, str], *, texts: tuple[str | None, ...], numbers: tuple[str, ...]
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return a field of our own naming for each column, and the rows under these names."""
    drawn = [column for column in (*texts, *numbers) if column is not None]
    if absent := [column for column in (*drawn, *names) if column not in table]:
        raise DataError(f"The table to hover over has no column {absent[0]!r}; it has {', '.join(map(str, table))}.")
    if unnamed := [column for column in drawn if column not in names]:
        raise DataError(f"The column {unnamed[0]!r} has no words for its axis: add it to names=.")
    if len(table) > MOST:
        raise DataError(f"{len(table):,} rows are too many to hover over: draw at most {MOST:,}.")
    fields = {column: f"f{number}" for number, column in enumerate(names)}
    numeric = {column for column in names if _numeric(table[column])} - set(texts)
    plain = {
        fields[column]: [None if pd.isna(v) else float(v) for v in table[column]]
        if column in numeric
        else ["–" if pd.isna(v) else str(v) for v in table[column]]
        for column in names
    }
    return fields, [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


def _numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _tooltip(table: pd.DataFrame, names: Mapping[str, str], fields: Mapping[str, str]) -> list[dict[str, Any]]:
    """Tell each named column; the tooltip would turn fields called title or image into markup, so none is called so."""
    told = []
    for column, words in names.items():
        entry = {"field": fields[column], "title": f"{words}:" if words in ("title", "image") else words}
        fractions = _numeric(table[column]) and not (table[column].dropna() % 1 == 0).all()
        told.append(entry | ({"type": "quantitative", "format": ".4~g"} if fractions else {"type": "nominal"}))
    return told


def _looks(table: pd.DataFrame, group: str | None, names: Mapping[str, str], fields: Mapping[str, str]) -> Any:
    """Return a function from channels to encodings: groups differ in colour and in what remains of it in print."""
    if group is None:
        return lambda *channels: {"color": {"value": PALETTE[0]}}
    found = list(dict.fromkeys("–" if pd.isna(v) else str(v) for v in table[group]))
    ranges = {"color": PALETTE, "shape": SHAPES, "strokeDash": DASHES}

    def encoded(*channels: str) -> dict[str, Any]:
        return {
            channel: {
                "field": fields[group],
                "type": "nominal",
                "title": names[group],
                "sort": None,
                "legend": {"orient": "top", "labelLimit": 320},
                "scale": {"domain": found, "range": [ranges[channel][k % 6] for k in range(len(found))]},
            }
            for channel in channels
        }

    return encoded


def _chart(alt: str, rows: list[dict[str, Any]], layers: list[dict[str, Any]], **size: Any) -> dict[str, Any]:
    """Put data, layers and the house style together."""
    if not alt.strip():
        raise DataError("A chart needs alt text: say in a sentence what it shows.")
    axis = {"gridColor": LIGHT, "domainColor": GREY, "tickColor": GREY, "labelColor": INK, "titleColor": INK}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",  # names the version; nothing is fetched
        "description": alt,
        "data": {"values": rows},
        "width": 520,
        **size,
        "layer": layers,
        "config": {"background": "white", "axis": axis, "font": "DejaVu Sans, sans-serif", "view": {"stroke": None}},
    }
