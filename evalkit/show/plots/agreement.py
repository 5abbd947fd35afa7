"""Pictures of how far annotators agree."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import BOTH, GREY, PALETTE, describe, dots, forest, house, legend, small_multiples
from evalkit.stats import terms

_KINDS = {"agreement": "agreement: levels count", "consistency": "consistency: levels forgiven"}


@house
def correlation_spread(correlated: pd.DataFrame, statistics: tuple[str, ...]) -> Figure:
    """Draw the correlation of every two annotators as a dot, the median as a bar, per language pair and statistic.

    correlated: the result of ``agreement.correlations``.
    """
    pairs = sorted(correlated["pair"].unique())
    names = {statistic: terms.display_name(statistic) for statistic in statistics}
    figure, panels = small_multiples(
        names, titles=names, columns=len(names), size=(3.1, 0.5 * len(pairs) + 1.2), margin=(0, 0), sharey=True
    )
    for (statistic, axes), colour in zip(panels.items(), PALETTE):
        rows = correlated[correlated["statistic"] == statistic]
        dots(axes, rows, rows="pair", value="value", order=pairs, colour=colour)
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        axes.set(xlabel="correlation (−1 to 1)", xlim=(-0.4, 1))
    figure.axes[0].set_ylabel("language pair")
    drawn = correlated[correlated["statistic"].isin(statistics)]
    medians = drawn.groupby(["pair", "statistic"])["value"].median()
    return describe(
        figure,
        f"A dot for every two annotators, per language pair; a panel each for {', '.join(names.values())}. Medians run "
        f"from {medians.min():.2f} to {medians.max():.2f}, single values from {drawn['value'].min():.2f} up.",
    )


@house
def intraclass_intervals(table: pd.DataFrame) -> Figure:
    """Draw agreement and consistency with their 95 % intervals, per language pair.

    table: the result of ``agreement.intraclass``.
    """
    parts = [
        table[["pair"]].assign(kind=kind, value=table[kind], low=table[f"{kind}_low"], high=table[f"{kind}_high"])
        for kind in _KINDS
    ]
    figure, axes = plt.subplots(figsize=(BOTH, 0.55 * len(table) + 1.1))
    forest(
        axes,
        pd.concat(parts),
        rows="pair",
        value="value",
        low="low",
        high="high",
        series="kind",
        names=_KINDS,
        order=sorted(table["pair"]),
    )
    axes.set(xlim=(0, 1), ylabel="language pair", xlabel="intraclass correlation (0: none, 1: perfect), 95 % interval")
    legend(figure, loc="outside upper center")
    levels = [f"{row.pair} {row.agreement:.2f} and {row.consistency:.2f}" for row in table.itertuples()]
    return describe(figure, f"Two intervals per language pair, agreement and consistency: {'; '.join(levels)}.")
