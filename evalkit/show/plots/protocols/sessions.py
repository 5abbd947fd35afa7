"""Pictures of what changes while people work."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from evalkit.human.protocols import SHORT
from evalkit.show.plots import GREY, describe, forest, house, shared_legend, small_multiples

#: What is drawn -> how its change is measured.
UNITS = {
    "seconds": "time a judgement (%)",
    "marks": "marks a translation",
    "score": "score (points of its scale)",
    "suggestions kept": "share of suggestions kept",
    "degraded copies noticed": "share of copies noticed",
}


@house
def changes(
    effects: pd.DataFrame, *, measures: tuple[str, ...] = ("seconds", "marks"), titles: Mapping[str, str] = UNITS
) -> Figure:
    """Draw changes along an account and in later accounts with their intervals, a panel for each measure.

    effects: the result of ``bias.sessions``. measures, titles: what is drawn, and how it is called.
    """
    table = effects[effects["measure"].isin(measures)]
    order = list(dict.fromkeys(table["protocol"]))
    figure, panels = small_multiples(
        measures,
        titles=titles,
        columns=len(measures),
        size=(4.0, 0.5 * len(order) + 0.5),
        margin=(0, 0.8),
        xlabel="change (line: 95 % interval)",
    )
    for measure, axes in panels.items():
        part = table[table["measure"] == measure]
        forest(
            axes,
            part,
            rows="protocol",
            value="estimate",
            low="low",
            high="high",
            series="effect",
            order=order,
            names=SHORT,
        )
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
    shared_legend(figure, columns=1)
    ends = table.groupby(["measure", "effect"], sort=False)["estimate"].agg(["min", "max"])
    told = "; ".join(
        f"{measure}, {effect}: {row['min']:.2g} to {row['max']:.2g}" for (measure, effect), row in ends.iterrows()
    )
    return describe(figure, f"Changes with intervals, a row for each of {len(order)} protocols. {told}.")
