"""What was collected, by whom, and how annotators work: which findings these results are."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from evalkit.campaign.agreement import COLLECT, Agreement
from evalkit.campaign.annotators import Profiles, Screening
from evalkit.campaign.collection import Collection
from evalkit.campaign.findings import Finding, finding, tell
from evalkit.campaign.opening import Campaign
from evalkit.campaign.quality import FEWEST_REPEATS, MARGIN, RAW, Calibration, Context, QualityControl
from evalkit.data.provenance import source_of
from evalkit.human.annotators import Rule
from evalkit.human.calibration import FORMS


@tell.register
def campaign(found: Campaign) -> Iterator[Finding]:
    name = finding("mine.example" if found.example else "mine.own", name=source_of(found.ratings)["name"])
    key = "mine.pairs" if found.pairs[1:] else "mine.pair"
    yield finding(key, name=name, judgements=found.ratings, pair=found.pair, others=found.pairs[1:])
    if found.turned:
        yield finding("mine.turned")
    if found.renamed:
        yield finding("mine.renamed", names=found.renamed)


@tell.register
def collection(found: Collection) -> Iterator[Finding]:
    key = "collected.by_people" if found.names_people else "collected.by_nobody"
    yield finding(key, found=found, judgements=found.annotators["judgements"].sum())
    if found.cells:
        never = found.cells - found.judged
        several = finding("collected.several", cells=found.several) if found.names_people else None
        yield finding("collected.cells", found=found, never=never, share=never / found.cells, several=several)
    if found.duplicates:
        yield finding("collected.twice", found=found)
    elif not found.names_people:
        yield finding("collected.unnamed")
    if found.notes:
        yield finding("collected.assumed", notes="; ".join(found.notes))
    if found.assumed_scale:
        yield finding("lacks.scale", found=found)
    if found.thin:
        yield finding("lacks.even", found=found)


@tell.register
def agreement(found: Agreement) -> Iterator[Finding]:
    if found.estimate is None:
        yield finding("lacks.agreement", found=found, collect=COLLECT)
    else:
        among = finding("people.among") if found.calibration else None
        yield finding("people.agree", found=found, among=among)


@tell.register
def profiles(found: Profiles) -> Iterator[Finding]:
    means = found.table["mean"]
    yield finding("people.means" if len(means) > 1 else "people.mean", people=means, low=means.min(), high=means.max())
    for name in found.lacks:
        yield finding(f"lacks.{name}")


@tell.register
def screening(found: Screening) -> Iterator[Finding]:
    for rule, why in found.aside.items():
        yield finding("rules.aside", rule=Rule.parse(rule).in_words, why=why)
    for rule, (some, of) in found.common.items():
        yield finding("rules.common", rule=Rule.parse(rule).in_words, some=some, of=of)
    if not found.rules:
        yield finding("lacks.rules")
        return
    yield finding("rules.named" if found.proposed else "rules.nobody", found=found)
    if found.unknown:
        rules = "; ".join(Rule.parse(rule).in_words for rule in found.unknown)
        yield finding("lacks.rules_applied", found=found, rules=rules)


@tell.register
def quality_control(found: QualityControl) -> Iterator[Finding]:
    if found.tested:
        below = finding("control.below" if found.lower >= 0 else "control.above", points=abs(found.lower))
        where = finding("control.everywhere") if found.everywhere else None
        failed = finding("control.failed", found=found) if found.failed else None
        few = finding("control.undecided", found=found) if found.undecided else None
        yield finding("control.attention", found=found, below=below, where=where, few=few, failed=failed)
    else:
        yield finding("lacks.originals" if found.degraded else "lacks.degraded")
    if found.removed:
        yield finding("control.removed", found=found)
    if found.again is None:
        yield finding("lacks.repeats")
    else:
        yield finding("control.again", found=found)
    if found.means:
        yield finding("control.references", found=found)
    elif not found.references:
        yield finding("lacks.references")


@tell.register
def context(found: Context) -> Iterator[Finding]:
    yield finding("context.sizes", found=found)
    if not found.tested:
        yield finding("lacks.context", fewest=FEWEST_REPEATS)
        return
    if found.within is None or found.p is None:
        yield finding("context.less" if found.effect >= 0 else "context.more", points=abs(found.effect))
    else:
        yield finding("context.sure" if found.p < 0.05 else "context.chance", found=found)
    if held := found.equivalence:
        yield finding("context.held", held=held, margin=MARGIN, verdict=finding(f"context.{held.verdict}"))


@tell.register
def calibration(found: Calibration) -> Iterator[Finding]:
    whom, strict = finding(f"calibration.{found.by}"), found.strictness
    means = {"low": strict["mean"].min(), "high": strict["mean"].max()}
    yield finding(
        "calibration.strict", found=found, whom=whom, items=strict["items"].max(), groups=len(strict), **means
    )
    if found.unmoved:
        yield finding("calibration.unmoved", found=found)
    else:
        yield _moved(found.systems)
        if FORMS["line"] not in set(found.systems["form"]):
            yield finding("calibration.no_line")
        if found.excluded:
            yield finding("calibration.excluded", found=found, whom=whom)
    if found.carry_over.empty:
        yield finding("lacks.carry_over", whom=whom)
    elif found.share is None:
        yield finding("calibration.untold")
    else:
        yield finding("calibration.carries" if found.share > 0.5 else "calibration.harms", found=found)


def _moved(systems: pd.DataFrame) -> Finding:
    """Say whether calibrating changes which system is first, and how many places differ."""
    key = ["system", "pair"] if "pair" in systems else ["system"]
    firsts = {}
    for form, own in systems.groupby("form", sort=False):
        rows = own.loc[own["rank"].eq(1), key].to_numpy(str)
        firsts[form] = " and ".join(f"{row[0]} ({row[1]})" if len(key) > 1 else row[0] for row in rows)
    ranks = systems.set_index(["form", *key])["rank"].unstack("form")
    moved = int(ranks.drop(columns=RAW).ne(ranks[RAW], axis=0).to_numpy().sum())
    if len(set(firsts.values())) == 1:
        return finding("calibration.same", first=firsts[RAW], moved=moved)
    each = [finding("calibration.first", names=names, form=form) for form, names in firsts.items()]
    return finding("calibration.turned", firsts="; ".join(map(str, each)), moved=moved)
