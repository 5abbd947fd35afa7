"""Sentences that cite: written once with marks, and told as plain text, as Markdown and as LaTeX.

A mark stands between two control characters, which no name on a page has (``campaign.names``); what is none of our keys
stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from evalkit.campaign.paperwork.markup import escaped, tex
from evalkit.campaign.paperwork.references import REFERENCES, linked

_OPEN, _BARE, _CLOSE = "\x02", "\x03", "\x04"
_MARK = re.compile(f"([{_OPEN}{_BARE}])([a-z0-9;]+){_CLOSE}")


def cite(*keys: str) -> str:
    """Mark a citation in brackets: (Holm 1979).

    >>> plain(f"adjusted {cite('holm1979')}"), latex(f"adjusted {cite('holm1979')}")
    ('adjusted (Holm 1979)', 'adjusted \\\\citep{holm1979}')
    """
    return f"{_OPEN}{';'.join(keys)}{_CLOSE}"


def with_marks(text: str) -> str:
    """Mark the works that a text names by their labels, such as what an import tells of weights.

    >>> latex(with_marks("Holm 1979: 5 %")), cited(with_marks("Holm 1979: 5 %"))
    ('\\\\citealp{holm1979}: 5 \\\\%', ['holm1979'])
    """
    return "".join(piece + (f"{_BARE}{key}{_CLOSE}" if key else "") for piece, key in linked(text))


def plain(text: str) -> str:
    """Tell a marked text with labels for citations."""
    return _told(text, lambda words: words, _labels)


def markdown(text: str) -> str:
    """Tell a marked text as Markdown, names escaped."""
    return _told(text, escaped, _labels)


def latex(text: str) -> str:
    """Tell a marked text as LaTeX: citations as natbib's, names escaped."""
    return _told(text, tex, lambda keys, bare: rf"\{'citealp' if bare else 'citep'}{{{','.join(keys)}}}")


def cited(text: str) -> list[str]:
    """List the keys of all works that a marked text cites, in order."""
    return sorted({key for _, keys in _MARK.findall(text) for key in keys.split(";") if key in REFERENCES})


def _labels(keys: list[str], bare: bool) -> str:
    names = "; ".join(REFERENCES[key].label for key in keys)
    return names if bare else f"({names})"


def _told(text: str, words: Callable[[str], str], citation: Callable[[list[str], bool], str]) -> str:
    """Tell the words of a text in one way, and the citations between them in another."""
    told, end = "", 0
    for mark in _MARK.finditer(text):
        keys = mark[2].split(";")
        if all(key in REFERENCES for key in keys):
            told += words(text[end : mark.start()]) + citation(keys, mark[1] == _BARE)
            end = mark.end()
    return told + words(text[end:])
