"""Agreement on where errors lie: Krippendorff's alpha for units of a continuum."""

from __future__ import annotations

import numpy as np
import pandas as pd


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
    kinds = units["category"].astype("str") if "category" in units else pd.Series("", index=units.index)
    observed = expected = 0.0
    for _, group in units.groupby(kinds.to_numpy()):
        marked = [part[["start", "end"]].to_numpy(float) for _, part in group.groupby("annotator", observed=True)]
        marked += [np.empty((0, 2))] * (annotators - len(marked))
        marked = [part[np.argsort(part[:, 0])] for part in marked]
        observed += _observed(marked, length)
        expected += _expected(marked, length)
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


def _observed(marked: list[np.ndarray], length: int) -> float:
    """Sum what every two annotators' units differ by, per pair of annotators and squared length."""
    total = 0.0
    for i, mine in enumerate(marked):
        for j, theirs in enumerate(marked):
            if i < j:
                total += 2 * _between(mine, theirs)
            if i != j:
                total += 2 * _within_gaps(mine, theirs, length)
    count = len(marked)
    return total / (count * (count - 1) * length**2)


def _between(mine: np.ndarray, theirs: np.ndarray) -> float:
    """Sum the squared distances of the borders of overlapping units."""
    if not len(mine) or not len(theirs):
        return 0.0
    first = np.searchsorted(theirs[:, 1], mine[:, 0], side="right")  # their first unit that ends after mine starts
    last = np.searchsorted(theirs[:, 0], mine[:, 1], side="left")  # and the one after their last that starts before
    times = np.maximum(last - first, 0)
    own = np.repeat(np.arange(len(mine)), times)
    other = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times) + np.repeat(first, times)
    return float(((mine[own] - theirs[other]) ** 2).sum())


def _within_gaps(mine: np.ndarray, theirs: np.ndarray, length: int) -> float:
    """Sum the squared lengths of my units that lie within their gaps (half of it: the other order is counted apart)."""
    gaps = _gaps(theirs, length)
    if not len(mine) or not len(gaps):
        return 0.0
    place = np.searchsorted(gaps[:, 0], mine[:, 0], side="right") - 1
    inside = (place >= 0) & (mine[:, 1] <= gaps[np.maximum(place, 0), 1])
    return float(((mine[:, 1] - mine[:, 0])[inside] ** 2).sum())


def _expected(marked: list[np.ndarray], length: int) -> float:
    """Average what two units differ by over all their possible places, gaps included."""
    units = np.concatenate(marked)
    sizes = units[:, 1] - units[:, 0]
    gaps = np.concatenate([_gaps(part, length) for part in marked])
    free = np.sort(gaps[:, 1] - gaps[:, 0])
    total = len(marked) * length
    overlaps = (len(sizes) - 1) / 3 * (2 * sizes**3 - 3 * sizes**2 + sizes)
    after = np.concatenate([np.cumsum(free[::-1])[::-1], [0.0]])  # the sum of the gaps from each one on
    from_gap = np.searchsorted(free, sizes, side="left")
    fitting = len(free) - from_gap
    contained = sizes**2 * (after[from_gap] - fitting * (sizes - 1))
    pairs = total * (total - 1) - (sizes * (sizes - 1)).sum()
    return float(2 / length * (overlaps + contained).sum() / pairs)


def _gaps(units: np.ndarray, length: int) -> np.ndarray:
    """List the stretches between units."""
    borders = np.column_stack([np.concatenate([[0.0], units[:, 1]]), np.concatenate([units[:, 0], [float(length)]])])
    return borders[borders[:, 1] > borders[:, 0]]
