"""Errors that annotators marked: how many, how severe, of which type, by which system."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.data.schemas import ITEM, UNSTATED
from evalkit.human import mqm
from evalkit.stats.terms import pluralize

_COLLECT = (
    "To learn what is wrong and not only how much, let annotators mark errors with a severity (ESA) or a severity "
    "and a type (MQM)."
)


@section("errors", collect=_COLLECT)
def errors(campaign: Campaign) -> Section:
    """Count marked errors by system, severity and type, and hold their number against the scores."""
    if campaign.spans is None:
        return Section("errors", (), (), f"there are no marked errors beside the scores. {_COLLECT}", {"there": False})
    spans = campaign.spans[campaign.spans["pair"].eq(campaign.pair)]
    judged = campaign.judged
    spans = spans[spans["system"].astype("str").isin(judged["system"])]
    if spans.empty:
        told = f"Nobody marked an error in {pluralize(len(judged), 'judgement')} of {campaign.pair}."
        return Section("errors", (told,), (), _COLLECT, {"there": False})
    by_system = mqm.errors_per_system(judged, spans, by="pair").drop(columns="pair")
    severity = spans["severity"].astype("str")
    shares = pd.crosstab(spans["system"].astype("str"), severity).rename_axis(columns=None)
    by_system = by_system.merge(shares.reset_index().rename(columns={"index": "system"}), on="system", how="left")
    by_system[shares.columns] = by_system[shares.columns].fillna(0).astype(int)
    by_system = by_system.sort_values("per_segment", kind="stable", ignore_index=True)
    types = mqm.type_counts(spans, by="pair").drop(columns="pair")
    fewest = by_system.iloc[0]
    told = [
        f"{pluralize(len(spans), 'error')} in {pluralize(len(judged), 'judgement')}. {fewest['system']} has the "
        f"fewest, {fewest['per_segment']:.2f} a judgement; {by_system['system'].iloc[-1]} the most, "
        f"{by_system['per_segment'].iloc[-1]:.2f}."
    ]
    key = [*ITEM, "annotator"]
    own = judged.groupby(key)["score"].mean()
    marked = spans[key].astype("str").groupby(key).size().reindex(own.index, fill_value=0)
    rho = float("nan")
    if own.nunique() > 1 and marked.nunique() > 1:
        rho = float(stats.spearmanr(own, marked).statistic)
        told.append(
            f"The rank correlation of an item's score with its number of errors is {rho:.2f} (−1: more errors always "
            "mean a lower score)."
        )
    tables = [Table("errors_systems", by_system, f"{campaign.pair}: marked errors by system, the fewest first")]
    if types["error_type"].ne(UNSTATED).any():
        tables.append(Table("errors_types", types, f"{campaign.pair}: types of errors"))
    else:
        told.append("Annotators stated no types of errors.")
    facts = {"there": True, "fewest": fewest["system"], "rho": rho if rho == rho else None, "errors": len(spans)}
    drawn = (by_system,)
    alt = f"A bar of errors a judgement for each of {len(by_system)} systems, from {fewest['per_segment']:.2f} to "
    alt += f"{by_system['per_segment'].iloc[-1]:.2f}, split by severity."
    caption = f"{campaign.pair}: errors a judgement by system and severity"
    return Section("errors", tuple(told), tuple(tables), "", facts, drawn, alt, caption)
