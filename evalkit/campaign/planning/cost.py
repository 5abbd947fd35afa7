"""How long the work took, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.missing import or_missing
from evalkit.campaign.opening import Campaign
from evalkit.human import annotators
from evalkit.human.annotators import PAUSE

_COLUMNS = ["annotator", "judgements", "median_seconds", "hours", "mean_seconds"]
_STAMPED = f"from each sign of life to the next; more than {PAUSE // 60} minutes without one is a break, left out"
_BY_HIT = "the median time of a judgement in an annotator's HITs, for HITs hold pauses"


@dataclass(frozen=True, eq=False)
class Cost:
    """Time and money that judgements took.

    by_annotator: as ``hours`` returns it, with ``cost`` where a pay is known. judgements: with times; untimed: without.
    hours: of the pair; all_hours: of all language pairs. how: how time is counted. hourly_pay: 0 where unknown.
    """

    pair: str
    by_annotator: pd.DataFrame
    judgements: int
    untimed: int
    hours: float
    all_hours: float
    how: str
    hourly_pay: float
    currency: str
    pairs: int

    @property
    def cost(self) -> float:
        """What the pair's hours cost, in ``currency``."""
        return self.hours * self.hourly_pay


@or_missing(
    "Record when each judgement started and ended (seconds, columns started and ended), or the time of a whole HIT "
    "(hit_seconds)."
)
def measure_cost(campaign: Campaign, *, hourly_pay: float = 0.0, currency: str = "") -> Cost:
    """Measure time per item and annotator, the whole time in hours, and its price at an hourly pay.

    hourly_pay: of one annotator, in ``currency``; 0 leaves prices out.
    """
    if hourly_pay < 0:
        raise DataError(f"hourly_pay={hourly_pay:g} is below 0. Give the pay of one hour.")
    table, how = hours(campaign.part)
    if table.empty:
        raise DataError("there are no times.")
    if hourly_pay > 0:
        table = table.assign(cost=table["hours"] * hourly_pay)
    total, judgements = float(table["hours"].sum()), int(table["judgements"].sum())
    several = len(campaign.pairs) > 1
    return Cost(
        pair=campaign.pair,
        by_annotator=table.sort_values("mean_seconds", kind="stable", ignore_index=True),
        judgements=judgements,
        untimed=len(campaign.part) - judgements,
        hours=total,
        all_hours=float(hours(campaign.ratings)[0]["hours"].sum()) if several else total,
        how=how,
        hourly_pay=hourly_pay,
        currency=currency.strip(),
        pairs=len(campaign.pairs),
    )


def hours(part: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Tabulate time by annotator, and say how: annotator, judgements (with times), median_seconds, hours, mean_seconds.

    With ``started`` and ``ended``, hours are the sum of the times from each sign of life to the next, whichever
    judgement they belong to; a longer time than ``PAUSE`` is a break and left out. Some tools stamp a judgement only
    when it is made, so reading falls between judgements; median_seconds is therefore the median time from one end of a
    judgement to the next, breaks left out (missing for a single one). With ``hit_seconds``, the median time a judgement
    takes in the annotator's HITs, times their judgements, for whole HITs hold unknown pauses. Rows without times are
    left out.

    >>> two = pd.DataFrame({"annotator": "a", "started": [0.0, 30.0, 100000.0], "ended": [60.0, 90.0, 100030.0]})
    >>> hours(two)[0][["judgements", "median_seconds", "mean_seconds"]].to_numpy().tolist()
    [[3.0, 30.0, 40.0]]
    """
    if {"started", "ended"} <= set(part.columns):
        timed = part[part["ended"] >= part["started"]]
        table = pd.DataFrame([_worked(name, own) for name, own in timed.groupby("annotator")], columns=_COLUMNS)
        if table["hours"].sum() > 0:
            return table, _STAMPED
    if "hit_seconds" in part:
        return _by_hit(part[part["hit_seconds"] > 0]), _BY_HIT
    return pd.DataFrame(columns=_COLUMNS), ""


def _worked(name: str, own: pd.DataFrame) -> tuple[str, int, float, float, float]:
    """Return one annotator's row of ``hours``, by stamps."""
    steps = np.diff(np.sort(own[["started", "ended"]].to_numpy(float), axis=None))
    worked = float(steps[steps <= PAUSE].sum())
    return name, len(own), float(annotators.since_last(own).median()), worked / 3600, worked / len(own)


def _by_hit(timed: pd.DataFrame) -> pd.DataFrame:
    """Tabulate ``hours`` by the times of whole HITs."""
    if timed.empty:
        return pd.DataFrame(columns=_COLUMNS)
    speed = annotators.speed(timed.drop(columns=["started", "ended"], errors="ignore"))
    table = timed.groupby("annotator").size().rename("judgements").to_frame()
    table["median_seconds"] = speed.groupby("annotator")["seconds"].median()
    table = table.dropna().assign(hours=lambda t: t["median_seconds"] * t["judgements"] / 3600)
    return table.assign(mean_seconds=table["median_seconds"]).reset_index()[_COLUMNS]
