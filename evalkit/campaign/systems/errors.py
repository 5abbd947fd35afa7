"""Errors that annotators marked: how many, how severe, of which type, by which system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.missing import or_missing
from evalkit.campaign.opening import Campaign
from evalkit.data.schemas import ITEM, UNSTATED
from evalkit.human import mqm
from evalkit.stats import correlation
from evalkit.stats.terms import pluralize


@dataclass(frozen=True, eq=False)
class Errors:
    """Marked errors of the pair's systems.

    by_system: errors, segments, errors a judgement (per_segment) and a count of each severity, the fewest first.
    types: counts of types; no rows where annotators stated none. errors, judgements: how many. rho: rank correlation
    of an item's score with its number of errors; None where one of them does not vary.
    """

    pair: str
    by_system: pd.DataFrame
    types: pd.DataFrame
    errors: int
    judgements: int
    rho: float | None


@or_missing(
    "To learn what is wrong and not only how much, let annotators mark errors with a severity (ESA) or a severity "
    "and a type (MQM)."
)
def count_errors(campaign: Campaign) -> Errors:
    """Count marked errors by system, severity and type, and hold their number against the scores."""
    judged = campaign.judged
    if campaign.spans is None:
        raise DataError("there are no marked errors beside the scores.")
    spans = of_judged(campaign)
    if spans.empty:
        raise DataError(f"nobody marked an error in {pluralize(len(judged), 'judgement')} of {campaign.pair}.")
    by_system = mqm.errors_per_system(judged, spans, by="pair").drop(columns="pair").set_index("system")
    severities = pd.crosstab(spans["system"].astype("str"), spans["severity"].astype("str")).rename_axis(columns=None)
    by_system = by_system.join(severities.reindex(by_system.index, fill_value=0)).reset_index()
    types = mqm.type_counts(spans, by="pair").drop(columns="pair")
    stated = types["error_type"].ne(UNSTATED).any()
    return Errors(
        campaign.pair,
        by_system.sort_values("per_segment", kind="stable", ignore_index=True),
        types if stated else types.head(0),
        len(spans),
        len(judged),
        _correlation(judged, spans),
    )


def of_judged(campaign: Campaign) -> pd.DataFrame:
    """Return the errors marked in the pair's judgements that rank systems: none of degraded items, of references.

    An empty table without rows or columns where the campaign has no marked errors.
    """
    if campaign.spans is None:
        return pd.DataFrame()
    spans = campaign.spans[campaign.spans["pair"].eq(campaign.pair)]
    if "item_type" in spans:
        spans = spans[spans["item_type"].isin(campaign.ranked_types)]
    return spans[spans["system"].astype("str").isin(campaign.judged["system"])]


def _correlation(judged: pd.DataFrame, spans: pd.DataFrame) -> float | None:
    """Correlate an item's score with its number of errors, by ranks."""
    key = [*ITEM, "annotator"]
    scores = judged.groupby(key)["score"].mean()
    marked = spans[key].astype("str").groupby(key).size().reindex(scores.index, fill_value=0)
    rho = float(correlation.spearman(scores, marked))
    return None if np.isnan(rho) else rho
