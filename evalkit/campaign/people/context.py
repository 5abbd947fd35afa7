"""Did degraded neighbours drag down good translations? Where quality control showed whole documents a second time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.missing import or_missing
from evalkit.campaign.opening import Campaign
from evalkit.human import context
from evalkit.human.context import EFFECT

#: Fewest repeats on either side for a test, and fewest annotators for an interval.
FEWEST, PEOPLE = 10, 3
#: Points of 100 up to which an effect of degraded neighbours may count as none.
MARGIN = 1.0


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests of the effect against ``MARGIN``: estimate, 95 % interval, and what they found.

    verdict: "equivalent", "different", "both" (not zero, yet small) or "undecided".
    """

    estimate: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True, eq=False)
class Context:
    """Unchanged segments before and after the first degraded one of a copied document, in points of 100.

    sizes: how many of each (see ``context.group_sizes``). contrasts: original minus second showing, by group.
    before, after: counts. tested: whether there are ``FEWEST`` on either side; else what follows is missing.
    lost_before, lost_after: means of original minus second showing. within, p: the difference within documents and its
    permutation test, two-sided; None where no document has both. equivalence: None with fewer than ``PEOPLE``.
    """

    pair: str
    sizes: pd.DataFrame
    contrasts: pd.DataFrame
    repeats: int
    before: int
    after: int
    lost_before: float = np.nan
    lost_after: float = np.nan
    within: float | None = None
    p: float | None = None
    equivalence: Equivalence | None = None

    @property
    def tested(self) -> bool:
        """Whether there are enough repeats on either side for a test."""
        return min(self.before, self.after) >= FEWEST

    @property
    def effect(self) -> float:
        """How many points more are lost after a degraded segment than before it."""
        return self.lost_after - self.lost_before


@or_missing(
    "To test this, show some documents twice to the same annotator, degrade some segments of the second showing, and "
    "record the HIT, whether a row belongs to the copy, and its position (columns hit, copy, position)."
)
def compare_contexts(campaign: Campaign, *, resamples: int = 500, seed: int = 7) -> Context:
    """Compare unchanged segments before and after the first degraded segment of a copied document."""
    part = campaign.hundred
    if lacking := [name for name in ("hit", "copy", "position") if name not in part or part[name].isna().all()]:
        several = len(lacking) > 1
        raise DataError(f"the column{'s' * several} {', '.join(lacking)} {'are' if several else 'is'} not there.")
    known = part[part[["hit", "copy", "position"]].notna().all(axis=1)]
    paired = context.pairs(known.assign(copy=known["copy"].astype(bool)))
    if paired.empty:
        raise DataError("no unchanged segment stands in a copy of its document.")
    contrasts = context.contrasts(paired).query("pair == 'all' and scale == 'raw' and n > 0")
    n = paired["group"].value_counts()
    found = Context(
        campaign.pair,
        context.group_sizes(paired),
        contrasts.drop(columns=["pair", "scale"]).reset_index(drop=True),
        len(paired),
        int(n.get("before", 0)),
        int(n.get("after", 0)),
    )
    return _tested(found, paired, resamples=resamples, seed=seed) if found.tested else found


def _tested(found: Context, paired: pd.DataFrame, *, resamples: int, seed: int) -> Context:
    """Add what enough repeats on either side tell."""
    grouped = paired[paired["group"] != "none"]
    means = grouped.groupby("group")["difference"].mean()
    within, p, _ = context.permutation(grouped, resamples=resamples, rng=np.random.default_rng(seed))
    both = not np.isnan(within)
    equivalence = None
    if grouped["annotator"].nunique() >= PEOPLE:
        row = context.equivalence(paired, margin=MARGIN).set_index("effect").loc[EFFECT]
        equivalence = Equivalence(float(row["estimate"]), float(row["low"]), float(row["high"]), row["verdict"])
    return replace(
        found,
        lost_before=float(means["before"]),
        lost_after=float(means["after"]),
        within=float(within) if both else None,
        p=float(p) if both else None,
        equivalence=equivalence,
    )
