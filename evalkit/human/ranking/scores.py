"""Average judgements by segment, and segments by system; what another choice of units would do to these scores."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import segment_key
from evalkit.human.components import Strictness
from evalkit.human.normalization import significant
from evalkit.stats import inference
from evalkit.stats.correlation import ratio
from evalkit.stats.widths import Influences

#: Which items of a MTurk campaign count: systems' outputs, and unchanged segments of quality-control copies too.
COUNTED = ("system", "repeat")


@dataclass(frozen=True, eq=False)
class SegmentMeans:
    """Mean scores, (..., systems, segments), NaN where nobody judged: of one language pair, or of many campaigns alike.

    systems: (..., systems), their names. judgements: (..., systems, segments), how many. sums, weights: (..., units,
    systems), the same scores split by what a campaign is resampled by: the ratio of their totals over all units is the
    system's score. crossed: units have two levels that are drawn independently, such as annotators and documents; a
    unit is then what one annotator judged of one document. domains: (segments,) numbers, where they count.
    influences: what units do to the scores, where they are known judgement by judgement (see ``influenced``).
    """

    systems: np.ndarray
    means: np.ndarray
    judgements: np.ndarray
    units: pd.Index
    sums: np.ndarray
    weights: np.ndarray
    crossed: bool = False
    domains: np.ndarray | None = None
    influences: Influences | None = None
    known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def factors(self) -> np.ndarray:
        """Number what is drawn, (units, 1), or (units, 2) where units are crossed."""
        if not self.crossed:
            return np.arange(len(self.units))[:, None]
        return np.column_stack([pd.factorize(self.units.get_level_values(level))[0] for level in (0, 1)])

    def by_domain(self, values: np.ndarray) -> list[np.ndarray]:
        """Split values, (..., segments), by domain."""
        if self.domains is None:
            return [values]
        return [values[..., self.domains == one] for one in np.unique(self.domains)]

    def totals(self, mean: str = "segments") -> np.ndarray:
        """Return each system's score, (..., systems): every segment counts once, or every domain that has any.

        >>> means, none = np.array([[1.0, 1, 1, 5], [2, np.nan, 2, 2]]), np.zeros((4, 2))
        >>> table = SegmentMeans(np.array(["A", "B"]), means, none.T, pd.RangeIndex(4), none, none)
        >>> table = replace(table, domains=np.array([0, 0, 0, 1]))
        >>> [table.totals(mean).tolist() for mean in ("segments", "domains")]
        [[2.0, 2.0], [3.0, 2.0]]
        """
        parts = self.by_domain(self.means) if mean == "domains" else [self.means]
        return self.once(("totals", mean), lambda: np.nanmean([_mean(part) for part in parts], axis=0))

    def ordered(self, mean: str = "segments") -> SegmentMeans:
        """Put the systems into the order of the ranking, the best first; equal scores stay in order of name."""
        return self.once(mean, lambda: self.taken(np.argsort(-self.totals(mean), axis=-1, kind="stable")))

    def once(self, what: Hashable, make: Callable[[], Any]) -> Any:
        """Compute something of this table once, for all rules that ask for it."""
        if what not in self.known:
            self.known[what] = make()
        return self.known[what]

    def taken(self, order: np.ndarray) -> SegmentMeans:
        """Take some systems, in an order, (..., systems)."""
        at = (*np.indices(order.shape)[:-1], order)
        rows = {name: getattr(self, name)[at] for name in ("systems", "means", "judgements")}
        split = {name: getattr(self, name).swapaxes(-1, -2)[at].swapaxes(-1, -2) for name in ("sums", "weights")}
        return replace(self, **rows, **split, influences=self.influences and self.influences.taken(order))


def _mean(values: np.ndarray) -> np.ndarray:
    """Average along the last axis what is there; NaN where nothing is."""
    return ratio(np.nansum(values, axis=-1), np.isfinite(values).sum(axis=-1))


def segment_means(
    ratings: pd.DataFrame,
    *,
    score: str = "score",
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] | None = None,
    digits: int | None = None,
    unit: str | Sequence[str] | None = None,
) -> dict[str, SegmentMeans]:
    """Average the judgements of each system's segment, per language pair.

    score: the column to average; judgements without a value there are left out. segment: the columns that name one;
    None for those of ``items.segment_key``. digits: significant digits that the means keep, None for all; WMT's files
    of segment scores have 15, which decides what counts as a tie. unit: the column to split scores by, or two of them,
    "segment" for all columns that name one; None for segments. A judgement weighs 1 / (judgements of its segment and
    system).
    """
    units = ["segment"] if not unit else [unit] if isinstance(unit, str) else [*unit]
    segment = segment or segment_key(ratings)
    needed = ["src_lang", "tgt_lang", "system", *segment, "item_type", score, *units]
    if missing := [name for name in needed if name not in ratings]:
        raise DataError(
            f"A ranking needs the column {missing[0]}, which these ratings lack. "
            f"Name another one, or add it; there are {', '.join(map(str, ratings.columns))}."
        )
    counted = ratings["item_type"].isin(item_types) & ratings[score].notna()
    if not counted.any():
        raise DataError(
            f"No judgement of item type {' or '.join(item_types)} has a value in {score}, so nothing can be ranked. "
            f"Pass item_types; the ratings hold {', '.join(sorted(ratings['item_type'].unique()))}."
        )
    rows, found = ratings.loc[counted, list(dict.fromkeys(needed))], {}
    for (source, target), part in rows.groupby(["src_lang", "tgt_lang"], observed=True):
        codes, systems = pd.factorize(part["system"], sort=True)
        numbers, segments = _numbered(part, list(segment))
        cells, values = codes * len(segments) + numbers, part[score].to_numpy(float)
        means = np.full((len(systems), len(segments)), np.nan)
        averages = pd.Series(values).groupby(cells).mean()  # compensated sums: the last digit decides on ties
        means.flat[averages.index.to_numpy()] = significant(averages, digits)
        judgements = np.bincount(cells, minlength=means.size).reshape(means.shape)
        if len(units) == 1:
            owners, labels = (numbers, segments) if units == ["segment"] else _numbered(part, units)
        else:
            named = [segments.to_flat_index().take(numbers) if name == "segment" else part[name] for name in units]
            owners, labels = pd.factorize(pd.MultiIndex.from_arrays(named))
        share, places = 1 / judgements.flat[cells], owners * len(systems) + codes
        size = len(labels) * len(systems)
        sums, shares = (np.bincount(places, each, size).reshape(len(labels), -1) for each in (values * share, share))
        names, crossed = np.asarray(systems, object), len(units) > 1
        table = SegmentMeans(names, means, judgements, labels, sums, shares, crossed=crossed)
        found[f"{source}-{target}"] = table
    return found


def _numbered(rows: pd.DataFrame, columns: list[str]) -> tuple[np.ndarray, pd.Index]:
    """Number the distinct values of one or several columns: codes, and what they stand for."""
    return pd.factorize(rows[columns[0]] if len(columns) == 1 else pd.MultiIndex.from_frame(rows[columns]))


def system_scores(ratings: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Score each system: average the judgements of each segment, then the segments.

    options: those of ``segment_means``. score: the column to average; higher is better. item_types: what counts;
    without "repeat", the unchanged segments shown in a degraded context are left out. segment: the columns that name a
    segment. Every segment counts once, however often it was judged (the macro average, WMT's). Returns pair, system,
    score, segments, judgements and rank (1 is best; equal scores share the better rank), by pair and name. Source:
    WMT's rule since 2016, Knowles & Lo 2024, section 3.  Caveat: published z-scores rest on means over all of an
    annotator's items, also those left out here.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": ["A", "A", "A", "B", "B"],
    ...     "segment": ["1", "1", "2", "1", "2"], "score": [80, 40, 30, 50, 44], "item_type": "system"})
    >>> system_scores(ratings)[["system", "score", "judgements", "rank"]].values.tolist()
    [['A', 45.0, 3, 2], ['B', 47.0, 2, 1]]
    """
    tables = segment_means(ratings, **options)
    return pd.concat([ranked(pair, table) for pair, table in tables.items()], ignore_index=True)


def ranked(pair: str, table: SegmentMeans, scores: np.ndarray | None = None) -> pd.DataFrame:
    """Tabulate scores (the totals, or others) and ranks of one language pair, in the order that its systems have."""
    frame = pd.DataFrame(
        {
            "pair": pair,
            "system": pd.Series(table.systems, dtype="str"),
            "score": table.totals() if scores is None else scores,
            "segments": np.isfinite(table.means).sum(axis=1),
            "judgements": table.judgements.sum(axis=1),
        }
    )
    return frame.assign(rank=frame["score"].rank(ascending=False, method="min").astype(int))


# What another choice of annotators, documents or segments would do


def influences(tables: Sequence[SegmentMeans]) -> Influences:
    """Say what units do to the scores of tables, those of the first before those of the second, and so on.

    tables: alike in systems and units. One that has influences (see ``influenced``) keeps them, alone.
    """
    if len(tables) == 1 and tables[0].influences:
        return tables[0].influences
    kinds = {str(number): codes for number, codes in enumerate(tables[0].factors.T)}
    sums, weights = (np.concatenate([getattr(one, part) for one in tables], axis=-1) for part in ("sums", "weights"))
    return Influences.of_means(sums, weights, kinds)


def half_widths(tables: Sequence[SegmentMeans], *, unit: str) -> np.ndarray:
    """Return half the widths of 95 % intervals of scores, (tables, systems); unit: what is drawn, in words.

    Raises DataError where everything known of a system is from one unit.
    """
    widths = np.diag(influences(tables).half_widths()).reshape(len(tables), -1)
    if not np.isfinite(widths).all():
        alone = tables[0].systems[np.isinf(widths).any(axis=0).argmax()]
        raise DataError(f"Everything known of {alone} is from one of the {unit}, so it has no interval.")
    return widths


def influenced(
    table: SegmentMeans,
    ratings: pd.DataFrame,
    counted: np.ndarray,
    *,
    score: str,
    segment: Sequence[str],
    units: Sequence[str],
    strict: Strictness | None = None,
) -> SegmentMeans:
    """Add what units do to the scores of a table, judgement by judgement, for its tests and intervals.

    ratings: of one language pair; counted: which of them the table averages, and score: the column. units: one or two
    columns, "segment" for all columns that name one. strict: where score is raw scores less their annotators' bias, how
    the biases follow from judgements, which may be others than those counted; the biases are then not taken as known.
    """
    places = np.flatnonzero(counted)
    system = np.full(len(ratings), -1)
    system[places] = pd.Index(table.systems).get_indexer(pd.Index(ratings["system"].iloc[places]))
    columns = ratings[list(segment)]
    cells = columns.iloc[places].assign(system=system[places])
    many = cells.groupby([*segment, "system"])["system"].transform("size").to_numpy()
    weights = np.zeros((len(ratings), len(table.systems)))
    weights[places, system[places]] = 1 / many / np.isfinite(table.means).sum(axis=1)[system[places]]
    level = np.zeros(len(ratings))
    if strict:
        who = strict.people.get_indexer(pd.Index(ratings["annotator"]))
        shares = np.zeros((len(strict.people), len(table.systems)))
        np.add.at(shares, who[who >= 0], weights[who >= 0])
        weights[strict.rows] -= strict.weights(shares)
        level[strict.rows] = strict.levels[strict.kind]
        score = "score"
    level[places] = table.totals()[system[places]]
    used = counted.copy()
    used[strict.rows if strict else places] = True
    kinds = {}
    for unit in units:
        codes = columns if unit == "segment" else ratings[[unit]]
        kinds[unit] = codes[used].groupby([*codes], sort=False).ngroup().to_numpy()
    residuals = ratings[score].to_numpy(float) - level
    return replace(table, influences=Influences.of(weights[used], residuals[used], system[used], kinds))


def apart(totals: np.ndarray, variance: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Test whether the first of every two systems is higher by its total: one-sided p-values, (..., pairs).

    totals: (..., systems). variance, freedom: of differences, (..., systems, systems), see ``Influences.spread``. The
    pairs are those of ``np.triu_indices``.
    """
    better, worse = np.triu_indices(totals.shape[-1], 1)
    difference = totals[..., better] - totals[..., worse]
    variance = variance[..., better, worse]
    tiny = 1e-24 * (totals[..., better] ** 2 + totals[..., worse] ** 2)
    error = np.sqrt(np.where(variance > tiny, variance, 0.0))
    most = np.maximum(1.0, np.abs(totals).max(axis=-1, keepdims=True))
    return inference.higher_by_t(
        difference, error, freedom[..., better, worse] + 1, even=np.abs(difference) <= 1e-12 * most
    )
