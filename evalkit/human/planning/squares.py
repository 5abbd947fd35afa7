"""Variance components from sums of squares: of any factors, crossed or nested, whatever else is held fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from evalkit import DataError


@dataclass(frozen=True, eq=False)
class Equations:
    """What the sums of squares of some factors are, and what they would be for any variances (see ``equate``).

    sums: (factors,) observed, the single judgements last. expected: (factors, factors), by which component. most: what
    the expected squares would be at most, if what is fixed took nothing away.
    """

    names: tuple[str, ...]
    sums: np.ndarray
    expected: np.ndarray
    most: np.ndarray

    def tells(self, names: Sequence[str]) -> bool:
        """Say whether these components can be told from one another and from noise."""
        _, expected, most = self._part(names)
        own = np.diag(expected)
        scale = np.sqrt(np.where(own > 0, own, 1.0))
        return bool((own > 1e-9 * most).all() and np.linalg.cond(expected / np.outer(scale, scale)) < 1e9)

    def solve(self, names: Sequence[str]) -> dict[str, float]:
        """Estimate these components and ``residual``, as if there were no others; estimates may be negative."""
        if not self.tells(names):
            raise DataError(
                f"The components {', '.join(names)} cannot be distinguished in these judgements. Leave one of them "
                "out, or take a campaign in which several people judge several documents of each system."
            )
        sums, expected, _ = self._part(names)
        return dict(zip([*names, "residual"], np.linalg.solve(expected, sums).tolist(), strict=True))

    def no_negative(self, names: Sequence[str]) -> dict[str, float]:
        """Estimate these components; one that comes out negative is 0, and the others are as without it."""
        wanted = list(names)
        found = self.solve(wanted)
        while negative := [name for name in wanted if found[name] < 0]:
            wanted.remove(negative[-1])
            found = self.solve(wanted)
        return {name: max(found.get(name, 0.0), 0.0) for name in [*names, "residual"]}

    def _part(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = [*(self.names.index(name) for name in names), -1]
        return self.sums[rows], self.expected[np.ix_(rows, rows)], self.most[rows]


def equate(
    y: ArrayLike, factors: Mapping[str, ArrayLike], *, fixed: Sequence[ArrayLike] = (), by_size: bool = False
) -> Equations:
    r"""Equate sums of squares to their expectations, for components of any crossed or nested random factors.

    y: (n,) scores. factors: name -> (n,) labels of the levels. fixed: labels of factors whose levels are no sample:
    constants added to them leave all as it is. The model is :math:`y = X\beta + \sum_c Z_c u_c + e`, with the mean in X
    and :math:`\operatorname{var}(u_c) = V_c I`. With residuals r = P y, X taken out by least squares, and the sizes N_f
    of the levels (diagonal),

    .. math:: T_f = \lVert N_f^{-1/2} Z_f' r \rVert^2, \quad E\,T_f = \sum_c V_c \lVert N_f^{-1/2} Z_f' P Z_c \rVert^2

    for each factor and for the single judgements. On balanced data the solutions are the analysis-of-variance
    estimates; with nothing fixed but the mean this is Henderson's method 1. by_size: without :math:`N_f^{-1/2}`, so
    that levels count by the square of their size, as they do in the variance of a system's mean (MINQUE(0)): where long
    documents scatter less than short ones, as in MQM, the other overrates the variance of that mean.
    Source: Henderson 1953; Rao 1971; Searle, Casella & McCulloch 1992, sections 5.3 and 5.7.

    >>> levels = {"annotator": ["a", "a", "a", "b", "b", "b"]}  # mean squares: 24 between, 1 within
    >>> {name: round(v, 9) for name, v in equate([1, 2, 3, 5, 6, 7], levels).solve(["annotator"]).items()}
    {'annotator': 7.666666667, 'residual': 1.0}
    """
    score, levels = np.asarray(y, float), {name: _indicator(codes) for name, codes in factors.items()}
    held = sorted(map(_indicator, [*fixed] or [np.zeros(len(score))]), key=lambda own: own.shape[1])
    many = held[-1].shape[1] ** 2 > len(score)  # few judgements a level: their means take it out quickly
    segment = held.pop() if many else held[0][:, :0]
    means = segment @ sparse.diags_array(1 / segment.sum(axis=0))
    others = sparse.hstack(held).tocsr() if held else segment[:, :0]
    within = (others - segment @ (means.T @ others)).toarray()
    within[np.abs(within) < 1e-12] = 0  # what another factor holds already
    inverse = np.linalg.pinv(within.T @ within, rcond=1e-9, hermitian=True)
    rest = score - score.mean()  # less is lost by cancellation then
    rest = rest - segment @ (means.T @ rest)
    rest = rest - within @ (inverse @ (within.T @ rest))

    plain = {name: _Parts.of(own, segment, means, within, inverse) for name, own in levels.items()}
    rows = plain if by_size else {name: own.even() for name, own in plain.items()}
    expected = np.zeros((len(levels) + 1,) * 2)
    for a, one in enumerate(rows.values()):
        expected[a] = [*(_square(one, other) for other in plain.values()), one.trace()]
    expected[-1, :-1] = [own.trace() for own in plain.values()]
    expected[-1, -1] = len(score) - segment.shape[1] - np.linalg.matrix_rank(inverse, hermitian=True)
    sums = [float(((own.own.T @ rest) ** 2).sum()) for own in rows.values()] + [float(rest @ rest)]
    most = [float((own.sum(axis=0) ** 2).sum()) for own in levels.values()] + [float(len(score))]
    return Equations(tuple(levels), np.array(sums), expected, np.array(most))


@dataclass(frozen=True, eq=False)
class _Parts:
    """What P leaves of a factor's Z: what Z has in common with the swept factor, and with the others (``leaning``).

    turned: leaning times the inverse of the others' cross products; squares: its cross products, and leaning's.
    """

    own: sparse.csr_array
    crossed: sparse.csr_array
    means: sparse.csr_array
    leaning: np.ndarray
    turned: np.ndarray
    squares: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(
        cls,
        own: sparse.csr_array,
        swept: sparse.csr_array,
        means: sparse.csr_array,
        within: np.ndarray,
        inverse: np.ndarray,
    ) -> _Parts:
        """Work them out from the indicators of a factor and of what is fixed."""
        crossed, shares, leaning = (own.T @ swept).tocsr(), (own.T @ means).tocsr(), own.T @ within
        turned = leaning @ inverse
        return cls(own, crossed, shares, leaning, turned, (turned.T @ turned, leaning.T @ leaning))

    def even(self) -> _Parts:
        """Divide each level by the root of its size."""
        root = 1 / np.sqrt(self.own.sum(axis=0))
        rows, turned = sparse.diags_array(root), self.turned * root[:, None]
        own, crossed, means = self.own @ rows, rows @ self.crossed, rows @ self.means
        return _Parts(own, crossed, means, self.leaning * root[:, None], turned, (turned.T @ turned, self.squares[1]))

    def trace(self) -> float:
        """Return the trace of Z' P Z."""
        common = self.crossed.multiply(self.means).sum() if self.crossed.shape[1] else 0.0
        return float(self.own.power(2).sum() - common - (self.turned * self.leaning).sum())


def _square(one: _Parts, other: _Parts) -> float:
    """Return the sum of squares of Z' P Z for two factors; but for a part of low rank it is sparse."""
    met = one.own.T @ other.own - one.crossed @ other.means.T
    low_rank = (one.squares[0] * other.squares[1]).sum()
    return float(met.power(2).sum() - 2 * ((met @ other.leaning) * one.turned).sum() + low_rank)


def _indicator(labels: ArrayLike) -> sparse.csr_array:
    """Return which level each judgement has, (judgements, levels) of 0 and 1."""
    codes = pd.factorize(np.asarray(labels))[0]
    shape = (len(codes), int(codes.max()) + 1)
    return sparse.csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=shape)
