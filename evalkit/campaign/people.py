"""How each annotator works, and whom the rules propose to look at: profiles, screening, quality control."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.data.schemas import with_pair
from evalkit.human import annotators
from evalkit.human.annotators.consistency import repeat_differences
from evalkit.stats.terms import join_names, pluralize

#: Measures of quality control, which look at all of an annotator's language pairs.
_CONTROL = ("qc_p", "qc_wilcoxon")
#: Measures in points of the scale from 0 to 100.
_POINTS = ("mean", "sd", "at_ends", "median_abs_diff", "max_abs_diff")
#: Fewest spoilt items for an annotator to fail by.
FEWEST_SPOILT = 5
#: Below this probability, failures near the limit of a test are too few for nobody to have been removed.
SURE = 0.001
#: What a profile lacks, and what to collect for it.
_LACKS = {
    "median_abs_diff": "how steady annotators are with themselves: show some items a second time, at least 10 an "
    "annotator, and mark them as 'repeat'",
    "with_others": "how close annotators are to the others: let them share at least 10 items with somebody",
    "seconds": "how long a judgement takes: record when it started and ended",
    "drift": "whether scores drift over time: record start times, and give every annotator four documents or more",
    "qc_p": "whether annotators pay attention: add items spoilt on purpose beside their originals ('degraded')",
}


@section("annotators", collect="Check the columns annotator and score.")
def profiles(campaign: Campaign) -> Section:
    """Describe every annotator of the pair in one row, on a scale from 0 to 100.

    Measures of a slider's ticks are shown for continuous scales only: on a scale of few steps everybody uses ticks.
    """
    hundred = campaign.hundred
    table = annotators.profiles(hundred).drop(columns=["pair"])
    table = table.drop(columns=[name for name in table if name.startswith("qc_")]).join(
        campaign.control.set_index("annotator"), on="annotator"
    )
    table["qc_pairs"] = table["qc_pairs"].fillna(0).astype(int)
    if campaign.ordinal:
        table = table.drop(columns=["on_marks", "grid", "grid_p", "bimodality"])
    if stamped(hundred):
        table = table.assign(seconds=np.nan)
    lacks = [what for name, what in _LACKS.items() if table[name].isna().all()]
    keep = [name for name in table if name != "missing" and not table[name].isna().all()]
    empty = {"drift_of": "drift", "seconds_from": "seconds", "repeated": "median_abs_diff", "qc_pairs": "qc_p",
             "drift_p": "drift"}  # fmt: skip
    keep = [name for name in keep if not (name in empty and empty[name] not in keep)]
    keep += ["missing"] if table["missing"].nunique() > 1 else []  # what all lack is said below, once
    shown = table[keep].sort_values("mean", ascending=False, kind="stable", ignore_index=True)
    means = shown["mean"]
    told = [
        (
            f"{len(shown):,} annotators: their mean scores run from {means.min():.0f} to {means.max():.0f} points of "
            "100. "
            if len(shown) > 1
            else f"1 annotator, with a mean score of {means.min():.0f} points of 100. "
        )
        + "Here and in the rules, every scale is stretched to 0 to 100."
    ]
    if "with_others" in keep:
        rho = shown["with_others"]
        told.append(
            f"The rank correlation of an annotator with the mean of the others is {rho.median():.2f} in the median, "
            f"{rho.min():.2f} at the lowest ({pluralize(int(rho.notna().sum()), 'annotator')} with enough shared "
            "items)."
        )
    if "median_abs_diff" in keep:
        again = shown["median_abs_diff"]
        told.append(
            f"Scoring an item a second time, the median annotator is {again.median():.0f} points of 100 away from the "
            f"first score, the least steady one {again.max():.0f}."
        )
    facts = {
        "annotators": len(shown), "spread": float(means.max() - means.min()),
        "again": _median(shown, "median_abs_diff"), "rho": _median(shown, "with_others"),
        "seconds": _median(shown, "seconds"),
    }  # fmt: skip
    collect = f"{'; '.join(lacks)}." if lacks else ""
    tables = (Table("profiles", shown, f"{campaign.pair}: annotators, lenient ones first (points of 100)", 2),)
    drawn = (hundred,) if hundred["score"].nunique() > 1 else None
    alt = (
        f"A curve per annotator over the scale from 0 to 100, up to twenty of them; means from {means.min():.0f} to "
        f"{means.max():.0f}."
    )
    caption = f"{campaign.pair}: how often annotators gave which score, lenient ones on top"
    return Section("annotators", tuple(told), tables, collect, facts, drawn, alt, caption)


@section("screening", collect="Correct the rules, see the parameter's help.")
def screened(campaign: Campaign, *, rules: Sequence[str]) -> Section:
    """Apply rules to annotators, and propose whom to look at. Nobody is left out of anything by this."""
    given = [str(annotators.Rule.parse(rule)) for rule in rules]
    used, aside = suited(campaign, given)
    told = [f"{rule} is set aside: {why}." for rule, why in aside.items()]
    if not used:
        return Section(
            "screening", tuple(told), (), "no rule is left that fits this scale. Write one, such as 'sd < 5'."
        )
    found = apply(campaign, used)
    totals = annotators.screening_totals(found)
    going = found[found["flagged"]]
    people = sorted(going["annotator"].unique())
    everyone = campaign.part["annotator"].nunique()
    told.append(
        f"The rules propose to look at {len(people)} of {pluralize(everyone, 'annotator')}: {join_names(people)}."
        if people
        else f"Among {pluralize(everyone, 'annotator')}, the rules find nobody to look at."
    )
    tables = [Table("screening", totals, f"{campaign.pair}: how many each rule asks to look at", 2)]
    if people:
        share = campaign.part["annotator"].isin(people).mean()
        told.append(
            f"They gave {share:.0%} of the judgements. Talk to them before you drop anybody: an odd profile is most "
            "often a misunderstanding, and a rule of agreement can send away the one who is right."
        )
        named = going[["annotator", "rule", "value"]].reset_index(drop=True)
        tables.append(Table("screened", named, f"{campaign.pair}: who, by which rule", 3))
    unknown = totals[(totals["rule"] != "any") & (totals["unknown"] == totals["annotators"])]["rule"].tolist()
    collect = ""
    if unknown:
        which = "the rule" if len(unknown) == 1 else "the rules"
        collect = f"{which} {join_names(unknown)} could be applied to nobody; see the annotators for what to record."
    rules_of = found.assign(known=found["value"].notna()).groupby("annotator")["known"].sum()
    facts = {"proposed": people, "annotators": everyone, "rules": used, "unknown": unknown,
             "looked_at": int((rules_of > 0).sum())}  # fmt: skip
    return Section("screening", tuple(told), tuple(tables), collect, facts)


def apply(campaign: Campaign, rules: Sequence[str]) -> pd.DataFrame:
    """Apply rules within the pair (``annotators.screen`` on 0 to 100); quality control looks at all their pairs."""
    parts = []
    for own, ratings in ((False, campaign.hundred), (True, _everything(campaign))):
        chosen = [rule for rule in rules if (rule.split()[0] in _CONTROL) == own]
        if chosen:
            found = annotators.screen(ratings, chosen)
            parts.append(found[found["pair"] == campaign.pair])
    return pd.concat(parts, ignore_index=True)


def suited(campaign: Campaign, rules: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Split rules into those that fit the scale, and those set aside with the reason.

    A rule on the number of distinct scores, or on the ends of the scale, says nothing on a scale of few steps, and a
    rule in points of 100 nothing where nobody has said where the scale ends.
    """
    used, aside = [], {}
    for rule in rules:
        measure = rule.split()[0]
        if campaign.ordinal and measure in ("unique_scores", "at_ends"):
            aside[rule] = f"all annotators together used {pluralize(campaign.steps, 'different score')}"
        elif not campaign.known_scale and measure in _POINTS:
            aside[rule] = "it is in points of 100, and the ends of the scale are not declared"
        elif measure == "seconds" and stamped(campaign.part):
            aside[rule] = "many judgements end as they start, so the time of a single one is not known"
        else:
            used.append(rule)
    return used, aside


def stamped(part: pd.DataFrame) -> bool:
    """Tell whether times are stamps of the moment a score is set, not lengths of judgements.

    So where a quarter of the judgements took less than a tenth of a second, which nobody can.

    >>> stamped(pd.DataFrame({"started": [0.0, 5.0], "ended": [0.0, 9.0]}))
    True
    """
    if not {"started", "ended"} <= set(part.columns):
        return False
    lengths = (part["ended"] - part["started"]).dropna()
    return bool(len(lengths)) and float((lengths < 0.1).mean()) >= 0.25


def _everything(campaign: Campaign) -> pd.DataFrame:
    """Return all judgements by the pair's annotators, in whatever pair, on 0 to 100."""
    people = campaign.part["annotator"].unique()
    rows = campaign.ratings[campaign.ratings["annotator"].isin(people)]
    return campaign.on_hundred(rows.reset_index(drop=True))


@section("quality_control", collect="")
def controlled(campaign: Campaign) -> Section:
    """Look at the items that check annotators: spoilt ones, second showings, references."""
    part = campaign.hundred
    kinds = part["item_type"].value_counts()
    told, tables, collect, facts = [], [], [], {"tested": 0, "failed": None, "again": None}
    if "degraded" in kinds:
        table = campaign.control
        tested = table.dropna(subset="qc_p")
        if len(tested):
            open_cases = tested[tested["qc_p"] >= 0.05]
            failed = open_cases[open_cases["qc_pairs"] >= FEWEST_SPOILT]["annotator"].tolist()
            few = len(open_cases) - len(failed)
            lower, caliper = tested["qc_difference"].median(), annotators.removed(tested["qc_p"])
            everywhere = " (over all language pairs that they judged)" if len(campaign.pairs) > 1 else ""
            where, passed = "below" if lower >= 0 else "above", len(tested) - len(open_cases)
            told.append(
                f"Spoilt items score {abs(lower):.0f} points of 100 {where} their originals in the median "
                f"annotator{everywhere}. {passed} of {pluralize(len(tested), 'annotator')} pass WMT's test ("
                "paired t-test, p below 0.05)"
                + (f"; {pluralize(few, 'annotator')} judged too few spoilt items to tell" if few else "")
                + (f"; not {join_names(failed)}." if failed else ".")
            )
            rows = table.sort_values("qc_p", ascending=False, kind="stable", ignore_index=True)
            tables.append(Table("quality_control", rows, f"{campaign.pair}: spoilt items against their originals", 1))
            if caliper.p < SURE:
                told.append(
                    f"{caliper.passed} annotators pass narrowly (p from 0.025 to 0.05) and {caliper.failed} fail as "
                    "narrowly (to 0.075), where at least a quarter of all these would if nobody had been removed "
                    f"(binomial p {_p(caliper.p)}). So those who failed seem to have been taken out before, and that "
                    "the others pass shows nothing."
                )
            facts |= {"tested": len(tested), "failed": failed, "open": few, "caliper": caliper}
        else:
            collect.append(
                "there are spoilt items, but no annotator judged two of them beside their originals. Put the original "
                "of each spoilt item into the same annotator's work"
            )
    else:
        collect.append(
            "no items spoilt on purpose. Add about one in ten: replace some words by those of another segment, keep "
            "the original in the same annotator's work, and give the copy the item_type 'degraded'"
        )
    steady = _second_showings(part)
    if len(steady):
        told.append(
            f"{pluralize(len(steady), 'item')} were scored twice or more by the same annotator; the two scores lie "
            f"{steady.median():.0f} points of 100 apart in the median, and are equal in {steady.eq(0).mean():.0%}."
        )
        facts |= {"again": float(steady.median()), "repeated": len(steady)}
    else:
        collect.append(
            "no items shown twice. Show some documents a second time to the same annotator and give the second showing "
            "the item_type 'repeat'; ten an annotator tell whether they are steady"
        )
    if "reference" in kinds and "system" in kinds:
        means = part.groupby("item_type")["score"].mean()
        told.append(
            f"Human references score {means['reference']:.0f} points of 100, outputs of systems {means['system']:.0f}."
        )
    elif "reference" not in kinds:
        collect.append("no human references. Judged blindly among the systems they show how far there is to go")
    return Section("quality_control", tuple(told), tuple(tables), _sentences(collect), facts)


def _p(value: float) -> str:
    return "below 0.0001" if value < 0.0001 else f"{value:.4f}"


def _second_showings(part: pd.DataFrame) -> pd.Series:
    """Return the differences between an annotator's scores of an item, degraded items left out."""
    return repeat_differences(with_pair(part))["difference"]


def _median(table: pd.DataFrame, name: str) -> float | None:
    """Return a column's median, or None where there is nothing."""
    value = table[name].median() if name in table else np.nan
    return None if np.isnan(value) else float(value)


def _sentences(parts: list[str]) -> str:
    """Make sentences of clauses."""
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)
