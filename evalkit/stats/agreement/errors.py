r"""Give chance-corrected coefficients their standard errors over items.

With each item's agreement :math:`p_{a|i}` and its part :math:`p_{e|i}` in chance agreement, the linearised variance is

.. math:: \frac{1}{n(n-1)} \sum_i (\kappa^\star_i - \kappa)^2, \qquad
          \kappa^\star_i = \frac{n}{n'} \frac{p_{a|i} - p_e}{1 - p_e} - 2 (1 - \kappa) \frac{p_{e|i} - p_e}{1 - p_e}

where n' items have two ratings or more, and the first term is 0 on the others (Gwet 2008, 2014). It holds whatever
kappa is. Cohen's is that of Fleiss, Cohen & Everitt 1969. Alpha, intraclass correlations and means over pairs of
annotators have none that is agreed on, so theirs is the jackknife's, and is named so. Caveat: all are for large
samples; the bootstrap interval needs no normal distribution.
"""

from __future__ import annotations

import numpy as np

from evalkit.stats.agreement.chance import observed, shares
from evalkit.stats.agreement.coded import Coded
from evalkit.stats.agreement.estimates import Estimate
from evalkit.stats.agreement.scales import weights
from evalkit.stats.inference import jackknife_error


def standard_error(name: str, level: str, table: Coded, estimate: Estimate, value: float) -> tuple[float, str]:
    """Return the standard error of one coefficient, and how it was found: analytic, or jackknife."""
    if name == "cohen_kappa" and len(table.annotators) == 2:
        return cohen(table, level), "analytic"
    if name in ("krippendorff_alpha", "icc_agreement", "icc_consistency") or (
        name in ("cohen_kappa", "scott_pi") and len(table.annotators) > 2
    ):
        without = estimate.leave_one_out(table.times.astype(float))  # items of one pattern give the same value
        return float(jackknife_error(without, table.times)), "jackknife"
    if name == "scott_pi":
        table = _common(table)
    return linearised(name, level, table, value), "analytic"


def linearised(name: str, level: str, table: Coded, value: float) -> float:
    """Return Gwet's standard error, the square root of the variance in this module's docstring."""
    weight, copies = weights(table.values, level), np.ones(len(table.annotators))
    agreement, paired = observed(table, weight, copies)
    share, rated = shares(table, copies)
    n, n_paired = table.times.sum(), (table.times * paired).sum()
    mean = (table.times @ share) / (table.times @ rated)
    size = len(weight)
    if name == "conger_kappa":
        by_chance, of_item = _conger_chance(table, weight)
    elif name in ("gwet_ac1", "gwet_ac2"):
        factor = weight.sum() / (size * max(size - 1, 1))
        by_chance, of_item = factor * (mean * (1 - mean)).sum(), factor * (share @ (1 - mean))
    elif name == "randolph_kappa":
        by_chance, of_item = weight.mean(), np.full(len(share), weight.mean())
    elif name == "percent_agreement":
        by_chance, of_item = 0.0, np.zeros(len(share))
    else:
        by_chance, of_item = mean @ weight @ mean, share @ weight @ mean
    own = n / n_paired * paired * (agreement - by_chance) / (1 - by_chance)
    own = own - 2 * (1 - value) * (of_item - by_chance) / (1 - by_chance)
    return float(np.sqrt((table.times * (own - value) ** 2).sum() / (n * max(n - 1, 1))))


def _conger_chance(table: Coded, weight: np.ndarray) -> tuple[float, np.ndarray]:
    """Return Conger's chance agreement and each pattern's part in it, linearised in all annotators' marginals."""
    rated = table.present()
    n, people = table.times.sum(), rated.shape[1]
    chosen = (table.rows[:, :, None] == np.arange(len(weight))).astype(float)
    total = table.times @ rated
    own = np.einsum("u,ugk->gk", table.times, chosen) / total[:, None]
    others = (own.sum(axis=0) - own) @ weight / (people * (people - 1))  # chance of agreeing with someone else
    by_chance = float((own * others).sum())
    moved = np.einsum("ugk,gk->ug", chosen, others) - rated * (own * others).sum(axis=1)
    return by_chance, by_chance + moved @ (n / total)


def _common(table: Coded) -> Coded:
    """Keep the patterns in which both annotators rated."""
    keep = (table.rows >= 0).all(axis=1)
    return Coded(table.values, table.rows[keep], table.times[keep], table.pattern, table.annotators)


def cohen(table: Coded, level: str) -> float:
    r"""Return the standard error of two annotators' (weighted) kappa, Fleiss, Cohen & Everitt 1969.

    .. math:: \frac{\sum_{kl} p_{kl} [w_{kl} (1 - p_e) - (\bar w_{k\cdot} + \bar w_{\cdot l}) (1 - p_o)]^2
              - (p_o p_e - 2 p_e + p_o)^2}{n (1 - p_e)^4}
    """
    table = _common(table)
    weight, n = weights(table.values, level), table.times.sum()
    joint = np.zeros(weight.shape)
    np.add.at(joint, (table.rows[:, 0], table.rows[:, 1]), table.times / n)
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    by_chance, seen = rows @ weight @ columns, (joint * weight).sum()
    mean = (weight @ columns)[:, None] + rows @ weight
    spread = (joint * (weight * (1 - by_chance) - mean * (1 - seen)) ** 2).sum()
    variance = (spread - (seen * by_chance - 2 * by_chance + seen) ** 2) / (n * (1 - by_chance) ** 4)
    return float(np.sqrt(max(variance, 0.0)))
