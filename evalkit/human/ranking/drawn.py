"""What another choice of annotators, documents or segments would do to systems' scores: their influences, and tests.

A table of ``scores.segment_means`` says what is taken as drawn: its units. ``stats.widths`` makes intervals of scores
and of places of them, and tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human.mixed import Strictness
from evalkit.human.ranking.scores import SegmentMeans
from evalkit.stats import inference
from evalkit.stats.widths import Influences


def influences(tables: Sequence[SegmentMeans]) -> Influences:
    """Say what units do to the scores of tables, those of the first before those of the second, and so on.

    tables: alike in systems and units. One that has influences (see ``influenced``) keeps them, alone.
    """
    if len(tables) == 1 and tables[0].influences:
        return tables[0].influences
    kinds = {str(number): codes for number, codes in enumerate(tables[0].factors.T)}
    sums, weights = (np.hstack([getattr(table, part) for table in tables]) for part in ("sums", "weights"))
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
