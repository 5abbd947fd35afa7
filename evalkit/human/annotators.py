r"""Annotators: who did what, how each uses the scale, how steady, how fast and how much like the others they are.

All functions take a ratings table (see ``evalkit.data.schemas``) and work within each language pair. ``screen`` applies
a user's rules to such measures; the functions after it say what a rule would do.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.data.provenance import Scale, scale_of
from evalkit.data.schemas import ITEM, segment_key, with_pair
from evalkit.stats import inference
from evalkit.stats.correlation import ratio, spearman

_WHO = ["pair", "annotator"]
#: The seven tick marks of WMT's DA+SQM slider, on its scale from 0 to 100 (Kocmi et al. 2022).
SQM_TICKS = tuple(100 * step / 6 for step in range(7))
#: Numbers of ticks, ends included, that are tried: steps of 25, 16.7, 10, 8.3 and 5 on a scale from 0 to 100.
GRIDS = (5, 7, 11, 13, 21)
_SMOOTH = 8.0  # standard deviation in points of the kernel of f: wide enough to hide every grid but the coarsest
_SCATTER = 0.7  # standard deviation in points around a tick in c
#: Items shared with others below which no correlation with them is made.
FEWEST_SHARED = 10
#: Documents below which WMT26's filter says nothing of an annotator.
FEWEST_DOCUMENTS = 3
#: What is compared between two sets of scores: range, shape, steps of the scale.
USES = ("min", "max", "mean", "sd", "skewness", "at_ends", "unique_scores", "on_marks")
#: Longest time without a sign of life, a judgement begun or ended, that counts as work; seconds.
PAUSE = 600
#: Least share of those near the limit of quality control who fail, if nobody was removed; see ``removed``.
SHARE = 0.25


def everyone(ratings: pd.DataFrame) -> pd.MultiIndex:
    """List the annotators of each language pair: an index of pair, annotator."""
    return with_pair(ratings).groupby(_WHO).size().index


def accounts(ratings: pd.DataFrame, additional: pd.DataFrame, *, complete_at: int) -> pd.DataFrame:
    """List who took part in a calibration: judgements given, additional HITs done, and whether to keep them.

    ratings: calibration items, one row per judgement. additional: one row per additional HIT, columns hit, annotator.
    complete_at: judgements in a complete calibration HIT.
    Returns pair, annotator, judgements, additional_hits, complete, kept; ``kept`` asks for a complete calibration HIT
    and at least one additional HIT, as Knowles & Lo 2024 do (section 3.6).
    """
    done = with_pair(ratings).groupby(_WHO).size().rename("judgements").reset_index()
    hits = additional.groupby("annotator")["hit"].nunique()
    done["additional_hits"] = done["annotator"].map(hits).fillna(0).astype(int)
    done["complete"] = done["judgements"] == complete_at
    return done.assign(kept=done["complete"] & (done["additional_hits"] > 0))


def keep(ratings: pd.DataFrame, listed: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgements of the annotators that ``accounts`` marks as kept; raise DataError when none is left."""
    left = ratings[ratings["annotator"].isin(listed.loc[listed["kept"], "annotator"])]
    if left.empty:
        raise DataError(
            "No annotator is left: nobody both completed the calibration HIT and did an additional one. "
            "Check that the mapping belongs to these ratings, and the number of judgements in a complete HIT."
        )
    return left.reset_index(drop=True)


def contents(ratings: pd.DataFrame) -> pd.DataFrame:
    """Describe what was annotated per language pair (Knowles & Lo 2024, Table 1).

    Returns pair, triplets (distinct system, snippet, segment), snippets, systems, and the minimum, median and maximum
    number of distinct segments of a snippet as translated by one system. A snippet is what ``doc`` holds.
    """
    items = with_pair(ratings).drop_duplicates(["pair", *ITEM])
    per_document = items.groupby(["pair", "doc", "system"]).size().groupby("pair").agg(["min", "median", "max"])
    counted = {"triplets": ("segment", "size"), "snippets": ("doc", "nunique"), "systems": ("system", "nunique")}
    table = items.groupby("pair").agg(**counted)
    return table.join(per_document.add_prefix("segments_")).reset_index()


def workload(listed: pd.DataFrame) -> pd.DataFrame:
    """Summarise who stays and how many additional HITs they did (Knowles & Lo 2024, the annotator half of Table 2).

    listed: the result of ``accounts``. Returns pair, annotators, additional_hits_min, _median, _max (of those kept),
    incomplete (left out: calibration HIT not finished) and without_additional (left out: finished it, did no other).
    """
    kept = listed[listed["kept"]].groupby("pair")["additional_hits"].agg(["size", "min", "median", "max"])
    table = kept.add_prefix("additional_hits_").rename(columns={"additional_hits_size": "annotators"})
    gone = {"incomplete": ~listed["complete"], "without_additional": listed["complete"] & ~listed["kept"]}
    return table.join(listed.assign(**gone).groupby("pair")[[*gone]].sum()).reset_index()


def usage(ratings: pd.DataFrame, *, scale: Scale | None = None) -> pd.DataFrame:
    """Describe how each annotator uses the scale: its range, its shape, how many of its steps.

    Returns pair, annotator, n, unique_scores, min, max, mean, sd (ddof=1), skewness (Fisher-Pearson, adjusted; negative
    where a tail of low scores follows a crowd of high ones) and at_ends (share of scores in the lowest and the highest
    tenth of the scale). scale: its ends; None takes the table's own. Every judgement counts, repeats too. sd is NaN for
    a single judgement, skewness below three judgements and where all scores are equal.
    """
    low, high = scale_of(ratings, given=scale)
    tenth = (high - low) / 10
    outer = with_pair(ratings).assign(outer=~ratings["score"].between(low + tenth, high - tenth, inclusive="neither"))
    return _shape(ratings).assign(at_ends=outer.groupby(_WHO)["outer"].mean().to_numpy())


def _shape(ratings: pd.DataFrame) -> pd.DataFrame:
    """Describe each annotator's scores as ``usage`` does, but for what needs the ends of the scale."""
    scores = with_pair(ratings).groupby(_WHO)["score"]
    table = scores.agg(n="size", unique_scores="nunique", min="min", max="max", mean="mean", sd="std", skewness="skew")
    return table.assign(skewness=table["skewness"].where(table["sd"] > 0)).reset_index()


def bimodality(ratings: pd.DataFrame) -> pd.DataFrame:
    r"""Compute Sarle's coefficient of bimodality for each annotator: pair, annotator, bimodality (0 to 1).

    .. math:: b = (g_1^2 + 1) \Big/ \left(g_2 + \frac{3 (n-1)^2}{(n-2)(n-3)}\right)

    with the sample's adjusted skewness and excess kurtosis. 5/9 is that of even use of the whole scale; higher values
    hint at two heaps of scores. Missing below four judgements and where all scores are equal.
    Source: SAS Institute 1990; Pfister et al. 2013.  Caveat: skewness alone also raises it, so a long tail below a
    crowd of high scores may pass for two heaps. Look at the picture.
    """
    scores = with_pair(ratings).groupby(_WHO)["score"]
    n, skew, kurtosis = scores.size(), scores.skew(), scores.apply(pd.Series.kurt)
    value = (skew**2 + 1) / (kurtosis + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)).where(n > 3))
    return value.where(scores.nunique() > 1).rename("bimodality").reset_index()


def on_marks(
    ratings: pd.DataFrame, *, tick_marks: tuple[float, ...] = SQM_TICKS, within: float = 1.0, scale: Scale | None = None
) -> pd.DataFrame:
    """Measure how much each annotator's scores crowd around a slider's tick marks: pair, annotator, on_marks (share).

    tick_marks: positions of the ticks on the scale. within: how far from a mark, in points, still counts as on it.
    scale: its ends, within which tick marks must lie; None takes the table's own.
    What an annotator who ignored the tick marks would show depends on the shape of their scores.
    """
    low, high = scale_of(ratings, given=scale)
    if min(tick_marks) < low or max(tick_marks) > high:
        raise DataError(
            f"Tick marks from {min(tick_marks):g} to {max(tick_marks):g} do not fit a scale from {low:g} to {high:g}. "
            "Pass tick_marks=."
        )
    near = np.abs(ratings["score"].to_numpy()[:, None] - np.asarray(tick_marks)) <= within
    return with_pair(ratings).assign(on_marks=near.any(axis=1)).groupby(_WHO)["on_marks"].mean().reset_index()


def scale_grid(ratings: pd.DataFrame, *, within: float = 1.0, scale: Scale | None = None) -> pd.DataFrame:
    r"""Test each annotator's scores for each grid of ticks (``GRIDS``), and name the grid in use.

    For a grid of k ticks from end to end, each tick inside the scale has a cell, all whole numbers nearer to it than to
    another tick. Whoever uses the scale smoothly spreads their scores of a cell evenly over it, near enough, so the
    number of scores on the tick is binomial. Three precautions: the ends of the scale do not count, since scores pile
    up there whatever the grid; nor does the tick that attracts most, since a single heap of scores that happens to lie
    on a tick is no grid; and p-values are adjusted for all grids and annotators of a language pair (Holm 1979).

    Grids contain one another (every seven-tick grid is half of a thirteen-tick one), so several may pass the test. The
    one in use is that with the highest likelihood :math:`(1-\rho) f(s) + \rho\, c(s)`, where f is the annotator's
    smoothed histogram and c puts f's mass on the ticks, scattered by about a point. Finer grids spread that mass over
    more ticks, and so do not win by containing the coarser one.

    within: points from a tick that count as on it (less for fine grids: an eighth of the step). scale: its ends, whole
    numbers; None takes the table's own. Scores are rounded to whole numbers. Returns pair, annotator, ticks, n
    (judgements in the cells of its inner ticks), on_ticks (their share on a tick), expected (the share of smooth use),
    p (one-sided, without the most attractive tick), p_adjusted (Holm, over all rows of the language pair), gain
    (log-likelihood over smooth use, in nats) and in_use, true of at most one grid per annotator.
    Caveat: judgements are taken as independent; someone who repeats one score in a row is not. Who uses an end of the
    scale and a single inner tick cannot be told from somebody with a heap there, and has no grid in use; a high
    ``on_marks`` in ``profiles`` shows them.

    >>> scores = [0, 33, 67, 50, 83, 17, 100, 67, 34, 83, 17, 50] * 4
    >>> ratings = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "annotator": "a", "score": scores})
    >>> found = scale_grid(ratings, scale=(0, 100))
    >>> found.loc[found["in_use"], ["ticks", "n", "on_ticks"]].values.tolist()
    [[7.0, 40.0, 1.0]]
    """
    low, high = map(round, scale_of(ratings, given=scale))
    frame, points = with_pair(ratings), np.arange(low, high + 1)
    rounded = frame["score"].round().astype(int)
    if not rounded.between(low, high).all():
        raise DataError(f"A score lies outside {low}-{high}. Pass your scale=(low, high).")
    wide = pd.crosstab([frame["pair"], frame["annotator"]], rounded).reindex(columns=points, fill_value=0)
    rows = {ticks: _tested(wide.to_numpy(), points, ticks, within).set_index(wide.index) for ticks in GRIDS}
    table = pd.concat(rows, names=["ticks"]).reset_index().sort_values([*_WHO, "ticks"], ignore_index=True)
    table["p_adjusted"] = table.groupby("pair")["p"].transform(inference.adjust)
    passed = table["gain"].where((table["p_adjusted"] < 0.05) & (table["gain"] > 0), -np.inf)
    best = passed.groupby([table["pair"], table["annotator"]]).transform("max")
    table["in_use"] = np.isfinite(passed) & passed.eq(best)
    return table[["pair", "annotator", "ticks", "n", "on_ticks", "expected", "p", "p_adjusted", "gain", "in_use"]]


def _tested(counts: np.ndarray, points: np.ndarray, ticks: int, within: float) -> pd.DataFrame:
    """Test one grid for all annotators; counts: annotators × whole numbers of the scale."""
    marks = np.linspace(points[0], points[-1], ticks)
    distance = np.abs(points[:, None] - marks)
    cell = (distance.argmin(axis=1)[:, None] == np.arange(ticks))[:, 1:-1]
    near = cell & (distance[:, 1:-1] <= min(within, (marks[1] - marks[0]) / 8) + 1e-9)
    chance = np.divide(near.sum(axis=0), cell.sum(axis=0), out=np.zeros(ticks - 2), where=cell.any(axis=0))
    in_cell, on_tick = counts @ cell, counts @ near  # annotators × inner ticks
    excess = on_tick - chance * in_cell
    kept = np.arange(ticks - 2) != excess.argmax(axis=1)[:, None]
    n, hits = (in_cell * kept).sum(axis=1), (on_tick * kept).sum(axis=1)
    rate = ratio((in_cell * kept * chance).sum(axis=1), n)
    p = np.where(n > 0, stats.binom.sf(hits - 1, n, np.nan_to_num(rate)), 1.0)
    total = in_cell.sum(axis=1)
    found = {"n": total, "on_ticks": ratio(on_tick.sum(axis=1), total)}
    found |= {"expected": ratio((in_cell * chance).sum(axis=1), total), "p": p}
    return pd.DataFrame(found | {"gain": _gain(counts, points, marks[1:-1])})


def _gain(counts: np.ndarray, points: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Return how much likelier a mixture with the grid makes each annotator's scores than smooth use alone."""
    inside = (points > points[0] + 1) & (points < points[-1] - 1)
    here, kept = points[inside], counts[:, inside].astype(float)
    smooth = kept @ stats.norm.pdf(here[:, None] - here, scale=_SMOOTH) + 1e-9
    smooth /= smooth.sum(axis=1, keepdims=True)
    height = np.array([np.interp(inner, here, row) for row in smooth])
    comb = height @ stats.norm.pdf(inner[:, None] - here, scale=_SCATTER)
    comb /= comb.sum(axis=1, keepdims=True)
    likelihood = [(kept * np.log((1 - rho) * smooth + rho * comb)).sum(axis=1) for rho in np.linspace(0, 0.99, 34)]
    return np.max(likelihood, axis=0) - likelihood[0]


def repeats(ratings: pd.DataFrame) -> pd.DataFrame:
    """Measure each annotator's consistency on items scored more than once.

    Returns pair, annotator, n (repeated items), median_abs_diff, max_abs_diff (points of the scale); the difference of
    an item is that between its highest and lowest score. Annotators without repeated items have no row; degraded items
    do not count, and references count apart from the systems' outputs.
    Source: Knowles & Lo 2024, section 4.1.  Caveat: with 5 to 7 items, as there, it is an impression only.
    """
    difference = repeat_differences(ratings).groupby(_WHO)["difference"]
    return difference.agg(n="size", median_abs_diff="median", max_abs_diff="max").reset_index()


def repeat_differences(ratings: pd.DataFrame) -> pd.DataFrame:
    """List the items that an annotator scored more than once: pair, annotator, difference (highest - lowest score)."""
    counted = with_pair(ratings[ratings["item_type"].ne("degraded")])
    item = [*_WHO, *ITEM, counted["item_type"].eq("reference")]
    scores = counted.groupby(item)["score"].agg(["size", "min", "max"])
    again = scores[scores["size"] > 1]
    return (again["max"] - again["min"]).rename("difference").reset_index()[["pair", "annotator", "difference"]]


def intra_annotator_consistency(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Compare how the same annotators use the scale in two sets of scores, such as calibration and additional HITs.

    Returns per language pair and use (see ``USES``; on_marks is the share of scores on the slider's marks) the
    annotators with both, and Spearman's rho over them with its two-sided p: 1 where whoever is highest in one set is
    highest in the other. Missing below five annotators. Source: Knowles & Lo 2024, section 4.1, who compare by eye.
    Caveat: sets of very different size differ in range and distinct scores for that reason alone, though less in rank.
    """
    uses = [usage(table).merge(on_marks(table), on=_WHO).melt(_WHO, USES, "use") for table in (first, second)]
    joined, rows = uses[0].merge(uses[1], on=[*_WHO, "use"]), []
    if joined.empty:
        raise DataError("No annotator has scores in both tables. Check that they name annotators alike.")
    for (pair, use), table in joined.groupby(["pair", "use"], sort=False):
        x, y = table[["value_x", "value_y"]].dropna().to_numpy(float).T
        varied = len(x) >= 5 and np.ptp(x) > 0 and np.ptp(y) > 0
        rows.append((pair, use, len(x), *map(float, stats.spearmanr(x, y) if varied else (np.nan, np.nan))))
    found = pd.DataFrame(rows, columns=["pair", "use", "annotators", "rho", "p"])
    return found.sort_values("pair", kind="stable", ignore_index=True)


def beside_others(ratings: pd.DataFrame) -> pd.DataFrame:
    """Set each annotator's score of an item beside the mean of all others who scored it.

    Returns pair, system, doc, segment, annotator, score (mean of the annotator's own scores of the item, repeats
    included) and others (mean of the other annotators' such means; missing where nobody else scored the item).
    Degraded items are left out, for each HIT degrades them anew; a reference is another item than the system's output.
    """
    counted = with_pair(ratings[ratings["item_type"].ne("degraded")])
    counted = counted.assign(reference=counted["item_type"].eq("reference"))
    item = ["pair", *ITEM, "reference"]
    own = counted.groupby([*item, "annotator"], sort=False)["score"].mean().reset_index()
    same = own.groupby(item, sort=False)["score"]
    rest = same.transform("size") - 1
    own["others"] = ((same.transform("sum") - own["score"]) / rest).where(rest > 0)
    return own.drop(columns="reference")


def agreement_with_others(ratings: pd.DataFrame) -> pd.DataFrame:
    """Correlate each annotator with the mean of the others, over the items that somebody else scored too.

    Returns pair, annotator, shared (items) and with_others, Spearman's rho, missing below ten shared items and
    where one side does not vary.  Caveat: where few others share an item, their mean is noisy and rho is low even for a
    perfect annotator; compare annotators of one campaign only.
    """
    beside = beside_others(ratings).dropna(subset="others").groupby(_WHO)
    rho = {who: float(spearman(own["score"], own["others"])) for who, own in beside if len(own) >= FEWEST_SHARED}
    table = pd.DataFrame({"shared": beside.size(), "with_others": pd.Series(rho)}, everyone(ratings))
    return table.fillna({"shared": 0}).astype({"shared": int, "with_others": float}).reset_index()


def plausible_differences(ratings: pd.DataFrame) -> pd.DataFrame:
    r"""Ask how plausible each annotator's differences between two systems are, as WMT26's filter does.

    Two systems whose same segment an annotator scored differ there by d. Everybody's scores of the two have means that
    differ by :math:`\mu`, and variances that add up to :math:`\sigma^2`; systems need more than ten scores. Returns
    pair, annotator and plausible, the mean of :math:`2^{-(d - \mu)^2 / 2 \sigma^2}` over all such pairs, missing
    without any, or below ``FEWEST_DOCUMENTS`` documents. WMT26 leaves out who is below 0.75.
    Source: github.com/wmt-conference/wmt26-general-mt, humeval/02a-filter_data.py of 27714fb; there a pair stands on
    one screen, and a screen is a document.  Caveat: whose scores are drawn by chance from everybody's of the same
    systems has :math:`1 / \sqrt{1 + \ln 2}`, 0.77, where these are normal, and stays.
    """
    found: dict[str, pd.Series] = {}
    for pair, part in with_pair(ratings[ratings["item_type"].isin(["system", "reference"])]).groupby("pair"):
        scores, key = part.groupby("system")["score"], [*segment_key(part)]
        told = scores.agg(["mean", "var"])[scores.size() > 10]
        wide = part.groupby(["annotator", *key, "system"])["score"].mean().unstack("system")[told.index]
        (means, variances), values = told.to_numpy().T, wide.to_numpy()
        sums, counts = np.zeros((2, len(wide)))
        for a, b in combinations(range(len(told)), 2):
            distance = values[:, a] - values[:, b] - means[a] + means[b]
            likely = 2 ** -(distance**2 / (2 * (variances[a] + variances[b]) + 1e-6))
            sums, counts = sums + np.nan_to_num(likely), counts + np.isfinite(likely)
        both = pd.DataFrame({"sum": sums, "count": counts}, wide.index).groupby("annotator").sum()
        seen = part.groupby("annotator")["doc" if "doc" in part else "segment"].nunique()
        found[pair] = (both["sum"] / both["count"]).where(seen >= FEWEST_DOCUMENTS)
    plausible = pd.concat(found or {"": pd.Series(dtype=float)}, names=_WHO)
    return plausible.reindex(everyone(ratings)).rename("plausible").reset_index()


def speed(ratings: pd.DataFrame) -> pd.DataFrame:
    """Measure seconds a judgement: pair, annotator, seconds (median), seconds_from (where they come from).

    With ``started`` and ``ended``, the median over judgements; with ``hit_seconds`` (time spent on a whole HIT), the
    median over HITs of that time divided by the HIT's judgements. Times that are not positive count as missing.
    Caveat: pauses are in these times, hence medians; an interface that lets people go back times visits, not thought.
    """
    frame, source = with_pair(ratings), "hit_seconds"
    taken = frame[_WHO].assign(seconds=np.nan)
    if {"started", "ended"} <= set(frame):
        source, taken = "started and ended", frame[_WHO].assign(seconds=frame["ended"] - frame["started"])
    elif "hit_seconds" in frame:
        hits = frame.groupby([*_WHO, "hit"])["hit_seconds"].agg(["first", "size"])
        taken = (hits["first"] / hits["size"]).rename("seconds").reset_index()
    table = taken.assign(seconds=taken["seconds"].where(taken["seconds"] > 0)).groupby(_WHO)["seconds"].median()
    return table.reset_index().assign(seconds_from=np.where(table.notna(), source, ""))


def since_last(ratings: pd.DataFrame) -> pd.Series:
    """Measure seconds from the end of an annotator's previous judgement to the end of this one, as ratings are indexed.

    Some tools show a whole document and stamp a judgement only when it is made, so reading falls between judgements:
    ``started`` then says little, and this time is that of the judgement. Judgements that end at the same moment, as two
    translations on one screen may, share their time. Missing for an annotator's first judgement, for those without an
    end, and after more than ``PAUSE``: nobody knows how much of a break was work.
    Caveat: time on items that the ratings no longer hold counts for the judgement after them.

    >>> ends = pd.DataFrame({"annotator": list("aaaab"), "ended": [90.0, 60.0, 90.0, 5000.0, 70.0]})
    >>> since_last(ends).tolist()
    [15.0, nan, 15.0, nan, nan]
    """
    keys = ["annotator", "ended"]
    together = ratings.groupby(keys, observed=True).size()
    taken = together.index.to_frame()["ended"].groupby("annotator", observed=True).diff()
    each = taken.where(taken <= PAUSE) / together
    return each.reindex(pd.MultiIndex.from_frame(ratings[keys])).set_axis(ratings.index).rename("seconds")


def drift(ratings: pd.DataFrame) -> pd.DataFrame:
    """Test whether an annotator's scores rise or fall as they go on.

    What is followed is the score minus the mean of the others on the same item, where at least half of the annotator's
    judgements have such others (what all do alike then does not show), else the score itself; degraded items and
    references do not count. Time is the judgement's place in the order of ``started``, or, without times, its
    ``position`` in the HIT. Scores within one showing of a document are not independent, so each showing is reduced to
    its mean, and a line is fitted to these means, weighted by their judgements. Returns pair, annotator, drift (points
    of the scale per 100 judgements), drift_p (two-sided, Student's t with showings - 2 degrees of freedom), drift_of
    ("difference from others", "score" or ""). Missing below four showings, where nothing varies, and without times or
    positions.
    Source: weighted least squares.  Caveat: neighbouring showings may still be alike, which makes p too small.
    """
    frame, people = with_pair(ratings), everyone(ratings)
    timed = "started" in frame
    if not timed and "position" not in frame:
        return pd.DataFrame({"drift": np.nan, "drift_p": np.nan, "drift_of": ""}, index=people).reset_index()
    key, outputs = ["pair", *ITEM, "annotator"], ~frame["item_type"].isin(["degraded", "reference"])
    beside = beside_others(frame[outputs])[[*key, "others"]]  # a reference may bear the name of a system
    others = frame[key].merge(beside, on=key, how="left")["others"].set_axis(frame.index).where(outputs)
    relative = others.notna().groupby([frame[name] for name in _WHO]).transform("mean") >= 0.5
    followed = (frame["score"] - others).where(relative, frame["score"].where(outputs))
    order = frame.groupby(_WHO)["started"].rank(method="first") if timed else frame["position"]
    showing = [name for name in (*_WHO, "hit", "system", "doc", "copy") if name in frame]
    rows = frame[showing].assign(x=order / 100, y=followed).dropna(subset=["x", "y"])
    means = rows.groupby(showing, sort=False).agg(x=("x", "mean"), y=("y", "mean"), w=("y", "size")).reset_index()
    table = means.groupby(_WHO)[["x", "y", "w"]].apply(_line).reindex(index=people, columns=["drift", "drift_p"])
    what = np.where(relative.groupby([frame[name] for name in _WHO]).first(), "difference from others", "score")
    return table.assign(drift_of=np.where(table["drift"].notna(), what, "")).reset_index()


def _line(means: pd.DataFrame) -> pd.Series:
    """Fit a weighted line to one annotator's columns x, y, w; returns drift and drift_p."""
    slope = p = np.nan
    if len(means) >= 4 and means["x"].nunique() > 1 and means["y"].nunique() > 1:
        (slope, _), covariance = np.polyfit(means["x"], means["y"], 1, w=np.sqrt(means["w"]), cov=True)
        p = 2 * stats.t.sf(abs(slope) / np.sqrt(covariance[0, 0]), len(means) - 2)
    return pd.Series({"drift": slope, "drift_p": p})


def quality_control(ratings: pd.DataFrame) -> pd.DataFrame:
    """Test, annotator by annotator, whether degraded items score lower than their originals, as WMT's control does.

    Returns pair, annotator, qc_pairs (over all language pairs of the annotator), qc_difference (mean of original -
    degraded, points) and qc_p, of a one-sided paired t-test. Annotators without degraded items have no row. The ratings
    that WMT published as passing its control in 2021 and 2022 have qc_p < 0.05 for everyone all of whose work is known;
    neither Wilcoxon's test nor one per language pair would have let all pass.
    Originals are outputs of systems or references; both must stand in the same HIT where HITs are known. An annotator's
    differences from all language pairs stand under each pair that they worked on, for control is of people.
    Caveat: the t-test asks for a mean difference, which one large drop among many small ones can defeat.
    """
    frame = with_pair(ratings)
    key = [*_WHO, *(["hit"] if "hit" in frame else []), *ITEM]
    whole = frame[frame["item_type"].isin(["system", "reference", "calibration"])]
    original = whole.groupby(key)["score"].mean().rename("original").reset_index()
    joined = frame[frame["item_type"].eq("degraded")].merge(original, on=key)
    joined["difference"] = joined["original"] - joined["score"]
    pairs = frame[_WHO].drop_duplicates().merge(joined[["annotator", "difference"]], on="annotator")
    own = pairs.groupby(_WHO)["difference"]
    table = own.agg(qc_pairs="size", qc_difference="mean")
    wide = pairs.assign(place=own.cumcount()).pivot(index=_WHO, columns="place", values="difference").to_numpy(float)
    same = np.where(table["qc_difference"] > 0, 0.0, 1.0)  # where all differences are equal
    table["qc_p"] = np.where(own.max() > own.min(), inference.paired_t(wide), same)
    table["qc_p"] = table["qc_p"].where(table["qc_pairs"] > 1)
    return table.reset_index()


class Caliper(NamedTuple):
    """How many annotators pass a test narrowly, how many fail it as narrowly, and how likely so few are by chance."""

    passed: int
    failed: int
    p: float


def removed(p_values: ArrayLike) -> Caliper:
    r"""Count the p-values just below and just above 0.05: where many pass narrowly, some must fail narrowly.

    p_values: one an annotator, NaN for those without. Narrowly is up to 0.025 below or above the limit. ``p`` is
    that of so few failures or fewer, :math:`P(X \le \text{failed})` with X binomial of all narrow ones at ``SHARE``.
    A one-sided test whose statistic lies :math:`\delta` standard errors from zero on average has its p-value above the
    limit in a share of narrow cases that is 1/2 for :math:`\delta = 0`, .32 for 3, and 1/4 for 4.2; those with a larger
    :math:`\delta` hardly come near the limit. So ``p`` is small where failures were taken out. Source: the caliper
    test of Gerber & Malhotra 2008, there for published p-values.
    Caveat: it cannot see a removal where few come near the limit, and nobody need have been removed on purpose.

    >>> removed([0.03] * 30 + [0.001] * 80)
    Caliper(passed=30, failed=0, p=0.00017858...)
    >>> removed([0.03, 0.06, 0.001]).p
    0.9375
    """
    values = np.asarray(p_values, dtype=float)
    passed = int(((values >= 0.025) & (values < 0.05)).sum())
    failed = int(((values >= 0.05) & (values < 0.075)).sum())
    return Caliper(passed, failed, float(stats.binom.cdf(failed, passed + failed, SHARE)))


def profiles(
    ratings: pd.DataFrame, *, tick_marks: tuple[float, ...] = SQM_TICKS, within: float = 1.0, scale: Scale | None = None
) -> pd.DataFrame:
    """Describe every annotator of every language pair in one row.

    tick_marks: positions of the slider's ticks; within: points that still count as on one. scale: its ends; None takes
    the table's own. Returns, beside the columns of ``usage``:

    - bimodality: Sarle's coefficient (see ``bimodality``); on_marks: share of scores on the slider's marks;
    - grid: ticks of the grid in use, as text, or "none"; grid_p: its p-value (or the smallest of all), adjusted;
    - repeated, median_abs_diff, max_abs_diff: items scored more than once, and differences between their scores;
    - shared, with_others: see ``agreement_with_others``; qc_pairs and others: see ``quality_control``;
    - seconds, seconds_from, drift, drift_p, drift_of: see ``speed`` and ``drift``;
    - missing: why a cell is missing, empty where none is.
    """
    scale = scale_of(ratings, given=scale)
    table = usage(ratings, scale=scale).merge(bimodality(ratings), on=_WHO)
    marks = on_marks(ratings, tick_marks=tick_marks, within=within, scale=scale)
    table = table.merge(marks, on=_WHO).set_index(_WHO)
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
    why = {
        "sd": "sd: one judgement",
        "skewness": "skewness, bimodality: one score throughout, or fewer than three judgements",
        "median_abs_diff": "repeats: no item came twice",
        "with_others": f"with_others: fewer than {FEWEST_SHARED} items shared with others, or one side does not vary",
        "seconds": "seconds: no times",
        "drift": "drift: " + ("too few documents, or nothing varies" if timed else "no times or positions"),
        "qc_p": "quality control: fewer than two degraded items beside their originals",
    }
    given = [np.where(table[name].isna(), f"{reason}; ", "") for name, reason in why.items()]
    return pd.Series(map("".join, zip(*given)), table.index).str.removesuffix("; ")


# Screening by rules

_SIGNS = {
    "<": (operator.lt, "below"),
    "<=": (operator.le, "at most"),
    ">": (operator.gt, "above"),
    ">=": (operator.ge, "at least"),
}
_TEXT = re.compile(r"\s*(\w+)\s*(<=|<|>=|>)\s*(-?\d*\.?\d+(?:e[+-]?\d+)?)\s*$")
#: An example of each kind of rule. The last is WMT's quality control.
RULES = (
    "unique_scores < 6",
    "sd < 5",
    "at_ends > 0.95",
    "median_abs_diff > 20",
    "with_others < 0.1",
    "seconds < 3",
    "qc_p >= 0.05",
)
#: What a rule can be about, and how people say it: columns of ``profiles``, by the function that measures them.
MEASURES = {
    "unique_scores": (_shape, "number of distinct scores"),
    "mean": (_shape, "mean score, points"),
    "sd": (_shape, "standard deviation of scores, points"),
    "at_ends": (usage, "share of scores in the lowest or the highest tenth of the scale"),
    "median_abs_diff": (repeats, "median difference on repeats, points"),
    "max_abs_diff": (repeats, "largest difference on repeats, points"),
    "with_others": (agreement_with_others, "rank correlation with the mean of the others"),
    "plausible": (plausible_differences, "plausibility of differences between systems (WMT26's filter)"),
    "seconds": (speed, "median seconds a judgement"),
    "qc_p": (quality_control, "p-value of degraded items against their originals"),
}
#: Rules that have a name.
NAMED = {"wmt26-filter": "plausible < 0.75", "wmt-control": "qc_p >= 0.05"}


@dataclass(frozen=True)
class Rule:
    """Flag an annotator whose ``measure`` compares with ``threshold`` by ``sign``.

    >>> rule = Rule.parse("with_others < 0.1")
    >>> rule.measure, rule.sign, rule.threshold, str(rule)
    ('with_others', '<', 0.1, 'with_others < 0.1')
    """

    measure: str
    sign: str
    threshold: float

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule such as ``sd < 5``, or one of ``NAMED``; DataError where there is no such measure or name."""
        found = _TEXT.match(NAMED.get(text, text))
        if found is None:
            raise DataError(
                f"{text!r} is no rule. Write a measure, one of < <= > >=, and a number: 'sd < 5'; or one of these: "
                f"{', '.join(NAMED)}."
            )
        if found[1] not in MEASURES:
            raise DataError(f"Rule {text!r}: no such measure. Choose one of: {', '.join(MEASURES)}.")
        return cls(found[1], found[2], float(found[3]))

    def __str__(self) -> str:
        return f"{self.measure} {self.sign} {self.threshold:g}"

    @property
    def in_words(self) -> str:
        """Say the rule as people say it.

        >>> Rule.parse("median_abs_diff > 20").in_words, Rule.parse("unique_scores < 6").in_words
        ('median difference on repeats above 20 points', 'number of distinct scores below 6')
        """
        meaning, _, unit = MEASURES[self.measure][1].partition(", ")
        return f"{meaning} {_SIGNS[self.sign][1]} {self.threshold:g} {unit if unit == 'points' else ''}".rstrip()


def rules_in_words(rules: Sequence[str] = RULES) -> dict[str, str]:
    """Map rules, as tables of this module have them, to what people call them; "any" stands for one or more of them.

    >>> rules_in_words(["sd < 5"])
    {'sd < 5': 'standard deviation of scores below 5 points', 'any': 'one rule or more'}
    """
    return {str(rule): rule.in_words for rule in map(Rule.parse, rules)} | {"any": "one rule or more"}


def screen(ratings: pd.DataFrame, rules: Sequence[str] = RULES) -> pd.DataFrame:
    """Apply each rule to each annotator of each language pair.

    rules: texts such as ``sd < 5``, whose measures are the keys of ``MEASURES``; or names of ``NAMED``. Returns pair,
    annotator, rule, measure, value, threshold, flagged, and unknown, where the measure is missing: that flags nobody.
    """
    if isinstance(rules, str) or not len(rules):
        raise DataError("Screening needs a list of rules, such as ['sd < 5'].")
    parts, people = [], everyone(ratings)
    for rule in map(Rule.parse, rules):
        measured = MEASURES[rule.measure][0](ratings).set_index(_WHO)[rule.measure]
        values = measured.reindex(people).to_numpy(float)
        part = {"rule": str(rule), "measure": rule.measure, "value": values, "threshold": rule.threshold}
        part |= {"flagged": _SIGNS[rule.sign][0](values, rule.threshold), "unknown": np.isnan(values)}
        parts.append(pd.DataFrame(part, people))
    return pd.concat(parts).reset_index()


def screening_totals(screened: pd.DataFrame) -> pd.DataFrame:
    """Count by rule: annotators (of a language pair each), flagged, unknown; the rule "any" is one or more of them."""
    anyone = screened.groupby(_WHO).agg(flagged=("flagged", "any"), unknown=("unknown", "all")).reset_index()
    both = pd.concat([screened, anyone.assign(rule="any")]).groupby("rule", sort=False)
    sums = {"annotators": ("annotator", "size"), "flagged": ("flagged", "sum"), "unknown": ("unknown", "sum")}
    return both.agg(**sums).reset_index()


def agreement_change(before: pd.DataFrame, after: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Compare agreement before and after screening, and with what leaving out anybody would have done.

    Agreement is Krippendorff's alpha (interval) of raw scores, over items that two or more annotators scored; degraded
    items do not count. Returns pair, annotators and judgements, each _before and _after, alpha_before, alpha_after
    (missing where no two annotators share an item any more), and random_low, random_high: the interval of alpha where
    as many annotators leave at random (``resamples`` draws).
    Caveat: a rule that looks at agreement raises it by construction; the interval does not correct for that.
    """
    rng, rows = np.random.default_rng(seed), []
    old, new = (with_pair(table[table["item_type"].ne("degraded")]) for table in (before, after))
    for pair, table in old.groupby("pair"):
        kept, scores = new[new["pair"] == pair], _matrix(table)
        people, stay = scores.shape[1], kept["annotator"].nunique()
        draws = np.array([_alpha(scores[:, rng.permutation(people)[:stay]]) for _ in range(resamples)])
        low, high = inference.defined_interval(draws[:, None])
        row = {"pair": pair, "annotators_before": people, "annotators_after": stay}
        row |= {"judgements_before": len(table), "judgements_after": len(kept)}
        row |= {"alpha_before": _alpha(scores), "alpha_after": _alpha(_matrix(kept))}
        rows.append(row | {"random_low": float(low[0]), "random_high": float(high[0])})
    return pd.DataFrame(rows)


def _matrix(table: pd.DataFrame) -> np.ndarray:
    """Return items × annotators, as they come first; an annotator's scores of one item become their mean."""
    item = [*ITEM, table["item_type"].eq("reference")]
    wide = table.groupby([*item, "annotator"])["score"].mean().unstack("annotator")
    return wide[table["annotator"].unique()].to_numpy()


def _alpha(scores: np.ndarray) -> float:
    """Return Krippendorff's alpha for interval data from sums; the quick way for many subsets of annotators."""
    n = np.isfinite(scores).sum(axis=1)
    n, scores = n[n > 1], scores[n > 1]
    scores = scores - (np.nanmean(scores) if len(scores) else 0)
    total, square = np.nansum(scores, axis=1), np.nansum(scores**2, axis=1)
    observed = ((n * square - total**2) / (n - 1)).sum()
    expected = (n.sum() * square.sum() - total.sum() ** 2) / max(n.sum() - 1, 1)
    return float(1 - observed / expected) if expected > 0 else np.nan
