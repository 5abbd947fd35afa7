"""Read words of English and of India's scripts by their consonants, so that a name is found again across scripts.

Unicode lays the scripts that descend from Brahmi out alike: the same letter stands at the same place of each block of
128, so one row of sounds reads Devanagari, Bengali, Gurmukhi, Gujarati, Tamil, Telugu, Kannada and Malayalam.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from functools import lru_cache

from rapidfuzz import fuzz

_FIRST, _LAST = 0x0900, 0x0D7F  # Devanagari to Malayalam
# Voiced, unvoiced and aspirated letters share a sound, because Tamil writes them alike; y and h come and go.
_CONSONANTS = dict(enumerate("kkkknssssnttttnttttnnppppn rrlllpsss ", 0x15))
_OTHERS = {0x02: "n", 0x4E: "t", 0x70: "r", 0x71: "p", 0x7A: "n", 0x7B: "n", 0x7C: "r", 0x7D: "l", 0x7E: "l", 0x7F: "k"}
_INDIC = _CONSONANTS | _OTHERS  # nasal dot, Assamese r and w, Malayalam's consonants without a vowel
_LATIN = dict(zip("bcdfgjklmnpqrstvwxz", "pktpkskl" + "nnpkrstppss"))
_SOFT = re.compile(r"c(?=[eiyh])")
_EDGES = "।॥'’\"“”‘…–—-.,;:!?()[]{}«»/*"
_ENDS = re.compile(r"[.!?:]['\"”’)]*$")


@lru_cache(maxsize=1 << 17)
def skeleton(word: str) -> str:
    """Return the consonants of a word as classes of sounds, repeats once; the same for a name in any of the scripts.

    >>> skeleton("Mumbai"), skeleton("मुंबई"), skeleton("മുംബൈ"), skeleton("மும்பை")
    ('np', 'np', 'np', 'np')
    >>> skeleton("Ishikawa"), skeleton("ઇશિકાવા")
    ('skp', 'skp')
    """
    plain = _SOFT.sub("s", unicodedata.normalize("NFKD", word).casefold())
    sounds = "".join(
        _INDIC.get(ord(letter) & 0x7F, "") if _FIRST <= ord(letter) <= _LAST else _LATIN.get(letter, "")
        for letter in plain
    )
    return "".join(sound for sound, _ in itertools.groupby(sounds.replace(" ", "")))


def words(text: str) -> list[str]:
    """Split a text at spaces and strip punctuation, the danda included.

    >>> words("“नमस्ते, दुनिया।”")
    ['नमस्ते', 'दुनिया']
    """
    return [word for word in (part.strip(_EDGES) for part in text.split()) if word]


def names(source: str) -> list[str]:
    """List the words of an English text that look like names: capitals, and not because a sentence begins.

    Caveat: a name that begins a sentence is missed, an adjective such as "French" is taken for a name.

    >>> names("The Noto Airport in Ishikawa remains closed. Japan’s government says so.")
    ['Noto', 'Airport', 'Ishikawa']
    """
    found, begins = [], True
    for part in source.split():
        word = re.sub(r"['’]s$", "", part.strip(_EDGES))
        if not begins and word[:1].isupper() and len(word) > 2 and len(skeleton(word)) > 1:
            found.append(word)
        begins = bool(_ENDS.search(part))
    return found


def sounding_like(name: str, text: list[str], *, least: float = 75.0) -> int | None:
    """Return the place of the word that begins most like a name sounds, None where none reaches ``least`` (0 to 100).

    text: the words to look through; endings that a language appends to a name do not count against it.

    >>> sounding_like("Ishikawa", words("અને ઇશિકાવામાં એરપોર્ટ")), sounding_like("Tokyo", words("અને ઇશિકાવામાં"))
    (1, None)
    """
    wanted = skeleton(name)
    heard = [fuzz.ratio(wanted, skeleton(word)[: len(wanted)]) for word in text]
    best = max(range(len(heard)), key=heard.__getitem__, default=None)
    return best if best is not None and heard[best] >= least else None
