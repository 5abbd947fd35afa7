"""Pictures of rankings under several protocols: each system's place, and how soon a ranking is settled."""

from __future__ import annotations

import textwrap
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from evalkit.human.protocols import SHORT
from evalkit.human.protocols.rankings import kind_of
from evalkit.show.plots import (
    GREY,
    INK,
    LINES,
    MARKERS,
    PALETTE,
    describe,
    faint,
    house,
    keep_grid,
    literal,
    narrow,
    shared_legend,
    small_multiples,
    words_on,
)

#: What rankings are held against -> how a panel is titled.
_PANELS = {
    "itself": "its own ranking",
    "gold": "WMT-MQM's",
    "others": "other kinds'",
}


@house
def place_table(placed: pd.DataFrame) -> Figure:
    """Draw each system's place under every protocol, with its interval below it; a shade a quarter of the systems.

    placed: the result of ``protocols.rankings.places``. Systems stand in the order of their mean place.
    """
    protocols = list(dict.fromkeys(placed["protocol"]))
    systems = list(placed.groupby("system")["rank"].mean().sort_values(kind="stable").index)
    figure, axes = plt.subplots(figsize=(1.3 + 0.66 * len(protocols), 0.37 * len(systems) + 0.9))
    for row in placed.itertuples():
        x, y = protocols.index(row.protocol), systems.index(row.system)
        quarter = 4 * (row.rank - 1) // len(systems)
        shade = faint(PALETTE[0], 0.16 * (3 - quarter))  # few shades: pictures have few colours
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fc=shade, ec="white", lw=0.8))
        words = words_on(shade)
        axes.text(x, y - 0.17, row.rank, ha="center", va="center", fontsize=9.5, weight="bold", **words)
        ends = f"{row.rank_low}–{row.rank_high}" if row.rank_low < row.rank_high else "sure"
        axes.text(x, y + 0.25, ends, ha="center", va="center", fontsize=7, **words)
    names = [literal(textwrap.fill(SHORT.get(name, name), 8, break_long_words=False)) for name in protocols]
    axes.set_xticks(range(len(protocols)), names, fontsize=8.5, rotation=90 if narrow() else 0)
    axes.set_yticks(range(len(systems)), [literal(name) for name in systems], fontsize=8.5 if not narrow() else 7.5)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.set(xlim=(-0.5, len(protocols) - 0.5), ylim=(len(systems) - 0.5, -0.5))
    axes.spines[:].set_visible(False)
    sure = (placed["rank_low"] == placed["rank_high"]).sum()
    spread = placed.groupby("system")["rank"].agg(lambda ranks: ranks.max() - ranks.min())
    return describe(
        keep_grid(figure),
        f"Places of {len(systems)} systems under {len(protocols)} protocols, with intervals; {sure} of {len(placed)} "
        f"are sure. On average, {systems[0]} is the best and {systems[-1]} the last; the place of "
        f"{spread.idxmax()} depends most on the protocol, by {spread.max()}.",
    )


@house
def consistency_curves(curve: pd.DataFrame) -> Figure:
    """Draw how well rankings by few segments agree with rankings by other documents, a line per protocol.

    curve: the result of ``protocols.rankings.subset_consistency``. Colours are kinds of judgement, lines and
    markers campaigns of one kind; bars at the right are 95 % intervals of the last points.
    """
    kinds = [kind for kind in _PANELS if kind in set(curve["against"])]
    looks = _looks(list(dict.fromkeys(curve["protocol"])))
    figure, panels = small_multiples(
        kinds,
        titles=_PANELS,
        size=(3.2, 3.3),
        margin=(0.2, 0.9),
        sharey=True,
        ylabel="pairs of systems in the same order (%)",
        xlabel="segments that rank the systems",
    )
    far = curve["segments"].max()
    for kind, axes in panels.items():
        for number, (name, part) in enumerate(curve[curve["against"] == kind].groupby("protocol", sort=False)):
            look = looks[name]
            axes.plot(part["segments"], 100 * part["agreement"], label=literal(SHORT.get(name, name)), **look)
            last = part.nlargest(1, "segments")
            axes.vlines(
                last["segments"] + 0.03 * far * (number + 1),
                100 * last["low"],
                100 * last["high"],
                color=look["color"],
                ls=look["ls"],
                lw=1.2,
            )
        axes.set_xlim(0, 1.3 * far)
        axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= 1.05 * far])
        axes.grid(axis="y", color=GREY, alpha=0.25, lw=0.6)
    shared_legend(figure, columns=4)
    last = curve[curve["segments"] == far].sort_values("agreement")
    ends = [
        f"{_PANELS[kind]}, from {100 * part['agreement'].iloc[0]:.0f} % ({part['protocol'].iloc[0]}) to "
        f"{100 * part['agreement'].iloc[-1]:.0f} % ({part['protocol'].iloc[-1]})"
        for kind, part in ((kind, last[last["against"] == kind]) for kind in kinds)
    ]
    return describe(
        figure,
        "Lines rise and flatten with the number of segments that rank the systems. Pairs of systems in the same order "
        f"by {far:.0f} segments and in the ranking by other documents: {'; '.join(ends)}.",
    )


def _looks(protocols: list[str]) -> dict[str, dict[str, Any]]:
    """Return how each protocol's line is drawn: a colour per kind, a line and a marker per campaign of it."""
    kinds = list(dict.fromkeys(kind_of(name) for name in protocols))
    looks, seen = {}, dict.fromkeys(kinds, 0)
    for name in protocols:
        kind = kind_of(name)
        place, again = kinds.index(kind), seen[kind]
        seen[kind] += 1
        colour = INK if kind == "model" else PALETTE[place % len(PALETTE)]
        looks[name] = {
            "color": colour,
            "ls": LINES[again % len(LINES)],
            "marker": MARKERS[place % len(MARKERS)],
            "ms": 5,
            "mfc": colour if again == 0 else "white",
            "lw": 1.5,
        }
    return looks
