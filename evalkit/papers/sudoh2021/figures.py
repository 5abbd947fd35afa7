"""Pictures of critical-error labels: how often they are given, what assessments they get, which are taken for which."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from scipy import stats

from evalkit.papers.sudoh2021.taxonomy import CRITICAL, categories
from evalkit.show.plots import GREY, INK, LIGHT, MARKERS, PALETTE, house, literal

_FEW = 20  # judgements below which a density says more than the data do: dots are drawn instead
_SHORT = {"Incomprehensible": "Incompr.", "Contradiction": "Contrad."}


@house
def label_shares(table: pd.DataFrame) -> Figure:
    """Draw each annotator's labels as a bar cut into shares, worst labels on the left, a panel per dimension.

    table: the result of ``sudoh2021.shares``. Critical content errors are hatched; shades go from dark (bad) to light.
    """
    dimensions = list(dict.fromkeys(table["dimension"]))
    people = [table.loc[table["dimension"] == dimension, "annotator"].nunique() for dimension in dimensions]
    figure, grid = plt.subplots(
        len(dimensions), 1, figsize=(6.2, 0.42 * sum(people) + 1.35 * len(dimensions)), squeeze=False,
        gridspec_kw={"height_ratios": people},
    )  # fmt: skip
    for axes, dimension in zip(grid[:, 0], dimensions):
        names = categories(dimension)
        part = table[table["dimension"] == dimension].pivot(index="annotator", columns="label", values="share")
        part, left = part[names], np.zeros(len(part))
        for name, depth in zip(names, np.linspace(0.95, 0.06, len(names))):
            colour = tuple(1 - (1 - np.array(to_rgb(PALETTE[0]))) * depth)
            critical = dimension == "adequacy" and name in CRITICAL
            width = part[name].to_numpy()
            bars = axes.barh([literal(a) for a in part.index], width, left=left, color=colour, edgecolor=INK, lw=0.6,
                             hatch="///" if critical else None, label=name)  # fmt: skip
            for bar, share in zip(bars, width):
                if share >= 0.06:
                    box = {"facecolor": colour, "edgecolor": "none", "pad": 1} if critical else None
                    axes.text(bar.get_x() + share / 2, bar.get_y() + bar.get_height() / 2, f"{share:.0%}", fontsize=8,
                              ha="center", va="center", color="white" if depth > 0.55 else INK, bbox=box)  # fmt: skip
            left += width
        axes.invert_yaxis()
        axes.set(title=dimension, ylabel="annotator", xlim=(0, 1))
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22 if dimension != dimensions[-1] else -0.34), ncols=4,
                    fontsize=8)  # fmt: skip
    grid[-1, 0].set_xlabel("share of the annotator's labels")
    return figure


@house
def da_ridges(labelled: pd.DataFrame, *, dimension: str) -> Figure:
    """Draw how direct assessments spread within each label: an outline per label, a panel per annotator.

    labelled: as ``sudoh2021.joined`` makes it. A bar marks the mean. Labels given fewer than twenty times are dots.
    """
    part = labelled[labelled["dimension"] == dimension]
    names, people = categories(dimension), list(dict.fromkeys(part["annotator"]))
    figure, grid = plt.subplots(
        1, len(people), figsize=(2.3 * len(people) + 0.9, 0.55 * len(names) + 1.0), sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    grid_z = np.linspace(part["z"].min(), part["z"].max(), 200)
    for axes, person in zip(grid.flat, people):
        for place, name in enumerate(names):
            z = part.loc[(part["annotator"] == person) & (part["label"] == name), "z"].to_numpy()
            critical = dimension == "adequacy" and name in CRITICAL
            axes.axhline(place, color=LIGHT, lw=0.6, zorder=0)
            if len(z) >= _FEW and z.std() > 0:
                density = stats.gaussian_kde(z)(grid_z)
                axes.fill_between(grid_z, place - 0.82 * density / density.max(), place, facecolor=PALETTE[critical],
                                  edgecolor=INK, lw=0.7, alpha=0.55, hatch="///" if critical else None)  # fmt: skip
            else:
                axes.plot(z, np.full(len(z), place - 0.12), "o", ms=3, color=PALETTE[critical], mec=INK, mew=0.3)
            if len(z):
                axes.plot([z.mean()] * 2, [place - 0.5, place + 0.08], color=INK, lw=2.2)
        axes.axvline(0, color=GREY, ls=":", lw=0.8)
        axes.set(title=f"annotator {literal(person)}", xlabel="direct assessment (z)", ylim=(len(names) - 0.6, -1.0))
        axes.tick_params(axis="y", length=0)
    grid[0, 0].set_yticks(range(len(names)), names)
    grid[0, 0].set_ylabel("label")
    return figure


@house
def contrast_forest(table: pd.DataFrame, *, by: str) -> Figure:
    """Draw differences between labels with their intervals: a row per contrast, a panel per value of ``by``.

    table: the result of ``sudoh2021.contrasts``; annotators are told apart by markers.
    """
    panels = list(dict.fromkeys(table[by]))
    people = list(dict.fromkeys(table["annotator"]))
    rows = list(dict.fromkeys(zip(table["label"], table["against"])))
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(2.1 * columns + 1.6, (0.62 * len(rows) + 0.7) * lines + 0.9), sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for axes, panel in zip(grid.flat, panels):
        for number, (person, offset) in enumerate(zip(people, np.linspace(-0.25, 0.25, len(people)))):
            part = table[(table[by] == panel) & (table["annotator"] == person)].set_index(["label", "against"])
            part = part.reindex(rows)
            place, colour = np.arange(len(rows)) + offset, PALETTE[number % len(PALETTE)]
            axes.hlines(place, part["low"], part["high"], color=colour, lw=1.8)
            axes.plot(part["difference"], place, ls="", marker=MARKERS[number % len(MARKERS)], ms=6, color=colour,
                      mec=INK, mew=0.4, label=literal(person))  # fmt: skip
        axes.axvline(0, color=GREY, lw=0.9)
        axes.set(title=literal(panel), ylim=(len(rows) - 0.5, -0.5))
        axes.tick_params(axis="y", length=0)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    names = [f"{_SHORT.get(a, a)} − {_SHORT.get(b, b)}" for a, b in rows]
    grid[0, 0].set_yticks(range(len(rows)), names)
    figure.supxlabel("difference of mean z (right of 0: penalised less)", fontsize=10)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(people),
                  title="annotator")  # fmt: skip
    return figure


@house
def between_annotators(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw which labels two annotators give the same translations, a heat map per pair.

    tables: pair -> the result of ``sudoh2021.confusion_between``. The darker, the larger the share of the row; numbers
    are translations.
    """
    figure, grid = plt.subplots(1, len(tables), figsize=(3.0 * len(tables) + 1.0, 3.6), squeeze=False, sharey=True)
    for axes, (pair, table) in zip(grid.flat, tables.items()):
        names = list(dict.fromkeys(table["first"]))
        share = table.pivot(index="first", columns="second", values="share").loc[names, names]
        count = table.pivot(index="first", columns="second", values="count").loc[names, names]
        axes.imshow(share.fillna(0.0), cmap="Blues", vmin=0, vmax=1)
        for i in range(len(names)):
            axes.add_patch(plt.Rectangle((i - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=INK, lw=1.2))
            for j in range(len(names)):
                dark = share.iloc[i, j] > 0.55
                axes.text(j, i, f"{count.iloc[i, j]}", ha="center", va="center", fontsize=7,
                          color="white" if dark else INK)  # fmt: skip
        short = [_SHORT.get(name, name) for name in names]
        axes.set_xticks(range(len(names)), short, rotation=60, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(names)), short)
        axes.tick_params(length=0)
        first, second = table["first_annotator"].iloc[0], table["second_annotator"].iloc[0]
        axes.set(title=literal(pair), xlabel=f"label of {literal(second)}", ylabel=f"label of {literal(first)}")
        axes.tick_params(labelleft=True)
    return figure
