"""Scores on a common footing by calibration items, in all four forms, where a campaign has such items."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.missing import or_missing
from evalkit.campaign.opening import Campaign
from evalkit.data.schemas import ITEM
from evalkit.human import calibration

#: What scores before calibrating are called among the forms.
RAW = "raw scores"


@dataclass(frozen=True, eq=False)
class Calibration:
    """What calibration items say about strictness, and scores moved by it.

    by: who shares a shift, "pair" (language pairs, XSTS) or "annotator". strictness: means of the groups on the items.
    systems: places before and after each form; groups: the same by group, with standard errors; both without rows where
    nothing can be moved, and ``unmoved`` says why. excluded: groups without both kinds of items. carry_over: spread of
    means on items not calibrated on, by form; no rows where that cannot be tested. share: of a shift that shows on
    other items, with low and high; None where it cannot be told.
    """

    scale: tuple[float, float]
    by: str
    strictness: pd.DataFrame
    systems: pd.DataFrame
    groups: pd.DataFrame
    unmoved: str
    excluded: int
    carry_over: pd.DataFrame
    share: float | None
    low: float
    high: float


@or_missing(
    "Show every annotator (of every language pair, where scores are to be compared across languages) the same items, "
    "about 50 to 100 of all qualities, before their ordinary work, and give them the item_type 'calibration'."
)
def calibrate(campaign: Campaign, *, resamples: int = 200, seed: int = 7) -> Calibration:
    """Move scores by what calibration items say about strictness, in all four forms, and test if that carries over.

    Language pairs share a shift where they rated the same items (XSTS); else annotators of the pair do.
    """
    rows = campaign.ratings
    if not rows["item_type"].eq("calibration").any():
        raise DataError("there are no calibration items.")
    design: dict[str, Any] = calibration.design(rows)
    by = design["by"]
    if by == "annotator":
        rows = campaign.part
        if not rows["item_type"].eq("calibration").any():
            raise DataError(f"there are no calibration items in {campaign.pair}.")
    systems = groups = pd.DataFrame()
    unmoved, excluded = "", 0
    try:
        moved, excluded = _moved(rows, design, scale=campaign.scale, resamples=resamples, seed=seed)
    except DataError as problem:
        unmoved = str(problem)
    else:
        systems = _systems(moved, by=by)
        groups = moved.assign(form=moved["form"].map(dict(calibration.FORMS))).drop(columns=["within"])
    carry_over, share, low, high = _carried(rows, design, scale=campaign.scale, resamples=resamples, seed=seed)
    return Calibration(
        campaign.scale, by, _strictness(rows, by), systems, groups, unmoved, excluded, carry_over, share, low, high
    )


def _strictness(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Average the calibration items of each group: the group, items, judgements, mean, shift to the groups' average."""
    chosen = rows[rows["item_type"].eq("calibration")]
    items = chosen.drop_duplicates([by, *ITEM]).groupby(by).size()
    medians = calibration.group_means(chosen, by=by).set_index(by)["mean"]
    table = pd.DataFrame({"items": items, "judgements": chosen.groupby(by).size(), "mean": medians})
    table["shift"] = table["mean"].mean() - table["mean"]
    return table.sort_values("mean", kind="stable").rename_axis(by).reset_index()


def _moved(
    rows: pd.DataFrame, design: dict[str, Any], *, scale: tuple[float, float], resamples: int, seed: int
) -> tuple[pd.DataFrame, int]:
    """Calibrate the groups that have both kinds of items, and count the others; DataError where none can be moved."""
    by = design["by"]
    kinds = rows.groupby([by, "item_type"]).size().unstack(fill_value=0)
    if "system" not in kinds:
        raise DataError("there are no outputs of systems beside the calibration items.")
    both = kinds[(kinds["calibration"] > 0) & (kinds["system"] > 0)].index
    if not len(both):
        raise DataError("nobody who rated calibration items also rated outputs of systems.")
    chosen = rows[rows[by].isin(both)]
    mean = calibration.group_means(chosen.loc[chosen["item_type"].eq("calibration")], by=by)["mean"].mean()
    low, high = scale
    if not low < mean < high:
        raise DataError(f"all calibration items were given an end of the scale from {low:g} to {high:g}.")
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a draw without a judgement of an item is left out of a median
        moved = calibration.calibrate(chosen, **design, scale=scale, resamples=resamples, seed=seed)
    return moved, len(kinds) - len(both)


def _systems(moved: pd.DataFrame, *, by: str) -> pd.DataFrame:
    """List systems by form, raw scores first: form, [pair], system, [annotators], raw, adjusted, rank.

    rank: 1 is best, within the form. Annotators of a pair are averaged. Language pairs stay apart, for a system of one
    is compared with those of others.
    """
    key = ["pair", "system"] if by == "pair" else ["system"]
    people = {} if by == "pair" else {"annotators": (by, "nunique")}
    groups = moved.rename(columns={"group": by}).groupby(["form", *key], sort=False)
    table = groups.agg(**people, raw=("raw", "mean"), adjusted=("adjusted", "mean")).reset_index()
    before = table[table["form"] == "shift"].assign(form="raw", adjusted=lambda t: t["raw"])
    table = pd.concat([before, table], ignore_index=True)
    ranks = table.groupby("form")["adjusted"].rank(ascending=False, method="min")
    table["rank"] = ranks.where(ranks.notna(), table.groupby("form")["raw"].transform("size")).astype(int)
    titles = {"raw": RAW, **calibration.FORMS}
    place = {form: number for number, form in enumerate(titles)}
    table = table.assign(place=table["form"].map(place), form=table["form"].map(titles))
    return table.sort_values(["place", "rank"], ignore_index=True).drop(columns="place")


def _carried(
    rows: pd.DataFrame, design: dict[str, Any], *, scale: tuple[float, float], resamples: int, seed: int
) -> tuple[pd.DataFrame, float | None, float, float]:
    """Test on items that were not calibrated on: spread of means by form; share of a shift that shows, low, high."""
    options: dict[str, Any] = {**design, "resamples": resamples, "seed": seed, "splits": 50}
    try:
        with np.errstate(invalid="ignore", divide="ignore"):  # groups that all agree have nothing to bring closer
            held = calibration.held_out(rows, scale=scale, **options)
            slope = calibration.carry_over(rows, **options).iloc[0]
    except DataError:
        return pd.DataFrame(), None, np.nan, np.nan
    held = held.assign(form=held["form"].map(dict(calibration.FORMS))).drop(columns="within")
    known = slope[["slope", "low", "high"]].notna().all()
    return held, float(slope["slope"]) if known else None, float(slope["low"]), float(slope["high"])
