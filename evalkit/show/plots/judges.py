"""Pictures of people and metrics side by side, of judges in place of annotators, and of judgements saved."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import BOTH, GREY, INK, describe, forest, house, literal, mark, narrow

#: A kind of contestant -> how it is marked; markers differ, so that colour is not needed.
_LOOKS = {
    "one person": mark(1) | {"marker": "s"}, "two people": mark(2) | {"marker": "D"},
    "metric": mark(0) | {"marker": "o"}, "knows nothing": mark(6) | {"marker": "X", "color": GREY},
}  # fmt: skip


@house
def ceiling(table: pd.DataFrame, *, statistic: str, gold: str, names: Mapping[str, str], most: int = 6) -> Figure:
    """Draw what people, the best metrics and what knows nothing come to, with intervals, best on top.

    table: contestant, kind, value, low, high, of one statistic. statistic, gold: what is held against what, in words.
    names: a contestant -> how it is written. most: metrics drawn, the best ones and the last.
    """
    table = table.dropna(subset=["value"]).sort_values("value", ascending=False, kind="stable")
    metrics = table[table["kind"] == "metric"]
    hidden = metrics.index[most - 1 : -1]
    shown = table.drop(index=hidden).reset_index(drop=True)
    figure, axes = plt.subplots(figsize=(BOTH, 0.25 * len(shown) + 1.2))
    written = {row.contestant: names.get(row.contestant, row.contestant) for row in shown.itertuples()}
    forest(axes, shown, rows="contestant", value="value", low="low", high="high", series="kind", apart=0,
           names=written, looks=_LOOKS)  # fmt: skip
    for place, row in enumerate(shown.itertuples()):
        if row.kind not in set(shown["kind"][:place]):
            axes.annotate(row.kind, (row.high, place), xytext=(4, 0), textcoords="offset points", va="center",
                          fontsize=9, color=INK)  # fmt: skip
    axes.margins(x=0.16 if narrow() else 0.1)
    axes.set(xlabel=literal(f"{statistic}, held against {gold}"), ylabel="")
    of_kind = shown.groupby("kind", sort=False).first()
    best = "; ".join(f"{kind}: {written[row.contestant]} {row.value:.3f}" for kind, row in zip(
        of_kind.index, of_kind.itertuples(), strict=True))  # fmt: skip
    return describe(
        figure,
        f"Dots with 95 % intervals of {len(shown)} contestants by {statistic}, best on top; {len(hidden)} metrics "
        f"between the others are left out. The best of each kind: {best}.",
    )
