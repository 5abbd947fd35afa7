"""Read automatic scores in mt-metrics-eval's layout, and match their lines with people's segments by their order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError, nameable
from evalkit.data import languages, mtme
from evalkit.data.importing.automatic.items import NAMED, Metric, one_score
from evalkit.data.importing.automatic.names import orientation
from evalkit.data.importing.automatic.tables import describe

_FILE = re.compile(r"(?:(?P<pair>[a-z]{2,3}-[a-z]{2,3})\.)?(?P<metric>.+?)\.(?P<level>seg|sys)\.score")
_REFERENCE = re.compile(r"(?P<metric>.+)-(?P<reference>ref\w*|src|all|syn\w*|std\w*|hyp\w*)")


@dataclass(frozen=True)
class Order:
    """How people's segments are called by the lines of a system. how: in words. keys: segment (and doc), a line a row.

    by_doc: whether the documents of the lines are known.
    """

    how: str
    keys: pd.DataFrame
    by_doc: bool


def is_layout(path: Path) -> bool:
    """Tell whether a file, or a folder, holds scores in mt-metrics-eval's layout."""
    return path.is_dir() or bool(_FILE.fullmatch(path.name))


def read(path: Path, items: pd.DataFrame, signs: Mapping[str, bool]) -> list[Metric]:
    """Read a metric's file of segments, or all metrics of a folder, with scores of whole systems where they are.

    A file is ``<metric>-<reference>.seg.score``: a line ``system<TAB>score`` for each segment in their order, None for
    no score; of systems, ``….sys.score``, a line for each. items: as ``items_of`` lists them. signs: name ->
    whether lower is better, as told.
    Raises DataError where nothing tells which segment a line is of, or a system lacks lines.
    """
    files = _files(path, items)
    metrics: dict[str, list[Path]] = {}
    for file in files:
        metrics.setdefault(_called(file, files), []).append(file)
    return [_metric(name, own, items, signs.get(name)) for name, own in metrics.items()]


def _files(path: Path, items: pd.DataFrame) -> list[Path]:
    """List a file, or the files of a folder that are of a language pair that people judged."""
    if not path.is_dir():
        return [path]
    found = [nameable(file) for file in sorted(path.rglob("*.s[ey][gs].score")) if file.parent.name != "human-scores"]
    if not found:
        raise DataError(f"{path} holds no files like COMET-refA.seg.score. Name the file of metrics.")
    own = _pairs(items)
    unknown = any(languages.UNKNOWN in pair for pair in own)
    kept = [file for file in found if unknown or (pair := _pair(file)) is None or languages.split(pair) in own]
    if not kept:
        raise DataError(f"{path} has no metrics of {', '.join('-'.join(one) for one in own)}. Name the files.")
    return kept


def _pairs(items: pd.DataFrame) -> list[tuple[str, str]]:
    """List the language pairs that people judged."""
    return [
        (str(source), str(target))
        for source, target in items[["src_lang", "tgt_lang"]].drop_duplicates().itertuples(index=False)
    ]


def _pair(file: Path) -> str | None:
    """Read the language pair from a file's name, or from its folder's."""
    named = _FILE.fullmatch(file.name)
    stated = named["pair"] if named else None
    return next((name for name in (stated, file.parent.name) if name and languages.split(name)), None)


def _called(file: Path, files: list[Path]) -> str:
    """Name a metric by its file, with the reference only where it has several."""
    stem = _stem(file)
    found = _REFERENCE.fullmatch(stem)
    if not found:
        return stem
    others = {
        _stem(one)
        for one in files
        if (other := _REFERENCE.fullmatch(_stem(one))) and other["metric"] == found["metric"]
    }
    return stem if len(others) > 1 else found["metric"]


def _stem(file: Path) -> str:
    named = _FILE.fullmatch(file.name)
    return named["metric"] if named else file.stem


def _metric(name: str, files: list[Path], items: pd.DataFrame, lower: bool | None) -> Metric:
    """Read one metric's files."""
    tables = {file: _table(file) for file in files}
    segments = [file for file in files if file.name.endswith(".seg.score")]
    values = np.concatenate([table["score"].to_numpy(float) for table in tables.values()])
    lower, why = orientation(name, values, told=lower, kept=True)
    found, told, whole = items.assign(score=0.0).head(0), f"{name}: scores of whole systems only; {why}", []
    for file, table in tables.items():
        pair = _pair_of(file, items)
        own = items[(items["src_lang"] == pair[0]) & (items["tgt_lang"] == pair[1])]
        if file in segments:
            order, lines = _order(file, table, own)
            by = ["system", *(["doc"] if order.by_doc else []), "segment"]
            scored = lines.dropna(subset="score").merge(own, on=by)[[*NAMED, "score"]]
            part = one_score(scored, own)
            there = int(table["score"].notna().sum())
            told = describe(name, file.name, part, own, there, order.how, why, table["system"])
            found = pd.concat([found, part], ignore_index=True)
        else:
            judged = table[table["system"].isin(own["system"])].dropna()
            whole.append(judged.assign(src_lang=pair[0], tgt_lang=pair[1]))
    if whole and segments:
        told += "; its scores of whole systems are not used, because they rest on other texts than people judged"
    return Metric(name, lower, found, told, pd.concat(whole, ignore_index=True) if whole and not segments else None)


def _table(file: Path) -> pd.DataFrame:
    """Read lines of a system and a score."""
    rows = [line.split("\t") for line in _lines(file) if line.strip()]
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise DataError(f"{file.name}, line {number}: not a system and a score, cut by a tab. Get the file again.")
    scores = pd.to_numeric(pd.Series([row[1].strip() for row in rows]).replace("None", "nan"), errors="coerce")
    numbers = np.isfinite(scores.to_numpy(float))
    empty = [row[1].strip().casefold() in ("none", "nan") for row in rows]
    bad = [place for place in range(len(rows)) if not (numbers[place] or empty[place])]
    if bad:
        raise DataError(f"{file.name}, line {bad[0] + 1}: {rows[bad[0]][1][:40]!r} is no score. Correct it.")
    return pd.DataFrame({"system": [row[0].strip() for row in rows], "score": scores})


def _lines(file: Path) -> list[str]:
    try:
        return mtme.lines(file)
    except UnicodeDecodeError as problem:
        raise DataError(
            f"{file.name} is not encoded in UTF-8, as this layout is: {problem}. Get it again."
        ) from problem


def _pair_of(file: Path, items: pd.DataFrame) -> tuple[str, str]:
    """Say which language pair a file is of: by its name or folder, or people's only one."""
    name, pairs = _pair(file), _pairs(items)
    stated = languages.split(name) if name else None
    if stated in pairs:
        return stated
    if len(pairs) == 1 and (stated is None or languages.UNKNOWN in pairs[0]):
        return pairs[0]
    judged = ", ".join("-".join(pair) for pair in pairs)
    raise DataError(
        f"{file.name} {f'is of {name}' if name else 'does not say its language pair'}, and people judged {judged}. "
        "Name the file like en-de.COMET-refA.seg.score."
    )


def _order(file: Path, table: pd.DataFrame, items: pd.DataFrame) -> tuple[Order, pd.DataFrame]:
    """Find out which line of a system is which of people's segments; return the lines with their names, too.

    Raises DataError where systems have different numbers of lines, or nothing tells the order, or two ways fit alike.
    """
    counts = table["system"].value_counts()
    if counts.nunique() > 1:
        raise DataError(
            f"{file.name}: {counts.index[-1]} has {counts.iloc[-1]:,} lines, {counts.index[0]} {counts.iloc[0]:,}. In "
            "this layout every system has a line for each segment: get the file again."
        )
    if not table["system"].isin(items["system"]).any():
        raise DataError(
            f"{file.name} scores {', '.join(counts.index[:3])} …, and people judged "
            f"{', '.join(items['system'].unique()[:3])} …: no system has the same name. Rename them in one of them."
        )
    place = table.groupby("system", sort=False).cumcount().to_numpy()
    fitting = [(_fit(order, table, place, items), order) for order in _orders(file, int(counts.iloc[0]), items)]
    fitting = sorted((entry for entry in fitting if entry[0][0]), key=lambda entry: entry[0], reverse=True)
    if not fitting:
        names = ", ".join(map(repr, items["segment"].unique()[:3]))
        raise DataError(
            f"{file.name} gives scores in the order of the test set, and nothing says which line people's segments "
            f"({names}) are. Put documents/<pair>.docs beside it as mt-metrics-eval does, or pass a table with the "
            "columns system, doc, segment and score."
        )
    if len(fitting) > 1 and fitting[0][0] == fitting[1][0]:
        raise DataError(
            f"{file.name}: people's segments may be its lines {fitting[0][1].how} or {fitting[1][1].how}, and nothing "
            "tells which. Put documents/<pair>.docs beside it as mt-metrics-eval does, or pass a table with the "
            "columns system, doc, segment and score."
        )
    order = fitting[0][1]
    return order, _named(table, place, order)


def _named(table: pd.DataFrame, place: np.ndarray, order: Order) -> pd.DataFrame:
    """Give each line the names of its segment. place: of the line among those of its system."""
    return table.assign(**{name: order.keys[name].to_numpy()[place] for name in order.keys})


def _fit(order: Order, table: pd.DataFrame, place: np.ndarray, items: pd.DataFrame) -> tuple[int, int]:
    """Count people's items that have a line under an order of the lines, and those of them that have a score."""
    by = ["system", *(["doc"] if order.by_doc else []), "segment"]
    there = items.merge(_named(table, place, order), on=by)
    return len(there), int(there["score"].notna().sum())


def _orders(file: Path, lines: int, items: pd.DataFrame) -> list[Order]:
    """List the ways in which people may name the lines: by their numbers, or by numbers within documents."""
    docs = _documents(file, lines)
    number = pd.Series(range(lines))
    known = docs is not None and docs.isin(items["doc"]).any()
    unique = not items.duplicated(["system", "segment"]).any()
    found = []
    for start in (1, 0):
        counted = f"counted from {start}"
        keys = pd.DataFrame({"segment": (number + start).astype(str)})
        if known and docs is not None:
            within = (docs.groupby(docs).cumcount() + start).astype(str)
            of_docs = ", as the documents say"
            found.append(Order(f"matched by the order of lines, {counted}{of_docs}", keys.assign(doc=docs), True))
            if not within.equals(keys["segment"]):
                inner = pd.DataFrame({"segment": within, "doc": docs})
                found.append(Order(f"matched by the order within documents, {counted}", inner, True))
        elif unique and _held(items["segment"], start, lines):
            found.append(Order(f"matched by the order of lines, {counted}", keys, False))
    return found


def _held(segments: pd.Series, start: int, lines: int) -> bool:
    """Tell whether all segments are numbers of lines."""
    if not segments.str.fullmatch(r"\d{1,9}").all():
        return False
    numbers = segments.astype(int)
    return bool(numbers.between(start, start + lines - 1).all())


def _documents(file: Path, lines: int) -> pd.Series | None:
    """Read the document of each line, where the layout's file of documents is to be found; None where not."""
    pair = _pair(file)
    folders = [file.parent, *file.parents[1:4]]
    places = [folder / "documents" / f"{pair}.docs" for folder in folders] + [file.parent / f"{pair}.docs"]
    place = next((one for one in places if pair and one.is_file()), None)
    if place is None:
        return None
    docs = [line.partition("\t")[2] or line for line in _lines(place)]
    if len(docs) != lines:
        raise DataError(f"{place.name} has {len(docs):,} lines, {file.name} {lines:,} a system. Get both again.")
    return pd.Series(docs, dtype="str")
