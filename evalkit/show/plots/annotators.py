"""Pictures of how annotators use the scale."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit import DataError
from evalkit.data.provenance import demand_hundred
from evalkit.data.schemas import with_pair
from evalkit.human.annotators import SQM_TICKS, even_share
from evalkit.show.plots import GREY, INK, LIGHT, PALETTE, describe, house, literal
from evalkit.stats.agreement import score_matrix


@house
def score_grid(ratings: pd.DataFrame, annotators: Sequence[str]) -> Figure:
    """Draw chosen annotators against each other: histograms on the diagonal, one dot per item off it.

    ratings: one language pair. The layout of Knowles & Lo 2024, Figure 1.
    """
    demand_hundred(ratings)
    scores = score_matrix(ratings)
    if missing := [a for a in annotators if a not in scores.columns]:
        raise DataError(f"{', '.join(missing)}: no such annotator. There are {', '.join(scores.columns)}.")
    n = len(annotators)
    figure, grid = plt.subplots(n, n, figsize=(1.9 * n, 1.75 * n), squeeze=False, sharex=True)
    for i, row in enumerate(annotators):
        for j, column in enumerate(annotators):
            axes = grid[i, j]
            if i == j:
                axes.hist(ratings.loc[ratings["annotator"] == row, "score"], bins=np.arange(0, 105, 5), color=GREY)
                axes.set_title(literal(row), fontsize=9)
                axes.set_ylabel("judgements", fontsize=8)
            else:
                axes.plot(scores[column], scores[row], "o", ms=3, color=PALETTE[0], alpha=0.5, mec="none")
                axes.axline((0, 0), slope=1, color=LIGHT, lw=0.8, zorder=0)
                axes.set_ylim(-4, 104)
            axes.set_xlim(-4, 104)
            axes.set_xticks([0, 50, 100])
            axes.tick_params(labelsize=7)
    gap = " " if n > 2 else "\n"  # a line as long as this does not fit beside one or two
    figure.supxlabel(f"score given by the{gap}annotator of the column (0 to 100)", fontsize=10)
    figure.supylabel(f"off the diagonal: score given by{gap}the annotator of the row (0 to 100)", fontsize=10)
    return figure


@house
def score_strips(ratings: pd.DataFrame, *, marks: Sequence[float] = SQM_TICKS) -> Figure:
    """Draw every annotator of every pair as a strip of grey: the darker, the more of their scores lie there.

    Strips are sorted by mean score, lenient annotators on top; a small triangle marks the mean. Dotted lines are the
    slider's tick marks.
    """
    demand_hundred(ratings)
    ratings = with_pair(ratings)
    pairs = sorted(ratings["pair"].unique())
    counts = ratings.groupby("pair")["annotator"].nunique()
    columns = min(2, len(pairs))
    rows = -(-len(pairs) // columns)
    heights = [max(counts.loc[pairs[r * columns : (r + 1) * columns]]) for r in range(rows)]
    figure, grid = plt.subplots(
        rows, columns, figsize=(4.6 * columns, 0.2 * sum(heights) + 0.75 * rows), squeeze=False,
        gridspec_kw={"height_ratios": [h + 2 for h in heights]},
    )  # fmt: skip
    edges = np.arange(-0.5, 102, 2)
    for axes, pair in zip(grid.flat, pairs, strict=False):
        scores = ratings[ratings["pair"] == pair].groupby("annotator")["score"]
        means = scores.mean().sort_values()
        strips = np.array([np.histogram(scores.get_group(a), bins=edges)[0] for a in means.index], dtype=float)
        strips /= strips.sum(axis=1, keepdims=True)
        axes.pcolormesh(edges, np.arange(len(means) + 1), np.sqrt(strips), cmap="Greys", vmin=0, vmax=0.7)
        axes.plot(means, np.arange(len(means)) + 0.5, "v", color=PALETTE[1], ms=4, mec="white", mew=0.5)
        for mark in marks:
            axes.axvline(mark, color=PALETTE[0], lw=0.6, ls=":")
        axes.hlines(np.arange(1, len(means)), 0, 100, color="white", lw=0.8)
        axes.set_yticks(np.arange(len(means)) + 0.5, [literal(a) for a in means.index], fontsize=8)
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(-0.5, 101), title=pair, xlabel="score (0 to 100)", ylabel="annotator")
    for axes in list(grid.flat)[len(pairs) :]:
        axes.set_axis_off()
    scores = ratings.groupby(["pair", "annotator"])["score"]
    means, few = scores.mean(), int((scores.nunique() <= 15).sum())
    alt = f"A panel per language pair with a grey strip per annotator, {len(means)} in all, from 0 to 100. Means run "
    alt += f"from {means.min():.0f} to {means.max():.0f}, and {few} strips consist of 15 scores or fewer."
    return describe(figure, alt)


@house
def tick_shares(shares: pd.DataFrame, *, within: float) -> Figure:
    """Draw how much of each annotator's scores lies on the slider's tick marks, one dot an annotator.

    shares: the result of ``annotators.ticks``. The dotted line is what evenly spread scores would give.
    """
    total = shares.groupby(["pair", "annotator"])["share"].sum().reset_index()
    pairs = sorted(total["pair"].unique())
    even = even_share(tick_marks=tuple(shares["mark"].unique()), within=within)
    figure, axes = plt.subplots(figsize=(7.5, 0.55 * len(pairs) + 1.1))
    for position, pair in enumerate(pairs):
        values = total.loc[total["pair"] == pair, "share"].sort_values().to_numpy()
        level = position + _spread(values, step=0.03)
        axes.plot(values, level, "o", color=PALETTE[0], ms=6, mec="white", mew=0.6)
        axes.plot([np.median(values)] * 2, [position - 0.32, position + 0.32], color=INK, lw=2)
    axes.axvline(even, color=PALETTE[1], ls=":", lw=1.5)
    axes.annotate(f"evenly spread scores: {even:.2f}", (even, len(pairs) - 0.45), color=PALETTE[1], fontsize=9,
                  xytext=(4, 0), textcoords="offset points", va="center")  # fmt: skip
    axes.set_yticks(range(len(pairs)), pairs)
    axes.set(ylim=(-0.6, len(pairs) - 0.2), xlim=(-0.02, 1.02), ylabel="language pair")
    axes.set_xlabel(f"share of an annotator's scores within {within:g} point of a tick mark (bar: median annotator)")
    alt = "Dots per language pair along the share of scores on tick marks; a dotted line for evenly spread scores. "
    alt += f"The median annotator has {total['share'].median():.2f}, the highest {total['share'].max():.2f}."
    return describe(figure, alt)


@house
def repeat_differences(repeated: pd.DataFrame) -> Figure:
    """Draw each annotator's median and largest difference between two scores of the same segment.

    repeated: the result of ``annotators.repeats``.
    """
    pairs = sorted(repeated["pair"].unique())
    most = repeated.groupby("pair").size().max()
    figure, grid = plt.subplots(1, len(pairs), figsize=(3.1 * len(pairs), 0.21 * most + 1), squeeze=False, sharex=True)
    for axes, pair in zip(grid.flat, pairs, strict=True):
        rows = repeated[repeated["pair"] == pair].sort_values(["median_abs_diff", "max_abs_diff"])
        level = np.arange(len(rows))
        axes.hlines(level, rows["median_abs_diff"], rows["max_abs_diff"], color=LIGHT, lw=2)
        axes.plot(rows["median_abs_diff"], level, "o", color=PALETTE[0], ms=5, label="median")
        axes.plot(rows["max_abs_diff"], level, "|", color=INK, ms=9, mew=2, label="largest")
        axes.set_yticks(level, [literal(a) for a in rows["annotator"]], fontsize=7)
        axes.tick_params(axis="y", length=0)
        axes.set(
            title=f"{pair} ({rows['n'].max()} repeated segments)", xlabel="difference (points of 100)", xlim=(-2, None)
        )
    grid[0, 0].set_ylabel("annotator")
    grid[0, -1].legend(loc="lower right")
    small, wide = (repeated["median_abs_diff"] <= 5).mean(), (repeated["max_abs_diff"] >= 20).mean()
    alt = "Per annotator a dot for the median and a bar for the largest difference between two scores of one segment. "
    alt += f"The median is 5 points or fewer for {small:.0%} of annotators, the largest at least 20 for {wide:.0%}."
    return describe(figure, alt)


def _spread(values: np.ndarray, *, step: float) -> np.ndarray:
    """Return vertical offsets that keep dots of nearly equal value apart, the same ones at every run."""
    offsets = np.zeros(len(values))
    for i, value in enumerate(values):
        close = offsets[:i][np.abs(values[:i] - value) < step]
        tried = (sign * k * 0.14 for k in range(len(values)) for sign in (1, -1))
        offsets[i] = next(o for o in tried if not np.isclose(close, o).any())
    return offsets
