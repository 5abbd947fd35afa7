"""Segments whose errors are all of one family, fluency or accuracy, under several readings of that rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics import correlation

#: The families that are told apart, and how the paper shortens them.
FAMILIES = {"fluency": "Flu", "accuracy": "Acc"}
#: Readings of "segments that contain only a single error type": whether a segment with ``of`` errors of the family,
#: among ``all`` that are marked, belongs to the family's subset.
RULES = {
    "literal": lambda of, all: (of == all) & (of > 0),  # at least one error, none of another family
    "one error": lambda of, all: (of == 1) & (all == 1),  # a single error, of the family
    "with error-free": lambda of, all: of == all,  # no error of another family: error-free segments count as well
    "some": lambda of, all: of > 0,  # at least one error of the family, whatever else is marked
}
_KEY = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]


def counted(scored: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Add how many errors each judgement has: ``errors`` in all, and a column per family of ``FAMILIES``.

    scored: a row per judgement; spans: a row per error with error_type "category/subcategory", as in ``schemas.SPANS``.
    Errors of judgements that are not in the table are left aside. Raises DataError where that is so of all of them, or
    where two judgements have the same names.
    """
    keys = pd.MultiIndex.from_frame(scored[_KEY].astype(str))
    if not keys.is_unique:
        twice = dict(zip(_KEY, keys[keys.duplicated()][0]))
        raise DataError(f"Two judgements are both {twice}. Keep one of them, or their errors cannot be told apart.")
    owner = keys.get_indexer(pd.MultiIndex.from_frame(spans[_KEY].astype(str)))
    here = owner >= 0
    if len(spans) and not here.any():
        stray = dict(zip(_KEY, spans[_KEY].astype(str).iloc[0]))
        raise DataError(f"No error belongs to a judgement of the table; the first is of {stray}. Check the names.")
    family = spans["error_type"].astype(str).str.partition("/")[0].to_numpy()
    found = {"errors": np.bincount(owner[here], minlength=len(scored))}
    for name in FAMILIES:
        found[name] = np.bincount(owner[here & (family == name)], minlength=len(scored))
    return scored.assign(**found)


def correlations(
    judged: pd.DataFrame,
    *,
    rules: Sequence[str] = ("literal", "with error-free"),
    gold: str = "score",
    metrics: Sequence[str] | None = None,
    resamples: int = 0,
    seed: int = 7,
) -> pd.DataFrame:
    """Correlate metrics with human scores within each family's subset, under each rule: the paper's Table 10.

    judged: the result of ``counted``. Returns language, metric, subset, rule, then as ``correlation.segments``.
    Caveat: an error-free segment scores full marks in both subsets, so under "with error-free" tau mostly says whether
    a metric tells faultless translations from faulty ones, and the subsets overlap.
    """
    parts = []
    for rule in rules:
        for family in FAMILIES:
            part = judged.assign(**{gold: judged[gold].where(member(judged, family, rule))})
            found = correlation.segments(part, gold=gold, metrics=metrics, resamples=resamples, seed=seed)
            found.insert(2, "subset", family)
            found.insert(3, "rule", rule)
            parts.append(found)
    return pd.concat(parts, ignore_index=True)


def member(judged: pd.DataFrame, family: str, rule: str) -> pd.Series:
    """Tell which judgements belong to a family's subset under a rule of ``RULES``.

    >>> judged = pd.DataFrame({"errors": [0, 1, 2, 3], "fluency": [0, 1, 2, 1], "accuracy": [0, 0, 0, 2]})
    >>> {rule: member(judged, "fluency", rule).tolist() for rule in ("literal", "with error-free")}
    {'literal': [False, True, True, False], 'with error-free': [True, True, True, False]}
    """
    if family not in FAMILIES or rule not in RULES:
        raise DataError(f"{family!r} by {rule!r}: choose among {', '.join(FAMILIES)} and {', '.join(RULES)}.")
    return RULES[rule](judged[family], judged["errors"])


def equal_sizes(
    judged: pd.DataFrame,
    *,
    rule: str,
    gold: str = "score",
    metrics: Sequence[str] | None = None,
    draws: int = 200,
    seed: int = 7,
    level: float = 0.95,
) -> pd.DataFrame:
    """Draw as many segments from either family's subset as the smaller has, many times: what the draw alone changes.

    The paper draws once, and does not say which. Returns language, metric, subset, rule, mean, low, high (tau-b over
    the draws, the central ``level`` of them), n. In the smaller subset every draw is the whole, and low equals high.
    """
    metrics = correlation.named(judged, metrics, gold)
    rng, tails = np.random.default_rng(seed), [(1 - level) / 2, (1 + level) / 2]
    rows = []
    for _, part in correlation.by_language(judged):
        subsets = {family: part[member(part, family, rule)].dropna(subset=[gold]) for family in FAMILIES}
        n = min(map(len, subsets.values()))
        for family, subset in subsets.items():
            times = draws if len(subset) > n else 1
            drawn = [_drawn(subset, n, metrics, gold, rng) for _ in range(times)]
            table = pd.concat(drawn).groupby(["language", "metric"], sort=False)["kendall_b"]
            low, high = (table.quantile(tail).to_numpy() for tail in tails)
            found = table.mean().reset_index(name="mean")
            rows.append(found.assign(subset=family, rule=rule, low=low, high=high, n=n))
    columns = ["language", "metric", "subset", "rule", "mean", "low", "high", "n"]
    return pd.concat(rows, ignore_index=True)[columns]


def _drawn(subset: pd.DataFrame, n: int, metrics: Sequence[str], gold: str, rng: np.random.Generator) -> pd.DataFrame:
    return correlation.segments(subset.iloc[rng.permutation(len(subset))[:n]], gold=gold, metrics=metrics)


def fit(correlated: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Say how close each rule comes to printed values: rule, language, subset, cells, mean_gap, largest_gap.

    correlated: the result of ``correlations``; printed: language, metric, subset, printed (a number or its digits).
    Best rule of a language and subset first. gap: the absolute difference of tau-b.
    """
    printed = printed.assign(printed=pd.to_numeric(printed["printed"]))
    both = correlated.merge(printed[["language", "metric", "subset", "printed"]], on=["language", "metric", "subset"])
    if both.empty:
        raise DataError("No language, metric and subset is both computed and printed. Check how they are spelt.")
    both["gap"] = (both["kendall_b"] - both["printed"]).abs()
    found = both.groupby(["language", "subset", "rule"], sort=False)["gap"].agg(["size", "mean", "max"]).reset_index()
    found.columns = ["language", "subset", "rule", "cells", "mean_gap", "largest_gap"]
    return found.sort_values(["language", "subset", "mean_gap"], kind="stable", ignore_index=True)
