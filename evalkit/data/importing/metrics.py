"""Automatic scores of the outputs that people judged: columns of their file, tables, mt-metrics-eval's files.

They are matched with people's items, and kept apart from people's scores.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError, nameable
from evalkit.data import languages, mtme, schemas
from evalkit.data.importing import numbers, reading, vocabulary, wall, writing
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import Judgements, Seen, Table
from evalkit.data.importing.vocabulary import bare, is_metric, words
from evalkit.data.mtme import Place
from evalkit.data.names import plain

_PAIR = ["src_lang", "tgt_lang"]
#: What names an item of a campaign, whoever scores it.
NAMED = [*_PAIR, *schemas.ITEM]
KEY = [*NAMED, "item_type"]
#: Columns of the table of judges and metrics beside those of ratings. kind: judge or metric. better: higher or lower.
#: level: segment, or system for a score of a whole system.
EXTRA = ("kind", "better", "level")
#: What stands for document and segment where a whole system is scored.
WHOLE = "*"
#: Kinds of items whose text is the system's own, first what one item's score is filed under.
_OWN = ("system", "reference", "calibration", "repeat")
#: Formats in which a row of the file is one output, and the line of a judgement is that row's.
_READ = ("csv", "xsts")
_NAMES = ("metric", "metrics", "metricname", "scorer")  # headings of a column that names metrics
_AS_TABLE = "a table with the columns system, doc, segment and score"


@dataclass(frozen=True, eq=False)
class Metric:
    """One metric's scores: an item or a system a row, with ``KEY``, score and ``EXTRA``; told: where from, in words."""

    name: str
    scores: pd.DataFrame
    told: str


def _metric(name: str, lower: bool, scores: pd.DataFrame, told: str, level: str = "segment") -> Metric:
    """Make a metric of scores with the columns ``KEY`` and score."""
    facts = {"annotator": name, "kind": "metric", "better": "lower" if lower else "higher", "level": level}
    return Metric(name, scores[[*KEY, "score"]].assign(**facts), told)


# Which way is better


def signed(text: str) -> tuple[str, bool | None]:
    """Part a name from the sign after it: + for higher, - for lower is better; a well-known name keeps its signs.

    >>> signed("ter-"), signed("quality+"), signed("chrF++"), signed("comet")
    (('ter', True), ('quality', False), ('chrF++', None), ('comet', None))
    """
    if text[-1:] in ("+", "-") and text[:-1].strip() and text[-2:] != "++":
        return text[:-1].strip(), text.endswith("-")
    return text, None


def asked(told: Iterable[str], header: Sequence[str] = ()) -> list[tuple[str, str, bool | None]]:
    """Read what ``--metric`` names: a metric, the heading of its column, and whether lower is better, if that is told.

    header: the file's headings, which may themselves end in a sign.

    >>> asked(["COMET=wmt22-comet", "ter-"]), asked(["ter-"], ["ter-"])
    ([('COMET', 'wmt22-comet', None), ('ter', 'ter', True)], [('ter', 'ter-', True)])
    """
    columns = []
    for text in told:
        name, _, column = text.rpartition("=")
        heading, lower = signed(column)
        columns.append((name.strip() or heading, column if column in header else heading, lower))
    return columns


def lower_is_better(
    name: str, values: np.ndarray, told: bool | None, *, otherwise: bool | None = None, kept: bool = False
) -> tuple[bool, str]:
    """Tell whether lower is better by a metric, and how that is known.

    values: its scores, NaN where there is none. told: what the user says; otherwise: the same, where the name says
    nothing. kept: they stand in mt-metrics-eval's layout, which keeps scores so that higher is better.
    Raises DataError that asks, where nothing says it.

    >>> scores = np.array([1.0, 4.0])
    >>> lower_is_better("TER", scores, None)
    (True, 'lower is better, because its name says errors')
    >>> lower_is_better("MetricX-23", -scores, None)[0], lower_is_better("COMET", scores, None)[0]
    (False, False)
    """
    there = values[np.isfinite(values) & (values != 0)]
    negative = bool(there.size) and float(np.median(there)) < 0
    errors = any(one in bare(name) for one in vocabulary.ordered("metrics_of_errors"))
    errors |= vocabulary.tendency(name) in ("penalty", "rank")
    if told is None and errors and "mbr" not in words(name):  # decoding by a metric's expected value: a gain
        turned = "its name says errors, and most of its scores are negative, so they were turned"
        why = f"higher is better: {turned}" if negative else "lower is better, because its name says errors"
        return not negative, why
    if told is None and kept:
        return False, "higher is better, as mt-metrics-eval keeps scores"
    if told is None and is_metric(name) and not ("mqm" in words(name) and not negative):
        return False, "higher is better, by its name"
    told = otherwise if told is None else told
    if told is None:
        raise DataError(
            f"Nothing says whether higher or lower scores of {name} are better. Write --metric {name}+ or --metric "
            f"{name}-; of a report, put the sign behind the file: -p metrics=FILE+."
        )
    return told, f"{'lower' if told else 'higher'} is better, as told"


# Items


def items_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """List what people judged, an item a row, under the first of its kinds; degraded items are other texts."""
    own = ratings[KEY].drop_duplicates()
    own.attrs = {}  # pandas copies them deeply at every step, which takes a tenth of the time
    return pd.concat([own[own["item_type"].eq(kind)] for kind in _OWN]).drop_duplicates(NAMED)


def _among(table: pd.DataFrame, others: pd.DataFrame, by: list[str]) -> np.ndarray:
    """Mark the rows of a table whose names are those of others, too."""
    return pd.MultiIndex.from_frame(table[by]).isin(pd.MultiIndex.from_frame(others[by]))


# Columns of the people's own file


def of_columns(table: Table, found: Judgements, kind: str, options: Options, receipt: Receipt) -> list[Metric]:
    """Take the metrics out of one of people's files, and those that an earlier import of it had.

    kind: its format. The receipt says which columns may be metrics', too.
    Raises DataError where its rows are not one output each.
    """
    columns = [one for one in asked(options.metric_columns, table.header) if one[1] in table.header]
    _tell_unclaimed(table, found, {column for _, column, _ in columns}, receipt)
    if columns and (kind not in _READ or found.role == "system"):
        raise DataError(f"{table.name}: a row is not one output. In place of --metric pass --metrics {_AS_TABLE}.")
    return [*(_of_column(table, found, *column, options, receipt) for column in columns), *found.metrics]


def _tell_unclaimed(table: Table, found: Judgements, claimed: set[str], receipt: Receipt) -> None:
    """Tell of columns that have the name of a metric, and that nobody called a metric's."""
    for name in (name for name in table.header if is_metric(name) and name not in claimed):
        told = f"the column {name} may be an automatic score; it was not used. Pass --metric {shlex.quote(name)}"
        if name == found.names.get("score") or name in found.parts:
            told = f"{name} was read as people's scores, though it has a metric's name. Are they?"
        receipt.note(f"{table.name}: {told}")


def _of_column(
    table: Table, found: Judgements, name: str, column: str, lower: bool | None, options: Options, receipt: Receipt
) -> Metric:
    """Read the metric of a column: one score an item."""
    scores = _numbers(table.cells[column], table.name, typed=table.typed, decimal=options.decimal)
    if scores.isna().all():
        raise DataError(f"{table.name}: the column {column} holds no number. Correct --metric {column}.")
    every = found.ratings[KEY].assign(score=scores.reindex(found.ratings.index)).dropna(subset="score")
    if unlike := int(every.groupby(KEY, observed=True)["score"].nunique().gt(1).sum()):
        receipt.note(f"{name} has different scores in rows of the same output: of {unlike:,}, the mean stands")
    own = every[every["item_type"].isin(_OWN)].groupby(NAMED, sort=False)["score"].mean().reset_index()
    where = f"the column {column} of {table.name}" if name != column else f"a column of {table.name}"
    return _matched(name, own, items_of(found.ratings), {} if lower is None else {name: lower}, where)


def _numbers(cells: pd.Series, origin: str, *, typed: bool, decimal: str | None = None) -> pd.Series:
    """Read the scores of a column, NaN where it says nothing. Raises DataError where a cell is no number."""
    values, wrong = numbers.read(numbers.said(cells), decimal, typed=typed)
    bad = next((place for place, reason in wrong.items() if reason != numbers.MISSING), None)
    if bad is not None:
        where = f"{origin}, line {cells.index[bad]}, column {cells.name}"
        raise DataError(f"{where}: {cells.iloc[bad][:40]!r} is no number. Correct it, or leave the cell empty.")
    return pd.Series(values, cells.index)


def joined(metrics: Sequence[Metric]) -> list[Metric]:
    """Make one metric of all that have one name, as those of several files.

    Raises DataError where they do not agree which way is better, or what an output's score is.
    """
    whole = []
    for name in dict.fromkeys(metric.name for metric in metrics):
        parts = [metric for metric in metrics if metric.name == name]
        scores = pd.concat([part.scores for part in parts], ignore_index=True).drop_duplicates()
        if scores["better"].nunique() > 1:
            raise DataError(f"{name}: lower is better in some files, higher in others. Say --metric {name}+ or -.")
        if scores.duplicated([*KEY, "level"]).any():
            raise DataError(f"Two metrics are called {name}. Rename one: --metric NAME=COLUMN, or its file.")
        whole.append(Metric(name, scores, "; ".join(part.told for part in parts)))
    return whole


# Files of scores


def of_files(
    files: Sequence[str | Path], ratings: pd.DataFrame, told: Sequence[str] = ()
) -> tuple[list[Metric], list[Seen]]:
    """Read files of metrics' scores, or folders of mt-metrics-eval, and match them with what people judged.

    files: paths; a sign behind one tells which way those of its metrics are better of which nothing else tells it.
    ratings: people's judgements. told: names with a sign, + where higher and - where lower is better. Returns the
    metrics, and the files that were read. Raises DataError where a file is not there, or cannot be matched.
    """
    metrics, seen = list[Metric](), list[Seen]()
    items = items_of(ratings) if files else pd.DataFrame()
    for text in map(str, files):
        name, otherwise = (text, None) if Path(text).exists() else signed(text)
        path, ways = nameable(Path(name)), {one: lower for one, _, lower in asked(told) if lower is not None}
        ways |= {} if otherwise is None else {"": otherwise}
        if not path.exists():
            raise DataError(f"{path} is not there. Check the path of the file of metrics.")
        places = mtme.score_files(path)
        seen += [Seen.at(one) for one in [place.path for place in places] or [path]]
        metrics += _of_layout(places, items, ways) if places else _of_table(path, items, ways)
    for one in seen:
        one.hold()
    return metrics, seen


# Tables: a row per output, with one metric's score or a column for each


def _of_table(path: Path, items: pd.DataFrame, ways: Mapping[str, bool]) -> list[Metric]:
    """Read a table of metrics' scores, and match it with people's items by names.

    It has system, segment (and doc, where segments have names in documents) and either metric and score, or columns of
    scores named like their metrics. Raises DataError where it is no such table, no row belongs to an item, or an output
    is scored twice.
    """
    table = reading.table(path, "Correct the file, or write the table of metrics as CSV.")
    cells = table.cells
    names, _ = vocabulary.mapped([*cells], {"annotator": "", "item_type": "", "hit": ""}, origin=path.name)
    if missing := [name for name in ("system", "segment") if name not in names]:
        raise DataError(f"{path.name} has no {' and '.join(missing)}; it has {', '.join(cells)}. Pass {_AS_TABLE}.")
    named = {ours: names[ours] for ours in (*NAMED, "pair") if ours in names}
    keys = pd.DataFrame({ours: cells[column].map(plain, na_action="ignore") for ours, column in named.items()})
    keys = _with_languages(keys, items, path.name)
    free = [name for name in cells if name not in named.values()]
    score, of_metric = names.get("score"), next((name for name in free if bare(name) in _NAMES), None)
    wide = [name for name in free if is_metric(name) or name in ways or signed(name)[1] is not None]
    columns: dict[str, str | pd.Series] = {name: name for name in wide if name != score}
    if score is not None and (of_metric or not columns):
        columns = {score: cells[of_metric] if of_metric else path.name.partition(".")[0]}
    if not columns or (of_metric and (score is None or cells[of_metric].isna().all())):
        raise DataError(
            f"{path.name}: no column says whose scores these are; it has {', '.join(cells)}. Name columns like their "
            "metrics, such as COMET, with + (higher is better) or - behind a name that is not well known."
        )
    read = {name: _numbers(cells[name], path.name, typed=table.typed) for name in columns}
    long = [keys.assign(metric=metric, score=read[name]) for name, metric in columns.items()]
    each = pd.concat(long).groupby("metric", sort=False)
    return [_matched(str(text), own.drop(columns="metric"), items, ways, path.name) for text, own in each]


def _with_languages(keys: pd.DataFrame, items: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Give each row its languages: the table's own, or those of people where they judged one language pair."""
    if "pair" in keys and "src_lang" not in keys:
        pairs = keys["pair"].map(languages.split, na_action="ignore")
        keys = keys.assign(src_lang=pairs.str[0], tgt_lang=pairs.str[1])
    for name in _PAIR:
        there = items[name].unique()
        if len(there) == 1 and (name not in keys or there[0] == languages.UNKNOWN):
            keys[name] = there[0]
        elif name in keys:
            keys[name] = keys[name].map(lambda text: languages.code(text) or text, na_action="ignore")
        else:
            raise DataError(f"{origin} does not say the languages; people judged several. Add src_lang, tgt_lang.")
    return keys.drop(columns="pair", errors="ignore")


def _matched(
    text: str, scored: pd.DataFrame, items: pd.DataFrame, ways: Mapping[str, bool], origin: str, *, order: str = ""
) -> Metric:
    """Match one metric's rows with people's items by names.

    text: its name, perhaps with a sign. order: how lines of mt-metrics-eval's layout got their names.
    """
    name, sign = signed(text)
    scored = scored.dropna()
    if scored.empty:
        raise DataError(f"{origin}: {name} has no score beside the names of an output. Fill it in, or leave it out.")
    by = [column for column in NAMED if column in scored]
    if "doc" not in by and items.duplicated(by).any():
        raise DataError(f"{origin} has no column doc, and people judged segments of one name in several. Add it.")
    if (unlike := scored.groupby(by)["score"].nunique().gt(1)).any():
        again = " ".join(map(str, unlike.idxmax()[2:]))
        raise DataError(f"{origin}: {name} scored {again} more than once, differently. Keep one of the rows.")
    first = scored.drop_duplicates(by)
    matched = items.merge(first, on=by)
    columns = [column for column in by if column not in _PAIR]
    if matched.empty:
        theirs, ours = (", ".join(f"{one} {table[one].iloc[0]!r}" for one in columns) for table in (scored, items))
        raise DataError(
            f"{origin}: none of its {len(scored):,} scores by {name} belongs to an item that people judged. It has "
            f"{theirs}; people have {ours}. Write names as the people's file does."
        )
    values = scored["score"].to_numpy()
    lower, why = lower_is_better(name, values, ways.get(name, sign), otherwise=ways.get(""), kept=bool(order))
    how = f"matched by {order or ', '.join(columns)}; {why}"
    told = f"{name}: {origin}, {len(matched):,} of {len(items):,} items, {how}"
    if left := len(scored) - len(matched):
        told += f"; {left:,} further scores are of nothing that people judged"
    if absent := sorted({*items["system"]} - {*matched["system"]}):
        told += f"; it scores nothing of {', '.join(absent)}"
    more = [] if order else [_further(first, items)]
    return _metric(name, lower, pd.concat([matched, *more], ignore_index=True), told)


def _further(scored: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Keep scores of systems that people judged, of segments on which people judged nothing of them.

    They stand in for judgements (prediction-powered inference), and enter no comparison with people.
    """
    if "doc" not in scored:
        return items.head(0)
    of_system = [*_PAIR, "system"]
    systems = items[items["item_type"].eq("system")]
    own = scored[_among(scored, systems, of_system) & ~_among(scored, items, NAMED)]
    return own.assign(item_type="system")[[*KEY, "score"]]


# mt-metrics-eval's layout: lines in the order of the test set


def _of_layout(places: list[Place], items: pd.DataFrame, ways: Mapping[str, bool]) -> list[Metric]:
    """Read files of the layout that are of people's language pairs.

    Raises DataError where nothing tells which segment a line is of, or a system lacks lines.
    """
    pairs = [*items[_PAIR].drop_duplicates().itertuples(index=False, name=None)]
    own = {place: pair for place in places if (pair := _pair_of(place, pairs))}
    if not own:
        first, judged = places[0], ", ".join(map("-".join, pairs))
        raise DataError(
            f"{first.path.name} {f'is of {first.pair}' if first.pair else 'does not say its language pair'}, and "
            f"people judged {judged}. Name the file like en-de.COMET-refA.seg.score."
        )
    called = mtme.called([place.name for place in own])
    by_segment = {called[place.name] for place in own if place.level == "seg"}
    metrics = list[Metric]()
    for place, pair in own.items():
        name, origin = called[place.name], place.path.name
        scored = mtme.scores(place.path).astype({"system": "str"}).assign(**dict(zip(_PAIR, pair)))
        judged = items[(items[_PAIR] == [*pair]).all(axis=1)]
        if place.level == "seg":
            order, scored = _in_order(place, scored, judged)
            metrics.append(_matched(name, scored, judged, ways, origin, order=order))
        elif name not in by_segment:  # of whole systems, which rest on other texts than people judged
            lower, why = lower_is_better(name, scored["score"], ways.get(name), otherwise=ways.get(""), kept=True)
            whole = scored[scored["system"].isin(judged["system"])].dropna()
            whole = whole.assign(doc=WHOLE, segment=WHOLE, item_type="system")
            told = f"{name}: scores of whole systems only; {why}"
            metrics.append(_metric(name, lower, whole, told, "system"))
    return metrics


def _pair_of(place: Place, pairs: list[tuple[str, str]]) -> tuple[str, str] | None:
    """Say which of people's language pairs a file is of: by its name or folder, or people's only one."""
    stated = (languages.split(place.pair), tuple(languages.in_full(place.pair).split("-"))) if place.pair else ()
    if own := [pair for pair in pairs if pair in stated]:
        return own[0]
    return pairs[0] if len(pairs) == 1 and (not stated or languages.UNKNOWN in pairs[0]) else None


def _in_order(place: Place, table: pd.DataFrame, items: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Name the lines of each system as people name their segments; say how.

    Raises DataError where systems have different numbers of lines, or nothing tells the order, or two ways fit alike.
    """
    origin, counts = place.path.name, table["system"].value_counts()
    if counts.nunique() > 1:
        raise DataError(
            f"{origin}: {counts.index[-1]} has {counts.iloc[-1]:,} lines, {counts.index[0]} {counts.iloc[0]:,}. In "
            "this layout every system has a line for each segment: get the file again."
        )
    line, ways = table.groupby("system", sort=False).cumcount().to_numpy(), []
    for how, keys in _orders(place, int(counts.iloc[0]), items):
        named = table.assign(**keys.iloc[line].reset_index(drop=True))
        there = items.merge(named, on=["system", *keys])
        ways.append(((len(there), int(there["score"].notna().sum())), how, named))  # items with a line, with a score
    best = max((fit for fit, _, _ in ways), default=(0, 0))
    fitting = [(how, named) for fit, how, named in ways if fit == best]
    if len(fitting) == 1 or (fitting and best == (0, 0)):  # where none is people's, that is told of the first
        return fitting[0]
    tried = " or ".join(how for how, _ in fitting) or "none of them"
    raise DataError(
        f"{origin} gives scores in the order of the test set, and nothing tells which line people's segments "
        f"({', '.join(map(repr, items['segment'].unique()[:3]))}) are: {tried}. Put documents/<pair>.docs beside it as "
        f"mt-metrics-eval does, or pass {_AS_TABLE}."
    )


def _orders(place: Place, lines: int, items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """List the ways in which people may name the lines, and the names: by their numbers, or those within documents."""
    docs = mtme.documents_of(place)
    if docs is not None and len(docs) != lines:
        raise DataError(f"{place.pair}.docs has {len(docs):,} lines, {place.path.name} {lines:,}. Get both again.")
    known = docs is not None and docs["doc"].isin(items["doc"]).any()
    numbered = items["segment"].str.fullmatch(r"\d{1,9}").all() and not items.duplicated(["system", "segment"]).any()
    for start in (1, 0):
        number = pd.Series(np.arange(start, start + lines)).astype(str)
        if docs is not None and known:
            within = (docs.groupby("doc").cumcount() + start).astype(str)
            how = f"the order of lines, counted from {start}, as the documents say"
            yield how, pd.DataFrame({"segment": number, "doc": docs["doc"]})
            if not within.equals(number):
                yield f"the order within documents, counted from {start}", docs[["doc"]].assign(segment=within)
        elif numbered and items["segment"].isin(number).all():
            yield f"the order of lines, counted from {start}", pd.DataFrame({"segment": number})


# Kept apart: one table of judges that are models, and of metrics, beside the campaign's ratings


def without_judges(ratings: pd.DataFrame, options: Options, receipt: Receipt, origin: str) -> pd.DataFrame:
    """Leave the judgements of models to a file of their own, and say whose they are."""
    judged = ratings["annotator"].isin([*options.judges, *receipt.judges])
    if absent := [name for name in options.judges if not ratings["annotator"].eq(name).any()]:
        raise DataError(f"--judge {absent[0]!r}: no annotator of {origin} is called that. Write it as the file does.")
    if judged.all():
        raise DataError(f"All annotators of {origin} are automatic judges. Leave out --judge to report on them alone.")
    counts = ratings.loc[judged, "annotator"].value_counts(sort=False)
    receipt.judges = [f"{name} ({count:,} judgements, apart)" for name, count in counts.items()]
    return ratings[~judged]


def apart(judged: pd.DataFrame, metrics: Sequence[Metric]) -> pd.DataFrame:
    """Put what judges said and metrics below one another, with the columns ``EXTRA``.

    judged: judgements of models, like people's, or what was put so before. Raises DataError where two have one name.
    """
    if twice := {*judged["annotator"]} & {metric.name for metric in metrics}:
        raise DataError(f"Two metrics or judges are called {min(twice)}. Rename one: --metric NAME=COLUMN, or a file.")
    before = judged if "kind" in judged else judged.assign(kind="judge", better="higher", level="segment")
    parts = [table for table in (before, *(metric.scores for metric in metrics)) if len(table)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*KEY, "annotator", "score", *EXTRA])


def read_apart(out: Path) -> pd.DataFrame | None:
    """Read the table of judges and metrics beside an import's result; None where it has none."""
    place = writing.beside(out, "judges.parquet")
    same = place.is_file() and writing.label_of(place) == writing.label_of(out)
    return wall.parquet(place) if same else None


def of_apart(table: pd.DataFrame, origin: str) -> list[Metric]:
    """Take the metrics of such a table, as ``read_apart`` returns it, for another import."""
    columns, metrics = [*KEY, "annotator", "score", *EXTRA], table[table["kind"].eq("metric")]
    return [
        Metric(str(name), own[columns], f"{name}: {origin}; {own['better'].iloc[0]} is better, as imported before")
        for name, own in metrics.groupby("annotator", sort=False)
    ]


def source(campaign: dict[str, str], files: Sequence[dict[str, str]]) -> dict[str, str]:
    """Say where judges and metrics come from: the campaign's source, and the files of metrics (name, digest).

    >>> own = {"name": "my", "source": "real", "origin": "my.csv", "digest": "a"}
    >>> source(own, [{"name": "m.csv", "digest": "b"}])
    {'name': 'my-metrics', 'source': 'real', 'origin': 'my.csv, m.csv', 'digest': 'a+b'}
    """
    return campaign | {
        "name": f"{campaign['name']}-metrics",
        "origin": ", ".join([campaign["origin"], *(one["name"] for one in files)]),
        "digest": "+".join([campaign["digest"], *(one["digest"] for one in files)]),
    }
