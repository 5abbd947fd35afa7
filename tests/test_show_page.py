"""Figures fit the page and a phone, can be read on both, in both colour schemes, and say so before they are drawn."""

import base64
import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from legible import MARKS, PAPERS, WORDS, contrast, faults
from PIL import Image

from evalkit.reports import export
from evalkit.show import pictures, plots
from evalkit.show.plots import page

LONG = "a-name-of_a_system that is longer than half of a phone"


@plots.house
def drawn(panels=3, *, size=4.0, rows=4):
    """Draw a forest in each of some panels side by side, wider than any page."""
    table = pd.DataFrame({"system": [f"{LONG} {n}" for n in range(rows)], "mean": np.arange(rows) / 7})
    figure, axes = plots.small_multiples(
        [f"panel {n}" for n in range(panels)], columns=panels, size=(size, 2.0), sharey=True
    )
    for one in axes.values():
        plots.forest(one, table, rows="system", value="mean")
        one.set_xlabel("a name of an axis that goes on for longer than its axis, and says its unit (points)")
    plots.shared_legend(figure)
    return plots.describe(figure, "Dots.")


@pytest.mark.parametrize("scheme", PAPERS)
def test_colours_can_be_seen_and_read_in_both_schemes(scheme):
    assert all(contrast(colour, scheme=scheme) >= MARKS for colour in (*plots.PALETTE, plots.GREY))
    assert all(contrast(plots.readable(colour), scheme=scheme) >= WORDS for colour in plots.PALETTE)
    assert contrast(plots.GREY, scheme=scheme) >= WORDS
    assert contrast(plots.LIGHT, scheme=scheme) < MARKS, "what carries no meaning recedes"
    assert contrast("#56B4E9") < MARKS, "the test can fail"


def test_panels_stand_side_by_side_as_far_as_the_room_goes_and_below_each_other_beyond():
    def columns(figure):
        return {one.get_subplotspec().get_gridspec().ncols for one in page.panels_of(figure)}

    wide = drawn()
    assert columns(wide) == {3}
    assert columns(drawn(5)) == {3}
    with page.drawn_for(page.PHONE):
        small = page.again(wide)
    assert columns(small) == {1}
    assert small.get_figheight() > 2 * wide.get_figheight()
    assert small is not wide
    assert [one.get_xlabel() != "" for one in page.panels_of(small)] == [False, False, True], "said once, at the foot"


@pytest.mark.parametrize("pixels", [page.COLUMN, page.PHONE])
@pytest.mark.parametrize("panels", [1, 2, 5])
def test_nothing_is_wider_than_the_page_however_long_the_names(panels, pixels):
    with page.drawn_for(pixels):
        figure = drawn(panels)
        image = pictures._drawn(figure)
        assert faults(figure) == []
    assert image.width <= pictures.FINE * pixels


def test_a_small_figure_is_drawn_once_and_a_wide_one_again_for_a_phone():
    axes = plt.subplots(figsize=(page.BOTH, 2))[1]
    axes.tick_params(labelsize=9)
    once, _ = pictures.picture(axes, caption="c", alt="a")
    twice, described = pictures.picture(drawn(), caption="c")
    assert pictures.PHONE not in once
    small = Image.open(io.BytesIO(base64.b64decode(twice[pictures.PHONE])))
    assert small.width <= pictures.FINE * page.PHONE < described["image/png"]["width"] * pictures.FINE
    html = export.figure("image/png", twice["image/png"], described["image/png"], phone=twice[pictures.PHONE])
    assert f'<source media="(max-width: {export.PHONES})" width="{small.width // 2}"' in html
    assert f'srcset="data:image/png;base64,{twice[pictures.PHONE]}"' in html
