"""Numbers that were computed once are kept, by the content of their texts and the signature of what made them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data import files

_AT_ONCE = 500  # keys asked for in one query
_WAIT = 60.0  # seconds to wait for another process that is writing


def path() -> Path:
    """Name the file of kept scores, in the cache of downloads (``EVALKIT_DATA_DIR``)."""
    return files.cache() / "metric-scores.sqlite"


def remembered(
    signature: str, texts: Sequence[tuple[str, ...]], compute: Callable[[list[tuple[str, ...]]], ArrayLike]
) -> np.ndarray:
    """Return what is computed of each tuple of texts, computing only what never was under this signature.

    signature: all that the numbers depend on besides the texts: metric, options, version. texts: for instance
    (hypothesis, reference). compute: a number, or a row of as many numbers each time, for each of a list of distinct
    tuples, in order. Numbers are kept to the last bit, under a digest; what is damaged is computed again. Returns
    (texts,), or (texts, numbers of a row).
    Raises DataError where the file of scores is damaged or cannot be written.
    """
    texts = [tuple(each) for each in texts]
    if not texts:
        return np.empty(0)
    keys = [_digest(each) for each in texts]
    everything = hashlib.sha256(b"".join(keys)).digest()  # the same texts in the same order, looked up as one
    with closing(_opened()) as store:
        if whole := _known(store, signature, [everything]):
            return _shaped(whole[everything], len(keys))
        known = _known(store, signature, keys)
        missing = {key: each for key, each in zip(keys, texts) if key not in known}
        if missing:
            computed = np.asarray(compute(list(missing.values())), float)
            fresh = {key: row.tobytes() for key, row in zip(missing, computed, strict=True)}
            _keep(store, signature, fresh)
            known |= fresh
        numbers = b"".join([known[key] for key in keys])
        _keep(store, signature, {everything: numbers})
    return _shaped(numbers, len(keys))


def _shaped(numbers: bytes, rows: int) -> np.ndarray:
    table = np.frombuffer(numbers, float).reshape(rows, -1)
    return table[:, 0].copy() if table.shape[1] == 1 else table.copy()


@lru_cache(maxsize=1 << 15)  # every metric asks for the same texts
def _digest(texts: tuple[str, ...]) -> bytes:
    """Hash texts with their lengths, so that no two tuples of texts are written alike."""
    parts = [text.encode() for text in texts]
    return hashlib.sha256(b"".join(len(part).to_bytes(8) + part for part in parts)).digest()[:16]


def _opened() -> sqlite3.Connection:
    file = path()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        store = sqlite3.connect(file, timeout=_WAIT)
        store.execute("PRAGMA synchronous = OFF")  # what a power cut damages can be computed anew
        with store:
            store.execute("DROP TABLE IF EXISTS sealed")  # of earlier versions
            store.execute(
                "CREATE TABLE IF NOT EXISTS scores (signature TEXT, texts BLOB, numbers BLOB, digest BLOB, "
                "PRIMARY KEY (signature, texts)) WITHOUT ROWID"
            )
    except (OSError, sqlite3.Error) as problem:
        raise _unusable(problem) from None
    return store


def _known(store: sqlite3.Connection, signature: str, keys: list[bytes]) -> dict[bytes, bytes]:
    distinct, found = list(dict.fromkeys(keys)), {}
    try:
        for start in range(0, len(distinct), _AT_ONCE):
            some = distinct[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            question = f"SELECT texts, numbers, digest FROM scores WHERE signature = ? AND texts IN ({marks})"
            for key, numbers, digest in store.execute(question, [signature, *some]):
                if isinstance(numbers, bytes) and digest == hashlib.sha256(numbers).digest():
                    found[key] = numbers
    except sqlite3.Error as problem:
        raise _unusable(problem) from None
    return found


def _keep(store: sqlite3.Connection, signature: str, fresh: dict[bytes, bytes]) -> None:
    try:
        with store:
            rows = ((signature, key, value, hashlib.sha256(value).digest()) for key, value in fresh.items())
            store.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?)", rows)
    except sqlite3.Error as problem:
        raise _unusable(problem) from None


def _unusable(problem: Exception) -> DataError:
    return DataError(
        f"The file of kept metric scores, {path()}, cannot be used ({problem}). "
        "Delete it, scores are then computed anew, or set EVALKIT_DATA_DIR to a folder that can be written."
    )
