"""Compute the small tables that the sentences of Sudoh et al. 2021 are held against."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalkit.data.languages import CODES
from evalkit.papers.sudoh2021.claimed_print import print_tables
from evalkit.papers.sudoh2021.distributions import shares
from evalkit.papers.sudoh2021.reduction import reduce
from evalkit.papers.sudoh2021.taxonomy import KEY, TAXONOMIES

_YES = {True: "yes", False: "no"}


def claim_tables(
    labelled: pd.DataFrame,
    translations: pd.DataFrame,
    *,
    labels: pd.DataFrame,
    agreed: pd.DataFrame,
    means: pd.DataFrame,
    contrasts: pd.DataFrame,
    pairwise: pd.DataFrame,
    printed: Mapping[int, pd.DataFrame],
) -> dict[str, pd.DataFrame]:
    """Make the tables that the claims of ``sudoh2021_claims`` name.

    labelled: as ``joined`` makes it of labels and translations. agreed: the released agreed labels. means, contrasts,
    pairwise: results of the functions of the same names (``da_by_label`` for means). printed: the transcribed tables by
    number (1, 11 to 14), for sentences that speak of other numbers in print.
    """
    return print_tables(printed) | {
        "sizes": _sizes(translations),
        "languages": _languages(translations),
        "splits": _counted(translations, ["split"]),
        "people": _people(labelled),
        "categories": labelled.groupby("dimension")["label"].nunique().rename("labels").reset_index(),
        "extremes": _extremes(_by_all(labelled)),
        "worst": _named(means.loc[means.groupby(["dimension", "annotator"])["mean"].idxmin()], "label", "worst"),
        "orders": _orders(means),
        "standards": _named(means.loc[means.groupby(["dimension", "label"])["mean"].idxmax()], "annotator", "highest"),
        "contrasts": contrasts,
        "agreement": _lower(pairwise),
        "settled": pd.concat([_settled(labels, agreed, name) for name in TAXONOMIES], ignore_index=True),
    }


def common(values: pd.Series) -> object:
    """Return the value that all have, or say between which they lie.

    >>> common(pd.Series([560, 560])), common(pd.Series([560, 580]))
    (560, '560 to 580')
    """
    return values.iloc[0].item() if values.nunique() == 1 else f"{values.min()} to {values.max()}"


def _languages(translations: pd.DataFrame) -> pd.DataFrame:
    """List the language pairs of each test set as the paper writes them, and how many translations each has."""
    written = {ours: theirs for theirs, ours in CODES.items()}
    counted = _counted(translations, ["doc", "src_lang", "tgt_lang"])
    names = [f"{written.get(a, a)}-{written.get(b, b)}" for a, b in zip(counted["src_lang"], counted["tgt_lang"])]
    each = counted.assign(pair=names).sort_values("pair").groupby("doc")
    found = each.agg(pairs=("pair", ", ".join), translations=("translations", common))
    return found.rename_axis("test_set").reset_index()


def _by_all(labelled: pd.DataFrame) -> pd.DataFrame:
    """Compute shares of labels on the translations that all annotators labelled, so that they can be compared."""
    people = labelled["annotator"].nunique()
    return shares(labelled[labelled.groupby([*KEY, "dimension"])["annotator"].transform("nunique").eq(people)])


def _settled(labels: pd.DataFrame, agreed: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Say of each translation with three labels whether its released agreed label is the one of the stated rule.

    Returns dimension, kind (two or three alike, all differ), stated (yes or no).
    """
    own = labels[labels["dimension"] == dimension].groupby(KEY)["label"].nunique().rename("distinct")
    known = agreed[agreed["dimension"] == dimension].set_index(KEY)["label"].rename("released")
    rows = reduce(labels, rule="majority-else-worst", dimension=dimension).set_index(KEY).join([own, known])
    kind = rows["distinct"].lt(3).map({True: "two or three alike", False: "all differ"})
    stated = rows["label"].eq(rows["released"]).map(_YES)
    return pd.DataFrame({"dimension": dimension, "kind": kind, "stated": stated}).reset_index(drop=True)


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
    return found.assign(complete=found["labels"].eq(whole).map(_YES))


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
    return found.assign(same=found["order"].eq(first).map(_YES))


def _lower(pairwise: pd.DataFrame) -> pd.DataFrame:
    """Name the dimension in which each pair agrees less."""
    table = pairwise.set_index(["pair", "dimension"])[["kappa", "concordance"]]
    table = table.rename_axis(columns="statistic").stack().unstack("dimension")
    return table.idxmin(axis=1).rename("lower").reset_index()
