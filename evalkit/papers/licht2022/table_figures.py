"""Pictures of what the paper's Tables 5 and 6 hold: predictions, the consensus, ranks, scores from outside."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from evalkit import DataError
from evalkit.human.calibration import METHODS
from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LIGHT,
    LINES,
    PALETTE,
    describe,
    forest,
    house,
    legend,
    literal,
    mark,
    page,
    readable,
    shared_legend,
    small_multiples,
)
from evalkit.show.plots.views import View

DIRECTIONS = {"X-EN": "into English", "EN-X": "out of English"}
_TITLES = {direction: f"{words} ({direction})" for direction, words in DIRECTIONS.items()} | {"both": "both directions"}
_STATISTICS = {"pearson": "Pearson's r", "r2": "r²", "linreg": "LinReg: mean r² on held-out halves"}
_ORANGE = PALETTE[1]
#: Where a label may stand relative to its point, best first.
_AROUND = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)])


@house
def prediction_gaps(recovered: pd.DataFrame) -> Axes:
    """Draw each predicted CS+HT cell as an interval around what is printed, in hundredths of a scale point.

    recovered: the result of ``implied.recover``.
    """
    gaps = 100 * recovered[["cs_ht_predicted", "cs_ht_low", "cs_ht_high"]].sub(recovered["cs_ht_printed"], axis=0)
    gaps = gaps.assign(cell=recovered["language"] + ", " + recovered["direction"], reachable=recovered["reachable"])
    figure, axes = plt.subplots(figsize=(BOTH, 6.6))
    axes.axvspan(-0.5, 0.5, color=PALETTE[4], alpha=0.28, lw=0)
    axes.axvline(0, color=GREY, lw=0.8)
    forest(
        axes,
        gaps,
        rows="cell",
        value="cs_ht_predicted",
        low="cs_ht_low",
        high="cs_ht_high",
        series="reachable",
        apart=0,
        names={True: "can be reached", False: "cannot be reached"},
        looks={True: {"color": INK, "marker": "o", "ms": 6}, False: {"color": _ORANGE, "marker": "X", "ms": 9}},
    )
    axes.tick_params(axis="y", labelsize=9)
    axes.set_ylim(len(gaps) - 0.3, -1.9)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    axes.text(0, -1.2, "rounds to the printed score", ha="center", va="center", fontsize=9, bbox=box)
    axes.set_xlabel("predicted minus printed CS+HT score (hundredths of a scale point)")
    legend(figure, title="the printed cell", loc="outside upper center", columns=2)
    return describe(
        axes,
        f"Interval chart with a row for each of the {len(gaps)} cells: predicted minus printed CS+HT score with the "
        "range that rounding allows. A band marks what rounds to the printed score; intervals that miss it, "
        f"{(~gaps['reachable']).sum()} of them, are marked by a cross.",
    )


@house
def consensus_intervals(cells: pd.DataFrame, *, joint: pd.Series, nominal: float = 3.0) -> Axes:
    """Draw which consensus scores single printed cells allow, the 14 most telling ones, and all cells together.

    cells: the result of ``implied.consensus_by_cell``; joint: the row of ``implied.joint_consensus``.
    nominal: the consensus that is assumed, marked by a line.
    """
    telling = cells.assign(width=cells["high"] - cells["low"]).nsmallest(14, "width")
    telling["cell"] = telling["language"] + ", " + telling["direction"]
    telling["allows"] = telling["low"].le(nominal) & telling["high"].ge(nominal)
    figure, axes = plt.subplots(figsize=(BOTH, 5.2))
    low, high = joint["low"], joint["high"]
    if low <= high:
        label = f"all cells allow {low:.3f} to {high:.3f}"
        axes.axvspan(low, high, color=PALETTE[2], alpha=0.22, lw=0, label=label)
    axes.axvline(nominal, color=_ORANGE, ls="--", lw=1.6, label=f"assumed: {nominal:g}")
    looks: dict[bool, dict[str, Any]] = {
        True: {"color": INK, "marker": "|", "mec": INK, "mew": 1.5},
        False: {"color": _ORANGE, "marker": "X"},
    }
    names = {True: "the cell allows the assumed score", False: "the cell does not allow it"}
    forest(
        axes,
        telling.assign(consensus=np.nan),
        rows="cell",
        value="consensus",
        low="low",
        high="high",
        series="allows",
        apart=0,
        names=names,
        looks=looks,
    )
    axes.tick_params(axis="y", labelsize=9)
    legend(figure, loc="outside upper center", columns=2)
    axes.set_xlabel("consensus score of the calibration set that the cell allows (points on the 1–5 scale)")
    return describe(
        axes,
        "Interval chart of the consensus scores that single printed cells allow, narrowest first, with a band for what "
        f"all cells allow together ({low:.3f} to {high:.3f}) and a dashed line at the assumed consensus. Cells that do "
        "not allow it end in crosses.",
    )


@house
def bump_chart(ranked: pd.DataFrame, *, highlight: tuple[str, ...] = ()) -> Figure:
    """Draw how the languages' ranks change from method to method, a panel per direction.

    ranked: the result of ``implied.rankings``. highlight: languages drawn in colour, with a marker and a line style of
    their own (six at most).
    """
    figure, panels = small_multiples(DIRECTIONS, titles=_TITLES, columns=2, size=(5.5, 5.6), margin=(0, 0))
    methods = list(METHODS.values())
    for direction, axes in panels.items():
        table = ranked[ranked["direction"] == direction].pivot(index="language", columns="method")
        for language, row in table.iterrows():
            look: dict[str, Any] = {"color": GREY, "marker": ".", "lw": 0.9, "ms": 5}
            words: dict[str, Any] = {"color": INK, "weight": "normal", "va": "center", "fontsize": 8.5}
            if language in highlight:
                number = highlight.index(language)
                look = mark(number) | {"ls": LINES[number], "lw": 2.2}
                words |= {"color": readable(look["color"]), "weight": "bold"}
            y, scores = row["position"][methods], row["score"][methods]
            axes.plot(range(len(methods)), y, **look)
            axes.text(-0.12, y.iloc[0], f"{language} {scores.iloc[0]:.2f}", ha="right", **words)
            axes.text(len(methods) - 0.88, y.iloc[-1], f"{language} {scores.iloc[-1]:.2f}", ha="left", **words)
        axes.set(xlim=(-1.3, len(methods) + 0.25), ylim=(len(table) + 0.6, 0.4), yticks=[])
        axes.set_xticks(range(len(methods)), methods)
        axes.set_xlabel("how scores were adjusted")
        axes.spines[:].set_visible(False)
    figure.axes[0].set_ylabel("rank (the best at the top)", labelpad=14)
    return describe(
        figure,
        f"Two bump charts, into and out of English: ranks of {ranked['language'].nunique()} languages under "
        f"{', '.join(methods)}. Highlighted with markers and line styles of their own: "
        f"{', '.join(highlight) or 'none'}.",
    )


@house
def table6_dots(table6: pd.DataFrame, *, statistic: str = "pearson") -> Figure:
    """Draw one statistic of Table 6 for all outside scores and methods, a panel per column of the table.

    table6: the result of ``languages.correlate``. statistic: pearson, r2 or linreg.
    """
    rows = table6["covariate"].nunique()
    own = statistic == "linreg"  # which reaches far below 0, otherwise in each panel
    figure, panels = small_multiples(
        ("X-EN", "EN-X", "both"),
        titles=_TITLES,
        size=(10.4 / 3, 0.5 * rows + 1.7),
        margin=(0, 0),
        sharey=True,
        sharex=not own,
        xlabel=f"{_STATISTICS[statistic]} (no unit)",
    )
    looks: dict[str, dict[str, Any]] = {
        method: {"mfc": "none", "mec": PALETTE[n], "mew": 1.4} for n, method in enumerate(METHODS.values())
    }
    looks["CS"] = {"mec": PALETTE[1], "ms": 7}
    for columns, axes in panels.items():
        part = table6[table6["columns"] == columns]
        forest(axes, part, rows="covariate", value=statistic, series="method", looks=looks)
        if own:
            axes.axvline(0, color=INK, lw=0.8, zorder=1)
        axes.grid(axis="y", color=LIGHT, lw=0.7)
        axes.spines["left"].set_visible(False)
    shared_legend(figure)
    return describe(
        figure,
        f"Dot chart: {_STATISTICS[statistic]}, of the four methods with each of {rows} outside scores, in three panels "
        f"(into English, out of English, both{'; scales differ' if own else ''}). CS is a filled square, the others "
        "are hollow.",
    )


@house
def scores_against(joined: pd.DataFrame, *, covariate: str) -> Figure:
    """Draw raw and calibrated scores into English against an outside score, with fits (Figure 2), a panel each.

    joined: the result of ``external.merged``; languages appear by their codes. covariate: one of its outside scores.
    """
    part = joined[(joined["covariate"] == covariate) & (joined["direction"] == "X-EN")]
    if len(part) < 2:
        known = ", ".join(joined["covariate"].unique())
        raise DataError(f"No outside score called {covariate!r} for X-EN. There are: {known}.")
    titles = {way: f"{METHODS[way]}: r = {part['value'].corr(part[way]):.3f}, n = {len(part)}" for way in ("raw", "cs")}
    figure, panels = small_multiples(titles, titles=titles, columns=2, size=(5.1, 4.4), margin=(0, 0), sharey=True)
    for number, (way, axes) in enumerate(panels.items()):
        x, y = part["value"].to_numpy(), part[way].to_numpy()
        ends = np.array([x.min(), x.max()])
        look = mark(number)
        axes.plot(ends, np.polyval(np.polyfit(x, y, 1), ends), color=look["color"], ls=LINES[number], lw=1.8, zorder=1)
        axes.plot(x, y, **(look | {"mec": look["color"], "ms": 6, "zorder": 2}))
        axes.margins(0.09, 0.1)
        axes.set_xlabel(covariate + (" (0–100)" if covariate.startswith("spBLEU") else ""))
    figure.axes[0].set_ylabel("average XSTS score, into English (points, 1–5)")
    page.fit(figure)
    figure.draw_without_rendering()  # fixes the axes, so that labels can be placed
    for way, axes in panels.items():
        _label_points(axes, part["value"].to_numpy(), part[way].to_numpy(), part["language_code"].tolist())
    return describe(
        figure,
        f"Two scatter plots of average scores into English against {covariate}, raw and calibrated, with fits; "
        f"{len(part)} points are labelled with language codes. {'; '.join(titles.values())}.",
    )


def outside_scores(joined: pd.DataFrame, *, outside_score: str) -> View:
    """View average scores into English, raw and calibrated, against a score from outside.

    joined: the result of ``external.merged``. outside_score: one of its covariates.
    """
    figure = scores_against(joined, covariate=outside_score)
    here = joined[(joined["covariate"] == outside_score) & (joined["direction"] == "X-EN")]
    pd.concat({METHODS[way]: here.assign(score=here[way]) for way in ("raw", "cs")}, names=["way"])
    return View(figure, "The analogue of the paper's Figure 2, on a public outside score")


def _label_points(axes: Axes, x: np.ndarray, y: np.ndarray, names: list[str]) -> None:
    """Write a name beside each point, where it overlaps other names, points and the first line least."""
    line: Line2D = axes.lines[0]
    pixel = 72 / axes.figure.dpi  # positions are found in pixels and kept in points, which survive another resolution
    points = axes.transData.transform(np.column_stack([x, y]))
    first, last = axes.transData.transform(line.get_xydata())
    along = first + np.linspace(0, 1, 80)[:, None] * (last - first)
    taken = np.vstack([_boxes(points, 5, 5), _boxes(along, 2, 2)])
    frame = axes.get_window_extent().extents
    for n in np.argsort(-points[:, 1], kind="stable"):
        note = axes.annotate(
            literal(names[n]),
            (x[n], y[n]),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8.5,
            color=INK,
            ha="center",
            va="center",
        )
        half = np.array([note.get_window_extent().width / 2, note.get_window_extent().height / 2])
        tried = np.vstack([far * _AROUND * (half + np.array([9, 8])) for far in (1.0, 1.5, 2.0)])
        boxes = _boxes(points[n] + tried, *half)
        shared = np.minimum(boxes[:, None, 2:], taken[:, 2:]) - np.maximum(boxes[:, None, :2], taken[:, :2])
        outside = (boxes[:, :2] < frame[:2]).any(axis=1) | (boxes[:, 2:] > frame[2:]).any(axis=1)
        best = np.argmin(shared.clip(0).prod(axis=2).sum(axis=1) + 1e4 * outside + 1e-3 * np.arange(len(tried)))
        note.set_position(tuple(tried[best] * pixel))
        taken = np.vstack([taken, boxes[best]])


def _boxes(centres: np.ndarray, half_width: float, half_height: float) -> np.ndarray:
    """Return boxes around points as rows left, bottom, right, top."""
    half = np.array([half_width, half_height])
    return np.hstack([centres - half, centres + half])
