"""Load files of labels: one letter a line, a file for each test set, dimension, annotator and language pair."""

import re
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, schemas

#: Labels from worst to best, as Sudoh et al. 2021 list them in Tables 2 and 3. F means two different things, and the
#: four worst adequacy labels are kinds of failure: their order is the paper's, and no more than that.
LABELS = {
    "fluency": {"F": "Incomprehensible", "D": "Poor", "B": "Fair", "A": "Good", "S": "Excellent"},
    "adequacy": {
        "N": "Incomprehensible",
        "O": "Unrelated",
        "C": "Contradiction",
        "F": "Serious",
        "B": "Fair",
        "A": "Good",
        "S": "Excellent",
    },
}
#: What stands in the place of an annotator in labels that were agreed upon.
AGREED = "agreed"
#: Ratings with the dimension that was judged and the letter behind each score.
SCHEMA = schemas.RATINGS.also({"dimension": schemas.Column(), "label": schemas.Column()}, key=["dimension"])
LANGUAGES = {
    "cs": "ces",
    "de": "deu",
    "en": "eng",
    "fi": "fin",
    "lv": "lav",
    "ro": "ron",
    "ru": "rus",
    "tr": "tur",
    "zh": "zho",
}
_NAME = re.compile(r".*\.newstest(\d*)\.(fluency|adequacy)(?:_([A-Z]))?\.([a-z]{2})-([a-z]{2})")
_YEAR = re.compile(r".*newstest(\d+)")


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load labels as ratings: ``label`` keeps the letter, ``score`` is its place from worst (1) to best.

    paths: files called ``….<test set>.<dimension>_<annotator>.<source>-<target>``, a label a line; ``doc`` is the test
    set (from the folder's name where the file's has no year), ``segment`` the line, counted from 1 as the authors'
    lists of rows do. Which system made a translation is not in these files: ``system`` is "various".
    Raises DataError for a name or a label that is unknown, with the line, for files of unequal length, and for one
    file that stands for two judgements.
    """
    return _read(paths, agreed=False)


def agreed(paths: list[Path]) -> pd.DataFrame:
    """Load the labels that were agreed upon, from files without an annotator, as ratings by "agreed".

    paths, errors: as in ``ratings``, but for the annotator, whom these names may not have.
    """
    return _read(paths, agreed=True)


def _read(paths: list[Path], *, agreed: bool) -> pd.DataFrame:
    """Load label files, whose names state an annotator or, of labels that were agreed upon, none."""
    frames: list[pd.DataFrame] = []
    for path in paths:
        test_set, dimension, annotator, source, target = _parts(path)
        if agreed != (annotator is None):
            raise DataError(f"{path.name}: labels are either agreed upon or an annotator's. Name the right files.")
        letters = delimited.content(path).decode("utf-8").splitlines()
        frames.append(_frame(letters, dimension, annotator or AGREED, test_set, source, target))
    return schemas.check(pd.concat(frames, ignore_index=True), SCHEMA, origin="the label files", first_line=1)


def _parts(path: Path) -> tuple[str, str, str | None, str, str]:
    """Read test set, dimension, annotator, source and target language from a file's name, and its folder's."""
    found, folder = _NAME.fullmatch(path.name), _YEAR.fullmatch(path.parent.name)
    if not found or not (found[1] or folder):
        raise DataError(f"{path.name}: expected a name like DAseg.newstest2015.fluency_A.cs-en. Rename the file.")
    year, dimension, annotator, source, target = found.groups()
    year = year or (folder[1] if folder else "")
    return f"newstest{year}", dimension, annotator, LANGUAGES[source], LANGUAGES[target]


def _frame(letters: list[str], dimension: str, annotator: str, test_set: str, source: str, target: str) -> pd.DataFrame:
    """Lay a file's labels out as ratings."""
    places = {letter: float(place) for place, letter in enumerate(LABELS[dimension], 1)}
    return pd.DataFrame(
        {
            "src_lang": source,
            "tgt_lang": target,
            "system": "various",
            "doc": test_set,
            "segment": [str(line) for line in range(1, len(letters) + 1)],
            "annotator": annotator,
            "score": [places[letter] for letter in letters],
            "item_type": "system",
            "dimension": dimension,
            "label": letters,
        }
    )
