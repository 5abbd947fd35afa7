"""Agreement across two sets of people who judged the same items: one replication of an experiment against another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evalkit.stats.correlation import ratio


def cross_replication(here: ArrayLike, there: ArrayLike, squares: ArrayLike, counts: ArrayLike) -> np.ndarray:
    """Return the agreement beyond chance of a person of one replication with a person of the other, (batch,).

    here, there: (items,) means of the judgements of an item in either. squares: (items,) the mean square of the one
    plus that of the other. counts: (batch, items) how often each item counts.
    It is 1 - D/E, where D is the mean squared difference of a judgement here and one there of the same item, and E that
    of any two items; each item counts once. So it is built as Krippendorff's alpha of interval data, but compares
    nobody with their own side; with one judgement an item on either side it is Lin's concordance correlation. NaN
    where all judgements are the same.
    Source: Wong, Paritosh & Aroyo 2021, cross-replication reliability, with squared differences; Lin 1989.

    >>> here, there = np.array([1.0, 2, 3]), np.array([2.0, 3, 4])  # one judgement each
    >>> cross_replication(here, there, here**2 + there**2, np.ones((1, 3))).round(3).tolist()
    [0.571]
    """
    here, there, squares, counts = (np.asarray(one, float) for one in (here, there, squares, counts))
    centre = np.mean([here, there])  # little is lost by cancellation
    squares = squares - 2 * centre * (here + there) + 2 * centre**2
    x, y = here - centre, there - centre
    size = counts.sum(axis=1)
    square, product, mean_x, mean_y = (counts @ part / size for part in (squares, x * y, x, y))
    chance = square - 2 * mean_x * mean_y
    return 1 - ratio(square - 2 * product, np.where(chance > 1e-12 * (1 + centre**2), chance, 0))
