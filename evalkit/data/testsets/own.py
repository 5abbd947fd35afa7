"""Read one metric's scores of one's own, in the order of the test set's lines or by the names of its segments."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, mtme
from evalkit.data.names import plain
from evalkit.data.testsets import scores
from evalkit.data.testsets.folder import listed, parted

_ENDING = re.compile(r"\.(seg|sys)\.score$|\.(score|scores|tsv|csv|txt)$", re.IGNORECASE)
_SEPARATED = re.compile(r"[/\\]")
#: What columns of a table are called.
_COLUMNS = {
    "system": ("system", "sys", "system_name", "system_id", "model"),
    "doc": ("doc", "document", "doc_id", "docid"),
    "segment": ("segment", "seg", "segment_id", "seg_id", "segid", "line", "item"),
    "score": ("score", "value"),
}


@dataclass(frozen=True)
class Own:
    """A metric of one's own. name: as the page calls it. segments, systems: its scores, empty where it has none.

    how: in words, how its lines were matched.
    """

    name: str
    segments: pd.DataFrame
    systems: pd.DataFrame
    how: str


def is_file(metric: str) -> bool:
    """Tell whether what was asked for is a file of scores, and not the name of a metric that is there.

    >>> is_file("BLEU"), is_file("my.seg.score"), is_file("scores/my")
    (False, True, True)
    """
    return bool(metric) and bool(_SEPARATED.search(metric) or _ENDING.search(metric) or Path(metric).is_file())


def read(path: Path, documents: pd.DataFrame, known: Collection[str]) -> Own:
    """Read one's own scores: ``system<TAB>score``, a line per system and segment, or per system; or a table.

    A table has a first line with the names of its columns: system, score, and segment (its number in the test set,
    counted from 1; or, with doc, within the document). documents: domain, doc, segment. known: the test set's systems.
    Raises DataError where the file is none of these, names a system that the test set does not have, or a system
    lacks lines.
    """
    if not path.is_file():
        raise DataError(f"metric: {path} is no file. Give the path of your metric's scores, or the name of a metric.")
    name = f"{parted(_ENDING.sub('', path.name), ())[0]} (yours)"
    lines = scores.text(path)
    header = _header(lines[0])
    if header:
        found, how = _of_table(path, lines, header, documents)
    else:
        found, how = _of_lines(path, documents)
    _check_systems(path, found["system"], known)
    if "segment" in found:
        means = found.groupby("system", observed=True)["score"].mean().reset_index()
        return Own(name, found, means, f"{how}; a system's score is the mean of its segments' scores")
    return Own(name, found.head(0).assign(doc="", segment=""), found, how)


def _of_lines(path: Path, documents: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Read lines of a system and a score, of segments or of systems."""
    table = scores.table(path)
    if not table["system"].duplicated().any() and (len(documents) > 1 or path.name.endswith(".sys.score")):
        return table, "scores of whole systems only"
    return scores.segments(path, documents), f"{len(documents):,} lines a system, in the order of the documents"


def _header(line: str) -> dict[str, str]:
    """Match the names of columns in a first line with ours: our name -> theirs; empty where it is no header."""
    cells = [plain(cell).strip('"') for cell in re.split(r"[\t,;]", line)]
    by_name = {cell.casefold(): cell for cell in cells}
    found = {ours: by_name[name] for ours, names in _COLUMNS.items() for name in names[::-1] if name in by_name}
    return found if {"system", "score"} <= found.keys() else {}


def _of_table(
    path: Path, lines: list[str], header: dict[str, str], documents: pd.DataFrame
) -> tuple[pd.DataFrame, str]:
    """Read a table with a header, of segments or of systems."""
    raw = delimited.table("\n".join(lines).encode(), origin=path.name)
    if raw.columns.duplicated().any():
        raise DataError(f"{path.name} has a column {raw.columns[raw.columns.duplicated()][0]!r} twice. Keep one.")
    if raw.empty:
        raise DataError(f"{path.name} has no rows below the names of its columns. Check that it is complete.")
    if lost := [theirs for theirs in header.values() if theirs not in raw]:
        found = ", ".join(repr(column[:30]) for column in raw.columns[:5])
        raise DataError(
            f"{path.name}, line 1: there are the columns {found}, and {lost[0]} is none by itself. Separate all names "
            "and cells alike, by tabs or by commas."
        )
    table = raw[list(header.values())].set_axis(list(header), axis=1)
    for name in header:
        if name != "score" and table[name].isna().any():
            line = table.index[table[name].isna()][0]
            raise DataError(f"{path.name}, line {line}: {name} is empty. Fill it in, or drop the row.")
    values = _values(table["score"], path.name)
    table = table.assign(score=values, system=table["system"].map(plain))
    if "segment" not in table:
        if table["system"].duplicated().any():
            system = table.loc[table["system"].duplicated(), "system"].iloc[0]
            raise DataError(f"{path.name} has the system {system} more than once and no column segment. Add one.")
        return table[["system", "score"]], "scores of whole systems only"
    place, how = _places(table, documents, path.name)
    twice = pd.DataFrame({"system": table["system"].to_numpy(), "place": place}).duplicated().to_numpy()
    if twice.any():
        line = table.index[twice][0]
        raise DataError(f"{path.name}, line {line}: this segment of {table['system'][line]} is there twice. Keep one.")
    named = documents.iloc[place][["doc", "segment"]].reset_index(drop=True)
    return pd.concat([table[["system", "score"]].reset_index(drop=True), named], axis=1), how


def _values(cells: pd.Series, origin: str) -> np.ndarray:
    """Turn a column into scores; an empty cell is a score that is missing."""
    texts = cells.fillna("None").str.strip()
    try:
        return scores.numbers(texts.tolist(), origin=origin)
    except DataError:
        for line, cell in texts.items():  # say the line of the file
            scores.numbers([cell], origin=origin, first=int(str(line)))
        raise


def _places(table: pd.DataFrame, documents: pd.DataFrame, origin: str) -> tuple[np.ndarray, str]:
    """Find the line of the test set that each row is of, by the number of its segment or by document and number."""
    numbers = pd.Series(np.arange(len(documents)), index=documents["segment"])
    place = table["segment"].str.strip().map(numbers)
    how = "matched by the number of the segment in the test set"
    if "doc" in table:
        own = documents["doc"].to_numpy()[place.fillna(0).astype(int)]
        if place.isna().any() or (table["doc"].map(plain).to_numpy() != own).any():
            within = documents.groupby("doc", sort=False).cumcount() + 1
            index = pd.MultiIndex.from_arrays([documents["doc"], within.astype(str)])
            keys = pd.MultiIndex.from_arrays([table["doc"].map(plain), table["segment"].str.strip()])
            place = pd.Series(pd.Series(np.arange(len(documents)), index=index).reindex(keys).to_numpy(), table.index)
            how = "matched by the document and the number of the segment within it"
    if place.isna().any():
        line = place.index[place.isna()][0]
        told = f"{table['doc'][line]}, segment {table['segment'][line]}" if "doc" in table else table["segment"][line]
        raise DataError(
            f"{origin}, line {line}: the test set has no segment {told}. Number segments from 1 to {len(documents):,} "
            "in its order or, with the column doc, within their documents."
        )
    return place.to_numpy(int), how


def _check_systems(path: Path, systems: pd.Series, known: Collection[str]) -> None:
    """Refuse a system that the test set does not know: misspelt, its scores would silently be missing."""
    unknown = [str(name) for name in systems.unique() if name not in known]
    if unknown:
        near = difflib.get_close_matches(unknown[0], list(known), n=1)
        remedy = f"Is it {near[0]}?" if near else f"It has {listed(sorted(known))}."
        raise DataError(f"{path.name}: the test set has no system {unknown[0]!r}. {remedy} Correct the file.")


def as_rows(own: Own, pair: tuple[str, str], *, level: str) -> pd.DataFrame:
    """Return one's own scores as rows like the published ones. level: seg or sys."""
    table = own.segments if level == "seg" else own.systems
    names = ["system", *(["doc", "segment"] if level == "seg" else []), "score"]
    table = table[names].dropna(subset="score").reset_index(drop=True)
    texts = {name: table[name].astype("str").astype("category") for name in names if name != "score"}
    table = table.assign(**texts)
    columns = dict(zip(("src_lang", "tgt_lang", "metric"), (*pair, own.name), strict=True))
    return table.assign(**{name: mtme.constant(value, len(table)) for name, value in columns.items()})
