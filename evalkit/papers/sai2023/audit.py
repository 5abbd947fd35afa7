"""Audit printed tables from their own cells: averages, values that cannot be, claims that the cells contradict."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, sqrt

import numpy as np
import pandas as pd

from evalkit.stats.terms import pluralize

#: The metrics of Sai et al. 2023 by the kind that their text gives them (section 4.1).
KINDS = {
    "overlap": ("BLEU 1", "BLEU 2", "BLEU 3", "BLEU 4", "SacreBLEU", "ROUGE-L", "chrF++", "TER"),
    "embedding": ("EA", "VE", "GM", "LASER embs", "LabSE embs"),
    "BERTScore": ("mBERT", "distilmBERT", "IndicBERT", "MuRIL"),
    "trained": ("PRISM", "BLEURT-20", "COMET-QE-DA", "COMET-QE-MQM", "COMET-DA", "COMET-MQM"),
}
LANGUAGES = ("gu", "hi", "mr", "ml", "ta")
_COLUMNS = ["table", "cell", "printed", "evidence"]
_ROUNDING = 0.5e-3 + 1e-9  # cells are printed with three digits


def misprints(tables: Mapping[str, pd.DataFrame], *, annotated: int = 1400) -> pd.DataFrame:
    """List what the printed tables contradict by themselves: table, cell, printed, evidence (a sentence with numbers).

    tables: the transcriptions by their names without the paper's, as "table1", with cells as text. annotated: segments
    per language, which the significance of Table 1 rests on. Every entry is recomputed from the cells here.
    """
    parts = [
        *(averages(tables[name], name) for name in ("table1", "table3")),
        insignificant(tables["table1"], annotated=annotated),
        not_best(tables["table1"]),
        impossible_tau(tables["table2"]),
        opposite_signs(tables["table1"], tables["table2"]),
        system_averages(tables["table9"]),
        better_on_fluency(tables["table10"]),
        wins(tables["table3"]),
    ]
    return pd.concat(parts, ignore_index=True)[_COLUMNS]


def averages(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """List the printed averages that rounded cells cannot have."""
    rows = []
    for statistic in ("pearson", "kendall"):
        wide = _numbers(table, statistic)
        mean = wide[list(LANGUAGES)].mean(axis=1)
        off = (wide["average"] - mean).abs() > 2 * _ROUNDING  # the cells' own rounding may add as much again
        rows += [
            (name, f"{metric}, average {statistic}", f"{wide.at[metric, 'average']:.3f}",
             f"the five languages' cells average {mean[metric]:.4f}")
            for metric in wide.index[off]
        ]  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


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
    return {
        "print_best": _best(tables["table1"]),
        "print_weak": insignificant(tables["table1"], annotated=annotated),
        "print_learned": pd.concat([_learned(tables[name], name) for name in ("table3", "table4")]),
        "print_subsets": _subset_means(tables["table10"]).assign(better=lambda t: t["accuracy"] > t["fluency"]),
        "print_systems": means.sort_values(ascending=False).reset_index().assign(place=range(1, len(means) + 1)),
        "print_metrics": names.drop_duplicates().to_frame("metric"),
        "folds": _folds(annotated * len(LANGUAGES)),
    }


def _folds(annotated: int) -> pd.DataFrame:
    """Say what follows for three folds of so many segments, 2,000 of them to test on; and for 10 hours at 140 W."""
    return pd.DataFrame({"training": [annotated - 2000], "testing": annotated / 3, "emissions": 0.432 * 10 * 0.140})


def _best(table: pd.DataFrame) -> pd.DataFrame:
    """Name the best metric of each kind: kind, statistic, language (and the average), metric, family."""
    kinds = {**KINDS, "any": tuple(table["metric"].unique())}
    rows = [
        (kind, statistic, language, cells.idxmax())
        for statistic in ("pearson", "kendall")
        for kind, metrics in kinds.items()
        for language, cells in _numbers(table, statistic).loc[list(metrics)].items()
    ]
    found = pd.DataFrame(rows, columns=["kind", "statistic", "language", "metric"])
    return found.assign(family=found["metric"].str.partition("-")[0])


def _learned(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Say how Indic-COMET-MQM does against the baselines: table, statistic, language, gain, beats, beats_both."""
    parts = []
    for statistic in [name for name in ("pearson", "kendall") if name in table]:
        wide = _numbers(table.assign(metric=table["metric"].str.replace("-", "")), statistic)[list(LANGUAGES)]
        ours, base = wide.loc["IndicCOMETMQM"], wide.loc[["COMETDA", "COMETMQM"]]
        gain = ours - base.loc["COMETMQM"]
        won = {"gain": gain, "largest": gain.eq(gain.max()), "beats": gain > 0, "beats_both": ours > base.max()}
        parts.append(pd.DataFrame(won).rename_axis("language").reset_index().assign(statistic=statistic, table=name))
    return pd.concat(parts, ignore_index=True)


def _subset_means(table: pd.DataFrame) -> pd.DataFrame:
    """Average Table 10's cells over languages: metric, fluency, accuracy."""
    cells = table.assign(fluency=pd.to_numeric(table["fluency"]), accuracy=pd.to_numeric(table["accuracy"]))
    return cells.groupby("metric", sort=False)[["fluency", "accuracy"]].mean().reset_index()


def insignificant(table: pd.DataFrame, *, annotated: int) -> pd.DataFrame:
    """List correlations too small to be significant at 0.05, although Table 1 calls all of them so."""
    from scipy import stats

    limit = stats.t.ppf(0.975, annotated - 2)
    least = {"pearson": limit / sqrt(annotated - 2 + limit**2),
             "kendall": 1.959964 * sqrt(2 * (2 * annotated + 5) / (9 * annotated * (annotated - 1)))}  # fmt: skip
    rows = []
    for statistic, bound in least.items():
        wide = _numbers(table, statistic)[list(LANGUAGES)].stack()
        rows += [
            ("table1", f"{metric}, {language}, {statistic}", f"{value:.3f}",
             f"all are called significant (p < 0.05); without ties, {annotated} segments need {bound:.3f}")
            for (metric, language), value in wide[wide.abs() < bound].items()
        ]  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


def not_best(table: pd.DataFrame) -> pd.DataFrame:
    """List the languages in which a metric that the text calls the best of its kind for all languages is not."""
    claims = (("COMET-MQM", "trained", "best-performing overall for all languages"),
              ("chrF++", "overlap", "highest across all languages among overlap metrics"))  # fmt: skip
    rows = []
    for champion, kind, told in claims:
        for statistic in ("pearson", "kendall"):
            wide = _numbers(table, statistic)
            for language in LANGUAGES:
                best = wide.loc[list(KINDS[kind]), language].idxmax()
                if best != champion:
                    rows.append(
                        ("table1", f"{champion}, {language}, {statistic}", f"{wide.at[champion, language]:.3f}",
                         f"called {told}; {best} has {wide.at[best, language]:.3f}")
                    )  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


def impossible_tau(table: pd.DataFrame) -> pd.DataFrame:
    """List system-level taus that no ranking of six (Gujarati) or seven systems can have.

    Without ties, tau is a difference of whole numbers over the pairs of systems. The evidence says which tau is
    nearest, whether the printed value is it cut off instead of rounded, and how many tied pairs could explain it.
    """
    rows = []
    wide = _numbers(table, "kendall")
    for metric, language in ((m, lang) for m in wide.index for lang in LANGUAGES):
        value, pairs = wide.at[metric, language], comb(6 if language == "gu" else 7, 2)
        grid = np.arange(-pairs, pairs + 1, 2) / pairs
        nearest = grid[np.abs(grid - value).argmin()]
        if abs(nearest - value) <= _ROUNDING:
            continue
        if abs(np.trunc(nearest * 1000) / 1000 - value) < 1e-9:
            why = f"cut off after three digits: {nearest:.5f} rounds to {nearest:.3f}"
        else:
            ties = [t for t in range(1, pairs) if _tied(value, pairs, t)]
            told = f"; {pluralize(ties[0], 'tied pair')} of systems would allow it" if ties else ""
            why = f"{pairs} pairs of systems without ties allow {nearest:.3f} next to it{told}"
        rows.append(("table2", f"{metric}, {language}, kendall", f"{value:.3f}", why))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _tied(value: float, pairs: int, ties: int) -> bool:
    """Tell whether tau-b over so many pairs, some of them tied in one of the two rankings, can print as a value."""
    possible = np.arange(-(pairs - ties), pairs - ties + 1, 2) / sqrt(pairs * (pairs - ties))
    return bool((np.abs(possible - value) <= _ROUNDING).any())


def opposite_signs(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """List metrics whose sign convention changes between the two tables of correlations."""
    one, other = (_numbers(table, "pearson")[list(LANGUAGES)] for table in (first, second))
    shared = [name for name in one.index if name in other.index]
    turned = [name for name in shared if (one.loc[name] > 0).all() and (other.loc[name] < 0).all()]
    rows = [("table2", f"{name}, all languages", f"{other.at[name, 'gu']:.3f}",
             f"negative here, positive in Table 1 ({one.at[name, 'gu']:.3f}): the sign was turned in one of them only")
            for name in turned]  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


def system_averages(table: pd.DataFrame) -> pd.DataFrame:
    """List averages of Table 9 that count a 0 for a system without outputs, or that its cells do not have."""
    wide = table.assign(value=pd.to_numeric(table["mean_score"])).pivot(
        index="system", columns="language", values="value"
    )
    rows = []
    for system, cells in wide.iterrows():
        judged = cells[list(LANGUAGES)]
        if (judged == 0).any():
            missing, rest = judged.index[judged == 0][0], judged[judged > 0].mean()
            rows.append(("table9", f"{system}, average", f"{cells['average']:.3f}",
                         f"counts 0.000 for {missing}, where its outputs were not judged (section 3.1); the mean of "
                         f"the other four cells is {rest:.3f}"))  # fmt: skip
        elif abs(judged.mean() - cells["average"]) > 2 * _ROUNDING:
            rows.append(("table9", f"{system}, average", f"{cells['average']:.3f}",
                         f"the five languages' cells average {judged.mean():.4f}"))  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


def better_on_fluency(table: pd.DataFrame) -> pd.DataFrame:
    """List metrics of Table 10 against its reading that all do better on accuracy errors, on average over languages."""
    means = _subset_means(table)
    against = means[means["fluency"] >= means["accuracy"]]
    rows = [("table10", f"{row.metric}, average", f"{row.fluency:.3f} and {row.accuracy:.3f}",
             "called better on accuracy errors; its five cells average otherwise")
            for row in against.itertuples()]  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


def wins(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the languages of Table 3 in which Indic-COMET-MQM beats both baselines with how many the text says."""
    rows = []
    for statistic in ("pearson", "kendall"):
        wide = _numbers(table, statistic)[list(LANGUAGES)]
        won = wide.columns[wide.loc["IndicCOMETMQM"] > wide.loc[["COMET-DA", "COMET-MQM"]].max()]
        if len(won) != 3:
            rows.append(("table3", f"languages in which Indic-COMET-MQM beats both baselines, {statistic}", "3",
                         f"the cells give {len(won)}: {', '.join(won)}"))  # fmt: skip
    return pd.DataFrame(rows, columns=_COLUMNS)


def _numbers(table: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """Pivot a transcribed table to metrics × languages, in the order of print."""
    values = table.assign(value=pd.to_numeric(table[statistic]))
    return values.pivot(index="metric", columns="language", values="value").loc[table["metric"].unique()]
