"""What certainty costs under each protocol, drawn."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from evalkit.human.protocols.effort import SYSTEMS
from evalkit.show.plots import GREY, LINES, MARKERS, PALETTE, describe, house, literal, readable

#: Least distance of two labels at the ends of lines, parts of the panel's height.
_APART = 0.072


@house
def certainty_cost(
    errors: pd.DataFrame,
    *,
    hours: float,
    families: Mapping[str, str],
    names: Mapping[str, str] | None = None,
    enough: float | None = None,
) -> Figure:
    """Draw the standard error of a difference against hours of work, a line a campaign, with its name at its end.

    errors: the result of ``effort.standard_errors`` for three numbers of hours or more; a mark on each line carries
    its 95 % interval. hours: the reader's own. families: campaign -> protocol; campaigns of one protocol share colour
    and marker. names: how campaigns are written. enough: the standard error that finds the median pair's difference
    (``effort.needed_error``), drawn where lines come to it.
    """
    figure, axes = plt.subplots(figsize=(6.2, 3.9))
    lines = dict(iter(errors.groupby("protocol", sort=False)))
    kinds = list(dict.fromkeys(families[name] for name in lines))
    places = np.geomspace(errors["hours"].min(), errors["hours"].max(), 2 * len(lines) + 1)[len(lines) // 2 + 1 :]
    for number, (name, rows) in enumerate(lines.items()):
        kind, again = kinds.index(families[name]), [families[one] for one in lines][:number].count(families[name])
        axes.plot(rows["hours"], rows["se"], color=PALETTE[kind], ls=LINES[min(again, 1)])
        at = _at(rows, places[number])
        axes.vlines(places[number], at["low"], at["high"], color=PALETTE[kind], lw=1.4)
        axes.plot(places[number], at["se"], marker=MARKERS[kind], color=PALETTE[kind], ms=7.5, mec="white", mew=0.8)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=f"hours of work on {SYSTEMS} systems",
        ylabel="standard error of a difference\n(parts of the systems' spread)",
    )
    axes.set_xlim(errors["hours"].min(), errors["hours"].max())
    _plain(axes, errors["hours"].max())
    axes.set_ylim(axes.get_ylim())  # what follows moves no ends of lines
    ends = {name: (rows["se"].iloc[-1], readable(PALETTE[kinds.index(families[name])])) for name, rows in lines.items()}
    _name_lines(axes, ends, names or {})
    axes.axvline(hours, color=GREY, lw=0.9, ls=":")
    axes.text(hours, 1, f"your {hours:g} h", transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=9)
    if enough is not None and errors["se"].min() < enough < errors["se"].max():
        _line(axes, enough, errors["hours"].min())
    return describe(figure, _words(lines, hours))


def _line(axes: Axes, enough: float, left: float) -> None:
    """Draw the error to be reached, with its name where no line of a campaign falls: below, or above near the foot."""
    axes.axhline(enough, color=GREY, lw=0.9, ls=(0, (5, 3)))
    low, high = np.log(axes.get_ylim())
    foot = (np.log(enough) - low) / (high - low) < 0.2
    place, words = (1.03, "enough for the median pair") if foot else (0.96, "enough for the\nmedian pair")
    axes.text(left * 1.06, enough * place, words, va="bottom" if foot else "top", fontsize=9)


def _at(rows: pd.DataFrame, hours: float) -> dict[str, float]:
    """Read a line and its interval off at some hours, between the table's."""
    known = np.log(rows[["hours", "se", "low", "high"]].to_numpy(float))
    ends = (np.exp(np.interp(np.log(hours), known[:, 0], column)) for column in known.T[1:])
    return dict(zip(("se", "low", "high"), map(float, ends), strict=True))


def _plain(axes: Axes, most: float) -> None:
    """Write plain numbers at the ticks of both logarithmic axes."""
    steps = [step * 10.0**power for power in range(-3, 6) for step in (1, 2, 5)]
    for axis, highest in ((axes.xaxis, most), (axes.yaxis, np.inf)):
        axis.set_major_locator(FixedLocator([step for step in steps if step <= highest]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(FixedLocator([]))


def _name_lines(axes: Axes, ends: Mapping[str, tuple[float, str]], names: Mapping[str, str]) -> None:
    """Write each line's name beside its end, apart from each other, tied to it by a thin line."""
    low, high = np.log(axes.get_ylim())
    places = {name: (np.log(value) - low) / (high - low) for name, (value, _) in ends.items()}
    level, moved = -np.inf, {}
    for name in sorted(places, key=lambda name: places[name]):
        level = moved[name] = max(places[name], level + _APART)
    shift = np.mean([moved[name] - places[name] for name in moved])
    for name, (_, colour) in ends.items():
        axes.annotate(
            literal(names.get(name, name)),
            (1, places[name]),
            xytext=(1.045, moved[name] - shift),
            xycoords="axes fraction",
            va="center",
            fontsize=9,
            color=colour,
            weight="bold",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.7, "shrinkA": 0, "shrinkB": 0},
        )


def _words(lines: Mapping[str, pd.DataFrame], hours: float) -> str:
    """Say what the lines show at the reader's hours."""
    found = (
        f"{name} {at['se']:.2f} (95 % interval {at['low']:.2f} to {at['high']:.2f})"
        for name, at in ((name, _at(rows, hours)) for name, rows in lines.items())
    )
    return (
        "Falling lines, one for each campaign: the standard error of a difference between two systems against hours of "
        f"work, in parts of the systems' spread. At {hours:g} hours: {'; '.join(found)}."
    )
