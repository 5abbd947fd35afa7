"""Pictures of automatic metrics: slipped references, correlations, spread, buckets, density against human scores."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure

from evalkit import DataError
from evalkit.show.plots import GREY, INK, LIGHT, LINES, PALETTE, house, literal
from evalkit.stats.terms import pluralize


@house
def alignment(evidence: pd.DataFrame, *, window: int = 15) -> Figure:
    """Draw, along a file, how well sources fit their own references and the references some rows away.

    evidence: the result of ``metrics.alignment.evidence``. window: rows that the curves are averaged over. Drawn are
    the row's own place and each shift that some row is taken to have; a grey band marks rows found shifted.
    """
    chosen = evidence[evidence["chosen"]].set_index("row")["shift"]
    wide = evidence.pivot(index="row", columns="shift", values="evidence")
    smooth = wide.rolling(window, center=True, min_periods=1).mean()
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    for number, shift in enumerate(sorted({0, *chosen.unique()}, key=abs)):
        where = _where(int(shift))
        axes.plot(smooth.index, smooth[shift], color=PALETTE[number], ls=LINES[number], label=f"reference in {where}")
    moved = chosen.ne(0).to_numpy()
    axes.fill_between(
        chosen.index, 0, 1, where=moved, transform=axes.get_xaxis_transform(), color=LIGHT, alpha=0.6, lw=0
    )
    axes.axhline(0, color=GREY, lw=0.8)
    axes.set(xlabel="row of the file (counted from 0)")
    axes.set_ylabel("evidence for a translation\n(natural log of the likelihood ratio)")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def _where(shift: int) -> str:
    """Say in words where a reference stands."""
    return (
        "the same row"
        if shift == 0
        else f"the place {pluralize(abs(shift), 'row')} {'above' if shift < 0 else 'below'}"
    )


@house
def correlations(table: pd.DataFrame, *, statistic: str = "kendall_b") -> Figure:
    """Draw each metric's correlation with human scores, a panel per language, bars for the intervals.

    table: the result of ``metrics.correlation.segments`` with resamples. statistic: "kendall_b" or "pearson".
    """
    low, high = f"{statistic}_low", f"{statistic}_high"
    if low not in table:
        raise DataError("The correlations have no intervals to be drawn. Compute them with resamples.")
    languages = list(dict.fromkeys(table["language"]))
    metrics = list(dict.fromkeys(table["metric"]))
    figure, grid = plt.subplots(
        1, len(languages), figsize=(6.8, 0.26 * len(metrics) + 1.1), sharey=True, sharex=True, squeeze=False
    )
    level = np.arange(len(metrics))
    for axes, language in zip(grid[0], languages):
        part = table[table["language"] == language].set_index("metric").loc[metrics]
        axes.hlines(level, part[low], part[high], color=PALETTE[0], lw=2)
        axes.plot(part[statistic], level, ls="", marker="o", ms=5, color=INK)
        axes.set_title(literal(language))
        axes.grid(axis="x", color=LIGHT, lw=0.5)
    grid[0][0].set_yticks(level, [literal(name) for name in metrics])
    grid[0][0].invert_yaxis()
    name = {"kendall_b": "Kendall's τ-b", "pearson": "Pearson's r"}[statistic]
    figure.supxlabel(f"{name} with human scores (segments; bar: 95 % interval)", fontsize=10)
    grid[0][0].set_ylabel("metric")
    return figure


@house
def subsets(table: pd.DataFrame, *, rule: str) -> Figure:
    """Draw each metric's tau among segments with fluency errors only and with accuracy errors only, by language.

    table: the result of ``sai2023.subsets.correlations``; rule: one of its rules.
    """
    part = table[table["rule"] == rule]
    if part.empty:
        raise DataError(f"No row was computed by the rule {rule!r}. Choose among {', '.join(table['rule'].unique())}.")
    languages, metrics = list(dict.fromkeys(part["language"])), list(dict.fromkeys(part["metric"]))
    figure, grid = plt.subplots(
        1, len(languages), figsize=(6.8, 0.26 * len(metrics) + 1.5), sharey=True, sharex=True, squeeze=False
    )
    level = np.arange(len(metrics))
    looks = {"fluency": {"marker": "o", "mfc": "white"}, "accuracy": {"marker": "s", "mfc": INK}}
    for axes, language in zip(grid[0], languages):
        wide = part[part["language"] == language].pivot(index="metric", columns="subset", values="kendall_b")
        wide = wide.loc[metrics]
        axes.hlines(level, wide["fluency"], wide["accuracy"], color=GREY, lw=1)
        for name, look in looks.items():
            axes.plot(wide[name], level, ls="", ms=5.5, color=INK, label=f"{name} errors only", **look)
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        axes.set_title(literal(language))
    grid[0][0].set_yticks(level, [literal(name) for name in metrics])
    grid[0][0].invert_yaxis()
    figure.supxlabel("Kendall's τ-b with human scores", fontsize=10)
    grid[0][0].set_ylabel("metric")
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


@house
def spread(normal: pd.DataFrame, *, language: str = "ta") -> Figure:
    """Draw how each metric's scores, brought to 0-1, are spread, human scores on top: outlines, quartiles, median.

    normal: the result of ``metrics.spread.normalised``. After Sai et al. 2023, Figure 4.
    """
    part = _of(normal, language)
    metrics = list(dict.fromkeys(part["metric"]))
    figure, axes = plt.subplots(figsize=(6.4, 0.42 * len(metrics) + 0.9))
    values = [part.loc[part["metric"] == name, "value"].to_numpy() for name in metrics]
    level = np.arange(len(metrics))
    for place, sample in zip(level, values):
        share, edges = np.histogram(sample, bins=40, range=(0, 1))
        height = 0.42 * share / share.max()
        fill = PALETTE[1] if place == 0 else LIGHT
        axes.fill_between(
            edges, *(place + np.append(side * height, 0) for side in (-1, 1)), step="post", color=fill, lw=0
        )
        q1, median, q3 = np.quantile(sample, [0.25, 0.5, 0.75])
        axes.plot([q1, q3], [place, place], color=INK, lw=2)
        axes.plot(median, place, "o", color="white", mec=INK, ms=5)
    axes.set_yticks(level, [literal(name) for name in metrics])
    axes.invert_yaxis()
    axes.set(xlabel="score on a scale from 0 to 1 (circle: median, bar: middle half)", xlim=(-0.01, 1.01))
    axes.set_ylabel(f"metric ({literal(language)})")
    return figure


@house
def buckets(table: pd.DataFrame, *, language: str = "ml", metrics: Sequence[str] | None = None) -> Figure:
    """Draw each metric's scores by bucket of the human score, a panel per metric: middle half, 5-95 %, median.

    table: the result of ``metrics.spread.buckets``. After Sai et al. 2023, Figure 6. A bucket below five judgements is
    drawn hollow.
    """
    part = _of(table, language)
    metrics = list(dict.fromkeys(part["metric"])) if metrics is None else list(metrics)
    columns = 3
    rows = -(-len(metrics) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(6.8, 1.85 * rows + 0.5), squeeze=False, sharex=True)
    for axes, metric in zip(grid.flat, metrics):
        shown = part[part["metric"] == metric].reset_index(drop=True)
        at = shown.index.to_numpy()
        axes.vlines(at, shown["p5"], shown["p95"], color=GREY, lw=1)
        axes.vlines(at, shown["q1"], shown["q3"], color=PALETTE[0], lw=6)
        for marked, fill in ((shown["n"] >= 5, INK), (shown["n"] < 5, "white")):
            axes.plot(at[marked], shown["median"][marked], ls="", marker="o", ms=5, mfc=fill, mec=INK)
        names = [f"{row.bucket}\nn={row.n}" for row in shown.itertuples()]
        axes.set_xticks(at, names, fontsize=8.5)
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlim(-0.5, len(shown) - 0.5)
        axes.set_title(literal(metric), fontsize=10)
    for axes in list(grid.flat)[len(metrics) :]:
        axes.set_axis_off()
    figure.supxlabel("human score (of 25) and judgements in the bucket", fontsize=10)
    figure.supylabel(f"metric, its own units ({literal(language)})", fontsize=10)
    return figure


@house
def hexbins(
    scored: pd.DataFrame, *, gold: str = "score", metrics: Sequence[str], language: str | None = None
) -> Figure:
    """Draw metric scores against human scores, a panel per metric, hexagons shaded by how many translations they hold.

    scored: translations with ``gold`` and a column per metric; language: a tgt_lang, all where None. After Sai et al.
    2023, Figure 7.
    """
    part = scored if language is None else scored[scored["tgt_lang"] == language]
    part = part.dropna(subset=[gold, *metrics])
    if part.empty:
        raise DataError(f"No translation into {language!r} has all these scores. Check the language's code.")
    columns = min(3, len(metrics))
    rows = -(-len(metrics) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(6.8, 2.0 * rows + 0.7), squeeze=False, sharex=True)
    shades = ListedColormap(plt.get_cmap("Greys")(np.linspace(0.25, 1, 256)))  # a single translation shows, too
    drawn = []
    for axes, metric in zip(grid.flat, metrics):
        drawn.append(axes.hexbin(part[gold], part[metric], gridsize=18, cmap=shades, mincnt=1, lw=0.1))
        axes.set_title(literal(metric), fontsize=10)
        axes.tick_params(axis="x", labelbottom=True)
    most = max(panel.get_array().max() for panel in drawn)
    for panel in drawn:
        panel.set_norm(LogNorm(1, max(most, 2)))
    for axes in list(grid.flat)[len(metrics) :]:
        axes.set_axis_off()
    figure.supxlabel("human score (points of 25)", fontsize=10)
    figure.supylabel("metric, its own units", fontsize=10)
    figure.colorbar(drawn[-1], ax=grid, location="right", shrink=0.8, aspect=30, label="translations (logarithmic)")
    return figure


def _of(table: pd.DataFrame, language: str) -> pd.DataFrame:
    """Return the rows of one language as the study prints it."""
    part = table[table["language"] == language]
    if part.empty:
        raise DataError(
            f"There is no language {language!r} here. Choose among {', '.join(table['language'].unique())}."
        )
    return part
