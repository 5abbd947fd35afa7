"""Pictures of comparisons: what two on one screen change, and strengths of systems."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import BOTH, INK, describe, forest, house, literal


@house
def changes(measures: pd.DataFrame) -> Figure:
    """Draw by how much each measure changes side by side, in % of what it is one by one, with 95 % intervals.

    measures: measure, pointwise, side_by_side, low, high, the last two of the difference.
    """
    own = measures["pointwise"]
    shown = measures.assign(
        change=100 * (measures["side_by_side"] / own - 1),
        low=100 * measures["low"] / own,
        high=100 * measures["high"] / own,
    )
    figure, axes = plt.subplots(figsize=(BOTH, 0.32 * len(shown) + 0.9))
    axes.axvline(0, color=INK, lw=1)
    forest(axes, shown, rows="measure", value="change", low="low", high="high")
    axes.set(xlabel="change side by side, in % of what it is one by one", ylabel="")
    told = "; ".join(f"{row.measure} {row.change:+.0f} %" for row in shown.itertuples())
    return describe(figure, f"Changes of {len(shown)} measures with 95 % intervals around a line at 0. {told}.")


@house
def strengths(table: pd.DataFrame, *, title: str) -> Figure:
    """Draw systems' strengths with 95 % intervals, the strongest on top. table: system, strength, low, high."""
    figure, axes = plt.subplots(figsize=(BOTH, 0.26 * len(table) + 0.9))
    axes.axvline(0, color=INK, lw=1)
    forest(axes, table, rows="system", value="strength", low="low", high="high")
    axes.set(xlabel=literal(f"{title}: log odds against the average"), ylabel="")
    best, worst = table.iloc[0], table.iloc[-1]
    return describe(
        figure,
        f"Strengths of {len(table)} systems with 95 % intervals. Strongest: {best['system']} {best['strength']:.2f}; "
        f"weakest: {worst['system']} {worst['strength']:.2f}.",
    )
