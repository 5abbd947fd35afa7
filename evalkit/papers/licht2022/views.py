"""Figures of protocols compared that a person at work may turn; see ``evalkit.show.explore``."""

from __future__ import annotations

import pandas as pd

from evalkit.papers.licht2022 import figures, progression
from evalkit.show.plots import rows_of
from evalkit.show.plots.views import View

_TRIED = {"X-EN": "into English", "EN-X": "out of English", "both": "in both directions"}


def average_differences(differences: pd.DataFrame, *, direction: str) -> View:
    """View differences between protocols' average kappas in one direction: X-EN, EN-X or both.

    differences: the result of ``licht2022.table3.average_differences``.
    """
    figure = figures.average_differences(rows_of(differences, "direction", direction))
    here = differences[differences["about"].eq(differences["about"].iloc[0])]
    held = rows_of(here, "direction", direction)["survives"]
    return View(
        figure,
        f"{len(held)} of the {len(here)} differences between average kappas: of the protocols that were tried "
        f"{_TRIED.get(direction, direction)} ({held.sum()} of these {len(held)} hold for the languages studied)",
    )


def power_curves(powers: pd.DataFrame, *, wanted_power: float = progression.WANTED_POWER) -> View:
    """View the chance to see a difference against its size, and which size is seen with a wanted chance.

    powers: the result of ``licht2022.progression.power``. wanted_power: a share of campaigns, marked by a line.
    """
    figure = figures.power_curves(powers, wanted=wanted_power)
    return View(figure, "How often a campaign of this size sees a true difference")
