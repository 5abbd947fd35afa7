"""Pictures of what degraded context does to the scores of unchanged segments."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from evalkit.data.provenance import demand_hundred
from evalkit.show.plots import (
    GREY,
    INK,
    PALETTE,
    describe,
    forest,
    house,
    keep_grid,
    legend,
    literal,
    narrow,
    shared_legend,
    small_multiples,
)

_UNITS = {"raw": "points", "z": "z: standard deviations"}
_GROUPS = (("before", PALETTE[0], ""), ("after", PALETTE[1], "///"))


@house
def difference_histograms(paired: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw the differences before and after degraded context on top of each other, one panel per data set.

    paired: name -> the result of ``context.pairs``. Differences beyond 60 points go to the outermost bins. The layout
    of Knowles & Lo 2024, Figure 4: fraction of pairs, after hatched.
    """
    figure, panels = small_multiples(paired, columns=len(paired), size=(4.6, 3.5), margin=(0, 0), sharey=True)
    edges = np.arange(-62.5, 65, 5)
    means = {}
    for name, axes in panels.items():
        counts: list[str] = []
        for group, colour, hatch in _GROUPS:
            values = paired[name].loc[paired[name]["group"] == group, "difference"]
            means[name, group] = values.mean()
            bars: dict[str, Any] = {
                "bins": edges,
                "weights": np.full(len(values), 1 / max(len(values), 1)),
                "color": colour,
            }
            counts.append(f"{len(values):,} {group}")
            label = f"{group} degraded context"
            axes.hist(values.clip(-60, 60), histtype="stepfilled", alpha=0.35, **bars)
            axes.hist(values.clip(-60, 60), histtype="step", hatch=hatch, lw=1.2, label=label, **bars)
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        axes.set(xlabel="original score - score in the copy (points)", xlim=(edges[0], edges[-1]))
        axes.set_title(f"{literal(name)}: {', '.join(counts)}")
    figure.axes[0].set_ylabel("fraction of pairs")
    shared_legend(figure, columns=2)
    told = "; ".join(f"{name} {means[name, 'before']:.2f} before, {means[name, 'after']:.2f} after" for name in paired)
    return describe(
        figure,
        "Overlapping histograms of original minus copy, before (plain) and after (hatched) degraded context. Mean "
        f"losses: {told}.",
    )


@house
def degraded_scores(ratings: pd.DataFrame, *, annotators: int = 6) -> Figure:
    """Draw the scores of ordinary items above those of degraded ones, for the annotators who saw most of the latter.

    The layout of Knowles & Lo 2024, Figure 5, with ordinary outputs of systems where the paper has calibration items.
    """
    demand_hundred(ratings)
    busiest = (
        ratings.loc[ratings["item_type"] == "degraded", "annotator"].value_counts(sort=True).head(annotators).index
    )
    shape, size = ((2, len(busiest)), (1.75 * len(busiest), 3.2))
    if narrow():  # then an annotator's two panels stand side by side
        shape, size = shape[::-1], (3.6, 1.2 * len(busiest) + 0.6)
    figure, grid = plt.subplots(*shape, figsize=size, squeeze=False, sharex=True)
    grid = grid.T if narrow() else grid
    rows = (("system", PALETTE[0], "", "ordinary"), ("degraded", PALETTE[1], "///", "degraded"))
    for column, annotator in enumerate(busiest):
        own = ratings[ratings["annotator"] == annotator]
        for row, (kind, colour, hatch, label) in enumerate(rows):
            axes = grid[row, column]
            values = own.loc[own["item_type"] == kind, "score"]
            axes.hist(values, bins=np.arange(0, 105, 5), color=colour, hatch=hatch, edgecolor="white", lw=0.3)
            if narrow():
                axes.set_title(f"{literal(annotator)}\n{len(values):,} {label}", fontsize=8.5, fontweight="normal")
            else:
                who = f"{literal(annotator)}\n" if row == 0 else ""
                axes.set_title(f"{who}{len(values):,}", fontsize=8.5, fontweight="normal")
                axes.set_ylabel("" if column else label)
            axes.tick_params(labelsize=7)
            axes.set_xticks([0, 50, 100])
    keep_grid(figure)
    figure.supxlabel("score (0 to 100)", fontsize=10)
    figure.supylabel("judgements", fontsize=10)
    mean = ratings.loc[ratings["item_type"] == "degraded", "score"].mean()
    return describe(
        figure,
        "Two rows of histograms, ordinary items above degraded ones, for the annotators who saw most degraded items. "
        f"Mean of degraded items over all annotators: {mean:.0f}.",
    )


@house
def effect_forest(effects: pd.DataFrame) -> Figure:
    """Draw each method's estimate of after - before with its interval, data sets side by side, a panel for each scale.

    effects: the result of ``context.robust`` with a column ``data`` and, where there are several, ``scale``. A method
    without an interval shows its estimate only.
    """
    effects = effects if "scale" in effects else effects.assign(scale="raw")
    scales, methods = (list(dict.fromkeys(effects[column])) for column in ("scale", "method"))
    figure, panels = small_multiples(
        scales,
        titles={"raw": "raw scores", "z": "z-scores"},
        columns=len(scales),
        size=(3.4, 0.52 * len(methods) + 1.5),
        margin=(2.2, 0),
        sharey=True,
    )
    names = {method: textwrap.fill(method, 26) for method in methods}
    for scale, axes in panels.items():
        forest(
            axes,
            effects[effects["scale"] == scale],
            rows="method",
            value="estimate",
            low="low",
            high="high",
            series="data",
            order=methods,
            names=names,
        )
        axes.axvline(0, color=INK, lw=0.8, ls=":")
        axes.set_xlabel(f"loss after less loss before\n({_UNITS[scale]}, 95 % interval)")
    figure.axes[0].set_ylabel("method")
    shared_legend(figure)
    main = "clustered by annotator" if "clustered by annotator" in methods else methods[0]
    found = "; ".join(
        f"{row.data} {row.estimate:+.2f} ({_interval(row.low, row.high)}), {_UNITS[row.scale]}"
        for row in effects[effects["method"] == main].itertuples()
    )
    return describe(
        figure,
        "Intervals of the mean loss after less the mean loss before, per method and data set. "
        f"{main[:1].upper()}{main[1:]}: {found}.",
    )


@house
def dose_response(doses: pd.DataFrame, *, xlabel: str) -> Figure:
    """Draw the mean difference with its interval along the amount of degraded context, one panel per data set.

    doses: the result of ``context.dose`` with a column ``data``.
    """
    figure, panels = small_multiples(
        dict.fromkeys(doses["data"]), columns=doses["data"].nunique(), size=(4.6, 3.5), margin=(0, 0), sharey=True
    )
    for name, axes in panels.items():
        rows = doses[doses["data"] == name]
        seen = rows["value"] > 0
        for part, (group, colour, _), marker in ((rows[~seen], _GROUPS[0], "o"), (rows[seen], _GROUPS[1], "s")):
            axes.vlines(part["value"], part["low"], part["high"], color=colour, lw=2)
            label = f"{group} the first degraded segment"
            axes.plot(part["value"], part["mean"], marker, color=colour, ms=6, mec="white", label=label)
        axes.axhline(0, color=INK, lw=0.8, ls=":")
        axes.set_xticks(rows["value"], _steps(list(rows["label"])), fontsize=8.5)
        axes.set_xlabel(xlabel)
    figure.axes[0].set_ylabel("mean loss (points, 95 % interval)")
    legend(figure, *figure.axes[0].get_legend_handles_labels(), loc="outside upper left")
    ends = [doses[(doses["data"] == name) & (doses["value"] > 0)].sort_values("value") for name in panels]
    found = "; ".join(
        f"{rows['data'].iloc[0]} {rows['mean'].iloc[0]:+.2f} and {rows['mean'].iloc[-1]:+.2f}"
        for rows in ends
        if len(rows)
    )
    return describe(
        figure, f"Mean loss with intervals by {xlabel}. At the first and the last value after it, in points: {found}."
    )


@house
def score_changes(rankings: pd.DataFrame) -> Figure:
    """Draw how far each system's score moves when the repeats are left out, one dot a system.

    rankings: the result of ``wmt.compare_with_official``, on z-scores, with a column ``data``; squares are systems
    that change place.
    """
    names = list(dict.fromkeys(rankings["data"]))
    most = rankings.groupby("data")["pair"].nunique().max()
    figure, panels = small_multiples(
        names, columns=len(names), size=(4.6, 0.42 * most + 1.2), margin=(0, 0), sharex=True
    )
    for name, axes in panels.items():
        rows = rankings[rankings["data"] == name]
        pairs = sorted(rows["pair"].unique())[::-1]
        level = rows["pair"].map({pair: k for k, pair in enumerate(pairs)})
        moved = rows["moved"].ne(0)
        for part, marker, colour, shift in ((~moved, "o", GREY, -0.14), (moved, "s", PALETTE[1], 0.14)):
            axes.plot(
                rows.loc[part, "change"], level[part] + shift, marker, color=colour, ms=6, alpha=0.75, mec="white"
            )
        kept = f"{moved.sum()} change place (squares), {(~moved).sum()} keep it (dots)"
        axes.set_title(f"{literal(name)}: {kept}", fontsize=10)
        axes.axvline(0, color=INK, lw=0.8, ls=":")
        axes.set_yticks(range(len(pairs)), pairs)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set(xlabel="change of z without the repeats (standard deviations)", ylim=(-0.6, len(pairs) - 0.4))
    figure.axes[0].set_ylabel("language pair")
    return describe(
        figure,
        f"Dots per language pair for the change of each system's z. {rankings['moved'].ne(0).sum()} of {len(rankings)} "
        f"systems change place; the largest change is {rankings['change'].abs().max():.3f}.",
    )


def _interval(low: float, high: float) -> str:
    """Say an interval, or that a method gives none."""
    return "no interval" if np.isnan(low) or np.isnan(high) else f"{low:.2f} to {high:.2f}"


def _steps(names: list[str]) -> list[str]:
    """Name the steps of an axis: of many, there is room for every second one and the last."""
    last = len(names) - 1
    left_out = {place for place in range(last) if last > 10 and (place % 2 or place == last - 1)}
    return ["" if place in left_out else _step(name) for place, name in enumerate(names)]


def _step(label: str) -> str:
    """Say on a line of its own what is pooled: a distance has farther ones on either side, an amount has more."""
    pooled = "\nor farther" if label[0] in "+-" else "\nor more"
    return label.replace(" or fewer", pooled).replace(" or more", pooled)
