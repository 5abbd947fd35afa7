r"""How far annotators agree: correlations, shares of variance, and agreement beyond chance.

``correlations``, ``intraclass`` and their kin take a ratings table (see ``evalkit.data.schemas``) and work within each
language pair. ``coefficients`` and ``pairwise`` take items × annotators, as ``score_matrix`` makes it of one language
pair. Where an annotator scored an item more than once, the mean of these scores stands for them unless said otherwise.

Agreement beyond chance is :math:`1 - D_o / D_e`, one minus observed over expected disagreement, for any number of
annotators who may skip items. Both are functions of sums over items, so that each item becomes a row of numbers (see
``OfSums``), and the sums of a bootstrap draw or a jackknife sample are products with how often each item occurs. Items
that were rated alike carry the same information and share a row. A rating is never compared with itself.

With :math:`r_{ik}` the annotators who gave item i category k, :math:`r_i = \sum_k r_{ik}`, and weights
:math:`w_{kl}`, the observed agreement of all coefficients but alpha is the mean over items with two ratings or more of

.. math:: p_{a|i} = \frac{\sum_{kl} w_{kl} r_{ik} r_{il} - r_i}{r_i (r_i - 1)}.

The linearised variance of these is

.. math:: \frac{1}{n(n-1)} \sum_i (\kappa^\star_i - \kappa)^2, \qquad
          \kappa^\star_i = \frac{n}{n'} \frac{p_{a|i} - p_e}{1 - p_e} - (1 - \kappa) \frac{\dot p_{e|i}}{1 - p_e}

where n' items have two ratings or more, and the first term is 0 on the others; :math:`\dot p_{e|i}` is n times the
derivative of chance agreement by how often item i occurs. It holds whatever kappa is. Cohen's has n² below, as in
Fleiss, Cohen & Everitt 1969. Alpha, intraclass correlations and means over pairs of annotators have none that is agreed
on, so theirs is the jackknife's, and is named so.
Source: Gwet 2008; Gwet 2014, *Handbook of Inter-Rater Reliability*, 4th ed., ch. 2 to 5. Caveat: standard errors are
for large samples; the bootstrap interval needs no normal distribution.
"""

from __future__ import annotations

import itertools
import tomllib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.stats import inference
from evalkit.stats.correlation import ratio

#: Ways to reduce an annotator's repeated scores of one item to a single score.
REPEATS = ("mean", "first", "last", "min", "max")
#: Weights of agreement for kappas, pi, percent agreement and AC2.
WEIGHTS = ("none", "linear", "quadratic")
#: Levels of measurement for Krippendorff's alpha.
LEVELS = ("nominal", "ordinal", "interval", "ratio")
#: Coefficients, each with its level or weights.
Measures = Sequence[tuple[str, str]]
#: All that a scale offers, used or not; None: what was used.
Scale = Collection[object] | None
_KAPPAS = ("cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "randolph_kappa", "gwet_ac1")
#: All coefficients, each at a level or with weights that are common for it.
MEASURES: Measures = (
    ("percent_agreement", "none"),
    *((name, "none") for name in _KAPPAS),
    *(("krippendorff_alpha", level) for level in LEVELS[:3]),
    ("cohen_kappa", "quadratic"),
    ("gwet_ac2", "quadratic"),
)
_COHEN: Measures = (("cohen_kappa", "none"), ("cohen_kappa", "quadratic"))
_CORRELATIONS: dict[str, Callable[..., tuple[float, float]]] = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "kendall_c": partial(stats.kendalltau, variant="c"),
    "kendall_b": stats.kendalltau,
}
#: Coefficients of two annotators: of more, they are means over all pairs of them.
_PAIRED = ("cohen_kappa", "scott_pi")
#: Coefficients for which it matters who gave which rating.
_NEED_NAMES = (*_PAIRED, "conger_kappa", "icc_agreement", "icc_consistency")
_COLUMNS = ["coefficient", "level", "estimate", "se", "low", "high", "items", "annotators", "note"]
_KEYS = 1 << 62  # distinct rows that fit one integer
_ZERO = 1e-12  # a denominator this small is 0 but for rounding
_BATCH = 1_000_000  # numbers of draws held at once: small enough for a processor's cache
_DRAW = 30  # one multinomial count costs about as much as drawing this many items one by one


def coefficients(
    scores: pd.DataFrame,
    *,
    measures: Measures | None = None,
    resamples: int = 1000,
    seed: int = 7,
    categories: Scale = None,
) -> pd.DataFrame:
    """Estimate the agreement of two or more annotators beyond chance, with intervals.

    scores: items × annotators, NaN where an annotator skipped, as ``score_matrix`` makes it; numbers, or names of
    categories for unweighted and nominal coefficients. measures: (coefficient, level) with level one of nominal,
    ordinal, interval, ratio for krippendorff_alpha, interval for icc_agreement and icc_consistency (see
    ``intraclass``), and none, linear, quadratic for all others; None takes ``MEASURES`` (for names of categories,
    those of them that need no distances).
    categories: all that the scale offers; None takes those used. It matters to randolph_kappa, gwet_ac1, gwet_ac2 and
    weighted percent agreement, which otherwise change when an unused category is added.
    resamples: bootstrap draws of items; 0 leaves low and high missing.

    Returns coefficient, level, estimate, se (analytic, see above; jackknife where the note says so), low, high
    (95 %, percentile bootstrap), items (with two ratings or more), annotators, note.
    With three or more annotators cohen_kappa and scott_pi are means over all pairs of annotators.
    Raises DataError where a coefficient is 0/0 because one category only was used.
    Caveat: items are taken as drawn independently; sentences of one document are not, and then intervals are narrow.

    >>> scores = pd.DataFrame({"a": [1, 2, 3, 3, 2, 1, 4, 1], "b": [1, 2, 3, 3, 2, 2, 4, 1]})
    >>> kappa = [("fleiss_kappa", "none"), ("krippendorff_alpha", "ordinal")]
    >>> coefficients(scores, measures=kappa)[["coefficient", "level", "estimate"]].round(3)
              coefficient    level  estimate
    0        fleiss_kappa     none     0.828
    1  krippendorff_alpha  ordinal     0.925
    """
    found = _estimated(scores, measures, categories, resamples, seed)
    undefined = found[found["estimate"].isna()]
    if len(undefined):
        raise DataError(undefined["note"].iloc[0])
    return found


def pairwise(
    scores: pd.DataFrame, *, measures: Measures = _COHEN, categories: Scale = None, **drawn: int
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
    offered = coded(scores, categories=categories).values
    kept = scores.dropna(how="all", axis=1)
    tables = []
    for a, b in itertools.combinations(kept.columns, 2):
        both = kept[[a, b]].dropna()
        if both.empty:
            table = pd.DataFrame(measures, columns=_COLUMNS[:2]).reindex(columns=_COLUMNS)
            table = table.assign(items=0, annotators=2, note="undefined: no item in common")
        else:
            table = _estimated(both, measures, offered, **drawn)
        tables.append(table.assign(annotator_a=str(a), annotator_b=str(b)))
    return pd.concat(tables, ignore_index=True)[["annotator_a", "annotator_b", *_COLUMNS]]


def _estimated(
    scores: pd.DataFrame, measures: Measures | None, categories: Scale, resamples: int = 1000, seed: int = 7
) -> pd.DataFrame:
    """Estimate as ``coefficients`` says; where a coefficient is 0/0, the estimate is missing and the note says why."""
    named = [(str(name), str(level)) for name, level in measures or MEASURES]
    table = coded(scores, categories=categories, ordered=any(name in _NEED_NAMES for name, _ in named))
    if measures is None and not table.numeric:
        named = [(name, level) for name, level in named if level in ("none", "nominal")]
    for name, level in named:
        _check(name, level, table)
    estimates = [PREPARE[name](table, level) for name, level in named]
    batches = pattern_counts(table, resamples=resamples, rng=np.random.default_rng(seed))
    parts = [[estimate(drawn) for estimate in estimates] for drawn in batches]  # all on the same draws
    draws = np.concatenate(parts, axis=1) if parts else np.empty((len(estimates), 0))
    items, people = int(table.times[(table.rows >= 0).sum(axis=1) > 1].sum()), len(table.annotators)
    rows: list[tuple[object, ...]] = []
    for (name, level), estimate, drawn, low, high in zip(named, estimates, draws, *inference.defined_interval(draws.T)):
        [value] = estimate(table.times[None].astype(float))
        if np.isnan(value):
            rows.append((name, level, *4 * [np.nan], items, people, _why_undefined(name, table)))
            continue
        averaged = name in _PAIRED and people > 2
        notes = ["mean over pairs of annotators"] if averaged else []
        if isinstance(estimate, OfSums) and not averaged and not name.startswith(("krippendorff", "icc")):
            se = _linearised_error(name, table.times, estimate, value)
        else:
            without = estimate.leave_one_out(table.times.astype(float))  # items of one pattern give the same value
            se = float(inference.jackknife_error(without, table.times))
            notes.append("standard error: jackknife")
        if undefined := (~np.isfinite(drawn)).sum():
            notes.append(f"undefined in {undefined} of {len(drawn)} resamples, which are left out")
        rows.append((name, level, value, se, low, high, items, people, "; ".join(notes)))
    return pd.DataFrame(rows, columns=_COLUMNS)


# Annotators of a ratings table beside each other


def score_matrix(ratings: pd.DataFrame, *, repeats: str = "mean") -> pd.DataFrame:
    """Arrange one language pair's scores as items × annotators, one score a cell, NaN where an annotator skipped.

    repeats: how scores of the same item by the same annotator become one: mean, first, last (in row order), min, max.
    Raises DataError on several language pairs, on no rows, and on an unknown ``repeats``.
    """
    if repeats not in REPEATS:
        raise DataError(f"repeats={repeats!r} is not known. Choose one of: {', '.join(REPEATS)}.")
    pairs = with_pair(ratings)["pair"].unique()
    if len(pairs) != 1:
        raise DataError(f"Scores of one language pair are needed, and these are {len(pairs)}. Select one first.")
    return ratings.groupby([*ITEM, "annotator"], sort=True)["score"].agg(repeats).unstack("annotator")


def correlations(ratings: pd.DataFrame, *, repeats: str = "mean") -> pd.DataFrame:
    """Correlate every two annotators of a language pair over the items that both scored.

    Returns one row per pair of annotators and statistic: pair, annotator_a, annotator_b, n (items), statistic, value,
    p (two-sided). Statistics are spearman, pearson, kendall_c (Stuart's τ-c, scipy's ``variant="c"``: annotators use
    different numbers of distinct scores) and kendall_b, for comparison.
    value and p are NaN where one of the two gave all items the same score: no correlation is defined then.
    Source: Knowles & Lo 2024, section 4.2, footnote e.  Caveat: pairs share annotators, so the p-values are dependent;
    Pearson's assumes straight lines and no outliers.

    >>> ratings = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "system": "s", "doc": "d",
    ...     "segment": ["1", "2", "3", "4"] * 2, "annotator": ["a"] * 4 + ["b"] * 4,
    ...     "score": [10.0, 20, 30, 40, 15, 10, 60, 90]})
    >>> correlations(ratings).set_index("statistic")["value"].round(2).to_dict()
    {'spearman': 0.8, 'pearson': 0.93, 'kendall_c': 0.67, 'kendall_b': 0.67}
    """
    rows: list[tuple[object, ...]] = []
    for pair, group in with_pair(ratings).groupby("pair"):
        scores = score_matrix(group, repeats=repeats)
        columns = [(name, column.to_numpy(float)) for name, column in scores.items()]
        for (a, first), (b, second) in itertools.combinations(columns, 2):
            x, y = np.stack([first, second])[:, np.isfinite(first + second)]
            if len(x) < 3:
                raise DataError(
                    f"{pair}: annotators {a} and {b} share {len(x)} items, and a correlation needs at least 3. "
                    "Leave one of them out, or give them a common calibration set."
                )
            varied = np.ptp(x) > 0 and np.ptp(y) > 0
            for name, correlate in _CORRELATIONS.items():
                value, p = correlate(x, y) if varied else (np.nan, np.nan)
                rows.append((pair, a, b, len(x), name, value, p))
    if not rows:
        raise DataError("No two annotators share a language pair: agreement needs at least two annotators.")
    return pd.DataFrame(rows, columns=["pair", "annotator_a", "annotator_b", "n", "statistic", "value", "p"])


def correlation_extremes(correlated: pd.DataFrame) -> pd.DataFrame:
    """Summarise annotator correlations per language pair and statistic, with who stands at either end.

    correlated: the result of ``correlations``. Undefined correlations are left out of the summary and counted in
    ``undefined``. p-values belong to the extreme pairs; a median has none.
    """
    keys = ["pair", "statistic"]
    table = correlated.assign(between=correlated["annotator_a"] + " " + correlated["annotator_b"])
    groups = table.groupby(keys, sort=False)["value"]
    if (undefined := groups.count().eq(0)).any():
        pair, statistic = undefined.idxmax()
        raise DataError(f"{pair}: no {statistic} correlation is defined. Did each annotator give one score only?")
    low, high = (table.loc[end].set_index(keys) for end in (groups.idxmin(), groups.idxmax()))
    found = {"min": low["value"], "min_p": low["p"], "min_between": low["between"], "median": groups.median()}
    found |= {"max": high["value"], "max_p": high["p"], "max_between": high["between"]}
    return pd.DataFrame(found | {"undefined": groups.size() - groups.count()}).loc[undefined.index].reset_index()


def lowest_by_repeats(ratings: pd.DataFrame, named: Sequence[str]) -> pd.DataFrame:
    """Find the lowest correlation by each statistic and treatment of repeats, beside that of two named annotators.

    ratings: of one language pair. Returns statistic, lowest_between, lowest, lowest_p, repeats, named, named_p (missing
    where one of the two is not there).
    """
    parts = []
    for repeats in REPEATS:
        found = correlations(ratings, repeats=repeats)
        own = found[found["annotator_a"].isin(named) & found["annotator_b"].isin(named)].set_index("statistic")
        ends = correlation_extremes(found)[["statistic", "min_between", "min", "min_p"]].assign(repeats=repeats)
        parts.append(ends.assign(named=ends["statistic"].map(own["value"]), named_p=ends["statistic"].map(own["p"])))
    return pd.concat(parts, ignore_index=True).rename(columns=lambda name: name.replace("min", "lowest"))


def intraclass(ratings: pd.DataFrame) -> pd.DataFrame:
    """Estimate which share of the scores' variance is the items', with and without the annotators' levels.

    Returns pair, items, annotators, then agreement and consistency (unitless, 1 is perfect) with 95 % intervals.
    Agreement, ICC(A,1) of McGraw & Wong 1996, counts a strict annotator's lower level as disagreement; consistency,
    ICC(C,1), forgives it. What lies between the two is the most that shifting annotators' scores can mend.
    Items that some annotator skipped are left out.  Caveat: both assume equal variances across annotators.
    """
    import pingouin

    rows = []
    for pair, group in with_pair(ratings).groupby("pair"):
        scores = score_matrix(group).dropna()
        if len(scores) < 2 or scores.shape[1] < 2:
            raise DataError(f"{pair}: an intraclass correlation needs two annotators who share two items or more.")
        long = scores.reset_index(drop=True).melt(var_name="annotator", value_name="score", ignore_index=False)
        long = long.reset_index(names="item")
        with warnings.catch_warnings():  # pingouin 0.7 uses pandas calls that pandas 3 deprecates
            warnings.simplefilter("ignore")
            table = pingouin.intraclass_corr(long, targets="item", raters="annotator", ratings="score")
        by_kind = table.set_index("Type")
        low_high = next(c for c in by_kind.columns if c.startswith("CI95"))
        rows.append({"pair": pair, "items": len(scores), "annotators": scores.shape[1]})
        for name, kind in (("agreement", "ICC(A,1)"), ("consistency", "ICC(C,1)")):
            low, high = by_kind.loc[kind, low_high]
            rows[-1] |= {name: float(by_kind.loc[kind, "ICC"]), f"{name}_low": float(low), f"{name}_high": float(high)}
    return pd.DataFrame(rows)


def cross_replication(here: ArrayLike, there: ArrayLike, squares: ArrayLike, counts: ArrayLike) -> np.ndarray:
    """Return the agreement beyond chance of a person of one replication with a person of the other, (batch,).

    here, there: (items,) means of the judgements of an item in either. squares: (items,) the mean square of the one
    plus that of the other. counts: (batch, items) how often each item counts.
    It is 1 - D/E, where D is the mean squared difference of a judgement here and one there of the same item, and E that
    of any two items; each item counts once. So it is built as Krippendorff's alpha of interval data, but compares
    nobody with their own side; with one judgement an item on either side it is Lin's concordance correlation. NaN
    where all judgements are the same.
    Source: Wong, Paritosh & Aroyo 2021, cross-replication reliability, with squared differences; Lin 1989.

    >>> here, there = np.array([1.0, 2, 3]), np.array([2.0, 3, 4])  # one judgement each
    >>> cross_replication(here, there, here**2 + there**2, np.ones((1, 3))).round(3).tolist()
    [0.571]
    """
    here, there, squares, counts = (np.asarray(one, float) for one in (here, there, squares, counts))
    centre = np.mean([here, there])  # little is lost by cancellation
    squares = squares - 2 * centre * (here + there) + 2 * centre**2
    x, y = here - centre, there - centre
    size = counts.sum(axis=1)
    square, product, mean_x, mean_y = (counts @ part / size for part in (squares, x * y, x, y))
    chance = square - 2 * mean_x * mean_y
    return 1 - ratio(square - 2 * product, np.where(chance > 1e-12 * (1 + centre**2), chance, 0))


# Agreement beyond chance


def _check(name: str, level: str, table: Coded) -> None:
    """Refuse coefficients and levels that are not known or need distances between names."""
    if name not in PREPARE:
        raise DataError(f"Coefficient {name!r} is not known. Choose among: {', '.join(PREPARE)}.")
    few = {"krippendorff_alpha": LEVELS, "gwet_ac1": ("none",)}
    few |= dict.fromkeys(("icc_agreement", "icc_consistency"), ("interval",))
    levels = few.get(name, WEIGHTS)
    if level not in levels:
        raise DataError(f"{name} has no level {level!r}. Choose one of: {', '.join(levels)}.")
    if level not in ("none", "nominal") and not table.numeric:
        raise DataError(
            f"{name} ({level}) needs numbers, and the scores are names. Give them codes, or use level none."
        )


def _why_undefined(name: str, table: Coded) -> str:
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


def weights(values: np.ndarray, level: str) -> np.ndarray:
    r"""Weigh the agreement of every two categories, 1 on the diagonal.

    none: :math:`w_{kl} = [k = l]`; linear: :math:`1 - |v_k - v_l| / (v_{\max} - v_{\min})`; quadratic:
    :math:`1 - (v_k - v_l)^2 / (v_{\max} - v_{\min})^2`, with v the categories' values and the range that of all
    categories. Source: Cohen 1968; Cicchetti & Allison 1971; Gwet 2014, ch. 3.
    Caveat: distances are between values, not between positions; with gaps in the values the two differ.

    >>> weights(np.array([1.0, 2, 3]), "linear")[0].tolist()
    [1.0, 0.5, 0.0]
    """
    if level == "none" or len(values) == 1:
        return np.eye(len(values))
    share = np.abs(values[:, None] - values) / (values[-1] - values[0])
    return 1 - (share if level == "linear" else share**2)


def differences(values: np.ndarray, level: str) -> np.ndarray:
    r"""Return Krippendorff's squared difference of every two values, for the levels where only the values matter.

    nominal: :math:`[k \ne l]`; interval: :math:`(v_k - v_l)^2`; ratio: :math:`((v_k - v_l) / (v_k + v_l))^2`. The
    ordinal difference depends on how often values occur, see ``krippendorff_alpha``.
    Source: Krippendorff 2011, section D.  Raises DataError for ratios of negative values.

    >>> differences(np.array([0.0, 1, 3]), "ratio").tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.25], [1.0, 0.25, 0.0]]
    """
    if level == "nominal":
        return 1 - np.eye(len(values))
    gaps = values[:, None] - values
    if level == "interval":
        return gaps**2
    if values[0] < 0:
        raise DataError(f"A ratio scale starts at 0, and a category is {values[0]:g}. Use level='interval'.")
    sums = values[:, None] + values
    return np.divide(gaps, sums, out=np.zeros_like(gaps), where=sums > 0) ** 2


@dataclass(frozen=True)
class Coded:
    """Hold a ratings matrix as rows of category numbers, and how many items have each row.

    values: (categories,) what the category numbers stand for, ascending. rows: (patterns, annotators), -1 where an
    annotator skipped. times: (patterns,) items with that row. pattern: (items,) the row of each item.
    """

    values: np.ndarray
    rows: np.ndarray
    times: np.ndarray
    pattern: np.ndarray
    annotators: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        """Say whether the categories are numbers, so that distances between them mean something."""
        return np.issubdtype(self.values.dtype, np.number)


def coded(scores: pd.DataFrame, *, categories: Iterable[object] | None = None, ordered: bool = True) -> Coded:
    """Code items × annotators (NaN: skipped) as categories, each distinct row once.

    categories: all that the scale offers, used or not; None takes those that were used. ``ordered=False`` forgets who
    gave which rating, which leaves fewer patterns. Items and annotators without any rating are left out.
    Raises DataError on fewer than two annotators, on no item that two of them rated, on infinite scores and on
    scores that are not among ``categories``.
    """
    scores = scores.dropna(how="all", axis=0).dropna(how="all", axis=1)
    annotators = tuple(str(name) for name in scores.columns)
    if len(annotators) < 2:
        raise DataError(f"Agreement needs at least two annotators with ratings, and here are {len(annotators)}.")
    numbers, values = _numbered(scores, categories)
    if ((numbers >= 0).sum(axis=1) > 1).sum() == 0:
        raise DataError("No item was rated by two annotators. Agreement needs items in common: check the item columns.")
    rows, pattern = _distinct(numbers if ordered else np.sort(numbers, axis=1), len(values))
    return Coded(values, rows, np.bincount(pattern, minlength=len(rows)), pattern, annotators)


def _numbered(scores: pd.DataFrame, categories: Iterable[object] | None) -> tuple[np.ndarray, np.ndarray]:
    """Replace scores by the number of their category, -1 where there is none."""
    try:
        cells = scores.to_numpy(float)
    except (TypeError, ValueError):  # names of categories
        cells = scores.to_numpy(object)
    missing, numeric = pd.isna(cells), np.issubdtype(cells.dtype, np.number)
    if numeric and not np.isfinite(cells[~missing]).all():
        raise DataError("Some scores are infinite. Drop them, or set them to missing.")
    values = np.unique(cells[~missing] if categories is None else np.asarray(list(categories)))
    if np.issubdtype(values.dtype, np.number) != numeric:
        raise DataError("Scores and categories must both be numbers or both be names. Check `categories`.")
    numbers = pd.Index(values).get_indexer(cells.ravel()).reshape(cells.shape)
    unknown = ~missing & (numbers < 0)
    if unknown.any():
        raise DataError(f"A score of {cells[unknown][0]!r} is not among the categories. Add it to `categories`.")
    return np.where(missing, -1, numbers), values.astype(float if numeric else object)


def _distinct(numbers: np.ndarray, categories: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows, and for each row its number among them; all rows as they are where few are alike."""
    items, annotators = numbers.shape
    if (categories + 1) ** annotators >= _KEYS:
        _, first, pattern = np.unique(numbers, axis=0, return_index=True, return_inverse=True)
    else:
        keys = (numbers + 1) @ (categories + 1) ** np.arange(annotators)
        _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
    if 2 * len(first) > items:  # nothing to gain: then drawing an item is drawing its row
        return numbers, np.arange(items)
    return numbers[first], pattern.reshape(-1)


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide, with NaN where the denominator is 0 but for rounding."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    found = np.full(numerator.shape, np.nan, np.result_type(numerator, denominator, float))
    return np.divide(numerator, denominator, out=found, where=np.abs(denominator) > _ZERO)


@dataclass(frozen=True)
class OfSums:
    """Evaluate one minus observed over expected disagreement, where both follow from sums over items.

    features: (patterns, groups, numbers) of an item of each pattern, in each group of annotators that is compared: all
    of them, or every two, whose mean is then taken without those that are 0/0. disagreement: maps their sums (...,
    numbers) to what is observed and expected, (...) each. Estimates are called with how often each pattern occurs,
    (batch, patterns), and return values, (batch,).
    """

    features: np.ndarray
    disagreement: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

    def __call__(self, times: np.ndarray) -> np.ndarray:
        return self._mean(np.tensordot(times, self.features, 1))

    def leave_one_out(self, times: np.ndarray) -> np.ndarray:
        """Evaluate (patterns,) times (patterns,) with one item of each pattern left out in turn."""
        return self._mean(np.tensordot(times, self.features, 1) - self.features)

    def _mean(self, sums: np.ndarray) -> np.ndarray:
        beyond = 1 - _ratio(*self.disagreement(sums))
        return _ratio(np.nansum(beyond, axis=-1), np.isfinite(beyond).sum(axis=-1))


@dataclass(frozen=True)
class OrdinalAlpha:
    r"""Evaluate ordinal alpha, whose differences between categories change with every sample.

    They are squared differences of middle ranks F, and their sum over the pairs in an item is
    :math:`2 r \sum F^2 - 2 (\sum F)^2`, so no matrix of categories is needed. counts: (patterns, categories); scale:
    (patterns,) weight of an item's pairs.
    """

    counts: np.ndarray
    scale: np.ndarray

    def __call__(self, times: np.ndarray) -> np.ndarray:
        used = times @ self.counts
        n = used.sum(axis=1)
        middle = _ratio(np.cumsum(used, axis=1) - used / 2, n[:, None]) - 0.5  # a constant factor and shift cancel
        size = self.counts.sum(axis=1)
        within = 2 * (size * (middle**2 @ self.counts.T) - (middle @ self.counts.T) ** 2)
        apart = (times * within) @ self.scale
        by_chance = 2 * (n * (used * middle**2).sum(axis=1) - (used * middle).sum(axis=1) ** 2)
        return 1 - _ratio(apart * (n - 1), by_chance)

    def leave_one_out(self, times: np.ndarray) -> np.ndarray:
        """Evaluate with one item of each pattern left out in turn, as ``OfSums``."""
        places = np.arange(len(times))
        blocks = (places[slice(*span), None] for span in inference.cut(len(times), numbers=len(times)))
        return np.concatenate([self(times - (block == places)) for block in blocks])


Estimate = OfSums | OrdinalAlpha
Chance = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _counted(rows: np.ndarray, categories: int) -> np.ndarray:
    """Count the ratings of each row in each category, (rows, categories)."""
    keys = (rows + categories * np.arange(len(rows))[:, None])[rows >= 0]
    return np.bincount(keys, minlength=len(rows) * categories).reshape(len(rows), categories).astype(float)


def _kappa(coded: Coded, level: str, *, chance: Chance, own: bool = False, by_two: bool = False) -> OfSums:
    """Prepare a coefficient of agreement that is the same for all but in what is put down to chance.

    chance: maps shares of categories, (..., annotators, categories), and weights to chance agreement, (...). own: the
    shares are each annotator's; else there is one row for all, the mean of items' shares. by_two: every two annotators
    are compared on the items that both rated.
    """
    weight, people = weights(coded.values, level), range(coded.rows.shape[1])
    size, groups = len(weight), []
    for chosen in itertools.combinations(people, 2) if by_two else [people]:
        rows = coded.rows[:, list(chosen)]
        rows = np.where((rows >= 0).all(axis=1, keepdims=True), rows, -1) if by_two else rows
        counts = _counted(rows, size)
        total = counts.sum(axis=1)
        pairs = total * (total - 1)
        agreeing = np.divide(((counts @ weight) * counts).sum(axis=1) - total, pairs, where=pairs > 0, out=0 * total)
        used = rows[:, :, None] == np.arange(size) if own else counts / np.maximum(total, 1)[:, None]
        groups.append(np.column_stack([pairs > 0, agreeing, used.reshape(len(rows), -1)]))

    def disagreement(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        given = sums[..., 2:].reshape(*sums.shape[:-1], -1, size)
        whole = given.sum(axis=-1, keepdims=True)
        share = np.divide(given, whole, out=np.zeros_like(given), where=whole != 0)
        return 1 - _ratio(sums[..., 1], sums[..., 0]), 1 - chance(share, weight)

    return OfSums(np.stack(groups, axis=1), disagreement)


def _no_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Percent agreement: nothing is put down to chance."""
    return np.zeros(share.shape[:-2])


def _free_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Randolph 2005 (two annotators: Bennett et al. 1954): all categories alike, :math:`p_e = \\sum w_{kl} / q^2`."""
    return np.full(share.shape[:-2], weight.mean())


def _fixed_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Scott 1955 and Fleiss 1971: one marginal for all, :math:`p_e = \\sum w_{kl} \\pi_k \\pi_l`."""
    return ((share @ weight) * share).sum(axis=(-2, -1))


def _gwet_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Gwet 2008: some ratings only are random, :math:`p_e = \\frac{\\sum w_{kl}}{q(q-1)} \\sum \\pi_k (1 - \\pi_k)`."""
    size = len(weight)
    if size == 1:
        return np.ones(share.shape[:-2])
    return weight.sum() / (size * (size - 1)) * (share * (1 - share)).sum(axis=(-2, -1))


def _own_chance(share: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Cohen 1960 and Conger 1980: each annotator's own marginal; the mean over pairs of annotators."""
    rated = share.any(axis=-1).sum(axis=-1)  # a resample may lose an annotator who rated little
    whole = share.sum(axis=-2, keepdims=True)
    return _ratio(_fixed_chance(whole, weight) - _fixed_chance(share, weight), rated * (rated - 1.0))


def krippendorff_alpha(coded: Coded, level: str) -> Estimate:
    r"""Prepare :math:`\alpha = 1 - D_o / D_e` over the items with two ratings or more (Krippendorff 2011).

    .. math:: D_o = \frac1n \sum_i \frac{\sum_{kl} r_{ik} r_{il} \delta_{kl}}{r_i - 1}, \qquad
              D_e = \frac{1}{n(n-1)} \sum_{kl} n_k n_l \delta_{kl}

    with n ratings on these items, :math:`n_k` of them in category k. The ordinal :math:`\delta_{kl}` is
    :math:`(F_k - F_l)^2` with :math:`F_k = \sum_{g<k} n_g + n_k / 2`, so it changes with every resample.
    """
    counts = _counted(coded.rows, len(coded.values))
    others = counts.sum(axis=1) - 1
    scale = np.divide(1.0, others, out=np.zeros(len(others)), where=others > 0)
    counts = counts * (others > 0)[:, None]
    if level == "ordinal":
        return OrdinalAlpha(counts, scale)
    delta = differences(coded.values, level)
    features = np.column_stack([((counts @ delta) * counts).sum(axis=1) * scale, counts])

    def disagreement(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        used = sums[..., 1:]
        return sums[..., 0] * (used.sum(axis=-1) - 1), ((used @ delta) * used).sum(axis=-1)

    return OfSums(features[:, None], disagreement)


def of_mean_squares(
    items: ArrayLike, annotators: ArrayLike, noise: ArrayLike, *, n: ArrayLike, k: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return agreement, ICC(A,1), and consistency, ICC(C,1), of n items that k annotators rated; NaN where 0/0.

    items, annotators, noise: mean squares of a two-way analysis of variance. Source: McGraw & Wong 1996, Table 4.

    >>> [value.round(2).item() for value in of_mean_squares(11.24, 32.49, 1.02, n=6, k=4)]  # Shrout & Fleiss 1979
    [0.29, 0.71]
    """
    items, annotators, noise, n, k = (np.asarray(each, float) for each in (items, annotators, noise, n, k))
    own = items + (k - 1) * noise
    return _ratio(items - noise, own + _ratio(k * (annotators - noise), n)), _ratio(items - noise, own)


def _intraclass(coded: Coded, level: str, *, consistency: bool) -> OfSums:
    """Prepare ICC(C,1) or ICC(A,1) from mean squares, over the items that all annotators rated."""
    full = np.asarray((coded.rows >= 0).all(axis=1))
    centred = coded.values - coded.values.mean()  # less is lost by cancellation
    scores = np.where(full[:, None], centred[coded.rows], 0.0)
    k = scores.shape[1]
    features = np.column_stack([full, scores.sum(axis=1) ** 2 / k, (scores**2).sum(axis=1), scores])

    def disagreement(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, rows, squares, columns = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
        level = _ratio(columns.sum(axis=-1) ** 2, n * k)
        of_columns = _ratio((columns**2).sum(axis=-1), n) - level
        items = _ratio(rows - level, n - 1)
        noise = _ratio(squares - rows - of_columns, (n - 1) * (k - 1))
        found = of_mean_squares(items, of_columns / (k - 1), noise, n=n, k=k)[consistency]
        return 1 - found, np.ones(found.shape)

    return OfSums(features[:, None], disagreement)


#: Coefficient -> how it is prepared.
PREPARE: dict[str, Callable[[Coded, str], Estimate]] = {
    "percent_agreement": partial(_kappa, chance=_no_chance),
    "cohen_kappa": partial(_kappa, chance=_own_chance, own=True, by_two=True),
    "scott_pi": partial(_kappa, chance=_fixed_chance, by_two=True),
    "fleiss_kappa": partial(_kappa, chance=_fixed_chance),
    "conger_kappa": partial(_kappa, chance=_own_chance, own=True),
    "randolph_kappa": partial(_kappa, chance=_free_chance),
    "krippendorff_alpha": krippendorff_alpha,
    "gwet_ac1": partial(_kappa, chance=_gwet_chance),
    "gwet_ac2": partial(_kappa, chance=_gwet_chance),
    "icc_agreement": partial(_intraclass, consistency=False),
    "icc_consistency": partial(_intraclass, consistency=True),
}


def _linearised_error(name: str, times: np.ndarray, estimate: OfSums, value: float) -> float:
    """Return the square root of the variance in this module's docstring, of a coefficient of one group of annotators.

    Derivatives are taken by a complex step, exactly. Source: Gwet 2008; Squire & Trapp 1998 (complex step).
    """
    own, step = estimate.features, 1e-20
    sums = np.tensordot(times, own, 1)
    expected = estimate.disagreement(sums)[1]
    paired, agreeing = own[:, 0, 0], own[:, 0, 1]
    used = times * (paired if name in _PAIRED else 1)
    n = used.sum()
    moved = n * estimate.disagreement(sums + 1j * step * own)[1].imag[:, 0] / step
    star = n / sums[0, 0] * (paired - (paired - agreeing) / expected) + (1 - value) * moved / expected
    return float(np.sqrt((used @ (star - value) ** 2) / (n * (n if name == "cohen_kappa" else max(n - 1, 1)))))


def pattern_counts(table: Coded, *, resamples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Draw how often each pattern occurs among as many items drawn with replacement, in batches (batch, patterns).

    Both ways give exactly the bootstrap's distribution: multinomial counts where patterns are few, items drawn one by
    one and then counted where patterns are many.
    """
    patterns, items = len(table.times), int(table.times.sum())
    step = max(1, _BATCH // max(patterns, items if _DRAW * patterns >= items else 1))
    order = np.argsort(-table.times, kind="stable")  # frequent patterns first: fewer items are left for the rest
    for start in range(0, resamples, step):
        batch = min(step, resamples - start)
        drawn = np.empty((batch, patterns))
        if _DRAW * patterns < items:
            drawn[:, order] = rng.multinomial(items, table.times[order] / items, size=batch)
        else:
            picks = rng.integers(0, items, (batch, items))
            if patterns < items:
                picks = table.pattern[picks]
            for row, pick in zip(drawn, picks):
                row[:] = np.bincount(pick, minlength=patterns)
        yield drawn


#: Scheme -> its bands, (lower end, name) ascending, its source, what its critics say, and limit_below: whether a value
#: on a limit belongs to the band below, as schemes print 0.21-0.40 and the like.
BANDS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("bands.toml").read_text(encoding="utf-8"))


def band(value: float, *, scheme: str = "landis-koch") -> str:
    """Name the band of a scheme in which a value lies. Caveat: report the value and its interval, never only a name.

    >>> band(0.43), band(0.43, scheme="krippendorff")
    ('moderate', 'unreliable')
    """
    if scheme not in BANDS:
        raise DataError(f"scheme={scheme!r} is not known. Choose one of: {', '.join(BANDS)}.")
    if not -1 <= value <= 1:
        raise DataError(f"A value of {value} lies in no band: agreement lies between -1 and 1.")
    bands, below = BANDS[scheme]["bands"], BANDS[scheme].get("limit_below", False)
    return [name for low, name in bands if value > low or (value == low and (low <= 0 or not below))][-1]
