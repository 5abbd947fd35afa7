"""Audit printed tables from their own cells: averages, values that cannot be, claims that the cells contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.papers import transcribed
from evalkit.papers.transcribed import pivot

#: The metrics of Sai et al. 2023 by the kind that their text gives them (section 4.1).
KINDS = {
    "overlap": ("BLEU 1", "BLEU 2", "BLEU 3", "BLEU 4", "SacreBLEU", "ROUGE-L", "chrF++", "TER"),
    "embedding": ("EA", "VE", "GM", "LASER embs", "LabSE embs"),
    "BERTScore": ("mBERT", "distilmBERT", "IndicBERT", "MuRIL"),
    "trained": ("PRISM", "BLEURT-20", "COMET-QE-DA", "COMET-QE-MQM", "COMET-DA", "COMET-MQM"),
}
LANGUAGES = ["gu", "hi", "mr", "ml", "ta"]
STATISTICS = ("pearson", "kendall")
_ROUNDING = 0.5e-3 + 1e-9  # cells are printed with three digits
Misprint = tuple[str, str, str, str]


def misprints(tables: Mapping[str, pd.DataFrame], *, annotated: int = 1400) -> pd.DataFrame:
    """List what the printed tables contradict by themselves: table, cell, printed, evidence (a sentence with numbers).

    tables: the transcriptions by their names without the paper's, as "table1", with cells as text. annotated: segments
    per language, which the significance of Table 1 rests on. Every entry is recomputed from the cells here.
    """
    found = [*averages(tables["table1"], "table1"), *averages(tables["table3"], "table3")]
    found += [*insignificant(tables["table1"], annotated=annotated), *not_best(tables["table1"])]
    found += impossible_tau(tables["table2"])
    found += [*opposite_signs(tables["table1"], tables["table2"]), *system_averages(tables["table9"])]
    return transcribed.misprints([*found, *better_on_fluency(tables["table10"]), *wins(tables["table3"])])


def averages(table: pd.DataFrame, name: str) -> Iterator[Misprint]:
    """List the printed averages that rounded cells cannot have."""
    for statistic in STATISTICS:
        wide = pivot(table, "metric", "language", statistic)
        mean = wide[LANGUAGES].mean(axis=1)
        off = (wide["average"] - mean).abs() > 2 * _ROUNDING  # the cells' own rounding may add as much again
        for metric in wide.index[off]:
            evidence = f"the five languages' cells average {mean[metric]:.4f}"
            yield name, f"{metric}, average {statistic}", f"{wide.at[metric, 'average']:.3f}", evidence


def insignificant(table: pd.DataFrame, *, annotated: int) -> Iterator[Misprint]:
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
            yield "table1", f"{metric}, {language}, {statistic}", f"{value:.3f}", evidence


def not_best(table: pd.DataFrame) -> Iterator[Misprint]:
    """List the languages in which a metric that the text calls the best of its kind for all languages is not."""
    claims = (
        ("COMET-MQM", "trained", "best-performing overall for all languages"),
        ("chrF++", "overlap", "highest across all languages among overlap metrics"),
    )
    for champion, kind, claim in claims:
        for statistic in STATISTICS:
            wide = pivot(table, "metric", "language", statistic).loc[list(KINDS[kind])]
            for language, best in wide[LANGUAGES].idxmax().items():
                if best != champion:
                    evidence = f"called {claim}; {best} has {wide.at[best, language]:.3f}"
                    yield (
                        "table1",
                        f"{champion}, {language}, {statistic}",
                        f"{wide.at[champion, language]:.3f}",
                        evidence,
                    )


def impossible_tau(table: pd.DataFrame) -> Iterator[Misprint]:
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
        else:
            ties = [t for t in range(1, pairs) if _tied(value, pairs, t)]
            would = f"; {ties[0]} tied pair{'s' * (ties[0] > 1)} of systems would allow it" if ties else ""
            evidence = f"{pairs} pairs of systems without ties allow {nearest:.3f} next to it{would}"
        yield "table2", f"{metric}, {language}, kendall", f"{value:.3f}", evidence


def _tied(value: float, pairs: int, ties: int) -> bool:
    """Tell whether tau-b over so many pairs, some of them tied in one of the two rankings, can print as a value."""
    possible = np.arange(-(pairs - ties), pairs - ties + 1, 2) / sqrt(pairs * (pairs - ties))
    return bool((np.abs(possible - value) <= _ROUNDING).any())


def opposite_signs(first: pd.DataFrame, second: pd.DataFrame) -> Iterator[Misprint]:
    """List metrics whose sign convention changes between the two tables of correlations."""
    one, other = (pivot(table, "metric", "language", "pearson")[LANGUAGES] for table in (first, second))
    for name in [name for name in one.index if name in other.index]:
        if (one.loc[name] > 0).all() and (other.loc[name] < 0).all():
            evidence = f"negative here, positive in Table 1 ({one.at[name, 'gu']:.3f}): the sign was turned in one of "
            yield "table2", f"{name}, all languages", f"{other.at[name, 'gu']:.3f}", f"{evidence}them only"


def system_averages(table: pd.DataFrame) -> Iterator[Misprint]:
    """List averages of Table 9 that count a 0 for a system without outputs, or that its cells do not have."""
    for system, cells in pivot(table, "system", "language", "mean_score").sort_index().iterrows():
        judged, evidence = cells[LANGUAGES], ""
        if (judged == 0).any():
            missing, rest = judged.index[judged == 0][0], judged[judged > 0].mean()
            evidence = f"counts 0.000 for {missing}, where its outputs were not judged (section 3.1); the mean of the "
            evidence += f"other four cells is {rest:.3f}"
        elif abs(judged.mean() - cells["average"]) > 2 * _ROUNDING:
            evidence = f"the five languages' cells average {judged.mean():.4f}"
        if evidence:
            yield "table9", f"{system}, average", f"{cells['average']:.3f}", evidence


def better_on_fluency(table: pd.DataFrame) -> Iterator[Misprint]:
    """List metrics of Table 10 against its reading that all do better on accuracy errors, on average over languages."""
    means = subset_means(table)
    evidence = "called better on accuracy errors; its five cells average otherwise"
    for row in means[means["fluency"] >= means["accuracy"]].itertuples():
        yield "table10", f"{row.metric}, average", f"{row.fluency:.3f} and {row.accuracy:.3f}", evidence


def subset_means(table: pd.DataFrame) -> pd.DataFrame:
    """Average Table 10's cells over languages: metric, fluency, accuracy."""
    cells = table.astype({"fluency": float, "accuracy": float})
    return cells.groupby("metric", sort=False)[["fluency", "accuracy"]].mean().reset_index()


def wins(table: pd.DataFrame) -> Iterator[Misprint]:
    """Compare the languages of Table 3 in which Indic-COMET-MQM beats both baselines with how many the text says."""
    for statistic in STATISTICS:
        wide = pivot(table, "metric", "language", statistic)[LANGUAGES]
        won = wide.columns[wide.loc["IndicCOMETMQM"] > wide.loc[["COMET-DA", "COMET-MQM"]].max()]
        if len(won) != 3:
            cell = f"languages in which Indic-COMET-MQM beats both baselines, {statistic}"
            yield "table3", cell, "3", f"the cells give {len(won)}: {', '.join(won)}"
