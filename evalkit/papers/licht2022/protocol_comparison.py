"""Rows for ``show.compare``: what Licht et al. 2022 print on protocols, beside what its own cells give."""

from __future__ import annotations

import itertools

import pandas as pd

from evalkit.papers import claims
from evalkit.papers.licht2022 import table3
from evalkit.stats.agreement import BANDS


def table3_rows(kappas: pd.DataFrame, averages: pd.DataFrame) -> pd.DataFrame:
    """Compare the printed averages and ranks with those of the printed kappas, which themselves can only be listed.

    kappas, averages: ``licht2022_table3`` and ``licht2022_averages``.
    """
    rows = claims.compare_with_print(
        averages,
        table3.averages(kappas),
        item="Table 3",
        on=["direction", "protocol"],
        values={"avg": "mean", "rank": "rank"},
        basis="follows from other printed numbers",
        note="From the row's printed cells, which are rounded themselves.",
    )
    unreleased = claims.listed(
        kappas,
        "kappa",
        item="Table 3",
        on=["direction", "protocol", "language"],
        because="The annotations behind this kappa were not published.",
        lacking="annotations never released",
    )
    return pd.concat([rows, unreleased])


def prose_tables(kappas: pd.DataFrame, table2: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Compute what the claims of the prose on protocols are looked up in (``licht2022_prose``), a table a name."""
    averages = table3.averages(kappas)
    here = averages.groupby("direction")["rank"].transform("size")
    standing = "rank " + averages["rank"].astype(str) + " of " + here.astype(str)
    limits = BANDS["landis-koch"].bands
    return {
        "averages": averages.assign(standing=standing.mask(averages["rank"] <= here / 2, "well")),
        "overall": overall(averages),
        "above": leads(averages),
        "variety": variety(table2),
        "bands": pd.DataFrame(limits, columns=["limit", "name"]),
    }


def overall(averages: pd.DataFrame) -> pd.DataFrame:
    """Rank protocols by their average over all directions that they apply to: protocol, mean, rank."""
    widest = averages.sort_values("cells", ascending=False, kind="stable").drop_duplicates("protocol")
    return widest[["protocol", "mean"]].assign(rank=widest["mean"].rank(ascending=False, method="min").astype(int))


def leads(averages: pd.DataFrame) -> pd.DataFrame:
    """Say by how much XSTS leads RAW and PE, in each direction and in both: direction, other, lead."""
    mean = averages.set_index(["direction", "protocol"])["mean"]
    pairs = itertools.product(table3.DIRECTIONS, ("RAW", "PE"))
    rows = [(direction, other, mean[direction, "XSTS"] - mean[direction, other]) for direction, other in pairs]
    return pd.DataFrame(rows, columns=["direction", "other", "lead"])


def variety(table2: pd.DataFrame) -> pd.DataFrame:
    """Say of each property of the languages whether it varies, and whether high and low are there: in print's words."""
    rows = []
    for name in table2.columns.drop(["language", "language_code"]):
        found = set(table2[name])
        both = "both" if {"High", "Low"} <= found else "not both"
        rows.append((name, "differ" if len(found) > 1 else "alike", both))
    return pd.DataFrame(rows, columns=["property", "varies", "covers"])
