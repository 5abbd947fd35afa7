"""Pictures of a classifier: its confusions, whether its probabilities hold, and what its errors cost."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit import DataError
from evalkit.show.plots import GREY, INK, LIGHT, LINES, MARKERS, PALETTE, house, literal


@house
def confusion(table: pd.DataFrame, *, models: Sequence[str] | None = None) -> Figure:
    """Draw confusion matrices side by side: shares of each true label's row, with the count in each cell.

    table: one dimension of ``sudoh2021.evaluation.confusion``: model, true, predicted, count. models: which, in order.
    """
    names = list(dict.fromkeys(table["model"])) if models is None else list(models)
    absent = [name for name in names if name not in set(table["model"])]
    if absent or not names:
        raise DataError(f"There is no matrix of {', '.join(absent) or 'any model'}. Count its predictions first.")
    labels = list(dict.fromkeys(table["true"]))
    wide = 1.5 + 0.52 * len(labels) * len(names)
    figure, grid = plt.subplots(1, len(names), figsize=(wide, 0.9 + 0.42 * len(labels)), sharey=True, squeeze=False)
    for axes, name in zip(grid[0], names):
        counts = table[table["model"] == name].pivot(index="true", columns="predicted", values="count")
        counts = counts.loc[labels, labels].to_numpy(float)
        share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        drawn = axes.imshow(share, cmap="Greys", vmin=0, vmax=1, aspect="auto")
        for row, column in np.ndindex(*counts.shape):
            ink = "white" if share[row, column] > 0.55 else INK
            weight = "bold" if row == column else "normal"
            axes.text(column, row, f"{counts[row, column]:.0f}", ha="center", va="center", color=ink, fontsize=7.5,
                      fontweight=weight)  # fmt: skip
        axes.set_xticks(range(len(labels)), [literal(label) for label in labels], rotation=45, ha="right", fontsize=8)
        axes.set_yticks(range(len(labels)), [literal(label) for label in labels], fontsize=8)
        axes.set_title(literal(name), fontsize=9)
        axes.tick_params(length=0)
    figure.supxlabel("predicted label", fontsize=10)
    figure.supylabel("true label", fontsize=10)
    figure.colorbar(drawn, ax=grid, location="right", shrink=0.8, aspect=25, label="share of the true label's row")
    return figure


@house
def reliability(tables: dict[str, pd.DataFrame], *, event: str) -> Figure:
    """Draw how often an event happened against the probability stated for it, a line per model; the diagonal is ideal.

    tables: model -> the result of ``sudoh2021.reliability.reliability``. event: what the probability is of.
    """
    figure, axes = plt.subplots(figsize=(4.6, 4.2))
    axes.plot([0, 1], [0, 1], color=GREY, lw=0.9, ls=":", label="as stated")
    for number, (name, table) in enumerate(tables.items()):
        color = PALETTE[number % len(PALETTE)]
        axes.vlines(table["stated"], table["low"], table["high"], color=color, lw=1)
        axes.plot(table["stated"], table["observed"], color=color, marker=MARKERS[number % len(MARKERS)], ms=5,
                  ls=LINES[number % len(LINES)], label=literal(name))  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=f"stated probability of {literal(event)}")
    axes.set_ylabel("share that was (bar: 95 % interval)")
    axes.grid(color=LIGHT, lw=0.5)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@house
def cost(table: pd.DataFrame) -> Figure:
    """Draw what each signal costs, against no model, as a missed error grows dearer.

    table: the result of ``sudoh2021.costs.curve``.
    """
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    for number, (name, part) in enumerate(table.groupby("signal", sort=False)):
        axes.plot(part["missed_cost"], part["relative"], color=PALETTE[(number - 1) % len(PALETTE)] if number else GREY,
                  marker=MARKERS[number % len(MARKERS)], ms=5, ls=LINES[number % len(LINES)],
                  label=literal(name))  # fmt: skip
    ticks = sorted(table["missed_cost"].unique())
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set(xlabel="cost of a missed critical error (a false alarm costs 1; logarithmic)")
    axes.set_ylabel("expected cost, of that\nwithout a model (below 1: it pays)")
    axes.grid(color=LIGHT, lw=0.5)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@house
def by_pair(table: pd.DataFrame, *, models: Sequence[str]) -> Figure:
    """Draw each model's accuracy by language pair with its interval, a panel per dimension.

    table: ``sudoh2021.evaluation.accuracy`` by src_lang and tgt_lang.
    """
    dimensions = list(dict.fromkeys(table["dimension"]))
    part = table[table["model"].isin(models)].assign(pair=lambda rows: rows["src_lang"] + "-" + rows["tgt_lang"])
    if part.empty:
        raise DataError(f"There is no accuracy of {', '.join(models)}. Choose models of the table.")
    pairs = sorted(part["pair"].unique())
    figure, grid = plt.subplots(
        1, len(dimensions), figsize=(6.8, 0.42 * len(pairs) + 1.3), sharey=True, sharex=True, squeeze=False
    )
    for axes, dimension in zip(grid[0], dimensions):
        for number, model in enumerate(models):
            rows = part[(part["dimension"] == dimension) & (part["model"] == model)].set_index("pair").reindex(pairs)
            level = np.arange(len(pairs)) + 0.22 * (number - (len(models) - 1) / 2)
            color = PALETTE[number % len(PALETTE)]
            axes.hlines(level, rows["low"], rows["high"], color=color, lw=1.5)
            axes.plot(rows["accuracy"], level, ls="", marker=MARKERS[number % len(MARKERS)], ms=5, color=color,
                      label=literal(model))  # fmt: skip
        axes.set_title(literal(dimension))
        axes.grid(axis="x", color=LIGHT, lw=0.5)
    grid[0][0].set_yticks(np.arange(len(pairs)), pairs)
    grid[0][0].invert_yaxis()
    figure.supxlabel("share of test translations labelled right (bar: 95 % interval)", fontsize=10)
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure
