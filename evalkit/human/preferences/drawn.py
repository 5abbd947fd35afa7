"""Intervals of strengths, win rates and chances that draw people and texts anew, never single answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit.human.preferences import cells as counted
from evalkit.human.preferences.fitting import WEAK, Fitted, Model, fit
from evalkit.stats.inference import Part, Redrawn, redraw
from evalkit.stats.inference.crossed import Statistic

#: What is drawn together: the columns whose values make up a unit.
UNITS: dict[str, tuple[str, ...]] = {"annotators": ("annotator",), "documents": ("src_lang", "tgt_lang", "doc")}


def drawable(comparisons: pd.DataFrame, *, fewest: int = 5) -> tuple[str, ...]:
    """Name the kinds of units of which there are enough to be drawn; of fewer people nothing can be said of others.

    >>> table = pd.DataFrame({"annotator": list("pqpqpq"), "doc": list("abcdef")})
    >>> drawable(table)
    ('documents',)
    """
    found = []
    for name, columns in UNITS.items():
        own = [column for column in columns if column in comparisons]
        if len(comparisons[own].drop_duplicates()) >= fewest:
            found.append(name)
    return tuple(found)


def strengths(
    comparisons: pd.DataFrame, *, ties: str = "davidson", place: bool = False, resamples: int = 1000, seed: int = 7,
    units: Sequence[str] = ("annotators", "documents"),
) -> tuple[pd.DataFrame, Fitted]:  # fmt: skip
    """Return system, strength, low, high and ``beats_average``, best first, and the fit.

    low, high: 95 %, drawing annotators and documents as crossed units (``stats.inference.redraw``); a kind of which
    there is one unit only, such as one annotator, is not drawn, so that nothing is said of other people. Draws have a
    weak prior (``WEAK``), for in some of them a system wins everything; the estimate has it only where it must.
    Raises DataError where systems were never compared, even through others.
    """
    cells = counted.count(comparisons, place=place)
    counted.refuse_apart(cells)
    spread = WEAK if len(counted.separated(cells)) > 1 else None
    fitted = fit(comparisons, ties=ties, place=place, spread=spread)
    model = Model(cells, ties=fitted.ties, place=place, spread=WEAK)

    def statistic(times: np.ndarray) -> np.ndarray:
        values, _ = model.maximum(cells.recount(times))
        return values[:, : len(cells.systems)]

    [found] = redraw([part(comparisons, statistic, units)], resamples=resamples, seed=seed)
    low, high = found.interval()
    moved = fitted.strength - found.estimate  # by the prior, where only draws have it
    bounds = pd.DataFrame({"system": cells.systems, "low": low + moved, "high": high + moved})
    table = fitted.table().merge(bounds, on="system", validate="one_to_one")
    return table[["system", "strength", "low", "high", "beats_average"]], fitted


def shares(
    comparisons: pd.DataFrame, *, by: Sequence[str] = (), resamples: int = 1000, seed: int = 7,
    units: Sequence[str] = ("annotators", "documents"),
) -> pd.DataFrame:  # fmt: skip
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
    labels = {}
    for name in units:
        columns = [comparisons[column].astype("str") for column in UNITS[name] if column in comparisons]
        labels[name] = pd.MultiIndex.from_arrays(columns).factorize()[0]
    return Part(statistic, labels, len(comparisons))
