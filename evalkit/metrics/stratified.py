r"""Few human scores and many metric scores, stratum by stratum: what is alike is estimated together.

Segments fall into strata k that are known of judged ones and of others: parts of a metric's scores, domains. With the
share :math:`W_k` of all segments, the mean is

.. math:: \hat\theta = \sum_k W_k \big(\bar y_k + \lambda_k (\bar f_{k,rest} - \bar f_{k,judged})\big)

with :math:`\lambda_k = 0` for plain strata (post-stratification), and the weight of PPI++ in each stratum otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.metrics import powered
from evalkit.stats.correlation import ratio

#: Into how many strata of about equal size scores are cut.
PARTS = 4
#: Fewest judged segments of a stratum: a variance, and beside it a slope. One with fewer joins its neighbour.
FEWEST = {False: 2, True: 4}


class Sums(NamedTuple):
    """Hold counts and sums of each stratum; the first axis has strata, others samples.

    n, others: segments judged, and others. human, squares: sums of human scores and of their squares; the same of the
    metric's scores of judged segments, product the sum of human times metric, and rest those of others.
    """

    n: np.ndarray
    others: np.ndarray
    human: np.ndarray
    squares: np.ndarray
    judged: np.ndarray
    judged_squares: np.ndarray
    product: np.ndarray
    rest: np.ndarray
    rest_squares: np.ndarray


def mean(
    human: ArrayLike,
    judged: ArrayLike,
    rest: ArrayLike,
    strata: tuple[Sequence[str], Sequence[str]],
    *,
    tuned: bool = True,
    level: float = 0.95,
) -> powered.Estimate:
    """Estimate a mean of human scores stratum by stratum, from those of a few segments and a metric's of more.

    human, judged, rest: as in ``powered.mean``, one sample each. strata: labels of the judged segments, and of the
    others, whose order is that of sorting. tuned: the metric also corrects within each stratum, by PPI++'s weight
    (Fisch et al. 2024); False: strata alone. A stratum with too few judged segments (``FEWEST``), or others, joins the
    next lower one (the lowest: the next higher).
    The variance has the scatter within strata and, because their shares are known from a sample only, between them;
    the interval is t with as many degrees of freedom as judged segments less those used up in each stratum.
    weight: the average weight. Caveat: segments must be judged at random, or at random within each stratum with the
    same chance everywhere; intervals of 95 % hold a little less with few segments a stratum.

    >>> strata = ["easy", "easy", "hard", "hard"], ["easy", "hard", "hard", "hard"]
    >>> found = mean([90.0, 80, 40, 20], [0.9, 0.8, 0.4, 0.2], [0.9, 0.3, 0.2, 0.5], strata, tuned=False)
    >>> float(found.value)  # 3 of 8 segments are easy
    50.625
    """
    y, f, g = (np.asarray(side, float) for side in (human, judged, rest))
    if not (y.ndim == f.ndim == g.ndim == 1 and len(y) == len(f) == len(strata[0]) and len(g) == len(strata[1])):
        raise DataError("Give judged segments a human score, a metric's and a stratum each, and others the last two.")
    if len(y) < FEWEST[tuned] or len(g) < 2:
        raise DataError(f"Strata need {FEWEST[tuned]} judged segments or more, and 2 others or more.")
    names, codes = np.unique(np.concatenate([np.asarray(side, dtype=str) for side in strata]), return_inverse=True)
    member = (codes == np.arange(len(names))[:, None]).astype(float)
    one, other = member[:, : len(y)], member[:, len(y) :]
    centre, middle = y.mean(), f.mean()
    y, f, g = y - centre, f - middle, g - middle
    sums = Sums(
        one.sum(1), other.sum(1), one @ y, one @ y**2, one @ f, one @ f**2, one @ (y * f), other @ g, other @ g**2
    )
    found = estimate(sums, tuned=tuned, level=level)
    return powered.Estimate(found.value + centre, found.low + centre, found.high + centre, found.weight)


def estimate(sums: Sums, *, tuned: bool, level: float = 0.95) -> powered.Estimate:
    """Estimate means from the sums of strata; see ``mean``."""
    sums = _joined(sums, FEWEST[tuned], 2 * tuned)
    there = sums.n > 0
    size = sums.n + sums.others
    share = size / size.sum(axis=0)
    own = _moments(sums)
    weight = powered.tuned(own, "PPI++") * there if tuned else np.zeros_like(share)
    lost = 1 + tuned
    residual = own.var_human - 2 * weight * own.covariance + weight**2 * own.var_judged
    within = np.nan_to_num(ratio(np.maximum(residual, 0), sums.n - lost))
    within = within + np.nan_to_num(ratio(weight**2 * own.var_rest, sums.others))
    means = own.human + weight * (own.rest - own.judged)
    value = (share * means).sum(axis=0)
    between = (share * (means - value) ** 2).sum(axis=0) / size.sum(axis=0)
    freedom = (sums.n - lost * there).sum(axis=0)
    few, where = np.unique(freedom, return_inverse=True)  # quantiles cost much, and samples share them
    tail = stats.t.ppf((1 + level) / 2, few)[where].reshape(freedom.shape)
    reach = tail * np.sqrt((share**2 * within).sum(axis=0) + between)
    return powered.Estimate(value, value - reach, value + reach, (share * weight).sum(axis=0))


def _joined(sums: Sums, judged: int, others: int) -> Sums:
    """Join strata with too few judged segments, or others, with the next lower one; the lowest with the next higher."""
    parts = [np.array(part, float) for part in np.broadcast_arrays(*sums)]
    last = len(parts[0]) - 1
    steps = [(place, place - 1) for place in range(last, 0, -1)] + [(place, place + 1) for place in range(last)]
    for place, neighbour in steps:
        size = parts[0][place] + parts[1][place]
        few = ((parts[0][place] < judged) | (parts[1][place] < others)) & (size > 0)
        for part in parts:
            part[neighbour] += np.where(few, part[place], 0)
            part[place] = np.where(few, 0, part[place])
    return Sums(*parts)


def _moments(sums: Sums) -> powered.Moments:
    """Turn sums into means and variances; 0 where a stratum is empty."""
    y, yy, f, ff, yf = (
        np.nan_to_num(ratio(part, sums.n))
        for part in (sums.human, sums.squares, sums.judged, sums.judged_squares, sums.product)
    )
    g, gg = (np.nan_to_num(ratio(part, sums.others)) for part in (sums.rest, sums.rest_squares))
    sizes = np.maximum(sums.n, 1), np.maximum(sums.others, 1)
    return powered.Moments(y, f, g, yy - y**2, ff - f**2, gg - g**2, yf - y * f, *sizes)


def parts_of(scores: ArrayLike, *, number: int = PARTS) -> np.ndarray:
    """Cut each row of scores into parts of about equal size: labels from 0, the lowest scores first.

    scores: (..., segments). Scores that are equal fall into one part, so that parts may be empty.

    >>> parts_of([3.0, 1, 2, 9, 9, 9], number=3).tolist()
    [1, 0, 0, 1, 1, 1]
    """
    scores = np.asarray(scores, float)
    ends = np.quantile(scores, np.arange(1, number) / number, axis=-1)
    return (scores[None] > ends[..., None]).sum(axis=0)


def by_document(scores: ArrayLike, documents: Sequence[str]) -> np.ndarray:
    """Give every segment the mean score of its document: what strata of documents are cut by.

    scores: (..., segments). documents: of each segment.
    """
    names, codes = np.unique(np.asarray(documents, dtype=str), return_inverse=True)
    member = (codes == np.arange(len(names))[:, None]).astype(float)
    means = np.asarray(scores, float) @ member.T / member.sum(axis=1)
    return means[..., codes]
