"""Load translations that were assessed once each at WMT15-17, with their references and standardised scores."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
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
    Raises DataError where files of a test set differ in length, a score is no number, or a listed row does not exist.
    """
    single = {(m[1], m[2], m[3]): path for path in paths if (m := _SINGLE.fullmatch(path.name))}
    tasks = sorted({(test_set, pair) for test_set, _, pair in single})
    frames = [_of_task(single, test_set, pair) for test_set, pair in tasks]
    scores = next((path for path in paths if path.name == "DA-seglevel.csv"), None)
    if scores is not None:
        frames += _wmt17(scores, paths)
    if not frames:
        raise DataError("No file is called like DAseg.newstest2015.human.cs-en or DA-seglevel.csv. Get the data set.")
    frame = pd.concat(frames, ignore_index=True)
    frame["split"] = np.where(frame["doc"] == "newstest2017", "test", "train")
    listed = next((path for path in paths if path.name == "dev.ids"), None)
    if listed is not None:
        frame.loc[_development(listed, frame), "split"] = "dev"
    return schemas.check(frame, SCHEMA, origin="the assessed translations", first_line=1)


def _of_task(single: dict[tuple[str, str, str], Path], test_set: str, pair: str) -> pd.DataFrame:
    """Put the three files of a test set and language pair side by side."""
    parts = {}
    for kind in ("human", "mt-system", "reference"):
        if (test_set, kind, pair) not in single:
            raise DataError(f"DAseg.{test_set}.{kind}.{pair} is not among the files. Get all files of the data set.")
        parts[kind] = lines(single[test_set, kind, pair])
        if len(parts[kind]) != len(parts["human"]):
            raise DataError(
                f"{single[test_set, kind, pair].name} has {len(parts[kind])} lines and "
                f"{single[test_set, 'human', pair].name} {len(parts['human'])}: from line "
                f"{min(map(len, (parts[kind], parts['human']))) + 1} on they do not go together. Get both again."
            )
    z = pd.to_numeric(pd.Series(parts["human"]), errors="coerce")
    if z.isna().any():
        row = int(np.argmax(z.isna()))
        name = single[test_set, "human", pair].name
        raise DataError(f"{name}, line {row + 1}: {parts['human'][row]!r} is no number. Get the file again.")
    return _frame(pair, test_set, "various", parts["mt-system"], parts["reference"], z.to_numpy())


def _wmt17(scores: Path, paths: list[Path]) -> list[pd.DataFrame]:
    """Look up the texts of WMT17's assessed translations, for the language pairs whose texts are here."""
    outputs = {m.groups(): lines(path) for path in paths if (m := _OUTPUT.fullmatch(path.name))}
    references = {"-".join(m.groups()): lines(path) for path in paths if (m := _REFERENCE.fullmatch(path.name))}
    raw = assessments(scores)
    frames = []
    for pair, rows in raw[raw["LP"].isin(references)].groupby("LP", sort=True):
        hypotheses = []
        for line, names, segment in zip(rows.index + 2, rows["SYSTEM"], rows["SID"].astype(int), strict=True):
            place = f"{scores.name}, line {line}"
            absent = [name for name in names.split("+") if (name, pair) not in outputs]
            if absent:
                raise DataError(f"{place}: no output of {absent[0]} ({pair}) is here. Get all files of the data set.")
            files = [outputs[name, pair] for name in names.split("+")]
            if not 1 <= segment <= min(len(references[pair]), *map(len, files)):
                raise DataError(f"{place}: segment {segment} is not in the texts of {pair}. Get the files again.")
            if len({texts[segment - 1] for texts in files}) > 1:
                raise DataError(f"{place}: {names} are joined, and their texts differ. Get the files again.")
            hypotheses.append(files[0][segment - 1])
        beside = [references[pair][int(segment) - 1] for segment in rows["SID"]]
        frames.append(
            _frame(pair, "newstest2017", rows["SYSTEM"].to_numpy(), hypotheses, beside, rows["HUMAN"].to_numpy())
        )
    return frames


def _frame(pair: str, test_set: str, system: object, hypotheses: list[str], references: list[str], z) -> pd.DataFrame:
    """Lay the translations of a test set and language pair out as rows."""
    source, _, target = pair.partition("-")
    unknown = next((code for code in (source, target) if code not in LANGUAGES), None)
    if unknown:
        raise DataError(f"{test_set}, {pair}: {unknown!r} is no language of these test sets. Rename the file.")
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
    found: dict[tuple[str, str | None, str] | None, int] = {}
    for number, line in enumerate(lines(listed), 1):
        parts = re.fullmatch(r"DAseg\.(newstest\d+)\.(\w\w)-en:(\d+)", line)
        key = (parts[1], LANGUAGES.get(parts[2]), parts[3]) if parts else None
        if key not in rows.index:
            raise DataError(f"{listed.name}, line {number}: {line!r} is no row of these test sets. Get it again.")
        if key in found:
            raise DataError(f"{listed.name}, line {number}: {line!r} stands on line {found[key]}, too. Drop one.")
        found[key] = number
    return pd.Index(rows.loc[list(found)])
