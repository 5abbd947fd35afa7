"""Segments that distinguish two systems where people say which translation is better, instead of scoring both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.human.planning.power import t_power

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(101)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def answers(variances: Mapping[str, float], *, delta: float, ties: float, block: float) -> tuple[float, float]:
    r"""Return mean and variance of a document's wins less losses, as shares of its ``block`` segments.

    Whoever would score both translations of a segment prefers the one that they would score higher, and calls it a tie
    where the two are closer than a threshold. ties: share of ties between equal systems, which sets that threshold.
    The difference of two scores by one person is normal with mean ``delta`` and the variance :math:`\sigma^2 = 2
    (V_{document} + V_{block} + V_{item} + V_{residual})`, of which the first two are common to a document; levels of
    annotators cancel. Given these, segments are independent, so that one integral over the normal distribution gives
    both moments.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 0.0, "residual": 60.0}
    >>> mean, variance = answers(V, delta=0, ties=0.2, block=10)
    >>> round(abs(mean), 6), round(variance, 3)
    (0.0, 0.08)
    """
    common, own = (2 * (variances[a] + variances[b]) for a, b in (("document", "block"), ("item", "residual")))
    if not common + own > 0 or not 0 <= ties < 1:
        raise DataError("Give variances of which some are above 0, and a share of ties from 0 to below 1.")
    edge = stats.norm.ppf((1 + ties) / 2) * np.sqrt(common + own)
    centre, spread = delta + np.sqrt(common) * _NODES, np.sqrt(max(own, 1e-9 * common))
    won, lost = stats.norm.cdf((centre - edge) / spread), stats.norm.cdf((-centre - edge) / spread)
    mean = float(_WEIGHTS @ (won - lost))
    shared = float(_WEIGHTS @ (won - lost) ** 2) - mean**2
    alone = float(_WEIGHTS @ (won + lost - (won - lost) ** 2))
    return mean, shared + alone / block


def by_preference(
    variances: Mapping[str, float],
    *,
    delta: float,
    target: float = 0.8,
    block: int = 10,
    ties: Sequence[float] = (0.0, 0.2, 0.4),
    most_segments: int = 100_000,
    alpha: float = 0.05,
) -> pd.DataFrame:
    r"""Set the segments that two scores need beside those that a preference needs, one person a document.

    variances: see ``planning.variances``; delta: points; ties: shares of ties between equal systems. The test is the
    two-sided paired t-test over documents of ``block`` segments, of differences of scores, or of wins less losses.
    Returns asked, ties (NaN for scores), segments, judgements (two scores a segment, or one preference; missing where
    more than ``most_segments`` are needed) and worth: what a preference is worth beside two scores, as the segments
    that scores need over its own. Source: Lehmann 1999, section 3.4: the sign test's efficiency beside the t-test,
    :math:`2/\pi` for independent segments without ties. Caveat: people who compare may look closer than those who
    score; then a preference is worth more (``preferences.worth`` measures it on judgements).

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 0.0, "residual": 60.0}
    >>> by_preference(V, delta=3)[["asked", "segments", "judgements", "worth"]].round(2).values.tolist()[:2]
    [['two scores', 200, 400, 1.0], ['which is better', 300, 300, 0.67]]
    """
    whole = 2 * (variances["document"] + variances["block"] + (variances["item"] + variances["residual"]) / block)
    wanted: list[tuple[str, float, tuple[float, float], int]] = [("two scores", np.nan, (delta, whole), 2)]
    for share in ties:
        wanted.append(("which is better", share, answers(variances, delta=delta, ties=share, block=block), 1))
    rows = []
    for asked, share, (mean, variance), each in wanted:

        def reached(documents: int, shift: float = abs(mean) / np.sqrt(variance)) -> bool:
            return bool(t_power(shift * np.sqrt(documents), documents - 1, alpha=alpha) >= target)

        documents = _fewest(reached, most_segments // block)
        segments = documents * block if documents else None
        rows.append((asked, share, segments, segments and each * segments))
    table = pd.DataFrame(rows, columns=["asked", "ties", "segments", "judgements"])
    table = table.astype({"segments": "Int64", "judgements": "Int64"})
    return table.assign(worth=(table["segments"].iloc[0] / table["segments"]).astype("Float64"))


def _fewest(enough: Callable[[int], bool], most: int) -> int | None:
    """Find the smallest number from 2 on that is enough; None beyond ``most``."""
    if most < 2 or not enough(most):
        return None
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
