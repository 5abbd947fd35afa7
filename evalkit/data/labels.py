"""Load files of labels: one letter a line, a file for each test set, dimension, annotator and language pair."""

import re
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from evalkit import DataError, schemas
from evalkit.data import delimited

#: Labels from worst to best, as Sudoh et al. 2021 list them in Tables 2 and 3. F means two different things, and the
#: four worst adequacy labels are kinds of failure: their order is the paper's, and no more than that.
LABELS = {
    "fluency": {"F": "Incomprehensible", "D": "Poor", "B": "Fair", "A": "Good", "S": "Excellent"},
    "adequacy": {
        "N": "Incomprehensible", "O": "Unrelated", "C": "Contradiction", "F": "Serious", "B": "Fair", "A": "Good",
        "S": "Excellent",
    },
}  # fmt: skip
#: Ratings with the dimension that was judged and the letter behind each score.
SCHEMA = pa.DataFrameSchema(
    schemas.RATINGS.columns | {"dimension": pa.Column("str"), "label": pa.Column("str")},
    metadata=schemas.RATINGS.metadata | {"key": [*schemas.RATINGS.metadata["key"], "dimension"]},
)
LANGUAGES = {"cs": "ces", "de": "deu", "en": "eng", "fi": "fin", "lv": "lav", "ro": "ron", "ru": "rus", "tr": "tur",
             "zh": "zho"}  # fmt: skip
_NAME = re.compile(r".*\.(newstest\d+)\.(fluency|adequacy)_([A-Z])\.([a-z]{2})-([a-z]{2})")


def ratings(paths: list[Path], *, columns: dict[str, str] | None = None) -> pd.DataFrame:
    """Load labels as ratings: ``label`` keeps the letter, ``score`` is its place from worst (1) to best.

    paths: files called ``….<test set>.<dimension>_<annotator>.<source>-<target>``, a label a line; ``doc`` is the test
    set, ``segment`` the line, counted from 1 as the authors' lists of rows do. Which system made a translation is not
    in these files: ``system`` is "various". columns: not used, for no column has a name here.
    Raises DataError for a name or a label that is unknown, with the line, and for files of unequal length.
    """
    frames, sizes = [], {}
    for path in paths:
        found = _NAME.fullmatch(path.name)
        if not found or found[4] not in LANGUAGES or found[5] not in LANGUAGES:
            raise DataError(f"{path.name}: expected a name like DAseg.newstest2015.fluency_A.cs-en. Rename the file.")
        test_set, dimension, annotator, source, target = found.groups()
        letters = delimited.content(path).decode("utf-8", "replace").splitlines()
        places = {letter: place for place, letter in enumerate(LABELS[dimension], 1)}
        wrong = next((line for line, letter in enumerate(letters, 1) if letter not in places), None)
        if wrong:
            raise DataError(
                f"{path.name}, line {wrong}: {letters[wrong - 1]!r} is no label of {dimension}, which are "
                f"{', '.join(places)}. Correct it."
            )
        if sizes.setdefault((test_set, source, target), len(letters)) != len(letters):
            raise DataError(f"{path.name} has {len(letters)} lines; another file of these translations has "
                            f"{sizes[test_set, source, target]}. Fetch both again.")  # fmt: skip
        frames.append(
            pd.DataFrame(
                {
                    "src_lang": LANGUAGES[source],
                    "tgt_lang": LANGUAGES[target],
                    "system": "various",
                    "doc": test_set,
                    "segment": [str(line) for line in range(1, len(letters) + 1)],
                    "annotator": annotator,
                    "score": [float(places[letter]) for letter in letters],
                    "item_type": "system",
                    "dimension": dimension,
                    "label": letters,
                }
            )
        )
    return schemas.check(pd.concat(frames, ignore_index=True), SCHEMA, origin="the label files", first_line=1)
