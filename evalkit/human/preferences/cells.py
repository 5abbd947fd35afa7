"""Comparisons counted in cells: of two systems, which stood first, and who answered where that may matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evalkit import DataError
from evalkit.data.schemas import PREFERENCES

_PLACED = {"a": 1, "b": -1, "unknown": 0}


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of answers by cell, and which cell and answer each comparison is.

    systems: (systems,) names. one, other: (cells,) their numbers; one < other. placed: (cells,) 1 where ``one``
    stood first, -1 where ``other`` did, 0 where unknown. people: (cells,) numbers in ``annotators``; all 0 where these
    do not matter. counts: (cells, 3) answers for one, for the other, and ties. where: (comparisons,) cell * 3 + answer.
    """

    systems: list[str]
    one: np.ndarray
    other: np.ndarray
    placed: np.ndarray
    people: np.ndarray
    annotators: list[str]
    counts: np.ndarray
    where: np.ndarray

    def recount(self, times: np.ndarray) -> np.ndarray:
        """Count answers where comparisons count several times: (batch, comparisons) -> (batch, cells, 3)."""
        size = self.counts.size
        place = sparse.csr_matrix(
            (np.ones(len(self.where)), (self.where, np.arange(len(self.where)))), shape=(size, len(self.where))
        )
        return np.asarray((place @ times.T).T).reshape(len(times), *self.counts.shape)

    def wins(self) -> np.ndarray:
        """Return how often each system was preferred to each other one, a tie counting half: (systems, systems)."""
        found = np.zeros((len(self.systems),) * 2)
        np.add.at(found, (self.one, self.other), self.counts[:, 0] + self.counts[:, 2] / 2)
        np.add.at(found, (self.other, self.one), self.counts[:, 1] + self.counts[:, 2] / 2)
        return found


def count(comparisons: pd.DataFrame, *, place: bool = False, annotators: bool = False) -> Cells:
    """Count a table of comparisons (``schemas.COMPARISONS``) in cells.

    place: tell apart which stood first. annotators: tell apart who answered.

    >>> table = pd.DataFrame({"system_a": ["B", "A"], "system_b": ["A", "B"], "preference": ["a", "tie"]})
    >>> count(table).counts.tolist()
    [[0.0, 1.0, 1.0]]
    """
    systems = sorted({*comparisons["system_a"], *comparisons["system_b"]})
    number = {name: k for k, name in enumerate(systems)}
    a, b = (comparisons[f"system_{side}"].map(number).to_numpy(int) for side in "ab")
    turned = a > b
    answer = comparisons["preference"].map({name: k for k, name in enumerate(PREFERENCES)}).to_numpy(int)
    answer = np.where(turned & (answer < 2), 1 - answer, answer)
    placed, people, names = np.zeros(len(a), int), np.zeros(len(a), int), [""]
    if place:
        _told_places(comparisons)
        placed = comparisons["first"].map(_PLACED).to_numpy(int) * np.where(turned, -1, 1)
    if annotators:
        people, found = pd.factorize(comparisons["annotator"].astype("str"), sort=True)
        names = [*found]
    rows = np.stack([np.minimum(a, b), np.maximum(a, b), placed, people], axis=1)
    cells, member = np.unique(rows, axis=0, return_inverse=True)
    where = member.ravel() * 3 + answer
    counts = np.bincount(where, minlength=3 * len(cells)).astype(float).reshape(-1, 3)
    one, other, stood, who = cells.T
    return Cells(systems, one, other, stood, who, names, counts, where)


def of_wins(wins: pd.DataFrame) -> Cells:
    """Take cells from a table of wins: in a row how often its system beat each column's; a tie may be half a win each.

    >>> of_wins(pd.DataFrame([[0, 3], [1, 0]], [*"AB"], [*"AB"])).counts.tolist()
    [[3.0, 1.0, 0.0]]
    """
    values = wins.to_numpy(float)
    met = np.triu(values + values.T, 1) > 0
    one, other = np.nonzero(met)
    counts = np.stack([values[one, other], values[other, one], np.zeros(len(one))], axis=1)
    none = np.zeros(len(one), int)
    return Cells([*map(str, wins.index)], one, other, none, none, [""], counts, np.zeros(0, int))


def _told_places(comparisons: pd.DataFrame) -> None:
    """Refuse to look for an effect of the place where it is unknown, or goes with the systems."""
    if "first" not in comparisons or comparisons["first"].eq("unknown").any():
        raise DataError(
            "Which translation stood first is unknown of some comparisons, so its effect cannot be found. Leave it out "
            "(place=False), or tell it in the column first."
        )


def placeable(comparisons: pd.DataFrame) -> bool:
    """Tell whether an effect of the place can be found: places are known, and do not follow from who was compared.

    >>> table = pd.DataFrame({"system_a": ["A", "B"], "system_b": ["B", "A"], "preference": ["a", "a"], "first": "a"})
    >>> placeable(table), placeable(table.head(1))
    (True, False)
    """
    if "first" not in comparisons or comparisons["first"].eq("unknown").any():
        return False
    cells = count(comparisons, place=True)
    lead = np.zeros((len(cells.one), len(cells.systems) + 1))
    rows = np.arange(len(cells.one))
    lead[rows, cells.one], lead[rows, cells.other] = 1, -1
    without = np.linalg.matrix_rank(lead)
    lead[:, -1] = cells.placed
    return bool(np.linalg.matrix_rank(lead) > without)


def groups(cells: Cells) -> list[list[str]]:
    """List systems that were compared with each other, perhaps through others; one list for each such group.

    >>> table = pd.DataFrame({"system_a": ["A", "C"], "system_b": ["B", "D"], "preference": ["a", "b"]})
    >>> groups(count(table))
    [['A', 'B'], ['C', 'D']]
    """
    return _parts(cells, cells.wins() + cells.wins().T, "weak")


def refuse_apart(cells: Cells) -> None:
    """Raise DataError, naming two systems, where some were never compared with the others, even through third ones."""
    found = groups(cells)
    if len(found) > 1:
        listed = "; ".join(", ".join(group) for group in found[:5]) + (" …" if len(found) > 5 else "")
        raise DataError(
            f"{found[0][0]} and {found[1][0]} were never compared, even through others: there are {len(found)} groups "
            f"({listed}). Rank each group by itself, or have some of their translations compared."
        )


def separated(cells: Cells) -> list[list[str]]:
    """List groups of systems, the better ones first, between which all answers went one way; one group is none.

    A better group never lost to and never tied with a worse one, so that how far apart they are has no estimate.

    >>> table = pd.DataFrame({"system_a": ["A", "B", "C"], "system_b": ["B", "C", "B"], "preference": ["a"] * 3})
    >>> separated(count(table))
    [['A'], ['B', 'C']]
    """
    wins = cells.wins()
    found = _parts(cells, wins, "strong")
    number = {name: k for k, group in enumerate(found) for name in group}
    member = np.array([number[name] for name in cells.systems])
    beats = np.zeros((len(found),) * 2, bool)
    np.logical_or.at(beats, (member[:, None], member[None, :]), wins > 0)
    np.fill_diagonal(beats, False)
    for _ in found:
        beats |= (beats.astype(int) @ beats.astype(int)) > 0
    return [found[k] for k in np.argsort(-beats.sum(axis=1), kind="stable")]


def _parts(cells: Cells, graph: np.ndarray, connection: str) -> list[list[str]]:
    """List connected parts of a graph of systems, in the order of their first names."""
    size, label = connected_components(graph > 0, directed=True, connection=connection)
    names = [[name for name, own in zip(cells.systems, label) if own == k] for k in range(size)]
    return sorted(names)
