"""Take automatic scores out of columns of the people's own file: of each row's output, one score an item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.automatic.items import KEY, Metric, items_of, one_score
from evalkit.data.importing.automatic.names import is_metric, orientation, signed
from evalkit.data.importing.cells import numbers

#: Formats in which a row of the file is one output, and the line of a judgement is that row's.
READ = ("csv", "xsts")
_MOSTLY = 0.8  # of the filled cells of a column must be numbers before it may be a metric's


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
    found = []
    for text in told:
        name, _, rest = text.partition("=") if text not in header and "=" in text else ("", "", text)
        column, lower = (rest, None) if rest in header else signed(rest)
        if column in header:
            found.append(Wanted(name.strip() or column, column, lower))
    return found


def signs(told: Sequence[str]) -> dict[str, bool]:
    """Say which way metrics are better whose names ``--metric`` gives with a sign, wherever their scores are.

    >>> signs(["ter-", "quality+", "comet"])
    {'ter': True, 'quality': False}
    """
    return {name: lower for name, lower in map(signed, told) if lower is not None}


def taken(told: Sequence[str], header: Sequence[str]) -> set[str]:
    """Name the headings that are metrics', not people's."""
    return {one.column for one in wanted(told, header)} if told else set()


def of_rows(
    frame: pd.DataFrame,
    ratings: pd.DataFrame,
    told: Sequence[str],
    *,
    origin: str,
    role: str = "",
    decimal: str | None = None,
    typed: bool = False,
    note: Callable[[str], None],
) -> list[Metric]:
    """Read the metrics of a file's rows.

    frame: the file's cells, index ``line``. ratings: its judgements, with the line of each as the index. role: what
    columns of scores are. note: gets what the user should know.
    Raises DataError where a row is not one output, a column has no numbers, or nothing says which way is better.
    """
    found = []
    for one in wanted(told, [*frame.columns]):
        if role == "system":
            raise DataError(
                f"{origin}: a row holds outputs of several systems, so {one.column} cannot be the score of one. "
                "Write these scores as a table with the columns system, segment and score, and pass it as --metrics."
            )
        values, wrong = numbers.read(frame[one.column], decimal, typed=typed)
        bad = [place for place, reason in wrong.items() if reason != numbers.MISSING]
        if not np.isfinite(values).any():
            raise DataError(f"{origin}: the column {one.column} holds no number. Correct --metric {one.column}.")
        if bad:
            first = f"line {frame.index[bad[0]]}, {frame[one.column].iloc[bad[0]][:40]!r}"
            note(f"{origin}: {len(bad):,} cells of {one.column} are no numbers and were left empty (first: {first})")
        lower, why = orientation(one.name, values, told=one.lower)
        scores = pd.Series(values, frame.index).reindex(ratings.index).to_numpy()
        every = ratings[KEY].assign(score=scores).dropna(subset="score")
        unlike = int(every.groupby(KEY, observed=True)["score"].nunique().gt(1).sum())
        if unlike:
            note(f"{one.name} has different scores in rows of the same output: of {unlike:,}, the mean stands")
        items = items_of(ratings)
        scored = one_score(every, items)
        where = f"the column {one.column} of {origin}" if one.name != one.column else f"a column of {origin}"
        told_of = f"{one.name}: {where}, {len(scored):,} of {len(items):,} items; {why}"
        found.append(Metric(one.name, lower, scored, told_of))
    return found


def unclaimed(frame: pd.DataFrame, told: Sequence[str]) -> list[str]:
    """Name the columns that have the name of a metric and hold numbers, and that nobody called a metric's."""
    left = [name for name in frame if name not in taken(told, [*frame.columns]) and is_metric(name)]
    return [name for name in left if _numbers(frame[name])]


def _numbers(cells: pd.Series) -> bool:
    filled = cells.dropna().head(200)
    return bool(len(filled)) and float(np.isfinite(numbers.read(filled)[0]).mean()) >= _MOSTLY
