"""What was collected, by whom, and how annotators work: the sentences of these results."""

from __future__ import annotations

import pandas as pd

from evalkit.campaign.agreement import COLLECT, Agreement
from evalkit.campaign.annotators import Profiles, Screening
from evalkit.campaign.collection import Collection
from evalkit.campaign.opening import Campaign
from evalkit.campaign.quality import FEWEST_REPEATS, MARGIN, RAW, Calibration, Context, Equivalence, QualityControl
from evalkit.campaign.sentences.say import lacking, say
from evalkit.data.provenance import source_of
from evalkit.human.annotators import Rule
from evalkit.human.calibration import FORMS
from evalkit.stats.terms import join_names, pluralize

#: What a profile lacks, and what to collect for it.
_LACKS = {
    "median_abs_diff": "how steady annotators are with themselves: show some items a second time, at least 10 an "
    "annotator, and mark them as 'repeat'",
    "with_others": "how close annotators are to the others: let them share at least 10 items with somebody",
    "seconds": "how long a judgement takes: record when it started and ended",
    "drift": "whether scores drift over time: record start times, and give every annotator four documents or more",
    "qc_p": "whether annotators pay attention: add degraded items beside their originals",
}


@say.register
def campaign(found: Campaign) -> list[str]:
    name = source_of(found.ratings)["name"]
    text = f"This is an example on public data ({name}), not a campaign of yours" if found.example else name
    others = len(found.pairs) - 1
    text += f": {pluralize(len(found.ratings), 'judgement')}"
    more = pluralize(others, "other language pair")
    text += f". This page is about {found.pair}; {more} in the overviews." if others else f" of {found.pair}."
    if found.turned:
        text += " Low scores are good here, so all scores are turned round: higher is better."
    if found.renamed:
        text += f" {pluralize(found.renamed, 'name')} of systems or annotators, longer than a line or with unseen "
        text += f"characters, {'is' if found.renamed == 1 else 'are'} shortened."
    return [text]


@say.register
def collection(found: Collection) -> list[str]:
    by = f" by {pluralize(len(found.annotators), 'annotator')}" if found.names_people else ""
    sentences = [
        f"{found.pair}: {pluralize(found.annotators['judgements'].sum(), 'judgement')}{by}, of "
        f"{pluralize(len(found.systems), 'system')} and {pluralize(found.segments, 'segment')}."
    ]
    if found.cells:
        never = found.cells - found.judged
        several = f", by several annotators: {found.several:,}" if found.names_people else ""
        sentences.append(
            f"Cells (a segment by a system): {found.cells:,}. Judged: {found.judged:,}{several}. Not judged: {never:,} "
            f"({never / found.cells:.0%})."
        )
    sentences.append(
        f"{pluralize(found.duplicates, 'judgement')} of an item that the same annotator had judged before, not marked "
        "as a repeat: their mean stands for them. Look whether an export was joined to itself."
        if found.duplicates
        else "No annotator judged the same item twice, but for items marked as repeats."
        if found.names_people
        else "The file does not name who judged: perhaps a row is one person's score, perhaps the mean of several."
    )
    if found.notes:
        sentences.append(f"What was assumed in reading the file: {'; '.join(found.notes)}.")
    scale = thin = ""
    if found.assumed_scale:
        low, high = found.assumed_scale
        scale = f"the ends of the scale are not declared; {low:g} to {high:g}, the lowest and the highest score, "
        scale += "stand for them. Say --scale LOW:HIGH when you import the file."
    if found.thin:
        thin = f"{join_names(found.thin)} {'was' if len(found.thin) == 1 else 'were'} judged on fewer segments than "
        thin += "the others. Give every system the same segments, best the same document by the same annotator."
    return sentences + lacking(scale, thin)


@say.register
def agreement(found: Agreement) -> list[str]:
    if found.estimate is None:
        return lacking(f"no estimate for {found.pair}: {found.reason}.", COLLECT)
    among = ", calibration items among them" if found.calibration else ""
    return [
        f"{found.pair}: {pluralize(found.items, 'item')} were judged by two annotators or more{among}, by "
        f"{pluralize(found.shared, 'annotator')} in all. They agree at "
        f"{found.estimate:.2f}, 95 % interval {found.low:.2f} to {found.high:.2f}, where 1 is the same scores and 0 no "
        f"more than chance would bring (Krippendorff's alpha, {found.level})."
    ]


@say.register
def profiles(found: Profiles) -> list[str]:
    table, means = found.table, found.table["mean"]
    stretched = "Here and in the rules, every scale is stretched to 0 to 100."
    if len(table) > 1:
        run = f"from {means.min():.0f} to {means.max():.0f} points of 100"
        sentences = [f"{len(table):,} annotators: their mean scores run {run}. {stretched}"]
    else:
        sentences = [f"1 annotator, with a mean score of {means.min():.0f} points of 100. {stretched}"]
    if "with_others" in table:
        rho = table["with_others"].dropna()
        sentences.append(
            f"The rank correlation of an annotator with the mean of the others is {rho.median():.2f} in the median, "
            f"{rho.min():.2f} at the lowest ({pluralize(len(rho), 'annotator')} with enough shared items)."
        )
    if "median_abs_diff" in table:
        again = table["median_abs_diff"]
        sentences.append(
            f"Scoring an item a second time, the median annotator is {again.median():.0f} points of 100 away from the "
            f"first score, the least steady one {again.max():.0f}."
        )
    return sentences + lacking("; ".join(_LACKS[name] for name in found.lacks) + "." if found.lacks else "")


@say.register
def screening(found: Screening) -> list[str]:
    sentences = [f"Not applied, {Rule.parse(rule).in_words}: {why}." for rule, why in found.aside.items()]
    for rule, (some, of) in found.common.items():
        words = Rule.parse(rule).in_words
        sentences.append(
            f"{words[0].upper()}{words[1:]} holds for {some} of {of} annotators. That says something about the scale "
            "or the task, not about these people, so the rule proposes nobody."
        )
    if not found.rules:
        return sentences + lacking("no rule is left that fits this scale. Write one, such as 'sd < 5'.")
    everyone, proposed = pluralize(found.annotators, "annotator"), found.proposed
    if proposed:
        sentences += [
            f"The rules name {len(proposed)} of {everyone}, who gave {found.share:.0%} of the judgements: "
            f"{join_names(proposed)}. Talk to them before you leave anybody out: most often there was a "
            "misunderstanding, and who agrees with nobody may be the one who is right.",
        ]
    else:
        sentences.append(f"Among {everyone}, the rules find nobody to look at.")
    rules = f"rule{'s' * (len(found.unknown) > 1)} that could be applied to nobody, for lack of data"
    nobody = f"{rules}: {'; '.join(Rule.parse(rule).in_words for rule in found.unknown)}."
    return sentences + lacking(nobody if found.unknown else "")


@say.register
def quality_control(found: QualityControl) -> list[str]:
    sentences, lacks = [], []
    if found.tested:
        few = pluralize(found.undecided, "annotator")
        sentences.append(
            f"Degraded items score {abs(found.lower):.0f} points of 100 {'below' if found.lower >= 0 else 'above'} "
            f"their originals in the median annotator"
            f"{' (over all language pairs that they judged)' * found.everywhere}. {found.passed} of "
            f"{pluralize(found.tested, 'annotator')} pass WMT's test (paired t-test, p below 0.05)"
            + (f"; {few} judged too few degraded items to tell" if found.undecided else "")
            + (f"; not {join_names(found.failed)}." if found.failed else ".")
        )
    elif found.degraded:
        lacks.append(
            "There are degraded items, but no annotator judged two of them beside their originals. Put the original of "
            "each degraded item into the same annotator's work."
        )
    else:
        lacks.append(
            "No degraded items. Add about one in ten: replace some words by those of another segment, keep "
            "the original in the same annotator's work, and give the copy the item_type 'degraded'."
        )
    if found.removed:
        narrow, p = found.caliper, found.caliper.p
        sentences.append(
            f"{narrow.passed} annotators pass narrowly (p from 0.025 to 0.05) and {narrow.failed} fail as narrowly (to "
            "0.075), where at least a quarter of all these would if nobody had been removed (binomial p "
            f"{'below 0.0001' if p < 0.0001 else f'{p:.4f}'}). So those who failed seem to have been taken out before, "
            "and that the others pass shows nothing."
        )
    if found.again is not None:
        sentences.append(
            f"{pluralize(found.repeated, 'item')} were scored twice or more by the same annotator "
            f"({pluralize(found.repeaters, 'annotator')} in all); the two scores lie {found.again:.0f} points of "
            f"100 apart in the median, and are equal in {found.equal:.0%}."
        )
    else:
        lacks.append(
            "No items shown twice. Show some documents a second time to the same annotator and give the second showing "
            "the item_type 'repeat'; ten an annotator tell whether they are steady."
        )
    if found.means:
        reference, system = found.means
        sentences.append(f"Human references score {reference:.0f} points of 100, outputs of systems {system:.0f}.")
    elif not found.references:
        lacks.append("No human references. Judged blindly among the systems they show how far there is to go.")
    return sentences + lacking(*lacks)


@say.register
def context(found: Context) -> list[str]:
    sentences = [
        f"{pluralize(found.repeats, 'unchanged segment')} were scored in the original document and in a copy; "
        f"{found.before} stand before and {found.after} after the first degraded segment of the copy."
    ]
    if not found.tested:
        return sentences + lacking(
            f"fewer than {FEWEST_REPEATS} on one side are too few to test. More copied documents, with the first "
            "degraded segment in the middle, would do."
        )
    if found.within is None or found.p is None:
        sentences.append(
            f"After it, the second showing scores {abs(found.effect):.1f} points of 100 "
            f"{'lower' if found.effect >= 0 else 'higher'} than before it. No document has both, so nothing can be "
            "tested."
        )
    else:
        advice = "Leave repeats from degraded documents out of the ranking, or degrade whole documents."
        sentences.append(
            f"The original minus the second showing is {found.lost_after:.1f} points of 100 after it and "
            f"{found.lost_before:.1f} before it. Within documents the two differ by {found.within:.1f} points "
            f"(permutation test, two-sided p = {found.p:.3f}): "
            + (f"more than chance. {advice}" if found.p < 0.05 else "no more than chance.")
        )
    return [*sentences, _equivalence(found.equivalence)] if found.equivalence else sentences


def _equivalence(found: Equivalence) -> str:
    meant = {
        "equivalent": "so small that it may count as none",
        "both": "not zero, yet so small that it may count as none",
        "different": "surely there",
        "undecided": "neither surely there nor surely small: the data cannot tell",
    }[found.verdict]
    return (
        f"Over all repeats, the second showing loses {found.estimate:+.1f} points of 100 more after it than before it, "
        f"95 % interval {found.low:+.1f} to {found.high:+.1f} (clustered by annotator). Held against a margin of "
        f"{MARGIN:g} point by two one-sided tests, the effect is {meant}."
    )


@say.register
def calibration(found: Calibration) -> list[str]:
    whom, means = {"annotator": "annotator", "pair": "language pair"}[found.by], found.strictness["mean"]
    low, high = found.scale
    sentences = [
        f"{pluralize(found.strictness['items'].max(), 'calibration item')} rated by {pluralize(len(means), whom)}: "
        f"their means on them run from {means.min():.2f} to {means.max():.2f} on a scale from {low:g} to {high:g}. "
        "Whoever has a low mean is strict, and their scores go up."
    ]
    if found.unmoved:
        sentences.append(f"No calibrated scores of systems: {found.unmoved}")
    else:
        sentences.append(_changed(found.systems))
        if FORMS["line"] not in set(found.systems["form"]):
            sentences.append("There is no two-point line, because it also needs human references, rated by everybody.")
        if found.excluded:
            lost = pluralize(found.excluded, found.by)
            sentences.append(f"{lost} without calibration items or outputs of systems are left out.")
    if found.carry_over.empty:
        return sentences + lacking(
            f"whether shifts carry over to other items can be tested where three {whom}s or more rated the same four "
            "items or more."
        )
    if found.share is None:
        return [*sentences, "Whether a shift carries over cannot be told: the groups hardly differ on these items."]
    good = "A shift does more good than harm." if found.share > 0.5 else "Below one half, a full shift does more harm "
    good += "" if found.share > 0.5 else "than good."
    return [
        *sentences,
        f"Learned on one half of the calibration items, {found.share:.0%} of a shift shows on the other half (95 % "
        f"interval {found.low:.0%} to {found.high:.0%}). {good}",
    ]


def _changed(systems: pd.DataFrame) -> str:
    """Say whether calibrating changes which system is first, and how many places differ."""
    key = ["system", "pair"] if "pair" in systems else ["system"]
    firsts = {}
    for form, own in systems.groupby("form", sort=False):
        rows = own.loc[own["rank"].eq(1), key].to_numpy(str)
        firsts[form] = " and ".join(f"{row[0]} ({row[1]})" if len(key) > 1 else row[0] for row in rows)
    if len(set(firsts.values())) == 1:
        first = f"{firsts[RAW]} is first by raw scores and after each form"
    else:
        first = "; ".join(f"{names} first by {form}" for form, names in firsts.items())
    ranks = systems.set_index(["form", *key])["rank"].unstack("form")
    moved = int(ranks.drop(columns=RAW).ne(ranks[RAW], axis=0).to_numpy().sum())
    return f"{first}. Places that differ from those by raw scores, over all forms: {moved}."
