"""Judges that are models, beside the people of the same campaign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.campaign.missing import Missing
from evalkit.campaign.names import readable, renamed
from evalkit.campaign.opening import Campaign
from evalkit.data.schemas import with_pair
from evalkit.stats.correlation import kendall_b, pearson

COLLECT = "To compare a model with people, import both with --judge NAME for each model."


@dataclass(frozen=True, eq=False)
class Judges:
    """How each automatic judge, and each person, agrees with the (other) people on the items that they share.

    table: judge (or "people, each against the others": the mean over persons), judgements, items (shared with people),
    pearson and kendall_b over items, both against the mean score of the (other) people; difference: mean score less
    theirs, on the same items; systems, and same_order: Kendall's τ-b between the systems' means on the shared items.
    """

    pair: str
    table: pd.DataFrame


PEOPLE = "people, each against the others"


def compare_judges(campaign: Campaign, judged: pd.DataFrame | None) -> Judges | Missing:
    """Compare automatic judges with people, item by item and system by system.

    judged: as ``data.open_judges`` reads it. Items are outputs of systems in the pair in detail.
    Caveat: agreement with the mean of several people is easier than with one, which is why a person's agreement with
    the others stands beside it; whether a model may replace a person asks for more than these figures.
    """
    if judged is None or judged.empty:
        return Missing("no automatic judge is named in the file.", COLLECT)
    ours = ["system", *campaign.segment]
    people = campaign.judged.groupby([*ours, "annotator"])["score"].mean().unstack("annotator")
    frame = with_pair(judged)
    if campaign.criterion and "criterion" in frame:
        frame = frame[frame["criterion"] == campaign.criterion]
    frame = frame[(frame["pair"] == campaign.pair) & frame["item_type"].isin(campaign.ranked_types)]
    if frame.empty:
        return Missing(f"the automatic judges judged nothing in {campaign.pair}.", COLLECT)
    frame = renamed(frame, {"system": readable(sorted(frame["system"].astype("str").unique()))})
    rows = []
    for name, own in frame.groupby("annotator", sort=True):
        scores = own.groupby(ours)["score"].mean()
        if campaign.turned:
            scores = sum(campaign.scale) - scores
        rows.append({"judge": name, "judgements": len(own)} | _agreement(scores, people.mean(axis=1)))
    persons = [_agreement(people[name].dropna(), people.drop(columns=name).mean(axis=1)) for name in people]
    shared = pd.DataFrame(persons).dropna(subset="pearson")
    if len(shared):
        rows.append({"judge": PEOPLE, "judgements": len(campaign.judged)} | shared.mean().to_dict())
    return Judges(campaign.pair, pd.DataFrame(rows))


def _agreement(scores: pd.Series, others: pd.Series) -> dict[str, float]:
    """Compare one judge's scores with the others' on the items that both have."""
    pairs = pd.DataFrame({"own": scores, "others": others}).dropna()
    by_system = pairs.groupby("system").mean()
    return {
        "items": float(len(pairs)), "pearson": _measured(pearson, pairs), "kendall_b": _measured(kendall_b, pairs),
        "difference": float((pairs["own"] - pairs["others"]).mean()), "systems": float(len(by_system)),
        "same_order": _measured(kendall_b, by_system),
    }  # fmt: skip


def _measured(coefficient, pairs: pd.DataFrame) -> float:
    """Compute a correlation; missing where one side does not vary."""
    if len(pairs) < 2 or pairs.nunique().min() < 2:
        return np.nan
    return float(coefficient(pairs["own"].to_numpy(), pairs["others"].to_numpy()))
