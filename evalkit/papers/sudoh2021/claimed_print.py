"""Compute what the sentences of Sudoh et al. 2021 say of other numbers in their print."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit.papers.sudoh2021 import challenge, evaluation
from evalkit.papers.sudoh2021.audit import DISTANT
from evalkit.papers.sudoh2021.taxonomy import CRITICAL, categories

_CONFUSION = {"fluency": 11, "adequacy": 13}
_SCORES = {"fluency": 12, "adequacy": 14}
#: The hypotheses of Table 1 that section 3 compares with each other; it speaks of hyp8 and hyp9 apart.
_EDITED = [f"hyp{number}" for number in range(1, 8)]


def print_tables(printed: Mapping[int, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Make the tables that claims about Table 1, the confusion matrices and their scores name.

    printed: the transcriptions of Tables 1 and 11 to 14 by number. Of Table 1, BLEU and chrF are computed, and
    BERTScore and BLEURT are the printed values.
    """
    one = challenge.scored(challenge.of_table1(printed[1])).merge(printed[1][["id", "bertscore", "bleurt"]], on="id")
    values = one.set_index("id")[list(challenge.METRICS)].astype(float)
    matrices = pd.DataFrame([_matrix(name, printed[number]) for name, number in _CONFUSION.items()])
    return {
        "preferred": challenge.preferred(one, metrics=challenge.METRICS),
        "lowest": _lowest(values),
        "table1": values[["bertscore", "bleurt"]].idxmin(axis=1).rename("lower").reset_index(),
        "same": _same(values, "hyp8", "hyp3"),
        "matrices": matrices,
        "around": pd.DataFrame([{"percent": _tens(matrices["accuracy"])}]),
        "f1": pd.DataFrame([_ranked(name, printed[number]) for name, number in _SCORES.items()]),
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
    told = values.loc[one].round(1).eq(values.loc[other].round(1)).map({True: "the same", False: "another"})
    return told.to_frame().T


def _tens(shares: pd.Series) -> object:
    """Round shares to tens of per cent; one number where all are the same."""
    percent = shares.mul(100).round(-1).astype(int)
    return percent.iloc[0].item() if percent.nunique() == 1 else " and ".join(map(str, percent))


def _ranked(dimension: str, table: pd.DataFrame) -> dict[str, str]:
    """Name the labels with the highest and lowest printed F1, two in the order of print."""
    own = table[table["label"].isin(categories(dimension))]
    order = own.assign(f1=own["f1"].astype(float)).sort_values("f1", kind="stable")["label"].tolist()
    two = {"highest_two": order[-2:], "lowest_two": order[:2]}
    told = {name: " and ".join(sorted(pair, key=categories(dimension).index)) for name, pair in two.items()}
    return {"dimension": dimension, "highest": order[-1]} | told


def _matrix(dimension: str, table: pd.DataFrame) -> dict[str, object]:
    """Count what the prose says about a printed confusion matrix."""
    confused = evaluation.printed_confusion(table, dimension=dimension)
    summary = evaluation.summary(confused).iloc[0]
    square = confused.pivot(index="true", columns="predicted", values="count")
    excellent = int(square["Excellent"].sum())
    good = int(square.loc[["Excellent", "Good"], "Excellent"].sum())
    distant = evaluation.confused_as(confused, DISTANT)
    return {
        "dimension": dimension, "correct": int(np.trace(square)), "total": summary["n"],
        "accuracy": summary["accuracy"], "adjacent": "most" if summary["adjacent"] > 0.5 else "not most",
        "distant": distant, "distant_percent": 100 * distant / summary["n"], "predicted_excellent": excellent,
        "excellent_good": good, "excellent_good_percent": 100 * good / excellent,
        "commonest": _commonest(square, dimension),
    }  # fmt: skip


def _commonest(square: pd.DataFrame, dimension: str) -> str:
    """Name the critical and the harmless label that are most often taken for each other, "" where none is critical."""
    harmless = [name for name in categories(dimension) if name in ("Fair", "Good", "Excellent")]
    both = {
        f"{bad} and {fine}": square.loc[bad, fine] + square.loc[fine, bad]
        for bad in CRITICAL for fine in harmless if bad in square
    }  # fmt: skip
    return max(both, key=both.get) if both else ""
