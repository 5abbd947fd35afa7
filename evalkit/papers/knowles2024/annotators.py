"""What Knowles & Lo 2024 say about single annotators, as tables in which their claims can be looked up."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.data.schemas import with_pair

#: Scores above it are high ones.
_HIGH = 50


def beside(usage: pd.DataFrame, annotator: str) -> pd.DataFrame:
    """Set everybody else of an annotator's language pair beside them: how much lower their mean, how much wider their
    scores.

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
