"""Figures: a table goes in, ``Axes`` or a ``Figure`` comes out. This file holds the style that all of them share.

Every figure is readable in black and white (markers, line styles and labels carry what colour carries), uses the
colour-blind-safe palette of Okabe & Ito, and names its axes with their units.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

from evalkit import DataError
from evalkit.show.plots import page
from evalkit.show.plots.page import BOTH, above, keep_grid, legend, narrow

__all__ = [
    "BOTH",
    "GREY",
    "INK",
    "LIGHT",
    "LINES",
    "MARKERS",
    "PALETTE",
    "above",
    "describe",
    "dots",
    "faint",
    "forest",
    "house",
    "keep_grid",
    "legend",
    "literal",
    "mark",
    "narrow",
    "readable",
    "rows_of",
    "shared_legend",
    "small_multiples",
    "words_on",
]

#: Letters and lines; lines beside the data and what recedes; what only parts or fills, and carries no meaning alone.
INK, GREY, LIGHT = "#1a1a1a", "#6b6b6b", "#d0d0d0"
#: Okabe and Ito's colours, as dark as marks on a page need to be (a contrast of 3); words need ``readable``.
PALETTE = ("#0072B2", "#C55200", "#00845F", "#B24F86", "#3C97D0", "#B97D00", INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))

Drawn = TypeVar("Drawn", Axes, Figure)

HOUSE: dict[Any, Any] = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "white",
    "patch.force_edgecolor": True,
    "legend.fontsize": 9,
    "legend.facecolor": "white",
    "legend.edgecolor": "none",
    "legend.framealpha": 0.9,  # no line strikes its words
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.prop_cycle": cycler(color=PALETTE),
}


def house(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a plotting function so that it draws in the house style and leaves matplotlib's settings alone.

    What it draws is fitted to the page's width, and how is kept, so that it can be drawn again for a phone.
    """

    @functools.wraps(draw)
    def styled(*args: Any, **options: Any) -> Any:
        with mpl.rc_context(HOUSE):
            drawn = draw(*args, **options)
            figure = drawn.figure.get_figure(root=True)
            page.fit(figure)
        page.remember(figure, functools.partial(styled, *args, **options))
        return drawn

    return styled


def literal(text: object) -> str:
    """Make a text from data safe in a figure: a dollar sign stays a dollar sign and never starts an equation.

    >>> print(literal("$x$ costs"))
    \\$x\\$ costs
    """
    return str(text).replace("$", r"\$")


def rows_of(table: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    """Return the rows with one value of a column; DataError, naming those there are, where there is none.

    >>> rows_of(pd.DataFrame({"pair": ["eng-deu"]}), "pair", "eng-jpn")
    Traceback (most recent call last):
    evalkit.DataError: eng-jpn: no such language pair here. Choose one of: eng-deu.
    """
    rows = table[table[column] == value]
    if rows.empty:
        what = {"pair": "language pair", "covariate": "outside score"}.get(column, column)
        raise DataError(f"{value}: no such {what} here. Choose one of: {', '.join(map(str, table[column].unique()))}.")
    return rows.reset_index(drop=True)


def describe(drawn: Drawn, text: str) -> Drawn:
    """Leave on a figure what a reader who cannot see it needs to know, and return what was drawn.

    text: a sentence or two with the numbers that matter, computed from what is drawn. ``show.figure`` and the reports
    take it as the picture's alternative text.

    >>> describe(plt.figure(), "Two rising lines.").get_label()
    'Two rising lines.'
    """
    drawn.figure.get_figure(root=True).set_label(text)
    return drawn


def forest(
    axes: Axes,
    table: pd.DataFrame,
    *,
    rows: str,
    value: str,
    low: str | None = None,
    high: str | None = None,
    series: str | None = None,
    order: Iterable[Any] | None = None,
    names: Mapping[Any, str] | None = None,
    looks: Mapping[Any, Mapping[str, Any]] | None = None,
    apart: float = 0.3,
) -> None:
    """Draw estimates with their intervals, a row each, the series of one row one above the other.

    table: tidy, one line per row and series. rows, value, low, high, series: its columns; without ``low`` and ``high``
    there are marks only. order: the rows from top to bottom, by default as in the table.
    A row with an interval but no value is a range without a best guess, and both its ends are marked.
    names: how rows and series are written, by default as they are called. looks: a series' options of ``plot``, beside
    a colour and a marker of its own. apart: how far the series of a row stand from each other at most, in rows.
    """
    names, looks = names or {}, looks or {}
    places = list(dict.fromkeys(table[rows] if order is None else order))
    kinds = [None] if series is None else list(dict.fromkeys(table[series]))
    for number, kind in enumerate(kinds):
        part = (table if series is None else table[table[series] == kind]).set_index(rows).reindex(places)
        level = np.arange(len(places)) + min(apart, 0.72 / len(kinds)) * (number - (len(kinds) - 1) / 2)
        look = {**mark(number), "label": literal(names.get(kind, kind)), **looks.get(kind, {})}
        marked = part[value]
        if low is not None:
            axes.hlines(level, part[low], part[high], color=look["color"], lw=2)
            bare = part[value].isna() & part[low].notna()
            marked = pd.concat([marked, part.loc[bare, low], part.loc[bare, high]])
            level = np.concatenate([level, level[bare], level[bare]])
        axes.plot(marked, level, **look)
    _name_rows(axes, [names.get(place, place) for place in places])


def dots(
    axes: Axes, table: pd.DataFrame, *, rows: str, value: str, order: Iterable[Any], colour: str = PALETTE[0]
) -> None:
    """Draw each value as a dot and the median of its row as a bar.

    table: tidy, one line per dot. rows, value: its columns. order: the rows from top to bottom.
    """
    places = list(order)
    for level, place in enumerate(places):
        values = np.sort(table.loc[table[rows] == place, value].dropna())
        wave = 0.26 * np.sin(2.4 * np.arange(len(values)))  # the golden angle: neighbours stand apart, runs agree
        axes.plot(values, level + wave, "o", ms=4.5, color=colour, alpha=0.75, mec="white", mew=0.4)
        if len(values):
            axes.plot([np.median(values)] * 2, [level - 0.38, level + 0.38], color=INK, lw=2.2)
    _name_rows(axes, places)


def mark(number: int) -> dict[str, Any]:
    """Return how the n-th series is marked: a colour and a marker of its own, no line."""
    return {
        "color": PALETTE[number % len(PALETTE)],
        "marker": MARKERS[number % len(MARKERS)],
        "ls": "",
        "ms": 7.5,
        "mec": "white",
        "mew": 0.6,
    }


def _name_rows(axes: Axes, names: Iterable[object]) -> None:
    """Write names at the left, the first on top."""
    written = [literal(name) for name in names]
    axes.set_yticks(range(len(written)), written)
    axes.set_ylim(len(written) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def small_multiples(
    names: Iterable[Any],
    *,
    titles: Mapping[Any, str] | None = None,
    columns: int = 3,
    size: tuple[float, float] = (2.2, 1.9),
    margin: tuple[float, float] = (0.0, 0.8),
    xlabel: str = "",
    ylabel: str = "",
    **options: Any,
) -> tuple[Figure, dict[Any, Axes]]:
    """Return a figure with a titled panel for each name, and the panels by name.

    names: what the panels are called; titles: how that is written, where otherwise. columns: panels side by side at
    most. size: of a panel, and margin: around all of them, in inches. xlabel, ylabel: stand once, for all panels.
    options: as of ``plt.subplots``, such as ``sharex=True``.

    >>> figure, panels = small_multiples(["deu", "jpn"], titles={"jpn": "Japanese"}, sharex=True)
    >>> [axes.get_title() for axes in panels.values()]
    ['deu', 'Japanese']
    """
    written = {name: (titles or {}).get(name, name) for name in names}
    across = min(columns, len(written))
    down = -(-len(written) // across)
    whole = (size[0] * across + margin[0], size[1] * down + margin[1])
    figure, grid = plt.subplots(down, across, figsize=whole, squeeze=False, **options)
    panels = dict(zip(written, grid.flat))
    for name, axes in panels.items():
        axes.set_title(literal(written[name]), fontsize=10)
    for place in range(len(written), grid.size):
        grid.flat[place].set_axis_off()
        grid.flat[place - across].tick_params(labelbottom=True)  # now the lowest of its column
    if xlabel:
        figure.supxlabel(xlabel, fontsize=10)
    if ylabel:
        figure.supylabel(ylabel, fontsize=10)
    return figure, panels


def shared_legend(figure: Figure, *, columns: int = 4) -> None:
    """Put one legend above all panels, with what the first of them shows."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    legend(figure, handles, labels, loc="outside upper center", columns=columns)


def readable(colour: str) -> str:
    """Darken a colour until words in it have a contrast of 4.5 with the page (WCAG 2).

    >>> readable("#B97D00"), readable(INK) == INK
    ('#9d6a00', True)
    """
    rgb = np.array(to_rgb(colour))
    while _luminance(rgb) > 1.035 / 4.5 - 0.05:  # the page is a little darker than white
        rgb = 0.98 * rgb
    red, green, blue = rgb
    return str(to_hex((red, green, blue)))


def words_on(shade: Any) -> dict[str, Any]:
    """Return colour and box of words on a shade, as options of ``Axes.text``: readable on light and on dark pages.

    shade: any colour. The ink that has a contrast of 4.5 in both schemes (WCAG 2), or dark ink in a white box.

    >>> words_on("white")["color"] == INK, words_on("black")["color"], words_on("grey")["bbox"]["facecolor"]
    (True, 'white', 'white')
    """
    under = np.array(to_rgb(shade))
    for ink in (INK, "white"):
        words = np.array(to_rgb(ink))
        if min(_contrast(words, under), _contrast(_dark(words), _dark(under))) >= 4.5:
            return {"color": ink, "bbox": None}
    return {"color": INK, "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}


def faint(colour: str, depth: float) -> tuple[float, float, float]:
    """Mix a colour with white, as fills are: 0 is white, 1 the colour itself."""
    red, green, blue = 1 - (1 - np.array(to_rgb(colour))) * depth
    return red, green, blue


def _luminance(rgb: np.ndarray) -> float:
    """Return the relative luminance of a colour, from 0 (black) to 1 (white), as WCAG 2 defines it."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _contrast(one: np.ndarray, other: np.ndarray) -> float:
    """Return the contrast of two colours, from 1 to 21, as WCAG 2 defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _dark(rgb: np.ndarray) -> np.ndarray:
    """Return what the dark scheme of report.css makes of a colour: inverted, hue turned back (CSS filter effects)."""
    half_turn = np.array([[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]])
    turned: np.ndarray = (half_turn @ (1 - rgb)).clip(0, 1)
    return 1 - (1 - turned) * (1 - np.array(to_rgb("#15191c")))  # screened on the page's ground
