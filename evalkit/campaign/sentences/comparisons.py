"""What comparisons say: the sentences of these results."""

from __future__ import annotations

import math

from evalkit.campaign.ranking import Comparisons
from evalkit.campaign.sentences.say import lacking, say
from evalkit.stats.terms import join_names, pluralize

#: From this standardised residual on, a pair is named that answers otherwise than strengths expect.
ODD = 3.0


@say.register
def comparisons(found: Comparisons) -> list[str]:
    systems = sum(map(len, found.groups))
    never = systems * (systems - 1) // 2 - len(found.met)
    apart = f" {pluralize(never, 'pair')} {'was' if never == 1 else 'were'} never compared" if never else ""
    if never:
        apart += "." if len(found.groups) > 1 else ", and what is said of them follows from comparisons with others."
    sentences = [
        f"{pluralize(len(found.answers), 'comparison')} of {pluralize(systems, 'system')} in "
        f"{pluralize(len(found.met), 'pair')} of them, {found.ties:.0%} ties.{apart} A strength is a natural logarithm "
        "of odds: a system that is 1 ahead of another is preferred to it about three times as often as the other way "
        "round.",
        *_groups(found),
        *_apart(found),
        *place(found),
        _scale(found),
    ]
    if found.circles.triples:
        sentences.append(circles(found))
    return [*sentences, *_unplaced(found)]


def _groups(found: Comparisons) -> list[str]:
    """Say that groups of systems were never compared."""
    if len(found.groups) < 2:
        return []
    one, other = found.groups[0][0], found.groups[1][0]
    return [
        f"{one} and {other} were never compared, even through others: there are {len(found.groups)} groups, each with "
        "strengths of its own (mean 0), and nothing says how systems of two groups stand to each other. What follows "
        "is of the largest group. Have some of their translations compared."
    ]


def _apart(found: Comparisons) -> list[str]:
    """Say that some systems never lost, so that strengths are held by a prior."""
    if not found.apart:
        return []
    above, below = found.apart[:2]
    lost = [name for name in below if any(frozenset((name, one)) in found.met for one in above)]
    never = [name for name in below if name not in lost]
    text = f"{join_names(above[:5])} never lost to, or tied with, {join_names(lost[:5])}: better, but by how much no "
    text += "comparison tells. A weak prior keeps these strengths finite."
    if never:
        text += f" {join_names(above[:5])} and {join_names(never[:5])} were never compared with each other."
    return [text]


def place(found: Comparisons) -> list[str]:
    """Say what standing first adds; nothing where that cannot be found."""
    if not found.place:
        return []
    gain, low, high = found.place
    share = 1 / (1 + math.exp(-gain))
    does = "favours" if low > 0 else "harms" if high < 0 else "may or may not matter to"
    text = f"Standing first on the screen (left, or above) {does} a translation: of two equal ones it would win "
    text += f"{share:.0%} of comparisons without a tie (log odds {gain:+.2f}, 95 % interval {low:+.2f} to {high:+.2f})."
    return [f"{text} The ranking is without this effect."]


def _unplaced(found: Comparisons) -> list[str]:
    """Say what is lacking to find the effect of the place."""
    if found.place:
        return []
    why = (
        "which system stood first follows from which two were compared"
        if found.placed
        else ("the file does not say which translation stood first")
    )
    return lacking(
        f"Whether people favoured a place on the screen is not known: {why}.",
        "Draw the order of two translations by chance, and keep it in a column first (A or B).",
    )


def _scale(found: Comparisons) -> str:
    """Say whether one scale of strengths fits."""
    fit = found.fit.strengths
    if not fit.freedom:
        return (
            "Whether one scale of strengths fits cannot be tested: no pairs of systems go round in a circle, so that "
            "some strengths fit whatever was answered."
        )
    odd = found.residuals[found.residuals["residual"].abs() >= ODD]
    fits = "fits" if fit.p >= 0.05 else "does not fit"
    text = (
        f"One scale of strengths {fits} (chi-squared {fit.statistic:.1f}, {pluralize(fit.freedom, 'degree')} of "
        f"freedom, p = {fit.p:.3f}; answers of one person or text are alike, so chi-squared is divided by "
        f"{fit.effect:.1f})"
    )
    if fit.p >= 0.05 or odd.empty:
        return f"{text}."
    row = odd.iloc[0]
    return (
        f"{text}: {row['system_a']} won {row['share']:.0%} of comparisons with {row['system_b']}, where "
        f"{row['expected']:.0%} is expected."
    )


def circles(found: Comparisons) -> str:
    """Say how many triples of systems go in a circle, and how many would by chance."""
    own, names = found.circles, ", ".join(" – ".join(three) for three in found.circles.found[:2])
    go = "goes" if len(own.found) == 1 else "go"
    text = f"Of {pluralize(own.triples, 'triple')} of systems that all met, {len(own.found)} {go} in a circle (A beats "
    text += f"B, B beats C, C beats A){f', such as {names}' if names else ''}; chance alone makes {own.expected:.1f}"
    return text + (f" (as many or more with p = {own.p:.2f})." if own.found else ".")
