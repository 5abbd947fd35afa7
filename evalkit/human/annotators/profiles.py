"""One row per annotator: how they use the scale, how steady, how fast, how much like the others."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.data.provenance import scale_of
from evalkit.human.annotators.consistency import FEWEST_SHARED, agreement_with_others, repeats
from evalkit.human.annotators.pace import drift, speed
from evalkit.human.annotators.quality_control import quality_control
from evalkit.human.annotators.ticks import SQM_TICKS, scale_grid, ticks
from evalkit.human.annotators.usage import bimodality, usage

_WHO = ["pair", "annotator"]


def profiles(
    ratings: pd.DataFrame,
    *,
    tick_marks: tuple[float, ...] = SQM_TICKS,
    within: float = 1.0,
    scale: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Describe every annotator of every language pair in one row.

    tick_marks: positions of the slider's ticks; within: points that still count as on one. scale: its ends; None takes
    the table's own. Returns, beside the columns of ``usage``:

    - bimodality: Sarle's coefficient (see ``bimodality``); on_marks: share of scores on the slider's marks;
    - grid: ticks of the grid in use, as text, or "none"; grid_p: its p-value (or the smallest of all), adjusted;
    - repeated, median_abs_diff, max_abs_diff: items scored more than once, and differences between their scores;
    - shared, with_others: see ``agreement_with_others``;
    - seconds, seconds_from, drift, drift_p, drift_of: see ``speed`` and ``drift``;
    - qc_pairs, qc_difference, qc_p, qc_wilcoxon: see ``quality_control``;
    - missing: why a cell is missing, empty where none is.
    """
    scale = scale_of(ratings, given=scale)
    table = usage(ratings, scale=scale).set_index(_WHO)
    table["bimodality"] = bimodality(ratings).set_index(_WHO)["bimodality"]
    table["on_marks"] = ticks(ratings, tick_marks=tick_marks, within=within, scale=scale).groupby(_WHO)["share"].sum()
    tested = scale_grid(ratings, within=within, scale=scale)
    used = tested[tested["in_use"]].set_index(_WHO)
    table["grid"] = used["ticks"].astype("str").reindex(table.index).fillna("none")
    table["grid_p"] = used["p_adjusted"].reindex(table.index).fillna(tested.groupby(_WHO)["p_adjusted"].min())
    parts = [repeats(ratings).rename(columns={"n": "repeated"}), agreement_with_others(ratings)]
    for part in (*parts, speed(ratings), drift(ratings), quality_control(ratings)):
        table = table.join(part.set_index(_WHO))
    counts = ["repeated", "shared", "qc_pairs"]
    table[counts] = table[counts].fillna(0).astype(int)
    return table.assign(missing=_reasons(table, ratings)).reset_index()


def _reasons(table: pd.DataFrame, ratings: pd.DataFrame) -> pd.Series:
    """Say for each annotator which cells are missing, and why."""
    timed = {"started", "position"} & set(ratings.columns)
    few = f"fewer than {FEWEST_SHARED} items shared with others"
    why = {
        "sd": "sd: one judgement",
        "skewness": "skewness, bimodality: one score throughout, or fewer than three judgements",
        "median_abs_diff": "repeats: no item came twice",
        "with_others": "with_others: " + few + ", or one side does not vary",
        "seconds": "seconds: no times",
        "drift": "drift: " + ("too few documents, or nothing varies" if timed else "no times or positions"),
        "qc_p": "quality control: fewer than two degraded items beside their originals",
    }
    given = [np.where(table[name].isna(), f"{reason}; ", "") for name, reason in why.items()]
    return pd.Series(["".join(parts).removesuffix("; ") for parts in zip(*given)], table.index)
