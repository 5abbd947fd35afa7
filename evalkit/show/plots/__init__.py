"""Figures: a table goes in, ``Axes`` or a ``Figure`` comes out. This file holds the style that all of them share.

Every figure is readable in black and white (markers, line styles and labels carry what colour carries), uses the
colour-blind-safe palette of Okabe & Ito, and names its axes with their units.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import seaborn as sns

INK, GREY, LIGHT = "#1a1a1a", "#6b6b6b", "#d0d0d0"
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))

HOUSE = {
    "axes.edgecolor": GREY, "axes.labelcolor": INK, "axes.titlelocation": "left", "axes.titlesize": 11,
    "axes.titleweight": "bold", "axes.labelsize": 10, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "figure.constrained_layout.use": True, "figure.facecolor": "white",
    "font.family": "DejaVu Sans", "font.size": 10, "lines.linewidth": 1.5, "legend.fontsize": 9,
    "legend.facecolor": "white", "legend.edgecolor": "none", "legend.framealpha": 0.9,  # no line strikes its words
    "xtick.color": GREY, "ytick.color": GREY, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
    "xtick.labelsize": 9, "ytick.labelsize": 9, "axes.prop_cycle": mpl.cycler(color=PALETTE),
}  # fmt: skip


def house(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a plotting function so that it draws in the house style and leaves matplotlib's settings alone."""

    @functools.wraps(draw)
    def styled(*args: Any, **options: Any) -> Any:
        with sns.axes_style("ticks"), mpl.rc_context(HOUSE):
            return draw(*args, **options)

    return styled


def literal(text: object) -> str:
    """Make a text from data safe in a figure: a dollar sign stays a dollar sign and never starts an equation.

    >>> print(literal("$x$ costs"))
    \\$x\\$ costs
    """
    return str(text).replace("$", r"\$")
