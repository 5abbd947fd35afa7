"""Pictures of metrics held against humans: thresholds, rankings with clusters, tests, scores against scores."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm
from matplotlib.figure import Figure

from evalkit.metrics.rankings import top
from evalkit.show.plots import (
    BOTH,
    GREY,
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
)
from evalkit.stats.terms import join_names

_STATISTIC = ["level", "statistic", "grouping"]
_LEVELS = (0.0, 0.001, 0.01, 0.05, 1.0000001)
_CLASSES = ("p < 0.001", "p < 0.01", "p < 0.05", "not significant")


def _look(number: int) -> dict[str, Any]:
    """Give the n-th series a colour, a marker and a line style of its own."""
    return mark(number) | {"ls": LINES[number % len(LINES)], "ms": 5.5, "mew": 0.4}


@house
def kept(table: pd.DataFrame, *, threshold: float) -> Figure:
    """Draw how many pairs are left at each threshold, a thin line per language pair and the means of both directions.

    table: the result of ``darr.kept``.
    """
    figure, axes = plt.subplots(figsize=(BOTH, 4.0))
    for _, curve in table.groupby("pair"):
        axes.plot(curve["threshold"], curve["pairs"], color=GREY, lw=0.5)
    means = table.groupby(["direction", "threshold"])["pairs"].mean().reset_index()
    for number, (direction, curve) in enumerate(means.groupby("direction")):
        axes.plot(curve["threshold"], curve["pairs"], markevery=5, label=f"mean {direction}", **_look(number))
    axes.axvline(threshold, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="threshold (points of direct assessment, 0-100)", yscale="log")
    axes.set_ylabel("pairs of translations (logarithmic)")
    legend(axes)
    ends = means.sort_values("threshold").groupby("direction").agg(["first", "last"])
    told = "; ".join(
        f"{row.Index}: {row[3]:,.0f} pairs at {row[1]:g}, {row[4]:,.0f} at {row[2]:g}" for row in ends.itertuples()
    )
    return describe(
        figure,
        f"Falling lines of the number of pairs against the threshold, on a logarithmic scale. Means: {told}.",
    )


@house
def sweep(table: pd.DataFrame, *, threshold: float) -> Figure:
    """Draw each metric's tau (left) and its rank (right) against the threshold, a row per variant.

    table: the result of ``darr.results`` for one language pair and many thresholds.
    """
    variants = list(dict.fromkeys(table["variant"]))
    figure, grid = plt.subplots(len(variants), 2, figsize=(6.8, 2.1 * len(variants) + 0.6), sharex=True, squeeze=False)
    for row, variant in zip(grid, variants, strict=True):
        part = table[table["variant"] == variant]
        for number, (metric, curve) in enumerate(part.groupby("metric", sort=False, observed=True)):
            look = _look(number) | {"markevery": (2 * number % 7, 7)}  # so that equal curves show each other's markers
            row[0].plot(curve["threshold"], curve["tau"], label=literal(metric), **look)
            row[1].plot(curve["threshold"], curve["rank"].astype(float), drawstyle="steps-mid", **look)
        row[0].set(title=variant, ylabel="τ (-1 to 1)")
        row[1].set_ylabel("rank (1 is best)")
        row[1].set_yticks(range(1, part["metric"].nunique() + 1))
        row[1].invert_yaxis()
        for axes in row:
            axes.axvline(threshold, color=GREY, lw=0.8, ls=":")
    for axes in grid[-1]:
        axes.set_xlabel("threshold (points)")
    if narrow():
        shared_legend(figure, columns=5)
    else:
        _name_metrics(table, dict(zip(variants, grid[:, 1], strict=True)))
    nearest = table["threshold"].sub(threshold).abs()
    firsts = table[(nearest == nearest.min()) & (table["rank"] == 1)].groupby("variant", sort=False)["metric"]
    return describe(
        figure,
        f"Tau and rank of each metric from threshold {table['threshold'].min():g} to {table['threshold'].max():g}, a "
        f"row of panels per variant. First at {threshold:g} points: "
        f"{'; '.join(f'{variant} {join_names(found)}' for variant, found in firsts)}.",
    )


def _name_metrics(table: pd.DataFrame, panels: Mapping[str, Axes]) -> None:
    """Write the metrics' names at the ends of their lines of ranks, in the panel of each variant."""
    colours = {metric: _look(number)["color"] for number, metric in enumerate(dict.fromkeys(table["metric"]))}
    last = table[table["threshold"] == table["threshold"].max()].dropna(subset="rank")
    for variant, axes in panels.items():
        ends = last.loc[last["variant"] == variant, ["metric", "threshold", "rank"]].itertuples(index=False)
        labels.name_ends(axes, [(literal(one), x, y, colours[one]) for one, x, y in ends], rows=len(panels))


@house
def ranking(
    table: pd.DataFrame, *, statistic: str, chance: float | None = None, most: int = 20, also: str = ""
) -> Figure:
    """Draw metrics' values with intervals, best on top; lines part clusters, and the number is the cluster's.

    table: metric, value, rank, low, high, best first. chance: what a random metric comes to, told in the title where it
    lies too far off to be drawn. most: metrics drawn; also: one that is among them wherever it comes.
    """
    shown = top(table, most=most, also=also).reset_index(drop=True)
    figure, axes = plt.subplots(figsize=(BOTH, 0.225 * len(shown) + 1.0))
    names = {row.metric: f"{row.metric}  {row.rank}" for row in shown.itertuples()}
    forest(axes, shown, rows="metric", value="value", low="low", high="high", names=names)
    for edge in np.flatnonzero(shown["rank"].diff() > 0) - 0.5:
        axes.axhline(edge, color=GREY, lw=0.8)
    low, high = axes.get_xlim()
    if chance is not None and chance >= low - (high - low) / 4:
        line = axes.axvline(chance, color=PALETTE[1], lw=1.2, ls="--", label="a random metric")
        beyond = shown["value"].min() < chance  # a metric that is upside down has its dot where the legend would be
        legend(axes, handles=[line], loc="upper left" if beyond else "lower left")
    elif chance is not None:
        axes.set_title(f"a random metric: {chance:.2f}, far to the left", fontsize=9, fontweight="normal")
    axes.set(xlabel=f"{literal(statistic)}, 95 % interval", ylabel="metric and cluster")
    best = ", ".join(f"{row.metric} {row.value:.3f}" for row in table.head(3).itertuples())
    return describe(
        figure, f"{len(table)} metrics by {statistic}, in {table['rank'].max()} clusters; the best are {best}."
    )


@house
def p_values(matrix: pd.DataFrame, *, statistic: str, most: int = 20, also: str = "") -> Figure:
    """Draw which metrics (rows) are significantly better than which others (columns), best first.

    matrix: the result of ``rankings.p_matrix``. most: metrics drawn; also: one that is among them wherever it comes.
    Four shades of grey are the classes of p.
    """
    first = top(pd.DataFrame({"metric": matrix.index}), most=most, also=also)["metric"]
    shown = matrix.loc[first, first]
    figure, axes = plt.subplots(figsize=(6.4, 6.4))
    shades = ListedColormap(["#202020", "#6f6f6f", "#b9b9b9", "#f4f4f4"]).with_extremes(bad="white")
    norm = BoundaryNorm(_LEVELS, 4)
    picture = axes.pcolormesh(shown.to_numpy(), cmap=shades, norm=norm, edgecolor="white", lw=0.6)
    names = [literal(name) for name in shown.index]
    axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90)
    axes.set_yticks(np.arange(len(names)) + 0.5, names)
    axes.tick_params(length=0)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.set(xlabel="than this metric", ylabel="is this metric better?", title=literal(statistic))
    bar = figure.colorbar(picture, ax=axes, location="top", shrink=0.8, spacing="uniform", drawedges=True)
    bar.set_ticks([(low + high) / 2 for low, high in pairwise(_LEVELS)], labels=_CLASSES)
    bar.ax.tick_params(length=0)
    share = (matrix.to_numpy()[np.triu_indices(len(matrix), 1)] <= 0.05).mean()
    return describe(
        figure, f"p-values of every two metrics by {statistic}; {share:.0%} of all pairs differ significantly."
    )


@house
def scores(metric: np.ndarray, human: np.ndarray, *, name: str, gold: str) -> Figure:
    """Draw a metric's scores against human ones: cells shaded by how many translations, distributions at the edges.

    metric, human: scores of the same translations, those without either left out. The line joins the metric's mean in
    each tenth of the human scores, as far as these can be told apart.
    """
    both = np.isfinite(metric) & np.isfinite(human)
    x, y = human[both], metric[both]
    figure, grid = plt.subplots(
        2, 2, figsize=(6.4, 5.6), sharex="col", sharey="row", width_ratios=[4, 1], height_ratios=[1, 4]
    )
    shades = ListedColormap(plt.get_cmap("Greys")(np.linspace(0.25, 1, 256)))  # a single translation shows, too
    cells = grid[1, 0].hist2d(x, y, bins=40, cmap=shades, norm=LogNorm(), cmin=1)[3]
    edges = np.unique(np.quantile(x, np.linspace(0, 1, 11)))
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, max(len(edges) - 2, 0))
    means = pd.DataFrame({"place": place, "x": x, "y": y}).groupby("place").mean()
    grid[1, 0].plot(means["x"], means["y"], color=PALETTE[1], marker="o", mec="white", label="mean of the metric")
    grid[0, 0].hist(x, bins=40, color=GREY)
    grid[1, 1].hist(y, bins=40, color=GREY, orientation="horizontal")
    grid[0, 1].set_axis_off()
    grid[0, 0].set_ylabel("translations")
    grid[1, 1].set_xlabel("translations", loc="right")
    grid[1, 0].set(xlabel=f"human score ({literal(gold)})", ylabel=f"{literal(name)} (its own units)")
    legend(grid[1, 0], loc="upper left")
    figure.colorbar(cells, ax=grid[0, 1], location="left", fraction=0.9, aspect=6, label="translations\nin a cell")
    return describe(figure, f"Shaded cells of {name} against {gold} scores with both distributions.")


@house
def ranks(table: pd.DataFrame, *, most: int = 10, names: Mapping[str, str] | None = None, also: str = "") -> Figure:
    """Draw the ranks of metrics under several statistics: a row a metric, a column a statistic, dark for the first.

    table: the result of ``rankings.side_by_side``, best first. most: metrics drawn; also: one that is among them
    wherever it comes. names: what statistics are called.
    """
    places = top(table, most=most, also=also).set_index("metric").astype(float)
    figure, axes = plt.subplots(figsize=(6.4, 0.3 * len(places) + (2.4 if narrow() else 1.4)))
    shades = ListedColormap(plt.get_cmap("Greys")(np.linspace(0.45, 0, 256))).with_extremes(bad="white")
    axes.pcolormesh(places.to_numpy(), cmap=shades, norm=LogNorm(1, max(table.shape[0], 2)), edgecolor="white", lw=1)
    for row, column in np.ndindex(*places.shape):
        rank = places.iloc[row, column]
        words = "–" if np.isnan(rank) else f"{rank:.0f}"
        weight = "bold" if rank == 1 else "normal"
        axes.text(column + 0.5, row + 0.5, words, ha="center", va="center", weight=weight, fontsize=9)
    called = [textwrap.fill((names or {}).get(name, name), 20 if narrow() else 12) for name in places]
    axes.set_xticks(np.arange(len(called)) + 0.5, list(map(literal, called)), rotation=90 * narrow())
    axes.set_yticks(np.arange(len(places)) + 0.5, list(map(literal, places.index)))
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.set(xlabel="rank by each statistic (1 is best; –: no scores)", ylabel="metric")
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
    first = [f"by {(names or {}).get(name, name)} {join_names(places.index[places[name] == 1])}" for name in places]
    return describe(figure, f"Ranks of {len(places)} metrics by {len(called)} statistics. First: {'; '.join(first)}.")


@house
def floors(table: pd.DataFrame, *, words: Mapping[tuple[str, str, str], str]) -> Figure:
    """Draw how many metrics each sentinel is above, a row a statistic, a marker of its own for each sentinel.

    table: the result of ``bounds.beaten``. words: (level, statistic, grouping) -> how it is written; others are left
    out. The statistic that is fooled most stands on top.
    """
    named = table.assign(words=[words.get(key, "") for key in zip(*(table[name] for name in _STATISTIC), strict=True)])
    named = named[named["words"] != ""]
    most = named.groupby("words")["share"].max().sort_values(ascending=False, kind="stable")
    figure, axes = plt.subplots(figsize=(BOTH, 0.27 * len(most) + (1.9 if narrow() else 1.3)))
    sentinels = list(dict.fromkeys(named["sentinel"]))
    for number, sentinel in enumerate(sentinels):
        own = named[named["sentinel"] == sentinel].set_index("words")["share"].reindex(most.index)
        places = np.arange(len(most)) + 0.11 * (number - (len(sentinels) - 1) / 2)
        axes.plot(100 * own.to_numpy(), places, label=sentinel, clip_on=False, zorder=3, **mark(number))
    axes.set_yticks(range(len(most)), [literal(textwrap.fill(name, 24) if narrow() else name) for name in most.index])
    axes.set_ylim(len(most) - 0.5, -0.5)
    axes.set(xlabel="metrics that the sentinel is above (%)", ylabel="", xlim=(-2, 100))
    axes.grid(axis="x", color=GREY, lw=0.3)
    shared_legend(figure, columns=2 if narrow() else 4)
    told = "; ".join(f"{name}: {100 * share:.0f} %" for name, share in most.items())
    return describe(
        figure, f"Markers of {join_names(sentinels)} by statistic, the most fooled on top. At most, {told}."
    )
