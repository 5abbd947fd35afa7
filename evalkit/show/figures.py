"""Figures: a table and the names of its columns go in, a matplotlib figure that says what it shows comes out.

Every function takes a tidy table, one row a mark, and says in ``title`` in ten words what is to be seen. ``panels``
names a column whose values stand beside each other, ``series`` one whose values are told apart by marker and colour,
``names`` how values are written, ``xlabel`` and ``ylabel`` what the axes measure, with units. All figures have one
width, at which letters of nine points can still be read on a phone, and stay readable without colour. The label of a
figure is its alternative text, made from the table. Texts from data never become mathematics or markup.
"""

from __future__ import annotations

import functools
import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from evalkit import DataError
from evalkit.show.style import typeset
from evalkit.stats.terms import display_name

#: Letters and lines; lines beside the data and what recedes; what only parts or fills, and carries no meaning alone.
INK, GREY, LIGHT = "#1a1a1a", "#6b6b6b", "#d0d0d0"
#: Okabe and Ito's hues, as dark as marks on a page need to be (a contrast of 3), the first two apart in grey as well.
PALETTE = ("#005A93", "#D05800", "#00845F", "#B24F86", "#3C97D0", "#B97D00", INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "ooo")
#: Inches and points: a figure so wide, shrunk to the 350 pixels of a phone, has letters of 9 pixels.
WIDTH, LETTERS = 4.8, 9
#: How many values the alternative text tells.
TOLD = 14
#: Letters of a row's name, which is broken where it is longer.
NAME = 26
#: From how many values on a row of strips is crowded, and how few are dots even then.
CROWD, FEW = 250, 20

Drawn = TypeVar("Drawn", Axes, Figure)

HOUSE: dict[Any, Any] = {
    "axes.edgecolor": GREY,
    "axes.titlelocation": "left",
    "axes.titlesize": LETTERS,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "figure.labelsize": LETTERS + 0.5,
    "font.family": "DejaVu Sans",
    "font.size": LETTERS,
    "text.color": INK,
    "lines.linewidth": 1.5,
    "lines.markersize": 6.5,
    "legend.fontsize": LETTERS,
    "legend.frameon": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}


def house(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Decorate a plotting function so that it draws in the house style and leaves matplotlib's settings alone."""

    @functools.wraps(draw)
    def styled(*args: Any, **options: Any) -> Figure:
        if args and isinstance(args[0], pd.DataFrame) and args[0].empty:
            raise DataError("There is nothing to draw: no row is left. Choose values that the table has.")
        with mpl.rc_context(HOUSE):
            return draw(*args, **options)

    return styled


def literal(text: object) -> str:
    """Make a text from data safe in a figure: a dollar sign stays a dollar sign and never starts an equation.

    >>> print(literal("$x$ costs"))
    \\$x\\$ costs
    """
    return str(text).replace("$", r"\$")


def describe(drawn: Drawn, text: str) -> Drawn:
    """Leave on a figure what a reader who cannot see it needs to know, and return it; ``show.figure`` takes it.

    >>> describe(plt.figure(), "Two rising lines.").get_label()
    'Two rising lines.'
    """
    drawn.figure.get_figure(root=True).set_label(text)
    return drawn


@house
def forest(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    low: str | None = None,
    high: str | None = None,
    series: str | None = None,
    panels: str | None = None,
    order: Iterable[Any] | None = None,
    filled: str | None = None,
    mark: str | None = None,
    line: float | None = None,
    band: tuple[float, float] | None = None,
    log: bool = False,
    sharex: bool = True,
    **words: Any,
) -> Figure:
    """Draw estimates with their intervals, a row each.

    x, low, high: columns of estimates and ends of intervals; where only ``x`` is missing, both ends are marked. y: the
    column of rows, from top to bottom as in ``order`` or the table. filled: a column of truth values; marks where it is
    False are hollow. mark: a column of what rows are held against (an upright bar, which ``names`` may call otherwise).
    line, band: where an upright line, and a grey band, stand. log: whether the axis is logarithmic. sharex: whether
    panels have one axis.
    """
    places = list(dict.fromkeys(table[y] if order is None else order))
    at = {place: number for number, place in enumerate(places)}
    alone = not table.duplicated([column for column in (panels, y) if column]).any()
    seen = table[x].notna() if low is None else table[x].notna() | table[low].notna()
    kinds = _kinds(table[seen], series)
    spread = 0.0 if alone else 0.72 if low else 0.3
    height = max(_row(places, words.get("names")), 0.05 + 0.2 * spread * len(kinds))
    figure, drawn = _panels(table, panels, height=height * len(places), sharey=True, sharex=sharex, **words)
    for axes, part in drawn:
        if band:
            axes.axvspan(*band, color=LIGHT, lw=0)
        if line is not None:
            axes.axvline(line, color=GREY, lw=1, ls=":")
        for number, (rows, look) in enumerate(_apart(part, series, kinds, words.get("names"))):
            level = rows[y].map(at).to_numpy(float) + spread / len(kinds) * (number - (len(kinds) - 1) / 2)
            if low is not None:
                axes.hlines(level, rows[low], rows[high], color=look["color"], lw=2)
                ends = rows[x].isna().to_numpy()
                for end in (low, high):
                    axes.plot(rows.loc[ends, end], level[ends], "|", color=look["color"], ms=9, mew=1.6)
            solid = np.full(len(rows), number % 2 == 0) if filled is None else rows[filled].to_numpy(bool)
            keyed = "white" if filled is None and number % 2 else look["color"]
            for chosen, fill in ((solid, look["color"]), (~solid, "white")):
                own = look if fill == keyed else look | {"label": None}
                axes.plot(rows[x][chosen], level[chosen], ls="", **own, mfc=fill, mew=1.2)
        if mark:
            name = _called(mark, words.get("names"))
            axes.plot(part[mark], part[y].map(at), "|", color=INK, ms=12, mew=2.2, label=name)
        if log:
            _plain_log(axes, "x")
        _name_rows(axes, places, words.get("names"))
    return _finished(figure, table, [panels, y, series], x, low, high, **words)


@house
def lines(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    low: str | None = None,
    high: str | None = None,
    series: str | None = None,
    panels: str | None = None,
    marks: pd.DataFrame | None = None,
    target: float | None = None,
    at: float | None = None,
    spans: Iterable[float] = (),
    log: str = "",
    dots: bool = True,
    **words: Any,
) -> Figure:
    """Draw a line a series, with a band where there is an interval; a few lines in one panel are named at their ends.

    marks: a table of the same columns whose rows stand as marks, with intervals from ``low`` to ``high``. target, at:
    where a level and an upright line stand. spans: values of x that are shaded. log: which axes are logarithmic: x, y
    or xy. dots: whether points of lines are marked.
    """
    kinds = _kinds(table, series)
    figure, drawn = _panels(table, panels, height=1.6 if panels else 2.8, sharex=True, sharey=True, **words)
    named = series is not None and len(drawn) == 1 and len(kinds) <= 7
    for axes, part in drawn:
        last = []
        for number, (rows, look) in enumerate(_apart(part, series, kinds, words.get("names"))):
            if rows.empty:
                continue
            rows, every = rows.sort_values(x, kind="stable"), max(1, len(rows) // 8)
            own: dict[str, Any] = {"ls": LINES[number % 6], "markevery": (number % every, every), "mec": "white"}
            own |= ({} if dots else {"marker": ""}) | ({"label": None} if named else {})
            axes.plot(rows[x], rows[y], **look | own)
            if low is not None:
                axes.fill_between(rows[x], rows[low], rows[high], color=look["color"], alpha=0.15, lw=0)
            if marks is not None:
                seen = marks if series is None else marks[marks[series] == kinds[number]]
                seen = seen if panels is None else seen[seen[panels] == part[panels].iloc[0]]
                ends = [low or "low", high or "high"]
                known = set(ends) <= set(seen)
                reach = np.abs(seen[ends].to_numpy(float).T - seen[y].to_numpy(float)) if known else None
                axes.errorbar(seen[x], seen[y], yerr=reach, ls="", capsize=3, mec="white", **look | {"label": None})
            last.append((rows[x].iloc[-1], rows[y].iloc[-1], look["label"], look["color"]))
        for level, draw in ((target, axes.axhline), (at, axes.axvline)):
            if level is not None:
                draw(level, color=GREY, lw=1, ls=":")
        for axis in log:
            _plain_log(axes, axis)
        if "x" not in log and (table[x] % 1 == 0).all():  # there is no 2.5th sentence
            axes.locator_params(axis="x", integer=True)
        shaded = pd.Series(list(spans), dtype=float).sort_values()
        for _, run in shaded.groupby((shaded.diff() > 1).cumsum()):
            axes.axvspan(run.min() - 0.5, run.max() + 0.5, color=LIGHT, alpha=0.6, lw=0)
        if named:
            _name_ends(axes, last)
    keyed, ordered = [column for column in (panels, series) if column], table.sort_values(x, kind="stable")
    ends = ordered.groupby(keyed, sort=False, observed=True).tail(1) if keyed else ordered.tail(1)
    return _finished(figure, ends, [panels, series, x], y, low, high, **words)


@house
def scatter(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    panels: str | None = None,
    label: str | None = None,
    diagonal: bool = False,
    fit: bool = False,
    **words: Any,
) -> Figure:
    """Draw a mark a row; the alternative text tells the correlation.

    label: a column of short names beside marks. diagonal: whether a line of equality is drawn, fit: whether one of
    least squares.
    """
    height = 3.6 if panels is None else 2.6 if label else 1.8
    figure, drawn = _panels(table, panels, height=height, sharex=True, sharey=True, **words)
    told = []
    for axes, part in drawn:
        size = 6 if len(part) < 100 else 3.5
        axes.plot(part[x], part[y], "o", color=PALETTE[0], ms=size, mec="white", mew=0.4, alpha=0.8)
        if diagonal:
            axes.axline((part[x].min(), part[x].min()), slope=1, color=GREY, lw=1, ls=":")
        if fit:
            sns.regplot(data=part, x=x, y=y, ax=axes, scatter=False, ci=None, color=GREY, line_kws={"lw": 1.2})
            axes.set(xlabel="", ylabel="")
        name = f"{part[panels].iloc[0]}: " if panels else ""
        told.append(f"{name}{len(part):,} points, Pearson's r {part[x].corr(part[y]):.2f}")
    _finished(figure, table.head(0), [], x, about=f"{'; '.join(told)}.", **words)
    if label:
        figure.draw_without_rendering()  # where marks stand is known once axes have their places
        for axes, part in drawn:
            _name_marks(axes, part[[x, y]].to_numpy(float), part[label].astype(str))
    return figure


@house
def strips(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    series: str | None = None,
    panels: str | None = None,
    order: Iterable[Any] | None = None,
    line: float | None = None,
    middle: str = "median",
    **words: Any,
) -> Figure:
    """Draw every value of a row as a dot, and their median, or ``middle``, as a bar; rows and ``line`` as in forest.

    Where some row has more than 250 values, rows of twenty or more are outlines in place of dots.
    """
    places, kinds = list(dict.fromkeys(table[y] if order is None else order)), _kinds(table, series)
    keys = [column for column in (panels, y, series) if column]
    crowded = table.groupby(keys, observed=True).size().max() > CROWD
    height = max(_row(places, words.get("names")), 0.14 + 0.2 * len(kinds)) * len(places)
    figure, drawn = _panels(table, panels, height=height, sharex=True, sharey=True, **words)
    for axes, part in drawn:
        if line is not None:
            axes.axvline(line, color=GREY, lw=1, ls=":")
        for number, (own, look) in enumerate(_apart(part, series, kinds, words.get("names"))):
            axes.plot([], [], ls="", **look)  # for the key
            for place, name in enumerate(places):
                values = np.sort(own.loc[own[y] == name, x].dropna())
                if not len(values):
                    continue
                level = place + 0.8 / len(kinds) * (number - (len(kinds) - 1) / 2)
                if crowded and len(values) >= FEW and values[0] < values[-1]:
                    size: dict[str, Any] = {"orientation": "horizontal", "widths": 0.85 / len(kinds)}
                    shape: Any = axes.violinplot(values, [level], showextrema=False, **size)
                    shape["bodies"][0].set(facecolor=look["color"], edgecolor=INK, alpha=0.4)
                else:
                    wave = 0.25 / len(kinds) * np.sin(2.4 * np.arange(len(values)))  # neighbours stand apart
                    dot = look | {"ms": 4.5 if len(values) < 60 else 3, "label": None}
                    axes.plot(values, level + wave, ls="", mec="white", mew=0.4, alpha=0.75, **dot)
                centre = getattr(np, middle)(values)
                axes.plot([centre] * 2, [level - 0.36 / len(kinds), level + 0.36 / len(kinds)], color=INK, lw=2.2)
        _name_rows(axes, places, words.get("names"))
    centres = table.groupby(keys, sort=False, observed=True)[x].agg(middle).reset_index()
    return _finished(figure, centres, keys, x, **words)


@house
def histogram(
    table: pd.DataFrame,
    *,
    x: str,
    series: str | None = None,
    panels: str | None = None,
    bins: Any = 20,
    line: float | None = None,
    **words: Any,
) -> Figure:
    """Draw how values are spread, in shares of their series; the second series is hatched.

    bins: as seaborn's ``histplot`` takes them. line: where an upright line stands.
    """
    kinds = _kinds(table, series)
    figure, drawn = _panels(table, panels, height=1.5 if panels else 2.4, sharex=True, sharey=True, **words)
    edges = np.histogram_bin_edges(table[x].dropna(), bins)
    for axes, part in drawn:
        for hatch, (own, look) in zip(HATCHES, _apart(part, series, kinds, words.get("names"))):
            steps = {"stat": "proportion", "element": "step", "hatch": hatch, "lw": 1.2, "alpha": 0.3}
            sns.histplot(own, x=x, bins=edges, ax=axes, color=look["color"], label=look["label"], **steps)
        if line is not None:
            axes.axvline(line, color=INK, lw=1, ls=":")
        axes.set(xlabel="", ylabel="")
    keys = [column for column in (panels, series) if column]
    means = table.groupby(keys or np.zeros(len(table)), sort=False, observed=True)[x].mean().reset_index()
    words = {"ylabel": "share"} | words
    return _finished(figure, means, keys, x, about="Means:", **words)


@house
def bars(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    series: str | None = None,
    panels: str | None = None,
    shades: bool = False,
    percent: bool = True,
    **words: Any,
) -> Figure:
    """Draw bars, a row each, cut into the parts that ``series`` names. shades: from light to dark, where parts have an
    order. percent: whether values are shares; those that have room are written in.
    """
    kinds, places = _kinds(table, series), list(dict.fromkeys(table[y]))
    height = max(0.28, _row(places, words.get("names"))) * len(places)
    figure, drawn = _panels(table, panels, height=height, columns=1, sharex=True, sharey=True, **words)
    tints, hues = sns.light_palette(PALETTE[0], len(kinds)), [LIGHT, *PALETTE]
    colours: list[Any] = tints if shades else [hues[number % 8] for number in range(len(kinds))]
    hatches = [""] * len(kinds) if shades else [HATCHES[number % 7] for number in range(len(kinds))]
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    told: dict[str, Any] = {"color": INK, "bbox": box, "ha": "center", "va": "center"}
    for axes, part in drawn:
        left = np.zeros(len(places))
        for (own, look), colour, hatch in zip(_apart(part, series, kinds, words.get("names")), colours, hatches):
            width = own.set_index(y)[x].reindex(places).fillna(0).to_numpy(float)
            looks = {"color": colour, "hatch": hatch, "edgecolor": INK, "lw": 0.6, "label": look["label"]}
            axes.barh(range(len(places)), width, 0.75, left, **looks)
            for place, value in enumerate(width):
                if percent and value > 0.09:
                    axes.text(left[place] + value / 2, place, f"{value:.0%}", **told)
            left += width
        if percent:
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.margins(x=0)
        _name_rows(axes, places, words.get("names"))
    return _finished(figure, table, [panels, y, series], x, **words)


@house
def heat(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    value: str,
    text: str,
    panels: str | None = None,
    dark: str = "high",
    **words: Any,
) -> Figure:
    """Draw a shaded table: a row a value of ``y``, a column a value of ``x``, in the table's order.

    value: a column of numbers that are shaded, the darker the higher, or the lower where ``dark`` is "low". text: a
    column of what is written in the cells.
    """
    across, down = (list(dict.fromkeys(table[column])) for column in (x, y))
    spoken = _spoken(across, words.get("names"), 14 if len(across) < 10 else 30)
    upright = len(across) > 5 or max(map(len, spoken)) * len(across) > 60
    most = max((len(row) for name in spoken for row in name.split("\n")), default=0)
    lines_high = 0.13 + 0.16 * max(str(one).count("\n") + 1 for one in table[text])
    height = max(0.24, lines_high) * len(down) + (0.08 * most if upright else 0.3)
    figure, drawn = _panels(table, panels, height=height, columns=1, sharex=True, sharey=True, **words)
    greys = ["white", "#9a9a9a"]  # dark ink can be read on all of them
    shades = mpl.colors.LinearSegmentedColormap.from_list("greys", greys if dark == "high" else greys[::-1])
    looks = {"vmin": table[value].min(), "vmax": table[value].max(), "cmap": shades, "cbar": False, "linewidths": 1}
    looks |= {"fmt": "", "annot_kws": {"color": INK, "size": LETTERS}}
    for axes, part in drawn:
        wide = part.pivot(index=y, columns=x, values=value).reindex(index=down, columns=across).astype(float)
        written = part.pivot(index=y, columns=x, values=text).reindex_like(wide).map(literal, na_action="ignore")
        sns.heatmap(wide, annot=written, ax=axes, **looks)
        axes.set(xlabel="", ylabel="")
        axes.set_xticks(np.arange(len(across)) + 0.5, spoken, rotation=90 * upright)
        axes.set_yticks(np.arange(len(down)) + 0.5, _spoken(down, words.get("names")), rotation=0)
        axes.tick_params(length=0)
    ordered = table.sort_values(value, ascending=dark == "low", kind="stable")
    return _finished(figure, ordered, [panels, y, x], value, **words)


@house
def hexbins(table: pd.DataFrame, *, x: str, y: str, **words: Any) -> Figure:
    """Draw how many rows have which two values: hexagons, the darker the more."""
    figure, [(axes, _)] = _panels(table, None, height=3.4, **words)
    shades = mpl.colors.ListedColormap(plt.get_cmap("Greys")(np.linspace(0.25, 1, 256)))  # a single row shows, too
    axes.hexbin(table[x], table[y], gridsize=22, cmap=shades, mincnt=1, bins="log", lw=0.1)
    told = f"{len(table):,} rows, Spearman's rho {table[x].corr(table[y], method='spearman'):.2f}."
    return _finished(figure, table.head(0), [], x, about=told, **words)


@house
def score_strips(table: pd.DataFrame, *, ticks: Iterable[float] = (), **words: Any) -> Figure:
    """Draw a strip of grey an annotator, the darker, the more scores lie there; triangles are means, highest on top.

    table: annotator and score, from 0 to 100, which is cut into fifty steps. ticks: where dotted lines stand, such as a
    slider's.
    """
    if not table["score"].between(0, 100).all():
        raise DataError("Some scores are outside 0-100. Stretch them to 0 to 100 first.")
    means = table.groupby("annotator")["score"].mean().sort_values()
    row = _row(means.index, words.get("names")) - 0.04
    figure, [(axes, _)] = _panels(table, None, height=row * len(means), **words)
    edges = np.linspace(0, 100, 51)
    own = (table.loc[table["annotator"] == name, "score"] for name in means.index)
    counts = np.array([np.histogram(scores, bins=edges)[0] for scores in own])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.pcolormesh(edges, np.arange(len(means) + 1), np.sqrt(shares), cmap="Greys", vmin=0, vmax=0.7)
    axes.hlines(np.arange(1, len(means)), 0, 100, color="white", lw=0.8)
    axes.plot(means, np.arange(len(means)) + 0.5, "v", color=PALETTE[1], ms=5, mec="white", mew=0.6)
    for tick in ticks:
        axes.axvline(tick, color=PALETTE[0], lw=0.7, ls=":")
    axes.set_yticks(np.arange(len(means)) + 0.5, _spoken(means.index, words.get("names")))
    axes.tick_params(axis="y", length=0)
    words = {"xlabel": "score (0 to 100)", "ylabel": "annotator"} | words
    return _finished(figure, means[::-1].reset_index(), ["annotator"], "score", about="Means:", **words)


@house
def rank_moves(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    series: str,
    bold: Iterable[Any],
    clusters: str,
    panels: str | None = None,
    **words: Any,
) -> Figure:
    """Draw how places change from column to column, the best on top: a line a series, its name at the left.

    x: the column of rankings, in the table's order. y: places, from 1. bold: series that stand out. clusters: a column;
    a short bar stands where it changes. A circle has the place that the series has under the first ranking.
    """
    across, bold = list(dict.fromkeys(table[x])), list(bold)
    height = 0.25 * table[y].max() + 0.5
    figure, drawn = _panels(table, panels, height=height, columns=1, sharex=True, sharey=False, **words)
    for axes, part in drawn:
        wide = part.pivot(index=series, columns=x, values=y).reindex(columns=across).sort_values(across[0])
        for name, places in wide.iterrows():
            number = bold.index(name) if name in bold else None
            looks = (GREY, "-", 0.9) if number is None else (PALETTE[number % 7], LINES[number % 6], 2.2)
            colour, line, width = looks
            weight = "normal" if number is None else "bold"
            axes.plot(range(len(across)), places, color=colour, ls=line, lw=width, zorder=1)
            axes.plot(range(len(across)), places, "o", ms=14, mfc="white", mec=colour, zorder=2)  # over all lines
            for place, level in enumerate(places):
                axes.text(place, level, f"{places.iloc[0]:.0f}", ha="center", va="center_baseline", weight=weight)
        for place, ranking in enumerate(across):
            own = part[part[x] == ranking].sort_values(y)
            ends = own.loc[own[clusters].ne(own[clusters].shift(-1)), y].iloc[:-1] + 0.5
            axes.hlines(ends, place - 0.3, place + 0.3, color=INK, lw=1.6)
        axes.set(xlim=(-0.4, len(across) - 0.6), ylim=(wide.max(axis=None) + 0.7, 0.3))
        axes.set_yticks(wide[across[0]], _spoken(wide.index, words.get("names")))
        letters, called = 42 // max(3, len(across)), [_called(name, words.get("names")) for name in across]
        spoken = [textwrap.fill(name, letters, break_long_words=False) for name in called]
        axes.set_xticks(range(len(across)), spoken, rotation=90 * (len(across) > 5))
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    ends = table[table[x].isin([across[0], across[-1]])].sort_values(y, kind="stable")
    return _finished(figure, ends, [panels, series, x], y, **words)


def _kinds(table: pd.DataFrame, series: str | None) -> list[Any]:
    return [None] if series is None else list(dict.fromkeys(table[series]))


def _called(name: object, names: Mapping[Any, str] | None) -> str:
    return literal((names or {}).get(name, name))


def _apart(
    part: pd.DataFrame, series: str | None, kinds: Sequence[Any], names: Mapping[Any, str] | None
) -> Iterator[tuple[pd.DataFrame, dict[str, Any]]]:
    """Yield the rows of each kind, with its colour and marker, and what the key calls it if there are several."""
    for number, kind in enumerate(kinds):
        look = {"color": PALETTE[number % 7], "marker": MARKERS[number % 7]}
        rows = part if series is None else part[part[series] == kind]
        yield rows, look | {"label": None if series is None else _called(kind, names)}


def _panels(
    table: pd.DataFrame,
    panels: str | None,
    *,
    height: float,
    columns: int = 2,
    names: Mapping[Any, str] | None = None,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    **shared: Any,
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """Return a figure and its panels with the rows of each; ``height`` is a panel's, in inches."""
    parts = {None: table} if panels is None else dict(iter(table.groupby(panels, sort=False, observed=True)))
    across = min(columns, len(parts))
    down = -(-len(parts) // across)
    titles = {} if panels is None else {name: textwrap.fill(_called(name, names), 36 // across) for name in parts}
    above = 0.2 + 0.16 * max((title.count("\n") + 1 for title in titles.values()), default=1)
    tall = (height + above) * down + 0.55 + 0.16 * (bool(title) + xlabel.count("\n"))
    figure, grid = plt.subplots(down, across, figsize=(WIDTH, tall), squeeze=False, **shared)
    for place, axes in enumerate(grid.flat):
        if place >= len(parts):
            axes.set_axis_off()
            grid.flat[place - across].tick_params(labelbottom=True)
    drawn = list(zip(grid.flat, parts.values(), strict=False))
    for (axes, _), name in zip(drawn, parts, strict=True):
        axes.set_title(titles.get(name, ""))
    return figure, drawn


def _row(places: Iterable[Any], names: Mapping[Any, str] | None) -> float:
    """Return how high a row must be for its name, which may be broken, in inches."""
    return 0.09 + 0.15 * max(name.count("\n") + 1 for name in _spoken(places, names))


def _spoken(places: Iterable[Any], names: Mapping[Any, str] | None, letters: int = NAME) -> list[str]:
    """Write names, the long ones in up to three lines."""
    return [textwrap.fill(_called(place, names), letters, max_lines=3, placeholder="…") for place in places]


def _name_rows(axes: Axes, places: Sequence[Any], names: Mapping[Any, str] | None) -> None:
    """Write names at the left, the first on top; long ones are broken."""
    axes.set_yticks(range(len(places)), _spoken(places, names))
    axes.set_ylim(len(places) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    if axes.get_xscale() == "linear":
        spec = axes.get_subplotspec()
        axes.xaxis.set_major_locator(MaxNLocator(5 if spec is None or spec.get_gridspec().ncols == 1 else 3))


def _plain_log(axes: Axes, axis: str) -> None:
    """Make an axis logarithmic, with plain numbers at 1, 2 and 5."""
    axes.set(**{f"{axis}scale": "log"})
    one = axes.xaxis if axis == "x" else axes.yaxis
    one.set_major_locator(LogLocator(subs=(1, 2, 5)))
    one.set_major_formatter(StrMethodFormatter("{x:,g}"))
    one.set_minor_formatter(NullFormatter())


def _name_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Write lines' names right of the panel at their ends, apart from each other."""
    limits = axes.get_ylim()
    to_panel = axes.transScale + axes.transLimits
    ends = sorted(ends, key=lambda end: end[1])
    heights = [float(to_panel.transform((x, y))[1]) for x, y, _, _ in ends]
    apart = itertools.accumulate(heights, lambda below, height: max(height, below + 0.07))
    levels = np.array(list(apart))
    for (*_, name, colour), level in zip(ends, levels - np.mean(levels - heights), strict=True):
        dark = tuple(0.8 * np.array(to_rgb(colour)))  # words in it have a contrast of 4.5 with the page
        at: dict[str, Any] = {"xycoords": "axes fraction", "va": "center", "annotation_clip": False}
        axes.annotate(textwrap.fill(name, 20), (1.02, level), color=dark, **at)
    axes.set_ylim(limits)


def _name_marks(axes: Axes, places: np.ndarray, names: Iterable[str]) -> None:
    """Write short names beside marks, each on the side where it covers least of other marks, names and the edges."""
    per_point = axes.figure.dpi / 72
    marks, panel = axes.transData.transform(places) / per_point, np.reshape(axes.bbox.extents, (2, 2)) / per_point
    taken = np.stack([marks - 4, marks + 4], axis=1)  # boxes: lower left corner, upper right corner
    for (x, y), mark, name in zip(places, marks, names, strict=True):
        size = np.array([0.65 * LETTERS * len(name), LETTERS + 1])
        options: list[tuple[Any, ...]] = []
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            middle = mark + [right, up] * (size / 2 + [5 - 2 * abs(up), 4 - 2 * abs(right)])
            box = np.stack([middle - size / 2, middle + size / 2])
            shared = np.minimum(taken[:, 1], box[1]) - np.maximum(taken[:, 0], box[0])
            inside = np.clip(np.minimum(panel[1], box[1]) - np.maximum(panel[0], box[0]), 0, None).prod()
            covered = np.clip(shared, 0, None).prod(axis=1).sum() + size.prod() - inside
            options.append((covered, len(options), middle - mark, box))
        *_, aside, box = min(options, key=lambda option: option[:2])
        taken = np.concatenate([taken, box[None]])
        at: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "center"}
        axes.annotate(literal(name), (x, y), xytext=tuple(aside), **at)


def _finished(
    figure: Figure,
    told: pd.DataFrame,
    keys: Sequence[str | None],
    value: str,
    low: str | None = None,
    high: str | None = None,
    *,
    about: str = "",
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    names: Mapping[Any, str] | None = None,
) -> Figure:
    """Give a figure its title, the key of what was drawn with a label, names of axes and alternative text."""
    figure.supxlabel(literal(textwrap.fill(xlabel, 62)))
    figure.supylabel(literal(textwrap.fill(ylabel, max(24, int(12 * figure.get_figheight())))))
    labelled = (axes.get_legend_handles_labels() for axes in figure.axes)
    _legend(figure, {label: one for drawn, labels in labelled for one, label in zip(drawn, labels, strict=True)}, title)
    keyed = [key for key in keys if key]
    return describe(figure, " ".join(filter(None, [_sentence(title), about, _in_words(told, keyed, value, low, high)])))


def _sentence(title: str) -> str:
    return title if not title or title[-1] in ".?!" else f"{title}."


def _legend(figure: Figure, drawn: Mapping[str, Any], title: str) -> None:
    """Put the title above the panels, and below it the keys, as many side by side as there is room for."""
    if not drawn and not title:
        return
    columns = max(1, min(len(drawn), 64 // (max(map(len, drawn), default=1) + 6)))
    bold = {"weight": "bold", "size": LETTERS + 1.5}
    figure.set_figheight(figure.get_figheight() + 0.18 * -(-len(drawn) // columns))
    options: dict[str, Any] = {"alignment": "left", "borderpad": 0, "borderaxespad": 0.3, "handlelength": 1.6}
    options |= {"title": literal(textwrap.fill(typeset(title), 46)) or None, "title_fontproperties": bold}
    figure.legend(drawn.values(), drawn.keys(), loc="outside upper left", ncols=columns, **options)


def _in_words(table: pd.DataFrame, keys: Sequence[str], value: str, low: str | None, high: str | None) -> str:
    """Say a small table in a sentence.

    >>> _in_words(pd.DataFrame({"system": ["A"], "z": [0.25], "l": [0.1], "h": [0.4]}), ["system"], "z", "l", "h")
    'A: 0.25 (0.1 to 0.4).'
    """
    said = []
    for row in table.head(TOLD).to_dict("records"):
        number = f"{row[value]:.3g}" if pd.notna(row[value]) else ""
        between = f" ({row[low]:.3g} to {row[high]:.3g})" if low and high and pd.notna(row[low]) else ""
        name = ", ".join(
            f"{display_name(key)} {row[key]:g}" if isinstance(row[key], float) else str(row[key]) for key in keys
        )
        said.append(f"{name}: {number}{between}".strip(": "))
    more = f"; and {len(table) - TOLD} more" if len(table) > TOLD else ""
    return f"{'; '.join(said)}{more}." if said else ""
