"""Annotators: how they use the scale, who is screened, and profiles, each column against an oracle, laws and gaps."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evalkit import DataError
from evalkit.human import annotators
from evalkit.human.annotators import MEASURES, paired_t, wilcoxon
from evalkit.stats import agreement
from tests.makers import laid_out

FEW = settings(deadline=None, max_examples=20)


def judged(annotator, scores, *, segments=None, item_type="calibration", **columns):
    segments = range(len(scores)) if segments is None else segments
    columns = {"system": "s", "doc": "d#1-9", "hit": annotator} | columns
    rows = zip(segments, scores, strict=True)
    return laid_out(rows, "segment score", annotator=annotator, item_type=item_type, **columns)


def scored(annotator, scores, **more):
    return judged(annotator, scores, **{"item_type": "system", **more})


def test_only_annotators_with_a_complete_and_an_additional_hit_stay():
    ratings = pd.concat([judged("full", [1, 2, 3]), judged("short", [1, 2]), judged("alone", [3, 2, 1])])
    mapping = pd.DataFrame({"hit": ["h1", "h2", "h3"], "annotator": ["full", "full", "short"]})
    listed = annotators.accounts(ratings, mapping, complete_at=3).set_index("annotator")
    assert listed["kept"].to_dict() == {"alone": False, "full": True, "short": False}
    assert listed["additional_hits"].to_dict() == {"alone": 0, "full": 2, "short": 1}
    table = annotators.workload(listed.reset_index()).iloc[0]
    assert table[["annotators", "incomplete", "without_additional"]].tolist() == [1, 1, 1]
    assert set(annotators.keep(ratings, listed.reset_index())["annotator"]) == {"full"}
    with pytest.raises(DataError, match="No annotator"):
        annotators.keep(ratings, annotators.accounts(ratings, mapping, complete_at=7))


def test_contents_count_distinct_triplets_and_shared_snippets():
    again = judged("a", [4], item_type="repeat")
    others = judged("a", [5], doc="e#1-1"), judged("a", [5], system="t")
    ratings = pd.concat([judged("a", [1, 2, 3]), again, judged("b", [1, 2, 3]), *others])
    assert annotators.contents(ratings).iloc[0].drop("pair").tolist() == [5, 2, 2, 1, 1, 3]
    assert annotators.shared_snippets(ratings)[["doc", "systems"]].to_numpy().tolist() == [["d#1-9", "s t"]]


scores_0_100 = st.lists(st.integers(0, 100), min_size=2, max_size=40)


@FEW
@given(scores_0_100)
def test_usage_equals_numpy(scores):
    row = annotators.usage(judged("a", scores)).iloc[0]
    assert (row["n"], row["unique_scores"]) == (len(scores), len(set(scores)))
    assert [row["min"], row["max"]] == [min(scores), max(scores)]
    assert row["mean"] == pytest.approx(np.mean(scores))
    assert row["sd"] == pytest.approx(np.std(scores, ddof=1))
    assert row["at_ends"] == pytest.approx(np.mean([s <= 10 or s >= 90 for s in scores]))
    if len(scores) > 2 and len(set(scores)) > 1:
        assert row["skewness"] == pytest.approx(stats.skew(scores, bias=False), abs=1e-9)
    else:
        assert np.isnan(row["skewness"])
    assert annotators.score_counts(judged("a", scores))["judgements"].sum() == len(scores)


def test_repeats_measure_the_distance_between_two_scores_of_one_segment():
    ratings = pd.concat([judged("a", [10, 50, 90]), judged("a", [14, 20], item_type="repeat"), judged("b", [1, 2, 3])])
    assert annotators.repeats(ratings).drop(columns="pair").to_numpy().tolist() == [["a", 2, 17.0, 30.0]]


@FEW
@given(scores_0_100)
def test_shares_on_marks_are_shares(scores):
    shares = annotators.ticks(judged("a", scores))
    near = [any(abs(s - m) <= 1 for m in annotators.SQM_TICKS) for s in scores]
    assert shares["share"].sum() == pytest.approx(np.mean(near))


# Screening: rules, who goes, how agreement moves, and how firm a decision is


def crowd(rng, *, people=6, items=40, missing=0.4):
    """Draw annotators who share a quality and skip some items."""
    scores = (rng.normal(60, 15, (items, 1)) + rng.normal(0, 12, (items, people))).round().clip(0, 100)
    return laid_out(np.where(rng.random(scores.shape) > missing, scores, np.nan), "segment annotator", hit="h")


@given(st.sampled_from(["<", "<=", ">", ">="]), st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)))
def test_a_rule_reads_what_it_prints(sign, threshold):
    rule = annotators.Rule("sd", sign, float(f"{threshold:g}"))
    assert annotators.Rule.parse(str(rule)) == rule


def test_who_goes_and_who_is_unknown():
    ratings = pd.concat([scored("flat", [50, 51, 50, 51]), scored("wide", [0, 30, 60, 90]), scored("once", [40])])
    screened = annotators.screen(ratings, ["sd < 5", "unique_scores <= 2", "qc_p >= 0.05"])
    rows = screened.set_index(["rule", "annotator"])
    assert rows["flagged"].groupby("rule").sum().to_dict() == {"qc_p >= 0.05": 0, "sd < 5": 1, "unique_scores <= 2": 2}
    assert rows.loc["sd < 5", "unknown"].to_dict() == {"flat": False, "once": True, "wide": False}
    assert rows.loc["qc_p >= 0.05", "unknown"].all()
    totals = annotators.screening_totals(screened).set_index("rule")
    assert totals.loc["any", ["annotators", "flagged", "unknown"]].tolist() == [3, 2, 0]
    assert set(annotators.exclude_annotators(ratings, screened)["annotator"]) == {"wide"}
    assert set(annotators.exclude_annotators(ratings, screened, rule="sd < 5")["annotator"]) == {"wide", "once"}


def test_somebody_goes_in_one_language_pair_and_stays_in_another():
    one = pd.concat([scored("a", [5, 5, 6]), scored("b", [0, 50, 99])])
    ratings = pd.concat([one, one.assign(tgt_lang="jpn", score=one["score"].to_numpy()[::-1])], ignore_index=True)
    left = annotators.exclude_annotators(ratings, annotators.screen(ratings, ["sd < 5"]))
    assert left.groupby("tgt_lang")["annotator"].unique().map(list).to_dict() == {"deu": ["b"], "jpn": ["a"]}


@FEW
@given(st.integers(0, 10_000))
def test_agreement_that_moves_is_krippendorffs_alpha(seed):
    ratings = crowd(np.random.default_rng(seed), people=4, items=20)
    fewer = ratings[ratings["annotator"] != "p3"]
    moved = annotators.agreement_change(ratings, fewer, resamples=0).iloc[0]
    for table, found in ((ratings, moved["alpha_before"]), (fewer, moved["alpha_after"])):
        oracle = agreement.coefficients(
            agreement.score_matrix(table), measures=[("krippendorff_alpha", "interval")], resamples=0
        )
        assert found == pytest.approx(oracle["estimate"].iloc[0], abs=1e-9)


def test_leaving_out_nobody_at_random_moves_nothing_and_a_bad_annotator_moves_more_than_chance():
    rng = np.random.default_rng(1)
    ratings = crowd(rng, people=8, missing=0.1)
    bad = ratings["annotator"] == "p0"
    ratings.loc[bad, "score"] = rng.integers(0, 101, bad.sum())
    same = annotators.agreement_change(ratings, ratings).iloc[0]
    assert same[["alpha_before", "random_low", "random_high"]].tolist() == pytest.approx([same["alpha_after"]] * 3)
    moved = annotators.agreement_change(ratings, ratings[~bad]).iloc[0]
    assert moved["alpha_after"] > moved["alpha_before"]
    # one draw of eight leaves out the bad one too: the interval reaches up to the same value, and no further
    assert moved["random_low"] < moved["alpha_before"] < moved["alpha_after"] <= moved["random_high"] + 1e-12


# Profiles of annotators


many_scores = st.lists(st.integers(0, 100), min_size=4, max_size=40)


@FEW
@given(many_scores)
def test_bimodality_equals_its_formula_and_forgets_the_units(scores):
    values = np.array(scores, float)
    found = annotators.bimodality(scored("a", values))["bimodality"][0]
    if len(set(scores)) == 1:
        assert np.isnan(found)
        return
    n = len(values)
    g1, g2 = stats.skew(values, bias=False), stats.kurtosis(values, bias=False)
    assert found == pytest.approx((g1**2 + 1) / (g2 + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))), rel=1e-6)
    again = annotators.bimodality(scored("a", 100 - values / 2))["bimodality"][0]
    assert again == pytest.approx(found, rel=1e-6)


def people_on(ticks, rng, *, judgements=120, stray=0.1):
    """Draw scores on a grid of ticks, one point off at times, a few anywhere."""
    on = rng.choice(np.linspace(0, 100, ticks), judgements) + rng.choice([-1, 0, 0, 0, 1], judgements)
    anywhere = rng.integers(0, 101, judgements)
    return np.where(rng.random(judgements) < stray, anywhere, on.round()).clip(0, 100)


@pytest.mark.parametrize("ticks", annotators.GRIDS)
def test_a_grid_in_use_is_found_among_those_that_contain_it(ticks):
    rng = np.random.default_rng(ticks)
    ratings = pd.concat([scored(f"a{k}", people_on(ticks, rng, judgements=300)) for k in range(12)])
    found = annotators.scale_grid(ratings)
    assert found.loc[found["in_use"], "ticks"].tolist() == [ticks] * 12


def test_smooth_scores_and_single_heaps_have_no_grid():
    rng = np.random.default_rng(3)
    shapes = [rng.beta(6, 2, (50, 200)) * 100, rng.beta(0.5, 0.5, (50, 200)) * 100, rng.normal(75, 6, (50, 200))]
    shapes += [rng.normal(85, 0.8, (50, 200)), rng.choice([50, 100], (50, 200)), rng.uniform(40, 100, (50, 200))]
    scores = np.round(np.concatenate(shapes)).clip(0, 100)
    # at a familywise 5 % one false grid may occur in an unlucky draw; without adjustment there would be dozens
    assert annotators.scale_grid(laid_out(scores, "annotator segment"))["in_use"].sum() <= 1


def test_the_test_of_a_grid_equals_a_binomial_count_by_hand():
    values = people_on(7, np.random.default_rng(5), stray=0.5)
    found = annotators.scale_grid(scored("a", values), candidates=(5, 7, 13)).set_index("ticks")
    for ticks, row in found.iterrows():
        marks, cells = np.linspace(0, 100, ticks), []
        for k, mark in list(enumerate(marks))[1:-1]:
            cell = [p for p in range(101) if np.abs(p - marks).argmin() == k]
            near = [p for p in cell if abs(p - mark) <= min(1, 100 / (ticks - 1) / 8)]
            cells.append((np.isin(values, cell).sum(), np.isin(values, near).sum(), len(near) / len(cell)))
        best = max(cells, key=lambda cell: cell[1] - cell[0] * cell[2])
        rest = [cell for cell in cells if cell is not best]
        n, hits = sum(cell[0] for cell in rest), sum(cell[1] for cell in rest)
        rate = sum(cell[0] * cell[2] for cell in rest) / n
        assert row["p"] == pytest.approx(stats.binomtest(hits, n, rate, alternative="greater").pvalue)
        assert row["n"] == sum(cell[0] for cell in cells)
        assert row["on_ticks"] == pytest.approx(sum(cell[1] for cell in cells) / row["n"])


@pytest.mark.filterwarnings("error")
def test_a_tick_that_no_point_of_the_scale_is_nearest_to_counts_for_nothing():
    """On a scale from 1 to 5, thirteen ticks leave cells without a whole number; nothing may be divided by those."""
    stars = scored("a", [1.0, 2.0, 3.0, 4.0, 5.0] * 20)
    assert annotators.scale_grid(stars, candidates=(5, 13), scale=(1, 5))["p"].between(0, 1).all()


def test_p_values_are_adjusted_within_each_language_pair_as_statsmodels_does():
    rng = np.random.default_rng(6)
    ratings = pd.concat([scored(f"a{k}", people_on(7, rng, judgements=25, stray=0.6)) for k in range(8)])
    found = annotators.scale_grid(pd.concat([ratings, ratings.assign(tgt_lang="jpn").iloc[:50]]))
    for _, rows in found.groupby("pair"):
        np.testing.assert_allclose(rows["p_adjusted"], multipletests(rows["p"], method="holm")[1])


@FEW
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
    rows = [("a", 0, "system", 10), ("a", 1, "system", 20), ("b", 0, "system", 30), ("b", 1, "system", 40)]
    rows += [("b", 0, "repeat", 50), ("b", 1, "degraded", 0), ("a", 0, "reference", 90), ("c", 0, "reference", 99)]
    ratings = laid_out(rows, "annotator segment item_type score")
    found = annotators.beside_others(ratings).set_index(["annotator", "segment"])["others"]
    assert found.loc[[("a", "1")]].tolist() == [40]
    assert sorted(found.loc[[("a", "0")]]) == [40, 99]  # the mean of b's 30 and 50; c's of the reference
    assert found.loc[[("c", "0")]].tolist() == [90]


def test_speed_is_the_median_of_what_is_known():
    times = {"started": [0.0, 10, 20, 90], "ended": [4.0, 16, 20, 190]}  # the third took no time at all
    found = annotators.speed(scored("a", [1, 2, 3, 4], **times))
    assert found["seconds"].tolist() == [6.0]
    hits = [scored("a", [1, 2], hit_seconds=30.0), scored("a", [1] * 4, hit_seconds=20.0, hit="other")]
    assert annotators.speed(pd.concat(hits))["seconds"].tolist() == [10.0]
    assert np.isnan(annotators.speed(scored("a", [1]))["seconds"][0])


def test_drift_equals_weighted_least_squares_on_means_of_documents():
    rng = np.random.default_rng(1)
    sizes = rng.integers(2, 7, 9)
    doc = np.repeat(np.arange(9), sizes)
    scores = rng.integers(0, 101, len(doc))
    ratings = scored("a", scores, doc=[f"d{k}" for k in doc], started=10.0 * np.arange(len(doc)))
    x = pd.Series((np.arange(len(doc)) + 1) / 100).groupby(doc).mean()
    fit = sm.WLS(pd.Series(scores).groupby(doc).mean(), sm.add_constant(x), weights=sizes).fit()
    found = annotators.drift(ratings).iloc[0]
    assert found["drift"] == pytest.approx(fit.params.iloc[1])
    assert found["drift_p"] == pytest.approx(fit.pvalues.iloc[1])
    assert found["drift_of"] == "score"


def campaign(rng, trend, *, docs=12, size=8):
    """Draw annotators who score the same documents in the same order, each with a trend in points a judgement."""
    number = np.arange(docs * size)
    scores = rng.normal(60, 10, len(number)) + np.outer(trend, number) + rng.normal(0, 5, (len(trend), len(number)))
    frame = laid_out(scores, "annotator segment", documents=number // size)
    return frame.assign(started=5.0 * frame["segment"].astype(int), hit=frame["annotator"])


differences_in_points = st.lists(st.integers(-20, 40), min_size=1, max_size=30)


@given(differences_in_points)
def test_quality_control_by_ranks_is_wilcoxons_signed_rank_test(differences):
    found = wilcoxon(np.array(differences, float))
    if not any(differences):
        assert found == 1
        return
    oracle = stats.wilcoxon(differences, alternative="greater", correction=True, method="asymptotic")
    assert found == pytest.approx(oracle.pvalue)


@given(differences_in_points)
def test_quality_control_is_students_paired_test(differences):
    found = paired_t(np.array(differences, float))
    if len(differences) < 2:
        assert np.isnan(found)
    elif len(set(differences)) == 1:
        assert found == (0 if differences[0] > 0 else 1)
    else:
        assert found == pytest.approx(stats.ttest_1samp(differences, 0, alternative="greater").pvalue)


def test_degraded_items_are_paired_with_the_original_in_the_same_hit_and_people_judged_by_all_their_pairs():
    parts = [scored("a", [80, 70, 60]), scored("a", [20, 30], item_type="degraded", segments=[0, 2])]
    parts += [scored("a", [5], item_type="degraded", segments=[1], hit="other"), scored("a", [50], tgt_lang="jpn")]
    parts += [scored("a", [44], item_type="degraded", tgt_lang="jpn")]
    parts += [scored(who, [50], tgt_lang="zho") for who in "ab"]
    found = annotators.quality_control(pd.concat(parts))
    assert found["annotator"].tolist() == ["a"] * 3
    assert found["qc_pairs"].tolist() == [3] * 3
    assert found["qc_difference"].tolist() == pytest.approx([(60 + 30 + 6) / 3] * 3)


def test_what_is_missing_is_empty():
    profile = annotators.profiles(scored("a", [3, 3, 3])).iloc[0]
    assert profile[["repeated", "shared", "qc_pairs"]].tolist() == [0, 0, 0]
    empty = ["skewness", "bimodality", "median_abs_diff", "with_others", "seconds", "drift", "drift_p", "qc_p"]
    assert profile[empty].isna().all()


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
    values = annotators.screen(whole, [f"{measure} < 0" for measure in MEASURES])
    values = values.pivot(index="annotator", columns="measure", values="value")
    np.testing.assert_allclose(values, profiled.set_index("annotator")[values.columns], atol=1e-9)
    shuffled = annotators.profiles(whole.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(profiled, shuffled)


def test_two_hits_are_two_different_ones_of_everybody_who_has_them():
    rows = [(f"a{a}", f"a{a}-{h}", 100 * h + k, k) for a in range(5) for h in range(a + 1) for k in range(10)]
    ratings = laid_out(rows, "annotator hit segment score")
    first, second = annotators.two_hits(ratings)
    hits = [table.groupby("annotator")["hit"].unique().map(list) for table in (first, second)]
    assert list(hits[0].index) == list(hits[1].index) == ["a1", "a2", "a3", "a4"]
    assert all(len(one) == len(two) == 1 and one != two for one, two in zip(*hits))


FLAT, SCORES = scored("a", [5, 5, 6]), scored("a", [1, 60])


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: annotators.two_hits(SCORES), "Nobody"),
        (lambda: annotators.two_hits(SCORES.drop(columns="hit")), "column hit"),
        (lambda: annotators.intra_annotator_consistency(SCORES, SCORES.assign(annotator="z")), "both"),
        (lambda: annotators.scale_grid(SCORES, candidates=(3, 5)), "4 ticks"),
        (lambda: annotators.scale_grid(SCORES, scale=(0, 50)), "0-50"),
        (lambda: annotators.Rule.parse("sd < five"), "no rule"),
        (lambda: annotators.screen(FLAT, ["speed < 3"]), "unique_scores"),
        (lambda: annotators.screen(FLAT, "sd < 3"), "list of rules"),
        (lambda: annotators.exclude_annotators(FLAT, annotators.screen(FLAT, ["sd < 5"])), "everybody"),
        (lambda: annotators.exclude_annotators(FLAT, annotators.screen(FLAT, ["sd < 5"]), rule="sd < 6"), "not among"),
        (lambda: annotators.ticks(FLAT, tick_marks=(0.0, 1.0), within=1.0), "twice"),
    ],
)
def test_what_has_no_answer_is_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()


def test_steadiness_is_spearman_over_annotators():
    rng = np.random.default_rng(10)
    spread = np.linspace(2, 25, 12)[:, None]
    tables = [laid_out(rng.normal(50, spread, (12, 80)).clip(0, 100), "annotator segment") for _ in range(2)]
    found = annotators.intra_annotator_consistency(*tables).set_index("use")
    theirs = stats.spearmanr(*(table.groupby("annotator")["score"].std() for table in tables))
    assert found.loc["sd", ["rho", "p"]].tolist() == pytest.approx([theirs.statistic, theirs.pvalue])
    assert found["annotators"].eq(12).all()
    few = annotators.intra_annotator_consistency(*(table[table["annotator"] < "p10"] for table in tables))
    assert few["rho"].isna().all()
