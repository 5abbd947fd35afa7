"""Load the tables that papers print, cell by cell as they print them."""

import difflib

import pandas as pd

from evalkit import ROOT, DataError
from evalkit.data import delimited


def table(name: str) -> pd.DataFrame:
    """Load one transcribed table; every cell is text, so that ``.70`` keeps its printed digits.

    >>> table("licht2022_table6").query("method == 'CS' and statistic == 'pearson'")["printed"].tolist()
    ['.946', '.772', '.854']
    """
    known = {path.stem: path for path in sorted((ROOT / "data" / "published").glob("*.csv"))}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0) or ["nothing"]
        raise DataError(f"There is no published table {name!r} in data/published. Did you mean {near[0]}?")
    content = delimited.content(known[name])
    return delimited.table(content, origin=known[name].name, delimiter=",").reset_index(drop=True)
