"""Do protocols rank systems alike: places with intervals, every two rankings, with a gold standard and without one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human import ranking
from evalkit.human.protocols.draws import Drawn
from evalkit.human.protocols.scores import KINDS
from evalkit.human.ranking.movement import rank_interval, ranks_of
from evalkit.human.ranking.rules import complete
from evalkit.stats import inference
from evalkit.stats.correlation import count_pairs, kendall_b, pearson, spearman

#: WMT's own judgements by experts, the customary gold standard.
GOLD = "WMT-MQM"
#: A kind of judgement -> another that followed it, and so cannot say how far it is to be trusted.
_FOLLOWED = {"model": "ESA with suggested marks"}


def places(drawn: Drawn) -> pd.DataFrame:
    """Tabulate each system's mean and place under every protocol, in the order of each ranking.

    Returns protocol, system, mean (in the protocol's unit, higher is better), low, high, rank (1 is best; equal means
    share the better rank), rank_low, rank_high (whole ranks, 95 % of draws) and segments.
    Caveat: places of systems that are nearly equal have intervals that cover less than their level.
    """
    ranks = ranks_of(drawn.scores)
    low, high = inference.interval(drawn.draws)
    rank_low, rank_high = rank_interval(ranks_of(drawn.draws))
    parts = []
    for k, name in enumerate(drawn.protocols):
        columns = {
            "mean": drawn.scores,
            "low": low,
            "high": high,
            "rank": ranks,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "segments": drawn.segments,
        }
        part = pd.DataFrame({"protocol": name, "system": drawn.systems, **{key: of[k] for key, of in columns.items()}})
        parts.append(part.sort_values("rank", kind="stable"))
    return pd.concat(parts, ignore_index=True)


def between(drawn: Drawn) -> pd.DataFrame:
    """Compare every two protocols' rankings of the systems.

    Returns a, b, kind (same or other, by what is asked of people), systems; pearson, spearman and kendall_b of the
    systems' means; same_order (share of pairs of systems that both put into the same order); low and high of kendall_b;
    and opposed: pairs of systems that both put into an order that is sure (the interval of the difference leaves 0
    out), and not into the same.
    """
    first, second = np.triu_indices(len(drawn.protocols), 1)
    x, y = drawn.scores[first], drawn.scores[second]
    tau = kendall_b(x, y)
    low, high = centred_interval(tau, kendall_b(drawn.draws[:, first], drawn.draws[:, second]))
    order = sure_order(drawn)
    names = np.array(drawn.protocols, object)
    kinds = np.array([kind_of(name) for name in names], object)
    return pd.DataFrame(
        {
            "a": names[first],
            "b": names[second],
            "kind": np.where(kinds[first] == kinds[second], "same", "other"),
            "systems": len(drawn.systems),
            "pearson": pearson(x, y),
            "spearman": spearman(x, y),
            "kendall_b": tau,
            "low": low,
            "high": high,
            "same_order": count_pairs(x, y).accuracy_3way(),
            "opposed": (order[first] * order[second] < 0).sum(axis=1),
        }
    )


def moved_by_texts(same: pd.DataFrame, whole: pd.DataFrame) -> pd.DataFrame:
    """Tell how far two protocols' agreement depends on which texts they are compared on, the largest change first.

    same, whole: results of ``between``, on the same segments and on all that each protocol has. Returns a, b, same and
    whole (tau-b) and change (same - whole), of the pairs of protocols that both hold.
    """
    both = same.merge(whole, on=["a", "b"], suffixes=("_same", "_whole"))
    found = both[["a", "b"]].assign(same=both["kendall_b_same"], whole=both["kendall_b_whole"])
    found["change"] = found["same"] - found["whole"]
    return found.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)


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
    low, high = inference.interval(drawn.draws[..., first] - drawn.draws[..., second])
    return (low > 0).astype(int) - (high < 0)


def kind_of(protocol: str) -> str:
    """Return what kind of judgement a protocol asks for; a protocol that nobody knows is a kind of its own."""
    return KINDS.get(protocol, protocol)


def voters(protocols: Sequence[str]) -> np.ndarray:
    """Weigh for each protocol the others that judge its ranking, (protocols, protocols); rows add up to 1.

    Every other kind of judgement has one vote, shared by its protocols; a protocol's own kind has none, or it would be
    praised for its own faults. The model has no vote, and protocols that show the model's suggestions none over it.

    >>> voters(["ESA-1", "ESA-2", "MQM-1", "WMT-DASQM"])[0].tolist()
    [0.0, 0.0, 0.5, 0.5]
    """
    kinds = [kind_of(name) for name in protocols]
    votes = np.zeros((len(kinds), len(kinds)))
    for row, own in enumerate(kinds):
        heard = [kind for kind in dict.fromkeys(kinds) if kind not in (own, "model", _FOLLOWED.get(own))]
        for kind in heard:
            members = np.array([one == kind for one in kinds])
            votes[row, members] = 1 / members.sum() / len(heard)
    return votes


def against(drawn: Drawn, *, gold: str = GOLD) -> pd.DataFrame:
    """Hold each protocol's ranking against the gold standard, and without one against all other kinds of judgement.

    Returns protocol, kind, segments, sure (pairs of systems whose difference leaves 0 out, of ``pairs``); gold,
    gold_low, gold_high (tau-b with the ranking by ``gold``; NaN for itself); others, others_low, others_high (mean
    tau-b with the protocols of other kinds, each kind once, see ``voters``; NaN where there is none).
    Caveat: agreement with others is no proof of being right, for all may be wrong alike; gold is of the kind MQM, so
    other MQM should be nearest to it.
    """
    if gold not in drawn.protocols:
        raise DataError(f"{gold}: no such protocol here. Choose among {', '.join(drawn.protocols)}.")
    votes, chosen = voters(drawn.protocols), drawn.protocols.index(gold)
    values, tried = (_every_two(scores) for scores in (drawn.scores, drawn.draws))
    frame = pd.DataFrame({"protocol": drawn.protocols, "kind": [kind_of(name) for name in drawn.protocols]})
    order = sure_order(drawn)
    frame = frame.assign(segments=drawn.segments.min(axis=1), sure=(order != 0).sum(axis=1), pairs=order.shape[1])
    heard = np.where(votes.any(axis=1), 1, np.nan)
    measured = {
        "gold": (values[:, chosen], tried[..., chosen]),
        "others": ((values * votes).sum(-1) * heard, (tried * votes).sum(-1) * heard),
    }
    for name, (value, draws) in measured.items():
        low, high = centred_interval(value, draws)
        frame[[name, f"{name}_low", f"{name}_high"]] = np.column_stack([value, low, high])
    frame.loc[chosen, ["gold", "gold_low", "gold_high"]] = np.nan
    return frame


def _every_two(scores: np.ndarray) -> np.ndarray:
    """Return tau-b of every two protocols, (..., protocols, protocols)."""
    return kendall_b(scores[..., :, None, :], scores[..., None, :, :])


def kinds_apart(drawn: Drawn) -> pd.DataFrame:
    """Compare rankings of two campaigns of one kind with rankings of two kinds: is it people and texts, or protocols?

    Returns kind (same, other, and same - other), pairs of protocols, kendall_b (mean tau-b), low, high. The model has
    no part in it. A difference near 0 says that two protocols differ no more than two campaigns under one protocol.
    """
    kinds = np.array([kind_of(name) for name in drawn.protocols], object)
    first, second = np.triu_indices(len(kinds), 1)
    people = (kinds[first] != "model") & (kinds[second] != "model")
    masks = {"same": people & (kinds[first] == kinds[second]), "other": people & (kinds[first] != kinds[second])}
    if lost := [name for name, mask in masks.items() if not mask.any()]:
        raise DataError(f"No two protocols here are of {'one kind' if lost == ['same'] else 'two kinds'}. Add one.")
    rows = []
    for scores in (drawn.scores[None], drawn.draws):
        tau = kendall_b(scores[:, first], scores[:, second])
        means = [tau[:, mask].mean(axis=1) for mask in masks.values()]
        rows.append(np.stack([*means, means[0] - means[1]], axis=1))
    low, high = centred_interval(rows[0][0], rows[1])
    pairs = [int(mask.sum()) for mask in masks.values()]
    return pd.DataFrame(
        {
            "kind": ["same", "other", "same - other"],
            "pairs": [*pairs, sum(pairs)],
            "kendall_b": rows[0][0],
            "low": low,
            "high": high,
        }
    )


def clusters(scored: pd.DataFrame, drawn: Drawn, *, alpha: float = 0.05) -> pd.DataFrame:
    """Count clusters, and the pairs of systems that are distinguished: by the customary test, and by draws.

    scored: the judgements that ``drawn`` was drawn from. Returns protocol, pairs; by the signed-rank test, as is
    customary, on matched segments at ``alpha``, one-sided, every segment counted as independent: distinguished and
    clusters; by draws of documents and people (``sure_order``): sure and sure_clusters. A line below a system stands
    where it and all above are distinguished from all below.  Caveat: neither is corrected for many tests.
    """
    rows, order = [], sure_order(drawn)
    for k, name in enumerate(drawn.protocols):
        part = scored[scored["protocol"] == name].assign(src_lang="", tgt_lang="")
        found = ranking.significance_clusters(part, test="wilcoxon", alpha=alpha, item_types=("system",))
        beats = np.zeros((len(drawn.systems),) * 2, int)
        beats[np.triu_indices(len(beats), 1)] = order[k]
        best = np.argsort(-drawn.scores[k], kind="stable")
        lines = complete(((beats - beats.T) > 0)[np.ix_(best, best)])
        rows.append(
            {
                "protocol": name,
                "pairs": order.shape[1],
                "distinguished": found["wins"].sum(),
                "clusters": found["cluster"].max(),
                "sure": (order[k] != 0).sum(),
                "sure_clusters": 1 + lines[:-1].sum(),
            }
        )
    return pd.DataFrame(rows)
