"""Pictures of people and metrics side by side, of judges in place of annotators, and of judgements saved."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import BOTH, GREY, INK, above, describe, forest, house, literal, mark, narrow

#: A kind of contestant -> how it is marked; markers differ, so that colour is not needed.
_LOOKS = {
    "one person": mark(1) | {"marker": "s"},
    "two people": mark(2) | {"marker": "D"},
    "metric": mark(0) | {"marker": "o"},
    "knows nothing": mark(6) | {"marker": "X", "color": GREY},
}


@house
def ceiling(table: pd.DataFrame, *, statistic: str, gold: str, names: Mapping[str, str], most: int = 4) -> Figure:
    """Draw what people, the best metrics and what knows nothing come to, with intervals, best on top.

    table: contestant, kind, value, low, high, of one statistic. statistic, gold: what is held against what, in words.
    names: a contestant -> how it is written. most: metrics drawn, the best ones and the last.
    """
    table = table.dropna(subset=["value"]).sort_values("value", ascending=False, kind="stable")
    metrics = table[table["kind"] == "metric"]
    hidden = metrics.index[most - 1 : -1]
    shown = table.drop(index=hidden).reset_index(drop=True)
    figure, axes = plt.subplots(figsize=(BOTH, 0.21 * len(shown) + 0.9))
    written = {row.contestant: names.get(row.contestant, row.contestant) for row in shown.itertuples()}
    forest(
        axes,
        shown,
        rows="contestant",
        value="value",
        low="low",
        high="high",
        series="kind",
        apart=0,
        names=written,
        looks=_LOOKS,
    )
    for place, row in enumerate(shown.itertuples()):
        if row.kind not in set(shown["kind"][:place]):
            axes.annotate(
                row.kind,
                (row.high, place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=INK,
            )
    axes.margins(x=0.16 if narrow() else 0.1)
    axes.set(xlabel=literal(f"{statistic}, held against {gold}"), ylabel="")
    of_kind = shown.groupby("kind", sort=False).first()
    best = "; ".join(
        f"{kind}: {written[row.contestant]} {row.value:.3f}"
        for kind, row in zip(of_kind.index, of_kind.itertuples(), strict=True)
    )
    return describe(
        figure,
        f"Dots with 95 % intervals of {len(shown)} contestants by {statistic}, best on top; {len(hidden)} metrics "
        f"between the others are left out. The best of each kind: {best}.",
    )


@house
def replacing(table: pd.DataFrame, *, epsilon: float, names: Mapping[str, str], most: int = 12) -> Figure:
    """Draw which share of the annotators each judge may replace, a row a judge, a marker for each set of annotators.

    table: data, judge, kind, winning_rate, at one epsilon; judges stand in the order of their mean. names: a judge ->
    how it is written; people are marked as such. most: judges drawn, those that win most in any set, beside those that
    know nothing.
    """
    highest = table.groupby("judge")["winning_rate"].max().sort_values(ascending=False, kind="stable").index
    kept = table["judge"].isin(highest[:most]) | (table["kind"] == "knows nothing")
    left, table = table.loc[~kept, "judge"].nunique(), table[kept]
    means = table.groupby("judge")["winning_rate"].mean().sort_values(ascending=False, kind="stable")
    kinds = table.drop_duplicates("judge").set_index("judge")["kind"]
    written = {
        judge: names.get(judge, judge) + ("  (people)" if kinds[judge] == "people" else "") for judge in means.index
    }
    figure, axes = plt.subplots(figsize=(BOTH, 0.24 * len(means) + 1.2))
    forest(axes, table, rows="judge", value="winning_rate", series="data", order=means.index, names=written)
    axes.axvline(0.5, color=GREY, lw=0.8, ls="--")
    axes.set(xlim=(-0.03, 1.03), xlabel=f"share of the annotators it may replace (ε = {epsilon:g})", ylabel="")
    above(axes)
    told = [
        f"{written[row.judge]} {row.winning_rate:.2f} ({row.data})"
        for row in table.nlargest(3, "winning_rate").itertuples()
    ]
    return describe(
        figure,
        f"Dots of winning rates of {len(means)} judges, {left} lower ones left out; a dashed line at one half, from "
        f"which on a judge passes. The highest: {'; '.join(told)}.",
    )


@house
def saved(table: pd.DataFrame, *, most: int = 8) -> Figure:
    """Draw which share of judgements each metric saves at most, for means of systems and for their differences.

    Dots are averages; lines reach from the system, or pair, for which it saves least to that for which it saves most.

    table: the result of ``ppi.saved``. most: metrics drawn, those that save most of differences.
    """
    wide = table.pivot(index="metric", columns="what", values="saved")
    best = wide.sort_values("difference of two systems", ascending=False, kind="stable").head(most).index
    shown = table[table["metric"].isin(best)].copy()
    shown[["saved", "lowest", "highest"]] *= 100
    figure, axes = plt.subplots(figsize=(BOTH, 0.3 * len(best) + 1.3))
    forest(axes, shown, rows="metric", value="saved", low="lowest", high="highest", series="what", order=best)
    axes.set(xlim=(0, None), xlabel="judgements saved at most (%; line: least to most)", ylabel="")
    axes.margins(x=0.1)
    above(axes, columns=1)
    first = wide.loc[best[0]]
    return describe(
        figure,
        f"Two dots with lines for each of {len(best)} metrics, differences to the left. {best[0]} saves at most "
        f"{first['difference of two systems']:.0%} of the judgements for differences of systems on average, and "
        f"{first['mean of a system']:.0%} for means.",
    )
