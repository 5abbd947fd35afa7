"""Rank metrics in clusters that no significant difference runs through, and put rankings by statistics side by side."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.scores import Scores
from evalkit.metrics.significance import perm_both
from evalkit.stats.correlation import kendall_b

#: The statistics that WMT's metrics tasks have ranked by since 2020, and how they are called in short.
MAIN = {
    ("system", "pearson", "none"): "system Pearson",
    ("system", "accuracy_3way", "none"): "system accuracy",
    ("system", "spa", "none"): "SPA",
    ("segment", "pearson", "none"): "segment Pearson",
    ("segment", "kendall_b", "item"): "segment Kendall b by item",
    ("segment", "acc_eq", "item"): "segment acc_eq",
}
#: The same in the words of a page.
WORDS = {
    "system Pearson": "Pearson's r of systems",
    "system accuracy": "accuracy of systems",
    "SPA": "soft pairwise accuracy (SPA)",
    "segment Pearson": "Pearson's r over all segments",
    "segment Kendall b by item": "Kendall's τ-b within segments",
    "segment acc_eq": "accuracy with ties (acc_eq)",
}
#: The level of significance.
ALPHA = 0.05
_KEY = ["level", "statistic", "grouping"]


def label(values: pd.DataFrame) -> pd.Series:
    """Name the statistic of each row in words: those of ``MAIN`` in short, others as level, statistic and grouping.

    >>> label(pd.DataFrame([["segment", "spearman", "item"]], columns=["level", "statistic", "grouping"])).tolist()
    ['segment spearman by item']
    """
    grouped = np.where(values["grouping"] == "none", "", " by " + values["grouping"].astype("str"))
    plain = values["level"].astype("str") + " " + values["statistic"].astype("str") + grouped
    keys = pd.Series(list(values[_KEY].itertuples(index=False, name=None)), index=values.index, dtype=object)
    return keys.map(MAIN).fillna(plain)


def every_test(
    segments: Mapping[str, Scores],
    systems: Mapping[str, Scores],
    *,
    shown: Sequence[str] = (),
    draws: int = 1000,
    seed: int = 7,
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
    grouping = values["grouping"] if "grouping" in values else np.where(values["statistic"] == "acc_eq", "item", "none")
    names = label(values.assign(grouping=grouping))
    if not (names == name).any():
        raise DataError(f"There is no statistic {name!r} here. Choose among {', '.join(names.unique())}.")
    return values[names == name]


def side_by_side(values: pd.DataFrame) -> pd.DataFrame:
    """Rank metrics under each statistic: a row per metric, a column per statistic, best mean rank first.

    values: one language pair's results of ``every_statistic`` at both levels. Ranks start at 1, equals share the better
    rank. A statistic that a metric has no value for stays empty.
    """
    named = values.assign(label=label(values))
    named = named[named["label"].isin(MAIN.values())]
    named["rank"] = named.groupby("label")["value"].rank(ascending=False, method="min").astype("Int64")
    wide = named.pivot(index="metric", columns="label", values="rank")
    wide = wide[[name for name in MAIN.values() if name in wide]]
    order = wide.astype(float).mean(axis=1).sort_values(kind="stable").index
    return wide.loc[order].reset_index().rename_axis(columns=None)


def disagreement(values: pd.DataFrame) -> pd.DataFrame:
    """Compare the rankings by every two statistics: statistic_a, statistic_b, metrics, tau_b, swapped.

    tau_b: Kendall's between the values of the metrics that both have. swapped: share of pairs of metrics that the two
    order the opposite way.
    """
    wide = values.assign(label=label(values)).pivot(index="metric", columns="label", values="value")
    rows = []
    for one, other in itertools.combinations([name for name in MAIN.values() if name in wide], 2):
        a, b = wide[[one, other]].dropna().to_numpy().T
        i, j = np.triu_indices(len(a), 1)
        swapped = float(np.mean(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) < 0)) if len(i) else np.nan
        row = {"statistic_a": one, "statistic_b": other, "metrics": len(a)}
        rows.append(row | {"tau_b": float(kendall_b(a, b)), "swapped": swapped})
    return pd.DataFrame(rows)


def rank_shifts(ranks: pd.DataFrame, scores: Scores) -> pd.DataFrame:
    """Say which metrics' ranks differ most between statistics, beside what may explain it, the widest spread first.

    ranks: the result of ``side_by_side``; scores: segment scores of the same pair. Returns metric, best, best_by,
    worst, worst_by, spread, and what sets metrics apart: tied (share of pairs of translations of a segment that the
    metric ties; only some statistics reward that where humans tie, too), between (share of the variance of its scores
    that lies between systems, which is all that the system level sees), between_humans (the same of human scores).
    """
    columns = [name for name in ranks if name != "metric"]
    places = ranks[columns].astype(float).to_numpy()
    known = ~np.isnan(places).all(axis=1)
    ranks, places = ranks[known], places[known]
    best, worst = np.nanargmin(places, axis=1), np.nanargmax(places, axis=1)
    by_name = {name: _character(values) for name, values in zip(scores.metrics, scores.values, strict=True)}
    people = _character(scores.human)[1]
    told = [by_name.get(name, (np.nan, np.nan)) for name in ranks["metric"]]
    table = pd.DataFrame(
        {
            "metric": ranks["metric"].to_numpy(),
            "best": np.nanmin(places, axis=1).astype(int),
            "best_by": np.array(columns)[best],
            "worst": np.nanmax(places, axis=1).astype(int),
            "worst_by": np.array(columns)[worst],
            "tied": [tied for tied, _ in told],
            "between": [between for _, between in told],
            "between_humans": people,
        }
    )
    table.insert(5, "spread", table["worst"] - table["best"])
    return table.sort_values("spread", ascending=False, kind="stable", ignore_index=True)


def _character(values: np.ndarray) -> tuple[float, float]:
    """Return the share of a segment's pairs that are tied, and the share of variance between systems."""
    i, j = np.triu_indices(len(values), 1)
    difference = values[i] - values[j]
    tied = float(np.mean(difference[np.isfinite(difference)] == 0))
    within = values[:, np.isfinite(values).all(axis=0)]
    total = float(within.var())
    return tied, float(within.mean(axis=1).var()) / total if total > 0 else np.nan


def top(table: pd.DataFrame, *, most: int, also: str = "") -> pd.DataFrame:
    """Return the first rows of a ranking, the last of them that of one more metric, where it is further down.

    >>> top(pd.DataFrame({"metric": list("abcd")}), most=2, also="d")["metric"].tolist()
    ['a', 'd']
    """
    if also in set(table["metric"].head(most)) or also not in set(table["metric"]):
        return table.head(most)
    return pd.concat([table.head(most - 1), table[table["metric"] == also]])


def p_matrix(values: pd.DataFrame, tests: pd.DataFrame, *, statistic: str | None = None) -> pd.DataFrame:
    """Arrange the p-values of one statistic as a square, best metric first: the row's metric against the column's.

    values: metric and value, such as the rows of ``correlations`` for one statistic and grouping; tests: the rows of
    ``significance`` for the same. statistic: chooses both by its name in ``label``. NaN on and below the diagonal;
    metrics of equal value are sorted by name.
    Raises DataError where a metric is there twice, or a pair of metrics was not compared.
    """
    if statistic is not None:
        values, tests = from_ratings(values, statistic), from_ratings(tests, statistic)
    order = _ordered(values)["metric"].tolist()
    place = {name: number for number, name in enumerate(order)}
    chosen = tests[tests["metric_a"].isin(place) & tests["metric_b"].isin(place)]
    a, b = (chosen[name].map(place).to_numpy(int) for name in ("metric_a", "metric_b"))
    matrix = np.full((len(order), len(order)), np.nan)
    matrix[np.minimum(a, b), np.maximum(a, b)] = chosen["p"]
    if len(set(zip(np.minimum(a, b), np.maximum(a, b)))) != len(order) * (len(order) - 1) // 2:
        raise DataError("Not every two of the metrics were compared. Pass the tests of all metrics that are ranked.")
    return pd.DataFrame(matrix, index=order, columns=order)


def rank_table(
    values: pd.DataFrame,
    tests: pd.DataFrame,
    *,
    statistic: str | None = None,
    ends: pd.DataFrame | None = None,
    alpha: float = ALPHA,
) -> pd.DataFrame:
    """Rank metrics by clusters: a metric opens a new one if any metric of the current cluster is significantly better.

    Takes what ``p_matrix`` takes. ends: the result of ``intervals``, whose low and high are added. alpha: the level.
    Returns metric, value, rank (1 is best; all metrics of a cluster share it), worse (how many metrics it is
    significantly better than), best first. A metric without a value is left out.
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
    better = p_matrix(values, tests).to_numpy() <= alpha  # NaN is not
    rank, start, ranks = 1, 0, []
    for number in range(len(table)):
        if better[start:number, number].any():
            rank, start = rank + 1, number
        ranks.append(rank)
    table = table.assign(rank=ranks, worse=better.sum(axis=1))
    return table if ends is None else table.merge(ends[["metric", "low", "high"]], how="left")


def _ordered(values: pd.DataFrame) -> pd.DataFrame:
    """Sort metrics from best to worst, equals by name."""
    if values["metric"].duplicated().any():
        name = values.loc[values["metric"].duplicated(), "metric"].iloc[0]
        raise DataError(f"The metric {name} has several values. Choose one pair, level, statistic and grouping.")
    table = values[["metric", "value"]].dropna().sort_values("metric", kind="stable")
    return table.sort_values("value", ascending=False, kind="stable", ignore_index=True)


def near(tested: pd.DataFrame, *, size: float = 0.01) -> pd.DataFrame:
    """Say for each statistic how often a difference of about ``size`` was significant, and from where on most are.

    tested: the result of ``every_test``. Returns statistic, comparisons, near (pairs of metrics whose
    values differ by half to one and a half times the size), near_significant, smallest (significant difference),
    from_here (a significant difference from which on at least 95 % of comparisons are).
    """
    if size <= 0:
        raise DataError(f"size is {size}. Choose a difference larger than 0.")
    rows = []
    grouping = np.where(tested["statistic"] == "acc_eq", "item", "none")
    for name, part in tested.groupby(label(tested.assign(grouping=grouping)), sort=False):
        part = part.sort_values(["difference", "p"])
        sure = (part["p"] <= ALPHA).to_numpy()
        close = part["difference"].between(size / 2, 1.5 * size).to_numpy()
        above = np.cumsum(sure[::-1])[::-1] / np.arange(len(part), 0, -1)
        start = np.flatnonzero(sure & (above >= 0.95))
        smallest = float(part["difference"][sure].min()) if sure.any() else np.nan
        from_here = float(part["difference"].iloc[start[0]]) if len(start) else np.nan
        rows.append((name, len(part), int(close.sum()), int(sure[close].sum()), smallest, from_here))
    return pd.DataFrame(rows, columns=["statistic", "comparisons", "near", "near_significant", "smallest", "from_here"])


def in_words(scores: Scores, *, size: float = 0.01) -> list[str]:
    """Tell a reader who has one metric to choose what a difference of ``size`` between two metrics comes to.

    scores: segment scores of one pair. Returns sentences about acc_eq, and about accuracy of systems.
    """
    i, j = np.triu_indices(len(scores.systems), 1)
    compared = int((scores.judged[i] & scores.judged[j]).sum())
    segments = int((scores.judged.sum(axis=0) > 1).sum())
    per_segment = compared / max(segments, 1)
    return [
        f"acc_eq: humans judged {compared:,} pairs of translations of one segment, about {per_segment:.0f} in each of "
        f"{segments:,} segments. A metric that is {size:g} higher is right about {size * compared:,.0f} more of them, "
        f"or one more in every {1 / (size * per_segment):.1f} segments.",
        f"Accuracy of systems: {len(scores.systems)} systems make {len(i)} pairs, so one pair ordered otherwise is "
        f"{1 / len(i):.3f}; a difference of {size:g} is "
        + ("less than that and cannot occur." if size < 1 / len(i) else f"{size * len(i):.1f} pairs of systems."),
    ]
