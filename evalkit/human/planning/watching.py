"""What it costs, and saves, to look at a campaign every day and to stop once the difference is sure."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import integrate, optimize, stats


def crossed(shift: float, share: float = 1.0, *, alpha: float = 0.05) -> float:
    r"""Return the chance that a watched campaign has found the better system after a share of its judgements.

    shift: the true difference over the standard error that all planned judgements would have. The rule is
    ``stopping.planned_test``: with :math:`b = \Phi^{-1}(1 - \alpha/4)`, stop where the standardised difference passes
    :math:`b/\sqrt{t}`. Looks are taken as endless; with few, the chance is a little smaller. Of a Brownian motion with
    drift :math:`\theta`, this is :math:`\Phi(\theta\sqrt t - b/\sqrt t) + e^{2 \theta b} \Phi(-\theta\sqrt t -
    b/\sqrt t)`.

    >>> [round(crossed(2.8, share), 2) for share in (0.25, 0.5, 1.0)]
    [0.0, 0.15, 0.78]
    """
    if share <= 0:
        return 0.0
    root, bound = math.sqrt(share), stats.norm.ppf(1 - alpha / 4)
    up = 2 * shift * bound + stats.norm.logcdf(-shift * root - bound / root)
    return float(stats.norm.cdf(shift * root - bound / root) + math.exp(up))


def watched(*, power: float = 0.8, alpha: float = 0.05) -> pd.DataFrame:
    """Set a test at the end beside a strict test every day: rule, planned, needed, both as multiples of the former.

    power: the chance to find the difference that is planned for. planned: judgements that must be planned. needed: that
    are judged on average if the difference is what was planned for; what stops early saves the rest.
    Caveat: scores are taken as many, and as sure one day as the next; that is not so where leaders are shown more.

    >>> watched(power=0.8).round(2).values.tolist()
    [['a test at the end', 1.0, 1.0], ['a strict test at every look', 1.06, 0.77]]
    """
    end = stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power)
    shift = optimize.brentq(lambda one: crossed(one, alpha=alpha) - power, end / 2, 2 * end)
    left, _ = integrate.quad(lambda share: 1 - crossed(shift, share, alpha=alpha), 0, 1)
    planned = np.square(shift / end)
    return pd.DataFrame(
        {
            "rule": ["a test at the end", "a strict test at every look"],
            "planned": [1.0, planned],
            "needed": [1.0, planned * left],
        }
    )
