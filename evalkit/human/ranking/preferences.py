"""Rank systems by comparisons of two: the model of Bradley and Terry, and circles that no ranking can hold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from evalkit import DataError


def bradley_terry(wins: ArrayLike, *, rounds: int = 100_000, tolerance: float = 1e-12) -> np.ndarray:
    """Estimate each system's strength, positive and summing to 1, from how often each beat each other one.

    wins: systems × systems, [i, j] how often i beat j; a tie may count half for either. The model gives i the chance
    strength[i] / (strength[i] + strength[j]) to beat j, whoever else took part, so systems that met different
    opponents compare. Maximum likelihood by Zermelo's rule: wins over the sum of meetings / (own + other strength).
    Raises DataError where no estimate exists: some systems never lost to the others, or never met them.
    Source: Zermelo 1929; Bradley & Terry 1952; Hunter 2004. Caveat: comparisons count as independent, order effects
    and circles (see ``circles``) do not exist in the model.

    >>> bradley_terry([[0, 3, 3], [1, 0, 2], [1, 2, 0]]).round(3).tolist()
    [0.6, 0.2, 0.2]
    """
    wins = np.asarray(wins, float) * (1 - np.eye(len(np.asarray(wins))))
    if connected_components(wins > 0, directed=True, connection="strong")[0] > 1:
        raise DataError(
            "Some systems never lost to the others, or never met them, so their strength has no estimate. Count ties "
            "as half a win for either, or leave these systems out."
        )
    met, strength = wins + wins.T, np.full(len(wins), 1 / len(wins))
    for _ in range(rounds):
        before = strength
        strength = wins.sum(axis=1) / (met / np.add.outer(before, before)).sum(axis=1)
        strength = strength / strength.sum()
        if np.abs(strength - before).max() < tolerance:
            return strength
    raise DataError(f"Strengths did not settle within {rounds} rounds. Check for systems that hardly ever lost or won.")


def circles(wins: ArrayLike) -> list[tuple[int, int, int]]:
    """List the triples of systems in which the first beat the second, the second the third, and the third the first.

    wins: as for ``bradley_terry``; to beat is to win more often than to lose. A triple is listed once, from its lowest
    number on. Source: Kendall & Babington Smith 1940 (circular triads).

    >>> circles([[0, 3, 1, 2], [1, 0, 3, 2], [3, 1, 0, 2], [2, 2, 2, 0]])
    [(0, 1, 2)]
    """
    counts = np.asarray(wins, float)
    beats = counts > counts.T
    found = []
    for i, j, k in combinations(range(len(beats)), 3):
        found += [(a, b, c) for a, b, c in ((i, j, k), (i, k, j)) if beats[a, b] and beats[b, c] and beats[c, a]]
    return found
