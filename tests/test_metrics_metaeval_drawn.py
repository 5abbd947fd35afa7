"""Agreement of metrics with human scores whose intervals draw the texts: independent computations, laws, odd cases."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit.metrics.metaeval import drawn
from evalkit.metrics.metaeval.scores import Scores
from evalkit.metrics.metaeval.spa import spa

SYSTEMS, SEGMENTS = tuple("ABCDE"), tuple(map(str, range(24)))


def some(seed=3, *, gaps=True):
    """Two metrics and human scores with ties, and gaps on both sides."""
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 12, (5, 24)).astype(float) + np.arange(5)[:, None]
    values = np.stack([human + rng.normal(0, 4, human.shape), rng.integers(0, 4, human.shape).astype(float)])
    if gaps:
        values[0, 1, 3] = values[1, 0, 5] = human[2, 7] = np.nan
    return Scores(("good", "coarse"), SYSTEMS, SEGMENTS, values, human)


def long(scores, metric):
    """One metric's cells as a table, by plain loops."""
    rows = [
        (system, segment, scores.values[metric, i, j], scores.human[i, j])
        for i, system in enumerate(scores.systems)
        for j, segment in enumerate(scores.segments)
    ]
    return pd.DataFrame(rows, columns=["system", "segment", "x", "y"]).dropna()


def expected(table):
    """All statistics but SPA, from their definitions."""
    within, right = [], []
    for _, own in table.groupby("segment"):
        tau = stats.kendalltau(own["x"], own["y"]).statistic
        within += [tau] if np.isfinite(tau) else []
        dx, dy = (np.subtract.outer(own[name].to_numpy(), own[name].to_numpy()) for name in "xy")
        upper = np.triu_indices(len(own), 1)
        right.append((dx[upper], dy[upper]))
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


def test_values_follow_from_the_definitions():
    scores = some()
    found = drawn.agreement(scores).pivot(index="metric", columns="statistic", values="value")
    for place, name in enumerate(scores.metrics):
        for statistic, value in expected(long(scores, place)).items():
            assert found.loc[name, statistic] == pytest.approx(value, abs=1e-12), (name, statistic)
    whole = some(gaps=False)
    own = drawn.agreement(whole, flips=4000).query("statistic == 'spa'")["value"].to_numpy()
    assert own == pytest.approx(spa(whole, flips=4000)["value"].to_numpy(), abs=0.03)  # other flips of the same test


def test_a_draw_is_the_statistic_of_the_drawn_segments():
    scores = some()
    times = np.random.default_rng(5).multinomial(24, np.full(24, 1 / 24), size=3)
    for evaluate, statistic in (
        (drawn._pearson, "pearson"),
        (drawn._kendall, "kendall_b"),
        (drawn._within, "kendall_b_within"),
    ):
        got = evaluate(scores)(times.astype(float))
        for draw, each in enumerate(times):
            columns = np.repeat(np.arange(24), each)
            again = replace(
                scores,
                segments=tuple(map(str, range(24))),
                values=scores.values[:, :, columns],
                human=scores.human[:, columns],
            )
            for metric in range(2):
                assert got[metric, draw] == pytest.approx(expected(long(again, metric))[statistic], abs=1e-9)


def test_counting_the_pairs_of_each_draw_gives_the_same_interval(monkeypatch):
    found = drawn.agreement(some(), resamples=100).query("statistic == 'kendall_b'")
    monkeypatch.setattr(drawn, "_TABLES", 0)
    counted = drawn.agreement(some(), resamples=100).query("statistic == 'kendall_b'")
    assert counted[["low", "high"]].to_numpy() == pytest.approx(found[["low", "high"]].to_numpy(), abs=1e-9)
    assert (found["low"] < found["value"]).all()
    assert (found["value"] < found["high"]).all()


def test_documents_are_drawn_as_a_whole():
    scores = some(gaps=False)
    one = drawn.agreement(scores, units=["d"] * 24, resamples=20).query("statistic != 'spa'")
    assert one["low"].to_numpy() == pytest.approx(one["value"].to_numpy())
    assert one["high"].to_numpy() == pytest.approx(one["value"].to_numpy())
    halves = drawn.agreement(scores, units=["a"] * 12 + ["b"] * 12, resamples=200)
    first = expected(
        long(replace(scores, segments=SEGMENTS[:12], values=scores.values[:, :, :12], human=scores.human[:, :12]), 0)
    )["kendall_b"]
    second = expected(
        long(replace(scores, segments=SEGMENTS[12:], values=scores.values[:, :, 12:], human=scores.human[:, 12:]), 0)
    )["kendall_b"]
    row = halves.query("metric == 'good' and statistic == 'kendall_b'").iloc[0]
    ends = sorted([first, second, row["value"]])  # one document twice, or each once: copies of a cell tie on both sides
    assert (row["low"], row["high"]) == pytest.approx((ends[0], ends[-1]), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_order_is_all_that_kendall_sees(seed):
    scores = some(seed)
    bent = replace(scores, values=np.exp(scores.values / 5) - 3)
    keep = ["kendall_b", "kendall_b_within"]
    one, other = (drawn.agreement(each).set_index("statistic").loc[keep, "value"] for each in (scores, bent))
    assert one.to_numpy() == pytest.approx(other.to_numpy(), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_a_metric_that_says_what_people_say_agrees_fully(seed):
    human = some(seed).human
    found = drawn.agreement(Scores(("m",), SYSTEMS, SEGMENTS, human[None], human), resamples=20)
    assert found["value"].to_numpy() == pytest.approx(1)
    assert found[["low", "high"]].to_numpy() == pytest.approx(1)


def test_what_is_not_defined_is_missing():
    scores = some(gaps=False)
    flat = replace(scores, metrics=("flat",), values=np.ones((1, 5, 24)))
    found = drawn.agreement(flat, resamples=20).set_index("statistic")["value"]
    assert found.drop("acc_eq").isna().all()
    assert 0 < found["acc_eq"] < 1  # the share of people's ties
    single = replace(scores, systems=("A",), values=scores.values[:, :1], human=scores.human[:1])
    found = drawn.agreement(single, resamples=20).query("metric == 'good'").set_index("statistic")["value"]
    assert found[["kendall_b_within", "acc_eq", "system_pearson", "system_kendall_b", "spa"]].isna().all()
    assert found["pearson"] == pytest.approx(stats.pearsonr(scores.values[0, 0], scores.human[0]).statistic)
    nothing = replace(scores, values=np.full_like(scores.values, np.nan))
    assert drawn.agreement(nothing, resamples=20)["value"].isna().all()


def test_scores_of_whole_systems_stand_for_means():
    scores = some(gaps=False)
    own = np.array([[5.0, 4, 3, 2, 1], [np.nan] * 5])
    found = drawn.agreement(scores, systems=own).pivot(index="metric", columns="statistic", values="value")
    means = scores.human.mean(axis=1)
    assert found.loc["good", "system_pearson"] == pytest.approx(stats.pearsonr(own[0], means).statistic)
    assert found.loc["good", "system_kendall_b"] == pytest.approx(stats.kendalltau(own[0], means).statistic)
    plain = drawn.agreement(scores).pivot(index="metric", columns="statistic", values="value")
    assert found.loc["coarse"].to_numpy() == pytest.approx(plain.loc["coarse"].to_numpy())


def test_ties_are_those_of_the_scores_that_people_gave():
    scores = some(gaps=False)
    shifted = replace(scores, human=scores.human + np.random.default_rng(0).normal(0, 1e-6, scores.human.shape))
    found = drawn.agreement(shifted, ties=scores.human).query("statistic == 'acc_eq'")["value"].to_numpy()
    plain = drawn.agreement(scores).query("statistic == 'acc_eq'")["value"].to_numpy()
    assert found == pytest.approx(plain)
