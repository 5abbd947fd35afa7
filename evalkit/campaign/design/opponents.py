"""Choose which systems meet in a document where not all of them do: balanced, and so that all can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components

from evalkit import DataError

_TRIES = 60  # circles that are tried for a document


def pairs_by_document(
    systems: Sequence[str], documents: Sequence[str], number: int, rng: np.random.Generator
) -> dict[str, list[tuple[str, str]]]:
    """Let every system meet ``number`` others in each document, and any two about equally often over documents.

    In a document systems stand in a circle, drawn by chance, and meet their nearest neighbours; with an odd number also
    who stands opposite. Of several circles the one is taken whose pairs met least before. From two opponents on, a
    document connects all systems: whoever did not meet is compared through others. Source: cyclic designs, John &
    Williams 1995, chapter 4. Raises DataError for numbers that cannot be.

    >>> found = pairs_by_document("ABCD", ["d1", "d2"], 2, np.random.default_rng(1))
    >>> [len(pairs) for pairs in found.values()], len({*found["d1"], *found["d2"]})
    ([4, 4], 6)
    """
    size = len(systems)
    if not 1 <= number < size or number * size % 2:
        raise DataError(
            f"--opponents {number}: of {size} systems each meets 1 to {size - 1} others, an even number where the "
            "systems are odd. Correct it, or leave it out: then all meet."
        )
    met: Counter[tuple[str, str]] = Counter()
    found = {}
    for doc in documents:
        tried = [_circle(rng.permutation(size), number) for _ in range(_TRIES)]
        named = [sorted(_named(systems, one, other) for one, other in pairs) for pairs in tried]
        best = min(named, key=lambda pairs: sum(2 * met[pair] + 1 for pair in pairs))  # of the sum of squares
        met.update(best)
        found[doc] = best
    return found


def _named(systems: Sequence[str], one: int, other: int) -> tuple[str, str]:
    """Name a pair, whichever way it was found."""
    a, b = sorted((systems[one], systems[other]))
    return a, b


def _circle(order: np.ndarray, number: int) -> set[tuple[int, int]]:
    """Pair each with its nearest neighbours on a circle, and with who stands opposite where the number is odd."""
    size = len(order)
    steps = [*range(1, number // 2 + 1), *([size // 2] if number % 2 else [])]
    return {tuple(sorted((int(order[at]), int(order[(at + step) % size])))) for step in steps for at in range(size)}  # type: ignore[misc]


def demand_connected(systems: Sequence[str], met: Iterable[Sequence[str]]) -> None:
    """Refuse pairs that do not connect all systems, as single opponents in too few documents."""
    place = {name: number for number, name in enumerate(systems)}
    graph = np.zeros((len(systems),) * 2)
    for a, b in met:
        graph[place[a], place[b]] = 1
    if connected_components(graph, directed=False)[0] > 1:
        raise DataError("So few documents do not connect all systems. Give --opponents 2, or more documents or hours.")
