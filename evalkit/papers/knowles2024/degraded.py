"""The tables in which the claims of section 5 of Knowles & Lo 2024, on degraded context, are looked up."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit.human import context


def of_context(
    sets: Mapping[str, pd.DataFrame], contrast: pd.DataFrame, welch: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Make the tables about data sets with degraded context: name -> table.

    sets: name -> ratings. contrast, welch: the results of ``context.contrasts`` and ``context.welch`` by ``data``.
    """
    tables: dict[str, pd.DataFrame] = {}
    for name, ratings in sets.items():
        own = contrast[contrast["data"] == name]
        tables |= {f"{name} contrast": own, f"{name} gap": context.gap(own)}
        tables |= {f"{name} welch": welch[welch["data"] == name]}
        degraded = ratings[ratings["item_type"] == "degraded"]
        medians = degraded.groupby("annotator", as_index=False)["score"].median()
        tables |= {f"{name} degraded": degraded}
        tables |= {f"{name} degraded by annotator": medians.rename(columns={"score": "median"})}
    return tables


def of_earlier_years(ratings: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Make the tables about WMT18 to 2020: name -> table; none where the data sets that one needs are not all here.

    ratings: wmt18-mturk, wmt19-mturk, wmt20-mturk, with the column ``context`` (sentence or document).
    """

    def paired(kind: str, *names: str) -> pd.DataFrame | None:
        """Pair the repeats shown with this kind of context in all of these data sets."""
        if not set(names) <= set(ratings):
            return None
        parts = [context.pairs(ratings[name][ratings[name]["context"] == kind]) for name in names]
        return pd.concat(parts, ignore_index=True)

    tables: dict[str, pd.DataFrame] = {}
    alone = paired("sentence", "wmt18-mturk", "wmt19-mturk", "wmt20-mturk")
    inside = paired("document", "wmt19-mturk", "wmt20-mturk")
    if alone is not None:
        tables["wmt18-20 repeats"] = context.repeats(alone)
    if inside is not None:
        tested = context.welch(inside)
        outcome = np.where(tested["p_less"] < 0.05, "significant", "not significant")
        tables |= {"wmt19-20 contrast": context.contrasts(inside), "wmt19-20 welch": tested.assign(outcome=outcome)}
    return tables
