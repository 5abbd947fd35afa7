"""Metrics of word vectors that you give: embedding averages (EA), vector extrema (VE) and greedy matching (GM)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.neural.pretrained import content, cosines

METRICS = ("EA", "VE", "GM")
#: What a word without a vector gets: the mean of all vectors, as in nlg-eval, or nothing: it is left out.
UNKNOWN = ("mean", "drop")
_WORDS, _DIMENSIONS, _CHARACTERS = 10_000_000, 4096, 200_000  # bounds of a file: lines, numbers a line, a line's length


def embedding_average(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    """Return EA: the cosine of the two texts' mean word vectors.

    hypothesis, reference: (words, dimensions). NaN where a text has no word or its vectors add up to nothing.
    Source: Landauer & Dumais 1997, as in nlg-eval (Sharma et al. 2017).

    >>> round(embedding_average(np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 0]])), 3)  # 45 degrees apart
    0.707
    """
    return _cosine(hypothesis.sum(axis=0), reference.sum(axis=0)) if len(hypothesis) and len(reference) else np.nan


def vector_extrema(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    """Return VE: the cosine of two vectors that hold, for each dimension, the value of a text farthest from zero.

    hypothesis, reference: (words, dimensions). Where a highest and a lowest value are equally far, the lowest counts.
    NaN where a text has no word or its vectors are zero. Source: Forgues et al. 2014.

    >>> round(vector_extrema(np.array([[1.0, -3], [2, 1]]), np.array([[2.0, 3]])), 3)  # (2, -3) and (2, 3)
    -0.385
    """
    return _cosine(_extrema(hypothesis), _extrema(reference)) if len(hypothesis) and len(reference) else np.nan


def greedy_matching(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    """Return GM: how near, by cosine, each word's nearest word in the other text is; the mean of the two directions.

    hypothesis, reference: (words, dimensions). A vector of zeros has cosine 0 with everything. NaN where a text has no
    word. Source: Rus & Lintean 2012.

    >>> greedy_matching(np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 0]]))  # (1 + 0) / 2 one way, 1 the other
    0.75
    """
    if not len(hypothesis) or not len(reference):
        return np.nan
    near = _unit(hypothesis) @ _unit(reference).T
    return float((near.max(axis=0).mean() + near.max(axis=1).mean()) / 2)


def scores(
    table: pd.DataFrame,
    *,
    vectors: Mapping[str, str | Path],
    metrics: Sequence[str] = METRICS,
    unknown: str = "mean",
    tokenize: str = "intl",
) -> pd.DataFrame:
    """Add a column per metric to a table of translations, as ``lexical.scores`` does, from files of word vectors.

    table: ``tgt_lang``, ``hypothesis`` and ``reference``. vectors: a language of the table -> its file (``read``); the
    other languages get NaN. unknown: of ``UNKNOWN``. tokenize: sacreBLEU's tokenizer; "intl" parts every punctuation
    mark. Both are our choice: how the authors of IndicMT split Indic text is not released.
    Scores are remembered by texts and the file's content, so a second run reads no vectors.
    Raises DataError for an unknown metric, option or language.
    """
    for known, asked in ((METRICS, metrics), (UNKNOWN, [unknown]), (sorted(set(table["tgt_lang"])), vectors)):
        if strange := [each for each in asked if each not in known]:
            raise DataError(f"There is no {strange[0]!r} here. Choose among {', '.join(known)}.")
    found = pd.DataFrame(np.nan, table.index, [*metrics])
    signatures: dict[str, str] = {}
    for language, path in vectors.items():
        rows = (table["tgt_lang"] == language).to_numpy()
        values, signature = _language(table[rows], Path(path), unknown, tokenize)
        found.loc[rows] = values[:, [METRICS.index(name) for name in metrics]]
        signatures |= {f"{name} {language}": f"{name}|{signature}" for name in metrics}
    scored = table.assign(**{name: found[name] for name in metrics})
    scored.attrs = {**table.attrs, "signatures": table.attrs.get("signatures", {}) | signatures}
    return scored


def read(path: str | Path, *, words: Collection[str] | None = None) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Read word vectors in fastText's text format (.vec, .vec.gz): those of ``words``, and the mean of all.

    A first line with the numbers of words and dimensions, then a word and its numbers in each line, parted by single
    blanks; of a word that comes twice the first, more frequent, counts. words: by default all. A model in fastText's
    binary format also composes vectors of unseen words; that is not read here.
    Raises DataError, naming the line, where a file is not like that.
    """
    wanted = None if words is None else set(words)
    found: dict[str, np.ndarray] = {}
    total, count = np.zeros(1), 0
    for word, vector in _lines(Path(path)):
        total, count = total + vector, count + 1
        if (wanted is None or word in wanted) and word not in found:
            found[word] = vector
    return found, total / count


def _lines(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Go through a file's words and vectors."""
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with closing(opened(path, "rt", encoding="utf-8", newline="\n")) as file:
            count, dimensions = _head(path, file.readline(_CHARACTERS))
            for number in range(2, count + 2):
                yield _parsed(path, number, file.readline(_CHARACTERS), dimensions)
            if file.readline(_CHARACTERS).strip():
                raise DataError(f"{path.name} has more than the {count} words of its first line. Mend that number.")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as problem:
        raise DataError(f"{path.name} holds no vectors as text ({problem}). Give a .vec or .vec.gz file.") from None


def _head(path: Path, line: str) -> tuple[int, int]:
    parts = line.split()
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 9 for part in parts):
        raise DataError(f"{path.name}, line 1, does not give the numbers of words and dimensions. Put them there.")
    count, dimensions = map(int, parts)
    if not (0 < count <= _WORDS and 0 < dimensions <= _DIMENSIONS):
        raise DataError(
            f"{path.name} tells of {count} words of {dimensions} dimensions. From 1 word to {_WORDS:,} are read, of at "
            f"most {_DIMENSIONS:,}: drop the rarest."
        )
    return count, dimensions


def _parsed(path: Path, number: int, line: str, dimensions: int) -> tuple[str, np.ndarray]:
    word, *values = line.rstrip(" \r\n").rsplit(" ", dimensions)
    try:
        vector = np.fromiter(map(float, values), float, len(values))
    except ValueError:
        vector = np.empty(0)
    whole = line.endswith("\n")  # else a last number may have lost digits
    if not (word and whole) or len(vector) != dimensions or not np.isfinite(vector).all():
        raise DataError(f"{path.name}, line {number}, is no whole line of a word and {dimensions} numbers. Mend it.")
    return word, vector


def _language(table: pd.DataFrame, path: Path, unknown: str, tokenize: str) -> tuple[np.ndarray, str]:
    """Score one language's translations: (translations, metrics), and the signature less the metric's name."""
    from evalkit.metrics import lexical
    from evalkit.metrics.lexical import texts

    if not path.is_file():
        raise DataError(f"There is no file of word vectors {path.name}. Give the path of a .vec or .vec.gz file.")
    digest = content(path)
    signature = f"vectors:sha256:{digest}|unknown:{unknown}|tok:{tokenize}"
    pairs = texts(table, ["hypothesis", "reference"])
    compute = partial(_computed, path, digest, unknown, tokenize)
    return lexical.remembered(f"{'+'.join(METRICS)}|{signature}", pairs, compute), signature


def _computed(
    path: Path, digest: str, unknown: str, tokenize: str, pairs: list[tuple[str, str]]
) -> list[tuple[float, ...]]:
    split = _splitter(tokenize)
    parted = [tuple(split(text).split() for text in pair) for pair in pairs]
    known, mean = read(path, words={word for pair in parted for words in pair for word in words})
    if content(path) != digest:
        raise DataError(f"{path.name} changed while it was read. Run this again.")
    rest = mean if unknown == "mean" else None
    texts = [tuple(_stacked(words, known, rest, len(mean)) for words in pair) for pair in parted]
    return [(embedding_average(*pair), vector_extrema(*pair), greedy_matching(*pair)) for pair in texts]


@cache
def _splitter(tokenize: str):
    from sacrebleu.metrics import BLEU

    from evalkit.metrics.lexical import TOKENIZERS

    if tokenize not in TOKENIZERS:
        raise DataError(f"There is no tokenizer {tokenize!r} here. Choose among {', '.join(TOKENIZERS)}.")
    return BLEU(tokenize=tokenize).tokenizer


def _stacked(words: list[str], known: Mapping[str, np.ndarray], rest: np.ndarray | None, dimensions: int) -> np.ndarray:
    """Stack the vectors of a text's words: (words, dimensions)."""
    found = [known.get(word, rest) for word in words]
    return np.array([vector for vector in found if vector is not None]).reshape(-1, dimensions)


def _extrema(vectors: np.ndarray) -> np.ndarray:
    low, high = vectors.min(axis=0), vectors.max(axis=0)
    return np.where(high > -low, high, low)


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(cosines(one[None], other[None])[0])


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
