"""How many more judgements would tell the best systems apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.human import planning, ranking
from evalkit.stats.terms import pluralize

#: Chance of finding a true difference that a plan asks for.
POWER = 0.8
#: Most segments that a plan may ask for; beyond, the answer is that the systems are as good as equal.
MOST = 20000
_COLLECT = "A plan needs two systems judged on the same segments, and some variation in the scores."


@section("planning", collect=_COLLECT)
def planned(campaign: Campaign, *, column: str = "score", names: Sequence[str] = ()) -> Section:
    """Say how many segments it takes to find differences of several sizes, by what scatters in this campaign.

    column: "score", or "normalized" where systems are ranked by z-scores; these are put back into points. names: the
    two best systems; the difference between them is noisy itself, hence the others.
    """
    if len(campaign.systems) < 2:
        raise DataError("There is one system, so there is no difference to plan for.")
    if campaign.counted[0] == "calibration":
        raise DataError("There are only calibration items, of which systems may have other texts each.")
    layout = "campaign" if campaign.segment == ("doc", "segment") else "numbered"
    judged = in_points(campaign, column)
    judged = judged[judged["item_type"].eq("system")]
    found = planning.components(judged, layout=layout)
    variances = planning.variances(found, campaign.pair)
    if sum(variances.values()) <= 0:
        raise DataError("All scores are the same, so nothing scatters and nothing can be planned.")
    both = judged.groupby([*campaign.segment, "annotator"])["system"].nunique()
    same = float((both > 1).mean()) > 0.5
    block = max(float(found["block_length"].iloc[0]), 1.0)
    block = int(min(round(block), 50))
    each = max(1, int(judged.groupby(["system", *campaign.segment])["annotator"].nunique().median()))
    design = {"arrangement": "same" if same else "mixed", "judgements": each, "block": block}
    now = int(judged.groupby("system")[campaign.segment[-1]].size().median() / each)
    gap = None
    if len(names) == 2:
        means = ranking.system_scores(judged, segment=campaign.segment).set_index("system")["score"]
        gap = float(means[names[0]] - means[names[1]])
    deltas = {f"{share:.0%} of the scale": share * campaign.width for share in (0.01, 0.02, 0.05)}
    if gap is not None:
        deltas = {"the gap between the two best": abs(gap), **deltas}
    rows = []
    for title, delta in deltas.items():
        needed = segments_needed(variances, delta, **design)
        more = None if needed is None else max(needed - now, 0)
        rows.append({"difference": title, "points": delta, "segments_needed": needed, "segments_now": now,
                     "more_segments": more, "more_judgements": None if more is None else 2 * more * each})  # fmt: skip
    table = pd.DataFrame(rows).astype(dict.fromkeys(("segments_needed", "more_segments", "more_judgements"), "Int64"))
    share = pd.DataFrame([{"component": name, "variance": value} for name, value in variances.items()])
    share["share"] = share["variance"] / share["variance"].sum()
    who = "the same annotator judges a document by both systems" if same else "documents go to annotators at random"
    told = [
        f"The table asks for a chance of {POWER:.0%} to find a true difference at p below 0.05 (two-sided), {who}, "
        f"each translation judged {'once' if each == 1 else f'{each} times'}"
        + (f", in documents of {block} segments." if block > 1 else ", segments apart from each other.")
    ]
    if column != "score":
        told.append("Systems are ranked by z-scores here, so points are z-scores times a usual standard deviation.")
    facts = {"plans": table.to_dict("records"), "now": now, "more": None}
    first = rows[0]
    if gap is not None:
        two = f"{names[0]} and {names[1]}"
        if first["segments_needed"] is None:
            told.append(
                f"{two} are {abs(gap):.2f} points apart. More than {MOST:,} segments would be needed to find so "
                "small a difference: treat them as equally good."
            )
        elif first["more_segments"]:
            told.append(
                f"{two} are {abs(gap):.2f} points apart. If that is their true difference, a campaign finds it with "
                f"this chance in {first['segments_needed']:,} segments; there are {now:,}, so "
                f"{pluralize(first['more_segments'], 'more segment')}, or "
                f"{pluralize(first['more_judgements'], 'judgement')} of these two systems, would be needed."
            )
        else:
            told.append(f"{two} are {abs(gap):.2f} points apart; {now:,} segments are enough for such a difference.")
        facts["more"] = first["more_judgements"]
        facts["hopeless"] = first["segments_needed"] is None
    tables = (
        Table("plan", table, "Segments needed to tell two systems apart, by their true difference"),
        Table("components", share, f"{campaign.pair}: what scatters (squared points)", {"share": 2}),
    )
    drawn = (table,) if table["segments_needed"].notna().any() else None
    alt = "; ".join(
        f"{row['difference']} ({row['points']:.2f} points): "
        + (f"{row['segments_needed']:,} segments" if row["segments_needed"] else f"more than {MOST:,} segments")
        for row in rows
    )
    caption = f"{campaign.pair}: segments needed to find a difference"
    return Section("planning", tuple(told), tables, "", facts, drawn, f"Segments needed: {alt}.", caption)


def in_points(campaign: Campaign, column: str) -> pd.DataFrame:
    """Return the judgements that rank systems, z-scores put back into points by the annotators' pooled sd."""
    judged = campaign.judged
    if column == "score":
        return judged
    people = campaign.part.groupby("annotator")["score"].agg(["var", "size"]).dropna()
    pooled = np.sqrt((people["var"] * (people["size"] - 1)).sum() / max((people["size"] - 1).sum(), 1))
    return judged.assign(score=judged["normalized"] * pooled)


def segments_needed(
    variances: Mapping[str, float], delta: float, *, arrangement: str, judgements: int, block: int
) -> int | None:
    """Return the fewest segments, in whole documents, that find ``delta`` points with power ``POWER``.

    None beyond ``MOST``. The normal model and the two-sided test at 0.05 are those of ``planning.power``.
    """
    sizes = block * np.arange(2, MOST // block + 1)
    if delta <= 0 or not len(sizes):
        return None
    design = {"arrangement": arrangement, "judgements": judgements, "block": block}
    reached = planning.power(variances, delta=delta, segments=sizes, annotators=2 * judgements, **design)
    enough = np.flatnonzero(reached >= POWER)
    return int(sizes[enough[0]]) if len(enough) else None
