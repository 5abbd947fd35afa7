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
from collections.abc import Callable, Iterable, Mapping, Sequence
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

__all__ = [
    "GREY",
    "INK",
    "LIGHT",
    "LINES",
    "MARKERS",
    "PALETTE",
    "WIDTH",
    "bars",
    "describe",
    "forest",
    "heat",
    "hexbins",
    "histogram",
    "house",
    "lines",
    "literal",
    "rank_moves",
    "scatter",
    "score_strips",
    "strips",
    "words_on",
]

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
    parted: str | None = None,
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
    False are hollow. parted: a column; a line stands between rows where it changes. mark: a column of what rows held
    against (an upright bar, which ``names`` may call otherwise). line, band: where an upright line
    and a grey band, stand. log: whether the axis is logarithmic. sharex: whether panels have one axis.
    """
    places = list(dict.fromkeys(table[y] if order is None else order))
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
        for number, kind in enumerate(kinds):
            rows = part if series is None else part[part[series] == kind]
            level = rows[y].map({place: n for n, place in enumerate(places)}).to_numpy(float)
            level += spread / len(kinds) * (number - (len(kinds) - 1) / 2)
            look = _look(number)
            if low is not None:
                axes.hlines(level, rows[low], rows[high], color=look["color"], lw=2)
                ends = rows[x].isna().to_numpy()
                for end in (low, high):
                    axes.plot(rows.loc[ends, end], level[ends], "|", color=look["color"], ms=9, mew=1.6)
            solid = np.full(len(rows), number % 2 == 0) if filled is None else rows[filled].to_numpy(bool)
            for chosen, fill in ((solid, look["color"]), (~solid, "white")):
                axes.plot(rows[x][chosen], level[chosen], ls="", **look, mfc=fill, mew=1.2)
        if mark:
            level = part[y].map({place: n for n, place in enumerate(places)})
            axes.vlines(part[mark], level - 0.36, level + 0.36, color=INK, lw=2.2)
        if parted:
            changes = part.drop_duplicates(y).set_index(y)[parted].reindex(places)
            for place in np.flatnonzero(changes.ne(changes.shift()).to_numpy())[1:]:
                axes.axhline(place - 0.5, color=GREY, lw=0.8)
        if log:
            _plain_log(axes, "x")
        _name_rows(axes, places, words.get("names"))
    name = _called(mark, words.get("names"))
    bar = mpl.lines.Line2D([], [], ls="", marker="|", ms=10, mew=2.2, color=INK, label=name)
    words |= {"kinds": kinds if series else [], "marks": filled is None, "handles": [bar] if mark else []}
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
    upside_down: bool = False,
    sharey: bool = True,
    dots: bool = True,
    steps: Sequence[tuple[float, str]] = (),
    **words: Any,
) -> Figure:
    """Draw a line a series, with a band where there is an interval; a few lines in one panel are named at their ends.

    marks: a table of the same columns whose rows stand as marks, with intervals from ``low`` to ``high``. target, at:
    where a level and an upright line stand. spans: values of x that are shaded. log: which axes are logarithmic: x, y
    or xy. upside_down: whether low values are on top. dots: whether points of lines are marked. steps: ticks of x and
    their names.
    """
    kinds = _kinds(table, series)
    figure, drawn = _panels(table, panels, height=1.6 if panels else 2.8, sharey=sharey, sharex=True, **words)
    named = series is not None and len(drawn) == 1 and len(kinds) <= 7
    for axes, part in drawn:
        last = []
        for number, kind in enumerate(kinds):
            rows = (part if series is None else part[part[series] == kind]).sort_values(x, kind="stable")
            if rows.empty:
                continue
            look, every = _look(number), max(1, len(rows) // 8)
            if not dots:
                look["marker"] = ""
            axes.plot(rows[x], rows[y], ls=LINES[number % 6], markevery=(number % every, every), mec="white", **look)
            if low is not None:
                axes.fill_between(rows[x], rows[low], rows[high], color=look["color"], alpha=0.15, lw=0)
            if marks is not None:
                own = marks if series is None else marks[marks[series] == kind]
                own = own if panels is None else own[own[panels] == part[panels].iloc[0]]
                ends = [low or "low", high or "high"]
                reach = np.abs(own[ends].to_numpy(float).T - own[y].to_numpy(float)) if set(ends) <= set(own) else None
                axes.errorbar(own[x], own[y], yerr=reach, ls="", capsize=3, **_look(number), mec="white")
            last.append((rows[x].iloc[-1], rows[y].iloc[-1], _called(kind, words.get("names")), look["color"]))
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
        if steps:
            axes.set_xticks([place for place, _ in steps], [literal(name) for _, name in steps])
        if upside_down:
            axes.set_ylim(part[y].max() + 0.4, part[y].min() - 0.4)
        if named:
            _name_ends(axes, last)
    keyed, ordered = [column for column in (panels, series) if column], table.sort_values(x, kind="stable")
    ends = ordered.groupby(keyed, sort=False, observed=True).tail(1) if keyed else ordered.tail(1)
    keys = [] if named or series is None else kinds
    return _finished(figure, ends, [panels, series, x], y, low, high, kinds=keys, styles=LINES, **words)


@house
def scatter(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    series: str | None = None,
    panels: str | None = None,
    label: str | None = None,
    diagonal: bool = False,
    fit: bool = False,
    sharey: bool = True,
    **words: Any,
) -> Figure:
    """Draw a mark a row; the alternative text tells the correlation.

    label: a column of short names beside marks. diagonal: whether a line of equality is drawn, fit: whether one of
    least squares. sharey: whether panels have one vertical axis.
    """
    kinds = _kinds(table, series)
    height = 3.6 if panels is None else 2.6 if label else 1.8
    figure, drawn = _panels(table, panels, height=height, sharex=True, sharey=sharey, **words)
    told = []
    for axes, part in drawn:
        for number, kind in enumerate(kinds):
            rows = part if series is None else part[part[series] == kind]
            look = _look(number) | {"ms": 6 if len(rows) < 100 else 3.5}
            axes.plot(rows[x], rows[y], ls="", mec="white", mew=0.4, alpha=0.8, **look)
        if diagonal:
            axes.axline((part[x].min(), part[x].min()), slope=1, color=GREY, lw=1, ls=":")
        if fit:
            sns.regplot(data=part, x=x, y=y, ax=axes, scatter=False, ci=None, color=GREY, line_kws={"lw": 1.2})
            axes.set(xlabel="", ylabel="")
        name = f"{part[panels].iloc[0]}: " if panels else ""
        told.append(f"{name}{len(part):,} points, Pearson's r {part[x].corr(part[y]):.2f}")
    figure = _finished(figure, table.head(0), [], x, kinds=kinds if series else [], marks=False, **words)
    if label:
        figure.draw_without_rendering()  # where marks stand is known once axes have their places
        for axes, part in drawn:
            _name_marks(axes, part[[x, y]].to_numpy(float), part[label].astype(str))
    return describe(figure, f"{figure.get_label()} {'; '.join(told)}.")


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
    figure, drawn = _panels(
        table,
        panels,
        height=max(_row(places, words.get("names")), 0.14 + 0.2 * len(kinds)) * len(places),
        sharex=True,
        sharey=True,
        **words,
    )
    for axes, part in drawn:
        if line is not None:
            axes.axvline(line, color=GREY, lw=1, ls=":")
        for number, kind in enumerate(kinds):
            own = part if series is None else part[part[series] == kind]
            for place, name in enumerate(places):
                values = np.sort(own.loc[own[y] == name, x].dropna())
                if not len(values):
                    continue
                level = place + 0.8 / len(kinds) * (number - (len(kinds) - 1) / 2)
                look = _look(number) | {"ms": 4.5 if len(values) < 60 else 3}
                if crowded and len(values) >= FEW and values[0] < values[-1]:
                    wide = 0.85 / len(kinds)
                    shape: Any = axes.violinplot(
                        values, [level], orientation="horizontal", widths=wide, showextrema=False
                    )
                    shape["bodies"][0].set(facecolor=look["color"], edgecolor=INK, alpha=0.4)
                else:
                    wave = 0.25 / len(kinds) * np.sin(2.4 * np.arange(len(values)))  # neighbours stand apart
                    axes.plot(values, level + wave, ls="", mec="white", mew=0.4, alpha=0.75, **look)
                centre = getattr(np, middle)(values)
                axes.plot([centre] * 2, [level - 0.36 / len(kinds), level + 0.36 / len(kinds)], color=INK, lw=2.2)
        _name_rows(axes, places, words.get("names"))
    centres = table.groupby(keys, sort=False, observed=True)[x].agg(middle).reset_index()
    return _finished(figure, centres, keys, x, kinds=kinds if series else [], marks=False, **words)


@house
def histogram(
    table: pd.DataFrame,
    *,
    x: str,
    series: str | None = None,
    panels: str | None = None,
    bins: Any = 20,
    line: float | None = None,
    share: bool = True,
    height: float = 1.5,
    columns: int = 2,
    **words: Any,
) -> Figure:
    """Draw how values are spread, in shares of their series; the second series is hatched.

    bins: as seaborn's ``histplot`` takes them. line: where an upright line stands. share: whether panels have one
    vertical axis. height: of a panel, inches.
    """
    kinds = _kinds(table, series)
    figure, drawn = _panels(table, panels, height=height, columns=columns, sharex=True, sharey=share, **words)
    edges = np.histogram_bin_edges(table[x].dropna(), bins)
    for axes, part in drawn:
        for number, kind in enumerate(kinds):
            own = part if series is None else part[part[series] == kind]
            look = {"color": _look(number)["color"], "hatch": HATCHES[number], "lw": 1.2}
            sns.histplot(own, x=x, bins=edges, stat="proportion", element="step", alpha=0.3, ax=axes, **look)
        if line is not None:
            axes.axvline(line, color=INK, lw=1, ls=":")
        axes.set(xlabel="", ylabel="")
    keys = [column for column in (panels, series) if column]
    means = (
        table.groupby(keys, sort=False, observed=True)[x].mean().reset_index()
        if keys
        else table[[x]].mean().to_frame().T
    )
    words = {"ylabel": "share"} | words
    return _finished(figure, means, keys, x, kinds=kinds if series else [], hatched=True, about="Means:", **words)


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
    kinds = _kinds(table, series)
    places = list(dict.fromkeys(table[y]))
    figure, drawn = _panels(table, panels, height=0.28 * len(places), columns=1, sharex=True, sharey=True, **words)
    tints: list[Any] = [faint(PALETTE[0], depth) for depth in np.linspace(0.08, 0.95, len(kinds))]
    colours: list[Any] = tints if shades else [(LIGHT, *PALETTE)[number % 8] for number in range(len(kinds))]
    hatches = [""] * len(kinds) if shades else [HATCHES[number % 7] for number in range(len(kinds))]
    for axes, part in drawn:
        left = np.zeros(len(places))
        for kind, colour, hatch in zip(kinds, colours, hatches, strict=True):
            own = part if series is None else part[part[series] == kind]
            width = own.set_index(y)[x].reindex(places).fillna(0).to_numpy(float)
            axes.barh(
                range(len(places)), width, left=left, height=0.75, color=colour, hatch=hatch, edgecolor=INK, lw=0.6
            )
            for place, (start, value) in enumerate(zip(left, width, strict=True)):
                if percent and value > 0.09:
                    told = words_on(colour) if not hatch else words_on("grey")
                    axes.text(start + value / 2, place, f"{value:.0%}", ha="center", va="center", **told)
            left += width
        if percent:
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.margins(x=0)
        _name_rows(axes, places, words.get("names"))
    handles = [
        mpl.patches.Patch(facecolor=colour, hatch=hatch, edgecolor=INK, lw=0.6, label=_called(kind, words.get("names")))
        for kind, colour, hatch in zip(kinds, colours, hatches, strict=True)
    ]
    return _finished(figure, table, [panels, y, series], x, handles=handles if series else [], **words)


@house
def heat(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    value: str,
    text: str | None = None,
    panels: str | None = None,
    fmt: str = ".2f",
    columns: int = 1,
    dark: str = "high",
    **words: Any,
) -> Figure:
    """Draw a shaded table: a row a value of ``y``, a column a value of ``x``, in the table's order.

    value: a column of numbers that are shaded, the darker the higher, or the lower where ``dark`` is "low". text: a
    column of what is written in the cells; the number by default, as ``fmt`` has it.
    """
    across, down = (list(dict.fromkeys(table[column])) for column in (x, y))
    spoken = [
        textwrap.fill(_called(name, words.get("names")), 14 if len(across) < 10 else 30, max_lines=3) for name in across
    ]
    upright = len(across) > 5 or max(map(len, spoken)) * len(across) > 60
    most = max((len(row) for name in spoken for row in name.split("\n")), default=0)
    lines_high = 0.2 if text is None else 0.13 + 0.16 * max(str(one).count("\n") + 1 for one in table[text])
    height = max(0.24, lines_high) * len(down) + (0.08 * most if upright else 0.3)
    figure, drawn = _panels(table, panels, height=height, columns=columns, sharex=True, sharey=True, **words)
    greys = ["white", "#9a9a9a"]  # dark ink can be read on all of them
    shades = mpl.colors.LinearSegmentedColormap.from_list("greys", greys if dark == "high" else greys[::-1])
    ends = table[value].min(), table[value].max()
    for axes, part in drawn:
        wide = part.pivot(index=y, columns=x, values=value).reindex(index=down, columns=across).astype(float)
        written = wide if text is None else part.pivot(index=y, columns=x, values=text).reindex_like(wide)
        sns.heatmap(wide, vmin=ends[0], vmax=ends[1], cmap=shades, cbar=False, linewidths=1, ax=axes)
        for row, column in np.ndindex(*wide.shape):
            one = written.iloc[row, column]
            if pd.notna(one):
                said = literal(one) if text else f"{one:{fmt}}"
                axes.text(column + 0.5, row + 0.5, said, ha="center", va="center")
        axes.set(xlabel="", ylabel="")
        axes.set_xticks(np.arange(len(across)) + 0.5, spoken, rotation=90 * upright)
        axes.set_yticks(np.arange(len(down)) + 0.5, _spoken(down, words.get("names")), rotation=0)
        axes.tick_params(length=0)
    ordered = table.sort_values(value, ascending=dark == "low", kind="stable")
    return _finished(figure, ordered, [panels, y, x], value, **words)


@house
def hexbins(table: pd.DataFrame, *, x: str, y: str, panels: str | None = None, **words: Any) -> Figure:
    """Draw how many rows have which two values: hexagons, the darker the more, each panel with its own y-axis."""
    figure, drawn = _panels(table, panels, height=1.7 if panels else 3.4, sharex=True, **words)
    shades = mpl.colors.ListedColormap(plt.get_cmap("Greys")(np.linspace(0.25, 1, 256)))  # a single row shows, too
    told = []
    for axes, part in drawn:
        axes.hexbin(part[x], part[y], gridsize=22, cmap=shades, mincnt=1, bins="log", lw=0.1)
        name = f"{part[panels].iloc[0]}: " if panels else ""
        told.append(f"{name}{len(part):,} rows, Spearman's rho {part[x].corr(part[y], method='spearman'):.2f}")
    _finished(figure, table.head(0), [], x, **words)
    return describe(figure, f"{figure.get_label()} {'; '.join(told)}.")


@house
def score_strips(
    table: pd.DataFrame,
    *,
    x: str = "score",
    y: str = "annotator",
    scale: tuple[float, float] = (0.0, 100.0),
    ticks: Iterable[float] = (),
    **words: Any,
) -> Figure:
    """Draw a strip of grey a row, the darker, the more of its values lie there; triangles are means, highest on top.

    scale: the lowest and the highest value, cut into fifty steps. ticks: where dotted lines stand, such as a slider's.
    """
    if not table[x].between(*scale).all():
        raise DataError(
            f"Some scores are outside {scale[0]:g}-{scale[1]:g}. Pass the scale's ends as scale=(low, high)."
        )
    means = table.groupby(y)[x].mean().sort_values()
    row = _row(means.index, words.get("names")) - 0.04
    figure, [(axes, _)] = _panels(table, None, height=row * len(means), **words)
    edges = np.linspace(*scale, 51)
    counts = np.array([np.histogram(table.loc[table[y] == name, x], bins=edges)[0] for name in means.index])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.pcolormesh(edges, np.arange(len(means) + 1), np.sqrt(shares), cmap="Greys", vmin=0, vmax=0.7)
    axes.hlines(np.arange(1, len(means)), *scale, color="white", lw=0.8)
    axes.plot(means, np.arange(len(means)) + 0.5, "v", color=PALETTE[1], ms=5, mec="white", mew=0.6)
    for tick in ticks:
        axes.axvline(tick, color=PALETTE[0], lw=0.7, ls=":")
    axes.set_yticks(np.arange(len(means)) + 0.5, _spoken(means.index, words.get("names")))
    axes.tick_params(axis="y", length=0)
    words = {"xlabel": f"score ({scale[0]:g} to {scale[1]:g})", "ylabel": y} | words
    return _finished(figure, means[::-1].reset_index(), [y], x, about="Means:", **words)


@house
def rank_moves(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    series: str,
    bold: Iterable[Any] = (),
    clusters: str | None = None,
    panels: str | None = None,
    **words: Any,
) -> Figure:
    """Draw how places change from column to column, the best on top: a line a series, its name at the left.

    x: the column of rankings, in the table's order. y: places, from 1. bold: series that stand out. clusters: a column;
    a short bar stands where it changes. A circle has the place that the series has under the first ranking.
    """
    across, bold = list(dict.fromkeys(table[x])), list(bold)
    figure, drawn = _panels(
        table, panels, height=0.25 * table[y].max() + 0.5, columns=1, sharex=True, sharey=False, **words
    )
    for axes, part in drawn:
        wide = part.pivot(index=series, columns=x, values=y).reindex(columns=across).sort_values(across[0])
        for name, places in wide.iterrows():
            number = bold.index(name) if name in bold else None
            colour, line, width = (GREY, "-", 0.9) if number is None else (*_styled(number), 2.2)
            axes.plot(range(len(across)), places, color=colour, ls=line, lw=width, zorder=1)
            axes.plot(range(len(across)), places, "o", ms=14, mfc="white", mec=colour, zorder=2)  # over all lines
            for place, level in enumerate(places):
                weight = "normal" if number is None else "bold"
                axes.text(place, level, f"{places.iloc[0]:.0f}", ha="center", va="center_baseline", weight=weight)
        for place, ranking in enumerate(across if clusters else []):
            own = part[part[x] == ranking].sort_values(y)
            ends = own.loc[own[clusters].ne(own[clusters].shift(-1)), y].iloc[:-1] + 0.5
            axes.hlines(ends, place - 0.3, place + 0.3, color=INK, lw=1.6)
        axes.set(xlim=(-0.4, len(across) - 0.6), ylim=(wide.max(axis=None) + 0.7, 0.3))
        axes.set_yticks(wide[across[0]], _spoken(wide.index, words.get("names")))
        letters = 42 // max(3, len(across))
        called = [_called(name, words.get("names")) for name in across]
        spoken = [textwrap.fill(name, letters, break_long_words=False) for name in called]
        axes.set_xticks(range(len(across)), spoken, rotation=90 * (len(across) > 5))
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    ends = table[table[x].isin([across[0], across[-1]])].sort_values(y, kind="stable")
    return _finished(figure, ends, [panels, series, x], y, **words)


def faint(colour: str, depth: float) -> tuple[float, float, float]:
    """Mix a colour with white, as fills are: 0 is white, 1 the colour itself."""
    red, green, blue = 1 - (1 - np.array(to_rgb(colour))) * depth
    return red, green, blue


def words_on(shade: Any) -> dict[str, Any]:
    """Return colour and box of words on a shade, as options of ``Axes.text``: readable on light and on dark pages.

    shade: any colour. Dark or white ink where it has a contrast of 4.5 in both schemes (WCAG 2), else a white box.

    >>> words_on("white")["color"] == INK, words_on("#00304f")["color"], words_on("grey")["bbox"]["facecolor"]
    (True, 'white', 'white')
    """
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in to_rgb(shade)
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    if luminance > 0.35:
        return {"color": INK}
    if luminance < 0.05:
        return {"color": "white"}
    return {"color": INK, "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}


def _kinds(table: pd.DataFrame, series: str | None) -> list[Any]:
    return [None] if series is None else list(dict.fromkeys(table[series]))


def _styled(number: int) -> tuple[str, Any]:
    return PALETTE[number % 7], LINES[number % 6]


def _look(number: int) -> dict[str, Any]:
    """Return colour and marker of the n-th series."""
    return {"color": PALETTE[number % 7], "marker": MARKERS[number % 7]}


def _called(name: object, names: Mapping[Any, str] | None) -> str:
    return literal((names or {}).get(name, name))


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
        at: dict[str, Any] = {"xycoords": "axes fraction", "va": "center", "annotation_clip": False}
        axes.annotate(textwrap.fill(name, 20), (1.02, level), color=_dark(colour), **at)
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


def _dark(colour: str) -> tuple[float, float, float]:
    """Darken a colour until words in it have a contrast of 4.5 with the page."""
    red, green, blue = 0.8 * np.array(to_rgb(colour))
    return red, green, blue


def _finished(
    figure: Figure,
    told: pd.DataFrame,
    keys: Sequence[str | None],
    value: str,
    low: str | None = None,
    high: str | None = None,
    *,
    kinds: Sequence[Any] = (),
    styles: Sequence[Any] = (),
    marks: bool = True,
    hatched: bool = False,
    handles: Sequence[Any] = (),
    about: str = "",
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    names: Mapping[Any, str] | None = None,
) -> Figure:
    """Give a figure its title, keys, names of axes and alternative text."""
    figure.supxlabel(literal(textwrap.fill(xlabel, 62)))
    figure.supylabel(literal(textwrap.fill(ylabel, max(24, int(12 * figure.get_figheight())))))
    drawn: list[Any] = []
    for number, kind in enumerate(kinds):
        look = _look(number)
        if hatched:
            look = {"facecolor": faint(look["color"], 0.3), "edgecolor": look["color"], "hatch": HATCHES[number]}
            drawn.append(mpl.patches.Patch(label=_called(kind, names), **look))
            continue
        fill = look["color"] if number % 2 == 0 or styles or not marks else "white"
        line = styles[number % len(styles)] if styles else ""
        drawn.append(mpl.lines.Line2D([], [], ls=line, mfc=fill, mew=1.2, label=_called(kind, names), **look))
    _legend(figure, [*drawn, *handles], title)
    keyed = [key for key in keys if key]
    return describe(figure, " ".join(filter(None, [_sentence(title), about, _in_words(told, keyed, value, low, high)])))


def _sentence(title: str) -> str:
    return title if not title or title[-1] in ".?!" else f"{title}."


def _legend(figure: Figure, handles: Sequence[Any], title: str) -> None:
    """Put the title above the panels, and below it the keys, as many side by side as there is room for."""
    if not handles and not title:
        return
    longest = max((len(handle.get_label()) for handle in handles), default=1)
    columns = max(1, min(len(handles), 64 // (longest + 6)))
    bold = {"weight": "bold", "size": LETTERS + 1.5}
    figure.set_figheight(figure.get_figheight() + 0.18 * -(-len(handles) // columns))
    options = {"alignment": "left", "borderpad": 0, "borderaxespad": 0.3, "ncols": columns}
    spoken = literal(textwrap.fill(typeset(title), 46)) or None
    figure.legend(
        handles=handles, loc="outside upper left", title=spoken, title_fontproperties=bold, handlelength=1.6, **options
    )


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
