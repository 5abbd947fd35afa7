"""Were systems that lead shown more often? Then plain means are bent, and probabilities, where known, mend them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.campaign.missing import Missing, or_missing
from evalkit.campaign.opening import Campaign
from evalkit.campaign.systems.screens import Screens, of_campaign
from evalkit.data.provenance import reading_of
from evalkit.human import adaptive
from evalkit.stats import inference

#: Share of judgements that may lack a probability, which are then left out of weighted means.
LACKING = 0.05
#: Times as many judgements as another system has, from which on counts are uneven; and the chance of that at random.
UNEVEN, CHANCE = 1.5, 0.001
#: How far the screens that a system's weights stand for may be from those there were, as a factor and in errors.
FACTOR, ERRORS = 2.0, 4.0
#: Screens at which intervals that hold at every look are tightest, and before which there are none.
TUNED, START = 100, 20
ALPHA = 0.05
#: Few campaigns are steered, so that those which are not are told nothing.
NOT_STEERED = Missing("Every system was as likely to be shown as any other.", "")


@dataclass(frozen=True, eq=False)
class Steering:
    """How often each system was shown, and its mean without and with weights.

    table: system, judgements, plain, weighted (by 1 / probability), low, high (95 %, of the weighted mean, for one
    look), p (that plain and weighted mean differ by chance alone; Holm), any_low, any_high (of the plain mean, at every
    look; missing without an order in time), worth (evenly weighted judgements that are as sure as the weighted ones, as
    a share); the best at the top. weighted: whether there are probabilities; why: if not, why. lacking: judgements
    without one. logged: whether the file is Pearmut's log. ordered: whether screens stand in the order of time.
    """

    pair: str
    table: pd.DataFrame
    weighted: bool
    lacking: int
    why: str
    logged: bool
    ordered: bool

    @property
    def moved(self) -> list[str]:
        """The systems whose mean moves beyond chance when judgements are weighted."""
        return self.table.loc[self.table["p"] < ALPHA, "system"].tolist()

    @property
    def matters(self) -> bool:
        """Whether plain means cannot be relied on, as far as can be known."""
        return not self.weighted or bool(self.moved) or self.other_first

    @property
    def other_first(self) -> bool:
        """Whether another system comes first when judgements are weighted."""
        return self.weighted and bool(self.table["plain"].idxmax() != self.table["weighted"].idxmax())

    @property
    def shown(self) -> list[str]:
        """The columns that have something to show on a page."""
        names = ["system", "judgements", "plain", "weighted", "low", "high", "any_low", "any_high"]
        return [name for name in names if self.table[name].notna().any()]


@or_missing("")
def weigh_steered(campaign: Campaign) -> Steering:
    """Weigh judgements by one over the probability that they were made, where that was not even.

    Without probabilities, uneven counts that follow the scores are told. Nothing to tell is a ``Missing`` without
    advice: few campaigns are steered.
    """
    if campaign.judged["system"].nunique() < 2:
        raise DataError("One system was judged.")
    screens = of_campaign(campaign)
    why = _unusable(screens)
    if not why and np.nanmax(screens.probability) - np.nanmin(screens.probability) < 1e-9:
        raise DataError("Every screen showed each system with the same probability.")
    if why and not _follows_scores(screens):
        raise DataError("Counts of judgements do not follow scores.")
    known = np.isfinite(screens.probability) & screens.shown
    table = _means(screens, known if not why else np.zeros_like(known))
    return Steering(
        campaign.pair,
        table.sort_values("plain" if why else "weighted", ascending=False, ignore_index=True),
        not why,
        int(screens.judgements[screens.shown & ~known].sum()),
        why if screens.written else "",
        reading_of(campaign.ratings).get("format") == "pearmut",
        screens.ordered,
    )


def _unusable(screens: Screens) -> str:
    """Say why a file's probabilities cannot be used, or that it has none; empty where they can."""
    lacks = screens.shown & ~np.isfinite(screens.probability)
    share = screens.judgements[lacks].sum() / screens.judgements.sum()
    if share > LACKING:
        return f"{share:.0%} of the judgements have no probability" if share < 1 else "there are no probabilities"
    weights = _inverse(screens.probability, screens.shown & ~lacks)
    stands, error = weights.sum(axis=0), np.sqrt((weights * (weights - 1)).sum(axis=0))
    there = len(screens.scores)
    off = (stands > FACTOR * there) | (stands < there / FACTOR)
    off &= np.abs(stands - there) > ERRORS * error
    if not off.any():
        return ""
    worst = int(np.argmax(np.where(off, np.abs(np.log(np.maximum(stands, 1e-9) / there)), -1)))
    return (
        f"the column probability does not say how probable it was to be shown: by it, the judgements of "
        f"{screens.systems[worst]} stand for {stands[worst]:,.0f} screens, and there were {there:,}"
    )


def _inverse(probability: np.ndarray, known: np.ndarray) -> np.ndarray:
    return np.where(known, 1 / np.where(known, probability, 1), 0.0)


def _follows_scores(screens: Screens) -> bool:
    """Tell whether some systems were shown far more often than others, and those that score higher more often."""
    counts = screens.shown.sum(axis=0)
    if len(counts) < 4 or counts.max() < UNEVEN * counts.min() or stats.chisquare(counts).pvalue > CHANCE:
        return False
    found = stats.spearmanr(counts, screens.plain)
    return bool(found.statistic > 0 and found.pvalue < ALPHA)


def _means(screens: Screens, known: np.ndarray) -> pd.DataFrame:
    """Average the judgements of each system without and with weights."""
    counts, scores = screens.judgements, np.nan_to_num(screens.scores)
    weights = counts * _inverse(screens.probability, known)
    plain, weighted = adaptive.ratio(scores[None], counts[None]), adaptive.ratio(scores[None], weights[None])
    low, high = (end[0] for end in weighted.interval(1 - ALPHA))
    any_low, any_high = _any_look(screens) if screens.ordered else (np.nan, np.nan)
    table = pd.DataFrame(
        {
            "system": screens.systems,
            "judgements": counts.sum(axis=0).astype(int),
            "plain": plain.means[0],
            "weighted": weighted.means[0],
            "low": low,
            "high": high,
            "p": _differ(scores, counts, weights, plain.means[0], weighted.means[0]),
            "any_low": any_low,
            "any_high": any_high,
            "worth": _share(
                weights.sum(axis=0) ** 2, (weights**2 / np.maximum(counts, 1)).sum(axis=0) * counts.sum(axis=0)
            ),
        }
    )
    return table


def _differ(
    scores: np.ndarray, counts: np.ndarray, weights: np.ndarray, plain: np.ndarray, weighted: np.ndarray
) -> np.ndarray:
    """Test whether plain and weighted means are the same; both rest on the same screens. p by Holm."""
    gap = _share(weights * (scores - weighted), weights.sum(axis=0)) - _share(
        counts * (scores - plain), counts.sum(axis=0)
    )
    shown = np.maximum((counts > 0).sum(axis=0), 2)
    error = np.sqrt((gap**2).sum(axis=0) * shown / (shown - 1))
    return inference.adjust(2 * stats.norm.sf(np.abs(_share(weighted - plain, error))))


def _any_look(screens: Screens) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals of plain means that hold at every look; longer screens count for more."""
    shown = screens.shown
    size = screens.judgements / np.maximum(screens.judgements.sum(axis=0) / np.maximum(shown.sum(axis=0), 1), 1)
    scores = screens.plain + size * (np.nan_to_num(screens.scores) - screens.plain)
    low, high = adaptive.asymptotic(scores.T, shown.T, tuned=TUNED, alpha=ALPHA, start=START)
    ends = low[:, -1], high[:, -1]
    return tuple(np.where(np.isfinite(end), end, np.nan) for end in ends)  # type: ignore[return-value]


def _share(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide; missing where there is nothing to divide by."""
    return np.divide(above, below, where=below > 0, out=np.full(np.broadcast(above, below).shape, np.nan))
