"""Compare annotators two by two: kappa, share of equal labels, and which labels are taken for which."""

from __future__ import annotations

import itertools

import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021.matching import standing
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, named
from evalkit.stats import agreement

_MEASURES = {"kappa": ("cohen_kappa", "none"), "concordance": ("percent_agreement", "none")}


def pairwise(labels: pd.DataFrame, *, resamples: int = 500, seed: int = 7, shared: bool = False) -> pd.DataFrame:
    """Measure the agreement of every two annotators, with bootstrap intervals over translations.

    labels: ratings with dimension and label (codes). shared: only translations that all annotators of a dimension
    labelled, so that pairs can be compared with each other.
    Returns dimension, pair (``A-B``), kappa, kappa_low, kappa_high, concordance (share of equal labels),
    concordance_low, concordance_high, n, rows. Two annotators who labelled nothing in common have no row.
    Source: Cohen 1960.  Caveat: kappa treats all differences alike.
    """
    rows = []
    for dimension in labels["dimension"].unique():
        table = _table(labels, dimension)
        table = table.dropna() if shared else table
        for a, b in itertools.combinations(table.columns, 2):
            both = table[[a, b]].dropna()
            if both.empty:
                continue
            row = {"dimension": dimension, "pair": f"{a}-{b}"}
            options = {"resamples": resamples, "seed": seed, "categories": categories(dimension)}
            found = agreement.pairwise(both, measures=list(_MEASURES.values()), **options)
            for name, part in zip(_MEASURES, found.to_dict("records"), strict=True):
                row |= {name: part["estimate"], f"{name}_low": part["low"], f"{name}_high": part["high"]}
            rows.append(row | {"n": len(both), "rows": standing(both.reset_index())})
    if not rows:
        raise DataError("No two annotators labelled the same translation. Load the labels of several annotators.")
    return pd.DataFrame(rows)


def confusion_between(labels: pd.DataFrame, *, pair: str, dimension: str = "adequacy") -> pd.DataFrame:
    """Count which labels two annotators gave the same translations.

    pair: ``A-B``. Returns dimension, pair, first (label of A), second (of B), count, share (of A's label that B called
    so; missing where A never used it), first_annotator, second_annotator; all combinations of labels have a row, worst
    labels first.
    Raises DataError where the pair does not name two annotators.
    """
    table = _table(labels, dimension)
    found = [(a, b) for a, b in itertools.permutations(table.columns, 2) if f"{a}-{b}" == pair]
    if not found:
        raise DataError(f"pair={pair!r} is not known. Annotators are {', '.join(table.columns)}: write A-B.")
    first, second = found[0]
    names = categories(dimension)
    both = table[[first, second]].dropna()
    counts = pd.crosstab(both[first], both[second]).reindex(index=names, columns=names, fill_value=0)
    long = counts.rename_axis(index="first", columns="second").stack().rename("count").reset_index()
    total = long.groupby("first", sort=False)["count"].transform("sum")
    long["share"] = long["count"].div(total.where(total > 0))
    long.insert(0, "dimension", dimension)
    long.insert(1, "pair", pair)
    return long.assign(first_annotator=first, second_annotator=second)


def _table(labels: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Lay one dimension out as translations × annotators, with categories in the cells."""
    part = named(labels[labels["dimension"] == dimension])
    if part.empty:
        raise DataError(f"There are no labels of {dimension}. Load them, or choose another dimension.")
    return part.pivot(index=KEY, columns="annotator", values="label")
