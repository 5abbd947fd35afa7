"""Each annotator's bias and gain, and how strict each is, by a mixed-effects model of who judged what.

Score y by annotator a of segment t translated by system k:  y - μ = b_a + g_a (β_k + u_t + e),  with u ~ N(0, σ_u²),
e ~ N(0, σ²), b ~ N(0, σ_b²), log g ~ N(0, τ²) with mean 0 over annotators and no gain below 0.02; β is fixed and μ the
pair's mean. With all gains 1 this is the linear mixed model with crossed random intercepts, fitted by restricted
maximum likelihood (REML).

EM for the variances; Henderson's mixed-model equations for the effects, segments eliminated first because they only
meet annotators and systems, never each other; each gain by Newton's method on its expected penalised log-likelihood.
All of this needs only counts and sums by segment, annotator and system, so that a step costs the same however many
judgements there are. (statsmodels' MixedLM holds a matrix of judgements × judgements; tests hold the two together.)
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


class _Sums(NamedTuple):
    """Counts and sums of scores: segments × groups, systems × groups, and squares by group.

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
    """Hold one language pair's fit: mean score, the groups' biases, variances and log gains, steps taken, sums."""

    level: float
    bias: np.ndarray
    state: State
    steps: int
    sums: _Sums


class _Solved(NamedTuple):
    """Hold the solution of the mixed-model equations.

    effects: of systems, then groups; u: of segments. inverse: of the equations of the former, segments eliminated;
    scaled: what of these falls on each segment, over its own diagonal element (``own``). right, right_u: right sides.
    """

    effects: np.ndarray
    u: np.ndarray
    inverse: np.ndarray
    scaled: sparse.csr_array
    own: np.ndarray
    right: np.ndarray
    right_u: np.ndarray


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
    use, by = with_pair(ratings), list(by)
    use = use[use["item_type"].isin(item_types)] if item_types else use
    if use.empty:
        raise DataError(f"No {' or '.join(item_types or ())} items are there to fit a mixed model to.")
    groups, parts = [], []
    for pair, part in use.groupby("pair", sort=True):
        group, keys = part.groupby(by, sort=True).ngroup().to_numpy(), part[by].drop_duplicates().sort_values(by)
        if len(keys) < 2:
            raise DataError(f"{pair}: a mixed model of biases needs two groups. Choose another method for this pair.")
        kind = pd.factorize(part["system"].where(~part["item_type"].isin(_OWN_KIND), "item type " + part["item_type"]))[
            0
        ]
        segment, scores = part.groupby(["doc", "segment"]).ngroup().to_numpy(), part["score"].to_numpy(float)
        try:
            fit = estimate(scores, segment, group, kind, gain=gain, tolerance=tolerance, steps=steps)
        except DataError as problem:
            raise DataError(f"{pair}: {problem}") from problem
        own = {"judgements": np.bincount(group), "bias": fit.bias, "gain": np.exp(fit.state.log_gain)}
        groups.append(keys.assign(pair=pair, level=fit.level, **own)[["pair", *by, "level", *own]])
        sds = np.sqrt([*fit.state[:3], fit.state.gains * gain])
        names = ["noise", "segment", "bias", "log gain"]
        parts.append(pd.DataFrame({"pair": pair, "part": names, "sd": sds, "steps": fit.steps}))
    return MixedEffects(pd.concat(groups, ignore_index=True), pd.concat(parts, ignore_index=True), tuple(by))


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
            return Fit(level, moments.bias, state, taken, sums)
        if len(trail) == 3:
            trail = [_further(*trail)]
            state = state._replace(**dict(zip(_VARIANCES, np.exp(trail[0]), strict=True)))
    raise DataError(f"The mixed model still moves after {steps} steps. Allow more, or use another method.")


def _sums(y: np.ndarray, segment: np.ndarray, group: np.ndarray, system: np.ndarray) -> _Sums:
    one = np.ones(len(y))

    def table(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> sparse.csr_array:
        return sparse.coo_array((values, (rows, columns))).tocsr()  # adds up what falls on one cell

    count_sg, count_sk = table(one, segment, group), table(one, segment, system)
    cross = sparse.hstack([count_sk, count_sg]).tocsr()
    row = np.repeat(np.arange(cross.shape[0]), np.diff(cross.indptr))
    by_kind = (table(values, system, group).toarray() for values in (one, y))
    count_kg, total_kg = by_kind
    squares = np.bincount(group, y**2)
    return _Sums(count_sg, cross, row, count_sk.sum(axis=1), count_kg, table(y, segment, group), total_kg, squares)


def _further(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """Extrapolate two steps of each log variance to where shrinking ones would end, at most 99 last steps on."""
    last = third - second
    rate = np.divide(last, second - first, out=np.zeros_like(last), where=second != first)
    rate = np.where((rate > 0) & (rate < 1), np.minimum(rate, 0.99), 0)
    return third + np.clip(last * rate / (1 - rate), -1.5, 1.5)


def _solve(sums: _Sums, state: State) -> _Solved:
    """Solve the mixed-model equations for given variances and gains. Source: Henderson 1975."""
    systems, gain = len(sums.count_kg), np.exp(state.log_gain)
    cells = sums.cross.data * np.concatenate([np.ones(systems), 1 / gain])[sums.cross.indices]
    own = sums.count_s + state.noise / state.segments  # the segments' diagonal
    cross, scaled = _weighted(sums.cross, cells), _weighted(sums.cross, (1 / own)[sums.row] * cells)
    group_diagonal = sums.count_kg.sum(axis=0) / gain**2 + state.noise / state.biases
    inner = np.diag(np.concatenate([sums.count_kg.sum(axis=1), group_diagonal]))
    inner[:systems, systems:] = sums.count_kg / gain
    inner[systems:, :systems] = inner[:systems, systems:].T
    inverse = np.linalg.inv(inner - (cross.T @ scaled).toarray())
    right_u = sums.total_sg @ (1 / gain)
    right = np.concatenate([sums.total_kg @ (1 / gain), sums.total_kg.sum(axis=0) / gain**2])
    effects = inverse @ (right - scaled.T @ right_u)
    return _Solved(effects, right_u / own - scaled @ effects, inverse, scaled, own, right, right_u)


def _expect(sums: _Sums, state: State) -> _Moments:
    """Take expectations of what the variances and gains follow from."""
    found, (systems, groups), gain = _solve(sums, state), sums.count_kg.shape, np.exp(state.log_gain)
    ratio_u, ratio_b = state.noise / state.segments, state.noise / state.biases
    u, beta, bias, n_g = found.u, found.effects[:systems], found.effects[systems:], sums.count_kg.sum(axis=0)
    spread = found.scaled @ found.inverse  # minus the segments' covariance with systems and groups
    beside = spread[sums.row, sums.cross.indices]  # of the cells with judgements
    var_u = 1 / found.own + np.bincount(sums.row, found.scaled.data * beside, minlength=len(u))
    var_b = np.diag(found.inverse)[systems:]
    # residual sum of squares, from y'y - 2 y'fit + fit'fit
    fitted = found.right_u @ u + found.right @ found.effects
    penalty = ratio_u * u @ u + ratio_b * bias @ bias
    residual = (sums.squares / gain**2).sum() - fitted - penalty
    free = len(u) + len(found.effects) - ratio_u * var_u.sum() - ratio_b * var_b.sum()
    shared = (sums.count_kg * found.inverse[:systems, systems:]).sum(axis=0)
    shared = shared - np.bincount(sums.cross.indices, sums.cross.data * beside, minlength=systems + groups)[systems:]
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


@dataclass(frozen=True, eq=False)
class Strictness:
    """The strictness of annotators, as a linear function of their judgements.

    rows: the places of the judgements it was learned from. kind, who, segment: numbers of what each of them judged, of
    its annotator and of its segment. people: annotators' names. levels: means of the kinds; bias: points that
    annotators are above the average one, shrunk towards 0. solved, shrunk: what makes them of judgements (``inverse``
    and ``scaled`` of ``_Solved``).
    """

    rows: np.ndarray
    kind: np.ndarray
    who: np.ndarray
    segment: np.ndarray
    people: pd.Index
    levels: np.ndarray
    bias: np.ndarray
    solved: np.ndarray
    shrunk: sparse.csr_array

    def weights(self, shares: np.ndarray) -> np.ndarray:
        """Return how many points each judgement adds to weighted sums of biases; shares: (annotators, sums)."""
        kinds = len(self.levels)
        ways = self.solved[:, kinds:] @ shares
        return ways[self.kind] + ways[kinds + self.who] - (self.shrunk @ ways)[self.segment]

    def of(self, annotators: pd.Series) -> np.ndarray:
        """Return the bias of each row's annotator; 0 for annotators that nothing is known of."""
        places = self.people.get_indexer(pd.Index(annotators))
        return np.where(places < 0, 0.0, self.bias[places])


def estimate_strictness(
    scores: np.ndarray, kind: pd.Series, annotator: pd.Series, segment: np.ndarray, rows: np.ndarray
) -> Strictness | None:
    """Learn annotators' strictness from their judgements; None where one annotator, or one score, is all there is.

    kind: the system of each judgement, or what else was judged, such as calibration items. segment: a number each.
    Unlike z-scores, which centre every annotator on what they happened to judge, the linear mixed model (all gains 1)
    splits an annotator's level into systems, segments and strictness. In 52,200 simulated campaigns z-scores were never
    better, and where annotators judged mostly one or two systems they turned the order round in most.
    Source: Henderson 1975; Knowles & Lo 2024, section 4.3, on why not z.  Caveat: where lenient people judged the
    better systems on purpose, part of that stays, as strictness is shrunk towards none.

    >>> one = pd.Series(list("xyxyxy")), pd.Series(list("aabbbb")), np.array([0, 0, 1, 1, 2, 2]), np.arange(6)
    >>> estimate_strictness(np.array([90.0, 80, 71, 60, 69, 60]), *one).bias.round(1).tolist()
    [10.0, -10.0]
    """
    if annotator.nunique() < 2 or not np.ptp(scores):
        return None
    codes, kinds = pd.factorize(kind, sort=True)
    who, people = pd.factorize(annotator, sort=True)
    fit = estimate(scores, segment, who, codes, gain=False, tolerance=1e-5, steps=5000)
    found = _solve(fit.sums, fit.state)
    levels, bias = np.split(found.effects, [len(kinds)])
    return Strictness(rows, codes, who, segment, people, levels + fit.level, bias, found.inverse, found.scaled)
