"""What normalising scores changes: the same judgements, ranked in several ways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

import pandas as pd

from evalkit import DataError
from evalkit.campaign.method import choose_method
from evalkit.campaign.missing import Missing, or_missing
from evalkit.campaign.opening import Campaign
from evalkit.human import normalization
from evalkit.stats.terms import pluralize

#: Ways to treat scores: name for people -> options of ``normalization.normalize``. The first is the yardstick.
WAYS = {
    "raw scores": {"method": "none"},
    "z per annotator": {"method": "z", "no_spread": "zero"},
    "median and IQR": {"method": "robust", "no_spread": "zero"},
    "ranks": {"method": "rank", "no_spread": "zero"},
}
ADJUSTED = "strictness taken out"
#: What is told of each ranking beside the first.
_SHIFTS = ["variant", "systems", "tau_b", "tau_b_low", "tau_b_high", "moved", "beyond_noise", "clusters", "noise_share"]
_BY_CALIBRATION = {"z from calibration items": {"method": "z_calibration", "no_spread": "zero"}}


@dataclass(frozen=True, eq=False)
class Normalization:
    """Rankings of the same judgements, treated in several ways.

    ranks: systems × ways. tops: way -> the systems that come first. shifts: how far each ranking is from that by raw
    scores (see ``ranking.rank_shifts``); rankings: all places with intervals (see ``ranking.rankings``); both without
    rows where too few segments can be drawn, and ``problem`` says so.
    """

    pair: str
    ranks: pd.DataFrame
    tops: dict[str, list[str]]
    shifts: pd.DataFrame
    rankings: pd.DataFrame
    problem: str = ""


@or_missing("To see what normalising does, judge two systems or more by two annotators or more.", of_people=True)
def normalize_scores(
    campaign: Campaign, *, unit: str = "auto", resamples: int = 200, seed: int = 7
) -> Normalization | Missing:
    """Rank the systems by raw scores and after each normalisation, and say which moves are more than chance.

    unit: what is drawn anew (see ``choose_method``).
    """
    if campaign.compares:
        return Missing(
            "Comparisons have no level that differs between annotators, so there is nothing to normalise.", ""
        )
    part, people = campaign.part, campaign.judged["annotator"].nunique()
    if len(campaign.systems) < 2 or people < 2:
        have = f"{pluralize(len(campaign.systems), 'system')} judged by {pluralize(people, 'annotator')}"
        raise DataError(f"there {'is' if len(campaign.systems) == 1 else 'are'} {have}.")
    known = part[part["item_type"].eq("calibration")].groupby("annotator")["score"].nunique()
    calibrated = len(known) == part["annotator"].nunique() and (known > 1).all()
    ways = WAYS | (_BY_CALIBRATION if calibrated else {})
    own = part.index.isin(campaign.judged.index)
    made = {name: table[own] for name, table in normalization.variants(part, ways).items()}
    method = choose_method(campaign, unit=unit)
    if method.barred:
        raise DataError(method.barred)
    method = replace(method, column="normalized")
    if campaign.strict:
        adjusted = made["raw scores"].assign(normalized=lambda rows: rows["adjusted"])
        made = dict(islice(made.items(), 1)) | {ADJUSTED: adjusted} | dict(islice(made.items(), 1, None))
    ranks = {name: method.scores(table).set_index("system")["rank"] for name, table in made.items()}
    wide = pd.DataFrame(ranks).rename_axis("system").sort_index()
    tops = {name: sorted(rank.index[rank == 1]) for name, rank in ranks.items()}
    shifts = rankings = pd.DataFrame()
    problem = ""
    try:
        shifts, rankings = method.shifts(made, resamples=resamples, seed=seed)
    except DataError as refused:  # too few segments to resample: the ranks above stand
        problem = str(refused)
    ordered = wide.sort_values([ADJUSTED if ADJUSTED in wide else "raw scores"], kind="stable").reset_index()
    return Normalization(campaign.pair, ordered, tops, shifts.reindex(columns=_SHIFTS), rankings, problem)
