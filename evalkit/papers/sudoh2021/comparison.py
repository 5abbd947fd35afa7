"""Compare computed tables with what Sudoh et al. 2021 print, each cell with the reason where the two part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit import data
from evalkit.papers import claims
from evalkit.papers.sudoh2021 import challenge, classification, reduction
from evalkit.papers.sudoh2021.reduction import UNRELEASED, Release
from evalkit.papers.sudoh2021.taxonomy import KEY, TABLES
from evalkit.stats.verdicts import half, verdict

#: The number on the rows that are here; that labels of annotator C are lacking, the verdict says.
_SHORT = "On {rows}: {values}."
_DATA, _PRINT = "recomputed from data", "follows from other printed numbers"
#: Why computed values differ from print, by table.
_OFF = "The released labels differ in a few rows from those behind print; see the table of single rows below."
_CLOSE = "Off by a few labels of 9,280: the released files are not quite those behind print."
_LEFT = (
    "What is left cannot be traced: all rows of the split are here, so single labels differ from those behind print."
)
_UNTRAINED = (
    "It needs the authors' trained network, which was not released; the suite's training script makes another one."
)


def tables() -> dict[int, pd.DataFrame]:
    """Return the transcribed Tables 1 and 4 to 14 by number."""
    return {number: data.published(f"sudoh2021_table{number}") for number in (1, *range(4, 15))}


def compare_with_print(
    printed: Mapping[int, pd.DataFrame],
    *,
    shares: pd.DataFrame,
    means: pd.DataFrame,
    pairs: pd.DataFrame,
    releases: Iterable[Release],
    complete: int,
) -> dict[str, pd.DataFrame]:
    """Compare all printed tables with computed ones: caption -> rows for ``show.compare``.

    printed: as ``tables`` gives them. shares, means: the results of ``labels.shares`` and ``labels.da_by_label``.
    pairs: that of ``agreement.pairwise``. releases: of both dimensions. complete: translations of the whole corpus.
    Counts of the paper's network can only be listed; its scores follow from them.
    """
    given = pd.concat([shares, _averages(shares)])
    made = {}
    slips = {"adequacy": {"": _OFF, "Excellent, B": "Misprint: the column then sums to 0.950; 0.055 makes it 1."}}
    for dimension, numbers in TABLES.items():
        part, values = given[given["dimension"] == dimension], ["share"]
        rows = _compared(printed, numbers.shares, part, ["label", "annotator"], values, complete)
        made[f"Table {numbers.shares}, labels of {dimension}"] = explained(rows, slips.get(dimension, _OFF))
    for dimension, numbers in TABLES.items():
        part, values = means[means["dimension"] == dimension], ["mean", "sd"]
        rows = _compared(printed, numbers.means, part, ["label", "annotator"], values, complete)
        made[f"Table {numbers.means}, DA by label of {dimension}"] = explained(rows, _OFF)
    kinds = pairs.melt(["dimension", "pair", "n", "rows"], ["kappa", "concordance"], var_name="statistic")
    rows = _compared(printed, 8, kinds, ["dimension", "statistic", "pair"], ["value"], complete, digits=4)
    slip = f"{_CLOSE} Printed κ and shares imply r = 0.450, so 0.4512 is a slip."
    made["Table 8, agreement"] = explained(rows, {"": _CLOSE, "fluency, concordance, A-B": slip})
    sheet = [challenge.compare_with_print(printed[1])]
    for one in releases:
        number = TABLES[one.wide.dimension].counts
        rows = claims.compare_with_print(
            printed[number],
            reduction.counts(one),
            item=f"Table {number}",
            on=["label", "split"],
            values={"count": "count"},
            basis=_DATA,
        )
        sheet.append(explained(rows, _LEFT))
    made["Table 1 scored again, and the counts of Tables 9 and 10 by the median"] = pd.concat(sheet, ignore_index=True)
    return made | _of_the_network(printed)


def _compared(
    printed: Mapping[int, pd.DataFrame],
    number: int,
    computed: pd.DataFrame,
    on: list[str],
    values: list[str],
    complete: int,
    digits: int = 3,
) -> pd.DataFrame:
    """Compare a table of annotators, of whom not all labelled every translation."""
    whole = whole_only(computed, values, complete=complete, digits=digits)
    named = {name: name for name in values}
    return claims.compare_with_print(printed[number], whole, item=f"Table {number}", on=on, values=named, basis=_DATA)


def _of_the_network(printed: Mapping[int, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """List the counts of the paper's network, and compare the printed scores with those that follow from the counts."""
    listed, followed, names = [], [], ("precision", "recall", "f1")
    for dimension, numbers in TABLES.items():
        table = printed[numbers.confusion]
        asked: dict[str, Any] = {
            "because": _UNTRAINED,
            "lacking": "needs the authors' trained network",
            "on": ["true", "predicted"],
        }
        listed.append(claims.listed(table, "count", item=f"Table {numbers.confusion}", **asked))
        ours = classification.scores(classification.printed_confusion(table, dimension=dimension))
        ours = ours.replace({"label": {classification.AVERAGE: "average"}})
        followed.append(
            claims.compare_with_print(
                printed[numbers.scores],
                ours,
                item=f"Table {numbers.scores}",
                on=["label"],
                values=dict(zip(names, names)),
                basis=_PRINT,
            )
        )
    return {
        "Tables 11 and 13, confusion matrices": pd.concat(listed, ignore_index=True),
        "Tables 12 and 14, from the counts of Tables 11 and 13": pd.concat(followed),
    }


def whole_only(computed: pd.DataFrame, values: Sequence[str], *, complete: int, digits: int = 3) -> pd.DataFrame:
    """Take values out of the rows of somebody who labelled fewer than all translations, and say what they were.

    computed: ``values``, rows (test sets, in words) and of or else n, how many translations the person labelled.
    complete: translations of the whole corpus. Such rows get the columns absent and lacking, as
    ``claims.compare_with_print`` reads them, for the printed number is of all translations.

    >>> rows = pd.DataFrame({"share": [0.2, 0.3], "n": [9, 5], "rows": "WMT15"})
    >>> whole_only(rows, ["share"], complete=9)[["share", "lacking"]].to_numpy().tolist()
    [[0.2, ''], [nan, "annotator C's WMT17 labels never released"]]
    """
    short = computed["of" if "of" in computed else "n"].lt(complete)
    said = {name: f"{name} " if len(values) > 1 else "" for name in values}
    absent = [
        _SHORT.format(rows=row["rows"], values=", ".join(f"{said[name]}{row[name]:.{digits}f}" for name in values))
        for row in computed.to_dict("records")
    ]
    kept = {name: computed[name].where(~short) for name in values}
    return computed.assign(absent=np.where(short, absent, ""), lacking=np.where(short, UNRELEASED, ""), **kept)


def explained(rows: pd.DataFrame, because: Mapping[str, str] | str) -> pd.DataFrame:
    """Add to the notes of the rows that differ from print why they do, and to no others.

    rows: as ``claims`` makes them. because: a reason for all, or by cell with "" for those not listed.

    >>> rows = pd.DataFrame({"cell": ["a", "b"], "printed": ["1", "2"], "computed": [1, 3], "note": ["", "Mean."]})
    >>> explained(rows, "A slip.")["note"].tolist()
    ['', 'Mean. A slip.']
    """
    reasons = because if isinstance(because, Mapping) else {"": because}
    same = [verdict(row.printed, row.computed) != "differs" for row in rows.itertuples()]
    why = rows["cell"].map(lambda cell: reasons.get(cell, reasons.get("", "")))
    return rows.assign(note=rows["note"].where(same, rows["note"].str.cat(why, sep=" ").str.strip()))


def unprinted_rows(labelled: pd.DataFrame, printed: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Search for single rows without which a mean and its deviation become the printed ones.

    labelled: as ``joined`` makes it. printed: Tables 6 and 7 by number. For each label of each annotator with all rows
    whose mean or deviation differs from print, rows are left out one at a time.
    Returns one row per translation that corrects most such cells: KEY, cells (which it corrects), mends (how many), of
    (how many differ), hypothesis, reference, z; empty where none corrects two.
    Caveat: what corrects a rounded number need not be what happened. Read it as a hint where the labels look wrong.
    """
    whole = len(labelled.drop_duplicates(KEY))
    corrected, differing = [], 0
    for dimension, numbers in TABLES.items():
        part = labelled[labelled["dimension"] == dimension]
        for cell in printed[numbers.means].itertuples():
            person = part[part["annotator"] == cell.annotator]
            rows = person[person["label"] == cell.label]
            if len(person) < whole or rows.empty:
                continue
            z = rows["z"].to_numpy()
            if len(z) < 3 or (_rounds_to(z.mean(), cell.mean) & _rounds_to(z.std(), cell.sd)):
                continue
            differing += 1
            mean = (z.sum() - z) / (len(z) - 1)
            sd = np.sqrt(np.maximum(((z**2).sum() - z**2) / (len(z) - 1) - mean**2, 0))
            hit = _rounds_to(mean, cell.mean) & _rounds_to(sd, cell.sd)
            name = f"{dimension} {cell.annotator} {cell.label}"
            corrected.append(rows.loc[hit, [*KEY, "hypothesis", "reference", "z"]].assign(cells=name))
    columns = [*KEY, "cells", "mends", "of", "hypothesis", "reference", "z"]
    if not corrected:
        return pd.DataFrame(columns=columns)
    found = pd.concat(corrected).groupby(KEY, sort=False)
    table = found.agg(
        cells=("cells", "; ".join),
        mends=("cells", "size"),
        hypothesis=("hypothesis", "first"),
        reference=("reference", "first"),
        z=("z", "first"),
    ).reset_index()
    best = table[(table["mends"] == table["mends"].max()) & (table["mends"] > 1)]
    return best.assign(of=differing)[columns].reset_index(drop=True)


def _rounds_to(values: float | np.ndarray, printed: str) -> np.ndarray:
    """Tell which values round to a printed number."""
    return np.abs(np.asarray(values) - float(printed)) <= half(printed) + 1e-9


def _averages(table: pd.DataFrame) -> pd.DataFrame:
    """Average shares over annotators, each with the rows that they labelled; ``annotator`` reads "average".

    table: as ``shares`` makes it. n is the smallest number of rows of an annotator.

    >>> two = pd.DataFrame({"dimension": "fluency", "annotator": ["A", "B"], "label": "Poor", "share": [0.1, 0.3],
    ...                     "n": [9, 5], "rows": ["all", "some"]})
    >>> _averages(two)[["annotator", "label", "share", "n"]].to_dict("records")
    [{'annotator': 'average', 'label': 'Poor', 'share': 0.2, 'n': 5}]
    """
    found = table.groupby(["dimension", "label"], sort=False).agg(share=("share", "mean"), n=("n", "min")).reset_index()
    found.insert(1, "annotator", "average")
    return found.assign(rows="each annotator's rows")
