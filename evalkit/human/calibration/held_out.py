"""Does a shift carry over? Calibrate on one half of the shared documents, look at the other half.

The idea behind calibration is that groups differ in how strict they are, by the same amount on any text. Where all
groups rated the same items this can be tested: learn each group's shift on half of the documents, apply it to its mean
on the other half, and see whether the groups' means come closer. Without calibration the distances stay as they are;
a shift that were pure noise would push them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import scale_of
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.calibration.forms import capped, line, moderated, shift, two_points
from evalkit.human.calibration.ratings import item_medians
from evalkit.stats import inference


class _Halves(NamedTuple):
    """Group means per split (groups x splits): on the held-out half, the calibration half and its two strata."""

    task: np.ndarray
    calibration: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def held_out(
    ratings: pd.DataFrame,
    *,
    by: str = "annotator",
    within: str | None = "pair",
    scale: tuple[float, float] | None = None,
    splits: int = 200,
    resamples: int = 500,
    seed: int = 7,
) -> pd.DataFrame:
    """Compare how far groups' held-out means lie apart before and after each form of calibration.

    ratings: calibration items that all groups of a place (a value of ``within``) rated. Items that not even half of
    the groups rated are left out, then groups that did not rate all others (``left_out``).
    Each split takes half of the documents (of the items, where there are fewer than four documents). Where there are no
    more than ``splits`` ways to do so, all are taken, and only the intervals depend on the seed. The agreed score
    is the groups' average on that half. Spread is the standard deviation (ddof=1) of group means, the median over
    splits, in points of the scale. There are no human references here, so the two-point line runs through the harder
    and the easier items of the calibration half. A split where both are equal for some group has no line and counts as
    infinitely wide; a missing value says that most splits have none.
    The cap is half a point of a five-point scale in the units of ``scale`` (None: the table's own).
    Returns within, form, groups, left_out, items, documents, before, after, ratio (after / before; below 1: closer),
    low, high, closer (share of splits in which the groups came closer). The interval resamples groups; documents are
    taken as they are.
    """
    scale, rows = scale_of(ratings, given=scale), []
    for place, table, left_out, documents in _places(ratings, by, within):
        rng = np.random.default_rng(seed)
        halves = _split(table, documents, splits, rng)
        before, after = _spreads(halves, scale)
        draws = _bootstrap(halves, lambda h: _ratios(h, scale), resamples, rng)
        shape = (len(table), left_out, table.shape[1], len(np.unique(documents)))
        for k, (form, spread) in enumerate(after.items()):
            with np.errstate(invalid="ignore"):  # between two infinite draws a quantile is missing
                low, high = inference.interval(draws[:, k])
            closer = float(np.mean(spread < before))
            whole = (float(_typical(before)), float(_typical(spread)), float(_typical(spread) / _typical(before)))
            rows.append((place, form, *shape, *whole, float(low), float(high), closer))
    columns = "within form groups left_out items documents before after ratio low high closer"
    return pd.DataFrame(rows, columns=columns.split()).replace(np.inf, np.nan)


def carry_over(
    ratings: pd.DataFrame,
    *,
    by: str = "annotator",
    within: str | None = "pair",
    splits: int = 200,
    resamples: int = 500,
    seed: int = 7,
) -> pd.DataFrame:
    """Measure which share of a group's deviation on one half shows on the other: within, groups, slope, low, high.

    slope: least squares of held-out deviations on calibration deviations over groups, averaged over splits. 1: the
    whole shift carries over; 0: nothing does; below one half, a full shift does more harm than none, because
    after² = before² + (1 - 2·slope)·(spread of the calibration half)². Noise in a short calibration half pulls the
    slope towards 0, so it speaks of shifts learned from this many items. The interval resamples groups.
    """
    rows = []
    for place, table, _, documents in _places(ratings, by, within):
        rng = np.random.default_rng(seed)
        halves = _split(table, documents, splits, rng)
        low, high = inference.interval(_bootstrap(halves, _slope, resamples, rng))
        rows.append((place, len(table), float(_slope(halves)), float(low), float(high)))
    return pd.DataFrame(rows, columns=["within", "groups", "slope", "low", "high"])


def _places(ratings: pd.DataFrame, by: str, within: str | None) -> Iterator[tuple[str, pd.DataFrame, int, np.ndarray]]:
    """Yield (place, groups x items without gaps, how many groups were left out, the document of each item)."""
    calibration = with_pair(ratings).query("item_type == 'calibration'")
    if len(calibration) == 0:
        raise DataError("No calibration items in these ratings. Give them the item_type 'calibration'.")
    arena = calibration[within] if within else pd.Series("all", index=calibration.index)
    for place, part in calibration.groupby(arena, sort=True):
        wide = item_medians(part, by=by).pivot(index=by, columns=ITEM, values="score")
        common = wide.loc[:, wide.notna().mean() > 0.5].dropna()
        if len(common) < 3 or common.shape[1] < 4:
            raise DataError(
                f"{place}: {len(common)} groups rated the same {common.shape[1]} items. A held-out test needs at least "
                "3 groups and 4 items: choose another `by`, or leave this place out."
            )
        documents = common.columns.get_level_values("doc").to_numpy()
        if len(np.unique(documents)) < 4:  # single sentences, such as an XSTS calibration set
            documents = np.arange(common.shape[1])
        yield place, common, len(wide) - len(common), documents


def _split(table: pd.DataFrame, documents: np.ndarray, splits: int, rng: np.random.Generator) -> _Halves:
    names, index = np.unique(documents, return_inverse=True)
    use = _chosen(len(names), splits, rng)[:, index].T  # items x splits: whether the item calibrates
    scores = table.to_numpy(float)
    quality = np.where(use, scores.mean(axis=0)[:, None], np.nan)
    easy = quality > np.nanmedian(quality, axis=0)

    def mean(items: np.ndarray) -> np.ndarray:
        return scores @ items / np.maximum(items.sum(axis=0), 1)

    return _Halves(mean(~use), mean(use), mean(use & ~easy), mean(use & easy))


def _chosen(documents: int, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Choose the documents of calibration halves, splits x documents: all ways if these are few, else random ones."""
    half = documents // 2
    if comb(documents, half) <= splits:
        ways = np.array(list(combinations(range(documents), half)))
        return (ways[:, :, None] == np.arange(documents)).any(axis=1)
    return rng.permuted(np.tile(np.arange(documents) < half, (splits, 1)), axis=1)


def _spreads(halves: _Halves, scale: tuple[float, float]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Spread of the groups' held-out means, before and after each form; groups stand on the last axis but one."""
    task, calibration, lower, upper = halves
    quarter = (scale[1] - scale[0]) / 4
    alpha = _agreed(calibration) - calibration
    beta, intercept = two_points(lower, upper, consensus=_agreed(lower), human_reference=_agreed(upper))
    moved = {
        "shift": shift(task, alpha=alpha),
        "line": line(task, beta=beta, alpha=intercept),
        "capped": capped(task, alpha=alpha, cap=quarter / 2),
        "moderated": moderated(task, alpha=alpha, scale=scale, unit=quarter),
    }
    spread = {form: x.std(axis=-2, ddof=1) for form, x in moved.items()}
    spread["line"] = np.where(np.isnan(spread["line"]), np.inf, spread["line"])  # a group's fixed points coincide
    return task.std(axis=-2, ddof=1), spread


def _bootstrap(
    halves: _Halves, statistic: Callable[[_Halves], np.ndarray], resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw the groups again; draws of one group only, which have no spread, are left out."""
    stacked = np.moveaxis(np.stack(halves), 0, -1)  # groups x splits x halves
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = inference.bootstrap(
            stacked, lambda drawn: statistic(_Halves(*np.moveaxis(drawn, -1, 0))), resamples=resamples, seed=rng
        )
    there = ~np.isnan(draws.reshape(len(draws), -1)[:, 0])
    return draws[there] if there.any() else draws[:1]  # where groups never differ, the interval is missing


def _ratios(halves: _Halves, scale: tuple[float, float]) -> np.ndarray:
    before, after = _spreads(halves, scale)
    return np.stack([_typical(spread) / _typical(before) for spread in after.values()], axis=-1)


def _slope(halves: _Halves) -> np.ndarray:
    dx, dy = (half - _agreed(half) for half in (halves.calibration, halves.task))
    return ((dx * dy).sum(axis=-2) / (dx**2).sum(axis=-2)).mean(axis=-1)


def _agreed(means: np.ndarray) -> np.ndarray:
    return means.mean(axis=-2, keepdims=True)


def _typical(spread: np.ndarray) -> np.ndarray:
    return np.median(spread, axis=-1)
