"""Pictures of what degraded context does to the scores of unchanged segments."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from evalkit.data.provenance import demand_hundred
from evalkit.show.plots import GREY, INK, MARKERS, PALETTE, describe, house, literal

_UNITS = {"raw": "points", "z": "z: standard deviations"}
_GROUPS = (("before", PALETTE[0], ""), ("after", PALETTE[1], "///"))


@house
def difference_histograms(paired: Mapping[str, pd.DataFrame], *, width: int = 5, most: int = 60) -> Figure:
    """Draw the differences before and after degraded context on top of each other, one panel per data set.

    paired: name -> the result of ``context.pairs``. width: points in a bin; differences beyond ``most`` go to the
    outermost bins. The layout of Knowles & Lo 2024, Figure 4: fraction of pairs, after hatched.
    """
    figure, grid = plt.subplots(1, len(paired), figsize=(4.6 * len(paired), 3.5), squeeze=False, sharey=True)
    edges = np.arange(-most - width / 2, most + width, width)
    for axes, (name, table) in zip(grid.flat, paired.items(), strict=True):
        for group, colour, hatch in _GROUPS:
            values = table.loc[table["group"] == group, "difference"].clip(-most, most)
            weights = np.full(len(values), 1 / max(len(values), 1))
            label = f"{group} degraded context ({len(values):,} pairs)"
            axes.hist(values, bins=edges, weights=weights, histtype="stepfilled", alpha=0.35, color=colour)
            axes.hist(
                values, bins=edges, weights=weights, histtype="step", color=colour, hatch=hatch, lw=1.2, label=label
            )
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        axes.set(title=literal(name), xlabel="original score - score in the copy (points)", xlim=(edges[0], edges[-1]))
        axes.legend(loc="upper left", fontsize=7.5, bbox_to_anchor=(0, 1.0))
    top = grid[0, 0].get_ylim()[1]
    grid[0, 0].set_ylim(0, top * 1.25)
    grid[0, 0].set_ylabel("fraction of pairs")
    means = {name: t.groupby("group")["difference"].mean().reindex(["before", "after"]) for name, t in paired.items()}
    alt = "Overlapping histograms of original minus copy, before (plain) and after (hatched) degraded context. Means: "
    found = [f"{name} {mean['before']:+.2f} before, {mean['after']:+.2f} after" for name, mean in means.items()]
    alt += f"{'; '.join(found)}."
    return describe(figure, alt)


@house
def degraded_scores(ratings: pd.DataFrame, *, annotators: int = 6) -> Figure:
    """Draw the scores of ordinary items above those of degraded ones, for the annotators who saw most of the latter.

    The layout of Knowles & Lo 2024, Figure 5, with ordinary outputs of systems where the paper has calibration items.
    """
    demand_hundred(ratings)
    busiest = (
        ratings.loc[ratings["item_type"] == "degraded", "annotator"].value_counts(sort=True).head(annotators).index
    )
    figure, grid = plt.subplots(2, len(busiest), figsize=(1.75 * len(busiest), 3.2), squeeze=False, sharex=True)
    rows = (("system", PALETTE[0], "", "ordinary"), ("degraded", PALETTE[1], "///", "degraded"))
    for column, annotator in enumerate(busiest):
        own = ratings[ratings["annotator"] == annotator]
        for row, (kind, colour, hatch, label) in enumerate(rows):
            axes = grid[row, column]
            values = own.loc[own["item_type"] == kind, "score"]
            axes.hist(values, bins=np.arange(0, 105, 5), color=colour, hatch=hatch, edgecolor="white", lw=0.3)
            axes.set_title(f"{literal(annotator)}\n{len(values):,} {label}" if row == 0 else f"{len(values):,} {label}",
                           fontsize=8.5)  # fmt: skip
            axes.tick_params(labelsize=7)
            axes.set_xticks([0, 50, 100])
    figure.supxlabel("score (0 to 100)", fontsize=10)
    figure.supylabel("judgements", fontsize=10)
    mean = ratings.loc[ratings["item_type"] == "degraded", "score"].mean()
    alt = "Two rows of histograms, ordinary items above degraded ones, for the annotators who saw most degraded items. "
    alt += f"Mean of degraded items over all annotators: {mean:.0f}."
    return describe(figure, alt)


@house
def effect_forest(effects: pd.DataFrame) -> Figure:
    """Draw each method's estimate of after - before with its interval, data sets side by side, a panel for each scale.

    effects: the result of ``context.robust`` with a column ``data`` and, where there are several, ``scale``. A method
    without an interval shows its estimate only.
    """
    effects = effects if "scale" in effects else effects.assign(scale="raw")
    scales, names = (list(dict.fromkeys(effects[column])) for column in ("scale", "data"))
    methods = list(dict.fromkeys(effects["method"]))[::-1]
    size = (3.4 * len(scales) + 2.2, 0.52 * len(methods) + 1.5)
    figure, grid = plt.subplots(1, len(scales), figsize=size, squeeze=False, sharey=True)
    for axes, scale in zip(grid.flat, scales, strict=True):
        for k, name in enumerate(names):
            rows = effects[(effects["data"] == name) & (effects["scale"] == scale)].set_index("method").reindex(methods)
            level = np.arange(len(methods)) + 0.3 * ((len(names) - 1) / 2 - k)
            axes.hlines(level, rows["low"], rows["high"], color=PALETTE[k], lw=2)
            axes.plot(rows["estimate"], level, MARKERS[k], color=PALETTE[k], ms=7, mec="white", label=literal(name))
        axes.axvline(0, color=INK, lw=0.8, ls=":")
        axes.set_yticks(range(len(methods)), [textwrap.fill(method, 26) for method in methods])
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(f"loss after less loss before\n({_UNITS[scale]}, 95 % interval)")
    grid[0, 0].set_ylabel("method")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(names))
    first = effects[effects["method"] == "clustered by annotator"].itertuples()
    found = [f"{row.data}, {row.scale}: {row.estimate:+.2f} ({row.low:+.2f} to {row.high:+.2f})" for row in first]
    alt = "Intervals of the mean loss after less the mean loss before, by method and data set, a panel for each scale. "
    alt += f"Clustered by annotator: {'; '.join(found)}."
    return describe(figure, alt)


@house
def dose_response(doses: pd.DataFrame, *, xlabel: str) -> Figure:
    """Draw the mean difference with its interval along the amount of degraded context, one panel per data set.

    doses: the result of ``context.dose`` with a column ``data``.
    """
    names = list(dict.fromkeys(doses["data"]))
    figure, grid = plt.subplots(1, len(names), figsize=(4.6 * len(names), 3.5), squeeze=False, sharey=True)
    for axes, name in zip(grid.flat, names, strict=True):
        rows = doses[doses["data"] == name]
        seen = rows["value"] > 0
        for part, (group, colour, _), marker in ((rows[~seen], _GROUPS[0], "o"), (rows[seen], _GROUPS[1], "s")):
            axes.vlines(part["value"], part["low"], part["high"], color=colour, lw=2)
            label = f"{group} the first degraded segment"
            axes.plot(part["value"], part["mean"], marker, color=colour, ms=6, mec="white", label=label)
        axes.axhline(0, color=INK, lw=0.8, ls=":")
        axes.set_xticks(rows["value"], [_step(label) for label in rows["label"]], fontsize=8.5)
        axes.set(title=literal(name), xlabel=xlabel)
    grid[0, 0].set_ylabel("mean loss (points, 95 % interval)")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left")
    last = doses.loc[doses.groupby("data", sort=False)["value"].idxmax()]
    found = [f"{row.data} {row.mean:+.2f} at {row.label}" for row in last.itertuples()]
    alt = f"Mean loss with intervals by {xlabel}. At the most: {'; '.join(found)} points."
    return describe(figure, alt)


@house
def score_changes(rankings: pd.DataFrame) -> Figure:
    """Draw how far each system's score moves when the repeats are left out, one dot a system.

    rankings: the result of ``ranking.against_official``, on z-scores, with a column ``data``; squares are systems that
    change place.
    """
    names = list(dict.fromkeys(rankings["data"]))
    most = rankings.groupby("data")["pair"].nunique().max()
    figure, grid = plt.subplots(
        1, len(names), figsize=(4.6 * len(names), 0.42 * most + 1.2), squeeze=False, sharex=True
    )
    for axes, name in zip(grid.flat, names, strict=True):
        rows = rankings[rankings["data"] == name]
        pairs = sorted(rows["pair"].unique())[::-1]
        level = rows["pair"].map({pair: k for k, pair in enumerate(pairs)})
        moved = rows["moved"].ne(0)
        for part, marker, colour, label in ((~moved, "o", GREY, "keeps its place"), (moved, "s", PALETTE[1], "moves")):
            shift = 0.14 if label == "moves" else -0.14
            axes.plot(rows.loc[part, "change"], level[part] + shift, marker, color=colour, ms=6, alpha=0.75,
                      mec="white", label=f"{label} ({int(part.sum())})")  # fmt: skip
        axes.axvline(0, color=INK, lw=0.8, ls=":")
        axes.set_yticks(range(len(pairs)), pairs)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set(title=literal(name), xlabel="change of z without the repeats (standard deviations)",
                 ylim=(-0.6, len(pairs) + 0.4))  # fmt: skip
        axes.legend(loc="upper center", ncols=2, fontsize=8, bbox_to_anchor=(0.5, 1.02))
    grid[0, 0].set_ylabel("language pair")
    moving = int((rankings["moved"] != 0).sum())
    alt = f"Dots per language pair for the change of each system's z. {moving} of {len(rankings)} "
    alt += f"systems change place; the largest change is {rankings['change'].abs().max():.3f}."
    return describe(figure, alt)


def _step(label: str) -> str:
    """Say on a line of its own what is pooled: a distance has farther ones on either side, an amount has more."""
    pooled = "\nor farther" if label[0] in "+-" else "\nor more"
    return label.replace(" or fewer", pooled).replace(" or more", pooled)
