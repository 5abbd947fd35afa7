"""Results that a shared task published, laid beside recomputed ones: rows for ``show.compare``."""

from __future__ import annotations

import pandas as pd

from evalkit.metrics.metaeval.darr import OFFICIAL
from evalkit.papers import claims


def against_official(computed: pd.DataFrame, official: pd.DataFrame) -> pd.DataFrame:
    """Put official results beside computed ones: rows for ``show.compare``, two for each of them.

    official: pair, metric, pairs, tau as printed, from ``data.published``. A metric or language pair that was not
    computed has no computed value.
    """
    rows = computed[(computed["variant"] == "hard") & (computed["threshold"] == OFFICIAL)]
    return claims.compare_with_print(
        official, rows, item="official DARR", on=["pair", "metric"], values={"pairs": "pairs", "tau": "tau"},
        basis="official result", absent="This run has no scores of the metric in this language pair.",
        lacking="scores not in this run",
    )  # fmt: skip
