"""Variance components: how much of the scatter of scores is the segments', the annotators', and noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.planning.squares import Equations, equate
from evalkit.stats import inference

_CAUSES = {
    "document": ["system", "doc"],
    "item": ITEM,
    "annotator": ["annotator"],
    "block": ["annotator", "system", "doc"],
}
#: What scatters in kinds of data: component -> the columns whose levels share it. ``residual`` is always there, and so
#: are systems and source segments, which are fixed where systems share them (see ``components``).
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
#: How differently annotators like a system. Can be told from how they take to a document only where they judged several
#: documents of one system.
TASTE = {"taste": ["annotator", "system"]}

#: Segments of the calibration set that ``workloads`` and ``equal_work`` weigh (Knowles & Lo 2024).
SET_SIZE = 100
#: The components that a comparison of two systems needs, in squared points.
NEEDED = ("document", "item", "annotator", "block", "residual")


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


def components(ratings: pd.DataFrame, *, layout: str = "calibration", taste: bool = False) -> pd.DataFrame:
    """Estimate the variance components of each language pair from a pilot or an earlier campaign.

    layout: a name in ``LAYOUTS``. Only outputs of systems and calibration items count, and first showings only.
    taste: estimate also how differently annotators like systems (``TASTE``), which otherwise is part of ``block``.
    Systems, annotators and source segments that systems share are held fixed (``squares.equate``): constants that are
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
        told = [name for name in causes if name in found]
        notes = (
            ("negative, set to 0", [name for name in told if not found[name]]),
            ("not separable", [name for name in causes if name not in found]),
        )
        row = {"pair": pair, "judgements": len(group), "annotators": group["annotator"].nunique()}
        row |= {"items": group.groupby(causes["item"]).ngroups}
        row |= {"block_length": float(group.groupby(["annotator", "system", "doc"]).size().median())}
        row |= {name: found.get(name, np.nan) for name in [*causes, "residual", "segment"]}
        row |= {"shared": segments is not None}
        rows.append(row | {"note": "; ".join(f"{what}: {', '.join(names)}" for what, names in notes if names)})
    return pd.DataFrame(rows)


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
    fixed = [] if segments is None else [group["system"], segments]
    people = {name: codes for name, codes in apart.items() if name == "annotator"}
    others = {name: codes for name, codes in apart.items() if name not in people}
    equations = equate(scores, others, fixed=[*fixed, *people.values()])
    if not apart or not equations.tells([]):
        raise DataError(f"{pair}: nobody and nothing was judged twice, so noise cannot be told from the rest.")
    found = solve(equations, told := _told(equations, list(others)))
    more = [(people, fixed)] if people else []
    more += [(people | {"segment": segments.to_numpy()}, fixed[:1])] if segments is not None else []
    for levels, held in more:
        equations = equate(scores, others | levels, fixed=held)
        names = [*told, *levels]
        if equations.tells(names):
            found[names[-1]] = solve(equations, names)[names[-1]]
    return found


def _told(equations: Equations, names: list[str]) -> list[str]:
    """Leave out what cannot be told from the rest: taste rather than documents, these rather than blocks."""
    if equations.tells(names) or not names:
        return names
    order = [name for name in ("taste", "document", "block", "item") if name in names]
    fewer = [[other for other in names if other != name] for name in order]
    return next((kept for kept in fewer if equations.tells(kept)), None) or _told(equations, fewer[0])


def _counted(ratings: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """Group what counts by language pair."""
    counted = with_pair(ratings[ratings["item_type"].isin(["system", "calibration"])])
    if counted.empty:
        raise DataError("These ratings hold no outputs of systems and no calibration items. Check item_type.")
    return counted.groupby("pair")


def _separable(codes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Keep the factors that differ from one another, from constants and from single judgements."""
    levels = {name: int(labels.max()) + 1 for name, labels in codes.items()}
    apart = {name: labels for name, labels in codes.items() if 1 < levels[name] < len(labels)}
    for name in ("taste", "document", "block"):
        others = [labels for other, labels in apart.items() if other != name]
        if name in apart and any(_same(apart[name], labels) for labels in others):
            del apart[name]
    return apart


def _same(codes: np.ndarray, other: np.ndarray) -> bool:
    """Tell whether two numberings group the judgements alike."""
    return codes.max() == other.max() == len(np.unique(codes * (int(other.max()) + 1) + other)) - 1


def jackknife(ratings: pd.DataFrame, *, taste: bool = False) -> pd.DataFrame:
    """Estimate how sure the components are: standard errors by leaving out one annotator at a time.

    For the layout "calibration" of ``components``; estimates below 0 stay as they are.
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
        rows.append({"pair": pair, **dict(zip(without, inference.jackknife_error(without)))})
    return pd.DataFrame(rows)


def variances(table: pd.DataFrame, pair: str, *, shared: float = 0.5, typed: Sequence[float] = ()) -> dict[str, float]:
    """Reduce one language pair's components to those that decide a comparison of two systems.

    table: the result of ``components``. Returns document and item (how differently a document, a segment suits two
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
