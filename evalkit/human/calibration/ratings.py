"""From judgements to calibrated scores: medians per item, means per group, shifts with standard errors.

A group is whoever shares a shift: the annotators of a language pair (``by="pair"``, as in Licht et al. 2022), a single
annotator (``by="annotator"``), or the values of any other column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import scale_of
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.calibration.forms import Standard, adjust
from evalkit.stats import inference

TYPES = ("calibration", "reference", "system")


def item_medians(ratings: pd.DataFrame, *, by: str = "pair") -> pd.DataFrame:
    """Take the median over annotators of every item: by, item_type, system, doc, segment, score, annotators.

    An annotator's own repeated judgements of an item are averaged first. Source: Licht et al. 2022, section 5.2.
    """
    known = with_pair(ratings)
    _require(known, by)
    key = [by, "item_type", *ITEM]
    one_each = known.groupby([*key, *({"annotator"} - {by})], as_index=False)["score"].mean()
    people = one_each.assign(annotator=known[by] if by == "annotator" and by not in one_each else one_each["annotator"])
    return people.groupby(key, as_index=False).agg(score=("score", "median"), annotators=("annotator", "nunique"))


def group_means(ratings: pd.DataFrame, *, by: str = "pair") -> pd.DataFrame:
    """Average the item medians of each group and source: by, item_type, system, items, mean.

    A source is one system, all references, or the whole calibration set; system is "" for the last two.
    """
    medians = item_medians(ratings, by=by)
    medians = medians[medians["item_type"].isin(TYPES)]
    source = medians["system"].where(medians["item_type"] == "system", "")
    means = medians.assign(system=source).groupby([by, "item_type", "system"], as_index=False)
    return means.agg(items=("score", "size"), mean=("score", "mean"))


def calibrate(
    ratings: pd.DataFrame,
    *,
    by: str = "pair",
    within: str | None = None,
    standard: Standard | None = None,
    scale: tuple[float, float] | None = None,
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Calibrate each group's system scores in all forms, with bootstrap standard errors over items and annotators.

    standard: the agreed scores; None takes the averages of the groups' own means (within each value of ``within``),
    as the paper did for its human fix point, on the ``scale`` given or else the table's own. The standard itself is
    treated as known.
    Returns within, group, system, form, items, annotators, calibration_mean, reference_mean, raw, raw_se, adjusted, se,
    low, high. Groups without references have no two-point line. Caveat: intervals are per group; groups that share
    calibration items have correlated errors, which makes their differences more certain than two intervals suggest.
    Raises DataError where a group has no calibration or no system items.
    """
    known = with_pair(ratings)
    _require(known, by)
    arena = known[within] if within else pd.Series("all", index=known.index)
    rows: list[dict[str, Any]] = []
    for place, part in known.groupby(arena, sort=True):
        agreed = standard or own_standard(part, by=by, scale=scale)
        for group, judged in part.groupby(by, sort=True):
            found = _calibrated(judged, group, agreed, resamples, np.random.default_rng(seed))
            rows += [{"within": place, **row} for row in found]
    return pd.DataFrame(rows)


def own_standard(ratings: pd.DataFrame, *, by: str = "pair", scale: tuple[float, float] | None = None) -> Standard:
    """Agree on the averages of what all groups gave: mean of calibration means, mean of reference means (if any).

    The cap is half a point of a five-point scale, in the units of ``scale`` (None: the table's own).
    """
    low, high = scale_of(ratings, given=scale)
    means = group_means(ratings, by=by).groupby("item_type")["mean"].mean()
    if "calibration" not in means:
        raise DataError("No calibration items in these ratings. Give them the item_type 'calibration'.")
    return Standard(
        consensus=float(means["calibration"]),
        human_reference=float(means["reference"]) if "reference" in means else None,
        scale=(low, high),
        cap=(high - low) / 8,
    )


def design(ratings: pd.DataFrame) -> dict[str, str | None]:
    """Say who can share a shift in these ratings: ``by`` and ``within`` for the functions of this room.

    Where several language pairs rated the same calibration items, pairs are compared (XSTS). Otherwise the annotators
    of a pair are compared with each other, for only they rated the same items.

    >>> from evalkit.data import simulate
    >>> design(simulate.stand_in("wmt22-calibration-hits"))
    {'by': 'annotator', 'within': 'pair'}
    """
    calibration = with_pair(ratings).query("item_type == 'calibration'")
    shared = calibration.groupby(ITEM)["pair"].nunique()
    if len(shared) and (shared > 1).mean() > 0.5:
        return {"by": "pair", "within": None}
    return {"by": "annotator", "within": "pair"}


def with_task(ratings: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Let half of each pair's calibration documents play the task, where ratings have no system items; else unchanged.

    The played task is the system "held-out half". Only first showings are kept, of annotators who saw every document.
    """
    if (ratings["item_type"] == "system").any():
        return ratings
    rng = np.random.default_rng(seed)
    parts = []
    for _, part in with_pair(ratings).query("item_type == 'calibration'").groupby("pair", sort=True):
        documents = np.sort(part["doc"].unique().astype(object))
        seen = part.groupby("annotator")["doc"].transform("nunique")
        task = part["doc"].isin(rng.permutation(documents)[: len(documents) // 2])
        played = part.assign(
            item_type=np.where(task, "system", "calibration"),
            segment=part["system"] + " " + part["segment"],
            system=np.where(task, "held-out half", "calibration half"),
        )
        parts.append(played[seen == len(documents)])
    return pd.concat(parts)


def _calibrated(
    judged: pd.DataFrame, group: str, standard: Standard, resamples: int, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Yield a row per system and form for one group's judgements."""
    people = pd.Index(sorted(judged["annotator"].unique()))
    kinds = judged["item_type"].where(judged["item_type"] != "system", "system " + judged["system"])
    wide = judged.assign(kind=kinds).pivot_table(index=["kind", *ITEM], columns="annotator", values="score")[people]
    strata = {k: rows.to_numpy(float) for k, rows in wide.groupby(level="kind") if k.split(" ")[0] in TYPES}
    systems = [kind for kind in strata if kind.startswith("system ")]
    for kind, there in (("calibration", "calibration" in strata), ("system", bool(systems))):
        if not there:
            raise DataError(f"{group}: no items with item_type {kind!r}. Add them, or leave the group out.")
    point = {kind: np.mean(inference.median(matrix)) for kind, matrix in strata.items()}
    draws = inference.bootstrap_means(strata, resamples=resamples, rng=rng, annotators=len(people) > 1)
    with_line = standard.human_reference is not None
    for system in systems:
        moved, drawn = (
            adjust(
                means[system],
                calibration_mean=means["calibration"],
                reference_mean=means.get("reference") if with_line else None,
                standard=standard,
            )
            for means in (point, draws)
        )
        for form, adjusted in moved.items():
            low, high = map(float, inference.interval(drawn[form]))
            yield {
                "group": group,
                "system": system.removeprefix("system "),
                "form": form,
                "items": len(strata[system]),
                "annotators": len(people),
                "calibration_mean": float(point["calibration"]),
                "reference_mean": float(point.get("reference", np.nan)),
                "raw": float(point[system]),
                "raw_se": float(inference.standard_error(draws[system])),
                "adjusted": float(adjusted),
                "se": float(inference.standard_error(drawn[form])),
                "low": low,
                "high": high,
            }


def _require(ratings: pd.DataFrame, by: str) -> None:
    if len(ratings) == 0:
        raise DataError("There are no ratings to calibrate. Check the filter that was applied before.")
    if by not in ratings:
        raise DataError(f"No column {by!r} to group annotators by. Use 'pair', 'annotator', or a column of the table.")
