"""The exercises of the lesson "Preferences: from choices between two to a ranking".

A table of wins is systems × systems: in a row how often the row's system beat each column's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit.human import preferences
from evalkit.human.ranking import rules
from evalkit.lessons.checker import Exercise, Function, Value
from evalkit.metrics import darr

#: A round of five systems: wins of the row's system over the column's, ten comparisons of every two.
ROUND = pd.DataFrame(
    [[0, 7, 6, 8, 9], [3, 0, 7, 3, 6], [4, 3, 0, 6, 7], [2, 7, 4, 0, 8], [1, 4, 3, 2, 0]], [*"ABCDE"], [*"ABCDE"]
)


def won_share(choices: Sequence[str], name: str, *, tie: float = 0.5) -> float:
    """Return the share of comparisons that a system won, a tie as half a win.

    >>> won_share(["mt", "tie", "human", "human"], "human")
    0.625
    """
    return float(np.mean([1.0 if choice == name else tie if choice == "tie" else 0.0 for choice in choices]))


def screens(number: int, *, pull: float, first: float = 0.8, seed: int = 7) -> pd.DataFrame:
    """Simulate comparisons of two equally good systems on screens that show one left and one right.

    pull: how much more often the left place is chosen than the right one (a share). first: of screens with A left.
    Returns left, right (systems) and choice (left, right or tie; a tenth are ties).

    >>> made = screens(4000, pull=0.2)
    >>> shares = made["choice"].value_counts(normalize=True)
    >>> float(round(shares["left"] - shares["right"], 1)), float(made["left"].eq("A").mean().round(1))
    (0.2, 0.8)
    """
    rng = np.random.default_rng(seed)
    left = np.where(rng.random(number) < first, "A", "B")
    choice = rng.choice(["left", "right", "tie"], number, p=[0.45 + pull / 2, 0.45 - pull / 2, 0.1])
    return pd.DataFrame({"left": left, "right": np.where(left == "A", "B", "A"), "choice": choice})


def by_place(shown: pd.DataFrame, system: str, *, tie: float = 0.5) -> pd.Series:
    """Return the share of screens that a system won on the left and on the right, and on all of them.

    shown: as ``screens`` makes it. tie: what a tie counts.
    """
    on_left = shown["left"].eq(system)
    won = shown["choice"].eq(np.where(on_left, "left", "right")) + tie * shown["choice"].eq("tie")
    return pd.Series({"left": won[on_left].mean(), "right": won[~on_left].mean(), "all": won.mean()})


def fair_share(shown: pd.DataFrame, system: str, *, tie: float = 0.5) -> float:
    """Return the mean of the shares that a system won on the left and on the right, so that both places count alike."""
    return float(by_place(shown, system, tie=tie)[["left", "right"]].mean())


def duel(scores: pd.DataFrame, first: str, second: str) -> tuple[int, int, int]:
    """Return how often the first system has the higher score in a row, the same, and the lower one.

    scores: a row per annotator and segment, a column per system; NaN where somebody did not judge.

    >>> duel(pd.DataFrame({"A": [1.0, 2.0, np.nan], "B": [0.0, 2.0, 3.0]}), "A", "B")
    (1, 1, 0)
    """
    signs = np.sign(scores[first] - scores[second]).dropna()
    return int((signs > 0).sum()), int((signs == 0).sum()), int((signs < 0).sum())


def duels(ratings: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare every two systems' translations that one annotator scored: tables of wins and of ties.

    ratings: judgements with one score of each annotator for each translation; higher is better.
    """
    pairs = darr.from_ranks(ratings.assign(rank=-ratings["score"]))
    won = darr.pairwise_wins(pairs, better := darr.order(pairs, threshold=0))
    tied = darr.pairwise_wins(pairs, (better == 0).astype(int))
    return tuple(pd.DataFrame(table, pairs.systems, pairs.systems) for table in (won, tied + tied.T))


def update(wins: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """Return Bradley-Terry strengths after one round of Zermelo's rule, scaled to sum to 1."""
    return (new := _unscaled(wins, strength)) / new.sum()


def clusters(beats: np.ndarray) -> int:
    """Return how many clusters there are: a line wherever all systems above beat all below.

    beats: systems in the order of the ranking, [i, j] whether the i-th is significantly better than the j-th.
    """
    return int(rules.clusters(np.asarray(beats, bool)).max())


def circles(wins: pd.DataFrame) -> list[tuple[str, str, str]]:
    """List the circles of three in a table of wins."""
    return preferences.in_circles(preferences.of_wins(wins))


def _unscaled(wins: np.ndarray, strength: np.ndarray) -> np.ndarray:
    return wins.sum(axis=1) / ((wins + wins.T) / np.add.outer(strength, strength)).sum(axis=1)


def _choices() -> list[tuple]:
    rng, kinds = np.random.default_rng(3), ["mt", "human", "tie"]
    return [(list(rng.choice(kinds, n, p=[0.5, 0.3, 0.2])), name) for n, name in ((9, "mt"), (14, "human"), (30, "mt"))]


def _shown() -> list[tuple]:
    return [(screens(60, pull=0.3, seed=seed), system) for seed, system in ((1, "A"), (2, "B"), (3, "A"))]


def _scores() -> list[tuple]:
    rng, made = np.random.default_rng(4), []
    for rows in (12, 25):
        table = pd.DataFrame(-rng.integers(0, 4, (rows, 3)).astype(float), columns=[*"ABC"])
        table.iloc[0, 0] = table.iloc[2, 1] = table.iloc[3, 1] = np.nan
        table.iloc[1, 0] = -25.0  # one very bad translation turns means, and no comparison but its own
        made += [(table, "A", "B"), (table, "C", "A")]
    return made


def _tables() -> list[tuple]:
    rng = np.random.default_rng(5)
    return [(rng.integers(1, 12, (n, n)) * (1 - np.eye(n)), rng.dirichlet(np.ones(n))) for n in (3, 4, 5)]


def _beats() -> list[tuple]:
    rng, made = np.random.default_rng(6), []
    for borders in ((2, 4), (1, 3, 6), ()):
        group = np.searchsorted(borders, np.arange(7), side="right")
        made.append((np.less.outer(group, group) | np.triu(rng.random((7, 7)) < 0.4, 1),))
    return made


def _means(scores: pd.DataFrame, first: str, second: str) -> tuple[int, int, int]:
    one, other = scores[first].mean(), scores[second].mean()
    return int(one > other), int(one == other), int(one < other)


EXERCISES: dict[str, Exercise] = {
    "won_share": Function(
        right=won_share,
        trials=_choices,
        mistakes={
            "tie_counts_as_a_defeat": lambda choices, name: won_share(choices, name, tie=0),
            "tie_counts_as_a_whole": lambda choices, name: won_share(choices, name, tie=1),
            "leave_ties_out": lambda choices, name: float(np.mean([c == name for c in choices if c != "tie"])),
        },
    ),
    "fair_share": Function(
        right=fair_share,
        trials=_shown,
        mistakes={
            "take_all_screens_together": lambda shown, system: float(by_place(shown, system)["all"]),
            "share_on_the_left_only": lambda shown, system: float(by_place(shown, system)["left"]),
            "places_are_balanced_now": lambda shown, system: fair_share(shown, system, tie=0),
        },
    ),
    "duel": Function(
        right=duel,
        trials=_scores,
        mistakes={
            "wins_and_defeats": lambda scores, first, second: duel(scores, second, first),
            "have_no_ties": lambda scores, first, second: tuple(np.multiply(duel(scores, first, second), (1, 0, 1))),
            "compare_two_means": _means,
        },
    ),
    "circle": Value(
        right=lambda wins: set(*circles(wins)),
        names=lambda wins: wins.index,
        mistakes={
            "have_won_most_comparisons": lambda wins: set(wins.sum(axis=1).nlargest(3).index),
            "all_systems": lambda wins: set(wins.index),
        },
    ),
    "update": Function(
        right=update,
        trials=_tables,
        mistakes={
            "ratios_are_right": _unscaled,
            "count_defeats": lambda wins, strength: update(wins.T, strength),
        },
    ),
    "clusters": Function(
        right=clusters,
        trials=_beats,
        mistakes={
            "compare_neighbours_only": lambda beats: 1 + int(np.diagonal(beats, 1).sum()),
            "count_the_lines": lambda beats: clusters(beats) - 1,
            "count_what_the_first": lambda beats: 1 + int(np.asarray(beats)[0].sum()),
        },
    ),
}
