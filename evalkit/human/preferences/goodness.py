"""Whether one scale of strengths fits comparisons: pairs that answer otherwise, circles, and more than chance makes."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.human.preferences.cells import Cells
from evalkit.human.preferences.fitting import Fitted


class Fit(NamedTuple):
    """Deviance against a model with shares of its own for each cell, its degrees of freedom, p, and dispersion.

    dispersion: Pearson's X² over the degrees of freedom: 1 where answers are independent and the model is right.
    """

    deviance: float
    freedom: int
    p: float
    dispersion: float


def goodness(fitted: Fitted) -> Fit:
    """Test a fitted model against shares of its own for each pair (and place, and annotator).

    p is that of the chi-squared distribution and NaN where no freedom is left. Source: Agresti 2013, section 11.6.
    Caveat: answers of one person, or about one text, are alike, so that a small p need not be the model's fault: look
    whether pairs deviate (``residuals``) by much. Cells with few answers make p rough.

    >>> from evalkit.human.preferences.fitting import fit
    >>> pairs = [("A", "B", "a"), ("A", "B", "b"), ("B", "C", "a"), ("B", "C", "b"), ("A", "C", "a"), ("A", "C", "b")]
    >>> found = goodness(fit(pd.DataFrame(pairs, columns=["system_a", "system_b", "preference"])))
    >>> round(found.deviance, 6), found.freedom, round(found.p, 3)
    (0.0, 1, 1.0)
    """
    observed, expected = _counts(fitted)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = 2 * float(np.where(observed > 0, observed * np.log(observed / expected), 0.0).sum())
        pearson = float(np.where(expected > 0, (observed - expected) ** 2 / expected, 0.0).sum())
    used = len(fitted.cells.systems) - 1 + len(fitted.place) + len(fitted.tie)
    freedom = len(observed) * (1 if fitted.ties == "half" else 2) - used
    if freedom < 1:
        return Fit(deviance, freedom, np.nan, np.nan)
    return Fit(deviance, freedom, float(stats.chi2.sf(deviance, freedom)), pearson / freedom)


def _counts(fitted: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Return observed and expected counts; ties that count half are shared out."""
    counts, expected = fitted.cells.counts, fitted.expected()
    if fitted.ties != "half":
        return counts, expected
    return counts[:, :2] + counts[:, 2:] / 2, expected[:, :2]


def residuals(fitted: Fitted) -> pd.DataFrame:
    """Return of each pair how often the first won (ties half), what the model expects, and the residual; worst first.

    residual: the difference over its standard deviation were answers independent.
    """
    cells, expected = fitted.cells, fitted.expected()
    counts = pd.DataFrame({
        "system_a": [cells.systems[k] for k in cells.one], "system_b": [cells.systems[k] for k in cells.other],
        "n": cells.counts.sum(axis=1), "won": cells.counts[:, 0] + cells.counts[:, 2] / 2,
        "expected": expected[:, 0] + expected[:, 2] / 2,
        "variance": (expected[:, 0] + expected[:, 2] / 4) - (expected[:, 0] + expected[:, 2] / 2) ** 2
        / cells.counts.sum(axis=1),
    })  # fmt: skip
    found = counts.groupby(["system_a", "system_b"], as_index=False).sum()
    gap = found["won"] - found["expected"]
    residual = np.divide(gap, np.sqrt(found["variance"]), out=np.zeros(len(found)), where=found["variance"] > 1e-12)
    found = found.assign(share=found["won"] / found["n"], expected=found["expected"] / found["n"], residual=residual)
    found = found.sort_values("residual", key=np.abs, ascending=False, ignore_index=True, kind="stable")
    found = found.astype({"n": int})
    return found[["system_a", "system_b", "n", "share", "expected", "residual"]]


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
    cells = fitted.cells
    three, found = _triples(cells), in_circles(cells)
    rng, total = np.random.default_rng(seed), cells.counts.sum(axis=1)
    shares = fitted.expected() / total[:, None]
    made = rng.multinomial(np.round(total).astype(int), shares / shares.sum(axis=1, keepdims=True), (draws, len(total)))
    chance = _turned(_leads(cells, made), three).sum(axis=1)
    return Circles(len(three), found, float(chance.mean()), float(((chance >= len(found)).sum() + 1) / (draws + 1)))


def in_circles(cells: Cells) -> list[tuple[str, str, str]]:
    """List the triples of systems that go in a circle, whichever way.

    >>> from evalkit.human.preferences.cells import of_wins
    >>> wins = pd.DataFrame([[0, 3, 1, 2], [1, 0, 3, 2], [3, 1, 0, 2], [2, 2, 2, 0]], [*"ABCD"], [*"ABCD"])
    >>> in_circles(of_wins(wins))
    [('A', 'B', 'C')]
    """
    three, name = _triples(cells), cells.systems
    turned = _turned(_leads(cells, cells.counts[None]), three)[0]
    return [(name[a], name[b], name[c]) for a, b, c in three[turned]]


def _triples(cells: Cells) -> np.ndarray:
    """List the triples of systems all of which met: (triples, 3)."""
    three = np.array(list(combinations(range(len(cells.systems)), 3)), int).reshape(-1, 3)
    met = np.zeros((len(cells.systems),) * 2, bool)
    met[cells.one, cells.other] = met[cells.other, cells.one] = True
    i, j, k = three.T
    return np.asarray(three[met[i, j] & met[j, k] & met[i, k]])


def _leads(cells: Cells, counts: np.ndarray) -> np.ndarray:
    """Return how much more often each system won than lost against each: (batch, systems, systems)."""
    lead = np.zeros((len(cells.systems), len(cells.systems), len(counts)))
    gap = (counts[..., 0] - counts[..., 1]).astype(float).T
    np.add.at(lead, (cells.one, cells.other), gap)
    np.add.at(lead, (cells.other, cells.one), -gap)
    return lead.transpose(2, 0, 1)


def _turned(lead: np.ndarray, three: np.ndarray) -> np.ndarray:
    """Tell which triples go round, in either direction: (batch, triples)."""
    i, j, k = three.T
    round_ = np.stack([lead[:, i, j], lead[:, j, k], lead[:, k, i]])
    return np.asarray((round_ > 0).all(axis=0) | (round_ < 0).all(axis=0))
