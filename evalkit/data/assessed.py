"""Load translations that were assessed once each at WMT15-17, with their references and standardised scores."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.labels import LANGUAGES
from evalkit.data.mtme import lines
from evalkit.data.wmt17 import assessments

#: One row per translation; ``z`` is the mean of its standardised direct assessments (unitless).
SCHEMA = schemas.Schema(
    dict.fromkeys(("src_lang", "tgt_lang", "doc", "segment", "system", "hypothesis", "reference"), schemas.Column())
    | {"z": schemas.Column("float"), "split": schemas.one_of(("train", "dev", "test"), "is no part of the data")},
    ("src_lang", "tgt_lang", "doc", "segment"),
    "A row of a test set is one translation: drop one of them.",
)
_SINGLE = re.compile(r"DAseg\.(newstest\d+)\.(human|mt-system|reference)\.(\w\w-\w\w)")
_OUTPUT = re.compile(r"newstest2017\.(.+)\.(\w\w-\w\w)")
_REFERENCE = re.compile(r"newstest2017-(\w\w)(\w\w)-ref\.\w\w")


def translations(paths: list[Path]) -> pd.DataFrame:
    """Load assessed translations of WMT15-17 into English, in the row order of the files that assess them.

    paths: for WMT15 and WMT16 ``DAseg.<test set>.human|mt-system|reference.<pair>``, a line per translation; for WMT17
    ``DA-seglevel.csv`` with system outputs and references of whole test sets; and ``dev.ids``, which lists the rows of
    the development set. Columns src_lang, tgt_lang, doc (the test set), segment (the row within test set and pair,
    from 1), system ("various" where the files do not tell, names joined by ``+`` where systems wrote the same),
    hypothesis, reference, z, split: "test" for newstest2017, "dev" for rows in the list, "train" for others.
    """
    single = {(m[1], m[2], m[3]): path for path in paths if (m := _SINGLE.fullmatch(path.name))}
    tasks = sorted({(test_set, pair) for test_set, _, pair in single})
    frames = [_of_task(single, test_set, pair) for test_set, pair in tasks]
    scores = next((path for path in paths if path.name == "DA-seglevel.csv"), None)
    if scores is not None:
        frames += _wmt17(scores, paths)
    frame = pd.concat(frames, ignore_index=True)
    frame["split"] = np.where(frame["doc"] == "newstest2017", "test", "train")
    listed = next((path for path in paths if path.name == "dev.ids"), None)
    if listed is not None:
        frame.loc[_development(listed, frame), "split"] = "dev"
    return schemas.check(frame, SCHEMA, origin="the assessed translations", first_line=1)


def _of_task(single: dict[tuple[str, str, str], Path], test_set: str, pair: str) -> pd.DataFrame:
    """Put the three files of a test set and language pair side by side."""
    z, systems, references = (lines(single[test_set, kind, pair]) for kind in ("human", "mt-system", "reference"))
    return _frame(pair, test_set, "various", systems, references, np.array(z, dtype=float))


def _wmt17(scores: Path, paths: list[Path]) -> list[pd.DataFrame]:
    """Look up the texts of WMT17's assessed translations, for the language pairs whose texts are here."""
    outputs = {m.groups(): lines(path) for path in paths if (m := _OUTPUT.fullmatch(path.name))}
    references = {"-".join(m.groups()): lines(path) for path in paths if (m := _REFERENCE.fullmatch(path.name))}
    raw = assessments(scores)
    frames = []
    for pair, rows in raw[raw["LP"].isin(references)].groupby("LP", sort=True):
        hypotheses = []
        for names, segment in zip(rows["SYSTEM"], rows["SID"].astype(int), strict=True):
            hypotheses.append(outputs[names.partition("+")[0], pair][segment - 1])  # those that are joined are the same
        beside = [references[pair][int(segment) - 1] for segment in rows["SID"]]
        frames.append(
            _frame(pair, "newstest2017", rows["SYSTEM"].to_numpy(), hypotheses, beside, rows["HUMAN"].to_numpy())
        )
    return frames


def _frame(pair: str, test_set: str, system: object, hypotheses: list[str], references: list[str], z) -> pd.DataFrame:
    """Lay the translations of a test set and language pair out as rows."""
    source, _, target = pair.partition("-")
    return pd.DataFrame(
        {
            "src_lang": LANGUAGES[source],
            "tgt_lang": LANGUAGES[target],
            "doc": test_set,
            "segment": [str(number) for number in range(1, len(hypotheses) + 1)],
            "system": system,
            "hypothesis": hypotheses,
            "reference": references,
            "z": z,
        }
    )


def _development(listed: Path, frame: pd.DataFrame) -> pd.Index:
    """Find the rows that a list like ``DAseg.newstest2015.cs-en:15`` names."""
    rows = pd.Series(frame.index, index=[*zip(frame["doc"], frame["src_lang"], frame["segment"], strict=True)])
    names = [re.split("[.:-]", line) for line in lines(listed)]
    return pd.Index(rows.loc[[(test_set, LANGUAGES[source], row) for _, test_set, source, _, row in names]])
