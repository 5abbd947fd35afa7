"""Automatic metrics, and judges that are models, beside people: the sentences of this result."""

from __future__ import annotations

import pandas as pd

from evalkit.campaign.judges import EPSILON, FEWEST, MOST, Judges
from evalkit.campaign.sentences.say import say
from evalkit.stats.terms import join_names, pluralize

#: Most metrics and models of which each gets a sentence, and pairs of systems that are named.
_MOST, _PAIRS = 3, 3


@say.register
def judges(found: Judges) -> list[str]:
    table = found.table.set_index("judge")
    rows = [row for row in found.table.itertuples() if row.kind != "people"]
    sentences = [_one(row, found) for row in rows[:_MOST]]
    if len(rows) > _MOST:
        sentences.append(f"These agree best with people over items; of {len(rows) - _MOST} more, the tables tell.")
    if found.persons:
        own, least, most = (table["kendall_b"][name] for name in table.index[-3:])
        known = f"{least:.2f} to {most:.2f}, {own:.2f} in the median" if own == own else "not defined"
        sentences.append(
            f"People among themselves: Kendall's τ-b of one person's scores with the mean of the others' is {known} "
            f"({_whom(found.persons)})."
        )
    else:
        sentences.append(
            f"How well people agree among themselves cannot be said, because nobody shares {FEWEST} items with "
            "another person. So nothing tells how high these figures could be: let two people judge the same items."
        )
    sentences += [_as_annotator(row) for row in found.models.itertuples()]
    if len(found.calibrated):
        sentences += [_calibrated(str(name), own) for name, own in found.calibrated.groupby("judge", sort=False)]
    if found.lower:
        low = join_names(list(found.lower))
        are = "is" if len(found.lower) == 1 else "are"
        sentences.append(f"Lower is better by {low}, which {are} turned round for every comparison here.")
    if found.treated:
        sentences.append(
            f"People's scores are {found.treated} here, as in the ranking; only accuracy with ties takes raw ones."
        )
    return sentences


def _whom(persons: int) -> str:
    """Say who was held against the others."""
    if persons == MOST:
        return f"the {persons} persons who share most items"
    return f"{pluralize(persons, 'person')} with {FEWEST} shared items or more"


def _one(row, found: Judges) -> str:
    """Say of one metric how it orders systems, and what its score of an item tells."""
    if not row.items:
        return f"{row.judge} scored whole systems only: it {_order(row, found)}."
    text = f"{row.judge} ({pluralize(int(row.items), 'item')}) {_order(row, found)}"
    if pd.isna(row.kendall_b):
        return f"{text}; over items nothing can be correlated, because one side never varies."
    ends = found.intervals[(found.intervals["judge"] == row.judge) & (found.intervals["statistic"] == "kendall_b")]
    low, high = ends[["low", "high"]].iloc[0]
    over = f"over items Kendall's τ-b with people's scores is {row.kendall_b:.2f}"
    over += f" (95 % interval {low:.2f} to {high:.2f}, {found.unit} drawn anew)" if low == low else ""
    return f"{text}; {over}{_as_good(found.beaten[row.judge], found.persons)}."


def _order(row, found: Judges) -> str:
    """Say how a metric orders the systems."""
    if row.systems < 2:
        return "scored one system, so that no order can be compared"
    if pd.isna(row.system_kendall_b):
        return "gives all systems the same score, or people do, so that no order can be compared"
    other = found.pairs[found.pairs["judge"] == row.judge]
    number = int(row.systems) * (int(row.systems) - 1) // 2
    sure = int(other["sure"].sum())
    if other.empty:
        return "orders the systems as people do" + (" (some are level)" if row.system_kendall_b < 1 else "")
    tells = f"people's judgements distinguish {sure or 'none'} of these"
    if len(other) == 1:
        tells = f"people's judgements {'' if sure else 'do not '}distinguish the two"
    if len(other) <= _PAIRS:
        named = "; ".join(join_names([pair.above, pair.below]) for pair in other.itertuples())
        return f"orders the systems as people do but for {named} ({tells})"
    return f"orders {len(other)} of {number} pairs of systems the other way round than people do ({tells})"


def _as_good(beaten: int, persons: int) -> str:
    """Say what an item's score is worth beside one person's, on the same items and against the same other people."""
    if not persons:
        return ""
    whom = f"{beaten} of {persons} persons"
    if beaten == persons:
        return f". An item's score tells more than that of any one of {pluralize(persons, 'person')} does"
    if 2 * beaten >= persons:
        return f". An item's score tells at least as much as that of the median person: more than that of {whom}"
    if beaten:
        return f". An item's score tells less than that of the median person, but more than that of {whom}"
    return f". An item's score tells less than that of any one of {pluralize(persons, 'person')}"


def _as_annotator(row) -> str:
    """Say what a model would be as one more annotator."""
    text = (
        f"{row.judge} as one more annotator, who never enters the ranking: {pluralize(row.judgements, 'judgement')}, "
        f"mean {row.mean:.2f}, standard deviation {row.sd:.2f}."
    )
    if pd.isna(row.alpha) or pd.isna(row.alpha_without):
        return f"{text} No item of it was judged by two people or more, so its place in their agreement is not known."
    moves = "raises" if row.alpha > row.alpha_without else "lowers" if row.alpha < row.alpha_without else "leaves"
    return (
        f"{text} On {pluralize(row.items_of_alpha, 'item')} that two people or more judged, it {moves} Krippendorff's "
        f"alpha from {row.alpha_without:.2f} to {row.alpha:.2f}. {_stand_in(row)}"
    )


def _stand_in(row) -> str:
    """Say whether a model may stand in for an annotator."""
    if not row.tested:
        return "Whether it may replace an annotator is not known: nobody shares 30 items with it and another person."
    wins = round(row.winning_rate * row.tested)
    verdict = "passes" if row.winning_rate >= 0.5 else "does not pass"
    return (
        f"It {verdict} the alternative annotator test: on {row.advantage:.0%} of the items it is at least as near to "
        f"the other people as the person is whom it would replace. Beyond chance it is so for {wins} of "
        f"{pluralize(row.tested, 'person')} (it may be {EPSILON:.0%} worse than they are, and half of them are enough)."
    )


def _calibrated(name: str, own: pd.DataFrame) -> str:
    """Say whether a model's scores mean what people's do."""
    row = own.set_index("measure")
    told = []
    if "bias" in row.index:
        bias = row.loc["bias"]
        told.append(f"differ from people's mean by {bias['value']:+.2f} points{_ends(bias, '+.2f')}")
    if "spread" in row.index:
        told.append(f"spread {row.loc['spread', 'value']:.2f} times as widely{_ends(row.loc['spread'], '.2f')}")
    if "ties" in row.index:
        people = row.loc["ties", "value"] - row.loc["more ties", "value"]
        told.append(
            f"tie {row.loc['ties', 'value']:.0%} of the pairs of outputs of a segment, people's means {people:.0%}"
        )
    return (
        f"Do not put {name}'s scores among people's as they are: they {join_names(told)}."
        if _apart(row)
        else (f"{name}'s scores {join_names(told)}.")
    )


def _apart(row: pd.DataFrame) -> bool:
    """Tell whether a model's level or spread surely differs from people's."""
    nothing = {"bias": 0.0, "spread": 1.0}
    return any(
        not row.loc[name, "low"] <= value <= row.loc[name, "high"]
        for name, value in nothing.items()
        if name in row.index and row.loc[name, "low"] == row.loc[name, "low"]
    )


def _ends(row: pd.Series, style: str) -> str:
    """Write an interval, where there is one."""
    return f" (95 % interval {row['low']:{style}} to {row['high']:{style}})" if row["low"] == row["low"] else ""
