"""Read files of scores and texts of a test set in mt-metrics-eval's layout, and refuse what is not sound."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, mtme, schemas
from evalkit.data.names import plain

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
#: A whole file, or a whole column, that is as it should be: looked at in one go, which is ten times quicker.
_SOUND = re.compile(r"(?:[^\s]++\t[^\s]++\n)+")
_NUMBERS = re.compile(rf"(?:(?:None|{_NUMBER.pattern})\n)*", re.ASCII)
_NONE = "None"


def documents(path: Path) -> pd.DataFrame:
    """Read ``<pair>.docs``: domain, doc and segment (counted from 1) of each line, in their order.

    Raises DataError where there is no such file, or a line has not two names.
    """
    if not path.is_file():
        raise DataError(f"There is no documents/{path.name}, which says what each line of scores is of. Add it.")
    rows = [_cells(line) for line in text(path)]
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise DataError(
                f"{path.name}, line {number}: {len(row)} names instead of a domain and a document. Get it again."
            )
    table = pd.DataFrame(rows, columns=["domain", "doc"], dtype="str").map(plain)
    return table.replace("", "-").assign(segment=np.arange(1, len(rows) + 1).astype(str))


def segments(path: Path, docs: pd.DataFrame) -> pd.DataFrame:
    """Read scores of segments, a line ``system score`` for each in the documents' order: system, score, doc, segment.

    A score printed as None is missing. Raises DataError where a line has not two cells, a score is no number, or a
    system has not one line per segment.
    """
    scores = table(path)
    if mtme.is_uneven(scores, docs):
        counts = scores["system"].value_counts(sort=False)
        uneven = counts[counts != len(docs)]
        system, count = uneven.index[0], int(uneven.iloc[0])
        twice = " (is the system there more than once?)" if count % len(docs) == 0 else ""
        raise DataError(
            f"{path.name}: {system} has {count:,} lines{twice}, and the test set has {len(docs):,} segments. Give each "
            "system a line for every segment, None where there is no score."
        )
    return mtme.placed(scores, docs["doc"].astype("category"), path)


def systems(path: Path) -> pd.DataFrame:
    """Read scores of whole systems, a line each: system, score. Raises DataError for a system that is there twice."""
    scores = table(path)
    twice = scores.loc[scores["system"].duplicated(), "system"]
    if len(twice):
        raise DataError(f"{path.name} has the system {twice.iloc[0]} more than once. Keep one of its lines.")
    return scores


def table(path: Path) -> pd.DataFrame:
    """Read lines of a system and a score, cut by a tab or by spaces: system, score (NaN where it says None)."""
    systems, cells = _columns(path)
    names = {name: plain(name) for name in dict.fromkeys(systems)}
    if not all(names.values()):
        raise DataError(f"{path.name}: a system's name has no character that can be seen. Get the file again.")
    named = pd.Series([names[name] for name in systems], dtype="category")
    return pd.DataFrame({"system": named, "score": numbers(cells, origin=path.name)})


def _columns(path: Path) -> tuple[list[str], list[str]]:
    """Cut the lines of a file of scores into names and scores."""
    content = decoded(path)
    if _SOUND.fullmatch(content):
        cells = content.split()
        return cells[::2], cells[1::2]
    rows = [_cells(line) for line in _lines(content)]
    if bad := next((number for number, row in enumerate(rows, 1) if len(row) != 2 or not row[0]), 0):
        raise DataError(
            f"{path.name}, line {bad}: {_told(rows[bad - 1])} instead of a system and a score. Correct it, or get the "
            "file again."
        )
    return [row[0] for row in rows], [row[1] for row in rows]


def numbers(cells: list[str], *, origin: str, first: int = 1) -> np.ndarray:
    """Turn cells into scores, None into NaN. first: the line of the first cell, for messages.

    >>> numbers(["0.5", "None", "-1e-3"], origin="my.score").tolist()
    [0.5, nan, -0.001]
    >>> numbers(["inf"], origin="my.score")
    Traceback (most recent call last):
    evalkit.DataError: my.score, line 1: 'inf' is no score. Write a number, or None where there is no score.
    """
    column = "\n".join(cells) + "\n"
    if not _NUMBERS.fullmatch(column):
        for line, cell in enumerate(cells, first):
            if cell != _NONE and not _NUMBER.fullmatch(cell):
                raise _no_score(origin, line, cell)
    lines = io.StringIO(column)  # parsed as registered files are, to the last bit
    found = pd.read_csv(lines, header=None, dtype=float, na_values=[_NONE], keep_default_na=False, names=["score"])
    values = found["score"].to_numpy(float)
    if (large := np.abs(values) >= schemas.LARGEST).any():
        place = int(np.flatnonzero(large)[0])
        raise _no_score(origin, first + place, cells[place])
    return values


def _no_score(origin: str, line: int, cell: str) -> DataError:
    return DataError(
        f"{origin}, line {line}: {cell[:40]!r} is no score. Write a number, or None where there is no score."
    )


def _cells(line: str) -> list[str]:
    """Cut a line at its tabs or, where it has none, at its spaces."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _told(row: list[str]) -> str:
    if not row or row == [""]:
        return "an empty line"
    return "no name" if len(row) == 2 else f"{len(row)} cell{'s' * (len(row) > 1)}"


def text(path: Path) -> list[str]:
    """Return a file's lines; only a line feed ends one. Raises DataError where it is empty or no text in UTF-8."""
    return _lines(decoded(path))


def _lines(content: str) -> list[str]:
    return [line.removesuffix("\r") for line in content.removesuffix("\n").split("\n")]


def decoded(path: Path) -> str:
    """Return a file's text. Raises DataError where it is empty or no text in UTF-8."""
    data = delimited.content(path)
    try:
        found = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise DataError(
            f"{path.name}, line {line}: the byte 0x{data[problem.start]:02X} is not UTF-8. Save the file in UTF-8."
        ) from problem
    if "\0" in found:
        line = found.count("\n", 0, found.index("\0")) + 1
        raise DataError(f"{path.name}, line {line}: a zero byte, so this is no text. Get the file again.")
    if not found.strip():
        raise DataError(f"{path.name} is empty. Get it again, or remove it.")
    return found


def texts(path: Path, field: str, count: int) -> list[str]:
    """Return a translation, or the source, of each segment: lines of text, or of JSON with ``field``.

    Raises DataError where there are not ``count`` of them.
    """
    found = text(path)
    if path.suffix == ".jsonl":
        found = [_field(path, number, line, field) for number, line in enumerate(found, 1)]
    if len(found) != count:
        raise DataError(
            f"{path.parent.name}/{path.name} has {len(found):,} lines, and the test set has {count:,} segments. Get "
            "both again."
        )
    return found


def _field(path: Path, number: int, line: str, field: str) -> str:
    try:
        value = json.loads(line)[field]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{path.name}, line {number}: no JSON object with {field!r}. Get the file again.") from None
    return value if isinstance(value, str) else json.dumps(value)
