"""How fast annotators work, and whether their scores drift as they go on."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.annotators.consistency import beside_others

#: Longest time without a sign of life, a judgement begun or ended, that counts as work; seconds.
PAUSE = 600
_WHO = ["pair", "annotator"]


def speed(ratings: pd.DataFrame) -> pd.DataFrame:
    """Measure seconds a judgement: pair, annotator, seconds (median), seconds_from (where they come from).

    With ``started`` and ``ended``, the median over judgements; with ``hit_seconds`` (time spent on a whole HIT), the
    median over HITs of that time divided by the HIT's judgements. Times that are not positive count as missing.
    Caveat: pauses are in these times, hence medians; an interface that lets people go back times visits, not thought.
    """
    everyone = with_pair(ratings).groupby(_WHO).size().index
    table = seconds_taken(ratings).groupby(_WHO)["seconds"].median().reindex(everyone).reset_index()
    source = "started and ended" if {"started", "ended"} <= set(ratings.columns) else "hit_seconds"
    return table.assign(seconds_from=np.where(table["seconds"].notna(), source, ""))


def seconds_taken(ratings: pd.DataFrame) -> pd.DataFrame:
    """List seconds a judgement, one row a judgement, or one a HIT where only its whole time is known.

    Returns pair, annotator, seconds; no rows without times.
    """
    frame = with_pair(ratings)
    if {"started", "ended"} <= set(frame.columns):
        taken = frame[_WHO].assign(seconds=frame["ended"] - frame["started"])
    elif "hit_seconds" in frame:
        hits = frame.groupby([*_WHO, "hit"])["hit_seconds"].agg(["first", "size"])
        taken = (hits["first"] / hits["size"]).rename("seconds").reset_index()[[*_WHO, "seconds"]]
    else:
        taken = frame[_WHO].assign(seconds=np.nan)
    return taken[taken["seconds"] > 0].reset_index(drop=True)


def since_last(ratings: pd.DataFrame, *, pause: float = PAUSE) -> pd.Series:
    """Measure seconds from the end of an annotator's previous judgement to the end of this one, as ratings are indexed.

    Some tools show a whole document and stamp a judgement only when it is made, so reading falls between judgements:
    ``started`` then says little, and this time is that of the judgement. Missing for an annotator's first judgement,
    for those without an end, and after more than ``pause`` seconds: nobody knows how much of a break was work.
    Caveat: time on items that the ratings no longer hold counts for the judgement after them.

    >>> ends = pd.DataFrame({"annotator": list("aaab"), "ended": [90.0, 60.0, 5000.0, 70.0]})
    >>> since_last(ends).tolist()
    [30.0, nan, nan, nan]
    """
    ends = ratings[["annotator", "ended"]].reset_index(drop=True).sort_values("ended", kind="stable")
    taken = ends.groupby("annotator")["ended"].diff()
    return taken.where(taken <= pause).sort_index().set_axis(ratings.index).rename("seconds")


def drift(ratings: pd.DataFrame) -> pd.DataFrame:
    """Test whether an annotator's scores rise or fall as they go on.

    What is followed is the score minus the mean of the others on the same item, where at least half of the annotator's
    judgements have such others (what all do alike then does not show), else the score itself; degraded items and
    references do not count. Time is the judgement's
    place in the order of ``started``, or, without times, its ``position`` in the HIT. Scores within one showing of a
    document are not independent, so each showing is reduced to its mean, and a line is fitted to these means, weighted
    by their judgements. Returns pair, annotator, drift (points of the scale per 100 judgements), drift_p (two-sided,
    Student's t with showings - 2 degrees of freedom), drift_of ("difference from others", "score" or ""). Missing
    below four showings, where nothing varies, and without times or positions.
    Source: weighted least squares.  Caveat: neighbouring showings may still be alike, which makes p too small.
    """
    frame = with_pair(ratings)
    everyone = frame.groupby(_WHO).size().index
    timed = "started" in frame
    if not timed and "position" not in frame:
        empty = pd.DataFrame({"drift": np.nan, "drift_p": np.nan, "drift_of": ""}, index=everyone)
        return empty.reset_index()
    followed, relative = _followed(frame)
    order = frame.groupby(_WHO)["started"].rank(method="first") if timed else frame["position"]
    showing = [name for name in (*_WHO, "hit", "system", "doc", "copy") if name in frame]
    rows = frame[showing].assign(x=order / 100, y=followed).dropna(subset=["x", "y"])
    means = rows.groupby(showing, sort=False).agg(x=("x", "mean"), y=("y", "mean"), w=("y", "size")).reset_index()
    table = _line(means).reindex(everyone)
    what = np.where(relative.reindex(everyone), "difference from others", "score")
    return table.assign(drift_of=np.where(table["drift"].notna(), what, "")).reset_index()


def _followed(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return what to follow over time, judgement by judgement, and for which annotators it is relative to others."""
    others = beside_others(frame).dropna(subset="others").drop_duplicates(["pair", *ITEM, "annotator"])
    key = ["pair", *ITEM, "annotator"]
    mean = frame[key].merge(others[[*key, "others"]], on=key, how="left")["others"].set_axis(frame.index)
    ordinary = ~frame["item_type"].isin(["degraded", "reference"])
    mean = mean.where(ordinary)
    share = mean.notna().groupby([frame[name] for name in _WHO]).mean()
    relative = share >= 0.5
    by_row = mean.notna().groupby([frame[name] for name in _WHO]).transform("mean") >= 0.5
    return (frame["score"] - mean).where(by_row, frame["score"].where(ordinary)), relative


def _line(means: pd.DataFrame) -> pd.DataFrame:
    """Fit a weighted line to the columns x, y, w of each annotator; returns drift and drift_p, indexed by annotator."""
    who = [means[name] for name in _WHO]
    weight = means["w"].groupby(who).transform("sum")
    centred = {
        name: means[name] - (means[name] * means["w"]).groupby(who).transform("sum") / weight for name in ("x", "y")
    }
    sums = pd.DataFrame(
        {
            "xx": means["w"] * centred["x"] ** 2,
            "xy": means["w"] * centred["x"] * centred["y"],
            "yy": means["w"] * centred["y"] ** 2,
            "n": 1.0,
        }
    )
    sums = sums.groupby(who).sum()
    slope = sums["xy"] / sums["xx"].where(sums["xx"] > 0)
    left = (sums["yy"] - slope * sums["xy"]).clip(lower=0)
    freedom = (sums["n"] - 2).where(sums["n"] >= 4)
    error = np.sqrt(left / freedom / sums["xx"])
    defined = (sums["yy"] > 0) & freedom.notna()
    p = 2 * stats.t.sf(np.abs(slope) / error.where(error > 0), freedom)
    return pd.DataFrame({"drift": slope.where(defined), "drift_p": np.where(defined, p, np.nan)}, index=sums.index)
