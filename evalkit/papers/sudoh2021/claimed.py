"""Compute the small tables that the sentences of Sudoh et al. 2021 are compared with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit.data.languages import CODES
from evalkit.papers.sudoh2021 import challenge, classification
from evalkit.papers.sudoh2021.audit import DISTANT
from evalkit.papers.sudoh2021.labels import shares
from evalkit.papers.sudoh2021.reduction import reduce
from evalkit.papers.sudoh2021.taxonomy import CRITICAL, KEY, TABLES, TAXONOMIES, categories

_YES = {True: "yes", False: "no"}
#: The hypotheses of Table 1 that section 3 compares with each other; it speaks of hyp8 and hyp9 apart.
_EDITED = [f"hyp{number}" for number in range(1, 8)]


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


def print_tables(printed: Mapping[int, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Make the tables that claims about Table 1, the confusion matrices and their scores name.

    printed: the transcriptions of Tables 1 and 11 to 14 by number. Of Table 1, BLEU and chrF are computed, and
    BERTScore and BLEURT are the printed values.
    """
    one = challenge.scored(challenge.of_table1(printed[1])).merge(printed[1][["id", "bertscore", "bleurt"]], on="id")
    values = one.set_index("id")[list(challenge.METRICS)].astype(float)
    matrices = pd.DataFrame([_matrix(name, printed[numbers.confusion]) for name, numbers in TABLES.items()])
    return {
        "preferred": challenge.preferred(one, metrics=challenge.METRICS),
        "lowest": _lowest(values),
        "table1": values[["bertscore", "bleurt"]].idxmin(axis=1).rename("lower").reset_index(),
        "same": _same(values, "hyp8", "hyp3"),
        "matrices": matrices,
        "around": pd.DataFrame([{"percent": _tens(matrices["accuracy"])}]),
        "f1": pd.DataFrame([_ranked(name, printed[numbers.scores]) for name, numbers in TABLES.items()]),
    }


def _lowest(values: pd.DataFrame) -> pd.DataFrame:
    """Name what each metric scores lowest: metric, one, two (of hyp1 to hyp7), with_hyp8 (one of hyp1 to hyp8)."""
    rows = []
    for metric, column in values.items():
        order = column[_EDITED].sort_values(kind="stable").index
        with_8 = column[[*_EDITED, "hyp8"]].idxmin()
        rows.append({"metric": metric, "one": order[0], "two": " and ".join(sorted(order[:2])), "with_hyp8": with_8})
    return pd.DataFrame(rows)


def _same(values: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """Say of each metric whether it gives two hypotheses the same score to one digit: a column a metric, one row."""
    same = values.loc[one].round(1).eq(values.loc[other].round(1)).map({True: "the same", False: "another"})
    return same.to_frame().T


def _tens(shares: pd.Series) -> object:
    """Round shares to tens of per cent; one number where all are the same."""
    percent = shares.mul(100).round(-1).astype(int)
    return percent.iloc[0].item() if percent.nunique() == 1 else " and ".join(map(str, percent))


def _ranked(dimension: str, table: pd.DataFrame) -> dict[str, str]:
    """Name the labels with the highest and lowest printed F1, two in the order of print."""
    own = table[table["label"].isin(categories(dimension))]
    order = own.assign(f1=own["f1"].astype(float)).sort_values("f1", kind="stable")["label"].tolist()
    two = {"highest_two": order[-2:], "lowest_two": order[:2]}
    words = {name: " and ".join(sorted(pair, key=categories(dimension).index)) for name, pair in two.items()}
    return {"dimension": dimension, "highest": order[-1]} | words


def _matrix(dimension: str, table: pd.DataFrame) -> dict[str, object]:
    """Count what the prose says about a printed confusion matrix."""
    confused = classification.printed_confusion(table, dimension=dimension)
    summary = classification.summary(confused).iloc[0]
    square = confused.pivot(index="true", columns="predicted", values="count")
    excellent = int(square["Excellent"].sum())
    good = int(square.loc[["Excellent", "Good"], "Excellent"].sum())
    cells = confused.set_index(["true", "predicted"])["count"]
    distant = int(sum(cells.get(pair, 0) for pair in DISTANT))
    return {
        "dimension": dimension,
        "correct": int(np.trace(square)),
        "total": summary["n"],
        "accuracy": summary["accuracy"],
        "adjacent": "most" if summary["adjacent"] > 0.5 else "not most",
        "distant": distant,
        "distant_percent": 100 * distant / summary["n"],
        "predicted_excellent": excellent,
        "excellent_good": good,
        "excellent_good_percent": 100 * good / excellent,
        "commonest": _commonest(square, dimension),
    }


def _commonest(square: pd.DataFrame, dimension: str) -> str:
    """Name the critical and the harmless label that are most often taken for each other, "" where none is critical."""
    harmless = [name for name in categories(dimension) if name in ("Fair", "Good", "Excellent")]
    both = {
        f"{bad} and {fine}": square.loc[bad, fine] + square.loc[fine, bad]
        for bad in CRITICAL
        for fine in harmless
        if bad in square
    }
    return max(both, key=lambda pair: both[pair]) if both else ""
