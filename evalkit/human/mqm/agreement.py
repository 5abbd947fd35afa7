"""How far MQM judgements agree: formula and annotator, rater and rater, and where on the text errors are marked."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT, segment_names, with_pair
from evalkit.stats import agreement, correlation, inference, weighted

#: What may have to agree for two marked stretches to be compared: that something is wrong there, how badly, and what.
SPANS_MEASURES = {"any error": None, "severity": "severity", "category": "category"}


def formula_against_own(
    ratings: pd.DataFrame, *, resamples: int = 200, seed: int = 7, by: str = "tgt_lang"
) -> pd.DataFrame:
    """Correlate the formula's score with the annotator's own: by, kendall_b, low, high, pearson, equal, n, missing.

    ``equal`` is the share of judgements in which both are the same number; ``missing`` counts own scores that are not
    there. Formula scores below 0 count as 0, for annotators could give no negative ones.
    Intervals are 95 % percentile bootstraps over sentences.
    """
    rows, rng = [], np.random.default_rng(seed)
    for name, group in ratings.groupby(by, sort=False, observed=True):
        both = group.dropna(subset="own_score")
        formula = both["score"].clip(lower=0).to_numpy()
        own, names = both["own_score"].to_numpy(), segment_names(both)
        estimate = float(correlation.kendall_b(formula, own))
        tau = partial(weighted.kendall_b_of_values, formula, own)
        draws = inference.resample(tau, names, resamples=resamples, seed=rng) if resamples else [np.nan]
        low, high = map(float, inference.interval(draws))
        rows.append(
            (
                name,
                estimate,
                low,
                high,
                float(correlation.pearson(formula, own)),
                float((formula == own).mean()),
                len(both),
                len(group) - len(both),
            )
        )
    return pd.DataFrame(rows, columns=[by, "kendall_b", "low", "high", "pearson", "equal", "n", "missing"])


def crossed(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgements of items that every annotator of their language pair judged."""
    named = with_pair(ratings)
    annotators = named.groupby("pair")["annotator"].transform("nunique")
    kept = named.groupby(["pair", *ITEM])["annotator"].transform("nunique").eq(annotators) & annotators.gt(1)
    if not kept.any():
        raise DataError("No item was judged by all annotators of its language pair, so none can be compared.")
    return ratings[kept.to_numpy()]


def rater_agreement(ratings: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Estimate how far raters' scores agree on items that all of them judged.

    Returns measure, estimate, low, high, items, annotators: the mean, lowest and highest Kendall's tau-b of two raters,
    and Krippendorff's alpha (interval, ordinal). Intervals of alpha are 95 % bootstraps over items.
    """
    common = crossed(ratings)
    taus = agreement.correlations(common).query("statistic == 'kendall_b'")["value"]
    matrix = agreement.score_matrix(common)
    rows = [
        (f"Kendall's tau-b of two raters, {how}", float(taus.agg(how)), np.nan, np.nan, *matrix.shape)
        for how in ("mean", "min", "max")
    ]
    measures = [("krippendorff_alpha", "interval"), ("krippendorff_alpha", "ordinal")]
    found = agreement.coefficients(matrix, measures=measures, resamples=resamples, seed=seed)
    rows += [
        (f"Krippendorff's alpha ({row.level})", row.estimate, row.low, row.high, *matrix.shape)
        for row in found.itertuples()
    ]
    return pd.DataFrame(rows, columns=["measure", "estimate", "low", "high", "items", "annotators"])


def span_agreement(
    ratings: pd.DataFrame,
    spans: pd.DataFrame,
    texts: pd.DataFrame,
) -> pd.DataFrame:
    """Estimate how far raters mark the same stretches of translations that all of them judged, beyond chance.

    texts: the translations, for their lengths. Overlapping or touching errors of one rater are one unit; errors in the
    source and errors of no length are left out. All translations, one after another, are one continuum.
    Returns compared (a name of ``SPANS_MEASURES``), alpha (Krippendorff's for units), low, high (jackknife over source
    segments: each left out in turn), characters (Krippendorff's nominal alpha of single characters, for which a long
    unit does not weigh by its square; only for "any error"), units, translations, annotators.
    """
    common = crossed(ratings)
    raters = common["annotator"].nunique()
    items = (
        common[ITEM]
        .astype("str")
        .drop_duplicates()
        .merge(texts[ITEM].astype("str").assign(length=texts["hypothesis"].str.len()), on=ITEM, validate="one_to_one")
    )
    kept = spans[spans["side"].eq("target") & (spans["end"] > spans["start"])]
    columns = [*ITEM, "annotator", "severity", "error_type"]
    marked = kept[columns].astype("str").assign(start=kept["start"], end=kept["end"])
    marked = marked.assign(category=marked["error_type"].str.partition("/")[0]).merge(items, on=ITEM)
    groups = list(items.groupby([*SEGMENT]).indices.values())
    everything = np.arange(len(items))
    place = pd.Series(np.arange(len(items)), index=pd.MultiIndex.from_frame(items[ITEM]))
    item = place.loc[list(marked[ITEM].itertuples(index=False, name=None))].to_numpy()
    lengths, rows = items["length"].to_numpy(), []
    for name, column in SPANS_MEASURES.items():
        kind = marked[column] if column else "any"
        units = merged(marked.assign(item=item, category=kind), by=["item", "annotator", "category"])
        units = units.assign(**{key: pd.factorize(units[key], sort=True)[0] for key in ("annotator", "category")})
        value = _alpha(units, everything, lengths, raters)
        without = [_alpha(units, np.setdiff1d(everything, group), lengths, raters) for group in groups]
        low, high = inference.jackknife_interval(value, without)
        characters = _characters(units, lengths, raters) if column is None else np.nan
        rows.append((name, value, low, high, characters, len(units), len(items), raters))
    columns = ["compared", "alpha", "low", "high", "characters", "units", "translations", "annotators"]
    return pd.DataFrame(rows, columns=columns)


def _characters(units: pd.DataFrame, lengths: np.ndarray, raters: int) -> float:
    """Compute Krippendorff's nominal alpha of every character, marked or not."""
    begins = np.cumsum(lengths) - lengths
    changes = np.zeros((raters, int(lengths.sum()) + 1))
    who = pd.factorize(units["annotator"])[0]
    offset = begins[units["item"].to_numpy()]
    np.add.at(changes, (who, (units["start"].to_numpy() + offset).astype(int)), 1)
    np.add.at(changes, (who, (units["end"].to_numpy() + offset).astype(int)), -1)
    marked = (changes.cumsum(axis=1)[:, :-1] > 0).sum(axis=0)  # how many raters marked each character
    size = marked.size * raters
    observed = (2 * marked * (raters - marked)).sum() / (size * (raters - 1))
    expected = 2 * marked.sum() * (size - marked.sum()) / (size * (size - 1))
    return float(1 - observed / expected)


def _alpha(units: pd.DataFrame, picks: np.ndarray, lengths: np.ndarray, raters: int) -> float:
    """Lay the picked translations out as one continuum and compare the units on it."""
    ends = np.cumsum(lengths[picks])
    begins = np.full(len(lengths), -1)
    begins[picks] = ends - lengths[picks]
    offset = begins[units["item"].to_numpy()]
    placed = units.assign(start=units["start"] + offset, end=units["end"] + offset)[offset >= 0]
    return unitised_alpha(placed, length=int(ends[-1]), annotators=raters)


def unitised_alpha(units: pd.DataFrame, *, length: int, annotators: int) -> float:
    """Estimate agreement beyond chance of annotators who marked units (stretches) on one continuum; 1 is perfect.

    units: columns annotator, start, end (end excluded, whole numbers), and optionally ``category``, within which units
    are compared; the units of one annotator and category do not overlap (``merged`` sees to that). length: of the
    continuum; annotators: how many marked it, also those who marked nothing.
    What two annotators differ by is the squared distance of the borders of units that overlap, and the squared length
    of a unit that lies within the other's gap; what chance gives is the mean of that over all places where the marked
    units could lie. NaN where nobody marked anything.
    Source: Krippendorff 1995, On the reliability of unitizing continuous data, Sociological Methodology 25; 2004,
    Content Analysis, section 11.6. Caveat: a long unit weighs by the square of its length.

    >>> marks = pd.DataFrame({"annotator": ["a", "b", "a", "b"], "start": [5, 5, 20, 21], "end": [9, 9, 26, 26]})
    >>> round(unitised_alpha(marks, length=40, annotators=2), 3)
    0.981
    """
    who, names = pd.factorize(units["annotator"], sort=True)
    if len(names) > annotators:
        raise DataError(f"{len(names)} annotators marked units, but annotators={annotators}. Count all who marked.")
    kind = pd.factorize(units["category"], sort=True)[0] if "category" in units else np.zeros(len(units), int)
    start, end = units["start"].to_numpy(float), units["end"].to_numpy(float)
    order = np.lexsort((start, who, kind))
    observed = expected = 0.0
    for same in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1) if len(order) else ():
        marked = _Marked(who[same], start[same], end[same], length, annotators)
        observed += marked.observed()
        expected += marked.expected()
    return 1.0 - observed / expected if expected > 0 else float("nan")


def merged(spans: pd.DataFrame, *, by: list[str]) -> pd.DataFrame:
    """Join overlapping or touching stretches within ``by`` into units: by, start, end.

    >>> marks = pd.DataFrame({"annotator": ["a", "a", "a"], "start": [0, 3, 8], "end": [4, 6, 9]})
    >>> merged(marks, by=["annotator"])
      annotator  start  end
    0         a      0    6
    1         a      8    9
    """
    order = spans[spans["end"] > spans["start"]].sort_values([*by, "start", "end"], kind="stable", ignore_index=True)
    groups = [order[name] for name in by]
    reach = order.groupby(by, observed=True)["end"].cummax().groupby(groups, observed=True).shift()
    fresh = (reach.isna() | (order["start"] > reach)).cumsum().rename("unit")
    units = order.groupby([*by, fresh], observed=True, sort=False).agg(start=("start", "min"), end=("end", "max"))
    return units.reset_index().drop(columns="unit")


class _Marked(NamedTuple):
    """Hold the units of all annotators, (units,), in order of annotators and of their starts."""

    who: np.ndarray
    start: np.ndarray
    end: np.ndarray
    length: int
    annotators: int

    def observed(self) -> float:
        """Sum what every two annotators' units differ by, per pair of annotators and squared length."""
        apart = (self.length + 1) * np.arange(self.annotators)  # a continuum for each annotator, one after another
        starts, ends = self.start + apart[self.who], self.end + apart[self.who]
        first = np.searchsorted(
            ends, self.start[:, None] + apart, side="right"
        )  # their first that ends after mine starts
        last = np.searchsorted(
            starts, self.end[:, None] + apart, side="left"
        )  # the one after their last before it ends
        times = np.maximum(
            last - first, 0
        )  # (units, annotators): how many of theirs overlap mine; mine overlaps itself
        in_gaps = ((self.end - self.start) ** 2 * (times == 0).sum(axis=1)).sum()
        count = times.ravel()
        mine = np.repeat(np.arange(len(self.who)), times.sum(axis=1))
        theirs = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first.ravel(), count)
        between = ((self.start[mine] - self.start[theirs]) ** 2 + (self.end[mine] - self.end[theirs]) ** 2).sum()
        return float((between + 2 * in_gaps) / (self.annotators * (self.annotators - 1) * self.length**2))

    def expected(self) -> float:
        """Average what two units differ by over all their possible places, gaps included."""
        sizes = self.end - self.start
        free = np.sort(self.gaps())
        total = self.annotators * self.length
        overlaps = (len(sizes) - 1) / 3 * (2 * sizes**3 - 3 * sizes**2 + sizes)
        after = np.concatenate([np.cumsum(free[::-1])[::-1], [0.0]])  # the sum of the gaps from each one on
        from_gap = np.searchsorted(free, sizes, side="left")
        fitting = len(free) - from_gap
        contained = sizes**2 * (after[from_gap] - fitting * (sizes - 1))
        pairs = total * (total - 1) - (sizes * (sizes - 1)).sum()
        return float(2 / self.length * (overlaps + contained).sum() / pairs)

    def gaps(self) -> np.ndarray:
        """Measure the stretches that an annotator left between units, before the first and after the last."""
        first = np.diff(self.who, prepend=-1) > 0
        before = np.where(first, 0.0, np.concatenate([[0.0], self.end[:-1]]))
        last = np.zeros(self.annotators)
        np.maximum.at(last, self.who, self.end)
        sizes = np.concatenate([self.start - before, self.length - last])
        return sizes[sizes > 0]
