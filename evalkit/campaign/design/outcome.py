"""Plan and outcome: what a designed campaign was to collect and to distinguish, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.design.expectation import NORMAL, share_error, smallest_difference
from evalkit.campaign.missing import Missing
from evalkit.campaign.opening import Campaign
from evalkit.data.provenance import reading_of
from evalkit.human import components


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was planned, and what came of it.

    annotators: annotator, planned, collected, lacking (judgements); kinds: the same by kind of item. planned,
    achieved: the smallest difference of two systems found with a chance of 80 %, and its standard error, in ``unit``;
    None where the plan, or what was collected, tells none. basis: what the plan rested on.
    """

    protocol: str
    seed: int
    annotators: pd.DataFrame
    kinds: pd.DataFrame
    planned: tuple[float, float] | None
    achieved: tuple[float, float] | None
    unit: str
    basis: str

    @property
    def tables(self) -> list[tuple[str, str, pd.DataFrame]]:
        """What there is to show in tables: name, title and table."""
        return [
            ("outcome_annotators", "Plan and outcome: judgements by annotator", self.annotators),
            ("outcome_kinds", "Plan and outcome: kinds of items", self.kinds),
        ]

    @property
    def collected(self) -> int:
        """Judgements that are there."""
        return int(self.annotators["collected"].sum())

    @property
    def wanted(self) -> int:
        """Judgements that were planned."""
        return int(self.annotators["planned"].sum())


def compare_plan(campaign: Campaign) -> Outcome | Missing:
    """Compare what was collected with the plan of the campaign's own file; nothing to say where the file has none."""
    plan: Mapping[str, Any] = reading_of(campaign.ratings).get("plan") or {}
    if not plan:
        return Missing("", "")
    people = pd.DataFrame(plan["annotators"])
    people["annotator"] = people["annotator"].mask(people["annotator"].eq(""), people["task"] + ", nobody yet")
    expected = plan.get("planned") or {}
    unit = str(expected.get("unit", "points"))
    difference, error = expected.get("smallest_difference"), expected.get("standard_error")
    return Outcome(
        protocol=str(plan["protocol"]),
        seed=int(plan["seed"]),
        annotators=_lacking(people.drop(columns="task")),
        kinds=_lacking(pd.DataFrame(plan["kinds"])),
        planned=(float(difference), float(error)) if difference and error else None,
        achieved=_achieved(campaign) if unit == "points" else _compared(campaign),
        unit=unit,
        basis=str(expected.get("source", "")),
    )


def _lacking(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(lacking=table["planned"] - table["collected"])


def _compared(campaign: Campaign) -> tuple[float, float] | None:
    """Return the same for comparisons, by how many there are and how many of them are ties."""
    if not campaign.compares:
        return None
    answers, systems = campaign.comparisons, campaign.compared["system"].nunique()
    each = len(answers) / (systems * (systems - 1) / 2) * systems / 2
    error = share_error(each, ties=float(answers["preference"].eq("tie").mean()))
    return (NORMAL * error, error) if error > 0 else None


def _achieved(campaign: Campaign) -> tuple[float, float] | None:
    """Return the same for what was collected, by what scatters in it; None where that cannot be estimated."""
    judged = campaign.judged[campaign.judged["item_type"].eq("system")]
    if judged["system"].nunique() < 2:
        return None
    try:
        found = components.estimate(judged, layout="campaign" if "doc" in campaign.segment else "numbered")
        variances = components.of_pair(found, campaign.pair)
    except DataError:
        return None
    segments = int(judged.groupby("system").apply(lambda own: len(own[["doc", "segment"]].drop_duplicates())).min())
    block = float(judged.groupby(["system", "doc"])["segment"].nunique().mean())
    same = judged.groupby(["doc", "segment", "annotator"])["system"].nunique().gt(1).mean() > 0.5
    calibration = campaign.part[campaign.part["item_type"].eq("calibration")].groupby("annotator").size()
    annotators = judged["annotator"].nunique()
    difference = smallest_difference(
        variances,
        segments=segments,
        annotators=annotators,
        block=block,
        arrangement="same" if same or annotators < 2 else "mixed",
        calibration=int(np.median(calibration)) if len(calibration) else 0,
    )
    return None if difference is None else (difference, difference / NORMAL)
