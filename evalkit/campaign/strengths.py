"""Rank systems that were compared with each other: by strengths, so that it does not matter whom a system met."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit.campaign.method import Method
from evalkit.campaign.opening import Campaign
from evalkit.human import preferences
from evalkit.human.ranking.lines import rank_interval, ranks_of
from evalkit.human.ranking.rules import clusters
from evalkit.stats import inference
from evalkit.stats.correlation import ratio

#: Fewest units that a system needs of each kind for draws of these units.
FEWEST = 5
#: Columns that are drawn -> kinds of ``preferences.UNITS``.
KINDS = {"annotator": "annotators", "doc": "documents", "segment": "segments"}


def enough(campaign: Campaign, method: Method) -> bool:
    """Tell whether every system has enough units of each kind to be drawn."""
    return bool(_units(campaign, method).min() >= FEWEST)


def rank(campaign: Campaign, method: Method, *, resamples: int, seed: int) -> dict[str, Any]:
    """Rank systems by the share of comparisons that each would win against all others.

    Returns what a ``Ranking`` holds: table, pairwise, humans, duels and standing, the fit with its draws.

    The place on the screen is fitted, too, where its effect can be found. Differences of two are tested by Student's t,
    their error that of draws, with the fewer units of the two less one degrees of freedom.
    Source: Davidson 1970 (ties); Efron & Tibshirani 1993 for errors by draws.
    """
    units = [KINDS[name] for name in method.unit]
    standing = preferences.standing(campaign.comparisons, place=None, units=units, resamples=resamples, seed=seed)
    won = dict(zip(standing.fitted.cells.systems, standing.won))
    order = sorted(won, key=lambda name: (-won[name], name))
    systems, people = ([name for name in order if (name in campaign.humans) is human] for human in (False, True))
    pairwise = _tests(campaign, method, standing, list(itertools.combinations(systems, 2)))
    beats = np.zeros((len(systems),) * 2, bool)
    beats[np.triu_indices(len(systems), 1)] = pairwise["significant"]
    wins, losses = beats.sum(axis=1), beats.sum(axis=0)
    table = _rows(campaign, standing, systems).assign(cluster=clusters(beats), wins=wins, losses=losses)
    table = table.assign(rank_top=1 + losses, rank_bottom=len(systems) - wins)
    humans = _rows(campaign, standing, people).drop(columns=["rank", "rank_low", "rank_high", "best"])
    mixed = [tuple(sorted(pair, key=order.index)) for pair in itertools.product(people, systems)]
    duels = _tests(campaign, method, standing, mixed)
    return {"table": table, "pairwise": pairwise, "humans": humans, "duels": duels, "standing": standing}


def finite(standing: preferences.Standing) -> np.ndarray:
    """Return the draws in which every system has a share; none where there were too few units to be drawn."""
    draws = standing.spread
    return draws[np.isfinite(draws).all(axis=1)]


def _rows(campaign: Campaign, standing: preferences.Standing, names: list[str]) -> pd.DataFrame:
    """Return a row per system: its share, its place among these, intervals of both, and what it rests on."""
    own = pd.Index(standing.fitted.cells.systems).get_indexer(names)
    bounds = standing.table.set_index("system").loc[names]
    draws = standing.drawn[:, own]
    ranks = ranks_of(draws[np.isfinite(draws).all(axis=1)])
    judged = campaign.compared.groupby("system")
    segments = campaign.compared.drop_duplicates(["system", *campaign.segment]).groupby("system").size()
    low, high = rank_interval(ranks) if len(ranks) and names else (np.zeros(len(names)), np.zeros(len(names)))
    best = (ranks == 1).mean(axis=0) if len(ranks) else np.nan
    counts = {"mean": judged["score"].mean(), "segments": segments, "judgements": judged.size()}
    table = pd.DataFrame({"pair": campaign.pair, "system": pd.Series(names, dtype="str"), "score": standing.won[own]})
    table = table.assign(**{name: count.reindex(names).to_numpy() for name, count in counts.items()})
    table["rank"] = ranks_of(standing.won[own]) if names else np.zeros(0, int)
    table["low"], table["high"] = bounds["won_low"].to_numpy(), bounds["won_high"].to_numpy()
    return table.assign(rank_low=low, rank_high=high, best=best)


def _tests(
    campaign: Campaign, method: Method, standing: preferences.Standing, pairs: Sequence[tuple[str, ...]]
) -> pd.DataFrame:
    """Test pairs, the better first; p-values are adjusted among them (Holm)."""
    better, worse = (pd.Series([names[k] for names in pairs], dtype="str") for k in (0, 1))
    one, other = (pd.Index(standing.fitted.cells.systems).get_indexer(names) for names in (better, worse))
    draws = finite(standing)
    gap, spread = standing.won[one] - standing.won[other], draws[:, one] - draws[:, other]
    behind = _units(campaign, method)
    units = np.minimum(behind[better].to_numpy(), behind[worse].to_numpy())
    error = spread.std(axis=0) * np.sqrt(units / np.maximum(units - 1, 1)) if len(spread) else np.zeros(len(gap))
    p = inference.higher_by_t(gap, error, np.maximum(units, 2), even=np.abs(gap) <= 1e-9)
    adjusted = inference.adjust(p, method="holm")
    met = campaign.comparisons
    turned = met.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    both = pd.concat([met, turned.assign(preference=met["preference"].map({"a": "b", "b": "a", "tie": "tie"}))])
    counts = both.groupby(["system_a", "system_b", "preference"]).size().unstack(fill_value=0)
    counts = counts.reindex(pd.MultiIndex.from_arrays([better, worse]), columns=["a", "tie", "b"], fill_value=0)
    wins, ties, losses = counts.to_numpy().T
    table = pd.DataFrame({"better": better, "worse": worse, "difference": gap})
    table = table.assign(wins=wins, ties=ties, losses=losses, superiority=ratio(wins + ties / 2, wins + ties + losses))
    return table.assign(p=p, adjusted_p=adjusted, significant=(adjusted < method.alpha) & (gap > 0))


def _units(campaign: Campaign, method: Method) -> pd.Series:
    """Count the units that are drawn behind each system, of the rarer kind."""
    rows, names = campaign.compared, {"segment": list(campaign.segment)}
    kinds = [rows.drop_duplicates(["system", *names.get(one, [one])]).groupby("system").size() for one in method.unit]
    return pd.concat(kinds, axis=1).min(axis=1).clip(lower=2)
