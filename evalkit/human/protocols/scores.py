"""One table of scores from every collection of the same translations, higher being better."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.schemas import segment_names

#: All collections, by the names of the release: people's, those that WMT made itself, parts judged again, the model.
ORDER = (
    "ESA-1",
    "ESA-2",
    "ESAAI-1",
    "ESAAI-2",
    "MQM-1",
    "WMT-MQM",
    "WMT-DASQM",
    "ESA-IAA",
    "ESAAI-IAA",
    "MQM-IAA",
    "LLM",
)
#: The name of a collection -> the kind of judgement that it holds.
KINDS = {name: "ESA with suggested marks" if name.startswith("ESAAI") else name.split("-")[0] for name in ORDER} | {
    "WMT-MQM": "MQM",
    "WMT-DASQM": "DA+SQM",
    "LLM": "model",
}
#: Names on pages: ESA^AI is how its authors write ESA with suggested marks.
SHORT = {name: name.replace("ESAAI", "ESA^AI").replace("DASQM", "DA+SQM") for name in ORDER}
_OF_WMT = {"mqm": "WMT-MQM", "da-sqm": "WMT-DASQM"}
_COLUMNS = ["protocol", "src_lang", "tgt_lang", *schemas.ITEM, "annotator", "hit", "item_type", "score"]


def scores(judged: pd.DataFrame, released: pd.DataFrame, human: pd.DataFrame) -> pd.DataFrame:
    """Lay the scores of every collection on top of each other: a row per protocol and translation.

    judged: ``data.load("wmt23-protocols")``; degraded copies are left out. released: its released scores, of which the
    model's (``LLM``) are taken. human: WMT's own scores of segments (``wmt23-human``), of the translations that were
    judged here. Returns protocol (in the ``ORDER``), src_lang, tgt_lang, system, doc, segment, annotator and hit (none
    for WMT's own and the model's), item_type (system or reference) and score, each in its protocol's unit.
    Raises DataError where a protocol scored a translation twice.
    """
    names = ["src_lang", "tgt_lang", *schemas.ITEM]
    people = judged[judged["item_type"].isin(["system", "reference"])]
    known = people[[*names, "item_type"]].drop_duplicates()
    wmt = human[human["metric"].isin(list(_OF_WMT))].astype(dict.fromkeys([*names, "metric"], "str"))
    wmt = wmt.assign(protocol=wmt["metric"].replace(_OF_WMT))
    model = released[released["protocol"].astype("str") == "LLM"].astype(dict.fromkeys([*names, "protocol"], "str"))
    others = [table[["protocol", *names, "score"]].merge(known, on=names) for table in (wmt, model)]
    whole = pd.concat([people, *others], ignore_index=True).reindex(columns=_COLUMNS)
    again = whole.duplicated(["protocol", *names])
    if again.any():
        first = whole.loc[again.idxmax()]
        raise DataError(f"{first['protocol']} scores {first['system']}, segment {first['segment']}, twice. Keep one.")
    place = whole["protocol"].map(dict(zip(ORDER, range(len(ORDER)), strict=True)))
    return whole.iloc[place.argsort(kind="stable")].reset_index(drop=True)


def counts(scored: pd.DataFrame) -> pd.DataFrame:
    """Count what collections hold: protocol, judgements, people (missing where nobody is named), segments, systems.

    scored: the result of ``scores``. The reference is one of the systems; accounts that nobody maps count as people.

    >>> scored = pd.DataFrame({"protocol": "ESA-1", "system": ["A", "B"], "doc": "d", "segment": "1",
    ...     "annotator": ["x", "y"]})
    >>> counts(scored).to_numpy().tolist()
    [['ESA-1', 2, 2, 1, 2]]
    """
    groups = scored.assign(segment=segment_names(scored)).groupby("protocol", sort=False)
    table = groups.agg(
        judgements=("system", "size"),
        people=("annotator", "nunique"),
        segments=("segment", "nunique"),
        systems=("system", "nunique"),
    )
    people = table["people"].astype("Int64")
    return table.assign(people=people.mask(people.eq(0))).reset_index()


def drawn_units(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Name what is drawn anew of one protocol's judgements, for ``inference.redraw``: documents, and its people.

    rows: protocol, doc, annotator. All protocols judged the same documents; nobody worked under two of them. People are
    drawn where all are known.

    >>> rows = pd.DataFrame({"protocol": "ESA-1", "doc": ["d", "e"], "annotator": ["x", "y"]})
    >>> list(drawn_units(rows)), list(drawn_units(rows.assign(annotator=None)))
    (['documents', 'people of ESA-1'], ['documents'])
    """
    units = {"documents": rows["doc"].to_numpy(str)}
    if rows["annotator"].isna().any():
        return units
    return units | {f"people of {rows['protocol'].iloc[0]}": rows["annotator"].to_numpy(str)}
