"""Figures of the XSTS calibration study: table in, ``Axes`` or ``Figure`` out.

What distinguishes a method or a form is always a colour, a marker and a line style together.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from evalkit import DataError
from evalkit.human.calibration.forms import FORMS, METHODS, PAPER, Standard
from evalkit.show.plots import GREY, INK, LIGHT, LINES, MARKERS, PALETTE, house, literal

DIRECTIONS = {"X-EN": "into English", "EN-X": "out of English"}
#: Colour, marker and line style belong together, in this order.
STROKES = tuple(zip(PALETTE, MARKERS, LINES))
#: How far above or below their row the marks of four series stand, so that none hides another.
OFFSETS = (0.27, 0.09, -0.09, -0.27)
#: Where a label may stand relative to its point, best first.
AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8))


@house
def bump_chart(ranked: pd.DataFrame, *, highlight: tuple[str, ...] = ()) -> Figure:
    """Draw how the languages' ranks change from method to method, a panel per direction.

    ranked: from ``implied.rankings``. highlight: languages drawn in colour with a marker of their own (five at most).
    """
    strokes = dict(zip(highlight, STROKES, strict=False))
    figure, panels = plt.subplots(1, 2, figsize=(11.0, 5.6))
    for ax, (direction, title) in zip(panels, DIRECTIONS.items(), strict=True):
        part = ranked[ranked["direction"] == direction]
        places = part.pivot(index="language", columns="method", values="position")[list(METHODS.values())]
        scores = part.pivot(index="language", columns="method", values="score")[list(METHODS.values())]
        for language, y in places.iterrows():
            colour, marker, style = strokes.get(language, (GREY, ".", "-"))
            bold = language in strokes
            ax.plot(range(4), y, color=colour, marker=marker, ls=style, lw=2.2 if bold else 0.9, ms=6 if bold else 5)
            for edge, side, align in ((0, -0.12, "right"), (3, 0.12, "left")):
                text = f"{language} {scores.loc[language].iloc[edge]:.2f}"
                ax.text(
                    edge + side,
                    y.iloc[edge],
                    text,
                    ha=align,
                    va="center",
                    color=colour if bold else INK,
                    fontsize=8.5,
                    weight="bold" if bold else "normal",
                )
        ax.set(xlim=(-1.3, 4.25), ylim=(len(places) + 0.6, 0.4), title=f"{title} ({direction})")
        ax.set_xticks(range(4), METHODS.values())
        ax.set_yticks([])
        ax.set_xlabel("how scores were adjusted")
        ax.spines[:].set_visible(False)
    panels[0].set_ylabel("rank (the best at the top)", labelpad=14)
    return figure


@house
def prediction_gaps(recovered: pd.DataFrame) -> Axes:
    """Draw each predicted CS+HT cell as an interval around what is printed, in hundredths of a scale point."""
    rows = recovered.iloc[::-1].reset_index(drop=True)
    gap = 100 * rows[["cs_ht_low", "cs_ht_high", "cs_ht_predicted"]].sub(rows["cs_ht_printed"], axis=0)
    _, ax = plt.subplots(figsize=(7.4, 6.6))
    ax.axvspan(-0.5, 0.5, color="#56B4E9", alpha=0.28, lw=0)
    ax.vlines(0, -0.7, len(rows) - 0.4, color=GREY, lw=0.8)
    for hit, colour, marker, name in ((True, INK, "o", "can be reached"), (False, "#D55E00", "X", "cannot be reached")):
        at = np.flatnonzero(rows["reachable"] == hit)
        ax.hlines(at, gap["cs_ht_low"].iloc[at], gap["cs_ht_high"].iloc[at], color=colour, lw=2.2 if not hit else 1.3)
        ax.plot(gap["cs_ht_predicted"].iloc[at], at, ls="none", color=colour, marker=marker, ms=8 if not hit else 4.5,
                label=name)  # fmt: skip
    ax.set_yticks(range(len(rows)), rows["language"] + ", " + rows["direction"], fontsize=8)
    ax.set_ylim(-0.7, len(rows) + 0.9)
    ax.text(0, len(rows) - 0.1, "rounds to the printed score", ha="center", va="bottom", fontsize=8.5)
    ax.set_xlabel("predicted minus printed CS+HT score (hundredths of a scale point)")
    ax.legend(title="the printed cell", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


@house
def consensus_intervals(cells: pd.DataFrame, joint: pd.DataFrame, *, nominal: float = 3.0, most: int = 14) -> Axes:
    """Draw which consensus scores each printed cell allows (the ``most`` telling ones), then all of them together."""
    telling = cells.assign(width=cells["high"] - cells["low"]).nsmallest(most, "width").iloc[::-1]
    low, high = joint["low"].iloc[0], joint["high"].iloc[0]
    y = np.arange(len(telling))
    _, ax = plt.subplots(figsize=(7.4, 4.9))
    if low <= high:
        ax.axvspan(low, high, color="#009E73", alpha=0.22, lw=0, label=f"all cells allow {low:.3f} to {high:.3f}")
    ax.axvline(nominal, color="#D55E00", ls="--", lw=1.6, label=f"assumed: {nominal:g}")
    excluded = ((telling["high"] < nominal) | (telling["low"] > nominal)).to_numpy()
    for out, colour, marker, name in (
        (False, INK, "|", "the cell allows the stated score"),
        (True, "#D55E00", "X", "the cell does not allow it"),
    ):
        part = telling[excluded == out]
        ax.hlines(y[excluded == out], part["low"], part["high"], color=colour, lw=3 if out else 1.8)
        ends = np.r_[part["low"], part["high"]]
        ax.plot(ends, np.tile(y[excluded == out], 2), ls="none", color=colour, marker=marker)
        ax.plot([], [], color=colour, marker=marker, lw=3 if out else 1.8, label=name)
    ax.set_yticks(y, telling["language"] + ", " + telling["direction"], fontsize=8.5)
    ax.set_ylim(-0.7, len(y) - 0.3)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    ax.set_xlabel("consensus score of the calibration set that the cell allows (points on the 1–5 scale)")
    return ax


@house
def form_curves(curves: pd.DataFrame, *, standard: Standard = PAPER) -> Figure:
    """Draw the forms over the scale: where scores land, and how far they were moved. Grey is off the scale."""
    low, high = standard.scale
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.2, 4.3))
    reach = curves.assign(moved=curves["adjusted"] - curves["raw"])
    for form, (colour, marker, style) in zip(FORMS, STROKES, strict=False):
        part = reach[reach["form"] == form]
        every = max(1, len(part) // 10)
        start = every * (list(FORMS).index(form) + 1) // 5  # markers of curves that coincide stand side by side
        for ax, column in ((left, "adjusted"), (right, "moved")):
            if len(part):
                ax.plot(part["raw"], part[column], color=colour, ls=style, marker=marker, markevery=(start, every),
                        ms=5, lw=1.7, label=FORMS[form])  # fmt: skip
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
    left.legend(loc="lower right", bbox_to_anchor=(1.0, 0.06))
    return figure


@house
def scores_against(joined: pd.DataFrame, *, covariate: str, direction: str = "X-EN", method: str = "cs") -> Figure:
    """Draw raw and adjusted scores against an outside score, with fits (the paper's Figure 2), a panel each.

    joined: from ``external.merged``; languages appear by their codes.
    """
    part = joined[(joined["covariate"] == covariate) & (joined["direction"] == direction)]
    if len(part) < 2:
        known = ", ".join(joined["covariate"].unique())
        raise DataError(f"No outside score called {covariate!r} for {direction}. There are: {known}.")
    figure, panels = plt.subplots(1, 2, figsize=(10.2, 4.4), sharey=True)
    for ax, one, (colour, marker, style) in zip(panels, ("raw", method), STROKES, strict=False):
        x, y = part["value"].to_numpy(), part[one].to_numpy()
        slope, intercept = np.polyfit(x, y, 1)
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, slope * ends + intercept, color=colour, ls=style, lw=1.8, zorder=1)
        ax.plot(x, y, ls="none", color=colour, marker=marker, ms=6, zorder=2)
        ax.margins(0.09, 0.1)
        ax.set_title(f"{METHODS[one]}: r = {np.corrcoef(x, y)[0, 1]:.3f}, n = {len(x)}")
        ax.set_xlabel(covariate + (" (0–100)" if covariate.startswith("spBLEU") else ""))
    panels[0].set_ylabel(f"average XSTS score, {DIRECTIONS[direction]} (points, 1–5)")
    figure.draw_without_rendering()  # fixes the axes, so that labels can be placed
    for ax, one in zip(panels, ("raw", method), strict=True):
        _label_points(ax, part["value"].to_numpy(), part[one].to_numpy(), part["language_code"].tolist(), ax.lines[0])
    return figure


@house
def table6_dots(table6: pd.DataFrame, *, statistic: str = "pearson") -> Figure:
    """Draw one statistic of Table 6 for all covariates and methods, a panel per column of the table."""
    names = {"pearson": "Pearson's r", "r2": "r²", "linreg": "mean r² on held-out halves"}
    covariates = list(table6["covariate"].unique())[::-1]
    size = (10.4, 0.5 * len(covariates) + 1.7)
    figure, panels = plt.subplots(1, 3, figsize=size, sharey=True, sharex=statistic != "linreg")
    for ax, columns in zip(panels, ("X-EN", "EN-X", "both"), strict=True):
        part = table6[table6["columns"] == columns]
        if statistic == "linreg":
            ax.axvline(0, color=INK, lw=0.8, zorder=1)
        for offset, method, (colour, marker, _) in zip(OFFSETS, METHODS.values(), STROKES, strict=False):
            one = part[part["method"] == method].set_index("covariate")[statistic].reindex(covariates)
            fill = {"ms": 7, "mfc": colour, "zorder": 2} if method == "CS" else {"ms": 6, "mfc": "none", "zorder": 3}
            y = np.arange(len(covariates)) + offset
            ax.plot(one, y, ls="none", marker=marker, color=colour, mew=1.4, label=method, **fill)
        ax.set_title({"both": "both directions"}.get(columns, f"{DIRECTIONS.get(columns)} ({columns})"))
        ax.set_xlabel(f"{names[statistic]} (no unit)")
        ax.grid(axis="y", color=LIGHT, lw=0.7)
        ax.set_axisbelow(True)
        ax.spines[["left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
    panels[0].set_yticks(range(len(covariates)), covariates)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


@house
def held_out_ratios(table: pd.DataFrame) -> Axes:
    """Draw by which factor groups' held-out means come closer, per place and form, with intervals; log scale."""
    places = list(table["within"].unique())[::-1]
    _, ax = plt.subplots(figsize=(8.2, 0.72 * len(places) + 1.6))
    ax.axvline(1, color=INK, lw=1)
    for offset, form, (colour, marker, _) in zip(OFFSETS, FORMS, STROKES, strict=False):
        part = table[table["form"] == form].set_index("within").reindex(places)
        y = np.arange(len(places)) + offset
        ax.hlines(y, part["low"], part["high"], color=colour, lw=1.5)
        ax.plot(part["ratio"], y, ls="none", color=colour, marker=marker, ms=6.5, label=FORMS[form])
    ax.set_xscale("log")
    reach = (0.9 * table["low"].min(), 1.1 * table["high"].max())
    ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5) if reach[0] <= tick <= reach[1]]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.minorticks_off()
    ax.set_yticks(range(len(places)), places)
    ax.set_xlabel("spread of held-out means, after ÷ before calibration (log scale; left of 1: closer together)")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    ax.grid(axis="x", color=LIGHT, lw=0.7)
    ax.spines[["left"]].set_visible(False)
    return ax


@house
def before_after(calibrated: pd.DataFrame, *, form: str = "shift", unit: str = "points") -> Figure:
    """Draw each group's mean before and after calibration, a panel per place; bars are one standard error."""
    part = calibrated[calibrated["form"] == form]
    places = list(part["within"].unique())
    size = (max(4.2, 1.75 * len(places)), 4.3)
    figure, panels = plt.subplots(1, len(places), figsize=size, sharey=True, squeeze=False)
    for ax, place in zip(panels[0], places, strict=True):
        rows = part[part["within"] == place]
        jitter = np.linspace(-0.12, 0.12, len(rows))[rows["raw"].rank(method="first").astype(int) - 1]
        ax.plot([jitter, 1 + jitter], rows[["raw", "adjusted"]].T, color=GREY, lw=0.7, zorder=1)
        for x, mean, se, (colour, marker, _) in ((0, "raw", "raw_se", STROKES[1]), (1, "adjusted", "se", STROKES[0])):
            ax.errorbar(x + jitter, rows[mean], rows[se], ls="none", color=colour, marker=marker, ms=4, lw=0.7)
        ax.set_title(f"{place}\nsd {rows['raw'].std():.2f} → {rows['adjusted'].std():.2f}", fontsize=9.5)
        ax.set_xticks([0, 1], ["raw", "adjusted"])
        ax.set_xlim(-0.35, 1.35)
    panels[0][0].set_ylabel(f"mean score on the task ({unit})")
    return figure


def _label_points(ax: Axes, x: np.ndarray, y: np.ndarray, names: list[str], line: Line2D) -> None:
    """Write a name beside each point, where it overlaps other names, points and the line least."""
    pixel = 72 / ax.figure.dpi  # positions are found in pixels and kept in points, which survive another resolution
    points = ax.transData.transform(np.column_stack([x, y]))
    ends = ax.transData.transform(line.get_xydata())
    along = ends[0] + np.linspace(0, 1, 80)[:, None] * (ends[-1] - ends[0])
    taken = [_box(*point, 5, 5) for point in points] + [_box(*point, 2, 2) for point in along]
    frame = ax.get_window_extent()
    for n in np.argsort(-points[:, 1], kind="stable"):
        note = ax.annotate(literal(names[n]), (x[n], y[n]), xytext=(0, 0), textcoords="offset points", fontsize=8.5,
                           color=INK, ha="center", va="center")  # fmt: skip
        size = note.get_window_extent()
        w, h = size.width / 2, size.height / 2
        tries = [(far * dx * (w + 9), far * dy * (h + 8)) for far in (1.0, 1.5, 2.0) for dx, dy in AROUND]
        boxes = [_box(points[n, 0] + dx, points[n, 1] + dy, w, h) for dx, dy in tries]
        costs = [
            sum(_shared(box, other) for other in taken) + 1e4 * _outside(box, frame) + 1e-3 * rank
            for rank, box in enumerate(boxes)
        ]
        best = int(np.argmin(costs))
        note.set_position((tries[best][0] * pixel, tries[best][1] * pixel))
        taken.append(boxes[best])


def _box(x: float, y: float, half_width: float, half_height: float) -> tuple[float, float, float, float]:
    return x - half_width, y - half_height, x + half_width, y + half_height


def _shared(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _outside(box: tuple[float, ...], frame: Bbox) -> bool:
    return box[0] < frame.x0 or box[2] > frame.x1 or box[1] < frame.y0 or box[3] > frame.y1
