"""Prediction-powered inference: a plain reading of the papers, laws, and coverage on simulated segments."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.metrics import powered
from evalkit.metrics.metaeval.scores import Scores


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


@given(st.integers(0, 10**6), st.sampled_from([1.0, 3.0, -1.0]), st.sampled_from(powered.METHODS))
@settings(max_examples=60, deadline=None)
def test_it_is_what_the_papers_say(seed, slope, method):
    y, f, g = sample(seed, slope)
    found = powered.mean(y, f, g, method=method)
    value, weight = by_paper(list(y), list(f), list(g), method)
    assert float(found.value) == pytest.approx(value)
    assert float(found.weight) == pytest.approx(weight)
    n, lost = len(y), {"classical": 1, "control variate": 2}.get(method, 0)
    variance = spread([a - weight * b for a, b in zip(y, f, strict=True)]) / (n - lost)
    variance += spread([weight * one for one in g]) / len(g)
    reach = (stats.t(n - lost).ppf(0.975) if lost else stats.norm.ppf(0.975)) * math.sqrt(variance)
    assert (float(found.low), float(found.high)) == pytest.approx((value - reach, value + reach))


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_classical_interval_is_that_of_a_t_test(seed):
    y, f, g = sample(seed)
    found = powered.mean(y, f, g, method="classical")
    low, high = stats.ttest_1samp(y, 0).confidence_interval()
    assert (float(found.low), float(found.high)) == pytest.approx((low, high))


@given(st.integers(0, 10**6), st.floats(0.1, 20), st.floats(-50, 50))
@settings(max_examples=30, deadline=None)
def test_the_metrics_unit_does_not_matter_to_a_control_variate_nor_its_zero_to_any(seed, slope, shift):
    y, f, g = sample(seed)
    for method in powered.METHODS:
        scale = slope if method in ("classical", "control variate") else 1.0
        once, again = (
            powered.mean(y, f, g, method=method),
            powered.mean(y, scale * f + shift, scale * g + shift, method=method),
        )
        assert (float(again.low), float(again.high)) == pytest.approx((float(once.low), float(once.high)), abs=1e-6)


@pytest.mark.parametrize("method", ["control variate", "PPI++"])
def test_a_metric_that_does_not_vary_changes_nothing(method):
    y = np.array([3.0, 5, 8, 1])
    found = powered.mean(y, np.ones(4), np.ones(9), method=method)
    assert (float(found.value), float(found.weight)) == (y.mean(), 0.0)


def pooled(r, systems=4, segments=400, seed=5):
    rng = np.random.default_rng(seed)
    human = rng.normal(0, 1, (systems, segments)) + rng.normal(0, 0.3, (systems, 1))
    metric = r * human + np.sqrt(1 - r**2) * rng.normal(0, 1, human.shape)
    return Scores(("m",), tuple("ABCD"[:systems]), tuple(map(str, range(segments))), metric[None], human)


def test_draws_are_those_of_campaigns_drawn_one_by_one():
    own = powered.pool(pooled(0.8), "m")
    rng = np.random.default_rng(7)
    size = own.human.shape[1]
    judged, rest = rng.multinomial(40, [1 / size] * size, 30), rng.multinomial(size, [1 / size] * size, 30)
    found = powered._moments(own, judged, rest)
    for draw in (0, 29):
        here, there = (np.repeat(np.arange(size), counts[draw]) for counts in (judged, rest))
        for row in (0, 3, 9):
            for method in powered.METHODS:
                once = powered.mean(own.human[row, here], own.metric[row, here], own.metric[row, there], method=method)
                many = powered.estimate(found, method=method)
                assert [float(one) for one in once] == pytest.approx([one[draw, row] for one in many])


@pytest.mark.parametrize("r", [0.0, 0.6, 0.9])
def test_intervals_hold_and_the_variance_falls_by_r_squared(r):
    scores = pooled(r)
    found = powered.simulate(powered.pool(scores, "m"), humans=100, others=20000, resamples=1500)
    found = found.groupby(["what", "method"])[["coverage", "variance_ratio"]].mean()
    saved = powered.saved(scores).set_index("what")["saved"]
    for what in powered.WHAT:
        assert found.loc[(what, "classical"), "variance_ratio"] == 1
        for method in ("control variate", "PPI++"):
            assert found.loc[(what, method), "coverage"] == pytest.approx(0.95, abs=0.025)
            assert found.loc[(what, method), "variance_ratio"] == pytest.approx(1 - saved[what], abs=0.06)


def test_a_biased_metric_in_another_unit_does_harm_by_ppi_alone():
    scores = pooled(0.6)
    own = powered.moved(powered.pool(scores, "m"), -3.0, 40.0)
    found = powered.simulate(own, humans=60, resamples=800).groupby("method")[["coverage", "variance_ratio"]].mean()
    assert (found["coverage"] > 0.91).all()
    assert found.loc["PPI", "variance_ratio"] > 2
    assert found.loc["PPI++", "variance_ratio"] < 1.02  # it may not take a weight below 0, and leaves the metric out
    assert found.loc["control variate", "variance_ratio"] < 0.8


def test_pools_hold_differences_of_systems_and_lines_undo_units():
    scores = pooled(0.9, segments=50)
    own = powered.pool(scores, "m")
    best = np.argsort(-scores.human.mean(axis=1))
    assert own.names[:2] == tuple(scores.systems[place] for place in best[:2])
    assert own.human[4] == pytest.approx(scores.human[best[0]] - scores.human[best[1]])
    assert list(own.what).count("difference of two systems") == 6
    slope, intercept = powered.line(scores, "m")
    fit = stats.linregress(scores.values[0].ravel(), scores.human.ravel())
    assert (slope, intercept) == pytest.approx((fit.slope, fit.intercept))
    moved = powered.moved(own, slope, intercept)
    assert moved.metric[4] == pytest.approx(moved.metric[0] - moved.metric[1])


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="3 judged segments"):
        powered.mean([1, 2], [1, 2], [1, 2])
    with pytest.raises(DataError, match="no method 'magic'"):
        powered.mean([1, 2, 3], [1, 2, 3], [1, 2], method="magic")
    scores = pooled(0.5, segments=2)
    with pytest.raises(DataError, match="fewer than three segments"):
        powered.pool(scores, "m")


def test_campaigns_are_simulated_in_every_pair_with_lines_of_the_other():
    scored = {"a-b": pooled(0.7, segments=60), "c-d": pooled(0.7, segments=80, seed=6)}
    found = powered.campaigns(scored, {"a-b": ["m"], "c-d": ["m"]}, humans=[20], resamples=50)
    assert len(found) == 2 * len(powered.WHAT) * len(powered.METHODS)
    own = powered.moved(powered.pool(scored["c-d"], "m"), *powered.line(scored["a-b"], "m"))
    alone = powered.simulate(own, humans=20, resamples=50).query("what == 'mean of a system' and method == 'PPI'")
    row = found.query("data == 'c-d' and what == 'mean of a system' and method == 'PPI'").iloc[0]
    assert row["coverage"] == pytest.approx(alone["coverage"].mean())
    assert (row["name"], row["estimate"]) == (alone["name"].iloc[0], alone["estimate"].iloc[0])
    assert powered.most_saving(powered.saved(scored["a-b"])) == ["m"]
    wide = powered.by_method(found, data="a-b", metric="m")
    row = wide[wide["what"] == powered.WHAT[1]].iloc[0]
    own = found.query("data == 'a-b' and what == 'difference of two systems' and method == 'PPI++'").iloc[0]
    assert (row["variance, PPI++"], row["coverage, PPI++"]) == (own["variance_ratio"], own["coverage"])
