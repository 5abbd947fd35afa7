"""Plan and outcome: the sentences of this result."""

from __future__ import annotations

from evalkit.campaign.design.expectation import Outcome
from evalkit.campaign.sentences.say import say
from evalkit.stats.terms import join_names, pluralize


@say.register
def outcome(found: Outcome) -> list[str]:
    lost = found.wanted - found.collected
    text = f"Plan and outcome: {found.wanted:,} judgements by {found.protocol} were planned (seed {found.seed}), "
    text += f"{found.collected:,} are there" + (f"; {lost:,} are lacking" if lost > 0 else "")
    behind = found.annotators[found.annotators["lacking"] > 0].sort_values("lacking", ascending=False)
    if lost > 0 and len(behind):
        names = [f"{row.annotator} ({row.lacking:,})" for row in behind.head(3).itertuples()]
        text += f", of {pluralize(len(behind), 'annotator')}: " + ("most of " if len(behind) > 3 else "")
        text += join_names(names)
    return [f"{text}.", *_power(found)]


def _power(found: Outcome) -> list[str]:
    """Say what the plan was to distinguish, and what these data do."""
    parts = []
    if found.planned:
        parts.append(f"The plan was to find differences of {_size(found.planned, found.unit)} with a chance of 80%")
    if found.achieved:
        how = "what was collected finds" if found.planned else "What was collected finds"
        parts.append(f"{how} differences of {_size(found.achieved, found.unit)}, by what scatters in it")
    return [f"{'; '.join(parts)}."] if parts else []


def _size(value: tuple[float, float], unit: str) -> str:
    difference, error = value
    if unit != "points":
        return f"{difference:.1%} of comparisons"
    return f"{difference:.2g} points (standard error of a difference: {error:.2g})"
