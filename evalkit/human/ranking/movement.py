"""How sure a ranking is, and how it moves when the scores are made otherwise: both by resampling a campaign's units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import segment_key
from evalkit.human.ranking.lines import averaged, cluster
from evalkit.human.ranking.scores import SegmentMeans, half_widths, influences, ranked, segment_means
from evalkit.stats import inference
from evalkit.stats.correlation import kendall_b


class Resampled(NamedTuple):
    """What one language pair gives under every variant, systems by name: clustered rankings, scores on resamples."""

    pair: str
    clustered: dict[str, pd.DataFrame]
    drawn: np.ndarray


def rank_ranges(ratings: pd.DataFrame, *, resamples: int = 1000, seed: int = 7, **options: Any) -> pd.DataFrame:
    """Give each system's score and rank an interval.

    options: those of ``segment_means``. unit: what another campaign would have drawn otherwise, a column such as
    "annotator", "hit" or "doc", all judgements of one together; None for segments: how the ranking would look with
    other annotators is another question than how it would look with other segments. Two columns are drawn
    independently, crosswise. Returns, in the order of the ranking: pair, system, score, low, high (95 %, see
    ``stats.widths``), rank, rank_low, rank_high (percentiles of draws whose differences spread as widely as their
    intervals; whole ranks) and best (share of draws in which nobody is better).  Raises DataError where a system rests
    on one unit. Caveat: what is not drawn is taken as given; ranks of systems that are nearly equal have intervals that
    cover less than their level.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": ["A"] * 3 + ["B"] * 3,
    ...     "segment": list("123") * 2, "score": [60.0, 70, 80, 10, 20, 30], "item_type": "system"})
    >>> rank_ranges(ratings)[["system", "rank", "rank_low", "rank_high", "best"]].values.tolist()
    [['A', 1, 1, 1, 1.0], ['B', 2, 2, 2, 0.0]]
    """
    unit, parts = options.get("unit") or "segment", []
    named = unit if isinstance(unit, str) else " and ".join(unit)
    for pair, table in segment_means(ratings, **options).items():
        table = table.ordered()
        sure = places(table, unit=f"units ({named})", resamples=resamples, seed=seed)
        parts.append(ranked(pair, table).merge(sure, on="system"))
    columns = ["pair", "system", "score", "low", "high", "rank", "rank_low", "rank_high", "best"]
    return pd.concat(parts, ignore_index=True)[columns]


def places(table: SegmentMeans, *, unit: str, resamples: int, seed: int) -> pd.DataFrame:
    """Give each system of a table the interval of its score, and its places: as ``rank_ranges``, in the table's order.

    unit: what is drawn, in words.
    """
    totals, [reach] = table.totals(), half_widths([table], unit=unit)
    ranks = ranks_of(influences([table]).draws(totals, resamples=resamples, seed=seed).round(9))
    low, high = rank_interval(ranks)
    columns = {"low": totals - reach, "high": totals + reach, "rank_low": low, "rank_high": high}
    return pd.DataFrame({"system": pd.Series(table.systems, dtype="str"), **columns, "best": (ranks == 1).mean(axis=0)})


def resampled(
    variants: Mapping[str, pd.DataFrame], *, resamples: int = 1000, seed: int = 7, **how: Any
) -> list[Resampled]:
    """Rank the systems under every variant of the ratings, and draw their scores anew, pair by pair.

    variants: name -> ratings, such as the same judgements normalised or screened in different ways; all have the same
    systems. how: options of ``pairwise_tests``: score and others of ``segment_means``, and what shapes the clusters,
    such as test, alpha and correction. Segments, or the values of the column ``unit`` (see ``rank_ranges``),
    are drawn jointly: each draw scores all variants on the same ones, so that moves are not blurred by which segments a
    campaign happened to have. The result is for ``rankings`` and ``rank_shifts``.
    """
    how = {"segment": segment_key(next(iter(variants.values())))} | how
    averages = {name: averaged(frame, how) for name, frame in variants.items()}
    (first, (starts, rule)), found = next(iter(averages.items())), []
    for pair, start in starts.items():
        tables = {name: one[pair] for name, (one, _) in averages.items() if pair in one}
        for name in variants:
            if lost := {*start.systems} ^ {*(tables[name].systems if name in tables else ())}:
                raise DataError(
                    f"{pair}: only one of the variants {first} and {name} has scores of {min(lost)}. "
                    "Rankings can be compared on the same systems only: leave it out of both."
                )
        units = start.units
        for table in tables.values():
            units = units.union(table.units, sort=False)
        aligned = [_aligned(table, units) for table in tables.values()]
        reach = half_widths(aligned, unit="units drawn")
        totals = np.stack([table.totals() for table in aligned])
        scale = np.repeat(reach.max(axis=1).clip(1e-12), reach.shape[1])
        drawn = influences(aligned).draws(totals.ravel(), resamples=resamples, seed=seed, scale=scale)
        drawn = drawn.reshape(resamples, *totals.shape).swapaxes(0, 1).round(9)
        clusters = {
            name: cluster(pair, table, rule).table.sort_values("system", ignore_index=True)
            for name, table in zip(tables, aligned, strict=True)
        }
        found.append(Resampled(pair, clusters, drawn))
    return found


def rankings(found: Iterable[Resampled]) -> pd.DataFrame:
    """Tabulate each variant's ranking beside the places of its systems under the first variant.

    found: the result of ``resampled``. Returns pair, variant, system, score, rank, rank_low, rank_high (bootstrap),
    cluster, moved (places gained against the first variant; positive is up), moved_low, moved_high, and beyond_noise
    (the interval of ``moved`` leaves 0 out), in the order of each ranking.
    """
    columns = "pair variant system score rank rank_low rank_high cluster moved moved_low moved_high beyond_noise"
    parts = []
    for one in found:
        ranks = ranks_of(one.drawn)
        first = next(iter(one.clustered.values()))["rank"]
        for k, (variant, table) in enumerate(one.clustered.items()):
            low, high = rank_interval(ranks[k])
            moved_low, moved_high = rank_interval(ranks[0] - ranks[k])
            part = table.assign(variant=variant, rank_low=low, rank_high=high, moved=first - table["rank"])
            part = part.assign(moved_low=moved_low, moved_high=moved_high).sort_values("rank", kind="stable")
            parts.append(part.assign(beyond_noise=(part["moved_low"] > 0) | (part["moved_high"] < 0)))
    return pd.concat(parts, ignore_index=True)[columns.split()]


def rank_shifts(found: Iterable[Resampled]) -> pd.DataFrame:
    """Measure how far each variant's ranking is from that of the first variant, beside how far chance would move it.

    found: the result of ``resampled``. Returns, per language pair and each variant after the first:
    pair, variant, against (the first one), systems; tau_b (Kendall's, between the two lists of scores), tau_b_low and
    tau_b_high (bootstrap, both on the same draws); moved (systems whose rank differs), beyond_noise (those of them
    whose bootstrap interval of ``moved`` leaves out 0); clusters and clusters_first; cluster_changes (pairs of systems
    that one of the rankings parts by a line and the other does not, or parts the other way round); and by chance, where
    the first ranking is compared with itself on resampled units: tau_b_noise and moved_noise (medians), and noise_share
    (of draws in which tau-b is no higher than the variant's; a large share: the variant moves the ranking no more than
    another sample would).  Source: Kendall 1945.
    Caveat: resampled segments take the annotators as given; where few people each judged many segments, and the
    variants treat people differently, unit="annotator" is the honest noise. A resample differs from the campaign about
    as much as the campaign from the truth; a second campaign would differ from it by √2 times as much.
    """
    rows = []
    for one in found:
        first, *others = one.clustered
        start, moves = one.clustered[first], rankings([one]).query("moved != 0").groupby("variant")["beyond_noise"]
        counts = moves.agg(["size", "sum"]).reindex(others, fill_value=0)
        noise = kendall_b(one.drawn[0], start["score"].to_numpy())
        moved_noise = (ranks_of(one.drawn[0]) != start["rank"].to_numpy()).sum(axis=1)
        for drawn, name in zip(one.drawn[1:], others, strict=True):
            table = one.clustered[name]
            value = float(kendall_b(table["score"], start["score"]))
            ends = inference.interval(kendall_b(drawn, one.drawn[0]))
            own, before = (each["cluster"].to_numpy() for each in (table, start))
            by_chance = (np.median(noise), np.median(moved_noise), (noise <= value + 1e-12).mean())
            lines = (own.max(), before.max(), cluster_changes(before, own))
            rows.append((one.pair, name, first, len(table), value, *ends, *counts.loc[name], *lines, *by_chance))
    columns = (
        "pair variant against systems tau_b tau_b_low tau_b_high moved beyond_noise clusters clusters_first "
        "cluster_changes tau_b_noise moved_noise noise_share"
    )
    return pd.DataFrame(rows, columns=columns.split())


def summarize_shifts(shifts: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``rank_shifts`` over language pairs: variant, mean tau_b and tau_b_noise, sums of the counts.

    The counts are systems, moved, beyond_noise and cluster_changes.
    """
    by_variant = shifts.groupby("variant", sort=False)
    counts = by_variant[["systems", "moved", "beyond_noise", "cluster_changes"]].sum()
    return by_variant[["tau_b", "tau_b_noise"]].mean().join(counts).reset_index()


def cluster_changes(one: np.ndarray, other: np.ndarray) -> int:
    """Count the pairs of systems that stand otherwise to each other: which is in the better cluster, or neither.

    >>> cluster_changes(np.array([1, 1, 2]), np.array([1, 2, 2]))
    2
    """
    i, j = np.triu_indices(len(one), 1)
    return int((np.sign(one[i] - one[j]) != np.sign(other[i] - other[j])).sum())


def _aligned(table: SegmentMeans, units: pd.Index) -> SegmentMeans:
    """Spread what is resampled over more units."""
    places = units.get_indexer(table.units)
    sums, weights = np.zeros((2, len(units), len(table.systems)))
    sums[places], weights[places] = table.sums, table.weights
    return replace(table, units=units, sums=sums, weights=weights)


def ranks_of(scores: np.ndarray) -> np.ndarray:
    """Rank along the last axis: 1 is the highest, equal scores share the better rank."""
    return stats.rankdata(-scores, method="min", axis=-1).astype(int)


def rank_interval(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % percentile interval of whole numbers, draws along the first axis, rounded outwards."""
    low = np.quantile(ranks, 0.025, axis=0, method="lower").astype(int)
    return low, np.quantile(ranks, 0.975, axis=0, method="higher").astype(int)
