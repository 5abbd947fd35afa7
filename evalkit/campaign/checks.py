"""Whether a result can be trusted: a list of checks, each with a worded verdict, what was found and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from evalkit.campaign.contexts import MARGIN, PEOPLE
from evalkit.campaign.opened import Campaign, shared_segments
from evalkit.campaign.people import FEWEST_SPOILT, SURE
from evalkit.campaign.ranked import FEW, UNEVEN, association, cell_size, evenly, one_system_only, top_under
from evalkit.campaign.sections import Section
from evalkit.stats.terms import join_names, pluralize

#: Verdicts from best to worst, each a sign and a word, so that neither colour nor sign alone carries it.
FINE, LOOK, PROBLEM, UNKNOWN = "✓ fine", "! look", "✗ problem", "? not known"
#: The ways to treat scores that a first system has to survive; others only ask for a look.
USUAL = ("raw scores", "z per annotator", "z from calibration items")
#: What to do where the first system does not stand apart; a plan, where there is one, says it with numbers.
APART = "Call the first systems equally good, or collect more judgements of them (see the plan)."
#: Fewest segments a system, and fewest that a look can excuse.
SEGMENTS = (100, 30)
#: Fewest items shown twice that tell whether annotators are steady.
REPEATS = 10
#: Fewest judgements of a system by an annotator, on average, for an even spread to be told from chance (Cochran 1954).
CELL = 5
Row = tuple[str, str, str, str]  # check, result, found, what to do


def checks(campaign: Campaign, found: Mapping[str, Section], *, score: str) -> pd.DataFrame:
    """Run all checks that apply: check, result, found, to_do (empty where nothing is to be done), the worst first.

    found: the sections by name. The limits between verdicts are stated in the texts of ``found``; they are rules of
    thumb of this package, not laws.
    """
    rows = [check(campaign, found) for check in _CHECKS]
    rows.insert(3, _screening(campaign, found["screening"], score))
    table = pd.DataFrame([row for row in rows if row], columns=["check", "result", "found", "to_do"])
    order = {result: place for place, result in enumerate((PROBLEM, LOOK, UNKNOWN, FINE))}
    return table.sort_values("result", key=lambda column: column.map(order), kind="stable", ignore_index=True)


def graded(value: float, fine: float, look: float, *, low_is_good: bool = True) -> str:
    """Grade a number by two limits, which belong to the better side.

    >>> graded(0.1, 0.1, 0.2), graded(0.15, 0.1, 0.2), graded(0.3, 0.1, 0.2), graded(0.9, 0.8, 0.5, low_is_good=False)
    ('✓ fine', '! look', '✗ problem', '✓ fine')
    """
    value, fine, look = (side if low_is_good else -side for side in (value, fine, look))
    return FINE if value <= fine else LOOK if value <= look else PROBLEM


def _apart(campaign: Campaign, found: Mapping[str, Section]) -> Row | None:
    facts = found["ranking"].facts
    if not facts.get("top"):
        told = f"outputs of {pluralize(len(campaign.systems), 'system')} were judged"
        return "There are systems to compare", PROBLEM, told, "Judge a second system on the same segments."
    name, best = "The first system stands apart", facts.get("best")
    if campaign.judged["score"].nunique() == 1:
        told = f"every score is {campaign.judged['score'].iloc[0]:g}"
        return (
            name,
            PROBLEM,
            told,
            "Look whether the right column was read; if so, choose a finer scale or harder texts.",
        )
    often = "" if best is None or len(facts["first"]) > 1 else f"; first in {best:.0%} of resamples"
    if len(facts["top"]) == 1:
        whom = join_names(facts["beaten"]) if len(facts["beaten"]) == 1 else "each other system"
        return name, FINE, f"{facts['top'][0]} is better than {whom} (corrected tests){often}", ""
    told = f"{facts['top'][0]} cannot be told apart from {join_names(facts['top'][1:])}{often}"
    return name, LOOK, told, APART


def _segments(campaign: Campaign, found: Mapping[str, Section]) -> Row | None:
    if len(campaign.systems) < 2:
        return None
    share = shared_segments(campaign)
    told = f"two systems share {share:.0%} of their segments at the least (fine from 90 %, look from 50 %)"
    todo = "Judge all systems on the same segments; until then differences of texts count as differences of systems."
    result = graded(share, 0.9, 0.5, low_is_good=False)
    return "All systems were judged on the same segments", result, told, "" if result == FINE else todo


def _enough(campaign: Campaign, found: Mapping[str, Section]) -> Row | None:
    if campaign.judged.empty:
        return None
    segments = campaign.judged.drop_duplicates(["system", *campaign.segment]).groupby("system").size()
    fewest = int(segments.min())
    whose = " a system" if segments.nunique() == 1 else f" for {segments.idxmin()}, the fewest"
    told = f"{pluralize(fewest, 'segment')}{whose} (fine from {SEGMENTS[0]}, look from {SEGMENTS[1]})"
    result = graded(fewest, *SEGMENTS, low_is_good=False)
    todo = "Judge more segments: with so few, another choice of texts could turn the order round."
    return "Enough segments were judged", result, told, "" if result == FINE else todo


def _people(campaign: Campaign, found: Mapping[str, Section]) -> Row:
    people = campaign.judged["annotator"].nunique()
    told = f"{pluralize(people, 'annotator')} (fine from 3, look at 2)"
    todo = "Add annotators: with one or two, their taste cannot be told from quality."
    result = graded(people, 3, 2, low_is_good=False)
    return "Several annotators took part", result, told, "" if result == FINE else todo


def _screening(campaign: Campaign, screening: Section, score: str) -> Row:
    name = "The result does not hang on odd annotators"
    if "proposed" not in screening.facts:
        return name, UNKNOWN, "no rule could be applied", "Write rules that fit the scale, such as 'sd < 5'."
    people, everyone = screening.facts["proposed"], screening.facts["annotators"]
    if not people:
        applied = len(screening.facts["rules"]) - len(screening.facts["unknown"])
        if screening.facts["looked_at"] < everyone / 2:
            told = f"a rule could be applied to {screening.facts['looked_at']} of {pluralize(everyone, 'annotator')}"
            return name, UNKNOWN, told, "Record what the rules need; see the annotators below."
        told = f"{pluralize(applied, 'rule')} that could be applied {'finds' if applied == 1 else 'find'} nobody "
        told += "to look at among "
        return name, FINE, f"{told}{pluralize(everyone, 'annotator')}", ""
    rows = campaign.part[~campaign.part["annotator"].isin(people)]
    told = f"the rules propose to look at {len(people)} of {everyone}"
    todo = f"Look at the profiles of {join_names(people)}, and talk to them before you leave anybody out."
    before = top_under(campaign, campaign.part, score=score)
    after = top_under(campaign, rows, score=score)
    if len(before) > 1 and set(after) == set(before):
        stays = after[0] == before[0]
        told += f"; without them {after[0]} comes first, " + ("as with them" if stays else f"with them {before[0]}")
        return name, FINE if stays and len(people) <= 0.1 * everyone else LOOK, told, todo
    return name, LOOK, told + "; without them there is nothing left to compare", todo


def _agreement(campaign: Campaign, found: Mapping[str, Section]) -> Row:
    name, facts = "Annotators agree beyond chance", found["agreement"].facts
    if facts.get("estimate") is None:
        todo = "Give 100 items or more, drawn at random over all systems, to a second annotator."
        why = facts.get("why", "too few items were judged by two annotators")
        return name, UNKNOWN, why, todo if "two annotators" in why else "Look at the scores of each annotator below."
    if not np.isfinite([facts["estimate"], facts["low"], facts["high"]]).all():
        return name, UNKNOWN, "the data allow no interval of the agreement", "Let two annotators judge more items."
    told = f"Krippendorff's alpha {facts['estimate']:.2f}, interval {facts['low']:.2f} to {facts['high']:.2f}"
    told += " (problem where the interval reaches 0, look below 0.40)"
    todo = (
        "Look at items with far scores together with the annotators, sharpen the instructions, judge some items anew."
    )
    reaches = not facts["low"] > 0
    result = PROBLEM if reaches else FINE if facts["estimate"] >= 0.4 else LOOK
    return name, result, told, "" if result == FINE else todo


def _steady(campaign: Campaign, found: Mapping[str, Section]) -> Row:
    name, again = "Annotators are steady with themselves", found["quality_control"].facts.get("again")
    if again is None:
        return name, UNKNOWN, "no item was shown twice", "Show about ten items an annotator a second time ('repeat')."
    repeated = found["quality_control"].facts["repeated"]
    if repeated < REPEATS:
        told = f"{pluralize(repeated, 'item')} shown twice (from {REPEATS} on, they tell)"
        return name, UNKNOWN, told, "Show about ten items an annotator a second time ('repeat')."
    told = f"second scores lie {again:.0f} points of 100 from the first in the median (fine to 10, look to 20)"
    result = graded(again, 10, 20)
    return name, result, told, "" if result == FINE else "Train annotators with examples for the steps of the scale."


def _attention(campaign: Campaign, found: Mapping[str, Section]) -> Row:
    name, facts = "Annotators notice spoilt translations", found["quality_control"].facts
    if not facts.get("tested"):
        return name, UNKNOWN, "no spoilt items beside their originals", "Spoil about one item in ten on purpose."
    failed, tested, everyone = facts["failed"], facts["tested"], campaign.part["annotator"].nunique()
    told = f"{len(failed)} of {tested} fail WMT's test (fine at none, look up to 10 %)"
    todo = f"Look at {join_names(failed)}, or leave their judgements out." if failed else ""
    result = graded(len(failed) / tested, 0, 0.1)
    if result == PROBLEM:
        return name, result, told, todo
    if facts["caliper"].p < SURE:
        told = f"{len(failed)} of {tested} fail WMT's test, but those who failed seem to have been removed before: "
        told += f"{facts['caliper'].passed} pass narrowly and {facts['caliper'].failed} fail as narrowly"
        return name, UNKNOWN, told, todo or "Judge attention by the data before anybody was removed."
    if tested - facts["open"] < everyone / 2:
        told = f"the test speaks about {tested - facts['open']} of {pluralize(everyone, 'annotator')}"
        return name, UNKNOWN, told, f"Give every annotator {FEWEST_SPOILT} spoilt items or more beside their originals."
    return name, result, told, todo


def _favoured(campaign: Campaign, found: Mapping[str, Section]) -> Row | None:
    if len(campaign.systems) < 2 or campaign.judged["annotator"].nunique() < 2:
        return None
    name, value = "Strict annotators favour no system", association(campaign.judged)
    told = f"Cramér's V of annotators and systems is {value:.2f} (fine below {UNEVEN})"
    if value < UNEVEN and (evenly(campaign.judged) or cell_size(campaign.judged) >= CELL):
        return name, FINE, told, ""
    if value < UNEVEN:
        told += (
            f", but an annotator judged a system {cell_size(campaign.judged):.1f} times on average, which is too few "
        )
        return name, UNKNOWN, f"{told}to tell (from {CELL} on)", "Give systems to annotators evenly."
    single = one_system_only(campaign.judged)
    if single <= FEW:
        if found["ranking"].facts.get("score") == "normalized":
            return (
                name,
                LOOK,
                f"{told}; scores are therefore compared as z-scores",
                "Give systems to annotators evenly.",
            )
        return name, LOOK, told, "Set score=z, and next time give systems to annotators evenly."
    told += f"; {single:.0%} of judgements are by annotators of one system only"
    return name, PROBLEM, told, "Let every annotator judge all systems, or give all of them the same calibration items."


def _normalising(campaign: Campaign, found: Mapping[str, Section]) -> Row | None:
    tops = found["normalisation"].facts.get("tops")
    if not tops:
        return None
    name, level = "The first system stays first however scores are treated", found["ranking"].facts.get("top", [])
    first = {system for top in tops.values() for system in top}
    usual = {system for way, top in tops.items() if way in USUAL for system in top}
    if len(first) == 1:
        return name, FINE, f"{join_names(sorted(first))} is first in all {len(tops)} treatments", ""
    told = f"{join_names(sorted(first))} come first by some treatment"
    todo = "Fix the treatment before the next campaign, publish raw scores too, and call these systems equally good."
    return name, LOOK if usual <= set(level) else PROBLEM, told, todo


def _room(campaign: Campaign, found: Mapping[str, Section]) -> Row | None:
    if campaign.judged.empty or not campaign.known_scale:
        return None
    top = campaign.scale[1]
    share = float((campaign.judged["score"] >= top - campaign.width / 10).mean())
    told = f"{share:.0%} of scores lie in the highest tenth of the scale (look from 60 % on)"
    todo = "Choose harder texts, or a method that tells good translations apart (marked errors, direct comparison)."
    fine = share < 0.6
    return "The scale leaves room at the top", FINE if fine else LOOK, told, "" if fine else todo


def _twice(campaign: Campaign, found: Mapping[str, Section]) -> Row:
    name, twice = "Nothing was counted twice by accident", found["collected"].facts.get("duplicates", 0)
    if not twice:
        return name, FINE, "no annotator judged an item twice, but for marked repeats", ""
    return (
        name,
        LOOK,
        pluralize(twice, "unmarked second judgement"),
        "Mark second showings as 'repeat', or drop copies.",
    )


def _neighbours(campaign: Campaign, found: Mapping[str, Section]) -> Row | None:
    facts, name = found["context"].facts, "Spoilt neighbours did not change scores"
    if facts.get("effect") is None:
        return None
    todo = "Rank without repeats from spoilt documents, and next time spoil whole documents."
    held = facts["equivalence"]
    if held is None:
        told = f"fewer than {PEOPLE} annotators judged such documents, so the size of the effect is not known"
        return name, UNKNOWN, told, "Let more annotators judge documents with spoilt segments."
    told = f"behind them repeats lose {held['estimate']:+.1f} points of 100 more, interval {held['low']:+.1f} to "
    told += f"{held['high']:+.1f} (fine where surely within ±{MARGIN:g}, look where surely not zero)"
    if held["verdict"] in ("equivalent", "both"):
        return name, FINE, told, ""
    if held["verdict"] == "different" or (facts["p"] is not None and facts["p"] < 0.05):
        return name, LOOK, told, todo
    return (
        name,
        UNKNOWN,
        f"{told}: neither is sure",
        "Next time spoil whole documents, and the question does not arise.",
    )


def _languages(campaign: Campaign, found: Mapping[str, Section]) -> Row | None:
    if len(campaign.pairs) < 2:
        return None
    name, facts = "Scores of different language pairs can be compared", found["calibration"].facts
    if facts.get("there") and facts.get("by") == "pair":
        return _carried(name, facts.get("carry_over"))
    told = f"{pluralize(len(campaign.pairs), 'language pair')} without calibration items in common"
    return name, UNKNOWN, told, "Compare systems within a language pair only, or add a calibration set for all pairs."


def _carried(name: str, share: float | None) -> Row:
    """Grade calibration across language pairs by the share of a shift that shows on items not calibrated on."""
    told = "the language pairs rated the same calibration items"
    if share is None:
        why = f"{told}; whether shifts carry over to other items is not known"
        return name, UNKNOWN, why, "Compare systems within a language pair only, or add calibration items."
    told += f", and {share:.0%} of a shift carries over to other items (fine above half); use the calibrated scores"
    todo = "Compare systems within a language pair only: calibrating does more harm than good."
    return name, FINE if share > 0.5 else LOOK, told, "" if share > 0.5 else todo


_CHECKS: tuple[Callable[[Campaign, Mapping[str, Section]], Row | None], ...] = (
    _apart, _enough, _people, _segments, _favoured, _normalising, _agreement, _steady, _attention, _room,
    _neighbours, _twice, _languages,
)  # fmt: skip


def tally(table: pd.DataFrame) -> str:
    """Count verdicts in words.

    >>> tally(pd.DataFrame({"result": [FINE, FINE, LOOK, UNKNOWN]}))
    '2 fine, 1 to look at, 1 not known'
    """
    names = {FINE: "fine", LOOK: "to look at", PROBLEM: "a problem", UNKNOWN: "not known"}
    counts = table["result"].value_counts()
    return ", ".join(f"{counts[result]} {name}" for result, name in names.items() if result in counts)


def worst(table: pd.DataFrame, *results: str) -> list[str]:
    """Return what to do about the checks with these verdicts, the first verdict's first."""
    rows = [table[table["result"].eq(result) & table["to_do"].ne("")] for result in results]
    return list(np.concatenate([part["to_do"].to_numpy(object) for part in rows])) if rows else []
