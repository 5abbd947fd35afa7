"""The exercises of the lesson "Many comparisons: false alarms, p-hacking and the winner's curse".

Scores are tables with a row per segment, (doc, segment), and a column per system. Tests are two-sided.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from evalkit.human.ranking import lines
from evalkit.human.ranking.rules import LineRule
from evalkit.human.ranking.scores import SegmentMeans
from evalkit.lessons.checker import Exercise, Function, Value
from evalkit.stats import inference

LEVEL = 0.05
#: Tests that a team may choose from, by the names that ``lines.pairwise_tests`` gives them.
TESTS = ("wilcoxon", "t")


def compare(scores: pd.DataFrame, *, test: str = "wilcoxon") -> pd.DataFrame:
    """Test every two systems: first, second (in order of their names), difference of their means, two-sided p.

    The package tests whether the better of two is better, and which one that is was seen in the data; so its p counts
    one side, and is doubled here.

    >>> scores = pd.DataFrame({"A": [3.0, 4, 5, 6, 8], "B": [1.0, 3, 4, 4, 2]}, index=list("12345"))
    >>> compare(scores, test="t").round(3).values.tolist()
    [['A', 'B', 2.4, 0.061]]
    """
    values, there = scores.to_numpy(float).T, scores.notna().to_numpy().T
    counts = (there.astype(int), pd.RangeIndex(len(scores)), np.nan_to_num(values).T, there.T.astype(float))
    table = SegmentMeans(np.asarray(scores.columns, object), values, *counts)
    found = lines.compare("", table, LineRule(test=test))
    turned = (found["better"] > found["worse"]).to_numpy()
    first, second = found["better"].mask(turned, found["worse"]), found["worse"].mask(turned, found["better"])
    difference = found["difference"] * np.where(turned, -1, 1)
    p = (2 * np.minimum(found["p"], 1 - found["p"])).clip(upper=1)
    table_of_pairs = pd.DataFrame({"first": first, "second": second, "difference": difference, "p": p})
    return table_of_pairs.sort_values(["first", "second"], ignore_index=True)


def shuffled(scores: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Deal the scores of each segment out to the systems by chance, so that all systems are equally good.

    >>> table = pd.DataFrame({"A": [1, 2], "B": [3, 4]})
    >>> bool((shuffled(table, np.random.default_rng(1)).sum(axis=1) == table.sum(axis=1)).all())
    True
    """
    return pd.DataFrame(rng.permuted(scores.to_numpy(), axis=1), scores.index, scores.columns)


def worlds(scores: pd.DataFrame, *, number: int, seed: int) -> np.ndarray:
    """Return the p-values of all pairs of systems in worlds in which all systems are equal, (worlds, pairs)."""
    rng = np.random.default_rng(seed)
    return np.array([compare(shuffled(scores, rng))["p"] for _ in range(number)])


def variants(scores: pd.DataFrame, *, number: int, seed: int) -> pd.DataFrame:
    """Return what teams could try in worlds without differences: a row per world and pair, a column per analysis.

    The first column is the planned analysis: all segments, signed ranks. The others exchange the test, or take half of
    the segments, the other half, the first or the last third, or leave the hardest tenth out.
    """
    rng, rows = np.random.default_rng(seed), []
    for _ in range(number):
        drawn = shuffled(scores, rng).iloc[rng.permutation(len(scores))]
        third, easy = len(drawn) // 3, drawn.mean(axis=1) >= drawn.mean(axis=1).quantile(0.1)
        parts = {
            "all": drawn,
            "half": drawn[::2],
            "other half": drawn[1::2],
            "first third": drawn[:third],
            "last third": drawn[-third:],
            "without the hardest": drawn[easy],
        }
        tried = {f"{name}, {test}": compare(part, test=test)["p"] for name, part in parts.items() for test in TESTS}
        rows.append(pd.DataFrame(tried))
    return pd.concat(rows, ignore_index=True)


def redrawn(scores: pd.DataFrame, *, segments: int, number: int, seed: int) -> pd.DataFrame:
    """Draw two small campaigns of different segments, again and again, and test every two systems in both.

    Returns draw, first, second, difference_1, p_1, difference_2, p_2, and truth, the difference over all segments.
    """
    rng, whole, rows = np.random.default_rng(seed), compare(scores), []
    for draw in range(number):
        order = rng.permutation(len(scores))
        one, two = (compare(scores.iloc[order[at : at + segments]]) for at in (0, segments))
        both = one.merge(two, on=["first", "second"], suffixes=("_1", "_2"))
        rows.append(both.assign(draw=draw, truth=whole["difference"]))
    return pd.concat(rows, ignore_index=True)


def any_false(tests: int, level: float) -> float:
    """Return the chance of at least one false alarm among independent tests in which there is nothing to find."""
    return 1 - (1 - level) ** tests


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values adjusted after Holm, in the order given."""
    return inference.adjust(p, method="holm")


def benjamini_hochberg(p: np.ndarray, level: float) -> np.ndarray:
    """Return which tests are findings after Benjamini and Hochberg, in the order given."""
    return inference.adjust(p, method="fdr_bh") <= level


def hacked(tried: pd.DataFrame) -> float:
    """Return the share of teams that find something if they report the smallest of all their p-values."""
    return float((tried.min(axis=1) < LEVEL).mean())


def held_up(campaigns: pd.DataFrame) -> float:
    """Return the share of the first campaign's findings that the second one finds, too, in the same direction."""
    found = campaigns[campaigns["p_1"] < LEVEL]
    same = found["difference_1"] * found["difference_2"] > 0
    return float((same & (found["p_2"] < LEVEL)).mean())


def exaggeration(campaigns: pd.DataFrame) -> float:
    """Return by what factor the first campaign's findings are larger, on average, than the true differences."""
    return _exaggerated(campaigns[campaigns["p_1"] < LEVEL])


def _exaggerated(rows: pd.DataFrame) -> float:
    return float(rows["difference_1"].abs().mean() / (np.sign(rows["difference_1"]) * rows["truth"]).mean())


def _p_values() -> list[tuple]:
    rng = np.random.default_rng(3)
    return [
        (np.array([0.03, 0.001, 0.04, 0.012, 0.6]),),
        (np.array([0.02, 0.02, 0.5, 0.9]),),
        (np.round(rng.beta(0.4, 3, 9), 3),),
        (np.array([0.049]),),
        (np.array([0.7, 0.6, 0.02, 0.9]),),
    ]


def _p_and_level() -> list[tuple]:
    climbing = np.array(
        [0.2, 0.024, 0.001, 0.022, 0.028]
    )  # the second smallest fails its own line, the fourth does not
    return [(climbing, 0.05), (np.array([0.9, 0.04, 0.03]), 0.05), *((p, 0.1) for (p,) in _p_values())]


def _steps(
    p: np.ndarray, factors: Callable[[int], np.ndarray], *, highest: bool = True, cap: bool = True
) -> np.ndarray:
    """Multiply sorted p-values by factors, make them rise, and put them back into their order."""
    order, adjusted = np.argsort(p, kind="stable"), np.empty(len(p))
    stepped = np.sort(p) * factors(len(p))
    stepped = np.maximum.accumulate(stepped) if highest else stepped
    adjusted[order] = np.minimum(stepped, 1) if cap else stepped
    return adjusted


def _falling(number: int) -> np.ndarray:
    return np.arange(number, 0, -1)


def _own_line(p: np.ndarray, level: float) -> np.ndarray:
    """Compare each p with its own line only."""
    ranks = np.argsort(np.argsort(p, kind="stable"), kind="stable") + 1
    return p <= ranks / len(p) * level


def _until_first_failure(p: np.ndarray, level: float) -> np.ndarray:
    order, found = np.argsort(p, kind="stable"), np.zeros(len(p), bool)
    passed = np.sort(p) <= np.arange(1, len(p) + 1) / len(p) * level
    found[order[: int(np.argmin(passed)) if not passed.all() else len(p)]] = True
    return found


EXERCISES: dict[str, Exercise] = {
    "any_false": Function(
        right=any_false,
        trials=lambda: [(1, 0.05), (14, 0.05), (66, 0.01), (3, 0.2)],
        mistakes={
            "how_many_false_alarms": lambda tests, level: tests * level,
            "chance_that_every_single": lambda tests, level: level**tests,
            "chance_of_no_false_alarm": lambda tests, level: (1 - level) ** tests,
            "chance_in_one_test": lambda tests, level: level,
        },
    ),
    "holm": Function(
        right=holm,
        trials=_p_values,
        mistakes={
            "bonferroni": lambda p: np.minimum(p * len(p), 1),
            "adjusted_value_may_not": lambda p: _steps(p, _falling, highest=False),
            "values_are_right": lambda p: np.sort(holm(p)),
            "factors_grow": lambda p: _steps(p, lambda number: np.arange(1, number + 1)),
        },
    ),
    "benjamini_hochberg": Function(
        right=benjamini_hochberg,
        trials=_p_and_level,
        mistakes={
            "compare_every_p_with": lambda p, level: p <= level,
            "once_a_p_lies_below": _own_line,
            "stop_at_the_first_p": _until_first_failure,
            "holm": lambda p, level: holm(p) <= level,
        },
    ),
    "hacked": Value(
        right=hacked,
        mistakes={
            "what_honest_teams_find": lambda tried: float((tried.iloc[:, 0] < LEVEL).mean()),
            "share_of_analyses": lambda tried: float((tried < LEVEL).to_numpy().mean()),
            "teams_every_analysis": lambda tried: float((tried < LEVEL).all(axis=1).mean()),
            "number_of_teams": lambda tried: float((tried.min(axis=1) < LEVEL).sum()),
        },
    ),
    "held_up": Value(
        right=held_up,
        mistakes={
            "divide_by_all_pairs": lambda campaigns: float(
                ((campaigns["p_1"] < LEVEL) & (campaigns["p_2"] < LEVEL)).mean()
            ),
            "how_often_the_second": lambda campaigns: float((campaigns["p_2"] < LEVEL).mean()),
            "share_that_vanishes": lambda campaigns: 1 - held_up(campaigns),
            "direction_comes_back": lambda campaigns: float(
                (np.sign(found["difference_1"]) == np.sign(found["difference_2"])).mean()
                if len(found := campaigns[campaigns["p_1"] < LEVEL])
                else np.nan
            ),
        },
    ),
    "exaggeration": Value(
        right=exaggeration,
        mistakes={
            "all_pairs": _exaggerated,
            "truth_over_what_was_observed": lambda campaigns: 1 / exaggeration(campaigns),
            "pairs_that_were_not_found": lambda campaigns: _exaggerated(campaigns[campaigns["p_1"] >= LEVEL]),
            "by_how_much_they": lambda campaigns: exaggeration(campaigns) - 1,
        },
    ),
}
