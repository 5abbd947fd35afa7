"""Degrade a translation into an Indian language in one known way: negation, a number, a name, the order of words.

Each function takes a text and returns it degraded, or None where its rule finds nothing. They are rules, not speakers:
a degraded text means something else, and may also be less fluent than what a person would have written.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from evalkit.metrics.sounds import names, skeleton, sounding_like, words

_SURE = 85.0  # how much alike a name and its spelling must sound: words such as World are translated, not spelt
_LONG = 3  # consonants that a name needs, or too many words sound like it

#: By language: how a negative word turns into its affirmative counterpart, "" where it is dropped.
AFFIRMATIVE = {
    "gu": {"નથી": "છે", "નહીં": "", "નહિ": "", "નહી": "", "ન": ""},
    "hi": {"नहीं": "", "मत": ""},
    "ml": {"ഇല്ല": "ഉണ്ട്", "അല്ല": "ആണ്", "കഴിയില്ല": "കഴിയും", "-ുന്നില്ല": "ുന്നു"},
    "mr": {"नाही": "आहे", "नाहीत": "आहेत", "नव्हता": "होता", "नव्हती": "होती", "नव्हते": "होते"},
    "ta": {"இல்லை": "உள்ளது", "முடியாது": "முடியும்", "அல்ல": "", "வேண்டாம்": "வேண்டும்"},
}
#: By language: how an affirmative word turns negative; a word's ending where the rule begins with a hyphen.
NEGATIVE = {
    "gu": {"છે": "નથી", "હતું": "ન હતું", "હતો": "ન હતો", "હતી": "ન હતી", "હતા": "ન હતા"},
    "hi": {one: f"नहीं {one}" for one in ("है", "हैं", "था", "थी", "थे")},
    "ml": {"ആണ്": "അല്ല", "ഉണ്ട്": "ഇല്ല", "കഴിയും": "കഴിയില്ല", "-ുന്നു": "ുന്നില്ല", "-ാണ്": "ല്ല"},
    "mr": {"आहे": "नाही", "आहेत": "नाहीत", "होता": "नव्हता", "होती": "नव्हती", "होते": "नव्हते"},
    "ta": {
        "உள்ளது": "இல்லை",
        "உள்ளன": "இல்லை",
        "முடியும்": "முடியாது",
        "வேண்டும்": "வேண்டாம்",
        "ஆகும்": "அல்ல",
        "இருந்தது": "இருக்கவில்லை",
        "இருந்தன": "இருக்கவில்லை",
        "இருக்கிறது": "இல்லை",
    },
}
# Vowel signs are no word characters to Python's \w, so punctuation is listed.
_OPENS, _CLOSES = "'\"“‘([", "।॥.,;:!?'\"”’)]|"


def negation(text: str, language: str) -> str | None:
    """Turn a text's meaning around: the last negative word becomes affirmative, or else the last affirmative one turns.

    language: gu, hi, ml, mr or ta; other languages have no rules here, and None comes back.

    >>> negation("यह शहर बड़ा है।", "hi"), negation("यह शहर बड़ा नहीं है।", "hi")
    ('यह शहर बड़ा नहीं है।', 'यह शहर बड़ा है।')
    """
    parts = text.split()
    for rules in (AFFIRMATIVE.get(language, {}), NEGATIVE.get(language, {})):
        for place in reversed(range(len(parts))):
            before, word, after = _edged(parts[place])
            turned = _turned(word, rules)
            if turned is not None:
                return " ".join([*parts[:place], *((before + turned + after).split()), *parts[place + 1 :]])
    return None


def _edged(part: str) -> tuple[str, str, str]:
    """Split what blanks separate into opening punctuation, the word, and closing punctuation."""
    word = part.lstrip(_OPENS)
    before, word = part[: len(part) - len(word)], word.rstrip(_CLOSES)
    return before, word, part[len(before) + len(word) :]


def _turned(word: str, rules: dict[str, str]) -> str | None:
    if word in rules:
        return rules[word]
    for rule, ending in rules.items():
        if rule[0] == "-" and word.endswith(rule[1:]) and len(word) > len(rule):
            return word.removesuffix(rule[1:]) + ending
    return None


def number(text: str, rng: np.random.Generator) -> str | None:
    """Change the first digit of one of the text's numbers to another, in the number's own script, never to zero.

    >>> number("१५ लोग", np.random.default_rng(7)) not in (None, "१५ लोग")
    True
    """
    found = list(re.finditer(r"\d+", text))
    if not found:
        return None
    place = found[int(rng.integers(len(found)))].start()
    digit = unicodedata.decimal(text[place])
    other = int(rng.choice([each for each in range(1, 10) if each != digit]))
    return text[:place] + chr(ord(text[place]) - digit + other) + text[place + 1 :]


def name(text: str, source: str, others: list[str], rng: np.random.Generator) -> str | None:
    """Replace a name of the English source, found in the text by its sound, with another name.

    others: names in the text's script, as ``spelt`` finds them. Endings that were joined to the name go with it.

    >>> name("वह कराची में है", "She is in Karachi", ["मुंबई"], np.random.default_rng(7))
    'वह मुंबई में है'
    """
    parts = text.split()
    places = _places(parts, source)
    if not places:
        return None
    place = places[int(rng.integers(len(places)))]
    before, word, after = _edged(parts[place])
    other = [each for each in others if each[:2] != word[:2]]
    if not other:
        return None
    return " ".join([*parts[:place], before + other[int(rng.integers(len(other)))] + after, *parts[place + 1 :]])


def spelt(text: str, source: str) -> list[str]:
    """List how a translation spells the names of its source.

    >>> spelt("वह कराची में है", "She is in Karachi")
    ['कराची']
    """
    there = words(text)
    return [there[place] for place in _places(there, source)]


def _places(parts: list[str], source: str) -> list[int]:
    """Find where names of the source stand among the words of a translation that spells them in its own script."""
    wanted = [each for each in names(source) if len(skeleton(each)) >= _LONG]
    found = {sounding_like(each, parts, least=_SURE) for each in wanted}
    return sorted(place for place in found if place is not None and not parts[place].isascii())


def order(text: str, rng: np.random.Generator) -> str | None:
    """Shuffle the words of a text of four or more, its final punctuation left at the end.

    Indian languages order words freely: a shuffled text may now and then still be understood.

    >>> sorted(order("a b c d.", np.random.default_rng(7)))
    [' ', ' ', ' ', '.', 'a', 'b', 'c', 'd']
    """
    whole = text.strip()
    body = re.sub(rf"[{re.escape(_CLOSES)}\s]+$", "", whole)
    parts = body.split()
    if len(set(parts)) < 4:
        return None
    shuffled = parts
    while shuffled == parts:
        shuffled = [parts[place] for place in rng.permutation(len(parts))]
    return " ".join(shuffled) + whole[len(body) :]
