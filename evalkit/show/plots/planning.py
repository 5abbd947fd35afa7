"""Pictures for planning a campaign: what scatters, how small a calibration set can be, what power costs."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter, ScalarFormatter

from evalkit.show.plots import GREY, INK, LINES, MARKERS, PALETTE, house, literal

_PARTS = {
    "document": ("documents", PALETTE[4], ""), "item": ("segments", PALETTE[0], "///"),
    "annotator": ("annotators' levels", PALETTE[1], ""), "block": ("annotator by document", PALETTE[5], "\\\\\\"),
    "residual": ("noise of a judgement", "#e8e8e8", "..."),
}  # fmt: skip


@house
def shares(table: pd.DataFrame) -> Figure:
    """Draw each component's share of the variance of a score, a bar for each language pair.

    table: the result of ``planning.components`` with layout ``calibration``.
    """
    parts = table.set_index("pair")[list(_PARTS)].fillna(0.0)
    parts = parts.div(parts.sum(axis=1), axis=0)[::-1]
    figure, axes = plt.subplots(figsize=(5.1, 0.5 * len(parts) + 1.7))
    left = np.zeros(len(parts))
    for name, (label, colour, hatch) in _PARTS.items():
        width = parts[name].to_numpy()
        axes.barh(range(len(parts)), width, left=left, color=colour, hatch=hatch, edgecolor="white", height=0.72)
        axes.barh(0, 0, color=colour, hatch=hatch, edgecolor=INK, lw=0.4, label=label)
        for row, (start, share) in enumerate(zip(left, width, strict=True)):
            if share > 0.07:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
                axes.text(start + share / 2, row, f"{share:.0%}", ha="center", va="center", fontsize=8.5, bbox=box)
        left += width
    axes.set_yticks(range(len(parts)), [literal(pair) for pair in parts.index])
    axes.set(xlabel="share of the variance of a score", ylabel="language pair", xlim=(0, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    return figure


@house
def calibration_errors(table: pd.DataFrame) -> Figure:
    """Draw the shift's standard error against the set's size: lines in closed form, marks drawn from real sets.

    table: the result of ``planning.calibration_size``; rows with all annotators are drawn, a panel a language pair.
    """
    table = table[table["annotators"] == table.groupby("pair")["annotators"].transform("max")]
    pairs = list(dict.fromkeys(table["pair"]))
    columns = min(2, len(pairs))
    lines = -(-len(pairs) // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(2.5 * columns, 1.9 * lines + 0.8), squeeze=False, sharex=True, sharey=True
    )
    looks = {"documents": (PALETTE[1], "s", "--", "whole documents"), "segments": (PALETTE[0], "o", "-", "segments")}
    for axes, pair in zip(grid.flat, pairs, strict=False):
        for design, (colour, marker, line, label) in looks.items():
            rows = table[(table["pair"] == pair) & (table["design"] == design)].sort_values("size")
            axes.plot(rows["size"], rows["se_closed_form"], line, color=colour, label=f"{label}: formula")
            axes.plot(rows["size"], rows["se_subsampled"], marker, color=colour, ms=6, mec="white",
                      label=f"{label}: drawn")  # fmt: skip
        axes.set_title(literal(pair))
    grid[0, 0].set_ylim(0, 1.08 * table[["se_closed_form", "se_subsampled"]].max(axis=None))
    for axes in grid.flat[len(pairs) :]:
        axes.set_axis_off()
    figure.supxlabel("segments in the smaller set", fontsize=10)
    figure.supylabel("standard error of the shift (points)", fontsize=10)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


@house
def spending(table: pd.DataFrame) -> Figure:
    """Draw what a calibration set of each size is worth at equal cost, a panel a language pair.

    table: the result of ``planning.spending``. Below 1 the set pays; the mark is the best size.
    """
    pairs = list(dict.fromkeys(table["pair"]))
    columns = min(2, len(pairs))
    lines = -(-len(pairs) // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(2.5 * columns, 1.9 * lines + 0.8), squeeze=False, sharex=True, sharey=True
    )
    looks = {"whole documents": (PALETTE[1], "s", "--"), "single segments": (PALETTE[0], "o", "-")}
    for axes, pair in zip(grid.flat, pairs, strict=False):
        for design, (colour, marker, line) in looks.items():
            rows = table[(table["pair"] == pair) & (table["design"] == design)].reset_index(drop=True)
            best = rows.loc[rows["se_ratio"].idxmin()]
            axes.plot(rows["size"], rows["se_ratio"], line, color=colour, label=f"{design}, mark: best size")
            axes.plot(best["size"], best["se_ratio"], marker, color=colour, ms=7, mec="white")
        axes.axhline(1, color=GREY, lw=0.9, ls=":")
        axes.set_title(literal(pair))
    for axes in grid.flat[len(pairs) :]:
        axes.set_axis_off()
    grid[0, 0].set_ylim(0.85 * table["se_ratio"].min(), 1.4)
    figure.supxlabel("segments in the calibration set", fontsize=10)
    figure.supylabel("error with a set / without", fontsize=10)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=1)
    return figure


@house
def power_curves(curves: pd.DataFrame, simulated: pd.DataFrame, *, target: float) -> Figure:
    """Draw power against segments, a line a difference, with simulated designs and their intervals as marks.

    curves: the result of ``planning.curve``; simulated: rows of ``planning.compare`` of the same arrangement.
    """
    deltas: Sequence[float] = sorted(curves["delta"].unique(), reverse=True)
    figure, axes = plt.subplots(figsize=(5.1, 3.8))
    for place, delta in enumerate(deltas):
        rows = curves[curves["delta"] == delta]
        look = {"color": PALETTE[place % len(PALETTE)], "ls": LINES[place % len(LINES)]}
        axes.plot(rows["segments"], rows["power"], label=literal(f"{delta:g} points apart"), **look)
        found = simulated[simulated["delta"] == delta]
        reach = np.abs(found[["power_low", "power_high"]].to_numpy().T - found["power"].to_numpy())
        axes.errorbar(found["segments"], found["power"], yerr=reach, fmt=MARKERS[place % len(MARKERS)],
                      color=look["color"], mec="white", ms=8, capsize=4)  # fmt: skip
    axes.axhline(target, color=GREY, lw=0.9, ls=":")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.set(xlabel="segments", ylabel="chance to find the difference (power)", ylim=(0, 1.02))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.legend(loc="lower right")
    return figure


@house
def selections(table: pd.DataFrame) -> Figure:
    """Draw how the error changes when a set is not chosen at random, with intervals.

    table: the result of ``planning.selections``; its rows with an interval of no width are the point of comparison.
    """
    shown = table[table["low"] < table["high"]]
    pairs = list(dict.fromkeys(shown["pair"]))[::-1]
    names = list(dict.fromkeys(shown["selection"]))
    figure, axes = plt.subplots(figsize=(5.1, 0.55 * len(pairs) + 1.5))
    for place, name in enumerate(names):
        rows = shown[shown["selection"] == name].set_index("pair").reindex(pairs)
        level = np.arange(len(pairs)) + 0.26 * ((len(names) - 1) / 2 - place)
        axes.hlines(level, rows["low"], rows["high"], color=PALETTE[place], lw=2)
        axes.plot(rows["ratio"], level, MARKERS[place], color=PALETTE[place], ms=7, mec="white", label=name)
    axes.axvline(1, color=INK, lw=0.8, ls=":")
    axes.set_yticks(range(len(pairs)), [literal(pair) for pair in pairs])
    axes.set(xlabel="error / that of segments at random (95 % interval)", ylabel="language pair")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure
