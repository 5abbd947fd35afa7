"""The exercises of the lesson "Preferences: from choices between two to a ranking".

A table of wins is systems × systems: in a row how often the row's system beat each column's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit.human import preferences
from evalkit.human.ranking import rules
from evalkit.lessons.exercises import Exercise, Function, Mistake, Value
from evalkit.metrics import darr

#: A round of five systems: wins of the row's system over the column's, ten comparisons of every two.
ROUND = pd.DataFrame(
    [[0, 7, 6, 8, 9], [3, 0, 7, 3, 6], [4, 3, 0, 6, 7], [2, 7, 4, 0, 8], [1, 4, 3, 2, 0]], [*"ABCDE"], [*"ABCDE"]
)


def won_share(choices: Sequence[str], name: str) -> float:
    """Return the share of comparisons that a system won, a tie as half a win.

    >>> won_share(["mt", "tie", "human", "human"], "human")
    0.625
    """
    return float(np.mean([1.0 if choice == name else 0.5 if choice == "tie" else 0.0 for choice in choices]))


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


def fair_share(shown: pd.DataFrame, system: str) -> float:
    """Return the mean of the shares that a system won on the left and on the right, so that both places count alike."""
    return float(by_place(shown, system)[["left", "right"]].mean())


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


def neighbours(wins: pd.DataFrame, order: Sequence[str], *, reach: int) -> pd.DataFrame:
    """Keep the meetings of systems that stand at most so many places apart in an order, as in a league."""
    kept = wins.loc[list(order), list(order)]
    place = np.arange(len(kept))
    return kept.where(np.abs(np.subtract.outer(place, place)) <= reach, 0)


def share_of_wins(wins: pd.DataFrame) -> pd.Series:
    """Return each system's share of all its comparisons that it won; ties are in ``wins`` as halves."""
    return wins.sum(axis=1) / (wins.sum(axis=1) + wins.sum(axis=0))


def update(wins: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """Return Bradley-Terry strengths after one round of Zermelo's rule, scaled to sum to 1."""
    return _round(wins, strength)


def clusters(beats: np.ndarray) -> int:
    """Return how many clusters there are: a line wherever all systems above beat all below.

    beats: systems in the order of the ranking, [i, j] whether the i-th is significantly better than the j-th.
    """
    return int(rules.clusters(np.asarray(beats, bool)).max())


def circles(wins: pd.DataFrame) -> list[tuple[str, str, str]]:
    """List the circles of three in a table of wins."""
    return preferences.in_circles(preferences.of_wins(wins))


def circle(wins: pd.DataFrame) -> set[str]:
    """Return the systems of the only circle in a table of wins."""
    [found] = circles(wins)
    return {*found}


def _round(wins: np.ndarray, strength: np.ndarray, mistake: str = "") -> np.ndarray:
    met, both = wins + wins.T, np.add.outer(strength, strength)
    if mistake == "other only":
        both = np.broadcast_to(strength, met.shape)
    parts = met * both if mistake == "times" else met / both
    new = wins.sum(axis=0 if mistake == "losses" else 1) / parts.sum(axis=1)
    return new if mistake == "unscaled" else new / new.sum()


def _choices() -> list[tuple]:
    rng = np.random.default_rng(3)
    return [
        (list(rng.choice(["mt", "human", "tie"], n, p=[0.5, 0.3, 0.2])), name)
        for n, name in ((9, "mt"), (14, "human"), (30, "mt"))
    ]


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
    rng, made = np.random.default_rng(5), []
    for n in (3, 4, 5):
        wins = rng.integers(1, 12, (n, n)) * (1 - np.eye(n))
        made.append((wins, rng.dirichlet(np.ones(n))))
    return made


def _beats() -> list[tuple]:
    rng, made = np.random.default_rng(6), []
    for borders in ((2, 4), (1, 3, 6), ()):
        group = np.searchsorted(borders, np.arange(7), side="right")
        beats = group[:, None] < group[None, :]
        extra = np.triu(rng.random((7, 7)) < 0.4, 1)
        made.append((beats | extra,))
    return made


def _neighbours_only(beats: np.ndarray) -> int:
    return 1 + sum(bool(beats[i, i + 1]) for i in range(len(beats) - 1))


def _means(scores: pd.DataFrame, first: str, second: str) -> tuple[int, int, int]:
    one, other = scores[first].mean(), scores[second].mean()
    return int(one > other), int(one == other), int(one < other)


EXERCISES: dict[str, Exercise] = {
    "won_share": Function(
        right=won_share,
        trials=_choices,
        mistakes=(
            Mistake(
                answer=lambda choices, name: float(np.mean([choice == name for choice in choices])),
                hint="A tie counts as a defeat here. Two equal systems that always tie would both get 0; what is fair?",
            ),
            Mistake(
                answer=lambda choices, name: float(np.mean([choice in (name, "tie") for choice in choices])),
                hint="A tie counts as a whole win here. Then the shares of the two systems add up to more than 1.",
            ),
            Mistake(
                answer=lambda choices, name: float(np.mean([c == name for c in choices if c != "tie"])),
                hint="You leave ties out. That is done, too, but here the tie is an answer: what is it worth to each?",
            ),
            Mistake(
                answer=lambda choices, name: won_share(choices, name) * len(choices),
                hint="This is a number of wins. Of how many comparisons?",
            ),
        ),
        otherwise="Try four answers by hand: one win, one tie, two defeats. The share is 1.5 of 4.",
        well="The shares of two systems add up to 1, so one of them says it all.",
    ),
    "fair_share": Function(
        right=fair_share,
        trials=_shown,
        mistakes=(
            Mistake(
                answer=lambda shown, system: float(by_place(shown, system)["all"]),
                hint="You take all screens together. The system that stands on the left more often gains from it.",
            ),
            Mistake(
                answer=lambda shown, system: float(by_place(shown, system)["left"]),
                hint="This is the share on the left only, with the whole advantage of the place.",
            ),
            Mistake(
                answer=lambda shown, system: float(by_place(shown, system)["right"]),
                hint="This is the share on the right only, with the whole disadvantage of the place.",
            ),
            Mistake(
                answer=lambda shown, system: float(by_place(shown, system, tie=0)[["left", "right"]].mean()),
                hint="The places are balanced now. But what did a tie count in exercise 1?",
            ),
            Mistake(
                answer=lambda shown, system: float(by_place(shown, system)[["left", "right"]].diff().iloc[1]),
                hint="This is how much the place matters. Asked is the share once both places count the same.",
            ),
        ),
        otherwise="Compute two shares first: of the screens with the system on the left, and on the right. Print them.",
        well="Averaging over both places mends what unequal places did. Showing each pair both ways is better still.",
    ),
    "duel": Function(
        right=duel,
        trials=_scores,
        mistakes=(
            Mistake(
                answer=lambda scores, first, second: duel(scores, second, first),
                hint="Wins and defeats are exchanged. A higher score is better, and the first system comes first.",
            ),
            Mistake(
                answer=lambda scores, first, second: (
                    (found := duel(scores, first, second))[0],
                    len(scores) - found[0] - found[2],
                    found[2],
                ),
                hint="Rows in which one of the two was not judged are among your ties. Is that a comparison at all?",
            ),
            Mistake(
                answer=lambda scores, first, second: ((found := duel(scores, first, second))[0], 0, found[2]),
                hint="You have no ties. Two translations with the same score are one.",
            ),
            Mistake(
                answer=_means,
                hint="You compare two means, and that is one comparison. Here each row is a comparison of its own.",
            ),
        ),
        otherwise="Subtract the two columns and look at the signs: how many are positive, zero and negative?",
        well="The comparison forgets by how much a translation was better. That is its strength and its weakness.",
    ),
    "circle": Value(
        right=circle,
        names=lambda wins: wins.index,
        mistakes=(
            Mistake(
                answer=lambda wins: set(wins.sum(axis=1).nlargest(3).index),
                hint="These have won most comparisons. In a circle each beats the next one, and the last the first.",
            ),
            Mistake(
                answer=lambda wins: set(wins.index),
                hint="These are all systems. One that beats nobody, or everybody, can be in no circle.",
            ),
            Mistake(
                answer=lambda wins: set(wins.sum(axis=1).nsmallest(3).index),
                hint="These have won fewest comparisons. Draw an arrow from winner to loser, for every pair.",
            ),
        ),
        otherwise="Draw five points, and for each pair an arrow from winner to loser. Where can you walk around?",
        well="No ranking can hold a circle. It may be chance, or systems that are good at different things.",
    ),
    "update": Function(
        right=update,
        trials=_tables,
        mistakes=(
            Mistake(
                answer=lambda wins, strength: _round(wins, strength, "unscaled"),
                hint="The ratios are right. Divide by the sum at the end, so that strengths add up to 1.",
            ),
            Mistake(
                answer=lambda wins, strength: _round(wins, strength, "losses"),
                hint="You count defeats. A row holds what its system won, a column what its system lost.",
            ),
            Mistake(
                answer=lambda wins, strength: _round(wins, strength, "times"),
                hint="Meetings are divided by the two strengths together, not multiplied by them.",
            ),
            Mistake(
                answer=lambda wins, strength: _round(wins, strength, "other only"),
                hint="Below the line stands only the opponent's strength. Both strengths belong there.",
            ),
        ),
        otherwise="Take one system: its wins, over the sum of meetings / both strengths for each opponent.",
        well="Repeated, this settles on the most likely strengths, from whatever start.",
    ),
    "clusters": Function(
        right=clusters,
        trials=_beats,
        mistakes=(
            Mistake(
                answer=_neighbours_only,
                hint="You compare neighbours only. A line needs all systems above it to beat all below it.",
            ),
            Mistake(
                answer=lambda beats: clusters(beats) - 1,
                hint="You count the lines. How many groups do they part?",
            ),
            Mistake(
                answer=lambda beats: 1 + int(np.asarray(beats)[0].sum()),
                hint="You count what the first system beats. That says nothing of the others among themselves.",
            ),
        ),
        otherwise="Go down the ranking place by place: do all so far beat all that follow? Then draw a line.",
        well="A line says: these differ. No line does not say: these are equal.",
    ),
}
