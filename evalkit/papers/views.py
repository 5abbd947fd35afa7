"""Figures of papers' studies that a person at work may turn; see ``evalkit.show.explore``."""

from __future__ import annotations

import pandas as pd

from evalkit.show.plots import metrics
from evalkit.show.plots.views import View


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
