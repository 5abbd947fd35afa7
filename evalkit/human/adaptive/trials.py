"""Real judgements for replays, and every assignment, estimate and stopping rule tried on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.data.schemas import with_pair
from evalkit.human.adaptive import estimates, policies, replaying, stopping
from evalkit.human.adaptive.replaying import Log
from evalkit.human.ranking.scores import COUNTED

#: Systems on a screen, as at WMT26.
SHOWN = 3
#: Fewest systems, and fewest texts of each, of a language pair that is replayed.
LEAST_SYSTEMS, LEAST_TEXTS = 5, 10
#: Most screens of a replay; some campaigns were larger.
MOST_SCREENS = 600
#: What is asked of stopping rules, in words that fit a table's heading.
ALIKE, BETTER = "two alike", "better by {:g}"


@dataclass(frozen=True, eq=False)
class Material:
    """Scores of one language pair's documents, systems × documents, the best system first, NaN where there are fewer.

    shared: whether all systems translated the same documents.
    """

    data: str
    pair: str
    systems: tuple[str, ...]
    scores: np.ndarray
    shared: bool

    def screens(self, shown: int = SHOWN) -> int:
        """Return how many screens of so many systems the real campaign would have filled, up to ``MOST_SCREENS``."""
        return min(round(np.isfinite(self.scores).sum() / min(shown, len(self.systems))), MOST_SCREENS)

    @property
    def truth(self) -> np.ndarray:
        """The mean of each system, which a replay is to find."""
        return np.nanmean(self.scores, axis=1)


def materials(ratings: Mapping[str, pd.DataFrame]) -> list[Material]:
    """Lay out judgements as systems' scores of documents, one for each language pair that has enough of both.

    ratings: name -> judgements (system, doc, segment, annotator, score). A document's score is the mean over its
    segments, of all annotators where systems share documents; where they do not, of each annotator's.
    """
    found = [
        _material(name, str(pair), part)
        for name, table in ratings.items()
        for pair, part in with_pair(table[table["item_type"].isin(COUNTED)]).groupby("pair")
    ]
    enough = (np.isfinite(one.scores).sum(axis=1).min() >= LEAST_TEXTS for one in found)
    return [one for one, texts in zip(found, enough, strict=True) if texts and len(one.systems) >= LEAST_SYSTEMS]


def replay(
    used: Iterable[Material],
    *,
    assignments: Sequence[str] = tuple(policies.POLICIES),
    names: Sequence[str] = tuple(estimates.ESTIMATES),
    shown: int = SHOWN,
    campaigns: int = 200,
    seed: int = 7,
) -> pd.DataFrame:
    """Steer replayed campaigns by every assignment, and tell how far each estimate is off, system by system.

    shown: systems on a screen; all of them where there are fewer.
    Returns data, pair, assignment, estimate, system, bias, noise, rmse, coverage, width and judgements; see
    ``estimates.score``. Units are those of the scores.
    """
    parts = []
    for number, one in enumerate(used):
        for assignment in assignments:
            rng = np.random.default_rng([seed, number])
            drawn = replaying.draw(
                one.scores, campaigns=campaigns, screens=one.screens(shown), rng=rng, shared=one.shared
            )
            log = _steered(drawn, assignment, shown, rng)
            part = estimates.score(log, one.truth, names=names)
            part.insert(1, "system", np.array(one.systems)[part.pop("place")])
            part.insert(0, "assignment", assignment)
            parts.append(part.assign(data=one.data, pair=one.pair))
    table = pd.concat(parts, ignore_index=True)
    first = ["data", "pair", "assignment", "estimate", "system"]
    return table[[*first, *table.columns.drop(first)]]


def alarms(
    used: Iterable[Material],
    *,
    assignments: Sequence[str] = tuple(policies.POLICIES),
    points: float = 3.0,
    shown: int = SHOWN,
    campaigns: int = 200,
    seed: int = 7,
) -> pd.DataFrame:
    """Ask every stopping rule about the two best systems, made alike, or one made better by ``points``.

    used: of scores from 0 to 100; those whose systems share no documents are left out.
    Returns assignment, situation and the columns of ``stopping.rates``, over all campaigns of all language pairs.
    """
    shared, parts = [one for one in used if one.shared], []
    for assignment in assignments:
        for better in (0.0, points):
            found = pd.concat(
                [
                    _asked(one, assignment, better, shown, campaigns, [seed, number])
                    for number, one in enumerate(shared)
                ],
                ignore_index=True,
            )
            part = stopping.rates(found, better=int(better > 0))
            part.insert(0, "situation", BETTER.format(better) if better else ALIKE)
            part.insert(0, "assignment", assignment)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _material(name: str, pair: str, part: pd.DataFrame) -> Material:
    """Average each document's segments; keep what nearly all systems share, or all judgements if that is little."""
    wide = part.groupby(["system", "doc"])["score"].mean().unstack("system")
    full = wide.loc[:, wide.notna().mean() > 0.9].dropna()
    shared = full.shape[1] >= LEAST_SYSTEMS and len(full) > len(wide) / 2
    if not shared:
        hits = part.groupby(["system", "doc", "annotator"])["score"].mean().reset_index()
        full = hits.assign(number=hits.groupby("system").cumcount()).pivot(
            index="number", columns="system", values="score"
        )
    full = full[full.mean().sort_values(ascending=False, kind="stable").index]
    return Material(name, pair, tuple(map(str, full.columns)), full.to_numpy(float).T, shared)


def _steered(drawn: np.ndarray, assignment: str, shown: int, rng: np.random.Generator) -> Log:
    """Steer after an even start of a quarter of the campaign at most."""
    _, screens, systems = drawn.shape
    start = min(replaying.START, screens * min(shown, systems) // (4 * systems))
    return replaying.steer(drawn, policies.named(assignment), rng=rng, shown=min(shown, systems), start=start)


def _asked(one: Material, assignment: str, better: float, shown: int, campaigns: int, seed: list[int]) -> pd.DataFrame:
    """Make the two best systems alike, then the second worse, and ask about them."""
    rng, screens = np.random.default_rng(seed), one.screens(shown)
    drawn = replaying.draw(one.scores, campaigns=campaigns, screens=screens, rng=rng, alike=(0, 1))
    drawn[..., 1] -= better
    return stopping.verdicts(_steered(drawn, assignment, shown, rng), (0, 1), stopping.looks(screens))
