"""Pair each original segment with its copy, and say what the annotator had seen of the copy by then."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import like
from evalkit.data.schemas import with_pair

#: What names a document as one annotator was shown it, the original and its copy alike.
DOCUMENT = ["hit", "src_lang", "tgt_lang", "system", "doc"]
_KEEP = [*DOCUMENT, "segment", "annotator"]


def pairs(ratings: pd.DataFrame, *, kind: str | None = "repeat") -> pd.DataFrame:
    """Pair originals with their copies by the same annotator in the same HIT.

    ratings: with the columns hit, ``copy`` (the row belongs to a quality-control copy) and ``position`` (its place in
    the HIT as annotated), as the loaders of MTurk, Appraise and ESA make them. kind: which items of the copies to pair,
    ``repeat`` (unchanged segments), ``degraded`` (worsened ones), None for all.
    Returns a row per pair: ``original`` and ``repeated`` scores, ``difference`` = original - repeated (positive: the
    copy scored lower), the same from z-scores as ``z_difference`` where there are any; ``copy_first`` (the copy was
    scored before the original); ``group``: ``before`` the first degraded segment of the copy, ``after`` it, or
    ``none`` in copies without any; ``distance`` in segments from the first degraded one (negative before it);
    ``degraded_seen`` so far in the copy; ``changed_seen``, the same with references counted too; ``document``, a name
    for the original and its copy together. Copies without an original are counted in ``attrs["unpaired"]``.
    Source: Knowles & Lo 2024, section 5.2. Raises DataError where two originals compete for a copy.
    """
    if lacking := [name for name in ("hit", "copy", "position") if name not in ratings]:
        raise DataError(f"Pairing needs the column {lacking[0]}, which the loaders of whole documents add.")
    ratings = ratings.sort_values(["hit", "position"], kind="stable")
    originals = ratings[~ratings["copy"] & ratings["item_type"].isin(["system", "reference"])]
    twice = originals.duplicated(_KEEP)
    if twice.any():
        row = originals[twice].iloc[0]
        raise DataError(f"HIT {row['hit']} has segment {row['segment']} of {row['doc']} by {row['system']} twice.")
    copies = ratings[ratings["copy"]].copy()
    document = [copies[name] for name in DOCUMENT]
    bad = copies["item_type"].eq("degraded")
    changed = bad | copies["item_type"].eq("reference")
    for name, seen in (("degraded_seen", bad), ("changed_seen", changed)):
        copies[name] = seen.groupby(document).cumsum() - seen  # the segment itself does not count
    first = copies["position"].where(bad).groupby(document).transform("min")
    copies["distance"] = copies["position"] - first
    copies["group"] = np.select([first.isna(), copies["distance"] < 0], ["none", "before"], "after")
    wanted = copies if kind is None else copies[copies["item_type"].eq(kind)]
    values = ["score", "position", *(["z"] if "z" in ratings else [])]
    extra = ["item_type", "degraded_seen", "changed_seen", "distance", "group"]
    joined = wanted[[*_KEEP, *values, *extra]].merge(
        originals[[*_KEEP, *values]], on=_KEEP, how="left", suffixes=("", "_original")
    )
    unpaired = joined["score_original"].isna()
    joined = with_pair(joined[~unpaired].reset_index(drop=True))
    names = {"score": "repeated", "score_original": "original"}
    joined["difference"] = joined["score_original"] - joined["score"]
    if "z" in ratings:
        joined["z_difference"] = joined["z_original"] - joined["z"]
    joined["copy_first"] = joined["position"] < joined["position_original"]
    joined["document"] = joined["hit"] + "|" + joined["system"] + "|" + joined["doc"]
    columns = ["pair", "annotator", "document", "hit", "system", "doc", "segment", "original", "repeated", "difference"]
    columns += [*(["z_difference"] if "z" in ratings else []), *extra, "copy_first", "position"]
    return like(joined.rename(columns=names)[columns], ratings, unpaired=int(unpaired.sum()))


def degraded_item_effect(ratings: pd.DataFrame) -> pd.DataFrame:
    """Compare each kind of item in quality-control copies with its original: was the degradation noticed at all?

    Returns pair (or "all"), item_type (degraded, reference, repeat), n, original and copy (mean scores), difference
    (original - copy), share_lower (copy scored below the original), share_to_10 (copies scored 10 or less).
    """
    rows = []
    everything = pairs(ratings, kind=None)
    for kind in ("degraded", "reference", "repeat"):
        found = everything[everything["item_type"] == kind]
        for pair, part in [("all", found), *found.groupby("pair", sort=True)]:
            if len(part):
                means = part[["original", "repeated", "difference"]].mean()
                lower, near_zero = (part["difference"] > 0).mean(), (part["repeated"] <= 10).mean()
                rows.append((pair, kind, len(part), *means, lower, near_zero))
    names = ["pair", "item_type", "n", "original", "copy", "difference", "share_lower", "share_to_10"]
    return pd.DataFrame(rows, columns=names)


def summary(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Describe named tables of pairs: n, mean scores, and mean, median, sd of original - copy."""
    rows = []
    for name, table in tables.items():
        difference = table["difference"]
        spread = [difference.mean(), difference.median(), difference.std(), (difference == 0).mean()]
        rows.append((name, len(table), table["original"].mean(), table["repeated"].mean(), *spread))
    names = ["pairs", "n", "original", "copy", "difference", "median", "sd", "share_equal"]
    return pd.DataFrame(rows, columns=names)


def group_sizes(paired: pd.DataFrame) -> pd.DataFrame:
    """Count each language pair's repeats by group, beside documents, annotators and the share of copies shown first."""
    counts = paired.pivot_table(index="pair", columns="group", values="difference", aggfunc="size", fill_value=0)
    counts = counts.reindex(columns=["before", "after", "none"], fill_value=0).rename_axis(columns=None)
    grouped = paired.groupby("pair")
    counts["documents"], counts["annotators"] = grouped["document"].nunique(), grouped["annotator"].nunique()
    return counts.assign(copy_first=grouped["copy_first"].mean()).reset_index()


def restrict(ratings: pd.DataFrame, mapping: pd.DataFrame) -> pd.DataFrame:
    """Keep the HITs of annotators who also did a calibration HIT, and their language pairs, as the paper does.

    mapping: hit -> annotator, the data set ``wmt22-calibration-mapping``; ``annotator`` becomes the person.
    """
    person = mapping.set_index("hit")["annotator"]
    kept = ratings[ratings["hit"].isin(person.index)]
    if kept.empty:
        raise DataError("No HIT of these ratings is in the mapping of calibration accounts. Are both WMT22's?")
    return like(kept.assign(annotator=kept["hit"].map(person)).reset_index(drop=True), ratings)


def label_example(ratings: pd.DataFrame, *, segments: int = 7) -> pd.DataFrame:
    """Show one quality-control copy beside its original, labelled as in the paper's Table 4.

    The first copy, in the order of the table, that has segments of both groups and ``segments`` of them in all.
    Columns segment, original (score), copy_item, copy (score), label, difference;
    ``attrs`` name hit, system, doc and whether the copy came first. Texts are not in WMT's score files.
    """
    ratings = ratings.sort_values(["hit", "position"], kind="stable")
    found = pairs(ratings)
    sizes = ratings[ratings["copy"]].groupby(["hit", "system", "doc"]).size()
    labelled = found[found["group"] != "none"]
    both = labelled.groupby(["hit", "system", "doc"], sort=False)["group"].nunique()
    chosen = [key for key in both.index[both == 2] if sizes[key] == segments]
    if not chosen:
        raise DataError(f"No copy of {segments} segments has repeats before and after a degraded one. Ask for others.")
    hit, name, doc = chosen[0]
    rows = ratings[(ratings["hit"] == hit) & (ratings["system"] == name) & (ratings["doc"] == doc)]
    labels = found.loc[(found["hit"] == hit) & (found["system"] == name) & (found["doc"] == doc)].set_index("segment")
    copy, original = rows[rows["copy"]].set_index("segment"), rows[~rows["copy"]].set_index("segment")
    frame = pd.DataFrame({"original": original["score"].reindex(copy.index), "copy_item": copy["item_type"]})
    frame = frame.assign(copy=copy["score"], label=labels["group"].reindex(copy.index).fillna(""))
    frame["difference"] = frame["original"] - frame["copy"]
    frame.attrs = {"hit": hit, "system": name, "doc": doc, "copy_first": bool(labels["copy_first"].iloc[0])}
    return frame.reset_index()
