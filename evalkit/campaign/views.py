"""Figures of a campaign that a person at work may turn; see ``evalkit.show.explore``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalkit import DataError
from evalkit.campaign import figures
from evalkit.campaign.annotators import Profiles
from evalkit.show.plots.views import View

MOST = 20  # annotators that one figure has room for


def annotators(found: Profiles, *, annotators: Sequence[str] = ()) -> View:
    """View how often annotators gave which score, lenient ones on top.

    annotators: those to draw, at most twenty; none stands for the twenty with most judgements.
    Raises DataError for more.
    """
    if len(annotators) > MOST:
        raise DataError(f"{len(annotators)} annotators are too many for one figure: choose at most {MOST}.")
    busiest = found.scores["annotator"].value_counts().index[:MOST]
    chosen = [name for name in found.table["annotator"] if name in (annotators or busiest)]
    part = {"scores": found.scores["annotator"], "table": found.table["annotator"]}
    kept = {name: getattr(found, name)[column.isin(chosen)] for name, column in part.items()}
    title = f"{found.pair}: how often annotators gave which score, lenient ones on top"
    return View(figures.annotators(replace(found, **kept)), title, chosen={"annotators": chosen})
