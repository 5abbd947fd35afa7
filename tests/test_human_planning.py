"""Variance components, plans made of them, and calibration sets: by hand, against statsmodels, and in simulation."""

import functools
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from evalkit import DataError, campaign
from evalkit.human import calibration, components, planning
from evalkit.metrics import ppi
from evalkit.metrics.scores import Scores
from tests.makers import COMPONENTS, laid_out, ratings


def moments(y, factors):
    """Estimate the components of factors, negative ones too, with nothing fixed but the mean."""
    return components.equate(y, factors).solve(list(factors))


V = {"document": 5.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
#: Montgomery, Design and Analysis of Experiments: strength of fabric from four looms.
LOOMS = [98, 97, 99, 96, 91, 90, 93, 92, 96, 95, 97, 95, 95, 96, 99, 98]


def judged(scores, *, documents=None, item_type="calibration", system="S0"):
    """Lay out items x annotators as ratings; documents: the document of each item."""
    return laid_out(scores, "segment annotator", documents=documents, item_type=item_type, system=system)


def spreads(variances):
    """Return the standard deviations that a campaign is drawn with: of nothing else than what is named."""
    return {"segment": 0.0, "annotator": 0.0} | {name: value**0.5 for name, value in variances.items()}


def crossed(rng, items, people, documents, *, variances=V):
    """Draw a calibration table with known components."""
    sizes = {"systems": 1, "documents": documents, "length": items // documents, "people": people}
    return ratings(rng, **sizes, spread=spreads(variances), scale=None, item_type="calibration")


def liked(rng, *, taste):
    """Draw a calibration table of three documents of each of four systems, which annotators like differently."""
    sizes = {"systems": 4, "documents": 12, "length": 5, "people": 10, "gap": 0.0}
    table = ratings(rng, **sizes, spread=spreads(V | {"taste": taste}), scale=None, item_type="calibration")
    own = table["doc"].str[1:].astype(int) % 4 == table["system"].str[1:].astype(int)
    return table[own].reset_index(drop=True)


def test_where_no_liking_is_found_the_other_causes_are_as_without_it():
    """Else a negative estimate would make room for the others, and plans with favourites be cheaper than without."""
    seen = 0
    for seed in range(5):
        table = liked(np.random.default_rng(seed), taste=0.0)
        found, without = components.estimate(table, taste=True), components.estimate(table)
        if "taste" in found["note"].iloc[0]:
            seen += 1
            causes = [*components.LAYOUTS["calibration"], "residual"]
            assert found[causes].equals(without[causes])
            assert found["taste"].iloc[0] == 0
    assert seen


def test_liking_is_a_component_where_somebody_judged_several_documents_of_a_system():
    table = liked(np.random.default_rng(2), taste=40.0)
    found = components.estimate(table, taste=True).iloc[0]
    assert found["taste"] > 10
    once = components.estimate(table[table["doc"].isin(["d00", "d01", "d02", "d03"])], taste=True).iloc[0]
    assert np.isnan(once["taste"])
    assert np.isfinite(once["block"]), "what cannot be told from the block stays in it"


def test_components_of_a_textbook_example():
    found = moments(LOOMS, {"loom": np.repeat(list("abcd"), 4)})
    assert (round(found["loom"], 2), round(found["residual"], 2)) == (6.96, 1.90)


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 6))
def test_balanced_components_are_those_of_the_analysis_of_variance(seed, people, items):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"item": np.repeat(np.arange(items), people), "who": np.tile(np.arange(people), items)})
    frame["y"] = rng.normal(0, 3, items)[frame["item"]] + rng.normal(0, 2, people)[frame["who"]]
    frame["y"] += rng.normal(0, 1, len(frame))
    table = sm.stats.anova_lm(smf.ols("y ~ C(item) + C(who)", frame).fit())
    square = table["sum_sq"] / table["df"]
    found = moments(frame["y"], {"item": frame["item"], "who": frame["who"]})
    assert found["residual"] == pytest.approx(square["Residual"], rel=1e-8)
    assert found["item"] == pytest.approx((square["C(item)"] - square["Residual"]) / people, rel=1e-8, abs=1e-10)
    assert found["who"] == pytest.approx((square["C(who)"] - square["Residual"]) / items, rel=1e-8, abs=1e-10)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(-50, 50), st.floats(0.5, 4))
def test_components_follow_shift_scale_order_and_names(seed, shift, scale):
    rng = np.random.default_rng(seed)
    item, who = rng.integers(0, 6, 60), rng.integers(0, 4, 60)
    y = rng.normal(0, 5, 60) + 4.0 * who
    base = moments(y, {"item": item, "who": who})
    order = rng.permutation(60)
    renamed = {"item": (item + 9)[order].astype(str), "who": (7 - who)[order].astype(str)}
    moved = moments((shift + scale * y)[order], renamed)
    assert np.allclose(list(moved.values()), scale**2 * np.array(list(base.values())), rtol=1e-6, atol=1e-6)


def test_what_cannot_be_told_apart_is_said():
    one = components.estimate(judged(np.random.default_rng(1).normal(50, 9, (20, 4)))).iloc[0]
    assert "not separable: document, block" in one["note"]
    assert np.isnan(one["block"])
    flat = components.estimate(judged(np.tile([[1.0, 2.0], [2.0, 1.0]], (4, 1)))).iloc[0]
    assert "negative, set to 0: item, annotator" in flat["note"]
    assert flat["annotator"] == 0


#: A calibration set's components.
OF_A_SET = components.estimate(crossed(np.random.default_rng(2), 30, 6, 5))


def test_variances_share_out_or_are_typed_in():
    half, none = (components.of_pair(OF_A_SET, "eng-deu", shared=share) for share in (0.5, 0.0))
    assert half["item"] == pytest.approx(none["item"] / 2)
    assert half["annotator"] == none["annotator"]
    assert components.of_pair(OF_A_SET, "?", typed=[5, 40, 60, 20, 60]) == V


def test_factors_of_equally_many_levels_are_not_taken_for_the_same():
    judgements = crossed(np.random.default_rng(2), 30, 6, 5)  # 5 documents x 6 annotators: as many as items
    found = components.estimate(judgements).iloc[0]
    assert found["note"] == ""
    names = {"document": ["doc"], "item": ["segment"], "annotator": ["annotator"], "block": ["doc", "annotator"]}
    codes = {name: judgements.groupby(key).ngroup() for name, key in names.items()}
    expected = moments(judgements["score"], codes)
    assert found[list(expected)].astype(float).to_dict() == pytest.approx(expected)


def enumerated(scores, size, people):
    """Return the root mean square error of the shift over every set of items and every group of annotators."""
    full, errors = scores.mean(axis=0), []
    for items in combinations(range(len(scores)), size):
        drawn = scores[list(items)].mean(axis=0)
        for who in map(list, combinations(range(scores.shape[1]), people)):
            errors.extend((drawn[who].mean() - drawn[who]) - (full.mean() - full[who]))
    return np.sqrt(np.mean(np.square(errors)))


@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_closed_form_of_the_shift_equals_enumeration(size):
    scores = np.random.default_rng(4).normal(60, 15, (6, 4))
    table = calibration.calibration_size(judged(scores, documents=[0, 0, 1, 1, 2, 2]), sizes=(size,), resamples=4000)
    for row in table[table["design"] == "segments"].itertuples():
        expected = enumerated(scores, size, row.annotators)
        assert row.se_closed_form == pytest.approx(expected, rel=1e-9)
        assert row.se_subsampled == pytest.approx(expected, rel=0.05)


@given(st.floats(0.5, 10), st.integers(1, 12))
def test_the_smallest_set_is_the_smallest(error, block):
    table = pd.DataFrame({"pair": ["eng-deu"], "block_length": [float(block)], **V})
    size = calibration.smallest_sets(table, error=error)["whole_documents"].iloc[0]
    scatter = block * V["block"] + V["residual"]
    assert scatter / size <= (error * (1 + 1e-9)) ** 2
    assert size == 1 or scatter / (size - 1) > error**2


@given(st.floats(0, 200), st.floats(0, 200), st.floats(1, 200), st.integers(2, 200), st.integers(1, 100))
def test_at_the_break_even_both_ways_are_equally_good(item, annotator, residual, size, block):
    parts = {"document": 3.0, "item": item, "annotator": annotator, "block": 5.0, "residual": residual}
    needed, *_ = calibration.weigh_set(parts, judgements=size + 1, size=size, block=block)
    if np.isinf(needed):
        assert annotator <= (5 * block + residual) / size * (1 + 1e-9)
        return
    with_set = calibration.difference_variance(parts, judgements=needed, block=block, calibration=size)
    without = calibration.difference_variance(parts, judgements=needed + size, block=block)
    assert with_set == pytest.approx(without, rel=1e-9)
    more = calibration.difference_variance(parts, judgements=2 * needed, block=block, calibration=size)
    assert more < calibration.difference_variance(parts, judgements=2 * needed + size, block=block)


@pytest.mark.parametrize("size", [0, 20])
def test_the_variance_of_a_difference_is_that_of_simulated_campaigns(size):
    """Deal documents of two systems out to annotators by chance, judgement by judgement."""
    rng = np.random.default_rng(6)
    people, documents, block = 15, 12, 5
    found = []
    for _ in range(3000):
        levels = rng.normal(0, np.sqrt(V["annotator"]), people)
        if size:
            errors = rng.normal(0, np.sqrt(V["block"]), (size // block, 1, people))
            errors = errors + rng.normal(0, np.sqrt(V["residual"]), (size // block, block, people))
            levels = -errors.mean(axis=(0, 1))
        who = rng.integers(0, people, (2, documents))
        scores = levels[who][..., None] + rng.normal(0, np.sqrt(V["item"] + V["residual"]), (2, documents, block))
        scores += rng.normal(0, np.sqrt(V["block"] + V["document"]), (2, documents, 1))
        found.append(scores[0].mean() - scores[1].mean())
    expected = calibration.difference_variance(V, judgements=documents * block, block=block, calibration=size)
    assert np.var(found) == pytest.approx(float(expected), rel=4 * np.sqrt(2 / 3000))


# Planning


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
    for arrangement, variance in {"same": same, "mixed": same + 2 * 30 / judges}.items():
        found = float(planning.power(parts, **options, arrangement=arrangement))
        assert found == pytest.approx(squared(delta, variance, documents), abs=1e-7)


NAMES = ("arrangement", "delta", "segments", "judgements", "block", "calibration", "annotators")
DESIGNS = [
    ("same", 3, 240, 1, 10, 0, 40),
    ("same", 4, 60, 2, 5, 0, 40),
    ("mixed", 5, 240, 1, 10, 0, 40),
    ("mixed", 3, 200, 2, 10, 10, 40),
]


@pytest.mark.parametrize("design", DESIGNS)
def test_closed_form_and_simulation_agree_within_the_simulation_s_error(design):
    design = dict(zip(NAMES, design, strict=True))
    closed = float(planning.power(V, **design))
    found = planning.simulate_power(V, **design, resamples=3000, seed=3)
    low, high = sure(found, 3000)
    assert low <= closed <= high
    interval = stats.binomtest(round(found["power"] * 3000), 3000).proportion_ci(0.95, method="wilson")
    assert (found["power_low"], found["power_high"]) == (interval.low, interval.high)
    assert high - low < 0.07


LIKING = {**V, "taste": 6.0}
LIMITS = planning.Limits(capacity=400, most_segments=1200, cost_judgement=0.5, cost_annotator=30, calibrations=(0, 30))


def test_every_planned_design_keeps_its_limits_and_cannot_do_with_a_document_less():
    table = planning.plan(V, delta=4, limits=LIMITS)
    assert set(table["arrangement"]) == set(planning.ARRANGEMENTS)
    assert table["cost"].is_monotonic_increasing
    for row in table.itertuples():
        options = {"judgements": row.judgements_each, "annotators": row.annotators, "arrangement": row.arrangement}
        options |= {"calibration": row.calibration, "delta": 4}
        assert float(planning.power(V, segments=row.segments, **options)) == pytest.approx(row.power)
        assert row.power >= 0.8
        if row.segments - 10 >= 20:
            assert float(planning.power(V, segments=row.segments - 10, **options)) < 0.8
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


ONES, SCORES = judged(np.ones((2, 2))), judged(np.random.default_rng(1).normal(50, 9, (20, 2)))
FEW_PEOPLE = {"arrangement": "mixed", "annotators": 3, "judgements": 2}


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: planning.power(V, delta=3, segments=100, arrangement="x"), "arrangement='x'"),
        (lambda: planning.power(V, delta=3, segments=10), "two documents"),
        (lambda: planning.power({"document": 1}, delta=3, segments=100), "item"),
        (lambda: planning.power({**V, "annotator": -1}, delta=3, segments=100), "annotator"),
        (lambda: planning.power(LIKING, delta=3, segments=200, arrangement="mixed"), "independent evidence"),
        (lambda: planning.power(LIKING, delta=3, segments=200, judgements=2), "segment once"),
        (lambda: planning.power(LIKING, delta=3, segments=200, annotators=30), "a document for each"),
        (lambda: planning.simulate_power(V, delta=3, segments=100, **FEW_PEOPLE), "Raise annotators"),
        (lambda: planning.simulate_power(LIKING, delta=3, segments=40, annotators=10), "document"),
        (lambda: planning.plan(V, delta=0.1), "most_segments"),
        (lambda: planning.plan(V, delta=0), "above 0"),
        (lambda: planning.compare(V, deltas=[0.1], limits=LIMITS), r"0\.1 points"),
        (lambda: planning.power(BESIDE, delta=1, segments=100, metric=1.0), "not 1"),
        (lambda: planning.Limits(target=1.0), "target"),
        (lambda: planning.Limits(block=0), "fit"),
        (lambda: moments([1, 2, 3, 4.0], {"a": [0, 0, 1, 1], "b": ["x", "x", "y", "y"]}), "distinguished"),
        (lambda: components.estimate(ONES.assign(item_type="degraded")), "no outputs"),
        (lambda: components.estimate(judged([[1.0], [2.0]])), "judged twice"),
        (lambda: components.of_pair(OF_A_SET, "deu-eng"), "No components"),
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


# Plans follow from differences between systems


TRUE = {"document": 0.0, "item": 0.0, "annotator": 25.0, "block": 8.0, "residual": 60.0, "taste": 4.0}
KEYS = {name: ["segment" if factor == "place" else factor for factor in key] for name, key in COMPONENTS.items()}


def drawn(seed, *, each=1, docs=48, **true):
    """Draw a campaign with known components; whoever judges a document judges it by all systems."""
    spread = {name: value**0.5 for name, value in {**TRUE, "text": 20.0, "segment": 15.0, **true}.items()}
    sizes = {"documents": docs, "length": 4, "people": 12, "each": each}
    table = ratings(seed, **sizes, gap=-2, level=50, spread=spread, scale=None)
    place = table["segment"].astype(int) % 4 + 1  # counted in its document
    return table.assign(segment=place.astype(str), score=table["score"].round(1))


def moved(table, what):
    """Add a constant to each document, segment or annotator, the same for all systems."""
    codes = table.groupby(KEYS[what]).ngroup()
    added = np.random.default_rng(1).uniform(-12, 12, codes.max() + 1).round(1)
    return table.assign(score=(table["score"] + added[codes]).round(1))


def planned(path, layout):
    """Return the cheapest design, without and with liking, on whatever scale."""
    pilot = campaign.read_pilot(str(path), layout=layout, scale=(-50, 150))
    found = [components.estimate(pilot.ratings, layout=pilot.layout, taste=taste) for taste in (False, True)]
    limits = planning.Limits(most_segments=10_000)
    return pd.concat(planning.by_pair(table, delta=1.5, limits=limits) for table in found).drop(columns="power")


#: Layout, and how many of twelve people judge each document; who judged is unknown to the one of "unnamed".
LAYOUTS = [("campaign", 1), ("campaign", 3), ("campaign", 12), ("numbered", 3), ("calibration", 3), ("unnamed", 3)]


@pytest.mark.parametrize(("layout", "each"), [*LAYOUTS, ("renamed", 3)])
def test_constants_that_all_systems_share_change_no_plan(tmp_path, layout, each):
    """Renamed: documents named anew for each system, as in Mechanical Turk's files; systems share segments' numbers."""
    plans, table = [], drawn(5, each=each, docs=12)
    shared = ("text", "segment") if layout == "unnamed" else ("text", "segment", "annotator")
    for k, rows in enumerate([table, functools.reduce(moved, shared, table)]):
        if layout == "renamed":
            number = rows.groupby(KEYS["segment"]).ngroup().astype(str)
            rows = rows.assign(segment=number, doc=rows["doc"] + rows["system"])
        rows.drop(columns="item_type").to_csv(tmp_path / f"{k}.csv", index=False)
        plans.append(planned(tmp_path / f"{k}.csv", "numbered" if layout == "renamed" else layout))
    pd.testing.assert_frame_equal(*plans)


def test_what_cannot_be_told_of_people_is_not_planned_with():
    """Strictness cannot be told from documents that are hard where each has one judge: it is no 0."""
    table = drawn(3)
    variances = components.of_pair(components.estimate(table, layout="campaign"), "eng-deu")
    designs = planning.plan(variances, delta=3)
    assert set(designs["arrangement"]) == {"same"}
    known = planning.plan(variances | {"annotator": 25.0}, delta=3)
    assert set(known["arrangement"]) == {"same", "mixed"}
    pd.testing.assert_frame_equal(known[known["arrangement"] == "same"].reset_index(drop=True), designs)


def anova(table):
    """Work out block, taste and residual where each document is judged by one person, by mean squares."""
    y = table["score"] - table.groupby(KEYS["segment"])["score"].transform("mean")
    y = y - y.groupby(table["system"]).transform("mean")
    by_person, by_document = (
        y.groupby([table[k] for k in KEYS[name]]).transform("mean") for name in ("taste", "block")
    )
    people, systems, docs = (table[name].nunique() for name in ("annotator", "system", "doc"))
    length, each = table["segment"].nunique(), docs // people
    free = systems - 1
    tastes = (by_person**2).sum() / ((people - 1) * free)
    blocks = ((by_document - by_person) ** 2).sum() / ((docs - people) * free)
    noise = ((y - by_document) ** 2).sum() / (docs * (length - 1) * free)
    return {"block": (blocks - noise) / length, "taste": (tastes - blocks) / (length * each), "residual": noise}


def test_components_of_a_balanced_campaign_are_those_of_the_analysis_of_variance():
    table = next(table for table in map(drawn, range(40)) if min(anova(table).values()) > 0)
    found = components.estimate(table, layout="campaign", taste=True).iloc[0]
    assert {name: found[name] for name in anova(table)} == pytest.approx(anova(table), rel=1e-6)
    assert np.isnan(found["annotator"]), "nobody judged what others judged"
