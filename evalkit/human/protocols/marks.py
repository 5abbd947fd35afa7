"""What people marked on a translation, as one class of severity, and as a count of marked characters."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT

#: Classes of a translation by the worst error marked on it. A mark whose severity nobody stated counts as minor.
CLASSES = ("none", "minor", "major")
_KEY = ["protocol", *ITEM]


def worst(scored: pd.DataFrame, marked: pd.DataFrame) -> pd.Series:
    """Return the class of every row of ``scored`` by its worst mark, 0 to 2 (see ``CLASSES``); NaN without any marks.

    scored: the table of ``protocols.scores``. marked: ``data.load("wmt23-protocols-spans")``, a row per marked error;
    those on degraded copies are left out. A protocol that has no row in it was done without marks: all its classes are
    missing. Critical errors count as major.

    >>> scored = pd.DataFrame({"protocol": ["E", "E", "D"], "system": "s", "doc": "d", "segment": ["1", "2", "1"]})
    >>> marked = scored[:1].assign(severity="major", item_type="system")
    >>> worst(scored, marked).tolist()
    [2.0, 0.0, nan]
    """
    kept = marked[marked["item_type"].astype("str") != "degraded"]
    severity = kept["severity"].astype("str")
    if not severity.isin(["minor", "major", "critical", "unstated"]).all():
        raise DataError(f"Marks have the severities {', '.join(sorted(severity.unique()))}: name them minor or major.")
    level = severity.isin(["major", "critical"]).to_numpy() + 1.0
    highest = kept[_KEY].astype("str").assign(level=level).groupby(_KEY)["level"].max()
    found = highest.reindex(pd.MultiIndex.from_frame(scored[_KEY].astype("str"))).to_numpy()
    there = scored["protocol"].astype("str").isin(kept["protocol"].astype("str").unique()).to_numpy()
    return pd.Series(np.where(there, np.nan_to_num(found), np.nan), index=scored.index, name="worst")


def with_wmt(marked: pd.DataFrame, merged: pd.DataFrame) -> pd.DataFrame:
    """Add WMT's own MQM marks to those of the protocols, as protocol WMT-MQM.

    merged: ``data.load("wmt23-mqm-spans")``; kept are marks of language pairs and translations that ``marked`` names.
    Marks in the source keep no place, so they count for severity alone.
    """
    names = ["src_lang", "tgt_lang", "doc", "segment"]
    known = marked[names].astype("str").drop_duplicates()
    columns = [*names, "system", "severity", "side", "start", "end"]
    text = dict.fromkeys(columns[:-2], "str")
    theirs = merged[columns].astype(text).merge(known, on=names)
    placed = theirs["side"] == "target"
    theirs = theirs.assign(start=theirs["start"].where(placed), end=theirs["end"].where(placed))
    ours = marked.reindex(columns=[*columns, "protocol", "item_type", *marked.columns.intersection(["suggested"])])
    facts = {"protocol": "WMT-MQM", "item_type": "system", **({"suggested": False} if "suggested" in marked else {})}
    return pd.concat([ours.astype(text), theirs.assign(**facts)], ignore_index=True)


def own(marked: pd.DataFrame) -> pd.DataFrame:
    """Leave a place only to marks that people drew themselves, not ``suggested``; to none where that is not told."""
    drawn = ~marked["suggested"].astype(bool) if "suggested" in marked else pd.Series(False, index=marked.index)
    return marked.assign(start=marked["start"].where(drawn), end=marked["end"].where(drawn))


def characters(items: pd.DataFrame, marked: pd.DataFrame, texts: pd.DataFrame) -> dict[str, np.ndarray]:
    """Say of every character of the items' translations, one after another, whether a protocol marked it.

    items: system, doc and segment, one row per translation, in the order wanted. texts: their hypothesis and reference.
    Marks without a place (omissions) are left out, and marks that run past the end of the text are cut there.
    Returns protocol -> (characters,) of bool; under the empty name, (items,) the translations' lengths in characters.
    """
    key = ITEM
    place = pd.MultiIndex.from_frame(items[key].astype("str"))
    size = _lengths(place, marked, texts)
    begin = np.cumsum(size) - size
    kept = marked[(marked["item_type"].astype("str") != "degraded") & (marked["end"] > marked["start"])]
    at = place.get_indexer(pd.MultiIndex.from_frame(kept[key].astype("str")))
    found = {"": size}
    for protocol, rows in kept.assign(at=at)[at >= 0].groupby(kept["protocol"].astype("str"), sort=False):
        edge = np.zeros(size.sum() + 1)
        item = rows["at"].to_numpy()
        for name, step in (("start", 1), ("end", -1)):
            np.add.at(edge, begin[item] + np.minimum(rows[name].to_numpy(), size[item]).astype(int), step)
        found[str(protocol)] = edge.cumsum()[:-1] > 0
    return found


def _lengths(items: pd.MultiIndex, marked: pd.DataFrame, texts: pd.DataFrame) -> np.ndarray:
    """Count the characters of every item's translation; of a system without any text it is the reference itself."""
    pair = ["src_lang", "tgt_lang"]
    here = texts.astype(dict.fromkeys([*pair, *items.names], "str"))
    here = here.merge(marked[pair].astype("str").drop_duplicates(), on=pair)
    own = here.set_index(list(items.names))["hypothesis"].str.len().reindex(items).to_numpy()
    reference = here.drop_duplicates([*SEGMENT]).set_index([*SEGMENT])["reference"].str.len()
    unknown = ~items.get_level_values("system").isin(here["system"].unique())
    size = np.where(unknown, reference.reindex(items.droplevel("system")).to_numpy(), own)
    if not np.isfinite(size).all():
        raise DataError("Some translations have no text. Load the texts of the same test set.")
    return size.astype(int)
