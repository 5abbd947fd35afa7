"""How far annotators agree: correlations between pairs of annotators, and the share of variance that is the items'.

All functions take a ratings table (see ``evalkit.schemas``) and work within each language pair. Where an annotator
scored an item more than once, the mean of these scores stands for them unless said otherwise.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.schemas import ITEM, with_pair

#: Ways to reduce an annotator's repeated scores of one item to a single score.
REPEATS = ("mean", "first", "last", "min", "max")


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
    measures = {
        "spearman": stats.spearmanr,
        "pearson": stats.pearsonr,
        "kendall_c": lambda x, y: stats.kendalltau(x, y, variant="c"),
        "kendall_b": stats.kendalltau,
    }
    rows = []
    for pair, group in with_pair(ratings).groupby("pair"):
        scores = score_matrix(group, repeats=repeats)
        for a, b in itertools.combinations(scores.columns, 2):
            both = scores[[a, b]].dropna()
            if len(both) < 3:
                raise DataError(
                    f"{pair}: annotators {a} and {b} share {len(both)} items, and a correlation needs at least 3. "
                    "Leave one of them out, or give them a common calibration set."
                )
            x, y = both[a].to_numpy(), both[b].to_numpy()
            varies = np.ptp(x) > 0 and np.ptp(y) > 0
            for name, measure in measures.items():
                value, p = measure(x, y) if varies else (np.nan, np.nan)
                rows.append((pair, a, b, len(both), name, float(value), float(p)))
    if not rows:
        raise DataError("No two annotators share a language pair: agreement needs at least two annotators.")
    return pd.DataFrame(rows, columns=["pair", "annotator_a", "annotator_b", "n", "statistic", "value", "p"])


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
        low, high = defined.loc[defined["value"].idxmin()], defined.loc[defined["value"].idxmax()]
        rows.append({
            "pair": pair, "statistic": statistic,
            "min": low["value"], "min_p": low["p"], "min_between": f"{low['annotator_a']} {low['annotator_b']}",
            "median": defined["value"].median(),
            "max": high["value"], "max_p": high["p"], "max_between": f"{high['annotator_a']} {high['annotator_b']}",
            "undefined": len(group) - len(defined),
        })  # fmt: skip
    return pd.DataFrame(rows)


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
    rows = []
    for repeats in REPEATS:
        correlated = correlations(ratings, repeats=repeats)
        of_named = correlated["annotator_a"].isin(between) & correlated["annotator_b"].isin(between)
        named = correlated[of_named].set_index("statistic").reindex(correlated["statistic"].unique())
        for extreme in correlation_extremes(correlated).to_dict("records"):
            statistic = extreme["statistic"]
            rows.append({
                "statistic": statistic, "repeats": repeats,
                "lowest_between": extreme["min_between"], "lowest": extreme["min"], "lowest_p": extreme["min_p"],
                "named": named.loc[statistic, "value"], "named_p": named.loc[statistic, "p"],
            })  # fmt: skip
    return pd.DataFrame(rows)


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
        found = table.set_index("Type")
        low_high = next(c for c in found.columns if c.startswith("CI95"))
        rows.append({"pair": pair, "items": len(scores), "annotators": scores.shape[1]})
        for name, kind in (("agreement", "ICC(A,1)"), ("consistency", "ICC(C,1)")):
            low, high = found.loc[kind, low_high]
            rows[-1] |= {name: float(found.loc[kind, "ICC"]), f"{name}_low": float(low), f"{name}_high": float(high)}
    return pd.DataFrame(rows)
