"""What was collected: counts, coverage by system and annotator, missing cells, duplicates."""

from __future__ import annotations

import pandas as pd

from evalkit.campaign.opened import Campaign, wide
from evalkit.campaign.sections import Section, Table, section
from evalkit.data.schemas import ITEM
from evalkit.stats.terms import join_names, pluralize

#: How a report calls the kinds of items.
KINDS = {
    "system": "outputs of systems", "reference": "human references", "degraded": "items spoilt on purpose",
    "repeat": "second showings", "calibration": "calibration items",
}  # fmt: skip


@section("collected", collect="Check that the file is complete.")
def collected(campaign: Campaign) -> Section:
    """Count what was collected, say who judged what, and what nobody judged or somebody judged twice."""
    part = campaign.part
    overview = pairs_overview(campaign)
    kinds = part["item_type"].map(KINDS).value_counts().rename_axis("kind").rename("judgements").reset_index()
    systems, people = by_system(campaign), by_annotator(campaign)
    missing, twice = missing_cells(campaign), duplicates(part)
    told = [
        f"{campaign.pair}: {pluralize(len(part), 'judgement')} by "
        f"{pluralize(part['annotator'].nunique(), 'annotator')}, of "
        f"{pluralize(len(campaign.systems), 'system')} and {pluralize(missing['segments'], 'segment')}."
    ]
    if missing["cells"]:
        told.append(
            f"Cells (a segment by a system): {missing['cells']:,}. Judged: {missing['judged']:,}, by several "
            f"annotators: {missing['several']:,}. Not judged: {missing['never']:,} "
            f"({missing['never'] / missing['cells']:.0%})."
        )
    told.append(
        f"{pluralize(twice, 'judgement')} of an item that the same annotator had judged before, not marked as a "
        "repeat: their mean stands for them. Look whether an export was joined to itself."
        if twice
        else "No annotator judged the same item twice, but for items marked as repeats."
    )
    if notes := campaign.ratings.attrs.get("notes"):
        told.append(f"How the file was read: {'; '.join(notes)}.")
    tables = [
        Table("pairs", overview, "Language pairs in the file"),
        Table("items", kinds, f"{campaign.pair}: kinds of items"),
    ]
    if len(systems):
        tables.append(Table("coverage_systems", systems, f"{campaign.pair}: coverage by system"))
    tables.append(Table("coverage_annotators", people, f"{campaign.pair}: coverage by annotator"))
    thin = systems[systems["share_of_segments"] < 0.9 * systems["share_of_segments"].max()] if len(systems) else systems
    collect = ""
    if campaign.known_scale is False:
        low, high = campaign.scale
        collect = (
            f"the ends of the scale are not declared; {low:g} to {high:g}, the lowest and the highest score, stand for "
            "them. Say --scale LOW:HIGH when you import the file. "
        )
    if len(thin):
        collect += (
            f"{join_names(thin['system'].tolist())} {'was' if len(thin) == 1 else 'were'} judged on fewer segments "
            "than the others. Give every system the same segments, best the same document by the same annotator."
        )
    return Section(
        "collected", tuple(told), tuple(tables), collect.strip(),
        {**missing, "duplicates": twice, "thin": thin["system"].tolist() if len(thin) else []},
    )  # fmt: skip


def pairs_overview(campaign: Campaign) -> pd.DataFrame:
    """Count per language pair: judgements, systems, documents, segments, annotators, mean score and its sd.

    Everything that was judged counts, whatever its item type; sd is missing for a single judgement.
    """
    frame = campaign.ratings
    by_pair = frame.groupby("pair")
    table = by_pair.agg(
        judgements=("score", "size"), systems=("system", "nunique"), documents=("doc", "nunique"),
        annotators=("annotator", "nunique"), mean=("score", "mean"), sd=("score", "std"),
    )  # fmt: skip
    items = frame.drop_duplicates(["pair", *ITEM]).groupby("pair").size()
    table.insert(3, "translated_segments", items)
    return table.reset_index()


def by_system(campaign: Campaign) -> pd.DataFrame:
    """Count per system: judgements, segments, their share of all segments, documents and annotators; mean and sd."""
    judged = campaign.judged
    segments = judged.drop_duplicates(["system", *campaign.segment])
    table = judged.groupby("system").agg(
        judgements=("score", "size"), documents=("doc", "nunique"), annotators=("annotator", "nunique"),
        mean=("score", "mean"), sd=("score", "std"),
    )  # fmt: skip
    table.insert(1, "segments", segments.groupby("system").size())
    everything = max(len(segments.drop_duplicates(list(campaign.segment))), 1)
    table.insert(2, "share_of_segments", table["segments"] / everything)
    return table.reset_index()


def by_annotator(campaign: Campaign) -> pd.DataFrame:
    """Count per annotator: judgements (all, and of each kind that needs watching), systems, documents, mean and sd."""
    part = campaign.part
    table = part.groupby("annotator").agg(
        judgements=("score", "size"), systems=("system", "nunique"), documents=("doc", "nunique"),
        mean=("score", "mean"), sd=("score", "std"),
    )  # fmt: skip
    kinds = part.groupby(["annotator", "item_type"]).size().unstack(fill_value=0)
    for kind in ("repeat", "degraded", "reference", "calibration"):
        if kind in kinds:
            table[kind] = kinds[kind]
    return table.reset_index()


def missing_cells(campaign: Campaign) -> dict[str, int]:
    """Count cells, a segment by a system: segments, cells, judged, several (by two annotators or more), never."""
    judged = campaign.judged
    if judged.empty:
        return {"segments": 0, "cells": 0, "judged": 0, "several": 0, "never": 0}
    people = judged.groupby([*campaign.segment, "system"])["annotator"].nunique()
    table = wide(campaign, judged)
    return {
        "segments": len(table), "cells": int(table.size), "judged": len(people), "several": int((people > 1).sum()),
        "never": int(table.size - len(people)),
    }  # fmt: skip


def duplicates(part: pd.DataFrame) -> int:
    """Count judgements of an item that its annotator had judged before, where no repeat or calibration is meant.

    Degraded items and references are left out as well: quality control shows them in several HITs on purpose.
    """
    ordinary = part[part["item_type"].eq("system")]
    return int(ordinary.duplicated([*ITEM, "annotator"]).sum())
