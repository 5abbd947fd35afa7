"""Pictures of steered campaigns: how far means are bent."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import BOTH, GREY, INK, above, describe, house, mark


@house
def bias(replay: pd.DataFrame, *, estimates: Sequence[str]) -> Figure:
    """Draw how far each system's mean is off on average, a row an assignment and estimate, a bar at their mean.

    replay: assignment, estimate, bias (points), a row a system.
    """
    rows = list(dict.fromkeys(replay["assignment"]))
    figure, axes = plt.subplots(figsize=(BOTH, 0.55 * len(rows) + 1.1))
    axes.axvline(0, color=GREY, lw=1)
    told = []
    for number, name in enumerate(estimates):
        look = mark(number)
        for place, row in enumerate(rows):
            values = replay.loc[replay["assignment"].eq(row) & replay["estimate"].eq(name), "bias"].to_numpy()
            level = place + 0.36 * (number - (len(estimates) - 1) / 2)
            spread = level + 0.12 * (np.arange(len(values)) % 5 - 2) / 2
            axes.plot(values, spread, **(look | {"ms": 3.5}), label=None if place else name)
            axes.vlines(values.mean(), level - 0.17, level + 0.17, color=INK, lw=2.2)
            told.append(f"{row}, {name}: {values.mean():+.2f}")
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set(xlabel="mean error of a score, points (bar: all systems)", ylabel="")
    above(axes, columns=2)
    return describe(figure, f"Dots are systems, a row an assignment. Mean errors: {'; '.join(told)}.")
