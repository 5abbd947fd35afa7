"""Which system is better, what weights change, whether to stop, and what it cost: which findings these results are."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from evalkit.campaign.analysis import Analysis
from evalkit.campaign.collection import Errors, Levels
from evalkit.campaign.findings import Finding, Missing, finding, tell
from evalkit.campaign.method import OWN_LINES
from evalkit.campaign.plan import Cost
from evalkit.campaign.ranking import COLLECT, Comparisons, Criteria, Normalization, Ranking
from evalkit.campaign.steering import NAIVE, STRICT, Steering, Stopping
from evalkit.human.quality_levels import CRITICAL, PASSED, SHORT
from evalkit.human.ranking import rules

#: Share of evenly weighted judgements below which weighted means scatter too much to go by.
_WORTH = 0.4
#: From this standardised residual on, a pair is named that answers otherwise than strengths expect.
ODD = 3.0


@tell.register
def normalization(found: Normalization) -> Iterator[Finding]:
    tops = list(found.tops.values())
    if all(set(top) == set(tops[0]) for top in tops):
        yield finding("ways.same", found=found, first=tops[0])
    else:
        each = [str(finding("ways.first", first=top, way=way)) for way, top in found.tops.items()]
        yield finding("ways.turned", found=found, firsts="; ".join(each))
    if found.problem:
        yield finding("ways.unsure", found=found)
        return
    places, beyond = int(found.shifts["moved"].sum()), int(found.shifts["beyond_noise"].sum())
    yield finding("ways.moved" if places else "ways.still", found=found, places=places, beyond=beyond)


@tell.register
def ranking(found: Ranking) -> Iterator[Finding]:
    yield finding("order.by", found=found)
    if found.method.item_types[0] == "calibration":
        yield finding("order.calibration")
    if len(found.names) == 1:
        yield finding("order.alone")
        yield finding("lacks.missing", reason=COLLECT, collect=None)
        return
    yield finding("order.unit", found=found)
    yield finding("order.tests", found=found)
    yield from lines_by(found)
    if found.best is None:
        yield finding("lacks.missing", reason=found.unsure, collect=None)
    else:
        yield finding("order.draws", found=found)
        if len(found.humans):
            yield finding("order.humans", found=found, humans=found.humans["system"])


def lines_by(found: Ranking) -> Iterator[Finding]:
    """Say which rule draws the lines between clusters, where it is another than ours or cannot be applied."""
    if found.refused:
        yield finding("lines.refused", found=found)
    elif found.method.lines != OWN_LINES:
        rule, ours = rules.named(found.method.lines), found.method.scores_name
        own = "z-scores" if rule.by == "z" else "raw scores"
        order = None if ours == own else finding("lines.order", own=own, ours=ours)
        domains = finding("lines.domains") if rule.mean == "domains" else None
        does = {"test": rules.TESTS[rule.test], "line": rules.LINES[rule.line]}
        yield finding("lines.rule", rule=rule, **does, order=order, domains=domains)


@tell.register
def language_pairs(found: Analysis) -> Iterator[Finding]:
    """Say in how many language pairs, if there are several, one system is better than all others."""
    table = found.several_pairs
    if table.empty:
        return
    if "first" not in table:
        yield finding("pairs.alone", pairs=table)
        return
    judged = table["human"].dropna() if "human" in table else pd.Series(dtype="str")
    ahead = int(judged.str.contains("better than").sum())
    people = finding("pairs.people", judged=judged, ahead=ahead) if len(judged) else None
    clear = int(table["not_told_apart"].eq("none").sum())
    yield finding("pairs.clear" if clear else "pairs.none", clear=clear, pairs=table, people=people)


@tell.register
def errors(found: Errors) -> Iterator[Finding]:
    yield finding("errors.marked", found=found, few=found.by_system.iloc[0], many=found.by_system.iloc[-1])
    if found.rho is not None:
        yield finding("errors.rho", found=found)
    if found.types.empty:
        yield finding("errors.no_types")


@tell.register
def levels(found: Levels) -> Iterator[Finding]:
    rows = list(found.table.itertuples())
    scatter = finding("levels.documents" if found.documents else "levels.segments")
    yield finding("levels.per_word", found=found, best=rows[0], worst=rows[-1], scatter=scatter)
    if found.tolerance is None:
        yield finding("levels.untold")
        return
    verdicts = found.table["verdict"]
    counts = {"passed": verdicts.eq(PASSED).sum(), "short": verdicts.eq(SHORT).sum()}
    counts["failed"] = len(rows) - sum(counts.values())
    yield finding("levels.verdicts", found=found, systems=len(rows), **counts)
    if near := [row for row in rows if row.verdict == SHORT and row.words_needed == row.words_needed]:
        yield finding("levels.needed", row=min(near, key=lambda row: row.words_needed))
    if verdicts.eq(CRITICAL).any():
        yield finding("levels.critical")


@tell.register
def cost(found: Cost) -> Iterator[Finding]:
    each, paid = found.hours / found.judgements, found.hourly_pay > 0
    median, money = found.by_annotator["mean_seconds"].median(), f" {found.currency}".rstrip()
    yield finding("cost.hours", found=found, each=3600 * each, median=median)
    if paid:
        yield finding("cost.paid", found=found, money=money, each=each * found.hourly_pay)
    if found.pairs > 1:
        price = finding("cost.or", cost=found.all_hours * found.hourly_pay, money=money) if paid else None
        yield finding("cost.all", found=found, price=price)
    if found.untimed:
        yield finding("lacks.times", found=found)
    if not paid:
        yield finding("lacks.pay")


@tell.register
def criteria(found: Criteria) -> Iterator[Finding]:
    if found.table["same_order"].notna().any():
        other = found.table.loc[found.table["same_order"] < 1, "criterion"]
        yield finding("criteria.other" if len(other) else "criteria.same", other=other)


@tell.register
def comparisons(found: Comparisons) -> Iterator[Finding]:
    systems = sum(map(len, found.groups))
    never = systems * (systems - 1) // 2 - len(found.met)
    follows = finding("strengths.follows") if len(found.groups) < 2 else None
    lacking = finding("strengths.never", never=never, follows=follows) if never else None
    yield finding("strengths.met", found=found, systems=systems, never=lacking)
    if len(found.groups) > 1:
        yield finding("strengths.groups", found=found)
    if found.apart:
        yield _apart(found)
    yield from place(found)
    yield _scale(found)
    if found.circles.triples:
        yield circles(found)


def _apart(found: Comparisons) -> Finding:
    """Say that some systems never lost, so that strengths are held by a prior."""
    above, below = found.apart[:2]
    lost = [name for name in below if any(frozenset((name, one)) in found.met for one in above)]
    never = [name for name in below if name not in lost]
    more = finding("strengths.not_met", above=above, never=never) if never else None
    return finding("strengths.apart", above=above, lost=lost, more=more)


def place(found: Comparisons) -> Iterator[Finding]:
    """Say what standing first adds, or what is lacking to find it."""
    if not found.place:
        yield finding("lacks.follows" if found.placed else "lacks.place")
        return
    gain, low, high = found.place
    does = finding(f"place.{'favours' if low > 0 else 'harms' if high < 0 else 'open'}")
    yield finding("place.effect", does=does, share=1 / (1 + math.exp(-gain)), place=found.place)


def _scale(found: Comparisons) -> Finding:
    """Say whether one scale of strengths fits, and where it does not, which pair is oddest."""
    fit = found.fit.strengths
    if not fit.freedom:
        return finding("fit.untold")
    odd = found.residuals[found.residuals["residual"].abs() >= ODD]
    if fit.p >= 0.05 or odd.empty:
        return finding("fit.good" if fit.p >= 0.05 else "fit.bad", fit=fit, odd=None)
    return finding("fit.bad", fit=fit, odd=finding("fit.odd", row=odd.iloc[0]))


def circles(found: Comparisons) -> Finding:
    """Say how many triples of systems go in a circle, and how many would by chance."""
    own = found.circles
    names = ", ".join(" – ".join(three) for three in own.found[:2])
    return finding("circles.some" if own.found else "circles.none", own=own, names=names)


def steered(found: Steering | Missing) -> list[str]:
    """Say on the first page that counts were steered; nothing where that does not matter."""
    if isinstance(found, Missing) or not found.matters:
        return []
    return [f"{_counts(found)} {_moved(found) if found.weighted else finding('steering.if_scores')}"]


@tell.register
def steering(found: Steering) -> Iterator[Finding]:
    counts = _counts(found)
    if not found.weighted:
        of_column = bool(found.why) and "column" in found.why
        yield finding("steering.unweighted" if of_column else "steering.suspected", counts=counts, found=found)
        why = finding("steering.why", found=found) if found.why and not of_column else None
        yield finding("steering.remedy_log" if found.logged else "steering.remedy", why=why)
        return
    source = finding("steering.log" if found.logged else "steering.column")
    lacking = finding("steering.lacking", found=found) if found.lacking else None
    yield finding("steering.weighted", counts=counts, source=source, lacking=lacking)
    gap = found.table["weighted"] - found.table["plain"]
    yield finding("steering.range", moved=_moved(found), gap=gap.agg(["min", "max", "mean"]))
    least = found.table.loc[found.table["worth"].idxmin()]
    if least["worth"] < _WORTH:
        even, there = least["worth"] * least["judgements"], least["judgements"]
        yield finding("steering.uneven", system=least["system"], even=even, judgements=there)


def _counts(found: Steering) -> Finding:
    counts = found.table.set_index("system")["judgements"]
    ends = {"most": counts.idxmax(), "least": counts.idxmin()}
    return finding("steering.counts", **ends, high=counts.max(), low=counts.min())


def _moved(found: Steering) -> Finding:
    """Say what weights change."""
    first = finding("steering.first", first=found.table["system"].iloc[0]) if found.other_first else None
    return finding("steering.moved" if found.moved else "steering.still", found=found, first=first)


@tell.register
def stopping(found: Stopping) -> Iterator[Finding]:
    rule, naive = found.rule, found.table[found.table["rule"].eq(NAIVE)].iloc[0]
    may = finding("stopping.not_yet" if rule["verdict"] == "not yet" else "stopping.yes", found=found, rule=rule)
    when = finding("stopping.daily" if found.daily else "stopping.by_twenty")
    yield finding("stopping.may", found=found, rule=rule, naive=naive, may=may, when=when)
    if not found.planned:
        yield finding("stopping.unplanned", strict=STRICT)
