"""Load MLQE-PE's direct assessments: tar archives with a TSV in which each row lists the scores of one translation."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data import files, schemas

LANGUAGES = {"de": "deu", "en": "eng", "et": "est", "ne": "npi", "ro": "ron", "ru": "rus", "si": "sin", "zh": "zho"}
_MEMBERS = {"train": "train", "dev": "dev", "test": "test20"}
#: ``z``: the score as the release standardises it. ``model_score``: what the NMT system gave its own translation, the
#: mean log probability of a token. ``source_words``, ``target_words``: lengths, in words between blanks.
PEOPLE = schemas.RATINGS.also(
    {name: schemas.Column("float") for name in ("z", "model_score", "source_words", "target_words")}
)
#: Who cannot be told from others: points that lie on no line of their own.
UNKNOWN = "unknown"
_POINTS = 5  # different points that only one line goes through by no chance
_EXACT = 1e-9  # how far rounding moves a point off its line


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load all scores, one row each; ``doc`` is the split, ``segment`` the row's own number in it.

    paths: archives called ``<source>-<target>-<split>.tar.gz``.
    ``annotator`` is the score's *place* in the row's list (``place-1`` …): the files do not say who gave a score, and
    nothing shows that a place is one person throughout, so nothing may be computed that follows a place over segments.
    The translations' texts stay in the archive.
    Raises DataError where a name is unknown, a column is missing or a list of scores cannot be read, with the line.
    """
    frames = []
    for split, known, content, member in _files(paths):
        segments, cells = _rows(content, member, ["scores"])
        part = pd.DataFrame({"segment": segments, "score": cells["scores"]}).explode("score", ignore_index=True)
        place = part.groupby("segment", sort=False).cumcount() + 1
        frames.append(part.assign(annotator="place-" + place.astype("str"), doc=split, **known))
    frame = pd.concat(frames, ignore_index=True).assign(system="mlqe-pe", item_type="system")
    order = [name for name in schemas.RATINGS.columns if name in frame]
    return schemas.check(frame[order], schemas.RATINGS, origin="the archives", scale=(0, 100))


def people(paths: list[Path]) -> pd.DataFrame:
    """Load scores with who gave them, as far as the release's own z-scores tell, and what may judge beside them.

    paths: as for ``ratings``. A z-score is a line in the score, with a slope and an intercept of the annotator's own,
    so that points on one line are one annotator's (see ``on_lines``), whatever their place in a row. Names are
    ``person-1`` …, numbered in each language pair by how much they judged. Scores on no line are left out, and those of
    a translation that one line scores twice. Returns the columns of ``PEOPLE``.
    Caveat: an annotator who was standardised twice would count as two.
    """
    frames = []
    for split, known, content, member in _files(paths):
        segments, cells = _rows(content, member, ["scores", "z_scores"], ["original", "translation", "model_scores"])
        lengths = {name: [float(len(text.split())) for text in cells[of]] for name, of in _LENGTHS.items()}
        part = pd.DataFrame({"segment": segments, "score": cells["scores"], "z": cells["z_scores"], **lengths})
        part["model_score"] = [float(cell) for cell in cells["model_scores"]]
        frames.append(part.explode(["score", "z"], ignore_index=True).assign(doc=split, **known))
    frame = pd.concat(frames, ignore_index=True).assign(system="mlqe-pe", item_type="system")
    frame["annotator"] = UNKNOWN
    for _, rows in frame.groupby(["src_lang", "tgt_lang"]):
        line = on_lines(rows["score"].to_numpy(float), rows["z"].to_numpy(float))
        frame.loc[rows.index[line >= 0], "annotator"] = [f"person-{n + 1}" for n in line[line >= 0]]
    told = frame["annotator"] != UNKNOWN
    once = ~frame.duplicated(["src_lang", "tgt_lang", "doc", "segment", "annotator"], keep=False)
    frame, kept = frame[told & once], [name for name in PEOPLE.columns if name in frame]
    found = schemas.check(frame[kept], PEOPLE, origin="the archives", scale=(0, 100))
    found.attrs["excluded"] = {
        "scores on nobody's line, or on one that scores a translation twice": int((~told | ~once).sum())
    }
    return found


def on_lines(scores: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Say for each point (score, z) on whose line it lies: 0 has most points; -1 is on no line.

    A line rises and goes through ``_POINTS`` different points or more, of no other line. Points are put on the longest
    line that goes through them.

    >>> scores = np.array([0.0, 10, 20, 30, 40, 50] + [5.0, 15, 25, 35, 45] + [7.0])
    >>> z = np.concatenate([(scores[:6] - 20) / 10, (scores[6:11] - 30) / 7, [0.123]])
    >>> on_lines(scores, z).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, -1]
    """
    points, at = np.unique(np.column_stack([scores, z]), axis=0, return_inverse=True)
    x, y = points.T
    i, j = np.triu_indices(len(x), 1)
    i, j = i[x[i] != x[j]], j[x[i] != x[j]]
    slope = (y[j] - y[i]) / (x[j] - x[i])
    i, slope = i[slope > 0], slope[slope > 0]
    keys = np.column_stack([np.round(slope, 8), np.round(y[i] - slope * x[i], 6)])
    order = np.lexsort(keys.T)
    starts = np.flatnonzero(np.r_[True, (np.diff(keys[order], axis=0) != 0).any(axis=1)])
    sizes = np.diff(np.r_[starts, len(order)])
    taken, found = np.full(len(x), -1), 0
    for place in np.argsort(-sizes, kind="stable"):
        if sizes[place] < _POINTS * (_POINTS - 1) / 2:
            break
        one = order[starts[place]]
        on = (np.abs(y - y[i[one]] - slope[one] * (x - x[i[one]])) < _EXACT) & (taken < 0)
        if on.sum() >= _POINTS:
            taken[on], found = found, found + 1
    line = taken[at.ravel()]
    ranks = np.argsort(-np.bincount(line[line >= 0], minlength=found), kind="stable")
    return np.where(line >= 0, np.argsort(ranks)[line] if found else -1, -1)


_LENGTHS = {"source_words": "original", "target_words": "translation"}


def _files(paths: list[Path]) -> Iterator[tuple[str, dict[str, str], bytes, str]]:
    """Yield of each archive its split, its language pair, and content and name of the table in it."""
    for path in paths:
        source, target, split = path.name.removesuffix(".tar.gz").split("-")
        member = f"{_MEMBERS[split]}.{source}{target}.df.short.tsv"
        known = {"src_lang": LANGUAGES[source], "tgt_lang": LANGUAGES[target]}
        yield split, known, files.member(path, member), member


def _rows(
    content: bytes, member: str, lists: Sequence[str], texts: Sequence[str] = ()
) -> tuple[list[str], dict[str, list[Any]]]:
    """Read the segments' numbers, and columns of lists of numbers or of texts.

    Cells are separated by tabs, and quotes are ordinary characters.
    """
    header, *rows = content.decode("utf-8-sig").rstrip("\n").split("\n")
    names, segments = header.rstrip("\r").split("\t"), []
    cells: dict[str, list[Any]] = {name: [] for name in (*lists, *texts)}
    for row in rows:
        found = row.rstrip("\r").split("\t")
        for name in lists:
            cells[name].append([float(score) for score in json.loads(found[names.index(name)])])
        for name in texts:
            cells[name].append(found[names.index(name)])
        segments.append(found[0])
    return segments, cells
