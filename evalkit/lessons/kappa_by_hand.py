"""The exercises of the lesson "Kappa by hand, and why it misleads".

An agreement table counts items: its rows are the categories of one annotator, its columns those of the other.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.lessons.exercises import Exercise, Function, Made, Mistake, Need, Value
from evalkit.stats import agreement

HIGH, LOW = 0.9, 0.1  # what exercise "paradox" asks for: observed agreement at least, kappa at most
SITUATIONS = ("error type", "one point, one point worse", "far misses are what hurts")


def items(table: np.ndarray) -> pd.DataFrame:
    """Write an agreement table out, one row an item and one column an annotator.

    >>> items(np.array([[1, 0], [1, 0]])).to_numpy().tolist()
    [[0, 0], [1, 0]]
    """
    rows, columns = np.indices(np.shape(table))
    times = np.ravel(table)
    return pd.DataFrame({"a": np.repeat(rows.ravel(), times), "b": np.repeat(columns.ravel(), times)})


def coefficient(table: np.ndarray, name: str, level: str = "none") -> float:
    """Compute one coefficient of two annotators from their agreement table.

    >>> round(coefficient(np.array([[80, 10], [5, 5]]), "cohen_kappa"), 2)
    0.32
    """
    scale = list(range(len(table)))
    found = agreement.coefficients(items(table), measures=[(name, level)], resamples=0, categories=scale)
    return float(found["estimate"].iloc[0])


def effective(scores: pd.DataFrame) -> float:
    """Compute the number of equally frequent categories that would agree by chance as often as those in use."""
    return float(1 / (_shares(scores) ** 2).sum())


def _shares(scores: pd.DataFrame) -> np.ndarray:
    given = scores.to_numpy(float)
    count = np.unique(given[np.isfinite(given)], return_counts=True)[1]
    return count / count.sum()


def _tables() -> list[tuple[np.ndarray]]:
    """Return agreement tables to try a function on: two to four categories, people who differ in how often each."""
    rng = np.random.default_rng(5)
    return [(rng.integers(1, 30, size=(n, n)) + np.diag(rng.integers(5, 90, size=n)),) for n in (2, 3, 3, 4)]


def _weighted_tables() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the tables with linear or quadratic weights."""
    made = []
    for (table,), power in zip(_tables(), (1, 2, 1, 2), strict=True):
        position = np.arange(len(table))
        made.append((table, 1 - (np.abs(position[:, None] - position) / position[-1]) ** power))
    return made


def _kappa(table: np.ndarray) -> float:
    return coefficient(table, "cohen_kappa")


def _observed(table: np.ndarray) -> float:
    return coefficient(table, "percent_agreement")


def _expected(table: np.ndarray) -> float:
    """Return the chance agreement that kappa and observed agreement imply."""
    table = np.asarray(table)
    return float((table.sum(axis=1) / table.sum()) @ (table.sum(axis=0) / table.sum()))


def _weighted(table: np.ndarray, weights: np.ndarray) -> float:
    return coefficient(table, "cohen_kappa", "linear" if weights[0, 1] == 1 - 1 / (len(table) - 1) else "quadratic")


def _weighted_sum(table: np.ndarray, weights: np.ndarray) -> float:
    return float((weights * table).sum() / table.sum())


def _by_chance(table: np.ndarray) -> np.ndarray:
    return np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()


def _chosen(**choice: str) -> Mistake:
    """Return the mistake of one choice of weights, the others as they should be."""
    name, wrong = next(iter(choice.items()))
    sound = dict(zip(SITUATIONS, ("none", "linear", "quadratic"), strict=True))
    at = SITUATIONS[int(name[-1])]
    return Mistake(answer=lambda: sound | {at: wrong}, hint=_WEIGHTS[int(name[-1])])


_WEIGHTS = (
    "Error type: is a wrong term nearer to a spelling mistake than to an omission? Only where categories have an order "
    "can a near miss be worth something.",
    "One point, one point worse: by how much should the weight fall from distance 1 to 2, and from 2 to 3?",
    "Far misses: which weights take little off for a distance of one, and a lot for a distance of four?",
)
_ALL_THREE = "Fill in all three, each with 'none', 'linear' or 'quadratic'."
_WHOLE = "A table of 2 by 2 whole numbers is asked for, none of them negative, that add up to 100."
_ONE = "Both annotators put everything into one category, so chance alone gives 1 and kappa is 0 / 0. Leave exceptions."
_MISS = "They disagree too often: what lies off the diagonal must be a small part of the 100."
_EVEN = "They agree often, and kappa still is high. What if one category applied to nearly all items?"

EXERCISES: dict[str, Exercise] = {
    "observed_agreement": Function(
        right=_observed,
        trials=_tables,
        mistakes=(
            Mistake(answer=lambda table: float(np.trace(table)), hint="This is a number of items. Which share is it?"),
            Mistake(
                answer=lambda table: float(np.trace(table) / len(table)),
                hint="You divided by the number of categories. How many items did they judge in all?",
            ),
            Mistake(
                answer=lambda table: float(1 - np.trace(table) / table.sum()),
                hint="This is how often they disagree.",
            ),
            Mistake(
                answer=lambda table: float(np.max(table) / table.sum()),
                hint="You took the largest cell only. In how many cells are both annotators of one mind?",
            ),
            Mistake(
                answer=lambda table: float(table[0, 0] / table.sum()),
                hint="You took the first cell only. In how many cells are both annotators of one mind?",
            ),
        ),
        otherwise="Try a table of two categories: which of its four cells are agreements, and out of how many items?",
        start="Begin with the small table: on how many items did both say the same?",
        well="Observed agreement is easy to understand, and a part of it is luck.",
    ),
    "chance_agreement": Function(
        right=_expected,
        trials=_tables,
        mistakes=(
            Mistake(
                answer=lambda table: 1 / len(table),
                hint="You gave all categories the same share. Chance agreement in Cohen's kappa asks how often each "
                "annotator really used each category.",
            ),
            Mistake(
                answer=lambda table: float((((table.sum(axis=0) + table.sum(axis=1)) / 2 / table.sum()) ** 2).sum()),
                hint="You gave both annotators the same shares. That is Scott's pi; Cohen lets each keep their own.",
            ),
            Mistake(
                answer=lambda table: float(((table.sum(axis=1) / table.sum()) ** 2).sum()),
                hint="You used the shares of one annotator twice. The other one's stand in the other margin.",
            ),
            Mistake(
                answer=lambda table: float(((table.sum(axis=0) / table.sum()) ** 2).sum()),
                hint="You used the shares of one annotator twice. The other one's margin is the sums of the rows.",
            ),
            Mistake(
                answer=lambda table: float(table.sum(axis=1) @ table.sum(axis=0)),
                hint="These are products of counts. Turn both margins into shares before you multiply.",
            ),
            Mistake(
                answer=lambda table: float(table.sum(axis=1) @ table.sum(axis=0) / table.sum()),
                hint="You divided once, and there are two margins to turn into shares.",
            ),
        ),
        otherwise="For one category: how likely is it that the first annotator writes it down, how likely that the "
        "second one does, and how likely both, if they do not look at the item?",
        start="Begin with one category: how often does each person use it?",
        well="The more unevenly the categories are used, the nearer this comes to 1.",
    ),
    "kappa": Function(
        right=_kappa,
        trials=_tables,
        mistakes=(
            Mistake(
                answer=lambda table: _observed(table) - _expected(table),
                hint="This is the agreement beyond chance. How much of it was there to be had?",
            ),
            Mistake(
                answer=lambda table: (_observed(table) - _expected(table)) / _expected(table),
                hint="You divided by chance agreement. Divide by the most that could be reached beyond it.",
            ),
            Mistake(
                answer=lambda table: (_observed(table) - _expected(table)) / (1 - _observed(table)),
                hint="The denominator holds the wrong agreement: which of the two is taken as given?",
            ),
            Mistake(
                answer=lambda table: coefficient(table, "scott_pi"),
                hint="This is Scott's pi: chance agreement comes from shares that both annotators have in common.",
            ),
            Mistake(
                answer=lambda table: coefficient(table, "randolph_kappa"),
                hint="This takes all categories as equally likely by chance. Use how often each was used.",
            ),
            Mistake(answer=_observed, hint="This is observed agreement. Take off what chance alone would give."),
        ),
        otherwise="Two steps: the agreement beyond chance, then the share that it is of all that was to be had.",
        start="Begin with what there was to be had beyond chance.",
        well="1 is perfect agreement, 0 what chance would give, and below 0 people agree less often than by chance.",
    ),
    "weighted_kappa": Function(
        right=_weighted,
        trials=_weighted_tables,
        mistakes=(
            Mistake(
                answer=lambda table, weights: _kappa(table),
                hint="The weights have no effect. Multiply every cell by its weight, not only those on the diagonal.",
            ),
            Mistake(answer=_weighted_sum, hint="This is the weighted observed agreement. Chance gets weights, too."),
            Mistake(
                answer=lambda table, weights: (
                    (_weighted_sum(table, weights) - _expected(table)) / (1 - _expected(table))
                ),
                hint="You weighed what was observed and left chance unweighed. Near misses happen by luck as well.",
            ),
            Mistake(
                answer=lambda table, weights: (
                    1 - _weighted_sum(table, weights) / _weighted_sum(_by_chance(table), weights)
                ),
                hint="This formula is for disagreements, and these are weights of agreement, 1 on the diagonal.",
            ),
        ),
        otherwise="Which table would two annotators fill who do not look at the item? Weigh it like the real one.",
        start="Begin with the weighted observed agreement: every cell's share times its weight.",
        well="With weights 1 on the diagonal and 0 elsewhere, this is the kappa from before.",
    ),
    "choose_weights": Made(
        needs=(
            Need(holds=lambda choice: set(choice.values()) != {"..."}, hint=_ALL_THREE, kind="empty"),
            Need(
                holds=lambda choice: set(choice) == set(SITUATIONS) and set(choice.values()) <= set(agreement.WEIGHTS),
                hint=_ALL_THREE,
                kind="form",
            ),
            Need(holds=lambda choice: choice[SITUATIONS[0]] == "none", hint=_WEIGHTS[0]),
            Need(holds=lambda choice: choice[SITUATIONS[1]] == "linear", hint=_WEIGHTS[1]),
            Need(holds=lambda choice: choice[SITUATIONS[2]] == "quadratic", hint=_WEIGHTS[2]),
        ),
        mistakes=(
            _chosen(at0="quadratic"),
            _chosen(at1="quadratic"),
            _chosen(at2="none"),
            Mistake(
                answer=lambda: dict.fromkeys(SITUATIONS, "..."),
                hint=_ALL_THREE,
            ),
        ),
        well="Choose weights before you see the data: the same judgements give very different kappas.",
    ),
    "paradox": Made(
        needs=(
            Need(
                holds=lambda table: (
                    np.shape(table) == (2, 2)
                    and np.asarray(table).sum() == 100
                    and (np.asarray(table) >= 0).all()
                    and (np.asarray(table) == np.round(table)).all()
                ),
                hint=_WHOLE,
            ),
            Need(holds=lambda table: _expected(np.asarray(table)) < 1, hint=_ONE),
            Need(holds=lambda table: _observed(np.asarray(table, dtype=int)) >= HIGH, hint=_MISS),
            Need(holds=lambda table: _kappa(np.asarray(table, dtype=int)) <= LOW, hint=_EVEN),
        ),
        mistakes=(
            Mistake(answer=lambda: np.array([[47, 3], [3, 47]]), hint=_EVEN),
            Mistake(answer=lambda: np.array([[100, 0], [0, 0]]), hint=_ONE),
            Mistake(answer=lambda: np.array([[25, 25], [25, 25]]), hint=_MISS),
            Mistake(answer=lambda: np.array([[0.94, 0.03], [0.03, 0.0]]), hint=_WHOLE),
        ),
        start="Begin with any table, and look at what your functions say about it.",
        well="Both numbers are true: they nearly always say the same, and nothing shows that they tell items apart.",
    ),
    "effective_categories": Value(
        right=effective,
        mistakes=(
            Mistake(
                answer=lambda scores: len(_shares(scores)),
                hint="You counted the categories that occur. A category that is used once in a hundred hardly counts.",
            ),
            Mistake(
                answer=lambda scores: float((_shares(scores) ** 2).sum()),
                hint="This is how often two random judgements are the same. How many equally frequent categories "
                "would give that?",
            ),
            Mistake(
                answer=lambda scores: float(1 / _shares(scores).max()),
                hint="You used the commonest category alone. All shares play a part.",
            ),
            Mistake(
                answer=lambda scores: float(1 / _shares(scores).sum()),
                hint="Shares add up to 1, whatever they are. What do you do with each before you add them up?",
            ),
        ),
        otherwise="With four equally frequent categories two random judgements are the same one time in four. So?",
        start="Begin with the share of each category among all judgements.",
        well="The fewer categories are really used, the more agreement luck alone gives.",
    ),
}
