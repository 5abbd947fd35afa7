"""Compare the numbers that papers print with computed ones: one row for ``show.compare`` a printed number.

Tables are transcribed cell by cell in ``data/published``. A number of the prose is a claim: the sentence that prints
it, the printed value, and where its counterpart stands among the computed tables. So what is compared with what can
be read, and checked, as data. Each row says where the printed number stands in the transcription (``place``), and
what the comparison rests on (``basis``, one of ``verdicts.BASES``).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import merged, source_of

#: What every row has. ``lacking``: what keeps a number from being recomputed, in words that one cause always has.
COLUMNS = ["paper", "item", "cell", "printed", "computed", "note", "basis", "lacking", "place"]

_COMPARE = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*$")
_AGGREGATES = {"min": "min", "max": "max", "median": "median", "sum": "sum", "distinct": "nunique"}


def rows(
    printed: pd.DataFrame,
    column: str,
    *,
    computed: Sequence[Any] | pd.Series | np.ndarray | None = None,
    item: str | Sequence[str] | pd.Series,
    cell: Sequence[str] | pd.Series,
    basis: str | Sequence[str],
    note: str | Sequence[str] = "",
    lacking: str | Sequence[str] = "",
) -> pd.DataFrame:
    """Make a row for ``show.compare`` of each printed number of one column.

    printed: rows of a table from ``data.published``, with its index, which says where each stands. computed: a value
    for each, in the same order; None where nothing was computed. The other arguments: one for all rows, or one each.
    ``lacking`` is dropped where there is a computed value.
    Returns ``COLUMNS``. Raises DataError where ``printed`` has lost its provenance.

    >>> from evalkit import data
    >>> table = data.published("licht2022_table6").head(1)
    >>> made = rows(table, "printed", computed=[0.8969], item="Table 6", cell=["baseline"], basis="definition")
    >>> made[["paper", "printed", "computed", "place"]].to_numpy().tolist()
    [['Licht et al. 2022', '.897', 0.8969, 'licht2022_table6:2:printed']]
    """
    source = source_of(printed)
    values = pd.Series([None] * len(printed) if computed is None else list(computed), dtype=object)
    found = pd.DataFrame({"printed": printed[column].to_numpy(), "computed": values.where(values.notna(), None)})
    found = found.assign(
        paper=source["origin"].split(", ")[0],
        **{
            name: given if isinstance(given, str) else list(given)
            for name, given in {"item": item, "cell": cell, "note": note, "basis": basis, "lacking": lacking}.items()
        },
        place=[f"{source['name']}:{index + 2}:{column}" for index in printed.index],
    )
    return found.assign(lacking=found["lacking"].where(found["computed"].isna(), ""))[COLUMNS]


def compare_with_print(
    printed: pd.DataFrame,
    computed: pd.DataFrame,
    *,
    item: str,
    on: Sequence[str],
    values: Mapping[str, str],
    basis: str,
    note: Mapping[tuple[str, ...], str] | str = "",
    absent: str = "",
    lacking: str = "",
    bounds: tuple[str, str] | None = None,
) -> pd.DataFrame:
    """Compare the cells of a printed table with those of a computed one: a row for ``show.compare`` each.

    printed: rows of a table from ``data.published``. on: columns that name a row in both. values: column of
    ``printed`` -> column of ``computed``. note: why a cell may differ, one for all or by the values of ``on``, with ()
    for those not listed; a column ``note`` of ``computed`` goes before it. absent, lacking: note and few words for
    cells without a computed value; columns ``absent`` and ``lacking`` of ``computed`` go before them. bounds: columns
    of ``computed`` with the lowest and highest value that rounded inputs allow, which become low and high.
    Returns ``COLUMNS``. Raises DataError where ``printed`` has lost its provenance, and where ``on`` names several
    computed rows.

    >>> from evalkit import data
    >>> table, ours = data.published("licht2022_table6").head(2), pd.DataFrame({"direction": ["X-EN"], "r": [0.9]})
    >>> made = compare_with_print(table, ours, item="Table 6", on=["direction"], values={"printed": "r"},
    ...     basis="recomputed from data", absent="Never released.", lacking="annotations")
    >>> made[["cell", "computed", "note", "lacking"]].to_numpy().tolist()
    [['X-EN', 0.9, '', ''], ['EN-X', None, 'Never released.', 'annotations']]
    """
    key = list(on)
    if computed.duplicated(key).any():
        twice = ", ".join(map(str, computed.loc[computed.duplicated(key), key].iloc[0]))
        raise DataError(f"{item}: several computed rows are called {twice}. Name rows by more columns than {key}.")
    table = printed[key].merge(computed, on=key, how="left")
    notes = note if isinstance(note, Mapping) else {(): note}
    why = _first(table, "note", [notes.get(tuple(row), notes.get((), "")) for row in table[key].to_numpy()])
    missing, words = _first(table, "absent", absent), _first(table, "lacking", lacking)
    parts = []
    for theirs, ours in values.items():
        remarks = why.where(table[ours].notna() | missing.eq(""), missing)
        cell = printed[key].agg(", ".join, axis=1) + (f", {theirs}" if len(values) > 1 else "")
        laid = {"computed": table[ours], "item": item, "cell": cell, "basis": basis, "note": remarks, "lacking": words}
        low_high = {name: table[column] for name, column in zip(("low", "high"), bounds or ())}
        parts.append(rows(printed, theirs, **laid).assign(**low_high))
    return pd.concat(parts, ignore_index=True)


def listed(
    printed: pd.DataFrame,
    column: str,
    *,
    item: str | pd.Series,
    on: Sequence[str],
    because: str,
    lacking: str,
    basis: str = "recomputed from data",
) -> pd.DataFrame:
    """List the printed numbers of a column that nothing here can compute, a row for ``show.compare`` each.

    on: columns that name a row. because, lacking: the reason in a sentence, and in a few words. basis: what a
    comparison would rest on.

    >>> from evalkit import data
    >>> table = data.published("licht2022_table4").head(1)
    >>> made = listed(table, "training_size", item="Table 4", on=["language"], because="No corpora.", lacking="corpora")
    >>> made[["cell", "computed", "note"]].to_numpy().tolist()
    [['Amharic', None, 'No corpora.']]
    """
    cell = printed[list(on)].agg(", ".join, axis=1)
    return rows(printed, column, item=item, cell=cell, basis=basis, note=because, lacking=lacking)


def _first(table: pd.DataFrame, column: str, otherwise: str | Sequence[str]) -> pd.Series:
    """Take a column where the table has it and it says something, and else what stands in."""
    fallen = pd.Series(otherwise, index=table.index, dtype=object)
    return table[column].where(table[column].fillna("").ne(""), fallen) if column in table else fallen


def look_up(
    claims: pd.DataFrame, tables: Mapping[str, pd.DataFrame], *, data: pd.DataFrame | Iterable[pd.DataFrame]
) -> pd.DataFrame:
    """Look up the computed counterpart of each printed value.

    claims: rows of a list of claims from ``data.published``, with columns paper, item, cell, printed, table, where,
    column, how, remark, basis, lacking. ``table`` names one of ``tables`` (empty: the claim cannot be checked, and
    ``remark`` says why, ``lacking`` in a few words). ``where`` selects its rows by conditions joined
    with ``;`` such as ``pair=eng-jpn; score>=98``. ``how`` reduces ``column`` to one value: only (one row must be
    left), min, max, median, sum, distinct (how many values), count (rows), all, most or some (``column`` is then a
    condition; the answer is "all" or "not all", and so on; most being more than half, some at least one).
    data: the ratings behind the tables, one table or several. Where one is simulated, nothing is looked up, for the
    paper speaks of others.
    Returns ``COLUMNS``; the note is the remark, which ``show.compare`` demands where the two differ.
    Raises DataError naming the claim whose table, column or row is not there, and where ``claims`` or ``data`` have
    lost their provenance.

    >>> from evalkit import data
    >>> ratings = data.published("licht2022_table5")
    >>> claims = data.published("stanchev2020_claims").head(1)
    >>> claims = claims.assign(table="ties", where="metric=a", column="kept", how="only")
    >>> ties = pd.DataFrame({"metric": ["a", "b"], "kept": ["1", "7"]})
    >>> look_up(claims, {"ties": ties}, data=ratings)[["computed", "place"]].to_numpy().tolist()
    [['1', 'stanchev2020_claims:2:printed']]
    """
    claims = claims.fillna("")
    if merged(data)["source"] == "simulated":
        claims = claims.assign(table="")
    found = []
    for claim in claims.to_dict("records"):
        try:
            found.append(_value(claim, tables) if claim["table"] else None)
        except (KeyError, ValueError) as problem:
            raise DataError(f"Claim {claim['item']}, {claim['cell']}: {str(problem).strip(chr(34))}.") from problem
    named = {"item": claims["item"], "cell": claims["cell"], "basis": claims["basis"], "note": claims["remark"]}
    return rows(claims, "printed", computed=found, lacking=claims["lacking"], **named)


def unavailable(claims: pd.DataFrame, tables: Iterable[str], *, because: str, lacking: str) -> pd.DataFrame:
    """Mark the claims whose table could not be computed, so that they read ``not reproducible`` with the reason.

    claims: as ``look_up`` wants them. tables: the names that there are (keys, or a mapping by them). because, lacking:
    the reason in a sentence, and in a few words.

    >>> claims = pd.DataFrame({"table": ["here", "gone"], "remark": ["", ""], "lacking": ["", ""]})
    >>> unavailable(claims, ["here"], because="File absent.", lacking="a file").to_numpy().tolist()
    [['here', '', ''], ['', 'File absent.', 'a file']]
    """
    gone = claims["table"].fillna("").ne("") & ~claims["table"].isin(list(tables))
    marks = {"table": "", "remark": because, "lacking": lacking}
    return claims.assign(**{column: claims[column].where(~gone, value) for column, value in marks.items()})


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
    if how in ("all", "most", "some"):
        share = _holds(rows, column).mean()
        return how if {"all": share == 1, "most": share > 0.5, "some": share > 0}[how] else f"not {how}"
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
