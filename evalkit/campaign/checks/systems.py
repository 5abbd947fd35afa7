"""Checks of what was compared: systems, segments, language pairs, and how scores are treated."""

from __future__ import annotations

import itertools
from dataclasses import replace

from evalkit.campaign.analysis import Analysis
from evalkit.campaign.checks.check import FINE, LOOK, PROBLEM, UNKNOWN, Check, answered, graded
from evalkit.campaign.method import CONFOUNDED, EVEN, TOLD, WARNED, Spread
from evalkit.campaign.missing import Missing
from evalkit.campaign.opening import Campaign
from evalkit.campaign.ranking import ADJUSTED
from evalkit.data.provenance import reading_of
from evalkit.stats.terms import join_names, pluralize

#: The ways to treat scores that a first system has to survive; others only ask for a look.
USUAL = ("raw scores", ADJUSTED, "z per annotator", "z from calibration items")
#: What to do where the first system does not stand apart; a plan, where there is one, says it with numbers.
APART = "Call the first systems equally good, or collect more judgements of them."
#: Fewest segments a system, and fewest that a look can excuse.
SEGMENTS = (100, 30)
#: Share of scores in one tenth of the scale from which on it is too narrow there.
CROWDED = 0.6
#: Fewest segments of two systems for equal scores throughout to be told.
TWINS = 5
#: Fewest judgements of a system by an annotator, on average, for an even spread to be told from chance (Cochran 1954).
CELL = 5


def apart(found: Analysis) -> Check:
    campaign, ranking = found.campaign, found.ranking
    if not ranking and len(campaign.systems) > 1:
        reason = ranking.reason if isinstance(ranking, Missing) else ""
        if "never compared" in reason:
            question = "Were all systems compared with each other, perhaps through others?"
            todo = "Have people compare systems of different groups."
            return answered(question, PROBLEM, reason.partition(". ")[0], todo)
        why, _, todo = reason.removeprefix(f"{campaign.pair}: ").partition(". ")
        return answered("Can the systems be ranked?", PROBLEM, why.rstrip("."), todo)
    if not ranking or len(ranking.names) < 2:
        text = f"outputs of {pluralize(len(campaign.systems), 'system')} were judged"
        todo = "Judge a second system on the same segments."
        return answered("Are there systems to compare?", PROBLEM, text, todo)
    question = "Does the first system stand apart?"
    if campaign.judged["score"].nunique() == 1:
        todo = "Look whether the right column was read; if so, choose a finer scale or harder texts."
        return answered(question, PROBLEM, f"every score is {campaign.judged['score'].iloc[0]:g}", todo)
    if ranking.level:
        text = f"{ranking.top} cannot be distinguished from {join_names(ranking.level)}"
        return answered(question, LOOK, text, APART)
    whom = ranking.beaten[0] if len(ranking.beaten) == 1 else "each other system"
    return answered(question, FINE, f"{ranking.top} is better than {whom} (corrected tests)", "")


def identity(found: Analysis) -> Check | None:
    """Check what the import could not know: which judgements are of the same segment."""
    reading = reading_of(found.campaign.ratings)
    if not reading.get("segments"):
        return None  # the file names segments itself
    unsure = float(reading["unsure_segments"])
    return answered(
        "Is it known which judgements are of the same segment?",
        graded(unsure, 0.05, 0.5),
        f"{1 - unsure:.0%} of segments are certain (fine from 95 %, look from 50 %)",
        "Import again with --batches, what the tool was given; until then, tests that compare segment by segment may "
        "compare different ones.",
    )


def enough(found: Analysis) -> Check | None:
    segments = found.collection.systems.set_index("system")["segments"]
    if segments.empty:
        return None
    fewest = int(segments.min())
    whose = " a system" if segments.nunique() == 1 else f" for {segments.idxmin()}, the fewest"
    return answered(
        "Were enough segments judged?",
        graded(fewest, *SEGMENTS, low_is_good=False),
        f"{pluralize(fewest, 'segment')}{whose} (fine from {SEGMENTS[0]}, look from {SEGMENTS[1]})",
        "Judge more segments: with so few, another choice of texts could turn the order round.",
    )


def twins(found: Analysis) -> Check | None:
    cells = found.campaign.cells
    if cells.shape[1] < 2 or found.campaign.judged["score"].nunique() == 1:
        return None
    pairs = [
        f"{one} and {other}"
        for one, other in itertools.combinations(cells, 2)
        if len(both := cells[[one, other]].dropna()) >= TWINS and both[one].equals(both[other].set_axis(both.index))
    ]
    if not pairs:
        return None
    todo = "Look whether one file was imported under two names."
    text = f"{'; '.join(pairs[:3])}{' and more' if len(pairs) > 3 else ''} have the same scores throughout"
    return answered("Are all systems different?", LOOK, text, todo)


def segments(found: Analysis) -> Check | None:
    if len(found.campaign.systems) < 2 or found.campaign.compares:  # two that are compared have the same text
        return None
    share = found.campaign.shared_segments
    return answered(
        "Were all systems judged on the same segments?",
        graded(share, 0.9, 0.5, low_is_good=False),
        f"two systems share {share:.0%} of their segments at the least (fine from 90 %, look from 50 %)",
        "Judge all systems on the same segments; until then, harder texts count against the systems that had them.",
    )


def favoured(found: Analysis) -> Check | None:
    judged = found.campaign.judged
    if len(found.campaign.systems) < 2 or judged["annotator"].nunique() < 2:
        return None
    question, evenly = (
        "Did annotators judge all systems equally often?",
        "Next time, give all systems to all annotators.",
    )
    spread = Spread.of(judged, found.campaign.calibrating)
    if spread.kept >= EVEN:
        if spread.kept == 1 or spread.per_system >= CELL:
            return answered(question, FINE, "about equally often, so strict annotators favour no system", "")
        text = f"an annotator judged a system {spread.per_system:.1f} times on average, which is too few to tell"
        return answered(question, UNKNOWN, f"{text} (from {CELL} on)", evenly)
    text = spread.told[0].lower() + spread.told[1:-1]
    if spread.kept < CONFOUNDED:
        text = "no: the order rests on who was assigned to which system"
        todo = "Let every annotator judge all systems, or give all of them the same calibration items."
        return answered(question, PROBLEM, text, todo)
    if found.ranking and found.ranking.method.score == "adjusted":
        text += "; how strict each annotator is was taken out (adjusted scores)"
        if spread.kept < WARNED:
            text += ", but so little is left that the order may rest on who was assigned to which system"
            return answered(question, PROBLEM, text, evenly)
        return answered(question, FINE if spread.kept >= TOLD else LOOK, text, evenly)
    return answered(question, LOOK, text, "Set score=adjusted, and next time give all systems to all annotators.")


def normalizing(found: Analysis) -> Check | None:
    if not found.normalization:
        return None
    question, tops = "Does the first system stay first however scores are treated?", found.normalization.tops
    if found.ranking and found.ranking.method.kept < EVEN:  # z-scores and the like take out differences of systems, too
        tops = {way: top for way, top in tops.items() if way in ("raw scores", ADJUSTED)}
    first = sorted({system for top in tops.values() for system in top})
    if len({frozenset(top) for top in tops.values()}) == 1:
        are = "is" if len(first) == 1 else "are"
        return answered(
            question,
            FINE,
            f"{join_names(first)} {are} first in {'both' if len(tops) == 2 else f'all {len(tops)}'} treatments",
            "",
        )
    usual = {system for way, top in tops.items() if way in USUAL for system in top}
    level = {found.ranking.top, *found.ranking.level} if found.ranking else set()
    todo = "Decide on one treatment before the next campaign, publish raw scores, too, and call these equally good."
    text = f"{join_names(first)} each come first by some treatment"
    return answered(question, LOOK if usual <= level else PROBLEM, text, todo)


def steered(found: Analysis) -> Check | None:
    """Check whether what was shown depended on scores, and what that does to means; nothing where it did not."""
    steering, question = found.steering, "Are means right although systems that lead were shown more often?"
    if not steering:
        return None
    if not steering.weighted:
        text = "no probabilities say how far they are bent"
        return answered(question, UNKNOWN, text, "Log with what probability each screen showed each system.")
    text = "weighted by 1 / probability, "
    if not steering.matters:
        return answered(question, FINE, f"{text}none moves beyond chance", "")
    moved, first = steering.moved, steering.table["system"].iloc[0]
    several = "s" * (len(moved) > 1)
    text += f"the mean{several} of {join_names(moved)} move{'s' * (not several)} beyond chance" * bool(moved)
    text += f"{first} comes first" * (not moved)
    return answered(question, LOOK, text, "Publish weighted means beside plain ones: see judgements that were steered.")


def crowding(campaign: Campaign) -> tuple[float, float] | None:
    """Return the shares of scores in the lowest and in the highest tenth of the scale; None where it is not known."""
    if campaign.judged.empty or not campaign.known_scale or campaign.compares:
        return None
    (low, high), scores = campaign.scale, campaign.judged["score"]
    tenth = (high - low) / 10
    return float((scores <= low + tenth).mean()), float((scores >= high - tenth).mean())


def room(found: Analysis) -> Check | None:
    campaign, shares = found.campaign, crowding(found.campaign)
    if shares is None:
        return None
    bottom, top = shares
    marked = campaign.spans is not None or reading_of(campaign.ratings).get("format") in ("esa", "mqm")
    how = "direct comparison" if marked else "marked errors, direct comparison"
    return answered(
        "Does the scale leave room at both ends?",
        FINE if max(top, bottom) < CROWDED else LOOK,
        f"{top:.0%} of scores lie in its highest tenth, {bottom:.0%} in its lowest (look from {CROWDED:.0%} on)",
        f"Choose {'harder' if top > bottom else 'easier'} texts, or a method that distinguishes "
        f"{'good' if top > bottom else 'bad'} translations ({how}).",
    )


def twice(found: Analysis) -> Check | None:
    question, twice = "Was nothing counted twice by accident?", found.collection.duplicates
    if not found.campaign.names_people:
        return None
    if not twice:
        return answered(question, FINE, "no annotator judged an item twice, but for marked repeats", "")
    text = pluralize(twice, "unmarked second judgement")
    return answered(question, LOOK, text, "Mark second showings as 'repeat', or drop copies.")


def languages(found: Analysis) -> Check | None:
    if len(found.campaign.pairs) < 2:
        return None
    return replace(_comparable(found), elsewhere=True)


def _comparable(found: Analysis) -> Check:
    question, calibration = "Can scores of different language pairs be compared?", found.calibration
    if not calibration or calibration.by != "pair":
        text = f"{pluralize(len(found.campaign.pairs), 'language pair')} without calibration items in common"
        todo = "Compare systems within a language pair only, or add a calibration set for all pairs."
        return answered(question, UNKNOWN, text, todo)
    text, share = "the language pairs rated the same calibration items", calibration.share
    if share is None:
        text += "; whether shifts carry over to other items is not known"
        return answered(
            question, UNKNOWN, text, "Compare systems within a language pair only, or add calibration items."
        )
    text += f", and {share:.0%} of a shift carries over to other items (fine above half); use the calibrated scores"
    todo = "Compare systems within a language pair only: calibrating does more harm than good."
    return answered(question, FINE if share > 0.5 else LOOK, text, todo)
