"""Rank metrics by the tasks of WMT's metrics tasks: which of a list can be computed, scores, clusters, and averages.

What the tasks are, which metrics are in them and how differences are tested are tables (``data.published``:
``metric_tasks``, ``metric_entries``, ``metric_tests``); scores are whatever is given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.rankings import rank_table
from evalkit.metrics.scores import Scores
from evalkit.metrics.significance import TESTED, perm_both, pooled_accuracy
from evalkit.metrics.statistics import STATISTICS, acc_eq, correlations, in_words, spa

#: Statistics from -1 to 1; the others go from 0 to 1.
_SIGNED = ("pearson", "kendall_b")
_COLUMNS = ["task", "metric", "score", "cluster"]
#: How WMT tests differences: settings of ``perm_both``.
USUAL = {"draws": 1000, "look": 100, "settled": (0.02, 0.5), "seed": 7}


def printed(table: pd.DataFrame) -> dict[str, Any]:
    """Read the settings of ``perm_both`` in ``metric_tests``, a table with one row of text."""
    row = table.iloc[0]
    return {
        "draws": int(row["draws"]),
        "look": int(row["look"]),
        "settled": (float(row["below"]), float(row["above"])),
        "seed": USUAL["seed"],
    }


def here(
    listed: pd.DataFrame,
    systems: Mapping[str, Scores],
    segments: Mapping[str, Scores],
    *,
    data: str,
    people: bool = False,
) -> pd.DataFrame:
    """Say of each task of the lists for a test set whether its scores are here, and why not.

    listed: ``metric_tasks``. data: the test set's name, as the column of that name has it. people: whether human
    translations are among the systems. Returns the rows about this test set with the columns ``name`` (in words, with
    the language pairs that are here), ``found`` (those pairs, empty where the task cannot be computed) and ``why``.
    A task over several language pairs is computed over those of them that are here, and says so in its name.
    """
    rows = listed[listed["data"] == data].fillna("").reset_index(drop=True)
    found, why = [], []
    for row in rows.itertuples():
        there = _needed(row, systems, segments)
        pairs = [pair for pair in row.pairs.split() if pair in there and there[pair].gold in ("", row.gold)]
        reason = _reason(row, pairs, people)
        found.append("" if reason else " ".join(pairs))
        why.append(reason)
    rows = rows.assign(found=found, why=why)
    return rows.assign(name=[_name(row) for row in rows.itertuples()])


def _needed(row: Any, systems: Mapping[str, Scores], segments: Mapping[str, Scores]) -> Mapping[str, Scores]:
    """Choose the scores that a task is computed from; SPA ranks systems by their segments."""
    return systems if row.level == "system" and row.statistic != "spa" else segments


def like(listed: pd.DataFrame, year: str, *, data: str, pair: str, gold: str) -> pd.DataFrame:
    """Ask of a test set that no list is about what a list asks of each language pair: rows as ``listed``.

    year: the list, such as "WMT24"; data, pair, gold: the test set, its language pair and its human scores.
    """
    rows = listed[(listed["year"] == year) & ~listed["pairs"].str.contains(" ")]
    rows = rows.drop_duplicates(["level", "statistic", "grouping"])
    names = {"year": f"as {year}", "data": data, "pairs": pair, "gold": gold, "human": "no", "domain": ""}
    weight = f"1/{max(len(rows), 1)}"
    return rows.assign(**names, weight=weight, task=[str(n + 1) for n in range(len(rows))]).reset_index(drop=True)


def _reason(row: Any, pairs: Collection[str], people: bool) -> str:
    """Say why a task cannot be computed; "" if it can."""
    if not pairs:
        return f"no {row.gold} scores of {row.pairs.replace(' ', ', ')} here"
    if row.domain:
        return "asks for scores of single domains"
    if (row.human == "yes") and not people and len(row.pairs.split()) == 1:
        return "asks for human translations among the systems"
    return ""


def _name(row: Any) -> str:
    pairs = row.found or row.pairs
    part = "" if not row.found or row.found == row.pairs else f" (of {len(row.pairs.split())} pairs)"
    of = f", {row.domain}" if row.domain else ""
    words = in_words(row.level, row.statistic, row.grouping)
    return f"{row.year}, {row.task}: {words}, {pairs.replace(' ', ' + ')}{part}{of}"


def ranks(
    tasks: pd.DataFrame,
    systems: Mapping[str, Scores],
    segments: Mapping[str, Scores],
    *,
    entries: Collection[str] = (),
    test: Mapping[str, Any] = USUAL,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Rank metrics in every task that can be computed: task, metric, score, cluster, best first.

    tasks: the result of ``here``. entries: the metrics that compete; none, or none of them here: all. cluster: 1 is the
    best; a metric opens the next one where one of its cluster is significantly better (``rankings.rank_table``);
    missing where no test of the statistic is made here. test: settings of ``perm_both``, of which few enough swaps are
    all gone through; alpha: the level.
    """
    tables, made = [], {}
    for row in tasks[tasks["found"] != ""].itertuples():
        key = row.level, row.statistic, row.grouping, row.found
        if key not in made:
            there = _needed(row, systems, segments)
            sets = [_competing(there[pair], entries) for pair in row.found.split()]
            made[key] = _clusters(*_compared(row, sets, test), alpha)
        tables.append(made[key].assign(task=row.name))
    return pd.concat(tables, ignore_index=True)[_COLUMNS] if tables else pd.DataFrame(columns=_COLUMNS)


def _competing(scores: Scores, entries: Collection[str]) -> Scores:
    chosen = [name for name in scores.metrics if name in set(entries)]
    return scores.only(sorted(chosen or scores.metrics))


def _compared(row: Any, sets: list[Scores], test: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Return metric and value, and the tests of every two metrics, or None where there are none."""
    known = ("accuracy", "acc_eq", "spa", *STATISTICS)
    if row.statistic not in known:
        raise DataError(f"{row.statistic!r} is no statistic of a task. Choose among {', '.join(known)}.")
    if row.statistic == "accuracy":
        return pooled_accuracy(sets, draws=test["draws"], seed=test["seed"])
    [scores] = sets
    if row.statistic == "acc_eq":
        values = acc_eq(scores)
    elif row.statistic == "spa":
        values = spa(scores, flips=test.get("flips", 1000), seed=test["seed"])
    else:
        values = correlations(scores, statistics=[row.statistic], groupings=[row.grouping])
    if row.statistic not in TESTED[scores.level] or row.grouping != ("item" if row.statistic == "acc_eq" else "none"):
        return values, None
    return values, perm_both(scores, statistic=row.statistic, clusters=True, **test)


def _clusters(values: pd.DataFrame, tests: pd.DataFrame | None, alpha: float) -> pd.DataFrame:
    if tests is None:
        found = values[["metric", "value"]].dropna().sort_values("value", ascending=False, kind="stable")
        return found.rename(columns={"value": "score"}).assign(cluster=pd.array([pd.NA] * len(found), dtype="Int64"))
    found = rank_table(values, tests, alpha=alpha).rename(columns={"value": "score", "rank": "cluster"})
    return found[["metric", "score", "cluster"]].astype({"cluster": "Int64"})


def averages(ranked: pd.DataFrame, tasks: pd.DataFrame) -> pd.DataFrame:
    """Average each metric over the tasks of a list: list, metric, tasks, first, cluster, score, best score first.

    ranked: the result of ``ranks``; tasks: of ``here``. Metrics that are in all tasks computed count. tasks: how many
    those are; first: in how many it is in the first cluster; cluster: weighted mean, by which WMT22 ranked; score:
    weighted mean, correlations first brought from 0 to 1 as (1 + r) / 2, by which WMT23 and WMT24 rank. Weights are the
    list's, shared out anew among the tasks that are here; a task on fewer language pairs weighs as much less.
    """
    about = tasks[tasks["found"] != ""].assign(weight=_weights(tasks))
    table = ranked.merge(about[["name", "year", "statistic", "weight"]], left_on="task", right_on="name")
    table["share"] = np.where(table["statistic"].isin(_SIGNED), (1 + table["score"]) / 2, table["score"])
    rows = []
    for year, part in table.groupby("year", sort=False):
        tasks_here = part["task"].nunique()
        for metric, own in part.groupby("metric", sort=False):
            if own["task"].nunique() == tasks_here:
                weight = own["weight"] / own["weight"].sum()
                cluster = float((own["cluster"].astype(float) * weight).sum(skipna=False))
                first = int((own["cluster"] == 1).sum())
                rows.append((year, metric, tasks_here, first, cluster, float((own["share"] * weight).sum())))
    found = pd.DataFrame(rows, columns=["list", "metric", "tasks", "first", "cluster", "score"])
    place = {name: number for number, name in enumerate(found["list"].unique())}
    found = found.sort_values(["score", "metric"], ascending=[False, True], kind="stable")
    return found.sort_values("list", key=lambda names: names.map(place), kind="stable", ignore_index=True)


def _weights(tasks: pd.DataFrame) -> pd.Series:
    """Read the weights of the tasks that are here; over fewer language pairs a task weighs as much less."""
    kept = tasks[tasks["found"] != ""]
    share = kept["found"].str.split().str.len() / kept["pairs"].str.split().str.len()
    return share * np.array([float(Fraction(text)) for text in kept["weight"]])


def absent(listed: pd.DataFrame, tasks: pd.DataFrame) -> pd.DataFrame:
    """Count for each list the tasks that were computed, and say why the others were not: list, tasks, here, why."""
    rows = []
    for year, part in listed.groupby("year", sort=False):
        own = tasks[tasks["year"] == year]
        reasons = list(dict.fromkeys(own.loc[own["why"] != "", "why"]))
        if own.empty:
            reasons = [f"about the test set {part['data'].iloc[0]}, whose scores are not here"]
        rows.append((year, len(part), int((own["found"] != "").sum()), "; ".join(reasons)))
    return pd.DataFrame(rows, columns=["list", "tasks", "here", "why"])
