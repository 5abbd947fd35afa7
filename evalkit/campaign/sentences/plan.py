"""How many more judgements, by how many more people: the plan, the pilot it rests on, and what came of a plan."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from evalkit.campaign.design.expectation import Outcome
from evalkit.campaign.few import Correlation
from evalkit.campaign.findings import Finding, capital, finding, tell
from evalkit.campaign.pilot import LAYOUTS, Pilot
from evalkit.campaign.plan import ANY, CAUTIOUS, NOT_TOLD, OBSERVED, POWER, Plan
from evalkit.data.provenance import source_of
from evalkit.human import planning

#: A row of a plan, or a design of ``planning.plan``.
Row = Mapping[Any, Any]


def goal(row: Row, plan: Plan, *, segments: bool = True) -> Finding:
    """Say what a row of the plan asks for beyond what there is: judgements, people, segments, hours and money."""
    if not row["more_judgements"]:
        return finding("goal.nothing")
    people, time = row["more_people"], None
    each = finding("goal.each", row=row) if people and plan.basis.counts_people else None
    whom = finding("goal.others" if people > 1 else "goal.one" if people else "goal.same", row=row)
    where = finding("goal.segments", row=row) if segments else None
    if pd.notna(row.get("more_hours")):
        money = row["more_hours"] * plan.hourly_pay
        time = finding("goal.paid" if money else "goal.hours", row=row, plan=plan, money=money)
    return finding("goal.more", row=row, whom=whom, each=each, where=where, hours=time)


def step(plan: Plan) -> str:
    """Say in a sentence what distinguishing the two best systems takes, for a list of what to do next.

    Where even the lower end of the difference's 50 % interval is none, to treat them as equal comes first.
    """
    if plan.needed is None:
        return str(finding("steps.hopeless", plan=plan, beyond=plan.beyond))
    if not plan.more_judgements:
        return ""
    key = "steps.equal_or_more" if plan.row(plan.best, CAUTIOUS) is None else "steps.more_or_equal"
    return str(finding(key, plan=plan, more=goal(plan.table.iloc[0].to_dict(), plan, segments=False)))


@tell.register
def plan(found: Plan) -> Iterator[Finding]:
    yield from _rivals(found)
    rows = found.table[found.table["compares"].eq(ANY)].to_dict("records")
    parts = [str(finding("plan.size", row=row, takes=_takes(row, found))) for row in rows]
    if parts:
        yield finding("plan.sizes", parts="; ".join(parts))
    basis = found.basis
    liking = "likes" if basis.counts_people else "untold" if basis.liking == NOT_TOLD else "alike"
    yield finding(f"plan.{liking}", basis=basis)
    blocks = finding("plan.blocks" if basis.block > 1 else "plan.apart", basis=basis)
    units = "annotators" if basis.over_annotators else "documents"
    yield finding("plan.assumed", power=POWER, units=units, blocks=blocks, basis=basis)
    if found.by_z:
        yield finding("plan.by_z")


def _rivals(found: Plan) -> Iterator[Finding]:
    """Say what it takes to tell the first system from the next, and from each that it is not distinguished from."""
    rows = [found.row(rivals, OBSERVED) for rivals in found.rivals]
    hopeless = [rivals[1] for rivals, row in zip(found.rivals, rows, strict=True) if _too_small(row)]
    for rivals, row, error in zip(found.rivals, rows, found.errors, strict=True):
        if row and not _too_small(row):
            yield _rival(found, rivals, row, error)
    if hopeless:
        gaps = [abs(gap) for rivals, gap in zip(found.rivals, found.gaps, strict=True) if rivals[1] in hopeless]
        ends = f"{min(gaps):.2f}" + (f" to {max(gaps):.2f}" if len(gaps) > 1 else "")
        yield finding("plan.hopeless", found=found, others=hopeless, apart=ends, beyond=found.beyond)
    if not found.apart:
        yield finding("plan.noisy" if len(hopeless) == len(rows) else "plan.or_equal")


def _too_small(row: Mapping[Hashable, Any] | None) -> bool:
    return row is None or pd.isna(row["segments_needed"])


def _takes(row: Row, plan: Plan, *, segments: bool = True) -> object:
    return plan.beyond if _too_small(row) else goal(row, plan, segments=segments)


def _rival(found: Plan, rivals: tuple[str, str], row: Row, error: float) -> Finding:
    """Say what it takes to tell the first system from one other."""
    values = {"rivals": rivals, "row": row, "error": error}
    cautious = found.row(rivals, CAUTIOUS)
    if not row["more_judgements"]:
        return finding("plan.enough" if found.apart else "plan.enough_but", **values)
    if cautious is None:
        return finding("plan.chance", **values, more=goal(row, found))
    then = _takes(cautious, found, segments=False)
    return finding("plan.rival", **values, more=goal(row, found), cautious=cautious, then=then)


@tell.register
def outcome(found: Outcome) -> Iterator[Finding]:
    lost = found.wanted - found.collected
    behind = found.annotators[found.annotators["lacking"] > 0].sort_values("lacking", ascending=False)
    names = [f"{row.annotator} ({row.lacking:,})" for row in behind.head(3).itertuples()]
    who = finding("outcome.most" if len(behind) > 3 else "outcome.who", behind=behind, names=names) if names else None
    lacking = finding("outcome.lacking", lost=lost, who=who) if lost > 0 else None
    yield finding("outcome.judgements", found=found, lacking=lacking)
    unit = "points" if found.unit == "points" else "comparisons"
    parts = [
        finding(f"outcome.{name}_{unit}", difference=value[0], error=value[1])
        for name, value in (("planned", found.planned), ("achieved", found.achieved))
        if value
    ]
    if parts:
        yield finding("outcome.power", parts=capital("; ".join(map(str, parts))))


@tell.register
def pilot(found: Pilot) -> Iterator[Finding]:
    part = found.part
    kind = finding("pilot.outputs" if part["item_type"].eq("system").all() else "pilot.calibration")
    people = finding(
        "pilot.nobody" if found.layout == "unnamed" else "pilot.people", people=part["annotator"].nunique()
    )
    criterion = finding("pilot.criterion", found=found) if len(found.criteria) > 1 else None
    items = [str(finding(f"items.{kind}", n=number)) for kind, number in found.apart.items()]
    apart = finding("pilot.apart", items=items) if items else None
    way = finding("read.lower", way=found.orientation) if found.orientation.startswith("lower") else None
    what = {"kind": kind, "systems": part["system"].nunique(), "people": people, "criterion": criterion}
    yield finding("pilot.rests", found=found, **what, apart=apart, way=way)
    yield finding("pilot.taken" if found.chosen else "pilot.set", found=found, where=LAYOUTS[found.layout])
    if found.stretched:
        key = "pilot.stretched" if found.known_scale else "pilot.stretched_unknown"
        yield finding(key, found=found, point=found.own_points(1))
    if found.unusable:
        yield finding("pilot.unusable", why="; ".join(found.unusable.values()))


def answer(
    found: Pilot,
    best: Row,
    tastes: pd.DataFrame,
    *,
    delta: float,
    target: float,
    typed: bool = False,
    hourly_pay: float = 0.0,
    currency: str = "",
) -> str:
    """Say what it takes to find a difference: people where they like systems differently, segments elsewhere.

    best: the cheapest design if nobody likes one system better than others do. tastes: pair, taste (variance of liking,
    squared points; 0: not found, missing: cannot be told), and the cheapest design with it, as ``planning.by_pair``
    returns it. typed: the variances were typed in, not measured.
    """
    place = "WMT22's calibration HITs" if found.example else str(source_of(found.ratings)["name"])
    alike = finding("answer.typed" if typed else "answer.alike", place=place, found=found)
    points = (
        finding("answer.points", delta=delta, own=found.own_points(delta)) if found.stretched and not typed else None
    )
    row = dict(tastes.set_index("pair").loc[found.pair].items())
    taste = None if typed else row.get("taste")
    values = {"delta": delta, "target": target, "alike": alike, "points": points, "best": best}
    if taste is None or pd.isna(taste) or taste == 0:
        key, design = "answer.no_liking" if taste == 0 else "answer.untold", best
    elif pd.isna(row["segments"]):
        return str(finding("answer.nothing", **values))
    else:
        key, design = "answer.liking", row
    work = _work(found, design, hourly_pay, currency)
    return str(finding(key, **values, plan=planning.describe(design, delta=delta), work=work))


def _work(found: Pilot, design: Row, hourly_pay: float, currency: str) -> Finding | None:
    """Say the hours of a design, and their price; nothing where the pilot has no times."""
    if not found.seconds:
        return None
    hours = design["judgements"] * found.seconds / 3600
    key, money = "answer.paid" if hourly_pay > 0 else "answer.work", hours * hourly_pay
    return finding(key, found=found, hours=hours, money=money, currency=currency)


def by_chance(designs: pd.DataFrame, variances: Row, best: Row, *, delta: float, most_segments: int) -> str:
    """Say what raw scores take where chance decides who scores which system: the result of ``planning.compare``.

    best: the design that the headline tells, beside which this stands.
    """
    if pd.isna(variances["annotator"]):
        return str(finding("answer.strictness_unknown"))
    raw = designs[designs["delta"].eq(delta) & designs["arrangement"].eq("mixed") & designs["calibration"].eq(0)]
    takes = finding("answer.raw", takes=raw["judgements"].iloc[0]) if len(raw) else None
    takes = takes or finding("answer.raw_beyond", segments=most_segments)
    return str(finding("answer.by_chance", takes=takes, best=best))


def whose(found: Correlation, *, typed: float, place: str) -> str:
    """Name the metric whose correlation a plan counts on. typed: one typed in, 0: none. place: where it was found."""
    key = "typed" if typed else "elsewhere" if place else "here"
    return str(finding(f"metric.{key}", r=typed, found=found, place=place))


def with_metric(saving: pd.DataFrame, whose: str) -> str:
    """Say how many judgements a metric saves, and what its correlation within systems would promise."""
    rows = saving.set_index("metric")
    own, alone = rows.loc["on differences"], rows.loc[planning.ALONE]
    if pd.isna(own["share"]):
        return str(finding("metric.nobody", whose=whose, own=own))
    promise = None
    if "within systems" in rows.index and pd.notna(rows.loc["within systems", "share"]):
        promise = finding("metric.promise", within=rows.loc["within systems"])
    return str(finding("metric.saves", whose=whose, own=own, alone=alone, promise=promise))
