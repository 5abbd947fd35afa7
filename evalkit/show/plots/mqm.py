"""Pictures of marked errors: their types and severities, their number per system, correlations of learned metrics."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from evalkit.show.plots import BOTH, INK, LIGHT, PALETTE, describe, forest, house, literal, shared_legend
from evalkit.stats import terms


@house
def severities(table: pd.DataFrame, *, by: str = "tgt_lang") -> Figure:
    """Draw accuracy, fluency and other errors by severity, darker for worse: a bar each, a panel per language.

    table: the result of ``mqm.severity_shares``. After Sai et al. 2023, Figure 1. Errors without a severity are white.
    """
    languages, groups = list(dict.fromkeys(table[by])), list(dict.fromkeys(table["group"]))
    levels = list(dict.fromkeys(table["severity"]))
    shades = {
        level: tuple(1 - (1 - np.array(to_rgb(PALETTE[0]))) * depth)
        for level, depth in zip(levels, np.append(np.linspace(0.15, 1.0, len(levels) - 1), 0.0))
    }
    rows = len(languages)
    figure, grid = plt.subplots(rows, 1, figsize=(BOTH, 0.78 * rows + 1.3), sharex=True, squeeze=False)
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
    shared_legend(figure, columns=3)
    worst = levels[len(levels) - 2] if len(levels) > 1 else levels[0]
    grave = table[table["severity"] == worst].groupby(by, sort=False)["share"].sum()
    return describe(
        figure,
        f"Bars of accuracy, fluency and other errors by severity for each language. Share of severity {worst}: "
        f"{', '.join(f'{language} {share:.0%}' for language, share in grave.items())}.",
    )


@house
def errors_per_system(table: pd.DataFrame, *, by: str = "tgt_lang") -> Figure:
    """Draw how many errors each system has in a judged translation, a mark per language.

    table: the result of ``mqm.errors_per_system``. After Sai et al. 2023, Figure 3, which shows totals.
    """
    means = table.groupby("system")["per_segment"].mean().sort_values()
    languages = table[by].nunique()
    figure, axes = plt.subplots(figsize=(BOTH, 0.42 * len(means) + 1.4))
    forest(axes, table, rows="system", value="per_segment", series=by, order=means.index[::-1])
    axes.hlines(np.arange(len(means) - 1) + 0.5, 0, 1, color=LIGHT, lw=0.6, transform=axes.get_yaxis_transform())
    axes.set(xlabel="errors marked in a translation, on average", ylabel="system", xlim=(0, None))
    shared_legend(figure, columns=5)
    return describe(
        figure,
        f"Marks per system for each of {languages} languages. Fewest errors a translation on average: "
        f"{means.index[0]} ({means.iloc[0]:.1f}); most: {means.index[-1]} ({means.iloc[-1]:.1f}).",
    )


@house
def learned(table: pd.DataFrame, *, setting: str) -> Figure:
    """Draw models' correlations with their intervals, by language.

    table: columns language, setting, model, kendall_b, low, high; rows of one ``setting`` are drawn.
    """
    part = table[table["setting"] == setting]
    names = {model: terms.display_name(model) for model in dict.fromkeys(part["model"])}
    figure, axes = plt.subplots(figsize=(BOTH, 0.5 * part["language"].nunique() + 1.3))
    forest(axes, part, rows="language", value="kendall_b", low="low", high="high", series="model", names=names)
    axes.set(xlabel="Kendall's τ-b with MQM scores (bar: 95 % interval)", ylabel="language")
    shared_legend(figure)
    means = part.groupby("model", sort=False)["kendall_b"].mean()
    return describe(
        figure,
        "Kendall's tau-b with intervals by language. Averages: "
        f"{', '.join(f'{names[model]} {value:.2f}' for model, value in means.items())}.",
    )
