"""The example's scores of systems, held against the official ranking that was printed."""

from __future__ import annotations

import pandas as pd

from evalkit import data, ranking
from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, counted, section
from evalkit.data import registry
from evalkit.provenance import source_of
from evalkit.schemas import with_pair


@section("printed", collect="")
def printed(campaign: Campaign, *, fallback: bool = False) -> Section:
    """Hold an example's mean scores against its official ranking; a file of one's own is held against nothing."""
    if not campaign.example:
        return Section(
            "printed", ("This is a campaign of your own: no paper prints numbers that it could be held against.",)
        )
    name = source_of(campaign.ratings)["name"]
    if f"{name}-ranking" not in registry.entries():
        return Section("printed", (f"No official ranking of {name} is among the registered data.",))
    beside = {kind: data.load(f"{name}-{kind}", fallback=fallback) for kind in ("ranking", "annotators")
              if f"{name}-{kind}" in registry.entries()}  # fmt: skip
    official, sources = with_pair(beside["ranking"]), list(beside.values())
    own = campaign.ratings[campaign.ratings["pair"].eq(campaign.pair)]
    flat = _without_spread(beside["annotators"], campaign.pair) if "annotators" in beside else ""
    texts = official[official["pair"].eq(campaign.pair)].set_index("system")
    parts = []
    for scale in [scale for scale in ("raw", "z") if scale == "raw" or "z" in own]:
        held = ranking.against_official(own, beside["ranking"], scale=scale)
        frame = held.rename(columns={"system": "cell", "recomputed": "computed"})[["cell", "computed"]]
        told = {"item": f"{campaign.pair}, {scale}", "printed": texts.loc[frame["cell"], scale].to_numpy(str)}
        parts.append(frame.assign(**told, note=reasons(own, held, scale=scale, flat=flat)))
    rows = pd.concat(parts, ignore_index=True).assign(
        paper=f"official ranking of {name}", basis="official result", lacking="", place=""
    )
    sentence = "The example is held against the ranking that its organisers printed, system by system."
    return Section("printed", (sentence,), caption=f"{campaign.pair}: scores of systems",
                   printed=(rows, [campaign.ratings, *sources]), facts={"sources": sources})  # fmt: skip


def reasons(own: pd.DataFrame, held: pd.DataFrame, *, scale: str, flat: str) -> list[str]:
    """Say for each official score that differs which judgements it counts beyond these, and what that makes of it.

    own: the ratings. held: the result of ``ranking.against_official``, "" stands where a score equals the official one.
    flat: a clause about the annotators whose judgements the ratings lack.
    """
    short = ranking.explain_missing(own, held, scale=scale).set_index("system")
    return [
        "" if row.equal else _reason(short.loc[row.system], scale, flat) if row.system in short.index else _other(row)
        for row in held.itertuples()
    ]


def _reason(row: pd.Series, scale: str, flat: str) -> str:
    """Explain one score by judgements that the ratings lack; ``row`` is one of ``ranking.explain_missing``."""
    low, high = (f"{row[end]:.{ranking.DIGITS[scale] + 2}f}" for end in ("lowest", "highest"))
    becomes = low if low == high else f"{low} to {high}, depending on the segments that they belong to"
    outcome = "which rounds to the printed number" if low == high else "in which values round to the printed number"
    new = counted(row["missing_segments"], "segment") + " more" if row["missing_segments"] else "no segment more"
    return (
        f"The official number counts {counted(row['missing_judgements'], 'judgement')} and {new}. That fits annotators "
        f"without spread, who have no z-score and therefore no row in the released ratings{flat}: with 0 for these the "
        + f"score becomes {becomes}, "
        + (f"{outcome}." if row["explained"] else "which is not the printed number: something else differs, too.")
    )


def _other(row) -> str:
    """Say what is known of a score that lacks no judgement and differs all the same."""
    if row.judgements > row.official_judgements:
        return (
            f"The files hold {row.judgements:,} judgements of it; the official ranking counts "
            f"{row.official_judgements:,}. Which of them it leaves out is not known."
        )
    return "The counts of judgements agree; the cause is not known."


def _without_spread(workers: pd.DataFrame, pair: str) -> str:
    """Say how many annotators of a language pair gave one score throughout, and which; "" where nobody did."""
    found = ranking.flat_annotators(workers).set_index("pair")
    if pair not in found.index or not found.at[pair, "without_spread"]:
        return ""
    told = found.loc[pair]
    many = counted(told["without_spread"], "annotator")
    return f" ({many} of {pair} gave nothing but {told['scores']}, by the organisers' list)"
