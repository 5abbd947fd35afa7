"""Pairwise accuracy with calibrated ties, acc_eq: from which difference on should a metric's scores count as different?

Within each segment every two systems are compared. A metric ties two outputs whose scores differ by no more than a
threshold; a pair is right where metric and humans give the same relation (<, = or >). The threshold that gives the
highest accuracy is found exactly: raising it makes pairs right that humans tie, and wrong that were concordant, so the
sorted differences of these two kinds, swept once, give the accuracy at every threshold.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.metaeval.scores import Scores, described, patterns
from evalkit.stats.inference import TOLERANCE

_BINS = 8192  # enough that only few differences need sorting, few enough to stay in cache


class Comparisons:
    """Hold the human relations of every two systems within each segment, over given cells (systems × segments).

    Pairs are numbered in classes of segments with equally many scored systems, because accuracies are averaged over
    segments: ``weights`` has the weight of one pair of each class, ``classes`` the slice of its pairs; ``weight`` has
    the weight of each pair, and ``tied`` the same where humans tie the pair, else 0.
    """

    def __init__(self, human: np.ndarray, cells: np.ndarray):
        self.first, self.second = np.triu_indices(len(human), 1)
        valid = cells[self.first] & cells[self.second]
        per_segment = valid.sum(axis=0)
        self.segments = int((per_segment > 0).sum())
        relation = np.sign(np.where(cells, human, 0)[self.first] - np.where(cells, human, 0)[self.second])
        sizes = np.unique(per_segment[per_segment > 0])
        places = [np.flatnonzero(valid & (per_segment == size)) for size in sizes]
        ends = np.cumsum([0, *map(len, places)])
        self.places = np.concatenate(places) if places else np.zeros(0, int)
        self.classes = [slice(start, end) for start, end in itertools.pairwise(ends)]
        self.weights = 1 / (sizes * max(self.segments, 1))
        self.weight = np.repeat(self.weights, np.diff(ends))
        self.relation = relation.reshape(-1)[self.places]
        self.tied = np.where(self.relation == 0, self.weight, 0)
        self.segment = self.places % valid.shape[1] if valid.size else self.places

    def differences(self, scores: np.ndarray) -> np.ndarray:
        """Subtract the metric's scores of every two systems, in the order of the pairs."""
        every = (scores[self.first] - scores[self.second]).reshape(-1)
        return every if len(every) == len(self.places) and len(self.classes) == 1 else every[self.places]

    def calibrated(self, difference: np.ndarray) -> tuple[float, float]:
        """Return the highest accuracy and the smallest threshold that reaches it.

        Only bins of differences in which the maximum can lie are sorted: those where the gain before the bin, and all
        that its ties could add, come up to the best gain at the end of any bin.
        """
        size = np.abs(difference)
        gain = self.tied - self.weight * (difference * self.relation > 0)
        scale = _BINS / (8 * size.mean()) if size.any() else 0.0  # the last bin takes what lies far out
        bins = np.minimum((size * scale).astype(np.intp), _BINS - 1)
        rise, net = (np.bincount(bins, each, _BINS) for each in (self.tied, gain))
        after = np.cumsum(net)
        hopeful = (after - net + rise >= max(after.max(), 0) - TOLERANCE)[bins]
        order = np.argsort(size[hopeful])
        size, bins, gain = size[hopeful][order], bins[hopeful][order], gain[hopeful][order]
        reached = np.cumsum(gain)
        first = np.flatnonzero(np.diff(bins, prepend=-1))
        skipped = (after - net)[bins[first]] - (reached[first] - gain[first])  # gains of bins that are not sorted
        reached += np.repeat(skipped, np.diff(first, append=len(bins)))
        last = np.flatnonzero(np.diff(size, append=np.inf))  # of equal differences
        thresholds = np.append(0.0, size[last])
        reached = np.append(0.0, reached[last])  # where some differences are 0, theirs is among the others
        threshold = thresholds[np.argmax(reached > reached.max() - TOLERANCE)]
        return float(self.mean(self.right(difference, threshold))), float(threshold)

    def right(self, difference: np.ndarray, threshold: float) -> np.ndarray:
        """Mark the pairs to which metric and humans give the same relation."""
        return np.where(self.tied > 0, np.abs(difference) <= threshold, difference * self.relation > threshold)

    def mean(self, right: np.ndarray) -> np.ndarray:
        """Average over pairs (the last axis) within segments, then over segments."""
        return sum(w * right[..., part].sum(-1) for w, part in zip(self.weights, self.classes))


def acc_eq(scores: Scores, *, thresholds: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Return every metric's pairwise accuracy within segments, averaged over segments, at its best threshold of ties.

    thresholds: metric -> threshold, to apply those found on other data; None calibrates each metric on these scores,
    which flatters it a little. Segments count with at least two systems that metric and humans scored.
    Returns data, pair, level, statistic ("acc_eq"), grouping ("item"), metric, value, n (pairs), groups (segments),
    threshold, ties (share of pairs that the metric then ties). Of several thresholds that give the highest accuracy,
    the smallest. Source: Deutsch et al. 2023, "Ties matter", sections 4 and 6; WMT23 without sampling of pairs.

    >>> human, metric = np.array([[0.0], [0], [-5]]), np.array([[[0.81], [0.80], [0.2]]])
    >>> acc_eq(Scores(("m",), ("A", "B", "C"), ("s",), metric, human))[["value", "threshold"]].round(3).values.tolist()
    [[1.0, 0.01]]
    """
    if scores.level == "system":
        raise DataError("acc_eq compares systems within segments. Pass scores of segments, not of whole systems.")
    rows: dict[int, tuple[object, ...]] = {}
    for cells, members in patterns(scores):
        compared = Comparisons(scores.human, cells)
        for number in members:
            name, difference = scores.metrics[number], compared.differences(scores.values[number])
            value, threshold = np.nan, np.nan
            if compared.segments and thresholds is None:
                value, threshold = compared.calibrated(difference)
            elif compared.segments and thresholds is not None:
                threshold = _given(thresholds, name)
                value = float(compared.mean(compared.right(difference, threshold)))
            tied = (np.abs(difference) <= threshold).mean() if compared.segments else np.nan
            rows[number] = (name, value, len(compared.places), compared.segments, threshold, tied)
    columns = ["metric", "value", "n", "groups", "threshold", "ties"]
    table = pd.DataFrame([rows[number] for number in sorted(rows)], columns=columns)
    table.insert(0, "level", "segment")
    table.insert(1, "statistic", "acc_eq")
    table.insert(2, "grouping", "item")
    return described(scores, table)


def _given(thresholds: Mapping[str, float], metric: str) -> float:
    if metric not in thresholds:
        raise DataError(f"There is no threshold for the metric {metric}. Add it, or leave the thresholds out.")
    return float(thresholds[metric])
