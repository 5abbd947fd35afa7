"""Name how a value is often read: bands of agreement, each with its source and its critics."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit import DataError


@dataclass(frozen=True)
class Bands:
    """Hold one scheme: its bands as (lower end, name) ascending, where it comes from, and what is said against it."""

    bands: tuple[tuple[float, str], ...]
    source: str
    critics: str


_ARBITRARY = (
    "The limits are the authors' own choice without empirical ground (they say so); kappa depends on the marginals and "
    "on the number of categories, so one limit cannot fit all tasks (Bakeman et al. 1997; Sim & Wright 2005)."
)
#: Scheme -> its bands, source and critics.
BANDS = {
    "landis-koch": Bands(
        (
            (-1.0, "poor"),
            (0.0, "slight"),
            (0.20, "fair"),
            (0.40, "moderate"),
            (0.60, "substantial"),
            (0.80, "almost perfect"),
        ),
        "Landis & Koch 1977, The measurement of observer agreement for categorical data. Biometrics 33.",
        _ARBITRARY,
    ),
    "fleiss": Bands(
        ((-1.0, "poor"), (0.40, "fair to good"), (0.75, "excellent")),
        "Fleiss 1981, Statistical Methods for Rates and Proportions, 2nd ed.",
        _ARBITRARY,
    ),
    "altman": Bands(
        ((-1.0, "poor"), (0.20, "fair"), (0.40, "moderate"), (0.60, "good"), (0.80, "very good")),
        "Altman 1991, Practical Statistics for Medical Research (after Landis & Koch).",
        _ARBITRARY,
    ),
    "krippendorff": Bands(
        ((-1.0, "unreliable"), (0.667, "tentative conclusions only"), (0.80, "reliable")),
        "Krippendorff 2004, Content Analysis, 2nd ed.",
        "Krippendorff asks for limits that fit the costs of wrong conclusions, and for the interval's lower end to "
        "pass them; judgements of quality seldom reach .667, so the scheme calls most of MT evaluation unreliable.",
    ),
    "cicchetti": Bands(
        ((-1.0, "poor"), (0.40, "fair"), (0.60, "good"), (0.75, "excellent")),
        "Cicchetti 1994, Psychological Assessment 6 (intraclass correlations, kappas in clinical tests).",
        _ARBITRARY,
    ),
}
#: In these schemes a value on a limit belongs to the band below, as they print 0.21-0.40 and the like.
_LIMIT_BELOW = frozenset({"landis-koch", "altman"})


def band(value: float, *, scheme: str = "landis-koch") -> str:
    """Name the band of a scheme in which a value lies. Caveat: report the value and its interval, never only a name.

    >>> band(0.43), band(0.43, scheme="krippendorff")
    ('moderate', 'unreliable')
    """
    if scheme not in BANDS:
        raise DataError(f"scheme={scheme!r} is not known. Choose one of: {', '.join(BANDS)}.")
    if not -1 <= value <= 1:
        raise DataError(f"A value of {value} lies in no band: agreement lies between -1 and 1.")
    inside = [
        name
        for limit, name in BANDS[scheme].bands
        if value > limit or (value == limit and (scheme not in _LIMIT_BELOW or limit <= 0))
    ]
    return inside[-1]
