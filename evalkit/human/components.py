r"""Variance components: how much of the scatter of scores is the segments', the annotators', and noise.

``equate`` is the package's estimator of variance components, of any factors, crossed or nested, whatever else is held
fixed; ``estimate`` asks it for what a comparison of two systems needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.stats import inference

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
#: What people call the components, and their standard errors.
NAMES = {
    "document": "documents",
    "item": "segments",
    "annotator": "annotators' levels",
    "block": "annotator by document",
    "residual": "noise",
    "annotator_se": "standard error of levels",
    "taste": "variance of liking",
    "taste_se": "standard error",
}
#: Segments of the calibration set that ``workloads`` and ``equal_work`` weigh (Knowles & Lo 2024).
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
    if layout not in LAYOUTS:
        raise DataError(f"layout={layout!r} is not known. Choose one of: {', '.join(LAYOUTS)}.")
    rows = []
    for pair, group in _counted(ratings):
        causes, segments = causes_of(group, layout) | (TASTE if taste else {}), _shared(group, layout)
        found = _estimated(pair, group, causes, segments, Equations.no_negative)
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


def jackknife(ratings: pd.DataFrame, *, taste: bool = False) -> pd.DataFrame:
    """Estimate how sure the components are: standard errors by leaving out one annotator at a time.

    For the layout "calibration" of ``estimate``; estimates below 0 stay as they are.
    Returns pair and one column per component (squared points). Source: Efron & Tibshirani 1993, ch. 11.
    Caveat: with a dozen annotators the standard errors themselves are rough.
    """
    rows = []
    causes = LAYOUTS["calibration"] | (TASTE if taste else {})
    for pair, group in _counted(ratings):
        people = group["annotator"].unique()
        if len(people) < 3:
            raise DataError(f"{pair}: leaving out one annotator at a time needs three of them, and these are fewer.")
        found = []
        for person in people:
            stay = group[group["annotator"] != person]
            found.append(_estimated(pair, stay, causes, _shared(stay, "calibration"), Equations.solve))
        without = pd.DataFrame(found).reindex(columns=[*causes, "residual"]).dropna(axis=1)
        rows.append({"pair": pair, **dict(zip(without, inference.jackknife_error(without), strict=True))})
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
        if len(typed) != len(NEEDED) or min(typed) < 0:
            raise DataError(f"typed={list(typed)} must be five variances of 0 or more: {', '.join(NEEDED)}.")
        return dict(zip(NEEDED, map(float, typed), strict=True))
    rows = table[table["pair"] == pair]
    if rows.empty:
        raise DataError(f"No components of {pair!r}. There are {', '.join(table['pair'])}.")
    if not 0 <= shared <= 1:
        raise DataError(f"shared={shared:g} is no share. Give a number from 0 to 1.")
    row = rows.iloc[0]
    common = row.get("shared", pd.notna(row.get("segment")))
    own = {} if common else {"document": 1 - shared, "item": 1 - shared}
    names = [*NEEDED, *(("taste",) if "taste" in table else ())]
    found = {name: own.get(name, 1.0) * float(np.nan_to_num(row.get(name, 0.0))) for name in names}
    return found | {"annotator": float(row.get("annotator", 0.0))}


def contrast_variance(
    ratings: pd.DataFrame, variances: Mapping[str, float], *, first: str, second: str, layout: str = "campaign"
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
    pair: str,
    group: pd.DataFrame,
    causes: Mapping[str, list[str]],
    segments: pd.Series | None,
    solve: Callable[[Equations, list[str]], dict[str, float]],
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
    found = solve(equations, names)
    more = [(people, fixed)] if people else []
    more += [(people | {"segment": segments.to_numpy()}, fixed[:1])] if segments is not None else []
    for levels, held in more:
        equations, wanted = equate(scores, others | levels, fixed=held), [*names, *levels]
        if equations.tells(wanted):
            found[wanted[-1]] = solve(equations, wanted)[wanted[-1]]
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

    sums, most, parts = [], [], []
    for own in map(_indicator, factors.values()):
        size, leaning = own.sum(axis=0), own.T @ within
        weight = np.ones(len(size)) if by_size else 1 / size
        part = _Part(own, weight, (own.T @ swept).tocsr(), (own.T @ shares).tocsr(), leaning, leaning @ inverse)
        parts.append(part)
        sums.append(float(weight @ (own.T @ rest) ** 2))
        most.append(float((size**2).sum()))
    traces = [part.diagonal() for part in parts]
    expected = np.zeros((len(parts) + 1,) * 2)
    for a, one in enumerate(parts):
        expected[a] = [*(one.square(other) for other in parts), one.weight @ traces[a]]
        expected[-1, a] = traces[a].sum()
    expected[-1, -1] = len(score) - swept.shape[1] - np.linalg.matrix_rank(inverse, hermitian=True)
    sums.append(float(rest @ rest))
    return Equations(tuple(factors), np.array(sums), expected, np.array([*most, float(len(score))]))


@dataclass(frozen=True, eq=False)
class _Part:
    """What is needed of a factor's Z to know Z' P Z, where P takes out the swept factor, then the other fixed ones.

    own: Z. weight: of its levels. crossed: its counts with the swept factor; shares: these over that one's sizes.
    leaning: its sums of the other fixed columns; turned: these times the inverse of the others' cross products.
    """

    own: sparse.csr_array
    weight: np.ndarray
    crossed: sparse.csr_array
    shares: sparse.csr_array
    leaning: np.ndarray
    turned: np.ndarray

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of Z' P Z."""
        common = np.asarray(self.crossed.multiply(self.shares) @ np.ones(self.crossed.shape[1]))
        return self.own.sum(axis=0) - common - (self.turned * self.leaning).sum(axis=1)

    def square(self, other: _Part) -> float:
        """Return the weighted sum of squares of Z' P Z for two factors; but for a part of low rank it is sparse."""
        root = np.sqrt(self.weight)
        met = sparse.diags_array(root) @ (self.own.T @ other.own - self.crossed @ other.shares.T)
        turned = root[:, None] * self.turned
        low_rank = ((turned.T @ turned) * (other.leaning.T @ other.leaning)).sum()
        return float(met.power(2).sum() - 2 * ((met @ other.leaning) * turned).sum() + low_rank)


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
