"""Checks of who judged: how many, how alike, how steadily, how attentively."""

from __future__ import annotations

import numpy as np

from evalkit.campaign.analysis import Analysis
from evalkit.campaign.checks.check import FINE, LOOK, PROBLEM, UNKNOWN, Check, answered, graded
from evalkit.campaign.method import PEOPLE
from evalkit.campaign.people import context
from evalkit.campaign.people.agreement import Agreement
from evalkit.campaign.people.quality import FEWEST_DEGRADED
from evalkit.stats.terms import join_names, pluralize

#: Fewest items shown twice that tell whether annotators are steady.
REPEATS = 10
#: Share of the judgements from which on one annotator's work is told.
HEAVY = 2 / 3
#: Fewest judgements of an annotator for one score throughout to be told.
CONSTANT = 5


def people(found: Analysis) -> Check:
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
    if found.ranking and found.ranking.method.draws_people:
        text = f"{people} judged, and all that is said about chance draws annotators anew"
        return answered(question, FINE, text, "")
    text = f"{people} judged, and nobody can tell what others would find (from {PEOPLE} on who share the work alike)"
    return answered(question, UNKNOWN if len(shares) > 2 else LOOK, text, "Add annotators who judge the same systems.")


def constant(found: Analysis) -> Check | None:
    part = found.campaign.part
    people = part.groupby("annotator")["score"].agg(["nunique", "size"])
    constant = people.index[(people["nunique"] == 1) & (people["size"] >= CONSTANT)].tolist()
    if part["score"].nunique() == 1 or not constant:
        return None
    share = float(part["annotator"].isin(constant).mean())
    text = f"{join_names(constant)} gave one score throughout ({share:.0%} of the judgements)"
    todo = f"Look whether {join_names(constant)} understood the task; such judgements say nothing about systems."
    return answered("Did every annotator use the scale?", LOOK if share < 0.1 else PROBLEM, text, todo)


def screening(found: Analysis) -> Check | None:
    question, screening = "Does the result stay the same without odd annotators?", found.screening
    if screening and screening.annotators < 2:
        return None
    if not screening or not screening.rules:
        todo = "Write rules that fit the scale, such as 'sd < 5'."
        return answered(question, UNKNOWN, "no rule could be applied", todo)
    everyone = pluralize(screening.annotators, "annotator")
    if not screening.proposed and screening.looked_at < screening.annotators / 2:
        text = f"a rule could be applied to {screening.looked_at} of {everyone}"
        return answered(question, UNKNOWN, text, "Record what the rules need; see the annotators below.")
    if not screening.proposed:
        applied = len(screening.rules) - len(screening.unknown)
        finds = f"{pluralize(applied, 'rule')} that could be applied {'finds' if applied == 1 else 'find'} nobody"
        gone = "; those who failed seem to have been removed before" * bool(found.quality.removed)
        return answered(question, FINE, f"{finds} to look at among {everyone}{gone}", "")
    text = f"the rules name {len(screening.proposed)} of {everyone}; without their judgements "
    todo = f"Look at how {join_names(screening.proposed)} worked, and talk to them before you leave anybody out."
    if not screening.first_without:
        return answered(question, LOOK, f"{text}there is nothing left to compare", todo)
    stays = screening.first_without == screening.first
    text += f"{screening.first_without} comes first, {'as with them' if stays else f'with them {screening.first}'}"
    few = len(screening.proposed) <= 0.1 * screening.annotators
    return Check(question, FINE if stays and few else LOOK, f"{'yes' if stays else 'no'}: {text}", todo)


def agreement(found: Analysis) -> Check:
    question, agreement = "Do annotators agree beyond chance?", found.agreement
    others = _others_disagree(found)
    own = f" in {found.campaign.pair}" * bool(others)
    if not agreement or agreement.estimate is None:
        why = agreement.reason if isinstance(agreement, Agreement) else "too few items were judged by two annotators"
        more = "Give 100 items or more, drawn at random over all systems, to a second annotator, too."
        todo = more if "two annotators" in why else "Look at the scores of each annotator below."
        return answered(question, PROBLEM if others else UNKNOWN, others + why, todo)
    if not np.isfinite([agreement.estimate, agreement.low, agreement.high]).all():
        text = f"{others}the data allow no interval of the agreement{own}"
        return answered(question, PROBLEM if others else UNKNOWN, text, "Let two annotators judge more items.")
    verdict = PROBLEM if agreement.low <= 0 or others else FINE if agreement.estimate >= 0.4 else LOOK
    return answered(
        question,
        verdict,
        f"{others}{agreement.estimate:.2f}{own}, 95 % interval {agreement.low:.2f} to {agreement.high:.2f}, where 1 is "
        "the same scores and 0 chance (Krippendorff's alpha; fine from 0.40, a problem where an interval reaches 0)",
        "Go through the items on which annotators differ most, together with them; sharpen the instructions; have some "
        "items judged anew.",
    )


def _others_disagree(found: Analysis) -> str:
    """Name the language pairs, other than that in detail, whose annotators do not agree beyond chance."""
    if not found.agreement or found.agreement.by_pair.empty:
        return ""
    table = found.agreement.by_pair
    bad = table[(table["low"] <= 0) & (table["pair"] != found.campaign.pair)]
    named = [f"{row.pair} ({row.estimate:.2f})" for row in bad.itertuples()]
    return f"not in {join_names(named)}; " if named else ""


def steady(found: Analysis) -> Check:
    question, again, repeated = "Are annotators steady with themselves?", found.quality.again, found.quality.repeated
    if again is None or repeated < REPEATS:
        text = f"{pluralize(repeated, 'item')} shown twice (from {REPEATS} on, they tell)"
        text = "no item was shown twice" if again is None else text
        return answered(
            question, UNKNOWN, text, "Show every annotator about ten items a second time: that tells who is steady."
        )
    return answered(
        question,
        graded(again, 10, 20),
        f"half of all second scores lie within {again:.0f} points of 100 of the first (fine to 10, look to 20)",
        "Train annotators with examples for the steps of the scale.",
    )


def attention(found: Analysis) -> Check:
    question, quality = "Do annotators notice degraded translations?", found.quality
    if not quality.tested:
        text = "no degraded items beside their originals"
        return answered(
            question, UNKNOWN, text, "Degrade about one item in ten on purpose: that tells who pays attention."
        )
    fail = f"{len(quality.failed)} of {quality.tested} fail WMT's test"
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
        text = f"fewer than {context.PEOPLE} annotators judged such documents, so the size of the effect is not known"
        return answered(question, UNKNOWN, text, "Let more annotators judge documents with degraded segments.")
    text = f"shown again after a degraded segment, translations lose {abs(held.estimate):.1f} points of 100 "
    text += f"{'more' if held.estimate >= 0 else 'less'} than before it, 95 % interval {held.low:+.1f} to "
    text += f"{held.high:+.1f} (fine where surely within ±{context.MARGIN:g}, look where surely not zero)"
    if held.verdict in ("equivalent", "both"):
        return answered(question, FINE, text, "")
    if held.verdict == "different" or (tested.p is not None and tested.p < 0.05):
        todo = "Rank without repeats from degraded documents, and next time degrade whole documents."
        return answered(question, LOOK, text, todo)
    todo = "Next time degrade whole documents, and the question does not arise."
    return answered(question, UNKNOWN, f"{text}: neither is sure", todo)
