"""Figures of papers' studies that a person at work may turn; see ``evalkit.show.explore``."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from evalkit.papers.sudoh2021 import figures as of_labels
from evalkit.show.plots import context, metrics, rows_of
from evalkit.show.plots.views import View

EVERY = "all"  # stands for all source languages


def effect_forest(effects: pd.DataFrame, *, methods: Sequence[str] = ()) -> View:
    """View what degraded context costs its neighbours, by chosen methods.

    effects: the result of ``context.robust``. methods: those to draw, in the table's order; none stands for all.
    """
    chosen = [name for name in dict.fromkeys(effects["method"]) if not methods or name in methods]
    figure = context.effect_forest(effects[effects["method"].isin(chosen)])
    title = "How much more an unchanged segment loses after degraded context (0: context does not matter)"
    return View(figure, title, chosen={"methods": chosen})


def spread(normal: pd.DataFrame, *, language: str) -> View:
    """View how metrics' scores, brought to 0 to 1, are spread in a language.

    normal: the result of ``metrics.spread.normalised``.
    """
    return View(metrics.spread(normal, language=language), f"Spread of scores, {language} (Figure 4)")


def buckets(table: pd.DataFrame, *, language: str) -> View:
    """View metrics' scores by bucket of the human score in a language.

    table: the result of ``metrics.spread.buckets``.
    """
    key = "Dot: median, white where judgements are fewer than five. Box: middle half. Line: from 5 to 95 %."
    caption = f"Metric scores by human score, {language} (Figure 6). {key}"
    return View(metrics.buckets(table, language=language), caption)


def da_ridges(labelled: pd.DataFrame, *, dimension: str, src_lang: str = EVERY) -> View:
    """View how direct assessments spread within each label of a dimension.

    labelled: as ``sudoh2021.labels.joined`` makes it. src_lang: translations from this language only.
    """
    part = labelled if src_lang == EVERY else rows_of(labelled, "src_lang", src_lang)
    chosen = "(Tables 6 and 7)" if src_lang == EVERY else f"of translations from {src_lang}"
    figure = of_labels.da_ridges(part, dimension=dimension)
    return View(figure, f"Direct assessments by label of {dimension} {chosen}")
