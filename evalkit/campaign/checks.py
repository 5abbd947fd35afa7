"""Whether a result can be trusted: one finding a check, its question, claim, what it rests on and what to do in words.

The limits between verdicts are stated where the words are, in ``wording.toml``; they are rules of thumb of this
package, not laws.
"""

import itertools
from collections.abc import Callable
from operator import attrgetter

import numpy as np
import pandas as pd

from evalkit.campaign.analysis import Analysis
from evalkit.campaign.findings import SIGNS, Finding, Missing, finding
from evalkit.campaign.method import CONFOUNDED, EVEN, PEOPLE, TOLD, WARNED, Spread
from evalkit.campaign.opening import Campaign
from evalkit.campaign.quality import FEWEST_DEGRADED
from evalkit.campaign.ranking import ADJUSTED
from evalkit.data.provenance import reading_of
from evalkit.human.annotators import Rule

#: The ways to treat scores that a first system has to survive; others only ask for a look.
USUAL = ("raw scores", ADJUSTED, "z per annotator", "z from calibration items")
#: Fewest segments a system, and fewest that a look can excuse.
SEGMENTS = (100, 30)
#: Share of scores in one tenth of the scale from which on it is too narrow there.
CROWDED = 0.6
#: Fewest segments of two systems, and fewest judgements of an annotator, for equal scores throughout to be told.
SAME = 5
#: Fewest judgements of a system by an annotator, on average, for an even spread to be told from chance (Cochran 1954).
CELL = 5
#: Fewest items shown twice that tell whether annotators are steady.
REPEATS = 10
#: Share of draws of annotators in which a first system comes first, from which on others would find the same.
SURE = 0.95
#: Share of the judgements from which on one annotator's work is told.
HEAVY = 2 / 3


def run_checks(found: Analysis) -> list[Finding]:
    """Run all checks that apply, the worst verdict first."""
    apply = [make for make in _CHECKS if make not in _NEEDS or attrgetter(_NEEDS[make])(found)]
    checks = [check for check in (make(found) for make in apply) if check]
    return sorted(checks, key=lambda check: list(SIGNS).index(check.verdict))


def tabulate(checks: list[Finding]) -> pd.DataFrame:
    """Arrange checks as a table: check, result, found, to_do."""
    rows = [(check.question, check.result, check.found, check.advice or "nothing") for check in checks]
    return pd.DataFrame(rows, columns=["check", "result", "found", "to_do"])


def graded(value: float, fine: float, look: float) -> str:
    """Grade a number by two limits, which belong to the better side; low is good where the first is the lower one.

    >>> graded(0.1, 0.1, 0.2), graded(0.15, 0.1, 0.2), graded(0.3, 0.1, 0.2), graded(0.9, 0.8, 0.5)
    ('fine', 'look', 'problem', 'fine')
    """
    sign = 1 if fine <= look else -1
    return "fine" if sign * value <= sign * fine else "look" if sign * value <= sign * look else "problem"


def apart(found: Analysis) -> Finding:
    campaign, ranking = found.campaign, found.ranking
    if not ranking and len(campaign.systems) > 1:
        reason = ranking.reason if isinstance(ranking, Missing) else ""
        why, _, todo = reason.removeprefix(f"{campaign.pair}: ").partition(". ")
        return finding("connected.problem" if "never compared" in reason else "ranked.problem", why=why, todo=todo)
    if ranking and len(ranking.names) == 1 and len(ranking.humans):
        return finding("systems.person", humans=list(ranking.humans["system"]))
    if not ranking or len(ranking.names) < 2:
        return finding("systems.problem", systems=campaign.systems)
    if campaign.judged["score"].nunique() == 1:
        return finding("apart.problem", score=campaign.judged["score"].iloc[0])
    if ranking.level:
        return finding("apart.look", top=ranking.top, level=ranking.level)
    return finding("apart.fine", top=ranking.top)


def identity(found: Analysis) -> Finding | None:
    """Check what the import could not know: which judgements are of the same segment."""
    reading = reading_of(found.campaign.ratings)
    if not reading.get("segments"):
        return None  # the file names segments itself
    unsure = float(reading["unsure_segments"])
    return finding(f"identity.{graded(unsure, 0.05, 0.5)}", sure=1 - unsure)


def enough(found: Analysis) -> Finding | None:
    segments = found.collection.systems.set_index("system")["segments"]
    if segments.empty:
        return None
    values = {"fewest": int(segments.min()), "system": segments.idxmin(), "several": segments.nunique() > 1}
    return finding(f"enough.{graded(values['fewest'], *SEGMENTS)}", **values)


def others(found: Analysis) -> Finding:
    if not found.campaign.names_people:
        return finding("named.unknown")
    shares = found.campaign.judged["annotator"].value_counts(normalize=True)
    if len(shares) < 2:
        return finding("others.problem")
    if shares.iloc[0] >= HEAVY:
        return finding("others.heavy", who=shares.index[0], share=shares.iloc[0])
    ranking = found.ranking
    if not ranking or not ranking.method.draws_people or ranking.best is None:
        return finding("others.unknown" if len(shares) > 2 else "others.few", people=shares, fewest=PEOPLE)
    key = "others.fine" if ranking.best >= SURE else "others.apart" if ranking.level else "others.look"
    return finding(key, top=ranking.top, best=ranking.best)


def constant(found: Analysis) -> Finding | None:
    part = found.campaign.part
    people = part.groupby("annotator")["score"].agg(["nunique", "size"])
    same = people.index[(people["nunique"] == 1) & (people["size"] >= SAME)].tolist()
    if part["score"].nunique() == 1 or not same:
        return None
    share = float(part["annotator"].isin(same).mean())
    key = "most" if len(same) > len(people) / 2 else "look" if share < 0.1 else "problem"
    return finding(f"constant.{key}", same=same, people=len(people), share=share, crowded=_crowded(found))


def screening(found: Analysis) -> Finding | None:
    screening = found.screening
    if not found.campaign.names_people or (screening and screening.annotators < 2):
        return None
    if not screening or not screening.rules:
        return finding("odd.no_rule")
    said = {Rule.parse(rule).in_words: counts for rule, counts in screening.common.items()}
    rules = [finding("odd.holds", rule=rule, some=some, of=of) for rule, (some, of) in said.items()]
    if not screening.proposed:
        key = "common" if rules else "unknown" if screening.looked_at < screening.annotators / 2 else "nobody"
    elif not screening.first_without:
        key = "alone"
    else:
        few = len(screening.proposed) <= 0.1 * screening.annotators
        key = "turns" if screening.first_without != screening.first else "fine" if few else "look"
    removed = found.quality.removed if found.quality else False
    return finding(f"odd.{key}", found=screening, rules=rules, crowded=_crowded(found), removed=removed)


def _crowded(found: Analysis) -> Finding | None:
    """Say how many scores lie at one end of the scale, where these are most."""
    end, share = crowding(found.campaign) or ("", 0.0)
    return finding(f"room.crowded_{end}", share=share) if share >= CROWDED else None


def twins(found: Analysis) -> Finding | None:
    cells = found.campaign.cells
    if cells.shape[1] < 2 or found.campaign.judged["score"].nunique() == 1:
        return None
    pairs = [
        f"{one} and {other}"
        for one, other in itertools.combinations(cells, 2)
        if len(both := cells[[one, other]].dropna()) >= SAME and both[one].equals(both[other].set_axis(both.index))
    ]
    return finding("twins.look", pairs="; ".join(pairs[:3])) if pairs else None


def segments(found: Analysis) -> Finding | None:
    if len(found.campaign.systems) < 2 or found.campaign.compares:  # two that are compared have the same text
        return None
    share = found.campaign.shared_segments
    return finding(f"segments.{graded(share, 0.9, 0.5)}", share=share)


def steered(found: Analysis) -> Finding | None:
    """Check whether what was shown depended on scores, and what that does to means; nothing where it did not."""
    steering = found.steering
    if not steering:
        return None
    if not steering.weighted:
        return finding("steered.unknown")
    key = "fine" if not steering.matters else "look" if steering.moved else "turns"
    return finding(f"steered.{key}", moved=steering.moved, first=steering.table["system"].iloc[0])


def favoured(found: Analysis) -> Finding | None:
    judged = found.campaign.judged
    if len(found.campaign.systems) < 2 or judged["annotator"].nunique() < 2:
        return None
    spread = Spread.of(judged, found.campaign.calibrating)
    adjusted = found.ranking.method.score == "adjusted" if found.ranking else False
    if spread.kept >= EVEN:
        key = "fine" if spread.kept == 1 or spread.per_system >= CELL else "unknown"
    elif spread.kept < CONFOUNDED:
        key = "problem"
    elif adjusted:
        key = "little" if spread.kept < WARNED else "adjusted" if spread.kept >= TOLD else "corrected"
    else:
        key = "look"
    return finding(f"evenly.{key}", spread=spread)


def normalizing(found: Analysis) -> Finding | None:
    tops = found.normalization.tops
    if found.ranking and found.ranking.method.kept < EVEN:  # z-scores and the like take out differences of systems, too
        tops = {way: top for way, top in tops.items() if way in ("raw scores", ADJUSTED)}
    usual = {system for way, top in tops.items() if way in USUAL for system in top}
    level = {found.ranking.top, *found.ranking.level} if found.ranking else set()
    alike = len({frozenset(top) for top in tops.values()}) == 1
    first = sorted({system for top in tops.values() for system in top})
    return finding(f"treatments.{'fine' if alike else 'look' if usual <= level else 'problem'}", first=first)


def agreement(found: Analysis) -> Finding | None:
    agreement = found.agreement
    if isinstance(agreement, Missing) or agreement.estimate is None:
        few = isinstance(agreement, Missing) or "two annotators" in agreement.reason
        return finding("agreement.few" if few else "agreement.unknown", found=agreement)
    if not np.isfinite([agreement.estimate, agreement.low, agreement.high]).all():
        return finding("agreement.no_interval")
    everyone = found.campaign.part["annotator"].nunique()
    key = "problem" if agreement.low <= 0 else "fine" if agreement.estimate >= 0.4 else "look"
    if key == "fine" and agreement.shared < everyone / 2:
        key = "shared_by_few"
    return finding(f"agreement.{key}", found=agreement, people=everyone)


def elsewhere(found: Analysis) -> Finding | None:
    """Name the language pairs, other than that in detail, whose annotators do not agree beyond chance."""
    if not found.agreement or found.agreement.by_pair.empty:
        return None
    table = found.agreement.by_pair.dropna(subset=["estimate", "low"])
    others = table[table["pair"] != found.campaign.pair]
    if others.empty:
        return None
    bad = others.loc[others["low"] <= 0, "pair"].tolist()
    return finding("elsewhere.problem" if bad else "elsewhere.fine", pairs=bad, first=bad[0] if bad else "")


def steady(found: Analysis) -> Finding | None:
    quality = found.quality
    people, many = found.campaign.part["annotator"].nunique(), quality.repeated >= REPEATS
    verdict = graded(quality.again, 10, 20) if quality.again is not None and many else "unknown"
    if verdict != "unknown" and quality.repeaters < people / 2:
        verdict = "few" if verdict == "fine" else "few_apart"
    values = {"people": people, "fewest": REPEATS, "compares": found.campaign.compares}
    return finding(f"steady.{verdict}", quality=quality, **values)


def attention(found: Analysis) -> Finding | None:
    quality = found.quality
    decided, everyone = quality.tested - quality.undecided, found.campaign.part["annotator"].nunique()
    verdict = graded(len(quality.failed) / quality.tested, 0, 0.1) if quality.tested else "unknown"
    if verdict in ("fine", "look"):
        verdict = "removed" if quality.removed else "few" if decided < everyone / 2 else verdict
    values = {"decided": decided, "people": everyone, "fewest": FEWEST_DEGRADED}
    return finding(f"attention.{verdict}", quality=quality, **values)


def crowding(campaign: Campaign) -> tuple[str, float] | None:
    """Say in which outer tenth of the scale more scores lie, and their share; None where that is not known."""
    if campaign.judged.empty or not campaign.known_scale or campaign.compares:
        return None
    (low, high), scores = campaign.scale, campaign.judged["score"]
    tenth = (high - low) / 10
    shares = {"bottom": float((scores <= low + tenth).mean()), "top": float((scores >= high - tenth).mean())}
    return max(shares.items(), key=lambda one: one[1])


def room(found: Analysis) -> Finding | None:
    campaign = found.campaign
    if not (fullest := crowding(campaign)):
        return None
    end, share = fullest
    marked = campaign.spans is not None or reading_of(campaign.ratings).get("format") in ("esa", "mqm")
    key = "fine" if share < CROWDED else "top_marked" if end == "top" and marked else end
    return finding(f"room.{key}", share=share)


def twice(found: Analysis) -> Finding | None:
    many = found.collection.duplicates
    return finding("twice.look" if many else "twice.fine", many=many)


_Check = Callable[[Analysis], Finding | None]
_CHECKS: list[_Check] = [
    *(apart, identity, enough, others, constant, screening, twins, segments),
    *(steered, favoured, normalizing, agreement, elsewhere, steady, attention),
    *(room, twice),
]
#: What has to be there for a check.
_NEEDS: dict[_Check, str] = dict.fromkeys((constant, agreement, twice), "campaign.names_people")
_NEEDS |= {steady: "quality", attention: "quality", normalizing: "normalization"}
