"""Pictures of rules for lines between systems: how often each errs, and which lines each draws."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import BOTH, INK, above, describe, forest, house, literal, mark, narrow


@house
def false_lines(table: pd.DataFrame) -> Figure:
    """Draw how often each rule parts two systems that do not differ, beside how often it says it does, worst on top.

    table: rule, rate, low, high, nominal, of one situation, as shares.
    """
    shown = table.sort_values("rate", ascending=False, kind="stable").reset_index(drop=True)
    shown = shown.assign(**{name: 100 * shown[name] for name in ("rate", "low", "high", "nominal")})
    shown["kind"] = np.where(shown["low"] > shown["nominal"], "errs more often than it says", "keeps its level")
    figure, axes = plt.subplots(figsize=(BOTH, 0.21 * len(shown) + 1.1))
    looks = {"keeps its level": mark(2) | {"marker": "D"}, "errs more often than it says": mark(0) | {"marker": "o"}}
    forest(
        axes,
        shown,
        rows="rule",
        value="rate",
        low="low",
        high="high",
        series="kind",
        apart=0,
        looks=looks,
        order=shown["rule"],
    )
    places = np.arange(len(shown))
    axes.vlines(shown["nominal"], places - 0.36, places + 0.36, color=INK, lw=2.2, label="its level")
    axes.set_xlim(left=0)
    axes.set(xlabel="% of campaigns in which a line parts two equal systems", ylabel="")
    above(axes, columns=3)
    worst, best = shown.iloc[0], shown.iloc[-1]
    return describe(
        figure,
        f"Dots with 95 % intervals of {len(shown)} rules, worst on top, and bars at each rule's own level. Worst: "
        f"{worst['rule']} {worst['rate']:.0f} % (level {worst['nominal']:.0f} %). Best: {best['rule']} "
        f"{best['rate']:.0f} % (level {best['nominal']:.0f} %).",
    )


@house
def clusters_by_rule(rankings: pd.DataFrame, *, title: str) -> Figure:
    """Draw the clusters of one ranking under every rule: a column a rule, a row a system, numbers are clusters.

    rankings: rule, system, cluster, of one data set and pair; systems stand in the order of their mean cluster.
    """
    wide = rankings.pivot(index="system", columns="rule", values="cluster")[rankings["rule"].unique()]
    score = rankings[rankings["rule"] == rankings["rule"].iloc[-1]].set_index("system")["score"]
    wide = wide.loc[score.sort_values(ascending=False).index]
    values = wide.to_numpy(float)
    tall = 0.21 * len(wide) + 1.5
    figure, axes = plt.subplots(figsize=(BOTH, tall))
    shades = np.where(values % 2 == 1, 0.25, 0.6)
    axes.imshow(shades, cmap="Greys", vmin=0, vmax=1.6, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=7.5 if narrow() else 8.5, color=INK)
    axes.set_xticks(
        range(len(wide.columns)),
        wide.columns,
        fontsize=8.5,
        rotation=90 if narrow() else 50,
        ha="center" if narrow() else "right",
    )
    axes.set_yticks(range(len(wide)), [literal(name) for name in wide.index], fontsize=8.5)
    axes.set(xlabel=literal(f"{title}: cluster by rule"), ylabel="")
    axes.tick_params(length=0)
    for column in range(1, len(wide.columns)):
        axes.axvline(column - 0.5, color="white", lw=1.5)
    lines = (wide.max() - 1).astype(int)
    told = "; ".join(f"{name} {number}" for name, number in lines.items())
    return describe(figure, f"A table of {len(wide)} systems and the cluster of each under every rule. Lines: {told}.")
