"""Did spoilt neighbours drag down good translations? Where quality control showed whole documents a second time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.human import context
from evalkit.human.context.robustness import EFFECT
from evalkit.stats.terms import pluralize

#: Fewest repeats on either side for a test, and fewest annotators for an interval.
FEWEST, PEOPLE = 10, 3
#: Points of 100 up to which an effect of spoilt neighbours may count as none.
MARGIN = 1.0
_COLLECT = (
    "To test this, show some documents twice to the same annotator, spoil some segments of the second showing, and "
    "record the HIT, whether a row belongs to the copy, and its position (columns hit, copy, position)."
)


@section("context", collect=_COLLECT)
def contexts(campaign: Campaign, *, resamples: int = 500, seed: int = 7) -> Section:
    """Compare unchanged segments before and after the first spoilt segment of a copied document."""
    part = campaign.hundred
    if lacking := [name for name in ("hit", "copy", "position") if name not in part or part[name].isna().all()]:
        have = (
            f"the column{'s' * (len(lacking) > 1)} {', '.join(lacking)} {'are' if len(lacking) > 1 else 'is'} not there"
        )
        return Section("context", (), (), f"{have}. {_COLLECT}", {})
    known = part[part[["hit", "copy", "position"]].notna().all(axis=1)]
    paired = context.pairs(known.assign(copy=known["copy"].astype(bool)))
    if paired.empty:
        return Section("context", (), (), f"no unchanged segment stands in a copy of its document. {_COLLECT}", {})
    sizes = context.group_sizes(paired)
    tables = [
        Table("context_sizes", sizes, f"{campaign.pair}: repeats before and after a spoilt segment, or without any")
    ]
    described = context.contrasts(paired)
    described = described[(described["pair"] == "all") & described["scale"].eq("raw") & described["n"].gt(0)]
    described = described.drop(columns=["pair", "scale"]).reset_index(drop=True)
    if len(described):
        caption = f"{campaign.pair}: original minus second showing, points of 100"
        tables.append(Table("context", described, caption))
    n = paired["group"].value_counts()
    before, after = int(n.get("before", 0)), int(n.get("after", 0))
    told = [
        f"{pluralize(len(paired), 'unchanged segment')} were scored in the original document and in a copy; {before} "
        f"stand before and {after} after the first spoilt segment of the copy."
    ]
    if min(before, after) < FEWEST:
        return Section("context", tuple(told), tuple(tables), f"fewer than {FEWEST} on one side are too few to test. "
                       "More copied documents, with the first spoilt segment in the middle, would do.", {})  # fmt: skip
    grouped = paired[paired["group"] != "none"]
    difference = grouped.groupby("group")["difference"].mean()
    effect = float(difference["after"] - difference["before"])
    estimate, p = context.permutation(grouped, resamples=resamples, rng=np.random.default_rng(seed))
    facts = {"effect": effect, "p": None if np.isnan(estimate) else p, "equivalence": None}
    if np.isnan(estimate):
        which = "lower" if effect >= 0 else "higher"
        told.append(
            f"After it, the second showing scores {abs(effect):.1f} points of 100 {which} than before it. "
            "No document has both, so nothing can be tested."
        )
    else:
        told.append(
            f"The original minus the second showing is {difference['after']:.1f} points of 100 after it and "
            f"{difference['before']:.1f} before it. Within documents the two differ by {estimate:.1f} points "
            f"(permutation test, two-sided p = {p:.3f}): "
            + ("more than chance. Leave repeats from spoilt documents out of the ranking, or spoil whole documents."
               if p < 0.05 else "no more than chance.")
        )  # fmt: skip
    if grouped["annotator"].nunique() >= PEOPLE:
        held = context.equivalence(paired, margin=MARGIN).set_index("effect").loc[EFFECT]
        facts["equivalence"] = held.to_dict()
        told.append(_told(held))
    return Section("context", tuple(told), tuple(tables), "", facts)


def _told(held: pd.Series) -> str:
    """Say what the two one-sided tests against ``MARGIN`` found."""
    meant = {
        "equivalent": "so small that it may count as none", "both": "not zero, yet so small that it may count as none",
        "different": "surely there", "undecided": "neither surely there nor surely small: the data cannot tell",
    }[held["verdict"]]  # fmt: skip
    return (
        f"Over all repeats, the second showing loses {held['estimate']:+.1f} points of 100 more after it than before "
        f"it, 95 % interval {held['low']:+.1f} to {held['high']:+.1f} (clustered by annotator). Held against a margin "
        f"of {MARGIN:g} point by two one-sided tests, the effect is {meant}."
    )
