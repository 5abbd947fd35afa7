r"""Variance components: how much of the scatter of scores is the segments', the annotators', and noise.

``equate`` is the package's estimator of variance components, of any factors, crossed or nested, whatever else is held
fixed; ``estimate`` asks it for what a comparison of two systems needs.

``without_bias`` takes each annotator's bias and gain out of scores, ``estimate_strictness`` tells how strict each is.

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair

_CAUSES = {
    "document": ["system", "doc"],
    "item": ITEM,
    "annotator": ["annotator"],
    "block": ["annotator", "system", "doc"],
}
#: What scatters in kinds of data: component -> the columns whose levels share it. ``residual`` is always there, and so
#: are systems and source segments, which are fixed where systems share them (see ``estimate``).
#: calibration: all annotators judge the same items, each item mostly by one system. campaign: systems translate the
#: same segments, each judged by few annotators. numbered: the same, where a segment's number tells it from all others
#: and documents are named anew for each system, as in Mechanical Turk's files. unnamed: nobody knows who judged.
#: document: how it suits a system. block: what one annotator scores in one go, a document by a system.
LAYOUTS: dict[str, dict[str, list[str]]] = {
    "calibration": _CAUSES,
    "campaign": _CAUSES,
    "numbered": _CAUSES | {"item": ["system", "segment"]},
    "unnamed": {"item": ITEM},
}
#: How differently annotators like a system. Can be told from how they take to a document only where they judged several
#: documents of one system.
TASTE = {"taste": ["annotator", "system"]}
#: The components that a comparison of two systems needs, in squared points.
NEEDED = ("document", "item", "annotator", "block", "residual")
#: Component -> its variance, squared points: what ``of_pair`` returns, and plans take.
Variances = Mapping[str, float]
#: What people call the components.
NAMES = {
    "document": "documents",
    "item": "segments",
    "annotator": "annotators' levels",
    "block": "annotator by document",
    "residual": "noise",
    "taste": "variance of liking",
}
#: Segments of the calibration set that ``calibration.workloads`` weighs (Knowles & Lo 2024).
SET_SIZE = 100


def estimate(ratings: pd.DataFrame, *, layout: str = "calibration", taste: bool = False) -> pd.DataFrame:
    """Estimate the variance components of each language pair from a pilot or an earlier campaign.

    layout: a name in ``LAYOUTS``. Only outputs of systems and calibration items count, and first showings only.
    taste: estimate also how differently annotators like systems (``TASTE``), which otherwise is part of ``block``.
    Systems, annotators and source segments that systems share are held fixed (``equate``): constants that are
    added to them leave every component but ``annotator`` as it is. A component that comes out negative is 0, and
    the others are as without it.
    Returns pair, judgements, annotators, items, block_length (median segments in a block), one column per component
    (squared points), segment (what systems have in common, documents included), shared (whether they share segments)
    and ``note``, which names components that came out negative (set to 0) or that the data cannot separate (missing;
    what they would hold is part of a finer component; annotator, where nobody judged what others judged, is unknown).
    """
    rows = []
    for pair, group in _counted(ratings):
        causes, segments = causes_of(group, layout) | (TASTE if taste else {}), _shared(group, layout)
        found = _estimated(pair, group, causes, segments)
        notes = {
            "negative, set to 0": [name for name in causes if found.get(name) == 0],
            "not separable": [name for name in causes if name not in found],
        }
        row = {
            "pair": pair,
            "judgements": len(group),
            "annotators": group["annotator"].nunique(),
            "items": group.groupby(causes["item"]).ngroups,
            "block_length": float(group.groupby(_CAUSES["block"]).size().median()),
        }
        row |= {name: found.get(name, np.nan) for name in [*causes, "residual", "segment"]}
        note = "; ".join(f"{what}: {', '.join(names)}" for what, names in notes.items() if names)
        rows.append(row | {"shared": segments is not None, "note": note})
    return pd.DataFrame(rows)


def of_pair(table: pd.DataFrame, pair: str, *, shared: float = 0.5, typed: Sequence[float] = ()) -> dict[str, float]:
    """Reduce one language pair's components to those that decide a comparison of two systems.

    table: the result of ``estimate``. Returns document and item (how differently a document, a segment suits two
    systems), annotator (levels; missing where the data cannot tell them), block, residual, in squared points. Where
    the data cannot separate source segments from what a system makes of them, the share ``shared`` (0 to 1) of the
    documents' and the items' variance is taken to be common to both systems. typed: these five in this order, to be
    taken instead of the table's. A table with the component taste adds that, 0 where it is missing.
    """
    if typed:
        return dict(zip(NEEDED, map(float, typed), strict=True))
    rows = table[table["pair"] == pair]
    if rows.empty:
        raise DataError(f"No components of {pair!r}. There are {', '.join(table['pair'])}.")
    row = rows.iloc[0]
    common = row.get("shared", pd.notna(row.get("segment")))
    own = {} if common else {"document": 1 - shared, "item": 1 - shared}
    names = [*NEEDED, *(("taste",) if "taste" in table else ())]
    found = {name: own.get(name, 1.0) * float(np.nan_to_num(row.get(name, 0.0))) for name in names}
    return found | {"annotator": float(row.get("annotator", 0.0))}


def contrast_variance(
    ratings: pd.DataFrame, variances: Variances, *, first: str, second: str, layout: str = "campaign"
) -> float:
    r"""Return the variance of the difference of two systems' mean scores, for who judged what in these ratings.

    A system's score is the mean of its segments' means. With the weight :math:`w_i` of a judgement in the difference
    (negative for the second system), and the levels l of each component c,

    .. math:: \operatorname{var} = \sum_c V_c \sum_l \Big(\sum_{i \in l} w_i\Big)^2 + V_{residual} \sum_i w_i^2

    so what two systems have in common cancels, and an annotator who judged much counts for more. ratings: judgements of
    one language pair, outputs of systems. variances: as ``of_pair`` returns them, squared points. layout: as
    in ``estimate``.
    Caveat: segments judged for one system only are taken to be as hard as the others.

    >>> two = pd.DataFrame({"system": ["A", "B"], "doc": "d", "segment": "1", "annotator": "p"})
    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0, "taste": 6.0}
    >>> contrast_variance(two, V, first="A", second="B")
    252.0
    """
    rows = ratings[ratings["system"].isin([first, second])]
    if rows["system"].nunique() < 2:
        raise DataError(f"There are no judgements of {first} and {second} both. Name two systems that were judged.")
    causes = causes_of(ratings, layout) | TASTE
    each = rows.groupby(causes["item"])["system"].transform("size").to_numpy(float)
    segments = rows.drop_duplicates(causes["item"])["system"].value_counts()
    weight = np.where(rows["system"] == first, 1.0, -1.0) / each / rows["system"].map(segments).to_numpy(float)
    total = variances["residual"] * float((weight**2).sum())
    for name in (name for name in causes if name in variances):
        levels = rows.groupby(causes[name], sort=False).ngroup().to_numpy()
        apart = float((np.bincount(levels, weight) ** 2).sum())
        total += variances[name] * apart if apart > 1e-12 else 0.0  # what cancels may be unknown
    if np.isnan(total):
        raise DataError(
            f"Nobody judged both {first} and {second}, or what others judged, so how strict people are cannot be told "
            "from how good systems are. Have several people judge both systems."
        )
    return total


def causes_of(ratings: pd.DataFrame, layout: str) -> dict[str, list[str]]:
    """Return a layout's causes for one language pair: a number tells no segment where systems share documents' names.

    >>> two = pd.DataFrame({"system": ["A", "B"], "doc": "d", "segment": "1"})
    >>> causes_of(two, "numbered") == LAYOUTS["campaign"], causes_of(two.assign(doc=["d", "e"]), "numbered")["item"]
    (True, ['system', 'segment'])
    """
    named = ratings.groupby("doc")["system"].nunique().gt(1).mean() > 0.5
    return LAYOUTS["campaign" if layout == "numbered" and named else layout]


def _shared(ratings: pd.DataFrame, layout: str) -> pd.Series | None:
    """Number the source segments of one language pair that systems share; None where they do not.

    In the layouts calibration and unnamed they count as shared where most of them have several systems' translations.
    """
    own = ratings.groupby(causes_of(ratings, layout)["item"][1:], sort=False)
    share = own["system"].nunique().gt(1).mean()
    return own.ngroup() if share > (0 if layout in ("campaign", "numbered") else 0.5) else None


def _counted(ratings: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """Group what counts by language pair."""
    counted = with_pair(ratings[ratings["item_type"].isin(["system", "calibration"])])
    if counted.empty:
        raise DataError("These ratings hold no outputs of systems and no calibration items. Check item_type.")
    return counted.groupby("pair")


def _estimated(
    pair: str, group: pd.DataFrame, causes: Mapping[str, list[str]], segments: pd.Series | None
) -> dict[str, float]:
    """Estimate what can be told: all but annotators' levels, annotators fixed; then these; then segments."""
    scores = group["score"].to_numpy(float)
    apart = _separable({name: group.groupby(key, sort=False).ngroup().to_numpy() for name, key in causes.items()})
    people = {name: codes for name, codes in apart.items() if name == "annotator"}
    others = {name: codes for name, codes in apart.items() if name not in people}
    fixed = [] if segments is None else [group["system"], segments]
    equations = equate(scores, others, fixed=[*fixed, *people.values()])
    if not apart or not equations.tells([]):
        raise DataError(f"{pair}: nobody and nothing was judged twice, so noise cannot be told from the rest.")
    names = _tellable(equations, list(others))
    found = equations.no_negative(names)
    more = [(people, fixed)] if people else []
    more += [(people | {"segment": segments.to_numpy()}, fixed[:1])] if segments is not None else []
    for levels, held in more:
        equations, wanted = equate(scores, others | levels, fixed=held), [*names, *levels]
        if equations.tells(wanted):
            found[wanted[-1]] = equations.no_negative(wanted)[wanted[-1]]
    return found


def _tellable(equations: Equations, names: list[str]) -> list[str]:
    """Leave out what cannot be told from the rest: taste rather than documents, these rather than blocks."""
    if equations.tells(names) or not names:
        return names
    order = [name for name in ("taste", "document", "block", "item") if name in names]
    fewer = [[other for other in names if other != name] for name in order]
    return next((kept for kept in fewer if equations.tells(kept)), None) or _tellable(equations, fewer[0])


def _separable(codes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Keep the factors that differ from one another, from constants and from single judgements."""
    levels = {name: int(labels.max()) + 1 for name, labels in codes.items()}
    apart = {name: labels for name, labels in codes.items() if 1 < levels[name] < len(labels)}

    def alike(name: str, other: str) -> bool:
        both = len(np.unique(apart[name] * levels[other] + apart[other]))
        return levels[name] == levels[other] == both

    for name in ("taste", "document", "block"):
        if name in apart and any(alike(name, other) for other in apart if other != name):
            del apart[name]
    return apart


@dataclass(frozen=True, eq=False)
class Equations:
    """What the sums of squares of some factors are, and what they would be for any variances (see ``equate``).

    sums: (factors,) observed, the single judgements last. expected: (factors, factors), by which component. most: what
    the expected squares would be at most, if what is fixed took nothing away.
    """

    names: tuple[str, ...]
    sums: np.ndarray
    expected: np.ndarray
    most: np.ndarray

    def tells(self, names: Sequence[str]) -> bool:
        """Say whether these components can be told from one another and from noise."""
        _, expected, most = self._part(names)
        own = np.diag(expected)
        scale = np.sqrt(np.where(own > 0, own, 1.0))
        return bool((own > 1e-9 * most).all() and np.linalg.cond(expected / np.outer(scale, scale)) < 1e9)

    def solve(self, names: Sequence[str]) -> dict[str, float]:
        """Estimate these components and ``residual``, as if there were no others; estimates may be negative."""
        if not self.tells(names):
            raise DataError(
                f"The components {', '.join(names)} cannot be distinguished in these judgements. Leave one of them "
                "out, or take a campaign in which several people judge several documents of each system."
            )
        sums, expected, _ = self._part(names)
        return dict(zip([*names, "residual"], np.linalg.solve(expected, sums).tolist(), strict=True))

    def no_negative(self, names: Sequence[str]) -> dict[str, float]:
        """Estimate these components; one that comes out negative is 0, and the others are as without it."""
        wanted = list(names)
        found = self.solve(wanted)
        while negative := [name for name in wanted if found[name] < 0]:
            wanted.remove(negative[-1])
            found = self.solve(wanted)
        return {name: max(found.get(name, 0.0), 0.0) for name in [*names, "residual"]}

    def _part(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = [*(self.names.index(name) for name in names), -1]
        return self.sums[rows], self.expected[np.ix_(rows, rows)], self.most[rows]


def equate(
    y: ArrayLike, factors: Mapping[str, ArrayLike], *, fixed: Sequence[ArrayLike] = (), by_size: bool = False
) -> Equations:
    r"""Equate sums of squares to their expectations, for components of any crossed or nested random factors.

    y: (n,) scores. factors: name -> (n,) labels of the levels. fixed: labels of factors whose levels are no sample:
    constants added to them leave all as it is. The model is :math:`y = X\beta + \sum_c Z_c u_c + e`, with the mean in X
    and :math:`\operatorname{var}(u_c) = V_c I`. With residuals r = P y, X taken out by least squares, and the sizes N_f
    of the levels (diagonal),

    .. math:: T_f = \lVert N_f^{-1/2} Z_f' r \rVert^2, \quad E\,T_f = \sum_c V_c \lVert N_f^{-1/2} Z_f' P Z_c \rVert^2

    for each factor and for the single judgements. On balanced data the solutions are the analysis-of-variance
    estimates; with nothing fixed but the mean this is Henderson's method 1. by_size: without :math:`N_f^{-1/2}`, so
    that levels count by the square of their size, as they do in the variance of a system's mean (MINQUE(0)): where long
    documents scatter less than short ones, as in MQM, the other overrates the variance of that mean.
    Source: Henderson 1953; Rao 1971; Searle, Casella & McCulloch 1992, sections 5.3 and 5.7.

    >>> levels = {"annotator": ["a", "a", "a", "b", "b", "b"]}  # mean squares: 24 between, 1 within
    >>> {name: round(v, 9) for name, v in equate([1, 2, 3, 5, 6, 7], levels).solve(["annotator"]).items()}
    {'annotator': 7.666666667, 'residual': 1.0}
    """
    score = np.asarray(y, float)
    swept, within, inverse = _fixed(fixed, len(score))
    shares = swept @ sparse.diags_array(1 / swept.sum(axis=0))
    rest = score - score.mean()  # less is lost by cancellation then
    rest = rest - swept @ (shares.T @ rest)
    rest = rest - within @ (inverse @ (within.T @ rest))

    parts = [_indicator(labels) for labels in factors.values()]
    every = sparse.hstack([*parts, sparse.csr_array((len(score), 0))]).tocsr()  # the levels of all factors
    which, size = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts]), every.sum(axis=0)
    weight = np.ones(len(size)) if by_size else 1 / size
    leaning, crossed, common = every.T @ within, (every.T @ swept).tocsr(), (every.T @ shares).tocsr()
    turned = leaning @ inverse
    # what Z' P Z is but for the part of low rank that ``within`` takes out, and its diagonal with that
    met = (every.T @ every - crossed @ common.T).tocsc()
    trace = met.diagonal() - (turned * leaning).sum(axis=1)
    low = weight[:, None] * turned
    outer = [low[which == factor].T @ turned[which == factor] for factor in range(len(parts))]
    expected = np.zeros((len(parts) + 1,) * 2)
    for factor in range(len(parts)):
        block, own = met[:, which == factor], leaning[which == factor]
        squares = weight * block.power(2).sum(axis=1) - 2 * ((block @ own) * low).sum(axis=1)
        inner = own.T @ own
        expected[:-1, factor] = np.bincount(which, squares) + [(one * inner).sum() for one in outer]
    expected[:-1, -1] = np.bincount(which, weight * trace)
    expected[-1, :-1] = np.bincount(which, trace)
    expected[-1, -1] = len(score) - swept.shape[1] - np.linalg.matrix_rank(inverse, hermitian=True)
    sums, most = np.bincount(which, weight * (every.T @ rest) ** 2), np.bincount(which, size**2)
    return Equations(tuple(factors), np.append(sums, rest @ rest), expected, np.append(most, len(score)))


def _fixed(fixed: Sequence[ArrayLike], size: int) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Return the factor that is swept by its levels' means, what that leaves of the others, and an inverse of these.

    The largest factor is swept where it has few judgements a level (else what it leaves of others would be dense).
    """
    held = sorted(map(_indicator, [*fixed] or [np.zeros(size)]), key=lambda own: own.shape[1])
    many = held[-1].shape[1] ** 2 > size
    swept = held.pop() if many else held[0][:, :0]
    others = sparse.hstack(held).tocsr() if held else swept[:, :0]
    means = swept @ sparse.diags_array(1 / swept.sum(axis=0))
    within = (others - swept @ (means.T @ others)).toarray()
    within[np.abs(within) < 1e-12] = 0  # what another factor holds already
    return swept, within, np.linalg.pinv(within.T @ within, rcond=1e-9, hermitian=True)


def _indicator(labels: ArrayLike) -> sparse.csr_array:
    """Return which level each judgement has, (judgements, levels) of 0 and 1."""
    codes = pd.factorize(np.asarray(labels))[0]
    shape = (len(codes), int(codes.max()) + 1)
    return sparse.csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=shape)


# Each annotator's bias and gain, and how strict each is, by a mixed-effects model of who judged what

#: Items that a system's name in the table does not describe: degraded copies, human translations.
_OWN_KIND = ("degraded", "reference")
_LEAST = float(np.log(0.02))  # least log gain: from one score throughout, nothing finite would follow
_EQUAL = 1e-4  # variance of log gains at and below which they count as equal, to 1 %
_VARIANCES = ("noise", "segments", "biases", "gains")
_SMALL = 1e-6  # variances below this share of the total count as none


class State(NamedTuple):
    """Variances (noise, segments, biases, log gains) and log gains."""

    noise: float
    segments: float
    biases: float
    gains: float
    log_gain: np.ndarray


class Fit(NamedTuple):
    """Hold one language pair's fit: mean score, the groups' biases, variances and log gains, sums."""

    level: float
    bias: np.ndarray
    state: State
    sums: _Sums

    def moved(self, scores: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Take bias and gain out of scores: μ + (score - μ - bias) / gain; NaN where the group's number is below 0."""
        out = (scores - self.level - self.bias[group]) / np.exp(self.state.log_gain)[group] + self.level
        return np.where(group < 0, np.nan, out)


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


def without_bias(ratings: pd.DataFrame, *, by: Sequence[str], used: np.ndarray) -> np.ndarray:
    """Take bias and gain of every group out of one language pair's scores; NaN for groups of which nothing is used.

    by: the columns that make a group: an annotator, or a HIT. used: which rows the fit is made of. Degraded items and
    references count as systems of their own.
    Raises DataError for a pair with a single group or without any spread, and where the fit does not come to an end.
    Caveats: a segment's translations by two systems share one u, so what is special to one translation counts as
    noise; gains multiply the noise too (as in z-scores), the variance of log gains is an empirical-Bayes estimate
    that errs on the small side, and the model knows no ends of the scale.
    """
    group, part = ratings.groupby(list(by), sort=True).ngroup().to_numpy(), ratings[used]
    code, names = pd.factorize(group[used], sort=True)
    if len(names) < 2:
        raise DataError("a mixed model of biases needs two groups. Choose another method for this language pair.")
    kind = part["system"].where(~part["item_type"].isin(_OWN_KIND), "item type " + part["item_type"])
    segment, scores = part.groupby(["doc", "segment"]).ngroup().to_numpy(), part["score"].to_numpy(float)
    fit = fit_mixed(scores, segment, code, pd.factorize(kind)[0])
    return fit.moved(ratings["score"].to_numpy(float), pd.Index(names).get_indexer(group))


def fit_mixed(
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

    gain=False keeps all gains at 1: a linear mixed model by exact REML. tolerance: largest change in the last step, of
    variances as a share of all variance, and of log gains. start: where to begin. Every third step sets out from where
    the two before it point to (Aitken's extrapolation). Raises DataError where nobody gave two different scores, and
    where ``steps`` do not suffice.

    >>> y, people = np.array([90.0, 62, 71, 99, 80, 77, 75, 50, 57, 88, 66, 60]), np.repeat([0, 1], 6)
    >>> fit_mixed(y, np.tile(range(6), 2), people, np.zeros(12, int), gain=False).bias.round(1).tolist()
    [6.9, -6.9]
    """
    level = float(scores.mean())
    sums = _Sums(scores - level, segment, group, system)
    within = sums.squares - sums.total_kg.sum(axis=0) ** 2 / sums.count_kg.sum(axis=0)
    if (gain and within.max() < 1e-9) or not np.ptp(scores):
        raise DataError("Nobody gave two different scores, so that there is no gain to estimate. Check the scores.")
    total = sums.squares.sum() / len(scores)
    state = start or State(total / 2, total / 4, total / 4, 0.01 if gain else _EQUAL, np.zeros(sums.count_kg.shape[1]))
    trail = [np.log(state[:4])]
    for _ in range(steps):
        bias, new = sums.step(state, _SMALL * total, gain=gain)
        trail.append(np.log(new[:4]))
        variances = np.abs(np.subtract(new[:3], state[:3])).max() / total
        moved = max(variances, abs(new.gains - state.gains), np.abs(new.log_gain - state.log_gain).max())
        state = new
        if moved < tolerance:
            return Fit(level, bias, state, sums)
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


class _Sums:
    """What the fit knows of one pair's scores: counts and sums by segment, system and group, and squares by group.

    ``cross`` counts segments × systems and groups, these beside each other; ``row`` is the segment of each cell of it.
    """

    def __init__(self, y: np.ndarray, segment: np.ndarray, group: np.ndarray, system: np.ndarray) -> None:
        def table(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> sparse.csr_array:
            return sparse.coo_array((values, (rows, columns))).tocsr()  # adds up what falls on one cell

        one = np.ones(len(y))
        self.count_sg, count_sk = table(one, segment, group), table(one, segment, system)
        self.cross = sparse.hstack([count_sk, self.count_sg]).tocsr()
        self.row = np.repeat(np.arange(self.cross.shape[0]), np.diff(self.cross.indptr))
        self.count_s, self.total_sg = count_sk.sum(axis=1), table(y, segment, group)
        self.count_kg, self.total_kg = (table(values, system, group).toarray() for values in (one, y))
        self.squares = np.bincount(group, y**2)

    def solve(self, state: State) -> _Solved:
        """Solve the mixed-model equations for given variances and gains. Source: Henderson 1975."""
        systems, gain = len(self.count_kg), np.exp(state.log_gain)
        cells = self.cross.data * np.concatenate([np.ones(systems), 1 / gain])[self.cross.indices]
        own = self.count_s + state.noise / state.segments  # the segments' diagonal
        cross, scaled = _weighted(self.cross, cells), _weighted(self.cross, (1 / own)[self.row] * cells)
        group_diagonal = self.count_kg.sum(axis=0) / gain**2 + state.noise / state.biases
        inner = np.diag(np.concatenate([self.count_kg.sum(axis=1), group_diagonal]))
        inner[:systems, systems:] = self.count_kg / gain
        inner[systems:, :systems] = inner[:systems, systems:].T
        inverse = np.linalg.inv(inner - (cross.T @ scaled).toarray())
        right_u = self.total_sg @ (1 / gain)
        right = np.concatenate([self.total_kg @ (1 / gain), self.total_kg.sum(axis=0) / gain**2])
        effects = inverse @ (right - scaled.T @ right_u)
        return _Solved(effects, right_u / own - scaled @ effects, inverse, scaled, own, right, right_u)

    def step(self, state: State, least: float, *, gain: bool) -> tuple[np.ndarray, State]:
        """Return the biases under this state, and the state that their expectations lead to: variances, then gains."""
        found, (systems, groups), gains = self.solve(state), self.count_kg.shape, np.exp(state.log_gain)
        ratio_u, ratio_b = state.noise / state.segments, state.noise / state.biases
        u, beta, bias, n_g = found.u, found.effects[:systems], found.effects[systems:], self.count_kg.sum(axis=0)
        spread = found.scaled @ found.inverse  # minus the segments' covariance with systems and groups
        beside = spread[self.row, self.cross.indices]  # of the cells with judgements
        var_u = 1 / found.own + np.bincount(self.row, found.scaled.data * beside, minlength=len(u))
        var_b = np.diag(found.inverse)[systems:]
        # residual sum of squares, from y'y - 2 y'fit + fit'fit
        fitted = found.right_u @ u + found.right @ found.effects
        residual = (self.squares / gains**2).sum() - fitted - ratio_u * u @ u - ratio_b * bias @ bias
        free = len(u) + len(found.effects) - ratio_u * var_u.sum() - ratio_b * var_b.sum()
        new = state._replace(
            noise=max((residual + state.noise * free) / n_g.sum(), least),
            segments=max(float(u @ u + state.noise * var_u.sum()) / len(u), least),
            biases=max(float(bias @ bias + state.noise * var_b.sum()) / groups, least),
        )
        if not gain:
            return bias, new
        shared = (self.count_kg * found.inverse[:systems, systems:]).sum(axis=0)
        crossed = np.bincount(self.cross.indices, self.cross.data * beside, minlength=systems + groups)[systems:]
        quality = self.count_kg.T @ beta + self.count_sg.T @ u
        # by group: sums of (y - b)², and of (y - b) times what the system and the segment are worth
        square = self.squares - 2 * bias * self.total_kg.sum(axis=0) + n_g * (bias**2 + state.noise * var_b)
        product = self.total_kg.T @ beta + self.total_sg.T @ u - bias * quality - state.noise * (shared - crossed)
        return bias, _gains(n_g, square, product, new)


def _weighted(table: sparse.csr_array, cells: np.ndarray) -> sparse.csr_array:
    """Put other values into the cells of a table; products with diagonal matrices take twenty times as long."""
    return sparse.csr_array((cells, table.indices, table.indptr), shape=table.shape)


def _gains(n: np.ndarray, squares: np.ndarray, products: np.ndarray, state: State) -> State:
    """Maximise the gains' expected penalised log-likelihood, log gains above the least one having mean 0."""
    v = state.log_gain
    for _ in range(20):
        square, product = squares * np.exp(-2 * v) / state.noise, products * np.exp(-v) / state.noise
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
    fit = fit_mixed(scores, segment, who, codes, gain=False, tolerance=1e-5, steps=5000)
    found = fit.sums.solve(fit.state)
    levels, bias = np.split(found.effects, [len(kinds)])
    return Strictness(rows, codes, who, segment, people, levels + fit.level, bias, found.inverse, found.scaled)
