"""Say which segment each item of an Appraise export is, for an item number may be a place in an account's task.

Batches, which Appraise was given, tell it exactly; so do source texts; else the order within documents, mostly.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import records
from evalkit.data.names import plain

_DOC = ["src_lang", "tgt_lang", "doc"]
_SHOWING = ["account", "target", "showing"]
#: What names an item of a task: its number, its document and its system as they stand in the export.
_KEY = ["item", "showing", "target"]
_SHARED = 0.5  # share of common item numbers from which on they are segments; by chance it stays below a tenth
_UNIQUE, _WHOLE = 0.95, 0.8  # of an account's numbers, and of showings without gaps, where numbers are places in tasks
_NAMED = 20  # documents that are named one by one
_MOST = 1_000_000  # comparisons for one showing; where a text stands thousands of times, no order is sought
_LINE = re.compile(r"[^|]* \| *([^|]+?) *\| ")  # of an item of a batch: system | line | document
_GIVEN = "Pass the JSON file of batches that Appraise was given with --batches."


@dataclass
class Found:
    """Segments by line, how they were found and how sure that is. own: they are the file's own numbers.

    unsure: the share of segments of which it is not certain that all systems' judgements were brought together.
    """

    segments: pd.Series
    said: str
    own: bool = False
    unsure: float = 0.0


def found(shown: pd.DataFrame, given: Sequence[Path], *, origin: str) -> Found:
    """Find the segment of each item: by batches, by source texts, by order within documents, or as the file has it.

    shown: src_lang, tgt_lang, account, target (the system as in the file), showing (the document as in the file), doc
    and system without marks, item (its number, as text), degraded, and source where the file has texts.
    given: files of batches.
    """
    if given:
        return _of_batches(shown, given, origin)
    share = _shared(shown)
    if share is None or share >= _SHARED:
        who = "" if share is None else f": the systems of a document share {share:.0%} of them"
        return Found(shown["item"], f"segments are the item numbers of {origin}{who}" if who else "", own=True)
    table = shown.assign(number=pd.to_numeric(shown["item"], errors="coerce"))
    if "source" in shown and shown["source"].notna().all():
        return _of_texts(table)
    if _places(shown):
        return _of_order(table)
    return Found(
        shown["item"],
        f"segments are the item numbers of {origin}, but the systems of a document share only {share:.0%} of them: if "
        "they are places in a task, pass what Appraise was given with --batches",
        own=True,
        unsure=1.0 - share,
    )


def _shared(shown: pd.DataFrame) -> float | None:
    """Return which share of item numbers the systems of a document have in common, two by two; None for one system.

    Where no document has several systems, several accounts stand in for them.
    """
    clean = shown[~shown["degraded"]]
    for who in (["system"], ["system", "account"]):
        cells = clean[[*_DOC, *who, "item"]].drop_duplicates()
        sizes = cells.groupby([*_DOC, *who]).size().rename("size").reset_index().sort_values("size", kind="stable")
        larger = sizes.groupby(_DOC).cumcount(ascending=False)
        possible = int((sizes["size"] * larger).sum())
        if possible:
            both = cells.groupby([*_DOC, "item"]).size()
            return float((both * (both - 1) // 2).sum() / possible)
    return None


def _places(shown: pd.DataFrame) -> bool:
    """Tell whether numbers read like places in tasks: an account has each once, and those of a document in a row."""
    number = pd.to_numeric(shown["item"], errors="coerce")
    if not (number.notna() & (number % 1 == 0)).all():
        return False
    items = shown.assign(number=number)[[*_SHOWING, "number"]].drop_duplicates()
    once = items.groupby(["account", "number"]).size().eq(1).mean()
    spans = items.groupby(_SHOWING)["number"].agg(["min", "max", "size"])
    return bool(once >= _UNIQUE and (spans["max"] - spans["min"] + 1).eq(spans["size"]).mean() >= _WHOLE)


# Batches


def _batches(paths: Sequence[Path]) -> pd.DataFrame:
    """Read files of batches: task, what names an item of it (``_KEY``), and the item's segment, an item a row.

    Raises DataError where one is no list of tasks with items.
    """
    rows = list[list[Any]]()
    for path in paths:
        said = records.whole(path, _GIVEN)
        for number, task in enumerate(said if isinstance(said, list) else []):
            rows += _items(f"{path} {number}", task, path)
        if not said or not isinstance(said, list):
            raise DataError(f"{path.name} is no list of tasks. {_GIVEN}")
    items = pd.DataFrame(rows, columns=["account", *_KEY, "segment", "source"])
    if not items["segment"].notna().all():
        if not items["source"].map(lambda text: isinstance(text, str)).all():
            raise DataError(f"Some batches name no segments (_item), and their items lack a sourceText. {_GIVEN}")
        texts = items.assign(source=items["source"].map(plain), doc=items["showing"].str.split("#").str[0])
        items["segment"] = by_texts(texts.assign(number=range(len(items))), document=["doc"])
    items = items.drop(columns="source").rename(columns={"account": "task"}).dropna(subset="segment")
    return items.drop_duplicates(["task", *_KEY], keep="last").astype("str")


def _items(name: str, task: Any, path: Path) -> Iterator[list[Any]]:
    """List a task's items without those of the tutorial: task, ``_KEY``, the line of the test set, and source text."""
    items = task.get("items") if isinstance(task, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) and "itemID" in item for item in items):
        raise DataError(f"{path.name} holds a task without items that have an itemID. {_GIVEN}")
    for item in items:
        if "tutorial" not in f"{item.get('documentID')}{item.get('targetID')}":
            line = _LINE.match(str(item.get("_item", "")))
            key = [plain(str(item.get(part, ""))) for part in ("itemID", "documentID", "targetID")]
            yield [name, *key, line and line[1], item.get("sourceText")]


def _of_batches(shown: pd.DataFrame, given: Sequence[Path], origin: str) -> Found:
    """Take segments from batches; an account's task is the one that fits best. Raises DataError where none is known."""
    item = ["account", *_KEY]
    fits = shown[item].drop_duplicates().merge(_batches(given), on=_KEY)
    fits["fit"] = fits.groupby(["account", "task"])["item"].transform("size")
    best = fits[fits["fit"].eq(fits.groupby(item)["fit"].transform("max"))]
    known = best.drop_duplicates([*item, "segment"]).drop_duplicates(item, keep=False)
    names = ", ".join(path.name for path in given)
    if known.empty:
        raise DataError(f"{names}: none of the items of {origin} is in these batches. Pass this campaign's, or none.")
    segments = shown[item].merge(known, on=item, how="left")["segment"].set_axis(shown.index).astype("str")
    open_ = segments.isna()
    said = f"segments are exactly those of {names} for {(~open_).sum():,} of {len(shown):,} items of {origin}"
    if open_.any():
        said += f"; the others are not in it (documents {_list(shown.loc[open_, 'doc'])}) and share no segment"
    return Found(segments.fillna(_alone(shown)), said, unsure=float(open_.mean()))


# Source texts


def _of_texts(table: pd.DataFrame) -> Found:
    """Take segments from source texts."""
    segments = by_texts(table, document=_DOC)
    open_ = segments.isna()
    count = len(pd.concat([table[_DOC], segments], axis=1)[~open_].drop_duplicates())
    said = f"segments were found by their source texts within documents: {count:,}"
    if open_.any():
        cut = _list(table.loc[open_, "doc"])
        said += f"; {open_.sum():,} judgements of texts that a document that was cut has twice ({cut}) share no segment"
    return Found(segments.fillna(_alone(table)), said, unsure=float(open_.mean()))


def by_texts(shown: pd.DataFrame, *, document: list[str]) -> pd.Series:
    """Number the segments of each document by the order of their source texts; missing where a text leaves it open.

    shown: account, showing, number (order of items within a showing), source, and the columns of ``document``. The
    longest showing of a document gives the order. A text that a document has twice is told apart by its neighbours.

    >>> table = pd.DataFrame({"account": list("aaabb"), "showing": "d", "doc": "d", "number": [1, 2, 3, 8, 9],
    ...                       "source": ["x", "y", "x", "y", "x"]})
    >>> by_texts(table, document=["doc"]).tolist()
    ['1', '2', '3', '2', '3']
    """
    who = [name for name in ("account", "target", "showing") if name in shown]
    item = [*document, *who, "number"]
    table = shown.sort_values("number", kind="stable").drop_duplicates(item)  # an item may be submitted again
    segments: dict[object, str | None] = {}
    for _, part in table.groupby(document, sort=False):
        seen = {key: items["source"].tolist() for key, items in part.groupby(who, sort=False)}
        whole = max(seen.values(), key=len)
        known = set(whole)
        order = [*whole, *dict.fromkeys(text for texts in seen.values() for text in texts if text not in known)]
        places: dict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(order, 1):
            places[text].append(place)
        for key, items in part.groupby(who, sort=False):
            segments.update(zip(items.index, _aligned(seen[key], order, places)))
    of_item = table[item].assign(segment=pd.Series(segments, dtype="str"))
    return shown[item].merge(of_item, how="left", on=item)["segment"].set_axis(shown.index).astype("str")


def _aligned(texts: list[str], whole: list[str], places: dict[str, list[int]]) -> list[str | None]:
    """Place the texts of a showing among those of the document; None where several places fit."""
    starts = places[texts[0]]
    if len(starts) * len(texts) <= _MOST:
        starts = [start for start in starts if whole[start - 1 : start - 1 + len(texts)] == texts]
        if len(starts) == 1:
            return [str(starts[0] + place) for place in range(len(texts))]
    return [str(places[text][0]) if len(places[text]) == 1 else None for text in texts]


# Order within documents


def _of_order(table: pd.DataFrame) -> Found:
    """Count items within documents; parts of one are joined where their accounts follow each other."""
    runs, lengths = _runs(table)
    whole = runs["size"].eq(runs["length"]) | (runs["span"].eq(runs["length"]))
    runs["first"], runs["like"] = np.where(whole, 1.0, np.nan), runs["low"]
    _join(runs)
    _as_originals(runs)
    place = table["number"] - table["run"].map(runs["low"]) + table["run"].map(runs["first"])
    item = table["number"] - table["run"].map(runs["low"]) + table["run"].map(runs["like"])
    segments = _as_text(place).fillna(_alone(table.assign(item=_as_text(item))))
    parts = runs[~whole & ~runs["degraded"]]
    cut = parts[_DOC].drop_duplicates()
    total = int(lengths.sum())
    unsure = int(lengths.reindex(pd.MultiIndex.from_frame(cut)).sum()) if len(cut) else 0
    said = (
        "item numbers are places in an account's task, so segments were found by their order within documents: "
        f"{total - unsure:,} of {total:,} segments are sure, in documents that were judged whole for all systems"
    )
    if len(cut):
        said += f"; the other {unsure:,} lie in {len(cut)} documents that were cut for a system ({_list(cut['doc'])})"
        if parts["first"].notna().any():
            said += ", whose parts were joined in the order of the accounts' numbers, which is likely and not certain"
        if open_ := int(place.isna().sum()):
            said += f"; {open_:,} judgements of parts that nothing places share no segment"
        said += "; what Appraise was given, passed with --batches, makes this exact"
    return Found(segments, said, unsure=unsure / max(total, 1))


def _runs(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """List runs of numbers in a row within each showing of a document, and the length of each document.

    A showing that has lost items inside, but spans as many as the document has, is one run. Adds ``run`` to the table.
    """
    order = table.sort_values([*_SHOWING, "number"], kind="stable")
    step = order.groupby(_SHOWING, sort=False)["number"].diff()
    table["run"] = (~step.isin([0, 1])).cumsum()
    lengths = _measured(table).groupby(_DOC)["size"].max().rename("length")
    numbers = table.groupby(_SHOWING)["number"]
    one = (numbers.transform("max") - numbers.transform("min") + 1).eq(table.join(lengths, on=_DOC)["length"])
    table["run"] = table["run"].mask(one, table.groupby(_SHOWING)["run"].transform("min"))
    return _measured(table).join(lengths, on=_DOC), lengths


def _measured(table: pd.DataFrame) -> pd.DataFrame:
    runs = table.groupby("run").agg(
        **{name: (name, "first") for name in (*_DOC, *_SHOWING, "system")},
        degraded=("degraded", "any"),
        size=("number", "nunique"),
        low=("number", "min"),
        high=("number", "max"),
    )
    return runs.assign(span=runs["high"] - runs["low"] + 1)


def _join(runs: pd.DataFrame) -> None:
    """Place parts of a document one behind the other, where accounts that follow each other have them all."""
    parts = runs[runs["first"].isna() & ~runs["degraded"]]
    for _, group in parts.groupby([*_DOC, "system"], sort=False):
        group = group.assign(order=group["account"].str.len()).sort_values(["order", "account"], kind="stable")
        gathered: list[int] = []
        for run in group.index:
            before = group.at[gathered[-1], "account"] if gathered else None
            if before is not None and not _follows(before, group.at[run, "account"]):
                gathered = []
            gathered.append(run)
            sizes = group.loc[gathered, "size"]
            if sizes.sum() >= group.at[run, "length"]:
                if sizes.sum() == group.at[run, "length"]:
                    runs.loc[gathered, "first"] = sizes.cumsum().shift(fill_value=0) + 1.0
                gathered = []


def _follows(one: str, other: str) -> bool:
    """Tell whether an account's number, decimal or hexadecimal, is the next after another's.

    >>> _follows("engdeu690f", "engdeu6910"), _follows("deu09", "deu10"), _follows("Ann", "Bob"), _follows("a1", "a3")
    (True, True, False, False)
    """
    start = next((place for place, (a, b) in enumerate(zip(one, other)) if a != b), len(one))
    tails = a, b = one[start:], other[start:]
    digits = len(a) == len(b) and all(re.fullmatch(r"[0-9a-f]{1,8}", tail) for tail in tails)
    if not digits or not one[:start][-1:].isalnum() or not re.search(r"\d", one[-2:] + other[-2:]):
        return False
    return int(b, 16) - int(a, 16) == 1 or (a.isdecimal() and b.isdecimal() and int(b) - int(a) == 1)


def _as_originals(runs: pd.DataFrame) -> None:
    """Place spoilt copies like the originals of the same length that the same account saw."""
    who = [*_DOC, "account", "system", "size"]
    originals = runs[~runs["degraded"]].drop_duplicates(who, keep=False)
    copies = runs[runs["degraded"]].reset_index().merge(originals, on=who, suffixes=("_copy", "")).set_index("run")
    runs.loc[copies.index, ["first", "like"]] = copies[["first", "like"]]


def _as_text(numbers: pd.Series) -> pd.Series:
    """Write whole numbers as text; missing ones stay missing."""
    return numbers.astype("Int64").astype("str").where(numbers.notna()).astype("str")


def _alone(shown: pd.DataFrame) -> pd.Series:
    """Name items whose segment is unknown by their number and their task, which accounts with the same items share."""
    marks = {}
    for account, part in shown.groupby("account", sort=False):
        items = sorted({"\0".join(key) for key in part[["item", "target", "showing"]].itertuples(False, None)})
        marks[account] = hashlib.sha256("\n".join(items).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return shown["item"] + "@" + shown["account"].map(marks).astype("str")


def _list(docs: Iterable[str]) -> str:
    names = list(dict.fromkeys(docs))
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
