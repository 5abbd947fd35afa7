"""Compute the small tables that the sentences and matrices of Stanchev et al. 2020 are compared with."""

from __future__ import annotations

import pandas as pd

from evalkit.metrics import darr
from evalkit.metrics.darr import OFFICIAL

_YES = {True: "yes", False: "no"}
#: The two matrices that the paper prints as one in its Table 5.
_SIGNS = ("human ties", "human ties, error-like")


def claim_tables(printed: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that the claims of ``stanchev2020_claims`` name, but for those that rest on WMT19's files.

    printed: these claims, of which those of the paper's Table 3 are compared with what its prose says of it.
    """
    cells, third = darr.cells(), table3(printed)
    return {
        "settings": pd.DataFrame([{"threshold": OFFICIAL}]),
        "examples": darr.examples(),
        "symmetry": darr.overview(),
        "matrices": cells,
        "alike": alike(cells),
        "balance": balance(cells),
        "table5": both_signs(cells),
        "table3": third,
        "without": pd.DataFrame([{"pairs": " and ".join(third.loc[third["identical"].eq(0), "pair"])}]),
    }


def both_signs(cells: pd.DataFrame) -> pd.DataFrame:
    """Write the two matrices of Table 5 as the one that is printed: human, metric, value.

    cells: as ``darr.cells`` gives them. A cell in which they differ reads ``{accuracy-like,error-like}``.

    >>> made = both_signs(darr.cells())
    >>> made["value"].tolist()
    [1, 0, -1, 0, '{1,-1}', 0, -1, 0, 1]
    """
    wide = cells.pivot(index=["human", "metric"], columns="variant", values="value")[list(_SIGNS)]
    one = [a if a == b else f"{{{a},{b}}}" for a, b in wide.to_numpy()]
    found = pd.Series(one, index=wide.index, dtype=object).reindex(darr.CELLS)
    return found.rename("value").rename_axis(["human", "metric"]).reset_index()


def alike(cells: pd.DataFrame) -> pd.DataFrame:
    """Say of each cell whether the matrices of Table 4 count it alike, and whether humans or the metric tie in it.

    Returns human, metric, alike (yes or no), tie (yes or no).

    >>> alike(darr.cells()).query("alike == 'no'")[["human", "metric"]].to_numpy().tolist()
    [['<', '='], ['>', '=']]
    """
    four = cells[~cells["variant"].isin(_SIGNS)]
    found = four.groupby(["human", "metric"])["value"].nunique().eq(1).map(_YES).rename("alike").reset_index()
    return found.assign(tie=(found["human"].eq("=") | found["metric"].eq("=")).map(_YES))


def balance(cells: pd.DataFrame) -> pd.DataFrame:
    """Count the cells of each matrix that make a pair concordant or discordant: variant, concordant, discordant, more.

    more: whether more cells are discordant than concordant, as "more" or "not more".
    """
    counted = cells.groupby("variant", sort=False)["value"].agg(
        concordant=lambda cell: cell.eq(1).sum(), discordant=lambda cell: cell.eq(-1).sum()
    )
    more = counted["discordant"].gt(counted["concordant"]).map({True: "more", False: "not more"})
    return counted.assign(more=more).reset_index()


def table3(printed: pd.DataFrame) -> pd.DataFrame:
    """Lay out the printed Table 3, and rank its language pairs by identical sentences: pair, identical, place.

    >>> from evalkit import data
    >>> table3(data.published("stanchev2020_claims")).query("place == 1")["pair"].tolist()
    ['zh-en']
    """
    rows = printed[printed["item"].eq("Table 3") & printed["cell"].str.endswith(", identical sentences")]
    found = pd.DataFrame({"pair": rows["cell"].str.split(", ").str[0], "identical": rows["printed"].astype(int)})
    return found.assign(place=found["identical"].rank(ascending=False, method="min").astype(int)).reset_index(drop=True)
