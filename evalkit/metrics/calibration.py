"""Whether a judge's scores mean what people's do: bias, spread, ties, drift along documents, and systems it favours."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.metrics.intervals import system_means
from evalkit.metrics.scores import Scores
from evalkit.stats.inference import defined_interval, interval, resample

#: What is measured -> how it is written. The first three need scores in people's own unit.
MEASURES = {
    "bias": "bias: points above people",
    "spread": "spread: its standard deviation over people's",
    "slope": "slope: its points for a point of people's",
    "ties": "pairs of a segment that it ties",
    "more ties": "the same less people's share",
    "drift": "change along a document (sd)",
    "more drift": "the same less people's",
}
#: Metrics whose scores are points of MQM by design (beginnings of names); of others, bias and spread mean nothing.
IN_MQM_POINTS = ("GEMBA-MQM", "MetricX-23", "MaTESe")


class Related(NamedTuple):
    """Name a judge and a system that have something in common, and the system to compare with; "" is all others."""

    metric: str
    system: str
    against: str
    why: str


_GPT, _BLEU = "GPT-4 judges translations by GPT-4", "translations were chosen for their BLEU"
#: Judges and systems of WMT23 that are known to be related.
RELATED = (
    Related("GEMBA-MQM", "GPT4-5shot", "", _GPT),
    Related("BLEU", "NLLB_MBR_BLEU", "NLLB_Greedy", _BLEU),
    Related("f200spBLEU", "NLLB_MBR_BLEU", "NLLB_Greedy", f"{_BLEU}; this is a kind of it"),
)


def measures(
    scores: Scores,
    *,
    same_unit: Collection[str] = (),
    documents: Sequence[str] | None = None,
    resamples: int = 500,
    seed: int = 7,
) -> pd.DataFrame:
    r"""Compare each metric's scores with people's: metric, measure, value, low, high, cells.

    measure: a name of ``MEASURES``. For scores x of a metric and y of people, over all cells that have both: bias
    :math:`\bar x - \bar y`, spread :math:`s_x / s_y`, slope :math:`s_{xy} / s_y^2`; only for metrics in ``same_unit``.
    ties: share of the pairs of translations of one segment that have equal scores, and how much higher it is than
    people's. drift: how much x grows from the first to the last segment of a document, in its standard deviations, and
    how much more that is than y grows in y's; where no document has two segments, it is missing.
    documents: a label per segment, segments in their documents' order; None takes the part of a segment's name before
    its last colon. 95 % intervals draw documents anew.
    Caveat: noise in people's scores widens their spread and lowers the slope; a perfect judge of noisy people has a
    spread and a slope below 1. Texts may change along a document, too; a judge that reads one segment at a time has no
    other drift than theirs. Raises DataError for scores of whole systems.
    """
    if scores.level == "system":
        raise DataError("These are scores of whole systems. Calibration needs scores of segments.")
    labels = np.array(_documents(scores) if documents is None else documents)
    places, tables = _places(labels), []
    for place, metric in enumerate(scores.metrics):
        sums = _sums(scores.values[place], scores.human, places)
        statistic = partial(_measures, sums, metric in same_unit)
        drawn = resample(statistic, labels, resamples=resamples, seed=seed)
        table = pd.DataFrame(
            {"metric": metric, "measure": list(MEASURES), "value": statistic(np.ones((1, len(sums))))[0]}
        )
        table["low"], table["high"] = defined_interval(drawn)
        tables.append(table.assign(cells=int(sums[:, 0].sum())))
    found = pd.concat(tables, ignore_index=True)
    return found[found["value"].notna()].reset_index(drop=True)


def _documents(scores: Scores) -> list[str]:
    return [name.rsplit(":", 1)[0] for name in scores.segments]


def _sums(metric: np.ndarray, human: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Sum up by segment what ``_measures`` needs: (segments, sums)."""
    on = np.isfinite(metric) & np.isfinite(human)
    x, y = (np.where(on, side, 0.0) for side in (metric, human))
    first, second = np.triu_indices(len(on), 1)
    pair = on[first] & on[second]
    own, people = (np.where(on, _standardised(side, on), 0).sum(0) for side in (x, y))
    ties = [(pair & (side[first] == side[second])).sum(0) for side in (x, y)]
    sums = [on.sum(0), x.sum(0), y.sum(0), (x**2).sum(0), (y**2).sum(0), (x * y).sum(0), pair.sum(0), *ties]
    return np.array([*sums, places * own, places * (own - people), places**2 * on.sum(0)], float).T


def _measures(sums: np.ndarray, shared: bool, counts: np.ndarray) -> np.ndarray:
    """Compute all measures of segments drawn so often, (batch, segments) -> (batch, measures)."""
    sums = counts @ sums
    n, x, y, xx, yy, xy, pairs, tied, people, moved, more, moment = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread_x, spread_y = (np.maximum(square - total**2 / n, 0) for square, total in ((xx, x), (yy, y)))
        known = [(x - y) / n, np.sqrt(spread_x / spread_y), (xy - x * y / n) / spread_y]
        rest = [tied / pairs, (tied - people) / pairs, moved / moment, more / moment]
    lacking = [np.full(len(n), np.nan)] * len(known)
    found = np.stack([*(known if shared else lacking), *rest], axis=1)
    return np.where(np.isfinite(found), found, np.nan)


def _standardised(scores: np.ndarray, on: np.ndarray) -> np.ndarray:
    own = scores[on]
    spread = own.std() if own.size else 0.0
    return (scores - own.mean()) / spread if spread > 0 else np.zeros_like(scores)


def _places(documents: np.ndarray) -> np.ndarray:
    """Number segments from 0 to 1 along their document, less the document's mean; 0 where it is the only one.

    >>> _places(np.array(["a", "a", "a", "b"])).tolist()
    [-0.5, 0.0, 0.5, 0.0]
    """
    table = pd.Series(documents)
    place, size = table.groupby(table).cumcount(), table.map(table.value_counts())
    return np.where(size > 1, place / (size - 1).clip(lower=1) - 0.5, 0.0)


def favour(metric: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Say how much higher a metric sets each system than people do: both standardised over systems, the difference.

    metric, human: means of systems, the last axis. Positive: favoured. The values of a metric add up to 0.

    >>> favour(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0])).round(3).tolist()
    [0.0, -1.0, 1.0]
    """
    both = []
    for means in (metric, human):
        spread = means.std(axis=-1, ddof=1, keepdims=True)
        both.append((means - means.mean(axis=-1, keepdims=True)) / np.where(spread > 0, spread, np.nan))
    return both[0] - both[1]


def own_kind(
    scores: Scores, *, related: Sequence[Related] = RELATED, resamples: int = 500, seed: int = 7
) -> pd.DataFrame:
    """Ask whether judges favour systems that are related to them: metric, system, against, why, value, low, high, ….

    value: how much more the metric favours the system (``favour``) than the one it is compared with, or than the mean
    of all others; others: the median of that over metrics that are not named in ``related`` for this system; beyond:
    value less others, beyond_low and beyond_high. Intervals (95 %) draw whole documents. Pairs that are not there are
    left out.
    Caveat: what all metrics share, such as a taste for fluent translations, is taken off by ``beyond``, right or
    wrong. That a judge favours a system more than others do need not be for the relation that is known.
    """
    names = {*scores.systems, ""}
    wanted = [one for one in related if one.metric in scores.metrics and {one.system, one.against} <= names]
    units = np.ones((1, len(scores.segments)))

    def favoured(counts: np.ndarray) -> np.ndarray:
        gaps = favour(*system_means(scores, counts)).swapaxes(0, 1)
        return np.stack([_contrast(gaps, scores, one, related) for one in wanted], axis=1)

    if not wanted:
        return pd.DataFrame(columns=[*Related._fields, "value", "low", "high", "others", *_BEYOND])
    value = favoured(units)[0]
    low, high = interval(resample(favoured, _documents(scores), resamples=resamples, seed=seed))
    table = pd.DataFrame(wanted)
    table[["value", "others", "beyond"]] = value
    for place, name in ((0, ""), (2, "beyond_")):
        table[f"{name}low"], table[f"{name}high"] = low[:, place], high[:, place]
    return table[[*Related._fields, "value", "low", "high", "others", *_BEYOND]]


_BEYOND = ("beyond", "beyond_low", "beyond_high")


def _contrast(found: np.ndarray, scores: Scores, one: Related, related: Sequence[Related]) -> np.ndarray:
    """Compare a system with another one, or all others: (batch, 3) of the metric, the others' median and the gap."""
    system = scores.systems.index(one.system)
    if one.against:
        gap = found[..., system] - found[..., scores.systems.index(one.against)]
    else:  # the values of a metric add up to 0
        gap = found[..., system] * len(scores.systems) / (len(scores.systems) - 1)
    own = {each.metric for each in related if each.system == one.system}
    rest = [place for place, name in enumerate(scores.metrics) if name not in own]
    others = np.nanmedian(gap[:, rest], axis=1) if rest else np.full(len(gap), np.nan)
    value = gap[:, scores.metrics.index(one.metric)]
    return np.stack([value, others, value - others], axis=1)


def compare_judges(
    pools: Mapping[str, Scores], judges: Collection[str], *, resamples: int = 500, seed: int = 7
) -> pd.DataFrame:
    """Calibrate some judges on several sets of people's MQM scores: data, judge, measure, value, low, high, cells."""
    parts = []
    for name, scores in pools.items():
        own = scores.only([metric for metric in scores.metrics if metric in judges])
        in_unit = [name for name in own.metrics if name.startswith(IN_MQM_POINTS)]
        found = measures(own, same_unit=in_unit, resamples=resamples, seed=seed)
        parts.append(found.rename(columns={"metric": "judge"}).assign(data=name))
    table = pd.concat(parts, ignore_index=True)
    return table[["data", "judge", "measure", "value", "low", "high", "cells"]]


def laid_out(found: pd.DataFrame, *, data: str) -> pd.DataFrame:
    """Lay out the judges that score in people's unit on one set: the smallest bias first.

    found: the result of ``compare_judges``. Returns judge, bias, low and high (of the bias), spread, slope, ties,
    people (whose ties).
    """
    own = found[found["data"] == data]
    wide = own.pivot(index="judge", columns="measure", values="value").rename_axis(columns=None)
    wide = wide.reindex(columns=list(MEASURES)).dropna(subset="bias")
    wide = wide.join(own[own["measure"] == "bias"].set_index("judge")[["low", "high"]])
    wide = wide.assign(people=wide["ties"] - wide["more ties"]).sort_values("bias", key=abs, kind="stable")
    return wide.reset_index()[["judge", "bias", "low", "high", "spread", "slope", "ties", "people"]]
