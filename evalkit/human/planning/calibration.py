"""How small a calibration set can be: the error of an annotator's shift against the set's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.planning.components import SET_SIZE
from evalkit.human.planning.squares import equate
from evalkit.stats import inference
from evalkit.stats.agreement import score_matrix

#: Ways to choose the segments of a calibration set from a larger pool.
SELECTIONS = ("segments at random", "spread over documents", "spread over scores", "whole documents")


def smallest(variances: Mapping[str, float], *, error: float, block: float = 1) -> int:
    r"""Return the fewest segments with which an annotator's shift has at most the standard error ``error``, in points.

    The shift is the mean of many annotators on the set less the annotator's own. With n segments in documents of
    ``block`` b, its standard error is :math:`\sqrt{(b V_{block} + V_{residual}) / n}`; the segments' own difficulty
    cancels, because all annotators see the same.

    >>> smallest({"block": 20.0, "residual": 100.0}, error=2, block=10)
    75
    """
    if error <= 0:
        raise DataError(f"A standard error of {error:g} points cannot be reached. Ask for more than 0.")
    return int(np.ceil((block * variances["block"] + variances["residual"]) / error**2 - 1e-9))


def smallest_sets(table: pd.DataFrame, *, error: float) -> pd.DataFrame:
    """List per language pair how few segments hold the shift's standard error at ``error`` points or below.

    table: the result of ``components`` with layout ``calibration``. Returns pair, single_segments (each of another
    document) and whole_documents (of the pair's median length), each in segments, for many annotators.
    """
    rows = []
    for row in table.fillna(0.0).to_dict("records"):
        sizes = (smallest(row, error=error, block=block) for block in (1, row["block_length"]))
        rows.append((row["pair"], *sizes))
    return pd.DataFrame(rows, columns=["pair", "single_segments", "whole_documents"])


def equal_work(table: pd.DataFrame) -> pd.DataFrame:
    r"""Say how much ordinary work tells an annotator's level as well as a calibration set of 100 segments does.

    table: the result of ``components`` with layout ``calibration``; b is its median block, in the set and in ordinary
    work, which goes to annotators by chance. On the set the segments' own difficulty cancels, because all judge the
    same; in an annotator's own N judgements it does not. The mean is equally sure at

    .. math:: N = c\,\Big(1 + \frac{b V_{document} + V_{item}}{b V_{block} + V_{residual}}\Big)

    Returns pair and judgements. Caveat: where annotators see few systems, or are given work that suits them, more.
    """
    parts = table.fillna(0.0)
    block = parts["block_length"]
    noise = block * parts["block"] + parts["residual"]
    ratio = 1 + (block * parts["document"] + parts["item"]) / noise
    return pd.DataFrame({"pair": parts["pair"], "judgements": np.ceil(SET_SIZE * ratio - 1e-9).astype(int)})


def _complete(ratings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Arrange first showings as items x annotators, per language pair, for those who judged every item."""
    first = with_pair(ratings[ratings["item_type"] != "repeat"])
    tables = {pair: score_matrix(group) for pair, group in first.groupby("pair")}
    tables = {pair: table.loc[:, table.notna().all()] for pair, table in tables.items()}
    for pair, table in tables.items():
        if table.shape[1] < 3 or len(table) < 4:
            raise DataError(f"{pair}: too little was judged by the same people (3 annotators, 4 segments are needed).")
    return tables


def calibration_size(
    ratings: pd.DataFrame, *, sizes: Sequence[int] = (10, 20, 50), resamples: int = 1000, seed: int = 7
) -> pd.DataFrame:
    r"""Hold the closed form of the shift's standard error against smaller sets drawn from a real calibration set.

    Smaller sets are drawn without replacement from the N segments of the whole set: n segments at random, or whole
    documents that make up about n. Half of the m annotators, drawn at random, or all of them take part. The error is
    that of an annotator's shift among m' annotators on n segments against the one among all on all N. With the mean
    squares MS of annotators and residual of the two-way table, its standard error over all draws is

    .. math:: \sqrt{(1 - 1/m')(1/n - 1/N)\,MS_{res} + (1/m' - 1/m)\,MS_{ann}/N}

    which for segments at random is exact, up to the number of draws; so that line checks the computation. For whole
    documents :math:`MS_{res}` is replaced by :math:`b V_{block} + V_{residual}` with the components of ``components``
    and b the number of segments that share a document with a segment, on average; that line checks the model.
    Returns pair, design, size (mean segments drawn), annotators, se_closed_form, se_subsampled, and se_fresh, which is
    ``se_closed_form`` without the corrections for finite sets: what a new set of that size, chosen in the same way,
    would leave of error against these annotators.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for pair, table in _complete(ratings).items():
        scores = table.to_numpy().T  # annotators x items
        m, n_all = scores.shape
        residual = _centred(scores)
        ms = {"res": (residual**2).sum() / ((m - 1) * (n_all - 1)), "ann": n_all * scores.mean(1).var(ddof=1)}
        document = table.index.droplevel("segment").factorize()[0]
        for design, square in (("segments", ms["res"]), ("documents", _block_square(table, document))):
            for size in sizes:
                if size >= n_all or (design == "documents" and document.max() < 2):
                    continue
                picks = _picked(document, size, resamples, rng, whole=design == "documents")
                reached = float(1 / (picks**2).sum(1).mean())
                for people in (m, m // 2):
                    found = _errors(scores, picks, people, rng)
                    within = (1 - 1 / people) * square
                    between = (1 / people - 1 / m) * ms["ann"] / n_all
                    closed = np.sqrt(max(within * (1 / reached - 1 / n_all), 0) + between)
                    rows.append((pair, design, reached, people, closed, found, np.sqrt(within / reached)))
    names = ["pair", "design", "size", "annotators", "se_closed_form", "se_subsampled", "se_fresh"]
    return pd.DataFrame(rows, columns=names)


def _centred(scores: np.ndarray) -> np.ndarray:
    """Take the annotators' and the items' means out of annotators x items."""
    return scores - scores.mean(1, keepdims=True) - scores.mean(0) + scores.mean()


def _block_square(table: pd.DataFrame, document: np.ndarray) -> float:
    """Estimate b V_block + V_residual from items x annotators."""
    items, people = table.shape
    who, item = np.tile(np.arange(people), items), np.repeat(np.arange(items), people)
    where = document[item]
    factors = {"document": where, "item": item, "annotator": who, "block": where * people + who}
    found = equate(table.to_numpy().ravel(), factors).solve(list(factors))
    return float((np.bincount(document) ** 2).sum() / items * found["block"] + found["residual"])


def _picked(
    document: np.ndarray, size: int, resamples: int, rng: np.random.Generator, *, whole: bool = False
) -> np.ndarray:
    """Draw sets of segments: (resamples, items) weights that add up to 1 in each row."""
    if whole:
        count = max(1, round(size / (len(document) / (document.max() + 1))))
        chosen = rng.random((resamples, document.max() + 1)).argsort(axis=1) < count
        chosen = chosen[:, document]
    else:
        chosen = rng.random((resamples, len(document))).argsort(axis=1).argsort(axis=1) < size
    return chosen / chosen.sum(axis=1, keepdims=True)


def _errors(scores: np.ndarray, picks: np.ndarray, people: int, rng: np.random.Generator) -> float:
    """Return the root mean square error of shifts on drawn segments by drawn annotators."""
    drawn = picks @ scores.T  # resamples x annotators: means on the drawn segments
    full = scores.mean(1)
    who = rng.random(drawn.shape).argsort(axis=1)[:, :people]
    own = np.take_along_axis(drawn, who, axis=1)
    error = (own.mean(1, keepdims=True) - own) - (full.mean() - full[who])
    return float(np.sqrt((error**2).mean()))


def random_scores(ratings: pd.DataFrame, *, resamples: int = 1000, seed: int = 7) -> pd.DataFrame:
    r"""The same check where nobody knows who gave which score: one score of each segment, drawn at random.

    A stand-in for an annotator scores each of n drawn segments as one of that segment's k judges did, drawn anew for
    each segment (segments are drawn with replacement, too). Its shift against the mean of all k judges is 0 but for
    error, with the closed form :math:`\sqrt{(1 - 1/k)\,V_{within} / n}`, where :math:`V_{within}` is the variance among
    a segment's scores (ddof=1, averaged over segments). It holds the judges' levels and noise together, so it says
    what a set must overcome, not what levels are. Only segments with the largest number of scores are used.
    Returns pair, design ("random scores"), size, annotators (k), se_closed_form, se_subsampled, se_fresh.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for pair, group in with_pair(ratings).groupby("pair"):
        place = group.groupby(ITEM).cumcount()
        counts = group.groupby(ITEM)["score"].transform("size")
        k = int(counts.max())
        if k < 3:
            raise DataError(f"{pair}: no segment has three scores or more. Choose data with several judges a segment.")
        part = group[counts == k]
        scores = part.assign(place=place[part.index]).pivot(index=ITEM, columns="place", values="score").to_numpy(float)
        away = scores - scores.mean(1, keepdims=True)
        within = (away**2).sum() / (k - 1) / len(scores)
        for size in [size for size in (10, 20, 50, 100, 200) if size < len(scores)]:
            items = rng.integers(0, len(scores), (resamples, size))
            error = away[items, rng.integers(0, k, items.shape)].mean(axis=1)
            closed = float(np.sqrt((1 - 1 / k) * within / size))
            rows.append((pair, "random scores", size, k, closed, float(np.sqrt((error**2).mean())), closed))
    names = ["pair", "design", "size", "annotators", "se_closed_form", "se_subsampled", "se_fresh"]
    return pd.DataFrame(rows, columns=names)


def selections(
    ratings: pd.DataFrame, *, size: int = 20, splits: int = 40, sets: int = 25, seed: int = 7
) -> pd.DataFrame:
    """Compare ways to choose a calibration set, by held-out annotators.

    Time and again half of the annotators are the pilot, and a set of about ``size`` segments is chosen for the others
    in each way of ``SELECTIONS``: at random; evenly over documents (a random segment of each in turn); evenly over the
    pilot's mean scores (the segments in that order, cut into ``size`` equal parts, one of each); whole documents. The
    error is that of a held-out annotator's shift on the set against the one on all segments; it is a matter of the
    held-out half alone. Returns pair, selection, size, error (root mean square, points), ratio (to segments at
    random), low and high (95 % interval of the ratio over the splits into halves).
    """
    rng = np.random.default_rng(seed)
    rows = []
    for pair, table in _complete(ratings).items():
        scores = table.to_numpy().T
        m, n_all = scores.shape
        if size >= n_all:
            raise DataError(f"{pair}: sets of {size} cannot be chosen from {n_all} segments. Lower the size.")
        document = table.index.droplevel("segment").factorize()[0]
        squares: dict[str, list[float]] = {name: [] for name in SELECTIONS}
        for _ in range(splits):
            order = rng.permutation(m)
            pilot, held_out = scores[order[: m // 2]], _centred(scores[order[m // 2 :]])
            chosen = (
                _picked(document, size, sets, rng),
                _spread(document, size, sets, rng),
                _stratified(pilot.mean(0), size, sets, rng),
                _picked(document, size, sets, rng, whole=True),
            )
            for name, picks in zip(SELECTIONS, chosen, strict=True):
                squares[name].append(float(((picks @ held_out.T) ** 2).mean()))
        found = {name: np.array(values) for name, values in squares.items()}
        base = found[SELECTIONS[0]]
        draws = rng.integers(0, splits, (1000, splits))
        for name, values in found.items():
            low, high = inference.interval(np.sqrt(values[draws].mean(1) / base[draws].mean(1)))
            error, ratio = float(np.sqrt(values.mean())), float(np.sqrt(values.mean() / base.mean()))
            rows.append((pair, name, size, error, ratio, float(low), float(high)))
    return pd.DataFrame(rows, columns=["pair", "selection", "size", "error", "ratio", "low", "high"])


def _spread(document: np.ndarray, size: int, sets: int, rng: np.random.Generator) -> np.ndarray:
    """Draw segments document by document, a random one of each in turn: (sets, items) weights."""
    chance = rng.random((sets, len(document)))
    by_document = np.argsort(document + chance / 2, axis=1)  # documents in order, random within
    start = np.r_[0, np.cumsum(np.bincount(document))[:-1]]
    turn = np.empty_like(chance)
    np.put_along_axis(turn, by_document, np.arange(len(document)) - start[np.sort(document)][None], axis=1)
    lot = rng.random((sets, document.max() + 1))[:, document]  # whose turn comes first in the last round
    chosen = (turn + lot).argsort(axis=1).argsort(axis=1) < size
    return chosen / chosen.sum(axis=1, keepdims=True)


def _stratified(means: np.ndarray, size: int, sets: int, rng: np.random.Generator) -> np.ndarray:
    """Draw one segment from each of ``size`` equal parts of the segments in order of their means; weights."""
    order = np.argsort(means, kind="stable")
    edges = np.linspace(0, len(means), size + 1)
    low, high = np.ceil(edges[:-1] - 1e-9).astype(int), np.ceil(edges[1:] - 1e-9).astype(int)
    places = rng.integers(low, high, (sets, size))
    picks = np.zeros((sets, len(means)))
    np.put_along_axis(picks, order[places], (high - low)[None] / len(means), axis=1)
    return picks
