"""The exercises of the lesson "Judges that are models".

Items are translations, (system, doc, segment); people's scores are a table with a column per person.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.lessons.exercises import Exercise, Function, Mistake, Value
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
    return _favour(judge, people, own)


def favours(judge: pd.Series, people: pd.Series) -> pd.Series:
    """Return ``favour`` for the outputs of each system, by system; the items are in the order of both series."""
    system = people.index.get_level_values("system").to_numpy()
    return pd.Series(
        {name: favour(judge, people, pd.Series(system == name, people.index)) for name in np.unique(system)}
    )


def length_tau(judge: pd.Series, people: pd.Series, length: pd.Series) -> float:
    """Return the agreement (tau-b) of what the judge gives beyond people, standardised, with the length of the text."""
    return tau(_z(judge) - _z(people), length)


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


def _z(scores: pd.Series, ddof: int = 1) -> pd.Series:
    return (scores - scores.mean()) / scores.std(ddof=ddof)


def _favour(judge: pd.Series, people: pd.Series, own: pd.Series, mistake: str = "") -> float:
    if mistake == "raw":
        over = judge - people
    elif mistake == "judge only":
        over = _z(judge)
    else:
        over = _z(judge, int(mistake != "ddof")) - _z(people, int(mistake != "ddof"))
    return float(over[own].mean() - (over if mistake == "all" else over[~own]).mean())


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
        mistakes=(
            Mistake(
                answer=lambda people: pd.Series({n: tau(people[n], people.mean(axis=1)) for n in people}),
                hint="The person's own scores are in the mean. Everybody agrees with themselves; leave them out.",
            ),
            Mistake(
                answer=_pairwise,
                hint="You average agreements with single persons. Average the others' *scores*, then compare once.",
            ),
            Mistake(
                answer=lambda people: pd.Series(
                    {n: float(correlation.pearson(people[n], people.drop(columns=n).mean(axis=1))) for n in people}
                ),
                hint="This is Pearson's r. Asked is Kendall's tau-b, which `made.tau` computes.",
            ),
            Mistake(
                answer=lambda people: float(left_out(people).mean()),
                hint="This is one number for all. Give a value for each person, by name.",
            ),
        ),
        otherwise="For one person: drop their column, average the rest in each row, compare with their column.",
        well="This is what a judge has to reach: not perfect agreement, but that of one more person.",
    ),
    "beaten": Value(
        right=beaten,
        mistakes=(
            Mistake(
                answer=lambda people, judge: people.shape[1] - beaten(people, judge),
                hint="These persons agree *better* with the others than the judge does. The other way round is asked.",
            ),
            Mistake(
                answer=lambda people, judge: beaten(people, judge) / people.shape[1],
                hint="This is a share of the persons. How many are they?",
            ),
            Mistake(
                answer=lambda people, judge: int((tau(judge, people.mean(axis=1)) > left_out(people)).sum()),
                hint="The judge is compared with the mean of all, the person with that of one fewer. Be fair to both.",
            ),
            Mistake(
                answer=lambda people, judge: int((against_others(people, judge) > left_out(people).mean()).sum()),
                hint="You compare with the average person. Compare with each one, against the same others.",
            ),
        ),
        otherwise="For each person: the judge's agreement with the others, and the person's. Where is it higher?",
        well="Count persons, not hundredths of a correlation: this is the question whether it could be one of them.",
    ),
    "favour": Function(
        right=favour,
        trials=_judged,
        mistakes=(
            Mistake(
                answer=lambda judge, people, own: _favour(judge, people, own, "judge only"),
                hint="The judge rates these items higher. But are they perhaps better? Take off what people say.",
            ),
            Mistake(
                answer=lambda judge, people, own: _favour(judge, people, own, "raw"),
                hint="Judge and people use different units. Standardise both over all items before you subtract.",
            ),
            Mistake(
                answer=lambda judge, people, own: _favour(judge, people, own, "all"),
                hint="You compare with all items, own ones included. Compare with the *other* items.",
            ),
            Mistake(
                answer=lambda judge, people, own: -favour(judge, people, own),
                hint="The size is right, the sign is not. Favour is positive where the judge gives more than people.",
            ),
            Mistake(
                answer=lambda judge, people, own: _favour(judge, people, own, "ddof"),
                hint="Your standard deviations divide by n. Those of a sample divide by n - 1: see the option ddof.",
            ),
        ),
        otherwise="Two new columns first: both scores, standardised. Then their difference, then two means of that.",
        well="One system's favour means little alone: compare it with the favours of all others.",
    ),
    "consistent": Value(
        right=consistent,
        mistakes=(
            Mistake(
                answer=lambda asked: float((asked["a_first"] == asked["b_first"]).mean()),
                hint="The same *word* twice means another translation: 'first' is A in one order, and B in the other.",
            ),
            Mistake(
                answer=lambda asked: 1 - consistent(asked),
                hint="This is the share for which it changes its mind.",
            ),
            Mistake(
                answer=lambda asked: float((asked["a_first"].eq("first") & asked["b_first"].eq("second")).mean()),
                hint="You count only where A wins twice. B may win twice, too, or both answers may be a tie.",
            ),
            Mistake(
                answer=lambda asked: float(
                    consistent(asked) - (asked["a_first"].eq("tie") & asked["b_first"].eq("tie")).mean()
                ),
                hint="Where both answers are a tie the model agrees with itself, too.",
            ),
        ),
        otherwise="Write beside each answer which translation it means, A, B or neither; then compare the two columns.",
        well="A model that contradicts itself when places change cannot be agreed with.",
    ),
    "clean_too": Value(
        right=clean_too,
        mistakes=(
            Mistake(
                answer=lambda judge, people: clean_too(people, judge),
                hint="You turned it round: of those clean for people, how many the judge calls clean. What is given?",
            ),
            Mistake(
                answer=lambda judge, people: float(((judge == 0) & (people == 0)).mean()),
                hint="This is the share of *all* translations. Divide by those that the judge calls clean.",
            ),
            Mistake(
                answer=lambda judge, people: float(((judge == 0) == (people == 0)).mean()),
                hint="This is how often the two say the same. Asked is how far to trust one answer: 'no error'.",
            ),
            Mistake(
                answer=lambda judge, people: float((judge == 0).mean()),
                hint="This is how often the judge says 'no error'. How often do people say so of these translations?",
            ),
        ),
        otherwise="Keep the translations with a judge's score of 0. In what share of these is people's score 0, too?",
        well="What a score is worth depends on what people say of translations with that score: that is calibration.",
    ),
    "leak": Value(
        right=lambda: "B",
        names=lambda: "ABCD",
        mistakes=(
            Mistake(
                answer=lambda: "A",
                hint="Reading the source is what a judge without reference does. Nothing of the answer is in it.",
            ),
            Mistake(
                answer=lambda: "C",
                hint="Two orders are a remedy against the pull of a place. What does the judge learn from them?",
            ),
            Mistake(
                answer=lambda: "D",
                hint="Few raters make people's side noisy. That hides agreement and does not feign it.",
            ),
        ),
        otherwise="Give one of the letters A, B, C or D, in quotation marks.",
        well="What a model has seen in training it may remember; new texts are the only safe test.",
    ),
}
