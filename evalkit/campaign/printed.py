"""The example's scores of systems beside the official ranking that its organisers published."""

from __future__ import annotations

import pandas as pd

from evalkit import data, ranking, verdicts
from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.data import registry
from evalkit.provenance import merged, source_of
from evalkit.schemas import with_pair


@section("printed", collect="")
def printed(campaign: Campaign, *, fallback: bool = False) -> Section:
    """Set an example's mean scores beside its official ranking; a file of one's own has none.

    The table is recorded as ``official``. It holds no rows for ``show.compare``: ``degraded_context`` holds the same
    official numbers against print, and each is counted once.
    """
    if not campaign.example:
        return Section(
            "printed", ("This is a campaign of your own: no paper prints numbers that it could be held against.",)
        )
    name = source_of(campaign.ratings)["name"]
    if f"{name}-ranking" not in registry.entries():
        return Section("printed", (f"No official ranking of {name} is among the registered data.",))
    official, workers = (data.load(f"{name}-{kind}", fallback=fallback) for kind in ("ranking", "annotators"))
    facts = {"sources": [official, workers]}
    if merged([campaign.ratings, official, workers])["source"] == "simulated":
        return Section("printed", ("Simulated judgements have no official ranking.",), facts=facts)
    table = beside(campaign, official, workers)
    differ = ~table["equal"]
    told = f"{(~differ).sum()} of {len(table)} official numbers of {campaign.pair} come out to the last digit."
    if differ.any():
        told += " Why the others do not is said beside them."
    caption = f"{campaign.pair}: official scores, ours, and why they differ"
    shown = Table("official", table.sort_values("equal", kind="stable", ignore_index=True), caption, 4)
    return Section("printed", (told,), (shown,), facts=facts)


def beside(campaign: Campaign, official: pd.DataFrame, workers: pd.DataFrame) -> pd.DataFrame:
    """Return scale, system, official (text), computed, equal (in the printed digits) and note, for the pair in detail.

    official: a ranking as ``ranking.official_rows`` takes it. workers: the organisers' list of annotators.
    """
    own = campaign.ratings[campaign.ratings["pair"].eq(campaign.pair)]
    there = official[with_pair(official)["pair"].eq(campaign.pair)]
    parts = []
    for scale in [scale for scale in ("raw", "z") if scale == "raw" or "z" in own]:
        rows = ranking.official_rows(own, there, scale=scale, paper="", workers=workers)
        parts.append(rows.rename(columns={"cell": "system", "printed": "official"}).assign(scale=scale))
    table = pd.concat(parts, ignore_index=True).astype({"computed": float})
    judged = [verdicts.verdict(*row) for row in zip(table["official"], table["computed"], strict=True)]
    return table.assign(equal=[verdict == "match" for verdict in judged])[
        ["scale", "system", "official", "computed", "equal", "note"]
    ]
