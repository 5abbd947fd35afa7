"""Human scores to hold metrics against: direct assessment, relative ranking, and rankings made of assessments (DARR).

A relative ranking is a set of pairs: two systems' translations of one segment, and by how much the first is better.
From direct assessments the difference is one of scores; from rankings that annotators gave, one of ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM
from evalkit.metrics.metaeval.scores import Scores

#: Which pairs count as ordered, given a threshold: differences of at least that much, or only larger ones.
BOUNDARIES = ("at least", "more than")


@dataclass(frozen=True)
class Pairs:
    """Keep pairs of translations of one segment, each pair once.

    first, second: positions in ``systems``; segment: position in ``segments`` (or of the ranking that a pair comes
    from); difference: how much better the first one is; same: both are the same text, character by character.
    """

    systems: tuple[str, ...]
    segments: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    segment: np.ndarray
    difference: np.ndarray
    same: np.ndarray

    def __len__(self) -> int:
        return len(self.first)


def direct_assessment(ratings: pd.DataFrame, *, least: int = 1) -> pd.DataFrame:
    """Average standardised ratings of each translation (DA): one row per item with ``z``, ``score`` and ``judgements``.

    ratings: schemas.RATINGS, whose scores are standardised within annotator and language pair over all their items
    (ddof=1). least: judgements that an item needs; 15 and more make DA reliable for a single segment (Graham et al.
    2017). Annotators without spread have no z-scores and do not count. Raises DataError where no item has so many.
    """
    pair = ["src_lang", "tgt_lang"]
    groups = ratings.groupby([*pair, "annotator"])["score"]
    spread = groups.transform("std").replace(0.0, np.nan)
    z = (ratings["score"] - groups.transform("mean")) / spread
    judged = ratings.assign(z=z)[ratings["item_type"].eq("system") & z.notna()]
    items = judged.groupby([*pair, *ITEM])
    table = items.agg(z=("z", "mean"), score=("score", "mean"), judgements=("z", "size")).reset_index()
    if not len(table := table[table["judgements"] >= least].reset_index(drop=True)):
        raise DataError(f"No translation has {least} judgements. Choose a smaller least=, or collect more.")
    return table


def from_scores(scores: Scores, *, outputs: pd.DataFrame | None = None) -> Pairs:
    """Pair all systems' translations of each segment that have a human score.

    outputs: system, doc, segment, hypothesis, from which identical translations are detected; without it, no pair is
    known to be identical.
    """
    first, second = np.triu_indices(len(scores.systems), 1)
    both = scores.judged[first] & scores.judged[second]
    pair, segment = np.nonzero(both)
    first, second = first[pair], second[pair]
    texts = np.full(scores.human.shape, -1) if outputs is None else _texts(outputs, scores)
    return Pairs(
        systems=scores.systems,
        segments=scores.segments,
        first=first,
        second=second,
        segment=segment,
        difference=scores.human[first, segment] - scores.human[second, segment],
        same=(texts[first, segment] == texts[second, segment]) & (texts[first, segment] >= 0),
    )


def from_ranks(rankings: pd.DataFrame) -> Pairs:
    """Pair the translations that an annotator ranked together: relative ranking (RR).

    rankings: annotator, doc, segment, system, rank (1 the best, equal ranks are ties). Two annotators' rankings of one
    segment are two rankings. Order the pairs with threshold 1.

    >>> ranked = pd.DataFrame({"annotator": "a", "doc": "d", "segment": "1", "system": list("ABC"), "rank": [1, 1, 2]})
    >>> order(from_ranks(ranked), threshold=1).tolist()
    [0, 1, 1]
    """
    names, system = np.unique(rankings["system"].astype("str"), return_inverse=True)
    keys = pd.MultiIndex.from_frame(rankings[["annotator", "doc", "segment"]].astype("str"))
    codes, unique = keys.factorize()
    ranks = np.full((len(names), len(unique)), np.nan)
    if pd.Series(codes * len(names) + system).duplicated().any():
        raise DataError("An annotator ranked a system twice in one segment. Keep one of the ranks.")
    ranks[system, codes] = rankings["rank"]
    labels = tuple(f"{doc}:{segment}" for _, doc, segment in unique)
    scores = Scores((), tuple(map(str, names)), labels, np.empty((0, *ranks.shape)), -ranks)
    return from_scores(scores)


def order(pairs: Pairs, *, threshold: float = 25.0, boundary: str = "at least") -> np.ndarray:
    """Say for each pair whether the first translation is worse (-1), better (1), or neither (0): DARR's order.

    boundary: "at least" orders differences from the threshold on, as Stanchev et al. 2020 describe ("less than 25" are
    removed) and WMT20's official counts confirm; "more than" leaves out those equal to it. Source: Bojar et al. 2017.
    """
    return np.where(ordered_up_to(pairs, [threshold], boundary=boundary) > 0, np.sign(pairs.difference), 0).astype(int)


def ordered_up_to(
    pairs: Pairs, thresholds: list[float], *, boundary: str = "at least", tie_identical: bool = False
) -> np.ndarray:
    """Count, for each pair, the thresholds at which it is ordered.

    thresholds: ascending. tie_identical: identical translations are equal, whatever their scores; WMT leaves them as
    scored.
    """
    if boundary not in BOUNDARIES:
        raise DataError(f"boundary is {boundary!r}. Choose {' or '.join(BOUNDARIES)}.")
    if list(thresholds) != sorted(thresholds) or thresholds[0] < 0:
        raise DataError("Thresholds must ascend from 0 or more. Sort them.")
    side: Literal["left", "right"] = "right" if boundary == "at least" else "left"
    reached = np.searchsorted(thresholds, np.abs(pairs.difference), side=side)
    tied = (pairs.difference == 0) | (pairs.same if tie_identical else False)
    return np.where(tied, 0, reached)


def pairwise_wins(pairs: Pairs, better: np.ndarray) -> np.ndarray:
    """Count how often each system (row) beats each other one (column). better: the order of each pair."""
    size = len(pairs.systems)
    winner, loser = np.where(better > 0, (pairs.first, pairs.second), (pairs.second, pairs.first))[:, better != 0]
    return np.bincount(winner * size + loser, minlength=size * size).reshape(size, size)


def expected_wins(pairs: Pairs, better: np.ndarray) -> pd.DataFrame:
    """Rank systems by the mean probability to beat another system: Expected Wins, columns system, expected_wins, rank.

    The probability is wins over wins and losses, ties left out; opponents never met do not count. Source: Koehn 2012.
    """
    won = pairwise_wins(pairs, better).astype(float)
    met = won + won.T
    share = np.divide(won, met, out=np.full_like(won, np.nan), where=met > 0)
    against = (met > 0).sum(axis=1)
    value = np.divide(np.nansum(share, axis=1), against, out=np.full(len(won), np.nan), where=against > 0)
    return _ranked(pairs.systems, expected_wins=value)


def rank_systems(assessed: pd.DataFrame, pairs: Pairs, better: np.ndarray, *, matches: int, seed: int) -> pd.DataFrame:
    """Rank systems in three ways: mean assessments, Expected Wins and TrueSkill, by Expected Wins.

    assessed: assessments of one language pair, with score and z. Other arguments: see ``trueskill``. Returns system,
    score, z, expected_wins, rank_wins, mu, sigma, rank_skill.
    """
    won = expected_wins(pairs, better).rename(columns={"rank": "rank_wins"})
    skill = trueskill(pairs, better, matches=matches, seed=seed).rename(columns={"rank": "rank_skill"})
    mean = assessed.groupby(assessed["system"].astype("str"))[["score", "z"]].mean().reset_index()
    return mean.merge(won).merge(skill).sort_values("expected_wins", ascending=False)


def trueskill(pairs: Pairs, better: np.ndarray, *, matches: int = 5000, seed: int = 7) -> pd.DataFrame:
    """Rank systems by TrueSkill: columns system, mu (estimated skill), sigma (its uncertainty), rank.

    matches: pairs that are played, drawn without replacement in random order (all, where there are fewer). Ties are
    draws, as probable as they are among the pairs. A system's skill does not drift, so the dynamics factor is 0.
    Source: Herbrich et al. 2006; Sakaguchi et al. 2014. Caveat: the result depends somewhat on the order of play.
    """
    from trueskill import TrueSkill, rate_1vs1

    played = np.random.default_rng(seed).permutation(len(pairs))[:matches]
    draws = float(np.mean(better == 0)) if len(better) else 0.0
    world = TrueSkill(draw_probability=min(draws, 0.99), tau=0)
    skill = [world.create_rating() for _ in pairs.systems]
    for pair in played:
        one, other = pairs.first[pair], pairs.second[pair]
        if better[pair] < 0:
            one, other = other, one
        skill[one], skill[other] = rate_1vs1(skill[one], skill[other], drawn=bool(better[pair] == 0), env=world)
    return _ranked(pairs.systems, mu=[s.mu for s in skill], sigma=[s.sigma for s in skill])


def _texts(outputs: pd.DataFrame, scores: Scores) -> np.ndarray:
    """Number the texts, systems × segments, so that equal numbers are equal texts; -1 where there is none."""
    index = pd.MultiIndex.from_arrays(
        [outputs["system"].astype("str"), outputs["doc"].astype("str") + ":" + outputs["segment"].astype("str")]
    )
    codes = pd.Series(pd.factorize(outputs["hypothesis"])[0], index=index)
    wanted = pd.MultiIndex.from_product([scores.systems, scores.segments])
    return codes.reindex(wanted, fill_value=-1).to_numpy().reshape(scores.human.shape)


def _ranked(systems: tuple[str, ...], **values: np.ndarray | list[float]) -> pd.DataFrame:
    """Sort systems by the first of the values, the highest first, with ranks."""
    first = next(iter(values))
    table = pd.DataFrame({"system": systems} | values).sort_values(first, ascending=False, ignore_index=True)
    return table.assign(rank=table[first].rank(ascending=False, method="min").astype("Int64"))
