"""How many more judgements would distinguish the best systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.method import Method
from evalkit.campaign.missing import Missing, or_missing
from evalkit.campaign.opening import Campaign
from evalkit.campaign.ranking import Ranking
from evalkit.human import planning

#: Chance of finding a true difference that a plan asks for.
POWER = 0.8
#: Most segments that a plan may ask for; beyond, the answer is that the systems are as good as equal.
MOST = 20000
#: Differences that are planned for beside that of the two best systems: shares of the scale.
SHARES = (0.01, 0.02, 0.05)


@dataclass(frozen=True, eq=False)
class Plan:
    """Segments needed to distinguish two systems, by what scatters in this campaign.

    table: difference, points, segments_needed (missing beyond ``MOST``), segments_now, more_segments and
    more_judgements (of two systems). components: variances in squared points, and their shares. same: whether one
    annotator judges a document in both systems' translations. each, block: judgements of a translation, segments of a
    document. by_z: whether points are z-scores times a usual standard deviation. best: the two best systems, whose
    difference is the first row's; gap: that difference, points.
    """

    pair: str
    table: pd.DataFrame
    components: pd.DataFrame
    same: bool
    each: int
    block: int
    by_z: bool
    best: tuple[str, str]
    gap: float

    @property
    def needed(self) -> int | None:
        """Segments needed for the two best systems; None where more than ``MOST`` are."""
        return _whole(self.table["segments_needed"].iloc[0])

    @property
    def more_segments(self) -> int | None:
        """Segments that lack for the two best systems."""
        return _whole(self.table["more_segments"].iloc[0])

    @property
    def more_judgements(self) -> int | None:
        """Judgements that lack for the two best systems."""
        return _whole(self.table["more_judgements"].iloc[0])


def _whole(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


@or_missing("A plan needs two systems judged on the same segments, and some variation in the scores.")
def plan_more(campaign: Campaign, ranking: Ranking | Missing) -> Plan:
    """Say how many segments it takes to find differences of several sizes, by what scatters in this campaign.

    ranking: tells what is compared, and the two best systems; the difference between these is noisy itself, hence the
    other differences.
    """
    if len(campaign.systems) < 2:
        raise DataError("There is one system, so there is no difference to plan for.")
    if campaign.ranked_types[0] == "calibration":
        raise DataError("There are only calibration items, of which systems may have other texts each.")
    if not ranking:
        raise DataError("Without a ranking there is no difference to plan for.")
    judged = _in_points(campaign, ranking.method)
    found = planning.components(judged, layout="campaign" if campaign.segment == ("doc", "segment") else "numbered")
    variances = planning.variances(found, campaign.pair)
    if sum(variances.values()) <= 0:
        raise DataError("All scores are the same, so nothing scatters and nothing can be planned.")
    same = float((judged.groupby([*campaign.segment, "annotator"])["system"].nunique() > 1).mean()) > 0.5
    block = int(min(round(max(float(found["block_length"].iloc[0]), 1.0)), 50))
    each = max(1, int(judged.groupby(["system", *campaign.segment])["annotator"].nunique().median()))
    design: dict[str, Any] = {"arrangement": "same" if same else "mixed", "judgements": each, "block": block}
    now = int(judged.groupby("system")[campaign.segment[-1]].size().median() / each)
    best = ranking.names[0], ranking.names[1]
    means = replace(ranking.method, column="score").scores(judged).set_index("system")["score"]
    gap = float(means[best[0]] - means[best[1]])
    deltas = {"the gap between the two best": abs(gap)}
    deltas |= {f"{share:.0%} of the scale": share * (campaign.scale[1] - campaign.scale[0]) for share in SHARES}
    table = pd.DataFrame({"difference": list(deltas), "points": list(deltas.values())})
    needed = pd.array([segments_needed(variances, delta, **design) for delta in deltas.values()], dtype="Int64")
    table = table.assign(segments_needed=needed, segments_now=now)
    table["more_segments"] = (table["segments_needed"] - now).clip(lower=0)
    table["more_judgements"] = 2 * each * table["more_segments"]
    parts = pd.DataFrame({"component": list(variances), "variance": list(variances.values())})
    parts["share"] = parts["variance"] / parts["variance"].sum()
    return Plan(campaign.pair, table, parts, same, each, block, ranking.method.by_z, best, gap)


def _in_points(campaign: Campaign, method: Method) -> pd.DataFrame:
    """Return the judgements of systems' outputs; z-scores are put back into points by the annotators' pooled sd."""
    judged = campaign.judged[campaign.judged["item_type"].eq("system")]
    if not method.by_z:
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
    design: dict[str, Any] = {"arrangement": arrangement, "judgements": judgements, "block": block}
    reached = planning.power(variances, delta=delta, segments=sizes, annotators=2 * judgements, **design)
    enough = np.flatnonzero(reached >= POWER)
    return int(sizes[enough[0]]) if len(enough) else None
