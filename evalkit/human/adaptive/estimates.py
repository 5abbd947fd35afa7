r"""Estimate systems' means from judgements that were steered, by what the log says of probabilities.

With :math:`\pi_t` the probability that screen t shows a system, and :math:`m_t` a guess of its mean from earlier
screens, each screen scores :math:`\Gamma_t = m_t + 1_t (y_t - m_t) / \pi_t`, whose mean is the system's whatever chose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.human.adaptive.replaying import Log


@dataclass(frozen=True)
class Estimate:
    """Means and their standard errors, (campaigns, systems); NaN where a system was not judged."""

    means: np.ndarray
    errors: np.ndarray

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends of a normal interval, for one look at the end."""
        wide = stats.norm.ppf((1 + level) / 2) * self.errors
        return self.means - wide, self.means + wide


def plain(log: Log) -> Estimate:
    """Average what was judged, as if nobody had steered."""
    return ratio(log.scores, log.shown.astype(float))


def weighted(log: Log) -> Estimate:
    """Weigh each judgement by one over its probability, and divide by the screens (Horvitz & Thompson 1952)."""
    return _average(screens(log), (log.probability > 0).astype(float))


def stabilised(log: Log) -> Estimate:
    """Weigh each judgement by one over its probability, and divide by the sum of weights (Hájek 1971)."""
    return ratio(log.scores, np.where(log.shown, 1 / np.where(log.shown, log.probability, 1), 0))


def augmented(log: Log) -> Estimate:
    """Weigh only how far a judgement is from the mean so far (augmented; Robins et al. 1994)."""
    return _average(screens(log, earlier(log)), (log.probability > 0).astype(float))


def adaptive(log: Log) -> Estimate:
    r"""Weigh screens by :math:`\sqrt{\pi_t}` besides, so that their variances are even (Hadad et al. 2021)."""
    return _average(screens(log, earlier(log)), np.sqrt(log.probability))


#: A name, as the study prints it -> how means are estimated.
ESTIMATES: dict[str, Callable[[Log], Estimate]] = {
    "plain mean": plain,
    "weighted": weighted,
    "weighted, stabilised": stabilised,
    "augmented": augmented,
    "augmented, adaptive weights": adaptive,
}


def earlier(log: Log) -> np.ndarray:
    """Return the mean of a system's judgements on earlier screens, and of any system's before it has one."""
    known = np.where(log.shown, log.scores, 0)
    sums, counts = (np.cumsum(part, axis=1) - part for part in (known, log.shown.astype(float)))
    everyone = sums.sum(axis=2, keepdims=True) / np.maximum(counts.sum(axis=2, keepdims=True), 1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), everyone)


def screens(log: Log, guess: np.ndarray | float = 0.0) -> np.ndarray:
    r"""Return what each screen says of each system's mean, the :math:`\Gamma_t` above, with guesses of these means."""
    weights = np.where(log.shown, 1 / np.where(log.shown, log.probability, 1), 0)
    return guess + weights * (np.where(log.shown, log.scores, 0) - guess * log.shown)


def score(log: Log, truth: np.ndarray, *, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Tell how far each estimate is from the truth: estimate, place, bias, noise, rmse, coverage, width, judgements.

    truth: (systems,). place: a system's number. noise: standard error of the bias, from the number of campaigns.
    width: mean length of the 95 % intervals, whose share that hold the truth is ``coverage``.
    """
    parts = []
    for name in names or list(ESTIMATES):
        found = ESTIMATES[name](log)
        low, high = found.interval()
        off = found.means - truth
        held = np.where(np.isfinite(low), (low <= truth) & (truth <= high), np.nan)
        columns = {
            "bias": off,
            "rmse": off**2,
            "coverage": held,
            "width": high - low,
            "judgements": log.shown.sum(axis=1),
        }
        part = pd.DataFrame({column: np.nanmean(values, axis=0) for column, values in columns.items()})
        part.insert(1, "noise", np.nanstd(off, axis=0, ddof=1) / np.sqrt(len(off)))
        part["rmse"] **= 0.5
        part.insert(0, "place", np.arange(len(part)))
        part.insert(0, "estimate", name)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def ratio(scores: np.ndarray, weights: np.ndarray) -> Estimate:
    """Average judgements by weights, with the error of a ratio, and one degree of freedom less.

    scores: (campaigns, screens, systems), of any value where the weight is 0. weights: alike, 0 or more.
    """
    counts = (weights > 0).sum(axis=1)
    found = _average(np.where(weights > 0, scores, 0), weights)
    return Estimate(found.means, found.errors * np.sqrt(counts / np.maximum(counts - 1, 1)))


def _average(screens: np.ndarray, weights: np.ndarray) -> Estimate:
    """Average over screens, with the error that a martingale has."""
    total = weights.sum(axis=1)
    means = np.divide((weights * screens).sum(axis=1), total, where=total > 0, out=np.full(total.shape, np.nan))
    squares = (weights**2 * (screens - means[:, None]) ** 2).sum(axis=1)
    return Estimate(means, np.sqrt(squares) / np.where(total > 0, total, np.nan))
