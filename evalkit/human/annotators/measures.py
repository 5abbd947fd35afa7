"""Measures of one annotator that a rule can use, each computed for a whole stack of resamples at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.annotators.others import beside_others
from evalkit.human.annotators.pace import seconds_taken
from evalkit.human.annotators.usage import in_outer_tenths, repeat_differences
from evalkit.stats.correlation import spearman


@dataclass(frozen=True)
class Measure:
    """What to draw anew (``units``: ratings -> pair, annotator and values) and what to compute from the values drawn.

    statistic: values of one annotator, resamples × units × columns -> resamples. fewest: units needed.
    """

    units: Callable[[pd.DataFrame], pd.DataFrame]
    statistic: Callable[[np.ndarray], np.ndarray]
    meaning: str
    fewest: int = 1


def quality_pairs(ratings: pd.DataFrame) -> pd.DataFrame:
    """Pair each degraded item with the undamaged one that the same annotator scored: pair, annotator, difference.

    The difference is original - degraded, in points; both must stand in the same HIT where HITs are known. An
    annotator's differences from all language pairs stand under each pair that they worked on, for control is of people.
    """
    frame = with_pair(ratings)
    key = ["pair", "annotator", *(["hit"] if "hit" in frame else []), *ITEM]
    original = frame[frame["item_type"].isin(["system", "calibration"])].groupby(key)["score"].mean().reset_index()
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


def _judgements(ratings: pd.DataFrame) -> pd.DataFrame:
    return with_pair(ratings)[["pair", "annotator", "score"]]


def _ends(ratings: pd.DataFrame) -> pd.DataFrame:
    """Mark the scores in the lowest or the highest tenth of the table's scale."""
    return _judgements(ratings).assign(score=in_outer_tenths(ratings).astype(float))


def _shared(ratings: pd.DataFrame) -> pd.DataFrame:
    return beside_others(ratings).dropna(subset="others")[["pair", "annotator", "score", "others"]]


def _distinct(stack: np.ndarray) -> np.ndarray:
    return 1.0 + (np.diff(np.sort(stack[..., 0], axis=1), axis=1) > 0).sum(axis=1)


def _spearman(stack: np.ndarray) -> np.ndarray:
    return spearman(stack[..., 0], stack[..., 1])


#: What a rule can be about: names as in ``profiles``.
MEASURES = {
    "unique_scores": Measure(_judgements, _distinct, "number of distinct scores"),
    "mean": Measure(_judgements, lambda s: s[..., 0].mean(axis=1), "mean score, points"),
    "sd": Measure(_judgements, lambda s: s[..., 0].std(axis=1, ddof=1), "standard deviation of scores, points", 2),
    "at_ends": Measure(
        _ends, lambda s: s[..., 0].mean(axis=1), "share of scores in the lowest or the highest tenth of the scale"
    ),
    "median_abs_diff": Measure(
        repeat_differences, lambda s: np.median(s[..., 0], axis=1), "median difference on repeats, points"
    ),
    "max_abs_diff": Measure(
        repeat_differences, lambda s: s[..., 0].max(axis=1), "largest difference on repeats, points"
    ),
    "with_others": Measure(_shared, _spearman, "Spearman's ρ with the mean of the others", 10),
    "seconds": Measure(seconds_taken, lambda s: np.median(s[..., 0], axis=1), "median seconds a judgement"),
    "qc_p": Measure(quality_pairs, paired_t, "p-value (t) of degraded items against their originals", 2),
    "qc_wilcoxon": Measure(quality_pairs, signed_rank, "p-value (signed rank) of degraded items, likewise"),
}
