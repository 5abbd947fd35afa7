"""Read the files that pass between the suite's environment and the neural one: examples, and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited
from evalkit.papers.sudoh2021.taxonomy import KEY, TAXONOMIES, categories

SPLITS = ("train", "dev", "test")
#: The columns of the file of examples; true may be empty in the split test.
COLUMNS = (*KEY, "split", "z", "hypothesis", "reference", "sentence", "true", "dimension")


def read(path: str | Path) -> pd.DataFrame:
    """Read a file of examples; DataError, with the line, where a column, text, split or label is missing or unknown."""
    table = _columns(Path(path), COLUMNS, "the command examples")
    _known(table, path, "split", SPLITS)
    for side in ("hypothesis", "reference"):
        _refuse(table[side].isna(), path, f"the {side} is empty")
    _labels(table, path, "true")
    _refuse(table["true"].isna() & table["split"].ne("test"), path, "a row to train on or choose by has no label")
    _refuse(table.duplicated([*KEY, "dimension"]), path, "this translation stood on an earlier line")
    return table.assign(z=_numbers(table, path, "z"), sentence=_sentences(table, path))


def read_predictions(path: str | Path) -> pd.DataFrame:
    """Read what ``score`` wrote, as ``classify.predict`` returns it; also predictions by a model of one's own.

    Columns: KEY, split, z, sentence, true (may be empty), dimension, model, predicted, and a probability per label of
    the row's dimension. DataError, with the line, for unknown labels and where probabilities do not sum to 1.
    """
    front = (*KEY, "split", "z", "sentence", "true", "dimension", "model", "predicted")
    table = _columns(Path(path), front, "the command score")
    _known(table, path, "split", SPLITS)
    for side in ("true", "predicted"):
        _labels(table, path, side)
    _refuse(table["predicted"].isna() | table["model"].isna(), path, "no model or no predicted label is given")
    for dimension, rows in table.groupby("dimension"):
        lacking = [name for name in categories(dimension) if name not in table]
        if lacking:
            raise DataError(f"{Path(path).name} has no probabilities of {lacking[0]}. Add the column.")
        chances = rows[categories(dimension)].apply(pd.to_numeric, errors="coerce")
        fine = chances.ge(0).all(axis=1) & chances.sum(axis=1).sub(1).abs().lt(1e-6)
        _refuse(~fine, path, f"the probabilities of {dimension} are not all there, from 0 up, with the sum 1")
    names = [name for name in dict.fromkeys(n for d in TAXONOMIES for n in categories(d)) if name in table]
    numbers = {name: _numbers(table, path, name) for name in ("z", *names)}
    table = table.assign(**numbers, sentence=_sentences(table, path))
    return table[[*front, *names]].reset_index(drop=True)


def _columns(path: Path, needed: Sequence[str], command: str) -> pd.DataFrame:
    if not path.is_file():
        raise DataError(f"There is no file {path.name}. Write it with {command}.")
    table = delimited.table(delimited.content(path), origin=path.name, delimiter=",")
    missing = [name for name in needed if name not in table]
    if missing:
        raise DataError(f"{path.name} has no column {missing[0]}. It needs {', '.join(needed)}.")
    return table


def _labels(table: pd.DataFrame, path: str | Path, column: str) -> None:
    """Refuse dimensions that do not exist, and labels that the row's dimension does not have."""
    _known(table, path, "dimension", tuple(TAXONOMIES))
    for dimension, own in table.groupby("dimension")[column]:
        strange = own.notna() & ~own.isin(categories(dimension))
        _refuse(strange, path, f"this is no label of {dimension} in the column {column}")


def _known(table: pd.DataFrame, path: str | Path, column: str, values: Sequence[str]) -> None:
    _refuse(~table[column].isin(values), path, f"the {column} is none of {', '.join(values)}")


def _numbers(table: pd.DataFrame, path: str | Path, column: str) -> pd.Series:
    numbers = pd.to_numeric(table[column], errors="coerce")
    _refuse(table[column].notna() & ~np.isfinite(numbers), path, f"{column} is no number")
    return numbers.astype(float)


def _sentences(table: pd.DataFrame, path: str | Path) -> pd.Series:
    """Read the numbers of the sentences, which tell what is drawn together in a bootstrap."""
    numbers = _numbers(table, path, "sentence")
    _refuse(numbers.isna() | numbers.mod(1).ne(0), path, "sentence is no whole number")
    return numbers.astype(int)


def _refuse(wrong: pd.Series, path: str | Path, problem: str) -> None:
    """Name the first line of a file that is wrong."""
    if wrong.any():
        raise DataError(f"{Path(path).name}, line {wrong.idxmax()}: {problem}. Correct it, or drop the line.")
