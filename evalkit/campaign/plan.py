"""What the work took, and how many more judgements, by how many more people, would distinguish the best systems."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.findings import Finding, Missing, Result, finding, or_missing, which, words
from evalkit.campaign.opening import Campaign
from evalkit.campaign.ranking import Ranking
from evalkit.human import annotators, components, planning
from evalkit.human.annotators import PAUSE

_COLUMNS = ["annotator", "judgements", "median_seconds", "hours", "mean_seconds"]
_STAMPED = f"from each sign of life to the next; more than {PAUSE // 60} minutes without one is a break, left out"
_BY_HIT = "the median time of a judgement in an annotator's HITs, for HITs hold pauses"


class Cost(Result):
    """Time and money that judgements took.

    by_annotator: as ``hours`` returns it, the longest hours first, with ``cost`` where a pay is known. judgements: with
    times; untimed: without. hours: of the pair. how: how time is counted. hourly_pay: 0 where unknown.
    currency: of the pay.
    """

    def tell(self) -> Iterator[Finding]:
        """Say how long judgements took, and what that cost."""
        each, median = self.hours / self.judgements, self.by_annotator["mean_seconds"].median()
        values = {"found": self, "money": f" {self.currency}".rstrip(), "each": each, "paid": self.hourly_pay > 0}
        yield finding("cost.hours", seconds=3600 * each, median=median, **values)
        if self.hourly_pay > 0:
            yield finding("cost.paid", cost=self.hours * self.hourly_pay, price=each * self.hourly_pay, **values)
        yield from which("lacks", self, times=self.untimed, pay=self.hourly_pay <= 0)


@or_missing("times")
def measure_cost(campaign: Campaign, *, hourly_pay: float = 0.0, currency: str = "") -> Cost:
    """Measure time per item and annotator, the whole time in hours, and its price at an hourly pay.

    hourly_pay: of one annotator, in ``currency``; 0 leaves prices out.
    """
    if hourly_pay < 0:
        raise DataError(f"hourly_pay={hourly_pay:g} is below 0. Give the pay of one hour.")
    table, how = hours(campaign.part)
    if table.empty:
        raise DataError("there are no times.")
    if hourly_pay > 0:
        table = table.assign(cost=table["hours"] * hourly_pay)
    table = table.sort_values(["hours", "mean_seconds"], ascending=[False, True], kind="stable", ignore_index=True)
    judgements, price = int(table["judgements"].sum()), {"hourly_pay": hourly_pay, "currency": currency.strip()}
    found = Cost(pair=campaign.pair, by_annotator=table, judgements=judgements, how=how, **price)
    found.untimed = len(campaign.part) - judgements
    found.hours = float(table["hours"].sum())
    return found


def hours(part: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Tabulate time by annotator, and say how: annotator, judgements (with times), median_seconds, hours, mean_seconds.

    With ``started`` and ``ended``, hours are the sum of the times from each sign of life to the next, whichever
    judgement they belong to; a longer time than ``PAUSE`` is a break and left out. Some tools stamp a judgement only
    when it is made, so reading falls between judgements; median_seconds is therefore the median time from one end of a
    judgement to the next, breaks left out (missing for a single one). With ``hit_seconds``, the median time a judgement
    takes in the annotator's HITs, times their judgements, for whole HITs hold unknown pauses. Rows without times are
    left out.

    >>> two = pd.DataFrame({"annotator": "a", "started": [0.0, 30.0, 100000.0], "ended": [60.0, 90.0, 100030.0]})
    >>> hours(two)[0][["judgements", "median_seconds", "mean_seconds"]].to_numpy().tolist()
    [[3.0, 30.0, 40.0]]
    """
    worked, how = pd.Series(dtype=float), ""
    if {"started", "ended"} <= {*part}:
        timed, how = part[part["ended"] >= part["started"]], _STAMPED
        stamps = timed.melt("annotator", ["started", "ended"]).sort_values(["annotator", "value"])
        steps = stamps.groupby("annotator")["value"].diff()
        worked = steps.where(steps <= PAUSE).groupby(stamps["annotator"]).sum()
        median = annotators.since_last(timed).groupby(timed["annotator"]).median()
    if not worked.any() and "hit_seconds" in part:
        timed, how = part[part["hit_seconds"] > 0], _BY_HIT
        speed = annotators.speed(timed.drop(columns=["started", "ended"], errors="ignore"))
        median = speed.groupby("annotator")["seconds"].median().dropna()
        worked = median * timed.groupby("annotator").size()
    if not worked.any():
        return pd.DataFrame(columns=_COLUMNS), ""
    table = pd.DataFrame({"judgements": timed.groupby("annotator").size(), "median_seconds": median, "worked": worked})
    table = table.dropna(subset="worked").assign(hours=worked / 3600, mean_seconds=worked / table["judgements"])
    return table.rename_axis("annotator").reset_index()[_COLUMNS], how


#: Chance of finding a true difference that a plan asks for.
POWER = planning.Limits.target
#: Most segments that a plan may ask for; beyond, the answer is that the systems are as good as equal.
MOST = planning.MOST_SEGMENTS
#: Differences that are planned for beside those that were observed: shares of the scale.
SHARES = (0.01, 0.02, 0.05)
#: Most systems that are compared, the first and those that cannot be distinguished from it; and how many of the best
#: tell what scatters.
TOP = 5
#: Judgements that one person may be asked for, though those who judged here gave fewer.
CAPACITY = 200
#: Whom a plan for a fixed difference compares.
ANY = "any two systems"
#: How differently annotators like systems: what the judgements tell of it.
FOUND, NOT_FOUND, NOT_TOLD = "found", "not found", "cannot be told"
_WHOLE = [
    *("people_needed", "judgements_each", "segments_needed", "segments_now", "worth_now"),
    *("more_people", "more_segments", "more_judgements"),
]


class Basis(Result):
    """What a plan rests on: what scatters, and what the work looks like.

    variances: as ``components.of_pair`` returns them, squared points. block: segments of a
    document. capacity: most judgements that one person is asked for. liking: whether annotators like
    systems differently (``FOUND``, ``NOT_FOUND`` or ``NOT_TOLD``). over_annotators: whether people are what is tested
    over, because they like systems differently, or because the ranking draws them anew. annotators, systems: who judged
    what all this was measured on.
    """

    @property
    def counts_people(self) -> bool:
        """Whether only more people help, not more judgements by the same ones."""
        return self.liking == FOUND

    def crew(self, delta: float) -> planning.Crew | None:
        """Return the cheapest crew that finds a difference; None beyond ``MOST`` segments."""
        how = {"block": self.block, "capacity": self.capacity, "over_annotators": self.over_annotators}
        return planning.smallest_crew(self.variances, delta=delta, **how)


class Plan(Result):
    """People and judgements that distinguish two systems, by what scatters in this campaign.

    table: compares (two systems, or any), difference, points, people_needed, judgements_each (of one of them),
    segments_needed (all missing beyond ``MOST``), segments_now, worth_now (segments judged as planned that tell as much
    as what there is), more_people, more_segments, more_judgements (of these two systems), and more_hours where a
    judgement's time is known. components: variances in squared points, and their shares; called: what people call them.
    rivals: the first system and each that it is compared with, as in the table's first rows. apart: whether the first
    is distinguished from all others. by_z: whether points are z-scores times a usual standard deviation. hourly_pay: 0
    where unknown, in ``currency``. basis: what all this rests on.
    """

    by_z, hourly_pay, currency = False, 0.0, ""

    @property
    def beyond(self) -> str:
        """What a difference takes that is too small for any plan, in words."""
        key = "goal.beyond_people" if self.basis.over_annotators else "goal.beyond"
        return words(key, segments=MOST, people=planning.MOST_PEOPLE)

    def tell(self) -> Iterator[Finding]:
        """Say what it takes to tell the first system from others, what other differences take, and what is assumed."""
        yield from self._rivals()
        rows = self.table[self.table["compares"].eq(ANY)].to_dict("records")
        yield finding("plan.sizes", parts=[finding("plan.size", row=row, takes=self.takes(row)) for row in rows])
        basis = self.basis
        liking = "likes" if basis.counts_people else "untold" if basis.liking == NOT_TOLD else "alike"
        yield finding(f"plan.{liking}", basis=basis)
        yield finding("plan.assumed", power=POWER, basis=basis, blocks=basis.block > 1)
        yield from which("plan", self, by_z=self.by_z)

    def _rivals(self) -> Iterator[Finding]:
        """Say what it takes to tell the first system from the next, and from each that it is not distinguished from."""
        rows = self.table.head(len(self.rivals))
        beyond = rows["segments_needed"].isna()
        for row in rows[~beyond].to_dict("records"):
            key = "rival" if row["more_judgements"] else "enough"
            yield finding(f"plan.{key}", row=row, more=self.takes(row), apart=self.apart)
        if beyond.any():
            others = [rivals[1] for rivals, hopeless in zip(self.rivals, beyond) if hopeless]
            ends = rows.loc[beyond, "points"].agg(["min", "max"]).map("{:.2f}".format).unique()
            yield finding("plan.hopeless", found=self, others=others, apart=" to ".join(ends))

    def takes(self, row: Mapping[Any, Any], *, segments: bool = True) -> str | Finding:
        """Say what a row asks for beyond what there is: judgements, people, segments, hours and money."""
        if pd.isna(row["segments_needed"]):
            return self.beyond
        if not row["more_judgements"]:
            return finding("goal.nothing")
        people, hours = row["more_people"], row.get("more_hours", np.nan)
        whom = "others" if people > 1 else "one" if people else "same"
        each = people and self.basis.counts_people
        values = {"hours": hours, "money": hours * self.hourly_pay, "plan": self}
        return finding("goal.more", row=row, whom=whom, each=each, segments=segments, **values)

    @property
    def step(self) -> str:
        """What distinguishing the two best systems takes, for a list of what to do next."""
        if self.needed is None:
            return str(finding("steps.hopeless", plan=self))
        more = self.takes(self.table.iloc[0].to_dict(), segments=False)
        return (
            str(finding("steps.equal_or_more", plan=self, more=more)) if self.table["more_judgements"].iloc[0] else ""
        )

    @property
    def needed(self) -> int | None:
        """Segments needed for the two best systems; None where more than ``MOST`` are."""
        value = self.table["segments_needed"].iloc[0]
        return None if pd.isna(value) else int(value)


@or_missing("plan", of_people=True)
def plan_more(campaign: Campaign, ranking: Ranking | Missing, *, hourly_pay: float = 0.0, currency: str = "") -> Plan:
    """Say how many more judgements, by how many more people, find differences of several sizes.

    ranking: tells what is compared, and the best systems; the differences between these are noisy themselves, hence the
    other differences. hourly_pay, currency: what an annotator is paid for an hour; 0 leaves prices out.
    """
    if len(campaign.systems) < 2 or (ranking and len(ranking.names) < 2):
        raise DataError("There is one system that can be the best, so there is no difference to plan for.")
    if campaign.ranked_types[0] == "calibration":
        raise DataError("There are only calibration items, of which systems may have other texts each.")
    if not ranking:
        raise DataError("Without a ranking there is no difference to plan for.")
    names = ranking.names
    level = [name for name in names[1:] if name in ranking.level][: TOP - 1]
    rivals = tuple((names[0], name) for name in level or names[1:2])
    near = list(dict.fromkeys([names[0], *level, *names]))[:TOP]  # bad systems scatter more than good ones
    judged = campaign.judged[campaign.judged["item_type"].eq("system") & campaign.judged["system"].isin(near)]
    judged = judged.assign(score=judged[ranking.method.column] * ranking.points)  # as ranked, in points of the scale
    basis = measure_basis(judged, campaign, over_annotators=ranking.method.draws_people)
    segments = judged.drop_duplicates(["system", *campaign.segment]).groupby("system").size()
    rows: list[dict[str, Any]] = []
    there: list[dict[str, Any]] = []
    for pair in rivals:
        options: dict[str, Any] = dict(zip(("first", "second"), pair, strict=True))
        variance = components.contrast_variance(judged, basis.variances, layout=campaign.layout, **options)
        there.append({"variance": variance, "now": int(segments[[*pair]].min())})
        rows.append(_row(basis, " – ".join(pair), "as observed", abs(ranking.gap(*pair)), **there[-1]))
    whole, width = "scale" if campaign.known_scale else "range of scores", campaign.scale[1] - campaign.scale[0]
    rows += [_row(basis, ANY, f"{share:.0%} of the {whole}", share * width, **there[0]) for share in SHARES]
    table = pd.DataFrame(rows).astype(dict.fromkeys(_WHOLE, "Int64"))
    seconds = typical_seconds(campaign)
    if seconds:
        table["more_hours"] = table["more_judgements"].astype("Float64") * seconds / 3600
    parts = pd.Series(basis.variances, name="variance").rename_axis("component").reset_index()
    parts["share"] = parts["variance"] / parts["variance"].sum()
    called = {"component": components.NAMES | {"document": "documents", "item": "segments, by system"}}
    price: dict[str, Any] = {"hourly_pay": hourly_pay, "currency": currency.strip()}
    found = Plan(
        pair=campaign.pair, table=table, components=parts, called=called, basis=basis, apart=not level, **price
    )
    found.rivals, found.by_z = rivals, ranking.method.by_z
    return found


def measure_basis(judged: pd.DataFrame, campaign: Campaign, *, over_annotators: bool = False) -> Basis:
    """Measure what scatters in judgements of systems' outputs, and say what a plan tests over.

    judged: rows of ``campaign``, perhaps with scores of another kind. over_annotators: whether annotators are drawn
    anew for the ranking's intervals; the plan is then over them, too, whatever they like.
    Raises DataError where nothing scatters, or nothing was judged twice.
    """
    found = components.estimate(judged, layout=campaign.layout, taste=True)
    variances = components.of_pair(found, campaign.pair)
    if np.nansum(list(variances.values())) < 1e-12:
        raise DataError("All scores are the same, so nothing scatters and nothing can be planned.")
    liking = FOUND if variances["taste"] > 0 else NOT_FOUND if found["taste"].notna().iloc[0] else NOT_TOLD
    people, block = judged.groupby("annotator").size(), min(block_length(judged), 50)
    capacity = max(int(people.median()), CAPACITY, 2 * block)
    over = liking == FOUND or over_annotators
    judges = {"annotators": len(people), "systems": judged["system"].nunique()}
    work = {"block": block, "capacity": capacity, "liking": liking, "over_annotators": over}
    return Basis(variances=variances, **work, **judges)


def block_length(judged: pd.DataFrame) -> int:
    """Return how many segments an annotator judges of a document by one system, on average as a judgement finds it.

    >>> block_length(pd.DataFrame({"annotator": "p", "system": "A", "doc": ["d", "d", "d", "d", "d", "e"]}))
    4
    """
    lengths = judged.groupby(["annotator", "system", "doc"]).size()
    return round(float((lengths**2).sum() / lengths.sum()))


def _row(basis: Basis, compares: str, difference: str, points: float, variance: float, now: int) -> dict[str, Any]:
    """Plan for one difference. variance: of the difference that was observed, squared points. now: segments judged."""
    row = {"compares": compares, "difference": difference, "points": points} | dict.fromkeys(_WHOLE, pd.NA)
    row["segments_now"] = now
    if not (crew := basis.crew(points)):
        return row
    worth = crew.segments * crew.variance / variance if variance > 0 else crew.segments
    lacking = max(0.0, crew.segments - worth)
    if basis.counts_people:  # whoever was there has given what they can: their favourites are in it
        people = int(np.ceil(lacking / crew.segments_each - 1e-9))
        segments = people * crew.segments_each
    else:
        people = max(0, crew.annotators - basis.annotators)
        segments = int(np.ceil(lacking / basis.block - 1e-9)) * basis.block
    row |= {"people_needed": crew.annotators, "judgements_each": 2 * crew.segments_each}
    row |= {"segments_needed": crew.segments, "worth_now": int(worth), "more_people": people if segments else 0}
    return row | {"more_segments": segments, "more_judgements": 2 * segments}


def typical_seconds(campaign: Campaign) -> float | None:
    """Return the time of a judgement in seconds, as the median annotator takes it; None where no times are known."""
    found = hours(campaign.part)[0]["median_seconds"].dropna()
    return float(found.median()) if len(found) and found.median() > 0 else None
