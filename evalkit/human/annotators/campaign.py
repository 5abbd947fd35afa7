"""Who took part in a campaign, with what, and how much of it."""

from __future__ import annotations

import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair


def accounts(ratings: pd.DataFrame, additional: pd.DataFrame, *, complete_at: int) -> pd.DataFrame:
    """List who took part in a calibration: judgements given, additional HITs done, and whether to keep them.

    ratings: calibration items, one row per judgement. additional: one row per additional HIT, columns hit, annotator.
    complete_at: judgements in a complete calibration HIT.
    Returns pair, annotator, judgements, additional_hits, complete, kept; ``kept`` asks for a complete calibration HIT
    and at least one additional HIT, as Knowles & Lo 2024 do (section 3.6).
    """
    done = with_pair(ratings).groupby(["pair", "annotator"]).size().rename("judgements").reset_index()
    done["additional_hits"] = done["annotator"].map(additional.groupby("annotator")["hit"].nunique()).fillna(0)
    done["additional_hits"] = done["additional_hits"].astype(int)
    done["complete"] = done["judgements"] == complete_at
    done["kept"] = done["complete"] & (done["additional_hits"] > 0)
    return done


def keep(ratings: pd.DataFrame, listed: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgements of the annotators that ``accounts`` marks as kept; raise DataError when none is left."""
    kept = listed.loc[listed["kept"], "annotator"]
    left = ratings[ratings["annotator"].isin(kept)]
    if left.empty:
        raise DataError(
            "No annotator is left: nobody both completed the calibration HIT and did an additional one. "
            "Check that the mapping belongs to these ratings, and the number of judgements in a complete HIT."
        )
    return left.reset_index(drop=True)


def contents(ratings: pd.DataFrame) -> pd.DataFrame:
    """Describe what was annotated per language pair (Knowles & Lo 2024, Table 1).

    Returns pair, triplets (distinct system, snippet, segment), snippets, systems, and the minimum, median and maximum
    number of distinct segments of a snippet as translated by one system. A snippet is what ``doc`` holds.
    """
    items = with_pair(ratings).drop_duplicates(["pair", *ITEM])
    per_document = items.groupby(["pair", "doc", "system"]).size().groupby("pair").agg(["min", "median", "max"])
    by_pair = items.groupby("pair")
    table = by_pair.agg(triplets=("segment", "size"), snippets=("doc", "nunique"), systems=("system", "nunique"))
    return table.join(per_document.add_prefix("segments_")).reset_index()


def shared_snippets(ratings: pd.DataFrame) -> pd.DataFrame:
    """List the snippets translated by more than one system: pair, doc, systems (sorted, space-separated)."""
    by_doc = with_pair(ratings).groupby(["pair", "doc"])["system"].unique().map(sorted)
    return by_doc[by_doc.map(len) > 1].map(" ".join).rename("systems").reset_index()


def workload(listed: pd.DataFrame) -> pd.DataFrame:
    """Summarise who stays and how many additional HITs they did (Knowles & Lo 2024, the annotator half of Table 2).

    listed: the result of ``accounts``. Returns pair, annotators, additional_hits_min, _median, _max (of those kept),
    incomplete (left out: calibration HIT not finished) and without_additional (left out: finished it, did no other).
    """
    kept = listed[listed["kept"]].groupby("pair")["additional_hits"]
    table = kept.agg(["size", "min", "median", "max"]).add_prefix("additional_hits_")
    table = table.rename(columns={"additional_hits_size": "annotators"})
    out = listed.groupby("pair").agg(incomplete=("complete", lambda c: int((~c).sum())), accounts=("kept", "size"))
    table = table.join(out)
    table["without_additional"] = table.pop("accounts") - table["annotators"] - table["incomplete"]
    return table.reset_index()
