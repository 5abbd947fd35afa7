"""Figures of the comparison of protocols that a person at work may turn; see ``evalkit.show.explore``."""

from __future__ import annotations

import pandas as pd

from evalkit.human.protocols import SHORT
from evalkit.human.protocols.effort import FAMILIES
from evalkit.show.plots.protocols import effort
from evalkit.show.plots.views import View


def certainty_cost(errors: pd.DataFrame, *, hours: float, enough: float | None = None) -> View:
    """View what certainty costs, with a line at the reader's hours.

    errors: the result of ``effort.standard_errors``. enough: see ``effort.certainty_cost``.
    """
    drawn = effort.certainty_cost(errors, hours=hours, families=FAMILIES, names=SHORT, enough=enough)
    title = "What certainty costs; dashed: a second campaign of a protocol; bars: 95 % intervals"
    return View(drawn, title, chosen={"hours": hours})
