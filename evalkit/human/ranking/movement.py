"""See how a ranking moves when the scores are made otherwise, and whether more than by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human.ranking.clusters import clustered
from evalkit.human.ranking.pairwise import Comparison
from evalkit.human.ranking.resampling import draws, rank_interval, ranks_of
from evalkit.human.ranking.scores import COUNTED, SEGMENT, SegmentMeans, segment_means
from evalkit.stats import inference
from evalkit.stats.correlation import kendall_b


class _Pair(NamedTuple):
    """What one language pair gives under every variant, systems by name: tables, clusters, scores on resamples."""

    pair: str
    clustered: dict[str, pd.DataFrame]
    drawn: np.ndarray


def rankings(
    variants: Mapping[str, pd.DataFrame],
    *,
    score: str | Mapping[str, str] = "score",
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 7,
    unit: str | None = None,
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] = SEGMENT,
    **test: Any,
) -> pd.DataFrame:
    """Rank the systems under every variant of the ratings, beside their places under the first variant.

    variants: name -> ratings, such as the same judgements normalised or screened in different ways; all have the same
    systems. score: the column to rank by, one for all, or variant -> column. test: options of ``wins`` that shape the
    clusters: test, alpha, alternative, correction. Segments, or the values of the column ``unit`` (see
    ``rank_ranges``), are resampled jointly: each draw scores all variants on the same ones, so that ``moved`` is not
    blurred by which segments a campaign happened to have.
    Returns pair, variant, system, score, rank, rank_low, rank_high (bootstrap), cluster, moved (places gained against
    the first variant; positive is up), moved_low, moved_high, and beyond_noise (the interval of ``moved`` leaves 0
    out), in the order of each ranking.
    """
    columns = ["pair", "variant", "system", "score", "rank", "rank_low", "rank_high", "cluster", "moved", "moved_low",
               "moved_high", "beyond_noise"]  # fmt: skip
    parts = []
    for one in _pairs(variants, score, resamples, seed, unit, item_types, segment, Comparison(**test)):
        ranks = ranks_of(one.drawn)
        first = next(iter(one.clustered.values()))["rank"]
        for k, (variant, table) in enumerate(one.clustered.items()):
            low, high = rank_interval(ranks[k], level=level)
            moved_low, moved_high = rank_interval(ranks[0] - ranks[k], level=level)
            part = table.assign(
                variant=variant, rank_low=low, rank_high=high, moved=first - table["rank"], moved_low=moved_low,
                moved_high=moved_high, beyond_noise=(moved_low > 0) | (moved_high < 0),
            )  # fmt: skip
            parts.append(part.sort_values("rank", kind="stable"))
    return pd.concat(parts, ignore_index=True)[columns]


def moves(
    variants: Mapping[str, pd.DataFrame],
    *,
    score: str | Mapping[str, str] = "score",
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 7,
    unit: str | None = None,
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] = SEGMENT,
    **test: Any,
) -> pd.DataFrame:
    """Measure how far each variant's ranking is from that of the first variant, beside how far chance would move it.

    Options: see ``rankings``. Returns, per language pair and each variant after the first:
    pair, variant, against (the first one), systems; tau_b (Kendall's, between the two lists of scores), tau_b_low and
    tau_b_high (bootstrap, both on the same draws); moved (systems whose rank differs), beyond_noise (those of them
    whose bootstrap interval of ``moved`` leaves out 0); clusters and clusters_first; cluster_changes (pairs of systems
    that one of the rankings parts by a line and the other does not, or parts the other way round); and by chance, where
    the first ranking is held against itself on resampled units: tau_b_noise and moved_noise (medians), and noise_share
    (of draws in which tau-b is no higher than the variant's; a large share: the variant moves the ranking no more than
    another sample would).  Source: Kendall 1945.
    Caveat: resampled segments take the annotators as given; where few people each judged many segments, and the
    variants treat people differently, unit="annotator" is the honest noise. A resample differs from the campaign about
    as much as the campaign from the truth; a second campaign would differ from it by √2 times as much.
    """
    rows = []
    for one in _pairs(variants, score, resamples, seed, unit, item_types, segment, Comparison(**test)):
        names, tables = list(one.clustered), list(one.clustered.values())
        scores = np.array([table["score"] for table in tables])
        ranks, drawn_ranks = ranks_of(scores), ranks_of(one.drawn)
        noise = kendall_b(one.drawn[0], scores[0])
        moved_noise = (drawn_ranks[0] != ranks[0]).sum(axis=1)
        cluster = np.array([table["cluster"] for table in tables])
        for k in range(1, len(tables)):
            value = float(kendall_b(scores[k], scores[0]))
            low, high = inference.interval(kendall_b(one.drawn[k], one.drawn[0]), level=level)
            moved_low, moved_high = rank_interval(drawn_ranks[0] - drawn_ranks[k], level=level)
            moved = ranks[k] != ranks[0]
            rows.append({
                "pair": one.pair, "variant": names[k], "against": names[0], "systems": len(moved),
                "tau_b": value, "tau_b_low": low, "tau_b_high": high, "moved": int(moved.sum()),
                "beyond_noise": int((moved & ((moved_low > 0) | (moved_high < 0))).sum()),
                "clusters": cluster[k].max(), "clusters_first": cluster[0].max(),
                "cluster_changes": cluster_changes(cluster[0], cluster[k]),
                "tau_b_noise": np.median(noise), "moved_noise": np.median(moved_noise),
                "noise_share": (noise <= value + 1e-12).mean(),
            })  # fmt: skip
    return pd.DataFrame(rows)


def cluster_changes(one: np.ndarray, other: np.ndarray) -> int:
    """Count the pairs of systems that stand otherwise to each other: which is in the better cluster, or neither.

    >>> cluster_changes(np.array([1, 1, 2]), np.array([1, 2, 2]))
    2
    """
    i, j = np.triu_indices(len(one), 1)
    return int((np.sign(one[i] - one[j]) != np.sign(other[i] - other[j])).sum())


def _pairs(
    variants: Mapping[str, pd.DataFrame],
    score: str | Mapping[str, str],
    resamples: int,
    seed: int,
    unit: str | None,
    item_types: tuple[str, ...],
    segment: tuple[str, ...],
    how: Comparison,
) -> Iterator[_Pair]:
    """Yield each language pair under all variants, on the same systems and draws."""
    if not variants:
        raise DataError("There is no variant to rank. Give at least one table of ratings.")
    columns = dict.fromkeys(variants, score) if isinstance(score, str) else score
    if lost := [name for name in variants if name not in columns]:
        raise DataError(f"score names no column for the variant {lost[0]}. Name one, or pass one column for all.")
    options = {"item_types": item_types, "segment": segment, "unit": unit}
    tables = {name: segment_means(frame, score=columns[name], **options) for name, frame in variants.items()}
    names = list(variants)
    for pair in tables[names[0]]:
        for name in names:
            _demand_same_systems(pair, names[0], tables[names[0]], name, tables[name])
        units = tables[names[0]][pair].units
        for name in names[1:]:
            units = units.union(tables[name][pair].units, sort=False)
        aligned = [_aligned(tables[name][pair], units) for name in names]
        drawn = draws(pair, aligned, resamples=resamples, rng=np.random.default_rng(seed))
        told = {
            name: clustered(pair, table, how).sort_values("system", ignore_index=True)
            for name, table in zip(names, aligned, strict=True)
        }
        yield _Pair(pair, told, drawn)


def _demand_same_systems(pair: str, first: str, one: dict, name: str, other: dict) -> None:
    """Refuse a variant that lacks a system, or has one more."""
    lost = set(one[pair].systems) ^ set(other[pair].systems if pair in other else ())
    if lost:
        raise DataError(
            f"{pair}: only one of the variants {first} and {name} has scores of {min(lost)}. "
            "Rankings can be compared on the same systems only: leave it out of both."
        )


def _aligned(table: SegmentMeans, units: pd.Index) -> SegmentMeans:
    """Spread what is resampled over more units."""
    places = units.get_indexer(table.units)
    sums, weights = np.zeros((2, len(units), len(table.systems)))
    sums[places], weights[places] = table.sums, table.weights
    return replace(table, units=units, sums=sums, weights=weights)
