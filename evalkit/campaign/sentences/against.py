"""Two campaigns on the same outputs, in words: what both judged, how they rank it, how high they score it."""

from __future__ import annotations

import pandas as pd

from evalkit.campaign.against import FEWEST, HERE, NEITHER, OPPOSITE, SAME, THERE, Against
from evalkit.campaign.sentences.say import say
from evalkit.stats.terms import join_names, pluralize

#: Share of a campaign's items below which most of it is said not to be compared.
MOST = 0.5


@say.register
def against(found: Against) -> list[str]:
    return [*against_systems(found), *against_items(found)]


def against_systems(found: Against) -> list[str]:
    """Say whether two campaigns contradict each other, what both judged, and how they order the systems."""
    return [*_answer(found), _shared(found), *_orders(found), *_decisions(found)]


def against_items(found: Against) -> list[str]:
    """Say how two campaigns score the same items, how far their people agree, and what intervals draw anew."""
    return [_items(found), _level(found), *_agreement(found), _persons(found), _drawn(found)]


def _answer(found: Against) -> list[str]:
    """Say first whether the two campaigns contradict each other."""
    count = found.decisions["verdict"].value_counts()
    if not len(found.decisions):
        return []
    if count.get(OPPOSITE, 0):
        pairs = pluralize(int(count[OPPOSITE]), "pair")
        return [f"The two campaigns contradict each other on {pairs} of systems: each is sure of another winner."]
    if not count.get(SAME, 0):
        return [
            "The two campaigns do not contradict each other, but there are no two systems that both can distinguish."
        ]
    return [
        "The two campaigns do not contradict each other: of every two systems that both can distinguish, they prefer "
        "the same one."
    ]


def _shared(found: Against) -> str:
    """Say what both campaigns judged, and how much of either that is."""
    sizes, sides = found.sizes, ("here", "there")
    *own, both = sizes["items"]
    shares = dict(zip(sides, (both / one for one in own), strict=True))
    parts = [
        f"{'all' if shares[side] == 1 else _percent(shares[side])} of the {one:,} {side}"
        for side, one in zip(sides, own, strict=True)
    ]
    text = (
        f"Here is {found.names[0]}, there {found.names[1]}. Both judged {pluralize(len(found.systems), 'system')} on "
        f"{pluralize(sizes['segments'][2], 'segment')} of {found.pair}: {pluralize(both, 'translated segment')}, "
        f"{' and '.join(parts)}. Only these are compared."
    )
    if thin := [side for side in sides if shares[side] < MOST]:
        text += f" Take care: most of what was judged {' and '.join(thin)} is not among them."
    if found.sparse:
        text += f" Left out, with fewer than {FEWEST} of them: {join_names(found.sparse)}."
    alone = [
        f"{pluralize(one - sizes['systems'][2], 'system')} {'was' if one - sizes['systems'][2] == 1 else 'were'} "
        f"judged only {side}"
        for side, one in zip(sides, sizes["systems"][:2], strict=True)
        if one > sizes["systems"][2]
    ]
    text += f" {' and '.join(alone)}." if alone else ""
    return text + _meant(found)


def _meant(found: Against) -> str:
    """Say what scores stand for, where that may differ: the criterion, and which way is better."""
    here, there = found.criteria
    text = ""
    if here or there:
        same = "What was judged in both is" if here == there else "What was judged:"
        text += (
            f" {same} {here}."
            if here == there
            else f" {same} here {here or 'not named'}, there {there or 'not named'}."
        )
    if found.unturned:
        text += " Low scores are good here and were turned round; those there were not, for its import says: "
        text += f"{found.unturned.rstrip('.')}."
    return text


def _percent(share: float) -> str:
    return "less than 1%" if share < 0.01 else f"{min(share, 0.99):.0%}"


def _orders(found: Against) -> list[str]:
    """Say which system comes first, and how alike the orders are."""
    table = found.systems
    if len(table) == 1:
        return [f"{table['system'].iloc[0]} is the only system in both, so there is no order to compare."]
    here, there = (join_names(table.loc[table[f"rank_{where}"].eq(1), "system"]) for where in ("here", "there"))
    first = f"{here} comes first in both." if here == there else f"{here} comes first here, {there} there."
    by = {"mean score": "mean scores", "z-score": "z-scores"}
    how = " here and ".join(dict.fromkeys(by[title] for title in found.ranked_by))
    how += " there" if len(set(found.ranked_by)) > 1 else ""
    tau, r = (found.measure("systems, on shared items", name) for name in ("kendall_b", "pearson"))
    if pd.isna(tau["estimate"]):
        return [f"All systems have the same score {_flat(found)}, so there is no order to compare."]
    text = (
        f"{first} The orders of the {len(table)} systems, by {how}, are alike to Kendall's τ-b = {_with_ends(tau)}; "
        f"1 is the same order, 0 no likeness, −1 the other way round. Pearson's r of their scores is {_with_ends(r)}."
    )
    whole = found.measure("systems, on all items of either", "kendall_b")
    if len(whole):
        text += f" On all items that either campaign judged for them, τ-b is {_with_ends(whole)}."
    return [text]


def _flat(found: Against) -> str:
    where = [side for side in ("here", "there") if found.systems[f"rank_{side}"].nunique() == 1]
    return " and ".join(where)


def _decisions(found: Against) -> list[str]:
    """Count the pairs of systems that both campaigns decide alike, and name those decided in opposite ways."""
    table = found.decisions
    if table.empty:
        return []
    count = {verdict: int(table["verdict"].eq(verdict).sum()) for verdict in (SAME, OPPOSITE, HERE, THERE, NEITHER)}
    said = {verdict: f"{number:,}" if number else "none" for verdict, number in count.items()}
    text = (
        f"Each campaign's own test of every two systems, on shared items: of {pluralize(len(table), 'pair')}, "
        f"{said[SAME]} {'is' if count[SAME] == 1 else 'are'} decided alike, {said[OPPOSITE]} in opposite ways, "
        f"{said[HERE]} only here, {said[THERE]} only there, and {said[NEITHER]} in neither."
    )
    opposite = table[table["verdict"] == OPPOSITE]
    named = [f"{row.better_here} is better here, {row.better_there} there" for row in opposite.itertuples()]
    return [text + (f" Opposite: {'; '.join(named[:4])}{'; and others' * (len(named) > 4)}." if named else "")]


def _items(found: Against) -> str:
    r, tau = (found.measure("items", name) for name in ("pearson", "kendall_b"))
    if pd.isna(r["estimate"]):
        return "Item by item there is no correlation: one of the campaigns gave all shared items the same score."
    text = (
        f"Segment by segment, over {int(r['n']):,} translations, scores correlate at Pearson's r = {_with_ends(r)} and "
        f"Kendall's τ-b = {_with_ends(tau)}."
    )
    if r["high"] < 0:
        text += (
            " They run against each other: in one of the two a low score may be good. Import that file again with "
            "--lower-is-better."
        )
    return text


def _level(found: Against) -> str:
    """Say who scores higher, or why that cannot be said."""
    footing, level = found.footing, found.level
    if not footing.unit:
        return (
            f"Levels are not compared: {footing.why}, so a point here is not a point there. Orders and correlations "
            "do not need that."
        )
    size = abs(level["difference"])
    if level["low"] > 0 or level["high"] < 0:
        text = f"On the same items, scores here are {size:.2f} {footing.unit} "
        text += f"{'higher' if level['difference'] > 0 else 'lower'} on average than there"
    else:
        text = f"On the same items, mean scores here less those there are {level['difference']:+.2f} {footing.unit}"
        text += ", which may be chance" if level["low"] < level["high"] else ""
    sure = "" if pd.isna(level["low"]) else f" (95 % interval {level['low']:+.2f} to {level['high']:+.2f})"
    text += f"{sure}. Single items differ with a standard deviation of {level['sd_difference']:.2f}; scores of items "
    text += f"spread by {level['sd_here']:.2f} here and {level['sd_there']:.2f} there."
    if footing.stretched:
        text += " Both scales are stretched to 0 to 100 for this; that a point then means the same is an assumption."
    return text


def _agreement(found: Against) -> list[str]:
    """Say how far people agree inside either campaign, and across."""
    said = [f"{row.where} {_with_ends(row._asdict())}" for row in found.agreement.itertuples()]
    text = [f"Agreement beyond chance, on shared items (1: the same scores): {'; '.join(said)}."] if said else []
    reasons: dict[str, list[str]] = {}
    for where, why in found.lacks.items():
        reasons.setdefault(why.rstrip("."), []).append(where)
    return text + [
        f"How far people agree {' and '.join(where)} cannot be said: {why}." for why, where in reasons.items() if why
    ]


def _persons(found: Against) -> str:
    """Say how people who took part in both agree with themselves."""
    table, names = found.persons, found.sizes["annotators"][2]
    if not names:
        return (
            "No annotator has the same name in both, so nobody can be compared with themselves. Pseudonyms are the "
            "same only where both files were imported by one person, or with the same --salt."
        )
    if table.empty:
        return f"{pluralize(names, 'annotator')} of the same name in both judged no item twice."
    text = (
        f"{pluralize(len(table), 'annotator')} of the same name judged {pluralize(int(table['items'].sum()), 'item')} "
        "in both campaigns"
    )
    known = table["pearson"].dropna()
    if len(known):
        median = f"{known.median():.2f}{' at the median' * (len(known) > 1)}"
        text += f"; their own two scores correlate at r = {median}"
    if "median_abs_diff" in table:
        text += f", and half of them differ by {table['median_abs_diff'].median():.1f} points or less"
        text += " for the median person" * (len(table) > 1)
    return f"{text}. Whether one name is one person, the files do not say."


def _drawn(found: Against) -> str:
    if not found.drawn:
        return "There are no intervals for systems: too few items are shared to be drawn anew."
    people = " and annotators" if "annotators" in found.drawn else ""
    return (
        f"Intervals draw {found.drawn[0]}{people} anew, the same ones in both campaigns at once; those of single items "
        f"draw {found.drawn[0]}."
    )


def _with_ends(row) -> str:
    """Write an estimate with its interval."""
    if pd.isna(row["low"]):
        return f"{row['estimate']:.2f}"
    return f"{row['estimate']:.2f} (95 % interval {row['low']:.2f} to {row['high']:.2f})"
