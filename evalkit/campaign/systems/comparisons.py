"""What comparisons say beyond a ranking: ties, places on the screen, circles, and whether one scale fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from evalkit.campaign.method import choose_method
from evalkit.campaign.missing import Missing
from evalkit.campaign.opening import Campaign
from evalkit.campaign.systems.ranking import Ranking
from evalkit.campaign.systems.strengths import KINDS
from evalkit.human import preferences


@dataclass(frozen=True, eq=False)
class Comparisons:
    """A pair's comparisons under one scale of strengths, or several where systems were never compared.

    answers: the comparisons. table: group (where there are several), system, strength, low, high (95 %), won (share of
    comparisons won, ties half), average (the same, averaged over opponents) and n. groups: systems that were compared,
    perhaps through others. fit, circles, residuals: of the largest group. apart: systems of it that others never beat
    or tied with, and these others; empty where strengths are finite. place: what standing first adds to the log odds,
    with its interval, or None; placed: whether the file tells places at all. first: share of comparisons, ties half,
    that the one that stood first won.
    """

    pair: str
    answers: pd.DataFrame
    table: pd.DataFrame
    groups: list[list[str]]
    fit: preferences.Fit
    circles: preferences.Circles
    residuals: pd.DataFrame
    apart: list[list[str]]
    place: tuple[float, float, float] | None
    placed: bool
    first: float

    @property
    def met(self) -> set[frozenset[str]]:
        """The pairs of systems that were compared with each other."""
        return {*self.answers[["system_a", "system_b"]].drop_duplicates().apply(frozenset, axis=1)}

    @property
    def ties(self) -> float:
        """The share of ties."""
        return float(self.answers["preference"].eq("tie").mean())


def find_comparisons(
    campaign: Campaign, ranking: Ranking | Missing, *, resamples: int = 500, seed: int = 7
) -> Comparisons | Missing:
    """Look at the pair's comparisons; Missing where scores, not comparisons, were collected."""
    if not campaign.compares:
        return Missing("", "")
    whole = ranking.standing if ranking else None
    units = [KINDS[name] for name in (ranking.method if ranking else choose_method(campaign)).redrawn]
    return _look(campaign.pair, campaign.comparisons, whole, units=units, resamples=resamples, seed=seed)


def _look(
    pair: str,
    answers: pd.DataFrame,
    whole: preferences.Standing | None,
    *,
    units: Sequence[str],
    resamples: int,
    seed: int,
) -> Comparisons:
    """Fit a scale of strengths to each group of systems that were compared. whole: the fit of all, where there is."""
    groups = sorted(preferences.groups(preferences.count(answers)), key=len, reverse=True)
    parts = [answers[answers["system_a"].isin(group)] for group in groups]
    fits = (
        [whole]
        if whole
        else [preferences.standing(part, place=None, units=units, resamples=resamples, seed=seed) for part in parts]
    )
    table = pd.concat([_rows(*one, number) for number, one in enumerate(zip(fits, parts), 1)], ignore_index=True)
    fitted = fits[0].fitted
    placed = answers["first"].isin(["a", "b"]).any()
    worth = answers["preference"].map({"a": 1.0, "b": 0.0, "tie": 0.5})
    by_place = worth.where(answers["first"].eq("a"), 1 - worth)[answers["first"].ne("unknown")]
    apart = preferences.separated(fitted.cells)
    return Comparisons(
        pair,
        answers,
        table if len(groups) > 1 else table.drop(columns="group"),
        groups,
        preferences.goodness(fitted, units=preferences.labels(answers if whole else parts[0], units)),
        preferences.circles(fitted, draws=resamples, seed=seed),
        preferences.residuals(fitted),
        apart if len(apart) > 1 else [],
        fits[0].place,
        bool(placed),
        float(by_place.mean()),
    )


def _rows(standing: preferences.Standing, answers: pd.DataFrame, number: int) -> pd.DataFrame:
    """Return a row per system of a group, best first."""
    strengths = standing.table()[["system", "strength", "low", "high"]]
    table = strengths.merge(preferences.win_rates(answers), on="system", validate="one_to_one")
    return table.assign(group=number)[["group", *table.columns]]
