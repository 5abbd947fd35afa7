"""Metrics, models and another campaign beside one's own judgements: which findings these results are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from evalkit.campaign.against import ALONE, OPPOSITE, SAME, Against
from evalkit.campaign.against import FEWEST as FEWEST_ITEMS
from evalkit.campaign.few import Few, Labels
from evalkit.campaign.findings import Finding, Missing, finding, say, tell
from evalkit.campaign.judges import EPSILON, FEWEST, MOST, Judges
from evalkit.metrics import ppi
from evalkit.stats.terms import join_names

#: Most metrics and models of which each gets a sentence, and most pairs of systems that are named.
_MOST, _PAIRS = 3, 3
#: Share of a campaign's items below which most of it is said not to be compared.
_MOSTLY = 0.5
#: Below this p-value the metric sees that judged segments are not like the others.
_CHANCE = 0.05


@tell.register
def judges(found: Judges) -> Iterator[Finding]:
    rows = [row for row in found.table.itertuples() if row.kind != "people"]
    for row in rows[:_MOST]:
        yield _one(row, found)
    if len(rows) > _MOST:
        yield finding("judges.more", more=len(rows) - _MOST)
    if found.persons:
        own, least, most = found.table["kendall_b"].iloc[-3:]
        known = finding("judges.known" if own == own else "judges.undefined", ends=(least, most), median=own)
        key = "judges.people_most" if found.persons == MOST else "judges.people"
        yield finding(key, known=known, found=found, fewest=FEWEST)
    else:
        yield finding("judges.nobody", fewest=FEWEST)
    for row in found.models.itertuples():
        yield _as_annotator(row)
    for name, own in found.calibrated.groupby("judge", sort=False) if len(found.calibrated) else ():
        yield _calibrated(str(name), own.set_index("measure"))
    if found.lower:
        yield finding("judges.lower", found=found)
    if found.treated:
        yield finding("judges.treated", found=found)


def _one(row: Any, found: Judges) -> Finding:
    """Say of one metric how it orders systems, and what its score of an item tells."""
    order = _order(row, found)
    if not row.items:
        return finding("judges.systems_only", row=row, order=order)
    if pd.isna(row.kendall_b):
        return finding("judges.flat", row=row, order=order)
    own = found.intervals[(found.intervals["judge"] == row.judge) & (found.intervals["statistic"] == "kendall_b")]
    ends = tuple(own[["low", "high"]].iloc[0])
    sure = finding("judges.interval", ends=ends, found=found) if ends[0] == ends[0] else None
    worth = None
    if persons := found.persons:
        beaten = found.beaten[row.judge]
        key = "all" if beaten == persons else "most" if 2 * beaten >= persons else "some" if beaten else "none"
        worth = finding(f"judges.worth_{key}", beaten=beaten, found=found)
    return finding("judges.one", row=row, order=order, sure=sure, worth=worth)


def _order(row: Any, found: Judges) -> Finding:
    """Say how a metric orders the systems."""
    if row.systems < 2 or pd.isna(row.system_kendall_b):
        return finding("judges.one_system" if row.systems < 2 else "judges.level_systems")
    other = found.pairs[found.pairs["judge"] == row.judge]
    if other.empty:
        return finding("judges.same_order" if row.system_kendall_b == 1 else "judges.some_level")
    pairs = "; ".join(join_names([pair.above, pair.below]) for pair in other.itertuples())
    values = {
        "other": other,
        "pairs": pairs,
        "sure": int(other["sure"].sum()),
        "all": int(row.systems * (row.systems - 1) // 2),
    }
    return finding("judges.named_order" if len(other) <= _PAIRS else "judges.other_order", **values)


def _as_annotator(row: Any) -> Finding:
    """Say what a model would be as one more annotator, and whether it may stand in for one."""
    stand_in = finding("judges.untested")
    if row.tested:
        key = "judges.passes" if row.winning_rate >= 0.5 else "judges.fails"
        stand_in = finding(key, row=row, wins=round(row.winning_rate * row.tested), epsilon=EPSILON)
    agree = finding("judges.alpha_untold")
    if pd.notna(row.alpha) and pd.notna(row.alpha_without):
        gain = row.alpha - row.alpha_without
        moves = finding(f"judges.{'raises' if gain > 0 else 'lowers' if gain < 0 else 'leaves'}")
        agree = finding("judges.alpha", row=row, moves=moves, stand_in=stand_in)
    return finding("judges.annotator", row=row, agree=agree)


def _calibrated(name: str, row: pd.DataFrame) -> Finding:
    """Say whether a model's scores mean what people's do."""
    told = [
        finding(f"scores.{measure}", value=row.loc[measure, "value"], ends=_ends(row.loc[measure], style))
        for measure, style in (("bias", "+.2f"), ("spread", ".2f"))
        if measure in row.index
    ]
    if "ties" in row.index:
        ties = row.loc["ties", "value"]
        told.append(finding("scores.ties", value=ties, people=ties - row.loc["more ties", "value"]))
    apart = any(
        not row.loc[measure, "low"] <= same <= row.loc[measure, "high"]
        for measure, same in (("bias", 0.0), ("spread", 1.0))
        if measure in row.index and row.loc[measure, "low"] == row.loc[measure, "low"]
    )
    return finding("scores.apart" if apart else "scores.alike", name=name, told=told)


def _ends(row: Any, style: str) -> str:
    """Write an interval, where there is one."""
    if pd.isna(row["low"]):
        return ""
    return f" (95 % interval {row['low']:{style}} to {row['high']:{style}})"


@tell.register
def few(found: Few) -> Iterator[Finding]:
    names = list(dict.fromkeys(found.table["judge"]))
    for name in names[: _MOST - 1]:
        own = found.table[found.table["judge"] == name]
        means, gaps = (own[own["what"] == what] for what in ppi.WHAT)
        p = found.chance[name]
        chance = finding("few.untold" if p != p else "few.chosen" if p < _CHANCE else "few.by_chance", p=p)
        values = {"name": name, "others": own["others"].max(), "judged": own["judged"].max()}
        yield finding(
            "few.one", **values, means=_narrower(means), gaps=_sure(gaps) if len(gaps) else None, chance=chance
        )
    if len(names) >= _MOST:
        yield finding("few.more", more=names[_MOST - 1 :])
    treated = finding("few.treated", found=found) if found.treated else None
    yield finding("few.read", found=found, treated=treated)


@tell.register
def labels(found: Labels) -> Iterator[Finding]:
    for row in list(found.whole.itertuples())[:_MOST]:
        corrected = finding("labels.useless" if pd.isna(row.corrected) else "labels.corrected", row=row)
        yield finding("labels.one", found=found, row=row, alarms=1 - row.specificity, corrected=corrected)
    yield finding("labels.read")


def _narrower(rows: pd.DataFrame) -> Finding:
    """Say how much narrower intervals are on average."""
    value = rows["narrower"].mean()
    key = "few.same" if not round(abs(value), 2) else "few.narrower" if value > 0 else "few.wider"
    return finding(key, share=abs(value))


def _sure(gaps: pd.DataFrame) -> Finding:
    """Say how many pairs are distinguished by people alone, and what the metric changes."""
    changes = []
    for column in ("newly", "no_longer"):
        if names := gaps.loc[gaps[column], "name"].tolist():
            changes.append(
                finding(f"few.{column}", pairs=join_names(names) if len(names) <= _PAIRS else f"{len(names)} pairs")
            )
    changes = changes or [finding("few.nothing")]
    people = {"distinguished": gaps["distinguished"].sum(), "pairs": gaps}
    return finding("few.gaps", width=_narrower(gaps), **people, changes=changes)


@tell.register
def against(found: Against) -> Iterator[Finding]:
    yield from of_systems(found)
    yield from of_items(found)


def against_other(found: Against | Missing) -> list[str]:
    """Say why a second campaign that is named cannot be compared."""
    return say(found) if isinstance(found, Missing) and found is not ALONE else []


def of_systems(found: Against) -> Iterator[Finding]:
    """Choose what is said of whole systems."""
    table = found.decisions
    opposite = table[table["verdict"] == OPPOSITE]
    if len(table):
        key = "opposed" if len(opposite) else "agreed" if table["verdict"].eq(SAME).any() else "open"
        yield finding(f"against.{key}", opposite=opposite)
    yield _shared(found)
    here, there = (criterion or "not named" for criterion in found.criteria)
    if any(found.criteria):
        yield finding("against.criterion" if here == there else "against.criteria", here=here, there=there)
    if found.unturned:
        yield finding("against.unturned", why=found.unturned.rstrip("."))
    yield _orders(found)
    if named := [str(finding("against.opposite", row=row)) for row in opposite.head(_PAIRS).itertuples()]:
        yield finding("against.named", named="; ".join(named))


def _shared(found: Against) -> Finding:
    """Say what both campaigns judged, and how much of either that is."""
    *own, both = found.sizes["items"]
    shares = {side: both / items for side, items in zip(("here", "there"), own, strict=True)}
    parts = [
        finding("against.all" if share == 1 else "against.part", share=share, items=items, side=side)
        for (side, share), items in zip(shares.items(), own, strict=True)
    ]
    thin = [side for side, share in shares.items() if share < _MOSTLY]
    thin_too = finding("against.thin", sides=thin) if thin else None
    sparse = finding("against.sparse", found=found, fewest=FEWEST_ITEMS) if found.sparse else None
    sizes = {"both": both, "segments": found.sizes["segments"][2], "parts": parts}
    return finding("against.shared", found=found, **sizes, thin=thin_too, sparse=sparse)


def _orders(found: Against) -> Finding:
    """Say which system comes first, and how alike the orders are."""
    table, sides = found.systems, ("here", "there")
    if len(table) == 1:
        return finding("against.one_system", system=table["system"].iloc[0])
    tau, r = (found.measure("systems, on shared items", name) for name in ("kendall_b", "pearson"))
    if pd.isna(tau["estimate"]):
        return finding("against.flat", flat=[side for side in sides if table[f"rank_{side}"].nunique() == 1])
    here, there = (join_names(table.loc[table[f"rank_{side}"].eq(1), "system"]) for side in sides)
    first = finding("against.first_in_both" if here == there else "against.firsts", here=here, there=there)
    how = finding("against.by_one" if len({*found.ranked_by}) == 1 else "against.by_both", by=found.ranked_by)
    return finding("against.orders", first=first, found=found, how=how, tau=_with_ends(tau), r=_with_ends(r))


def of_items(found: Against) -> Iterator[Finding]:
    """Choose what is said of single items, and of people."""
    r, tau = (found.measure("items", name) for name in ("pearson", "kendall_b"))
    if pd.isna(r["estimate"]):
        yield finding("against.no_items")
    else:
        turned = finding("against.turned") if r["high"] < 0 else None
        yield finding("against.items", n=int(r["n"]), r=_with_ends(r), tau=_with_ends(tau), turned=turned)
    yield _level(found)
    reasons: dict[str, list[str]] = {}
    for side, why in found.lacks.items():
        reasons.setdefault(why.rstrip("."), []).append(side)
    for why, where in reasons.items():
        if why:
            yield finding("against.untold", where=where, why=why)
    yield _persons(found)
    people = finding("against.and_people") if "annotators" in found.drawn else None
    yield finding("against.drawn", found=found, people=people) if found.drawn else finding("against.undrawn")


def _level(found: Against) -> Finding:
    """Say who scores higher, or why that cannot be said."""
    footing, level = found.footing, found.level
    if not footing.unit:
        return finding("against.no_level", found=found)
    low, high = level["low"], level["high"]
    key = "higher" if low > 0 else "lower" if high < 0 else "chance" if low < high else "difference"
    which = finding(
        f"against.{key}", level=level, size=abs(level["difference"]), unit=footing.unit, ends=_ends(level, "+.2f")
    )
    stretched = finding("against.stretched") if footing.stretched else None
    return finding("against.level", which=which, level=level, stretched=stretched)


def _persons(found: Against) -> Finding:
    """Say how people who took part in both agree with themselves."""
    table, names = found.persons, found.sizes["annotators"][2]
    if not names or table.empty:
        return finding("against.nothing_twice" if names else "against.no_names", names=names)
    r, distance = table["pearson"].median(), table.get("median_abs_diff", pd.Series(dtype=float)).median()
    own_r = finding("against.own_r", r=r) if pd.notna(r) else None
    apart = finding("against.own_apart", points=distance) if pd.notna(distance) else None
    return finding("against.persons", found=found, items=int(table["items"].sum()), r=own_r, apart=apart)


def _with_ends(row: Mapping[str, Any] | pd.Series) -> str:
    """Write an estimate with its interval."""
    return f"{row['estimate']:.2f}{_ends(row, '.2f')}"
