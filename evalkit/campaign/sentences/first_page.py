"""The first page: which system is better, can I trust it, what should I do next."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.campaign.analysis import Analysis
from evalkit.campaign.checks import APART, FINE, LOOK, PROBLEM, UNKNOWN, Check
from evalkit.campaign.opening import Campaign
from evalkit.campaign.ranking import Ranking, beside_human
from evalkit.campaign.sentences import plan as planning
from evalkit.data.provenance import reading_of
from evalkit.stats.terms import join_names, pluralize

#: Most things to do that a first page lists.
STEPS = 5


def headline(found: Analysis, checks: list[Check]) -> str:
    """Say which system is better, how it stands to people, how sure that is, and what stands in the way of it."""
    campaign = found.campaign
    if not found.ranking:
        nothing = "no outputs of systems were judged, so there is nothing to compare."
        if campaign.systems:
            why = getattr(found.ranking, "reason", "").removeprefix(f"{campaign.pair}: ")
            nothing = f"the systems cannot be ranked. {why[:1].upper()}{why[1:]}"
        return " ".join([f"{campaign.pair}: {nothing}", *_turned(campaign), _obstacles(checks)])
    parts = [better(found.ranking), *wrong(found.ranking), *beside_humans(found.ranking), *_turned(campaign)]
    return " ".join([*parts, *sure(found.ranking), *_whose(campaign, found.ranking), _obstacles(checks)])


def wrong(ranking: Ranking) -> list[str]:
    """Say how often a sentence that calls a system better is wrong; nothing where none does.

    Each of two equal systems has a chance of alpha to be called better, and Holm's correction keeps it at that for all.
    """
    if not ranking.beaten:
        return []
    text = f"Even among equally good systems, such a test calls one better in up to {2 * ranking.method.alpha:.0%} of "
    return [f"{text}campaigns{', if segments are independent' * (ranking.method.unit == ('segment',))}."]


def _whose(campaign: Campaign, ranking: Ranking) -> list[str]:
    """Say that a few annotators do not speak for others."""
    if ranking.method.draws_people:
        return []
    if not campaign.names_people:
        return ["The file does not name who judged, so what other people would find is not known."]
    number = campaign.judged["annotator"].nunique()
    who = "this one annotator" if number == 1 else f"these {number} annotators"
    return [f"This holds for {who}; what others would find is not known."]


def _obstacles(checks: list[Check]) -> str:
    """Count what speaks for and against relying on the result."""
    told = {
        FINE: ("is fine", "are fine"),
        LOOK: ("needs a look", "need a look"),
        PROBLEM: ("is a problem", "are problems"),
        UNKNOWN: ("could not be done", "could not be done"),
    }
    own = [check.verdict for check in checks if not check.elsewhere]
    named = [f"{own.count(one)} {words[own.count(one) > 1]}" for one, words in told.items() if one in own]
    if {*own} <= {FINE}:
        return "No check speaks against it."
    return f"We ran {pluralize(len(own), 'check')}: {', '.join(named)}."


def _turned(campaign: Campaign) -> list[str]:
    """Say which way is better where the file's own numbers say it the other way round, and what was judged of several.

    An orientation reads "lower is better by the heading errors: the score is minus it"; only such need a word here.
    """
    way, names = campaign.orientation, campaign.criteria
    lower = [f"{way[0].upper()}{way[1:]}."] if way.startswith("lower") else []
    return lower + [f"This is {campaign.criterion}, one of {len(names)} criteria."] * (len(names) > 1)


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
        many = f"{len(ranking.level)} others" if len(ranking.level) > 2 else join_names(ranking.level)
        worse = f"{len(ranking.beaten)} others" if len(ranking.beaten) > 2 else join_names(ranking.beaten)
        ahead = f"{top} has the highest {_title(ranking)}"
        return f"{pair}: no clear winner. {ahead}, but {many} may be as good. It is better than {worse}."
    if others == 1:
        return f"{pair}: {top} and {ranking.names[1]} cannot be distinguished."
    has = f"{join_names(ranking.first)} {'have' if len(ranking.first) > 1 else 'has'} the highest {_title(ranking)}"
    return f"{pair}: no system can be called the best. {has}, but none of the others is surely worse."


def _title(ranking: Ranking) -> str:
    """Name what the highest score is the highest of."""
    strict = " (strict and lenient annotators evened out)" * ranking.method.by_z
    return f"{ranking.method.title}{strict}"


def beside_humans(ranking: Ranking) -> list[str]:
    """Say how systems stand to people's translations, which take no place themselves; nothing where there are none."""
    sentences = []
    for human in ranking.humans["system"]:
        stands = {name: beside_human(name, human, ranking.duels) for name in ranking.names}
        worse, ahead, level = (
            [name for name, how in stands.items() if how.startswith(start)] for start in ("worse", "better", "not")
        )
        if len(ranking.names) == 1:
            sentences.append(f"It is {stands[ranking.top]}, a human translation.")
        elif not worse and not ahead:
            sentences.append(f"No system is distinguished from the human translation {human}.")
        elif len(worse) == len(stands):
            sentences.append(f"The human translation {human} is better than every system.")
        else:
            whom = iter([f"the human translation {human}", "it", "it"])
            parts = [
                f"{_names(group)} {'is' if len(group) == 1 else 'are'} {how} {next(whom)}"
                for group, how in ((ahead, "better than"), (level, "not distinguished from"), (worse, "worse than"))
                if group
            ]
            sentences.append(f"{join_names(parts)}.")
    return sentences


def _names(group: list[str]) -> str:
    return join_names(group) if len(group) < 4 else f"{len(group)} systems"


def sure(ranking: Ranking) -> list[str]:
    """Say in one sentence how sure the first place is; nothing where there is no first place or no draws."""
    if ranking.best is None or len(ranking.first) > 1 or len(ranking.names) == 1:
        return []
    often = f"in {ranking.best:.0%} of cases" if ranking.best < 0.995 else "practically always"
    others = ranking.table.iloc[1:].set_index("system")["best"]
    rival = f", {others.idxmax()} in {others.max():.0%}" if ranking.level and others.max() >= 0.005 else ""
    return [f"With other {ranking.method.drawn}, {ranking.top} would come first {often}{rival}."]


def figures(ranking: Ranking) -> list[str]:
    """Say the scores of the two best systems, and how far they are apart; nothing where all are the same."""
    if len(ranking.first) == len(ranking.names):
        return []
    first, second = ranking.names[:2]
    if ranking.method.compares:
        one, other = ranking.table["score"].iloc[:2]
        text = f"Against all others, {first} would win {one:.0%} of comparisons, {second}, the next, {other:.0%}"
        return [f"{text}; a tie counts half for either."]
    text = f"{first} has a mean score of {ranking.means[first]:.2f} {_scale(ranking)}, {second}, the next, one of "
    text += f"{ranking.means[second]:.2f}"
    if ranking.method.score == "adjusted":
        return [
            f"{text}. With each annotator's strictness taken out they are {ranking.gap(first, second):.2f} points "
            "apart; this difference is tested and planned for."
        ]
    if not ranking.method.by_z:
        return [f"{text}: they are {ranking.gap(first, second):.2f} points apart."]
    highest = max(ranking.means, key=lambda name: ranking.means[name])
    plain = f" By plain means {highest} would be first, with {ranking.means[highest]:.2f}." * (highest != first)
    return [
        f"{text}.{plain} Some annotators are stricter than others, so systems are ordered by scores with that taken "
        f"out (z-scores). By these the two are {ranking.gap(first, second):.2f} points apart; this difference is "
        "tested and planned for."
    ]


def weights(campaign: Campaign) -> list[str]:
    """Say what marked errors weigh, where scores are made of them; nothing where they are not."""
    said = reading_of(campaign.ratings).get("receipt", {}).get("weights", "")
    return [f"Scores are made of marked errors. Weights: {said}."] if said else []


def _scale(ranking: Ranking) -> str:
    return f"on the scale from {ranking.scale[0]:g} to {ranking.scale[1]:g}"


def trust(checks: list[Check]) -> str:
    """Say whether to rely on the result: yes, with care, or not yet, with the checks that decide it.

    Checks of other language pairs decide nothing, but a problem of theirs is named.
    """
    others = [
        f" {check.question} {check.found[0].upper()}{check.found[1:]}."
        for check in checks
        if check.elsewhere and check.verdict == PROBLEM
    ]
    for verdict, answer in (
        (PROBLEM, "Not yet: the answer is no to"),
        (LOOK, "With care: look at"),
        (UNKNOWN, "With care: the data cannot answer"),
    ):
        names = [f"“{check.question}”" for check in checks if check.verdict == verdict and not check.elsewhere]
        if names:
            named = f"{', '.join(names[:3])}{' and more' if len(names) > 3 else ''}"
            return f"Can you rely on it? {answer} {named}.{''.join(others)}"
    return f"Can you rely on it? Yes, for these texts and these annotators: no check found anything.{''.join(others)}"


def answers(checks: list[Check], *, steps: Sequence[str] = ()) -> list[str]:
    """Say what each check found and what to do, what speaks against the result first; the fine ones share a sentence.

    Checks of other language pairs come after those of the pair in detail.
    steps: what the page has already said to do, which is not said again.

    >>> answers([Check("Is it so?", LOOK, "not quite: b", "Go."), Check("And so?", FINE, "y"), Check("Or?", FINE, "y")])
    ['! look – Is it so? Not quite: b. To do: Go.', '✓ fine – And so? Or?']
    """
    told = [
        f"{check.verdict} – {check.question} {check.found[0].upper()}{check.found[1:]}."
        + ("" if check.advice in {*steps, APART, ""} else f" To do: {check.advice}")
        for check in sorted(checks, key=lambda check: check.elsewhere)
        if check.verdict != FINE
    ]
    fine = [check.question for check in checks if check.verdict == FINE]
    return told + [f"{FINE} – {' '.join(fine)}"] * bool(fine)


def steps(found: Analysis, checks: list[Check]) -> list[str]:
    """List what to do next, the most urgent first, at most ``STEPS`` things."""
    own = [check for check in checks if not check.elsewhere]
    urgent = [check.advice for check in own if check.verdict == PROBLEM and check.advice]
    todo = [check.advice for check in own if check.verdict in (LOOK, UNKNOWN) and check.advice]
    if plan := _plan(found):
        todo = [plan, *(advice for advice in todo if advice != APART)]
    todo += [check.advice for check in checks if check.elsewhere and check.advice]
    listed = list(dict.fromkeys([*urgent, *todo]))[:STEPS] or ["Publish scores, intervals and this report's signature."]
    return listed


def _plan(found: Analysis) -> str:
    """Say what distinguishing the two best systems takes, where they are not distinguished."""
    if not (found.ranking and found.ranking.level and found.plan):
        return ""
    return planning.step(found.plan)
