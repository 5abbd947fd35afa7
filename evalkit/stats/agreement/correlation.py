"""Correlate every two annotators of a language pair, over the items that both scored."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import with_pair
from evalkit.stats.agreement.all_pairs import all_pairs
from evalkit.stats.agreement.matrix import REPEATS, score_matrix


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
        n, found = all_pairs(scores.to_numpy(float))
        if n.min() < 3:
            a, b = names[int(np.argmax(n < 3))]
            raise DataError(
                f"{pair}: annotators {a} and {b} share {n[n < 3][0]} items, and a correlation needs at least 3. "
                "Leave one of them out, or give them a common calibration set."
            )
        rows = np.repeat(np.arange(len(n)), len(found))
        table = pd.DataFrame(names, columns=["annotator_a", "annotator_b"]).loc[rows]
        table.insert(0, "pair", pair)
        table["n"] = n[rows]
        table["statistic"] = np.tile(list(found), len(n))
        table["value"] = np.column_stack([value for value, _ in found.values()]).ravel()
        table["p"] = np.column_stack([p for _, p in found.values()]).ravel()
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
        low, high = defined.loc[defined["value"].idxmin()], defined.loc[defined["value"].idxmax()]
        rows.append(
            {
                "pair": pair,
                "statistic": statistic,
                "min": low["value"],
                "min_p": low["p"],
                "min_between": f"{low['annotator_a']} {low['annotator_b']}",
                "median": defined["value"].median(),
                "max": high["value"],
                "max_p": high["p"],
                "max_between": f"{high['annotator_a']} {high['annotator_b']}",
                "undefined": len(group) - len(defined),
            }
        )
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
            rows.append(
                {
                    "statistic": statistic,
                    "repeats": repeats,
                    "lowest_between": extreme["min_between"],
                    "lowest": extreme["min"],
                    "lowest_p": extreme["min_p"],
                    "named": named.loc[statistic, "value"],
                    "named_p": named.loc[statistic, "p"],
                }
            )
    return pd.DataFrame(rows)
