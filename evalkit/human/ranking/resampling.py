"""Resample the segments of a campaign, and see how the ranking moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.human.ranking.scores import COUNTED, SEGMENT, SegmentMeans, ranked, segment_means
from evalkit.stats import inference


def rank_ranges(
    ratings: pd.DataFrame,
    *,
    score: str = "score",
    unit: str | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 7,
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] = SEGMENT,
) -> pd.DataFrame:
    """Give each system's score and rank an interval by the bootstrap.

    Segments are drawn with replacement, the same ones for all systems of a language pair. unit: a column whose values
    are drawn instead, such as "annotator", "hit" or "doc", all judgements of one together: how the ranking would look
    with other annotators is another question than how it would look with other segments.
    Returns, in the order of the ranking: pair, system, score, low, high, rank, rank_low, rank_high (percentiles of the
    draws, whole ranks) and best (share of draws in which nobody is better).
    Source: Efron & Tibshirani 1993, ch. 13.  Caveat: what is not drawn is taken as given; ranks of systems that are
    nearly equal have intervals that cover less than their level.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": ["A"] * 3 + ["B"] * 3,
    ...     "segment": list("123") * 2, "score": [60.0, 70, 80, 10, 20, 30], "item_type": "system"})
    >>> rank_ranges(ratings)[["system", "rank", "rank_low", "rank_high", "best"]].values.tolist()
    [['A', 1, 1, 1, 1.0], ['B', 2, 2, 2, 0.0]]
    """
    tables = segment_means(ratings, score=score, item_types=item_types, segment=segment, unit=unit)
    parts = []
    for pair, table in tables.items():
        table = table.ordered()
        drawn = draws(pair, [table], resamples=resamples, rng=np.random.default_rng(seed))[0]
        ranks = ranks_of(drawn)
        low, high = inference.interval(drawn, level=level)
        ends = rank_interval(ranks, level=level)
        frame = ranked(pair, table)[["pair", "system", "score", "rank"]]
        frame[["low", "high"]] = np.column_stack([low, high])
        frame[["rank_low", "rank_high"]] = np.column_stack(ends)
        parts.append(frame.assign(best=(ranks == 1).mean(axis=0)))
    columns = ["pair", "system", "score", "low", "high", "rank", "rank_low", "rank_high", "best"]
    return pd.concat(parts, ignore_index=True)[columns]


def draws(pair: str, tables: Sequence[SegmentMeans], *, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Score the systems of tables on resampled units, (tables, resamples, systems).

    tables: alike in systems and units; they share each draw. Raises DataError where a draw leaves a system without a
    judgement.
    """

    def score(times: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.stack([(times @ table.sums) / (times @ table.weights) for table in tables], axis=1)

    units = np.arange(len(tables[0].units))
    scored = inference.resample(score, units, resamples=resamples, seed=rng).swapaxes(0, 1)
    if np.isnan(scored).any():
        system = tables[0].systems[np.isnan(scored).any(axis=(0, 1)).argmax()]
        raise DataError(
            f"{pair}: some of {resamples} resamples hold no judgement of {system}, which has too few to be resampled. "
            "Resample by smaller units, or leave this system out."
        )
    return scored


def ranks_of(scores: np.ndarray) -> np.ndarray:
    """Rank along the last axis: 1 is the highest, equal scores share the better rank."""
    return stats.rankdata(-scores, method="min", axis=-1).astype(int)


def rank_interval(ranks: np.ndarray, *, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the percentile interval of whole numbers, draws along the first axis, rounded outwards."""
    tail = (1 - level) / 2
    low = np.quantile(ranks, tail, axis=0, method="lower").astype(int)
    return low, np.quantile(ranks, 1 - tail, axis=0, method="higher").astype(int)
