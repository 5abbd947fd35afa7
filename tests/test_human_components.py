"""Variance components against textbooks and draws; calibration sets against closed forms and enumeration."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.human import calibration, components
from evalkit.show.plots import planning as draw
from tests.makers import laid_out, ratings


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


def test_a_hit_of_twice_as_many_judgements_halves_the_hits_that_a_set_takes_to_pay():
    table = components.estimate(liked(np.random.default_rng(3), taste=0.0))
    done = pd.DataFrame({"pair": ["eng-deu"], "annotators": [10], "additional_hits_median": [4.0]})
    small, large = (calibration.workloads(table, done, hit=hit).iloc[0] for hit in (100, 200))
    assert large["break_even_hits"] == pytest.approx(small["break_even_hits"] / 2)
    assert (small["cost_share"], large["cost_share"]) == (100 / 500, 100 / 900)
    assert large["se_ratio"] < small["se_ratio"]


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


def test_unbalanced_components_are_right_on_average():
    rng = np.random.default_rng(5)
    rows = rng.random((30, 8)) < rng.uniform(0.2, 0.9, 8)
    item, who = np.nonzero(rows)
    factors = {"item": item, "who": who}
    draws = []
    for _ in range(150):
        y = rng.normal(0, 5, 30)[item] + rng.normal(0, 3, 8)[who] + rng.normal(0, 4, len(item))
        draws.append(list(moments(y, factors).values()))
    error = np.std(draws, axis=0, ddof=1) / np.sqrt(len(draws))
    assert (np.abs(np.mean(draws, axis=0) - [25, 9, 16]) < 4 * error).all()


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
ONES, SCORES = judged(np.ones((2, 2))), judged(np.random.default_rng(1).normal(50, 9, (20, 2)))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: moments([1, 2, 3, 4.0], {"a": [0, 0, 1, 1], "b": ["x", "x", "y", "y"]}), "distinguished"),
        (lambda: components.estimate(ONES.assign(item_type="degraded")), "no outputs"),
        (lambda: components.estimate(ONES, layout="x"), "layout='x'"),
        (lambda: components.estimate(judged([[1.0], [2.0]])), "judged twice"),
        (lambda: components.jackknife(SCORES), "three"),
        (lambda: calibration.best_size(V, judgements=1), "two judgements"),
        (lambda: calibration.break_even(V, size=0), "1 or more"),
        (lambda: components.of_pair(OF_A_SET, "deu-eng"), "No components"),
        (lambda: components.of_pair(OF_A_SET, "eng-deu", shared=2), "no share"),
        (lambda: components.of_pair(OF_A_SET, "eng-deu", typed=[1]), "five"),
        (lambda: calibration.smallest_sets(OF_A_SET, error=0), "reached"),
    ],
)
def test_what_makes_no_sense_is_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()


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


def test_the_jackknife_leaves_out_one_annotator_at_a_time():
    judgements = crossed(np.random.default_rng(2), 30, 6, 5, variances=V | {"document": 100.0})
    left = pd.concat(
        components.estimate(judgements[judgements["annotator"] != a]) for a in set(judgements["annotator"])
    )
    assert left["note"].eq("").all(), "none comes out negative, so that those left out would change"
    left = left["residual"]
    expected = np.sqrt(5 / 6 * ((np.array(left) - np.mean(left)) ** 2).sum())
    assert components.jackknife(judgements)["residual"].iloc[0] == pytest.approx(expected)


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
    size = calibration.smallest(V, error=error, block=block)
    scatter = block * V["block"] + V["residual"]
    assert scatter / size <= (error * (1 + 1e-9)) ** 2
    assert size == 1 or scatter / (size - 1) > error**2


@given(st.floats(0, 200), st.floats(0, 200), st.floats(1, 200), st.integers(2, 200), st.integers(1, 100))
def test_at_the_break_even_both_ways_are_equally_good(item, annotator, residual, size, block):
    parts = {"document": 3.0, "item": item, "annotator": annotator, "block": 5.0, "residual": residual}
    needed = calibration.break_even(parts, size=size, block=block)
    if np.isinf(needed):
        assert annotator <= (5 + residual) / size * (1 + 1e-9)
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
            error = rng.normal(0, np.sqrt(V["block"] + V["residual"]), (size, people)).mean(axis=0)
            levels = -error
        who = rng.integers(0, people, (2, documents))
        scores = levels[who][..., None] + rng.normal(0, np.sqrt(V["item"] + V["residual"]), (2, documents, block))
        scores += rng.normal(0, np.sqrt(V["block"] + V["document"]), (2, documents, 1))
        found.append(scores[0].mean() - scores[1].mean())
    expected = calibration.difference_variance(V, judgements=documents * block, block=block, calibration=size)
    assert np.var(found) == pytest.approx(float(expected), rel=4 * np.sqrt(2 / 3000))


def test_pictures_take_any_name():
    judgements = crossed(np.random.default_rng(3), 40, 6, 5).assign(src_lang="$x$")
    table = components.estimate(judgements)
    drawn = calibration.calibration_size(judgements, sizes=(5, 10), resamples=50)
    for figure in (draw.shares(table), draw.calibration_errors(drawn)):
        figure.canvas.draw()  # an unclosed equation would raise here
