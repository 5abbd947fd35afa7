"""Figures of agreement, annotators and their profiles: they show their tables, axes are named, texts stay texts."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import simulate
from evalkit.data.schemas import with_pair
from evalkit.human import annotators
from evalkit.show import plots
from evalkit.show.plots import agreement as draw_agreement
from evalkit.show.plots import annotators as draw_annotators
from evalkit.show.plots import profiles as draw
from evalkit.stats import agreement


@pytest.fixture(scope="module")
def ratings():
    return simulate.stand_in("wmt22-calibration-hits", seed=1)


def named(figure):
    """Tell whether each panel, or the figure for all of them, names its two axes."""
    panels = [axes for axes in figure.axes if axes.axison]
    x = figure.get_supxlabel() or all(axes.get_xlabel() for axes in panels)
    y = figure.get_supylabel() or any(axes.get_ylabel() for axes in panels)
    return bool(x and y)


@pytest.mark.slow
def test_every_figure_names_its_axes(ratings):
    correlated = agreement.correlations(ratings)
    pair = correlated["pair"].iloc[0]
    one = ratings[ratings["src_lang"] + "-" + ratings["tgt_lang"] == pair]
    people = sorted(one["annotator"].unique())[:3]
    figures = [
        draw_annotators.score_grid(one, people),
        draw_annotators.score_strips(ratings),
        draw_annotators.tick_shares(annotators.ticks(ratings), within=1),
        draw_annotators.repeat_differences(annotators.repeats(ratings)),
        draw_agreement.correlation_spread(correlated, ("spearman", "kendall_c")),
        draw_agreement.intraclass_intervals(agreement.intraclass(ratings)),
    ]
    assert all(map(named, figures))


def test_strips_hold_each_annotators_shares_sorted_by_mean(ratings):
    figure = draw_annotators.score_strips(ratings)
    pairs = sorted(with_pair(ratings)["pair"].unique())
    for axes, pair in zip(figure.axes, pairs, strict=False):
        assert axes.get_title(loc="left") == pair
        shares = axes.collections[0].get_array().reshape(len(axes.get_yticks()), -1) ** 2
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        triangles = axes.lines[0].get_xdata()
        assert list(triangles) == sorted(triangles)


def test_a_forest_puts_each_estimate_and_interval_on_its_row_and_tells_series_apart():
    table = pd.DataFrame({"system": ["A", "B", "A"], "way": ["x", "x", "y"], "mean": [1.0, 2.0, 3.0]})
    table = table.assign(low=table["mean"] - 0.5, high=table["mean"] + 0.25)
    axes = plt.subplots()[1]
    options = {"value": "mean", "low": "low", "high": "high", "series": "way", "names": {"A": "$A$", "x": "first"}}
    plots.forest(axes, table, rows="system", order=["B", "A"], **options)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["B", r"\$A\$"]
    assert axes.get_ylim() == (1.5, -0.5), "the first row is on top"
    first, second = axes.lines
    assert (first.get_label(), second.get_label()) == ("first", "y")
    assert first.get_marker() != second.get_marker()
    np.testing.assert_array_equal(first.get_xdata(), [2, 1])
    np.testing.assert_array_equal(second.get_xdata(), [np.nan, 3])
    np.testing.assert_allclose(np.diff(axes.collections[0].get_segments()[0][:, 0]), 0.75)
    assert first.get_ydata()[0] < 0 < second.get_ydata()[0], "series of one row stand apart"


# Figures of profiles and screening: they show what their tables hold, and texts from data stay texts


@pytest.fixture(scope="module")
def one_pair():
    drawn = simulate.stand_in("wmt22-calibration-hits", seed=1)
    return drawn[drawn["tgt_lang"] == drawn["tgt_lang"].iloc[0]].reset_index(drop=True)


@pytest.mark.slow
def test_every_figure_names_its_axes_and_draws_hostile_names(one_pair):
    hostile = one_pair.assign(annotator=one_pair["annotator"] + r"$\frac{1}$<b>")
    names = hostile["annotator"].unique()[:3].tolist()
    figures = [
        draw.ridges(hostile),
        draw.histograms(hostile, annotators.profiles(hostile)),
        draw.two_distributions(hostile, hostile, names),
        draw.grids_in_use({"$a$ set": annotators.scale_grid(hostile)}),
    ]
    assert all(map(named, figures))
    for figure in figures:
        figure.savefig(io.BytesIO(), format="png")  # an unclosed equation would raise here


def test_ridges_are_sorted_by_mean_and_end_at_the_busiest(one_pair):
    few = ["a0", "a5", "a7", "a23"]
    many = one_pair.assign(annotator="a" + pd.Series(range(len(one_pair))).mod(24).astype(str))
    many = many[~many["annotator"].isin(few) | (many.index < 1000)]
    axes = draw.ridges(many).axes[0]
    means = many.groupby("annotator")["score"].mean()
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert len(shown) == 20
    assert not set(few) & set(shown)
    triangles = axes.lines[0].get_xdata()
    assert list(triangles) == sorted(triangles)
    np.testing.assert_allclose(triangles, means.loc[shown])


def test_pictures_of_annotators_are_of_one_language_pair(one_pair):
    with pytest.raises(DataError, match="one language pair"):
        draw.ridges(pd.concat([one_pair, one_pair.assign(src_lang="xxx")]))
