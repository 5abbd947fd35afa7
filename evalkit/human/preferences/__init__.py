"""Comparisons of two translations: strengths, ties, places, how well one scale fits, and how sure all that is.

Functions take tables of comparisons (``evalkit.data.schemas.COMPARISONS``); ``evalkit.data.compared`` makes them of
scores. Strengths are natural logs of odds, with mean 0.
"""

from evalkit.human.preferences.cells import Cells, count, groups, of_wins, placeable, refuse_apart, separated
from evalkit.human.preferences.drawn import (
    UNITS,
    Standing,
    drawable,
    labels,
    shares,
    standing,
    standing_in_places,
    strengths,
)
from evalkit.human.preferences.fitting import WEAK, Fitted, fit, fit_cells
from evalkit.human.preferences.goodness import Circles, Fit, circles, goodness, in_circles, residuals
from evalkit.human.preferences.kernels import KERNELS, chances
from evalkit.human.preferences.simple import elo, win_rates

__all__ = [
    "KERNELS",
    "UNITS",
    "WEAK",
    "Cells",
    "Circles",
    "Fit",
    "Fitted",
    "Standing",
    "chances",
    "circles",
    "count",
    "drawable",
    "elo",
    "fit",
    "fit_cells",
    "goodness",
    "groups",
    "in_circles",
    "labels",
    "of_wins",
    "placeable",
    "refuse_apart",
    "residuals",
    "separated",
    "shares",
    "standing",
    "standing_in_places",
    "strengths",
    "win_rates",
]
