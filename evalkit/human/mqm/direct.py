"""Compare scores that annotators gave directly with the errors that they marked beforehand (error span annotation)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from evalkit.data.schemas import with_pair
from evalkit.human.mqm.scores import judgements, segment_scores
from evalkit.stats import inference, weighted

#: The scheme of error span annotation.
ESA = "Kocmi et al. 2024 (ESA)"
SEVERITIES = ("minor", "major")


def marks_against_scores(
    ratings: pd.DataFrame,
    spans: pd.DataFrame,
    *,
    resamples: int = 200,
    seed: int = 7,
) -> pd.DataFrame:
    """Correlate a score made of the marked errors with the annotator's own: a row per language pair.

    ratings: judgements, each under names of its own (drop second showings first). spans: the errors of these.
    Returns pair, judgements, unmarked (the share of them without errors), kendall_b, low, high, pearson, pearson_low,
    pearson_high: percentile intervals of a bootstrap over source segments. NaN where a side does not vary.
    Caveat: one person marked and scored, marks first, so this is no agreement between two people; and judgements
    without errors tie on one side, which keeps tau-b below 1 however well the others agree.
    """
    scored = segment_scores(ratings, spans, ESA)
    rows = []
    for pair, part in _pairs(ratings.reset_index(drop=True).assign(made=scored["mqm"], errors=scored["errors"])):
        x, y = part["made"].to_numpy(), part["score"].to_numpy()
        found = _estimated(partial(_correlations, x, y), part, resamples, seed)
        rows.append((pair, len(part), float(part["errors"].eq(0).mean()), *found.ravel()))
    bounds = ["kendall_b", "low", "high", "pearson", "pearson_low", "pearson_high"]
    return pd.DataFrame(rows, columns=["pair", "judgements", "unmarked", *bounds])


def severity_costs(
    ratings: pd.DataFrame,
    spans: pd.DataFrame,
    *,
    resamples: int = 200,
    seed: int = 7,
) -> pd.DataFrame:
    """Estimate how many points of the annotator's own score one error of each severity costs, by language pair.

    ratings, spans: as for ``marks_against_scores``.
    Returns pair, severity, errors (how many there are); each, low, high: least squares of the score on the numbers of
    errors of each of ``SEVERITIES``, so what one more costs with the others held fixed; alone, alone_low, alone_high:
    how much lower judgements with exactly one error, of this severity, lie than judgements without any. Intervals as
    for ``marks_against_scores``. NaN where the judgements do not tell.
    Caveat: for ``each``, an error costs the same however many there are; where ``alone`` is much larger, that is not
    so. Translations without errors differ from others in length and difficulty, too.
    """
    judgement = judgements(ratings, spans)
    kind = spans["severity"].astype("str").to_numpy()
    numbers = {name: np.bincount(judgement[kind == name], minlength=len(ratings)) for name in SEVERITIES}
    counted = ratings.reset_index(drop=True).assign(
        errors=np.bincount(judgement, minlength=len(ratings)), **{f"of {name}": each for name, each in numbers.items()}
    )
    rows = []
    for pair, part in _pairs(counted):
        own, marked = part["score"].to_numpy(), part["errors"].to_numpy()
        of_kind = part[[f"of {name}" for name in SEVERITIES]].to_numpy(float)
        found = _estimated(partial(_costs, own, of_kind, marked), part, resamples, seed)
        rows += [
            (pair, name, int(of_kind[:, k].sum()), *found[k], *found[len(SEVERITIES) + k])
            for k, name in enumerate(SEVERITIES)
        ]
    bounds = ["each", "low", "high", "alone", "alone_low", "alone_high"]
    return pd.DataFrame(rows, columns=["pair", "severity", "errors", *bounds])


def _pairs(ratings: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Split judgements by language pair, and say in ``source`` which of them share a source segment."""
    for pair, part in with_pair(ratings).groupby("pair", sort=True):
        yield pair, part.assign(source=part.groupby(["doc", "segment"], observed=True).ngroup())


def _estimated(
    statistic: Callable[[np.ndarray], np.ndarray], part: pd.DataFrame, resamples: int, seed: int
) -> np.ndarray:
    """Return estimate, low and high of each value of a statistic of counts, (values, 3)."""
    estimate = statistic(np.ones((1, len(part))))[0]
    if not resamples:
        return np.column_stack([estimate, np.full((len(estimate), 2), np.nan)])
    draws = inference.resample(statistic, part["source"], resamples=resamples, seed=seed)
    return np.column_stack([estimate, *inference.interval(draws)])


def _correlations(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute tau-b and Pearson's r, (batch, 2)."""
    x, y = x - x.mean(), y - y.mean()
    pearson = weighted.pearson(counts @ weighted.moments(x, y).T)
    return np.column_stack([weighted.kendall_b_of_values(x, y, counts), pearson])


def _costs(own: np.ndarray, of_kind: np.ndarray, marked: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute what each error costs, then what a single one does, by severity: (batch, 2 * severities)."""
    looks = np.column_stack([np.ones(len(own)), of_kind])
    size = looks.shape[1]
    squares = counts @ (looks[:, :, None] * looks[:, None, :]).reshape(len(own), -1)
    slopes = np.linalg.pinv(squares.reshape(-1, size, size)) @ (counts @ (looks * own[:, None]))[:, :, None]
    slopes = np.where(np.diagonal(squares.reshape(-1, size, size), axis1=1, axis2=2) > 0, slopes[:, :, 0], np.nan)
    clean = _mean(own, marked == 0, counts)
    alone = [clean - _mean(own, (marked == 1) & (of_kind[:, k] == 1), counts) for k in range(of_kind.shape[1])]
    return np.column_stack([-slopes[:, 1:], *alone])


def _mean(values: np.ndarray, picked: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Average the picked values under each weighting; NaN where none is drawn."""
    n = counts @ picked
    return np.divide(counts @ (values * picked), n, out=np.full(len(n), np.nan), where=n > 0)
