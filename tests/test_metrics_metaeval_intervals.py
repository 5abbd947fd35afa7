"""Bootstrap intervals: a weight of two is the same as the unit there twice, and the whole data are the statistic."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.metrics.metaeval import chance, correlations, intervals, spa, ties
from evalkit.metrics.metaeval.scores import Scores

KEY = ["level", "statistic", "grouping", "metric"]


def drawn(seed, shape, *, gaps=0.0):
    """Draw three metrics with few distinct values that resemble the humans', some scores missing."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=shape) + rng.normal(size=(shape[0], 1))
    values = np.round(2 * (human + rng.normal(size=(3, *shape)))) / 2
    values[rng.random(values.shape) < gaps] = np.nan
    names = (tuple(f"{kind}{i}" for i in range(n)) for kind, n in zip("msd", values.shape))
    metrics, systems, segments = names
    return Scores(metrics, systems, segments if shape[1] > 1 else ("",), values, np.round(human))


def repeated(scores, weights, *, axis):
    """Write every segment, or system, as often as its weight says."""
    times = weights.astype(int)
    human, values = (np.repeat(each, times, axis=axis) for each in (scores.human, scores.values))
    systems, segments = (tuple(map(str, range(n))) for n in human.shape)
    return Scores(scores.metrics, systems, segments if axis == -1 else scores.segments, values, human)


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(7, 1), (4, 30)])
def test_without_resampling_the_value_is_the_statistic(shape, gaps):
    there = drawn(3, shape, gaps=gaps)
    table = intervals.intervals(there, resamples=50, flips=200, seed=5)
    both = table.merge(chance.every_statistic(there, flips=200, seed=5), on=KEY, suffixes=("", "_told"))
    expected = [e for e in intervals.ESTIMATED if (e[0] == "segment" or e[1] == "spa") == (there.level == "segment")]
    assert len(both) == len(table) == 3 * len(expected)
    assert both["value"].to_numpy() == pytest.approx(both["value_told"].to_numpy(), abs=1e-12, nan_ok=True)
    defined = both.dropna(subset=["value"])
    assert (defined["low"] <= defined["high"]).all()
    assert (defined["low"] < defined["high"]).any()


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2]))
@settings(max_examples=12)
def test_weights_of_segments_are_repetitions(seed, gaps):
    there = drawn(seed, (4, 9), gaps=gaps)
    weights = np.random.default_rng(seed).multinomial(9, np.full(9, 1 / 9)).astype(float)
    again = repeated(there, weights, axis=-1)
    thresholds = ties.acc_eq(there).set_index("metric")["threshold"]
    tables = [correlations.correlations(again), ties.acc_eq(again, thresholds=thresholds)]
    told = {tuple(row[name] for name in KEY): row["value"] for table in tables for _, row in table.iterrows()}
    for (level, statistic, grouping), estimate in intervals._of_segments(there, 50, 1):
        if level == "segment":
            expected = [told[level, statistic, grouping, metric] for metric in there.metrics]
            assert estimate(weights[None])[:, 0] == pytest.approx(expected, abs=1e-9, nan_ok=True), statistic


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2]))
@settings(max_examples=12)
def test_weights_of_systems_are_repetitions_that_are_not_compared_with_each_other(seed, gaps):
    there = drawn(seed, (6, 1), gaps=gaps)
    weights = np.random.default_rng(seed).multinomial(6, np.full(6, 1 / 6)).astype(float)
    again = repeated(there, weights, axis=-2)
    told = correlations.correlations(again).set_index(["statistic", "metric"])["value"]
    found = {name: estimate(weights[None])[:, 0] for (_, name, _), estimate in intervals._of_systems(there)}
    for name in ("pearson", "spearman", "kendall_b"):
        expected = [told[name, metric] for metric in there.metrics]
        assert found[name] == pytest.approx(expected, abs=1e-9, nan_ok=True), name
    origin = np.repeat(np.arange(6), weights.astype(int))
    for m, metric in enumerate(there.metrics):
        same, decided = [], []
        for i, j in itertools.combinations(range(len(origin)), 2):
            x, y = (side[i, 0] - side[j, 0] for side in (again.values[m], again.human))
            if origin[i] != origin[j] and np.isfinite(x):
                same.append(np.sign(x) == np.sign(y))
                decided += [same[-1]] if y else []
        for name, marks in (("accuracy_3way", same), ("accuracy_2way", decided)):
            expected = np.mean(marks) if marks else np.nan
            assert found[name][m] == pytest.approx(expected, abs=1e-12, nan_ok=True), (name, metric)


def test_spa_of_weighted_systems_is_a_weighted_mean_over_pairs():
    there = drawn(2, (5, 12))
    weights = np.array([2.0, 0, 1, 1, 1])
    estimate = dict(intervals._of_segments(there, 60, 4))["system", "spa", "none"]
    for (metric, human), value in zip(spa.metric_and_human_p(there, flips=60, seed=4), estimate(weights[None])[:, 0]):
        weight = [weights[i] * weights[j] for i, j in itertools.combinations(range(5), 2)]
        assert value == pytest.approx(1 - np.average(np.abs(metric - human), weights=weight), abs=1e-12)


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(8)
    covered = []
    for _ in range(40):
        truth = rng.normal(size=(4, 60))
        two = truth + rng.normal(size=(1, 4, 60))  # correlated with the humans at sqrt(1 / 2)
        there = Scores(("m",), tuple("ABCD"), tuple(map(str, range(60))), two, truth)
        row = intervals.intervals(there, resamples=100, flips=10).set_index(["statistic", "grouping"])
        covered.append(row.loc[("pearson", "none"), "low"] < np.sqrt(0.5) < row.loc[("pearson", "none"), "high"])
    assert 0.85 <= np.mean(covered) <= 1
