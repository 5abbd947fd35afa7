"""Scores made comparable across languages by a calibration set that all annotators rate.

A group is whoever shares a shift: the annotators of a language pair (``by="pair"``, as in Licht et al. 2022), a single
annotator (``by="annotator"``), or the values of any other column. What a group is measured by are its means on fixed
points: the calibration set, which all groups rate, and the human references. What the fixed points ought to score is a
``Standard``. Four forms move scores (Licht et al. 2022, sections 5.2 and 5.3); ``calibrate`` goes from judgements to
calibrated scores; ``held_out`` tests whether a shift learned on one half of the shared documents brings groups closer
on the other. Below: how small a set can be, how to choose it, and whether judgements are better spent elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data.provenance import Scale, scale_of
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.components import SET_SIZE, Variances, equate, of_pair
from evalkit.stats import inference
from evalkit.stats.agreement import score_matrix

#: Columns of the transcribed Table 5, and what the paper calls them.
METHODS = {"raw": "RAW", "cs": "CS", "ht": "HT", "cs_ht": "CS+HT"}

#: The forms in the order in which tables and figures show them, with the names that they print.
FORMS = {"shift": "simple shift", "line": "two-point line", "capped": "capped shift", "moderated": "moderated shift"}


@dataclass(frozen=True, kw_only=True)
class Standard:
    """What calibrated scores should agree on: the score of each fixed point, and the ends of the scale.

    consensus: agreed score of the calibration set; human_reference: agreed score of human references (or None).
    scale: lowest and highest possible score. All in points of the scale.
    """

    consensus: float = 3.0
    human_reference: float | None = 4.687
    scale: Scale = (1.0, 5.0)

    def __post_init__(self) -> None:
        low, high = self.scale
        if not low < self.consensus < high:
            raise DataError(f"The consensus {self.consensus:g} is not inside the scale {low:g}-{high:g}.")


#: The standard of Licht et al. 2022: 200 calibration pairs of each score from 1 to 5, references fixed at 4.687.
PAPER = Standard()


def shift(score: ArrayLike, *, alpha: ArrayLike) -> np.ndarray:
    """Add the shift: f(x) = x + α (equation 2). It can leave the scale.

    >>> float(shift(3.5, alpha=-0.2))
    3.3
    """
    return np.asarray(score, float) + np.asarray(alpha, float)


def capped(score: ArrayLike, *, alpha: ArrayLike, cap: float) -> np.ndarray:
    """Add a shift of at most ``cap`` points either way. It can leave the scale.

    >>> float(capped(2.0, alpha=0.9, cap=0.5))
    2.5
    """
    return np.asarray(score, float) + np.clip(alpha, -cap, cap)


def moderated(score: ArrayLike, *, alpha: ArrayLike, scale: Scale = (1.0, 5.0)) -> np.ndarray:
    """Add a shift that fades when it is large, or near the end of the scale it points to: f(x) = x + E·A.

    A = tanh(α); E = tanh(top - x) for α > 0, tanh(x - bottom) for α < 0, 0 for α = 0 (section 5.3).
    It rises strictly and stays on the scale for scores on the scale. tanh bends at about 1, so the form depends on the
    scale's unit, which is a quarter of the scale: 1 on 1-5, as in print; 25 on 0-100, where scores move exactly as on
    1-5: f(x) = x + unit · tanh((top - x) / unit) · tanh(α / unit). Caveats: E fades every shift near that end,
    however small (at x = 4.5 only tanh(0.5) = 46 % of an upward shift is left), and downward shifts there are not
    faded, so errors up and down are not treated alike.

    >>> float(moderated(4.8, alpha=0.3).round(4)), float(moderated(95.0, alpha=7.5, scale=(0, 100)).round(2))
    (4.8575, 96.44)
    """
    x, alpha, unit = np.asarray(score, float), np.asarray(alpha, float), _unit(scale)
    room = np.where(alpha > 0, scale[1] - x, x - scale[0])
    return x + unit * np.tanh(room / unit) * np.tanh(alpha / unit)


def _unit(scale: Scale) -> float:
    """Return how many points count as one of the five-point scale of the paper."""
    return (scale[1] - scale[0]) / 4


def two_points(
    calibration_mean: ArrayLike, reference_mean: ArrayLike, *, consensus: ArrayLike, human_reference: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return (β, α) of the line that sends both fixed points to their agreed scores; NaN where the means coincide.

    >>> [float(v.round(3)) for v in two_points(3.2, 4.9, consensus=3.0, human_reference=4.687)]
    [0.992, -0.176]
    """
    m, r = np.asarray(calibration_mean, float), np.asarray(reference_mean, float)
    rise, run = np.subtract(human_reference, consensus), r - m
    beta = np.divide(rise, run, out=np.full(np.broadcast(rise, run).shape, np.nan), where=run != 0)
    return beta, np.asarray(consensus, float) - beta * m


def adjust(
    raw: ArrayLike, *, calibration_mean: ArrayLike, reference_mean: ArrayLike | None = None, standard: Standard = PAPER
) -> dict[str, np.ndarray]:
    """Move raw scores in all forms: a mapping from form to adjusted scores (numbers or arrays that broadcast).

    Without a reference mean, or an agreed score of references, there is no two-point line.

    >>> {form: float(score.round(2)) for form, score in adjust(4.8, calibration_mean=2.7, reference_mean=4.6).items()}
    {'shift': 5.1, 'line': 4.86, 'capped': 5.1, 'moderated': 4.86}
    """
    line, agreed = None, standard.human_reference
    if reference_mean is not None and agreed is not None:
        line = two_points(calibration_mean, reference_mean, consensus=standard.consensus, human_reference=agreed)
    alpha = standard.consensus - np.asarray(calibration_mean, float)
    return _in_all_forms(raw, alpha=alpha, line=line, scale=standard.scale)


def _in_all_forms(
    raw: ArrayLike, *, alpha: ArrayLike, line: tuple[np.ndarray, np.ndarray] | None, scale: Scale
) -> dict[str, np.ndarray]:
    """Move scores in each of ``FORMS``; line: its (β, α). The cap is half a point of a five-point scale."""
    moved = {"shift": shift(raw, alpha=alpha)}
    if line is not None:
        moved["line"] = np.asarray(raw, float) * line[0] + line[1]
    moved["capped"] = capped(raw, alpha=alpha, cap=_unit(scale) / 2)
    return moved | {"moderated": moderated(raw, alpha=alpha, scale=scale)}


def what_if(
    raw: float, calibration_mean: float, reference_mean: float | None = None, *, standard: Standard = PAPER
) -> pd.DataFrame:
    """Say what one score becomes: form, adjusted, moved by, on the scale; no line runs through equal means (NaN)."""
    moved = adjust(raw, calibration_mean=calibration_mean, reference_mean=reference_mean, standard=standard)
    table = pd.DataFrame([(FORMS[form], float(x)) for form, x in moved.items()], columns=["form", "adjusted"])
    inside = table["adjusted"].between(*standard.scale)
    return table.assign(**{"moved by": table["adjusted"] - raw, "on the scale": inside})


def curves(calibration_mean: float, reference_mean: float | None = None, *, standard: Standard = PAPER) -> pd.DataFrame:
    """Tabulate every form over the whole scale: form, raw, adjusted."""
    raw = np.linspace(*standard.scale, 201)
    moved = adjust(raw, calibration_mean=calibration_mean, reference_mean=reference_mean, standard=standard)
    return pd.concat([pd.DataFrame({"form": form, "raw": raw, "adjusted": y}) for form, y in moved.items()])


#: Kinds of items that a group is measured by, and moved.
TYPES = ("calibration", "reference", "system")


def item_medians(ratings: pd.DataFrame, *, by: str = "pair") -> pd.DataFrame:
    """Take the median over annotators of every item: by, item_type, system, doc, segment, score, annotators.

    An annotator's own repeated judgements of an item are averaged first. Source: Licht et al. 2022, section 5.2.
    """
    known, key = _grouped(ratings, by), [by, "item_type", *ITEM]
    own = known.assign(person=known["annotator"]).groupby([*key, "person"], as_index=False)["score"].mean()
    return own.groupby(key, as_index=False).agg(score=("score", "median"), annotators=("person", "nunique"))


def _grouped(ratings: pd.DataFrame, by: str) -> pd.DataFrame:
    """Add the column pair, and see that there is something to group."""
    known = with_pair(ratings)
    if known.empty:
        raise DataError("There are no ratings to calibrate. Check the filter that was applied before.")
    if by not in known:
        raise DataError(f"No column {by!r} to group by. Use 'pair', 'annotator', or a column of the table.")
    return known


def group_means(ratings: pd.DataFrame, *, by: str = "pair") -> pd.DataFrame:
    """Average the item medians of each group and source: by, item_type, system, items, mean.

    A source is one system, all references, or the whole calibration set; system is "" for the last two.
    """
    medians = item_medians(ratings, by=by)
    medians = medians[medians["item_type"].isin(TYPES)]
    source = medians["system"].where(medians["item_type"] == "system", "")
    means = medians.assign(system=source).groupby([by, "item_type", "system"], as_index=False)
    return means.agg(items=("score", "size"), mean=("score", "mean"))


def calibrate(
    ratings: pd.DataFrame,
    *,
    by: str = "pair",
    within: str | None = None,
    standard: Standard | None = None,
    scale: Scale | None = None,
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Calibrate each group's system scores in all forms, with bootstrap standard errors over items and annotators.

    standard: the agreed scores; None takes the averages of the groups' own means (within each value of ``within``),
    as the paper did for its human fix point, on the ``scale`` given or else the table's own. The standard itself is
    treated as known.
    Returns within, group, system, form, items, annotators, calibration_mean, reference_mean, raw, raw_se, adjusted, se,
    low, high. Groups without references have no two-point line. Caveat: intervals are per group; groups that share
    calibration items have correlated errors, which makes their differences more certain than two intervals suggest.
    Raises DataError where a group has no calibration or no system items.
    """
    known, parts = _grouped(ratings, by), []
    for place, part in known.groupby(known[within] if within else lambda _: "all", sort=True):
        agreed = standard or own_standard(part, by=by, scale=scale)
        for group, judged in part.groupby(by, sort=True):
            table = _calibrated(judged, group, agreed, resamples, np.random.default_rng(seed))
            parts.append(table.assign(within=place, group=group))
    table = pd.concat(parts, ignore_index=True)
    return table[["within", "group", *table.columns[:-2]]]


def own_standard(ratings: pd.DataFrame, *, by: str = "pair", scale: Scale | None = None) -> Standard:
    """Agree on the averages of what all groups gave: mean of calibration means, mean of reference means (if any).

    scale: its ends; None takes the table's own.
    """
    means = group_means(ratings, by=by).groupby("item_type")["mean"].mean()
    if "calibration" not in means:
        raise DataError("No calibration items in these ratings. Give them the item_type 'calibration'.")
    return Standard(
        consensus=float(means["calibration"]),
        human_reference=float(means["reference"]) if "reference" in means else None,
        scale=scale_of(ratings, given=scale),
    )


def design(ratings: pd.DataFrame) -> dict[str, str | None]:
    """Say who can share a shift in these ratings: ``by`` and ``within`` for the functions of this room.

    Where several language pairs rated the same calibration items, pairs are compared (XSTS). Otherwise the annotators
    of a pair are compared with each other, for only they rated the same items.

    >>> from evalkit.data import stand_ins
    >>> design(stand_ins.stand_in("wmt22-calibration-hits"))
    {'by': 'annotator', 'within': 'pair'}
    """
    calibration = with_pair(ratings).query("item_type == 'calibration'")
    shared = calibration.groupby(ITEM)["pair"].nunique()
    if len(shared) and (shared > 1).mean() > 0.5:
        return {"by": "pair", "within": None}
    return {"by": "annotator", "within": "pair"}


def with_task(ratings: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Let half of each pair's calibration documents play the task, where ratings have no system items; else unchanged.

    The played task is the system "held-out half". Only first showings are kept, of annotators who saw every document.
    """
    if (ratings["item_type"] == "system").any():
        return ratings
    rng = np.random.default_rng(seed)
    parts = []
    for _, part in with_pair(ratings).query("item_type == 'calibration'").groupby("pair", sort=True):
        documents = np.sort(part["doc"].unique().astype(object))
        seen = part.groupby("annotator")["doc"].transform("nunique")
        task = part["doc"].isin(rng.permutation(documents)[: len(documents) // 2])
        played = part.assign(
            item_type=np.where(task, "system", "calibration"),
            segment=part["system"] + " " + part["segment"],
            system=np.where(task, "held-out half", "calibration half"),
        )
        parts.append(played[seen == len(documents)])
    return pd.concat(parts)


def _calibrated(
    judged: pd.DataFrame, group: str, standard: Standard, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Calibrate one group's systems: a row per system and form."""
    people = pd.Index(sorted(judged["annotator"].unique()))
    kinds = judged["item_type"].where(judged["item_type"] != "system", "system " + judged["system"])
    wide = judged.assign(kind=kinds).pivot_table(index=["kind", *ITEM], columns="annotator", values="score")[people]
    strata = {k: rows.to_numpy(float) for k, rows in wide.groupby(level="kind") if k.split(" ")[0] in TYPES}
    systems = [kind for kind in strata if kind.startswith("system ")]
    for kind, there in (("calibration", "calibration" in strata), ("system", bool(systems))):
        if not there:
            raise DataError(f"{group}: no items with item_type {kind!r}. Add them, or leave the group out.")
    point = {kind: np.mean(inference.median(matrix)) for kind, matrix in strata.items()}
    draws = inference.bootstrap_means(strata, resamples=resamples, rng=rng, annotators=len(people) > 1)

    def moved(means: Mapping[str, Any], system: str) -> dict[str, np.ndarray]:
        of_set, reference = means["calibration"], means.get("reference")
        return adjust(means[system], calibration_mean=of_set, reference_mean=reference, standard=standard)

    rows = []
    for system in systems:
        drawn = moved(draws, system)
        own = (point["calibration"], point.get("reference", np.nan), point[system])
        for form, adjusted in moved(point, system).items():
            spread = (inference.standard_error(drawn[form]), *inference.interval(drawn[form]))
            values = map(float, (*own, inference.standard_error(draws[system]), adjusted, *spread))
            rows.append((system.removeprefix("system "), form, len(strata[system]), len(people), *values))
    columns = "system form items annotators calibration_mean reference_mean raw raw_se adjusted se low high"
    return pd.DataFrame(rows, columns=columns.split())


def held_out(
    ratings: pd.DataFrame,
    *,
    by: str = "annotator",
    within: str | None = "pair",
    scale: Scale | None = None,
    splits: int = 200,
    resamples: int = 500,
    seed: int = 7,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Test on held-out items whether a shift learned on others brings groups closer, in each form, and carries over.

    Groups differ in how strict they are, by the same amount on any text: so says the idea behind calibration. Here each
    group's shift is learned on half of the shared documents, and applied to its mean on the other half. ratings: see
    ``shared_items``, ``halves``. The agreed score is the groups' average on the first half. Spread is the standard
    deviation (ddof=1) of group means, the median over splits, in points of the scale. There are no human references
    here, so the two-point line runs through the harder and the easier items of the calibration half. A split where both
    are equal for some group has no line and counts as infinitely wide; a missing value says that most splits have none.
    scale: its ends; None takes the table's own. Intervals resample groups; documents are taken as they are. Draws of
    one group only, which have no spread, are left out.
    Returns two tables. Spreads: within, form, groups, left_out, items, documents, before, after, ratio (after / before;
    below 1: closer), low, high, closer (share of splits in which the groups came closer). What carries over: within,
    groups, slope, low, high. slope: least squares of held-out deviations on calibration deviations over groups,
    averaged over splits. 1: the whole shift carries over; 0: nothing does; below one half, a full shift does more harm
    than none, because after² = before² + (1 - 2·slope)·(spread of the calibration half)². Noise in a short calibration
    half pulls the slope towards 0, so it speaks of shifts learned from this many items.
    """
    scale, rows, slopes = scale_of(ratings, given=scale), [], []
    for place, table, left_out, documents in shared_items(ratings, by=by, within=within):
        rng, shape = np.random.default_rng(seed), (len(table), left_out, table.shape[1], int(documents.max()) + 1)
        means = _of_halves(table.to_numpy(float), halves(documents, splits, rng).T)
        before, *after = _spreads(means, scale)
        with np.errstate(invalid="ignore", divide="ignore"):  # groups never differ; two infinite draws have no quantile
            draws = inference.bootstrap(means, lambda drawn: _ratios(drawn, scale), resamples=resamples, seed=rng)
            kept = draws[~np.isnan(draws[:, [0, -1]]).any(axis=1)]
            *ratios, slope = _ratios(means, scale)
            *ends, of_slope = zip(*inference.interval(kept if len(kept) else draws[:1]), strict=True)
        for form, spread, ratio, (low, high) in zip(FORMS, after, ratios, ends, strict=True):
            values = (np.median(before), np.median(spread), ratio, low, high, np.mean(spread < before))
            rows.append((place, form, *shape, *map(float, values)))
        slopes.append((place, len(table), *map(float, (slope, *of_slope))))
    columns = "within form groups left_out items documents before after ratio low high closer"
    carried = pd.DataFrame(slopes, columns=["within", "groups", "slope", "low", "high"])
    return pd.DataFrame(rows, columns=columns.split()).replace(np.inf, np.nan), carried


def _of_halves(scores: np.ndarray, use: np.ndarray) -> np.ndarray:
    """Average scores, groups × items, on the halves of each split: (groups, splits, 4).

    use: (items, splits), what is learned from. The four are the held-out half, that which is learned from, and the
    harder and the easier items of this.
    """
    quality = np.where(use, scores.mean(axis=0)[:, None], np.nan)
    easy = quality > np.nanmedian(quality, axis=0)
    parts = (~use, use, use & ~easy, use & easy)
    return np.stack([scores @ items / np.maximum(items.sum(axis=0), 1) for items in parts], axis=-1)


def _spreads(means: np.ndarray, scale: Scale) -> np.ndarray:
    """Spread of the groups' held-out means, raw and in each of ``FORMS``: (1 + forms, ..., splits)."""
    task, calibration, lower, upper = np.moveaxis(means, -1, 0)
    agreed, of_lower, of_upper = (half.mean(axis=-2, keepdims=True) for half in (calibration, lower, upper))
    line = two_points(lower, upper, consensus=of_lower, human_reference=of_upper)
    moved = {"raw": task} | _in_all_forms(task, alpha=agreed - calibration, line=line, scale=scale)
    spread = {form: x.std(axis=-2, ddof=1) for form, x in moved.items()}
    spread["line"] = np.where(np.isnan(spread["line"]), np.inf, spread["line"])  # a group's fixed points coincide
    return np.stack(list(spread.values()))


def _ratios(means: np.ndarray, scale: Scale) -> np.ndarray:
    """Return the ratio of spreads in each of ``FORMS``, and how much of a deviation carries over: (..., forms + 1)."""
    before, *after = np.median(_spreads(means, scale), axis=-1)
    dy, dx = (half - half.mean(axis=-2, keepdims=True) for half in (means[..., 0], means[..., 1]))
    slope = ((dx * dy).sum(axis=-2) / (dx**2).sum(axis=-2)).mean(axis=-1)
    return np.stack([*(spread / before for spread in after), slope], axis=-1)


def shared_items(
    ratings: pd.DataFrame, *, by: str = "annotator", within: str | None = "pair", fewest: int = 4
) -> Iterator[tuple[str, pd.DataFrame, int, np.ndarray]]:
    """Yield place, groups × items without gaps, how many groups were left out, and the document of each item.

    ratings: calibration items that all groups of a place (a value of ``within``) rated; scores are annotators' medians.
    Items that not even half of the groups rated are left out, then groups that did not rate all others. Documents are
    numbered from 0; where there are fewer than four, each item counts as one (single sentences, as in a set for XSTS).
    Raises DataError for a place of fewer than 3 groups or ``fewest`` items.
    """
    calibration = with_pair(ratings).query("item_type == 'calibration'")
    if calibration.empty:
        raise DataError("No calibration items in these ratings. Give them the item_type 'calibration'.")
    for place, part in calibration.groupby(calibration[within] if within else lambda _: "all", sort=True):
        wide = item_medians(part, by=by).pivot(index=by, columns=ITEM, values="score")
        common = wide.loc[:, wide.notna().mean() > 0.5].dropna()
        if len(common) < 3 or common.shape[1] < fewest:
            raise DataError(
                f"{place}: {len(common)} groups rated the same {common.shape[1]} items. A held-out test needs at least "
                f"3 groups and {fewest} items: choose another `by`, leave this place out, or groups that skipped much."
            )
        documents = np.unique(common.columns.get_level_values("doc"), return_inverse=True)[1]
        documents = documents if documents.max() > 2 else np.arange(common.shape[1])
        yield place, common, len(wide) - len(common), documents


def halves(documents: np.ndarray, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Take half of the documents: splits × items, true where an item belongs to the half that is learned from.

    documents: of each item, numbered from 0. All ways to halve them, if these are no more than ``splits``; else random
    ones.

    >>> halves(np.array([0, 0, 1]), 10, np.random.default_rng(7)).tolist()
    [[True, True, False], [False, False, True]]
    """
    number = int(documents.max()) + 1
    half = number // 2
    if comb(number, half) <= splits:
        ways = np.array(list(combinations(range(number), half)))
        chosen = (ways[:, :, None] == np.arange(number)).any(axis=1)
    else:
        chosen = rng.permuted(np.tile(np.arange(number) < half, (splits, 1)), axis=1)
    return chosen[:, documents]


# How large a set should be, and which items to choose


def difference_variance(
    variances: Variances, *, judgements: ArrayLike, block: float = 10, calibration: ArrayLike = 0
) -> np.ndarray:
    r"""Return the variance of the difference between two systems' mean scores, when blocks go to annotators by chance.

    judgements: N, per system. block: b, segments scored in one go from one system. calibration: c, segments of the set,
    in blocks as long, whose mean every annotator's scores are shifted by; 0: raw scores.

    .. math:: \operatorname{var} = \frac{2}{N}\,(V_{item} + V_{residual} + b\,(V_{document} + V_{block} + V_{level}))

    .. math:: V_{level} = \begin{cases} V_{annotator} & c = 0 \\ (b V_{block} + V_{residual}) / c & c > 0 \end{cases}

    Both systems translate the same source segments, and each block is judged by one annotator, drawn from all by
    chance, so an annotator's level enters both systems in unequal parts that cancel only on average.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> difference_variance(V, judgements=1000, block=10, calibration=[0, 50]).tolist()
    [1.8, 0.704]
    """
    size = np.asarray(calibration, float)
    error = (block * variances["block"] + variances["residual"]) / np.where(size > 0, size, 1)
    level = np.where(size > 0, error, variances["annotator"])
    scatter = variances["item"] + variances["residual"] + block * (variances["document"] + variances["block"] + level)
    return 2 * scatter / np.asarray(judgements, float)


def weigh_set(
    variances: Variances, *, judgements: int, block: float, size: int = SET_SIZE
) -> tuple[float, float, int, float]:
    r"""Weigh a calibration set against as many more ordinary judgements, of one annotator who gives ``judgements``.

    block: see ``difference_variance``. size: c, segments of the set.
    Returns how many ordinary judgements an annotator must give for the set to pay: the variances with a set and q
    judgements, and without one and q + c, are equal at

    .. math:: q^* = c\,\frac{N \operatorname{var} / 2}{b\,(V_{annotator} - V_{level})}

    with :math:`\operatorname{var}` and :math:`V_{level}` those with the set; infinite where the set leaves as much
    error as the levels themselves. Neither the number of systems nor that of annotators matters. Also the standard
    error of a difference between two systems with the set over that without one, at the same cost; and the best size
    of the set (0 where none gains anything), with that ratio for it.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> [round(v, 2) for v in weigh_set(V, judgements=500, size=50, block=10)]
    [32.12, 0.66, 58, 0.66]
    """
    sizes = np.arange(judgements)
    left = judgements - sizes
    variance = difference_variance(variances, judgements=left, calibration=sizes, block=block)
    ratios, (without, with_set) = np.sqrt(variance / variance[0]), (variance * left)[[0, size]]
    needed = size * with_set / (without - with_set) if without > with_set else np.inf
    return float(needed), float(ratios[size]), int(ratios.argmin()), float(ratios.min())


def workloads(table: pd.DataFrame, done: pd.DataFrame, *, hit: int = 100, shared: float = 0.5) -> pd.DataFrame:
    """Weigh a calibration set of 100 segments against the workload of annotators, per language pair.

    table: the result of ``components.estimate``; its median block is that of the campaign and of the set. done: columns
    pair, annotators and additional_hits_median (HITs of ``hit`` judgements, beside the set). shared: of
    ``components.of_pair``.
    Returns pair, annotators, additional_hits, cost_share (of all judgements, spent on the set),
    break_even_hits, pays, se_ratio (standard error of a difference between two systems with the set over that with as
    many more ordinary judgements), best_size (segments, at the same total) and best_se_ratio.
    """
    length, rows = table.set_index("pair")["block_length"], []
    for row in done.itertuples():
        hits, variances = float(row.additional_hits_median), of_pair(table, row.pair, shared=shared)
        total = round(hits * hit) + SET_SIZE
        needed, *weighed = weigh_set(variances, judgements=total, block=length[row.pair])
        rows.append((row.pair, row.annotators, hits, SET_SIZE / total, needed / hit, hits > needed / hit, *weighed))
    names = ["pair", "annotators", "additional_hits", "cost_share", "break_even_hits", "pays", "se_ratio"]
    return pd.DataFrame(rows, columns=[*names, "best_size", "best_se_ratio"])


def smallest_sets(table: pd.DataFrame, *, error: float) -> pd.DataFrame:
    r"""List per language pair how few segments hold the standard error of an annotator's shift at ``error`` points.

    The shift is the mean of many annotators on the set less the annotator's own. With n segments in documents of b
    segments, its standard error is :math:`\sqrt{(b V_{block} + V_{residual}) / n}`; the segments' own difficulty
    cancels, because all annotators see the same. table: of ``components.estimate`` with layout ``calibration``.
    Returns pair, single_segments (each of another document) and whole_documents (of the pair's median length), each in
    segments.

    >>> table = pd.DataFrame({"pair": ["eng-jpn"], "block": [20.0], "residual": [100.0], "block_length": [10.0]})
    >>> smallest_sets(table, error=2).values.tolist()
    [['eng-jpn', 30, 75]]
    """
    known, found = table.fillna({"block": 0.0, "residual": 0.0}), table[["pair"]].reset_index(drop=True)
    for name, length in (("single_segments", 1.0), ("whole_documents", known["block_length"])):
        needed = (length * known["block"] + known["residual"]) / error**2
        found[name] = np.ceil(needed - 1e-9).astype(int).to_numpy()
    return found


def calibration_size(
    ratings: pd.DataFrame, *, sizes: Sequence[int] = (10, 20, 50), resamples: int = 1000, seed: int = 7
) -> pd.DataFrame:
    r"""Hold the closed form of the shift's standard error against smaller sets drawn from a real calibration set.

    Smaller sets are drawn without replacement from the N segments of the whole set: n segments at random, or whole
    documents that make up about n. Half of the m annotators, drawn at random, or all of them take part. The error is
    that of an annotator's shift among m' annotators on n segments against the one among all on all N. With the mean
    squares MS of annotators and residual of the two-way table, its standard error over all draws is

    .. math:: \sqrt{(1 - 1/m')(1/n - 1/N)\,MS_{res} + (1/m' - 1/m)\,MS_{ann}/N}

    which for segments at random is exact, up to the number of draws; so that line checks the computation. For whole
    documents :math:`MS_{res}` is replaced by :math:`b V_{block} + V_{residual}` of ``components.estimate``
    and b the number of segments that share a document with a segment, on average; that line checks the model.
    Returns pair, design, size (mean segments drawn), annotators, se_closed_form, se_subsampled, and se_fresh, which is
    ``se_closed_form`` without the corrections for finite sets: what a new set of that size, chosen in the same way,
    would leave of error against these annotators.
    """
    rng, rows = np.random.default_rng(seed), []
    for pair, group in with_pair(ratings[ratings["item_type"] != "repeat"]).groupby("pair"):
        table = score_matrix(group)
        table = table.loc[:, table.notna().all()]
        scores = table.to_numpy().T  # annotators x items
        m, n_all = scores.shape
        residual = scores - scores.mean(1, keepdims=True) - scores.mean(0) + scores.mean()
        ms = {"res": (residual**2).sum() / ((m - 1) * (n_all - 1)), "ann": n_all * scores.mean(1).var(ddof=1)}
        document = table.index.droplevel("segment").factorize()[0]
        for design, square in (("segments", ms["res"]), ("documents", _block_square(table, document))):
            for size in sizes:
                if size >= n_all or (design == "documents" and document.max() < 2):
                    continue
                picks = _picked(document, size, resamples, rng, whole=design == "documents")
                reached = float(1 / (picks**2).sum(1).mean())
                for people in (m, m // 2):
                    found = _errors(scores, picks, people, rng)
                    within = (1 - 1 / people) * square
                    between = (1 / people - 1 / m) * ms["ann"] / n_all
                    closed = np.sqrt(max(within * (1 / reached - 1 / n_all), 0) + between)
                    rows.append((pair, design, reached, people, closed, found, np.sqrt(within / reached)))
    columns = ["pair", "design", "size", "annotators", "se_closed_form", "se_subsampled", "se_fresh"]
    return pd.DataFrame(rows, columns=columns)


def _block_square(table: pd.DataFrame, document: np.ndarray) -> float:
    """Estimate b V_block + V_residual from items x annotators."""
    items, people = table.shape
    who, item = np.tile(np.arange(people), items), np.repeat(np.arange(items), people)
    where = document[item]
    factors = {"document": where, "item": item, "annotator": who, "block": where * people + who}
    found = equate(table.to_numpy().ravel(), factors).solve(list(factors))
    return float((np.bincount(document) ** 2).sum() / items * found["block"] + found["residual"])


def _picked(
    document: np.ndarray, size: int, resamples: int, rng: np.random.Generator, *, whole: bool = False
) -> np.ndarray:
    """Draw sets of segments, or of whole documents: (resamples, items) weights that add up to 1 in each row."""
    number = document.max() + 1 if whole else len(document)
    count = max(1, round(size * number / len(document)))
    lots = rng.random((resamples, number)).argsort(axis=1)
    chosen = (lots < count)[:, document] if whole else lots.argsort(axis=1) < count
    return chosen / chosen.sum(axis=1, keepdims=True)


def _errors(scores: np.ndarray, picks: np.ndarray, people: int, rng: np.random.Generator) -> float:
    """Return the root mean square error of shifts on drawn segments by drawn annotators."""
    drawn = picks @ scores.T  # resamples x annotators: means on the drawn segments
    full = scores.mean(1)
    who = rng.random(drawn.shape).argsort(axis=1)[:, :people]
    own = np.take_along_axis(drawn, who, axis=1)
    error = (own.mean(1, keepdims=True) - own) - (full.mean() - full[who])
    return float(np.sqrt((error**2).mean()))


def agreed_items(ratings: pd.DataFrame, *, levels: Sequence[float]) -> pd.DataFrame:
    """Find the items whose annotators agreed on a level: level, src_lang, tgt_lang, system, doc, segment, annotators.

    levels: evenly spaced scores. An item belongs to the level nearest to its median. Annotators agreed where there are
    two of them or more, at least half of whom are within half a step of that level.
    """
    steps = np.array(sorted(levels), float)
    key = ["src_lang", "tgt_lang", *ITEM]
    median = ratings.groupby(key)["score"].transform("median").to_numpy()
    level = steps[np.abs(median[:, None] - steps).argmin(axis=1)]
    near = ratings.assign(level=level, near=np.abs(ratings["score"] - level) <= (steps[1] - steps[0]) / 2)
    items = near.groupby(["level", *key], as_index=False).agg(
        near=("near", "mean"), annotators=("annotator", "nunique")
    )
    return items[(items["near"] >= 0.5) & (items["annotators"] >= 2)].drop(columns="near")


def choose_set(
    ratings: pd.DataFrame, *, per_level: int, levels: Sequence[float], seed: int = 7, remedy: str = ""
) -> pd.DataFrame:
    """Choose a calibration set from prior ratings: ``per_level`` items for each score, of those agreed upon.

    Returns the columns of ``agreed_items``, sorted; the same seed chooses the same items in whatever order the ratings
    come. Source: Licht et al. 2022, section 5.2 (200 pairs of each score).
    Raises DataError naming every level that has too few, and how many it has, with ``remedy``.
    """
    agreed = agreed_items(ratings, levels=levels)
    found = agreed["level"].value_counts().reindex(sorted(levels), fill_value=0)
    short = found[found < per_level]
    if len(short):
        lacking = ", ".join(f"{n} at level {level:g}" for level, n in short.items())
        raise DataError(f"Too few items that annotators agreed on: {lacking}, where {per_level} are wanted. {remedy}")
    rng = np.random.default_rng(seed)
    chosen = [agreed[agreed["level"] == level].sample(per_level, random_state=rng) for level in sorted(levels)]
    return pd.concat(chosen).sort_values(list(agreed.columns), ignore_index=True)
