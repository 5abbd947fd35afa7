"""Learning and fatigue: how time, scores and marks change along an account's task, and after a person's first one.

Tasks put documents into random order, and each account's task is another random part, so that neither the place in a
task nor the number of the account goes with quality but by chance. That chance is the same in all campaigns, which had
the same tasks: hold the length of the source and the model's score constant (``with_model``). People differ much and
are few: their own levels are taken out, and they are drawn anew for the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM
from evalkit.human.protocols.pull import MODEL
from evalkit.human.protocols.scores import drawn_units
from evalkit.stats.correlation import ratio
from evalkit.stats.widths import Part, redraw

#: What may change over time -> column of the judgements, and whether changes are in percent.
MEASURES = {
    "seconds": ("seconds", True),
    "score": ("score", False),
    "marks": ("errors", False),
    "suggestions kept": ("share_kept", False),
    "degraded copies noticed": ("noticed", False),
}
#: What changes are measured over.
EFFECTS = ("from the first to the last item of an account", "in later accounts, against the first")


def sessions(
    judged: pd.DataFrame, *, measures: Sequence[str] = tuple(MEASURES), resamples: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Estimate what changes along an account and from the first account of a person to later ones.

    judged: protocol, system, doc, segment, annotator, hit, item_type, started, position, and the columns of
    ``MEASURES``, those that are there: seconds (see ``effort.add_times``; missing and 0 are left out), score, errors,
    share_kept (see ``with_kept``), noticed (see ``attention.with_noticed``; of degraded copies, while the others are of
    undamaged translations). ``words`` (its logarithm) and ``model``, those that are there, are held constant.
    Returns protocol, measure, effect (see ``EFFECTS``), judgements, people (whose accounts tell), rising (people with a
    positive effect of their own), estimate, low, high: points of a score, marks a translation, share of suggestions or
    copies, and percent of the time.
    The model is least squares with a level for each person; both effects stand in it together. Intervals draw documents
    and people anew. Caveat: who has one account only says nothing about later ones; and with about ten people, the
    interval is rough.
    """
    rows = prepared(judged)
    parts = [
        _protocol(name, part, list(measures), resamples, seed)
        for name, part in rows.groupby("protocol", sort=False, observed=True)
    ]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def prepared(judged: pd.DataFrame) -> pd.DataFrame:
    """Add to judgements ``along`` (0 to 1, place in the account) and ``later`` (0 or 1).

    later: whether the account is another than the person's first, by its earliest judgement.

    >>> judged = pd.DataFrame({"protocol": "ESA", "annotator": "a", "hit": ["1", "1", "2"], "started": [5.0, 6, 9],
    ...                        "position": [0, 1, 0], "item_type": "system"})
    >>> prepared(judged)[["along", "later"]].values.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    if lacks := {"protocol", "annotator", "hit", "started", "position", "item_type"} - set(judged):
        raise DataError(f"The judgements lack {', '.join(sorted(lacks))}, which tell what came first.")
    account = judged.groupby(["protocol", "annotator", "hit"], observed=True)
    own = judged.assign(begun=account["started"].transform("min"), last=account["position"].transform("max"))
    first = own.groupby(["protocol", "annotator"], observed=True)["begun"].transform("min")
    along = own["position"] / own["last"].where(own["last"] > 0, 1)
    own = own.assign(along=along.astype(float), later=own["begun"].gt(first).astype(float))
    return own.drop(columns=["begun", "last"]).reset_index(drop=True)


def with_kept(judged: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """Add ``share_kept``, the share of suggestions that people kept of those known; missing where there are none.

    counts: the result of ``suggestions.counted``, which has least (suggestions) and kept for each judgement.
    """
    key = ["protocol", *ITEM, "hit", "item_type"]
    share = counts.assign(share_kept=counts["kept"] / counts["least"].where(counts["least"] > 0))
    plain = judged.astype(dict.fromkeys(key, "str"))
    found = plain[key].merge(share[[*key, "share_kept"]].astype(dict.fromkeys(key, "str")), on=key, how="left")
    return judged.assign(share_kept=found["share_kept"].to_numpy())


def with_model(judged: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Add ``model``, the model's score of the undamaged translation; released: scores as released."""
    model = released[released["protocol"].astype("str") == MODEL].astype(dict.fromkeys(ITEM, "str"))
    scores = model.drop_duplicates(ITEM).set_index(ITEM)["score"].rename("model")
    found = judged[ITEM].astype("str").join(scores, on=ITEM)["model"]
    return judged.assign(model=found.to_numpy())


def _protocol(name: str, part: pd.DataFrame, measures: list[str], resamples: int, seed: int) -> pd.DataFrame:
    """Estimate the effects on each measure that one protocol has."""
    rows = []
    for measure in measures:
        column, percent = MEASURES[measure]
        if column not in part or not part[column].notna().any():
            continue
        known, values = _values(part, column, percent)
        people = known["annotator"].astype("str").to_numpy()
        people = (people[:, None] == np.unique(people)).astype(float)
        statistic = partial(_effects, values, people)
        [drawn] = redraw([Part(statistic, drawn_units(known), len(known))], resamples=resamples, seed=seed)
        found = np.stack([drawn.estimate, *drawn.interval()], axis=1)
        alone = np.array([_effects(values, one[:, None], np.ones((1, len(known))))[0] for one in people.T])
        for number, effect in enumerate(EFFECTS):
            own = alone[np.isfinite(alone[:, number]), number]
            ends = [_percent(x) if percent else x for x in found[number]]
            rows.append((name, measure, effect, len(known), len(own), int((own > 1e-9).sum()), *ends))
    columns = ["protocol", "measure", "effect", "judgements", "people", "rising", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _values(part: pd.DataFrame, column: str, percent: bool) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the rows that have a value, and their columns outcome, along, later and what is held constant."""
    part = part[part["item_type"].eq("degraded") == (column == "noticed")]
    part = part.dropna(subset=[name for name in ("words", "model") if name in part])
    known = part[part[column].gt(0)] if percent else part.dropna(subset=column)
    outcome = np.log(known[column]) if percent else known[column].astype(float)
    columns = [outcome, known["along"], known["later"]]
    if "words" in known:
        columns.append(np.log(known["words"].astype(float)))
    if "model" in known:
        columns.append(known["model"])
    return known.reset_index(drop=True), np.stack([np.asarray(one, float) for one in columns], axis=1)


def _effects(values: np.ndarray, people: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the coefficients of along and later within people, (batch, 2); NaN where one does not vary within any.

    values: (rows, outcome, along, later, …). people: (rows, people), 1 for who judged; rows of nobody are left out.
    times: (batch, rows).
    """
    own = (values - values.mean(axis=0)) * people.max(axis=1, keepdims=True)
    size = own.shape[1]
    products = (own[:, :, None] * own[:, None]).reshape(len(own), -1)
    sums = (times @ (people[:, :, None] * own[:, None]).reshape(len(own), -1)).reshape(len(times), -1, size)
    means = np.nan_to_num(ratio(sums, (times @ people)[:, :, None]))
    return _solved((times @ products).reshape(-1, size, size) - np.swapaxes(sums, 1, 2) @ means)[:, :2]


def _solved(within: np.ndarray) -> np.ndarray:
    """Solve least squares from centred products, the outcome first, (batch, regressors); NaN where one does not vary.

    >>> _solved(np.array([[[9.0, 4, 0], [4, 2, 0], [0, 0, 0]]])).tolist()
    [[2.0, nan]]
    """
    left, right = within[:, 1:, 1:].copy(), within[:, 1:, :1]
    still = np.diagonal(left, axis1=1, axis2=2) <= 1e-9
    left += still[:, :, None] * np.eye(left.shape[1])
    alike = np.linalg.cond(left) > 1e10  # of regressors that go together, none has an effect of its own
    found = np.linalg.solve(np.where(alike[:, None, None], np.eye(left.shape[1]), left), right)[..., 0]
    return np.where(still | alike[:, None], np.nan, found)


def _percent(effect: float) -> float:
    """Turn a difference of logarithms into percent."""
    return float(100 * np.expm1(effect))
