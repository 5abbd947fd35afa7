"""Load WMT17's direct assessments of single translations, with the texts that were assessed."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit.data import languages, schemas
from evalkit.data.mtme import lines

_OUTPUT = re.compile(r"newstest2017\.(?P<system>.+)\.(?P<pair>\w\w-\w\w)")


def direct_assessments(paths: list[Path]) -> pd.DataFrame:
    """Load translations with their mean standardised assessment: METRIC_SCORES whose ``metric`` is DA, with texts.

    paths: ``DA-seglevel.csv`` and system outputs. Translations that several systems shared were assessed
    once and are named with all of them, joined by ``+``; here each system has its row, and ``together`` holds the
    joined name. ``hypothesis`` is empty for language pairs without outputs, as those from English.
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
        texts = np.array(lines(outputs[pair, system]), dtype=object)
        frame.loc[rows, "hypothesis"] = texts[segments[rows]]
    return schemas.check(frame, schemas.METRIC_SCORES, origin=scores.name)


def assessments(path: Path) -> pd.DataFrame:
    """Read ``DA-seglevel.csv`` as it is: LP, DATA, SYSTEM, SID (all text) and HUMAN."""
    return pd.read_csv(path, sep=" ", dtype=dict.fromkeys(("LP", "DATA", "SYSTEM", "SID"), "str"))
