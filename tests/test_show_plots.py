"""Figures of annotators and agreement: what they show is in the table, every axis is named, texts stay texts."""

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
from evalkit.stats import agreement


@pytest.fixture(scope="module")
def ratings():
    return simulate.calibration_hits(seed=1)


def named(figure):
    """Tell whether each panel, or the figure for all of them, names its two axes."""
    panels = [axes for axes in figure.axes if axes.axison]
    x = figure.get_supxlabel() or all(axes.get_xlabel() for axes in panels)
    y = figure.get_supylabel() or any(axes.get_ylabel() for axes in panels)
    return bool(x and y)


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


def test_dots_stand_at_the_tables_values(ratings):
    table = agreement.intraclass(ratings)
    axes = draw_agreement.intraclass_intervals(table).axes[0]
    for line, kind in zip(axes.lines, ("agreement", "consistency"), strict=True):
        np.testing.assert_allclose(line.get_xdata(), table[kind])


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


def test_small_multiples_have_a_titled_panel_per_name_and_nothing_beyond():
    figure, panels = plots.small_multiples(["$a", "b", "c", "d"], columns=3, xlabel="x", ylabel="y")
    assert list(panels) == ["$a", "b", "c", "d"]
    assert panels["$a"].get_title() == r"\$a"
    assert [axes.axison for axes in figure.axes] == [True] * 4 + [False] * 2
    assert named(figure)


def test_a_dollar_sign_in_a_name_is_drawn_as_one(ratings):
    hostile = ratings.assign(annotator=ratings["annotator"] + r"$\frac{1}$<b>")
    figure = draw_annotators.score_strips(hostile)
    figure.savefig(io.BytesIO(), format="png")  # an unclosed equation would raise here
    assert figure.axes[0].get_yticklabels()[0].get_text().count(r"\$") == 2


def test_an_unknown_annotator_is_named(ratings):
    one = ratings[ratings["tgt_lang"] == ratings["tgt_lang"].iloc[0]]
    with pytest.raises(DataError, match="nobody: no such annotator"):
        draw_annotators.score_grid(one, ["nobody"])


def test_the_style_stays_in_the_house(ratings):
    before = dict(plt.rcParams)
    draw_annotators.repeat_differences(annotators.repeats(ratings))
    assert dict(plt.rcParams) == before
