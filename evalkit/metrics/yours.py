"""A test set or a metric of one's own: line it up with people's scores, and say where one's metric stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.testsets import TestSet
from evalkit.metrics.rankings import ALPHA, WORDS, from_ratings
from evalkit.metrics.scores import Scores, each_pair, pick
from evalkit.stats.terms import join_names

#: From how many robust standard deviations on a system's human score lies far from the others'.
FAR = 2.5


class Standing(NamedTuple):
    """Where one metric comes by one statistic.

    place: by value, 1 is best, equals share it; of: how many metrics have a value. value, low, high: with its 95 %
    interval. cluster: its own. better, worse: metrics that it is significantly better, and worse, than.
    """

    statistic: str
    place: int
    of: int
    value: float
    low: float
    high: float
    cluster: int
    better: tuple[str, ...]
    worse: tuple[str, ...]

    @property
    def alike(self) -> int:
        """How many metrics it is not distinguished from."""
        return self.of - 1 - len(self.better) - len(self.worse)


def aligned(testset: TestSet) -> tuple[dict[str, Scores], dict[str, Scores]]:
    """Match the metrics' and people's scores of a test set in every language pair: of segments, and of systems.

    Systems that the test set has set apart are left out. Raises DataError where fewer than two metrics can be compared.
    """
    apart = [] if testset.apart is None else [*testset.apart["system"]]
    for level, table in (("segments", testset.metrics), ("systems", testset.of_systems)):
        if table.empty:
            raise DataError(
                f"metric-scores/ has no scores of {level} of {testset.pair}, <metric>-<ref>.{level[:3]}.score. Add "
                "those of the metrics that yours is to be compared with."
            )
    segments = each_pair(testset.metrics, testset.human, gold=testset.gold, without=apart)
    systems = each_pair(testset.of_systems, testset.human_of_systems, gold=testset.system_gold, without=apart)
    for level, found in (("segments", segments), ("systems", systems)):
        if len(pick(found, testset.pair).metrics) < 2:
            raise DataError(
                f"Only {found[testset.pair].metrics[0]} has scores of {level} of {testset.pair}. A comparison needs "
                "two metrics: add the scores of another one to metric-scores/."
            )
    return segments, systems


def standing(ranked: pd.DataFrame, tests: pd.DataFrame, *, statistic: str, metric: str) -> Standing | None:
    """Say where a metric comes by one statistic; None where it has no value.

    ranked: the result of ``rankings.rank_table``; tests: of ``rankings.every_test``, of one language pair.

    >>> ranked = pd.DataFrame({"metric": ["a", "b"], "value": [0.9, 0.5], "rank": [1, 2], "low": [0.8, 0.4],
    ...                        "high": [1.0, 0.6]})
    >>> tests = pd.DataFrame([["system", "pearson", "a", "b", 0.4, 0.01]],
    ...                      columns=["level", "statistic", "metric_a", "metric_b", "difference", "p"])
    >>> found = standing(ranked, tests, statistic="system Pearson", metric="b")
    >>> found.place, found.of, found.better, found.worse
    (2, 2, (), ('a',))
    """
    own = ranked[ranked["metric"] == metric]
    if own.empty:
        return None
    row = own.iloc[0]
    sure = from_ratings(tests, statistic)
    sure = sure[sure["p"] <= ALPHA]
    return Standing(
        statistic=statistic,
        place=int((ranked["value"] > row["value"]).sum()) + 1,
        of=len(ranked),
        **{name: float(row[name]) for name in ("value", "low", "high")},
        cluster=int(row["rank"]),
        better=tuple(sure.loc[sure["metric_a"] == metric, "metric_b"]),
        worse=tuple(sure.loc[sure["metric_b"] == metric, "metric_a"]),
    )


def standings(leaders: Mapping[str, pd.DataFrame], tests: pd.DataFrame, metric: str) -> dict[str, Standing | None]:
    """Say where a metric comes by each statistic. leaders: statistic -> the result of ``rankings.rank_table``."""
    return {name: standing(ranked, tests, statistic=name, metric=metric) for name, ranked in leaders.items()}


def tabulate(found: Mapping[str, Standing | None]) -> pd.DataFrame:
    """Make a table of ``standings``: statistic, place, of, value, low, high, cluster, better, worse, alike (counts)."""
    there = [one for one in found.values() if one is not None]
    table = pd.DataFrame(there, columns=list(Standing._fields))
    counts = {name: table[name].map(len) for name in ("better", "worse")}
    return table.assign(**counts, alike=[one.alike for one in there])


def neighbours(found: Mapping[str, Standing | None]) -> pd.DataFrame:
    """Name what one's metric is significantly better and worse than: statistic, better, worse."""
    rows = [
        (one.statistic, ", ".join(one.better) or "none", ", ".join(one.worse) or "none")
        for one in found.values()
        if one is not None
    ]
    return pd.DataFrame(rows, columns=["statistic", "better", "worse"])


def claims(found: Mapping[str, Standing | None], *, metric: str) -> list[str]:
    """Say in a sentence for each statistic what may be claimed of a metric, and how sure that is."""
    return [_claim(name, one, metric) for name, one in found.items()]


def _claim(statistic: str, one: Standing | None, metric: str) -> str:
    words = WORDS.get(statistic, statistic)
    if one is None:
        return f"By {words}, {metric} has no value: it has no scores of that level, or all are the same."
    ends = "" if np.isnan(one.low) else f", 95 % interval {one.low:.3f} to {one.high:.3f}"
    surely = [
        f"{how} than {join_names(names)}" for how, names in (("better", one.better), ("worse", one.worse)) if names
    ]
    known = f"the tests say that {metric} is {' and '.join(surely)}" if surely else "no test finds a difference"
    rest = f"; claim nothing about the other {one.alike}" if one.alike else ""
    return f"By {words} ({one.value:.3f}{ends}), {known}{rest}."


def _ordinal(number: int) -> str:
    """Write a place in words of a sentence.

    >>> [_ordinal(number) for number in (1, 2, 3, 11, 22)]
    ['first', '2nd', '3rd', '11th', '22nd']
    """
    if number == 1:
        return "first"
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def reversed_metrics(values: pd.DataFrame) -> pd.DataFrame:
    """List the metrics whose scores fall where human scores rise: metric, level, value (Pearson's r, below 0).

    values: one language pair's results of ``chance.every_statistic``. Of segments where a metric has scores of them.
    """
    pearson = values[(values["statistic"] == "pearson") & (values["grouping"] == "none")]
    pearson = pearson.sort_values("level", kind="stable").drop_duplicates("metric")  # segment stands before system
    return pearson.loc[pearson["value"] < 0, ["metric", "level", "value"]].reset_index(drop=True)


def upside_down(testset: TestSet, values: pd.DataFrame) -> list[str]:
    """Warn where one's own metric, or most metrics, fall where people's scores rise; nothing is turned by itself."""
    low, metrics = reversed_metrics(values), values["metric"].nunique()
    found = [
        f"{testset.yours} falls where human scores rise (Pearson's r of {row.level}s {row.value:.2f}). If a low score "
        "is good in it, as in TER or MetricX, run again with -p lower_is_better=yours; nothing was turned by itself."
        for row in low[low["metric"] == testset.yours].itertuples()
    ]
    if len(low) > metrics / 2:
        found.append(
            f"{len(low)} of {metrics} metrics fall where {testset.called} rises. If a low score is good in "
            f"{testset.called}, run again with -p lower_is_better={testset.gold}; nothing was turned by itself."
        )
    return found


def falling(testset: TestSet, values: pd.DataFrame) -> list[str]:
    """Name the published metrics whose scores fall where people's rise, where there are some."""
    names = [name for name in reversed_metrics(values)["metric"] if name != testset.yours]
    verb = "falls" if len(names) == 1 else "fall"
    told = f"{join_names(names)} {verb} where human scores rise: of no use here, or with low scores that are good (-p "
    return [f"{told}lower_is_better=…)."] if names else []


def lacking(systems: Scores) -> list[str]:
    """Say which metrics lack the scores of some judged systems, and are therefore compared on fewer.

    systems: scores of whole systems.
    """
    missing = systems.judged[:, 0] & ~np.isfinite(systems.values[:, :, 0])
    told = []
    for metric, row in zip(systems.metrics, missing, strict=True):
        if row.any():
            names = [name for name, lacks in zip(systems.systems, row, strict=True) if lacks]
            told.append(f"{metric} has no score of {join_names(names)}")
    more = f", and {len(told) - 6} more metrics lack some" if len(told) > 6 else ""
    return [f"At system level, {'; '.join(told[:6])}{more}: compared on the others only."] if told else []


def outliers(scores: Scores) -> list[str]:
    """Name the systems whose human score lies far from the others', over 2.5 robust standard deviations off.

    scores: of whole systems. Source: Mathur, Baldwin & Cohn 2020, "Tangled up in BLEU" (1.483 times the median
    absolute deviation stands for the standard deviation).

    >>> human = np.array([[1.0], [1.1], [0.9], [1.2], [-9.0]])
    >>> outliers(Scores(("m",), tuple("ABCDE"), ("",), human[None], human))
    ['E']
    """
    human = scores.human[:, 0]
    there = human[np.isfinite(human)]
    middle = np.median(there)
    spread = 1.483 * np.median(np.abs(there - middle))
    far = np.abs(human - middle) > FAR * spread if spread > 0 else np.zeros(len(human), bool)
    return [name for name, one in zip(scores.systems, far, strict=True) if one]


def title(testset: TestSet) -> str:
    """Title a page about one's own data."""
    if testset.yours:
        return f"{testset.yours} on {testset.name} {testset.pair}: how well does it agree with people?"
    return f"{testset.name} {testset.pair}: which metric agrees best with people, and how sure is that?"


def set_apart(testset: TestSet, found: Sequence[str]) -> str:
    """Say which systems are not compared and why, and which others lie far off. found: the result of ``outliers``."""
    if testset.apart is None or testset.apart.empty:
        told = "No system was left out."
    else:
        reasons = [f"{join_names(part['system'])} ({why})" for why, part in testset.apart.groupby("why", sort=False)]
        told = f"Left out: {'; '.join(reasons)}."
    if found:
        told += (
            f" {join_names(found)} {'lies' if len(found) == 1 else 'lie'} far from the other systems in human scores; "
            "such outliers lift Pearson's r of systems for almost every metric (to see it without: -p leave_out="
            f"{','.join(found)})."
        )
    return told


def basis(testset: TestSet, found: Sequence[str]) -> str:
    """Say which human scores metrics are compared with, and which systems are left out. found: see ``set_apart``."""
    others = [name for name in testset.golds if name != testset.gold]
    other = f" (also there: {join_names(others)}; -p gold=…)" if others else ""
    return f"The human scores are {testset.called}{other}. {set_apart(testset, found)}"


def headline(found: Mapping[str, Standing | None], testset: TestSet, values: pd.DataFrame) -> str:
    """Say where one's metric comes by each statistic, and whether it may be upside down.

    values: as ``reversed_metrics`` takes them.
    """
    told = [
        f"{_ordinal(one.place)} of {one.of} by {WORDS.get(name, name)} (significantly better than "
        f"{len(one.better) or 'none'}, worse than {len(one.worse) or 'none'})"
        for name, one in found.items()
        if one is not None
    ]
    where = f"On {testset.name} {testset.pair}, {testset.yours}"
    fallen = testset.yours in set(reversed_metrics(values)["metric"])
    doubt = " Is a low score good in it? Its scores fall where human scores rise." * fallen
    return (f"{where} comes {', and '.join(told)}." if told else f"{where} has no value by what is shown.") + doubt
