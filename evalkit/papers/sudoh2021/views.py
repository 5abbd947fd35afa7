"""Figures of critical errors that a person at work may turn; see ``evalkit.show.explore``."""

from __future__ import annotations

import pandas as pd

from evalkit.papers.sudoh2021 import figures
from evalkit.show.plots import rows_of
from evalkit.show.plots.views import View

EVERY = "all"  # stands for all source languages


def da_ridges(labelled: pd.DataFrame, *, dimension: str, src_lang: str = EVERY) -> View:
    """View how direct assessments spread within each label of a dimension.

    labelled: as ``sudoh2021.joined`` makes it. src_lang: translations from this language only.
    """
    part = labelled if src_lang == EVERY else rows_of(labelled, "src_lang", src_lang)
    chosen = "(Tables 6 and 7)" if src_lang == EVERY else f"of translations from {src_lang}"
    figure = figures.da_ridges(part, dimension=dimension)
    return View(figure, f"Direct assessments by label of {dimension} {chosen}")
