"""Line computed tables up with the cells that Sudoh et al. 2021 print, each with the reason where the two part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit.critical.taxonomy import KEY

PAPER = "Sudoh et al. 2021"
_UNRELEASED = "The paper's number rests on labels that were never released ({who} on newstest2017). On {rows}: {value}."


def held(
    printed: pd.DataFrame,
    computed: pd.DataFrame,
    *,
    item: str,
    on: Sequence[str],
    values: Mapping[str, str],
    because: Mapping[tuple[str, ...], str] | str,
    digits: int = 3,
    complete: int | None = None,
) -> pd.DataFrame:
    """Lay printed cells beside computed ones: paper, item, cell, printed, computed, note.

    on: columns that name a row in both tables. values: column of ``printed`` -> column of ``computed``. because: the
    note of cells that differ, one for all or by the values of ``on``, with () for those not listed. complete: rows of
    the whole corpus; a number of somebody who labelled fewer (column of, or else n) cannot be held against print: it is
    left out, and the note says what it is on the rows there are (column rows), to so many digits.
    """
    key = list(on)
    base = "of" if "of" in computed else "n"
    wanted = list(dict.fromkeys([*values.values(), base, "rows"]))
    table = printed[key].merge(computed[[*key, *wanted]], on=key, how="left")
    reasons = because if isinstance(because, Mapping) else {(): because}
    parts = []
    for ours, theirs in values.items():
        found = table[theirs].astype(float)
        notes = [reasons.get(tuple(row), reasons[()]) for row in table[key].to_numpy()]
        if complete is not None:
            short = table[base].lt(complete)
            told = [
                _UNRELEASED.format(who=_whose(row), rows=row["rows"], value=f"{value:.{digits}f}")
                for row, value in zip(table.to_dict("records"), found)
            ]
            notes = np.where(short, told, notes)
            found = found.where(~short)
        cell = printed[key].agg(", ".join, axis=1) + (f", {ours}" if len(values) > 1 else "")
        rows = {"paper": PAPER, "item": item, "cell": cell.to_numpy(), "printed": printed[ours].to_numpy()}
        parts.append(pd.DataFrame(rows | {"computed": found.to_numpy(), "note": notes}))
    return pd.concat(parts, ignore_index=True)


def unheld(printed: pd.DataFrame, *, item: str, on: Sequence[str], value: str, note: str) -> pd.DataFrame:
    """List printed cells that nothing was computed for, with the reason: the columns of ``held``."""
    cell = printed[list(on)].agg(", ".join, axis=1)
    rows = {"paper": PAPER, "item": item, "cell": cell, "printed": printed[value], "computed": None, "note": note}
    return pd.DataFrame(rows)


def _whose(row: dict) -> str:
    """Name the annotator whose labels are missing behind a row."""
    return "annotator C" if row.get("annotator", "C") != "C" or "pair" in row else f"annotator {row['annotator']}"


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
