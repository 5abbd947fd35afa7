"""The example's scores of systems, held against the official ranking that was printed."""

from __future__ import annotations

import pandas as pd

from evalkit import data, ranking
from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, section
from evalkit.data import registry
from evalkit.provenance import source_of


@section("printed", collect="")
def printed(campaign: Campaign, *, fallback: bool = False) -> Section:
    """Hold an example's mean scores against its official ranking; a file of one's own is held against nothing."""
    name = source_of(campaign.ratings)["name"]
    if not campaign.example:
        return Section(
            "printed", ("This is a campaign of your own: no paper prints numbers that it could be held against.",)
        )
    if f"{name}-ranking" not in registry.entries():
        return Section("printed", (f"No official ranking of {name} is among the registered data.",))
    official = data.load(f"{name}-ranking", fallback=fallback)
    own = campaign.ratings[campaign.ratings["pair"].eq(campaign.pair)]
    rows, held = [], {}
    for scale in ("raw", "z"):
        if scale == "z" and "z" not in own:
            continue
        held[scale] = ranking.against_official(own, official, scale=scale)
        texts = official[(official["src_lang"] + "-" + official["tgt_lang"]).eq(campaign.pair)]
        texts = texts.set_index("system")[scale]
        for row in held[scale].itertuples():
            note = (
                f"The files hold {row.judgements:,} judgements of it; the official ranking counts "
                f"{row.official_judgements:,}."
                if row.judgements != row.official_judgements
                else "The counts of judgements agree; the cause is not known."
            )
            place = {"paper": f"official ranking of {name}", "item": f"{campaign.pair}, {scale}", "cell": row.system}
            rows.append({**place, "printed": str(texts[row.system]), "computed": float(row.recomputed), "note": note})
    frame = pd.DataFrame(rows)
    told = "The example is held against the ranking that its organisers printed, system by system."
    return Section("printed", (told,), caption=f"{campaign.pair}: scores of systems", printed=(frame, campaign.ratings),
                   facts={"sources": [official]})  # fmt: skip
