"""Describe a translation beside its reference by numbers that need no pre-trained model."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pandas as pd
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq, Levenshtein

from evalkit import DataError
from evalkit.data.names import one_form
from evalkit.papers.sudoh2021.ngrams import Grams, language_model, shares

_NEGATIONS = """not no never none nobody nothing nowhere neither nor cannot without hardly barely scarcely lack lacks
refuse refuses refused fail fails failed deny denies denied"""
_OPPOSITES = """more/less increase/decrease increased/decreased rise/fall rose/fell higher/lower high/low before/after
win/lose won/lost first/last most/least old/new open/closed up/down above/below all/none always/never man/woman he/she
his/her him/her good/bad better/worse positive/negative possible/impossible legal/illegal left/right north/south
east/west buy/sell bought/sold import/export largest/smallest strong/weak early/late day/night morning/evening
million/billion weeks/months years/months accept/reject with/without in/out can/cannot guilty/innocent for/against"""
_FUNCTION_WORDS = """the a an of to in on at by for with from and or but that which who this these those it its he she
his her they their them i you we is are was were be been being has have had do does did will would can could may might
shall should as if so than then there here also just , . ; : ! ? ' " ( ) - s"""
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
#: Words that turn a statement round.
NEGATIONS = frozenset(_NEGATIONS.split())
#: Pairs of words of which one says what the other denies: a small list for one feature and one rule, not a lexicon.
OPPOSITES = tuple(tuple(pair.split("/")) for pair in _OPPOSITES.split())
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
_SPELT = {
    name: str(value) for value, name in enumerate(_NUMBER_WORDS.split()) if name != "one"
}  # "one" is mostly a pronoun
_WORD = re.compile(r"[^\W_]+(?:[-'.,][^\W_]+)*|[^\w\s]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@lru_cache(maxsize=1 << 15)  # several features ask for the words of one text, and sentences recur
def words(text: str) -> tuple[str, ...]:
    """Split an English text into words, numbers and marks, whether it was tokenised before or not.

    >>> words("It isn't 3.5 km, no.") == words("it isn &apos;t 3.5 km , no .")
    True
    """
    return tuple(_WORD.findall(one_form(text)))


def numbers(text: str) -> Counter:
    """Count the numbers of an English text by their digits; zero and two to twelve may be spelt.

    >>> sorted(numbers("Twelve of 1,200 men"))
    ['12', '1200']
    """
    found = Counter(re.sub(r"[.,:]", "", number) for number in _NUMBER.findall(html.unescape(text)))
    return found + Counter(_SPELT[word] for word in words(text) if word in _SPELT)


@lru_cache(maxsize=1 << 15)
def negations(text: str) -> int:
    """Count the negations of an English text, contractions among them.

    >>> negations("It isn't so, and it never was.")
    2
    """
    return sum(word in NEGATIONS or word.endswith("n't") for word in words(text))


def opposed(hypothesis: str, reference: str) -> int:
    """Count pairs of opposites of which the hypothesis has only one word and the reference only the other.

    >>> opposed("Prices rose after the vote.", "Prices fell after the vote.")
    1
    """
    said, meant = set(words(hypothesis)), set(words(reference))
    extra, lost = said - meant, meant - said
    return sum((one in extra and two in lost) or (two in extra and one in lost) for one, two in OPPOSITES)


def features(translations: pd.DataFrame) -> pd.DataFrame:
    """Describe each translation by how it relates to its reference, and how it reads.

    translations: columns hypothesis, reference (English) and split; rows whose split is "train" lend their references,
    each distinct one once, to the counts behind the frequencies of words and the language models. A sentence's own
    reference is left out of these counts, or training rows would look more familiar than new ones.
    Returns the same index and a column of finite floats per feature. Shares lie in 0-1; logarithms are natural.
    Raises DataError for a missing column or text, and where no row is for training.
    Caveat: names cannot be told by their capitals, since the WMT17 texts have none; words that no other training
    reference has ("rare") stand in for them. Negations and opposites are lists of words, and sometimes wrong.

    >>> one = {"hypothesis": "It cost 30 in Rome.", "reference": "It did not cost 30 in Pisa.", "split": "train"}
    >>> described = features(pd.DataFrame([one]))
    >>> described[["numbers_lost", "rare_lost", "negations_lost"]].iloc[0].tolist()
    [0.0, 3.0, 1.0]
    """
    checked(translations)
    lent = translations["split"].eq("train").to_numpy()
    if not lent.any():
        raise DataError("No translation is in the split train, so nothing can be learned. Mark rows for training.")
    said, meant = ([one_form(str(text)) for text in translations[side]] for side in ("hypothesis", "reference"))
    tokens = [words(text) for text in said], [words(text) for text in meant]
    own = pd.factorize(pd.Series(meant))[0]
    table = pd.DataFrame(index=translations.index)
    for kind, sides, orders in (("word", tokens, 4), ("char", [_solid(said), _solid(meant)], 6)):
        grams = Grams(*sides, orders=orders)
        for order, (precision, recall) in enumerate(shares(grams), 1):
            table[f"{kind}{order}_precision"], table[f"{kind}{order}_recall"] = precision, recall
        for name, values in language_model(grams, own, lent).items():
            table[f"{kind}_{name}"] = values
        table[f"{kind}_f"] = _f2(table, kind, orders)
    sentences = {number: frozenset(text) for number, text, used in zip(own, tokens[1], lent) if used}
    spread = Counter(word for one in sentences.values() for word in one)
    rows = [
        _compared(said[at], meant[at], tokens[0][at], tokens[1][at], spread, sentences.get(own[at], frozenset()))
        for at in range(len(said))
    ]
    return table.join(pd.DataFrame(rows, index=translations.index, columns=_COMPARED, dtype=float))


def differing(translations: pd.DataFrame) -> dict[str, list[str]]:
    """Return the texts that a bag of words is made of: the hypothesis, and what each side has alone, in order.

    >>> one = pd.DataFrame({"hypothesis": ["It is our duty"], "reference": ["It is not our duty"], "split": "train"})
    >>> {side: texts[0] for side, texts in differing(one).items()}
    {'hypothesis': 'it is our duty', 'only_hypothesis': '', 'only_reference': 'not'}
    """
    checked(translations)
    parts: dict[str, list[str]] = {"hypothesis": [], "only_hypothesis": [], "only_reference": []}
    for said, meant in zip(map(words, translations["hypothesis"]), map(words, translations["reference"]), strict=True):
        parts["hypothesis"].append(" ".join(said))
        parts["only_hypothesis"].append(" ".join(_beyond(said, meant)))
        parts["only_reference"].append(" ".join(_beyond(meant, said)))
    return parts


def checked(translations: pd.DataFrame) -> None:
    """Refuse translations without their texts or the split that they belong to."""
    for column in ("hypothesis", "reference", "split"):
        if column not in translations:
            raise DataError(f"The translations have no column {column}. They need hypothesis, reference and split.")
        if translations[column].isna().any():
            raise DataError(f"Row {translations[column].isna().idxmax()} has no {column}. Fill it in, or leave it out.")


def _solid(texts: Sequence[str]) -> list[str]:
    return ["".join(text.split()) for text in texts]


def _foreign(text: str) -> int:
    """Count the letters that are not ASCII."""
    return 0 if text.isascii() else sum(ord(letter) > 127 and letter.isalpha() for letter in text)


def _beyond(tokens: Sequence[str], others: Sequence[str]) -> list[str]:
    """List tokens, in order, less as many of each as the other side has."""
    left = Counter(others)
    extra = []
    for token in tokens:
        if left[token]:
            left[token] -= 1
        else:
            extra.append(token)
    return extra


def _f2(table: pd.DataFrame, kind: str, orders: int) -> pd.Series:
    """Return F with recall twice as important, of mean precision and mean recall over the orders: chrF of characters.

    Source: Popović 2015, as sacreBLEU computes it, but in lower case and of texts made plain.
    """
    precision, recall = (
        table[[f"{kind}{order}_{side}" for order in range(1, orders + 1)]].mean(axis=1)
        for side in ("precision", "recall")
    )
    return (5 * precision * recall / (4 * precision + recall).replace(0, 1)).fillna(0.0)


_COMPARED = (
    "length",
    "length_ratio",
    "length_apart",
    "edits",
    "insertions",
    "deletions",
    "substitutions",
    "in_order",
    "longest_block",
    "chunks",
    "likeness",
    "likeness_sorted",
    "char_edits",
    "near_words",
    "same_start",
    "same_end",
    "numbers_lost",
    "numbers_added",
    "rare_lost",
    "rare_added",
    "negations_lost",
    "negations_added",
    "opposites",
    "repeated",
    "twice_running",
    "foreign_letters",
    "marks_apart",
    "identical",
    "longest_extra",
    "longest_lost",
    "differences",
    "content_lost",
    "content_added",
)


def _compared(
    said: str, meant: str, hypothesis: Sequence[str], reference: Sequence[str], spread: Counter, own: frozenset[str]
) -> tuple[float, ...]:
    """Compute the features that compare two texts, in the order of ``_COMPARED``.

    spread: in how many training references each word stands; own: the words that this row's own one lent to it.
    """
    operations = Levenshtein.editops(hypothesis, reference)
    kinds = Counter(operation.tag for operation in operations)
    size = max(len(reference), 1)
    blocks = [block.size for block in operations.as_matching_blocks() if block.size]
    matched = sum(blocks)
    extra, lost = _beyond(hypothesis, reference), _beyond(reference, hypothesis)
    joined = " ".join(hypothesis), " ".join(reference)
    ratio = float(np.log((len(hypothesis) + 1) / (len(reference) + 1)))
    number, wanted = numbers(said), numbers(meant)
    rare_added, rare_lost = (
        sum(word[:1].isalpha() and spread[word] <= (word in own) for word in side) for side in (extra, lost)
    )
    negative, wanted_negative = negations(said), negations(meant)
    near = sum(max((fuzz.ratio(one, other) for other in lost), default=0.0) >= 70 for one in extra)
    return (
        np.log1p(len(reference)),
        ratio,
        abs(ratio),
        len(operations) / size,
        kinds["delete"] / size,
        kinds["insert"] / size,
        kinds["replace"] / size,
        LCSseq.normalized_similarity(hypothesis, reference),
        max(blocks, default=0) / size,
        len(blocks) / max(matched, 1),
        fuzz.ratio(*joined) / 100,
        fuzz.token_sort_ratio(*joined) / 100,
        Levenshtein.normalized_distance(*joined),
        near / size,
        hypothesis[:1] == reference[:1],
        hypothesis[-1:] == reference[-1:],
        (wanted - number).total(),
        (number - wanted).total(),
        rare_lost,
        rare_added,
        max(wanted_negative - negative, 0),
        max(negative - wanted_negative, 0),
        opposed(said, meant),
        (len(hypothesis) - len(set(hypothesis))) - (len(reference) - len(set(reference))),
        sum(one == two for one, two in pairwise(hypothesis)),
        _foreign(said) / max(len(said), 1),
        abs(
            sum(len(word) == 1 and not word.isalnum() for word in hypothesis)
            - sum(len(word) == 1 and not word.isalnum() for word in reference)
        ),
        hypothesis == reference,
        max(map(len, extra), default=0),
        max(map(len, lost), default=0),
        len(extra) + len(lost),
        sum(word not in _FUNCTION for word in lost),
        sum(word not in _FUNCTION for word in extra),
    )
