"""Segments whose errors are all of one family, fluency or accuracy, under several readings of that rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import UNSTATED
from evalkit.metrics import correlation

#: The families that are distinguished, and how the paper shortens them.
FAMILIES = {"fluency": "Flu", "accuracy": "Acc"}
_KINDS = (*FAMILIES, "terminology")


@dataclass(frozen=True)
class Rule:
    """One reading of "segments that contain only a single error type".

    error_free: whether segments without an error belong to both subsets. terminology: whether its errors count as
    errors of accuracy. own: whether metrics are compared with the annotator's own score, not the formula's. single:
    whether a segment may have one error only.
    """

    error_free: bool = True
    terminology: bool = True
    own: bool = True
    single: bool = False


#: "authors" is what their notebook does (cell 94 of ``legacy/code/evaluate.ipynb`` in AI4Bharat/IndicMT-Eval), and it
#: draws no equal numbers. The next three change one thing of it each. "literal" is what the paper's section 5.4 says.
RULES = {
    "authors": Rule(),
    "formula's score": Rule(own=False),
    "terminology apart": Rule(terminology=False),
    "without error-free": Rule(error_free=False),
    "literal": Rule(error_free=False, terminology=False, own=False),
    "one error": Rule(error_free=False, terminology=False, own=False, single=True),
}
_KEY = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]


def count_errors(scored: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Add how many errors each judgement has: ``errors`` in all, and columns fluency, accuracy and terminology.

    scored: a row per judgement; spans: a row per error with error_type "category/subcategory", as in ``schemas.SPANS``.
    What has a severity but no type is left aside: the authors count as errors what has a type.
    Errors of judgements that are not in the table are left aside. Raises DataError where that is so of all of them, or
    where two judgements have the same names.
    """
    keys = pd.MultiIndex.from_frame(scored[_KEY].astype(str))
    if not keys.is_unique:
        twice = dict(zip(_KEY, keys[keys.duplicated()][0]))
        raise DataError(f"Two judgements are both {twice}. Keep one of them, or their errors cannot be distinguished.")
    owner = keys.get_indexer(pd.MultiIndex.from_frame(spans[_KEY].astype(str)))
    here = owner >= 0
    if len(spans) and not here.any():
        stray = dict(zip(_KEY, spans[_KEY].astype(str).iloc[0]))
        raise DataError(f"No error belongs to a judgement of the table; the first is of {stray}. Check the names.")
    family = spans["error_type"].astype(str).str.partition("/")[0].to_numpy()
    found = {"errors": np.bincount(owner[here & (family != UNSTATED)], minlength=len(scored))}
    for name in _KINDS:
        found[name] = np.bincount(owner[here & (family == name)], minlength=len(scored))
    return scored.assign(**found)


def correlations(
    judged: pd.DataFrame,
    *,
    formula: str = "score",
    own: str = "own_score",
    metrics: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Correlate metrics with human scores within each family's subset, under each rule: the paper's Table 10.

    judged: the result of ``count_errors``. formula, own: columns of the formula's and the annotators' own scores.
    Returns language, metric, subset, rule, then as ``correlation.segments``.
    Caveat: an error-free segment belongs to both subsets where a rule counts it, so tau then mostly says whether a
    metric tells faultless translations from faulty ones.
    """
    parts = []
    for rule in RULES:
        for family in FAMILIES:
            inside = member(judged, family, rule)
            part = judged.assign(gold=judged[own if RULES[rule].own else formula].where(inside))
            found = correlation.segments(part, gold="gold", metrics=metrics)
            found.insert(2, "subset", family)
            found.insert(3, "rule", rule)
            parts.append(found)
    return pd.concat(parts, ignore_index=True)


def member(judged: pd.DataFrame, family: str, rule: str) -> pd.Series:
    """Tell which judgements belong to a family's subset under a rule.

    >>> judged = pd.DataFrame({"errors": [0, 1, 2, 2], "fluency": 0, "accuracy": [0, 1, 1, 1],
    ...     "terminology": [0, 0, 1, 0]})
    >>> {rule: member(judged, "accuracy", rule).tolist() for rule in ("literal", "authors")}
    {'literal': [False, True, False, False], 'authors': [True, True, True, False]}
    """
    if family not in FAMILIES or rule not in RULES:
        raise DataError(f"{family!r} by {rule!r}: choose among {', '.join(FAMILIES)} and {', '.join(RULES)}.")
    how, of = RULES[rule], judged[family]
    if family == "accuracy" and how.terminology:
        of = of + judged["terminology"]
    only = of.eq(judged["errors"])
    return only & of.eq(1) if how.single else only & (of.gt(0) | how.error_free)


def fit(correlated: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Say how far printed values are from each rule's: rule, subset, cells, mean_gap, largest_gap.

    correlated: the result of ``correlations``; printed: language, metric, subset, printed (a number or its digits).
    Over languages and metrics, in the order of ``correlated``. gap: the absolute difference of tau-b.
    """
    printed = printed.assign(printed=pd.to_numeric(printed["printed"]))
    both = correlated.merge(printed[["language", "metric", "subset", "printed"]], on=["language", "metric", "subset"])
    if both.empty:
        raise DataError("No language, metric and subset is both computed and printed. Check how they are spelt.")
    both["gap"] = (both["kendall_b"] - both["printed"]).abs()
    found = both.groupby(["rule", "subset"], sort=False)["gap"].agg(["size", "mean", "max"]).reset_index()
    return found.rename(columns={"size": "cells", "mean": "mean_gap", "max": "largest_gap"})
