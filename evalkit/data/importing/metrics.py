"""Automatic scores of the outputs that people judged: known by name, taken out of columns, kept apart from people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing import numbers, vocabulary, wall, writing
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Part, Receipt
from evalkit.data.importing.tables import Judgements, Table
from evalkit.data.importing.vocabulary import bare, is_metric, words

#: What names an item of a campaign, whoever scores it.
KEY = ["src_lang", "tgt_lang", *schemas.ITEM, "item_type"]
NAMED = KEY[:-1]
#: Columns of the table of judges and metrics beside those of ratings. kind: judge or metric. better: higher or lower.
#: level: segment, or system for a score of a whole system.
EXTRA = ("kind", "better", "level")
#: What stands for document and segment where a whole system is scored.
WHOLE = "*"
#: Kinds of items whose text is the system's own, first what one item's score is filed under.
_OWN = ("system", "reference", "calibration", "repeat")
#: Formats in which a row of the file is one output, and the line of a judgement is that row's.
_READ = ("csv", "xsts")
_MOSTLY = 0.8  # of the filled cells of a column must be numbers before it may be a metric's


@dataclass(frozen=True, eq=False)
class Metric:
    """One metric's scores. scores: the columns ``KEY`` and score, an item a row. told: where they come from, in words.

    systems: scores of whole systems, with src_lang, tgt_lang, system and score; None where there are none.
    """

    name: str
    lower: bool
    scores: pd.DataFrame
    told: str
    systems: pd.DataFrame | None = None


@dataclass(frozen=True)
class Ways:
    """What the user says of which way metrics are better. lower: of each; otherwise: where nothing else says it.

    ask: how the user says it, but for the sign.
    """

    lower: Mapping[str, bool] = field(default_factory=dict)
    otherwise: bool | None = None
    ask: str = ""

    def of(self, name: str, values: np.ndarray, *, told: bool | None = None, kept: bool = False) -> tuple[bool, str]:
        """Tell whether lower is better by a metric, and how that is known.

        values: its scores, NaN where there is none. told: what its heading says. kept: they stand in mt-metrics-eval's
        layout, which keeps scores so that higher is better.
        Raises DataError that asks, where nothing says it.

        >>> scores, ways = np.array([1.0, 4.0]), Ways()
        >>> ways.of("TER", scores), ways.of("MetricX-23", -scores)[0], ways.of("COMET", scores)[0]
        ((True, 'lower is better, because its name says errors'), False, False)
        """
        told = self.lower.get(name, told)
        if told is None:
            there = values[np.isfinite(values) & (values != 0)]
            negative = bool(there.size) and float(np.median(there)) < 0
            errors = any(one in bare(name) for one in vocabulary.ordered("metrics_of_errors"))
            errors |= vocabulary.tendency(name) in ("penalty", "rank")
            if errors and "mbr" not in words(name):  # decoding by a metric's expected value: a gain
                turned = "its name says errors, and most of its scores are negative, so they were turned"
                why = f"higher is better: {turned}" if negative else "lower is better, because its name says errors"
                return not negative, why
            if kept:
                return False, "higher is better, as mt-metrics-eval keeps scores"
            if is_metric(name) and not ("mqm" in words(name) and not negative):
                return False, "higher is better, by its name"
            told = self.otherwise
        if told is None:
            ask = self.ask or f"--metric {name}"
            raise DataError(
                f"Nothing says whether higher or lower scores of {name} are better. Write {ask}+ where higher is "
                f"better, {ask}- where lower is."
            )
        return told, f"{'lower' if told else 'higher'} is better, as told"


def signed(text: str) -> tuple[str, bool | None]:
    """Part a name from the sign after it: + for higher, - for lower is better; a well-known name keeps its signs.

    >>> signed("ter-"), signed("quality+"), signed("chrF++"), signed("comet")
    (('ter', True), ('quality', False), ('chrF++', None), ('comet', None))
    """
    if text[-1:] in ("+", "-") and text[:-1].strip() and text[-2:] != "++":
        return text[:-1].strip(), text.endswith("-")
    return text, None


def signs(told: Sequence[str]) -> dict[str, bool]:
    """Say which way metrics are better whose names ``--metric`` gives with a sign, wherever their scores are.

    >>> signs(["ter-", "quality+", "comet"])
    {'ter': True, 'quality': False}
    """
    return {name: lower for name, lower in map(signed, told) if lower is not None}


# Items


def items_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """List what people judged, an item a row, under the first of its kinds; degraded items are other texts."""
    own = ratings.loc[ratings["item_type"].isin(_OWN), KEY].drop_duplicates()
    own.attrs = {}  # pandas copies them deeply at every step, which takes a tenth of the time
    if own["item_type"].nunique() < 2:
        return own
    order = own["item_type"].map({kind: place for place, kind in enumerate(_OWN)})
    return own.assign(_order=order).sort_values("_order", kind="stable").drop_duplicates(NAMED).drop(columns="_order")


def one_score(scored: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Give each item the mean of its scores; items without any are left out. scored: ``NAMED`` and score."""
    own = scored if "item_type" not in scored else scored[scored["item_type"].isin(_OWN)]
    means = own.groupby(NAMED, sort=False)["score"].mean().reset_index()
    return items.merge(means, on=NAMED, how="inner")


# Columns of the people's own file


@dataclass(frozen=True)
class Wanted:
    """A column that the user calls a metric's: what it is called, its heading, and which way is better, if told."""

    name: str
    column: str
    lower: bool | None


def wanted(told: Sequence[str], header: Sequence[str]) -> list[Wanted]:
    """Find the columns of ``--metric`` among the headings; those that are not there are left out.

    >>> wanted(["COMET=wmt22-comet", "ter-", "bleu"], ["ter", "wmt22-comet"])
    [Wanted(name='COMET', column='wmt22-comet', lower=None), Wanted(name='ter', column='ter', lower=True)]
    """
    columns = []
    for text in told:
        name, _, rest = text.partition("=") if text not in header and "=" in text else ("", "", text)
        column, lower = (rest, None) if rest in header else signed(rest)
        if column in header:
            columns.append(Wanted(name.strip() or column, column, lower))
    return columns


def taken(told: Sequence[str], header: Sequence[str]) -> set[str]:
    """Name the headings that are metrics', not people's."""
    return {one.column for one in wanted(told, header)} if told else set()


def of_columns(parts: Sequence[Part], formats: Sequence[str], options: Options, receipt: Receipt) -> list[Metric]:
    """Take the metrics out of people's files, and those of earlier imports among them.

    formats: of each part. The receipt says which columns may be metrics', too.
    Raises DataError where a file's rows are not one output each.
    """
    told, metrics = options.metric_columns, list[Metric]()
    for (table, found), kind in zip(parts, formats, strict=True):
        for name in _unclaimed(table, told):
            ask = f"--metric {name!r}" if " " in name else f"--metric {name}"
            if name == found.names.get("score") or name in found.parts:
                receipt.note(
                    f"{table.name}: {name} was read as people's scores, though it has a metric's name. Are they?"
                )
            else:
                receipt.note(f"{table.name}: the column {name} may be an automatic score; it was not used. Pass {ask}")
        if taken(told, table.header):
            if kind not in _READ:
                raise DataError(
                    f"{table.name} has the format {kind}, of which --metric reads no column. Write these scores as a "
                    "table with the columns system, doc, segment and score, and pass it as --metrics."
                )
            metrics += [_of_column(table, found, one, options, receipt.note) for one in wanted(told, table.header)]
        metrics += found.metrics
    by_name: dict[str, list[Metric]] = {}
    for metric in metrics:
        by_name.setdefault(metric.name, []).append(metric)
    return [_joined(own) for own in by_name.values()]


def _unclaimed(table: Table, told: Sequence[str]) -> list[str]:
    """Name the columns that have the name of a metric and hold numbers, and that nobody called a metric's."""
    left = [name for name in table.header if name not in taken(told, table.header) and is_metric(name)]
    return [name for name in left if numbers.is_numeric(table.cells[name].dropna().head(200).tolist(), _MOSTLY - 1e-9)]


def _of_column(table: Table, found: Judgements, one: Wanted, options: Options, note: Callable[[str], None]) -> Metric:
    """Read the metric of a column: one score an item."""
    origin = table.name
    if found.role == "system":
        raise DataError(
            f"{origin}: a row holds outputs of several systems, so {one.column} cannot be the score of one. Write "
            "these scores as a table with the columns system, segment and score, and pass it as --metrics."
        )
    cells = table.cells[one.column]
    values, wrong = numbers.read(cells, options.decimal, typed=table.typed)
    bad = [place for place, reason in wrong.items() if reason != numbers.MISSING]
    if not np.isfinite(values).any():
        raise DataError(f"{origin}: the column {one.column} holds no number. Correct --metric {one.column}.")
    if bad:
        first = f"line {cells.index[bad[0]]}, {cells.iloc[bad[0]][:40]!r}"
        note(f"{origin}: {len(bad):,} cells of {one.column} are no numbers and were left empty (first: {first})")
    lower, why = Ways().of(one.name, values, told=one.lower)
    scores = pd.Series(values, cells.index).reindex(found.ratings.index).to_numpy()
    every = found.ratings[KEY].assign(score=scores).dropna(subset="score")
    unlike = int(every.groupby(KEY, observed=True)["score"].nunique().gt(1).sum())
    if unlike:
        note(f"{one.name} has different scores in rows of the same output: of {unlike:,}, the mean stands")
    items = items_of(found.ratings)
    scored = one_score(every, items)
    where = f"the column {one.column} of {origin}" if one.name != one.column else f"a column of {origin}"
    return Metric(one.name, lower, scored, f"{one.name}: {where}, {len(scored):,} of {len(items):,} items; {why}")


def _joined(parts: list[Metric]) -> Metric:
    """Make one metric of what it has in several files. Raises DataError where they do not agree which way is better."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if len({part.lower for part in parts}) > 1:
        raise DataError(
            f"{first.name}: lower is better in some files, by their scores, and higher in others. Say which: --metric "
            f"{first.name}+ or --metric {first.name}-."
        )
    scores = pd.concat([part.scores for part in parts], ignore_index=True)
    keys = [name for name in scores if name != "score"]
    scores = scores.groupby(keys, sort=False)["score"].mean().reset_index()
    whole = [part.systems for part in parts if part.systems is not None]
    told = "; ".join(part.told for part in parts)
    return Metric(first.name, first.lower, scores, told, pd.concat(whole, ignore_index=True) if whole else None)


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

    judged: judgements of models, like people's. Raises DataError where two of them have one name.
    """
    names = [*judged["annotator"].unique(), *(metric.name for metric in metrics)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"Two metrics or judges are called {twice}. Rename one: --metric NAME=COLUMN, or its file.")
    parts = [judged.assign(kind="judge", better="higher", level="segment")] if len(judged) else []
    for metric in metrics:
        facts = {"annotator": metric.name, "kind": "metric", "better": "lower" if metric.lower else "higher"}
        parts.append(metric.scores.assign(**facts, level="segment"))
        if metric.systems is not None:
            whole = {"doc": WHOLE, "segment": WHOLE, "item_type": "system", "level": "system"}
            parts.append(metric.systems.assign(**facts, **whole))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*KEY, "annotator", "score", *EXTRA])


def read_apart(out: Path) -> pd.DataFrame | None:
    """Read the table of judges and metrics beside an import's result; None where it has none."""
    place = writing.beside(out, "judges.parquet")
    if not place.is_file() or writing.label_of(place) != writing.label_of(out):
        return None
    return wall.parquet(place)


def of_apart(table: pd.DataFrame, origin: str) -> list[Metric]:
    """Take the metrics of such a table, as ``read_apart`` returns it, for another import."""
    metrics = []
    for name, own in table[table["kind"] == "metric"].groupby("annotator", sort=False):
        by_system = own["level"] == "system"
        scores = own.loc[~by_system, [*KEY, "score"]].reset_index(drop=True)
        whole = own.loc[by_system, ["src_lang", "tgt_lang", "system", "score"]].reset_index(drop=True)
        better = str(own["better"].iloc[0])
        told = f"{name}: {origin}, {len(scores):,} items; {better} is better, as imported before"
        metrics.append(Metric(str(name), better == "lower", scores, told, whole if len(whole) else None))
    return metrics


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
