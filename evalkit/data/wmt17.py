"""Load WMT17's direct assessments of single translations, with the texts that were assessed."""

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, languages, schemas
from evalkit.data.mtme import lines

_OUTPUT = re.compile(r"newstest2017\.(?P<system>.+)\.(?P<pair>\w\w-\w\w)")


def direct_assessments(paths: list[Path]) -> pd.DataFrame:
    """Load translations with their mean standardised assessment: METRIC_SCORES whose ``metric`` is DA, with texts.

    paths: ``DA-seglevel.csv`` and system outputs. Translations that several systems shared were assessed
    once and are named with all of them, joined by ``+``; here each system has its row, and ``together`` holds the
    joined name. ``hypothesis`` is empty for language pairs without outputs, as those from English.
    Raises DataError where a row names a system or a segment that the outputs lack.
    """
    outputs = {(m["pair"], m["system"]): path for path in paths if (m := _OUTPUT.fullmatch(path.name))}
    with_texts = {pair for pair, _ in outputs}
    scores = next(path for path in paths if path.name == "DA-seglevel.csv")
    raw = assessments(scores)
    raw = raw.assign(together=raw["SYSTEM"], SYSTEM=raw["SYSTEM"].str.split("+")).explode("SYSTEM", ignore_index=True)
    ends = [languages.pair(name, origin=scores.name) for name in raw["LP"]]
    frame = pd.DataFrame(
        {
            "src_lang": [source for source, _ in ends],
            "tgt_lang": [target for _, target in ends],
            "system": raw["SYSTEM"],
            "doc": raw["DATA"],
            "segment": raw["SID"],
            "metric": "DA",
            "score": raw["HUMAN"],
            "together": raw["together"],
            "hypothesis": "",
        }
    )
    segments = raw["SID"].astype(int).to_numpy() - 1
    for (pair, system), rows in raw.groupby(["LP", "SYSTEM"]).indices.items():
        if pair not in with_texts:
            continue
        if (pair, system) not in outputs:
            raise DataError(f"{scores.name}: no output of {system} ({pair}) is at hand. Get all files of the data set.")
        texts = np.array(lines(outputs[pair, system]), dtype=object)
        if segments[rows].max() >= len(texts):
            raise DataError(f"{outputs[pair, system].name} lacks segment {segments[rows].max() + 1}. Get it again.")
        frame.loc[rows, "hypothesis"] = texts[segments[rows]]
    return schemas.check(frame, schemas.METRIC_SCORES, origin=scores.name)


def assessments(path: Path) -> pd.DataFrame:
    """Read ``DA-seglevel.csv`` as it is: LP, DATA, SYSTEM, SID (all text) and HUMAN.

    Raises DataError for other columns, and for truth values in the place of numbers.
    """
    content = delimited.measured(delimited.content(path), origin=path.name)
    raw = pd.read_csv(io.BytesIO(content), sep=" ", dtype=dict.fromkeys(("LP", "DATA", "SYSTEM", "SID"), "str"))
    if list(raw) != ["LP", "DATA", "SYSTEM", "SID", "HUMAN"]:
        raise DataError(f"{path.name}: the columns are not LP, DATA, SYSTEM, SID, HUMAN. Get the file again.")
    return raw
