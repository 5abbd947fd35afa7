r"""Intervals that hold at every look, so that a campaign may be watched and stopped at any time.

What a system, or two systems, score on the screens that show them has one mean, whatever chose the screen. So these
sequences hold under any steering, with probabilities unknown. ``asymptotic`` takes weighted scores of all screens.
"""

from __future__ import annotations

import numpy as np

#: The largest bet of ``empirical_bernstein``.
CAP = 0.5
#: Bets on a difference that ``wealth`` mixes: shares of the capital, for scores from 0 to 1.
BETS = (0.1, 0.2, 0.4, 0.7, 0.95)


def empirical_bernstein(
    scores: np.ndarray, seen: np.ndarray | None = None, *, alpha: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the running interval of a mean of bounded scores, which holds at all times at once.

    scores: from 0 to 1, time along the last axis. seen: which of them were seen; default all. Others are left out, and
    the interval stays as it is there. With bets :math:`\lambda_i` that earlier scores choose,

    .. math:: \frac{\sum \lambda_i x_i}{\sum \lambda_i} \pm
        \frac{\log(2/\alpha) + \sum (x_i - \hat\mu_{i-1})^2 (-\log(1-\lambda_i) - \lambda_i)}{\sum \lambda_i}

    Source: Waudby-Smith & Ramdas 2024, theorem 2. Ends are the tightest so far, within 0 and 1.
    Caveat: a wide interval where there are few scores; it takes scores to be drawn one by one, not without return.

    >>> low, high = empirical_bernstein(np.tile([0.4, 0.6], 100))
    >>> low[[0, 9, 199]].round(2).tolist(), high[[0, 9, 199]].round(2).tolist()
    ([0.0, 0.0, 0.46], [1.0, 1.0, 0.54])
    """
    seen = np.ones(scores.shape, bool) if seen is None else seen
    known = np.where(seen, scores, 0.0)
    bets, guess = _bets(known, seen, alpha)
    total = np.cumsum(bets, axis=-1)
    squares = np.where(seen, (known - guess) ** 2, 0) * (-np.log1p(-bets) - bets)
    safe = np.where(total > 0, total, 1)
    middle = np.cumsum(bets * known, axis=-1) / safe
    wide = np.where(total > 0, (np.log(2 / alpha) + np.cumsum(squares, axis=-1)) / safe, np.inf)
    low, high = np.maximum(middle - wide, 0), np.minimum(middle + wide, 1)
    return np.maximum.accumulate(low, axis=-1), np.minimum.accumulate(high, axis=-1)


def asymptotic(
    scores: np.ndarray, seen: np.ndarray | None = None, *, tuned: int, alpha: float = 0.05, start: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the running interval of a mean of scores of any size, which holds at all times once there are many.

    scores: time along the last axis. seen: which of them were seen; default all. tuned: the number at which it is
    tightest. start: no interval before so many.
    With running standard deviation :math:`\hat\sigma_t` and :math:`\rho` set by ``tuned``, half its width is

    .. math:: \hat\sigma_t \sqrt{\frac{2 (t\rho^2 + 1)}{t^2 \rho^2} \log\frac{\sqrt{t\rho^2 + 1}}{\alpha}}

    Source: Waudby-Smith et al. 2024, theorem 2.2 and appendix B.2; Robbins 1970 for normal scores.
    Caveat: a central limit stands behind it. Weights above 10 or so, and few screens, bend it.

    >>> low, high = asymptotic(np.tile([0.4, 0.6], 100), tuned=100)
    >>> (high - low)[[9, 99, 199]].round(3).tolist()
    [0.244, 0.061, 0.043]
    """
    seen = np.ones(scores.shape, bool) if seen is None else seen
    counts, known = np.cumsum(seen, axis=-1), np.where(seen, scores, 0.0)
    time = np.maximum(counts, 1)
    means = np.cumsum(known, axis=-1) / time
    spread = np.sqrt(np.clip(np.cumsum(known**2, axis=-1) / time - means**2, 0, None))
    rho = (2 * np.log(1 / alpha) + np.log(2 * np.log(1 / alpha) + 1)) / tuned
    wide = spread * np.sqrt(2 * (time * rho + 1) / (time**2 * rho) * np.log(np.sqrt(time * rho + 1) / alpha))
    wide = np.where(counts < max(start, 2), np.inf, wide)
    return means - wide, means + wide


def wealth(differences: np.ndarray, seen: np.ndarray | None = None) -> np.ndarray:
    r"""Return the logarithm of what bets on a positive difference have won, starting from 1: evidence for it.

    differences: from -1 to 1, time along the last axis. seen: which of them were seen; default all. If the mean is 0 or
    below, the chance that the wealth :math:`\frac1n \sum_\lambda \prod_i (1 + \lambda d_i)` ever reaches
    :math:`1/\alpha` is at most :math:`\alpha` (Ville 1939), however the pairs were chosen and whenever one stops.

    >>> wealth(np.full(30, 0.2))[[0, 9, 29]].round(1).tolist()
    [0.1, 1.0, 3.9]
    """
    known = differences if seen is None else np.where(seen, differences, 0.0)
    total = np.full(known.shape, -np.inf)
    for bet in BETS:
        total = np.logaddexp(total, np.cumsum(np.log1p(bet * known), axis=-1))
    return total - np.log(len(BETS))


def _bets(known: np.ndarray, seen: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the bets, and the mean before each score, from a half and a quarter as first guesses."""
    counts = np.cumsum(seen, axis=-1)
    means = (0.5 + np.cumsum(known, axis=-1)) / (counts + 1)
    squares = np.where(seen, (known - means) ** 2, 0)
    spread = (0.25 + np.cumsum(squares, axis=-1)) / (counts + 1)
    guess, before = (
        np.concatenate([np.full((*known.shape[:-1], 1), first), part[..., :-1]], axis=-1)
        for first, part in ((0.5, means), (0.25, spread))
    )
    time = np.maximum(counts, 1)
    bets = np.sqrt(2 * np.log(2 / alpha) / (before * time * np.log1p(time)))
    return np.where(seen, np.minimum(bets, CAP), 0.0), guess
