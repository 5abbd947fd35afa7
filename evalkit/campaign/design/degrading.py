"""Degrade a translation as WMT's quality control does: a span of it gives way to a span of another segment."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_TRIES = 20
_WORDS = re.compile(r"\S+")
_LETTERS = re.compile(r"\S")
_LONG_WORD = 25  # a text whose words are longer on average has no spaces between them


def span_length(words: int) -> int:
    """Return how many words of a translation are replaced.

    Source: Graham et al. 2017, "Can machine translation systems be evaluated by the crowd alone?", section 3.

    >>> [span_length(words) for words in (1, 2, 5, 6, 9, 16, 20, 21, 40)]
    [1, 2, 2, 3, 4, 5, 5, 5, 10]
    """
    steps = ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5))
    return next((length for most, length in steps if words <= most), words // 4)


def degraded(text: str, donors: Sequence[str], rng: np.random.Generator) -> str | None:
    """Replace a span of a text by an equally long one of another, from ``donors``; None where that changes nothing.

    Words are cut by spaces; a text without any is cut into letters. The span does not touch the first nor the last
    word where the text is long enough. A text of one word, which would be replaced whole, is not degraded.
    """
    pattern = _units(text)
    places = [(match.start(), match.end()) for match in pattern.finditer(text)]
    count = len(places)
    length = span_length(count)
    if count < 2:
        return None
    inner = 1 if count - length >= 2 else 0
    for _ in range(_TRIES):
        donor = donors[int(rng.integers(len(donors)))]
        taken = [(match.start(), match.end()) for match in pattern.finditer(donor)]
        if len(taken) < length:
            continue
        start = int(rng.integers(inner, count - length - inner + 1))
        other = int(rng.integers(len(taken) - length + 1))
        piece = donor[taken[other][0] : taken[other + length - 1][1]]
        found = text[: places[start][0]] + piece + text[places[start + length - 1][1] :]
        if " ".join(found.split()) != " ".join(text.split()):
            return found
    return None


def _units(text: str) -> re.Pattern[str]:
    """Cut a text into words, or into letters where it does not put spaces between words."""
    words = _WORDS.findall(text)
    return _LETTERS if words and sum(map(len, words)) / len(words) > _LONG_WORD else _WORDS
