"""Figures say what they show, name their axes, take any text, and can be read on a phone and in grey."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from evalkit import DataError
from evalkit.show import figures as draw
from tests.legible import MARKS, WORDS, contrast, faults

HOSTILE = "$x$ <img src=x> _hidden \\frac{"
LONG = "a-name-of_a_system that is longer than half of a phone, and then some more of it"
NAMES = ["A", HOSTILE, LONG]
RNG = np.random.default_rng(7)

TABLE = pd.DataFrame(
    [(panel, name, kind, RNG.normal()) for panel in ("one", HOSTILE) for name in NAMES for kind in ("raw", HOSTILE)],
    columns=["panel", "name", "kind", "value"],
).assign(low=lambda t: t["value"] - 0.5, high=lambda t: t["value"] + 0.5)
CURVES = pd.DataFrame([(k, x, x / (n + 1)) for n, k in enumerate(NAMES) for x in range(1, 30)], columns=["k", "x", "y"])
MANY = pd.DataFrame({"x": RNG.normal(50, 10, 900).clip(0, 100), "who": NAMES * 300, "kind": ["raw", HOSTILE] * 450})
PLACES = pd.DataFrame([(w, n, p) for w, ps in (("raw", (1, 2, 3)), ("z", (2, 1, 3))) for n, p in zip(NAMES, ps)])
PLACES = PLACES.set_axis(["way", "system", "place"], axis=1).assign(cluster=PLACES[2] // 2)
AXES = {"title": f"{HOSTILE} leads", "xlabel": f"{HOSTILE} (points)", "ylabel": "system"}
ENDS = {"low": "low", "high": "high"}

FIGURES = {
    "forest": lambda: draw.forest(TABLE, x="value", y="name", **ENDS, series="kind", panels="panel", line=0, **AXES),
    "forest_plain": lambda: draw.forest(
        TABLE.query("panel == 'one' and kind == 'raw'").assign(sure=[True, False, True], goal=0.5),
        **(AXES | ENDS | {"x": "value", "y": "name", "filled": "sure", "parted": "sure", "mark": "goal"}),
        band=(-1, 1),
    ),
    "ranges": lambda: draw.forest(
        TABLE.head(6).assign(value=np.nan), x="value", y="name", **ENDS, series="kind", **AXES
    ),
    "lines": lambda: draw.lines(
        CURVES, x="x", y="y", series="k", log="x", target=3, at=5, marks=CURVES[::9], spans=[4, 5], **AXES
    ),
    "lines_in_panels": lambda: draw.lines(CURVES, x="x", y="y", series="k", panels="k", upside_down=True, **AXES),
    "scatter": lambda: draw.scatter(
        TABLE.assign(short="$x"),
        x="low",
        y="high",
        series="kind",
        panels="panel",
        label="short",
        diagonal=True,
        fit=True,
        **AXES,
    ),
    "strips": lambda: draw.strips(TABLE, x="value", y="name", series="kind", panels="panel", line=0, **AXES),
    "outlines": lambda: draw.strips(MANY, x="x", y="who", middle="mean", **AXES),
    "histogram": lambda: draw.histogram(MANY, x="x", series="kind", panels="who", line=50, **AXES),
    "histogram_plain": lambda: draw.histogram(MANY, x="x", **AXES),
    "bars": lambda: draw.bars(TABLE.assign(value=0.3), x="value", y="name", series="kind", panels="panel", **AXES),
    "shades": lambda: draw.bars(TABLE.head(6), x="high", y="name", series="kind", shades=True, percent=False, **AXES),
    "heat": lambda: draw.heat(TABLE, x="kind", y="name", value="value", panels="panel", **AXES),
    "heat_of_texts": lambda: draw.heat(
        TABLE.head(6).assign(words="1\n1-2"), x="name", y="kind", value="value", text="words", dark="low", **AXES
    ),
    "hexbins": lambda: draw.hexbins(MANY.assign(y=MANY["x"]), x="x", y="y", panels="kind", **AXES),
    "score_strips": lambda: draw.score_strips(MANY, x="x", y="who", ticks=[0, 50, 100], **AXES),
    "rank_moves": lambda: draw.rank_moves(
        PLACES, x="way", y="place", series="system", bold=[HOSTILE], clusters="cluster", **AXES
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_names_its_axes_takes_any_text_and_can_be_read(name):
    figure = FIGURES[name]()
    figure.canvas.draw()  # an unclosed equation would raise here
    assert faults(figure) == []
    assert figure.get_supxlabel().startswith(r"\$x\$ <img")
    assert figure.get_supylabel() == "system"
    assert figure.legends[0].get_title().get_text().startswith(r"\$x\$ <img")
    assert figure.get_label().startswith(f"{HOSTILE} leads."), "words have every letter of the data"
    assert any(character.isdigit() for character in figure.get_label().removeprefix(HOSTILE))


def test_words_tell_the_numbers_of_the_table_and_how_many_are_left_out():
    one = pd.DataFrame({"system": ["A", "B"], "z": [0.25, np.nan], "low": [0.1, 0.2], "high": [0.4, 0.5]})
    figure = draw.forest(one, x="z", y="system", low="low", high="high", title="A leads")
    assert figure.get_label() == "A leads. A: 0.25 (0.1 to 0.4); B:  (0.2 to 0.5)."
    many = pd.DataFrame({"system": range(20), "z": range(20)}).astype({"system": str})
    assert draw.forest(many, x="z", y="system").get_label().endswith("13: 13; and 6 more.")
    curves = draw.lines(CURVES.replace({HOSTILE: "B", LONG: "C"}), x="x", y="y", series="k", title="Rise")
    assert curves.get_label() == "Rise. A, 29: 29; B, 29: 14.5; C, 29: 9.67."


def test_a_key_stands_for_something_that_is_drawn():
    table = pd.DataFrame({"system": ["A", "far"], "z": [0.5, np.nan], "stands": ["first", "worse"]})
    figure = draw.forest(table, x="z", y="system", series="stands")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["first"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["A", "far"]


def test_marks_are_told_apart_without_colour_and_colours_can_be_seen():
    figure = draw.forest(TABLE.head(6), x="value", y="name", series="kind")
    assert (
        len(
            {
                (line.get_marker(), line.get_markerfacecolor() == "white")
                for line in figure.axes[0].lines
                if len(line.get_xdata())
            }
        )
        == 2
    )
    for scheme in ("light", "dark"):
        assert all(contrast(colour, scheme=scheme) >= MARKS for colour in (*draw.PALETTE, draw.GREY))
        assert contrast(draw.GREY, scheme=scheme) >= WORDS
        assert contrast(draw.LIGHT, scheme=scheme) < MARKS, "what carries no meaning recedes"


def test_nothing_to_draw_is_a_sentence_with_a_remedy():
    with pytest.raises(DataError, match="no row is left"):
        draw.forest(TABLE.head(0), x="value", y="name")
    with pytest.raises(DataError, match="outside 0-100"):
        draw.score_strips(MANY.assign(x=104.0), x="x", y="who")


def test_settings_of_matplotlib_are_left_alone():
    before = dict(mpl.rcParams)
    draw.strips(MANY, x="x", y="who")
    assert dict(mpl.rcParams) == before
