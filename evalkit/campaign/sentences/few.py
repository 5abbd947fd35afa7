"""Few human scores and a metric's scores of more segments: what they tell together, in words."""

from __future__ import annotations

import pandas as pd

from evalkit.campaign.few import Few
from evalkit.campaign.sentences.say import say
from evalkit.metrics import ppi
from evalkit.stats.terms import join_names, pluralize

#: Most metrics that get a sentence, and most pairs of systems that are named.
_MOST, _PAIRS = 2, 3
#: Below this p-value the metric sees that judged segments are not like the others.
_CHANCE = 0.05


@say.register
def few(found: Few) -> list[str]:
    names = list(dict.fromkeys(found.table["judge"]))
    sentences = [_one(found, name) for name in names[:_MOST]]
    if len(names) > _MOST:
        sentences.append(f"Of {pluralize(len(names) - _MOST, 'more metric')} with such scores, the table tells.")
    scale = f" People's scores are {found.treated} here, as in the ranking." if found.treated else ""
    sentences.append(
        f"These are 95 % intervals of each mean and each difference, {found.unit} taken as independent, and not "
        "corrected for many comparisons; the ranking above stays people's alone. Whoever chooses, after looking, "
        f"the metric that distinguishes most finds too much.{scale}"
    )
    return sentences


def _one(found: Few, name: str) -> str:
    """Say what one metric adds."""
    own = found.table[found.table["judge"] == name]
    means, gaps = (own[own["what"] == what] for what in ppi.WHAT)
    text = (
        f"{name} also scored {pluralize(int(own['others'].max()), 'segment')} that nobody judged, beside "
        f"{own['judged'].max():,} that people did. People and the metric together (PPI++) make intervals of systems' "
        f"means {_narrower(means)}"
    )
    if len(gaps):
        text += f", and those of differences of two systems {_narrower(gaps)}. {_sure(gaps)}"
    else:
        text += "."
    return f"{text} {_by_chance(found.chance[name])}"


def _narrower(rows: pd.DataFrame) -> str:
    """Say how much narrower intervals are on average."""
    value = rows["narrower"].mean()
    return f"{abs(value):.0%} {'narrower' if value >= 0 else 'wider'}" if round(abs(value), 2) else "no narrower"


def _sure(gaps: pd.DataFrame) -> str:
    """Say how many pairs are distinguished by people alone, and what the metric changes."""
    text = f"People alone distinguish {gaps['distinguished'].sum()} of {pluralize(len(gaps), 'pair')}; with the metric "
    newly, lost = (gaps.loc[gaps[name], "name"].tolist() for name in ("newly", "no_longer"))
    changes = [f"{_named(names)} {words}" for names, words in ((newly, "newly"), (lost, "no longer")) if names]
    return f"{text}{join_names(changes)}." if changes else f"{text}nothing changes."


def _named(names: list[str]) -> str:
    return join_names(names) if len(names) <= _PAIRS else f"{len(names)} pairs"


def _by_chance(p: float) -> str:
    """Say whether judged segments look as if chance had chosen them."""
    if p != p:
        return "Whether chance chose the judged segments cannot be told, and all this supposes that it did."
    if p < _CHANCE:
        return (
            f"But the judged segments are not like the others (the metric scores them differently, p = {p:.3f}). All "
            "this supposes that chance chose what was judged, so do not rely on it."
        )
    return (
        f"All this supposes that chance chose what was judged; the metric sees no sign of another choice (p = {p:.2f})."
    )
