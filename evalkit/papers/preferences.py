"""Compare what Läubli et al. 2018 and Song et al. 2025 print of preferences with recomputed numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.data.provenance import source_of
from evalkit.papers import claims

_ANSWERS = {"human": "a", "mt": "b", "tie": "tie"}


def laeubli(printed: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Compare the printed shares of answers, %, with those of ``laeubli-preferences``; nothing of a simulation."""
    real = source_of(comparisons)["source"] == "real"
    computed = [_share(comparisons, row) if real else None for row in printed.itertuples()]
    cells = [f"{row.criterion}, {row.unit}s: {row.answer}, %" for row in printed.itertuples()]
    return claims.rows(
        printed,
        "printed",
        computed=computed,
        item=printed["item"].tolist(),
        cell=cells,
        basis="recomputed from data",
        lacking="needs the answers",
    )


def _share(comparisons: pd.DataFrame, row) -> float:  # type: ignore[no-untyped-def]
    own = comparisons[comparisons["criterion"].eq(row.criterion) & comparisons["unit"].eq(row.unit)]
    return float(100 * own["preference"].eq(_ANSWERS[row.answer]).mean())


def agreeing(rows: pd.DataFrame) -> int:
    """Count the printed whole numbers to which ours round.

    >>> agreeing(pd.DataFrame({"printed": ["37", "11"], "computed": [36.6, 11.6]}))
    1
    """
    ours = pd.to_numeric(rows["computed"]) + 1e-9
    return int(ours.round().eq(pd.to_numeric(rows["printed"])).sum())


def gains(measures: pd.DataFrame) -> np.ndarray:
    """Return by how many percent marks are found again more often side by side: same screen, other screens.

    measures: the result of ``side_by_side.measures``.
    """
    own = measures[measures["measure"].str.startswith("marks found again")]
    return (100 * (own["side_by_side"] / own["pointwise"] - 1)).to_numpy(float)


def song(printed: pd.DataFrame, measures: pd.DataFrame) -> pd.DataFrame:
    """Set the printed gains beside ours, which rest on less: they cannot be recomputed here."""
    found = gains(measures)
    note = (
        "The printed gain averages English-German and Chinese-English, with three raters one by one, of which neither "
        "is here, and its definition is not known here. Our measure on English-German, with WMT23's one rating: {:.1f}."
    )
    return claims.rows(
        printed,
        "printed",
        item=printed["item"].tolist(),
        cell=printed["cell"].tolist(),
        basis="recomputed from data",
        note=[note.format(one) for one in found],
        lacking="needs wmt23-mqm-thrice and Chinese-English",
    )
