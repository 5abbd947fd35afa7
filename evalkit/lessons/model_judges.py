"""The exercises of the lesson "Judges that are models".

Items are translations, (system, doc, segment); people's scores are a table with a column per person.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.lessons.checker import Exercise, Function, Value, letter
from evalkit.stats import correlation

#: What tells one translation from another.
ITEM = ["system", "doc", "segment"]


def tau(x: pd.Series, y: pd.Series) -> float:
    """Return Kendall's tau-b of two series of the same items.

    >>> round(tau(pd.Series([1, 2, 3]), pd.Series([1, 3, 2])), 3)
    0.333
    """
    return float(correlation.kendall_b(x.to_numpy(float), y.to_numpy(float)))


def left_out(people: pd.DataFrame) -> pd.Series:
    """Return each person's agreement (tau-b) with the mean of all *other* persons."""
    return pd.Series({name: tau(people[name], people.drop(columns=name).mean(axis=1)) for name in people})


def against_others(people: pd.DataFrame, judge: pd.Series) -> pd.Series:
    """Return the judge's agreement (tau-b) with the mean of all persons but one, a value for each left out."""
    return pd.Series({name: tau(judge, people.drop(columns=name).mean(axis=1)) for name in people})


def beaten(people: pd.DataFrame, judge: pd.Series) -> int:
    """Return how many persons agree less with the others, on the same items, than the judge does."""
    return int((against_others(people, judge) > left_out(people)).sum())


def favour(judge: pd.Series, people: pd.Series, own: pd.Series) -> float:
    """Return by how much a judge favours some items beyond what people do, in standard deviations.

    Both sides are standardised over all items; the difference judge - people is averaged over own items and over the
    others. own: True where an item is one of these.
    """
    return _beyond(_z(judge) - _z(people), own)


def favours(judge: pd.Series, people: pd.Series) -> pd.Series:
    """Return ``favour`` for the outputs of each system, by system; the items are in the order of both series."""
    system = people.index.get_level_values("system").to_numpy()
    own = {name: pd.Series(system == name, people.index) for name in np.unique(system)}
    return pd.Series({name: favour(judge, people, outputs) for name, outputs in own.items()})


def asked_twice(number: int, *, pull: float, tell: float, seed: int = 7) -> pd.DataFrame:
    """Simulate a model that compares translations A and B, once with A shown first and once with B first.

    pull: how often it takes the first place without looking. tell: how often it sees which one is better where it
    looks; otherwise it says tie. Returns a_first and b_first, each "first", "second" or "tie".

    >>> asked_twice(3, pull=1.0, tell=1.0).to_numpy().tolist()
    [['first', 'first'], ['first', 'first'], ['first', 'first']]
    """
    rng = np.random.default_rng(seed)
    better, columns = rng.choice(["A", "B"], number), {}
    for order, (one, two) in {"a_first": ("A", "B"), "b_first": ("B", "A")}.items():
        sees = np.where(rng.random(number) < tell, better, "tie")
        answer = np.select([sees == one, sees == two], ["first", "second"], "tie")
        columns[order] = np.where(rng.random(number) < pull, "first", answer)
    return pd.DataFrame(columns)


def consistent(asked: pd.DataFrame) -> float:
    """Return the share of pairs for which the model prefers the same translation (or none) in both orders."""
    turned = asked["b_first"].replace({"first": "second", "second": "first"})
    return float((asked["a_first"] == turned).mean())


def clean_too(judge: pd.Series, people: pd.Series) -> float:
    """Return the share of translations without errors for people among those without errors for the judge."""
    return float((people[judge == 0] == 0).mean())


def _z(scores: pd.Series) -> pd.Series:
    return (scores - scores.mean()) / scores.std()


def _beyond(over: pd.Series, own: pd.Series) -> float:
    """Return by how much the mean of some items lies above that of the others."""
    return float(over[own].mean() - over[~own].mean())


def _people() -> list[tuple]:
    rng, made = np.random.default_rng(3), []
    for items, persons in ((12, 3), (20, 5)):
        true = rng.normal(0, 2, (items, 1))
        scores = np.round(true + rng.normal(0, 1.5, (items, persons)) * np.linspace(0.5, 2, persons))
        made.append((pd.DataFrame(scores, columns=[f"person{k}" for k in range(persons)]),))
    return made


def _judged() -> list[tuple]:
    rng, made = np.random.default_rng(4), []
    for items in (10, 24):
        people = pd.Series(-rng.integers(0, 20, items).astype(float))
        own = pd.Series(rng.permutation(np.arange(items) < items // 3))
        made.append((4 * people + rng.normal(0, 9, items) + 12 * own, people, own))
    return made


def _pairwise(people: pd.DataFrame) -> pd.Series:
    """Average each person's agreement with every single other one."""
    return pd.Series(
        {one: np.mean([tau(people[one], people[other]) for other in people if other != one]) for one in people}
    )


EXERCISES: dict[str, Exercise] = {
    "left_out": Function(
        right=left_out,
        trials=_people,
        mistakes={
            "person_own_scores": lambda people: pd.Series({n: tau(people[n], people.mean(axis=1)) for n in people}),
            "average_agreements_with": _pairwise,
            "one_number_for_all": lambda people: float(left_out(people).mean()),
        },
    ),
    "beaten": Value(
        right=beaten,
        mistakes={
            "persons_agree_better": lambda people, judge: people.shape[1] - beaten(people, judge),
            "share_of_the_persons": lambda people, judge: beaten(people, judge) / people.shape[1],
            "judge_is_compared_with": lambda people, judge: (left_out(people) < tau(judge, people.mean(axis=1))).sum(),
        },
    ),
    "favour": Function(
        right=favour,
        trials=_judged,
        mistakes={
            "judge_rates_these_items": lambda judge, people, own: _beyond(_z(judge), own),
            "judge_and_people_use": lambda judge, people, own: _beyond(judge - people, own),
            "compare_with_all_items": lambda judge, people, own: float((_z(judge) - _z(people))[own].mean()),
        },
    ),
    "consistent": Value(
        right=consistent,
        mistakes={
            "same_word_twice_means": lambda asked: float((asked["a_first"] == asked["b_first"]).mean()),
            "share_for_which_it_changes": lambda asked: 1 - consistent(asked),
            "count_only_where_a_wins": lambda asked: asked.eq(["first", "second"]).all(axis=1).mean(),
        },
    ),
    "clean_too": Value(
        right=clean_too,
        mistakes={
            "turned_it_round": lambda judge, people: clean_too(people, judge),
            "share_of_all_translations": lambda judge, people: float(((judge == 0) & (people == 0)).mean()),
            "how_often_the_two_say": lambda judge, people: float(((judge == 0) == (people == 0)).mean()),
        },
    ),
    "leak": letter("B"),
}
