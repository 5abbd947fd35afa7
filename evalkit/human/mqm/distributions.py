"""Count errors: by type and severity, and by system (Figures 1 and 3 of Sai et al. 2023)."""

from __future__ import annotations

import pandas as pd

from evalkit.data.schemas import UNSTATED
from evalkit.human.mqm.typology import SEVERITIES

#: How the paper's Figure 1 groups types.
_GROUPS = ("accuracy", "fluency")


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
    everything = pd.MultiIndex.from_product([counts.index.unique(by), [*_GROUPS, "other types"], levels],
                                            names=[by, "group", "severity"])  # fmt: skip
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
