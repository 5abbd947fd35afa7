"""Pictures of critical-error labels, of how they are predicted, and of what their errors cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from scipy import stats

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import CRITICAL, categories
from evalkit.show.plots import (
    GREY,
    INK,
    LIGHT,
    MARKERS,
    PALETTE,
    above,
    describe,
    forest,
    house,
    literal,
    page,
    shared_legend,
    small_multiples,
    words_on,
)

_FEW = 20  # judgements below which a density says more than the data do: dots are drawn instead
_SHORT = {"Incomprehensible": "Incompr.", "Contradiction": "Contrad."}


@house
def label_shares(table: pd.DataFrame) -> Figure:
    """Draw each annotator's labels as a bar cut into shares, worst labels on the left, a panel per dimension.

    table: the result of ``sudoh2021.shares``. Critical content errors are hatched; shades go from dark (bad) to light.
    """
    dimensions = list(dict.fromkeys(table["dimension"]))
    people = [table.loc[table["dimension"] == dimension, "annotator"].nunique() for dimension in dimensions]
    figure, grid = plt.subplots(
        len(dimensions),
        1,
        figsize=(6.2, 0.42 * sum(people) + 1.35 * len(dimensions)),
        squeeze=False,
        gridspec_kw={"height_ratios": people},
    )
    for axes, dimension in zip(grid[:, 0], dimensions):
        names = categories(dimension)
        part = table[table["dimension"] == dimension].pivot(index="annotator", columns="label", values="share")
        part, left = part[names], np.zeros(len(part))
        for name, depth in zip(names, np.linspace(0.95, 0.06, len(names))):
            colour = tuple(1 - (1 - np.array(to_rgb(PALETTE[0]))) * depth)
            critical = dimension == "adequacy" and name in CRITICAL
            width = part[name].to_numpy()
            bars = axes.barh(
                [literal(a) for a in part.index],
                width,
                left=left,
                color=colour,
                edgecolor=INK,
                lw=0.6,
                hatch="///" if critical else None,
                label=name,
            )
            for bar, share in zip(bars, width):
                if share >= 0.06:
                    words = words_on(colour)
                    if critical:  # hatches would cross the words
                        words["bbox"] = words["bbox"] or {"facecolor": colour, "edgecolor": "none", "pad": 1}
                    axes.text(
                        bar.get_x() + share / 2,
                        bar.get_y() + bar.get_height() / 2,
                        f"{share:.0%}",
                        fontsize=8,
                        ha="center",
                        va="center",
                        **words,
                    )
            left += width
        axes.invert_yaxis()
        axes.set(title=dimension, ylabel="annotator", xlim=(0, 1))
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        above(axes, columns=4)
    grid[-1, 0].set_xlabel("share of the annotator's labels")
    bad = table[table["label"].isin(CRITICAL) & table["dimension"].eq("adequacy")]
    shares = bad.groupby("annotator", sort=False)["share"].sum()
    critical = ", ".join(f"{who} {share:.0%}" for who, share in shares.items())
    alt = f"Bars of label shares per annotator and dimension. Critical content errors (hatched): {critical}."
    return describe(figure, alt)


@house
def da_ridges(labelled: pd.DataFrame, *, dimension: str) -> Figure:
    """Draw how direct assessments spread within each label: an outline per label, a panel per annotator.

    labelled: as ``sudoh2021.joined`` makes it. A bar marks the mean. Labels given fewer than twenty times are dots.
    """
    part = labelled[labelled["dimension"] == dimension]
    names, people = categories(dimension), list(dict.fromkeys(part["annotator"]))
    figure, grid = plt.subplots(
        1,
        len(people),
        figsize=(2.3 * len(people) + 0.9, 0.55 * len(names) + 1.0),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    grid_z = np.linspace(part["z"].min(), part["z"].max(), 200)
    for axes, person in zip(grid.flat, people):
        for place, name in enumerate(names):
            z = part.loc[(part["annotator"] == person) & (part["label"] == name), "z"].to_numpy()
            critical = dimension == "adequacy" and name in CRITICAL
            axes.axhline(place, color=LIGHT, lw=0.6, zorder=0)
            if len(z) >= _FEW and z.std() > 0:
                density = stats.gaussian_kde(z)(grid_z)
                axes.fill_between(
                    grid_z,
                    place - 0.82 * density / density.max(),
                    place,
                    facecolor=PALETTE[critical],
                    edgecolor=INK,
                    lw=0.7,
                    alpha=0.55,
                    hatch="///" if critical else None,
                )
            else:
                axes.plot(z, np.full(len(z), place - 0.12), "o", ms=3, color=PALETTE[critical], mec=INK, mew=0.3)
            if len(z):
                axes.plot([z.mean()] * 2, [place - 0.5, place + 0.08], color=INK, lw=2.2)
        axes.axvline(0, color=GREY, ls=":", lw=0.8)
        axes.set(title=f"annotator {literal(person)}", xlabel="direct assessment (z)", ylim=(len(names) - 0.6, -1.0))
        axes.tick_params(axis="y", length=0)
    grid[0, 0].set_yticks(range(len(names)), names)
    grid[0, 0].set_ylabel("label")
    means = labelled[labelled["dimension"] == dimension].groupby(["annotator", "label"], sort=False)["z"].mean()
    listed = [
        f"{who}: " + ", ".join(f"{name} {means[who, name]:.2f}" for name in names if (who, name) in means)
        for who in people
    ]
    return describe(
        figure, f"Spread of DA scores by label of {dimension}, a panel per annotator. Means: {'; '.join(listed)}."
    )


@house
def contrast_forest(table: pd.DataFrame, *, by: str) -> Figure:
    """Draw differences between labels with their intervals: a row per contrast, a panel per value of ``by``.

    table: the result of ``labels.contrasts``; annotators are distinguished by markers.
    """
    names = {name: _SHORT.get(name, name) for name in {*table["label"], *table["against"]}}
    rows = table.assign(contrast=table["label"].map(names) + " − " + table["against"].map(names))
    figure, panels = small_multiples(
        dict.fromkeys(rows[by]),
        size=(2.1, 0.62 * rows["contrast"].nunique() + 0.7),
        margin=(1.6, 0.9),
        xlabel="difference of mean z (right of 0: penalised less)",
        sharex=True,
        sharey=True,
    )
    order, people = dict.fromkeys(rows["contrast"]), dict.fromkeys(rows["annotator"])
    looks = {who: {"color": color, "marker": marker} for who, color, marker in zip(people, PALETTE, MARKERS)}
    for panel, axes in panels.items():
        part = rows[rows[by] == panel]
        forest(
            axes,
            part,
            rows="contrast",
            value="difference",
            low="low",
            high="high",
            series="annotator",
            order=order,
            looks=looks,
        )
        axes.axvline(0, color=GREY, lw=0.9)
    shared_legend(figure)
    known = rows.dropna(subset="difference")
    first = known[known[by] == known[by].iloc[0]] if len(known) else known
    each = ", ".join(f"{row.contrast} {row.difference:.2f} ({row.annotator})" for row in first.itertuples())
    above = f"Above 0 in {int(known['difference'].gt(0).sum())} of {len(known)} comparisons"
    return describe(
        figure, f"Differences of mean z between labels with intervals. {above}; in the first panel: {each}."
    )


@house
def between_annotators(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw which labels two annotators give the same translations, a heat map per pair.

    tables: pair -> the result of ``labels.confusion_between``.
    """
    figure, grid = plt.subplots(1, len(tables), figsize=(3.0 * len(tables) + 1.0, 3.6), squeeze=False)
    worst = []
    for axes, (pair, table) in zip(grid.flat, tables.items()):
        counts = table.pivot(index="first", columns="second", values="count")
        names = list(dict.fromkeys(table["first"]))
        _heat_map(axes, counts.loc[names, names])
        page.keep_wide(figure, 1.0 + 0.27 * len(names))
        one, other = table["first_annotator"].iloc[0], table["second_annotator"].iloc[0]
        axes.set(title=literal(pair), xlabel=f"label of {literal(other)}", ylabel=f"label of {literal(one)}")
        apart = table[table["first"] != table["second"]]
        row = apart.loc[apart["count"].idxmax()]
        worst.append(f"{pair} {row['first']} against {row['second']}, {row['count']} translations")
    alt = "Labels that two annotators gave the same translations. Commonest disagreement: "
    return describe(figure, f"{alt}{'; '.join(worst)}.")


@house
def confusion(table: pd.DataFrame, *, models: Sequence[str]) -> Figure:
    """Draw confusion matrices side by side, a heat map per model.

    table: one dimension of ``classification.confusion``: model, true, predicted, count. models: which, in order.
    """
    absent = [name for name in models if name not in set(table["model"])]
    if absent or not models:
        raise DataError(f"There is no matrix of {', '.join(absent) or 'any model'}. Count its predictions first.")
    labels, worst = list(dict.fromkeys(table["true"])), []
    wide = 1.5 + 0.52 * len(labels) * len(models)
    figure, grid = plt.subplots(1, len(models), figsize=(wide, 0.9 + 0.42 * len(labels)), sharey=True, squeeze=False)
    for axes, name in zip(grid[0], models):
        own = table[table["model"] == name]
        drawn = _heat_map(axes, own.pivot(index="true", columns="predicted", values="count").loc[labels, labels])
        axes.set_title(literal(name), fontsize=9)
        page.keep_wide(figure, 0.8 + 0.27 * len(labels))
        wrong = own[own["true"] != own["predicted"]]
        row = wrong.loc[wrong["count"].idxmax()]
        worst.append(f"{name}: {row['true']} as {row['predicted']}, {row['count']:,} times")
    figure.supxlabel("predicted label", fontsize=10)
    figure.supylabel("true label", fontsize=10)
    figure.colorbar(drawn, ax=grid, location="right", shrink=0.8, aspect=25, label="share of the true label's row")
    return describe(figure, f"Confusion matrices. Commonest confusion: {'; '.join(worst)}.")


def _heat_map(axes: Axes, counts: pd.DataFrame):
    """Draw counts with shades for the share of their row, and bold ones on the diagonal."""
    values = counts.to_numpy(float)
    share = values / np.maximum(values.sum(axis=1, keepdims=True), 1)
    drawn = axes.imshow(share, cmap="Greys", vmin=0, vmax=1, aspect="auto")
    for row, column in np.ndindex(*values.shape):
        weight = "bold" if row == column else "normal"
        axes.text(
            column,
            row,
            f"{values[row, column]:.0f}",
            ha="center",
            va="center",
            fontsize=7.5,
            fontweight=weight,
            **words_on(drawn.to_rgba(share[row, column])[:3]),
        )
    names = [literal(_SHORT.get(name, name)) for name in counts.index]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.tick_params(length=0)
    return drawn


@house
def by_pair(table: pd.DataFrame, *, models: Sequence[str]) -> Figure:
    """Draw each model's accuracy by language pair with its interval, a panel per dimension.

    table: ``classification.accuracy`` by src_lang and tgt_lang. models: which, in order.
    """
    part = table[table["model"].isin(models)].assign(pair=lambda rows: rows["src_lang"] + "-" + rows["tgt_lang"])
    if part.empty:
        raise DataError(f"There is no accuracy of {', '.join(models)}. Choose models of the table.")
    part = part.sort_values("model", key=lambda names: names.map(list(models).index), kind="stable")
    pairs = sorted(part["pair"].unique())
    figure, panels = small_multiples(
        dict.fromkeys(table["dimension"]),
        size=(3.4, 0.42 * len(pairs) + 0.5),
        xlabel="share of test translations labelled right (bar: 95 % interval)",
        sharex=True,
        sharey=True,
    )
    for dimension, axes in panels.items():
        own = part[part["dimension"] == dimension]
        forest(axes, own, rows="pair", value="accuracy", low="low", high="high", series="model", order=pairs)
        axes.grid(axis="x", color=LIGHT, lw=0.5)
    shared_legend(figure, columns=3)
    ends = [part.loc[part["accuracy"].idxmin()], part.loc[part["accuracy"].idxmax()]]
    low, high = (f"{row['accuracy']:.2f} ({row['pair']}, {row['dimension']}, {row['model']})" for row in ends)
    return describe(figure, f"Accuracy by language pair with intervals, between {low} and {high}.")
