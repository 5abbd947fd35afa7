"""Give everything that is judged an identifier that tells nothing, and list it, a row per answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evalkit.campaign.design.assignment import Item
from evalkit.campaign.design.drawing import Drawn


@dataclass(frozen=True)
class Named:
    """An item of somebody's task under its identifier. task, screen, order: counted from 1; order is the item's place
    in the task. doc, segment: their names.
    """

    name: str
    task: int
    screen: int
    order: int
    doc: str
    segment: str
    item: Item


def aliases(systems: list[str], seed: int) -> dict[str, str]:
    """Name systems so that annotators cannot tell them, nor which of them a person wrote; letters, never digits only.

    >>> aliases(["A", "B"], 7) == aliases(["A", "B"], 7)
    True
    """
    rng = np.random.default_rng([seed, 1])
    return dict(zip(systems, _codes("m", len(systems), 16**4, rng)))


def named(drawn: Drawn, docs: list[str]) -> list[list[Named]]:
    """Name everybody's items, screen after screen. docs: the document of each segment."""
    rng = np.random.default_rng([drawn.wish.seed, 2])
    count = sum(len(screen.items) for mine in drawn.screens for screen in mine)
    codes = iter(_codes("i", count, 16**8, rng))
    found = []
    for task, mine in enumerate(drawn.screens, 1):
        order, rows = 0, []
        for place, screen in enumerate(mine, 1):
            for item in screen.items:
                order += 1
                rows.append(Named(next(codes), task, place, order, docs[item.segment], str(item.segment + 1), item))
        found.append(rows)
    return found


def _codes(letter: str, count: int, most: int, rng: np.random.Generator) -> Iterator[str]:
    """Draw different codes, such as i7f3a9c21, as long as the largest number below ``most``."""
    seen: set[str] = set()
    width = len(f"{most - 1:x}")
    while len(seen) < count:
        code = f"{letter}{int(rng.integers(most)):0{width}x}"
        if code not in seen:
            seen.add(code)
            yield code
