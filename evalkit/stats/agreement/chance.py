r"""Chance-corrected agreement, :math:`(p_a - p_e) / (1 - p_e)`, for any number of annotators who may skip items.

Each coefficient is prepared once for the distinct patterns of ratings, and then evaluated for many vectors of how often
each pattern occurs: the observed one, bootstrap draws, jackknife samples. Every function here has the form
``prepare(coded, level, copies) -> Estimate``. ``copies`` (annotators,) says how often each annotator counts; a rating
is never compared with itself or its copy, or a bootstrap over annotators would find agreement that is none.

With :math:`r_{ik}` the annotators who gave item i category k, :math:`r_i = \sum_k r_{ik}`, and weights
:math:`w_{kl}`, the observed agreement of all coefficients but alpha is the mean over items with two ratings or more of

.. math:: p_{a|i} = \frac{\sum_{kl} w_{kl} r_{ik} r_{il} - r_i}{r_i (r_i - 1)}.

Source of the treatment of skipped items: Gwet 2014, *Handbook of Inter-Rater Reliability*, 4th ed., ch. 2 to 5.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from evalkit.stats.agreement.coded import Coded
from evalkit.stats.agreement.estimates import Estimate, Mean, OfSums, OrdinalAlpha, ratio
from evalkit.stats.agreement.icc import of_mean_squares
from evalkit.stats.agreement.scales import differences, weights

Prepare = Callable[[Coded, str, np.ndarray], Estimate]
Chance = Callable[[np.ndarray, np.ndarray], np.ndarray]


def observed(coded: Coded, weight: np.ndarray, copies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each pattern's agreement (0 where it holds fewer than two ratings), and whether it has one."""
    counts = coded.counts(copies)
    own = coded.present() @ copies**2  # pairs of a rating with itself or its copy
    pairs = counts.sum(axis=1) ** 2 - own
    agreeing = ((counts @ weight) * counts).sum(axis=1) - own
    there = pairs > 0
    return np.divide(agreeing, pairs, out=np.zeros(len(pairs)), where=there), there.astype(float)


def shares(coded: Coded, copies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each pattern's share of ratings by category, and whether it has any rating."""
    counts = coded.counts(copies)
    total = counts.sum(axis=1)
    return counts / np.maximum(total, 1)[:, None], (total > 0).astype(float)


def _by_shares(chance: Chance) -> Prepare:
    """Build a coefficient whose chance agreement depends on the categories' mean shares alone."""

    def prepare(coded: Coded, level: str, copies: np.ndarray) -> Estimate:
        weight = weights(coded.values, level)
        agreement, paired = observed(coded, weight, copies)
        share, rated = shares(coded, copies)
        features = np.column_stack([agreement, paired, rated, share])

        def formula(sums: np.ndarray) -> np.ndarray:
            by_chance = chance(ratio(sums[:, 3:], sums[:, 2:3]), weight)
            return ratio(ratio(sums[:, 0], sums[:, 1]) - by_chance, 1 - by_chance)

        return OfSums(features, formula)

    return prepare


def no_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Percent agreement: nothing is put down to chance."""
    return np.zeros(len(share))


def free_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Randolph 2005 (two annotators: Bennett et al. 1954): all categories alike, :math:`p_e = \\sum w_{kl} / q^2`."""
    return np.full(len(share), weight.mean())


def fixed_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Scott 1955 and Fleiss 1971: one marginal for all, :math:`p_e = \\sum w_{kl} \\pi_k \\pi_l`."""
    return ((share @ weight) * share).sum(axis=1)


def gwet_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Gwet 2008: some ratings only are random, :math:`p_e = \\frac{\\sum w_{kl}}{q(q-1)} \\sum \\pi_k (1 - \\pi_k)`."""
    size = len(weight)
    if size == 1:
        return np.ones(len(share))
    return weight.sum() / (size * (size - 1)) * (share * (1 - share)).sum(axis=1)


def _conger(coded: Coded, level: str, copies: np.ndarray) -> Estimate:
    """Conger 1980: each annotator's own marginal; chance is the mean over pairs of annotators."""
    weight = weights(coded.values, level)
    agreement, paired = observed(coded, weight, copies)
    chosen: np.ndarray = coded.rows[:, :, None] == np.arange(len(coded.values))
    people, size = chosen.shape[1:]
    features = np.column_stack([agreement, paired, chosen.reshape(len(chosen), -1)])

    def formula(sums: np.ndarray) -> np.ndarray:
        given = sums[:, 2:].reshape(-1, people, size)
        total = given.sum(axis=2, keepdims=True)
        own = np.divide(given, total, out=np.zeros_like(given), where=total > 0)
        count = copies * (total[:, :, 0] > 0)  # a resample may lose an annotator who rated little
        summed = np.einsum("bg,bgk->bk", count, own)
        same = np.einsum("bg,bgk,bgk->b", count**2, own, own @ weight)
        pairs = count.sum(axis=1) ** 2 - (count**2).sum(axis=1)
        by_chance = ratio(((summed @ weight) * summed).sum(axis=1) - same, pairs)
        return ratio(ratio(sums[:, 0], sums[:, 1]) - by_chance, 1 - by_chance)

    return OfSums(features, formula)


def two(coded: Coded, level: str, a: int, b: int, *, own_marginals: bool) -> Estimate:
    """Prepare Cohen's kappa (own marginals) or Scott's pi (shared) of two annotators over the items both rated."""
    weight = weights(coded.values, level)
    x, y = coded.rows[:, a], coded.rows[:, b]
    both = (x >= 0) & (y >= 0)
    of_x, of_y = (both[:, None] & (given[:, None] == np.arange(len(weight))) for given in (x, y))
    features = np.column_stack([both, both * weight[x, y], of_x, of_y]).astype(float)

    def formula(sums: np.ndarray) -> np.ndarray:
        n, first, second = sums[:, :1], *np.split(sums[:, 2:], 2, axis=1)
        if not own_marginals:
            first = second = (first + second) / 2
        by_chance = ratio(((first @ weight) * second).sum(axis=1), n[:, 0] ** 2)
        return ratio(ratio(sums[:, 1], n[:, 0]) - by_chance, 1 - by_chance)

    return OfSums(features, formula)


def _mean_of_two(own_marginals: bool) -> Prepare:
    """Build the mean over every two annotators of a coefficient for two; pairs that are undefined are left out."""

    def prepare(coded: Coded, level: str, copies: np.ndarray) -> Estimate:
        there = [pair for pair in itertools.combinations(range(len(copies)), 2) if copies[list(pair)].all()]
        estimates = [two(coded, level, a, b, own_marginals=own_marginals) for a, b in there]
        return Mean(estimates, np.array([copies[a] * copies[b] for a, b in there]))

    return prepare


def krippendorff_alpha(coded: Coded, level: str, copies: np.ndarray) -> Estimate:
    r"""Prepare :math:`\alpha = 1 - D_o / D_e` over the items with two ratings or more (Krippendorff 2011).

    .. math:: D_o = \frac1n \sum_i \frac{\sum_{kl} r_{ik} r_{il} \delta_{kl}}{r_i - 1}, \qquad
              D_e = \frac{1}{n(n-1)} \sum_{kl} n_k n_l \delta_{kl}

    with n ratings on these items, :math:`n_k` of them in category k. The ordinal :math:`\delta_{kl}` is
    :math:`(F_k - F_l)^2` with :math:`F_k = \sum_{g<k} n_g + n_k / 2`, so it changes with every resample.
    """
    counts = coded.counts(copies)
    total = counts.sum(axis=1)
    pairs = total**2 - coded.present() @ copies**2
    scale = np.divide(total, pairs, out=np.zeros(len(total)), where=pairs > 0)
    counts = counts * (pairs > 0)[:, None]
    if level == "ordinal":
        return OrdinalAlpha(counts, scale)
    delta = differences(coded.values, level)
    features = np.column_stack([((counts @ delta) * counts).sum(axis=1) * scale, counts])

    def formula(sums: np.ndarray) -> np.ndarray:
        by_chance = ((sums[:, 1:] @ delta) * sums[:, 1:]).sum(axis=1)
        return 1 - ratio(sums[:, 0] * (sums[:, 1:].sum(axis=1) - 1), by_chance)

    return OfSums(features, formula)


def _intraclass(consistency: bool) -> Prepare:
    """Build ICC(C,1) or ICC(A,1) of McGraw & Wong 1996 from mean squares, over the items that all annotators rated."""

    def prepare(coded: Coded, level: str, copies: np.ndarray) -> Estimate:
        full = np.asarray((coded.rows >= 0).all(axis=1))
        centred = coded.values - coded.values.mean()  # less is lost by cancellation
        scores = np.where(full[:, None], centred[coded.rows], 0.0)
        k = scores.shape[1]
        features = np.column_stack([full, scores.sum(axis=1) ** 2 / k, (scores**2).sum(axis=1), scores])

        def formula(sums: np.ndarray) -> np.ndarray:
            n, rows, squares, columns = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:]
            level = ratio(columns.sum(axis=1) ** 2, n * k)
            of_columns = ratio((columns**2).sum(axis=1), n) - level
            between = ratio(rows - level, n - 1)
            noise = ratio(squares - rows - of_columns, (n - 1) * (k - 1))
            return of_mean_squares(between, of_columns / (k - 1), noise, n=n, k=k)[int(consistency)]

        return OfSums(features, formula)

    return prepare


#: Coefficient -> how it is prepared.
PREPARE: dict[str, Prepare] = {
    "percent_agreement": _by_shares(no_chance),
    "cohen_kappa": _mean_of_two(own_marginals=True),
    "scott_pi": _mean_of_two(own_marginals=False),
    "fleiss_kappa": _by_shares(fixed_chance),
    "conger_kappa": _conger,
    "randolph_kappa": _by_shares(free_chance),
    "krippendorff_alpha": krippendorff_alpha,
    "gwet_ac1": _by_shares(gwet_chance),
    "gwet_ac2": _by_shares(gwet_chance),
    "icc_agreement": _intraclass(consistency=False),
    "icc_consistency": _intraclass(consistency=True),
}
#: Coefficients for which it matters who gave which rating.
NEEDS_NAMES = frozenset({"cohen_kappa", "scott_pi", "conger_kappa", "icc_agreement", "icc_consistency"})
