"""Intervals of strengths, win rates and chances that draw people and texts anew, never single answers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human.preferences import cells as counted
from evalkit.human.preferences.fitting import WEAK, Fitted, Model, fit
from evalkit.human.preferences.kernels import chances
from evalkit.stats.inference import defined_interval
from evalkit.stats.widths import Part, Redrawn, Statistic, redraw

#: What is drawn together: the columns whose values make up a unit.
UNITS: dict[str, tuple[str, ...]] = {
    "annotators": ("annotator",),
    "documents": ("src_lang", "tgt_lang", "doc"),
    "segments": ("src_lang", "tgt_lang", "doc", "segment"),
}


def drawable(comparisons: pd.DataFrame, *, fewest: int = 5) -> tuple[str, ...]:
    """Name the kinds of units of which there are enough to be drawn; of fewer people nothing can be said of others.

    >>> table = pd.DataFrame({"annotator": list("pqpqpq"), "doc": list("abcdef")})
    >>> drawable(table)
    ('documents',)
    """
    found = []
    for name in ("annotators", "documents"):
        own = [column for column in UNITS[name] if column in comparisons]
        if len(comparisons[own].drop_duplicates()) >= fewest:
            found.append(name)
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Standing:
    """Strengths, shares of comparisons won, and what standing first adds, with draws of all of them.

    fitted: the model. won: (systems,) the share of comparisons that each would win against all others, each met equally
    often and as often in either place, a tie counting half. values: (systems + systems + places,) strengths, shares,
    and the place's effect where it was fitted; drawn: (resamples, the same), whose percentiles are as wide as t
    intervals; spread: the same draws without that width, for tests. units: kinds that were drawn -> how many.
    """

    fitted: Fitted
    values: np.ndarray
    drawn: np.ndarray
    spread: np.ndarray
    units: dict[str, int]

    @property
    def _size(self) -> int:
        return len(self.fitted.cells.systems)

    @property
    def won(self) -> np.ndarray:
        """The share that each system would win, (systems,)."""
        return self.values[self._size : 2 * self._size]

    def draws_of_won(self, *, wide: bool = True) -> np.ndarray:
        """Return the draws of these shares, (resamples, systems)."""
        return (self.drawn if wide else self.spread)[:, self._size : 2 * self._size]

    @property
    def fewest(self) -> int:
        """How many units were drawn of the rarer kind; 1 where nothing was."""
        return min(self.units.values(), default=1)

    @property
    def place(self) -> tuple[float, float, float] | None:
        """What standing first adds to the log odds, and its 95 % interval; None where it was not fitted."""
        if not len(self.fitted.place):
            return None
        low, high = defined_interval(self.drawn[:, -1:])
        return float(self.values[-1]), float(low[0]), float(high[0])

    def table(self) -> pd.DataFrame:
        """Return system, strength, low, high (95 %), won, won_low and won_high, best first."""
        low, high = defined_interval(self.drawn)
        size = self._size
        table = pd.DataFrame(
            {
                "system": self.fitted.cells.systems,
                "strength": self.values[:size],
                "low": low[:size],
                "high": high[:size],
                "won": self.won,
                "won_low": low[size : 2 * size].clip(0, 1),
                "won_high": high[size : 2 * size].clip(0, 1),
            }
        )
        return table.sort_values(["strength", "system"], ascending=[False, True], ignore_index=True)


def standing(
    comparisons: pd.DataFrame,
    *,
    ties: str = "davidson",
    place: bool = False,
    resamples: int = 1000,
    seed: int = 7,
    units: Sequence[str] = ("annotators", "documents"),
) -> Standing:
    """Fit strengths, and draw units anew (``UNITS``, crossed; see ``stats.widths.redraw``).

    A kind of which there is one unit only, such as one annotator, is not drawn, so that nothing is said of other
    people. Draws have a weak prior (``WEAK``), for in some of them a system wins everything; the estimate has it only
    where it must. Raises DataError where systems were never compared, even through others.
    """
    cells = counted.count(comparisons, place=place)
    counted.refuse_apart(cells)
    spread = WEAK if len(counted.separated(cells)) > 1 else None
    fitted = fit(comparisons, ties=ties, place=place, spread=spread)
    model, size = Model(cells, ties=fitted.ties, place=place, spread=WEAK), len(cells.systems)

    def said(values: np.ndarray) -> np.ndarray:
        own, t = values[:, size : size + place], values[:, size + place :]
        return np.concatenate([values[:, :size], _won(values[:, :size], own, t, fitted.ties), own], axis=1)

    def statistic(times: np.ndarray) -> np.ndarray:
        return said(model.maximum(cells.recount(times))[0])

    whole = part(comparisons, statistic, units)
    [found] = redraw([whole], resamples=resamples, seed=seed)
    values = said(np.concatenate([fitted.strength, fitted.place, fitted.tie])[None])[0]
    moved = values - found.estimate  # by the prior, where only draws have it
    counts = {name: len(np.unique(codes)) for name, codes in whole.units.items()}
    return Standing(
        fitted,
        values,
        found.narrowed(few=True) + moved,
        found.narrowed() + moved,
        {name: size for name, size in counts.items() if size > 1},
    )


def standing_in_places(comparisons: pd.DataFrame, **options: Any) -> Standing:
    """Fit strengths with the effect of the place on the screen, where it can be found; options: see ``standing``."""
    if counted.placeable(comparisons):
        with suppress(DataError):  # one place took everything; or systems were never compared, which comes up again
            return standing(comparisons, place=True, **options)
    return standing(comparisons, **options)


def _won(strength: np.ndarray, place: np.ndarray, tie: np.ndarray, ties: str) -> np.ndarray:
    """Return the share of comparisons won against all others, from (batch, parameters): (batch, systems)."""
    lead = strength[:, :, None] - strength[:, None, :]
    none = np.zeros((len(lead), 1, 1))
    effect, t = (own[:, :, None] if own.shape[1] else none for own in (place, tie))
    both = [chances(ties, lead + sign * effect, t) for sign in (1, -1)]
    share = np.mean([one[..., 0] + one[..., 2] / 2 for one in both], axis=0)
    own = np.arange(strength.shape[1])
    share[:, own, own] = 0.0
    return np.asarray(share.sum(axis=2) / (len(own) - 1))


def strengths(
    comparisons: pd.DataFrame,
    *,
    ties: str = "davidson",
    place: bool = False,
    resamples: int = 1000,
    seed: int = 7,
    units: Sequence[str] = ("annotators", "documents"),
) -> tuple[pd.DataFrame, Fitted]:
    """Return system, strength, low, high (95 %) and ``beats_average``, best first, and the fit; see ``standing``."""
    found = standing(comparisons, ties=ties, place=place, resamples=resamples, seed=seed, units=units)
    bounds = found.table()[["system", "low", "high"]]
    table = found.fitted.table().merge(bounds, on="system", validate="one_to_one")
    return table[["system", "strength", "low", "high", "beats_average"]], found.fitted


def shares(
    comparisons: pd.DataFrame,
    *,
    by: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 7,
    units: Sequence[str] = ("annotators", "documents"),
) -> pd.DataFrame:
    """Return how often each answer was given, of each pair of systems and within ``by``: answer, share, low, high, n.

    Pairs are named with the system that comes first in the alphabet as ``system_a``.
    """
    turned = comparisons["system_a"] > comparisons["system_b"]
    a, b = (np.where(turned, comparisons[f"system_{y}"], comparisons[f"system_{x}"]) for x, y in ("ab", "ba"))
    answer = comparisons["preference"].where(~turned, comparisons["preference"].map({"a": "b", "b": "a", "tie": "tie"}))
    table = comparisons.assign(system_a=a, system_b=b, _answer=answer)
    rows = []
    for key, own in table.groupby([*by, "system_a", "system_b"], sort=True):
        given = own["_answer"].to_numpy()[:, None] == np.array(["a", "tie", "b"])
        found = _share(own, given.astype(float), resamples, seed, units)
        low, high = found.interval()
        for k, name in enumerate(("a", "tie", "b")):
            rows.append((*key, name, found.estimate[k], max(low[k], 0.0), min(high[k], 1.0), len(own)))
    return pd.DataFrame(rows, columns=[*by, "system_a", "system_b", "answer", "share", "low", "high", "n"])


def _share(own: pd.DataFrame, given: np.ndarray, resamples: int, seed: int, units: Sequence[str]) -> Redrawn:
    def statistic(times: np.ndarray) -> np.ndarray:
        total = times.sum(axis=1, keepdims=True)
        return np.divide(times @ given, total, out=np.full((len(times), given.shape[1]), np.nan), where=total > 0)

    return redraw([part(own, statistic, units)], resamples=resamples, seed=seed)[0]


def part(comparisons: pd.DataFrame, statistic: Statistic, units: Sequence[str]) -> Part:
    """Return a statistic of comparisons with the units of ``UNITS`` that are drawn."""
    return Part(statistic, labels(comparisons, units), len(comparisons))


def labels(comparisons: pd.DataFrame, units: Sequence[str]) -> dict[str, np.ndarray]:
    """Number the units of each comparison: kind of ``UNITS`` -> (comparisons,)."""
    found = {}
    for name in units:
        columns = [comparisons[column].astype("str") for column in UNITS[name] if column in comparisons]
        found[name] = pd.MultiIndex.from_arrays(columns).factorize()[0]
    return found
