"""Whether a result can be trusted: a list of checks, each with a worded verdict, what was found and what to do.

The limits between verdicts are stated in the texts of ``found``; they are rules of thumb of this package, not laws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.campaign.agreement import Agreement
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.context import MARGIN, PEOPLE
from evalkit.campaign.method import FEW, UNEVEN, Spread
from evalkit.campaign.quality import FEWEST_DEGRADED
from evalkit.data.provenance import reading_of
from evalkit.stats.terms import join_names, pluralize

#: Verdicts, each a sign and a word, so that neither colour nor sign alone carries it.
FINE, LOOK, PROBLEM, UNKNOWN = "✓ fine", "! look", "✗ problem", "? not known"
#: Verdicts from worst to best, and what a sentence calls them.
CALLED = {PROBLEM: "a problem", LOOK: "to look at", UNKNOWN: "not known", FINE: "fine"}
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


@dataclass(frozen=True)
class Check:
    """One check: the statement that it tests, the verdict, what was found, and what to do ("" for nothing)."""

    statement: str
    verdict: str
    found: str
    advice: str = ""


def run_checks(found: Analysis) -> list[Check]:
    """Run all checks that apply, the worst verdict first."""
    checks = [check for check in (make(found) for make in _CHECKS) if check]
    return sorted(checks, key=lambda check: list(CALLED).index(check.verdict))


def tabulate(checks: list[Check]) -> pd.DataFrame:
    """Arrange checks as a table: check, result, found, to_do."""
    rows = [(check.statement, check.verdict, check.found, check.advice or "nothing") for check in checks]
    return pd.DataFrame(rows, columns=["check", "result", "found", "to_do"])


def graded(value: float, fine: float, look: float, *, low_is_good: bool = True) -> str:
    """Grade a number by two limits, which belong to the better side.

    >>> graded(0.1, 0.1, 0.2), graded(0.15, 0.1, 0.2), graded(0.3, 0.1, 0.2), graded(0.9, 0.8, 0.5, low_is_good=False)
    ('✓ fine', '! look', '✗ problem', '✓ fine')
    """
    value, fine, look = (side if low_is_good else -side for side in (value, fine, look))
    return FINE if value <= fine else LOOK if value <= look else PROBLEM


def _check(statement: str, verdict: str, found: str, advice: str) -> Check:
    """Make a check that advises nothing where all is fine."""
    return Check(statement, verdict, found, "" if verdict == FINE else advice)


def _apart(found: Analysis) -> Check:
    campaign, ranking = found.campaign, found.ranking
    if not ranking or len(ranking.names) < 2:
        text = f"outputs of {pluralize(len(campaign.systems), 'system')} were judged"
        return Check("There are systems to compare", PROBLEM, text, "Judge a second system on the same segments.")
    statement = "The first system stands apart"
    if campaign.judged["score"].nunique() == 1:
        todo = "Look whether the right column was read; if so, choose a finer scale or harder texts."
        return Check(statement, PROBLEM, f"every score is {campaign.judged['score'].iloc[0]:g}", todo)
    often = ""
    if ranking.best is not None and len(ranking.first) == 1:
        often = f"; first in {ranking.best:.0%} of resamples"
    if ranking.level:
        text = f"{ranking.top} cannot be distinguished from {join_names(ranking.level)}{often}"
        return Check(statement, LOOK, text, APART)
    whom = ranking.beaten[0] if len(ranking.beaten) == 1 else "each other system"
    return Check(statement, FINE, f"{ranking.top} is better than {whom} (corrected tests){often}")


def _identity(found: Analysis) -> Check | None:
    """Check what the import could not know: which judgements are of the same segment."""
    reading = reading_of(found.campaign.ratings)
    if not reading.get("segments"):
        return None  # the file names segments itself
    unsure = float(reading["unsure_segments"])
    return _check(
        "It is known which judgements are of the same segment",
        graded(unsure, 0.05, 0.5),
        f"{1 - unsure:.0%} of segments are certain (fine from 95 %, look from 50 %)",
        "Import again with --batches, what the tool was given; until then, tests that compare segment by segment may "
        "compare different ones.",
    )


def _enough(found: Analysis) -> Check | None:
    segments = found.collection.systems.set_index("system")["segments"]
    if segments.empty:
        return None
    fewest = int(segments.min())
    whose = " a system" if segments.nunique() == 1 else f" for {segments.idxmin()}, the fewest"
    return _check(
        "Enough segments were judged",
        graded(fewest, *SEGMENTS, low_is_good=False),
        f"{pluralize(fewest, 'segment')}{whose} (fine from {SEGMENTS[0]}, look from {SEGMENTS[1]})",
        "Judge more segments: with so few, another choice of texts could turn the order round.",
    )


def _people(found: Analysis) -> Check:
    people = found.campaign.judged["annotator"].nunique()
    return _check(
        "Several annotators took part",
        graded(people, 3, 2, low_is_good=False),
        f"{pluralize(people, 'annotator')} (fine from 3, look at 2)",
        "Add annotators: with one or two, their taste cannot be told from quality.",
    )


def _screening(found: Analysis) -> Check:
    statement, screening = "The result does not hang on odd annotators", found.screening
    if not screening or not screening.rules:
        todo = "Write rules that fit the scale, such as 'sd < 5'."
        return Check(statement, UNKNOWN, "no rule could be applied", todo)
    everyone = pluralize(screening.annotators, "annotator")
    if not screening.proposed and screening.looked_at < screening.annotators / 2:
        text = f"a rule could be applied to {screening.looked_at} of {everyone}"
        return Check(statement, UNKNOWN, text, "Record what the rules need; see the annotators below.")
    if not screening.proposed:
        applied = len(screening.rules) - len(screening.unknown)
        finds = f"{pluralize(applied, 'rule')} that could be applied {'finds' if applied == 1 else 'find'} nobody"
        return Check(statement, FINE, f"{finds} to look at among {everyone}")
    text = f"the rules propose to look at {len(screening.proposed)} of {screening.annotators}; without them "
    todo = f"Look at the profiles of {join_names(screening.proposed)}, and talk to them before you leave anybody out."
    if not screening.first_without:
        return Check(statement, LOOK, f"{text}there is nothing left to compare", todo)
    stays = screening.first_without == screening.first
    text += f"{screening.first_without} comes first, {'as with them' if stays else f'with them {screening.first}'}"
    few = len(screening.proposed) <= 0.1 * screening.annotators
    return Check(statement, FINE if stays and few else LOOK, text, todo)


def _segments(found: Analysis) -> Check | None:
    if len(found.campaign.systems) < 2:
        return None
    share = found.campaign.shared_segments
    return _check(
        "All systems were judged on the same segments",
        graded(share, 0.9, 0.5, low_is_good=False),
        f"two systems share {share:.0%} of their segments at the least (fine from 90 %, look from 50 %)",
        "Judge all systems on the same segments; until then differences of texts count as differences of systems.",
    )


def _favoured(found: Analysis) -> Check | None:
    judged = found.campaign.judged
    if len(found.campaign.systems) < 2 or judged["annotator"].nunique() < 2:
        return None
    statement, evenly = "Strict annotators favour no system", "Give systems to annotators evenly."
    spread = Spread.of(judged)
    text = f"Cramér's V of annotators and systems is {spread.association:.2f} (fine below {UNEVEN})"
    if spread.association < UNEVEN:
        if spread.even or spread.per_system >= CELL:
            return Check(statement, FINE, text)
        text += f", but an annotator judged a system {spread.per_system:.1f} times on average, which is too few"
        return Check(statement, UNKNOWN, f"{text} to tell (from {CELL} on)", evenly)
    if spread.one_system > FEW:
        text += f"; {spread.one_system:.0%} of judgements are by annotators of one system only"
        todo = "Let every annotator judge all systems, or give all of them the same calibration items."
        return Check(statement, PROBLEM, text, todo)
    if found.ranking and found.ranking.method.by_z:
        return Check(statement, LOOK, f"{text}; scores are therefore compared as z-scores", evenly)
    return Check(statement, LOOK, text, "Set score=z, and next time give systems to annotators evenly.")


def _normalizing(found: Analysis) -> Check | None:
    if not found.normalization:
        return None
    statement, tops = "The first system stays first however scores are treated", found.normalization.tops
    first = sorted({system for top in tops.values() for system in top})
    if len(first) == 1:
        return Check(statement, FINE, f"{first[0]} is first in all {len(tops)} treatments")
    usual = {system for way, top in tops.items() if way in USUAL for system in top}
    level = {found.ranking.top, *found.ranking.level} if found.ranking else set()
    todo = "Fix the treatment before the next campaign, publish raw scores too, and call these systems equally good."
    text = f"{join_names(first)} come first by some treatment"
    return Check(statement, LOOK if usual <= level else PROBLEM, text, todo)


def _agreement(found: Analysis) -> Check:
    statement, agreement = "Annotators agree beyond chance", found.agreement
    if not agreement or agreement.estimate is None:
        why = agreement.reason if isinstance(agreement, Agreement) else "too few items were judged by two annotators"
        more = "Give 100 items or more, drawn at random over all systems, to a second annotator."
        todo = more if "two annotators" in why else "Look at the scores of each annotator below."
        return Check(statement, UNKNOWN, why, todo)
    if not np.isfinite([agreement.estimate, agreement.low, agreement.high]).all():
        text = "the data allow no interval of the agreement"
        return Check(statement, UNKNOWN, text, "Let two annotators judge more items.")
    return _check(
        statement,
        PROBLEM if agreement.low <= 0 else FINE if agreement.estimate >= 0.4 else LOOK,
        f"Krippendorff's alpha {agreement.estimate:.2f}, interval {agreement.low:.2f} to {agreement.high:.2f} "
        "(problem where the interval reaches 0, look below 0.40)",
        "Look at items with far scores together with the annotators, sharpen the instructions, judge some items anew.",
    )


def _steady(found: Analysis) -> Check:
    statement, again, repeated = "Annotators are steady with themselves", found.quality.again, found.quality.repeated
    if again is None or repeated < REPEATS:
        text = f"{pluralize(repeated, 'item')} shown twice (from {REPEATS} on, they tell)"
        text = "no item was shown twice" if again is None else text
        return Check(statement, UNKNOWN, text, "Show about ten items an annotator a second time ('repeat').")
    return _check(
        statement,
        graded(again, 10, 20),
        f"second scores lie {again:.0f} points of 100 from the first in the median (fine to 10, look to 20)",
        "Train annotators with examples for the steps of the scale.",
    )


def _attention(found: Analysis) -> Check:
    statement, quality = "Annotators notice degraded translations", found.quality
    if not quality.tested:
        text = "no degraded items beside their originals"
        return Check(statement, UNKNOWN, text, "Degrade about one item in ten on purpose.")
    fail = f"{len(quality.failed)} of {quality.tested} fail WMT's test"
    todo = f"Look at {join_names(quality.failed)}, or leave their judgements out." if quality.failed else ""
    result = graded(len(quality.failed) / quality.tested, 0, 0.1)
    if quality.removed and result != PROBLEM:
        text = f"{fail}, but those who failed seem to have been removed before: {quality.caliper.passed} pass narrowly "
        text += f"and {quality.caliper.failed} fail as narrowly"
        return Check(statement, UNKNOWN, text, todo or "Judge attention by the data before anybody was removed.")
    decided, everyone = quality.tested - quality.undecided, found.campaign.part["annotator"].nunique()
    if decided < everyone / 2 and result != PROBLEM:
        text = f"the test speaks about {decided} of {pluralize(everyone, 'annotator')}"
        todo = f"Give every annotator {FEWEST_DEGRADED} degraded items or more beside their originals."
        return Check(statement, UNKNOWN, text, todo)
    return Check(statement, result, f"{fail} (fine at none, look up to 10 %)", todo)


def _room(found: Analysis) -> Check | None:
    campaign = found.campaign
    if campaign.judged.empty or not campaign.known_scale:
        return None
    low, high = campaign.scale
    share = float((campaign.judged["score"] >= high - (high - low) / 10).mean())
    return _check(
        "The scale leaves room at the top",
        FINE if share < 0.6 else LOOK,
        f"{share:.0%} of scores lie in the highest tenth of the scale (look from 60 % on)",
        "Choose harder texts, or a method that distinguishes good translations (marked errors, direct comparison).",
    )


def _neighbours(found: Analysis) -> Check | None:
    context, statement = found.context, "Degraded neighbours did not change scores"
    if not context or not context.tested:
        return None
    held = context.equivalence
    if held is None:
        text = f"fewer than {PEOPLE} annotators judged such documents, so the size of the effect is not known"
        return Check(statement, UNKNOWN, text, "Let more annotators judge documents with degraded segments.")
    text = f"behind them repeats lose {held.estimate:+.1f} points of 100 more, interval {held.low:+.1f} to "
    text += f"{held.high:+.1f} (fine where surely within ±{MARGIN:g}, look where surely not zero)"
    if held.verdict in ("equivalent", "both"):
        return Check(statement, FINE, text)
    if held.verdict == "different" or (context.p is not None and context.p < 0.05):
        todo = "Rank without repeats from degraded documents, and next time degrade whole documents."
        return Check(statement, LOOK, text, todo)
    todo = "Next time degrade whole documents, and the question does not arise."
    return Check(statement, UNKNOWN, f"{text}: neither is sure", todo)


def _twice(found: Analysis) -> Check:
    statement, twice = "Nothing was counted twice by accident", found.collection.duplicates
    if not twice:
        return Check(statement, FINE, "no annotator judged an item twice, but for marked repeats")
    text = pluralize(twice, "unmarked second judgement")
    return Check(statement, LOOK, text, "Mark second showings as 'repeat', or drop copies.")


def _languages(found: Analysis) -> Check | None:
    if len(found.campaign.pairs) < 2:
        return None
    statement, calibration = "Scores of different language pairs can be compared", found.calibration
    if not calibration or calibration.by != "pair":
        text = f"{pluralize(len(found.campaign.pairs), 'language pair')} without calibration items in common"
        todo = "Compare systems within a language pair only, or add a calibration set for all pairs."
        return Check(statement, UNKNOWN, text, todo)
    text, share = "the language pairs rated the same calibration items", calibration.share
    if share is None:
        text += "; whether shifts carry over to other items is not known"
        return Check(statement, UNKNOWN, text, "Compare systems within a language pair only, or add calibration items.")
    text += f", and {share:.0%} of a shift carries over to other items (fine above half); use the calibrated scores"
    todo = "Compare systems within a language pair only: calibrating does more harm than good."
    return _check(statement, FINE if share > 0.5 else LOOK, text, todo)


_CHECKS: tuple[Callable[[Analysis], Check | None], ...] = (
    _apart, _identity, _enough, _people, _screening, _segments, _favoured, _normalizing, _agreement, _steady,
    _attention, _room, _neighbours, _twice, _languages,
)  # fmt: skip
