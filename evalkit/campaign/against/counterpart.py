"""A second campaign beside one's own, in the same language pair, and what both judged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from evalkit import DataError
from evalkit.campaign.missing import or_missing
from evalkit.campaign.opening import Campaign, from_ratings
from evalkit.data.provenance import like, reading_of, source_of
from evalkit.stats.terms import join_names, pluralize

#: Fewest segments that both judged for a comparison.
FEWEST = 10
COLLECT = (
    "To compare two campaigns, name systems, documents and segments alike in both files: `wmt23.A` and `A` are two "
    "systems to this report. Of exports of Appraise, import both with --batches, which tells exactly which segment an "
    "item is."
)


@or_missing("Name a campaign of the same language pair, and of the same criterion, with -p against=FILE.")
def counterpart(mine: Campaign, ratings: pd.DataFrame) -> Campaign:
    """Look at another file in the language pair that is in detail in one's own.

    ratings: as ``data.open_campaign`` reads them. Of several criteria, that of ``mine`` is taken. Where low scores are
    good in ``mine``, those of the other are turned round as well, unless its own import says which way is better.
    """
    criterion = ""
    if mine.criterion and "criterion" in ratings:
        there = list(dict.fromkeys(ratings["criterion"]))
        if mine.criterion not in there:
            raise DataError(f"here {mine.criterion} was judged, there {join_names(there)}.")
        criterion = mine.criterion
    told = str(reading_of(ratings).get("orientation", ""))
    turned = mine.turned and told in ("", mine.orientation)
    name = source_of(ratings)["name"]
    if name == source_of(mine.ratings)["name"]:  # two files called campaign.parquet stay two
        ratings = like(ratings, ratings, source=source_of(ratings) | {"name": f"{name}-against"})
    try:
        return from_ratings(ratings, pair=mine.pair, criterion=criterion, higher_is_better=not turned)
    except DataError as problem:
        has = ", ".join(sorted((ratings["src_lang"] + "-" + ratings["tgt_lang"]).unique()))
        if mine.pair in has.split(", "):
            raise
        raise DataError(f"{mine.pair}, the language pair in detail, is not in {name}, which has {has}.") from problem


@dataclass(frozen=True, eq=False)
class Shared:
    """What two campaigns both judged.

    key: the columns that name a segment in both. systems: with ``FEWEST`` items in both, by name; sparse: the others
    that are in both. items: (system, *key) that both judged.
    rows: the judgements of these systems, here and there, with ``shared`` (of such an item) and ``share`` (1 / the
    item's judgements). counts: what, here, there, both.
    """

    key: tuple[str, ...]
    systems: list[str]
    sparse: tuple[str, ...]
    items: pd.MultiIndex
    rows: tuple[pd.DataFrame, pd.DataFrame]
    counts: pd.DataFrame

    @property
    def whole(self) -> bool:
        """Whether nobody judged other items of these systems."""
        return all(bool(rows["shared"].all()) for rows in self.rows)

    def of(self, campaign: Campaign) -> Campaign:
        """Leave of a campaign only the judgements of shared items."""
        rows = campaign.judged
        there = pd.MultiIndex.from_frame(rows[["system", *self.key]]).isin(self.items)
        part = like(rows[there].reset_index(drop=True), campaign.part)
        return replace(campaign, part=part, ratings=part, spans=None).adjusted()


def find_shared(mine: Campaign, other: Campaign) -> Shared:
    """Find what two campaigns both judged. Raises DataError where that is nothing, or too little, with counts."""
    key = _key(mine, other)
    both = mine.judged, other.judged
    systems = sorted(set(both[0]["system"]) & set(both[1]["system"]))
    if not systems:
        here, there = (pluralize(len(one.systems), "system") for one in (mine, other))
        raise DataError(
            f"none of the {here} here ({join_names(mine.systems)}) is among the {there} there "
            f"({join_names(other.systems)})."
        )
    common = pd.Series(_items(both, systems, key).get_level_values("system")).value_counts()
    kept = [system for system in systems if common.get(system, 0) >= FEWEST]
    if not kept:
        most = str(common.max()) if len(common) else "no"
        one, two = (len(rows[list(key)].drop_duplicates()) for rows in both)
        raise DataError(
            f"{pluralize(len(systems), 'system')} of both campaigns ({join_names(systems)}) "
            f"{'has' if len(systems) == 1 else 'have'} {most} segments in common{' at most' * (len(systems) > 1)}, of "
            f"{one:,} segments here and {two:,} there (documents here: {_some(both[0])}; there: {_some(both[1])}); "
            f"{FEWEST} are the fewest for a comparison."
        )
    items = _items(both, kept, key)
    rows = tuple(_marked(table[table["system"].isin(kept)].reset_index(drop=True), key, items) for table in both)
    sparse = tuple(sorted({*systems} - {*kept}))
    return Shared(key, kept, sparse, items, (rows[0], rows[1]), _counts(both, (rows[0], rows[1]), key))


def _items(both: tuple[pd.DataFrame, pd.DataFrame], systems: list[str], key: tuple[str, ...]) -> pd.MultiIndex:
    """Find the items of these systems that both judged."""
    item = ["system", *key]
    here, there = (pd.MultiIndex.from_frame(rows.loc[rows["system"].isin(systems), item]).unique() for rows in both)
    return here.intersection(there).sort_values()


def _key(mine: Campaign, other: Campaign) -> tuple[str, ...]:
    """Say which columns name a segment in both; a number alone only where no two documents of either share it."""
    if mine.segment == other.segment:
        return mine.segment
    anew = next(one for one in (mine, other) if "doc" in one.segment)
    if anew.judged[["doc", "segment"]].drop_duplicates().duplicated("segment").any():
        here, there = ("anew in every document" if one is anew else "throughout" for one in (mine, other))
        raise DataError(f"segments are numbered {here} here, and {there} there.")
    return ("segment",)


def _counts(
    both: tuple[pd.DataFrame, pd.DataFrame], rows: tuple[pd.DataFrame, pd.DataFrame], key: tuple[str, ...]
) -> pd.DataFrame:
    """Count what either campaign has, and what of it is in both; items are those of the systems compared."""
    counts = []
    for what, columns in (("systems", ["system"]), ("documents", ["doc"]), ("segments", list(key))):
        here, there = (len(table[columns].drop_duplicates()) for table in both)
        counts.append((what, here, there, len(rows[0].loc[rows[0]["shared"], columns].drop_duplicates())))
    here, there = (len(table[["system", *key]].drop_duplicates()) for table in rows)
    counts.append(("items", here, there, len(rows[0].loc[rows[0]["shared"], ["system", *key]].drop_duplicates())))
    one, other = (set(table["annotator"]) for table in both)
    counts.append(("annotators", len(one), len(other), len(one & other)))
    return pd.DataFrame(counts, columns=["what", "here", "there", "both"])


def _some(rows: pd.DataFrame) -> str:
    return join_names(sorted(rows["doc"].astype("str").unique()))


def _marked(rows: pd.DataFrame, key: tuple[str, ...], items: pd.MultiIndex) -> pd.DataFrame:
    """Say of each judgement whether both campaigns judged its item, and what part of the item's judgements it is."""
    item = ["system", *key]
    size = rows.groupby(item)["score"].transform("size")
    return rows.assign(shared=pd.MultiIndex.from_frame(rows[item]).isin(items), share=1 / size)
