"""Agreement of metrics with human scores whose intervals draw the texts: independent computations, laws, odd cases."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit.metrics.metaeval import intervals
from evalkit.metrics.metaeval.statistics import spa
from tests.makers import named_scores


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
