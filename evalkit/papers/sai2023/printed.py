"""What the printed tables of Sai et al. 2023 say by themselves, and what of the computed ones is laid beside them.

What the authors' notebook says (``legacy/code/evaluate.ipynb`` in AI4Bharat/IndicMT-Eval) is cited by its cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import data
from evalkit.papers import claims
from evalkit.papers.claims import pivot
from evalkit.papers.sai2023.metrics import FAMILIES

#: Printed names of metrics -> those of computed tables that they turn out to be.
NAMES = claims.names("sai2023")
#: How the print calls the average over languages.
AVERAGE = "average"
#: The metrics of Sai et al. 2023 by the kind that their text gives them (section 4.1).
KINDS = {
    "overlap": ("BLEU 1", "BLEU 2", "BLEU 3", "BLEU 4", "SacreBLEU", "ROUGE-L", "chrF++", "TER"),
    "embedding": ("EA", "VE", "GM", "LASER embs", "LabSE embs"),
    "BERTScore": ("mBERT", "distilmBERT", "IndicBERT", "MuRIL"),
    "trained": ("PRISM", "BLEURT-20", "COMET-QE-DA", "COMET-QE-MQM", "COMET-DA", "COMET-MQM"),
}
LANGUAGES = ["gu", "hi", "mr", "ml", "ta"]
STATISTICS = ("pearson", "kendall")
_HALF = 0.5e-3  # cells are printed with three digits
_ROUNDING = _HALF + 1e-9
Misprint = tuple[str, str, str, str]


def misprints(tables: Mapping[str, pd.DataFrame], *, annotated: int = 1400) -> Iterator[Misprint]:
    """Go through what the printed tables contradict by themselves: table, cell, printed, evidence (with numbers).

    tables: the transcriptions by their names without the paper's, as "table1", with cells as text. annotated: segments
    per language, which the significance of Table 1 rests on. Every entry is recomputed from the cells here. What else
    follows from printed cells, such as averages, is compared with print elsewhere, and ``claims.misprints`` adds it.
    """
    yield from _insignificant(tables["table1"], annotated=annotated)
    yield from _impossible_tau(tables["table2"])
    yield from _opposite_signs(tables["table1"], tables["table2"])
    yield from _zero_averaged(tables["table9"])


def _insignificant(table: pd.DataFrame, *, annotated: int) -> Iterator[Misprint]:
    """List correlations too small to be significant at 0.05, although Table 1 calls all of them so."""
    limit = stats.t.ppf(0.975, annotated - 2)
    least = {
        "pearson": limit / sqrt(annotated - 2 + limit**2),
        "kendall": 1.959964 * sqrt(2 * (2 * annotated + 5) / (9 * annotated * (annotated - 1))),
    }
    for statistic, bound in least.items():
        cells = pivot(table, "metric", "language", statistic)[LANGUAGES].stack()
        evidence = f"all are called significant (p < 0.05); without ties, {annotated} segments need {bound:.3f}"
        for (metric, language), value in cells[cells.abs() < bound].items():
            yield "Table 1", f"{metric}, {language}, {statistic}", f"{value:.3f}", evidence


def _impossible_tau(table: pd.DataFrame) -> Iterator[Misprint]:
    """List system-level taus that no ranking of six (Gujarati) or seven systems can have.

    Without ties, tau is a difference of whole numbers over the pairs of systems. The evidence says which tau is
    nearest, whether the printed value is it cut off instead of rounded, and how many tied pairs could explain it.
    """
    for (metric, language), value in pivot(table, "metric", "language", "kendall")[LANGUAGES].stack().items():
        pairs = comb(6 if language == "gu" else 7, 2)
        grid = np.arange(-pairs, pairs + 1, 2) / pairs
        nearest = grid[np.abs(grid - value).argmin()]
        if abs(nearest - value) <= _ROUNDING:
            continue
        if abs(np.trunc(nearest * 1000) / 1000 - value) < 1e-9:
            evidence = f"cut off after three digits: {nearest:.5f} rounds to {nearest:.3f}"
        else:  # tau-b where some pairs are tied in one of the two rankings
            tied = {t: np.arange(t - pairs, pairs - t + 1, 2) / sqrt(pairs * (pairs - t)) for t in range(1, pairs)}
            ties = [t for t, possible in tied.items() if (np.abs(possible - value) <= _ROUNDING).any()]
            would = f"; {ties[0]} tied pair{'s' * (ties[0] > 1)} of systems would allow it" if ties else ""
            evidence = f"{pairs} pairs of systems without ties allow {nearest:.3f} next to it{would}"
        yield "Table 2", f"{metric}, {language}, kendall", f"{value:.3f}", evidence


def _opposite_signs(first: pd.DataFrame, second: pd.DataFrame) -> Iterator[Misprint]:
    """List metrics whose sign convention changes between the two tables of correlations."""
    one, other = (pivot(table, "metric", "language", "pearson")[LANGUAGES] for table in (first, second))
    for name in [name for name in one.index if name in other.index]:
        if (one.loc[name] > 0).all() and (other.loc[name] < 0).all():
            evidence = f"negative here, positive in Table 1 ({one.at[name, 'gu']:.3f}): the sign was turned in one of "
            yield "Table 2", f"{name}, all languages", f"{other.at[name, 'gu']:.3f}", f"{evidence}them only"


def _zero_averaged(table: pd.DataFrame) -> Iterator[Misprint]:
    """List averages of Table 9 that count a 0 for a system whose outputs were not judged in a language."""
    means = pivot(table, "system", "language", "mean_score")
    for system, language in means[LANGUAGES].where(means == 0).stack().dropna().index:
        rest = means.loc[system, LANGUAGES].drop(language).mean()
        evidence = f"counts 0.000 for {language}, where its outputs were not judged (section 3.1); the mean of the "
        evidence += f"other four cells is {rest:.3f}"
        yield "Table 9", f"{system}, average", f"{means.at[system, 'average']:.3f}", evidence


def subset_means(table: pd.DataFrame) -> pd.DataFrame:
    """Average Table 10's cells over languages: metric, fluency, accuracy."""
    cells = table.astype({"fluency": float, "accuracy": float})
    return cells.groupby("metric", sort=False)[["fluency", "accuracy"]].mean().reset_index()


def said_of_print(tables: Mapping[str, pd.DataFrame], *, annotated: int = 1400) -> dict[str, pd.DataFrame]:
    """Make the tables of printed cells that claims of ``sai2023_prose`` about them name.

    tables, annotated: as for ``misprints``. "print_best": the best metric of each kind, or of all, by language and
    statistic, in Table 1. "print_weak": its cells too small to be significant. "print_learned": Tables 3 and 4, where
    Indic-COMET-MQM beats COMET-MQM, and both baselines, and by how much. "print_subsets": means in Table 10.
    "print_systems": averages in Table 9, the highest first. "print_metrics": metrics of Table 1, variants of BLEU and
    COMET as one. "folds": what appendix B.2's numbers of segments, and of the carbon footprint, follow from.
    """
    first = tables["table1"]["metric"].unique()
    names = pd.Series(first).str.replace(r"^(BLEU|COMET)[ -].*", r"\1", regex=True)
    means = pd.to_numeric(tables["table9"].query("language == 'average'").set_index("system")["mean_score"])
    whole = annotated * len(LANGUAGES)  # in three folds, 2,000 of them to test on; and 10 hours at 140 W
    folds = {"training": whole - 2000, "testing": whole / 3, "emissions": 0.432 * 10 * 0.140}
    return {
        "print_best": _best(tables["table1"]),
        "print_weak": pd.DataFrame(_insignificant(tables["table1"], annotated=annotated)),
        "print_learned": pd.concat([_learned(tables[name], name) for name in ("table3", "table4")]),
        "print_subsets": subset_means(tables["table10"]).assign(better=lambda t: t["accuracy"] > t["fluency"]),
        "print_systems": means.sort_values(ascending=False).reset_index().assign(place=range(1, len(means) + 1)),
        "print_metrics": names.drop_duplicates().to_frame("metric"),
        "folds": pd.DataFrame([folds]),
    }


def _best(table: pd.DataFrame) -> pd.DataFrame:
    """Name the best metric of each kind: kind, statistic, language (and the average), metric, family."""
    kinds = {**KINDS, "any": tuple(table["metric"].unique())}
    rows = [
        (kind, statistic, language, cells.idxmax())
        for statistic in STATISTICS
        for kind, metrics in kinds.items()
        for language, cells in pivot(table, "metric", "language", statistic).loc[list(metrics)].items()
    ]
    found = pd.DataFrame(rows, columns=["kind", "statistic", "language", "metric"])
    return found.assign(family=found["metric"].str.partition("-")[0])


def _learned(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Say how Indic-COMET-MQM does against the baselines: table, statistic, language, gain, beats, beats_both."""
    parts, spelt = [], table.assign(metric=table["metric"].str.replace("-", ""))
    for statistic in [name for name in STATISTICS if name in table]:
        wide = pivot(spelt, "metric", "language", statistic)[LANGUAGES]
        ours, base = wide.loc["IndicCOMETMQM"], wide.loc[["COMETDA", "COMETMQM"]]
        gain = ours - base.loc["COMETMQM"]
        won = {"gain": gain, "largest": gain.eq(gain.max()), "beats": gain > 0, "beats_both": ours > base.max()}
        parts.append(pd.DataFrame(won).rename_axis("language").reset_index().assign(statistic=statistic, table=name))
    return pd.concat(parts, ignore_index=True)


def computed(
    segments: pd.DataFrame, systems: pd.DataFrame, ranges: pd.DataFrame, subsets: pd.DataFrame, means: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Make the tables that ``claims.compare("sai2023", ...)`` looks up.

    segments, systems: the results of ``correlation.segments`` and ``correlation.systems``. ranges: that of
    ``spread.ranges``. subsets: that of ``subsets.correlations``. means: language, system (as printed), mean_score.
    """
    words = ranges.loc[ranges["metric"].eq("chrF++"), "min"].max()
    printed = {f"table{number}": data.published(f"sai2023_table{number}") for number in (1, 3, 9)}
    return {
        "segments": _with_average(segments, ["pearson", "kendall_b"]),
        "systems": systems,
        "ranges": ranges.assign(with_words=words),
        "subsets": _of_authors(subsets),
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


def readings(segments: pd.DataFrame, subsets: pd.DataFrame, ranges: pd.DataFrame) -> pd.DataFrame:
    """Ask which metric the print calls chrF++: table, metric, cells, mean_gap, largest_gap, equal (to the last digit).

    segments, subsets, ranges: as for ``computed``, of both metrics.
    """
    named = {"1": segments.rename(columns={"kendall_b": "kendall"}), "10": _of_authors(subsets)}
    named["8"] = ranges.assign(language="all")
    rows = []
    for number, columns in {"1": ["pearson", "kendall"], "10": list(FAMILIES), "8": ["min", "max"]}.items():
        cells = data.published(f"sai2023_table{number}").query("metric == 'chrF++'")
        cells = cells.assign(language=cells.get("language", "all")).set_index("language")[columns].astype(float)
        cells = cells.drop(index=AVERAGE, errors="ignore")
        for name, own in named[number].groupby("metric"):
            if name in ("chrF", "chrF++"):
                gap = (own.set_index("language")[columns] - cells).abs().stack()
                equal = int(gap.lt(0.05 if number == "8" else _HALF).sum())
                rows.append((f"Table {number}", name, len(gap), gap.mean(), gap.max(), equal))
    return pd.DataFrame(rows, columns=["table", "metric", "cells", "mean_gap", "largest_gap", "equal"])


def said_of_data(correlated: pd.DataFrame, tenth: pd.DataFrame, spread: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that claims of ``sai2023_prose`` about metrics name.

    correlated: as ``segments`` of ``computed``. tenth: as its ``subsets``. spread: the result of ``spread.summary``.
    Returns overlap_best (language, statistic, metric as printed: the best), subset_gain (language, metric, better:
    whether its tau is higher on accuracy errors only than on fluency errors only) and lower_half.
    """
    printed = {ours: name for name, ours in NAMES.items() if name in set(data.published("sai2023_table10")["metric"])}
    part = correlated[correlated["metric"].isin(printed)].replace({"metric": printed})
    long = part.melt(["language", "metric"], ["pearson", "kendall_b"], "statistic")
    best = long.loc[long.groupby(["language", "statistic"], sort=False)["value"].idxmax()]
    wide = _of_authors(tenth[tenth["metric"].isin(printed)]).set_index(["language", "metric"])
    better = wide["accuracy"].gt(wide["fluency"]).map({True: "yes", False: "no"})
    return {"overlap_best": best, "subset_gain": better.rename("better").reset_index(), "lower_half": spread}


def _of_authors(subsets: pd.DataFrame) -> pd.DataFrame:
    """Lay tau by the authors' rule out as Table 10 does: language, metric, fluency, accuracy."""
    of_rule = subsets[subsets["rule"].eq("authors")]
    return of_rule.pivot(index=["language", "metric"], columns="subset", values="kendall_b").reset_index()


def _with_average(values: pd.DataFrame, columns: list[str], *, by: str = "metric") -> pd.DataFrame:
    """Add the mean over languages of each metric or system."""
    means = values.groupby(by, sort=False)[columns].mean().reset_index().assign(language=AVERAGE)
    return pd.concat([values[["language", by, *columns]], means], ignore_index=True)
