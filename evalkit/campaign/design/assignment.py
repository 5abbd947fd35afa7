"""Draw who judges what: documents, systems and annotators in balance, some documents judged by two people."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from evalkit import DataError
from evalkit.campaign.findings import words


class Item(NamedTuple):
    """What is judged at once: a segment (its place in the texts) by systems, from left to right, with kinds and texts.

    compared: whether one answer compares them.
    """

    segment: int
    systems: tuple[str, ...]
    kinds: tuple[str, ...]
    texts: tuple[str, ...]
    compared: bool = False

    @property
    def judgements(self) -> int:
        """How many answers it asks for."""
        return 1 if self.compared else len(self.systems)


class Screen(NamedTuple):
    """What is shown at once: a document's segments in their order, or items of a calibration set. kind: of the showing,
    ``main``, ``calibration``, ``degraded`` or ``repeat``.
    """

    doc: str
    kind: str
    items: tuple[Item, ...]

    @property
    def judgements(self) -> int:
        """How many answers it asks for."""
        return sum(item.judgements for item in self.items)


class Showing(NamedTuple):
    """A document that an annotator is shown by some systems, from left to right."""

    doc: str
    systems: tuple[str, ...]


def columns(systems: Sequence[str], together: int) -> list[tuple[str, ...]]:
    """List what a document is shown by, one after the other: each system, each two of them, or all at once (0).

    >>> columns(["A", "B", "C"], 2)
    [('A', 'B'), ('A', 'C'), ('B', 'C')]
    """
    return [tuple(systems)] if not together else list(itertools.combinations(systems, together))


def assign(
    documents: Mapping[str, int],
    shown: Mapping[str, Sequence[tuple[str, ...]]],
    *,
    annotators: int,
    overlap: float,
    rng: np.random.Generator,
) -> list[list[Showing]]:
    """Give every document, by all that it is ``shown`` by, to annotators; a share ``overlap`` of documents to two each.

    documents: name -> segments. shown: document -> columns, as many of each. The design is a Latin square that goes on:
    document number i by column c goes to annotator i + c (mod A), under names drawn by chance. So everybody has every
    column equally often, up to one document, and, with no more columns than annotators, every document once at most.
    A second judgement of a document takes another row of the square, so nobody judges the same translation twice.
    Documents of a round have about the same length. With one annotator nothing overlaps.
    """
    turn = rng.permutation(annotators)  # who stands where in the square
    shift = _shifts(max(map(len, shown.values())), annotators, rng)
    names = list(documents)
    order = sorted(rng.permutation(len(names)), key=lambda place: -documents[names[place]])
    rounds = [order[start : start + annotators] for start in range(0, len(order), annotators)]
    docs = [names[place] for group in rounds for place in rng.permutation(group)]
    rows = [(doc, place % annotators) for place, doc in enumerate(docs)]
    rows += _second(rows, round(overlap * len(docs)) if annotators > 1 else 0, annotators, rng)
    found: list[list[Showing]] = [[] for _ in range(annotators)]
    for doc, row in rows:
        for column, systems in enumerate(shown[doc]):
            found[turn[(row + shift[column]) % annotators]].append(Showing(doc, systems))
    return found


def to_everybody(
    documents: Iterable[str], shown: Mapping[str, Sequence[tuple[str, ...]]], *, annotators: int
) -> list[list[Showing]]:
    """Give every document, by all that it is ``shown`` by, to every annotator, as a class has it.

    >>> [len(mine) for mine in to_everybody(["d1", "d2"], {"d1": [("A",), ("B",)], "d2": [("A",)]}, annotators=2)]
    [3, 3]
    """
    return [[Showing(doc, systems) for doc in documents for systems in shown[doc]]] * annotators


def _shifts(count: int, annotators: int, rng: np.random.Generator) -> list[int]:
    """Say how far each column is shifted in the square: each shift once before any comes again."""
    whole = [int(one) for _ in range(0, count, annotators) for one in rng.permutation(annotators)]
    return whole[:count]


def _second(
    rows: Sequence[tuple[str, int]], count: int, annotators: int, rng: np.random.Generator
) -> list[tuple[str, int]]:
    """Choose documents for a second judgement, and rows that go on where the first ended, none a document's own."""
    if not count:
        return []
    wanted = [(len(rows) + place) % annotators for place in range(count)]
    own = np.array([row for _, row in rows])
    cost = rng.random((count, len(rows))) + 1e6 * (np.array(wanted)[:, None] == own[None])
    place, chosen = linear_sum_assignment(cost)
    return [(rows[doc][0], wanted[at]) for at, doc in zip(place, chosen) if wanted[at] != own[doc]]


def ordered(mine: Sequence[Showing], rng: np.random.Generator) -> list[Showing]:
    """Put one annotator's showings into an order by chance, those of one document as far apart as can be.

    Documents come in one order, again and again, each time by another column drawn by chance.
    """
    of_doc: dict[str, list[Showing]] = {}
    for showing in mine:
        of_doc.setdefault(showing.doc, []).append(showing)
    docs = [list(of_doc)[place] for place in rng.permutation(len(of_doc))]
    stacks = {doc: [of_doc[doc][place] for place in rng.permutation(len(of_doc[doc]))] for doc in docs}
    most = max(map(len, stacks.values()), default=0)
    return [stacks[doc][turn] for turn in range(most) for doc in docs if turn < len(stacks[doc])]


#: Systems that are shown together -> their order, drawn by chance, and how often they were shown.
Turns = dict[frozenset[str], tuple[tuple[str, ...], int]]


def with_sides(mine: Sequence[Showing], turns: Turns, rng: np.random.Generator) -> list[Showing]:
    """Turn the systems of each showing, so that each stands on each side equally often, up to once, for each column.

    turns: goes on from one annotator to the next, so that sides are in balance for each of them and over all.
    """
    found = []
    for showing in mine:
        key = frozenset(showing.systems)
        order, turn = turns.get(key) or (tuple(showing.systems[int(one)] for one in rng.permutation(len(key))), 0)
        turns[key] = order, turn + 1
        at = turn % len(order)
        found.append(Showing(showing.doc, order[at:] + order[:at]))
    return found


def distance(screens: int) -> int:
    """Say how many other documents lie between an original and its copy: a third of all, and one at least.

    >>> distance(2), distance(12)
    (1, 4)
    """
    return max(1, screens // 3)


def places_of_copy(place: int, count: int, kind: str) -> list[int]:
    """List where the copy of an original can stand: before so many originals, ``distance`` documents away or more.

    A repeat comes after its original; a degraded copy before it or after it.

    >>> places_of_copy(1, 4, "repeat"), places_of_copy(2, 4, "degraded")
    ([3, 4], [0, 1, 4])
    """
    gap = distance(count)
    return [at for at in range(count + 1) if at > place + gap or (kind == "degraded" and at <= place - gap)]


def insert(originals: Sequence[Screen], copies: Mapping[int, Screen], rng: np.random.Generator) -> list[Screen]:
    """Put copies among their originals (by place), by chance where they can be (see ``places_of_copy``).

    Beside the same document by another system a copy comes only where there is no other place.
    """
    groups: list[list[Screen]] = [[], *([screen] for screen in originals)]  # each original, and copies after it
    for place, copy in copies.items():
        can_be = places_of_copy(place, len(originals), copy.kind)
        beside = {at: {one.doc for one in (*groups[at][-1:], *originals[at : at + 1])} for at in can_be}
        groups[int(rng.choice([at for at in can_be if copy.doc not in beside[at]] or can_be))].append(copy)
    return [screen for group in groups for screen in group]


_CIRCLES = 60  # circles that are tried for a document


def pairs_by_document(
    systems: Sequence[str], documents: Sequence[str], number: int, rng: np.random.Generator
) -> dict[str, list[tuple[str, ...]]]:
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
        raise DataError(words("refused.opponents", number=number, systems=size, most=size - 1))
    met: Counter[tuple[str, ...]] = Counter()
    found = {}
    for doc in documents:
        tried = [_circle(rng.permutation([*systems]).tolist(), number) for _ in range(_CIRCLES)]
        best = min(tried, key=lambda pairs: sum(2 * met[pair] + 1 for pair in pairs))  # of the sum of squares
        met.update(best)
        found[doc] = best
    return found


def _circle(order: Sequence[str], number: int) -> list[tuple[str, ...]]:
    """Pair each with its nearest neighbours on a circle, and with who stands opposite where the number is odd."""
    size = len(order)
    steps = [*range(1, number // 2 + 1), *([size // 2] if number % 2 else [])]
    return sorted({tuple(sorted((order[at], order[(at + step) % size]))) for step in steps for at in range(size)})


def demand_connected(systems: Sequence[str], met: Iterable[Sequence[str]]) -> None:
    """Refuse pairs that do not connect all systems, as single opponents in too few documents."""
    graph = pd.crosstab(*np.array([*met]).T).reindex(index=[*systems], columns=[*systems], fill_value=0)
    if connected_components(graph.to_numpy(), directed=False)[0] > 1:
        raise DataError("So few documents do not connect all systems. Give --opponents 2, or more documents or hours.")
