"""Pictures of protocols compared: printed kappas with what sampling allows, power, and agreement of real annotators."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evalkit.human.observed import misled, titled
from evalkit.papers.licht2022.protocols import WANTED_POWER, detectable
from evalkit.papers.licht2022.table3 import LANGUAGES
from evalkit.show.plots import (
    BOTH,
    GREY,
    INK,
    LIGHT,
    LINES,
    MARKERS,
    PALETTE,
    describe,
    house,
    labels,
    legend,
    literal,
    narrow,
)

PROTOCOLS = ("RAW", "XSTS", "MSTS", "BT+MSTS", "PE")
_TITLES = {"X-EN": "into English", "EN-X": "out of English", "both": "both directions"}
#: How coefficients are called in the forest plot, and in which of its two panels they stand.
EXACT = {
    ("percent_agreement", "none"): "percent agreement",
    ("randolph_kappa", "none"): "Randolph's κ",
    ("gwet_ac1", "none"): "Gwet's AC1",
    ("fleiss_kappa", "none"): "Fleiss' κ",
    ("conger_kappa", "none"): "Conger's κ",
    ("krippendorff_alpha", "nominal"): "Krippendorff's α (nominal)",
    ("cohen_kappa", "none"): "Cohen's κ (mean of pairs)",
}
NEAR = {
    ("gwet_ac2", "quadratic"): "Gwet's AC2 (quadratic)",
    ("krippendorff_alpha", "ordinal"): "Krippendorff's α (ordinal)",
    ("krippendorff_alpha", "interval"): "Krippendorff's α (interval)",
    ("cohen_kappa", "quadratic"): "Cohen's κ (quadratic, mean of pairs)",
}


def _look(number: int) -> dict[str, Any]:
    """Give the n-th series a colour and a marker of its own."""
    return {"color": PALETTE[number % len(PALETTE)], "marker": MARKERS[number % len(MARKERS)]}


def _families() -> dict[str, dict[str, Any]]:
    """Give each coefficient a mark, and its kin of the other panel the same one: of α by intervals it is hollow."""
    looks = {label: _look(number) for number, label in enumerate(EXACT.values())}
    kin = zip(
        NEAR.values(), ("Gwet's AC1", *["Krippendorff's α (nominal)"] * 2, "Cohen's κ (mean of pairs)"), strict=True
    )
    looks |= {label: looks[mate] for label, mate in kin}
    hollow = "Krippendorff's α (interval)"
    return looks | {hollow: looks[hollow] | {"mfc": "white", "mec": looks[hollow]["color"], "mew": 1.1}}


FAMILIES = _families()


@house
def printed_kappas(cells: pd.DataFrame) -> Figure:
    """Draw every printed kappa with its interval, per language and direction; one marker per protocol.

    cells: the result of ``licht2022.table3.intervals``.
    """
    figure, grid = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True)
    languages = list(dict.fromkeys(cells["language"]))
    for axes, direction in zip(grid, ("X-EN", "EN-X"), strict=True):
        half = cells[cells["direction"] == direction]
        shown = [protocol for protocol in PROTOCOLS if protocol in set(half["protocol"])]
        for number, protocol in enumerate(shown):
            row = half[half["protocol"] == protocol].set_index("language").loc[languages]
            level = np.arange(len(languages)) + 0.18 * (number - (len(shown) - 1) / 2)
            look = _look(PROTOCOLS.index(protocol))
            axes.hlines(level, row["low"], row["high"], color=look["color"], lw=2)
            axes.plot(row["printed"], level, ls="", ms=6, mec="white", label=protocol, **look)
        axes.set(title=_TITLES[direction], xlabel="Fleiss' κ as printed, 95 % interval from the design", xlim=(0, 1))
        axes.hlines(np.arange(len(languages) - 1) + 0.5, 0, 1, color=LIGHT, lw=0.6)
    handles = {label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels())}
    legend(figure, list(handles.values()), list(handles), loc="outside upper center", columns=5)
    names = [f"{LANGUAGES[code]} ({code})" if code in LANGUAGES else code for code in languages]
    grid[0].set_yticks(range(len(languages)), names)
    grid[0].set_ylabel("language")
    grid[0].invert_yaxis()
    # or the last number of the left axis touches the right one's first
    figure.set_layout_engine("constrained", wspace=0.06)
    width = cells["high"] - cells["low"]
    said = "Printed kappas in two panels, a row per language and a marker per protocol, with intervals"
    return describe(figure, f"{said} {width.min():.2f} to {width.max():.2f} wide.")


@house
def average_differences(differences: pd.DataFrame) -> Figure:
    """Draw every difference of two protocols' averages twice: for these six languages, and for languages like them.

    differences: the result of ``licht2022.table3.average_differences``.
    """
    rows = differences[["direction", "protocol_a", "protocol_b"]].drop_duplicates()
    figure, axes = plt.subplots(figsize=(9, 0.35 * len(rows) + 1.3))
    names = []
    for level, ((direction, a, b), pair) in enumerate(
        differences.groupby(["direction", "protocol_a", "protocol_b"], sort=False)
    ):
        names.append(f"{_TITLES[direction]}: {a} − {b}")
        for number, row in enumerate(pair.itertuples()):
            place, look = level + (-0.15, 0.15)[number], _look(number)
            axes.plot([row.low, row.high], [place, place], color=look["color"], lw=2, ls=("-", "--")[number])
            fill = look["color"] if row.survives else "white"
            axes.plot(
                row.difference,
                place,
                look["marker"],
                ms=7,
                color=look["color"],
                mfc=fill,
                label=f"{row.about} (filled: survives Holm)" if level == 0 else None,
            )
    axes.axvline(0, color=GREY, lw=0.8, ls=":")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="difference of average κ, 95 % interval (uncorrected)", ylim=(len(names) - 0.5, -0.6))
    axes.set_ylabel("protocols compared")
    legend(figure, loc="outside upper center", columns=2)
    survive = [f"{about} {part.sum()} of {len(part)}" for about, part in differences.groupby("about")["survives"]]
    return describe(
        figure, f"Differences of averages with two intervals each. They survive for {', for '.join(survive)}."
    )


@house
def power_curves(powers: pd.DataFrame, *, wanted: float = WANTED_POWER) -> Figure:
    """Draw the chance to see a difference against its size, a line per protocol.

    powers: the result of ``licht2022.protocols.power``. wanted: a power, marked by a line.
    """
    figure, axes = plt.subplots(figsize=(BOTH, 3.8))
    for number, ((protocol, kappa), curve) in enumerate(powers.groupby(["protocol", "kappa"], sort=False)):
        axes.plot(
            curve["points"],
            curve["power"],
            ls=LINES[number % len(LINES)],
            ms=5,
            mec="white",
            label=f"{protocol} (κ {kappa:.2f})",
            **_look(number),
        )
    axes.axhline(wanted, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="true difference of two translations (points of the scale)", ylim=(0, 1.03))
    axes.set_ylabel("share of campaigns that see it")
    legend(axes, loc="lower right")
    points = detectable(powers, wanted=wanted)["points"]
    said = f"They reach {wanted:g} between {points.min():.2f} and {points.max():.2f} points."
    if points.isna().any():
        said = f"{points.notna().sum()} of {len(points)} reach {wanted:g}."
    return describe(figure, f"Power against true difference, a line per protocol. {said}")


@house
def forest(table: pd.DataFrame) -> Figure:
    """Draw every coefficient of every data set with its interval; the left panel counts exact matches only.

    table: the result of ``human.observed.coefficients``.
    """
    names = list(dict.fromkeys(table["data"]))
    figure, grid = plt.subplots(1, 2, figsize=(12, 0.62 * len(names) + 1.8), sharey=True)
    for axes, (title, series) in zip(
        grid, {"exact matches count": EXACT, "near misses count partly": NEAR}.items(), strict=True
    ):
        for number, ((coefficient, level), label) in enumerate(series.items()):
            rows = table[(table["coefficient"] == coefficient) & (table["level"] == level)].set_index("data")
            at = np.array([names.index(name) for name in rows.index]) + 0.13 * (number - (len(series) - 1) / 2)
            look = {"ls": "", "ms": 5.5, "mec": "white", "mew": 0.3, "label": label} | FAMILIES[label]
            axes.hlines(at, rows["low"], rows["high"], color=look["color"], lw=1.6)
            axes.plot(rows["estimate"], at, **look)
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        axes.hlines(np.arange(len(names) - 1) + 0.5, *axes.get_xlim(), color=LIGHT, lw=0.6)
        axes.set(title=title, xlabel="coefficient (0: chance, except percent agreement; 1: perfect)", xlim=(-0.1, 1.02))
    handles = {label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels())}
    legend(figure, list(handles.values()), list(handles), loc="outside upper center", columns=2)
    grid[0].set_yticks(range(len(names)), [literal(titled(name)) for name in names])
    grid[0].set_ylim(len(names) - 0.4, -0.6)
    grid[0].set_ylabel("data set")
    gap = misled(table).iloc[0]
    said = f"Every coefficient for {len(names)} data sets. Left: exact matches count; right: near misses, partly."
    return describe(figure, f"{said} κ and AC1: up to {gap['gap']:.2f} apart ({titled(gap['data'])}).")


@house
def bins(table: pd.DataFrame) -> Figure:
    """Draw three coefficients against the number of bins, a line per data set.

    table: the result of ``human.observed.by_bins``.
    """
    titles = {
        "fleiss_kappa": "Fleiss' κ",
        "gwet_ac1": "Gwet's AC1",
        "krippendorff_alpha": "Krippendorff's α (interval)",
    }
    figure, grid = plt.subplots(1, 3, figsize=(12, 4.2), sharey=True)
    for axes, (coefficient, title) in zip(grid, titles.items(), strict=True):
        part = table[table["coefficient"] == coefficient]
        for number, (name, curve) in enumerate(part.groupby("data", sort=False)):
            look = _look(number)
            axes.fill_between(curve["bins"], curve["low"], curve["high"], color=look["color"], alpha=0.15, lw=0)
            axes.plot(
                curve["bins"],
                curve["estimate"],
                ls=LINES[number % len(LINES)],
                ms=5,
                mec="white",
                label=literal(titled(name)),
                **look,
            )
        ticks = sorted(part["bins"].unique())
        axes.set(title=title, xlabel="bins of the scale (logarithmic)", xscale="log")
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.axhline(0, color=INK, lw=0.6)
    grid[0].set_ylabel("coefficient, 95 % interval")
    if narrow():
        legend(figure, *grid[0].get_legend_handles_labels(), loc="outside lower center", columns=4)
    else:
        lines = [line for line in grid[-1].lines if not line.get_label().startswith("_")]
        ends = [(*line.get_xydata()[-1], line.get_color()) for line in lines]
        names = [line.get_label().replace(", ", ",\n") for line in lines]
        labels.name_ends(grid[-1], [(name, *end) for name, end in zip(names, ends, strict=True)])
    finest = table[table["bins"].eq(table["bins"].max()) & table["coefficient"].eq("fleiss_kappa")]["estimate"]
    said = f"At {table['bins'].max()}, Fleiss' κ is {finest.min():.2f} to {finest.max():.2f}."
    return describe(figure, f"Three panels, {', '.join(titles.values())}, against the number of bins. {said}")
