"""Rankings of comparisons without a model of strengths: average win rates, and Elo's points."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.human.preferences.cells import Cells, count


def win_rates(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return system, ``won`` (share of comparisons, ties half), ``average`` (mean over opponents) and n; best first.

    Caveat: who meets weak opponents only wins often. ``average`` mends unequal numbers of meetings, not unequal
    opponents; strengths mend both.

    >>> answers = [("A", "B", "a"), ("A", "B", "tie"), ("B", "C", "a")]
    >>> table = pd.DataFrame(answers, columns=["system_a", "system_b", "preference"])
    >>> win_rates(table).round(3).to_numpy().tolist()
    [['A', 0.75, 0.75, 2], ['B', 0.5, 0.625, 3], ['C', 0.0, 0.0, 1]]
    """
    return rates(count(comparisons))


def rates(cells: Cells) -> pd.DataFrame:
    """Return what ``win_rates`` returns, of counted comparisons."""
    wins = cells.wins()
    met = wins + wins.T
    average = np.divide(wins, met, out=np.zeros_like(wins), where=met > 0).sum(axis=1) / (met > 0).sum(axis=1)
    table = pd.DataFrame(
        {
            "system": cells.systems,
            "won": wins.sum(axis=1) / met.sum(axis=1),
            "average": average,
            "n": met.sum(axis=1).astype(int),
        }
    )
    return table.sort_values(["average", "system"], ascending=[False, True], ignore_index=True)


def elo(
    comparisons: pd.DataFrame, *, k: float = 4.0, start: float = 1000.0, orders: int = 100, seed: int = 7
) -> pd.DataFrame:
    """Return system, ``points`` and ``spread``: Elo's points after all comparisons, mean and sd over orders of them.

    k: points at stake in a comparison; 400 points are odds of ten to one. orders: how often the comparisons are
    shuffled; 0 takes them once, in the table's order, and spread is then 0. Source: Elo 1978. Caveat: points depend on
    the order, for late comparisons count most, and on k; they move from the start only as far as there are comparisons.

    >>> table = pd.DataFrame({"system_a": ["A"], "system_b": ["B"], "preference": ["a"]})
    >>> elo(table, orders=0).to_numpy().tolist()
    [['A', 1002.0, 0.0], ['B', 998.0, 0.0]]
    """
    systems = sorted({*comparisons["system_a"], *comparisons["system_b"]})
    number = {name: place for place, name in enumerate(systems)}
    a, b = (comparisons[f"system_{side}"].map(number).to_numpy(int) for side in "ab")
    worth = comparisons["preference"].map({"a": 1.0, "b": 0.0, "tie": 0.5}).to_numpy(float)
    rng, runs = np.random.default_rng(seed), np.arange(max(orders, 1))
    order = np.stack([rng.permutation(len(a)) for _ in runs]) if orders else np.arange(len(a))[None]
    points = np.full((len(runs), len(systems)), float(start))
    for place in order.T:
        one, other = a[place], b[place]
        gap = points[runs, other] - points[runs, one]
        change = k * (worth[place] - 1 / (1 + 10 ** (gap / 400)))
        points[runs, one] += change
        points[runs, other] -= change
    table = pd.DataFrame({"system": systems, "points": points.mean(axis=0), "spread": points.std(axis=0)})
    return table.sort_values(["points", "system"], ascending=[False, True], ignore_index=True)
