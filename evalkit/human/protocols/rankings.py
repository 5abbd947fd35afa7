"""Do protocols rank systems alike: places, every two rankings, with a gold standard and without one, and how soon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT, segment_names
from evalkit.human.protocols.agreement import KINDS, ORDER
from evalkit.human.ranking.lines import rank_interval, ranks_of
from evalkit.stats import inference
from evalkit.stats.correlation import count_pairs, kendall_b, pearson, ratio, spearman
from evalkit.stats.widths import Influences

#: Parts of another collection judged again: each system on other segments, so their rankings compare texts as well.
PARTS = tuple(name for name in ORDER if name.endswith("IAA"))
#: WMT's own judgements by experts, the customary gold standard.
GOLD = "WMT-MQM"
#: What a ranking is held against: the protocol's own by other documents, the gold standard's, those of other kinds.
AGAINST = ("itself", "gold", "others")
#: Shares of one half of the documents that systems are ranked by; the other half is what this is held against.
SHARES = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
#: A kind of judgement -> another that followed it, and so cannot say how far it is to be trusted.
_FOLLOWED = {"model": "ESA with suggested marks"}


# Scores of systems, and on draws


class Drawn(NamedTuple):
    """Scores of systems under every protocol, (protocols, systems), and draws of them: (resamples, protocols, systems).

    widths: (protocols, systems, systems) half the widths of 95 % intervals of differences, on the diagonal of scores.
    segments: how many segments each system was judged on, (protocols, systems).
    """

    protocols: list[str]
    systems: list[str]
    scores: np.ndarray
    draws: np.ndarray
    widths: np.ndarray
    segments: np.ndarray


def same_segments(scored: pd.DataFrame) -> pd.DataFrame:
    """Keep the systems' translations of the segments that every protocol but ``PARTS`` scored for every system.

    scored: the table of ``protocols.scores``. A protocol that covers fewer segments than another ranks other texts, and
    what looks like a matter of protocols may be one of texts. Raises DataError where no segment is left.

    >>> scored = pd.DataFrame({"protocol": ["ESA-1"] * 4 + ["WMT-MQM"] * 2, "system": list("ABABAB"),
    ...     "doc": "d", "segment": list("112211"), "item_type": "system", "score": range(6)})
    >>> same_segments(scored)["segment"].tolist()
    ['1', '1', '1', '1']
    """
    names = _named(scored)
    own = _outputs(scored, names)
    there = own.drop_duplicates(["protocol", *ITEM]).groupby([*SEGMENT], observed=True).size()
    common = there.index[there == len(names) * own["system"].nunique()]
    if common.empty:
        raise DataError(f"{', '.join(names)} share no segment that all systems have.")
    return own[pd.MultiIndex.from_frame(own[[*SEGMENT]]).isin(common)].reset_index(drop=True)


def _named(scored: pd.DataFrame, protocols: Sequence[str] | None = None) -> list[str]:
    """Return the protocols to compare in the order of the release; by default all there are, without ``PARTS``."""
    there = set(scored["protocol"].unique())
    chosen = [name for name in there if name not in PARTS] if protocols is None else list(protocols)
    if lost := [name for name in chosen if name not in there]:
        raise DataError(f"{lost[0]}: no such protocol here. Choose among {', '.join(map(str, sorted(there)))}.")
    return sorted(chosen, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def draw_scores(
    scored: pd.DataFrame, *, protocols: Sequence[str] | None = None, resamples: int = 500, seed: int = 7
) -> Drawn:
    """Score systems under every protocol, and anew on drawn documents and people.

    scored: the table of ``protocols.scores`` or ``same_segments``; references are left out. protocols: by default all
    but ``PARTS``. Documents are drawn anew, the same ones for all protocols, and with them each protocol's own people;
    differences of draws spread as widely as their intervals (``stats.widths``). Where a row has no annotator (WMT's own
    judgements, the model's), what was judged of a document counts as one person's: such intervals leave out what other
    people would change. With 8 to 11 people they say little about people of another kind. Raises DataError where
    everything known of a system under a protocol is from one person or document.
    """
    names = _named(scored, protocols)
    own = _outputs(scored, names)
    systems = sorted(own["system"].unique())
    column = len(systems) * pd.Index(names).get_indexer(own["protocol"]) + pd.Index(systems).get_indexer(own["system"])
    member = (column[:, None] == np.arange(len(names) * len(systems))).astype(float)
    segments = member.sum(axis=0).astype(int).reshape(len(names), -1)
    if (segments == 0).any():
        protocol, system = np.argwhere(segments == 0)[0]
        raise DataError(f"{names[protocol]} has no score of {systems[system]}. Leave the system out, or the protocol.")
    scores = own["score"].to_numpy(float)[:, None] * member
    influences, totals = Influences.of_means(scores, member, _drawn_units(own)), scores.sum(axis=0) / member.sum(axis=0)
    wide = influences.half_widths().reshape(*segments.shape, *segments.shape)
    wide = wide[np.arange(len(names)), :, np.arange(len(names))]
    if not np.isfinite(wide).all():
        alone = names[int(np.isinf(wide).any(axis=(1, 2)).argmax())]
        raise DataError(f"Too few people or documents stand behind {alone} to be drawn anew. Leave this protocol out.")
    scale = np.repeat(wide.max(axis=(1, 2)).clip(1e-12), len(systems))
    draws = influences.draws(totals, resamples=resamples, seed=seed, scale=scale).reshape(-1, *segments.shape)
    return Drawn(names, systems, totals.reshape(segments.shape), draws, wide, segments)


def _drawn_units(own: pd.DataFrame) -> dict[str, np.ndarray]:
    """Number the document and the person of each judgement; nobody worked under two protocols."""
    people = own["annotator"].astype("object")
    unknown = people.isna().groupby(own["protocol"]).transform("any")
    person = people.mask(unknown, own["doc"])
    return {
        "documents": pd.factorize(own["doc"])[0],
        "people": person.groupby([own["protocol"], person], observed=True).ngroup().to_numpy(),
    }


def _outputs(scored: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Keep scores of systems' outputs under these protocols."""
    return scored[scored["protocol"].isin(names) & scored["item_type"].eq("system") & scored["score"].notna()]


# Rankings


def places(drawn: Drawn) -> pd.DataFrame:
    """Tabulate each system's mean and place under every protocol, in the order of each ranking.

    Returns protocol, system, mean (in the protocol's unit, higher is better), low, high, rank (1 is best; equal means
    share the better rank), rank_low, rank_high (whole ranks, 95 % of draws) and segments.
    Caveat: places of systems that are nearly equal have intervals that cover less than their level.
    """
    reach = np.diagonal(drawn.widths, axis1=1, axis2=2)
    rank_low, rank_high = rank_interval(ranks_of(drawn.draws))
    columns = {"mean": drawn.scores, "low": drawn.scores - reach, "high": drawn.scores + reach}
    columns |= {"rank": ranks_of(drawn.scores), "rank_low": rank_low, "rank_high": rank_high}
    columns |= {"segments": drawn.segments}
    index = pd.MultiIndex.from_product([drawn.protocols, drawn.systems], names=["protocol", "system"])
    table = pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index).reset_index()
    place = np.repeat(np.arange(len(drawn.protocols)), len(drawn.systems))
    return table.iloc[np.lexsort((table["rank"], place))].reset_index(drop=True)


def between(drawn: Drawn) -> pd.DataFrame:
    """Compare every two protocols' rankings of the systems.

    Returns a, b, kind (same or other, by what is asked of people), systems; pearson, spearman and kendall_b of the
    systems' means; same_order (share of pairs of systems that both put into the same order); low and high of kendall_b;
    and opposed: pairs of systems that both put into an order that is sure (the interval of the difference leaves 0
    out), and not into the same.
    """
    first, second = np.triu_indices(len(drawn.protocols), 1)
    x, y = drawn.scores[first], drawn.scores[second]
    tau, order = kendall_b(x, y), sure_order(drawn)
    low, high = centred_interval(tau, kendall_b(drawn.draws[:, first], drawn.draws[:, second]))
    names, kinds = np.array(drawn.protocols, object), _kinds(drawn.protocols)
    columns: dict[str, object] = {"a": names[first], "b": names[second]}
    columns |= {"kind": np.where(kinds[first] == kinds[second], "same", "other")}
    columns |= {"systems": len(drawn.systems), "pearson": pearson(x, y), "spearman": spearman(x, y)}
    columns |= {"kendall_b": tau, "low": low, "high": high, "same_order": count_pairs(x, y).accuracy_3way()}
    return pd.DataFrame(columns | {"opposed": (order[first] * order[second] < 0).sum(axis=1)})


def centred_interval(estimate: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % interval of correlations, draws along the first axis, moved so that it lies about the estimate.

    Draws add noise to the noise that scores have already, so their correlations are lower than the estimate; how far
    they spread about their own mean is kept, and cut at -1 and 1.

    >>> low, high = centred_interval(np.array(0.9), np.linspace(0.4, 0.8, 101))
    >>> round(float(low), 2), round(float(high), 2)
    (0.71, 1.0)
    """
    low, high = inference.interval(draws)
    shift = estimate - np.mean(draws, axis=0)
    return np.clip(low + shift, -1, 1), np.clip(high + shift, -1, 1)


def sure_order(drawn: Drawn) -> np.ndarray:
    """Tell for every two systems which is better for sure, (protocols, pairs): 1 the first, -1 the second, 0 unsure.

    Sure is a difference whose 95 % interval leaves 0 out.
    """
    first, second = np.triu_indices(len(drawn.systems), 1)
    difference = drawn.scores[:, first] - drawn.scores[:, second]
    return np.sign(difference).astype(int) * (np.abs(difference) > drawn.widths[:, first, second])


def _kinds(protocols: Sequence[str]) -> np.ndarray:
    """Return what kind of judgement protocols ask for; one that nobody knows is a kind of its own."""
    return np.array([KINDS.get(name, name) for name in protocols], object)


def voters(protocols: Sequence[str]) -> np.ndarray:
    """Weigh for each protocol the others that judge its ranking, (protocols, protocols); rows add up to 1.

    Every other kind of judgement has one vote, shared by its protocols; a protocol's own kind has none, or it would be
    praised for its own faults. The model has no vote, and protocols that show the model's suggestions none over it.
    Rows of protocols over which nobody has a vote are missing.

    >>> voters(["ESA-1", "ESA-2", "MQM-1", "WMT-DASQM"])[0].tolist()
    [0.0, 0.0, 0.5, 0.5]
    """
    kinds = _kinds(protocols)
    votes = np.full((len(kinds), len(kinds)), np.nan)
    for row, own in enumerate(kinds):
        heard = ~np.isin(kinds, [own, "model", _FOLLOWED.get(own)])
        if heard.any():
            share = [1 / (kinds == kind).sum() / len(set(kinds[heard])) for kind in kinds]
            votes[row] = np.where(heard, share, 0.0)
    return votes


def against(drawn: Drawn) -> pd.DataFrame:
    """Hold each protocol's ranking against the gold standard, and without one against all other kinds of judgement.

    Returns protocol, kind, segments, sure (pairs of systems whose difference leaves 0 out, of ``pairs``); gold,
    gold_low, gold_high (tau-b with the ranking by ``GOLD``; NaN for itself); others, others_low, others_high (mean
    tau-b with the protocols of other kinds, each kind once, see ``voters``; NaN where there is none).
    Caveat: agreement with others is no proof of being right, for all may be wrong alike; gold is of the kind MQM, so
    other MQM should be nearest to it.
    """
    weights = _measures(drawn.protocols)[..., 1:]
    value, draws = (np.einsum("...pq,pqa->...pa", _every_two(own), weights) for own in (drawn.scores, drawn.draws))
    low, high = centred_interval(value, draws)
    order = sure_order(drawn)
    columns = {"protocol": drawn.protocols, "kind": _kinds(drawn.protocols), "segments": drawn.segments.min(axis=1)}
    table = pd.DataFrame(columns | {"sure": (order != 0).sum(axis=1), "pairs": order.shape[1]})
    for place, name in enumerate(AGAINST[1:]):
        table[[name, f"{name}_low", f"{name}_high"]] = np.stack([each[:, place] for each in (value, low, high)], axis=1)
    return table


def _every_two(scores: np.ndarray) -> np.ndarray:
    """Return tau-b of every two protocols, (..., protocols, protocols)."""
    return kendall_b(scores[..., :, None, :], scores[..., None, :, :])


def kinds_apart(drawn: Drawn) -> tuple[float, float, float]:
    """Compare rankings of two campaigns of one kind with rankings of two kinds: is it people and texts, or protocols?

    Returns the mean tau-b of campaigns of one kind less that of campaigns of two, low and high. The model has no part
    in it. Near 0, two protocols differ no more than two campaigns under one protocol.
    """
    kinds = _kinds(drawn.protocols)
    first, second = np.triu_indices(len(kinds), 1)
    people = (kinds[first] != "model") & (kinds[second] != "model")
    same, other = people & (kinds[first] == kinds[second]), people & (kinds[first] != kinds[second])
    if not (same.any() and other.any()):
        raise DataError(f"No two protocols here are of {'two kinds' if same.any() else 'one kind'}. Add one.")
    weights = same / same.sum() - other / other.sum()
    value, draws = (kendall_b(own[..., first, :], own[..., second, :]) @ weights for own in (drawn.scores, drawn.draws))
    low, high = centred_interval(value, draws)
    return float(value), float(low), float(high)


# How soon a ranking is settled


def subset_consistency(
    scored: pd.DataFrame,
    *,
    shares: Sequence[float] = SHARES,
    splits: int = 500,
    resamples: int = 100,
    seed: int = 7,
) -> pd.DataFrame:
    """Measure how well a few documents rank systems, against the ranking by documents that were left out.

    scored: the table of ``protocols.scores``, of the same segments under every protocol (``same_segments``).
    Documents are parted into halves, ``splits`` times. A share of one half ranks the systems under one protocol. The
    other half ranks them under that protocol (``against`` "itself"), under the gold standard ("gold"), or under
    each protocol of another kind ("others"; mean, each kind once, see ``voters``).
    Returns protocol, against, segments (how many rank, on average), agreement (share of pairs of systems in the same
    order, ties count half), kendall (Kendall's tau: 2 · agreement - 1), low, high (of agreement: documents are drawn
    anew ``resamples`` times, one drawn twice stays in one half; normal, without what a tenth as many splits add).
    Caveat: the same people judge both halves, so that what they like in both counts as consistency; other people are
    not drawn, but each translation is judged once, and drawing documents draws most of its judges' noise. To be
    consistent is not to be right.
    Source: subset consistency, Kocmi et al. 2024; there against the ranking by all segments, which hold the subset.
    """
    names = _named(scored)
    own = _outputs(scored, names)
    documents = sorted(own["doc"].unique())
    size = len(documents)
    if size < 4:
        raise DataError(f"{size} documents cannot be parted into halves that rank. Bring four at least.")
    cells = own.groupby(["protocol", "doc", "system"], observed=True)["score"].agg(["sum", "count"])
    cells = cells.unstack("system", fill_value=0).reindex(pd.MultiIndex.from_product([names, documents]), fill_value=0)
    sums = cells.to_numpy(float).reshape(len(names), size, -1)
    measures = _measures(names)
    rng = np.random.default_rng(seed)
    estimate = _agreement(sums, np.ones((1, size)), shares, splits, measures, rng)[0].mean(axis=0)
    few = max(2, splits // 10)
    drawn = _agreement(sums, inference.unit_counts(size, resamples, rng), shares, few, measures, rng)
    variance = drawn.mean(axis=1).var(axis=0, ddof=1) - drawn.var(axis=1, ddof=1).mean(axis=0) / few
    error = 1.96 * np.sqrt(np.maximum(variance, 0))
    segments = segment_names(own).nunique() / size
    used = [segments * _taken(share, size // 2) for share in shares]
    index = pd.MultiIndex.from_product([names, used, AGAINST], names=["protocol", "segments", "against"])
    columns = {"agreement": estimate, "kendall": 2 * estimate - 1}
    columns |= {"low": np.clip(estimate - error, 0, 1), "high": np.clip(estimate + error, 0, 1)}
    table = pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index).dropna().reset_index()
    return table.sort_values("against", key=lambda own: own.map(AGAINST.index), kind="stable", ignore_index=True)


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
    for (against_whom, name), part in curve.groupby(["against", "protocol"], sort=False):
        x, y = part.sort_values("segments")[["segments", "agreement"]].to_numpy(float).T
        above = np.flatnonzero(y >= agreement)
        needed = float("nan")
        if above.size:
            until = slice(max(above[0] - 1, 0), above[0] + 1)
            needed = float(np.interp(agreement, y[until], x[until]))
        rows.append((name, against_whom, needed, y[-1], part["segments"].max()))
    return pd.DataFrame(rows, columns=["protocol", "against", "segments", "reached", "of"])


def _taken(share: float, half: int) -> int:
    """Return how many documents a share of a half is, at least one."""
    return max(1, round(share * half))


def _measures(names: Sequence[str]) -> np.ndarray:
    """Weigh whose ranking counts, (protocols, protocols, AGAINST); NaN where nobody's does."""
    if GOLD not in names:
        raise DataError(f"Rankings are held against {GOLD}, which is not among {', '.join(names)}. Add it.")
    toward = np.zeros((len(names), len(names)))
    toward[:, list(names).index(GOLD)] = 1
    toward[list(names).index(GOLD)] = np.nan  # which is the one against itself
    return np.stack([np.eye(len(names)), toward, voters(names)], axis=-1)


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
        places_of = _shuffled(one, splits, rng)
        drawn, half = (one > 0).sum(), (one > 0).sum() // 2
        chosen = [places_of < _taken(share, half) for share in shares] + [(places_of >= half) & (places_of < drawn)]
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
