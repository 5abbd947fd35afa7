"""Inference: units drawn by their counts, exact permutation tests of many statistics at once."""

import numpy as np
from scipy import stats

from evalkit.stats import inference


def cases():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    rng = np.random.default_rng(7)
    score, document = rng.normal(size=10_000), rng.integers(0, 500, 10_000)
    rows = [np.flatnonzero(document == name) for name in np.unique(document)]

    def by_hand():
        for _ in range(200):
            score[np.concatenate([rows[i] for i in rng.integers(0, len(rows), len(rows))])].mean()

    # A loop over one mean is lean: the goal is not to be slower. Drawing by counts serves any statistic.
    yield (
        "bootstrap of 500 documents with 10,000 scores, 10,000 resamples",
        1,
        lambda: inference.resample(lambda counts: counts @ score / counts.sum(1), document, resamples=10_000, seed=7),
        by_hand,
        0.02,
        "a loop that draws documents and joins their rows",
    )
    differences = rng.normal(size=(15, 990))
    yield (
        "exact swap test, 15 systems, 990 differences",
        100,
        lambda: inference.permutation_test(
            lambda swapped: abs((1 - 2.0 * swapped) @ differences), inference.Swaps(15), seed=7
        ),
        lambda: [
            stats.permutation_test((column,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True)
            for column in differences.T[:10]
        ],
        10 / 990,
        "scipy permutation_test, one difference after another",
    )
