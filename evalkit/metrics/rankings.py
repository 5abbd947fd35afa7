"""Rank metrics in clusters that no significant difference runs through: by statistics, by the lists of WMT's tasks.

``here``, ``ranks`` and ``averages`` follow the lists of WMT's metrics tasks: what these are, which metrics are in them
and how differences are tested are tables (``data.published``: ``metric_tasks``, ``metric_entries``, ``metric_tests``);
scores are whatever is given. ``aligned`` to ``headline`` are about a test set or a metric of one's own; what they say
stands in ``rankings.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.testsets import TestSet
from evalkit.metrics import statistics
from evalkit.metrics.scores import ByPair, Scores, each_pair
from evalkit.metrics.significance import ALPHA, TESTED, perm_both, pooled_accuracy
from evalkit.stats.terms import join_names

_SAYS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: The statistics that WMT's metrics tasks have ranked by since 2020, and how they are called in short.
MAIN: dict[tuple[str, str, str], str] = {(level, *how): short for short, (level, *how) in _SAYS["main"].items()}
#: The same in the words of a page.
WORDS = {short: statistics.WORDS[key] for key, short in MAIN.items()}
#: From how many robust standard deviations on a system's human score lies far from the others'.
FAR = 2.5


def label(values: pd.DataFrame) -> pd.Series:
    """Name the statistic of each row in words: those of ``MAIN`` in short, others as level, statistic and grouping.

    >>> label(pd.DataFrame([["segment", "spearman", "item"]], columns=["level", "statistic", "grouping"])).tolist()
    ['segment spearman by item']
    """
    keys = values[["level", "statistic", "grouping"]].itertuples(index=False, name=None)
    return pd.Series([statistics.in_words(*key, words=MAIN) for key in keys], index=values.index, dtype=object)


def every_test(
    segments: ByPair, systems: ByPair, *, shown: Sequence[str] = (), draws: int = 1000, seed: int = 7
) -> pd.DataFrame:
    """Test every two metrics by each statistic that a test is made for, in all language pairs.

    shown: statistics that are looked at. SPA, whose every swap needs permutation tests of its own, is tested only where
    it is among them, with a twentieth of the draws. Returns the columns of ``significance.perm_both``.
    """
    plan = [(scores, name, draws) for scores in systems.values() for name in ("pearson", "accuracy_3way")]
    plan += [(scores, name, draws) for scores in segments.values() for name in ("pearson", "acc_eq")]
    plan += [(scores, "spa", draws // 20) for scores in segments.values() if "SPA" in shown]
    parts = [perm_both(scores, statistic=name, draws=count, seed=seed) for scores, name, count in plan]
    return pd.concat(parts, ignore_index=True)


def from_ratings(values: pd.DataFrame, name: str) -> pd.DataFrame:
    """Choose the rows of one statistic by its name in ``label``, from results or from tests.

    Raises DataError naming the statistics there are.
    """
    names = label(values)
    if not (names == name).any():
        raise DataError(f"There is no statistic {name!r} here. Choose among {', '.join(names.unique())}.")
    return values[names == name]


def side_by_side(values: pd.DataFrame) -> pd.DataFrame:
    """Rank metrics under each statistic: a row per metric, a column per statistic, best mean rank first.

    values: one language pair's results of ``every_statistic`` at both levels. Ranks start at 1, equals share the better
    rank. A statistic that a metric has no value for stays empty.
    """
    named = values.assign(label=label(values))
    named["rank"] = named.groupby("label")["value"].rank(ascending=False, method="min").astype("Int64")
    wide = named.pivot(index="metric", columns="label", values="rank").filter(items=list(MAIN.values()))
    order = wide.astype(float).mean(axis=1).sort_values(kind="stable").index
    return wide.loc[order].reset_index().rename_axis(columns=None)


def rank_shifts(ranks: pd.DataFrame, scores: Scores) -> pd.DataFrame:
    """Say which metrics' ranks differ most between statistics, beside what may explain it, the widest spread first.

    ranks: the result of ``side_by_side``; scores: segment scores of the same pair. Returns metric, best, best_by,
    worst, worst_by, spread, and what sets metrics apart: tied (share of pairs of translations of a segment that the
    metric ties; only some statistics reward that where humans tie, too), between (share of the variance of its scores
    that lies between systems, which is all that the system level sees), between_humans (the same of human scores).
    """
    wide = ranks.set_index("metric").astype(float).dropna(how="all")
    table = pd.DataFrame({"best": wide.min(axis=1).astype(int), "best_by": wide.idxmin(axis=1)})
    table = table.assign(worst=wide.max(axis=1).astype(int), worst_by=wide.idxmax(axis=1))
    table["spread"] = table["worst"] - table["best"]
    of_metrics = pd.DataFrame(map(_character, scores.values), scores.metrics, ["tied", "between"])
    table = table.join(of_metrics).assign(between_humans=_character(scores.human)[1]).rename_axis("metric")
    return table.reset_index().sort_values("spread", ascending=False, kind="stable", ignore_index=True)


def _character(values: np.ndarray) -> tuple[float, float]:
    """Return the share of a segment's pairs that are tied, and the share of variance between systems."""
    i, j = np.triu_indices(len(values), 1)
    difference = values[i] - values[j]
    tied = float(np.mean(difference[np.isfinite(difference)] == 0))
    within = values[:, np.isfinite(values).all(axis=0)]
    total = float(within.var())
    return tied, float(within.mean(axis=1).var()) / total if total > 0 else np.nan


def rank_table(
    values: pd.DataFrame, tests: pd.DataFrame, *, statistic: str | None = None, ends: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Rank metrics by clusters: a metric opens a new one if any metric of the current cluster is significantly better.

    values: metric and value, such as the rows of ``correlations`` for one statistic and grouping; tests: the rows of
    ``significance`` for the same. statistic: chooses all by its name in ``label``. ends: the result of ``bootstrap``,
    whose low and high are added.
    Returns metric, value, rank (1 is best; all metrics of a cluster share it), worse (how many metrics it is
    significantly better than), best first, equals by name. A metric without a value is left out.
    Raises DataError where a metric is there twice, or a pair of metrics was not compared.
    Source: WMT23 metrics task (Freitag et al. 2023), section 6.  Caveat: inside a cluster, metrics can still differ
    significantly from others than the one before; the number of clusters grows with the data, not with their quality.

    >>> values = pd.DataFrame({"metric": ["fair", "good"], "value": [0.5, 0.9]})
    >>> tests = pd.DataFrame({"metric_a": ["good"], "metric_b": ["fair"], "p": [0.01]})
    >>> rank_table(values, tests).values.tolist()
    [['good', 0.9, 1, 1], ['fair', 0.5, 2, 0]]
    """
    if statistic is not None:
        values, tests = from_ratings(values, statistic), from_ratings(tests, statistic)
        ends = None if ends is None else from_ratings(ends, statistic)
    table = _ordered(values)
    names = table["metric"].tolist()
    tests = tests[tests["metric_a"].isin(names) & tests["metric_b"].isin(names)]
    if len(tests) < len(names) * (len(names) - 1) / 2:
        raise DataError("Not every two of the metrics were compared. Pass the tests of all metrics that are ranked.")
    p = tests.pivot(index="metric_a", columns="metric_b", values="p").reindex(index=names, columns=names)
    better = np.triu(p.fillna(p.T) <= ALPHA, 1)  # NaN is not
    rank, start, ranks = 1, 0, []
    for number in range(len(table)):
        if better[start:number, number].any():
            rank, start = rank + 1, number
        ranks.append(rank)
    table = table.assign(rank=ranks, worse=better.sum(axis=1))
    return table if ends is None else table.merge(ends[["metric", "low", "high"]], how="left")


def _ordered(values: pd.DataFrame) -> pd.DataFrame:
    """Sort metrics from best to worst, equals by name."""
    if (twice := values["metric"].duplicated()).any():
        name = values.loc[twice, "metric"].iloc[0]
        raise DataError(f"The metric {name} has several values. Choose one pair, level, statistic and grouping.")
    table = values[["metric", "value"]].dropna()
    return table.sort_values(["value", "metric"], ascending=[False, True], ignore_index=True)


def near(tested: pd.DataFrame, *, size: float = 0.01) -> pd.DataFrame:
    """Say for each statistic how often a difference of about ``size`` was significant, and from where on most are.

    tested: the result of ``every_test``. Returns statistic, comparisons, near (pairs of metrics whose
    values differ by half to one and a half times the size), near_significant, smallest (significant difference),
    from_here (a significant difference from which on at least 95 % of comparisons are).
    """
    rows = []
    for name, part in tested.groupby(label(tested), sort=False):
        part = part.sort_values(["difference", "p"])
        sure, differences = (part["p"] <= ALPHA).to_numpy(), part["difference"].to_numpy()
        close = (differences >= size / 2) & (differences <= 1.5 * size)
        above = np.cumsum(sure[::-1])[::-1] / np.arange(len(part), 0, -1)
        ends = [differences[marked].min(initial=np.inf) for marked in (sure, sure & (above >= 0.95))]
        rows.append((name, len(part), int(close.sum()), int(sure[close].sum()), *ends))
    columns = ["statistic", "comparisons", "near", "near_significant", "smallest", "from_here"]
    return pd.DataFrame(rows, columns=columns).replace(np.inf, np.nan)


def in_words(scores: Scores, *, size: float = 0.01) -> list[str]:
    """Tell a reader who has one metric to choose what a difference of ``size`` between two metrics comes to.

    scores: segment scores of one pair. Returns sentences about acc_eq, and about accuracy of systems.
    """
    i, j = np.triu_indices(len(scores.systems), 1)
    compared = int((scores.judged[i] & scores.judged[j]).sum())
    segments = int((scores.judged.sum(axis=0) > 1).sum())
    each = compared / max(segments, 1)
    told = {"size": size, "compared": compared, "segments": segments, "each": each, "right": size * compared}
    told |= {"every": 1 / (size * each), "systems": len(scores.systems), "pairs": len(i), "one": 1 / len(i)}
    return [sentence.format(**told, otherwise=size * len(i)) for sentence in _SAYS["size"].values()]


# The lists of WMT's metrics tasks


def printed(table: pd.DataFrame) -> dict[str, Any]:
    """Read the settings of ``perm_both`` in ``metric_tests``, a table with one row of text."""
    draws, look, *settled = table[["draws", "look", "below", "above"]].iloc[0].astype(float)
    return {"draws": int(draws), "look": int(look), "settled": tuple(settled), "seed": 7}


def here(listed: pd.DataFrame, systems: ByPair, segments: ByPair, *, data: str) -> pd.DataFrame:
    """Say of each task of the lists for a test set whether its scores are here, and why not.

    listed: ``metric_tasks``. data: the test set's name, as the column of that name has it.
    Returns the rows about this test set with the columns ``name`` (in words, with the language pairs that are here),
    ``found`` (those pairs, empty where the task cannot be computed) and ``why``.
    A task over several language pairs is computed over those of them that are here, and says so in its name.
    """
    rows = listed[listed["data"] == data].fillna("").reset_index(drop=True)
    made = []
    for row in rows.itertuples():
        there, asked = _needed(row, systems, segments), row.pairs.split()
        found = [pair for pair in asked if pair in there and there[pair].gold in ("", row.gold)]
        whys = {
            f"no {row.gold} scores of {', '.join(asked)} here": not found,
            "asks for scores of single domains": row.domain,
            "asks for human translations among the systems": row.human == "yes" and len(asked) == 1,
        }
        why = next((words for words, true in whys.items() if true), "")
        found = [] if why else found
        part = f" (of {len(asked)} pairs)" if found and found != asked else ""
        words = statistics.in_words(row.level, row.statistic, row.grouping)
        of = f", {row.domain}" if row.domain else ""
        made.append((" ".join(found), why, f"{row.year}, {row.task}: {words}, {' + '.join(found or asked)}{part}{of}"))
    return rows.join(pd.DataFrame(made, columns=["found", "why", "name"]))


def _needed(row: Any, systems: ByPair, segments: ByPair) -> ByPair:
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


def ranks(
    tasks: pd.DataFrame, systems: ByPair, segments: ByPair, *, test: Mapping[str, Any], entries: Collection[str] = ()
) -> pd.DataFrame:
    """Rank metrics in every task that can be computed: task, metric, score, cluster, best first.

    tasks: the result of ``here``. entries: the metrics that compete; none, or none of them here: all. cluster: 1 is the
    best; a metric opens the next one where one of its cluster is significantly better (``rank_table``); missing where
    no test of the statistic is made here. test: settings of ``perm_both``, of which few enough swaps are all gone
    through.
    """
    tables, made = [pd.DataFrame(columns=["task", "metric", "score", "cluster"])], {}
    for row in tasks[tasks["found"] != ""].itertuples():
        key = row.level, row.statistic, row.grouping, row.found
        if key not in made:
            there = [_needed(row, systems, segments)[pair] for pair in row.found.split()]
            sets = [one.only(sorted(set(one.metrics) & set(entries)) or sorted(one.metrics)) for one in there]
            made[key] = _ranked(row, sets, test).rename(columns={"value": "score", "rank": "cluster"})
        tables.append(made[key].assign(task=row.name)[list(tables[0])])
    return pd.concat(tables[1:] or tables, ignore_index=True)


def _ranked(row: Any, sets: list[Scores], test: Mapping[str, Any]) -> pd.DataFrame:
    """Rank metrics by one statistic; without clusters where no test of it is made."""
    if row.statistic == "accuracy":
        return rank_table(*pooled_accuracy(sets, draws=test["draws"], seed=test["seed"]))
    [scores] = sets
    if row.statistic == "acc_eq":
        values = statistics.acc_eq(scores)
    elif row.statistic == "spa":
        values = statistics.spa(scores, flips=test.get("flips", 1000), seed=test["seed"])
    else:
        values = statistics.correlations(scores, statistics=[row.statistic], groupings=[row.grouping])
    if (row.statistic, row.grouping) not in TESTED[scores.level].items():
        return _ordered(values).assign(rank=pd.NA)
    return rank_table(values, perm_both(scores, statistic=row.statistic, alpha=ALPHA, **test))


def averages(ranked: pd.DataFrame, tasks: pd.DataFrame) -> pd.DataFrame:
    """Average each metric over the tasks of a list: list, metric, tasks, first, cluster, score, best score first.

    ranked: the result of ``ranks``; tasks: of ``here``. Metrics that are in all tasks computed count. tasks: how many
    those are; first: in how many it is in the first cluster; cluster: weighted mean, by which WMT22 ranked; score:
    weighted mean, correlations first brought from 0 to 1 as (1 + r) / 2, by which WMT23 and WMT24 rank. Weights are the
    list's, shared out anew among the tasks that are here; a task on fewer language pairs weighs as much less.
    """
    about = tasks[tasks["found"] != ""].rename(columns={"year": "list"})
    share = about["found"].str.split().str.len() / about["pairs"].str.split().str.len()
    about = about.assign(weight=share * about["weight"].map(Fraction).astype(float))
    table = ranked.merge(about[["name", "list", "statistic", "weight"]], left_on="task", right_on="name")
    key = ["list", "metric"]
    whole = table.groupby("list")["task"].transform("nunique")
    table = table[table.groupby(key)["task"].transform("nunique") == whole]
    weight = table["weight"] / table.groupby(key)["weight"].transform("sum")
    signed = table["statistic"].isin(["pearson", "kendall_b"])
    cluster = table["cluster"].astype("Float64").astype(float)
    columns = {"tasks": 1, "first": cluster.eq(1).astype(int), "cluster": cluster * weight}
    columns["score"] = table["score"].mask(signed, (1 + table["score"]) / 2) * weight
    found = table.assign(**columns).groupby(key, sort=False)[list(columns)].agg(lambda each: each.sum(skipna=False))
    order = {name: number for number, name in enumerate(about["list"].unique())}
    found = found.reset_index().sort_values(["score", "metric"], ascending=[False, True], kind="stable")
    return found.sort_values("list", key=lambda names: names.map(order), kind="stable", ignore_index=True)


# A test set or a metric of one's own


def aligned(testset: TestSet) -> tuple[dict[str, Scores], dict[str, Scores]]:
    """Match the metrics' and people's scores of a test set in every language pair: of segments, and of systems.

    Systems that the test set has set apart are left out. Raises DataError where fewer than two metrics can be compared.
    """
    apart, found = [] if testset.apart is None else [*testset.apart["system"]], {}
    sides = {
        "segments": (testset.metrics, testset.human, testset.gold),
        "systems": (testset.of_systems, testset.human_of_systems, testset.system_gold),
    }
    for level, (table, people, gold) in sides.items():
        found[level] = {} if table.empty else each_pair(table, people, gold=gold, without=apart)
        metrics = found[level][testset.pair].metrics if testset.pair in found[level] else ()
        if len(metrics) < 2:
            raise DataError(
                f"metric-scores/ has scores of {level} of {testset.pair} by {join_names(metrics) or 'no metric'}. A "
                f"comparison needs two metrics: add <metric>-<ref>.{level[:3]}.score of another one."
            )
    return found["segments"], found["systems"]


def standings(leaders: Mapping[str, pd.DataFrame], tests: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Say where a metric comes by each statistic.

    leaders: statistic -> the result of ``rank_table`` with ends; tests: of ``every_test``, of one language pair.
    Returns statistic, place (by value, 1 is best, equals share it), of (how many metrics have a value), value, low,
    high, cluster, better and worse (how many metrics it is significantly better, and worse, than), alike (how many it
    is not distinguished from), better_than and worse_than (their names). Without a value a row has only the names.
    """
    rows = []
    for name, ranked in leaders.items():
        sure = from_ratings(tests, name)
        sure = sure[sure["p"] <= ALPHA]
        below, above = (sure.loc[sure[f"metric_{one}"] == metric, f"metric_{other}"] for one, other in ("ab", "ba"))
        row = {"statistic": name, "of": len(ranked), "better": len(below), "worse": len(above)}
        row |= {"alike": len(ranked) - 1 - len(below) - len(above)}
        row |= {"better_than": join_names(below) or "none", "worse_than": join_names(above) or "none"}
        places = ranked["value"].rank(ascending=False, method="min")
        own = ranked.assign(place=places, cluster=ranked["rank"])[ranked["metric"] == metric]
        own = own[["place", "value", "low", "high", "cluster"]]
        rows += [row | found for found in own.to_dict("records") or [{}]]
    columns = "statistic place of value low high cluster better worse alike better_than worse_than"
    return pd.DataFrame(rows, columns=columns.split()).astype({"place": "Int64", "cluster": "Int64"})


def upside_down(testset: TestSet, values: pd.DataFrame) -> list[str]:
    """Warn of metrics whose scores fall where people's rise (Pearson's r, of segments if there are scores of them).

    values: one language pair's results of ``every_statistic``. Nothing is turned by itself.
    """
    pearson = values[(values["statistic"] == "pearson") & (values["grouping"] == "none")]
    pearson = pearson.sort_values("level", kind="stable").drop_duplicates("metric")  # segment stands before system
    low = pearson.loc[pearson["value"] < 0, "metric"].tolist()
    others, count = [name for name in low if name != testset.yours], values["metric"].nunique()
    most = len(low) > count / 2
    falling = {"yours": testset.yours in low, "most": most, "others": others and not most}
    told = {"testset": testset, "low": len(low), "count": count, "others": join_names(others)}
    return [_SAYS["falling"][key].format(**told) for key, true in falling.items() if true]


def outliers(scores: Scores) -> list[str]:
    """Name the systems whose human score lies far from the others', over 2.5 robust standard deviations off.

    scores: of whole systems. Source: Mathur, Baldwin & Cohn 2020, "Tangled up in BLEU" (1.483 times the median
    absolute deviation stands for the standard deviation).

    >>> human = np.array([[1.0], [1.1], [0.9], [1.2], [-9.0]])
    >>> outliers(Scores(("m",), tuple("ABCDE"), ("",), human[None], human))
    ['E']
    """
    human = pd.Series(scores.human[:, 0], scores.systems).dropna()
    off = (human - human.median()).abs()
    spread = 1.483 * off.median()
    return off.index[off > FAR * spread].tolist() if spread > 0 else []


def basis(testset: TestSet, far: Sequence[str]) -> str:
    """Say which human scores metrics are compared with, and which systems are left out. far: see ``outliers``."""
    others = [name for name in testset.golds if name != testset.gold]
    out = [] if testset.apart is None else testset.apart.groupby("why", sort=False)["system"]
    left = "; ".join(f"{join_names(names)} ({why})" for why, names in out)
    told = {"called": testset.called, "others": join_names(others), "left": left, "far": join_names(far)}
    said = ["golds" if others else "gold", "left" if left else "all", *["far"] * bool(far)]
    return " ".join(_SAYS["basis"][key].format(**told, leave_out=",".join(far)) for key in said)


def headline(standing: pd.DataFrame, testset: TestSet, warned: Sequence[str]) -> str:
    """Say where one's metric comes by each statistic, and whether it may be upside down.

    standing: the result of ``standings``; warned: of ``upside_down``.
    """
    none = {0: "none"}
    placed = standing.dropna(subset=["place"]).replace({"statistic": WORDS, "better": none, "worse": none})
    comes = [_SAYS["headline"]["place"].format(**row) for row in placed.to_dict("records")]
    said = ["comes" if comes else "absent"]
    if any(sentence.startswith(f"Scores of {testset.yours} fall") for sentence in warned):
        said.append("doubt")
    return " ".join(_SAYS["headline"][key].format(testset=testset, comes=", and ".join(comes)) for key in said)
