"""Read the Parquet tables that imports write, behind the wall: some damaged ones end the process that reads them.

Compare apache/arrow, issue 45283 (pyarrow 26 aborts where metadata of a column are damaged in some ways).
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc

from evalkit import DataError, one_line
from evalkit.data.importing.files import wall

_TEXTS = (pa.string(), pa.large_string())
_KINDS = {*_TEXTS, pa.float64(), pa.int64(), pa.bool_(), pa.null()}
_REMEDY = "Import the campaign again."


class Told(NamedTuple):
    """What a file says of itself: its label, its columns as ``name: type``, and how many rows it has."""

    label: str
    columns: list[str]
    rows: int


def told(path: Path) -> Told:
    """Read what a file says of itself. Raises DataError where it is no sound Parquet file."""
    with wall.parsed(path, "label", _REMEDY) as folder:
        return Told(**json.loads((folder / "label").read_text(encoding="utf-8")))


def frame_of(path: Path) -> pd.DataFrame:
    """Read a whole table, its pages held against their checksums; texts are pandas' own.

    Raises DataError where it is damaged, has columns of other types than text, numbers and truth, or would unfold to
    more than can be held in memory.
    """
    with wall.parsed(path, "parquet", _REMEDY) as folder:
        table = ipc.open_file(pa.OSFile(str(folder / "table"))).read_all()
    if odd := next((one for one in table.schema if one.type not in _KINDS), None):
        raise DataError(
            f"{path.name}, column {one_line(odd.name)}: of the type {one_line(odd.type)}, which no import writes. "
            "Import the file that it was made from."
        )
    if len(set(table.column_names)) < table.num_columns:
        raise DataError(f"{path.name} is damaged: two columns have one name. {_REMEDY}")
    kinds = dict.fromkeys(_TEXTS, pd.StringDtype(na_value=np.nan))
    return table.to_pandas(types_mapper=kinds.get, ignore_metadata=True)
