"""Propose the scale of scores from the scores themselves, and say how sure that is."""

import numpy as np

#: Scales in use, from the narrowest: the first that holds the scores is proposed.
USUAL = ((0.0, 1.0), (1.0, 5.0), (0.0, 4.0), (0.0, 6.0), (1.0, 7.0), (0.0, 10.0), (0.0, 100.0))
#: Fewer scores than this tell little of their scale.
FEW = 20
#: How a scale was found that the scores themselves suggest.
GUESSED = "proposed from the data"
_MOST = 0.99  # share of the scores that a scale must hold, so that a slip does not stretch it
_MANY = 0.9  # share that tells a scale where none holds that many
_SIGNED = 1 / 3  # share of scores below 0 above which they are no slips


def proposed(values: np.ndarray, *, signed: bool = False) -> tuple[tuple[float, float] | None, str]:
    """Return the smallest usual scale that holds the scores, None where many are below 0, and how it was found.

    values: scores, NaN where there is none. A scale must hold 99 % of them; where none does, 90 %; else it is 0 to 100.
    signed: numbers below 0 are no slips.

    >>> proposed(np.array([0.5, 0.76, 1.0]))
    ((0.0, 1.0), 'proposed from the data: the smallest usual scale that holds all 3 scores (0.5 to 1); a guess')
    >>> proposed(np.array([-1.5, 0.3, -0.2]))[0] is None
    True
    """
    scores = values[np.isfinite(values)]
    if not scores.size:
        return USUAL[-1], "no score tells it"
    ends = f"{scores.min():g} to {scores.max():g}"
    if np.mean(scores < 0) > (0 if signed else _SIGNED):
        return None, f"none is assumed of scores from {ends}; --scale LOW:HIGH states one"
    shares = [float(np.mean((scores >= low) & (scores <= high))) for low, high in USUAL]
    place = next((place for most in (_MOST, _MANY) for place, share in enumerate(shares) if share >= most), -1)
    low, high = USUAL[place]
    inside = round(shares[place] * scores.size)
    held = f"all {scores.size:,}" if inside == scores.size else f"{inside:,} of {scores.size:,}"
    outside = "" if inside == scores.size else f", {1 - shares[place]:.2%} outside"
    sure = _sure(scores, low, high)
    return USUAL[place], f"{GUESSED}: the smallest usual scale that holds {held} scores ({ends}{outside}); {sure}"


def _sure(scores: np.ndarray, low: float, high: float) -> str:
    """Say how far scores support a scale."""
    if scores.size < FEW:
        return "a guess"
    missing = [end for end in (low, high) if not (scores == end).any()]
    if not missing:
        return "both of its ends occur"
    ends = " and ".join(f"{end:g}" for end in missing)
    return f"{ends} {'do' if len(missing) > 1 else 'does'} not occur, so --scale LOW:HIGH may state another"


def holding(scales: list[tuple[float, float]]) -> tuple[float, float] | None:
    """Return the scale among some that holds all of them; None where there is none.

    >>> holding([(1.0, 5.0), (0.0, 6.0)]), holding([(1.0, 5.0), (0.0, 4.0)])
    ((0.0, 6.0), None)
    """
    if not scales:
        return None
    low, high = min(low for low, _ in scales), max(high for _, high in scales)
    return (low, high) if (low, high) in scales else None
