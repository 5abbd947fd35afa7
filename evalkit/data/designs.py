"""A designed campaign's own file: who was to judge what, and which role each item has that annotators cannot see."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evalkit import DataError
from evalkit.data import delimited

#: The file's name, by which it is found beside results.
NAME = "design.json"
#: Headings that every table of a designed campaign's items has.
HEADINGS = ("item", "annotator", "position", "src_lang", "tgt_lang", "doc", "segment")
#: What it says of itself.
KIND = "design of a campaign"
VERSION = 1


class Entry(NamedTuple):
    """What an item is. task: of whom; position: its place there. shown: alias of a system -> its kind of item."""

    task: int
    position: int
    doc: str
    segment: str
    shown: Mapping[str, str]


@dataclass(frozen=True)
class Design:
    """A campaign as it was designed.

    said: all that its file says but the items: name, protocol, scale, src_lang, tgt_lang, annotators, seed, inputs,
    planned. systems: alias -> name. items: identifier -> what it is.
    """

    path: Path
    said: Mapping[str, Any]
    systems: Mapping[str, str]
    items: Mapping[str, Entry]

    @property
    def compares(self) -> bool:
        """Whether its items are comparisons of two translations."""
        return self.said.get("protocol") == "preference"

    def find(self, item: str, alias: str = "") -> tuple[Entry, str] | None:
        """Return an item and the alias of the system meant; None where the design has none of it.

        An identifier may have the alias behind a point; that of an item with one system needs none.
        """
        name, _, behind = item.strip().partition(".")
        entry = self.items.get(name)
        if not entry:
            return None
        alias = behind or alias or (next(iter(entry.shown)) if len(entry.shown) == 1 else "")
        return (entry, alias) if alias in entry.shown or (self.compares and not alias) else None


def written(said: Mapping[str, Any], systems: Mapping[str, str], items: Mapping[str, Entry]) -> str:
    """Return a design as its file's text, an item a line."""
    head = json.dumps({"evalkit": KIND, "version": VERSION, **said, "systems": systems}, ensure_ascii=False, indent=1)
    rows = ",\n".join(f"  {json.dumps([name, *entry], ensure_ascii=False)}" for name, entry in items.items())
    return f'{head.removesuffix("}").rstrip()},\n "items": [\n{rows}\n ]\n}}\n'


def read(path: Path) -> Design:
    """Read a design. Raises DataError, in one sentence, where the file is none."""
    import jsonschema

    form = json.loads(Path(__file__).with_suffix(".schema.json").read_text(encoding="utf-8"))
    try:
        found = json.loads(delimited.content(path).decode("utf-8-sig"))
        jsonschema.Draft202012Validator(form).validate(found)
    except (ValueError, RecursionError, jsonschema.ValidationError) as problem:
        place = "/".join(map(str, getattr(problem, "absolute_path", ())))
        reason = f"{place}: {getattr(problem, 'message', problem)!s:.80}".removeprefix(": ")
        raise DataError(
            f"{path.name} is no campaign's design as this version of evalkit writes it ({reason}). Name the {NAME} "
            "that `evalkit new campaign` wrote, as it was then."
        ) from problem
    systems, rows = found.pop("systems"), found.pop("items")
    items = {name: Entry(*entry) for name, *entry in rows}
    if unknown := {alias for entry in items.values() for alias in entry.shown} - {*systems}:
        raise DataError(f"{path.name} was changed: which system is {min(unknown)!r:.60}? Take the first file.")
    return Design(path, found, systems, items)


def beside(path: Path) -> Path | None:
    """Find a design beside results: in their folder, or in the one where Pearmut keeps its ``data``."""
    folders = [path] if path.is_dir() else [path.parent]
    if path.parent.name in ("annotations", "outputs", "for_annotators"):
        up = path.parent.parent
        folders += [up, up.parent] if up.name == "data" else [up]
    for folder in folders:
        if (folder / NAME).is_file():
            return folder / NAME
    return None


def inclusion(weights: np.ndarray, shown: int) -> np.ndarray:
    """Return the probability that each is among ``shown`` drawn one after another by weight, none twice.

    weights: (systems,), more than 0 for at least ``shown`` of them. Takes systems ** (shown - 1) steps.

    >>> inclusion(np.array([1, 1 / 2, 1 / 3]), 1).round(3).tolist()
    [0.545, 0.273, 0.182]
    >>> inclusion(np.array([1, 1 / 2, 1 / 3]), 2).round(3).tolist()
    [0.871, 0.661, 0.468]
    """
    chance = weights / weights.sum()
    total = chance.copy()
    for first in np.flatnonzero(chance) if shown > 1 else ():
        rest = weights.astype(float)
        rest[first] = 0
        total += chance[first] * inclusion(rest, shown - 1)
    return total


@lru_cache(maxsize=256)
def inclusion_by_place(systems: int, shown: int) -> np.ndarray:
    """Return the probability that Pearmut 1.1.6 shows the system at each place: the first two weigh alike.

    >>> inclusion_by_place(4, 1).round(3).tolist()  # by weights of 1/2, 1/2, 1/3, 1/4
    [0.316, 0.316, 0.211, 0.158]
    """
    return inclusion(1 / np.maximum(np.arange(1.0, systems + 1), 2), shown)
