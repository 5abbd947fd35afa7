"""Checks of who judged: how many, how alike, how steadily, how attentively."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evalkit.campaign import quality
from evalkit.campaign.agreement import Agreement
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.annotators import Screening
from evalkit.campaign.checks.check import FINE, LOOK, PROBLEM, UNKNOWN, Check, answered, graded
from evalkit.campaign.checks.systems import APART, CROWDED, crowding
from evalkit.campaign.method import PEOPLE
from evalkit.campaign.quality import FEWEST_DEGRADED
from evalkit.human.annotators import Rule
from evalkit.stats.terms import join_names, pluralize

#: Fewest items shown twice that tell whether annotators are steady.
REPEATS = 10
#: Share of draws of annotators in which a first system comes first, from which on others would find the same.
SURE = 0.95
#: Share of the judgements from which on one annotator's work is told.
HEAVY = 2 / 3
#: Fewest judgements of an annotator for one score throughout to be told.
CONSTANT = 5


def people(found: Analysis) -> Check:
    if not found.campaign.names_people:
        todo = "If a column names them, import the file again with --map annotator=HEADING."
        return answered("Is it known who judged?", UNKNOWN, "the file does not name who judged", todo)
    shares = found.campaign.judged["annotator"].value_counts(normalize=True)
    people = pluralize(len(shares), "annotator")
    question = "Does the result hold for other annotators, too?"
    if len(shares) < 2:
        todo = "Add annotators: with one, their taste cannot be told from quality."
        return answered(question, PROBLEM, f"{people} judged", todo)
    if shares.iloc[0] >= HEAVY:
        text = f"{shares.index[0]} gave {shares.iloc[0]:.0%} of the judgements of {people} (look from {HEAVY:.0%} on)"
        return answered(
            question, LOOK, text, "Call it the judgement of one person, or let others judge the same items."
        )
    ranking, more = found.ranking, "Add annotators who judge the same systems."
    if not ranking or not ranking.method.draws_people or ranking.best is None:
        text = (
            f"{people} judged, and nobody can tell what others would find (from {PEOPLE} on who share the work alike)"
        )
        return answered(question, UNKNOWN if len(shares) > 2 else LOOK, text, more)
    text = f"{people} judged; with others, {ranking.top} would come first in {ranking.best:.0%} of cases"
    if len(ranking.names) > 1:
        others = ranking.table.iloc[1:].set_index("system")["best"]
        text += f", {others.idxmax()} in {others.max():.0%} (fine from {SURE:.0%})"
    verdict = graded(ranking.best, SURE, 0, low_is_good=False)
    return answered(question, verdict, text, APART if ranking.level else more)


def constant(found: Analysis) -> Check | None:
    part = found.campaign.part
    if not found.campaign.names_people:
        return None
    people = part.groupby("annotator")["score"].agg(["nunique", "size"])
    constant = people.index[(people["nunique"] == 1) & (people["size"] >= CONSTANT)].tolist()
    if part["score"].nunique() == 1 or not constant:
        return None
    share = float(part["annotator"].isin(constant).mean())
    text = f"{join_names(constant)} gave one score throughout ({share:.0%} of the judgements)"
    if len(constant) > len(people) / 2:
        text = f"{len(constant)} of {len(people)} annotators gave one score throughout, which says something about the "
        text += f"scale or the task, not about these people{_crowded(found)}"
        return answered("Did every annotator use the scale?", PROBLEM, text, "Choose a finer scale, or other texts.")
    todo = f"Look whether {join_names(constant)} understood the task; such judgements say nothing about systems."
    return answered("Did every annotator use the scale?", LOOK if share < 0.1 else PROBLEM, text, todo)


def screening(found: Analysis) -> Check | None:
    question, screening = "Does the result stay the same without odd annotators?", found.screening
    if not found.campaign.names_people or (screening and screening.annotators < 2):
        return None
    if not screening or not screening.rules:
        todo = "Write rules that fit the scale, such as 'sd < 5'."
        return answered(question, UNKNOWN, "no rule could be applied", todo)
    everyone = pluralize(screening.annotators, "annotator")
    if screening.common and not screening.proposed:
        todo = "Write rules that fit the scale and the task (-p rules=…)."
        return answered(question, UNKNOWN, _common(found, screening), todo)
    if not screening.proposed and screening.looked_at < screening.annotators / 2:
        text = f"a rule could be applied to {screening.looked_at} of {everyone}"
        return answered(question, UNKNOWN, text, "Record what the rules need; see the annotators below.")
    if not screening.proposed:
        applied = len(screening.rules) - len(screening.unknown)
        finds = f"{pluralize(applied, 'rule')} that could be applied {'finds' if applied == 1 else 'find'} nobody"
        gone = "; those who failed seem to have been removed before" * bool(found.quality and found.quality.removed)
        return answered(question, FINE, f"{finds} to look at among {everyone}{gone}", "")
    text = f"{_common(found, screening)}; " if screening.common else ""
    text += f"the rules name {len(screening.proposed)} of {everyone}; without their judgements "
    todo = f"Look at how {join_names(screening.proposed)} worked, and talk to them before you leave anybody out."
    if not screening.first_without:
        return answered(question, LOOK, f"{text}there is nothing left to compare", todo)
    stays = screening.first_without == screening.first
    text += f"{screening.first_without} comes first, {'as with them' if stays else f'with them {screening.first}'}"
    few = len(screening.proposed) <= 0.1 * screening.annotators
    return Check(question, FINE if stays and few else LOOK, f"{'yes' if stays else 'no'}: {text}", todo)


def _common(found: Analysis, screening: Screening) -> str:
    """Say which rules name most people, and what that says."""
    named = [f"{Rule.parse(rule).in_words} holds for {some} of {of}" for rule, (some, of) in screening.common.items()]
    text = f"{join_names(named)} annotators, which says something about the scale or the task, not about these people"
    return f"{text}{_crowded(found)}"


def _crowded(found: Analysis) -> str:
    """Say in brackets how many scores lie at one end of the scale, where these are most."""
    low, high = crowding(found.campaign) or (0.0, 0.0)
    if max(low, high) < CROWDED:
        return ""
    return f" ({max(low, high):.0%} of scores lie in the {'lowest' if low > high else 'highest'} tenth of the scale)"


def agreement(found: Analysis) -> Check | None:
    question, agreement = "Do annotators agree beyond chance?", found.agreement
    if not found.campaign.names_people:
        return None
    if not agreement or agreement.estimate is None:
        why = agreement.reason if isinstance(agreement, Agreement) else "too few items were judged by two annotators"
        more = "Give 100 items or more, drawn at random over all systems, to a second annotator, too."
        todo = more if "two annotators" in why else "Look at the scores of each annotator below."
        return answered(question, UNKNOWN, why, todo)
    if not np.isfinite([agreement.estimate, agreement.low, agreement.high]).all():
        return answered(
            question, UNKNOWN, "the data allow no interval of the agreement", "Let two annotators judge more items."
        )
    everyone = found.campaign.part["annotator"].nunique()
    verdict = PROBLEM if agreement.low <= 0 else FINE if agreement.estimate >= 0.4 else LOOK
    few = agreement.shared < everyone / 2
    return answered(
        question,
        UNKNOWN if few and verdict == FINE else verdict,
        f"{agreement.estimate:.2f}, 95 % interval {agreement.low:.2f} to {agreement.high:.2f}, where 1 is the same "
        "scores and 0 chance (Krippendorff's alpha; fine from 0.40, a problem where an interval reaches 0). It rests "
        f"on {pluralize(agreement.items, 'item')} and {agreement.shared} of {pluralize(everyone, 'annotator')}"
        f"{'; of the others nothing is known' * few}",
        "Go through the items on which annotators differ most, together with them; sharpen the instructions; have some "
        "items judged anew.",
    )


def elsewhere(found: Analysis) -> Check | None:
    """Name the language pairs, other than that in detail, whose annotators do not agree beyond chance."""
    if not found.agreement or found.agreement.by_pair.empty:
        return None
    table = found.agreement.by_pair.dropna(subset=["estimate", "low"])
    others = table[table["pair"] != found.campaign.pair]
    if others.empty:
        return None
    bad = others[others["low"] <= 0]
    named = [f"{row.pair} ({row.estimate:.2f})" for row in bad.itertuples()]
    text = f"not in {join_names(named)}" if named else f"in all {len(others)}, the interval lies above 0"
    question = "Do annotators agree beyond chance in the file's other language pairs?"
    todo = f"Look at each by itself, such as with -p pair={bad['pair'].iloc[0]}." if named else ""
    return replace(answered(question, PROBLEM if named else FINE, text, todo), elsewhere=True)


def steady(found: Analysis) -> Check | None:
    question, quality = "Are annotators steady with themselves?", found.quality
    if not quality:
        return None
    again, repeated, everyone = quality.again, quality.repeated, found.campaign.part["annotator"].nunique()
    todo = "Show every annotator about ten items a second time: that tells who is steady."
    if again is None or repeated < REPEATS:
        text = f"{pluralize(repeated, 'item')} shown twice (from {REPEATS} on, they tell)"
        return answered(question, UNKNOWN, "no item was shown twice" if again is None else text, todo)
    if found.campaign.compares:
        text = f"of second answers {quality.equal:.0%} are the same as the first"
    else:
        text = f"half of all second scores lie within {again:.0f} points of 100 of the first (fine to 10, look to 20)"
    text += f"; {pluralize(repeated, 'item')} shown twice to {quality.repeaters} of {pluralize(everyone, 'annotator')}"
    verdict = graded(again, 10, 20)
    if quality.repeaters < everyone / 2:
        return answered(question, UNKNOWN if verdict == FINE else LOOK, f"{text}: too few to speak for all", todo)
    return answered(question, verdict, text, "Train annotators with examples for the steps of the scale.")


def attention(found: Analysis) -> Check | None:
    question, quality = "Do annotators notice degraded translations?", found.quality
    if not quality:
        return None
    if not quality.tested:
        text = "no degraded items beside their originals"
        return answered(
            question, UNKNOWN, text, "Degrade about one item in ten on purpose: that tells who pays attention."
        )
    fail = f"{len(quality.failed)} of {quality.tested} fail WMT's test"
    fail += " (over all language pairs that they judged)" * quality.everywhere
    todo = f"Look at how {join_names(quality.failed)} scored degraded translations, and whether their judgements count."
    todo = todo if quality.failed else ""
    result = graded(len(quality.failed) / quality.tested, 0, 0.1)
    if quality.removed and result != PROBLEM:
        text = f"{fail}, but those who failed seem to have been removed before: {quality.caliper.passed} pass narrowly "
        text += f"and {quality.caliper.failed} fail as narrowly"
        return answered(question, UNKNOWN, text, todo or "Judge attention by the data before anybody was removed.")
    decided, everyone = quality.tested - quality.undecided, found.campaign.part["annotator"].nunique()
    if decided < everyone / 2 and result != PROBLEM:
        text = f"the test speaks about {decided} of {pluralize(everyone, 'annotator')}"
        todo = f"Give every annotator {FEWEST_DEGRADED} degraded items or more beside their originals."
        return answered(question, UNKNOWN, text, todo)
    return answered(question, result, f"{fail} (fine at none, look up to 10 %)", todo)


def neighbours(found: Analysis) -> Check | None:
    tested, question = found.context, "Did scores stay the same beside degraded segments?"
    if not tested or not tested.tested:
        return None
    held = tested.equivalence
    if held is None:
        few = f"fewer than {quality.FEWEST_PEOPLE} annotators judged such documents"
        text = f"{few}, so the size of the effect is not known"
        return answered(question, UNKNOWN, text, "Let more annotators judge documents with degraded segments.")
    text = f"shown again after a degraded segment, translations lose {abs(held.estimate):.1f} points of 100 "
    text += f"{'more' if held.estimate >= 0 else 'less'} than before it, 95 % interval {held.low:+.1f} to "
    text += f"{held.high:+.1f} (fine where surely within ±{quality.MARGIN:g}, look where surely not zero)"
    if held.verdict in ("equivalent", "both"):
        return answered(question, FINE, text, "")
    if held.verdict == "different" or (tested.p is not None and tested.p < 0.05):
        todo = "Rank without repeats from degraded documents, and next time degrade whole documents."
        return answered(question, LOOK, text, todo)
    todo = "Next time degrade whole documents, and the question does not arise."
    return answered(question, UNKNOWN, f"{text}: neither is sure", todo)
