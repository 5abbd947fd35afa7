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

_ENDING = re.compile(r"\.(seg|sys)\.score$|\.(score|scores|tsv|csv|txt)$", re.IGNORECASE)
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
    return bool(re.search(r"[/\\]", metric) or _ENDING.search(metric) or (metric and Path(metric).is_file()))


def read(path: Path, documents: pd.DataFrame, known: Collection[str], *, pair: str) -> Own:
    """Read one's own scores: ``system<TAB>score``, a line per system and segment, or per system; or a table.

    A table has a first line with the names of its columns: system, score, and segment (its number in the test set,
    counted from 1; or, with doc, within the document). documents: domain, doc, segment. known: the test set's systems.
    pair: the language pair. Raises DataError where the file is none of these, names a system that the test set does
    not have, or a system lacks lines.
    """
    if not path.is_file():
        raise DataError(f"metric: {path} is no file. Give the path of your metric's scores, or the name of a metric.")
    header = _header(mtme.lines(path)[0])
    table, how = _of_table(path, header, documents) if header else _of_lines(path, documents)
    if unknown := [str(name) for name in table["system"].unique() if name not in known]:
        near = difflib.get_close_matches(unknown[0], list(known), n=1)
        remedy = f"Is it {near[0]}?" if near else f"It has {mtme.listed(sorted(known))}."
        raise DataError(f"{path.name}: the test set has no system {unknown[0]!r}. {remedy} Correct the file.")
    source, _, target = pair.partition("-")
    name = f"{mtme.parted(_ENDING.sub('', path.name))[0]} (yours)"
    table = table.dropna(subset="score").assign(src_lang=source, tgt_lang=target, metric=name)
    table = table.astype({column: "str" for column in table if column != "score"})
    table = table.astype({column: "category" for column in table if column != "score"}).reset_index(drop=True)
    if "segment" not in table:
        return Own(name, table.head(0).assign(doc="", segment=""), table, how)
    return Own(name, table, means(table), f"{how}; a system's score is the mean of its segments' scores")


def means(scores: pd.DataFrame) -> pd.DataFrame:
    """Average the scores of segments over each metric's and system's."""
    keys = ["src_lang", "tgt_lang", "metric", "system"]
    return scores.groupby(keys, observed=True)["score"].mean().reset_index()


def _of_lines(path: Path, documents: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Read lines of a system and a score, of segments or of systems."""
    table = mtme.scores(path)
    if not table["system"].duplicated().any() and (len(documents) > 1 or path.name.endswith(".sys.score")):
        return table, "scores of whole systems only"
    return mtme.lined_up(table, documents, path), f"{len(documents):,} lines a system, in the order of the documents"


def _header(line: str) -> dict[str, str]:
    """Match the names of columns in a first line with ours: their name -> ours; empty where it is no header."""
    cells = [plain(cell).strip('"') for cell in re.split(r"[\t,;]", line)]
    by_name = {cell.casefold(): cell for cell in cells}
    found = {ours: by_name[name] for ours, names in _COLUMNS.items() for name in names[::-1] if name in by_name}
    return {theirs: ours for ours, theirs in found.items()} if {"system", "score"} <= found.keys() else {}


def _of_table(path: Path, header: dict[str, str], documents: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Read a table with a header, of segments or of systems."""
    raw = delimited.table(delimited.content(path), origin=path.name)
    if lost := [theirs for theirs in header if theirs not in raw]:
        raise DataError(
            f"{path.name}, line 1: there are the columns {mtme.listed(raw.columns)}, and {lost[0]} is none by itself. "
            "Separate all names and cells alike, by tabs or by commas."
        )
    table = raw[list(header)].set_axis(list(header.values()), axis=1)
    if table.empty or (empty := table.drop(columns="score").isna().any(axis=1)).any():
        line = "" if table.empty else f", line {empty.idxmax()}"
        raise DataError(f"{path.name}{line}: a row without names of system or segment. Check that it is complete.")
    cells = table["score"].fillna("None").str.strip()
    scores = mtme.numbers(cells.tolist(), origin=path.name, lines=table.index)
    table = table.assign(score=scores, system=table["system"].map(plain), place=0)
    how = "scores of whole systems only"
    if "segment" in table:
        table["place"], how = _places(table, documents, path.name)
    if (twice := table.duplicated(["system", "place"])).any():
        system = table["system"][twice.idxmax()]
        raise DataError(f"{path.name}, line {twice.idxmax()}: {system} more than once for this segment. Keep one row.")
    if "segment" in table:
        place = table["place"].to_numpy()
        table = table.assign(**{name: documents[name].to_numpy()[place] for name in ("doc", "segment")})
    return table.drop(columns="place"), how


def _places(table: pd.DataFrame, documents: pd.DataFrame, origin: str) -> tuple[np.ndarray, str]:
    """Find the line of the test set that each row is of, by the number of its segment or by document and number."""
    order, segment = pd.Series(np.arange(len(documents))), table["segment"].str.strip()
    place = segment.map(order.set_axis(documents["segment"]))
    how = "matched by the number of the segment in the test set"
    if "doc" in table:
        doc = table["doc"].map(plain)
        if not doc.eq(place.map(documents["doc"])).all():
            within = (documents.groupby("doc", sort=False).cumcount() + 1).astype(str)
            keys = pd.Series(zip(doc, segment, strict=True), table.index)
            place = keys.map(order.set_axis([*zip(documents["doc"], within, strict=True)]))
            how = "matched by the document and the number of the segment within it"
    if place.isna().any():
        line = place.isna().idxmax()
        named = " ".join(table.loc[line].filter(["doc", "segment"]))
        raise DataError(
            f"{origin}, line {line}: the test set has no segment {named}. Number segments from 1 to "
            f"{len(documents):,} in its order or, with the column doc, within their documents."
        )
    return place.to_numpy(int), how
