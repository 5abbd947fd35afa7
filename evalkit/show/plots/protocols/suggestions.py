"""Pictures of what people do with marks that a model suggests."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from evalkit.human.protocols import SHORT
from evalkit.show.plots import GREY, describe, forest, house, small_multiples


@house
def suggestions_kept(people: pd.DataFrame) -> Figure:
    """Draw the share of suggested marks that each person kept, a panel for each campaign.

    people: the result of ``bias.kept`` by annotator. A line spans what is possible, for the number of
    suggestions is known within limits; a number beside it counts the marks that the person drew, a translation.
    """
    panels_of = list(dict.fromkeys(people["protocol"]))
    most = people["protocol"].value_counts().max()
    figure, panels = small_multiples(
        panels_of,
        titles=SHORT,
        columns=2,
        size=(4.3, 0.3 * most + 0.5),
        margin=(0, 0.5),
        sharex=True,
        xlabel="share of suggested marks that the person kept",
    )
    for name, axes in panels.items():
        own = people[people["protocol"] == name].sort_values("share_high", ascending=False, ignore_index=True)
        names = {row.annotator: f"{row.annotator} (+{row.own / row.judgements:.1f})" for row in own.itertuples()}
        table = own.assign(value=float("nan"))
        forest(axes, table, rows="annotator", value="value", low="share_low", high="share_high", names=names)
        axes.axvline(1, color=GREY, lw=0.8, ls=":")
        axes.set(xlim=(0, 1.04))
    figure.supylabel("person (+ own marks a translation)", fontsize=10)
    ends = people.groupby("protocol", sort=False)[["share_low", "share_high"]].agg(["min", "max"])
    told = "; ".join(
        f"{SHORT.get(name, name)}: from {ends.loc[name, ('share_low', 'min')]:.2f} to "
        f"{ends.loc[name, ('share_high', 'max')]:.2f}"
        for name in ends.index
    )
    return describe(figure, f"Ranges of the share of bias.kept, a row for each person. {told}.")
