"""The exercises of the lesson "Judge for yourselves": what a class's own judgements say of the class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.lessons import classroom
from evalkit.lessons.exercises import Exercise, Mistake, Value


def items(ratings: pd.DataFrame) -> pd.DataFrame:
    """Lay out first showings under names like ``smooth/bakery/1``: one row an item, one column an annotator."""
    table = classroom.matrix(ratings)
    return table.set_axis(table.index.map("/".join), axis=0).rename_axis("item")


def minutes(ratings: pd.DataFrame, you: str, seconds: float) -> float:
    """Return how many minutes your judgements take at so many seconds each."""
    return float((ratings["annotator"] == you).sum() * seconds / 60)


def noticed(pairs: pd.DataFrame) -> float:
    """Return the share of degraded copies that scored lower than their originals. pairs: of ``classroom.copies``."""
    return float((_losses(pairs, "degraded") > 0).mean())


def unsteadiness(pairs: pd.DataFrame) -> float:
    """Return the mean absolute difference between the two scores of a repeat, in points."""
    return float(_losses(pairs, "repeat").abs().mean())


def _losses(pairs: pd.DataFrame, *kinds: str) -> pd.Series:
    return pairs.loc[pairs["item_type"].isin(kinds), "loss"]


EXERCISES: dict[str, Exercise] = {
    "minutes": Value(
        right=minutes,
        mistakes=(
            Mistake(
                answer=lambda ratings, you, seconds: len(ratings) * seconds / 60,
                hint="This is the work of the whole class. How many rows are yours?",
            ),
            Mistake(
                answer=lambda ratings, you, seconds: minutes(ratings[ratings["item_type"] == "system"], you, seconds),
                hint="You left out the second showings. Nobody told you which they were, and they took as long.",
            ),
            Mistake(
                answer=lambda ratings, you, seconds: 60 * minutes(ratings, you, seconds),
                hint="These are seconds. How many of them are a minute?",
            ),
            Mistake(
                answer=lambda ratings, you, seconds: minutes(ratings, you, seconds) / 60,
                hint="These are hours. Minutes are asked for.",
            ),
            Mistake(
                answer=lambda ratings, you, seconds: int((ratings["annotator"] == you).sum()),
                hint="This is how many judgements you made. How long does one take?",
            ),
        ),
        otherwise="Two steps: the rows whose annotator is you, then seconds for each, in minutes.",
        start="Begin with the rows of `ratings` that are yours.",
        well="A campaign of a thousand segments and five systems takes this many times over: time is what it costs.",
    ),
    "most_disputed": Value(
        right=lambda table: table.std(axis=1).idxmax(),
        names=lambda table: table.index,
        mistakes=(
            Mistake(
                answer=lambda table: table.std(axis=1).idxmin(),
                hint="On this one you agree most. Did you sort the wrong way round?",
            ),
            Mistake(
                answer=lambda table: table.mean(axis=1).idxmin(),
                hint="This one has the lowest mean. People can agree that something is bad.",
            ),
            Mistake(
                answer=lambda table: (table.max(axis=1) - table.min(axis=1)).idxmax(),
                hint="This one has the widest range, which looks at two people only. The standard deviation asks all.",
            ),
            Mistake(
                answer=lambda table: table.std(axis=0).idxmax(),
                hint="This is a person: you went along the columns. An item is a row (axis=1).",
            ),
        ),
        otherwise="Compute the standard deviation of each row, and take the name of the row with the largest. "
        "A row that only one of you judged has none (nan).",
        start="Begin with the standard deviation of each row.",
        well="Large scatter on one item is seldom carelessness: look at what each of you was looking for.",
    ),
    "noticed": Value(
        right=noticed,
        mistakes=(
            Mistake(
                answer=lambda pairs: float((_losses(pairs, "degraded", "repeat") > 0).mean()),
                hint="You counted repeats as well. Nothing was broken in those.",
            ),
            Mistake(
                answer=lambda pairs: float((_losses(pairs, "degraded") < 0).mean()),
                hint="This is how often the degraded copy scored higher. A loss is positive where it scored lower.",
            ),
            Mistake(
                answer=lambda pairs: int((_losses(pairs, "degraded") > 0).sum()),
                hint="This is a number of copies. Which share of all degraded copies is it?",
            ),
            Mistake(
                answer=lambda pairs: float(_losses(pairs, "degraded").mean()),
                hint="This is the mean loss in points. How often was there a loss at all?",
            ),
        ),
        otherwise="Take the rows whose item_type is degraded. In which share of them is the loss above 0?",
        start="Begin with the rows of `pairs` whose item_type is degraded.",
        well="Campaigns leave out people who do not see degraded texts; a single unnoticed copy may be bad luck.",
    ),
    "unsteadiness": Value(
        right=unsteadiness,
        mistakes=(
            Mistake(
                answer=lambda pairs: float(_losses(pairs, "repeat").mean()),
                hint="Differences up and down cancel here. Somebody 20 points off both ways would look steady.",
            ),
            Mistake(
                answer=lambda pairs: float(_losses(pairs, "repeat", "degraded").abs().mean()),
                hint="You included degraded copies, whose text had changed. A repeat shows the same text again.",
            ),
            Mistake(
                answer=lambda pairs: float(np.sqrt((_losses(pairs, "repeat") ** 2).mean())),
                hint="This is the root of the mean square, in which large differences weigh more. Take plain sizes.",
            ),
            Mistake(
                answer=lambda pairs: float(_losses(pairs, "repeat").abs().max()),
                hint="This is the largest difference. What is it on average?",
            ),
        ),
        otherwise="Take the rows whose item_type is repeat. How large is the difference on average, up or down?",
        start="Begin with the rows of `pairs` whose item_type is repeat.",
        well="Who is unsteady cannot agree with others either, so this bounds what agreement can be.",
    ),
    "order": Value(
        right=lambda: "B",
        names=lambda: "ABCD",
        mistakes=(
            Mistake(
                answer=lambda: "A",
                hint="Scores of one person stay alike in any order: lesson 3 has what makes them dependent.",
            ),
            Mistake(
                answer=lambda: "C",
                hint="That is handy in a classroom. Campaigns whose annotators never meet do it too, for what reason?",
            ),
            Mistake(
                answer=lambda: "D",
                hint="No formula for a mean or a kappa mentions an order. Think of the first text and of the last one.",
            ),
        ),
        otherwise="Give one of the letters A, B, C or D, in quotation marks.",
        well="What cannot be avoided is dealt out by chance, so that it falls on all systems alike.",
    ),
}
