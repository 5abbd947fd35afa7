"""Pictures of how far people agree under several protocols."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.plots import BOTH, GREY, PALETTE, describe, forest, house, shared_legend, small_multiples


@house
def hands(pairs: pd.DataFrame, means: pd.DataFrame) -> Figure:
    """Draw the correlation of every two collections as a dot, by what they have in common, with the mean's interval.

    pairs, means: the two results of ``protocols.hands.within``.
    """
    scales, kinds = list(dict.fromkeys(means["scales"])), list(dict.fromkeys(means["kind"]))
    with_mqm = pairs[["protocol", "again"]].apply(lambda names: names.str.startswith("MQM")).any(axis=1)
    figure, panels = small_multiples(scales, columns=2, size=(3.3, 0.5 * len(kinds) + 1.1), margin=(0, 0), sharey=True)
    for (name, axes), mqm in zip(panels.items(), (False, True)):
        these = pairs[with_mqm == mqm]
        of = means[means["scales"] == name].assign(of="their mean, 95 % interval")
        level = these["kind"].map(dict(zip(kinds, range(len(kinds))))) - 0.25
        axes.plot(these["pearson"], level, "o", ms=4.5, color=PALETTE[1], mec="white", mew=0.4, label="two collections")
        forest(axes, of, rows="kind", value="mean", low="low", high="high", series="of", order=kinds)
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        axes.set(xlabel="Pearson's r", xlim=(-0.05, 1))
    shared_legend(figure, columns=2)
    told = [f"{row.kind} {row.mean:.2f} ({row.low:.2f} to {row.high:.2f})" for row in means.itertuples()]
    half = len(means[means["scales"] == scales[0]])
    return describe(
        figure,
        f"A dot for every two collections, and their mean with its 95 % interval. {scales[0]}: "
        f"{'; '.join(told[:half])}. {scales[-1]}: {'; '.join(told[half:])}.",
    )


@house
def coefficients(found: pd.DataFrame, sets: Mapping[str, list[str]], names: Mapping[str, str]) -> Figure:
    """Draw every coefficient with its interval, a row each and a mark per protocol; a panel for each set of runs.

    found: the result of ``protocols.coefficients.coefficients``. sets: a panel's title -> its protocols, first runs, in
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


@house
def steps(found: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """Draw the two steps that every collection should see, with their intervals.

    found: the result of ``protocols.criterion.criterion``. names: how collections are written.
    """
    figure, axes = plt.subplots(figsize=(BOTH, 0.42 * found["protocol"].nunique() + 1.3))
    forest(axes, found, rows="protocol", value="difference", low="low", high="high", series="step", names=names)
    axes.axvline(0, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="difference of means in standard deviations of scores, 95 % interval")
    shared_legend(figure, columns=1)
    told = [f"{names.get(row.protocol, row.protocol)}, {row.step}: {row.difference:+.2f}" for row in found.itertuples()]
    return describe(figure, f"Two intervals per collection. {'; '.join(told)}.")
