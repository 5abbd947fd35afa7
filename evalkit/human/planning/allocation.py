"""Where to put the next judgement: into a calibration set that all annotators score, or into the campaign itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data.schemas import with_pair
from evalkit.human.planning.components import SET_SIZE
from evalkit.human.planning.components import variances as variances_of

#: Segments of the largest calibration set that ``spending`` tries.
MOST = 200


def difference_variance(
    variances: Mapping[str, float],
    *,
    judgements: ArrayLike,
    block: float = 10,
    calibration: ArrayLike = 0,
    calibration_block: float = 1,
) -> np.ndarray:
    r"""Return the variance of the difference between two systems' mean scores, when blocks go to annotators by chance.

    judgements: N, per system. block: b, segments scored in one go from one system. calibration: c, segments of the set
    whose mean every annotator's scores are shifted by; 0: raw scores.

    .. math:: \operatorname{var} = \frac{2}{N}\,(V_{item} + V_{residual} + b\,(V_{document} + V_{block} + V_{level}))

    .. math:: V_{level} = \begin{cases} V_{annotator} & c = 0 \\ (b_c V_{block} + V_{residual}) / c & c > 0 \end{cases}

    Both systems translate the same source segments, and each block is judged by one annotator, drawn from all by
    chance, so an annotator's level enters both systems in unequal parts that cancel only on average.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> difference_variance(V, judgements=1000, block=10, calibration=[0, 50]).tolist()
    [1.8, 0.632]
    """
    size = np.asarray(calibration, float)
    error = (calibration_block * variances["block"] + variances["residual"]) / np.where(size > 0, size, 1)
    level = np.where(size > 0, error, variances["annotator"])
    scatter = variances["item"] + variances["residual"] + block * (variances["document"] + variances["block"] + level)
    return 2 * scatter / np.asarray(judgements, float)


def break_even(
    variances: Mapping[str, float], *, size: int = 100, block: float = 10, calibration_block: float = 1
) -> float:
    r"""Return how many ordinary judgements an annotator must give for a calibration set to pay.

    The set costs each annotator ``size`` c judgements. The alternative is c more ordinary judgements each, so that N
    grows from q to q + c per annotator. The variances of ``difference_variance`` are equal at

    .. math:: q^* = c\,\frac{N \operatorname{var} / 2}{b\,(V_{annotator} - V_{level})}

    with :math:`\operatorname{var}` and :math:`V_{level}` those with the set. Above it the set is worth more. Neither
    the number of systems nor that of annotators matters. Infinite where the set leaves as much error as the levels
    themselves.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> round(break_even(V, size=50, block=10))
    27
    """
    if size < 1 or block < 1:
        raise DataError(f"size={size} and block={block:g} must be 1 or more.")
    with_set = difference_variance(
        variances, judgements=1, block=block, calibration=size, calibration_block=calibration_block
    )
    without = difference_variance(variances, judgements=1, block=block)
    gain = float(without - with_set)
    return float(size * with_set / gain) if gain > 0 else float("inf")


def best_size(
    variances: Mapping[str, float], *, judgements: int, block: float = 10, calibration_block: float = 1
) -> tuple[int, float]:
    """Return how many of an annotator's ``judgements`` are best spent on a calibration set, and what that gains.

    judgements: all that an annotator gives, the set included. The gain is the standard error of a difference between
    two systems with the best set over that without any, at the same cost (1: nothing gained, and the size is then 0).

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> size, ratio = best_size(V, judgements=500)
    >>> size, round(ratio, 2)
    (34, 0.62)
    """
    if judgements < 2:
        raise DataError("An annotator needs two judgements or more for a part of them to be spent on calibration.")
    sizes = np.arange(judgements)
    found = difference_variance(
        variances, judgements=judgements - sizes, block=block, calibration=sizes, calibration_block=calibration_block
    )
    best = int(found.argmin())
    return best, float(np.sqrt(found[best] / found[0]))


def workloads(table: pd.DataFrame, done: pd.DataFrame, *, hit: int = 100, shared: float = 0.5) -> pd.DataFrame:
    """Weigh a calibration set of 100 segments against the workload of annotators, per language pair.

    table: the result of ``components``; its median block is the block of the campaign and of the set. done: columns
    pair, annotators and additional_hits_median (HITs of ``hit`` judgements, beside the set). shared: see ``variances``.
    Returns pair, annotators, additional_hits, cost_share (of all judgements, spent on the set),
    break_even_hits, pays, se_ratio (standard error of a difference between two systems with the set over that with as
    many more ordinary judgements), best_size (segments, at the same total) and best_se_ratio.
    """
    rows = []
    for row in done.itertuples():
        parts = variances_of(table, row.pair, shared=shared)
        block = float(table.loc[table["pair"] == row.pair, "block_length"].iloc[0])
        hits = float(row.additional_hits_median)
        options = {"block": block, "calibration_block": block}
        needed = break_even(parts, size=SET_SIZE, **options) / hit
        total = round(hits * hit) + SET_SIZE
        with_set = difference_variance(parts, judgements=total - SET_SIZE, calibration=SET_SIZE, **options)
        ratio = float(np.sqrt(with_set / difference_variance(parts, judgements=total, block=block)))
        best, best_ratio = best_size(parts, judgements=total, **options)
        share = SET_SIZE / total
        rows.append((row.pair, row.annotators, hits, share, needed, hits > needed, ratio, best, best_ratio))
    names = ["pair", "annotators", "additional_hits", "cost_share", "break_even_hits", "pays", "se_ratio"]
    return pd.DataFrame(rows, columns=[*names, "best_size", "best_se_ratio"])


def spending(
    table: pd.DataFrame,
    done: pd.DataFrame,
    *,
    hit: int = 100,
    shared: float = 0.5,
) -> pd.DataFrame:
    """Trace what a calibration set of each size is worth at the same total number of judgements.

    Arguments as in ``workloads``; sets of up to ``MOST`` segments, made of whole documents, or of single segments of
    many documents. Returns pair, design, size, se_ratio: the standard error of a difference between two
    systems over the one without any set.
    """
    parts = []
    for row in done.itertuples():
        variances = variances_of(table, row.pair, shared=shared)
        block = float(table.loc[table["pair"] == row.pair, "block_length"].iloc[0])
        total = round(float(row.additional_hits_median) * hit) + SET_SIZE
        for design, set_block in (("whole documents", block), ("single segments", 1)):
            sizes = np.arange(max(1, round(set_block)), min(MOST, total - 1) + 1)
            found = difference_variance(
                variances, judgements=total - sizes, block=block, calibration=sizes, calibration_block=set_block
            )
            ratio = np.sqrt(found / difference_variance(variances, judgements=total, block=block))
            parts.append(pd.DataFrame({"pair": row.pair, "design": design, "size": sizes, "se_ratio": ratio}))
    return pd.concat(parts, ignore_index=True)


def imbalance(ratings: pd.DataFrame) -> pd.DataFrame:
    r"""Measure how unevenly annotators are spread over systems, and what chance would give.

    For two systems A and B, :math:`I = \sum_a (w_{aA} - w_{aB})^2` with :math:`w_{aA}` the share of A's judgements
    that annotator a gave; the annotators' levels add :math:`I\,V_{annotator}` to the variance of A - B. Blocks dealt
    out by chance give :math:`b_A/N_A + b_B/N_B`, b being the blocks' mean size as seen by a judgement. Returns pair,
    systems, block (median segments of one document scored by one annotator for one system), observed and by_chance
    (means over all two systems), and ratio.
    """
    counted = with_pair(ratings[ratings["item_type"] == "system"])
    rows = []
    for pair, group in counted.groupby("pair"):
        table = group.groupby(["annotator", "system"]).size().unstack(fill_value=0)
        share = (table / table.sum()).to_numpy()
        length = group.groupby(["system", "annotator", "doc"]).size()
        chance = ((length**2).groupby("system").sum() / table.sum() ** 2).to_numpy()
        first, second = np.triu_indices(share.shape[1], 1)
        if not len(first):
            raise DataError(f"{pair}: there is one system only, and nothing to be balanced over.")
        found = float(((share[:, first] - share[:, second]) ** 2).sum(0).mean())
        expected = float((chance[first] + chance[second]).mean())
        rows.append((pair, share.shape[1], float(length.median()), found, expected, found / expected))
    return pd.DataFrame(rows, columns=["pair", "systems", "block", "observed", "by_chance", "ratio"])
