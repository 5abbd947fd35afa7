"""Planning: power against statsmodels and simulated campaigns, designs against limits, metrics, choices and watching."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from evalkit import DataError
from evalkit.human import components, planning
from evalkit.metrics import ppi
from evalkit.metrics.scores import Scores
from evalkit.show.plots import planning as draw

V = {"document": 5.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
BESIDE = {"document": 4.0, "item": 60.0, "annotator": 50.0, "block": 15.0, "residual": 80.0}
component = st.floats(0.5, 300)


def sure(found, resamples):
    """Return the 99.9 % interval of a simulated power: one test in a thousand would fail by chance."""
    hits = round(found["power"] * resamples)
    return stats.binomtest(hits, resamples).proportion_ci(0.999, method="wilson")


def squared(delta, variance, pairs):
    """Return the power by another route: the square of a noncentral t is a noncentral F."""
    critical = stats.f.isf(0.05, 1, pairs - 1)
    return stats.ncf.sf(critical, 1, pairs - 1, pairs * delta**2 / variance)


@given(st.floats(0.5, 12), st.integers(3, 60), st.integers(1, 12), st.integers(1, 3), component, component)
def test_power_is_that_of_a_paired_t_test(delta, documents, block, judges, item, residual):
    parts = {"document": 2.0, "item": item, "annotator": 30.0, "block": 4.0, "residual": residual}
    options = {"delta": delta, "segments": documents * block, "block": block, "judgements": judges}
    same = 2 * (2 + item / block + (4 + residual / block) / judges)
    assert float(planning.power(parts, **options)) == pytest.approx(squared(delta, same, documents), abs=1e-7)
    mixed = same + 2 * 30 / judges
    found = float(planning.power(parts, **options, arrangement="mixed"))
    assert found == pytest.approx(squared(delta, mixed, documents), abs=1e-7)


def test_power_of_separate_annotators_is_that_of_a_test_over_their_pairs():
    found = planning.power(V, delta=8, segments=240, annotators=12, arrangement="separate", block=10)
    variance = 2 * (60 + (5 + 20) / 4 + (40 + 60) / 40)  # 40 segments in 4 documents for each pair of annotators
    assert float(found) == pytest.approx(TTestPower().power(8 / np.sqrt(variance), 6, 0.05), abs=1e-7)
    calibrated = planning.power(V, delta=8, segments=240, annotators=12, arrangement="separate", calibration=40)
    variance += 2 * ((20 + 60) / 40 - 60)
    assert float(calibrated) == pytest.approx(TTestPower().power(8 / np.sqrt(variance), 6, 0.05), abs=1e-7)


NAMES = ("arrangement", "delta", "segments", "judgements", "block", "calibration", "annotators")
DESIGNS = [
    ("same", 3, 240, 1, 10, 0, 40),
    ("same", 4, 60, 2, 5, 0, 40),
    ("mixed", 5, 240, 1, 10, 0, 40),
    ("mixed", 3, 200, 2, 10, 10, 40),
    ("separate", 12, 160, 1, 10, 0, 16),
    ("separate", 4, 160, 1, 10, 20, 16),
]


@pytest.mark.parametrize("design", DESIGNS)
def test_closed_form_and_simulation_agree_within_the_simulation_s_error(design):
    design = dict(zip(NAMES, design, strict=True))
    closed = float(planning.power(V, **design))
    low, high = sure(planning.simulate_power(V, **design, resamples=3000, seed=3), 3000)
    assert low <= closed <= high
    assert high - low < 0.07


def test_the_interval_of_simulated_power_is_wilsons():
    found = planning.simulate_power(V, delta=3, segments=100, resamples=500)
    low, high = stats.binomtest(round(found["power"] * 500), 500).proportion_ci(0.95, method="wilson")
    assert (found["power_low"], found["power_high"]) == (low, high)


@given(st.sampled_from(planning.ARRANGEMENTS), st.floats(0.5, 8), st.sampled_from(list(V)), st.integers(2, 8))
def test_power_rises_with_what_helps_and_falls_with_what_scatters(arrangement, delta, name, pairs):
    options = {"arrangement": arrangement, "annotators": 2 * pairs, "block": 5}
    segments = np.array([10, 20, 40, 80]) * pairs
    power = planning.power(V, delta=delta, segments=segments, **options)
    assert (np.diff(power) >= -1e-9).all()
    assert (planning.power(V, delta=2 * delta, segments=segments, **options) >= power - 1e-9).all()
    assert (planning.power({**V, name: 3 * V[name]}, delta=delta, segments=segments, **options) <= power + 1e-9).all()
    assert np.allclose(planning.power(V, delta=-delta, segments=segments, **options), power)


LIKING = {**V, "taste": 6.0}
LIMITS = planning.Limits(capacity=400, most_segments=1200, cost_judgement=0.5, cost_annotator=30, calibrations=(0, 30))


def test_every_planned_design_keeps_its_limits_and_cannot_do_with_a_document_less():
    table = planning.plan(V, delta=4, limits=LIMITS)
    assert set(table["arrangement"]) == set(planning.ARRANGEMENTS)
    assert table["cost"].is_monotonic_increasing
    for row in table.itertuples():
        unit = 10 * (row.annotators // 2 if row.arrangement == "separate" else 1)
        options = {"judgements": row.judgements_each, "annotators": row.annotators, "arrangement": row.arrangement}
        options |= {"calibration": row.calibration, "delta": 4}
        assert float(planning.power(V, segments=row.segments, **options)) == pytest.approx(row.power)
        assert row.power >= 0.8
        if row.segments - unit >= 20:
            assert float(planning.power(V, segments=row.segments - unit, **options)) < 0.8
        assert row.judgements == 2 * row.segments * row.judgements_each + row.annotators * row.calibration
        assert row.judgements <= row.annotators * 400
        assert row.cost == pytest.approx(0.5 * row.judgements + 30 * row.annotators)
        assert row.segments <= 1200
        assert row.annotators >= 3


def test_compared_designs_hold_the_cheapest_of_each_kind():
    table = planning.compare(V, deltas=[4, 8], limits=LIMITS, resamples=400)
    assert table.loc[table["delta"] == 4, "cost"].iloc[0] == planning.plan(V, delta=4, limits=LIMITS)["cost"].iloc[0]
    kinds = table.assign(with_set=table["calibration"] > 0)[["delta", "arrangement", "with_set"]]
    assert not kinds.duplicated().any()
    assert set(planning.compare(V, deltas=[0.1, 8], limits=LIMITS, resamples=100)["delta"]) == {8.0}


FEW_PEOPLE = {"arrangement": "mixed", "annotators": 3, "judgements": 2}


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: planning.power(V, delta=3, segments=100, arrangement="x"), "arrangement='x'"),
        (lambda: planning.power(V, delta=3, segments=10), "two documents"),
        (lambda: planning.power(V, delta=3, segments=100, arrangement="separate", judgements=2), "judged once"),
        (lambda: planning.power(V, delta=3, segments=100, arrangement="separate", annotators=3), "annotators to 4"),
        (lambda: planning.power({"document": 1}, delta=3, segments=100), "item"),
        (lambda: planning.power({**V, "annotator": -1}, delta=3, segments=100), "annotator"),
        (lambda: planning.power(LIKING, delta=3, segments=200, arrangement="mixed"), "independent evidence"),
        (lambda: planning.power(LIKING, delta=3, segments=200, judgements=2), "one of them"),
        (lambda: planning.power(LIKING, delta=3, segments=200, annotators=30), "a document for each"),
        (lambda: planning.simulate_power(V, delta=3, segments=100, **FEW_PEOPLE), "Raise annotators"),
        (lambda: planning.simulate_power(V, delta=3, segments=40, arrangement="separate", annotators=10), "document"),
        (lambda: planning.plan(V, delta=0.1), "most_segments"),
        (lambda: planning.plan(V, delta=0), "above 0"),
        (lambda: planning.compare(V, deltas=[0.1], limits=LIMITS), r"0\.1 points"),
        (lambda: planning.power(BESIDE, delta=1, segments=100, metric=1.0), "correlation of 1 is none"),
        (lambda: planning.Limits(target=1.0), "target"),
        (lambda: planning.Limits(block=0), "fit"),
        (lambda: planning.Limits(calibrations=()), "must be"),
    ],
)
def test_impossible_wishes_are_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()


@pytest.mark.parametrize("annotators", [4, 12])
def test_with_favourites_the_test_is_over_annotators_and_simulation_agrees(annotators):
    design = {"delta": 6, "segments": 240, "annotators": annotators}
    closed = float(planning.power(LIKING, **design))
    documents = 24 / annotators  # of each annotator
    variance = 2 * (6 + (5 + 20 + (40 + 60) / 10) / documents)
    assert closed == pytest.approx(TTestPower().power(6 / np.sqrt(variance), annotators, 0.05), abs=1e-7)
    low, high = sure(planning.simulate_power(LIKING, **design, resamples=6000, seed=5), 6000)
    assert low <= closed <= high
    wrong = float(planning.power({**LIKING, "taste": 12.0}, **design))
    assert not low <= wrong <= high, "an error of the term would show"


def test_each_pair_has_its_cheapest_design_or_none():
    table = pd.DataFrame({"pair": ["quiet", "loud"], **V, "item": 80.0, "note": "", "segment": 0.0})
    table["document"] = [5.0, 9000.0]
    found = planning.by_pair(table, delta=4, limits=LIMITS).set_index("pair")
    expected = planning.plan(components.of_pair(table, "quiet"), delta=4, limits=LIMITS).iloc[0]
    assert found.at["quiet", "segments"] == expected["segments"]
    assert found.loc["loud"].isna().all()


@pytest.mark.parametrize(("deltas", "on_lines"), [([4, 8], True), ([4, 4.01], False)])
def test_power_curves_have_names_on_lines_or_in_a_legend(deltas, on_lines):
    simulated = planning.compare(V, deltas=deltas, limits=LIMITS, resamples=20)
    curves = planning.curve(V, deltas=deltas, segments=range(20, 400, 20))
    for row in curves[::20].itertuples():
        assert row.power == pytest.approx(float(planning.power(V, delta=row.delta, segments=row.segments)))
    axes = draw.power_curves(curves, simulated[simulated["arrangement"] == "same"], target=0.8).axes[0]
    assert (axes.get_legend() is None) == on_lines


# A metric beside people in a plan


@pytest.mark.parametrize(("r", "scored"), [(0.0, 4000), (0.4, 4000), (0.9, 300)])
def test_the_formula_is_what_a_control_variate_finds_in_drawn_campaigns(r, scored):
    """Documents' differences and the metric's are drawn; the test is whether the interval leaves out 0."""
    block, segments, delta, draws = 10, 200, 3.0, 4000
    rng = np.random.default_rng(3)
    documents, others = segments // block, (scored - segments) // block
    sd = np.sqrt(2 * planning.document_variance(BESIDE, block=block))
    y = delta + sd * rng.standard_normal((draws, documents))
    noise = np.sqrt(1 - r**2)
    f = r * (y - delta) / sd + noise * rng.standard_normal(y.shape)
    rest = rng.standard_normal((draws, others))
    found = ppi.mean(y, f, rest, method="control variate" if r else "classical")
    share = float((found.low > 0).mean() + (found.high < 0).mean())
    said = float(planning.power(BESIDE, delta=delta, segments=segments, block=block, metric=r, scored=scored))
    # a slope that is estimated costs a little: 20 documents, so about 1 in 20 of the variance beside chance
    assert share == pytest.approx(said, abs=0.03 if r else 3 * np.sqrt(0.25 / draws))
    plain = float(planning.power(BESIDE, delta=delta, segments=segments, block=block))
    assert said == plain if r == 0 else said > plain


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_a_correlation_is_taken_apart_as_plain_loops_do(seed):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(4, 30)) + 2 * rng.normal(size=30)
    metric = human + rng.normal(size=human.shape)
    names = tuple(f"d{place // 5}:{place}" for place in range(30))
    rows = ppi.correlations(Scores(("m",), tuple("ABCD"), names, metric[None], human), "m").set_index("what")
    pairs = [(a, b) for a in range(4) for b in range(a)]
    gaps = [np.corrcoef(human[a] - human[b], metric[a] - metric[b])[0, 1] ** 2 for a, b in pairs]
    own = [np.corrcoef(human[a], metric[a])[0, 1] ** 2 for a in range(4)]
    shared = np.mean([np.cov(human[a], human[b])[0, 1] for a, b in pairs]) / human.var(axis=1, ddof=1).mean()
    assert rows.loc[ppi.DIFFERENCES, "saved"] == pytest.approx(np.mean(gaps))
    assert rows.loc[ppi.WITHIN, "saved"] == pytest.approx(np.mean(own))
    assert rows.loc[ppi.HARD, "r"] == pytest.approx(np.corrcoef(human.mean(axis=0), metric.mean(axis=0))[0, 1])
    assert rows.loc[[ppi.HARD, ppi.DIFFERENCES], "share"].tolist() == pytest.approx([shared, 1 - shared])
    y, f = (side.reshape(4, 6, 5).mean(axis=2) for side in (human, metric))
    means = [np.corrcoef(y[a] - y[b], f[a] - f[b])[0, 1] ** 2 for a, b in pairs]
    assert rows.loc[ppi.BY_DOCUMENT, "saved"] == pytest.approx(np.mean(means))


def test_what_no_plan_reaches_is_missing():
    found = planning.with_metric(BESIDE, delta=0.01, limits=planning.Limits(), correlations={"m": 0.3})
    assert found[["judgements", "share"]].isna().all(axis=None)
