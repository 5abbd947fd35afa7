r"""How likely A, B or a tie is at a lead: the log likelihood, its slope and its curvature, of three models of ties.

With the lead :math:`d`, the difference of two log strengths and whatever favours A, and :math:`\sigma(x) = 1 / (1 +
e^{-x})`:

.. math::
    \text{half:}\quad & P(A) = \sigma(d), \text{ a tie counting half for either} \\
    \text{Davidson:}\quad & P(A) \propto e^{d/2},\; P(B) \propto e^{-d/2},\; P(\text{tie}) \propto e^{t} \\
    \text{Rao and Kupper:}\quad & P(A) = \sigma(d - t),\; P(B) = \sigma(-d - t),\; t > 0

All are concave in the lead and :math:`t`, so that Newton's steps find the one maximum. Arrays are (batch, cells),
counts (batch, cells, 3) of A, B and ties.

Source: Bradley & Terry 1952; Rao & Kupper 1967; Davidson 1970.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logsumexp


class Slopes(NamedTuple):
    """Log likelihood of each cell, its slopes in d and t, and its curvatures, each with its sign turned."""

    value: np.ndarray
    d: np.ndarray
    t: np.ndarray
    dd: np.ndarray
    dt: np.ndarray
    tt: np.ndarray


def half(counts: np.ndarray, d: np.ndarray, t: np.ndarray) -> Slopes:
    """Return the slopes where a tie counts half a win for either; t has no part in it."""
    a, b = counts[..., 0] + counts[..., 2] / 2, counts[..., 1] + counts[..., 2] / 2
    chance, none = expit(d), np.zeros_like(d)
    value = a * log_expit(d) + b * log_expit(-d)
    return Slopes(value, a - (a + b) * chance, none, (a + b) * chance * (1 - chance), none, none)


def davidson(counts: np.ndarray, d: np.ndarray, t: np.ndarray) -> Slopes:
    """Return the slopes of Davidson's model: t is the log of his nu."""
    a, b, ties = np.moveaxis(counts, -1, 0)
    total = a + b + ties
    whole = logsumexp(np.stack([d / 2, -d / 2, t]), axis=0)
    p_a, p_b, p_t = np.exp(d / 2 - whole), np.exp(-d / 2 - whole), np.exp(t - whole)
    lead = (p_a - p_b) / 2
    return Slopes(
        (a - b) * d / 2 + ties * t - total * whole,
        (a - b) / 2 - total * lead,
        ties - total * p_t,
        total * ((p_a + p_b) / 4 - lead**2),
        -total * lead * p_t,
        total * p_t * (1 - p_t),
    )


def rao_kupper(counts: np.ndarray, d: np.ndarray, t: np.ndarray) -> Slopes:
    """Return the slopes of Rao and Kupper's model: t, above 0, is the log of their theta.

    A tie is as likely as A and B at once, times exp(2 t) - 1, so that a tie counts as a win of either.
    """
    a, b, ties = counts[..., 0] + counts[..., 2], counts[..., 1] + counts[..., 2], counts[..., 2]
    ahead, behind = d - t, -d - t
    miss_a, miss_b = a * expit(-ahead), b * expit(-behind)
    curve_a, curve_b = miss_a * expit(ahead), miss_b * expit(behind)
    with np.errstate(divide="ignore", invalid="ignore"):
        extra = 2 * t + np.log(-np.expm1(-2 * t))
        value = a * log_expit(ahead) + b * log_expit(behind) + np.where(ties > 0, ties * extra, 0.0)
        slope, curve = -2 / np.expm1(-2 * t), 1 / np.sinh(t) ** 2
        slope, curve = (np.where(ties > 0, ties * one, 0.0) for one in (slope, curve))
    return Slopes(
        value, miss_a - miss_b, slope - miss_a - miss_b, curve_a + curve_b, curve_b - curve_a, curve_a + curve_b + curve
    )


#: Names of the models of ties -> their slopes.
KERNELS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Slopes]] = {
    "half": half,
    "davidson": davidson,
    "rao-kupper": rao_kupper,
}


def chances(ties: str, d: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the chances of A, of B and of a tie at a lead: (…, 3). "half" has no ties.

    >>> chances("davidson", np.array(0.0), np.array(0.0)).round(3).tolist()
    [0.333, 0.333, 0.333]
    >>> chances("rao-kupper", np.array(0.0), np.log(np.array(2.0))).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    d, t = np.broadcast_arrays(np.asarray(d, float), np.asarray(t, float))
    if ties == "half":
        return np.stack([expit(d), expit(-d), np.zeros_like(d)], axis=-1)
    if ties == "davidson":
        whole = logsumexp(np.stack([d / 2, -d / 2, t]), axis=0)
        return np.exp(np.stack([d / 2, -d / 2, t], axis=-1) - whole[..., None])
    win, lose = expit(d - t), expit(-d - t)
    return np.stack([win, lose, 1 - win - lose], axis=-1)
