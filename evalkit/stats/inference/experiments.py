"""How often a test finds what is there: power, by repeating an experiment that is made up from known truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalkit.stats.inference import blocks


def power(
    experiment: Callable[[int, np.random.Generator], np.ndarray],
    *,
    simulations: int,
    seed: int,
    alpha: float = 0.05,
    level: float = 0.95,
    workers: int = 1,
    scheduler: str | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate how often a test says p <= ``alpha``, with the interval that the number of simulations leaves.

    experiment: ``(count, rng)`` to the p-values of ``count`` simulated experiments, (count, ...); with an effect built
    in, the share is the test's power, without one its rate of false alarms. A missing p-value is no finding.
    Returns share, low and high, unitless: Clopper & Pearson 1934, exact at ``level``.

    >>> share, low, high = power(lambda count, rng: rng.random(count), simulations=2000, seed=7)
    >>> bool(low < 0.05 < high)
    True
    """
    from statsmodels.stats.proportion import proportion_confint

    parts = blocks.in_blocks(experiment, simulations, seed=seed, workers=workers, scheduler=scheduler)
    found = sum((np.asarray(p) <= alpha).sum(axis=0) for p in parts)
    low, high = proportion_confint(found, simulations, alpha=1 - level, method="beta")
    return found / simulations, np.asarray(low), np.asarray(high)
