"""How judgements were collected, for the methods: protocol, scale, what was read and what was left out.

What no file tells stands there as a blank in square brackets, for the author to fill in.
"""

from __future__ import annotations

import re

from evalkit.campaign.collection import KINDS, Collection
from evalkit.campaign.opening import Campaign
from evalkit.campaign.paperwork.citing import cite, with_marks
from evalkit.campaign.paperwork.protocol import DA, ESA, MQM, PREFERENCES, UNKNOWN, XSTS, Protocol
from evalkit.data.importing import together
from evalkit.data.provenance import reading_of
from evalkit.data.typology import WMT
from evalkit.stats.terms import join_names, pluralize

_APART = ("excluded: ", "rejected: ")


def blank(what: str) -> str:
    """Write a gap that only the author can fill.

    >>> blank("tool and interface")
    '[tool and interface: to be filled in]'
    """
    return f"[{what}: to be filled in]"


def judgements(campaign: Campaign, collection: Collection) -> str:
    """Say who judged what, on which scale."""
    low, high = campaign.scale
    who = f"{pluralize(campaign.judged['annotator'].nunique(), 'annotator')} gave"
    text = (
        f"{who if campaign.names_people else 'There are'} {pluralize(len(campaign.judged), 'judgement')} of "
        f"{pluralize(collection.segments, 'segment')} translated by "
        f"{pluralize(len(campaign.systems), 'system')} ({campaign.pair}), on a scale from {low:g} to {high:g}"
    )
    text += ", turned round so that higher is better" if campaign.turned else ""
    text += "" if campaign.known_scale else " (the lowest and the highest score given)"
    if collection.cells:
        text += f"; {collection.judged / collection.cells:.0%} of the cells (a segment by a system) were judged"
        text += f", {collection.several:,} of them by two annotators or more" if collection.several else ""
    text += "."
    if len(campaign.criteria) > 1:
        text += f" There were {len(campaign.criteria)} criteria ({join_names(campaign.criteria)}); these are the "
        text += f"judgements of {campaign.criterion}, and so is all that follows."
    return text


def protocol(campaign: Campaign, found: Protocol) -> str:
    """Say how a judgement was made: by the protocol's own description, where the data tell which it was."""
    told = {ESA: _esa, MQM: _mqm, PREFERENCES: _preferences}.get(found.name)
    text = told(campaign, found) if told else _SCORED[found.name]
    if found.beside:
        text += " Outputs of several systems were judged on one screen, beside each other."
    text += f" By the file's format, judgements were collected with {found.tool}." if found.tool else ""
    screen = "interface, and what was on the screen" if found.tool else "tool and interface"
    return f"{text} {blank(screen)} {blank('annotators: who, how recruited, instructed, trained and paid')}"


def _esa(_: Campaign, found: Protocol) -> str:
    levels = f", each with a severity ({join_names(found.severities)})" if found.severities else ""
    marked = f"{pluralize(found.marked, 'error')} {'is' if found.marked == 1 else 'are'} marked in these judgements"
    return (
        f"Annotators marked errors in a translation{levels}, and gave the translation a score: Error Span Annotation, "
        f"ESA {cite('kocmi2024')}. {marked}; the score is the annotator's own, not made of errors."
    )


def _mqm(_: Campaign, found: Protocol) -> str:
    what = join_names(["a category"] * found.typed + ["a severity"])
    works = cite("lommel2014", *(["freitag2021"] if found.weights.startswith(WMT) else []))
    text = (
        f"Annotators marked errors in a translation, each with {what}: Multidimensional Quality Metrics, MQM {works}."
    )
    text += f" {pluralize(found.marked, 'error')} {'was' if found.marked == 1 else 'were'} marked." * (found.marked > 0)
    weights = f"Weights: {with_marks(found.weights)}." if found.weights else blank("scheme and weights")
    return f"{text} Scores are made of the marked errors, not given by annotators. {weights}"


def _preferences(campaign: Campaign, _: Protocol) -> str:
    if not campaign.compares:
        return "Annotators ranked translations of a segment beside each other. The score is minus the rank, 1 the best."
    if not campaign.judged["score"].isin([*campaign.scale, sum(campaign.scale) / 2]).all():
        return (
            "Annotators compared two translations of a segment and said by a number how far they preferred one. A "
            "comparison is two judgements here, one of each system: the number in its favour, below 0 where it is "
            "against it. Systems are ranked by who was preferred; the mean is of these numbers."
        )
    ties = ", or called it a tie" if campaign.judged["score"].eq(sum(campaign.scale) / 2).any() else ""
    return (
        f"Annotators compared two translations of a segment and named the better one{ties}. A comparison is two "
        "judgements here, one of each system: 1 for the better one, 0 for the other, and one half each for a tie."
    )


_SCORED = {
    DA: f"Annotators gave each translation a score: direct assessment, DA {cite('graham2013')}. "
    + blank("whether steps of the scale were labelled, as in DA+SQM"),
    XSTS: "Annotators scored how far a translation means the same as its source: cross-lingual semantic text "
    f"similarity, XSTS {cite('licht2022')}.",
    UNKNOWN: "Annotators gave each translation a score. "
    + blank("protocol, such as DA, DA+SQM, ESA or a scale of your own"),
}


def reading(campaign: Campaign) -> str:
    """Say how the file was read: what was left out, how segments were found, what was assumed; "" where unknown."""
    receipt = {what: str(how) for what, how in reading_of(campaign.ratings).get("receipt", {}).items()}
    if not receipt:
        return ""
    apart = [
        f"{how} {together(what.removeprefix(start))}"
        for what, how in receipt.items()
        for start in _APART
        if what.startswith(start)
    ]
    sentences = [f"Of the file's rows: {receipt['rows']}"] if "rows" in receipt else []
    sentences += [f"Left out, and why: {'; '.join(apart)}"] if apart else []
    if "proposed from the data" in receipt.get("scale", ""):
        ends = receipt["scale"].partition(" (")[0]
        sentences.append(
            f"No file declares the scale: {ends} is the smallest usual one that holds all scores. "
            f"{blank('scale that annotators saw')}"
        )
    sentences += [receipt["orientation"]] if receipt.get("orientation", "").startswith("lower") else []
    if known := _without_advice(receipt.get("segments", "")):
        sentences.append(f"How segments were recognised: {known}")
    if judges := receipt.get("automatic judges"):
        sentences.append(f"Judgements by models ({judges}) were set apart and take no part in these results")
    return " ".join(_sentence(one) for one in sentences)


def _without_advice(text: str) -> str:
    """Leave out sentences that tell the user of an import what to pass to it.

    >>> _without_advice("A segment is a position. Put the JSON beside it, or pass --map segment=item_i.")
    'A segment is a position.'
    """
    return " ".join(one for one in re.split(r"(?<=\.)\s+(?=[A-Z])", text) if " --" not in one)


def _sentence(text: str) -> str:
    """Begin with a capital letter, and end with a full stop where nothing else ends the text."""
    text = f"{text[:1].upper()}{text[1:]}"
    return text if text.endswith((".", "]")) else f"{text}."


def kinds(collection: Collection) -> str:
    """Say what was judged beside outputs of systems."""
    if collection.kinds.empty:
        return ""
    others = collection.kinds[collection.kinds["kind"].ne(KINDS["system"])]
    counts = [f"{int(row.judgements):,} of {row.kind}" for row in others.itertuples()]
    return f"Beside outputs of systems there are judgements of other items: {'; '.join(counts)}." if counts else ""
