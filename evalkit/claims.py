"""Hold the numbers that a paper's prose prints against computed tables.

A claim is a row of ``data/published``: the sentence that prints it, the printed value, and where its counterpart
stands among the computed tables. So what is compared with what can be read, and checked, as data.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from evalkit import DataError

_COMPARE = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "=": operator.eq, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*$")
_AGGREGATES = {"min": "min", "max": "max", "median": "median", "sum": "sum", "distinct": "nunique"}


def look_up(claims: pd.DataFrame, tables: Mapping[str, pd.DataFrame], *, data: pd.DataFrame) -> pd.DataFrame:
    """Look up the computed counterpart of each printed value.

    claims: columns paper, item, cell, printed, table, where, column, how, remark. ``table`` names one of ``tables``
    (empty: the claim cannot be checked, and ``remark`` says why). ``where`` selects its rows by conditions joined
    with ``;`` such as ``pair=eng-jpn; score>=98``. ``how`` reduces ``column`` to one value: only (one row must be
    left), min, max, median, sum, distinct (how many values), count (rows), all or most (``column`` is then a
    condition; the answer is "all" or "not all", "most" or "not most", most being more than half).
    data: the ratings behind the tables; on simulated ones nothing is looked up, for the paper speaks of others.
    Returns paper, item, cell, printed, computed, note; the note is the remark, which ``show.compare`` demands where
    the two differ. Raises DataError naming the claim whose table, column or row is not there.

    >>> claims = pd.DataFrame([{"paper": "P", "item": "4.1", "cell": "lowest", "printed": "52", "table": "usage",
    ...     "where": "annotator=a", "column": "min", "how": "only", "remark": ""}])
    >>> usage = pd.DataFrame({"annotator": ["a", "b"], "min": [52.0, 7.0]})
    >>> look_up(claims, {"usage": usage}, data=usage)["computed"].tolist()
    [52.0]
    """
    if data.attrs.get("source", {}).get("source") == "simulated":
        claims = claims.assign(table="")
    found = []
    for claim in claims.fillna("").to_dict("records"):
        try:
            found.append(_value(claim, tables) if claim["table"] else None)
        except (KeyError, ValueError) as problem:
            raise DataError(f"Claim {claim['item']}, {claim['cell']}: {str(problem).strip(chr(34))}.") from problem
    return claims[["paper", "item", "cell", "printed"]].assign(computed=found, note=claims["remark"])


def unavailable(claims: pd.DataFrame, tables: Iterable[str], *, because: str) -> pd.DataFrame:
    """Mark the claims whose table could not be computed, so that they read ``not reproducible`` with the reason.

    claims: as ``look_up`` wants them. tables: the names that there are (keys, or a mapping by them).

    >>> claims = pd.DataFrame({"table": ["here", "gone"], "remark": ["", ""]})
    >>> unavailable(claims, ["here"], because="File absent.").to_numpy().tolist()
    [['here', ''], ['', 'File absent.']]
    """
    gone = claims["table"].fillna("").ne("") & ~claims["table"].isin(list(tables))
    return claims.assign(table=claims["table"].where(~gone, ""), remark=claims["remark"].where(~gone, because))


def _value(claim: dict[str, str], tables: Mapping[str, pd.DataFrame]) -> Any:
    if claim["table"] not in tables:
        raise KeyError(f"no table is called {claim['table']!r}; there are {', '.join(tables)}")
    rows = tables[claim["table"]]
    for condition in filter(str.strip, claim["where"].split(";")):
        rows = rows[_holds(rows, condition)]
    how, column = claim["how"], claim["column"]
    if how == "count":
        return len(rows)
    if rows.empty:
        raise ValueError(f"no row of {claim['table']} has {claim['where']}")
    if how in ("all", "most"):
        share = _holds(rows, column).mean()
        return how if (share == 1 if how == "all" else share > 0.5) else f"not {how}"
    values = _column(rows, column)
    if how == "only":
        if len(values) != 1:
            raise ValueError(f"{len(values)} rows of {claim['table']} have {claim['where']}, and one is needed")
        return values.iloc[0]
    if how not in _AGGREGATES:
        raise ValueError(f"how={how!r} is not known")
    return values.agg(_AGGREGATES[how])


def _holds(rows: pd.DataFrame, condition: str) -> pd.Series:
    parsed = _CONDITION.match(condition)
    if parsed is None:
        raise ValueError(f"{condition!r} is no condition like 'column=value'")
    name, sign, text = parsed.groups()
    values = _column(rows, name)
    target = float(text) if pd.api.types.is_numeric_dtype(values) and values.dtype != bool else text
    return _COMPARE[sign](values.astype(str) if isinstance(target, str) else values, target)


def _column(rows: pd.DataFrame, name: str) -> pd.Series:
    if name not in rows:
        raise KeyError(f"no column is called {name!r}; there are {', '.join(map(str, rows.columns))}")
    return rows[name]
