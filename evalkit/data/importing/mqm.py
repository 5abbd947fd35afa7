"""Read marked errors, a row per error, as Google's annotations of WMT have them, and the lists of the WMT chat task.

Made with MAROT, rows tell more than errors: systems side by side, times of clicks, attention checks.
"""

import re
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import vocabulary
from evalkit.data.importing.annotated import complete, headed, judged, listed, spans_of
from evalkit.data.importing.judgements import Rows
from evalkit.data.importing.options import Options
from evalkit.data.importing.tables import EXCLUDED, Judgements, Table, constant, mapped_cells
from evalkit.data.importing.vocabulary import ITEM_TYPES, meaning
from evalkit.data.names import plain
from evalkit.data.schemas import UNSTATED
from evalkit.data.typology import spelled

_NONE = re.compile(r"no[- ]?(errors?|issues?|mistakes?)|none|nothing|n/?a|ok|[-–—]|hotw-test", re.ASCII)
_MARKED = re.compile(r"<v>(.*?)</v>", re.DOTALL)
_WHO = ("system", "doc", "segment", "annotator")
_KEY = ("src_lang", "tgt_lang", "pair", "against", *_WHO)
_HEADINGS = vocabulary.lists("mqm")


def calls_none(names: pd.Series) -> pd.Series:
    """Tell which types or severities are words for no error, however they are spelled.

    >>> calls_none(pd.Series(["No-error", "none", "NO ERROR", "noerrors", "n/a", "neutral", None])).tolist()
    [True, True, True, True, True, False, False]
    """
    said = {text: " ".join(str(text).casefold().replace("_", " ").split()) for text in names.dropna().unique()}
    return names.isin([text for text, plainly in said.items() if _NONE.fullmatch(plainly)])


def no_error(error_type: pd.Series, severity: pd.Series) -> pd.Series:
    """Tell which rows mark no error: the severity says so, or the type does without a severity, or both are empty.

    >>> types = pd.Series(["No-error", None, "NONE", "Other", None, "No error"], dtype="str")
    >>> no_error(types, pd.Series([None, None, "neutral", None, "Minor", "Major"], dtype="str")).tolist()
    [True, True, True, False, False, False]
    """
    unsaid = severity.isna() | spelled(severity).eq("neutral")
    empty = error_type.isna() & severity.isna()
    return calls_none(severity) | (calls_none(error_type) & unsaid) | empty


def lacks(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to have an error a row: category and severity besides system, segment and rater."""
    have = {*_names(table, options), *options.values}
    needed = ("system", "segment", "annotator", "category", "severity")
    wanted = [name for name in needed if name not in have]
    scored = any(meaning(name) == "score" for name in table.header) or "score" in options.columns
    if "severity" in have and "category" in wanted and not scored:
        wanted.remove("category")
    return (wanted if len(wanted) < len(needed) else None), "by its headings"


def _names(table: Table, options: Options) -> dict[str, str]:
    """Map the headings; a subcategory that stands alone is a category, and so is a type that is no kind of item."""
    names = headed(table, _HEADINGS, options)
    if "category" not in {*names, *options.values, *options.columns}:
        types = [name for name in table.header if vocabulary.bare(name) == "type"]
        types = [name for name in types if not {cell.casefold() for cell in table.samples(name)} <= {*ITEM_TYPES}]
        if below := names.pop("subcategory", "") or "".join(types[:1]):
            names["category"] = below
    return names


def convert(rows: Rows) -> Judgements:
    """Read errors; those of one judgement may stand anywhere in the file, and one that says nothing takes it along."""
    complete(rows, _names(rows.table, rows.options))
    said, column = rows.names.get("severity", "severity"), rows.column
    category, severity = _joined(column("category"), column("subcategory")), column("severity")
    checks = spelled(severity).eq("hotw-test") | spelled(category).str.startswith("hotw-test")
    rows.reject(np.flatnonzero(checks), said, "is an attention check", EXCLUDED)
    if checks.any():
        met = spelled(category[checks]).eq("found").sum()
        rows.note(f"attention checks (HOTW-test, an error put in on purpose): {met:,} of {checks.sum():,} found")
    none = no_error(category, severity)
    contrary = "is the severity of a row whose category says that there is no error: correct one of them"
    rows.reject(np.flatnonzero(calls_none(category) & ~none), said, contrary)
    if "category" in rows.known:
        empty = "is empty: fill it in, for without its category or severity the judgement has no score"
        rows.reject(np.flatnonzero(category.isna() & ~none), rows.names.get("category", "category"), empty)
    else:
        category = constant(UNSTATED, category.index)
        rows.note(
            "no column says of which category errors are, so none has the weight of its category (--map category=…)"
        )
    _set_alongside(rows)
    _reject_torn(rows)
    marks = _marks(category, severity, column("hypothesis"), column("source"))[~none & ~checks]
    texts = {rows.names[ours] for ours in ("hypothesis", "source") if ours in rows.names}
    rows.cells = rows.cells.assign(**{name: rows.cells[name].str.replace(_MARKED, r"\1", regex=True) for name in texts})
    first = _first(rows.cells, [rows.names[ours] for ours in _KEY if ours in rows.names], ~checks.to_numpy())
    found, marks = judged(rows, marks, made=np.ones(len(category), bool), column=said, first=first)
    if blank := int(found.ratings["errors"].eq(0).sum()):
        rows.note(f"{blank:,} judgements mark no error (No-error or the like, or neither category nor severity)")
    if "metadata" in rows.names:
        found.ratings = _timed(found.ratings, column("metadata"), first)
    found.spans = spans_of(found.ratings, marks, shown=("hit", "against"))
    return found


def _joined(category: pd.Series, below: pd.Series) -> pd.Series:
    """Join categories and subcategories, unless both say the same or one of them nothing.

    >>> _joined(pd.Series(["Fluency", "No-error", None, "Other"]), pd.Series(["Spelling", "No-error", None, "other"]))
    ... # doctest: +NORMALIZE_WHITESPACE
    0    Fluency/Spelling
    1            No-error
    2                 NaN
    3               Other
    dtype: str
    """
    both = category.notna() & below.notna() & spelled(category).ne(spelled(below))
    both &= ~calls_none(category) & ~calls_none(below)
    return category.fillna(below).mask(both, category + "/" + below).astype("str")


def _first(cells: pd.DataFrame, key: list[str], among: np.ndarray) -> np.ndarray:
    """Return for each row the number of the first one of its judgement; rows that name none are alone."""
    place = pd.Series(np.arange(len(cells)))
    rows = cells.loc[among, key].dropna()
    place[rows.index] = place[rows.index].groupby(rows.groupby(key, sort=False).ngroup()).transform("min")
    return place.to_numpy()


def _reject_torn(rows: Rows) -> None:
    """Reject judgements of which an error stands on a line that could not be read; such a score would be too high."""
    table, known = rows.table, [rows.names[ours] for ours in _WHO if ours in rows.names]
    if table.broken:
        rows.note("rows that could not be read may mark errors of judgements that were kept: correct them first")
    places = {name: table.header.index(name) for name in known if name in table.header}
    for row in (row for row in table.broken if max(places.values(), default=0) < len(row.cells)):
        own = [rows.cells[name].eq(plain(row.cells[place])) for name, place in places.items()]
        whose = f"belongs to a judgement whose error on line {row.line} could not be read"
        rows.reject(np.flatnonzero(np.logical_and.reduce(own)), "", whose)


def _marks(category: pd.Series, severity: pd.Series, target: pd.Series, source: pd.Series) -> pd.DataFrame:
    """Find where each error lies: between <v> and </v> in the target or, else, in the source."""
    places = [
        _place(one, "target") or _place(other, "source") or (np.nan, np.nan, "target", None)
        for one, other in zip(target, source)
    ]
    marks = pd.DataFrame({"row": np.arange(len(category)), "category": category, "severity": severity})
    return marks.join(pd.DataFrame(places, columns=["start", "end", "side", "text"]).astype({"text": "str"}))


def _place(text: object, side: str) -> tuple[float, float, str, str] | None:
    """Find the marked stretch of a text, counted in the text without the marks; None where none is marked."""
    mark = _MARKED.search(text) if isinstance(text, str) else None
    if not mark:
        return None
    start = len(_MARKED.sub(r"\1", mark.string[: mark.start()]))
    return float(start), float(start + len(mark[1])), side, mark[1]


# MAROT

_WITH = "_with_"
_MOMENT = r'"(?:timestamp|ts)": *(\d{13})\b'  # in milliseconds: since 2001


def _set_alongside(rows: Rows) -> None:
    """Split names like A_with_B, A beside B on one screen.

    That is what a name means where B is a system of the file, or where clicks went to a second translation (side 2).
    """
    shown = rows.column("system")
    pairs = {str(name): str(name).partition(_WITH)[::2] for name in shown.dropna().unique()}
    known = {*pairs, *(name for name, _ in pairs.values())}
    two = bool(rows.column("metadata").str.contains(r'"side": ?2\b', na=False).any())
    pairs = {name: pair for name, pair in pairs.items() if all(pair) and (two or pair[1] in known)}
    if pairs and "system" in rows.names:
        rows.note(f"systems called A_with_B are A, judged side by side with B (against); of others it is {UNSTATED}")
        rows.cells[rows.names["system"]] = mapped_cells(shown, lambda name: pairs.get(name, (name, ""))[0])
        rows.give(against=mapped_cells(shown, lambda name: pairs.get(name, (name, UNSTATED))[1]))


def _timed(ratings: pd.DataFrame, metadata: pd.Series, first: np.ndarray) -> pd.DataFrame:
    """Take the first and the last moment that the metadata of a judgement's rows name, seconds since 1970.

    Metadata are JSON with ``timestamp`` and, in ``timing``, logs of clicks with ``ts``, in milliseconds.

    >>> said = pd.Series(['{"timestamp": 1725456558000, "timing": {"x": {"log": [{"ts": 1725456544000}]}}}'])
    >>> _timed(pd.DataFrame(index=[0]), said, np.zeros(1, int)).to_numpy().tolist()
    [[1725456544.0, 1725456558.0]]
    """
    there = metadata.str.partition('"deleted_errors"')[0]  # those that were taken back say when they were made
    moments = there.str.extractall(_MOMENT)[0].astype(float) / 1000
    by = moments.groupby(first[moments.index.get_level_values(0)])
    times = {name: own.reindex(ratings.index) for name, own in (("started", by.min()), ("ended", by.max()))}
    return ratings.assign(**times) if len(moments) else ratings


# The WMT chat task: a row per judgement, its errors in lists cut by slashes

_CHAT = vocabulary.lists("chat")
_LISTS = ("severity", "category", "start", "end")
#: What the chat task's annotations have.
CHAT = (*(name for [name] in _CHAT.values() if name != "reference"), "minor", "major", "critical")
_FILE = re.compile(r"annotations\.[\w-]{1,10}\.(?P<system>[^.]{1,80})(\.primary)?\.csv")
_SLASHED = "Date/Time Format"  # the one type whose name has a slash
_OWN_SCORE = (
    "the file's own column mqm: 100 less 100 times the weights (minor 1, major 5, critical 10, neutral 0) per word of "
    "the translation"
)


def convert_chat(rows: Rows) -> Judgements:
    """Read a judgement a row, with the file's own score or, where weights are told, one that is made of the errors."""
    table, told = rows.table, {*rows.options.values, *rows.options.columns}
    if "system" not in told:
        if not (named := _FILE.fullmatch(table.named)):
            raise DataError(f"{table.name} does not say whose translations these are. Pass --value system=NAME.")
        rows.values["system"] = named["system"]
        rows.note(f"systems were read from the names of the files, as {named['system']} of {table.named}")
    if "annotator" not in told:
        rows.values["annotator"] = "unnamed"
        rows.note("the file does not name annotators (annotator is 'unnamed'): nothing can be said about agreement")
    complete(rows, headed(table, _CHAT, rows.options))
    said = pd.DataFrame({ours: rows.column(ours).fillna("") for ours in (*_LISTS, "marked", "hypothesis", "source")})
    marks, broken = listed(map(_listed, said.to_dict("records")), [None] * len(said))
    rows.reject(broken, "severity", "gives lists of different lengths, or places that are none: correct the lists")
    if not rows.options.weights:
        rows.receipt.weights = _OWN_SCORE
        rows.receipt.orientation = "higher is better: 100 less the weights of the errors per word, in percent"
    made = np.full(len(rows.cells), bool(rows.options.weights))
    found, marks = judged(rows, marks, made=made, column="severity")
    found.spans = spans_of(found.ratings, marks)
    return found


def _listed(row: dict[str, str]) -> list[dict[str, Any]] | str:
    """List the errors of a row; its severities where its lists do not agree.

    A marked text stands in the translation or, else, in the source.
    """
    lists = [_parted(row[name]) for name in _LISTS]
    texts = [row["marked"]] if len(lists[0]) == 1 else row["marked"].split("/")
    texts = texts if len(texts) == len(lists[0]) else [""] * len(lists[0])
    if len({*map(len, lists)}) > 1:
        return row["severity"] or row["start"]
    errors = []
    for severity, kind, start, end, text in zip(*lists, texts):
        placed = start.isdecimal() and end.isdecimal()
        within = slice(int(start), int(end)) if placed else slice(0)
        in_source = bool(text) and placed and row["hypothesis"][within] != text == row["source"][within]
        places = {"start_i": int(start), "end_i": int(end) - 1} if placed else {}
        side = "source" if in_source else "target"
        errors.append({"severity": severity, "category": kind, "text": text or None, "side": side} | places)
    return errors


def _parted(cell: str) -> list[str]:
    """Cut a list at its slashes, except that of a name.

    >>> _parted("Grammar/Date/Time Format"), _parted("0/41"), _parted("")
    (['Grammar', 'Date/Time Format'], ['0', '41'], [])
    """
    inner = cell.replace(_SLASHED, _SLASHED.replace("/", "\0"))
    return [part.strip().replace("\0", "/") for part in inner.split("/")] if cell else []
