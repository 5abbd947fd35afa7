"""Scores on a common footing by calibration items, in all four forms, where a campaign has such items."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.opened import Campaign
from evalkit.campaign.sections import Section, Table, section
from evalkit.data.schemas import ITEM
from evalkit.human.calibration import forms, held_out, ratings
from evalkit.stats.terms import pluralize

_COLLECT = (
    "Show every annotator (of every language pair, where scores are to be compared across languages) the same items, "
    "about 50 to 100 of all qualities, before their ordinary work, and give them the item_type 'calibration'."
)


@section("calibration", collect=_COLLECT)
def calibrated(campaign: Campaign, *, resamples: int = 200, seed: int = 7) -> Section:
    """Move scores by what calibration items say about strictness, in all four forms, and test if that carries over.

    Language pairs share a shift where they rated the same items (XSTS); else annotators of the pair do.
    """
    rows = campaign.ratings
    kinds = rows["item_type"].eq("calibration")
    if not kinds.any():
        return Section("calibration", (), (), f"there are no calibration items. {_COLLECT}", {"there": False})
    design = ratings.design(rows)
    by, within = design["by"], design["within"]
    if by == "annotator":
        rows = campaign.part
        if not rows["item_type"].eq("calibration").any():
            return Section(
                "calibration",
                (),
                (),
                f"there are no calibration items in {campaign.pair}. {_COLLECT}",
                {"there": False},
            )
    scale = campaign.scale
    means = _strictness(rows, by)
    whom = {"annotator": "annotator", "pair": "language pair"}[by]
    told = [
        f"{pluralize(int(means['items'].max()), 'calibration item')} rated by {pluralize(len(means), whom)}: their "
        f"means on them run from {means['mean'].min():.2f} to {means['mean'].max():.2f} on a scale from {scale[0]:g} "
        f"to {scale[1]:g}. Whoever has a low mean is strict, and their scores go up."
    ]
    caption = f"How strict each {whom} is: means on the calibration items"
    tables = [Table("strictness", means, caption)]
    facts = {"there": True, "by": by, "spread": float(means["mean"].max() - means["mean"].min())}
    moved, lost = _moved(rows, by=by, within=within, scale=scale, resamples=resamples, seed=seed)
    if moved is None:
        told.append("No calibrated scores of systems: " + lost)
    else:
        titles = dict(forms.FORMS)
        by_form = _systems(moved, by=by).assign(form=lambda t: t["form"].map({"raw": "raw scores", **titles}))
        told.append(_changed(by_form))
        number = by_form["form"].nunique() - 1
        tables.append(Table("calibrated", by_form, f"Systems before and after each of {number} forms, best first"))
        each = moved.assign(form=moved["form"].map(titles)).drop(columns=["within"])
        tables.append(Table("calibrated_groups", each, f"The same for each {whom}, with standard errors"))
        if "line" not in set(moved["form"]):
            told.append("There is no two-point line, because it also needs human references, rated by everybody.")
        if lost:
            told.append(lost)
    try:
        options = {"by": by, "within": within, "seed": seed, "splits": 50}
        with np.errstate(invalid="ignore", divide="ignore"):  # groups that all agree have nothing to bring closer
            held = held_out.held_out(rows, scale=scale, resamples=resamples, **options)
            slope = held_out.carry_over(rows, resamples=resamples, **options).iloc[0]
    except DataError:
        collect = f"whether shifts carry over to other items can be tested where three {whom}s or more rated the same "
        collect += "four items or more."
        return Section("calibration", tuple(told), tuple(tables), collect, facts)
    held = held.assign(form=held["form"].map(dict(forms.FORMS))).drop(columns="within")
    tables.append(Table("carry_over", held, "Does it carry over? Spread of means on items not calibrated on"))
    if slope[["slope", "low", "high"]].isna().any():
        told.append("Whether a shift carries over cannot be told: the groups hardly differ on these items.")
        return Section("calibration", tuple(told), tuple(tables), "", facts)
    share = float(slope["slope"])
    told.append(
        f"Learned on one half of the calibration items, {share:.0%} of a shift shows on the other half "
        f"(95 % interval {slope['low']:.0%} to {slope['high']:.0%}). "
        + (
            "A shift does more good than harm."
            if share > 0.5
            else "Below one half, a full shift does more harm than good."
        )
    )
    return Section("calibration", tuple(told), tuple(tables), "", facts | {"carry_over": share})


def _strictness(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Average the calibration items of each group: the group, items, judgements, mean, shift to the groups' average."""
    chosen = rows[rows["item_type"].eq("calibration")]
    items = chosen.drop_duplicates([by, *ITEM]).groupby(by).size()
    medians = ratings.group_means(chosen, by=by).set_index(by)["mean"]
    table = pd.DataFrame({"items": items, "judgements": chosen.groupby(by).size(), "mean": medians})
    table["shift"] = table["mean"].mean() - table["mean"]
    return table.sort_values("mean", kind="stable").rename_axis(by).reset_index()


def _moved(rows, *, by: str, within: str | None, scale, resamples: int, seed: int) -> tuple[pd.DataFrame | None, str]:
    """Calibrate the groups that have both kinds of items; a sentence about the others, or why there are none."""
    kinds = rows.groupby([by, "item_type"]).size().unstack(fill_value=0)
    if "system" not in kinds:
        return None, "there are no outputs of systems beside the calibration items."
    both = kinds[(kinds["calibration"] > 0) & (kinds["system"] > 0)].index
    if not len(both):
        return None, "nobody who rated calibration items also rated outputs of systems."
    lost = len(kinds) - len(both)
    chosen = rows[rows[by].isin(both)]
    own = chosen.loc[chosen["item_type"].eq("calibration")]
    low, high = scale
    mean = ratings.group_means(own, by=by)["mean"].mean()
    if not low < mean < high:
        return None, f"all calibration items were given an end of the scale from {low:g} to {high:g}."
    told = f"{pluralize(lost, by)} without calibration items or outputs of systems are left out." if lost else ""
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a draw without a judgement of an item is left out of a median
        moved = ratings.calibrate(chosen, by=by, within=within, scale=scale, resamples=resamples, seed=seed)
    return moved, told


def _systems(moved: pd.DataFrame, *, by: str) -> pd.DataFrame:
    """List systems by form, raw scores first: form, [pair], system, [annotators], raw, adjusted, rank.

    rank: 1 is best, within the form. Annotators of a pair are averaged. Language pairs stay apart, for a system of one
    is compared with those of others.
    """
    key = ["pair", "system"] if by == "pair" else ["system"]
    table = moved.rename(columns={"group": by}).groupby(["form", *key], sort=False)
    if by == "pair":
        table = table.agg(raw=("raw", "mean"), adjusted=("adjusted", "mean"))
    else:
        table = table.agg(annotators=(by, "nunique"), raw=("raw", "mean"), adjusted=("adjusted", "mean"))
    table = table.reset_index()
    before = table[table["form"] == "shift"].assign(form="raw", adjusted=lambda t: t["raw"])
    table = pd.concat([before, table], ignore_index=True)
    ranks = table.groupby("form")["adjusted"].rank(ascending=False, method="min")
    table["rank"] = ranks.where(ranks.notna(), table.groupby("form")["raw"].transform("size")).astype(int)
    order = {form: place for place, form in enumerate(["raw", *forms.FORMS])}
    return table.sort_values(["form", "rank"], key=lambda c: c.map(order) if c.name == "form" else c, ignore_index=True)


def _changed(table: pd.DataFrame) -> str:
    """Say whether calibrating changes which system is first, and how many places differ."""
    key = [name for name in ("pair", "system") if name in table]
    ranks = table.set_index(["form", *key])["rank"].unstack("form")
    others = [name for name in table["form"].unique() if name != "raw scores"]
    firsts = {form: _first(table, form, key) for form in ["raw scores", *others]}
    if len(set(firsts.values())) == 1:
        first = f"{firsts['raw scores']} is first by raw scores and after each form"
    else:
        first = "; ".join(f"{name} first by {form}" for form, name in firsts.items())
    moved = sum(int((ranks[form] != ranks["raw scores"]).sum()) for form in others)
    return f"{first}. Places that differ from those by raw scores, over all forms: {moved}."


def _first(table: pd.DataFrame, form: str, key: list[str]) -> str:
    """Name what is first in a form, with its language pair where there is one."""
    rows = table.loc[table["form"].eq(form) & table["rank"].eq(1), key[::-1]].to_numpy(str)
    return " and ".join(row[0] if len(row) == 1 else f"{row[0]} ({row[1]})" for row in rows)
