"""Figures of agreement, annotators and their profiles: they show their tables, axes are named, texts stay texts."""

import io
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from legible import MARKS, PAPERS, WORDS, collisions, contrast, faults

from evalkit import DataError
from evalkit.data import simulate
from evalkit.data.schemas import with_pair
from evalkit.human import annotators
from evalkit.show import pictures, plots
from evalkit.show.plots import agreement as draw_agreement
from evalkit.show.plots import annotators as draw_annotators
from evalkit.show.plots import judges, metaeval, page
from evalkit.show.plots import profiles as draw
from evalkit.stats import agreement


@pytest.fixture(scope="module")
def ratings():
    return simulate.calibration_hits(seed=1)


@pytest.fixture(scope="module")
def one_pair(ratings):
    return ratings[ratings["tgt_lang"] == ratings["tgt_lang"].iloc[0]].reset_index(drop=True)


def named(figure):
    """Tell whether each panel, or the figure for all of them, names its two axes."""
    panels = [axes for axes in figure.axes if axes.axison]
    x = figure.get_supxlabel() or all(axes.get_xlabel() for axes in panels)
    y = figure.get_supylabel() or any(axes.get_ylabel() for axes in panels)
    return bool(x and y)


def drawn(ratings):
    """Draw the figures of agreement, of annotators and of their profiles, each by its name."""
    correlated = agreement.correlations(ratings)
    one = ratings[with_pair(ratings)["pair"] == correlated["pair"].iloc[0]]
    people = sorted(one["annotator"].unique())[:3]
    return {
        "grid": draw_annotators.score_grid(one, people),
        "strips": draw_annotators.score_strips(ratings),
        "ticks": draw_annotators.tick_shares(annotators.ticks(ratings), within=1),
        "repeats": draw_annotators.repeat_differences(annotators.repeats(ratings)),
        "correlations": draw_agreement.correlation_spread(correlated, ("spearman", "kendall_c")),
        "intraclass": draw_agreement.intraclass_intervals(agreement.intraclass(ratings)),
        "ridges": draw.ridges(one),
        "histograms": draw.histograms(one, annotators.profiles(one)),
        "two": draw.two_distributions(one, one, people),
        "scales": draw.grids_in_use({"$a$ set": annotators.scale_grid(one)}),
        "decisions": draw.decisions(annotators.stability(one, ["sd < 60"], resamples=20)),
    }


def test_every_figure_names_its_axes_and_says_its_numbers_and_draws_hostile_names_as_they_are(ratings):
    before = dict(plt.rcParams)
    hostile = ratings.assign(annotator=ratings["annotator"] + r"$\frac{1}$<b>")
    figures = drawn(hostile)
    for name, figure in figures.items():
        assert named(figure), name
        assert re.search(r"\d", figure.get_label()), name
        figure.savefig(io.BytesIO(), format="png")  # an unclosed equation would raise here
    assert figures["strips"].axes[0].get_yticklabels()[0].get_text().count(r"\$") == 2
    assert dict(plt.rcParams) == before, "the style stays in the house"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda one: draw_annotators.score_grid(one, ["nobody"]), "nobody: no such annotator"),
        (lambda one: draw.two_distributions(one, one, ["nobody"]), "nobody: no scores"),
        (lambda one: draw.ridges(pd.concat([one, one.assign(src_lang="xxx")])), "one language pair"),
    ],
)
def test_people_who_are_not_there_are_told(call, told, one_pair):
    with pytest.raises(DataError, match=told):
        call(one_pair)


@pytest.mark.parametrize("scheme", PAPERS)
def test_colours_can_be_seen_and_read_in_both_schemes(scheme):
    assert all(contrast(colour, scheme=scheme) >= MARKS for colour in (*plots.PALETTE, plots.GREY))
    assert all(contrast(plots.readable(colour), scheme=scheme) >= WORDS for colour in plots.PALETTE)
    assert contrast(plots.LIGHT, scheme=scheme) < MARKS, "what carries no meaning recedes"


@pytest.mark.parametrize("pixels", [page.COLUMN, page.PHONE])
def test_nothing_is_wider_than_the_page_or_a_phone_however_long_the_names(pixels):
    table = pd.DataFrame({"system": [f"a-name-of_a_system longer than half of a phone {n}" for n in range(4)]})
    table = table.assign(mean=np.arange(4) / 7)
    with page.drawn_for(pixels):
        figure, panels = plots.small_multiples(["a", "b", "c"], columns=3, size=(4.0, 2.0), sharey=True)
        for axes in panels.values():
            plots.forest(axes, table, rows="system", value="mean")
            axes.set_xlabel("a name of an axis that goes on for longer than its axis, and says its unit (points)")
        image = pictures._drawn(figure)
        assert faults(figure) == []
    assert image.width <= pictures.FINE * pixels


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


def test_both_halves_of_a_pair_of_histograms_are_shares(one_pair):
    name = one_pair["annotator"].iloc[0]
    below = one_pair.assign(score=0.0)
    axes = draw.two_distributions(one_pair, below, [name]).axes[0]
    heights = [np.array([bar.get_height() for bar in bars]) for bars in axes.containers]
    assert heights[0].sum() == pytest.approx(1)
    assert heights[1].sum() == pytest.approx(-1)
    assert heights[1][0] == -1


def test_a_decision_stands_at_its_share_and_somebody_who_stays_is_hollow():
    stable = pd.DataFrame({"annotator": [*"abc"], "share": [0.9, 0.3, 0.0], "flagged": [True, False, False]})
    stable = stable.assign(pair="eng-jpn", rule="sd < 5")
    axes = draw.decisions(stable).axes[0]
    every, hollow = axes.lines[0], axes.lines[1]
    assert list(every.get_xdata()) == [0.3, 0.9]
    assert list(hollow.get_xdata()) == [0.3]
    assert hollow.get_markerfacecolor() == "white"
    with pytest.raises(DataError, match="No rule flags anybody"):
        draw.decisions(stable.iloc[2:])


def test_a_sweep_names_its_lines_at_their_ends_and_on_a_phone_above():
    rows = [
        {"variant": variant, "metric": metric, "threshold": step, "tau": 0.1 * place, "rank": place}
        for variant in ("official", "soft")
        for place, metric in enumerate(["cost $5", "B", "C", "D", "E"], start=1)
        for step in (1.0, 25.0, 50.0)
    ]
    figure = metaeval.sweep(pd.DataFrame(rows), threshold=25)
    assert [text.get_text() for text in figure.axes[1].texts][::-1] == [r"cost \$5", "B", "C", "D", "E"]
    assert not figure.legends
    assert collisions(figure) == []
    with plots.page.drawn_for(plots.page.PHONE):
        assert len(plots.page.again(figure).legends[0].get_texts()) == 5


@pytest.mark.parametrize("width", [page.COLUMN, page.PHONE])
def test_contestants_stand_from_best_to_worst_and_kinds_have_markers_of_their_own(width):
    rows = [("ESA-1", "one person", 0.5), ("a + b", "two people", 0.6), ("length", "knows nothing", 0.1)]
    rows += [(f"m{n}", "metric", 0.9 - n / 10) for n in range(8)]
    table = pd.DataFrame(rows, columns=["contestant", "kind", "value"])
    table = table.assign(low=table["value"] - 0.05, high=table["value"] + 0.05)
    with page.drawn_for(width):
        figure = judges.ceiling(table, statistic="SPA", gold="MQM", names={"ESA-1": "ESA one"}, most=3)
    [axes] = figure.axes
    written = [label.get_text() for label in axes.get_yticklabels()]
    assert written == ["m0", "m1", "a + b", "ESA one", "m7", "length"]
    assert {line.get_marker() for line in axes.lines} >= {"o", "s", "D", "X"}
    assert "5 metrics between the others are left out" in figure.get_label()


def test_judges_are_told_from_people_and_savings_in_per_cent():
    rows = [("x", "MQM-1", "people", 0.2), ("x", "m", "metric", 0.9), ("y", "m", "metric", 0.7)]
    table = pd.DataFrame(rows, columns=["data", "judge", "kind", "winning_rate"])
    figure = judges.replacing(table, epsilon=0.15, names={})
    assert [one.get_text() for one in figure.axes[0].get_yticklabels()] == ["m", "MQM-1  (people)"]
    assert "m 0.90 (x)" in figure.get_label()
    what = ["mean of a system", "difference of two systems"] * 2
    saves = pd.DataFrame({"metric": [*"mmkk"], "saved": [0.5, 0.2, 0.6, 0.1], "what": what})
    figure = judges.saved(saves.assign(lowest=0.0, highest=saves["saved"] + 0.1), most=1)
    assert [one.get_text() for one in figure.axes[0].get_yticklabels()] == ["m"]
    assert "20% of the judgements for differences" in figure.get_label()
