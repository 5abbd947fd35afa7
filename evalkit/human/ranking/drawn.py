"""What another choice of annotators, documents or segments would do to systems' scores: draws, and their covariance.

A table of ``scores.segment_means`` says what is drawn anew: its units. Draws give intervals of scores and of places,
the covariance gives tests; both are the same variance, once by chance and once by formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.human.mixed import Strictness
from evalkit.human.ranking.scores import SegmentMeans
from evalkit.stats import inference, widths


def draws(pair: str, tables: Sequence[SegmentMeans], *, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Score the systems of tables on resampled units, (tables, resamples, systems).

    tables: alike in systems and units; they share each draw. Raises DataError where a draw leaves a system without a
    judgement.
    """

    def score(times: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.stack([(times @ table.sums) / (times @ table.weights) for table in tables], axis=1)

    scored = inference.resample(score, tables[0].factors, resamples=resamples, seed=rng).swapaxes(0, 1)
    if np.isnan(scored).any():
        system = tables[0].systems[np.isnan(scored).any(axis=(0, 1)).argmax()]
        raise DataError(
            f"{pair}: some of {resamples} resamples hold no judgement of {system}, which has too few to be resampled. "
            "Resample by smaller units, or leave this system out."
        )
    return scored


def effective_units(table: SegmentMeans) -> np.ndarray:
    r"""Count the units behind each system's score, as if they weighed alike: :math:`(\sum w)^2 / \sum w^2`; (systems,).

    Of crossed units the rarer kind counts. Ten annotators one of whom gave nine tenths of the judgements count as
    little more than one. Source: Kish 1965, section 11.7.
    """
    counts = []
    for codes in table.factors.T:
        weights = _by_level(table.weights, codes)
        counts.append(weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0))
    return np.min(counts, axis=0)


def covariance(table: SegmentMeans) -> np.ndarray:
    r"""Return the covariance of systems' scores under another choice of units, (systems, systems).

    A score is a ratio of sums over units, and a unit's influence on it is its residual over the sum of weights. The
    covariance sums products of influences over units; where annotators and documents are crossed, over annotators,
    over documents and over their combinations, which is what drawing both independently gives (Owen 2007). It is
    multiplied by :math:`n / (n - 1)` for n units (the fewer of two systems' ``effective_units``).
    Source: Liang & Zeger 1986.  Caveat: with fewer than about ten units it is itself uncertain, hence t distributions.
    """
    totals = table.weights.sum(axis=0)
    influence = (table.sums - table.sums.sum(axis=0) / totals * table.weights) / totals
    levels = [influence] + [_by_level(influence, codes) for codes in table.factors.T if table.crossed]
    summed = np.sum([one.T @ one for one in levels], axis=0)
    fewest = fewest_units(table)
    return summed * fewest / np.maximum(fewest - 1, 1)


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
    """Add what units do to the scores of a table, so that the t-test is the one of ``stats.widths``.

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
    kinds = []
    for unit in units:
        codes = columns if unit == "segment" else ratings[[unit]]
        kinds.append(codes[used].groupby([*codes], sort=False).ngroup().to_numpy())
    residuals = ratings[score].to_numpy(float) - level
    return replace(table, influences=widths.Influences.of(weights[used], residuals[used], system[used], kinds))


def higher(totals: np.ndarray, spread: np.ndarray, fewest: np.ndarray) -> np.ndarray:
    """Test whether the first of every two systems is higher by its total: one-sided p-values, (..., pairs).

    totals: (..., systems). spread: ``covariance``; fewest: ``fewest_units``; both (..., systems, systems). The pairs
    are those of ``np.triu_indices``. Student's t with units less 1 degrees of freedom.
    """
    own = np.diagonal(spread, axis1=-2, axis2=-1)
    both = own[..., :, None] + own[..., None, :]
    variance = both - 2 * spread
    return apart(totals, np.where(variance > 1e-12 * both, variance, 0.0), fewest - 1)


def apart(totals: np.ndarray, variance: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Test as ``higher`` does, by variances of differences and degrees of freedom, both (..., systems, systems)."""
    better, worse = np.triu_indices(totals.shape[-1], 1)
    difference = totals[..., better] - totals[..., worse]
    variance = variance[..., better, worse]
    tiny = 1e-24 * (totals[..., better] ** 2 + totals[..., worse] ** 2)
    error = np.sqrt(np.where(variance > tiny, variance, 0.0))
    most = np.maximum(1.0, np.abs(totals).max(axis=-1, keepdims=True))
    return inference.higher_by_t(
        difference, error, freedom[..., better, worse] + 1, even=np.abs(difference) <= 1e-12 * most
    )


def fewest_units(table: SegmentMeans) -> np.ndarray:
    """Return the fewer effective units of every two systems, at least 2: (systems, systems)."""
    units = effective_units(table)
    return np.maximum(np.minimum(units[:, None], units), 2)


def widened(scored: np.ndarray, table: SegmentMeans) -> np.ndarray:
    """Stretch draws of a table's scores about the scores, so that percentiles of few units are as wide as t intervals.

    scored: (resamples, systems). Source: Hesterberg 2015, section 5.3 (narrowness of the bootstrap, and t instead of
    normal quantiles). With hundreds of units nothing changes.
    """
    units = np.maximum(effective_units(table), 2)
    factor = np.sqrt(units / (units - 1)) * stats.t.ppf(0.975, units - 1) / stats.norm.ppf(0.975)
    totals = table.totals()
    return totals + (scored - totals) * factor


def _by_level(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sum rows that share a level."""
    summed = np.zeros((codes.max() + 1, values.shape[1]))
    np.add.at(summed, codes, values)
    return summed
