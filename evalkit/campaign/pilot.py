"""A pilot to plan with: the judgements of any campaign file that tell how scores scatter, on a scale from 0 to 100."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from evalkit import DataError, data
from evalkit.campaign.few import Correlation
from evalkit.campaign.findings import Finding, Result, finding, which, words
from evalkit.campaign.opening import Campaign, from_ratings
from evalkit.campaign.plan import block_length, typical_seconds
from evalkit.data import registry
from evalkit.data.provenance import like, reading_of, source_of
from evalkit.human import components, planning

#: The example, and the language pair that stands for it where none is named.
EXAMPLE, EXAMPLE_PAIR = "wmt22-calibration-hits", "eng-deu"
#: Fewest judgements that a plan is made from.
FEWEST = 20
#: From this share of segments with several systems' translations on, segments are told from what systems make of them.
SHARED = 0.1
#: A row of a plan, or a design of ``planning.plan``.
Row = Mapping[Any, Any]


class Pilot(Result):
    """Judgements that a plan rests on, and how they were read.

    ratings: outputs of systems (or calibration items, where there is nothing else) of all language pairs that can be
    planned with, higher is better, on a scale from 0 to 100; with provenance. mine: the whole file, with its own scale
    and criteria. pair: the one that is planned with. layout: of ``components.estimate``; chosen: whether it was chosen
    here. seconds: the median time of a judgement. apart: how many judgements of which kind of item were kept out.
    unusable: language pair -> why it cannot be planned with. example: no file of one's own.
    """

    def tell(self) -> Iterator[Finding]:
        """Say what the plan rests on, and how it was read."""
        part, mine = self.part, self.mine
        counts = {"systems": part["system"].nunique(), "people": part["annotator"].nunique()}
        items = [finding(f"items.{kind}", n=number) for kind, number in self.apart.items()]
        values = {"outputs": part["item_type"].eq("system").all(), "named": self.layout != "unnamed", "items": items}
        read = {"several": len(mine.criteria) > 1, "lower": mine.orientation.startswith("lower")}
        yield finding("pilot.rests", found=self, **counts, **values, **read)
        yield finding("pilot.layout", found=self, where=words(f"layouts.{self.layout}"), block=block_length(part))
        stretched = self.own_points(1) if self.stretched else 0
        yield from which("pilot", self, stretched=stretched, unusable=self.unusable.values())

    def answer(
        self,
        best: Row,
        tastes: pd.DataFrame,
        *,
        delta: float,
        target: float,
        typed: bool = False,
        hourly_pay: float = 0.0,
        currency: str = "",
    ) -> str:
        """Say what it takes to find a difference: people where they like systems differently, segments elsewhere.

        best: the cheapest design if nobody likes one system better than others do. tastes: pair, taste (variance of
        liking, squared points; 0: not found, missing: cannot be told), and the cheapest design with it, as
        ``planning.by_pair`` returns it. typed: the variances were typed in, not measured.
        """
        place = "WMT22's calibration HITs" if self.example else str(source_of(self.ratings)["name"])
        row = dict(tastes.set_index("pair").loc[self.pair].items())
        taste = None if typed else row.get("taste")
        if taste is None or pd.isna(taste) or taste == 0:
            key, design = "answer.no_liking" if taste == 0 else "answer.untold", best
        else:
            key, design = "answer.nothing" if pd.isna(row["segments"]) else "answer.liking", row
        hours = design["judgements"] * self.seconds / 3600 if self.seconds else 0.0
        values = {"delta": delta, "target": target, "typed": typed, "place": place, "best": best}
        values |= {"points": self.stretched and not typed, "own": self.own_points(delta), "hours": hours}
        values |= {"money": hours * hourly_pay, "currency": currency}
        plan = "" if key == "answer.nothing" else planning.describe(design, delta=delta)
        return str(finding(key, found=self, plan=plan, **values))

    @property
    def part(self) -> pd.DataFrame:
        """The judgements of the language pair that is planned with."""
        return self.ratings[self.ratings["pair"] == self.pair]

    @property
    def stretched(self) -> bool:
        """Whether the pilot's scale is another than 0 to 100."""
        return self.mine.scale != (0.0, 100.0)

    def own_points(self, points: float) -> float:
        """Say points of the scale from 0 to 100 in those of the pilot's own."""
        return points * (self.mine.scale[1] - self.mine.scale[0]) / 100

    def price(self, hourly_pay: float, otherwise: float) -> float:
        """Return what a judgement costs: its median time at an hourly pay, where both are known."""
        return hourly_pay * self.seconds / 3600 if hourly_pay > 0 and self.seconds else otherwise


def read_pilot(
    choice: str,
    *,
    pair: str = "",
    criterion: str = "",
    layout: str = "auto",
    columns: str = "",
    scale: Sequence[float] = (),
    fallback: bool = False,
) -> Pilot:
    """Read the pilot that a notebook's parameter names: a registered data set, or any file that ``import`` reads.

    pair: language pair to plan with; "" takes the one with most judgements. criterion: of several; "" takes the first.
    layout: of ``components.LAYOUTS``, or "auto". columns: see ``data.column_names``. scale: its ends, where a file does
    not tell them. fallback: a marked simulation may stand in for a registered set.
    Raises DataError where the file cannot be read, or cannot tell what a plan needs.
    """
    if layout not in ("auto", *components.LAYOUTS):
        raise DataError(f"layout={layout!r} is not known. Choose one of: auto, {', '.join(components.LAYOUTS)}.")
    ratings = _opened(choice, columns=columns, scale=scale, fallback=fallback)
    if any("comparisons won" in str(told) for told in reading_of(ratings).values()):
        raise DataError(words("refused.choices"))
    example = choice == EXAMPLE
    mine = from_ratings(ratings, pair=pair or (EXAMPLE_PAIR if example else ""), criterion=criterion)
    types = mine.ratings["item_type"]
    kind = "system" if types.eq("system").any() else "calibration"
    counted = mine.ratings[types.eq(kind)].reset_index(drop=True)
    found = layout if layout != "auto" else recognise(counted[counted["pair"] == mine.pair], mine)
    unusable = {
        name: problem
        for name, own in counted.groupby("pair", sort=False)
        if (problem := problem_of(own, str(name), layout=found, given=layout != "auto"))
    }
    if mine.pair not in counted["pair"].unique():
        raise DataError(f"{mine.pair}: no outputs of systems were judged. Take another pilot, or name another pair.")
    if mine.pair in unusable:
        raise DataError(unusable[mine.pair])
    counted = counted[~counted["pair"].isin(unusable)].reset_index(drop=True)
    pilot = Pilot(pair=mine.pair, mine=mine, layout=found, chosen=layout == "auto", unusable=unusable, example=example)
    pilot.ratings, pilot.seconds = mine.on_hundred(like(counted, ratings)), typical_seconds(mine)
    pilot.apart = mine.part.loc[mine.part["item_type"].ne(kind), "item_type"].value_counts(sort=True).to_dict()
    return pilot


def _opened(choice: str, *, columns: str, scale: Sequence[float], fallback: bool) -> pd.DataFrame:
    """Load a registered data set, or open a file of the user's own."""
    if choice in registry.entries():
        return data.choose(choice, columns=columns, fallback=fallback)
    options = {"columns": data.column_names(columns), "scale": tuple(scale)}
    return data.open_campaign(choice, **{name: told for name, told in options.items() if told})[0]


def recognise(rows: pd.DataFrame, mine: Campaign) -> str:
    """Choose the layout of components from one language pair's judgements of systems' outputs."""
    if rows.empty:
        return "campaign"
    item = ["system", "doc", "segment"]
    if rows["annotator"].nunique() == 1 and rows.groupby(item).size().gt(1).any():
        return "unnamed"
    if rows["item_type"].eq("calibration").all():
        return "calibration"
    several = rows.groupby(list(mine.segment))["system"].nunique().gt(1).mean()
    if several < SHARED:
        return "calibration"
    return mine.layout


def problem_of(rows: pd.DataFrame, pair: str, *, layout: str, given: bool) -> str:
    """Say in a sentence why one language pair cannot be planned with, and the remedy; "" where it can.

    given: whether the layout was chosen by hand, so that a single system may do.
    """
    faults = {
        "few": len(rows) < FEWEST,
        "same": rows["score"].nunique() == 1,
        "one_system": rows["system"].nunique() == 1 and not given,
        "one_person": rows["annotator"].nunique() == 1 and layout != "unnamed",
    }
    if fault := next((name for name, holds in faults.items() if holds), ""):
        return words(f"unplanned.{fault}", pair=pair, n=len(rows), fewest=FEWEST, score=rows["score"].max())
    try:
        components.estimate(rows, layout=layout)
    except DataError as problem:
        return words("unplanned.unknown", problem=problem)
    return ""


def whose(found: Correlation, *, typed: float, place: str) -> str:
    """Name the metric whose correlation a plan counts on. typed: one typed in, 0: none. place: where it was found."""
    return words(f"metric.{'typed' if typed else 'elsewhere' if place else 'here'}", r=typed, found=found, place=place)


def with_metric(saving: pd.DataFrame, whose: str) -> str:
    """Say how many judgements a metric saves, and what its correlation within systems would promise."""
    rows = saving.set_index("metric")
    own, alone = rows.loc["on differences"], rows.loc[planning.ALONE]
    within = rows.reindex(["within systems"]).iloc[0]
    key = "metric.nobody" if pd.isna(own["share"]) else "metric.saves"
    return words(key, whose=whose, own=own, alone=alone, within=within, promise=pd.notna(within["share"]))
