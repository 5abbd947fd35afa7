"""Pictures of automatic metrics: slipped references, correlations, spread, buckets, density against human scores."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure

from evalkit import DataError
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
    literal,
    rows_of,
    shared_legend,
    small_multiples,
)
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
    figure, axes = plt.subplots(figsize=(BOTH, 3.6))
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
    shared_legend(figure, columns=2)
    return describe(
        figure,
        f"Evidence that references fit their sources along a file of {len(chosen)} rows; {moved.sum()} rows are marked "
        "as shifted.",
    )


def _where(shift: int) -> str:
    """Say in words where a reference stands."""
    return (
        "the same row"
        if shift == 0
        else f"the place {pluralize(abs(shift), 'row')} {'above' if shift < 0 else 'below'}"
    )


@house
def correlations(table: pd.DataFrame) -> Figure:
    """Draw each metric's Kendall's tau-b with human scores, a panel per language, bars for the intervals.

    table: the result of ``metrics.correlation.segments`` with resamples.
    """
    if "kendall_b_low" not in table:
        raise DataError("The correlations have no intervals to be drawn. Compute them with resamples.")
    figure, panels = _by_language(table, xlabel="Kendall's τ-b with human scores (segments; bar: 95 % interval)")
    for language, axes in panels.items():
        forest(
            axes,
            table[table["language"] == language],
            rows="metric",
            value="kendall_b",
            low="kendall_b_low",
            high="kendall_b_high",
            order=dict.fromkeys(table["metric"]),
        )
        axes.grid(axis="x", color=LIGHT, lw=0.5)
    top = table.loc[table.groupby("language", sort=False)["kendall_b"].idxmax()]
    best = ", ".join(f"{row.language} {row.metric} {row.kendall_b:.2f}" for row in top.itertuples())
    count = table["metric"].nunique()
    return describe(figure, f"Kendall's tau-b of {count} metrics with intervals, a panel per language. Best: {best}.")


@house
def subsets(table: pd.DataFrame, *, rule: str) -> Figure:
    """Draw each metric's tau among segments with fluency errors only and with accuracy errors only, by language.

    table: the result of ``sai2023.metrics.correlations``; rule: one of its rules.
    """
    names = {kind: f"{kind} errors only" for kind in ("fluency", "accuracy")}
    part = rows_of(table, "rule", rule)
    part = part[part["subset"].isin(names)].sort_values("subset", ascending=False, kind="stable")
    figure, panels = _by_language(part, xlabel="Kendall's τ-b with human scores")
    ink = {"color": INK, "mec": INK, "mew": 1, "ms": 5.5}
    looks = {"fluency": ink | {"mfc": "white"}, "accuracy": ink}
    pairs = part.groupby(["language", "metric"])["kendall_b"]
    part = part.assign(low=pairs.transform("min"), high=pairs.transform("max"))  # a line joins the two marks
    for language, axes in panels.items():
        forest(
            axes,
            part[part["language"] == language],
            rows="metric",
            value="kendall_b",
            low="low",
            high="high",
            series="subset",
            apart=0,
            order=dict.fromkeys(part["metric"]),
            names=names,
            looks=looks,
        )
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
    shared_legend(figure)
    means = part.groupby("subset")["kendall_b"].mean()
    return describe(
        figure,
        "Kendall's tau-b of metrics among segments with one kind of error only, fluency or accuracy (rule: "
        f"{rule}). Means: {', '.join(f'{subset} {value:.2f}' for subset, value in means.items())}.",
    )


def _by_language(table: pd.DataFrame, *, xlabel: str) -> tuple[Figure, dict[str, Axes]]:
    """Return a narrow panel per language, with a row for each metric."""
    languages = dict.fromkeys(table["language"])
    size = (6.8 / len(languages), 0.26 * table["metric"].nunique() + 1.3)
    return small_multiples(
        languages,
        columns=len(languages),
        size=size,
        margin=(0, 0),
        sharex=True,
        sharey=True,
        xlabel=xlabel,
        ylabel="metric",
    )


@house
def spread(normal: pd.DataFrame, *, language: str) -> Figure:
    """Draw how each metric's scores, brought to 0-1, are spread, human scores on top: outlines, quartiles, median.

    normal: the result of ``metrics.spread.normalised``. After Sai et al. 2023, Figure 4.
    """
    part = rows_of(normal, "language", language)
    metrics = list(dict.fromkeys(part["metric"]))
    figure, axes = plt.subplots(figsize=(BOTH, 0.42 * len(metrics) + 0.9))
    values = [part.loc[part["metric"] == name, "value"].to_numpy() for name in metrics]
    level = np.arange(len(metrics))
    for place, sample in zip(level, values):
        share, edges = np.histogram(sample, bins=40, range=(0, 1))
        height = 0.42 * share / share.max()
        fill = PALETTE[1] if place == 0 else LIGHT
        height = np.append(height, 0)
        axes.fill_between(edges, place - height, place + height, step="post", color=fill, lw=0)
        q1, median, q3 = np.quantile(sample, [0.25, 0.5, 0.75])
        axes.plot([q1, q3], [place, place], color=INK, lw=2)
        axes.plot(median, place, "o", color="white", mec=INK, ms=5)
    axes.set_yticks(level, [literal(name) for name in metrics])
    axes.invert_yaxis()
    axes.set(xlabel="score on a scale from 0 to 1 (circle: median, bar: middle half)", xlim=(-0.01, 1.01))
    axes.set_ylabel(f"metric ({literal(language)})")
    low = ", ".join(f"{name} {(sample < 0.5).mean():.0%}" for name, sample in zip(metrics, values))
    return describe(
        figure,
        f"Outlines of the scores' distribution ({language}). Share in the lower half of the scale: {low}.",
    )


@house
def buckets(table: pd.DataFrame, *, language: str) -> Figure:
    """Draw each metric's scores by bucket of the human score, a panel per metric: middle half, 5-95 %, median.

    table: the result of ``metrics.spread.buckets``. After Sai et al. 2023, Figure 6. A bucket below five judgements is
    drawn hollow.
    """
    part = rows_of(table, "language", language)
    metrics = list(dict.fromkeys(part["metric"]))
    figure, panels = small_multiples(
        metrics,
        size=(6.8 / 3, 1.85),
        margin=(0, 0.5),
        sharex=True,
        xlabel="human score (of 25) and judgements in the bucket",
        ylabel=f"metric, its own units ({literal(language)})",
    )
    for metric, axes in panels.items():
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
    middle = part[part["metric"] == metrics[-1]]
    return describe(
        figure,
        f"Scores of {len(metrics)} metrics by bucket of the human score ({language}). Median of {metrics[-1]}: "
        f"{', '.join(f'{row.bucket} {row.median:.0f}' for row in middle.itertuples())}.",
    )


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
    figure, panels = small_multiples(
        metrics,
        size=(6.8 / min(3, len(metrics)), 2.0),
        margin=(0, 0.7),
        sharex=True,
        xlabel="human score (points of 25)",
        ylabel="metric, its own units",
    )
    shades = ListedColormap(plt.get_cmap("Greys")(np.linspace(0.25, 1, 256)))  # a single translation shows, too
    drawn = []
    for metric, axes in panels.items():
        drawn.append(axes.hexbin(part[gold], part[metric], gridsize=18, cmap=shades, mincnt=1, lw=0.1))
        axes.tick_params(axis="x", labelbottom=True)
    most = max(np.max(np.asarray(panel.get_array())) for panel in drawn)
    for panel in drawn:
        panel.set_norm(LogNorm(1, max(most, 2)))
    figure.colorbar(
        drawn[-1], ax=list(panels.values()), location="right", shrink=0.8, aspect=30, label="translations (logarithmic)"
    )
    rho = part[[gold, *metrics]].corr(method="spearman")[gold]
    return describe(
        figure,
        f"Density of metric scores against human scores of {len(part):,} translations, a panel per metric. Spearman's "
        f"rho: {', '.join(f'{metric} {rho[metric]:.2f}' for metric in metrics)}.",
    )
