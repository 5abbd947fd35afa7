"""People and plain formulas as contestants of metrics, and what a metric adds to few human scores."""

import itertools
import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import Ridge

from evalkit import DataError
from evalkit.data import stand_ins
from evalkit.human import protocols
from evalkit.metrics import bounds, ppi, scores, statistics
from tests.makers import metric_scores, named_scores


@pytest.fixture(scope="module")
def tables():
    judged, released = stand_ins.stand_in("wmt23-protocols"), stand_ins.stand_in("wmt23-protocols-released")
    scored = protocols.scores(judged, released, stand_ins.stand_in("wmt23-human"))
    metrics = stand_ins.stand_in("wmt23-metrics")
    few = metrics[metrics["metric"].isin(["sim-metric-05", "sim-metric-40"])]
    return scored, few, stand_ins.stand_in("wmt23-outputs")


@pytest.fixture(scope="module")
def entered(tables):
    return bounds.contest(*tables, gold="WMT-MQM")


def test_a_metric_passes_only_where_the_paired_difference_says_so(entered):
    segments, kinds = entered
    table, passed = bounds.ceiling({"WMT-MQM": entered}, resamples=200, seed=7)
    found = passed.query("statistic == 'segment acc_eq'").reset_index(drop=True)
    rows, drawn = statistics.draws(segments, resamples=200, documents=True)
    place = {row.metric: row.Index for row in rows.itertuples() if row.statistic == "acc_eq"}
    value = table[table["statistic"] == "segment acc_eq"].set_index("contestant")["value"]
    metrics = [name for name, kind in kinds.items() if kind == "metric"]
    for row in found.itertuples():
        own = drawn[:, place[row.person]]
        lows = [np.percentile(drawn[:, place[name]] - own, 2.5) for name in metrics]
        assert (row.metrics, row.surely) == (len(metrics), sum(low > 0 for low in lows))
        assert row.surely <= row.above <= row.metrics
        assert row.difference == pytest.approx(value[row.best] - row.value)


def test_a_segment_that_one_contestant_left_out_is_out_for_all(tables, entered):
    scored, metrics, outputs = tables
    segments = entered[0]
    kept = segments.segments[0].rsplit(":", 1)[1]
    gone = (metrics["metric"] == "sim-metric-05") & (metrics["segment"] == kept) & (metrics["src_lang"] == "eng")
    one = gone & (metrics["system"] == segments.systems[3])
    assert one.sum() == 1
    beside = metrics[metrics["system"] == segments.systems[0]].assign(system="refA")  # metrics alone score references
    again, _ = bounds.contest(scored, pd.concat([metrics, beside]), outputs, gold="WMT-MQM")
    np.testing.assert_array_equal(again.values, segments.values)
    fewer, _ = bounds.contest(scored, metrics[~one], outputs, gold="WMT-MQM")
    assert set(segments.segments) - set(fewer.segments) == {segments.segments[0]}


def test_what_cannot_be_is_refused(tables, entered):
    scored, metrics, outputs = tables
    fewer = metrics[metrics["system"] != metrics["system"].iloc[0]]
    for words, call in {
        "whole systems": lambda: bounds.measures(named_scores(np.ones((1, 2)), np.ones(2))),
        "No segment": lambda: bounds.contest(scored, fewer, outputs, gold="MQM-1"),
        "3 judged": lambda: ppi.mean([1, 2], [1, 2], [1, 2]),
        "'magic'": lambda: ppi.mean([1, 2, 3], [1, 2, 3], [1, 2], method="magic"),
        "three segments": lambda: ppi.pool(pooled(0.5, segments=2), "m"),
        "fewer than ten": lambda: ppi.compare_choices(known_set(8)[0], {"eng-deu": "m"}, texts()[0], budgets=[5]),
        "5 segments": lambda: ppi.compare_choices({}, {}, texts()[0], budgets=[4, 20]),
    }.items():
        with pytest.raises(DataError, match=words):
            call()


# --- sentinels ---


def test_a_cross_validated_ridge_is_scikit_learns_and_never_sees_its_own_document():
    rng = np.random.default_rng(5)
    inputs, documents = rng.normal(size=(40, 3)), [f"d{n // 4}" for n in range(40)]
    target = inputs @ [1.0, -2, 0.5] + rng.normal(size=40)
    target[7] = np.nan
    found = bounds.cross_validated(inputs, target, documents)
    part = np.array([int(name[1:]) for name in documents]) % 5
    train = (part != 2) & np.isfinite(target)
    scaled = (inputs - inputs[train].mean(axis=0)) / inputs[train].std(axis=0)
    model = Ridge(alpha=1.0).fit(scaled[train], target[train])
    assert found[part == 2] == pytest.approx(model.predict(scaled[part == 2]), abs=1e-9)
    other = np.where(np.array(documents) == "d3", target + 50, target)
    again = bounds.cross_validated(inputs, other, documents)
    assert again[12:16] == pytest.approx(found[12:16], abs=1e-12)
    assert not np.allclose(again, found)
    assert np.isnan(bounds.cross_validated(inputs, target, ["one"] * 40)).all()


def texts(systems=4, segments=12):
    """Translations whose sources get longer, and human scores that fall with the length of the source."""
    rows = [
        (f"s{i}", f"d{j // 2}", str(j), "word " * (1 + j % 6), f"{'x' * (i + j)} {j}")
        for i, j in itertools.product(range(systems), range(segments))
    ]
    outputs = pd.DataFrame(rows, columns=["system", "doc", "segment", "source", "hypothesis"])
    outputs = outputs.assign(src_lang="eng", tgt_lang="deu")
    score = -outputs["source"].str.len() + np.random.default_rng(2).normal(size=len(outputs))
    return outputs, outputs.drop(columns=["source", "hypothesis"]).assign(metric="mqm", score=score)


def test_sentinels_see_one_side_and_fool_statistics_over_all_segments_but_none_within():
    outputs, people = texts()
    blind = bounds.sentinels(outputs, people)
    assert set(blind["metric"]) == {"source length", "length", "source only", "output only"}
    for name in ("source length", "source only"):
        own = blind[blind["metric"] == name]
        assert (own.groupby("segment")["score"].nunique() == 1).all(), "a source has one score"
    aligned = scores.align(blind, people, data="x")
    found = bounds.every_grouping(aligned, {f"d{n}": "news" if n < 3 else "chat" for n in range(6)})
    assert set(found["level"]) == {"system", "segment", "document", "domain"}
    weak = found.assign(value=0.3)[found["metric"] == "length"].assign(metric="real")
    floor = bounds.beaten(weak, found).set_index([*bounds.STATISTIC, "sentinel"])
    assert floor.loc[("segment", "pearson", "none", "source length"), "above"] == 1
    assert floor.loc[("segment", "pearson", "item", "source length"), ["value", "share"]].tolist() == [0, 0]
    alone = bounds.every_grouping(metric_scores(1, (3, 6), length=1), {f"d{n}": "news" for n in range(6)})
    assert set(alone["level"]) == {"system", "segment"}, "a document a segment and one domain say nothing new"


# --- whether a judge's scores mean what people's do ---

JUDGES = ("GEMBA-MQM", "other")
OWN_UNIT = {"same_unit": ["GEMBA-MQM"]}


def judged(seed, *, documents=8, missing=0.1):
    """Draw whole numbers below 0 of five systems in documents of four segments."""
    rng = np.random.default_rng(seed)
    human = -rng.integers(0, 6, (5, 4 * documents)).astype(float)
    values = np.round(0.5 * human - 2 + rng.normal(0, 1, (2, *human.shape)))
    for side in (values, human):
        side[rng.random(side.shape) < missing] = np.nan
    return named_scores(values, human, length=4, metrics=JUDGES)


def value_of(scores, metric="GEMBA-MQM"):
    found = bounds.measures(scores, **OWN_UNIT, resamples=2)
    return found[found["metric"] == metric].set_index("measure")["value"]


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_every_measure_is_what_scipy_and_a_plain_loop_make_of_it(seed):
    scores = judged(seed)
    value, x, y = value_of(scores), scores.values[0], scores.human
    there = np.isfinite(x) & np.isfinite(y)
    line = stats.linregress(y[there], x[there])
    assert value["bias"] == pytest.approx(x[there].mean() - y[there].mean())
    assert value["spread"] == pytest.approx(x[there].std(ddof=1) / y[there].std(ddof=1))
    assert value["slope"] == pytest.approx(line.slope)
    pairs = list(itertools.combinations(range(5), 2))
    tied, people = (
        np.concatenate([(side[a] == side[b])[there[a] & there[b]] for a, b in pairs]).mean() for side in (x, y)
    )
    assert value[["ties", "more ties"]].tolist() == pytest.approx([tied, tied - people])
    assert set(value_of(scores, "other").index).isdisjoint({"bias", "spread", "slope"})
    assert bounds.measures(scores, resamples=2)["cells"].iloc[0] == there.sum()


def test_a_drift_that_was_planted_is_found_and_single_segments_tell_none():
    place = np.tile(np.linspace(0, 1, 4), 40)
    rng = np.random.default_rng(1)
    values = 3 * place + rng.normal(0, 0.5, (1, 5, 160))
    scores = named_scores(values, rng.normal(size=(5, 160)), length=4)
    found = bounds.measures(scores, resamples=100).set_index("measure")
    assert found.loc["drift", "value"] == pytest.approx(3 / values.std(), rel=0.05)
    assert found.loc["drift", "low"] < 3 / values.std() < found.loc["drift", "high"]
    fit = stats.linregress(np.tile(place, 5), (values / values.std()).ravel())
    assert found.loc["drift", "value"] == pytest.approx(fit.slope)
    alone = bounds.measures(scores, documents=[str(n) for n in range(160)], resamples=2)
    assert set(alone["measure"]) == {"ties", "more ties"}


def test_intervals_draw_documents():
    scores = judged(7, documents=30, missing=0)
    found = bounds.measures(scores, **OWN_UNIT, resamples=2000).set_index(["metric", "measure"])
    gaps = (scores.values[0] - scores.human).mean(axis=0).reshape(30, 4).mean(axis=1)
    row = found.loc["GEMBA-MQM", "bias"]
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * gaps.std() / np.sqrt(30), rel=0.1)
    one = bounds.measures(scores, **OWN_UNIT, documents=["d"] * 120, resamples=9).set_index("measure")
    assert (one["low"] == one["high"]).all()


# Few human scores: plain readings of the papers, laws, coverage, and what comes of choosing what people judge.

# --- Prediction-powered inference: a plain reading of the papers, laws, and coverage on simulated segments


def sample(seed, slope=1.0):
    rng = np.random.default_rng(seed)
    n, others = int(rng.integers(8, 60)), int(rng.integers(5, 200))
    quality = rng.normal(size=n + others)
    f = slope * quality + rng.choice([0.3, 2]) * rng.normal(size=n + others)
    return 3 * quality[:n] + rng.normal(size=n), f[:n], f[n:]


def by_paper(y, f, g, method):
    """Read the estimators one sum at a time: PPI's and PPI++'s as published, and a regression's for the rest.

    On 40 samples of this kind, PPI and PPI++ were also equal to ppi-python 0.2.3 in the last digits.
    """
    n, others = len(y), len(g)
    mean_y, mean_f, mean_g = sum(y) / n, sum(f) / n, sum(g) / others
    if method == "control variate":
        slope, intercept, *_ = stats.linregress(f, y)
        everywhere = sum([*f, *g]) / (n + others)
        return intercept + slope * everywhere, slope * others / (n + others)
    weight = {"classical": 0.0, "PPI": 1.0}.get(method)
    if weight is None:
        covariance = sum((a - mean_y) * (b - mean_f) for a, b in zip(y, f, strict=True)) / n
        everything = [*f, *g]
        centre = sum(everything) / (n + others)
        variance = sum((one - centre) ** 2 for one in everything) / (n + others - 1)
        weight = min(max(covariance / ((1 + n / others) * variance), 0), 1)
    rectifier = [a - weight * b for a, b in zip(y, f, strict=True)]
    return weight * mean_g + sum(rectifier) / n, weight


def spread(values):
    centre = sum(values) / len(values)
    return sum((one - centre) ** 2 for one in values) / len(values)


@given(st.integers(0, 10**6), st.sampled_from([1.0, 3.0, -1.0]), st.sampled_from(ppi.METHODS))
def test_it_is_what_the_papers_say(seed, slope, method):
    y, f, g = sample(seed, slope)
    found = ppi.mean(y, f, g, method=method)
    value, weight = by_paper(list(y), list(f), list(g), method)
    assert float(found.value) == pytest.approx(value)
    assert float(found.weight) == pytest.approx(weight)
    n, lost = len(y), {"classical": 1, "control variate": 2}.get(method, 0)
    variance = spread([a - weight * b for a, b in zip(y, f, strict=True)]) / (n - lost)
    variance += spread([weight * one for one in g]) / len(g)
    reach = (stats.t(n - lost).ppf(0.975) if lost else stats.norm.ppf(0.975)) * math.sqrt(variance)
    assert (float(found.low), float(found.high)) == pytest.approx((value - reach, value + reach))


@pytest.mark.parametrize("method", ["control variate", "PPI++"])
def test_a_metric_that_does_not_vary_changes_nothing(method):
    y = np.array([3.0, 5, 8, 1])
    found = ppi.mean(y, np.ones(4), np.ones(9), method=method)
    assert (float(found.value), float(found.weight)) == (y.mean(), 0.0)


def pooled(r, systems=4, segments=400, seed=5):
    rng = np.random.default_rng(seed)
    human = rng.normal(0, 1, (systems, segments)) + rng.normal(0, 0.3, (systems, 1))
    metric = r * human + np.sqrt(1 - r**2) * rng.normal(0, 1, human.shape)
    return named_scores(metric[None], human, length=1, metrics=("m",))


@pytest.mark.parametrize("r", [0.0, 0.6, 0.9])
def test_intervals_hold_and_the_variance_falls_by_r_squared(r):
    scores = pooled(r)
    own, what = ppi.pool(scores, "m")
    found = ppi.simulate(own, humans=100, others=20000, resamples=1500)
    found = found.assign(what=np.resize(what, len(found))).groupby(["what", "method"])
    found = found[["coverage", "variance_ratio"]].mean()
    saved = ppi.saved(scores).set_index("what")["saved"]
    for what in ppi.WHAT:
        assert found.loc[(what, "classical"), "variance_ratio"] == 1
        for method in ("control variate", "PPI++"):
            assert found.loc[(what, method), "coverage"] == pytest.approx(0.95, abs=0.025)
            assert found.loc[(what, method), "variance_ratio"] == pytest.approx(1 - saved[what], abs=0.06)


def test_pools_hold_differences_of_systems_and_lines_undo_units():
    scores = pooled(0.9, segments=50)
    own, what = ppi.pool(scores, "m")
    best = np.argsort(-scores.human.mean(axis=1))
    assert own.systems[:2] == tuple(scores.systems[place] for place in best[:2])
    assert own.human[4] == pytest.approx(scores.human[best[0]] - scores.human[best[1]])
    assert list(what).count("difference of two systems") == 6
    fit = stats.linregress(scores.values[0].ravel(), scores.human.ravel())
    moved = ppi.in_human_units(own, what, scores).values[0]
    assert moved[0] == pytest.approx(fit.slope * own.values[0][0] + fit.intercept)
    assert moved[4] == pytest.approx(moved[0] - moved[1])


def stratified(y, f, g, strata, *, tuned):
    """Estimate one sample stratum by stratum: its segments, each drawn once, are all that there is."""
    judged = np.arange(len(y) + len(g)) < len(y)
    human, metric = np.append(y, np.full(len(g), np.mean(y))), np.append(f, g)
    pooled = named_scores(metric[None, None], human[None])
    labels = np.unique([*map(str, strata[0]), *map(str, strata[1])], return_inverse=True)[1][None]
    sums = ppi._sums(pooled, labels, judged[None].astype(float), (~judged)[None].astype(float))
    found = ppi.estimate(sums, method=ppi.STRATA[-1 if tuned else 0])
    return ppi.Estimate(*(end[0, 0] + human.mean() for end in found[:3]), found.weight[0, 0])


def by_stratum(y, f, g, strata, tuned):
    """Estimate stratum by stratum, one sum at a time; with ppi-python's point estimate in each, as checked by hand."""
    size, value, variance, freedom, means = len(y) + len(g), 0.0, 0.0, 0, []
    for name in sorted(set(strata[0]) | set(strata[1])):
        own = [i for i, label in enumerate(strata[0]) if label == name]
        other = [g[i] for i, label in enumerate(strata[1]) if label == name]
        share, here = (len(own) + len(other)) / size, ([y[i] for i in own], [f[i] for i in own], other)
        mean_k, weight = by_paper(*here, "PPI++") if tuned else (sum(here[0]) / len(own), 0.0)
        lost = 2 if tuned else 1
        within = spread([a - weight * b for a, b in zip(*here[:2], strict=True)]) * len(own) / (len(own) - lost)
        variance += share**2 * (within / len(own) + weight**2 * (spread(other) / len(other) if tuned else 0))
        value, freedom = value + share * mean_k, freedom + len(own) - lost
        means.append((share, mean_k))
    variance += sum(share * (mean_k - value) ** 2 for share, mean_k in means) / size
    return value, stats.t(freedom).ppf(0.975) * math.sqrt(variance)


@given(st.integers(0, 10**6), st.booleans())
def test_strata_are_estimated_one_by_one_and_put_together_by_their_shares(seed, tuned):
    rng = np.random.default_rng(seed)
    n, others = int(rng.integers(24, 60)), int(rng.integers(24, 90))
    strata = [[str(one) for one in np.resize(np.arange(3), size)] for size in (n, others)]
    quality = rng.normal(size=n + others) + np.array([int(one) for side in strata for one in side])
    f = quality + rng.normal(size=n + others)
    y = 4 * quality[:n] + rng.normal(size=n)
    found = stratified(y, f[:n], f[n:], strata, tuned=tuned)
    value, reach = by_stratum(list(y), list(f[:n]), list(f[n:]), strata, tuned)
    assert float(found.value) == pytest.approx(value)
    assert (float(found.low), float(found.high)) == pytest.approx((value - reach, value + reach))
    renamed = [["abc"[int(one)] for one in side] for side in strata]
    again = stratified(7 + y, f[:n], f[n:], renamed, tuned=tuned)
    assert float(again.low) == pytest.approx(7 + float(found.low))  # names do not matter, and a shift moves all alike


def test_a_stratum_with_too_few_judged_joins_its_neighbour():
    rng = np.random.default_rng(2)
    y, f, g = rng.normal(size=12), rng.normal(size=12), rng.normal(size=30)
    few = ["a"] + ["b"] * 6 + ["c"] * 5, ["a"] * 10 + ["b"] * 8 + ["c"] * 6 + ["d"] * 6
    joined = ["b"] * 7 + ["c"] * 5, ["b"] * 18 + ["c"] * 12
    for tuned in (False, True):
        found, plain = (stratified(y, f, g, strata, tuned=tuned) for strata in (few, joined))
        assert [float(each) for each in found] == pytest.approx([float(each) for each in plain])


def test_draws_are_those_of_campaigns_drawn_one_by_one():
    own, _ = ppi.pool(pooled(0.8, segments=120), "m")
    strata, rng = ppi.strata_of(own), np.random.default_rng(5)
    size = own.human.shape[1]
    judged, rest = rng.multinomial(40, [1 / size] * size, 9), rng.multinomial(size, [1 / size] * size, 9)
    found = ppi._estimates(own, judged, rest, strata)
    strata |= {ppi.STRATA[3]: strata[ppi.STRATA[0]]}
    for way, (one, row) in itertools.product(found, [(0, 0), (8, 7)]):
        here, there = (np.repeat(np.arange(size), counts[one]) for counts in (judged, rest))
        sides = own.human[row, here], own.values[0, row, here], own.values[0, row, there]
        if way in strata:
            own_labels = strata[way][row, here], strata[way][row, there]
            once = stratified(*sides, own_labels, tuned=way == "strata and PPI++")
        else:
            once = ppi.mean(*sides, method=way)
        assert [float(each) for each in once] == pytest.approx([each[one, row] for each in found[way]], rel=1e-9)


def test_strata_are_cut_by_the_metric_by_documents_and_by_domains():
    segments = ("a:1", "a:2", "b:1", "b:2", "c:x:1", "c:x:2")
    values = np.array([[[1.0, 2, 3, 4, 5, 6], [0] * 6]])
    own, _ = ppi.pool(named_scores(values, np.zeros((2, 6)), metrics=("m",), segments=segments), "m")
    found = ppi.strata_of(own, domains={"a": "news", "b": "talk", "c:x": "news"})
    assert found["strata of domains"][0].tolist() == [0, 0, 1, 1, 0, 0]
    a = own.systems.index("s0")
    assert found["strata of the metric"][a].tolist() == [0, 0, 1, 2, 3, 3]
    assert found["strata of documents"][a].tolist() == [0, 0, 1, 1, 3, 3]


# --- Ways to choose segments: plain readings of their definitions, laws of what comes of a choice, and odds that hold


@given(st.integers(0, 10**6), st.integers(2, 7), st.booleans())
def test_utilities_are_what_their_definitions_say(seed, systems, coarse):
    rng = np.random.default_rng(seed)
    metric = rng.integers(0, 3, (systems, 12)).astype(float) if coarse else rng.normal(size=(systems, 12))
    means = metric.mean(axis=1)
    for place, own in enumerate(metric.T):
        assert metric.var(axis=0)[place] == pytest.approx(np.var(own))
        level = len(set(own)) == 1 or len(set(means)) == 1
        tau = 0 if level else stats.kendalltau(own, means, variant="c").statistic
        assert ppi.consistency(metric)[place] == pytest.approx(tau)


@given(st.lists(st.lists(st.text("ab ", max_size=8), min_size=3, max_size=3), min_size=1, max_size=4))
def test_diversity_is_one_less_the_mean_f_score_of_words(texts):
    def overlap(one, two):
        a, b = Counter(one.split()), Counter(two.split())
        return 2 * (a & b).total() / (a.total() + b.total()) if a and b else 1.0

    expected = [-np.mean([overlap(*pair) for pair in combinations(each, 2)]) for each in texts]
    assert ppi.diversity(texts).tolist() == pytest.approx(expected)


def plainly(human, chosen, weight):
    """Say what comes of a choice, one pair of systems at a time."""
    n, values = len(chosen), []
    for one, two in combinations(range(len(human)), 2):
        gaps = human[one] - human[two]
        gaps = gaps if gaps.mean() >= 0 else -gaps
        found, true = float(gaps[chosen] @ weight), gaps.mean()
        error = np.sqrt(((gaps[chosen] - found) ** 2 * weight**2).sum() * n / (n - 1))
        p = stats.norm.sf(found / error), stats.norm.sf(true / stats.sem(gaps))
        values.append((1 - abs(p[0] - p[1]), (found > 0) == (true > 0), found - true, found, true, (found - true) ** 2))
    agreement, accuracy, bias, found, true, square = np.mean(values, axis=0)
    means = np.mean(human[:, chosen] @ weight - human.mean(axis=1))
    return agreement, accuracy, means, bias, found / true, np.sqrt(square)


@given(st.integers(0, 10**6), st.booleans())
def test_what_comes_of_a_choice_is_computed_pair_by_pair(seed, even):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(5, 40)) + rng.normal(size=(5, 1))
    chosen = rng.permutation(40)[:15]
    weight = np.full(15, 1 / 15) if even else rng.dirichlet(np.ones(15))
    assert ppi.outcome(human, chosen, weight).tolist() == pytest.approx(plainly(human, chosen, weight))


def test_all_segments_say_what_all_say_and_hard_ones_have_lower_scores():
    rng = np.random.default_rng(4)
    human = rng.normal(size=(4, 30))
    whole = ppi.outcome(human, np.arange(30), np.full(30, 1 / 30))
    assert whole.tolist() == pytest.approx([1, 1, 0, 0, 1, 0], abs=1e-9)
    hard = np.argsort(human.mean(axis=0))[:10]
    assert ppi.outcome(human, hard, np.full(10, 0.1))[2] < -0.3  # hard segments have lower scores


def test_systems_whose_means_differ_in_last_bits_alone_are_in_no_order():
    """A third of 0.1, 0.1 and 0.4 is more than of 0.4, 0.1 and 0.1; over all segments, one system is better."""
    human = np.array([[0.1, 0.1, 0.4, 1.0, 0.0], [0.4, 0.1, 0.1, 0.0, 0.0]])
    assert np.diff(human[:, :3] @ (np.ones(3) / 3)) != 0
    for better in (human, human[:, [2, 1, 0, 3, 4]]):  # there the better one has the larger sum, and the smaller
        assert ppi.outcome(better, np.arange(3), np.ones(3) / 3)[1] == 0


def test_odds_are_known_and_weights_undo_them():
    rng = np.random.default_rng(5)
    metric = rng.normal(size=(6, 200)) * rng.gamma(1, 1, 200)
    chances = ppi.odds(metric, 40)
    assert chances.sum() == pytest.approx(40)
    assert chances.min() >= 0.5 * 40 / 200
    draws = [ppi.drawn(chances, rng) for _ in range(3000)]
    assert {len(each) for each in draws} == {40}
    often = np.bincount(np.concatenate(draws), minlength=200) / 3000
    # a share of 3000 draws has a standard error of at most .009: 200 of them stay within four
    assert np.abs(often - chances).max() < 4 * 0.0092
    value = metric.std(axis=0)
    plain = np.mean([value[each].mean() for each in draws])
    weighted = np.mean([np.average(value[each], weights=1 / chances[each]) for each in draws])
    assert plain > 1.2 * value.mean()
    assert weighted == pytest.approx(value.mean(), rel=0.02)
    assert ppi.odds(np.ones((3, 20)), 5).tolist() == pytest.approx([0.25] * 20)
    assert ppi.odds(metric, 200).max() <= 1


def known_set(segments=160, seed=3):
    """Make a test set: hard segments have low scores that differ more between systems, and the metric knows it."""
    rng = np.random.default_rng(seed)
    hard = rng.gamma(1.0, 1.0, segments)
    human = -hard * (1 + np.arange(4)[:, None] * 0.3) + 0.5 * rng.normal(size=(4, segments))
    metric = human + 0.5 * rng.normal(size=human.shape)
    scores = named_scores(metric[None], human, length=4, metrics=("m",))
    rows = [(system, *name.split(":")) for system, name in product(scores.systems, scores.segments)]
    outputs = pd.DataFrame(rows, columns=["system", "doc", "segment"]).assign(src_lang="eng", tgt_lang="deu")
    outputs["hypothesis"] = [" ".join(rng.choice(list("abcdef"), 4)) for _ in rows]
    return {"eng-deu": scores}, outputs


def test_ways_are_compared_and_only_chance_is_free_of_bias():
    scored, outputs = known_set()
    metric = {"eng-deu": "m"}
    found = ppi.compare_choices(scored, metric, outputs, budgets=[20, 40.0], redrawn=40)
    again = ppi.compare_choices(scored, metric, outputs.sample(frac=1, random_state=1), budgets=[40, 20], redrawn=40)
    pd.testing.assert_frame_equal(found, again)
    assert len(found) == 2 * 6
    at = found[found["budget"] == 20].set_index("way")
    human = scored["eng-deu"].human
    for way in (ppi.RANDOM, ppi.DRAWN):
        assert at.loc[way, "bias_means"] == pytest.approx(0, abs=0.06)  # 200 draws of 20, sd 1.5
        assert at.loc[way, "stretch"] == pytest.approx(1, abs=0.08)
    for way in (ppi.VARIANCE, ppi.AVERAGE):
        assert at.loc[way, "bias_means"] < -1
        assert at.loc[way, "stretch"] > 1.5
    hard = np.argsort(scored["eng-deu"].values[0].mean(axis=0), kind="stable")[:20]
    assert at.loc[ppi.AVERAGE, "bias_means"] == pytest.approx(human[:, hard].mean() - human.mean())
    assert at.loc[ppi.RANDOM, "lead"] == 0
    assert (at["low"] <= at["high"]).all()


# A judge's labels, corrected


@pytest.mark.parametrize(
    ("flagged", "of", "hits", "positives", "passes", "negatives", "printed"),
    [  # examples 1 to 4 of Lang & Reiczigel 2014, as R's package asht quotes their intervals
        (4060, 11284, 178, 179, 358, 359, (0.349, 0.372)),
        (51, 2971, 32, 33, 20, 20, (0, 0.053)),
        (0.06 * 11862, 11862, 8, 10, 12, 12, (0, 0.147)),
        (259, 509, 84, 127, 96, 109, (0.58, 0.87)),
        (51, 509, 23, 41, 187, 195, (0.037, 0.195)),
    ],
)
def test_corrected_shares_have_the_printed_intervals(flagged, of, hits, positives, passes, negatives, printed):
    checks = {"hits": hits, "positives": positives, "passes": passes, "negatives": negatives}
    found = ppi.corrected_share(flagged, of, **checks)
    digits = 2 if printed == (0.58, 0.87) else 3
    assert (round(float(found.low), digits), round(float(found.high), digits)) == printed
    se, sp = hits / positives, passes / negatives
    assert found.value == pytest.approx((flagged / of + sp - 1) / (se + sp - 1))


@given(st.lists(st.integers(0, 40), min_size=6, max_size=6))
def test_a_corrected_share_is_one_and_calling_errors_passes_turns_it_round(numbers):
    flagged, spared, hits, misses, passes, alarms = numbers
    of, positives, negatives = flagged + spared, hits + misses, passes + alarms
    one = ppi.corrected_share(flagged, of, hits=hits, positives=positives, passes=passes, negatives=negatives)
    other = ppi.corrected_share(spared, of, hits=passes, positives=negatives, passes=hits, negatives=positives)
    assert 0 <= one.low <= one.high <= 1
    assert [other.low, other.high] == pytest.approx([1 - one.high, 1 - one.low])
    if np.isfinite(one.value):
        assert other.value == pytest.approx(1 - one.value)
        assert one.sensitivity + one.specificity > 1
    else:
        assert not of or not positives or not negatives or hits * negatives <= alarms * positives


def test_correcting_a_good_judge_covers_the_truth_and_narrows_and_a_bad_one_tells_nothing():
    rng = np.random.default_rng(5)
    people = rng.random(3000) < 0.2
    judges = {}
    for name, flipped in (("good", 0.04), ("coin", 0.5)):
        judges[name] = pd.DataFrame({"people": people, "judge": people ^ (rng.random(3000) < flipped)})
    found = ppi.check_labels(judges, checked=[300], draws=300).set_index(["judge", "method"])
    good, coin = found.loc["good"], found.loc["coin"]
    assert good["coverage"].between(0.9, 0.99).all()
    assert good["estimate"].to_numpy() == pytest.approx(people.mean(), abs=0.01)
    assert good.loc["PPI++", "width"] < good.loc["corrected", "width"] < good.loc["people alone", "width"]
    assert coin.loc["corrected", ["coverage", "width"]].min() > 0.9
    assert coin.loc["PPI++", "width"] == pytest.approx(coin.loc["people alone", "width"], rel=0.1)
    assert coin.loc["corrected", "undefined"] > 0.2
