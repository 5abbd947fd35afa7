"""Count what missed critical errors cost against false alarms, and find the threshold that costs least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import CRITICAL
from evalkit.stats.inference import interval, resample

#: What it costs to let everything pass, or to check everything: the better of the two is what a model has to beat.
NO_MODEL = "no model"


def risk(predictions: pd.DataFrame, *, critical: Sequence[str] = CRITICAL) -> pd.Series:
    """Return the probability that a translation has one of the critical labels.

    >>> risk(pd.DataFrame({"Unrelated": [0.1], "Contradiction": [0.2], "Serious": [0.3]})).round(9).tolist()
    [0.6]
    """
    return predictions[list(critical)].sum(axis=1).rename("risk")


def cost(wrong: ArrayLike, flagged: ArrayLike, *, missed_cost: float, alarm_cost: float = 1.0) -> float:
    """Return the mean cost of a translation: ``missed_cost`` for each error let pass, ``alarm_cost`` for a false alarm.

    wrong: whether a translation has a critical error; flagged: whether it is held back.

    >>> cost([True, True, False, False], [True, False, True, False], missed_cost=10)
    2.75
    """
    wrong, flagged = np.asarray(wrong, bool), np.asarray(flagged, bool)
    return float(missed_cost * (wrong & ~flagged).mean() + alarm_cost * (~wrong & flagged).mean())


def threshold(values: ArrayLike, wrong: ArrayLike, *, missed_cost: float, alarm_cost: float = 1.0) -> float:
    """Find the threshold that costs least if all values at or above it are flagged.

    values: higher means riskier. Returns a value, -inf (flag all) or inf (flag none); of equal costs the highest.

    >>> threshold([0.1, 0.4, 0.6, 0.9], [False, True, False, True], missed_cost=10)
    0.4
    >>> threshold([0.1, 0.4, 0.6, 0.9], [False, True, False, True], missed_cost=0.5)
    0.9
    """
    values, wrong = _checked(values, wrong)
    distinct, place = np.unique(values, return_inverse=True)
    missed = np.concatenate([[0], np.cumsum(np.bincount(place, wrong, minlength=len(distinct)))])
    alarms = np.concatenate([np.cumsum(np.bincount(place, ~wrong, minlength=len(distinct))[::-1])[::-1], [0]])
    total = missed_cost * missed + alarm_cost * alarms
    best = len(total) - 1 - int(np.argmin(total[::-1]))
    return float(np.append(distinct, np.inf)[best]) if best else -np.inf


def curve(
    values: Mapping[str, tuple[ArrayLike, ArrayLike]],
    wrong: tuple[ArrayLike, ArrayLike],
    *,
    missed_costs: Sequence[float] = (0.25, 0.5, 1, 2, 3, 5, 10, 20),
    sentence: ArrayLike | None = None,
    resamples: int = 0,
    seed: int = 7,
) -> pd.DataFrame:
    """Return what each signal costs on test rows, its threshold chosen on development rows, for each missed_cost.

    values: name -> (development, test), higher means riskier; wrong: (development, test), whether critical. A false
    alarm costs 1. Returns signal, missed_cost, threshold, flagged (share), recall and precision of critical ones, cost
    (per translation) and relative (to the better of flagging all and none, as chosen on development rows); for
    "no model" that choice itself. With resamples and ``sentence`` (of test rows), cost_low and cost_high are 95 %
    limits by a bootstrap over sentences, the threshold held.
    """
    learned, tested = (np.asarray(side, bool) for side in wrong)
    everything = {NO_MODEL: (np.zeros(len(learned)), np.zeros(len(tested)))} | dict(values)
    rows, flags = [], []
    for missed_cost in missed_costs:
        for name, (known, asked) in everything.items():
            found = threshold(known, learned, missed_cost=missed_cost)
            flagged = np.asarray(asked, float) >= found
            hits = (flagged & tested).sum()
            flags.append(missed_cost * (tested & ~flagged) + (~tested & flagged))
            rows.append(
                {
                    "signal": name, "missed_cost": float(missed_cost), "threshold": found, "flagged": flagged.mean(),
                    "recall": hits / tested.sum() if tested.any() else np.nan,
                    "precision": hits / flagged.sum() if flagged.any() else np.nan,
                    "cost": cost(tested, flagged, missed_cost=missed_cost),
                }
            )  # fmt: skip
    table = pd.DataFrame(rows)
    base = table[table["signal"] == NO_MODEL].set_index("missed_cost")["cost"]
    table["relative"] = table["cost"] / table["missed_cost"].map(base).replace(0, np.nan)
    if resamples and sentence is not None:
        each = np.array(flags, float).T
        draws = resample(_mean_of(each), sentence, resamples=resamples, seed=seed)
        table["cost_low"], table["cost_high"] = interval(draws)
    return table


def in_words(table: pd.DataFrame) -> str:
    """Say which signals cost less than the better of checking everything and checking nothing.

    table: rows of ``curve`` at one missed_cost.

    >>> rows = pd.DataFrame({"signal": [NO_MODEL, "DA", "chrF"], "flagged": [1.0, 0.9, 0.9], "relative": [1, 1.1, 0.9]})
    >>> in_words(rows), in_words(rows[:2])
    ('chrF costs less than checking everything', 'nothing tried (DA) costs less than checking everything')
    """
    base = table["signal"] == NO_MODEL
    plain = "checking everything" if table.loc[base, "flagged"].item() else "checking nothing"
    less = table[~base & (table["relative"] < 1)]["signal"].tolist()
    if not less:
        return f"nothing tried ({', '.join(table[~base]['signal'])}) costs less than {plain}"
    return f"{' and '.join(less)} {'cost' if len(less) > 1 else 'costs'} less than {plain}"


def recall_at_precision(
    values: Mapping[str, tuple[ArrayLike, ArrayLike]],
    wrong: tuple[ArrayLike, ArrayLike],
    *,
    precisions: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.9),
    sentence: ArrayLike | None = None,
    resamples: int = 0,
    seed: int = 7,
) -> pd.DataFrame:
    """Return how many critical errors each signal finds if a given share of what it flags must be critical.

    The threshold is the lowest that reaches the precision on development rows; what it then reaches on test rows is
    told beside it. Returns signal, wanted, threshold, precision, recall, flagged (shares of test rows); where no
    threshold reaches the precision nothing is flagged. With resamples, recall_low and recall_high as in ``curve``.
    """
    learned, tested = (np.asarray(side, bool) for side in wrong)
    rows, found_ones = [], []
    for name, (known, asked) in values.items():
        known = np.asarray(known, float)
        order = np.argsort(-known, kind="stable")
        hits = np.cumsum(learned[order]) / np.arange(1, len(order) + 1)
        last = np.append(np.diff(known[order]) != 0, True)  # rows of one value are flagged together
        for wanted in precisions:
            reached = np.flatnonzero((hits >= wanted) & last)
            found = float(known[order][reached[-1]]) if len(reached) else np.inf
            flagged = np.asarray(asked, float) >= found
            both = flagged & tested
            found_ones.append(both)
            rows.append(
                {
                    "signal": name, "wanted": wanted, "threshold": found,
                    "precision": both.sum() / flagged.sum() if flagged.any() else np.nan,
                    "recall": both.sum() / tested.sum() if tested.any() else np.nan, "flagged": flagged.mean(),
                }
            )  # fmt: skip
    table = pd.DataFrame(rows)
    if resamples and sentence is not None and tested.any():
        draws = resample(_recall_of(np.array(found_ones, float).T, tested), sentence, resamples=resamples, seed=seed)
        table["recall_low"], table["recall_high"] = interval(draws)
    return table


def of_confusion(
    confused: pd.DataFrame, *, missed_cost: float, critical: Sequence[str] = CRITICAL, alarm_cost: float = 1.0
) -> pd.DataFrame:
    """Return what models cost that flag what they label critical, from their confusion matrices.

    confused: dimension, model, true, predicted, count. This also serves matrices that are only printed. Returns
    dimension, model, n, critical (share truly so), recall, precision, missed, false_alarms (counts), cost (per
    translation) and relative (to the better of flagging all and none on the same rows).
    """
    found = []
    for (dimension, model), rows in confused.groupby(["dimension", "model"], sort=False):
        true, said = rows["true"].isin(critical), rows["predicted"].isin(critical)
        hit, missed, alarm = (int(rows["count"][mask].sum()) for mask in (true & said, true & ~said, ~true & said))
        n, occurring = int(rows["count"].sum()), hit + missed
        paid = (missed_cost * missed + alarm_cost * alarm) / n
        base = min(missed_cost * occurring, alarm_cost * (n - occurring)) / n
        found.append(
            {
                "dimension": dimension, "model": model, "n": n, "critical": occurring / n,
                "recall": hit / occurring if occurring else np.nan,
                "precision": hit / (hit + alarm) if hit + alarm else np.nan, "missed": missed, "false_alarms": alarm,
                "cost": paid, "relative": paid / base if base else np.nan,
            }
        )  # fmt: skip
    return pd.DataFrame(found)


def _mean_of(each: np.ndarray):
    return lambda counts: counts @ each / counts.sum(axis=1, keepdims=True)


def _recall_of(both: np.ndarray, tested: np.ndarray):
    return lambda counts: counts @ both / np.maximum(counts @ tested.astype(float), 1)[:, None]


def _checked(values: ArrayLike, wrong: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    values, wrong = np.asarray(values, float), np.asarray(wrong, bool)
    if not len(values) or len(values) != len(wrong) or np.isnan(values).any():
        raise DataError("A threshold needs as many values as outcomes, at least one. Leave rows without a value out.")
    return values, wrong
