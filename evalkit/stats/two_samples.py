"""Tests of whether one of two samples is higher, many at once: a test a row, NaN where nothing was observed.

Each equals the test of the same name in scipy, on the row alone and without its gaps. All but ``higher_by_t`` take
``two_sided``; else the alternative is that the first sample is higher.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from evalkit.stats import inference
from evalkit.stats.inference.blocks import Seed


def rank_sum(a: np.ndarray, b: np.ndarray, *, two_sided: bool = False, exact_up_to: int = 8) -> np.ndarray:
    """Test two samples by ranks over both together (Mann-Whitney, Wilcoxon's rank sum): p-values, (rows,).

    a, b: (rows, values), which need not belong together. The normal approximation with corrections for ties and
    continuity; exact where there are no ties and one sample has no more than ``exact_up_to`` values, as in scipy.
    Source: Mann & Whitney 1947.  Caveat: it asks whose values are more often higher, not whose mean is.

    >>> rank_sum(np.array([[5.0, 6, 7]]), np.array([[1.0, 2, 6]])).round(4).tolist()
    [0.1341]
    """
    both = np.concatenate([a, b], axis=1)
    there = np.isfinite(both)
    ranks = _ranks(both, there)
    n, m = np.isfinite(a).sum(axis=1), np.isfinite(b).sum(axis=1)
    total = n + m
    distance = ranks[:, : a.shape[1]].sum(axis=1) - n * (total + 1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = n * m / (total * (total - 1)) * ((ranks**2).sum(axis=1) - total * (total + 1) ** 2 / 4)
    p = normal(distance, variance, continuity=0.5, two_sided=two_sided)
    for k in np.flatnonzero((np.minimum(n, m) <= exact_up_to) & (np.minimum(n, m) > 0)):
        values = both[k][there[k]]
        if len(np.unique(values)) == len(values):
            p[k] = stats.mannwhitneyu(values[: n[k]], values[n[k] :], alternative=_name(two_sided), method="exact")[1]
    return p


def signed_rank(
    difference: np.ndarray, *, two_sided: bool = False, continuity: float = 0.0, exact_up_to: int = 50
) -> np.ndarray:
    """Test by the ranks of the sizes of differences whether they are above 0 (Wilcoxon): p-values, (rows,).

    difference: (rows, differences); those that are 0 are left out. Normal, corrected for ties; continuity: 0 as in
    scipy, 0.5 as in R. Exact where none is 0 or tied and there are no more than ``exact_up_to`` (50 in scipy, 49 in R).
    Source: Wilcoxon 1945.  Caveat: differences count as independent and, where there is none on average, as symmetric.

    >>> signed_rank(np.array([[3.0, 2, 5, -1, 4]])).tolist()
    [0.0625]
    """
    there = np.isfinite(difference)
    used = there & (difference != 0)
    ranks = _ranks(np.abs(difference), used)
    distance = (ranks * (difference > 0)).sum(axis=1) - ranks.sum(axis=1) / 2
    p = normal(distance, (ranks**2).sum(axis=1) / 4, continuity=continuity, two_sided=two_sided)
    n = used.sum(axis=1)
    for k in np.flatnonzero((there.sum(axis=1) == n) & (n > 0) & (n <= exact_up_to)):
        if len(np.unique(ranks[k][used[k]])) == n[k]:
            p[k] = stats.wilcoxon(difference[k][used[k]], alternative=_name(two_sided), method="exact").pvalue
    return p


def paired_t(difference: np.ndarray, *, two_sided: bool = False) -> np.ndarray:
    """Test whether differences are above 0 on average by Student's t: p-values, (rows,).

    >>> paired_t(np.array([[3.0, 2, 5, -1, 4]])).round(4).tolist()
    [0.0325]
    """
    n = np.isfinite(difference).sum(axis=1)
    mean, squares = _moments(difference, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(squares / (n - 1) / n)
    return _student(mean, error, n - 1, two_sided)


def independent_t(a: np.ndarray, b: np.ndarray, *, two_sided: bool = False) -> np.ndarray:
    """Test two samples that do not belong together by Student's t with one variance for both: p-values, (rows,).

    >>> independent_t(np.array([[5.0, 6, 7]]), np.array([[1.0, 2, 6]])).round(4).tolist()
    [0.07]
    """
    n, m = np.isfinite(a).sum(axis=1), np.isfinite(b).sum(axis=1)
    (mean_a, squares_a), (mean_b, squares_b) = _moments(a, n), _moments(b, m)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt((squares_a + squares_b) / (n + m - 2) * (1 / n + 1 / m))
    return _student(mean_a - mean_b, error, n + m - 2, two_sided)


def higher_by_t(difference: np.ndarray, error: np.ndarray, units: np.ndarray, *, even: np.ndarray) -> np.ndarray:
    """Return one-sided p-values of differences with standard errors that rest on so many units, of any shape.

    even: where the difference is none but for rounding. Where units have no spread at all, a difference proves no more
    than random signs of all units would.

    >>> even = np.array([False, False])
    >>> higher_by_t(np.array([2.0, 1.0]), np.array([1.0, 0.0]), np.array([10, 4]), even=even).round(3).tolist()
    [0.038, 0.062]
    """
    t = np.divide(difference, error, out=np.zeros(np.shape(error)), where=error > 0)
    return np.where(error > 0, stats.t.sf(t, units - 1), np.where(even, 1.0, 0.5**units))


def sign_flips(difference: np.ndarray, *, resamples: int, seed: Seed) -> np.ndarray:
    """Test the sums of differences against sums with random signs, the same for all rows: one-sided p-values, (rows,).

    p is (hits + 1) / (resamples + 1); all arrangements are counted where they are few.
    Source: Fisher 1935, section 21; Phipson & Smyth 2010.
    """
    filled = np.nan_to_num(difference)
    observed = filled.sum(axis=1)
    least = observed - 1e-9 * np.abs(filled).sum(axis=1)  # sums that are equal but for rounding count as equal

    def hits(kept: np.ndarray) -> np.ndarray:
        return ((2.0 * kept - 1) @ filled.T >= least).sum(axis=0)

    swaps = inference.Swaps(filled.shape[1])
    return inference.count_hits(hits, observed, swaps, resamples=resamples, seed=seed, numbers=sum(filled.shape)).p


def redrawn(difference: np.ndarray, *, resamples: int, seed: Seed) -> np.ndarray:
    """Return the share of resamples of the differences, the same for all rows, with a mean of 0 or less, (rows,).

    The share is (hits + 1) / (resamples + 1), the p-value of a one-sided test by the paired bootstrap.
    Source: Koehn 2004.  Caveat: slightly too small with few differences, as percentile intervals are too short.
    """
    filled = np.nan_to_num(difference)
    summed = inference.resample(
        lambda times: times @ filled.T, np.arange(filled.shape[1])[:, None], resamples=resamples, seed=seed
    )
    return ((summed <= 1e-9 * np.abs(filled).sum(axis=1)).sum(axis=0) + 1) / (len(summed) + 1)


def stouffer(p: np.ndarray) -> np.ndarray:
    r"""Combine p-values along the last axis by :math:`\sum z / \sqrt{k}`; NaN are left out, and 1 is returned for none.

    Source: Stouffer et al. 1949.  Caveat: two-sided p-values lose the direction, so that two domains that contradict
    each other add up to significance.

    >>> stouffer(np.array([[0.05, 0.05], [0.5, 0.5]])).round(3).tolist()
    [0.01, 0.5]
    """
    z = stats.norm.isf(np.clip(p, 1e-300, 1 - 1e-16))
    known = np.isfinite(p).sum(axis=-1)
    return np.where(known > 0, stats.norm.sf(np.nansum(z, axis=-1) / np.sqrt(np.maximum(known, 1))), 1.0)


def normal(distance: np.ndarray, variance: np.ndarray, *, continuity: float, two_sided: bool = False) -> np.ndarray:
    """Return the normal p-value of a statistic so far from its mean; 1 without variance."""
    distance = np.abs(distance) if two_sided else distance
    z = np.divide(distance - continuity, np.sqrt(variance), out=np.full(len(distance), -np.inf), where=variance > 0)
    return np.minimum(2 * stats.norm.sf(z), 1) if two_sided else stats.norm.sf(z)


def _ranks(values: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Rank what is used along each row, ties in the middle; 0 elsewhere."""
    return np.where(used, stats.rankdata(np.where(used, values, np.inf), axis=1), 0)


def _moments(values: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's mean and sum of squared distances from it."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(values, axis=1) / n
        return mean, np.nansum((values - mean[:, None]) ** 2, axis=1)


def _student(difference: np.ndarray, error: np.ndarray, freedom: np.ndarray, two_sided: bool) -> np.ndarray:
    """Return p-values of differences over their errors; 1 where there is no spread or nothing was observed."""
    known = np.isfinite(error) & (error > 0)
    t = np.divide(difference, error, out=np.zeros(len(error)), where=known)
    tail: Callable[..., np.ndarray] = stats.t.sf
    p = 2 * tail(np.abs(t), np.maximum(freedom, 1)) if two_sided else tail(t, np.maximum(freedom, 1))
    return np.where(known, p, 1.0)


def _name(two_sided: bool) -> str:
    return "two-sided" if two_sided else "greater"
