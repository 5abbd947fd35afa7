"""Figures of profiles and screening: they show what their tables hold, and texts from data stay texts."""

import io

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import simulate
from evalkit.human import annotators
from evalkit.show.plots import profiles as draw


@pytest.fixture(scope="module")
def ratings():
    drawn = simulate.calibration_hits(seed=1)
    return drawn[drawn["tgt_lang"] == drawn["tgt_lang"].iloc[0]].reset_index(drop=True)


def named(figure):
    panels = [axes for axes in figure.axes if axes.axison]
    x = figure.get_supxlabel() or all(axes.get_xlabel() for axes in panels)
    y = figure.get_supylabel() or any(axes.get_ylabel() for axes in panels)
    return bool(x and y)


def test_every_figure_names_its_axes_and_draws_hostile_names(ratings):
    hostile = ratings.assign(annotator=ratings["annotator"] + r"$\frac{1}$<b>")
    names = hostile["annotator"].unique()[:3].tolist()
    figures = [
        draw.ridges(hostile),
        draw.histograms(hostile, annotators.profiles(hostile)),
        draw.two_distributions(hostile, hostile, names),
        draw.grids_in_use({"$a$ set": annotators.scale_grid(hostile)}),
        draw.decisions(annotators.stability(hostile, ["sd < 60"], resamples=20)),
    ]
    assert all(map(named, figures))
    for figure in figures:
        figure.savefig(io.BytesIO(), format="png")  # an unclosed equation would raise here


def test_ridges_are_sorted_by_mean_and_end_at_the_busiest(ratings):
    few = ["a0", "a5", "a7", "a23"]
    many = ratings.assign(annotator="a" + pd.Series(range(len(ratings))).mod(24).astype(str))
    many = many[~many["annotator"].isin(few) | (many.index < 1000)]
    axes = draw.ridges(many).axes[0]
    means = many.groupby("annotator")["score"].mean()
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert len(shown) == 20
    assert not set(few) & set(shown)
    triangles = axes.lines[0].get_xdata()
    assert list(triangles) == sorted(triangles)
    np.testing.assert_allclose(triangles, means.loc[shown])


def test_both_halves_of_a_pair_of_histograms_are_shares(ratings):
    name = ratings["annotator"].iloc[0]
    below = ratings.assign(score=0.0)
    axes = draw.two_distributions(ratings, below, [name]).axes[0]
    heights = [np.array([bar.get_height() for bar in bars]) for bars in axes.containers]
    assert heights[0].sum() == pytest.approx(1)
    assert heights[1].sum() == pytest.approx(-1)
    assert heights[1][0] == -1
    with pytest.raises(DataError, match="nobody: no scores among the calibration HIT"):
        draw.two_distributions(ratings, below, ["nobody"])


def test_grids_in_use_counts_annotators(ratings):
    tested = annotators.scale_grid(ratings)
    bars = draw.grids_in_use({"all": tested}).axes[0].containers[0]
    people = ratings["annotator"].nunique()
    counts = tested.groupby("ticks")["in_use"].sum()
    np.testing.assert_allclose([bar.get_height() * people for bar in bars], counts)


def test_a_decision_stands_at_its_share_and_somebody_who_stays_is_hollow():
    stable = pd.DataFrame({
        "pair": "eng-jpn", "annotator": ["a", "b", "c"], "rule": "sd < 5", "share": [0.9, 0.3, 0.0],
        "flagged": [True, False, False],
    })  # fmt: skip
    axes = draw.decisions(stable).axes[0]
    every, hollow = axes.lines[0], axes.lines[1]
    assert list(every.get_xdata()) == [0.3, 0.9]
    assert list(hollow.get_xdata()) == [0.3]
    assert hollow.get_markerfacecolor() == "white"
    with pytest.raises(DataError, match="No rule flags anybody"):
        draw.decisions(stable.iloc[2:])


def test_pictures_of_annotators_are_of_one_language_pair(ratings):
    with pytest.raises(DataError, match="one language pair"):
        draw.ridges(pd.concat([ratings, ratings.assign(src_lang="xxx")]))
