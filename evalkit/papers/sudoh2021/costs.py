"""Count what missed critical errors cost against false alarms, and find the threshold that costs least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import CRITICAL, KEY
from evalkit.stats.inference import column_means, interval, resample
from evalkit.stats.terms import join_names

#: What it costs to let everything pass, or to check everything: the better of the two is what a model has to beat.
NO_MODEL = "no model"
#: Shares of true alarms that are asked for.
PRECISIONS = (0.5, 0.6, 0.7, 0.8, 0.9)


def risk(predictions: pd.DataFrame, *, critical: Sequence[str] = CRITICAL) -> pd.Series:
    """Return the probability that a translation has one of the critical labels.

    >>> risk(pd.DataFrame({"Unrelated": [0.1], "Contradiction": [0.2], "Serious": [0.3]})).round(9).tolist()
    [0.6]
    """
    return predictions[list(critical)].sum(axis=1).rename("risk")


def cost(wrong: ArrayLike, flagged: ArrayLike, *, missed_cost: float) -> float:
    """Return the mean cost of a translation: ``missed_cost`` for each error let pass, 1 for a false alarm.

    wrong: whether a translation has a critical error; flagged: whether it is held back.

    >>> cost([True, True, False, False], [True, False, True, False], missed_cost=10)
    2.75
    """
    wrong, flagged = np.asarray(wrong, bool), np.asarray(flagged, bool)
    return float(missed_cost * (wrong & ~flagged).mean() + (~wrong & flagged).mean())


def threshold(values: ArrayLike, wrong: ArrayLike, *, missed_cost: float) -> float:
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
    total = missed_cost * missed + alarms
    best = len(total) - 1 - int(np.argmin(total[::-1]))
    return float(np.append(distinct, np.inf)[best]) if best else -np.inf


@dataclass(frozen=True)
class Trial:
    """Signals of danger, on development rows and on test rows, and which of these truly hold a critical error.

    values: name -> (development, test), higher means riskier. wrong: (development, test). sentence: of test rows, which
    are drawn together in a bootstrap, because one sentence's translations are alike.
    """

    values: Mapping[str, tuple[ArrayLike, ArrayLike]]
    wrong: tuple[ArrayLike, ArrayLike]
    sentence: ArrayLike


def trial(predictions: pd.DataFrame, likeness: pd.DataFrame, *, critical: Sequence[str] = CRITICAL) -> Trial:
    """Set up three signals of critical errors: a model's risk, DA, and chrF, of which low values are dangerous.

    predictions: of one model of adequacy, as ``classify.predict`` gives them. likeness: ``KEY`` and chrF. critical:
    labels that count as critical errors.
    """
    rows = predictions[predictions["true"].notna()].merge(likeness, on=KEY)
    sides = [rows[rows["split"] == split] for split in ("dev", "test")]
    values = {
        rows["model"].iloc[0]: tuple(risk(side, critical=critical) for side in sides),
        "DA": tuple(-side["z"] for side in sides),
        "chrF": tuple(-side["chrF"] for side in sides),
    }
    return Trial(values, tuple(side["true"].isin(critical) for side in sides), sides[1]["sentence"])


def curve(trial: Trial, *, missed_costs: Sequence[float], resamples: int = 500, seed: int = 7) -> pd.DataFrame:
    """Return what each signal costs on test rows, its threshold chosen on development rows, for each missed_cost.

    A false alarm costs 1. Returns signal, missed_cost, threshold (missing where nothing is flagged or all is), flagged
    (share), recall and precision of critical ones, cost (per translation), relative (to the better of flagging all and
    none, as chosen on development rows; "no model" is that choice itself), cost_low and cost_high (95 %, the threshold
    held).
    """
    learned, tested = (np.asarray(side, bool) for side in trial.wrong)
    everything = {NO_MODEL: (np.zeros(len(learned)), np.zeros(len(tested)))} | dict(trial.values)
    rows, paid = [], []
    for missed_cost in missed_costs:
        for name, (known, asked) in everything.items():
            found = threshold(known, learned, missed_cost=missed_cost)
            flagged = np.asarray(asked, float) >= found
            paid.append(missed_cost * (tested & ~flagged) + (~tested & flagged))
            spent = cost(tested, flagged, missed_cost=missed_cost)
            rows.append((name, float(missed_cost), *_shown(found, flagged, tested), spent))
    columns = ["signal", "missed_cost", "threshold", "flagged", "recall", "precision", "cost"]
    table = pd.DataFrame(rows, columns=columns)
    base = table[table["signal"] == NO_MODEL].set_index("missed_cost")["cost"]
    table["relative"] = table["cost"] / table["missed_cost"].map(base).replace(0, np.nan)
    each = np.array(paid, float).T
    draws = resample(column_means(each), trial.sentence, resamples=resamples, seed=seed)
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
    return f"{join_names(less)} {'cost' if len(less) > 1 else 'costs'} less than {plain}"


def recall_at_precision(trial: Trial, *, resamples: int = 500, seed: int = 7) -> pd.DataFrame:
    """Return how many critical errors each signal finds if a given share of what it flags must be critical.

    Wanted are the precisions in ``PRECISIONS``.
    The threshold is the lowest that reaches the precision on development rows; what it then reaches on test rows is
    given beside it. Returns signal, wanted, threshold, precision, recall, flagged (shares of test rows); where no
    threshold reaches the precision it is missing, and nothing is flagged. recall_low, recall_high: 95 %.
    """
    learned, tested = (np.asarray(side, bool) for side in trial.wrong)
    rows, found_ones = [], []
    for name, (known, asked) in trial.values.items():
        known = np.asarray(known, float)
        order = np.argsort(-known, kind="stable")
        hits = np.cumsum(learned[order]) / np.arange(1, len(order) + 1)
        last = np.append(np.diff(known[order]) != 0, True)  # rows of one value are flagged together
        for wanted in PRECISIONS:
            reached = np.flatnonzero((hits >= wanted) & last)
            found = float(known[order][reached[-1]]) if len(reached) else np.inf
            flagged = np.asarray(asked, float) >= found
            found_ones.append(flagged & tested)
            rows.append((name, wanted, *_shown(found, flagged, tested)))
    table = pd.DataFrame(rows, columns=["signal", "wanted", "threshold", "flagged", "recall", "precision"])
    table = table[["signal", "wanted", "threshold", "precision", "recall", "flagged"]]
    if tested.any():
        both = np.array(found_ones, float).T
        draws = resample(
            lambda counts: counts @ both / np.maximum(counts @ tested.astype(float), 1)[:, None],
            trial.sentence,
            resamples=resamples,
            seed=seed,
        )
        table["recall_low"], table["recall_high"] = interval(draws)
    return table


def of_confusion(confused: pd.DataFrame, *, missed_cost: float) -> pd.DataFrame:
    """Return what models cost that flag what they label critical, from their confusion matrices.

    confused: dimension, model, true, predicted, count. This also serves matrices that are only printed. Returns
    dimension, model, n, critical (share truly so), recall, precision, missed, false_alarms (counts), cost (per
    translation) and relative (to the better of flagging all and none on the same rows).
    """
    found = []
    for (dimension, model), rows in confused.groupby(["dimension", "model"], sort=False):
        true, said = rows["true"].isin(CRITICAL), rows["predicted"].isin(CRITICAL)
        hit, missed, alarm = (int(rows["count"][mask].sum()) for mask in (true & said, true & ~said, ~true & said))
        n, occurring = int(rows["count"].sum()), hit + missed
        paid = (missed_cost * missed + alarm) / n
        base = min(missed_cost * occurring, n - occurring) / n
        found.append(
            {
                "dimension": dimension,
                "model": model,
                "n": n,
                "critical": occurring / n,
                "recall": hit / occurring if occurring else np.nan,
                "precision": hit / (hit + alarm) if hit + alarm else np.nan,
                "missed": missed,
                "false_alarms": alarm,
                "cost": paid,
                "relative": paid / base if base else np.nan,
            }
        )
    return pd.DataFrame(found)


def _shown(found: float, flagged: np.ndarray, tested: np.ndarray) -> tuple[float, float, float, float]:
    """Return a threshold (missing where it is none), the share flagged, recall and precision."""
    hits = (flagged & tested).sum()
    recall = hits / tested.sum() if tested.any() else np.nan
    precision = hits / flagged.sum() if flagged.any() else np.nan
    return found if np.isfinite(found) else np.nan, flagged.mean(), recall, precision


def _checked(values: ArrayLike, wrong: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    values, wrong = np.asarray(values, float), np.asarray(wrong, bool)
    if not len(values) or len(values) != len(wrong) or np.isnan(values).any():
        raise DataError("A threshold needs as many values as outcomes, at least one. Leave rows without a value out.")
    return values, wrong
