"""Metrics of shared words and characters: sentence BLEU, chrF, chrF++ and TER by sacreBLEU, and ROUGE-L.

Numbers that were computed once are kept, by the content of their texts and the signature of what made them.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache, lru_cache, partial
from math import exp, fsum, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data import files
from evalkit.data.provenance import like

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEUScore

#: Metrics of ``scores``, in the order of Sai et al. 2023. SacreBLEU: BLEU as for a whole corpus, of one segment.
METRICS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "SacreBLEU", "ROUGE-L", "chrF", "chrF++", "TER")
#: BLEU as code for image captions has it (``caption_bleu``), which Sai et al. used.
CAPTION = ("BLEU-1 caption", "BLEU-2 caption", "BLEU-3 caption", "BLEU-4 caption")
#: Metrics that count errors: the lower, the better.
LOWER_IS_BETTER = frozenset({"TER"})
#: sacreBLEU's tokenizers that need neither a model nor a download; they matter to BLEU alone.
TOKENIZERS = ("13a", "intl", "char", "none")
_WAIT = 60.0  # seconds to wait for another process that is writing


def scores(table: pd.DataFrame, *, metrics: Sequence[str] = METRICS, tokenize: str = "13a") -> pd.DataFrame:
    """Add a column per metric to a table of translations: each hypothesis against its reference.

    table: any rows with ``hypothesis`` and ``reference``. tokenize: sacreBLEU's tokenizer for BLEU; "13a", its default,
    leaves the danda of Indic scripts attached to the last word, "intl" parts it.
    metrics: of ``METRICS`` and ``CAPTION``. BLEU-1 to BLEU-4 are sentence BLEU up to that order (exponential smoothing,
    effective order); SacreBLEU is corpus BLEU of a single segment; ROUGE-L is F with beta 1.2, words parted at blanks;
    these, chrF and chrF++ lie in 0-100. TER is edits per 100 words of the reference, and lower is better.
    Returns the table with these columns and, in ``attrs["signatures"]``, each metric's signature. A pair of texts is
    scored once under a signature and then remembered (``remembered``). An empty hypothesis scores what the metric says.
    Raises DataError for an unknown metric or tokenizer, or where a text is missing.
    Source: Papineni et al. 2002; Post 2018; Popović 2015, 2017; Snover et al. 2006; Lin 2004.

    >>> one = pd.DataFrame({"hypothesis": ["the cat sat on a mat"], "reference": ["the cat sat on the mat"]})
    >>> scores(one, metrics=["BLEU-1", "ROUGE-L", "TER"])[["BLEU-1", "ROUGE-L", "TER"]].round(2).values.tolist()
    [[83.33, 83.33, 16.67]]
    """
    for kind, asked, known in (("metric", metrics, METRICS + CAPTION), ("tokenizer", [tokenize], TOKENIZERS)):
        if unknown := [name for name in asked if name not in known]:
            raise DataError(f"There is no {kind} {unknown[0]!r} here. Choose among {', '.join(known)}.")
    pairs = texts(table, ["hypothesis", "reference"])
    scorers = {name: _scorer(name, tokenize) for name in metrics}
    signatures = {name: written for name, (written, _) in scorers.items()}
    found = {
        name: remembered(f"{written}|sums:exact", pairs, partial(_each, single))
        for name, (written, single) in scorers.items()
    }
    return like(table.assign(**found), table, signatures=table.attrs.get("signatures", {}) | signatures)


def texts(table: pd.DataFrame, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the texts of each row; DataError names the column that is not there, or the row that lacks a text."""
    for column in columns:
        if column not in table:
            raise DataError(f"A metric needs the column {column}. Add it.")
        absent = table[column].isna().to_numpy()
        if absent.any():
            raise DataError(f"Row {int(absent.argmax()) + 1} of the table lacks its {column}. Fill it in or drop it.")
    return list(zip(*(table[column].astype(str) for column in columns), strict=True))


def signature(metric: str, *, tokenize: str = "13a") -> str:
    """Tell all that a metric's score of a segment depends on, in sacreBLEU's manner.

    >>> signature("ROUGE-L")
    'ROUGE-L|beta:1.2|tok:blanks|case:mixed'
    """
    return _scorer(metric, tokenize)[0]


_BETA = 1.2
_TINY, _SMALL = 1e-15, 1e-9  # what the caption code adds to numerators and to denominators


def rouge_l(hypothesis: str, reference: str, *, beta: float = _BETA) -> float:
    """Return ROUGE-L: F of the longest common subsequence of words, 0-100.

    beta: how much more recall counts than precision; 1.2 as in the caption-evaluation code that the authors of IndicMT
    used, 1 in most later packages. Words are what blanks separate, in any script; packages made for English drop all
    but a-z and 0-9, which leaves nothing of Hindi. Source: Lin 2004, section 3.1, equations 2 to 4.

    >>> police = "police killed the gunman"  # Lin's example: 3 of 4 words in order, then 2 of 4
    >>> [rouge_l(text, police, beta=1) for text in ("police kill the gunman", "the gunman kill police")]
    [75.0, 50.0]
    """
    from rapidfuzz.distance import LCSseq

    words, wanted = hypothesis.split(), reference.split()
    common = LCSseq.similarity(words, wanted)
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(wanted)
    return 100 * (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def caption_bleu(hypothesis: str, reference: str, *, order: int) -> float:
    """Return BLEU up to an order as code for image captions has it, 0-100: words parted at blanks, one reference.

    Instead of smoothing, every numerator grows by 1e-15 and every denominator by 1e-9, so an order without a match
    weighs next to nothing, but parts otherwise equal translations. Source: bleu_scorer.py of pycocoevalcap, by Fang and
    Lin after Chiang 2006.

    >>> round(caption_bleu("the cat sat on a mat", "the cat sat on the mat", order=1), 4)
    83.3333
    >>> caption_bleu("a cat", "one dog", order=2) < 1e-4
    True
    """
    words, wanted = hypothesis.split(), reference.split()
    precision = 1.0
    for n in range(1, order + 1):
        ours, theirs = (Counter(zip(*(text[start:] for start in range(n)))) for text in (words, wanted))
        precision *= (sum((ours & theirs).values()) + _TINY) / (sum(ours.values()) + _SMALL)
    ratio = (len(words) + _TINY) / (len(wanted) + _SMALL)
    return 100 * precision ** (1 / order) * exp(min(0.0, 1 - 1 / ratio))


def exact(found: BLEUScore, *, effective: bool) -> float:
    """Return sacreBLEU's score of its own statistics, with the logarithms of the precisions added exactly, 0-100.

    effective: only orders that the hypothesis is long enough for count. Python's ``sum`` of floats, which sacreBLEU
    uses, has rounded otherwise since 3.12, and the last bit decides whether two translations are tied.
    """
    order = sum(total > 0 for total in found.totals) if effective else len(found.totals)
    precisions = found.precisions[:order]
    if not any(found.counts) or not all(precisions):
        return 0.0
    return found.bp * exp(fsum(map(log, precisions)) / order)


@cache
def _scorer(metric: str, tokenize: str) -> tuple[str, Callable[[str, str], float]]:
    """Return a metric's signature, and the function that scores one hypothesis against one reference."""
    from sacrebleu.metrics import BLEU, CHRF, TER

    if metric == "ROUGE-L":
        return f"ROUGE-L|beta:{_BETA}|tok:blanks|case:mixed", rouge_l
    if metric in CAPTION:
        parts = f"{metric}|tiny:{_TINY}|small:{_SMALL}|tok:blanks|case:mixed"
        return parts, partial(caption_bleu, order=int(metric[5]))
    order = metric[5] if metric.startswith("BLEU-") else ""
    bleu: dict[str, Any] = {"max_ngram_order": int(order), "effective_order": True} if order else {}
    others: dict[str, Callable[[], Any]] = {"TER": TER, "chrF": CHRF, "chrF++": partial(CHRF, word_order=2)}
    measure = others.get(metric, partial(BLEU, tokenize=tokenize, **bleu))()
    measure.num_refs = 1

    def single(said: str, meant: str) -> float:
        if metric == "SacreBLEU":  # every order counts, as for a corpus: sentence_score would warn
            return exact(measure.corpus_score([said], [[meant]]), effective=False)
        found = measure.sentence_score(said, [meant])
        return exact(found, effective=True) if order else found.score

    return f"{metric}|{measure.get_signature()}" + (f"|order:{order}" if order else ""), single


def _each(single: Callable[[str, str], float], pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [single(*pair) for pair in pairs]


def kept_in() -> Path:
    """Name the file of kept scores, in the cache of downloads (``EVALKIT_DATA_DIR``)."""
    return files.cache() / "metric-scores.sqlite"


def remembered(
    signature: str, texts: Sequence[tuple[str, ...]], compute: Callable[[list[tuple[str, ...]]], ArrayLike]
) -> np.ndarray:
    """Return what is computed of each tuple of texts, computing only what never was under this signature.

    signature: all that the numbers depend on besides the texts: metric, options, version. texts: for instance
    (hypothesis, reference). compute: a number, or a row of as many numbers each time, for each of a list of distinct
    tuples, in order. Numbers are kept to the last bit. Returns (texts,), or (texts, numbers of a row).
    Raises DataError where the file of scores is damaged or cannot be written.
    """
    texts = [tuple(each) for each in texts]
    if not texts:
        return np.empty(0)
    keys = [_digest(each) for each in texts]
    with _store() as store:
        known = dict(store.execute("SELECT texts, numbers FROM scores WHERE signature = ?", [signature]))
        missing = {key: each for key, each in zip(keys, texts) if key not in known}
        if missing:
            computed = np.asarray(compute(list(missing.values())), float)
            fresh = {key: row.tobytes() for key, row in zip(missing, computed, strict=True)}
            rows = [(signature, *each) for each in fresh.items()]
            with store:
                store.executemany("INSERT OR REPLACE INTO scores (signature, texts, numbers) VALUES (?, ?, ?)", rows)
            known |= fresh
    table = np.frombuffer(b"".join([known[key] for key in keys]), float).reshape(len(keys), -1)
    return table[:, 0].copy() if table.shape[1] == 1 else table.copy()


@lru_cache(maxsize=1 << 15)  # every metric asks for the same texts
def _digest(texts: tuple[str, ...]) -> bytes:
    """Hash texts with their lengths, so that no two tuples of texts are written alike."""
    parts = [text.encode() for text in texts]
    return hashlib.sha256(b"".join(len(part).to_bytes(8) + part for part in parts)).digest()[:16]


@contextmanager
def _store() -> Iterator[sqlite3.Connection]:
    """Open the file of kept scores; DataError where it cannot be used."""
    file = kept_in()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file, timeout=_WAIT)) as store:
            store.execute("PRAGMA synchronous = OFF")  # what a power cut damages can be computed anew
            store.execute(
                "CREATE TABLE IF NOT EXISTS scores (signature TEXT, texts BLOB, numbers BLOB, "
                "PRIMARY KEY (signature, texts)) WITHOUT ROWID"
            )
            yield store
    except (FileExistsError, NotADirectoryError, PermissionError, sqlite3.Error) as problem:
        raise DataError(
            f"The file of kept metric scores, {file}, cannot be used ({problem}). "
            "Delete it, scores are then computed anew, or set EVALKIT_DATA_DIR to a folder that can be written."
        ) from None
