"""How many more judgements, by how many more people: the plan in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from evalkit.campaign.plan import ANY, CAUTIOUS, MOST, NOT_TOLD, OBSERVED, POWER, Plan
from evalkit.campaign.sentences.say import say
from evalkit.human import planning
from evalkit.stats.terms import join_names


def about(number: float) -> str:
    """Say a large number as a plan may: two digits, for its variances are estimates; a small one as it is.

    >>> about(34272), about(1249), about(96), about(0.81)
    ('about 34,000', 'about 1,200', '96', '0.8')
    """
    if number < 100:
        return f"{number:.0f}" if float(number).is_integer() or number >= 10 else f"{number:.1f}"
    step = 10 ** (len(str(int(number))) - 2)
    return f"about {round(number / step) * step:,.0f}"


def goal(row: Mapping[Hashable, Any], plan: Plan, *, segments: bool = True) -> str:
    """Say what a row of the plan asks for beyond what there is: judgements, people, segments, hours and money."""
    judgements, people = int(row["more_judgements"]), int(row["more_people"])
    if not judgements:
        return "nothing more"
    whom = f"{about(people)} more {'person' if people == 1 else 'people'}" if people else "the same people"
    text = f"{about(judgements)} more judgements, by {whom}"
    text += f" who give {row['judgements_each']} each" if people and plan.basis.counts_people else ""
    text += f", in {about(row['more_segments'])} more segments" if segments else ""
    hours = row.get("more_hours")
    if hours is not None and pd.notna(hours):
        price = f", {about(hours * plan.hourly_pay)} {plan.currency}".rstrip() if plan.hourly_pay > 0 else ""
        text += f" ({about(hours)} hours of work{price})"
    return text


def step(plan: Plan) -> str:
    """Say in a sentence what distinguishing the two best systems takes, for a list of what to do next.

    Where even the lower end of the difference's 50 % interval is none, to treat them as equal comes first.
    """
    (first, second), row = plan.best, plan.table.iloc[0].to_dict()
    if plan.needed is None:
        return f"Treat {first} and {second} as equally good: to distinguish them takes {beyond(plan)}."
    if not plan.more_judgements:
        return ""
    more = goal(row, plan, segments=False)
    if plan.row(plan.best, CAUTIOUS) is None:
        return f"Treat {first} and {second} as equally good, or collect {more}, to distinguish them."
    return f"To tell {first} from {second}, collect {more}, or treat them as equally good."


def beyond(plan: Plan) -> str:
    """Say what a difference takes that is too small for any plan."""
    people = f" or {planning.MOST_PEOPLE:,} people" if plan.basis.over_annotators else ""
    return f"more than {MOST:,} segments{people}"


@say.register
def plan(found: Plan) -> list[str]:
    sentences = [*_rivals(found), *_worthwhile(found), _people(found), _assumed(found)]
    if found.by_z:
        sentences.append(
            "Systems are ranked by z-scores here, so points are z-scores times a usual standard deviation."
        )
    return sentences


def _assumed(found: Plan) -> str:
    basis = found.basis
    blocks = f"in documents of {basis.block} segments" if basis.block > 1 else "segments apart from each other"
    measured = "the two systems" if basis.systems == 2 else f"the best {basis.systems} systems"
    return (
        f"The plan asks for a chance of {POWER:.0%} to find a true difference between two systems at p below 0.05 "
        f"(two-sided, over {'annotators' if basis.over_annotators else 'documents'}; ranking many systems takes more). "
        "New judgements are taken to be made in the best way: whoever judges a segment judges it by both systems, each "
        f"translation once, {blocks}. What scatters was measured on {measured}."
    )


def _people(found: Plan) -> str:
    basis = found.basis
    if basis.counts_people:
        return (
            f"People like systems differently here (a variance of liking of {basis.variances['taste']:.3g} squared "
            "points). More segments do not average out one person's favourites, only more people do, so the plan is in "
            "people, and what each of them judges."
        )
    each = f"nobody is asked for more than {basis.capacity:,} judgements"
    if basis.liking == NOT_TOLD:
        return (
            "Whether people like systems differently cannot be told here, because hardly anybody judged several "
            f"documents of one system. The plan can only count segments ({each}); engage more people than it names."
        )
    return f"No sign was found that people like systems differently, so the same people may give more; {each}."


def _rivals(found: Plan) -> list[str]:
    """Say what it takes to tell the first system from the next, and from each that it is not distinguished from."""
    rows = [found.row(rivals, OBSERVED) for rivals in found.rivals]
    hopeless = [rivals[1] for rivals, row in zip(found.rivals, rows, strict=True) if _too_small(row)]
    sentences = [
        _rival(found, rivals, row, error)
        for rivals, row, error in zip(found.rivals, rows, found.errors, strict=True)
        if row and not _too_small(row)
    ]
    if hopeless:
        gaps = [abs(gap) for rivals, gap in zip(found.rivals, found.gaps, strict=True) if rivals[1] in hopeless]
        apart = f"{min(gaps):.2f}" + (f" to {max(gaps):.2f}" if len(gaps) > 1 else "")
        sentences.append(
            f"{found.best[0]} and {join_names(hopeless)} are {apart} points apart. To find so small a difference takes "
            f"{beyond(found)}: treat them as equally good."
        )
    if not found.apart:
        equal = "" if len(hopeless) == len(rows) else "Or treat them as equally good. "
        sentences.append(
            f"{equal}Observed differences tend to be too large, and one that is hardly larger "
            "than its standard error may well be chance: a plan for it disappoints. Better say first which difference "
            "would matter to you, and plan for that."
        )
    return sentences


def _too_small(row: Mapping[Hashable, Any] | None) -> bool:
    return row is None or pd.isna(row["segments_needed"])


def _rival(found: Plan, rivals: tuple[str, str], row: Mapping[Hashable, Any], error: float) -> str:
    """Say what it takes to tell the first system from one other."""
    first, second = rivals
    apart = f"{row['points']:.2f} points apart, standard error {error:.2f}"
    cautious = found.row(rivals, CAUTIOUS)
    if not row["more_judgements"]:
        text = f"{first} and {second} are {apart}. What there is, {row['segments_now']:,} segments, is enough to find "
        text += "a difference of this size."
        return text if found.apart else f"{text} It was not found all the same, so the true one may be smaller."
    text = f"To tell {first} from {second} ({apart}): {goal(row, found)}, if they truly differ by as much"
    if cautious is None:
        return f"{text}. That may be chance alone: the lower end of its 50 % interval is no difference at all."
    lower = beyond(found) if _too_small(cautious) else goal(cautious, found, segments=False)
    return f"{text}; if by {cautious['points']:.2f}, the lower end of its 50 % interval, {lower}."


def _worthwhile(found: Plan) -> list[str]:
    """Say what differences of fixed sizes take, between any two systems that were judged as the first two were."""
    rows = found.table[found.table["compares"].eq(ANY)].to_dict("records")
    parts = [
        f"{row['points']:.3g} point{'s' * (row['points'] != 1)} ({row['difference']}) take{'s' * (row['points'] == 1)} "
        + (beyond(found) if _too_small(row) else goal(row, found))
        for row in rows
    ]
    return [f"Between any two systems judged as these were, {'; '.join(parts)}."] if parts else []
