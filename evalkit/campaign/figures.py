"""Pictures of one campaign: scores of its systems, their places, the ways to treat scores, marked errors."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from evalkit.campaign import first_page, sentences
from evalkit.campaign.against import Against
from evalkit.campaign.annotators import Profiles
from evalkit.campaign.collection import Errors
from evalkit.campaign.judges import PEOPLE, Judges
from evalkit.campaign.opening import readable, renamed
from evalkit.campaign.plan import ANY, CAUTIOUS, POWER, Plan
from evalkit.campaign.ranking import Normalization, Ranking
from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LIGHT,
    MARKERS,
    PALETTE,
    describe,
    forest,
    house,
    legend,
    literal,
    profiles,
)
from evalkit.show.plots import ranking as rankings
from evalkit.stats.terms import pluralize

_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "ooo")
#: Most systems in a picture; the rest is in the tables.
_MOST = 30
_OVER_SYSTEMS = {"spa": "systems: SPA", "system_kendall_b": "systems: Kendall's τ-b"}
#: Longest name in a picture, characters; tables have up to ``campaign.names.LONGEST``.
_LONGEST = 28


@house
def scores(ranking: Ranking) -> Figure:
    """Draw each system's score with its interval, the best at the top; for the first page.

    Filled squares are the first system and those that cannot be distinguished from it, open circles the others,
    diamonds people's translations. Far systems would squeeze all others together: the axis is then cut, and they stand
    at its edge with their score in words.
    """
    label = "not distinguished from the first" if ranking.level else "better than the others"
    label = label if len(ranking.names) > 1 else "the only system"
    first = ranking.table["system"].isin([ranking.top, *ranking.level])
    shown = ranking.table.assign(stands=np.where(first, label, "worse than the first"))
    shown = pd.concat([shown, ranking.humans.assign(stands="human translation")])
    rows = _named(shown.sort_values("score", ascending=False, kind="stable").head(_MOST).reset_index(drop=True))
    looks = {
        label: {"marker": "s", "color": PALETTE[0], "mec": INK},
        "worse than the first": {"marker": "o", "color": GREY, "mfc": "white", "mec": INK},
        "human translation": {"marker": "D", "color": PALETTE[1], "mec": INK},
    }
    low, high = (None, None) if ranking.unsure else ("low", "high")
    figure, axes = plt.subplots(figsize=(4.4, 0.3 * len(rows) + 1.9))
    whole = ranking.method.compares  # shares have room for all
    near = np.ones(len(rows), bool) if whole else _near(rows["score"].to_numpy(float))
    blank = [name for name in ("score", low, high) if name]
    kept = rows.assign(**{name: rows[name].where(near) for name in blank})
    forest(axes, kept, rows="system", value="score", series="stands", low=low, high=high, looks=looks, apart=0)
    edge = float(kept[low or "score"].min())
    for place in np.flatnonzero(~near):
        axes.annotate(
            f"◂ {rows['score'][place]:.2f}".replace("-", "−"),
            (edge, place),
            va="center",
            ha="left",
            fontsize=9,
            color=INK,
        )
    what, unit = {
        "z": ("mean z-score", "standard deviations of an annotator"),
        "adjusted": ("adjusted mean score", "points, annotators' strictness taken out"),
    }.get(ranking.method.score, ("mean score", "points"))
    if ranking.method.compares:
        what, unit = "share won against all others", "of comparisons; a tie counts half"
    axes.set(ylabel="system", xlabel=f"{what}{', 95 % interval' if low else ''}\n({unit})")
    legend(figure, loc="outside upper center", columns=1)
    far = [f"{row.system} at {row.score:.2f} lies beyond the axis" for row in rows[~near].itertuples()]
    told = [first_page.better(ranking), *first_page.beside_humans(ranking), *(f"{text}." for text in far)]
    return describe(figure, f"The score of each system with its interval, the best at the top. {' '.join(told)}")


def _near(scores: np.ndarray) -> np.ndarray:
    """Tell which scores can share an axis: not those below a gap that is twice the range of all above it.

    scores: the highest first. At most a quarter of them is left out.

    >>> _near(np.array([5.0, 4.5, 4.0, 3.5, -20.0])).tolist()
    [True, True, True, True, False]
    """
    for last in range(len(scores) - 1, max(2, int(np.ceil(0.75 * len(scores))) - 1) - 1, -1):
        above, below = scores[:last], scores[last:]
        if len(below) and above[-1] - below[0] > 2 * (above[0] - above[-1]) > 0:
            return np.arange(len(scores)) < last
    return np.ones(len(scores), bool)


def places(ranking: Ranking) -> Figure:
    """Draw how sure each system's place is; see ``rank_forest``. Raises DataError for a ranking without intervals."""
    table = _named(ranking.table)
    figure = rankings.rank_forest(table, pair=ranking.pair, clustered=table)
    clusters = pluralize(ranking.table["cluster"].max(), "cluster")
    return describe(
        figure,
        f"{ranking.pair}: an interval of places for each of {len(table)} systems in {clusters}; {ranking.top} is "
        "first.",
    )


def ways(found: Normalization) -> Figure:
    """Draw how the systems change places between ways to treat scores; see ``bump_chart``."""
    figure = rankings.bump_chart(_named(found.rankings), pair=found.pair)
    return describe(
        figure,
        f"{found.pair}: lines that follow {len(found.ranks)} systems through {len(found.tops)} rankings; moves beyond "
        f"the noise of resampling: {found.shifts['beyond_noise'].sum()}.",
    )


@house
def annotators(found: Profiles) -> Figure:
    """Draw how annotators use the scale from 0 to 100, without a slider's marks; see ``profiles.ridges``."""
    figure = profiles.ridges(found.scores, marks=())
    figure.axes[0].set_xlabel("score (stretched to 0 to 100); triangle: mean")
    means = found.table["mean"]
    return describe(
        figure,
        f"A curve per annotator over the scale from 0 to 100, up to twenty of them; means from {means.min():.0f} to "
        f"{means.max():.0f}.",
    )


@house
def against(found: Against) -> Figure:
    """Draw the places of the systems in two campaigns, each with its interval, the best here at the top."""
    table, named = found.systems.head(_MOST), _named(found.systems)["system"]
    sides = dict(zip(("here", "there"), found.names, strict=True))
    parts = [
        pd.DataFrame(
            {"system": named.loc[table.index], "place": table[f"rank_{side}"], "campaign": side}
            | ({end: table[f"rank_{side}_{end}"] for end in ("low", "high")} if found.drawn else {})
        )
        for side in sides
    ]
    low, high = ("low", "high") if found.drawn else (None, None)
    figure, axes = plt.subplots(figsize=(4.4, 0.4 * len(table) + 1.5))
    names = {side: f"{side}: {readable([name], longest=_LONGEST).get(name, name)}" for side, name in sides.items()}
    forest(axes, pd.concat(parts), rows="system", value="place", series="campaign", low=low, high=high, names=names)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(ylabel="system", xlabel=f"place (1: the best){', 95 % interval' if found.drawn else ''}")
    legend(figure, loc="outside upper center", columns=2)
    apart = (found.systems["rank_here"] - found.systems["rank_there"]).abs()
    return describe(
        figure,
        f"{found.pair}: the places of {pluralize(len(found.systems), 'system')} in two campaigns, on what both judged; "
        f"{pluralize(int(apart.eq(0).sum()), 'system')} with the same place in both, the largest difference "
        f"{pluralize(int(apart.max()), 'place')}.",
    )


@house
def errors(found: Errors) -> Figure:
    """Draw errors a judgement, a bar for each system, parted by severity."""
    table = found.by_system
    rows = _named(table.head(_MOST))[::-1].reset_index(drop=True)
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
    legend(figure, loc="outside upper center", columns=4, title="severity")
    return describe(
        figure,
        f"A bar of errors a judgement for each of {len(table)} systems, from {table['per_segment'].iloc[0]:.2f} to "
        f"{table['per_segment'].iloc[-1]:.2f}, split by severity.",
    )


@house
def plan(found: Plan) -> Figure:
    """Draw judgements of two systems that are needed against the difference to be found.

    The line is for any difference, a marker an observed one or one of a fixed size, the dashed line the segments that
    there are, as if each were judged once. Differences that need too much are left out. Where people are counted, their
    number stands beside the fixed sizes.
    """
    rows = found.table.dropna(subset="segments_needed")
    rows = rows[rows["difference"] != CAUTIOUS]
    figure, axes = plt.subplots(figsize=(BOTH, 3.6))
    low, high = found.table["points"].min(), found.table["points"].max()
    crews = [(delta, found.basis.crew(delta)) for delta in np.geomspace(max(low, high / 100), 1.1 * high, 60)]
    line = np.array([(delta, crew.judgements) for delta, crew in crews if crew])
    axes.plot(*line.T, color=GREY, lw=1.2, zorder=1, label=f"found with a chance of {POWER:.0%}")
    looks = zip(itertools.cycle(MARKERS), itertools.cycle(PALETTE))
    for row, (marker, colour) in zip(rows.to_dict("records"), looks):
        axes.plot(
            row["points"],
            2 * row["segments_needed"],
            marker,
            color=colour,
            mec=INK,
            ms=8,
            ls="none",
            label=literal(_planned(row)),
        )
        if found.basis.counts_people and row["compares"] == ANY:
            axes.annotate(
                f"{row['people_needed']:,} people",
                (row["points"], 2 * row["segments_needed"]),
                xytext=(8, 4),
                textcoords="offset points",
                fontsize=9,
            )
    axes.axhline(2 * found.table["segments_now"].iloc[0], color=INK, ls="--", lw=1.2, label="there are")
    axes.set(
        yscale="log", xlabel="true difference of two systems (points)", ylabel="judgements of the two", xlim=(0, None)
    )
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    legend(figure, loc="outside upper center", columns=1 if len(rows) < 4 else 2)
    needed = [
        f"{_planned(row)} ({row['points']:.2f} points): "
        + (sentences.beyond(found) if pd.isna(row["segments_needed"]) else f"{2 * row['segments_needed']:,} judgements")
        for row in found.table.to_dict("records")
    ]
    return describe(figure, f"Judgements of two systems needed: {'; '.join(needed)}.")


def _planned(row: dict[Hashable, Any]) -> str:
    """Name a row of a plan: whom it compares, where that is not any two systems, and the difference."""
    return row["difference"] if row["compares"] == ANY else f"{row['compares']}, {row['difference']}"


@house
def judges(found: Judges) -> Figure:
    """Draw how far metrics and models agree with people, over items and over systems, beside people's own range."""
    names = found.names[:_MOST]
    spa = found.intervals[found.intervals["statistic"].eq("spa")].set_index("judge")["value"]
    over_systems = "spa" if spa.notna().any() and (not found.persons or spa.notna()[PEOPLE]) else "system_kendall_b"
    panels = {"kendall_b": "items: Kendall's τ-b", over_systems: _OVER_SYSTEMS[over_systems]}
    figure, axes = plt.subplots(1, 2, figsize=(5.6, 0.3 * len(names) + 1.7), sharey=True)
    shown = readable(sorted(names), longest=_LONGEST)
    people = found.intervals[found.intervals["judge"] == PEOPLE].set_index("statistic")
    for panel, (statistic, title) in zip(axes, panels.items()):
        rows = found.intervals[found.intervals["statistic"].eq(statistic) & found.intervals["judge"].isin(names)]
        if len(people) and people["value"].notna()[statistic]:
            low, high, middle = people.loc[statistic, ["low", "high", "value"]].astype(float)
            panel.axvspan(low, high, color=LIGHT, lw=0, label="range of persons against the others")
            panel.axvline(middle, color=INK, ls="--", lw=1.2, label="their median")
        forest(panel, rows, rows="judge", value="value", low="low", high="high", order=names, names=shown)
        panel.set_xlabel(title)
    axes[0].set_ylabel("metric or model")
    handles, labels = axes[0].get_legend_handles_labels()
    kept = [(handle, label) for handle, label in zip(handles, labels) if label != "None"]
    if kept:
        legend(figure, *zip(*kept), loc="outside upper center", columns=2)
    best = found.table.iloc[0]
    return describe(
        figure,
        f"{found.pair}: a dot with an interval for each of {len(names)} metrics and models, over items and over "
        f"systems. Over items {best['judge']} agrees best with people, at {best['kendall_b']:.2f}"
        + (f"; persons with each other at {people['value']['kendall_b']:.2f} in the median." if len(people) else "."),
    )


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Cut the names of systems so that a picture has room for more than names; sorted, so that all tables agree."""
    return renamed(table, {"system": readable(sorted(table["system"].astype("str").unique()), longest=_LONGEST)})
