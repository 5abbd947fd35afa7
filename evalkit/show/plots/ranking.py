"""Pictures of rankings: who beats whom, how sure each rank is, and how ranks move when scores are made otherwise."""

from __future__ import annotations

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from evalkit.human.ranking import further
from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LIGHT,
    LINES,
    PALETTE,
    describe,
    forest,
    house,
    legend,
    literal,
    narrow,
    rows_of,
    words_on,
)


@house
def bump_chart(ranked: pd.DataFrame, *, pair: str) -> Figure:
    """Draw how the systems of one language pair change places from variant to variant.

    ranked: the result of ``ranking.rankings``. Numbers are places under the first variant. Bold lines are systems that
    under some variant move by more than resampling explains; short bars stand between clusters.
    """
    rows = rows_of(ranked, "pair", pair)
    variants = list(dict.fromkeys(rows["variant"]))
    rows = rows.assign(place=rows.groupby("variant").cumcount() + 1)
    bold = list(dict.fromkeys(rows.loc[rows["beyond_noise"], "system"]))
    places = rows.pivot(index="system", columns="variant", values="place")[variants]
    scores = rows.pivot(index="system", columns="variant", values="score")[variants]
    last = len(variants) - 1
    gap = 0.17 if len(variants) < 7 else 0.32  # between names and circles
    figure, axes = plt.subplots(figsize=(min(3.6 + 0.85 * len(variants), 9.5), 0.33 * len(places) + 1.3))
    digits = {edge: _decimals(scores.iloc[:, edge]) for edge in (0, last)}
    for system, y in places.iterrows():
        k = bold.index(system) if system in bold else None
        colour, line, weight = (GREY, "-", "normal") if k is None else (PALETTE[k % 7], LINES[k % 6], "bold")
        axes.plot(
            range(len(variants)),
            y,
            color=colour,
            ls=line,
            lw=0.9 if k is None else 2.2,
            marker="o",
            ms=11,
            mfc="white",
            mec=colour,
            mew=0.9 if k is None else 1.8,
        )
        for x, level in enumerate(y):
            axes.text(x, level, y.iloc[0], ha="center", va="center_baseline", fontsize=7, color=INK, weight=weight)
        for edge, side, align in () if narrow() else ((0, -gap, "right"), (last, gap, "left")):
            name = f"{literal(system)} {scores.loc[system].iloc[edge]:.{digits[edge]}f}"
            axes.text(edge + side, y.iloc[edge], name, ha=align, va="center", fontsize=8.5, color=INK, weight=weight)
    for x, variant in enumerate(variants):
        own = rows[rows["variant"] == variant]
        ends = own.loc[own["cluster"].ne(own["cluster"].shift(-1)), "place"].iloc[:-1] + 0.5
        axes.hlines(ends, x - 0.3, x + 0.3, color=INK, lw=1.6)
    axes.set(xlim=(-1.7, last + 1.7), ylim=(len(places) + 0.6, 0.4))
    axes.set_xticks(range(len(variants)), [literal(textwrap.fill(variant, 10)) for variant in variants])
    axes.set_yticks([])
    if narrow():  # no room for names on both sides
        first = [f"{name} {scores.iloc[:, 0][name]:.{digits[0]}f}" for name in places.index]
        axes.set_yticks(places.iloc[:, 0], [literal(name) for name in first])
        axes.tick_params(axis="both", length=0)
        axes.set(xlim=(-0.4, last + 0.4))
    if len(variants) > (4 if narrow() else 6):
        axes.tick_params(axis="x", rotation=90)
    axes.set(xlabel="how scores were made (bar: line between clusters)", title=literal(pair))
    figure.supylabel("rank (the best at the top)", fontsize=10)
    axes.spines[:].set_visible(False)
    return describe(
        figure,
        f"{pair}: places of {len(places)} systems under {len(variants)} treatments of the same judgements. "
        f"{rows['beyond_noise'].sum()} moves against the first ranking are beyond the noise of resampling.",
    )


@house
def win_matrix(compared: pd.DataFrame, *, pair: str) -> Figure:
    """Draw how often the system of the row beats that of the column, for every two systems of one language pair.

    compared: the result of ``ranking.pairwise_tests``. Numbers are probabilities of superiority in percent; cells are
    filled where the difference is significant, the darker, the more one-sided.
    """
    rows = rows_of(compared, "pair", pair)
    names = list(dict.fromkeys([*rows["better"], *rows["worse"]]))
    place = {name: k for k, name in enumerate(names)}
    size = len(names)
    figure, axes = plt.subplots(figsize=(0.45 * size + 2.3, 0.36 * size + 1.9))
    most = max(rows["superiority"].max(), 0.6)
    for row in rows.itertuples():
        y, x = place[row.better], place[row.worse]
        depth = 0.15 + 0.75 * max(row.superiority - 0.5, 0) / (most - 0.5) if row.significant else 0
        shade = plt.get_cmap("Blues")(depth)[:3]
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fc=shade, ec=LIGHT, lw=0.6))
        words = words_on(shade) if row.significant else {"color": GREY}
        axes.text(
            x,
            y,
            f"{100 * row.superiority:.0f}",
            ha="center",
            va="center",
            fontsize=8,
            weight="bold" if row.significant else "normal",
            **words,
        )
    labels = [literal(name) for name in names]
    axes.set_xticks(range(1, size), labels[1:], rotation=90, fontsize=8)
    axes.set_yticks(range(size - 1), labels[:-1], fontsize=8)
    axes.tick_params(length=0)
    axes.set(xlim=(0.5, size - 0.5), ylim=(size - 1.5, -0.5), title=literal(pair), xlabel="loses", ylabel="wins")
    axes.spines[:].set_visible(False)
    axes.text(
        0.02,
        0.03,
        "% of comparisons won\n(ties half); filled and\nbold: significant",
        transform=axes.transAxes,
        fontsize=8,
        va="bottom",
    )
    sure = rows["significant"].sum()
    return describe(figure, f"{pair}: a cell for every two systems; {sure} of {len(rows)} are significant.")


@house
def rank_forest(ranges: pd.DataFrame, *, pair: str, clustered: pd.DataFrame | None = None) -> Figure:
    """Draw each system's rank with its bootstrap interval, for one language pair.

    ranges: the result of ``ranking.rank_ranges``. clustered: that of ``ranking.significance_clusters``; adds the range
    of ranks that WMT prints, as a thin line with open ends, and dotted lines between clusters.
    """
    rows = rows_of(ranges, "pair", pair)
    figure, axes = plt.subplots(figsize=(BOTH, 0.36 * len(rows) + 1.5))
    drawn = rows.assign(way="rank and its interval")
    if clustered is not None:
        own = rows_of(clustered, "pair", pair).set_index("system").loc[rows["system"]].reset_index()
        by_wins = own.assign(way="range by wins", rank_low=own["rank_top"], rank_high=own["rank_bottom"])
        drawn = pd.concat([drawn, by_wins.assign(rank=np.nan)], ignore_index=True)
        for line in np.flatnonzero(own["cluster"].ne(own["cluster"].shift(-1)))[:-1]:
            axes.axhline(line + 0.5, color=GREY, lw=0.9, ls=":")
    digits = _decimals(rows["score"])
    names = {row.system: f"{row.system}  {row.score:.{digits}f}" for row in rows.itertuples()}
    looks = {"range by wins": {"marker": "D", "mfc": "white", "mec": PALETTE[1], "mew": 1.2, "ms": 4.5}}
    forest(
        axes,
        drawn,
        rows="system",
        value="rank",
        low="rank_low",
        high="rank_high",
        series="way",
        names=names,
        looks=looks,
    )
    axes.tick_params(axis="y", labelsize=9)
    axes.set_xticks(np.arange(1, len(rows) + 1, max(1, len(rows) // 10)))
    axes.set(xlim=(0.5, len(rows) + 0.5), xlabel="rank (1 is best)", title=literal(pair))
    axes.set_ylabel("system and score")
    legend(figure, loc="outside upper center", columns=2)
    sure = (ranges["rank_low"] == ranges["rank_high"]).sum()
    return describe(
        figure,
        f"{pair}: an interval of ranks per system; in all language pairs {sure} of {len(ranges)} systems have a sure "
        "rank.",
    )


@house
def moves_strip(moved: pd.DataFrame) -> Figure:
    """Draw how alike each variant's rankings are to those of the first variant, one mark a language pair.

    moved: the result of ``ranking.rank_shifts``. Squares are language pairs whose ranking moves further than in 95 of
    100 resamples, dots those where it does not; a bar marks the median pair's agreement under resampling.
    """
    names = list(dict.fromkeys(moved["variant"]))[::-1]
    figure, axes = plt.subplots(figsize=(BOTH, 0.62 * len(names) + 1.3))
    far = further(moved)
    for chosen, marker, colour, label in (
        (~far, "o", GREY, "no further than chance"),
        (far, "s", PALETTE[1], "further than chance"),
    ):
        part = moved[chosen]
        level = part["variant"].map({name: k for k, name in enumerate(names)}).astype(float)
        nudge = part.groupby(["variant", part["tau_b"].round(2)]).cumcount()
        offset = np.where(nudge % 2, -1, 1) * (nudge + 1) // 2 * 0.11
        axes.plot(
            part["tau_b"],
            level + offset,
            marker,
            color=colour,
            ms=6.5,
            mec="white",
            mew=0.6,
            label=f"{label} ({len(part)})",
        )
    median = moved.groupby("variant")["tau_b_noise"].median()
    for k, name in enumerate(names):
        axes.plot(
            [median[name]] * 2,
            [k - 0.34, k + 0.34],
            color=INK,
            lw=1.8,
            label="same scores, resampled (median)" if k == 0 else None,
        )
    axes.set_yticks(range(len(names)), [literal(name) for name in names])
    axes.set(ylim=(-0.6, len(names) - 0.4), ylabel="how scores were made")
    axes.set_xlabel(f"Kendall's τ-b with the ranking by {literal(moved['against'].iloc[0])} (1: the same order)")
    legend(figure, loc="outside upper center", columns=2)
    means = moved.groupby("variant", sort=False)["tau_b"].mean()
    return describe(
        figure,
        f"A mark per language pair and variant for the likeness of its ranking to that by {moved['against'].iloc[0]}. "
        f"Means: {'; '.join(f'{name} {value:.2f}' for name, value in means.items())}.",
    )


def _decimals(scores: pd.Series) -> int:
    """Return the decimals that give most scores about three digits, and all of them the same form."""
    usual = scores.abs().median()
    return max(0, 2 - int(np.floor(np.log10(usual)))) if usual > 0 else 2
