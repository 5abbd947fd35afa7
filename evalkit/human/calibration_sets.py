"""Calibration sets: how small one can be, how to choose it, and whether judgements are better spent elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.components import SET_SIZE, equate, of_pair
from evalkit.stats import inference
from evalkit.stats.agreement import score_matrix

#: Segments of the largest calibration set that ``spending`` tries.
MOST = 200
#: Ways to choose the segments of a calibration set from a larger pool.
SELECTIONS = ("segments at random", "spread over documents", "spread over scores", "whole documents")
_CHECKED = ["pair", "design", "size", "annotators", "se_closed_form", "se_subsampled", "se_fresh"]


def difference_variance(
    variances: Mapping[str, float],
    *,
    judgements: ArrayLike,
    block: float = 10,
    calibration: ArrayLike = 0,
    calibration_block: float = 1,
) -> np.ndarray:
    r"""Return the variance of the difference between two systems' mean scores, when blocks go to annotators by chance.

    judgements: N, per system. block: b, segments scored in one go from one system. calibration: c, segments of the set
    whose mean every annotator's scores are shifted by; 0: raw scores.

    .. math:: \operatorname{var} = \frac{2}{N}\,(V_{item} + V_{residual} + b\,(V_{document} + V_{block} + V_{level}))

    .. math:: V_{level} = \begin{cases} V_{annotator} & c = 0 \\ (b_c V_{block} + V_{residual}) / c & c > 0 \end{cases}

    Both systems translate the same source segments, and each block is judged by one annotator, drawn from all by
    chance, so an annotator's level enters both systems in unequal parts that cancel only on average.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> difference_variance(V, judgements=1000, block=10, calibration=[0, 50]).tolist()
    [1.8, 0.632]
    """
    size = np.asarray(calibration, float)
    error = (calibration_block * variances["block"] + variances["residual"]) / np.where(size > 0, size, 1)
    level = np.where(size > 0, error, variances["annotator"])
    scatter = variances["item"] + variances["residual"] + block * (variances["document"] + variances["block"] + level)
    return 2 * scatter / np.asarray(judgements, float)


def break_even(
    variances: Mapping[str, float], *, size: int = 100, block: float = 10, calibration_block: float = 1
) -> float:
    r"""Return how many ordinary judgements an annotator must give for a calibration set to pay.

    The set costs each annotator ``size`` c judgements. The alternative is c more ordinary judgements each, so that N
    grows from q to q + c per annotator. The variances of ``difference_variance`` are equal at

    .. math:: q^* = c\,\frac{N \operatorname{var} / 2}{b\,(V_{annotator} - V_{level})}

    with :math:`\operatorname{var}` and :math:`V_{level}` those with the set. Above it the set is worth more. Neither
    the number of systems nor that of annotators matters. Infinite where the set leaves as much error as the levels
    themselves.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> round(break_even(V, size=50, block=10))
    27
    """
    if size < 1 or block < 1:
        raise DataError(f"size={size} and block={block:g} must be 1 or more.")
    with_set = difference_variance(
        variances, judgements=1, block=block, calibration=size, calibration_block=calibration_block
    )
    without = difference_variance(variances, judgements=1, block=block)
    gain = float(without - with_set)
    return float(size * with_set / gain) if gain > 0 else float("inf")


def best_size(
    variances: Mapping[str, float], *, judgements: int, block: float = 10, calibration_block: float = 1
) -> tuple[int, float]:
    """Return how many of an annotator's ``judgements`` are best spent on a calibration set, and what that gains.

    judgements: all that an annotator gives, the set included. The gain is the standard error of a difference between
    two systems with the best set over that without any, at the same cost (1: nothing gained, and the size is then 0).

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> size, ratio = best_size(V, judgements=500)
    >>> size, round(ratio, 2)
    (34, 0.62)
    """
    if judgements < 2:
        raise DataError("An annotator needs two judgements or more for a part of them to be spent on calibration.")
    sizes = np.arange(judgements)
    ratios = _se_ratios(variances, judgements, sizes, block=block, calibration_block=calibration_block)
    return int(ratios.argmin()), float(ratios.min())


def workloads(table: pd.DataFrame, done: pd.DataFrame, *, hit: int = 100, shared: float = 0.5) -> pd.DataFrame:
    """Weigh a calibration set of 100 segments against the workload of annotators, per language pair.

    table: the result of ``components.estimate``; its median block is that of the campaign and of the set. done: columns
    pair, annotators and additional_hits_median (HITs of ``hit`` judgements, beside the set). shared: of
    ``components.of_pair``.
    Returns pair, annotators, additional_hits, cost_share (of all judgements, spent on the set),
    break_even_hits, pays, se_ratio (standard error of a difference between two systems with the set over that with as
    many more ordinary judgements), best_size (segments, at the same total) and best_se_ratio.
    """
    rows = []
    for row, parts, block, total in _totals(table, done, hit=hit, shared=shared):
        blocks = {"block": block, "calibration_block": block}
        hits = float(row.additional_hits_median)
        needed = break_even(parts, size=SET_SIZE, **blocks) / hit
        best = best_size(parts, judgements=total, **blocks)
        ratio = float(_se_ratios(parts, total, SET_SIZE, **blocks))
        rows.append((row.pair, row.annotators, hits, SET_SIZE / total, needed, hits > needed, ratio, *best))
    names = ["pair", "annotators", "additional_hits", "cost_share", "break_even_hits", "pays", "se_ratio"]
    return pd.DataFrame(rows, columns=[*names, "best_size", "best_se_ratio"])


def spending(table: pd.DataFrame, done: pd.DataFrame, *, hit: int = 100, shared: float = 0.5) -> pd.DataFrame:
    """Trace what a calibration set of each size is worth at the same total number of judgements.

    Arguments as in ``workloads``; sets of up to ``MOST`` segments, made of whole documents, or of single segments of
    many documents. Returns pair, design, size, se_ratio: the standard error of a difference between two
    systems over the one without any set.
    """
    traced = []
    for row, parts, block, total in _totals(table, done, hit=hit, shared=shared):
        for design, set_block in (("whole documents", block), ("single segments", 1)):
            sizes = np.arange(max(1, round(set_block)), min(MOST, total - 1) + 1)
            ratio = _se_ratios(parts, total, sizes, block=block, calibration_block=set_block)
            traced.append(pd.DataFrame({"pair": row.pair, "design": design, "size": sizes, "se_ratio": ratio}))
    return pd.concat(traced, ignore_index=True)


def imbalance(ratings: pd.DataFrame) -> pd.DataFrame:
    r"""Measure how unevenly annotators are spread over systems, and what chance would give.

    For two systems A and B, :math:`I = \sum_a (w_{aA} - w_{aB})^2` with :math:`w_{aA}` the share of A's judgements
    that annotator a gave; the annotators' levels add :math:`I\,V_{annotator}` to the variance of A - B. Blocks dealt
    out by chance give :math:`b_A/N_A + b_B/N_B`, b being the blocks' mean size as seen by a judgement. Returns pair,
    systems, block (median segments of one document scored by one annotator for one system), observed and by_chance
    (means over all two systems), and ratio.
    """
    rows = []
    for pair, group in with_pair(ratings[ratings["item_type"] == "system"]).groupby("pair"):
        share = pd.crosstab(group["annotator"], group["system"], normalize="columns").to_numpy()
        length = group.groupby(["system", "annotator", "doc"]).size()
        size = length.groupby("system").sum()
        chance = ((length**2).groupby("system").sum() / size**2).to_numpy()
        if len(size) < 2:
            raise DataError(f"{pair}: there is one system only, and nothing to be balanced over.")
        first, second = np.triu_indices(len(size), 1)
        found = float(((share[:, first] - share[:, second]) ** 2).sum(0).mean())
        expected = float((chance[first] + chance[second]).mean())
        rows.append((pair, len(size), float(length.median()), found, expected, found / expected))
    return pd.DataFrame(rows, columns=["pair", "systems", "block", "observed", "by_chance", "ratio"])


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

    table: of ``components.estimate`` with layout ``calibration``. Returns pair, single_segments (each of another
    document) and whole_documents (of the pair's median length), each in segments, for many annotators.
    """
    rows = []
    for row in table.fillna(0.0).to_dict("records"):
        rows.append((row["pair"], *(smallest(row, error=error, block=block) for block in (1, row["block_length"]))))
    return pd.DataFrame(rows, columns=["pair", "single_segments", "whole_documents"])


def equal_work(table: pd.DataFrame) -> pd.DataFrame:
    r"""Say how much ordinary work tells an annotator's level as well as a calibration set of 100 segments does.

    table: of ``components.estimate`` with layout ``calibration``; b is its median block, in the set and in ordinary
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
    documents :math:`MS_{res}` is replaced by :math:`b V_{block} + V_{residual}` of ``components.estimate``
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
    return pd.DataFrame(rows, columns=_CHECKED)


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
    return pd.DataFrame(rows, columns=_CHECKED)


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


def _complete(ratings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Arrange first showings as items x annotators, per language pair, for those who judged every item."""
    first = with_pair(ratings[ratings["item_type"] != "repeat"])
    tables = {pair: score_matrix(group) for pair, group in first.groupby("pair")}
    tables = {pair: table.loc[:, table.notna().all()] for pair, table in tables.items()}
    for pair, table in tables.items():
        if table.shape[1] < 3 or len(table) < 4:
            raise DataError(f"{pair}: too little was judged by the same people (3 annotators, 4 segments are needed).")
    return tables


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
    """Draw sets of segments, or of whole documents: (resamples, items) weights that add up to 1 in each row."""
    number = document.max() + 1 if whole else len(document)
    count = max(1, round(size * number / len(document)))
    lots = rng.random((resamples, number)).argsort(axis=1)
    chosen = (lots < count)[:, document] if whole else lots.argsort(axis=1) < count
    return chosen / chosen.sum(axis=1, keepdims=True)


def _errors(scores: np.ndarray, picks: np.ndarray, people: int, rng: np.random.Generator) -> float:
    """Return the root mean square error of shifts on drawn segments by drawn annotators."""
    drawn = picks @ scores.T  # resamples x annotators: means on the drawn segments
    full = scores.mean(1)
    who = rng.random(drawn.shape).argsort(axis=1)[:, :people]
    own = np.take_along_axis(drawn, who, axis=1)
    error = (own.mean(1, keepdims=True) - own) - (full.mean() - full[who])
    return float(np.sqrt((error**2).mean()))


def _spread(document: np.ndarray, size: int, sets: int, rng: np.random.Generator) -> np.ndarray:
    """Draw segments document by document, a random one of each in turn: (sets, items) weights."""
    turn = rng.random((sets, len(document)))
    for number in range(document.max() + 1):
        own = document == number
        turn[:, own] = turn[:, own].argsort(axis=1).argsort(axis=1)
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


def _totals(
    table: pd.DataFrame, done: pd.DataFrame, *, hit: int, shared: float
) -> Iterator[tuple[Any, dict[str, float], float, int]]:
    """Yield the row, variances, median block and all judgements of an annotator, set included, of each pair."""
    block = table.set_index("pair")["block_length"]
    for row in done.itertuples():
        total = round(float(row.additional_hits_median) * hit) + SET_SIZE
        yield row, of_pair(table, row.pair, shared=shared), float(block[row.pair]), total


def _se_ratios(
    variances: Mapping[str, float], total: int, sizes: ArrayLike, *, block: float, calibration_block: float
) -> np.ndarray:
    """Return the standard error of a difference with sets of these sizes over that without, at the same total."""
    rest = total - np.asarray(sizes)
    with_set = difference_variance(
        variances, judgements=rest, block=block, calibration=sizes, calibration_block=calibration_block
    )
    return np.sqrt(with_set / difference_variance(variances, judgements=total, block=block))


def agreed_items(
    ratings: pd.DataFrame,
    *,
    levels: Sequence[float] | np.ndarray = (1, 2, 3, 4, 5),
    tolerance: float = 0.0,
    share: float = 1.0,
    min_annotators: int = 2,
) -> pd.DataFrame:
    """Find the items whose annotators agreed on a level: level, src_lang, tgt_lang, system, doc, segment, annotators.

    An item belongs to the level nearest to its median. Annotators agreed when there are at least ``min_annotators``
    and at least ``share`` of them are within ``tolerance`` of that level (0: they gave that very score).
    """
    steps = np.array(sorted(levels), float)
    key = ["src_lang", "tgt_lang", *ITEM]
    median = ratings.groupby(key)["score"].transform("median").to_numpy()
    level = steps[np.abs(median[:, None] - steps).argmin(axis=1)]
    near = ratings.assign(level=level, near=np.abs(ratings["score"] - level) <= tolerance)
    items = near.groupby(["level", *key], as_index=False).agg(
        near=("near", "mean"), annotators=("annotator", "nunique")
    )
    return items[(items["near"] >= share) & (items["annotators"] >= min_annotators)].drop(columns="near")


def supply(ratings: pd.DataFrame, *, scale: tuple[float, float]) -> pd.DataFrame:
    """Count the items agreed upon per pair and level: pair, and a column per level, five of them evenly over the scale.

    Agreement: at least half of an item's annotators are within half a step of its level.
    """
    levels = np.linspace(*scale, 5)
    agreed = agreed_items(ratings, levels=levels, tolerance=(levels[1] - levels[0]) / 2, share=0.5)
    counts = pd.crosstab(with_pair(agreed)["pair"], agreed["level"]).reindex(columns=levels, fill_value=0)
    return counts.rename(columns="level {:g}".format).rename_axis(columns=None).reset_index()


def choose_set(
    ratings: pd.DataFrame,
    *,
    per_level: int,
    levels: Sequence[float] = (1, 2, 3, 4, 5),
    tolerance: float = 0.0,
    share: float = 1.0,
    min_annotators: int = 2,
    seed: int = 7,
    remedy: str = "Lower per_level, raise the tolerance, or bring more prior ratings.",
) -> pd.DataFrame:
    """Choose a calibration set from prior ratings: ``per_level`` items for each score, of those agreed upon.

    The other arguments say what agreement is, see ``agreed_items``. Returns its columns, sorted; the same seed chooses
    the same items in whatever order the ratings come. Source: Licht et al. 2022, section 5.2 (200 pairs of each score).
    Raises DataError naming every level that has too few, and how many it has, with ``remedy``.
    """
    agreed = agreed_items(ratings, levels=levels, tolerance=tolerance, share=share, min_annotators=min_annotators)
    found = agreed["level"].value_counts().reindex(sorted(levels), fill_value=0)
    short = found[found < per_level]
    if len(short):
        lacking = ", ".join(f"{n} at level {level:g}" for level, n in short.items())
        raise DataError(
            f"Too few items that {min_annotators} annotators agreed on: {lacking}, where {per_level} are wanted. "
            f"{remedy}"
        )
    rng = np.random.default_rng(seed)
    chosen = [agreed[agreed["level"] == level].sample(per_level, random_state=rng) for level in sorted(levels)]
    return pd.concat(chosen).sort_values(list(agreed.columns), ignore_index=True)
