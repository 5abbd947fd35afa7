r"""Variance components of one campaign in which many people judge the same segments by several systems.

The score of segment g of document d by system s, judged by person p, is taken to be

.. math:: y = \mu_s + v_g + w_{sd} + a_p + t_{ps} + e

Systems and segments are fixed: what a segment is like for all systems cancels in their differences. Random are
showing (how a document suits a system, with what its judge thought of it that time), annotator (people's levels),
taste (how differently people like systems) and residual (how a segment suits a system, and noise).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.human import planning

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


def equations(judged: Coded) -> planning.Equations:
    """Set up what tells the components; levels count by the square of their size, as they do in a system's mean."""
    return planning.equate(judged.score, judged.levels, fixed=(judged.system, judged.segment), by_size=True)


def estimate(judged: Coded) -> dict[str, float]:
    """Estimate the components, squared points; one that comes out negative is 0, and the others are as without it.

    Raises DataError where two components cannot be distinguished.
    """
    return equations(judged).no_negative(list(judged.levels))


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
