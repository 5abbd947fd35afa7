"""Find the key of a sentence, so that what is said is held, and not how."""

import functools
import tomllib
from pathlib import Path

#: How what has no key begins.
NO_KEY = "no key: "


@functools.cache
def _groups() -> dict[str, dict[str, list[str]]]:
    """Read the table of keys and the words that stand for them."""
    return tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def key(group: str, sentence: str) -> str:
    """Return the first key of a group of whose texts a sentence holds one; an empty sentence has an empty key.

    >>> key("verdict", "! look"), key("verdict", ""), key("verdict", "hm")
    ('look', '', 'no key: hm')
    """
    if not sentence:
        return ""
    found = (key for key, texts in _groups()[group].items() if any(text in sentence for text in texts))
    return next(found, f"{NO_KEY}{' '.join(sentence.split())}")


def keys(group: str, sentences: list[str]) -> str:
    """Return the keys of those of several sentences that have one, in order of the alphabet."""
    found = {key(group, sentence) for sentence in sentences}
    return " ".join(sorted(one for one in found if one and not one.startswith(NO_KEY)))
