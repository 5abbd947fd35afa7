"""Figures of calibration: what the forms do to scores, and what they do to the groups of a real campaign."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evalkit.human.calibration import FORMS, PAPER, Standard
from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LIGHT,
    LINES,
    describe,
    forest,
    house,
    legend,
    mark,
    shared_legend,
    small_multiples,
)


@house
def form_curves(curves: pd.DataFrame, *, standard: Standard = PAPER) -> Figure:
    """Draw the forms over the scale: where scores land, and how far they were moved. Grey is off the scale."""
    low, high = standard.scale
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.2, 4.3))
    reach = curves.assign(moved=curves["adjusted"] - curves["raw"])
    for number, form in enumerate(FORMS):
        part = reach[reach["form"] == form]
        every = max(1, len(part) // 10)
        start = every * (number + 1) // 5  # markers of curves that coincide stand side by side
        look = mark(number) | {"ls": LINES[number], "lw": 1.7, "ms": 5, "mec": None, "markevery": (start, every)}
        for ax, column in ((left, "adjusted"), (right, "moved")):
            if len(part):
                ax.plot(part["raw"], part[column], label=FORMS[form], **look)
    ends = np.array([low, high])
    span = high - low
    left.plot(ends, ends, color=GREY, lw=0.8, label="not moved")
    for beyond in ((high, high + span), (low - span, low)):
        left.axhspan(*beyond, color=GREY, alpha=0.25, lw=0)
    margin = 0.08 * span
    floor, ceiling = min(low, reach["adjusted"].min()) - margin, max(high, reach["adjusted"].max()) + margin
    left.set(xlim=(low, high), ylim=(floor, ceiling))
    left.text(low + 0.02 * span, high + 0.01 * span, "off the scale", va="bottom", fontsize=8.5)
    right.axhline(0, color=GREY, lw=0.8)
    bottom, top = reach["moved"].min(), reach["moved"].max()
    room = 0.18 * max(top - bottom, 0.05 * span)
    right.set(xlim=(low, high), ylim=(min(bottom, 0) - room, max(top, 0) + room))
    right.fill_between(ends, high - ends, span, color=GREY, alpha=0.25, lw=0)
    right.fill_between(ends, low - ends, -span, color=GREY, alpha=0.25, lw=0)
    left.set(xlabel="raw score (points)", ylabel="adjusted score (points)", title="where a score lands")
    right.set(xlabel="raw score (points)", ylabel="adjusted minus raw score (points)", title="how far it was moved")
    shared_legend(figure, columns=3)
    ends = reach.groupby("form", sort=False)["adjusted"].agg(["min", "max"])
    told = "; ".join(f"{FORMS[str(row.Index)]} {row.min:.2f} to {row.max:.2f}" for row in ends.itertuples())
    return describe(
        figure,
        "Two line charts over the raw score. Left: the adjusted score under each form. Right: how far each form moves "
        f"a score. Scores come to lie between: {told}.",
    )


@house
def held_out_ratios(table: pd.DataFrame) -> Axes:
    """Draw by which factor groups' held-out means come closer, per place and form, with intervals; log scale.

    table: the result of ``calibration.held_out``.
    """
    row = 0.12 + 0.15 * table["form"].nunique()  # inches
    figure, axes = plt.subplots(figsize=(BOTH, row * table["within"].nunique() + 1.6))
    forest(axes, table, rows="within", value="ratio", low="low", high="high", series="form", names=FORMS)
    axes.axvline(1, color=INK, lw=1)
    axes.set_xscale("log")
    reach = (0.9 * table["low"].min(), 1.1 * table["high"].max())
    ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5) if reach[0] <= tick <= reach[1]]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set_xlabel("spread of held-out means, after ÷ before calibration (log scale; left of 1: closer together)")
    legend(figure, loc="outside upper center", columns=4)
    axes.grid(axis="x", color=LIGHT, lw=0.7)
    axes.spines["left"].set_visible(False)
    ranges = table.groupby("form", sort=False)["ratio"].agg(["min", "max"])
    told = "; ".join(f"{FORMS[str(row.Index)]} {row.min:.2f} to {row.max:.2f}" for row in ranges.itertuples())
    return describe(
        axes,
        "Interval chart on a log scale, a row per place and form: spread of held-out averages after calibration "
        f"divided by the spread before. Left of 1 the groups came closer. Ratios: {told}.",
    )


@house
def before_after(calibrated: pd.DataFrame) -> Figure:
    """Draw each group's mean before and after the simple shift, a panel per place; bars are one standard error.

    calibrated: the result of ``calibration.ratings.calibrate``.
    """
    part = calibrated[calibrated["form"] == "shift"]
    spreads = part.groupby("within", sort=False)[["raw", "adjusted"]].std()
    titles = {row.Index: f"{row.Index}\nsd {row.raw:.2f} → {row.adjusted:.2f}" for row in spreads.itertuples()}
    size = (max(4.2 / len(titles), 1.75), 4.3)
    figure, panels = small_multiples(
        titles,
        titles=titles,
        columns=len(titles),
        size=size,
        margin=(0, 0),
        sharey=True,
        ylabel="mean score on the task (points)",
    )
    for place, axes in panels.items():
        rows = part[part["within"] == place]
        jitter = np.linspace(-0.12, 0.12, len(rows))[rows["raw"].rank(method="first").astype(int) - 1]
        axes.plot([jitter, 1 + jitter], rows[["raw", "adjusted"]].T, color=GREY, lw=0.7, zorder=1)
        for x, mean, se in ((1, "adjusted", "se"), (0, "raw", "raw_se")):
            look = mark(1 - x) | {"ms": 4, "mec": None}
            axes.errorbar(x + jitter, rows[mean], rows[se], lw=0.7, **look)
        axes.set_xticks([0, 1], ["raw", "adjusted"])
        axes.set_xlim(-0.35, 1.35)
    told = "; ".join(f"{row.Index} {row.raw:.2f} to {row.adjusted:.2f}" for row in spreads.itertuples())
    return describe(
        figure,
        "Each group's average on the task before and after the simple shift, joined by a line, with one standard "
        f"error; a panel per place. Standard deviations between groups change from and to: {told}.",
    )
