"""All analyses of one campaign, in the order in which they need each other."""

from collections.abc import Iterator, Sequence
from typing import Any

from evalkit import DataError
from evalkit.campaign.agreement import measure_agreement
from evalkit.campaign.annotators import RULES, profile_annotators, screen_annotators
from evalkit.campaign.collection import count_errors, count_judgements
from evalkit.campaign.findings import Finding, Missing, Result, finding
from evalkit.campaign.method import OWN_LINES, choose_method
from evalkit.campaign.opening import Campaign
from evalkit.campaign.plan import measure_cost, plan_more
from evalkit.campaign.quality import calibrate, control_quality
from evalkit.campaign.ranking import Ranking, normalize_scores, rank_pairs, rank_systems
from evalkit.campaign.steering import NOT_STEERED, weigh_steered
from evalkit.human.annotators import Rule


class Analysis(Result):
    """What all analyses found; those that the data do not allow are ``Missing``, which counts as false.

    campaign; collection, agreement, profiles, screening, quality, calibration, ranking, normalization, errors, cost,
    plan, steering: what the functions returned that ``analyse`` calls. pairs: the first system of every language pair
    (see ``rank_pairs``), where there are several.
    """

    steering = NOT_STEERED

    def tell(self) -> Iterator[Finding]:
        """Say in how many language pairs, if there are several, one system is better than all others."""
        table = self.pairs.reindex(columns=["first", "not_told_apart", "human"])
        judged, clear = table["human"].dropna().astype("str"), table["not_told_apart"].eq("none").sum()
        values = {"clear": clear, "pairs": table, "judged": judged, "ahead": judged.str.contains("better than").sum()}
        if len(table):
            key = "alone" if table["first"].isna().all() else "clear" if clear else "none"
            yield finding(f"pairs.{key}", **values)


def analyse(
    campaign: Campaign,
    ranking: Ranking | Missing | None = None,
    *,
    score: str = "auto",
    unit: str = "auto",
    lines: str = OWN_LINES,
    rules: Sequence[str] = RULES,
    hourly_pay: float = 0.0,
    currency: str = "",
    resamples: int = 500,
    seed: int = 7,
) -> Analysis:
    """Make all analyses of the report.

    ranking: what ``rank_systems`` found, where it has been asked already with the same options. It is what a reader
    waits for, and takes a fraction of the time of the rest.
    score: "raw", "z" or "auto"; unit: what is drawn anew, or "auto"; lines: the rule that draws lines between clusters
    (see ``choose_method``). rules: whom to look at
    (see ``screen_annotators``).
    hourly_pay, currency: see ``measure_cost``. resamples, seed: random draws behind intervals.
    Raises DataError for a wrong option.
    """
    choose_method(campaign, score=score, unit=unit, lines=lines)
    for rule in rules:
        Rule.parse(rule)
    if resamples < 20:
        raise DataError(f"resamples={resamples}: an interval needs 20 resamples or more.")
    compared: dict[str, Any] = {"score": score, "unit": unit, "lines": lines}
    if ranking is None:
        ranking = rank_systems(campaign, **compared, resamples=resamples, seed=seed)
    pairs = rank_pairs(campaign, **compared)
    return Analysis(
        campaign=campaign,
        collection=count_judgements(campaign),
        agreement=measure_agreement(campaign, resamples=resamples, seed=seed),
        profiles=profile_annotators(campaign),
        screening=screen_annotators(campaign, rules=rules, score=score),
        quality=control_quality(campaign),
        calibration=calibrate(campaign, resamples=resamples, seed=seed),
        normalization=normalize_scores(campaign, unit=unit, resamples=resamples, seed=seed),
        ranking=ranking,
        pairs=pairs if len(pairs) > 1 else pairs.head(0),
        errors=count_errors(campaign),
        cost=measure_cost(campaign, hourly_pay=hourly_pay, currency=currency),
        plan=plan_more(campaign, ranking, hourly_pay=hourly_pay, currency=currency),
        steering=weigh_steered(campaign),
    )
