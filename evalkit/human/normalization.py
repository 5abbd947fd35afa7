"""Scores made comparable across annotators: many methods behind one function, and what each does to the scores.

``normalize`` adds normalised scores to a ratings table; ``methods`` says what each way assumes and destroys.
``order_kept``, ``means``: what happens to the order of an annotator's own scores. An annotator whose
statistics are computed once keeps it, for the map is one increasing line; with statistics of its own for each HIT it is
a different line per HIT, and two judgements from two HITs may change places (Knowles & Lo 2024, section 4.3).
``held_out``, ``common_or_own``: which method, and which set of items, brings annotators closest on other items.
The model of bias and gain is in ``evalkit.human.components``.

Within, scores are arrays of groups × judgements; a group is whoever has statistics of their own, an annotator or a HIT.
A form takes ``scores``, what is to be moved, and ``fit``, what each group's statistics are computed from; leading
axes (splits, groups) are the same in both, the last one runs over judgements, NaN is a judgement that is not there.
Where a group's statistics do not exist or their spread is 0, the whole row comes out NaN.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from evalkit import DataError
from evalkit.data.provenance import Scale, scale_of
from evalkit.data.schemas import with_pair
from evalkit.human.calibration import halves, shared_items
from evalkit.human.components import Fit, State, fit_mixed, without_bias
from evalkit.stats import inference
from evalkit.stats.agreement import of_mean_squares
from evalkit.stats.correlation import pearson

#: What ``means`` averages: everything but degraded copies (Knowles & Lo 2024, footnote f).
ORDINARY = ("system", "reference", "repeat")
_WHO = ["pair", "annotator"]
#: Interquartile range of a normal distribution with standard deviation 1.
NORMAL_IQR = 2 * float(special.ndtri(0.75))


#: Name of a method -> its title, the unit of its result, what it assumes, what it destroys. ``by`` says whose
#: statistics: an annotator's, or a HIT's.
METHODS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def methods() -> pd.DataFrame:
    """Tabulate the methods for a report: method, title, unit, assumes, destroys.

    >>> methods()["method"].tolist()[:3]
    ['none', 'z', 'z_calibration']
    """
    return pd.DataFrame.from_dict(METHODS, orient="index").rename_axis("method").reset_index()


#: Methods that can be fitted on one half and applied to the other; z from the calibration set is z here.
COMPARED = tuple(name for name in METHODS if name != "z_calibration")


def normalize(
    ratings: pd.DataFrame,
    *,
    method: str = "z",
    by: Sequence[str] = ("annotator",),
    ddof: int = 1,
    item_types: Sequence[str] | None = None,
    digits: int | None = None,
    no_spread: str = "missing",
    ticks: int = 7,
    scale: Scale | None = None,
) -> pd.DataFrame:
    """Add the column ``normalized``: scores made comparable across groups, within each language pair.

    method: a name in ``METHODS``, which tells unit, assumptions and losses. by: the columns that make a group, such as
    ("annotator",) or ("hit",). item_types: what statistics are computed from (None: everything; ``z_calibration``:
    calibration items); all rows are transformed. ddof (of z) and digits (significant digits of centre and spread, of z
    and robust): how published pipelines differ. no_spread: what becomes of groups whose statistics are undefined:
    "missing" (NaN), or "zero" (the value in the middle: 0, of ranks 1/2, of points the pair's mean).
    ticks: how many the scale has, its ends included. scale: these ends; None takes the table's own.
    ``quantile`` takes the distribution of all scores of the pair that ``item_types`` admits.
    Source: z since WMT13 (Graham et al. 2013); Knowles & Lo 2024, section 4.3, on whose statistics to use.

    >>> frame = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "annotator": list("aaabb"), "item_type": "system",
    ...     "score": [10.0, 20, 30, 50, 50]})
    >>> normalize(frame)["normalized"].tolist()
    [-1.0, 0.0, 1.0, nan, nan]
    """
    if method not in METHODS:
        raise DataError(f"method={method!r} is not known. Choose one of: {', '.join(METHODS)}.")
    if no_spread not in ("missing", "zero"):
        raise DataError(f"no_spread={no_spread!r} is not known. Choose missing or zero.")
    _demand(ratings, *by, "score")
    item_types = ("calibration",) if method == "z_calibration" else item_types
    use = ratings["item_type"].isin(item_types) if item_types else pd.Series(True, index=ratings.index)
    if item_types and not use.any():
        raise DataError(f"Statistics of {' and '.join(item_types)} items are asked for, and these ratings have none.")
    marks = np.linspace(*scale_of(ratings, given=scale), ticks) if method == "ticks" else np.empty(0)
    pairs, values = with_pair(ratings)["pair"], np.full(len(ratings), np.nan)
    for pair, rows in pairs.groupby(pairs).indices.items():
        part = ratings.iloc[rows]
        scores = part["score"].to_numpy(float)
        if method == "mixed":
            try:
                values[rows] = without_bias(part, by=by, used=use.to_numpy()[rows])
            except DataError as problem:
                raise DataError(f"{pair}: {problem}") from problem
            continue
        group = part.groupby(list(by), sort=True).ngroup()
        place = (group.to_numpy(), group.groupby(group).cumcount().to_numpy())
        table = np.full((group.max() + 1, place[1].max() + 1), np.nan)
        fit = table.copy()
        table[place], fit[place] = scores, np.where(use.to_numpy()[rows], scores, np.nan)
        values[rows] = move(method, table, fit, marks=marks, ddof=ddof, digits=digits)[place]
    frame = ratings.assign(normalized=values)
    if no_spread == "zero":
        middle = frame["normalized"].groupby(pairs).transform("mean") if METHODS[method]["unit"] == "points" else 0.0
        frame["normalized"] = frame["normalized"].fillna(0.5 if method == "rank" else middle)
    return frame


def significant(values: ArrayLike, digits: int | None) -> np.ndarray:
    """Round to so many significant digits, as a program that prints and reads its numbers does; None: not at all.

    >>> significant([69.123456789, 0.00123456], 3).tolist()
    [69.1, 0.00123]
    """
    values = np.asarray(values, float)
    if digits is None:
        return values
    return np.array([float(f"{value:.{digits - 1}e}") for value in values.ravel()]).reshape(values.shape)


def move(
    method: str, scores: np.ndarray, fit: np.ndarray, *, marks: ArrayLike = (), ddof: int = 1, digits: int | None = None
) -> np.ndarray:
    """Move scores by the method of this name; marks: of ``ticks``; ddof, digits: as in ``normalize``.

    robust: quartiles interpolate linearly (R's type 7); half of all scores being equal, their range may be 0 although
    others differ: then nothing is defined. ticks: from the middle between two, to the upper one.

    >>> move("z", np.array([[1.0, 3.0]]), np.array([[1.0, 2.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    >>> move("ticks", np.array([[4.0, 25.0, 26.0]]), np.empty((1, 0)), marks=[0, 50, 100]).tolist()
    [[0.0, 50.0, 50.0]]
    """
    match method:
        case "none":
            return np.array(scores, float)
        case "z" | "z_calibration" | "robust":
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of groups without scores
                if method == "robust":
                    low, centre, high = np.nanquantile(fit, [0.25, 0.5, 0.75], axis=-1)
                    low, centre, high = (significant(value, digits) for value in (low, centre, high))
                    spread = (high - low) / NORMAL_IQR
                else:
                    centre = significant(np.nanmean(fit, -1), digits)
                    spread = significant(np.nanstd(fit, -1, ddof=ddof), digits)
            return (scores - centre[..., None]) / np.where(spread > 0, spread, np.nan)[..., None]
        case "rank":
            return fraction(scores, fit)
        case "normal_scores":
            return special.ndtri(fraction(scores, fit))
        case "quantile":
            return quantile(scores, fit, reference=fit.reshape(*fit.shape[:-2], -1))
        case "ticks":
            places = np.sort(np.asarray(marks, float))
            nearest = np.searchsorted((places[1:] + places[:-1]) / 2, scores, side="right")
            return np.where(np.isfinite(scores), places[nearest], np.nan)
    raise DataError(f"method={method!r} moves no score by itself.")


def fraction(scores: np.ndarray, fit: np.ndarray) -> np.ndarray:
    """Return which fraction of a group's own scores lies below each score, ties counted half; from 0 to 1.

    Within ``fit`` this is (midrank - 1/2) / n. Scores beyond all of ``fit`` get 1/(2n) or 1 - 1/(2n), as its ends do.

    >>> fraction(np.array([[10.0, 20.0, 99.0]]), np.array([[10.0, 20.0, 20.0, 40.0]])).tolist()
    [[0.125, 0.5, 0.875]]
    """
    out = np.full(scores.shape, np.nan)
    for row, own, reference in zip(_rows(out), _rows(scores), _rows(fit), strict=True):
        ordered, there = np.sort(reference[np.isfinite(reference)]), np.isfinite(own)
        if n := len(ordered):
            below, upto = (np.searchsorted(ordered, own[there], side) for side in ("left", "right"))
            row[there] = np.clip((below + upto) / (2 * n), 0.5 / n, 1 - 0.5 / n)
    return out


def quantile(scores: np.ndarray, fit: np.ndarray, *, reference: np.ndarray) -> np.ndarray:
    """Give each score the value that stands at the same fraction of a reference distribution; unit: the reference's.

    reference: (..., values), NaN ignored, with the leading axes of ``scores`` but for the groups'. Quantiles are
    Hazen's, so that a group whose scores are the reference keeps them, up to ties.
    """
    fractions = fraction(scores, fit)
    out = np.full(scores.shape, np.nan)
    shape = (-1, *scores.shape[-2:])
    for block, at, values in zip(out.reshape(shape), fractions.reshape(shape), _rows(reference), strict=True):
        there, known = np.isfinite(at), values[np.isfinite(values)]
        block[there] = np.quantile(known, at[there], method="hazen")
    return out


def _rows(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, float).reshape(-1, np.shape(values)[-1])


def order_kept(ratings: pd.DataFrame) -> pd.DataFrame:
    """Correlate every annotator's scores before and after normalising: 1 says that their order is kept.

    ratings: as ``normalize`` returns them, with ``hit``. Returns pair, annotator, hits, judgements, rho (Spearman, ties
    averaged), pearson, the furthest from 1 first within each pair. Judgements without a normalised score are left
    out; a correlation is NaN where one side does not vary.  Caveat: an annotator with one HIT has rho 1 by
    construction, so look at those with several.

    >>> frame = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "annotator": "a", "hit": list("hhkk"),
    ...     "score": [10.0, 30, 20, 40], "normalized": [-0.7, 0.7, -0.7, 0.7]})
    >>> order_kept(frame)[["hits", "judgements", "rho"]].round(2).values.tolist()
    [[2.0, 4.0, 0.89]]
    """
    _demand(ratings, "score", "normalized", "hit")
    there = with_pair(ratings)[[*_WHO, "hit", "score", "normalized"]].dropna()
    if there.empty:
        raise DataError("No row has both score and normalized. Were the scores normalised without any spread?")
    judged = there.groupby(_WHO)
    table = judged.agg(hits=("hit", "nunique"), judgements=("score", "size"))
    columns, who = there[["score", "normalized"]], [there[name] for name in _WHO]
    for name, values in (("rho", judged[[*columns]].rank()), ("pearson", columns)):
        table[name] = values.groupby(who).corr()["score"].xs("normalized", level=2).clip(-1, 1)
    return table.reset_index().sort_values(["pair", "rho"], kind="stable", ignore_index=True)


def order_summary(kept: pd.DataFrame, *, by: list[str]) -> pd.DataFrame:
    """Summarise ``order_kept`` over annotators with several HITs, for whom the question arises.

    by: columns that name what is summarised apart, such as the pair. Returns these, annotators, several_hits, lowest,
    median, above_0.9 (share of those with several HITs whose rho is above 0.9), reordered (how many of those have a
    rho below 1).
    """
    defined = kept.dropna(subset="rho")
    several = defined[defined["hits"] > 1].groupby(by)["rho"]
    table = kept.groupby(by, sort=False).agg(annotators=("annotator", "size"))
    table["several_hits"] = several.size().reindex(table.index, fill_value=0)
    table = table.join(several.agg(["min", "median"]).rename(columns={"min": "lowest"}))
    table["above_0.9"] = several.agg(lambda rho: (rho > 0.9).mean())
    table["reordered"] = several.agg(lambda rho: (rho < 1 - 1e-12).sum()).reindex(table.index, fill_value=0).astype(int)
    return table.reset_index()


def means(ratings: pd.DataFrame, *, calibration: pd.DataFrame | None = None) -> pd.DataFrame:
    """Set annotators' means and the means of their single HITs against a reference mean (Knowles & Lo 2024, Figure 3).

    ratings: with ``hit``. calibration: a table of calibration items; None: the calibration items in ``ratings``, if
    there are any. Where an annotator has calibration items, their mean is the ``reference``, and rows of both levels
    follow; where no one has, the reference is the annotator's own mean over all their HITs, and HITs alone follow.
    Degraded and calibration items of ``ratings`` do not count.
    Returns pair, annotator, level ("annotator" or "HIT"), hit (empty for an annotator), judgements, sd, reference,
    mean; points of the scale. Annotators without calibration items are left out where others have some.
    """
    _demand(ratings, "score", "hit")
    everything = with_pair(ratings)
    known = with_pair(calibration) if calibration is not None else everything
    known = known[known["item_type"] == "calibration"]
    counted = everything[everything["item_type"].isin(ORDINARY)]
    scores = {"judgements": ("score", "size"), "sd": ("score", "std"), "mean": ("score", "mean")}
    by_annotator = counted.groupby(_WHO).agg(**scores).reset_index().assign(level="annotator", hit="")
    by_hit = counted.groupby([*_WHO, "hit"]).agg(**scores).reset_index().assign(level="HIT")
    if known.empty:
        table, reference = by_hit, by_annotator.set_index(_WHO)["mean"]
    else:
        table, reference = pd.concat([by_annotator, by_hit]), known.groupby(_WHO)["score"].mean()
    table = table.merge(reference.rename("reference").reset_index(), on=_WHO, how="left")
    there = table["reference"].notna()
    if not there.any():
        raise DataError("No annotator here has calibration items. Do both tables use the same names of annotators?")
    return table.loc[there, [*_WHO, "level", "hit", "judgements", "sd", "reference", "mean"]].reset_index(drop=True)


def mean_distances(compared: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``means``: how far means lie from their reference, and how far they would by chance alone.

    Returns pair, level, n, median and largest distance (points), by_chance, r (Pearson's, with the reference).
    by_chance is the median distance expected if every HIT were a random sample of its annotator's judgements (their sd
    over the root of n, times 0.674, shrunk for the share of the HIT in the annotator's mean); a larger median says
    that HITs differ by what is in them, or that annotators drift. It is NaN where the reference is a calibration set.
    """
    own_mean = not compared["level"].eq("annotator").any()
    several = compared.groupby([*_WHO, "level"])["hit"].transform("size") > 1
    own = compared[compared["level"].eq("annotator") | (several if own_mean else True)]
    who = [own[name] for name in (*_WHO, "level")]
    total = own["judgements"].groupby(who).transform("sum")
    within = (own["sd"] ** 2 * own["judgements"]).groupby(who).transform("sum") / total
    chance = NORMAL_IQR / 2 * np.sqrt(within * (1 / own["judgements"] - 1 / total)) if own_mean else np.nan
    own = own.assign(distance=(own["mean"] - own["reference"]).abs(), chance=chance)
    groups = own.groupby(["pair", "level"])
    columns = {"median": ("distance", "median"), "largest": ("distance", "max"), "by_chance": ("chance", "median")}
    r = {key: float(pearson(part["reference"], part["mean"])) for key, part in groups if len(part) > 2}
    return groups.agg(n=("mean", "size"), **columns).assign(r=pd.Series(r, dtype=float)).reset_index()


def _demand(ratings: pd.DataFrame, *columns: str) -> None:
    if lacking := [name for name in columns if name not in ratings]:
        raise DataError(
            f"These ratings have no column {', '.join(lacking)}; they have {', '.join(ratings.columns)}. Load ratings "
            "that have it, or normalise them first."
        )


def held_out(ratings: pd.DataFrame, *, splits: int = 200, seed: int = 7) -> pd.DataFrame:
    """Compare how far annotators agree on held-out items, after each normalisation fitted on other items.

    ratings: calibration items that all annotators of a pair rated (see ``calibration.shared_items``). Each split fits
    on half of the documents and measures on the other half (``calibration.halves``).
    ``agreement`` is ICC(A,1) of McGraw & Wong 1996, the share of the variance between judgements that is the items',
    averaged over splits: 1 says that annotators give the same score to the same item. A common shift and a common
    factor leave it alone, so methods with different units compare, and shrinking all scores gains nothing.
    An annotator whom some method leaves without values in a split is left out of that split for all methods;
    ``undefined`` is the share of annotators and splits for which this method is the cause.
    Ticks are seven, evenly over the table's scale.
    Returns pair, method, annotators, left_out, items, documents, undefined, agreement, low, high, change (against raw
    scores), change_low, change_high, closer (share of splits that agree better than raw scores). Intervals: jackknife
    over annotators with Student's t (a bootstrap would let annotators agree with their own copies).
    Caveats: items are taken as they are, and what the quantile and mixed methods learn from all annotators together
    is not learned anew when one is left out.
    """
    marks = np.linspace(*scale_of(ratings), 7)
    rows = []
    for pair, table, left_out, document in shared_items(ratings, fewest=8):
        use, scores = halves(document, splits, np.random.default_rng(seed)), table.to_numpy(float)
        held, fit = np.where(use[:, None], np.nan, scores), np.where(use[:, None], scores, np.nan)
        moved = {name: move(name, held, fit, marks=marks) for name in COMPARED if name != "mixed"}
        moved["mixed"] = _by_model(held, table, use)
        defined = {name: np.isfinite(values).any(axis=-1) for name, values in moved.items()}  # splits × annotators
        common = np.all(list(defined.values()), axis=0)
        found = {name: _agreement(values, common, ~use) for name, values in moved.items()}
        shape, (raw, raw_without) = (len(table), left_out, table.shape[1], document.max() + 1), found["none"]
        for name in COMPARED:
            whole, without = found[name]
            change = ((whole - raw).mean(), *_jackknife(whole - raw, without - raw_without), (whole > raw).mean())
            values = (1 - defined[name].mean(), whole.mean(), *_jackknife(whole, without), *change)
            rows.append((pair, name, *shape, *map(float, values)))
    columns = (
        "pair method annotators left_out items documents undefined agreement low high "
        "change change_low change_high closer"
    )
    return pd.DataFrame(rows, columns=columns.split())


def summarize_cross_validation(held: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``held_out`` over language pairs, the method with the highest mean agreement first.

    Returns method, pairs, agreement and change (means over pairs), best (pairs in which no method agrees better),
    surely_closer and surely_further (pairs in which the interval of change lies above or below 0).
    """
    top = held.groupby("pair")["agreement"].transform("max")
    marked = held.assign(best=held["agreement"].eq(top), up=held["change_low"].gt(0), down=held["change_high"].lt(0))
    counts = {"best": ("best", "sum"), "surely_closer": ("up", "sum"), "surely_further": ("down", "sum")}
    averages = {name: (name, "mean") for name in ("agreement", "change")}
    table = marked.groupby("method").agg(pairs=("pair", "size"), **averages, **counts)
    return table.sort_values("agreement", ascending=False, kind="stable").reset_index()


def _by_model(held: np.ndarray, table: pd.DataFrame, use: np.ndarray) -> np.ndarray:
    """Take out biases and gains fitted on each split's half, beginning from the fit on all items."""
    scores, items = table.to_numpy(float), table.columns.to_frame(index=False)
    segments, systems = (items.groupby(key).ngroup().to_numpy() for key in (["doc", "segment"], "system"))

    def fit(chosen: np.ndarray, start: State | None) -> Fit:
        segment, system = (
            np.tile(np.unique(codes[chosen], return_inverse=True)[1], len(scores)) for codes in (segments, systems)
        )
        group = np.repeat(np.arange(len(scores)), len(chosen))
        return fit_mixed(scores[:, chosen].ravel(), segment, group, system, tolerance=1e-4, start=start)

    start, people = fit(np.arange(len(items)), None).state, np.arange(len(scores))[:, None]
    fits = (fit(np.flatnonzero(chosen), start) for chosen in use)
    return np.array([own.moved(values, people) for own, values in zip(fits, held)])


def _agreement(values: np.ndarray, people: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ICC(A,1) of each split, (splits,), and with each annotator left out, (splits, annotators).

    values: (splits, annotators, items); people, items: who and what counts in a split. On a table without gaps the
    mean squares follow from the covariances of annotators and their means.
    """
    here = people[:, :, None] & items[:, None]
    n = items.sum(axis=1, keepdims=True)
    means = np.where(here, values, 0).sum(axis=2) / n
    off = np.where(here, values - means[:, :, None], 0)
    covariance = off @ off.swapaxes(1, 2) / (n - 1)[:, :, None]
    who = people[:, None] & np.vstack([np.ones((1, people.shape[1]), bool), ~np.eye(people.shape[1], dtype=bool)])
    k = who.sum(axis=2)  # splits × (all, each left out)
    total = ((who @ covariance) * who).sum(axis=2) / k
    own = who @ np.diagonal(covariance, axis1=1, axis2=2)[:, :, None]
    centre = (who @ means[:, :, None]) / k[:, :, None]
    between = n * (((means[:, None] - centre) * who) ** 2).sum(axis=2) / (k - 1)
    found = of_mean_squares(total, between, (own[:, :, 0] - total) / (k - 1), n=n, k=k)[0]
    return found[:, 0], found[:, 1:]


def _jackknife(whole: np.ndarray, without: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean over splits, from leaving out one annotator at a time."""
    return inference.jackknife_interval(float(whole.mean()), without.mean(axis=0))
