"""The first page: which system is better, can I trust it, what should I do next."""

from __future__ import annotations

from evalkit.campaign.analysis import Analysis
from evalkit.campaign.checks import APART, CALLED, FINE, LOOK, PROBLEM, UNKNOWN, Check
from evalkit.campaign.opening import Campaign
from evalkit.campaign.ranking import Ranking
from evalkit.campaign.sentences import plan as planning
from evalkit.data.provenance import reading_of
from evalkit.stats.terms import join_names, pluralize

#: Most things to do that a first page lists.
STEPS = 5


def headline(found: Analysis, checks: list[Check]) -> str:
    """Say which system is better, whether that can be trusted, and what to do first."""
    nothing = f"{found.campaign.pair}: no outputs of systems were judged, so there is nothing to compare."
    short, why = better(found.ranking) if found.ranking else nothing, trust(checks).partition(". Of ")[0]
    return (
        f"{short}{_turned(found.campaign)} Can it be trusted? {why}. Next: {steps(found, checks)[0].partition(' ')[2]}"
    )


def _turned(campaign: Campaign) -> str:
    """Say which way is better where the file's own numbers say it the other way round, and what was judged of several.

    An orientation reads "lower is better by the heading errors: the score is minus it"; only such need a word here.
    """
    way, names = campaign.orientation, campaign.criteria
    lower = f" {way[0].upper()}{way[1:]}." if way.startswith("lower") else ""
    which = f" This is {campaign.criterion}, one of {len(names)} criteria." if len(names) > 1 else ""
    return lower + which


def better(ranking: Ranking) -> str:
    """Say which system is better, in words that need no statistics."""
    pair, top, mean = ranking.pair, ranking.top, ranking.means[ranking.top]
    if len(ranking.names) == 1:
        return (
            f"{pair}: only {top} was judged, with a mean score of {mean:.2f} {_scale(ranking)}. Which system is better "
            "can be said when a second one is judged on the same segments."
        )
    if len(ranking.first) == len(ranking.names):
        return f"{pair}: all systems have the same mean score, {mean:.2f} {_scale(ranking)}, so none is better."
    others = len(ranking.names) - 1
    if not ranking.level:
        only = f"{ranking.names[1]}, the only other system"
        return f"{pair}: {top} is better than {only if others == 1 else f'each of the {others} other systems'}."
    if len(ranking.level) < others:
        return (
            f"{pair}: {top} has the highest score, but cannot be distinguished from {join_names(ranking.level)}. "
            f"It is better than {join_names(ranking.beaten)}."
        )
    if others == 1:
        return f"{pair}: {top} and {ranking.names[1]} cannot be distinguished."
    has = f"{join_names(ranking.first)} {'have' if len(ranking.first) > 1 else 'has'} the highest score"
    return f"{pair}: no system can be called the best. {has}, but none of the others is surely worse."


def figures(ranking: Ranking) -> list[str]:
    """Say the scores of the two best systems; nothing where there is one, or all are the same."""
    if len(ranking.first) == len(ranking.names):
        return []
    first, second = ranking.names[:2]
    text = f"In figures, mean scores are {ranking.means[first]:.2f} for {first} and {ranking.means[second]:.2f} for "
    text += f"{second}, the next, {_scale(ranking)}"
    by_z = "; the order is by z-scores, which take out how strict each annotator is" * ranking.method.by_z
    return [f"{text}{by_z}."]


def weights(campaign: Campaign) -> list[str]:
    """Say what marked errors weigh, where scores are made of them; nothing where they are not."""
    said = reading_of(campaign.ratings).get("receipt", {}).get("weights", "")
    return [f"Scores are made of marked errors. Weights: {said}."] if said else []


def _scale(ranking: Ranking) -> str:
    return f"on the scale from {ranking.scale[0]:g} to {ranking.scale[1]:g}"


def trust(checks: list[Check]) -> str:
    """Say whether to trust the result: yes, with care, or not yet, with the checks that decide it."""
    text = f"Of {pluralize(len(checks), 'check')}, {tally(checks)}."
    for verdict, answer in (
        (PROBLEM, "Not yet: a problem with"), (LOOK, "With care: look at"),
        (UNKNOWN, "With care: it is not known whether"),
    ):  # fmt: skip
        names = [f"“{check.statement}”" for check in checks if check.verdict == verdict]
        if names:
            return f"{answer} {'; '.join(names[:3])}{' and more' if len(names) > 3 else ''}. {text}"
    return f"Yes, for these texts and these annotators: no check found anything. {text}"


def tally(checks: list[Check]) -> str:
    """Count verdicts in words, the good ones first.

    >>> tally([Check("a", FINE, ""), Check("b", FINE, ""), Check("c", LOOK, ""), Check("d", UNKNOWN, "")])
    '2 fine, 1 to look at, 1 not known'
    """
    verdicts = [check.verdict for check in checks]
    order = (FINE, LOOK, PROBLEM, UNKNOWN)
    return ", ".join(f"{verdicts.count(verdict)} {CALLED[verdict]}" for verdict in order if verdict in verdicts)


def steps(found: Analysis, checks: list[Check]) -> list[str]:
    """List what to do next, the most urgent first, at most ``STEPS`` things, numbered."""
    urgent = [check.advice for check in checks if check.verdict == PROBLEM and check.advice]
    todo = [check.advice for check in checks if check.verdict in (LOOK, UNKNOWN) and check.advice]
    if plan := _plan(found):
        todo = [plan, *(advice for advice in todo if advice != APART)]
    listed = [*urgent, *todo][:STEPS] or ["Publish scores, intervals and this report's signature."]
    return [f"{number}. {what}" for number, what in enumerate(dict.fromkeys(listed), start=1)]


def _plan(found: Analysis) -> str:
    """Say what distinguishing the two best systems takes, where they are not distinguished."""
    if not (found.ranking and found.ranking.level and found.plan):
        return ""
    return planning.step(found.plan)
