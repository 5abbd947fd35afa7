"""Two campaigns drawn anew together: the same texts, and the same people, in both at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from evalkit.campaign.against.counterpart import Shared
from evalkit.campaign.method import DOCUMENTS
from evalkit.stats import correlation, inference
from evalkit.stats.agreement import cross_replication
from evalkit.stats.correlation import kendall_b, ratio

#: Fewest annotators of a campaign for them to be drawn anew.
PEOPLE = 3
#: Share of draws that have to leave every system a judgement.
COMPLETE = 0.9


class Together:
    """Labels of the rows of two tables, drawn anew: those in both once for both, the others within their own table."""

    def __init__(self, here: np.ndarray, there: np.ndarray) -> None:
        names, codes = np.unique(np.concatenate([here, there]), return_inverse=True)
        self.here, self.there = codes[: len(here)], codes[len(here) :]
        kind = np.isin(names, here) + 2 * np.isin(names, there)
        strata = [np.flatnonzero(kind == one) for one in (1, 2, 3)]
        #: In the order of their names, so that the draws are the same whichever table is called the first.
        self.strata = sorted((stratum for stratum in strata if len(stratum)), key=lambda stratum: stratum[0])
        self.size = len(names)

    def __call__(self, batch: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw how often each row counts, (batch, rows) of either table."""
        counts = np.empty((batch, self.size))
        for stratum in self.strata:
            counts[:, stratum] = inference.unit_counts(len(stratum), batch, rng)
        return counts[:, self.here], counts[:, self.there]


def texts(rows: pd.DataFrame, key: tuple[str, ...], *, documents: bool) -> np.ndarray:
    """Label each row by the text that it is about: its document, or its segment."""
    if documents:
        return rows["doc"].to_numpy(str)
    label = rows[key[0]].astype("str")
    for column in key[1:]:
        label = label + "\0" + rows[column].astype("str")
    return label.to_numpy(str)


def weights(
    shared: Shared, *, documents: bool, people: bool, resamples: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw both campaigns anew, the same texts and the same people in both, block by block.

    documents: draw documents, not segments. people: draw annotators as well, of a campaign with ``PEOPLE`` or more.
    Yields how often each judgement of ``shared.rows`` counts, (batch, rows) here and there: how often its text was
    drawn, times how often its annotator was. Source: Owen 2007, the pigeonhole bootstrap.
    Caveat: crossed draws err on the side of wide intervals.
    """
    drawn = [Together(*(texts(rows, shared.key, documents=documents) for rows in shared.rows))]
    if people:
        labels = []
        for number, rows in enumerate(shared.rows):
            names = rows["annotator"].to_numpy(str)
            few = rows["annotator"].nunique() < PEOPLE
            labels.append(np.full(len(names), f"\0{number}") if few else names)  # one label is always drawn once
        drawn.append(Together(*labels))

    def block(batch: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        (here, there), *others = [one(batch, rng) for one in drawn]
        for more_here, more_there in others:
            here, there = here * more_here, there * more_there
        return here, there

    yield from inference.in_blocks(block, resamples, seed=seed, numbers=4 * sum(map(len, shared.rows)))


#: What ``scorer`` computes: the order on shared items, the order on all of one's own, and raw means on shared items.
ORDER, OWN, MEAN = 0, 1, 2


def scorer(rows: pd.DataFrame, systems: list[str], column: str) -> Callable[[np.ndarray], np.ndarray]:
    """Make what scores systems under any weights of judgements: (batch, rows) to (batch, 3, systems + 1).

    rows: as in ``Shared.rows``. column: what systems are ordered by. The last score is that of all systems together.
    A segment's judgements are averaged, then segments, as ``ranking.system_scores`` does; NaN where nothing is left.
    """
    belongs = np.zeros((len(rows), len(systems) + 1))
    belongs[np.arange(len(rows)), pd.Index(systems).get_indexer(rows["system"])] = 1
    belongs[:, -1] = 1
    share = rows["share"].to_numpy()
    both = share * rows["shared"].to_numpy()
    kinds = [(rows[name].to_numpy(float), part) for name, part in ((column, both), (column, share), ("score", both))]
    parts = [part[:, None] * belongs for _, part in kinds]
    sums = [values[:, None] * part for (values, _), part in zip(kinds, parts, strict=True)]

    def score(weights: np.ndarray) -> np.ndarray:
        scored = [ratio(weights @ total, weights @ part) for total, part in zip(sums, parts, strict=True)]
        return np.stack(scored, axis=1).round(9)  # equal means are a tie, whatever their last bits

    return score


def draw_scores(
    shared: Shared, scores: list[Callable[[np.ndarray], np.ndarray]], *, resamples: int, seed: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Score all systems anew, (draws, side, kind, system), by the first design that leaves each a judgement.

    Returns with it what was drawn. No draws where no design does.
    """
    people = any(rows["annotator"].nunique() >= PEOPLE for rows in shared.rows)
    whole = "doc" in shared.key and shared.items.get_level_values("doc").nunique() >= DOCUMENTS
    designs = dict.fromkeys([(whole, people), (False, people), (False, False)])
    for documents, persons in designs:
        parts = weights(shared, documents=documents, people=persons, resamples=resamples, seed=seed)
        drawn = np.concatenate(
            [np.stack([score(one) for score, one in zip(scores, both, strict=True)], axis=1) for both in parts]
        )
        complete = np.isfinite(drawn).all(axis=(1, 2, 3))
        if complete.mean() >= COMPLETE:
            return drawn[complete], ("documents" if documents else "segments", *(["annotators"] * persons))
    return drawn[:0], ()


def item_means(shared: Shared, rows: list[pd.DataFrame]) -> pd.DataFrame:
    """Average the judgements of each shared item, and their squares: here, there, here_square, there_square."""
    columns: dict[str, pd.Series] = {}
    for table, where in zip(rows, ("here", "there"), strict=True):
        kept = table[table["shared"]].assign(square=lambda t: t["score"] ** 2)
        means = kept.groupby(["system", *shared.key])[["score", "square"]].mean().reindex(shared.items)
        columns |= {where: means["score"], f"{where}_square": means["square"]}
    return pd.DataFrame(columns).round(9)


def draw_items(cells: pd.DataFrame, shared: Shared, drawn: tuple[str, ...], *, resamples: int, seed: int) -> np.ndarray:
    """Draw Pearson's r, Kendall's tau-b and agreement between two campaigns anew over texts: (draws, 3).

    cells: see ``item_means``. drawn: what was drawn for scores of systems, "documents" perhaps among it.
    """
    unit = texts(shared.items.to_frame(index=False), shared.key, documents="documents" in drawn)
    here, there = (cells[name].to_numpy() for name in ("here", "there"))
    squares = cells["here_square"] + cells["there_square"]
    moments = correlation.moments(here - here.mean(), there - there.mean()).T

    def statistic(counts: np.ndarray) -> np.ndarray:
        tau = _kendall_b(here, there, counts.astype(int))
        between = cross_replication(here, there, squares, counts)
        return np.stack([correlation.pearson_of_sums(counts @ moments), tau, between], axis=1)

    return inference.resample(statistic, unit, resamples=resamples, seed=seed)


def _kendall_b(here: np.ndarray, there: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute Kendall's tau-b of items under each row of counts: off tables where scores take few values."""
    if len(np.unique(here)) * len(np.unique(there)) <= 8 * len(here):
        return correlation.kendall_b_of_values(here, there, counts)
    return np.array([kendall_b(np.repeat(here, times), np.repeat(there, times)) for times in counts])


def ends(draws: np.ndarray, *, around: float | None = None) -> tuple[float, float]:
    """Return the 95 % interval of draws; missing where hardly any draw is defined.

    around: a correlation that the draws are moved to, so that it is their median; the ends are cut off at -1 and 1.
    Every draw has the noise of its sample on top of that of the campaigns, which brings correlations of few systems
    nearer to 0 than the campaigns' own.

    >>> ends(np.array([0.1, 0.2, 0.3])), ends(np.array([0.1, 0.2, 0.3]), around=0.95)  # doctest: +NUMBER
    ((0.105, 0.295), (0.855, 1.0))
    """
    defined = draws[np.isfinite(draws)]
    if len(defined) < max(COMPLETE * len(draws), 1):
        return np.nan, np.nan
    low, high = inference.interval(defined)
    if around is None:
        return float(low), float(high)
    shift = around - float(np.median(defined))
    return max(float(low) + shift, -1.0), min(float(high) + shift, 1.0)
