"""Whether one scale of strengths fits comparisons: pairs that answer otherwise, circles, and more than chance makes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.human.preferences.cells import Cells
from evalkit.human.preferences.fitting import Fitted, Model
from evalkit.stats.widths import crossed_variance


class Departure(NamedTuple):
    """How far one part of a model is from what was answered.

    freedom: how much else that part could have said; where it is 0, nothing can contradict the part. statistic: the
    chi-squared of a score test, were answers independent. effect: by how much answers that share a unit widen it.
    """

    freedom: int
    statistic: float
    effect: float
    p: float


class Fit(NamedTuple):
    """Deviance against a model with shares of its own for each cell, its degrees of freedom, dispersion, and two tests.

    dispersion: Pearson's X² over the degrees of freedom: 1 where answers are independent and the model is right.
    strengths: against a lead of its own for each pair. ties: against ties of its own for each pair.
    """

    deviance: float
    freedom: int
    dispersion: float
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

    >>> from evalkit.human.preferences.fitting import fit
    >>> pairs = [("A", "B", "a"), ("A", "B", "b"), ("B", "C", "a"), ("B", "C", "b"), ("A", "C", "a"), ("A", "C", "b")]
    >>> pairs = pd.DataFrame(pairs, columns=["system_a", "system_b", "preference"])
    >>> goodness(fit(pairs)).strengths.freedom, goodness(fit(pairs.head(4))).strengths.freedom  # a circle, a tree
    (1, 0)
    """
    cells, units = fitted.cells, units or {}
    observed, expected = _counts(fitted)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = 2 * float(np.where(observed > 0, observed * np.log(observed / expected), 0.0).sum())
        pearson = float(np.where(expected > 0, (observed - expected) ** 2 / expected, 0.0).sum())
    used = len(cells.systems) - 1 + len(fitted.place) + len(fitted.tie)
    freedom = len(observed) * (1 if fitted.ties == "half" else 2) - used
    pair = np.unique(np.stack([cells.one, cells.other]), axis=1, return_inverse=True)[1].ravel()
    own = np.eye(pair.max() + 1)[pair]
    none = np.zeros_like(own)
    parts = _departure(fitted, np.stack([own, none]), units), _departure(fitted, np.stack([none, own]), units)
    return Fit(deviance, freedom, pearson / freedom if freedom > 0 else np.nan, *parts)


def _departure(fitted: Fitted, more: np.ndarray, units: Mapping[str, np.ndarray]) -> Departure:
    """Test whether parameters more would fit better: (2, cells, parameters), how they act on a cell's lead and ties."""
    cells, model = fitted.cells, Model(fitted.cells, ties=fitted.ties, place=bool(len(fitted.place)))
    values = np.concatenate([fitted.strength, fitted.place, fitted.tie])[None]
    lead, tie = model.lead.toarray(), model.tie.toarray()
    design = np.stack([np.pad(lead, ((0, 0), (0, tie.shape[1]))), np.pad(tie, ((0, 0), (lead.shape[1], 0)))])
    curve = model.slopes(fitted.expected()[None], values)
    information = np.array([[curve.dd[0], curve.dt[0]], [curve.dt[0], curve.tt[0]]])

    def product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("icp,ijc,jcq->pq", one, information, other, optimize=True))

    known = np.linalg.pinv(product(design, design), hermitian=True)
    rest = more - design @ (known @ product(design, more))  # what the fitted parameters do not say already
    size, axes = np.linalg.eigh(product(rest, rest))
    free = size > 1e-9 * max(np.trace(product(more, more)), 1e-9)
    answer = model.slopes(np.broadcast_to(np.eye(3)[:, None], (3, *cells.counts.shape)), values)
    axes = rest @ (axes[:, free] / np.sqrt(size[free]))
    score = np.einsum(
        "iac,icq->caq", np.stack(np.broadcast_arrays(answer.d, answer.t)), axes
    )  # of each cell and answer
    statistic, freedom = float((np.einsum("ca,caq->q", cells.counts, score) ** 2).sum()), int(free.sum())
    if not freedom:
        return Departure(0, statistic, np.nan, np.nan)
    units = {kind: own for kind, own in units.items() if len(np.unique(own)) > 1}
    if not units:
        return Departure(freedom, statistic, 1.0, float(stats.chi2.sf(statistic, freedom)))
    each, spreads = score.reshape(-1, freedom)[cells.where], {}
    for kinds in chain.from_iterable(combinations(sorted(units), number + 1) for number in range(len(units))):
        code = np.unique(np.stack([units[kind] for kind in kinds]), axis=1, return_inverse=True)[1].ravel()
        sums = np.eye(code.max() + 1)[code].T @ each
        spreads[kinds] = ((sums - sums.mean(axis=0)) ** 2).sum() / freedom * len(sums) / max(len(sums) - 1, 1)
    effect, fewest = max(1.0, float(crossed_variance(spreads))), min(len(np.unique(own)) for own in units.values())
    p = stats.f.sf(statistic / freedom / effect, freedom, freedom * (fewest - 1))
    return Departure(freedom, statistic, effect, float(p))


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
    counts = pd.DataFrame(
        {
            "system_a": [cells.systems[k] for k in cells.one],
            "system_b": [cells.systems[k] for k in cells.other],
            "n": cells.counts.sum(axis=1),
            "won": cells.counts[:, 0] + cells.counts[:, 2] / 2,
            "expected": expected[:, 0] + expected[:, 2] / 2,
            "variance": (expected[:, 0] + expected[:, 2] / 4)
            - (expected[:, 0] + expected[:, 2] / 2) ** 2 / cells.counts.sum(axis=1),
        }
    )
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
