"""Whether a judge's scores mean what people's do: against scipy and plain loops, laws, and what is planted is found."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.metrics import calibration
from tests.makers import named_scores

JUDGES = ("GEMBA-MQM", "other")
OWN_UNIT = {"same_unit": ["GEMBA-MQM"]}


def drawn(seed, *, documents=8, missing=0.1):
    """Draw whole numbers below 0 of five systems in documents of four segments."""
    rng = np.random.default_rng(seed)
    human = -rng.integers(0, 6, (5, 4 * documents)).astype(float)
    values = np.round(0.5 * human - 2 + rng.normal(0, 1, (2, *human.shape)))
    for side in (values, human):
        side[rng.random(side.shape) < missing] = np.nan
    return named_scores(values, human, length=4, metrics=JUDGES)


def value_of(scores, metric="GEMBA-MQM"):
    found = calibration.measures(scores, **OWN_UNIT, resamples=2)
    return found[found["metric"] == metric].set_index("measure")["value"]


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_every_measure_is_what_scipy_and_a_plain_loop_make_of_it(seed):
    scores = drawn(seed)
    value, x, y = value_of(scores), scores.values[0], scores.human
    there = np.isfinite(x) & np.isfinite(y)
    line = stats.linregress(y[there], x[there])
    assert value["bias"] == pytest.approx(x[there].mean() - y[there].mean())
    assert value["spread"] == pytest.approx(x[there].std(ddof=1) / y[there].std(ddof=1))
    assert value["slope"] == pytest.approx(line.slope)
    both = [there[a] & there[b] for a, b in combinations(range(5), 2)]
    tied, people = (
        np.concatenate([(side[a] == side[b])[kept] for (a, b), kept in zip(combinations(range(5), 2), both)])
        for side in (x, y)
    )
    assert value["ties"] == pytest.approx(tied.mean())
    assert value["more ties"] == pytest.approx(tied.mean() - people.mean())
    assert set(value_of(scores, "other").index).isdisjoint({"bias", "spread", "slope"})
    assert calibration.measures(scores, resamples=2)["cells"].iloc[0] == there.sum()


@given(st.integers(0, 10**6), st.floats(0.1, 9), st.floats(-20, 20))
@settings(max_examples=15, deadline=None)
def test_a_shift_is_bias_and_a_stretch_is_spread_and_neither_is_anything_else(seed, by, shift):
    scores = drawn(seed)
    one, other = value_of(scores), value_of(replace(scores, values=by * scores.values + shift))
    mean = np.nanmean(np.where(scores.judged, scores.values[0], np.nan))
    assert other["bias"] - one["bias"] == pytest.approx((by - 1) * mean + shift, abs=1e-6)
    for name in ("spread", "slope"):
        assert other[name] == pytest.approx(by * one[name], abs=1e-6)
    for name in ("drift", "more drift"):
        assert other[name] == pytest.approx(one[name], abs=1e-6)
    turned = replace(scores, values=scores.values[:, ::-1], human=scores.human[::-1])
    assert value_of(turned).to_numpy() == pytest.approx(one.to_numpy())


def test_who_copies_people_is_calibrated():
    scores = drawn(3, missing=0)
    copy = replace(scores, metrics=("GEMBA-MQM",), values=scores.human[None])
    found = calibration.measures(copy, **OWN_UNIT, resamples=50).set_index("measure")
    expected = {"bias": 0, "spread": 1, "slope": 1, "more ties": 0, "more drift": 0}
    for name, value in expected.items():
        assert found.loc[name, ["value", "low", "high"]].tolist() == pytest.approx([value] * 3, abs=1e-9)


def test_a_drift_that_was_planted_is_found_and_single_segments_tell_none():
    place = np.tile(np.linspace(0, 1, 4), 40)
    rng = np.random.default_rng(1)
    values = 3 * place + rng.normal(0, 0.5, (1, 5, 160))
    scores = named_scores(values, rng.normal(size=(5, 160)), length=4)
    found = calibration.measures(scores, resamples=100).set_index("measure")
    assert found.loc["drift", "value"] == pytest.approx(3 / values.std(), rel=0.05)
    assert found.loc["drift", "low"] < 3 / values.std() < found.loc["drift", "high"]
    fit = stats.linregress(np.tile(place, 5), (values / values.std()).ravel())
    assert found.loc["drift", "value"] == pytest.approx(fit.slope)
    alone = calibration.measures(scores, documents=[str(n) for n in range(160)], resamples=2)
    assert set(alone["measure"]) == {"ties", "more ties"}


def test_intervals_draw_documents():
    scores = drawn(7, documents=30, missing=0)
    found = calibration.measures(scores, **OWN_UNIT, resamples=2000).set_index(["metric", "measure"])
    gaps = (scores.values[0] - scores.human).mean(axis=0).reshape(30, 4).mean(axis=1)
    row = found.loc["GEMBA-MQM", "bias"]
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * gaps.std() / np.sqrt(30), rel=0.1)
    one = calibration.measures(scores, **OWN_UNIT, documents=["d"] * 120, resamples=9).set_index("measure")
    assert (one["low"] == one["high"]).all()


def kin(seed=1, *, favoured=0.0):
    """Draw five metrics' scores of eight systems; the first metric favours the first system."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, (8, 1)) + rng.normal(0, 0.3, (8, 75))
    values = quality + rng.normal(0, 0.5, (5, *quality.shape))
    values[0, 0] += favoured
    names = {
        "metrics": ("GEMBA-MQM", "BLEU", *"abc"),
        "systems": ("GPT4-5shot", "NLLB_MBR_BLEU", "NLLB_Greedy", *"defgh"),
    }
    return named_scores(values, quality + rng.normal(0, 0.5, quality.shape), length=3, **names)


def test_a_judge_that_favours_its_own_kind_is_found_and_one_that_does_not_is_not():
    fair, unfair = (calibration.own_kind(kin(favoured=by), resamples=200).set_index("metric") for by in (0.0, 0.8))
    assert list(fair.index) == ["GEMBA-MQM", "BLEU"]
    assert unfair.loc["GEMBA-MQM", "beyond_low"] > 0.3
    assert fair.loc["GEMBA-MQM", "beyond_low"] < 0 < fair.loc["GEMBA-MQM", "beyond_high"]
    assert calibration.own_kind(kin().only(["a", "b"])).empty


def test_favour_is_a_difference_of_standard_scores():
    scores = kin(4, favoured=0.5)
    row = calibration.own_kind(scores, resamples=5).set_index("metric").loc
    means = pd.DataFrame(scores.values.mean(axis=2).T, columns=scores.metrics, index=scores.systems)
    z = means.apply(stats.zscore, ddof=1).sub(stats.zscore(scores.human.mean(axis=1), ddof=1), axis=0)
    gap = z.loc["GPT4-5shot"] - z.drop(index="GPT4-5shot").mean()
    assert row["GEMBA-MQM"]["value"] == pytest.approx(gap["GEMBA-MQM"])
    assert row["GEMBA-MQM"]["others"] == pytest.approx(gap.drop("GEMBA-MQM").median())
    both = z.loc["NLLB_MBR_BLEU"] - z.loc["NLLB_Greedy"]
    assert row["BLEU"]["value"] == pytest.approx(both["BLEU"])
    assert row["BLEU"]["beyond"] == pytest.approx(both["BLEU"] - both.drop("BLEU").median())


def test_scores_of_whole_systems_are_refused():
    with pytest.raises(DataError, match="whole systems"):
        calibration.measures(named_scores(np.ones((1, 2)), np.ones(2)))


def test_judges_are_compared_on_several_sets_and_the_smallest_bias_stands_first():
    pools = {"one": drawn(1), "two": drawn(2)}
    found = calibration.compare_judges(pools, JUDGES, resamples=20)
    for name, scores in pools.items():
        alone = calibration.measures(scores, **OWN_UNIT, resamples=20).rename(columns={"metric": "judge"})
        own = found[found["data"] == name].drop(columns="data").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone[own.columns].reset_index(drop=True))
    wide = found[found["data"] == "one"].pivot(index="judge", columns="measure", values="value")
    laid = calibration.laid_out(found, data="one")
    assert laid["judge"].tolist() == ["GEMBA-MQM"], "the other judge has another unit"
    assert laid["people"].item() == pytest.approx(wide.at["GEMBA-MQM", "ties"] - wide.at["GEMBA-MQM", "more ties"])
