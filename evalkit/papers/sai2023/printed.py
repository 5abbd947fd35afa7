"""Compare computed correlations, ranges and means with those that Sai et al. 2023 print, cell by cell.

What the authors' notebook says (``legacy/code/evaluate.ipynb`` in AI4Bharat/IndicMT-Eval) is cited by its cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalkit import data
from evalkit.papers import claims
from evalkit.papers.sai2023.needs import lacking
from evalkit.papers.sai2023.subsets import FAMILIES

#: Printed names of metrics -> those of ``lexical`` that they turn out to be. The authors' notebook calls BLEU 1-4 from
#: code for image captions (cells 7 to 10), and chrF with its defaults, which count no words (cell 20).
NAMES = {
    **{f"BLEU{sep}{n}": f"BLEU-{n} caption" for sep in (" ", "-", "") for n in range(1, 5)},
    "SacreBLEU": "SacreBLEU",
    "sacreBLEU": "SacreBLEU",
    "ROUGE-L": "ROUGE-L",
    "ROUGE": "ROUGE-L",
    "chrF++": "chrF",
    "TER": "TER",
    "Human": "human",
}
#: How the print calls the average over languages.
AVERAGE = "average"
#: Languages whose printed systems are all released: the paper drops mBART in Gujarati (section 3.1), and only there.
COMPLETE = ("gu",)
_HALF = 0.5e-3  # cells are printed with three digits
_MBART = "mBART's outputs never released"
_ROWS = "The paper's segments are not all in the release, which has none of mBART's."
_WHY = {
    "BLEU": "BLEU as code for image captions has it, words at blanks; the paper's own tokens are not known.",
    "chrF": "chrF without words, which is what the authors' notebook computes under the name chrF++.",
    "ROUGE": "Words at blanks, recall weighted by 1.2; the paper's own tokens are not known.",
}
#: What is wrong with the release's files of a language.
_FILES = {
    "hi": "Hindi's references are corrected here.",
    "mr": "In the release, Bing API and CVIT have one and the same text in Marathi.",
}
_FOLLOWS = "follows from other printed numbers"
_DATA = "recomputed from data"


def table1(correlated: pd.DataFrame) -> pd.DataFrame:
    """Compare segment-level correlations with Table 1, as rows for ``show.compare``.

    correlated: the result of ``correlation.segments`` for ``METRICS`` and ``CAPTION``. A printed average is compared
    with the mean of the computed values, or of its own row's cells where nothing was computed.
    """
    ours = _with_average(correlated.rename(columns={"kendall_b": "kendall"}), ["pearson", "kendall"])
    return _of_metrics("1", ours, ["pearson", "kendall"], _ROWS)


def table2(correlated: pd.DataFrame) -> pd.DataFrame:
    """Compare system-level correlations with Table 2, where the printed systems are all here (``COMPLETE``).

    correlated: the result of ``correlation.systems``. In the other languages print correlates seven systems, the
    release has six: nothing computed from six is what seven would give.
    """
    ours = correlated[correlated["language"].isin(COMPLETE)].rename(columns={"kendall_b": "kendall"})
    reason = "The same six systems as in print, with some judgements fewer."
    return _of_metrics("2", ours, ["pearson", "kendall"], reason)


def table3() -> pd.DataFrame:
    """List Table 3's trained metrics, with what they need; their averages are compared with their own cells."""
    return _of_metrics("3", _nothing(["pearson", "kendall"]), ["pearson", "kendall"], "")


def table4() -> pd.DataFrame:
    """Compare the baselines of Table 4 with Table 3, which prints them as well, and list what the others need."""
    columns = {"metric": {"COMET-DA": "COMETDA", "COMET-MQM": "COMETMQM"}}
    table = data.published("sai2023_table4")
    baseline = table["metric"].isin(columns["metric"].values())
    third = data.published("sai2023_table3").replace(columns).astype({"kendall": float})
    called: dict[str, Any] = {"item": "Table 4", "on": ["language", "metric"], "values": {"kendall": "kendall"}}
    ours = _explained(table, _nothing(["kendall"]), "")
    parts = [
        claims.compare_with_print(table[baseline], third, basis=_FOLLOWS, **called),
        claims.compare_with_print(table[~baseline], ours, basis=_DATA, **called),
    ]
    return pd.concat(parts, ignore_index=True)


def table7() -> pd.DataFrame:
    """List the settings of Table 7, which nothing could compute."""
    because, lacking = "A setting of the training; no data give it.", "a setting, nothing to compute"
    called: dict[str, Any] = {"item": "Table 7", "on": ["hyperparameter"], "basis": "definition"}
    return claims.listed(data.published("sai2023_table7"), "value", because=because, lacking=lacking, **called)


def table8(ranges: pd.DataFrame) -> pd.DataFrame:
    """Compare the metrics' lowest and highest values with Table 8. ranges: the result of ``spread.ranges``."""
    table = data.published("sai2023_table8")
    ours = _explained(table, ranges, _ROWS, on=["metric"])
    words = ranges.set_index("metric")["min"].get("chrF++")
    exact = "" if words is None else f" With words, as the name says, the lowest is {words:.3f}: 1.7 if cut off."
    ours["note"] += ours["metric"].eq("chrF++").map({True: exact, False: ""})
    return claims.compare_with_print(
        table, ours, item="Table 8", on=["metric"], values={"min": "min", "max": "max"}, basis=_DATA
    )


def table9(means: pd.DataFrame) -> pd.DataFrame:
    """Compare the systems' mean scores with Table 9.

    means: language, system (as printed), mean_score and n. mBART's averages follow from its own printed cells.
    """
    table = data.published("sai2023_table9")
    ours = _with_average(means, ["mean_score"], by="system")
    here = table["system"].ne("mBART") | table["language"].ne(AVERAGE)
    note = "Means over the judgements that can be placed; print has more, whose systems are not named (see above)."
    called: dict[str, Any] = {"item": "Table 9", "on": ["language", "system"], "values": {"mean_score": "mean_score"}}
    gone: dict[str, Any] = {"absent": "This system's outputs are not in the release.", "lacking": _MBART}
    found = claims.compare_with_print(table[here], ours, basis=_DATA, note=note, **gone, **called)
    return pd.concat([found, _own_average(table, ~here, "mean_score", "9", by="system")], ignore_index=True)


def table10(correlated: pd.DataFrame) -> pd.DataFrame:
    """Compare correlations within the subsets of errors with Table 10. correlated: ``subsets.correlations``."""
    part = correlated[correlated["rule"] == "authors"]
    wide = part.pivot(index=["language", "metric"], columns="subset", values="kendall_b").reset_index()
    return _of_metrics("10", wide, list(FAMILIES), f"As the authors' notebook chooses segments (cell 94). {_ROWS}")


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
        by, columns = ("system", ["mean_score"]) if name == "table9" else ("metric", ["pearson", "kendall"])
        for column in columns:
            last = table["language"].eq(AVERAGE)
            made = _own_average(table, last, column, name.removeprefix("table"), by=by)
            made = made.assign(table=name, row=table.loc[last, by].to_numpy(), statistic=column)
            parts.append(made.rename(columns={"computed": "mean"}))
    columns = ["table", "row", "statistic", "printed", "mean", "low", "high"]
    return pd.concat(parts, ignore_index=True)[columns].astype({"mean": float})


def _of_metrics(number: str, ours: pd.DataFrame, columns: list[str], reason: str) -> pd.DataFrame:
    """Lay a table of metrics and languages beside computed ones; averages of what is not computed follow from print."""
    table = data.published(f"sai2023_table{number}")
    last = table["language"].eq(AVERAGE) & ~table["metric"].isin(NAMES)
    laid = _explained(table, ours, reason)
    values = {name: name for name in columns}
    on = ["language", "metric"]
    parts = [claims.compare_with_print(table[~last], laid, item=f"Table {number}", on=on, values=values, basis=_DATA)]
    parts += [_own_average(table, last, name, number) for name in columns if last.any()]
    return pd.concat(parts, ignore_index=True)


def _explained(
    table: pd.DataFrame, ours: pd.DataFrame, reason: str, *, on: Sequence[str] = ("language", "metric")
) -> pd.DataFrame:
    """Give computed values the printed names, and every printed row its note: why it may differ, or what it lacks."""
    found = table[list(on)].assign(ours=table["metric"].map(NAMES))
    found = found.merge(ours.rename(columns={"metric": "ours"}), on=["ours", *on[:-1]], how="left")
    known = found["ours"].notna()
    needs = pd.DataFrame([("", "") if here else lacking(name) for name, here in zip(found["metric"], known)])
    seven = found["language"].isin(COMPLETE) if "language" in on else known
    seven_systems = "In print this correlates seven systems; mBART's outputs are not in the release."
    return found.assign(
        note=[_why(str(name), place, reason) for name, place in zip(found["ours"], found[on[0]])],
        absent=needs[1].where(~known | seven, seven_systems),
        lacking=needs[0].where(~known | seven, _MBART),
    )


def _why(name: str, language: str, reason: str) -> str:
    """Say what is known of how the paper's value was computed."""
    metric = next((why for start, why in _WHY.items() if name.startswith(start)), "")
    return " ".join(filter(None, [metric, *(_FILES[each] for each in _FILES if language in (each, AVERAGE)), reason]))


def _with_average(values: pd.DataFrame, columns: list[str], *, by: str = "metric") -> pd.DataFrame:
    """Add the mean over languages of each metric or system."""
    means = values.groupby(by, sort=False)[columns].mean().reset_index().assign(language=AVERAGE)
    return pd.concat([values[["language", by, *columns]], means], ignore_index=True)


def _own_average(table: pd.DataFrame, rows: pd.Series, column: str, number: str, *, by: str = "metric") -> pd.DataFrame:
    """Compare printed averages with the mean of their row's printed cells, with what the cells' rounding allows."""
    cells = table[table["language"].ne(AVERAGE)]
    means = pd.to_numeric(cells[column]).groupby(cells[by]).mean().reindex(table.loc[rows, by]).to_numpy()
    cell = f"{AVERAGE}, " + table.loc[rows, by] + f", {column}"
    note = "The mean of this row's printed cells."
    made = claims.rows(
        table[rows], column, computed=means, item=f"Table {number}", cell=cell, basis=_FOLLOWS, note=note
    )
    return made.assign(low=means - _HALF, high=means + _HALF)


def _nothing(columns: list[str]) -> pd.DataFrame:
    """Make a table of correlations without a row."""
    return pd.DataFrame(columns=["language", "metric", *columns])
