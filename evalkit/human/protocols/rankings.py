"""Do protocols rank systems alike: places, with a gold standard and without one, and how soon."""

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
from evalkit.stats.correlation import kendall_b, ratio
from evalkit.stats.widths import Influences

#: Parts of another collection judged again: each system on other segments, so their rankings compare texts as well.
PARTS = tuple(name for name in ORDER if name.endswith("IAA"))
#: WMT's own judgements by experts, the customary gold standard.
GOLD = "WMT-MQM"
#: Shares of one half of the documents that systems are ranked by; the other half is what this is held against.
SHARES = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
#: A kind of judgement -> another that followed it, and so cannot say how far it is to be trusted.
_FOLLOWED = {"model": "ESA with suggested marks"}


# Scores of systems, and on draws


class Drawn(NamedTuple):
    """Scores of systems under every protocol, (protocols, systems), and draws of them: (resamples, protocols, systems).

    widths: (protocols, systems, systems) half the widths of 95 % intervals of differences, on the diagonal of scores.
    """

    protocols: list[str]
    systems: list[str]
    scores: np.ndarray
    draws: np.ndarray
    widths: np.ndarray


def same_segments(scored: pd.DataFrame) -> pd.DataFrame:
    """Keep the systems' translations of the segments that every protocol but ``PARTS`` scored for every system.

    scored: the table of ``protocols.scores``. A protocol that covers fewer segments than another ranks other texts, and
    what looks like a matter of protocols may be one of texts.

    >>> scored = pd.DataFrame({"protocol": ["ESA-1"] * 4 + ["WMT-MQM"] * 2, "system": list("ABABAB"),
    ...     "doc": "d", "segment": list("112211"), "item_type": "system", "score": range(6)})
    >>> same_segments(scored)["segment"].tolist()
    ['1', '1', '1', '1']
    """
    names = _named(scored)
    own = _outputs(scored, names)
    there = own.drop_duplicates(["protocol", *ITEM]).groupby([*SEGMENT], observed=True).size()
    common = there.index[there == len(names) * own["system"].nunique()]
    return own[pd.MultiIndex.from_frame(own[[*SEGMENT]]).isin(common)].reset_index(drop=True)


def _named(scored: pd.DataFrame, protocols: Sequence[str] | None = None) -> list[str]:
    """Return the protocols to compare in the order of the release; by default all there are, without ``PARTS``."""
    chosen = [name for name in scored["protocol"].unique() if name not in PARTS] if protocols is None else protocols
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
    return Drawn(names, systems, totals.reshape(segments.shape), draws, wide)


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

    Returns protocol, system, mean (in the protocol's unit, higher is better), rank (1 is best; equal means share the
    better rank), rank_low, rank_high (whole ranks, 95 % of draws).
    Caveat: places of systems that are nearly equal have intervals that cover less than their level.
    """
    rank_low, rank_high = rank_interval(ranks_of(drawn.draws))
    columns = {"mean": drawn.scores, "rank": ranks_of(drawn.scores), "rank_low": rank_low, "rank_high": rank_high}
    index = pd.MultiIndex.from_product([drawn.protocols, drawn.systems], names=["protocol", "system"])
    table = pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index).reset_index()
    place = np.repeat(np.arange(len(drawn.protocols)), len(drawn.systems))
    return table.iloc[np.lexsort((table["rank"], place))].reset_index(drop=True)


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

    Returns protocol, sure (pairs of systems whose difference leaves 0 out, of ``pairs``); gold, gold_low, gold_high
    (tau-b with the ranking by ``GOLD``; NaN for itself); others, others_low, others_high (mean tau-b with the protocols
    of other kinds, each kind once, see ``voters``; NaN where there is none).
    Caveat: agreement with others is no proof of being right, for all may be wrong alike; gold is of the kind MQM, so
    other MQM should be nearest to it.
    """
    toward = np.tile(np.array(drawn.protocols) == GOLD, (len(drawn.protocols), 1)).astype(float)
    toward[drawn.protocols.index(GOLD)] = np.nan  # which is the one against itself
    weights = np.stack([toward, voters(drawn.protocols)], axis=-1)
    value, draws = (np.einsum("...pq,pqa->...pa", _every_two(own), weights) for own in (drawn.scores, drawn.draws))
    low, high = centred_interval(value, draws)
    order = sure_order(drawn)
    table = pd.DataFrame({"protocol": drawn.protocols, "sure": (order != 0).sum(axis=1), "pairs": order.shape[1]})
    for place, name in enumerate(("gold", "others")):
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
    weights = same / same.sum() - other / other.sum()
    value, draws = (kendall_b(own[..., first, :], own[..., second, :]) @ weights for own in (drawn.scores, drawn.draws))
    low, high = centred_interval(value, draws)
    return float(value), float(low), float(high)


# How soon a ranking is settled


def subset_consistency(scored: pd.DataFrame, *, splits: int = 500, seed: int = 7) -> pd.DataFrame:
    """Measure how soon a few documents rank systems as other documents do, under each protocol.

    scored: the table of ``protocols.scores``, of the same segments under every protocol (``same_segments``).
    Documents are parted at random into halves, ``splits`` times. ``SHARES`` of one half rank the systems; so does the
    other half. Returns protocol, segments (how many rank, on average), kendall (Kendall's tau of both rankings, ties
    count 0) and agreement (share of pairs of systems in the same order, ties count half), means over splits.
    Caveat: the same people judge both halves, so that what they like in both counts as consistency. To be consistent
    is not to be right.
    Source: subset consistency, Kocmi et al. 2024; there against the ranking by all segments, which hold the subset.
    """
    own, parts = _outputs(scored, _named(scored)), []
    documents = sorted(own["doc"].unique())
    size, segments = len(documents), segment_names(own).nunique()
    places_of = np.random.default_rng(seed).random((splits, size)).argsort(axis=1)
    half = size // 2
    few = [max(1, round(share * half)) for share in SHARES]
    chosen = np.stack([*(places_of < number for number in few), places_of >= half])
    for name, part in own.groupby("protocol", observed=True):
        cells = part.groupby(["doc", "system"], observed=True)["score"].agg(["sum", "count"])
        sums, counts = (cells[what].unstack().reindex(documents).fillna(0).to_numpy(float) for what in cells)
        means = ratio(chosen @ sums, chosen @ counts).round(9)  # of equal ones, sums may differ in their last bits
        first, second = np.triu_indices(means.shape[-1], 1)
        order = np.nan_to_num(np.sign(means[..., first] - means[..., second]))
        kendall = (order[:-1] * order[-1]).mean(axis=(1, 2))
        columns = {"protocol": name, "segments": segments * np.array(few) / size, "kendall": kendall}
        parts.append(pd.DataFrame(columns).assign(agreement=(1 + kendall) / 2))
    return pd.concat(parts, ignore_index=True)
