"""Pictures of what normalising does to annotators' scores."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evalkit import DataError
from evalkit.data.provenance import fact
from evalkit.data.schemas import with_pair
from evalkit.human.normalization import METHODS
from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LIGHT,
    PALETTE,
    describe,
    dots,
    forest,
    house,
    legend,
    mark,
    rows_of,
    shared_legend,
    small_multiples,
)


@house
def mean_scatter(compared: pd.DataFrame, *, pair: str) -> Axes:
    """Draw annotators' means and the means of their single HITs against the reference mean (Knowles & Lo's Figure 3).

    compared: the result of ``normalization.means``. Annotators are dots, HITs are crosses; points on the dotted line
    equal their reference. Where the reference is an annotator's own mean, those with a single HIT are not drawn: the
    two are the same number.
    """
    rows = rows_of(compared, "pair", pair)
    calibrated = bool((rows["level"] == "annotator").any())
    rows = rows if calibrated else rows[rows.groupby("annotator")["hit"].transform("size") > 1]
    if rows.empty:
        raise DataError(f"{pair}: nobody did several HITs, so that no mean of a HIT can differ from its annotator's.")
    axes = plt.subplots(figsize=(BOTH, 4.7))[1]
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
    legend(axes, loc="upper left")
    crosses = "means of HITs against their annotator's mean" if not calibrated else "means of HITs and annotators"
    return describe(axes, f"{pair}: {crosses} over {whose}, around the line of equality; {len(hits):,} HITs.")


@house
def order_picture(tables: Mapping[str, pd.DataFrame], *, pair: str, annotator: str) -> Figure:
    """Draw one annotator's normalised scores against the raw ones, a panel per way of normalising, a marker per HIT.

    tables: name -> the result of ``normalize`` with ``hit``. Where the order is kept, every point further to the right
    stands higher; a fan of lines is a different map per HIT. The six HITs with most judgements are drawn.
    """
    figure, panels = small_multiples(tables, columns=len(tables), size=(3.2, 3.3), margin=(0, 0))
    for name, axes in panels.items():
        own = with_pair(tables[name])
        own = own[(own["pair"] == pair) & (own["annotator"] == annotator)]
        if own.empty:
            raise DataError(f"{annotator} has no judgement in {pair}. Name somebody who has.")
        for number, hit in enumerate(own["hit"].value_counts().index[:6]):
            rows = own[own["hit"] == hit].sort_values("score")
            look = mark(number) | {"ls": "-", "lw": 0.7, "ms": 5, "alpha": 0.8, "mew": 0.4}
            label = f"HIT {number + 1}, mean {rows['score'].mean():.0f}"
            axes.plot(rows["score"], rows["normalized"], label=label, **look)
        unit = METHODS[fact(tables[name], "normalization", by="normalization.normalize")["method"]].unit
        axes.set(xlabel="raw score (points)", ylabel=f"normalised score ({unit})")
    shared_legend(figure, columns=3)
    return describe(
        figure,
        f"Normalised against raw scores of {annotator} in {pair}, a line per HIT; panels: {', '.join(tables)}.",
    )


@house
def rho_distribution(kept: pd.DataFrame) -> Axes:
    """Draw Spearman's rho between raw and normalised scores, one dot an annotator with several HITs, pair by pair.

    kept: the result of ``normalization.order_kept``. The bar is the median annotator; on the dotted line the order of
    scores is kept.
    """
    several = kept[kept["hits"] > 1].dropna(subset="rho")
    if several.empty:
        raise DataError("No annotator here did several HITs, so that no order can change between HITs.")
    counts = several.groupby("pair").size()
    named = several.assign(row=several["pair"].map(lambda pair: f"{pair} ({counts[pair]})"))
    axes = plt.subplots(figsize=(BOTH, 0.5 * len(counts) + 1.2))[1]
    dots(axes, named, rows="row", value="rho", order=sorted(named["row"].unique()))
    axes.axvline(1, color=GREY, lw=1, ls=":")
    axes.set(xlabel="Spearman's ρ, raw against normalised scores (bar: median)", ylabel="language pair (annotators)")
    return describe(
        axes,
        f"Dots per language pair, one for each of {len(several)} annotators with several HITs: rank correlation of raw "
        f"and normalised scores, from {several['rho'].min():.2f} up, median {several['rho'].median():.2f}.",
    )


@house
def held_out_agreement(held: pd.DataFrame) -> Figure:
    """Draw each method's agreement on held-out items with its interval, a panel per language pair.

    held: the result of ``normalization.held_out``. The dotted line is the raw scores' agreement; filled markers say
    that the interval of the change against raw scores leaves out 0.
    """
    titles = {name: METHODS[name].title for name in dict.fromkeys(held["method"])}
    figure, panels = small_multiples(
        sorted(held["pair"].unique()),
        columns=2,
        size=(2.1, 0.26 * len(titles) + 0.75),
        margin=(2.1, 0.3),
        sharex=True,
        sharey=True,
        xlabel="agreement on held-out items: ICC(A,1), 95 % interval (no unit)",
        ylabel="method",
    )
    for pair, axes in panels.items():
        own = held[held["pair"] == pair]
        sure = (own["change_low"] > 0) | (own["change_high"] < 0)
        for part, look in ((sure, {"mfc": PALETTE[0]}), (~sure, {"mfc": "white"})):
            forest(
                axes,
                own[part],
                rows="method",
                value="agreement",
                low="low",
                high="high",
                order=titles,
                names=titles,
                looks={None: {"mec": PALETTE[0], **look}},
            )
        for raw in own.loc[own["method"] == "none", "agreement"]:
            axes.axvline(raw, color=PALETTE[1], ls=":", lw=1.4)
        axes.tick_params(axis="y", labelsize=8)
        axes.grid(axis="x", color=LIGHT, lw=0.5)
    means = held.groupby("method")["agreement"].mean().sort_values(ascending=False)
    best = f"{titles[means.index[0]]} ({means.iloc[0]:.2f})"
    raw = f"; raw scores {means['none']:.2f}" if "none" in means else ""
    return describe(
        figure,
        f"Intervals of held-out agreement per method and language pair. Highest on average: {best}{raw}.",
    )
