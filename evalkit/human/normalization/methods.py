"""What each way of normalising assumes and what it destroys, in words that a report can print."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd


class Method(NamedTuple):
    """Describe a method: title, unit of its result, what it assumes, what it destroys."""

    title: str
    unit: str
    assumes: str
    destroys: str


#: Name of a method -> its description. ``by`` says whose statistics: an annotator's, or a HIT's.
METHODS = {
    "none": Method(
        "raw scores", "points", "everybody means the same by a score", "nothing"
    ),
    "z": Method(
        "z-score", "standard deviations",
        "everybody saw items of the same quality and spread, so that their means and sds differ by themselves only",
        "real differences between the items of two groups; by HIT also the order of an annotator's scores across HITs",
    ),
    "z_calibration": Method(
        "z-score from the calibration set", "standard deviations",
        "an annotator uses the scale elsewhere as on the calibration set",
        "nothing about the items; a small calibration set adds its own noise to every score of an annotator",
    ),
    "robust": Method(
        "median and interquartile range", "standard deviations of a normal distribution",
        "as for z, of the middle half of the scores only",
        "as z does; annotators who gave half of all items one score lose all their scores",
    ),
    "rank": Method(
        "fraction of one's own scores below", "0 to 1",
        "everybody saw items of the same quality; only the order of scores means something",
        "all distances between scores, and real differences between the items of two groups",
    ),
    "normal_scores": Method(
        "normal scores of ranks", "standard deviations",
        "as for ranks; quality is distributed normally", "as ranks do, and the shape of every distribution",
    ),
    "quantile": Method(
        "quantiles of the common distribution", "points",
        "as for ranks; everybody ought to have the distribution of scores of all together",
        "the shape of each annotator's own distribution",
    ),
    "ticks": Method(
        "nearest tick of the scale", "points", "what lies between two ticks is no information",
        "differences smaller than the distance of two ticks; it does not bring means or spreads together",
    ),
    "mixed": Method(
        "mixed-effects model", "points",
        "a score is bias + gain × (system + segment + noise); segments and biases normal, one noise for all",
        "nothing by design; few judgements are pulled towards the average annotator",
    ),
}  # fmt: skip


def methods() -> pd.DataFrame:
    """Tabulate the methods for a report: method, title, unit, assumes, destroys.

    >>> methods()["method"].tolist()[:3]
    ['none', 'z', 'z_calibration']
    """
    return pd.DataFrame([{"method": name, **method._asdict()} for name, method in METHODS.items()])
