"""How far annotators agree, by the coefficient that fits the scale and the gaps."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.findings import WORDING, Finding, Result, finding, or_missing, words
from evalkit.campaign.opening import STEPS, Campaign
from evalkit.data.schemas import ITEM, of_systems
from evalkit.stats import agreement

#: Fewest items judged by two annotators for an estimate of agreement.
FEWEST = 10
#: Measures by kind of scale, the first of them the one that checks and the first page use, each with the reason; of the
#: kind complete that of a continuous scale which needs items judged by everybody.
MEASURES: dict[str, list[tuple[str, str, str]]] = WORDING["measures"]
#: What counts, and what counts besides where that is not enough: calibration items are chosen to differ much.
_RANKED, _WITH_CALIBRATION = ("system", "repeat"), ("system", "repeat", "calibration")


class Agreement(Result):
    """How far annotators agree on items that several of them judged.

    by_pair: Krippendorff's alpha of every language pair; no rows where no pair has an estimate. measures: all measures
    of the pair in detail. estimate, low, high, level, items: Krippendorff's alpha of that pair, its interval, how it
    weighs differences, and the items it rests on; estimate is None where there is none, and reason says why. shared:
    annotators who judged these items. calibration: whether calibration items are among them.
    """

    calibration = False
    reason = ""

    def tell(self) -> Iterator[Finding]:
        """Say how much the estimate rests on, or what to collect for one."""
        how = words("collect.agreement")
        yield finding("lacks.agreement" if self.estimate is None else "people.agree", found=self, collect=how)


@or_missing("agreement", of_people=True)
def measure_agreement(campaign: Campaign, *, resamples: int = 200, seed: int = 7) -> Agreement:
    """Estimate agreement for each language pair, and in detail for one; intervals are percentile bootstraps over items.

    resamples, seed: random draws of items behind the 95 % intervals.
    """
    asked, parts = campaign.asked(campaign.ratings, once=True), {}
    for pair in campaign.pairs:
        detail = pair == campaign.pair
        table = _measured(asked[asked["pair"] == pair], detail=detail, resamples=resamples, seed=seed)
        parts[pair] = table.assign(pair=pair, coefficient=table["coefficient"].map(WORDING["coefficients"]))
    own, first = parts[campaign.pair], pd.concat([table.head(1) for table in parts.values()], ignore_index=True)
    main, there = own.iloc[0], bool(own["estimate"].notna().iloc[0])
    columns = ["coefficient", "level", "estimate", "low", "high", "items", "annotators"]
    notes = [["note"] if table["note"].ne("").any() else [] for table in (first, own)]
    found = Agreement(pair=campaign.pair)
    found.by_pair = first[["pair", *columns, *notes[0]]].head(len(first) if first["estimate"].notna().any() else 0)
    found.measures = own[[*columns, "why", *notes[1]]].head(len(own) if there else 0)
    found.estimate = float(main["estimate"]) if there else None
    found.reason = "" if there else main["note"].rstrip(".")
    found.low, found.high, found.level = float(main["low"]), float(main["high"]), main["level"]
    found.items, found.shared = int(main["items"]), int(main["annotators"])
    found.calibration = there and bool(main["note"])
    return found


def kind_of(scores: pd.Series) -> str:
    """Name the kind of scale by the number of different scores: nominal, ordinal or continuous.

    >>> kind_of(pd.Series([1.0, 2, 3, 4, 5, 5])), kind_of(pd.Series([0.0, 1, 1])), kind_of(pd.Series(range(50)))
    ('ordinal', 'nominal', 'continuous')
    """
    number = scores.nunique()
    return "nominal" if number <= 2 else "ordinal" if number <= STEPS else "continuous"


def _measured(ratings: pd.DataFrame, *, detail: bool, resamples: int, seed: int) -> pd.DataFrame:
    """Estimate the measures of one pair, or the first of them; an estimate that cannot be had is missing, with why."""
    kind = kind_of(of_systems(ratings, _WITH_CALIBRATION)["score"])
    for types in (_RANKED, _WITH_CALIBRATION):
        several = of_systems(ratings, types)
        several = several[several.groupby(ITEM)["annotator"].transform("nunique") > 1]
        items = len(several.drop_duplicates(ITEM))
        if items >= FEWEST:
            break
    note = "with calibration items" if several["item_type"].eq("calibration").any() else ""
    enough = items >= FEWEST and several["score"].nunique() > 1
    if not enough:
        note = words("agreeing.alike" if items >= FEWEST else "agreeing.few", items=items)
    scores = agreement.score_matrix(several) if enough else pd.DataFrame()
    blank: dict[str, object] = dict.fromkeys(("estimate", "low", "high"), np.nan)
    blank |= {"items": items, "annotators": several["annotator"].nunique(), "note": note}
    complete = scores.dropna() if kind == "continuous" else pd.DataFrame()
    more = detail and len(complete) >= FEWEST and complete.shape[1] <= 50
    asked = [(scores, *one) for one in MEASURES[kind]] + [(complete, *one) for one in MEASURES["complete"]] * more
    rows = []
    for cells, name, level, why in asked if detail else asked[:1]:
        found = _estimate(cells, name, level, resamples, seed) if enough else {}
        if cells is scores or "note" not in found:  # else alpha above says what there is to say
            rows.append({"coefficient": name, "level": level, "why": why, **blank, **found})
    return pd.DataFrame(rows)


def _estimate(scores: pd.DataFrame, name: str, level: str, resamples: int, seed: int) -> dict[str, object]:
    """Return a coefficient with its interval, or a note why there is none."""
    try:
        found = agreement.coefficients(scores, measures=[(name, level)], resamples=resamples, seed=seed).iloc[0]
    except DataError as refused:
        return {"note": str(refused)}
    return found[["estimate", "low", "high", "items", "annotators"]].to_dict()
