"""Pictures for planning a campaign: what scatters, how small a calibration set can be, what power costs."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, PercentFormatter, ScalarFormatter

from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LINES,
    PALETTE,
    describe,
    forest,
    house,
    labels,
    legend,
    literal,
    mark,
    narrow,
    shared_legend,
    small_multiples,
)

_PARTS = {
    "document": ("documents", PALETTE[4], ""),
    "item": ("segments", PALETTE[0], "///"),
    "annotator": ("annotators' levels", PALETTE[1], ""),
    "block": ("annotator by document", PALETTE[5], "\\\\\\"),
    "residual": ("noise of a judgement", "#e8e8e8", "..."),
}


@house
def shares(table: pd.DataFrame) -> Figure:
    """Draw each component's share of the variance of a score, a bar for each language pair.

    table: the result of ``components.estimate`` with layout ``calibration``.
    """
    parts = table.set_index("pair")[list(_PARTS)].fillna(0.0)
    parts = parts.div(parts.sum(axis=1), axis=0)[::-1]
    figure, axes = plt.subplots(figsize=(BOTH, 0.5 * len(parts) + 1.7))
    left = np.zeros(len(parts))
    for name, (label, colour, hatch) in _PARTS.items():
        width = parts[name].to_numpy()
        axes.barh(range(len(parts)), width, left=left, color=colour, hatch=hatch, edgecolor="white", height=0.72)
        axes.barh(0, 0, color=colour, hatch=hatch, edgecolor=INK, lw=0.4, label=label)
        for row, (start, share) in enumerate(zip(left, width, strict=True)):
            if share > 0.07:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
                axes.text(start + share / 2, row, f"{share:.0%}", ha="center", va="center", fontsize=9, bbox=box)
        left += width
    axes.set_yticks(range(len(parts)), [literal(pair) for pair in parts.index])
    axes.set(xlabel="share of the variance of a score", ylabel="language pair", xlim=(0, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    legend(figure, loc="outside upper center", columns=2)
    levels = ", ".join(f"{pair} {share:.0%}" for pair, share in parts["annotator"][::-1].items())
    return describe(figure, f"Stacked bars, one for each language pair. The share of annotators' levels: {levels}.")


@house
def calibration_errors(table: pd.DataFrame) -> Figure:
    """Draw the shift's standard error against the set's size: lines in closed form, marks drawn from real sets.

    table: the result of ``calibration.calibration_size``; rows with all annotators are drawn, a panel a pair.
    """
    table = table[table["annotators"] == table.groupby("pair")["annotators"].transform("max")]
    figure, panels = small_multiples(
        dict.fromkeys(table["pair"]),
        columns=2,
        size=(BOTH / 2, 1.55),
        sharex=True,
        sharey=True,
        xlabel="segments in the smaller set",
        ylabel="standard error of the shift (points)",
    )
    looks = {"documents": (PALETTE[1], "s", "--", "whole documents"), "segments": (PALETTE[0], "o", "-", "segments")}
    for pair, axes in panels.items():
        for design, (colour, marker, line, label) in looks.items():
            rows = table[(table["pair"] == pair) & (table["design"] == design)].sort_values("size")
            axes.plot(rows["size"], rows["se_closed_form"], line, color=colour, label=f"{label}: formula")
            axes.plot(
                rows["size"], rows["se_subsampled"], marker, color=colour, ms=6, mec="white", label=f"{label}: drawn"
            )
    figure.axes[0].set_ylim(0, 1.08 * table[["se_closed_form", "se_subsampled"]].max(axis=None))
    shared_legend(figure, columns=2)
    ends = table[table["design"] == "segments"].groupby("pair")["se_subsampled"].agg(["max", "min"])
    reach = "; ".join(f"{row.Index} {row.max:.1f} down to {row.min:.1f} points" for row in ends.itertuples())
    return describe(
        figure,
        "The standard error of the shift falls as the set grows; whole documents lie above single segments. "
        f"Segments: {reach}.",
    )


@house
def power_curves(curves: pd.DataFrame, simulated: pd.DataFrame, *, target: float) -> Figure:
    """Draw power against segments, a line a difference, with simulated designs and their intervals as marks.

    curves: the result of ``planning.curve``; simulated: delta, segments, power, power_low, power_high.
    """
    deltas: Sequence[float] = sorted(curves["delta"].unique(), reverse=True)
    figure, axes = plt.subplots(figsize=(BOTH, 3.4))
    half: list[labels.Named] = []
    for number, delta in enumerate(deltas):
        rows, found = (table[table["delta"] == delta] for table in (curves, simulated))
        look = mark(number)
        axes.plot(
            rows["segments"],
            rows["power"],
            label=literal(f"{delta:g} points apart"),
            color=look["color"],
            ls=LINES[number % len(LINES)],
        )
        half.append((f"{delta:g}", *_half_way(rows), look["color"]))
        reach = np.abs(found[["power_low", "power_high"]].to_numpy().T - found["power"].to_numpy())
        axes.errorbar(found["segments"], found["power"], yerr=reach, capsize=4, **look)
    axes.axhline(target, color=GREY, lw=0.9, ls=":")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="segments", ylabel="chance to find the difference (power)", ylim=(0, 1.02))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    if labels.name_on_lines(axes, half):
        axes.set_title("Numbers on lines: how many points two systems differ", fontsize=9, weight="normal")
    else:
        legend(axes, loc="lower right")
    enough = curves[curves["power"] >= target].groupby("delta")["segments"].min()
    needed = "; ".join(f"{delta:g} points {segments:,.0f} segments" for delta, segments in enough.items())
    return describe(
        figure,
        "The chance to find a difference rises with the number of segments, one curve for each difference. The target "
        f"of {target:.0%} takes: {needed}.",
    )


def _half_way(curve: pd.DataFrame) -> tuple[float, float]:
    """Return the point of a curve of power that is nearest to one half."""
    nearest = curve.loc[(curve["power"] - 0.5).abs().idxmin()]
    return float(nearest["segments"]), float(nearest["power"])


@house
def choosing(table: pd.DataFrame) -> Figure:
    """Draw what each way to choose segments does: the order of systems that it keeps, and how it stretches differences.

    table: the result of ``ppi.compare_choices`` for one language pair and one number of segments.
    """
    ordered = table.sort_values("agreement", ascending=False, kind="stable")
    upright = narrow()
    down, across = (2, 1) if upright else (1, 2)
    size = (BOTH, down * (0.3 * len(table) + 1.0))
    figure, panels = plt.subplots(down, across, sharey=not upright, figsize=size)
    said = {"agreement": "agreement with all segments (SPA)", "stretch": "differences found / true ones"}
    for axes, (name, words) in zip(panels, said.items(), strict=True):
        ends = ("low", "high") if name == "agreement" else (f"{name}_low", f"{name}_high")
        names = {way: way.replace(", ", ",\n") for way in ordered["way"]}
        forest(axes, ordered, rows="way", value=name, low=ends[0], high=ends[1], names=names)
        axes.set(xlabel=words, ylabel="")
        axes.xaxis.set_major_locator(MaxNLocator(5))
    panels[1].axvline(1, color=GREY, lw=0.8, ls="--")
    told = "; ".join(f"{row.way} {row.agreement:.2f} and {row.stretch:.2f}" for row in ordered.itertuples())
    return describe(
        figure,
        f"Two panels of dots with 95 % intervals for {len(table)} ways to choose segments: agreement, and differences "
        f"found over true ones, with a dashed line at 1. {told}.",
    )
