"""Import the MQM annotations of the WMT chat task: a row per judgement, its errors in lists cut by slashes."""

import re

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files.rows import Rows
from evalkit.data.importing.formats import Head, Match, describe
from evalkit.data.importing.judgements import Converted, converted
from evalkit.data.importing.kinds import weights
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import Rejection
from evalkit.data.importing.report import Report
from evalkit.data.typology import Scheme, spelled

#: Our name -> the heading.
_NAMES = {
    "src_lang": "source_language",
    "tgt_lang": "target_language",
    "doc": "doc_id",
    "segment": "segment_id",
    "source": "source",
    "hypothesis": "mt",
    "reference": "reference",
    "score": "mqm",
}
_LISTS = {"severity": "severity", "error_type": "typology_error", "start": "start_index", "end": "end_index"}
_COUNTS = {"minor": 1.0, "major": 5.0, "critical": 10.0}
_FILE = re.compile(r"annotations\.[\w-]{1,10}\.(?P<system>[^.]{1,80})(\.primary)?\.csv")
_SLASHED = "Date/Time Format"  # the one type whose name has a slash
_SHOWN = 1e-6  # how far a score may be from what the counts give, by the digits that are written
_OWN = (
    "the file's own column mqm: 100 less 100 times the weights (minor 1, major 5, critical 10, neutral 0) per word of "
    "the translation"
)


def fits(header: list[str]) -> bool:
    """Tell whether headings are those of the chat task's annotations."""
    return {*_LISTS.values(), *_COUNTS, *_NAMES.values(), "error", "nr_words"} - {"reference"} <= {*header}


def convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read a judgement a row, with the file's own score or, where weights are told, one that is made of the errors."""
    names = {ours: theirs for ours, theirs in _NAMES.items() if theirs in match.header} | options.single
    values = _values(head, options, report)
    names = {ours: theirs for ours, theirs in names.items() if ours not in options.values}
    columns.unlike(match.header, {*names.values(), *_LISTS.values()}, origin=head.name)
    describe(report, columns.Columns(names, dict.fromkeys(names, "layout")), match.header)
    found = converted(rows.frame, names, values, options, scale=None, note=report.note, typed=head.typed)
    errors, wrong = _errors(rows.frame.loc[found.ratings.index])
    scheme = weights.resolve(options.weights)
    _weigh(found, errors, wrong, scheme, own=options.weights is None)
    if options.weights:
        report.weights = scheme.describe()
        made = f"{scheme.top:g} less" if scheme.top else "minus"
        report.orientation = f"higher is better: the score is {made} the weights of the errors"
    else:
        report.weights = _OWN
        report.orientation = "higher is better: the score is 100 less the weights of the errors per word, in percent"
        _held(rows.frame.loc[found.ratings.index], found.ratings["score"], report)
    return found


def _values(head: Head, options: Options, report: Report) -> dict[str, str]:
    """Name the system by the file's name, and annotators by nothing, unless the user says otherwise."""
    values = dict(options.values)
    if "system" not in {*values, *options.columns}:
        if not (named := _FILE.fullmatch(head.named)):
            raise DataError(f"{head.name} does not say whose translations these are. Pass --value system=NAME.")
        values["system"] = named["system"]
        report.note(f"systems were read from the names of the files, as {values['system']} of {head.named}")
    if "annotator" not in {*values, *options.columns}:
        values["annotator"] = "unnamed"
        report.note("the file does not name annotators (annotator is 'unnamed'): nothing can be said about agreement")
    return values


def _errors(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[int, str]]:
    """List the errors of all rows, under their lines, and say of which rows the lists do not agree."""
    parts: dict[str, list] = {name: [] for name in ("line", "severity", "error_type", "start", "end", "text")}
    wrong: dict[int, str] = {}
    cells = frame[[*_LISTS.values(), "error"]].astype(object).where(frame.notna(), "")
    for line, (severity, kind, start, end, text) in zip(frame.index, cells.to_numpy()):
        lists = [_cut(severity), _cut(kind), _cut(start), _cut(end)]
        if len({*map(len, lists)}) > 1:
            wrong[int(line)] = "lists another number of severities than of types, starts or ends: correct the row"
            continue
        places = [[_place(cell) for cell in one] for one in lists[2:]]
        parts["line"] += [line] * len(lists[0])
        parts["severity"] += lists[0]
        parts["error_type"] += lists[1]
        parts["start"] += places[0]
        parts["end"] += places[1]
        texts = text.split("/") if len(lists[0]) != 1 else [text]
        parts["text"] += texts if len(texts) == len(lists[0]) else [None] * len(lists[0])
    errors = pd.DataFrame(parts)
    for name in ("severity", "error_type", "text"):
        errors[name] = pd.array(errors[name], dtype="str")
    return errors, wrong


def _cut(cell: str) -> list[str]:
    """Cut a list at its slashes, except that of a name.

    >>> _cut("Grammar/Date/Time Format"), _cut("0/41"), _cut("")
    (['Grammar', 'Date/Time Format'], ['0', '41'], [])
    """
    inner = cell.replace(_SLASHED, _SLASHED.replace("/", "\0"))
    return [part.strip().replace("\0", "/") for part in inner.split("/")] if cell else []


def _place(cell: str) -> float:
    """Read a place in a text; NaN where it is none."""
    return float(cell) if re.fullmatch(r"\d{1,9}", cell, re.ASCII) else np.nan


def _weigh(found: Converted, errors: pd.DataFrame, wrong: dict[int, str], scheme: Scheme, *, own: bool) -> None:
    """Give judgements their errors and, unless they keep the file's own score, a score made of them."""
    errors["weight"] = scheme.weigh(errors["error_type"], errors["severity"])
    for line, severity in errors.loc[errors["weight"].isna() & ~own, ["line", "severity"]].itertuples(index=False):
        wrong.setdefault(int(line), f"{severity} is a severity without a weight: tell all weights with --weights")
    found.rejected += [Rejection(line, "severity", "", reason) for line, reason in wrong.items()]
    found.rejected.sort(key=lambda row: row.line)
    ratings = found.ratings.drop(index=[*wrong])
    errors = errors[errors["line"].isin(ratings.index)]
    judgement = ratings.index.get_indexer(errors["line"])
    ratings["errors"] = np.bincount(judgement, minlength=len(ratings)).astype(float)
    if not own:
        weight = errors["weight"].to_numpy()
        ratings["score"] = scheme.scores(judgement, errors["error_type"], weight, len(ratings))[1] + 0.0
    found.ratings = ratings
    if len(errors):
        found.spans = _spans(errors.drop(columns="weight" if own else []), ratings.iloc[judgement])


def _spans(errors: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """Lay out the errors; ratings: the judgement of each."""
    place = ratings[["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]].reset_index(drop=True)
    number = errors.groupby("line", sort=False).cumcount().add(1).astype("str")
    found = errors.assign(span=number, side=_sides(errors, ratings)).drop(columns="line").reset_index(drop=True)
    found = found.assign(error_type=spelled(found["error_type"]), severity=spelled(found["severity"]))
    order = ["span", "error_type", "severity", "start", "end", "side", "text"]
    return place.join(found[[*order, *(name for name in found if name not in order)]])


def _sides(errors: pd.DataFrame, ratings: pd.DataFrame) -> list[str]:
    """Say whether a marked text stands in the translation or, else, in the source."""
    texts = [ratings[name].fillna("") if name in ratings else [""] * len(ratings) for name in ("hypothesis", "source")]
    sides = []
    for start, end, text, target, source in zip(errors["start"], errors["end"], errors["text"], *texts):
        inside = isinstance(text, str) and not np.isnan(start) and not np.isnan(end)
        place = slice(int(start), int(end)) if inside else slice(0, 0)
        sides.append("source" if inside and target[place] != text == source[place] else "target")
    return sides


def _held(frame: pd.DataFrame, score: pd.Series, report: Report) -> None:
    """Hold the file's scores against its counts of errors."""
    number = frame[[*_COUNTS, "nr_words"]].apply(pd.to_numeric, errors="coerce").astype(float)
    words = number["nr_words"]
    made = 100 - 100 * sum(number[name] * weight for name, weight in _COUNTS.items()) / words.where(words > 0)
    equal, empty = int((made.sub(score).abs() <= _SHOWN).sum()), int((words == 0).sum())
    report.note(
        f"{equal:,} of {len(score):,} scores are what the counts of minor, major and critical errors give; "
        f"{empty:,} are of translations of 0 words, which the file gives 0"
    )
