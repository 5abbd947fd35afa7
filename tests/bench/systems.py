"""Systems: strengths from comparisons beside evalica and choix, clusters beside a merge of all pairs."""

from functools import partial

import choix
import evalica
import numpy as np
import pandas as pd
from evalica import Winner
from scipy import stats

from evalkit.human import preferences
from evalkit.human.ranking.lines import significance_clusters
from evalkit.human.ranking.scores import COUNTED
from evalkit.stats import inference

COMPARISONS, SYSTEMS = 10_000, 100


def drawn(ties):
    """Draw answers between systems whose strengths spread by one unit of log odds."""
    rng = np.random.default_rng(7)
    worth = rng.normal(0, 1, SYSTEMS)
    a = rng.integers(0, SYSTEMS, COMPARISONS)
    b = (a + rng.integers(1, SYSTEMS, COMPARISONS)) % SYSTEMS
    won = rng.random(COMPARISONS) < 1 / (1 + np.exp(worth[b] - worth[a]))
    answer = np.where(rng.random(COMPARISONS) < ties, "tie", np.where(won, "a", "b"))
    names = np.char.add("s", np.arange(SYSTEMS).astype(str))
    return pd.DataFrame(
        {
            "system_a": names[a],
            "system_b": names[b],
            "preference": answer,
            "annotator": rng.choice(list("pqrst"), COMPARISONS),
            "src_lang": "x",
            "tgt_lang": "y",
            "doc": rng.choice(list("abcdefghijklmnopqrst"), COMPARISONS),
        }
    )


def same(ours, theirs):
    """Say how far apart two sets of log strengths are."""
    return f"apart by {np.abs(ours - (theirs - theirs.mean())).max():.0e} at most"


def strengths():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    size = f"{COMPARISONS:,} comparisons of {SYSTEMS} systems"
    frame = drawn(0.2)
    asked = [frame["system_a"], frame["system_b"]]
    asked.append(frame["preference"].map({"a": Winner.X, "b": Winner.Y, "tie": Winner.Draw}))
    # evalica is compiled and gives strengths alone, ours makes cells for all that is said of a fit. With ties both take
    # hundredths of a second for 10,000 answers, which no report feels: a quarter of its speed is enough.
    theirs_of = {"half": evalica.bradley_terry, "davidson": evalica.newman}
    for ties, call in theirs_of.items():
        ours = partial(preferences.fit, frame, ties=ties)
        theirs = partial(call, *asked, tolerance=1e-10, limit=100_000)
        fitted = ours()
        told = same(fitted.strength, np.log(theirs().scores[fitted.cells.systems].to_numpy()))
        yield (
            f"strengths, ties {ties}, {size}",
            0.25 if ties == "davidson" else 1,
            ours,
            theirs,
            1,
            f"evalica.{call.__name__}; {told}",
        )
    frame = drawn(0)
    won, names = frame["preference"].eq("a"), sorted({*frame["system_a"], *frame["system_b"]})
    winner, loser = frame["system_a"].where(won, frame["system_b"]), frame["system_b"].where(won, frame["system_a"])
    pairs = list(zip(winner.map(names.index), loser.map(names.index)))
    ours = partial(preferences.fit, frame)
    theirs = partial(choix.opt_pairwise, SYSTEMS, pairs, alpha=0)
    told = same(ours().strength, theirs())
    yield f"strengths, no ties, {size}", 1, ours, theirs, 1, f"choix.opt_pairwise; {told}"


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
    counted = ratings[ratings["item_type"].isin(COUNTED)]
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


def clusters():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    ratings = campaign()
    tests = {
        "mann-whitney": lambda a, b: stats.mannwhitneyu(a, b, alternative="greater").pvalue,
        "wilcoxon": lambda a, b: stats.wilcoxon(a, b, alternative="greater", correction=True).pvalue,
    }
    for name, test in tests.items():
        ours, theirs = partial(significance_clusters, ratings, test=name), partial(by_merge, ratings, test)
        told = ours().groupby("pair").apply(lambda rows: dict(zip(rows["system"], rows["cluster"], strict=True)))
        same = "same clusters" if told.to_dict() == theirs() else "other clusters"
        matched = "" if name != "mann-whitney" else ", on matched segments only"
        told = f"pandas merge and scipy{matched}; {same}"
        yield f"clusters, {name}, {ROWS:,} simulated judgements", 6, ours, theirs, 1, told
    difference = np.round(np.random.default_rng(7).normal(1, 20, (1000, 400)))
    ours = partial(inference.signed_rank, difference)
    theirs = partial(lambda rows: [stats.wilcoxon(row, alternative="greater").pvalue for row in rows], difference)
    same = "same p-values" if np.allclose(ours(), theirs()) else "other p-values"
    yield ("signed ranks, 1,000 tests of 400 segments", 3, ours, theirs, 1, f"scipy test by test; {same}")


def cases():
    """Yield all of them."""
    yield from strengths()
    yield from clusters()
