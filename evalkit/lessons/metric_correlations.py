"""The exercises of the lesson "What a metric's correlation means: ties, DARR, acc_eq".

Counts of pairs are 3 x 3 tables: rows are what people say (<, =, >), columns what the metric says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit.lessons.checker import Exercise, Function, Value
from evalkit.metrics import darr, statistics
from evalkit.metrics.scores import Scores
from evalkit.stats import correlation

#: Which variant of tau each rule of the lesson is.
RULES = {"left out": "no penalty", "half right": "soft", "wrong": "hard"}


def without_each(metric: pd.Series, human: pd.Series) -> pd.Series:
    """Return Pearson's r of all systems but one, by the name of the one."""
    left = {name: correlation.pearson(metric.drop(name), human.drop(name)).item() for name in metric.index}
    return pd.Series(left)


def changes(metric: pd.Series, human: pd.Series) -> pd.Series:
    """Return by how much Pearson's r changes, up or down, without each system."""
    return (without_each(metric, human) - correlation.pearson(metric, human).item()).abs()


def counted(human: Sequence[float], metric: Sequence[float]) -> dict[str, int]:
    """Count pairs: concordant, discordant, tied by the metric only, by people only, by both."""
    found = correlation.count_pairs(metric, human)
    names = ("concordant", "discordant", "metric_ties", "human_ties", "both_tie")
    return {name: int(number) for name, number in zip(names, found[:5], strict=True)}


def table(human: np.ndarray, metric: np.ndarray, *, least: float = 0.0) -> np.ndarray:
    """Count pairs in a 3 x 3 table; people's differences below ``least`` count as ties."""
    first, second = np.triu_indices(len(human), 1)
    said = human[first] - human[second]
    said = np.where(np.abs(said) >= least, np.sign(said), 0)
    return darr.count(said, np.sign(metric[first] - metric[second]))


def darr_tau(human: np.ndarray, metric: np.ndarray, *, variant: str = "hard", least: float = 25) -> float:
    """Return DARR's tau of one segment: pairs 25 points or more apart, a tie of the metric is wrong."""
    return float(darr.VARIANTS[variant].tau(table(human, metric, least=least)))


def accuracy(human: np.ndarray, metric: np.ndarray, threshold: float) -> float:
    """Return the share of pairs of one segment to which metric and people give the same relation."""
    scores = Scores(("m",), tuple(map(str, range(len(human)))), ("s",), metric[None, :, None], human[:, None])
    return float(statistics.acc_eq(scores, thresholds={"m": threshold})["value"].iloc[0])


def winners(counts: np.ndarray, names: Sequence[str]) -> dict[str, str]:
    """Name the metric with the highest tau under each rule for ties of the metric. counts: metrics x 3 x 3."""
    return {rule: names[int(np.argmax(darr.VARIANTS[variant].tau(counts)))] for rule, variant in RULES.items()}


def _systems() -> list[tuple]:
    rng, made = np.random.default_rng(5), []
    for n in (6, 9, 12):
        human = rng.choice([0, 10, 35, 50, 60, 75, 85, 100, 90, 20, 25, 5], n, replace=False).astype(float)
        made.append((human, np.round(human / 100 + rng.normal(0, 0.3, n), 1)))
    return made


def _segments() -> list[tuple]:
    rng, made = np.random.default_rng(6), []
    for n, threshold in ((6, 0.0), (8, 1.0), (10, 2.0)):
        human = -rng.integers(0, 4, n).astype(float)
        made.append((human, np.round(human + rng.normal(0, 1.5, n)), threshold))
    return made


def _among_untied(human: np.ndarray, metric: np.ndarray, threshold: float) -> float:
    first, second = np.triu_indices(len(human), 1)
    h, m = np.sign(human[first] - human[second]), metric[first] - metric[second]
    said = np.where(np.abs(m) <= threshold, 0, np.sign(m))
    return float(np.mean((said == h)[h != 0]))


EXERCISES: dict[str, Exercise] = {
    "lever": Value(
        right=lambda metric, human: changes(metric, human).idxmax(),
        names=lambda metric, human: metric.index,
        mistakes={
            "without_this_system_r": lambda metric, human: without_each(metric, human).idxmax(),
            "without_this_system_r_changes": lambda metric, human: changes(metric, human).idxmin(),
            "people_like_this_system": lambda metric, human: human.idxmax(),
        },
    ),
    "counted": Value(
        right=counted,
        mistakes={
            "every_pair_is_there_twice": lambda human, metric: (2 * pd.Series(counted(human, metric))).to_dict(),
            "pair_that_the_metric": lambda human, metric: _moved(counted(human, metric), "metric_ties", "discordant"),
            "concordant_and_discordant": lambda human, metric: counted(metric, human),
            "where_both_tie": lambda human, metric: _moved(counted(human, metric), "both_tie", "concordant"),
        },
    ),
    "darr_tau": Function(
        right=darr_tau,
        trials=_systems,
        mistakes={
            "use_every_pair": lambda human, metric: darr_tau(human, metric, least=0),
            "some_pairs_differ_by": lambda human, metric: darr_tau(human, metric, least=25.001),
            "count_pairs": lambda human, metric: darr_tau(human, metric, variant="soft"),
            "pairs_that_the_metric": lambda human, metric: darr_tau(human, metric, variant="no penalty"),
        },
    ),
    "accuracy": Function(
        right=accuracy,
        trials=_segments,
        mistakes={
            "difference_equal": lambda human, metric, threshold: accuracy(human, metric, max(threshold - 1e-9, 0)),
            "leave_out_the_pairs": _among_untied,
            "compare_each_translation": lambda human, metric, threshold: (
                (accuracy(human, metric, threshold) * (len(human) - 1) + 1) / len(human)
            ),
        },
    ),
    "winners": Value(
        right=winners,
        names=lambda counts, names: names,
        mistakes={
            "one_metric_wins_everywhere": lambda counts, names: dict.fromkeys(
                RULES, winners(counts, names)["left out"]
            ),
            "give_all_rules_the_winner": lambda counts, names: dict.fromkeys(RULES, winners(counts, names)["wrong"]),
        },
    ),
}


def _moved(counts: dict[str, int], source: str, target: str) -> dict[str, int]:
    """Count one kind of pair among another."""
    return counts | {source: 0, target: counts[target] + counts[source]}
