"""The exercises of the lesson "What a metric's correlation means: ties, DARR, acc_eq".

Counts of pairs are 3 x 3 tables: rows are what people say (<, =, >), columns what the metric says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit.lessons.exercises import Exercise, Function, Mistake, Value
from evalkit.metrics import darr, statistics
from evalkit.metrics.scores import Scores
from evalkit.stats import correlation

#: Which variant of tau each rule of the lesson is.
RULES = {"left out": "no penalty", "half right": "soft", "wrong": "hard"}


def without_each(metric: pd.Series, human: pd.Series) -> pd.Series:
    """Return Pearson's r of all systems but one, by the name of the one."""
    left = {name: correlation.pearson(metric.drop(name), human.drop(name)).item() for name in metric.index}
    return pd.Series(left)


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


def darr_tau(human: np.ndarray, metric: np.ndarray) -> float:
    """Return DARR's tau of one segment: pairs 25 points or more apart, a tie of the metric is wrong."""
    return float(darr.VARIANTS["hard"].tau(table(human, metric, least=25)))


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


def _accuracy(human: np.ndarray, metric: np.ndarray, threshold: float, *, strict: bool, both: bool = False) -> float:
    """Return the accuracy with the tie rule read in another way."""
    first, second = np.triu_indices(len(human), 1)
    h, m = human[first] - human[second], metric[first] - metric[second]
    tied = np.abs(m) < threshold if strict else np.abs(m) <= threshold
    people = np.where(np.abs(h) <= threshold, 0, np.sign(h)) if both else np.sign(h)
    return float(np.mean(np.where(tied, 0, np.sign(m)) == people))


def _of_all(human: np.ndarray, metric: np.ndarray, threshold: float, *, twice: bool) -> float:
    """Return the accuracy with each translation beside itself, and with the other pairs once or twice."""
    n = len(human)
    pairs, times = n * (n - 1) // 2, 2 if twice else 1
    return (times * pairs * accuracy(human, metric, threshold) + n) / (times * pairs + n)


def _among_untied(human: np.ndarray, metric: np.ndarray, threshold: float) -> float:
    first, second = np.triu_indices(len(human), 1)
    h, m = np.sign(human[first] - human[second]), metric[first] - metric[second]
    said = np.where(np.abs(m) <= threshold, 0, np.sign(m))
    return float(np.mean((said == h)[h != 0]))


EXERCISES: dict[str, Exercise] = {
    "lever": Value(
        right=lambda metric, human: (
            (without_each(metric, human) - correlation.pearson(metric, human).item()).abs().idxmax()
        ),
        mistakes=(
            Mistake(
                answer=lambda metric, human: without_each(metric, human).idxmax(),
                hint="Without this system r is highest. The question is whose removal *changes* r most, up or down.",
            ),
            Mistake(
                answer=lambda metric, human: (
                    (without_each(metric, human) - correlation.pearson(metric, human).item()).abs().idxmin()
                ),
                hint="Without this system r hardly changes at all. Did you sort the wrong way round?",
            ),
            Mistake(
                answer=lambda metric, human: human.idxmax(),
                hint="People like this system best, but that is not what was asked. Leave out one system at a time.",
            ),
        ),
        names=lambda metric, human: metric.index,
        otherwise="Compute r twelve times, each time without one system, and compare each with the r of all.",
        well="One system far from all others can carry a correlation; so look at the picture, and not only at r.",
    ),
    "counted": Value(
        right=counted,
        mistakes=(
            Mistake(
                answer=lambda human, metric: {name: 2 * n for name, n in counted(human, metric).items()},
                hint="Every pair is there twice. A against B and B against A are one pair: five outputs have ten.",
            ),
            Mistake(
                answer=lambda human, metric: _moved(counted(human, metric), "metric_ties", "discordant"),
                hint="A pair that the metric ties is not ordered the wrong way round. Does it have a place of its own?",
            ),
            Mistake(
                answer=lambda human, metric: counted(metric, human),
                hint="Concordant and discordant are right. Look again at who ties the other pairs.",
            ),
            Mistake(
                answer=lambda human, metric: _moved(counted(human, metric), "both_tie", "concordant"),
                hint="Where both tie, they agree, but nobody orders anything. Concordant means: the same order.",
            ),
            Mistake(
                answer=lambda human, metric: (
                    counted(human, metric) | {"both_tie": counted(human, metric)["both_tie"] + len(human)}
                ),
                hint="You compare each translation with itself as well, and that ties always. A pair has two members.",
            ),
        ),
        otherwise="Write down all ten pairs (AB, AC, ...) with the sign of both differences, then count.",
        well="Every rank correlation is made of these five numbers; they differ in what they do with the last three.",
    ),
    "darr_tau": Function(
        right=darr_tau,
        trials=_systems,
        mistakes=(
            Mistake(
                answer=lambda human, metric: float(darr.VARIANTS["hard"].tau(table(human, metric))),
                hint="You use every pair. DARR keeps only those that people score far enough apart.",
            ),
            Mistake(
                answer=lambda human, metric: float(darr.VARIANTS["hard"].tau(table(human, metric, least=25.001))),
                hint="Some pairs differ by exactly 25 points. Are they in, or out?",
            ),
            Mistake(
                answer=lambda human, metric: float(darr.VARIANTS["soft"].tau(table(human, metric, least=25))),
                hint="You count pairs that the metric ties as neither right nor wrong. What does DARR say of them?",
            ),
            Mistake(
                answer=lambda human, metric: float(darr.VARIANTS["no penalty"].tau(table(human, metric, least=25))),
                hint="Pairs that the metric ties are missing below the line, too. Do they count in DARR?",
            ),
        ),
        otherwise="Print three numbers for a small case: concordant, discordant and metric ties among the pairs kept.",
        well="A metric that never ties has an advantage here, whether or not it knows what it says.",
    ),
    "accuracy": Function(
        right=accuracy,
        trials=_segments,
        mistakes=(
            Mistake(
                answer=lambda human, metric, threshold: _accuracy(human, metric, threshold, strict=True),
                hint="A difference equal to the threshold is a tie, too; with a threshold of 0, so are equal scores.",
            ),
            Mistake(
                answer=lambda human, metric, threshold: _accuracy(human, metric, threshold, strict=False, both=True),
                hint="You apply the threshold to people's scores as well. It is only the metric that is calibrated.",
            ),
            Mistake(
                answer=_among_untied,
                hint="You leave out the pairs that people tie. Here a metric can be right about them, by tying them.",
            ),
            Mistake(
                answer=lambda human, metric, threshold: _of_all(human, metric, threshold, twice=True),
                hint="You compare each translation with itself as well: the diagonal of your table of differences is "
                "always a tie that is right, and flatters the metric. Count every two different translations once.",
            ),
            Mistake(
                answer=lambda human, metric, threshold: _of_all(human, metric, threshold, twice=False),
                hint="Your pairs begin with each translation and itself. np.triu_indices(n, 1) leaves those out.",
            ),
        ),
        otherwise="For each pair there are two relations, one of people, one of the metric. What share is equal?",
        well="With this rule a tie is an answer like any other: right where people tie, wrong elsewhere.",
    ),
    "winners": Value(
        right=winners,
        mistakes=(
            Mistake(
                answer=lambda counts, names: dict.fromkeys(RULES, winners(counts, names)["left out"]),
                hint="One metric wins everywhere: is M taken from the right cells? Rows are what people say.",
            ),
            Mistake(
                answer=lambda counts, names: dict.fromkeys(RULES, winners(counts, names)["wrong"]),
                hint="You give all rules the winner of the last one. Compute tau anew under each.",
            ),
        ),
        names=lambda counts, names: names,
        otherwise="Compute C, D and M for one metric first: which cells of its table are they?",
        well="Nothing about the metrics changed between the rules; only what a tie is worth did.",
    ),
}


def _moved(counts: dict[str, int], source: str, target: str) -> dict[str, int]:
    """Count one kind of pair among another."""
    return counts | {source: 0, target: counts[target] + counts[source]}
