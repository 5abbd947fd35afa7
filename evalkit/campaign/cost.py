"""How long the work took, and what it cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.human import annotators
from evalkit.stats.terms import pluralize

#: Longest time without a sign of life, a judgement begun or ended, that counts as work; seconds.
PAUSE = 600
_COLLECT = (
    "Record when each judgement started and ended (seconds, columns started and ended), or the time of a whole HIT "
    "(hit_seconds)."
)


@section("cost", collect=_COLLECT)
def cost(campaign: Campaign, *, hourly_pay: float = 0.0, currency: str = "") -> Section:
    """Measure time per item and annotator, the whole time in hours, and its price at an hourly pay.

    hourly_pay: of one annotator, in ``currency``; 0 leaves prices out.
    """
    if hourly_pay < 0:
        raise DataError(f"hourly_pay={hourly_pay:g} is below 0. Give the pay of one hour.")
    table, how = hours(campaign.part)
    if table.empty:
        return Section("cost", (), (), f"there are no times. {_COLLECT}", {"hours": None})
    total, judgements = float(table["hours"].sum()), int(table["judgements"].sum())
    seconds = 3600 * total / judgements
    told = [
        f"{pluralize(judgements, 'judgement')} with times took {total:,.1f} hours, {seconds:.0f} seconds each on "
        f"average ({how}). The median annotator takes {table['mean_seconds'].median():.0f} seconds for one."
    ]
    told[0] = f"{campaign.pair}: {told[0]}" if len(campaign.pairs) > 1 else told[0]
    facts = {"hours": total, "seconds": seconds, "pay": hourly_pay, "currency": currency.strip()}
    name = currency.strip()
    if hourly_pay > 0:
        table = table.assign(cost=table["hours"] * hourly_pay)
        price = total * hourly_pay
        told.append(
            f"At {hourly_pay:g} {name} an hour that is {price:,.0f} {name}, or {price / judgements:.2f} {name} a "
            "judgement.".replace("  ", " ")
        )
        facts["cost"] = price
    if len(campaign.pairs) > 1:
        whole = float(hours(campaign.ratings)[0]["hours"].sum())
        paid = f", or {whole * hourly_pay:,.0f} {name}".rstrip() if hourly_pay > 0 else ""
        told.append(f"All language pairs together took {whole:,.1f} hours{paid}.")
        facts["all_hours"] = whole
    missing = len(campaign.part) - judgements
    collect = f"times of {pluralize(missing, 'judgement')}. " if missing else ""
    collect += "" if hourly_pay > 0 else "The price: set hourly_pay (and currency) to see what the hours cost."
    table = table.sort_values("mean_seconds", kind="stable", ignore_index=True)
    return Section("cost", tuple(told), (Table("time", table, f"{campaign.pair}: time by annotator", 1),),
                   collect.strip(), facts)  # fmt: skip


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
    columns = ["annotator", "judgements", "median_seconds", "hours", "mean_seconds"]
    if {"started", "ended"} <= set(part.columns):
        timed = part[part["ended"] >= part["started"]]
        rows = []
        for name, own in timed.groupby("annotator"):
            signs = np.sort(np.concatenate([own["started"].to_numpy(float), own["ended"].to_numpy(float)]))
            steps, ends = np.diff(signs), np.diff(np.sort(own["ended"].to_numpy(float)))
            worked, ends = float(steps[steps <= PAUSE].sum()), ends[ends <= PAUSE]
            typical = float(np.median(ends)) if len(ends) else np.nan
            rows.append((name, len(own), typical, worked / 3600, worked / len(own)))
        if rows and sum(row[3] for row in rows) > 0:
            how = (
                f"from each sign of life to the next; more than {PAUSE // 60} minutes without one is a break, left out"
            )
            return pd.DataFrame(rows, columns=columns), how
    if "hit_seconds" in part:
        timed = part[part["hit_seconds"] > 0]
        speed = annotators.speed(timed.drop(columns=["started", "ended"], errors="ignore"))
        each = speed.groupby("annotator")["seconds"].median() if len(timed) else pd.Series(dtype=float)
        table = timed.groupby("annotator").size().rename("judgements").to_frame()
        table["median_seconds"] = each
        table = table.dropna().assign(hours=lambda t: t["median_seconds"] * t["judgements"] / 3600)
        table["mean_seconds"] = table["median_seconds"]
        how = "the median time of a judgement in an annotator's HITs, for HITs hold pauses"
        return table.reset_index()[columns], how
    return pd.DataFrame(columns=columns), ""
