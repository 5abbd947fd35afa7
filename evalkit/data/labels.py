"""Load what Sudoh et al. 2021 rests on: one letter a line of labels, and the assessed translations that they label."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit.data import direct, schemas
from evalkit.data.languages import CODES
from evalkit.data.mtme import lines

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
#: One row per translation; ``z`` is the mean of its standardised direct assessments (unitless).
TRANSLATIONS = schemas.Schema(
    dict.fromkeys(("src_lang", "tgt_lang", "doc", "segment", "system", "hypothesis", "reference"), schemas.Column())
    | {"z": schemas.Column("float"), "split": schemas.one_of(("train", "dev", "test"), "is no part of the data")},
    ("src_lang", "tgt_lang", "doc", "segment"),
    "A row of a test set is one translation: drop one of them.",
)
_NAME = re.compile(r".*\.newstest(\d*)\.(fluency|adequacy)(?:_([A-Z]))?\.([a-z]{2})-([a-z]{2})")
_SINGLE = re.compile(r"DAseg\.(newstest\d+)\.(human|mt-system|reference)\.(\w\w-\w\w)")
_OUTPUT = re.compile(r"newstest2017\.(.+)\.(\w\w-\w\w)")
_REFERENCE = re.compile(r"newstest2017-(\w\w)(\w\w)-ref\.\w\w")


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load labels as ratings: ``label`` keeps the letter, ``score`` is its place from worst (1) to best.

    paths: files called ``….<test set>.<dimension>_<annotator>.<source>-<target>``, a label a line; ``doc`` is the test
    set (from the folder's name where the file's has no year), ``segment`` the line, counted from 1 as the authors'
    lists of rows do. Labels in files without an annotator were agreed upon: ``AGREED``. Which system made a translation
    is not in these files: ``system`` is "various".
    """
    frames = []
    for path in paths:
        if not (name := _NAME.fullmatch(path.name)):
            continue
        year, dimension, annotator, source, target = name.groups()
        letters = lines(path)
        places = {letter: float(place) for place, letter in enumerate(LABELS[dimension], 1)}
        frames.append(
            pd.DataFrame(
                {
                    "src_lang": CODES[source],
                    "tgt_lang": CODES[target],
                    "system": "various",
                    "doc": f"newstest{year or path.parent.name.rpartition('newstest')[2]}",
                    "segment": _numbers(letters),
                    "annotator": annotator or AGREED,
                    "score": [places[letter] for letter in letters],
                    "item_type": "system",
                    "dimension": dimension,
                    "label": letters,
                }
            )
        )
    return schemas.check(pd.concat(frames, ignore_index=True), SCHEMA, origin="the label files", first_line=1)


def translations(paths: list[Path]) -> pd.DataFrame:
    """Load assessed translations of WMT15-17 into English, in the row order of the files that assess them.

    paths: for WMT15 and WMT16 ``DAseg.<test set>.human|mt-system|reference.<pair>``, a line per translation; for WMT17
    ``DA-seglevel.csv`` with system outputs and references of whole test sets; and ``dev.ids``, which lists the rows of
    the development set. Columns src_lang, tgt_lang, doc (the test set), segment (the row within test set and pair,
    from 1), system ("various" where the files do not tell, names joined by ``+`` where systems wrote the same),
    hypothesis, reference, z, split: "test" for newstest2017, "dev" for rows in the list, "train" for others.
    """
    single = {(m[1], m[3], m[2]): lines(path) for path in paths if (m := _SINGLE.fullmatch(path.name))}
    frames = []
    for test_set, pair in sorted({name[:2] for name in single}):
        z, systems, references = (single[test_set, pair, kind] for kind in ("human", "mt-system", "reference"))
        frames.append(_frame(pair, test_set, "various", systems, references, np.array(z, dtype=float)))
    frame = pd.concat([*frames, *_wmt17(paths)], ignore_index=True)
    frame["split"] = np.where(frame["doc"] == "newstest2017", "test", "train")
    rows = pd.Series(frame.index, index=[*zip(frame["doc"], frame["src_lang"], frame["segment"])])
    for path in (path for path in paths if path.name == "dev.ids"):  # lines like DAseg.newstest2015.cs-en:15
        listed = [re.split("[.:-]", line) for line in lines(path)]
        frame.loc[rows.loc[[(doc, CODES[source], row) for _, doc, source, _, row in listed]], "split"] = "dev"
    return schemas.check(frame, TRANSLATIONS, origin="the assessed translations", first_line=1)


def _wmt17(paths: list[Path]) -> list[pd.DataFrame]:
    """Look up the texts of WMT17's assessed translations, for the language pairs whose texts are here."""
    outputs = {m.groups(): lines(path) for path in paths if (m := _OUTPUT.fullmatch(path.name))}
    references = {"-".join(m.groups()): lines(path) for path in paths if (m := _REFERENCE.fullmatch(path.name))}
    frames = []
    for scores in (path for path in paths if path.name == "DA-seglevel.csv"):
        raw = direct.assessments(scores)
        for pair, rows in raw[raw["LP"].isin(references)].groupby("LP", sort=True):
            places = [
                *zip(rows["SYSTEM"].str.partition("+")[0], rows["SID"].astype(int) - 1)
            ]  # those joined are the same
            hypotheses = [outputs[name, pair][place] for name, place in places]
            beside = [references[pair][place] for _, place in places]
            frames.append(
                _frame(pair, "newstest2017", rows["SYSTEM"].to_numpy(), hypotheses, beside, rows["HUMAN"].to_numpy())
            )
    return frames


def _frame(
    pair: str, test_set: str, system: object, hypotheses: list[str], references: list[str], z: np.ndarray
) -> pd.DataFrame:
    """Lay the translations of a test set and language pair out as rows."""
    return pd.DataFrame(
        {
            "src_lang": CODES[pair[:2]],
            "tgt_lang": CODES[pair[3:]],
            "doc": test_set,
            "segment": _numbers(hypotheses),
            "system": system,
            "hypothesis": hypotheses,
            "reference": references,
            "z": z,
        }
    )


def _numbers(rows: list[str]) -> list[str]:
    """Number rows from 1."""
    return [str(number) for number in range(1, len(rows) + 1)]
