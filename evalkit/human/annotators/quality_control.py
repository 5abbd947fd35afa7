"""Quality control by degraded items: who scores them below their originals, and were those who did not removed?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit.data.schemas import ITEM, with_pair

#: Least share of those near the limit who fail, if nobody was removed; see ``removed``.
SHARE = 0.25


def quality_pairs(ratings: pd.DataFrame) -> pd.DataFrame:
    """Pair each degraded item with the undamaged one that the same annotator scored: pair, annotator, difference.

    Originals are outputs of systems or references. The difference is original - degraded, in points; both must stand
    in the same HIT where HITs are known. An annotator's differences from all language pairs stand under each pair that
    they worked on, for control is of people.
    """
    frame = with_pair(ratings)
    key = ["pair", "annotator", *(["hit"] if "hit" in frame else []), *ITEM]
    original = (
        frame[frame["item_type"].isin(["system", "reference", "calibration"])]
        .groupby(key)["score"]
        .mean()
        .reset_index()
    )
    joined = frame[frame["item_type"].eq("degraded")].merge(original, on=key, suffixes=("", "_original"))
    joined["difference"] = joined["score_original"] - joined["score"]
    worked = frame[["pair", "annotator"]].drop_duplicates()
    return worked.merge(joined[["annotator", "difference"]], on="annotator")


def quality_control(ratings: pd.DataFrame) -> pd.DataFrame:
    """Test, annotator by annotator, whether degraded items score lower than their originals, as WMT's control does.

    Returns pair, annotator, qc_pairs (over all language pairs of the annotator), qc_difference (mean of original -
    degraded, points), qc_p, of a one-sided paired t-test, and qc_wilcoxon, of a signed-rank test. Annotators without
    degraded items have no row. The ratings that WMT published as passing its control in 2021 and 2022 have qc_p < 0.05
    for everyone all of whose work is known; neither Wilcoxon's test nor one per language pair would have let all pass.
    Caveat: the t-test asks for a mean difference, which one large drop among many small ones can defeat.
    """
    pairs = quality_pairs(ratings).groupby(["pair", "annotator"])["difference"]
    table = pairs.agg(qc_pairs="size", qc_difference="mean")
    for name, test in (("qc_p", paired_t), ("qc_wilcoxon", signed_rank)):
        table[name] = pairs.agg(lambda values, test=test: float(test(values.to_numpy()[None, :, None])[0])).astype(
            float
        )
    return table.reset_index()


def one_score_hits(ratings: pd.DataFrame) -> pd.DataFrame:
    """List who gave one single score throughout a HIT of 20 judgements or more: annotator, hits, judgements, score.

    ratings: with ``hit``. score: the median over such HITs.
    """
    hits = ratings.groupby(["annotator", "hit"])["score"].agg(["nunique", "size", "first"])
    flat = hits[(hits["nunique"] == 1) & (hits["size"] >= 20)].groupby("annotator")
    return flat.agg(hits=("size", "size"), judgements=("size", "sum"), score=("first", "median")).reset_index()


def paired_t(stack: np.ndarray) -> np.ndarray:
    """Return one-sided p-values of the paired t-test (positive differences) for resamples × units × 1.

    Missing for a single difference; where all are equal, 0 if they are positive, else 1.
    """
    difference = stack[..., 0]
    n, mean = difference.shape[1], difference.mean(axis=1)
    if n < 2:
        return np.full(len(stack), np.nan)
    spread = difference.std(axis=1, ddof=1)
    t = np.divide(
        mean, spread / np.sqrt(n), out=np.where(mean > 0, np.inf, -np.inf), where=np.ptp(difference, axis=1) > 0
    )
    return stats.t.sf(t, n - 1)


def signed_rank(stack: np.ndarray) -> np.ndarray:
    """Return one-sided p-values of Wilcoxon's signed-rank test (positive differences) for resamples × units × 1.

    As R's ``wilcox.test(..., alternative="greater", exact=FALSE)``: zeros left out, ties and continuity corrected.
    """
    difference = stack[..., 0]
    size = np.abs(difference)
    zeros = (size == 0).sum(axis=1)
    n = difference.shape[1] - zeros
    low, high = (stats.rankdata(size, axis=1, method=method) for method in ("min", "max"))
    rank = (low + high) / 2 - zeros[:, None]
    positive = np.where(difference > 0, rank, 0).sum(axis=1)
    ties = np.where(size > 0, (high - low + 1) ** 2 - 1, 0).sum(axis=1)  # t³ - t, summed over groups of t ties
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    above = positive - n * (n + 1) / 4
    z = (above - 0.5) / np.sqrt(np.where(variance > 0, variance, np.nan))
    return np.where(n == 0, 1.0, stats.norm.sf(z))


class Caliper(NamedTuple):
    """How many annotators pass a test narrowly, how many fail it as narrowly, and how likely so few are by chance."""

    passed: int
    failed: int
    p: float


def removed(p_values: ArrayLike) -> Caliper:
    r"""Count the p-values just below and just above 0.05: where many pass narrowly, some must fail narrowly.

    p_values: one an annotator, NaN for those without. Narrowly is up to 0.025 below or above the limit. ``p`` is
    that of so few failures or fewer, :math:`P(X \le \text{failed})` with X binomial of all narrow ones at ``SHARE``.
    A one-sided test whose statistic lies :math:`\delta` standard errors from zero on average has its p-value above the
    limit in a share of narrow cases that is 1/2 for :math:`\delta = 0`, .32 for 3, and 1/4 for 4.2; those with a larger
    :math:`\delta` hardly come near the limit. So ``p`` is small where failures were taken out, and nothing else needs
    to be known of the data. Source: the caliper test of Gerber & Malhotra 2008, there for published p-values.
    Caveat: it cannot see a removal where few come near the limit, and nobody need have been removed on purpose.

    >>> removed([0.03] * 30 + [0.001] * 80)
    Caliper(passed=30, failed=0, p=0.00017858...)
    >>> removed([0.03, 0.06, 0.001]).p
    0.9375
    """
    values = np.asarray(p_values, dtype=float)
    passed = int(((values >= 0.025) & (values < 0.05)).sum())
    failed = int(((values >= 0.05) & (values < 0.075)).sum())
    return Caliper(passed, failed, float(stats.binom.cdf(failed, passed + failed, SHARE)))
