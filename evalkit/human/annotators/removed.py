"""Were those who failed a test of attention removed before the data were released?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

#: Least share of those near the limit who fail, if nobody was removed; see ``removed``.
SHARE = 0.25


class Caliper(NamedTuple):
    """How many annotators pass a test narrowly, how many fail it as narrowly, and how likely so few are by chance."""

    passed: int
    failed: int
    p: float


def removed(p_values: ArrayLike, *, limit: float = 0.05, width: float = 0.025, share: float = SHARE) -> Caliper:
    r"""Count the p-values just below and just above a limit: where many pass narrowly, some must fail narrowly.

    p_values: one an annotator, NaN for those without. Narrowly is up to ``width`` below or above the limit. ``p`` is
    that of so few failures or fewer, :math:`P(X \le \text{failed})` with X binomial of all narrow ones at ``share``.
    A one-sided test whose statistic lies :math:`\delta` standard errors from zero on average has its p-value above the
    limit in a share of narrow cases that is 1/2 for :math:`\delta = 0`, .32 for 3, and 1/4 for 4.2; those with a larger
    :math:`\delta` hardly come near the limit. So ``p`` is small where failures were taken out, and nothing else needs
    to be known of the data. Source: the caliper test of Gerber & Malhotra 2008, there for published p-values.
    Caveat: it cannot see a removal where few come near the limit, and nobody need have been removed on purpose.

    >>> removed([0.03] * 30 + [0.001] * 80)
    Caliper(passed=30, failed=0, p=0.00017858...)
    >>> removed([0.03, 0.06, 0.001]).p
    0.9375
    """
    values = np.asarray(p_values, dtype=float)
    passed = int(((values >= limit - width) & (values < limit)).sum())
    failed = int(((values >= limit) & (values < limit + width)).sum())
    return Caliper(passed, failed, float(stats.binom.cdf(failed, passed + failed, share)))
