"""What the items show that check annotators: degraded ones, second showings, calibration items."""

import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.findings import Finding, Result, finding, or_missing, which
from evalkit.campaign.opening import Campaign
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human import annotators, calibration
from evalkit.human.annotators import repeat_differences

#: Fewest degraded items for an annotator to fail by.
FEWEST_DEGRADED = 5
#: Below this probability, failures near the limit of a test are too few for nobody to have been removed.
SURE = 0.001


class QualityControl(Result):
    """Annotators' scores of items that check them, in points of 100.

    table: each annotator's degraded items against their originals (see ``annotators.quality_control``); no rows where
    nobody can be tested. degraded: whether there are degraded items. tested: annotators with a test; failed: those with
    ``FEWEST_DEGRADED`` degraded items or more whom it does not pass; undecided: how many failed by fewer. lower: points
    by which degraded items score below their originals, median annotator. caliper: narrow passes and failures.
    everywhere: whether several language pairs count. again, equal: median distance of two scores of an item, and the
    share that are equal; repeated: items scored twice, and repeaters: by how many annotators.
    """

    def tell(self) -> Iterator[Finding]:
        """Say who notices degraded items, how steady annotators are, and which of such items are lacking."""
        if self.tested:
            yield finding("control.attention", found=self, below=self.lower >= 0, points=abs(self.lower))
        else:
            yield finding("lacks.originals" if self.degraded else "lacks.degraded")
        yield from which("control", self, removed=self.removed, again=self.again is not None)
        yield from which("lacks", self, repeats=self.again is None)

    @property
    def passed(self) -> int:
        """Annotators who pass the test."""
        return self.tested - len(self.failed) - self.undecided

    @property
    def removed(self) -> bool:
        """Whether those who failed seem to have been taken out before."""
        return self.caliper.p < SURE


@or_missing("", of_people=True)
def control_quality(campaign: Campaign) -> QualityControl:
    """Test whether annotators notice degraded items, and how steady they are; see ``QualityControl``."""
    part = campaign.hundred
    degraded = bool(part["item_type"].eq("degraded").any())
    control = campaign.control.sort_values("qc_p", ascending=False, kind="stable", ignore_index=True)
    tested = control.dropna(subset="qc_p").head(len(control) if degraded else 0)
    not_passed = tested[tested["qc_p"] >= 0.05]
    failed = not_passed[not_passed["qc_pairs"] >= FEWEST_DEGRADED]
    twice = repeat_differences(with_pair(part))
    apart = twice["difference"]
    found = QualityControl(pair=campaign.pair, degraded=degraded, everywhere=len(campaign.pairs) > 1)
    found.table = control.head(len(control) if len(tested) else 0)
    found.caliper = annotators.removed(tested["qc_p"])
    found.tested, found.undecided = len(tested), len(not_passed) - len(failed)
    found.failed = tuple(failed["annotator"])
    found.lower = float(tested["qc_difference"].median())
    found.again = float(apart.median()) if len(apart) else None
    found.equal = float(apart.eq(0).mean())
    found.repeated, found.repeaters = len(apart), twice["annotator"].nunique()
    return found


#: What scores before calibrating are called among the forms.
RAW = "raw scores"


class Calibration(Result):
    """What calibration items say about strictness, and scores moved by it.

    by: who shares a shift, "pair" (language pairs, XSTS) or "annotator". strictness: means of the groups on the items.
    systems: places before and after each form; groups: the same by group, with standard errors; both without rows where
    nothing can be moved, and ``unmoved`` says why. excluded: groups without both kinds of items. share: of a shift that
    shows on other items, with low and high; missing where it cannot be told, None where it cannot be tested. scale: the
    ends of the campaign's scale.
    """

    systems = groups = pd.DataFrame()
    unmoved, excluded = "", 0
    share, low, high = None, np.nan, np.nan

    def tell(self) -> Iterator[Finding]:
        """Say how strict everybody is, what calibrating changes, and whether it carries over to other items."""
        strict, means = self.strictness, self.strictness["mean"]
        ends = {"items": strict["items"].max(), "groups": len(strict), "low": means.min(), "high": means.max()}
        yield finding("calibration.strict", found=self, **ends)
        if self.unmoved:
            yield finding("calibration.unmoved", found=self)
        else:
            yield self._moved()
            line = calibration.FORMS["line"] in set(self.systems["form"])
            yield from which("calibration", self, no_line=not line, excluded=self.excluded)
        if self.share is None:
            yield finding("lacks.carry_over", found=self)
        else:
            key = "untold" if pd.isna(self.share) else "carries" if self.share > 0.5 else "harms"
            yield finding(f"calibration.{key}", found=self)

    def _moved(self) -> Finding:
        """Say whether calibrating changes which system is first, and how many places differ."""
        table, key = self.systems, [name for name in ("system", "pair") if name in self.systems]
        named = table.assign(name=table["system"] + (" (" + table["pair"] + ")" if "pair" in table else ""))
        firsts = named[named["rank"].eq(1)].groupby("form", sort=False)["name"].agg(" and ".join).to_dict()
        ranks = table.set_index(["form", *key])["rank"].unstack("form")
        moved = int(ranks.drop(columns=RAW).ne(ranks[RAW], axis=0).to_numpy().sum())
        each = [finding("calibration.first", names=names, form=form) for form, names in firsts.items()]
        same = len(set(firsts.values())) == 1
        return finding(
            "calibration.same" if same else "calibration.turned", first=firsts[RAW], firsts=each, moved=moved
        )


@or_missing("calibration")
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
    how: dict[str, Any] = {"scale": campaign.scale, "resamples": resamples, "seed": seed}
    found = Calibration(scale=campaign.scale, by=by, strictness=_strictness(rows, by))
    try:
        moved, found.excluded = _moved(rows, design, **how)
    except DataError as problem:
        found.unmoved = str(problem)
    else:
        found.systems = _systems(moved, by=by)
        found.groups = moved.assign(form=moved["form"].map(dict(calibration.FORMS))).drop(columns=["within"])
    with suppress(DataError):
        _, told = calibration.held_out(rows, **design, **how, splits=50)
        found.share, found.low, found.high = told[["slope", "low", "high"]].iloc[0]
    return found


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
    both = kinds.index[kinds.reindex(columns=["calibration", "system"], fill_value=0).gt(0).all(axis=1)]
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
    raw = moved[moved["form"] == "shift"].assign(form="raw", adjusted=lambda t: t["raw"])
    groups = pd.concat([raw, moved]).rename(columns={"group": by}).groupby(["form", *key], sort=False)
    table = groups.agg(**people, raw=("raw", "mean"), adjusted=("adjusted", "mean")).reset_index()
    adjusted = table.groupby("form")["adjusted"]
    ranks = adjusted.rank(ascending=False, method="min").fillna(adjusted.transform("size")).astype(int)
    titles = {"raw": RAW, **calibration.FORMS}
    order = pd.Categorical(table["form"].map(titles), titles.values())
    table = table.assign(rank=ranks, form=order).sort_values(["form", "rank"], ignore_index=True)
    return table.astype({"form": "str"})
