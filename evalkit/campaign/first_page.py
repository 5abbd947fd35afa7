"""The first page: which system is better, how sure that is, what to do next, and whether to rely on it.

Each function chooses among findings, of the ranking, of checks and of the plan; the words are in ``wording.toml``.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from evalkit.campaign.analysis import Analysis
from evalkit.campaign.findings import Finding, Missing, capital, finding, which
from evalkit.campaign.opening import Campaign
from evalkit.campaign.ranking import Criteria, Ranking, beside_human
from evalkit.data.provenance import reading_of

#: Most things to do that a first page lists, and most reasons that it names.
STEPS, REASONS = 5, 3
#: Checks of what the headline says itself: which system is first, and whether others would find the same.
_SAID = ("apart", "others", "systems", "ranked", "connected")


def headline(found: Analysis, checks: list[Finding]) -> str:
    """Say which system is better, how it stands to people, and whether to rely on it."""
    campaign, ranking = found.campaign, found.ranking
    claims: list[object] = [_unranked(campaign, ranking)]
    if not isinstance(ranking, Missing):
        claims = [better(ranking), *(_beside(ranking, human) for human in ranking.humans["system"])]
    return " ".join(map(str, [*claims, *_read(campaign), trust(checks)]))


def how_sure(found: Analysis) -> list[str]:
    """Say how often such a claim is wrong, whether others would find the same, and for whom few people speak."""
    ranking = found.ranking
    if isinstance(ranking, Missing):
        return []
    said = [*_wrong(ranking), *sure(ranking), *_whose(found.campaign, ranking)]
    return [f"How sure? {' '.join(map(str, said))}"] if said else []


def better(ranking: Ranking) -> str:
    """Say which system is better, in words that need no statistics."""
    names, level, worse = ranking.names, ranking.level, ranking.beaten
    if len(names) == 1:
        key = "only_one_won" if ranking.method.compares else "only_one"
    elif len(ranking.first) == len(names):
        key = "all_equal"
    elif not level:
        key = "clear" if names[2:] else "clear_two"
    elif worse:
        key = "tie_named" if len(level) < 3 else "tie"
    else:
        key = "nobody" if names[2:] else "tie_two"
    lead = "wins" if ranking.method.compares else ranking.method.score
    values = {"lead": lead, "level": level, "others": names[1:], "worse": worse, "few": len(worse) < 3}
    return str(finding(f"ranking.{key}", found=ranking, mean=ranking.means[ranking.top], **values))


def by_criterion(found: Criteria | Missing, campaign: Campaign) -> list[str]:
    """Say which system is better by each other criterion; nothing where there is one."""
    rankings = {} if isinstance(found, Missing) else found.rankings
    others = {name: ranking for name, ranking in rankings.items() if name != campaign.criterion}
    return [f"{name}: {one.reason if isinstance(one, Missing) else better(one)}" for name, one in others.items()]


def _unranked(campaign: Campaign, ranking: Ranking | Missing) -> Finding:
    """Say that there is nothing to compare, or why systems cannot be ranked."""
    why = ranking.reason.removeprefix(f"{campaign.pair}: ") if isinstance(ranking, Missing) else ""
    return finding("ranking.impossible" if campaign.systems else "ranking.nothing", pair=campaign.pair, why=why)


def _wrong(ranking: Ranking) -> list[Finding]:
    """Say how often a sentence that calls a system better is wrong; nothing where none does.

    Each of two equal systems has a chance of alpha to be called better, and Holm's correction keeps it at that for all.
    """
    if not ranking.beaten:
        return []
    key = "ranking.wrong_segments" if ranking.method.unit == ("segment",) else "ranking.wrong"
    return [finding(key, share=2 * ranking.method.alpha)]


def _read(campaign: Campaign) -> Iterator[Finding]:
    """Say which way is better where the file has it the other way round, and what was judged of several."""
    lower = campaign.orientation.startswith("lower")
    return which("read", campaign, lower=lower and campaign.orientation, criterion=len(campaign.criteria) > 1)


def _whose(campaign: Campaign, ranking: Ranking) -> list[Finding]:
    """Say that a few annotators do not speak for others."""
    if ranking.method.draws_people:
        return []
    people = campaign.judged["annotator"].nunique()
    key = "nobody" if not campaign.names_people else "one" if people == 1 else "few"
    return [finding(f"whose.{key}", people=people)]


def _beside(ranking: Ranking, human: str) -> Finding:
    """Say how systems stand to a person's translation, which takes no place itself."""
    stands = {name: beside_human(name, human, ranking.duels) for name in ranking.names}
    ahead, level, behind = (
        [name for name, how in stands.items() if how.startswith(start)] for start in ("better", "not", "worse")
    )
    if not ahead and not behind:
        key = "level"
    elif not level:
        key = "behind" if not ahead else "ahead" if not behind else "between"
    else:
        key = "some" if ahead else "mixed"
    key = f"alone_{key}" if len(ranking.names) == 1 else key
    return finding(f"humans.{key}", human=human, ahead=ahead, level=level, behind=behind)


def sure(ranking: Ranking) -> list[str]:
    """Say how often the first system would be first again, and who else; nothing without a first place or draws."""
    if ranking.best is None or len(ranking.first) > 1 or len(ranking.names) == 1:
        return []
    others = ranking.table.iloc[1:].set_index("system")["best"]
    best, rival = ranking.best, float(others.max())
    lead = best - rival
    noise = 2 * np.sqrt(max(best + rival - lead**2, 0) / ranking.resamples)  # of a difference between shares of draws
    if abs(lead) < noise and best < 0.95:
        key = "shared"
    else:
        key = "rival" if lead < 0 else "mostly" if best > 0.5 else "seldom"
    values = {"drawn": ranking.method.drawn, "top": ranking.top, "best": best}
    return [str(finding(f"sure.{key}", **values, rival=others.idxmax(), rival_best=rival))]


def figures(ranking: Ranking) -> list[str]:
    """Say the scores of the two best systems, and how far they are apart; nothing where all are the same."""
    if len(ranking.first) == len(ranking.names):
        return []
    first, second = ranking.names[:2]
    values = {"first": first, "second": second, "scale": ranking.scale, "apart": ranking.gap(first, second)}
    if ranking.method.compares:
        one, other = ranking.table["score"].iloc[:2]
        return [str(finding("figures.wins", **values, one=one, other=other))]
    means = ranking.means
    highest = max(means, key=means.__getitem__)
    values |= {"one": means[first], "other": means[second], "highest": highest, "mean": means[highest]}
    return [str(finding(f"figures.{ranking.method.score}", **values, turned=highest != first))]


def weights(campaign: Campaign) -> list[str]:
    """Say what marked errors weigh, where scores are made of them; nothing where they are not."""
    said = reading_of(campaign.ratings).get("receipt", {}).get("weights", "")
    return [str(finding("figures.weights", weights=said))] if said else []


def trust(checks: list[Finding]) -> str:
    """Say whether to rely on the result: yes, with care, or not yet, with the claims of the checks that decide it.

    Checks of what the headline says itself decide nothing, but problems; nor do those of other language pairs.
    """
    own = [check for check in checks if not check.elsewhere]
    for verdict, key in (("problem", "not_yet"), ("look", "care"), ("unknown", "blind")):
        decide = [check for check in own if check.verdict == verdict]
        if verdict != "problem":
            decide = [check for check in decide if check.group not in _SAID]
        if titles := list(dict.fromkeys(check.words("title") for check in decide)):
            return str(finding(f"trust.{key}", why=titles[:REASONS], more=len(titles) > REASONS))
    return str(finding("trust.yes"))


def warnings(found: Analysis, checks: list[Finding]) -> list[str]:
    """Name the problems of the file's other language pairs, and what steering does to means where that matters."""
    elsewhere = [check.found for check in checks if check.elsewhere and check.verdict == "problem"]
    steering = found.steering
    if steering and steering.matters:
        elsewhere.append(f"{finding('steering.counts', **steering.counts)} {steering.in_short}")
    return elsewhere


def answers(checks: list[Finding], *, steps: Sequence[str] = ()) -> list[str]:
    """Say what each check found and what to do, what speaks against the result first; the fine ones share a sentence.

    Checks of other language pairs come after those of the pair in detail.
    steps: what the page has already said to do, which is not said again.

    >>> answers([finding("twice.look", many=2), finding("twice.fine"), finding("agreement.fine")], steps=[])
    ... # doctest: +NORMALIZE_WHITESPACE
    ["! look – Annotators judged some items twice, unmarked. 2 judgements are of an item that the same person had judged
    before. To do: Mark second showings as 'repeat', or drop copies.",
    '✓ fine – Nothing was counted twice by accident; annotators agree.']
    """
    said = [*steps, str(finding("apart.look", top="", level=[]).advice)]
    told = []
    for check in sorted(checks, key=lambda check: check.elsewhere):
        if check.verdict != "fine":
            todo = "" if check.advice in {*said, ""} else f" To do: {check.advice}"
            told.append(f"{check.result} – {check.found}{todo}")
    fine = [check for check in checks if check.verdict == "fine"]
    claims = "; ".join(check.words("title") for check in fine)
    return told + [f"{fine[0].result} – {capital(claims)}."] * bool(fine)


def steps(found: Analysis, checks: list[Finding]) -> list[str]:
    """List what to do next, the most urgent first, at most ``STEPS`` things."""
    own = [check for check in checks if not check.elsewhere]
    urgent = [check.advice for check in own if check.verdict == "problem"]
    later = [check for check in own if check.verdict in ("look", "unknown")]
    level = found.ranking and found.ranking.level
    plan = found.plan.step if level and found.plan else ""
    if plan:
        later = [check for check in later if check.group != "apart" and check.key != "others.apart"]
    listed = [*urgent, plan, *(check.advice for check in later)]
    listed += [check.advice for check in checks if check.elsewhere]
    return list(filter(None, dict.fromkeys(listed)))[:STEPS] or [str(finding("steps.publish"))]
