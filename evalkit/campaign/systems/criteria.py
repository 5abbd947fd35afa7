"""Campaigns that judge more than one thing, such as adequacy and fluency: a ranking of the systems for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evalkit.campaign.method import OWN_LINES
from evalkit.campaign.missing import Missing
from evalkit.campaign.opening import Campaign, of_criterion
from evalkit.campaign.systems.ranking import Ranking, rank_systems
from evalkit.stats.correlation import kendall_b

COLLECT = "To compare several, such as adequacy and fluency, name each in a column: criterion."


@dataclass(frozen=True, eq=False)
class Criteria:
    """What each criterion says of the pair's systems.

    rankings: by criterion, in the order of the file. table: criterion, judgements, first, systems, clusters, and
    same_order: Kendall's τ-b between its mean scores and those of the criterion in detail, over systems (missing for
    fewer than two).
    """

    pair: str
    rankings: Mapping[str, Ranking | Missing]
    table: pd.DataFrame


def rank_criteria(
    campaign: Campaign,
    *,
    score: str = "auto",
    unit: str = "auto",
    lines: str = OWN_LINES,
    resamples: int = 500,
    seed: int = 7,
) -> Criteria | Missing:
    """Rank the systems by each criterion; options as of ``rank_systems``."""
    if len(campaign.criteria) < 2:
        return Missing("one criterion was judged.", COLLECT)
    each = {name: of_criterion(campaign, name) for name in campaign.criteria}
    options: dict[str, Any] = {"score": score, "unit": unit, "lines": lines, "resamples": resamples, "seed": seed}
    rankings = {name: rank_systems(one, **options) for name, one in each.items()}
    reference = rankings[campaign.criterion]
    rows = []
    for name, found in rankings.items():
        row: dict[str, object] = {"criterion": name, "judgements": len(each[name].judged)}
        if found:
            clusters = int(found.table["cluster"].max())
            row |= {"first": found.top, "systems": len(found.names), "clusters": clusters}
        if found and reference:
            row["same_order"] = _same_order(found, reference)
        rows.append(row)
    return Criteria(campaign.pair, rankings, pd.DataFrame(rows))


def _same_order(one: Ranking, other: Ranking) -> float:
    """Compare the order of the systems that two rankings share."""
    shared = [name for name in one.names if name in other.means]
    if len(shared) < 2:
        return float("nan")
    return float(kendall_b([one.means[name] for name in shared], [other.means[name] for name in shared]))
