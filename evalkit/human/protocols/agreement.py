"""How far two collections of judgements of the same translations agree: between protocols, and with another run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT
from evalkit.stats import correlation, widths

#: What names a row of ``Laid``; the order of rows stays where segments are numbered through.
ROWS = [*SEGMENT[::-1], "system"]
Pair = tuple[str, str]
#: Maps how often every item counts, (batch, items), to (batch, ...).
Statistic = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Laid:
    """Hold collections of judgements side by side, a row per translation: see ``lay``.

    scores: (items, protocols), higher is better, NaN where not judged. segment, document: (items,) numbers from 0 on.
    people: protocol -> (items,) numbers of whoever judged; all 0 where that is not known. system: (items,) names.
    """

    scores: pd.DataFrame
    segment: np.ndarray
    document: np.ndarray
    people: dict[str, np.ndarray]
    system: np.ndarray
    is_system: np.ndarray

    def rows(self, names: Sequence[str]) -> np.ndarray:
        """Number the items that all of these protocols judged."""
        return np.flatnonzero(self.scores[list(names)].notna().all(axis=1))

    def taken(self, rows: np.ndarray) -> Laid:
        """Keep these items."""
        people = {name: codes[rows] for name, codes in self.people.items()}
        parts = (each[rows] for each in (self.segment, self.document, self.system, self.is_system))
        segment, document, system, is_system = parts
        return Laid(self.scores.iloc[rows], segment, document, people, system, is_system)


def lay(scored: pd.DataFrame) -> Laid:
    """Arrange the table of ``protocols.scores`` with a row per translation and a column per protocol.

    scored: protocol, system, doc, segment, annotator (none where unknown), item_type, score; one row per protocol and
    translation, and DataError otherwise.
    """
    named = scored.astype(dict.fromkeys(["protocol", *ITEM], "str"))
    if named.duplicated([*ITEM, "protocol"]).any():
        raise DataError("A protocol judged a translation twice. Keep one judgement, as protocols.scores does.")
    order = list(named["protocol"].unique())
    scores = named.pivot(index=ROWS, columns="protocol", values="score")[order]
    who = named.pivot(index=ROWS, columns="protocol", values="annotator").reindex(columns=order)
    first = named.drop_duplicates(ROWS).set_index(ROWS).loc[list(scores.index)]
    people = {name: np.maximum(pd.factorize(who[name], sort=True)[0], 0) for name in order}
    segment, document = (first.groupby(names).ngroup().to_numpy() for names in (ROWS[:2], "doc"))
    system = scores.index.get_level_values("system").to_numpy(str)
    return Laid(scores, segment, document, people, system, first["item_type"].astype("str").eq("system").to_numpy())


def redrawn(
    laid: Laid,
    together: Sequence[tuple[str, ...]],
    statistics: Sequence[Statistic],
    *,
    resamples: int,
    seed: int,
    same: Mapping[str, str] | None = None,
) -> list[widths.Redrawn]:
    """Draw statistics of one or more protocols anew, the same documents for all; see ``inference.crossed``.

    together: the protocols that each of the statistics compares, over items that all of them judged: the people of
    every one are drawn. People who are not
    known are not drawn. statistics: each maps how often items count, (batch, items), to (batch, values). same:
    protocol -> another one whose people are its own as well, where the numbers of ``Laid.people`` name the same people
    in both.
    """
    same = same or {}
    parts = []
    for group, statistic in zip(together, statistics, strict=True):
        people = {f"people of {same.get(name, name)}": laid.people[name] for name in group}
        judged = laid.scores[list(group)].notna().all(axis=1).to_numpy()
        units = {"documents": laid.document} | people
        parts.append(widths.Part(statistic, units, len(judged), judged[:, None]))
    return widths.redraw(parts, resamples=resamples, seed=seed)


def pearson_of(x: np.ndarray, y: np.ndarray) -> Statistic:
    """Make Pearson's r of x and y a function of how often each row counts, (batch,) from (batch, rows).

    Rows in which one of the two is missing are left out.

    >>> r = pearson_of(np.array([1.0, 2, 3, np.nan]), np.array([1.0, 2, 3, 4]))
    >>> r(np.array([[1.0, 1, 1, 1]])).round(6).tolist()
    [1.0]
    """
    there = np.isfinite(x) & np.isfinite(y)
    sums = correlation.moments(x[there] - x[there].mean(), y[there] - y[there].mean()).T
    return lambda counts: correlation.pearson_of_sums(counts[:, there] @ sums)


def as_column(statistic: Statistic) -> Statistic:
    """Make a statistic of one value, (batch,), one of several, (batch, 1)."""
    return lambda counts: statistic(counts)[:, None]


def between(scored: pd.DataFrame, *, resamples: int = 300, seed: int = 7) -> pd.DataFrame:
    """Correlate every two collections over the translations that both judged.

    Returns a, b, n (translations), pearson, kendall_b, spearman, low, high (of pearson, 95 %, documents and both sides'
    people drawn), system_pearson (of the means of the systems over these translations, without the reference).
    Caveat: pooled over segments and systems, so what is agreed on may be which segments are hard; parts that were
    judged again cover fewer translations.
    """
    laid = lay(scored)
    pairs = list(itertools.combinations(laid.scores.columns, 2))
    sides = [tuple(laid.scores[name].to_numpy() for name in pair) for pair in pairs]
    drawn = redrawn(laid, pairs, [as_column(pearson_of(*side)) for side in sides], resamples=resamples, seed=seed)
    rows = [
        (*pair, *correlated(*side), *np.ravel(one.interval()), _of_systems(laid, pair))
        for pair, side, one in zip(pairs, sides, drawn)
    ]
    columns = ["a", "b", "n", "pearson", "kendall_b", "spearman", "low", "high", "system_pearson"]
    return pd.DataFrame(rows, columns=columns)


def correlated(x: np.ndarray, y: np.ndarray) -> tuple[int, float, float, float]:
    """Return n, Pearson's r, Kendall's tau-b and Spearman's rho of the rows that both sides have."""
    there = np.isfinite(x) & np.isfinite(y)
    found = (each(x[there], y[there]) for each in (correlation.pearson, correlation.kendall_b, correlation.spearman))
    r, tau, rho = map(float, found)
    return int(there.sum()), r, tau, rho


def _of_systems(laid: Laid, pair: Pair) -> float:
    rows = laid.rows(pair)
    part = laid.taken(rows[laid.is_system[rows]])
    means = part.scores[list(pair)].groupby(part.system).mean()
    return float(correlation.pearson(means[pair[0]], means[pair[1]]))
