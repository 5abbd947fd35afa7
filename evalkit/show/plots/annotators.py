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
from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LIGHT,
    PALETTE,
    describe,
    dots,
    forest,
    house,
    keep_grid,
    literal,
    narrow,
    shared_legend,
    small_multiples,
)
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
                axes.set_title(literal(row), fontsize=9, loc="right" if narrow() and i == n - 1 else "left")
                axes.set_ylabel("" if narrow() else "judgements", fontsize=8)
            else:
                axes.plot(scores[column], scores[row], "o", ms=3, color=PALETTE[0], alpha=0.5, mec="none")
                axes.axline((0, 0), slope=1, color=LIGHT, lw=0.8, zorder=0)
                axes.set_ylim(-4, 104)
            axes.set_xlim(-4, 104)
            axes.set_xticks([0, 100] if narrow() else [0, 50, 100])
            axes.tick_params(labelsize=7, labelleft=not narrow() or (j == 0 and i > 0))
    keep_grid(figure)
    gap = " " if n > 2 else "\n"  # a line as long as this does not fit beside one or two
    figure.supxlabel(f"score given by the{gap}annotator of the column (0 to 100)", fontsize=10)
    figure.supylabel(f"off the diagonal: score given by{gap}the annotator of the row (0 to 100)", fontsize=10)
    return describe(
        figure,
        f"A grid of {n} by {n} panels with histograms of {', '.join(annotators)} on the diagonal and scatter plots of "
        "two annotators off it, with the line of equal scores.",
    )


@house
def score_strips(ratings: pd.DataFrame) -> Figure:
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
        rows,
        columns,
        figsize=(4.6 * columns, 0.2 * sum(heights) + 0.75 * rows),
        squeeze=False,
        gridspec_kw={"height_ratios": [h + 2 for h in heights]},
    )
    edges = np.arange(-0.5, 102, 2)
    for axes, pair in zip(grid.flat, pairs, strict=False):
        scores = ratings[ratings["pair"] == pair].groupby("annotator")["score"]
        means = scores.mean().sort_values()
        strips = np.array([np.histogram(scores.get_group(a), bins=edges)[0] for a in means.index], dtype=float)
        strips /= strips.sum(axis=1, keepdims=True)
        axes.pcolormesh(edges, np.arange(len(means) + 1), np.sqrt(strips), cmap="Greys", vmin=0, vmax=0.7)
        axes.plot(means, np.arange(len(means)) + 0.5, "v", color=PALETTE[1], ms=4, mec="white", mew=0.5)
        for mark in SQM_TICKS:
            axes.axvline(mark, color=PALETTE[0], lw=0.6, ls=":")
        axes.hlines(np.arange(1, len(means)), 0, 100, color="white", lw=0.8)
        axes.set_yticks(np.arange(len(means)) + 0.5, [literal(a) for a in means.index], fontsize=8)
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(-0.5, 101), title=pair, xlabel="score (0 to 100)", ylabel="annotator")
    for axes in list(grid.flat)[len(pairs) :]:
        axes.set_axis_off()
    people = ratings.groupby(["pair", "annotator"])["score"].agg(["mean", "nunique"])
    return describe(
        figure,
        f"A panel per language pair with a grey strip from 0 to 100 for each annotator, {len(people)} in all. Mean "
        f"scores run from {people['mean'].min():.0f} to {people['mean'].max():.0f}; {(people['nunique'] <= 15).sum()} "
        "strips consist of 15 different scores or fewer.",
    )


@house
def tick_shares(shares: pd.DataFrame, *, within: float) -> Figure:
    """Draw how much of each annotator's scores lies on the slider's tick marks, one dot an annotator.

    shares: the result of ``annotators.ticks``. The dotted line is what evenly spread scores would give.
    """
    total = shares.groupby(["pair", "annotator"])["share"].sum().reset_index()
    pairs = sorted(total["pair"].unique())
    even = even_share(tick_marks=tuple(shares["mark"].unique()), within=within)
    figure, axes = plt.subplots(figsize=(BOTH, 0.55 * len(pairs) + 1.1))
    dots(axes, total, rows="pair", value="share", order=pairs)
    axes.axvline(even, color=PALETTE[1], ls=":", lw=1.5)
    axes.annotate(
        f"evenly spread scores: {even:.2f}",
        (even, -0.55),
        color=PALETTE[1],
        fontsize=9,
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
    )
    axes.set(ylim=(len(pairs) - 0.4, -0.8), xlim=(-0.02, 1.02), ylabel="language pair")
    axes.set_xlabel(f"share of an annotator's scores within {within:g} point of a tick mark (bar: median annotator)")
    return describe(
        figure,
        "Dots per language pair along the share of scores on tick marks, with a dotted line for evenly spread scores "
        f"at {even:.2f}. The median annotator has {total['share'].median():.2f}, the highest "
        f"{total['share'].max():.2f}.",
    )


@house
def repeat_differences(repeated: pd.DataFrame) -> Figure:
    """Draw each annotator's median and largest difference between two scores of the same segment.

    repeated: the result of ``annotators.repeats``.
    """
    people = repeated.groupby("pair")["annotator"]
    counts = repeated.groupby("pair")["n"].max()
    names = {pair: f"{pair} ({counts[pair]} repeated segments)" for pair in counts.index}
    figure, panels = small_multiples(
        names, titles=names, columns=len(names), size=(3.1, 0.21 * people.size().max() + 1), margin=(0, 0), sharex=True
    )
    for pair, axes in panels.items():
        rows = repeated[repeated["pair"] == pair].sort_values(["median_abs_diff", "max_abs_diff"], ascending=False)
        forest(
            axes,
            rows,
            rows="annotator",
            value="median_abs_diff",
            low="median_abs_diff",
            high="max_abs_diff",
            looks={None: {"label": "median", "ms": 5}},
        )
        axes.plot(rows["max_abs_diff"], range(len(rows)), "|", color=INK, ms=9, mew=2, label="largest")
        axes.tick_params(axis="y", labelsize=8)
        axes.set(xlabel="difference (points of 100)", xlim=(-2, None))
    figure.axes[0].set_ylabel("annotator")
    shared_legend(figure)
    small, wide = (repeated["median_abs_diff"] <= 5).mean(), (repeated["max_abs_diff"] >= 20).mean()
    return describe(
        figure,
        "Per annotator a dot for the median and a bar for the largest difference between two scores of one segment. "
        f"The median is 5 points or fewer for {small:.0%} of annotators, the largest at least 20 for {wide:.0%}.",
    )
