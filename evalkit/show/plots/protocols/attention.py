"""Pictures of who notices damaged translations."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from evalkit.human.protocols import SHORT
from evalkit.show.plots import BOTH, describe, dots, house


@house
def noticed(people: pd.DataFrame) -> Figure:
    """Draw the share of degraded copies that each person noticed, a row for each protocol, the median as a bar.

    people: the result of ``bias.attention_of_people``.
    """
    table = people.assign(name=people["protocol"].replace(SHORT))
    order = list(dict.fromkeys(table["name"]))
    figure, axes = plt.subplots(figsize=(BOTH, 0.42 * len(order) + 0.8))
    dots(axes, table, rows="name", value="noticed", order=order)
    axes.set(xlim=(-0.02, 1.04), xlabel="share of degraded copies scored below their originals (bar: median person)")
    axes.set_ylabel("protocol")
    medians = table.groupby("name", sort=False)["noticed"].agg(["median", "min"])
    told = "; ".join(f"{name} {row['median']:.2f}, least {row['min']:.2f}" for name, row in medians.iterrows())
    return describe(figure, f"A dot for each person by protocol. Medians: {told}.")
