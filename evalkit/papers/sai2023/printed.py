"""Lay out what is computed as ``sai2023.toml`` compares it with the tables that Sai et al. 2023 print.

What the authors' notebook says (``legacy/code/evaluate.ipynb`` in AI4Bharat/IndicMT-Eval) is cited by its cells.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalkit import data
from evalkit.papers import claims
from evalkit.papers.sai2023.subsets import FAMILIES

#: Printed names of metrics -> those of computed tables that they turn out to be.
NAMES = claims.names("sai2023")
#: How the print calls the average over languages.
AVERAGE = "average"
_HALF = 0.5e-3  # cells are printed with three digits


def computed(
    segments: pd.DataFrame, systems: pd.DataFrame, ranges: pd.DataFrame, subsets: pd.DataFrame, means: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Make the tables that ``claims.compare("sai2023", ...)`` looks up.

    segments, systems: the results of ``correlation.segments`` and ``correlation.systems``. ranges: that of
    ``spread.ranges``. subsets: that of ``subsets.correlations``. means: language, system (as printed), mean_score.
    """
    of_rule = subsets[subsets["rule"].eq("authors")]
    words = ranges.loc[ranges["metric"].eq("chrF++"), "min"].max()
    printed = {f"table{number}": data.published(f"sai2023_table{number}") for number in (1, 3, 9)}
    return {
        "segments": _with_average(segments, ["pearson", "kendall_b"]),
        "systems": systems,
        "ranges": ranges.assign(with_words=words),
        "subsets": of_rule.pivot(index=["language", "metric"], columns="subset", values="kendall_b").reset_index(),
        "means": _with_average(means, ["mean_score"], by="system"),
        "table3": printed["table3"].astype({"kendall": float}).replace({"metric": NAMES}),
        **{f"means of {name}": row_means(table) for name, table in printed.items()},
    }


def row_means(table: pd.DataFrame) -> pd.DataFrame:
    """Average each row of a printed table over its five languages: metric or system, the table's columns, language."""
    by = "system" if "system" in table else "metric"
    columns = [name for name in ("pearson", "kendall", "mean_score") if name in table]
    cells = table[table["language"].ne(AVERAGE)].astype(dict.fromkeys(columns, float))
    means = cells.replace({by: NAMES}).groupby(by, sort=False)[columns].mean()
    return means.reset_index().assign(language=AVERAGE)


def readings(correlated: pd.DataFrame, tenth: pd.DataFrame, ranges: pd.DataFrame) -> pd.DataFrame:
    """Ask which metric the print calls chrF++: table, metric, cells, mean_gap, largest_gap, equal (to the last digit).

    correlated, tenth, ranges: as for ``table1``, ``table10`` (under the authors' rule) and ``table8``, of both metrics.
    """
    inside = tenth[tenth["rule"].eq("authors")].pivot(
        index=["language", "metric"], columns="subset", values="kendall_b"
    )
    tables = {
        "1": correlated.rename(columns={"kendall_b": "kendall"}).set_index(["language", "metric"]),
        "10": inside,
        "8": ranges.assign(language="all").set_index(["language", "metric"]),
    }
    rows = []
    for number, columns in {"1": ["pearson", "kendall"], "10": list(FAMILIES), "8": ["min", "max"]}.items():
        cells = data.published(f"sai2023_table{number}").query("metric == 'chrF++'")
        cells = cells.assign(language=cells.get("language", "all")).set_index("language")[columns].astype(float)
        cells = cells.drop(index=AVERAGE, errors="ignore")
        for name in ("chrF", "chrF++"):
            gap = (tables[number].xs(name, level="metric")[columns] - cells).abs().stack()
            equal = int(gap.lt(0.05 if number == "8" else _HALF).sum())
            rows.append((f"Table {number}", name, len(gap), gap.mean(), gap.max(), equal))
    return pd.DataFrame(rows, columns=["table", "metric", "cells", "mean_gap", "largest_gap", "equal"])


def said_of_data(correlated: pd.DataFrame, tenth: pd.DataFrame, spread: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that claims of ``sai2023_prose`` about metrics name.

    correlated: as for ``table1``. tenth: as for ``table10``. spread: the result of ``spread.summary``.
    Returns overlap_best (language, statistic, metric as printed: the best), subset_gain (language, metric, better:
    whether its tau is higher on accuracy errors only than on fluency errors only) and lower_half.
    """
    printed = {ours: name for name, ours in NAMES.items() if name in set(data.published("sai2023_table10")["metric"])}
    part = correlated[correlated["metric"].isin(printed)].replace({"metric": printed})
    long = part.melt(["language", "metric"], ["pearson", "kendall_b"], "statistic")
    best = long.loc[long.groupby(["language", "statistic"], sort=False)["value"].idxmax()]
    inside = tenth[tenth["rule"].eq("authors") & tenth["metric"].isin(printed)]
    wide = inside.pivot(index=["language", "metric"], columns="subset", values="kendall_b")
    better = wide["accuracy"].gt(wide["fluency"]).map({True: "yes", False: "no"})
    return {"overlap_best": best, "subset_gain": better.rename("better").reset_index(), "lower_half": spread}


def averages(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Lay printed averages beside the means of their own row: table, row, statistic, printed, mean, low, high.

    low and high are what the rounding of the five cells allows. tables: "table1", "table3" and "table9".
    """
    parts = []
    for name, table in tables.items():
        own = row_means(table).rename(columns={"system": "metric"})
        last = table[table["language"].eq(AVERAGE)].rename(columns={"system": "metric"})
        for statistic in own.columns.drop(["metric", "language"]):
            part = pd.DataFrame({"table": name, "row": last["metric"], "statistic": statistic})
            part["printed"] = last[statistic]
            part["mean"] = part["row"].replace(NAMES).map(own.set_index("metric")[statistic])
            parts.append(part)
    found = pd.concat(parts, ignore_index=True)
    return found.assign(low=found["mean"] - _HALF, high=found["mean"] + _HALF)


def _with_average(values: pd.DataFrame, columns: list[str], *, by: str = "metric") -> pd.DataFrame:
    """Add the mean over languages of each metric or system."""
    means = values.groupby(by, sort=False)[columns].mean().reset_index().assign(language=AVERAGE)
    return pd.concat([values[["language", by, *columns]], means], ignore_index=True)
