"""Say before anybody judges what a campaign can distinguish and, afterwards, what came of it."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.campaign.design.drawing import MEASURED, Drawn, Protocol
from evalkit.campaign.design.texts import Texts
from evalkit.campaign.findings import Finding, Missing, Result, finding, which, words
from evalkit.campaign.opening import Campaign, from_ratings
from evalkit.campaign.pilot import recognise
from evalkit.campaign.plan import hours
from evalkit.data.provenance import declared_scale, reading_of, source_of
from evalkit.human import components, planning

#: The chance of finding a difference that "can be found" means, and the error of the two-sided test.
POWER, ALPHA = 0.8, 0.05
#: How many standard errors such a difference is, by the normal distribution.
NORMAL = float(stats.norm.isf(ALPHA / 2) + stats.norm.ppf(POWER))


def usual(protocol: Protocol) -> dict[str, Any]:
    """Return what is assumed of judgements where no pilot tells: seconds that one takes, variances, source of both.

    variances: squared points of the protocol's scale (see ``components.of_pair``).
    """
    width = (protocol.scale[1] - protocol.scale[0]) / 100 if protocol.scale else 1.0
    variances = {name: value * width**2 for name, value in MEASURED["variances"][protocol.scores].items()}
    same = protocol.times == protocol.scores
    both = protocol.times if same else f"{protocol.times} (times) and {protocol.scores} (scores)"
    seconds = MEASURED["seconds"][protocol.times]
    return {"seconds": seconds, "variances": variances, "source": f"what was measured on {both}"}


def from_pilot(ratings: pd.DataFrame, protocol: Protocol) -> dict[str, Any]:
    """Measure the same on earlier ratings; what they do not tell is assumed.

    Raises DataError for another scale than the protocol's.
    """
    scale, told = declared_scale(ratings), usual(protocol)
    if protocol.scale and scale and tuple(scale) != protocol.scale:
        raise DataError(words("refused.scale", scale=scale, protocol=protocol))
    parts = [f"the pilot {source_of(ratings)['name']}"]
    table, _ = hours(ratings)
    seconds = float(table["hours"].sum() * 3600 / max(table["judgements"].sum(), 1))
    if not seconds:
        parts.append(f"for times {told['source']}")
    variances = told["variances"]
    try:
        mine = from_ratings(ratings)
        found = components.of_pair(components.estimate(mine.part, layout=recognise(mine.part, mine)), mine.pair)
    except DataError:
        parts.append(f"for what scatters {told['source']}, because too little of the pilot was judged twice")
    else:
        if np.isnan(found["annotator"]):
            found = {**found, "annotator": variances["annotator"]}
            parts.append(f"for how strict people are {told['source']}, because none of them judged what others judged")
        variances = found
    return {"seconds": seconds or told["seconds"], "variances": variances, "source": "; ".join(parts)}


def smallest_difference(
    variances: Mapping[str, float], *, block: float, calibration: int = 0, **design: Any
) -> float | None:
    """Return the smallest difference of two systems found with chance ``POWER``; None where no test is possible.

    block: segments of a document. design: of ``planning.power``, which tests: segments of each system, annotators,
    arrangement, judgements of each translation. A calibration set counts where levels that it estimates are surer than
    none.
    """
    segments, scatter = design["segments"], float(np.nansum(list(variances.values())))
    block, strict = max(1.0, min(block, segments / 2)), variances["annotator"]
    if segments < 2 * block or scatter < 1e-12 or (design["arrangement"] != "same" and np.isnan(strict)):
        return None
    deltas = np.geomspace(1e-3, 1e3, 1201) * math.sqrt(scatter)
    told: dict[str, Any] = {"delta": deltas, "block": block, "alpha": ALPHA} | design
    chances = [planning.power(variances, calibration=size, **told) for size in {0, calibration}]
    enough = deltas[np.nan_to_num(chances).max(axis=0) >= POWER]
    return float(enough[0]) if len(enough) else None


def expect(texts: Texts, drawn: Drawn, assumed: Mapping[str, Any]) -> dict[str, Any]:
    """Say what a drawn campaign can distinguish, as its own file keeps it.

    assumed: see ``usual``. Returns smallest_difference, in points or of the share of comparisons that are won (None:
    nothing), its standard_error (normal approximation), unit, power, and what is assumed.
    """
    wish, sizes = drawn.wish, [len(texts.documents[doc]) for doc in drawn.documents]
    segments, crew = sum(sizes), len(wish.annotators)
    if wish.protocol.compares:
        difference: float | None = NORMAL * share_error(segments * met(len(texts.outputs), wish.opponents))
    else:
        same = wish.everybody or wish.protocol.together != 1 or crew < 2
        design: dict[str, Any] = {"arrangement": "same" if same else "mixed", "block": float(np.mean(sizes))}
        design |= {"judgements": crew} if wish.everybody else {"calibration": wish.calibration}
        difference = smallest_difference(assumed["variances"], segments=segments, annotators=crew, **design)
    error = None if difference is None else difference / NORMAL
    unit = "share of comparisons" if wish.protocol.compares else "points"
    return {"smallest_difference": difference, "standard_error": error, "unit": unit, "power": POWER, **assumed}


def met(systems: int, opponents: int | None = None) -> float:
    r"""Return how many comparisons of two systems a segment is worth for their difference, those through others too.

    Where each of K systems meets m others equally often, a segment has :math:`m/(K - 1)` comparisons of any two, and
    strengths make K/2 of each: the variance of a difference of strengths is :math:`2/(n K w)` for n comparisons of any
    two, each of information w, where two systems alone have :math:`1/(n w)`. Source: David 1988, section 4.2.

    >>> met(2), met(4), met(4, 2)
    (1.0, 2.0, 1.3333333333333333)
    """
    return (opponents or systems - 1) / (systems - 1) * systems / 2


def share_error(comparisons: float, *, ties: float = 0.0) -> float:
    """Return the standard error of the share that one of two equal systems wins, segments taken as independent.

    >>> share_error(100), share_error(100, ties=0.36)
    (0.05, 0.04)
    """
    return 0.5 * math.sqrt((1 - ties) / comparisons)


class Outcome(Result):
    """What was planned, and what came of it.

    annotators: annotator, planned, collected, lacking (judgements); wanted, collected: their sums; kinds: the same by
    kind of item. planned, achieved: the smallest difference of two systems found with a chance of 80 %, and its
    standard error, in ``unit``; None where the plan, or what was collected, tells none.
    """

    def tell(self) -> Iterator[Finding]:
        """Say how many judgements are lacking, whose, and what can be distinguished."""
        behind = self.annotators[self.annotators["lacking"] > 0].sort_values("lacking", ascending=False)
        names = [f"{row.annotator} ({row.lacking:,})" for row in behind.head(3).itertuples()]
        values = {"lost": max(self.wanted - self.collected, 0), "names": names, "behind": behind}
        yield finding("outcome.judgements", found=self, most=len(behind) > 3, **values)
        unit = "points" if self.unit == "points" else "comparisons"
        sizes = {"planned": self.planned, "achieved": self.achieved}
        power = [finding(f"outcome.{name}_{unit}", size=size) for name, size in sizes.items() if size]
        yield from which("outcome", self, power=power)


def compare_plan(campaign: Campaign) -> Outcome | Missing:
    """Compare what was collected with the plan of the campaign's own file; nothing to say where the file has none."""
    plan: Mapping[str, Any] = reading_of(campaign.ratings).get("plan") or {}
    if not plan:
        return Missing("", "")
    people = pd.DataFrame(plan["annotators"])
    people["annotator"] = people["annotator"].mask(people["annotator"].eq(""), people["task"] + ", nobody yet")
    expected = plan.get("planned") or {}
    unit = str(expected.get("unit", "points"))
    difference, error = expected.get("smallest_difference"), expected.get("standard_error")
    found = Outcome(protocol=str(plan["protocol"]), seed=int(plan["seed"]), unit=unit)
    found.annotators, found.kinds = _lacking(people.drop(columns="task")), _lacking(pd.DataFrame(plan["kinds"]))
    found.wanted, found.collected = (int(people[which].sum()) for which in ("planned", "collected"))
    found.planned = (float(difference), float(error)) if difference and error else None
    found.achieved = _achieved(campaign) if unit == "points" else _compared(campaign)
    return found


def _lacking(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(lacking=table["planned"] - table["collected"])


def _compared(campaign: Campaign) -> tuple[float, float] | None:
    """Return the same for comparisons, by how many there are and how many of them are ties."""
    if not campaign.compares:
        return None
    answers, systems = campaign.comparisons, campaign.compared["system"].nunique()
    each = len(answers) / (systems * (systems - 1) / 2) * systems / 2
    error = share_error(each, ties=float(answers["preference"].eq("tie").mean()))
    return (NORMAL * error, error) if error > 0 else None


def _achieved(campaign: Campaign) -> tuple[float, float] | None:
    """Return the same for what was collected, by what scatters in it; None where that cannot be estimated."""
    judged = campaign.judged[campaign.judged["item_type"].eq("system")]
    if judged["system"].nunique() < 2:
        return None
    try:
        variances = components.of_pair(components.estimate(judged, layout=campaign.layout), campaign.pair)
    except DataError:
        return None
    items, annotators = judged.drop_duplicates(["system", "doc", "segment"]), judged["annotator"].nunique()
    same = judged.groupby(["doc", "segment", "annotator"])["system"].nunique().gt(1).mean() > 0.5
    calibration = campaign.part[campaign.part["item_type"].eq("calibration")].groupby("annotator").size()
    difference = smallest_difference(
        variances,
        segments=int(items.groupby("system").size().min()),
        annotators=annotators,
        block=len(items) / len(items.drop_duplicates(["system", "doc"])),
        arrangement="same" if same or annotators < 2 else "mixed",
        calibration=int(calibration.median()) if len(calibration) else 0,
    )
    return None if difference is None else (difference, difference / NORMAL)
