"""Pictures of how far annotators agree."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import GREY, INK, MARKERS, PALETTE, describe, house

NAMES = {
    "spearman": "Spearman's ρ", "pearson": "Pearson's r", "kendall_c": "Kendall's τ-c", "kendall_b": "Kendall's τ-b",
}  # fmt: skip


@house
def correlation_spread(correlated: pd.DataFrame, statistics: tuple[str, ...]) -> Figure:
    """Draw the correlation of every two annotators as a dot, the median as a bar, per language pair and statistic.

    correlated: the result of ``agreement.correlations``.
    """
    pairs = sorted(correlated["pair"].unique())
    size = (3.1 * len(statistics), 0.5 * len(pairs) + 1.2)
    figure, grid = plt.subplots(1, len(statistics), figsize=size, sharey=True, squeeze=False)
    for axes, statistic, colour in zip(grid.flat, statistics, PALETTE, strict=False):
        for position, pair in enumerate(pairs):
            chosen = (correlated["pair"] == pair) & (correlated["statistic"] == statistic)
            values = np.sort(correlated.loc[chosen, "value"].dropna())
            level = position + 0.26 * np.sin(2.4 * np.arange(len(values)))  # spreads dots evenly, alike at every run
            axes.plot(values, level, "o", ms=3.5, color=colour, alpha=0.55, mec="none")
            axes.plot([np.median(values)] * 2, [position - 0.4, position + 0.4], color=INK, lw=2.2)
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        axes.set(title=NAMES[statistic], xlabel="correlation (−1 to 1)", xlim=(-0.4, 1))
    grid[0, 0].set_yticks(range(len(pairs)), pairs)
    grid[0, 0].set_ylabel("language pair")
    shown = correlated[correlated["statistic"].isin(statistics)].groupby(["pair", "statistic"])["value"]
    medians = shown.median()
    alt = f"{len(statistics)} panels of dots, one dot for every two annotators, per language pair. Medians run from "
    alt += f"{medians.min():.2f} to {medians.max():.2f}, single values from {shown.min().min():.2f} up."
    return describe(figure, alt)


@house
def intraclass_intervals(table: pd.DataFrame) -> Figure:
    """Draw agreement and consistency with their 95 % intervals, per language pair.

    table: the result of ``agreement.intraclass``.
    """
    figure, axes = plt.subplots(figsize=(7, 0.55 * len(table) + 1.1))
    level = np.arange(len(table))
    kinds = {"agreement": "agreement: levels count", "consistency": "consistency: levels forgiven"}
    for shift, marker, colour, (kind, label) in zip((0.14, -0.14), MARKERS, PALETTE, kinds.items(), strict=False):
        axes.hlines(level + shift, table[f"{kind}_low"], table[f"{kind}_high"], color=colour, lw=2)
        axes.plot(table[kind], level + shift, marker, color=colour, mec="white", ms=8, label=label)
    axes.set_yticks(level, table["pair"])
    axes.set(xlim=(0, 1), ylabel="language pair", xlabel="intraclass correlation (0: none, 1: perfect), 95 % interval")
    axes.legend(loc="upper right")
    levels = [f"{row.pair} {row.agreement:.2f} and {row.consistency:.2f}" for row in table.itertuples()]
    alt = f"Two intervals per language pair, agreement and consistency: {'; '.join(levels)}."
    return describe(figure, alt)
