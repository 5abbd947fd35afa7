"""The interval of a share of trials."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def share_interval(hits: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the exact interval of a share (Clopper & Pearson 1934); 0 and 1 where nothing was tried.

    hits, trials: counts, broadcast. Caveat: it holds at least as often as it says, for small counts more often.

    >>> [end.round(3).tolist() for end in share_interval([0, 5], 10)]
    [[0.0, 0.187], [0.308, 0.813]]
    """
    hits, trials, tail = np.asarray(hits), np.asarray(trials), (1 - level) / 2
    low = np.nan_to_num(stats.beta.ppf(tail, hits, trials - hits + 1), nan=0.0)
    return low, np.nan_to_num(stats.beta.ppf(1 - tail, hits + 1, trials - hits), nan=1.0)
