"""Load the scores of WMT-SLT, the shared task on sign language translation: Appraise rows without a header."""

from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, schemas
from evalkit.data.appraise import with_repeats

HEADER = [
    "annotator",
    "system",
    "segment",
    "item_type",
    "src_lang",
    "tgt_lang",
    "score",
    "doc",
    "document",
    "started",
    "ended",
]


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load segment scores; a second showing to the same account is a ``repeat``, human translations a ``reference``.

    ``annotator`` and ``hit`` are the account; one person has several. Scores of whole documents are left out
    and counted in ``attrs["excluded"]``.
    """
    raw = delimited.table(delimited.content(paths[0]), origin=paths[0].name, header=HEADER, delimiter=",")
    unclear = ~raw["document"].isin(["True", "False"])
    if unclear.any():
        raise DataError(f"{paths[0].name}, line {raw.index[unclear][0]}: cell 9 is neither True nor False. Correct it.")
    documents = raw["document"].eq("True")
    frame = raw[~documents].drop(columns="document").assign(hit=raw["annotator"])
    human = frame["system"].str.startswith("translator")
    frame["item_type"] = (
        frame["item_type"].replace({"TGT": "system"}).mask(human & frame["item_type"].eq("TGT"), "reference")
    )
    frame = frame[[name for name in schemas.RATINGS.columns if name in frame]]
    frame = schemas.check(frame, schemas.RATINGS, origin=paths[0].name, scale=(0, 100))
    frame = with_repeats(frame)
    frame.attrs["excluded"] = {"document scores": int(documents.sum())}
    return frame
