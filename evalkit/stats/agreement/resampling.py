"""Draw ratings tables anew, items by their patterns, annotators by copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from evalkit.stats.agreement.coded import Coded
from evalkit.stats.agreement.estimates import Estimate

_BATCH = 1_000_000  # numbers of draws held at once: small enough for a processor's cache
_DRAW = 30  # one multinomial count costs about as much as drawing this many items one by one


def pattern_counts(table: Coded, *, resamples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Draw how often each pattern occurs among as many items drawn with replacement, in batches (batch, patterns).

    Both ways give exactly the bootstrap's distribution: multinomial counts where patterns are few, items drawn one by
    one and then counted where patterns are many.
    """
    patterns, items = len(table.times), int(table.times.sum())
    step = max(1, _BATCH // max(patterns, items if _DRAW * patterns >= items else 1))
    order = np.argsort(-table.times, kind="stable")  # frequent patterns first: fewer items are left for the rest
    for start in range(0, resamples, step):
        batch = min(step, resamples - start)
        drawn = np.empty((batch, patterns))
        if _DRAW * patterns < items:
            drawn[:, order] = rng.multinomial(items, table.times[order] / items, size=batch)
        else:
            picks = rng.integers(0, items, (batch, items))
            if patterns < items:
                picks = table.pattern[picks]
            for row, pick in zip(drawn, picks):
                row[:] = np.bincount(pick, minlength=patterns)
        yield drawn


def over_items(estimates: Sequence[Estimate], table: Coded, *, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Evaluate every estimate on the same draws of items; returns (estimates, resamples)."""
    parts = [
        [estimate(drawn) for estimate in estimates] for drawn in pattern_counts(table, resamples=resamples, rng=rng)
    ]
    return np.concatenate(parts, axis=1) if parts else np.empty((len(estimates), 0))


def over_annotators(
    prepares: Sequence[Callable[[np.ndarray], Estimate]],
    table: Coded,
    *,
    resamples: int,
    rng: np.random.Generator,
    items: bool,
) -> np.ndarray:
    """Evaluate every estimate on draws of annotators, and of items too where ``items``; (estimates, resamples).

    An annotator drawn twice counts twice, and is never compared with their own copy. Draws of one and the same
    annotator have nobody to compare and are drawn again.
    """
    people = len(table.annotators)
    values = np.empty((len(prepares), resamples))
    times = table.times[None].astype(float)
    for number in range(resamples):
        copies = np.zeros(people)
        while np.count_nonzero(copies) < 2:
            copies = np.bincount(rng.integers(0, people, people), minlength=people).astype(float)
        drawn = next(pattern_counts(table, resamples=1, rng=rng)) if items else times
        values[:, number] = [prepare(copies)(drawn)[0] for prepare in prepares]
    return values
