"""What the items show that check annotators: degraded ones, second showings, references."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from evalkit.campaign.missing import or_missing
from evalkit.campaign.opening import Campaign
from evalkit.data.schemas import with_pair
from evalkit.human import annotators
from evalkit.human.annotators import repeat_differences

#: Fewest degraded items for an annotator to fail by.
FEWEST_DEGRADED = 5
#: Below this probability, failures near the limit of a test are too few for nobody to have been removed.
SURE = 0.001


@dataclass(frozen=True, eq=False)
class QualityControl:
    """Annotators' scores of items that check them, in points of 100.

    table: each annotator's degraded items against their originals (see ``annotators.quality_control``); no rows where
    nobody can be tested. degraded: whether there are degraded items. tested: annotators with a test; failed: those with
    ``FEWEST_DEGRADED`` degraded items or more whom it does not pass; undecided: how many failed by fewer. lower: points
    by which degraded items score below their originals, median annotator. caliper: narrow passes and failures.
    everywhere: whether several language pairs count. again, equal: median distance of two scores of an item, and the
    share that are equal; repeated: items scored twice, and repeaters: by how many annotators. references: whether
    there are any; means: of references and of systems' outputs, where there are both.
    """

    pair: str
    table: pd.DataFrame
    degraded: bool
    tested: int
    failed: tuple[str, ...]
    undecided: int
    lower: float
    caliper: annotators.Caliper
    everywhere: bool
    again: float | None
    equal: float
    repeated: int
    repeaters: int
    references: bool
    means: tuple[float, float] | None

    @property
    def passed(self) -> int:
        """Annotators who pass the test."""
        return self.tested - len(self.failed) - self.undecided

    @property
    def removed(self) -> bool:
        """Whether those who failed seem to have been taken out before."""
        return self.caliper.p < SURE


@or_missing("", of_people=True)
def control_quality(campaign: Campaign) -> QualityControl:
    """Test whether annotators notice degraded items, and how steady they are; see ``QualityControl``."""
    part = campaign.hundred
    degraded = part["item_type"].eq("degraded").any()
    table = campaign.control if degraded else campaign.control.head(0)
    tested = table.dropna(subset="qc_p")
    not_passed = tested[tested["qc_p"] >= 0.05]
    failed = not_passed[not_passed["qc_pairs"] >= FEWEST_DEGRADED]
    twice = repeat_differences(with_pair(part))
    apart = twice["difference"]
    means = part.groupby("item_type")["score"].mean()
    both = {"reference", "system"} <= set(means.index)
    return QualityControl(
        pair=campaign.pair,
        table=table.head(len(table) if len(tested) else 0).sort_values(
            "qc_p", ascending=False, kind="stable", ignore_index=True
        ),
        degraded=bool(degraded),
        tested=len(tested),
        failed=tuple(failed["annotator"]),
        undecided=len(not_passed) - len(failed),
        lower=float(tested["qc_difference"].median()),
        caliper=annotators.removed(tested["qc_p"]),
        everywhere=len(campaign.pairs) > 1,
        again=float(apart.median()) if len(apart) else None,
        equal=float(apart.eq(0).mean()),
        repeated=len(apart),
        repeaters=twice["annotator"].nunique(),
        references="reference" in means.index,
        means=(float(means["reference"]), float(means["system"])) if both else None,
    )
