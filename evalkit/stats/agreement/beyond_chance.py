"""Tell how far annotators agree beyond chance: by every coefficient, per category, between every two annotators."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.stats import inference
from evalkit.stats.agreement import errors
from evalkit.stats.agreement.chance import NEEDS_NAMES, PREPARE
from evalkit.stats.agreement.coded import Coded, coded
from evalkit.stats.agreement.estimates import Estimate
from evalkit.stats.agreement.resampling import over_annotators, over_items
from evalkit.stats.agreement.scales import LEVELS, WEIGHTS

#: All coefficients, each at a level or with weights that are common for it.
MEASURES = (
    ("percent_agreement", "none"),
    ("cohen_kappa", "none"),
    ("scott_pi", "none"),
    ("fleiss_kappa", "none"),
    ("conger_kappa", "none"),
    ("randolph_kappa", "none"),
    ("gwet_ac1", "none"),
    ("krippendorff_alpha", "nominal"),
    ("krippendorff_alpha", "ordinal"),
    ("krippendorff_alpha", "interval"),
    ("cohen_kappa", "quadratic"),
    ("gwet_ac2", "quadratic"),
)
#: What a bootstrap can draw anew.
RESAMPLE = ("items", "annotators", "both")
_PAIRED = ("cohen_kappa", "scott_pi")


def coefficients(
    scores: pd.DataFrame,
    *,
    measures: Sequence[tuple[str, str]] | None = None,
    resamples: int = 1000,
    seed: int = 7,
    resample: str = "items",
    categories: Collection[object] | None = None,
) -> pd.DataFrame:
    """Estimate the agreement of two or more annotators beyond chance, with intervals.

    scores: items × annotators, NaN where an annotator skipped, as ``score_matrix`` makes it; numbers, or names of
    categories for unweighted and nominal coefficients. measures: (coefficient, level) with level one of nominal,
    ordinal, interval, ratio for krippendorff_alpha, interval for icc_agreement and icc_consistency (see
    ``intraclass``), and none, linear, quadratic for all others; None takes ``MEASURES`` (for names of categories,
    those of them that need no distances).
    categories: all that the scale offers; None takes those used. It matters to randolph_kappa, gwet_ac1, gwet_ac2 and
    weighted percent agreement, which otherwise change when an unused category is added.
    resample: the bootstrap draws items, annotators, or both anew; resamples=0 leaves low and high missing.

    Returns coefficient, level, estimate, se (analytic, see ``errors``; jackknife where the note says so), low, high
    (95 %, percentile bootstrap), items (with two ratings or more), annotators, note.
    With three or more annotators cohen_kappa and scott_pi are means over all pairs of annotators.
    Raises DataError where a coefficient is 0/0 because one category only was used.
    Caveat: items are taken as drawn independently; sentences of one document are not, and then intervals are narrow.
    Annotators drawn anew say little when there are fewer than ten.

    >>> scores = pd.DataFrame({"a": [1, 2, 3, 3, 2, 1, 4, 1], "b": [1, 2, 3, 3, 2, 2, 4, 1]})
    >>> kappa = [("fleiss_kappa", "none"), ("krippendorff_alpha", "ordinal")]
    >>> coefficients(scores, measures=kappa)[["coefficient", "level", "estimate"]].round(3)
              coefficient    level  estimate
    0        fleiss_kappa     none     0.828
    1  krippendorff_alpha  ordinal     0.925
    """
    if resample not in RESAMPLE:
        raise DataError(f"resample={resample!r} is not known. Choose one of: {', '.join(RESAMPLE)}.")
    named = [(str(name), str(level)) for name, level in measures or MEASURES]
    who = resample != "items" or any(name in NEEDS_NAMES for name, _ in named)
    table = coded(scores, categories=categories, ordered=who)
    if measures is None and not table.numeric:
        named = [(name, level) for name, level in named if level in ("none", "nominal")]
    for name, level in named:
        _checked(name, level, table)
        if name.startswith("icc") and resample != "items":
            raise DataError(f"{name} has no bootstrap over annotators: copies would count as agreeing. Resample items.")
    copies = np.ones(len(table.annotators))
    rng = np.random.default_rng(seed)
    estimates = [PREPARE[name](table, level, copies) for name, level in named]
    values = [float(estimate(table.times[None].astype(float))[0]) for estimate in estimates]
    for (name, _), value in zip(named, values):
        if np.isnan(value):
            raise DataError(_undefined(name, table))
    if resample == "items":
        draws = over_items(estimates, table, resamples=resamples, rng=rng)
    else:
        prepares = [lambda c, name=name, level=level: PREPARE[name](table, level, c) for name, level in named]
        draws = over_annotators(prepares, table, resamples=resamples, rng=rng, items=resample == "both")
    return _rows(named, values, draws, estimates, table)


def _rows(
    named: list[tuple[str, str]], values: list[float], draws: np.ndarray, estimates: list[Estimate], table: Coded
) -> pd.DataFrame:
    """Arrange estimates with their errors and intervals, one row each."""
    items = int(table.times[(table.rows >= 0).sum(axis=1) > 1].sum())
    rows = []
    for (name, scale), value, drawn, estimate in zip(named, values, draws, estimates):
        defined = drawn[np.isfinite(drawn)]
        low, high = inference.interval(defined) if len(defined) else (np.nan, np.nan)
        se, method = errors.standard_error(name, scale, table, estimate, value)
        notes = [] if method == "analytic" else [f"standard error: {method}"]
        if name in _PAIRED and len(table.annotators) > 2:
            notes.insert(0, "mean over pairs of annotators")
        if len(defined) < len(drawn):
            notes.append(f"undefined in {len(drawn) - len(defined)} of {len(drawn)} resamples, which are left out")
        rows.append((name, scale, value, se, low, high, items, len(table.annotators), "; ".join(notes)))
    columns = ["coefficient", "level", "estimate", "se", "low", "high", "items", "annotators", "note"]
    return pd.DataFrame(rows, columns=columns)


def per_category(
    scores: pd.DataFrame,
    *,
    measures: Sequence[tuple[str, str]] = (("fleiss_kappa", "none"), ("krippendorff_alpha", "nominal")),
    categories: Collection[object] | None = None,
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Estimate the agreement on each category: this category against all others together.

    Arguments and columns are those of ``coefficients`` with ``category`` and ``share`` (of all ratings) in front. A
    category that nobody, or everybody, always chose has no agreement beyond chance: its estimate is missing, and the
    note says why. Source: Fleiss 1971, section 4; the categories' kappas, weighted by share · (1 - share), have
    Fleiss' kappa as their mean.  Caveat: rare categories have low kappas by construction.

    >>> scores = pd.DataFrame({"a": list("xxyyzz"), "b": list("xxyyzx")})
    >>> per_category(scores, measures=[("fleiss_kappa", "none")])[["category", "estimate"]].round(2)
      category  estimate
    0        x      0.66
    1        y      1.00
    2        z      0.56
    """
    table = coded(scores, categories=categories)
    kept = scores.dropna(how="all", axis=0).dropna(how="all", axis=1)
    rows = []
    for value in table.values:
        chosen = kept.eq(value).astype(float).where(kept.notna())
        share = float(np.nanmean(chosen.to_numpy()))
        found = _noted(chosen, f"category {value}", measures, (0.0, 1.0), resamples, seed)
        found.insert(0, "category", value)
        found.insert(1, "share", share)
        rows.append(found)
    return pd.concat(rows, ignore_index=True)


def pairwise(
    scores: pd.DataFrame,
    *,
    measures: Sequence[tuple[str, str]] = (("cohen_kappa", "none"), ("cohen_kappa", "quadratic")),
    categories: Collection[object] | None = None,
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Estimate the agreement of every two annotators over the items that both rated.

    Arguments and columns are those of ``coefficients`` with annotator_a and annotator_b in front. The categories are
    those of the whole table. Where two annotators share no item, or both used a single category, the estimate is
    missing and the note says why.

    >>> scores = pd.DataFrame({"a": [1, 2, 1, 2], "b": [1, 2, 1, 1], "c": [1, 2, 1, 2]})
    >>> pairwise(scores, measures=[("cohen_kappa", "none")])[["annotator_a", "annotator_b", "estimate"]]
      annotator_a annotator_b  estimate
    0           a           b       0.5
    1           a           c       1.0
    2           b           c       0.5
    """
    table = coded(scores, categories=categories)
    kept = scores.dropna(how="all", axis=1)
    rows = []
    for a, b in itertools.combinations(kept.columns, 2):
        both = kept[[a, b]].dropna()
        found = _noted(both, f"{a} and {b}", measures, table.values, resamples, seed)
        found.insert(0, "annotator_a", str(a))
        found.insert(1, "annotator_b", str(b))
        rows.append(found)
    return pd.concat(rows, ignore_index=True)


def _noted(
    scores: pd.DataFrame,
    of: str,
    measures: Sequence[tuple[str, str]],
    categories: Collection[object],
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Estimate each coefficient; where one is not defined, leave its row empty and say why in the note."""
    rows = []
    for name, level in measures:
        shared = int((scores.notna().sum(axis=1) > 1).sum())
        if shared == 0:
            reason = f"undefined: no item in common ({of})"
        elif _certain(scores, name, categories):
            reason = f"undefined: one category only was used ({of})"
        else:
            rows.append(
                coefficients(scores, measures=[(name, level)], categories=categories, resamples=resamples, seed=seed)
            )
            continue
        empty = {"coefficient": name, "level": level, "estimate": np.nan, "se": np.nan, "low": np.nan, "high": np.nan}
        empty |= {"items": shared, "annotators": scores.shape[1], "note": reason}
        rows.append(pd.DataFrame([empty]))
    return pd.concat(rows, ignore_index=True)


def _certain(scores: pd.DataFrame, name: str, categories: Collection[object]) -> bool:
    """Say whether chance alone gives perfect agreement, so that nothing is left to measure beyond it."""
    if name in ("percent_agreement", "randolph_kappa", "gwet_ac1", "gwet_ac2") and len(categories) > 1:
        return False
    several = scores[scores.notna().sum(axis=1) > 1] if name == "krippendorff_alpha" else scores
    return several.stack().nunique() < 2


def _checked(name: str, level: str, table: Coded) -> None:
    """Refuse coefficients and levels that are not known or need distances between names."""
    if name not in PREPARE:
        raise DataError(f"Coefficient {name!r} is not known. Choose among: {', '.join(PREPARE)}.")
    few = {"krippendorff_alpha": LEVELS, "gwet_ac1": ("none",), "icc_agreement": ("interval",)}
    levels = few.get(name.replace("consistency", "agreement"), WEIGHTS)
    if level not in levels:
        raise DataError(f"{name} has no level {level!r}. Choose one of: {', '.join(levels)}.")
    if level not in ("none", "nominal") and not table.numeric:
        raise DataError(
            f"{name} ({level}) needs numbers, and the scores are names. Give them codes, or use level none."
        )


def _undefined(name: str, table: Coded) -> str:
    """Say why a coefficient is 0/0."""
    used = table.values[np.unique(table.rows[table.rows >= 0])]
    if name.startswith("icc"):
        return f"{name} is undefined: fewer than two items were rated by all annotators, or their scores do not vary."
    if len(used) > 1:
        return (
            f"{name} is undefined: where ratings can be compared, one category only was used. "
            "Collect more ratings in common, or report percent_agreement."
        )
    return (
        f"{name} is undefined: all ratings are {used[0]!s}, so chance alone gives perfect agreement. "
        "Report percent_agreement, or randolph_kappa and gwet_ac1 with all `categories` of the scale."
    )
