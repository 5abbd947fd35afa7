"""Profiles of annotators: each column against an oracle, its laws, and what happens where information is missing."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evalkit import DataError
from evalkit.data.provenance import like
from evalkit.data.schemas import with_pair
from evalkit.human import annotators
from evalkit.human.annotators.quality_control import paired_t, signed_rank
from evalkit.human.annotators.screening import MEASURES


def judged(annotator, scores, *, doc="d", segments=None, item_type="system", **more):
    segments = range(len(scores)) if segments is None else segments
    frame = pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "jpn",
            "system": "s",
            "doc": doc,
            "segment": [str(s) for s in segments],
            "annotator": annotator,
            "score": np.asarray(scores, dtype=float),
            "item_type": item_type,
            "hit": annotator,
            **more,
        }
    )
    return like(frame, frame, scale=(0, 100))


def crowd(rng, *, people=6, items=40, missing=0.4):
    """Draw annotators who share a quality and skip some items."""
    quality = rng.normal(60, 15, items)
    scores = (quality[:, None] + rng.normal(0, 12, (items, people))).round().clip(0, 100)
    keep = rng.random(scores.shape) > missing
    parts = [judged(f"a{p}", scores[keep[:, p], p], segments=np.flatnonzero(keep[:, p])) for p in range(people)]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def turk21(real):
    return real("wmt21-mturk")


@pytest.fixture(scope="module")
def turk22(real):
    return real("wmt22-mturk")


scores_0_100 = st.lists(st.integers(0, 100), min_size=4, max_size=40)


@given(scores_0_100)
def test_bimodality_equals_its_formula_and_forgets_the_units(scores):
    values = np.array(scores, float)
    found = annotators.bimodality(judged("a", values))["bimodality"][0]
    if len(set(scores)) == 1:
        assert np.isnan(found)
        return
    n = len(values)
    g1, g2 = stats.skew(values, bias=False), stats.kurtosis(values, bias=False)
    assert found == pytest.approx((g1**2 + 1) / (g2 + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))), rel=1e-6)
    again = annotators.bimodality(judged("a", 100 - values / 2))["bimodality"][0]
    assert again == pytest.approx(found, rel=1e-6)


def test_even_use_of_the_scale_has_five_ninths():
    even = annotators.bimodality(judged("a", list(range(101)) * 40))["bimodality"][0]
    assert even == pytest.approx(5 / 9, abs=1e-3)
    two = annotators.bimodality(judged("a", [0, 100] * 100))["bimodality"][0]
    assert two > 0.9


# grids


def people_on(ticks, rng, *, judgements=120, stray=0.1):
    """Draw scores on a grid of ticks, one point off at times, a few anywhere."""
    on = rng.choice(np.linspace(0, 100, ticks), judgements) + rng.choice([-1, 0, 0, 0, 1], judgements)
    anywhere = rng.integers(0, 101, judgements)
    return np.where(rng.random(judgements) < stray, anywhere, on.round()).clip(0, 100)


@pytest.mark.parametrize("ticks", annotators.GRIDS)
def test_a_grid_in_use_is_found_among_those_that_contain_it(ticks):
    rng = np.random.default_rng(ticks)
    ratings = pd.concat([judged(f"a{k}", people_on(ticks, rng, judgements=300)) for k in range(12)])
    found = annotators.scale_grid(ratings)
    assert found.loc[found["in_use"], "ticks"].tolist() == [ticks] * 12


def test_smooth_scores_and_single_heaps_have_no_grid():
    rng = np.random.default_rng(3)
    shapes = [
        lambda: rng.beta(6, 2, 200) * 100,
        lambda: rng.beta(0.5, 0.5, 200) * 100,
        lambda: rng.normal(75, 6, 200),
        lambda: rng.normal(85, 0.8, 200),
        lambda: rng.choice([50, 100], 200),
        lambda: rng.uniform(40, 100, 200),
    ]
    ratings = pd.concat([judged(f"a{k:03}", np.round(shapes[k % len(shapes)]()).clip(0, 100)) for k in range(300)])
    # at a familywise 5 % one false grid may occur in an unlucky draw; without adjustment there would be dozens
    assert annotators.scale_grid(ratings)["in_use"].sum() <= 1


def test_the_test_of_a_grid_equals_a_binomial_count_by_hand():
    rng = np.random.default_rng(5)
    values = people_on(7, rng, stray=0.5)
    found = annotators.scale_grid(judged("a", values), candidates=(5, 7, 13)).set_index("ticks")
    for ticks, row in found.iterrows():
        marks = np.linspace(0, 100, ticks)
        step, cells = 100 / (ticks - 1), []
        for mark in marks[1:-1]:
            cell = [p for p in range(101) if np.abs(p - marks).argmin() == list(marks).index(mark)]
            near = [p for p in cell if abs(p - mark) <= min(1, step / 8)]
            cells.append((np.isin(values, cell).sum(), np.isin(values, near).sum(), len(near) / len(cell)))
        best = max(range(len(cells)), key=lambda k: cells[k][1] - cells[k][0] * cells[k][2])
        rest = [cell for k, cell in enumerate(cells) if k != best]
        n, hits = sum(c[0] for c in rest), sum(c[1] for c in rest)
        rate = sum(c[0] * c[2] for c in rest) / n
        assert row["p"] == pytest.approx(stats.binomtest(hits, n, rate, alternative="greater").pvalue)
        assert row["n"] == sum(c[0] for c in cells)
        assert row["on_ticks"] == pytest.approx(sum(c[1] for c in cells) / row["n"])


def test_a_tick_that_no_point_of_the_scale_is_nearest_to_counts_for_nothing():
    """On a scale from 1 to 5, thirteen ticks leave cells without a whole number; nothing may be divided by those."""
    stars = judged("a", [1.0, 2.0, 3.0, 4.0, 5.0] * 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = annotators.scale_grid(stars, candidates=(5, 13), scale=(1, 5))
    assert found["p"].between(0, 1).all()


def test_p_values_are_adjusted_within_each_language_pair_as_statsmodels_does():
    rng = np.random.default_rng(6)
    ratings = pd.concat([judged(f"a{k}", people_on(7, rng, judgements=25, stray=0.6)) for k in range(8)])
    both = pd.concat([ratings, ratings.assign(tgt_lang="deu").iloc[:50]])
    found = annotators.scale_grid(both)
    for _, rows in found.groupby("pair"):
        np.testing.assert_allclose(rows["p_adjusted"], multipletests(rows["p"], method="holm")[1])


def test_a_grid_needs_ticks_inside_and_scores_on_the_scale():
    with pytest.raises(DataError, match="fewer than 4 ticks"):
        annotators.scale_grid(judged("a", [1, 2]), candidates=(3, 5))
    with pytest.raises(DataError, match="outside 0-50"):
        annotators.scale_grid(judged("a", [1, 60]), scale=(0, 50))


def test_wmt22_annotators_use_seven_ticks_or_the_midpoints_too(real):
    found = annotators.scale_grid(real("wmt22-calibration-hits"))
    assert set(found.loc[found["in_use"], "ticks"]) == {7, 13}


def test_mechanical_turk_workers_of_wmt21_use_five_ticks_and_no_other(turk21):
    found = annotators.scale_grid(turk21)
    assert set(found.loc[found["in_use"], "ticks"]) == {5}


# others


@given(st.integers(0, 10_000))
def test_agreement_with_the_others_equals_scipy_item_by_item(seed):
    ratings = crowd(np.random.default_rng(seed))
    wide = ratings.pivot(index="segment", columns="annotator", values="score")
    found = annotators.agreement_with_others(ratings).set_index("annotator")
    for name in wide:
        rest = wide.drop(columns=name).mean(axis=1)
        both = wide[name].notna() & rest.notna()
        assert found.at[name, "shared"] == both.sum()
        expected = stats.spearmanr(wide[name][both], rest[both]).statistic if both.sum() >= 10 else np.nan
        assert found.at[name, "with_others"] == pytest.approx(expected, nan_ok=True)


def test_degraded_items_have_no_others_and_references_are_items_of_their_own():
    ratings = pd.concat(
        [
            judged("a", [10, 20]),
            judged("b", [30, 40]),
            judged("b", [50], item_type="repeat", segments=[0]),
            judged("b", [0], item_type="degraded", segments=[1]),
            judged("a", [90], item_type="reference"),
            judged("c", [99], item_type="reference"),
        ]
    )
    found = annotators.beside_others(ratings).set_index(["annotator", "segment"])["others"]
    assert found.loc[[("a", "1")]].tolist() == [40]
    assert sorted(found.loc[[("a", "0")]]) == [40, 99]  # the mean of b's 30 and 50; c's of the reference
    assert found.loc[[("c", "0")]].tolist() == [90]
    assert len(found) == 6


# pace


def test_speed_is_the_median_of_what_is_known():
    started = [0.0, 10, 20, 90]
    timed = judged("a", [1, 2, 3, 4], started=started, ended=[4.0, 16, 20, 190])  # the third took no time at all
    assert annotators.speed(timed).to_dict("records") == [
        {"pair": "eng-jpn", "annotator": "a", "seconds": 6.0, "seconds_from": "started and ended"}
    ]
    hits = pd.concat(
        [judged("a", [1, 2], hit_seconds=30.0), judged("a", [1] * 4, hit_seconds=20.0).assign(hit="other")]
    )
    assert annotators.speed(hits)["seconds"].tolist() == [10.0]
    unknown = annotators.speed(judged("a", [1]))
    assert np.isnan(unknown["seconds"][0])
    assert unknown["seconds_from"].tolist() == [""]


def test_drift_equals_weighted_least_squares_on_means_of_documents():
    rng = np.random.default_rng(1)
    sizes = rng.integers(2, 7, 9)
    doc = np.repeat(np.arange(9), sizes)
    scores = rng.integers(0, 101, len(doc))
    ratings = judged("a", scores, doc=[f"d{k}" for k in doc], started=10.0 * np.arange(len(doc)))
    x = pd.Series((np.arange(len(doc)) + 1) / 100).groupby(doc).mean()
    fit = sm.WLS(pd.Series(scores).groupby(doc).mean(), sm.add_constant(x), weights=sizes).fit()
    found = annotators.drift(ratings).iloc[0]
    assert found["drift"] == pytest.approx(fit.params.iloc[1])
    assert found["drift_p"] == pytest.approx(fit.pvalues.iloc[1])
    assert found["drift_of"] == "score"


def campaign(rng, trend, *, people=5, docs=12, size=8):
    """Draw annotators who score the same documents in the same order, each with a trend in points a judgement."""
    doc = np.repeat(np.arange(docs), size)
    quality = rng.normal(60, 10, len(doc))
    return pd.concat(
        [
            judged(
                f"a{p}",
                quality + trend[p] * np.arange(len(doc)) + rng.normal(0, 5, len(doc)),
                doc=[f"d{k}" for k in doc],
                started=5.0 * np.arange(len(doc)),
            )
            for p in range(people)
        ],
        ignore_index=True,
    )


def test_a_drift_is_found_and_one_that_all_share_is_not():
    rng = np.random.default_rng(2)
    alone = annotators.drift(campaign(rng, [0, 0, 0, 0, 0.2])).set_index("annotator")
    assert alone.at["a4", "drift_p"] < 1e-4
    assert alone.at["a4", "drift"] == pytest.approx(20, abs=6)  # 0.2 points a judgement are 20 per 100
    shared = campaign(np.random.default_rng(3), [0.2] * 5)
    same = annotators.drift(campaign(np.random.default_rng(3), [0] * 5))
    np.testing.assert_allclose(annotators.drift(shared)["drift_p"], same["drift_p"])
    assert same["drift_of"].eq("difference from others").all()


def test_p_of_drift_is_even_where_nothing_drifts():
    rng = np.random.default_rng(4)
    ratings = pd.concat(
        [
            judged(
                f"a{k}",
                rng.normal(50, 10, 40),
                doc=[f"{k}-{d}" for d in np.repeat(range(10), 4)],
                segments=1000 * k + np.arange(40),
                position=np.arange(40),
            )
            for k in range(400)
        ]
    )
    p = annotators.drift(ratings)["drift_p"]
    assert stats.kstest(p, "uniform").pvalue > 0.001


# quality control


differences_in_points = st.lists(st.integers(-20, 40), min_size=1, max_size=30)


@given(differences_in_points)
def test_quality_control_by_ranks_is_wilcoxons_signed_rank_test(differences):
    found = signed_rank(np.array(differences, float)[None, :, None])[0]
    if not any(differences):
        assert found == 1
        return
    oracle = stats.wilcoxon(differences, alternative="greater", correction=True, method="asymptotic")
    assert found == pytest.approx(oracle.pvalue)


@given(differences_in_points)
def test_quality_control_is_students_paired_test(differences):
    found = paired_t(np.array(differences, float)[None, :, None])[0]
    if len(differences) < 2:
        assert np.isnan(found)
    elif len(set(differences)) == 1:
        assert found == (0 if differences[0] > 0 else 1)
    else:
        assert found == pytest.approx(stats.ttest_1samp(differences, 0, alternative="greater").pvalue)


def test_degraded_items_are_paired_with_the_original_in_the_same_hit_and_people_judged_by_all_their_pairs():
    ratings = pd.concat(
        [
            judged("a", [80, 70, 60]),
            judged("a", [20, 30], item_type="degraded", segments=[0, 2]),
            judged("a", [5], item_type="degraded", segments=[1]).assign(hit="other"),
            judged("a", [50]).assign(tgt_lang="deu"),
            judged("a", [44], item_type="degraded").assign(tgt_lang="deu"),
            judged("a", [50]).assign(tgt_lang="zho"),
            judged("b", [50]).assign(tgt_lang="zho"),
        ]
    )
    found = annotators.quality_control(ratings).set_index("pair")
    assert found["annotator"].tolist() == ["a"] * 3
    assert found["qc_pairs"].tolist() == [3] * 3
    assert found["qc_difference"].tolist() == pytest.approx([(60 + 30 + 6) / 3] * 3)


def test_wmt22_let_pass_whoever_passes_a_paired_t_test_over_all_their_language_pairs(turk22):
    found = annotators.quality_control(turk22)
    assert found["annotator"].nunique() == 428
    assert found["qc_p"].lt(0.05).all()
    assert not found["qc_wilcoxon"].lt(0.05).all()


def test_wmt21_did_too_and_those_who_seem_to_fail_also_did_chinese_whose_scores_are_lost(turk21, real):
    found = annotators.quality_control(turk21)
    workers = real("wmt21-mturk-annotators")
    lost = found["annotator"].isin(workers.loc[workers["src_lang"] == "zho", "annotator"])
    assert found.loc[~lost, "qc_p"].lt(0.05).all()
    assert found.loc[~lost, "annotator"].nunique() == 354
    assert found.loc[found["qc_p"] >= 0.05, "annotator"].nunique() == 18


# all of it


def test_what_is_missing_is_empty_with_its_reason():
    profile = annotators.profiles(judged("a", [3, 3, 3])).iloc[0]
    assert profile[["repeated", "shared", "qc_pairs"]].tolist() == [0, 0, 0]
    empty = ["skewness", "bimodality", "median_abs_diff", "with_others", "seconds", "drift", "drift_p", "qc_p"]
    assert profile[empty].isna().all()
    for reason in (
        "one score throughout",
        "no item came twice",
        "shared with others",
        "no times",
        "two degraded items",
    ):
        assert reason in profile["missing"]


def test_a_full_profile_misses_nothing_and_repeats_its_parts():
    rng = np.random.default_rng(8)
    ratings = campaign(rng, [0] * 5).assign(ended=lambda f: f["started"] + 3)
    again = ratings.groupby("annotator").head(6).assign(item_type="repeat", score=lambda f: f["score"] + 2)
    bad = ratings.groupby("annotator").tail(6).assign(item_type="degraded", score=lambda f: f["score"] - 40)
    extra = pd.concat([again, bad]).assign(started=lambda f: f["started"] + 9999, ended=lambda f: f["ended"] + 9999)
    whole = pd.concat([ratings, extra], ignore_index=True).assign(score=lambda f: f["score"].clip(0, 100))
    profiled = annotators.profiles(whole)
    assert profiled["missing"].eq("").all()
    assert profiled["seconds"].tolist() == pytest.approx([3] * 5)
    assert profiled["qc_p"].max() < 0.05
    drawn = with_pair(whole).groupby(["pair", "annotator"]).ngroups
    assert len(profiled) == drawn == 5
    shuffled = annotators.profiles(whole.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(profiled, shuffled)


@pytest.mark.parametrize("pair", [("eng", "jpn"), ("deu", "eng")])
def test_rules_see_the_values_that_profiles_show(pair, turk22, real):
    every = turk22 if pair[1] == "eng" else real("wmt22-calibration-hits")
    ratings = every[(every["src_lang"] == pair[0]) & (every["tgt_lang"] == pair[1])]
    profiled = annotators.profiles(ratings).set_index(["pair", "annotator"])
    screened = annotators.screen(ratings, [f"{measure} < 0" for measure in MEASURES])
    values = screened.pivot(index=["pair", "annotator"], columns="measure", values="value")
    assert set(values) == set(MEASURES)
    for measure in MEASURES:
        np.testing.assert_allclose(values[measure], profiled[measure].reindex(values.index), atol=1e-9)


# steadiness


def test_two_hits_are_two_different_ones_of_everybody_who_has_them():
    rng = np.random.default_rng(9)
    ratings = pd.concat(
        [
            judged(f"a{a}", rng.integers(0, 101, 10), segments=100 * h + np.arange(10)).assign(hit=f"a{a}-{h}")
            for a in range(5)
            for h in range(a + 1)
        ],
        ignore_index=True,
    )
    first, second = annotators.two_hits(ratings)
    hits = [table.groupby("annotator")["hit"].unique().map(list) for table in (first, second)]
    assert list(hits[0].index) == list(hits[1].index) == ["a1", "a2", "a3", "a4"]
    assert all(len(one) == len(two) == 1 and one != two for one, two in zip(*hits))
    assert len(first) == len(second) == 40
    with pytest.raises(DataError, match="Nobody did two HITs"):
        annotators.two_hits(first)
    with pytest.raises(DataError, match="needs the column hit"):
        annotators.two_hits(ratings.drop(columns="hit"))


def test_steadiness_is_spearman_over_annotators():
    rng = np.random.default_rng(10)
    tables = []
    for _ in range(2):
        spread = np.linspace(2, 25, 12)
        tables.append(pd.concat([judged(f"a{k}", rng.normal(50, s, 80).clip(0, 100)) for k, s in enumerate(spread)]))
    found = annotators.intra_annotator_consistency(*tables).set_index("use")
    sds = [table.groupby("annotator")["score"].std() for table in tables]
    assert found.at["sd", "rho"] == pytest.approx(stats.spearmanr(*sds).statistic)
    assert found.at["sd", "p"] == pytest.approx(stats.spearmanr(*sds).pvalue)
    assert found["annotators"].eq(12).all()
    few = annotators.intra_annotator_consistency(*(table[table["annotator"] < "a2"] for table in tables))
    assert few["rho"].isna().all()
    with pytest.raises(DataError, match="No annotator has scores in both"):
        annotators.intra_annotator_consistency(tables[0], tables[1].assign(annotator="z"))


def test_turkers_use_the_scale_in_one_hit_as_in_another(turk21):
    ordinary = turk21[turk21["item_type"].isin(["system", "repeat"])]
    found = annotators.intra_annotator_consistency(*annotators.two_hits(ordinary), tick_marks=annotators.FIVE_TICKS)
    shape = found[found["use"].isin(["mean", "sd", "at_ends", "unique_scores", "on_marks"])]
    assert shape["rho"].gt(0.5).all()
    assert shape["p"].lt(0.01).all()
