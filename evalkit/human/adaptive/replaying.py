"""Replay real judgements as if systems had been chosen while scores came in.

Scores are drawn from judgements that are there, so that the true mean of each system is known: it is that of all of
them. On a screen an annotator judges one text as several systems translated it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalkit import DataError
from evalkit.human.adaptive.policies import Policy, State

#: Times that each system is shown, drawn evenly, before scores have a say; ``dynamic_coldstart`` of WMT26.
START = 20


@dataclass(frozen=True)
class Log:
    """Campaigns as they were logged, each array (campaigns, screens, systems).

    scores: NaN where a screen did not show a system. probability: that the screen would show it, given what was known
    before; 0 where it could not.
    """

    scores: np.ndarray
    probability: np.ndarray

    @property
    def shown(self) -> np.ndarray:
        """Which systems each screen showed."""
        return np.isfinite(self.scores)

    def of(self, systems: Sequence[int]) -> Log:
        """Return what the campaigns logged of some systems, in this order."""
        places = list(systems)
        return Log(self.scores[..., places], self.probability[..., places])


def draw(
    grid: np.ndarray,
    *,
    campaigns: int,
    screens: int,
    rng: np.random.Generator,
    alike: Sequence[int] = (),
    shared: bool = True,
) -> np.ndarray:
    """Draw what every system would be given on every screen: (campaigns, screens, systems).

    grid: systems × texts, a score for each; NaN only where ``shared`` is false. shared: all systems of a screen
    translate one text; else each has texts of its own, for judgements that no two systems share. alike: systems that
    exchange their names at random on every screen, so that they do not differ at all.
    """
    if shared and np.isnan(grid).any():
        raise DataError("Some systems lack scores of some texts. Leave these texts out, or draw with shared=False.")
    shape, systems = (campaigns, screens), np.arange(len(grid))
    if shared:
        drawn = grid[:, rng.integers(grid.shape[1], size=shape)].transpose(1, 2, 0)
    else:
        pools = [row[np.isfinite(row)] for row in grid]
        drawn = np.stack([pool[rng.integers(len(pool), size=shape)] for pool in pools], axis=2)
    if len(alike):
        rows = np.asarray(alike)
        order = np.broadcast_to(systems, drawn.shape).copy()
        order[..., rows] = rng.permuted(order[..., rows], axis=-1)
        drawn = np.take_along_axis(drawn, order, axis=-1)
    return drawn


def steer(
    drawn: np.ndarray, policy: Policy, *, rng: np.random.Generator, shown: int = 3, start: int = START, every: int = 10
) -> Log:
    """Let a policy choose what is seen of drawn scores.

    drawn: what ``draw`` returns. shown: systems a screen. start: screens are even until each system was shown about so
    often. every: screens that are given out before the policy looks at scores again, as people work at the same time.
    Raises DataError where a screen would show more systems than there are.
    """
    campaigns, screens, systems = drawn.shape
    if not 1 <= shown <= systems:
        raise DataError(f"A screen cannot show {shown} of {systems} systems. Choose from 1 to {systems}.")
    even = np.full((campaigns, systems), shown / systems)
    chance, scores, sums = np.empty_like(drawn), np.full_like(drawn, np.nan), np.zeros((3, campaigns, systems))
    warm = -(-systems * start // shown)
    for first in [*range(0, min(warm, screens), every), *range(warm, screens, every)]:
        last = min(first + every, warm if first < warm else screens, screens)
        now = even if first < warm else policy(_state(sums), shown, rng)
        chance[:, first:last] = now[:, None]
        seen = chosen(chance[:, first:last], rng)
        scores[:, first:last] = np.where(seen, drawn[:, first:last], np.nan)
        for power in range(3):
            sums[power] += np.where(seen, drawn[:, first:last] ** power, 0).sum(axis=1)
    return Log(scores, chance)


def chosen(chance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose systems so that each has the probability that is asked for, and every screen shows equally many.

    chance: (…, systems), from 0 to 1, sums are whole. Systematic sampling in random order (Madow 1949): a step of 1
    along the summed probabilities, from a random start.
    """
    order = rng.random(chance.shape).argsort(axis=-1)
    ends = np.cumsum(np.take_along_axis(chance, order, axis=-1), axis=-1)
    ends[..., -1] = np.round(ends[..., -1])
    steps = np.ceil(ends - rng.random((*chance.shape[:-1], 1)))
    hit = np.diff(steps, axis=-1, prepend=0) > 0
    found = np.zeros(chance.shape, bool)
    np.put_along_axis(found, order, hit, axis=-1)
    return found


def _state(sums: np.ndarray) -> State:
    """Turn counts, sums and sums of squares into what policies know; one that nobody saw is taken for the best."""
    counts = np.maximum(sums[0], 1)
    means = sums[1] / counts
    spread = np.clip(sums[2] / counts - means**2, 0, None) * counts / np.maximum(counts - 1, 1)
    return State(sums[0], np.where(sums[0] > 0, means, np.inf), spread)
