"""How far annotators agree, by the coefficient that fits the scale and the gaps."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.opened import STEPS, Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.data.schemas import ITEM
from evalkit.stats import agreement
from evalkit.stats.terms import pluralize

#: Fewest items judged by two annotators for an estimate of agreement.
FEWEST = 10
#: Measures by kind of scale, the first of them the one that checks and the first page use, each with the reason.
MEASURES = {
    "nominal": (
        ("krippendorff_alpha", "nominal", "two values only; works with gaps and any number of annotators"),
        ("gwet_ac1", "none", "does not collapse where nearly all judgements are the same value"),
        ("percent_agreement", "none", "not corrected for chance; to see what the others start from"),
    ),
    "ordinal": (
        ("krippendorff_alpha", "ordinal", "few ordered steps; works with gaps and any number of annotators"),
        ("gwet_ac2", "quadratic", "does not collapse where nearly all judgements are the same step"),
        ("percent_agreement", "none", "not corrected for chance; to see what the others start from"),
    ),
    "continuous": (
        ("krippendorff_alpha", "interval", "a continuous scale; works with gaps and any number of annotators"),
        ("krippendorff_alpha", "ordinal", "only the order of scores counts, so one far score weighs less"),
    ),
}  # fmt: skip
NAMES = {
    "krippendorff_alpha": "Krippendorff's alpha", "gwet_ac1": "Gwet's AC1", "gwet_ac2": "Gwet's AC2",
    "percent_agreement": "share of equal scores", "icc_agreement": "intraclass correlation, ICC(A,1)",
}  # fmt: skip
_COLLECT = (
    f"To measure agreement, let two or more annotators judge the same items: {FEWEST} at the very least, better 100, "
    "drawn at random over all systems."
)


@section("agreement", collect=_COLLECT)
def agreed(campaign: Campaign, *, resamples: int = 200, seed: int = 7) -> Section:
    """Estimate agreement on items that several annotators judged, for each language pair and in detail for one.

    Intervals are 95 % percentile bootstraps over items.
    """
    overview, kinds = [], {}
    for pair in campaign.pairs:
        ratings = campaign.ratings[campaign.ratings["pair"] == pair]
        kinds[pair], found = _of_pair(ratings, detail=pair == campaign.pair, resamples=resamples, seed=seed)
        overview.append(found.assign(pair=pair))
    table = pd.concat(overview, ignore_index=True)
    first = table.drop_duplicates("pair")
    columns = ["pair", "coefficient", "level", "estimate", "low", "high", "items", "annotators", "note"]
    own = table[table["pair"] == campaign.pair].reset_index(drop=True)
    main = own.iloc[0]
    table, first, own = (_shown(part) for part in (table, first, own))
    overall = first[[name for name in columns if name in first]].reset_index(drop=True)
    tables = [Table("agreement_pairs", overall, "Agreement by language pair")]
    if np.isnan(main["estimate"]):
        why = main["note"].rstrip(".")
        facts, shown = {"estimate": None, "why": why}, tuple(tables) if first["estimate"].notna().any() else ()
        return Section("agreement", (), shown, f"no estimate for {campaign.pair}: {why}. {_COLLECT}", facts)
    columns = ["coefficient", "level", "estimate", "low", "high", "items", "annotators", "why", "note"]
    detail = own[[name for name in columns if name in own]]
    tables.append(Table("agreement", detail, f"{campaign.pair}: agreement between annotators (1: the same scores)"))
    between = by_two(campaign.part)
    if len(between):
        tables.append(Table("annotator_pairs", between, f"{campaign.pair}: every two annotators, on items of both"))
    told = (
        f"{campaign.pair}: {pluralize(int(main['items']), 'item')} were judged by two annotators or more"
        f"{', calibration items among them' if main['note'] else ''}. Krippendorff's alpha ({main['level']}) is "
        f"{main['estimate']:.2f}, 95 % interval {main['low']:.2f} to {main['high']:.2f}, "
        "where 1 means that they gave the same scores and 0 that their scores have no more to do with each other than "
        "chance would bring."
    )
    facts = {"estimate": float(main["estimate"]), "low": float(main["low"]), "high": float(main["high"]),
             "level": main["level"], "items": int(main["items"])}  # fmt: skip
    return Section("agreement", (told,), tuple(tables), "", facts)


def by_two(part: pd.DataFrame, *, most: int = 8) -> pd.DataFrame:
    """Correlate every two annotators who share ``FEWEST`` items: annotator_a, annotator_b, items, spearman, difference.

    difference: mean score of a less that of b on these items, points; its size is a difference in strictness. No rows
    where there are more than ``most`` annotators, for their profiles say it shorter; correlations that are undefined,
    because somebody gave one score throughout, are missing.
    """
    kept = part[part["item_type"].isin(["system", "repeat", "calibration"])]
    names = sorted(kept["annotator"].unique())
    rows = []
    for a, b in itertools.combinations(names, 2) if len(names) <= most else ():
        scores = agreement.score_matrix(kept[kept["annotator"].isin([a, b])]).dropna()
        if len(scores) >= FEWEST:
            ranks = scores.rank()
            rho = ranks[a].corr(ranks[b]) if (scores.nunique() > 1).all() else np.nan
            rows.append((a, b, len(scores), rho, float((scores[a] - scores[b]).mean())))
    return pd.DataFrame(rows, columns=["annotator_a", "annotator_b", "items", "spearman", "difference"])


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Name coefficients as people do, and leave out a column of notes where there are none."""
    named = table.assign(coefficient=table["coefficient"].map(NAMES).fillna(table["coefficient"]))
    return named if named["note"].ne("").any() else named.drop(columns="note")


def kind_of(scores: pd.Series) -> str:
    """Name the kind of scale by the number of different scores: nominal, ordinal or continuous.

    >>> kind_of(pd.Series([1.0, 2, 3, 4, 5, 5])), kind_of(pd.Series([0.0, 1, 1])), kind_of(pd.Series(range(50)))
    ('ordinal', 'nominal', 'continuous')
    """
    number = scores.nunique()
    return "nominal" if number <= 2 else "ordinal" if number <= STEPS else "continuous"


def _shared(ratings: pd.DataFrame, types: list[str]) -> tuple[pd.DataFrame, int]:
    """Keep the judgements of these types on items that several people judged, and count the items."""
    kept = ratings[ratings["item_type"].isin(types)]
    people = kept.groupby(ITEM)["annotator"].transform("nunique")
    several = kept[people > 1]
    return several, int(several.drop_duplicates(ITEM).shape[0])


def _of_pair(ratings: pd.DataFrame, *, detail: bool, resamples: int, seed: int) -> tuple[str, pd.DataFrame]:
    """Estimate the measures of one pair, or the first of them; an estimate that cannot be had is missing, with why.

    Calibration items, which are chosen to differ much, count only where there is not enough beside them.
    """
    several, items = _shared(ratings, ["system", "repeat"])
    told = ""
    if items < FEWEST:
        several, items = _shared(ratings, ["system", "repeat", "calibration"])
        told = "with calibration items" if several["item_type"].eq("calibration").any() else ""
    kind = kind_of(ratings.loc[ratings["item_type"].isin(["system", "repeat", "calibration"]), "score"])
    measures = [*MEASURES[kind]] if detail else [MEASURES[kind][0]]
    problem = ""
    if items < FEWEST:
        problem = f"{pluralize(items, 'item')} {'was' if items == 1 else 'were'} judged by two annotators or more"
    elif several["score"].nunique() < 2:
        problem = "all of these judgements are the same score, so there is nothing to agree on beyond chance"
    rows = []
    scores = agreement.score_matrix(several) if not problem else None
    for name, level, why in measures:
        row = {"coefficient": name, "level": level, "estimate": np.nan, "low": np.nan, "high": np.nan, "items": items,
               "annotators": several["annotator"].nunique(), "note": problem or told, "why": why}  # fmt: skip
        if scores is not None:
            try:
                found = agreement.coefficients(scores, measures=[(name, level)], resamples=resamples, seed=seed).iloc[0]
                row |= found[["estimate", "low", "high", "items", "annotators"]].to_dict()
            except DataError as refused:
                row["note"] = str(refused)
        rows.append(row)
    icc = ("icc_agreement", "interval", "complete items only: share of the variance that is the items'")
    if detail and not problem and kind == "continuous" and len(scores.dropna()) >= FEWEST and scores.shape[1] <= 50:
        try:
            found = agreement.coefficients(scores.dropna(), measures=[icc[:2]], resamples=resamples, seed=seed)
            columns = ["coefficient", "level", "estimate", "low", "high", "items", "annotators"]
            rows.append(found.iloc[0][columns].to_dict() | {"note": told, "why": icc[2]})
        except DataError:  # complete items without variance: alpha above says what there is to say
            pass
    return kind, pd.DataFrame(rows)
