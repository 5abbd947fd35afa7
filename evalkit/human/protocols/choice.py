"""Which protocol to choose, for whom and at what price: a decision table from what certainty and marks cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human.annotators import PAUSE
from evalkit.human.protocols import certainty, effort

#: Campaign -> its protocol, as pages write it.
FAMILIES = {"ESA-1": "ESA", "ESA-2": "ESA", "ESAAI-1": "ESA^AI", "ESAAI-2": "ESA^AI", "MQM-1": "MQM"}
#: Protocols whose marks name kinds of error, and which people must be trained for.
EXPERT = ("MQM",)
#: How many times the reader's hours count as many.
MANY = 4
_COLUMNS = ["aim", "hours", "people", "take", "gives", "cost", "yours"]


def prospects(
    parts: pd.DataFrame,
    judged: pd.DataFrame,
    marked: pd.DataFrame,
    means: pd.Series,
    *,
    hours: Sequence[float],
    pay: float = 0.0,
    families: Mapping[str, str] = FAMILIES,
    pause: float = PAUSE,
) -> pd.DataFrame:
    """Say what each protocol gives for so many hours of work.

    parts: the result of ``certainty.components``. marked: the marks of errors. means: the result of
    ``certainty.differences``. pay: of an hour.
    Returns protocol, hours, se (geometric mean of its campaigns, in units of the systems' spread), pairs (share of the
    pairs of systems that are far enough apart to be found with 80 % power at 5 %), marks (of errors), own (those of
    them that people drew themselves: the others were suggested and left standing), cost (hours times pay).
    """
    if min(hours, default=0) <= 0 or pay < 0:
        raise DataError("Give hours above 0 and a pay of 0 or more.")
    errors = certainty.standard_errors(parts, hours=hours)
    errors = errors.assign(log=np.log(errors["se"]), protocol=errors["protocol"].map(families))
    table = np.exp(errors.groupby(["protocol", "hours"], sort=False)["log"].mean()).rename("se").reset_index()
    ordered = means.to_numpy(float)
    first, second = np.triu_indices(len(ordered), 1)
    gaps = np.abs(ordered[first] - ordered[second])
    table["pairs"] = [float((certainty.needed_error(gaps) >= se).mean()) for se in table["se"]]
    rates = marks_an_hour(judged, marked, families=families, pause=pause)
    for name in rates:
        table[name] = table["protocol"].map(rates[name]) * table["hours"]
    return table.assign(cost=table["hours"] * pay)


def marks_an_hour(
    judged: pd.DataFrame, marked: pd.DataFrame, *, families: Mapping[str, str] = FAMILIES, pause: float = PAUSE
) -> pd.DataFrame:
    """Return marks an hour of all work by protocol: marks, and own (not suggested).

    marked: protocol, item_type, suggested. Degraded items take time, and their marks do not count.
    """
    useful = marked[(marked["item_type"] != "degraded") & marked["protocol"].isin(list(families))]
    useful = useful.assign(marks=1, own=~useful["suggested"].astype(bool), protocol=useful["protocol"].astype(str))
    counts = useful.groupby("protocol")[["marks", "own"]].sum()
    rates = counts.div(effort.work(judged, pause=pause).set_index("protocol")["hours"], axis=0).loc[counts.index]
    return rates.groupby(dict(families)).mean()


def decide(
    found: pd.DataFrame, relative: Mapping[str, pd.DataFrame], *, experts: bool = False, expert: Sequence[str] = EXPERT
) -> pd.DataFrame:
    """Choose a protocol for few and many hours, with experts and without, to rank systems or to diagnose them.

    found: the result of ``prospects`` for two numbers of hours. relative: protocol -> ``certainty.relative_hours`` with
    it as the base. experts: whether the reader has people trained for ``expert`` protocols. To rank, take the lowest
    standard error, and name with it each that is not shown to need more hours (its 95 % interval holds 1). To diagnose,
    take a protocol that names kinds of error where there are experts, otherwise the most marks; name with it each whose
    people draw more marks themselves.
    Returns aim, hours, people, take, gives (in words), cost and yours (the reader's own case), the reader's rows first.
    """
    rows = []
    for aim in ("rank systems", "find their errors"):
        for hours in sorted(found["hours"].unique()):
            for trained in (False, True):
                some = found[(found["hours"] == hours) & (trained | ~found["protocol"].isin(expert))]
                take = _to_rank(some, relative) if aim == "rank systems" else _to_diagnose(some, expert)
                chosen = some.set_index("protocol").loc[take].reset_index()
                gives = _pairs(chosen) if aim == "rank systems" else _marks(chosen, expert)
                yours = trained == experts and hours == found["hours"].min()
                people = "with experts" if trained else "without experts"
                rows.append((aim, hours, people, " or ".join(take), gives, chosen["cost"].iloc[0], yours))
    return pd.DataFrame(rows, columns=_COLUMNS).sort_values("yours", ascending=False, kind="stable", ignore_index=True)


def _to_rank(some: pd.DataFrame, relative: Mapping[str, pd.DataFrame]) -> list[str]:
    """Name the protocol with the lowest error, then those whose need of hours is not shown to be larger."""
    best = some.loc[some["se"].idxmin(), "protocol"]
    table = relative[best]
    near = table[(table["low"] <= 1) & table["protocol"].isin(some["protocol"])]
    rivals = near[near["protocol"] != best].sort_values("hours")["protocol"]
    return [best, *rivals]


def _to_diagnose(some: pd.DataFrame, expert: Sequence[str]) -> list[str]:
    """Name a protocol with kinds of error; if none, that with most marks, then those with more of people's own."""
    kinds = some[some["protocol"].isin(expert)]
    ordered = (kinds if len(kinds) else some).sort_values("marks", ascending=False)
    best = ordered.iloc[0]
    return [best["protocol"], *ordered.loc[ordered["own"] > best["own"], "protocol"]]


def _pairs(chosen: pd.DataFrame) -> str:
    """Say how many pairs of systems are distinguished."""
    shares = list(dict.fromkeys(f"{share:.0%}" for share in (chosen["pairs"].min(), chosen["pairs"].max())))
    return f"{' to '.join(shares)} of the pairs of systems distinguished"


def _marks(chosen: pd.DataFrame, expert: Sequence[str]) -> str:
    """Say how many errors are marked, and how."""
    said = []
    for row in chosen.itertuples():
        marks, own = (f"{float(f'{number:.2g}'):,.0f}" for number in (row.marks, row.own))
        said.append(f"{marks} marks" if row.own == row.marks else f"{marks} marks, {own} of them people's own")
    kinds = "with kinds of error" if chosen["protocol"].isin(expert).all() else "with places and severities"
    return f"about {' or '.join(said)}, {kinds}"
