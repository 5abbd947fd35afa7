"""Metrics against humans on WMT23: beside plain loops that do step by step what mt-metrics-eval does, with less fuss.

mt-metrics-eval itself took 12 s to 53 s for the calibration of ties of a pair, 7 to 19 minutes for 1,000 swaps, and 3.5
to 14.6 hours for the tests of acc_eq and SPA, as reported from another machine; ``peer`` runs it where a clone of its
repository is. The loops' calibration of ties is about twice as fast as its own, which keeps an object per pair.
"""

import itertools
from functools import partial

import numpy as np
from scipy import stats

from evalkit import data
from evalkit.metrics import significance, statistics
from evalkit.metrics.scores import align

LOOP = "a plain loop"


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


def pearson(x, y):
    """Correlate two lists of numbers."""
    return stats.pearsonr(x, y)[0]


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

        ours, theirs = partial(statistics.acc_eq, segment), partial(loop_calibration, segment)
        yield f"{pair}: acc_eq with calibration, {metrics} metrics", 150, ours, theirs, 1 / metrics, LOOP
        ours = partial(significance.perm_both, system, statistic="pearson")
        theirs = partial(loop_swaps, systems, system.human[:, 0], 1000, pearson)
        yield f"{pair}: system Pearson, all 2^{n} swaps, {all_pairs} pairs", 3000, ours, theirs, 1 / all_pairs, LOOP
        ours = partial(significance.perm_both, segment, statistic="pearson")
        theirs = partial(loop_swaps, two[:, cells], segment.human[cells], 200, pearson)
        yield f"{pair}: segment Pearson, 1,000 swaps, {pairs} pairs", 3000, ours, theirs, 0.2 / pairs, LOOP
        ours = partial(significance.perm_both, segment, statistic="spa", draws=10)
        theirs = partial(loop_swaps, two[:, :, full], segment.human[:, full], 10, soft_accuracy)
        yield f"{pair}: test of SPA, 10 of 1,000 swaps, {pairs} pairs", 100, ours, theirs, 1 / pairs, LOOP
