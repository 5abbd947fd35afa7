"""Turn marked errors into scores under any scheme, and count them by type, severity and system."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, UNSTATED
from evalkit.data.typology import SCHEMES, SEVERITIES, Scheme

#: How the paper's Figure 1 groups types.
_GROUPS = ("accuracy", "fluency")
#: What tells one judgement from another, in ratings and in spans.
KEY = ["src_lang", "tgt_lang", *ITEM, "annotator"]
_JUDGED = [*KEY, "against"]  # and what was shown beside it, where two were


def weights(spans: pd.DataFrame, scheme: str | Scheme) -> pd.Series:
    """Weigh each error, in the order of ``spans`` (points of the scheme's score).

    Raises DataError for a severity that the scheme does not weigh, naming the judgement.

    >>> errors = pd.DataFrame({"error_type": ["other", "non-translation"], "severity": ["medium", "high"]})
    >>> weights(errors, "paper").tolist(), weights(errors, "release").tolist()
    ([3.0, 4.0], [2.0, 100.0])
    """
    scheme = get_scheme(scheme)
    weight = scheme.weigh(spans["error_type"], spans["severity"])
    if len(unknown := np.flatnonzero(weight.isna())):
        row = spans.iloc[unknown[0]]
        place = ", ".join(str(row[name]) for name in KEY if name in spans)
        raise DataError(
            f"{place}: the scheme gives no weight to the severity {row['severity']!r}; it knows "
            f"{', '.join(scheme.severities)}. Correct the row, or give the scheme a weight."
        )
    return weight


def segment_scores(ratings: pd.DataFrame, spans: pd.DataFrame, scheme: str | Scheme) -> pd.DataFrame:
    """Score every judgement: the key's columns, ``errors`` (how many), ``penalty`` (their weights), ``mqm``.

    ratings: a row per judgement. spans: a row per error of these judgements. ``mqm`` is the scheme's top less the
    penalty, not below its floor; missing where the scheme discards the judgement. Where the scheme counts a certain
    number of errors only, the heaviest count. Raises DataError for errors of a judgement that is not among ``ratings``.
    """
    scheme = get_scheme(scheme)
    of_span = judgements(ratings, spans)
    weight = weights(spans, scheme).to_numpy()
    penalty, score = scheme.scores(of_span, spans["error_type"], weight, len(ratings))
    errors = np.bincount(of_span, minlength=len(ratings))
    key = [name for name in _JUDGED if name in ratings and name in spans]
    return ratings[key].assign(errors=errors, penalty=penalty, mqm=score).reset_index(drop=True)


def judgements(ratings: pd.DataFrame, spans: pd.DataFrame) -> np.ndarray:
    """Find the judgement of each error: its row among ``ratings``, (errors,).

    Raises DataError where two judgements have the same names, or an error's judgement is not there.
    """
    key = [name for name in _JUDGED if name in ratings and name in spans]
    names = pd.concat([ratings[key].astype("str"), spans[key].astype("str")], ignore_index=True)
    codes = names.groupby(key, sort=False).ngroup().to_numpy()  # a number for each judgement, in the order of ratings
    judged, of_span = codes[: len(ratings)], codes[len(ratings) :]
    if len(np.unique(judged)) < len(judged):
        raise DataError("Two judgements have the same names, so errors cannot be assigned. Drop or rename one.")
    if len(of_span) and of_span.max() >= len(judged):
        row = spans.iloc[int(of_span.argmax())]
        raise DataError(f"{', '.join(str(row[name]) for name in key)}: an error of a judgement that is not there.")
    return of_span


def aggregate(scores: pd.DataFrame, *, by: list[str], texts: pd.Series | None = None) -> pd.DataFrame:
    """Average scores of segments within systems, documents or whatever ``by`` names.

    scores: as ``segment_scores`` makes them; discarded judgements (score missing) leave the mean. texts: the judged
    translations, in the order of ``scores``; with them, ``per_1000`` is the penalty per 1,000 characters (Unicode code
    points, of which a written syllable of an Indic script takes several). Returns by, segments, errors (a segment),
    mqm, per_1000.

    >>> scores = pd.DataFrame({"system": ["a", "a", "b"], "errors": [1, 0, 2], "penalty": [5.0, 0.0, 2.0],
    ...     "mqm": [20.0, 25.0, 23.0]})
    >>> aggregate(scores, by=["system"], texts=pd.Series(["x" * 100, "x" * 150, "x" * 80]))
      system  segments  errors   mqm  per_1000
    0      a         2     0.5  22.5      20.0
    1      b         1     2.0  23.0      25.0
    """
    kept = scores["mqm"].notna()
    counted = scores[kept] if texts is None else scores[kept].assign(length=texts.str.len().to_numpy()[kept])
    groups = counted.groupby(by, sort=True, observed=True)
    table = groups.agg(segments=("mqm", "size"), errors=("errors", "mean"), mqm=("mqm", "mean"))
    if texts is not None:
        table["per_1000"] = 1000 * groups["penalty"].sum() / groups["length"].sum()
    return table.reset_index()


def get_scheme(scheme: str | Scheme) -> Scheme:
    """Look a scheme up by its name."""
    if isinstance(scheme, Scheme):
        return scheme
    if scheme not in SCHEMES:
        raise DataError(f"There is no scheme {scheme!r}. Choose one of: {'; '.join(SCHEMES)}. Or pass a Scheme.")
    return SCHEMES[scheme]


def changed(scheme: str | Scheme, **fields: Any) -> Scheme:
    """Copy a scheme with other settings, as ``changed("release", most=5)``."""
    return replace(get_scheme(scheme), **fields)


def category(spans: pd.DataFrame) -> pd.Series:
    """Name each error's group as the authors' figures have it: what stands before "/", and terminology is accuracy.

    Source: cells 85 and 88 of ``legacy/code/evaluate.ipynb`` in AI4Bharat/IndicMT-Eval.

    >>> category(pd.DataFrame({"error_type": ["terminology/inappropriate", "fluency/grammar", "other"]})).tolist()
    ['accuracy', 'fluency', 'other']
    """
    return spans["error_type"].astype("str").str.partition("/")[0].replace({"terminology": "accuracy"})


def type_counts(spans: pd.DataFrame, *, by: str = "tgt_lang") -> pd.DataFrame:
    """Count errors of each type: by, error_type, errors, share (of the group's), a row for every type that occurs.

    >>> type_counts(pd.DataFrame({"tgt_lang": ["guj"] * 3, "error_type": ["other", "other", "source error"]}))
      tgt_lang    error_type  errors     share
    0      guj         other       2  0.666667
    1      guj  source error       1  0.333333
    """
    counts = spans.astype({by: "str", "error_type": "str"}).groupby([by, "error_type"], sort=False).size()
    table = counts.rename("errors").reset_index()
    table["share"] = table["errors"] / table.groupby(by)["errors"].transform("sum")
    return table.sort_values([by, "errors"], ascending=[True, False], kind="stable", ignore_index=True)


def severity_shares(spans: pd.DataFrame, *, by: str = "tgt_lang") -> pd.DataFrame:
    """Count errors of each severity within accuracy, fluency and all other types: by, group, severity, errors, share.

    Errors of terminology are errors of accuracy (``category``).
    ``share`` is of all errors in ``by``, so the shares of one language sum to 1. Severities that nobody used in a
    group have a row with 0 errors.
    """
    found = category(spans)
    group = found.where(found.isin(_GROUPS), "other types")
    levels = [*SEVERITIES, UNSTATED]
    names = {by: spans[by].astype("str"), "group": group, "severity": spans["severity"].astype("str")}
    counts = pd.DataFrame(names).groupby([by, "group", "severity"]).size()
    everything = pd.MultiIndex.from_product(
        [counts.index.unique(by), [*_GROUPS, "other types"], levels], names=[by, "group", "severity"]
    )
    table = counts.reindex(everything, fill_value=0).rename("errors").reset_index()
    return table.assign(share=table["errors"] / table.groupby(by)["errors"].transform("sum"))


def errors_per_system(ratings: pd.DataFrame, spans: pd.DataFrame, *, by: str = "tgt_lang") -> pd.DataFrame:
    """Count each system's errors: by, system, errors, segments, per_segment (errors a judged translation).

    The paper's Figure 3 shows ``errors``; systems were judged unequally often here, so ``per_segment`` compares them.
    """
    key = [by, "system"]
    errors = spans[key].astype("str").groupby(key).size()
    segments = ratings[key].astype("str").groupby(key).size()
    table = pd.DataFrame({"errors": errors, "segments": segments}).fillna(0).astype(int).reset_index()
    return table.assign(per_segment=table["errors"] / table["segments"])
