"""The example's scores of systems beside the official ranking that its organisers published."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import data
from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.data import registry
from evalkit.data.provenance import merged, source_of
from evalkit.data.schemas import with_pair
from evalkit.human import ranking


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
    table = beside(campaign, official)
    shown = Table(
        "official", table, f"{campaign.pair}: official scores and ours", {"computed": 4, "lowest": 4, "highest": 4}
    )
    return Section("printed", _told(table, workers, campaign.pair), (shown,), facts=facts)


def beside(campaign: Campaign, official: pd.DataFrame) -> pd.DataFrame:
    """Set the official scores of the pair in detail beside ours, those that differ first.

    official: a ranking as ``ranking.against_official`` takes it. Returns scale, system, official (text), computed,
    more_judgements and more_segments (that the official number counts), lowest and highest (the score if these were 0,
    see ``ranking.explain_missing``; missing where nothing is lacking), comes_out: "yes", "with these as 0", or "no".
    """
    own = campaign.ratings[campaign.ratings["pair"].eq(campaign.pair)]
    there = official[with_pair(official)["pair"].eq(campaign.pair)]
    parts = []
    for scale in [scale for scale in ("raw", "z") if scale == "raw" or "z" in own]:
        held = ranking.against_official(own, there, scale=scale)
        short = ranking.explain_missing(own, held, scale=scale)[["system", "lowest", "highest", "explained"]]
        printed_there = held["system"].map(there.set_index("system")[scale])
        parts.append(held.assign(official=printed_there, scale=scale).merge(short, on="system", how="left"))
    table = pd.concat(parts, ignore_index=True).rename(columns={"recomputed": "computed"})
    told = np.select([table["equal"], table["explained"].eq(True)], ["yes", "with these as 0"], "no")
    table = table.assign(
        more_judgements=table["official_judgements"] - table["judgements"],
        more_segments=table["official_segments"] - table["segments"], comes_out=told,
    )  # fmt: skip
    columns = ["scale", "system", "official", "computed", "more_judgements", "more_segments", "lowest", "highest"]
    return table.sort_values("equal", kind="stable", ignore_index=True)[[*columns, "comes_out"]]


def _told(table: pd.DataFrame, workers: pd.DataFrame, pair: str) -> tuple[str, ...]:
    """Say how many official scores come out, and what the others count beyond the released judgements."""
    counts = table["comes_out"].value_counts()
    others = len(table) - counts.get("yes", 0)
    first = f"{counts.get('yes', 0)} of {len(table)} official numbers of {pair} come out to the last digit."
    if not others:
        return (first,)
    flat = ranking.flat_annotators(workers).set_index("pair")
    gave = f" In the organisers' list, {flat.at[pair, 'without_spread']} annotators of {pair} gave nothing but "
    known = pair in flat.index and flat.at[pair, "without_spread"]
    return (
        f"{first} The official numbers count annotators without spread, who have no z-score and therefore no row in "
        f"the released ratings.{gave + flat.at[pair, 'scores'] + '.' if known else ''} With 0 for the judgements that "
        f"are lacking, {counts.get('with these as 0', 0)} of the {others} others come out, too.",
    )
