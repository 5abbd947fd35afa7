"""Pictures of annotators' profiles: many at a glance, two sets of scores of the same people, screening decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from evalkit import DataError
from evalkit.data.provenance import demand_hundred, scale_of
from evalkit.human.annotators import SQM_TICKS
from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LIGHT,
    PALETTE,
    describe,
    house,
    literal,
    narrow,
    shared_legend,
    small_multiples,
)

_HATCH = "//////"


@house
def ridges(
    ratings: pd.DataFrame, *, marks: Sequence[float] = SQM_TICKS, scale: tuple[float, float] | None = None
) -> Figure:
    """Draw one ridge per annotator of a language pair: a smoothed histogram, lenient annotators on top.

    Drawn are the twenty annotators with most judgements, each ridge to the same height, so compare shapes and widths,
    not heights. Dotted lines are the slider's marks, the triangle is the mean.
    """
    names = _busiest(ratings)
    scores = ratings[ratings["annotator"].isin(names)].groupby("annotator")["score"]
    means = scores.mean().sort_values()
    scale = scale_of(ratings, given=scale)
    points = np.linspace(*scale, 401)
    figure, axes = plt.subplots(figsize=(BOTH, 0.34 * len(means) + 1.1))
    for row, name in enumerate(means.index):
        height = _density(scores.get_group(name).to_numpy(), points)
        top = row + 1.5 * height / height.max()
        axes.fill_between(points, row, top, color=LIGHT, ec=INK, lw=0.9, alpha=0.9, zorder=len(means) - row)
    rows = np.arange(len(means)) + 0.14
    axes.plot(means, rows, "v", color=PALETTE[1], ms=6, mec="white", mew=0.6, zorder=len(means) + 2)
    for tick in marks:
        axes.axvline(tick, color=PALETTE[0], lw=0.8, ls=":", zorder=len(means) + 1)
    axes.set_yticks(range(len(means)), [literal(name) for name in means.index], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=scale, ylim=(-0.15, len(means) + 0.7), ylabel="annotator")
    axes.set_xlabel(f"score ({scale[0]:g} to {scale[1]:g}); triangle: mean, dotted: tick marks")
    spread = scores.std()
    return describe(
        figure,
        f"A curve for each of {len(means)} annotators, lenient ones on top, over the scale from {scale[0]:g} to "
        f"{scale[1]:g}. Standard deviations run from {spread.min():.0f} to {spread.max():.0f} points.",
    )


@house
def histograms(ratings: pd.DataFrame, profiled: pd.DataFrame) -> Figure:
    """Draw a page of histograms, one panel per annotator of a language pair, with their profile in figures.

    profiled: the result of ``annotators.profiles`` for these ratings. Drawn are the twenty annotators with most
    judgements. Bars are one point wide, each panel has a height of its own. Written in it: the number of distinct
    scores, the ticks of the grid in use, the correlation with the others, the median difference on repeats; a dash
    stands for what is missing.
    """
    demand_hundred(ratings)
    scores = ratings[ratings["annotator"].isin(_busiest(ratings))].groupby("annotator")["score"]
    told = profiled.set_index("annotator")
    figure, panels = small_multiples(
        scores.mean().sort_values(ascending=False).index,
        size=(2.1, 1.35),
        margin=(0, 0.5),
        sharex=True,
        xlabel="score (0 to 100), one bar a point; dotted: tick marks",
        ylabel="share of the annotator's judgements (each panel to its own height)",
    )
    for name, axes in panels.items():
        _bars(axes, scores.get_group(name))
        row = told.loc[name]
        again = "no repeats" if pd.isna(row["median_abs_diff"]) else f"repeats {row['median_abs_diff']:.0f} apart"
        rho = "–" if pd.isna(row["with_others"]) else f"{row['with_others']:.2f}"
        between = "\n" if narrow() else ", "
        note = f"{row['unique_scores']:.0f} distinct, grid {row['grid']}\nρ {rho}{between}{again}"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        axes.text(0.02, 0.98, note, transform=axes.transAxes, va="top", fontsize=8.5, linespacing=1.15, bbox=box)
    others = told.loc[list(panels), "with_others"]
    return describe(
        figure,
        "A small histogram per annotator with the number of distinct scores, the coarser scale in use, the rank "
        f"correlation with the others ({others.min():.2f} to {others.max():.2f}) and the difference on repeats.",
    )


@house
def two_distributions(
    above: pd.DataFrame,
    below: pd.DataFrame,
    annotators: Sequence[str],
    *,
    names: tuple[str, str] = ("calibration HIT", "additional HITs"),
    scale: tuple[float, float] | None = None,
) -> Figure:
    """Draw two sets of scores by the same annotators, one panel each: the first above the line, the second below it.

    above, below: ratings, such as calibration and additional HITs (Knowles & Lo 2024, Figure 2), or ordinary and
    degraded items (their Figure 5). Bars are a twentieth of the scale wide, in shares of each set; the triangles are
    the means. Raises DataError where an annotator has no scores in one of the two.
    """
    for table, name in zip((above, below), names):
        if missing := [a for a in annotators if a not in set(table["annotator"])]:
            raise DataError(f"{', '.join(missing)}: no scores among the {name}. Choose others.")
    ends = {scale_of(table, given=scale) for table in (above, below)}
    if len(ends) > 1:
        raise DataError("The two sets of scores have different scales. Bring them to one, or pass scale=(low, high).")
    low, high = ends.pop()
    width = (high - low) / 20
    figure, panels = small_multiples(
        annotators,
        sharex=True,
        sharey=True,
        xlabel=f"score ({low:g} to {high:g}); triangles: means",
        ylabel="share of judgements",
    )
    edges = np.arange(low - width / 2, high + width, width)
    styles: tuple[dict[str, Any], ...] = (
        {"color": GREY},
        {"facecolor": "white", "hatch": _HATCH, "edgecolor": PALETTE[0]},
    )
    for annotator, axes in panels.items():
        for table, sign, style, name in zip((above, below), (1, -1), styles, names):
            scores = table.loc[table["annotator"] == annotator, "score"]
            share = np.histogram(scores, bins=edges)[0] / len(scores)
            axes.bar(edges[:-1] + width / 2, sign * share, width=0.9 * width, lw=0.6, label=name, **style)
            beside = offset_copy(axes.transData, figure, y=5 * sign, units="points")
            axes.plot(
                scores.mean(),
                0,
                "v" if sign > 0 else "^",
                color=PALETTE[1],
                ms=7,
                mec="white",
                mew=0.8,
                zorder=4,
                transform=beside,
            )
        axes.axhline(0, color=INK, lw=0.9)
        axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    shared_legend(figure)
    means = [table.groupby("annotator")["score"].mean()[list(annotators)] for table in (above, below)]
    apart = (means[0] - means[1]).abs()
    return describe(
        figure,
        f"{len(panels)} annotators: scores of {names[0]} above a line and of {names[1]} below. Their means lie "
        f"{apart.min():.0f} to {apart.max():.0f} points apart.",
    )


@house
def grids_in_use(tested: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw how many annotators use which grid of ticks, one panel per data set.

    tested: name -> the result of ``annotators.scale_grid``. A bar is the share of the data set's annotators.
    """
    titles = {
        name: f"{name}\n({table.groupby(['pair', 'annotator']).ngroups} annotators)" for name, table in tested.items()
    }
    figure, panels = small_multiples(
        tested,
        titles=titles,
        columns=len(titles),
        size=(2.3, 2.9),
        margin=(0.4, 0),
        sharey=True,
        xlabel="ticks of the grid in use (on the bars: annotators)",
        ylabel="share of annotators",
    )
    found = []
    for name, axes in panels.items():
        table = tested[name]
        people = table.groupby(["pair", "annotator"]).ngroups
        used = table.groupby("ticks")["in_use"].sum()
        bars = axes.bar([str(ticks) for ticks in used.index], used / people, color=LIGHT, ec=INK, hatch="//")
        axes.bar_label(bars, labels=[str(count) for count in used], fontsize=9)
        axes.margins(y=0.12)  # room for the number on the highest bar
        found += [f"{name}, {ticks} ticks: {count} annotators" for ticks, count in used[used > 0].items()]
    return describe(
        figure, f"Bars for the share of annotators who use a coarser scale, by its ticks: {'; '.join(found)}."
    )


def _busiest(ratings: pd.DataFrame) -> pd.Index:
    """Return the twenty who gave most judgements; of one language pair, or DataError."""
    if len(ratings[["src_lang", "tgt_lang"]].drop_duplicates()) != 1:
        raise DataError("A picture of annotators needs the ratings of one language pair. Select one first.")
    return ratings.groupby("annotator").size().sort_values(ascending=False, kind="stable").index[:20]


def _density(scores: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Smooth scores by a normal kernel with a standard deviation of two points: density per point of the scale."""
    values, counts = np.unique(scores, return_counts=True)
    kernel = np.exp(-0.5 * ((points[:, None] - values) / 2) ** 2)
    return kernel @ counts / (len(scores) * 2 * np.sqrt(2 * np.pi))


def _bars(axes: Axes, scores: pd.Series) -> None:
    values, counts = np.unique(scores, return_counts=True)
    axes.vlines(values, 0, counts / len(scores), color=INK, lw=1.3)
    for tick in SQM_TICKS:
        axes.axvline(tick, color=PALETTE[0], lw=0.7, ls=":", zorder=0)
    axes.set(
        xlim=(-1.5, 101.5), xticks=[0, 50, 100], ylim=(0, (2.1 if narrow() else 1.65) * counts.max() / len(scores))
    )
    axes.yaxis.set_major_locator(MaxNLocator(2))
    axes.tick_params(labelsize=8)
