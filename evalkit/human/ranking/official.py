"""Compare recomputed scores and clusters with the official rankings, and explain what differs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import segment_names, with_pair
from evalkit.human.ranking.pairwise import pairwise_tests, significance_clusters
from evalkit.human.ranking.scores import COUNTED, system_scores

#: Decimals that WMT's ranking files print for each scale.
DIGITS = {"z": 3, "raw": 1}
#: Significant digits of WMT's files of segment scores, which decide what counts as a tie.
FILE_DIGITS = 15
_COLUMN = {"raw": "score", "z": "z"}


def compare_with_official(ratings: pd.DataFrame, official: pd.DataFrame, *, scale: str = "z") -> pd.DataFrame:
    """Compare recomputed scores of systems with the official ones, with and without degraded-context repeats.

    official: text digits as in the ranking files. Returns pair, system, official (number), recomputed, equal (they
    agree in the printed digits), without_repeats, change (without_repeats - recomputed), rank, rank_without, moved
    (places; positive is up), judgements and official_judgements, in the official order. Official pairs without ratings
    are left out.
    """
    column = _COLUMN[scale]
    without = system_scores(ratings, score=column, item_types=("system",))
    both = system_scores(ratings, score=column).merge(
        without, on=["pair", "system"], suffixes=("", "_without"), how="left"
    )
    printed = with_pair(official).reset_index(drop=True).assign(place=np.arange(len(official)))
    printed = printed[printed["pair"].isin(both["pair"])]
    joined = printed[["pair", "system", "place", scale, "segments", "judgements"]].merge(
        both, on=["pair", "system"], how="outer", suffixes=("_official", ""), validate="one_to_one"
    )
    _demand_both(joined, "judgements", "official ranking")
    joined = joined.sort_values("place", ignore_index=True)
    value = pd.to_numeric(joined[scale])
    frame = pd.DataFrame(
        {
            "pair": joined["pair"],
            "system": joined["system"],
            "official": value,
            "recomputed": joined["score"],
            "equal": _rounds_to(joined["score"], value, DIGITS[scale]),
            "without_repeats": joined["score_without"],
            "change": joined["score_without"] - joined["score"],
            "rank": joined["rank"],
            "rank_without": joined["rank_without"],
            "moved": joined["rank"] - joined["rank_without"],
            "judgements": joined["judgements"],
            "official_judgements": joined["judgements_official"].astype(int),
            "segments": joined["segments"],
            "official_segments": joined["segments_official"].astype(int),
        }
    )
    return frame


def official_scores(ratings: Mapping[str, pd.DataFrame], official: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Compare several rankings with the official ones, on z and on raw scores.

    Returns scale, data, and the columns of ``compare_with_official``. ratings, official: name of the data -> table.
    """
    parts = [
        compare_with_official(ratings[name], official[name], scale=scale).assign(data=name, scale=scale)
        for scale in DIGITS
        for name in ratings
    ]
    return pd.concat(parts, ignore_index=True)


def _demand_both(joined: pd.DataFrame, ours: str, theirs: str) -> None:
    """Refuse a system that only one side of an outer join knows."""
    lost = joined[joined["place"].isna() | joined[ours].isna()]
    if len(lost):
        row = lost.iloc[0]
        raise DataError(f"{row['pair']}, {row['system']}: only one of ratings and {theirs} has this system.")


def _rounds_to(values: pd.Series, printed: pd.Series, digits: int) -> pd.Series:
    """Tell whether values round to printed ones; a tie may round either way."""
    return (values - printed).abs() <= 0.5 * 10.0**-digits + 1e-9


def compare_clusters(ratings: Mapping[str, pd.DataFrame], official: pd.DataFrame) -> pd.DataFrame:
    """Compare recomputed wins and cluster lines with WMT's published ones.

    ratings: name of the data -> table. official: data, pair, system, wins and line (True where a cluster ends below the
    system) as text, in the published order, such as ``data.published("wmt_clusters")``.
    Returns data, pair, system, official_wins, wins, equal_wins, official_line, line (recomputed by the files' rule),
    equal_line, line_all (by the findings' rule, see ``significance_clusters``), rank_top and rank_bottom, in the
    published order. Pairs of which ratings and publication share no system are left out, so simulated ratings give an
    empty table.
    """
    parts = [
        _compared_clusters(ratings[name], official[official["data"] == name]).assign(data=name) for name in ratings
    ]
    return pd.concat(parts, ignore_index=True)


def _compared_clusters(ratings: pd.DataFrame, official: pd.DataFrame) -> pd.DataFrame:
    """Compare the wins and lines of one set of ratings."""
    ours = significance_clusters(ratings, score="z", digits=FILE_DIGITS, line="own", with_upsets=True)
    strict = significance_clusters(ratings, score="z", digits=FILE_DIGITS)
    for name, table in (("line", ours), ("line_all", strict)):
        ours[name] = table["cluster"].ne(table.groupby("pair")["cluster"].shift(-1))
    printed = official.reset_index(drop=True).assign(place=np.arange(len(official)))
    shared = printed.merge(ours, on=["pair", "system"])["pair"].unique()
    ours, printed = (table[table["pair"].isin(shared)] for table in (ours, printed))
    joined = printed[["pair", "system", "place", "wins", "line"]].merge(
        ours, on=["pair", "system"], how="outer", suffixes=("_official", ""), validate="one_to_one"
    )
    _demand_both(joined, "rank", "published clusters")
    joined = joined.sort_values("place", ignore_index=True)
    wins, line = pd.to_numeric(joined["wins_official"]).astype(int), joined["line_official"].eq("True")
    return pd.DataFrame(
        {
            "pair": joined["pair"],
            "system": joined["system"],
            "official_wins": wins,
            "wins": joined["wins"],
            "equal_wins": wins == joined["wins"],
            "official_line": line,
            "line": joined["line"],
            "equal_line": line == joined["line"],
            "line_all": joined["line_all"],
            "rank_top": joined["rank_top"],
            "rank_bottom": joined["rank_bottom"],
        }
    )


def compare_p_values(ratings: pd.DataFrame, official: pd.DataFrame) -> pd.DataFrame:
    """Compare recomputed p-values of the one-sided Mann-Whitney tests with WMT's published ones.

    official: pair, better, worse and p as text, such as ``data.published("wmt22_pvalues")``; tests without a published
    p-value were not significant.
    Returns pair, better, worse, official, p, off (relative difference) and significant, all tests of the pairs shared.
    """
    ours = pairwise_tests(ratings, score="z", digits=FILE_DIGITS)
    joined = ours.merge(official, on=["pair", "better", "worse"], how="left", suffixes=("", "_official"))
    joined = joined[joined["pair"].isin(joined.loc[joined["p_official"].notna(), "pair"])].reset_index(drop=True)
    printed = pd.to_numeric(joined["p_official"])
    return joined[["pair", "better", "worse"]].assign(
        official=printed, p=joined["p"], off=(joined["p"] / printed - 1).abs(), significant=joined["significant"]
    )


def tally(compared: pd.DataFrame) -> pd.DataFrame:
    """Count, by scale, data and language pair, the systems that equal print and those that move without the repeats.

    compared: the result of ``official_scores``. ``missing_judgements`` are official ones that
    the ratings lack; ``furthest`` is the most places that a system moves.
    """
    missing = compared["official_judgements"] - compared["judgements"]
    frame = compared.assign(missing=missing, up=compared["moved"].ne(0), size=compared["change"].abs())
    order = frame["scale"].map({scale: place for place, scale in enumerate(DIGITS)})
    grouped = frame.groupby([order.rename("order"), "scale", "data", "pair"])
    return (
        grouped.agg(
            systems=("system", "size"),
            equal=("equal", "sum"),
            missing_judgements=("missing", "sum"),
            systems_that_move=("up", "sum"),
            furthest=("moved", lambda moved: int(moved.abs().max())),
            largest_change=("size", "max"),
        )
        .droplevel("order")
        .reset_index()
    )


def tally_clusters(compared: pd.DataFrame) -> pd.DataFrame:
    """Count by data and language pair: systems, equal_wins, equal_line, official_line, line_all.

    compared: the result of ``compare_clusters``.
    """
    groups = compared.groupby(["data", "pair"])
    counts = groups[["equal_wins", "equal_line", "official_line", "line_all"]].sum()
    return groups.size().rename("systems").to_frame().join(counts).reset_index()


def explain_missing(ratings: pd.DataFrame, compared: pd.DataFrame, *, scale: str) -> pd.DataFrame:
    """Bound each official score that rests on judgements missing from the ratings, if those were all 0.

    Annotators who gave one score throughout have standard deviation 0, hence no z-score, hence no row among the
    standardised ratings; the official files count them, raw as given and z as 0. How many judgements and segments each
    system lacks follows from the official counts. A lacking segment adds a 0; a lacking judgement of a segment that is
    here pulls its mean towards 0, by an amount that depends on which segment it is: hence an interval, taking at most
    one missing judgement a segment. compared: the result of ``compare_with_official``. Returns the rows with missing
    judgements: pair, system, official, recomputed, missing_judgements, missing_segments, lowest and highest (the score
    if the missing ones were 0), explained.
    """
    short = compared[compared["official_judgements"] > compared["judgements"]]
    counted = with_pair(ratings[ratings["item_type"].isin(COUNTED)])
    column, rows = _COLUMN[scale], []
    for row in short.itertuples():
        own = counted[(counted["pair"] == row.pair) & (counted["system"] == row.system)]
        segments = own.groupby(segment_names(own))[column]
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


def missing_scores(ratings: Mapping[str, pd.DataFrame], compared: pd.DataFrame) -> pd.DataFrame:
    """Bound all official scores that rest on missing judgements: scale, data, and the columns of ``explain_missing``.

    ratings: name of the data -> table. compared: the result of ``official_scores``.
    """
    parts = [
        explain_missing(ratings[name], part, scale=scale).assign(scale=scale, data=name)
        for (scale, name), part in compared.groupby(["scale", "data"], sort=False)
    ]
    return pd.concat(parts, ignore_index=True)


def flat_annotators(workers: pd.DataFrame) -> pd.DataFrame:
    """Count, per language pair, the annotators without z-scores: one score throughout, or a single judgement.

    workers: the data set ``wmt22-mturk-annotators``. Returns pair, annotators, without_spread, and ``scores``, the
    means of these annotators, which are the scores that they gave.
    """
    frame = with_pair(workers)
    flat = frame[~frame["sd"].gt(0)].groupby("pair")["mean"]
    table = frame.groupby("pair").size().rename("annotators").to_frame()
    table["without_spread"] = flat.size().reindex(table.index, fill_value=0)
    scores = flat.agg(lambda means: ", ".join(f"{score:g}" for score in sorted(set(means))))
    table["scores"] = scores.reindex(table.index).fillna("")
    return table.reset_index()
