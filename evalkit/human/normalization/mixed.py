"""Estimate each annotator's bias and gain by a mixed-effects model of who judged what.

Score y by annotator a of segment t translated by system k:  y - μ = b_a + g_a (β_k + u_t + e),  with u ~ N(0, σ_u²),
e ~ N(0, σ²), b ~ N(0, σ_b²), log g ~ N(0, τ²) with mean 0 over annotators and no gain below 0.02; β is fixed and μ the
pair's mean. With all gains 1 this is the linear mixed model with crossed random intercepts, fitted by restricted
maximum likelihood (REML).

EM for the variances; Henderson's mixed-model equations for the effects, segments eliminated first because they only
meet annotators and systems, never each other; each gain by Newton's method on its expected penalised log-likelihood.
All of this needs only counts and sums by segment, annotator and system, so that a step costs the same however many
judgements there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from evalkit import DataError
from evalkit.data.schemas import with_pair

#: Items that a system's name in the table does not describe: degraded copies, human translations.
_OWN_KIND = ("degraded", "reference")
_LEAST = float(np.log(0.02))  # least log gain: from one score throughout, nothing finite would follow
_EQUAL = 1e-4  # variance of log gains at and below which they count as equal, to 1 %
_VARIANCES = ("noise", "segments", "biases", "gains")
_SMALL = 1e-6  # variances below this share of the total count as none


class MixedEffects(NamedTuple):
    """Hold a fit: ``groups`` (pair, by, judgements, bias in points, gain), ``parts`` (pair, part, sd, steps)."""

    groups: pd.DataFrame
    parts: pd.DataFrame
    by: tuple[str, ...]

    def moved(self, scores: np.ndarray, ratings: pd.DataFrame) -> np.ndarray:
        """Take each bias and gain out of scores: μ + (score - μ - bias) / gain; NaN for groups not fitted."""
        keys = with_pair(ratings)[["pair", *self.by]]
        own = keys.merge(self.groups, on=["pair", *self.by], how="left")
        return ((scores - own["level"] - own["bias"]) / own["gain"] + own["level"]).to_numpy()


@dataclass(frozen=True)
class _Sums:
    """Counts and sums of scores: segments × groups, segments × systems, systems × groups, and squares by group.

    ``cross`` counts segments × systems and groups, these beside each other; ``row`` is the segment of each cell of it.
    """

    count_sg: sparse.csr_array
    cross: sparse.csr_array
    row: np.ndarray
    count_s: np.ndarray
    count_kg: np.ndarray
    total_sg: sparse.csr_array
    total_kg: np.ndarray
    squares: np.ndarray


class State(NamedTuple):
    """Variances (noise, segments, biases, log gains) and log gains."""

    noise: float
    segments: float
    biases: float
    gains: float
    log_gain: np.ndarray


class Fit(NamedTuple):
    """Hold one language pair's fit: mean score, the groups' biases, variances and log gains, steps taken."""

    level: float
    bias: np.ndarray
    state: State
    steps: int


class _Moments(NamedTuple):
    """Posterior means of effects, and the expected sums that the variances and gains follow from."""

    bias: np.ndarray
    noise: float
    segments: float
    biases: float
    square: np.ndarray  # by group: sum of (y - b)²
    product: np.ndarray  # by group: sum of (y - b) q


def mixed_effects(
    ratings: pd.DataFrame,
    *,
    by: Sequence[str] = ("annotator",),
    item_types: Sequence[str] | None = None,
    gain: bool = True,
    tolerance: float = 1e-6,
    steps: int = 1000,
) -> MixedEffects:
    """Fit bias and gain of every group, language pair by language pair.

    by: the columns that make a group: an annotator, or a HIT. item_types: what the fit uses; None: everything.
    Degraded items and references count as systems of their own. gain=False keeps all gains at 1: a linear mixed model
    by exact REML.
    tolerance: largest change in the last step, of variances as a share of all variance, and of log gains.
    Raises DataError for a pair with a single group or without any spread, and where ``steps`` do not suffice.
    Caveats: a segment's translations by two systems share one u, so what is special to one translation counts as
    noise; gains multiply the noise too (as in z-scores), the variance of log gains is an empirical-Bayes estimate
    that errs on the small side, and the model knows no ends of the scale.

    >>> frame = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "system": "s", "doc": "d", "item_type": "system",
    ...     "segment": list("123456") * 2, "annotator": ["lenient"] * 6 + ["strict"] * 6,
    ...     "score": [90.0, 62, 71, 99, 80, 77, 75, 50, 57, 88, 66, 60]})
    >>> mixed_effects(frame, gain=False).groups[["annotator", "bias"]].round(1).values.tolist()
    [['lenient', 6.9], ['strict', -6.9]]
    """
    use = with_pair(ratings)
    use = use[use["item_type"].isin(item_types)] if item_types else use
    if use.empty:
        raise DataError(f"No {' or '.join(item_types or ())} items are there to fit a mixed model to.")
    groups, parts = [], []
    for pair, part in use.groupby("pair", sort=True):
        who = part.groupby(list(by), sort=True)
        group, keys = who.ngroup().to_numpy(), part[list(by)].drop_duplicates().sort_values(list(by))
        kind = part["system"].where(~part["item_type"].isin(_OWN_KIND), "item type " + part["item_type"])
        segment = part.groupby(["doc", "segment"]).ngroup().to_numpy()
        if len(keys) < 2:
            raise DataError(f"{pair}: a mixed model of biases needs two groups. Choose another method for this pair.")
        try:
            fit = estimate(
                part["score"].to_numpy(float),
                segment,
                group,
                pd.factorize(kind)[0],
                gain=gain,
                tolerance=tolerance,
                steps=steps,
            )
        except DataError as problem:
            raise DataError(f"{pair}: {problem}") from problem
        own = {"judgements": np.bincount(group), "bias": fit.bias, "gain": np.exp(fit.state.log_gain)}
        groups.append(keys.assign(pair=pair, level=fit.level, **own)[["pair", *by, "level", *own]])
        sds = {
            "part": ["noise", "segment", "bias", "log gain"],
            "sd": np.sqrt([*fit.state[:3], fit.state.gains * gain]),
        }
        parts.append(pd.DataFrame({"pair": pair, **sds, "steps": fit.steps}))
    return MixedEffects(pd.concat(groups, ignore_index=True), pd.concat(parts, ignore_index=True), tuple(by))


def _sums(y: np.ndarray, segment: np.ndarray, group: np.ndarray, system: np.ndarray) -> _Sums:
    one = np.ones(len(y))

    def table(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> sparse.csr_array:
        return sparse.coo_array((values, (rows, columns))).tocsr()  # adds up what falls on one cell

    count_sg, count_sk = table(one, segment, group), table(one, segment, system)
    cross = sparse.hstack([count_sk, count_sg]).tocsr()
    row = np.repeat(np.arange(cross.shape[0]), np.diff(cross.indptr))
    return _Sums(
        count_sg,
        cross,
        row,
        count_sk.sum(axis=1),
        table(one, system, group).toarray(),
        table(y, segment, group),
        table(y, system, group).toarray(),
        np.bincount(group, y**2),
    )


def estimate(
    scores: np.ndarray,
    segment: np.ndarray,
    group: np.ndarray,
    system: np.ndarray,
    *,
    gain: bool = True,
    tolerance: float = 1e-6,
    steps: int = 1000,
    start: State | None = None,
) -> Fit:
    """Fit one language pair, a judgement an element; the codes of segments, groups and systems count from 0.

    start: where to begin. Every third step sets out from where the two before it point to (Aitken's extrapolation).
    """
    level = float(scores.mean())
    sums = _sums(scores - level, segment, group, system)
    within = sums.squares - sums.total_kg.sum(axis=0) ** 2 / sums.count_kg.sum(axis=0)
    if (gain and within.max() < 1e-9) or not np.ptp(scores):
        raise DataError("Nobody gave two different scores, so that there is no gain to estimate. Check the scores.")
    total = sums.squares.sum() / len(scores)
    state = start or State(total / 2, total / 4, total / 4, 0.01 if gain else _EQUAL, np.zeros(sums.count_kg.shape[1]))
    trail = [np.log(state[:4])]
    for taken in range(1, steps + 1):
        moments = _expect(sums, state)
        new = state._replace(**{name: max(getattr(moments, name), _SMALL * total) for name in _VARIANCES[:3]})
        new = _gains(sums, moments, new) if gain else new
        trail.append(np.log(new[:4]))
        variances = np.abs(np.subtract(new[:3], state[:3])).max() / total
        moved = max(variances, abs(new.gains - state.gains), np.abs(new.log_gain - state.log_gain).max())
        state = new
        if moved < tolerance:
            return Fit(level, moments.bias, state, taken)
        if len(trail) == 3:
            trail = [_further(*trail)]
            state = state._replace(**dict(zip(_VARIANCES, np.exp(trail[0]), strict=True)))
    raise DataError(f"The mixed model still moves after {steps} steps. Allow more, or use another method.")


def _further(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """Extrapolate two steps of each log variance to where shrinking ones would end, at most 99 last steps on."""
    last = third - second
    rate = np.divide(last, second - first, out=np.zeros_like(last), where=second != first)
    rate = np.where((rate > 0) & (rate < 1), np.minimum(rate, 0.99), 0)
    return third + np.clip(last * rate / (1 - rate), -1.5, 1.5)


def _expect(sums: _Sums, state: State) -> _Moments:
    """Solve the mixed-model equations for given variances and gains, and take expectations."""
    systems, groups = sums.count_kg.shape
    s = np.exp(state.log_gain)
    ratio_u, ratio_b = state.noise / state.segments, state.noise / state.biases
    n_g, n_k = sums.count_kg.sum(axis=0), sums.count_kg.sum(axis=1)
    cross = _weighted(sums.cross, sums.cross.data * np.concatenate([np.ones(systems), 1 / s])[sums.cross.indices])
    inner = np.diag(np.concatenate([n_k, n_g / s**2 + ratio_b]))
    inner[:systems, systems:] = sums.count_kg / s
    inner[systems:, :systems] = inner[:systems, systems:].T
    own = sums.count_s + ratio_u  # the segments' diagonal
    right_u = sums.total_sg @ (1 / s)
    right = np.concatenate([sums.total_kg @ (1 / s), sums.total_kg.sum(axis=0) / s**2])
    scaled = _weighted(cross, (1 / own)[sums.row] * cross.data)
    inverse = np.linalg.inv(inner - (cross.T @ scaled).toarray())
    effects = inverse @ (right - scaled.T @ right_u)
    spread = scaled @ inverse  # minus the segments' covariance with systems and groups
    u = right_u / own - scaled @ effects
    beta, bias = effects[:systems], effects[systems:]
    beside = spread[sums.row, cross.indices]  # of the cells with judgements
    var_u = 1 / own + np.bincount(sums.row, scaled.data * beside, minlength=len(own))
    var_b = np.diag(inverse)[systems:]
    # residual sum of squares, from y'y - 2 y'fit + fit'fit
    fitted = right_u @ u + right @ effects
    penalty = ratio_u * u @ u + ratio_b * bias @ bias
    residual = (sums.squares / s**2).sum() - fitted - penalty
    free = len(u) + len(effects) - ratio_u * var_u.sum() - ratio_b * var_b.sum()
    shared = (sums.count_kg * inverse[:systems, systems:]).sum(axis=0)
    shared = shared - np.bincount(cross.indices, sums.cross.data * beside, minlength=systems + groups)[systems:]
    quality = sums.count_kg.T @ beta + sums.count_sg.T @ u
    return _Moments(
        bias,
        noise=(residual + state.noise * free) / n_g.sum(),
        segments=float(u @ u + state.noise * var_u.sum()) / len(u),
        biases=float(bias @ bias + state.noise * var_b.sum()) / groups,
        square=sums.squares - 2 * bias * sums.total_kg.sum(axis=0) + n_g * (bias**2 + state.noise * var_b),
        product=sums.total_kg.T @ beta + sums.total_sg.T @ u - bias * quality - state.noise * shared,
    )


def _weighted(table: sparse.csr_array, cells: np.ndarray) -> sparse.csr_array:
    """Put other values into the cells of a table; products with diagonal matrices take twenty times as long."""
    return sparse.csr_array((cells, table.indices, table.indptr), shape=table.shape)


def _gains(sums: _Sums, moments: _Moments, state: State) -> State:
    """Maximise the gains' expected penalised log-likelihood, log gains above the least one having mean 0."""
    n, v = sums.count_kg.sum(axis=0), state.log_gain
    for _ in range(20):
        square, product = moments.square * np.exp(-2 * v) / state.noise, moments.product * np.exp(-v) / state.noise
        slope = square - product - n - v / state.gains
        curvature = np.maximum(2 * square - product, n) + 1 / state.gains
        free = (v > _LEAST) | (slope > 0)
        common = (slope / curvature)[free].sum() / (1 / curvature)[free].sum()  # Lagrange's multiplier
        step = np.where(free, (slope - common) / curvature, 0)
        v = np.maximum(v + step * min(1, 0.5 / max(np.abs(step).max(), 1e-12)), _LEAST)
        v = np.where(v > _LEAST, v - v[v > _LEAST].mean(), v)
        if np.abs(step).max() < 1e-9:
            break
    return state._replace(log_gain=v, gains=max(float((v**2 + 1 / curvature).mean()), _EQUAL))
