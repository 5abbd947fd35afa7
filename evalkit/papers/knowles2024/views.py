"""Figures of degraded context that a person at work may turn; see ``evalkit.show.explore``."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from evalkit.show.plots import context
from evalkit.show.plots.views import View


def effect_forest(effects: pd.DataFrame, *, methods: Sequence[str] = ()) -> View:
    """View what degraded context costs its neighbours, by chosen methods.

    effects: the result of ``context.robust``. methods: those to draw, in the table's order; none stands for all.
    """
    chosen = [name for name in dict.fromkeys(effects["method"]) if not methods or name in methods]
    figure = context.effect_forest(effects[effects["method"].isin(chosen)])
    title = "How much more an unchanged segment loses after degraded context (0: context does not matter)"
    return View(figure, title, chosen={"methods": chosen})
