"""Correlate metrics with human scores: Pearson, Spearman, Kendall, and how often both order a pair the same way.

The statistics take stacks of samples along the last axis, with NaN for what is missing, and leave it out. Scores of
segments are samples in three groupings: all cells together (``none``), the systems of a segment (``item``), or the
segments of a system (``system``); values of the groups are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.metrics.metaeval.scores import Scores, described

#: How scores of segments are grouped before they are correlated.
GROUPINGS = ("none", "item", "system")
_SMALL = 40  # samples up to this size are compared all with all at once


class Counts(NamedTuple):
    """Count the pairs of a sample by how x and y order them, and the distinct values of each."""

    concordant: np.ndarray
    discordant: np.ndarray
    tied_x: np.ndarray  # tied in x alone
    tied_y: np.ndarray
    tied_both: np.ndarray
    size: np.ndarray
    distinct_x: np.ndarray
    distinct_y: np.ndarray


def pearson(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return Pearson's r along the last axis over the places where both have a value; NaN where one does not vary.

    >>> pearson([1, 2, 3, np.nan], [2, 4, 6, 7]).round(12).item()
    1.0
    """
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    both = np.isfinite(x) & np.isfinite(y)
    n = np.maximum(both.sum(-1, keepdims=True), 1)
    varies = np.ones(both.shape[:-1], bool)
    centred = []
    for values in (x, y):
        varies &= np.where(both, values, -np.inf).max(-1) > np.where(both, values, np.inf).min(-1)
        rest = np.where(both, values, 0)
        centred.append(np.where(both, rest - rest.sum(-1, keepdims=True) / n, 0))
    x, y = centred
    spread = np.sqrt((x**2).sum(-1)) * np.sqrt((y**2).sum(-1))
    varies &= spread > 0
    return np.where(varies, np.clip((x * y).sum(-1) / np.where(varies, spread, 1), -1, 1), np.nan)


def spearman(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return Spearman's rho along the last axis: Pearson's r of the ranks, ties at their middle.

    >>> spearman([1, 2, 30, 4], [1, 2, 3, 4]).round(6).item()
    0.8
    """
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    both = np.isfinite(x) & np.isfinite(y)
    return pearson(_ranks(np.where(both, x, np.nan)), _ranks(np.where(both, y, np.nan)))


def counts(x: ArrayLike, y: ArrayLike) -> Counts:
    """Count concordant, discordant and tied pairs along the last axis over the places where both have a value.

    >>> [int(number) for number in counts([1, 2, 3, 3], [1, 3, 2, 2])[:5]]
    [3, 2, 0, 0, 1]
    """
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    both = np.isfinite(x) & np.isfinite(y)
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    shape = x.shape[:-1]
    if x.shape[-1] <= _SMALL:
        return _counts_by_signs(x, y, both)
    rows = [_counts_by_sorting(a[there], b[there]) for a, b, there in zip(*(_flat(each) for each in (x, y, both)))]
    return Counts(*np.array(rows).T.reshape(-1, *shape))


def kendall_b(found: Counts) -> np.ndarray:
    """Return Kendall's tau-b: concordant less discordant pairs, over the geometric mean of pairs untied in x and in y.

    >>> kendall_b(counts([1, 2, 3, 4], [1, 2, 4, 3])).round(6).item()
    0.666667
    """
    total = sum(found[:5])
    untied = (total - found.tied_x - found.tied_both) * (total - found.tied_y - found.tied_both)
    return _share(found.concordant - found.discordant, np.sqrt(untied))


def kendall_c(found: Counts) -> np.ndarray:
    """Return Stuart's tau-c, which reaches 1 where x and y have different numbers of distinct values."""
    fewer = np.minimum(found.distinct_x, found.distinct_y)
    most = found.size**2 * np.maximum(fewer - 1, 0) / np.maximum(fewer, 1)
    return _share(2 * (found.concordant - found.discordant), most)


def accuracy_2way(found: Counts) -> np.ndarray:
    """Return the share of pairs ordered like the humans' (y), among those that humans do not tie; a tie in x is wrong.

    Source: Kocmi et al. 2021, "To ship or not to ship", section 2.
    """
    return _share(found.concordant, found.concordant + found.discordant + found.tied_x)


def accuracy_3way(found: Counts) -> np.ndarray:
    """Return the share of all pairs whose relation (<, = or >) is the humans'; a tie is right where humans tie too.

    Source: Deutsch et al. 2023, "Ties matter", equation 4, without calibration.
    """
    return _share(found.concordant + found.tied_both, sum(found[:5]))


#: name -> statistic of two stacks of samples (metric, human).
STATISTICS = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_b": kendall_b,
    "kendall_c": kendall_c,
    "accuracy_2way": accuracy_2way,
    "accuracy_3way": accuracy_3way,
}


def correlations(
    scores: Scores, *, statistics: Sequence[str] = tuple(STATISTICS), groupings: Sequence[str] = GROUPINGS
) -> pd.DataFrame:
    """Correlate every metric with the human scores, by every statistic and grouping.

    Returns data, pair, level, statistic, grouping, metric, value, n (cells used), groups (those with a defined value,
    which ``value`` averages). Scores of systems know no grouping but ``none``. A group counts where it has at least two
    cells and, for correlations, where neither side is constant; value is NaN where no group does.
    Raises DataError for an unknown statistic or grouping. Source: as mt-metrics-eval, which averages in the same way.

    >>> scores = Scores(("m",), ("A", "B", "C"), ("",), np.array([[[1.0], [2], [4]]]), np.array([[1.0], [2], [3]]))
    >>> correlations(scores, statistics=["kendall_b", "pearson"])[["statistic", "value"]].round(3).values.tolist()
    [['pearson', 0.982], ['kendall_b', 1.0]]
    """
    for name, known in [(s, STATISTICS) for s in statistics] + [(g, GROUPINGS) for g in groupings]:
        if name not in known:
            raise DataError(f"{name!r} is not known here. Choose among {', '.join(known)}.")
    rows = []
    for grouping in ["none"] if scores.level == "system" else groupings:
        human = grouped(scores.human, grouping)
        for metric, values in zip(scores.metrics, scores.values):
            sample = grouped(values, grouping)
            n = int((np.isfinite(sample) & np.isfinite(human)).sum())
            found = counts(sample, human) if set(statistics) - {"pearson", "spearman"} else None
            for name in statistics:
                each = STATISTICS[name](sample, human) if name in {"pearson", "spearman"} else STATISTICS[name](found)
                defined = np.isfinite(each)
                value = float(each[defined].mean()) if defined.any() else np.nan
                rows.append((scores.level, name, grouping, metric, value, n, int(defined.sum())))
    columns = ["level", "statistic", "grouping", "metric", "value", "n", "groups"]
    found = pd.DataFrame(rows, columns=columns)
    return described(scores, found.sort_values(["statistic", "grouping"], key=_order, kind="stable", ignore_index=True))


def grouped(cells: np.ndarray, grouping: str) -> np.ndarray:
    """Arrange cells, systems × segments, as groups × members."""
    return {"none": cells.reshape(1, -1), "item": cells.T, "system": cells}[grouping]


def _order(column: pd.Series) -> pd.Series:
    """Sort by the place in the lists above."""
    return column.map({name: place for place, name in enumerate((*STATISTICS, *GROUPINGS))})


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide; NaN where there is nothing to divide by."""
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)


def _flat(stack: np.ndarray) -> np.ndarray:
    return stack.reshape(-1, stack.shape[-1])


def _ranks(x: np.ndarray) -> np.ndarray:
    """Rank along the last axis from 1 on, ties at their middle; NaN stays."""
    if x.shape[-1] <= _SMALL:
        one, other = x[..., :, None], x[..., None, :]
        below = (one > other).sum(-1) + (one == other).sum(-1) / 2 + 0.5
        return np.where(np.isfinite(x), below, np.nan)
    ranks = np.full(x.shape, np.nan)
    for row, out in zip(_flat(x), _flat(ranks)):
        there = np.isfinite(row)
        out[there] = stats.rankdata(row[there])
    return ranks


def _counts_by_signs(x: np.ndarray, y: np.ndarray, both: np.ndarray) -> Counts:
    """Compare all members of small samples with one another."""
    first, second = np.triu_indices(x.shape[-1], 1)
    dx, dy = x[..., first] - x[..., second], y[..., first] - y[..., second]  # NaN compares as neither
    alike = np.sign(dx) * np.sign(dy)
    tied_x, tied_y = dx == 0, dy == 0
    both_tied = (tied_x & tied_y).sum(-1)
    distinct = [np.where(there, (np.diff(np.sort(v, -1), axis=-1) > 0).sum(-1) + 1, 0) for v, there in
                ((x, both.any(-1)), (y, both.any(-1)))]  # fmt: skip
    pairs_x, pairs_y = (tied_x & np.isfinite(dy)).sum(-1), (tied_y & np.isfinite(dx)).sum(-1)
    return Counts(
        (alike > 0).sum(-1), (alike < 0).sum(-1), pairs_x - both_tied, pairs_y - both_tied, both_tied,
        both.sum(-1), *distinct,
    )  # fmt: skip


def _counts_by_sorting(x: np.ndarray, y: np.ndarray) -> tuple[int, ...]:
    """Count the pairs of one large sample; scipy's tau-b, made whole again, is concordant less discordant pairs."""
    n = len(x)
    codes = [np.unique(values, return_inverse=True)[1] for values in (x, y)]
    joint = np.sort(codes[0] * (codes[1].max(initial=0) + 1) + codes[1])
    sizes = [*map(np.bincount, codes), np.diff(np.flatnonzero(np.diff(joint, prepend=-1, append=-1)))]
    ties_x, ties_y, ties_both = (int((size * (size - 1) // 2).sum()) for size in sizes)
    total = n * (n - 1) // 2
    untied = float(total - ties_x) * float(total - ties_y)
    tau = stats.kendalltau(*codes, method="asymptotic").statistic if untied else 0.0
    balance = round(tau * np.sqrt(untied))
    ordered = total - ties_x - ties_y + ties_both
    concordant = (ordered + balance) // 2
    return (
        concordant, ordered - concordant, ties_x - ties_both, ties_y - ties_both, ties_both,
        n, len(sizes[0]), len(sizes[1]),
    )  # fmt: skip
