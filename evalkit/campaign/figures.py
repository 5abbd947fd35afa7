"""Pictures of one campaign: scores of its systems, their places, the ways to treat scores, marked errors."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from evalkit.campaign.names import readable, renamed
from evalkit.show.plots import GREY, INK, LIGHT, MARKERS, PALETTE, house, literal, profiles, ranking

_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "ooo")
#: Most systems in a picture; the rest is in the tables.
_MOST = 30
#: Longest name in a picture, characters; tables have up to ``campaign.names.LONGEST``.
_LONGEST = 28


@house
def scores(ranked: pd.DataFrame, top: list[str], title: str) -> Figure:
    """Draw each system's score with its interval, the best at the top; for the first page.

    ranked: columns system, score, and low, high where there are intervals. top: the first system and those that cannot
    be told apart from it, drawn as filled squares; the others are open circles. title: what the score is, with unit.
    """
    rows = ranked.head(_MOST)
    level, first = np.arange(len(rows)), rows["system"].isin(top)
    rows = _named(rows)
    figure, axes = plt.subplots(figsize=(5.2, 0.34 * len(rows) + 1.5))
    if {"low", "high"} <= set(rows):
        axes.hlines(level, rows["low"], rows["high"], color=np.where(first, PALETTE[0], GREY), lw=2)
    looks = (
        (first, "s", PALETTE[0], "not told apart from the first" if first.sum() > 1 else "better than the others"),
        (~first, "o", "white", "worse than the first"),
    )
    for chosen, marker, fill, label in looks:
        if chosen.any() and (len(top) or marker == "o"):
            label = label if len(top) else "the only system"
            axes.plot(rows.loc[chosen, "score"], level[chosen], marker, mfc=fill, mec=INK, ms=7, label=label)
    axes.set_yticks(level, [literal(name) for name in rows["system"]], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.set(ylim=(len(rows) - 0.4, -0.6), ylabel="system", xlabel=literal(title))
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def places(ranges: pd.DataFrame, clustered: pd.DataFrame, pair: str) -> Figure:
    """Draw how sure each system's place is; see ``ranking.rank_forest``."""
    return ranking.rank_forest(_named(ranges), pair=pair, clustered=_named(clustered))


def ways(rankings: pd.DataFrame, pair: str) -> Figure:
    """Draw how the systems change places between ways to treat scores; see ``ranking.bump_chart``."""
    return ranking.bump_chart(_named(rankings), pair=pair)


def annotators(ratings: pd.DataFrame) -> Figure:
    """Draw how annotators use the scale from 0 to 100, without a slider's marks; see ``profiles.ridges``."""
    figure = profiles.ridges(ratings, marks=())
    figure.axes[0].set_xlabel("score (stretched to 0 to 100); triangle: mean")
    return figure


@house
def errors(by_system: pd.DataFrame) -> Figure:
    """Draw errors a judgement, a bar for each system, parted by severity.

    by_system: system, errors, segments, per_segment, and a column of counts for each severity.
    """
    rows = _named(by_system.head(_MOST))[::-1].reset_index(drop=True)
    severities = [name for name in rows if name not in ("system", "errors", "segments", "per_segment")]
    severities = sorted(severities, key=lambda name: -rows[name].sum())[: len(_HATCHES)]
    figure, axes = plt.subplots(figsize=(6.4, 0.32 * len(rows) + 1.6))
    left = np.zeros(len(rows))
    for name, hatch, colour in zip(severities, _HATCHES, (LIGHT, *PALETTE)):
        width = rows[name] / rows["segments"]
        axes.barh(rows.index, width, left=left, color=colour, hatch=hatch, ec=INK, lw=0.6, label=literal(name))
        left += width.to_numpy()
    axes.set_yticks(rows.index, [literal(name) for name in rows["system"]], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="errors a judgement", ylabel="system", xlim=(0, None))
    figure.legend(loc="outside upper center", ncols=4, title="severity")
    return figure


@house
def plan(table: pd.DataFrame) -> Figure:
    """Draw segments needed against the difference to be found; see ``campaign``'s table ``plan``.

    A marker is a difference, a dashed line the segments that there are. Differences that need too many are left out.
    """
    rows = table.dropna(subset="segments_needed")
    figure, axes = plt.subplots(figsize=(5.6, 3.2))
    for (_, row), marker, colour in zip(rows.iterrows(), MARKERS, PALETTE):
        axes.plot(row["points"], row["segments_needed"], marker, color=colour, mec=INK, ms=8,
                  label=literal(row["difference"]), ls="none")  # fmt: skip
    axes.axhline(table["segments_now"].iloc[0], color=INK, ls="--", lw=1.2, label="segments there are")
    axes.set(yscale="log", xlabel="true difference of two systems (points)", ylabel="segments needed", xlim=(0, None))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Cut the names of systems so that a picture has room for more than names; sorted, so that all tables agree."""
    return renamed(table, {"system": readable(sorted(table["system"].astype("str").unique()), longest=_LONGEST)})
