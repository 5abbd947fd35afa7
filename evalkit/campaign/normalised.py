"""What normalising scores changes: the same judgements, ranked in several ways."""

from __future__ import annotations

import pandas as pd

from evalkit import DataError
from evalkit.campaign.opened import Campaign
from evalkit.campaign.ranked import fitting
from evalkit.campaign.sections import Section, Table, section
from evalkit.human import normalization, ranking
from evalkit.stats.terms import join_names, pluralize

#: Ways to treat scores: name for people -> options of ``normalization.normalize``. The first is the yardstick.
WAYS = {
    "raw scores": {"method": "none"},
    "z per annotator": {"method": "z", "no_spread": "zero"},
    "median and IQR": {"method": "robust", "no_spread": "zero"},
    "ranks": {"method": "rank", "no_spread": "zero"},
}  # fmt: skip
_COLLECT = "To see what normalising does, judge two systems or more by two annotators or more."


@section("normalisation", collect=_COLLECT)
def normalised(campaign: Campaign, *, resamples: int = 200, seed: int = 7) -> Section:
    """Rank the systems by raw scores and after each normalisation, and say which moves are more than chance."""
    part, people = campaign.part, campaign.judged["annotator"].nunique()
    if len(campaign.systems) < 2 or people < 2:
        have = f"{pluralize(len(campaign.systems), 'system')} judged by {pluralize(people, 'annotator')}"
        verb = "is" if len(campaign.systems) == 1 else "are"
        return Section("normalisation", (), (), f"there {verb} {have}. {_COLLECT}", {"tops": {}})
    ways = dict(WAYS)
    calibrated = part[part["item_type"].eq("calibration")]
    counts = calibrated.groupby("annotator")["score"].nunique()
    if len(counts) == part["annotator"].nunique() and (counts > 1).all():
        ways["z from calibration items"] = {"method": "z_calibration", "no_spread": "zero"}
    names = campaign.judged["system"].unique()
    moved = {name: _kept(table, names) for name, table in normalization.variants(part, ways).items()}
    options = {"score": "normalized", "item_types": campaign.counted, "segment": campaign.segment}
    scores = [ranking.system_scores(table, **options).assign(way=name) for name, table in moved.items()]
    scores = pd.concat(scores, ignore_index=True)[["way", "system", "score", "rank"]]
    wide = scores.pivot(index="system", columns="way", values="rank")[list(ways)]
    wide = wide.sort_values("z per annotator", kind="stable").reset_index()
    tops = {name: scores[(scores["way"] == name) & (scores["rank"] == 1)]["system"].tolist() for name in ways}
    first = tops["raw scores"]
    same = all(set(top) == set(tops["raw scores"]) for top in tops.values())
    told = [
        f"The same judgements, treated in {len(ways)} ways: "
        + (f"{join_names(first)} {'comes' if len(first) == 1 else 'come'} first in all of them."
           if same else "; ".join(f"{join_names(top)} first by {name}" for name, top in tops.items()) + ".")
    ]  # fmt: skip
    tables = [Table("variants", wide, f"{campaign.pair}: rank of each system by each way of treating scores")]
    picture, alt, facts = None, "", {"tops": tops, "same_top": same}
    try:
        drawn = {"resamples": resamples, "seed": seed, "test": fitting(campaign), "correction": "holm"}
        found = ranking.resampled(moved, **options, **drawn)
        moves, rankings = ranking.rank_shifts(found), ranking.rankings(found)
    except DataError as problem:  # too few segments to resample: the ranks above stand
        told.append(f"How much of it is chance cannot be told: {problem}")
    else:
        columns = ["variant", "systems", "tau_b", "tau_b_low", "tau_b_high", "moved", "beyond_noise", "clusters"]
        title = f"{campaign.pair}: how far each ranking is from that by raw scores"
        tables.append(Table("moves", moves[[*columns, "noise_share"]], title))
        beyond = int(moves["beyond_noise"].sum())
        places = int(moves["moved"].sum())
        told.append(
            f"{pluralize(places, 'place')} in {pluralize(len(moves), 'ranking')} "
            f"{'differs' if places == 1 else 'differ'} from the ranking by raw scores, {beyond} of them by more than "
            "drawing other segments would bring."
            if places
            else "In no ranking has a system another place than by raw scores."
        )
        picture = (rankings, campaign.pair)
        alt = f"{campaign.pair}: lines that follow {len(wide)} systems through {len(ways)} rankings; "
        alt += f"moves beyond the noise of resampling: {beyond}."
    caption = f"{campaign.pair}: the same judgements, ranked in {len(ways)} ways"
    return Section("normalisation", tuple(told), tuple(tables), "", facts, picture, alt, caption)


def _kept(table: pd.DataFrame, names) -> pd.DataFrame:
    """Keep the systems that are ranked."""
    return table[table["system"].isin(names)]
