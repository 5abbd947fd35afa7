"""How soon is a ranking settled: rank by some documents, and hold that against the ranking by others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import segment_names
from evalkit.human.protocols.draws import named, summed
from evalkit.human.protocols.rankings import GOLD, kind_of, voters
from evalkit.stats import inference
from evalkit.stats.correlation import ratio

#: What a ranking is held against: the protocol's own by other documents, the gold standard's, those of other kinds.
AGAINST = ("itself", "gold", "others")
#: Shares of one half of the documents that systems are ranked by; the other half is what this is held against.
SHARES = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)


def subset_consistency(
    scored: pd.DataFrame,
    *,
    protocols: Sequence[str] | None = None,
    gold: str = GOLD,
    shares: Sequence[float] = SHARES,
    splits: int = 500,
    resamples: int = 100,
    seed: int = 7,
) -> pd.DataFrame:
    """Measure how well a few documents rank systems, against the ranking by documents that were left out.

    scored: the table of ``protocols.scores``, of the same segments under every protocol (``draws.same_segments``).
    Documents are parted into halves, ``splits`` times. A share of one half ranks the systems under one protocol. The
    other half ranks them under that protocol (``against`` "itself"), under the gold standard ("gold"), or under
    each protocol of another kind ("others"; mean, each kind once, see ``rankings.voters``).
    Returns protocol, against, segments (how many rank, on average), agreement (share of pairs of systems in the same
    order, ties count half), kendall (Kendall's tau: 2 · agreement - 1), low, high (of agreement: documents are drawn
    anew ``resamples`` times, one drawn twice stays in one half; normal, without what a tenth as many splits add).
    Caveat: the same people judge both halves, so that what they like in both counts as consistency; other people are
    not drawn, but each translation is judged once, and drawing documents draws most of its judges' noise. To be
    consistent is not to be right.
    Source: subset consistency, Kocmi et al. 2024; there against the ranking by all segments, which hold the subset.
    """
    names = named(scored, protocols)
    if gold not in names:
        raise DataError(f"{gold}: no such protocol here. Choose among {', '.join(names)}.")
    _, _, cells = summed(scored, names)
    size = 1 + max(one.documents.max() for one in cells.values())
    if size < 4:
        raise DataError(f"{size} documents cannot be parted into halves that rank. Bring four at least.")
    sums = np.array([_by_document(one.documents, np.hstack([one.sums, one.weights]), size) for one in cells.values()])
    measures = _measures(names, gold)
    rng = np.random.default_rng(seed)
    estimate = _agreement(sums, np.ones((1, size)), shares, splits, measures, rng)[0].mean(axis=0)
    few = max(2, splits // 10)
    drawn = _agreement(sums, inference.unit_counts(size, resamples, rng), shares, few, measures, rng)
    variance = drawn.mean(axis=1).var(axis=0, ddof=1) - drawn.var(axis=1, ddof=1).mean(axis=0) / few
    error = 1.96 * np.sqrt(np.maximum(variance, 0))
    segments = segment_names(scored[scored["protocol"].isin(names)]).nunique() / size
    used = [segments * _taken(share, size // 2) for share in shares]
    return _tabulated(names, used, estimate, error)


def ends(curve: pd.DataFrame, *, against: str = "itself") -> pd.DataFrame:
    """Take the last point of each protocol's curve, all of one half of the documents, the highest agreement first.

    curve: the result of ``subset_consistency``. Returns protocol, kind, segments, agreement, kendall, low and high.

    >>> curve = pd.DataFrame({"protocol": ["ESA-1", "ESA-1", "LLM"], "against": "itself", "segments": [10, 20, 20],
    ...     "agreement": [0.8, 0.9, 0.95], "kendall": 0.8, "low": 0.7, "high": 1.0})
    >>> ends(curve)[["protocol", "kind", "agreement"]].values.tolist()
    [['LLM', 'model', 0.95], ['ESA-1', 'ESA', 0.9]]
    """
    own = curve[curve["against"] == against].sort_values("segments", kind="stable").groupby("protocol").tail(1)
    own = own.sort_values("agreement", ascending=False, kind="stable").drop(columns="against")
    own.insert(1, "kind", own["protocol"].map(kind_of))
    return own.reset_index(drop=True)


def segments_needed(curve: pd.DataFrame, *, agreement: float = 0.85) -> pd.DataFrame:
    """Read off how many segments put so large a share of pairs of systems into the same order as other documents do.

    curve: the result of ``subset_consistency``. Returns protocol, against, segments (between two points of the curve
    on a straight line; NaN where the curve stays below), reached (agreement at the end of the curve, by all of one
    half) and of (segments there).

    >>> curve = pd.DataFrame({"protocol": "ESA-1", "against": "itself", "segments": [10, 20], "agreement": [0.8, 1.0]})
    >>> segments_needed(curve).round(6).values.tolist()
    [['ESA-1', 'itself', 12.5, 1.0, 20]]
    """
    rows = []
    for (against, name), part in curve.groupby(["against", "protocol"], sort=False):
        part = part.sort_values("segments")
        x, y = part["segments"].to_numpy(float), part["agreement"].to_numpy(float)
        rows.append(
            {
                "protocol": name,
                "against": against,
                "segments": _crossing(x, y, agreement),
                "reached": y[-1],
                "of": part["segments"].iloc[-1],
            }
        )
    return pd.DataFrame(rows)


def side_by_side(needed: pd.DataFrame) -> pd.DataFrame:
    """Lay ``segments_needed`` out for readers: a row per protocol, two columns for each yardstick."""
    written = {"itself": "its own", "gold": f"{GOLD}'s", "others": "other kinds'"}
    wide = needed.assign(against=needed["against"].map(written))
    wide = wide.pivot(index="protocol", columns="against", values=["segments", "reached"])
    wide = wide.reindex(needed["protocol"].unique())[
        [(what, name) for what in ("segments", "reached") for name in written.values()]
    ]
    wide.columns = [f"{what}, {name}" for what, name in wide.columns]
    return wide.reset_index()


def _crossing(x: np.ndarray, y: np.ndarray, level: float) -> float:
    """Return where a line through points first reaches a level; NaN where it does not."""
    above = np.flatnonzero(y >= level)
    if not above.size:
        return float("nan")
    k = above[0]
    return float(x[0] if k == 0 else np.interp(level, y[k - 1 : k + 1], x[k - 1 : k + 1]))


def _tabulated(names: Sequence[str], used: Sequence[float], estimate: np.ndarray, error: np.ndarray) -> pd.DataFrame:
    """Write agreement, (protocols, shares, AGAINST), as rows; what is held against nothing is left out."""
    index = pd.MultiIndex.from_product([names, used, AGAINST], names=["protocol", "segments", "against"])
    columns = {
        "agreement": estimate,
        "kendall": 2 * estimate - 1,
        "low": np.clip(estimate - error, 0, 1),
        "high": np.clip(estimate + error, 0, 1),
    }
    found = pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index).dropna().reset_index()
    place = found["against"].map(AGAINST.index)
    return found.iloc[place.argsort(kind="stable")][["protocol", "against", "segments", *columns]].reset_index(
        drop=True
    )


def _taken(share: float, half: int) -> int:
    """Return how many documents a share of a half is, at least one."""
    return max(1, round(share * half))


def _by_document(codes: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Sum rows by document, (documents, columns)."""
    return pd.DataFrame(values).groupby(codes).sum().reindex(range(size), fill_value=0.0).to_numpy()


def _measures(names: Sequence[str], gold: str) -> np.ndarray:
    """Weigh whose ranking by the other half counts, (protocols, protocols, AGAINST); NaN where nobody's does."""
    toward = np.zeros((len(names), len(names)))
    toward[:, list(names).index(gold)] = 1
    toward[list(names).index(gold)] = np.nan  # which is the one against itself
    votes = voters(names)
    votes[~votes.any(axis=1)] = np.nan
    return np.stack([np.eye(len(names)), toward, votes], axis=-1)


def _agreement(
    sums: np.ndarray,
    times: np.ndarray,
    shares: Sequence[float],
    splits: int,
    measures: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Split documents and compare rankings: (resamples, splits, protocols, shares, AGAINST).

    sums: (protocols, documents, twice systems), scores and weights. times: (resamples, documents) how often each
    document was drawn; those that were not are in no half.
    """
    parts = []
    for one in times:
        places = _shuffled(one, splits, rng)
        drawn, half = (one > 0).sum(), (one > 0).sum() // 2
        chosen = [places < _taken(share, half) for share in shares] + [(places >= half) & (places < drawn)]
        picked = np.stack(chosen, axis=1) * one  # splits × (shares, other half) × documents
        order = np.stack([_order(picked @ own) for own in sums])  # protocols × splits × ... × pairs
        mine, theirs = np.moveaxis(order[:, :, :-1], 0, 1), np.moveaxis(order[:, :, -1], 0, 2)
        tau = (mine.reshape(splits, -1, mine.shape[-1]) @ theirs).reshape(*mine.shape[:-1], -1) / mine.shape[-1]
        parts.append(np.einsum("spkq,pqa->spka", (1 + tau) / 2, measures))
    return np.array(parts)


def _shuffled(times: np.ndarray, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Give the documents that were drawn places at random, from 0 on, and others later ones: (splits, documents)."""
    keys = rng.random((splits, len(times))) + (times == 0)
    return keys.argsort(axis=1).argsort(axis=1)


def _order(totals: np.ndarray) -> np.ndarray:
    """Tell for every two systems which scores higher, (..., pairs): 1 the first, -1 the second, 0 neither or no score.

    totals: (..., twice systems), sums of scores and of weights.
    """
    score, weight = np.split(totals, 2, axis=-1)
    means = np.where(weight > 0, ratio(score, weight), np.nan)
    first, second = np.triu_indices(means.shape[-1], 1)
    gap = means[..., first] - means[..., second]
    same = np.abs(gap) <= inference.TOLERANCE * np.maximum(1, np.abs(means[..., first]))  # but for their last bits
    return np.nan_to_num(np.where(same, 0, np.sign(gap)))
