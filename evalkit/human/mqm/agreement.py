"""How far MQM judgements agree: formula and annotator, rater and rater, and where on the text errors are marked."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.mqm.unitizing import merged, unitised_alpha
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
        own, names = both["own_score"].to_numpy(), both["segment"].astype("str")
        estimate = float(correlation.kendall_b(formula, own))
        tau = partial(weighted.kendall_b_of_values, formula, own)
        low, high = (np.nan, np.nan)
        if resamples:
            low, high = inference.interval(inference.resample(tau, names, resamples=resamples, seed=rng))
        rows.append((name, estimate, low, high, float(correlation.pearson(formula, own)),
                     float((formula == own).mean()), len(both), len(group) - len(both)))  # fmt: skip
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
    rows = [(f"Kendall's tau-b of two raters, {how}", float(taus.agg(how)), np.nan, np.nan, *matrix.shape)
            for how in ("mean", "min", "max")]  # fmt: skip
    measures = [("krippendorff_alpha", "interval"), ("krippendorff_alpha", "ordinal")]
    found = agreement.coefficients(matrix, measures=measures, resamples=resamples, seed=seed)
    rows += [(f"Krippendorff's alpha ({row.level})", row.estimate, row.low, row.high, *matrix.shape)
             for row in found.itertuples()]  # fmt: skip
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
    items = common[ITEM].astype("str").drop_duplicates().merge(
        texts[ITEM].astype("str").assign(length=texts["hypothesis"].str.len()), on=ITEM, validate="one_to_one"
    )  # fmt: skip
    kept = spans[spans["side"].eq("target") & (spans["end"] > spans["start"])]
    columns = [*ITEM, "annotator", "severity", "error_type"]
    marked = kept[columns].astype("str").assign(start=kept["start"], end=kept["end"])
    marked = marked.assign(category=marked["error_type"].str.partition("/")[0]).merge(items, on=ITEM)
    groups = list(items.groupby(["doc", "segment"]).indices.values())
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
