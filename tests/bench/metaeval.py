"""Metrics against humans on WMT23: beside plain loops that do step by step what mt-metrics-eval does, with less fuss.

What mt-metrics-eval itself took is told as reported, on another machine; here only the loops are measured; ``peer``
runs it where a clone of its repository is. The loops' calibration of ties is about twice as fast as its own, which
keeps an object per pair.
"""

import itertools

import numpy as np
from scipy import stats

from evalkit import data
from evalkit.metrics import significance, statistics
from evalkit.metrics.scores import align

#: Seconds reported for mt-metrics-eval at commit 68a481a, by task and pair.
REPORTED = {
    "acc_eq": {"eng-deu": "12 s", "zho-eng": "53 s"},
    "system pearson": {"eng-deu": "513 s", "zho-eng": "444 s"},
    "segment pearson": {"eng-deu": "633 s", "zho-eng": "1,131 s"},
    "acc_eq test": {"eng-deu": "8 h", "zho-eng": "14.5 h"},
    "spa test": {"eng-deu": "3.5 h", "zho-eng": "14.6 h"},
}


def aligned(src, tgt):
    """Align segments and systems of a pair with MQM."""
    tables = []
    for name in ("wmt23-metrics", "wmt23-human", "wmt23-metrics-systems", "wmt23-human-systems"):
        table = data.load(name)
        table = table[(table["src_lang"] == src) & (table["tgt_lang"] == tgt)]
        tables.append(table[table["metric"] == "mqm"] if "human" in name else table)
    return align(*tables[:2], without=("refA", "synthetic_ref")), align(*tables[2:], without=("refA", "synthetic_ref"))


def loop_calibration(scores):
    """Sort the pairs of one metric as objects, and let them become ties one after the other."""
    metric, human = scores.values[0].T, scores.human.T
    pairs, right, sizes = [], {}, {}
    for item, (x, y) in enumerate(zip(metric, human)):
        if np.isnan(y).any():
            continue
        for i, j in itertools.combinations(range(len(x)), 2):
            sign, gold = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
            pairs.append((abs(x[i] - x[j]), item, sign == gold, gold == 0))
            right[item], sizes[item] = right.get(item, 0) + (sign == gold), sizes.get(item, 0) + 1
    total = sum(right[item] / sizes[item] for item in right)
    best = total
    for _, item, before, after in sorted(pairs):
        total += (int(after) - int(before)) / sizes[item]
        best = max(best, total)
    return best / len(right)


def loop_swaps(values, human, swaps, statistic):
    """Swap the scores of two standardised metrics so many times."""
    rng = np.random.default_rng(1)
    a, b = (stats.zscore(each, axis=None) for each in values)
    observed = statistic(a, human) - statistic(b, human)
    hits = 0
    for _ in range(swaps):
        mask = rng.binomial(1, 0.5, a.shape)
        one, other = mask * a + (1 - mask) * b, (1 - mask) * a + mask * b
        hits += statistic(one, human) - statistic(other, human) >= observed
    return hits / swaps


def loop_pairs(scores, swaps):
    """Swap the relations of pairs of systems, segment by segment, and count anew."""
    rng = np.random.default_rng(1)
    full = np.isfinite(scores.human).all(axis=0)
    human, *metrics = (np.moveaxis(s[:, full], 1, 0) for s in (scores.human, scores.values[0], scores.values[1]))
    gold, *signs = (np.sign(side[:, :, None] - side[:, None, :]) for side in (human, *metrics))
    hits = 0
    for _ in range(swaps):
        difference = []
        for g, a, b in zip(gold, *signs):
            mask = np.triu(rng.binomial(1, 0.5, g.shape))
            mask = mask + mask.T
            one, other = mask * a + (1 - mask) * b, (1 - mask) * a + mask * b
            difference.append((one == g).mean() - (other == g).mean())
        hits += np.mean(difference) >= 0
    return hits / swaps


def soft_accuracy(scores, human, flips=1000):
    """Test all pairs of systems anew, for metric and humans."""
    signs = 2 * np.rint(np.random.default_rng(4).random((flips, scores.shape[1]))) - 1
    distance = []
    sides = [(signs @ side.T, side.sum(axis=1)) for side in (scores, human)]
    for i, j in itertools.combinations(range(len(scores)), 2):
        p = [np.mean(null[:, i] - null[:, j] >= total[i] - total[j]) for null, total in sides]
        distance.append(abs(p[0] - p[1]))
    return 1 - np.mean(distance)


def cases():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    if not data.available("wmt23-metrics"):
        print(
            "Metrics against humans: not measured, because wmt23-metrics is not here. Run `evalkit data fetch` first."
        )
        return
    for src, tgt in (("eng", "deu"), ("zho", "eng")):
        pair = f"{src}-{tgt}"
        segment, system = aligned(src, tgt)
        cells, full = segment.judged, segment.judged.all(axis=0)
        metrics, n = len(segment.metrics), len(system.systems)
        two, systems = segment.values[:2], system.values[:2, :, 0]
        pairs, all_pairs = metrics * (metrics - 1) // 2, len(system.metrics) * (len(system.metrics) - 1) // 2

        def told(task, pair=pair):
            return f"a plain loop; mt-metrics-eval, reported: {REPORTED[task][pair]}"

        yield (
            f"{pair}: acc_eq with calibration, {metrics} metrics",
            150,
            lambda s=segment: statistics.acc_eq(s),
            lambda s=segment: loop_calibration(s),
            1 / metrics,
            told("acc_eq"),
        )
        yield (
            f"{pair}: system Pearson, all 2^{n} swaps, {all_pairs} pairs",
            3000,
            lambda s=system: significance.perm_both(s, statistic="pearson"),
            lambda s=systems, h=system.human[:, 0]: loop_swaps(s, h, 1000, lambda x, y: stats.pearsonr(x, y)[0]),
            1 / all_pairs,
            told("system pearson") + " for 1,000 swaps, as the loop",
        )
        yield (
            f"{pair}: segment Pearson, 1,000 swaps, {pairs} pairs",
            3000,
            lambda s=segment: significance.perm_both(s, statistic="pearson"),
            lambda s=two[:, cells], h=segment.human[cells]: loop_swaps(s, h, 200, lambda x, y: stats.pearsonr(x, y)[0]),
            0.2 / pairs,
            told("segment pearson"),
        )
        yield (
            f"{pair}: test of acc_eq, all swaps of pairs, {pairs} pairs",
            5000,
            lambda s=segment: significance.perm_both(s, statistic="acc_eq"),
            lambda s=segment: loop_pairs(s, 10),
            0.01 / pairs,
            told("acc_eq test") + " for 1,000 swaps, as the loop",
        )
        yield (
            f"{pair}: test of SPA, 10 of 1,000 swaps, {pairs} pairs",
            100,
            lambda s=segment: significance.perm_both(s, statistic="spa", draws=10),
            lambda s=two[:, :, full], h=segment.human[:, full]: loop_swaps(s, h, 10, soft_accuracy),
            1 / pairs,
            told("spa test") + " for all 1,000",
        )
