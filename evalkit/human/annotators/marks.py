"""Whether annotators lean on the tick marks of a slider, and which ones."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import scale_of
from evalkit.data.schemas import with_pair

#: The seven tick marks of WMT's DA+SQM slider, on its scale from 0 to 100 (Kocmi et al. 2022).
SQM_TICKS = tuple(100 * step / 6 for step in range(7))
#: The five tick marks of the sliders of earlier years and of Mechanical Turk (Knowles & Lo 2024, section 4.1).
FIVE_TICKS = (0.0, 25.0, 50.0, 75.0, 100.0)


def ticks(
    ratings: pd.DataFrame,
    *,
    marks: tuple[float, ...] = SQM_TICKS,
    within: float = 1.0,
    scale: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Measure how much each annotator's scores crowd around a slider's tick marks.

    marks: positions of the ticks on the scale. within: how far from a mark, in points, still counts as on it.
    scale: its ends, within which marks must lie; None takes the table's own.
    Returns one row per annotator and mark: pair, annotator, mark, share (of the annotator's judgements, 0 to 1).
    What an annotator who ignored the marks would show depends on the shape of their scores; for scores spread evenly
    it is ``even_share(marks, within=within)``.
    """
    low, high = scale_of(ratings, given=scale)
    if marks and (min(marks) < low or max(marks) > high):
        raise DataError(
            f"Marks from {min(marks):g} to {max(marks):g} do not fit a scale from {low:g} to {high:g}. Pass marks=."
        )
    if min(np.diff(marks), default=np.inf) <= 2 * within:
        raise DataError(f"Marks closer than {2 * within:g} points would count a score twice. Use a smaller 'within'.")
    scores = with_pair(ratings)[["pair", "annotator", "score"]]
    near = np.abs(scores["score"].to_numpy()[:, None] - np.asarray(marks)) <= within
    flags = pd.DataFrame(near, columns=pd.Index(marks, name="mark"))
    shares = flags.groupby([scores["pair"].to_numpy(), scores["annotator"].to_numpy()]).mean()
    return shares.rename_axis(["pair", "annotator"]).stack().rename("share").reset_index()


def discretisation(shares: pd.DataFrame) -> pd.DataFrame:
    """Say how much of each annotator's scores lies on the marks, and which mark attracts them most.

    shares: the result of ``ticks``. Returns pair, annotator, on_marks (share of judgements, 0 to 1), favourite (a
    mark's position) and favourite_share, those who lean on the marks most first.
    """
    by_annotator = shares.groupby(["pair", "annotator"])["share"]
    favourite = shares.loc[by_annotator.idxmax()].set_index(["pair", "annotator"])
    favourite = favourite.rename(columns={"mark": "favourite", "share": "favourite_share"})
    table = by_annotator.sum().rename("on_marks").to_frame().join(favourite)
    return table.sort_values("on_marks", ascending=False, kind="stable").reset_index()


def even_share(
    *, marks: tuple[float, ...] = SQM_TICKS, within: float = 1.0, scale: tuple[int, int] = (0, 100)
) -> float:
    """Return the share of scores that lie on a mark when every whole number of the scale is equally likely.

    >>> round(even_share(), 3)
    0.149
    """
    scores = np.arange(scale[0], scale[1] + 1)
    return float((np.abs(scores[:, None] - np.asarray(marks)) <= within).any(axis=1).mean())
