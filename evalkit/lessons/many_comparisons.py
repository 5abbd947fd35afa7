"""The exercises of the lesson "Many comparisons: false alarms, p-hacking and the winner's curse".

Scores are tables with a row per segment, (doc, segment), and a column per system. Tests are two-sided.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.lessons.checker import Exercise, Function, Value
from evalkit.stats import inference

LEVEL = 0.05
#: Tests that a team may choose from: of signed ranks, and of means.
TESTS = ("wilcoxon", "t")


def compare(scores: pd.DataFrame, *, test: str = "wilcoxon") -> pd.DataFrame:
    """Test every two systems: first, second (in order of their names), difference of their means, two-sided p.

    Segments that somebody lacks are left out.

    >>> scores = pd.DataFrame({"A": [3.0, 4, 5, 6, 8], "B": [1.0, 3, 4, 4, 2]}, index=list("12345"))
    >>> compare(scores, test="t").round(3).values.tolist()
    [['A', 'B', 2.4, 0.061]]
    """
    pairs = list(combinations(sorted(scores), 2))
    scores = scores.dropna()
    between = np.column_stack([scores[first] - scores[second] for first, second in pairs])
    if test == "t":
        p = stats.ttest_1samp(between, 0).pvalue
    else:
        p = stats.wilcoxon(between, correction=True, method="asymptotic").pvalue
    return pd.DataFrame(pairs, columns=["first", "second"]).assign(difference=between.mean(axis=0), p=p)


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
        parts = {"all": drawn, "half": drawn[::2], "other half": drawn[1::2], "without the hardest": drawn[easy]}
        parts |= {"first third": drawn[:third], "last third": drawn[-third:]}
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
    drawn = np.round(np.random.default_rng(3).beta(0.4, 3, 9), 3)
    given = [0.03, 0.001, 0.04, 0.012, 0.6], [0.02, 0.02, 0.5, 0.9], drawn, [0.049], [0.7, 0.6, 0.02, 0.9]
    return [(np.array(p),) for p in given]


def _p_and_level() -> list[tuple]:
    climbing = np.array([0.2, 0.024, 0.001, 0.022, 0.028])  # the second smallest fails its own line, the fourth passes
    return [(climbing, 0.05), (np.array([0.9, 0.04, 0.03]), 0.05), *((p, 0.1) for (p,) in _p_values())]


def _place(p: np.ndarray) -> np.ndarray:
    """Return the place of each p-value, 1 for the smallest."""
    return stats.rankdata(p, "ordinal")


EXERCISES: dict[str, Exercise] = {
    "any_false": Function(
        right=any_false,
        trials=lambda: [(1, 0.05), (14, 0.05), (66, 0.01), (3, 0.2)],
        mistakes={
            "how_many_false_alarms": lambda tests, level: tests * level,
            "chance_that_every_single": lambda tests, level: level**tests,
            "chance_of_no_false_alarm": lambda tests, level: (1 - level) ** tests,
        },
    ),
    "holm": Function(
        right=holm,
        trials=_p_values,
        mistakes={
            "bonferroni": lambda p: np.minimum(p * len(p), 1),
            "adjusted_value_may_not": lambda p: np.minimum(p * (len(p) + 1 - _place(p)), 1),
            "values_are_right": lambda p: np.sort(holm(p)),
        },
    ),
    "benjamini_hochberg": Function(
        right=benjamini_hochberg,
        trials=_p_and_level,
        mistakes={
            "compare_every_p_with": lambda p, level: p <= level,
            "once_a_p_lies_below": lambda p, level: p <= _place(p) / len(p) * level,
            "holm": lambda p, level: holm(p) <= level,
        },
    ),
    "hacked": Value(
        right=hacked,
        mistakes={
            "what_honest_teams_find": lambda tried: float((tried.iloc[:, 0] < LEVEL).mean()),
            "share_of_analyses": lambda tried: float((tried < LEVEL).to_numpy().mean()),
            "teams_every_analysis": lambda tried: float((tried < LEVEL).all(axis=1).mean()),
        },
    ),
    "held_up": Value(
        right=held_up,
        mistakes={
            "divide_by_all_pairs": lambda campaigns: (campaigns[["p_1", "p_2"]] < LEVEL).all(axis=1).mean(),
            "how_often_the_second": lambda campaigns: float((campaigns["p_2"] < LEVEL).mean()),
            "share_that_vanishes": lambda campaigns: 1 - held_up(campaigns),
        },
    ),
    "exaggeration": Value(
        right=exaggeration,
        mistakes={
            "all_pairs": _exaggerated,
            "truth_over_what_was_observed": lambda campaigns: 1 / exaggeration(campaigns),
            "pairs_that_were_not_found": lambda campaigns: _exaggerated(campaigns[campaigns["p_1"] >= LEVEL]),
        },
    ),
}
