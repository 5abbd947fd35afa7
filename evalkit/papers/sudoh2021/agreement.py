"""Measure how far annotators agree on labels: all of them, two by two, label by label, and on criticality alone."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021.labels import standing
from evalkit.papers.sudoh2021.taxonomy import KEY, ORDERS, categories, named, places, taxonomy
from evalkit.stats import agreement

_PAIR_MEASURES = {"kappa": ("cohen_kappa", "none"), "concordance": ("percent_agreement", "none")}
#: Coefficients as pages call them.
_NAMES = {"fleiss_kappa": "Fleiss' kappa", "percent_agreement": "percent agreement"}


def overall(labels: pd.DataFrame, *, resamples: int = 500, seed: int = 7) -> pd.DataFrame:
    """Estimate Fleiss' kappa and Krippendorff's alpha of each dimension, with bootstrap intervals over translations.

    labels: one row per label given, with the columns of ``KEY``, dimension, annotator and label (a code). Only
    translations that every annotator of the table labelled count. Alpha is nominal, then ordinal under each order of
    the labels (once, where the orders are the same).
    Returns dimension, annotators ("A-B-C"), coefficient, order (empty for coefficients without one), estimate, low,
    high, n.  Caveat: translations of one sentence by several systems are taken as independent, so intervals are narrow.
    """
    rows = []
    for dimension, table in _tables(labels):
        estimate: dict[str, Any] = {"resamples": resamples, "seed": seed}
        measures = [("fleiss_kappa", "none"), ("krippendorff_alpha", "nominal")]
        found = agreement.coefficients(_placed(table, places(dimension)), measures=measures, **estimate)
        parts = [found.assign(order="", coefficient=["Fleiss' kappa", "nominal alpha"])]
        for order in _distinct(dimension):
            placed = _placed(table, places(dimension, order=order))
            found = agreement.coefficients(placed, measures=[("krippendorff_alpha", "ordinal")], **estimate)
            parts.append(found.assign(order=order, coefficient="ordinal alpha"))
        rows.append(_arranged(pd.concat(parts), dimension, table))
    return _joined(rows)


def on_criticality(labels: pd.DataFrame, *, resamples: int = 500, seed: int = 7, by: str | None = None) -> pd.DataFrame:
    """Estimate agreement on one question of adequacy: is there a critical content error or not?

    Arguments as in ``overall``. by: a column such as src_lang, for an estimate per group (``group``; all together is
    "all"). Columns as in ``overall`` with group, and share, the mean share of labels that say critical. Where only one
    answer occurs, the estimate is missing.
    """
    critical = set(taxonomy("adequacy").query("critical")["code"])
    only = labels[labels["dimension"] == "adequacy"]
    groups = {"all": only} | ({str(name): part for name, part in only.groupby(by)} if by else {})
    rows = []
    for group, part in groups.items():
        for dimension, table in _tables(part):
            said = table.isin(critical).astype(float)
            share = float(said.to_numpy().mean())
            if 0 < share < 1:
                measures = [(name, "none") for name in _NAMES]
                found = agreement.coefficients(said, measures=measures, resamples=resamples, seed=seed)
            else:
                found = pd.DataFrame({"coefficient": ["fleiss_kappa"]}).reindex(
                    columns=["coefficient", "estimate", "low", "high"]
                )
            found = found.assign(order="", coefficient=found["coefficient"].map(_NAMES))
            found = _arranged(found, dimension, table).assign(share=share)
            found.insert(0, "group", group)
            rows.append(found)
    return _joined(rows)


def by_label(labels: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Estimate Fleiss' kappa of each label against all others: dimension, label, estimate, low, high, share, n.

    Arguments as in ``overall``; labels by category.
    """
    rows = []
    for dimension, table in _tables(labels):
        measures = [("fleiss_kappa", "none")]
        found = agreement.per_category(table, measures=measures, resamples=resamples, seed=seed)
        order = taxonomy(dimension).set_index("code")["category"]
        found = found.assign(dimension=dimension, label=found["category"].map(order), n=len(table))
        placed = found.sort_values("category", key=lambda codes: codes.map(places(dimension, order="print")))
        rows.append(placed[["dimension", "label", "estimate", "low", "high", "share", "n"]])
    return _joined(rows)


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
        table = _by_annotator(labels, dimension)
        table = table.dropna() if shared else table
        for a, b in itertools.combinations(table.columns, 2):
            both = table[[a, b]].dropna()
            if both.empty:
                continue
            row = {"dimension": dimension, "pair": f"{a}-{b}"}
            options: dict[str, Any] = {"resamples": resamples, "seed": seed, "categories": categories(dimension)}
            found = agreement.pairwise(both, measures=list(_PAIR_MEASURES.values()), **options)
            for name, part in zip(_PAIR_MEASURES, found.to_dict("records"), strict=True):
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
    table = _by_annotator(labels, dimension)
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


def _tables(labels: pd.DataFrame):
    """Go through the dimensions: name, and items × annotators without gaps."""
    if lacking := [name for name in (*KEY, "dimension", "annotator", "label") if name not in labels]:
        raise DataError(f"The labels have no column {lacking[0]}. Load them with evalkit.data.")
    for dimension in [name for name in ("fluency", "adequacy") if (labels["dimension"] == name).any()]:
        rows = labels[labels["dimension"] == dimension]
        wide = rows.pivot(index=KEY, columns="annotator", values="label").dropna()
        if wide.shape[1] < 2 or wide.empty:
            raise DataError(f"{dimension}: no translation has labels by two annotators or more. Choose others.")
        yield dimension, wide


def _placed(table: pd.DataFrame, place: dict[str, int]) -> pd.DataFrame:
    """Replace codes by their places."""
    return table.apply(lambda column: column.map(place))


def _distinct(dimension: str) -> list[str]:
    """List the orders, each only once where two put the labels alike."""
    known: dict[tuple, str] = {}
    for order in ORDERS:
        known.setdefault(tuple(places(dimension, order=order)), order)
    return list(known.values())


def _arranged(found: pd.DataFrame, dimension: str, table: pd.DataFrame) -> pd.DataFrame:
    """Arrange estimates in the columns of a result."""
    named = found.assign(dimension=dimension, annotators="-".join(map(str, table.columns)), n=len(table))
    return named[["dimension", "annotators", "coefficient", "order", "estimate", "low", "high", "n"]]


def _joined(rows: list[pd.DataFrame]) -> pd.DataFrame:
    """Put the parts under each other."""
    if not rows:
        raise DataError("There are no labels of fluency or adequacy. Load them with evalkit.data.")
    return pd.concat(rows, ignore_index=True)


def _by_annotator(labels: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Pivot one dimension to translations × annotators, with categories in the cells."""
    part = named(labels[labels["dimension"] == dimension])
    if part.empty:
        raise DataError(f"There are no labels of {dimension}. Load them, or choose another dimension.")
    return part.pivot(index=KEY, columns="annotator", values="label")
