"""Statistics of metrics with intervals: independent computations, laws, odd cases; draws of texts, and of systems."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit.metrics import intervals, statistics
from evalkit.metrics.statistics import spa
from tests.makers import metric_scores, named_scores

SEEDS = st.integers(0, 10**6)


def some(seed=3, *, gaps=True):
    """Two metrics and human scores with ties, and gaps on both sides."""
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 12, (5, 24)).astype(float) + np.arange(5)[:, None]
    values = np.stack([human + rng.normal(0, 4, human.shape), rng.integers(0, 4, human.shape).astype(float)])
    if gaps:
        values[0, 1, 3] = values[1, 0, 5] = human[2, 7] = np.nan
    return named_scores(values, human, metrics=("good", "coarse"))


def columns_of(scores, columns):
    """Keep some segments, or repeat them."""
    segments = tuple(map(str, range(len(columns))))
    return replace(scores, segments=segments, values=scores.values[:, :, columns], human=scores.human[:, columns])


def expected(scores, metric):
    """All statistics but SPA, from their definitions."""
    system, segment = (place.ravel() for place in np.indices(scores.human.shape))
    cells = {"system": system, "segment": segment, "x": scores.values[metric].ravel(), "y": scores.human.ravel()}
    table = pd.DataFrame(cells).dropna()
    within, right = [], []
    for _, own in table.groupby("segment"):
        tau = stats.kendalltau(own["x"], own["y"]).statistic
        within += [tau] if np.isfinite(tau) else []
        upper = np.triu_indices(len(own), 1)
        right.append([np.subtract.outer(own[name].to_numpy(), own[name].to_numpy())[upper] for name in "xy"])
    thresholds = sorted({0.0, *np.abs(np.concatenate([dx for dx, _ in right])).tolist()})
    best = max(
        np.mean([np.mean(np.where(np.abs(dx) <= t, 0, np.sign(dx)) == np.sign(dy)) for dx, dy in right])
        for t in thresholds
    )
    means = table.groupby("system")[["x", "y"]].mean()
    return {
        "pearson": stats.pearsonr(table["x"], table["y"]).statistic,
        "kendall_b": stats.kendalltau(table["x"], table["y"]).statistic,
        "kendall_b_within": np.mean(within),
        "acc_eq": best,
        "system_pearson": stats.pearsonr(means["x"], means["y"]).statistic,
        "system_kendall_b": stats.kendalltau(means["x"], means["y"]).statistic,
    }


def values_of(scores, **options):
    return intervals.agreement(scores, **options).pivot(index="metric", columns="statistic", values="value")


def test_values_follow_from_the_definitions():
    scores = some()
    found = values_of(scores)
    for place, name in enumerate(scores.metrics):
        for statistic, value in expected(scores, place).items():
            assert found.loc[name, statistic] == pytest.approx(value, abs=1e-12), (name, statistic)
    whole = some(gaps=False)
    own = values_of(whole, flips=4000)["spa"][list(whole.metrics)].to_numpy()
    assert own == pytest.approx(spa(whole, flips=4000)["value"].to_numpy(), abs=0.03)  # other flips of the same test


@pytest.mark.parametrize("statistic", ["pearson", "kendall_b", "kendall_b_within"])
def test_a_draw_is_the_statistic_of_the_drawn_segments(statistic):
    scores = some()
    kendall = intervals._stacked([intervals._kendall(*each) for each in intervals._cells(scores)])
    estimates = {"pearson": intervals._pooled(scores), "kendall_b": kendall}
    evaluated = (estimates | {"kendall_b_within": intervals._within(scores, ["kendall_b"])["kendall_b"]})[statistic]
    times = np.random.default_rng(5).multinomial(24, np.full(24, 1 / 24), size=3)
    got = evaluated(times.astype(float))
    for draw, each in enumerate(times):
        again = columns_of(scores, np.repeat(np.arange(24), each))
        for metric in range(2):
            assert got[metric, draw] == pytest.approx(expected(again, metric)[statistic], abs=1e-9)


def test_documents_are_drawn_as_a_whole():
    scores = some(gaps=False)
    one = intervals.agreement(scores, units=["d"] * 24, resamples=20).query("statistic != 'spa'")
    for end in ("low", "high"):
        assert one[end].to_numpy() == pytest.approx(one["value"].to_numpy())
    halves = intervals.agreement(scores, units=["a"] * 12 + ["b"] * 12, resamples=200)
    first, second = (expected(columns_of(scores, half), 0)["kendall_b"] for half in (range(12), range(12, 24)))
    row = halves.query("metric == 'good' and statistic == 'kendall_b'").iloc[0]
    ends = sorted([first, second, row["value"]])  # one document twice, or each once: copies of a cell tie on both sides
    assert (row["low"], row["high"]) == pytest.approx((ends[0], ends[-1]), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_order_is_all_that_kendall_sees_and_who_repeats_people_agrees_fully(seed):
    scores = some(seed)
    bent = replace(scores, values=np.exp(scores.values / 5) - 3)
    one, other = (values_of(each)[["kendall_b", "kendall_b_within"]].to_numpy() for each in (scores, bent))
    assert one == pytest.approx(other, abs=1e-12)
    found = intervals.agreement(named_scores(scores.human[None], scores.human), resamples=20)
    assert found[["value", "low", "high"]].to_numpy() == pytest.approx(1)


def test_what_is_not_defined_is_missing():
    scores = some(gaps=False)
    flat = replace(scores, metrics=("flat",), values=np.ones((1, 5, 24)))
    found = values_of(flat).loc["flat"]
    assert found.drop("acc_eq").isna().all()
    assert 0 < found["acc_eq"] < 1  # the share of people's ties
    single = replace(scores, systems=("A",), values=scores.values[:, :1], human=scores.human[:1])
    found = values_of(single).loc["good"]
    assert found[["kendall_b_within", "acc_eq", "system_pearson", "system_kendall_b", "spa"]].isna().all()
    assert found["pearson"] == pytest.approx(stats.pearsonr(scores.values[0, 0], scores.human[0]).statistic)
    nothing = replace(scores, values=np.full_like(scores.values, np.nan))
    assert intervals.agreement(nothing, resamples=20)["value"].isna().all()


def test_scores_of_whole_systems_stand_for_means():
    scores = some(gaps=False)
    own = np.array([[5.0, 4, 3, 2, 1], [np.nan] * 5])
    found, plain = values_of(scores, systems=own), values_of(scores)
    means = scores.human.mean(axis=1)
    assert found.loc["good", "system_pearson"] == pytest.approx(stats.pearsonr(own[0], means).statistic)
    assert found.loc["good", "system_kendall_b"] == pytest.approx(stats.kendalltau(own[0], means).statistic)
    assert found.loc["coarse"].to_numpy() == pytest.approx(plain.loc["coarse"].to_numpy())


def test_ties_are_those_of_the_scores_that_people_gave():
    scores = some(gaps=False)
    shifted = replace(scores, human=scores.human + np.random.default_rng(0).normal(0, 1e-6, scores.human.shape))
    found, plain = values_of(shifted, ties=scores.human)["acc_eq"], values_of(scores)["acc_eq"]
    assert found.to_numpy() == pytest.approx(plain.to_numpy())


# Bootstrap intervals: a weight of two is the same as the unit there twice, and the whole data are the statistic

KEY = ["level", "statistic", "grouping", "metric"]


def repeated(scores, weights, *, axis):
    """Write every segment, or system, as often as its weight says."""
    human, values = (np.repeat(each, weights.astype(int), axis=axis) for each in (scores.human, scores.values))
    systems, segments = (tuple(map(str, range(n))) for n in human.shape)
    return replace(
        scores, systems=systems, segments=segments if axis == -1 else scores.segments, values=values, human=human
    )


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(7,), (4, 30)])
def test_without_resampling_the_value_is_the_statistic(shape, gaps):
    there = metric_scores(3, shape, values=6, gaps=gaps)
    table = intervals.bootstrap(there, resamples=50, flips=200, seed=5)
    both = table.merge(statistics.every_statistic(there, flips=200, seed=5), on=KEY, suffixes=("", "_told"))
    assert len(both) == len(table) == 3 * {"system": 5, "segment": 10}[there.level]
    assert both["value"].to_numpy() == pytest.approx(both["value_told"].to_numpy(), abs=1e-12, nan_ok=True)
    defined = both.dropna(subset=["value"])
    assert (defined["low"] <= defined["high"]).all()
    assert (defined["low"] < defined["high"]).any()


@given(SEEDS, st.sampled_from([0.0, 0.2]))
@settings(max_examples=12)
def test_weights_of_segments_are_repetitions(seed, gaps):
    there = metric_scores(seed, (4, 9), values=6, gaps=gaps)
    weights = np.random.default_rng(seed).multinomial(9, np.full(9, 1 / 9)).astype(float)
    again = repeated(there, weights, axis=-1)
    thresholds = statistics.acc_eq(there).set_index("metric")["threshold"]
    tables = [statistics.correlations(again), statistics.acc_eq(again, thresholds=thresholds)]
    told = {tuple(row[name] for name in KEY): row["value"] for table in tables for _, row in table.iterrows()}
    for (level, statistic, grouping), estimate in intervals._of_segments(there, 50, 1).items():
        if level == "segment":
            expected = [told[level, statistic, grouping, metric] for metric in there.metrics]
            assert estimate(weights[None])[:, 0] == pytest.approx(expected, abs=1e-9, nan_ok=True), statistic


@given(SEEDS, st.sampled_from([0.0, 0.2]))
@settings(max_examples=12)
def test_weights_of_systems_are_repetitions_that_are_not_compared_with_each_other(seed, gaps):
    there = metric_scores(seed, (6,), values=6, gaps=gaps)
    weights = np.random.default_rng(seed).multinomial(6, np.full(6, 1 / 6)).astype(float)
    again = repeated(there, weights, axis=-2)
    told = statistics.correlations(again).set_index(["statistic", "metric"])["value"]
    found = {name: estimate(weights[None])[:, 0] for (_, name, _), estimate in intervals._of_systems(there).items()}
    for name in ("pearson", "spearman", "kendall_b"):
        expected = [told[name, metric] for metric in there.metrics]
        assert found[name] == pytest.approx(expected, abs=1e-9, nan_ok=True), name
    origin = np.repeat(np.arange(6), weights.astype(int))
    for m, metric in enumerate(there.metrics):
        same, decided = [], []
        for i, j in itertools.combinations(range(len(origin)), 2):
            x, y = (side[i, 0] - side[j, 0] for side in (again.values[m], again.human))
            if origin[i] != origin[j] and np.isfinite(x + y):
                same.append(np.sign(x) == np.sign(y))
                decided += [same[-1]] if y else []
        for name, marks in (("accuracy_3way", same), ("accuracy_2way", decided)):
            expected = np.mean(marks) if marks else np.nan
            assert found[name][m] == pytest.approx(expected, abs=1e-12, nan_ok=True), (name, metric)


def test_spa_of_weighted_systems_is_a_weighted_mean_over_pairs():
    there = metric_scores(2, (5, 12), values=6)
    weights = np.array([2.0, 0, 1, 1, 1])
    estimate = dict(intervals._of_segments(there, 60, 4))["system", "spa", "none"]
    for (metric, human), value in zip(
        statistics.metric_and_human_p(there, flips=60, seed=4), estimate(weights[None])[:, 0]
    ):
        weight = [weights[i] * weights[j] for i, j in itertools.combinations(range(5), 2)]
        assert value == pytest.approx(1 - np.average(np.abs(metric - human), weights=weight), abs=1e-12)


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(8)
    covered = []
    for _ in range(40):
        truth = rng.normal(size=(4, 60))
        there = named_scores(truth + rng.normal(size=(1, 4, 60)), truth)  # correlated at the root of 1 / 2
        row = intervals.bootstrap(there, resamples=100, flips=10).set_index(["statistic", "grouping"])
        low, high = row.loc[("pearson", "none"), ["low", "high"]]
        covered.append(low < np.sqrt(0.5) < high)
    assert 0.85 <= np.mean(covered) <= 1
