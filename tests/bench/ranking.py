"""Clusters of systems: all pairs of a campaign's systems at once, beside a merge of the pairs; time and peak memory."""

import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.human import ranking
from evalkit.stats import inference

ROWS = 236_000


def campaign():
    """Simulate a campaign somewhat larger than WMT22's into English: 7 pairs, 12 systems, 2,000 segments."""
    rng = np.random.default_rng(7)
    pair, system, segment = rng.integers(0, 7, ROWS), rng.integers(0, 12, ROWS), rng.integers(0, 2000, ROWS)
    score = np.clip(np.round(70 - 0.5 * system + rng.normal(0, 25, ROWS)), 0, 100)
    names = np.array(["ces", "deu", "jpn", "liv", "rus", "ukr", "zho"])
    return pd.DataFrame(
        {
            "src_lang": names[pair],
            "tgt_lang": "eng",
            "system": np.char.add("system-", system.astype(str)),
            "segment": segment.astype(str),
            "score": score,
            "item_type": "system",
        }
    )


def by_merge(ratings, test):
    """Merge every segment's systems with one another, as WMT's own script does, and test each pair of systems."""
    counted = ratings[ratings["item_type"].isin(ranking.COUNTED)]
    languages = ["src_lang", "tgt_lang"]
    means = counted.groupby([*languages, "system", "segment"])["score"].mean().reset_index()
    both = means.merge(means, on=[*languages, "segment"])
    both = both[both["system_x"] != both["system_y"]]
    grouped = both.groupby([*languages, "system_x", "system_y"])[["score_x", "score_y"]]
    p = grouped.apply(lambda t: test(t["score_x"], t["score_y"])).rename("p").reset_index()
    scores = means.groupby([*languages, "system"])["score"].mean()
    return lines(p, scores)


def lines(p, scores):
    """Number the clusters from the p-values of all ordered pairs of systems."""
    found = {}
    for pair, own in scores.groupby(["src_lang", "tgt_lang"]):
        order = own.sort_values(ascending=False).index.get_level_values("system")
        rows = p[(p["src_lang"] == pair[0]) & (p["tgt_lang"] == pair[1])]
        beats = rows.pivot(index="system_x", columns="system_y", values="p").loc[order, order].lt(0.05).to_numpy()
        ends = [beats[: k + 1, k + 1 :].all() for k in range(len(order))]
        found["-".join(pair)] = dict(zip(order, 1 + np.cumsum([0, *ends[:-1]]), strict=True))
    return found


def peak(call):
    """Return the most megabytes that a call held at once, arrays included."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most


def cases():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    ratings = campaign()
    tests = {
        "mann-whitney": lambda a, b: stats.mannwhitneyu(a, b, alternative="greater").pvalue,
        "wilcoxon": lambda a, b: stats.wilcoxon(a, b, alternative="greater", correction=True).pvalue,
    }
    for name, test in tests.items():
        ours = partial(ranking.significance_clusters, ratings, test=name)
        theirs = partial(by_merge, ratings, test)
        told = ours().groupby("pair").apply(lambda rows: dict(zip(rows["system"], rows["cluster"], strict=True)))
        same = "same clusters" if told.to_dict() == theirs() else "other clusters"
        matched = "" if name != "mann-whitney" else ", on matched segments only"
        mine, other = peak(ours), peak(theirs)
        memory = f"peak {mine:.0f} MB, theirs {other:.0f} MB, {other / mine:.1f}x (goal 3x)"
        yield (
            f"clusters, {name}, {ROWS:,} simulated judgements",
            6,
            ours,
            theirs,
            1,
            f"pandas merge and scipy{matched}; {same}; {memory}",
        )
    difference = np.round(np.random.default_rng(7).normal(1, 20, (1000, 400)))
    ours = partial(inference.signed_rank, difference)
    theirs = partial(lambda rows: [stats.wilcoxon(row, alternative="greater").pvalue for row in rows], difference)
    same = "same p-values" if np.allclose(ours(), theirs()) else "other p-values"
    yield ("signed ranks, 1,000 tests of 400 segments", 3, ours, theirs, 1, f"scipy test by test; {same}")
