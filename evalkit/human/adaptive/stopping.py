"""May a campaign stop now? Rules that look again and again, and how often they name a winner where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.human.adaptive import estimates, sequences
from evalkit.human.adaptive.replaying import Log
from evalkit.stats.inference import share_interval

#: Screens after which the first look is taken, and those between looks: a day's work.
FIRST, DAY = 40, 20
#: Screens with both systems at which ``shared_sequence`` is tightest; it speaks from half as many on.
SHARED = 50
#: Points at which ``repeated`` follows a density.
NODES = 200


@dataclass(frozen=True)
class Looks:
    """When a campaign is looked at, and how sure one wants to be. screens: their numbers, counted from 1.

    share: of what was planned, that is there at each look, up to 1; None: the last look is the end.
    """

    screens: np.ndarray
    alpha: float = 0.05
    scale: tuple[float, float] = (0.0, 100.0)
    share: np.ndarray | None = None

    @property
    def last(self) -> Looks:
        """Only the last look."""
        return Looks(self.screens[-1:], self.alpha, self.scale)


def looks(
    screens: int,
    *,
    first: int = FIRST,
    every: int = DAY,
    alpha: float = 0.05,
    scale: tuple[float, float] = (0.0, 100.0),
) -> Looks:
    """Look every day of a campaign of so many screens, and at its end.

    >>> looks(90).screens.tolist()
    [40, 60, 80, 90]
    """
    return Looks(np.unique([*range(min(first, screens), screens + 1, every), screens]), alpha, scale)


def daily_test(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Test the plain means of two systems at every look as if it were the only one (Welch 1947)."""
    return _beyond(_standardised(log, first, second, when), stats.norm.ppf(1 - when.alpha / 2))


def planned_test(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    r"""Test the plain means at every look, the more strictly the earlier, up to an end that was planned before.

    With :math:`t` the share of the planned screens, the bound is :math:`\Phi^{-1}(1 - \alpha/4)/\sqrt{t}`: a path of
    chance stays within it until the end with :math:`1 - \alpha` or more, by the reflection principle (O'Brien &
    Fleming 1979; Lan & DeMets 1983). Caveat: screens stand for information, which steering spreads unevenly.
    """
    share = when.screens / when.screens[-1] if when.share is None else when.share
    bound = stats.norm.ppf(1 - when.alpha / 4) / np.sqrt(share)
    return _beyond(_standardised(log, first, second, when), bound)


def final_test(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Test the plain means once, at the end."""
    return _late(daily_test(log, first, second, when.last), when)


def weighted_test(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Test once, at the end, by what each screen says of the difference, weighted by probabilities."""
    gained, both = _difference(log, first, second)
    count = both.sum(axis=1)
    mean = np.where(both, gained, 0).sum(axis=1) / count
    error = np.sqrt(np.where(both, (gained - mean[:, None]) ** 2, 0).sum(axis=1) / (count - 1) / count)
    return _late(_beyond(mean / error, stats.norm.ppf(1 - when.alpha / 2))[:, None], when)


def separate(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Hold the intervals of each system's own mean side by side: they part when they do not overlap."""
    low, high = zip(*(_own(log, place, when) for place in (first, second)), strict=True)
    return np.where(low[0] > high[1], 1.0, np.where(low[1] > high[0], -1.0, 0.0))


def shared(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Bet on the difference on screens that show both systems: no probabilities are needed."""
    both = log.shown[..., first] & log.shown[..., second]
    gap = np.where(both, log.scores[..., first] - log.scores[..., second], 0) / (when.scale[1] - when.scale[0])
    up, down = (np.maximum.accumulate(sequences.wealth(sign * gap, both), axis=1) for sign in (1, -1))
    sure = np.log(2 / when.alpha)
    return np.where(up >= sure, 1.0, np.where(down >= sure, -1.0, 0.0))[:, when.screens - 1]


def shared_sequence(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Follow the difference on screens that show both by an interval that holds at all looks, once there are many."""
    gap, both = log.scores[..., first] - log.scores[..., second], log.shown[..., first] & log.shown[..., second]
    low, high = sequences.asymptotic(gap, both, tuned=SHARED, alpha=when.alpha, start=SHARED // 2)
    found = np.where(low > 0, 1.0, np.where(high < 0, -1.0, 0.0))
    return found[:, when.screens - 1]


def weighted_sequence(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Follow the weighted difference by an interval that holds at all looks, once there are many screens."""
    gained, both = _difference(log, first, second)
    how = {"tuned": gained.shape[1] // 2, "start": int(when.screens[0])}
    low, high = sequences.asymptotic(gained, both, alpha=when.alpha, **how)
    found = np.where(low > 0, 1.0, np.where(high < 0, -1.0, 0.0))
    return found[:, when.screens - 1]


def separate_sequence(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Hold intervals of each system's mean side by side that hold at all looks, once there are many screens."""
    how: dict[str, Any] = {"tuned": SHARED, "alpha": when.alpha / 2, "start": SHARED // 2}
    low, high = zip(
        *(sequences.asymptotic(log.scores[..., place], log.shown[..., place], **how) for place in (first, second)),
        strict=True,
    )
    found = np.where(low[0] > high[1], 1.0, np.where(low[1] > high[0], -1.0, 0.0))
    return found[:, when.screens - 1]


#: A rule -> campaigns × looks: 1 if it says that the first system is better, -1 the second, 0 not yet.
RULES: dict[str, Callable[[Log, int, int, Looks], np.ndarray]] = {
    "a test at every look": daily_test,
    "a strict test at every look": planned_test,
    "a test at the end": final_test,
    "a weighted test at the end": weighted_test,
    "intervals of each system": separate,
    "bets on shared screens": shared,
    "interval of shared screens": shared_sequence,
    "interval of the weighted difference": weighted_sequence,
}
#: Rules that may be asked at every look.
ANY_TIME = (
    "a strict test at every look",
    "intervals of each system",
    "bets on shared screens",
    "interval of shared screens",
    "interval of the weighted difference",
)


def verdicts(log: Log, pair: tuple[int, int], when: Looks, *, names: Iterable[str] = tuple(RULES)) -> pd.DataFrame:
    """Ask each rule at every look whether one of two systems is better: a row a rule and campaign.

    Returns rule, verdict (1: the first, -1: the second, 0: never one), screens (at the first verdict; else all), saved
    (the share of screens that were not needed then), nominal (how often a rule may be wrong).
    """
    parts = []
    for name in names:
        found = RULES[name](log, *pair, when)
        at = np.where(found.any(axis=1), (found != 0).argmax(axis=1), -1)
        screens = when.screens[at]
        parts.append(
            pd.DataFrame(
                {
                    "rule": name,
                    "verdict": found[np.arange(len(found)), at].astype(int),
                    "screens": screens,
                    "saved": 1 - screens / when.screens[-1],
                    "nominal": when.alpha,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def rates(found: pd.DataFrame, *, better: int = 0) -> pd.DataFrame:
    """Count campaigns in which a rule says that one of two systems is better: a row a rule, in their order.

    found: what ``verdicts`` returns, of one kind of campaigns. better: 1 if the first is truly better, and only that
    verdict counts; 0 if they do not differ, so that either is a false alarm.
    Returns rule, rate, low, high (95 %), nominal (missing where they differ), saved (mean), campaigns.
    """
    hit = found["verdict"].eq(better) if better else found["verdict"].ne(0)
    by_rule = found.assign(hit=hit).groupby("rule", sort=False)
    table = by_rule.agg(
        hits=("hit", "sum"), campaigns=("hit", "size"), nominal=("nominal", "max"), saved=("saved", "mean")
    ).reset_index()
    low, high = share_interval(table["hits"], table["campaigns"])
    table = table.assign(rate=table["hits"] / table["campaigns"], low=low, high=high)
    table["nominal"] = np.nan if better else table["nominal"]
    return table[["rule", "rate", "low", "high", "nominal", "saved", "campaigns"]]


def repeated(looks: int, *, alpha: float = 0.05) -> float:
    r"""Return the chance that a test at each of some looks finds a difference where there is none.

    Looks come after equally many normal scores each, whose variance is known. The density of sums that no look has
    stopped is followed from look to look, by Gauss and Legendre's quadrature within :math:`\pm z\sqrt{k}`.
    Source: Armitage, McPherson & Rowe 1969. Caveat: chances below 1e-8 are lost.

    >>> [round(repeated(looks), 3) for looks in (1, 2, 5, 10)]
    [0.05, 0.083, 0.142, 0.193]
    """
    bound, (nodes, weights) = stats.norm.ppf(1 - alpha / 2), np.polynomial.legendre.leggauss(NODES)
    at, density = nodes * bound, stats.norm.pdf(nodes * bound)
    for look in range(2, looks + 1):
        before, at = at, nodes * bound * np.sqrt(look)
        density = stats.norm.pdf(at[:, None] - before) @ (weights * bound * np.sqrt(look - 1) * density)
    return float(1 - (weights * bound * np.sqrt(looks) * density).sum())


def _standardised(log: Log, first: int, second: int, when: Looks) -> np.ndarray:
    """Return the difference of plain means over its standard error at every look, missing without two judgements."""
    found, at = log.of((first, second)), when.screens - 1
    counts = np.cumsum(found.shown, axis=1)[:, at].astype(float)
    known = np.where(found.shown, found.scores, 0)
    sums, squares = (np.cumsum(known**power, axis=1)[:, at] for power in (1, 2))
    counts[counts < 2] = np.nan
    means = sums / counts
    errors = np.clip(squares / counts - means**2, 0, None) / (counts - 1)
    total = errors.sum(axis=2)
    return (means[..., 0] - means[..., 1]) / np.sqrt(np.where(total > 0, total, np.nan))


def _beyond(off: np.ndarray, bound: np.ndarray | float) -> np.ndarray:
    return np.where(np.abs(off) > bound, np.sign(off), 0)


def _late(found: np.ndarray, when: Looks) -> np.ndarray:
    """Put a verdict of the end behind looks that had none."""
    return np.concatenate([np.zeros((len(found), len(when.screens) - 1)), found], axis=1)


def _own(log: Log, place: int, when: Looks) -> tuple[np.ndarray, np.ndarray]:
    """Return one system's running interval, at half the risk, at the looks."""
    scores = (log.scores[..., place] - when.scale[0]) / (when.scale[1] - when.scale[0])
    ends = sequences.empirical_bernstein(scores, log.shown[..., place], alpha=when.alpha / 2)
    return ends[0][:, when.screens - 1], ends[1][:, when.screens - 1]


def _difference(log: Log, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what each screen says of the difference of two systems, and where both could have been shown."""
    both = log.of((first, second))
    said = estimates.screens(both, estimates.earlier(both))
    return said[..., 0] - said[..., 1], both.probability.min(axis=-1) > 0
