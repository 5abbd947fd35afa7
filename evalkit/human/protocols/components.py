r"""Variance components of one campaign in which many people judge the same segments by several systems.

The score of segment g of document d by system s, judged by person p, is taken to be

.. math:: y = \mu_s + v_g + w_{sd} + a_p + t_{ps} + e

Systems and segments are fixed: what a segment is like for all systems cancels in their differences. Random are
showing (how a document suits a system, with what its judge thought of it that time), annotator (people's levels),
taste (how differently people like systems) and residual (how a segment suits a system, and noise).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from evalkit import DataError

#: What scatters: component -> the columns whose levels share it; ``residual`` is always there.
CAUSES = {"showing": ["system", "doc"], "annotator": ["annotator"], "taste": ["annotator", "system"]}


@dataclass(frozen=True, eq=False)
class Coded:
    """Judgements of one campaign as numbers: score (points) and the levels 0, 1, … that each judgement belongs to."""

    score: np.ndarray
    system: np.ndarray
    segment: np.ndarray
    levels: Mapping[str, np.ndarray]

    def keep(self, stays: np.ndarray) -> Coded:
        """Keep some judgements; stays: (judgements,) booleans."""
        levels = {name: codes[stays] for name, codes in self.levels.items()}
        return Coded(self.score[stays], self.system[stays], self.segment[stays], levels)

    def share(self) -> np.ndarray:
        """Return what a judgement counts for in its system's mean, (judgements,)."""
        return np.asarray(1 / np.bincount(self.system)[self.system])


def code(rows: pd.DataFrame, causes: Mapping[str, list[str]] = CAUSES) -> Coded:
    """Number the judgements' levels; rows: system, doc, segment, score and the columns of ``causes``."""

    def numbers(columns: list[str]) -> np.ndarray:
        return rows.groupby(columns, sort=False, observed=True).ngroup().to_numpy()

    levels = {name: numbers(columns) for name, columns in causes.items()}
    return Coded(rows["score"].to_numpy(float), numbers(["system"]), numbers(["doc", "segment"]), levels)


def estimate(judged: Coded) -> dict[str, float]:
    r"""Estimate the components, squared points; one that comes out negative is 0, and the others are as without it.

    With residuals r = P y, systems and segments taken out by least squares, and the indicators :math:`Z_c` of component
    c, the sums of squares

    .. math:: T_f = \lVert Z_f' r \rVert^2, \quad E\,T_f = \sum_c V_c \lVert Z_f' P Z_c \rVert^2

    are equated to their expectations, for each component and for the single judgements. So levels count by the square
    of their size, as they do in the variance of a system's mean; Henderson's sums of squares divide by the size, and
    where long documents scatter less than short ones (in MQM) they overrate the variance of that mean.
    Raises DataError where two components cannot be distinguished.
    Source: quadratic estimation, Searle, Casella & McCulloch 1992, sections 5.3 and 5.7.
    """
    wanted = list(judged.levels)
    found = _solve(judged, wanted)
    while negative := [name for name in wanted if found[name] < 0]:
        wanted.remove(negative[-1])
        found = _solve(judged, wanted)
    return {name: max(found.get(name, 0.0), 0.0) for name in [*judged.levels, "residual"]}


def _solve(judged: Coded, names: Iterable[str]) -> dict[str, float]:
    """Solve the equations of ``estimate``; estimates may be negative."""
    levels = {name: _indicator(judged.levels[name]) for name in names}
    segment, size = _indicator(judged.segment), np.bincount(judged.segment)
    means = (segment / np.maximum(size, 1)).tocsr()  # segments that nobody judged have no rows
    system = _indicator(judged.system)
    within = (system - segment @ (means.T @ system)).toarray()  # systems, segments taken out
    inverse = np.linalg.pinv(within.T @ within, rcond=1e-9, hermitian=True)
    y = judged.score - segment @ (means.T @ judged.score)
    y = y - within @ (inverse @ (within.T @ y))
    sums = [float(((own.T @ y) ** 2).sum()) for own in levels.values()] + [float(y @ y)]
    crossed = {name: ((own.T @ segment).tocsr(), (own.T @ means).tocsr()) for name, own in levels.items()}
    leaning = {name: own.T @ within for name, own in levels.items()}
    expected = np.zeros((len(sums), len(sums)))
    for a, f in enumerate(levels):
        for b, c in list(enumerate(levels))[a:]:
            met = levels[f].T @ levels[c] - crossed[f][0] @ crossed[c][1].T
            expected[a, b] = expected[b, a] = _square(met, leaning[f], inverse, leaning[c])
            if f == c:
                trace = met.diagonal().sum() - ((leaning[f] @ inverse) * leaning[f]).sum()
                expected[a, -1] = expected[-1, a] = trace
    expected[-1, -1] = len(y) - (size > 0).sum() - np.linalg.matrix_rank(inverse, hermitian=True)
    most = np.array([float((own.sum(axis=0) ** 2).sum()) for own in levels.values()] + [float(len(y))])
    return _solved(expected, sums, most, [*levels, "residual"])


def _square(met: sparse.csr_array, left: np.ndarray, inverse: np.ndarray, right: np.ndarray) -> float:
    """Return the sum of squares of met - left inverse right', of which only ``met`` is large, and sparse."""
    turned = left @ inverse
    low_rank = (turned.T @ turned) * (right.T @ right)
    return float(met.power(2).sum() - 2 * ((met @ right) * turned).sum() + low_rank.sum())


def _solved(expected: np.ndarray, sums: list[float], most: np.ndarray, names: list[str]) -> dict[str, float]:
    """Solve the equations, or say that nothing tells the components apart.

    most: what the expected squares would be at most, if systems and segments took nothing away.
    """
    own = np.diag(expected)
    scale = np.sqrt(np.where(own > 0, own, 1.0))
    if (own < 1e-9 * most).any() or np.linalg.cond(expected / np.outer(scale, scale)) > 1e9:
        raise DataError(
            f"The components {', '.join(names)} cannot be distinguished in these judgements. Take a campaign in "
            "which several people judge several documents of each system."
        )
    return dict(zip(names, np.linalg.solve(expected, sums).tolist(), strict=True))


def _indicator(codes: np.ndarray) -> sparse.csr_array:
    """Return which level each judgement has, (judgements, levels) of 0 and 1."""
    shape = (len(codes), int(codes.max()) + 1)
    return sparse.csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=shape)


def expected_difference(judged: Coded, variances: Mapping[str, float], weights: np.ndarray) -> float:
    """Return the expected squared difference of two systems' weighted sums of scores, but for the true difference.

    variances: of ``judged.levels`` and residual. weights: (batch, judgements), what each counts for in its own
    system's sum. The mean over pairs of systems and over the batch.
    """
    single = 2 * (weights**2).sum(axis=1).mean() / (judged.system.max() + 1)
    parts = (variances[name] * _over_pairs(judged, codes, weights) for name, codes in judged.levels.items())
    return math.fsum([variances["residual"] * single, *parts])


def observed_difference(judged: Coded, weights: np.ndarray) -> float:
    """Return the squared difference of two systems' weighted sums of scores, as ``expected_difference`` does."""
    return _over_pairs(judged, np.zeros_like(judged.system), weights * judged.score)


def _over_pairs(judged: Coded, codes: np.ndarray, weights: np.ndarray) -> float:
    """Sum weights over each level by system, square the differences of two systems, and sum these over levels."""
    across, down = int(judged.system.max()) + 1, int(codes.max()) + 1
    cells = codes * across + judged.system
    sums = np.stack([np.bincount(cells, each, across * down) for each in weights]).reshape(len(weights), down, across)
    return float(2 * sums.var(axis=2, ddof=1).sum(axis=1).mean())
