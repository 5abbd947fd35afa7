"""Whether statistics from a common set bring annotators closer than statistics from as much work of each one's own."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.human.normalization import forms
from evalkit.human.normalization.held_out import _agreement, _halves, _jackknife, _Place, _places


def common_or_own(ratings: pd.DataFrame, *, splits: int = 200, seed: int = 7, level: float = 0.95) -> pd.DataFrame:
    """Compare z-scores from a common set with z-scores from other documents for every annotator, equally many of them.

    ratings: calibration items, as in ``held_out``. Each split holds half of the documents out. Of the other half,
    *common* draws half of the documents for all annotators alike, as a calibration set does, and *own* as many for
    each annotator anew, as ordinary work does; means and standard deviations come from these.
    Agreement is ICC(A,1) on the held-out documents (see ``held_out``); an annotator whom either way leaves without
    spread in a split is left out of it. Returns pair, annotators, documents (that a statistic rests on), raw, own,
    common (agreement), gain (common - own), low, high: its jackknife interval over annotators.
    Caveat: *own* draws from a handful of documents, so annotators share some by chance, and the gain is understated.
    """
    rows = []
    for place in _places(ratings):
        rng = np.random.default_rng(seed)
        use = _halves(place.document, splits, rng)
        count = max(1, (place.document.max() + 1) // 4)
        people = len(place.scores)
        picks = {"common": _picked(place, use, count, 1, rng), "own": _picked(place, use, count, people, rng)}
        held = np.where(use[:, None], np.nan, place.scores)
        moved = {way: forms.z(held, np.where(chosen, place.scores, np.nan)) for way, chosen in picks.items()}
        defined = np.all([np.isfinite(values).any(axis=-1) for values in moved.values()], axis=0)
        found = {way: _agreement(values, defined, ~use) for way, values in (moved | {"raw": held}).items()}
        means = {way: float(found[way][0].mean()) for way in ("raw", "own", "common")}
        gain, without = (found["common"][k] - found["own"][k] for k in (0, 1))
        row = {"pair": place.pair, "annotators": people, "documents": count, **means, "gain": float(gain.mean())}
        rows.append(row | dict(zip(("low", "high"), _jackknife(gain, without, level), strict=True)))
    return pd.DataFrame(rows)


def _picked(place: _Place, use: np.ndarray, count: int, sets: int, rng: np.random.Generator) -> np.ndarray:
    """Draw sets of documents from the fitted half of each split: splits × sets × items, true where one is drawn."""
    fitted = np.stack([use[:, place.document == d].any(axis=1) for d in range(place.document.max() + 1)], axis=1)
    keys = np.where(fitted[:, None], rng.random((len(use), sets, fitted.shape[1])), 2.0)
    return (keys.argsort(axis=2).argsort(axis=2) < count)[:, :, place.document]
