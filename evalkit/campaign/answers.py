"""The first page: which system is better, can I trust it, what should I do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import DataError
from evalkit.campaign.agreed import agreed
from evalkit.campaign.calibrated import calibrated
from evalkit.campaign.checks import APART, LOOK, PROBLEM, UNKNOWN, checks, tally, worst
from evalkit.campaign.collected import collected
from evalkit.campaign.contexts import contexts
from evalkit.campaign.cost import cost
from evalkit.campaign.errors import errors
from evalkit.campaign.normalised import normalised
from evalkit.campaign.opened import Campaign
from evalkit.campaign.people import controlled, profiles, screened
from evalkit.campaign.planned import MOST, planned
from evalkit.campaign.ranked import SCORES, other_pairs, ranked
from evalkit.campaign.sections import Section, Table
from evalkit.stats.terms import join_names, pluralize

#: Who would be looked at; rules that do not fit a scale are set aside, with the reason.
RULES = ("unique_scores < 6", "sd < 5", "median_abs_diff > 20", "with_others < 0.1", "seconds < 2", "qc_p >= 0.05")


def analysed(
    campaign: Campaign,
    *,
    score: str = "auto",
    rules: Sequence[str] = RULES,
    hourly_pay: float = 0.0,
    currency: str = "",
    resamples: int = 500,
    seed: int = 7,
) -> dict[str, Section]:
    """Make all sections of the report: name -> section.

    score: "raw", "z" or "auto" (see ``ranked``). Raises DataError for a wrong option; whatever the data lack, a
    section says so instead.
    """
    if score not in SCORES:
        raise DataError(f"score={score!r}: choose one of {', '.join(SCORES)}.")
    if resamples < 20:
        raise DataError(f"resamples={resamples}: an interval needs 20 resamples or more.")
    drawn: dict[str, Any] = {"resamples": resamples, "seed": seed}
    parts = [
        collected(campaign), agreed(campaign, **drawn), profiles(campaign), screened(campaign, rules=rules),
        controlled(campaign), calibrated(campaign, **drawn), normalised(campaign, **drawn),
        ranked(campaign, score=score, **drawn), other_pairs(campaign, score=score), contexts(campaign, **drawn),
        errors(campaign), cost(campaign, hourly_pay=hourly_pay, currency=currency),
    ]  # fmt: skip
    found = {part.name: part for part in parts}
    facts = found["ranking"].facts
    best = facts["systems"][:2] if facts.get("top") else ()
    found["planning"] = planned(campaign, column=facts.get("score", "score"), names=best)
    return found | answers(campaign, found, score=score)


def answers(campaign: Campaign, found: Mapping[str, Section], *, score: str) -> dict[str, Section]:
    """Answer the three questions of whoever organises a campaign: sections ``picture``, ``answers`` and ``next``.

    facts of ``answers``: better, figures (its last sentence), trust, next (steps), headline.
    """
    table = checks(campaign, found, score=score)
    better, trust = which(campaign, found), trusted(table)
    todo = steps(campaign, found, table)
    short = better.partition(". In figures")[0].rstrip(".")
    why = trust.partition(". Of ")[0]
    headline = f"{short}. Can it be trusted? {why}. Next: {todo[0].partition(' ')[2]}"
    figures = better.partition("In figures, ")[2]
    figures = f"In figures, {figures}" if figures else ""
    facts = {"better": better, "figures": figures, "trust": trust, "next": todo, "headline": headline}
    shown = table.assign(to_do=table["to_do"].replace("", "nothing"))
    ranked_by, drawn = found["ranking"].facts, None
    if "systems" in ranked_by:
        ranks = found["ranking"].frame("rankings")
        ranks = ranks.rename(columns={"z" if "z" in ranks else "mean": "score"})
        by_z = ranked_by["score"] == "normalized"
        unit = "mean z-score (standard deviations of an annotator)" if by_z else "mean score (points of the scale)"
        drawn = (ranks, ranked_by["top"], f"{unit}, 95 % interval" if "low" in ranks else unit)
    alt = f"The score of each system with its interval, the best at the top. {short}."
    caption = f"{campaign.pair}: the systems, the best at the top"
    tables = (Table("checks", shown, "Checks: can this result be trusted?"),)
    told = (figures,) if figures else ()
    parts = {"drawn": drawn, "alt": alt, "caption": caption}
    return {
        "picture": Section("picture", told, collect="" if drawn else "there are no systems to draw.", **parts),
        "answers": Section("answers", (trust,), tables, "", facts),
        "next": Section("next", tuple(todo)),
    }


def which(campaign: Campaign, found: Mapping[str, Section]) -> str:
    """Say which system is better, in words that need no statistics."""
    facts = found["ranking"].facts
    scale = f"on the scale from {campaign.scale[0]:g} to {campaign.scale[1]:g}"
    if "systems" not in facts:
        return f"{campaign.pair}: no outputs of systems were judged, so there is nothing to compare."
    means = facts["means"]
    if not facts["top"]:
        name = facts["systems"][0]
        return (
            f"{campaign.pair}: only {name} was judged, with a mean score of {means[name]:.2f} {scale}. Which system is "
            "better can be said when a second one is judged on the same segments."
        )
    top, *level = facts["top"]
    if len(facts["first"]) == len(facts["systems"]):
        return f"{campaign.pair}: all systems have the same mean score, {means[top]:.2f} {scale}, so none is better."
    second = facts["second"]
    told = f"mean scores are {means[top]:.2f} for {top} and {means[second]:.2f} for {second}, the next, {scale}"
    if facts["score"] == "normalized":
        told += "; the order is by z-scores, which take out how strict each annotator is"
    if not level:
        others = len(facts["systems"]) - 1
        whom = f"{second}, the only other system" if others == 1 else f"each of the {others} other systems"
        return f"{campaign.pair}: {top} is better than {whom}. In figures, {told}."
    if len(level) == len(facts["systems"]) - 1:
        whom = f"{top} and {second} cannot be told apart" if len(level) == 1 else "no system can be called the best"
        has = "have" if len(facts["first"]) > 1 else "has"
        behind = f" {join_names(facts['first'])} {has} the highest score, but none of the others is surely worse."
        behind = "" if len(level) == 1 else behind
        return f"{campaign.pair}: {whom}.{behind} In figures, {told}."
    return (
        f"{campaign.pair}: {top} has the highest score, but cannot be told apart from {join_names(level)}. "
        f"It is better than {join_names(facts['beaten'])}. In figures, {told}."
    )


def trusted(table) -> str:
    """Say whether to trust the result: yes, with care, or not yet, with the checks that decide it."""
    told = f"Of {pluralize(len(table), 'check')}, {tally(table)}."
    for result, word in ((PROBLEM, "Not yet"), (LOOK, "With care"), (UNKNOWN, "With care")):
        names = table[table["result"].eq(result)]["check"].tolist()
        if names:
            kind = {PROBLEM: "a problem with", LOOK: "look at", UNKNOWN: "it is not known whether"}[result]
            quoted = "; ".join(f"“{name}”" for name in names[:3])
            return f"{word}: {kind} {quoted}{' and more' if len(names) > 3 else ''}. {told}"
    return f"Yes, for these texts and these annotators: no check found anything. {told}"


def steps(campaign: Campaign, found: Mapping[str, Section], table) -> list[str]:
    """List what to do next, the most urgent first, at most five things."""
    urgent, todo = worst(table, PROBLEM), worst(table, LOOK, UNKNOWN)
    facts = found["planning"].facts
    several = len(found["ranking"].facts.get("top") or ()) > 1
    plan = ""
    if several and facts.get("hopeless"):
        plan = f"Treat the first two systems as equally good: to tell them apart takes more than {MOST:,} segments."
    elif several and facts.get("more"):
        more = pluralize(facts["more"], "more judgement")
        plan = f"Treat the first two systems as equally good, or plan for {more} of them."
    todo = [*urgent, *([plan, *(what for what in todo if what != APART)] if plan else todo)]
    if not todo:
        todo = ["Publish scores, intervals and this report's signature."]
    return [f"{number}. {what}" for number, what in enumerate(dict.fromkeys(todo[:5]), start=1)]
