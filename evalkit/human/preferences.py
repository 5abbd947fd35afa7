r"""Comparisons of two translations: strengths, ties, places, how well one scale fits, and how sure all that is.

Functions take tables of comparisons (``evalkit.data.schemas.COMPARISONS``); ``evalkit.data.compared`` makes them of
scores. Strengths are natural logs of odds, with mean 0 (Bradley & Terry 1952). With the lead :math:`d`, the difference
of two strengths and what standing first adds, and :math:`\sigma(x) = 1 / (1 + e^{-x})`, models of ties are

.. math::
    \text{half:}\quad & P(A) = \sigma(d), \text{ a tie counting half for either} \\
    \text{Davidson:}\quad & P(A) \propto e^{d/2},\; P(B) \propto e^{-d/2},\; P(\text{tie}) \propto e^{t} \\
    \text{Rao and Kupper:}\quad & P(A) = \sigma(d - t),\; P(B) = \sigma(-d - t),\; t > 0

All are concave in the lead and :math:`t`, so that Newton's steps, with the expected curvature (Fisher's scoring), find
the one maximum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.special import log_expit, logsumexp

from evalkit import DataError
from evalkit.data.schemas import PREFERENCES
from evalkit.stats.correlation import ratio
from evalkit.stats.inference import column_means, defined_interval
from evalkit.stats.terms import join_names
from evalkit.stats.widths import Part, crossed_variance, redraw

#: The spread, a standard deviation of log strengths, of the weak prior that keeps strengths finite where asked for.
WEAK = 5.0
#: What is drawn together: the columns whose values make up a unit.
UNITS: dict[str, tuple[str, ...]] = {
    "annotators": ("annotator",),
    "documents": ("src_lang", "tgt_lang", "doc"),
    "segments": ("src_lang", "tgt_lang", "doc", "segment"),
}
_STEPS, _HALVINGS, _SETTLED, _FAR = 200, 40, 1e-18, 25.0


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of answers by cell, and which cell and answer each comparison is.

    systems: (systems,) names. one, other: (cells,) their numbers; one < other. placed: (cells,) 1 where ``one``
    stood first, -1 where ``other`` did, 0 where places do not matter. counts: (cells, 3) answers for one, for the
    other, and ties. where: (comparisons,) cell * 3 + answer.
    """

    systems: list[str]
    one: np.ndarray
    other: np.ndarray
    placed: np.ndarray
    counts: np.ndarray
    where: np.ndarray

    def recount(self, times: np.ndarray) -> np.ndarray:
        """Count answers where comparisons count several times: (batch, comparisons) -> (batch, cells, 3)."""
        rows = np.arange(len(self.where))
        place = sparse.csr_matrix((np.ones(len(rows)), (self.where, rows)), shape=(self.counts.size, len(rows)))
        return np.asarray((place @ times.T).T).reshape(len(times), *self.counts.shape)

    def wins(self) -> np.ndarray:
        """Return how often each system was preferred to each other one, a tie counting half: (systems, systems)."""
        found = np.zeros((len(self.systems),) * 2)
        np.add.at(found, (self.one, self.other), self.counts[:, 0] + self.counts[:, 2] / 2)
        np.add.at(found, (self.other, self.one), self.counts[:, 1] + self.counts[:, 2] / 2)
        return found

    def leads(self, *, place: bool) -> np.ndarray:
        """Return how strengths, and the place, add to the lead of each cell: (cells, systems + place)."""
        each = np.eye(len(self.systems))
        found = each[self.one] - each[self.other]
        return np.column_stack([found, self.placed]) if place else found


def count(comparisons: pd.DataFrame, *, place: bool = False) -> Cells:
    """Count a table of comparisons (``schemas.COMPARISONS``) in cells; place: tell apart which stood first.

    >>> table = pd.DataFrame({"system_a": ["B", "A"], "system_b": ["A", "B"], "preference": ["a", "tie"]})
    >>> count(table).counts.tolist()
    [[0.0, 1.0, 1.0]]
    """
    systems = sorted({*comparisons["system_a"], *comparisons["system_b"]})
    a, b = (pd.Index(systems).get_indexer(comparisons[f"system_{side}"]) for side in "ab")
    answer, turned = pd.Index(PREFERENCES).get_indexer(comparisons["preference"]), a > b
    answer = np.where(turned & (answer < 2), 1 - answer, answer)
    placed = np.zeros(len(a), int)
    if place:
        if "first" not in comparisons or comparisons["first"].eq("unknown").any():
            raise DataError(
                "Which translation stood first is unknown of some comparisons, so its effect cannot be found. Leave it "
                "out (place=False), or tell it in the column first."
            )
        placed = comparisons["first"].map({"a": 1, "b": -1}).to_numpy(int) * np.where(turned, -1, 1)
    rows = np.stack([np.minimum(a, b), np.maximum(a, b), placed], axis=1)
    cells, member = np.unique(rows, axis=0, return_inverse=True)
    where = member.ravel() * 3 + answer
    counts = np.bincount(where, minlength=3 * len(cells)).astype(float).reshape(-1, 3)
    one, other, stood = cells.T
    return Cells(systems, one, other, stood, counts, where)


def of_wins(wins: pd.DataFrame) -> Cells:
    """Take cells from a table of wins: in a row how often its system beat each column's; a tie may be half a win each.

    >>> of_wins(pd.DataFrame([[0, 3], [1, 0]], [*"AB"], [*"AB"])).counts.tolist()
    [[3.0, 1.0, 0.0]]
    """
    values = wins.to_numpy(float)
    one, other = np.nonzero(np.triu(values + values.T, 1) > 0)
    none = np.zeros(len(one), int)
    counts = np.stack([values[one, other], values[other, one], none], axis=1)
    return Cells([*map(str, wins.index)], one, other, none, counts, np.zeros(0, int))


def groups(cells: Cells) -> list[list[str]]:
    """List systems that were compared with each other, perhaps through others; one list for each such group.

    >>> table = pd.DataFrame({"system_a": ["A", "C"], "system_b": ["B", "D"], "preference": ["a", "b"]})
    >>> groups(count(table))
    [['A', 'B'], ['C', 'D']]
    """
    return _connected(cells, "weak")


def separated(cells: Cells) -> list[list[str]]:
    """List groups of systems, the better ones first, between which all answers went one way; one group is none.

    A better group never lost to and never tied with a worse one, so that how far apart they are has no estimate.

    >>> table = pd.DataFrame({"system_a": ["A", "B", "C"], "system_b": ["B", "C", "B"], "preference": ["a"] * 3})
    >>> separated(count(table))
    [['A'], ['B', 'C']]
    """
    found = _connected(cells, "strong")
    first = [cells.systems.index(group[0]) for group in found]
    beats = np.isfinite(shortest_path(cells.wins() > 0, unweighted=True))[np.ix_(first, first)]
    return [found[k] for k in np.argsort(-beats.sum(axis=1), kind="stable")]


def _connected(cells: Cells, connection: str) -> list[list[str]]:
    """List connected parts of the graph of wins, in the order of their first names."""
    size, label = connected_components(cells.wins() > 0, directed=True, connection=connection)
    return sorted([name for name, own in zip(cells.systems, label) if own == k] for k in range(size))


def _refuse_apart(cells: Cells) -> None:
    """Raise DataError, naming two systems, where some were never compared with the others, even through third ones."""
    found = groups(cells)
    if len(found) > 1:
        listed = "; ".join(", ".join(group) for group in found[:5]) + (" …" if len(found) > 5 else "")
        raise DataError(
            f"{found[0][0]} and {found[1][0]} were never compared, even through others: there are {len(found)} groups "
            f"({listed}). Rank each group by itself, or have some of their translations compared."
        )


#: The models of ties by name.
TIES = ("half", "davidson", "rao-kupper")


def _logs(ties: str, d: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return log chances of A, of B and of a tie, (3, ...), at leads d; where ties count half, t is 0.

    There a tie's is the mean of the others' logs, which is no chance; its slope is that of Davidson's tie.
    """
    if ties == "rao-kupper":  # a tie is as likely as A and B at once, times exp(2 t) - 1
        one, other = log_expit(d - t), log_expit(-d - t)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([one, other, one + other + np.log(np.expm1(2 * t))])
    worth = np.stack([d / 2, -d / 2, t])
    return worth - logsumexp(worth if ties == "davidson" else worth[:2], axis=0)


def _slopes(ties: str, chance: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return slopes of log chances in d, and in t where it is a parameter: (1 or 2, 3, ...)."""
    a, b, tie = chance
    if ties == "rao-kupper":
        by_t = np.stack([a - 1, b - 1, a + b - 2 - 2 / np.expm1(-2 * t)])
        return np.stack([np.stack([1 - a, b - 1, b - a]), by_t])
    lead = (a - b) / 2
    slopes = np.stack([np.stack([0.5 - lead, -0.5 - lead, -lead]), np.stack([-tie, -tie, 1 - tie])])
    return slopes if ties == "davidson" else slopes[:1]


def chances(ties: str, d: ArrayLike, t: ArrayLike) -> np.ndarray:
    """Return the chances of A, of B and of a tie at a lead: (…, 3). "half" has no ties.

    >>> chances("davidson", np.array(0.0), np.array(0.0)).round(3).tolist()
    [0.333, 0.333, 0.333]
    >>> chances("rao-kupper", np.array(0.0), np.log(np.array(2.0))).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    logs = _logs(ties, *np.broadcast_arrays(np.asarray(d, float), np.asarray(t, float)))
    return np.moveaxis(np.exp(logs), 0, -1) * ([1, 1, 0] if ties == "half" else 1)


class _Model:
    """Steps of Fisher's scoring on many sets of counts; parameters: strengths, perhaps the place, perhaps t of ties."""

    def __init__(self, cells: Cells, *, ties: str, place: bool, spread: float | None = None) -> None:
        self.ties, self.place, self.spread, self.systems = ties, place, spread, len(cells.systems)
        self.lead = sparse.csr_matrix(cells.leads(place=place))
        self.cut, self.tied = self.lead.shape[1], ties != "half"
        own = [self.lead.multiply(self.lead[:, [column]]).T for column in range(self.cut)]
        self.squares = sparse.vstack(own, format="csr")  # sums products of two columns over cells: (cut², cells)
        self.start = np.zeros(self.cut + self.tied)
        if ties == "rao-kupper":
            self.start[-1] = 0.5
        self.ridge = np.zeros(len(self.start))
        self.ridge[: self.systems] = 1 / spread**2 if spread else 0.0

    def leads(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lead and the tie parameter of each cell: twice (batch, cells)."""
        d = (self.lead @ values[:, : self.cut].T).T
        return d, np.broadcast_to(values[:, -1:] if self.tied else 0.0, d.shape)

    def likelihood(self, counts: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the log likelihood, (batch,), of counts (3, batch, cells)."""
        return (counts * _logs(self.ties, *self.leads(values))).sum(axis=(0, 2))

    def information(self, total: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return slopes of answers in d, and in t of ties, (1 or 2, 3, batch, cells), and the information of cells.

        total: (batch, cells), answers. Information: (1 or 2, 1 or 2, batch, cells).
        """
        d, t = self.leads(values)
        chance = np.exp(_logs(self.ties, d, t))
        slopes = _slopes(self.ties, chance, t)
        answers = 3 if self.tied else 2  # ties that count half have no chance of their own
        weighed = slopes[:, :answers] * (chance[:answers] * total)
        return slopes, np.stack([(one[:answers] * weighed).sum(axis=1) for one in slopes])

    def worth(self, counts: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the log likelihood, with the prior's where there is one: (batch,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.likelihood(counts, values) - (self.ridge * values**2).sum(axis=1) / 2
        below = self.ties == "rao-kupper" and values[:, -1] <= 0
        return np.where(below | np.isnan(found), -np.inf, found)

    def maximum(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the maximum of each set of counts, (batch, cells, 3): values and log likelihoods; NaN where none is."""
        counts = np.ascontiguousarray(np.moveaxis(counts, -1, 0))
        values, todo = np.tile(self.start, (counts.shape[1], 1)), np.arange(counts.shape[1])
        found = self.worth(counts, values)
        for _ in range(_STEPS):
            step, gain = self._step(counts[:, todo], values[todo])
            for _ in range(_HALVINGS):  # where the whole step leads down, go a half, a quarter … of it
                worth = self.worth(counts[:, todo], values[todo] + step)
                down = worth < found[todo] - 1e-12 * np.abs(found[todo])
                if not down.any():
                    break
                step[down] /= 2
            values[todo] += step
            found[todo], todo = worth, todo[gain > _SETTLED]
            if not len(todo):
                break
        far = np.abs(values[:, : self.cut]).max(axis=1) > _FAR
        values[far], values[todo], found[far], found[todo] = np.nan, np.nan, np.nan, np.nan
        return values, found

    def _step(self, counts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the next step, (batch, values), and the gain that it promises, (batch,)."""
        slopes, information = self.information(counts.sum(axis=0), values)
        slopes, cut, size = (counts * slopes).sum(axis=1), self.cut, len(self.start)
        slope, curve = -self.ridge * values, np.zeros((len(values), size, size))
        slope[:, :cut] += (self.lead.T @ slopes[0].T).T
        curve[:, :cut, :cut] = (self.squares @ information[0, 0].T).T.reshape(len(values), cut, cut)
        if self.tied:
            slope[:, -1] += slopes[1].sum(axis=1)
            curve[:, :cut, -1] = curve[:, -1, :cut] = (self.lead.T @ information[0, 1].T).T
            curve[:, -1, -1] = information[1, 1].sum(axis=1)
        curve[:, : self.systems, : self.systems] += 1 / self.systems  # strengths sum to 0
        curve += np.diag(self.ridge + 1e-12)
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        return step, (step * slope).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model. values: (parameters,). likelihood: the log likelihood.

    strength: (systems,) natural logs, mean 0: A beats B with odds exp(strength[A] - strength[B]). place: (1,) what
    standing first adds; (0,) where not asked for. After these values holds t, unless ties count half, or are none.
    """

    cells: Cells
    model: _Model
    values: np.ndarray
    likelihood: float

    @property
    def strength(self) -> np.ndarray:
        return self.values[: self.model.systems]

    @property
    def place(self) -> np.ndarray:
        return self.values[self.model.systems : self.model.cut]

    @property
    def odds(self) -> np.ndarray:
        """Return strengths as Zermelo wrote them, positive and summing to 1: A beats B with A's over both."""
        whole = np.exp(self.strength - self.strength.max())
        return np.asarray(whole / whole.sum())

    def expected(self) -> np.ndarray:
        """Return the expected count of each cell and answer: (cells, 3). Ties that count half are shared out."""
        d, t = self.model.leads(self.values[None])
        return chances(self.model.ties, d[0], t[0]) * self.cells.counts.sum(axis=1, keepdims=True)


def fit(
    comparisons: pd.DataFrame, *, ties: str = "davidson", place: bool = False, spread: float | None = None
) -> Fitted:
    """Fit strengths to comparisons by maximum likelihood.

    comparisons: ``schemas.COMPARISONS``. ties: "half" (half a win for either), "davidson" or "rao-kupper"; where there
    are no ties all are the same, and "half" is fitted. place: what standing first adds to the log odds, too. spread:
    the standard deviation of a normal prior on log strengths, such as ``WEAK``, which keeps them finite; None: none.
    Raises DataError where systems were never compared, even through others, and, without a prior, where all answers
    between two groups went one way, naming them.
    Source: Bradley & Terry 1952; Davidson 1970; Rao & Kupper 1967; Davidson & Beaver 1977 (places). Caveat: answers
    count as independent; for intervals draw people and texts (``standing``).

    >>> table = pd.DataFrame({"system_a": ["A"] * 4, "system_b": ["B"] * 4, "preference": ["a", "a", "a", "b"]})
    >>> fit(table).strength.round(3).tolist()
    [0.549, -0.549]
    """
    if ties not in TIES:
        raise DataError(f"{ties!r} is no model of ties. Choose one of {join_names(TIES)}.")
    if not comparisons["preference"].eq("tie").any():
        ties = "half"
    return fit_cells(count(comparisons, place=place), ties=ties, place=place, spread=spread)


def fit_cells(cells: Cells, *, ties: str = "half", place: bool = False, spread: float | None = None) -> Fitted:
    """Fit strengths to counted comparisons, such as a table of wins (``of_wins``); see ``fit``.

    >>> wins = pd.DataFrame([[0, 3, 3], [1, 0, 2], [1, 2, 0]], [*"ABC"], [*"ABC"])
    >>> fit_cells(of_wins(wins)).odds.round(3).tolist()
    [0.6, 0.2, 0.2]
    """
    _refuse_apart(cells)
    if spread is None and len(found := separated(cells)) > 1:
        above, below = (join_names(group[:5]) for group in found[:2])
        raise DataError(
            f"{above} never lost to, or tied with, {below}, so how much better is not to be told. Pass a prior "
            f"(spread={WEAK:g}), which keeps strengths finite, or leave these systems out."
        )
    model = _Model(cells, ties=ties, place=place, spread=spread)
    values, likelihood = model.maximum(cells.counts[None])
    if np.isnan(likelihood[0]) or np.abs(values).max() > _FAR:
        raise DataError(
            "Places or ties have no finite estimate: all answers with one of them are alike. Leave out place=, or pass "
            "spread= and a simpler model of ties."
        )
    return Fitted(cells, model, values[0], float(model.likelihood(cells.counts.T[:, None], values)[0]))


class Departure(NamedTuple):
    """How far one part of a model is from what was answered.

    freedom: how much else that part could have said; where it is 0, nothing can contradict the part. statistic: the
    chi-squared of a score test, were answers independent. effect: by how much answers that share a unit widen it.
    """

    freedom: int
    p: float
    effect: float
    statistic: float


class Fit(NamedTuple):
    """Tests of strengths against a lead of its own for each pair, of ties against a rate of its own."""

    strengths: Departure
    ties: Departure


def goodness(fitted: Fitted, *, units: Mapping[str, np.ndarray] | None = None) -> Fit:
    r"""Test what a fitted model says of strengths, and what it says of ties, each by itself.

    Systems that were compared in a tree (A with B, B with C) leave strengths no freedom: some strengths fit whatever
    was answered, and only circles of pairs can contradict them. units: kinds (documents, people) -> (comparisons,) the
    unit of each answer. Answers of one unit are alike, so that with q degrees of freedom, n units of the rarer kind and
    their mean design effect :math:`\delta`, :math:`X^2 / (q \delta)` is held against :math:`F_{q,\, q(n-1)}`; without
    units, :math:`X^2` against chi-squared. Each p is NaN where no freedom is left.
    Source: Agresti 2013, section 11.6; Rao & Scott 1984 and Thomas & Rao 1987 (units); Cameron, Gelbach & Miller 2011
    (crossed ones). Caveat: few answers a pair make p rough, and ties that count half make it too large.

    >>> pairs = [("A", "B", "a"), ("A", "B", "b"), ("B", "C", "a"), ("B", "C", "b"), ("A", "C", "a"), ("A", "C", "b")]
    >>> pairs = pd.DataFrame(pairs, columns=["system_a", "system_b", "preference"])
    >>> goodness(fit(pairs)).strengths.freedom, goodness(fit(pairs.head(4))).strengths.freedom  # a circle, a tree
    (1, 0)
    """
    cells = fitted.cells
    pair = np.unique(np.stack([cells.one, cells.other]), axis=1, return_inverse=True)[1].ravel()
    own = np.eye(pair.max() + 1)[pair]
    none = np.zeros_like(own)
    return Fit(*(_departure(fitted, np.stack(more), units or {}) for more in ((own, none), (none, own))))


def _departure(fitted: Fitted, more: np.ndarray, units: Mapping[str, np.ndarray]) -> Departure:
    """Test whether parameters more would fit better: (2, cells, parameters), how they act on a cell's lead and ties."""
    cells, model, values = fitted.cells, fitted.model, fitted.values[None]
    design = np.zeros((2, len(cells.one), len(fitted.values)))
    design[0, :, : model.cut], design[1, :, model.cut :] = model.lead.toarray(), 1
    slopes, information = model.information(cells.counts.sum(axis=1)[None], values)
    design, more = design[: len(slopes)], more[: len(slopes)]

    def product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("icp,ijc,jcq->pq", one, information[:, :, 0], other, optimize=True))

    known = np.linalg.pinv(product(design, design), hermitian=True)
    rest = more - design @ (known @ product(design, more))  # what the fitted parameters do not say already
    size, axes = np.linalg.eigh(product(rest, rest))
    free = size > 1e-9 * max(np.trace(product(more, more)), 1e-9)
    axes = rest @ (axes[:, free] / np.sqrt(size[free]))
    score = np.einsum("iac,icq->caq", slopes[:, :, 0], axes)  # of each cell and answer
    statistic, freedom = float((np.einsum("ca,caq->q", cells.counts, score) ** 2).sum()), int(free.sum())
    several = {kind: own for kind, own in units.items() if len(np.unique(own)) > 1}
    if not freedom:
        return Departure(0, np.nan, np.nan, statistic)
    if not several:
        return Departure(freedom, float(stats.chi2.sf(statistic, freedom)), 1.0, statistic)
    effect = _design_effect(score.reshape(-1, freedom)[cells.where], several)
    fewest = min(len(np.unique(own)) for own in several.values())
    p = stats.f.sf(statistic / freedom / effect, freedom, freedom * (fewest - 1))
    return Departure(freedom, float(p), effect, statistic)


def _design_effect(scores: np.ndarray, units: Mapping[str, np.ndarray]) -> float:
    """Return by how much units that answers share widen the mean variance of their scores, (comparisons, freedom)."""
    spreads = {}
    for kinds in chain.from_iterable(combinations(sorted(units), size + 1) for size in range(len(units))):
        code = np.unique(np.stack([units[kind] for kind in kinds]), axis=1, return_inverse=True)[1].ravel()
        sums = np.eye(code.max() + 1)[code].T @ scores
        squares = ((sums - sums.mean(axis=0)) ** 2).sum()
        spreads[kinds] = squares / scores.shape[1] * len(sums) / max(len(sums) - 1, 1)
    return max(1.0, float(crossed_variance(spreads)))


def residuals(fitted: Fitted) -> pd.DataFrame:
    """Return of each pair how often the first won (ties half), what the model expects, and the residual; worst first.

    residual: the difference over its standard deviation were answers independent.
    """
    cells, expected = fitted.cells, fitted.expected()
    n, mean = cells.counts.sum(axis=1), expected[:, 0] + expected[:, 2] / 2
    columns = {"system_a": np.take(cells.systems, cells.one), "system_b": np.take(cells.systems, cells.other), "n": n}
    columns |= {"share": cells.counts[:, 0] + cells.counts[:, 2] / 2, "expected": mean}
    columns |= {"variance": expected[:, 0] + expected[:, 2] / 4 - mean**2 / n}
    found = pd.DataFrame(columns).groupby(["system_a", "system_b"], as_index=False).sum()
    variance = found.pop("variance")
    gap = (found["share"] - found["expected"]) / np.sqrt(variance.clip(lower=1e-12))
    found = found.assign(residual=gap.where(variance > 1e-12, 0.0)).astype({"n": int})
    found[["share", "expected"]] = found[["share", "expected"]].div(found["n"], axis=0)
    return found.sort_values("residual", key=np.abs, ascending=False, ignore_index=True, kind="stable")


class Circles(NamedTuple):
    """Triples of systems that were all compared: those in a circle, and how many chance makes under the model.

    p: how often at least as many arise by chance.
    """

    triples: int
    found: list[tuple[str, str, str]]
    expected: float
    p: float


def circles(fitted: Fitted, *, draws: int = 1000, seed: int = 7) -> Circles:
    """Count triples in which A beats B, B beats C, and C beats A, beside those that the fitted model makes by chance.

    To beat is to win more often than to lose. A model of strengths has no circles, but few answers make some.
    Source: Kendall & Babington Smith 1940, for the count.
    """
    cells, found = fitted.cells, in_circles(fitted.cells)
    rng, total = np.random.default_rng(seed), cells.counts.sum(axis=1)
    shares = fitted.expected() / total[:, None]
    made = rng.multinomial(np.round(total).astype(int), shares / shares.sum(axis=1, keepdims=True), (draws, len(total)))
    three, turned = _go_round(cells, made)
    chance = turned.sum(axis=1)
    return Circles(len(three), found, float(chance.mean()), float(((chance >= len(found)).sum() + 1) / (draws + 1)))


def in_circles(cells: Cells) -> list[tuple[str, str, str]]:
    """List the triples of systems that go in a circle, whichever way.

    >>> wins = pd.DataFrame([[0, 3, 1, 2], [1, 0, 3, 2], [3, 1, 0, 2], [2, 2, 2, 0]], [*"ABCD"], [*"ABCD"])
    >>> in_circles(of_wins(wins))
    [('A', 'B', 'C')]
    """
    three, turned = _go_round(cells, cells.counts[None])
    return [(cells.systems[a], cells.systems[b], cells.systems[c]) for a, b, c in three[turned[0]]]


def _go_round(cells: Cells, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return triples of systems all of which met, (triples, 3), and which of them go round, (batch, triples)."""
    size = len(cells.systems)
    met, lead = np.zeros((size, size), bool), np.zeros((size, size, len(counts)))
    met[cells.one, cells.other] = True
    np.add.at(lead, (cells.one, cells.other), (counts[..., 0] - counts[..., 1]).T.astype(float))
    three = np.array([*combinations(range(size), 3)], int).reshape(-1, 3)
    three = three[met[three[:, 0], three[:, 1]] & met[three[:, 1], three[:, 2]] & met[three[:, 0], three[:, 2]]]
    i, j, k = three.T
    edges = np.stack([lead[i, j], lead[j, k], -lead[i, k]])
    return three, np.asarray((edges > 0).all(axis=0) | (edges < 0).all(axis=0)).T


def labels(comparisons: pd.DataFrame, units: Sequence[str]) -> dict[str, np.ndarray]:
    """Number the units of each comparison: kind of ``UNITS`` -> (comparisons,)."""
    columns = {name: [column for column in UNITS[name] if column in comparisons] for name in units}
    return {
        name: pd.MultiIndex.from_frame(comparisons[own].astype("str")).factorize()[0] for name, own in columns.items()
    }


class Standing(NamedTuple):
    """Strengths of systems and the shares of comparisons that each would win, with their draws.

    fitted: the model. table: system, strength, low, high (95 %), won, won_low, won_high, best first. won: (systems,)
    the share that each would win against all others, each met equally often and as often in either place, a tie
    counting half; drawn: (resamples, systems) draws of it, whose percentiles are as wide as t intervals; spread: the
    same without that width, for tests. place: what standing first adds to the log odds, and its 95 % interval; None
    where it was not fitted. fewest: how many units were drawn of the rarer kind; 1 where nothing was.
    """

    fitted: Fitted
    table: pd.DataFrame
    won: np.ndarray
    drawn: np.ndarray
    spread: np.ndarray
    place: tuple[float, float, float] | None
    fewest: int


def standing(
    comparisons: pd.DataFrame,
    *,
    ties: str = "davidson",
    place: bool | None = False,
    resamples: int = 1000,
    seed: int = 7,
    units: Sequence[str] = ("annotators", "documents"),
) -> Standing:
    """Fit strengths, and draw units anew (``UNITS``, crossed; see ``stats.widths.redraw``).

    place: fit what standing first adds; None: where it can be found. A kind of which there is one unit only, such as
    one annotator, is not drawn, so that nothing is said of other people. Draws have a weak prior (``WEAK``), for in
    some of them a system wins everything; the estimate has it only where it must. Raises DataError where systems were
    never compared, even through others.
    """
    draws: dict[str, Any] = {"resamples": resamples, "seed": seed, "units": units}
    if place is None:
        with suppress(DataError):  # places are unknown; one took everything; or systems never met, which comes up again
            leads = count(comparisons, place=True).leads(place=True)
            if np.linalg.matrix_rank(leads) > np.linalg.matrix_rank(leads[:, :-1]):  # nor does it follow from who met
                return standing(comparisons, ties=ties, place=True, **draws)
        return standing(comparisons, ties=ties, place=False, **draws)
    cells = count(comparisons, place=place)
    _refuse_apart(cells)
    fitted = fit(comparisons, ties=ties, place=place, spread=WEAK if len(separated(cells)) > 1 else None)
    model = _Model(cells, ties=fitted.model.ties, place=place, spread=WEAK)

    def said(values: np.ndarray) -> np.ndarray:
        strength, rest = np.split(values[:, : model.cut], [model.systems], axis=1)
        return np.concatenate([strength, _won(model, values), rest], axis=1)

    def statistic(times: np.ndarray) -> np.ndarray:
        return said(model.maximum(cells.recount(times))[0])

    whole = Part(statistic, labels(comparisons, units), len(comparisons))
    [found] = redraw([whole], resamples=resamples, seed=seed)
    values = said(fitted.values[None])[0]
    moved = values - found.estimate  # by the prior, where only draws have it
    drawn, spread = found.narrowed(few=True) + moved, found.narrowed() + moved
    ends = np.stack([values, *defined_interval(drawn)])
    strength, won, first = np.split(ends, [model.systems, 2 * model.systems], axis=1)
    table = pd.DataFrame({"system": cells.systems})
    table[["strength", "low", "high"]], table[["won", "won_low", "won_high"]] = strength.T, won.clip(0, 1).T
    table = table.sort_values(["strength", "system"], ascending=[False, True], ignore_index=True)
    drawn, spread = (draws[:, model.systems :][:, : model.systems] for draws in (drawn, spread))
    fewest = min((size for codes in whole.units.values() if (size := len(np.unique(codes))) > 1), default=1)
    return Standing(fitted, table, won[0], drawn, spread, tuple(first[:, 0].tolist()) if place else None, fewest)


def _won(model: _Model, values: np.ndarray) -> np.ndarray:
    """Return the share of comparisons won against all others, from (batch, parameters): (batch, systems)."""
    strength = values[:, : model.systems]
    lead = strength[:, :, None] - strength[:, None, :]
    place = values[:, model.systems, None, None] if model.place else 0.0
    t = values[:, -1, None, None] if model.tied else 0.0
    both = [chances(model.ties, lead + sign * place, t) for sign in (1, -1)]
    share = np.mean([one[..., 0] + one[..., 2] / 2 for one in both], axis=0).sum(axis=2)
    return np.asarray((share - 0.5) / (model.systems - 1))  # half is the share against itself


def share_intervals(
    comparisons: pd.DataFrame, flags: np.ndarray, *, resamples: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the shares of comparisons with some flags, (comparisons, flags), and 95 % intervals drawing documents."""
    part = Part(column_means(flags), labels(comparisons, ["documents"]), len(comparisons))
    [found] = redraw([part], resamples=resamples, seed=seed)
    low, high = found.interval()
    return found.estimate, low.clip(min=0), high.clip(max=1)


def in_order(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Turn comparisons so that ``system_a`` is the system that comes first in the alphabet."""
    sides = {f"{name}_{one}": f"{name}_{other}" for name in ("system", "score") for one, other in ("ab", "ba")}
    turned = comparisons.rename(columns=sides)
    turned["preference"] = turned["preference"].map({"a": "b", "b": "a", "tie": "tie"})
    return comparisons.where(comparisons["system_a"] <= comparisons["system_b"], turned)


def shares(comparisons: pd.DataFrame, *, by: Sequence[str] = (), resamples: int = 1000, seed: int = 7) -> pd.DataFrame:
    """Return how often each answer was given, of each pair of systems and within ``by``: answer, share, low, high, n.

    Pairs are named with the system that comes first in the alphabet as ``system_a``. Intervals draw documents.
    """
    answers, rows = np.array(["a", "tie", "b"]), []
    for key, own in in_order(comparisons).groupby([*by, "system_a", "system_b"], sort=True):
        given = (own["preference"].to_numpy()[:, None] == answers).astype(float)
        found = share_intervals(own, given, resamples=resamples, seed=seed)
        rows += [(*key, *row, len(own)) for row in zip(answers, *found)]
    return pd.DataFrame(rows, columns=[*by, "system_a", "system_b", "answer", "share", "low", "high", "n"])


def win_rates(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return system, ``won`` (share of comparisons, ties half), ``average`` (mean over opponents) and n; best first.

    Caveat: who meets weak opponents only wins often. ``average`` mends unequal numbers of meetings, not unequal
    opponents; strengths mend both.

    >>> answers = [("A", "B", "a"), ("A", "B", "tie"), ("B", "C", "a")]
    >>> table = pd.DataFrame(answers, columns=["system_a", "system_b", "preference"])
    >>> win_rates(table).round(3).to_numpy().tolist()
    [['A', 0.75, 0.75, 2], ['B', 0.5, 0.625, 3], ['C', 0.0, 0.0, 1]]
    """
    cells = count(comparisons)
    wins = cells.wins()
    met = wins + wins.T
    average = np.nanmean(ratio(wins, met), axis=1)
    columns = {"won": wins.sum(axis=1) / met.sum(axis=1), "average": average, "n": met.sum(axis=1).astype(int)}
    table = pd.DataFrame({"system": cells.systems, **columns})
    return table.sort_values(["average", "system"], ascending=[False, True], ignore_index=True)


def elo(comparisons: pd.DataFrame, *, seed: int = 7) -> pd.DataFrame:
    """Return system, ``points`` and ``spread``: Elo's points after all comparisons, mean and sd over 100 orders.

    All start with 1000 points, and 4 are at stake in a comparison; 400 points are odds of ten to one. Source: Elo 1978.
    Caveat: points depend on the order, for late comparisons count most, and on the stake; they move from the start only
    as far as there are comparisons.

    >>> table = pd.DataFrame({"system_a": ["A"], "system_b": ["B"], "preference": ["a"]})
    >>> elo(table).to_numpy().tolist()
    [['A', 1002.0, 0.0], ['B', 998.0, 0.0]]
    """
    systems = sorted({*comparisons["system_a"], *comparisons["system_b"]})
    a, b = (pd.Index(systems).get_indexer(comparisons[f"system_{side}"]) for side in "ab")
    worth = comparisons["preference"].map({"a": 1.0, "b": 0.0, "tie": 0.5}).to_numpy(float)
    rng, runs = np.random.default_rng(seed), np.arange(100)
    order = np.stack([rng.permutation(len(a)) for _ in runs])
    points = np.full((len(runs), len(systems)), 1000.0)
    for place in order.T:
        one, other = a[place], b[place]
        gap = points[runs, other] - points[runs, one]
        change = 4 * (worth[place] - 1 / (1 + 10 ** (gap / 400)))
        points[runs, one] += change
        points[runs, other] -= change
    table = pd.DataFrame({"system": systems, "points": points.mean(axis=0), "spread": points.std(axis=0)})
    return table.sort_values(["points", "system"], ascending=[False, True], ignore_index=True)
