"""Annotators of one campaign beside each other: correlations of every two, and shares of the scores' variance.

``all_pairs`` correlates every two columns of a table at once, with the same numbers as scipy's, pair by pair over the
rows that both columns have. Kendall's balance of concordant over discordant pairs of rows comes from the signs of the
differences between every two rows, times their own transpose. p-values are scipy's: Student's t for Spearman and
Pearson, and for Kendall the normal distribution with its variance under ties, or the exact one without ties in small or
nearly perfect samples.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.stats.correlation import pearson, ranks, ratio, spearman, tau_b, tau_c

#: Ways to reduce an annotator's repeated scores of one item to a single score.
REPEATS = ("mean", "first", "last", "min", "max")
_BLOCK = 100_000  # numbers of a block of pairs of columns


def score_matrix(ratings: pd.DataFrame, *, repeats: str = "mean") -> pd.DataFrame:
    """Arrange one language pair's scores as items × annotators, one score a cell, NaN where an annotator skipped.

    repeats: how scores of the same item by the same annotator become one: mean, first, last (in row order), min, max.
    Raises DataError on several language pairs, on no rows, and on an unknown ``repeats``.
    """
    if repeats not in REPEATS:
        raise DataError(f"repeats={repeats!r} is not known. Choose one of: {', '.join(REPEATS)}.")
    pairs = with_pair(ratings)["pair"].unique()
    if len(pairs) != 1:
        raise DataError(f"Scores of one language pair are needed, and these are {len(pairs)}. Select one first.")
    return ratings.groupby([*ITEM, "annotator"], sort=True)["score"].agg(repeats).unstack("annotator")


def correlations(ratings: pd.DataFrame, *, repeats: str = "mean") -> pd.DataFrame:
    """Correlate every two annotators of a language pair over the items that both scored.

    Returns one row per pair of annotators and statistic: pair, annotator_a, annotator_b, n (items), statistic, value,
    p (two-sided). Statistics are spearman, pearson, kendall_c (Stuart's τ-c, scipy's ``variant="c"``: annotators use
    different numbers of distinct scores) and kendall_b, for comparison.
    value and p are NaN where one of the two gave all items the same score: no correlation is defined then.
    Source: Knowles & Lo 2024, section 4.2, footnote e.  Caveat: pairs share annotators, so the p-values are dependent;
    Pearson's assumes straight lines and no outliers.

    >>> ratings = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "system": "s", "doc": "d",
    ...     "segment": ["1", "2", "3", "4"] * 2, "annotator": ["a"] * 4 + ["b"] * 4,
    ...     "score": [10.0, 20, 30, 40, 15, 10, 60, 90]})
    >>> correlations(ratings).set_index("statistic")["value"].round(2).to_dict()
    {'spearman': 0.8, 'pearson': 0.93, 'kendall_c': 0.67, 'kendall_b': 0.67}
    """
    tables = []
    for pair, group in with_pair(ratings).groupby("pair"):
        scores = score_matrix(group, repeats=repeats)
        names = list(itertools.combinations(scores.columns, 2))
        if not names:
            continue
        n, by_statistic = all_pairs(scores.to_numpy(float))
        if n.min() < 3:
            a, b = names[int(np.argmax(n < 3))]
            raise DataError(
                f"{pair}: annotators {a} and {b} share {n[n < 3][0]} items, and a correlation needs at least 3. "
                "Leave one of them out, or give them a common calibration set."
            )
        rows = np.repeat(np.arange(len(n)), len(by_statistic))
        table = pd.DataFrame(names, columns=["annotator_a", "annotator_b"]).loc[rows]
        table.insert(0, "pair", pair)
        table["n"] = n[rows]
        table["statistic"] = np.tile(list(by_statistic), len(n))
        table["value"] = np.column_stack([value for value, _ in by_statistic.values()]).ravel()
        table["p"] = np.column_stack([p for _, p in by_statistic.values()]).ravel()
        tables.append(table)
    if not tables:
        raise DataError("No two annotators share a language pair: agreement needs at least two annotators.")
    return pd.concat(tables, ignore_index=True)


def correlation_extremes(correlated: pd.DataFrame) -> pd.DataFrame:
    """Summarise annotator correlations per language pair and statistic, with who stands at either end.

    correlated: the result of ``correlations``. Undefined correlations are left out of the summary and counted in
    ``undefined``. p-values belong to the extreme pairs; a median has none.
    """
    rows = []
    for (pair, statistic), group in correlated.groupby(["pair", "statistic"], sort=False):
        defined = group.dropna(subset="value")
        if defined.empty:
            raise DataError(f"{pair}: no {statistic} correlation is defined. Did each annotator give one score only?")
        row = {"pair": pair, "statistic": statistic} | _end("min", defined.loc[defined["value"].idxmin()])
        row |= {"median": defined["value"].median()} | _end("max", defined.loc[defined["value"].idxmax()])
        rows.append(row | {"undefined": len(group) - len(defined)})
    return pd.DataFrame(rows)


def _end(name: str, row: pd.Series) -> dict[str, object]:
    between = f"{row['annotator_a']} {row['annotator_b']}"
    return {name: row["value"], f"{name}_p": row["p"], f"{name}_between": between}


def extreme_annotators(extremes: pd.DataFrame, pair: str) -> list[str]:
    """Name the annotators of one language pair who stand in its lowest and highest correlations."""
    rows = extremes[extremes["pair"] == pair]
    if rows.empty:
        raise DataError(f"{pair}: no such language pair here. Choose one of: {', '.join(extremes['pair'].unique())}.")
    return sorted(set(" ".join([*rows["min_between"], *rows["max_between"]]).split()))


def lowest_by_variant(ratings: pd.DataFrame, *, between: Sequence[str]) -> pd.DataFrame:
    """Show who has the lowest correlation under every variant, beside one pair of annotators that a paper names.

    ratings: one language pair. Variants are the statistics of ``correlations`` by each treatment of repeated scores.
    Returns statistic, repeats, lowest_between, lowest, lowest_p, named, named_p (NaN where the two are not here).
    """
    lowest = {"min_between": "lowest_between", "min": "lowest", "min_p": "lowest_p"}
    tables = []
    for repeats in REPEATS:
        correlated = correlations(ratings, repeats=repeats)
        of_named = correlated["annotator_a"].isin(between) & correlated["annotator_b"].isin(between)
        named = correlated.loc[of_named, ["statistic", "value", "p"]].set_axis(
            ["statistic", "named", "named_p"], axis=1
        )
        table = correlation_extremes(correlated).rename(columns=lowest)[["statistic", *lowest.values()]]
        table.insert(1, "repeats", repeats)
        tables.append(table.merge(named, on="statistic", how="left"))
    return pd.concat(tables, ignore_index=True)


class Ties(NamedTuple):
    """Count, for column a over the rows that a and b both have (a, b): distinct values, and sums over ties.

    pairs, triples and weighted are sums of t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5) over groups of t tied rows.
    """

    distinct: np.ndarray
    pairs: np.ndarray
    triples: np.ndarray
    weighted: np.ndarray


def all_pairs(scores: np.ndarray) -> tuple[np.ndarray, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Correlate every two columns of rows × columns (NaN: missing) over the rows that both have.

    Returns for every two columns, in the order of ``itertools.combinations``, the number of rows in common, and
    statistic -> (values, p-values) for spearman, pearson, kendall_c and kendall_b. Both are NaN with fewer than three
    rows in common, and where one of the two columns does not vary.

    >>> n, values = all_pairs(np.array([[1.0, 2, 9], [2, 1, np.nan], [3, 4, 7], [4, 3, 5]]))
    >>> n.tolist(), values["kendall_b"][0].round(2).tolist()
    ([4, 3, 3], [0.33, -1.0, -0.33])
    """
    scores = np.asarray(scores, float)
    scores = scores[np.isfinite(scores).sum(axis=1) > 1]  # most items of a campaign have one annotator
    there = np.isfinite(scores)
    codes = _dense_ranks(scores)
    full = bool(there.all())
    upper = np.triu_indices(scores.shape[1], 1)
    n = (there.astype(float).T @ there)[upper].astype(np.int64)
    ties = _ties(codes, there, full)
    own, other = Ties(*ties[:, *upper]), Ties(*ties[:, *upper[::-1]])
    balance = _balance(codes, there)[upper]
    undefined = (own.distinct < 2) | (other.distinct < 2) | (n < 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = _p_kendall(balance, n, own, other)
        every = n * (n - 1) / 2
        ranked = ranks(scores.T).T if full else scores
        moments = {"spearman": (pearson if full else spearman, ranked), "pearson": (pearson, scores)}
        values = {name: _each(*how, np.flatnonzero(~undefined)) for name, how in moments.items()}
        results = {name: (value, _p_student(value, n)) for name, value in values.items()}
        results["kendall_c"] = tau_c(balance, n, own.distinct, other.distinct), p
        results["kendall_b"] = tau_b(balance, every - own.pairs, every - other.pairs), p
    return n, {
        name: (np.where(undefined, np.nan, value), np.where(undefined, np.nan, p))
        for name, (value, p) in results.items()
    }


def _dense_ranks(scores: np.ndarray) -> np.ndarray:
    """Number each column's distinct values from 0 on; -1 where a value is missing."""
    codes = np.full(scores.shape, -1)
    for column, code in zip(scores.T, codes.T):
        there = np.isfinite(column)
        code[there] = np.unique(column[there], return_inverse=True)[1]
    return codes


def _ties(codes: np.ndarray, there: np.ndarray, full: bool) -> np.ndarray:
    """Sum over the ties of each column among the rows that each other column has, in the order of ``Ties``."""
    people = codes.shape[1]
    sums = np.zeros((4, people, people))
    for a, code in enumerate(codes.T):
        group = np.bincount(code, minlength=code.max(initial=0) + 1)[:, None] if full else _tied(code, there)
        pairs = group * (group - 1.0)
        by_group = [group > 0, pairs / 2, pairs * (group - 2), pairs * (2 * group + 5)]
        sums[:, a] = [each.sum(axis=0) for each in by_group]
    return sums


def _tied(code: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Count the rows of each value of one column that each column has, (values, columns)."""
    order = np.argsort(code, kind="stable")
    order = order[np.searchsorted(code[order], 0) :]
    if not len(order):
        return np.zeros((1, there.shape[1]))
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    return np.add.reduceat(there[order], starts, axis=0, dtype=np.int64)


def _each(
    statistic: Callable[[np.ndarray, np.ndarray], np.ndarray], scores: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """Evaluate a statistic of two samples for every two columns, some at a time; NaN for pairs that are not wanted."""
    columns = np.ascontiguousarray(scores.T)
    first, second = np.triu_indices(len(columns), 1)
    values = np.full(len(first), np.nan)
    step = max(1, _BLOCK // max(len(scores), 1))
    for start in range(0, len(wanted), step):
        some = wanted[start : start + step]
        values[some] = statistic(columns[first[some]], columns[second[some]])
    return values


def _balance(codes: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the balance of concordant over discordant pairs of rows from the signs of all differences.

    Rows are compared with those 1, 2, ... places further on, round and round, which meets every two rows once.
    """
    rows, people = codes.shape
    balance = np.zeros((people, people))
    twice = np.concatenate([codes, codes]).astype(np.float32)
    present = np.concatenate([there, there]).astype(np.float32)
    full = there.all()
    for lag in range(1, rows // 2 + 1):
        last = rows // 2 if 2 * lag == rows else rows
        signs = np.clip(twice[lag : lag + last] - twice[:last], -1, 1)  # codes are whole numbers
        if not full:
            signs *= present[lag : lag + last] * present[:last]
        balance += signs.T @ signs
    return balance


def _p_student(value: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the p-value of no correlation; for Pearson's r the same as scipy's by the beta distribution."""
    t = value * np.sqrt(np.maximum((n - 2) / ((value + 1) * (1 - value)), 0))
    return 2 * stats.t.sf(np.abs(t), n - 2)


def _p_kendall(balance: np.ndarray, n: np.ndarray, own: Ties, other: Ties) -> np.ndarray:
    """Return the p-value of no association, which all variants of tau share."""
    m = n * (n - 1.0)
    variance = (m * (2 * n + 5) - own.weighted - other.weighted) / 18 + 2 * own.pairs * other.pairs / m
    variance += own.triples * other.triples / (9 * m * (n - 2))
    p = 2 * stats.norm.sf(np.abs(balance / np.sqrt(variance)))
    fewest = (m / 2 - np.abs(balance)) / 2  # concordant or discordant pairs, whichever are fewer
    small = (own.pairs == 0) & (other.pairs == 0) & (n > 2) & ((n <= 33) | (fewest <= 1))
    samples, which = np.unique(np.column_stack([n, fewest])[small].astype(int), axis=0, return_inverse=True)
    p[small] = np.array([_exact_p(*sample) for sample in samples])[which.reshape(-1)] if len(samples) else 0.0
    return p


def _exact_p(n: int, discordant: int) -> float:
    """Return scipy's exact p-value of n rows without ties, from two rankings with so many discordant pairs."""
    order, left = [], discordant
    remaining = list(range(n))
    while remaining:
        place = min(left, len(remaining) - 1)  # taking the place-th smallest makes so many discordant pairs
        left -= place
        order.append(remaining.pop(place))
    return float(stats.kendalltau(np.arange(n), order).pvalue)


def intraclass(ratings: pd.DataFrame) -> pd.DataFrame:
    """Estimate which share of the scores' variance is the items', with and without the annotators' levels.

    Returns pair, items, annotators, then agreement and consistency (unitless, 1 is perfect) with 95 % intervals.
    Agreement, ICC(A,1) of McGraw & Wong 1996, counts a strict annotator's lower level as disagreement; consistency,
    ICC(C,1), forgives it. What lies between the two is the most that shifting annotators' scores can mend.
    Items that some annotator skipped are left out.  Caveat: both assume equal variances across annotators.
    """
    import pingouin

    rows = []
    for pair, group in with_pair(ratings).groupby("pair"):
        scores = score_matrix(group).dropna()
        if len(scores) < 2 or scores.shape[1] < 2:
            raise DataError(f"{pair}: an intraclass correlation needs two annotators who share two items or more.")
        long = scores.reset_index(drop=True).melt(var_name="annotator", value_name="score", ignore_index=False)
        long = long.reset_index(names="item")
        with warnings.catch_warnings():  # pingouin 0.7 uses pandas calls that pandas 3 deprecates
            warnings.simplefilter("ignore")
            table = pingouin.intraclass_corr(long, targets="item", raters="annotator", ratings="score")
        by_kind = table.set_index("Type")
        low_high = next(c for c in by_kind.columns if c.startswith("CI95"))
        rows.append({"pair": pair, "items": len(scores), "annotators": scores.shape[1]})
        for name, kind in (("agreement", "ICC(A,1)"), ("consistency", "ICC(C,1)")):
            low, high = by_kind.loc[kind, low_high]
            rows[-1] |= {name: float(by_kind.loc[kind, "ICC"]), f"{name}_low": float(low), f"{name}_high": float(high)}
    return pd.DataFrame(rows)


def cross_replication(here: ArrayLike, there: ArrayLike, squares: ArrayLike, counts: ArrayLike) -> np.ndarray:
    """Return the agreement beyond chance of a person of one replication with a person of the other, (batch,).

    here, there: (items,) means of the judgements of an item in either. squares: (items,) the mean square of the one
    plus that of the other. counts: (batch, items) how often each item counts.
    It is 1 - D/E, where D is the mean squared difference of a judgement here and one there of the same item, and E that
    of any two items; each item counts once. So it is built as Krippendorff's alpha of interval data, but compares
    nobody with their own side; with one judgement an item on either side it is Lin's concordance correlation. NaN
    where all judgements are the same.
    Source: Wong, Paritosh & Aroyo 2021, cross-replication reliability, with squared differences; Lin 1989.

    >>> here, there = np.array([1.0, 2, 3]), np.array([2.0, 3, 4])  # one judgement each
    >>> cross_replication(here, there, here**2 + there**2, np.ones((1, 3))).round(3).tolist()
    [0.571]
    """
    here, there, squares, counts = (np.asarray(one, float) for one in (here, there, squares, counts))
    centre = np.mean([here, there])  # little is lost by cancellation
    squares = squares - 2 * centre * (here + there) + 2 * centre**2
    x, y = here - centre, there - centre
    size = counts.sum(axis=1)
    square, product, mean_x, mean_y = (counts @ part / size for part in (squares, x * y, x, y))
    chance = square - 2 * mean_x * mean_y
    return 1 - ratio(square - 2 * product, np.where(chance > 1e-12 * (1 + centre**2), chance, 0))
