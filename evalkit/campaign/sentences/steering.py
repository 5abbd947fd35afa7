"""Judgements that were steered, and whether to stop, in words."""

from __future__ import annotations

from evalkit.campaign.missing import Missing
from evalkit.campaign.sentences.say import say
from evalkit.campaign.steering import NAIVE, STRICT, Steering, Stopping
from evalkit.stats.terms import join_names, pluralize

#: Share of evenly weighted judgements below which weighted means scatter too much to go by.
_WORTH = 0.4
_HOW = (
    "Who steers leaves bad luck in place: a system whose first judgements were too low is shown less, and makes "
    "up for it slowly. So plain means tend to be too low, most for systems that were shown little."
)


def steered(found: Steering | Missing) -> list[str]:
    """Say on the first page that counts were steered; nothing where that does not matter."""
    if not found or not found.matters:
        return []
    if not found.weighted:
        return [f"{_counts(found)} If scores had a say in that, plain means of systems shown little are too low."]
    return [f"{_counts(found)} {_moved(found)}"]


@say.register
def steering(found: Steering) -> list[str]:
    if not found.weighted:
        return [f"{_counts(found)} {_suspected(found)}", _remedy(found)]
    source = "rebuilt from Pearmut's log" if found.logged else "from the column probability"
    lacking = f" {pluralize(found.lacking, 'judgement')} without one {'is' if found.lacking == 1 else 'are'} left out."
    sentences = [
        f"{_counts(found)} {_HOW} Weights of 1 / probability ({source}) undo that.{lacking if found.lacking else ''}",
        f"{_moved(found)} {_range(found)} Everything else on this page rests on plain judgements.",
    ]
    least = found.table.loc[found.table["worth"].idxmin()]
    if least["worth"] < _WORTH:
        sentences.append(
            f"Weights are uneven: the weighted mean of {least['system']} is as sure as one of "
            f"{least['worth'] * least['judgements']:,.0f} even judgements, though it has {least['judgements']:,}."
        )
    return sentences


def _counts(found: Steering) -> str:
    table = found.table
    most, least = (table.loc[place] for place in (table["judgements"].idxmax(), table["judgements"].idxmin()))
    return (
        f"Systems were not shown equally often: {most['system']} has {most['judgements']:,} judgements, "
        f"{least['system']} {least['judgements']:,}."
    )


def _moved(found: Steering) -> str:
    """Say what weights change."""
    names = join_names(found.moved)
    moved = (
        f"the {'mean' if len(found.moved) == 1 else 'means'} of {names} {'moves' if len(found.moved) == 1 else 'move'}"
    )
    text = f"Weighted by 1 / probability, {moved if found.moved else 'no mean moves'} beyond chance"
    order = f", and {found.table['system'].iloc[0]} comes first" if found.other_first else ""
    return f"{text}{order}."


def _range(found: Steering) -> str:
    gap = found.table["weighted"] - found.table["plain"]
    text = f"Weighted means differ from plain ones by {gap.min():+.2f} to {gap.max():+.2f} points"
    return f"{text}; on average by {gap.mean():+.2f}."


def _suspected(found: Steering) -> str:
    if found.why and "column" in found.why:
        return f"They cannot be weighted: {found.why}."
    return f"Those with higher scores have more, as where a tool sends more to the systems that lead. {_HOW}"


def _remedy(found: Steering) -> str:
    """Say what to add so that judgements can be weighted."""
    why = f" ({found.why})" if found.why and "column" not in found.why else ""
    how = "add a column probability: how probable it was, given what was known then, that the screen showed the system"
    if found.logged:
        how = "put the campaign's own file, campaigns/NAME.json, beside the folder of the log, and import it again"
    return (
        f"How far they are bent cannot be told without probabilities{why}: {how}. If counts were fixed before the "
        "first score, nothing is bent."
    )


@say.register
def stopping(found: Stopping) -> list[str]:
    rule, naive = found.rule, found.table[found.table["rule"].eq(NAIVE)].iloc[0]
    first, second = found.systems
    when = "the end of each day" if found.daily else "every 20 screens"
    said = f"not yet: {first} is not surely better than {second}"
    if rule["verdict"] != "not yet":
        said = f"yes, as far as {first} and {second} are asked: {rule['verdict']}, as it was after {rule['screens']:,} "
        said += f"of {found.screens:,} screens"
    sentences = [
        f"May you stop now? By “{rule['rule']}”, {said}. It is asked at {when} ({pluralize(found.looks, 'look')}), and "
        f"is made to name a winner between equal systems in {rule['nominal']:.0%} of campaigns or fewer; of campaigns "
        f"redrawn without a difference it did so in {rule['false_alarms']:.0%}. A test at p < {naive['nominal']:g} at "
        f"each of these looks does so in {naive['false_alarms']:.0%}."
    ]
    if not found.planned:
        sentences.append(
            "It needs no plan, and finds little in campaigns of this size. Who has planned a number of judgements can "
            f"say so (-p planned=N), and ask “{STRICT}”, which finds more."
        )
    return sentences
