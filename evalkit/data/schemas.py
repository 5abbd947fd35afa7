"""The shape of each table, as ``schemas.toml`` says it, with messages that tell a user which line to mend."""

import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from evalkit import DataError


@dataclass(frozen=True)
class Column:
    """What stands in a column: texts ("str"), names that recur ("category"), or numbers ("float").

    required: every table has it. nullable: cells may be empty. choices: the only words. low, high: ends of the numbers;
    inclusive: which ends belong to them.
    """

    kind: str = "str"
    required: bool = True
    nullable: bool = False
    choices: Sequence[str] = ()
    low: float = -math.inf
    high: float = math.inf
    inclusive: Literal["both", "right"] = "both"


@dataclass(frozen=True)
class Schema:
    """The columns of a table, those that tell one row from another, and what to do about two rows that are the same."""

    columns: Mapping[str, Column]
    key: Sequence[str]
    remedy: str

    def also(self, columns: Mapping[str, Column] | None = None, *, key: Sequence[str] = ()) -> "Schema":
        """Return the schema with more columns, and more that tell rows apart."""
        return Schema({**self.columns, **(columns or {})}, [*self.key, *key], self.remedy)


def _schema(table: dict[str, Any]) -> Schema:
    """Make a schema of what ``schemas.toml`` says of a table."""
    return Schema({name: Column(**told) for name, told in table["columns"].items()}, table["key"], table["remedy"])


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: A row per judgement; per comparison of two translations; per marked error; per HIT.
RATINGS, COMPARISONS, SPANS, HITS = (_schema(_TABLES[name]) for name in ("ratings", "comparisons", "spans", "hits"))
#: A row per score that a metric gives a system, or a translation.
SYSTEM_SCORES, METRIC_SCORES = (_schema(_TABLES[name]) for name in ("system_scores", "metric_scores"))
#: What a judged item is: a system's output, a human reference, a spoilt copy, a second showing, a calibration item.
ITEM_TYPES = tuple(RATINGS.columns["item_type"].choices)
#: What a comparison of two translations, ``a`` and ``b``, may come to.
PREFERENCES = tuple(COMPARISONS.columns["preference"].choices)
#: What an error is called whose type or severity its annotator left out.
UNSTATED = "unstated"

#: What tells one segment of a language pair from another, for documents may number their own.
SEGMENT = ("doc", "segment")
#: What tells one judged item of a language pair from another: whose translation of which segment.
ITEM = ["system", *SEGMENT]

#: A number beyond is none here: products of several would not stay finite.
LARGEST = 1e50


def with_pair(ratings: pd.DataFrame) -> pd.DataFrame:
    """Add the language pair as the column ``pair``, printed like ``eng-jpn``."""
    return ratings.assign(pair=ratings["src_lang"].astype("str") + "-" + ratings["tgt_lang"].astype("str"))


def of_systems(ratings: pd.DataFrame, item_types: Sequence[str]) -> pd.DataFrame:
    """Keep the judgements of some kinds that are of systems: a second showing counts only as that of a system's output.

    item_types: kinds of items, "repeat" perhaps among them. A name all of whose other judgements are of references or
    degraded items is no system, and its repeats are none of a system's.

    >>> table = pd.DataFrame({"system": ["A", "A", "ref", "ref"],
    ...                       "item_type": ["system", "repeat", "reference", "repeat"]})
    >>> of_systems(table, ["system", "repeat"])["system"].tolist()
    ['A', 'A']
    """
    own = ratings.loc[ratings["item_type"].isin({*item_types} - {"repeat"}), "system"].unique()
    return ratings[ratings["item_type"].isin(item_types) & ratings["system"].isin(own)]


def ranked_types(ratings: pd.DataFrame) -> tuple[str, ...]:
    """Say which kinds of items rank systems: outputs and second showings, or calibration items where that is all."""
    return ("system", "repeat") if ratings["item_type"].eq("system").any() else ("calibration", "repeat")


def scored(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgements of one language pair that score systems and people's translations, and nothing else.

    A reference counts where it has a name of its own; one under a system's name checks annotators.

    >>> table = pd.DataFrame({"system": ["A", "A", "A", "ref"],
    ...                       "item_type": ["system", "degraded", "reference", "reference"]})
    >>> scored(table).index.tolist()
    [0, 3]
    """
    ranked = of_systems(ratings, ranked_types(ratings))
    references = ratings["item_type"].eq("reference") & ~ratings["system"].isin(ranked["system"].unique())
    return ratings[ratings.index.isin(ranked.index) | references]


def segment_key(table: pd.DataFrame) -> tuple[str, ...]:
    """Say which columns name a segment across systems: ``SEGMENT``, or the number alone where there is no ``doc``.

    Some files name a document anew for each system and number segments throughout. These are told by three facts: no
    two systems share a document's segment, they do share numbers, and none has a number in two of its documents,
    though one has several. Then the number alone is the name.

    >>> table = pd.DataFrame({"system": list("AABB"), "doc": list("deev"), "segment": list("1112")})
    >>> segment_key(table), segment_key(table.assign(doc=["a", "b", "c", "d"], segment=list("1212")))
    (('doc', 'segment'), ('segment',))
    """
    if "doc" not in table or "system" not in table:
        return SEGMENT if "doc" in table else ("segment",)
    pair = [name for name in ("src_lang", "tgt_lang") if name in table]
    full = table[[*pair, *ITEM]].drop_duplicates()
    documents = full.drop_duplicates([*pair, "system", "doc"])
    anew = not (full.duplicated([*pair, *SEGMENT]).any() or full.duplicated([*pair, "system", "segment"]).any())
    several = documents.duplicated([*pair, "system"]).any()
    return ("segment",) if anew and several and full.duplicated([*pair, "segment"]).any() else SEGMENT


def segment_names(table: pd.DataFrame) -> pd.Series:
    """Name each row's segment by the columns of ``segment_key``: rows of one name are translations of one sentence.

    >>> segment_names(pd.DataFrame({"system": "A", "doc": ["d", "e", "d"], "segment": "1"})).nunique()
    2
    """
    number = table["segment"].astype("str")
    return number if len(segment_key(table)) == 1 else number + "\t" + table["doc"].astype("str")


def map_tables(
    tables: Mapping[str, pd.DataFrame], function: Callable[..., pd.DataFrame], **options: object
) -> pd.DataFrame:
    """Apply a function to each named table and stack the results under a first column ``data``."""
    parts = {name: function(table, **options) for name, table in tables.items()}
    return pd.concat(parts, names=["data"]).reset_index("data").reset_index(drop=True)


def check(
    frame: pd.DataFrame, schema: Schema, *, origin: str, first_line: int = 2, scale: tuple[float, float] | None = None
) -> pd.DataFrame:
    """Return ``frame`` with the types of ``schema``, or say which lines break which rule.

    frame: any index; where the index is named ``line`` it holds the line of each row in its file, otherwise the
    first row stands on ``first_line`` (2 below a header, 1 without). Columns that the schema does not know are kept.
    scale: lowest and highest admissible ``score``; None admits every number below ``LARGEST``.
    Raises DataError with one message per broken rule, for rows that are there twice where no other rule is broken. Rows
    are never dropped.

    >>> row = dict.fromkeys(["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"], "x")
    >>> check(pd.DataFrame([row | {"score": 104, "item_type": "system"}]), RATINGS, origin="my.csv", scale=(0, 100))
    Traceback (most recent call last):
    evalkit.DataError: my.csv, line 2, column score: 104 is outside 0-100. Correct it, drop the row, or pass your...
    """
    _check_columns(frame, schema, origin)
    lines = frame.index.to_numpy() if frame.index.name == "line" else first_line + np.arange(len(frame))
    before = frame.reset_index(drop=True)
    columns = {name: column for name, column in schema.columns.items() if name in before}
    if scale and "score" in columns:
        columns["score"] = replace(columns["score"], low=scale[0], high=scale[1])
    after = before.assign(**{name: _typed(before[name], column.kind) for name, column in columns.items()})
    problems = []
    for name, column in columns.items():
        for told, broken in _rules(before[name], after[name], column):
            if len(rows := np.flatnonzero(broken)):
                cell = before[name][rows[0]] if pd.isna(after[name][rows[0]]) else after[name][rows[0]]
                place = f"{origin}, line {lines[rows[0]]}, column {name}"
                problems.append(f"{place}: {_value(cell)}{told}{_more(lines[rows])}.")
    key = [name for name in schema.key if name in after]
    if not problems and len(rows := np.flatnonzero(after.duplicated(key))):  # rows without names look alike
        texts = after[key].astype("str")
        first = int(texts.eq(texts.loc[rows[0]]).all(axis=1).argmax())
        place = f"{origin}, line {lines[rows[0]]}, columns {', '.join(key)}"
        problems.append(f"{place}: the same as line {lines[first]}{_more(lines[rows])}. {schema.remedy}")
    if problems:
        raise DataError(*problems)
    return after


def demand(frame: pd.DataFrame, names: Iterable[str], *, origin: str) -> None:
    """Tell all columns at once that a table lacks."""
    if lacking := [name for name in names if name not in frame]:
        there = ", ".join(map(str, frame.columns)) or "none"
        told = f"{origin} lacks the column{'s' * (len(lacking) > 1)} {', '.join(lacking)}; it has {there}"
        raise DataError(f"{told}. Rename columns with table.rename(columns={{'your name': {lacking[0]!r}}}).")


def _check_columns(frame: pd.DataFrame, schema: Schema, origin: str) -> None:
    """Refuse a table that lacks a column, has one twice, or has no rows."""
    demand(frame, [name for name, column in schema.columns.items() if column.required], origin=origin)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{origin} has the column {twice} twice. Rename or remove one of them.")
    if frame.empty:
        raise DataError(f"{origin} has no rows below its column names. Check that the export is complete.")


def _typed(values: pd.Series, kind: str) -> pd.Series:
    """Turn a column into a type; what is no number below ``LARGEST`` becomes missing."""
    if kind == "float":
        counted = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        found = values if counted else pd.to_numeric(values.astype("str"), errors="coerce")  # True is no 1
        numbers = found.to_numpy(float, na_value=np.nan)
        return pd.Series(np.where(np.abs(numbers) < LARGEST, numbers, np.nan), values.index)
    if kind == "category":
        named = isinstance(values.dtype, pd.CategoricalDtype) and pd.api.types.is_string_dtype(values.cat.categories)
        return values if named else values.astype("str").astype("category")  # categories are texts
    return values if values.dtype == "str" else values.astype("str")


def _rules(cells: pd.Series, typed: pd.Series, column: Column) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what is told of cells that break a rule of a column, and which these are."""
    empty, known = (cells.isna() | cells.eq("")).to_numpy(bool), typed.notna().to_numpy()
    if not column.nullable:
        yield "is empty. Fill it in, or drop the row", empty
    if column.kind == "float":
        yield "is not a number. Correct it, or drop the row", ~known & ~empty
    if column.choices:
        yield f"is none of {', '.join(column.choices)}. Correct it", known & ~typed.isin(column.choices).to_numpy()
    if math.isfinite(column.low):
        inside = typed.between(column.low, column.high, inclusive=column.inclusive).to_numpy()
        ends = f"{column.low:g}-{column.high:g}"
        yield f"is outside {ends}. Correct it, drop the row, or pass your scale=(low, high)", known & ~inside


def _value(value: object) -> str:
    """Print a cell for a message, shortened; an empty cell prints as nothing."""
    if pd.isna(value) or value == "":
        return ""
    value = value.item() if isinstance(value, np.bool_) else value
    text = f"{value:.12g}" if isinstance(value, float | np.number) else repr(value)
    return (text if len(text) <= 60 else f"{text[:57]}...") + " "


def _more(lines: np.ndarray) -> str:
    """Count the further lines that break the same rule."""
    return f" (and {len(lines) - 1} more, up to line {lines[-1]})" if len(lines) > 1 else ""
