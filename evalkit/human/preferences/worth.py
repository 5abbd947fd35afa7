"""How much certainty a campaign of scores would keep if people had only said which translation is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import compared
from evalkit.stats.inference import jackknife_interval


class Worth(NamedTuple):
    """The share of a score's certainty that a comparison has, its 95 % interval, and what it rests on.

    efficiency .5: twice as many pairs of translations have to be compared as scored for the same certainty.
    ties: share of comparisons. agree: share of pairs of systems whose order is the same.
    """

    efficiency: float
    low: float
    high: float
    ties: float
    agree: float
    systems: int
    comparisons: int


def statistics(comparisons: pd.DataFrame, *, unit: Sequence[str] = ("doc",)) -> pd.DataFrame:
    """Return of each pair of systems two z statistics: of the mean difference of scores, and of wins minus losses.

    comparisons: with ``score_a`` and ``score_b``. unit: what is independent; both errors are those of sums over units
    (Liang & Zeger 1986). Pairs that fewer than five units compare are left out. Columns system_a, system_b, n, scores,
    wins (z), ties (share).
    """
    turned = comparisons["system_a"] > comparisons["system_b"]
    sign = np.where(turned, -1.0, 1.0)
    gap = sign * (comparisons["score_a"] - comparisons["score_b"]).to_numpy(float)
    won = sign * comparisons["preference"].map({"a": 1.0, "b": -1.0, "tie": 0.0}).to_numpy(float)
    one, other = (comparisons[f"system_{x}"].where(~turned, comparisons[f"system_{y}"]) for x, y in ("ab", "ba"))
    table = pd.DataFrame(
        {
            "system_a": one,
            "system_b": other,
            "gap": gap,
            "won": won,
            "tie": won == 0,
            "n": 1,
            **{f"_{name}": comparisons[name].astype("str") for name in unit},
        }
    )
    sums = table.groupby(["system_a", "system_b", *(f"_{name}" for name in unit)])[["gap", "won", "tie", "n"]].sum()
    rows = []
    for pair, own in sums.groupby(level=[0, 1]):
        if len(own) >= 5:
            rows.append(
                (
                    *pair,
                    int(own["n"].sum()),
                    _z(own["gap"], own["n"]),
                    _z(own["won"], own["n"]),
                    own["tie"].sum() / own["n"].sum(),
                )
            )
    return pd.DataFrame(rows, columns=["system_a", "system_b", "n", "scores", "wins", "ties"])


def _z(sums: pd.Series, size: pd.Series) -> float:
    """Return a mean over its standard error, units being independent."""
    mean = sums.sum() / size.sum()
    error = np.sqrt(((sums - mean * size) ** 2).sum() * len(sums) / (len(sums) - 1)) / size.sum()
    return float(mean / error) if error > 0 else 0.0


def efficiency(ratings: pd.DataFrame, *, tie: float = 0.0, unit: Sequence[str] = ("doc",)) -> Worth:
    """Estimate what a comparison is worth beside two scores, by turning a campaign's scores into comparisons.

    ratings: one person's scores of several systems' translations of a segment make comparisons. tie: see
    ``compared.of_scores``. The efficiency is the ratio, over pairs of systems, of squared z statistics less the 1 that
    chance gives each: certainty grows with the number of judgements, so that .5 means twice as many. The interval, of
    the ratio's logarithm, leaves out one system at a time; it is NaN where that leaves nothing beyond chance. Source:
    Pitman's relative efficiency (Lehmann 1999, section 3.4), here of real judgements. Caveat: people who are asked for
    a preference may look closer than those who give two scores; then comparisons are worth more than this. Raises
    DataError where no pair differs by more than chance.
    """
    found = compared.of_scores(ratings, tie=tie, together=())
    table = statistics(found, unit=unit)
    systems = sorted({*table["system_a"], *table["system_b"]})
    ratio = _ratio(table)
    without = [_ratio(table[table["system_a"].ne(name) & table["system_b"].ne(name)]) for name in systems]
    if not np.isfinite(ratio):
        raise DataError("No two systems differ by more than chance, so that nothing tells what a comparison is worth.")
    kept = [one for one in without if np.isfinite(one)]
    # Of the logarithm, for a ratio is never negative, and twice as much is as far from one as half.
    inside = ratio > 0 and min(kept, default=0.0) > 0 and len(kept) > 2
    low, high = np.exp(jackknife_interval(float(np.log(ratio)), np.log(kept))) if inside else (np.nan, np.nan)
    agree = float((np.sign(table["scores"]) == np.sign(table["wins"])).mean())
    ties = float(found["preference"].eq("tie").mean())
    return Worth(ratio, float(low), float(high), ties, agree, len(systems), len(found))


def _ratio(table: pd.DataFrame) -> float:
    """Return the ratio of what is left of squared z statistics without chance."""
    scores, wins = (float((table[name] ** 2 - 1).sum()) for name in ("scores", "wins"))
    return wins / scores if scores > len(table) else np.nan
