"""Scores of systems as WMT computes them from ratings, held against the official rankings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.schemas import with_pair

#: Decimals that WMT's ranking files print for each scale.
DIGITS = {"raw": 1, "z": 3}
#: Which items of a MTurk campaign count: systems' outputs, and unchanged segments of quality-control copies too.
COUNTED = ("system", "repeat")
_COLUMN = {"raw": "score", "z": "z"}


def system_scores(ratings: pd.DataFrame, *, item_types: tuple[str, ...] = COUNTED) -> pd.DataFrame:
    """Score each system: average the judgements of each segment, then the segments.

    ratings: with ``z`` beside ``score``. item_types: what counts; without "repeat", the unchanged segments shown in a
    degraded context are left out. Returns pair, system, raw, z, segments, judgements and each scale's rank within the
    pair (1 is best; equal scores share the better rank). Source: WMT's rule since 2016, Knowles & Lo 2024, section 3.
    Caveat: the z-scores are taken as published; the means behind them include all items, also those left out here.
    """
    if "z" not in ratings:
        raise DataError("A ranking needs the column z beside score. Load ratings that have both, such as wmt22-mturk.")
    counted = with_pair(ratings[ratings["item_type"].isin(item_types)])
    system = ["pair", "system"]
    segments = counted.groupby([*system, "segment"])[["score", "z"]].mean()
    scores = segments.groupby(system).agg(raw=("score", "mean"), z=("z", "mean"), segments=("z", "size"))
    scores["judgements"] = counted.groupby(system).size()
    scores = scores.reset_index()
    for scale in DIGITS:
        scores[f"rank_{scale}"] = scores.groupby("pair")[scale].rank(ascending=False, method="min").astype(int)
    return scores


def against_official(ratings: pd.DataFrame, official: pd.DataFrame, *, scale: str = "z") -> pd.DataFrame:
    """Hold recomputed scores of systems against the official ones, with and without degraded-context repeats.

    official: text digits as in the ranking files. Returns pair, system, official (number), recomputed, equal (they
    agree in the printed digits), without_repeats, change (without_repeats - recomputed), rank, rank_without, moved
    (places; positive is up), judgements and official_judgements, in the official order. Official pairs without ratings
    are left out.
    """
    both = system_scores(ratings).merge(
        system_scores(ratings, item_types=("system",)), on=["pair", "system"], suffixes=("", "_without"), how="left"
    )
    printed = with_pair(official).reset_index(drop=True).assign(place=np.arange(len(official)))
    printed = printed[printed["pair"].isin(both["pair"])]
    joined = printed[["pair", "system", "place", scale, "segments", "judgements"]].merge(
        both, on=["pair", "system"], how="outer", suffixes=("_official", ""), validate="one_to_one"
    )
    lost = joined[joined["place"].isna() | joined["judgements"].isna()]
    if len(lost):
        row = lost.iloc[0]
        raise DataError(f"{row['pair']}, {row['system']}: only one of ratings and official ranking has this system.")
    joined = joined.sort_values("place", ignore_index=True)
    value = pd.to_numeric(joined[f"{scale}_official"])
    frame = pd.DataFrame(
        {
            "pair": joined["pair"], "system": joined["system"], "official": value, "recomputed": joined[scale],
            "equal": _rounds_to(joined[scale], value, DIGITS[scale]), "without_repeats": joined[f"{scale}_without"],
            "change": joined[f"{scale}_without"] - joined[scale],
            "rank": joined[f"rank_{scale}"], "rank_without": joined[f"rank_{scale}_without"],
            "moved": joined[f"rank_{scale}"] - joined[f"rank_{scale}_without"],
            "judgements": joined["judgements"], "official_judgements": joined["judgements_official"].astype(int),
            "segments": joined["segments"], "official_segments": joined["segments_official"].astype(int),
        }
    )  # fmt: skip
    return frame


def _rounds_to(values: pd.Series, printed: pd.Series, digits: int) -> pd.Series:
    """Tell whether values round to printed ones; a tie may round either way."""
    return (values - printed).abs() <= 0.5 * 10.0**-digits + 1e-9


def tally(compared: pd.DataFrame) -> pd.DataFrame:
    """Count, per data set and language pair, the systems that equal print and those that move without the repeats.

    compared: the result of ``against_official``, with a column ``data``. ``missing_judgements`` are official ones that
    the ratings lack; ``furthest`` is the most places that a system moves.
    """
    missing = compared["official_judgements"] - compared["judgements"]
    frame = compared.assign(missing=missing, up=compared["moved"].ne(0), size=compared["change"].abs())
    grouped = frame.groupby(["data", "pair"], sort=True)
    return grouped.agg(
        systems=("system", "size"), equal=("equal", "sum"), missing_judgements=("missing", "sum"),
        systems_that_move=("up", "sum"), furthest=("moved", lambda moved: int(moved.abs().max())),
        largest_change=("size", "max"),
    ).reset_index()  # fmt: skip


def explain_missing(ratings: pd.DataFrame, compared: pd.DataFrame, *, scale: str) -> pd.DataFrame:
    """Bound each official score that rests on judgements missing from the ratings, if those were all 0.

    Annotators who gave one score throughout have standard deviation 0, hence no z-score, hence no row among the
    standardised ratings; the official files count them, raw as given and z as 0. How many judgements and segments each
    system lacks follows from the official counts. A lacking segment adds a 0; a lacking judgement of a segment that is
    here pulls its mean towards 0, by an amount that depends on which segment it is: hence an interval, taking at most
    one missing judgement a segment. compared: the result of ``against_official``. Returns the rows with missing
    judgements: pair, system, official, recomputed, missing_judgements, missing_segments, lowest and highest (the score
    if the missing ones were 0), explained.
    """
    short = compared[compared["official_judgements"] > compared["judgements"]]
    counted = with_pair(ratings[ratings["item_type"].isin(COUNTED)])
    column, rows = _COLUMN[scale], []
    for row in short.itertuples():
        segments = counted[(counted["pair"] == row.pair) & (counted["system"] == row.system)].groupby("segment")[column]
        mean, size = segments.mean(), segments.size()
        judgements = row.official_judgements - row.judgements
        absent = row.official_segments - row.segments
        pulls = np.sort((mean / (size + 1)).to_numpy())  # what one 0 more takes from the segment's mean
        pulled = judgements - absent
        ends = [
            (mean.sum() - part.sum()) / row.official_segments for part in (pulls[len(pulls) - pulled :], pulls[:pulled])
        ]
        half = 0.5 * 10.0 ** -DIGITS[scale] + 1e-9
        explained = ends[0] - half <= row.official <= ends[1] + half
        rows.append((row.pair, row.system, row.official, row.recomputed, judgements, absent, *ends, explained))
    names = ["pair", "system", "official", "recomputed", "missing_judgements", "missing_segments", "lowest", "highest"]
    return pd.DataFrame(rows, columns=[*names, "explained"])


def flat_annotators(workers: pd.DataFrame) -> pd.DataFrame:
    """Count, per language pair, the annotators without z-scores: one score throughout, or a single judgement.

    workers: the data set ``wmt22-mturk-annotators``. Returns pair, annotators, without_spread, and ``scores``, the
    means of these annotators, which are the scores that they gave.
    """
    frame = with_pair(workers)
    flat = frame[~frame["sd"].gt(0)].groupby("pair")["mean"]
    told = frame.groupby("pair").size().rename("annotators").to_frame()
    told["without_spread"] = flat.size().reindex(told.index, fill_value=0)
    scores = flat.agg(lambda means: ", ".join(f"{score:g}" for score in sorted(set(means))))
    told["scores"] = scores.reindex(told.index).fillna("")
    return told.reset_index()
