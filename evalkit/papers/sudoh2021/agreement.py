"""Measure agreement on labels among three annotators: nominal, ordinal under each order, and on criticality alone."""

from __future__ import annotations

import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import KEY, ORDERS, places, taxonomy
from evalkit.stats import agreement


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
        orders = _distinct(dimension)
        first = _placed(table, places(dimension))
        kappas = [("fleiss_kappa", "none"), ("krippendorff_alpha", "nominal")]
        found = agreement.coefficients(first, measures=kappas, resamples=resamples, seed=seed).assign(order="")
        parts = [
            found.replace({"coefficient": {"krippendorff_alpha": "nominal alpha", "fleiss_kappa": "Fleiss' kappa"}})
        ]
        for order in orders:
            placed = _placed(table, places(dimension, order=order))
            ordinal = [("krippendorff_alpha", "ordinal")]
            found = agreement.coefficients(placed, measures=ordinal, resamples=resamples, seed=seed)
            parts.append(found.assign(order=order, coefficient="ordinal alpha"))
        rows.append(_shown(pd.concat(parts), dimension, table))
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
                measures = [("fleiss_kappa", "none"), ("percent_agreement", "none")]
                found = agreement.coefficients(said, measures=measures, resamples=resamples, seed=seed)
                names = {"fleiss_kappa": "Fleiss' kappa", "percent_agreement": "percent agreement"}
                shown = found.assign(order="", coefficient=found["coefficient"].map(names))
            else:
                shown = pd.DataFrame({"coefficient": ["Fleiss' kappa"], "order": "", "estimate": float("nan"),
                                      "low": float("nan"), "high": float("nan")})  # fmt: skip
            shown = _shown(shown, dimension, table)
            shown.insert(0, "group", group)
            rows.append(shown.assign(share=share))
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


def _shown(found: pd.DataFrame, dimension: str, table: pd.DataFrame) -> pd.DataFrame:
    """Arrange estimates in the columns of a result."""
    named = found.assign(dimension=dimension, annotators="-".join(map(str, table.columns)), n=len(table))
    return named[["dimension", "annotators", "coefficient", "order", "estimate", "low", "high", "n"]]


def _joined(rows: list[pd.DataFrame]) -> pd.DataFrame:
    """Put the parts under each other."""
    if not rows:
        raise DataError("There are no labels of fluency or adequacy. Load them with evalkit.data.")
    return pd.concat(rows, ignore_index=True)
