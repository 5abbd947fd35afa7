"""Agreement and inference: bootstraps over patterns of ratings, units drawn by counts, exact tests."""

import krippendorff
import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats import inter_rater

from evalkit.stats import agreement, inference


def bootstrap(scores, name, level):
    """Estimate one coefficient with 1,000 resamples, from the table of scores to the finished row."""
    return lambda: agreement.coefficients(scores, measures=[(name, level)], resamples=1000)


def loop_statsmodels(counts, resamples):
    rng = np.random.default_rng(1)
    return lambda: [
        inter_rater.fleiss_kappa(counts[rng.integers(0, len(counts), len(counts))]) for _ in range(resamples)
    ]


def loop_krippendorff(scores, level, resamples):
    rng, matrix = np.random.default_rng(1), scores.to_numpy().T
    return lambda: [
        krippendorff.alpha(matrix[:, rng.integers(0, len(scores), len(scores))], level_of_measurement=level)
        for _ in range(resamples)
    ]


def coefficients():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    rng = np.random.default_rng(7)
    truth = rng.integers(1, 6, (10_000, 1))

    def ratings(annotators):
        noise = rng.integers(1, 6, (10_000, annotators))
        return pd.DataFrame(np.where(rng.random(noise.shape) < 0.6, truth, noise).astype(float))

    three, many = ratings(3), ratings(20)
    gaps = many.mask(rng.random(many.shape) < 0.3)
    counts = [inter_rater.aggregate_raters(table.to_numpy(int))[0] for table in (three, many)]
    size = "10,000 items × 3 annotators × 5 categories"
    yield (
        f"Fleiss, {size}",
        100,
        bootstrap(three, "fleiss_kappa", "none"),
        loop_statsmodels(counts[0], 1000),
        1,
        "statsmodels fleiss_kappa",
    )
    for level in ("nominal", "ordinal", "interval"):
        yield (
            f"alpha {level}, {size}",
            500,
            bootstrap(three, "krippendorff_alpha", level),
            loop_krippendorff(three, level, 50),
            0.05,
            "krippendorff",
        )
    yield (
        "Fleiss, 10,000 × 20 annotators, 30 % missing, rows seldom alike",
        5,
        bootstrap(gaps, "fleiss_kappa", "none"),
        loop_statsmodels(counts[1], 1000),
        1,
        "statsmodels fleiss_kappa without gaps, which it refuses",
    )


def draws():
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
        lambda: inference.sign_flips(differences.T, resamples=1, seed=7),
        lambda: [
            stats.permutation_test((column,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True)
            for column in differences.T[:10]
        ],
        10 / 990,
        "scipy permutation_test, one difference after another",
    )


def cases():
    """Yield all of them."""
    yield from coefficients()
    yield from draws()
