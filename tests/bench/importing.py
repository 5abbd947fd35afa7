"""Import judgements beside a raw pyarrow read of the same file, which checks and writes nothing."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow import csv

from evalkit.data import importing

ROWS = 300_000


def judgements():
    """Draw judgements of 50 systems by 2,000 annotators."""
    place, rng = np.arange(ROWS), np.random.default_rng(7)
    columns = {
        "system": "System-" + pd.Series(place % 50).astype("str"),
        "doc": "doc-" + pd.Series(place // 500).astype("str"),
        "segment": place // 50,
        "annotator": "Annotator " + pd.Series(rng.integers(0, 2000, ROWS)).astype("str"),
        "score": rng.integers(0, 101, ROWS),
        "started": np.round(1.7e9 + place * 7 + rng.random(ROWS), 3),
    }
    return pd.DataFrame(columns).assign(src_lang="eng", tgt_lang="deu", item_type="system")


def cases():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    folder = Path(tempfile.mkdtemp())
    path, out = folder / "long.csv", folder / "out.parquet"
    judgements().to_csv(path, index=False)
    ours = partial(importing.import_campaign, [path], out, salt="bench")
    yield f"import {ROWS:,} judgements", 0.1, ours, partial(csv.read_csv, path), 1, "pyarrow.csv.read_csv"
