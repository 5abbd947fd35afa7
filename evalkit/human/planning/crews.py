"""How many people, each judging how much, find a difference between two systems."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evalkit import DataError
from evalkit.human.planning.power import document_variance, power, t_power

#: Most segments that a crew is looked for with.
MOST_SEGMENTS = 20000
#: Most annotators that a crew may have.
MOST_PEOPLE = 1000
#: Numbers of annotators that are tried.
CREWS = np.arange(2, MOST_PEOPLE + 1)


@dataclass(frozen=True)
class Crew:
    """Annotators who judge two systems, and segments of their own for each of them.

    segments_each: of one annotator, in whole documents, each translation judged once. variance: of the difference of
    the two systems' mean scores, squared points.
    """

    annotators: int
    segments_each: int
    segments: int
    variance: float

    @property
    def judgements(self) -> int:
        """All judgements, of both systems."""
        return 2 * self.segments

    @property
    def judgements_each(self) -> int:
        """Judgements of one annotator, of both systems."""
        return 2 * self.segments_each


def smallest_crew(
    variances: Mapping[str, float],
    *,
    delta: float,
    block: int = 10,
    capacity: int = 1000,
    over_annotators: bool | None = None,
    target: float = 0.8,
    alpha: float = 0.05,
    finding: float = 100,
    most_segments: int = MOST_SEGMENTS,
) -> Crew | None:
    r"""Return the cheapest crew that finds ``delta`` points with the chance ``target``; None where none is.

    Whoever judges a segment judges it by both systems (``same``, see ``power``), each translation once. variances: as
    ``planning.variances`` returns them. block: segments of a document. capacity: most judgements of one annotator.
    over_annotators: whether the test is over annotators' differences; None: where they have tastes. It then has m - 1
    degrees of freedom, and with d documents each the variance is

    .. math:: v = \frac{2}{m}\Big(V_{taste} + \frac{V_{document} + V_{block} + (V_{item} + V_{residual})/b}{d}\Big)

    Otherwise it is over all documents, and only their number matters. finding: what it costs to find and train one
    annotator, in judgements; the crew whose cost is least is taken.
    Raises DataError for a document that is larger than what one annotator may judge.

    >>> V = {"document": 5.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0, "taste": 6.0}
    >>> smallest_crew(V, delta=6, capacity=400)
    Crew(annotators=8, segments_each=50, segments=400, variance=3.25)
    """
    if capacity < 2 * block:
        raise DataError(
            f"Documents of {block} segments do not fit: one annotator may judge {capacity}. Raise capacity."
        )
    if delta <= 0:
        return None
    if over_annotators is None:
        over_annotators = variances.get("taste", 0.0) > 0
    if not over_annotators:
        return _over_documents(variances, delta, block, capacity, target, alpha, most_segments)
    liking, own = variances.get("taste", 0.0), document_variance(variances, block=block)
    room = delta**2 * CREWS / (2 * _shifts(target, alpha) ** 2) - liking
    documents = np.ceil(np.divide(own, room, out=np.full(len(CREWS), np.inf), where=room > 0) - 1e-9).clip(min=1)
    segments = CREWS * documents * block
    cost = np.where((2 * documents * block <= capacity) & (segments <= most_segments), 2 * segments, np.inf)
    cost += finding * CREWS
    best = int(cost.argmin())
    if not math.isfinite(cost[best]):
        return None
    people, each = int(CREWS[best]), int(documents[best])
    return Crew(people, each * block, people * each * block, 2 / people * (liking + own / each))


def _over_documents(
    variances: Mapping[str, float],
    delta: float,
    block: int,
    capacity: int,
    target: float,
    alpha: float,
    most_segments: int,
) -> Crew | None:
    """Find the fewest documents by halving: power rises with them."""

    def reached(documents: int) -> bool:
        plain = dict(variances) | {"taste": 0.0}
        return bool(power(plain, delta=delta, segments=documents * block, block=block, alpha=alpha) >= target)

    few, many = 1, most_segments // block
    if many < 2 or not reached(many):
        return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if reached(middle) else (middle, many)
    segments = many * block
    people = math.ceil(segments / (capacity // (2 * block) * block))
    each = math.ceil(many / people) * block
    return Crew(people, each, segments, 2 * document_variance(variances, block=block) / many)


@functools.cache
def _shifts(target: float, alpha: float) -> np.ndarray:
    """Return the noncentrality at which a test over each number of ``CREWS`` reaches the target, by halving."""
    low, high = np.zeros(len(CREWS)), np.full(len(CREWS), 100.0)
    for _ in range(50):
        middle = (low + high) / 2
        enough = t_power(middle, CREWS - 1, alpha=alpha) >= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
