"""What a pilot says of the campaign to come: how it was read, and the plan, people first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalkit.campaign.few import Correlation
from evalkit.campaign.pilot import LAYOUTS, Pilot
from evalkit.campaign.sentences.plan import about
from evalkit.campaign.sentences.say import say
from evalkit.data.provenance import source_of
from evalkit.human import planning
from evalkit.stats.terms import join_names, pluralize

#: A design of ``planning.plan``, as a row.
Design = Mapping[str, Any]
#: What kinds of items that no plan counts are called.
_KINDS = {
    "degraded": "degraded item",
    "reference": "reference",
    "repeat": "second showing",
    "calibration": "calibration item",
}


@say.register
def pilot(found: Pilot) -> list[str]:
    part = found.part
    kind = "outputs of systems" if part["item_type"].eq("system").all() else "calibration items"
    people = "people whom nobody named" if found.layout == "unnamed" else pluralize(_people(found), "annotator")
    text = (
        f"The plan rests on {pluralize(len(part), 'judgement')} of {kind}, {found.pair}: "
        f"{pluralize(part['system'].nunique(), 'system')}, {people}"
    )
    text += f", by {found.criterion}, one of {len(found.criteria)} criteria" if len(found.criteria) > 1 else ""
    apart = [pluralize(number, _KINDS.get(kind, kind)) for kind, number in found.apart.items()]
    text += f". Kept out: {join_names(apart)}." if apart else "."
    text += f" {found.orientation[0].upper()}{found.orientation[1:]}." if found.orientation.startswith("lower") else ""
    how = "taken" if found.chosen else "set by you"
    sentences = [
        f"{text} Layout {how}: {found.layout}, where {LAYOUTS[found.layout]}. A judgement finds its document "
        f"{pluralize(found.block, 'segment')} long; the parameter block says how long those of the plan are."
    ]
    if found.stretched:
        low, high = found.scale
        ends = f"from {low:g} to {high:g}" + ("" if found.known_scale else ", the lowest and the highest score given")
        sentences.append(
            f"Points here are of a scale from 0 to 100, onto which the pilot's was stretched ({ends}): 1 point is "
            f"{found.own_points(1):.3g} of its own."
            + ("" if found.known_scale else " If it has other ends, tell them by -p scale=, for all depends on them.")
        )
    if found.unusable:
        sentences.append(f"Language pairs that cannot be planned with: {'; '.join(found.unusable.values())}")
    return sentences


def _people(found: Pilot) -> int:
    return int(found.part["annotator"].nunique())


def answer(
    found: Pilot,
    best: Design,
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
    alike = "with the variances typed in" if typed else f"if people judge as they did in {_place(found)}, {found.pair}"
    chance = f"The chance to find the difference is then {target:.0%}, {alike}."
    if found.stretched and not typed:
        chance += (
            f" Points are hundredths of the pilot's scale: {delta:g} are {found.own_points(delta):.3g} of its own."
        )
    row = dict(tastes.set_index("pair").loc[found.pair].items())
    taste = None if typed else row.get("taste")
    if taste is None or pd.isna(taste) or taste == 0:
        why = (
            "No sign was found that people like systems differently."
            if taste == 0
            else "Whether people like systems differently cannot be told, so engage more of them than these."
        )
        work = _work(found, best, hourly_pay, currency)
        return f"{planning.describe(best, delta=delta)}{work} {chance} {why}"
    fewer = f"{best['annotators']} people and {best['judgements']:,} judgements would do if they did not"
    if pd.isna(row["segments"]):
        return (
            f"No campaign within these limits finds two systems {delta:g} points apart with a chance of {target:.0%}, "
            f"{alike}: they like systems differently, which only many people average out. Plan for a larger difference "
            f"(delta). {fewer[0].upper()}{fewer[1:]}."
        )
    work = _work(found, row, hourly_pay, currency)
    why = f"So many people are needed because they like systems differently; {fewer}."
    return f"{planning.describe(row, delta=delta)}{work} {chance} {why}"


def by_chance(
    designs: pd.DataFrame, variances: Mapping[str, float], best: Mapping[str, Any], *, delta: float, most_segments: int
) -> str:
    """Say what raw scores take where chance decides who scores which system: the result of ``planning.compare``.

    best: the design that the headline tells, beside which this stands.
    """
    if pd.isna(variances["annotator"]):
        return (
            "an unknown number of judgements: in the pilot nobody judged what others judged, so it cannot tell how "
            "strict people are"
        )
    raw = designs[designs["delta"].eq(delta) & designs["arrangement"].eq("mixed") & designs["calibration"].eq(0)]
    takes = f"{raw['judgements'].iloc[0]:,}" if len(raw) else f"more than all {most_segments:,} segments give"
    return f"{takes} instead of {best['judgements']:,} judgements, if nobody has favourites"


def plan_steps(found: Pilot, plain: pd.DataFrame, liking: pd.DataFrame) -> list[str]:
    """Say whom to plan with: the language pairs of the pilot, where it has several, and many people.

    plain, liking: the cheapest designs of every language pair (see ``planning.by_pair``), if nobody likes one system
    better than others do, and as people do.
    """
    many = ["Engage more people rather than fewer: a few people's favourites do not average out."]
    if len(plain) < 2:
        return many
    takes = planning.span(liking, "annotators") if found.tells_liking else planning.span(plain, "segments")
    return [
        "Plan with the language pair that is most like yours, or with the most demanding. Those of "
        f"{source_of(found.ratings)['name']} take {takes}.",
        *many,
    ]


def _work(found: Pilot, design: Design, hourly_pay: float, currency: str) -> str:
    """Say the hours of a design, and their price; nothing where the pilot has no times."""
    if not found.seconds:
        return ""
    hours = design["judgements"] * found.seconds / 3600
    money = f", {about(hours * hourly_pay)} {currency}".rstrip() if hourly_pay > 0 else ""
    return f" At {found.seconds:.0f} seconds a judgement that is {about(hours)} hours of work{money}."


def _place(found: Pilot) -> str:
    return "WMT22's calibration HITs" if found.example else str(source_of(found.ratings)["name"])


def whose(found: Correlation, *, typed: float, place: str) -> str:
    """Name the metric whose correlation a plan counts on. typed: one typed in, 0: none. place: where it was found."""
    if typed:
        return f"a metric whose correlation on differences is {typed:.2f}"
    return f"{found.metric} ({place})" if place else f"{found.metric}, as measured on this pilot,"


def metric_step(saving: pd.DataFrame, whose: str) -> str:
    """Say in one step how many judgements a metric saves: the result of ``planning.with_metric``."""
    rows = saving.set_index("metric")
    own = rows.loc["on differences"]
    if pd.isna(own["share"]):
        return (
            f"With {whose} beside people, the metric saves at most {own['at_most']:.0%} of the judgements on average."
        )
    instead = f", not {rows.loc['within systems', 'share']:.0%}" if "within systems" in rows.index else ""
    return (
        f"Count on a metric for little: if nobody has favourites, with {whose} beside people you need "
        f"{own['share']:.0%} fewer judgements{instead}."
    )


def with_metric(saving: pd.DataFrame, whose: str) -> str:
    """Say how many judgements a metric saves, and what its correlation within systems would promise."""
    rows = saving.set_index("metric")
    own, alone = rows.loc["on differences"], rows.loc[planning.ALONE]
    if pd.isna(own["share"]):
        return (
            f"People alone find no such difference within these limits. {whose[0].upper()}{whose[1:]} saves at most "
            f"{own['at_most']:.0%} of the judgements on average."
        )
    text = (
        f"With {whose} you need {own['share']:.0%} fewer judgements: {own['judgements']:,} instead of "
        f"{alone['judgements']:,}, if nobody has favourites. On differences of two systems its correlation with people "
        f"is {own['r']:.2f}, so it can save {own['at_most']:.0%} at most, averaged over pairs of systems, and less "
        "where much of the test set is judged."
    )
    if "within systems" not in rows.index or pd.isna(rows.loc["within systems", "share"]):
        return text
    within = rows.loc["within systems"]
    return (
        f"{text} Its correlation over the segments of one system, {within['r']:.2f}, would promise "
        f"{within['share']:.0%}, which no comparison of systems gets."
    )
