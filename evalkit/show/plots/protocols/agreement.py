"""Pictures of how far people agree under several protocols."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import GREY, describe, forest, house, shared_legend, small_multiples


@house
def coefficients(found: pd.DataFrame, sets: Mapping[str, list[str]], names: Mapping[str, str]) -> Figure:
    """Draw every coefficient with its interval, a row each and a mark per protocol; a panel for each set of runs.

    found: the result of ``protocols.agreement.coefficients``. sets: a panel's title -> its protocols, first runs, in
    one order of protocols. names: how coefficients are written.
    """
    order = [name for name in names if name in set(found["coefficient"])]
    figure, panels = small_multiples(
        sets, columns=2, size=(3.3, 0.42 * len(order) + 0.9), margin=(0, 0.4), sharey=True, sharex=True
    )
    called = {run: run.split("-")[0].replace("ESAAI", "ESA^AI") for runs in sets.values() for run in runs}
    for runs, axes in zip(sets.values(), panels.values()):
        rows = found[found["protocol"].isin(runs)]
        forest(
            axes,
            rows,
            rows="coefficient",
            value="estimate",
            low="low",
            high="high",
            series="protocol",
            order=order,
            names={**names, **called},
            apart=0.26,
        )
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        axes.set_xlabel("coefficient (1: perfect), 95 % interval")
    shared_legend(figure, columns=3)
    ends = found.groupby("coefficient", sort=False)["estimate"].agg(["min", "max"]).loc[order]
    told = "; ".join(f"{names[row.Index]} {row.min:.2f} to {row.max:.2f}" for row in ends.itertuples())
    return describe(figure, f"Marks with intervals for each coefficient and protocol. From lowest to highest: {told}.")
