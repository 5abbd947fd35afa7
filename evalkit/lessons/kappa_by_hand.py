"""The exercises of the lesson "Kappa by hand, and why it misleads".

An agreement table counts items: its rows are the categories of one annotator, its columns those of the other.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from evalkit.lessons.checker import Exercise, Function, Made, Value
from evalkit.stats import agreement

HIGH, LOW = 0.9, 0.1  # what exercise "paradox" asks for: observed agreement at least, kappa at most
SITUATIONS = {"error type": "none", "one point, one point worse": "linear", "far misses are what hurts": "quadratic"}


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


_kappa = partial(coefficient, name="cohen_kappa")
_observed = partial(coefficient, name="percent_agreement")


def _expected(table: np.ndarray) -> float:
    """Return the chance agreement that kappa and observed agreement imply."""
    table = np.asarray(table)
    return float((table.sum(axis=1) / table.sum()) @ (table.sum(axis=0) / table.sum()))


def _weighted(table: np.ndarray, weights: np.ndarray) -> float:
    return coefficient(table, "cohen_kappa", "linear" if weights[0, 1] == 1 - 1 / (len(table) - 1) else "quadratic")


def _weighted_sum(table: np.ndarray, weights: np.ndarray) -> float:
    return float((weights * table).sum() / table.sum())


EXERCISES: dict[str, Exercise] = {
    "observed_agreement": Function(
        right=_observed,
        trials=_tables,
        mistakes={
            "number_of_items": lambda table: float(np.trace(table)),
            "divided_by_the_number": lambda table: float(np.trace(table) / len(table)),
            "how_often_they_disagree": lambda table: float(1 - np.trace(table) / table.sum()),
        },
    ),
    "chance_agreement": Function(
        right=_expected,
        trials=_tables,
        mistakes={
            "gave_all_categories": lambda table: 1 / len(table),
            "gave_both_annotators": lambda table: (_shares(items(table)) ** 2).sum(),
            "used_the_shares_of_one": lambda table: float(((table.sum(axis=1) / table.sum()) ** 2).sum()),
        },
    ),
    "kappa": Function(
        right=_kappa,
        trials=_tables,
        mistakes={
            "agreement_beyond_chance": lambda table: _observed(table) - _expected(table),
            "divided_by_chance_agreement": lambda table: (_observed(table) - _expected(table)) / _expected(table),
            "scott_pi": lambda table: coefficient(table, "scott_pi"),
        },
    ),
    "weighted_kappa": Function(
        right=_weighted,
        trials=_weighted_tables,
        mistakes={
            "weights_have_no_effect": lambda table, weights: _kappa(table),
            "weighted_observed_agreement": _weighted_sum,
            "weighed_what_was_observed": lambda table, weights: (
                (_weighted_sum(table, weights) - _expected(table)) / (1 - _expected(table))
            ),
        },
    ),
    "choose_weights": Value(
        right=lambda: SITUATIONS,
        names=lambda: agreement.WEIGHTS,
        mistakes={
            "error_types": lambda: SITUATIONS | {"error type": "quadratic"},
            "points": lambda: SITUATIONS | {"one point, one point worse": "quadratic"},
            "far_misses": lambda: SITUATIONS | {"far misses are what hurts": "linear"},
        },
    ),
    "paradox": Made(
        needs={
            "whole_numbers": lambda table: (
                np.shape(table) == (2, 2) and np.sum(table) == 100 and np.array_equal(table, np.abs(np.round(table)))
            ),
            "one_category": lambda table: _expected(np.asarray(table)) < 1,
            "off_the_diagonal": lambda table: _observed(np.asarray(table, dtype=int)) >= HIGH,
            "kappa_is_high": lambda table: _kappa(np.asarray(table, dtype=int)) <= LOW,
        },
    ),
    "effective_categories": Value(
        right=effective,
        mistakes={
            "counted_the_categories": lambda scores: len(_shares(scores)),
            "how_often_two_random": lambda scores: float((_shares(scores) ** 2).sum()),
        },
    ),
}
