"""Compare the numbers that papers print with computed ones: one row for ``show.compare`` a printed number.

What is compared with what is data, in ``data/published``, and no code. Tables are transcribed cell by cell
(``sai2023_table8.csv``), and a TOML file a paper (``sai2023.toml``) says where the counterpart of each cell stands
among computed tables: ``compare`` looks it up. A number of the prose is a claim, a line of a list such as
``sai2023_prose.csv``: the sentence that prints it, the printed value, and where its counterpart stands: ``look_up``
looks it up. Each row says where the printed number stands in the transcription (``place``), and what the comparison
rests on (``basis``, one of ``verdicts.BASES``).

A paper's TOML file has a part for printed cells that are looked up alike::

    [[compare]]
    item = "Table 6, r²"            # without it, the column "item" of the printed table
    printed = "licht2022_table6"    # the transcription
    rows = "statistic=r2"           # which of its rows; without it, all
    on = ["method", "direction"]    # columns that name a row in both tables
    spelt = ["method"]              # those of them in which [names] has the computed table's name of a printed one
    values = {printed = "square"}   # printed column -> computed column; a list of columns where nothing is computed
    computed = "audited"            # the computed table, as the caller names it; without it, nothing is computed
    computed_rows = "consistent=True"   # which of its rows; without it, all
    cell = "{method}, r²"           # by default the names of the row and, of several, that of the printed column
    basis = "follows from other printed numbers"
    within = 0.0005                 # what rounded inputs allow around the value; or bounds = ["low", "high"], columns
    note = "Square of the printed r."
    because = "Never printed."      # the note of a cell that has no computed value
    lacking = "scores of systems"   # and what it lacks in a few words
    notes = ["files"]               # lists of notes that some cells have; see below
    gaps = ["models"]               # lists of reasons for which some cells have no value

Every note that holds is said, in the order of the lists, and then the part's own; of reasons the first that holds,
and else the part's own::

    [[notes.files]]
    where = "language=hi|average"   # joined by ";" all must hold; "|": one of these values
    text = "Hindi's references are corrected here."

    [[gaps.models]]
    where = "metric=EA"
    lacking = "needs word vectors"
    because = "Needs word vectors of each language."

Conditions and texts ("{low:.4f}" stands for a value) may name the columns of both tables, those of ``on`` as
``[names]`` has them and of any other that both have the computed one, and ``verdict``, ``cell`` and ``column``, the
printed one.
"""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import pandas as pd

from evalkit import ROOT, DataError, data
from evalkit.data.provenance import merged, source_of
from evalkit.stats.verdicts import as_printed, judge, verdict

#: What every row has. ``lacking``: what keeps a number from being recomputed, in words that one cause always has.
COLUMNS = ["paper", "item", "cell", "printed", "computed", "note", "basis", "lacking", "place"]

#: What a list of misprints has: the table and the cell, what is printed there, and the evidence in a sentence.
MISPRINT = ["table", "cell", "printed", "evidence"]

_COMPARE = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*$")
#: The column of what nothing computes.
_NOTHING = "nothing"
_AGGREGATES = {"min": "min", "max": "max", "median": "median", "sum": "sum", "distinct": "nunique"}


def compare(paper: str, tables: Mapping[str, pd.DataFrame], *, items: str | Iterable[str] = ()) -> pd.DataFrame:
    """Look up the computed counterpart of each cell of a paper's printed tables, as its TOML file says.

    paper: the file's name, such as "sai2023". tables: the computed tables, by the names that the file gives them.
    items: which printed tables; by default all.
    Returns ``COLUMNS`` and, where it is known what rounded inputs allow, low and high. Raises DataError where a table
    or column that the file names is not there, and where several computed rows have one name.

    >>> ours = pd.DataFrame({"metric": ["human"], "min": [0.0], "max": [25.0], "with_words": [0.5]})
    >>> made = compare("sai2023", {"ranges": ours}, items="Table 8")
    >>> made[["cell", "printed", "computed", "lacking"]].head(2).to_numpy().tolist()
    [['Human, min', '0', 0.0, ''], ['COMET, min', '-1.6', None, 'needs a neural model']]
    """
    plan, wanted = _plan(paper), [items] if isinstance(items, str) else list(items)
    parts = [part for part in plan["compare"] if not wanted or part.get("item") in wanted]
    if unknown := set(wanted) - {part.get("item") for part in parts}:
        raise DataError(f"{paper}.toml has no {min(unknown)!r}. Check what the printed table is called there.")
    return pd.concat([_compared(part, plan, tables) for part in parts], ignore_index=True)


def names(paper: str) -> dict[str, str]:
    """Return what print and computed tables call otherwise: printed name -> name in computed tables."""
    return dict(_plan(paper)["names"])


@cache
def _plan(paper: str) -> dict[str, Any]:
    """Read what a paper's file says."""
    path = ROOT / "data" / "published" / f"{paper}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.toml")))
        raise DataError(f"No file says how to compare {paper!r} with print. Choose among {known}.")
    return {"names": {}, "notes": {}, "gaps": {}} | tomllib.loads(path.read_text(encoding="utf-8"))


def _compared(part: dict[str, Any], plan: dict[str, Any], tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Look up the cells of one part."""
    values = part["values"] if isinstance(part["values"], dict) else dict.fromkeys(part["values"], _NOTHING)
    try:
        printed = _chosen(data.published(part["printed"]), part.get("rows", ""))
        both = _beside(printed, part, plan["names"], tables)
        valued = [(name, both.assign(computed=_column(both, ours))) for name, ours in values.items()]
        return pd.concat([_of_column(name, printed, rows, part, plan) for name, rows in valued], ignore_index=True)
    except (KeyError, ValueError) as problem:
        raise DataError(f"{part.get('item', part['printed'])}: {str(problem).strip(chr(34))}.") from problem


def _beside(
    printed: pd.DataFrame, part: dict[str, Any], spelt: dict[str, str], tables: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Put the computed rows beside the printed ones of the same names."""
    on = part["on"]
    table = printed.assign(**{name: printed[name].replace(spelt) for name in part.get("spelt", ())})
    table[_NOTHING] = None
    if "computed" not in part:
        return table
    ours = _chosen(_table(part["computed"], tables), part.get("computed_rows", "")).astype(dict.fromkeys(on, "str"))
    if ours.duplicated(on).any():
        twice = ", ".join(ours.loc[ours.duplicated(on), on].iloc[0])
        raise ValueError(f"several computed rows are called {twice}; name rows by more columns than {', '.join(on)}")
    return table.merge(ours, on=on, how="left", suffixes=("_printed", ""))


def _of_column(
    column: str, printed: pd.DataFrame, both: pd.DataFrame, part: dict[str, Any], plan: dict[str, Any]
) -> pd.DataFrame:
    """Make the rows of one printed column."""
    several = ", {column}" if len(part["values"]) > 1 else ""
    called = part.get("cell") or ", ".join(f"{{{name}}}" for name in part["on"]) + several
    cells = [called.format_map(row | {"column": column}) for row in printed.to_dict("records")]
    judged = [verdict(*pair) for pair in zip(printed[column], both["computed"], strict=True)]
    both = both.assign(column=column, cell=cells, verdict=judged)
    notes, lacking = _explained(both, part, plan)
    words = {"item": part.get("item") or printed["item"], "cell": cells, "basis": part["basis"]}
    made = _rows(printed, column, both["computed"], **words, note=notes, lacking=lacking)
    if "within" in part:
        value = pd.to_numeric(made["computed"])
        return made.assign(low=value - part["within"], high=value + part["within"])
    low_high = zip(("low", "high"), part.get("bounds", ()))
    return made.assign(**{name: _column(both, bound).to_numpy() for name, bound in low_high})


def _rows(printed: pd.DataFrame, column: str, computed: Iterable[Any], **words: Any) -> pd.DataFrame:
    """Make ``COLUMNS`` of the printed numbers of one column.

    printed: with the index of its table, for ``place``. words: item, cell, basis, note, lacking; one or one a row.
    """
    source = source_of(printed)
    values = pd.Series(list(computed), index=printed.index, dtype=object)
    found = pd.DataFrame({"printed": printed[column], "computed": values.where(values.notna(), None)})
    found = found.assign(
        paper=source["origin"].split(", ")[0],
        place=[f"{source['name']}:{index + 2}:{column}" for index in printed.index],
        **words,
    )
    found["lacking"] = found["lacking"].where(found["computed"].isna(), "")
    return found[COLUMNS].reset_index(drop=True)


def _explained(both: pd.DataFrame, part: dict[str, Any], plan: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Write the note of each row, and what it lacks in a few words."""
    own = {key: part.get(key, "") for key in ("because", "lacking")}
    notes = _holding(both, [*_listed(part, plan, "notes"), {"text": part.get("note", "")}])
    gaps = [found[0] for found in _holding(both, [*_listed(part, plan, "gaps"), own])]
    said = []
    for row, of_row, gap in zip(both.to_dict("records"), notes, gaps, strict=True):
        gone = row["verdict"] == "not reproducible"
        texts = [gap["because"]] if gone else [note["text"] for note in of_row]
        said.append(" ".join(text.format_map(row) for text in texts if text))
    return said, [gap["lacking"] for gap in gaps]


def _listed(part: dict[str, Any], plan: dict[str, Any], kind: str) -> list[dict[str, str]]:
    """Gather the notes or gaps of the lists that a part names."""
    return [entry for name in part.get(kind, ()) for entry in plan[kind][name]]


def _holding(both: pd.DataFrame, entries: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    """List for each row the entries whose conditions hold."""
    held = [both.index.isin(_chosen(both, entry.get("where", "")).index) for entry in entries]
    return [[entry for entry, holds in zip(entries, held) if holds[place]] for place in range(len(both))]


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
    words = {name: claims[name] for name in ("item", "cell", "basis", "lacking")}
    return _rows(claims, "printed", found, **words, note=claims["remark"])


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
    rows = _chosen(_table(claim["table"], tables), claim["where"])
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


def _table(name: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    if name not in tables:
        raise KeyError(f"no table is called {name!r}; there are {', '.join(tables)}")
    return tables[name]


def _chosen(rows: pd.DataFrame, where: str) -> pd.DataFrame:
    """Keep the rows in which all conditions hold."""
    for condition in filter(str.strip, where.split(";")):
        rows = rows[_holds(rows, condition)]
    return rows


def _holds(rows: pd.DataFrame, condition: str) -> pd.Series:
    """Tell in which rows a condition such as "score>=98" or "pair=eng-jpn|eng-deu" holds; a gap is the empty text."""
    parsed = _CONDITION.match(condition)
    if parsed is None:
        raise ValueError(f"{condition!r} is no condition like 'column=value'")
    name, sign, text = parsed.groups()
    values = _column(rows, name)
    if pd.api.types.is_numeric_dtype(values) and values.dtype != bool:
        return _COMPARE[sign](values, float(text))
    values = values.astype(object).where(values.notna(), "").astype(str)
    if sign in ("=", "!="):
        return values.isin(text.split("|")) == (sign == "=")
    return _COMPARE[sign](values, text)


def _column(rows: pd.DataFrame, name: str) -> pd.Series:
    if name not in rows:
        raise KeyError(f"no column is called {name!r}; there are {', '.join(map(str, rows.columns))}")
    return rows[name]


def pivot(table: pd.DataFrame, index: str, columns: str, value: str) -> pd.DataFrame:
    """Pivot one column of a transcribed table to numbers, rows and columns in the order of print.

    >>> table = pd.DataFrame({"label": ["b", "a"], "split": "dev", "count": ["1,001", "2"]})
    >>> pivot(table, "label", "split", "count")["dev"].to_dict()
    {'b': 1001, 'a': 2}
    """
    numbers = table.assign(number=pd.to_numeric(table[value].str.replace(",", "")))
    matrix = numbers.pivot(index=index, columns=columns, values="number")
    return matrix.loc[table[index].unique(), table[columns].unique()]


def misprints(found: Iterable[tuple[str, str, str, str]], rows: pd.DataFrame) -> pd.DataFrame:
    """List what print contradicts by itself, columns ``MISPRINT``.

    found: what checks of a paper's own found. rows: of ``compare`` and ``look_up``. What does not come out of other
    printed numbers, or of a definition, is a misprint, too, unless rounding allows it; the row's note is the evidence.
    """
    listed = list(found)
    within_print = rows["basis"].isin(["follows from other printed numbers", "definition"])
    for row in judge(rows[within_print & rows["computed"].notna()]):
        if row["verdict"] == "differs" and "reachable" not in row:
            place = f"section {row['item']}" if row["item"][0].isdigit() else row["item"]
            evidence = f"{as_printed(row['computed'], row['printed'])}: {row['note']}"
            listed.append((place, row["cell"], row["printed"], evidence))
    return pd.DataFrame(listed, columns=MISPRINT)
