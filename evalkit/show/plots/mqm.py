"""Pictures of marked errors: their types and severities, their number per system, correlations of learned metrics."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from evalkit.show.plots import GREY, INK, LIGHT, MARKERS, PALETTE, house, literal
from evalkit.stats import terms


@house
def severities(table: pd.DataFrame, *, by: str = "tgt_lang") -> Figure:
    """Draw accuracy, fluency and other errors by severity, darker for worse: a bar each, a panel per language.

    table: the result of ``mqm.severity_shares``. After Sai et al. 2023, Figure 1. Errors without a severity are white.
    """
    languages, groups = list(dict.fromkeys(table[by])), list(dict.fromkeys(table["group"]))
    levels = list(dict.fromkeys(table["severity"]))
    shades = {level: tuple(1 - (1 - np.array(to_rgb(PALETTE[0]))) * depth)
              for level, depth in zip(levels, np.append(np.linspace(0.15, 1.0, len(levels) - 1), 0.0))}  # fmt: skip
    rows = len(languages)
    figure, grid = plt.subplots(rows, 1, figsize=(5.6, 0.78 * rows + 1.3), sharex=True, squeeze=False)
    for axes, language in zip(grid[:, 0], languages):
        part = table[table[by] == language].pivot(index="group", columns="severity", values="share").loc[groups, levels]
        left = np.zeros(len(groups))
        for level in levels:
            width = part[level].to_numpy()
            axes.barh(groups, width, left=left, color=shades[level], edgecolor=INK, lw=0.5, label=level)
            left += width
        axes.invert_yaxis()
        axes.set_ylabel(literal(language), rotation=0, ha="right", va="center", labelpad=4)
        axes.tick_params(axis="y", length=0)
    grid[-1, 0].set_xlabel("share of the language's errors")
    grid[-1, 0].xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


@house
def errors_per_system(table: pd.DataFrame, *, by: str = "tgt_lang") -> Figure:
    """Draw how many errors each system has in a judged translation, a mark per language.

    table: the result of ``mqm.errors_per_system``. After Sai et al. 2023, Figure 3, which shows totals.
    """
    languages = list(dict.fromkeys(table[by]))
    order = table.groupby("system")["per_segment"].mean().sort_values().index
    figure, axes = plt.subplots(figsize=(5.6, 0.42 * len(order) + 1.4))
    offsets = np.linspace(-0.26, 0.26, len(languages))
    for number, (language, offset) in enumerate(zip(languages, offsets)):
        part = table[table[by] == language].set_index("system")["per_segment"].reindex(order)
        axes.plot(part, np.arange(len(order)) + offset, ls="", marker=MARKERS[number % len(MARKERS)], ms=6,
                  color=PALETTE[number % len(PALETTE)], mec=INK, mew=0.4, label=literal(language))  # fmt: skip
    for place in np.arange(len(order) - 1) + 0.5:
        axes.axhline(place, color=LIGHT, lw=0.6)
    axes.set_yticks(range(len(order)), [literal(name) for name in order])
    axes.set(xlabel="errors marked in a translation, on average", ylabel="system", xlim=(0, None))
    figure.legend(loc="outside upper center", ncols=min(5, len(languages)))
    return figure


@house
def learned(table: pd.DataFrame, *, setting: str, level: float | None = None) -> Figure:
    """Draw models' correlations with their intervals, by language.

    table: columns language, setting, model, kendall_b, low, high; rows of one ``setting`` are drawn.
    level: a correlation to mark by a dotted line, if any.
    """
    part = table[table["setting"] == setting]
    languages, models = list(dict.fromkeys(part["language"])), list(dict.fromkeys(part["model"]))
    figure, axes = plt.subplots(figsize=(5.6, 0.5 * len(languages) + 1.3))
    for number, (model, offset) in enumerate(zip(models, np.linspace(-0.24, 0.24, len(models)))):
        rows = part[part["model"] == model].set_index("language").loc[languages]
        place, colour = np.arange(len(languages)) + offset, PALETTE[number % len(PALETTE)]
        axes.hlines(place, rows["low"], rows["high"], color=colour, lw=1.8)
        axes.plot(rows["kendall_b"], place, ls="", marker=MARKERS[number % len(MARKERS)], ms=6, color=colour, mec=INK,
                  mew=0.4, label=literal(terms.display_name(model)))  # fmt: skip
    if level is not None:
        axes.axvline(level, color=GREY, ls=":", lw=1)
    axes.set_yticks(range(len(languages)), [literal(name) for name in languages])
    axes.invert_yaxis()
    axes.set(xlabel="Kendall's τ-b with MQM scores (bar: 95 % interval)", ylabel="language")
    figure.legend(loc="outside upper center", ncols=min(4, len(models)))
    return figure
