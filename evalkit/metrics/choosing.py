"""Which segments to judge: what a choice by a metric does to the order of systems, and to what is measured.

A test set whose human scores are all known stands in for one of which only a few segments can be judged. Ways to choose
are those of subset2evaluate (Zouhar, Cui and Sachan 2025), chance, and chance with known odds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from evalkit import DataError
from evalkit.metrics.scores import Scores
from evalkit.stats.correlation import count_pairs, ratio
from evalkit.stats.inference import TOLERANCE

RANDOM, VARIANCE, AVERAGE = "at random", "metric variance", "metric average"
CONSISTENCY, DIVERSITY = "metric consistency", "diversity of outputs"
#: Segments whose scores vary most, corrected by the metric's scores of all; and drawn with known odds, and weighted.
CORRECTED, DRAWN = "metric variance, corrected by the metric", "drawn by variance, weighted"
#: How often chance chooses for the value of one test set, and in each that is drawn anew.
TRIES, TRIES_ANEW = 200, 5
_VALUES = ("agreement", "accuracy", "bias_means", "bias_differences", "stretch", "error")


def variance(metric: ArrayLike) -> np.ndarray:
    """Prefer segments on which a metric's scores of systems vary most. metric: systems × segments."""
    return np.asarray(metric, float).var(axis=0)


def average(metric: ArrayLike) -> np.ndarray:
    """Prefer segments that a metric finds translated badly on average, the difficult ones. metric: as above."""
    return -np.asarray(metric, float).mean(axis=0)


def consistency(metric: ArrayLike) -> np.ndarray:
    """Prefer segments that order systems as the metric's means do: Stuart's tau-c; 0 where all scores are level.

    >>> consistency([[1.0, 3, 2], [3, 2, 2], [9, 1, 2]]).tolist()
    [1.0, -1.0, 0.0]
    """
    metric = np.asarray(metric, float)
    return np.nan_to_num(count_pairs(metric.T, np.broadcast_to(metric.mean(axis=1), metric.T.shape)).kendall_c())


def diversity(texts: Sequence[Sequence[str]]) -> np.ndarray:
    """Prefer segments whose translations share few words: less their mean overlap, two by two.

    texts: of each segment, the systems' translations; words are what blanks separate, and count as often as they stand.

    >>> diversity([["a b", "a b"], ["a b", "a c"], ["a b", "c d"]]).tolist()
    [-1.0, -0.5, 0.0]
    """
    words = [[Counter(text.split()) for text in each] for each in texts]
    return np.array([0 - np.mean([_overlap(*pair) for pair in combinations(each, 2)]) for each in words])


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of words that two texts have in common; 1 where one of them is empty."""
    return 2 * (one & other).total() / (one.total() + other.total()) if one and other else 1.0


def odds(metric: ArrayLike, number: int) -> np.ndarray:
    """Return the chance of each segment to be drawn: half even, half by the spread of a metric's scores over systems.

    Chances add up to number (less where one would be above 1), so that a weight is at most twice the even one's.
    """
    spread = np.sqrt(variance(metric))
    share = spread / spread.sum() if spread.any() else np.full(len(spread), 1 / len(spread))
    return np.minimum(number * (0.5 / len(spread) + 0.5 * share), 1)


def drawn(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw segments with given chances, systematically in an order by chance, so that their number hardly varies."""
    order = rng.permutation(len(chances))
    steps = np.cumsum(chances[order]) + rng.random()
    return order[np.diff(np.floor(steps), prepend=np.floor(steps[0] - chances[order[0]])) > 0]


def best(utility: np.ndarray, number: int) -> np.ndarray:
    """Choose the segments of highest utility; of equal ones, the first."""
    return np.argsort(-utility, kind="stable")[:number]


def outcome(human: np.ndarray, chosen: np.ndarray, weight: np.ndarray, metric: np.ndarray | None = None) -> np.ndarray:
    """Compare what chosen segments say of systems with what all say: the values of ``compare``, in their order.

    human: systems × segments. chosen: places of segments; weight: of each, adding up to 1. metric: laid out like human;
    then each system's mean is moved along the line through its chosen segments to the metric's mean of all.
    """
    own, truth = human[:, chosen], human.mean(axis=1)
    means = own @ weight
    rest = own - means[:, None]
    if metric is not None:
        f = metric[:, chosen]
        f_rest = f - (f @ weight)[:, None]
        slope = np.nan_to_num(ratio((rest * f_rest) @ weight, (f_rest**2) @ weight))
        means = means + slope * (metric.mean(axis=1) - f @ weight)
        rest = rest - slope[:, None] * f_rest
    one, two = np.triu_indices(len(human), 1)
    turned = np.where(truth[one] >= truth[two], 1, -1)
    true, found = turned * (truth[one] - truth[two]), turned * (means[one] - means[two])
    every = np.full(human.shape[1], 1 / human.shape[1])
    sure = _confidence(found, rest, weight, one, two)
    gap = np.abs(sure - _confidence(true, human - truth[:, None], every, one, two)).mean()
    off, same = found - true, TOLERANCE * np.maximum(1, np.abs(truth).max())  # of one sum in two orders
    accuracy = ((found > same) == (true > same)).mean()
    stretch = found.sum() / true.sum() if true.sum() else np.nan
    return np.array([1 - gap, accuracy, (means - truth).mean(), off.mean(), stretch, np.sqrt((off**2).mean())])


def _confidence(gap: np.ndarray, rest: np.ndarray, weight: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Return the one-sided p-value that the first of two systems is better, by a paired test of large samples."""
    n = len(weight)
    scatter = (rest * weight**2) @ rest.T * n / (n - 1)
    error = np.sqrt(np.maximum(np.diag(scatter)[one] + np.diag(scatter)[two] - 2 * scatter[one, two], 0))
    return special.ndtr(np.where(error > 0, -gap / np.where(error > 0, error, 1), -np.inf * np.sign(gap + (gap == 0))))


def lay_out(scores: Scores, metric: str, outputs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """Arrange human scores, a metric's, and utilities, of the segments that all systems have.

    outputs: system, doc, segment and hypothesis of the language pair. The utilities have a row per segment, named by
    its document, and a column for each way to choose.
    """
    own = scores.only([metric])
    whole = (np.isfinite(own.values[0]) & own.judged).all(axis=0)
    if whole.sum() < 10:
        raise DataError(f"{metric} and humans scored fewer than ten segments of all systems.")
    human, values = own.human[:, whole], own.values[0][:, whole]
    names = np.array(own.segments, dtype=object)[whole]
    named = outputs.astype(dict.fromkeys(["system", "doc", "segment"], "str"))
    named["place"] = named["doc"] + ":" + named["segment"]
    wide = named.drop_duplicates(["place", "system"]).pivot(index="place", columns="system", values="hypothesis")
    texts = wide.reindex(index=names, columns=own.systems).fillna("").astype(str).to_numpy()
    utility = {VARIANCE: variance(values), AVERAGE: average(values), CONSISTENCY: consistency(values)}
    documents = [name.rsplit(":", 1)[0] for name in names]
    return human, values, pd.DataFrame(utility | {DIVERSITY: diversity(texts)}, index=documents)


def compare(
    scored: Mapping[str, Scores],
    metrics: Mapping[str, str],
    outputs: pd.DataFrame,
    *,
    budgets: Sequence[int],
    redrawn: int = 200,
    seed: int = 7,
) -> pd.DataFrame:
    """Compare ways to choose which segments people judge, on test sets of which people judged all.

    scored: language pair -> scores. metrics: the same -> the metric that chooses. budgets: numbers of chosen segments.
    Returns data, metric, way, budget, and with low and high of each (95 %, whole documents of the test set drawn anew,
    ``redrawn`` times): agreement (soft pairwise accuracy, with p-values of a paired test of large samples, of what the
    chosen segments say of two systems with what all say), accuracy (of pairs' order), bias_means (mean over systems of
    the chosen segments' mean less all segments'), bias_differences (the same of two systems, the better one first),
    stretch (differences found over true ones), error (root mean square, of differences), and lead (in agreement, on
    segments at random).
    At random and drawn ways are means over many draws.
    """
    if min(budgets, default=0) < 5:
        raise DataError("Choose 5 segments or more: fewer tell nothing of how sure a difference is.")
    parts = []
    for pair, scores in scored.items():
        texts = outputs[(outputs["src_lang"].astype("str") + "-" + outputs["tgt_lang"].astype("str")) == pair]
        human, values, utility = lay_out(scores, metrics[pair], texts)
        for budget in sorted({min(int(number), len(utility)) for number in budgets}):
            rng = np.random.default_rng(seed)
            here = _ways(human, values, utility, budget, rng, TRIES)
            anew = [
                _ways(human[:, take], values[:, take], utility.iloc[take], budget, rng, TRIES_ANEW)
                for take in _redrawn(utility.index, redrawn, budget, rng)
            ]
            parts.append(_tabulated(here, anew).assign(data=pair, metric=metrics[pair], budget=budget))
    table = pd.concat(parts, ignore_index=True)
    return table[["data", "metric", "way", "budget", *table.columns.drop(["data", "metric", "way", "budget"])]]


def _redrawn(documents: pd.Index, redrawn: int, budget: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw whole documents with replacement: places of their segments; at least a budget of them."""
    codes, names = pd.factorize(documents, sort=True)
    members = [np.flatnonzero(codes == code) for code in range(len(names))]
    drawn = (rng.integers(len(names), size=len(names)) for _ in range(redrawn))
    sets = [np.concatenate([members[code] for code in each]) for each in drawn]
    return [each if len(each) >= budget else np.resize(each, budget) for each in sets]


def _ways(
    human: np.ndarray, metric: np.ndarray, utility: pd.DataFrame, budget: int, rng: np.random.Generator, tries: int
) -> dict[str, np.ndarray]:
    """Choose segments in each way, and say what comes of it."""
    even, chances = np.full(budget, 1 / budget), odds(metric, budget)

    def weighted() -> np.ndarray:
        chosen = drawn(chances, rng)
        return outcome(human, chosen, (1 / chances[chosen]) / (1 / chances[chosen]).sum())

    found = {RANDOM: _mean(lambda: outcome(human, rng.permutation(human.shape[1])[:budget], even), tries)}
    chosen = {way: best(own.to_numpy(), budget) for way, own in utility.items()}
    found |= {way: outcome(human, places, even) for way, places in chosen.items()}
    found[CORRECTED] = outcome(human, chosen[VARIANCE], even, metric)
    return found | {DRAWN: _mean(weighted, tries)}


def _mean(make: Callable[[], np.ndarray], tries: int) -> np.ndarray:
    return np.mean([make() for _ in range(tries)], axis=0)


def _tabulated(found: Mapping[str, np.ndarray], anew: Sequence[Mapping[str, np.ndarray]]) -> pd.DataFrame:
    """Lay out values with percentiles of those of test sets drawn anew: a row per way."""
    rows = []
    for way in found:
        value, *sets = (np.append(each[way], each[way][0] - each[RANDOM][0]) for each in (found, *anew))
        low, high = np.nanpercentile(sets, [2.5, 97.5], axis=0)
        row: dict[str, object] = {"way": way}
        for name, *ends in zip((*_VALUES, "lead"), value, low, high, strict=True):
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
        rows.append(row)
    return pd.DataFrame(rows).rename(columns={"agreement_low": "low", "agreement_high": "high"})


def in_words(table: pd.DataFrame, *, data: str, budget: int) -> str:
    """Say what the best choice by a metric gains and costs beside chance: the result of ``compare``.

    The best is that which agrees best with all segments, among those without known odds.
    """
    own = table[(table["data"] == data) & (table["budget"] == budget)].set_index("way")
    first = own.drop(index=[RANDOM, DRAWN])["agreement"].idxmax()
    top, chance, weighted = own.loc[first], own.loc[RANDOM], own.loc[DRAWN]
    moves = "lower" if top["bias_means"] < 0 else "higher"
    return (
        f"In {data}, the {budget} segments that {first} chooses agree with all on the order of systems (SPA) by "
        f"{top['agreement']:.3f}, and as many at random by {chance['agreement']:.3f} (lead {top['lead']:.3f}, 95 % "
        f"interval {top['lead_low']:.3f} to {top['lead_high']:.3f}). But means come out {abs(top['bias_means']):.1f} "
        f"points {moves}, and differences {top['stretch']:.1f} times as large as they are "
        f"({top['stretch_low']:.1f} to {top['stretch_high']:.1f}); corrected by the metric, those of highest variance "
        f"still find {own.loc[CORRECTED, 'stretch']:.1f} times as much. Drawn by variance with known odds, and "
        f"weighted, segments agree by {weighted['agreement']:.3f}, and differences come out "
        f"{weighted['stretch']:.2f} times as large."
    )
