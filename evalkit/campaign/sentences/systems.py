"""Which system is better, and what it cost: the sentences of these results."""

from __future__ import annotations

import pandas as pd

from evalkit.campaign.collection import Errors
from evalkit.campaign.method import OWN_LINES
from evalkit.campaign.plan import Cost
from evalkit.campaign.ranking import COLLECT, Criteria, Normalization, Ranking
from evalkit.campaign.sentences.say import lacking, say
from evalkit.human.ranking import rules
from evalkit.stats.terms import join_names, pluralize


@say.register
def normalization(found: Normalization) -> list[str]:
    tops = list(found.tops.values())
    if all(set(top) == set(tops[0]) for top in tops):
        first = f"{join_names(tops[0])} {'comes' if len(tops[0]) == 1 else 'come'} first in all of them."
    else:
        first = "; ".join(f"{join_names(top)} first by {way}" for way, top in found.tops.items()) + "."
    sentences = [f"The same judgements, treated in {len(tops)} ways: {first}"]
    if found.problem:
        return [*sentences, f"How much of it is chance cannot be told: {found.problem}"]
    places, beyond = int(found.shifts["moved"].sum()), int(found.shifts["beyond_noise"].sum())
    if not places:
        return [*sentences, "In no ranking has a system another place than by raw scores."]
    return [
        *sentences,
        f"{pluralize(places, 'place')} in {pluralize(len(found.shifts), 'ranking')} "
        f"{'differs' if places == 1 else 'differ'} from the ranking by raw scores, {beyond} of them by more than "
        "chance would bring.",
    ]


@say.register
def ranking(found: Ranking) -> list[str]:
    method, title = found.method, found.method.title
    sentences = [f"Systems are ranked by {title}: {method.why}."]
    if method.item_types[0] == "calibration":
        sentences.append(
            "There are no outputs of systems here, only calibration items; systems may have other texts each."
        )
    if len(found.names) == 1:
        return [*sentences, "One system was judged, so there is nothing to rank.", *lacking(COLLECT)]
    others = f"{len(found.beaten) if found.level else 'all'}{' of' * bool(found.level)} {len(found.names) - 1} others"
    than = found.names[1] if len(found.names) == 2 else others
    sentences.append(
        f"What could have come out otherwise: {method.why_unit}. So every interval, place and test here asks what "
        f"other {method.drawn} would bring."
    )
    sentences.append(
        f"Compared by t-tests with that uncertainty (one-sided, at {method.alpha:g}, corrected by Holm for "
        f"{pluralize(len(found.pairwise), 'pair')} of systems), {found.top} has a higher {title} than "
        + (f"{than}." if found.beaten else "no other.")
        + (f" It cannot be distinguished from {join_names(found.level)}." if found.level else "")
    )
    sentences += lines_by(found)
    if found.best is None:
        return sentences + lacking(found.unsure)
    sentences.append(
        f"With {method.drawn} drawn anew {found.resamples:,} times, {found.top} comes out first"
        f"{' or level with the first' * (len(found.first) > 1)} in {found.best:.0%} of draws."
    )
    if len(found.humans):
        what = "is a human translation" if len(found.humans) == 1 else "are human translations"
        sentences.append(
            f"{join_names(found.humans['system'])} {what}: shown beside the systems, without a place. Tests between "
            f"systems and human translations are corrected for {pluralize(len(found.duels), 'pair')} of their own."
        )
    return sentences


def lines_by(found: Ranking) -> list[str]:
    """Say which rule draws the lines between clusters, where it is another than ours or cannot be applied."""
    if found.refused:
        return [
            f"The rule for lines that was asked for cannot be applied: {found.refused} So lines follow these tests."
        ]
    if found.method.lines == OWN_LINES:
        return []
    rule, ours = rules.named(found.method.lines), found.method.scores_name
    own = "z-scores" if rule.by == "z" else "raw scores"
    order = "" if ours == own else f" It ranks by {own}, while the order here is by {ours}."
    order += " Without a column domain, all is one domain." * (rule.mean == "domains")
    return [
        f"Lines between clusters, wins and losses are those of the rule “{rule.name}” ({rule.title}; {rule.source}): "
        f"{rules.TESTS[rule.test]}, {rule.sides}; a line stands below a system if {rules.LINES[rule.line]}.{order} The "
        "study ranking_rules shows how often each rule parts equal systems."
    ]


def language_pairs(table: pd.DataFrame) -> list[str]:
    """Say in how many language pairs one system is better than all others. table: see ``rank_pairs``."""
    many = pluralize(len(table), "language pair")
    if len(table) == 1:
        return [f"The file holds one language pair, {table['pair'].iloc[0]}."]
    if "first" not in table:
        return [f"{many}, each with one system."]
    alone = int(table["not_told_apart"].eq("none").sum())
    text = f"In {alone} of {many} one system is better than all others."
    text = text if alone else f"In none of {many} is one system better than all others."
    if "human" not in table:
        return [text]
    judged = table["human"].dropna()
    ahead = judged.str.contains("better than").sum()
    return [f"{text} Human translations were judged in {len(judged)}; in {ahead} of them the first system is better."]


@say.register
def errors(found: Errors) -> list[str]:
    fewest, most = found.by_system.iloc[0], found.by_system.iloc[-1]
    sentences = [
        f"{pluralize(found.errors, 'error')} in {pluralize(found.judgements, 'judgement')}. {fewest['system']} has the "
        f"fewest, {fewest['per_segment']:.2f} a judgement; {most['system']} the most, {most['per_segment']:.2f}."
    ]
    if found.rho is not None:
        sentences.append(
            f"The rank correlation of an item's score with its number of errors is {found.rho:.2f} (−1: more errors "
            "always mean a lower score)."
        )
    return sentences if len(found.types) else [*sentences, "Annotators stated no types of errors."]


@say.register
def cost(found: Cost) -> list[str]:
    each, paid, money = found.hours / found.judgements, found.hourly_pay > 0, f" {found.currency}".rstrip()
    sentences = [
        (f"{found.pair}: " if found.pairs > 1 else "")
        + f"{pluralize(found.judgements, 'judgement')} with times took {found.hours:,.1f} hours, {3600 * each:.0f} "
        f"seconds each on average ({found.how}). The median annotator takes "
        f"{found.by_annotator['mean_seconds'].median():.0f} seconds for one."
    ]
    if paid:
        sentences.append(
            f"At {found.hourly_pay:g}{money} an hour that is {found.cost:,.0f}{money}, or "
            f"{each * found.hourly_pay:.2f}{money} a judgement."
        )
    if found.pairs > 1:
        price = f", or {found.all_hours * found.hourly_pay:,.0f}{money}" if paid else ""
        sentences.append(f"All language pairs together took {found.all_hours:,.1f} hours{price}.")
    times = f"times of {pluralize(found.untimed, 'judgement')}." if found.untimed else ""
    price = "" if paid else "The price: set hourly_pay (and currency) to see what the hours cost."
    return sentences + lacking(times, price)


@say.register
def criteria(found: Criteria) -> list[str]:
    other = found.table[found.table["same_order"] < 1]
    known = found.table["same_order"].notna()
    if not known.any():
        return []
    return [
        f"{join_names(other['criterion'])} {'orders' if len(other) == 1 else 'order'} the systems otherwise."
        if len(other)
        else "All criteria order the systems alike."
    ]
