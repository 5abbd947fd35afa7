"""What is drawn anew: covariances and t-tests against scipy, statsmodels, loops and simulated campaigns."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from makers import ratings
from scipy import stats

from evalkit.human import ranking
from evalkit.human.ranking.drawn import covariance, draws, effective_units, widened
from evalkit.human.ranking.scores import segment_means


def campaign(seed=1, *, people=6, documents=12, systems=2, length=3, taste=0.0, crossed=False, gap=0.0):
    """Annotators judge all systems on documents of their own, or on all; they may like systems differently."""
    sizes = {"people": people, "documents": documents, "systems": systems, "length": length}
    spread = {"taste": taste, "residual": 4.0}
    return ratings(seed, **sizes, each=None if crossed else 1, gap=gap, spread=spread, scale=None)


@pytest.mark.parametrize("seed", range(5))
def test_by_segments_it_is_the_paired_t_test(seed):
    judged = campaign(seed, gap=1.0)
    wide = judged.pivot(index="segment", columns="system", values="score")
    [found] = ranking.pairwise_tests(judged, test="t").to_dict("records")
    theirs = stats.ttest_rel(wide[found["better"]], wide[found["worse"]], alternative="greater")
    assert found["p"] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert found["difference"] == pytest.approx(wide.mean()[found["better"]] - wide.mean()[found["worse"]])


@pytest.mark.parametrize("seed", range(5))
def test_by_annotators_who_judged_equally_much_it_is_the_t_test_of_their_differences(seed):
    judged = campaign(seed, taste=3.0)
    means = judged.pivot_table(index="annotator", columns="system", values="score")
    [found] = ranking.pairwise_tests(judged, test="t", unit="annotator").to_dict("records")
    theirs = stats.ttest_rel(means[found["better"]], means[found["worse"]], alternative="greater")
    assert found["p"] == pytest.approx(theirs.pvalue, rel=1e-9)


def test_the_variance_of_a_difference_is_the_sandwich_clustered_by_annotator():
    """Unequal shares of the work: statsmodels' cluster-robust variance of a regression on the system."""
    judged = campaign(3, people=6, documents=24, taste=4.0).sample(frac=0.6, random_state=1)
    judged = judged.assign(segment=np.arange(len(judged)).astype("str"))  # each judgement a segment of its own
    table = segment_means(judged, unit="annotator")["eng-deu"]
    spread, units = covariance(table), effective_units(table)
    design = sm.add_constant((judged["system"] == "S1").astype(float))
    groups = pd.factorize(judged["annotator"])[0]
    fitted = sm.OLS(judged["score"], design).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False, "df_correction": False}
    )
    correction = units / (units - 1)
    theirs = fitted.cov_params().iloc[0, 0]  # of the constant, the mean of S0
    assert spread[0, 0] == pytest.approx(theirs * correction[0], rel=1e-9)
    pair = min(units) / (min(units) - 1)
    found = spread[0, 0] / correction[0] + spread[1, 1] / correction[1] - 2 * spread[0, 1] / pair
    assert found == pytest.approx(fitted.cov_params().iloc[1, 1], rel=1e-9)


@pytest.mark.parametrize("unit", [None, "doc", "annotator", ("annotator", "doc"), ("annotator", "segment")])
def test_the_covariance_is_that_of_the_draws(unit):
    """With many units, 20,000 draws vary and covary as the formula says, within 8 %."""
    crossed = isinstance(unit, tuple)
    judged = campaign(1, people=40, documents=80, systems=3, taste=3.0, crossed=crossed)
    judged = judged.sample(frac=0.8, random_state=2)
    table = segment_means(judged, unit=unit)["eng-deu"]
    drawn = draws("eng-deu", [table], resamples=20_000, rng=np.random.default_rng(5))[0]
    units = effective_units(table).min()
    np.testing.assert_allclose(np.cov(drawn.T), covariance(table) * (units - 1) / units, rtol=0.08)


def test_crossed_draws_equal_a_loop():
    """A judgement counts as often as its annotator times as often as its document."""
    judged = campaign(people=4, documents=5, crossed=True)
    table = segment_means(judged, unit=("annotator", "doc"))["eng-deu"]
    drawn = draws("eng-deu", [table], resamples=6, rng=np.random.default_rng(5))[0]
    rng = np.random.default_rng(5)
    people, documents = rng.integers(0, 4, (6, 4)), rng.integers(0, 5, (6, 5))
    names = [list(dict.fromkeys(judged[column])) for column in ("annotator", "doc")]
    for row, who, which in zip(drawn, people, documents, strict=True):
        times = judged["annotator"].map({name: (who == k).sum() for k, name in enumerate(names[0])})
        times = times * judged["doc"].map({name: (which == k).sum() for k, name in enumerate(names[1])})
        again = (judged["score"] * times).groupby(judged["system"]).sum() / times.groupby(judged["system"]).sum()
        np.testing.assert_allclose(row, again, rtol=1e-12)


def test_effective_units_are_kish_s():
    judged = campaign(1, people=5, documents=10, systems=1)
    assert effective_units(segment_means(judged, unit="annotator")["eng-deu"]).tolist() == pytest.approx([5.0])
    one = judged[(judged["annotator"] == "p0") | (judged["segment"].astype(int) % 6 == 0)]
    sizes = one.groupby("annotator").size()
    found = effective_units(segment_means(one, unit="annotator")["eng-deu"])
    assert found.tolist() == pytest.approx([sizes.sum() ** 2 / (sizes**2).sum()])


def test_intervals_of_few_units_are_t_intervals():
    """Six annotators: the width of widened draws' percentiles is scipy's within 6 %; their middle may be skewed."""
    judged = campaign(7, taste=3.0)
    means = judged.pivot_table(index="annotator", columns="system", values="score")
    table = ranking.rank_ranges(judged, unit="annotator", widen=True, resamples=20_000).set_index("system")
    for system, own in means.items():
        low, high = stats.t.interval(0.95, 5, own.mean(), stats.sem(own))
        assert table.loc[system, "high"] - table.loc[system, "low"] == pytest.approx(high - low, rel=0.06)
        assert table.loc[system, "low"] < own.mean() < table.loc[system, "high"]


@pytest.mark.parametrize(("unit", "crossed"), [("annotator", False), (("annotator", "doc"), True)])
def test_equal_systems_are_rarely_distinguished_though_annotators_like_them_differently(unit, crossed):
    """500 campaigns of six people: a test by people finds at most its 5 %, one by segments several times as many."""
    rng = np.random.default_rng(11)
    judged = together(campaign(rng, taste=3.0, crossed=crossed) for _ in range(500))
    found = {}
    for name, options in (("ours", {"unit": unit}), ("by segments", {})):
        p = ranking.pairwise_tests(judged, test="t", **options)["p"]
        assert len(p) == 500
        found[name] = (p < 0.025).sum()  # the better of two is chosen by the data, so one-sided 2.5 % each way are 5 %
    highest = stats.binom.ppf(0.999, 500, 0.05)
    assert found["ours"] <= highest
    assert found["by segments"] > 2 * highest


def together(campaigns):
    """Put campaigns into one table, each a language pair of its own, which are compared apart: a call for all."""
    return pd.concat([one.assign(tgt_lang=f"l{number}") for number, one in enumerate(campaigns)], ignore_index=True)


def test_campaigns_in_one_table_are_compared_as_if_each_were_alone():
    campaigns = [campaign(seed, taste=3.0, crossed=True) for seed in range(20)]
    for options in ({"unit": ("annotator", "doc")}, {}):
        alone = pd.concat([ranking.pairwise_tests(one, test="t", **options) for one in campaigns])
        found = ranking.pairwise_tests(together(campaigns), test="t", **options).set_index("pair")
        found = found.loc[[f"eng-l{number}" for number in range(20)]]
        assert found["better"].tolist() == alone["better"].tolist()
        assert found["p"].tolist() == alone["p"].tolist()


def test_a_real_difference_is_found():
    found = ranking.pairwise_tests(
        together(campaign(seed, taste=1.0, gap=5.0) for seed in range(100)), test="t", unit="annotator"
    )
    assert found["significant"].sum() > 90


@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-50, 50))
def test_scale_and_shift_leave_p_values_alone(seed, scale, shift):
    judged = campaign(seed, systems=3)
    moved = judged.assign(score=judged["score"] * scale + shift)
    one, other = (ranking.pairwise_tests(table, test="t", unit="annotator") for table in (judged, moved))
    assert one["better"].tolist() == other["better"].tolist()
    np.testing.assert_allclose(one["p"], other["p"], rtol=1e-6)


def test_equal_outputs_and_constant_differences():
    """No spread and no difference proves nothing; no spread with a difference proves no more than signs would."""
    judged = campaign(1)
    first = judged[judged["system"] == "S0"]
    same = pd.concat([first, first.assign(system="T")])
    assert ranking.pairwise_tests(same, test="t")["p"].tolist() == [1.0]
    ahead = pd.concat([first, first.assign(system="T", score=first["score"] + 1)])
    [row] = ranking.pairwise_tests(ahead, test="t", unit="annotator").to_dict("records")
    assert (row["better"], row["p"]) == ("T", 0.5**6)


def test_systems_without_a_common_segment_are_compared_as_independent():
    judged = campaign(2, documents=24, gap=2.0)
    odd = judged["segment"].astype(int) % 2 == 1
    apart = judged[(judged["system"] == "S0") == odd]
    [row] = ranking.pairwise_tests(apart, test="t").to_dict("records")
    one, other = (apart.loc[apart["system"] == name, "score"] for name in (row["better"], row["worse"]))
    error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    assert row["p"] == pytest.approx(stats.t.sf((one.mean() - other.mean()) / error, min(len(one), len(other)) - 1))
    assert np.isnan(row["superiority"])


def test_widening_leaves_hundreds_of_units_alone():
    judged = campaign(2, documents=300, length=1)
    table = segment_means(judged)["eng-deu"]
    drawn = draws("eng-deu", [table], resamples=50, rng=np.random.default_rng(1))[0]
    np.testing.assert_allclose(widened(drawn, table) - table.totals(), drawn - table.totals(), rtol=0.01)
