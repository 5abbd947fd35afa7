"""Which system is better: scores, significance clusters, and how sure each rank is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.opened import Campaign, of, shared_segments
from evalkit.campaign.sections import Section, Table, section
from evalkit.data.provenance import like
from evalkit.human import ranking
from evalkit.stats.terms import join_names, pluralize

#: What to rank by: z where annotators judged systems unequally often, raw scores elsewhere; or always one of them.
SCORES = ("auto", "raw", "z")
#: From this association of annotators and systems on (Cramér's V), raw means compare annotators as well as systems.
UNEVEN = 0.1
#: Share of judgements by annotators of a single system up to which z-scores are used all the same.
FEW = 0.05
#: Share of common segments from which on systems are compared segment by segment.
MATCHED = 0.5
#: Fewest documents for documents, not segments, to be drawn anew.
DOCUMENTS = 20
_COLLECT = "To rank, judge outputs of two systems or more (item_type 'system'), best on the same segments."


class Ranked(NamedTuple):
    """The ratings to rank by and how: the column, its name for people, the test, what is drawn anew."""

    ratings: pd.DataFrame
    column: str
    title: str
    test: str
    unit: str | None
    why: str


def prepared(campaign: Campaign, *, score: str = "auto", ratings: pd.DataFrame | None = None) -> Ranked:
    """Choose what to rank by. ratings: other judgements of the pair than all of them, such as screened ones."""
    if score not in SCORES:
        raise DataError(f"score={score!r}: choose one of {', '.join(SCORES)}.")
    rows = like((campaign.judged if ratings is None else ratings).reset_index(drop=True), campaign.part)
    uneven = association(rows)
    several = one_system_only(rows) <= FEW
    chosen, why = score, f"score is set to {score}"
    if score == "auto":
        chosen = "z" if uneven >= UNEVEN and several else "raw"
        mix = f"Cramér's V of annotators and systems is {uneven:.2f}"
        if chosen == "z":
            why = f"annotators judged the systems unequally often ({mix}; from {UNEVEN} on, z-scores compare)"
        elif rows["annotator"].nunique() < 2:
            why = "there is one annotator, so nobody's strictness can favour a system"
        elif several:
            why = f"annotators judged the systems about equally often ({mix}), so strict ones favour no system"
        else:
            why = f"many annotators judged one system only, and z-scores would hide how good it is ({mix})"
    column, title = ("normalized", "z-score") if chosen == "z" else ("score", "mean score")
    test = fitting(campaign)
    unit = "doc" if rows["doc"].nunique() >= DOCUMENTS and campaign.segment == ("doc", "segment") else None
    return Ranked(rows, column, title, test, unit, why)


def fitting(campaign: Campaign) -> str:
    """Name the test that fits: segment by segment where systems share enough of them."""
    return "wilcoxon" if shared_segments(campaign) >= MATCHED else "mann-whitney"


def one_system_only(rows: pd.DataFrame) -> float:
    """Return the share of judgements by annotators who judged a single system; 1 where there are none."""
    return float(rows.groupby("annotator")["system"].transform("nunique").eq(1).mean()) if len(rows) else 1.0


def association(rows: pd.DataFrame) -> float:
    """Measure how unequally annotators' judgements are spread over systems: Cramér's V, corrected for chance, 0 to 1.

    Source: Bergsma 2013, A bias-correction for Cramér's V and Tschuprow's T. 0 for a single system or annotator.

    >>> both = pd.DataFrame({"annotator": list("aabb"), "system": list("xyxy")})
    >>> each = pd.DataFrame({"annotator": list("aabb") * 9, "system": list("xxyy") * 9})
    >>> association(both), round(association(each), 2)
    (0.0, 1.0)
    """
    if rows.empty:
        return 0.0
    counts = pd.crosstab(rows["annotator"], rows["system"]).to_numpy(float)
    n, (r, c) = counts.sum(), counts.shape
    if min(r, c) < 2 or n < 2:
        return 0.0
    expected = counts.sum(axis=1, keepdims=True) @ counts.sum(axis=0, keepdims=True) / n
    phi = ((counts - expected) ** 2 / expected).sum() / n - (r - 1) * (c - 1) / (n - 1)
    rows_left, columns_left = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    return float(np.sqrt(max(phi, 0) / max(min(rows_left, columns_left) - 1, 1e-12)))


def cell_size(rows: pd.DataFrame) -> float:
    """Return how often an annotator judged a system, on average over all annotators and all systems."""
    return len(rows) / (rows["annotator"].nunique() * rows["system"].nunique())


def evenly(rows: pd.DataFrame) -> bool:
    """Tell whether the annotators' judgements are spread over systems in the same proportions.

    >>> evenly(pd.DataFrame({"annotator": list("aabbbb"), "system": list("xyxxyy")}))
    True
    """
    counts = pd.crosstab(rows["annotator"], rows["system"]).to_numpy(float)
    expected = counts.sum(axis=1, keepdims=True) @ counts.sum(axis=0, keepdims=True) / counts.sum()
    return bool(np.allclose(counts, expected))


@section("ranking", collect=_COLLECT)
def ranked(
    campaign: Campaign, *, score: str = "auto", alpha: float = 0.05, resamples: int = 1000, seed: int = 7
) -> Section:
    """Rank the pair's systems, part them into clusters by pairwise tests, and say how sure each rank is.

    score: see ``SCORES``. Tests are one-sided and corrected by Holm for the number of pairs of systems.
    """
    if campaign.judged.empty:
        raise DataError(f"No outputs of systems were judged in {campaign.pair}.")
    how = prepared(campaign, score=score)
    options = {"score": how.column, "item_types": campaign.counted, "segment": campaign.segment}
    table = ranking.significance_clusters(how.ratings, test=how.test, alpha=alpha, correction="holm", **options)
    sure, unit, unsure = ranges(how, campaign, resamples=resamples, seed=seed)
    raw = ranking.system_scores(campaign.judged, item_types=campaign.counted, segment=campaign.segment)
    table = table.merge(raw[["system", "score"]].rename(columns={"score": "mean"}), on="system")
    if sure is not None:
        table = table.merge(sure[["system", "low", "high", "rank_low", "rank_high", "best"]], on="system")
    front = ["system", "rank", "cluster", "mean", *(["score"] if how.column != "score" else [])]
    front += [name for name in ("low", "high", "rank_low", "rank_high", "best") if name in table]
    shown = table[[*front, "wins", "losses", "segments"]].rename(columns={"score": "z"})
    tables = [Table("rankings", shown, f"{campaign.pair}: systems by {how.title}, best first", {"z": 3, "best": 2})]
    told = [f"Systems are ranked by {how.title}: {how.why}."]
    if campaign.counted[0] == "calibration":
        told.append("There are no outputs of systems here, only calibration items; systems may have other texts each.")
    facts = {"systems": table["system"].tolist(), "score": how.column, "unit": unit, "test": how.test,
             "means": dict(zip(table["system"], table["mean"].astype(float)))}  # fmt: skip
    if len(table) == 1:
        told.append("One system was judged, so there is nothing to rank.")
        return Section("ranking", tuple(told), tuple(tables), _COLLECT, facts | {"top": [], "p": None, "best": None})
    duels = ranking.pairwise_tests(how.ratings, test=how.test, alpha=alpha, correction="holm", **options)
    top = table["system"].iloc[0]
    values = table["score"].to_numpy(float)
    first = table.loc[np.isclose(values, values[0], rtol=0, atol=1e-9), "system"].tolist()
    tied = len(first) > 1
    beaten = duels[(duels["better"] == top) & duels["significant"]]["worse"].tolist()
    level = [name for name in table["system"] if name != top and name not in beaten]
    second = duels[(duels["better"] == top) & (duels["worse"] == table["system"].iloc[1])].iloc[0]
    names = {"wilcoxon": "Wilcoxon's signed-rank test, segment by segment", "mann-whitney": "the Mann-Whitney test"}
    others = f"{'all' if not level else f'{len(beaten)} of'} {len(table) - 1} others"
    than = join_names(beaten) if len(table) == 2 else others
    told.append(
        f"Compared by {names[how.test]} (one-sided, at {alpha:g}, corrected by Holm for "
        f"{pluralize(len(duels), 'pair')} of systems), {top} has a higher {how.title} than "
        + (f"{than}. " if beaten else "no other. ")
        + (f"It cannot be told apart from {join_names(level)}." if level else "")
    )
    tables.append(
        Table(
            "duels",
            duels.drop(columns="pair").rename(columns={"adjusted": "adjusted_p"}),
            f"{campaign.pair}: every two systems",
            {"difference": 3},
        )
    )
    if sure is not None:
        drawn = {"doc": "documents", None: "segments"}[unit]
        told.append(
            f"With {drawn} drawn anew {resamples:,} times, {top} comes out first{' or level with the first' * tied} in "
            f"{float(sure.set_index('system').loc[top, 'best']):.0%} of draws."
        )
    facts |= {
        "top": [top, *level], "first": first, "beaten": beaten,
        "p": float(second["adjusted"]), "second": table["system"].iloc[1],
        "gap": float(table["mean"].iloc[0] - table["mean"].iloc[1]), "clusters": int(table["cluster"].max()),
        "best": None if sure is None else float(sure.set_index("system").loc[top, "best"]),
    }  # fmt: skip
    picture = None
    if sure is not None:
        picture = (sure.assign(pair=campaign.pair), table.assign(pair=campaign.pair), campaign.pair)
    alt = f"{campaign.pair}: an interval of places for each of {len(table)} systems in "
    alt += f"{pluralize(facts['clusters'], 'cluster')}; {top} is first."
    caption = f"{campaign.pair}: places of the systems, how sure they are, and lines between clusters"
    return Section("ranking", tuple(told), tuple(tables), unsure, facts, picture, alt, caption)


def ranges(
    how: Ranked, campaign: Campaign, *, resamples: int, seed: int
) -> tuple[pd.DataFrame | None, str | None, str]:
    """Resample documents, or segments where that empties a system: the table, the unit, what is the problem."""
    options = {"score": how.column, "item_types": campaign.counted, "resamples": resamples, "seed": seed}
    problem = ""
    for unit in dict.fromkeys([how.unit, None]):
        try:
            return ranking.rank_ranges(how.ratings, unit=unit, segment=campaign.segment, **options), unit, ""
        except DataError as refused:
            problem = str(refused)
    return None, None, f"{problem} Judge every system on the same 20 segments or more."


@section("other_pairs", collect=_COLLECT)
def other_pairs(campaign: Campaign, *, score: str = "auto", alpha: float = 0.05) -> Section:
    """Name the best system of every language pair, and those that cannot be told apart from it."""
    if len(campaign.pairs) == 1:
        return Section("other_pairs", (f"The file holds one language pair, {campaign.pair}.",), (), "", {})
    rows = []
    for pair in campaign.pairs:
        here = of(campaign.ratings[campaign.ratings["pair"] == pair])
        row = {"pair": pair, "systems": len(here.systems), "judgements": len(here.judged)}
        if len(here.systems) > 1:
            how = prepared(here, score=score)
            options = {"score": how.column, "item_types": here.counted, "segment": here.segment}
            table = ranking.significance_clusters(how.ratings, test=how.test, alpha=alpha, correction="holm", **options)
            duels = ranking.pairwise_tests(how.ratings, test=how.test, alpha=alpha, correction="holm", **options)
            first = table["system"].iloc[0]
            lost = duels[(duels["better"] == first) & duels["significant"]]["worse"]
            level = [name for name in table["system"].iloc[1:] if name not in set(lost)]
            row |= {"ranked_by": how.title, "first": first, "clusters": int(table["cluster"].max()),
                    "not_told_apart": join_names(level) or "none"}  # fmt: skip
        rows.append(row)
    table = pd.DataFrame(rows)
    if "first" not in table:
        return Section("other_pairs", (f"{pluralize(len(table), 'language pair')}, each with one system.",),
                       (Table("pairs_best", table, "Systems by language pair"),), "", {})  # fmt: skip
    sure = int(table["not_told_apart"].eq("none").sum())
    told = f"In {sure} of {pluralize(len(table), 'language pair')} one system is better than all others."
    caption = "The system with the highest score in every language pair"
    return Section("other_pairs", (told,), (Table("pairs_best", table, caption),), "", {"sure": sure})


def top_under(campaign: Campaign, ratings: pd.DataFrame, *, score: str) -> list[str]:
    """Return the systems in the order of their scores, on other judgements of the pair; none where nothing is left."""
    rows = ratings[ratings["item_type"].isin(campaign.counted) & ratings["system"].isin(campaign.systems)]
    if rows.empty:
        return []
    how = prepared(campaign, score=score, ratings=rows)
    found = ranking.system_scores(
        how.ratings, score=how.column, item_types=campaign.counted, segment=campaign.segment
    ).sort_values("score", ascending=False, kind="stable")
    return found["system"].tolist()
