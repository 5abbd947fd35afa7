"""A metric beside people in a plan: the formula against drawn campaigns, laws, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.human import planning
from evalkit.metrics import paired, powered
from evalkit.metrics.metaeval.scores import Scores

V = {"document": 4.0, "item": 60.0, "annotator": 50.0, "block": 15.0, "residual": 80.0}


@pytest.mark.parametrize(("r", "scored"), [(0.0, 4000), (0.4, 4000), (0.7, 400), (0.9, 300)])
def test_the_formula_is_what_a_control_variate_finds_in_drawn_campaigns(r, scored):
    """Documents' differences and the metric's are drawn; the test is whether the interval leaves out 0."""
    block, segments, delta, draws = 10, 200, 3.0, 4000
    rng = np.random.default_rng(3)
    documents, others = segments // block, (scored - segments) // block
    sd = np.sqrt(2 * planning.document_variance(V, block=block))
    y = delta + sd * rng.standard_normal((draws, documents))
    noise = np.sqrt(1 - r**2)
    f = r * (y - delta) / sd + noise * rng.standard_normal(y.shape)
    rest = rng.standard_normal((draws, others))
    found = powered.mean(y, f, rest, method="control variate" if r else "classical")
    share = float((found.low > 0).mean() + (found.high < 0).mean())
    said = float(planning.power(V, delta=delta, segments=segments, block=block, metric=r, scored=scored))
    # a slope that is estimated costs a little: 20 documents, so about 1 in 20 of the variance beside chance
    assert share == pytest.approx(said, abs=0.03 if r else 3 * np.sqrt(0.25 / draws))
    plain = float(planning.power(V, delta=delta, segments=segments, block=block))
    assert said == plain if r == 0 else said > plain


@given(st.floats(0, 0.95), st.sampled_from(["same", "mixed", "separate"]), st.integers(20, 200))
@settings(max_examples=40, deadline=None)
def test_a_better_metric_never_needs_more_and_a_whole_judged_set_has_nothing_to_gain(r, arrangement, documents):
    design = {"delta": 2.0, "segments": 10 * documents, "arrangement": arrangement, "annotators": 10, "block": 10}
    low, high = (float(planning.power(V, **design, metric=one)) for one in (r, min(r + 0.04, 0.99)))
    assert high >= low - 0.003 * (r == 0)  # the first costs a degree of freedom
    alone = float(planning.power(V, **design))
    judged_all = float(planning.power(V, **design, metric=r, scored=10 * documents))
    assert judged_all <= alone + 1e-12


def test_endless_scored_segments_save_r_squared():
    limits = planning.Limits(block=1, most_segments=400_000, capacity=10**6, most_judgements=1)
    found = planning.with_metric(V, delta=1.0, limits=limits, correlations={"good": 0.7, "as said": -0.37})
    rows = found.set_index("metric")
    assert rows.loc[planning.ALONE, ["r", "at_most", "fewer", "share"]].tolist() == [0, 0, 0, 0]
    for name in ("good", "as said"):
        row = rows.loc[name]
        part = row["segments"] / limits.most_segments  # what is judged has nothing left to be scored
        assert row["share"] == pytest.approx(row["at_most"] * (1 - part), abs=0.002)
    plain = planning.plan(V, delta=1.0, limits=limits).iloc[0]
    assert rows.loc[planning.ALONE, "judgements"] == plain["judgements"]


def test_no_metric_takes_off_what_people_like_or_how_strict_they_are():
    r, design = 0.8, {"delta": 3.0, "segments": 400, "annotators": 8, "block": 10}
    scaled = {name: (1 if name in ("annotator", "taste") else 1 - r**2) * value for name, value in V.items()}
    for arrangement, taste in (("same", 5.0), ("mixed", 0.0), ("separate", 5.0)):
        with_it = planning.power(V | {"taste": taste}, **design, arrangement=arrangement, metric=r)
        cleaner = planning.power(scaled | {"taste": taste}, **design, arrangement=arrangement)
        assert float(cleaner) - 0.06 < float(with_it) < float(cleaner)  # the slope's degree of freedom


def test_what_cannot_be_planned_is_missing_or_refused():
    found = planning.with_metric(V, delta=0.01, limits=planning.Limits(), correlations={"m": 0.3})
    assert found["judgements"].isna().all()
    assert found["share"].isna().all()
    with pytest.raises(DataError, match="correlation of 1 is none"):
        planning.power(V, delta=1, segments=100, metric=1.0)


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_a_correlation_is_taken_apart_as_plain_loops_do(seed):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(4, 30)) + 2 * rng.normal(size=30)
    metric = human + rng.normal(size=human.shape)
    names = tuple(f"d{place // 5}:{place}" for place in range(30))
    rows = paired.correlations(Scores(("m",), tuple("ABCD"), names, metric[None], human), "m").set_index("what")
    pairs = [(a, b) for a in range(4) for b in range(a)]
    gaps = [np.corrcoef(human[a] - human[b], metric[a] - metric[b])[0, 1] ** 2 for a, b in pairs]
    own = [np.corrcoef(human[a], metric[a])[0, 1] ** 2 for a in range(4)]
    shared = np.mean([np.cov(human[a], human[b])[0, 1] for a, b in pairs]) / human.var(axis=1, ddof=1).mean()
    assert rows.loc[paired.DIFFERENCES, "saved"] == pytest.approx(np.mean(gaps))
    assert rows.loc[paired.WITHIN, "saved"] == pytest.approx(np.mean(own))
    assert rows.loc[paired.HARD, "r"] == pytest.approx(np.corrcoef(human.mean(axis=0), metric.mean(axis=0))[0, 1])
    assert rows.loc[[paired.HARD, paired.DIFFERENCES], "share"].tolist() == pytest.approx([shared, 1 - shared])
    y, f = (side.reshape(4, 6, 5).mean(axis=2) for side in (human, metric))
    means = [np.corrcoef(y[a] - y[b], f[a] - f[b])[0, 1] ** 2 for a, b in pairs]
    assert rows.loc[paired.BY_DOCUMENT, "saved"] == pytest.approx(np.mean(means))
