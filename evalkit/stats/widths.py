r"""One width for scores of systems and their differences, where people and documents are both drawn by chance.

A judgement's influence on a score is its weight in it times its residual, :math:`\psi = \ell e`. For the contrast
:math:`c` of scores, with :math:`V_F` the sum of squares of :math:`\psi` summed over the units of a kind F (people A,
documents D, their combinations AD), and :math:`q_{su}` unit u's share of system s:

.. math::
   M_{uv} = \sum_s c_s^2 q_{su} q_{sv} (\delta_{uv} - q_{su} - q_{sv} + \sum_t q_{st}^2), \quad
   k_F = \sum_s c_s^2 \sum_u q_{su}^2 / \operatorname{tr} M, \quad df_F = (\operatorname{tr} M)^2 / \lVert M \rVert^2

.. math::
   V = \max(k_A V_A + k_D V_D - V_{AD}, k_A V_A, k_D V_D), \quad df = V^2 / (V_1^2 / df_1 + (V - V_1)^2 / df_2),

:math:`V_1` the larger kind, and half the width of a 95 % interval is :math:`t_{.975, df} \sqrt V`. With n units alike,
k is n / (n - 1) and df n - 1. Documents that one person judged alone cancel, so that no unit has to be chosen.
Source: Cameron, Gelbach & Miller 2011 (inclusion and exclusion); Bell & McCaffrey 2002 (few units: M is the variance of
the residuals' sums if each unit had an effect of its own on each system); Satterthwaite 1946.
Caveat: in simulations of 19 designs it covers 93 to 97 % of means and 93 to 99 % of differences from 2.5 degrees of
freedom of people on, 87 to 95 % with fewer; then leave people out and say that numbers hold for these people only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

import numpy as np
from scipy import stats

from evalkit.stats.inference import cut, defined_interval, in_blocks, spread, unit_counts


def efficiency(counts: np.ndarray) -> np.ndarray:
    r"""Return how much of each contrast of systems a design keeps once people's levels are taken out, ascending.

    counts: people × systems, numbers of judgements. The canonical efficiency factors :math:`1 - \rho^2`, with
    :math:`\rho` the singular values, but the first, of the counts over the roots of their margins: 1 where all judged
    the systems in the same proportions, 0 where people tell systems apart. Source: James & Wilkinson 1971.

    >>> efficiency(np.array([[5, 5], [3, 3]])).round(3).tolist(), efficiency(np.array([[5, 0], [0, 3]])).tolist()
    ([1.0], [0.0])
    """
    counts = counts[counts.sum(axis=1) > 0]
    spread = counts / np.sqrt(counts.sum(axis=1, keepdims=True) * counts.sum(axis=0))
    kept = np.ones(counts.shape[1])
    singular = np.linalg.svd(spread, compute_uv=False)
    kept[: len(singular)] -= singular**2
    return np.sort(kept[1:].clip(0, 1).round(12))


def few_units(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the factor for few units and the degrees of freedom of contrasts; 0 degrees where units cannot tell.

    shares: (..., units, systems), each unit's share of each system that a contrast weighs by 1 or -1.

    >>> [value.round(6).tolist() for value in few_units(np.full((5, 2), 1 / 5))]
    [1.25, 4.0]
    """
    squares, cubes = shares**2, shares**3
    size = squares.sum(axis=-2)
    true = size.sum(axis=-1)
    trace = (size - 2 * cubes.sum(axis=-2) + size**2).sum(axis=-1)
    turned = np.swapaxes(shares, -1, -2)
    fourth, second = np.swapaxes(squares, -1, -2) @ squares, turned @ shares
    third, fifth = np.swapaxes(squares, -1, -2) @ shares, np.swapaxes(squares, -1, -2) @ cubes
    one, other = size[..., :, None], size[..., None, :]
    norm = fourth * (1 + one + other + 2 * second) - 4 * fifth + 2 * third * np.swapaxes(third, -1, -2)
    norm = norm - 4 * second * other * third + one * other * second**2  # summed over systems, so sides may be swapped
    there = trace > 1e-9 * true
    factor = np.divide(true, trace, out=np.full(true.shape, np.inf), where=there)
    freedom = np.divide(trace**2, norm.sum(axis=(-2, -1)), out=np.zeros(true.shape), where=there)
    return factor, freedom


@dataclass(frozen=True, eq=False)
class Influences:
    """What units do to the scores of systems.

    sums: by kind of units, (units, systems): influences, summed. shares: by kind, (units, systems, systems): the
    weights of a unit's judgements of each system in each score. both: (combinations, systems), the influences summed
    over combinations of two kinds; no rows for one kind.
    """

    sums: tuple[np.ndarray, ...]
    shares: tuple[np.ndarray, ...]
    both: np.ndarray

    @classmethod
    def of(
        cls, weights: np.ndarray, residuals: np.ndarray, system: np.ndarray, kinds: Sequence[np.ndarray]
    ) -> Influences:
        """Sum over units. weights: (judgements, systems), of each in every score. system: the one judged, -1: none.

        kinds: one or two kinds of units, the unit of each judgement as a number.

        >>> one = np.array([[0.5], [0.5]])
        >>> found = Influences.of(one, np.array([1.0, -1.0]), np.array([0, 0]), [np.array([0, 1])])
        >>> variance, freedom = found.spread()
        >>> float(variance[0, 0]), float(freedom[0, 0])
        (1.0, 1.0)
        """
        own, size = weights * residuals[:, None], weights.shape[1]

        def summed(codes: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
            return np.stack([np.bincount(codes, column, minlength=groups) for column in values.T], axis=1)

        ranked = system >= 0
        shares = []
        for codes in kinds:
            units = int(codes.max()) + 1
            cells = codes[ranked] * size + system[ranked]
            shares.append(summed(cells, weights[ranked], units * size).reshape(units, size, size))
        sums = tuple(summed(codes, own, int(codes.max()) + 1) for codes in kinds)
        if len(kinds) == 1:
            return cls(sums, tuple(shares), np.zeros((0, size)))
        pairs = np.unique(np.stack(kinds), axis=1, return_inverse=True)[1].ravel()
        return cls(sums, tuple(shares), summed(pairs, own, int(pairs.max()) + 1))

    def taken(self, order: np.ndarray) -> Influences:
        """Take some systems, in an order."""
        shares = tuple(one[:, order][:, :, order] for one in self.shares)
        return replace(self, sums=tuple(one[:, order] for one in self.sums), shares=shares, both=self.both[:, order])

    def spread(self) -> tuple[np.ndarray, np.ndarray]:
        """Return variances and degrees of freedom, (systems, systems): of differences, and of scores on the diagonal.

        The variance is infinite where some kind has one unit only, so that nothing can be known of it.
        """
        size = self.both.shape[1]
        variance, freedom = np.zeros((size, size)), np.ones((size, size))
        for one, other in zip(*np.triu_indices(size), strict=True):
            found = self._contrast(int(one), int(other))
            variance[[one, other], [other, one]], freedom[[one, other], [other, one]] = found
        return variance, freedom

    def _contrast(self, one: int, other: int) -> tuple[float, float]:
        def influence(values: np.ndarray) -> np.ndarray:
            return values[:, one] - (values[:, other] if one != other else 0)

        parts = []
        for sums, shares in zip(self.sums, self.shares, strict=True):
            own = shares[:, [one], one]
            if one != other:
                own = np.stack(
                    [shares[:, one, one] - shares[:, one, other], shares[:, other, other] - shares[:, other, one]], 1
                )
            factor, freedom = few_units(own)
            if not freedom:
                return np.inf, 1.0
            parts.append((float(factor) * float((influence(sums) ** 2).sum()), float(freedom)))
        (large, most), *rest = sorted(parts, reverse=True)
        if not rest:
            return large, max(most, 1.0)
        ((small, least),) = rest
        twice = float((influence(self.both) ** 2).sum())
        variance = max(large + small - twice, large)
        if not variance:
            return 0.0, max(min(most, least), 1.0)
        return variance, max(variance**2 / (large**2 / most + (variance - large) ** 2 / least), 1.0)

    def half_widths(self) -> np.ndarray:
        """Return half the widths of 95 % intervals, laid out as ``spread``."""
        variance, freedom = self.spread()
        return stats.t.ppf(0.975, freedom) * np.sqrt(variance)

    def draws(self, scores: np.ndarray, *, resamples: int, seed: int) -> np.ndarray:
        """Draw scores, (resamples, systems), whose differences spread as widely as their intervals: for places.

        Normal draws with the covariance whose differences have these half widths over 1.96 as standard deviations
        (classical scaling of their squares; what no covariance can have is cut off). Only differences mean anything.
        """
        squared = (self.half_widths() / stats.norm.ppf(0.975)) ** 2
        np.fill_diagonal(squared, 0)
        centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
        values, vectors = np.linalg.eigh(-centred / 2)
        normal = np.random.default_rng(seed).standard_normal((resamples, len(scores)))
        return scores + (normal * np.sqrt(values.clip(0))) @ vectors.T


#: Maps how often each row counts, (batch, rows), to (batch, values).
Statistic = Callable[[np.ndarray], np.ndarray]
#: What is drawn together: names of kinds of units.
Kinds = tuple[str, ...]
#: By how much more, and less, rows count where their influence is measured: the last bits of a statistic, which are
#: another processor's own, are then far below it, and so is the curvature of the statistic, by central differences.
_STEP = 0.01


@dataclass(frozen=True, eq=False)
class Part:
    """A statistic of some rows, and the unit of each row by the kind of units: (rows,) labels or numbers.

    The statistic stays the same where all rows count twice, as means and correlations do. A kind of which there is one
    unit only is not drawn. complete: (rows, values), or (rows, 1) for all values alike, False where a value does not
    rest on a row, because something is missing there; None where every value rests on every row.
    """

    statistic: Statistic
    units: Mapping[str, np.ndarray]
    rows: int
    complete: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Redrawn:
    """A statistic, (values,), its pigeonhole draws, (resamples, values), and its influences, summed over units.

    sums: kinds of units -> (combinations of their units, values). present: kinds -> of the same shape, whether a value
    rests on any row of a combination.
    """

    estimate: np.ndarray
    draws: np.ndarray
    sums: Mapping[Kinds, np.ndarray] = field(repr=False)
    present: Mapping[Kinds, np.ndarray] = field(repr=False)

    def overcount(self, *, pool: bool = False) -> np.ndarray:
        """Return by what factor draws of each value spread too far, at least 1: (values,).

        pool: one factor for all values, by the mean variance of their differences, for values that are ranked.
        """
        if not self.sums:
            return np.ones(self.estimate.shape)
        squares = {kinds: self._squares(sums, pool) for kinds, sums in self.sums.items()}
        fair, found = crossed_variance(squares), np.add.reduce(list(squares.values()))
        ratio = np.divide(found, fair, out=np.ones_like(found), where=fair > 0)
        return np.broadcast_to(np.sqrt(ratio), self.estimate.shape)

    @staticmethod
    def _squares(sums: np.ndarray, pool: bool) -> np.ndarray:
        return ((sums - sums.mean(axis=1, keepdims=True)) ** 2).sum() if pool else (sums**2).sum(axis=0)

    def narrowed(self, *, pool: bool = False, few: bool = False) -> np.ndarray:
        """Return the draws, pulled towards the estimate by ``overcount``: (resamples, values).

        few: stretch them for few units, so that percentiles are as wide as t intervals: each variance times n / (n - 1)
        for the n units that have rows, and Student's t, of one less than the fewest, for the normal distribution.
        Source: Cameron & Miller 2015, section VI; Hesterberg 2015, section 5.3.
        """
        factor = (self._stretch() if few else 1.0) / self.overcount(pool=pool)
        return self.estimate + (self.draws - self.estimate) * factor

    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the 95 % interval (low, high) of each value, (values,): percentiles of draws, for few units.

        Draws without a value are left out.
        """
        return defined_interval(self.narrowed(few=True))

    def _stretch(self) -> np.ndarray:
        if not self.sums:
            return np.ones(self.estimate.shape)
        units = {kinds: own.sum(axis=0) for kinds, own in self.present.items()}  # of one alone, nothing is left
        squares = {kinds: np.where(units[kinds] > 1, self._squares(own, False), 0) for kinds, own in self.sums.items()}
        grown = {kinds: own * units[kinds] / np.maximum(units[kinds] - 1, 1) for kinds, own in squares.items()}
        fair = crossed_variance(squares)
        ratio = np.divide(crossed_variance(grown), fair, out=np.ones_like(fair), where=fair > 0)
        several = [np.where(size > 1, size, np.inf) for kinds, size in units.items() if len(kinds) == 1]
        fewest = np.minimum.reduce(several)  # no end where no kind has several: Student's t is then the normal one
        return np.asarray(np.sqrt(ratio) * stats.t.ppf(0.975, fewest - 1) / stats.norm.ppf(0.975))


def redraw(parts: Sequence[Part], *, resamples: int, seed: int) -> list[Redrawn]:
    """Draw statistics anew, each with the units of its own rows; kinds of one name are drawn once for all parts.

    Two campaigns on the same documents share "documents", and each has a kind of its own for its people. Source: Owen
    2007; Cameron, Gelbach & Miller 2011. Caveat: influences are derivatives, so a statistic with jumps (a place in a
    ranking, a count) has none and is not narrowed; compute it from ``Redrawn.narrowed`` of what it is made of. It
    costs twice as many evaluations as there are combinations of units, besides the draws.

    >>> score, document, person = np.array([3.0, 5, 4, 8]), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    >>> mean = Part(lambda times: times @ score[:, None] / times.sum(axis=1, keepdims=True),
    ...             {"documents": document, "people": person}, rows=4)
    >>> [found] = redraw([mean], resamples=100, seed=7)
    >>> found.estimate.tolist(), (found.overcount() ** 2).round(3).tolist()  # (8 + 2 + 14) / 8
    ([5.0], [3.0])
    """
    kinds = list(dict.fromkeys(chain.from_iterable(part.units for part in parts)))
    coded = _coded(parts, kinds)
    sizes = {kind: 1 + max(int(codes[kind].max()) for codes in coded if kind in codes) for kind in kinds}
    sizes = {kind: size for kind, size in sizes.items() if size > 1}
    coded = [{kind: codes for kind, codes in own.items() if kind in sizes} for own in coded]

    def drawn(batch: int, rng: np.random.Generator) -> list[np.ndarray]:
        times = {kind: unit_counts(size, batch, rng) for kind, size in sizes.items()}
        return [part.statistic(_product(times, own, (batch, part.rows))) for part, own in zip(parts, coded)]

    numbers = 3 * max(part.rows for part in parts)
    blocks = zip(*in_blocks(drawn, resamples, seed=seed, numbers=numbers), strict=True)
    estimates = [part.statistic(np.ones((1, part.rows)))[0] for part in parts]
    return [
        Redrawn(estimate, np.concatenate(draws), *_influences(part, own, sizes))
        for part, own, draws, estimate in zip(parts, coded, blocks, estimates, strict=True)
    ]


def combine(found: Sequence[Redrawn], weights: Sequence[float] | np.ndarray) -> Redrawn:
    """Return the weighted sum of statistics that were drawn together: a mean of campaigns, a difference of two.

    What they share, such as documents, then counts as what the sum owes to it.

    >>> sums, present = {("documents",): np.array([[1.0], [-1.0]])}, {("documents",): np.array([[True], [True]])}
    >>> one = Redrawn(np.array([2.0]), np.array([[1.0], [3.0]]), sums, present)
    >>> gone = combine([one, one], [1, -1])
    >>> gone.estimate.tolist(), gone.draws.tolist(), gone.interval()[0].tolist()
    ([0.0], [[0.0], [0.0]], [0.0])
    """
    sums, present = dict[Kinds, np.ndarray](), dict[Kinds, np.ndarray]()
    kept = [(one, weight) for one, weight in zip(found, weights, strict=True) if weight]
    for one, weight in kept:
        for kinds, influence in one.sums.items():
            sums[kinds] = sums.get(kinds, 0) + weight * influence
            present[kinds] = present.get(kinds, False) | one.present[kinds]
    estimate, draws = (
        np.add.reduce([weight * value for value, weight in zip(values, weights)])
        for values in ([one.estimate for one in found], [one.draws for one in found])
    )
    return Redrawn(estimate, draws, sums, present)


def crossed_variance(variances: Mapping[Kinds, np.ndarray]) -> np.ndarray:
    """Return the variance where crossed units are drawn, from those where units or their combinations are drawn alone.

    variances: what is drawn (kinds of units; several: their combinations) -> variance. Combinations of two are part of
    either and count once. The result is no less than the largest of single kinds. Source: Cameron, Gelbach & Miller
    2011, equations 2.10 and 2.13.

    >>> float(crossed_variance({("documents",): 4.0, ("people",): 3.0, ("documents", "people"): 2.0}))
    5.0
    """
    signed = np.add.reduce([(1 if len(kinds) % 2 else -1) * np.asarray(one) for kinds, one in variances.items()])
    single = np.maximum.reduce([np.asarray(one) for kinds, one in variances.items() if len(kinds) == 1])
    return np.maximum(signed, single)


def _coded(parts: Sequence[Part], kinds: Sequence[str]) -> list[dict[str, np.ndarray]]:
    """Number the units of each part's rows, alike in all parts."""
    names = {kind: np.unique(np.concatenate([p.units[kind] for p in parts if kind in p.units])) for kind in kinds}
    return [{kind: np.searchsorted(names[kind], part.units[kind]) for kind in part.units} for part in parts]


def _product(times: Mapping[str, np.ndarray], codes: Mapping[str, np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """Count how often rows come up: as often as their units together."""
    counts = np.ones(shape)
    for kind, own in codes.items():
        counts *= times[kind][:, own]
    return counts


def _influences(
    part: Part, codes: Mapping[str, np.ndarray], sizes: Mapping[str, int]
) -> tuple[dict[Kinds, np.ndarray], dict[Kinds, np.ndarray]]:
    """Sum the influence of rows on the statistic over the units of each kind, and of all kinds together.

    Returns sums and whether there are rows, as ``Redrawn`` has them. Influences are central differences.
    """
    if not codes:
        return {}, {}
    cells, members = np.unique(np.stack(list(codes.values())), axis=1, return_inverse=True)
    members = members.ravel()
    complete = np.ones((part.rows, 1), bool) if part.complete is None else part.complete
    known = np.zeros((cells.shape[1], complete.shape[1]), bool)
    np.logical_or.at(known, members, complete)
    tried = np.flatnonzero(known.any(axis=1))  # in the others, all differences would be noise

    def change(span: tuple[int, int]) -> np.ndarray:
        step = _STEP * (tried[slice(*span), None] == members)
        return (part.statistic(1 + step) - part.statistic(1 - step)) / (2 * _STEP)

    changes = list(spread(change, cut(len(tried), numbers=3 * part.rows))) if len(tried) else []
    values = part.statistic(np.ones((1, part.rows))).shape[1]
    influence, known = np.zeros((len(known), values)), np.broadcast_to(known, (len(known), values))
    if changes:
        influence[tried] = np.where(known[tried], np.nan_to_num(np.concatenate(changes)), 0)
    places, sums, present = dict(zip(codes, cells)), dict[Kinds, np.ndarray](), dict[Kinds, np.ndarray]()
    for kinds in chain.from_iterable(combinations(sorted(codes), size) for size in range(1, len(codes) + 1)):
        shape = tuple(sizes[kind] for kind in kinds)
        where = np.ravel_multi_index([places[kind] for kind in kinds], shape)
        sums[kinds] = np.zeros((int(np.prod(shape)), values))
        present[kinds] = np.zeros(sums[kinds].shape, bool)
        np.add.at(sums[kinds], where, influence)
        np.logical_or.at(present[kinds], where, known)
    return sums, present
