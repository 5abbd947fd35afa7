"""Line computed tables up with the cells that Sudoh et al. 2021 print, each with the reason where the two part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit.papers.sudoh2021.taxonomy import KEY
from evalkit.stats.verdicts import verdict

#: What keeps a number of the paper from being recomputed, in the few words that one cause always has.
UNRELEASED = "annotator C's WMT17 labels never released"
UNTRAINED = "needs the authors' trained network"
_SHORT = "The paper's number rests on labels that were never released (annotator C, newstest2017). On {rows}: {values}."


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
    told = [
        _SHORT.format(rows=row["rows"], values=", ".join(f"{said[name]}{row[name]:.{digits}f}" for name in values))
        for row in computed.to_dict("records")
    ]
    kept = {name: computed[name].where(~short) for name in values}
    return computed.assign(absent=np.where(short, told, ""), lacking=np.where(short, UNRELEASED, ""), **kept)


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


def unprinted_rows(labelled: pd.DataFrame, printed: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Search for single rows without which a mean and its deviation become the printed ones.

    labelled: as ``joined`` makes it. printed: dimension -> Table 6 or 7. For each label of each annotator with all rows
    whose mean or deviation differs from print, rows are left out one at a time.
    Returns one row per translation that mends most such cells: KEY, cells (which it mends), mends (how many), of (how
    many differ), hypothesis, reference, z; empty where none mends two.
    Caveat: what mends a rounded number need not be what happened. Read it as a hint where the labels look wrong, too.
    """
    whole = len(labelled.drop_duplicates(KEY))
    mended, differing = [], 0
    for dimension, table in printed.items():
        part = labelled[labelled["dimension"] == dimension]
        for cell in table.itertuples():
            person = part[part["annotator"] == cell.annotator]
            rows = person[person["label"] == cell.label]
            if len(person) < whole or rows.empty:
                continue
            z = rows["z"].to_numpy()
            fits = _rounds_to(z.mean(), cell.mean) & _rounds_to(z.std(), cell.sd)
            if fits or len(z) < 3:
                continue
            differing += 1
            mean = (z.sum() - z) / (len(z) - 1)
            sd = np.sqrt(np.maximum(((z**2).sum() - z**2) / (len(z) - 1) - mean**2, 0))
            hit = _rounds_to(mean, cell.mean) & _rounds_to(sd, cell.sd)
            name = f"{dimension} {cell.annotator} {cell.label}"
            mended.append(rows.loc[hit, [*KEY, "hypothesis", "reference", "z"]].assign(cells=name))
    columns = [*KEY, "cells", "mends", "of", "hypothesis", "reference", "z"]
    if not mended:
        return pd.DataFrame(columns=columns)
    found = pd.concat(mended).groupby(KEY, sort=False)
    table = found.agg(cells=("cells", "; ".join), mends=("cells", "size"), hypothesis=("hypothesis", "first"),
                      reference=("reference", "first"), z=("z", "first")).reset_index()  # fmt: skip
    best = table[(table["mends"] == table["mends"].max()) & (table["mends"] > 1)]
    return best.assign(of=differing)[columns].reset_index(drop=True)


def _rounds_to(values: float | np.ndarray, printed: str) -> np.ndarray:
    """Tell which values round to a printed number."""
    return np.abs(np.asarray(values) - float(printed)) <= 0.5 * 10.0 ** -len(printed.partition(".")[2]) + 1e-9
