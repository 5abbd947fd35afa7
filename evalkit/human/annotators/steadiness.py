"""Whether annotators use the scale the same way in other work: what one set of scores tells about another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import with_pair
from evalkit.human.annotators.marks import SQM_TICKS, ticks
from evalkit.human.annotators.usage import usage

_WHO = ["pair", "annotator"]
#: What is compared: range, shape, steps of the scale.
USES = ("min", "max", "mean", "sd", "skewness", "at_ends", "unique_scores", "on_marks")


def two_hits(ratings: pd.DataFrame, *, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw two HITs of each annotator who did at least two in a language pair: two tables of ratings.

    Raises DataError without HITs, or where nobody did two.
    """
    if "hit" not in ratings:
        raise DataError("Comparing HITs needs the column hit. Add it, or compare two tables of your own.")
    done = with_pair(ratings)[[*_WHO, "hit"]].drop_duplicates().sort_values([*_WHO, "hit"], ignore_index=True)
    done = done.assign(draw=np.random.default_rng(seed).random(len(done))).sort_values([*_WHO, "draw"])
    done["turn"] = done.groupby(_WHO).cumcount()
    done = done[done.groupby(_WHO)["turn"].transform("max") > 0]
    if done.empty:
        raise DataError("Nobody did two HITs in one language pair: there is nothing to compare.")
    turn = with_pair(ratings)[[*_WHO, "hit"]].merge(done, on=[*_WHO, "hit"], how="left")["turn"].to_numpy()
    first, second = (ratings[turn == k].reset_index(drop=True) for k in (0, 1))
    return first, second


def intra_annotator_consistency(
    first: pd.DataFrame, second: pd.DataFrame, *, marks: Sequence[float] = SQM_TICKS, within: float = 1.0
) -> pd.DataFrame:
    """Compare how the same annotators use the scale in two sets of scores, such as calibration and additional HITs.

    Returns per language pair and use (see ``USES``; on_marks is the share of scores on the slider's marks) the
    annotators with both, and Spearman's rho over them with its two-sided p: 1 where whoever is highest in one set is
    highest in the other. Missing below five annotators. Source: Knowles & Lo 2024, section 4.1, who compare by eye.
    Caveat: sets of very different size differ in range and distinct scores for that reason alone, though less in rank.
    """
    both = [_uses(table, tuple(marks), within) for table in (first, second)]
    joined = both[0].add_suffix("_first").join(both[1].add_suffix("_second"), how="inner")
    rows = []
    for pair, table in joined.groupby("pair"):
        for use in USES:
            x, y = (table[f"{use}_{when}"].to_numpy(float) for when in ("first", "second"))
            there = np.isfinite(x) & np.isfinite(y)
            varied = there.sum() >= 5 and np.ptp(x[there]) > 0 and np.ptp(y[there]) > 0
            rho, p = stats.spearmanr(x[there], y[there]) if varied else (np.nan, np.nan)
            rows.append((pair, use, int(there.sum()), float(rho), float(p)))
    if not rows:
        raise DataError("No annotator has scores in both tables. Check that they name annotators alike.")
    return pd.DataFrame(rows, columns=["pair", "use", "annotators", "rho", "p"])


def _uses(ratings: pd.DataFrame, marks: tuple[float, ...], within: float) -> pd.DataFrame:
    table = usage(ratings).set_index(_WHO)
    table["on_marks"] = ticks(ratings, marks=marks, within=within).groupby(_WHO)["share"].sum()
    return table[list(USES)]
