"""Load MLQE-PE's direct assessments: tar archives with a TSV in which each row lists the scores of one translation."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import archives, schemas

LANGUAGES = {"de": "deu", "en": "eng", "et": "est", "ne": "npi", "ro": "ron", "ru": "rus", "si": "sin", "zh": "zho"}
_NAME = re.compile(r"([a-z]{2})-([a-z]{2})-(train|dev|test)\.tar\.gz")
_MEMBERS = {"train": "train", "dev": "dev", "test": "test20"}


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load all scores, one row each; ``doc`` is the split, ``segment`` the row's own number in it.

    paths: archives called ``<source>-<target>-<split>.tar.gz``.
    ``annotator`` is the score's *place* in the row's list (``place-1`` …): the files do not say who gave a score, and
    nothing shows that a place is one person throughout, so nothing may be computed that follows a place over segments.
    The translations' texts stay in the archive.
    Raises DataError where a name is unknown, a column is missing or a list of scores cannot be read, with the line.
    """
    frames = []
    for path in paths:
        found = _NAME.fullmatch(path.name)
        if not found or found[1] not in LANGUAGES or found[2] not in LANGUAGES:
            raise DataError(f"{path.name}: expected a name like en-de-dev.tar.gz. Rename the file.")
        source, target, split = found.groups()
        member = f"{_MEMBERS[split]}.{source}{target}.df.short.tsv"
        segments, scores = _rows(archives.member(path, member), member)
        part = pd.DataFrame({"segment": segments, "score": scores}).explode("score", ignore_index=True)
        place = part.groupby("segment", sort=False).cumcount() + 1
        frames.append(
            part.assign(
                annotator="place-" + place.astype("str"),
                src_lang=LANGUAGES[source],
                tgt_lang=LANGUAGES[target],
                doc=split,
            )
        )
    frame = pd.concat(frames, ignore_index=True).assign(system="mlqe-pe", item_type="system")
    order = [name for name in schemas.RATINGS.columns if name in frame]
    return schemas.check(frame[order], schemas.RATINGS, origin="the archives", scale=(0, 100))


def _rows(content: bytes, member: str) -> tuple[list[str], list[list[float]]]:
    """Read the segments' numbers and their scores; cells are separated by tabs, and quotes are ordinary characters."""
    header, *rows = content.decode("utf-8-sig").rstrip("\n").split("\n")
    names = header.rstrip("\r").split("\t")
    if "scores" not in names:
        raise DataError(f"{member} has no column scores; it has {', '.join(names)}. Fetch the archive again.")
    place, segments, scores = names.index("scores"), [], []
    for line, row in enumerate(rows, 2):
        cells = row.split("\t")
        try:
            if len(cells) != len(names):
                raise ValueError(f"{len(cells)} cells where {len(names)} columns are named")
            scores.append([_number(score) for score in json.loads(cells[place])])
        except (ValueError, TypeError) as problem:
            raise DataError(f"{member}, line {line}, column scores: {problem}. Fetch the archive again.") from problem
        segments.append(cells[0])
    return segments, scores


def _number(score: Any) -> float:
    """Take a number of JSON as one; texts and truth values are none."""
    if type(score) not in (int, float):
        raise ValueError(f"{score!r:.40} is no number")
    return float(score)
