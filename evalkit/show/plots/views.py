"""Figures with their words: what is drawn for some values, its caption and its chart to hover over, made together.

Tables come in already worked out, so a view can be drawn again at once when a reader turns a value
(``evalkit.show.explore``), and the words always belong to the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from evalkit import DataError
from evalkit.data.schemas import with_pair
from evalkit.human import calibration as calibrating
from evalkit.human import planning
from evalkit.metrics.rankings import top
from evalkit.metrics.scores import Scores
from evalkit.show.plots import INK, calibration, describe, metaeval, ranking, rows_of
from evalkit.show.plots import annotators as people
from evalkit.show.plots import planning as planning_plots
from evalkit.stats.agreement import extreme_annotators


class View(NamedTuple):
    """A figure that says what it shows (``plots.describe``) and its caption; hover is its chart for JupyterLab.

    chosen: what was drawn where a value left it open, such as which annotators where none were named; boxes are ticked
    by it.
    """

    figure: Figure
    caption: str
    hover: dict[str, Any] | None = None
    chosen: Mapping[str, Any] = MappingProxyType({})


def score_grid(ratings: pd.DataFrame, extremes: pd.DataFrame, *, pair: str, annotators: Sequence[str] = ()) -> View:
    """View chosen annotators of a language pair against each other.

    ratings: judgements on the same items. extremes: the result of ``agreement.correlation_extremes``. annotators: at
    most eight; none stands for those in the pair's lowest and highest correlations.
    """
    chosen = list(annotators) or extreme_annotators(extremes, pair)
    if len(chosen) > 8:
        raise DataError(f"{len(chosen)} annotators are too many for one grid: choose at most 8.")
    labelled = with_pair(ratings)
    figure = people.score_grid(labelled[labelled["pair"] == pair], chosen)
    title = f"{pair}: annotators in its lowest and highest correlations, or as chosen"
    return View(figure, title, chosen={"annotators": chosen})


def rank_forest(ranges: pd.DataFrame, clustered: pd.DataFrame, *, pair: str, data: str, unit: str) -> View:
    """View systems' places in one language pair, with bootstrap intervals and the range by wins.

    ranges: the result of ``ranking.rank_ranges``. clustered: that of ``ranking.significance_clusters``. data: what the
    judgements are called. unit: what was drawn anew.
    """
    figure = ranking.rank_forest(ranges, pair=pair, clustered=clustered)
    by_wins = clustered[clustered["pair"] == pair].rename(columns={"rank_top": "rank_low", "rank_bottom": "rank_high"})
    ways = {f"when the {unit} is drawn anew": ranges[ranges["pair"] == pair], "by wins": by_wins}
    columns = ["system", "rank", "rank_low", "rank_high", "score"]
    both = pd.concat({way: table.reindex(columns=columns) for way, table in ways.items()}, names=["way"])
    both = both.reset_index(level="way")
    both["rank"] = both["rank"].fillna(both[["rank_low", "rank_high"]].mean(axis="columns"))
    return View(figure, f"{data}, {pair}: places when the {unit} is drawn anew, and by wins")


def power(
    variances: Mapping[str, float],
    simulated: pd.DataFrame,
    *,
    delta: float,
    deltas: Sequence[float],
    target: float,
    segments: Sequence[int],
    block: int,
    **design: Any,
) -> View:
    """View the chance to find differences between two systems against segments, and what a target takes.

    variances: see ``components.of_pair``. simulated: delta, segments, power, power_low, power_high of simulated
    campaigns, marked where their difference is drawn. delta: the difference that is asked for; deltas: those drawn
    beside it. segments: steps of the axis. block: segments of a document. design: the rest of ``planning.power``.
    """
    differences = sorted({*map(float, deltas), float(delta)})
    curves = planning.curve(variances, deltas=differences, segments=segments, block=block, **design)
    figure = planning_plots.power_curves(curves, simulated, target=target)
    enough = curves[(curves["power"] >= target) & (curves["delta"] == delta)]["segments"]
    takes = f"{enough.min():,} segments" if len(enough) else f"more than {max(segments):,} segments"
    found = f"{delta:g} points are found with a chance of {target:.0%} by {takes}"
    told = "The chance to find a difference rises with the number of segments, one curve for each difference"
    about = planning.setting(favourites=variances.get("taste", 0) > 0, **design)
    title = f"Chance to find a difference ({about})"
    return View(describe(figure, f"{told}: {found}."), f"{title}: {found}")


def threshold_sweep(table: pd.DataFrame, *, pair: str, threshold: float) -> View:
    """View each metric's tau and rank in one language pair as the threshold moves.

    table: the result of ``darr.results`` for many thresholds. threshold: points, marked by a line.
    """
    return View(
        metaeval.sweep(rows_of(table, "pair", pair), threshold=threshold),
        f"Tau and rank in {pair} as the threshold moves",
    )


def metric_ranking(
    table: pd.DataFrame, *, pair: str, statistic: str, chance: float | None, most: int, also: str = ""
) -> View:
    """View the best metrics by one statistic with their intervals and clusters.

    table: metric, value, rank, low, high, best first. chance: what a random metric comes to. most: metrics drawn;
    also: one that is among them wherever it comes.
    """
    figure = metaeval.ranking(table, statistic=statistic, chance=chance, most=most, also=also)
    top(table, most=most, also=also)
    beyond = f" and {also}" if also and also not in set(table["metric"].head(most)) else ""
    return View(figure, f"{pair}: the best metrics{beyond} by {statistic}, with clusters")


def metric_scores(scores: Mapping[str, Scores], values: pd.DataFrame, *, pair: str, metric: str, gold: str) -> View:
    """View a metric's scores of translations against those that people gave.

    scores: for each language pair. values: statistics, with columns pair, metric, statistic, level, grouping, value.
    gold: what the human scores are called.
    """
    pearson = rows_of(values, "pair", pair).query("metric == @metric and statistic == 'pearson' and level == 'segment'")
    one = scores[pair].only([metric])
    told = "; ".join(f"{row.grouping} {row.value:.3f}" for row in pearson.itertuples())
    figure = metaeval.scores(one.values[0].ravel(), one.human.ravel(), name=metric, gold=gold)
    describe(
        figure,
        f"Shaded cells of {metric} against {gold} scores with both distributions. Segment-level Pearson: {told}.",
    )
    return View(figure, f"{metric} against {gold} in {pair}: how many translations got which two scores")


def what_if(*, raw: float, calibration_mean: float, reference_mean: float, standard: calibrating.Standard) -> View:
    """View where the four forms of calibration send scores, for what some annotators gave to the calibration set.

    raw: an average raw score to be moved. calibration_mean, reference_mean: averages given to the calibration set and
    to human references. standard: what these are agreed to be worth.
    """
    figure = calibration.form_curves(
        calibrating.curves(calibration_mean, reference_mean, standard=standard), standard=standard
    )
    for ax in figure.axes:
        ax.axvline(raw, color=INK, lw=1)
    moved = calibrating.what_if(raw, calibration_mean, reference_mean, standard=standard)
    told = "; ".join(f"{row.form} {row.adjusted:.2f}" for row in moved.itertuples())
    describe(figure, f"{figure.get_label()} A raw {raw:g} becomes: {told}.")
    caption = f"The four forms for annotators who gave {calibration_mean:g} to the calibration set and "
    caption += f"{reference_mean:g} to human references. Upright line: a raw score of {raw:g}, which becomes {told}. "
    return View(figure, caption + "Grey areas are off the scale.")
