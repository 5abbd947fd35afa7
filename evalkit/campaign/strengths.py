"""Rank systems that were compared with each other: by strengths, so that it does not matter whom a system met."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit.campaign.method import Method
from evalkit.campaign.opening import Campaign
from evalkit.human import preferences
from evalkit.human.ranking.movement import rank_interval, ranks_of
from evalkit.human.ranking.rules import clusters
from evalkit.stats import inference

#: Fewest units that a system needs of each kind for draws of these units.
FEWEST = 5
#: Columns that are drawn -> kinds of ``preferences.UNITS``.
KINDS = {"annotator": "annotators", "doc": "documents", "segment": "segments"}


class Ranked(NamedTuple):
    """What a ranking holds: a row per system, tests of every two, people's translations, and tests with them.

    ``table`` and ``humans`` have the columns of ``Ranking.table``. standing: the fit and its draws. drawn: whether
    there were enough units to be drawn.
    """

    table: pd.DataFrame
    pairwise: pd.DataFrame
    humans: pd.DataFrame
    duels: pd.DataFrame
    standing: preferences.Standing
    drawn: bool


def fit_standing(campaign: Campaign, method: Method, *, resamples: int, seed: int) -> preferences.Standing:
    """Fit strengths to the pair's comparisons, with the place on the screen where its effect can be found."""
    units = [KINDS[name] for name in method.unit]
    return preferences.standing(campaign.comparisons, place=None, units=units, resamples=resamples, seed=seed)


def enough(campaign: Campaign, method: Method) -> bool:
    """Tell whether every system has enough units of each kind to be drawn."""
    return bool(_units(campaign, method).min() >= FEWEST)


def rank(campaign: Campaign, method: Method, standing: preferences.Standing) -> Ranked:
    """Rank systems by the share of comparisons that each would win against all others.

    Differences of two are tested by Student's t, their error that of draws, with the fewer units of the two less one
    degrees of freedom. Source: Davidson 1970 (ties); Efron & Tibshirani 1993 for errors by draws.
    """
    names = standing.fitted.cells.systems
    draws = standing.draws_of_won(wide=False)
    sound = np.isfinite(draws).all(axis=1)
    place = {name: number for number, name in enumerate(names)}
    order = sorted(names, key=lambda name: (-standing.won[place[name]], name))
    systems, people = ([name for name in order if (name in campaign.humans) is human] for human in (False, True))
    units = _units(campaign, method)
    tests = _Tests(campaign, standing.won, draws[sound], place, units, method.alpha)
    pairwise = tests.table([(a, b) for k, a in enumerate(systems) for b in systems[k + 1 :]])
    beats = np.zeros((len(systems),) * 2, bool)
    beats[np.triu_indices(len(systems), 1)] = pairwise["significant"]
    cluster = clusters(beats)
    table = _rows(campaign, standing, systems, place)
    won, lost = beats.sum(axis=1), beats.sum(axis=0)
    ranges = {"rank_top": 1 + lost, "rank_bottom": len(systems) - won}
    table = table.assign(cluster=cluster, wins=won, losses=lost, **ranges)
    mixed = [(a, b) if order.index(a) < order.index(b) else (b, a) for a in people for b in systems]
    drawn = standing.fewest > 1 and bool(sound.any())
    humans = _rows(campaign, standing, people, place)
    humans = humans.drop(columns=["rank", "rank_low", "rank_high", "best"])
    return Ranked(table, pairwise, humans, tests.table(mixed), standing, drawn)


def _rows(campaign: Campaign, standing: preferences.Standing, names: list[str], place: dict[str, int]) -> pd.DataFrame:
    """Return a row per system: its share, its place among these, intervals of both, and what it rests on."""
    own = [place[name] for name in names]
    bounds = standing.table().set_index("system").loc[names]
    draws = standing.draws_of_won()[:, own]
    ranks = ranks_of(draws[np.isfinite(draws).all(axis=1)])
    judged = campaign.compared.groupby("system")
    segments = campaign.compared.drop_duplicates(["system", *campaign.segment]).groupby("system").size()
    low, high = rank_interval(ranks) if len(ranks) and names else (np.zeros(len(names)), np.zeros(len(names)))
    return pd.DataFrame(
        {
            "pair": campaign.pair,
            "system": pd.Series(names, dtype="str"),
            "score": standing.won[own],
            "mean": judged["score"].mean().reindex(names).to_numpy(),
            "segments": segments.reindex(names).to_numpy(),
            "judgements": judged.size().reindex(names).to_numpy(),
            "rank": ranks_of(standing.won[own]) if names else np.zeros(0, int),
            "low": bounds["won_low"].to_numpy(),
            "high": bounds["won_high"].to_numpy(),
            "rank_low": low,
            "rank_high": high,
            "best": (ranks == 1).mean(axis=0) if len(ranks) else np.nan,
        }
    )


#: What a test of two systems says, and the types of the columns.
_TESTED = {
    **dict.fromkeys(("better", "worse"), "str"),
    **dict.fromkeys(("difference", "wins", "ties", "losses", "superiority", "p", "adjusted_p"), "float64"),
    "significant": "bool",
}


class _Tests:
    """Tests of two systems."""

    def __init__(
        self,
        campaign: Campaign,
        won: np.ndarray,
        draws: np.ndarray,
        place: dict[str, int],
        units: pd.Series,
        alpha: float,
    ) -> None:
        self.won, self.draws, self.place, self.units, self.alpha = won, draws, place, units, alpha
        self.met = campaign.comparisons

    def table(self, pairs: list[tuple[str, str]]) -> pd.DataFrame:
        """Test pairs, the better first; p-values are adjusted among them (Holm)."""
        if not pairs:  # one system against a person's translations, say
            return pd.DataFrame(columns=[*_TESTED]).astype(_TESTED)
        one, other = (np.array([self.place[names[k]] for names in pairs]) for k in (0, 1))
        gap, spread = self.won[one] - self.won[other], self.draws[:, one] - self.draws[:, other]
        units = np.array([min(self.units[a], self.units[b]) for a, b in pairs])
        error = spread.std(axis=0) * np.sqrt(units / np.maximum(units - 1, 1)) if len(spread) else np.zeros(len(gap))
        p = inference.higher_by_t(gap, error, np.maximum(units, 2), even=np.abs(gap) <= 1e-9)
        adjusted = inference.adjust(p, method="holm")
        counts = pd.DataFrame([self._answers(a, b) for a, b in pairs], columns=["wins", "ties", "losses"])
        n = counts.sum(axis=1)
        return pd.DataFrame(
            {
                "better": [a for a, _ in pairs],
                "worse": [b for _, b in pairs],
                "difference": gap,
                **counts,
                "superiority": ((counts["wins"] + counts["ties"] / 2) / n.where(n > 0)),
                "p": p,
                "adjusted_p": adjusted,
                "significant": (adjusted < self.alpha) & (gap > 0),
            }
        ).astype({"better": "str", "worse": "str"})

    def _answers(self, a: str, b: str) -> list[int]:
        """Count how often the first won, tied and lost where the two were compared with each other."""
        straight = self.met["system_a"].eq(a) & self.met["system_b"].eq(b)
        turned = self.met["system_a"].eq(b) & self.met["system_b"].eq(a)
        answer = self.met["preference"]
        return [
            int((straight & answer.eq(x)).sum() + (turned & answer.eq(y)).sum())
            for x, y in (("a", "b"), ("tie", "tie"), ("b", "a"))
        ]


def _units(campaign: Campaign, method: Method) -> pd.Series:
    """Count the units that are drawn behind each system, of the rarer kind."""
    rows, names = campaign.compared, {"segment": list(campaign.segment)}
    kinds = [rows.drop_duplicates(["system", *names.get(one, [one])]).groupby("system").size() for one in method.unit]
    return pd.concat(kinds, axis=1).min(axis=1).clip(lower=2)
