"""Compute the small tables that the sentences of Sudoh et al. 2021 are held against."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalkit.critical.taxonomy import CRITICAL, KEY, categories

_DISTANT = (  # pairs (true, predicted) of fluency that section 5.2 lists, as it lists them
    ("Incomprehensible", "Good"), ("Incomprehensible", "Fair"), ("Poor", "Excellent"), ("Good", "Incomprehensible"),
    ("Excellent", "Incomprehensible"), ("Excellent", "Poor"),
)  # fmt: skip


def claim_tables(
    labelled: pd.DataFrame,
    translations: pd.DataFrame,
    *,
    shares: pd.DataFrame,
    means: pd.DataFrame,
    contrasts: pd.DataFrame,
    pairwise: pd.DataFrame,
    matrices: Mapping[str, pd.DataFrame],
) -> dict[str, pd.DataFrame]:
    """Make the tables that the claims of ``sudoh2021_claims`` name.

    labelled: as ``joined`` makes it. shares, means, contrasts, pairwise: results of the functions of the same names
    (``da_by_label`` for means). matrices: dimension -> printed confusion matrix (Tables 11 and 13).
    """
    return {
        "sizes": _sizes(translations),
        "pairs": _counted(translations, ["doc", "src_lang"]).rename(columns={"doc": "test_set"}),
        "splits": _counted(translations, ["split"]),
        "people": _people(labelled),
        "extremes": _extremes(shares),
        "worst": _named(means.loc[means.groupby(["dimension", "annotator"])["mean"].idxmin()], "label", "worst"),
        "orders": _orders(means),
        "standards": _named(means.loc[means.groupby(["dimension", "label"])["mean"].idxmax()], "annotator", "highest"),
        "contrasts": contrasts,
        "agreement": _lower(pairwise),
        "matrices": pd.DataFrame([_matrix(dimension, table) for dimension, table in matrices.items()]),
    }


def _counted(translations: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    return translations.groupby(by).size().rename("translations").reset_index()


def _sizes(translations: pd.DataFrame) -> pd.DataFrame:
    """Count translations per test set and over all."""
    found = _counted(translations, ["doc"]).rename(columns={"doc": "test_set"})
    return pd.concat([found, pd.DataFrame({"test_set": ["all"], "translations": [len(translations)]})])


def _people(labelled: pd.DataFrame) -> pd.DataFrame:
    """Say of each annotator whether every translation has a label of theirs in both dimensions."""
    whole = len(labelled.drop_duplicates([*KEY, "dimension"]))
    found = labelled.groupby("annotator").size().rename("labels").reset_index()
    return found.assign(complete=found["labels"].eq(whole).map({True: "yes", False: "no"}))


def _extremes(shares: pd.DataFrame) -> pd.DataFrame:
    """Name who used each label least and most."""
    table = shares.pivot(index=["dimension", "label"], columns="annotator", values="share")
    return pd.DataFrame({"least": table.idxmin(axis=1), "most": table.idxmax(axis=1)}).reset_index()


def _named(rows: pd.DataFrame, column: str, name: str) -> pd.DataFrame:
    return rows.rename(columns={column: name})


def _orders(means: pd.DataFrame) -> pd.DataFrame:
    """Say of each annotator whether the labels' mean scores have the order that they have for the first one."""
    found = means.dropna(subset="mean").sort_values("mean").groupby(["dimension", "annotator"])["label"].agg(" < ".join)
    found = found.rename("order").reset_index()
    first = found.groupby("dimension")["order"].transform("first")
    return found.assign(same=found["order"].eq(first).map({True: "yes", False: "no"}))


def _lower(pairwise: pd.DataFrame) -> pd.DataFrame:
    """Name the dimension in which each pair agrees less."""
    table = pairwise.set_index(["pair", "dimension"])[["kappa", "concordance"]]
    table = table.rename_axis(columns="statistic").stack().unstack("dimension")
    return table.idxmin(axis=1).rename("lower").reset_index()


def _matrix(dimension: str, table: pd.DataFrame) -> dict[str, object]:
    """Count what the prose says about a printed confusion matrix."""
    counts = table.assign(count=table["count"].str.replace(",", "").astype(int))
    square = counts.pivot(index="true", columns="predicted", values="count")
    correct, total = sum(int(square.loc[name, name]) for name in square), int(square.to_numpy().sum())
    names = set(square)
    distant = sum(int(square.loc[pair]) for pair in _DISTANT if set(pair) <= names)
    excellent = int(square["Excellent"].sum())
    good = int(square.loc[["Excellent", "Good"], "Excellent"].sum())
    harmless = [name for name in categories(dimension) if name in ("Fair", "Good", "Excellent")]
    both = {
        f"{bad} and {fine}": int(square.loc[bad, fine] + square.loc[fine, bad])
        for bad in CRITICAL for fine in harmless if bad in names
    }  # fmt: skip
    return {
        "dimension": dimension, "correct": correct, "total": total, "accuracy": correct / total, "distant": distant,
        "distant_percent": 100 * distant / total, "predicted_excellent": excellent, "excellent_good": good,
        "excellent_good_percent": 100 * good / excellent, "commonest": max(both, key=both.get) if both else "",
    }  # fmt: skip
