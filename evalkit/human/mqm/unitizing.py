"""Agreement on where errors lie: Krippendorff's alpha for units of a continuum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError


def unitised_alpha(units: pd.DataFrame, *, length: int, annotators: int) -> float:
    """Estimate agreement beyond chance of annotators who marked units (stretches) on one continuum; 1 is perfect.

    units: columns annotator, start, end (end excluded, whole numbers), and optionally ``category``, within which units
    are compared; the units of one annotator and category do not overlap (``merged`` sees to that). length: of the
    continuum; annotators: how many marked it, also those who marked nothing.
    What two annotators differ by is the squared distance of the borders of units that overlap, and the squared length
    of a unit that lies within the other's gap; what chance gives is the mean of that over all places where the marked
    units could lie. NaN where nobody marked anything.
    Source: Krippendorff 1995, On the reliability of unitizing continuous data, Sociological Methodology 25; 2004,
    Content Analysis, section 11.6. Caveat: a long unit weighs by the square of its length.

    >>> marks = pd.DataFrame({"annotator": ["a", "b", "a", "b"], "start": [5, 5, 20, 21], "end": [9, 9, 26, 26]})
    >>> round(unitised_alpha(marks, length=40, annotators=2), 3)
    0.981
    """
    who, names = pd.factorize(units["annotator"], sort=True)
    if len(names) > annotators:
        raise DataError(f"{len(names)} annotators marked units, but annotators={annotators}. Count all who marked.")
    kind = pd.factorize(units["category"], sort=True)[0] if "category" in units else np.zeros(len(units), int)
    start, end = units["start"].to_numpy(float), units["end"].to_numpy(float)
    order = np.lexsort((start, who, kind))
    observed = expected = 0.0
    for same in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1) if len(order) else ():
        marked = _Marked(who[same], start[same], end[same], length, annotators)
        observed += marked.observed()
        expected += marked.expected()
    return 1.0 - observed / expected if expected > 0 else float("nan")


def merged(spans: pd.DataFrame, *, by: list[str]) -> pd.DataFrame:
    """Join overlapping or touching stretches within ``by`` into units: by, start, end.

    >>> marks = pd.DataFrame({"annotator": ["a", "a", "a"], "start": [0, 3, 8], "end": [4, 6, 9]})
    >>> merged(marks, by=["annotator"])
      annotator  start  end
    0         a      0    6
    1         a      8    9
    """
    order = spans[spans["end"] > spans["start"]].sort_values([*by, "start", "end"], kind="stable", ignore_index=True)
    groups = [order[name] for name in by]
    reach = order.groupby(by, observed=True)["end"].cummax().groupby(groups, observed=True).shift()
    fresh = (reach.isna() | (order["start"] > reach)).cumsum().rename("unit")
    units = order.groupby([*by, fresh], observed=True, sort=False).agg(start=("start", "min"), end=("end", "max"))
    return units.reset_index().drop(columns="unit")


class _Marked(NamedTuple):
    """Hold the units of all annotators, (units,), in order of annotators and of their starts."""

    who: np.ndarray
    start: np.ndarray
    end: np.ndarray
    length: int
    annotators: int

    def observed(self) -> float:
        """Sum what every two annotators' units differ by, per pair of annotators and squared length."""
        apart = (self.length + 1) * np.arange(self.annotators)  # a continuum for each annotator, one after another
        starts, ends = self.start + apart[self.who], self.end + apart[self.who]
        first = np.searchsorted(
            ends, self.start[:, None] + apart, side="right"
        )  # their first that ends after mine starts
        last = np.searchsorted(
            starts, self.end[:, None] + apart, side="left"
        )  # the one after their last before it ends
        times = np.maximum(
            last - first, 0
        )  # (units, annotators): how many of theirs overlap mine; mine overlaps itself
        in_gaps = ((self.end - self.start) ** 2 * (times == 0).sum(axis=1)).sum()
        count = times.ravel()
        mine = np.repeat(np.arange(len(self.who)), times.sum(axis=1))
        theirs = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first.ravel(), count)
        between = ((self.start[mine] - self.start[theirs]) ** 2 + (self.end[mine] - self.end[theirs]) ** 2).sum()
        return float((between + 2 * in_gaps) / (self.annotators * (self.annotators - 1) * self.length**2))

    def expected(self) -> float:
        """Average what two units differ by over all their possible places, gaps included."""
        sizes = self.end - self.start
        free = np.sort(self.gaps())
        total = self.annotators * self.length
        overlaps = (len(sizes) - 1) / 3 * (2 * sizes**3 - 3 * sizes**2 + sizes)
        after = np.concatenate([np.cumsum(free[::-1])[::-1], [0.0]])  # the sum of the gaps from each one on
        from_gap = np.searchsorted(free, sizes, side="left")
        fitting = len(free) - from_gap
        contained = sizes**2 * (after[from_gap] - fitting * (sizes - 1))
        pairs = total * (total - 1) - (sizes * (sizes - 1)).sum()
        return float(2 / self.length * (overlaps + contained).sum() / pairs)

    def gaps(self) -> np.ndarray:
        """Measure the stretches that an annotator left between units, before the first and after the last."""
        first = np.diff(self.who, prepend=-1) > 0
        before = np.where(first, 0.0, np.concatenate([[0.0], self.end[:-1]]))
        last = np.zeros(self.annotators)
        np.maximum.at(last, self.who, self.end)
        sizes = np.concatenate([self.start - before, self.length - last])
        return sizes[sizes > 0]
