"""Knowles & Lo 2024 on WMT22: published z-scores recomputed, and the tables behind the claims of their prose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit import data
from evalkit.data.schemas import map_tables, with_pair
from evalkit.human import annotators, context, normalization
from evalkit.human.normalization import normalize
from evalkit.papers import claims, wmt
from evalkit.stats import agreement

Tables = Mapping[str, pd.DataFrame]
#: Scores above it are high ones.
_HIGH = 50
#: Numbers of ticks of a scale in use, as the paper calls them.
_GRIDS = {5: "five ticks", 7: "seven ticks", 13: "seven ticks and midpoints"}
#: What WMT's pipeline does, and one departure from it at a time: name -> options of ``normalize``.
PIPELINES: Mapping[str, Mapping] = {
    "as WMT": {"digits": 7},
    "statistics not rounded": {},
    "sd with ddof 0": {"digits": 7, "ddof": 0},
    "statistics without references": {"digits": 7, "item_types": ("system", "repeat", "degraded")},
    "statistics without degraded items": {"digits": 7, "item_types": ("system", "repeat", "reference")},
    "statistics of first showings of outputs": {"digits": 7, "item_types": ("system",)},
    "statistics per HIT": {"digits": 7, "by": ("hit",)},
}


def compare_with_published(ratings: pd.DataFrame) -> pd.DataFrame:
    """Compare recomputed z-scores with the published ones, the column z, per language pair and way of computing them.

    WMT's own: mean and standard deviation (ddof 1) per language pair and worker, over items of all types, rounded to
    the seven significant digits that R prints, because the pipeline wrote them to a file and read them back.
    Returns pair, variant, judgements, undefined (published but not defined here), median and largest (of the absolute
    differences, in standard deviations), equal (none larger than 1e-9, none undefined).
    """
    rows = []
    for name, options in PIPELINES.items():
        frame = with_pair(normalize(ratings, method="z", **options))
        frame = frame[frame["z"].notna()]
        for pair, part in frame.groupby("pair", sort=True):
            off = (part["normalized"] - part["z"]).abs()
            undefined, largest = int(off.isna().sum()), float(off.max())
            equal = bool(undefined == 0 and largest <= 1e-9)
            rows.append((pair, name, len(part), undefined, float(np.nanmedian(off)), largest, equal))
    columns = ["pair", "variant", "judgements", "undefined", "median", "largest", "equal"]
    return pd.DataFrame(rows, columns=columns)


def beside(usage: pd.DataFrame, annotator: str) -> pd.DataFrame:
    """Compare everybody else of an annotator's language pair with them: how much lower, how much wider scores are.

    usage: the result of ``usage``. Returns pair, annotator (the others), mean_below (points that their mean lies below
    the named one's), sd_above (their standard deviation less the named one's); no row where nobody bears the name.

    >>> table = pd.DataFrame({"pair": "p", "annotator": list("abc"), "mean": [80.0, 60, 90], "sd": [10.0, 12, 5]})
    >>> beside(table, "a").to_numpy().tolist()
    [['p', 'b', 20.0, 2.0], ['p', 'c', -10.0, -5.0]]
    """
    named = usage.loc[usage["annotator"] == annotator, ["pair", "mean", "sd"]]
    others = usage[usage["annotator"] != annotator].merge(named, on="pair", suffixes=("", "_named"))
    differences = {"mean_below": others["mean_named"] - others["mean"], "sd_above": others["sd"] - others["sd_named"]}
    return others[["pair", "annotator"]].assign(**differences)


def lowest_between(extremes: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """Tell of the two annotators with the lowest correlation whether one gave few kinds of scores, per pair and kind.

    extremes: the result of ``agreement.correlation_extremes``. profiles: that of ``profiles``. Returns pair, statistic,
    min_between, high_only (one of the two gave only scores above 50), coarse (one used a coarser scale) and
    explained (either).
    """
    odd = profiles.set_index(["pair", "annotator"])
    sides = extremes["min_between"].str.split(" ", expand=True)
    found = {}
    for name, marked in (("high_only", odd["min"] > _HIGH), ("coarse", odd["grid"] != "none")):
        known = [marked.reindex(pd.MultiIndex.from_arrays([extremes["pair"], sides[k]])).to_numpy(bool) for k in (0, 1)]
        found[name] = known[0] | known[1]
    table = extremes[["pair", "statistic", "min_between"]].assign(**found)
    return table.assign(explained=table["high_only"] | table["coarse"])


def amounts(ratings: pd.DataFrame) -> pd.DataFrame:
    """Count each annotator's judgements, of every kind: pair, annotator, judgements, median_magnitude.

    median_magnitude: the power of ten that the median annotator's number is nearest to (on a scale of logarithms), over
    all language pairs; "on the order of" in print.

    >>> ratings = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "annotator": ["a"] * 4 + ["b"] * 40})
    >>> amounts(ratings).to_numpy().tolist()
    [['eng-jpn', 'a', 4, 10], ['eng-jpn', 'b', 40, 10]]
    """
    table = with_pair(ratings).groupby(["pair", "annotator"]).size().rename("judgements").reset_index()
    return table.assign(median_magnitude=10 ** round(float(np.log10(table["judgements"].median()))))


def imagined(ratings: pd.DataFrame) -> pd.DataFrame:
    """Correlate two imagined annotators who give one score each, 60 and 50: one, other, value (Pearson's), outcome.

    ratings: whose first two annotators' items they score. outcome: "undefined" where there is no correlation.
    """
    first = sorted(ratings["annotator"].unique())[:2]
    both = ratings[ratings["annotator"].isin(first)]
    both = both.assign(score=both["annotator"].eq(first[0]) * 10.0 + 50)
    found = agreement.correlations(both).query("statistic == 'pearson'")
    outcome = found["value"].map("{:.2f}".format).replace({"1.00": "perfect", "nan": "undefined"})
    words = {"one": "60 for every segment", "other": "50 for every segment"}
    return found.assign(**words, outcome=outcome)[[*words, "value", "outcome"]]


def recomputed(
    ratings: pd.DataFrame, accounts: pd.DataFrame, crowd: Tables, official: Tables
) -> dict[str, pd.DataFrame]:
    """Make the paper's Tables 1 and 2, and recompute what WMT published beside its crowds' judgements.

    ratings, accounts: the calibration HITs, and who took part in them. crowd, official: name -> judgements, rankings.
    Returns table1, table2, published_z (``compare_with_published``), official_digits (how many systems' scores equal
    print to every digit), clusters and p_values (as ``papers.wmt`` compares them; tests that print no p are left out).
    """
    digits = wmt.tally(wmt.official_scores(crowd, official))
    tests = wmt.compare_p_values(crowd["wmt22-mturk"], data.published("wmt22_pvalues"))
    return {
        "table1": annotators.contents(ratings),
        "table2": annotators.workload(accounts).drop(columns=["incomplete", "without_additional"]),
        "published_z": map_tables(crowd, compare_with_published),
        "official_digits": digits[["data", "scale", "pair", "systems", "equal", "missing_judgements"]],
        "clusters": wmt.compare_clusters(crowd, data.published("wmt_clusters")),
        "p_values": tests.dropna(subset="official"),
    }


def claimed(
    printed: pd.DataFrame, ratings: pd.DataFrame, tables: Tables, mapping: pd.DataFrame, *additional: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return the claims about calibration HITs and the tables that they name, as ``claims.look_up`` wants them.

    printed: the study's claims. ratings, tables: as ``derived`` wants them. mapping: which HIT is whose. additional:
    WMT22's DA+SQM ratings, where they are here.
    """
    given = derived(ratings, tables)
    for table in additional:
        given |= of_additional(context.restrict(table, mapping), ratings)
    absent = "The WMT22 document-level score file (data set wmt22-da-sqm) is not here; `evalkit data fetch` gets it."
    return claims.unavailable(printed, given, because=absent, lacking="file not here: wmt22-da-sqm"), given


def derived(ratings: pd.DataFrame, tables: Tables) -> dict[str, pd.DataFrame]:
    """Add to the study's tables those that only its claims need: name -> table.

    ratings: the calibration HITs. tables: accounts, usage, profiles, correlations, grids (scales in use) and others.
    """
    usage, grids = tables["usage"], tables["grids"]
    judged = with_pair(ratings)
    systems = judged.groupby(["pair", "doc"])["system"].unique().map(sorted)
    extremes = agreement.correlation_extremes(tables["correlations"]).query("statistic != 'kendall_b'")
    return dict(tables) | {
        "table1": annotators.contents(ratings),
        "table2": annotators.workload(tables["accounts"]),
        "shared": systems[systems.map(len) > 1].map(" ".join).reset_index(name="systems"),
        "constant": imagined(ratings),
        "counts": judged.groupby(["pair", "annotator", "score"]).size().rename("judgements").reset_index(),
        "grids": grids.assign(marks=grids["ticks"].map(_GRIDS).fillna("others")),
        "usage": usage.assign(range=usage["max"] - usage["min"]),
        "beside engjpn1611": beside(usage, "engjpn1611"),
        "extremes": extremes,
        "lowest pairs": lowest_between(extremes, tables["profiles"]),
        "ticks apart": pd.DataFrame({"steps": [1, 2], "points": annotators.SQM_TICKS[1:3]}),
    }


def of_additional(additional: pd.DataFrame, calibration: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables of the additional HITs beside the calibration HITs: name -> table.

    additional: WMT22's DA+SQM ratings of the annotators of the calibration HITs.
    """
    steady = annotators.intra_annotator_consistency(calibration, additional)
    far = normalization.mean_distances(normalization.means(additional, calibration=calibration))
    medians = far.pivot(index="pair", columns="level", values="median").reset_index()
    return {
        "wmt22-da-sqm order": normalization.order_kept(normalization.normalize(additional, by=("hit",))),
        "wmt22-da-sqm steadiness": steady.assign(range=steady["use"].isin(["min", "max"])),
        "wmt22-da-sqm segments": amounts(additional),
        "wmt22-da-sqm means": medians.assign(hits_further=medians["HIT"] > medians["annotator"]),
    }


def of_context(
    sets: Mapping[str, pd.DataFrame], contrast: pd.DataFrame, welch: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Make the tables about data sets with degraded context: name -> table.

    sets: name -> ratings. contrast, welch: the results of ``context.contrasts`` and ``context.welch`` by ``data``.
    """
    tables: dict[str, pd.DataFrame] = {}
    for name, ratings in sets.items():
        own, degraded = contrast[contrast["data"] == name], ratings[ratings["item_type"] == "degraded"]
        medians = degraded.groupby("annotator", as_index=False)["score"].median().rename(columns={"score": "median"})
        tables |= {f"{name} contrast": own, f"{name} gap": context.gap(own), f"{name} degraded": degraded}
        tables |= {f"{name} welch": welch[welch["data"] == name], f"{name} degraded by annotator": medians}
    return tables
