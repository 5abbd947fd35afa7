"""Read what Appraise was given: batches of items, which say what segment each place in an account's task is."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited
from evalkit.data.importing.files.rows import Seen
from evalkit.data.importing.kinds import texts
from evalkit.data.names import plain

#: What names an item of a task: its number, its document and its system as they stand in the export.
KEY = ["item", "showing", "target"]


@dataclass
class Batches:
    """Tasks, each with the segment of every item (by ``KEY``), from files of batches. lines: whether segments are lines
    of a test set, as items name them, not places within a document, found by source texts.
    """

    names: list[str]
    tasks: list[dict[tuple[str, str, str], str]]
    lines: bool
    seen: list[Seen] = field(default_factory=list)

    def segments(self, shown: pd.DataFrame, *, origin: str) -> pd.Series:
        """Return the segment of each item, missing where no task has it; an account's task is the one that fits best.

        shown: ``KEY`` and ``account``. Raises DataError where no item is known.
        """
        tasks_of = defaultdict(list)
        for number, task in enumerate(self.tasks):
            for key in task:
                tasks_of[key].append(number)
        items = shown[["account", *KEY]].drop_duplicates()
        fits: dict[str, Counter[int]] = defaultdict(Counter)
        for account, *key in items.itertuples(index=False, name=None):
            fits[account].update(tasks_of.get(tuple(key), ()))
        found = {}
        for account, *key in items.itertuples(index=False, name=None):
            ranked = [(fits[account][number], number) for number in tasks_of.get(tuple(key), ())]
            best = {self.tasks[number][tuple(key)] for fit, number in ranked if fit == max(ranked)[0]}
            if len(best) == 1:
                found[account, *key] = best.pop()
        if not found:
            raise DataError(
                f"{', '.join(self.names)}: none of the items of {origin} is in these batches. Pass the batches of this "
                "campaign with --batches, or leave the option out."
            )
        keys = shown[["account", *KEY]].itertuples(index=False, name=None)
        return pd.Series([found.get(key) for key in keys], index=shown.index, dtype="str")


def read(paths: Sequence[Path]) -> Batches:
    """Read files of batches. Raises DataError where one is no list of tasks with items."""
    tasks, seen, ways = [], [], set()
    for path in paths:
        seen.append(Seen.at(path) if path.is_file() else _no(path, "is not there, or is no file"))
        items = [_items(task, path) for task in _content(path)]
        line = [[_line(item) for item in task] for task in items]
        named = all(one is not None for task in line for one in task)
        ways.add(named)
        found = line if named else _by_texts(items, path)
        tasks += [
            {_key(item): str(segment) for item, segment in zip(task, segments) if segment is not None}
            for task, segments in zip(items, found)
        ]
    if len(ways) > 1:
        raise DataError("Some files of batches name segments (_item) and some do not. Import their exports one by one.")
    return Batches([path.name for path in paths], tasks, ways == {True}, seen)


def _content(path: Path) -> list[Any]:
    try:
        found = json.loads(delimited.content(path).decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path.name} is no JSON: {problem}. Pass the file of batches that Appraise was given.") from (
            problem
        )
    return found if isinstance(found, list) and found else _no(path, "is no list of tasks")


def _items(task: Any, path: Path) -> list[dict[str, Any]]:
    """Return a task's items without those of the tutorial."""
    items = task.get("items") if isinstance(task, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) and "itemID" in item for item in items):
        return _no(path, "holds a task without items that have an itemID")
    return [item for item in items if "tutorial" not in f"{item.get('documentID')}{item.get('targetID')}"]


def _key(item: dict[str, Any]) -> tuple[str, str, str]:
    number, document, target = (plain(str(item.get(name, ""))) for name in ("itemID", "documentID", "targetID"))
    return number, document, target


def _line(item: dict[str, Any]) -> str | None:
    """Return the line of the test set that an item names, as in ``system | line | document``."""
    parts = [part.strip() for part in str(item.get("_item", "")).split(" | ")]
    return parts[1] if len(parts) >= 3 and parts[1] else None


def _by_texts(items: list[list[dict[str, Any]]], path: Path) -> list[list[str | None]]:
    """Find segments by their source texts, document by document."""
    if not all(isinstance(item.get("sourceText"), str) for task in items for item in task):
        _no(path, "names no segments (_item), and its items lack a sourceText")
    table = pd.DataFrame(
        [(number, *_key(item), plain(item["sourceText"])) for number, task in enumerate(items) for item in task],
        columns=["account", *KEY, "source"],
    )
    table["doc"] = table["showing"].str.split("#").str[0]
    found = texts.segments(table.assign(number=range(len(table))), document=["doc"])
    values = iter(found)
    return [[None if pd.isna(one := next(values)) else str(one) for _ in task] for task in items]


def _no(path: Path, what: str) -> Any:
    raise DataError(f"{path.name} {what}. Pass the JSON file of batches that Appraise was given with --batches.")
