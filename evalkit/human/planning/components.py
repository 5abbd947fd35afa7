"""Variance components: how much of the scatter of scores is the segments', the annotators', and noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.stats import inference

#: What scatters in kinds of data: component -> the columns whose levels share it. ``residual`` is always there.
#: calibration: all annotators judge the same items, each item mostly by one system. campaign: systems translate the
#: same segments, each judged by few annotators. numbered: the same, where a segment's number tells it from all others
#: and documents are named anew for each system, as in Mechanical Turk's files. unnamed: nobody knows who judged.
#: block: what one annotator scores in one go, a document by a system.
LAYOUTS: dict[str, dict[str, list[str]]] = {
    "calibration": {
        "document": ["system", "doc"], "item": ITEM,
        "annotator": ["annotator"], "block": ["annotator", "system", "doc"],
    },
    "campaign": {
        "system": ["system"], "segment": ["doc", "segment"], "item": ITEM,
        "annotator": ["annotator"], "block": ["annotator", "system", "doc"],
    },
    "numbered": {
        "system": ["system"], "segment": ["segment"], "item": ["system", "segment"],
        "annotator": ["annotator"], "block": ["annotator", "system", "doc"],
    },
    "unnamed": {"item": ITEM},
}  # fmt: skip

#: What people call the components, and their standard errors.
NAMES = {
    "document": "documents", "item": "segments", "annotator": "annotators' levels", "block": "annotator by document",
    "residual": "noise", "annotator_se": "standard error of levels", "taste": "variance of liking",
    "taste_se": "standard error",
}  # fmt: skip
#: How differently annotators like a system. Can be told from how they take to a document only where they judged several
#: documents of one system.
TASTE = {"taste": ["annotator", "system"]}

#: Segments of the calibration set that ``workloads`` and ``equal_work`` weigh (Knowles & Lo 2024).
SET_SIZE = 100
#: The components that a comparison of two systems needs, in squared points.
NEEDED = ("document", "item", "annotator", "block", "residual")


def henderson(y: ArrayLike, factors: Mapping[str, ArrayLike]) -> dict[str, float]:
    r"""Estimate variance components of crossed or nested random factors by Henderson's method 1, for any imbalance.

    y: (n,) scores. factors: name -> (n,) labels of the levels. The model is

    .. math:: y = \mu + \sum_c u_c + \epsilon, \quad \operatorname{var}(u_c) = V_c

    For each factor f the uncorrected sum of squares :math:`T_f = \sum_l y_{l\cdot}^2 / n_l` has the expectation
    :math:`n\mu^2 + \sum_c V_c \sum_l \sum_j n_{lj}^2 / n_l`, :math:`n_{lj}` counting the scores in level l of f and
    level j of c; these linear equations are solved for all V at once. Returns component -> variance (squared units
    of the score), ``residual`` last. On balanced data these are the analysis-of-variance estimates.
    An estimate may be negative: the data then hold no sign of that component. Raises DataError where two factors
    cannot be distinguished. Source: Henderson 1953; Searle, Casella & McCulloch 1992, section 5.3.

    >>> henderson([1, 2, 3, 5, 6, 7], {"annotator": ["a", "a", "a", "b", "b", "b"]})  # ms: 24 between, 1 within
    {'annotator': 7.666666666666667, 'residual': 1.0}
    """
    scores = np.asarray(y, float)
    scores = scores - scores.mean()  # leaves the variances alone, keeps the sums small
    codes = {"mean": np.zeros(len(scores), np.int64)}
    codes |= {name: pd.factorize(np.asarray(labels))[0].astype(np.int64) for name, labels in factors.items()}
    codes["residual"] = np.arange(len(scores))
    sums = np.array([(np.bincount(rows, scores) ** 2 / np.bincount(rows)).sum() for rows in codes.values()])
    expected = np.array([[_overlap(f, c) for c in codes.values()] for f in codes.values()])
    expected[:, 0] = len(scores)
    scaled = expected / np.linalg.norm(expected, axis=0)
    if np.linalg.cond(scaled) > 1e9:
        raise DataError(
            f"The components {', '.join(factors)} cannot be distinguished in these ratings. Leave one of them out, "
            "or collect a second judgement of some segments."
        )
    solved = np.linalg.solve(scaled, sums) / np.linalg.norm(expected, axis=0)
    return dict(zip([*factors, "residual"], solved[1:].tolist(), strict=True))


def _overlap(f: np.ndarray, c: np.ndarray) -> float:
    """Sum n_lj² / n_l over the levels l of f and j of c."""
    width = int(c.max()) + 1
    cells, counts = np.unique(f * width + c, return_counts=True)
    return float((counts**2 / np.bincount(f)[cells // width]).sum())


def components(ratings: pd.DataFrame, *, layout: str = "calibration", taste: bool = False) -> pd.DataFrame:
    """Estimate the variance components of each language pair from a pilot or an earlier campaign.

    layout: a name in ``LAYOUTS``. Only outputs of systems and calibration items count, and first showings only.
    taste: estimate also how differently annotators like systems (``TASTE``), which otherwise is part of ``block``;
    where it comes out negative, the others are as without it.
    Returns pair, judgements, annotators, items, block_length (median segments in a block), one column per component
    (squared points) and ``note``, which names components that came out negative (set to 0) or that the data cannot
    separate (missing; what they would hold is part of a finer component).
    """
    if layout not in LAYOUTS:
        raise DataError(f"layout={layout!r} is not known. Choose one of: {', '.join(LAYOUTS)}.")
    rows = []
    causes = LAYOUTS[layout] | (TASTE if taste else {})
    for pair, group in _counted(ratings):
        factors = _separable(pair, group, causes)
        found = _estimated(group["score"].to_numpy(), factors)
        negative = [name for name, value in found.items() if value < 0]
        absent = [name for name in causes if name not in found]
        notes = (("negative, set to 0", negative), ("not separable", absent))
        row = {"pair": pair, "judgements": len(group), "annotators": group["annotator"].nunique()}
        row |= {"items": group.groupby(LAYOUTS[layout]["item"]).ngroups}
        row |= {"block_length": float(group.groupby(["annotator", "system", "doc"]).size().median())}
        row |= {name: max(found.get(name, np.nan), 0.0) for name in [*causes, "residual"]}
        rows.append(row | {"note": "; ".join(f"{what}: {', '.join(names)}" for what, names in notes if names)})
    return pd.DataFrame(rows)


def _estimated(scores: np.ndarray, factors: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Estimate components; a taste below 0 is none, so the others may not make room for it."""
    found = henderson(scores, factors)
    if found.get("taste", 0.0) >= 0:
        return found
    return found | henderson(scores, {name: codes for name, codes in factors.items() if name != "taste"})


def _counted(ratings: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """Group what counts by language pair."""
    counted = with_pair(ratings[ratings["item_type"].isin(["system", "calibration"])])
    if counted.empty:
        raise DataError("These ratings hold no outputs of systems and no calibration items. Check item_type.")
    return counted.groupby("pair")


def _separable(pair: str, group: pd.DataFrame, columns: Mapping[str, list[str]]) -> dict[str, np.ndarray]:
    """Number the levels of the factors that differ from one another, from constants and from single judgements."""
    codes = {name: group.groupby(key, sort=False).ngroup().to_numpy() for name, key in columns.items()}
    levels = {name: int(labels.max()) + 1 for name, labels in codes.items()}
    apart = {name: labels for name, labels in codes.items() if 1 < levels[name] < len(group)}
    for name in ("taste", "block", "document", "segment"):
        others = [labels for other, labels in apart.items() if other != name]
        if name in apart and any(_same(apart[name], labels) for labels in others):
            del apart[name]
    if not apart:
        raise DataError(f"{pair}: nobody and nothing was judged twice, so noise cannot be told from the rest.")
    return apart


def _same(codes: np.ndarray, other: np.ndarray) -> bool:
    """Tell whether two numberings group the judgements alike."""
    return codes.max() == other.max() == len(np.unique(codes * (int(other.max()) + 1) + other)) - 1


def jackknife(ratings: pd.DataFrame, *, taste: bool = False) -> pd.DataFrame:
    """Estimate how sure the components are: standard errors by leaving out one annotator at a time.

    For the layout "calibration" of ``components``. Returns pair and one column per component (squared points).
    Source: Efron & Tibshirani 1993, ch. 11.
    Caveat: with a dozen annotators the standard errors themselves are rough.
    """
    rows = []
    for pair, group in _counted(ratings):
        factors = _separable(pair, group, LAYOUTS["calibration"] | (TASTE if taste else {}))
        scores, people = group["score"].to_numpy(), factors.get("annotator", np.zeros(1))
        count = int(people.max()) + 1
        if count < 3:
            raise DataError(f"{pair}: leaving out one annotator at a time needs three of them, and these are fewer.")
        without = pd.DataFrame(
            henderson(scores[stay], {name: labels[stay] for name, labels in factors.items()})
            for stay in (people != person for person in range(count))
        )
        rows.append({"pair": pair, **dict(zip(without, inference.jackknife_error(without)))})
    return pd.DataFrame(rows)


def variances(table: pd.DataFrame, pair: str, *, shared: float = 0.5, typed: Sequence[float] = ()) -> dict[str, float]:
    """Reduce one language pair's components to those that decide a comparison of two systems.

    table: the result of ``components``. Returns document and item (how differently a document, a segment suits two
    systems), annotator (levels), block, residual, in squared points. Where the data cannot separate source segments
    from what a system makes of them, the share ``shared`` (0 to 1) of the documents' and the items' variance is taken
    to be common to both systems. typed: these five in this order, to be taken instead of the table's. A table with
    the component taste adds that, 0 where it is missing.
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
    row = rows.iloc[0].drop(["pair", "note"]).astype(float).dropna()
    own = 1.0 if "segment" in row else 1 - shared
    parts = {name: float(own * row.get(name, 0.0)) for name in ("document", "item")}
    taste = ("taste",) if "taste" in table else ()
    return parts | {name: float(row.get(name, 0.0)) for name in ("annotator", "block", "residual", *taste)}
