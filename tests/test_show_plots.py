"""Figures of annotators and agreement: what they show is in the table, every axis is named, texts stay texts."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest

from evalkit import DataError
from evalkit.data import simulate
from evalkit.data.schemas import with_pair
from evalkit.human import annotators
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
