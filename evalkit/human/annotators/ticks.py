r"""Whether annotators lean on the tick marks of a slider, and which grid of steps they use, found by a test.

For a grid of k ticks from end to end, each tick inside the scale has a cell, all whole numbers nearer to it than to
another tick. Whoever uses the scale smoothly spreads their scores of a cell evenly over it, near enough, so the number
of scores on the tick is binomial. Three precautions: the ends of the scale do not count, since scores pile up there
whatever the grid; nor does the tick that attracts most, since a single heap of scores that happens to lie on a tick is
no grid; and p-values are adjusted for all grids and annotators of a language pair (Holm 1979).

Grids contain one another (every seven-tick grid is half of a thirteen-tick one), so several may pass the test. The one
in use is that with the highest likelihood :math:`(1-\rho) f(s) + \rho\, c(s)`, where f is the annotator's smoothed
histogram and c puts f's mass on the ticks, scattered by about a point. Finer grids spread that mass over more ticks,
and so do not win by containing the coarser one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.provenance import scale_of
from evalkit.data.schemas import with_pair

#: The seven tick marks of WMT's DA+SQM slider, on its scale from 0 to 100 (Kocmi et al. 2022).
SQM_TICKS = tuple(100 * step / 6 for step in range(7))
#: The five tick marks of the sliders of earlier years and of Mechanical Turk (Knowles & Lo 2024, section 4.1).
FIVE_TICKS = (0.0, 25.0, 50.0, 75.0, 100.0)
#: Numbers of ticks, ends included, that are tried: steps of 25, 16.7, 10, 8.3 and 5 on a scale from 0 to 100.
GRIDS = (5, 7, 11, 13, 21)
_SMOOTH = 8.0  # standard deviation in points of the kernel of f: wide enough to hide every grid but the coarsest
_SCATTER = 0.7  # standard deviation in points around a tick in c
_RHO = np.linspace(0, 0.99, 34)
_ALPHA = 0.05  # what a grid's adjusted p-value must be below


def ticks(
    ratings: pd.DataFrame,
    *,
    tick_marks: tuple[float, ...] = SQM_TICKS,
    within: float = 1.0,
    scale: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Measure how much each annotator's scores crowd around a slider's tick marks.

    tick_marks: positions of the ticks on the scale. within: how far from a mark, in points, still counts as on it.
    scale: its ends, within which tick marks must lie; None takes the table's own.
    Returns one row per annotator and mark: pair, annotator, mark, share (of the annotator's judgements, 0 to 1).
    What an annotator who ignored the tick marks would show depends on the shape of their scores; for evenly
    spread ones it is ``even_share(tick_marks, within=within)``.
    """
    low, high = scale_of(ratings, given=scale)
    if tick_marks and (min(tick_marks) < low or max(tick_marks) > high):
        raise DataError(
            f"Tick marks from {min(tick_marks):g} to {max(tick_marks):g} do not fit a scale from {low:g} to {high:g}. "
            "Pass tick_marks=."
        )
    if min(np.diff(tick_marks), default=np.inf) <= 2 * within:
        raise DataError(
            f"Tick marks closer than {2 * within:g} points would count a score twice. Use a smaller 'within'."
        )
    scores = with_pair(ratings)[["pair", "annotator", "score"]]
    near = np.abs(scores["score"].to_numpy()[:, None] - np.asarray(tick_marks)) <= within
    flags = pd.DataFrame(near, columns=pd.Index(tick_marks, name="mark"))
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


def even_share(*, tick_marks: tuple[float, ...] = SQM_TICKS, within: float = 1.0) -> float:
    """Return the share of scores that lie on a mark when every whole number from 0 to 100 is equally likely.

    >>> round(even_share(), 3)
    0.149
    """
    scores = np.arange(101)
    return float((np.abs(scores[:, None] - np.asarray(tick_marks)) <= within).any(axis=1).mean())


def scale_grid(
    ratings: pd.DataFrame,
    *,
    candidates: tuple[int, ...] = GRIDS,
    within: float = 1.0,
    scale: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Test each annotator's scores for each grid of ticks, and name the grid in use.

    candidates: numbers of ticks, ends included. within: points from a tick that count as on it (less for fine grids:
    an eighth of the step). Returns pair, annotator, ticks, n (judgements in the cells of its inner ticks), on_ticks
    (their share on a tick), expected (the share of smooth use), p (one-sided, without the most attractive tick),
    p_adjusted (Holm, over all rows of the language pair), gain (log-likelihood over smooth use, in nats) and in_use,
    true of at most one grid per annotator. Judgements nearer to an end of the scale than to an inner tick do not count;
    scores are rounded to whole numbers. scale: its ends, whole numbers; None takes the table's own.
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
    if min(candidates) < 4:
        raise DataError("A grid of fewer than 4 ticks has fewer than two inside the scale. Leave it out of candidates.")
    frame = with_pair(ratings)
    points = np.arange(low, high + 1)
    code = (frame["score"].round().astype(int) - low).to_numpy()
    if (code < 0).any() or (code >= len(points)).any():
        raise DataError(f"A score lies outside {low}-{high}. Pass your scale=(low, high).")
    who = frame.groupby(["pair", "annotator"]).ngroup().to_numpy()
    names = frame.groupby(["pair", "annotator"]).size().index
    counts = np.bincount(who * len(points) + code, minlength=len(names) * len(points)).reshape(len(names), -1)
    rows = [_tested(counts, points, ticks, within).assign(ticks=ticks).set_index(names) for ticks in candidates]
    table = pd.concat(rows).reset_index().sort_values(["pair", "annotator", "ticks"], ignore_index=True)
    table["p_adjusted"] = table.groupby("pair")["p"].transform(_holm)
    passed = table["gain"].where((table["p_adjusted"] < _ALPHA) & (table["gain"] > 0), -np.inf)
    best = passed.groupby([table["pair"], table["annotator"]]).transform("max")
    table["in_use"] = np.isfinite(passed) & passed.eq(best)
    return table[["pair", "annotator", "ticks", "n", "on_ticks", "expected", "p", "p_adjusted", "gain", "in_use"]]


def _tested(counts: np.ndarray, points: np.ndarray, ticks: int, within: float) -> pd.DataFrame:
    """Test one grid for all annotators; counts: annotators × whole numbers of the scale."""
    marks = np.linspace(points[0], points[-1], ticks)
    step = marks[1] - marks[0]
    distance = np.abs(points[:, None] - marks)
    cell = (distance.argmin(axis=1)[:, None] == np.arange(ticks))[:, 1:-1]
    near = cell & (distance[:, 1:-1] <= min(within, step / 8) + 1e-9)
    chance = np.divide(near.sum(axis=0), cell.sum(axis=0), out=np.zeros(ticks - 2), where=cell.any(axis=0))
    in_cell, on_tick = counts @ cell, counts @ near  # annotators × inner ticks
    excess = on_tick - chance * in_cell
    kept = np.arange(ticks - 2) != excess.argmax(axis=1)[:, None]
    n, hits = (in_cell * kept).sum(axis=1), (on_tick * kept).sum(axis=1)
    rate = _ratio((in_cell * kept * chance).sum(axis=1), n)
    p = np.where(n > 0, stats.binom.sf(hits - 1, n, np.nan_to_num(rate)), 1.0)
    total = in_cell.sum(axis=1)
    return pd.DataFrame(
        {
            "n": total,
            "on_ticks": _ratio(on_tick.sum(axis=1), total),
            "expected": _ratio((in_cell * chance).sum(axis=1), total),
            "p": p,
            "gain": _gain(counts, points, marks[1:-1]),
        }
    )


def _gain(counts: np.ndarray, points: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Return how much likelier a mixture with the grid makes each annotator's scores than smooth use alone."""
    inside = (points > points[0] + 1) & (points < points[-1] - 1)
    here, kept = points[inside], counts[:, inside].astype(float)
    smooth = kept @ stats.norm.pdf(here[:, None] - here, scale=_SMOOTH) + 1e-9
    smooth /= smooth.sum(axis=1, keepdims=True)
    height = np.array([np.interp(inner, here, row) for row in smooth])
    comb = height @ stats.norm.pdf(inner[:, None] - here, scale=_SCATTER)
    comb /= comb.sum(axis=1, keepdims=True)
    likelihood = [(kept * np.log((1 - rho) * smooth + rho * comb)).sum(axis=1) for rho in _RHO]
    return np.max(likelihood, axis=0) - likelihood[0]


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def _holm(p: pd.Series) -> pd.Series:
    """Adjust p-values so that the chance of any false positive among them stays below alpha."""
    order = np.argsort(p.to_numpy(), kind="stable")
    steps = np.maximum.accumulate(p.to_numpy()[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1)
    return pd.Series(adjusted, p.index)
