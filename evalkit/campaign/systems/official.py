"""The example's scores of systems beside the official ranking that its organisers published."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evalkit import data
from evalkit.campaign.opening import Campaign
from evalkit.data import registry
from evalkit.data.provenance import merged, source_of
from evalkit.data.schemas import with_pair
from evalkit.human import ranking


@dataclass(frozen=True, eq=False)
class Official:
    """Official scores beside ours.

    sources: the tables that they come from. table: see ``beside``; no rows where ``reason`` says why there is nothing
    to compare. flat: annotators of the pair without spread in the organisers' list; gave: the scores that they gave.
    """

    pair: str
    sources: tuple[pd.DataFrame, ...] = ()
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    flat: int = 0
    gave: str = ""
    reason: str = ""


def compare_official(campaign: Campaign, *, fallback: bool = False) -> Official:
    """Set an example's mean scores beside its official ranking; a file of one's own has none.

    The table holds no rows for ``show.compare``: ``degraded_context`` compares the same official numbers, and each is
    counted once.
    """
    if not campaign.example:
        reason = "This is a campaign of your own: no paper prints numbers that it could be compared with."
        return Official(campaign.pair, reason=reason)
    name = source_of(campaign.ratings)["name"]
    if f"{name}-ranking" not in registry.entries():
        return Official(campaign.pair, reason=f"No official ranking of {name} is among the registered data.")
    official, workers = (data.load(f"{name}-{kind}", fallback=fallback) for kind in ("ranking", "annotators"))
    if merged([campaign.ratings, official, workers])["source"] == "simulated":
        reason = "Simulated judgements have no official ranking."
        return Official(campaign.pair, (official, workers), reason=reason)
    flat = ranking.flat_annotators(workers).set_index("pair").reindex([campaign.pair]).iloc[0]
    known = flat.notna().all()
    return Official(
        campaign.pair,
        (official, workers),
        beside(campaign, official),
        int(flat["without_spread"]) if known else 0,
        str(flat["scores"]) if known else "",
    )


def beside(campaign: Campaign, official: pd.DataFrame) -> pd.DataFrame:
    """Set the official scores of the pair in detail beside ours, those that differ first.

    official: a ranking as ``ranking.compare_with_official`` takes it. Returns scale, system, official (text), computed,
    more_judgements and more_segments (that the official number counts), lowest and highest (the score if these were 0,
    see ``ranking.explain_missing``; missing where nothing is lacking), comes_out: "yes", "with these as 0", or "no".
    """
    own = campaign.ratings[campaign.ratings["pair"].eq(campaign.pair)]
    there = official[with_pair(official)["pair"].eq(campaign.pair)]
    parts = []
    for scale in ("raw", "z") if "z" in own else ("raw",):
        held = ranking.compare_with_official(own, there, scale=scale)
        short = ranking.explain_missing(own, held, scale=scale)[["system", "lowest", "highest", "explained"]]
        printed = held["system"].map(there.set_index("system")[scale])
        parts.append(held.assign(official=printed, scale=scale).merge(short, on="system", how="left"))
    table = pd.concat(parts, ignore_index=True).rename(columns={"recomputed": "computed"})
    table = table.assign(
        more_judgements=table["official_judgements"] - table["judgements"],
        more_segments=table["official_segments"] - table["segments"],
        comes_out=np.select([table["equal"], table["explained"].eq(True)], ["yes", "with these as 0"], "no"),
    )
    columns = [
        "scale",
        "system",
        "official",
        "computed",
        "more_judgements",
        "more_segments",
        "lowest",
        "highest",
        "comes_out",
    ]
    return table.sort_values("equal", kind="stable", ignore_index=True)[columns]
