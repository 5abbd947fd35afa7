"""The shape of each table, with messages that tell a user which line to mend."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.compute as pc

from evalkit import DataError

#: What a judged item is: a system's output, a human reference, a spoilt copy, a second showing, a calibration item.
ITEM_TYPES = ("system", "reference", "degraded", "repeat", "calibration")

#: What tells one segment of a language pair from another, for documents may number their own.
SEGMENT = ("doc", "segment")
#: What tells one judged item of a language pair from another: whose translation of which segment.
ITEM = ["system", *SEGMENT]

#: A number beyond is none here: products of several would not stay finite.
LARGEST = 1e50


def with_pair(ratings: pd.DataFrame) -> pd.DataFrame:
    """Add the language pair as the column ``pair``, printed like ``eng-jpn``."""
    return ratings.assign(pair=ratings["src_lang"] + "-" + ratings["tgt_lang"])


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
    parts = []
    for name, table in tables.items():
        found = function(table, **options)
        parts.append(found.assign(data=name)[["data", *found.columns]])
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True)
class Column:
    """What stands in a column: texts ("str"), names that recur ("category"), or numbers ("float").

    required: every table has it. nullable: cells may be empty. fits: marks the cells that keep to a rule; rule: what is
    wrong with the others, and what to do.
    """

    kind: str = "str"
    required: bool = True
    nullable: bool = False
    fits: Callable[[pd.Series], pd.Series] | None = None
    rule: str = ""


@dataclass(frozen=True)
class Schema:
    """The columns of a table, those that tell one row from another, and what to do about two rows that are the same."""

    columns: dict[str, Column]
    key: tuple[str, ...]
    remedy: str

    def also(self, columns: dict[str, Column] | None = None, *, key: Sequence[str] = ()) -> "Schema":
        """Return the schema with more columns, and more that tell rows apart."""
        return Schema(self.columns | (columns or {}), (*self.key, *key), self.remedy)


def one_of(choices: Sequence[str], rule: str, kind: str = "str", *, required: bool = True) -> Column:
    """Describe a column in which one of a few words stands."""
    return Column(kind, required, fits=lambda cells: cells.isin(choices), rule=rule)


_NAME = Column()  # text, so that a system called 007 stays a name
_MAYBE = Column(required=False)
_TEXT = Column(required=False, nullable=True)
_NUMBER = Column("float", required=False, nullable=True)
#: One row per judgement. ``key`` names the columns that tell one judgement from another. ``criterion``: what was
#: judged, where there are several. ``against``: the other system on the screen, where two were shown together.
#: ``probability``: that the screen showed the system, given what was known before, where scores had a say in that.
RATINGS = Schema(
    dict.fromkeys(("src_lang", "tgt_lang", "system", "doc", "segment", "annotator"), _NAME)
    | {"score": Column("float"), "item_type": one_of(ITEM_TYPES, f"is none of {', '.join(ITEM_TYPES)}. Correct it")}
    | {"hit": _MAYBE, "started": _NUMBER, "ended": _NUMBER}
    | dict.fromkeys(("source", "hypothesis", "reference", "post_edit"), _TEXT)
    | {"criterion": _MAYBE, "against": _MAYBE}
    | {
        "probability": Column(
            "float",
            required=False,
            nullable=True,
            fits=lambda cells: cells.gt(0) & cells.le(1),
            rule="is no probability above 0 and up to 1. Correct it",
        )
    },
    (
        *("src_lang", "tgt_lang", "system", "doc", "segment", "annotator"),
        *("item_type", "hit", "started", "criterion", "against"),
    ),
    "Drop one of them, or set the item_type of the second showing to 'repeat'.",
)


#: What a comparison of two translations, ``a`` and ``b``, may come to, and what may be known of which stood first.
PREFERENCES, FIRST = ("a", "b", "tie"), ("a", "b", "unknown")

_COMPARED = ("src_lang", "tgt_lang", "system_a", "system_b", "doc", "segment", "annotator")
#: One row per comparison of two translations of a segment: ``preference`` is the better one, or a tie. ``first`` stood
#: left, above or before. Comparisons with one ``screen`` were made together: a ranking of k translations is k(k - 1)/2
#: rows that share one, and these are no independent answers. ``score_a``, ``score_b``: scores on that screen.
COMPARISONS = Schema(
    dict.fromkeys(_COMPARED, _NAME)
    | {"preference": one_of(PREFERENCES, "is none of a, b, tie. Correct it")}
    | {"first": one_of(FIRST, "is none of a, b, unknown. Correct it", required=False)}
    | {"score_a": _NUMBER, "score_b": _NUMBER, "screen": _MAYBE, "criterion": _MAYBE}
    | {"started": _NUMBER, "ended": _NUMBER}
    | dict.fromkeys(("source", "reference", "hypothesis_a", "hypothesis_b"), _TEXT),
    (*_COMPARED, "criterion", "screen"),
    "Drop one of them, or give the second showing a screen of its own.",
)

_REPEATED = Column("category")  # names that recur by the hundred thousand, each kept once
_OF_SYSTEM = ("src_lang", "tgt_lang", "system")
#: The score that a metric, or the human judgement it is held against, gives a whole system. ``reference``: the
#: reference translation that a metric read, "src" where it read none.
SYSTEM_SCORES = Schema(
    dict.fromkeys((*_OF_SYSTEM, "metric"), _REPEATED)
    | {"score": Column("float"), "reference": Column("category", required=False)},
    ("src_lang", "tgt_lang", "metric", "reference", *ITEM),
    "A metric gives a translation one score: drop one of them.",
)
#: The same for a translated segment. A score that is missing has no row.
METRIC_SCORES = Schema(
    dict.fromkeys((*_OF_SYSTEM, "doc", "segment"), _REPEATED) | SYSTEM_SCORES.columns,
    SYSTEM_SCORES.key,
    SYSTEM_SCORES.remedy,
)

#: What an error is called whose type or severity its annotator left out.
UNSTATED = "unstated"

_SIDES = ("source", "target")
#: One row per marked error. ``span`` counts the errors of one judgement. ``error_type`` reads "category/subcategory",
#: as "accuracy/omission". ``start`` and ``end`` say where it lies, in ``side`` (the target unless it says "source"),
#: the end excluded; their unit (characters, words) is the data set's. Judgements without errors have no row here.
SPANS = Schema(
    dict.fromkeys((*_OF_SYSTEM, "doc", "segment", "annotator", "span", "error_type", "severity"), _REPEATED)
    | {"start": Column("float", False, True, lambda cells: cells.ge(0), "lies before the text. Correct it")}
    | {"end": _NUMBER, "side": one_of(_SIDES, "is neither source nor target. Correct it", "category", required=False)}
    | {"text": _TEXT},
    ("src_lang", "tgt_lang", *ITEM, "annotator", "span"),
    "Number the errors of a judgement: drop one of them.",
)

#: One row per HIT: the annotator who did it.
HITS = Schema({"hit": _NAME, "annotator": _NAME}, ("hit",), "A HIT has one annotator: drop one of them.")


def check(
    frame: pd.DataFrame, schema: Schema, *, origin: str, first_line: int = 2, scale: tuple[float, float] | None = None
) -> pd.DataFrame:
    """Return ``frame`` with the types of ``schema``, or say which lines break which rule.

    frame: any index; where the index is named ``line`` it holds the line of each row in its file, otherwise the
    first row stands on ``first_line`` (2 below a header, 1 without). Columns that the schema does not know are kept.
    scale: lowest and highest admissible ``score``; None admits every number below ``LARGEST``.
    Raises DataError with one message per broken rule. Rows are never dropped.

    >>> row = dict.fromkeys(["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"], "x")
    >>> check(pd.DataFrame([row | {"score": 104, "item_type": "system"}]), RATINGS, origin="my.csv", scale=(0, 100))
    Traceback (most recent call last):
    evalkit.DataError: my.csv, line 2, column score: 104 is outside 0-100. Correct it, drop the row, or pass your...
    """
    _check_columns(frame, schema, origin)
    lines = frame.index.to_numpy() if frame.index.name == "line" else first_line + np.arange(len(frame))
    before, problems = frame.reset_index(drop=True), []
    present = {name: column for name, column in schema.columns.items() if name in before}
    typed = {name: _coerced(before[name], column) for name, column in present.items()}
    after = before.assign(**{name: own for name, own in typed.items() if own is not before[name]})
    for name, column in present.items():
        own, empty, fits, rule = after[name], _empty(before[name]), column.fits, column.rule
        if scale is not None and name == "score":
            low, high = scale
            fits = partial(pd.Series.between, left=low, right=high)
            rule = f"is outside {low:g}-{high:g}. Correct it, drop the row, or pass your scale=(low, high)"
        rules = {"is empty. Fill it in, or drop the row": empty} if not column.nullable else {}
        if column.kind == "float":
            rules["is not a number. Correct it, or drop the row"] = own.isna().to_numpy() & ~empty
        if fits:
            rules[rule] = (~fits(own) & own.notna()).to_numpy()
        for told, wrong in rules.items():
            if len(rows := np.flatnonzero(wrong)):
                cell = before[name][rows[0]] if pd.isna(own[rows[0]]) else own[rows[0]]
                place = f"{origin}, line {lines[rows[0]]}, column {name}"
                problems.append(f"{place}: {_value(cell)}{told}{_more(lines, list(rows))}.")
    problems += _duplicates(after, schema, origin, lines)
    if problems:
        raise DataError(*problems)
    return after


def _check_columns(frame: pd.DataFrame, schema: Schema, origin: str) -> None:
    """Refuse a table that lacks a column, has one twice, or has no rows."""
    missing = [name for name, column in schema.columns.items() if column.required and name not in frame.columns]
    found = ", ".join(map(str, frame.columns)) or "none"
    if missing:
        example = f"columns={{{missing[0]!r}: 'your name for it'}}"
        raise DataError(
            f"{origin} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}; it has {found}. "
            f"Add what is missing, or map your own names with {example}."
        )
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{origin} has the column {twice} twice. Rename or remove one of them.")
    if frame.empty:
        raise DataError(f"{origin} has no rows below its column names. Check that the export is complete.")


def _coerced(values: pd.Series, column: Column) -> pd.Series:
    """Turn a column into the schema's type; what is no number below ``LARGEST`` becomes missing."""
    if column.kind == "float":
        counted = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        found = values if counted else pd.to_numeric(values.astype("str"), errors="coerce")  # True is no 1
        numbers = found.to_numpy(float, na_value=np.nan)
        return pd.Series(np.where(np.abs(numbers) < LARGEST, numbers, np.nan), values.index)
    if column.kind == "category":
        named = isinstance(values.dtype, pd.CategoricalDtype) and pd.api.types.is_string_dtype(values.cat.categories)
        return values if named else values.astype("str").astype("category")  # categories are texts
    return _texts(values)


def _texts(values: pd.Series) -> pd.Series:
    return values if values.dtype == "str" else values.astype("str")


def _empty(values: pd.Series) -> np.ndarray:
    """Mark the cells without content."""
    if isinstance(values.dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(values):
        return (values.isna() | values.eq("") if values.dtype == "category" else values.isna()).to_numpy()
    texts = pyarrow.array(_texts(values).array)  # whose comparison takes a tenth of the time of pandas'
    return pc.fill_null(pc.equal(texts, ""), True).to_numpy(zero_copy_only=False)


def _duplicates(frame: pd.DataFrame, schema: Schema, origin: str, lines: np.ndarray) -> list[str]:
    """Describe the first judgement that is there twice, with a count of the others."""
    key = [name for name in schema.key if name in frame.columns]
    rows = np.flatnonzero(frame.duplicated(key))
    if not len(rows):
        return []
    same = frame[key].eq(frame.loc[rows[0], key]) | (frame[key].isna() & frame.loc[rows[0], key].isna())
    first = int(np.flatnonzero(same.all(axis=1))[0])
    place = f"{origin}, line {lines[rows[0]]}, columns {', '.join(key)}"
    return [f"{place}: the same as line {lines[first]}{_more(lines, list(rows))}. {schema.remedy}"]


def _value(value: object) -> str:
    """Print a cell for a message, shortened; an empty cell prints as nothing."""
    if pd.isna(value) or value == "":
        return ""
    value = value.item() if isinstance(value, np.bool_) else value
    text = f"{value:.12g}" if isinstance(value, float | np.number) else repr(value)
    return (text if len(text) <= 60 else f"{text[:57]}...") + " "


def _more(lines: np.ndarray, rows: list[int]) -> str:
    """Count the further lines that break the same rule."""
    return f" (and {len(rows) - 1} more, up to line {lines[rows[-1]]})" if len(rows) > 1 else ""
