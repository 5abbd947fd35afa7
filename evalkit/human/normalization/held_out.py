"""Which way of normalising, and which items to fit it on, bring annotators closest on items held out?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import scale_of
from evalkit.data.schemas import with_pair
from evalkit.human.normalization import forms
from evalkit.human.normalization.mixed import Fit, State, estimate
from evalkit.stats import inference
from evalkit.stats.agreement import of_mean_squares, score_matrix

#: Methods that can be fitted on one half and applied to the other; z from the calibration set is z here.
COMPARED = ("none", "z", "robust", "rank", "normal_scores", "quantile", "ticks", "mixed")


class _Place(NamedTuple):
    """A language pair's scores, annotators × items, with the items' codes of document, segment and system."""

    pair: str
    scores: np.ndarray
    left_out: int
    document: np.ndarray
    segment: np.ndarray
    system: np.ndarray


def held_out(
    ratings: pd.DataFrame,
    *,
    methods: Sequence[str] = COMPARED,
    ticks: int = 7,
    splits: int = 200,
    seed: int = 7,
    scale: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """Compare how far annotators agree on held-out items, after each normalisation fitted on other items.

    ratings: calibration items that all annotators of a pair rated. Items that not even half of the annotators rated
    are left out, then annotators who did not rate all others (``left_out``). Each split fits on half of the documents
    (of the items, where there are fewer than four documents) and measures on the other half.
    ``agreement`` is ICC(A,1) of McGraw & Wong 1996, the share of the variance between judgements that is the items',
    averaged over splits: 1 says that annotators give the same score to the same item. A common shift and a common
    factor leave it alone, so methods with different units compare, and shrinking all scores gains nothing.
    An annotator whom some method leaves without values in a split is left out of that split for all methods;
    ``undefined`` is the share of annotators and splits for which this method is the cause.
    ticks: how many the scale has, its ends included. scale: these ends; None takes the table's own.
    Returns pair, method, annotators, left_out, items, documents, undefined, agreement, low, high, change (against raw
    scores), change_low, change_high, closer (share of splits that agree better than raw scores). Intervals: jackknife
    over annotators with Student's t (a bootstrap would let annotators agree with their own copies).
    Caveats: items are taken as they are, and what the quantile and mixed methods learn from all annotators together
    is not learned anew when one is left out.
    """
    if unknown := [name for name in methods if name not in COMPARED]:
        raise DataError(f"{unknown[0]}: cannot be fitted on one half. Choose among {', '.join(COMPARED)}.")
    names = list(dict.fromkeys(["none", *methods]))
    marks = np.linspace(*scale_of(ratings, given=scale), ticks) if "ticks" in names else np.empty(0)
    rows = []
    for place in _places(ratings):
        use = _halves(place.document, splits, np.random.default_rng(seed))
        moved = {name: _moved(name, place, use, marks) for name in names}
        defined = {name: np.isfinite(values).any(axis=-1) for name, values in moved.items()}  # splits × annotators
        common = np.all(list(defined.values()), axis=0)
        found = {name: _agreement(values, common, ~use) for name, values in moved.items()}
        shape = (len(place.scores), place.left_out, place.scores.shape[1], place.document.max() + 1)
        for name in methods:
            (whole, without), (raw, raw_without) = found[name], found["none"]
            change = [(whole - raw).mean(), *_jackknife(whole - raw, without - raw_without)]
            closer = float((whole > raw).mean())
            values = (whole.mean(), *_jackknife(whole, without), *change, closer)
            rows.append((place.pair, name, *shape, float(1 - defined[name].mean()), *map(float, values)))
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
    table = marked.groupby("method").agg(
        pairs=("pair", "size"),
        agreement=("agreement", "mean"),
        change=("change", "mean"),
        best=("best", "sum"),
        surely_closer=("up", "sum"),
        surely_further=("down", "sum"),
    )
    return table.sort_values("agreement", ascending=False, kind="stable").reset_index()


def common_or_own(ratings: pd.DataFrame, *, splits: int = 200, seed: int = 7) -> pd.DataFrame:
    """Compare z-scores from a common set with z-scores from other documents for every annotator, equally many of them.

    ratings: calibration items, as in ``held_out``. Each split holds half of the documents out. Of the other half,
    *common* draws half of the documents for all annotators alike, as a calibration set does, and *own* as many for
    each annotator anew, as ordinary work does; means and standard deviations come from these.
    Agreement is ICC(A,1) on the held-out documents (see ``held_out``); an annotator whom either way leaves without
    spread in a split is left out of it. Returns pair, annotators, documents (that a statistic rests on), raw, own,
    common (agreement), gain (common - own), low, high: its jackknife interval over annotators.
    Caveat: *own* draws from a handful of documents, so annotators share some by chance, and the gain is understated.
    """
    rows = []
    for place in _places(ratings):
        rng = np.random.default_rng(seed)
        use = _halves(place.document, splits, rng)
        count = max(1, (place.document.max() + 1) // 4)
        people = len(place.scores)
        picks = {"common": _picked(place, use, count, 1, rng), "own": _picked(place, use, count, people, rng)}
        held = np.where(use[:, None], np.nan, place.scores)
        moved = {way: forms.z(held, np.where(chosen, place.scores, np.nan)) for way, chosen in picks.items()}
        defined = np.all([np.isfinite(values).any(axis=-1) for values in moved.values()], axis=0)
        found = {way: _agreement(values, defined, ~use) for way, values in (moved | {"raw": held}).items()}
        means = {way: float(found[way][0].mean()) for way in ("raw", "own", "common")}
        gain, without = (found["common"][k] - found["own"][k] for k in (0, 1))
        row = {"pair": place.pair, "annotators": people, "documents": count, **means, "gain": float(gain.mean())}
        rows.append(row | dict(zip(("low", "high"), _jackknife(gain, without), strict=True)))
    return pd.DataFrame(rows)


def _places(ratings: pd.DataFrame) -> Iterator[_Place]:
    calibration = with_pair(ratings).query("item_type == 'calibration'")
    if calibration.empty:
        raise DataError("No calibration items in these ratings. Give them the item_type 'calibration'.")
    for pair, part in calibration.groupby("pair", sort=True):
        wide = score_matrix(part).T
        common = wide.loc[:, wide.notna().mean() > 0.5].dropna()
        if len(common) < 3 or common.shape[1] < 8:
            raise DataError(
                f"{pair}: {len(common)} annotators rated the same {common.shape[1]} items. A held-out comparison needs "
                "3 annotators and 8 items: leave this pair out, or annotators who skipped much of the set."
            )
        items = common.columns.to_frame(index=False)
        document, segment, system = (
            items.groupby(by).ngroup().to_numpy() for by in ("doc", ["doc", "segment"], "system")
        )
        if document.max() < 3:  # single sentences
            document = np.arange(len(items))
        yield _Place(pair, common.to_numpy(float), len(wide) - len(common), document, segment, system)


def _halves(document: np.ndarray, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Draw half of the documents, anew in each split: splits × items, true where the item is fitted on."""
    number = document.max() + 1
    return rng.permuted(np.tile(np.arange(number) < number // 2, (splits, 1)), axis=1)[:, document]


def _moved(name: str, place: _Place, use: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Normalise the held-out halves, NaN on the fitted ones: splits × annotators × items."""
    fit = np.where(use[:, None], place.scores, np.nan)
    held = np.where(use[:, None], np.nan, place.scores)
    if name == "mixed":
        return _by_model(held, place, use)
    return forms.move(name, held, fit, marks=marks, reference=fit.reshape(len(fit), -1))


def _by_model(held: np.ndarray, place: _Place, use: np.ndarray) -> np.ndarray:
    """Take out biases and gains fitted on each split's half, beginning from the fit on all items."""
    groups, items = place.scores.shape

    def fit(chosen: np.ndarray, start: State | None) -> Fit:
        group, item = np.repeat(np.arange(groups), len(chosen)), np.tile(chosen, groups)
        segment, system = (np.unique(of[item], return_inverse=True)[1] for of in (place.segment, place.system))
        return estimate(place.scores[:, chosen].ravel(), segment, group, system, tolerance=1e-4, start=start)

    start, out = fit(np.arange(items), None).state, np.empty_like(held)
    for split, chosen in enumerate(use):
        found = fit(np.flatnonzero(chosen), start)
        out[split] = (held[split] - found.level - found.bias[:, None]) / np.exp(found.state.log_gain)[:, None]
    return out


def _agreement(values: np.ndarray, people: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ICC(A,1) of each split, (splits,), and with each annotator left out, (splits, annotators)."""
    here = people[:, :, None] & items[:, None]
    centre = np.where(here, values, 0).sum(axis=(1, 2)) / np.maximum(here.sum(axis=(1, 2)), 1)
    y = np.where(here, values - centre[:, None, None], 0.0)
    k, n = people.sum(axis=1), items.sum(axis=1)
    by_item, by_person, squares = y.sum(axis=1), y.sum(axis=2), (y**2).sum(axis=2)
    item_squares, person_squares = (by_item**2).sum(axis=1), (by_person**2).sum(axis=1)
    whole = _icc(item_squares, person_squares, by_person.sum(axis=1), squares.sum(axis=1), k, n)
    crossed = (y * by_item[:, None]).sum(axis=2)
    without = _icc(
        item_squares[:, None] - 2 * crossed + squares,
        person_squares[:, None] - by_person**2,
        by_person.sum(axis=1, keepdims=True) - by_person,
        squares.sum(axis=1, keepdims=True) - squares,
        k[:, None] - people,
        n[:, None],
    )
    return whole, without


def _icc(
    items: np.ndarray, people: np.ndarray, total: np.ndarray, squares: np.ndarray, k: np.ndarray, n: np.ndarray
) -> np.ndarray:
    """Return ICC(A,1) from sums: squared item totals, squared annotator totals, all scores, their squares."""
    mean = total**2 / (k * n)
    between, groups = items / k - mean, people / n - mean
    rest = (squares - mean - between - groups) / ((k - 1) * (n - 1))
    return of_mean_squares(between / (n - 1), groups / (k - 1), rest, n=n, k=k)[0]


def _jackknife(whole: np.ndarray, without: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean over splits, from leaving out one annotator at a time."""
    return inference.jackknife_interval(float(whole.mean()), without.mean(axis=0))


def _picked(place: _Place, use: np.ndarray, count: int, sets: int, rng: np.random.Generator) -> np.ndarray:
    """Draw sets of documents from the fitted half of each split: splits × sets × items, true where one is drawn."""
    fitted = np.stack([use[:, place.document == d].any(axis=1) for d in range(place.document.max() + 1)], axis=1)
    keys = np.where(fitted[:, None], rng.random((len(use), sets, fitted.shape[1])), 2.0)
    return (keys.argsort(axis=2).argsort(axis=2) < count)[:, :, place.document]
