"""Fit strengths of systems to comparisons: Bradley and Terry's model, with ties, places and annotators.

A cell's lead is the difference of two log strengths; standing first adds ``place`` to it. Ties are counted half, or
modelled (Davidson; Rao and Kupper), alike for all annotators or with a parameter for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from evalkit import DataError
from evalkit.human.preferences import cells as counted
from evalkit.human.preferences.cells import Cells
from evalkit.human.preferences.kernels import KERNELS, Slopes, chances
from evalkit.stats.terms import join_names

#: The spread, a standard deviation of log strengths, of the weak prior that keeps strengths finite where asked for.
WEAK = 5.0
_STEPS, _HALVINGS, _SETTLED, _FAR = 200, 40, 1e-18, 25.0


@dataclass(frozen=True, eq=False)
class Fitted:
    """Strengths and what else was fitted.

    strength: (systems,) natural logs, mean 0: A beats B with odds exp(strength[A] - strength[B]). place: (people or 1,)
    what standing first adds; empty where not asked for. tie: (people or 1,) the parameter t of the model of ties; empty
    where ties count half, or there are none. likelihood: the log likelihood. spread: of the prior, or None. ties: the
    model of ties that was fitted.
    """

    cells: Cells
    strength: np.ndarray
    place: np.ndarray
    tie: np.ndarray
    likelihood: float
    ties: str
    spread: float | None

    def table(self) -> pd.DataFrame:
        """Return system, strength and ``beats_average``, the chance to beat one of average strength; best first."""
        table = pd.DataFrame({"system": self.cells.systems, "strength": self.strength})
        table["beats_average"] = 1 / (1 + np.exp(-table["strength"]))
        return table.sort_values(["strength", "system"], ascending=[False, True], ignore_index=True)

    @property
    def odds(self) -> np.ndarray:
        """Return strengths as Zermelo wrote them, positive and summing to 1: A beats B with A's over both."""
        whole = np.exp(self.strength - self.strength.max())
        return np.asarray(whole / whole.sum())

    def expected(self) -> np.ndarray:
        """Return the expected count of each cell and answer: (cells, 3). Ties that count half are shared out."""
        model = Model(self.cells, ties=self.ties, place=bool(len(self.place)))
        values = np.concatenate([self.strength, self.place, self.tie])[None]
        d, t = model.leads(values)
        return chances(self.ties, d[0], t[0]) * self.cells.counts.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class _Sparse:
    """A matrix with few entries a row: their columns and values, (rows, entries), and the number of columns."""

    columns: np.ndarray
    values: np.ndarray
    width: int

    def matrix(self) -> sparse.csr_matrix:
        rows, entries = self.columns.shape
        start = np.arange(0, rows * entries + 1, max(entries, 1))[: rows + 1] if entries else np.zeros(rows + 1, int)
        return sparse.csr_matrix((self.values.ravel(), self.columns.ravel(), start), shape=(rows, self.width))

    def times(self, other: _Sparse) -> sparse.csr_matrix:
        """Return what sums weighted products of columns: (columns of this × of the other, rows)."""
        places = self.columns[:, :, None] * other.width + other.columns[:, None, :]
        products = self.values[:, :, None] * other.values[:, None, :]
        rows = len(places)
        flat = _Sparse(places.reshape(rows, -1), products.reshape(rows, -1), self.width * other.width)
        return sparse.csr_matrix(flat.matrix().T)


class Model:
    """Which parameters act in which cell, and Newton's steps on many sets of counts at once."""

    def __init__(self, cells: Cells, *, ties: str, place: bool, spread: float | None = None) -> None:
        systems, people = len(cells.systems), len(cells.annotators)
        columns, signs = [cells.one, cells.other], [np.ones(len(cells.one)), -np.ones(len(cells.one))]
        if place:
            columns.append(systems + cells.people)
            signs.append(cells.placed.astype(float))
        lead = _Sparse(np.stack(columns, axis=1), np.stack(signs, axis=1), systems + place * people)
        free = 0 if ties == "half" else 1
        tie = _Sparse(cells.people[:, None][:, :free], np.ones((len(cells.one), free)), free * people)
        self.lead, self.tie = lead.matrix(), tie.matrix()
        self._squares = [lead.times(lead), lead.times(tie), tie.times(tie)]
        self.systems, self.kernel, self.spread = systems, KERNELS[ties], spread
        self.start = np.concatenate([np.zeros(lead.width), np.full(tie.width, 0.5 if ties == "rao-kupper" else 0.0)])
        self.floor = lead.width if ties == "rao-kupper" else len(self.start)  # parameters from here on are above 0

    def leads(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lead and the tie parameter of each cell: twice (batch, cells)."""
        cut = self.lead.shape[1]
        return (self.lead @ values[:, :cut].T).T, (self.tie @ values[:, cut:].T).T

    def slopes(self, counts: np.ndarray, values: np.ndarray) -> Slopes:
        """Return the slopes of each cell."""
        return self.kernel(counts, *self.leads(values))

    def worth(self, counts: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the log likelihood, with the prior's where there is one: (batch,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.slopes(counts, values).value.sum(axis=1)
        found = found - self._ridge() / 2 * (values[:, : self.systems] ** 2).sum(axis=1)
        below = (values[:, self.floor :] <= 0).any(axis=1)
        return np.where(below | np.isnan(found), -np.inf, found)

    def maximum(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the maximum of each set of counts, (batch, cells, 3): values and log likelihoods; NaN where none is."""
        values = np.tile(self.start, (len(counts), 1))
        found, open_ = self.worth(counts, values), np.ones(len(counts), bool)
        for _ in range(_STEPS):
            rows = np.flatnonzero(open_)
            step, gain = self._step(counts[rows], values[rows])
            values[rows], found[rows] = self._halved(counts[rows], values[rows], found[rows], step)
            open_[rows] = gain > _SETTLED
            if not open_.any():
                break
        astray = open_ | (np.abs(values[:, : self.lead.shape[1]]).max(axis=1) > _FAR)
        values[astray], found[astray] = np.nan, np.nan
        return values, found

    def _ridge(self) -> float:
        return 1 / self.spread**2 if self.spread else 0.0

    def _step(self, counts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Newton's step, (batch, values), and the gain that it promises, (batch,)."""
        s, cut = self.slopes(counts, values), self.lead.shape[1]
        size = len(self.start)
        slope = np.concatenate([(self.lead.T @ s.d.T).T, (self.tie.T @ s.t.T).T], axis=1)
        curve = np.zeros((len(counts), size, size))
        dd, dt, tt = ((square @ one.T).T for square, one in zip(self._squares, (s.dd, s.dt, s.tt)))
        curve[:, :cut, :cut] = dd.reshape(len(counts), cut, cut)
        curve[:, :cut, cut:] = dt.reshape(len(counts), cut, size - cut)
        curve[:, cut:, :cut] = curve[:, :cut, cut:].transpose(0, 2, 1)
        curve[:, cut:, cut:] = tt.reshape(len(counts), size - cut, size - cut)
        curve[:, : self.systems, : self.systems] += 1 / self.systems  # strengths sum to 0
        own = np.arange(size)
        curve[:, own, own] += 1e-12
        curve[:, own[: self.systems], own[: self.systems]] += self._ridge()
        slope[:, : self.systems] -= self._ridge() * values[:, : self.systems]
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        return step, (step * slope).sum(axis=1)

    def _halved(
        self, counts: np.ndarray, values: np.ndarray, found: np.ndarray, step: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Go a step, or a half, a quarter … of it where the whole leads down; return values and their worth."""
        share = np.ones(len(values))
        new, worth = values.copy(), found.copy()
        todo = np.arange(len(values))
        for _ in range(_HALVINGS):
            tried = values[todo] + share[todo, None] * step[todo]
            own = self.worth(counts[todo], tried)
            good = own >= found[todo] - 1e-12 * np.abs(found[todo])
            new[todo[good]], worth[todo[good]] = tried[good], own[good]
            todo = todo[~good]
            if not len(todo):
                break
            share[todo] /= 2
        return new, worth


def fit(
    comparisons: pd.DataFrame,
    *,
    ties: str = "davidson",
    place: bool = False,
    annotators: bool = False,
    spread: float | None = None,
) -> Fitted:
    """Fit strengths to comparisons by maximum likelihood.

    comparisons: ``schemas.COMPARISONS``. ties: "half" (half a win for either), "davidson" or "rao-kupper"; where there
    are no ties all are the same, and "half" is fitted. place: what standing first adds to the log odds, too.
    annotators: ties, and places, with a parameter for each annotator. spread: the standard deviation of a normal prior
    on log strengths, such as ``WEAK``, which keeps them finite; None takes none.
    Raises DataError where systems were never compared, even through others, and, without a prior, where all answers
    between two groups went one way, naming them.
    Source: as in ``kernels``; Davidson & Beaver 1977 (places). Caveat: answers count as independent; for intervals draw
    people and texts (``drawn.strengths``).

    >>> table = pd.DataFrame({"system_a": ["A"] * 4, "system_b": ["B"] * 4, "preference": ["a", "a", "a", "b"]})
    >>> fit(table).table().round(3).to_numpy().tolist()
    [['A', 0.549, 0.634], ['B', -0.549, 0.366]]
    """
    if ties not in KERNELS:
        raise DataError(f"{ties!r} is no model of ties. Choose one of {join_names([*KERNELS])}.")
    if not comparisons["preference"].eq("tie").any():
        ties = "half"
    return fit_cells(
        counted.count(comparisons, place=place, annotators=annotators), ties=ties, place=place, spread=spread
    )


def fit_cells(cells: Cells, *, ties: str = "half", place: bool = False, spread: float | None = None) -> Fitted:
    """Fit strengths to counted comparisons, such as a table of wins (``cells.of_wins``); see ``fit``.

    >>> wins = pd.DataFrame([[0, 3, 3], [1, 0, 2], [1, 2, 0]], [*"ABC"], [*"ABC"])
    >>> fit_cells(counted.of_wins(wins)).odds.round(3).tolist()
    [0.6, 0.2, 0.2]
    """
    counted.refuse_apart(cells)
    if spread is None:
        _refuse_separated(cells)
    model = Model(cells, ties=ties, place=place, spread=spread)
    values, likelihood = model.maximum(cells.counts[None])
    if np.isnan(likelihood[0]) or np.abs(values).max() > _FAR:
        raise DataError(
            "Places or ties have no finite estimate: all answers with one of them are alike. Leave out place= and "
            "annotators=, or pass spread= and a simpler model of ties."
        )
    cut, people = len(cells.systems), len(cells.annotators)
    found = values[0]
    return Fitted(
        cells,
        found[:cut],
        found[cut : cut + place * people],
        found[cut + place * people :],
        float(model.slopes(cells.counts[None], values).value.sum()),
        ties,
        spread,
    )


def _refuse_separated(cells: Cells) -> None:
    """Refuse strengths that would be endless."""
    found = counted.separated(cells)
    if len(found) > 1:
        above, below = (join_names(group[:5]) for group in found[:2])
        raise DataError(
            f"{above} never lost to, or tied with, {below}, so how much better is not to be told. Pass a prior "
            f"(spread={WEAK:g}), which keeps strengths finite, or leave these systems out."
        )
