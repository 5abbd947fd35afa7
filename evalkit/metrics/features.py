"""Describe a translation by cheap numbers that need no model: what a small learned metric looks at."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import rapidfuzz
from rapidfuzz import fuzz

from evalkit import DataError
from evalkit.metrics import sounds, store
from evalkit.metrics.lexical import LOWER_IS_BETTER
from evalkit.metrics.sounds import names, skeleton, sounding_like, words

#: The texts of an example.
TEXTS = ("source", "hypothesis", "reference")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def features(texts: pd.DataFrame) -> pd.DataFrame:
    """Describe each translation by how it relates to its source and its reference.

    texts: columns source, hypothesis, reference (strings; English source). Returns one row per row, the same index, the
    columns of ``FEATURES``, all finite: where a source has no number or no name, all of them count as kept.
    What was computed once is remembered (``store``).
    Raises DataError for a missing column or an absent text; an empty text is one.
    Caveat: numbers spelt as words count as lost, and names are found by sound (``sounds``), with the errors of that.

    >>> one = {"source": "It cost 30 rupees in Pune.", "hypothesis": "पुणे में ३० रुपये", "reference": "पुणे में ३० रुपये।"}
    >>> features(pd.DataFrame([one]))[["numbers_kept", "names_kept", "word_recall", "end_kept"]].iloc[0].tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    missing = [name for name in TEXTS if name not in texts]
    if missing:
        raise DataError(f"The table of translations has no column {', '.join(missing)}. It needs {', '.join(TEXTS)}.")
    absent = texts[list(TEXTS)].isna()
    if absent.to_numpy().any():
        column = absent.any().idxmax()
        raise DataError(f"Row {absent[column].idxmax()} has no {column}. Leave it out, or fill the text in.")
    rows = list(texts[list(TEXTS)].astype("str").itertuples(index=False, name=None))
    numbers = store.remembered(_signature(), rows, lambda some: [_described(*row) for row in some])
    columns = dict(zip(FEATURES, numbers.reshape(len(rows), len(FEATURES)).T.copy()))
    return pd.DataFrame(columns, index=texts.index)


@cache
def _signature() -> str:
    """Tell all that the features depend on besides the texts: the code that makes them, and what it calls."""
    code = hashlib.sha256(b"".join(Path(file).read_bytes() for file in (__file__, sounds.__file__))).hexdigest()
    return f"features|code:{code[:16]}|rapidfuzz:{rapidfuzz.__version__}|unicode:{unicodedata.unidata_version}"


def with_metrics(scored: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Join the features with metrics that were computed before, all turned so that higher is better.

    scored: source, hypothesis, reference, and a column per metric, as ``lexical.scores`` adds them.

    >>> one = {"source": "It rains.", "hypothesis": "बारिश", "reference": "बारिश है।", "TER": 50.0}
    >>> with_metrics(pd.DataFrame([one]), ["TER"])["TER"].tolist()
    [-50.0]
    """
    turned = {name: -scored[name] if name in LOWER_IS_BETTER else scored[name] for name in metrics}
    return features(scored).assign(**turned)


def numbers(text: str) -> Counter[str]:
    """Count the numbers of a text by their digits, whatever script and separators they are written with.

    >>> sorted(numbers("१,२०,००० और 3.5"))
    ['120000', '35']
    """
    return Counter(
        "".join(str(unicodedata.decimal(c)) for c in found if c.isdecimal()) for found in _NUMBER.findall(text)
    )


def overlap(one: Counter[str], other: Counter[str]) -> tuple[float, float]:
    """Return which share of each of two collections the other has too; 1 for an empty one.

    >>> overlap(Counter("aab"), Counter("abcc"))
    (0.6666666666666666, 0.5)
    """
    both = (one & other).total()
    first, second = (both / total if total else 1.0 for total in (one.total(), other.total()))
    return first, second


def _ratio(one: str, other: str) -> float:
    """Return the logarithm of how much longer one text is than the other, in characters."""
    return float(np.log((len(one) + 1) / (len(other) + 1)))


@lru_cache(maxsize=1 << 12)
def _grams(text: str, n: int) -> Counter[str]:
    solid = "".join(text.split())
    return Counter([solid[i : i + n] for i in range(len(solid) - n + 1)])


@lru_cache(maxsize=1 << 12)
def _scripts(text: str) -> Counter[int]:
    """Count the letters of each script, told apart as blocks of 128; all below Devanagari is one."""
    return Counter([max(ord(letter) >> 7, (0x0900 >> 7) - 1) for letter in text if letter.isalpha()])


@lru_cache(maxsize=1 << 12)
def _sound(text: str) -> str:
    return " ".join(map(skeleton, words(text)))


def _home(hypothesis: str, reference: str) -> float:
    """Return the share of the translation's letters in the script that most of the reference is written in."""
    letters, home = _scripts(hypothesis), _scripts(reference).most_common(1)
    return letters[home[0][0]] / letters.total() if home and letters else 0.0


def _described(source: str, hypothesis: str, reference: str) -> tuple[float, ...]:
    """Compute the features of one translation, in the order of ``FEATURES``."""
    said, meant, given = words(hypothesis), words(reference), words(source)
    wanted = names(source)
    kept = sum(sounding_like(name, said) is not None for name in wanted) / len(wanted) if wanted else 1.0
    longer = _ratio(hypothesis, reference)
    return (
        float(np.log1p(len(source))),
        _ratio(hypothesis, source),
        longer,
        abs(longer),
        *overlap(_grams(hypothesis, 2), _grams(reference, 2)),
        *overlap(_grams(hypothesis, 4), _grams(reference, 4)),
        *overlap(Counter(said), Counter(meant)),
        fuzz.ratio(hypothesis, reference) / 100,
        fuzz.token_sort_ratio(hypothesis, reference) / 100,
        fuzz.token_sort_ratio(_sound(hypothesis), _sound(reference)) / 100,
        _home(hypothesis, reference),
        overlap(Counter(map(str.casefold, said)), Counter(map(str.casefold, given)))[0],
        min(overlap(numbers(source), numbers(hypothesis))),
        kept,
        float(hypothesis.strip()[-1:] == reference.strip()[-1:]),
        (len(said) - len(set(said))) - (len(meant) - len(set(meant))),
    )


#: What is described, and how. Lengths in characters, as logarithms; overlaps as shares of n-grams or words.
FEATURES = {
    "source_length": "of the source: long sentences have more room for errors",
    "length_to_source": "ratio of lengths, translation to source",
    "length_to_reference": "ratio of lengths, translation to reference",
    "length_apart": "its absolute value",
    "char2_precision": "pairs of letters that the reference has too",
    "char2_recall": "its pairs that are here",
    "char4_precision": "the same of four letters",
    "char4_recall": "the same of four letters",
    "word_precision": "words that the reference has too",
    "word_recall": "its words that are here",
    "edits": "likeness to the reference, letters in order",
    "edits_sorted": "the same with words sorted",
    "sound": "likeness of the consonants, words sorted: spelling variants count little",
    "script": "letters in the reference's script",
    "source_copied": "words that were copied from the source",
    "numbers_kept": "numbers of the source, none lost and none added",
    "names_kept": "names of the source, found by sound",
    "end_kept": "the same final mark as the reference",
    "repeated_words": "more repeated words than in the reference: loops",
}
