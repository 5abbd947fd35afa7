"""Count the n-grams of many pairs of texts at once: what two texts share, and how familiar a text reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd

from evalkit import DataError

_STRENGTH = 5.0  # sightings that a shorter n-gram's probability is worth


class Grams:
    """Number the n-grams of hypotheses and references, the same number for the same n-gram.

    hypotheses, references: as many sequences each, of words or of characters. orders: n-grams of 1 to this many.
    ``ids[side][n - 1]`` holds the n-gram that ends at each place of the laid-out texts of a side (0 hypotheses,
    1 references), -1 where one would begin before its text; ``rows[side]`` the text that each place belongs to.

    >>> grams = Grams([["a", "b"]], [["a", "b", "b"]], orders=2)
    >>> grams.ids[0][1].tolist(), grams.ids[1][1].tolist()
    ([-1, 0], [-1, 0, 1])
    """

    def __init__(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, orders: int):
        if len(hypotheses) != len(references):
            raise DataError("There are not as many hypotheses as references. Take both from the same table.")
        sides = hypotheses, references
        sizes = [np.array([len(text) for text in side], int) for side in sides]
        self.texts, self.orders, self.sizes = len(hypotheses), orders, sizes
        self.rows = [np.repeat(np.arange(len(size)), size) for size in sizes]
        known: dict[str, int] = {}
        flat = [known.setdefault(token, len(known)) for token in chain(*hypotheses, *references)]
        split = sizes[0].sum()
        place = np.concatenate([np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) for size in sizes])
        first = np.array(flat, np.int64)
        self.ids, self.kinds = [[first[:split]], [first[split:]]], [len(known)]
        current, alphabet = first, max(len(known), 1)
        for order in range(2, orders + 1):
            there = np.flatnonzero(place >= order - 1)
            numbered, found = pd.factorize(current[there - 1] * alphabet + first[there])
            current = np.full(len(first), -1, np.int64)
            current[there] = numbered
            for side, part in zip(self.ids, (current[:split], current[split:])):
                side.append(part)
            self.kinds.append(len(found))


def shares(grams: Grams) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for each order, precision and recall of the hypothesis' n-grams against its reference's, (texts,) each.

    An n-gram counts as often as both sides have it. Where a side is too short to have any n-gram, its share is 1 if the
    other side has none either, else 0.

    >>> (precision, recall), = shares(Grams([["a", "a", "b"]], [["a", "c"]], orders=1))
    >>> round(float(precision[0]), 3), float(recall[0])
    (0.333, 0.5)
    """
    result = []
    for order in range(grams.orders):
        counted = [_counted(grams, side, order) for side in (0, 1)]
        (keys, counts), (others, other_counts) = counted
        common, here, there = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
        both = np.bincount(
            common // max(grams.kinds[order], 1), np.minimum(counts[here], other_counts[there]), minlength=grams.texts
        )
        totals = [np.maximum(size - order, 0) for size in grams.sizes]
        empty = (totals[0] == 0) & (totals[1] == 0)
        precision, recall = (np.where(empty, 1.0, both / np.maximum(total, 1)) for total in totals)
        result.append((precision, recall))
    return result


def language_model(grams: Grams, own: np.ndarray, lent: np.ndarray) -> dict[str, np.ndarray]:
    """Say how familiar each hypothesis reads to someone who has seen the other sentences' references.

    own: a number per text, the same for the same reference. lent: which texts' references are learned from, each
    distinct one once; a text's own reference is always left out. The longest n-grams have three tokens, and a shorter
    n-gram's probability is worth five sightings (Dirichlet smoothing; MacKay & Peto 1995).
    Returns (texts,) each: ``surprise`` (mean -log p of a token), ``surprise_most`` (of its worst token),
    ``surprise_more`` (mean, less that of the reference), ``unseen`` (share of tokens never seen) and, for each longer
    n-gram, ``unseen2`` and so on. An empty text scores 0.

    >>> texts = [["a", "b"], ["a", "b"], ["b", "a"]]
    >>> found = language_model(Grams(texts, texts, orders=2), np.arange(3), np.array([True, True, False]))
    >>> found["surprise"].argmax().item(), found["unseen2"].tolist()
    (2, [0.0, 0.0, 1.0])
    """
    orders = min(3, grams.orders)
    first = np.zeros(grams.texts, bool)
    first[np.unique(np.where(lent, own, -1), return_index=True)[1]] = True
    first &= lent
    known = len(np.unique(grams.ids[1][0][first[grams.rows[1]]]))  # of what is learned from, or test rows would tell
    surprise, unseen = {}, {}
    for side in (0, 1):
        probability: np.ndarray | float = 1 / (known + 1)
        whole = _context(grams, side, own, first)
        for order in range(orders):
            seen = _sightings(grams, side, order, own, first)
            there = grams.ids[side][order] >= 0
            learned = (seen + _STRENGTH * probability) / (whole + _STRENGTH)
            probability = np.where(there, learned, probability)
            if side == 0:
                unseen[order] = _mean((seen == 0) & there, grams.rows[0], grams.texts, there)
            whole = np.concatenate([[0.0], seen[:-1]])  # the context of the next order: the n-gram one place before
        surprise[side] = -np.log(probability)
    means = [_mean(surprise[side], grams.rows[side], grams.texts) for side in (0, 1)]
    most = np.zeros(grams.texts)
    np.maximum.at(most, grams.rows[0], surprise[0])
    rare = {f"unseen{order + 1 if order else ''}": share for order, share in unseen.items()}
    return {"surprise": means[0], "surprise_most": most, "surprise_more": means[0] - means[1], **rare}


def _counted(grams: Grams, side: int, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Count each text's n-grams: a key for text and n-gram, sorted, and how often."""
    ids, rows = grams.ids[side][order], grams.rows[side]
    there = ids >= 0
    return np.unique(rows[there] * max(grams.kinds[order], 1) + ids[there], return_counts=True)


def _sightings(grams: Grams, side: int, order: int, own: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Count how often each n-gram of a side is in the references learned from, but for its text's own reference."""
    ids, kinds = grams.ids[1][order], max(grams.kinds[order], 1)
    used = (ids >= 0) & first[grams.rows[1]]
    total = np.bincount(ids[used], minlength=kinds).astype(float)
    keys, counts = np.unique(own[grams.rows[1][used]] * kinds + ids[used], return_counts=True)
    asked = grams.ids[side][order]
    wanted = own[grams.rows[side]] * kinds + asked
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    mine = np.where(keys[at] == wanted, counts[at], 0) if len(keys) else np.zeros(len(wanted))
    return np.where(asked >= 0, total[np.maximum(asked, 0)] - mine, 0.0)


def _context(grams: Grams, side: int, own: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Count the tokens learned from, but for the own reference: what a single token's count is divided by."""
    sizes = grams.sizes[1] * first
    mine = np.bincount(own, sizes, minlength=own.max() + 1)
    return (sizes.sum() - mine[own])[grams.rows[side]]


def _mean(values: np.ndarray, rows: np.ndarray, texts: int, counted: np.ndarray | None = None) -> np.ndarray:
    """Average values by text; 0 for a text without any."""
    counted = np.ones(len(rows), bool) if counted is None else counted
    total = np.bincount(rows[counted], values[counted].astype(float), minlength=texts)
    return total / np.maximum(np.bincount(rows[counted], minlength=texts), 1)
