"""Pictures of what normalising does to annotators' scores."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evalkit import DataError
from evalkit.data.provenance import fact
from evalkit.data.schemas import with_pair
from evalkit.human.normalization import METHODS
from evalkit.show.plots import GREY, INK, LIGHT, MARKERS, PALETTE, describe, house, literal


@house
def mean_scatter(compared: pd.DataFrame, *, pair: str) -> Axes:
    """Draw annotators' means and the means of their single HITs against the reference mean (Knowles & Lo's Figure 3).

    compared: the result of ``normalization.means``. Annotators are dots, HITs are crosses; points on the dotted line
    equal their reference. Where the reference is an annotator's own mean, those with a single HIT are not drawn: the
    two are the same number.
    """
    rows = compared[compared["pair"] == pair]
    if rows.empty:
        raise DataError(f"{pair}: no such language pair here. Choose one of: {', '.join(compared['pair'].unique())}.")
    calibrated = bool((rows["level"] == "annotator").any())
    rows = rows if calibrated else rows[rows.groupby("annotator")["hit"].transform("size") > 1]
    if rows.empty:
        raise DataError(f"{pair}: nobody did several HITs, so that no mean of a HIT can differ from its annotator's.")
    axes = plt.subplots(figsize=(5.2, 4.9))[1]
    hits, people = (rows[rows["level"] == level] for level in ("HIT", "annotator"))
    axes.plot(hits["reference"], hits["mean"], "x", color=PALETTE[1], ms=5, label=f"one HIT ({len(hits):,})")
    if calibrated:
        label = f"all of an annotator's HITs ({len(people):,})"
        axes.plot(people["reference"], people["mean"], "o", color=PALETTE[0], ms=6.5, mec="white", label=label)
    low = float(rows[["reference", "mean"]].min().min()) - 3
    axes.plot([low, 103], [low, 103], ":", color=INK, lw=1.2)
    whose = "the calibration set" if calibrated else "all their HITs"
    axes.set(xlim=(low, 103), ylim=(low, 103), title=pair, xlabel=f"annotator's mean over {whose} (points)")
    axes.set_ylabel("mean over the HITs marked (points)" if calibrated else "mean over one of these HITs (points)")
    axes.legend(loc="upper left")
    alt = f"{pair}: crosses for the means of {len(hits):,} HITs against their annotator's mean over {whose}, "
    alt += "around the line of equality."
    return describe(axes, alt)


@house
def order_picture(tables: Mapping[str, pd.DataFrame], *, pair: str, annotator: str, most: int = 6) -> Figure:
    """Draw one annotator's normalised scores against the raw ones, a panel per way of normalising, a marker per HIT.

    tables: name -> the result of ``normalize`` with ``hit``. Where the order is kept, every point further to the right
    stands higher; a fan of lines is a different map per HIT. The ``most`` HITs with most judgements are drawn.
    """
    figure, grid = plt.subplots(1, len(tables), figsize=(3.2 * len(tables), 3.3), squeeze=False)
    for axes, (name, table) in zip(grid.flat, tables.items(), strict=True):
        own = with_pair(table)
        own = own[(own["pair"] == pair) & (own["annotator"] == annotator)]
        if own.empty:
            raise DataError(f"{annotator} has no judgement in {pair}. Name somebody who has.")
        for number, hit in enumerate(own["hit"].value_counts().index[:most]):
            rows = own[own["hit"] == hit].sort_values("score")
            style = {"marker": MARKERS[number % len(MARKERS)], "color": PALETTE[number % len(PALETTE)]}
            axes.plot(rows["score"], rows["normalized"], lw=0.7, ms=5, alpha=0.8, mec="white", mew=0.4,
                      label=f"HIT {number + 1}, mean {rows['score'].mean():.0f}", **style)  # fmt: skip
        unit = METHODS[fact(table, "normalization", by="normalization.normalize")["method"]].unit
        axes.set(title=literal(name), xlabel="raw score (points)", ylabel=f"normalised score ({unit})")
    grid[0, 0].legend(loc="upper left", fontsize=7.5, handletextpad=0.4)
    alt = f"Panels of normalised against raw scores of {annotator}: {' and '.join(tables)}, a line per HIT in each."
    return describe(figure, alt)


@house
def rho_distribution(kept: pd.DataFrame) -> Axes:
    """Draw Spearman's rho between raw and normalised scores, one dot an annotator with several HITs, pair by pair.

    kept: the result of ``normalization.order_kept``. The bar is the median annotator; on the dotted line the order of
    scores is kept.
    """
    several = kept[kept["hits"] > 1].dropna(subset="rho")
    if several.empty:
        raise DataError("No annotator here did several HITs, so that no order can change between HITs.")
    pairs = sorted(several["pair"].unique())[::-1]
    axes = plt.subplots(figsize=(6.2, 0.5 * len(pairs) + 1.2))[1]
    for level, pair in enumerate(pairs):
        rho = np.sort(several.loc[several["pair"] == pair, "rho"].to_numpy())
        wave = 0.26 * np.sin(np.arange(len(rho)) * 2.4)  # the golden angle: neighbours stand apart, runs agree
        axes.plot(rho, level + wave, "o", color=PALETTE[0], ms=4.5, alpha=0.6, mec="white", mew=0.4)
        axes.plot([np.median(rho)] * 2, [level - 0.38, level + 0.38], color=INK, lw=2.2)
    axes.axvline(1, color=GREY, lw=1, ls=":")
    counts = several.groupby("pair").size()
    axes.set_yticks(range(len(pairs)), [f"{pair} ({counts[pair]})" for pair in pairs])
    axes.set(xlabel="Spearman's ρ, raw against normalised scores (bar: median)", ylabel="language pair (annotators)",
             ylim=(-0.6, len(pairs) - 0.4))  # fmt: skip
    alt = f"Dots per language pair, one for each of {len(several)} annotators with several HITs: rank correlation of "
    alt += f"raw and normalised scores, from {several['rho'].min():.2f} up, median {several['rho'].median():.2f}."
    return describe(axes, alt)


@house
def held_out_agreement(held: pd.DataFrame) -> Figure:
    """Draw each method's agreement on held-out items with its interval, a panel per language pair.

    held: the result of ``normalization.held_out``. The dotted line is the raw scores' agreement; filled markers say
    that the interval of the change against raw scores leaves out 0.
    """
    pairs, names = sorted(held["pair"].unique()), list(dict.fromkeys(held["method"]))[::-1]
    columns = min(2, len(pairs))
    rows = -(-len(pairs) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(2.1 + 2.1 * columns, rows * (0.26 * len(names) + 0.75) + 0.3),
                                squeeze=False, sharex=True, sharey=True)  # fmt: skip
    for axes, pair in zip(grid.flat, pairs, strict=False):
        own = held[held["pair"] == pair].set_index("method").reindex(names)
        level = np.arange(len(names))
        sure = ((own["change_low"] > 0) | (own["change_high"] < 0)).to_numpy()
        axes.hlines(level, own["low"], own["high"], color=GREY, lw=1.6)
        for part, face in ((sure, PALETTE[0]), (~sure, "white")):
            axes.plot(own["agreement"][part], level[part], "o", ms=6.5, color=PALETTE[0], mfc=face, mew=1.4)
        if "none" in names:
            axes.axvline(own.at["none", "agreement"], color=PALETTE[1], ls=":", lw=1.4)
        axes.set_yticks(level, [METHODS[name].title for name in names], fontsize=8)
        axes.tick_params(axis="y", length=0)
        axes.set_title(pair, fontsize=10)
        axes.grid(axis="x", color=LIGHT, lw=0.5)
    for axes in list(grid.flat)[len(pairs) :]:
        axes.set_axis_off()
    figure.supxlabel("agreement on held-out items: ICC(A,1), 95 % interval (no unit)", fontsize=9.5)
    figure.supylabel("method", fontsize=9.5)
    means = held.groupby("method")["agreement"].mean().sort_values()
    alt = "Intervals of held-out agreement per method and language pair. Highest on average: "
    alt += f"{METHODS[means.index[-1]].title} ({means.iloc[-1]:.2f})"
    alt += f"; raw scores {means['none']:.2f}." if "none" in means else "."
    return describe(figure, alt)
