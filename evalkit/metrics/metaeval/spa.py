"""Soft pairwise accuracy: how closely a metric's confidence that one system beats another matches the humans'.

For every two systems, a paired permutation test of their segment scores gives the p-value that the first is better:
the share of random sign flips of the differences between their scores whose sum is at least as large as the observed.
SPA is 1 less the mean distance of the metric's p-values from the humans'. With B a mask of the flipped segments, the
flipped sum reaches the observed exactly where the first system's sum over B is no larger than the second's, so one
product of masks with the scores of all systems serves every two of them.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.metaeval.scores import Scores, described, patterns
from evalkit.metrics.metaeval.swaps import Plan, reached, swapped
from evalkit.stats.inference import TOLERANCE, Permuted, Swaps

_PAIRS = 8  # pairs of metrics compared at once: what they need stays in cache
_LANES = 255  # bytes of ones that add up without overflow


def confidences(sums: np.ndarray) -> np.ndarray:
    """Return the p-value that system i is better than j, for i < j in the order of ``np.triu_indices``.

    sums: systems × tests × flips, each system's mean score over the flipped segments. Returns tests × pairs.
    """
    systems, tests, flips = sums.shape
    lower = sums - TOLERANCE
    marks = np.zeros((systems * (systems - 1) // 2, tests, -flips % 8 + flips), bool)  # whole words of eight bytes
    start = 0
    for i in range(systems - 1):
        end = start + systems - 1 - i
        np.less_equal(lower[i], sums[i + 1 :], out=marks[start:end, :, :flips])
        start = end
    return _counted(marks).T / flips


def _counted(marks: np.ndarray) -> np.ndarray:
    """Count the True along the last axis, eight bytes at a time."""
    words = marks.view(np.uint64)
    parts = [np.add.reduce(words[..., start : start + _LANES], axis=-1) for start in range(0, words.shape[-1], _LANES)]
    return sum(part[..., None].view(np.uint8).sum(axis=-1, dtype=np.int64) for part in parts)


def spa(scores: Scores, *, flips: int = 1000, seed: int = 7) -> pd.DataFrame:
    """Return every metric's soft pairwise accuracy.

    flips: sign flips of each permutation test, the same for humans and metrics. A metric is used on the segments for
    which it and humans scored all systems. Returns data, pair, level ("system"), statistic ("spa"), grouping ("none"),
    metric, value, n (segments), groups (pairs of systems). Source: Thompson et al. 2024, "Improving statistical
    significance in human evaluation of automatic metrics via soft pairwise accuracy", section 4.
    Caveat: p-values count ties on both sides, so where scores tie often (a constant metric has p = 1 throughout) SPA
    depends on the order of the systems, here by name.

    >>> human = np.array([[0.9, 0.8, 0.7, 0.9], [0.1, 0.2, 0.1, 0.3]])
    >>> spa(Scores(("m",), ("A", "B"), tuple("1234"), human[None] * 7, human))["value"].item()
    1.0
    """
    value = [soft_accuracy(metric, human) for metric, human in metric_and_human_p(scores, flips=flips, seed=seed)]
    table = pd.DataFrame({"level": "system", "statistic": "spa", "grouping": "none", "metric": scores.metrics})
    table["value"] = np.array(value, float)
    table["n"] = (np.isfinite(scores.values) & scores.judged).all(axis=1).sum(axis=1)
    return described(scores, table.assign(groups=len(scores.systems) * (len(scores.systems) - 1) // 2))


def metric_and_human_p(scores: Scores, *, flips: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for every metric its p-values of all pairs of systems, and the humans' on the same segments."""
    if scores.level == "system":
        raise DataError("SPA tests systems on their segments. Pass scores of segments, not of whole systems.")
    pairs = len(scores.systems) * (len(scores.systems) - 1) // 2
    found = [(np.full(pairs, np.nan),) * 2] * len(scores.metrics)
    for cells, members in patterns(scores):
        columns = cells.all(axis=0)
        if columns.any():
            mask = flipped(int(columns.sum()), flips=flips, seed=seed)
            human = confidences((scores.human[:, columns] @ mask)[:, None])[0]
            metrics = confidences((scores.values[members][:, :, columns] @ mask).swapaxes(0, 1))
            for number, metric in zip(members, metrics):
                found[number] = metric, human
    return found


def soft_accuracy(metric: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Return 1 less the mean distance of p-values over pairs of systems, the last axis; NaN without a pair."""
    pairs = metric.shape[-1]
    return 1 - np.abs(metric - human).sum(axis=-1) / pairs if pairs else np.full(metric.shape[:-1], np.nan)


def flipped(segments: int, *, flips: int, seed: int) -> np.ndarray:
    """Draw which segments are flipped, (segments, flips); a product with it averages over them."""
    return Swaps(segments).drawn(flips, np.random.default_rng(seed)).T / segments


def spa_test(values: np.ndarray, human: np.ndarray, pairs: np.ndarray, plan: Plan, *, flips: int) -> Permuted:
    """Compare SPA of metrics, two by two, with PERM-BOTH on cells: differences, and hits of the better one.

    values: metrics × systems × segments, human: systems × segments, without gaps; pairs: pairs × 2 positions.
    Every swap needs new permutation tests of both swapped metrics; the flipped sums of the swapped cells are computed
    once per metric and swap, and put together for each pair of metrics.
    """
    spread = values.std(axis=(1, 2), keepdims=True)
    values = (values - values.mean(axis=(1, 2), keepdims=True)) / np.where(spread > 0, spread, 1)
    mask = flipped(human.shape[1], flips=flips, seed=plan.seed)
    gold = confidences((human @ mask)[:, None])
    own = soft_accuracy(confidences((values @ mask).swapaxes(0, 1)), gold)
    observed = own[pairs[:, 0]] - own[pairs[:, 1]]
    return swapped(partial(_spa_hits, values, gold, mask, pairs, observed), observed, human.size, plan, block=8)


def _spa_hits(
    values: np.ndarray, gold: np.ndarray, mask: np.ndarray, pairs: np.ndarray, observed: np.ndarray, masks: np.ndarray
) -> np.ndarray:
    whole = values @ mask  # metrics × systems × flips
    hits = np.zeros(len(pairs), np.int64)
    for swap in masks.reshape(-1, *values.shape[1:]):
        moved = ((values * swap).reshape(-1, len(mask)) @ mask).reshape(whole.shape)
        stays = whole - moved
        for start in range(0, len(pairs), _PAIRS):
            some = slice(start, start + _PAIRS)
            a, b = pairs[some].T
            both = np.concatenate([stays[a] + moved[b], stays[b] + moved[a]]).swapaxes(0, 1)
            one, other = soft_accuracy(confidences(both), gold).reshape(2, -1)
            hits[some] += reached((one - other)[:, None], observed[some])
    return hits
